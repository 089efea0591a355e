"""Order statistics in linear time: the values of some ranks, without sorting the rest. Those of a stream in few passes.

A stream is read once if its first piece looks like the rest: that piece tells between which two numbers the wanted
ranks lie, and only what is strictly between them is kept; those below, and those equal to one of the two, are counted.
The same pass counts all numbers by their leading bits. If the counts say that the guess was wrong, or more than ROOM
numbers would be kept, that table says where the ranks lie, finer tables of the cells at both ends follow until few
enough numbers are left (or a cell is one number, however many times it is there), and one pass keeps those. At most
four passes; what comes out depends on none of this.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, product
from typing import Final

import numpy as np
import numpy.typing as npt

from discreet.noise.distributions import compiled
from discreet.tables.entries import Numbers, Stream, pieces

MANY: Final = 1 << 17  # values from which a look at some of them saves work on the others
SOME: Final = 1 << 13
LARGE: Final = 100_000  # numbers of a stream from which the compiled passes are worth their import
ROOM: Final = 1 << 22  # numbers of a stream that are kept, unless more are wanted
GLANCE: Final = 1 << 17  # numbers of a first piece that tell of the rest
BLOCK: Final = 1 << 16  # numbers that stay in the cache
LEADING: Final = 20  # bits of the first table: sign, exponent and 8 of the fraction
FINER: Final = 22  # bits of the tables that follow: 64 in all
SIGN: Final = np.uint64(1 << 63)
Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.uint64]
Counts = npt.NDArray[np.int64]


def places_of(values: Floats, default: float) -> Places:
    """The floats' order as that of whole numbers; missing ones as the default, -0.0 as 0.0."""
    words = (np.where(np.isnan(values), default, values) + 0.0).view(np.uint64)
    return np.where(words >= SIGN, ~words, words | SIGN)


def floats_at(places: Places) -> Floats:
    """The floats of these places."""
    return np.where(places >= SIGN, places ^ SIGN, ~places).view(np.float64)


@dataclass(frozen=True, slots=True)
class _Cell:
    """The 2^bits places from `first` on, how many records lie below them and how many in them."""

    first: int
    bits: int
    below: int
    many: int

    @property
    def last(self) -> int:
        return self.first + (1 << self.bits) - 1

    def part(self, counts: Counts, rank: int) -> "_Cell":
        """The part, of as many as there are counts, that holds a rank."""
        upto = np.cumsum(counts)
        index = int(np.searchsorted(upto, rank - self.below, side="right"))
        bits = self.bits - (len(counts).bit_length() - 1)
        many = int(counts[index])
        return _Cell(self.first + (index << bits), bits, self.below + int(upto[index]) - many, many)


class _Kept:
    """The numbers from a low to a high one: how many lie below, how many are the ends themselves, and those between."""

    def __init__(self, low: float, high: float, room: int) -> None:
        self.low, self.high = low, high
        self.tally = np.zeros(4, dtype=np.int64)  # below the low end, at it, at the high end, and between
        self._room, self._found = room, np.empty(2 * BLOCK)

    @property
    def full(self) -> bool:
        """Whether there were too many."""
        return int(self.tally[3]) > self._room

    def add(self, block: Floats, default: float, fast: bool) -> None:
        """Take in a few records."""
        if self.full:
            return
        if len(self._found) < self.tally[3] + len(block):
            larger = np.empty(min(2 * len(self._found), self._room + 2 * BLOCK))
            larger[: len(self._found)] = self._found
            self._found = larger
        if fast:
            from discreet._compiled.column_kernels import keep

            keep(block, default, (self.low, self.high), self.tally, self._found)
            return
        known, start = np.where(np.isnan(block), default, block), int(self.tally[3])
        between = known[(known > self.low) & (known < self.high)]
        self._found[start : start + len(between)] = between
        counted = (known < self.low, known == self.low, (known == self.high) & (self.low < self.high))
        self.tally += np.array([*map(np.count_nonzero, counted), len(between)], dtype=np.int64)

    def settle(self) -> None:
        """Put them in order, and let go of the rest."""
        self._found = self._found[: 0 if self.full else self.tally[3]].copy()
        self._found.sort()

    def holds(self, start: int, stop: int) -> bool:
        """Whether these ranks are among them."""
        return not self.full and self.tally[0] <= start and stop <= self.tally.sum()

    def floats(self, start: int, stop: int) -> Floats:
        """The numbers of these ranks."""
        below, low, high, between = (int(count) for count in self.tally)
        ends = below, below + low, below + low + between, below + low + between + high
        first, middle, last = (max(0, min(stop, b) - max(start, a)) for a, b in pairwise(ends))
        skipped = max(0, start - ends[1])
        found = self._found[skipped : skipped + middle]
        return np.concatenate([np.full(first, self.low), found, np.full(last, self.high)])


class Ordered:
    """A stream's numbers by rank, missing ones as the default: nothing of it is read before it is asked for.

    >>> stream = Stream(4, lambda: iter([np.array([4.0, np.nan]), np.array([3.0, 1.0])]))
    >>> Ordered(stream, default=2.0).between(1, 3).tolist()
    [2.0, 3.0]
    """

    def __init__(self, stream: Stream, default: float) -> None:
        self.stream, self._default = stream, default
        self._kept: _Kept | None = None
        self._aim: tuple[int, int] | None = None

    def __len__(self) -> int:
        return len(self.stream)

    def between(self, start: int, stop: int) -> Floats:
        """The numbers of ranks `start` to `stop - 1`, in order."""
        if start >= stop:
            return np.empty(0)
        self._aim = start, stop
        wrong = self._kept is None or not self._kept.holds(start, stop)
        if wrong and "_leading" not in self.__dict__:
            self._leading  # noqa: B018  the first pass, which tries to keep them too
            wrong = self._kept is None or not self._kept.holds(start, stop)
        if wrong:
            self._keep(start, stop)
        assert self._kept is not None
        return self._kept.floats(start, stop)

    def binades(self) -> Counts:
        """How many numbers have each binary exponent; infinite ones the largest."""
        half = len(self._leading) // 2
        parts = self._leading[half:] + self._leading[:half][::-1]  # by distance from 0
        counts: Counts = parts.reshape(2048, -1).sum(axis=1)
        counts[-2] += counts[-1]
        return counts[:-1]

    @property
    def _fast(self) -> bool:
        return len(self) >= LARGE and compiled()

    @cached_property
    def _leading(self) -> Counts:
        """How many numbers share their leading bits. If it is known what is wanted, that is looked for as well."""
        counts, kept = np.zeros(1 << LEADING, dtype=np.int64), None
        for piece in pieces(self.stream):
            if kept is None and self._aim is not None and len(piece):
                kept = _Kept(*self._guess(piece, *self._aim), ROOM)
            for block in _blocks(piece):
                self._count(block, _Cell(0, 64, 0, 0), counts)
                if kept is not None:
                    kept.add(block, self._default, self._fast)
        if kept is not None:
            kept.settle()
            self._kept = kept
        return counts

    def _guess(self, piece: Floats, start: int, stop: int) -> tuple[float, float]:
        """Between which numbers some ranks lie if the first piece is like the rest."""
        if len(self) <= ROOM:
            return -math.inf, math.inf
        some = piece[:: -(-len(piece) // GLANCE)]
        seen = np.sort(np.where(np.isnan(some), self._default, some))
        room = 3 * math.sqrt(len(seen))  # six standard deviations of a median's rank
        low = math.floor(start / len(self) * len(seen) - room) - 1
        high = math.ceil(stop / len(self) * len(seen) + room) + 1
        return float(seen[low]) if low > 0 else -math.inf, float(seen[high]) if high < len(seen) else math.inf

    def _keep(self, start: int, stop: int) -> None:
        """The pass that keeps the numbers of some ranks, after those that say where they lie."""
        self._kept, everything = None, _Cell(0, 64, 0, len(self))
        low, high = (everything.part(self._leading, rank) for rank in (start, stop - 1))
        while sum(cell.many for cell in (low, high) if cell.bits) > ROOM:
            finer = {cell: np.zeros(1 << min(cell.bits, FINER), dtype=np.int64) for cell in {low, high}}
            for piece in pieces(self.stream):
                for block, (cell, counts) in product(_blocks(piece), finer.items()):
                    self._count(block, cell, counts)
            low, high = low.part(finer[low], start), high.part(finer[high], stop - 1)
        ends = floats_at(np.array([low.first, high.last], dtype=np.uint64))  # NaN in the cells of the infinite ones
        least, most = (float(end) for end in np.where(np.isnan(ends), (-math.inf, math.inf), ends))
        kept = _Kept(least, most, ROOM + stop - start)
        for piece in pieces(self.stream):
            for block in _blocks(piece):
                kept.add(block, self._default, self._fast)
        kept.settle()
        self._kept = kept

    def _count(self, block: Floats, cell: _Cell, counts: Counts) -> None:
        """Count the numbers in a cell, by equal parts of it."""
        first, last = np.uint64(cell.first), np.uint64(cell.last)
        shift = np.uint64(cell.bits - (len(counts).bit_length() - 1))
        if self._fast:
            from discreet._compiled.column_kernels import count

            count(block.view(np.uint64), _word(self._default), (first, last), shift, counts)
            return
        places = places_of(block, self._default)
        inside = places[(places >= first) & (places <= last)] - first
        np.add.at(counts, (inside >> shift).astype(np.int64), 1)


def _blocks(piece: Floats) -> Iterator[Floats]:
    return (piece[start : start + BLOCK] for start in range(0, len(piece), BLOCK))


def _word(number: float) -> np.uint64:
    """The bits of a float."""
    return np.float64(number).view(np.uint64)


def ranked(values: Numbers, default: float) -> Floats | Ordered:
    """A column whose order statistics are wanted, missing entries as the default."""
    if isinstance(values, Stream):
        return Ordered(values, default)
    missing = np.isnan(values)
    return np.where(missing, default, values) if missing.any() else values


def order_statistics(values: Floats | Ordered, start: int, stop: int) -> Floats:
    """The values of ranks `start` to `stop - 1`, in no order; none of them is NaN.

    Every so-manieth value tells where those ranks lie; if the count says that it told wrong, all are partitioned.

    >>> sorted(order_statistics(np.array([5.0, 1.0, 4.0, 2.0, 3.0]), 1, 3).tolist())
    [2.0, 3.0]
    """
    if isinstance(values, Ordered):
        return values.between(start, stop)
    size = len(values)
    if start == 0 and stop == size:
        return values
    if size >= MANY:
        seen = np.sort(values[:: size // SOME])
        room = 3 * math.sqrt(len(seen))  # six standard deviations of a median's rank
        low = math.floor(start / size * len(seen) - room) - 1
        high = math.ceil(stop / size * len(seen) + room) + 1
        above = values >= (seen[low] if low > 0 else -math.inf)
        within = values[above & (values <= (seen[high] if high < len(seen) else math.inf))]
        below = size - int(np.count_nonzero(above))
        if below <= start and stop <= below + len(within):
            values, start, stop = within, start - below, stop - below
    kept = np.partition(values, stop - 1)[:stop] if stop < len(values) else values.copy()
    if start:
        kept.partition(start)  # in place: one copy of the data is enough
    return kept[start:]
