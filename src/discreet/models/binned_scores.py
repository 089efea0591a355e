"""People in bins of columns, seen at an additive model: what each bin's people show of a better fit, as whole numbers.

Claims
    [binned_scores.1] For each column a row counts in one bin, or in none of any, as two whole numbers: the residual,
          the class less its chance, and the slope, twice the chance times its complement. Both are fixed functions of
          the row and of shapes that are public or were released; the root of the sum of their squares is at most ONE.
    [binned_scores.2] Sums over rows are exact, in whatever order and pieces.
Why
    [binned_scores.1] Shapes are whole numbers of steps: the row's log odds are a sum of integers, limited, and chance
    and slope are read off a public table of integers. There the slope is the least of itself and of what is left of
    ONE squared beside the larger residual.
    [binned_scores.2] `bincount` adds floats that are whole; below 2^53 such sums are exact, and a piece has fewer than
    2^37 rows. Pieces are added as integers.
Source
    Lou, Caruana and Gehrke 2012 for the models; integers off a table are ours.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.models.column_bins import Integers, Meeting
from discreet.privacy.value_shapes import LIMIT
from discreet.statistics.histogram import Categories

ONE: Final = 2**16  # whole numbers for a residual of 1
STEPS: Final = 2**10  # for log odds of 1
CELL: Final = 4  # bytes of the number of a bin
FAR: Final = int(LIMIT) * STEPS


@lru_cache(maxsize=1)
def table() -> tuple[Integers, Integers]:
    """Chances, and slopes, of log odds from -LIMIT on, a step apart: public. [binned_scores.1]"""
    odds = np.arange(-FAR, FAR + 1) / STEPS
    chances = np.rint(ONE / (1 + np.exp(-odds))).astype(np.int64)
    left = [math.isqrt(ONE**2 - max(one, ONE - one) ** 2) for one in chances.tolist()]
    return chances, np.minimum(2 * chances * (ONE - chances) // ONE, left)  # [binned_scores.1]


def binned(
    piece: Mapping[str, Any], *, sides: Sequence[Categories | Meeting], classes: Categories
) -> dict[str, npt.NDArray[np.int32]]:
    """Of some rows the bin of each column, by place, and last the number of the class."""
    return {
        place: side.indices(one).astype(np.int32)
        for (place, one), side in zip(piece.items(), (*sides, classes), strict=True)
    }


def scored(
    given: Iterator[Mapping[str, npt.NDArray[np.int32]]], *, base: int, shapes: Sequence[Integers], classes: int
) -> Integers:
    """A kernel of rows as `binned` has them: residuals by the bins of each column, then slopes by the same.
    [binned_scores.1]"""
    chances, slopes = table()
    total = np.zeros(2 * sum(map(len, shapes)), dtype=np.int64)
    for piece in given:
        *columns, whose = piece.values()
        listed = whose < classes
        cells = [cell[listed] for cell in columns]
        odds = np.full(int(listed.sum()), base, dtype=np.int64)
        for cell, shape in zip(cells, shapes, strict=True):
            odds += shape[cell]
        at = np.clip(odds, -FAR, FAR) + FAR
        residuals, steep = whose[listed].astype(np.int64) * ONE - chances[at], slopes[at]
        found = [
            np.bincount(cell, weights=weights, minlength=len(shape))
            for weights in (residuals, steep)
            for cell, shape in zip(cells, shapes, strict=True)
        ]
        total += np.concatenate(found).astype(np.int64)  # [binned_scores.2]
    return total
