"""The passes of friendly means, compiled: MatchCore, tapered sums, counts by distance. The results of the plain ones.

The work of MatchCore does not depend on the rows.

Rounding by adding and taking off 1.5 * 2^52 is exact for steps below 2^51; anything larger is far beyond twice the
radius either way. Sums of squares may be taken in any order where it matters, as they are exact ([taper.3] of
friendly/taper.py): only `_square` lets the compiler reorder. A test compares with the plain path.
"""

from typing import Final

import numba
import numpy as np
import numpy.typing as npt

from discreet.friendly.find_centre import walk


@numba.njit(cache=True)
def greedy(apart, free):  # type: ignore[no-untyped-def]  # compiled: the types are numba's
    """Match each row of a block with the first later one that is free and no friend; both stop being free."""
    rows, size = apart.shape
    pairs = 0
    for i in range(rows):
        first = np.int64(size)
        for j in range(size - 1, i, -1):  # every one of them, found or not
            first = np.int64(j) if apart[i, j] & free[j] else first
        if first < size and free[i]:
            free[i] = False
            free[first] = False
            pairs += 1
    return pairs


@numba.njit(cache=True)
def beyond(point, others, square):  # type: ignore[no-untyped-def]
    """Which of the others have a squared distance above `square`."""
    edge = np.int64(2**20)  # squares of larger differences might overflow, and settle it already
    found = np.empty(len(others), dtype=np.bool_)
    for i in range(len(others)):
        total = np.int64(0)
        for j in range(others.shape[1]):
            move = min(abs(others[i, j] - point[j]), edge)
            total += move * move
        found[i] = total > square
    return found


walk_fast = numba.njit(cache=True)(walk)


ROUNDER: Final = 1.5 * 2.0**52
Floats = npt.NDArray[np.float64]


def taper_sums(block: Floats, centre: Floats, inverse: float, half: float, squares: bool) -> tuple[Floats, Floats]:
    """The sums of v, and of floor(v^2 / half) if asked, over the rows of a block."""
    with np.errstate(all="ignore"):
        found: tuple[Floats, Floats] = _taper(block, centre, inverse, half, squares)
    return found


def cell_counts(block: Floats, centre: Floats, inverse: float, edges: Floats) -> npt.NDArray[np.int64]:
    """How many rows have a squared length up to edges[0], up to edges[1], ..., beyond or none."""
    with np.errstate(all="ignore"):
        counts: npt.NDArray[np.int64] = _cells(block, centre, inverse, edges)
    return counts


@numba.njit(fastmath={"reassoc"}, inline="never", cache=True, nogil=True)
def _square(steps):  # type: ignore[no-untyped-def]
    total = 0.0
    for j in range(len(steps)):
        total += steps[j] * steps[j]
    return total


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _taper(block, centre, inverse, half, squares):  # type: ignore[no-untyped-def]  # compiled: the types are numba's
    width = block.shape[1]
    total, square, steps = np.zeros(width), np.zeros(width), np.empty(width)
    near, far, shrink = half * half, 4.0 * half * half, 1.0 / half
    for i in range(len(block)):
        for j in range(width):
            steps[j] = ((block[i, j] - centre[j]) * inverse + ROUNDER) - ROUNDER
        length = _square(steps)
        if not length < far:
            continue
        if length > near:
            root = np.sqrt(length)
            factor = (2.0 * half - root) / root
            for j in range(width):
                steps[j] = np.trunc(steps[j] * factor)
        for j in range(width):
            total[j] += steps[j]
        if squares:
            for j in range(width):
                square[j] += np.floor(steps[j] * steps[j] * shrink)
    return total, square


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _cells(block, centre, inverse, edges):  # type: ignore[no-untyped-def]
    width, last = block.shape[1], len(edges)
    counts, steps = np.zeros(last + 1, dtype=np.int64), np.empty(width)
    for i in range(len(block)):
        for j in range(width):
            steps[j] = ((block[i, j] - centre[j]) * inverse + ROUNDER) - ROUNDER
        length = _square(steps)
        if not length <= edges[last - 1]:
            counts[last] += 1
            continue
        low, high = 0, last - 1
        while low < high:
            middle = (low + high) // 2
            if length <= edges[middle]:
                high = middle
            else:
                low = middle + 1
        counts[low] += 1
    return counts
