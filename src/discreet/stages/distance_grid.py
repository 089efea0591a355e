"""How far records lie from a centre: a grid of distances, what is thought of them before data are, and a table of
records that tells how many lie beyond one of them, and the clipped sums for it.

Promise
    [distance_grid.1] A record adds 1 to the count of one cell, and a whole number from 1 to 2^FINE to the sum of that
         cell, both by a fixed function of itself and the centre; a missing one counts as at the centre. Neither the
         order of the records nor blocks or machines change the table.
    [distance_grid.2] For a radius R that is an edge of cells, the exact sum of u is one of numbers in [-1, 1], one for
         each record, by a fixed function of it, the centre and R, and that of u^2 one of numbers in [0, 1]. Times
         2^bits, rounded down, they move by at most 2^bits if a record is added or removed, by at most 2^(bits + 1) and
         2^bits if one is replaced.
Why
    [distance_grid.1] A cell reaches from one edge, which is outside, to the next: 2^CELLS equal parts of each binade
    of |x - c|, on either side of the centre, by the leading bits of a float. The number q of a record is its place in
    the cell in 2^FINE parts, rounded up: it is above 0, and 2^FINE at the upper edge.
    [distance_grid.2] A cell is within R or beyond it. Let a < b be its edges and f = q / 2^FINE. Within, a record has
    u = +- (a + f (b - a)) / R, and in place of u^2 the chord (a^2 + f (b^2 - a^2)) / R^2: at most b / R <= 1 and its
    square. Beyond it has +- 1 and 1, at the centre 0. Sums of these follow from counts and sums of q by whole numbers
    of Python's, without an error. Rounding down keeps order, and a whole number h may be taken out of it: if |y - y'|
    <= h, what they are rounded to differs by at most h.
Accuracy
    |x - c| is rounded up by 2^-(CELLS + FINE) of its binade at most, u^2 is too large by 1/4096 of itself at most.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial, reduce
from struct import pack, unpack
from typing import Final

import numpy as np
import numpy.typing as npt

from discreet._compiled.warmth import warm
from discreet.noise.distributions import compiled
from discreet.tables.streams import Numbers, fold

PARTS: Final = 3  # binary digits: eight grid points in each octave
TOP: Final = (2047 << PARTS) - 8 * 27  # grid points: up to 1e300
AT_ZERO, WITHIN = 0.25, 0.03  # the prior of the distance 0: of the far one, and of the body
LN2: Final = math.log(2)
CELLS: Final = 5  # binary digits that choose a cell: 32 in each binade
FINE: Final = 21  # and a place in it
SHIFT: Final = 52 - CELLS
REST: Final = (1 << SHIFT) - 1
SIDE: Final = 1 << (63 - SHIFT)  # cells on either side of the centre, those of no numbers behind the infinite one
INFINITE: Final = 2047 << CELLS
LARGE: Final = 100_000  # records from which the compiled pass is worth its import
LONG: Final = 1 << 35  # records whose sums an int64 may not hold
FEW: Final = 1 << 14  # so few are rather sorted than counted in a table
BLOCK: Final = 1 << 20
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Cells = tuple[Integers, Integers, Integers]  # those that are occupied, in order, their counts and their sums


def edge(place: int) -> float:
    """The grid point of this number: 0, then eight in every octave."""
    return float(np.array([place << (52 - PARTS)], dtype=np.int64).view(np.float64)[0])


@cache
def far_prior() -> npt.NDArray[np.float64]:
    """Nats of each grid point: a Cauchy distribution of octaves around 1, and 0 itself."""
    octave = (np.arange(TOP) >> PARTS) - 1023
    weight = 1 / (1 + (octave / 10.0) ** 2)
    weight[0] = 0.0
    weight *= (1 - AT_ZERO) / weight.sum()
    weight[0] = AT_ZERO
    nats: npt.NDArray[np.float64] = -np.log(weight)
    nats.flags.writeable = False
    return nats


def body_prior(place: int) -> npt.NDArray[np.float64]:
    """Nats of each grid point up to the far distance: even over two octaves, then half as much for each below."""
    below = np.maximum(((place - np.arange(place + 1)) >> PARTS) - 1, 0)
    nats: npt.NDArray[np.float64] = LN2 * below.astype(np.float64) + math.log(3 << PARTS)
    nats[0] = -math.log(WITHIN)
    return nats


def on_edge(distance: float) -> float:
    """The edge of cells that is nearest to a distance."""
    (word,) = unpack("q", pack("d", distance))
    return float(unpack("d", pack("q", (word + (REST >> 1)) >> SHIFT << SHIFT))[0])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Distances:
    """The table of some records. It is as private as they are.

    >>> seen = Distances.of(np.array([1.0, 2.0, 3.0, 90.0]), 2.0)
    >>> len(seen), seen.beyond(0.5), seen.beyond(1.0), seen.sums(2.0, (1, 2), 4)
    (4, (2, 1), (1, 0), (16, 24))
    """

    centre: float
    size: int
    cells: Cells  # those below the centre come last, SIDE further on

    @classmethod
    def of(cls, values: Numbers, centre: float) -> "Distances":
        """All records, in one pass. [distance_grid.1]"""
        large = len(values) >= LARGE and warm(len(values), "column_kernels")
        places, counts, sums = fold(partial(_table, centre=centre, large=large), _together, values)
        known = places % SIDE <= INFINITE
        cells = places[known], counts[known], sums[known]
        if missing := int(counts.sum() - cells[1].sum()):  # they are at the centre
            cells = _together(cells, (np.zeros(1, np.int64), np.array([missing]), np.zeros(1, np.int64)))
        return cls(centre, len(values), cells)

    def __len__(self) -> int:
        return self.size

    def farther(self, digits: int, points: int) -> tuple[Integers, Integers]:
        """How many records lie above the centre, and below, farther than each of the first points of a grid, 0 and
        2^digits in each binade."""
        places, counts, _ = self.cells
        middle, fewer = int(np.searchsorted(places, SIDE)), CELLS - digits
        found = []
        for near, part in ((places[:middle], counts[:middle]), (places[middle:], counts[middle:])):
            last = np.minimum((near % SIDE + (1 << fewer) - 1) >> fewer, points)
            beyond = part.sum() - np.append(0, np.cumsum(part))
            found.append(np.repeat(beyond, np.diff(last, prepend=0, append=points)))
        return found[0], found[1]

    def beyond(self, distance: float) -> tuple[int, int]:
        """How many records lie farther above the centre, and below, than an edge."""
        places, counts, _ = self.cells
        last = _place(distance)
        return int(counts[(places > last) & (places < SIDE)].sum()), int(counts[places > SIDE + last].sum())

    def sums(self, radius: float, powers: tuple[int, ...], bits: int) -> tuple[int, ...]:
        """The sums of u and u^2, u = clip((x - centre) / radius, +-1), in 2^-bits, rounded down: one for each power,
        1 or 2. [distance_grid.2]"""
        cells, last = self.cells[0], _place(radius)
        place = cells % SIDE - 1  # the lower edge
        within = (place >= 0) & (place < last)
        binade, least = np.divmod(np.append(place[within], last - 1), 1 << CELLS)  # last is the cell that ends at R
        least += (binade > 0) << CELLS  # of so many parts of the binade that begins at 0 or 2^CELLS of them
        binade = np.maximum(binade, 1)  # subnormal numbers have the first one's parts
        first, highest, below_it = int(binade.min()), int(binade[-1]), int(least[-1])
        kind = np.dtype(object if self.size >= LONG else np.int64)
        counts, sums = self.cells[1][within].astype(kind), self.cells[2][within].astype(kind)
        at, least, sign = binade[:-1] - first, least[:-1], 1 - 2 * (cells[within] // SIDE)
        up, down = self.beyond(radius)
        found: list[int] = []
        for power in powers:
            signs, wide = (sign, 1) if power == 1 else (np.ones_like(sign), 2 * least + 1)
            whole, rest = np.zeros((2, highest - first + 1), dtype=kind)
            np.add.at(whole, at, counts * least**power * signs)
            np.add.at(rest, at, sums * wide * signs)
            limit = ((below_it + 1) ** power << FINE) << power * (highest - first)
            total = limit * (up - down if power == 1 else up + down)
            for octave in range(highest - first + 1):
                total += ((int(whole[octave]) << FINE) + int(rest[octave])) << power * octave
            found.append((total << bits) // limit)  # [distance_grid.2]
        return tuple(found)


def _place(distance: float) -> int:
    """The cell whose upper edge this is."""
    word = int(unpack("q", pack("d", distance))[0])
    assert not word & REST
    return word >> SHIFT


def _table(given: Iterator[Floats], *, centre: float, large: bool) -> Cells:
    """A kernel: the table of some records. [distance_grid.1]"""
    fast, found = large and compiled(), np.zeros((2, 2 * SIDE if large else 0), dtype=np.int64)
    cells = [(np.empty(0, np.int64),) * 3]
    for piece in given:
        if fast:
            from discreet._compiled.column_kernels import place_distances

            place_distances(piece, centre, found[0], found[1])
            continue
        for start in range(0, len(piece), BLOCK):
            cells.append(_plain(piece[start : start + BLOCK], centre))  # noqa: PERF401
    if fast:
        occupied = np.flatnonzero(found[0])
        cells.append((occupied, found[0][occupied], found[1][occupied] + found[0][occupied]))
    return reduce(_together, cells[1:] or cells)


def _plain(values: Floats, centre: float) -> Cells:
    """The cells of a few records, each place in one counted from 1."""
    with np.errstate(all="ignore"):
        words = (values - centre).view(np.uint64) + np.uint64(REST)
    fine = ((words & np.uint64(REST)) >> np.uint64(SHIFT - FINE)).astype(np.int64) + 1
    places = (words >> np.uint64(SHIFT)).astype(np.int64)
    if len(values) < FEW:
        occupied, inverse, counts = np.unique(places, return_inverse=True, return_counts=True)
        sums = np.bincount(inverse, fine, len(occupied))  # whole numbers below 2^42
        return occupied, counts.astype(np.int64), sums.astype(np.int64)
    counts = np.bincount(places, minlength=2 * SIDE)
    occupied = np.flatnonzero(counts)
    return occupied, counts[occupied], np.bincount(places, fine, 2 * SIDE)[occupied].astype(np.int64)


def _together(one: Cells, other: Cells) -> Cells:
    """A merge: counts and sums of the same cell added."""
    places, inverse = np.unique(np.concatenate([one[0], other[0]]), return_inverse=True)
    found = np.zeros((2, len(places)), dtype=np.int64)
    for total, parts in zip(found, zip(one[1:], other[1:], strict=True), strict=True):
        np.add.at(total, inverse, np.concatenate(parts))
    return places, found[0], found[1]
