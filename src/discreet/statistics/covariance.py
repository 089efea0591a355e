"""Covariances, and normal distributions in several dimensions, with their error bars.

The covariance of rows in R^d: no bounds, no scale, no centre, any condition number that the rows can show.

Releases
    The stages of statistics/covariance_stages.py, and from them the covariance. With no model the ball of the last
    stage is twice as wide as one that leaves about `beyond` rows outside, a public number; under model="gaussian" it is
    the best ball for normal rows.

Promise
    [covariance.1] (epsilon, delta) under REPLACE, by the losses of the stages; ADD_OR_REMOVE is refused when it is
    asked for.
    [covariance.2] Refusals read public numbers and earlier answers only.
    [covariance.3] The answer is symmetric and positive semidefinite. For normal rows the interval of each entry holds
          the population's with its confidence, to first order.

Why
    [covariance.1] [covariance_stages.1]. Rows are paired by their places, which one row more would shift: hence
    no ADD_OR_REMOVE. What is not listed when no size is declared amounts to (epsilon, delta).
    [covariance.2] Too few rows: before any draw, n public. Scales at the edge of the floats: after they were released.
    No centre: no refusal, the differences take the rows' place.
    [covariance.3] In the frame the covariance is near I, so bent moments answer linearly (statistics/whiten.py): the
    error is sampling and noise over known slopes, with the variances of `MatrixSpread.of`. Turning back keeps
    eigenvalues non-negative. Without a model two things still use the normal law: how much the ball cut off, which is
    next to nothing as it is wide, and the variance of a product. So for other rows the interval is for the covariance
    of rows pulled to the ball, and for those with heavy tails its sampling part is too short: of exponential columns
    and t with 5 degrees it held 0.81 to 0.85 of the entries at n = 5,000 and d = 2, 0.94 to 0.96 at n = 20,000 (12 runs
    each).

Needs
    About 2,000 rows of 5 columns, 3,400 of 10, at epsilon 1 and delta 1e-6. A row with a missing entry counts as one at
    the centre: it adds nothing, and so lowers the covariance by its share.

Accuracy
    docs/measured-covariance.md has the error over that of the sample covariance. Under the model rows far from the
    others add nothing: a tenth of them lowers variances by up to a half.

Source
    See statistics/covariance_stages.py.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final, Literal

import numpy as np

from discreet.errors import BadInput
from discreet.privacy.exact import Number, show
from discreet.privacy.guarantee import Guarantee, check_budget
from discreet.privacy.intervals import Interval
from discreet.privacy.loss import Approximate, Loss
from discreet.privacy.mechanism import Randomness
from discreet.privacy.neighbours import Neighbours
from discreet.privacy.provenance import Provenance
from discreet.privacy.release import Release
from discreet.privacy.values import Matrix, MultivariateNormal
from discreet.stages.clip import Floats
from discreet.stages.declared import agree, check_size
from discreet.statistics.covariance_stages import FittedMoment, MomentStages, fit, needed, plan
from discreet.tables.matrix import Rows, in_one, matrix

EACH = "each entry, one at a time, of the population's"


@dataclass(frozen=True, slots=True, eq=False)
class MatrixSpread:
    """The error of each entry of a covariance: normal, sampling and privacy apart."""

    estimate: Floats
    sampling: Floats
    privacy: Floats
    about: str = f"{EACH} covariance"

    @classmethod
    def of(cls, found: FittedMoment) -> "MatrixSpread":
        """The error of a covariance that was found in a frame.

        An entry is h_i' S h_j, h_i the rows of the way back. With independent isometric coordinates of S, of variance
        `apart`, and `along` the trace, it has the variance apart (|h_i|^2 |h_j|^2 + (h_i h_j)^2) / 2 +
        (along - apart) (h_i h_j)^2 / d. Sampling errors are those of rows of covariance S, privacy errors are not.
        """
        back = found.frame.back(np.eye(len(found.inside)))
        values, vectors = np.linalg.eigh(found.inside)
        rooted = back @ (vectors * np.sqrt(values))
        sampling = _entries(rooted, found.apart[0], found.along[0])
        return cls(covariance_of(found), sampling, _entries(back, found.apart[1], found.along[1]))

    def interval(self, confidence: float) -> Interval:
        """For each entry by itself; a variance is not below 0."""
        width = normal_quantile(confidence) * np.hypot(self.sampling, self.privacy)
        low = self.estimate - width
        np.fill_diagonal(low, np.maximum(np.diag(low), 0.0))
        return Interval(low, self.estimate + width, confidence, self.about, population=True)


def covariance_of(found: FittedMoment) -> Floats:
    """The covariance in the data's units: symmetric, positive semidefinite."""
    back = found.frame.back(np.eye(len(found.inside)))
    whole = back @ found.inside @ back.T
    return np.asarray((whole + whole.T) / 2)


def _entries(back: Floats, apart: float, along: float) -> Floats:
    """The standard deviation of each entry."""
    sizes = np.linalg.norm(back, axis=1)
    inner = (back / sizes[:, None]) @ (back / sizes[:, None]).T  # of rows of length 1: no square leaves the floats
    variance = apart * (1 + inner**2) / 2 + (along - apart) * inner**2 / len(inner)
    return np.asarray(np.sqrt(np.maximum(variance, 0.0)) * np.outer(sizes, sizes))


@dataclass(frozen=True, slots=True, eq=False)
class NormalVectorSpread:
    """The errors of a mean and of a covariance."""

    mean: Floats
    mean_sampling: Floats
    mean_privacy: Floats
    covariance: MatrixSpread
    found: FittedMoment

    @classmethod
    def of(cls, found: FittedMoment) -> "NormalVectorSpread":
        """The error of a mean in the frame has independent coordinates: on the way back, the lengths of rows."""
        matrix = MatrixSpread.of(found)
        back = found.frame.back(np.eye(len(found.inside)))
        drawn, blurred = found.moved
        sampling = np.sqrt(drawn * np.diag(matrix.estimate))
        return cls(found.frame.centre, sampling, np.sqrt(blurred * (back**2).sum(axis=1)), matrix, found)

    @property
    def value(self) -> MultivariateNormal:
        """The estimates."""
        return MultivariateNormal(self.mean, self.covariance.estimate)

    @property
    def sampling(self) -> MultivariateNormal:
        """Standard deviations from sampling."""
        return MultivariateNormal(self.mean_sampling, self.covariance.sampling)

    @property
    def privacy(self) -> MultivariateNormal:
        """Standard deviations from the privacy noise."""
        return MultivariateNormal(self.mean_privacy, self.covariance.privacy)

    def interval(self, confidence: float) -> Interval:
        """For each entry by itself."""
        matrix = self.covariance.interval(confidence)
        width = normal_quantile(confidence) * np.hypot(self.mean_sampling, self.mean_privacy)
        low = MultivariateNormal(self.mean - width, matrix.low)
        high = MultivariateNormal(self.mean + width, matrix.high)
        return Interval(low, high, confidence, f"{EACH} mean and covariance", population=True)

    def total_variation(self, confidence: float) -> float:
        """How far the distribution released can be from the population's, if that is normal.

        In coordinates in which the released covariance is I, let E be the error of the covariance and m of the mean.
        By Pinsker the covariance costs |E| / sqrt(8 (1 - |E|)) of total variation, Frobenius norm, as x - ln(1 + x) <=
        x^2 / (2 (1 - |x|)); and the mean 2 Phi(|m| / 2) - 1. Each of |E|^2 without trace, its trace and |m|^2 is a
        multiple of a chi-square variable, and each is given a third of the miss.
        """
        from scipy.special import chdtri, ndtr

        miss, size = (1 - confidence) / 3, len(self.mean)
        least = float(np.linalg.eigvalsh(self.found.inside)[0])
        apart, along = (part[0] + part[1] / least**2 for part in (self.found.apart, self.found.along))
        moved = self.found.moved[0] + self.found.moved[1] / least
        loose = (size - 1) * (size + 2) // 2
        square = along * float(chdtri(1, miss)) + (apart * float(chdtri(loose, miss)) if loose else 0.0)
        error = math.sqrt(square)
        if error >= 1:
            return 1.0
        shift = math.sqrt(moved * float(chdtri(size, miss)))
        return min(1.0, error / math.sqrt(8 * (1 - error)) + 2 * float(ndtr(shift / 2)) - 1)


def normal_quantile(confidence: float) -> float:
    """Half the width of a normal interval, in standard deviations."""
    from scipy.special import ndtri

    level: Any = (1 + confidence) / 2
    return float(ndtri(level))


MEAN: Final = Fraction(1, 20)  # the share of the mean, about which the second moment is taken
WIDEST: Final = 2**10  # columns
Model = Literal["gaussian"]


@dataclass(frozen=True, slots=True)
class Covariance:
    """The covariance of the columns, a d x d array.

    `dimension` is the number of columns, `size` the public number of rows: with both the loss lists every draw.

    >>> from discreet.noise.randomness import Seeded
    >>> import numpy as np
    >>> rows = np.array([[k % 7, k % 11 + k % 7] for k in range(5000)])
    >>> release = Covariance(epsilon=2.0, delta=1e-6).release(rows, Seeded(1))
    >>> release.value.shape, bool(3 < release.value[0, 1] < 5)
    ((2, 2), True)
    """

    epsilon: Number
    delta: Number
    model: Model | None = None
    dimension: int | None = None
    neighbours: Neighbours = Neighbours.REPLACE
    unit: str = "row"
    size: int | None = None

    def __post_init__(self) -> None:
        check_stages(
            self.epsilon,
            self.delta,
            dimension=self.dimension,
            neighbours=self.neighbours,
            size=self.size,
            what="a covariance",
        )
        if self.model not in (None, "gaussian"):
            raise BadInput(f"model is {self.model!r}; give 'gaussian', or None for data of any shape")

    @property
    def guarantee(self) -> Guarantee:
        """As asked for."""
        return Guarantee(self.epsilon, self.delta, self.neighbours, self.unit)

    @property
    def loss(self) -> Loss:
        """Every draw; before rows and columns are known, what they amount to."""
        if self.size is None or self.dimension is None:
            return Approximate(self.epsilon, self.delta)
        return self.stages(self.size, self.dimension).loss  # [covariance.1]

    def stages(self, size: int, dimension: int) -> MomentStages:
        """The costs for so many rows and columns. [covariance.2]"""
        return plan(self.epsilon, self.delta, size, dimension, model=self.model is not None, mean=MEAN)

    def release(self, rows: Any, rng: Randomness) -> Release[Matrix]:
        """The covariance and the error bar of each entry, or a refusal."""
        table = matrix(rows, self.dimension, declared="dimension")
        size = checked_size(table, self.size, self.epsilon, self.delta)
        stages = self.stages(size, table.width)
        notes = () if self.model is not None else (unseen(stages.beyond),)
        shown = {"model": self.model, "neighbours": self.neighbours, "rows": size, "columns": table.width}
        blank: Release[Matrix] = Release(
            self.guarantee, Provenance("Covariance", shown, rng.secure, notes), name="covariance"
        )
        if not stages.enough:  # [covariance.2]
            least = needed(self.epsilon, self.delta, table.width, model=self.model is not None, mean=MEAN)
            return replace(blank, refusal=too_few(size, table.width, least))
        found = fit(in_one(table), stages, rng)  # [covariance.1]
        if isinstance(found, str):  # [covariance.2]
            return replace(blank, refusal=found)
        spread = MatrixSpread.of(found)  # [covariance.3]
        if self.model is None:
            spread = replace(
                spread, about=f"{spread.about}, rows beyond {show(found.radius)} times their scale pulled in"
            )
        return replace(blank, answer=Matrix(spread.estimate), spread=spread)


def check_stages(
    epsilon: Number, delta: Number, *, dimension: object, neighbours: Neighbours, size: int | None, what: str
) -> None:
    """Refuse what the stages cannot promise, before any data are seen. [covariance.1]"""
    check_size(size, Neighbours.REPLACE)
    check_budget(epsilon, delta, size)
    if not delta:
        raise BadInput(f"delta is 0; {what} without bounds needs delta > 0, for example delta=1e-6")
    if not isinstance(neighbours, Neighbours):
        raise BadInput(f"neighbours is {neighbours!r}; give Neighbours.REPLACE")
    if not neighbours.size_is_public:  # [covariance.1]
        raise BadInput(f"{what} pairs rows by their places, so their number is public; give neighbours='replace'")
    if dimension is not None and (
        not isinstance(dimension, int) or isinstance(dimension, bool) or not 1 <= dimension <= WIDEST
    ):
        raise BadInput(f"dimension is {dimension!r}; give the number of columns, 1 to {WIDEST}, or None")


def checked_size(table: Rows, declared: int | None, epsilon: Number, delta: Number) -> int:
    """The public number of rows, with which the budget must make sense."""
    size = agree(table.size, declared)
    if not size:
        raise BadInput("the data are empty (0 rows); a statistic needs at least 1 row")
    if table.width > WIDEST:
        raise BadInput(f"the data have {table.width} columns; a covariance of at most {WIDEST} can be found")
    check_budget(epsilon, delta, size)
    return size


def too_few(size: int, columns: int, least: int) -> str:
    """What was seen, what is needed, what to do."""
    return (
        f"there are {size} rows of {columns} columns; finding their covariance without bounds takes about "
        f"{show(float(least))} rows at this epsilon and delta. Bring more rows, fewer columns, or a larger epsilon"
    )


def unseen(beyond: int) -> str:
    """Who can leave no trace."""
    return (
        f"fewer than {beyond} rows far from the others count as if they were no further than twice the others' length; "
        "the interval takes products of columns to vary as those of normal rows do"
    )
