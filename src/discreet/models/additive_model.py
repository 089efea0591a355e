"""An additive model of two classes: for each column a shape of steps, fitted in rounds, as boosted trees of one column.

Releases
    The bins of columns ([column_bins.1]). Then, in each of 12 rounds and once at the end, for every bin of every column
    the noisy sums of its people's residuals and slopes, at the model that follows from the rounds before.
Promise
    [additive_model.1] (epsilon, delta) under both relations.
    [additive_model.2] Refusals read public numbers and released ones only.
    [additive_model.3] With at least the stated probability, asymptotically, the interval of a bin holds what that bin
          would add if the population were to choose it alone, the intercept and all other bins as released; limited.
          Wrong models too, wherever a bin's squared residuals sum to at most DOUBLED times p (1 - p).
Why
    [additive_model.1] Of d columns a row has d bins, in each of which it moves two sums by a vector of length at most
    1: one row added moves all by root d, one replaced by twice that ([binned_scores.1], [binned_scores.2]), at a model
    that was released before. Each round is Gaussian noise on whole numbers of a grid ([additive.2]); sums beyond 2^31
    people are cut, which moves no two of them farther apart. Rounds adapt to what was released, and their mu add up in
    squares, with those of [column_bins.1] and the slack of all draws ([allocation.2]). Models follow from sums.
    [additive_model.2] As the code reads; the number of rows shows in the first round, whose slopes are all 1/2.
    [additive_model.3] At the model that was released, S is the sum of a bin's residuals in the population, V that of
    p (1 - p), times n. What the bin lacks, t, makes residuals sum to 0: S is how much chances grow along t. By
    self-concordance their slope at t is between V e^-|t| and V e^|t|, so that |S| is between V (1 - e^-|t|) and
    V (e^|t| - 1), and bounds on S and V bound t. The sum seen has the noise and the variance of residuals, at most the
    sum of their squares: V where the chances are right, up to 1.5 V in a bin of people for whom another column matters
    less than for the rest (columns that interact strongly), and up to V + |S| in one that lacks much: there the bounds
    on V leave more room than that takes (in the tests 99 of 100 hold for 90). The slopes have half the noise and a
    variance of at most V / 4. Nine tenths of what may fail are of S, the rest of V. That the same people made the model
    does not matter in the limit: it has a fixed number of parameters, in which sums are smooth.
Needs
    delta > 0. Without bounds 72 / epsilon_c rows, as naive Bayes. Classes and categories are listed.
Accuracy
    Noise of root d / mu_r in each sum, mu_r^2 a twenty-second of the whole's, averaged over rounds.
Source
    Nori, Caruana, Bu, Shen and Kulkarni 2021 (boosting with Gaussian noise on histograms of residuals); all columns
    at once, slopes at no further cost, shrinkage by the noise, and intervals are ours.
"""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.accounting.allocation import STRONGEST, Allocation, Share
from discreet.errors import BadInput
from discreet.models.additive_bands import ShapesSpread
from discreet.models.additive_rounds import Rounds
from discreet.models.binned_scores import CELL, ONE, STEPS, binned, scored
from discreet.models.column_bins import (
    Meeting,
    Side,
    by_place,
    check_bins,
    check_rows,
    finding,
    found_bins,
    levels_of,
    sides_of,
    width_of,
)
from discreet.noise.additive import Grid, slack
from discreet.privacy.declaration import Columns, Public, Reads, category, statistic
from discreet.privacy.exact import Number, exact, root_above
from discreet.privacy.guarantee import Guarantee, Neighbours, check_budget
from discreet.privacy.loss import Gaussian, Loss
from discreet.privacy.mechanism import Randomness, refusal_of
from discreet.privacy.release import Provenance, Release
from discreet.privacy.value_shapes import Shapes
from discreet.stages.octaves import column_cost
from discreet.statistics.histogram import MOST_PEOPLE, Categories
from discreet.tables.entries import by_name, public_size
from discreet.tables.kept_rows import kept
from discreet.tables.streams import added, column_of, each, fold
from discreet.worlds.assumptions import About, Expected, World

ROUNDS: Final = 12
CHECKED: Final = Fraction(1, 5)  # of the budget, for the last sums
SEEN: Final = 4.0  # deviations of noise that the people of listed classes must be
MOST_CELLS: Final = 20_000
WIDEST: Final = 1000  # columns
MEDIAN: Final = 0.6745  # of a normal error, in deviations
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class AdditiveModel:
    """Shapes of the columns `names`; rows have the class last. Where a side is None its bins are found.

    >>> from discreet.noise.randomness import Seeded
    >>> rows = [(k % 97 + 30 * (k % 2), k % 2) for k in range(4000)]
    >>> model = AdditiveModel((None,), Categories.of([0, 1]), 1.0, 1e-6, names=("x",))
    >>> model.release(rows, Seeded(1)).value.predict([[5.0], [120.0]]).tolist()
    [0, 1]
    """

    sides: tuple[Side, ...]
    classes: Categories
    epsilon: Number
    delta: Number
    _: KW_ONLY
    names: tuple[str, ...]
    bins: int = 16
    neighbours: Neighbours = Neighbours.ADD_OR_REMOVE
    unit: str = "row"
    size: int | None = None

    def __post_init__(self) -> None:
        check_budget(self.epsilon, self.delta, (self.size or 1) if self.neighbours.size_is_public else None)
        if not self.delta:
            raise BadInput("delta is 0; an additive model adds Gaussian noise and needs delta > 0, say delta=1e-6")
        if not 1 <= len(self.names) <= WIDEST or len(self.names) != len(self.sides):
            raise BadInput(f"there are {len(self.names)} columns; an additive model takes 1 to {WIDEST}")
        if len(self.classes) != 2:
            raise BadInput(f"there are {len(self.classes)} classes; list the two public ones, that of no first")
        check_bins(self.bins)
        if self.cells > MOST_CELLS:
            raise BadInput(f"there would be {self.cells} bins, more than {MOST_CELLS}; list fewer categories or bins")
        self.stages  # noqa: B018  epsilon and delta are within reach

    @property
    def guarantee(self) -> Guarantee:
        """As asked for."""
        return Guarantee(self.epsilon, self.delta, self.neighbours, self.unit)

    @property
    def loss(self) -> Loss:
        """Every draw. [additive_model.1]"""
        return self.stages.loss  # [additive_model.1]

    @property
    def cells(self) -> int:
        """K: bins in all."""
        return sum(width_of(one, self.bins) for one in self.sides)

    @property
    def moved(self) -> int:
        """How far one row moves all sums, squared. [additive_model.1]"""
        return len(self.sides) * (4 if self.neighbours is Neighbours.REPLACE else 1)  # [additive_model.1]

    @property
    def stages(self) -> Allocation:
        """What bins, rounds and the last sums cost. [additive_model.1]"""
        unknown = sum(side is None for side in self.sides)
        sizes = {"unknown": unknown, "cells": self.cells, "moved": self.moved}
        return _stages(self.epsilon, self.delta, neighbours=self.neighbours, **sizes)

    def check(self, size: int | None) -> None:
        """Refuse fewer rows than place the columns, where their number is public. [additive_model.2]"""
        unknown = sum(side is None for side in self.sides)
        spent = {"epsilon": self.epsilon, "delta": self.delta}
        check_rows(size, self.stages, unknown, self.neighbours, **spent)

    def release(self, rows: Any, rng: Randomness) -> Release[Shapes]:
        """The shapes, or a refusal."""
        columns = by_name(rows, *map(str, range(len(self.sides) + 1)))
        size, stages = public_size(columns, self.neighbours), self.stages
        shown = {"columns": self.names, "neighbours": self.neighbours, "rows": size, "costs": stages.shown}
        blank: Release[Shapes] = Release(
            self.guarantee, Provenance("AdditiveModel", shown, rng.secure), name="additive model"
        )
        if refusal := refusal_of(self, size):  # [additive_model.2]
            return replace(blank, refusal=refusal)
        sides = []
        for place, side in enumerate(self.sides):
            terms = (stages, self.bins, self.neighbours, rng)
            sides.append(found_bins(column_of(columns, str(place)), *terms) if side is None else side)
        rounds = Rounds(
            widths=tuple(width_of(side, self.bins) for side in sides),
            ordered=tuple(isinstance(side, Meeting) for side in sides),
            noise=self.noise("round"),
            many=ROUNDS,
        )
        cells = each(partial(binned, sides=tuple(sides), classes=self.classes), columns, dict)
        cells, many = kept(cells, CELL * (len(sides) + 1)), len(self.classes)
        for _ in range(ROUNDS):
            kernel = partial(scored, base=rounds.base, shapes=rounds.shapes, classes=many)
            rounds.take(*self._sums(kernel, cells, "round", rng))
            if rounds.seen < SEEN * rounds.seen_noise:  # [additive_model.2]
                few = "hardly anybody is in a listed class, beside the noise; list other classes, bring more rows, or "
                return replace(blank, refusal=f"{few}ask for a larger epsilon")
        base, shapes = rounds.result()
        last = self._sums(partial(scored, base=base, shapes=shapes, classes=many), cells, "last", rng)
        levels, measured = levels_of(sides)
        cells = np.concatenate(shapes) / STEPS
        value = Shapes(self.classes.names, self.names, levels, measured, cells, base / STEPS)
        spread = ShapesSpread(value, *last, noise=self.noise("last"))  # [additive_model.3]
        notes = (*blank.provenance.notes, *spread.silent)
        return replace(blank, answer=value, spread=spread, provenance=replace(blank.provenance, notes=notes))

    def noise(self, stage: str) -> float:
        """The deviation of the noise on each sum of residuals: public."""
        return float(root_above(self.moved) / exact(self.stages.part(stage, Gaussian).mu))

    def _sums(self, kernel: Any, cells: Any, stage: str, rng: Randomness) -> tuple[Floats, Floats]:
        """Residuals and p (1 - p), added up in each bin, with noise. [additive_model.1]"""
        cost = self.stages.part(stage, Gaussian)
        found = fold(kernel, added, cells)  # [binned_scores.2]
        grid, most = _grid(exact(cost.mu), self.moved), MOST_PEOPLE * ONE
        steps = np.clip(found, -most, most) * (grid.steps(1) // ONE)
        blurred = rng.blur(steps, sensitivity=root_above(self.moved) * grid.steps(1), cost=cost)  # [additive_model.1]
        residuals, slopes = np.split(grid.value(blurred), 2)
        return residuals, slopes / 2


@lru_cache(maxsize=128)
def _stages(
    epsilon: Number, delta: Number, *, unknown: int, cells: int, moved: int, neighbours: Neighbours
) -> Allocation:
    """The draws, by public numbers and by squares of mu, with the slack of each kept. [additive_model.1]"""
    most = Fraction(STRONGEST)
    each = partial(_cost, cells=cells, moved=moved)
    off = (ROUNDS + 1) * each(most).slack + unknown * exact(column_cost(most, neighbours).slack)
    whole = Allocation.of(epsilon, delta, slack=off, lower=True)
    return whole.split(
        **finding(unknown, delta, neighbours), last=Share(CHECKED, each), round=Share(None, each, ROUNDS)
    )  # [additive_model.1]


def _cost(mu: Fraction, cells: int, moved: int) -> Gaussian:
    """The cost of all sums of a round with this mu, their slack included."""
    return Gaussian(mu, slack(2 * cells, int(root_above(moved) / mu / _grid(mu, moved).step)))


def _grid(mu: Fraction, moved: int) -> Grid:
    """Whole numbers of 1 / ONE are whole steps."""
    return Grid(min(1 - ONE.bit_length(), Grid.for_sigma(root_above(moved) / mu, MOST_PEOPLE).exponent))


def _world(about: About) -> World:
    classes = list(about.option("classes", [0, 1]))
    names = about.given.get("names")
    width = about.whole("columns", len(names) if isinstance(names, list | tuple) else 2, 1, WIDEST)
    effect = about.number("effect", 0.5, -1e6, 1e6)
    about.say(f"{width} columns of normal numbers, each of which adds {effect:g} a deviation to the log odds")

    def make(g: Any, n: int) -> dict[str, Any]:
        x = g.standard_normal((n, width))
        yes = x.sum(axis=1) * effect + g.logistic(size=n) > 0
        return {"X": x, "y": np.where(yes, np.array(classes, dtype=object)[1], classes[0])}

    def expected(release: Any, rows: int, confidence: float | None) -> Expected:
        spread = release.spread
        sampling, privacy = (np.array(one.cells)[spread.slopes > 0] for one in (spread.sampling, spread.privacy))
        half = None
        if confidence is not None:
            low, high = spread.interval(confidence)
            half = float(np.median(np.asarray(high.cells) - low.cells)) / 2
        return Expected(
            error=float(np.median(np.hypot(sampling, privacy))) * MEDIAN,
            half_width=half,
            privacy=float(np.median(privacy)),
            without=float(np.median(sampling)) * MEDIAN,
        )

    measure = "median error of what a bin adds to the log odds, over the bins"
    return World(make=make, measure=measure, closed=expected)


@statistic({"X": Reads("any", "several", streams=True), "y": category(streams=True)}, rows=by_place, world=_world)
def additive_model(
    people: Public,
    X: Columns,  # noqa: N803  as scikit-learn calls it
    y: Columns,
    *,
    epsilon: Number,
    delta: Number,
    classes: Sequence[Any],
    bounds: Any = None,
    levels: Mapping[str, Sequence[Any]] | None = None,
    bins: int = 16,
) -> AdditiveModel:
    """An additive model of two classes, as boosted trees of one column each: what the bins of each column add to the
    log odds, with an interval for each bin. No bounds needed; delta > 0.

    `classes` are the two public labels in `y`, that of no first; rows with any other do not count. `levels` lists the
    public categories of columns by name; all other columns are numbers, with `bins` bins. Where these are is found, or
    follows from public `bounds`: a pair for all columns of numbers, or a dictionary by name, as {"age": (0, 90)}. An
    entry that is missing has a bin of its own: give missing="keep" to count such rows. The value predicts:
    `.predict(X)` and `.predict_proba(X)`, which have no interval: ask on rows that were kept apart for the
    `proportion` that is right.

    >>> import discreet
    >>> import numpy as np
    >>> x = np.array([[k % 97, k % 11] for k in range(9000)])
    >>> y = (abs(x[:, 0] - 48) + np.arange(9000) % 40 > 45).astype(int)
    >>> r = discreet.additive_model(x, y, epsilon=2.0, delta=1e-6, classes=[0, 1], rng=discreet.Seeded(1))
    >>> r.value.predict([[5, 3], [48, 3], [95, 3]]).tolist()
    [1, 0, 1]
    """
    sides = sides_of(X, levels, bounds, bins)
    terms: dict[str, Any] = {"neighbours": people.neighbours, "unit": people.unit, "size": people.size}
    return AdditiveModel(sides, Categories.of(classes), epsilon, delta, names=X.names, bins=bins, **terms)
