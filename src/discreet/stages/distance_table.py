"""How far records lie from a centre: one table tells how many are beyond a distance, and the clipped sums for it.

Promise
    [distance_table.1] A record adds 1 to the count of one cell, and a whole number from 1 to 2^FINE to the sum of that
         cell, both by a fixed function of itself and the centre; a missing one counts as at the centre. Neither the
         order of the records nor blocks or machines change the table.
    [distance_table.2] For a radius R that is an edge of cells, the exact sum of u is one of numbers in [-1, 1], one for
         each record, by a fixed function of it, the centre and R, and that of u^2 one of numbers in [0, 1]. Times
         2^bits, rounded down, they move by at most 2^bits if a record is added or removed, by at most 2^(bits + 1) and
         2^bits if one is replaced.
Why
    [distance_table.1] A cell reaches from one edge, which is outside, to the next: 2^CELLS equal parts of each binade
    of |x - c|, on either side of the centre, by the leading bits of a float. The number q of a record is its place in
    the cell in 2^FINE parts, rounded up: it is above 0, and 2^FINE at the upper edge.
    [distance_table.2] A cell is within R or beyond it. Let a < b be its edges and f = q / 2^FINE. Within, a record has
    u = +- (a + f (b - a)) / R, and in place of u^2 the chord (a^2 + f (b^2 - a^2)) / R^2: at most b / R <= 1 and its
    square. Beyond it has +- 1 and 1, at the centre 0. Sums of these follow from counts and sums of q by whole numbers
    of Python's, without an error. Rounding down keeps order, and a whole number h may be taken out of it: if |y - y'|
    <= h, what they are rounded to differs by at most h.
Accuracy
    |x - c| is rounded up by 2^-(CELLS + FINE) of its binade at most, u^2 is too large by 1/4096 of itself at most.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from struct import pack, unpack
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet._compiled.warmth import warm
from discreet.noise.distributions import compiled
from discreet.tables.streams import Numbers, fold

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


def on_edge(distance: float) -> float:
    """The edge of cells that is nearest to a distance."""
    (nearest,) = unpack("d", pack("q", (_word(distance) + (REST >> 1)) >> SHIFT << SHIFT))
    return float(nearest)


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
        """All records, in one pass. [distance_table.1]"""
        large = len(values) >= LARGE and warm(len(values), "column_kernels")
        return cls(centre, len(values), fold(partial(_table, centre=centre, large=large), _together, values))

    def __len__(self) -> int:
        return self.size

    def sides(self, digits: int) -> Integers:
        """How many records there are in wider cells, 2^digits in each binade and numbered by their upper edges, above
        the centre and below."""
        places, counts, _ = self.cells
        fewer = CELLS - digits
        found = np.zeros((2, (2047 << digits) + 1), dtype=np.int64)
        np.add.at(found, (places // SIDE, (places % SIDE + (1 << fewer) - 1) >> fewer), counts)
        return found

    def beyond(self, distance: float) -> tuple[int, int]:
        """How many records lie farther above the centre, and below, than an edge."""
        places, counts, _ = self.cells
        last = _place(distance)
        return int(counts[(places > last) & (places < SIDE)].sum()), int(counts[places > SIDE + last].sum())

    def sums(self, radius: float, powers: tuple[int, ...], bits: int) -> tuple[int, ...]:
        """The sums of u and u^2, u = clip((x - centre) / radius, +-1), in 2^-bits, rounded down: one for each power,
        1 or 2. [distance_table.2]"""
        cells, last = self.cells[0], _place(radius)
        place = cells % SIDE - 1  # the lower edge
        within = (place >= 0) & (place < last)
        kind = np.dtype(object if self.size >= LONG else np.int64)
        counts, sums = (part[within].astype(kind, copy=False) for part in self.cells[1:])
        binade, least = _parted(place[within])
        sign, (up, down) = np.where(cells[within] < SIDE, 1, -1), self.beyond(radius)
        highest, below_it = (int(part[0]) for part in _parted(np.array([last - 1])))
        first = int(binade.min(initial=highest))
        found: list[int] = []
        for power in powers:
            wide, signs = (1, sign) if power == 1 else (2 * least + 1, np.ones_like(sign))
            parts = counts * least**power * signs, sums * wide * signs
            whole, rest = (_by_binade(binade - first, part, highest - first) for part in parts)
            limit = ((below_it + 1) ** power << FINE) << power * (highest - first)
            total = sum(((w << FINE) + r) << power * at for at, (w, r) in enumerate(zip(whole, rest, strict=True)))
            total += limit * (up - down if power == 1 else up + down)
            found.append((total << bits) // limit)  # [distance_table.2]
        return tuple(found)


def _place(distance: float) -> int:
    """The cell whose upper edge this is."""
    word = _word(distance)
    assert not word & REST
    return word >> SHIFT


def _word(distance: float) -> int:
    """The bits of a float that is not below 0."""
    return int(unpack("q", pack("d", distance))[0])


def _parted(places: Integers) -> tuple[Integers, Integers]:
    """The binade of each edge, and how many of its 2^CELLS parts are below it; subnormal numbers are of the first."""
    binade, parts = np.divmod(places, 1 << CELLS)
    return np.maximum(binade, 1), parts + ((binade > 0).astype(np.int64) << CELLS)


def _by_binade(binade: Integers, parts: Any, most: int) -> list[int]:
    found = np.zeros(most + 1, dtype=parts.dtype)
    np.add.at(found, binade, parts)
    return [int(part) for part in found]


def _table(given: Iterator[Floats], *, centre: float, large: bool) -> Cells:
    """A kernel: the table of some records. [distance_table.1]"""
    fast, found = large and compiled(), np.zeros((2, 2 * SIDE if large else 0), dtype=np.int64)
    cells = np.empty((3, 0), dtype=np.int64)
    for piece in given:
        if fast:
            from discreet._compiled.column_kernels import place_distances

            place_distances(piece, centre, found[0], found[1])
            continue
        for start in range(0, len(piece), BLOCK):
            cells = np.stack(_together(_plain(piece[start : start + BLOCK], centre), (cells[0], cells[1], cells[2])))
    if fast:
        occupied = np.flatnonzero(found[0])
        cells = np.stack((occupied, found[0][occupied], found[1][occupied] + found[0][occupied]))
    return _known(cells)


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


def _known(cells: npt.NDArray[np.int64]) -> Cells:
    """The same, missing records at the centre. [distance_table.1]"""
    places, counts, sums = cells
    numbers = places % SIDE <= INFINITE
    missing = int(counts[~numbers].sum())
    there = places[numbers], counts[numbers], sums[numbers]
    if not missing:
        return there
    return _together((np.zeros(1, np.int64), np.full(1, missing), np.full(1, missing << FINE)), there)


def _together(one: Cells, other: Cells) -> Cells:
    """A merge: counts and sums of the same cell added."""
    if not len(one[0]) or not len(other[0]):
        return one if len(one[0]) else other
    places, inverse = np.unique(np.concatenate([one[0], other[0]]), return_inverse=True)
    found = np.zeros((2, len(places)), dtype=np.int64)
    for total, parts in zip(found, zip(one[1:], other[1:], strict=True), strict=True):
        np.add.at(total, inverse, np.concatenate(parts))
    return places, found[0], found[1]
