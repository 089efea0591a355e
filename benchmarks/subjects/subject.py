"""What is audited: a mechanism, the rows it is fed with, and crafted pairs of neighbours."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from discreet import audit
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.mechanism import Mechanism

REPLACE, ADD = Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE


@dataclass(frozen=True)
class Subject:
    """A mechanism, the rows it is fed with, and the pairs that should tell most.

    `size` is the number of rows that the mechanism is made for where that is public: it refuses any other. Of ordinary
    rows, if there are any, every other table is made.
    """

    mechanism: Callable[[Neighbours], Mechanism[Any]]
    values: tuple[Any, ...]
    pairs: Callable[[Neighbours], list[audit.Pair]]
    least: int = 1
    only: Neighbours | None = None
    size: int | None = None
    ordinary: tuple[Any, ...] = ()


def edge_pairs(one: Any, other: Any, crowd: list[Any]) -> Callable[[Neighbours], list[audit.Pair]]:
    """Four pairs around a crowd: the odd row alone, first, last, and in both directions."""

    def pairs(relation: Neighbours) -> list[audit.Pair]:
        if relation is ADD:
            return [
                audit.Pair(crowd, [*crowd, one]),
                audit.Pair([*crowd, other], crowd),
                audit.Pair([one, *crowd], crowd),
                audit.Pair(crowd[:1], []),
            ]
        return [
            audit.Pair([*crowd, one], [*crowd, other]),
            audit.Pair([other, *crowd], [one, *crowd]),
            audit.Pair([*crowd, one, one], [*crowd, one, other]),
            audit.Pair([one], [other]),
        ]

    return pairs


NUMBERS = (0.0, 1.0, 2.0, 0.5, 1e12, 1e12 + 1, -1e12, 5e-324, 1e300, math.inf, -math.inf, math.nan)
PLACES, SCALES = (0.0, 1.0, -1e6, 1e12, 1e300), (0.0, 5e-324, 1e-300, 1e-3, 1.0, 1e6, 1e300)
LABELS = ("a", "b", "c", "d", None, 1, True, 1.0, math.nan, "", "é")
SPREAD = [0.5 + index / 200 for index in range(200)]
NEAR = (0.0, 0.5, 1.0, 1.5, 1e12, 1e300, math.inf, math.nan)
TUPLES = ((0.0, 8.0), (8.0, 0.5), (0.5, 8.5), (1.0, 9.0), (0.0, 1.0), (0.0, math.nan), (1e12, 0.0), 3.0)
WIDE = (0, 1, 2, 10**9 - 1, 10**9, -1, 0.5, math.nan, math.inf)
POINTS = tuple((x, y) for x in (0.0, 1.0, -3.0, 1e12, 1e300, math.inf, math.nan) for y in (0.0, 2.0, -1e9, -math.inf))
CLOUD = [(math.cos(7.0 * k) + math.sin(3.0 * k), math.sin(2.0 * k)) for k in range(400)]


def wide_cloud(columns: int) -> list[Any]:
    """Rows of many columns that hardly go together, sums of two waves each."""
    steps = [1.0 + 2.0 * math.sqrt(k + 2.0) for k in range(columns)]
    return [tuple(math.cos(step * k) + math.sin(step * k / 3) for step in steps) for k in range(400)]


def wide_points(columns: int) -> tuple[Any, ...]:
    """Rows with one entry, or all of them, unlike others."""
    entries = (0.0, 1.0, -40.0, 1e12, 1e300, 5e-324, math.inf, math.nan)
    alone = [(*[0.0] * at, entry, *[0.5] * (columns - 1 - at)) for entry in entries for at in (0, columns - 1)]
    return (*alone, *((entry,) * columns for entry in entries), (1.0,))
