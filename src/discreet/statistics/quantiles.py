"""Quantiles and the median, by name: the mechanism is that of quantile.py."""

import math
from functools import partial
from typing import Any

import numpy as np

from discreet.errors import BadInput
from discreet.privacy.declaration import Columns, Public, number, statistic
from discreet.privacy.exact import Number, is_number
from discreet.privacy.mechanism import Mechanism
from discreet.statistics.quantile import Quantile
from discreet.worlds.assumptions import MANY, ONE, About, World
from discreet.worlds.floors import BOUND
from discreet.worlds.shapes import AssumedColumn


def _world(about: About) -> World:
    return _world_of(about, about.option("q", 0.5))


def _world_of(about: About, q: Any) -> World:
    asked = [float(one) for one in q] if isinstance(q, list | tuple | np.ndarray) else [q]
    if not asked or not all(is_number(one) and 0 < one < 1 for one in asked):
        raise BadInput(f"q is {q!r}; give a number between 0 and 1, or a list of them")
    entries, one = AssumedColumn.of(about), q is asked[0]
    return World(
        make=lambda g, n: {"x": entries.draw(g, n)},
        truth=[entries.quantile(share) for share in asked],
        plain=lambda x: np.quantile(x, asked),
        measure=ONE if one else MANY,
        sampling=(lambda n: math.sqrt(q * (1 - q) / n) / entries.height(q)) if one else None,
        parts=one,
        floor=entries.floor if one else None,
        floor_note=BOUND if one else "no floor is known for several at once",
    )


@statistic({"x": number(streams=True)}, groups=True, world=_world)
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


@statistic({"x": number(streams=True)}, groups=True, world=partial(_world_of, q=0.5))
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
