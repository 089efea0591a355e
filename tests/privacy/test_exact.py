import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.privacy.exact import exact, float_above, is_number, root_above, root_below, show


def test_numbers_as_written() -> None:
    assert exact(0.1) == Fraction(1, 10)
    assert sum([exact(0.1)] * 10) == 1
    assert exact(1e-300) == Fraction(1, 10**300)
    assert exact(Fraction(1, 3)) == Fraction(1, 3)
    assert exact(7) == exact(7.0) == 7
    assert exact(np.float64(0.3)) == Fraction(3, 10)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_comes_back(number: float) -> None:
    assert float(exact(number)) == number


@given(st.fractions(min_value=-(10**9), max_value=10**9))
def test_float_above_is_the_least(number: Fraction) -> None:
    above = float_above(number)
    assert Fraction(above) >= number
    assert Fraction(math.nextafter(above, -math.inf)) < number


@given(st.fractions(min_value=0, max_value=10**12))
def test_roots_are_next_to_the_root_on_their_side(number: Fraction) -> None:
    above, below, step = root_above(number), root_below(number), Fraction(1, 2**60)
    assert below**2 <= number <= above**2
    assert above == 0 or (above - step) ** 2 < number
    assert (below + step) ** 2 > number


def test_perfect_squares_have_exact_roots() -> None:
    for root in (root_above, root_below):
        assert root(0) == 0
        assert root(Fraction(9, 4)) == Fraction(3, 2)


@pytest.mark.parametrize("value", [1, -2.5, Fraction(1, 3), np.float64(1), np.int64(3)])
def test_numbers(value: object) -> None:
    assert is_number(value)


@pytest.mark.parametrize("value", [True, None, "1", math.nan, math.inf, -math.inf, 1j, [1], np.array([1.0, 2.0])])
def test_not_numbers(value: object) -> None:
    assert not is_number(value)


def test_show() -> None:
    assert show(Fraction(1, 3)) == "0.333333"
    assert show(1.0) == "1"
