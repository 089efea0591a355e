"""Counts in public categories: do they fit given probabilities, agree between two samples, are two columns independent?

Releases
    A noisy count for every public cell (and one for what fits in none), and the p-value computed from them.
Promise
    [category_tests.1] Pure epsilon: replacing one person's row lowers one count by 1 and raises one by 1. In
          ClosenessTest who is in which sample is public.
    [category_tests.2] FitTest: the p-value is super-uniform if the entries are independent with the given
    probabilities.
    [category_tests.3] ClosenessTest, IndependenceTest: super-uniform in the limit of many people. The null law depends
          on probabilities that nobody knows; they are estimated from the noisy counts, and the law is simulated at the
          estimate, noise and estimation included. The note of the release says so.
Why
    [category_tests.1] Each row is in one cell ([bins.1]). In ClosenessTest each sample has cells of its own, and a
    person stays in one sample. So the counts move by at most 2 in L1: [additive.1].
    [category_tests.2] The statistic is a function of the noisy counts, whose null law is known and simulated:
    [null_distributions.2] of hypotheses/null_distributions.py. It is sum (c - n p)^2 / (n p (1 - p) + V) over the
    cells, V the variance of the noise: cells where noise is all there is count little.
    [category_tests.3] Estimates are consistent, and the law of the statistic is continuous in them. They are shrunk to
    the simplex, which noise leaves.
Needs
    Public categories or bins; a public number of people, n epsilon of 10.
Accuracy
    Each count has noise of standard deviation 2.8 / epsilon; a cell tells little that expects fewer people than that.
Source
    Gaboardi, Lim, Rogers and Vadhan 2016; Kifer and Rogers 2017. The statistic with V in each denominator is ours.
"""

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from discreet.errors import BadInput
from discreet.hypotheses.null_distributions import (
    CELLS,
    DRAWS,
    LEAST,
    Floats,
    Integers,
    check_draws,
    simulated_p_value,
)
from discreet.hypotheses.rank_tests import all_sizes, check_sizes
from discreet.hypotheses.result import PUBLIC_GROUPS, check_replace
from discreet.noise import distributions as simulated
from discreet.noise.distributions import LaplaceLaw, laplace_scale
from discreet.privacy.exact import Number, is_number
from discreet.privacy.guarantee import Guarantee, check_budget
from discreet.privacy.loss import Approximate, Laplace
from discreet.privacy.mechanism import Randomness
from discreet.privacy.neighbours import Neighbours
from discreet.privacy.provenance import Provenance
from discreet.privacy.release import Release
from discreet.privacy.values import TestResult
from discreet.statistics.bins import Bins, Edges, counts
from discreet.tables.entries import column, public_size

MOVED: Final = 2  # [category_tests.1]
LIMIT: Final = "the p-value holds in the limit of many people: its null law is simulated at estimated probabilities"


@dataclass(frozen=True, slots=True)
class FitTest:
    """Do the entries fall into public bins with these probabilities? What fits in no bin has the rest of 1.

    >>> from discreet.noise.randomness import Seeded
    >>> from discreet.statistics.bins import Categories
    >>> test = FitTest(Categories.of(list("abc")), (0.5, 0.25, 0.25), 1.0)
    >>> test.release(list("abc") * 200, Seeded(1)).value.decide(0.001)
    True
    """

    bins: Bins
    probabilities: tuple[float, ...]
    epsilon: Number
    neighbours: Neighbours = Neighbours.REPLACE
    unit: str = "row"
    draws: int = DRAWS

    def __post_init__(self) -> None:
        check_budget(self.epsilon, 0, None)
        check_replace(self.neighbours)
        check_draws(self.draws)
        given = self.probabilities
        if (
            not isinstance(given, tuple)
            or len(given) != len(self.bins)
            or not all(is_number(p) and p >= 0 for p in given)
            or sum(given) > 1 + 1e-9
        ):
            raise BadInput(
                f"the probabilities are {given!r}; give {len(self.bins)} numbers, 0 or more, that sum to at most 1"
            )

    @property
    def guarantee(self) -> Guarantee:
        """Pure epsilon."""
        return Guarantee(self.epsilon, 0.0, self.neighbours, self.unit)

    @property
    def loss(self) -> Approximate:
        """Pure epsilon."""
        return Approximate(self.epsilon, 0)

    def release(self, rows: Any, rng: Randomness) -> Release[TestResult]:
        """The noisy chi-square statistic and its p-value."""
        values = column(rows)
        size = checked_size(public_size(values, self.neighbours), self.epsilon)
        noisy = rng.blur(counts(self.bins, values), sensitivity=MOVED, cost=Laplace(self.epsilon))  # [category_tests.1]
        chances, scale = whole_of(self.probabilities), laplace_scale(MOVED, self.epsilon)

        def draw(generator: Any, draws: int) -> Floats:
            return null_fits(generator, size, chances, scale, draws)

        observed = float(misfit(noisy[None, :], size, chances, scale)[0])
        p_value = simulated_p_value(observed, draw, rng, fewer(self.draws, len(chances)))  # [category_tests.2]
        provenance = Provenance("FitTest", {"bins": self.bins.names, "rows": size}, rng.secure)
        return Release(self.guarantee, provenance, TestResult(observed, p_value), name="test of fit")


@dataclass(frozen=True, slots=True)
class ClosenessTest:
    """Have the first `first` rows and the others the same probabilities of these bins?

    >>> from discreet.noise.randomness import Seeded
    >>> from discreet.statistics.bins import Categories
    >>> test = ClosenessTest(Categories.of(list("ab")), 200, 1.0)
    >>> test.release(["a"] * 150 + ["b"] * 150 + ["a"] * 50, Seeded(1)).value.decide(0.001)
    True
    """

    bins: Bins
    first: int
    epsilon: Number
    neighbours: Neighbours = Neighbours.REPLACE
    unit: str = "row"
    draws: int = DRAWS

    def __post_init__(self) -> None:
        check_budget(self.epsilon, 0, None)
        check_replace(self.neighbours)
        check_draws(self.draws)
        check_sizes((self.first,))

    @property
    def guarantee(self) -> Guarantee:
        """Pure epsilon."""
        return Guarantee(self.epsilon, 0.0, self.neighbours, self.unit)

    @property
    def loss(self) -> Approximate:
        """Pure epsilon."""
        return Approximate(self.epsilon, 0)

    def release(self, rows: Any, rng: Randomness) -> Release[TestResult]:
        """The noisy chi-square statistic and its p-value."""
        values = column(rows)
        sizes = all_sizes((self.first,), public_size(values, self.neighbours))
        checked_size(min(sizes), self.epsilon)
        table = np.stack([counts(self.bins, values[: self.first]), counts(self.bins, values[self.first :])])
        noisy = rng.blur(table, sensitivity=MOVED, cost=Laplace(self.epsilon))  # [category_tests.1]
        scale = laplace_scale(MOVED, self.epsilon)
        chances = pooled(noisy[None, :, :], sizes)[0]

        def draw(generator: Any, draws: int) -> Floats:
            drawn = np.stack([generator.multinomial(size, chances, draws) for size in sizes], axis=1)
            return distance(drawn + simulated.laplace(generator, drawn.shape, scale), sizes, scale)

        observed = float(distance(noisy[None, :, :], sizes, scale)[0])
        p_value = simulated_p_value(observed, draw, rng, fewer(self.draws, 2 * len(chances)))  # [category_tests.3]
        provenance = Provenance(
            "ClosenessTest", {"bins": self.bins.names, "rows": sizes}, rng.secure, (LIMIT, PUBLIC_GROUPS)
        )
        return Release(self.guarantee, provenance, TestResult(observed, p_value), name="test that two samples agree")


@dataclass(frozen=True, slots=True)
class IndependenceTest:
    """Are two columns independent? Rows are pairs; those with an entry that is not listed are left out.

    >>> from discreet.noise.randomness import Seeded
    >>> from discreet.statistics.bins import Categories
    >>> test = IndependenceTest(Categories.of(list("ab")), Categories.of(list("xy")), 1.0)
    >>> test.release([("a", "x"), ("b", "y"), ("a", "y")] * 100, Seeded(1)).value.decide(0.001)
    True
    """

    one: Bins
    other: Bins
    epsilon: Number
    neighbours: Neighbours = Neighbours.REPLACE
    unit: str = "row"
    draws: int = DRAWS

    def __post_init__(self) -> None:
        check_budget(self.epsilon, 0, None)
        check_replace(self.neighbours)
        check_draws(self.draws)
        if min(len(self.one), len(self.other)) < 2:
            raise BadInput("each column needs two categories or more; list them")

    @property
    def guarantee(self) -> Guarantee:
        """Pure epsilon."""
        return Guarantee(self.epsilon, 0.0, self.neighbours, self.unit)

    @property
    def loss(self) -> Approximate:
        """Pure epsilon."""
        return Approximate(self.epsilon, 0)

    def release(self, rows: Any, rng: Randomness) -> Release[TestResult]:
        """The noisy chi-square statistic and its p-value."""
        cells = self.cells(rows)
        size = checked_size(public_size(cells, self.neighbours), self.epsilon)
        shape = (len(self.one), len(self.other))
        exact_counts = np.bincount(cells, minlength=shape[0] * shape[1] + 1).astype(np.int64)
        noisy = rng.blur(exact_counts, sensitivity=MOVED, cost=Laplace(self.epsilon))  # [category_tests.1]
        scale = laplace_scale(MOVED, self.epsilon)
        listed = likely_listed(size, int(noisy[-1]), scale)
        table = noisy[:-1].reshape(1, *shape)
        chances = (margin(table, 2).T @ margin(table, 1)).ravel()

        def draw(generator: Any, draws: int) -> Floats:
            drawn = generator.multinomial(listed, chances, draws)
            noise = simulated.laplace(generator, drawn.shape, scale)
            return dependence((drawn + noise).reshape(draws, *shape), scale)

        observed = float(dependence(table, scale)[0])
        p_value = simulated_p_value(observed, draw, rng, fewer(self.draws, len(chances)))  # [category_tests.3]
        shown = {"bins": (self.one.names, self.other.names), "rows": size}
        provenance = Provenance("IndependenceTest", shown, rng.secure, (LIMIT,))
        return Release(self.guarantee, provenance, TestResult(observed, p_value), name="test of independence")

    def cells(self, rows: Any) -> Integers:
        """The cell of each pair; the last one for those with an entry that is not listed. [category_tests.1]"""
        first, second = pairs(rows)
        i, j = self.one.indices(first), self.other.indices(second)
        outside = (i == len(self.one)) | (j == len(self.other))
        found: Integers = np.where(outside, len(self.one) * len(self.other), i * len(self.other) + j)
        return found


def pairs(rows: Any) -> tuple[Any, Any]:
    """Two columns out of pairs; what is no pair is two missing entries."""
    if isinstance(rows, np.ndarray) and rows.ndim == 2 and rows.shape[1] == 2:
        return column(rows[:, 0]), column(rows[:, 1])
    split = [row if isinstance(row, list | tuple) and len(row) == 2 else (None, None) for row in column(rows)]
    return column([row[0] for row in split]), column([row[1] for row in split])


def misfit(table: Integers, size: int, chances: Floats, scale: Any) -> Floats:
    """sum (c - n p)^2 / (n p (1 - p) + V), of each row of counts. [category_tests.2]"""
    expected = size * chances
    found: Floats = ((table - expected) ** 2 / (expected * (1 - chances) + LaplaceLaw(scale).sd ** 2)).sum(axis=1)
    return found


def null_fits(
    generator: Any, size: int, chances: Floats, scale: Any, draws: int, *, truth: Floats | None = None
) -> Floats:
    """The statistic on simulated counts with noise: under the null hypothesis, or under another truth.
    [category_tests.2]"""
    drawn = generator.multinomial(size, chances if truth is None else truth, draws)
    return misfit(drawn + simulated.laplace(generator, drawn.shape, scale), size, chances, scale)


def distance(tables: Integers, sizes: tuple[int, ...], scale: Any) -> Floats:
    """sum (difference of shares)^2 / its estimated variance, of each pair of rows of counts. [category_tests.3]"""
    chances, noise = pooled(tables, sizes), LaplaceLaw(scale).sd ** 2
    one, other = sizes
    apart = tables[:, 0, :] / one - tables[:, 1, :] / other
    variance = chances * (1 - chances) * (1 / one + 1 / other) + noise * (1 / one**2 + 1 / other**2)
    found: Floats = (apart**2 / variance).sum(axis=1)
    return found


def pooled(tables: Integers, sizes: tuple[int, ...]) -> Floats:
    """Probabilities that both samples share, estimated from their noisy counts. [category_tests.3]"""
    return shares(tables.sum(axis=1) / sum(sizes))


def dependence(tables: Integers, scale: Any) -> Floats:
    """sum (c - row sum column sum / total)^2 / its estimated variance under independence, of each table.
    [category_tests.3]

    The sums are those of the noisy table, as they are: expectations from probabilities within the simplex would be
    biased in rare rows and columns, and the test would reject too often there.
    """
    total = np.maximum(1, tables.sum(axis=(1, 2), keepdims=True))
    expected = tables.sum(axis=2, keepdims=True) * tables.sum(axis=1, keepdims=True) / total
    p, q = margin(tables, 2)[:, :, None], margin(tables, 1)[:, None, :]
    variance = total * p * (1 - p) * q * (1 - q) + LaplaceLaw(scale).sd ** 2
    found: Floats = ((tables - expected) ** 2 / variance).sum(axis=(1, 2))
    return found


def likely_listed(size: int, other: int, scale: Any) -> int:
    """How many pairs are in the table: all, unless the noisy number of the others is more than noise.
    [category_tests.3]"""
    return size if other <= LaplaceLaw(scale).radius(0.95) else max(1, size - other)


def margin(tables: Integers, axis: int) -> Floats:
    """The probabilities of the rows or columns, estimated from noisy tables. [category_tests.3]"""
    sums = tables.sum(axis=axis)
    return shares(sums / np.maximum(1, sums.sum(axis=1, keepdims=True)))


def shares(rough: Floats) -> Floats:
    """The nearest probabilities to each row: a constant is taken off, what is left negative is 0."""
    ordered = -np.sort(-rough, axis=1)
    excess = (np.cumsum(ordered, axis=1) - 1) / np.arange(1, rough.shape[1] + 1)
    last = np.count_nonzero(ordered > excess, axis=1)
    found = np.maximum(rough - excess[np.arange(len(rough)), np.maximum(last, 1) - 1][:, None], 0.0)
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def whole_of(probabilities: tuple[float, ...]) -> Floats:
    """With the rest for what fits in no bin."""
    given = np.array([float(p) for p in probabilities])
    rest = 1 - math.fsum(given)
    full = np.append(given, rest if rest > 1e-9 else 0.0)
    return np.asarray(full / full.sum())


def fewer(draws: int, cells: int) -> int:
    """How often to simulate tables of so many cells."""
    return min(draws, max(999, 10 * CELLS // cells))


def checked_size(size: int | None, epsilon: Number) -> int:
    """Refuse where nothing could be told from noise."""
    assert size is not None
    if size * float(epsilon) < LEAST:
        raise BadInput(
            f"{size} people at epsilon {float(epsilon):g} cannot be told from noise; "
            f"{math.ceil(LEAST / float(epsilon))} are needed"
        )
    return size


def law_on_bins(law: Any, bins: Edges | None, cells: int) -> tuple[Edges, tuple[float, ...]]:
    """Bins and their probabilities under a law with `ppf` and `cdf`, as scipy.stats has them; by default equal ones."""
    if bins is None:
        inner = np.asarray(law.ppf(np.arange(1, cells) / cells), dtype=np.float64)
        ends = np.unique(np.concatenate([[-MAXIMUM], inner[np.isfinite(inner)], [MAXIMUM]]))
        bins = Edges.of(ends)
    edges = np.array(bins.edges)
    with np.errstate(over="ignore"):  # the largest float's neighbour is infinite
        before = np.nextafter(edges, -np.inf)
    below = np.asarray(law.cdf(before), dtype=np.float64)  # P(X < edge): bins are [low, high)
    below[-1] = float(law.cdf(edges[-1]))
    return bins, tuple(float(p) for p in np.maximum(np.diff(below), 0))


MAXIMUM: Final = 1.7976931348623157e308
