"""The sum of tapered deviations from a centre, in exact integers: the last stage of every refined mean.

Releases
    Nothing by itself. With y = x - c, the sum over all rows of phi_R(y), phi_R(y) = y within R of the centre c,
    y (2 R - |y|) / |y| from R to 2 R, and 0 beyond; and if asked the sums of its squared coordinates. In whole steps
    of R / 2^bits. Centre and radius are public, or were released.
Promise
    [taper.1] Each row adds a whole vector v that is a fixed function of that row, the centre and the radius, with
          |v| <= 2^bits steps in Euclidean norm, rounding included. So one row moves the sum by at most 2 * 2^bits steps
          under REPLACE and by at most 2^bits under ADD_OR_REMOVE.
    [taper.2] The squares: w_j = floor(v_j^2 / 2^bits) >= 0 with |w| <= 2^bits. One row moves their sum by at most
          sqrt(2) * 2^bits under REPLACE and by at most 2^bits under ADD_OR_REMOVE.
    [taper.3] Sums are exact: the order of rows, blocks, machines and the compiled pass change nothing; partial sums
    merge.
    [taper.4] NaN, infinite and very large entries make v = 0, and never an error or a warning.
    [taper.5] `cells` counts rows by their distance: the cell of a row is a fixed function of that row, the centre and
          the radius, so one row moves each of the cumulative counts by at most 1 under both relations.
Why
    [taper.1] Let q_j = rint((x_j - c_j) 2^bits / R) and N = sum of q_j^2. (a) N <= 4^bits: v = q, so |v| <= 2^bits.
    (b) 4^bits < N < 4^(bits+1): v_j = trunc(q_j t), t = (2 2^bits - s) / s and s = sqrt(N) in floats. N is whole, so
    N >= 4^bits + 1 and its true root r >= h + 2^-(bits+2), h = 2^bits: the true |q| (2 h - r) / r is 2 h - r, at most
    h (1 - 2^-(2 bits + 2)). In floats the root is off by 2^-53 r, the difference by as much again of itself, together
    by at most 2^-53 2 h; the quotient's two roundings, the root below and the product with q_j make another
    3 2^-53 (2 h - r) <= 3 2^-53 h. So the vector of all q_j t is no longer than h (1 - 2^-(2 bits + 2) + 2^-50) <= h,
    as 2 bits + 2 <= 48, and truncation towards 0 shrinks each of its entries. (c) else
    v = 0. Two vectors in a ball of radius 2^bits are within 2 2^bits of each other.
    [taper.2] sum_j v_j^2 / 2^bits <= 2^bits, floors are no larger, and for vectors with entries >= 0 the Euclidean norm
    is at most the sum. For such vectors w, w': |w - w'|^2 <= |w|^2 + |w'|^2 <= 2 4^bits.
    [taper.3] If all |q_j| <= 2^(bits+1) then every partial sum of squares is a whole number of at most d 4^(bits+1) <=
    2^53 and exact in float64 in any order; if one is larger, its square alone, exact or rounded, exceeds 4^(bits+1),
    sums of non-negative floats are not below their parts, and (c) holds. Root, quotient, product and truncation are
    IEEE operations. Whole numbers of at most 2^bits are added as float64 over at most 2^27 rows, exactly, then as
    Python's integers, which have no end.
    [taper.4] A NaN makes N a NaN and an infinity makes it infinite or a NaN, and neither is below 4^(bits+1).
    [taper.5] The cell depends on N, which is exact.
Needs
    A finite centre, a radius from 1e-150 to 1e150, at most 2^15 columns.
Accuracy
    Rounding moves a row by at most half a step in each coordinate: R / 2^24 with 10 columns, R / 2^21 with 1000.
Source
    The taper is Hampel's redescending score (1974) in R^d; the exact sums are those of stages/clip.py.
"""

import math
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput
from discreet.noise.distributions import compiled
from discreet.privacy.exact import is_number
from discreet.tables.matrix import Floats, Integers

SMALLEST, LARGEST = 1e-150, 1e150  # radii whose squares are floats
WIDEST: Final = 2**15  # columns
CACHED: Final = 1 << 15  # entries that stay in the cache
EXACT: Final = 1 << 27  # rows whose steps add up exactly in float64


def bits_for(width: int) -> int:
    """The radius is 2^bits steps: the most with d 4^(bits+1) <= 2^53 and 2 bits + 2 <= 48. [taper.3]

    >>> bits_for(1), bits_for(10), bits_for(1000)
    (23, 23, 20)
    """
    if not 1 <= width <= WIDEST:
        raise BadInput(f"the data have {width} columns; 1 to {WIDEST} can be averaged")
    return min(23, (51 - (width - 1).bit_length()) // 2)  # [taper.3]


def steps_of(rows: Floats, centre: Floats, radius: float, bits: int) -> tuple[Floats, Floats]:
    """The whole steps of each entry, not yet tapered, and the square of each row's length. [taper.1]"""
    with np.errstate(all="ignore"):
        steps = np.rint((rows - centre) * (2.0**bits / radius))
        return steps, np.einsum("ij,ij->i", steps, steps)


def tapered(rows: Floats, centre: Floats, radius: float, bits: int) -> Floats:
    """Each row's vector v of whole steps. [taper.1]

    >>> tapered(np.array([[0.5], [3.0], [9.0], [np.nan]]), np.zeros(1), 2.0, 4).ravel().tolist()
    [4.0, 8.0, 0.0, 0.0]
    """
    steps, square = steps_of(rows, centre, radius, bits)
    half = 2.0**bits
    with np.errstate(all="ignore"):
        inside, partly = square <= half * half, square < 4 * half * half  # [taper.4]
        root = np.sqrt(square)
        factor = (2 * half - root) / root
        shrunk = np.trunc(steps * factor[:, None])  # [taper.1]
    return np.where(inside[:, None], steps, np.where(partly[:, None], shrunk, 0.0))


@dataclass(slots=True, eq=False)
class TaperSum:
    """Exact partial sums of tapered rows: `add` blocks, `merge` others' sums, in any order. [taper.3]

    >>> one, other = (TaperSum(np.zeros(2), 1.0) for _ in range(2))
    >>> one.add(np.array([[0.5, 0.25]])).merge(other.add(np.array([[0.25, 0.25]]))).mean().tolist()
    [0.375, 0.25]
    """

    centre: Floats
    radius: float
    _: KW_ONLY
    squares: bool = False
    rows: int = field(default=0, init=False)
    total: npt.NDArray[Any] = field(init=False)  # Python's integers [taper.3]
    square: npt.NDArray[Any] = field(init=False)
    bits: int = field(init=False)

    def __post_init__(self) -> None:
        self.centre = np.ascontiguousarray(self.centre, dtype=np.float64)
        if self.centre.ndim != 1 or not np.isfinite(self.centre).all():
            raise BadInput("the centre must be a row of finite numbers")
        check_radius(self.radius)
        self.bits = bits_for(len(self.centre))
        self.total = np.zeros(len(self.centre), dtype=object)
        self.square = np.zeros(len(self.centre), dtype=object)

    def add(self, block: Floats) -> "TaperSum":
        """Take a block of rows in."""
        if block.ndim != 2 or block.shape[1] != len(self.centre):
            raise BadInput(f"a block has the shape {block.shape[1:]} a row; {len(self.centre)} columns are needed")
        self.rows += len(block)
        for start in range(0, len(block), EXACT):
            total, square = _sums(block[start : start + EXACT], self)
            self.total += total  # [taper.3]
            self.square += square
        return self

    def add_all(self, blocks: Iterable[Floats]) -> "TaperSum":
        """Take all blocks in."""
        for block in blocks:
            self.add(block)
        return self

    def merge(self, other: "TaperSum") -> "TaperSum":
        """Take in what another has summed around the same centre, with the same radius. [taper.3]"""
        same = np.array_equal(self.centre, other.centre) and (self.radius, self.squares) == (
            other.radius,
            other.squares,
        )
        if not same:
            raise BadInput("sums around different centres, or with different radii, do not merge")
        self.rows += other.rows
        self.total += other.total
        self.square += other.square
        return self

    def mean(self) -> Floats:
        """The mean of the tapered deviations, without noise: for tests."""
        return self.total.astype(np.float64) / max(1, self.rows) * (self.radius / 2.0**self.bits)


def check_radius(radius: float) -> None:
    """A radius whose square is a float."""
    if not is_number(radius) or not SMALLEST <= radius <= LARGEST:
        raise BadInput(f"the radius is {radius!r}; give a number from {SMALLEST:g} to {LARGEST:g}")


def _sums(block: Floats, at: TaperSum) -> tuple[Integers, Integers]:
    """The sums of one block; the compiled pass gives the same integers. [taper.3]"""
    if compiled():
        from discreet._compiled.model_kernels import taper_sums

        found = taper_sums(block, at.centre, 2.0**at.bits / at.radius, 2.0**at.bits, at.squares)
        return found[0].astype(np.int64), found[1].astype(np.int64)
    width = len(at.centre)
    total, square = np.zeros(width), np.zeros(width)
    step = max(1, CACHED // width)
    for start in range(0, len(block), step):
        part = tapered(block[start : start + step], at.centre, at.radius, at.bits)
        total += part.sum(axis=0)
        if at.squares:
            square += np.floor(part * part * 2.0**-at.bits).sum(axis=0)  # [taper.2]
    return total.astype(np.int64), square.astype(np.int64)


def cells(blocks: Iterable[Floats], centre: Floats, radii: Floats) -> Integers:
    """How many rows lie in each cell: within radii[0], beyond it and within radii[1], ..., beyond the last. [taper.5]

    The radii rise; the last is the unit of the steps.
    """
    centre = np.ascontiguousarray(centre, dtype=np.float64)
    radius, bits = float(radii[-1]), bits_for(len(centre))
    check_radius(radius)
    edges = np.floor((radii / radius * 2.0**bits) ** 2)
    edges[-1] = 4.0**bits
    counts = np.zeros(len(radii) + 1, dtype=np.int64)
    step = max(1, CACHED // len(centre))
    for block in blocks:
        if compiled():
            from discreet._compiled.model_kernels import cell_counts

            counts += cell_counts(block, centre, 2.0**bits / radius, edges)
            continue
        for start in range(0, len(block), step):
            square = steps_of(block[start : start + step], centre, radius, bits)[1]
            place = np.where(np.isnan(square), len(edges), np.searchsorted(edges, square))  # [taper.5]
            counts += np.bincount(place, minlength=len(edges) + 1)
    return counts


def reach(length: float) -> float:
    """A radius within what is allowed."""
    return min(max(length, SMALLEST), LARGEST) if not math.isnan(length) else LARGEST
