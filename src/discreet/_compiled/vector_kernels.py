"""Passes over rows that are seen in a frame, compiled: lengths, sums, sums of products. The integers of stages/gram.py.

A block of rows stays in the nearest cache. Entries and their combinations are whole numbers below 2^53, exact in any
order [gram.4]; lengths are summed in the order of the plain path, with one rounding an operation; rounding to a whole
number adds 1.5 * 2^52 and takes it off, and the words of what it is added to are added up as in column_kernels. Sums of
products of a block are whole numbers below 2^47 and leave it as integers [gram.1].
"""

from typing import Any, Final

import numba
import numpy as np
import numpy.typing as npt

from discreet._compiled.column_kernels import ROUNDER, bits

BLOCK: Final = 256  # rows
SHAPES: Final = {"clip": 0, "taper": 1, "sphere": 2}
NOTHING: Final = np.int64((BLOCK * int(np.float64(ROUNDER).view(np.int64)) + 2**63) % 2**64 - 2**63)
NONE: Final = np.zeros(0, np.int64)
compiled = numba.njit(cache=True, nogil=True, error_model="numpy")


def lengths(rows: npt.NDArray[np.float64], frame: Any, edge: float) -> npt.NDArray[np.float64]:
    """How long each row is in steps of the frame; 0 where it is missing."""
    found = np.empty(len(rows))
    _lengths(_fixed(rows), frame.led, frame.centre, frame.per, frame.whole, edge, found)
    return found


def _fixed(rows: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """As they are, but only to be read: passes are compiled once for such rows, not again for others."""
    view = rows.view()
    view.flags.writeable = False
    return view


def sums(  # noqa: PLR0917
    rows: npt.NDArray[np.float64],
    frame: Any,
    pairs: Any,
    edge: float,
    radius: float,
    shape: str,
    scale: float,
    *,
    both: bool,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The sum of v and, if both are asked for, that of v v'. With `pairs` a row is the squares of their products."""
    one, other = (NONE, NONE) if pairs is None else pairs
    size = len(frame.whole) if pairs is None else len(one)
    first, second = np.zeros(size, np.int64), np.zeros((size, size) if both else (0, 0), np.int64)
    given = (_fixed(rows), frame.led, frame.centre, frame.per, frame.whole, edge)
    if pairs is None:
        _sums(*given, radius, SHAPES[shape], scale, first, second)
    else:
        _fourths(*given, one, other, radius, SHAPES[shape], scale, first)
    return first, second


@compiled
def _see(rows, start, count, led, centre, per, whole, edge, entries, seen, lost):  # type: ignore[no-untyped-def]  # noqa: PLR0917
    """The combinations of entries of a block, one column for each row; rows beyond its end are 0."""
    lost[:] = 0
    for j in range(whole.shape[1]):
        place, unit, column = centre[j], per[j], j - led
        if column < 0:
            entries[j, :] = 1.0
        else:
            for r in range(count):
                entries[j, r] = rows[start + r, column]
        for r in range(count):
            x = (entries[j, r] - place) * unit
            lost[r] |= x != x  # noqa: PLR0124  NaN
            x = x if x < edge else edge
            x = x if x > -edge else -edge
            entries[j, r] = (x + ROUNDER) - ROUNDER
    for i in range(whole.shape[0]):
        seen[i, :] = 0.0
        for j in range(whole.shape[1]):
            times = whole[i, j]
            if times != 0.0:
                for r in range(count):
                    seen[i, r] += times * entries[j, r]


@compiled
def _long(seen, count, total):  # type: ignore[no-untyped-def]
    """The lengths of columns, each summed in the same order."""
    total[:] = 0.0
    for i in range(len(seen)):
        for r in range(count):
            total[r] += seen[i, r] * seen[i, r]
    for r in range(count):
        total[r] = np.sqrt(total[r])


@compiled
def _factors(total, lost, count, radius, shape, scale, factor):  # type: ignore[no-untyped-def]  # noqa: PLR0917
    """What a row is multiplied by to be in the ball, in steps; 0 for one that is missing."""
    for r in range(count):
        if shape == 0:
            factor[r] = 1.0 / (total[r] if total[r] > radius else radius)
        elif shape == 1:
            part = 2.0 * radius / total[r] - 1.0
            factor[r] = min(max(part, 0.0), 1.0) / radius
        else:
            factor[r] = 1.0 / total[r] if total[r] > 0 else 0.0
        factor[r] = 0.0 if lost[r] else factor[r] * scale


@compiled
def _lengths(rows, led, centre, per, whole, edge, found):  # type: ignore[no-untyped-def]  # noqa: PLR0917
    entries, seen = np.zeros((whole.shape[1], BLOCK)), np.zeros((whole.shape[0], BLOCK))
    total, lost = np.zeros(BLOCK), np.zeros(BLOCK, np.uint8)
    for start in range(0, len(rows), BLOCK):
        count = min(BLOCK, len(rows) - start)
        _see(rows, start, count, led, centre, per, whole, edge, entries, seen, lost)
        _long(seen, count, total)
        for r in range(count):
            found[start + r] = 0.0 if lost[r] else total[r]


@numba.njit(fastmath={"reassoc", "contract"}, cache=True, nogil=True, error_model="numpy", inline="never")
def _product(one, other):  # type: ignore[no-untyped-def]
    """Of two columns of whole numbers: no order of the sums, and none of the roundings, changes it. [gram.1]"""
    total = 0.0
    for r in range(BLOCK):
        total += one[r] * other[r]
    return total


@compiled
def _sums(rows, led, centre, per, whole, edge, radius, shape, scale, first, second):  # type: ignore[no-untyped-def]  # noqa: PLR0917
    entries, seen = np.zeros((whole.shape[1], BLOCK)), np.zeros((whole.shape[0], BLOCK))
    total, factor, lost = np.zeros(BLOCK), np.zeros(BLOCK), np.zeros(BLOCK, np.uint8)
    for start in range(0, len(rows), BLOCK):
        count = min(BLOCK, len(rows) - start)
        _see(rows, start, count, led, centre, per, whole, edge, entries, seen, lost)
        _long(seen, count, total)
        _factors(total, lost, count, radius, shape, scale, factor)
        factor[count:] = 0.0  # of rows beyond the end
        for i in range(len(seen)):
            words = np.int64(0)
            for r in range(BLOCK):
                rounded = seen[i, r] * factor[r] + ROUNDER
                words += bits(rounded)
                seen[i, r] = rounded - ROUNDER
            first[i] += words - NOTHING
        for i in range(len(second)):
            for k in range(i, len(second)):
                second[i, k] += np.int64(_product(seen[i], seen[k]))
    for i in range(len(second)):
        for k in range(i):
            second[i, k] = second[k, i]


@compiled
def _fourths(rows, led, centre, per, whole, edge, one, other, radius, shape, scale, first):  # type: ignore[no-untyped-def]  # noqa: PLR0917
    entries, seen = np.zeros((whole.shape[1], BLOCK)), np.zeros((whole.shape[0], BLOCK))
    total, factor, lost = np.zeros(BLOCK), np.zeros(BLOCK), np.zeros(BLOCK, np.uint8)
    for start in range(0, len(rows), BLOCK):
        count = min(BLOCK, len(rows) - start)
        _see(rows, start, count, led, centre, per, whole, edge, entries, seen, lost)
        total[:] = 0.0
        for pair in range(len(one)):
            i, k = one[pair], other[pair]
            for r in range(count):
                product = seen[i, r] * seen[k, r]
                square = product * product
                total[r] += square * square
        for r in range(count):
            total[r] = np.sqrt(total[r])
        _factors(total, lost, count, radius, shape, scale, factor)
        factor[count:] = 0.0  # of rows beyond the end
        for pair in range(len(one)):
            i, k, words = one[pair], other[pair], np.int64(0)
            for r in range(BLOCK):
                product = seen[i, r] * seen[k, r]
                words += bits(product * product * factor[r] + ROUNDER)
            first[pair] += words - NOTHING
