"""Blocks of people that do not depend on anybody's data: one person is in one block, whatever the block holds.

Promise
    [partition.1] Under REPLACE, one row a person: blocks are slots of a public shuffle of positions. Replacing a row
          changes the content of one block; the number of blocks, their sizes and every other block stay bit for bit.
    [partition.2] Under REPLACE with `unit`: the number of people is public, what they hold is not, nor how many rows.
          Replacing all rows of a person by any rows, of the same person or of another who was not there, has, in
          distribution, the effect of changing one block. The shuffle is fresh and is not released.
    [partition.3] Under ADD_OR_REMOVE: a block is a keyed hash of the person, or of the row where a row is a person.
          Adding or removing one changes the content of one block. The number of blocks is declared, never read off the
          data.
Why
    [partition.1] Position i goes to slot s(i), s a permutation drawn without reading data; slot t belongs to a block
    fixed by t, n and k. Rows keep their order within a block, and carry no label of their place (a frame's index is
    dropped).
    [partition.2] Let S be the other people and a the one replaced by b. The slots of S + {a} are a uniform bijection: a
    uniform permutation after any numbering (here by first appearance). Sending every bijection of S + {a} to the one of
    S + {b} that agrees on S and gives b the slot of a is a bijection between them, so the two distributions are
    mixtures, with equal weights, of pairs that differ in the block of that slot alone: the others hold the same rows in
    the same order. If every pair is (epsilon, delta)-close so are the mixtures. If the person stays the same and keeps
    the place of the first row, no coupling is needed. A shuffle that is known would break this, for then a new name may
    renumber others.
    [partition.3] The hash is a function of the key and the person alone, so everybody else stays. Where a row is a
    person, equal rows are told apart by counting them, c(1), ..., c(m): to remove one is to remove c(m), as a block
    lists its rows in the order of their hashes and not in that of the table. Equal rows are those of equal bytes: of a
    number its own, of a date its microseconds, else each entry packed so that it can be had back (Table.contents). So
    equal rows are alike bit for bit. Numbers and dates have these bytes in a column of objects too, where
    [block_table.1] has made 1, 1.0 and True one, and None and NaN: how a row is read depends on itself alone, not on
    the odd entry of another that makes objects of a column. (An entry that cannot be packed stands for all that
    show the same type and text; of those the promise is for what they show.) BLAKE2b with 128 bits: two different rows
    share a hash with a chance below n^2 / 2^128.
Needs
    unit: everybody has at least one row. A missing name is a name: all rows without one are one person's. (A table's
    rows without a name are left out before.)
Source
    Nissim, Raskhodnikova and Smith 2007, where blocks are by position; hashing under REPLACE would move two blocks.
"""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.mechanism import Randomness
from discreet.subsample.block_table import BlockTable, owners
from discreet.tables.entries import column, key

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Blocks:
    """A table in blocks of 2 or 4 `parts` each: part h has the rows from edges[h] to edges[h + 1]."""

    table: BlockTable
    edges: Integers
    parts: int = 2

    @property
    def count(self) -> int:
        """How many blocks there are."""
        return (len(self.edges) - 1) // self.parts

    def bounds(self, block: int) -> tuple[int, int, int]:
        """Where a block begins, its second half begins, and it ends."""
        start, middle, stop = self.edges[self.parts * block : self.parts * (block + 1) + 1 : self.parts // 2]
        return int(start), int(middle), int(stop)

    def cuts(self, block: int) -> tuple[int, ...]:
        """Where the parts of a block begin and end, counted from its own first row."""
        edges = self.edges[self.parts * block : self.parts * (block + 1) + 1]
        return tuple((edges - edges[0]).tolist())

    def block(self, number: int) -> tuple[BlockTable, int]:
        """What an estimator is given of a block, and where its second half begins. [block_table.2]"""
        start, middle, stop = self.bounds(number)
        return self.table.part(start, stop), middle - start


def units(table: BlockTable, neighbours: Neighbours) -> int | None:
    """How many people there are, where that is public."""
    if not neighbours.size_is_public:
        return None
    if table.declared is not None:
        return table.declared
    count = table.rows if table.people is None else len(np.unique(codes(table.people)))
    if count == 0:
        raise BadInput("the data are empty (0 rows); blocks need people")
    return count


def people_in(table: BlockTable) -> int:
    """How many people there are, told apart as their blocks are; private. [partition.3]"""
    return table.rows if table.people is None else len({_bytes(key(entry)) for entry in column(table.people)})


def partition(table: BlockTable, blocks: int, neighbours: Neighbours, rng: Randomness, parts: int = 2) -> Blocks:
    """The table in blocks of whole people, copied once, each in 2 or 4 parts."""
    if neighbours is Neighbours.ADD_OR_REMOVE:
        where, order = _hashed(table, parts * blocks, rng)  # [partition.3]
    elif table.people is None:
        where, order = slot_parts(rng.permutation(table.rows), table.rows, blocks, parts), None  # [partition.1]
    else:
        people = codes(table.people)
        count = int(people.max(initial=-1)) + 1
        where, order = slot_parts(rng.permutation(count), count, blocks, parts)[people], None  # [partition.2]
    edges = np.concatenate([[0], np.cumsum(np.bincount(where, minlength=parts * blocks))]).astype(np.int64)
    return Blocks(table.scattered(where, edges, order), edges, parts)


def slot_parts(slots: Integers, count: int, blocks: int, parts: int = 2) -> Integers:
    """The part of each slot: blocks of count // k or one more, each in two halves, or these again. [partition.1]"""
    size, larger = divmod(count, blocks)
    lengths = np.full((blocks, 1), size)
    lengths[:larger] += 1
    while lengths.shape[1] < parts:
        lengths = np.stack([(lengths + 1) // 2, lengths // 2], axis=2).reshape(blocks, -1)
    where: Integers = np.repeat(np.arange(parts * blocks), lengths.ravel())[slots]
    return where


def codes(people: Any) -> Integers:
    """Each row's person as a number, in the order of first appearance. [partition.2]"""
    return owners(column(people))


def _hashed(table: BlockTable, parts: int, rng: Randomness) -> tuple[Integers, Integers | None]:
    """The part of each row, and the order of the rows in it where that is not the table's. [partition.3]"""
    secret = rng.below(2**256).to_bytes(32, "little")
    if table.people is not None:
        names = [_bytes(key(entry)) for entry in column(table.people)]
        digests: Sequence[bytes] = [_digest(secret, name) for name in names]
    else:
        seen: Counter[bytes] = Counter()
        digests = []
        for content in table.contents():
            once = _digest(secret, content)
            seen[once] += 1
            digests.append(_digest(secret, once + seen[once].to_bytes(8, "little")))  # [partition.3]
    words = np.frombuffer(b"".join(digests), dtype=np.uint64).reshape(-1, 2)
    where: Integers = (words[:, 0] % np.uint64(parts)).astype(np.int64)
    if table.people is not None:
        return where, None
    order: Integers = np.lexsort((words[:, 0], words[:, 1], where)).astype(np.int64)  # [partition.3]
    return where, order


def _digest(secret: bytes, content: bytes) -> bytes:
    return hashlib.blake2b(content, key=secret, digest_size=16).digest()


def _bytes(canonical: Any) -> bytes:
    return repr(canonical).encode("utf-8", "backslashreplace")
