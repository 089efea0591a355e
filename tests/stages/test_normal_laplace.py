"""The distribution of normal plus Laplace error, and the error bars made of it."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from discreet.privacy.values import Distribution
from discreet.stages.normal_laplace import (
    LOST,
    ConvolvedSpread,
    NormalSpread,
    SquareSpread,
    normal,
    radius,
    student_factor,
    tail,
)
from discreet.stages.normal_stages import Square, clipped_square


@pytest.mark.parametrize(("normal", "laplace"), [(1.0, 1.0), (1.0, 0.2), (1.0, 0.011), (0.1, 1.0), (1e-6, 1.0)])
def test_the_tail_against_quadrature(normal: float, laplace: float) -> None:
    y = np.linspace(-40, 40, 800_001) * laplace
    distribution = np.exp(-np.abs(y) / laplace) / (2 * laplace) * (y[1] - y[0])
    for t in (0.0, 0.5, 2.0, 5.0):
        size = t * max(normal, laplace)
        beyond = np.array([math.erfc(float(x) / math.sqrt(2)) / 2 for x in (size - y[::80]) / normal])
        assert tail(size, normal, laplace) == pytest.approx(float((beyond * distribution[::80] * 80).sum()), abs=2e-4)
        assert tail(-size, normal, laplace) == pytest.approx(1 - tail(size, normal, laplace))


def test_radii() -> None:
    assert radius(0.95, 1, 0) == pytest.approx(1.959964, abs=1e-6)
    assert radius(0.95, 0, 1) == pytest.approx(math.log(20), abs=1e-9)
    assert radius(0.95, 0, 0) == 0
    assert radius(0.95, 1e-200, 1e-200) == pytest.approx(3.495132e-200, rel=1e-6)
    assert radius(0.95, 1, 0.0101) == pytest.approx(radius(0.95, 1, 0.0099), rel=1e-5)  # where the formula changes
    widths = [radius(c, 1, 1) for c in (0.5, 0.9, 0.99, 0.9999)]
    assert widths == sorted(widths)
    for confidence in (0.5, 0.9, 0.99, 0.9999):
        assert 2 * tail(radius(confidence, 1, 0.7), 1, 0.7) == pytest.approx(1 - confidence, rel=1e-6)
    assert student_factor(math.inf, 0.95) == 1
    assert student_factor(10, 0.95) == pytest.approx(2.228139 / 1.959964, abs=1e-5)


@pytest.mark.claim("reach.5")
@pytest.mark.parametrize("laplace", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("confidence", [0.04, 0.5, 0.8, 0.9, 0.95, 0.99])
def test_a_shift_takes_five_points_of_the_confidence_at_most(confidence: float, laplace: float) -> None:
    """A third of half an interval for 95% would take nine from one for 50%."""
    spread = ConvolvedSpread(estimate=3.0, sampling=1.0, laplace=laplace, shift=radius(0.95, 1.0, laplace) / 3)
    half, plain = spread.half_width(confidence), replace(spread, shift=0.0).half_width(confidence)
    held = 1 - tail(half - spread.shift, 1.0, laplace) - tail(half + spread.shift, 1.0, laplace)
    assert held > confidence - LOST - 1e-9
    assert plain <= half <= plain + spread.shift
    assert half > 1.02 * plain if 0.4 < confidence < 0.85 else half < 1.06 * plain
    found = spread.interval(confidence)
    assert (found.low, found.high) == (3.0 - half, 3.0 + half)


def test_parts_and_public_ends() -> None:
    spread = ConvolvedSpread(5.0, sampling=3.0, laplace=1.0, normal_noise=4.0, low=0.0, high=6.0)
    assert spread.privacy == pytest.approx(math.sqrt(2 + 16))
    interval = spread.interval(0.95)
    assert (interval.low, interval.high) == (0.0, 6.0)
    assert interval.name == "95% confidence interval"


def test_a_variance_is_the_one_that_explains_the_mean_of_squares() -> None:
    for v in (0.5, 1.0, 1.7):
        spread = SquareSpread(Square(clipped_square(v, 2.5).mean, 0.01, 2.5), 500, 3.0)
        assert spread.estimate == pytest.approx(9 * v)
        interval = spread.interval(0.95)
        assert interval.low < 9 * v < interval.high
        assert interval.high - 9 * v > 9 * v - interval.low  # skewed, as a chi-square interval is
        deviation = math.hypot(spread.sampling, spread.privacy)
        assert interval.high - interval.low == pytest.approx(2 * 1.96 * deviation, rel=0.1)
    without = SquareSpread(Square(clipped_square(1.0, 5.0).mean, 0.0, 5.0), 2000, 1.0)
    assert without.sampling == pytest.approx(math.sqrt(2 / 2000), rel=0.01)


@pytest.mark.claim("sufficient.5")
def test_total_variation_is_bounded_over_the_whole_box() -> None:
    spread = NormalSpread(
        ConvolvedSpread(10.0, sampling=0.1, laplace=0.02),
        SquareSpread(Square(clipped_square(1.0, 2.5).mean, 0.005, 2.5), 800, 2.0),
    )
    bound, box, x = spread.total_variation(0.95), spread.interval(0.95), np.linspace(-10, 30, 200_001)

    def curve(found: Distribution) -> Any:
        return np.exp(-((x - found.mean) ** 2) / (2 * found.variance)) / math.sqrt(2 * math.pi * found.variance)

    worst = 0.0
    for mean in (box.low.mean, spread.value.mean, box.high.mean):
        for variance in (box.low.variance, box.high.variance):
            gap = np.abs(curve(normal(mean, variance)) - curve(spread.value)).sum() * (x[1] - x[0]) / 2
            worst = max(worst, float(gap))
    assert worst <= bound <= 1.7 * worst
    # 0.48 in place of 2 phi(1) = 0.48394 would be no bound: for the scale alone it is reached
    near = np.abs(curve(normal(10.0, 4.0)) - curve(normal(10.0, 4.0 * 1.001**2))).sum() * (x[1] - x[0]) / 2
    assert 0.4835 < near / math.log(1.001) < 0.48395


def test_a_normal_distribution_reads_well() -> None:
    found = normal(3.0, 4.0)
    assert (found["variance"], found.sd, found.median) == (4.0, 2.0, 3.0)
    assert (str(found), repr(found)) == ("mean 3, variance 4", "gaussian(mean=3, variance=4)")
