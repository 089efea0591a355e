"""What clipping does to a normal variable, and where to clip it: public formulas, no data.

Clip hard and invert: under a normal model the mean of clip(a + Z, +-r) is a known increasing function of a, and that of
min(v Z^2, r^2) one of v. A small r means little noise, a large one little loss; the best is a compromise that depends
on nothing but the number of records and the noise.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Final, NamedTuple

MEAN_RADII: Final = tuple(0.3 + k / 64 for k in range(237))  # 0.3 to 4, in standard deviations
SQUARE_RADII: Final = tuple(0.8 + k / 32 for k in range(135))  # 0.8 to 5
ROOT_TWO: Final = math.sqrt(2)


class Response(NamedTuple):
    """Mean and variance of one clipped record, and how fast the mean rises with the parameter."""

    mean: float
    slope: float
    variance: float


def cdf(x: float) -> float:
    """The normal distribution function, to full precision in the lower tail."""
    return math.erfc(-x / ROOT_TWO) / 2


def density(x: float) -> float:
    """The normal density."""
    return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def clipped_mean(a: float, r: float) -> Response:
    """Of clip(a + Z, -r, r)."""
    low, high = -r - a, r - a
    inside = cdf(high) - cdf(low)
    first, second = density(low) - density(high), inside + low * density(low) - high * density(high)
    mean = r * cdf(-high) - r * cdf(low) + a * inside + first
    square = r * r * (1 - inside) + a * a * inside + 2 * a * first + second
    return Response(mean, inside, max(square - mean * mean, 0.0))


def clipped_square(v: float, r: float) -> Response:
    """Of min(v Z^2, r^2)."""
    edge = r / math.sqrt(v)
    inside = 1 - 2 * cdf(-edge)
    second = inside - 2 * edge * density(edge)
    fourth = 3 * inside - 2 * edge * density(edge) * (edge * edge + 3)
    mean = v * second + r * r * (1 - inside)
    return Response(mean, second, max(v * v * fourth + r**4 * (1 - inside) - mean * mean, 0.0))


@lru_cache(maxsize=1024)
def mean_radius(size: int, unit_noise: float) -> tuple[float, float]:
    """The r that is best for a mean of `size` records, and the variance it reaches, in standard deviations.

    `unit_noise` is the variance of the noise on the mean for r = 1. Public numbers only.
    """
    return _best(MEAN_RADII, lambda r: clipped_mean(0.0, r), lambda r: r * r * unit_noise, size)


@lru_cache(maxsize=1024)
def square_radius(size: int, unit_noise: float) -> tuple[float, float]:
    """The same for a mean of squares, min(Z^2, r^2)."""
    return _best(SQUARE_RADII, lambda r: clipped_square(1.0, r), lambda r: r**4 * unit_noise, size)


def _best(
    radii: tuple[float, ...], response: Callable[[float], Response], noise: Callable[[float], float], size: int
) -> tuple[float, float]:
    def error(r: float) -> float:
        seen = response(r)
        return (seen.variance / size + noise(r)) / seen.slope**2

    best = min(radii, key=error)
    return best, error(best)


def solve(rising: Callable[[float], float], target: float, low: float, high: float) -> float:
    """Where a rising function meets a target, an end if it does not, by bisection."""
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < target else (low, middle)
    return (low + high) / 2
