"""Rows put together by chance where their number is private: samples, pairs and blocks.

Promise
    [sample.1] ADD_OR_REMOVE: each row has a place, a whole number that depends on a key, whatever it is, on its own
          bits, and on how many rows equal to it there are; one row more adds one (row, place) to the multiset of all,
          and changes no other. The rows below a released bound, the first two of each bucket of places, and each
          bucket's rows change accordingly: by one row at most, the others in the same order; one pair, which is new,
          gone or another; one bucket.
Why
    [sample.1] A row's position in the table tells how many came before it, so chance must stick to the row. The place
    is a mix of the key, the bits of the row and its ordinal among the rows equal to it, bit by bit, in the order in
    which they stand: k equal rows have the ordinals 0, ..., k - 1, whichever row is which, so a further one adds the
    ordinal k. Equal sums of different rows are told apart by their bits before ordinals are given. Rows are handed on
    in the order of their places, and where two share one, of their bits: not in that of the table, in which an equal
    row put in before would make another of them the first. None of it relies on the mix being a good one.
Needs
    Nothing: rows that are rare among equals are picked as any others.
Accuracy
    Rows are chosen independently, each with the same probability, up to the quality of the mix.
Source
    The finaliser of SplitMix64: Steele, Lea and Flood 2014.
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from discreet.privacy.mechanism import Randomness
from discreet.tables.matrix import Floats, Integers, Rows, Stored, take

CACHED: Final = 1 << 15
PASSES: Final = 4  # over rows that are converted as they are read, holding as large a part of them
PARTS: Final = 16  # in which rows are sorted to find equal ones, to save memory
WORD: Final = 2**64
Words = npt.NDArray[np.uint64]


class Places:
    """Each row's place under a key. [sample.1]"""

    def __init__(self, rows: Rows, rng: Randomness) -> None:
        key = rng.below(WORD)
        keys = _mix(np.uint64(key) + np.arange(2 * rows.width, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15))
        self.rows = rows
        self.places, before = np.empty(rows.size, dtype=np.uint64), 0
        for part in _cached(rows):
            self.places[before : before + len(part)] = _sums(part, keys)
            before += len(part)
        ordinals = np.zeros(len(self.places), dtype=np.uint32)
        for number in range(PARTS):  # equal rows have equal sums, and are in one part
            low = np.uint64(number * (WORD // PARTS))
            members = np.flatnonzero((self.places >= low) & (self.places <= low + np.uint64(WORD // PARTS - 1)))
            ordinals[members] = self._ordinals(members, self.places[members])
        for start in range(0, len(self.places), CACHED):
            here = slice(start, start + CACHED)
            self.places[here] = _mix(self.places[here] + ordinals[here] * np.uint64(0xD1342543DE82EF95))  # [sample.1]

    @cached_property
    def order(self) -> Integers:
        """The positions of all rows in the order of their places. [sample.1]"""
        return self._by_place(np.arange(len(self.places)))

    def _by_place(self, positions: Integers) -> Integers:
        """Positions in the order of places, then of the rows' bits. [sample.1]"""
        order = positions[np.argsort(self.places[positions], kind="stable")]
        ranked = self.places[order]
        tied = np.flatnonzero(ranked[1:] == ranked[:-1])
        for start in tied[np.append(True, np.diff(tied) > 1)[: len(tied)]].tolist():
            stop = int(np.searchsorted(ranked, ranked[start], side="right"))
            members = order[start:stop]
            bits = [row.tobytes() for row in take(self.rows, members)]
            order[start:stop] = members[sorted(range(len(bits)), key=bits.__getitem__)]
        return order

    def _ordinals(self, members: Integers, sums: Words) -> Integers:
        """For each of these rows how many equal ones stand before it."""
        order = np.argsort(sums, kind="stable")
        same = np.concatenate([[False], sums[order[1:]] == sums[order[:-1]]])[: len(order)]
        ordinal, second = np.zeros(len(members), dtype=np.int64), np.flatnonzero(same)
        if not len(second):
            return ordinal
        starts = np.flatnonzero(~same)
        lengths = np.diff(np.append(starts, len(order)))
        ordinal[order] = np.arange(len(order)) - np.repeat(starts, lengths)
        mixed = np.unique(np.searchsorted(starts, self._differ(members[order], second), side="right") - 1)
        for start, length in zip(starts[mixed].tolist(), lengths[mixed].tolist(), strict=True):
            tally: dict[bytes, int] = {}  # different rows of equal sums
            run = order[start : start + length]
            for place, row in zip(run.tolist(), take(self.rows, members[run]), strict=True):
                bits = row.tobytes()
                ordinal[place] = tally[bits] = tally.get(bits, -1) + 1
        return ordinal

    def _differ(self, ranked: Integers, second: Integers) -> Integers:
        """Where a row differs in a bit from the one ranked before it."""
        found, step = [], max(1, CACHED // self.rows.width)
        for at in range(0, len(second), step):
            here = second[at : at + step]
            one, other = take(self.rows, ranked[here]), take(self.rows, ranked[here - 1])
            found.append(here[(one.view(np.uint64) != other.view(np.uint64)).any(axis=1)])
        return np.concatenate(found)

    def below(self, rate: float | Fraction) -> Floats:
        """The rows of a share of all places, in the order of their places. [sample.1]"""
        bound = int(Fraction(rate) * WORD)
        chosen = np.arange(len(self.places)) if bound >= WORD else np.flatnonzero(self.places < np.uint64(bound))
        return take(self.rows, self._by_place(chosen))

    def buckets(self, number: int, share: float = 1.0) -> Integers:
        """The bucket of each row, in the order of places: `number` equal buckets of a share of all places.
        [sample.1]"""
        width = min(WORD - 1, max(1, int(min(1.0, share) * 2.0**64) // number))
        found = np.minimum(self.places[self.order] // np.uint64(width), np.uint64(number))
        return np.asarray(found, dtype=np.int64)

    def pairs(self, number: int, share: float) -> Floats:
        """The first two rows of each bucket that has two, one after the other. [sample.1]"""
        bucket = self.buckets(number, share)
        starts = np.searchsorted(bucket, np.arange(number))
        full = np.searchsorted(bucket, np.arange(number), side="right") - starts >= 2
        both = np.stack([starts[full], starts[full] + 1], axis=1).ravel()
        return take(self.rows, self.order[both])


def block_means(rows: Rows, number: int, bucket: Integers, order: Integers) -> Stored:
    """The mean of each bucket's rows; of an empty one NaN, and so of one with a row that is none.

    `bucket` holds the buckets of the rows at the positions `order`; buckets of `number` and above are left out. Each
    mean is taken over its own rows alone, in a public order: around the bucket's first row, so that it loses no digits.
    """
    means = np.full((number, rows.width), np.nan)
    ranked = np.argsort(bucket, kind="stable")
    edges = np.searchsorted(bucket[ranked], np.arange(number + 1))
    entries = rows.width * max(1, len(order))
    most = CACHED if isinstance(rows, Stored) else max(CACHED, entries // PASSES)  # others are read anew each time
    step = max(1, most * number // entries)
    with np.errstate(all="ignore"):
        for start in range(0, number, step):
            stop = min(number, start + step)
            part = take(rows, order[ranked[edges[start] : edges[stop]]])
            lengths = np.diff(edges[start : stop + 1])
            full = np.flatnonzero(lengths)
            if not len(full):
                continue
            first = edges[start:stop][full] - edges[start]
            sums = np.add.reduceat(part - np.repeat(part[first], lengths[full], axis=0), first, axis=0)
            means[start + full] = part[first] + sums / lengths[full, None]
    return Stored((means,), rows.width)


def _cached(rows: Rows) -> Iterator[Floats]:
    """All rows, few at a time."""
    step = max(1, CACHED // rows.width)
    for block in rows.blocks():
        for start in range(0, len(block), step):
            yield block[start : start + step]


def _sums(rows: Floats, keys: Words) -> Words:
    """A sum for each row over the halves of its entries, each times a key."""
    halves = np.ascontiguousarray(rows).view(np.uint32)
    return np.asarray(_mix(halves.astype(np.uint64)) @ keys)


def _mix(words: Words) -> Words:
    """The finaliser of splitmix64: each bit decides on all."""
    mixed = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))
