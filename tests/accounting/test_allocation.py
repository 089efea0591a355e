import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting.allocation import split
from discreet.errors import BadInput
from discreet.privacy.exact import exact

positive = st.floats(1e-12, 1e12)


@given(positive, st.lists(positive, min_size=1, max_size=8))
def test_shares_sum_exactly(number: float, shares: list[float]) -> None:
    parts = split(number, *shares)
    assert sum(parts) == exact(number)
    assert all(part * exact(shares[0]) == parts[0] * exact(share) for part, share in zip(parts, shares, strict=True))


def test_as_written() -> None:
    assert split(1.0, 0.3, 0.7) == (Fraction(3, 10), Fraction(7, 10))
    assert split(2, 1) == (Fraction(2),)


@pytest.mark.parametrize("shares", [(), (0,), (1, -1), (math.nan, 1), (math.inf,), (True,), ("half",)])
def test_bad_shares(shares: tuple[float, ...]) -> None:
    with pytest.raises(BadInput):
        split(1.0, *shares)


@pytest.mark.parametrize("number", [0, -1, math.nan, math.inf, "1"])
def test_bad_number(number: float) -> None:
    with pytest.raises(BadInput, match="nothing to split"):
        split(number, 1, 1)
