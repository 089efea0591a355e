"""Quantiles and the median, by name: the mechanism is that of quantile.py."""

from typing import Any

from discreet.privacy.declaration import Columns, Public, number, statistic
from discreet.privacy.exact import Number
from discreet.privacy.mechanism import Mechanism
from discreet.statistics.quantile import Quantile


@statistic({"x": number(streams=True)}, groups=True)
def quantile(
    people: Public,
    x: Columns,
    q: Any,
    *,
    epsilon: Number,
    bounds: tuple[float, float] | None = None,
    confidence: float | None = 0.95,
    granularity: float | None = None,
    guaranteed: bool = False,
) -> Mechanism[Any]:
    """The q-quantile, or several, with an interval for the population's that assumes no shape. No bounds needed. Pure.

    The ends of the interval are what is drawn, so its `confidence` is declared here; with confidence=None the whole
    epsilon goes to the point. Rounded data: declare `granularity=`; a column that is declared to hold integers has
    granularity 1. `guaranteed=True` holds for any distribution, and is wider.

    >>> import discreet
    >>> r = discreet.quantile(range(1000), 0.25, epsilon=2.0, confidence=None, rng=discreet.Seeded(1))
    >>> 200 < r.value < 300
    True
    """
    return Quantile(
        q,
        epsilon,
        bounds=bounds,
        confidence=confidence,
        granularity=1 if granularity is None and x.integers else granularity,
        guaranteed=guaranteed,
        neighbours=people.neighbours,
        unit=people.unit,
    )


@statistic({"x": number(streams=True)}, groups=True)
def median(
    people: Public,
    x: Columns,
    *,
    epsilon: Number,
    bounds: tuple[float, float] | None = None,
    confidence: float | None = 0.95,
    granularity: float | None = None,
    guaranteed: bool = False,
) -> Mechanism[Any]:
    """The middle value: the quantile with q = 0.5, with its options and its interval. Pure.

    >>> import discreet
    >>> 400 < discreet.median(range(1000), epsilon=2.0, confidence=None, rng=discreet.Seeded(1)).value < 600
    True
    """
    return quantile(
        people,
        x,
        0.5,
        epsilon=epsilon,
        bounds=bounds,
        confidence=confidence,
        granularity=granularity,
        guaranteed=guaranteed,
    )
