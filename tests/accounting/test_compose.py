"""epsilon() and delta() are upper bounds, for every kind of loss and against computations of another kind."""

import math
import sys
from fractions import Fraction
from subprocess import run
from typing import Any

import mpmath
import pytest
from dp_accounting.pld import privacy_loss_distribution
from hypothesis import example, given, settings
from hypothesis import strategies as st

from discreet.accounting.calibrate import delta_of_mu, epsilon_of_rho, gaussian
from discreet.accounting.compose import delta, epsilon, implies
from discreet.accounting.currency import amplified, mu, pure, rho
from discreet.errors import BadInput
from discreet.friendly.refine import RefinedMean
from discreet.privacy.guarantee import Guarantee, Neighbours
from discreet.privacy.loss import Approximate, Choice, Composed, Gaussian, Laplace, Loss, Sampled, compose
from discreet.statistics.count import Count

FOUR = Composed((Gaussian(0.2), Gaussian(0.1), Gaussian(0.05), Gaussian(0.04)))
MIXTURE = Composed((Laplace(0.3), Gaussian(0.2, 1e-18), Choice(0.2), Approximate(0.1, 1e-8)))


@pytest.mark.claim("compose.1")
def test_four_gaussians_as_in_the_theory_and_as_dp_accounting_has_them() -> None:
    assert f"{delta(FOUR, 1.0):.4e}" == "6.9334e-07"
    theirs = privacy_loss_distribution.from_gaussian_mechanism(5.0)
    for sigma in (10.0, 20.0, 25.0):
        theirs = theirs.compose(privacy_loss_distribution.from_gaussian_mechanism(sigma))
    assert delta(FOUR, 1.0) == pytest.approx(theirs.get_delta_for_epsilon(1.0), rel=1e-5)
    assert epsilon(FOUR, 1e-6) == pytest.approx(theirs.get_epsilon_for_delta(1e-6), rel=1e-6)


@pytest.mark.claim("compose.1")
def test_pure_losses_without_delta_are_exact() -> None:
    assert epsilon(Composed((Laplace(0.1),) * 10), 0) == 1.0
    assert epsilon(Composed((Laplace(0.1), Choice(0.2))), 0) == 0.3
    assert epsilon(Gaussian(1), 0) == epsilon(Approximate(1, 1e-9), 0) == math.inf
    assert epsilon(Composed(()), 0) == delta(Composed(()), 0) == 0
    assert epsilon(Approximate(1, 1e-7), 1e-7) == 1.0
    assert delta(Composed((Approximate(0.1, 1e-7),) * 10), 1.0) == 1e-6
    assert epsilon(MIXTURE, 1) == 0


@pytest.mark.claim("compose.1")
def test_the_least_bound_wins() -> None:
    many = Composed((Choice(0.1),) * 100)
    assert epsilon(many, 1e-6) <= epsilon_of_rho(rho(many)[0], 1e-6) * (1 + 1e-12) < 10
    assert epsilon(many, 1e-6) == pytest.approx(2.42, abs=0.01)
    few = Composed((Laplace(0.1),) * 10)
    assert 0.99 < epsilon(few, 1e-6) < 1.0  # by the distribution, just below the sum
    big = Composed((Laplace(1e4), Gaussian(0.2)))
    assert epsilon(big, 1e-6) == pytest.approx(1e4 + epsilon(Gaussian(0.2), 1e-6), rel=1e-9)
    assert epsilon(MIXTURE, 1e-6) < 0.6 + epsilon(Gaussian(0.2), 9e-7)


@pytest.mark.claim("compose.1")
def test_a_large_pure_part_is_added_to_the_mu_of_the_others() -> None:
    """Small choices beside Gaussian noise count by their mu, not by their epsilon, when a pure part is added."""
    others = Composed((Gaussian(0.1, 1e-12), *(Choice(0.03),) * 4))
    whole = Composed((others, Approximate(0.5, 1e-8)))
    alone = math.sqrt(0.1**2 + 4 * (math.sqrt(2 * math.pi) / 4 * 0.03) ** 2)
    assert epsilon(whole, 1e-6 + 1e-8) == pytest.approx(0.5 + epsilon(Gaussian(alone, 1e-12), 1e-6), rel=1e-3)
    assert epsilon(whole, 1e-6) > 0.5 + epsilon(Gaussian(0.1), 1e-6)
    assert epsilon(whole, 1e-9) == math.inf
    sampled = Sampled(Approximate(0.01, 1e-5), Fraction(1, 10))  # which has a delta of its own, 1e-6
    assert epsilon(Composed((Gaussian(0.1), sampled, Approximate(0.5, 0))), 9e-7) == math.inf
    noisy = Composed((Gaussian(0.1, 1e-9), Choice(0.01), Approximate(5, 0)))
    assert delta(noisy, 7) > 2e-9  # (1 + e^x) slack, x above 0 where the others are composed


@pytest.mark.claim("compose.1")
def test_gaussians_with_bad_events_have_the_closed_curve() -> None:
    loss = Composed((FOUR, Approximate(0, 1e-7), Approximate(0, 2e-7)))
    assert delta(loss, 1.0) == pytest.approx(delta(FOUR, 1.0) + 3e-7, rel=1e-10)
    assert epsilon(loss, 3e-7) == math.inf


@pytest.mark.claim("compose.1")
@pytest.mark.parametrize("inner", [Gaussian(0.2, 1e-9), Composed((Gaussian(0.2, 1e-9), Laplace(0.1)))])
def test_slack_costs_one_plus_e_to_the_epsilon_in_every_route(inner: Loss) -> None:
    bare = Gaussian(0.2) if isinstance(inner, Gaussian) else Composed((Gaussian(0.2), Laplace(0.1)))
    for eps in (0.5, 1.0, 1.2):
        assert delta(inner, eps) == pytest.approx(delta(bare, eps) + (1 + math.exp(eps)) * 1e-9, rel=1e-6)
    found = epsilon(inner, 1e-6)
    assert delta(inner, found) <= 1e-6 * (1 + 1e-12)
    assert epsilon(bare, 1e-6) < found < epsilon(bare, 0.99e-6)
    assert epsilon(inner, 1e-9) == math.inf  # less than the slack itself


@pytest.mark.claim("compose.1")
def test_slack_may_be_paid_at_a_smaller_epsilon() -> None:
    assert delta(Gaussian(0.3, 1e-18), 60.0) < 1e-14
    assert delta(Gaussian(0.3, 1e-18), 60.0) <= delta(Gaussian(0.3, 1e-18), 5.0)


@pytest.mark.claim("compose.1")
def test_sampled_losses() -> None:
    theirs = privacy_loss_distribution.from_gaussian_mechanism(1.0, sampling_prob=0.01).self_compose(1000)
    steps = Sampled(Gaussian(1), 0.01, 1000)
    assert epsilon(steps, 1e-6) == pytest.approx(theirs.get_epsilon_for_delta(1e-6), rel=1e-4)
    assert delta(steps, 2.0) == pytest.approx(theirs.get_delta_for_epsilon(2.0), rel=1e-3)
    assert epsilon(Sampled(Gaussian(1, 1e-18), 0.01, 1000), 1e-6) == pytest.approx(epsilon(steps, 1e-6), rel=1e-6)
    assert epsilon(Sampled(Laplace(1), 0.01), 0) == pytest.approx(math.log1p(0.01 * math.expm1(1)), rel=1e-11)
    mixed = Sampled(Composed((Gaussian(0.1), Laplace(0.1))), 0.01)
    assert epsilon(mixed, 1e-6) < epsilon(mixed.loss, 1e-4) * 0.02  # amplified as (epsilon, delta)
    for times in (1, 10, 300):  # an answer that gives away whoever is in the sample
        for inner in (Laplace(1e6), Composed((Gaussian(1e6), Laplace(1)))):
            assert 1 - 0.99**times <= delta(Sampled(inner, 0.01, times), 1.0) <= min(1, 0.01 * times + 1e-12)
    assert epsilon(Sampled(Gaussian(1), 1.0, 4), 1e-6) == pytest.approx(epsilon(Gaussian(2), 1e-6), rel=1e-6)


@pytest.mark.claim("compose.1")
@pytest.mark.parametrize("size", [1e-300, 1e-9, 1e6, 1e300])
@pytest.mark.parametrize("kind", [Laplace, Choice, Gaussian, lambda x: Approximate(x, 1e-7)])
def test_extreme_losses_neither_overflow_nor_hang(size: float, kind: Any) -> None:
    for loss in (kind(size), Composed((kind(size), Gaussian(0.1))), Sampled(kind(size), 0.01, 10)):
        assert epsilon(loss, 1e-6) >= 0
        assert 0 <= delta(loss, 1.0) <= 1
    assert delta(Gaussian(size), 1.0) > 0


parts = st.one_of(
    st.builds(Laplace, st.floats(0.05, 2)),
    st.builds(Choice, st.floats(0.05, 2)),
    st.builds(Gaussian, st.floats(0.05, 2), st.sampled_from([0, 1e-18])),
    st.builds(Approximate, st.floats(0.05, 1), st.sampled_from([0, 1e-9])),
)


@pytest.mark.claim("compose.1")
@settings(max_examples=15, derandomize=True)
@given(st.lists(parts, min_size=2, max_size=3), st.floats(1e-8, 1e-2), st.floats(1.1, 100))
def test_monotone_in_delta_and_blind_to_order(losses: list[Any], small: float, more: float) -> None:
    loss, back = Composed(tuple(losses)), Composed(tuple(losses[::-1]))
    wide = min(0.5, small * more)
    found = epsilon(loss, small)
    assert epsilon(back, small) == pytest.approx(found, rel=1e-9)
    assert epsilon(loss, wide) <= found * (1 + 1e-9)
    assert delta(loss, found) <= small * (1 + 1e-6)
    assert epsilon(Composed((*losses, Laplace(0.1))), small) >= found * (1 - 1e-3)  # up to the grid


@pytest.mark.claim("compose.2")
def test_implies_is_exact_for_sums() -> None:
    tenths = Composed((Laplace(0.1),) * 10)
    assert implies(tenths, Guarantee(1.0))
    assert not implies(tenths, Guarantee(Fraction(10**30 - 1, 10**30)))
    assert implies(Composed((Approximate(0.1, 1e-7),) * 10), Guarantee(1.0, 1e-6))
    assert not implies(Composed((Approximate(0.1, 1e-7),) * 11), Guarantee(1.1, 1e-6))
    assert not implies(Gaussian(0.01), Guarantee(1.0))
    just_below = Fraction(10**30 - 1, 10**30)  # the nearest float is 1
    assert delta(tenths, just_below) > 0
    assert implies(tenths, Guarantee(just_below, 1e-6))


@pytest.mark.claim("compose.2")
def test_implies_agrees_with_calibration() -> None:
    for eps in (0.1, 1.0, 10.0):
        for slack in (0, 1e-15):
            size = gaussian(eps, 1e-6, slack)
            assert implies(Gaussian(size, slack), Guarantee(eps, 1e-6))
            assert not implies(Gaussian(size * (1 + 1e-9), slack), Guarantee(eps, 1e-6))


@pytest.mark.claim("compose.2")
def test_implies_uses_the_distribution_last() -> None:
    loss = Composed((Laplace(0.5), Gaussian(0.1)))
    eps = epsilon(loss, 1e-6)
    assert implies(loss, Guarantee(eps * (1 + 1e-6), 1e-6))
    assert not implies(loss, Guarantee(eps * 0.999, 1e-6))


def test_a_poisson_sample_implies_nothing_about_replacement() -> None:
    loss = Composed((Laplace(0.1), Sampled(Gaussian(1), 0.1)))
    with pytest.raises(BadInput, match="ADD_OR_REMOVE"):
        implies(loss, Guarantee(5.0, 1e-6, Neighbours.REPLACE))
    assert implies(loss, Guarantee(5.0, 1e-6))


@pytest.mark.claim("compose.1")
def test_wrong_accounting_would_be_caught() -> None:
    """Planted: mu added linearly or slack paid once would not give these figures."""
    assert delta_of_mu(1.0, 0.39) > 10 * delta(FOUR, 1.0)
    loss = Gaussian(gaussian(3.0, 1e-6), 1e-8)
    assert delta(loss, 3.0) > 1e-6 + 2 * 1e-8
    assert mu(FOUR)[0] == Fraction(541, 10000)
    assert pure(MIXTURE) is None


@pytest.mark.parametrize("bad", [-1, math.nan, 1.5, None])
def test_bad_numbers(bad: Any) -> None:
    with pytest.raises(BadInput, match="delta is"):
        epsilon(Laplace(1), bad)
    if bad != 1.5:
        with pytest.raises(BadInput, match="epsilon is"):
            delta(Laplace(1), bad)
    for function in (epsilon, delta):
        with pytest.raises(BadInput, match="not a loss"):
            function("Laplace", 0.5)  # type: ignore[arg-type]


def test_nothing_heavy_is_imported() -> None:
    modules = "filter, compose, calibrate, allocation, pld, currency"
    code = f"from discreet.accounting import {modules}; import sys; "
    code += "print([name for name in ('numpy', 'scipy', 'dp_accounting', 'opendp') if name in sys.modules])"
    done = run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


sizes = st.floats(0.01, 4)
slacks = st.sampled_from([0, 0, 1e-18, 1e-14, 1e-11, 1e-8, 1e-5])
deltas = st.sampled_from([1e-15, 1e-12, 1e-10, 1.5e-10, 1e-8, 1e-6, 1e-3, 0.3])
simple = st.one_of(
    st.builds(Laplace, sizes),
    st.builds(Choice, sizes),
    st.builds(Gaussian, sizes, slacks),
    st.builds(Approximate, sizes | st.just(0), st.sampled_from([0, 1e-13, 1e-9, 1e-7])),
)
parts_of_upper = simple | st.builds(
    Sampled,
    simple | st.builds(lambda one, other: Composed((one, other)), simple, simple),
    st.sampled_from([0.001, 0.03, 0.5, 1]),
    st.sampled_from([1, 2, 7, 300]),
)
losses = st.lists(parts_of_upper, min_size=1, max_size=5).map(lambda listed: Composed(tuple(listed)))


@pytest.mark.claim("compose.1")
@settings(max_examples=50)
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
@settings(max_examples=30)
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


@pytest.mark.claim("currency.8")
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
