"""Means, shares and totals of the population that a survey's weights stand for.

Releases
    Where it is needed and private, a noisy number of records. A largest weight W, unless a public one is given: twice
    the distance from 0 that about m0 weights exceed. A centre c and a radius R, as in statistics/mean.py, unless bounds
    are public. With v = clip(w / W, 0, 1) and u = clip((x - c) / R, +-1) the noisy sums of v (1 + u) / 2 and of
    v (1 - u) / 2, under ADD_OR_REMOVE of 1 - v too; then, for the interval, that of v^2 q, q the square of how far u is
    from the weighted mean, in units of the farthest; for a total, of (v u)^2. With clusters instead of all these sums
    the first two for each cluster.
Promise
    [survey.1] Pure epsilon under both relations.
    [survey.2] Refusals read public numbers and earlier answers only.
    [survey.3] The interval is for the weighted mean, share or total of the population, by the normal approximation:
          with clusters for people who were drawn in these clusters, else for people who were drawn one by one. Its
          first line says which, and what values and weights were limited to.
Why
    [survey.1] A record becomes whole numbers of steps by fixed functions of itself and of what was released: k in
    [0, h] for v, h = 2^bits, then a = floor(k (h + s) / 2 h), s in [-h, h] the steps of u ([clip.1]), b = k - a and
    h - k. These are not negative and add up to h: one record added moves the three sums by h in L1; one replaced moves
    the first two by at most k + k' <= 2 h. The sum of squares has terms from 0 to h: it moves by at most h under both
    relations. A record is in one cluster at most, a public function of its own entries, so that sums by
    cluster move as those of all. Then [additive.1], adaptively composed with a count [additive.1], the search for W
    [locate.2] and for c and R [reach.1]; the parts are exact fractions of epsilon ([allocation.1]).
    [survey.2] Under REPLACE n is public and the refusal of too few records comes before any draw. Ranges beyond 1e250
    and weights that add up to little beside the noise are refused after they were released.
    [survey.3] Let m be the ratio of the sums of w x and of w. The sampling variance of m is that of the sum of
    w (x - m), over the square of the sum of w (linearisation); people drawn one by one have the sum of w^2 (x - m)^2.
    It is released, and one scale of its noise is added. A total has the sum of (w x)^2 less its square over n. People
    drawn in clusters have, in each stratum of k clusters, k / (k - 1) times the sum of squares of the cluster's own sum
    less their mean. Those sums are noisy, so that this variance has the noise of the answer in it already; Student's t
    has as many degrees of freedom as there are clusters more than strata.
Needs
    Without a largest weight n epsilon of about 560, without bounds 250. A public list of clusters, two or more in each
    stratum. The sum of v, about n times the mean weight over W, must be 50 over the epsilon of the first sums.
Accuracy
    Noise of standard deviation 2 R sqrt(1 + m^2) W / (e1 sum of w), m the mean in units of R from c and e1 from a third
    to 0.95 of epsilon. K clusters have sqrt(K) times that.
Source
    Hajek 1971 for the ratio; Woodruff 1971 and Binder 1983 for its variance; the three sums are ours.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from typing import Any, Final, Literal

import numpy as np

from discreet.accounting.allocation import Allocation, Share
from discreet.errors import BadInput, Refused
from discreet.privacy.declaration import Columns, Public
from discreet.privacy.exact import Number, exact, is_number, show, show_range
from discreet.privacy.guarantee import Neighbours, check_budget
from discreet.privacy.loss import Approximate, Choice, Laplace, Loss
from discreet.privacy.mechanism import Randomness, promised, refusal_of, what_to_do
from discreet.privacy.release import Provenance, Release
from discreet.stages.clip import fitting_bits, noise_size, noisy_size
from discreet.stages.declared import check_bounds
from discreet.stages.locate import BEYOND, far_distance, finest
from discreet.stages.normal_laplace import ConvolvedSpread
from discreet.stages.reach import ENDLESS, Tail, find_tail
from discreet.statistics.mean import COUNT, NOWHERE, RankClippedMean
from discreet.statistics.survey_design import Design, DesignSpread, declared_design, listed
from discreet.statistics.survey_sums import Units, values_of, weights_of
from discreet.tables.streams import Stream

WEIGHTS, VARY = Fraction(1, 5), Fraction(1, 5)  # of epsilon: the largest weight, and the square for the interval
REACH: Final = 2.0  # the largest weight, in units of the distance that m0 weights exceed
LARGEST: Final = 1e250
ENOUGH: Final = 50.0  # over the epsilon of the sums: what the weights, in units of the largest, add up to
WORDS: Final = {"mean": "the mean", "share": "the share", "sum": "the total"}


@dataclass(frozen=True, slots=True)
class WeightedMean:
    """A mean, a share or a total of the population that weights stand for. Rows are values and weights.

    >>> from discreet.noise.randomness import Seeded
    >>> rows = np.column_stack([np.arange(4000) % 100, 1 + np.arange(4000) % 100 / 50])
    >>> release = WeightedMean(epsilon=1.0, bounds=(0, 100), largest=3.0).release(rows, Seeded(1))
    >>> 55 < release.value < 61
    True
    """

    epsilon: Number
    _: KW_ONLY
    of: Literal["mean", "share", "sum"] = "mean"
    bounds: tuple[float, float] | None = None
    largest: float | None = None
    design: Design | None = None
    weighted: bool = True  # or all weigh 1
    neighbours: Neighbours = Neighbours.ADD_OR_REMOVE
    unit: str = "row"

    def __post_init__(self) -> None:
        check_budget(self.epsilon, 0, None)
        check_bounds(self.bounds, LARGEST)
        if self.largest is not None and not (is_number(self.largest) and 1 / LARGEST < float(self.largest) < LARGEST):
            raise BadInput(f"largest_weight is {self.largest!r}; give a positive number, a public one, or leave it out")

    guarantee = promised

    @property
    def loss(self) -> Loss:
        """Pure epsilon: the draws add up to it. [survey.1]"""
        return Approximate(self.epsilon, 0)

    @property
    def stages(self) -> Allocation:
        """The number of records, the largest weight, the square for the interval, and the rest. [survey.1]"""
        counts = not self.neighbours.size_is_public and (self.bounds is None or self.largest is None)
        return Allocation.of(self.epsilon).split(
            size=Share(COUNT) if counts else None,
            weights=None if self.largest is not None else Share(WEIGHTS, Choice),
            vary=None if self.design is not None else Share(VARY),
            mean=Share(),
        )  # [survey.1]

    @property
    def beyond(self) -> int:
        """m0: how many weights are beyond the distance that is found. Public."""
        return math.ceil(2 * BEYOND / float(exact(self.epsilon) * WEIGHTS))

    def check(self, size: int | None) -> None:
        """Refuse so few records that the largest weight, or the range of values, would not be found. [survey.2]"""
        if size is None:
            return
        if self.largest is None and 4 * self.beyond > size:
            noisy = not self.neighbours.size_is_public
            to_do = what_to_do(size, self.epsilon, 4 * self.beyond, "give a public largest_weight=", noisy=noisy)
            counted = " (a noisy number)" if noisy else ""
            raise Refused(
                f"there are {size} rows{counted}; to find how large weights are needs {4 * self.beyond} at epsilon "
                f"{show(self.epsilon)}; {to_do}"
            )
        if self.bounds is None:
            RankClippedMean(self.stages.part("mean", Laplace).epsilon, self.neighbours).check(size, advised=False)

    def release(self, rows: Any, rng: Randomness) -> Release[float]:
        """The estimate and its interval, or a refusal."""
        table, stages = rows if isinstance(rows, Stream) else listed(rows), self.stages
        values = values_of(table)
        public = len(table) if self.neighbours.size_is_public else None
        if public == 0:
            raise BadInput("the data are empty (0 rows); a statistic needs at least 1 row")
        size = public
        if "size" in stages:
            size = noisy_size(table, stages.part("size", Laplace), rng)  # [survey.1]
        shown = {"neighbours": self.neighbours, "rows": public, "bounds": self.bounds, "costs": stages.shown}
        shown |= {"clusters": len(self.design.strata)} if self.design is not None else {}
        blank: Release[float] = Release(self.guarantee, Provenance("WeightedMean", shown, rng.secure), name=self.of)
        if refusal := refusal_of(self, size):  # [survey.2]
            return replace(blank, refusal=refusal)
        largest = self.largest
        if largest is None:
            terms: dict[str, Any] = {"beyond": self.beyond, "cost": stages.part("weights", Choice), "rng": rng}
            largest = REACH * far_distance(weights_of(table), centre=0.0, least=finest(0.0), **terms)  # [survey.1]
        if not largest < LARGEST:  # [survey.2]
            return replace(blank, refusal="the weights reach beyond 1e250; divide them by a public number")
        tail, cost = None, stages.part("mean", Laplace)
        if self.bounds is None:
            assert size is not None
            search: dict[str, Any] = {
                "size": size,
                "neighbours": self.neighbours,
                "rng": rng,
                "last": {"mean": Share()},
            }
            tail, _ = find_tail(values, cost.epsilon, centre=0.0 if self.of == "sum" else None, **search)  # [survey.1]
            if tail.endless or tail.rare or tail.radius > LARGEST:  # [survey.2]
                return replace(blank, refusal=tail.rare or ENDLESS)
            cost = tail.stages.part("mean", Laplace)
        sums = _Sums(self, table, largest=float(largest), tail=tail, cost=cost, rng=rng)  # [survey.1]
        spread = sums.spread(float(largest))
        if isinstance(spread, str):  # [survey.2]
            return replace(blank, refusal=spread)
        notes = self._notes(float(largest), tail, spread)
        return replace(
            blank,
            answer=spread.estimate,
            spread=spread,
            provenance=replace(blank.provenance, notes=notes, parameters={**shown, "largest_weight": float(largest)}),
        )

    def _notes(self, largest: float, tail: Tail | None, spread: "ConvolvedSpread | DesignSpread") -> tuple[str, ...]:
        cut = f"weights above {show(largest)} count as that; missing ones, and those below 0, as 0"
        notes = [cut] if self.weighted else ["whoever is in no cluster that is listed does not count"]
        notes += [tail.unseen] if tail is not None else []
        if isinstance(spread, ConvolvedSpread):
            notes.append("the interval is for people drawn one by one; if they were drawn in clusters, give clusters=")
        return tuple(notes)


class _Sums:
    """The noisy sums of a release, and the answer that they give."""

    def __init__(
        self,
        asked: WeightedMean,
        table: Any,
        *,
        largest: float,
        tail: Tail | None,
        cost: Laplace,
        rng: Randomness,
    ) -> None:
        self.asked, self.tail, self.cost, self.rng, self.size = asked, tail, cost, rng, math.nan
        low, high = asked.bounds or (0.0, 0.0)
        if asked.of == "sum":
            self.centre, self.radius = 0.0, max(abs(low), abs(high)) if tail is None else tail.radius
        else:
            self.centre, self.radius = low / 2 + high / 2, high / 2 - low / 2
            self.centre, self.radius = (self.centre, self.radius) if tail is None else (tail.centre, tail.radius)
        self.radius = max(self.radius, 1 / LARGEST)
        limits = (low, high) if asked.of == "sum" and tail is None else None
        self.table, bits = table, fitting_bits(self.cost)
        self.units = Units(largest, self.centre, self.radius, bits, limits, asked.design)
        half = 2**bits
        moved = half * (2 if asked.neighbours.size_is_public else 1)  # [survey.1]
        self.noise = noise_size(moved, self.cost) / half
        upper, lower, rest = self.units.sums(table)
        private = asked.design is None and not asked.neighbours.size_is_public
        sums = [*upper, *lower, *([rest] if private else [])]
        blurred = rng.blur(np.array(sums, dtype=object), sensitivity=moved, cost=self.cost)  # [survey.1]
        found = np.array([int(one) / half for one in blurred], dtype=np.float64)
        self.up, self.down = found[: len(upper)], found[len(upper) : 2 * len(upper)]
        if asked.design is None:
            self.size = max(2.0, float(len(table) if asked.neighbours.size_is_public else found.sum()))

    def spread(self, largest: float) -> "ConvolvedSpread | DesignSpread | str":
        """The estimate and its error, or a refusal. [survey.3]"""
        total, whole = float((self.up - self.down).sum()), float((self.up + self.down).sum())
        if whole * float(self.cost.epsilon) < ENOUGH * math.sqrt(len(self.up)):  # [survey.2]
            return (
                "the weights, in units of the largest, add up to too little beside the noise; give a smaller public "
                "largest_weight, bring more rows, or ask for a larger epsilon"
            )
        mean = min(max(total / whole, -1.0), 1.0)
        if self.asked.of == "sum":
            if not largest * self.radius < LARGEST:  # [survey.2]
                return "weights times values reach beyond 1e250; divide one of them by a public number"
            return self._error(total, largest * self.radius, total, 0.0, 2 * self.noise)
        noise = 2 * self.noise * math.hypot(1, mean) / whole
        found = self._error(mean, self.radius, mean, whole, noise)
        if self.tail is not None:
            shift, deviation = abs(found.estimate - self.centre), found.sampling * math.sqrt(max(whole - 1, 1))
            if self.tail.outside(shift, deviation):  # [survey.2]
                return NOWHERE
        return found

    def _error(
        self, estimate: float, unit: float, about: float, whole: float, noise: float
    ) -> "ConvolvedSpread | DesignSpread":
        """`noise` is the standard deviation of one cluster's, or of all, in `unit`s; `whole` is 0 for a total."""
        design, low, high = self.asked.design, -math.inf, math.inf
        if self.asked.bounds is not None and whole:
            low, high = (float(end) for end in self.asked.bounds)
        centre = self.centre if whole else 0.0
        shown = min(max(centre + unit * estimate, low), high)
        terms: dict[str, Any] = {"low": low, "high": high, "about": self._about()}
        if design is None:
            sampling = math.sqrt(self._sampled(about, whole))
            return ConvolvedSpread(
                shown, sampling=unit * sampling, laplace=unit * noise / math.sqrt(2), freedom=self._freedom, **terms
            )
        sums = (self.up - self.down) - (about * (self.up + self.down) if whole else 0.0)
        error = math.sqrt(design.variance(sums)) / (whole or 1.0)  # [survey.3]
        privacy = noise * math.sqrt(len(self.up))
        return DesignSpread(shown, unit * error, unit * privacy, freedom=design.freedom, **terms)

    @property
    def _freedom(self) -> float:
        """No more than as many people of equal weights as would tell as much: (sum w)^2 / sum w^2 >= sum w / W."""
        return max(1.0, float((self.up + self.down).sum()) - 1)

    def _sampled(self, about: float, whole: float) -> float:
        """The sampling variance, in units. [survey.3]"""
        cost, far = self.asked.stages.part("vary", Laplace), 1 + abs(about) if whole else 1.0
        bits = min(self.units.bits, fitting_bits(cost))
        squares = self.units.squares(self.table, about if whole else 0.0, far, bits)
        blurred: int = self.rng.blur(squares, sensitivity=2**bits, cost=cost)  # [survey.1]
        found, noise = float(blurred / 2**bits), float(noise_size(2**bits, cost) / 2**bits)
        if not whole:
            return max(found + noise - about**2 / self.size, noise) * self.size / (self.size - 1)
        return max(found + noise, noise) * (far / whole) ** 2

    def _about(self) -> str:
        """What the interval is for. [survey.3]"""
        drawn = "drawn one by one" if self.asked.design is None else "drawn in these clusters"
        whose = " that the weights stand for" if self.asked.weighted else ""
        words = f"{WORDS[self.asked.of]} of the population{whose}, people {drawn}"
        if self.tail is None and self.asked.of != "sum":
            return words
        ends = self.asked.bounds or (self.centre - self.radius, self.centre + self.radius)
        return f"{words}, values limited to {show_range(*ends)}"


def surveyed(
    people: Public,
    of: Literal["mean", "share", "sum"],
    epsilon: Number,
    bounds: Any,
    *,
    weights: Columns | None,
    clusters: Columns | None,
    strata: Columns | None,
    largest_weight: float | None,
    design: Sequence[Any] | Mapping[str, Any] | None,
) -> WeightedMean | None:
    """The mechanism for a survey; None where there are neither weights nor clusters."""
    if weights is None and largest_weight is not None:
        raise BadInput("largest_weight is of weights=, and there are none; give the column, or leave it out")
    listed = declared_design(clusters, strata, design)
    if weights is None and clusters is None:
        return None
    largest = 1.0 if weights is None else largest_weight
    terms: dict[str, Any] = {"neighbours": people.neighbours, "unit": people.unit, "weighted": weights is not None}
    return WeightedMean(epsilon, of=of, bounds=bounds, largest=largest, design=listed, **terms)
