"""Counts, shares and histograms."""

from typing import Any, Literal

from discreet.errors import BadInput
from discreet.hypotheses.result import ProportionTest
from discreet.privacy.exact import Number
from discreet.privacy.mechanism import Mechanism, Randomness
from discreet.privacy.neighbours import Neighbours
from discreet.privacy.release import Release
from discreet.privacy.values import Counts, TestResult
from discreet.quick.asked import ask, named, relation_of
from discreet.statistics.bins import Categories, Edges
from discreet.statistics.count import Count
from discreet.statistics.histogram import Histogram
from discreet.statistics.open_histogram import OpenHistogram, SparseHistogram
from discreet.statistics.proportion import Alternative, Proportion

LISTED = 1_000_000  # a range of categories longer than this is not listed


def count(
    x: Any,
    *,
    epsilon: Number,
    neighbours: Neighbours | str = "replace",
    unit: str = "row",
    rng: Randomness | None = None,
) -> Release[int]:
    """How many entries are true (or a number other than 0). Missing entries are not counted. Pure.

    >>> import discreet
    >>> r = discreet.count([True] * 900 + [False] * 100, epsilon=1.0, rng=discreet.Seeded(1))
    >>> r.interval(0.999).low <= 900 <= r.interval(0.999).high or "once in a thousand"
    True
    """
    return ask(Count(epsilon, relation_of(neighbours), named(unit)), x, rng)


def proportion(
    x: Any,
    *,
    epsilon: Number,
    neighbours: Neighbours | str = "replace",
    unit: str = "row",
    rng: Randomness | None = None,
) -> Release[float]:
    """The share of true entries, with an exact confidence interval for the population's share. Pure.

    >>> import discreet
    >>> 0 <= discreet.proportion([1, 0, 1, 1], epsilon=1.0, rng=discreet.Seeded(1)).value <= 1
    True
    """
    return ask(Proportion(epsilon, relation_of(neighbours), named(unit)), x, rng)


def test_proportion(
    x: Any,
    null: float,
    *,
    epsilon: Number,
    alternative: Alternative = "two-sided",
    neighbours: Neighbours | str = "replace",
    unit: str = "row",
    rng: Randomness | None = None,
) -> Release[TestResult]:
    """Whether the population's share of true entries is `null`. The value has `.p_value` and `.decide(level)`. Pure.

    >>> import discreet
    >>> discreet.test_proportion([1] * 90 + [0] * 10, 0.5, epsilon=2.0, rng=discreet.Seeded(1)).value.decide(0.01)
    True
    """
    return ask(ProportionTest(null, epsilon, alternative, relation_of(neighbours), named(unit)), x, rng)


test_proportion.__test__ = False  # type: ignore[attr-defined]  # a verb, not a test of pytest's


def histogram(
    x: Any,
    *,
    epsilon: Number,
    delta: Number = 0.0,
    categories: Any = None,
    edges: Any = None,
    noise: Literal["laplace", "gaussian"] = "laplace",
    neighbours: Neighbours | str = "replace",
    unit: str = "row",
    rng: Randomness | None = None,
) -> Release[Counts]:
    """How many entries each bin holds.

    With `categories` (a list) or `edges` (of numeric bins), both public, all bins are shown, with a band that holds for
    all of them at once; entries that fit in none are counted in `other`. Pure; (epsilon, delta) with noise="gaussian".
    With `categories=range(...)` of more than a million whole numbers, bins above a threshold are shown. Pure.
    With neither, the categories are found in the data, those that enough people share: needs delta > 0.

    >>> import discreet
    >>> r = discreet.histogram(["a", "b", "a"], epsilon=1.0, categories=["a", "b"], rng=discreet.Seeded(1))
    >>> r.value.bins
    ('a', 'b')
    """
    relation, unit = relation_of(neighbours), named(unit)
    mechanism: Mechanism[Counts]
    if categories is not None and edges is not None:
        raise BadInput("both categories and edges are given; give one of them")
    if isinstance(categories, str | bytes):
        raise BadInput(f"categories is the text {categories!r}; give a list of categories")
    long_range = isinstance(categories, range) and len(categories[: LISTED + 1]) > LISTED
    if noise != "laplace" and (long_range or (categories is None and edges is None)):
        raise BadInput(f"noise is {noise!r}; bins that are not listed are drawn with 'laplace' noise")
    if long_range:
        mechanism = SparseHistogram(categories, epsilon, neighbours=relation, unit=unit)
    elif categories is not None:
        mechanism = Histogram(Categories.of(categories), epsilon, delta, noise, relation, unit)
    elif edges is not None:
        mechanism = Histogram(Edges.of(edges), epsilon, delta, noise, relation, unit)
    else:
        mechanism = OpenHistogram(epsilon, delta, relation, unit)
    return ask(mechanism, x, rng)
