"""The passes of models and of friendly means over blocks of rows, compiled: the results of the plain ones.

Models: the whole numbers of models/assign.py and models/score.py.
Rounding by adding and taking off 1.5 * 2^52 is exact for what is below 2^51, ties to even, as `rint` does. Clusters:
what is not below it is far outside the ball, and rounded again after it was cut to 2^40; lengths within the ball,
differences and products with centres are exact in any order ([assign.1]), so the compiler may add them up as it likes;
those of rows outside are summed in the order of the plain path. Scores: sums of features times coefficients are exact
([score.1]), and so are sums of 2^18 rows' whole numbers, each below 2^34; nothing else here is reordered.

Friendly means: MatchCore, tapered sums, counts by distance. The work of MatchCore does not depend on the rows. A step
that is not below 2^51 is far beyond twice the radius either way. Sums of squares may be taken in any order where it
matters, as they are exact ([taper.3] of friendly/taper.py): only `_square` lets the compiler reorder.
"""

from typing import Final

import numba
import numpy as np
import numpy.typing as npt

from discreet.friendly.find_centre import walk

ROUNDER: Final = 1.5 * 2.0**52
HALF: Final = 2.0**24
SHRINK: Final = 1 - 2.0**-36
FARTHEST: Final = 2.0**40
FEW: Final = 128  # rows at a time, side by side in the registers
PART: Final = 1 << 18  # rows whose sums are exact in float64
Floats = npt.NDArray[np.float64]


def sums_of(  # noqa: PLR0917
    block: Floats, centre: Floats, inverse: float, centres: Floats, about: Floats, reach: float, norm: int
) -> tuple[npt.NDArray[np.int64], Floats]:
    """The rows nearest to each centre, and the sums of what they add."""
    centres, squares = np.ascontiguousarray(centres), (centres * centres).sum(axis=1)
    with np.errstate(all="ignore"):
        found: tuple[npt.NDArray[np.int64], Floats] = _sums(
            block, centre, inverse, centres, squares, np.ascontiguousarray(about), reach, norm
        )
    return found


def distances_of(block: Floats, centre: Floats, inverse: float, centres: Floats) -> Floats:
    """Each row's distance to its nearest centre; NaN for one that is nowhere."""
    centres, squares = np.ascontiguousarray(centres), (centres * centres).sum(axis=1)
    with np.errstate(all="ignore"):
        found: Floats = _distances(block, centre, inverse, centres, squares)
    return found


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _pulled(row, centre, inverse, steps, at):  # type: ignore[no-untyped-def]  # compiled: the types are numba's
    """A row that is not in the ball, as column `at` of the steps; False if it is nowhere."""
    width, most = len(row), 0.0
    for i in range(width):
        steps[i, at] = (row[i] - centre[i]) * inverse
        size = abs(steps[i, at])
        if not size < np.inf:
            return False
        most = max(most, size)
    if most > FARTHEST:
        factor = FARTHEST / most
        for i in range(width):
            steps[i, at] *= factor
    length = 0.0
    for i in range(width):
        steps[i, at] = (steps[i, at] + ROUNDER) - ROUNDER
        length += steps[i, at] * steps[i, at]
    factor = HALF * SHRINK / np.sqrt(length)
    for i in range(width):
        steps[i, at] = np.trunc(steps[i, at] * factor)
    return True


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _placed(part, centre, inverse, steps, lengths, somewhere):  # type: ignore[no-untyped-def]  # noqa: PLR0917
    """A few rows as columns of whole numbers, and which of them are somewhere."""
    size, width = part.shape
    for at in range(size):
        lengths[at] = 0.0
        somewhere[at] = True
    for i in range(width):
        for at in range(size):
            whole = ((part[at, i] - centre[i]) * inverse + ROUNDER) - ROUNDER
            steps[i, at] = whole
            lengths[at] += whole * whole
    for at in range(size):
        if not lengths[at] <= HALF * HALF:
            somewhere[at] = _pulled(part[at], centre, inverse, steps, at)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _assigned(size, steps, centres, squares, score, least, best):  # type: ignore[no-untyped-def]  # noqa: PLR0917
    """The nearest centre of each of a few rows, of equally near ones the first."""
    for j in range(len(centres)):
        for at in range(size):
            score[at] = squares[j]
        for i in range(len(steps)):
            twice = -2.0 * centres[j, i]
            for at in range(size):
                score[at] += twice * steps[i, at]
        for at in range(size):
            nearer = j == 0 or score[at] < least[at]
            least[at] = score[at] if nearer else least[at]
            best[at] = j if nearer else best[at]


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _sums(block, centre, inverse, centres, squares, about, reach, norm):  # type: ignore[no-untyped-def]  # noqa: PLR0917
    clusters, width = centres.shape
    counts, sums = np.zeros(clusters, dtype=np.int64), np.zeros((clusters, width))
    steps, score, least, moved = np.empty((width, FEW)), np.empty(FEW), np.empty(FEW), np.empty(width)
    best, somewhere = np.empty(FEW, dtype=np.int64), np.empty(FEW, dtype=np.bool_)
    far = reach * reach if norm == 2 else reach
    for start in range(0, len(block), FEW):
        part = block[start : start + FEW]
        _placed(part, centre, inverse, steps, score, somewhere)
        _assigned(len(part), steps, centres, squares, score, least, best)
        for at in range(len(part)):
            if not somewhere[at]:
                continue
            own, length = best[at], 0.0
            for i in range(width):
                moved[i] = steps[i, at] - about[own, i]
                length += moved[i] * moved[i] if norm == 2 else abs(moved[i])
            counts[own] += 1
            if length > far:
                factor = reach * SHRINK / (np.sqrt(length) if norm == 2 else length)
                for i in range(width):
                    moved[i] = np.trunc(moved[i] * factor)
            for i in range(width):
                sums[own, i] += moved[i]
    return counts, sums


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _distances(block, centre, inverse, centres, squares):  # type: ignore[no-untyped-def]
    width = centres.shape[1]
    found, steps, score, least = np.empty(len(block)), np.empty((width, FEW)), np.empty(FEW), np.empty(FEW)
    best, somewhere = np.empty(FEW, dtype=np.int64), np.empty(FEW, dtype=np.bool_)
    for start in range(0, len(block), FEW):
        part = block[start : start + FEW]
        _placed(part, centre, inverse, steps, score, somewhere)
        _assigned(len(part), steps, centres, squares, score, least, best)
        for at in range(len(part)):
            length = 0.0
            for i in range(width):
                moved = steps[i, at] - centres[best[at], i]
                length += moved * moved
            found[start + at] = np.sqrt(length) if somewhere[at] else np.nan
    return found


# --- scores ---


@numba.njit(cache=True, fastmath={"reassoc"})
def _linear(row, whole):  # type: ignore[no-untyped-def]  # compiled: the types are numba's
    total = 0.0
    for j in range(len(whole)):
        total += row[j] * whole[j]
    return total


@numba.njit(cache=True)
def _mean(table, linear, reach, fine):  # type: ignore[no-untyped-def]
    place = (min(max(linear, -reach), reach) + reach) * fine
    index = min(int(place), len(table) - 2)
    left = table[index]
    return left + (place - index) * (table[index + 1] - left)


@numba.njit(cache=True)
def total_clipped(steps, limit, outcome, whole, per, table, unit, reach, fine, chosen):  # type: ignore[no-untyped-def]  # noqa: PLR0917
    """The sum over the chosen rows of rint(residual * unit) times the row, each residual cut at its limit."""
    total = np.zeros(len(whole), dtype=np.int64)
    for start in range(0, len(steps), PART):
        part = np.zeros(len(whole))
        for i in range(start, min(start + PART, len(steps))):
            if chosen[i]:
                row = steps[i]
                mean = _linear(row, whole) * per
                if len(table):
                    mean = _mean(table, mean, reach, fine)
                cut = min(max(mean - outcome[i], -limit[i]), limit[i])
                k = (cut * unit + ROUNDER) - ROUNDER
                for j in range(len(whole)):
                    part[j] += k * row[j]
        for j in range(len(whole)):
            total[j] += int(part[j])
    return total


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


def taper_sums(block: Floats, centre: Floats, inverse: float, half: float, squares: bool) -> tuple[Floats, Floats]:
    """The sums of v, and of floor(v^2 / half) if asked, over the rows of a block."""
    with np.errstate(all="ignore"):
        found: tuple[Floats, Floats] = _taper(block, centre, inverse, half, squares)
    return found


def cell_counts(block: Floats, centre: Floats, inverse: float, edges: Floats) -> npt.NDArray[np.int64]:
    """How many rows have a squared length up to edges[0], up to edges[1], ..., beyond or none."""
    with np.errstate(all="ignore"):
        counts: npt.NDArray[np.int64] = _cells(block, centre, inverse, edges)
    return counts


@numba.njit(fastmath={"reassoc"}, inline="never", cache=True, nogil=True)
def _square(steps):  # type: ignore[no-untyped-def]
    total = 0.0
    for j in range(len(steps)):
        total += steps[j] * steps[j]
    return total


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _taper(block, centre, inverse, half, squares):  # type: ignore[no-untyped-def]  # compiled: the types are numba's
    width = block.shape[1]
    total, square, steps = np.zeros(width), np.zeros(width), np.empty(width)
    near, far, shrink = half * half, 4.0 * half * half, 1.0 / half
    for i in range(len(block)):
        for j in range(width):
            steps[j] = ((block[i, j] - centre[j]) * inverse + ROUNDER) - ROUNDER
        length = _square(steps)
        if not length < far:
            continue
        if length > near:
            root = np.sqrt(length)
            factor = (2.0 * half - root) / root
            for j in range(width):
                steps[j] = np.trunc(steps[j] * factor)
        for j in range(width):
            total[j] += steps[j]
        if squares:
            for j in range(width):
                square[j] += np.floor(steps[j] * steps[j] * shrink)
    return total, square


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _cells(block, centre, inverse, edges):  # type: ignore[no-untyped-def]
    width, last = block.shape[1], len(edges)
    counts, steps = np.zeros(last + 1, dtype=np.int64), np.empty(width)
    for i in range(len(block)):
        for j in range(width):
            steps[j] = ((block[i, j] - centre[j]) * inverse + ROUNDER) - ROUNDER
        length = _square(steps)
        if not length <= edges[last - 1]:
            counts[last] += 1
            continue
        low, high = 0, last - 1
        while low < high:
            middle = (low + high) // 2
            if length <= edges[middle]:
                high = middle
            else:
                low = middle + 1
        counts[low] += 1
    return counts
