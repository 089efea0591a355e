"""Null distributions: against enumeration, and p-values that are super-uniform."""

import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from discreet.errors import BadInput
from discreet.hypotheses.null_distributions import (
    NoisyDistribution,
    check_powerful,
    noise_beyond,
    over_variances,
    prime_above,
    simulated_p_value,
    wave_of_sums,
)
from discreet.noise.distributions import laplace, stream
from discreet.noise.randomness import Seeded
from discreet.privacy.exact import bisect


def enumerated(values: list[int], chances: list[float], times: int, scale: Fraction, t: int) -> float:
    """P(S + N >= t) by convolution and summation."""
    low, mass = min(values), np.zeros(max(values) - min(values) + 1)
    mass[np.array(values) - low] = chances
    distribution = np.array([1.0])
    for _ in range(times):
        distribution = np.convolve(distribution, mass)
    return float(distribution @ noise_beyond(t - (np.arange(len(distribution)) + times * low), scale))


@pytest.mark.claim("null_distributions.1")
@pytest.mark.parametrize("scale", [Fraction(1, 512), Fraction(1, 2), Fraction(7), Fraction(300)])
def test_the_noisy_distribution_is_the_convolution(scale: Fraction) -> None:
    values, chances, times = [-3, 0, 1, 8], [0.1, 0.5, 0.15, 0.25], 9
    distribution = NoisyDistribution(wave_of_sums(np.array(values), np.array(chances), times), 0, 8 * times, scale)
    for t in (-400, -27, -26, 0, 5, 19, 20, 40, 72, 73, 900):
        true = enumerated(values, chances, times, scale, t)
        assert true <= distribution.upper(t) <= true + 2.1e-12  # on the side of caution
        assert distribution.lower(t) == pytest.approx(1 - enumerated(values, chances, times, scale, t + 1), abs=1e-11)
    critical = distribution.critical(0.05)
    assert distribution.upper(critical) <= 0.05 < distribution.upper(critical - 1)


def test_a_spectrum_that_was_found_is_that_of_the_same_numbers() -> None:
    """The same sums with other noise, or of another reach, are asked for one after another."""
    wave = wave_of_sums(np.array([-1, 1]), np.array([0.5, 0.5]), 20)
    for _ in range(2):
        for reach, scale in ((20, Fraction(1)), (20, Fraction(9)), (40, Fraction(9))):
            found, fresh = (NoisyDistribution(one, 0, reach, scale) for one in (wave, partial(wave)))
            assert found.spectrum()[0] == prime_above(2 * found._radius + 2)
            assert found.upper(7) == fresh.upper(7)


def test_the_noise_beyond_is_that_of_its_distribution() -> None:
    a = math.exp(-1 / 3)
    for t in (-4, 0, 1, 5):
        mass = sum((1 - a) / (1 + a) * a ** abs(k) for k in range(t, 400))
        assert noise_beyond(t, Fraction(3)) == pytest.approx(mass, abs=1e-12)


def test_simulated_noise_has_the_distribution_of_the_door() -> None:
    """Four million draws against the tails: a miss of 6 standard errors has a chance below 1e-8."""
    seen, scale = laplace(stream(1), (4_000_000,), Fraction(5, 2)), Fraction(5, 2)
    for t in (-6, -1, 0, 1, 2, 9):
        true = float(noise_beyond(t, scale))
        assert abs((seen >= t).mean() - true) < 6 * math.sqrt(true * (1 - true) / len(seen))


@pytest.mark.claim("null_distributions.2")
def test_simulated_p_values_are_super_uniform_ties_included() -> None:
    """Ties in half of the draws, 19 draws: P(p <= k/20) <= k/20. A false alarm has a chance below 1e-6."""
    values = stream(3)
    found = [
        simulated_p_value(float(values.integers(0, 3)), lambda g, n: g.integers(0, 3, n).astype(float), Seeded(i), 19)
        for i in range(4000)
    ]
    for k in (1, 2, 5, 10, 15):
        assert np.mean(np.array(found) <= k / 20) <= k / 20 + 5 * math.sqrt(0.25 / 4000)
    below = [  # zero, or a number below it
        simulated_p_value(-float(values.integers(0, 2)), lambda g, n: -g.integers(0, 2, n).astype(float), Seeded(i), 19)
        for i in range(400)
    ]
    assert sum(p == 1 for p in below) > 100  # the lower of two values: all reach it
    continuous = [
        simulated_p_value(float(values.normal()), lambda g, n: g.normal(size=n), Seeded(i), 19) for i in range(4000)
    ]
    assert abs(np.mean(np.array(continuous) <= 0.25) - 0.25) < 5 * math.sqrt(0.25 * 0.75 / 4000)


def test_a_test_without_power_is_refused_with_its_best_power() -> None:
    distribution = NoisyDistribution(wave_of_sums(np.array([0, 1]), np.array([0.5, 0.5]), 5), 0, 5, Fraction(1))
    with pytest.raises(BadInput, match="times as many"):
        check_powerful(distribution, 0, 5, "five votes")
    check_powerful(distribution, 0, 10, "ten votes")


def test_primes() -> None:
    small = [n for n in range(3, 200) if all(n % d for d in range(2, n))]
    assert sorted({prime_above(n) for n in range(1, 190)}) == [p for p in small if p <= 191]


@pytest.mark.claim("null_distributions.4")
@pytest.mark.parametrize(("level", "noise"), [(0.05, 0.15), (0.05, 0.1), (0.01, 0.1)])
def test_a_variance_seen_with_noise_leaves_the_level(level: float, noise: float) -> None:
    """Integrated over the noise: a variance of 1 is seen as w, and a normal variable is tested at the level for w.

    No draw is random. The fourth power of the noise is 0.0005 or 0.0001; what is left is 45 to 70 times that, and on
    the side of caution."""
    chances = (np.arange(400) + 0.5) / 400
    seen = 1 + noise * np.where(chances < 0.5, np.log(2 * chances), -np.log(2 - 2 * chances))

    def share(averaged: bool) -> float:
        found = []
        for one in seen:
            tail_at = (
                over_variances(float(one), noise, normal_beyond) if averaged else partial(normal_beyond, sd=one**0.5)
            )
            critical = bisect(lambda t, at=tail_at: 2 * at(t) <= level, 0.0, 20.0, steps=40)[1]  # type: ignore[misc]
            found.append(2 * normal_beyond(critical, 1.0))
        return float(np.mean(found))

    assert 1 - 100 * noise**4 < share(averaged=True) / level <= 1
    assert share(averaged=False) / level > 1.05  # what is averaged away


@pytest.mark.claim("null_distributions.4")
@pytest.mark.parametrize("variance", [-3.0, 0.0, 0.05])
def test_a_variance_that_noise_hides_counts_as_large_as_the_noise(variance: float) -> None:
    hidden, seen = (over_variances(one, 0.1, normal_beyond) for one in (variance, 0.1))
    assert [hidden(t) for t in (0.1, 0.5, 2.0)] == [seen(t) for t in (0.1, 0.5, 2.0)]


def normal_beyond(t: float, sd: float) -> float:
    """P(Z > t) of a normal variable, which is a constant where the deviation is 0, as it is at a node below 0."""
    return 0.5 * math.erfc(t / (math.sqrt(2) * sd)) if sd else float(t < 0)
