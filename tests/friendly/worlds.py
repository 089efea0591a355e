"""Tables small enough to try all, and pairs of neighbours for the audit."""

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np

from discreet import audit
from discreet.friendly.average import SLACK
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Gaussian

REPLACE, ADD = Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE
SHARP = {"test": Gaussian(64, SLACK), "mean": Gaussian(64, SLACK), "miss": 1e-7}  # hardly any noise: all is seen
VALUES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, np.nan)


def tables(values: tuple[float, ...], size: int) -> Iterator[tuple[float, ...]]:
    """Every table of one column."""
    yield from product(values, repeat=size)


def replaced(table: tuple[float, ...], values: tuple[float, ...]) -> Iterator[tuple[float, ...]]:
    """Every neighbour with one row replaced."""
    for place in range(len(table)):
        for value in values:
            if value is not table[place]:
                yield (*table[:place], value, *table[place + 1 :])


def crowds(
    relation: Neighbours, count: int, sizes: tuple[int, int], seed: int = 0, columns: int = 1
) -> list[audit.Pair]:
    """Random neighbours: rows at a few distances, some far away or missing, at several offsets."""
    rng, pairs = np.random.default_rng(seed), []
    for _ in range(count):
        size, offset = int(rng.integers(*sizes)), float(rng.choice([0.0, 1e3, -(2.0**20)]))
        odd = rng.choice([0.0, 0.0, 0.1, 0.3])

        def row(offset: float = offset, odd: float = odd) -> Any:
            if rng.random() < odd:
                return rng.choice([np.nan, np.inf, 1e300, 40.0, 1e6], size=columns)
            return rng.choice([0.0, 0.25, 0.5, 1.0, 1.0, 1.5], size=columns) / columns**0.5 + offset

        left = [row() for _ in range(size)]
        place, new = int(rng.integers(size)), row(odd=0.5)
        right = [*left[:place], new, *left[place + (relation is REPLACE) :]]
        both = (np.array(left), np.array(right))
        pairs.append(audit.Pair(*(both if rng.random() < 0.5 else both[::-1])))
    return pairs


def answered(release: Callable[[Any], Any], pairs: list[audit.Pair]) -> float:
    """The share of tables on which there is an answer: an audit of refusals would be worth nothing."""
    return float(np.mean([release(pair.left).refusal is None for pair in pairs]))
