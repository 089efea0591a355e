"""Means of data of any shape: is one the given number, are two equal? Far values are limited, at a distance that is
chosen privately.

Releases
    Under ADD_OR_REMOVE a noisy number of people (in each sample). One sample: c is the number that is tested. Two: a
    median c of all values. A distance C near the median of |x - c|; a limit T = C 2^(k / 4), k = -16, ..., 240; for
    each sample the noisy sums of u = 3 (x - c) / 4 T, which is +-1 where |x - c| > T, and of v = min(|x - c| / T, 1)^2.
    With public bounds c is their middle, and T = R is half their length: u = clip((x - c) / R, +-1), v = u^2.
Promise
    [limited_tests.1] Pure epsilon under both relations. In two samples who is in which is public under REPLACE, and
          hidden under ADD_OR_REMOVE.
    [limited_tests.2] The p-value is super-uniform in the limit of many people if the mean of u is 0 (one sample), or
          the same in both. The first line says where the limit is, and a note says so.
    [limited_tests.3] For a distribution that is symmetric about c the mean of u is 0 wherever the limit is; so it is
          for a tail beyond T that falls by a factor e with each T / 3.
Why
    [limited_tests.1] The stages' epsilons sum to epsilon. A number of people moves by 1, in one sample. The median and
    C are [locate.1]. T is chosen by whole scores, 2 N - n (N people beyond the limit, n in all) plus a public number
    for each k: a person who joins moves N by 0 or 1 for each k and n by 1, so each score by exactly 1; one who is
    replaced moves it by at most 2. Then [choose.3]. u and v are whole numbers of steps of 2^-26, fixed functions of one
    row, c and T: u in [-1, 1], v in [0, 1]. So one row that joins moves one sample's sum of u by at most 1, one that is
    replaced by at most 2, and the sum of v by at most 1: [additive.1], as in [clip.1]. Two samples' sums are blurred
    together: a person is in one of them.
    [limited_tests.2] Given c and T the sum of u is normal in the limit, and its noise is a Laplace variable of known
    scale. Its variance is at most that of the sum of v, in the same unit, but for people beyond T; half a scale of the
    noise of v is added, and it is at least a scale. For two samples [mean_tests.3], with what the noisy numbers of
    people add: each moves a mean by its distance from c times its relative error.
    [limited_tests.3] Beyond T the mean of x - c is T + T / 3 then: what u counts it as.
Needs
    n epsilon of 400, and 120 in each of two samples. Public bounds: under ADD_OR_REMOVE 120 in each sample. If more
    than half of the values are c itself a limit may not be found: a refusal.
Accuracy
    A limit e times as wide must save as many people as 3.5 nats are worth, 18 / epsilon (REPLACE: 23 / epsilon). So T
    leaves out about that many over h, the slope of log N over log T there. For normal data T is 3.5 standard deviations
    at n = 1000 and epsilon = 1, and a shift of three standard errors is found with a chance of 0.77 (without privacy
    0.85). Where n epsilon is small and the tail long, as a lognormal's, the mean of u is off and so is the level:
    docs/measured-tests.md.
Source
    Huang, Liang and Yi 2021 for clips that weigh people against noise; the score without a target rank is ours.
"""

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from typing import Any, Final, NamedTuple

import numpy as np

from discreet.accounting.allocation import Allocation, Share
from discreet.errors import BadInput, Refused
from discreet.hypotheses.null_distributions import LIMIT, Floats, inverted, p_value_of_difference
from discreet.hypotheses.private_sizes import HIDDEN_GROUPS, grouped_rows
from discreet.hypotheses.rank_tests import all_sizes, check_sizes
from discreet.hypotheses.result import PUBLIC_GROUPS
from discreet.privacy.exact import Number, exact, is_number, show
from discreet.privacy.guarantee import check_budget
from discreet.privacy.loss import Choice, Laplace
from discreet.privacy.mechanism import Randomness, promised, what_to_do
from discreet.privacy.neighbours import Neighbours
from discreet.privacy.provenance import Provenance
from discreet.privacy.release import Release
from discreet.privacy.values import TestResult
from discreet.stages.clip import Moment, enough, fitting_bits, listed, noise_size, noisy_size
from discreet.stages.declared import agree, check_bounds, check_size
from discreet.stages.locate import median_distance, middle, moves
from discreet.stages.normal_laplace import tail
from discreet.statistics.normal import too_few
from discreet.statistics.proportion import Alternative, check_alternative
from discreet.tables.entries import numbers, public_size

PARTS: Final = 4  # of a binade: candidates for the limit
PLACES: Final = np.arange(-4 * PARTS, 60 * PARTS + 1)
LOW: Final = -3 * PARTS  # places from which on there is a limit: below it, nobody seems to be within any
STEEP: Final = 3.5  # nats that a limit e times as wide must save
GRAINS: Final = 64  # steps of a score
BEYOND: Final = Fraction(4, 3)  # what a value beyond the limit counts as, in limits
ROUNDED: Final = 2.0**-50  # of the centre: values closer to it are as good as at it
FINDS: Final = (1e-280, 1e280)  # distances that are neither nothing nor too large to be summed
COUNT, SCALE, FAR, SQUARE = Fraction(1, 25), Fraction(1, 20), Fraction(1, 5), Fraction(3, 50)  # of epsilon
FAR_SEEN: Final = Fraction(3, 10)  # the same as FAR where a row is replaced
COUNTS, CENTRE = Fraction(1, 12), Fraction(1, 12)  # the same for two samples
LOCATED: Final = 100  # n epsilon with which a median distance is found
NEEDED: Final = {Neighbours.ADD_OR_REMOVE: 400.0, Neighbours.REPLACE: 400.0}  # n epsilon
NEEDED_EACH: Final = 120.0
LOST: Final = (
    "no distance was found that most values stay within; if more than half of them are one number, "
    "give public bounds=(low, high)"
)


class Limits(NamedTuple):
    """Values count by their distance from the centre; one beyond the limit counts as `reach` away."""

    centre: float
    limit: float
    reach: float


@dataclass(frozen=True, slots=True)
class LimitedMeanTest:
    """Is the mean of data of any shape, with far values limited, equal to `null`?

    >>> from discreet.noise.randomness import Seeded
    >>> LimitedMeanTest(30.0, 2.0).release([float(k % 80) for k in range(4000)], Seeded(1)).value.decide(0.001)
    True
    """

    null: float
    epsilon: Number
    _: KW_ONLY
    alternative: Alternative = "two-sided"
    neighbours: Neighbours = Neighbours.REPLACE
    unit: str = "row"
    size: int | None = None

    def __post_init__(self) -> None:
        check_budget(self.epsilon, 0, None)
        check_size(self.size, self.neighbours)
        check_alternative(self.alternative)
        if not is_number(self.null):
            raise BadInput(f"the mean to test is {self.null!r}; give a finite number")

    guarantee = promised

    def stages(self, size: int | None) -> Allocation:
        """What each draw costs, for a public number of rows or a private one. [limited_tests.1]"""
        return Allocation.of(self.epsilon).split(
            size=None if self.neighbours.size_is_public else Share(COUNT),
            **limit_shares(size, self.epsilon),
            mean=Share(),
            square=Share(SQUARE),
        )

    loss = listed  # [limited_tests.1]

    def check(self, size: int | None) -> None:
        """Refused, by public numbers, if so few people place no limit."""
        check_enough(size, self.epsilon, self.neighbours)

    def release(self, rows: Any, rng: Randomness) -> Release[TestResult]:
        """The mean less the null hypothesis, and the p-value; or a refusal."""
        values = numbers(rows)
        size = agree(public_size(values, self.neighbours), self.size)
        stages = self.stages(size)
        # [limited_tests.1]
        seen = noisy_size(values, stages.part("size", Laplace), rng) if size is None else size
        shown = {"neighbours": self.neighbours, "rows": size, "costs": stages.shown}
        shown |= {"counted": seen} if size is None else {}
        history = Provenance("LimitedMeanTest", shown, rng.secure, notes=(LIMIT,))
        name = f"test that the mean is {show(self.null)} ({self.alternative})"
        blank: Release[TestResult] = Release(self.guarantee, history, name=name)
        try:
            self.check(seen)
            at = limits_of(values, float(self.null), stages, neighbours=self.neighbours, rng=rng)
        except Refused as refused:
            return replace(blank, refusal=str(refused))
        (one,), (square,) = limited_sums([values], at, stages, neighbours=self.neighbours, rng=rng)
        variance = max(square.mean + square.noise / 2, square.noise)  # [limited_tests.2]
        p_value = inverted(one.mean, lambda t: tail(t, math.sqrt(variance), one.noise), seen, self.alternative)
        answer = TestResult(at.reach * one.mean / seen, p_value)
        name = f"test that the mean{limited(at)} is {show(self.null)} ({self.alternative})"
        return replace(blank, answer=answer, provenance=replace(history, notes=(LIMIT, said(at))), name=name)


@dataclass(frozen=True, slots=True)
class LimitedMeansTest:
    """Have two samples of any shape, with far values limited alike, one mean?

    Under REPLACE the first `first` rows are the first sample. Under ADD_OR_REMOVE rows are pairs, 0 or 1 for the sample
    and the value, and `first` is None.

    >>> from discreet.noise.randomness import Seeded
    >>> rows = [float(k % 80) for k in range(4000)] + [float(k % 80) + 9 for k in range(4000)]
    >>> LimitedMeansTest(4000, 2.0).release(rows, Seeded(1)).value.decide(0.001)
    True
    """

    first: int | None
    epsilon: Number
    _: KW_ONLY
    alternative: Alternative = "two-sided"
    bounds: tuple[float, float] | None = None
    unit: str = "row"
    size: int | None = None

    def __post_init__(self) -> None:
        check_budget(self.epsilon, 0, None)
        check_alternative(self.alternative)
        check_bounds(self.bounds)
        check_size(self.size, self.neighbours)
        if self.first is not None:
            check_sizes((self.first,))

    guarantee = promised

    @property
    def neighbours(self) -> Neighbours:
        """Samples of public sizes hide a value, others who is there."""
        return Neighbours.ADD_OR_REMOVE if self.first is None else Neighbours.REPLACE

    def stages(self, size: int | None) -> Allocation:
        """What each draw costs, for a public number of rows or a private one. [limited_tests.1]"""
        found = {} if self.bounds is not None else {"centre": Share(CENTRE, Choice), **limit_shares(size, self.epsilon)}
        return Allocation.of(self.epsilon).split(
            size=Share(COUNTS) if self.first is None else None,
            **found,
            mean=Share(),
            square=Share(SQUARE if found else 2 * SQUARE),
        )

    loss = listed  # [limited_tests.1]

    def check(self, size: int | None) -> None:
        """Refused, by public numbers, if so many people do not fill the samples, or are too few."""
        if size is not None and self.first is not None:
            self._check(all_sizes((self.first,), size))

    def _check(self, sizes: Sequence[int]) -> None:
        if (self.bounds is None or self.first is None) and min(sizes) * float(self.epsilon) < NEEDED_EACH:
            needed, noisy = NEEDED_EACH / float(self.epsilon), self.first is None
            both = needed if self.bounds is not None else NEEDED[self.neighbours] / 2 / float(self.epsilon)
            to_do = what_to_do(min(sizes), self.epsilon, both, noisy=noisy, rows="people in each group")
            raise Refused(
                f"the smaller sample has {'about ' * noisy}{min(sizes)} people; at epsilon {show(self.epsilon)} "
                f"{math.ceil(needed)} are needed: {to_do}"
            )
        if self.bounds is None:
            check_enough(sum(sizes), self.epsilon, self.neighbours)

    def release(self, rows: Any, rng: Randomness) -> Release[TestResult]:
        """The first mean less the second, and the p-value; or a refusal."""
        private, size = self.first is None, None
        if private:
            which, entries = grouped_rows(rows, 2)
            parts = [entries[which == group] for group in (0, 1)]
        else:
            entries = numbers(rows)
            size = agree(public_size(entries, self.neighbours), self.size)
            parts = [entries[: self.first], entries[self.first :]]
        counts, stages = [len(part) for part in parts], self.stages(size)
        sizes = noisy_counts(counts, stages.part("size", Laplace), rng) if private else counts  # [limited_tests.1]
        shown = {"groups": tuple(sizes), "bounds": self.bounds, "costs": stages.shown}
        notes = LIMIT, HIDDEN_GROUPS if private else PUBLIC_GROUPS
        history = Provenance("LimitedMeansTest", shown, rng.secure, notes=notes)
        name = f"test that two means are equal ({self.alternative})"
        blank: Release[TestResult] = Release(self.guarantee, history, name=name)
        try:
            self.check(None if private else sum(sizes))
            self._check(sizes)
            at = self._limits(np.concatenate(parts), stages, rng)
        except Refused as refused:
            return replace(blank, refusal=str(refused))
        sums, squares = limited_sums(parts, at, stages, neighbours=self.neighbours, rng=rng)
        ones = [moment(total, count, -1.0) for total, count in zip(sums, sizes, strict=True)]
        twos = [moment(total, count, 0.0) for total, count in zip(squares, sizes, strict=True)]
        off = math.sqrt(2) / float(stages.part("size", Laplace).epsilon) if private else 0.0
        common = sum(total.mean for total in sums) / sum(sizes)
        miscounted = math.hypot(*(off * common / count for count in sizes))  # [limited_tests.2]
        p_value = p_value_of_difference(ones, twos, self.alternative, miscounted)
        answer = TestResult(at.reach * (ones[0].mean - ones[1].mean), p_value)
        if self.bounds is None:
            name = f"test that two means{limited(at)} are equal ({self.alternative})"
        return replace(blank, answer=answer, provenance=replace(history, notes=(*notes, said(at))), name=name)

    def _limits(self, values: Floats, stages: Allocation, rng: Randomness) -> Limits:
        """Public, or chosen for both samples together. [limited_tests.1]"""
        if self.bounds is not None:
            low, high = (float(end) for end in self.bounds)
            return Limits(low / 2 + high / 2, high / 2 - low / 2, high / 2 - low / 2)
        centre = middle(values, cost=stages.part("centre", Choice), neighbours=self.neighbours, rng=rng)
        return limits_of(values, centre, stages, neighbours=self.neighbours, rng=rng)


def limit_shares(size: int | None, epsilon: Number) -> dict[str, Share]:
    """What the limit costs. Where the number of rows is public, a median distance costs what so many of them need."""
    scale = SCALE if size is None else enough(LOCATED, size, epsilon, SCALE, Fraction(1, 8))
    return {"scale": Share(scale, Choice), "limit": Share(FAR if size is None else FAR_SEEN, Choice)}


def check_enough(size: int | None, epsilon: Number, neighbours: Neighbours) -> None:
    """Refused if so many people, by a public or a noisy number, place no limit."""
    if size is not None and size * float(epsilon) < NEEDED[neighbours]:
        raise Refused(too_few(size, epsilon, NEEDED[neighbours], neighbours, bounds=True))


def noisy_counts(counts: Sequence[int], cost: Laplace, rng: Randomness) -> list[int]:
    """How many people there are in each sample, with noise on a fine grid; 1 or more. [limited_tests.1]"""
    bits = fitting_bits(cost)
    steps = np.array([count << bits for count in counts], dtype=object)
    noisy = rng.blur(steps, sensitivity=2**bits, cost=cost)  # [limited_tests.1]
    return [max(1, round(Fraction(int(one), 2**bits))) for one in noisy]


def limits_of(values: Floats, centre: float, stages: Allocation, *, neighbours: Neighbours, rng: Randomness) -> Limits:
    """A limit that few people are beyond, as far as it is worth its noise; refused if there is none.
    [limited_tests.1]"""
    near = median_distance(values, centre=centre, cost=stages.part("scale", Choice), neighbours=neighbours, rng=rng)
    cost, moved = stages.part("limit", Choice), 2 * moves(neighbours)
    candidates = min(max(near, abs(centre) * ROUNDED, FINDS[0]), FINDS[1]) * 2.0 ** (PLACES / PARTS)
    with np.errstate(all="ignore"):
        distances = np.nan_to_num(np.abs(values - centre), nan=0.0, posinf=np.inf)
    within = np.cumsum(np.bincount(np.searchsorted(candidates, distances), minlength=len(PLACES) + 1))[:-1]
    price = np.rint(PLACES * float(STEEP * math.log(2) * 2 * moved * GRAINS / (PARTS * exact(cost.epsilon))))
    scores = GRAINS * (len(values) - 2 * within) + price.astype(np.int64)  # 2 N - n, N = n - within
    chosen = rng.choose(scores, sensitivity=moved * GRAINS, cost=cost)  # [limited_tests.1]
    if PLACES[chosen] < LOW or near >= FINDS[1]:
        raise Refused(LOST)
    limit = float(candidates[chosen])
    return Limits(centre, limit, float(BEYOND) * limit)


def limited_sums(
    parts: Sequence[Floats], at: Limits, stages: Allocation, *, neighbours: Neighbours, rng: Randomness
) -> list[list[Moment]]:
    """The noisy sums of u and of v in each sample, both in units of the reach, and their noise. [limited_tests.1]"""
    costs = [stages.part(name, Laplace) for name in ("mean", "square")]
    bits = min(map(fitting_bits, costs))
    steps = [limited_steps(part, at, bits) for part in parts]
    units = 1.0, (at.limit / at.reach) ** 2
    found = []
    for power, (cost, unit) in enumerate(zip(costs, units, strict=True)):
        moved = 2**bits * (2 if power == 0 and neighbours is Neighbours.REPLACE else 1)  # [limited_tests.1]
        totals = np.array([int(both[power].sum()) for both in steps], dtype=object)
        noisy = rng.blur(totals, sensitivity=moved, cost=cost)  # [limited_tests.1]
        noise = unit * noise_size(moved, cost) / 2**bits
        found.append([Moment(unit * int(total) / 2**bits, noise, 1.0) for total in noisy])
    return found


def limited_steps(values: Floats, at: Limits, bits: int) -> tuple[Any, Any]:
    """Each row's u and v as whole numbers of steps; a missing value is at the centre. [limited_tests.1]"""
    half = 2.0**bits
    with np.errstate(all="ignore"):
        share = np.nan_to_num((values - at.centre) / at.limit, nan=0.0, posinf=2.0, neginf=-2.0)
    cut = np.clip(share, -1.0, 1.0)
    ones = np.where(np.abs(share) > 1, np.sign(share), cut * (at.limit / at.reach))  # [limited_tests.3]
    return np.rint(ones * half).astype(np.int64), np.rint(cut * cut * half).astype(np.int64)


def moment(total: Moment, size: float, least: float) -> Moment:
    """A noisy mean, cut to what it can be."""
    return Moment(min(max(total.mean / size, least), 1.0), total.noise / size, size)


def limited(at: Limits) -> str:
    """Where values are limited, for the first line: a test is about these. [limited_tests.2]"""
    return f" of values limited to {show(at.centre - at.limit)} to {show(at.centre + at.limit)}"


def said(at: Limits) -> str:
    """The same, and what a value outside counts as."""
    further = f"; one outside counts as {show(at.reach)} from {show(at.centre)}" if at.reach > at.limit else ""
    return f"the test is about means{limited(at)}{further}"
