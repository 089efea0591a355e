"""Where to clip data of any shape: two distances from the middle, how many lie beyond, and the tail that they tell of.

Releases
    A median c, or none where the centre is public. `far`: a distance of a grid that about m0 records exceed, with as
    many or more in the three octaves up to it. `body`: one of the grid, at most `far`, that about half of the records
    exceed. `up`, `down` and `near`: the noisy numbers of records above c + far, below c - far, and in those octaves. If
    `far` is 0, one more search for a distance that fewer records exceed, in place of the body. From these follow the
    slope of the tail and a radius R. `past`, where n epsilon and n epsilon^2 are large: the noisy number of records
    farther than R.
Promise
    [reach.1] Pure epsilon under both relations, together with the noise on sums that is drawn with what is left: the
         parts are exact fractions that sum to epsilon, whatever was found.
    [reach.2] A choice on the grid is Choice(epsilon): one record moves no score by more than its sensitivity.
    [reach.3] The shares, m0 and which search comes next read a number of records that is public or was released, what
         is declared, and earlier answers.
    [reach.4] Each side's share of the mean beyond R is at most its `allowance` if its tail beyond `far` is no heavier
         than an exponential distribution of the slope that was found; on the side where all far records are, of 2 to
         2.5 times that slope.
    [reach.5] A mean is `allowed` to be that of all values if 1.5 scales of noise more records than were counted, twice
         as far out as R on average, would move it by no more than a third of half its interval.
Why
    [reach.1] Adaptive composition: [locate.1], [reach.2], three counts of which one record moves one by 1 (two, one up
    and one down, under REPLACE), 1 or 2 in L1, and one more count, which a record moves by 1 under both: [additive.1].
    Each allocation is of the whole epsilon, and two that begin with the same parts differ only after these were
    released ([allocation.1]).
    [reach.2] Let N_j be the number of records at a distance greater than t_j, a grid point, N_-1 infinite, and D_j the
    number of those in the three octaves up to t_j, N_(j-24) - N_j, infinite for t_0. The score of t_j is max(0, N_j -
    m, m - N_(j-1), m - D_j), without the last for the body, cut at a fixed height, plus a number that no record
    changes. Adding a record raises each N_j, and each D_j, by 0 or 1. With m fixed the score moves by at most 1; with
    m = q n, by at most max(q, 1 - q) under ADD_OR_REMOVE, by 1 under REPLACE, as a maximum and a cut are 1-Lipschitz.
    The numbers are the prior's logarithms: e^(-epsilon s / 2D) times the prior is the weight of [choose.3]. If fewer
    than m records differ, 0 has score 0; where data end abruptly after m of them, the first point beyond them has. The
    last term weighs e^-14, or e^-12 in a third of the records, where no data lie: most points may be there, and if m
    records lie beyond, no other term tells these apart.
    [reach.3] As `stages`, `beyond` and `find_tail` read.
    [reach.4] If P(d > far + x) <= P(d > far) e^(-x / a), the mean excess beyond R is at most P(d > far) a
    e^(-(R - far) / a): integrate. Nobody can see fewer than about 1 / epsilon people: the slope is read off the ranks
    between a half and m0, and that the tail goes on so is an assumption, which the release states.
    [reach.5] That assumption is false for many a column, which no slope tells; the number beyond R does. A Pareto tail
    of index 2, the limit of those with a variance, exceeds R by R on average: (R / t)^2 integrates to R. A noisy number
    is too small by 1.5 scales once in nine times. So in tails no heavier the mean is off by a third of half its
    interval at most, and 95% of intervals come to 90% at worst, to 94% if the index is 3; those of other confidence
    lose 5 points at most, being widened where it takes that. Records far beyond 2 R, and too few to be counted, can
    still be missed.
Needs
    n epsilon of 180, twice that under REPLACE, for a centre up to a million standard deviations from 0: 25 nats of
    (share / 2) n epsilon, and 9 near 0; 120 where the mean is declared to be within a hundred: 14 nats. m0 = 28 /
    (share epsilon), or a third of the records.
Accuracy
    R leaves about sqrt(2) b records beyond it, b the scale of the noise on a sum of values in [-1, 1]: there bias and
    noise are of one size. With `past` it is wider, if its noise is still below 0.3 standard errors of sampling. `far`
    overshoots the data once in some 10,000 runs: e^-14 over the prior of one grid point.
Source
    Huang, Liang and Yi 2021, Dong and Yi 2023 search for the clip that balances bias and noise; here two ranks
    extrapolate to it, as one so far out cannot be searched among all floats.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.accounting.allocation import Allocation, Share
from discreet.noise.choose_float import short_numbers
from discreet.privacy.exact import Number, exact, show, show_beside
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Choice, Laplace
from discreet.privacy.mechanism import Randomness
from discreet.stages.clip import enough, fitting_bits
from discreet.stages.distance_grid import LN2, PARTS, TOP, Distances, body_prior, edge, far_prior, on_edge
from discreet.stages.locate import middle
from discreet.tables.streams import Numbers

NEEDED: Final = 180  # n epsilon, per unit of what one person moves
NEARBY: Final = 120  # the same where the mean is declared to be near 0
NATS: Final = 14  # m0 = 2 NATS / epsilon: an overshoot of all records weighs e^-14
PLACED, SPREAD, INNER = 60, 300, 40  # n epsilon that the centre, the far distance and the body would like
AGAIN: Final = Fraction(1, 4)  # the share of a second search, where nearly all records are at the centre
SIDES, SQUARE = Fraction(1, 20), Fraction(1, 20)
TELLING, TOLD = 900, 1000  # n epsilon and n epsilon^2, per unit of what one person moves, to ask who is beyond it
PAST, MOST_PAST = Fraction(1, 4), Fraction(1, 2)  # of what is left for sums
SCALES: Final = 1.5  # of the noise on that number: so many more may be there
SHIFT: Final = 1 / 3  # of half an interval, by which those beyond the radius may move the mean
QUIET, USUAL = 0.3, 1.25  # standard errors of noise that go unnoticed; median distances in a deviation, at least
GRAIN: Final = 384  # parts of a record in which scores are counted: halves and thirds are whole
ENDED: Final = 0.4  # of the records expected beyond the far distance
FEW: Final = 0.02  # of all records: if no more may differ from the centre it stands for them
BEFORE: Final = 3 << PARTS  # grid points: the octaves up to the far distance, where there must be data too
CLEAR: Final = 3  # scales of noise on a count: so many records are not nobody
CUT: Final = 100  # nats at which scores are cut
ENDLESS: Final = "the data reach beyond 1e299; rescale them, or give public bounds"
RARE: Final = (
    "all but {} of about {} people have the value {}: too few differ to see how far. Ask for the share of those who "
    "differ (proportion), give public bounds=(low, high), bring more rows, or ask for a larger epsilon"
)
Steps = npt.NDArray[np.int64]


def stages(
    epsilon: Number,
    size: int,
    neighbours: Neighbours,
    *,
    placed: bool = False,
    near_zero: bool = False,
    again: bool = False,
    last: Mapping[str, Share | None] | None = None,
) -> Allocation:
    """The costs of the search and, with what is left, those of the sums: unless others are given, a mean and a square.
    `size` is public or was released, and so is the centre where it is `placed`; `near_zero` is public. [reach.3]"""
    moved = sides_moved(neighbours)
    most = "7/25" if near_zero else "19/100" if moved == 1 else "1/4"
    search: dict[str, Share | None] = {
        "centre": None if placed else Share(_share(PLACED * moved, size, epsilon, "1/25", most), Choice),
        "scale": Share(_share(SPREAD, size, epsilon, "3/20", "7/25"), Choice),
        "again": Share(AGAIN, Choice) if again else None,
        "body": None if again else Share(_share(INNER * moved, size, epsilon, "3/100", "3/50"), Choice),
        "sides": Share(2 * SIDES if again else SIDES),
    }
    if last is None:
        left = 1 - SQUARE - sum(share.of for share in search.values() if share and share.of)
        each = exact(epsilon) / moved
        asked = size * each >= TELLING and size * each**2 >= TOLD
        past = Share(left * min(PAST + size * each**2 / 10_000, MOST_PAST)) if asked else None
        last = {"past": past, "square": Share(SQUARE), "mean": Share()}
    return Allocation.of(epsilon).split(**search, **last)  # [reach.1]


def _share(nats: int, size: int, epsilon: Number, least: str, most: str) -> Fraction:
    return enough(nats, size, epsilon, Fraction(least), Fraction(most))


def beyond(cost: Choice, size: int) -> tuple[int, bool]:
    """m0, and whether it is a third of the records, as these are few. [reach.3]"""
    fixed = math.ceil(2 * NATS / exact(cost.epsilon))
    return (fixed, False) if 3 * fixed <= size else (max(1, size // 3), True)


def sides_moved(neighbours: Neighbours) -> int:
    """How far one person moves counts of disjoint sets, in L1, and a sum of values in [-1, 1]. [reach.1]"""
    return 2 if neighbours is Neighbours.REPLACE else 1


@dataclass(frozen=True, slots=True)
class Tail:
    """What was found; all of it was released, or is public.

    `beyond` records are expected to be further than `far`, `up` and `down` were counted, and `near` in the octaves
    before it, with noise of scale `doubt`, and `past` beyond the radius, if that was asked; `body` is 0 where at least
    half of the records are at the centre, `far` where nearly all are. `size` is the number of records, `noise` the
    scale of the noise on a sum of values in [-1, 1], and `stages` what search and sums cost.
    """

    centre: float
    far: float
    body: float
    beyond: int
    up: float
    down: float
    near: float
    doubt: float
    size: int
    noise: float
    stages: Allocation
    past: float | None = None

    @property
    def endless(self) -> bool:
        """Whether the far distance is the last of the grid."""
        return self.far >= edge(TOP - 1)

    @property
    def rare(self) -> str | None:
        """Why there is no telling how far the data reach: nearly all are at the centre, and others may be; or hardly
        any lie between it and the far distance, so that it is chance where this fell before those who differ."""
        most = self.counted + SCALES * self.doubt
        clear = self.far > 0 or self.counted > 5 * self.doubt
        if self.body or (self.near >= CLEAR * self.doubt if self.far else not clear and most <= FEW * self.size):
            return None
        differ = f"about {round(self.counted)}" if clear else f"hardly more than {round(most)}"
        return RARE.format(differ, self.size, show(self.centre))

    @property
    def unseen(self) -> str:
        """Who can leave no trace, in words."""
        return (
            f"a group of fewer than about {self.beyond} people more than {show(self.far)} away from "
            f"{show(self.centre)} can be invisible, however far away they are"
        )

    @property
    def counted(self) -> float:
        """The number of records beyond `far`, as counted."""
        return max(self.up, 0.0) + max(self.down, 0.0)

    @property
    def ended(self) -> bool:
        """Whether so few are beyond `far` that it is the end of the data, or an atom before it."""
        return self.counted <= ENDED * self.beyond

    @property
    def side(self) -> float:
        """From -1, all far records lie below, to 1, all above."""
        return (max(self.up, 0.0) - max(self.down, 0.0)) / max(self.counted, self.doubt, self.beyond / 2)

    @property
    def _depth(self) -> float:
        """ln(n / m0)."""
        return max(math.log(self.size / self.beyond), LN2 + 0.1)

    @property
    def flatter(self) -> float:
        """By how much the tail is flatter than the body, about 1 for an exponential distribution."""
        return self._local * LN2 / self.body if self.body else math.inf

    @property
    def heavier(self) -> float:
        """The same, from 1 to 2."""
        return min(2.0, max(1.0, self.flatter))

    @property
    def _local(self) -> float:
        """The slope between a half and m0: by how much distances grow as ranks fall by a factor of e."""
        rise = self._depth - LN2
        if not self.body:
            slope = self.far / rise
        elif self.body >= self.far:
            slope = self.body / 2
        else:
            slope = max((self.far - self.body) / rise, self.body / 5)
        return min(slope, min(2.0, 0.8 + 0.35 * self._depth) * self.far / self._depth)

    @property
    def slope(self) -> float:
        """The slope beyond `far`: that before it, steeper where the tail is heavy, or on one side (there distances
        mix a tail with what the other side has at the centre); the more so, the less of the tail was seen."""
        near = min(1.0, 1.7 / self._depth)
        lopsided = max(0.0, abs(self.side) - 1.5 * self.doubt / self.beyond)
        grown = self.heavier**near if self.body else 1.0
        return self._local * grown * (1 + 1.2 * near * lopsided)

    @property
    def steeper(self) -> float:
        """How many times that slope is allowed for where all far records are on one side."""
        return 1.5 + self.heavier / 2

    @property
    def radius(self) -> float:
        """Where bias and noise are of one size; at most 8 `far`, less if little was seen. [distance_grid.2]"""
        left = max(self.counted, self.doubt / 4) if self.ended else self.beyond
        further = self.slope * max(0.0, math.log(left / (math.sqrt(2) * self.noise)))
        return on_edge(min(min(8.0, 4.5 * self._depth) * self.far, max(self.far + further, self._quiet)))

    @property
    def _quiet(self) -> float:
        """A radius whose noise is small beside the sampling error; 0 where nothing would be gained."""
        if "past" not in self.stages or self.ended or not self.far:
            return 0.0
        body, a = self.body / self.far, self.slope / self.far
        squares = body**2 / 2 + self.beyond / self.size * (1 + 2 * a + 2 * a**2)
        return QUIET * max(USUAL * body, math.sqrt(squares)) * math.sqrt(self.size / 2) / self.noise * self.far

    @property
    def hardly(self) -> float | None:
        """Hardly more records than this are beyond the radius; None where nobody asked. [reach.5]"""
        scale = 1 / float(self.stages.part("past", Laplace).epsilon) if "past" in self.stages else 0.0
        return None if self.past is None else max(self.past, 0.0) + SCALES * scale  # [reach.5]

    def allowed(self, half: float) -> dict[str, Any] | None:
        """How far the mean may be below and above that of clipped values, and what those beyond the radius may move it
        more, with half such an interval for 95%; None: too far."""
        if self.hardly is None or (shift := self.hardly / self.size * self.radius) > SHIFT * half:  # [reach.5]
            return None
        below, above = self.allowance
        return {"below": below, "above": above, "shift": shift}

    @property
    def limited(self) -> dict[str, Any]:
        """What an interval for the clipped values alone is about, and the words for its first line."""
        ends = self.centre - self.radius, self.centre + self.radius
        low, high = (show_beside(end, *ends) for end in ends)
        target = f"after limiting values to between {low} and {high}"
        return {"about": f"the population's mean {target}", "target": target}

    def outside(self, shift: float, deviation: float) -> bool:
        """Whether the centre cannot be the median of records of this deviation whose mean is so far from it."""
        return shift >= 0.75 * self.far and (self.body >= 0.8 * self.far or shift >= 1.4 * deviation)

    @property
    def allowance(self) -> tuple[float, float]:
        """How far it may be below and above if the tail is exponential beyond `far`. [reach.4]"""
        share = max(self.counted, self.doubt) if self.ended else self.beyond

        def excess(slope: float) -> float:
            return share / self.size * slope * math.exp(-(self.radius - self.far) / slope)

        both, one = excess(self.slope) / 2, excess(self.slope * self.steeper)
        return both + max(-self.side, 0.0) * one, both + max(self.side, 0.0) * one


def find_tail(
    values: Numbers,
    epsilon: Number,
    *,
    size: int,
    neighbours: Neighbours,
    rng: Randomness,
    centre: float | None = None,
    by: str = "mean",
    last: Mapping[str, Share | None] | None = None,
    times: float = 1.0,
    near_zero: bool = False,
) -> tuple[Tail, Distances]:
    """A centre, unless a public one is given, and the tail seen from it. `last` are what the sums shall cost instead of
    "mean" and "square"; the radius is for the noise of the one named by `by`, or for `times` as much, as where each of
    several groups has such a sum. `near_zero` is what is declared. With the private table of the sums. [reach.1]"""
    moved, placed = sides_moved(neighbours), centre is not None
    shared: dict[str, Any] = {"placed": placed, "near_zero": near_zero, "last": last}
    plan = stages(epsilon, size, neighbours, **shared)
    if centre is None:
        cost = plan.part("centre", Choice)
        centre = middle(values, cost=cost, neighbours=neighbours, rng=rng, prior=short_numbers())  # [reach.1]
    seen = Distances.of(values, centre)
    sides, body = farther(seen), 0
    above = sides[0] + sides[1]
    above[-1] = 0  # so that data beyond all grid points have a place too
    cost = plan.part("scale", Choice)
    few, third = beyond(cost, size)
    target = Fraction(len(values), 3) if third else Fraction(few)
    most = Fraction(2, 3) if third and moved == 1 else Fraction(1)
    place = on_grid(above, target, far_prior(), sensitivity=most, cost=cost, rng=rng, after=BEFORE)  # [reach.2]
    if place:
        cost, half = plan.part("body", Choice), Fraction(len(values), 2)
        body = on_grid(
            above[: place + 1], half, body_prior(place), sensitivity=Fraction(moved, 2), cost=cost, rng=rng
        )  # [reach.2]
    else:
        plan = stages(epsilon, size, neighbours, again=True, **shared)
        cost = plan.part("again", Choice)
        few = min(math.ceil(2 * NATS / exact(cost.epsilon)), max(1, size // 3))
        terms: dict[str, Any] = {"sensitivity": Fraction(1), "cost": cost, "rng": rng, "after": BEFORE}
        place = on_grid(above, Fraction(few), far_prior(), **terms)  # [reach.2]
    of_sides = plan.part("sides", Laplace)
    bits = fitting_bits(of_sides)
    steps = np.array([count << bits for count in beside(sides, place)], dtype=object)
    up, down, near = (
        float(count) for count in rng.blur(steps, sensitivity=moved << bits, cost=of_sides) / 2**bits
    )  # [reach.1]
    noise = times * (moved if by == "mean" else 1) / float(plan.part(by, Laplace).epsilon)
    doubt = moved / float(of_sides.epsilon)
    tail = Tail(centre, edge(place), edge(body), few, up, down, near, doubt, size, noise, plan)
    if "past" in plan:
        bits, many = fitting_bits(plan.part("past", Laplace)), sum(seen.beyond(tail.radius))
        found = rng.blur(many << bits, sensitivity=1 << bits, cost=plan.part("past", Laplace))  # [reach.1]
        tail = replace(tail, past=found / 2**bits)
    return tail, seen


def farther(seen: Distances) -> tuple[Steps, Steps]:
    """How many records lie above the centre, and below, farther from it than each grid point. [reach.1], [reach.2]"""
    return seen.farther(PARTS, TOP)


def beside(sides: tuple[Steps, Steps], place: int) -> tuple[int, int, int]:
    """How many records lie above the centre, and below, farther from it than a grid point, and how many in the octaves
    up to it: disjoint sets. [reach.1]"""
    before, up, down = max(place - BEFORE, 0), int(sides[0][place]), int(sides[1][place])
    return up, down, int(sides[0][before]) + int(sides[1][before]) - up - down


def on_grid(
    above: Steps,
    target: Fraction,
    nats: npt.NDArray[np.float64],
    *,
    sensitivity: Fraction,
    cost: Choice,
    rng: Randomness,
    after: int = 0,
) -> int:
    """The number of a grid point that about `target` records are beyond and, if it is to come `after` them, as many
    within so many grid points up to it. [reach.2]"""
    here, wanted = above * GRAIN, int(target * GRAIN)
    before = np.concatenate([[np.iinfo(np.int64).max >> 1], here[:-1]])
    unit = 2 * sensitivity / exact(cost.epsilon) * GRAIN  # of a nat
    off = np.maximum(0, np.maximum(here - wanted, wanted - before))
    if after:
        within = np.concatenate([np.full(after, here[0]), here])[: len(here)] - here
        off[1:] = np.maximum(off, wanted - within)[1:]
    cut = np.minimum(off, math.ceil(CUT * unit))
    scores = cut + np.rint(nats * float(unit)).astype(np.int64)
    return rng.choose(scores, sensitivity=sensitivity * GRAIN, cost=cost)  # [reach.2]
