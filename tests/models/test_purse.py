"""A budget in shares."""

from fractions import Fraction

import pytest

from discreet.accounting.compose import implies
from discreet.audit.meter import exceeds
from discreet.errors import BadInput
from discreet.models.purse import Purse, check_purse
from discreet.promise.guarantee import Guarantee
from discreet.promise.loss import compose
from discreet.promise.neighbours import Neighbours

SHARES = (Fraction(1, 10), Fraction(3, 10), Fraction(6, 10))


@pytest.mark.claim("KB1")
@pytest.mark.claim("KB2")
@pytest.mark.parametrize(("epsilon", "delta"), [(0.01, 0.0), (1.0, 0.0), (0.1, 1e-9), (1.0, 1e-6), (60.0, 1e-11)])
def test_shares_keep_the_promise(epsilon: float, delta: float) -> None:
    purse = Purse(epsilon, delta)
    parts = compose(purse.choice(SHARES[0]), purse.noise(SHARES[1]), purse.noise(SHARES[2]))
    assert implies(parts, Guarantee(epsilon, delta))
    assert implies(purse.loss, Guarantee(epsilon, delta))
    assert exceeds(parts, purse.loss) is None
    assert not implies(compose(parts, purse.noise(Fraction(1, 2))), Guarantee(epsilon, delta)) or epsilon > 50


def test_what_cannot_be_promised_is_refused() -> None:
    for epsilon, delta in ((0.0, 0.0), (1.0, 1e-15), (1e-9, 1e-6), (1e-9, 0.0), (-1, 0.0), (1.0, 1.0)):
        with pytest.raises(BadInput):
            check_purse(epsilon, delta, Neighbours.REPLACE)
    with pytest.raises(BadInput, match="neighbours"):
        check_purse(1.0, 0.0, "replace")
