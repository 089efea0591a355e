"""A density with no bounds and no bandwidth given, its distribution function and its quantiles. Pure.

Releases
    Under ADD_OR_REMOVE a noisy count; what the data are rounded to, unless it is declared; without a support three
    quartiles; then one noisy histogram of many narrow cells, with one cell below them, one above and one for missing
    entries. All else is computed from these: the ends, the bins, the heights, the distribution function, bands.
Promise
    [density.1] Pure epsilon under both relations: a share for the quartiles, one for the count, one for the
    granularity, the rest for the cells.
    [density.2] Nothing but the noisy size decides the number of cells, and nothing but quartiles, the granularity and
    parameters their ends.
    [density.3] Band: holds for the shares of people below each end of a cell, all at once, with at least its
          confidence, for independent records of any distribution, if n is public and nothing is missing; otherwise up
          to the error of a count.
    [density.4] For data rounded to multiples of a unit, declared or found, the ends of cells lie half-way between
          multiples, and all cells hold equally many: no comb comes from the rounding.
Why
    [density.1] Quartiles: [quantile.1]. Granularity: [quantile_cells.2]. Count: one person moves it by 1, [additive.1].
    Cells: an entry is in exactly one of them ([histogram.4], after a clamp of each entry by itself), so the counts
    move by 2 in L1 under REPLACE and 1 under ADD_OR_REMOVE; [additive.1]. They are added up: basic composition.
    [density.2] Given the earlier releases the ends and their number are public. Cells at either side in which no block
    of 1, 2, 4, ... shows more than noise are then added up to those below and above: post-processing.
    [density.3] The share of the sample below t is within a of the population's for all t but with probability
    2 exp(-2 n a^2) (Dvoretzky, Kiefer, Wolfowitz; Massart). Let S_k be the sum of the noises of the k cells below an
    end, and Z that of the number missing, which is cut to 0 or more: the divisor N is n less Z or 0, at most n. With p
    the share of the sample below the end, (n p + S_k) / N - p is (S_k + p Z) / N or S_k / N: within the larger of |S_k|
    and |S_k + Z|, over N. These are partial sums of independent symmetric noises in two orders, Z last or first, m of
    them at most: by Levy's inequality all of both are within t but with probability 4 P(|S_m| > t) <=
    8 exp(m psi(l) - l t) for every l, psi the logarithm of the moment generating function of discrete Laplace noise,
    (1 - a)^2 / ((1 - a e^l) (1 - a e^-l)). Sampling and noise get half of 1 - confidence each. The band's ends are made
    to rise from the outside (the upper one by its running maximum): they only widen; and are cut to [0, 1].
Needs
    Independent records, for intervals. Without a support n epsilon of 816, or 612 where n is private: each quartile is
    drawn with 34 nats, of half of epsilon at most; refused otherwise, by the noisy count where n is private. A
    support that is given should hold nearly all; what lies beyond is reported as `below` and `above`.
    Few missing entries, without a support: the quartiles take each for 0, so many of them far from the data make the
    support too wide, and the bins coarse.
    Granularities are those of statistics/quantile.py; values that many share on no such grid make spikes.
Accuracy
    See statistics/density_curve.py.
Source
    Wasserman and Zhou 2010 (private histograms and their rates); Massart 1990.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np

from discreet.accounting.allocation import Allocation, Share
from discreet.errors import BadInput
from discreet.noise.distributions import LaplaceDistribution, laplace_scale
from discreet.noise.order_statistics import ranked
from discreet.privacy.declaration import Columns, Public, Reads, category, number, statistic
from discreet.privacy.exact import Number, exact, is_number, show
from discreet.privacy.guarantee import Neighbours, check_budget
from discreet.privacy.loss import Approximate, Choice, Laplace, Loss
from discreet.privacy.mechanism import Mechanism, Randomness, promised, refusal_of, what_to_do
from discreet.privacy.release import Provenance, Release
from discreet.privacy.values import Density
from discreet.stages.declared import check_bounds, check_granularity
from discreet.statistics.density_curve import CurveSpread, Floats, cells_for, occupied, on_simplex, smoothed, tree
from discreet.statistics.histogram import Categories, Edges, Histogram, counts
from discreet.statistics.open_histogram import OpenHistogram
from discreet.statistics.quantile import Quantile
from discreet.statistics.quantile_cells import NOT_ROUNDED, TIED, find_unit
from discreet.statistics.shares import CategoryShares, shares_world
from discreet.tables.entries import long_numbers, public_size
from discreet.tables.streams import each
from discreet.worlds.assumptions import About, World
from discreet.worlds.shapes import AssumedColumn

COMPARED: Final = 2001  # places at which a forecast compares densities
LARGEST: Final = float(np.finfo(np.float64).max)
COUNTING: Final = Fraction(1, 20)  # of epsilon, for a private n
FINDING: Final = Fraction(1, 40)  # of epsilon, for the granularity; twice that where records are replaced
PLACING: Final = Fraction(1, 5)  # of epsilon for the quartiles; as much as half of it where people are few
QUARTILES: Final = (0.25, 0.5, 0.75)
NATS: Final = 3 * 34 * 4  # three quartiles of a quarter of the people each
MOVE: Final = Fraction(3, 4)  # how far a record more moves the score of a quartile: [quantile.1]
REACH: Final = 9  # the support goes so many quartile distances from the median: 6 standard deviations of normal data
SHARED: Final = 0.001  # quartiles of values that many share, on no grid, are taken to this
FINEST: Final = 2.0**-30  # the least width of a support, in units of its place


@dataclass(frozen=True, slots=True)
class BinnedDensity:
    """The density of a column; `support` are public ends, found in the data if it is None.

    >>> from discreet.noise.randomness import Seeded
    >>> rows = [(index % 1000) / 1000 for index in range(20_000)]
    >>> curve = BinnedDensity(1.0, support=(0, 1)).release(rows, Seeded(1)).value
    >>> 0.9 < curve(0.5) < 1.1
    True
    """

    epsilon: Number
    support: tuple[float, float] | None = None
    neighbours: Neighbours = Neighbours.REPLACE
    unit: str = "row"
    granularity: float | None = None

    def __post_init__(self) -> None:
        check_budget(self.epsilon, 0, None)
        check_bounds(self.support, LARGEST / 4)
        if self.granularity != 0 or isinstance(self.granularity, bool):
            check_granularity(self.granularity, self.support)

    guarantee = promised

    @property
    def loss(self) -> Loss:
        """Pure epsilon, however it is shared out: how much the quartiles get depends on the size, public or noisy."""
        return Approximate(self.epsilon, 0)  # [density.1]

    @property
    def _nats(self) -> Fraction:
        """What the quartiles take, in records times epsilon."""
        return NATS * (Fraction(1) if self.neighbours.size_is_public else MOVE)

    def stages(self, people: int) -> Allocation:
        """The count; and, for so many people as are public or were released, the quartiles and the cells."""
        placing = min(Fraction(1, 2), max(PLACING, self._nats / people / exact(self.epsilon)))
        swap = self.neighbours.size_is_public
        return Allocation.of(self.epsilon).split(
            count=None if swap else Share(COUNTING),
            granularity=Share((1 + swap) * FINDING, Choice) if self.granularity is None else None,
            quartiles=Share(placing, lambda epsilon: Approximate(epsilon, 0)) if self.support is None else None,
            cells=Share(),
        )  # [density.1]

    def check(self, size: int | None) -> None:
        """Refuse too few records for quartiles, where their number is public and no support is."""
        if size is not None and self.support is None:
            self._quartiles(exact(self.stages(max(size, 1)).part("quartiles", Approximate).epsilon)).check(size)

    def _quartiles(self, cost: Fraction, unit: float = 0) -> Quantile:
        return Quantile(QUARTILES, cost, confidence=None, granularity=unit, neighbours=self.neighbours, counted=True)

    def release(self, rows: Any, rng: Randomness) -> Release[Density]:
        """The density; or a refusal for too few records."""
        values = long_numbers(rows)
        size = public_size(values, self.neighbours)
        if self.support is None:  # too small an epsilon is refused before any draw
            self._quartiles(exact(self.epsilon) * PLACING)
        if (refusal := refusal_of(self, size)) is not None:
            return Release(self.guarantee, self._provenance(size, rng), refusal=refusal, name="density")
        people = size
        if people is None:
            cost = self.stages(1).part("count", Laplace)
            people = max(1, rng.blur(len(values), sensitivity=1, cost=cost))  # [density.1]
        stages = self.stages(people)
        filling = stages.part("cells", Laplace)
        unit, ends = exact(self.granularity or 0), self.support
        if "granularity" in stages:
            cost_of_it = stages.part("granularity", Choice)
            unit = find_unit(
                ranked(values, 0.0), 0.0, people, swap=size is not None, cost=cost_of_it, rng=rng
            )  # [density.1]
        if self.support is None:
            placing = exact(stages.part("quartiles", Approximate).epsilon)
            if size is None and people * placing < self._nats:  # by the noisy count
                return Release(self.guarantee, self._provenance(size, rng), refusal=self._few(people), name="density")
            found = self._quartiles(placing, SHARED if unit == TIED else float(unit)).release(
                values, rng
            )  # [density.1]
            low, middle, high = found.value.tolist()
            ends = reach(low, middle, high, max(0.0, float(unit)))
        assert ends is not None
        move = 2 if self.neighbours is Neighbours.REPLACE else 1
        distribution = LaplaceDistribution(laplace_scale(move, filling.epsilon))
        unit = max(unit, NOT_ROUNDED)
        cells = cell_edges(*ends, cells_for(people, distribution.sd**2), unit)  # [density.2] [density.4]
        bins = Edges.of([-LARGEST, *cells.tolist(), LARGEST])
        held = counts(bins, each(_finite, values))
        noisy = rng.blur(held, sensitivity=move, cost=filling).astype(float)  # [density.1]
        return self._shown(cells, noisy, size, distribution, rng, unit)

    def _shown(  # noqa: PLR0917
        self,
        cells: Floats,
        noisy: Floats,
        size: int | None,
        distribution: LaplaceDistribution,
        rng: Randomness,
        unit: Fraction,
    ) -> Release[Density]:
        """Everything from the noisy counts: cells with one below and one above, and the missing last."""
        variance, draws = distribution.sd**2, len(noisy) - 1
        present = max(2.0, noisy[:-1].sum() if size is None else size - max(0.0, noisy[-1]))  # [density.3]
        if self.support is None:
            first, last = occupied(noisy[1:-2], distribution)  # [density.2]
            sides = noisy[: first + 1].sum(), noisy[last + 1 : -1].sum()
            cells, noisy = (
                cells[first : last + 1],
                np.array([sides[0], *noisy[first + 1 : last + 1], sides[1], noisy[-1]]),
            )
        smooth = smoothed(noisy[1:-2], variance)
        shares = on_simplex(np.array([noisy[0], *smooth, noisy[-2]]) / present)
        begin = tree(noisy[1:-2], variance)[1]
        heights = shares[1:-1] / np.diff(cells)
        steps = np.union1d(begin, np.flatnonzero(np.diff(smooth)) + 1)  # a bin ends where the curve or a block does
        curve = Density(
            edges=np.append(cells[steps], cells[-1]),
            heights=heights[steps],
            below=float(shares[0]),
            above=float(shares[-1]),
            fine=cells,
            reached=np.cumsum(shares)[:-1],
        )
        spread = CurveSpread(
            curve=curve, noisy=noisy[:-1], begin=begin, people=present, distribution=distribution, draws=draws
        )  # [density.3]
        notes = [
            f"{draws - 2} cells of {show(float(cells[1] - cells[0]))}, {len(begin)} blocks by their noisy counts",
            f"expected distance in total variation over these blocks: {show(spread.total_variation)}",
        ]
        if shares[0] + shares[-1] > math.sqrt(draws * variance) / present:
            notes.append(f"beyond the ends: {shares[0]:.2%} below, {shares[-1]:.2%} above")
        if unit:
            found = ", as was found privately" if self.granularity is None else ""
            notes.append(f"the data are taken as multiples of {show(unit)}{found}; bins hold whole multiples")
        if noisy[-1] > 5 * distribution.sd:
            notes.append(f"missing entries are left out, about {noisy[-1] / (noisy[-1] + present):.2%}")
        return Release(self.guarantee, self._provenance(size, rng, *notes), curve, spread=spread, name="density")

    def _few(self, people: int) -> str:
        needed = float(2 * self._nats) / float(self.epsilon)
        to_do = what_to_do(people, self.epsilon, needed, "give public ends support=(low, high)", noisy=True)
        return (
            f"about {people} rows, by a noisy count, at epsilon {show(self.epsilon)} are too few to find where they "
            f"lie: n * epsilon is {people * float(self.epsilon):.3g}, about {float(2 * self._nats):.3g} is needed; "
            f"{to_do}"
        )

    def _provenance(self, size: int | None, rng: Randomness, *notes: str) -> Provenance:
        parameters = {
            "support": self.support,
            "granularity": self.granularity,
            "neighbours": self.neighbours,
            "rows": size,
        }
        return Provenance("Density", parameters, rng.secure, notes=notes)


def _finite(piece: Floats) -> Floats:
    found: Floats = np.clip(piece, -LARGEST, LARGEST)
    return found


def reach(low: float, middle: float, high: float, unit: float = 0.0) -> tuple[float, float]:
    """Ends of a support from quartiles: so far on either side as the quartiles there say, and some units."""
    most = LARGEST / 8 / REACH
    low, middle, high = (min(max(place, -most), most) for place in (low, middle, high))
    down, up = middle - low, high - middle
    widest = max(down, up)  # a side whose quartile is the median itself may still have people beyond it
    return middle - REACH * max(down, widest / REACH, unit), middle + REACH * max(up, widest / REACH, unit)


def cell_edges(low: float, high: float, count: int, unit: Fraction) -> Floats:
    """The ends of about so many cells, fewer where a cell would hold less than one multiple of the unit. [density.4]

    >>> cell_edges(0.0, 7.0, 4, Fraction(1)).tolist()
    [-0.5, 1.5, 3.5, 5.5, 7.5]
    """
    low, high = widened(low, high)
    if not unit or not low < float(unit) * 2.0**50 > high > -float(unit) * 2.0**50:
        return np.linspace(low, high, count + 1)
    first, last = math.floor(Fraction(low) / unit + Fraction(1, 2)), math.ceil(Fraction(high) / unit - Fraction(1, 2))
    width = -(-(last - first + 1) // count)  # multiples in a cell
    many = -(-(last - first + 1) // width)
    return np.array([float((first + width * place - Fraction(1, 2)) * unit) for place in range(many + 1)])


def widened(low: float, high: float) -> tuple[float, float]:
    """Wide enough that floats can tell the cells apart."""
    least = FINEST * max(abs(low), abs(high), 1e-290)
    short = max(0.0, least - (high - low)) / 2
    return low - short, high + short


def _reads(options: Mapping[str, Any]) -> Reads:
    return number(streams=True) if options.get("categories") is None else category(streams=True)


def _finds(options: Mapping[str, Any], _: Mapping[str, Columns | None]) -> bool:
    return isinstance(options.get("categories"), str)


def _world(about: About) -> World:
    """Without privacy it is a histogram by the rule of Freedman and Diaconis."""
    listed, support = about.given.get("categories"), about.given.get("support")
    if listed is not None:
        return shares_world(about, listed)
    if isinstance(support, tuple | list) and len(support) == 2 and all(map(is_number, support)):
        about.given["bounds"] = tuple(support)  # for the assumptions only
    entries = AssumedColumn.of(about)
    about.take("bounds", None)
    ends = (support[0], support[1]) if support is not None else (entries.quantile(1e-6), entries.quantile(1 - 1e-6))
    edges = np.linspace(float(ends[0]), float(ends[1]), COMPARED)
    middles, step = (edges[:-1] + edges[1:]) / 2, float(edges[1] - edges[0])
    truth = np.diff(entries.standard.cdf((edges - entries.location) / entries.scale)) / step
    if support is not None:
        truth = truth / (truth.sum() * step)

    def made(g: Any, n: int) -> dict[str, Any]:
        x = entries.draw(g, n)
        if support is None:
            return {"x": x}
        inside = (x >= ends[0]) & (x <= ends[1])
        return {"x": x[inside][np.arange(n) % max(1, int(inside.sum()))]}

    def plain(x: Any) -> Any:
        low, high = np.quantile(x, [0.25, 0.75])
        count = max(1, math.ceil((x.max() - x.min()) / max(2 * (high - low) * len(x) ** (-1 / 3), 1e-300)))
        heights, places = np.histogram(x, min(count, 4 * COMPARED), density=True)
        found = np.searchsorted(places, middles, side="right") - 1
        return np.where((found >= 0) & (found < len(heights)), heights[np.clip(found, 0, len(heights) - 1)], 0.0)

    return World(
        units="",
        make=made,
        truth=truth,
        plain=plain,
        measure="median distance in total variation from the population's density",
        read=lambda curve: np.asarray(curve(middles) if callable(curve) else curve),
        gap=lambda errors, _truth: np.abs(errors).sum(axis=1) * step / 2,
        sums=False,
        rate=1 / 3,
        runs=16,
        most=100_000,
    )


@statistic({"x": _reads}, wants_delta=_finds, world=_world)
def density(
    people: Public,
    x: Columns,
    *,
    epsilon: Number,
    delta: Number = 0.0,
    support: Any = None,
    granularity: float | None = None,
    categories: Any = None,
) -> Mechanism[Any]:
    """How a column is distributed: a density with bins of widths that are found, no bounds needed. Pure.

    The value is a function, with `.edges` and `.heights`, and `.polygon`, `.cdf` and `.quantile`; the release's spread
    has `.band(confidence)` for the distribution function and `.quantile(q, confidence)`. `support` are public ends.
    `granularity` is what the data are rounded to: 1 if the column is declared to hold integers, else found privately,
    for a small part of epsilon; granularity=0 says that they are not rounded. Bins hold whole multiples of it.
    With `categories` (a list) the value gives the share of each; with `categories="open"` those that enough people
    share are found, which needs delta > 0.

    >>> import discreet
    >>> rows = [(0.618 * index) % 50 for index in range(20_000)]
    >>> curve = discreet.density(rows, epsilon=1.0, support=(0, 50), rng=discreet.Seeded(1)).value
    >>> 0.015 < curve(25.0) < 0.025
    True
    """
    terms: dict[str, Any] = {"neighbours": people.neighbours, "unit": people.unit}
    if categories is None:
        given = 1 if granularity is None and x.integers else granularity
        return BinnedDensity(epsilon, support, granularity=given, **terms)
    if support is not None or granularity is not None:
        raise BadInput("both categories and support or granularity are given; a column has the one or the other")
    if isinstance(categories, str) and categories == "open":
        return CategoryShares(OpenHistogram(epsilon, delta, **terms))
    return CategoryShares(Histogram(Categories.of(categories), epsilon, **terms))
