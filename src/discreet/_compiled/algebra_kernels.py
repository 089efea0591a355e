"""Sums, products and small triangular systems over the columns of one block, compiled.

No matrix library: every sum is taken in an order that the block's size fixes. Only `dot` may be reordered by the
compiler, once and for all when it is compiled.
"""

from typing import Final

import numba
import numpy as np

from discreet.subsample.block_fits import FAINT

TILE: Final = 512  # rows whose columns fit in the nearest cache


@numba.njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"}, inline="never")
def dot(one, other):  # type: ignore[no-untyped-def]
    """The sum of products."""
    total = 0.0
    for row in range(len(one)):
        total += one[row] * other[row]
    return total


@numba.njit(cache=True, nogil=True, error_model="numpy", inline="never")
def add(share, column, to):  # type: ignore[no-untyped-def]
    """A share of a column, added to another."""
    for row in range(len(to)):
        to[row] += share * column[row]


@numba.njit(cache=True, nogil=True, error_model="numpy")
def gram(columns, curve, matrix, spare):  # type: ignore[no-untyped-def]
    """X'WX, its lower half."""
    width, size = columns.shape
    matrix[:] = 0.0
    for start in range(0, size, TILE):
        stop = min(size, start + TILE)
        heavy = spare[: stop - start]
        for one in range(width):
            light, weights = columns[one][start:stop], curve[start:stop]
            for row in range(len(heavy)):
                heavy[row] = light[row] * weights[row]
            for other in range(one + 1):
                matrix[one, other] += dot(heavy, columns[other][start:stop])


@numba.njit(cache=True, nogil=True, error_model="numpy")
def factored(matrix, lower, inverse, scale):  # type: ignore[no-untyped-def]  # noqa: PLR0912
    """Cholesky's factor of the matrix with a diagonal of ones, and its inverse; the trace of the matrix's inverse.

    That trace is the sum of the variance inflation factors. Infinite if there is no factor.
    """
    width = len(matrix)
    for one in range(width):
        if not 0.0 < matrix[one, one] < np.inf:
            return np.inf
        scale[one] = 1.0 / np.sqrt(matrix[one, one])
    trace = 0.0
    for one in range(width):
        for other in range(one + 1):
            total = matrix[one, other] * scale[one] * scale[other]
            if one == other:
                total = 1.0 + FAINT
            for item in range(other):
                total -= lower[one, item] * lower[other, item]
            if one == other:
                if not 0.0 < total < np.inf:
                    return np.inf
                lower[one, one] = np.sqrt(total)
            else:
                lower[one, other] = total / lower[other, other]
    for one in range(width):
        inverse[one, one] = 1.0 / lower[one, one]
        for other in range(one):
            total = 0.0
            for item in range(other, one):
                total -= lower[one, item] * inverse[item, other]
            inverse[one, other] = total / lower[one, one]
        for other in range(one + 1):
            trace += inverse[one, other] ** 2
    return trace


@numba.njit(cache=True, nogil=True, error_model="numpy")
def solved(inverse, scale, right):  # type: ignore[no-untyped-def]
    """The solution, in place of the right-hand side."""
    width = len(right)
    for one in range(width - 1, -1, -1):
        total = 0.0
        for item in range(one + 1):
            total += inverse[one, item] * scale[item] * right[item]
        right[one] = total
    for one in range(width):
        total = 0.0
        for item in range(one, width):
            total += inverse[item, one] * right[item]
        right[one] = total * scale[one]


@numba.njit(cache=True, nogil=True, error_model="numpy")
def moved_by(columns, step, moved):  # type: ignore[no-untyped-def]
    """X times a step, and the largest of its entries."""
    moved[:] = 0.0
    for item in range(len(columns)):
        add(step[item], columns[item], moved)
    reach = 0.0
    for row in range(len(moved)):
        reach = max(reach, abs(moved[row]))
    return reach
