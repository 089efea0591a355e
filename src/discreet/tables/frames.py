"""What every kind of table offers, and tables in memory: Arrow's, frames of pandas and polars, mappings of columns.

A table has names and kinds from its schema, and its rows in pieces, only the columns asked for. A piece is read when it
is called, so that a reader can pass over those it already has. Nothing that a library says of the data reaches the
user: whatever it raises becomes one sentence of ours about the source.
"""

import math
import os
import re
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, Final, Protocol, TypeAlias, TypeVar

import numpy as np

from discreet.errors import BadInput, DiscreetError
from discreet.privacy.declaration import Kind
from discreet.tables import entries as rows
from discreet.tables.cells import Column, Floats, is_arrow, kind_of, numbers, pa, plain, value
from discreet.tables.dates import day_of
from discreet.tables.streams import Stream

Piece: TypeAlias = Callable[[], Mapping[str, Column]]
T = TypeVar("T")
WORKERS: Final = max(1, min(4, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2))


class Source(Protocol):
    """A table somewhere."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in order."""
        ...

    @property
    def kinds(self) -> Mapping[str, Kind]:
        """What the schema declares."""
        ...

    @property
    def description(self) -> str:
        """Format and names, for provenance: no folder, no value."""
        ...

    @property
    def ordered(self) -> bool:
        """Whether each row has a place of its own, which a change of its values leaves as it is."""
        ...

    def size(self) -> int | None:
        """The number of rows, if that is written somewhere."""
        ...

    def pieces(self, columns: Sequence[str]) -> Iterator[Piece]:
        """The rows in order, each piece by a call."""
        ...


def guarded(work: Callable[[], T], error: DiscreetError) -> T:
    """What `work` gives; whatever it raises is replaced by `error`, which knows nothing of it."""
    try:
        return work()
    except DiscreetError:
        raise
    except Exception:  # noqa: BLE001, S110  its message may hold a value of the data
        pass
    raise error


def in_order(pieces: Iterator[Piece], work: Callable[[Mapping[str, Column]], T], error: DiscreetError) -> Iterator[T]:
    """`work` done on each piece, a few at a time, given in order; no more than one for each worker is held."""
    waiting: deque[Future[T]] = deque()
    first, piece = (guarded(lambda: next(pieces, None), error) for _ in range(2))
    if first is not None:
        yield _done(first, work, error)
    if piece is None:  # as most tables are: no thread is worth its while
        return
    pool = ThreadPoolExecutor(WORKERS)
    try:
        while piece is not None:
            waiting.append(pool.submit(_done, piece, work, error))
            if len(waiting) > WORKERS:
                yield waiting.popleft().result()
            piece = guarded(lambda: next(pieces, None), error)
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def _done(piece: Piece, work: Callable[[Mapping[str, Column]], T], error: DiscreetError) -> T:
    return guarded(lambda: work(piece()), error)


class Again:
    """The pieces of a stream, read as often as they are asked for: first those that are held, then the others anew.

    `answers` gives the pieces from some place on. A source that changed meanwhile is cut, or filled up with missing
    entries. [table.2]
    """

    def __init__(
        self, answers: Callable[[int], Iterator[list[Any]]], held: list[Floats], length: int, room: int
    ) -> None:
        self.answers, self.held, self.length, self.room = answers, held, length, room

    def __call__(self) -> Iterator[Floats]:
        """From the beginning."""
        given = 0
        for piece in self._pieces():
            given += (more := min(len(piece), self.length - given))
            yield piece[:more]
        while given < self.length:
            given += (more := min(ROWS, self.length - given))
            yield np.full(more, np.nan)

    def _pieces(self) -> Iterator[Floats]:
        begun = self.held[:]
        yield from begun
        held, holding = len(begun), sum(map(len, begun))
        for (piece,) in self.answers(held):
            if held == len(self.held) and holding + len(piece) <= self.room:
                self.held.append(piece)
                held, holding = held + 1, holding + len(piece)
            else:
                held = -1
            yield piece


def chunks(total: int, length: int) -> Iterator[tuple[int, int]]:
    """A range in pieces of a length."""
    for start in range(0, total, length):
        yield start, min(total, start + length)


def named(names: Sequence[Any], seen: str) -> tuple[str, ...]:
    """Names that can be asked for: texts, not empty, each once."""
    listed = [str(name) for name in names]
    twice = [name for name, times in Counter(listed).items() if times > 1]
    if twice or "" in listed or not listed:
        fault = f"has two columns called {twice[0]!r}" if twice else "has a column without a name"
        raise BadInput(
            f"{seen} {fault if listed else 'has no columns'}; each column needs a name of its own; rename them"
        )
    return tuple(listed)


ROWS: Final = 2**20  # rows of a piece
MICROSECONDS: Final = 86_400_000_000  # of a day
GUESSED: Final = re.compile(r"(str|category|datetime64|period|interval|Sparse)(\W|$)")  # pandas makes them unasked
SAID: Final[Mapping[Kind, Any]] = {  # how the names of types begin that say texts or dates
    "text": re.compile(r"(str|string|large_string|string_view|String)(\W|$)"),
    "category": re.compile(r"Categorical|Enum|dictionary<values=(large_)?string"),
    "date": re.compile(r"Date|date|timestamp"),
}
BY_LETTER: Final[Mapping[str, Kind]] = {"b": "boolean", "i": "integer", "u": "integer", "f": "number"}


@dataclass(frozen=True)
class Held:
    """Columns of one length that somebody holds: Arrow's, or what `discreet.tables.entries.column` takes."""

    held: Mapping[str, Any]
    _: KW_ONLY
    kinds: Mapping[str, Kind]
    length: int
    description: str
    ordered: bool = True

    @cached_property
    def names(self) -> tuple[str, ...]:
        """In their order."""
        return tuple(self.held)

    @cached_property
    def plain(self) -> frozenset[str]:
        """Which columns are arrays of numbers, or streams: nothing of them is cut."""
        return frozenset(name for name, column in self.held.items() if _is_plain(column))

    def size(self) -> int | None:
        """As it is held."""
        return self.length

    def pieces(self, columns: Sequence[str]) -> Iterator[Piece]:
        """Some rows each; arrays of numbers in one piece."""
        if set(columns) <= self.plain:
            yield lambda: {name: self.held[name] for name in columns}
            return
        for start, stop in chunks(self.length, ROWS) if self.length else [(0, 0)]:  # of no rows the shape is told too
            yield lambda start=start, stop=stop: {  # type: ignore[misc]
                name: plain(_part(self.held[name], start, stop)) for name in columns
            }


def _is_plain(column: Any) -> bool:
    return isinstance(column, Stream) or (isinstance(column, np.ndarray) and column.dtype.kind in "biuf")


def _part(column: Any, start: int, stop: int) -> Any:
    """Rows by place: pandas' own brackets would look for labels."""
    if is_arrow(column):
        return column.slice(start, stop - start)
    if hasattr(column, "to_arrow"):
        return _arrow_of(column.slice(start, stop - start))
    return getattr(column, "iloc", column)[start:stop]


def from_arrow(table: Any, description: str = "an Arrow table") -> Held:
    """A table or a batch of Arrow's."""
    names = named(table.schema.names, "the table")
    held = {name: table.column(place) for place, name in enumerate(names)}
    return Held(
        held,
        kinds={name: kind_of(column.type) for name, column in held.items()},
        length=table.num_rows,
        description=description,
    )


def from_pandas(frame: Any) -> Held:
    """A data frame of pandas; its index is no column."""
    names = named(list(frame.columns), "the data frame")
    held = {name: frame.iloc[:, place] for place, name in enumerate(names)}
    return Held(
        held,
        kinds={name: _kind(column) for name, column in held.items()},
        length=len(frame),
        description="a pandas data frame",
    )


def declared_type(column: Any) -> str:
    """The name of a column's declared type in whatever library; "" where there is none. No entry is read.
    [entries.2]"""
    found = _type(column)
    in_polars = type(column).__module__.partition(".")[0] == "polars"
    name = "" if isinstance(found, np.dtype) or in_polars else str(found)
    return "" if GUESSED.match(name) else name


def _type(column: Any) -> Any:
    if hasattr(type(column), "columns"):  # a frame has none, but its columns may be called so
        return ""
    return getattr(column, "dtype", getattr(column, "type", ""))


def said_kind(column: Any) -> Kind:
    """What the type of a column says, in whatever library, if it says texts or dates. No entry is read.
    [entries.2]"""
    found = _type(column)
    letter = str(getattr(found, "kind", ""))
    if letter in ("U", "S", "T", "M"):
        return "date" if letter == "M" else "text"
    listed: Any = getattr(found, "categories", None)  # of pandas: part of the type
    if hasattr(listed, "inferred_type"):
        return "category" if listed.inferred_type == "string" else "unknown"
    return next((kind for kind, beginning in SAID.items() if beginning.match(str(found))), "unknown")


def check_numbers(column: Any) -> None:
    """Refuse a column whose type says texts or dates where numbers are needed. [entries.2]"""
    found = said_kind(column)
    if found != "unknown":
        held, said = "dates" if found == "date" else "texts", _type(column)
        said = said.type.__name__ if isinstance(said, np.dtype) else said  # without the length of the longest text
        raise BadInput(f"the data are declared to hold {held}, by their type {said}; give a column of numbers")


def _kind(column: Any) -> Kind:
    """The kind of a column of pandas or polars, or of an array; unknown where its type is not declared: [entries.2]."""
    if hasattr(getattr(column, "dtype", None), "pyarrow_dtype"):
        return kind_of(column.dtype.pyarrow_dtype)
    said = said_kind(column)
    if said != "unknown" or not declared_type(column):
        return said
    return BY_LETTER.get(str(getattr(column.dtype, "kind", "")), "unknown")


def from_polars(frame: Any) -> Held:
    """A data frame of polars; its columns are handed to Arrow piece by piece."""
    names = named(frame.columns, "the data frame")
    held = {name: frame.get_column(name) for name in names}
    kinds = {name: _kind(column) for name, column in held.items()}
    return Held(held, kinds=kinds, length=frame.height, description="a polars data frame")


def _arrow_of(series: Any) -> Any:
    """As Arrow has it; columns of Python objects, and of types that Arrow does not have, as their entries."""
    try:
        return series.to_arrow() if str(series.dtype) != "Object" else rows.column(series.to_list())
    except Exception:  # noqa: BLE001  its message may hold an entry
        return rows.column(series.to_list())


def from_mapping(columns: Mapping[Any, Any]) -> Held:
    """A mapping of names to columns, each of them whatever `discreet.tables.entries.column` takes."""
    names = named(list(columns), "the mapping")
    held, kinds, lengths = {}, {}, {}
    for name, given in zip(names, columns.values(), strict=True):
        if is_arrow(given):
            held[name], kinds[name] = given, kind_of(given.type)
        elif hasattr(given, "to_arrow") or _is_unread(given):
            held[name], kinds[name] = given, _kind(given)
        else:
            held[name], kinds[name] = rows.column(given), _kind(given)
        lengths[name] = len(held[name])
    if len(set(lengths.values())) > 1:
        one, other = (
            next(name for name in names if lengths[name] == length) for length in sorted(set(lengths.values()))[:2]
        )
        raise BadInput(f"columns {one!r} and {other!r} are not equally long; columns of one table must be")
    return Held(held, kinds=kinds, length=next(iter(lengths.values())), description="columns in memory")


def _is_unread(given: Any) -> bool:
    """Whether it is held as it is: a stream, or rows and columns in one array."""
    return isinstance(given, Stream) or (isinstance(given, np.ndarray) and given.ndim == 2)


def with_kind(pieces: Sequence[Column], kind: Kind) -> Any:
    """The pieces of a column as one, of a type that says its kind; each entry by itself. [entries.2]"""
    if kind in ("number", "integer"):
        return pa.array(np.concatenate([np.empty(0), *(numbers(piece, kind, "") for piece in pieces)]))
    listed = [entry for piece in pieces for entry in rows.column(piece)]
    found = [value(entry, kind) for entry in listed]
    if kind == "boolean":
        return pa.array(found, pa.bool_())
    if kind == "date":
        days = [day_of(entry) for entry in found]
        return pa.array([None if math.isnan(day) else round(day * MICROSECONDS) for day in days], pa.timestamp("us"))
    if kind in ("text", "category"):
        texts = pa.array([None if entry is None else str(rows.name(rows.key(entry))) for entry in found], pa.string())
        return texts if kind == "text" else texts.dictionary_encode()
    return rows.column(listed)


def from_frame(source: Any) -> Held:
    """Named columns in memory: a frame of pandas or polars, an Arrow table, or a mapping of columns."""
    if isinstance(source, Mapping):
        return from_mapping(source)
    library, kind = type(source).__module__.partition(".")[0], type(source).__name__
    if library == "pyarrow" and kind in ("Table", "RecordBatch"):
        return from_arrow(source)
    if library == "polars" and kind == "LazyFrame":
        raise BadInput(
            "a lazy frame of polars is a query, and a value could make it fail after the budget was spent; give "
            "frame.collect(), or the path of the file that it scans"
        )
    if library == "polars" and kind == "DataFrame":
        return from_polars(source)
    if hasattr(source, "iloc") and hasattr(source, "columns"):
        return from_pandas(source)
    raise BadInput(
        f"the table is of type {kind}; give a path, an address, a data frame, an Arrow table or a mapping of columns"
    )
