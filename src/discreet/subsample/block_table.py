"""What a block is cut from: rows, an optional outcome, an optional name of the person; copied once, block by block.

A block has its rows in arrays of their own: nothing of anybody else's table can be seen in them.

Columns come from tables/, as those of every other statistic: by their declared kind, each entry by itself ([cells.1]),
with the same missing entries.

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

from discreet._compiled.warmth import warm
from discreet.errors import BadInput
from discreet.noise.distributions import compiled
from discreet.tables.entries import COMPLEX, NUMBERS, column, key, number, numbers, numbers_of

LARGE: Final = 100_000  # rows from which the compiled scatter is worth its import
MOMENTS: Final = (datetime.date, datetime.timedelta, np.datetime64, np.timedelta64)
OBJECT: Final = b"no number"  # longer than a number: no other entry has the bytes of one
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class BlockTable:
    """Rows `x` (an array or a frame), `y` (an array or None) and `people` (a column of names, or None)."""

    x: Any
    y: Any = None
    people: Any = None
    declared: int | None = None  # how many people there are, where this is only the schema of their rows
    ordered: bool = True  # whether rows come in the same order whenever they are read [partition.5]

    @classmethod
    def of(cls, x: Any, y: Any = None, people: Any = None, categories: Mapping[Any, Any] | None = None) -> "BlockTable":
        """Columns as tables/ reads them: an array, or columns by name; of `categories` those that are declared.

        A plain list is one column of numbers, whatever its entries are. [block_table.1]
        """
        if isinstance(x, BlockTable):
            return x
        rows = frame_of(x, categories) if isinstance(x, Mapping) or categories is not None else _array(x)
        table = cls(rows, None if y is None else _array(y), None if people is None else column(people))
        for what, other in (("y", table.y), ("unit", table.people)):
            if other is not None and len(other) != table.rows:
                raise BadInput(f"{what} and the rows differ in length; give one entry of {what} for each row")
        return table

    def counting(self, people: int | None) -> "BlockTable":
        """The schema of a table of so many people, a public number; None if it is private."""
        return replace(self, declared=people)

    @property
    def schema(self) -> "BlockTable":
        """What its rows are like: itself."""
        return self

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
        """Each row, with its outcome, as bytes: equal rows alike, and alike in an array and in a frame of numbers."""
        columns = arrays(self.x) if is_frame(self.x) else [self.x]
        if all(isinstance(one, np.ndarray) and one.dtype.kind == "f" for one in columns):
            columns = [np.column_stack(columns)]
        parts = [_row_bytes(part) for part in (*columns, *([] if self.y is None else [self.y]))]
        for pieces in zip(*parts, strict=True):
            yield b"".join(len(piece).to_bytes(8, "little") + piece for piece in pieces)  # where each ends is told


def table_of(columns: Mapping[str, Any]) -> BlockTable:
    """The columns of a question, with their owners, as what blocks are cut from."""
    rows = columns["X"] if "X" in columns else columns["data"]
    found = BlockTable.of(rows, columns.get("y"), columns["people"], columns.get("categories"))
    return replace(found, ordered=columns.get("ordered", True))


def _array(rows: Any) -> npt.NDArray[Any]:
    values = rows if isinstance(rows, np.ndarray) else numbers(rows)
    return np.ascontiguousarray(canonical(numbers_of(values))) if values.dtype.kind in "biuf" else plain(values)


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
    if order is None and len(halves) >= LARGE and warm(len(halves), "column_kernels") and compiled():
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
    worth = len(place) >= LARGE and warm(len(place), "column_kernels")
    if part.dtype.kind in "biuf" and part.ndim <= 2 and worth and compiled():
        from discreet._compiled.column_kernels import scatter

        return scatter(part, place)
    moved = np.empty_like(part)
    moved[place] = part
    return moved


def is_frame(x: Any) -> bool:
    """Whether these are columns of pandas or of its like."""
    return hasattr(x, "iloc") and hasattr(x, "columns")


def frame_of(columns: Any, categories: Mapping[Any, Any] | None = None) -> Any:
    """A plain frame of columns by name; of `categories` those that are declared. [block_table.1]"""
    declared = _declared(columns, categories)
    if not columns:
        raise BadInput("the table has no column; give at least one")
    return framed(
        list(columns),
        [_coded(one, declared[name]) if name in declared else _array(one) for name, one in columns.items()],
    )


def _declared(columns: Any, categories: Any) -> dict[Any, Any]:
    """The public categories of some columns, as types of pandas."""
    if categories is None:
        return {}
    if not isinstance(columns, Mapping) or not isinstance(categories, Mapping):
        raise BadInput("categories are declared by column of a frame, for example categories={'sex': ['F', 'M']}")
    import pandas

    types = {}
    for name, listed in categories.items():
        if name not in columns:
            raise BadInput(f"categories are declared for {name!r}, which is not a column of the table")
        if not isinstance(listed, list | tuple) or not listed or len({key(one) for one in listed}) != len(listed):
            raise BadInput(f"categories of {name!r} are {listed!r}; list each public one once, for example ['F', 'M']")
        types[name] = pandas.CategoricalDtype(list(listed))
    return types


def _coded(values: Any, categories: Any) -> Any:
    """A column of declared categories; an entry that is none of them is missing. [block_table.1]"""
    import pandas

    places = {key(one): place for place, one in enumerate(categories.categories)}
    return pandas.Categorical.from_codes([places.get(key(entry), -1) for entry in values], dtype=categories)


def canonical(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Floats with one zero and one NaN: among objects there is one, and 0 / 0 has a sign. [block_table.1]"""
    with np.errstate(all="ignore"):  # numpy would warn of a signalling NaN
        found: npt.NDArray[np.float64] = values + 0.0
    found[np.isnan(found)] = np.nan
    return found


def plain(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A column that is none of numbers: objects, each read by itself. [block_table.1]"""
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
    return memoryview(entry).tobytes() if issubclass(kind, bytes) else entry


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
    return "M8[us]" if isinstance(entry, datetime.date) else "m8[us]"


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
