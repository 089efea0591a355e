"""Linear regression without bounds: coefficients, and errors that have the privacy noise in them.

Releases
    The stages of models/squares.py: where each column is and how far it reaches, a frame in which x is round and y is
    its residual, and there one noisy sum of outer products of rows (1, x, y) pulled into a ball. Coefficients, a ridge
    where it is needed, the residual variance and all errors are computed from it.
Promise
    [LR1] (epsilon, delta) under REPLACE and under ADD_OR_REMOVE, by the losses of the stages.
    [LR2] Refusals read public numbers and earlier answers only; no value of the data raises.
    [LR3] For rows y = a + bx + e with e independent of x, even and of one variance, the interval of each coefficient
          holds the population's with its confidence, to first order. One that depends on directions lost in the noise,
          for which a ridge was needed, has no interval.
Why
    [LR1] [LS1] of models/squares.py. What is not listed when no size is declared amounts to (epsilon, delta).
    [LR2] [LS2] and [LS3] there; too few rows: before any draw where their number is public, else by the noisy count.
    [LR3] A row pulled into the ball keeps its direction: that is a row with a weight, (1, x, y) times one number, and
    weighted least squares has the same population coefficients if weights are even in the residual. They are, as y is
    the residual of an earlier fit in the frame, but for the small error of that fit times the small share of rows
    pulled. A direction is lost if its eigenvalue is below the size of the noise as an operator. Errors: models/line.py.
    The variance of a weighted row is at most its weight times that of the residual.
Needs
    About 1,600 rows of 5 columns, 2,100 of 10, at epsilon 1 and delta 1e-6. A column that is mostly one value needs
    bounds, for example (0, 1) for truth values that are rarely true. A row with a missing entry does not count.
Accuracy
    For normal x and residuals the noise on a coefficient in standard units is about 2 (d + 2) / (n mu) residual
    deviations, beside sampling errors of 1 / sqrt n: less than half of them at n = 20,000, d = 5, epsilon = 1.
    Where e is skew the intercept is that of the rows in the ball, which leaves a public number of rows outside: of
    exponential residuals its interval held 0.62 at n = 5,000. Where the variance of e depends on a column, that
    column's interval is too short: 0.88 with deviations of 0.5 + |x| (docs/measured-models.md, 50 runs each).
Source
    Wang 2018 (AdaSSP: noisy second moments and a ridge that the noise asks for), with one release in place of three,
    analytic Gaussian noise, and no bounds. Sheffet 2017 for intervals from noisy second moments.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from discreet.errors import BadInput
from discreet.friendly.matrix import in_one, matrix
from discreet.models.coefficients import Coefficients
from discreet.models.line import solve
from discreet.models.squares import CONSTANT, Column, Stages, find, plan
from discreet.promise.exact import Number, is_number, show
from discreet.promise.guarantee import Guarantee, check_budget
from discreet.promise.loss import Approximate, Loss
from discreet.promise.mechanism import Randomness
from discreet.promise.neighbours import Neighbours
from discreet.promise.provenance import Provenance
from discreet.promise.release import Release
from discreet.stable.clipped import Floats
from discreet.stable.declared import Bounds, agree, check_bounds, check_size

WIDEST: Final = 2**9  # columns
PULLED: Final = (
    "rows longer than {} in standard units count with less weight; where residuals are skew, the intercept is nearer "
    "to their middle than to their mean"
)


@dataclass(frozen=True, slots=True)
class LeastSquares:
    """The coefficients of y on the columns of x, rows of (x, y), the outcome last.

    `names` are those of the columns of x; `bounds` public bounds for each of them and the outcome, None where there are
    none; `ridge` adds that times the squared coefficients to the sum of squares, None only what the noise asks for.
    `size` is the public number of rows: with it the loss lists every draw.

    >>> from discreet.noise.seeded import Seeded
    >>> import numpy as np
    >>> rows = np.array([[k % 7, 2.0 * (k % 7) + k % 11] for k in range(5000)])
    >>> release = LeastSquares(2.0, 1e-6, ("x",)).release(rows, Seeded(1))
    >>> bool(abs(release.value["x"] - 2) < 0.1)
    True
    """

    epsilon: Number
    delta: Number
    names: tuple[str, ...]
    intercept: bool = True
    ridge: float | None = None
    bounds: tuple[Bounds | None, ...] | None = None
    neighbours: Neighbours = Neighbours.REPLACE
    unit: str = "row"
    size: int | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.neighbours, Neighbours):
            raise BadInput(f"neighbours is {self.neighbours!r}; give Neighbours.REPLACE or ADD_OR_REMOVE")
        check_size(self.size, self.neighbours)
        check_budget(self.epsilon, self.delta, self.size)
        if not self.delta:
            raise BadInput("delta is 0; a regression needs delta > 0, for example delta=1e-6")
        if not isinstance(self.intercept, bool):
            raise BadInput(f"intercept is {self.intercept!r}; give True or False")
        if not 1 <= len(self.names) <= WIDEST:
            raise BadInput(f"there are {len(self.names)} columns; give 1 to {WIDEST}")
        twice = [name for name, times in Counter((*self.names, *["intercept"] * self.intercept)).items() if times > 1]
        if twice:  # a table by name would show one of them only
            raise BadInput(f"two coefficients would be called {twice[0]!r}; give each column its own name")
        if self.ridge is not None and not (is_number(self.ridge) and 0 <= float(self.ridge) < 1e100):
            raise BadInput(f"ridge is {self.ridge!r}; give 0, a positive number, or None for what the noise asks for")
        if self.bounds is not None:
            if len(self.bounds) != len(self.names) + 1:
                raise BadInput(
                    f"{len(self.bounds)} bounds are given for {len(self.names)} columns and the outcome; give one "
                    "for each, None where there are none"
                )
            for pair in self.bounds:
                check_bounds(pair)
        self.stages(self.size or (1 if self.neighbours.size_is_public else None))  # epsilon and delta are within reach

    @property
    def guarantee(self) -> Guarantee:
        """As asked for."""
        return Guarantee(self.epsilon, self.delta, self.neighbours, self.unit)

    @property
    def loss(self) -> Loss:
        """Every draw; where the number of rows is public, once it is known."""
        if self.size is None and self.neighbours.size_is_public:
            return Approximate(self.epsilon, self.delta)
        return self.stages(self.size).loss  # [LR1]

    @property
    def columns(self) -> tuple[Column, ...]:
        """A row's entries: (1, x, y), or (x, y, 1) where there is no intercept."""
        bounds = self.bounds or (None,) * (len(self.names) + 1)
        named = zip((*self.names, "the outcome"), bounds, strict=True)
        given = tuple(Column.of(name, pair, centred=self.intercept) for name, pair in named)
        return (CONSTANT, *given) if self.intercept else (*given, CONSTANT)

    def stages(self, size: int | None) -> Stages:
        """The costs for a public number of rows, or a private one. [LR2]"""
        unknown = sum(column.place is None for column in self.columns)
        return plan(self.epsilon, self.delta, size, len(self.columns), unknown, centred=self.intercept)

    def needed(self) -> int:
        """The least public number of rows, within a twentieth, that there is an answer for. [LR2]"""
        rows = 16
        while rows < 2**40 and not self.stages(rows).enough(rows):
            rows = rows * 21 // 20 + 1
        return rows

    def release(self, rows: Any, rng: Randomness) -> Release[Coefficients]:
        """The coefficients with an error bar each, or a refusal."""
        table = matrix(rows, len(self.names) + 1, declared="names and an outcome, columns")
        public = self.neighbours.size_is_public
        size = agree(table.size, self.size) if public else None
        if public:
            if not size:
                raise BadInput("the data are empty (0 rows); a regression needs at least 1 row")
            check_budget(self.epsilon, self.delta, size)
        stages = self.stages(size)
        shown = {"neighbours": self.neighbours, "columns": len(self.names), "intercept": self.intercept}
        shown |= {"ridge": self.ridge} | ({"rows": size} if public else {})
        blank: Release[Coefficients] = Release(
            self.guarantee, Provenance("LeastSquares", shown, rng.secure, self.notes), name="linear regression"
        )
        if size is not None and not stages.enough(size):  # [LR2]
            return replace(blank, refusal=self._too_few(size))
        found = find(self._ready(in_one(table)), self.columns, stages, rng)  # [LR1]
        if isinstance(found, str):  # [LR2]
            return replace(blank, refusal=found)
        line = solve(found, self.names, intercept=self.intercept, ridge=self.ridge)  # [LR3]
        if isinstance(line, str):
            return replace(blank, refusal=line)
        notes = [*self.notes, PULLED.format(show(found.radius))]
        if line.ridge:
            which = f", and has no interval: {', '.join(line.weak[:6])}" if line.weak else ""
            notes.append(f"a ridge was added; what the rows show less clearly than the noise is pulled to 0{which}")
        provenance = replace(blank.provenance, notes=tuple(notes))
        return replace(blank, answer=line.spread.value, spread=line.spread, provenance=provenance)

    def _ready(self, table: Floats) -> Floats:
        """A copy with the constant, in the order of `columns`."""
        ones = np.ones((len(table), 1))
        return np.concatenate([ones, table] if self.intercept else [table, ones], axis=1)

    def _too_few(self, size: int) -> str:
        return (
            f"there are {size} rows of {len(self.names)} columns and an outcome; their regression takes about "
            f"{show(float(self.needed()))} rows at this epsilon and delta. Bring more rows, fewer columns, bounds or "
            "a larger epsilon"
        )


def declared_bounds(bounds: Any, names: Sequence[str], outcome: str) -> tuple[Bounds | None, ...] | None:
    """Public bounds by name, or one for each column and the outcome."""
    if bounds is None:
        return None
    every = (*names, outcome)
    if isinstance(bounds, Mapping):
        if outcome in names:
            raise BadInput(f"y and a column of X are both called {outcome!r}; name them apart to give bounds by name")
        strange = [name for name in bounds if name not in every]
        if strange:
            raise BadInput(f"bounds are given for {strange[0]!r}; the columns are {', '.join(every)}")
        return tuple(bounds.get(name) for name in every)
    if not isinstance(bounds, Sequence | np.ndarray) or len(bounds) != len(every):
        raise BadInput(f"bounds are {bounds!r}; give a dictionary by name, or {len(every)} pairs, the outcome's last")
    return tuple(bounds)
