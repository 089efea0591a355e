"""Floors: the printed numbers, and mechanisms that must not be below them."""

import math

import numpy as np
import pytest

from discreet.errors import BadInput
from discreet.noise.distributions import LaplaceDistribution, laplace_scale
from discreet.privacy.guarantee import Neighbours
from discreet.worlds.floors import (
    answers_apart,
    count_floor,
    histogram_floor,
    least_error,
    normal_means,
    normal_scales,
    packing,
    places_of,
    range_floor,
    shares,
    shifted,
    told,
    told_of,
)


@pytest.mark.claim("floors.1")
def test_randomised_response_attains_the_pure_bound() -> None:
    """One person, two certain answers: H = 1, and randomised response is exactly tanh(epsilon / 2) apart."""
    for epsilon in (0.1, 1.0, 3.0):
        truthful = math.exp(epsilon) / (1 + math.exp(epsilon))
        assert answers_apart(1, 1.0, told(epsilon)) == pytest.approx(truthful - (1 - truthful))


@pytest.mark.claim("floors.1")
@pytest.mark.parametrize("epsilon", [0.05, 0.5, 2.0])
def test_a_noisy_count_is_within_the_pure_bound(epsilon: float) -> None:
    """Bin(n, p) + Laplace noise against Bin(n, q) + noise: their total variation, summed, is below the bound."""
    from scipy import stats

    n, p, q = 40, 0.3, 0.45
    reach = int(60 / epsilon)
    rate = float(1 / laplace_scale(1, epsilon))
    noise = np.tanh(rate / 2) * np.exp(-rate * np.abs(np.arange(-reach, reach + 1)))
    distributions = [np.convolve(stats.binom(n, share).pmf(np.arange(n + 1)), noise) for share in (p, q)]
    assert np.abs(distributions[0] - distributions[1]).sum() / 2 <= answers_apart(n, q - p, told(epsilon)) + 1e-9


@pytest.mark.claim("floors.2")
def test_delta_adds_to_the_pure_bound_and_ends_at_one() -> None:
    h = np.arange(0.0, 60.0)
    pure, more = told(0.2)(h), told(0.2, 1e-3)(h)
    assert (more >= pure).all()
    assert more[1] == pytest.approx((math.expm1(0.2) + 2e-3) / (math.exp(0.2) + 1))
    assert told(0.2, 1e-9)(h) == pytest.approx(pure, abs=1e-4)
    assert told(5.0, 0.5)(np.array([300.0]))[0] == 1.0


@pytest.mark.claim("floors.3")
def test_gaussian_noise_is_within_the_concentrated_bound() -> None:
    """A sum that moves by h with noise of sd 1 / sqrt(2 rho): 2 Phi(h sqrt(2 rho) / 2) - 1 apart."""
    rho = 0.02
    for h in range(1, 30):
        gaussian = math.erf(h * math.sqrt(2 * rho) / 2 / math.sqrt(2))
        assert gaussian <= told(0.0, rho=rho)(np.array([float(h)]))[0]


@pytest.mark.claim("floors.4")
def test_the_floor_of_a_normal_mean() -> None:
    """.241 against .139 without privacy at n = 200 and epsilon = 0.1; from n = 1000 on privacy does not bind."""
    assert least_error(200, 0.95, normal_means(200), told(0.1), 9.0) == pytest.approx(0.241, abs=5e-4)
    free = 1.959964 / math.sqrt(1000)
    assert least_error(1000, 0.95, normal_means(1000), told(0.1), 9.0) == pytest.approx(free, rel=2e-4)
    wide = least_error(200, 0.95, normal_means(200, 3.0), told(0.1), 27.0)
    assert wide == pytest.approx(3 * 0.2408, rel=1e-3)


@pytest.mark.claim("floors.4")
def test_without_privacy_floors_are_those_of_the_sample() -> None:
    """At a large epsilon what binds is sampling: the quartiles of well-known estimates, nearly."""
    n, sure = 10_000, told(50.0)
    assert least_error(n, 0.5, shares(n, 0.3), sure, 0.5) == pytest.approx(0.6745 * math.sqrt(0.21 / n), rel=0.01)
    assert least_error(n, 0.5, normal_scales(n, 2.0, 2), sure, 4.0) == pytest.approx(
        0.6745 * 4 * math.sqrt(2 / n), rel=0.01
    )
    assert least_error(n, 0.5, normal_scales(n, 2.0, 1), sure, 2.0) == pytest.approx(
        0.6745 * 2 / math.sqrt(2 * n), rel=0.01
    )


@pytest.mark.claim("floors.4")
def test_the_floor_of_a_shifted_distribution_is_no_higher_than_the_exact_one() -> None:
    """The Hellinger bound is weaker than the normal distribution's own total variation, and not by much."""
    from scipy import stats

    n = 500
    exact = least_error(n, 0.5, normal_means(n), told(0.02), 9.0)
    loose = least_error(n, 0.5, shifted(n, stats.norm.pdf, places_of(stats.norm())), told(0.02), 9.0)
    assert 0.9 * exact < loose <= exact * 1.001


@pytest.mark.claim("floors.4")
def test_where_people_are_added_or_removed_floors_are_lower() -> None:
    both = [
        least_error(300, 0.5, normal_means(300), told_of(0.02, 0.0, relation), 9.0)
        for relation in (Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE)
    ]
    assert both[1] < 0.7 * both[0]


@pytest.mark.claim("floors.5")
def test_packing_numbers() -> None:
    assert [round(packing(1 + reach), 1) for reach in (10, 1e3, 1e6)] == [5.2, 9.9, 16.8]
    with pytest.raises(BadInput, match="2 or more"):
        packing(1)


@pytest.mark.claim("floors.8")
@pytest.mark.parametrize("relation", list(Neighbours))
def test_a_range_is_packed_with_places(relation: Neighbours) -> None:
    """Just above the floor packing allows as many places as fit; a little below it, it does not."""
    for rows, epsilon in ((1, 0.2), (5, 0.1), (40, 0.05)):
        floor = range_floor(100.0, rows, epsilon, relation)
        changes = rows if relation is Neighbours.REPLACE else 2 * rows
        places = math.floor(100.0 / (2 * floor))
        assert packing(places, 0.5) <= changes * epsilon + 1e-9
        assert packing(places + 2, 0.5) > changes * epsilon
    assert range_floor(1.0, 10**6, 1.0, relation) < 1e-300


@pytest.mark.claim("floors.6")
def test_histogram_numbers_and_the_gap_to_laplace_noise() -> None:
    assert [round(histogram_floor(bins, 1.0), 1) for bins in (2, 1e3, 1e9)] == [1.3, 4.4, 11.3]
    for bins in (2, 1000):
        achieved = LaplaceDistribution(laplace_scale(2, 1.0)).radius(0.95, bins)
        assert histogram_floor(bins, 1.0) < achieved < 8 * histogram_floor(bins, 1.0)
    assert histogram_floor(1, 5.0, 0.5) == 0.0
    with pytest.raises(BadInput, match="1 or more"):
        histogram_floor(0, 1.0)


@pytest.mark.claim("floors.7")
@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.7, 2.0])
@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_laplace_counts_are_above_the_floor_and_near_it(epsilon: float, confidence: float) -> None:
    achieved = LaplaceDistribution(laplace_scale(1, epsilon)).radius(confidence)
    floor = count_floor(epsilon, 0.0, confidence)
    assert floor <= achieved
    assert achieved <= 2 * floor + 2
    assert count_floor(epsilon, 1e-4, confidence) <= floor
