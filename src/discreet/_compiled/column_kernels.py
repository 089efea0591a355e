"""Sums of powers of clipped deviations in one compiled pass at the speed of memory: the integers of `steps_of`.

Adding 1.5 * 2^52 to a number below 2^50 rounds it to the nearest whole number, ties to even, and leaves that number in
the low bits of the sum; adding 1.5 * 2^52 * half rounds to multiples of half, and leaves how many. Those words are
added up modulo 2^64; the constant's share is taken off at the end. Integers may be added in any order, so the loop runs
on vectors. [clip.2]; a test compares with the plain path.

Counting numbers between edges in one compiled pass, for large columns: the same counts as `Edges.indices`.

The bin is guessed from equal spacing and checked against the edges themselves, so that rounding in the guess decides
nothing; where the guess is wrong, the bin is searched. [bins.1] holds as for the plain path, which a
test compares.
"""

from typing import Any, Final

import numba
import numpy as np
import numpy.typing as npt
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

ROUNDER: Final = 1.5 * 2.0**52


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
def count_cells(values, centre, shift, found):  # type: ignore[no-untyped-def]
    """Count distances from the centre by their leading bits; missing as 0, infinite as the largest float.

    In two tables, whose sum is the count: equal neighbours need not wait for each other.
    """
    largest = np.finfo(np.float64).max
    for i in range(len(values)):
        distance = abs(values[i] - centre)
        if not distance == distance:  # noqa: PLR0124, SIM201  NaN, as numba vectorises it
            distance = 0.0
        found[i & 1, bits(min(distance, largest)) >> shift] += 1


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
