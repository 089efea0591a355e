"""Tests on counts in public categories, by name: the mechanisms are those of category_tests.py."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from discreet.errors import BadInput
from discreet.hypotheses.category_tests import ClosenessTest, IndependenceTest
from discreet.hypotheses.goodness_of_fit import FitTest, distribution_on_bins
from discreet.privacy.declaration import Columns, Public, Reads, category, grouped, number, statistic, values_of
from discreet.privacy.exact import Number
from discreet.privacy.mechanism import Before, Mechanism
from discreet.privacy.values import TestResult
from discreet.statistics.histogram import Bins, Categories, Edges
from discreet.worlds.assumptions import ALL, About, Effect
from discreet.worlds.shapes import group_sizes, tilt, tilted


def _reads(options: Mapping[str, Any]) -> Reads:
    listed = options.get("categories") is not None or isinstance(options.get("null"), Mapping)
    return category() if listed else number()


def _world(about: About) -> Effect:
    null, bins = about.given.get("null"), about.given.get("bins", 10)
    if isinstance(null, Mapping):
        names, chances = list(null), np.array(list(null.values()), dtype=float)
    elif isinstance(null, list | tuple | np.ndarray):
        names, chances = list(about.given.get("categories") or range(len(null))), np.array(null, dtype=float)
    elif null is None or hasattr(null, "ppf"):
        names, chances = list(range(bins)), np.full(bins, 1 / bins)
        about.given["null"] = dict(zip(names, chances, strict=True))
        about.take("bins", None)
    else:
        raise BadInput(f"null is {null!r}; give probabilities, or a distribution of scipy.stats")
    truth = about.take("truth", None)
    other = tilted(chances, tilt(about)) if truth is None else np.array(list(truth), dtype=float)
    return Effect(
        make=lambda g, n: {"x": g.choice(np.array(names, dtype=object), n, p=other)},
        known=lambda n: ("goodness_of_fit_test", n, (chances.tolist(), other.tolist())),
        most=ALL,
    )


@statistic({"x": _reads}, world=_world)
def goodness_of_fit_test(
    people: Public,
    x: Columns,
    null: Any,
    *,
    epsilon: Number,
    categories: Any = None,
    edges: Any = None,
    bins: int = 10,
) -> Mechanism[TestResult]:
    """Whether entries have these probabilities, or this distribution. Exact.

    `null` is a dictionary of probabilities, a list of them (with `categories` or `edges`), or a distribution of
    scipy.stats, compared on `edges` or on `bins` intervals of equal probability.

    >>> import discreet
    >>> die, rolls = {face: 1 / 6 for face in range(1, 7)}, [1, 2, 3, 4, 5, 6, 6, 6] * 50
    >>> discreet.goodness_of_fit_test(rolls, die, epsilon=1.0, rng=discreet.Seeded(1)).value.decide(0.01)
    True
    """
    if isinstance(null, Mapping):
        given: Bins = Categories.of(list(null))
        chances = tuple(null.values())
    elif hasattr(null, "cdf") and hasattr(null, "ppf"):
        if not isinstance(bins, int) or isinstance(bins, bool) or not 2 <= bins <= 10_000:
            raise BadInput(f"bins is {bins!r}; give a whole number, 2 to 10000")
        given, chances = distribution_on_bins(null, None if edges is None else Edges.of(edges), bins)
    elif isinstance(null, list | tuple | np.ndarray):
        given, chances = _bins(categories, edges), tuple(null)
    else:
        raise BadInput(f"null is of type {type(null).__name__}; give probabilities, or a distribution of scipy.stats")
    return FitTest(given, chances, epsilon, neighbours=people.neighbours, unit=people.unit)


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
    """Whether two samples have the same probabilities of public bins. Holds for many people.

    Under the default relation, "add_or_remove", a person's sample and presence are hidden too; under "replace" they are
    public.

    >>> import discreet
    >>> x, y = ["a"] * 150 + ["b"] * 50, ["a"] * 100 + ["b"] * 100
    >>> discreet.closeness_test(x, y, epsilon=1.0, categories=["a", "b"], rng=discreet.Seeded(1)).value.decide(0.01)
    True
    """
    bins = _bins(categories, edges)
    if people.size is None:
        return IndependenceTest(Categories.of([0, 1]), bins, epsilon, neighbours=people.neighbours, unit=people.unit)
    return Before(values_of, ClosenessTest(bins, x.size or 0, epsilon, unit=people.unit))


def _pairs(columns: Mapping[str, Any]) -> Any:
    one, other = (np.asarray(columns[name]).astype(object) for name in ("x", "y"))
    rows = np.empty(len(one), dtype=object)
    rows[:] = list(zip(one, other, strict=True))
    return rows


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


@statistic({"x": category(), "y": category()}, rows=_pairs, world=_world_of_pairs)
def independence_test(
    people: Public, x: Columns, y: Columns, *, epsilon: Number, categories: Any
) -> Mechanism[TestResult]:
    """Whether two columns are independent; `categories` lists those of x, then those of y. Holds for many people.

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


def _bins(categories: Any, edges: Any) -> Bins:
    if (categories is None) == (edges is None):
        raise BadInput("give public categories=[...] or public edges=[...], one of them")
    return Categories.of(categories) if edges is None else Edges.of(edges)
