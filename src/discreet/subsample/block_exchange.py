"""Blocks of a table that is too long to hold: some at a time are brought together, with all rows of their people.

Promise
    [block_exchange.1] Every block, by its number, holds the same rows in the same order as `partition` of the whole
          table gives it, under the same key; every number is there exactly once.

Why
    [block_exchange.1] Under ADD_OR_REMOVE the block is a function of the key and the person, and so is the bucket, a
    range of blocks: a bucket holds all rows of its blocks ([exchange.1]). Under REPLACE a bucket is a range of hashes,
    and those of lower buckets come before: the place of a person in the order of hashes is the number of people in
    lower buckets and the place within the bucket. Blocks that reach into the next buckets are read with these. Rows of
    a bucket, or of several by their numbers, are in the order of the table; where that has none, [partition.5].
    On an engine a bucket has the blocks of one task: under REPLACE rows are brought together twice, for the number of
    people first. Every bucket must be there, once ([far_exchange.1]), and with them every block.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

from discreet.privacy.guarantee import Neighbours
from discreet.privacy.mechanism import Randomness
from discreet.subsample.block_table import BlockTable
from discreet.subsample.partition import (
    Blocks,
    Integers,
    cut,
    firsts,
    hash_order,
    partition,
    row_order,
    secret,
    slot_edges,
    slot_parts,
)
from discreet.tables.apart import Apart, with_numbers
from discreet.tables.cells import Column, owners
from discreet.tables.exchange import BUCKETS, ROW, share
from discreet.tables.far_exchange import FarExchanged
from discreet.tables.frames import in_order
from discreet.tables.person_hash import Words, owner_words

R = TypeVar("R")
PART: Final = "\0part"  # the part that each row is in, as a column of a bucket
Arranged = Callable[[dict[str, npt.NDArray[Any]], npt.NDArray[Any]], BlockTable]


@dataclass(frozen=True, slots=True)
class FarTable:
    """Rows of very many people: `schema` has none of them, and says what they are like."""

    schema: BlockTable
    apart: Apart
    arranged: Arranged  # columns by name, and whose each row is, as a table of blocks

    def near(self, columns: Mapping[str, Column]) -> tuple[BlockTable, Integers]:
        """The rows of a bucket that are asked for, and their parts where the bucket tells them."""
        apart = self.apart
        names = [want.name for want in apart.question.wants]
        if PART in columns:
            apart = replace(apart, question=with_numbers(apart.question, PART))
        found, people = apart.owned(columns)
        where = found.pop() if PART in columns else np.empty(0)
        return self.arranged(dict(zip(names, found, strict=True)), people), where.astype(np.int64)

    def sent(self) -> "FarTable":
        """What a worker needs of it."""
        return replace(self, apart=replace(self.apart, parts=_nothing, far=None))

    def tables(self) -> Iterator[BlockTable]:
        """All rows, some people at a time."""
        for table, _ in in_order(self.apart.exchanged().buckets(), self.near, self.apart.error):
            yield table


def _nothing() -> Iterator[Any]:
    return iter(())


def tables_of(table: BlockTable | FarTable) -> Iterator[BlockTable]:
    """All rows of a table, people whole, in as many tables as it takes."""
    return table.tables() if isinstance(table, FarTable) else iter([table])


@dataclass(frozen=True, slots=True)
class FarBlocks:
    """Blocks that are read when they are worked on, `parts` of each: those of one task together."""

    table: BlockTable  # the schema
    parts: int
    starts: Integers  # the first block of each task, and the number of blocks
    load: Callable[[int, int], Blocks]  # the blocks from one number up to another
    last: list[Blocks] = field(default_factory=list)  # those that were worked on
    there: FarExchanged | None = None  # buckets on an engine, one for each task
    cutting: Callable[[Mapping[str, Column], tuple[int, int]], Blocks] | None = None  # how blocks are cut there

    def each(self, work: "Callable[[FarBlocks, list[int]], R]") -> list[R]:
        """What `work` makes of the blocks of each task, and their numbers, on the engine. [block_exchange.1]"""
        assert self.there is not None
        return self.there.numbered(partial(_task, replace(self, load=_not_here, last=[], there=None), work))

    @property
    def count(self) -> int:
        """How many blocks there are."""
        return int(self.starts[-1])

    @property
    def tasks(self) -> list[list[int]]:
        """The numbers of all blocks, those together that are read together. [block_exchange.1]"""
        return [list(range(start, stop)) for start, stop in pairwise(self.starts.tolist()) if start < stop]

    def within(self, first: int, last: int) -> tuple[Blocks, int, int]:
        """What holds the blocks from `first` up to `last`, of one task, and their numbers there."""
        if not (self.last and self.last[0].first <= first and last <= self.last[0].first + self.last[0].count):
            self.last.clear()
            task = int(np.searchsorted(self.starts, first, side="right")) - 1
            self.last.append(self.load(int(self.starts[task]), int(self.starts[task + 1])))
        blocks = self.last[0]
        return blocks, first - blocks.first, last - blocks.first

    def block(self, number: int) -> tuple[BlockTable, int]:
        """What an estimator is given of a block, and where its second half begins. [block_table.2]"""
        blocks, own, _ = self.within(number, number + 1)
        return blocks.block(own)

    def cuts(self, number: int) -> tuple[int, ...]:
        """Where the parts of a block begin and end, counted from its own first row."""
        blocks, own, _ = self.within(number, number + 1)
        return blocks.cuts(own)


def blocks_of(
    table: BlockTable | FarTable, blocks: int, neighbours: Neighbours, rng: Randomness, parts: int
) -> Blocks | FarBlocks:
    """A table in blocks of whole people, each in 2 or 4 parts."""
    if isinstance(table, BlockTable):
        return partition(table, blocks, neighbours, rng, parts)
    key = secret(rng)  # the one draw, as `partition` has it
    far = table.apart.far is not None
    if neighbours is Neighbours.ADD_OR_REMOVE:
        return _by_hash(table, blocks, key, parts)
    return (_by_place_there if far else _by_place)(table, blocks, key, parts)


def _by_hash(table: FarTable, blocks: int, key: bytes, parts: int) -> FarBlocks:
    """[partition.3]"""
    buckets = min(BUCKETS, blocks)
    starts = _starts(blocks, buckets)
    into = partial(_bucket_of_block, parts=parts, blocks=blocks, buckets=buckets)
    done: Any = table.apart.exchanged(key, buckets=buckets, into=into)
    cutting = _Cutting(table.sent(), blocks, parts, key).by_key
    if isinstance(done, FarExchanged):
        return _there(table, parts, starts, done, cutting)

    def load(first: int, last: int) -> Blocks:
        return cutting(done.bucket(int(np.searchsorted(starts, first))), (first, last))

    return FarBlocks(table.schema, parts, starts, load)


def _starts(blocks: int, buckets: int) -> Integers:
    """The first block of each bucket, and the number of blocks."""
    found: Integers = -(-np.arange(buckets + 1) * blocks // buckets)
    return found


def _bucket_of_block(words: Words, *, parts: int, blocks: int, buckets: int) -> Integers:
    return share(words, parts * blocks) // parts * buckets // blocks


@dataclass(frozen=True, slots=True)
class _Cutting:
    """How the rows of a bucket are cut into blocks, there or here."""

    table: FarTable
    blocks: int
    parts: int
    key: bytes

    def by_key(self, columns: Mapping[str, Column], ends: tuple[int, int]) -> Blocks:
        """Some blocks, by the hash of each row's person. [partition.3]"""
        owner, kind = _owner(self.table)
        words, _ = owner_words(columns[owner], kind, self.key)
        where = share(words, self.parts * self.blocks)
        return _cut(self.table, columns, where, (*ends, self.blocks), (self.parts, self.key))

    def by_part(self, columns: Mapping[str, Column], ends: tuple[int, int]) -> Blocks:
        """Some blocks of rows whose parts are known. [partition.2]"""
        plain = {name: column for name, column in columns.items() if name != PART}
        where = np.asarray(columns[PART]).astype(np.int64)
        return _cut(self.table, plain, where, (*ends, self.blocks), (self.parts, self.key))

    def to_blocks(
        self, below: Integers, buckets: int, number: int, columns: Mapping[str, Column]
    ) -> tuple[dict[str, Column], Integers]:
        """On a worker: rows with their parts, and the task of each, where `below` people come before. [partition.2]"""
        owner, kind = _owner(self.table)
        who, _ = owners([columns[owner]], kind)
        words, _ = owner_words(columns[owner].take(firsts(who)), kind, self.key, 2)
        slots = below[number] + hash_order(words)
        where = slot_parts(slots, int(below[-1]), self.blocks, self.parts)[who]
        return {**columns, PART: where.astype(np.float64)}, where // self.parts * buckets // self.blocks


def _there(table: FarTable, parts: int, starts: Integers, done: FarExchanged, cutting: Any) -> FarBlocks:
    """Blocks on an engine, which can be brought here too."""

    def load(first: int, last: int) -> Blocks:
        task = int(np.searchsorted(starts, first, side="right")) - 1
        found: Blocks = cutting(done.brought(task), (first, last))
        return found

    return FarBlocks(table.schema, parts, starts, load, there=done, cutting=cutting)


def _task(
    blocks: FarBlocks, work: Callable[[FarBlocks, list[int]], R], number: int, columns: Mapping[str, Column]
) -> R:
    """On a worker: what is made of the blocks of a task."""
    assert blocks.cutting is not None
    first, last = int(blocks.starts[number]), int(blocks.starts[number + 1])
    near = replace(blocks, last=[blocks.cutting(columns, (first, last))])
    return work(near, list(range(first, last)))


def _not_here(first: int, last: int) -> Blocks:
    raise ValueError("the blocks of another task")


def _by_place_there(table: FarTable, blocks: int, key: bytes, parts: int) -> FarBlocks:
    """[partition.2]: the rows of people by hash, then, as their places are known, by block."""
    done: Any = table.apart.exchanged(key)
    counts = list(table.apart.each(done, partial(_people_and_rows, *_owner(table))))
    below = np.concatenate([[0], np.cumsum([people for people, _ in counts])]).astype(np.int64)
    buckets = min(BUCKETS, blocks, done.count)
    cutting = _Cutting(table.sent(), blocks, parts, key)
    again = done.again(partial(cutting.to_blocks, below, buckets), sum(rows for _, rows in counts), buckets)
    return _there(table, parts, _starts(blocks, buckets), again, cutting.by_part)


def _people_and_rows(owner: str, kind: Any, columns: Mapping[str, Column]) -> tuple[int, int]:
    return owners([columns[owner]], kind)[1], len(columns[owner])


def _by_place(table: FarTable, blocks: int, key: bytes, parts: int) -> FarBlocks:
    """[partition.2]"""
    done: Any = table.apart.exchanged(key)
    owner, kind = _owner(table)

    def people(columns: Mapping[str, Column]) -> int:
        return owners([columns[owner]], kind)[1]

    counts = list(in_order(done.buckets(), people, table.apart.error))
    below = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)  # people in lower buckets
    size = int(below[-1])
    edges = slot_edges(size, blocks, parts)[::parts]  # the first place of each block
    starts = np.searchsorted(edges[:-1], below)
    starts[-1] = blocks

    def load(first: int, last: int) -> Blocks:
        low, high = (int(np.searchsorted(below, place, side="right")) - 1 for place in (edges[first], edges[last] - 1))
        columns = done.bucket(*range(low, max(low, high) + 1))
        who, _ = owners([columns[owner]], kind)
        words, _ = owner_words(columns[owner].take(firsts(who)), kind, key, 2)
        places = below[low] + hash_order(words)
        where = slot_parts(places, size, blocks, parts)[who]
        return _cut(table, columns, where, (first, last, blocks), (parts, key))

    return FarBlocks(table.schema, parts, starts, load)


def _owner(table: FarTable) -> tuple[str, Any]:
    question = table.apart.question
    return question.owner, question.kinds[question.owner]


def _cut(
    table: FarTable,
    columns: Mapping[str, Column],
    where: Integers,
    numbers: tuple[int, int, int],
    how: tuple[int, bytes],
) -> Blocks:
    """Some of the blocks, of the rows of the buckets that they are in. [block_exchange.1]"""
    (first, last, total), (parts, key) = numbers, how
    inside = np.flatnonzero((where >= parts * first) & (where < parts * last))
    if not table.schema.ordered:  # people by their hashes, as `row_order` leaves rows that hold the same
        owner, kind = _owner(table)
        inside = inside[np.argsort(owner_words(columns[owner].take(inside), kind, key)[0][0], kind="stable")]
    some = {name: column.take(inside) for name, column in columns.items() if name != ROW}
    near, own = table.near({**some, PART: (where[inside] - parts * first).astype(np.float64)})
    order = None if table.schema.ordered else row_order(near, own, key)  # [partition.5]
    return replace(cut(near, own, last - first, parts, order), first=first, of=total)
