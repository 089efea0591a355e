"""The covariance of rows in R^d, with error bars.

No bounds, no scale, no centre, any condition number that the rows can show.

Releases
    With no model the stages of statistics/free_covariance.py, under model="gaussian" those of
    statistics/covariance_stages.py, and from them the covariance.

Promise
    [covariance.1] (epsilon, delta) under REPLACE and under ADD_OR_REMOVE, by the losses of the stages.
    [covariance.2] Refusals read public numbers and earlier answers only.
    [covariance.3] The answer is symmetric and positive semidefinite. The interval of each entry holds the population's
          with its confidence, to first order: without a model whatever the distribution is, nobody's distance from the
          mean above a limit that was released, and the plain one too as far as the tail of all distances tells; under
          the model for normal rows. It holds the answer.

Why
    [covariance.1] [free_covariance.1], [covariance_stages.1] and [covariance_stages.2]. What is not listed before the
    number of columns and, under REPLACE, of rows are declared amounts to (epsilon, delta).
    [covariance.2] Too few rows: before any draw where n is public, else by a noisy number of them. Scales at the edge
    of the floats: after they were released. [free_covariance.2]. Under the model, no centre: the differences take the
    rows' place.
    [covariance.3] Without a model [free_covariance.3]: the interval is about the estimate before it was drawn towards
    0, and reaches as far as the answer. Under it: in the frame the covariance is near I, so bent moments
    answer linearly (statistics/whiten.py): the error is sampling and noise over known slopes, with the variances of
    `MatrixSpread.of`. Turning back keeps eigenvalues non-negative. A noisy number of rows multiplies the distance of
    the bent moments from those of N(0, I), and of the mean from the centre, by an error of a few parts in a hundred at
    most: second order.

Needs
    About 2,000 rows of 5 columns, 3,400 of 10, at epsilon 1 and delta 1e-6. Without a model and under ADD_OR_REMOVE a
    row with a missing entry is no row; else it counts as one at the centre, and so lowers the covariance by its share.

Accuracy
    docs/benchmarks.md has the error over that of the sample covariance. Without a model entries beside the diagonal of
    the frame are drawn towards 0 by as much as the noise explains, each by a deviation of it at most: where columns
    hardly depend on each other that is most of the noise, elsewhere little. Under the model rows far from the
    others add nothing: a tenth of them lowers variances by up to a half.

Source
    See the stages; Armstrong and Kolesar 2020 (intervals that allow for a bias); Tsfadia, Cohen, Kaplan, Mansour and
    Stemmer 2022 for the centre.
"""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, Final, Literal

import numpy as np

from discreet.errors import BadInput, Refused
from discreet.privacy.declaration import Columns, Public, Reads, number, statistic
from discreet.privacy.exact import Number
from discreet.privacy.guarantee import Neighbours, check_budget
from discreet.privacy.intervals import Interval
from discreet.privacy.loss import Approximate, Loss
from discreet.privacy.mechanism import Randomness, promised
from discreet.privacy.release import Provenance, Release
from discreet.privacy.values import Matrix
from discreet.stages.clip import Floats
from discreet.stages.declared import agree, check_size
from discreet.stages.gram import Rows
from discreet.stages.normal_laplace import allowing
from discreet.statistics.covariance_stages import FittedMoment, MomentBudget, positive
from discreet.statistics.free_covariance import FreeMoment, FreeStages, find, plan, too_few
from discreet.tables.kept_rows import FLOAT, kept
from discreet.tables.matrix import long_matrix
from discreet.tables.streams import check_held
from discreet.worlds.assumptions import MANY, About, World
from discreet.worlds.floors import RATES
from discreet.worlds.shapes import AssumedTable

EACH = "each entry, one at a time, of the population's"


_planned = lru_cache(256)(plan)  # of public numbers: a refusal tries many sizes, which where n is private cost alike


@dataclass(frozen=True, slots=True, eq=False)
class MatrixSpread:
    """The error of each entry of a covariance: normal, sampling and privacy apart. `estimate` is what intervals are
    about."""

    estimate: Floats
    sampling: Floats
    privacy: Floats
    about: str = f"{EACH} covariance"
    bias: Floats | None = None
    target: str = ""
    ball: tuple[Floats, Floats, float, float] | None = None  # where rows were limited: see `FreeMoment`
    drawn: Floats | None = None  # the answer, where it is not the estimate

    @classmethod
    def free(cls, found: FreeMoment) -> "MatrixSpread":
        """The error of a covariance of any shape: see [free_covariance.3]."""
        estimate, drawn = (found.back @ positive(each) @ found.back.T for each in (found.inside, found.drawn))
        each = np.outer(found.scales, found.scales)
        known = found.counted * (estimate - found.back @ found.back.T)
        least = each**2 * np.minimum(found.fourths, found.noise**2)
        sampling = np.sqrt(np.maximum(each**2 * found.fourths - estimate**2, least) / found.size)
        privacy = np.hypot(_entries(found.back, found.noise**2, found.noise**2), known)
        target = f"(nobody's distance from the mean above {found.often:.2g} times the typical one)"
        about = f"{EACH} covariance, distances limited"
        estimate, drawn = ((part + part.T) / 2 for part in (estimate, drawn))
        estimate += found.bias / 2 * found.back @ found.back.T  # [free_covariance.3]
        return cls(estimate, sampling, privacy, about, found.bias / 2 * each, target, found.ball, drawn)

    @property
    def value(self) -> Floats:
        """The answer."""
        return self.estimate if self.drawn is None else self.drawn

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
        errors = np.hypot(self.sampling, self.privacy)
        width = normal_quantile(confidence) * errors if self.bias is None else allowing(self.bias, errors, confidence)
        low = self.estimate - width
        np.fill_diagonal(low, np.maximum(np.diag(low), 0.0))
        low, high = np.minimum(low, self.value), np.maximum(self.estimate + width, self.value)
        return Interval(low, high, confidence=confidence, about=self.about, population=True)


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


def normal_quantile(confidence: float) -> float:
    """Half the width of a normal interval, in standard deviations."""
    from scipy.special import ndtri

    level: Any = (1 + confidence) / 2
    return float(ndtri(level))


WIDEST: Final = 2**10  # columns
Model = Literal["gaussian"]


@dataclass(frozen=True, slots=True)
class Covariance:
    """The covariance of the columns, a d x d array.

    `dimension` is the number of columns, `size` the number of rows where it is public (neighbours REPLACE): with both
    the loss lists every draw. `names` are those of the columns, for refusals.

    >>> from discreet.noise.randomness import Seeded
    >>> import numpy as np
    >>> rows = np.array([[k % 7, k % 11 + k % 7] for k in range(5000)])
    >>> release = Covariance(epsilon=2.0, delta=1e-6).release(rows, Seeded(1))
    >>> release.value.shape, bool(3 < release.value[0, 1] < 5)
    ((2, 2), True)
    """

    epsilon: Number
    delta: Number
    _: KW_ONLY
    model: Model | None = None
    dimension: int | None = None
    neighbours: Neighbours = Neighbours.REPLACE
    unit: str = "row"
    size: int | None = None
    names: tuple[str, ...] = ()
    name: ClassVar[str] = "covariance"
    mean: ClassVar[Fraction] = Fraction(1, 20)  # the share of the mean, about which the second moment is taken

    def __post_init__(self) -> None:
        if not isinstance(self.neighbours, Neighbours):
            raise BadInput(f"neighbours is {self.neighbours!r}; give Neighbours.REPLACE or Neighbours.ADD_OR_REMOVE")
        check_size(self.size, self.neighbours)
        check_budget(self.epsilon, self.delta, self.size)
        if not self.delta:
            raise BadInput(f"delta is 0; a {self.name} without bounds needs delta > 0, for example delta=1e-6")
        whole = isinstance(self.dimension, int) and not isinstance(self.dimension, bool)
        if self.dimension is not None and not (whole and 1 <= self.dimension <= WIDEST):
            raise BadInput(f"dimension is {self.dimension!r}; give the number of columns, 1 to {WIDEST}, or None")
        if self.model not in (None, "gaussian"):
            raise BadInput(f"model is {self.model!r}; give 'gaussian', or None for data of any shape")

    guarantee = promised

    @property
    def loss(self) -> Loss:
        """Every draw; before rows and columns are known, what they amount to."""
        if self.model is not None:
            return self.budget.loss(self.size, self.dimension)  # [covariance.1]
        if self.dimension is None or (self.size is None and self.neighbours.size_is_public):
            return Approximate(self.epsilon, self.delta)
        return self.stages(self.size, self.dimension).loss  # [covariance.1]

    def stages(self, size: int | None, columns: int) -> FreeStages:
        """What there is without a model, for a public number of rows or a private one. [covariance.1]"""
        return _planned(self.epsilon, self.delta, size if self.neighbours.size_is_public else None, columns)

    @property
    def budget(self) -> MomentBudget:
        """For all stages under the model."""
        return MomentBudget(self.epsilon, self.delta, mean=self.mean, neighbours=self.neighbours)

    def check(self, size: int | None) -> None:
        """Refuse too few rows, where their number is public and that of columns was declared. [covariance.2]"""
        if size:
            check_budget(self.epsilon, self.delta, size)
        if size is not None and self.dimension is not None:
            if self.model is not None:
                self.budget.check(size, self.dimension)
            elif not self.stages(size, self.dimension).enough(size):
                raise Refused(self._too_few(size, self.dimension))
        elif self.dimension is not None and self.model is None and not self.neighbours.size_is_public:
            self.stages(None, self.dimension)  # what delta is too small for is refused now

    def _too_few(self, size: int, columns: int) -> str:
        return too_few(size, columns, lambda rows: self.stages(rows, columns), self.epsilon)

    def _modelled(self, rows: Rows, rng: Randomness) -> FittedMoment | str:
        """All stages under the model, which looks at rows one by one. [covariance.1]"""
        check_held(rows)
        return self.budget.fit(np.asarray(rows), rng)  # [covariance.1]

    def moment(self, rows: Rows, size: int | None, rng: Randomness) -> FreeMoment | str:
        """All stages without a model. [covariance.1]"""
        columns = self.dimension if self.dimension is not None else int(np.shape(rows)[1])
        stages = self.stages(size, columns)
        if size is not None and not stages.enough(size):  # [covariance.2]
            return self._too_few(size, columns)
        counted = stages.counted(rows, rng)  # [covariance.1]
        if not stages.enough(counted):  # [covariance.2]
            return self._too_few(round(counted), columns)
        with np.errstate(all="ignore"):  # units may be 300 orders of magnitude apart
            return find(rows, stages, rng, size=counted, names=self.names)  # [covariance.1]

    def release(self, rows: Any, rng: Randomness) -> Release[Any]:
        """The covariance and the error bar of each entry, or a refusal."""
        table, size = long_matrix(rows, self.dimension, declared="dimension"), None
        columns = self.dimension if self.dimension is not None else int(np.shape(table)[1])
        if columns > WIDEST:
            raise BadInput(f"the data have {columns} columns; a covariance of at most {WIDEST} can be found")
        table = kept(table, FLOAT * columns)
        if self.neighbours.size_is_public:
            size = agree(len(table), self.size)
            if not size:
                raise BadInput("the data are empty (0 rows); a statistic needs at least 1 row")
            check_budget(self.epsilon, self.delta, size)
        shown = {"model": self.model, "neighbours": self.neighbours, "rows": size, "columns": columns}
        provenance = Provenance(type(self).__name__, shown, rng.secure)
        blank: Release[Any] = Release(self.guarantee, provenance, name=self.name)
        found = self.moment(table, size, rng) if self.model is None else self._modelled(table, rng)  # [covariance.1]
        return replace(blank, refusal=found) if isinstance(found, str) else self._answer(blank, found)  # [covariance.2]

    def _answer(self, blank: Release[Any], found: FittedMoment | FreeMoment) -> Release[Any]:
        with np.errstate(all="ignore"):  # [covariance.3]
            spread = MatrixSpread.free(found) if isinstance(found, FreeMoment) else MatrixSpread.of(found)
        if not (np.isfinite(spread.estimate).all() and np.isfinite(spread.sampling).all()):  # [covariance.2]
            return replace(blank, refusal="the columns' scales are beyond the floats; rescale them")
        return replace(blank, answer=Matrix(spread.value), spread=spread)


def _world(about: About) -> World:
    table = AssumedTable.of(about)
    return World(
        units="squared standard deviations",
        make=lambda g, n: {"x": table.draw(g, n)},
        truth=np.eye(table.columns) * table.entries.scale**2,
        plain=lambda x: np.cov(x, rowvar=False),
        measure=MANY,
        runs=32,
        floor_note=RATES["covariance"],
    )


def _reads(options: Mapping[str, Any]) -> Reads:
    return number("several", streams=options.get("model") is None)  # a model samples rows


@statistic({"x": _reads}, world=_world)
def covariance(
    people: Public, x: Columns, *, epsilon: Number, delta: Number, model: Literal["gaussian"] | None = None
) -> Covariance:
    """The covariance of the columns, a d x d array, with an interval for each entry. No bounds needed.

    `x` is an array, a data frame or an Arrow table of numbers, a row for each person. model="gaussian" is tighter for
    normal rows, and takes rows far from the others for errors. Needs delta > 0.

    >>> import discreet
    >>> import numpy as np
    >>> x = np.array([[k % 7, k % 11 + k % 7] for k in range(5000)])
    >>> discreet.covariance(x, epsilon=2.0, delta=1e-6, rng=discreet.Seeded(1)).value.shape
    (2, 2)
    """
    return Covariance(
        epsilon,
        delta,
        model=model,
        dimension=len(x.names),
        neighbours=people.neighbours,
        unit=people.unit,
        size=people.size,
        names=x.names,
    )
