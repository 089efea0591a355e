"""What a block is cut from: rows, an optional outcome, an optional name of the person; copied once, block by block."""

import pickle
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput
from discreet.noise.integers import compiled
from discreet.subsample.own_rows import alone, canonical, frame_of, is_frame, owners, plain
from discreet.tables.entries import column, key, numbers, numbers_of

LARGE: Final = 100_000  # rows from which the compiled scatter is worth its import
OBJECT: Final = b"no number"  # longer than a number: no other entry has the bytes of one
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class BlockTable:
    """Rows `x` (an array or a frame), `y` (an array or None) and `people` (a column of names, or None)."""

    x: Any
    y: Any = None
    people: Any = None
    declared: int | None = None  # how many people there are, where this is only the schema of their rows

    @classmethod
    def of(cls, x: Any, y: Any = None, people: Any = None, categories: Mapping[Any, Any] | None = None) -> "BlockTable":
        """What was handed in, as arrays or frames of equal length. Shapes may be refused, values never are.

        A plain list has no declared type: it is one column of numbers, whatever its entries are. Several columns come
        as an array or a frame. Of a frame's types only `categories`, which are declared, are handed on: [own_rows.1].
        """
        if isinstance(x, BlockTable):
            return x
        framed = is_frame(x)
        if framed and isinstance(people, str):
            if people not in x.columns:
                raise BadInput(f"unit is {people!r}, which is not a column of the table")
            x, people = x.drop(columns=[people]), x[people]
        elif isinstance(people, str):
            raise BadInput(f"unit is {people!r}, but the rows have no named columns; give the column of names itself")
        rows = frame_of(x, categories) if framed or categories is not None else _array(x)
        outcome = None if y is None else _array(y)
        names = None if people is None else _names(people)
        for what, other in (("y", outcome), ("unit", names)):
            if other is not None and len(other) != len(rows):
                raise BadInput(f"{what} and the rows differ in length; give one entry of {what} for each row")
        return cls(rows, outcome, names)

    def counting(self, people: int | None) -> "BlockTable":
        """The schema of a table of so many people, a public number; None if it is private."""
        return replace(self, declared=people)

    def present(self) -> "BlockTable":
        """The rows in which nothing is missing."""
        kept = ~_missing(self.x)
        if self.y is not None:
            kept &= ~_missing(self.y)
        if kept.all():
            return self
        x = self.x[kept].reset_index(drop=True) if is_frame(self.x) else self.x[kept]
        parts = (None if part is None else part[kept] for part in (self.y, self.people))
        return BlockTable(x, *parts)

    @property
    def rows(self) -> int:
        """How many there are; private unless the neighbours say otherwise."""
        return len(self.x)

    def scattered(self, halves: Integers, edges: Integers, order: Integers | None) -> "BlockTable":
        """The same rows, half-block after half-block, in the table's order or in the one given: one copy."""
        place = _places(halves, edges, order)
        moved = [None if part is None else _scatter(part, place) for part in (self.x, self.y, self.people)]
        return replace(self, x=moved[0], y=moved[1], people=moved[2])

    def part(self, start: int, stop: int) -> "BlockTable":
        """Some rows as an estimator gets them: a copy, in which nothing tells of the others. [own_rows.2]

        People are numbered by their first row here: names, or numbers of the whole table, would tell who is there.
        """
        x = self.x.iloc[start:stop] if is_frame(self.x) else self.x[start:stop]
        y = None if self.y is None else alone(self.y[start:stop])
        return BlockTable(alone(x), y, None if self.people is None else owners(self.people[start:stop]))

    def contents(self) -> Iterator[bytes]:
        """Each row, with its outcome, as bytes: equal rows alike."""
        framed = hasattr(self.x, "iloc")
        columns = [self.x.iloc[:, place] for place in range(self.x.shape[1])] if framed else [self.x]
        parts = [_row_bytes(part) for part in (*columns, *([] if self.y is None else [self.y]))]
        for pieces in zip(*parts, strict=True):
            yield b"".join(len(piece).to_bytes(8, "little") + piece for piece in pieces)  # where each ends is told


def _missing(part: Any) -> npt.NDArray[np.bool_]:
    """Which rows have a missing entry: not a number, None, or no date."""
    columns = [part.iloc[:, place] for place in range(part.shape[1])] if is_frame(part) else [part]
    found = np.zeros(len(part), dtype=np.bool_)
    for one in columns:
        values = np.asarray(one)
        if values.dtype.kind == "f":
            found |= np.isnan(values) if values.ndim == 1 else np.isnan(values).any(axis=1)
        elif values.dtype.kind in "mM":
            found |= np.isnat(values)
        elif values.dtype.kind == "O":
            found |= np.array([key(entry) is None for entry in one], dtype=np.bool_)
    return found


def _names(people: Any) -> npt.NDArray[Any]:
    """The column of names; text as objects, for else the type would tell how long the longest is."""
    try:
        names = column(people)
    except BadInput:
        raise BadInput(
            f"unit is of type {type(people).__name__}; give the name of a column of the table, or one column that says "
            "whose row each is"
        ) from None
    return names.astype(object) if names.dtype.kind in "UST" else names


def _array(rows: Any) -> npt.NDArray[Any]:
    if isinstance(rows, np.ndarray) and rows.ndim >= 2:
        if isinstance(rows, np.ma.MaskedArray):  # else what the mask hides would be shown
            return canonical(np.where(np.ma.getmaskarray(rows), np.nan, numbers_of(np.asarray(rows.data))))
        return np.ascontiguousarray(canonical(numbers_of(rows)))  # whatever type numpy read off them: [entries.2]
    values = column(rows)
    if _all_numbers(rows):
        return canonical(numbers(values))  # a complex number among them would take the sign off zeros
    if values.dtype.kind == "V":
        raise BadInput("the rows are records; give a frame with columns")
    return plain(values)


def _all_numbers(rows: Any) -> bool:
    """Whether a column is read as numbers: by its declared type, read off no row; a plain list has none, and is.

    A column of whole numbers with one missing entry arrives as objects, one without as integers: it is both times read
    as numbers, for else one person would change what every block is given.
    """
    if isinstance(rows, np.ma.MaskedArray):
        return rows.dtype.kind in "biuf"
    if not hasattr(rows, "__array__"):
        return True
    return column(getattr(rows, "iloc", rows)[:0]).dtype.kind in "biuf"


def _row_bytes(part: Any) -> Iterator[bytes]:
    """Each row as bytes that it can be had back from: equal bytes, then nobody can tell the rows apart. The bytes of an
    entry are the same in a column of numbers or dates and in one of objects, as which it is read beside an odd entry.
    What cannot be packed is like any other such entry of its type.
    """
    if isinstance(part.dtype, np.dtype) and part.dtype.kind in "biuf":
        return (row.tobytes() for row in np.ascontiguousarray(part))
    return (_entry_bytes(entry) for entry in (np.asarray(part) if hasattr(part, "astype") else part))


def _entry_bytes(entry: Any) -> bytes:
    kind = type(entry)
    if entry is None or kind is float:
        return np.float64(np.nan if entry is None else entry).tobytes()
    if issubclass(kind, np.datetime64 | np.timedelta64):
        return _entry_bytes(None) if np.isnat(entry) else OBJECT + entry.dtype.str.encode() + entry.tobytes()
    try:
        return OBJECT + pickle.dumps(entry, protocol=5)
    except Exception:  # noqa: BLE001  whatever an entry is, it does not raise
        return OBJECT + repr((kind.__qualname__, key(entry))).encode("utf-8", "backslashreplace")


def _places(halves: Integers, edges: Integers, order: Integers | None) -> Integers:
    """Where each row goes."""
    if order is None and len(halves) >= LARGE and compiled():
        from discreet._compiled.column_kernels import places

        found: Integers = places(halves, edges)
        return found
    if order is None:
        few = halves.astype(np.uint16) if len(edges) <= 2**16 else halves
        order = np.argsort(few, kind="stable")  # a radix sort: linear
    place = np.empty(len(halves), dtype=np.int64)
    place[order] = np.arange(len(halves))
    return place


def _scatter(part: Any, place: Integers) -> Any:
    if hasattr(part, "iloc"):
        order = np.empty(len(place), dtype=np.int64)
        order[place] = np.arange(len(place))
        return part.take(order)
    if part.dtype.kind in "biuf" and len(place) >= LARGE and part.ndim <= 2 and compiled():
        from discreet._compiled.column_kernels import scatter

        return scatter(part, place)
    moved = np.empty_like(part)
    moved[place] = part
    return moved
