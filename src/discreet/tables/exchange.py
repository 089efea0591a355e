"""All rows of a person together: rows go to buckets by a keyed hash of their person, and a bucket fits into memory.

Promise
    [exchange.1] Every row that has a person is in exactly one bucket, and all rows of a person are in the same one, in
          the order of (part, place), whatever order they arrived in.
    [exchange.2] What is made of each person's rows, put in the order of the people's first rows, is the same whatever
          the key, the number of buckets and the limit of memory are.
    [exchange.3] No file is left behind, whatever ends the process, and no other user can read one.

Why
    [exchange.1] The bucket is a function of the key and the person ([person_hash.1]). Each part is cut into one segment
    a bucket by a stable sort, and a bucket lists its segments by the number of their part.
    [exchange.2] By [exchange.1] a person's rows are the same, in the same order, in whichever bucket they are, beside
    the same numbers of rows (ROW); these tell the order of people. Segments come back from disk as they went there.
    [exchange.3] Up to HELD bytes are held in memory. More go to a file of the operating system that has no name, or
    loses it when it is made, with the rights of its owner alone: the system removes it with the last process that has
    it open.

The key keeps buckets of one size, whatever names people have. No answer depends on it ([exchange.2]); where it decides
on blocks, it is drawn as all chance is ([partition.2]).

Needs
    Room for temporary files (TMPDIR says where): the columns of a question once, 8 bytes a number, and 4 bytes a row.
"""

import os
import pickle
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, BinaryIO, Final

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput, DiscreetError
from discreet.privacy.declaration import Kind
from discreet.tables import entries
from discreet.tables.cells import Column, is_arrow, joined, pa
from discreet.tables.frames import Piece, in_order
from discreet.tables.person_hash import Words, owner_words

Integers = npt.NDArray[np.int64]
Into = Callable[[Words], Integers]  # the bucket of each row, by the first word of its person
BUCKETS: Final = 128
HELD: Final = 2**28  # bytes that are held in memory before they go to disk
ROW: Final = "\0row"  # the number of each row in the table, as a column of a bucket
HALF: Final = np.uint64(32)


def share(words: Words, many: int) -> Integers:
    """Which of `many` equal parts of all hashes each first word is in: a larger one is in no earlier part."""
    found: Integers = (((words[0] >> HALF) * np.uint64(many)) >> HALF).astype(np.int64)
    return found


def new_key() -> bytes:
    """A key for what does not depend on it. [exchange.2]"""
    return os.urandom(32)


class Spill:
    """Segments of bytes: in memory up to `limit`, then in a file without a name. [exchange.3]

    >>> spill = Spill(limit=4)
    >>> [spill.add(b"abc"), spill.add(b"defg")], spill.get(0), spill.get(1), spill.on_disk
    ([0, 1], b'abc', b'defg', True)
    """

    def __init__(self, limit: int) -> None:
        self._limit, self._size = limit, 0
        self._held: list[Any] = []  # bytes, or where they are in the file
        self._file: BinaryIO | None = None

    @property
    def on_disk(self) -> bool:
        """Whether there is a file."""
        return self._file is not None

    def add(self, segment: Any) -> int:
        """Keep a segment; its number."""
        self._held.append(segment)
        self._size += len(segment)
        if self._file is not None:
            self._write(len(self._held) - 1)
        elif self._size > self._limit:
            self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115  [exchange.3]
            weakref.finalize(self, self._file.close)
            for number in range(len(self._held)):
                self._write(number)
        return len(self._held) - 1

    def _write(self, number: int) -> None:
        assert self._file is not None
        view, start = memoryview(self._held[number]).cast("B"), self._file.tell()
        while view:
            view = view[self._file.write(view) :]
        self._held[number] = (start, self._file.tell() - start)

    def get(self, number: int) -> bytes:
        """A segment, as it was; of a file at a place of its own, so that threads and forked processes may."""
        found = self._held[number]
        if not isinstance(found, tuple):
            return bytes(found)
        assert self._file is not None
        start, length = found
        if hasattr(os, "pread"):
            return _read(self._file.fileno(), start, length)
        with _ONE:
            self._file.seek(start)
            return self._file.read(length)


_ONE: Final = threading.Lock()


def _read(file: int, start: int, length: int) -> bytes:
    parts, had = [], 0
    while had < length:
        part = os.pread(file, length - had, start + had)
        if not part:
            raise OSError("cut short")
        parts.append(part)
        had += len(part)
    return b"".join(parts)


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of the table, cut: its segments by bucket, and how they are written."""

    start: int  # the number of its first row
    schema: Any
    arrays: frozenset[str]  # columns that came as arrays of numpy
    segments: Sequence[int]
    objects: Sequence[int]  # segments of what Arrow does not hold, if there is any


@dataclass(frozen=True, slots=True)
class Exchanged:
    """The rows of a table in `count` buckets of whole people."""

    spill: Spill
    parts: list[_Part]
    count: int

    def bucket(self, *numbers: int) -> dict[str, Column]:
        """The columns of a bucket, or of several, in the order of the table, with the rows' numbers as ROW.
        [exchange.1]"""
        read = [self._segment(part, number) for part in self.parts for number in numbers]
        found = {name: together([columns[name] for columns in read]) for name in (read[0] if read else ())}
        if len(numbers) == 1 or not read:
            return found
        order = np.argsort(found[ROW])
        return {name: column.take(order) for name, column in found.items()}

    def _segment(self, part: _Part, number: int) -> dict[str, Column]:
        more = self.spill.get(part.objects[number]) if part.objects else None
        return segment(self.spill.get(part.segments[number]), part.schema, part.arrays, more, float(part.start))

    def buckets(self) -> Iterator[Piece]:
        """All of them, each by a call."""
        for number in range(self.count if self.parts else 0):
            yield lambda number=number: self.bucket(number)  # type: ignore[misc]


def exchange(
    parts: Iterator[Piece],
    person: str,
    kind: Kind,
    *,
    key: bytes,
    buckets: int = BUCKETS,
    into: Into | None = None,
    error: DiscreetError,
    limit: int | None = None,
) -> Exchanged:
    """The rows of all parts in buckets, by the person that the column `person`, of a declared kind, names.

    Rows without a person are nobody's, and left out. `into` chooses the bucket by the first word of the hash; without
    it buckets are equal shares of the hashes. More than `limit` bytes go to disk.
    """

    def work(columns: Mapping[str, Column]) -> tuple[int, "Cut"]:
        where = bucket_of(columns[person], kind, key, buckets, into)
        return len(where), cut(columns, where, buckets)

    spill, found, rows = Spill(HELD if limit is None else limit), [], 0
    for length, done in in_order(parts, work, error):
        try:
            kept = [list(map(spill.add, segments)) for segments in (done.segments, done.objects)]
        except OSError:
            raise BadInput(
                "there is no room for temporary files, in which rows of the same person are brought together; set "
                "TMPDIR to a folder with room for the columns of the question, 8 bytes a number, and ask again"
            ) from None
        found.append(_Part(rows, done.schema, done.arrays, *kept))
        rows += length
    return Exchanged(spill, found, buckets)


def bucket_of(ids: Column, kind: Kind, key: bytes, buckets: int, into: Into | None) -> Integers:
    """The bucket of each row by its person; of nobody's rows the number of buckets. [exchange.1]"""
    words, there = owner_words(ids, kind, key)
    return np.where(there, share(words, buckets) if into is None else into(words), buckets)


@dataclass(frozen=True, slots=True)
class Cut:
    """The segments of some rows by bucket, and how they are written."""

    schema: Any
    arrays: frozenset[str]
    segments: list[Any]
    objects: list[bytes]


def cut(columns: Mapping[str, Column], where: Integers, buckets: int) -> Cut:
    """The rows of a part, bucket by bucket, in their order; those of nobody are left out. [exchange.1]"""
    few = where.astype(np.uint16) if buckets < 2**16 else where
    order = np.argsort(few, kind="stable")  # a radix sort: linear
    edges = np.searchsorted(few[order], np.arange(buckets + 1)).tolist()
    kept = order[: edges[-1]]
    plain, objects, arrays = {ROW: pa.array(kept.astype(np.uint32))}, {}, []
    for name, column in columns.items():
        if is_arrow(column):
            plain[name] = column.take(pa.array(kept))
        elif column.dtype.kind in "biuf" and column.ndim == 1:
            plain[name] = pa.array(column[kept], from_pandas=False)
            arrays.append(name)
        else:
            objects[name] = column[kept]
    batch = pa.record_batch(list(plain.values()), names=list(plain))
    ends = list(pairwise(edges))
    return Cut(
        batch.schema,
        frozenset(arrays),
        [batch.slice(start, stop - start).serialize() for start, stop in ends],
        [pickle.dumps({name: one[start:stop] for name, one in objects.items()}) for start, stop in ends if objects],
    )


def segment(raw: bytes, schema: Any, arrays: frozenset[str], objects: bytes | None, start: float) -> dict[str, Column]:
    """The columns of a segment, whose rows were counted from `start`."""
    batch = pa.ipc.read_record_batch(pa.py_buffer(raw), schema)
    found = {name: batch.column(name) for name in schema.names}
    found |= {name: found[name].to_numpy(zero_copy_only=False) for name in arrays}
    found[ROW] = found[ROW].to_numpy() + start
    return found if objects is None else found | pickle.loads(objects)  # noqa: S301  our own: [exchange.3]


def together(columns: list[Column]) -> Column:
    """The entries of all, one column after another."""
    if all(is_arrow(column) for column in columns):
        return joined(columns)
    return np.concatenate([entries.column(column) if is_arrow(column) else column for column in columns])
