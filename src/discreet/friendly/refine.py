"""The mean of rows in R^d, without bounds: a friendly centre, then tapered means around better and better centres.

Releases
    With a known scale sigma: a friendly centre c ([find_centre.1]), and twice c + the mean of
    phi_R(x - c), plus noise, around the c before; the second is the answer. With an unknown one, before that the most
    common octave of distances of pairs, which gives the friends' radius, and before each tapered mean a radius R
    that holds most rows; with the answer, the mean squares of the tapered coordinates, for the error bar. Where the
    number of rows is private, a noisy one first. With blocks, all or (auto) all but the beginning is done with the
    means of blocks of rows in the place of rows.
Promise
    [refine.1] REPLACE: the loss Gaussian(mu, slack) and an event of probability `miss`: (epsilon, delta) in all.
    [refine.2] ADD_OR_REMOVE: the same.
    [refine.3] Refusals, and the choice between rows and blocks, read public numbers and what was released before.
    [refine.4] The interval of each coordinate is for the mean of the tapered rows, or blocks, by the normal
    approximation.
Why
    [refine.1] Every stage costs a Gaussian loss at its share of mu^2: the centre by [find_centre.1], pairs [radius.1],
    radii [radius.2], tapered sums by [taper.1], of sensitivity 2 R, their squares by [taper.2], of sqrt 2 R^2. Centres,
    radii and the order of the stages depend on released numbers alone, the shares add up to mu^2 at most, and squares
    of mu add up adaptively ([filter.3]), with the slacks and the one event of the centre: [allocation.2]. Then
    [compose.1]. Blocks: a public shuffle puts rows into blocks, so one row changes one block and its mean, to whatever
    it may be: the block means are neighbours under REPLACE, their number is public, and the stages on them are as
    above.
    [refine.2] The number of rows is a count: sensitivity 1. Pairs and radii as before; the centre by [find_centre.2];
    tapered sums move by R and their squares by R^2 ([taper.1], [taper.2]); they are divided by released numbers.
    Blocks: [sample.1] of friendly/sample.py puts rows into a released number of blocks, so that one row more changes
    one block: the block means are neighbours under REPLACE and their number is known.
    [refine.3] As the code reads: `seen` is public or noisy; the centre is refused by its own rule, a scale by noisy
    counts.
    [refine.4] The variance of a tapered coordinate is M2 - m^2, both released; the deviation of the noise on M2 is
    added to it, and it is at least that. With a declared sigma that is the deviation. A noisy number of rows moves the
    mean by |m| dn / n, counted as noise.
Needs
    delta > 0. About 1,000 rows at epsilon = 1 in one dimension, a few thousand in 100. Up to a third of the rows may
    lie anywhere; a NaN is a row that lies nowhere. Rows within about 2^28 of their own scale from 0. Clouds that
    are stretched more than tenfold in few of many directions are better standardised first.
Accuracy
    The noise of a Gaussian mechanism that knew centre and scale, and a few per cent: docs/benchmarks.md. Of
    skewed rows the tapered mean is not quite the mean; of block means it is, nearly, at sqrt(block size) the noise.
Source
    Tsfadia, Cohen, Kaplan, Mansour and Stemmer 2022 for friendly averages; Biswas, Dong, Kamath and Ullman 2020
    (CoinPress) for refinement in steps; Nemirovsky and Yudin 1983 for medians of means.
"""

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from typing import Any, Final, Literal

import numpy as np

from discreet.accounting.allocation import Allocation, Share, in_proportion
from discreet.errors import BadInput, Refused
from discreet.friendly import radius as plan
from discreet.friendly.average import SLACK, Centre, RegionSpread, blurred, noisy_count
from discreet.friendly.core import shuffled
from discreet.friendly.find_centre import find_centre
from discreet.friendly.radius import pair_scale, r_clip, r_pair, radius_quantiles
from discreet.friendly.sample import Places, block_means
from discreet.friendly.taper import WIDEST, TaperSum, reach
from discreet.privacy.exact import Number, is_number, show
from discreet.privacy.guarantee import Neighbours, check_budget
from discreet.privacy.loss import Gaussian, Loss
from discreet.privacy.mechanism import Randomness, promised, refusal_of
from discreet.privacy.release import Provenance, Release
from discreet.tables.matrix import Floats, Rows, matrix, take

MISS: Final = Fraction(1, 10)  # the share of delta for the event
DRAWS: Final = 40  # more than any release makes
FIRST, LAST, WIDE = 0.02, 0.005, 0.0005  # shares of rows beyond the radii looked for; beyond the last one used
SMALLEST, WEAKEST, STRONGEST = 1e-11, 1e-4, 32.0  # the delta and the mu for which every stage has a grid
Method = Literal["auto", "refine", "blocks"]


@dataclass(frozen=True, slots=True)
class RefinedMean:
    """The mean of rows in R^d; no bounds, and no scale unless it is known.

    `sigma` is a known standard deviation of every coordinate. `dimension` declares the number of columns: a list of
    rows needs it. `beyond` is the share of normal rows that the last radius leaves out: less noise for rows known to be
    symmetric; by default one of them all, or 0.0005 where the scale is unknown. method="blocks" averages blocks of rows
    first, for skewed and heavy-tailed rows; "auto" does so where a radius that holds most rows is far from one that
    holds half of them.

    >>> from discreet.noise.randomness import Seeded
    >>> rows = np.array([[float(k % 7), float(k % 11)] for k in range(4000)])
    >>> release = RefinedMean(epsilon=1.0, delta=1e-6).release(rows, Seeded(1))
    >>> bool(abs(release.value[0] - 3) < 0.5), release.interval(0.95).low.shape
    (True, (2,))
    """

    epsilon: Number
    delta: Number
    _: KW_ONLY
    dimension: int | None = None
    sigma: float | None = None
    neighbours: Neighbours = Neighbours.REPLACE
    method: Method = "auto"
    unit: str = "row"
    beyond: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.neighbours, Neighbours):
            raise BadInput(f"neighbours is {self.neighbours!r}; give Neighbours.REPLACE or Neighbours.ADD_OR_REMOVE")
        check_budget(self.epsilon, self.delta, None if not self.neighbours.size_is_public else 1)
        if not self.delta:
            raise BadInput("delta is 0; a mean in any dimension without bounds needs delta above 0, for example 1e-6")
        if self.dimension is not None and not (
            isinstance(self.dimension, int) and not isinstance(self.dimension, bool) and 1 <= self.dimension <= WIDEST
        ):
            raise BadInput(f"dimension is {self.dimension!r}; give the number of columns, 1 to {WIDEST}, or None")
        if self.sigma is not None and not (is_number(self.sigma) and 1e-100 < self.sigma < 1e100):
            raise BadInput(f"sigma is {self.sigma!r}; give a positive standard deviation known in advance, or None")
        if self.beyond is not None and not (is_number(self.beyond) and 0 < self.beyond <= 0.5):
            raise BadInput(f"beyond is {self.beyond!r}; give a share above 0 and up to 0.5, or None")
        if self.method not in ("auto", "refine", "blocks"):
            raise BadInput(f"method is {self.method!r}; give 'auto', 'refine' or 'blocks'")
        if self.delta < SMALLEST:
            raise BadInput(f"delta is {self.delta!r}; noise on a grid needs 1e-11 at least")
        if self.budget.amount < WEAKEST:
            raise BadInput(f"epsilon is {self.epsilon!r}: its noise would drown any mean; give 0.001 or more")

    @property
    def budget(self) -> Allocation:
        """What all draws together may cost, and the event at which the filter's bound fails. [refine.1]"""
        return refined_budget(self.epsilon, self.delta, DRAWS)

    guarantee = promised

    @property
    def loss(self) -> Loss:
        """All draws together, however they are shared out. [refine.1]"""
        return self.budget.ceiling  # [refine.1]

    def check(self, size: int | None) -> None:
        """Refuse too few rows, where their number is public and that of columns was declared. [refine.3]"""
        if size is None or self.dimension is None:
            return
        if size == 0:
            raise BadInput("the data are empty (0 rows); a mean needs at least 1 row")
        check_budget(self.epsilon, self.delta, size)
        seen, mu = size, float(self.budget.amount)
        if self.method == "blocks":
            seen = plan.block_number(size, self.dimension, mu)
            if size < 2 * seen:
                raise Refused(no_blocks(size))
        if not self.parts(seen, self.dimension, mu, Neighbours.REPLACE):
            raise Refused(self.too_few(seen, self.dimension, mu, Neighbours.REPLACE))

    def parts(self, seen: int, width: int, mu: float, neighbours: Neighbours) -> Mapping[str, float] | None:
        """The shares of the stages for so many rows; None if they are too few. [refine.3]"""
        if self.sigma is not None:
            return plan.known_scale(seen, width, mu, float(self.budget.event), neighbours)
        return plan.unknown_scale(seen, width, mu, neighbours)

    def too_few(self, seen: int, width: int, mu: float, neighbours: Neighbours) -> str:
        """What was seen, what is needed, what to do."""
        noisy = "" if neighbours.size_is_public else " (a noisy number)"
        return (
            f"{seen} rows{noisy} are too few to find {'' if self.sigma is not None else 'a scale and '}a centre at "
            f"epsilon {float(self.epsilon):g}: about {plan.fewest_rows(width, mu, neighbours)} are needed; bring more "
            "rows or a larger epsilon"
        )

    def release(self, rows: Any, rng: Randomness) -> Release[Floats]:
        """The estimate with its intervals, or a refusal."""
        data = matrix(rows, self.dimension, declared="dimension")
        if data.width > WIDEST:
            raise BadInput(f"the data have {data.width} columns; up to {WIDEST} can be averaged")
        size = data.size if self.neighbours.size_is_public else None
        run = _Run(self, data, rng)
        if refusal := refusal_of(replace(self, dimension=data.width), size):  # [refine.3]
            return run.refused(refusal, size)
        return run.release(size)


def refined_budget(epsilon: Number, delta: Number, draws: int) -> Allocation:
    """All that (epsilon, delta) allows for so many draws. [refine.1]"""
    return Allocation.of(epsilon, delta, slack=2 * SLACK, draws=draws, event=MISS, lower=True, strongest=STRONGEST)


class _Run:
    """One release: the data, the door, and what was released so far."""

    def __init__(self, mechanism: RefinedMean, data: Rows, rng: Randomness) -> None:
        self.asked, self.data, self.rng = mechanism, data, rng
        self.budget, self.neighbours = mechanism.budget, mechanism.neighbours
        self.shown: dict[str, Any] = {"neighbours": mechanism.neighbours, "method": "refine"}
        self.count_error = 0.0
        self.places: Places | None = None
        self.seen = 0

    def release(self, size: int | None) -> Release[Floats]:
        """Count if need be, then one of the two ways."""
        self.shown["rows"] = size
        if size is None:
            counted = self.budget.split(count=Share(plan.COUNT), rest=Share())
            cost = counted.part("count", Gaussian)
            self.seen = max(2, round(noisy_count(self.data.size, cost, self.rng)))  # [refine.2]
            self.count_error = 1 / float(cost.mu)
            self.budget = counted.within("rest")
        else:
            self.seen = size
        if self.asked.method == "blocks":
            refusal = self._into_blocks()
            if refusal is not None:
                return self._blank(refusal)
        return self._known() if self.asked.sigma is not None else self._unknown()

    @property
    def mu(self) -> float:
        """What is left for the stages."""
        return float(self.budget.amount)

    def _blank(self, refusal: str | None = None) -> Release[Floats]:
        provenance = Provenance("RefinedMean", self.shown, self.rng.secure)
        return Release(self.asked.guarantee, provenance, refusal=refusal, name="mean")

    def refused(self, refusal: str, size: int | None) -> Release[Floats]:
        """A refusal by public numbers."""
        self.shown["rows"] = size
        return self._blank(refusal)

    def _plan(self) -> Allocation | str:
        """The stages' costs, or why there are none. [refine.3]"""
        given = self.seen, self.data.width, self.mu, self.neighbours
        parts = self.asked.parts(*given)
        if parts is None:
            return self.asked.too_few(*given)
        costs = self.budget.split(**in_proportion(parts))  # [refine.1]
        self.shown["costs"] = dict(costs.shown)
        return costs

    def _known(self) -> Release[Floats]:
        """The scale is known: a centre, a better one, the answer."""
        width, sigma = self.data.width, float(self.asked.sigma or 1.0) * self.shown.get("shrink", 1.0)
        costs = self._plan()
        if isinstance(costs, str):
            return self._blank(costs)
        at = self._centre(sigma * r_pair(plan.compared(self.seen, self.mu), width), costs)
        if at is None:
            return self._blank(SCATTERED)
        off = width * ((at.deviation / sigma) ** 2 + 1 / at.survivors)
        radius = sigma * r_clip(width, off, plan.BULK)
        found, _, noise = self._taper(at.point, radius, costs.part("again", Gaussian), self.seen)
        off = width * ((noise / sigma) ** 2 + 1 / self.seen)
        radius = sigma * r_clip(width, off, self.asked.beyond or 1 / self.seen)
        answer, shift, noise = self._taper(found, radius, costs.part("mean", Gaussian), self.seen)
        self.shown["radius"] = radius
        sampling = np.full(width, sigma / math.sqrt(self.seen))
        return self._answer(answer, sampling, np.hypot(noise, np.abs(shift) * self.count_error / self.seen))

    def _unknown(self) -> Release[Floats]:
        """Nothing is known: a scale, a centre, a radius, a better centre, a better radius, the answer."""
        width = self.data.width
        costs = self._plan()
        if isinstance(costs, str):
            return self._blank(costs)
        scale = pair_scale(self._pairs(), cost=costs.part("scale", Gaussian), rng=self.rng)  # [refine.1], [refine.2]
        if scale.refusal is not None:
            return self._blank(scale.refusal)
        radius = plan.first_radius(self.seen, width, self.mu, scale.upper)
        at = self._centre(radius, costs)
        if at is None:
            return self._blank(SCATTERED)
        widest = reach(radius + at.deviation * r_clip(width, 0.0, 1e-3))
        auto = self.asked.method == "auto"
        few = plan.tail(self.seen, float(costs.part("first", Gaussian).mu), FIRST, auto)
        found = radius_quantiles(
            self.data, at.point, widest, few * self.seen, cost=costs.part("first", Gaussian), rng=self.rng, middle=auto
        )
        first, held, octave = plan.stretched(found.far, width, few, FIRST), self._held(found.held), 16
        if plan.is_heavy(found.far, found.middle, width, few) and self._into_blocks() is None:  # [refine.3]
            held, octave = float(self.seen), 6  # how much narrower the means of blocks lie is not known
            costs = self._share_rest(costs)
        centre, _, _ = self._taper(at.point, first, costs.part("again", Gaussian), held)
        few = plan.tail(self.seen, float(costs.part("last", Gaussian).mu), LAST)
        widest = reach(2 * first)
        last = radius_quantiles(
            self.data, centre, widest, few * self.seen, cost=costs.part("last", Gaussian), rng=self.rng, octave=octave
        )
        held = self._held(last.held)
        radius = plan.stretched(last.far, width, few, self.asked.beyond or WIDE)
        answer, shift, noise, square, error = self._taper_squares(centre, radius, costs, held)
        self.shown["radius"] = radius
        variance = np.maximum(square + error - shift**2, error)  # [refine.4]
        sampling = np.sqrt(variance / held)
        return self._answer(answer, sampling, np.hypot(noise, np.abs(shift) * self.count_error / held))

    def _share_rest(self, costs: Allocation) -> Allocation:
        """What is left after the first radius, shared out anew for fewer rows. [refine.1]"""
        found = costs.within(*plan.AFTER_BLOCKS).split(**in_proportion(plan.AFTER_BLOCKS))  # [refine.1]
        self.shown["costs"] |= found.shown
        return found

    def _held(self, held: float) -> float:
        """How many rows a released number of them may stand for."""
        return min(max(held, 0.1 * self.seen, 1.0), float(self.seen))

    def _centre(self, radius: float, costs: Allocation) -> Centre | None:
        """The friendly centre of some of the rows. [refine.1], [refine.2]"""
        most = plan.compared(self.seen, self.mu)
        rows = self._some(most) if self.neighbours.size_is_public else self._places().below(most / self.seen)
        return find_centre(
            rows,
            reach(radius),
            test=costs.part("test", Gaussian),
            mean=costs.part("centre", Gaussian),
            miss=float(self.asked.budget.event),
            neighbours=self.neighbours,
            rng=self.rng,
            most=most,
        )

    def _some(self, most: int) -> Floats:
        """Rows at public places."""
        return take(self.data, shuffled(self.seen, most, self.rng))

    def _places(self) -> Places:
        if self.places is None:
            self.places = Places(self.data, self.rng)
        return self.places

    def _pairs(self) -> Floats:
        """Disjoint pairs, one row after the other. [refine.1], [refine.2]"""
        number = plan.pairs_of(self.seen, self.mu, self.neighbours)
        if self.neighbours.size_is_public:
            return self._some(2 * number)[: 2 * number]
        return self._places().pairs(number, min(1.0, 2 * number / self.seen))

    def _into_blocks(self) -> str | None:
        """Put block means in the place of rows; or why not. [refine.1], [refine.2]"""
        number = plan.block_number(self.seen, self.data.width, self.mu)
        if self.seen < 2 * number:
            return no_blocks(self.seen)
        if self.neighbours.size_is_public:
            order = self.rng.permutation(self.seen)
            bucket = np.arange(self.seen) * number // self.seen
        else:
            order, bucket = self._places().order, self._places().buckets(number)
        self.shown |= {"method": "blocks", "blocks": number, "shrink": math.sqrt(number / self.seen)}
        self.data = block_means(self.data, number, bucket, np.asarray(order))
        self.seen, self.neighbours, self.count_error = number, Neighbours.REPLACE, 0.0  # [refine.2]
        return None

    def _taper(self, centre: Floats, radius: float, cost: Gaussian, held: float) -> tuple[Floats, Floats, float]:
        """A better centre, how far it is from the old one, and the deviation of its noise. [refine.1], [refine.2]"""
        sums = TaperSum(centre, reach(radius)).add_all(self.data.blocks())
        return self._moved(sums, cost, held)

    def _moved(self, sums: TaperSum, cost: Gaussian, held: float) -> tuple[Floats, Floats, float]:
        move = plan.moved(self.neighbours) << sums.bits
        noisy, deviation = blurred(sums.total, square=move**2, cost=cost, rng=self.rng)  # [refine.1], [refine.2]
        unit = sums.radius / 2.0**sums.bits / held
        return sums.centre + noisy * unit, noisy * unit, deviation * unit

    def _taper_squares(
        self, centre: Floats, radius: float, costs: Allocation, held: float
    ) -> tuple[Floats, Floats, float, Floats, float]:
        """The same, with the mean squares and the deviation of the noise on them."""
        sums = TaperSum(centre, reach(radius), squares=True).add_all(self.data.blocks())
        answer, shift, noise = self._moved(sums, costs.part("mean", Gaussian), held)
        move = plan.moved(self.neighbours) * 4**sums.bits
        # [refine.1], [refine.2]
        squares, deviation = blurred(sums.square, square=move, cost=costs.part("square", Gaussian), rng=self.rng)
        unit = sums.radius**2 / 2.0**sums.bits / held
        return answer, shift, noise, squares * unit, deviation * unit

    def _answer(self, answer: Floats, sampling: Floats, privacy: Floats) -> Release[Floats]:
        what = "means of blocks" if "blocks" in self.shown else "rows"
        about = f"the population's mean, {what} farther than {show(self.shown['radius'])} from it tapered"  # [refine.4]
        spread = RegionSpread(answer, sampling, np.broadcast_to(privacy, answer.shape), about)
        return replace(self._blank(), answer=answer, spread=spread)


def no_blocks(rows: int) -> str:
    """What was seen, what to do."""
    return f"{rows} rows are too few for blocks of two or more; bring more rows, or give method='refine'"


SCATTERED: Final = (
    "too few rows lie near each other to find their centre; bring more rows or a larger epsilon, or standardise "
    "columns of very different scales"
)
