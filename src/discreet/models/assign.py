"""Which cluster a row belongs to, and what it adds to it: whole numbers, by a fixed function of that row alone.

Releases
    Nothing by itself. For public or released centres g_1, ..., g_k in a ball of radius B: how many rows are nearest to
    each of them, and the sum over those rows of a vector v no longer than `reach`, in steps of B / 2^24. v is the row's
    place in the ball, or (centred) its difference from the centre, pulled to the length `reach`, in L1 or L2, if
    longer.
Promise
    [assign.1] Each row alone, with the public numbers, decides on its cluster (the nearest centre, of equals the first)
          and on v; |v| <= reach in the norm asked for, rounding included. A row with an entry that is no number, or
          infinite, has no cluster and adds nothing. Nothing is raised or warned of.
    [assign.2] Counts and sums are exact: order, blocks, threads, machines, BLAS and the compiled pass change no bit.
    [assign.3] `distances`: that of each row to its nearest centre, a fixed function of the row; NaN if it has no
    cluster.
Why
    [assign.1] In floats u = (x - b) 2^24 / B, cut to a largest entry of 2^40, then q = rint(u). Its length is summed
    entry by entry in a fixed order: squares of whole numbers whose sum is at most 2^48 add up exactly, and a sum that
    is not exact is beyond it anyway. If the length exceeds h = 2^24, q = trunc(q t) with t = h (1 - 2^-36) / length: at
    most d + 4 roundings, each of a relative 2^-53, and d <= 2^15, so |q t| <= h, and truncation shortens it. Centres
    pass through the same function. So |q|, |g| <= h, and by Cauchy and Schwarz every partial sum of q . g, in any order
    and with fused operations or without, is a whole number of at most h^2 = 2^48 in size: exact in float64. So is |g|^2
    - 2 q . g, of at most 3 2^48, and whether one centre is nearer than another is decided exactly. v = q - g is whole,
    |v| <= 2 h: its squares add up exactly to at most 2^50, its absolute values to at most 2^33; if it is longer than
    `reach` it is cut as above.
    [assign.2] Every row adds whole numbers of at most 2^25; float64 holds the sums of a block of 2^20 rows, int64 those
    of 2^37 rows, and beyond they are Python's integers, by [additive.4].
    [assign.3] The square root of |v|^2, which is exact, correctly rounded.
Needs
    A finite centre and a radius from 1e-150 to 1e150; at most 2^15 columns.
Accuracy
    Rounding moves a row by B / 2^25 in each coordinate. Rows beyond the ball count as the nearest points of it.
Source
    Lloyd 1982. Batched products that round the same row differently at another place of a block are why floats will
    not do: one row could move the assignment of others.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from discreet._compiled.warmth import warm
from discreet.errors import BadInput
from discreet.noise.additive import summed
from discreet.noise.distributions import compiled
from discreet.privacy.exact import is_number
from discreet.tables.matrix import Rows, Streamed
from discreet.tables.streams import Numbers, Stream, each, fold

BITS: Final = 24  # the radius in steps: 2^24 [assign.1]
HALF: Final = 2.0**BITS
SHRINK: Final = 1 - 2.0**-36  # more than the roundings of a length and a product [assign.1]
FARTHEST: Final = 2.0**40
WIDEST: Final = 2**15  # columns [assign.1]
SMALLEST, LARGEST = 1e-150, 1e150
SUMMED: Final = 1 << 45  # an entry of a block's sums is no larger [assign.2]
CACHED: Final = 1 << 16  # entries that stay in the cache
EXACT: Final = 1 << 20  # rows of a block [assign.2]
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Norm = Literal[1, 2]


@dataclass(frozen=True, slots=True, eq=False)
class Ball:
    """The public ball that all rows are pulled into: |x - centre| <= radius."""

    centre: Floats
    radius: float

    def __post_init__(self) -> None:
        if self.centre.ndim != 1 or not np.isfinite(self.centre).all() or len(self.centre) > WIDEST:
            raise BadInput(f"the centre must be a row of at most {WIDEST} finite numbers, one for each column")
        if not is_number(self.radius) or not SMALLEST <= self.radius <= LARGEST:
            raise BadInput(f"the radius is {self.radius!r}; give a number from {SMALLEST:g} to {LARGEST:g}")

    @property
    def step(self) -> float:
        """The data's unit of one step."""
        return self.radius / HALF

    def steps(self, points: Any) -> Floats:
        """Points in the ball as whole numbers; NaN throughout for one that is nowhere. [assign.1]"""
        with np.errstate(all="ignore"):
            scaled = (np.asarray(points, dtype=np.float64) - self.centre) * (HALF / self.radius)
            most = np.abs(scaled).max(axis=1, initial=0.0)
            nowhere = ~(most < np.inf)
            scaled = np.where((most > FARTHEST)[:, None], scaled * (FARTHEST / most)[:, None], scaled)
            whole = np.rint(scaled)
            length = lengths(whole, 2)
            outside = length > HALF * HALF
            factor = HALF * SHRINK / np.sqrt(length)  # [assign.1]
            whole = np.where(outside[:, None], np.trunc(whole * factor[:, None]), whole)
        whole[nowhere] = np.nan
        return np.asarray(whole)

    def points(self, steps: Any) -> Floats:
        """Whole numbers back in the data's units."""
        return np.asarray(self.centre + np.asarray(steps, dtype=np.float64) * self.step)


def lengths(whole: Floats, norm: Norm) -> Floats:
    """The sum of squares, or of absolute values, of each row, entry by entry in one order. [assign.1]"""
    total = np.zeros(len(whole))
    for column in whole.T:
        total += column * column if norm == 2 else np.abs(column)
    return total


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """Of each cluster: how many rows, and the sum of their v in steps. [assign.2]"""

    counts: npt.NDArray[Any]
    sums: npt.NDArray[Any]


def cluster_sums(rows: Rows, ball: Ball, centres: Floats, reach: int, *, norm: Norm, centred: bool) -> Sums:
    """The counts and the sums of all rows in one pass; `centres` are steps of the ball. [assign.2]"""
    kernel = partial(_part_sums, ball=ball, centres=centres, reach=reach, norm=norm, centred=centred)
    found = fold(kernel, _merged, rows.stream) if isinstance(rows, Streamed) else kernel(rows.blocks())
    return Sums(found[:, 0], found[:, 1:])  # [assign.2]


def _merged(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Python's integers: sums of many parts could wrap around."""
    both: npt.NDArray[Any] = one.astype(object) + other
    return both


def _part_sums(
    given: Iterator[Floats], *, ball: Ball, centres: Floats, reach: int, norm: Norm, centred: bool
) -> npt.NDArray[Any]:
    """A kernel: of each cluster the count and the sums of some rows, side by side. [assign.2]"""
    clusters, width = centres.shape
    about = centres if centred else np.zeros_like(centres)
    parts = (_sums(block, ball, centres, about, reach=reach, norm=norm) for block in blocks(given))
    return summed((np.column_stack([part.counts, part.sums]) for part in parts), (clusters, width + 1), SUMMED)


def distances(rows: Rows, ball: Ball, centres: Floats) -> Numbers:
    """How far each row, pulled into the ball, is from its nearest centre, in steps; a stream of a stream. [assign.3]"""
    if isinstance(rows, Streamed):
        apart: Stream = each(partial(_distances, ball=ball, centres=centres), rows.stream)
        return apart
    return np.concatenate([np.empty(0), *(_distances(block, ball, centres) for block in rows.blocks())])


def _distances(piece: Floats, ball: Ball, centres: Floats) -> Floats:
    parts = [np.empty(0)]
    for block in blocks([piece]):
        if warm(len(block), "model_kernels", least=EXACT) and compiled():
            from discreet._compiled.model_kernels import distances_of

            parts.append(distances_of(block, ball.centre, HALF / ball.radius, centres))
            continue
        for part in _parts(block, len(centres)):
            whole = ball.steps(part)
            labels = nearest(whole, centres)
            parts.append(np.sqrt(lengths(whole - centres[labels], 2)))
    return np.concatenate(parts)


def blocks(given: Iterable[Floats]) -> Iterator[Floats]:
    """All rows, at most 2^20 at a time."""
    for block in given:
        for start in range(0, len(block), EXACT):
            yield block[start : start + EXACT]


def nearest(whole: Floats, centres: Floats) -> Integers:
    """The nearest centre of each row, of equally near ones the first; any for a row that is nowhere. [assign.1]"""
    squares = np.einsum("ij,ij->i", centres, centres)
    return np.asarray(np.argmin(squares - 2.0 * (whole @ centres.T), axis=1), dtype=np.int64)  # [assign.1]


def _parts(block: Floats, clusters: int) -> Iterator[Floats]:
    step = max(1, CACHED // max(block.shape[1], clusters))
    return (block[start : start + step] for start in range(0, len(block), step))


def _sums(block: Floats, ball: Ball, centres: Floats, about: Floats, *, reach: int, norm: Norm) -> Sums:
    """The sums of one block; the compiled pass gives the same integers. [assign.2]"""
    if warm(len(block), "model_kernels", least=EXACT) and compiled():
        from discreet._compiled.model_kernels import sums_of

        counts, sums = sums_of(block, ball.centre, HALF / ball.radius, centres, about, float(reach), norm)
        return Sums(counts, sums.astype(np.int64))
    clusters, width = centres.shape
    counts, sums = np.zeros(clusters, dtype=np.int64), np.zeros((clusters, width))
    for part in _parts(block, clusters):
        whole = ball.steps(part)
        here = whole[~np.isnan(whole).any(axis=1)]
        labels = nearest(here, centres)
        added = cut(here - about[labels], reach, norm)
        counts += np.bincount(labels, minlength=clusters)
        for place, column in enumerate(added.T):
            sums[:, place] += np.bincount(labels, weights=column, minlength=clusters)
    return Sums(counts, sums.astype(np.int64))


def cut(moved: Floats, reach: int, norm: Norm) -> Floats:
    """Whole vectors, those longer than `reach` pulled to that length or just below. [assign.1]"""
    length = lengths(moved, norm)
    outside = length > (float(reach) * reach if norm == 2 else reach)
    with np.errstate(all="ignore"):
        factor = reach * SHRINK / (np.sqrt(length) if norm == 2 else length)
        return np.asarray(np.where(outside[:, None], np.trunc(moved * factor[:, None]), moved))
