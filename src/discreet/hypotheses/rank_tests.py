"""Two groups or more: do their values come from one distribution? Ranks, so that nothing is assumed about that
distribution.

Releases
    RankSumTest: the noisy number U of pairs in which the first group's value is the larger. GroupsTest: the noisy sum
    A of the absolute deviations of the groups' rank sums from their expectations. The p-value is computed from it.
Promise
    [rank_tests.1] RankSumTest is pure epsilon: replacing one value moves U by at most max(n1, n2).
    [rank_tests.2] GroupsTest is pure epsilon: replacing one value moves A by at most 2 (n - n_min), n_min the smallest
          group's size.
    [rank_tests.3] If all values are independent with one distribution, both p-values are super-uniform, whatever that
    distribution and its ties.
Why
    Group sizes are public: rows come group after group, and replacing a person replaces a value, not a group. Every row
    has a secret place, drawn without looking at the data, that orders equal values: so the rows behave as n different
    numbers, each a function of its row and place. Missing values count as lower than all others.
    [rank_tests.1] A value of the first group is in n2 pairs, one of the second in n1. Then [additive.1].
    [rank_tests.2] Let D_g be group g's rank sum less its expectation n_g (n + 1) / 2. When a value of group g moves up
    by d ranks it passes d others, k of them of its group, each of which falls by one: D_g rises by d - k and the
    others' D fall by d - k in all. So A = sum |D_g| moves by at most 2 (d - k), and d - k <= n - n_g values are of
    other groups. (If also labels could change, A would move by at most 2 (n - 1): a row that moves from rank r in one
    group to rank s in another moves the D by |r - c|, by |s - c| and by |r - s| in all, c = (n + 1) / 2, which is 2 |r
    - s| if r and s are on different sides of c and 2 max(|r - c|, |s - c|) if not. That proves the constant 8 for 4 (n
    - 1) A / n^2, for labels too. But the null distribution needs the group sizes, so they are public here.)
    [rank_tests.3] Then all orders of the ranks are equally likely. U has the characteristic function
    prod_i i sin((n2 + i) t / 2) / ((n2 + i) sin(i t / 2)), i = 1, ..., n1, after centring (the Gaussian binomial
    coefficient): [null_distributions.1]. A is simulated: [null_distributions.2]; above 5,000 rows, with
    30 or more in every group, from the normal limit of rank sums with their exact covariance. What is off is the
    fourth cumulant, -1.2 / n_min of a normal's squared variance: chances move by less than 1 / (30 n_min).
Needs
    Public group sizes (PrivateGroups of hypotheses/private_sizes.py hides them, and who is there); min(n1, n2) epsilon
    of 10, else there is no power and it is refused.
Accuracy
    U: noise of scale max(n1, n2) / epsilon against a standard deviation of sqrt(n1 n2 n / 12).
Source
    Mann and Whitney 1947; Couch, Kazan, Shi, Bray and Groce 2019 for private rank tests (there with an upper bound of
    8 on the statistic's sensitivity; ours is (n - n_min) / n of it).
"""

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import lru_cache
from itertools import accumulate
from typing import Any, ClassVar, Final

import numpy as np

from discreet.errors import BadInput, DiscreetError, Refused
from discreet.hypotheses.effects import LARGER, ShareEffect
from discreet.hypotheses.null_distributions import (
    CELLS,
    DRAWS,
    LEAST,
    Floats,
    Integers,
    NoisyDistribution,
    by_parts,
    check_draws,
    check_powerful,
    simulated_p_value,
)
from discreet.hypotheses.private_sizes import PrivateGroups
from discreet.hypotheses.result import NULL, PUBLIC_GROUPS, check_replace, null_in_words, pure
from discreet.noise import distributions as simulated
from discreet.noise.additive import total
from discreet.noise.distributions import laplace_scale
from discreet.privacy.declaration import Columns, Public, grouped, number, statistic, values_of
from discreet.privacy.exact import Number, is_number
from discreet.privacy.guarantee import Neighbours, check_budget
from discreet.privacy.loss import Laplace
from discreet.privacy.mechanism import Mechanism, Randomness, Wrapped, promised, refusal_of
from discreet.privacy.release import Provenance, Release
from discreet.privacy.values import TestResult
from discreet.statistics.proportion import Alternative, check_alternative
from discreet.tables.entries import numbers, public_size
from discreet.worlds.assumptions import About, Effect
from discreet.worlds.shapes import group_sizes, two_groups

NORMAL: Final = 5_000  # rows above which rank sums are simulated from their normal limit,
FULL: Final = 30  # if no group has fewer: few ranks do not sum to a normal variable
PAIRS: Final = "the chance that someone of the first group has a larger value than someone of the second, ties by half"
ALIKE: Final = f"{NULL}all groups have one distribution in the population"
TENDS: Final = "the first tends to {} values"
FEWEST: Final = 999  # draws where ranks are many and a group is small


@dataclass(frozen=True, slots=True)
class RankSumTest:
    """Do the first `first` rows tend to be larger or smaller than the others?

    >>> from discreet.noise.randomness import Seeded
    >>> rows = [float(k % 50) for k in range(200)] + [float(k % 50 + 15) for k in range(200)]
    >>> RankSumTest(200, 1.0).release(rows, Seeded(1)).value.decide(0.001)
    True
    """

    first: int
    epsilon: Number
    _: KW_ONLY
    alternative: Alternative = "two-sided"
    neighbours: Neighbours = Neighbours.REPLACE
    unit: str = "row"
    by_ranks: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_budget(self.epsilon, 0, None)
        check_alternative(self.alternative)
        check_replace(self.neighbours)
        check_sizes((self.first,))

    guarantee, loss = promised, pure

    def release(self, rows: Any, rng: Randomness) -> Release[TestResult]:
        """The noisy share of pairs in which the first group's value is larger, and the p-value."""
        values = numbers(rows)
        size, name = public_size(values, self.neighbours), f"rank sum test ({self.alternative})"
        if (refusal := refusal_of(self, size)) is not None:
            return Release(self.guarantee, Provenance("RankSumTest", {}, rng.secure), refusal=refusal, name=name)
        one, other = all_sizes((self.first,), size)
        distribution, pairs = rank_sum_distribution(one, other, self.epsilon), one * other
        larger = larger_pairs(ranks(values, rng.permutation(len(values))), one)
        noisy = rng.blur(larger, sensitivity=max(one, other), cost=Laplace(self.epsilon))  # [rank_tests.1]
        shown = {"groups": (one, other), "alternative": self.alternative}
        effect = ShareEffect(noisy / pairs, min(one, other), float(distribution.scale) / pairs, PAIRS)  # [effects.2]
        p_value = distribution.p_value(noisy, self.alternative)  # [rank_tests.3]
        answer = TestResult(noisy / pairs, p_value, effect.share, LARGER)
        null = null_in_words("both groups have one distribution in the population", TENDS, self.alternative)
        provenance = Provenance("RankSumTest", shown, rng.secure, notes=(null, PUBLIC_GROUPS))
        return Release(self.guarantee, provenance, answer, spread=effect, name=name)

    def check(self, size: int | None) -> None:
        """Refused, by public numbers, if so many people do not fill the groups, or noise would drown them."""
        if size is None:
            return
        one, other = all_sizes((self.first,), size)
        words = f"groups of {one} and {other} at epsilon {float(self.epsilon):g}"
        check_powerful(rank_sum_distribution(one, other, self.epsilon), 0, one * other, words, Refused)

    def for_groups(self, sizes: tuple[int, ...], epsilon: Number) -> "RankSumTest":
        """The same test for two groups of these sizes."""
        return replace(self, first=sizes[0], epsilon=epsilon)


@dataclass(frozen=True, slots=True)
class GroupsTest:
    """Do several groups have one distribution? `sizes` are those of all groups but the last, which has the rest of the
    rows.

    >>> from discreet.noise.randomness import Seeded
    >>> rows = [float(k % 50 + k // 200 * 10) for k in range(600)]
    >>> GroupsTest((200, 200), 1.0).release(rows, Seeded(1)).value.decide(0.001)
    True
    """

    sizes: tuple[int, ...]
    epsilon: Number
    _: KW_ONLY
    neighbours: Neighbours = Neighbours.REPLACE
    unit: str = "row"
    draws: int = DRAWS
    by_ranks: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_budget(self.epsilon, 0, None)
        check_replace(self.neighbours)
        check_sizes(self.sizes)
        check_draws(self.draws)

    guarantee, loss = promised, pure

    def release(self, rows: Any, rng: Randomness) -> Release[TestResult]:
        """4 (n - 1) / n^2 times the noisy A, and the p-value."""
        values = numbers(rows)
        people, name = (
            public_size(values, self.neighbours),
            f"test that {len(self.sizes) + 1} groups have one distribution",
        )
        if (refusal := refusal_of(self, people)) is not None:
            return Release(self.guarantee, Provenance("GroupsTest", {}, rng.secure), refusal=refusal, name=name)
        groups = all_sizes(self.sizes, people)
        size, moved = sum(groups), deviation_moves(groups)
        found = exact_deviation(ranks(values, rng.permutation(size)), groups)
        noisy = rng.blur(found, sensitivity=moved, cost=Laplace(self.epsilon))  # [rank_tests.2]
        scale = laplace_scale(moved, self.epsilon)

        def draw(generator: Any, draws: int) -> Floats:
            return null_deviations(generator, groups, draws) + simulated.laplace(generator, (draws,), scale)

        draws = self.draws if size <= NORMAL or min(groups) >= FULL else min(self.draws, FEWEST)
        p_value = simulated_p_value(noisy, draw, rng, draws)  # [rank_tests.3]
        provenance = Provenance("GroupsTest", {"groups": groups}, rng.secure, notes=(ALIKE, PUBLIC_GROUPS))
        answer = TestResult(4 * (size - 1) / size**2 * noisy, p_value)
        return Release(self.guarantee, provenance, answer, name=name)

    def check(self, size: int | None) -> None:
        """Refused, by public numbers, if so many people do not fill the groups, or noise would drown the smallest."""
        if size is not None:
            check_smallest(all_sizes(self.sizes, size), self.epsilon, Refused)

    def for_groups(self, sizes: tuple[int, ...], epsilon: Number) -> "GroupsTest":
        """The same test for groups of these sizes."""
        return replace(self, sizes=sizes[:-1], epsilon=epsilon)


def ranks(values: Floats, places: Integers) -> Integers:
    """1, ..., n; missing values lowest, ties by secret places. [rank_tests.1]"""
    order = np.lexsort((places, np.where(np.isnan(values), -np.inf, values)))
    found = np.empty(len(values), dtype=np.int64)
    found[order] = np.arange(1, len(values) + 1)
    return found


def larger_pairs(found: Integers, first: int) -> int:
    """In how many pairs the first group's rank is the larger. [rank_tests.1]"""
    return total(found[:first], len(found)) - first * (first + 1) // 2  # Python's integers: no n is too large


@lru_cache(maxsize=64)
def rank_sum_distribution(one: int, other: int, epsilon: Number) -> NoisyDistribution:
    """U if all orders are equally likely, and noise. Hoeffding's bound: 24 deviations leave less than e^-48.
    [rank_tests.3]"""
    few, many = min(one, other), max(one, other)

    def factor(k: Integers, i: Integers, m: int) -> Floats:
        above = np.sin(np.pi * (k * (many + i) % (2 * m)) / m) / (many + i)
        found: Floats = above * i / np.sin(np.pi * (k * i % (2 * m)) / m)  # m is prime and above n: never 0 / 0
        return found

    deviation_of_u = math.sqrt(one * other * (one + other + 1) / 12)
    return NoisyDistribution(
        by_parts(factor, few),
        one * other,
        max(min((one * other + 1) // 2, math.ceil(24 * deviation_of_u)), (one + other) // 2 + 1),
        laplace_scale(many, epsilon),
    )


def deviation(table: Integers, groups: Sequence[int]) -> Integers:
    """A of each row of ranks: the sum over groups of |rank sum - its expectation|. [rank_tests.2]

    Half of it is a whole number of half ranks: the D sum to 0, so that A is twice the sum of the positive ones.
    """
    starts = [0, *accumulate(groups)][:-1]
    size = table.shape[1]
    doubled = 2 * np.add.reduceat(table, starts, axis=1) - np.array(groups) * (size + 1)
    found: Integers = np.maximum(doubled, 0).sum(axis=1)
    return found


def exact_deviation(found: Integers, groups: Sequence[int]) -> int:
    """A of one row of ranks, in Python's integers: no n is too large. [rank_tests.2]"""
    parts = np.split(found, [*accumulate(groups)][:-1])
    sums = (2 * total(part, len(found)) - len(part) * (len(found) + 1) for part in parts)
    return sum(max(0, doubled) for doubled in sums)


def null_deviations(generator: Any, groups: Sequence[int], draws: int) -> Floats:
    """A for equally likely orders. [rank_tests.3]"""
    size = sum(groups)
    if size > NORMAL and min(groups) >= FULL:  # [rank_tests.3]
        sizes = np.array(groups, dtype=np.float64)
        normal = generator.standard_normal((draws, len(groups))) * np.sqrt(sizes)
        parts = normal - sizes / size * normal.sum(axis=1, keepdims=True)
        limit: Floats = math.sqrt(size * (size + 1) / 12) * np.abs(parts).sum(axis=1)
        return limit
    found = np.empty(draws)
    step = max(1, CELLS // size)
    for start in range(0, draws, step):
        count = min(step, draws - start)
        table = np.tile(np.arange(1, size + 1), (count, 1))
        found[start : start + count] = deviation(generator.permuted(table, axis=1, out=table), groups)
    return found


def deviation_moves(groups: Sequence[int]) -> int:
    """How far one replaced value moves A, at most. [rank_tests.2]"""
    return 2 * (sum(groups) - min(groups))


def check_smallest(groups: Sequence[int], epsilon: Number, error: type[DiscreetError] = BadInput) -> None:
    """Refuse, by public numbers, a group that noise would drown."""
    if min(groups) * float(epsilon) < LEAST:
        raise error(
            f"the smallest group has {min(groups)} rows; at epsilon {float(epsilon):g} "
            f"{math.ceil(LEAST / float(epsilon))} are needed, or there is hardly any power"
        )


def check_sizes(sizes: Sequence[int]) -> None:
    """Whole numbers, 1 or more."""
    if (
        not isinstance(sizes, list | tuple)
        or not sizes
        or not all(isinstance(size, int) and not isinstance(size, bool) and size >= 1 for size in sizes)
    ):
        raise BadInput(f"the group sizes are {sizes!r}; give whole numbers, 1 or more")


def all_sizes(sizes: Sequence[int], size: int | None) -> tuple[int, ...]:
    """The last group's size with the others'."""
    assert size is not None
    if size <= sum(sizes):
        raise Refused(f"{size} rows do not fill groups of {', '.join(map(str, sizes))} and one more; bring all groups")
    return (*sizes, size - sum(sizes))


@statistic({"x": number(sample=True), "y": number(sample=True)}, rows=grouped, world=two_groups)
def two_samples_test(
    people: Public, x: Columns, y: Columns, *, epsilon: Number, alternative: Alternative = "two-sided"
) -> Mechanism[TestResult]:
    """Null: two independent groups have one distribution (Mann and Whitney). Exact, whatever the distribution.

    "greater" is for x that tends to be larger. Under the default relation, "add_or_remove", a person's group and
    presence are hidden too; under "replace" they are public.

    >>> import discreet
    >>> x, y = [k % 50 for k in range(200)], [k % 50 + 15 for k in range(200)]
    >>> discreet.two_samples_test(x, y, epsilon=1.0, rng=discreet.Seeded(1)).value.decide(0.01)
    True
    """
    test = RankSumTest(1 if x.size is None else x.size, epsilon, alternative=alternative, unit=people.unit)
    return PrivateGroups(test, 2) if people.size is None else Wrapped(test, before=values_of)


def _world(about: About) -> Effect:
    groups, given = about.whole("groups", 3, 2, 1000), about.take("effect", 0.3)
    shifts = list(given) if isinstance(given, list | tuple) else list(np.linspace(0, given, groups))
    if len(shifts) != groups or not all(map(is_number, shifts)):
        raise BadInput(f"effect is {given!r}; give a number, or a list of {groups} shifts")
    about.say(f"normal groups, shifted by {', '.join(f'{shift:g}' for shift in shifts)} standard deviations")
    sizes = group_sizes(about, groups)

    def moved(n: int) -> list[float]:
        return [float(shift) * about.stretch(n) for shift in shifts]

    return Effect(
        make=lambda g, n: {
            "groups": [shift + g.standard_normal(size) for shift, size in zip(moved(n), sizes(n), strict=True)]
        },
    )


@statistic({"groups": number(sample=True)}, rows=grouped, world=_world)
def anova(people: Public, *groups: Columns, epsilon: Number) -> Mechanism[TestResult]:
    """Null: several independent groups have one distribution, by ranks. Exact, whatever the distribution.

    Under the default relation, "add_or_remove", a person's group and presence are hidden too; under "replace" they are
    public.

    >>> import discreet
    >>> groups = [[k % 50 + shift for k in range(200)] for shift in (0, 10, 20)]
    >>> discreet.anova(*groups, epsilon=1.0, rng=discreet.Seeded(1)).value.decide(0.01)
    True
    """
    if len(groups) < 2:
        raise BadInput(f"{len(groups)} group is given; give two or more, one after the other")
    sizes = tuple(1 if group.size is None else group.size for group in groups[:-1])
    test = GroupsTest(sizes, epsilon, unit=people.unit)
    return PrivateGroups(test, len(groups)) if people.size is None else Wrapped(test, before=values_of)
