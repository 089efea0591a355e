"""Naive Bayes: how many people of each class there are in each bin of each column, and a classifier made of that.

Releases
    For each column of numbers without declared bounds a float64 near its median and the noisy number of rows in each
    octave of the distance from it, from which follow the bins. Then the noisy number of people of each class, and of
    each class in each bin of each column. The classifier is computed from these.
Promise
    [naive_bayes.1] Pure epsilon where delta is 0, else (epsilon, delta); under both relations.
    [naive_bayes.2] Refusals read public numbers and released ones only.
    [naive_bayes.3] With at least the stated probability the interval holds all these numbers of people at once, for the
          bins that were released.
Why
    [naive_bayes.1] [column_bins.1] where bins are found. Given the bins, a row of one of k
    classes is in one class and, for each of d columns, in one bin of that class; any other row is in none. One row
    added moves d + 1 counts by 1, one replaced twice as many: by d + 1 or 2 (d + 1) in L1, and the root of that in L2.
    Then [additive.1], or on a grid of at least 2^20 steps in sigma [additive.2]; rounding is post-processing. The parts
    are exact fractions of epsilon, or of mu squared with the slack of all draws kept ([allocation.1], [allocation.2]).
    [naive_bayes.2] As the code reads; bins by [column_bins.2].
    [naive_bayes.3] The noises are independent and identical, so that [histogram.3] holds for K counts; for Gaussian
    noise half a unit is added for the rounding, and the slack, below 10^-12, is in the confidence. How the bins were
    found does not matter, and nothing is assumed of people.
Needs
    Without bounds 72 / epsilon_c rows, epsilon_c the part of each centre: for 5 columns at epsilon 1 about 1,700 with
    delta 1e-6, 5,800 with delta 0. With bounds none, though the sizes of classes must be above their noise. Classes and
    categories are listed.
Accuracy
    Noise of standard deviation 1.4 (d + 1) / epsilon in each count (twice that under REPLACE), or
    sqrt(d + 1) / mu; half as much again where bins are found.
Source
    Vaidya, Shafiq, Basu and Hong 2013 (naive Bayes of noisy counts); bins without bounds, with one noise for all
    columns, are ours.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, Final

import numpy as np

from discreet.accounting.allocation import STRONGEST, Allocation, Share
from discreet.errors import BadInput
from discreet.models.column_bins import (
    Integers,
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
from discreet.noise.distributions import GaussianDistribution, LaplaceDistribution, laplace_scale
from discreet.privacy.declaration import Columns, Public, Reads, category, statistic
from discreet.privacy.exact import Number, exact, root_above
from discreet.privacy.guarantee import Guarantee, Neighbours, check_budget
from discreet.privacy.intervals import Interval
from discreet.privacy.loss import Approximate, Gaussian, Laplace, Loss
from discreet.privacy.mechanism import Randomness, refusal_of
from discreet.privacy.release import Provenance, Release
from discreet.privacy.values import ClassCounts
from discreet.stages.octaves import column_cost
from discreet.statistics.histogram import MOST_PEOPLE, Categories
from discreet.tables.entries import by_name, public_size
from discreet.tables.streams import added, column_of, fold
from discreet.worlds.assumptions import About, Expected, World
from discreet.worlds.floors import BOUND, bins_floor

SEEN: Final = 4.0  # deviations of noise that the sizes of all classes together must be
MOST_CELLS: Final = 100_000
WIDEST: Final = 1000  # columns


@dataclass(frozen=True, slots=True)
class NaiveBayes:
    """Counts by class of the columns `names`; rows have the class last. Where a side is None its bins are found.

    >>> from discreet.noise.randomness import Seeded
    >>> rows = [(k % 97 + 30 * (k % 2), k % 2) for k in range(4000)]
    >>> model = NaiveBayes((None,), Categories.of([0, 1]), 1.0, names=("x",))
    >>> model.release(rows, Seeded(1)).value.predict([[5.0], [120.0]]).tolist()
    [0, 1]
    """

    sides: tuple[Side, ...]
    classes: Categories
    epsilon: Number
    delta: Number = 0.0
    _: KW_ONLY
    names: tuple[str, ...]
    bins: int = 12
    neighbours: Neighbours = Neighbours.ADD_OR_REMOVE
    unit: str = "row"
    size: int | None = None

    def __post_init__(self) -> None:
        check_budget(self.epsilon, self.delta, (self.size or 1) if self.neighbours.size_is_public else None)
        if not 1 <= len(self.names) <= WIDEST or len(self.names) != len(self.sides):
            raise BadInput(f"there are {len(self.names)} columns; naive Bayes takes 1 to {WIDEST}, each with its bins")
        if len(self.classes) < 2:
            raise BadInput("classes has one class; list two or more public classes")
        check_bins(self.bins)
        if self.cells > MOST_CELLS:
            raise BadInput(f"there would be {self.cells} counts, more than {MOST_CELLS}; list fewer categories or bins")
        self.stages  # noqa: B018  epsilon and delta are within reach

    @property
    def guarantee(self) -> Guarantee:
        """Pure where delta is 0."""
        return Guarantee(self.epsilon, self.delta, self.neighbours, self.unit)

    @property
    def loss(self) -> Loss:
        """Every draw. [naive_bayes.1]"""
        return self.stages.loss if self.delta else Approximate(self.epsilon, 0)  # [naive_bayes.1]

    @property
    def unknown(self) -> int:
        """Of how many columns the bins are found."""
        return sum(side is None for side in self.sides)

    @property
    def cells(self) -> int:
        """K: counts in all."""
        each = [width_of(one, self.bins) for one in self.sides]
        return len(self.classes) * (1 + sum(each))

    @property
    def moved(self) -> int:
        """How many counts one row moves by 1. [naive_bayes.1]"""
        return (len(self.sides) + 1) * (2 if self.neighbours is Neighbours.REPLACE else 1)  # [naive_bayes.1]

    @property
    def stages(self) -> Allocation:
        """What centres, octaves and counts cost. [naive_bayes.1]"""
        sizes = {"unknown": self.unknown, "cells": self.cells, "moved": self.moved}
        return _stages(self.epsilon, self.delta, neighbours=self.neighbours, **sizes)

    @property
    def noise(self) -> LaplaceDistribution | GaussianDistribution:
        """That of each count: public."""
        cost = self.stages["counts"]
        if isinstance(cost, Laplace):
            return LaplaceDistribution(laplace_scale(self.moved, cost.epsilon))
        assert isinstance(cost, Gaussian)
        return GaussianDistribution(float(root_above(self.moved) / exact(cost.mu)))

    def check(self, size: int | None) -> None:
        """Refuse fewer rows than place the columns, where their number is public. [naive_bayes.2]"""
        spent = {"epsilon": self.epsilon, "delta": self.delta}
        check_rows(size, self.stages, self.unknown, self.neighbours, **spent)

    def release(self, rows: Any, rng: Randomness) -> Release[ClassCounts]:
        """The counts, or a refusal."""
        columns = by_name(rows, *map(str, range(len(self.sides) + 1)))
        size, stages = public_size(columns, self.neighbours), self.stages
        shown = {"columns": self.names, "neighbours": self.neighbours, "rows": size, "costs": stages.shown}
        blank: Release[ClassCounts] = Release(
            self.guarantee, Provenance("NaiveBayes", shown, rng.secure), name="naive Bayes"
        )
        if refusal := refusal_of(self, size):  # [naive_bayes.2]
            return replace(blank, refusal=refusal)
        sides = [
            found_bins(column_of(columns, str(place)), stages, self.bins, self.neighbours, rng)
            if side is None
            else side
            for place, side in enumerate(self.sides)
        ]  # [naive_bayes.1]
        counts = fold(partial(counted, sides=sides, classes=self.classes), added, columns)  # [naive_bayes.1]
        noisy = self._blurred(counts, stages, rng)
        many, noise = len(self.classes), self.noise
        if noisy[:many].sum() < SEEN * noise.sd * math.sqrt(many):  # [naive_bayes.2]
            few = "hardly anybody is in a listed class and has a number in each column that is no category, beside the "
            to_do = "noise; list the categories of columns of text (levels=) or other classes, or bring more rows"
            return replace(blank, refusal=f"{few}{to_do}, or a larger epsilon")
        levels, measured = levels_of(sides)
        value = ClassCounts(self.classes.names, self.names, levels, measured, np.clip(noisy, 0, size), noise.sd)
        return replace(blank, answer=value, spread=ClassCountsSpread(value, noisy, noise, size))

    def _blurred(self, found: Integers, stages: Allocation, rng: Randomness) -> Integers:
        """Counts with noise, as whole numbers. [naive_bayes.1]"""
        cost = stages["counts"]
        if isinstance(cost, Laplace):
            return np.asarray(rng.blur(found, sensitivity=self.moved, cost=cost), dtype=np.int64)  # [naive_bayes.1]
        assert isinstance(cost, Gaussian)
        grid = _grid(exact(cost.mu), self.moved)
        steps, sensitivity = np.minimum(found, MOST_PEOPLE) * grid.steps(1), root_above(self.moved) * grid.steps(1)
        blurred = rng.blur(steps, sensitivity=sensitivity, cost=cost)  # [naive_bayes.1]
        return np.asarray(np.rint(grid.value(blurred)), dtype=np.int64)


def counted(given: Iterator[Mapping[str, Any]], *, sides: Sequence[Any], classes: Categories) -> Integers:
    """A kernel: the sizes of classes; then, for each column and each class, of its bins. [naive_bayes.1]"""
    many = len(classes)
    widths = [many, *(many * (side.bins if isinstance(side, Meeting) else len(side) + 1) for side in sides)]
    total = np.zeros(sum(widths), dtype=np.int64)
    for piece in given:
        *columns, outcome = piece.values()
        whose = classes.indices(outcome)
        listed = whose < many
        found = [np.bincount(whose[listed], minlength=many)]
        for column, side, width in zip(columns, sides, widths[1:], strict=True):
            cell = whose * (width // many) + side.indices(column)
            found.append(np.bincount(cell[listed], minlength=width))
        total += np.concatenate(found)
    return total


@lru_cache(maxsize=128)
def _stages(
    epsilon: Number, delta: Number, *, unknown: int, cells: int, moved: int, neighbours: Neighbours
) -> Allocation:
    """The draws, by public numbers: pure, or by squares of mu with the slack of each kept. [naive_bayes.1]"""
    find = finding(unknown, delta, neighbours)  # [naive_bayes.1]
    if not delta:
        return Allocation.of(epsilon).split(**find, counts=Share())  # [naive_bayes.1]
    most = Fraction(STRONGEST)
    off = _counts_cost(most, cells, moved).slack + unknown * exact(column_cost(most, neighbours).slack)
    whole = Allocation.of(epsilon, delta, slack=off, lower=True)
    return whole.split(**find, counts=Share(None, lambda mu: _counts_cost(mu, cells, moved)))  # [naive_bayes.1]


def _counts_cost(mu: Fraction, cells: int, moved: int) -> Gaussian:
    """The cost of all counts with this mu, their slack included."""
    return Gaussian(mu, slack(cells, int(root_above(moved) / mu / _grid(mu, moved).step)))


def _grid(mu: Fraction, moved: int) -> Grid:
    """Whole people are whole steps."""
    return Grid(min(0, Grid.for_sigma(root_above(moved) / mu, MOST_PEOPLE).exponent))


@dataclass(frozen=True, slots=True)
class ClassCountsSpread:
    """The error of all counts: noise alone, the table is the target."""

    shown: ClassCounts
    noisy: Integers
    distribution: LaplaceDistribution | GaussianDistribution
    size: int | None
    sampling: None = None

    @property
    def privacy(self) -> float:
        """Standard deviation of each count's noise."""
        return self.distribution.sd

    def interval(self, confidence: float) -> Interval:
        """For all counts at once. [naive_bayes.3]"""
        radius = self.distribution.radius(confidence, len(self.noisy))  # [naive_bayes.3]
        low, high = (np.clip(self.noisy + off, 0, self.size) for off in (-radius, radius))
        about = "the numbers of people of each class in these bins, all at once"
        ends = self.shown.with_cells(low), self.shown.with_cells(high)
        return Interval(*ends, confidence=confidence, about=about, population=False)


def _world(about: About) -> World:
    classes = list(about.option("classes", [0, 1]))
    names = about.given.get("names")
    width = about.whole("columns", len(names) if isinstance(names, list | tuple) else 2, 1, WIDEST)
    about.say(f"{width} columns of normal numbers, shifted by half a standard deviation from class to class")

    def make(g: Any, n: int) -> dict[str, Any]:
        codes = g.integers(len(classes), size=n)
        named = np.array([classes[code] for code in codes], dtype=object)
        return {"X": g.standard_normal((n, width)) + codes[:, None] / 2, "y": named}

    def expected(release: Any, rows: int, confidence: float | None) -> Expected:
        spread = release.spread
        cells, noise = len(spread.noisy), spread.distribution
        most = None if confidence is None else float(noise.radius(confidence, cells))
        floor = bins_floor(rows, float(release.guarantee.epsilon), cells)
        return Expected(
            error=float(noise.radius(0.5, cells)),
            half_width=most,
            privacy=noise.sd,
            without=0.0,
            floor=floor,
            floor_note=BOUND,
        )

    measure = "median of the largest error of any count, against the counts in the table"
    return World(make=make, measure=measure, closed=expected)


@statistic({"X": Reads("any", "several", streams=True), "y": category(streams=True)}, rows=by_place, world=_world)
def naive_bayes(
    people: Public,
    X: Columns,  # noqa: N803  as scikit-learn calls it
    y: Columns,
    *,
    epsilon: Number,
    classes: Sequence[Any],
    delta: Number = 0.0,
    bounds: Any = None,
    levels: Mapping[str, Sequence[Any]] | None = None,
    bins: int = 12,
) -> NaiveBayes:
    """Naive Bayes: how many people of each class there are in each bin of each column, all with one interval, and a
    classifier made of these counts. No bounds needed.

    `classes` are the public labels in `y`; rows with any other do not count. `levels` lists the public categories of
    columns by name; all other columns are numbers, with `bins` bins. Where these are is found, or follows from public
    `bounds`: a pair for all columns of numbers, or a dictionary by name, as {"age": (0, 90)}. delta > 0 saves much
    where bins of several columns are found. An entry that is missing has a bin of its own: give missing="keep" to count
    such rows. The value predicts: `.predict(X)` and `.predict_proba(X)`. Chances take columns as independent within
    classes; they and predictions have no interval: ask on rows that were kept apart for the `proportion` that is right.

    >>> import discreet
    >>> import numpy as np
    >>> y = np.arange(4000) % 2
    >>> x = np.array([[k % 97 + 30 * (k % 2), k % 11] for k in range(4000)])
    >>> r = discreet.naive_bayes(x, y, epsilon=2.0, delta=1e-6, classes=[0, 1], rng=discreet.Seeded(1))
    >>> r.value.predict([[5.0, 3.0], [120.0, 3.0]]).tolist()
    [0, 1]
    """
    sides = sides_of(X, levels, bounds, bins)
    terms: dict[str, Any] = {"neighbours": people.neighbours, "unit": people.unit, "size": people.size}
    return NaiveBayes(sides, Categories.of(classes), epsilon, delta, names=X.names, bins=bins, **terms)
