"""Counts of columns and of pairs of columns that agree with each other, from noisy ones: post-processing alone.

A tree of pairs is its own junction tree: tables that agree on the columns they share are the margins of one table, the
one in which each column depends on its parent alone. Nothing has to be iterated but the pairs, each by itself.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.statistics.density_curve import on_simplex

FAINT: Final = 1e-3  # of a table at most: as much of the independent one keeps cells open that must not stay empty
ROUNDS: Final = 500
CLOSE: Final = 1e-9  # of the total
Floats = npt.NDArray[np.float64]
Pair = tuple[int, int]


def rooted(pairs: Sequence[Pair], columns: int) -> list[Pair]:
    """The pairs of a forest, each with its parent first, a parent before its children.

    >>> rooted([(2, 3), (0, 2)], 4)
    [(0, 2), (2, 3)]
    """
    found: list[Pair] = []
    seen: set[int] = set()
    for root in range(columns):
        waiting = [] if root in seen else [root]
        while waiting:
            parent = waiting.pop(0)
            seen.add(parent)
            for pair in pairs:
                child = pair[0] if pair[1] == parent else pair[1] if pair[0] == parent else parent
                if child not in seen and child not in waiting:
                    found.append((parent, child))
                    waiting.append(child)
    return found


def counts_of(noisy: Any, total: float) -> Floats:
    """The nearest counts of at least 0 with this total.

    >>> counts_of([3.0, -1.0, 7.0], 10.0).tolist()
    [3.0, 0.0, 7.0]
    """
    values = np.asarray(noisy, dtype=float)
    return on_simplex(values.ravel() / total).reshape(values.shape) * total if total > 0 else np.zeros(values.shape)


def fitted(
    ones: Sequence[Any], pairs: Sequence[Pair], both: Sequence[Any], total: float, variances: tuple[float, float]
) -> tuple[list[Floats], list[Floats]]:
    """Counts of each column and of each pair that agree, by the variances of the noise on those of either sort."""
    alone, paired = variances
    sums = [np.asarray(one, dtype=float) / alone for one in ones]
    weights = [1 / alone for _ in ones]
    for (a, b), table in zip(pairs, both, strict=True):
        for place, axis in ((a, 1), (b, 0)):  # the sum of so many cells has so many times their variance
            weight = 1 / (paired * np.shape(table)[axis])
            sums[place] = sums[place] + np.sum(table, axis=axis) * weight
            weights[place] += weight
    margins = [counts_of(one / weight, total) for one, weight in zip(sums, weights, strict=True)]
    return margins, [
        _agreeing(counts_of(table, total), margins[a], margins[b], total, paired**0.5)
        for (a, b), table in zip(pairs, both, strict=True)
    ]


def _agreeing(table: Floats, rows: Floats, across: Floats, total: float, noise: float) -> Floats:
    """The table, scaled by rows and columns until it has these sums. Less than the noise on a count is moved first."""
    if not total > 0:
        return table
    found = table + min(FAINT, noise / total) * np.outer(rows, across) / total
    for _ in range(ROUNDS):
        found *= _ratio(across, found.sum(axis=0))
        sums = found.sum(axis=1)
        found *= _ratio(rows, sums)[:, None]
        if np.abs(sums - rows).sum() <= CLOSE * total:
            break
    return found


def _ratio(wanted: Floats, seen: Floats) -> Floats:
    return np.divide(wanted, seen, out=np.zeros_like(wanted), where=seen > 0)
