"""The order of many random words, compiled: the one that a sort gives.

Uniform words are dealt into chests that the nearest cache can hold, those of a chest into as many drawers as there are
words, a few into each; only within a drawer are they compared.
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
