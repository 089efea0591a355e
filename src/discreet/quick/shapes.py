"""Densities and distributions of a column."""

from typing import Any

from discreet.errors import BadInput
from discreet.privacy.exact import Number
from discreet.privacy.mechanism import Randomness
from discreet.privacy.neighbours import Neighbours
from discreet.privacy.release import Release
from discreet.quick.asked import ask, named, relation_of
from discreet.statistics.bins import Categories
from discreet.statistics.category_shares import CategoryShares
from discreet.statistics.density import BinnedDensity
from discreet.statistics.histogram import Histogram
from discreet.statistics.open_histogram import OpenHistogram


def density(
    x: Any,
    *,
    epsilon: Number,
    delta: Number = 0.0,
    support: Any = None,
    categories: Any = None,
    neighbours: Neighbours | str = "replace",
    unit: str = "row",
    rng: Randomness | None = None,
) -> Release[Any]:
    """How a column is distributed: a density with bins of a width that is found, no bounds needed. Pure.

    The value is a function, with `.edges` and `.heights`, and `.polygon`, `.cdf` and `.quantile`; the release's spread
    has `.band(confidence)` for the distribution function and `.quantile(q, confidence)`. `support` are public ends.
    With `categories` (a list) the value gives the share of each; with `categories="open"` those that enough people
    share are found, which needs delta > 0.

    >>> import discreet
    >>> rows = [(0.618 * index) % 50 for index in range(20_000)]
    >>> curve = discreet.density(rows, epsilon=1.0, support=(0, 50), rng=discreet.Seeded(1)).value
    >>> 0.015 < curve(25.0) < 0.025
    True
    """
    relation, unit = relation_of(neighbours), named(unit)
    if categories is None:
        return ask(BinnedDensity(epsilon, support, relation, unit), x, rng)
    if support is not None:
        raise BadInput("both support and categories are given; a column has the one or the other")
    if isinstance(categories, str) and categories == "open":
        return ask(CategoryShares(OpenHistogram(epsilon, delta, relation, unit)), x, rng)
    listed = Histogram(Categories.of(categories), epsilon, neighbours=relation, unit=unit)
    return ask(CategoryShares(listed), x, rng)
