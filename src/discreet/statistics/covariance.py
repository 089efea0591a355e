"""The covariance of rows in R^d: no bounds, no scale, no centre, any condition number that the rows can show.

Releases
    The stages of statistics/second_moment.py, and from them the covariance. With no model the ball of the last stage
    is twice as wide as one that leaves about `beyond` rows outside, a public number; under model="gaussian" it is the
    best ball for normal rows.
Promise
    [CV1] (epsilon, delta) under REPLACE, by the losses of the stages; ADD_OR_REMOVE is refused when it is asked for.
    [CV2] Refusals read public numbers and earlier answers only.
    [CV3] The answer is symmetric and positive semidefinite. For normal rows the interval of each entry holds the
          population's with its confidence, to first order.
Why
    [CV1] [SM1] of statistics/second_moment.py. Rows are paired by their places, which one row more would shift: hence
    no ADD_OR_REMOVE. What is not listed when no size is declared amounts to (epsilon, delta).
    [CV2] Too few rows: before any draw, n public. Scales at the edge of the floats: after they were released. No
    centre: no refusal, the differences take the rows' place.
    [CV3] In the frame the covariance is near I, so bent moments answer linearly (statistics/elliptic.py): the error is
    sampling and noise over known slopes, with the variances of `MatrixSpread.of`. Turning back keeps eigenvalues
    non-negative. Without a model two things still use the normal law: how much the ball cut off, which is next to
    nothing as it is wide, and the variance of a product. So for other rows the interval is for the covariance of rows
    pulled to the ball, and for those with heavy tails its sampling part is too short: of exponential columns and t with
    5 degrees it held 0.81 to 0.85 of the entries at n = 5,000 and d = 2, 0.94 to 0.96 at n = 20,000 (12 runs each).
Needs
    About 2,000 rows of 5 columns, 3,400 of 10, at epsilon 1 and delta 1e-6. A row with a missing entry counts as one at
    the centre: it adds nothing, and so lowers the covariance by its share.
Accuracy
    docs/measured-covariance.md has the error over that of the sample covariance. Under the model rows far from the
    others add nothing: a tenth of them lowers variances by up to a half.
Source
    See statistics/second_moment.py.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final, Literal

from discreet.errors import BadInput
from discreet.friendly.matrix import Rows, in_one, matrix
from discreet.promise.exact import Number, show
from discreet.promise.guarantee import Guarantee, check_budget
from discreet.promise.loss import Approximate, Loss
from discreet.promise.mechanism import Randomness
from discreet.promise.neighbours import Neighbours
from discreet.promise.provenance import Provenance
from discreet.promise.release import Release
from discreet.stable.clipped import Floats
from discreet.stable.declared import agree, check_size
from discreet.statistics.matrices import MatrixSpread
from discreet.statistics.second_moment import Stages, fit, needed, plan

MEAN: Final = Fraction(1, 20)  # the share of the mean, about which the second moment is taken
WIDEST: Final = 2**10  # columns
Model = Literal["gaussian"]


@dataclass(frozen=True, slots=True)
class Covariance:
    """The covariance of the columns, a d x d array.

    `dimension` is the number of columns, `size` the public number of rows: with both the loss lists every draw.

    >>> from discreet.noise.seeded import Seeded
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
        return self.stages(self.size, self.dimension).loss  # [CV1]

    def stages(self, size: int, dimension: int) -> Stages:
        """The costs for so many rows and columns. [CV2]"""
        return plan(self.epsilon, self.delta, size, dimension, model=self.model is not None, mean=MEAN)

    def release(self, rows: Any, rng: Randomness) -> Release[Floats]:
        """The covariance and the error bar of each entry, or a refusal."""
        table = matrix(rows, self.dimension, declared="dimension")
        size = checked_size(table, self.size, self.epsilon, self.delta)
        stages = self.stages(size, table.width)
        notes = () if self.model is not None else (unseen(stages.beyond),)
        shown = {"model": self.model, "neighbours": self.neighbours, "rows": size, "columns": table.width}
        blank: Release[Floats] = Release(
            self.guarantee, Provenance("Covariance", shown, rng.secure, notes), name="covariance"
        )
        if not stages.enough:  # [CV2]
            least = needed(self.epsilon, self.delta, table.width, model=self.model is not None, mean=MEAN)
            return replace(blank, refusal=too_few(size, table.width, least))
        found = fit(in_one(table), stages, rng)  # [CV1]
        if isinstance(found, str):  # [CV2]
            return replace(blank, refusal=found)
        spread = MatrixSpread.of(found)  # [CV3]
        if self.model is None:
            spread = replace(
                spread, about=f"{spread.about}, rows beyond {show(found.radius)} times their scale pulled in"
            )
        return replace(blank, answer=spread.estimate, spread=spread)


def check_stages(
    epsilon: Number, delta: Number, *, dimension: object, neighbours: Neighbours, size: int | None, what: str
) -> None:
    """Refuse what the stages cannot promise, before any data are seen. [CV1]"""
    check_size(size, Neighbours.REPLACE)
    check_budget(epsilon, delta, size)
    if not delta:
        raise BadInput(f"delta is 0; {what} without bounds needs delta > 0, for example delta=1e-6")
    if not isinstance(neighbours, Neighbours):
        raise BadInput(f"neighbours is {neighbours!r}; give Neighbours.REPLACE")
    if not neighbours.size_is_public:  # [CV1]
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
