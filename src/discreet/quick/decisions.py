"""Tests: each returns a `Release` whose value has `.statistic`, `.p_value` and `.decide(level)`. All are pure.

`docs/how-to-tests.md` says which test answers which question.
"""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from discreet.engines.local import Local
from discreet.errors import BadInput
from discreet.hypotheses.category_tests import ClosenessTest, FitTest, IndependenceTest, law_on_bins
from discreet.hypotheses.combined_tests import ScoreSum, VoteCount, best_plan, best_votes
from discreet.hypotheses.likelihood_ratio import SimpleTest
from discreet.hypotheses.mean_tests import MeanTest, TwoMeansTest
from discreet.hypotheses.power import SMALLEST
from discreet.hypotheses.rank_tests import GroupsTest, RankSumTest
from discreet.hypotheses.signed_tests import SignedRankTest, SignTest
from discreet.privacy.exact import Number, is_number
from discreet.privacy.guarantee import check_budget
from discreet.privacy.mechanism import Randomness
from discreet.privacy.neighbours import Neighbours
from discreet.privacy.release import Release
from discreet.privacy.values import TestResult
from discreet.quick.asked import ask, named, relation_of
from discreet.sandbox.sandbox import Sandbox
from discreet.statistics.bins import Bins, Categories, Edges
from discreet.statistics.proportion import Alternative
from discreet.subsample.aggregate import Engine, Trust
from discreet.subsample.block_table import BlockTable
from discreet.subsample.block_tests import BlockTest
from discreet.subsample.estimators import SourceFit, adapted
from discreet.subsample.partition import units
from discreet.tables.entries import column, numbers, public_size

Relation = Neighbours | str


def test_simple(
    x: Any,
    p: Any,
    q: Any,
    *,
    epsilon: Number,
    method: Literal["clamped", "vote"] = "clamped",
    clamp: tuple[float, float] | None = None,
    neighbours: Relation = "replace",
    unit: str = "row",
    rng: Randomness | None = None,
) -> Release[TestResult]:
    """Whether the law is p, against q: two laws of scipy.stats, or two dictionaries of probabilities. Exact.

    method="vote" is the lecture's, kept for comparison: blocks of people vote by their likelihood ratios.

    >>> import discreet
    >>> fair, loaded = {0: 0.5, 1: 0.5}, {0: 0.4, 1: 0.6}
    >>> discreet.test_simple([1, 1, 1, 0] * 100, fair, loaded, epsilon=1.0, rng=discreet.Seeded(1)).value.decide(0.01)
    True
    """
    return ask(SimpleTest(p, q, epsilon, method, clamp, relation_of(neighbours), named(unit)), x, rng)


def test_mean(
    x: Any,
    null: float,
    *,
    epsilon: Number,
    alternative: Alternative = "two-sided",
    model: Literal["gaussian", "symmetric"] | None = None,
    bounds: tuple[float, float] | None = None,
    neighbours: Relation = "replace",
    unit: str = "row",
    rng: Randomness | None = None,
) -> Release[TestResult]:
    """Whether the population's mean is `null`.

    model="symmetric" assumes a law that is symmetric about its mean, and is exact (signed ranks). Otherwise the p-value
    inverts the interval of `mean` with the same model and bounds, and holds in the limit of many people.

    >>> import discreet
    >>> x = [float(age % 80) for age in range(4000)]
    >>> discreet.test_mean(x, 30.0, epsilon=1.0, rng=discreet.Seeded(1)).value.decide(0.01)
    True
    """
    relation, name = relation_of(neighbours), named(unit)
    if model != "symmetric":
        values = column(x)
        size = public_size(values, relation)
        test = MeanTest(null, epsilon, alternative, model, bounds, relation, name, size)
        return ask(test, values, rng)
    if bounds is not None:
        raise BadInput("bounds are not used with model='symmetric'; leave them out")
    if not is_number(null):
        raise BadInput(f"the mean to test is {null!r}; give a finite number")
    return ask(SignedRankTest(epsilon, alternative, relation, name), _less(numbers(x), float(null)), rng)


def test_two_means(
    x: Any,
    y: Any,
    *,
    epsilon: Number,
    alternative: Alternative = "two-sided",
    model: Literal["gaussian"] | None = None,
    bounds: tuple[float, float] | None = None,
    neighbours: Relation = "replace",
    unit: str = "row",
    rng: Randomness | None = None,
) -> Release[TestResult]:
    """Whether two independent groups have populations with one mean. Holds for many people.

    Who is in which group is public; a person's value is hidden. Both are clipped alike, at a distance found in all of
    them together, or at public `bounds`.

    >>> import discreet
    >>> x, y = [float(k % 80) for k in range(4000)], [float(k % 80) + 9 for k in range(4000)]
    >>> discreet.test_two_means(x, y, epsilon=1.0, rng=discreet.Seeded(1)).value.decide(0.01)
    True
    """
    rows, first = _joined(x, y)
    test = TwoMeansTest(first, epsilon, alternative, model, bounds, relation_of(neighbours), named(unit), len(rows))
    return ask(test, rows, rng)


def test_two_samples(
    x: Any,
    y: Any,
    *,
    epsilon: Number,
    alternative: Alternative = "two-sided",
    neighbours: Relation = "replace",
    unit: str = "row",
    rng: Randomness | None = None,
) -> Release[TestResult]:
    """Whether two independent groups have one law (Mann and Whitney). Exact, whatever the law.

    "greater" is for x that tends to be larger. Who is in which group is public; a person's value is hidden. To hide
    groups too, use `test_any`.

    >>> import discreet
    >>> x, y = [k % 50 for k in range(200)], [k % 50 + 15 for k in range(200)]
    >>> discreet.test_two_samples(x, y, epsilon=1.0, rng=discreet.Seeded(1)).value.decide(0.01)
    True
    """
    rows, first = _joined(x, y)
    return ask(RankSumTest(first, epsilon, alternative, relation_of(neighbours), named(unit)), rows, rng)


def test_paired(
    x: Any,
    y: Any = None,
    *,
    epsilon: Number,
    alternative: Alternative = "two-sided",
    method: Literal["ranks", "signs"] = "ranks",
    neighbours: Relation = "replace",
    unit: str = "row",
    rng: Randomness | None = None,
) -> Release[TestResult]:
    """Whether pairs differ: x - y is symmetric about 0 ("ranks"), or as often positive as negative ("signs"). Exact.

    Without y, x holds the differences. Zeros and ties are allowed for.

    >>> import discreet
    >>> before, after = [k % 30 for k in range(300)], [k % 30 - k % 3 for k in range(300)]
    >>> discreet.test_paired(before, after, epsilon=1.0, rng=discreet.Seeded(1)).value.decide(0.01)
    True
    """
    if method not in ("ranks", "signs"):
        raise BadInput(f"method is {method!r}; give 'ranks' or 'signs'")
    values = numbers(x)
    if y is not None:
        other = numbers(y)
        if len(other) != len(values):
            raise BadInput("x and y have different lengths; pairs need one entry of each")
        values = _less(values, other)
    kind = SignedRankTest if method == "ranks" else SignTest
    return ask(kind(epsilon, alternative, relation_of(neighbours), named(unit)), values, rng)


def test_fit(
    x: Any,
    null: Any,
    *,
    epsilon: Number,
    categories: Any = None,
    edges: Any = None,
    bins: int = 10,
    neighbours: Relation = "replace",
    unit: str = "row",
    rng: Randomness | None = None,
) -> Release[TestResult]:
    """Whether entries have these probabilities, or this law. Exact.

    `null` is a dictionary of probabilities, a list of them (with `categories` or `edges`), or a law of scipy.stats,
    compared on `edges` or on `bins` intervals of equal probability.

    >>> import discreet
    >>> die = {face: 1 / 6 for face in range(1, 7)}
    >>> discreet.test_fit([1, 2, 3, 4, 5, 6, 6, 6] * 50, die, epsilon=1.0, rng=discreet.Seeded(1)).value.decide(0.01)
    True
    """
    if isinstance(null, Mapping):
        given: Bins = Categories.of(list(null))
        chances = tuple(null.values())
    elif hasattr(null, "cdf") and hasattr(null, "ppf"):
        if not isinstance(bins, int) or isinstance(bins, bool) or not 2 <= bins <= 10_000:
            raise BadInput(f"bins is {bins!r}; give a whole number, 2 to 10000")
        given, chances = law_on_bins(null, None if edges is None else Edges.of(edges), bins)
    elif isinstance(null, list | tuple | np.ndarray):
        given, chances = _bins(categories, edges), tuple(null)
    else:
        raise BadInput(f"null is of type {type(null).__name__}; give probabilities, or a law of scipy.stats")
    return ask(FitTest(given, chances, epsilon, relation_of(neighbours), named(unit)), x, rng)


def test_closeness(
    x: Any,
    y: Any,
    *,
    epsilon: Number,
    categories: Any = None,
    edges: Any = None,
    neighbours: Relation = "replace",
    unit: str = "row",
    rng: Randomness | None = None,
) -> Release[TestResult]:
    """Whether two samples have the same probabilities of public bins. Holds for many people.

    Who is in which sample is public; a person's entry is hidden.

    >>> import discreet
    >>> x, y = ["a"] * 150 + ["b"] * 50, ["a"] * 100 + ["b"] * 100
    >>> discreet.test_closeness(x, y, epsilon=1.0, categories=["a", "b"], rng=discreet.Seeded(1)).value.decide(0.01)
    True
    """
    one, other = column(x), column(y)
    rows = np.concatenate([one.astype(object), other.astype(object)])
    test = ClosenessTest(_bins(categories, edges), len(one), epsilon, relation_of(neighbours), named(unit))
    return ask(test, rows, rng)


def test_independence(
    x: Any,
    y: Any,
    *,
    epsilon: Number,
    categories: Any,
    neighbours: Relation = "replace",
    unit: str = "row",
    rng: Randomness | None = None,
) -> Release[TestResult]:
    """Whether two columns are independent; `categories` lists those of x, then those of y. Holds for many people.

    >>> import discreet
    >>> x, y = ["a", "b", "a"] * 200, [0, 1, 1] * 200
    >>> release = discreet.test_independence(
    ...     x, y, epsilon=1.0, categories=(["a", "b"], [0, 1]), rng=discreet.Seeded(1))
    >>> release.value.decide(0.01)
    True
    """
    if not isinstance(categories, list | tuple) or len(categories) != 2:
        raise BadInput(f"categories is {categories!r}; give two lists: the categories of x and those of y")
    one, other = column(x), column(y)
    if len(one) != len(other):
        raise BadInput("x and y have different lengths; each person needs an entry in both")
    rows: npt.NDArray[Any] = np.empty(len(one), dtype=object)
    rows[:] = list(zip(one.astype(object), other.astype(object), strict=True))
    first, second = (Categories.of(listed) for listed in categories)
    return ask(IndependenceTest(first, second, epsilon, relation_of(neighbours), named(unit)), rows, rng)


def test_anova(
    *groups: Any,
    epsilon: Number,
    neighbours: Relation = "replace",
    unit: str = "row",
    rng: Randomness | None = None,
) -> Release[TestResult]:
    """Whether several independent groups have one law, by ranks. Exact, whatever the law.

    Who is in which group is public; a person's value is hidden.

    >>> import discreet
    >>> groups = [[k % 50 + shift for k in range(200)] for shift in (0, 10, 20)]
    >>> discreet.test_anova(*groups, epsilon=1.0, rng=discreet.Seeded(1)).value.decide(0.01)
    True
    """
    if len(groups) < 2:
        raise BadInput(f"{len(groups)} group is given; give two or more, one after the other")
    parts = [numbers(group) for group in groups]
    test = GroupsTest(tuple(len(part) for part in parts[:-1]), epsilon, relation_of(neighbours), named(unit))
    return ask(test, np.concatenate(parts), rng)


def test_any(
    test: Any,
    X: Any,  # noqa: N803  as scikit-learn calls it
    y: Any = None,
    *,
    epsilon: Number,
    method: Literal["scores", "binary"] = "scores",
    blocks: int | Literal["auto"] = "auto",
    smallest: int = SMALLEST,
    unit: Any = None,
    options: Mapping[str, Any] | None = None,
    engine: Engine | None = None,
    trust: Trust | None = None,
    sandbox: Sandbox | None = None,
    seconds: float | None = None,
    neighbours: Relation = "replace",
    rng: Randomness | None = None,
) -> Release[TestResult]:
    """Any test: a function of the rows (and of y) that returns a p-value, run on disjoint blocks of people.

    Valid if the base test is valid on blocks of `smallest` people; give one-sided p-values where there is a direction,
    for two-sided ones lose it in every block. A block in which the test fails is no evidence. method="binary" counts
    the blocks that reject. Under neighbours="add_or_remove" the number of `blocks` is declared.

    >>> import discreet
    >>> from scipy import stats
    >>> def above(x):
    ...     return stats.ttest_1samp(x, 0.0, alternative="greater").pvalue
    >>> x = [(k * 0.618) % 1 - 0.4 for k in range(2000)]
    >>> discreet.test_any(above, x, epsilon=1.0, rng=discreet.Seeded(1)).value.decide(0.01)
    True
    """
    check_budget(epsilon, 0, None)
    if method not in ("scores", "binary"):
        raise BadInput(f"method is {method!r}; give 'scores' or 'binary'")
    relation, table = relation_of(neighbours), BlockTable.of(X, y, unit)
    most = _most_blocks(blocks, smallest, units(table, relation))
    size = float(epsilon)
    planned = best_plan(most, size) if method == "scores" else best_votes(most, size)
    count = most if isinstance(blocks, int) else planned[0]
    chosen = ScoreSum(count, planned[1], epsilon) if method == "scores" else VoteCount(count, planned[1], epsilon)
    fit = adapted(test, options=options)
    mechanism = BlockTest(
        fit,
        chosen,
        relation,
        "row" if unit is None else unit if isinstance(unit, str) else "person",
        Local(limit=None if seconds is None else 1000 * seconds) if engine is None else engine,
        trust or ("sandbox" if isinstance(fit, SourceFit) else "own"),
        sandbox,
        seconds,
    )
    return ask(mechanism, table, rng)


def _most_blocks(blocks: Any, smallest: Any, people: int | None) -> int:
    for what, given in (("smallest", smallest), ("blocks", 1 if blocks == "auto" else blocks)):
        if not isinstance(given, int) or isinstance(given, bool) or given < 1:
            raise BadInput(f"{what} is {given!r}; give a whole number, 1 or more")
    if blocks != "auto":
        return int(blocks)
    if people is None:
        raise BadInput("the number of people is private here, so it cannot choose the blocks; give blocks=100, say")
    return max(1, people // int(smallest))


def _joined(x: Any, y: Any) -> tuple[npt.NDArray[np.float64], int]:
    one, other = numbers(x), numbers(y)
    return np.concatenate([one, other]), len(one)


def _less(x: npt.NDArray[np.float64], y: Any) -> npt.NDArray[np.float64]:
    with np.errstate(all="ignore"):
        return np.asarray(x - y, dtype=np.float64)


def _bins(categories: Any, edges: Any) -> Bins:
    if (categories is None) == (edges is None):
        raise BadInput("give public categories=[...] or public edges=[...], one of them")
    return Categories.of(categories) if edges is None else Edges.of(edges)


for _verb in (
    test_simple,
    test_mean,
    test_two_means,
    test_two_samples,
    test_paired,
    test_fit,
    test_closeness,
    test_independence,
    test_anova,
    test_any,
):
    setattr(_verb, "__test__", False)  # noqa: B010  verbs, not tests of pytest's
