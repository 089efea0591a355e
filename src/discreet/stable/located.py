"""The stages of a normal model: a centre and a scale, then the mean and the square of records clipped in their units.

Each stage is as private as the primitive it calls: [W3] of stable/locate.py, [W1] and [W6] of stable/clipped.py. What
comes after a stage reads its answers and public numbers only.
"""

import math
from dataclasses import dataclass
from typing import Final

from discreet.promise.loss import Choice, Gaussian, Laplace
from discreet.promise.mechanism import Randomness
from discreet.promise.neighbours import Neighbours
from discreet.rows import Numbers
from discreet.stable.clipped import moments, noisy_moment
from discreet.stable.declared import Bounds
from discreet.stable.locate import median_distance, middle, moves
from discreet.stable.normal import clipped_mean, density, mean_radius, solve, square_radius
from discreet.stable.stages import Stages, count_error, unit_variance

QUARTILE: Final = 0.6744897502  # of a standard normal
EDGE: Final = 0.995  # a mean of clipped deviations closer to r than this tells no place


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
    stages: Stages,
    *,
    size: int,
    neighbours: Neighbours,
    rng: Randomness,
    sigma: float | None = None,
    bounds: Bounds | None = None,
) -> Place:
    """A centre and, unless it is known, a scale: the median distance as a standard deviation."""
    assert stages.centre is not None
    centre = middle(values, cost=stages.centre, neighbours=neighbours, rng=rng, bounds=bounds)
    if stages.scale is None:
        return Place(size, centre, 1.0 if sigma is None else sigma, neighbours)
    distance = median_distance(values, centre=centre, cost=stages.scale, neighbours=neighbours, rng=rng)
    return Place(size, centre, distance / QUARTILE, neighbours)


def located_mean(values: Numbers, stages: Stages, at: Place, rng: Randomness) -> Located:
    """The mean of normal data: clip, blur, and invert the mean of a clipped normal."""
    assert stages.mean is not None
    size, neighbours = at.size, at.neighbours
    r, _ = mean_radius(size, unit_variance(stages.mean, size, neighbours))
    found = noisy_moment(
        values, centre=at.centre, radius=r * at.scale, cost=stages.mean, neighbours=neighbours, rng=rng
    )
    clipped = min(max(found.total * r / size, -EDGE * r), EDGE * r)
    offset = solve(lambda a: clipped_mean(a, r).mean, clipped, -r - 6, r + 6)
    response = clipped_mean(offset, r)
    unit = at.scale / response.slope
    noise, count = found.noise * r / size, abs(clipped) * count_error(stages.size, size)
    normal = noise if isinstance(stages.mean, Gaussian) else 0.0
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


def freedom(size: int, cost: Choice | None, neighbours: Neighbours) -> float:
    """Degrees of freedom of the scale: 1 / (2 tau^2), tau^2 its relative variance."""
    if cost is None:
        return math.inf
    rank = 0.25 / size + 8 * (float(moves(neighbours)) / (float(cost.epsilon) * size)) ** 2
    return (2 * QUARTILE * density(QUARTILE)) ** 2 / (2 * rank)
