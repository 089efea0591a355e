"""A survival curve: the share of people without the event at given times, with an interval for each time. Pure.

Releases
    A noisy life table on a public grid (statistics/life_table.py); all else is computed from it: the curve, its
    intervals, and up to which time there are enough people for one.
Promise
    [survival.1] Pure epsilon under both relations ([life_table.1]).
    [survival.2] Which times have no number, and a refusal, follow from the noisy table alone.
    [survival.3] The interval of a time, each by itself, is for the population's share without the event, in the limit
         of many people, if who stops being watched does not depend on when the event would come. It allows for
         sampling, for the noise, and for the order of events and ends within an interval, whatever that is.
Why
    [survival.1] Post-processing.
    [survival.2] A time is shown if so many people are left after each interval up to it as the noise on their number
    could not make up: `LEAST`, and `CLEAR` of its standard deviations.
    [survival.3] The estimate from exact times is between two products ([life_table.3]). The lower end is that of the
    smaller product, the upper end that of the larger one: with Greenwood's variance of its logarithm, 1 / R^2 added, as
    where no event is seen some are possible, and the variance of the noise, to first order. The sum of many noises is
    taken as normal, or as one Laplace noise of their variance, whichever is wider. The curve itself takes half of the
    ends in an interval to be before its events.
Needs
    Some 20 people left at the last time, and 6 standard deviations of the noise on their number.
Accuracy
    Of the logarithm about sqrt(m) / (epsilon R) from the noise of m intervals with R people watched, and half of the
    sum of d c / R^2 from the grid: more `parts` make this smaller, and the noise larger.
Source
    Kaplan and Meier 1958, Greenwood 1926; with noisy counts Gondara and Wang 2020, whose curve has no interval.
"""

from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any, Final

import numpy as np

from discreet.privacy.declaration import Columns, Public, boolean, number, statistic
from discreet.privacy.exact import Number, show
from discreet.privacy.guarantee import Neighbours, check_budget
from discreet.privacy.intervals import Interval
from discreet.privacy.loss import Approximate
from discreet.privacy.mechanism import Randomness, promised
from discreet.privacy.release import Provenance, Release
from discreet.privacy.values import StepCurve
from discreet.statistics.life_table import Floats, LifeTable, TimeGrid, error_sizes, event_in_words, noisy_table, reach
from discreet.tables.entries import public_size
from discreet.tables.matrix import long_matrix
from discreet.tables.streams import each
from discreet.worlds.assumptions import About, World

LEAST: Final = 20.0  # people left at a time that is shown
CLEAR: Final = 6.0  # standard deviations of the noise on their number
CENSORED: Final = "whoever is no longer watched is taken to have the same chances as those who are"


@dataclass(frozen=True, slots=True)
class Survival:
    """The share of people without the event at each of some public times; rows are pairs of a time and an event.

    >>> from discreet.noise.randomness import Seeded
    >>> rows = [(float(k % 10 + 1), k % 3 > 0) for k in range(3000)]
    >>> 0.55 < Survival(TimeGrid.of([2, 5], 4), 1.0).release(rows, Seeded(1)).value(5.0) < 0.75
    True
    """

    grid: TimeGrid
    epsilon: Number
    _: KW_ONLY
    event: str = "true"
    neighbours: Neighbours = Neighbours.ADD_OR_REMOVE
    unit: str = "row"

    def __post_init__(self) -> None:
        check_budget(self.epsilon, 0, None)

    guarantee = promised

    @property
    def loss(self) -> Approximate:
        """One draw for all counts together. [survival.1]"""
        return Approximate(self.epsilon, 0)  # [survival.1]

    def release(self, rows: Any, rng: Randomness) -> Release[StepCurve]:
        """The curve, or a refusal where too few people are watched even up to the first time."""
        pairs = long_matrix(rows, 2)
        size = public_size(pairs, self.neighbours)
        cells = each(partial(_places, grid=self.grid), pairs, np.int64)
        terms: dict[str, Any] = {"epsilon": self.epsilon, "neighbours": self.neighbours, "rng": rng}
        (table,) = noisy_table(cells, 1, self.grid, **terms)  # [survival.1]
        shown = {"times": self.grid.times, "parts": self.grid.parts, "neighbours": self.neighbours, "rows": size}
        blank: Release[StepCurve] = Release(self.guarantee, Provenance("Survival", shown, rng.secure), name="survival")
        return told(blank, table, self.grid, self.event)


def _places(pairs: Floats, *, grid: TimeGrid) -> Any:
    return grid.places(pairs[:, 0], pairs[:, 1])


def told(blank: Release[StepCurve], table: LifeTable, grid: TimeGrid, event: str) -> Release[StepCurve]:
    """The curve of a noisy life table, up to where there are enough people. [survival.2]"""
    known = table.enough(LEAST, CLEAR) // grid.parts  # [survival.2]
    if not known:
        why = f"about {max(0, round(float(table.watched[0])))} people are watched, and too few are left at "
        why += (
            f"{show(grid.times[0])} to tell them from noise. Bring more rows, ask for a larger epsilon, or for earlier"
        )
        return replace(blank, refusal=f"{why} or fewer times")
    spread = SurvivalSpread(table, grid, known, event)
    answer = StepCurve(np.array(grid.times), spread.heights, falls=True)
    notes = [CENSORED]
    if known < len(grid.times):
        notes.append(
            f"from {show(grid.times[known])} on nothing is shown: those who are watched longer than that are too few "
            "to be told from noise; if many are watched up to it, ask for a time a little earlier"
        )
    return replace(blank, answer=answer, spread=spread, provenance=replace(blank.provenance, notes=tuple(notes)))


@dataclass(frozen=True, slots=True, eq=False)
class SurvivalSpread:
    """The error of a survival curve at its first `known` times. [survival.3]"""

    table: LifeTable
    grid: TimeGrid
    known: int
    event: str = "true"

    def _ends(self, share: float) -> tuple[Floats, Floats, Floats]:
        """The log of the product at each time, and its standard deviations from sampling and from noise."""
        upto = self.known * self.grid.parts
        found, sampled, noise = (
            part[self.grid.parts - 1 :: self.grid.parts] for part in self.table.log_product(share, upto)
        )
        return found, *error_sizes(sampled, noise)

    def _all(self, numbers: Floats) -> Floats:
        """With no number for the times that are not shown."""
        return np.append(numbers, np.full(len(self.grid.times) - self.known, np.nan))

    @property
    def heights(self) -> Floats:
        """The curve: half of the ends before the events; never going up."""
        return self._all(np.minimum.accumulate(np.clip(np.exp(self._ends(0.5)[0]), 0.0, 1.0)))

    @property
    def sampling(self) -> Floats:
        """Standard deviations from sampling people."""
        found, sampled, _ = self._ends(0.5)
        return self._all(np.exp(np.minimum(found, 0.0)) * sampled)

    @property
    def privacy(self) -> Floats:
        """Standard deviations from the noise."""
        found, _, noise = self._ends(0.5)
        return self._all(np.exp(np.minimum(found, 0.0)) * noise)

    def interval(self, confidence: float) -> Interval:
        """For each time by itself. [survival.3]"""
        ends = []
        for share, way in ((1.0, -1.0), (0.0, 1.0)):  # [survival.3]
            found, sampled, noise = self._ends(share)
            wide = [reach(confidence, *both) for both in zip(sampled.tolist(), noise.tolist(), strict=True)]
            ends.append(self._all(np.clip(np.exp(np.minimum(found + way * np.array(wide), 0.0)), 0.0, 1.0)))
        about = f"the population's share of people without the event ({self.event}) at each time, each by itself"
        return Interval(ends[0], ends[1], confidence=confidence, about=about, population=True)


def _exact(time: Any, event: Any, times: Any) -> Floats:
    """The Kaplan-Meier estimate without privacy."""
    order = np.argsort(time, kind="stable")
    time, event = np.asarray(time, dtype=float)[order], np.asarray(event, dtype=float)[order]
    distinct, first = np.unique(time, return_index=True)
    deaths = np.add.reduceat(event, first)
    factors = np.cumprod(1 - deaths / (len(time) - first))
    found: Floats = np.append(1.0, factors)[np.searchsorted(distinct, times, side="right")]
    return found


def _world(about: About) -> World:
    times = np.array(TimeGrid.of(about.option("times", [1.0, 2.0, 3.0]), 1).times)
    alive = about.share(0.5, "alive")
    censored = about.share(0.3, "censored")
    about.say(
        f"{alive:g} of the people are without the event at {times[-1]:g}, by a constant rate; {censored:g} of those"
    )
    about.said[-1] += " watched stop being watched before it"
    rates = -np.log([max(alive, 1e-9), max(1 - censored, 1e-9)]) / times[-1]

    def make(g: Any, n: int) -> dict[str, Any]:
        one, other = (g.standard_exponential(n) / max(rate, 1e-12) for rate in rates.tolist())
        return {"time": np.minimum(one, other), "event": one <= other}

    about.given.pop("equals", None)  # made-up events are yes and no
    truth = np.exp(-rates[0] * times)

    def read(curve: Any) -> Floats:
        shares = np.asarray(curve, dtype=float)
        return np.where(np.isnan(shares), truth, shares)  # times that are not shown are no error

    return World(
        units="",
        make=make,
        truth=truth,
        plain=lambda time, event: _exact(time, event, times),
        read=read,
        width=lambda spread, confidence: _widest(spread.interval(confidence)),
        gap=lambda errors, _truth: np.abs(errors).mean(axis=1),
        measure="median of the mean absolute error over the times",
    )


def _widest(bar: Interval) -> float:
    return float(np.nanmax(bar.high - bar.low)) / 2


def _paired(columns: Any) -> Any:
    return np.column_stack([np.asarray(part, dtype=float) for part in columns.values()])


@statistic({"time": number(streams=True), "event": boolean(streams=True)}, rows=_paired, groups=True, world=_world)
def survival(
    people: Public, time: Columns, event: Columns, *, epsilon: Number, times: Any, parts: int = 4, equals: Any = None
) -> Survival:
    """The share of people without the event at each of the public `times`, by Kaplan and Meier, with intervals. Pure.

    `time` is how long a person was watched, `event` whether the event came then or watching ended without it. What
    counts as the event is true in a column of truth values, and 1 in one of numbers, where any other is an end; or what
    `equals` says, or a condition, "status == 2". The interval's first line names it.
    The interval of each time, by itself, allows for sampling and noise, and for what a grid of times hides: `parts` is
    in how many parts the time from one of `times` to the next is cut. The value has `.at` and `.heights`, is called
    with a time, and `.reaches(0.5)` is the median. Times at which too few people are left have no number.

    >>> import discreet
    >>> time, died = [float(k % 10 + 1) for k in range(3000)], [k % 3 > 0 for k in range(3000)]
    >>> r = discreet.survival(time, died, epsilon=1.0, times=[2, 5, 8], rng=discreet.Seeded(1))
    >>> 0.55 < r.value(5.0) < 0.75
    True
    """
    terms: dict[str, Any] = {
        "event": event_in_words(event, equals),
        "neighbours": people.neighbours,
        "unit": people.unit,
    }
    return Survival(TimeGrid.of(times, parts), epsilon, **terms)
