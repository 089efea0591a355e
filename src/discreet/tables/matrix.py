"""What people hand in, as rows of numbers. Shapes and declared types may be refused; values never are.

An array is taken as it is. An Arrow table is read batch by batch, each time it is passed over: no copy of the whole is
made. Blocks (a list or a tuple of two-dimensional arrays) stay blocks. A plain list is a list of rows, each read by
itself: the number of columns must then be declared, as no row's own length may decide anything.

Promise
    [matrix.1] Each row becomes `width` floats by a fixed function of that row alone, which never raises: an entry that
          is no number is NaN, and a listed row that is not `width` numbers long is NaN throughout. What is refused is
          refused by shapes and by the schema of an Arrow table. Of an array with one dimension, where the width is
          declared, each entry is a row: if it was refused as too narrow, it would not be with a list among its entries.
Why
    [matrix.1] An array has a shape, which is public but for the number of rows; its entries are read by [entries.1],
    whatever its type is [entries.2], and those of a frame column by column. A list has no shape, so each of its entries
    is turned into `width` numbers by itself.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput
from discreet.tables.entries import column, number
from discreet.tables.entries import numbers_of as numbers
from discreet.tables.frames import check_numbers
from discreet.tables.kept_rows import FLOAT, kept
from discreet.tables.streams import Numbers, Stream, check_held, column_of

CACHED: Final = 1 << 13  # rows
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
FEW: Final = 1 << 9  # rows that stay in the nearest cache
ROOM: Final = 1 << 24  # entries of columns that are copied at a time


class Rows(Protocol):
    """Rows that can be passed over again and again."""

    @property
    def width(self) -> int:
        """The number of columns: public."""

    @property
    def size(self) -> int:
        """The number of rows: public or not, as the neighbours have it."""

    def blocks(self) -> Iterator[Floats]:
        """All rows, in order, in blocks."""


@dataclass(frozen=True, slots=True, eq=False)
class Stored:
    """Blocks in memory."""

    parts: tuple[Floats, ...]
    width: int

    @property
    def size(self) -> int:
        """The number of rows."""
        return sum(len(part) for part in self.parts)

    def blocks(self) -> Iterator[Floats]:
        """The blocks."""
        return iter(self.parts)


@dataclass(frozen=True, slots=True, eq=False)
class Batches:
    """An Arrow table, converted batch by batch."""

    table: Any
    width: int

    @property
    def size(self) -> int:
        """The number of rows."""
        return int(self.table.num_rows)

    def blocks(self) -> Iterator[Floats]:
        """Each batch as floats; a null is NaN. [matrix.1]"""
        for batch in self.table.to_batches():
            block = np.empty((batch.num_rows, self.width))
            for place in range(self.width):
                block[:, place] = numbers(batch.column(place).to_numpy(zero_copy_only=False))
            yield block


@dataclass(frozen=True, slots=True, eq=False)
class Streamed:
    """Rows of a stream, which is folded where it is."""

    stream: Stream
    width: int

    @property
    def size(self) -> int:
        """The number of rows."""
        return len(self.stream)

    def blocks(self) -> Iterator[Floats]:
        """Its pieces, brought here."""
        return iter(self.stream)


def matrix(rows: Any, width: int | None = None, *, declared: str = "columns") -> Rows:
    """The rows, by their declared type and shape; `declared` is the name under which people give the width.
    [matrix.1]"""
    found = _read(rows, width, declared)
    if width is not None and found.width != width:
        raise BadInput(f"the data have {found.width} columns, but {declared}={width} was declared; declare the same")
    if found.width < 1:
        raise BadInput("the data have no columns; at least 1 is needed")
    return found


def long_matrix(rows: Any, width: int | None = None, *, declared: str = "columns") -> Floats | Stream:
    """All rows in one array, for a statistic that reads streams of rows too. [matrix.1]"""
    return rows if isinstance(rows, Stream) else in_one(matrix(rows, width, declared=declared))


def columns_of(rows: Any, many: int) -> Iterator[Numbers]:
    """Each column of rows in turn. Those of an array are copied several at a time, a few rows after another: a row is
    fetched once for all of them."""
    if isinstance(rows, Stream):
        yield from (column_of(rows, place) for place in range(many))
        return
    several = max(1, ROOM // max(len(rows), 1))
    for first in range(0, many, several):
        found = np.empty((min(several, many - first), len(rows)))
        for start in range(0, len(rows), FEW):
            found[:, start : start + FEW] = rows[start : start + FEW, first : first + len(found)].T
        yield from found


def streamed(rows: Any, width: int | None) -> Rows:
    """Rows, of a stream too if their width is declared, for a statistic that folds them many times: then kept where
    they are. [matrix.1], [kept_rows.1]"""
    if width is None or not isinstance(rows, Stream):
        return matrix(rows, width)
    return Streamed(kept(rows, FLOAT * width), width)


def in_one(rows: Rows) -> Floats:
    """All rows in one array; without a copy if they are."""
    parts = list(rows.blocks())
    return parts[0] if len(parts) == 1 else np.concatenate([np.empty((0, rows.width)), *parts])


def any_entry(test: Callable[[Floats], Any], rows: Floats) -> npt.NDArray[np.bool_]:
    """Which rows have an entry of which the test holds: column by column, of rows that are in the cache."""
    found = np.zeros(len(rows), dtype=np.bool_)
    for start in range(0, len(rows), CACHED):
        for entries in rows[start : start + CACHED].T:
            found[start : start + CACHED] |= test(entries)
    return found


def take(rows: Rows, wanted: Integers) -> Floats:
    """The rows at these positions."""
    found, before = np.empty((len(wanted), rows.width)), 0
    for block in rows.blocks():
        here = (wanted >= before) & (wanted < before + len(block))
        found[here] = block[wanted[here] - before]
        before += len(block)
    return found


def _read(rows: Any, width: int | None, declared: str) -> Rows:
    check_held(rows)
    if isinstance(rows, Stored | Batches):
        return rows
    if hasattr(rows, "to_batches") and hasattr(rows, "num_columns"):
        kinds = [str(field.type) for field in rows.schema]
        if not all(kind.startswith(("int", "uint", "float", "double", "half", "bool", "decimal")) for kind in kinds):
            raise BadInput(f"the columns are of types {', '.join(kinds)}; give numeric ones, or convert the table")
        return Batches(rows, int(rows.num_columns))
    if isinstance(rows, np.ma.MaskedArray):
        rows = np.where(np.ma.getmaskarray(rows), np.nan, numbers(np.asarray(rows.data)))
    elif hasattr(type(rows), "to_numpy"):  # a data frame, or a column of one
        check_numbers(rows)
        rows = _framed(rows) if hasattr(rows, "columns") else column(rows)
    listed_rows = isinstance(rows, np.ndarray) and rows.ndim == 1 and width is not None  # of whatever type: [entries.2]
    if isinstance(rows, np.ndarray) and not (listed_rows and (rows.dtype.kind == "O" or width != 1)):
        block = _block(rows)
        return Stored((block,), block.shape[1])
    if isinstance(rows, str | bytes | dict) or not isinstance(rows, Iterable):
        raise BadInput(f"the data are of type {type(rows).__name__}; give an array of rows, a table or blocks of rows")
    listed = rows if isinstance(rows, Sequence) else list(rows)
    if width is None:  # then they must be blocks, whose shapes say
        return _from_blocks(listed, declared)
    block = np.full((len(listed), width), np.nan)
    for place, row in enumerate(listed):
        entries = row_numbers(row, width)
        if entries is not None:
            block[place] = entries
    return Stored((block,), width)


def _framed(frame: Any) -> Floats:
    """A frame of pandas or polars, column by column: all at once, an entry of one decides on the type of others."""
    by_place = hasattr(frame, "iloc")
    width = len(frame.columns)
    block = np.empty((len(frame), width))
    for place in range(width):
        one = frame.iloc[:, place] if by_place else frame[:, place]
        check_numbers(one)
        block[:, place] = numbers(column(one))
    return block


def _from_blocks(listed: Sequence[Any], declared: str) -> Stored:
    if not listed or not all(isinstance(part, np.ndarray) and part.ndim == 2 for part in listed):
        told = f", or declare {declared}=" if declared else ""
        raise BadInput(f"the data are a list, which does not say how many columns it has; give an array{told}")
    parts = tuple(_block(part) for part in listed)
    widths = sorted({part.shape[1] for part in parts})
    if len(widths) > 1:
        raise BadInput(f"the blocks have {widths} columns; all must have the same")
    return Stored(parts, widths[0])


def _block(values: npt.NDArray[Any]) -> Floats:
    """Two-dimensional floats; one column may come without its second dimension."""
    if values.ndim not in (1, 2):
        raise BadInput(f"the data have {values.ndim} dimensions; give an array of rows and columns")
    check_numbers(values)
    floats = numbers(values)
    return floats if floats.ndim == 2 else floats[:, None]


def row_numbers(row: Any, width: int) -> list[float] | None:
    """A listed row: `width` entries, or, of one column, the entry itself; None for anything else. [matrix.1]"""
    if isinstance(row, np.ndarray) and row.dtype.kind in "biufO" and row.ndim == 1:
        row = row.tolist()
    if isinstance(row, list | tuple):
        return [number(entry) for entry in row] if len(row) == width else None
    return [number(row)] if width == 1 else None
