"""A life table of people who are watched for some time: events and ends of watching on a public grid, with noise.

Releases
    For each interval of the grid, the noisy number of people who had the event in it and of those whose watching ended
    in it without one; and of those who were watched longer. With groups, of each group.
Promise
    [life_table.1] Pure epsilon under both relations: one person moves the counts by 1 in L1, replaced by 2.
    [life_table.2] Each record is in one cell by a fixed function of itself and of public numbers; none raises.
    [life_table.3] The Kaplan-Meier estimate of the table itself, from its exact times, lies between the products over
         intervals of 1 - d / (R - c) and of 1 - d / R: d events, c ends of watching, R people watched at the beginning.
Why
    [life_table.1] [life_table.2], then [additive.1].
    [life_table.2] The interval is found by a search among public numbers; a time or an event that is missing, or a
    group that is not listed, is the last cell, which is not released.
    [life_table.3] Within an interval the estimate is a product of 1 - k / r over times of k events, r watched people
    before each: R less the events and the ends before it. Each factor grows in r. If all ends came last, r would be
    largest throughout and the product (R - d) / R; if they came first, smallest, and (R - c - d) / (R - c).
Needs
    Public times, above 0 and growing.
Accuracy
    Noise of scale 1 / epsilon on each count, twice that under REPLACE.
Source
    Counts on a grid as in Gondara and Wang 2020; half of the ends before the events as in Cutler and Ederer 1958.
"""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput
from discreet.noise.distributions import LaplaceDistribution, laplace_scale
from discreet.privacy.declaration import Columns
from discreet.privacy.exact import Number, is_number
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Laplace
from discreet.privacy.mechanism import Randomness
from discreet.tables.streams import Stream, cell_counts

MOST: Final = 2000  # intervals
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


def event_in_words(column: Columns, equals: Any) -> str:
    """What counts as the event, by declared kind alone: true, 1, a condition, or an entry that is named.

    >>> event_in_words(Columns(("status",), ("integer",)), None)
    'status == 1'
    """
    name = column.name if column.named else "event"
    if equals is not None:
        return f"{name} == {equals!r}"
    if column.kinds == ("boolean",):
        return name if any(sign in name for sign in "<>=!") else f"{name} is true"
    return f"{name} is true or 1" if column.kinds == ("unknown",) else f"{name} == 1"


@dataclass(frozen=True, slots=True)
class TimeGrid:
    """Public times, and in how many parts the intervals between them are cut.

    >>> TimeGrid.of([2, 4], 2).edges
    (1.0, 2.0, 3.0, 4.0)
    """

    times: tuple[float, ...]
    parts: int

    @classmethod
    def of(cls, times: Any, parts: Any) -> "TimeGrid":
        """From times above 0 that grow."""
        listed = list(times) if isinstance(times, list | tuple | range | np.ndarray) else []
        if not listed or not all(is_number(one) and 0 < one < 1e150 for one in listed):
            raise BadInput(f"times is {times!r:.80}; give public times above 0 in growing order, times=[1, 2, 5] say")
        found = tuple(float(one) for one in listed)
        if any(not one < other for one, other in pairwise(found)):
            raise BadInput("times do not grow; give each once, in growing order")
        if not isinstance(parts, int) or isinstance(parts, bool) or not 1 <= parts * len(found) <= MOST:
            raise BadInput(f"parts is {parts!r}; give in how many parts each interval is cut, a whole number from 1 on")
        return cls(found, parts)

    @property
    def edges(self) -> tuple[float, ...]:
        """The ends of the intervals; the first begins at 0, and each holds its own end."""
        found: list[float] = []
        for low, high in zip((0.0, *self.times), self.times, strict=False):
            found += [low + (high - low) * part / self.parts for part in range(1, self.parts)] + [high]
        return tuple(found)

    def __len__(self) -> int:
        return self.parts * len(self.times)

    def places(self, time: Floats, event: Floats) -> Integers:
        """The cell of each record: events of each interval, then ends, then longer, then none. [life_table.2]"""
        many = len(self)
        with np.errstate(all="ignore"):  # numpy would warn of a signalling NaN
            where = np.searchsorted(np.array(self.edges), time, side="left")
            known = ~(np.isnan(time) | np.isnan(event))
            found = np.where(where >= many, 2 * many, np.where(event != 0, where, many + where))
        return np.where(known, found, 2 * many + 1).astype(np.int64)


def noisy_table(
    cells: Integers | Stream, groups: int, grid: TimeGrid, *, epsilon: Number, neighbours: Neighbours, rng: Randomness
) -> tuple["LifeTable", ...]:
    """The life table of each group; `cells` are numbered group after group, others are nobody's. [life_table.1]"""
    wide = 2 * len(grid) + 1
    counts = cell_counts(cells, groups * wide)
    moved = 2 if neighbours is Neighbours.REPLACE else 1  # [life_table.1]
    noisy = rng.blur(counts, sensitivity=moved, cost=Laplace(epsilon)).astype(float)  # [life_table.1]
    noise = LaplaceDistribution(laplace_scale(moved, epsilon))
    return tuple(LifeTable(noisy[at * wide : (at + 1) * wide], noise) for at in range(groups))


@dataclass(frozen=True, slots=True, eq=False)
class LifeTable:
    """Noisy counts: events of each interval, then ends of watching, then those watched longer."""

    cells: Floats
    noise: LaplaceDistribution

    def __len__(self) -> int:
        return len(self.cells) // 2

    @property
    def events(self) -> Floats:
        """In each interval."""
        found: Floats = self.cells[: len(self)]
        return found

    @property
    def ends(self) -> Floats:
        """In each interval, without an event."""
        return self.cells[len(self) : -1]

    @property
    def watched(self) -> Floats:
        """People watched at the beginning of each interval."""
        each = self.events + self.ends
        found: Floats = np.cumsum(each[::-1])[::-1] + self.cells[-1]
        return found

    @property
    def doubt(self) -> Floats:
        """The standard deviation of the noise on each of them."""
        found: Floats = self.noise.sd * np.sqrt(2.0 * np.arange(len(self), 0, -1) + 1)
        return found

    def enough(self, least: float, times: float) -> int:
        """Up to which interval so many people are watched, and so many times the noise on their number."""
        few = np.flatnonzero(self.watched - self.events - self.ends < np.maximum(least, times * self.doubt))
        return int(few[0]) if len(few) else len(self)

    def log_product(self, share: float, upto: int) -> tuple[Floats, Floats, Floats]:
        """The log of the product of 1 - d / (R - share c) up to each interval, its variance from sampling and from
        noise: to first order."""
        d, c, first = self.events[:upto], self.ends[:upto], self.watched[:upto]
        at_risk = first - share * c
        found = np.cumsum(np.log1p(-d / at_risk))  # [life_table.3]
        slope = d / (at_risk * (at_risk - d))  # of the log factor in the number watched; Greenwood's term too
        sampled = np.maximum.accumulate(np.maximum(np.cumsum(slope), 0.0)) + 1 / at_risk**2
        so_far = np.cumsum(slope)
        of_events, of_ends = so_far - 1 / (at_risk - d), so_far - share * slope
        later = 2.0 * (len(self) - 1 - np.arange(upto)) + 1  # cells after each interval: all have one slope
        squares = np.cumsum(of_events**2 + of_ends**2) + later * so_far**2
        return found, sampled, squares * self.noise.sd**2


def error_sizes(sampled: Floats, noise: Floats) -> tuple[Floats, Floats]:
    """Standard deviations from two variances."""
    return np.sqrt(np.maximum(sampled, 0.0)), np.sqrt(np.maximum(noise, 0.0))


def reach(confidence: float, normal: float, noise: float) -> float:
    """How far a normal error and a sum of Laplace noises reach: taken as normal, or as one Laplace noise, if wider.

    >>> round(reach(0.95, 1.0, 0.0), 2), round(reach(0.95, 0.0, 1.0), 2), round(reach(0.5, 0.0, 1.0), 2)
    (1.96, 2.12, 0.67)
    """
    from discreet.stages.normal_laplace import radius

    return max(radius(confidence, math.hypot(normal, noise), 0.0), radius(confidence, normal, noise / math.sqrt(2)))
