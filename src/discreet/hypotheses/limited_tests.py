"""Means of data of any shape: is one the given number, are two equal? Far values are limited.

Releases
    Under ADD_OR_REMOVE a noisy number of people (in each sample). One sample: c is the number that is tested; flags are
    looked for where that is between 0 and 1. Two: a median c of all values. Then what hypotheses/tail_limits.py
    releases: a limit T, and noisy sums of u and of (m - min(u^2, m)) / 2 in each sample. With public bounds c is their
    middle, R half their length, and u = clip((x - c) / R, +-1).
Promise
    [limited_tests.1] Pure epsilon under both relations.
    [limited_tests.2] The p-value is super-uniform in the limit of many people if the mean of u is 0 (one sample; or off
          by no more than [tail_limits.3] allows), or the same in both. The first line says where the limit is, and a
          note says so.
Why
    [limited_tests.1] The stages' epsilons sum to epsilon. A number of people moves by 1, in one sample. The median is
    [locate.1]; the rest is [tail_limits.1].
    [limited_tests.2] Given c and T the sum of u is normal in the limit, with the sum of squares for its variance, and
    its noise is a Laplace variable of known scale. The sum of squares, but for the few whose square counts as m, is
    m times the number of people less twice the second sum; what their noise does: [null_distributions.4]. For two
    samples [mean_tests.3], with what the noisy numbers of people add: each moves a mean by its distance from c times
    its relative error. For which distributions the mean of u is 0, or the same: [tail_limits.2].
Needs
    n epsilon of 400 (one sample under REPLACE: 800), and 120 in each of two samples. Public bounds: under ADD_OR_REMOVE
    120 in each sample.
Accuracy
    A shift of three standard errors of normal data is found with a chance of 0.80 at n = 1000 and epsilon = 1, and of
    0.60 at n = 5000 and epsilon = 0.1 (without privacy 0.87); under REPLACE of 0.39 at n = 8000 and epsilon = 0.1.
    Below n epsilon of 800 there is no room under REPLACE: without the balance that chance is 0.01 at 500.
    The level of exponential and lognormal data, and of flags, is about held; that of a Pareto tail of index 3 is passed
    where n epsilon is below 1000: docs/benchmarks.md. What is beyond the limit is not tested: where few people have
    much, and values are not 0 and 1 (2% are 100, others 0), the true mean of all may be rejected.
Source
    Ours.
"""

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, Final

import numpy as np

from discreet.accounting.allocation import Allocation, Share
from discreet.errors import BadInput, Refused
from discreet.hypotheses.effects import MeanEffect
from discreet.hypotheses.null_distributions import (
    LIMIT,
    Floats,
    MeanError,
    error_of_difference,
    inverted,
    over_variances,
    p_value_of_difference,
)
from discreet.hypotheses.private_sizes import HIDDEN_GROUPS, grouped_rows
from discreet.hypotheses.rank_tests import all_sizes, check_sizes
from discreet.hypotheses.result import PUBLIC_GROUPS, null_in_words, pure
from discreet.hypotheses.tail_limits import (
    Limits,
    Samples,
    flags_share,
    limit_shares,
    limited,
    limited_at,
    limited_sums,
    located,
    said,
)
from discreet.privacy.exact import Number, is_number, show
from discreet.privacy.guarantee import Neighbours, check_budget
from discreet.privacy.loss import Choice, Laplace
from discreet.privacy.mechanism import Randomness, promised, what_to_do
from discreet.privacy.release import Provenance, Release
from discreet.privacy.values import TestResult
from discreet.stages.clip import Moment, fitting_bits, noisy_size
from discreet.stages.declared import agree, check_bounds, check_size
from discreet.stages.locate import middle
from discreet.stages.normal_laplace import tail
from discreet.statistics.normal import too_few
from discreet.statistics.proportion import Alternative, check_alternative
from discreet.tables.entries import long_numbers, numbers, public_size
from discreet.tables.streams import Numbers, Stream, chained, chosen

COUNT: Final = Fraction(2, 25)  # of epsilon, for the number of people in each sample
CENTRE: Final = Fraction(1, 12)  # the same for the middle of two samples
MOST_BALANCE, MOST_OF_TWO = Fraction(1, 4), Fraction(1, 5)  # of epsilon: it is not looked for where it takes more
# n epsilon: of one sample so much that the balance of its tails is looked for, of two samples together, of each
NEEDED: Final = {Neighbours.ADD_OR_REMOVE: 400.0, Neighbours.REPLACE: 800.0}
NEEDED_BOTH, NEEDED_EACH = 400.0, 120.0


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
        check_mean_test(self.null, self.epsilon, self.alternative, self.size, self.neighbours)

    guarantee, loss = promised, pure  # [limited_tests.1]

    def stages(self, sizes: Sequence[int] = (), balanced: bool = False) -> Allocation:
        """What each draw costs, for a public number of rows or a noisy one. [limited_tests.1]"""
        return Allocation.of(self.epsilon).split(
            size=None if self.neighbours.size_is_public else Share(COUNT),
            flags=flags_share(sizes[0], self.epsilon) if sizes and 0 < self.null < 1 else None,
            **limit_shares(sizes, self.epsilon, self.neighbours, balanced, MOST_BALANCE),
            mean=Share(),
        )

    def check(self, size: int | None) -> None:
        """Refused, by public numbers, if so few people place no limit."""
        check_enough(size, self.epsilon, NEEDED[self.neighbours], self.neighbours)

    def release(self, rows: Any, rng: Randomness) -> Release[TestResult]:
        """The mean less the null hypothesis, and the p-value; or a refusal."""
        values = long_numbers(rows)
        size = agree(public_size(values, self.neighbours), self.size)
        # [limited_tests.1]
        seen = noisy_size(values, self.stages().part("size", Laplace), rng) if size is None else size
        shown: dict[str, Any] = {"neighbours": self.neighbours, "rows": size}
        shown |= {"counted": seen} if size is None else {}
        notes = (null_of_mean(self.null, self.alternative), LIMIT)
        history = Provenance("LimitedMeanTest", shown, rng.secure, notes=notes)
        name = f"test that the mean is {show(self.null)} ({self.alternative})"
        blank: Release[TestResult] = Release(self.guarantee, history, name=name)
        try:
            self.check(seen)
            people = Samples([values], (seen,), float(self.null), self.neighbours)
            at, stages = limited_at(people, self.stages, rng)
        except Refused as refused:
            return replace(blank, refusal=str(refused))
        history = replace(history, parameters={**shown, "costs": stages.shown})
        (one,), (square,) = limited_sums(people, at, stages, rng)
        chance = over_variances(square.mean, square.noise, lambda t, sd: tail(t, sd, one.noise))  # [limited_tests.2]
        near = min(one.mean + at.above * one.noise, 0.0) + max(one.mean - at.below * one.noise, 0.0)  # [tail_limits.3]
        p_value = inverted(near, chance, seen, self.alternative)
        counted = 1 / float(stages.part("size", Laplace).epsilon) if size is None else 0.0
        effect = effect_of_mean(float(self.null), at, moment(one, seen, -1.0), moment(square, seen, 0.0), counted)
        answer = TestResult(at.reach * one.mean / seen, p_value, effect.estimate, "limited mean")
        name = f"test that the mean{limited(at)} is {show(self.null)} ({self.alternative})"
        history = replace(history, notes=(*notes, said(at)))
        return replace(blank, answer=answer, spread=effect, provenance=history, name=name)


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

    guarantee, loss = promised, pure  # [limited_tests.1]

    @property
    def neighbours(self) -> Neighbours:
        """Samples of public sizes hide a value, others who is there."""
        return Neighbours.ADD_OR_REMOVE if self.first is None else Neighbours.REPLACE

    def stages(self, sizes: Sequence[int] = (), balanced: bool = False) -> Allocation:
        """What each draw costs, for public numbers of rows or noisy ones. [limited_tests.1]"""
        found: dict[str, Share | None] = {}
        if self.bounds is None:
            found = {"centre": Share(located(sum(sizes), self.epsilon, self.neighbours, CENTRE), Choice)}
            found |= limit_shares(sizes, self.epsilon, self.neighbours, balanced, MOST_OF_TWO)
        return Allocation.of(self.epsilon).split(
            size=Share(COUNT) if self.first is None else None,
            **found,
            mean=Share(),
        )

    def check(self, size: int | None) -> None:
        """Refused, by public numbers, if so many people do not fill the samples, or are too few."""
        if size is not None and self.first is not None:
            self._check(all_sizes((self.first,), size))

    def _check(self, sizes: Sequence[int]) -> None:
        if (self.bounds is None or self.first is None) and min(sizes) * float(self.epsilon) < NEEDED_EACH:
            needed, noisy = NEEDED_EACH / float(self.epsilon), self.first is None
            both = needed if self.bounds is not None else NEEDED_BOTH / 2 / float(self.epsilon)
            to_do = what_to_do(min(sizes), self.epsilon, both, noisy=noisy, rows="people in each group")
            raise Refused(
                f"the smaller sample has {'about ' * noisy}{min(sizes)} people; at epsilon {show(self.epsilon)} "
                f"{math.ceil(needed)} are needed: {to_do}"
            )
        if self.bounds is None:
            check_enough(sum(sizes), self.epsilon, NEEDED_BOTH, self.neighbours)

    def release(self, rows: Any, rng: Randomness) -> Release[TestResult]:
        """The first mean less the second, and the p-value; or a refusal."""
        private = self.first is None
        if private:
            pairs = rows if isinstance(rows, Stream) else np.column_stack(grouped_rows(rows, 2))
            parts: list[Numbers] = [chosen(partial(_group, group=group), pairs) for group in (0, 1)]
        else:
            entries = numbers(rows)
            agree(public_size(entries, self.neighbours), self.size)
            parts = [entries[: self.first], entries[self.first :]]
        sizes = [len(part) for part in parts]
        if private:
            sizes = noisy_counts(sizes, self.stages().part("size", Laplace), rng)  # [limited_tests.1]
        shown = {"groups": tuple(sizes), "bounds": self.bounds}
        notes = one_mean(self.alternative), LIMIT, HIDDEN_GROUPS if private else PUBLIC_GROUPS
        history = Provenance("LimitedMeansTest", shown, rng.secure, notes=notes)
        name = f"test that two means are equal ({self.alternative})"
        blank: Release[TestResult] = Release(self.guarantee, history, name=name)
        try:
            self.check(None if private else sum(sizes))
            self._check(sizes)
            people, at, stages = self._limits(parts, sizes, rng)
        except Refused as refused:
            return replace(blank, refusal=str(refused))
        history = replace(history, parameters={**shown, "costs": stages.shown})
        sums, squares = limited_sums(people, at, stages, rng)
        ones = [moment(total, count, -1.0) for total, count in zip(sums, sizes, strict=True)]
        twos = [moment(total, count, 0.0) for total, count in zip(squares, sizes, strict=True)]
        off = math.sqrt(2) / float(stages.part("size", Laplace).epsilon) if private else 0.0
        common = sum(total.mean for total in sums) / sum(sizes)
        miscounted = math.hypot(*(off * common / count for count in sizes))  # [limited_tests.2]
        p_value = p_value_of_difference(ones, twos, self.alternative, miscounted)
        apart = math.hypot(*(off * one.mean / one.size for one in ones))  # [effects.1]
        where = f"the population mean{limited(at)} of the first group less that of the second"
        error = error_of_difference(ones, twos, apart)
        effect = MeanEffect(at.reach * (ones[0].mean - ones[1].mean), at.reach, error, where)
        answer = TestResult(effect.estimate, p_value, effect.estimate, "difference of limited means")
        if self.bounds is None:
            name = f"test that two means{limited(at)} are equal ({self.alternative})"
        history = replace(history, notes=(*notes, said(at)))
        return replace(blank, answer=answer, spread=effect, provenance=history, name=name)

    def _limits(
        self, parts: Sequence[Numbers], sizes: Sequence[int], rng: Randomness
    ) -> tuple[Samples, Limits, Allocation]:
        """Public, or chosen for both samples together. [limited_tests.1]"""
        stages = self.stages(sizes)
        if self.bounds is not None:
            low, high = (float(end) for end in self.bounds)
            at = Limits(low / 2 + high / 2, high / 2 - low / 2, high / 2 - low / 2)
            return Samples(parts, sizes, at.centre, self.neighbours), at, stages
        cost = stages.part("centre", Choice)
        centre = middle(chained(parts), cost=cost, neighbours=self.neighbours, rng=rng)
        people = Samples(parts, sizes, centre, self.neighbours)
        return people, *limited_at(people, self.stages, rng)


def effect_of_mean(null: float, at: Limits, one: Moment, square: Moment, counted: float) -> MeanEffect:
    """The limited mean, with what the p-value need not allow for: that it is elsewhere than at `null`. [effects.1]

    `counted` is the scale of the noise on the number of people.
    """
    variance = (square.mean - one.mean**2) / one.size
    unsure = math.hypot(square.noise, 2 * one.mean * one.noise) / one.size
    noises = one.noise, counted * abs(one.mean) / one.size
    error = MeanError(variance, unsure, noises, one.size)
    further = {"below": at.below * one.noise, "above": at.above * one.noise}  # [tail_limits.3]
    about = f"the population's mean{limited(at)}"
    return MeanEffect(null + at.reach * one.mean, at.reach, error, about, **further)


def null_of_mean(null: Number, alternative: Alternative) -> str:
    """What a test of one mean tests, in words."""
    return null_in_words(f"the population's mean is {show(null)}", "it is {}", alternative)


def one_mean(alternative: Alternative) -> str:
    """What a test of two means tests, in words."""
    return null_in_words("both groups have one mean in the population", "that of the first is {}", alternative)


def _group(pairs: Floats, *, group: int) -> Floats:
    """The values of one of the samples."""
    found: Floats = pairs[pairs[:, 0] == group, 1]
    return found


def check_mean_test(
    null: object, epsilon: Number, alternative: Alternative, size: int | None, neighbours: Neighbours
) -> None:
    """What every test of one mean is asked with."""
    check_budget(epsilon, 0, None)
    check_size(size, neighbours)
    check_alternative(alternative)
    if not is_number(null):
        raise BadInput(f"the mean to test is {null!r}; give a finite number")


def check_enough(size: int | None, epsilon: Number, needed: float, neighbours: Neighbours) -> None:
    """Refused if so many people, by a public or a noisy number, place no limit."""
    if size is not None and size * float(epsilon) < needed:
        raise Refused(too_few(size, epsilon, needed, neighbours, bounds=True))


def noisy_counts(counts: Sequence[int], cost: Laplace, rng: Randomness) -> list[int]:
    """How many people there are in each sample, with noise on a fine grid; 1 or more. [limited_tests.1]"""
    bits = fitting_bits(cost)
    steps = np.array([count << bits for count in counts], dtype=object)
    noisy = rng.blur(steps, sensitivity=2**bits, cost=cost)  # [limited_tests.1]
    return [max(1, round(Fraction(int(one), 2**bits))) for one in noisy]


def moment(total: Moment, size: float, least: float) -> Moment:
    """A noisy mean, cut to what it can be."""
    return Moment(min(max(total.mean / size, least), 1.0), total.noise / size, size)
