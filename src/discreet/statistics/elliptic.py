"""How the moments of rows bent into a ball answer to the mean and the covariance, near a standard normal law.

Rows w = r u, u uniform on the sphere, r^2 chi-square with d degrees; v = t(r) u is what the ball leaves of them. For a
law near N(0, I), with mean m and covariance I + E, to first order by the scores w and (w w' - I) / 2:

    E v     = a1 m,                    a1 = E t r / d
    E v v'  = k I + a E + b tr(E) I,   k = E t^2 / d,  a = E t^2 r^2 / (d (d + 2)),  b = (a - k) / 2

In the coordinates in which the Frobenius norm is Euclidean, a matrix without trace is multiplied by a and one along I
by a + d b; v v' has the variances 2 E t^4 / (d (d + 2)) and (E t^4 - (E t^2)^2) / d there, and v has E t^2 / d.
Inverting them is what lets a ball be small, and the noise with it (Huber 1964; Tyler 1987 for a ball of no size).
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

import numpy as np

from discreet.stable.clipped import Floats
from discreet.stable.gram import Shape

NODES: Final = 160  # of Gauss's rule, in each of the pieces between which t is smooth
TAIL: Final = 1e-17
ROUND: Final = 3.0  # times I: within it slopes are taken at I
GRID: Final = 60  # radii that are tried


@dataclass(frozen=True, slots=True)
class Response:
    """k, a, a + d b and a1 of the module's docstring, and the variances of one row."""

    level: float
    apart: float
    along: float
    shift: float
    apart_variance: float
    along_variance: float
    shift_variance: float

    def covariance(self, second: Floats) -> Floats:
        """The covariance whose bent second moment this is; far from round, where no slope holds, but for its size."""
        size = len(second)
        if float(np.linalg.eigvalsh(second)[-1]) > ROUND * self.level:
            return second / self.level
        excess = second - self.level * np.eye(size)
        scale = float(np.trace(excess)) / size
        spread: Floats = np.eye(size) * (1 + scale / self.along) + (excess - scale * np.eye(size)) / self.apart
        return spread


@lru_cache(maxsize=512)
def response(size: int, radius: float, shape: Shape) -> Response:
    """The constants for rows of `size` columns and a ball of this radius."""
    lengths, chances = _chi(size, radius)
    if shape == "clip":
        bent = np.minimum(lengths, radius)
    elif shape == "taper":
        bent = np.clip(2 * radius - lengths, 0.0, lengths)
    else:
        bent = np.full_like(lengths, radius)
    square, fourth = float(chances @ bent**2), float(chances @ bent**4)
    slope = float(chances @ (bent * lengths) ** 2) / (size * (size + 2))
    level = square / size
    return Response(
        level=level,
        apart=slope,
        along=slope + size * (slope - level) / 2,
        shift=float(chances @ (bent * lengths)) / size,
        apart_variance=2 * fourth / (size * (size + 2)),
        along_variance=(fourth - square**2) / size,
        shift_variance=square / size,
    )


def _chi(size: int, radius: float) -> tuple[Floats, Floats]:
    """Lengths of standard normal rows, and their chances: Gauss's rule between 0, R, 2 R and the end of the tail."""
    from scipy.special import gammaln

    end = length_of(TAIL, size)
    edges = sorted({0.0, min(radius, end), min(2 * radius, end), end})
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    parts = [((b - a) / 2 * nodes + (a + b) / 2, (b - a) / 2 * weights) for a, b in pairwise(edges)]
    lengths, steps = (np.concatenate(part) for part in zip(*parts, strict=True))
    log = (size - 1) * np.log(lengths) - lengths**2 / 2 - (size / 2 - 1) * math.log(2) - gammaln(size / 2)
    chances: Floats = steps * np.exp(log)
    return lengths, chances / chances.sum()


def length_of(miss: float, size: int, off: float = 0.0) -> float:
    """What a normal row of `size` columns, at a distance `off` from the centre, exceeds with this chance."""
    from scipy.special import chdtri, chndtrix

    return math.sqrt(float(chndtrix(1 - miss, size, off * off) if off else chdtri(size, miss)))


def radius_for_covariance(size: int, rows: int, noise: float, shape: Shape) -> float:
    """The radius at which a covariance is most accurate: `noise` is s of the mean of v v', in units of R^2. Public."""
    apart = (size - 1) * (size + 2) / 2

    def error(radius: float) -> float:
        at, blur = response(size, radius, shape), (noise * radius**2) ** 2
        if at.along <= 0 or at.apart <= 0:
            return math.inf
        return apart * (at.apart_variance / rows + blur) / at.apart**2 + (at.along_variance / rows + blur) / at.along**2

    return min(_radii(size), key=error)


def radius_for_mean(size: int, rows: int, noise: float, shape: Shape) -> float:
    """The radius at which a mean is most accurate: `noise` is that of the mean of v, in units of R. Public."""

    def error(radius: float) -> float:
        at = response(size, radius, shape)
        return (at.shift_variance / rows + (noise * radius) ** 2) / at.shift**2 if at.shift > 0 else math.inf

    return min(_radii(size), key=error)


@lru_cache(maxsize=64)
def _radii(size: int) -> tuple[float, ...]:
    """From the typical length of a row to one that hardly any reaches."""
    low, high = length_of(0.7, size), length_of(1e-9, size)
    return tuple(low * (high / low) ** (step / (GRID - 1)) for step in range(GRID))
