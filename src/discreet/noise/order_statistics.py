"""Order statistics in linear time: the values of some ranks, without sorting the rest. Those of a stream in few passes.

A stream is read once if its first piece looks like the rest: that piece tells between which two numbers the wanted
ranks lie, and only what is strictly between them is kept; those below, and those equal to one of the two, are counted,
and the stream itself where nobody has. The same pass keeps every so-manieth number: if the guess was wrong, they make a
better one, for a second pass. If that is wrong too, or more than ROOM numbers would be kept, a pass counts all numbers
by their leading bits, finer tables of the cells at both ends follow until few enough numbers are left (or a cell is one
number, however many times it is there), and one pass keeps those: at most six passes. What comes out depends on none of
this.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet._compiled.warmth import warm
from discreet.noise.distributions import compiled
from discreet.tables.streams import Numbers, Stream, Table, added, dense, joined, sparse

MANY: Final = 1 << 17  # values from which a look at some of them saves work on the others
SOME: Final = 1 << 13
LARGE: Final = 100_000  # numbers of a stream from which the compiled passes are worth their import
ROOM: Final = 1 << 22  # numbers of a stream that are kept, unless more are wanted
GLANCE: Final = 1 << 18  # numbers of a first piece that tell of the rest
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

    def told(self) -> tuple[Counts, Floats]:
        """The tally, and the numbers between unless there are too many."""
        return self.tally, self._found[: 0 if self.full else self.tally[3]]

    @classmethod
    def of(cls, ends: tuple[float, float], room: int, found: "Looked") -> "_Kept":
        """What all parts told, in order."""
        kept = cls(*ends, room)
        kept.tally, kept._found, _ = found
        kept._found.sort()
        return kept

    def holds(self, start: int, stop: int) -> bool:
        """Whether these ranks are among them."""
        return not self.full and bool(self.tally[0] <= start) and bool(stop <= self.tally.sum())

    def floats(self, start: int, stop: int) -> Floats:
        """The numbers of these ranks."""
        below, low, high, between = (int(count) for count in self.tally)
        ends = below, below + low, below + low + between, below + low + between + high
        first, middle, last = (max(0, min(stop, b) - max(start, a)) for a, b in pairwise(ends))
        skipped = max(0, start - ends[1])
        found = self._found[skipped : skipped + middle]
        return np.concatenate([np.full(first, self.low), found, np.full(last, self.high)])


Looked = tuple[Counts, Floats, Floats]  # what a _Kept told, and some of all numbers


def _looked(
    given: Iterator[Floats], *, ends: tuple[float, float], room: int, run: int, default: float, large: bool
) -> Looked:
    """A kernel: the numbers between two ends, and one of each run of so many; none if that is 0."""
    fast, kept, some = large and compiled(), _Kept(*ends, room), [np.empty(0)]
    for piece in given:
        if run:
            seen = piece[::run]
            some.append(np.where(np.isnan(seen), default, seen))
        for block in _blocks(piece):
            kept.add(block, default, fast)
    return *kept.told(), np.concatenate(some)


def _together(room: int, one: Looked, other: Looked) -> Looked:
    """A merge: nothing between is kept once there is too much."""
    tally = one[0] + other[0]
    found = np.concatenate([one[1], other[1]]) if tally[3] <= room else np.empty(0)
    return tally, found, np.concatenate([one[2], other[2]])


def _leading_bits(given: Iterator[Floats], *, default: float, large: bool) -> Table:
    """A kernel: how many numbers share their leading bits."""
    fast, counts = large and compiled(), np.zeros(1 << LEADING, dtype=np.int64)
    for block in (block for piece in given for block in _blocks(piece)):
        _count(block, _Cell(0, 64, 0, 0), counts, default, fast)
    return sparse(counts)


def _finer_pass(
    given: Iterator[Floats], *, cells: tuple[_Cell, ...], default: float, large: bool
) -> tuple[Counts, ...]:
    """A kernel: how many numbers lie in equal parts of some cells."""
    fast, tables = large and compiled(), tuple(np.zeros(1 << min(one.bits, FINER), dtype=np.int64) for one in cells)
    for block in (block for piece in given for block in _blocks(piece)):
        for cell, counts in zip(cells, tables, strict=True):
            _count(block, cell, counts, default, fast)
    return tables


def _count(block: Floats, cell: _Cell, counts: Counts, default: float, fast: bool) -> None:
    """Count the numbers in a cell, by equal parts of it."""
    first, last = np.uint64(cell.first), np.uint64(cell.last)
    shift = np.uint64(cell.bits - (len(counts).bit_length() - 1))
    if fast:
        from discreet._compiled.column_kernels import count

        count(block.view(np.uint64), _word(default), (first, last), shift, counts)
        return
    places = places_of(block, default)
    inside = places[(places >= first) & (places <= last)] - first
    np.add.at(counts, (inside >> shift).astype(np.int64), 1)


class Ordered:
    """A stream's numbers by rank, missing ones as the default: nothing of it is read before it is asked for.

    >>> stream = Stream(4, lambda: iter([np.array([4.0, np.nan]), np.array([3.0, 1.0])]))
    >>> Ordered(stream, default=2.0).between(1, 3).tolist()
    [2.0, 3.0]
    """

    def __init__(self, stream: Stream, default: float) -> None:
        self.stream, self._default = stream, default
        self._kept: _Kept | None = None
        self._some: Floats | None = None  # of all numbers

    def __len__(self) -> int:
        return len(self.stream)

    def between(self, start: int, stop: int) -> Floats:
        """The numbers of ranks `start` to `stop - 1`, in order."""
        if start >= stop:
            return np.empty(0)
        if not (self._holds(start, stop) or self._begun):
            self._begin(start, stop)
        if not self._holds(start, stop) and self._some is not None:
            ends = self._ends(self._some, start, stop)
            if ends is not None:
                self._look(ends)
        if not self._holds(start, stop):
            self._keep(start, stop)
        assert self._kept is not None
        return self._kept.floats(start, stop)

    def _holds(self, start: int, stop: int) -> bool:
        return self._kept is not None and self._kept.holds(start, stop)

    def binades(self) -> Counts:
        """How many numbers have each binary exponent; infinite ones the largest."""
        half = len(self._leading) // 2
        parts = self._leading[half:] + self._leading[:half][::-1]  # by distance from 0
        counts: Counts = parts.reshape(2048, -1).sum(axis=1)
        counts[-2] += counts[-1]
        return counts[:-1]

    def begin(self) -> None:
        """The first pass, before it is known how many numbers there are: it counts them, and looks for the middle."""
        self._begin(self.stream.most // 2, self.stream.most // 2)

    @property
    def _begun(self) -> bool:
        return self._some is not None or "_leading" in self.__dict__

    def _begin(self, start: int, stop: int) -> None:
        piece = self.stream.some(GLANCE) if self.stream.most > ROOM else np.empty(0)
        some = piece[:: max(1, -(-len(piece) // GLANCE))]
        ends = self._ends(np.where(np.isnan(some), self._default, some), start, stop)
        if ends is None:
            self._leading  # noqa: B018
        else:
            self._look(ends, run=-(-self.stream.most // GLANCE) if self.stream.most > ROOM else 0)

    @property
    def _public(self) -> dict[str, Any]:
        most = self.stream.most
        return {"default": self._default, "large": most >= LARGE and warm(most, "column_kernels")}

    @cached_property
    def _leading(self) -> Counts:
        """How many numbers share their leading bits."""
        return dense(self.stream.fold(partial(_leading_bits, **self._public), joined), 1 << LEADING)

    def _ends(self, some: Floats, start: int, stop: int) -> tuple[float, float] | None:
        """Between which numbers some ranks lie if these numbers are like the rest; None if they cannot tell."""
        size = self.stream.most
        if size <= ROOM:
            return -math.inf, math.inf
        seen, room = np.sort(some), 3 * math.sqrt(len(some))  # six standard deviations of a median's rank
        low = math.floor(start / size * len(seen) - room) - 1
        high = math.ceil(stop / size * len(seen) + room) + 1
        if not len(seen) or (high - low) * size > ROOM * len(seen):
            return None
        return float(seen[low]) if low > 0 else -math.inf, float(seen[high]) if high < len(seen) else math.inf

    def _look(self, ends: tuple[float, float], room: int = ROOM, run: int = 0) -> None:
        """A pass that keeps the numbers between two others, and some of all."""
        kernel = partial(_looked, ends=ends, room=room, run=run, **self._public)
        found = self.stream.fold(kernel, partial(_together, room))
        self._kept = _Kept.of(ends, room, found)
        self._some = found[2] if run or self._some is None else self._some

    def _keep(self, start: int, stop: int) -> None:
        """The pass that keeps the numbers of some ranks, after those that say where they lie."""
        self._kept, everything = None, _Cell(0, 64, 0, len(self))
        low, high = (everything.part(self._leading, rank) for rank in (start, stop - 1))
        while sum(cell.many for cell in (low, high) if cell.bits) > ROOM:
            cells = tuple({low, high})
            found = self.stream.fold(partial(_finer_pass, cells=cells, **self._public), added)
            finer = dict(zip(cells, found, strict=True))
            low, high = low.part(finer[low], start), high.part(finer[high], stop - 1)
        ends = floats_at(np.array([low.first, high.last], dtype=np.uint64))  # NaN in the cells of the infinite ones
        least, most = (float(end) for end in np.where(np.isnan(ends), (-math.inf, math.inf), ends))
        self._look((least, most), ROOM + stop - start)


def counted_in_passing(values: Numbers, default: float) -> None:
    """Count a stream that nobody has counted by the pass that looks for its middle, which is wanted next."""
    if isinstance(values, Stream) and not values.counted:
        values.known[default] = Ordered(values, default)
        values.known[default].begin()


def _blocks(piece: Floats) -> Iterator[Floats]:
    return (piece[start : start + BLOCK] for start in range(0, len(piece), BLOCK))


def _word(number: float) -> np.uint64:
    """The bits of a float."""
    return np.float64(number).view(np.uint64)


def ranked(values: Numbers, default: float) -> Floats | Ordered:
    """A column whose order statistics are wanted, missing entries as the default."""
    if isinstance(values, Stream):
        begun: Ordered | None = values.known.get(default)
        return Ordered(values, default) if begun is None else begun
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
        ends = float(seen[low]) if low > 0 else -math.inf, float(seen[high]) if high < len(seen) else math.inf
        if size >= LARGE and warm(size, "column_kernels") and compiled():
            whole, near = np.ascontiguousarray(values).view(), _Kept(*ends, size)
            whole.flags.writeable = False  # compiled code is made once for such arrays
            for block in _blocks(whole):
                near.add(block, 0.0, True)
            near = _Kept.of(ends, size, (*near.told(), np.empty(0)))
            if near.holds(start, stop):
                return near.floats(start, stop)
        above = values >= (seen[low] if low > 0 else -math.inf)
        within = values[above & (values <= (seen[high] if high < len(seen) else math.inf))]
        below = size - int(np.count_nonzero(above))
        if below <= start and stop <= below + len(within):
            values, start, stop = within, start - below, stop - below
    kept = np.partition(values, stop - 1)[:stop] if stop < len(values) else values.copy()
    if start:
        kept.partition(start)  # in place: one copy of the data is enough
    return kept[start:]
