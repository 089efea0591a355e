"""A budget in parts: what is handed out is what was asked for, and no more."""

import math
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting import allocation, calibrate
from discreet.accounting.allocation import Allocation, Part, Share, in_proportion
from discreet.accounting.compose import implies
from discreet.accounting.compose import slack as slack_of
from discreet.accounting.currency import mu, pure, rho
from discreet.audit.replay import exceeds
from discreet.errors import BadInput
from discreet.privacy.exact import exact
from discreet.privacy.guarantee import Guarantee
from discreet.privacy.loss import Approximate, Choice, Gaussian, Laplace, compose

EACH = Fraction(1, 10**16)
BUDGETS = [(0.01, 1e-9), (0.1, 1e-11), (1.0, 1e-6), (8.0, 1e-9), (20.0, 1e-6), (60.0, 1e-11), (500.0, 1e-5)]
shares = st.fractions(Fraction(1, 10**9), Fraction(9, 10))


def drawn(each: Fraction = EACH) -> Callable[[Fraction], Part]:
    return lambda size: Gaussian(size, each)


def five_draws(whole: Allocation) -> Allocation:
    return whole.split(
        count=Share(Fraction(1, 100), drawn()),
        places=Share(Fraction(1, 5), Choice, times=3),
        turns=Share(Fraction(1, 10), drawn(), times=3),
        none=None,
        mean=Share(None, drawn()),
    )


@pytest.mark.claim("allocation.1")
@given(st.floats(1e-9, 1e3), shares, shares, st.integers(1, 7))
def test_pure_parts_sum_to_epsilon_exactly(epsilon: float, one: Fraction, other: Fraction, times: int) -> None:
    stages = Allocation.of(epsilon).split(
        centre=Share(one / 2, Choice, times), rest=Share(), tilt=Share(other / 2, lambda size: Approximate(size, 0))
    )
    assert pure(stages.loss) == (exact(epsilon), Fraction(0))
    assert stages.part("centre", Choice).epsilon == exact(epsilon) * one / 2 / times
    assert isinstance(stages.noise("rest"), Laplace)


@pytest.mark.claim("allocation.2")
@pytest.mark.claim("allocation.4")
@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
@pytest.mark.parametrize("event", [0, Fraction(1, 10)])
def test_parts_by_mu_keep_the_guarantee(epsilon: float, delta: float, event: Fraction) -> None:
    whole = Allocation.of(epsilon, delta, slack=EACH, draws=5, event=event, lower=True)
    stages = five_draws(whole)
    for loss in (stages.loss, whole.ceiling):
        assert implies(loss, Guarantee(epsilon, delta))
    assert mu(stages.loss)[0] <= whole.square
    assert slack_of(stages.loss) <= 5 * EACH
    assert exceeds(stages.loss, whole.ceiling) is None
    assert not implies(compose(stages.loss, Gaussian(whole.amount)), Guarantee(epsilon, delta)) or epsilon > 50


@pytest.mark.claim("allocation.2")
@pytest.mark.parametrize(("epsilon", "delta"), [(1e-3, 1e-12), (0.1, 1e-9), (1.0, 1e-6), (3.0, 1e-4)])
def test_parts_by_rho_keep_the_guarantee(epsilon: float, delta: float) -> None:
    whole = Allocation.concentrated(epsilon, delta, slack=5 * EACH)
    assert whole is not None
    stages = five_draws(whole)
    assert rho(stages.loss)[0] <= whole.amount
    assert implies(stages.loss, Guarantee(epsilon, delta))
    assert not implies(compose(stages.loss, stages.loss), Guarantee(epsilon, delta))


def test_by_rho_there_is_nothing_where_slack_takes_half_of_delta() -> None:
    assert Allocation.concentrated(800.0, 1e-6, slack=EACH) is None
    assert Allocation.concentrated(1.0, 1e-15, slack=3 * EACH) is None
    with pytest.raises(BadInput, match="list them"):
        Allocation("zcdp", Fraction(1)).ceiling  # noqa: B018


@pytest.mark.claim("allocation.2")
@pytest.mark.parametrize("unit", ["gdp", "zcdp"])
def test_a_choice_costs_no_more_than_its_share(unit: str) -> None:
    for size in (Fraction(1, 10**4), Fraction(1, 4), Fraction(3), Fraction(64)):
        whole = Allocation("gdp", size) if unit == "gdp" else Allocation("zcdp", size)
        for share in (Fraction(1, 10**6), Fraction(1, 10), Fraction(1)):
            loss = whole.split(one=Share(share, Choice)).loss
            spent = mu(loss)[0] if unit == "gdp" else 2 * rho(loss)[0]
            assert spent <= share * whole.square


@pytest.mark.claim("allocation.2")
@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
def test_mu_is_that_of_the_budget_or_of_a_smaller_epsilon(epsilon: float, delta: float) -> None:
    found = Allocation.of(epsilon, delta, slack=EACH, lower=True)
    assert found.amount <= exact(calibrate.gaussian(epsilon, delta))
    if math.exp(epsilon) * EACH < delta / 1000:
        assert found == Allocation.of(epsilon, delta, slack=EACH)
        assert found.amount == exact(min(64.0, calibrate.gaussian(epsilon, delta, EACH)))
    elif math.exp(epsilon) * EACH > delta:
        with pytest.raises(BadInput, match="alone costs more"):
            Allocation.of(epsilon, delta, slack=EACH)


@pytest.mark.claim("allocation.3")
def test_more_than_there_is_cannot_be_handed_out() -> None:
    for whole in (Allocation.of(1.0), Allocation.of(1.0, 1e-6, slack=EACH)):
        with pytest.raises(BadInput, match=r"add up to 1\.01"):
            whole.split(one=Share(Fraction(1, 2)), other=Share(Fraction(51, 100)))
        with pytest.raises(BadInput, match="the rest once"):
            whole.split(one=Share(), other=Share())
    kept = Allocation.of(1.0, 1e-6, slack=2 * EACH)
    kept.split(one=Share(None, drawn(), times=2))
    with pytest.raises(BadInput, match="was kept for it"):
        kept.split(one=Share(None, drawn(), times=3))


@pytest.mark.claim("allocation.2")
@pytest.mark.claim("allocation.3")
def test_wrong_allocations_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: an event that delta does not pay, slack that nobody pays, shares beyond 1, a choice too dear."""
    asked = Guarantee(8.0, 1e-9)
    half = Fraction(1, 2)
    assert implies(Allocation.of(8.0, 1e-9, event=half).ceiling, asked)
    unhalved = compose(Allocation.of(8.0, 1e-9).ceiling, Approximate(0, half * exact(1e-9)))
    assert not implies(unhalved, asked)
    coarse = Fraction(1, 10**13)
    assert implies(Allocation.of(8.0, 1e-9, slack=coarse).ceiling, asked)
    assert not implies(Gaussian(Allocation.of(8.0, 1e-9).amount, coarse), asked)
    whole = Allocation.of(8.0, 1e-9)
    beyond = [whole.split(one=Share(share)).loss for share in (Fraction(2, 5), Fraction(61, 100))]
    assert not implies(compose(*beyond), asked)
    for rate in (Fraction(4), allocation.CHOICE):
        monkeypatch.setattr(allocation, "CHOICE", rate)
        small = Allocation("gdp", Fraction(1, 4))
        assert (mu(small.split(one=Share(None, Choice)).loss)[0] <= small.square) == (rate < 3)


@pytest.mark.claim("allocation.2")
def test_parts_can_be_shared_out_anew() -> None:
    for size in (Fraction(1, 10**4), exact(0.2367), exact(55.5)):
        whole = Allocation("gdp", size, EACH, draws=4)
        stages = whole.split(**in_proportion({"a": 0.3, "b": 0.123456789, "c": 1e-6, "none": 0.0}))
        assert float(mu(stages.loss)[0]) == pytest.approx(float(size) ** 2, rel=1e-12)
        assert mu(stages.loss)[0] <= size**2
        anew = stages.within("a", "c")
        assert anew.slack == 3 * EACH
        again = anew.split(first=Share(Fraction(1, 3)), second=Share(times=2))
        assert mu(compose(stages["b"], again.loss))[0] <= size**2
        assert stages.within("a").amount == stages.part("a", Gaussian).mu


def test_what_is_shown() -> None:
    stages = Allocation.of(2.0).split(size=Share(Fraction(1, 8)), scale=None, mean=Share(times=7))
    assert stages.shown == {"size": 0.25, "mean, each of 7": 0.25}
    assert "size" in stages
    assert "scale" not in stages


@pytest.mark.claim("allocation.2")
def test_a_delta_that_the_slack_takes_at_any_epsilon_is_refused() -> None:
    """With 1e-14 of slack a delta of 1e-12 is for a smaller epsilon, one of 1e-13 for none."""
    assert Allocation.of(20, 1e-12, slack=1e-14, lower=True).amount > 0.1
    with pytest.raises(BadInput, match="larger delta"):
        Allocation.of(20, 1e-13, slack=1e-14, lower=True)
