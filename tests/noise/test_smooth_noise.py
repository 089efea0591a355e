"""Noise of a width that depends on the data: its distribution and its objections."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from discreet.errors import BadInput
from discreet.noise.randomness import Seeded
from discreet.noise.smooth_noise import SmoothNoise, price
from discreet.privacy.loss import Approximate

TOP = 2**60
DISTRIBUTIONS = {"student": stats.t(4), "cauchy": stats.cauchy(), "laplace": stats.laplace()}


def asked(value: int, reach: int, distribution: str, top: int = TOP) -> SmoothNoise:
    return SmoothNoise(
        value=value,
        reach=reach,
        unit=1,
        top=top,
        distribution=distribution,  # type: ignore[arg-type]
        pace=Fraction(1, 10),
        divisor=Fraction(1, 2),
        cost=Approximate(4, 1e-6),
    )


@pytest.mark.claim("smooth_noise.3")
@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_the_distribution_is_the_stated_one(distribution: str) -> None:
    door, half, reach = Seeded(7), TOP // 2, 2**40
    drawn = np.array([float(door.draw(asked(half, reach, distribution)) - half) / (2 * reach) for _ in range(3000)])
    assert stats.kstest(drawn, DISTRIBUTIONS[distribution].cdf).pvalue > 1e-7


@pytest.mark.claim("smooth_noise.3")
@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_rounding_on_a_coarse_grid_is_that_of_the_real_number(distribution: str) -> None:
    door, runs = Seeded(8), 4000
    drawn = np.array([door.draw(asked(4, 1, distribution, 8)) for _ in range(runs)])
    edges = np.concatenate([[-np.inf], np.arange(0.5, 8, 1), [np.inf]])
    chances = np.diff(DISTRIBUTIONS[distribution].cdf((edges - 4) / 2))
    seen = np.bincount(drawn, minlength=9)
    assert stats.chisquare(seen, chances * runs).pvalue > 1e-7


@pytest.mark.claim("smooth_noise.1")
@pytest.mark.parametrize(("distribution", "degrees"), [("student", 4), ("cauchy", 1)])
def test_the_price_bounds_the_ratio_of_densities(distribution: str, degrees: int) -> None:
    pace, divisor = 0.2, 0.3
    paid = float(price(distribution, pace, divisor))  # type: ignore[arg-type]
    t = np.concatenate([np.linspace(-60, 60, 60_001), np.geomspace(1, 1e9, 1000)])
    one, worst = stats.t(degrees), 0.0
    for shrink in (np.exp(-pace), np.exp(pace)):
        for shift in (-divisor, divisor):
            far = one.logpdf(t) - (one.logpdf(t * shrink + shift) + np.log(shrink))
            worst = max(worst, np.abs(far).max())
    assert worst <= paid
    assert worst > paid / 2.5


@pytest.mark.claim("smooth_noise.2")
def test_laplace_noise_pays_with_delta() -> None:
    pace, divisor, delta = 0.05, 0.5, 1e-6
    epsilon = float(price("laplace", pace, divisor, delta))
    t = np.linspace(-400, 400, 2_000_001)
    step = t[1] - t[0]
    for shrink in (np.exp(-pace), np.exp(pace)):
        for shift in (-divisor, divisor):
            here, there = np.exp(-np.abs(t)) / 2, shrink * np.exp(-np.abs(t * shrink + shift)) / 2
            assert np.maximum(here - np.exp(epsilon) * there, 0).sum() * step <= delta
    with pytest.raises(BadInput, match="delta"):
        price("laplace", pace, divisor)


def test_objections() -> None:
    assert asked(10, 100, "student").objection(asked(12, 105, "student")) is None
    assert "moved by 101" in str(asked(0, 100, "student").objection(asked(101, 100, "student")))
    assert "factor" in str(asked(0, 100, "student").objection(asked(0, 112, "student")))
    assert "parameters" in str(asked(0, 100, "student").objection(asked(0, 100, "cauchy")))
    with pytest.raises(BadInput, match="does not pay"):
        SmoothNoise(
            value=0,
            reach=1,
            unit=1,
            top=8,
            distribution="student",
            pace=Fraction(1),
            divisor=Fraction(1),
            cost=Approximate(1, 0),
        )
