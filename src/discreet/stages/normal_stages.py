"""What clipping does to a normal variable, and where to clip it: public formulas, no data.

Clip hard and invert: under a normal model the mean of clip(a + Z, +-r) is a known increasing function of a, and that of
min(v Z^2, r^2) one of v. A small r means little noise, a large one little loss; the best is a compromise that depends
on nothing but the number of records and the noise.

The stages of a normal model: a centre and a scale, then the mean and the square of records clipped in their units.

Each stage is as private as the primitive it calls: [locate.1], [clip.1] and [clip.3]. What
comes after a stage reads its answers and public numbers only.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from discreet.accounting.allocation import Allocation
from discreet.privacy.exact import solve
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Choice, Gaussian, Laplace
from discreet.privacy.mechanism import Randomness
from discreet.stages.clip import count_error, moments, noisy_moment, unit_variance
from discreet.stages.declared import Bounds
from discreet.stages.locate import median_distance, middle, moves
from discreet.tables.streams import Numbers

MEAN_RADII: Final = tuple(0.3 + k / 64 for k in range(237))  # 0.3 to 4, in standard deviations
SQUARE_RADII: Final = tuple(0.8 + k / 32 for k in range(135))  # 0.8 to 5
ROOT_TWO: Final = math.sqrt(2)


class ClippedResponse(NamedTuple):
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


def clipped_mean(a: float, r: float) -> ClippedResponse:
    """Of clip(a + Z, -r, r)."""
    low, high = -r - a, r - a
    inside = cdf(high) - cdf(low)
    first, second = density(low) - density(high), inside + low * density(low) - high * density(high)
    mean = r * cdf(-high) - r * cdf(low) + a * inside + first
    square = r * r * (1 - inside) + a * a * inside + 2 * a * first + second
    return ClippedResponse(mean, inside, max(square - mean * mean, 0.0))


def clipped_square(v: float, r: float) -> ClippedResponse:
    """Of min(v Z^2, r^2)."""
    edge = r / math.sqrt(v)
    inside = 1 - 2 * cdf(-edge)
    second = inside - 2 * edge * density(edge)
    fourth = 3 * inside - 2 * edge * density(edge) * (edge * edge + 3)
    mean = v * second + r * r * (1 - inside)
    return ClippedResponse(mean, second, max(v * v * fourth + r**4 * (1 - inside) - mean * mean, 0.0))


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
    radii: tuple[float, ...], response: Callable[[float], ClippedResponse], noise: Callable[[float], float], size: int
) -> tuple[float, float]:
    def error(r: float) -> float:
        seen = response(r)
        return (seen.variance / size + noise(r)) / seen.slope**2

    best = min(radii, key=error)
    return best, error(best)


QUARTILE: Final = 0.6744897502  # of a standard normal
EDGE: Final = 0.995  # a mean of clipped deviations closer to r than this tells no place
ASIDE: Final = 0.74  # a share of the mean of clipped deviations from a centre outside the data: beyond it, it is one


@dataclass(frozen=True, slots=True)
class Place:
    """Where the data are, and how many: all of it released or public."""

    size: int
    centre: float
    scale: float
    neighbours: Neighbours


@dataclass(frozen=True, slots=True)
class Located:
    """An estimate with its errors: of sampling, Laplace noise (its scale), other noise taken as normal."""

    estimate: float
    sampling: float
    laplace: float
    normal_noise: float


@dataclass(frozen=True, slots=True)
class Square:
    """The mean of min(((x - centre) / scale)^2, r^2) as released, and the scale of the noise on it."""

    mean: float
    noise: float
    radius: float


def find_place(
    values: Numbers,
    stages: Allocation,
    *,
    size: int,
    neighbours: Neighbours,
    rng: Randomness,
    sigma: float | None = None,
    bounds: Bounds | None = None,
) -> Place:
    """A centre and, unless it is known, a scale: the median distance as a standard deviation."""
    centre = middle(values, cost=stages.part("centre", Choice), neighbours=neighbours, rng=rng, bounds=bounds)
    if "scale" not in stages:
        return Place(size, centre, 1.0 if sigma is None else sigma, neighbours)
    cost = stages.part("scale", Choice)
    distance = median_distance(values, centre=centre, cost=cost, neighbours=neighbours, rng=rng)
    return Place(size, centre, distance / QUARTILE, neighbours)


def located_mean(values: Numbers, stages: Allocation, at: Place, rng: Randomness) -> Located | None:
    """The mean of normal data: clip, blur, and invert the mean of a clipped normal; None if the centre is not theirs.

    From a centre far outside the data all distances are about the same, and so is their median: the mean of clipped
    deviations is QUARTILE scales, or r if that is less. From one among normal data it is near 0.
    """
    size, neighbours, cost = at.size, at.neighbours, stages.noise("mean")
    r, _ = mean_radius(size, unit_variance(cost, size, neighbours))
    found = noisy_moment(values, centre=at.centre, radius=r * at.scale, cost=cost, neighbours=neighbours, rng=rng)
    clipped = min(max(found.total * r / size, -EDGE * r), EDGE * r)
    offset = solve(lambda a: clipped_mean(a, r).mean, clipped, -r - 6, r + 6)
    response = clipped_mean(offset, r)
    unit = at.scale / response.slope
    noise, count = found.noise * r / size, abs(clipped) * count_error(stages, size)
    if abs(clipped) > ASIDE * min(r, QUARTILE) - 3 * noise:
        return None
    normal = noise if isinstance(cost, Gaussian) else 0.0
    return Located(
        estimate=at.centre + at.scale * offset,
        sampling=unit * math.sqrt(response.variance / size),
        laplace=unit * (noise - normal),
        normal_noise=unit * math.hypot(normal, count),
    )


def located_square(values: Numbers, cost: Laplace, at: Place, rng: Randomness) -> Square:
    """The mean of truncated squares about the centre, in units of the scale."""
    r, _ = square_radius(at.size, 2 / (at.size * float(cost.epsilon)) ** 2)
    public = at.size if at.neighbours.size_is_public else None
    (found,) = moments(
        values,
        {2: cost},
        centre=at.centre,
        radius=r * at.scale,
        size=public,
        neighbours=at.neighbours,
        rng=rng,
    )
    return Square(found.mean * r * r, found.noise * r * r, r)


def freedom(size: int, stages: Allocation, neighbours: Neighbours) -> float:
    """Degrees of freedom of the scale: 1 / (2 tau^2), tau^2 its relative variance."""
    if "scale" not in stages:
        return math.inf
    cost = float(stages.part("scale", Choice).epsilon)
    rank = 0.25 / size + 8 * (float(moves(neighbours)) / (cost * size)) ** 2
    return (2 * QUARTILE * density(QUARTILE)) ** 2 / (2 * rank)
