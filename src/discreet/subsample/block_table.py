"""What a block is cut from: rows, an optional outcome, an optional name of the person; copied once, block by block.

A block has its rows in arrays of their own: nothing of anybody else's table can be seen in them.

Claims
    [block_table.1] Each entry of the whole table is read by itself. Numbers of any kind become floats with one zero and
          one NaN, which stands for what is missing, also where they stand among others; texts and categories become
          objects, dates count microseconds. So one person's missing, odd or long entry leaves every other entry as it
          was.
    [block_table.2] What a block is handed is a function of its own entries, of the names of the columns and of declared
          categories. It is a copy: it has no index, notes, base array, dictionary or memory of the whole table. Entries
          of a block's column of objects that are all numbers, or all dates, or missing become an array of these, so a
          block with nothing odd in it is the same whether or not an odd entry elsewhere made objects of the column.

pandas' and Arrow's own types say more than was declared: one missing entry makes floats of whole numbers, categories
and dictionaries list what everybody holds, a slice keeps the whole array. None of them reaches a block. Only categories
that are declared are handed on.
"""

import datetime
import pickle
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput
from discreet.noise.distributions import compiled
from discreet.tables.entries import COMPLEX, NUMBERS, column, key, number, numbers, numbers_of

LARGE: Final = 100_000  # rows from which the compiled scatter is worth its import
MOMENTS: Final = (datetime.datetime, datetime.timedelta, np.datetime64, np.timedelta64)
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
        as an array or a frame. Of a frame's types only declared `categories` are handed on: [block_table.1].
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
        """Some rows as an estimator gets them: a copy, in which nothing tells of the others. [block_table.2]

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
    if isinstance(rows, np.ndarray) and rows.dtype.kind == "S":  # as where one is missing and numpy has made objects
        rows = rows.astype(object)
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


def is_frame(x: Any) -> bool:
    """Whether these are columns of pandas or of its like."""
    return hasattr(x, "iloc") and hasattr(x, "columns")


def frame_of(x: Any, categories: Mapping[Any, Any] | None = None) -> Any:
    """A plain frame with each column read by itself; of `categories` those that are declared. [block_table.1]"""
    declared = _declared(x, categories)
    names = list(x.columns)
    if not names:
        raise BadInput("the table has no column besides that of the names; give at least one")
    return framed(names, [_read(x.iloc[:, place], declared.get(name)) for place, name in enumerate(names)])


def _declared(x: Any, categories: Any) -> dict[Any, Any]:
    """The public categories of some columns, as types of pandas."""
    if categories is None:
        return {}
    if not is_frame(x) or not isinstance(categories, Mapping):
        raise BadInput("categories are declared by column of a frame, for example categories={'sex': ['F', 'M']}")
    import pandas

    types = {}
    for name, listed in categories.items():
        if name not in x.columns:
            raise BadInput(f"categories are declared for {name!r}, which is not a column of the table")
        if not isinstance(listed, list | tuple) or not listed or len({key(one) for one in listed}) != len(listed):
            raise BadInput(f"categories of {name!r} are {listed!r}; list each public one once, for example ['F', 'M']")
        types[name] = pandas.CategoricalDtype(list(listed))
    return types


def _read(values: Any, categories: Any) -> Any:
    """A column of a frame, by its declared type. [block_table.1]"""
    import pandas

    kind = values.dtype
    if categories is not None:
        places = {key(one): place for place, one in enumerate(categories.categories)}
        codes = [places.get(key(entry), -1) for entry in column(values)]
        return pandas.Categorical.from_codes(codes, dtype=categories)
    if pandas.api.types.is_numeric_dtype(kind):
        return canonical(numbers(values))  # [block_table.1]: a category of numbers has the zero that came first
    if isinstance(kind, pandas.DatetimeTZDtype):
        values = values.astype(object)
    return plain(column(values))


def canonical(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Floats with one zero and one NaN: among objects there is one, and 0 / 0 has a sign. [block_table.1]"""
    found: npt.NDArray[np.float64] = values + 0.0
    found[np.isnan(found)] = np.nan
    return found


def plain(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A column that is none of numbers: dates in microseconds, else objects, each read by itself. [block_table.1]"""
    if values.dtype.kind in "mM":
        return coarse(values)
    found = np.empty(len(values), dtype=object)
    for place, entry in enumerate(values):
        found[place] = _plain(entry)
    return found


def _plain(entry: Any) -> Any:
    """An entry of a column of objects, as it is in every column that it could stand in. [block_table.1]"""
    kind = type(entry)  # and not isinstance, which asks the entry
    if issubclass(kind, MOMENTS):
        return _moment(entry)
    if issubclass(kind, (*NUMBERS, *COMPLEX)):
        found = number(entry) + 0.0
        return None if np.isnan(found) else found
    if kind.__name__ in ("NAType", "NaTType"):
        return None
    if issubclass(kind, str):
        return str.__str__(entry)
    if issubclass(kind, bytes):
        return memoryview(entry).tobytes()
    return _interval(entry) if hasattr(kind, "closed_left") else entry


def _interval(entry: Any) -> Any:
    """An interval of pandas': its ends are floats beside a missing one, else as they came."""
    ends = _plain(entry.left), _plain(entry.right)
    return type(entry)(*ends, closed=entry.closed) if {type(end) for end in ends} == {float} else entry


def _moment(entry: Any) -> Any:
    """A date or a duration in microseconds; one of a time zone as pandas has it."""
    import pandas

    try:
        if getattr(entry, "tzinfo", None) is not None:
            return pandas.Timestamp(entry).as_unit("us")
        entry = entry.to_numpy() if hasattr(entry, "to_numpy") else entry  # pandas' own
        found = coarse(np.asarray(entry if isinstance(entry, np.generic) else np.array(entry, dtype=_unit(entry))))[()]
    except Exception:  # noqa: BLE001  whatever an entry is, it does not raise
        return None
    return None if np.isnat(found) else found


def _unit(entry: Any) -> str:
    return "M8[us]" if isinstance(entry, datetime.datetime) else "m8[us]"


def coarse(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Dates and durations in microseconds: the unit that numpy finds is that of the finest entry. [block_table.1]"""
    return values.astype(f"{values.dtype.kind}8[us]")


def alone(part: Any) -> Any:
    """Some rows, of an array or of a frame, in memory of their own. [block_table.2]"""
    if is_frame(part):
        return framed(list(part.columns), [own(values) for values in arrays(part)])
    return own(part)


def arrays(frame: Any) -> list[Any]:
    """The arrays of a frame: of numpy, or of pandas where that has none for the type."""
    each = [frame.iloc[:, place] for place in range(frame.shape[1])]
    return [one.to_numpy() if isinstance(one.dtype, np.dtype) else one.array for one in each]


def own(values: Any) -> Any:
    """An array as its own entries alone make it. [block_table.2]"""
    if not isinstance(values, np.ndarray):
        return values.copy()  # declared categories
    if values.dtype.kind == "O":
        return _of_one_kind(values)
    if values.dtype.kind in "mM" and np.isnat(values).all():
        return np.full(values.shape, np.nan)  # as of any other column without an entry
    copied = np.empty(values.shape, dtype=values.dtype.str)  # a type may carry notes of its own, and an array its base
    copied[...] = values
    return copied


def _of_one_kind(values: npt.NDArray[Any]) -> Any:
    """Objects that are all numbers, dates, durations or moments of one time zone, or missing, as an array of them."""
    kinds = {type(entry) for entry in values} - {type(None)}
    if kinds <= {float}:
        return numbers_of(values)
    for kind, name in ((np.datetime64, "M8[us]"), (np.timedelta64, "m8[us]")):
        if kinds == {kind}:
            return values.astype(name)
    if {kind.__name__ for kind in kinds} == {"Timestamp"}:
        zones = {str(entry.tz): entry.tz for entry in values if entry is not None}
        if len(zones) == 1:
            import pandas

            return pandas.DatetimeIndex(values, tz=zones.popitem()[1]).as_unit("us").array
    return values.copy()


def owners(people: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Each row's person as a number, in the order of first appearance among these rows. [block_table.2]"""
    if people.dtype.kind in "biufUS":
        _, first, inverse = np.unique(people, return_index=True, return_inverse=True)
        rank = np.empty(len(first), dtype=np.int64)
        rank[np.argsort(first)] = np.arange(len(first))
        numbered: npt.NDArray[np.int64] = rank[inverse]
        return numbered
    known: dict[Any, int] = {}
    return np.array([known.setdefault(key(entry), len(known)) for entry in people], dtype=np.int64)


def framed(names: list[Any], columns: list[Any]) -> Any:
    """Columns as a frame, as they are: nothing is inferred."""
    import pandas

    kept = [pandas.Series(one, dtype=one.dtype, copy=True) for one in columns]
    frame = pandas.DataFrame(dict(enumerate(kept)))
    frame.columns = names
    return frame
