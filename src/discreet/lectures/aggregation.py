"""Subsample-and-aggregate and FriendlyAvg under the lectures' names: each one line of the core, REPLACE as lectured."""

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

from discreet.api import door, function
from discreet.errors import BadInput
from discreet.friendly.friendly_mean import FriendlyMean
from discreet.privacy.exact import Number
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.mechanism import Randomness
from discreet.privacy.release import Release
from discreet.tables.matrix import Floats, matrix

RADIUS: Final = 10.0  # times sqrt(d): friends are as near as rows of unit variance hardly ever fail to be
VOTES: Final = {"laplace": "vote", "exponential": "exponential", "noisy max": "noisy-max", "vote": "vote"}
NUMBERS: Final = {"mean": "mean", "median": "median", "friendly": "friendly"}


def subsample_and_aggregate(
    A: Callable[[Any], Any],  # noqa: N803  as lectured
    x: Any,
    k: int,
    aggregator: str,
    *,
    epsilon: Number,
    delta: Number = 0.0,
    labels: Sequence[Any] | None = None,
    neighbours: Neighbours | str = Neighbours.REPLACE,
    rng: Randomness | None = None,
) -> Release[Any]:
    """Run any algorithm A on k disjoint blocks of the rows, and combine what it returns privately.

    If A returns one of the public `labels`, they vote: aggregator "laplace" (noisy counts), "exponential" or "noisy
    max"; "histogram" needs no list of labels but delta > 0. If it returns a number: "median", or "mean"; several
    numbers: "mean", each by itself, or with delta > 0 "friendly". The interval is that of `discreet.fit`, which this
    calls.

    >>> from discreet import Seeded
    >>> rows = [float(k % 7) for k in range(6000)]
    >>> reject = lambda block: "reject" if block.mean() > 2.5 else "accept"
    >>> votes = {"epsilon": 1.0, "labels": ["accept", "reject"], "rng": Seeded(1)}
    >>> [subsample_and_aggregate(reject, rows, 60, how, **votes).value for how in ("laplace", "exponential")]
    ['reject', 'reject']
    """
    asked: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "blocks": k}
    if not isinstance(aggregator, str) or aggregator not in (*VOTES, "histogram", *NUMBERS):
        known = ", ".join(map(repr, (*VOTES, "histogram", *NUMBERS)))
        raise BadInput(f"aggregator is {aggregator!r}; give one of {known}")
    if aggregator == "histogram":
        if labels is not None:
            raise BadInput("aggregator 'histogram' finds the labels by itself; leave labels out, or give 'laplace'")
        asked |= {"aggregator": "vote"}
    elif aggregator in VOTES:
        if labels is None:
            raise BadInput(f"aggregator {aggregator!r} chooses from public labels; list them, or give 'histogram'")
        asked |= {"aggregator": VOTES[aggregator], "labels": labels}
    else:
        if labels is not None:
            raise BadInput(f"aggregator {aggregator!r} is for numbers; leave labels out")
        asked |= {"aggregator": NUMBERS[aggregator], "estimate_bias": False}
    return function("fit")(A, x, neighbours=Neighbours(neighbours), missing="keep", rng=rng, **asked)


def friendly_avg(
    x: Any,
    epsilon: Number,
    delta: Number,
    *,
    radius: float | None = None,
    columns: int | None = None,
    rng: Randomness | None = None,
) -> Release[Floats]:
    """FriendlyAvg, Algorithm 2 of lecture 3, with constants that hold: the mean of rows weighted by their friends.

    Friends are within `radius`, 10 sqrt(d) if left out, as for rows of variance 1. All rows are compared with all. What
    is corrected: the ramp, friends are counted among the others, the sum of the weights has noise for a sensitivity of
    3, the mean is divided by that sum, its noise is for how far it can move, and both share epsilon. `discreet.mean` of
    a table is far more accurate and needs no radius. `columns` says how many there are, if x is a list of rows.

    >>> import numpy as np
    >>> from discreet import Seeded
    >>> rows = 1000 + np.random.default_rng(0).normal(size=(900, 2))
    >>> bool((abs(friendly_avg(rows, 1.0, 1e-6, rng=Seeded(1)).value - 1000) < 5).all())
    True
    """
    table = matrix(x, columns)
    reach = RADIUS * math.sqrt(max(1, table.width)) if radius is None else radius
    most = min(max(3, table.size), 2**22)
    if table.size > most:
        raise BadInput(f"there are more than {most} rows to compare with each other; use discreet.mean of the table")
    asked = FriendlyMean(reach, epsilon, delta, method="weights", most=most, columns=columns)
    return asked.release(x, door(rng))
