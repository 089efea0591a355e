"""The ratio of two totals, and a rate: events over the time that people were watched. With an interval.

Releases
    The noisy totals A of x and B of y, each limited to public bounds or to a range that is found (stages/reach.py), and
    the noisy sum of squares of x - r y, r = A / B. Before them, without bounds and where the number of records is
    private, that number. What is told is A / B.
Promise
    [ratio.1] Pure epsilon under both relations.
    [ratio.2] Refusals read public numbers and earlier answers only. A total of y that is near 0 is refused.
    [ratio.3] The interval is for the ratio of the population's means of the limited values, in the limit of many
          people: y is never below 0, and its total is so large that the ratio is nearly linear in both.
Why
    [ratio.1] Totals: [sum.1], each after a search for its range if there are no bounds ([reach.1]). Given what was
    released, x - r y of a record is a fixed function of it, no larger than e, the most at the corners of both ranges;
    its square over e^2 is in [0, 1], so that one record more, fewer or other moves the sum by at most 1 ([clip.1]). The
    parts are exact fractions of epsilon ([allocation.1]).
    [ratio.2] As `check` and `release` read.
    [ratio.3] With R the population's ratio, x - R y has mean 0 whatever the number of people is, so that A - R B is a
    sum of independent terms of mean 0 and of noises: its variance is the sum of squares, which is estimated at r, one
    scale of its noise added. The interval holds each R at which A - R B is within the radius of a normal error, and of
    Laplace noise with the variance of both noises, widened where two such noises reach farther ([difference.3]): the
    set of Fieller. B is at least SURE times the largest y and 5 scales of its noise. As sum y^2 <= max y times sum y,
    the sampling error of B is at most B / sqrt(SURE), so that the sum of squares at r is that at R, nearly.
Needs
    B of SURE times the largest y, and more as epsilon falls. Without bounds n epsilon of 430, twice that under REPLACE.
Accuracy
    The sampling error of the ratio, and noise of scale 2.2 hypot(high x, r high y) / (epsilon B).
Source
    Fieller 1954; Cochran 1977, chapter 6 (ratio estimates); the noisy sums are those of statistics/sum.py.
"""

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, Final

import numpy as np

from discreet.accounting.allocation import Allocation, Share
from discreet.errors import BadInput, Refused
from discreet.privacy.declaration import Columns, Public, Reads, boolean, number, stacked, statistic
from discreet.privacy.exact import Number, bisect, exact, is_number, show, show_range
from discreet.privacy.guarantee import Neighbours, check_budget
from discreet.privacy.intervals import Interval
from discreet.privacy.loss import Approximate, Laplace, Loss
from discreet.privacy.mechanism import Randomness, promised, refusal_of, what_to_do
from discreet.privacy.release import Provenance, Release
from discreet.stages.clip import noisy_moment, noisy_size
from discreet.stages.declared import check_bounds
from discreet.stages.normal_laplace import radius
from discreet.stages.reach import NEEDED, Tail, find_tail, sides_moved
from discreet.statistics.difference import stretched
from discreet.statistics.mean import COUNT
from discreet.statistics.sum import LARGEST, TotalSpread, noisy_total
from discreet.tables.entries import public_size
from discreet.tables.matrix import long_matrix
from discreet.tables.streams import column_of, each
from discreet.worlds.assumptions import About, World

RESIDUALS: Final = Fraction(1, 10)  # of epsilon, for the sum of squares
TOTAL: Final = Fraction(42, 100)  # for each total, where the rest counts records
SURE: Final = 20  # times the largest y: below, a total is near 0
NOISES: Final = 5  # scales of its noise that a total must be above that
Ends = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Ratio:
    """The total of the first column over that of the second, times `per`; `bounds` are those of both columns.

    >>> from discreet.noise.randomness import Seeded
    >>> rows = [(float(k % 3), 2.0) for k in range(3000)]
    >>> release = Ratio(1.0, bounds=((0, 2), (0, 4))).release(rows, Seeded(1))
    >>> 0.45 < release.value < 0.55
    True
    """

    epsilon: Number
    _: KW_ONLY
    bounds: tuple[Ends | None, Ends | None] | None = None
    counts: bool = False  # x is not below 0 either: events
    per: float = 1.0
    names: tuple[str, str] = ("x", "y")
    neighbours: Neighbours = Neighbours.ADD_OR_REMOVE
    unit: str = "row"

    def __post_init__(self) -> None:
        check_budget(self.epsilon, 0, None)
        object.__setattr__(self, "bounds", _checked(self.bounds, self.counts))
        if not is_number(self.per) or not 0 < self.per < 1e100:
            raise BadInput(f"per is {self.per!r}; give a number above 0, 1000 for a rate per 1,000")

    guarantee = promised

    @property
    def loss(self) -> Loss:
        """Pure epsilon: the draws add up to it. [ratio.1]"""
        return Approximate(self.epsilon, 0)

    @property
    def _searches(self) -> bool:
        """Whether a range has to be found."""
        return self.bounds is None or None in self.bounds

    @property
    def stages(self) -> Allocation:
        """The number of records, where it is private and needed, both totals, and the squares. [ratio.1]"""
        counted = self._searches and not self.neighbours.size_is_public
        each = TOTAL if counted else (1 - RESIDUALS) / 2
        return Allocation.of(self.epsilon).split(
            size=Share(COUNT) if counted else None, above=Share(each), below=Share(each), residuals=Share()
        )  # [ratio.1]

    def check(self, size: int | None) -> None:
        """Refuse, where ranges are to be found, so few records that they would not be. [ratio.2]"""
        needed = NEEDED * sides_moved(self.neighbours) / TOTAL
        if self._searches and size is not None and size * exact(self.epsilon) < needed:
            noisy = not self.neighbours.size_is_public
            to_do = what_to_do(size, self.epsilon, float(needed / exact(self.epsilon)), noisy=noisy, scales=False)
            raise Refused(
                f"{'about ' * noisy}{size} rows{', by a noisy number,' * noisy} are too few for a ratio without "
                f"bounds: n * epsilon is {size * float(self.epsilon):.3g}, and {float(needed):.3g} is needed; {to_do}. "
                "With public bounds for both columns there is no such limit"
            )

    def release(self, rows: Any, rng: Randomness) -> Release[float]:
        """The ratio and its interval, or a refusal."""
        table = long_matrix(rows, 2)
        values = (column_of(table, 0), column_of(table, 1))
        size, stages = public_size(table, self.neighbours), self.stages
        shown = {"bounds": self.bounds, "neighbours": self.neighbours, "rows": size, "costs": stages.shown}
        word = "rate" if self.counts else "ratio"
        blank: Release[float] = Release(self.guarantee, Provenance("Ratio", shown, rng.secure), name=word)
        totals: list[TotalSpread] = []
        notes: list[str] = []
        seen = noisy_size(table, stages.part("size", Laplace), rng) if "size" in stages else size  # [ratio.1]
        if refusal := refusal_of(self, seen):  # [ratio.2]
            return replace(blank, refusal=refusal)
        for place, part in enumerate(("above", "below")):
            cost, positive = stages.part(part, Laplace), self.counts or part == "below"
            bounds = None if self.bounds is None else self.bounds[place]
            if bounds is None:
                assert seen is not None
                found = self._searched(values[place], cost.epsilon, seen, rng)  # [ratio.1]
                if refusal := _no_range(found, self.names[place]):  # [ratio.2]
                    return replace(blank, refusal=refusal)
                high, cost = max(found.radius, 1 / LARGEST), found.stages.part("mean", Laplace)  # [ratio.1]
                ends, notes = (0.0 if positive else -high, high), [*notes, f"{self.names[place]}: {found.unseen}"]
            else:
                ends = bounds
            totals.append(noisy_total(values[place], ends, cost=cost, neighbours=self.neighbours, rng=rng))  # [ratio.1]
        above, below = totals
        least = SURE * below.ends[1] + NOISES * below.scale  # [ratio.3]
        if below.estimate < least:  # [ratio.2]
            why = f"the total of {self.names[1]} is about {show(max(below.estimate, 0.0))}, too near 0 for a ratio: at "
            why += (
                f"this epsilon it must be {show(least)}. Bring more rows, ask for a larger epsilon, or give narrower "
            )
            return replace(blank, refusal=f"{why}bounds")
        most = _farthest(above, below)
        if not max(most, self.per * most / below.estimate, self.per * abs(above.estimate / below.estimate)) < LARGEST:
            return replace(blank, refusal="the ratio reaches beyond 1e250; rescale the columns")  # [ratio.2]
        error = self._error(table, above, below, rng)  # [ratio.1]
        spread = RatioSpread(above, below, error, float(self.per), self.counts, self.names)
        provenance = replace(blank.provenance, notes=tuple(notes))
        return replace(blank, answer=spread.estimate, spread=spread, provenance=provenance)

    def _searched(self, values: Any, epsilon: Number, seen: int, rng: Randomness) -> Tail:
        """How far a column is from 0. [ratio.1]"""
        terms: dict[str, Any] = {"size": seen, "neighbours": self.neighbours, "rng": rng}
        return find_tail(values, epsilon, centre=0.0, last={"mean": Share()}, **terms)[0]

    def _error(self, table: Any, above: TotalSpread, below: TotalSpread, rng: Randomness) -> float:
        """The root of the noisy sum of squares of x - r y, one scale of its noise added. [ratio.1], [ratio.3]"""
        ratio = above.estimate / below.estimate
        left = each(partial(_residuals, ratio=ratio, ends=(above.ends, below.ends)), table)
        most = _farthest(above, below)  # [ratio.1]
        terms: dict[str, Any] = {"cost": self.stages.part("residuals", Laplace), "neighbours": self.neighbours}
        found = noisy_moment(left, centre=0.0, radius=most, power=2, rng=rng, **terms)  # [ratio.1]
        return most * math.sqrt(max(found.total + found.noise, found.noise))  # [ratio.3]; most^2 may be no float


def _residuals(rows: Any, *, ratio: float, ends: tuple[Ends, Ends]) -> Any:
    """x - r y of each record, both limited. [ratio.1]"""
    x, y = (np.clip(np.where(np.isnan(part), 0.0, part), *pair) for part, pair in zip(rows.T, ends, strict=True))
    return x - ratio * y


def _farthest(above: TotalSpread, below: TotalSpread) -> float:
    """The most that x - r y can be: at the corners of both ranges. [ratio.1]"""
    ratio = above.estimate / below.estimate
    return max(*(abs(a - ratio * b) for a in above.ends for b in below.ends), 1 / LARGEST)


def _checked(bounds: Any, counts: bool) -> tuple[Ends | None, Ends | None] | None:
    """Public bounds of both columns, those of y not below 0; of one of them; or none."""
    if bounds is None:
        return None
    if not isinstance(bounds, list | tuple) or len(bounds) != 2 or any(is_number(pair) for pair in bounds):
        raise BadInput(f"bounds is {bounds!r}; give those of both columns, bounds=[(0, 10), (0, 365)] say")
    for pair in bounds:
        check_bounds(pair, 1e100)
    above, below = (None if pair is None else (float(pair[0]), float(pair[1])) for pair in bounds)
    if below is not None and below[0] < 0:
        raise BadInput(f"bounds of the second column are {bounds[1]!r}; a denominator is not below 0: give (0, high)")
    if counts and above is not None and above[0] < 0:
        raise BadInput(f"bounds of the events are {bounds[0]!r}; their number is not below 0: give (0, high)")
    return above, below


def _no_range(tail: Tail, name: str) -> str | None:
    """Why a column has no range that can be found, if so. [ratio.2]"""
    if tail.rare:
        told = tail.rare.replace("bounds=(low, high)", "bounds for both columns")
        return f"{name}: {told}"
    return f"{name}: the data reach beyond 1e250; rescale them" if tail.radius > LARGEST else None


@dataclass(frozen=True, slots=True)
class RatioSpread:
    """The error of a ratio of two noisy totals. [ratio.3]"""

    above: TotalSpread
    below: TotalSpread
    error: float
    per: float
    counts: bool
    names: tuple[str, str]

    @property
    def estimate(self) -> float:
        """In units of `per`; events are not fewer than none."""
        return max(self._ratio, 0.0) * self.per if self.counts else self._ratio * self.per

    @property
    def _ratio(self) -> float:
        return self.above.estimate / self.below.estimate

    @property
    def sampling(self) -> float:
        """Standard deviation from sampling people."""
        return self.per * self.error / self.below.estimate

    @property
    def privacy(self) -> float:
        """Standard deviation from the noise."""
        return self.per * math.sqrt(2) * self._scale(self._ratio) / self.below.estimate

    def _scale(self, ratio: float) -> float:
        """Of one Laplace noise with the variance of both."""
        return math.hypot(self.above.scale, ratio * self.below.scale)

    def interval(self, confidence: float) -> Interval:
        """Fieller's: every ratio at which the first total less it times the second may be 0. [ratio.3]"""
        wide, normal = stretched(confidence), self.error
        a, b, found = self.above.estimate, self.below.estimate, self._ratio

        def possible(ratio: float) -> bool:
            return abs(a - ratio * b) <= wide * radius(confidence, normal, self._scale(ratio))  # [ratio.3]

        ends = []
        for way in (-1.0, 1.0):
            step = wide * radius(confidence, normal, self._scale(found)) / b
            while possible(found + way * step) and step < LARGEST:
                step *= 2
            ends.append(found + way * bisect(lambda far, way=way: not possible(found + way * far), 0.0, step)[1])  # type: ignore[misc]
        low, high = (self.per * (max(end, 0.0) if self.counts else end) for end in ends)
        ranges = " and ".join(
            f"{name} limited to {show_range(*total.ends)}"
            for name, total in zip(self.names, (self.above, self.below), strict=True)
        )
        unit = f" per {show(self.per)}" if self.counts and self.per != 1 else ""
        about = f"the population's {'rate' if self.counts else 'ratio'}{unit} of {' to '.join(self.names)}, {ranges}"
        return Interval(low, high, confidence=confidence, about=about, population=True)


def _world(about: About) -> World:
    counts = about.statistic.name == "rate"
    bounds = about.given.get("bounds")
    above, below = _checked(bounds, counts) or (None, None)
    most = 1.0 if below is None else below[1] / 2
    mean = about.number("mean_y", most, 0.0, 1e100)
    spread = about.number("sd_y", mean / 2, 0.0, 1e100)
    usual = (2.0 if counts else 1.0) if above is None else above[1] / mean / 4
    true = about.number("ratio", usual, 0.0, 1e100)
    shape, once = (mean / spread) ** 2, counts and bool(about.take("once", above is not None and above[1] <= 1))
    if counts:
        events = f"x is 1 for {min(true * mean, 1.0):g} of the people" if once else "x is Poisson"
        about.say(f"y has mean {mean:g} and deviation {spread:g}; {events}, {true:g} for each unit of y")
    else:
        apart = about.number("residual", true * mean / 2, 0.0, 1e100)
        about.say(f"y has mean {mean:g} and deviation {spread:g}; x is {true:g} y, off by {apart:g}")
    about.given.pop("equals", None)  # made-up events are numbers
    per = float(about.given.get("per", 1.0))

    def make(g: Any, n: int) -> dict[str, Any]:
        y = g.gamma(shape, mean / shape, n)
        if once:
            x = g.random(n) < true * mean
        else:
            x = g.poisson(true * y) if counts else true * y + apart * g.standard_normal(n)
        return {"x": x.astype(float), "y": y}

    return World(make=make, truth=per * true, plain=lambda x, y: per * x.sum() / y.sum(), parts=True)


@statistic({"x": number(streams=True), "y": number(streams=True)}, rows=stacked, groups=True, world=_world)
def ratio(people: Public, x: Columns, y: Columns, *, epsilon: Number, bounds: Any = None) -> Ratio:
    """The total of x over the total of y, with a confidence interval for the population's. No bounds needed. Pure.

    Both columns are limited to public `bounds`, a pair for each, or to ranges that are found privately and that few
    people lie beyond; the interval names them. y is not below 0: what is, counts as 0. A total of y that is near 0 is
    refused.

    >>> import discreet
    >>> cost, visits = [20.0 * (k % 4) + k % 7 for k in range(5000)], [k % 4 for k in range(5000)]
    >>> r = discreet.ratio(cost, visits, epsilon=1.0, bounds=[(0, 100), (0, 5)], rng=discreet.Seeded(1))
    >>> 21 < r.value < 23
    True
    """
    return Ratio(epsilon, bounds=bounds, names=(x.name, y.name), neighbours=people.neighbours, unit=people.unit)


def _events(options: Mapping[str, Any]) -> Reads:
    """Numbers of events, a condition, or what entries are to be equal to."""
    return number(condition=True, streams=True) if options.get("equals") is None else boolean(streams=True)


@statistic({"x": _events, "y": number(streams=True)}, rows=stacked, groups=True, world=_world)
def rate(
    people: Public,
    x: Columns,
    y: Columns,
    *,
    epsilon: Number,
    bounds: Any = None,
    per: float = 1.0,
    equals: Any = None,
) -> Ratio:
    """Events over the time that people were watched, with a confidence interval for the population's rate. Pure.

    x is each person's number of events, 0 or 1 for yes or no, or a condition, "status == 'dead'"; with `equals` an
    event is an entry that is this text, number or date. y is the time; `per=1000` tells events per 1,000 units of time.
    No bounds are needed; public ones, a pair for each column or None, make the answer better. A condition is 0 or 1. A
    total time near 0 is refused.

    >>> import discreet
    >>> falls, years = [k % 10 == 0 for k in range(5000)], [1.0 + k % 3 for k in range(5000)]
    >>> r = discreet.rate(falls, years, epsilon=1.0, bounds=[(0, 1), (0, 3)], per=1000, rng=discreet.Seeded(1))
    >>> 40 < r.value < 60
    True
    """
    terms: dict[str, Any] = {"neighbours": people.neighbours, "unit": people.unit}
    if bounds is None and x.condition:
        bounds = ((0.0, 1.0), None)
    events = x.name if equals is None else f"{x.name} == {equals!r}"
    return Ratio(epsilon, bounds=bounds, counts=True, per=per, names=(events, y.name), **terms)
