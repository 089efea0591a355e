"""Blocks of people that do not depend on anybody's data: one person is in one block, whatever the block holds.

Promise
    [partition.1] Under REPLACE, one row a person: blocks are slots of a public shuffle of positions. Replacing a row
          changes the content of one block; the number of blocks, their sizes and every other block stay bit for bit.
    [partition.2] Under REPLACE with `unit`: the number of people is public, what they hold is not, nor how many rows.
          People are in the order of a keyed hash of their names, and a block is fixed by the place in that order, so
          that blocks differ by one person at most. Replacing all rows of a person by other rows of the same person
          changes one block; by rows of another who was not there, it has, in distribution, the effect of changing one.
          The key is fresh and is not released.
    [partition.3] Under ADD_OR_REMOVE: a block is a keyed hash of the person, or of the row where a row is a person.
          Adding or removing one changes the content of one block. The number of blocks is declared, never read off the
          data.
    [partition.4] Which block a person is in does not depend on the order of the rows or of the files they are in.
    [partition.5] With `unit`, in a table whose source does not keep its rows in order: the rows of a block are in an
          order that follows from a fresh key and from what each row and the name of its person are, so that the rows
          of other people are in the same order in neighbouring tables, however either was read.
Why
    [partition.1] Position i goes to slot s(i), s a permutation drawn without reading data; slot t belongs to a block
    fixed by t, n and k. Rows keep their order within a block, and carry no label of their place (a frame's index is
    dropped).
    [partition.2] The order of people is a function of the key and of who is there, not of what they hold. Let S be the
    other people and a the one replaced by b. Under a secret key the hashes of different people are independent and
    uniform ([person_hash.1]). Give b the value of a: this is a bijection of the values of S + {a} and those of S + {b},
    of equal weight, under which everybody of S keeps a value and so a place, and b has the place of a. So the two
    distributions are mixtures, with equal weights, of pairs that differ in the block of that place alone: the others
    hold the same rows in the same order, that of the table. If every pair is (epsilon, delta)-close so are the
    mixtures. A key that is known would break this, for then a new name may move others. Equal hashes of 128 bits would
    too: their chance, below n^2 / 2^128, is smaller than that of guessing the key of any draw.
    [partition.3] The hash is a function of the key and the person alone, so everybody else stays. Where a row is a
    person, equal rows are told apart by counting them, c(1), ..., c(m): to remove one is to remove c(m), as a block
    lists its rows in the order of their hashes and not in that of the table. Equal rows are those of equal bytes: of a
    number its own, of a date its microseconds, else each entry packed so that it can be had back (Table.contents). So
    equal rows are alike bit for bit. Numbers and dates have these bytes in a column of objects too, where
    [block_table.1] has made 1, 1.0 and True one, and None and NaN: how a row is read depends on itself alone, not on
    the odd entry of another that makes objects of a column. (An entry that cannot be packed stands for all that
    show the same type and text; of those the promise is for what they show.) BLAKE2b with 128 bits: two different rows
    share a hash with a chance below n^2 / 2^128.
    [partition.4] With `unit` the block follows from the names alone, by [partition.2] and [partition.3]. Where a row is
    a person, under ADD_OR_REMOVE, from what the rows hold; under REPLACE a person is a place in the table.
    [partition.5] Rows of a half block are sorted by the keyed hash of their bytes, those of equal hashes by that of
    their person's name, which is a function of one row each; rows that agree in both are of equal bytes and of one
    person. So each of two rows is before the other, or they are alike, whatever other rows there are. Under REPLACE the
    stranger has the hash of the one replaced ([partition.2]), and other bytes: others keep their order.
Needs
    unit: everybody has at least one row. A missing name is a name: all rows without one are one person's. (A table's
    rows without a name are left out before.)
Source
    Nissim, Raskhodnikova and Smith 2007, where blocks are by position; hashing rows under REPLACE would move two.
"""

import hashlib
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.mechanism import Randomness
from discreet.subsample.block_table import BlockTable, owners
from discreet.tables.entries import column
from discreet.tables.exchange import share
from discreet.tables.person_hash import Words, name_words

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Blocks:
    """A table in blocks of 2 or 4 `parts` each: part h has the rows from edges[h] to edges[h + 1].

    They may be some of `of` blocks, from the one with the number `first` on.
    """

    table: BlockTable
    edges: Integers
    parts: int = 2
    first: int = 0
    of: int | None = None

    @property
    def count(self) -> int:
        """How many blocks there are."""
        return (len(self.edges) - 1) // self.parts

    @property
    def total(self) -> int:
        """How many there are with those that are elsewhere."""
        return self.count if self.of is None else self.of

    def within(self, first: int, last: int) -> tuple["Blocks", int, int]:
        """What holds the blocks from `first` up to `last`, and their numbers there."""
        return self, first, last

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
    """How many people there are; private."""
    return table.rows if table.people is None else int(codes(table.people).max(initial=-1)) + 1


def partition(table: BlockTable, blocks: int, neighbours: Neighbours, rng: Randomness, parts: int = 2) -> Blocks:
    """The table in blocks of whole people, copied once, each in 2 or 4 parts."""
    order = None
    if table.people is not None:
        names, key = column(table.people), secret(rng)
        where = _by_name(names, blocks, neighbours, key, parts)
        if not table.ordered:
            order = row_order(table, where, key, name_words(names, key)[0])  # [partition.5]
    elif neighbours is Neighbours.ADD_OR_REMOVE:
        where, order = _by_content(table, parts * blocks, secret(rng))  # [partition.3]
    else:
        where = slot_parts(rng.permutation(table.rows), table.rows, blocks, parts)  # [partition.1]
    return cut(table, where, blocks, parts, order)


def cut(table: BlockTable, where: Integers, blocks: int, parts: int, order: Integers | None = None) -> Blocks:
    """The table by the part that each row is in."""
    edges = np.concatenate([[0], np.cumsum(np.bincount(where, minlength=parts * blocks))]).astype(np.int64)
    return Blocks(table.scattered(where, edges, order), edges, parts)


def secret(rng: Randomness) -> bytes:
    """A fresh key: drawn without reading data, and never released. [partition.2]"""
    return rng.below(2**256).to_bytes(32, "little")


def _by_name(names: npt.NDArray[Any], blocks: int, neighbours: Neighbours, key: bytes, parts: int) -> Integers:
    """The part of each row, by its person. [partition.4]"""
    if neighbours is Neighbours.ADD_OR_REMOVE:
        return share(name_words(names, key), parts * blocks)  # [partition.3]
    people = owners(names)
    places = hash_order(name_words(names[firsts(people)], key, 2))
    return slot_parts(places, len(places), blocks, parts)[people]  # [partition.2]


def firsts(people: Integers) -> Integers:
    """Where each person comes first, by number."""
    found: Integers = np.unique(people, return_index=True)[1]
    return found


def hash_order(words: Words) -> Integers:
    """The place of each in the order of the hashes. [partition.2]"""
    places = np.empty(words.shape[1], dtype=np.int64)
    places[np.lexsort((words[1], words[0]))] = np.arange(words.shape[1])
    return places


def slot_parts(slots: Integers, count: int, blocks: int, parts: int = 2) -> Integers:
    """The part of each slot: blocks of count // k or one more, each in two halves, or these again. [partition.1]"""
    where: Integers = np.searchsorted(slot_edges(count, blocks, parts)[1:], slots, side="right")
    return where


def slot_edges(count: int, blocks: int, parts: int = 2) -> Integers:
    """The slots at which the parts of all blocks begin, and where the last one ends."""
    size, larger = divmod(count, blocks)
    lengths = np.full((blocks, 1), size)
    lengths[:larger] += 1
    while lengths.shape[1] < parts:
        lengths = np.stack([(lengths + 1) // 2, lengths // 2], axis=2).reshape(blocks, -1)
    return np.concatenate([[0], np.cumsum(lengths.ravel())]).astype(np.int64)


def codes(people: Any) -> Integers:
    """Each row's person as a number, in the order of first appearance."""
    return owners(column(people))


def _by_content(table: BlockTable, parts: int, key: bytes) -> tuple[Integers, Integers]:
    """The part of each row, where a row is a person, and the order of the rows in it. [partition.3]"""
    seen: Counter[bytes] = Counter()
    digests = []
    for content in table.contents():
        once = _digest(key, content)
        seen[once] += 1
        digests.append(_digest(key, once + seen[once].to_bytes(8, "little")))  # [partition.3]
    first, second = _words(digests)
    where: Integers = (first % np.uint64(parts)).astype(np.int64)
    return where, np.lexsort((first, second, where)).astype(np.int64)  # [partition.3]


def row_order(table: BlockTable, where: Integers, key: bytes, *names: npt.NDArray[np.uint64]) -> Integers:
    """The order of the rows in their parts: by what they hold, then by their persons' hashes, then as they come.
    [partition.5]"""
    words = _words([_digest(key, content) for content in table.contents()])
    return np.lexsort((*names, *words, where)).astype(np.int64)  # [partition.5]


def _words(digests: list[bytes]) -> Words:
    return np.frombuffer(b"".join(digests), dtype=np.uint64).reshape(-1, 2).T


def _digest(key: bytes, content: bytes) -> bytes:
    return hashlib.blake2b(content, key=key, digest_size=16).digest()


def check_blocks(blocks: object, people: int | None) -> None:
    """A whole number that the people can fill, or "auto"."""
    if isinstance(blocks, str) and blocks == "auto":
        return
    if isinstance(blocks, bool) or not isinstance(blocks, int | np.integer):
        raise BadInput(f"blocks is {blocks!r}; give a whole number or 'auto'")
    if blocks < 1 or (people is not None and blocks > people):
        raise BadInput(f"blocks is {blocks}; give 1 to as many as there are people")
