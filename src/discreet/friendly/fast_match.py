"""The compiled passes of MatchCore: the same results as the plain ones, with work that does not depend on the rows."""

import numba
import numpy as np

from discreet.friendly.shortcut import walk


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
