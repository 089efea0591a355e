"""Linear regression without bounds: the least-squares coefficients, with standard errors that need no model.

Releases
    The stages of models/newton_stages.py. Coefficients and all errors are computed from what they release.
Promise
    [least_squares.1] (epsilon, delta) under REPLACE and under ADD_OR_REMOVE, by the losses of the stages.
    [least_squares.2] Refusals read public numbers and earlier answers only; no value of the data raises. There are
          coefficients only where each has an interval.
    [least_squares.3] The interval of each coefficient holds the population's coefficient of least squares with nobody's
          influence above a limit that was released, with its confidence, to first order: residuals may be skewed, of
          any variances, and the line need not be the truth. The influence is the score's length in the frame; the
          limit is one that 5 to 15 rows exceed at epsilon 1, by the tail of all others. What they exceed it by, as far
          as that tail tells, is allowed for: so the interval holds the plain coefficient too, unless some are farther
          out than it tells. With weights it is the coefficient of least squares of the population weighted by them,
          and the influence is weighted too; an offset is taken off the outcome.
Why
    [least_squares.1] [newton_stages.1]. What is not listed when no size is declared amounts to (epsilon, delta).
    [least_squares.2] [newton_stages.2] and [newton_stages.3]; too few rows: before any draw where their number is
    public, else by the noisy count.
    [least_squares.3] With g the scores at the point before the last step, H the information and t = H^-1 (sum of g +
    noise) that step, the coefficients' error is H^-1 times: the sum of the scores at the truth, of covariance M = sum
    of g g' (White 1980) to first order; the noise of the sum, sig^2 I; the noise N of H times t, (s^2 / 2) (|t|^2 I + t
    t') for a symmetric matrix of deviations s on the diagonal and s / sqrt 2 off it; and what clipping takes from the
    sum, a vector no longer than the cut scores' excess over T, estimated from their tail ([octaves.2]). Rows pulled in
    H make it too small, by less than a quarter in a direction: so much of t is allowed for. The last two are biases B:
    the half-width is the quantile of |N(B, 1)| in standard errors. What clipping takes from M is added to it, by the
    same tail, and M's noise is sig^2 / 2 or less at epsilon 1: the sum of both is above M. Where steps are averaged,
    each answer's error is of this form at its own t, and that of their average has their average noise, t and excess;
    N is then what is left of the noise on H given both sums (models/pooling.py). With weights g = w u r and H is
    the sum of w u u': the equations are those of weighted least squares, and M is that of survey weights (Binder 1983).
Needs
    models/newton_stages.py. A column that is the same for nearly everybody is refused by its name, and so is one
    that is the same for most where the noise hides the others: its unit would be how far the noisy centre is from the
    value that they share. Truth values that are declared as such need no place and no unit. A row with a missing entry
    does not count, nor one without a weight above 0 where there are weights.
Accuracy
    docs/benchmarks.md: intervals of 1.1 to 3 times the width of robust ones without privacy at n = 5,000 to
    20,000, epsilon = 1. docs/ordinary-data.md: on real tables intervals hold 0.93 (epsilon 0.5) and 0.99 (2) of their
    plain coefficients, and 0.98 and 0.99 of those with the influence limited.
Source
    White 1980; Binder 1983 (survey weights); Armstrong and Kolesar 2020 (intervals that allow for a bias);
    models/newton_stages.py.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Final

import numpy as np

from discreet.accounting.allocation import Share
from discreet.errors import BadInput, Refused
from discreet.models.coefficients import CoefficientSpread, NewtonStep
from discreet.models.design_columns import CONSTANT, DesignColumn
from discreet.models.design_effects import DRAWN, UNLISTED, Between, between, cluster_share, with_clusters
from discreet.models.newton_stages import (
    LOST,
    STIFF,
    NewtonStages,
    find,
    least_rows,
    plan,
)
from discreet.models.weighted import positive
from discreet.privacy.exact import Number, is_number, show
from discreet.privacy.guarantee import Neighbours, check_budget
from discreet.privacy.loss import Approximate, Gaussian, Loss
from discreet.privacy.mechanism import Randomness, promised, refusal_of, what_to_do
from discreet.privacy.release import Provenance, Release
from discreet.privacy.values import Coefficients
from discreet.stages.clip import Floats
from discreet.stages.declared import Bounds, agree, check_bounds, check_size
from discreet.statistics.survey_design import Design
from discreet.tables.kept_rows import FLOAT
from discreet.tables.matrix import long_matrix

ABOUT: Final = "the population's coefficients of least squares, influence limited, each by itself"
RIDGED: Final = "the population's coefficients of least squares with this ridge, influence limited, each by itself"
WIDEST: Final = 2**9  # columns
IDLE: Final = 0.5  # deviations of the outcome for one of a column: a standard error beyond says next to nothing
LIMITED: Final = "(least squares, nobody's influence above {:.2g} times the typical one)"
WEIGHTED: Final = "weighted least squares"


def errors_of(found: NewtonStep, clusters: Between | None = None) -> tuple[Floats, Floats, Floats]:
    """Of each coefficient, from what was released: standard deviations from sampling and from the noise, and the most
    that it may be off beside them. [least_squares.3]"""
    step, way = found.step, found.way @ found.inverse
    sampling, privacy = (np.sqrt(np.einsum("ij,jk,ik->i", found.way, part, found.way)) for part in found.covariances)
    if clusters is not None:  # [design_effects.2]
        drawn, around = clusters.variance(way), (way**2).sum(axis=1)
        alone = np.maximum(np.einsum("ij,jk,ik->i", way, found.squares, way), found.squares_noise * around)
        drawn += (found.beside + clusters.excess) * around * np.maximum(drawn / alone, 1.0)
        sampling = np.sqrt(np.maximum(sampling**2, found.few * drawn))
    bias = found.excess[0] * np.linalg.norm(way, axis=1) + found.pulled * np.abs(found.way @ step)
    return sampling, privacy, bias


def spread_of(
    found: NewtonStep,
    names: tuple[str, ...],
    *,
    intercept: bool,
    about: str,
    target: str,
    clusters: Between | None = None,
) -> CoefficientSpread[Coefficients]:
    """The coefficients and their errors, from what was released. [least_squares.3]"""
    value, (sampling, privacy, bias) = found.value, errors_of(found, clusters)
    if not intercept:
        value, sampling, privacy, bias = (np.append(0.0, part) for part in (value, sampling, privacy, bias))
    found_value = Coefficients(value[1:], float(value[0]), names)
    limit = (found.way, found.limit)
    freedom = math.inf if clusters is None else clusters.design.freedom
    words = target.format(found.often)
    return CoefficientSpread(found_value, sampling, privacy, about, bias, words, limit, freedom)


@dataclass(frozen=True, slots=True)
class LeastSquares:
    """The coefficients of y on the columns of x, rows of (x, y), the outcome last.

    `names` are those of the columns of x; `bounds` public bounds for each of them and the outcome, None where there are
    none; `ridge` adds that times the squared coefficients to the sum of squares. After the outcome rows have their
    `offset`, which is taken off it, and then their weight, where either is True; last the number of their cluster in
    the `clusters`, if there are any.
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
    offset: bool = False
    weights: bool = False
    clusters: Design | None = None
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
            raise BadInput(f"ridge is {self.ridge!r}; give 0, a positive number, or None")
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
        """A row's entries: (1, x, y), or (x, y) where there is no intercept."""
        bounds = self.bounds or (None,) * (len(self.names) + 1)
        named = zip((*self.names, "the outcome"), bounds, strict=True)
        given = [DesignColumn.of(name, pair, centred=self.intercept) for name, pair in named]
        if self.offset:  # what is left of the outcome has no bounds
            given[-1] = DesignColumn("the outcome")
        return (CONSTANT, *given) if self.intercept else tuple(given)

    def stages(self, size: int | None) -> NewtonStages:
        """The costs for a public number of rows, or a private one. [least_squares.2]"""
        unknown = sum(column.place is None for column in self.columns)
        return plan(
            *(self.epsilon, self.delta, size, len(self.columns), unknown),
            centred=self.intercept,
            weighted=self.weights,
            beside=self.by_cluster,
        )

    @property
    def by_cluster(self) -> Share | None:
        """What sums by cluster get, if there are clusters."""
        if self.clusters is None:
            return None
        return cluster_share(len(self.columns) - 1, len(self.clusters.strata), self.neighbours)

    def needed(self) -> int:
        """The least public number of rows, within a twentieth, that there is an answer for. [least_squares.2]"""
        public = self.neighbours.size_is_public
        return least_rows(lambda rows: self.stages(rows if public else None))

    def check(self, size: int | None) -> None:
        """Refused, by public numbers, if so many rows are too few; of a private number, a guess. [least_squares.2]"""
        if size is not None and not self.stages(size if self.neighbours.size_is_public else None).enough(size):
            raise Refused(self._too_few(size))

    def release(self, rows: Any, rng: Randomness) -> Release[Coefficients]:
        """The coefficients with an error bar each, or a refusal."""
        width = len(self.names) + 1 + self.offset + self.weights + (self.clusters is not None)
        table = long_matrix(rows, width, declared="names and an outcome, columns")
        public = self.neighbours.size_is_public
        size = agree(len(table), self.size) if public else None
        if public:
            if not size:
                raise BadInput("the data are empty (0 rows); a regression needs at least 1 row")
            check_budget(self.epsilon, self.delta, size)
        stages = self.stages(size)
        shown = {"neighbours": self.neighbours, "columns": len(self.names), "intercept": self.intercept}
        shown |= {"ridge": self.ridge} | ({"rows": size} if public else {})
        shown |= {name: True for name in ("weights", "offset") if getattr(self, name)}
        shown |= {} if self.clusters is None else {"clusters": len(self.clusters.strata)}
        notes = self.notes if self.clusters is None else (*self.notes, UNLISTED)
        blank: Release[Coefficients] = Release(
            self.guarantee, Provenance("LeastSquares", shown, rng.secure, notes=notes), name="linear regression"
        )
        if (refusal := refusal_of(self, size)) is not None:
            return replace(blank, refusal=refusal)
        wide = FLOAT * (len(self.columns) + self.weights)
        ready, people = with_clusters(table, self._ready, self.clusters, wide)
        del rows, table  # a long table is not held twice
        counted = stages.counted(ready, rng)  # [least_squares.1]
        if not stages.enough(counted):  # [least_squares.2]
            return replace(blank, refusal=self._too_few(round(counted)))
        penalty = np.array([0.0] * self.intercept + [float(self.ridge or 0.0)] * len(self.names))
        with np.errstate(all="ignore"):  # units may be 300 orders of magnitude apart
            found = find(ready, self.columns, stages, penalty, rng, size=counted)  # [least_squares.1]
            if isinstance(found, str):  # [least_squares.2]
                return replace(blank, refusal=found)
            about, target = ABOUT if self.ridge is None else RIDGED, LIMITED
            if self.weights:
                about, target = (words.replace("least squares", WEIGHTED) for words in (about, target))
            clusters = None
            if self.clusters is not None:
                about = f"{about}; {DRAWN}"
                drawn: dict[str, Any] = {
                    "cost": stages.costs.part("clusters", Gaussian),
                    "neighbours": self.neighbours,
                    "rng": rng,
                }
                clusters = between(found, people, self.clusters, **drawn)  # [least_squares.1]
            spread = spread_of(
                found, self.names, intercept=self.intercept, about=about, target=target, clusters=clusters
            )  # [least_squares.3]
            hidden = spread.errors[1:] > IDLE * found.spans[-len(self.names) :]
        if hidden.any() and not self.ridge:  # [least_squares.2]
            return replace(blank, refusal=LOST.format(repr(self.names[int(hidden.argmax())])))
        if not (np.isfinite(spread.value.coef).all() and np.isfinite(spread.errors).all()):  # [least_squares.2]
            return replace(blank, refusal=STIFF)
        return replace(blank, answer=spread.value, spread=spread)

    def _ready(self, table: Floats) -> Floats:
        """A copy with the constant, in the order of `columns`; last the weight, if there is one."""
        many = len(self.names)
        ready = np.column_stack(
            [*[np.ones(len(table))] * self.intercept, table[:, : many + 1], *[table[:, -1]] * self.weights]
        )
        outcome = ready[:, self.intercept + many]
        if self.offset:
            pair = None if self.bounds is None else self.bounds[-1]
            with np.errstate(all="ignore"):
                outcome[:] = (outcome if pair is None else np.clip(outcome, *pair)) - table[:, many + 1]
        if self.weights:
            ready[:, -1] = positive(ready[:, -1])  # [weighted.2]
        return ready

    def _too_few(self, size: int) -> str:
        noisy = not self.neighbours.size_is_public
        count = self.stages(None).costs.part("count", Gaussian) if noisy else None
        off = 3 / float(count.mu) if count else 0.0  # the next count is noisy too
        to_do = what_to_do(size, self.epsilon, self.needed() + off, noisy=False, scales=False)
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
