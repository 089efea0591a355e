"""Counting numbers between edges in one compiled pass, for large columns: the same counts as `Edges.indices`.

The bin is guessed from equal spacing and checked against the edges themselves, so that rounding in the guess decides
nothing; where the guess is wrong, the bin is searched. [I1] of statistics/bins.py holds as for the plain path, which a
test compares.
"""

import numba
import numpy as np
import numpy.typing as npt


def counts_between(values: npt.NDArray[np.float64], edges: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """How many values each bin holds, and last how many lie outside or are no numbers."""
    found: npt.NDArray[np.int64] = _count(values, edges)
    return found


@numba.njit(cache=True, nogil=True)
def _count(values, edges):  # type: ignore[no-untyped-def]  # compiled: the types are numba's
    bins = len(edges) - 1
    low, high = edges[0], edges[bins]
    per_unit = bins / (high - low)  # 0 or infinite for ranges at the ends of the floats
    found = np.zeros(bins + 1, dtype=np.int64)
    for value in values:
        if not low <= value <= high:  # NaN too
            found[bins] += 1
            continue
        guess = (value - low) * per_unit
        place = int(guess) if guess < bins else bins - 1  # NaN too: an index is never made of it
        if value < edges[place] or (place < bins - 1 and value >= edges[place + 1]):
            place = min(np.searchsorted(edges, value, side="right") - 1, bins - 1)
        found[place] += 1
    return found
