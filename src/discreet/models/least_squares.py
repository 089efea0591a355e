"""From the sum of outer products of rows to coefficients and their errors. All of it reads what was released.

In the frame of models/square_stages.py let Q be the sum for the predictors, q that of predictors times outcome, and s
the noise on the diagonal (s / sqrt 2 off it). With b = (Q + L)^-1 (q + l), L and l the penalty, what the noise N does
is (Q + L)^-1 (N_q - N_Q b), and N_q - N_Q b has the covariance (s^2 / 2) ((1 + |b|^2) I + b b'). What sampling does has
the covariance (residual variance) (Q + L)^-1 Q (Q + L)^-1, for rows whose residuals have one variance.

Linear regression without bounds: coefficients, and errors that have the privacy noise in them.

Releases
    The stages of models/square_stages.py: where each column is and how far it reaches, a frame in which x is round and
    y is its residual, and there one noisy sum of outer products of rows (1, x, y) pulled into a ball. Coefficients, a
    ridge where it is needed, the residual variance and all errors are computed from it.

Promise
    [least_squares.1] (epsilon, delta) under REPLACE and under ADD_OR_REMOVE, by the losses of the stages.
    [least_squares.2] Refusals read public numbers and earlier answers only; no value of the data raises.
    [least_squares.3] For rows y = a + bx + e with e independent of x, even and of one variance, the interval of each
          coefficient holds the population's with its confidence, to first order. One that depends on directions lost in
          the noise, for which a ridge was needed, has no interval.

Why
    [least_squares.1] [square_stages.1]. What is not listed when no size is declared amounts to (epsilon, delta).
    [least_squares.2] [square_stages.2] and [square_stages.3] there; too few rows: before any draw where their number is
    public, else by the noisy count.
    [least_squares.3] A row pulled into the ball keeps its direction: that is a row with a weight, (1, x, y) times one
    number, and weighted least squares has the same population coefficients if weights are even in the residual. They
    are, as y is the residual of an earlier fit in the frame, but for the small error of that fit times the small share
    of rows pulled. A direction is lost if its eigenvalue is below the size of the noise as an operator. Errors:
    models/least_squares.py. The variance of a weighted row is at most its weight times that of the residual.

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

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Final

import numpy as np

from discreet.errors import BadInput, Refused
from discreet.models.coefficients import CoefficientSpread
from discreet.models.square_stages import CONSTANT, DesignColumn, Squares, SquareStages, find, least_rows, plan
from discreet.privacy.exact import Number, is_number, show
from discreet.privacy.guarantee import check_budget
from discreet.privacy.loss import Approximate, Loss
from discreet.privacy.mechanism import Randomness, promised, refusal_of, what_to_do
from discreet.privacy.neighbours import Neighbours
from discreet.privacy.provenance import Provenance
from discreet.privacy.release import Release
from discreet.privacy.values import Coefficients
from discreet.stages.clip import Floats
from discreet.stages.declared import Bounds, agree, check_bounds, check_size
from discreet.tables.matrix import in_one, matrix

ABOUT: Final = "the population's coefficients of least squares, each by itself"
RIDGED: Final = "the population's coefficients of least squares with this ridge, each by itself"
LOST: Final = 0.02  # of what a coefficient is made of: with more in directions lost in the noise it has no interval
HIDDEN: Final = "the noise is larger than what the rows show; bring more rows, fewer columns, or a larger epsilon"
STIFFEST: Final = 1e150  # a penalty in the frame: its products with other numbers there are still floats
STIFF: Final = (
    "this ridge in the units of the columns is beyond the floats; rescale the columns, or give a smaller ridge"
)


@dataclass(frozen=True, slots=True, eq=False)
class FittedLine:
    """The coefficients with their errors, how much was added to weak directions, and whose interval that takes away."""

    spread: CoefficientSpread
    ridge: float
    weak: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Solved:
    """The coefficients in the frame: values, and covariances from sampling and from the noise."""

    shift: Floats
    sampled: Floats
    blurred: Floats


def solve(found: Squares, names: tuple[str, ...], *, intercept: bool, ridge: float | None) -> FittedLine | str:
    """The coefficients of the columns `names`: rows are (1, x, y), or (x, y, 1) where there is no intercept."""
    with np.errstate(all="ignore"):  # units may be 300 orders of magnitude apart
        return _line(found, names, intercept, ridge)


def _line(found: Squares, names: tuple[str, ...], intercept: bool, ridge: float | None) -> FittedLine | str:
    many = len(names) + intercept
    loud = found.noise * math.sqrt(2 * many)  # the noise as an operator
    values, vectors = np.linalg.eigh(found.total[:many, :many])
    if values[-1] < 2 * loud:
        return HIDDEN
    automatic = max(0.0, loud - float(values[0])) if ridge is None else 0.0
    penalty = np.array([0.0] * intercept + [ridge or 0.0] * len(names))
    if not float((penalty / found.units[:many] ** 2).max()) * float(np.abs(found.turn).max()) ** 2 < STIFFEST:
        return STIFF
    solved = _solved(found, many, automatic, penalty)
    inner, per = found.turn[:many, :many].T, found.turn[many, many]
    # from entries less their centres, over their units, to the columns themselves
    own = np.diag(found.units[many] / found.units[:many])
    if intercept:
        own[0, 1:] = -found.centres[1:many] * own.diagonal()[1:]
    way = own @ inner / per
    whole = way @ solved.shift - own @ found.turn[many, :many] / per
    errors = [_deviations(way, part) for part in (solved.sampled, solved.blurred)]
    weak = _weak(way @ vectors, values < loud, intercept) if automatic else np.zeros(many, dtype=bool)
    for part in errors:
        part[weak] = math.inf
    if intercept:
        whole[0] += found.centres[many]
    else:
        whole, *errors = (np.concatenate([[0.0], part]) for part in (whole, *errors))
    about = f"{ABOUT}, and no interval where the rows show too little" if automatic else ABOUT
    spread = CoefficientSpread(
        Coefficients(whole[1:], float(whole[0]), names), errors[0], errors[1], about if ridge is None else RIDGED
    )
    lost = tuple(name for name, one in zip(names, weak[int(intercept) :], strict=True) if one)
    return FittedLine(spread, automatic, lost)


def _solved(found: Squares, many: int, automatic: float, penalty: Floats) -> Solved:
    """Ridge regression in the frame; `penalty` is that of each coefficient in the units of the data."""
    total, turn = found.total, found.turn
    gram, cross = total[:many, :many], total[:many, many]
    weighted = turn[:many, :many] * (penalty / found.units[:many] ** 2)
    stiff = gram + automatic * np.eye(many) + weighted @ turn[:many, :many].T
    least = float(np.linalg.eigvalsh(stiff)[0])
    floor = 1e-9 * float(np.abs(stiff).max())
    inverse = np.linalg.inv(stiff + max(0.0, floor - least) * np.eye(many))
    inverse = (inverse + inverse.T) / 2
    shift = inverse @ (cross + weighted @ turn[many, :many])
    rest = float(total[many, many]) - 2 * float(shift @ cross) + float(shift @ gram @ shift)
    constant = np.linalg.solve(turn, np.eye(len(turn)))[0 if many == len(turn) - 1 else -1]
    counted = max(float(constant @ total @ constant), many + 1.0)  # the sum of weights: how many rows count
    variance = max(rest, found.noise) / max(counted - many, 1.0)
    moved = (1 + float(shift @ shift)) * np.eye(many) + np.outer(shift, shift)
    return Solved(shift, variance * inverse @ _positive(gram) @ inverse, found.noise**2 / 2 * inverse @ moved @ inverse)


def _positive(matrix: Floats) -> Floats:
    """The nearest matrix with no negative eigenvalue."""
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)


def _deviations(way: Floats, covariance: Floats) -> Floats:
    found = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", way, covariance, way), 0.0))
    return np.where(np.isnan(found), math.inf, found)


def _weak(way: Floats, lost: Any, intercept: bool) -> Any:
    """Which coefficients depend on directions that are lost in the noise; the intercept, on any slope that does."""
    share = (way[:, lost] ** 2).sum(axis=1) / np.maximum((way**2).sum(axis=1), 1e-300)
    weak = share > LOST
    if intercept:
        weak[0] = weak.any()
    return weak


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

    >>> from discreet.noise.randomness import Seeded
    >>> import numpy as np
    >>> rows = np.array([[k % 7, 2.0 * (k % 7) + k % 11] for k in range(5000)])
    >>> release = LeastSquares(2.0, 1e-6, names=("x",)).release(rows, Seeded(1))
    >>> bool(abs(release.value["x"] - 2) < 0.1)
    True
    """

    epsilon: Number
    delta: Number
    _: KW_ONLY
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

    guarantee = promised

    @property
    def loss(self) -> Loss:
        """Every draw; where the number of rows is public, once it is known."""
        if self.size is None and self.neighbours.size_is_public:
            return Approximate(self.epsilon, self.delta)
        return self.stages(self.size).loss  # [least_squares.1]

    @property
    def columns(self) -> tuple[DesignColumn, ...]:
        """A row's entries: (1, x, y), or (x, y, 1) where there is no intercept."""
        bounds = self.bounds or (None,) * (len(self.names) + 1)
        named = zip((*self.names, "the outcome"), bounds, strict=True)
        given = tuple(DesignColumn.of(name, pair, centred=self.intercept) for name, pair in named)
        return (CONSTANT, *given) if self.intercept else (*given, CONSTANT)

    def stages(self, size: int | None) -> SquareStages:
        """The costs for a public number of rows, or a private one. [least_squares.2]"""
        unknown = sum(column.place is None for column in self.columns)
        return plan(self.epsilon, self.delta, size, len(self.columns), unknown, centred=self.intercept)

    def needed(self) -> int:
        """The least public number of rows, within a twentieth, that there is an answer for. [least_squares.2]"""
        return least_rows(self.stages)

    def check(self, size: int | None) -> None:
        """Refused, by public numbers, if so many rows are too few. [least_squares.2]"""
        if size is not None and not self.stages(size).enough(size):
            raise Refused(self._too_few(size))

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
            self.guarantee, Provenance("LeastSquares", shown, rng.secure, notes=self.notes), name="linear regression"
        )
        if (refusal := refusal_of(self, size)) is not None:
            return replace(blank, refusal=refusal)
        found = find(self._ready(in_one(table)), self.columns, stages, rng)  # [least_squares.1]
        if isinstance(found, str):  # [least_squares.2]
            return replace(blank, refusal=found)
        line = solve(found, self.names, intercept=self.intercept, ridge=self.ridge)  # [least_squares.3]
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
        noisy = not self.neighbours.size_is_public
        to_do = what_to_do(size, self.epsilon, self.needed(), noisy=noisy, scales=False)
        return (
            f"there are {'about ' if noisy else ''}{size} rows of {len(self.names)} columns and an outcome; their "
            f"regression takes about {show(float(self.needed()))} at this epsilon and delta; {to_do}. Fewer "
            "columns, or columns with public bounds=, need fewer rows"
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
