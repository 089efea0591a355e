"""Passes over one long column, compiled: its clipped sums, its counts, its order. The integers of the plain paths.

Clipped sums: adding 1.5 * 2^52 to a number below 2^50 rounds it to the nearest whole number, ties to even, and leaves
that number in the low bits of the sum; adding 1.5 * 2^52 * half rounds to multiples of half, and leaves how many. Those
words are added up modulo 2^64; the constant's share is taken off at the end. Integers may be added in any order, so the
loop runs on vectors. [clip.2]

Counts between edges: the bin is guessed from equal spacing and checked against the edges themselves, so that rounding
in the guess decides nothing; where the guess is wrong, the bin is searched. [histogram.4]

Order: uniform words are dealt into chests that the nearest cache can hold, those of a chest into as many drawers as
there are words, a few into each; only within a drawer are they compared. No branch of `count` and `keep` is one that
half of all numbers would take.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import numba
import numpy as np
import numpy.typing as npt
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

ROUNDER: Final = 1.5 * 2.0**52
CHEST: Final = 10  # bits of a word that choose the chest
SIGN, MAGNITUDE = np.uint64(1 << 63), np.uint64((1 << 63) - 1)
LEADING, LATER = np.uint64(47), np.uint64(26)  # of a distance: bits behind its cell, and behind its place in it
PART = np.uint64((1 << 47) - 1)
INFINITE, ZERO = np.uint64(0x7FF << 52), np.uint64(0)


def total_steps(
    values: npt.NDArray[np.float64], centre: float, inverse: float, half: float, powers: tuple[int, ...]
) -> tuple[int, ...]:
    """For each power the sum of rint(y^power / half^(power-1)), y = clip((x - centre) * inverse, +-half), NaN as 0."""
    kernel = {(1,): _first, (2,): _second, (4,): _fourth, (1, 2): _first_two, (2, 4): _second_two}[powers]
    words = kernel(values, centre, inverse, half)
    return tuple(
        _signed(int(word) - len(values) * _word(ROUNDER if power == 1 else ROUNDER * half))
        for power, word in zip(powers, words if len(powers) > 1 else (words,), strict=True)
    )


def _word(number: float) -> int:
    """The bits of a float."""
    return int(np.float64(number).view(np.int64))


def _signed(word: int) -> int:
    """A number modulo 2^64 as an int64."""
    return (word + 2**63) % 2**64 - 2**63


def _lower_clip(_typing: Any, _x: Any, _edge: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        # selects as the machine has them; of branches, the compiler makes worse
        x, edge = arguments
        zero = ir.Constant(ir.DoubleType(), 0.0)
        minus = builder.fsub(zero, edge)
        below = builder.select(builder.fcmp_ordered("<", x, edge), x, edge)
        inside = builder.select(builder.fcmp_ordered(">", below, minus), below, minus)
        return builder.select(builder.fcmp_ordered("ord", x, x), inside, zero)

    return types.float64(types.float64, types.float64), generate


def _lower_bits(_typing: Any, _x: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.int64(types.float64), generate


_clip, bits = intrinsic(_lower_clip), intrinsic(_lower_bits)


@numba.njit(cache=True, nogil=True)
def _first(values, centre, inverse, half):  # type: ignore[no-untyped-def]  # compiled: the types are numba's
    total = np.int64(0)
    for i in range(len(values)):
        total += bits(_clip((values[i] - centre) * inverse, half) + ROUNDER)
    return total


@numba.njit(cache=True, nogil=True)
def _second(values, centre, inverse, half):  # type: ignore[no-untyped-def]
    total, rounder = np.int64(0), ROUNDER * half
    for i in range(len(values)):
        steps = _clip((values[i] - centre) * inverse, half)
        total += bits(steps * steps + rounder)
    return total


@numba.njit(cache=True, nogil=True)
def _fourth(values, centre, inverse, half):  # type: ignore[no-untyped-def]
    total, rounder, shrink = np.int64(0), ROUNDER * half, 1.0 / half
    for i in range(len(values)):
        steps = _clip((values[i] - centre) * inverse, half)
        square = steps * steps * shrink
        total += bits(square * square + rounder)
    return total


@numba.njit(cache=True, nogil=True)
def _first_two(values, centre, inverse, half):  # type: ignore[no-untyped-def]
    total, squares, rounder = np.int64(0), np.int64(0), ROUNDER * half
    for i in range(len(values)):
        steps = _clip((values[i] - centre) * inverse, half)
        total += bits(steps + ROUNDER)
        squares += bits(steps * steps + rounder)
    return total, squares


@numba.njit(cache=True, nogil=True)
def _second_two(values, centre, inverse, half):  # type: ignore[no-untyped-def]
    squares, fourths, rounder, shrink = np.int64(0), np.int64(0), ROUNDER * half, 1.0 / half
    for i in range(len(values)):
        steps = _clip((values[i] - centre) * inverse, half)
        square = steps * steps
        squares += bits(square + rounder)
        square *= shrink
        fourths += bits(square * square + rounder)
    return squares, fourths


@numba.njit(cache=True, nogil=True)
def count_cells(values, centre, shift, rest, found):  # type: ignore[no-untyped-def]
    """Count distances from the centre by their leading bits; missing as 0, infinite as the largest float.

    In two tables for either side, whose sum is the count: equal neighbours need not wait for each other.
    """
    largest = np.finfo(np.float64).max
    for i in range(len(values)):
        away = values[i] - centre
        distance = abs(away)
        if not distance == distance:  # noqa: PLR0124, SIM201  NaN, as numba vectorises it
            distance = 0.0
        found[int(away < 0), i & 1, (bits(min(distance, largest)) + rest) >> shift] += 1


@numba.njit(cache=True, nogil=True)
def place_distances(values, centre, counts, sums):  # type: ignore[no-untyped-def]
    """Count distances from the centre by their sign and leading bits, the upper edge of a cell inside, and add up their
    places in it, from 0 to 2^21 - 1. What is no number has a cell behind the infinite one, or the first."""
    for i in range(len(values)):
        word = np.uint64(bits(values[i] - centre)) + PART
        counts[word >> LEADING] += 1
        sums[word >> LEADING] += np.int64((word & PART) >> LATER)


def counts_between(values: npt.NDArray[np.float64], edges: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """How many values each bin holds, and last how many lie outside or are no numbers."""
    found: npt.NDArray[np.int64] = _count(values, edges)
    return found


@numba.njit(cache=True, nogil=True)
def _count(values, edges):  # type: ignore[no-untyped-def]  # compiled: the types are numba's
    bins = len(edges) - 1
    low, high = edges[0], edges[bins]
    per_unit, last = bins / (high - low), float(bins - 1)  # 0 or infinite for ranges at the ends of the floats
    ends = np.empty((bins, 2))  # both of a bin in one line of the cache
    ends[:, 0], ends[:, 1], ends[bins - 1, 1] = edges[:bins], edges[1:], np.nextafter(high, np.inf)
    found = np.zeros(bins + 1, dtype=np.int64)
    for i in range(len(values)):
        value = values[i]
        guess = (value - low) * per_unit
        guess = guess if guess < last else last  # NaN too: an index is never made of it
        place = np.uint64(np.int64(guess if guess > 0.0 else 0.0))  # without a sign: nobody counts from the end
        if (value >= ends[place, 0]) & (value < ends[place, 1]):
            found[place] += 1
        elif low <= value <= high:
            found[min(np.searchsorted(edges, value, side="right") - 1, bins - 1)] += 1
        else:  # NaN too
            found[bins] += 1
    return found


# --- order and ranks ---


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
    below, at_low, at_high, missing = 0, 0, 0, 0
    inside = np.empty(len(values), np.uint8)
    for i in range(len(values)):  # on vectors
        value = values[i]
        below += value < low
        at_low += value == low
        at_high += value == high
        missing += not value == value  # noqa: PLR0124, SIM201
        inside[i] = (value > low) & (value < high)
    between, whole = tally[3], len(values) // 8
    eight = inside[: 8 * whole].view(np.uint64)
    for word in range(whole):
        if eight[word] != 0:  # one of eight
            for i in range(8 * word, 8 * word + 8):
                found[between] = values[i]  # the next one takes its place if it does not belong here
                between += inside[i]
    for i in range(8 * whole, len(values)):
        found[between] = values[i]
        between += inside[i]
    if missing and low < default < high:
        found[between : between + missing] = default
        between += missing
    tally[0] += below + (missing if default < low else 0)
    tally[1] += at_low + (missing if default == low else 0)
    if low < high:
        tally[2] += at_high + (missing if default == high else 0)
    tally[3] = between


# --- rows to their half-blocks ---


@numba.njit(cache=True)  # type: ignore[untyped-decorator]
def places(halves: Any, edges: Any) -> Any:
    """Where each row goes: the next free place of its half-block."""
    heads = edges[:-1].copy()
    place = np.empty(halves.shape[0], np.int64)
    for row in range(halves.shape[0]):
        half = halves[row]
        place[row] = heads[half]
        heads[half] += 1
    return place


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _scatter_rows(rows: Any, place: Any, moved: Any) -> None:
    for row in range(rows.shape[0]):
        to = place[row]
        for item in range(rows.shape[1]):
            moved[to, item] = rows[row, item]


def scatter(part: npt.NDArray[Any], place: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
    """Rows at their places, in a new array; each thread moves a run of rows, no two to one place."""
    moved = np.empty_like(part)
    rows, to = part.reshape(len(part), -1), moved.reshape(len(part), -1)
    cuts = np.linspace(0, len(part), processors() + 1).astype(np.int64)
    with ThreadPoolExecutor(len(cuts) - 1) as pool:
        list(pool.map(lambda a, b: _scatter_rows(rows[a:b], place[a:b], to), cuts[:-1], cuts[1:]))
    return moved


def processors() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
