"""The total of a column: a noisy sum of values within public bounds, or within a range that is found privately.

Releases
    The sum of min(max(x, low), high) over all records plus discrete Laplace noise. Low and high are public bounds, or
    -R and R, R found from two distances from 0 and the numbers of records beyond (stages/reach.py). Then, where the
    number of records is private, a noisy one decides first whether there are enough of them.
Promise
    [sum.1] Pure epsilon under both relations.
    [sum.2] Refusals read public numbers and earlier answers only.
    [sum.3] The interval holds the total of the limited values in this table with at least its confidence, up to the
          rounding of each record to 2^-27 of the larger end.
Why
    [sum.1] A record becomes a whole number of steps by a fixed function of itself and the ends; a missing one is taken
    for 0, then limited too. The function does not fall, so all records lie between the steps of `low` and of `high`:
    one replaced moves the sum by at most their difference, one added or removed by at most the larger of their sizes.
    Then [additive.1]. Without bounds this is adaptively composed with a count of sensitivity 1 ([additive.1]), and is
    the sum for which [reach.1] leaves a part of the rest; the parts are exact fractions of epsilon ([allocation.1]).
    [sum.2] Under REPLACE n is public, and a refusal comes before any draw; under ADD_OR_REMOVE the noisy n decides. A
    range beyond 1e250 is refused after it was released.
    [sum.3] What is blurred is an exact integer, and the noise has the distribution that the interval is read off.
Needs
    With bounds nothing. Without bounds n epsilon of 180, twice that under REPLACE.
Accuracy
    Noise of scale r / epsilon, r the larger end (under REPLACE high - low). Without bounds that of R for half to two
    thirds of epsilon: the values of the few people beyond R count as R.
Source
    The Laplace mechanism of Dwork, McSherry, Nissim and Smith 2006, on integers; for the range see statistics/mean.py.
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from discreet.accounting.allocation import Allocation, Share
from discreet.noise.distributions import LaplaceDistribution, laplace_scale
from discreet.privacy.declaration import Columns, Public, number, statistic
from discreet.privacy.exact import Number, show_range
from discreet.privacy.guarantee import Neighbours, check_budget
from discreet.privacy.intervals import Interval
from discreet.privacy.loss import Approximate, Laplace, Loss
from discreet.privacy.mechanism import Mechanism, Randomness, promised, refusal_of
from discreet.privacy.release import Provenance, Release
from discreet.stages.clip import exact_sums, fitting_bits, noisy_size, steps_of
from discreet.stages.declared import check_bounds
from discreet.stages.reach import Tail, find_tail
from discreet.statistics.mean import COUNT, RankClippedMean
from discreet.statistics.survey_design import SURVEY, survey_rows
from discreet.tables.entries import long_numbers, public_size
from discreet.tables.streams import Floats, Numbers, each
from discreet.worlds.assumptions import About, World
from discreet.worlds.shapes import AssumedColumn

LARGEST = 1e250  # values whose total is a number


@dataclass(frozen=True, slots=True)
class Sum:
    """The total of one column in the table, within public `bounds` or within a range that is found.

    >>> from discreet.noise.randomness import Seeded
    >>> release = Sum(epsilon=1.0, bounds=(0, 100)).release([float(k % 100) for k in range(2000)], Seeded(1))
    >>> 98_000 < release.value < 100_000
    True
    """

    epsilon: Number
    _: KW_ONLY
    bounds: tuple[float, float] | None = None
    neighbours: Neighbours = Neighbours.ADD_OR_REMOVE
    unit: str = "row"

    def __post_init__(self) -> None:
        check_budget(self.epsilon, 0, None)
        check_bounds(self.bounds)

    guarantee = promised

    @property
    def loss(self) -> Loss:
        """Pure epsilon: the draws add up to it. [sum.1]"""
        return Approximate(self.epsilon, 0)

    @property
    def stages(self) -> Allocation:
        """What the number of records costs, where it is private and needed, and the rest. [sum.1]"""
        counted = self.bounds is None and not self.neighbours.size_is_public
        return Allocation.of(self.epsilon).split(size=Share(COUNT) if counted else None, sum=Share())  # [sum.1]

    def check(self, size: int | None) -> None:
        """Refuse so few records that the mean would be refused. [sum.2]"""
        if self.bounds is None:
            RankClippedMean(self.epsilon, self.neighbours).check(size, advised=False)

    def release(self, rows: Any, rng: Randomness) -> Release[float]:
        """The total and the error of its noise, or a refusal."""
        values, stages = long_numbers(rows), self.stages
        size = public_size(values, self.neighbours)
        if self.bounds is not None:
            ends, cost = (float(self.bounds[0]), float(self.bounds[1])), stages.part("sum", Laplace)
            spread = noisy_total(values, ends, cost=cost, neighbours=self.neighbours, rng=rng)  # [sum.1]
            return replace(self.blank(size, rng), answer=spread.estimate, spread=spread)
        seen = noisy_size(values, stages.part("size", Laplace), rng) if size is None else size  # [sum.1]
        return self.counted(values, size, seen, rng)

    def by_group(self, parts: Sequence[Any], rng: Randomness) -> list[Release[float]]:
        """A release for each group, small ones within one range. [pooled.1]"""
        from discreet.statistics.pooled import pooled_sums

        return [self.release(part, rng) for part in parts] if self.bounds is not None else pooled_sums(self, parts, rng)

    def blank(self, size: int | None, rng: Randomness) -> Release[float]:
        """What is known before anything is drawn."""
        shown = {"bounds": self.bounds, "neighbours": self.neighbours, "rows": size, "costs": self.stages.shown}
        return Release(self.guarantee, Provenance("Sum", shown, rng.secure), name="sum")

    def counted(self, values: Numbers, size: int | None, seen: int, rng: Randomness) -> Release[float]:
        """The total without bounds, of records whose number is public or was `seen` with noise. [sum.1]"""
        blank = self.blank(size, rng)
        if refusal := refusal_of(self, seen):  # [sum.2]
            return replace(blank, refusal=refusal)
        return self.within(values, self.searched(values, seen, rng), blank, rng)

    def searched(self, values: Numbers, seen: int, rng: Randomness, times: float = 1.0) -> Tail:
        """How far records are from 0; `times` is the number of totals that share it. [sum.1]"""
        rest, last = self.stages.part("sum", Laplace).epsilon, {"mean": Share()}
        terms: dict[str, Any] = {"size": seen, "neighbours": self.neighbours, "rng": rng, "times": times}
        return find_tail(values, rest, centre=0.0, last=last, **terms)[0]  # [sum.1]

    def within(self, values: Numbers, tail: Tail, blank: Release[float], rng: Randomness) -> Release[float]:
        """The total of records that reach so far. [sum.1]"""
        if tail.radius > LARGEST or tail.rare:  # [sum.2]
            beyond = "the data reach beyond 1e250; rescale them, or give public bounds"
            return replace(blank, refusal=tail.rare or beyond)
        cost, high = tail.stages.part("mean", Laplace), max(tail.radius, 1 / LARGEST)  # [sum.1]
        spread = noisy_total(values, (-high, high), cost=cost, neighbours=self.neighbours, rng=rng)  # [sum.1]
        shown = {**blank.provenance.parameters, "costs": tail.stages.shown}
        provenance = replace(blank.provenance, parameters=shown, notes=(tail.unseen,))
        return replace(blank, answer=spread.estimate, spread=spread, provenance=provenance)


def _limited(piece: Floats, low: float, high: float) -> Floats:
    """Each record by itself, missing ones as 0."""
    return np.clip(np.where(np.isnan(piece), 0.0, piece), low, high)


def noisy_total(
    values: Numbers, ends: tuple[float, float], *, cost: Laplace, neighbours: Neighbours, rng: Randomness
) -> "TotalSpread":
    """The sum of values limited to these ends plus noise. [sum.1]"""
    low, high = ends
    bits, largest = fitting_bits(cost), max(abs(low), abs(high))
    limited = each(partial(_limited, low=low, high=high), values)
    (total,) = exact_sums(limited, 0.0, largest, bits=bits)
    least, most = (int(end) for end in steps_of(np.array([low, high]), 0.0, largest, bits=bits)[0])
    moved = max(1, most - least if neighbours.size_is_public else max(abs(least), abs(most)))  # [sum.1]
    blurred: int = rng.blur(total, sensitivity=moved, cost=cost)  # [sum.1]
    return TotalSpread(blurred, largest / 2**bits, LaplaceDistribution(laplace_scale(moved, cost.epsilon)), ends)


@dataclass(frozen=True, slots=True)
class TotalSpread:
    """The error of a noisy total of whole steps: noise alone, the table is the target. [sum.3]"""

    steps: int
    step: float
    noise: LaplaceDistribution
    ends: tuple[float, float]
    sampling: None = None

    @property
    def estimate(self) -> float:
        """In the data's units."""
        return self.steps * self.step

    @property
    def privacy(self) -> float:
        """Standard deviation of the noise."""
        return self.noise.sd * self.step

    @property
    def scale(self) -> float:
        """Of the noise, in the data's units."""
        return float(self.noise.scale) * self.step

    def interval(self, confidence: float) -> Interval:
        """The noise is within its radius with at least this probability."""
        radius = self.noise.radius(confidence)
        about = f"the total in this table, values limited to {show_range(*self.ends)}"
        low, high = ((self.steps + move) * self.step for move in (-radius, radius))
        return Interval(low, high, confidence=confidence, about=about, population=False)


def _world(about: About) -> World:
    entries = AssumedColumn.of(about)
    return World(
        make=lambda g, n: {"x": entries.draw(g, n)},
        measure="median absolute error, against the total in the table",
        plain=lambda x: x.sum(),
        total=True,
    )


@statistic({"x": number(streams=True), **SURVEY}, rows=survey_rows, groups=True, world=_world)
def sum(  # noqa: A001  the field's word
    people: Public,
    x: Columns,
    *,
    epsilon: Number,
    bounds: tuple[float, float] | None = None,
    weights: Columns | None = None,
    clusters: Columns | None = None,
    strata: Columns | None = None,
    largest_weight: float | None = None,
    design: Any = None,
) -> Mechanism[float]:
    """The total of the values in this table. No bounds needed. Pure.

    Values are limited to the public `bounds`, or to a range around 0 that is found privately and that few records lie
    beyond. The interval is for the total of the limited values; it names the range. With `weights` it is for the total
    of the population that they stand for, and allows for sampling.

    >>> import discreet
    >>> r = discreet.sum([float(hours % 24) for hours in range(4000)], epsilon=1.0, rng=discreet.Seeded(1))
    >>> r.interval(0.999).low <= 45_936 <= r.interval(0.999).high or "once in a thousand"
    True
    """
    from discreet.statistics.survey import surveyed

    terms: dict[str, Any] = {"weights": weights, "clusters": clusters, "strata": strata}
    survey = surveyed(people, "sum", epsilon, bounds, largest_weight=largest_weight, design=design, **terms)
    return survey or Sum(epsilon, bounds=bounds, neighbours=people.neighbours, unit=people.unit)
