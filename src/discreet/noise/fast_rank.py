"""The passes over a stream that look for some ranks, compiled: the counts and the numbers of noise/order.py.

No branch here is one that half of all numbers would take.
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
def keep(values, default, ends, tally, found):  # type: ignore[no-untyped-def]
    """Write down the numbers between the ends; count them, those below, and the ends themselves."""
    low, high = ends
    below, at_low, at_high = 0, 0, 0
    for i in range(len(values)):  # on vectors
        known = values[i] if values[i] == values[i] else default
        below += known < low
        at_low += known == low
        at_high += known == high
    between = tally[3]
    for i in range(len(values)):
        known = values[i] if values[i] == values[i] else default
        found[between] = known  # the next one takes its place if it does not belong here
        between += (known > low) & (known < high)
    tally[0] += below
    tally[1] += at_low
    tally[2] += at_high if low < high else 0
    tally[3] = between
