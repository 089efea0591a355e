"""The passes over a stream that look for some ranks, compiled: the counts and the numbers of noise/order.py.

All on the bits of the floats; no branch that half of all numbers would take.
"""

import numba
import numpy as np

SIGN, MAGNITUDE = np.uint64(1 << 63), np.uint64((1 << 63) - 1)
INFINITE, ZERO = np.uint64(0x7FF << 52), np.uint64(0)


@numba.njit(inline="always")
def _place(word, default):  # type: ignore[no-untyped-def]  # compiled: the types are numba's
    known = default if word & MAGNITUDE > INFINITE else word
    known = ZERO if known == SIGN else known
    return ~known if known >= SIGN else known | SIGN


@numba.njit(cache=True, nogil=True)
def count(words, default, ends, shift, counts):  # type: ignore[no-untyped-def]
    """Count the places from one end to the other by their leading bits."""
    first, last = ends
    if first == ZERO and ~last == ZERO:
        for i in range(len(words)):
            counts[np.int64(_place(words[i], default) >> shift)] += 1
        return
    for i in range(len(words)):
        place = _place(words[i], default)
        if first <= place <= last:
            counts[np.int64((place - first) >> shift)] += 1


@numba.njit(cache=True, nogil=True)
def keep(words, default, ends, tally, found):  # type: ignore[no-untyped-def]
    """Write down the places between the ends; count them, those below, and the ends themselves."""
    low, high = ends
    below, at_low, at_high, between = tally[0], tally[1], tally[2], tally[3]
    for i in range(len(words)):
        place = _place(words[i], default)
        below += place < low
        if low <= place <= high:  # few
            if place == low:
                at_low += 1
            elif place == high:
                at_high += 1
            else:
                found[between] = place
                between += 1
    tally[0], tally[1], tally[2], tally[3] = below, at_low, at_high, between
