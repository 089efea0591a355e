"""Small fits one block after another, compiled: least squares, Newton's steps and Firth's, as in the plain modules.

A block is turned over into columns once; every pass then reads columns that the cache still holds. No matrix library is
called, each block is worked on alone from its first number to its last, and every sum is taken in an order fixed by
the block's size: its row is the same bits whatever the other blocks hold and whichever thread takes it ([batched.1] of
subsample/batched.py, [block_fits.1]). Threads share out blocks; nothing is shared between blocks. Only `dot` may
be reordered by the compiler, once and for all when it is compiled.
"""

# ruff: noqa: PLR0917  compiled passes are handed their workspace
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import numba
import numpy as np
import numpy.typing as npt

from discreet._compiled.column_kernels import processors
from discreet.subsample.block_fits import (
    CLOSE,
    FAINT,
    FARTHEST,
    FIRTH_STEPS,
    POOR,
    POOR_SQUARES,
    SAFE,
    SETTLED,
    STEPS,
    TINY,
)

Floats = npt.NDArray[np.float64]
TILE: Final = 512  # rows whose columns fit in the nearest cache
TASKS: Final = 8  # for each thread, so that none waits long for another
FOUND, NONE, HARD = 0, 1, 2  # HARD: for the plain path, which calls a library
NORMAL, LOGISTIC = 0, 1


def fits(
    x: Floats,
    y: Floats,
    edges: npt.NDArray[np.int64],
    distribution: str,
    intercept: bool,
    labels: bool,
    penalty: Floats,
    adjusted: bool,
) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Slopes, then the intercept, of each block, NaN if it has none; and which of them the plain path must do."""
    count, edges = len(edges) - 1, np.ascontiguousarray(edges)  # one kind of array: one compilation
    found = np.full((count, x.shape[1] + intercept), np.nan)
    state = np.full(count, NONE, dtype=np.int8)
    threads = processors()
    cuts = np.unique(np.linspace(0, count, threads * TASKS + 1).astype(np.int64))
    kind = {"normal": NORMAL, "logistic": LOGISTIC}.get(distribution, LOGISTIC + 1)

    def work(task: int) -> None:
        first, last = cuts[task], cuts[task + 1]
        part = slice(first, last)
        _blocks(
            x, y, edges[first : last + 1], kind, intercept, labels, penalty[part], adjusted, found[part], state[part]
        )

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, range(len(cuts) - 1)))
    found[state != FOUND] = np.nan
    return found, state == HARD


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _blocks(x, y, edges, distribution, intercept, labels, penalty, adjusted, found, state):  # type: ignore[no-untyped-def]
    most, width = 0, x.shape[1] + intercept
    for block in range(len(edges) - 1):
        most = max(most, edges[block + 1] - edges[block])
    store = np.empty((width + 6) * most)
    matrix, lower, inverse = np.empty((width, width)), np.empty((width, width)), np.empty((width, width))
    scale, score, at = np.empty(width), np.empty(width), np.empty(width)
    for block in range(len(edges) - 1):
        start, size = edges[block], edges[block + 1] - edges[block]
        if size == 0:
            continue
        columns = store[: width * size].reshape(width, size)  # next to each other, so that they are read fast
        rows = store[width * size : (width + 6) * size].reshape(6, size)
        if not (_turned(x, y, start, columns, rows[0]) and _outcome(rows[0], distribution, labels, adjusted)):
            continue
        if distribution == NORMAL:
            state[block] = _least_squares(columns, rows, intercept, matrix, lower, inverse, scale, score, at)
        elif adjusted:
            state[block] = _firth(columns, rows, distribution, intercept, matrix, lower, inverse, scale, score, at)
        else:
            state[block] = _newton(
                columns, rows, distribution, intercept, penalty[block], matrix, lower, inverse, scale, score, at
            )
        for item in range(width):
            if not np.isfinite(at[item]):
                state[block] = max(state[block], NONE)
            found[block, item] = at[item]


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _turned(x, y, start, columns, outcome):  # type: ignore[no-untyped-def]
    """The block by columns, the last of ones if it is wider; False if a number is missing."""
    width, bad = x.shape[1], 0.0
    for row in range(len(outcome)):
        outcome[row] = y[start + row]
        bad += outcome[row] * 0.0  # 0, or NaN for ever
        for item in range(width):
            columns[item, row] = x[start + row, item]
            bad += columns[item, row] * 0.0
    for item in range(width, len(columns)):
        columns[item] = 1.0
    return bad == 0.0


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _outcome(y, distribution, labels, adjusted):  # type: ignore[no-untyped-def]
    """As `Batched.outcome`, in place; False where there is none."""
    low = high = y[0]
    for row in range(len(y)):
        low, high = min(low, y[row]), max(high, y[row])
    if distribution == NORMAL:
        return True
    if distribution != LOGISTIC:
        return low >= 0.0 and (adjusted or high > 0.0)
    if not labels:
        return low >= 0.0 and high <= 1.0 and (adjusted or (low < 1.0 and high > 0.0))
    if low == high and not (adjusted and (low == 0.0 or abs(low) == 1.0)):
        return False
    if low != np.floor(low) or high != np.floor(high):
        return False
    upper = 1.0 if low == high else high
    for row in range(len(y)):
        if y[row] != low and y[row] != high:
            return False
        y[row] = 1.0 if y[row] == upper else 0.0
    return True


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _least_squares(columns, rows, intercept, matrix, lower, inverse, scale, score, at):  # type: ignore[no-untyped-def]
    width, size = len(columns) - intercept, columns.shape[1]
    if size <= width:
        return HARD
    y, ones, level = rows[0], rows[1], 0.0
    ones[:] = 1.0
    if intercept:
        level = dot(y, ones) / size
        add(-level, ones, y)
        for item in range(width):
            at[item] = dot(columns[item], ones) / size
            add(-at[item], ones, columns[item])
    slopes = columns[:width]
    gram(slopes, ones, matrix[:width, :width], rows[2])
    least, largest = np.inf, 0.0
    for item in range(width):
        score[item] = dot(slopes[item], y)
        least, largest = min(least, matrix[item, item]), max(largest, matrix[item, item])
        if intercept and not matrix[item, item] > TINY * size * at[item] ** 2:
            return HARD
    if not least > TINY * largest:
        return HARD
    if not factored(matrix[:width, :width], lower, inverse, scale) < POOR_SQUARES:
        return HARD
    solved(inverse, scale, score[:width])
    for item in range(width):
        level -= at[item] * score[item]
        at[item] = score[item]
    if intercept:
        at[width] = level
    return FOUND


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _response(linear, distribution, mean, curve):  # type: ignore[no-untyped-def]
    """Mean and curvature of each row."""
    for row in range(len(linear)):
        if distribution == LOGISTIC:
            mean[row] = 1.0 / (1.0 + np.exp(-linear[row]))
            curve[row] = mean[row] * (1.0 - mean[row])
        else:
            mean[row] = curve[row] = np.exp(linear[row])


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _start(y, distribution, intercept, low, at, linear):  # type: ignore[no-untyped-def]
    """Slopes of 0; a Poisson intercept at the block's own level."""
    at[:] = 0.0
    linear[:] = 0.0
    if distribution != LOGISTIC and intercept:
        total = 0.0
        for row in range(len(y)):
            total += y[row]
        at[-1] = np.log(max(total / len(y), low))
        linear[:] = at[-1]


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _value(y, linear, moved, share, distribution):  # type: ignore[no-untyped-def]
    """The loss after a share of a move."""
    total = 0.0
    for row in range(len(y)):
        at = linear[row] - share * moved[row]
        loss = max(at, 0.0) + np.log1p(np.exp(-abs(at))) if distribution == LOGISTIC else np.exp(at)
        total += loss - y[row] * at
    return total


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _ridge(at, step, share, penalty, slopes):  # type: ignore[no-untyped-def]
    total = 0.0
    for item in range(slopes):
        total += penalty * (at[item] - share * step[item]) ** 2
    return total / 2


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _newton(columns, rows, distribution, intercept, penalty, matrix, lower, inverse, scale, score, at):  # type: ignore[no-untyped-def]
    y, linear, mean, curve, moved = rows[0], rows[1], rows[2], rows[3], rows[4]
    width, slopes = len(columns), len(columns) - intercept
    _start(y, distribution, intercept, 1e-300, at, linear)
    for turn in range(STEPS):
        _response(linear, distribution, mean, curve)
        if distribution == LOGISTIC and penalty == 0.0 and turn > 0 and _separated(y, linear):
            return NONE
        for row in range(len(y)):
            mean[row] -= y[row]
        for item in range(width):
            score[item] = dot(columns[item], mean)
        gram(columns, curve, matrix, mean)
        for item in range(slopes):
            score[item] += penalty * at[item]
            matrix[item, item] += penalty
        trace = factored(matrix, lower, inverse, scale)
        if not trace < np.inf:
            return NONE
        solved(inverse, scale, score)
        reach = moved_by(columns, score, moved)
        share = 1.0
        if not reach < SAFE:
            before = _value(y, linear, moved, 0.0, distribution) + _ridge(at, score, 0.0, penalty, slopes)
            limit = before + 1e-12 * (1.0 + abs(before))
            for _ in range(30):
                if _value(y, linear, moved, share, distribution) + _ridge(at, score, share, penalty, slopes) <= limit:
                    break
                share /= 2
        for item in range(width):
            at[item] -= share * score[item]
        if reach < CLOSE:
            return FOUND if trace < POOR else NONE
        add(-share, moved, linear)
    return NONE


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _separated(y, linear):  # type: ignore[no-untyped-def]
    """Whether this line parts the outcomes: then the likelihood has no maximum."""
    for row in range(len(y)):  # noqa: SIM110  compiled
        if not (2.0 * y[row] - 1.0) * linear[row] > 1e-6:
            return False
    return True


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _firth(columns, rows, distribution, intercept, matrix, lower, inverse, scale, score, at):  # type: ignore[no-untyped-def]
    y, linear, mean, curve, moved, leverage = rows[0], rows[1], rows[2], rows[3], rows[4], rows[5]
    width, size = columns.shape
    _start(y, distribution, intercept, 0.5 / size, at, linear)
    for _ in range(FIRTH_STEPS):
        _response(linear, distribution, mean, curve)
        gram(columns, curve, matrix, leverage)
        trace = factored(matrix, lower, inverse, scale)
        if not trace < np.inf:
            return NONE
        leverage[:] = 0.0
        for one in range(width):
            moved[:] = 0.0
            for other in range(one + 1):
                add(inverse[one, other] * scale[other], columns[other], moved)
            for row in range(size):
                leverage[row] += moved[row] ** 2
        for row in range(size):
            pull = 0.5 - mean[row] if distribution == LOGISTIC else 0.5
            moved[row] = y[row] - mean[row] + min(1.0, curve[row] * leverage[row]) * pull
        for item in range(width):
            score[item] = dot(columns[item], moved)
        solved(inverse, scale, score)
        reach = moved_by(columns, score, moved)
        if not reach < np.inf:
            return NONE
        share = min(1.0, FARTHEST / max(reach, 1e-300))
        for item in range(width):
            at[item] += share * score[item]
        if reach < SETTLED:
            return FOUND if trace < POOR else NONE
        add(share, moved, linear)
    return NONE


# --- sums, products and small triangular systems over the columns of one block ---


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
