"""Small tables of a feature and an outcome, and their neighbours."""

import math
from typing import Any

from discreet.audit.worlds import Pair
from discreet.privacy.guarantee import Neighbours

ROWS = ((0.0, 1.0), (1.0, 0.0), (-2.0, 1.0), (1e12, 0.0), (math.inf, 1.0), (math.nan, 0.0), (0.5, math.nan), "x", None)
COMMON = [(math.sin(7.0 * k), float(math.sin(7.0 * k) + math.cos(3.0 * k) > 0)) for k in range(40)]


def pairs(relation: Neighbours, common: list[Any] | None = None) -> list[Pair]:
    """Every row above against the next, among common ones; added and taken away."""
    rows = COMMON if common is None else common
    found = []
    for place, (one, other) in enumerate(zip(ROWS, [*ROWS[1:], ROWS[0]], strict=True)):
        at = place * 5 % len(rows)
        if relation is Neighbours.REPLACE:
            found.append(Pair([*rows[:at], one, *rows[at:]], [*rows[:at], other, *rows[at:]]))
        else:
            found.append(Pair(list(rows), [*rows[:at], one, *rows[at:]]))
            found.append(Pair([*rows, other], list(rows)))
    return found
