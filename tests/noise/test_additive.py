"""Noisy sums over secret samples: the coins, the noise, the cost."""

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from tests.noise.distribution_checks import (
    Constant,
    LaplaceDistribution,
    assert_distribution,
    chi_square,
    hockey_stick,
    log_ratios,
)

from discreet.audit.replay import Recorder
from discreet.errors import BadInput
from discreet.noise.additive import EDGE, ROOM, Blur, SampledSum, rounded_rate, slack
from discreet.noise.distributions import LARGEST_SCALE, SMALLEST_SCALE, drawn_scale
from discreet.noise.randomness import Seeded, SeededSource
from discreet.privacy.loss import Approximate, Gaussian, Laplace, Sampled

WIDE = settings(derandomize=True, database=None, max_examples=300)
K = np.arange(-240, 241)
FAR = np.arange(-2000, 2001)


def discrete_laplace(scale: float, centre: int = 0, on: Any = K) -> np.ndarray[Any, Any]:
    return np.asarray(np.tanh(1 / (2 * scale)) * np.exp(-np.abs(on - centre) / scale))


@pytest.mark.claim("additive.1")
@WIDE
@given(st.fractions(Fraction(1, 10**12), 10**15), st.floats(1e-9, 1e6))
def test_the_scale_drawn_is_never_below_the_scale_paid_for(sensitivity: Fraction, epsilon: float) -> None:
    asked = sensitivity / Fraction(repr(epsilon))
    if asked > LARGEST_SCALE:
        with pytest.raises(BadInput):
            drawn_scale(asked)
        return
    scale = drawn_scale(asked)
    assert asked <= scale <= max(asked * (1 + Fraction(1, 2**29)), SMALLEST_SCALE)
    assert Fraction(float(scale)) == scale  # every engine draws this very scale
    assert scale.numerator.bit_length() <= 31 or scale.denominator == 1
    assert scale.denominator <= 2**40


@pytest.mark.claim("additive.1")
def test_scales_at_powers_of_two_and_at_the_ends() -> None:
    for k in range(-9, 51):
        assert drawn_scale(Fraction(2) ** k) == Fraction(2) ** k
        if k < 50:
            above = drawn_scale(Fraction(2) ** k + Fraction(1, 10**40))
            assert Fraction(2) ** k < above <= Fraction(2) ** k * (1 + Fraction(1, 2**29))
    assert drawn_scale(Fraction(1, 10**400)) == SMALLEST_SCALE
    for scale in (Fraction(2**50) + Fraction(1, 10**9), Fraction(10**400)):
        with pytest.raises(BadInput, match=r"2\^50"):
            drawn_scale(scale)


@pytest.mark.claim("additive.1")
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("moves", [(1,), (2,), (1, 1), (1, 2, -1)])
def test_log_ratio_of_a_shift_is_within_epsilon(epsilon: float, moves: tuple[int, ...]) -> None:
    request = Blur([0] * len(moves), sum(map(abs, moves)), Laplace(epsilon))
    scale = float(request.scale)
    worst = sum(np.abs(log_ratios(discrete_laplace(scale), discrete_laplace(scale, move))).max() for move in moves)
    assert epsilon * (1 - 1e-6) <= worst <= epsilon * (1 + 1e-9)


@pytest.mark.claim("additive.1")
def test_pure_epsilon_is_all_that_discrete_noise_promises() -> None:
    """A move of one step is randomised response: leakier than continuous Laplace noise of the same epsilon.

    So no count may be charged by the curve of continuous noise (1 - e^{(eps' - eps)/2}, and epsilon - 1 + e^-epsilon in
    zCDP); by the curve of any pure mechanism it may. The curve of d steps joins d + 1 points of the continuous one by
    straight lines in e^eps', so that with 2^20 steps nobody could tell them apart.
    """
    for epsilon in (0.5, 1.0, 2.0):
        grid = np.linspace(-epsilon, epsilon, 201)
        continuous = -np.expm1((grid - epsilon) / 2)
        excess = []
        for steps in (1, 2, 4, 20):
            mine, other = (discrete_laplace(steps / epsilon, centre, FAR) for centre in (0, steps))
            seen = np.array([hockey_stick(mine, other, below) for below in grid])
            assert (seen >= continuous - 1e-9).all()
            excess.append((seen - continuous).max())
            divergence = float((mine * (np.abs(FAR - steps) - np.abs(FAR)) * epsilon / steps).sum())
            assert divergence > (epsilon - 1 + math.exp(-epsilon)) * (1 + 0.01 / steps**2)
            if steps == 1:
                response = (math.exp(epsilon) - np.exp(grid)) / (1 + math.exp(epsilon))
                assert seen == pytest.approx(response, abs=1e-9)
                assert divergence == pytest.approx(epsilon * math.tanh(epsilon / 2), abs=1e-9)
        assert excess[0] > 0.02
        assert all(later < earlier / 2 for earlier, later in itertools.pairwise(excess))


@pytest.mark.claim("additive.1")
def test_the_noise_has_its_distribution_and_is_added() -> None:
    request = Blur(np.full(1500, 10**6), 3, Laplace(0.5))
    source = SeededSource(11)
    draws = np.concatenate([request.answer(source) for _ in range(10)]) - 10**6
    assert_distribution(draws, LaplaceDistribution(6.0), wrong=0.15)
    assert np.concatenate([Blur(np.zeros(100, int), 1, Laplace(1e6)).answer(source)]).tolist() == [0] * 100


@pytest.mark.claim("additive.2")
@pytest.mark.parametrize("s", [4, 8, 30])
def test_discrete_gaussian_is_within_the_curve_and_its_slack(s: int) -> None:
    """[additive.5] at work: delta of the noise drawn <= delta of exact Gaussian noise + (1 + e^eps) slack, where it
    shows."""
    mass = np.exp(-(K**2) / (2 * s**2)) / np.exp(-(K**2) / (2 * s**2)).sum()
    for move in (1, s, 3 * s):
        mu = move / s
        for epsilon in (0.0, 0.1, 0.5, 1.0, 3.0):
            shifted = np.exp(-((K - move) ** 2) / (2 * s**2)) / np.exp(-(K**2) / (2 * s**2)).sum()
            exact = norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
            allowed = exact + (1 + math.exp(epsilon)) * float(slack(1, s))
            assert hockey_stick(mass, shifted, epsilon) <= allowed + 1e-12


@pytest.mark.claim("additive.2")
@WIDE
@given(st.integers(1, 2**40), st.floats(1e-4, 100), st.integers(0, 5))
def test_sigma_is_never_below_what_is_paid_for_and_slack_covers(sensitivity: int, mu: float, size: int) -> None:
    sigma = math.ceil(sensitivity / Fraction(repr(mu)))
    if not 2**20 <= sigma <= 2**50:
        with pytest.raises(BadInput):
            Blur([0] * size, sensitivity, Gaussian(mu, 0.5))
        return
    enough = slack(size, sigma)
    request = Blur([0] * size, sensitivity, Gaussian(mu, enough))
    assert request.scale >= sensitivity / Fraction(repr(mu))
    if size:
        with pytest.raises(BadInput, match="slack"):
            Blur([0] * size, sensitivity, Gaussian(mu, enough * Fraction(999, 1000)))


@pytest.mark.claim("additive.2")
def test_gaussian_noise_is_asked_for_with_its_sigma() -> None:
    asked: list[int] = []

    class Listening(Constant):
        def gaussian(self, size: int, sigma: int) -> Any:
            asked.append(sigma)
            return super().gaussian(size, sigma)

    answer = Blur([5, 6], 2**25, Gaussian(3, Fraction(1, 10**12))).answer(Listening(100))
    assert answer.tolist() == [105, 106]
    assert asked == [math.ceil(2**25 / 3)]


@pytest.mark.claim("additive.1")
@WIDE
@given(st.integers(-(2**70), 2**70), st.integers(-(2**63), 2**63 - 1))
def test_answers_are_the_exact_sum_cut_to_a_range(value: int, noise: int) -> None:
    """Even where an engine's noise ends at the ends of an int64: cutting is post-processing of the whole sum."""
    answer = Blur(value, 1, Laplace(1)).answer(Constant(noise))
    held = min(max(value, -ROOM), ROOM)
    assert answer == min(max(held + noise, -EDGE), EDGE)
    assert isinstance(answer, int)
    # noise that did not fit an int64 would have led to the same end
    if noise == 2**63 - 1:
        assert answer == EDGE
    if noise == -(2**63):
        assert answer == -EDGE


@pytest.mark.claim("additive.1")
def test_neighbours_at_the_edge_of_the_integers_stay_neighbours() -> None:
    for value in (2**63 - 1, 2**63, 2**64, -(2**63), ROOM, -ROOM):
        left = Blur(value, 1, Laplace(1)).answer(Constant(0))
        right = Blur(value + 1, 1, Laplace(1)).answer(Constant(0))
        assert abs(left - right) <= 1
    unsigned = np.array([2**63 - 1, 2**63], dtype=np.uint64)
    assert Blur(unsigned, 1, Laplace(1)).answer(Constant(0)).tolist() == [ROOM, ROOM]


def test_shapes_are_kept() -> None:
    for values in (7, np.int64(7), [7], [[1, 2], [3, 4]], np.zeros((2, 0), int), []):
        answer = Blur(values, 1, Laplace(1)).answer(Constant(1))
        assert np.shape(answer) == np.shape(values)
    assert type(Blur(np.int32(3), 1, Laplace(1)).answer(Constant(1))) is int


@pytest.mark.parametrize(
    ("values", "sensitivity", "cost"),
    [
        (0.5, 1, Laplace(1)),
        ([1, 2.0], 1, Laplace(1)),
        (True, 1, Laplace(1)),
        (1, 0, Laplace(1)),
        (1, -1, Laplace(1)),
        (1, math.nan, Laplace(1)),
        (1, math.inf, Laplace(1)),
        (1, 2**51, Laplace(1)),
        (1, 1, Gaussian(1, 0.1)),
        (1, 2**30, Gaussian(1, 0)),
        (1, 2**60, Gaussian(1, 0.1)),
    ],
)
def test_refusals_come_before_any_draw(values: Any, sensitivity: Any, cost: Any) -> None:
    with pytest.raises(BadInput):
        Blur(values, sensitivity, cost)


def test_the_loss_is_the_declared_cost() -> None:
    assert Blur(1, 1, Laplace(2)).loss == Approximate(2, 0)  # one step: randomised response
    assert Blur(1, 2**20, Laplace(2)).loss == Laplace(2)


@pytest.mark.claim("additive.1")
def test_objections_to_laplace() -> None:
    mine = Blur([1, 2, 3], 2, Laplace(1))
    assert mine.objection(Blur([2, 1, 3], 2, Laplace(1))) is None
    assert mine.objection(Blur([1, 2, 5], 2, Laplace(1))) is None
    assert "claimed 2" in str(mine.objection(Blur([2, 1, 4], 2, Laplace(1))))
    assert "shape" in str(mine.objection(Blur([1, 2], 2, Laplace(1))))
    assert "shape" in str(Blur(1, 2, Laplace(1)).objection(Blur([1], 2, Laplace(1))))
    assert "scale" in str(mine.objection(Blur([1, 2, 3], 3, Laplace(1))))
    assert "scale" in str(mine.objection(Blur([1, 2, 3], 2, Laplace(2))))
    assert Blur(2**63, 1, Laplace(1)).objection(Blur(2**63 - 1, 1, Laplace(1))) is None
    assert Blur(-5, 1, Laplace(1)).objection(Blur(2**64, 1, Laplace(1))) is not None


@pytest.mark.claim("additive.2")
def test_objections_to_gaussian_are_in_l2() -> None:
    def blur(values: list[int]) -> Blur:
        return Blur(values, 5 * 2**20, Gaussian(1, 1e-6))

    assert blur([0, 0]).objection(blur([3 * 2**20, 4 * 2**20])) is None
    assert "claimed" in str(blur([0, 0]).objection(blur([3 * 2**20, 4 * 2**20 + 1])))


def test_a_seed_repeats_and_a_different_value_shifts() -> None:
    one = Seeded(5).blur([1, 2, 3], sensitivity=1, cost=Laplace(1))
    two = Seeded(5).blur([2, 3, 4], sensitivity=1, cost=Laplace(1))
    assert (two - one).tolist() == [1, 1, 1]


def test_small_sums_by_cells() -> None:
    source, distribution = SeededSource(2), LaplaceDistribution(1)
    draws = [Blur(0, 1, Laplace(1)).answer(source) for _ in range(4000)]
    counts = [draws.count(k) for k in range(-6, 7)]
    assert (
        chi_square(
            [*counts, 4000 - sum(counts)], [*(distribution.at(k) for k in range(-6, 7)), 2 * distribution.tail(7)]
        )
        > 1e-6
    )


def test_a_numpy_sensitivity_is_as_good_as_a_plain_one() -> None:
    cost = Laplace(0.123456789012)
    assert Blur(0, np.int64(2**40), cost).scale == Blur(0, 2**40, cost).scale  # type: ignore[arg-type]


COST = Gaussian(Fraction(1, 2), Fraction(1, 10**12))


@pytest.mark.claim("additive.3")
def test_each_person_is_in_by_a_coin_and_noise_comes_to_an_empty_sample() -> None:
    """20,000 coins at a rate of 1/8: within 5.5 standard errors."""
    seen: list[int] = []

    def sums(chosen: np.ndarray) -> np.ndarray:
        seen.append(int(chosen.sum()))
        return np.array([chosen.sum()]) * 2**26

    door = Seeded(3)
    drawn = door.sampled_sum(20_000, sums, sensitivity=2**26, cost=COST, rate=0.125)
    assert abs(seen[0] - 2500) < 5.5 * (20_000 / 8 * 7 / 8) ** 0.5
    assert drawn[0] != seen[0] * 2**26
    empty = {int(door.sampled_sum(0, sums, sensitivity=2**26, cost=COST, rate=0.125)[0]) for _ in range(5)}
    assert len(empty) == 5
    assert seen[1:] == [0] * 5


@pytest.mark.claim("additive.3")
def test_the_cost_is_that_of_a_sample_at_the_rate_that_is_drawn() -> None:
    recorder = Recorder(Seeded(0))
    recorder.sampled_sum(3, lambda c: np.array([0]), sensitivity=2**26, cost=COST, rate=rounded_rate(0.1))
    assert recorder.spent == Sampled(COST, Fraction(rounded_rate(0.1)))
    full = SampledSum(people=3, sums=lambda c: np.array([0]), sensitivity=2**26, cost=COST, rate=1.0)
    assert full.loss == COST
    assert abs(rounded_rate(0.1) - 0.1) < 1e-15
    with pytest.raises(BadInput, match="rate"):
        SampledSum(people=3, sums=lambda c: np.array([0]), sensitivity=2**26, cost=COST, rate=0.0)


def test_a_sum_that_moves_too_far_is_objected_to() -> None:
    left, right = (
        SampledSum(people=size, sums=lambda c: np.array([2**27 * int(c.sum())]), sensitivity=2**26, cost=COST, rate=0.5)
        for size in (3, 4)
    )
    assert "moved" in str(left.objection(right))
    other = SampledSum(people=4, sums=lambda c: np.array([0]), sensitivity=2**26, cost=COST, rate=0.25)
    assert "parameters" in str(left.objection(other))


@pytest.mark.claim("additive.5")
def test_noise_that_cannot_be_drawn_has_no_cost() -> None:
    assert slack(1, 2**50) > 0
    for steps in (3, 2**50 + 1):
        with pytest.raises(BadInput, match="steps"):
            slack(1, steps)
