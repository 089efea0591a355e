"""How many people there are in each cell of two or three columns of categories, with the sums of rows and columns.

Releases
    The categories of the columns for which none are listed, as an open histogram finds them; then a noisy count for
    each combination of categories, and one for whoever is in none. The table shown is the nearest one of whole numbers
    of at least 0 that add up to the same total, or to the public number of people; margins are sums of its cells.
Promise
    [crosstab.1] Pure epsilon where all categories are listed; else (epsilon, delta). Under both relations.
    [crosstab.2] Refusals read public numbers and released categories only.
    [crosstab.3] With at least the stated probability the interval holds all counts of cells and of margins at once,
          those of the categories that were listed or found.
Why
    [crosstab.1] A person is in one cell, by a function of that person's entries and the categories: the counts are a
    histogram on public bins, once the categories are released ([histogram.1], adaptive composition). Each column whose
    categories are found costs an equal part of a quarter of epsilon and of all of delta ([open_histogram.1]); the rest
    of epsilon is for the cells. The parts are exact fractions ([allocation.1]); deltas add up. The table that is shown
    is post-processing.
    [crosstab.2] As `release` reads.
    [crosstab.3] Of K cells and M sums the share K / (K + M) of the allowed error is for the noise of the cells, which
    is independent: [histogram.3]. The others have an equal part each: the sum of k cells has the sum of k independent
    noises, whose distribution is computed from its characteristic function, (1 - a)^2 / (1 - 2 a cos t + a^2) to
    the power of k; the union bound adds them up. A tail below 1e-9 is bounded by the line through two points of its
    logarithm, which is concave as that of each noise is. The categories are released before the counts are drawn, and
    that noise is independent of the cells'. An interval is widened where the shown number is outside.
Needs
    At most 100,000 cells. Categories that are not listed need delta above 0.
Accuracy
    Noise of standard deviation 1.4 / epsilon in each cell (2.8 / epsilon under REPLACE), times sqrt(k) in a sum of k
    cells; 4/3 of that where categories are found.
Source
    Dwork, McSherry, Nissim and Smith 2006; Barak et al. 2007 for margins that agree with the cells, by projection.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.accounting.allocation import Allocation, Share
from discreet.errors import BadInput
from discreet.noise.distributions import LaplaceDistribution
from discreet.privacy.declaration import Columns, Public, category, statistic
from discreet.privacy.exact import Number, exact
from discreet.privacy.guarantee import Guarantee, Neighbours, check_budget
from discreet.privacy.intervals import Interval
from discreet.privacy.loss import Approximate, Laplace
from discreet.privacy.mechanism import Randomness, refusal_of
from discreet.privacy.release import Provenance, Release
from discreet.privacy.values import CrossCounts
from discreet.statistics.density_curve import on_simplex
from discreet.statistics.histogram import Categories, Histogram
from discreet.statistics.open_histogram import OpenHistogram
from discreet.tables.entries import by_name, name, public_size
from discreet.tables.streams import column_of, each, length
from discreet.worlds.assumptions import About, Expected, World
from discreet.worlds.floors import BOUND, bins_floor

FOUND: Final = Fraction(1, 4)  # of epsilon, for all categories that are to be found
MOST: Final = 100_000  # cells
NAMES: Final = ("x", "y", "z")  # of the columns
FINE: Final = 300.0  # standard deviations in steps beyond which a sum of noises is computed on a coarser grid
RARE: Final = 1e-9  # tails below it are extrapolated
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Crosstab:
    """Counts by several columns; of a column whose categories are None they are found.

    >>> from discreet.noise.randomness import Seeded
    >>> yes = Categories.of(["no", "yes"])
    >>> table = Crosstab((yes, yes), 1.0, names=("smokes", "coughs"))
    >>> seen = table.release([("no", "no"), ("yes", "no")] * 500, Seeded(1))
    >>> abs(seen.value["yes", ...] - 500) < 20
    True
    """

    sides: tuple[Categories | None, ...]
    epsilon: Number
    delta: Number = 0.0
    _: KW_ONLY
    names: tuple[str, ...]
    neighbours: Neighbours = Neighbours.ADD_OR_REMOVE
    unit: str = "row"

    def __post_init__(self) -> None:
        check_budget(self.epsilon, self.delta, 1)
        if self.finding and not self.delta:
            unlisted = [one for one, side in zip(self.names, self.sides, strict=True) if side is None]
            raise BadInput(
                f"the categories of {' and '.join(unlisted)} are to be found, which needs delta above 0, say 1e-6; or "
                "list them in categories=, a list for each column"
            )
        if math.prod(len(side) for side in self.sides if side is not None) > MOST:
            raise BadInput(f"the table would have more than {MOST} cells; list fewer categories, or ask of two columns")
        self.finder()

    @property
    def finding(self) -> int:
        """Of how many columns the categories are to be found."""
        return sum(side is None for side in self.sides)

    @property
    def guarantee(self) -> Guarantee:
        """Pure where nothing is to be found, whatever delta was allowed."""
        return Guarantee(self.epsilon, self.delta if self.finding else 0.0, self.neighbours, self.unit)

    @property
    def loss(self) -> Approximate:
        """The categories and the cells. [crosstab.1]"""
        return Approximate(self.epsilon, self.delta if self.finding else 0)  # [crosstab.1]

    @property
    def stages(self) -> Allocation:
        """What finding categories costs, where there are any to find, and the cells. [crosstab.1]"""
        found = Share(FOUND, times=self.finding) if self.finding else None
        return Allocation.of(self.epsilon).split(categories=found, cells=Share())  # [crosstab.1]

    def finder(self) -> OpenHistogram | None:
        """Finds the categories of one column. [crosstab.1]"""
        if not self.finding:
            return None
        cost, delta = self.stages.part("categories", Laplace), exact(self.delta) / self.finding
        return OpenHistogram(cost.epsilon, delta, self.neighbours, self.unit)  # [crosstab.1]

    def check(self, size: int | None) -> None:
        """Refuse so few people that no category could be found. [crosstab.2]"""
        if (finder := self.finder()) is not None:
            finder.check(size)

    def release(self, rows: Any, rng: Randomness) -> Release[CrossCounts]:
        """The table with its margins, or a refusal."""
        names = NAMES[: len(self.sides)]
        columns = by_name(rows, *names)
        size, stages = public_size(columns, self.neighbours), self.stages
        shown = {"columns": self.names, "neighbours": self.neighbours, "rows": size, "costs": stages.shown}
        blank: Release[CrossCounts] = Release(
            self.guarantee, Provenance("Crosstab", shown, rng.secure), name=f"counts by {' and '.join(self.names)}"
        )
        if refusal := refusal_of(self, size):  # [crosstab.2]
            return replace(blank, refusal=refusal)
        sides = [
            shared(self.finder(), column_of(columns, one, object), rng) if side is None else side
            for one, side in zip(names, self.sides, strict=True)
        ]
        empty = [one for one, side in zip(self.names, sides, strict=True) if not len(side)]
        if empty or math.prod(map(len, sides)) > MOST:  # [crosstab.2]
            many = f"the categories that were found make more than {MOST} cells; list fewer"
            few = f"no category of {' or '.join(empty)} is common enough; list them, or ask for a larger epsilon"
            return replace(blank, refusal=few if empty else many)
        shape = tuple(map(len, sides))
        cost = stages.part("cells", Laplace).epsilon
        inner = Histogram(_places(math.prod(shape)), cost, neighbours=self.neighbours, unit=self.unit)
        drawn = inner.release(each(partial(_cells, sides=sides), columns, np.int64), rng)  # [crosstab.1]
        noisy, noise = drawn.spread.noisy, drawn.spread.distribution  # type: ignore[union-attr]
        total = int(noisy.sum()) if size is None else size
        fitted = _whole(noisy, max(0, total))
        table = CrossCounts(
            self.names, tuple(side.names for side in sides), _summed(fitted[:-1], shape), int(fitted[-1])
        )
        spread = TableSpread(table, _summed(noisy[:-1], shape), noise, size)
        return replace(blank, answer=table, spread=spread)


def shared(finder: OpenHistogram | None, values: Any, rng: Randomness) -> Categories:
    """The categories that enough people share, the largest first. [crosstab.1]"""
    assert finder is not None
    keys = tuple(finder.sifted(values, rng))  # [crosstab.1]
    return Categories(keys, tuple(map(name, keys)))


@lru_cache(maxsize=8)
def _places(many: int) -> Categories:
    return Categories.of(range(many))


def _cells(columns: Mapping[str, Any], sides: Sequence[Categories]) -> Integers:
    """The cell of each row; the last for those with an entry that is not listed. [crosstab.1]"""
    outside, cell = np.zeros(length(columns), dtype=np.bool_), np.zeros(length(columns), dtype=np.int64)
    for one, side in zip(NAMES, sides, strict=False):
        place = side.indices(columns[one])
        outside |= place == len(side)
        cell = cell * len(side) + np.minimum(place, len(side) - 1)
    return np.where(outside, math.prod(map(len, sides)), cell)


def _summed(cells: Integers, shape: tuple[int, ...]) -> Integers:
    """The cells and their sums: along each axis one place more."""
    table = cells.reshape(shape)
    for axis in range(len(shape)):
        table = np.concatenate([table, table.sum(axis=axis, keepdims=True)], axis=axis)
    return table.ravel()


def _whole(noisy: Integers, total: int) -> Integers:
    """The nearest numbers of at least 0 with this sum, as whole numbers: what is left goes to the largest fractions."""
    if not total:
        return np.zeros_like(noisy)
    near = on_simplex(noisy / total) * total
    floor = np.floor(near + 1e-9).astype(np.int64)
    spare = total - int(floor.sum())
    order = np.argsort(floor - near, kind="stable")
    floor[order[: max(spare, 0)]] += 1
    if spare < 0:  # rounding of floats gave one too many
        floor[np.argsort(-floor, kind="stable")[:-spare]] -= 1
    return floor


@dataclass(frozen=True, slots=True)
class TableSpread:
    """The error of all cells and sums: noise alone, the table is the target."""

    shown: CrossCounts
    noisy: Integers  # sums included
    distribution: LaplaceDistribution
    size: int | None
    sampling: None = None

    @property
    def terms(self) -> Integers:
        """Of how many cells each number is the sum."""
        shape = tuple(len(side) for side in self.shown.levels)
        return _summed(np.ones(math.prod(shape), dtype=np.int64), shape)

    @property
    def privacy(self) -> CrossCounts:
        """Standard deviation of each number's noise."""
        return self.shown.with_cells(self.distribution.sd * np.sqrt(self.terms))

    def radii(self, confidence: float) -> Integers:
        """How far each number may be off, all at once. [crosstab.3]"""
        terms, allowed = self.terms, 1 - confidence
        cells = len(self.shown)
        found = np.full(len(terms), self.distribution.radius(1 - allowed * cells / len(terms), cells))  # [crosstab.3]
        if cells == 1:
            return found
        sums = np.ones(self.shown.whole.shape, dtype=np.bool_)
        sums[tuple(slice(0, -1) for _ in self.shown.levels)] = False
        for many in np.unique(terms[sums.ravel()]).tolist():
            reach = sum_radius(self.distribution.scale, many, allowed / len(terms))  # [crosstab.3]
            found[sums.ravel() & (terms == many)] = reach
        return found

    def interval(self, confidence: float) -> Interval:
        """For all numbers at once. [crosstab.3]"""
        reach, shown = self.radii(confidence), np.asarray(self.shown.cells)
        low = np.minimum(np.clip(self.noisy - reach, 0, self.size), shown)
        high = np.maximum(np.clip(self.noisy + reach, 0, self.size), shown)
        about = "the counts in this table and their sums, all at once"
        ends = (self.shown.with_cells(low), self.shown.with_cells(high))
        return Interval(*ends, confidence=confidence, about=about, population=False)


@lru_cache(maxsize=256)
def sum_radius(scale: Fraction, many: int, allowed: float) -> int:
    """The least t, or a little more, with P(|Z1 + ... + Zk| > t) <= allowed, of discrete Laplace noises. [crosstab.3]

    >>> from fractions import Fraction
    >>> sum_radius(Fraction(2), 1, 0.05) == LaplaceDistribution(Fraction(2)).radius(0.95)
    True
    """
    wide = float(scale)
    coarse = max(1.0, math.sqrt(2 * many) * wide / FINE)
    coarse = 1.0 if wide / coarse < 5 else coarse  # with few steps in a scale the grid is part of the distribution
    a = math.exp(-coarse / wide)
    deviation = math.sqrt(2 * many) * wide / coarse + 1
    points = 2 ** math.ceil(math.log2(120 * deviation))  # what wraps around is below 1e-20
    turns = 2 * math.pi * np.arange(points // 2 + 1) / points
    transform = np.exp(many * (2 * math.log1p(-a) - np.log(1 - 2 * a * np.cos(turns) + a * a)))
    chances = np.maximum(np.fft.irfft(transform, points)[: points // 2], 0.0)
    beyond = 2 * np.maximum(np.cumsum(chances[::-1])[::-1], 0.0)  # P(|S| >= t) for t >= 1
    reached = int(np.argmax(beyond[1:] <= max(allowed, RARE)))
    if allowed < RARE:
        nearer = int(np.argmax(beyond[1:] <= 100 * RARE))
        slope = math.log(beyond[nearer + 1] / beyond[reached + 1]) / (reached - nearer)
        reached += math.ceil(math.log(RARE / allowed) / slope)
    return reached if coarse == 1.0 else math.ceil((reached + 1) * coarse * (1 + 1e-3))


def _world(about: About) -> World:
    listed = about.given.get("categories")
    if isinstance(listed, list | tuple) and all(hasattr(one, "__len__") for one in listed):
        sides = [len(one) for one in listed]
    else:
        sides = [about.whole("bins", 4, 1, 1000)] * (2 if not isinstance(listed, list | tuple) else len(listed))
        about.say(f"each of {len(sides)} columns has {sides[0]} categories that share the rows alike")
    found = listed is None
    cells = math.prod(sides)

    def names(place: int, codes: Any) -> Any:
        side = None if listed is None else listed[place]
        return codes.astype(str) if side is None else [list(side)[code] for code in codes]

    def make(_: Any, n: int) -> dict[str, Any]:
        codes = np.unravel_index(np.arange(n) % cells, sides)
        return {one: names(place, codes[place]) for place, one in enumerate(("x", "y", "z")[: len(sides)])}

    def expected(release: Any, rows: int, confidence: float | None) -> Expected:
        noise, spread = release.spread.distribution, release.spread
        most = None if confidence is None else float(spread.radii(confidence).reshape(spread.shown.whole.shape).flat[0])
        seen = Expected(error=float(noise.radius(0.5, cells)), half_width=most, privacy=noise.sd, without=0.0)
        if found:
            return replace(seen, floor_note="achieved: categories that few share are not found")
        return replace(seen, floor=bins_floor(rows, float(release.guarantee.epsilon), cells), floor_note=BOUND)

    return World(
        make=make,
        measure="median of the largest error of any cell, against the counts in the table",
        closed=expected,
    )


def _finds(options: Mapping[str, Any], _: Mapping[str, Columns | None]) -> bool:
    listed = options.get("categories")
    return listed is None or (isinstance(listed, list | tuple) and any(one is None for one in listed))


READ: Final = category(streams=True)
OPTIONAL: Final = category(streams=True, optional=True)


@statistic({"x": READ, "y": READ, "z": OPTIONAL}, rows=dict, groups=True, wants_delta=_finds, world=_world)
def crosstab(
    people: Public,
    x: Columns,
    y: Columns,
    *,
    epsilon: Number,
    delta: Number = 0.0,
    z: Columns | None = None,
    categories: Any = None,
) -> Crosstab:
    """How many there are of each combination of the categories of two columns, or three, with sums. Pure.

    `categories` has a public list for each column. Where it is left out, or None stands for a list, the categories that
    enough people share are found: needs delta > 0. Sums agree with the cells, and the interval holds for all cells and
    sums at once. Whoever has a category that is not listed is counted in `other`.

    >>> import discreet
    >>> sex, smokes = ["F", "M"] * 300, ["no", "no", "yes", "no", "no"] * 120
    >>> r = discreet.crosstab(sex, smokes, epsilon=1.0, categories=[["F", "M"], ["no", "yes"]], rng=discreet.Seeded(1))
    >>> r.value["F", "no"] + r.value["F", "yes"] == r.value["F", ...]
    True
    """
    columns = [one for one in (x, y, z) if one is not None]
    if categories is None:
        categories = [None] * len(columns)
    if not isinstance(categories, list | tuple) or len(categories) != len(columns):
        raise BadInput(
            f"categories is {categories!r:.60}; give a list for each of the {len(columns)} columns, or None for one "
            "whose categories are to be found"
        )
    sides = tuple(None if listed is None else Categories.of(listed) for listed in categories)
    names = tuple(one.name for one in columns)
    return Crosstab(sides, epsilon, delta, names=names, neighbours=people.neighbours, unit=people.unit)
