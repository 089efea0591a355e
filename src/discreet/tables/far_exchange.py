"""All rows of a person together on an engine: parts are cut where they are, and buckets stay where they are made.

Promise
    [far_exchange.1] What [exchange.1] says: every row that has a person is in exactly one bucket, all rows of a person
          in the same one, in the order of (part, place), whatever order segments arrive in, come twice, or are made
          again. If a row is missing or is there twice, there is BadInput with a fixed sentence.
    [far_exchange.2] Which bucket, and which block, a person is in is a function of the key and of the person alone
          (under REPLACE of the others' names too, [partition.2]), not of the worker, of the try or of the time.

Why
    [far_exchange.1] A part is cut into one segment a bucket, which carries the number of the part, that of each row,
    and how many rows the part has. A bucket uses the first segment of each part, by number, and puts the rows in the
    order of their numbers. It then knows how many rows the parts that it heard of have together; that must be all rows
    of the table, for each bucket, and each must be there.
    [far_exchange.2] The key is drawn on the driver, once, before anything is read, and travels inside the kernel. A
    segment that is cut again is cut by the same key. So all that a cluster decides, which copy is used, when and where,
    has no part in the values that the proof of [partition.2] and [partition.3] pairs: under equal keys two neighbours'
    buckets differ in the rows of one person, or of two with the same place.
"""

import pickle
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np

from discreet.errors import BadInput
from discreet.tables.cells import Column
from discreet.tables.exchange import BUCKETS, ROW, Integers, Into, bucket_of, cut, segment, together
from discreet.tables.frames import Piece
from discreet.tables.placed import Columns, Placed, opened
from discreet.tables.streams import CHANGED, Merge, R

LONG: Final = 2**18  # rows of a bucket, about
PLACES: Final = 2**32  # rows of a part, at most: a row's number is that of its part times this, and its place
PARTS: Final = 2**21  # at most: numbers of rows are exact as floats


def exchanges(source: Any) -> bool:
    """Whether a table is where an engine can bring rows of a person together."""
    return isinstance(source, Placed) and hasattr(source.engine, "exchange") and bool(source.size())


@dataclass(frozen=True, slots=True)
class FarExchanged:
    """The rows of a table in buckets of whole people, on an engine: what was made of each bucket is kept there."""

    engine: Any
    parts: Any  # the buckets, as what the engine folds
    count: int
    rows: int  # of the table

    def fold(self, kernel: Callable[[Any], R], merge: Merge[R]) -> R:
        """The kernel of what is kept of each bucket, merged. [far_exchange.1]"""
        heard, found = self.engine.fold(partial(_worked, kernel), partial(_both, merge), self.parts) or ({}, None)
        return self._whole(heard, found)  # type: ignore[no-any-return]

    def each(self, work: Callable[[Any], R]) -> list[R]:
        """What `work` makes of each bucket, there, by number."""
        return self.numbered(partial(_unnumbered, work))

    def numbered(self, work: Callable[[int, Any], R]) -> list[R]:
        """The same; it is told the number."""
        found = self.engine.fold(partial(_numbered, work), _joined, self.parts) or {}
        heard = {number: rows for number, (rows, _) in found.items()}
        return [one for _, (_, one) in sorted(self._whole(heard, found).items())]

    def buckets(self) -> Iterator[Piece]:
        """The columns of all buckets, brought here one by one."""
        for number in range(self.count):
            yield partial(self.brought, number)

    def brought(self, number: int) -> dict[str, Column]:
        """The columns of a bucket, brought here."""
        parts = [self.parts[number]] if isinstance(self.parts, list) else self.parts
        found = self.engine.fold(partial(_only, number), _joined, parts) or {}
        if found.get(number, (None,))[0] != self.rows:  # [far_exchange.1]
            raise BadInput(CHANGED)
        return found[number][1]  # type: ignore[no-any-return]

    def _whole(self, heard: dict[int, int], found: Any) -> Any:
        if heard != dict.fromkeys(range(self.count), self.rows):  # [far_exchange.1]
            raise BadInput(CHANGED)
        return found

    def again(self, work: Callable[[int, Any], tuple[Any, Integers]], rows: int, buckets: int) -> "FarExchanged":
        """The same rows in other buckets: `work` makes columns, and a bucket for each row, of each bucket."""
        cutting = partial(_cut_again, work=work, buckets=buckets)
        parts = self.engine.exchange(cutting, partial(_bucket, then=as_it_is), self.parts, buckets)
        return FarExchanged(self.engine, parts, buckets, rows)


def far_exchange(
    source: Placed,
    question: Any,
    key: bytes,
    *,
    buckets: int | None = None,
    into: Into | None = None,
    then: Callable[[Any], Any] | None = None,
) -> FarExchanged:
    """The rows of a question in buckets, by person, on the engine, where what `then` makes of each is kept.

    How many buckets there are follows from the number of rows, and decides nothing. [exchange.2]
    """
    rows = source.size() or 0
    count = max(1, min(BUCKETS, -(-rows // LONG))) if buckets is None else buckets
    whose = (question.owner, question.kinds[question.owner], key, count, into)
    cutting = partial(_cut_part, columns=tuple(question.reads), written=dict(source.written), whose=whose)
    make = partial(_bucket, then=as_it_is if then is None else then)
    engine: Any = source.engine
    parts = engine.exchange(cutting, make, source.parts(question.reads), count)  # [far_exchange.2]
    return FarExchanged(engine, parts, count, rows)


def _cut_part(part: Any, *, columns: Any, written: Mapping[str, str], whose: Any) -> list[bytes]:
    """On a worker: the segments of a part, one a bucket. [far_exchange.1]"""
    owner, kind, key, buckets, into = whose
    made = ((piece, bucket_of(piece[owner], kind, key, buckets, into)) for piece in opened(part, columns, written))
    return _segments(part.number, made, buckets)


def _cut_again(part: Any, *, work: Callable[[int, Any], tuple[Columns, Integers]], buckets: int) -> list[bytes]:
    """On a worker: the same of a bucket, whose rows have numbers already."""
    ((_, kept),) = part.read()
    return _segments(part.number, iter([work(part.number, kept)]), buckets)


def _segments(number: int, pieces: Iterator[tuple[Columns, Integers]], buckets: int) -> list[bytes]:
    start, made = 0, []
    for columns, where in pieces:
        own = columns.get(ROW)
        done = cut({name: column for name, column in columns.items() if name != ROW}, where, buckets)
        rows = [None] * buckets if own is None else [own[where == bucket] for bucket in range(buckets)]
        made.append((start, done, rows))
        start += len(where)
    if number >= PARTS or start >= PLACES:
        raise ValueError("too many rows")
    return [
        pickle.dumps(
            (number, start, [(begin, _segment(done, bucket), rows[bucket]) for begin, done, rows in made]), protocol=5
        )
        for bucket in range(buckets)
    ]


def _segment(done: Any, bucket: int) -> Any:
    objects = done.objects[bucket] if done.objects else None
    return done.segments[bucket].to_pybytes(), done.schema.serialize().to_pybytes(), done.arrays, objects


def _bucket(segments: list[bytes], *, then: Callable[[Any], Any]) -> tuple[int, Any]:
    """On a worker: how many rows the parts have that a bucket heard of, and what is kept of it. [far_exchange.1]"""
    from pyarrow import ipc, py_buffer

    seen: dict[int, Any] = {}
    for raw in segments:
        number, rows, pieces = pickle.loads(raw)  # noqa: S301  made by our own kernel
        seen.setdefault(number, (rows, pieces))  # [far_exchange.1]
    read = []
    for number, (_, pieces) in sorted(seen.items()):
        for start, (data, schema, arrays, objects), rows in pieces:
            known = ipc.read_schema(py_buffer(schema))
            found = segment(data, known, arrays, objects, float(number) * PLACES + start)
            read.append(found if rows is None else {**found, ROW: rows})
    columns = {name: together([one[name] for one in read]) for name in (read[0] if read else ())}
    return sum(rows for rows, _ in seen.values()), then(ordered(columns))


def ordered(columns: dict[str, Column]) -> dict[str, Column]:
    """Rows in the order of their numbers. [far_exchange.1]"""
    if ROW not in columns or bool((np.diff(columns[ROW]) > 0).all()):
        return columns
    order = np.argsort(columns[ROW])
    return {name: column.take(order) for name, column in columns.items()}


def as_it_is(columns: Any) -> Any:
    """All of them."""
    return columns


def _worked(kernel: Callable[[Any], R], part: Any) -> tuple[dict[int, int], R]:
    ((rows, kept),) = part.read()
    return {part.number: rows}, kernel(kept)


def _numbered(work: Callable[[int, Any], R], part: Any) -> dict[int, tuple[int, R]]:
    ((rows, kept),) = part.read()
    return {part.number: (rows, work(part.number, kept))}


def _unnumbered(work: Callable[[Any], R], _: int, kept: Any) -> R:
    return work(kept)


def _only(number: int, part: Any) -> dict[int, tuple[int, Any]]:
    return _numbered(partial(_unnumbered, as_it_is), part) if part.number == number else {}


def _joined(one: dict[int, Any], other: dict[int, Any]) -> dict[int, Any]:
    return one | other


def _both(merge: Merge[R], one: tuple[dict[int, int], R], other: tuple[dict[int, int], R]) -> tuple[dict[int, int], R]:
    return one[0] | other[0], merge(one[1], other[1])
