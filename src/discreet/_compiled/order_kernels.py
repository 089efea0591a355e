"""The order of many random words, compiled: the one that a sort gives.

Uniform words are dealt into chests that the nearest cache can hold, those of a chest into as many drawers as there are
words, a few into each; only within a drawer are they compared.

The passes over a stream that look for some ranks, compiled: the counts and the numbers of noise/order_statistics.py.

No branch here is one that half of all numbers would take.
"""

from typing import Final

import numba
import numpy as np
import numpy.typing as npt

CHEST: Final = 10  # bits of a word that choose the chest


def order_of(words: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64] | None:
    """The places of the words from the least to the largest; None if two are equal."""
    order = np.empty(len(words), dtype=np.int64)
    bits = max(1, len(words).bit_length() - CHEST)
    return order if _sort(words, np.uint64(bits), order) else None


@numba.njit(cache=True, nogil=True)
def _sort(words, bits, order):  # type: ignore[no-untyped-def]  # compiled: the types are numba's
    shift, chests, drawers = np.uint64(64 - CHEST), 1 << CHEST, 1 << int(bits)
    starts = np.zeros(chests + 1, np.int64)
    for place in range(len(words)):
        starts[int(words[place] >> shift) + 1] += 1
    for chest in range(chests):
        starts[chest + 1] += starts[chest]
    heads, dealt, places = starts.copy(), np.empty(len(words), np.uint64), np.empty(len(words), np.int64)
    for place in range(len(words)):
        chest = int(words[place] >> shift)
        dealt[heads[chest]], places[heads[chest]] = words[place], place
        heads[chest] += 1
    shift, mask = np.uint64(64 - CHEST) - bits, np.uint64(drawers - 1)
    firsts, ends, rows, distinct = np.empty(drawers + 1, np.int64), np.empty(drawers, np.int64), words.copy(), True
    for chest in range(chests):
        start, stop = starts[chest], starts[chest + 1]
        firsts[:] = 0
        for item in range(start, stop):
            firsts[int((dealt[item] >> shift) & mask) + 1] += 1
        firsts[0] = start
        for drawer in range(drawers):
            firsts[drawer + 1] += firsts[drawer]
            ends[drawer] = firsts[drawer]
        for item in range(start, stop):
            word, drawer = dealt[item], int((dealt[item] >> shift) & mask)
            to = ends[drawer]
            ends[drawer] += 1
            while to > firsts[drawer] and rows[to - 1] > word:
                rows[to], order[to] = rows[to - 1], order[to - 1]
                to -= 1
            distinct &= not (to > firsts[drawer] and rows[to - 1] == word)
            rows[to], order[to] = word, places[item]
    return distinct


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
