"""Rows seen in a frame and bent into a ball; exact sums of them and of their outer products.

A frame centres, turns and scales rows by what is public or was released. The noisy sums are the last stage of every
covariance.

Releases
    The sum of v v' - k I over all rows, k a number that is public or was released, or the sum of v, plus Gaussian
    noise. v is a row seen in a frame and bent into the ball of a public or
    released radius: "clip" pulls it to the surface, "taper" beyond the radius pulls it back towards 0, which it
    reaches at twice the radius, "sphere" puts every row on the surface.
Promise
    [gram.1] The sums are exact integers of exact per-row integers: order, blocks, threads and machines do not change
          them, and partial sums merge.
    [gram.2] One row moves the Gram matrix by at most sqrt(2) b^2 in Frobenius norm under REPLACE and b^2 under
          ADD_OR_REMOVE, and the sum of rows by 2 b and b, where b steps bound |v|, rounding included. With k taken
          off, ADD_OR_REMOVE moves it by the root of max(k^2 d, b^4 - 2 k b^2 + k^2 d).
    [gram.3] `noisy_gram` costs Gaussian(mu, slack): noise of standard deviation s on the diagonal and of 29/41 s, just
          above s / sqrt 2, off it, with s = (Frobenius sensitivity) / mu.
    [gram.4] `turned` and `plain` are fixed functions of one row: neither the other rows, nor their number, nor the
          row's place, nor blocks, threads or the linear algebra library change a bit of it, and no value raises. A row
          with a missing entry, or with infinite ones that cancel, is flagged by `turned`.
Why
    [gram.1] By [gram.4] a row is seen as exact integers w; |w|^2 is summed entry by entry in a fixed
    order; factor and `rint` are correctly rounded. So v is a fixed function of the row. |v| <= b < 2^17 and a block has
    at most 2^13 rows: every partial sum of a block's product is a whole number below 2^47, exact in any order. Blocks
    are added by [additive.4], and so are the sums of two sets of rows, as Python's integers: they do not
    wrap around, however many rows there are. What is blurred saturates before it is multiplied, which enlarges no
    distance.
    [gram.2] Before rounding |v| <= 2^bits (1 + (d + 9) 2^-53), as each of the d + 9 operations errs by a relative 2^-53
    and all terms of |w|^2 are positive; `rint` adds at most sqrt(d) / 2. So b = 2^bits + ceil(sqrt(d) / 2) + 1 is
    enough. |vv' - uu'|_F^2 = |v|^4 + |u|^4 - 2 (v'u)^2 <= 2 b^4; |vv'|_F = |v|^2; |v - u| <= 2 b. |vv' - kI|_F^2 = t^2
    - 2 k t + k^2 d with t = |v|^2 is convex in t, so largest at 0 or at b^2; between two rows k cancels. At one of the
    two it is b^4 / 4 or more: for k <= b^2 / 2 at b^2, as it is (b^2 - k)^2 or more there, else at 0. So whatever k is,
    the noise is at least half as wide as without it.
    [gram.3] The upper triangle leaves as integers, 29 times the diagonal and 41 times the rest. As 41^2 = 1681 <= 2 *
    29^2 = 1682, the squared distance of two such lists is at most 29^2 times that of the matrices in Frobenius norm,
    where each entry off the diagonal counts twice. Then [additive.2] with sensitivity 29 times [gram.2].
    [gram.4] (x - centre) * per, `rint` and saturation are single correctly rounded operations on one entry each. The
    entries are then whole numbers of at most 2^26, those of `whole` at most 2^(26 - ceil(log2 d)), so every partial sum
    of a product of d of them is a whole number of at most 2^52: exact in float64 in any order, with or without fused
    operations. `plain` adds products column by column, one rounding after the other.
Needs
    At most 2^12 columns. Sums saturate beyond 2^25 rows.
Accuracy
    Rounding moves an entry of v by at most 2^-16 of the radius. The noise is 1.0003 times that of a Gaussian symmetric
    matrix with the same mu; the same noise on every entry would have twice the variance off the diagonal.
Source
    Dwork, Talwar, Thakurta and Zhang 2014 (Gram matrices); the weights off the diagonal are the isometric vectorisation
    of symmetric matrices, in integers.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial, reduce
from typing import Any, Final, Literal, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from discreet._compiled.warmth import warm
from discreet.errors import BadInput
from discreet.noise.additive import ROOM, slack, summed
from discreet.noise.distributions import LARGEST_SCALE, compiled
from discreet.privacy.exact import exact, root_above
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Gaussian
from discreet.privacy.mechanism import Randomness
from discreet.stages.clip import Floats
from discreet.tables.streams import Numbers, Stream, each, fold

ENTRY: Final = 26  # bits of an entry
FINE: Final = 20  # of them below the unit: entries reach 64 units
MOST: Final = 1 << 13  # rows at a time
LARGE: Final = 1 << 15  # rows from which compiled passes are worth their import
WIDE: Final = 64  # entries up to which they are quicker than the linear algebra library; fourth moments have all pairs
SMALL: Final = 1 << 18  # multiplications at a time: so few are not worth a library's threads
BITS: Final = 15  # the radius in steps: 2^15
DIAGONAL, BESIDE = 29, 41  # [gram.3]
Shape = Literal["clip", "taper", "sphere"]
SUMMED: Final = 1 << 47  # an entry of a block's sums is no larger [gram.1]
Rows = Floats | Stream  # an array, or a stream of such
Integers = npt.NDArray[Any]  # int64, or Python's integers where those could wrap around


class Seen(Protocol):
    """How rows are seen before they are bent into a ball: a fixed function of each row. [gram.4]"""

    @property
    def size(self) -> int:
        """Entries of a row that is seen."""

    @property
    def step(self) -> float:
        """What one of `turned` stands for."""

    def turned(self, rows: Floats) -> tuple[Floats, npt.NDArray[np.bool_] | None]:
        """One column for each row, and which rows are missing, if any."""


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """y = step * whole @ rint((x - centre) * per): every field is public or was released.

    If it is `led`, the first entry of x is 1, and not among the columns of rows.
    """

    centre: Floats
    per: Floats
    whole: Floats
    step: float
    led: bool = False

    @classmethod
    def of(cls, units: Floats, turn: Floats, centre: Floats | None = None, *, led: bool = False) -> "Frame":
        """The frame nearest to y = turn @ ((x - centre) / units)."""
        size = len(units)
        largest = float(2 ** (ENTRY - math.ceil(math.log2(max(size, 2)))))  # [gram.4]
        step = float(np.abs(turn).max()) / largest
        whole = np.clip(np.rint(turn / step), -largest, largest)
        place = np.zeros(size) if centre is None else np.asarray(centre, dtype=np.float64)
        return cls(place, 2.0**FINE / np.asarray(units), whole, step / 2**FINE, led)

    @property
    def size(self) -> int:
        """Entries of a row that is seen."""
        return len(self.whole)

    def at(self, centre: Floats) -> "Frame":
        """The same frame about another centre."""
        return Frame(np.asarray(centre, dtype=np.float64), self.per, self.whole, self.step, self.led)

    @property
    def kernel(self) -> "tuple[Frame, None]":
        """What compiled passes need to know."""
        return self, None

    @property
    def matrix(self) -> Floats:
        """y = matrix @ (x - centre), but for the rounding of entries to 2^-20 units and their end at 64."""
        return self.step * self.whole * self.per

    def back(self, turned: Floats) -> Floats:
        """The difference from the centre that looks like this; of a matrix, its columns'."""
        return np.linalg.solve(self.step * self.whole, turned) / (self.per if turned.ndim == 1 else self.per[:, None])

    def turned(self, rows: Floats) -> tuple[Floats, npt.NDArray[np.bool_] | None]:
        """whole @ entries, one column for each row, all of them whole numbers; and which rows are missing, if any."""
        entries = np.empty((len(self.per), len(rows)))
        columns: tuple[Any, ...] = (1.0, *rows.T) if self.led else tuple(rows.T)
        with np.errstate(all="ignore"):
            for entry, column, place, per in zip(entries, columns, self.centre, self.per, strict=True):
                np.subtract(column, place, out=entry)
                np.multiply(entry, per, out=entry)
        np.rint(entries, out=entries)
        np.clip(entries, -(2.0**ENTRY), 2.0**ENTRY, out=entries)  # [gram.4]
        lost: npt.NDArray[np.bool_] | None = None
        if math.isnan(float(entries.sum())):
            lost = np.asarray(np.isnan(entries).any(axis=0))
            entries[:, lost] = 0.0
        return self.whole @ entries, lost  # [gram.4]: exact in any order

    def plain(self, rows: Floats) -> Floats:
        """matrix @ x for each row x, in float64 and a fixed order: for rows whose centre is not known yet."""
        matrix = self.matrix
        with np.errstate(all="ignore"):
            found = np.zeros((len(rows), len(matrix)))
            for column in range(rows.shape[1]):
                found += rows[:, column, None] * matrix[:, column]  # [gram.4]
        return found


def blocks(rows: Floats, size: int) -> Iterator[Floats]:
    """Rows in blocks that stay in the cache: what they are changes nothing but the time. [gram.4]"""
    step = min(MOST, max(256, SMALL // size**2))
    for start in range(0, len(rows), step):
        yield rows[start : start + step]


class Moments(NamedTuple):
    """Sums over rows, in steps: `first` of v, `second` of v v'. [gram.1]"""

    first: Integers
    second: Integers


def lengths(rows: Rows, frame: Seen) -> Numbers:
    """How long each row is in the frame; 0 where it is missing. A fixed function of each. [gram.4]"""
    found: Numbers = each(partial(_lengths, frame=frame), rows)
    return found


def _lengths(rows: Floats, *, frame: Seen) -> Floats:
    fast = _fast(rows, frame)
    if fast is not None and fast[1][1] is None:  # of pairs the plain path knows the lengths
        kernels, (inner, _) = fast
        found: Floats = kernels.lengths(rows, inner, 2.0**ENTRY)
        found *= frame.step
        return found
    parts = []
    for block in blocks(rows, rows.shape[1]):
        seen, lost = frame.turned(block)
        parts.append(lengths_of(seen) * frame.step)
        if lost is not None:
            parts[-1][lost] = 0.0
    return np.concatenate(parts) if parts else np.zeros(0)


def _fast(rows: Floats, frame: Seen) -> Any:
    """The compiled passes, the same integers, where rows are worth their import and the frame is one they know."""
    kernel = getattr(frame, "kernel", None)
    if kernel is None or not LARGE <= len(rows) <= ROOM >> 2 * BITS:
        return None
    if not warm(len(rows), "vector_kernels") or not compiled():
        return None
    known = kernel[1] is None or len(kernel[1][0]) <= WIDE
    known = known and rows.shape[1] + kernel[0].led == len(kernel[0].per)  # else the plain path says so
    if not (known and rows.dtype == np.float64 and len(kernel[0].whole) <= WIDE):
        return None
    from discreet._compiled import vector_kernels

    return vector_kernels, kernel


def _fast_sums(rows: Floats, frame: Seen, radius: float, shape: Shape, bits: int, *, both: bool) -> Any:
    if (fast := _fast(rows, frame)) is None or (both and fast[1][1] is not None):
        return None
    kernels, (inner, pairs) = fast
    return kernels.sums(rows, inner, pairs, 2.0**ENTRY, radius / frame.step, shape, 2.0**bits, both=both)  # [gram.1]


def steps_of(rows: Floats, frame: Seen, radius: float, shape: Shape, bits: int = BITS) -> Floats:
    """Each row as whole numbers of steps, one column for each row, of length at most `longest(d, bits)`. [gram.1]"""
    seen, lost = frame.turned(rows)
    with np.errstate(all="ignore"):
        factor = _factor(lengths_of(seen), radius / frame.step, shape) * 2.0**bits
    if lost is not None:
        factor[lost] = 0.0
    seen *= factor
    return np.rint(seen, out=seen)  # [gram.2]


def lengths_of(seen: Floats) -> Floats:
    """The lengths of columns, each summed in the same order. [gram.1]"""
    total = np.zeros(seen.shape[1])
    square = np.empty_like(total)
    for entries in seen:
        np.multiply(entries, entries, out=square)
        total += square
    return np.sqrt(total, out=total)


def _factor(lengths: Floats, radius: float, shape: Shape) -> Floats:
    """What a row of this length is multiplied by to be in the unit ball; 0 for one of no length on a sphere."""
    if shape == "clip":
        return 1.0 / np.maximum(lengths, radius)
    if shape == "taper":
        return np.clip(2.0 * radius / lengths - 1.0, 0.0, 1.0) / radius  # 2 R / 0 is infinite, and cut to 1
    return np.where(lengths > 0, 1.0 / lengths, 0.0)


def moments(rows: Rows, frame: Seen, radius: float, shape: Shape, bits: int = BITS) -> Moments:
    """The sums over rows. [gram.1]"""
    if not (math.isfinite(radius) and radius > 0):
        raise BadInput(f"radius is {radius!r}; give a positive, finite radius")
    return Moments(*_summed(rows, frame=frame, radius=radius, shape=shape, bits=bits, both=True))


def first_moments(rows: Rows, frame: Seen, radius: float, shape: Shape, bits: int = BITS) -> Integers:
    """The sum of v alone. [gram.1]"""
    return _summed(rows, frame=frame, radius=radius, shape=shape, bits=bits, both=False)[0]


def _summed(rows: Rows, **terms: Any) -> tuple[Integers, Integers]:
    """Of an array block by block; of a stream part by part, where its rows are. [gram.1]"""
    return fold(partial(_part_sums, **terms), _merged, rows) if isinstance(rows, Stream) else _sums(rows, **terms)


def _part_sums(given: Iterator[Floats], **terms: Any) -> tuple[Integers, Integers]:
    """A kernel: the sums over some rows, or none."""
    found = [_sums(piece, **terms) for piece in given]
    return reduce(_merged, found) if found else _sums(np.empty((0, 0)), **terms)


def _merged(one: tuple[Integers, Integers], other: tuple[Integers, Integers]) -> tuple[Integers, Integers]:
    return one[0].astype(object) + other[0], one[1].astype(object) + other[1]  # [gram.1]


def _sums(
    rows: Floats, *, frame: Seen, radius: float, shape: Shape, bits: int, both: bool
) -> tuple[Integers, Integers]:
    """The sum of v, and of v v' if `both` are wanted."""
    if (fast := _fast_sums(rows, frame, radius, shape, bits, both=both)) is not None:
        return fast[0], fast[1]
    size = frame.size

    def parts() -> Iterator[Floats]:
        for block in blocks(rows, size):
            steps = steps_of(block, frame, radius, shape, bits)
            first = steps.sum(axis=1)[None]
            yield np.vstack([first, steps @ steps.T]) if both else first  # [gram.1]

    found = summed(parts(), (1 + both * size, size), SUMMED)  # [gram.1]
    return found[0], found[1:]


def longest(size: int, bits: int) -> int:
    """b: no row of `size` columns is more steps long. [gram.2]"""
    return (1 << bits) + math.isqrt(size) // 2 + 2


def gram_sensitivity(size: int, bits: int, neighbours: Neighbours, off: int = 0) -> Fraction:
    """How far one row moves the weighted upper triangle of the Gram matrix, `off` taken off its diagonal, in steps.
    [gram.2]"""
    top = longest(size, bits) ** 2
    if neighbours is Neighbours.REPLACE:
        return DIAGONAL * root_above(2) * top  # [gram.3]
    return DIAGONAL * root_above(max(off**2 * size, top**2 - 2 * off * top + off**2 * size))  # [gram.2], [gram.3]


def sum_sensitivity(size: int, bits: int, neighbours: Neighbours) -> Fraction:
    """How far one row moves the sum of rows, in steps of 2^-bits (they leave as finely as a Gram matrix). [gram.2]"""
    moved = 2 if neighbours is Neighbours.REPLACE else 1
    return Fraction(moved * longest(size, bits) * 2**bits)


def fitting_bits(mu: Fraction, size: int) -> int:
    """How fine the steps are: 2^15 in a radius, fewer where noise of this cost would be too wide for the integers."""
    bits = BITS
    while bits > 8 and gram_sensitivity(size, bits, Neighbours.REPLACE) > LARGEST_SCALE * mu:
        bits -= 1
    return bits


def gram_cost(mu: Fraction, size: int, neighbours: Neighbours, *, less: bool = False) -> Gaussian:
    """The cost of a Gram matrix with this mu, its slack included; `less` if a number is taken off. [gram.3]"""
    moved = gram_sensitivity(size, fitting_bits(mu, size), neighbours) / (2 if less else 1)  # [gram.2]
    return Gaussian(mu, slack(size * (size + 1) // 2, math.ceil(moved / mu)))


def sum_cost(mu: Fraction, size: int, neighbours: Neighbours) -> Gaussian:
    """The cost of a sum of rows with this mu, its slack included."""
    sigma = math.ceil(sum_sensitivity(size, fitting_bits(mu, size), neighbours) / mu)
    return Gaussian(mu, slack(size, sigma))


def noisy_gram(
    rows: Rows,
    frame: Seen,
    radius: float,
    shape: Shape,
    *,
    cost: Gaussian,
    neighbours: Neighbours,
    rng: Randomness,
    less: float = 0.0,
) -> tuple[Floats, float]:
    """The sum of v v' - less I in units of radius^2, symmetric, and the noise s on its diagonal. [gram.3]"""
    size = frame.size
    bits = fitting_bits(exact(cost.mu), size)
    upper = np.triu_indices(size)
    weights = np.where(upper[0] == upper[1], DIAGONAL, BESIDE)
    found, off = moments(rows, frame, radius, shape, bits).second[upper], round(exact(less) * 4**bits)
    if off:
        found = found.astype(object)
        found[weights == DIAGONAL] -= len(rows) * off  # [gram.2]
    moved = gram_sensitivity(size, bits, neighbours, off)
    room = ROOM // BESIDE  # cut before they are multiplied, which could wrap around: cutting enlarges no distance
    blurred = rng.blur(np.clip(found, -room, room) * weights, sensitivity=moved, cost=cost)  # [gram.3]
    whole = np.zeros((size, size))
    whole[upper] = blurred / weights / 4.0**bits
    return whole + np.triu(whole, 1).T, float(moved / exact(cost.mu) / DIAGONAL) / 4.0**bits


def noisy_sum(
    rows: Rows,
    frame: Seen,
    radius: float,
    shape: Shape,
    *,
    cost: Gaussian,
    neighbours: Neighbours,
    rng: Randomness,
) -> tuple[Floats, float]:
    """The sum of v in units of the radius, and the noise on each entry. [gram.2]"""
    size = frame.size
    bits = fitting_bits(exact(cost.mu), size)
    found = first_moments(rows, frame, radius, shape, bits)
    moved = sum_sensitivity(size, bits, neighbours)
    room = ROOM >> bits
    blurred = rng.blur(np.clip(found, -room, room) * 2**bits, sensitivity=moved, cost=cost)  # [gram.2]
    return blurred / 4.0**bits, float(moved / exact(cost.mu)) / 4.0**bits
