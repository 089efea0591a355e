"""epsilon() and delta() are upper bounds, for every kind of loss and against computations of another kind."""

import math
from fractions import Fraction
from typing import Any

import mpmath  # type: ignore[import-untyped]
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from discreet.accounting.amplify import amplified
from discreet.accounting.calibrate import delta_of_mu
from discreet.accounting.compose import delta, epsilon, implies
from discreet.accounting.currency import pure
from discreet.friendly.refine import RefinedMean
from discreet.privacy.guarantee import Guarantee
from discreet.privacy.loss import Approximate, Choice, Composed, Gaussian, Laplace, Loss, Sampled, compose
from discreet.privacy.neighbours import Neighbours
from discreet.statistics.count import Count

sizes = st.floats(0.01, 4)
slacks = st.sampled_from([0, 0, 1e-18, 1e-14, 1e-11, 1e-8, 1e-5])
deltas = st.sampled_from([1e-15, 1e-12, 1e-10, 1.5e-10, 1e-8, 1e-6, 1e-3, 0.3])
simple = st.one_of(
    st.builds(Laplace, sizes),
    st.builds(Choice, sizes),
    st.builds(Gaussian, sizes, slacks),
    st.builds(Approximate, sizes | st.just(0), st.sampled_from([0, 1e-13, 1e-9, 1e-7])),
)
parts = simple | st.builds(
    Sampled,
    simple | st.builds(lambda one, other: Composed((one, other)), simple, simple),
    st.sampled_from([0.001, 0.03, 0.5, 1]),
    st.sampled_from([1, 2, 7, 300]),
)
losses = st.lists(parts, min_size=1, max_size=5).map(lambda listed: Composed(tuple(listed)))


@pytest.mark.claim("compose.1")
@settings(deadline=None, max_examples=50)
@given(losses, deltas)
@example(Composed((Gaussian(2, 1e-8), Laplace(2))), 1e-6)
@example(Composed((Gaussian(1, 1e-11), Choice(1), Laplace(2))), 1e-8)
@example(Composed((Gaussian(0.5, 1e-9), Approximate(3, 0))), 1e-7)
@example(Composed((Gaussian(0.5, 1e-8), Sampled(Composed((Laplace(1), Gaussian(1, 1e-11))), 0.5, 7))), 1e-6)
def test_delta_at_the_epsilon_found_is_within_delta(loss: Loss, room: float) -> None:
    found = epsilon(loss, room)
    if found < math.inf:
        assert delta(loss, found) <= room
        assert implies(loss, Guarantee(max(found, 1e-6), room, Neighbours.ADD_OR_REMOVE))


@pytest.mark.claim("compose.1")
def test_slack_is_paid_at_the_epsilon_that_is_found() -> None:
    """Not at a smaller one, where it is cheaper: at epsilon 13 this slack costs more than all of delta."""
    loss = Composed((Gaussian(2, 1e-8), Laplace(2)))
    assert epsilon(loss, 1e-6) == math.inf
    assert delta(loss, 13.06) > 1e-4
    both = compose(RefinedMean(5.0, 1e-10).loss, Count(5.0).loss)
    found = epsilon(both, 1.5e-10)
    assert delta(both, found) <= 1.5e-10
    assert 9 < found < 10  # the slack of the mean, paid before the count is added
    assert delta_of_mu(found - 5, 0.6746487) + 1e-11 + (1 + math.exp(found - 5)) * 1.3642e-13 <= 1.5e-10


@pytest.mark.claim("compose.1")
def test_slack_may_take_more_than_half_of_delta() -> None:
    """Where half of delta is too little for the slack, nine tenths are tried: in closed curves and in distributions."""
    for rest in ((), (Sampled(Gaussian(0.01), 0.1),)):
        bare, loss = Composed((Gaussian(0.5), *rest)), Composed((Gaussian(0.5, 1e-9), *rest))
        least = min((at / 10 for at in range(20, 45)), key=lambda at: delta(bare, at) + math.exp(at) * 1e-9)
        room = (delta(bare, least) + (1 + math.exp(least)) * 1e-9) * 1.05
        found = epsilon(loss, room)
        assert delta(loss, found) <= room
        assert (1 + math.exp(found)) * 1e-9 > room / 2
        assert epsilon(loss, room * 0.9) == math.inf


@pytest.mark.claim("compose.1")
@pytest.mark.parametrize("slack", [0, 1e-13, 1e-11])
@pytest.mark.parametrize("room", [1e-6, 1e-9, 1e-12])
def test_gaussian_beside_laplace_noise_to_forty_digits(slack: float, room: float) -> None:
    loss = Composed((Gaussian(0.7, slack), Laplace(1)))
    found = epsilon(loss, room)
    if found == math.inf:
        assert slack * (1 + math.e) > room / 100  # there is no room for the slack
        return
    late = beside(0.7, 1.0, found) + (1 + math.exp(found)) * slack
    true = min(late, delta_of_mu(found - 1, 0.7) + (1 + math.exp(found - 1)) * slack)  # or slack before Laplace noise
    assert true <= room * (1 + 1e-12)
    assert slack or true > room * (1 - 1e-4) - 3e-13  # and sharp, but for the gap of [currency.3]


def beside(mu: float, size: float, at: float) -> Any:
    """The delta of Gaussian and continuous Laplace noise together: the Gaussian curve, averaged over Laplace losses."""
    digits = mpmath.mp.clone()
    digits.dps = 40

    def gaussian(loss: Any) -> Any:
        return digits.ncdf(mu / 2 - loss / mu) - digits.exp(loss) * digits.ncdf(-mu / 2 - loss / mu)

    size = digits.mpf(size)
    ends = gaussian(at - size) / 2 + digits.exp(-size) * gaussian(at + size) / 2
    cells = [-size, -size / 2, 0, size / 2, size]
    return ends + digits.quad(lambda loss: digits.exp((loss - size) / 2) / 4 * gaussian(at - loss), cells)


def responses(odds: list[Fraction], lost: list[Fraction]) -> dict[Fraction, Fraction]:
    """Randomised responses with these odds beside events, as rationals: the mass at each ratio; 0 is for the events."""
    masses = {Fraction(1): Fraction(1)}
    for each, event in zip(odds, lost, strict=True):
        after: dict[Fraction, Fraction] = {Fraction(0): event * sum(masses.values())}
        for ratio, mass in masses.items():
            for factor, share in ((each, each / (1 + each)), (1 / each, 1 / (1 + each))):
                after[ratio * factor] = after.get(ratio * factor, Fraction(0)) + mass * share * (1 - event)
        masses = after
    return masses


@pytest.mark.claim("compose.1")
@settings(deadline=None, max_examples=30)
@given(
    st.lists(st.tuples(st.sampled_from([2, 3, 7]), st.sampled_from([0, 1e-14, 1e-9])), min_size=2, max_size=9),
    st.sampled_from([1e-12, 1e-9, 1e-6, 1e-2]),
)
def test_pure_losses_against_rational_enumeration(listed: list[tuple[int, float]], room: float) -> None:
    """Responses of odds 2, 3 and 7: all outcomes as rationals, and e^epsilon from below to forty digits."""
    digits = mpmath.mp.clone()
    digits.dps = 40
    odds = [Fraction(odd) for odd, _ in listed]
    events = [Fraction(repr(event)) for _, event in listed]
    loss = Composed(tuple(Approximate(math.nextafter(math.log(odd), 9), event) for odd, event in listed))
    assert pure(loss) is not None
    found = epsilon(loss, room)
    if found == math.inf:
        assert float(sum(events)) > room * (1 - 1e-6)
        return
    t = Fraction(int(digits.floor(digits.exp(found) * 10**30)), 10**30)
    true = sum(
        (
            mass * (1 - t / ratio) if ratio else mass
            for ratio, mass in responses(odds, events).items()
            if not ratio or ratio > t
        ),
        Fraction(0),
    )
    assert true <= Fraction(room) * (1 + Fraction(1, 10**9))


@pytest.mark.claim("amplify.1")
def test_a_tiny_share_of_a_tiny_loss_is_not_nothing() -> None:
    least = Fraction(1, 10**400)  # below the smallest float, and met 10^400 times
    assert amplified(1e-200, 1e-200) >= least
    assert epsilon(Sampled(Laplace(1e-200), 1e-200, 10**400), 0) >= 1
    for loss, rate in ((1e-13, 1e-290), (0.5, 1e-290), (30.0, 1e-300)):
        exactly = Fraction(rate) * Fraction(loss)
        assert exactly <= amplified(loss, rate) <= Fraction(loss)


@pytest.mark.parametrize(
    "loss",
    [
        Composed((Sampled(Composed(()), 0.5), Laplace(1), Laplace(1))),
        Composed((Gaussian(1e-200), Laplace(1))),
        Composed((Sampled(Gaussian(1e-200), 0.5), Laplace(1))),
        Composed((Approximate(1, Fraction(10**18 - 1, 10**18)), Laplace(1))),
    ],
)
def test_what_floats_cannot_hold_has_other_bounds(loss: Loss) -> None:
    found = epsilon(loss, 1e-6)
    assert found == math.inf or delta(loss, found) <= 1e-6
