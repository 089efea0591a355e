"""Counts in public categories: do they agree between two samples, are two columns independent?

Releases
    A noisy count for every public cell (and one for what fits in none), and the p-value computed from them.
Promise
    [category_tests.1] Pure epsilon: replacing one person's row lowers one count by 1 and raises one by 1. In
          ClosenessTest who is in which sample is public. IndependenceTest hides under ADD_OR_REMOVE whether one person
          is there: one count moves by 1. (Two samples of private sizes: the test of independence of sample and entry.)
    [category_tests.2] Super-uniform in the limit of many people. The distribution under the null hypothesis depends on
          probabilities that nobody knows; they are estimated from the noisy counts, and it is simulated at the
          estimate, noise and estimation included. The note of the release says so.
Why
    [category_tests.1] Each row is in one cell ([histogram.4]). In ClosenessTest each sample has cells of its own, and a
    person stays in one sample. So the counts move by at most 2 in L1, under ADD_OR_REMOVE by 1: [additive.1].
    [category_tests.2] Estimates are consistent, and the distribution of the statistic is continuous in them. They are
    shrunk to the simplex, which noise leaves. The number of people, where it is private, is estimated too, by the noisy
    total.
Needs
    Public categories or bins; n epsilon of 10 where n is public.
Accuracy
    Each count has noise of standard deviation 2.8 / epsilon, or 1.4 / epsilon under ADD_OR_REMOVE; a cell tells little
    that expects fewer people than that.
Source
    Gaboardi, Lim, Rogers and Vadhan 2016; Kifer and Rogers 2017. The statistic with V in each denominator is ours.
"""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Final

import numpy as np

from discreet.errors import BadInput, Refused
from discreet.hypotheses.goodness_of_fit import MOVED, checked_size, fewer, public_bins
from discreet.hypotheses.null_distributions import DRAWS, Floats, Integers, check_draws, simulated_p_value
from discreet.hypotheses.rank_tests import all_sizes, check_sizes
from discreet.hypotheses.result import NULL, PUBLIC_GROUPS, check_replace, pure
from discreet.noise import distributions as simulated
from discreet.noise.distributions import LaplaceDistribution, laplace_scale
from discreet.privacy.declaration import Columns, Public, Reads, category, grouped, number, statistic, values_of
from discreet.privacy.exact import Number
from discreet.privacy.guarantee import Neighbours, check_budget
from discreet.privacy.loss import Laplace
from discreet.privacy.mechanism import Mechanism, Randomness, Wrapped, promised, refusal_of
from discreet.privacy.release import Provenance, Release
from discreet.privacy.values import TestResult
from discreet.statistics.histogram import Bins, Categories, counts
from discreet.tables.entries import by_name, column, public_size
from discreet.tables.streams import cell_counts, each
from discreet.worlds.assumptions import About, Effect
from discreet.worlds.shapes import group_sizes, tilt, tilted

AGREE: Final = f"{NULL}both samples have the same shares of categories in the population"
APART: Final = f"{NULL}both columns are independent in the population"
LIMIT: Final = (
    "the p-value holds in the limit of many people: its null distribution is simulated at estimated probabilities"
)


@dataclass(frozen=True, slots=True)
class ClosenessTest:
    """Have the first `first` rows and the others the same probabilities of these bins?

    >>> from discreet.noise.randomness import Seeded
    >>> from discreet.statistics.histogram import Categories
    >>> test = ClosenessTest(Categories.of(list("ab")), 200, 1.0)
    >>> test.release(["a"] * 150 + ["b"] * 150 + ["a"] * 50, Seeded(1)).value.decide(0.001)
    True
    """

    bins: Bins
    first: int
    epsilon: Number
    _: KW_ONLY
    neighbours: Neighbours = Neighbours.REPLACE
    unit: str = "row"
    draws: int = DRAWS

    def __post_init__(self) -> None:
        check_budget(self.epsilon, 0, None)
        check_replace(self.neighbours)
        check_draws(self.draws)
        check_sizes((self.first,))

    guarantee, loss = promised, pure

    def release(self, rows: Any, rng: Randomness) -> Release[TestResult]:
        """The noisy chi-square statistic and its p-value."""
        values = column(rows)
        size, name = public_size(values, self.neighbours), "test that two samples agree"
        if (refusal := refusal_of(self, size)) is not None:
            return Release(self.guarantee, Provenance("ClosenessTest", {}, rng.secure), refusal=refusal, name=name)
        sizes = all_sizes((self.first,), size)
        table = np.stack([counts(self.bins, values[: self.first]), counts(self.bins, values[self.first :])])
        noisy = rng.blur(table, sensitivity=MOVED, cost=Laplace(self.epsilon))  # [category_tests.1]
        scale = laplace_scale(MOVED, self.epsilon)
        chances = pooled(noisy[None, :, :], sizes)[0]

        def draw(generator: Any, draws: int) -> Floats:
            drawn = np.stack([generator.multinomial(size, chances, draws) for size in sizes], axis=1)
            return distance(drawn + simulated.laplace(generator, drawn.shape, scale), sizes, scale)

        observed = float(distance(noisy[None, :, :], sizes, scale)[0])
        p_value = simulated_p_value(observed, draw, rng, fewer(self.draws, 2 * len(chances)))  # [category_tests.2]
        provenance = Provenance(
            "ClosenessTest", {"bins": self.bins.names, "rows": sizes}, rng.secure, notes=(AGREE, LIMIT, PUBLIC_GROUPS)
        )
        return Release(self.guarantee, provenance, TestResult(observed, p_value), name=name)

    def check(self, size: int | None) -> None:
        """Refused, by public numbers, if so many people do not fill both samples, or cannot be told from noise."""
        if size is not None:
            checked_size(min(all_sizes((self.first,), size)), self.epsilon, Refused)


@dataclass(frozen=True, slots=True)
class IndependenceTest:
    """Are two columns independent? Rows are pairs; those with an entry that is not listed are left out.

    >>> from discreet.noise.randomness import Seeded
    >>> from discreet.statistics.histogram import Categories
    >>> test = IndependenceTest(Categories.of(list("ab")), Categories.of(list("xy")), 1.0)
    >>> test.release([("a", "x"), ("b", "y"), ("a", "y")] * 100, Seeded(1)).value.decide(0.001)
    True
    """

    one: Bins
    other: Bins
    epsilon: Number
    _: KW_ONLY
    neighbours: Neighbours = Neighbours.REPLACE
    unit: str = "row"
    draws: int = DRAWS

    def __post_init__(self) -> None:
        check_budget(self.epsilon, 0, None)
        check_draws(self.draws)
        if min(len(self.one), len(self.other)) < 2:
            raise BadInput("each column needs two categories or more; list them")

    guarantee, loss = promised, pure

    def release(self, rows: Any, rng: Randomness) -> Release[TestResult]:
        """The noisy chi-square statistic and its p-value."""
        cells = each(self.cells, by_name(rows, "x", "y"), np.int64)
        size, name = public_size(cells, self.neighbours), "test of independence"
        shown = {"bins": (self.one.names, self.other.names), "rows": size}
        provenance = Provenance("IndependenceTest", shown, rng.secure, notes=(APART, LIMIT))
        if (refusal := refusal_of(self, size)) is not None:
            return Release(self.guarantee, provenance, refusal=refusal, name=name)
        shape, moved = (len(self.one), len(self.other)), 1 if size is None else MOVED
        exact_counts = cell_counts(cells, shape[0] * shape[1] + 1)
        noisy = rng.blur(exact_counts, sensitivity=moved, cost=Laplace(self.epsilon))  # [category_tests.1]
        scale = laplace_scale(moved, self.epsilon)
        table = noisy[:-1].reshape(1, *shape)
        listed = max(1, int(table.sum())) if size is None else likely_listed(size, int(noisy[-1]), scale)
        chances = (margin(table, 2).T @ margin(table, 1)).ravel()

        def draw(generator: Any, draws: int) -> Floats:
            drawn = generator.multinomial(listed, chances, draws)
            noise = simulated.laplace(generator, drawn.shape, scale)
            return dependence((drawn + noise).reshape(draws, *shape), scale)

        observed = float(dependence(table, scale)[0])
        p_value = simulated_p_value(observed, draw, rng, fewer(self.draws, len(chances)))  # [category_tests.2]
        return Release(self.guarantee, provenance, TestResult(observed, p_value), name=name)

    def check(self, size: int | None) -> None:
        """Refused, by public numbers, if so many people cannot be told from noise."""
        if size is not None:
            checked_size(size, self.epsilon, Refused)

    def cells(self, pairs: Mapping[str, Any]) -> Integers:
        """The cell of each pair; the last one for those with an entry that is not listed. [category_tests.1]"""
        i, j = self.one.indices(pairs["x"]), self.other.indices(pairs["y"])
        outside = (i == len(self.one)) | (j == len(self.other))
        found: Integers = np.where(outside, len(self.one) * len(self.other), i * len(self.other) + j)
        return found


def distance(tables: Integers, sizes: tuple[int, ...], scale: Any) -> Floats:
    """sum (difference of shares)^2 / its estimated variance, of each pair of rows of counts. [category_tests.2]"""
    chances, noise = pooled(tables, sizes), LaplaceDistribution(scale).sd ** 2
    one, other = sizes
    apart = tables[:, 0, :] / one - tables[:, 1, :] / other
    variance = chances * (1 - chances) * (1 / one + 1 / other) + noise * (1 / one**2 + 1 / other**2)
    found: Floats = (apart**2 / variance).sum(axis=1)
    return found


def pooled(tables: Integers, sizes: tuple[int, ...]) -> Floats:
    """Probabilities that both samples share, estimated from their noisy counts. [category_tests.2]"""
    return shares(tables.sum(axis=1) / sum(sizes))


def dependence(tables: Integers, scale: Any) -> Floats:
    """sum (c - row sum column sum / total)^2 / its estimated variance under independence, of each table.
    [category_tests.2]

    The sums are those of the noisy table, as they are: expectations from probabilities within the simplex would be
    biased in rare rows and columns, and the test would reject too often there.
    """
    total = np.maximum(1, tables.sum(axis=(1, 2), keepdims=True))
    expected = tables.sum(axis=2, keepdims=True) * tables.sum(axis=1, keepdims=True) / total
    p, q = margin(tables, 2)[:, :, None], margin(tables, 1)[:, None, :]
    variance = total * p * (1 - p) * q * (1 - q) + LaplaceDistribution(scale).sd ** 2
    found: Floats = ((tables - expected) ** 2 / variance).sum(axis=(1, 2))
    return found


def likely_listed(size: int, other: int, scale: Any) -> int:
    """How many pairs are in the table: all, unless the noisy number of the others is more than noise.
    [category_tests.2]"""
    return size if other <= LaplaceDistribution(scale).radius(0.95) else max(1, size - other)


def margin(tables: Integers, axis: int) -> Floats:
    """The probabilities of the rows or columns, estimated from noisy tables. [category_tests.2]"""
    sums = tables.sum(axis=axis)
    return shares(sums / np.maximum(1, sums.sum(axis=1, keepdims=True)))


def shares(rough: Floats) -> Floats:
    """The nearest probabilities to each row: a constant is taken off, what is left negative is 0."""
    ordered = -np.sort(-rough, axis=1)
    excess = (np.cumsum(ordered, axis=1) - 1) / np.arange(1, rough.shape[1] + 1)
    last = np.count_nonzero(ordered > excess, axis=1)
    found = np.maximum(rough - excess[np.arange(len(rough)), np.maximum(last, 1) - 1][:, None], 0.0)
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def _sampled(options: Mapping[str, Any]) -> Reads:
    return number(sample=True) if options.get("edges") is not None else category(sample=True)


def _world_of_two(about: About) -> Effect:
    names: Any
    if about.given.get("edges") is not None:
        ends = np.array(about.given["edges"], dtype=float)
        names = (ends[:-1] + ends[1:]) / 2
    else:
        if about.given.get("categories") is None:
            about.given["categories"] = list(range(about.whole("bins", 5, 2, 10_000)))
        names = np.array(list(about.given["categories"]), dtype=object)
    sizes, even, effect = group_sizes(about, 2), np.full(len(names), 1 / len(names)), tilt(about)

    def make(g: Any, n: int) -> dict[str, Any]:
        first, second = sizes(n)
        other = tilted(even, effect * about.stretch(n))
        return {"x": g.choice(names, first, p=even), "y": g.choice(names, second, p=other)}

    return Effect(make=make)


@statistic({"x": _sampled, "y": _sampled}, rows=grouped, world=_world_of_two)
def closeness_test(
    people: Public, x: Columns, y: Columns, *, epsilon: Number, categories: Any = None, edges: Any = None
) -> Mechanism[TestResult]:
    """Null: two samples have the same probabilities of public bins. Holds for many people.

    Under the default relation, "add_or_remove", a person's sample and presence are hidden too; under "replace" they are
    public.

    >>> import discreet
    >>> x, y = ["a"] * 150 + ["b"] * 50, ["a"] * 100 + ["b"] * 100
    >>> discreet.closeness_test(x, y, epsilon=1.0, categories=["a", "b"], rng=discreet.Seeded(1)).value.decide(0.01)
    True
    """
    bins = public_bins(categories, edges)
    if people.size is None:
        return IndependenceTest(Categories.of([0, 1]), bins, epsilon, neighbours=people.neighbours, unit=people.unit)
    return Wrapped(ClosenessTest(bins, x.size or 0, epsilon, unit=people.unit), before=values_of)


def _world_of_pairs(about: About) -> Effect:
    if about.given.get("categories") is None:
        bins = about.whole("bins", 3, 2, 1000)
        about.given["categories"] = (list(range(bins)), list(range(bins)))
    first, second = (np.array(list(names), dtype=object) for names in about.given["categories"])
    effect = about.number("effect", 0.1, 0.0, 1.0)
    about.say(f"in {effect:g} of the rows the second column follows the first, all categories alike")

    def make(g: Any, n: int) -> dict[str, Any]:
        x = g.integers(0, len(first), n)
        follows = g.random(n) < effect * about.stretch(n)
        return {"x": first[x], "y": second[np.where(follows, x % len(second), g.integers(0, len(second), n))]}

    return Effect(make=make)


@statistic({"x": category(streams=True), "y": category(streams=True)}, rows=dict, world=_world_of_pairs)
def independence_test(
    people: Public, x: Columns, y: Columns, *, epsilon: Number, categories: Any
) -> Mechanism[TestResult]:
    """Null: two columns are independent; `categories` lists those of x, then those of y. Holds for many people.

    >>> import discreet
    >>> x, y = ["a", "b", "a"] * 200, [0, 1, 1] * 200
    >>> release = discreet.independence_test(
    ...     x, y, epsilon=1.0, categories=(["a", "b"], [0, 1]), rng=discreet.Seeded(1))
    >>> release.value.decide(0.01)
    True
    """
    if not isinstance(categories, list | tuple) or len(categories) != 2:
        raise BadInput(f"categories is {categories!r}; give two lists: the categories of x and those of y")
    first, second = (Categories.of(listed) for listed in categories)
    return IndependenceTest(first, second, epsilon, neighbours=people.neighbours, unit=people.unit)
