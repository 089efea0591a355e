"""Sums over people of weighted scores and of second moments, in whole numbers: exact, whatever the order.

What an outcome is expected to be, given the linear part, is read off a public table: a fixed function.

Releases
    `noisy_score`: the sum of w_i r_i v_i, r_i the residual, plus noise. `noisy_moments`: the sum of w_i s_i v_i v_i',
    s_i the slope of the family's mean or 1, plus noise. Weights and features: models/features.py.
Promise
    [score.1] Both sums are exact sums of whole numbers, each a fixed function of one row, given coefficients that were
          released: blocks, threads and the linear algebra library change no bit.
    [score.2] One row moves the score by at most 2 R top (REPLACE) or R top (ADD_OR_REMOVE) in L2, rounding included in
          `score_sensitivity`; Gaussian(mu, slack) is what the release costs.
    [score.3] One row moves the moments by at most sqrt(2) R^2 steepest, or R^2 steepest, in Frobenius norm, rounding
          included in `moment_sensitivity`. Noise of mu is s on the diagonal and 29/41 s off it.
    [score.4] `mean` and `slope` are fixed functions of one number, built of single correctly rounded operations; what
          they give is in [0, top] and [0, steepest]; outcomes are cut to [0, top]. So a residual is at most `top` in
          size.
    [score.5] A Poisson outcome is cut at `top`, and its mean is that of a cut Poisson variable: residuals have
          expectation 0 under the model, whatever the cut. The variance of a cut variable is at most the slope of its
          mean.
Why
    [score.1] A linear part is a sum of products of features, below 2^15, and coefficients as whole numbers up to 2^37 /
    size: every partial sum is exact in float64. Then [score.4], `rint` and `floor`. An entry of k V
    is at most 2^31 and one of k U U' at most 2^34; sums of blocks are added by [lattice.1] and do not wrap
    around, however many rows there are.
    [score.2] r v leaves as k V, V the steps and k = rint(2^16 w r / top): |k| |V| <= 2^16 w |V| + |V| / 2, and w |V| <=
    1024 R by [features.2], |V| <= 2^15 sqrt(size).
    [score.3] v v' leaves as k U U', U = rint(V / 8), k = floor(2^10 w s / steepest) >= 0. |U| <= |V| / 8 + sqrt(size) /
    2, and k |U|^2 <= 2^10 (128 R + sqrt(size))^2: where w < 1, |V| >= 1024 R (1 - 2^-40). For two such matrices of
    norms a and b, |A - B|_F^2 <= a^2 + b^2 as both are positive semidefinite. Weights off the diagonal as [gram.3] of
    stages/gram.py.
    [score.4] Values are interpolated between 64 * 256 + 1 points: a product, a floor, a difference and a blend.
    [score.5] E min(Y, K) = rate P(Y <= K - 1) + K P(Y > K), its derivative in the log of the rate is rate P(Y <= K -
    1), and by the Poincare inequality of the Poisson distribution Var f(Y) <= rate E (f(Y + 1) - f(Y))^2, here rate P(Y
    <= K - 1).
Needs
    Nothing. Sums saturate beyond 2^25 rows.
Accuracy
    Rounding moves a feature by 1/2048 of its unit and a residual by 2^-17 of `top`.
Source
    Mallows weights: Kunsch, Stefanski and Carroll 1989 (bounded influence for generalised linear models).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from discreet.models.features import STEPS, Prepared
from discreet.noise.integers import compiled
from discreet.noise.lattice import ROOM, slack, summed
from discreet.privacy.exact import exact, root_above
from discreet.privacy.loss import Gaussian
from discreet.privacy.mechanism import Randomness
from discreet.privacy.neighbours import Neighbours
from discreet.stages.clip import Floats
from discreet.stages.gram import BESIDE, DIAGONAL

BLOCK: Final = 1 << 13  # rows at a time
RESIDUAL: Final = 1 << 16  # steps of a residual of size `top`
WEIGHT: Final = 1 << 10  # steps of the largest slope
COARSE: Final = 8  # steps of a feature in one of a second moment
LARGE: Final = 20_000  # rows from which the compiled pass is worth its import
FAST: Final = 1 << 18  # rows of a compiled pass
SUMMED: Final = 1 << 49  # an entry of what either sums at once is no larger [score.1]
REACH: Final = 32.0  # linear parts are cut here
FINE: Final = 256.0  # points of the table in a unit
Integers = npt.NDArray[Any]  # int64, or Python's integers where those could wrap around
Name = Literal["logistic", "poisson"]


@dataclass(frozen=True, slots=True, eq=False)
class OutcomeMean:
    """Tables of the mean and of its slope over the linear part, and the largest outcome."""

    name: Name
    means: Floats
    slopes: Floats
    top: float

    @property
    def steepest(self) -> float:
        """No slope is larger."""
        return float(self.slopes.max())

    def mean(self, linear: Floats) -> Floats:
        """The expected outcome. [score.4]"""
        return looked_up(self.means, linear)

    def slope(self, linear: Floats) -> Floats:
        """How fast it rises with the linear part. [score.4]"""
        return looked_up(self.slopes, linear)

    def outcome(self, values: Floats) -> Floats:
        """Outcomes as the family counts them: 1 or not, or cut to [0, top]. [score.4]"""
        if self.name == "logistic":
            return (values > 0).astype(np.float64)
        return np.clip(values, 0.0, self.top)  # [score.5]


def looked_up(table: Floats, linear: Floats) -> Floats:
    """Linear interpolation in a table over [-REACH, REACH]. [score.4]"""
    place = (np.clip(linear, -REACH, REACH) + REACH) * FINE
    below = np.minimum(np.floor(place), len(table) - 2.0)
    share = place - below
    index = below.astype(np.int64)
    left = table[index]
    return left + share * (table[index + 1] - left)


def _places() -> Floats:
    return np.arange(int(2 * REACH * FINE) + 1) / FINE - REACH


@lru_cache(maxsize=1)
def logistic() -> OutcomeMean:
    """Yes or no."""
    from scipy.special import expit

    mean = expit(_places())
    return OutcomeMean("logistic", mean, mean * (1 - mean), 1.0)


@lru_cache(maxsize=16)
def poisson(top: int) -> OutcomeMean:
    """Counts, cut at `top`. [score.5]"""
    from scipy.special import gammaincc

    rate = np.exp(_places())
    slope = rate * gammaincc(float(top), rate)  # P(Y <= K - 1)
    with np.errstate(all="ignore"):
        mean = slope + top * (1 - gammaincc(top + 1.0, rate))  # [score.5]
    return OutcomeMean("poisson", np.clip(mean, 0.0, float(top)), np.clip(slope, 0.0, None), float(top))


def whole_coefficients(w: Floats) -> tuple[Floats, float]:
    """Coefficients as whole numbers, and the linear part's value of a product of one step of each. [score.1]"""
    largest = float(2**37 // len(w))  # whole, as what is cut there must be
    size = max(float(np.abs(w).max(initial=0.0)), 2.0**-20)
    exponent = math.floor(math.log2(largest / size))
    return np.clip(np.rint(np.ldexp(w, exponent)), -largest, largest), 2.0**-exponent / STEPS


def slices(size: int, step: int) -> Iterator[slice]:
    """All rows, so many at a time."""
    return (slice(start, start + step) for start in range(0, size, step))


def residual_steps(rows: Prepared, family: OutcomeMean, whole: Floats, per: float, part: slice) -> Floats:
    """k of each row. [score.2]"""
    linear = (rows.steps[part].astype(np.float64) @ whole) * per  # [score.1]
    residual = family.mean(linear) - rows.outcome[part]
    return np.rint(residual * rows.weight[part] * (RESIDUAL / family.top))


def score(rows: Prepared, family: OutcomeMean, w: Floats) -> Integers:
    """The sum of k V over all rows. [score.1]"""
    whole, per = whole_coefficients(w)
    if len(rows) >= LARGE and compiled():
        from discreet._compiled.model_kernels import total_score

        parts = (
            total_score(
                rows.steps[part],
                rows.weight[part],
                rows.outcome[part],
                whole,
                per,
                family.means,
                RESIDUAL / family.top,
                REACH,
                FINE,
            )
            for part in slices(len(rows), FAST)
        )
    else:
        parts = (
            # [score.1]: below 2^45
            residual_steps(rows, family, whole, per, part) @ rows.steps[part].astype(np.float64)
            for part in slices(len(rows), BLOCK)
        )
    return summed(parts, (len(w),), SUMMED)  # [score.1]


def moments(rows: Prepared, family: OutcomeMean | None, w: Floats) -> Integers:
    """The sum of k U U' over all rows; of all slopes 1 without a family. [score.1]"""
    whole, per = whole_coefficients(w)

    def products(part: slice) -> Floats:
        steps = rows.steps[part].astype(np.float64)
        share = rows.weight[part]
        if family is not None:
            share = share * family.slope((steps @ whole) * per) / family.steepest
        k = np.floor(WEIGHT * np.clip(share, 0.0, 1.0))  # [score.3]
        coarse = np.rint(steps / COARSE)
        return np.asarray((coarse * k[:, None]).T @ coarse)  # [score.1]: below 2^47

    return summed(map(products, slices(len(rows), BLOCK)), (len(w), len(w)), SUMMED)  # [score.1]


def score_sensitivity(size: int, radius: float, neighbours: Neighbours) -> Fraction:
    """How far one row moves `score`, in steps. [score.2]"""
    longest = math.ceil(RESIDUAL * STEPS * radius * (1 + 1e-9)) + 2**14 * (math.isqrt(size) + 1)
    return Fraction(longest * (2 if neighbours is Neighbours.REPLACE else 1))


def moment_sensitivity(size: int, radius: float, neighbours: Neighbours) -> Fraction:
    """How far one row moves the weighted upper triangle of `moments`, in steps. [score.3]"""
    longest = math.ceil(STEPS // COARSE * radius * (1 + 1e-9)) + math.isqrt(size) + 1
    root = root_above(2) if neighbours is Neighbours.REPLACE else Fraction(1)
    return DIAGONAL * root * WEIGHT * longest**2


def score_cost(mu: Fraction, size: int, radius: float, neighbours: Neighbours) -> Gaussian:
    """The cost of a score with this mu, its slack included. [score.2]"""
    return Gaussian(mu, slack(size, math.ceil(score_sensitivity(size, radius, neighbours) / mu)))


def moment_cost(mu: Fraction, size: int, radius: float, neighbours: Neighbours) -> Gaussian:
    """The cost of second moments with this mu, its slack included. [score.3]"""
    sigma = math.ceil(moment_sensitivity(size, radius, neighbours) / mu)
    return Gaussian(mu, slack(size * (size + 1) // 2, sigma))


def noisy_score(
    rows: Prepared, family: OutcomeMean, w: Floats, *, cost: Gaussian, neighbours: Neighbours, rng: Randomness
) -> tuple[Floats, float]:
    """The sum of weighted scores, and the noise on each entry. [score.2]"""
    size = len(w)
    moved = score_sensitivity(size, rows.radius, neighbours)
    blurred = rng.blur(score(rows, family, w), sensitivity=moved, cost=cost)  # [score.2]
    unit = family.top / RESIDUAL / STEPS
    return np.asarray(blurred * unit, dtype=np.float64), float(moved / exact(cost.mu)) * unit


def noisy_moments(
    rows: Prepared, family: OutcomeMean | None, w: Floats, *, cost: Gaussian, neighbours: Neighbours, rng: Randomness
) -> tuple[Floats, float]:
    """The sum of weighted second moments, symmetric, and the noise s on its diagonal. [score.3]"""
    size = len(w)
    upper = np.triu_indices(size)
    heavier = np.where(upper[0] == upper[1], DIAGONAL, BESIDE)
    moved = moment_sensitivity(size, rows.radius, neighbours)
    room = ROOM // BESIDE
    found = np.clip(moments(rows, family, w)[upper], -room, room) * heavier
    blurred = rng.blur(found, sensitivity=moved, cost=cost)  # [score.3]
    unit = (1.0 if family is None else family.steepest) / WEIGHT / (STEPS // COARSE) ** 2
    matrix = np.zeros((size, size))
    matrix[upper] = blurred / heavier * unit
    return matrix + np.triu(matrix, 1).T, float(moved / exact(cost.mu) / DIAGONAL) * unit
