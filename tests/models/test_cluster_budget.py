"""A budget in shares."""

from fractions import Fraction

import pytest

from discreet.accounting.compose import implies
from discreet.accounting.currency import mu
from discreet.audit.replay import exceeds
from discreet.errors import BadInput
from discreet.models.cluster_budget import DRAWS, SLACK, Purse, check_purse
from discreet.privacy.guarantee import Guarantee
from discreet.privacy.loss import Gaussian, compose
from discreet.privacy.neighbours import Neighbours

SHARES = (Fraction(1, 10), Fraction(3, 10), Fraction(6, 10))


@pytest.mark.claim("cluster_budget.1")
@pytest.mark.claim("cluster_budget.2")
@pytest.mark.parametrize(("epsilon", "delta"), [(0.01, 0.0), (1.0, 0.0), (0.1, 1e-9), (1.0, 1e-6), (60.0, 1e-11)])
def test_shares_keep_the_promise(epsilon: float, delta: float) -> None:
    purse = Purse(epsilon, delta)
    parts = compose(purse.choice(SHARES[0]), purse.noise(SHARES[1]), purse.noise(SHARES[2]))
    assert implies(parts, Guarantee(epsilon, delta))
    assert implies(purse.loss, Guarantee(epsilon, delta))
    assert exceeds(parts, purse.loss) is None
    assert not implies(compose(parts, purse.noise(Fraction(1, 2))), Guarantee(epsilon, delta)) or epsilon > 50


@pytest.mark.claim("cluster_budget.1")
def test_a_choice_costs_no_more_than_its_share_at_any_epsilon() -> None:
    for epsilon, delta in ((0.01, 1e-6), (1.0, 1e-6), (8.0, 1e-9), (500.0, 1e-5)):
        purse = Purse(epsilon, delta)
        for share in (Fraction(1, 10**6), Fraction(1, 10), Fraction(1)):
            cost, off = mu(purse.choice(share))
            assert off == 0
            assert cost <= share * purse.mu**2


@pytest.mark.claim("cluster_budget.2")
def test_slack_that_a_purse_is_told_of_is_paid() -> None:
    """At an epsilon where e^epsilon times the slack is what matters."""
    fine, coarse = Purse(20.0, 1e-6), Purse(20.0, 1e-6, 200 * SLACK * DRAWS)
    assert coarse.mu < fine.mu
    assert implies(coarse.loss, Guarantee(20.0, 1e-6))
    assert not implies(Gaussian(fine.mu, coarse.slack), Guarantee(20.0, 1e-6))


def test_what_cannot_be_promised_is_refused() -> None:
    for epsilon, delta in ((0.0, 0.0), (1.0, 1e-15), (1e-9, 1e-6), (1e-9, 0.0), (-1, 0.0), (1.0, 1.0)):
        with pytest.raises(BadInput):
            check_purse(epsilon, delta, Neighbours.REPLACE)
    with pytest.raises(BadInput, match="neighbours"):
        check_purse(1.0, 0.0, "replace")
