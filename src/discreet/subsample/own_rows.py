"""A block's rows in arrays of their own: nothing of anybody else's table can be seen in them.

Claims
    [own_rows.1] Each entry of the whole table is read by itself. Numbers of any kind become floats with one zero and
          one NaN, which stands for what is missing, also where they stand among others; texts and categories become
          objects, dates count microseconds. So one person's missing, odd or long entry leaves every other entry as it
          was.
    [own_rows.2] What a block is handed is a function of its own entries, of the names of the columns and of declared
          categories. It is a copy: it has no index, notes, base array, dictionary or memory of the whole table. Entries
          of a block's column of objects that are all numbers, or all dates, or missing become an array of these, so a
          block with nothing odd in it is the same whether or not an odd entry elsewhere made objects of the column.
    [own_rows.3] The same holds of the bytes that it is sent as: each object is packed by itself, for else it would show
          which entries are one and the same object in memory, which depends on how the whole table was read.

pandas' and Arrow's own types say more than was declared: one missing entry makes floats of whole numbers, categories
and dictionaries list what everybody holds, a slice keeps the whole array. None of them reaches a block. Only categories
that are declared are handed on.
"""

import datetime
import pickle
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput
from discreet.tables.entries import COMPLEX, NUMBERS, column, key, number, numbers, numbers_of

MOMENTS: Final = (datetime.datetime, datetime.timedelta, np.datetime64, np.timedelta64)


def is_frame(x: Any) -> bool:
    """Whether these are columns of pandas or of its like."""
    return hasattr(x, "iloc") and hasattr(x, "columns")


def frame_of(x: Any, categories: Mapping[Any, Any] | None = None) -> Any:
    """A plain frame with each column read by itself; of `categories` those that are declared. [own_rows.1]"""
    declared = _declared(x, categories)
    names = list(x.columns)
    if not names:
        raise BadInput("the table has no column besides that of the names; give at least one")
    return _frame(names, [_read(x.iloc[:, place], declared.get(name)) for place, name in enumerate(names)])


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
    """A column of a frame, by its declared type. [own_rows.1]"""
    import pandas

    kind = values.dtype
    if categories is not None:
        places = {key(one): place for place, one in enumerate(categories.categories)}
        codes = [places.get(key(entry), -1) for entry in column(values)]
        return pandas.Categorical.from_codes(codes, dtype=categories)
    if pandas.api.types.is_numeric_dtype(kind):
        return canonical(numbers(values))  # [own_rows.1]: a category of numbers has the zero that came first
    if isinstance(kind, pandas.DatetimeTZDtype):
        values = values.astype(object)
    return plain(column(values))


def canonical(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Floats with one zero and one NaN: among objects there is but one, and what is 0 / 0 has a sign. [own_rows.1]"""
    found: npt.NDArray[np.float64] = values + 0.0
    found[np.isnan(found)] = np.nan
    return found


def plain(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A column that is none of numbers: dates in microseconds, else objects, each read by itself. [own_rows.1]"""
    if values.dtype.kind in "mM":
        return coarse(values)
    found = np.empty(len(values), dtype=object)
    for place, entry in enumerate(values):
        found[place] = _plain(entry)
    return found


def _plain(entry: Any) -> Any:
    """An entry of a column of objects, as it is in every column that it could stand in. [own_rows.1]"""
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
    """Dates and durations in microseconds: the unit that numpy finds is that of the finest entry. [own_rows.1]"""
    return values.astype(f"{values.dtype.kind}8[us]")


def alone(part: Any) -> Any:
    """Some rows, of an array or of a frame, in memory of their own. [own_rows.2]"""
    if is_frame(part):
        return _frame(list(part.columns), [_own(values) for values in _columns(part)])
    return _own(part)


def _columns(frame: Any) -> list[Any]:
    """The arrays of a frame: of numpy, or of pandas where that has none for the type."""
    each = [frame.iloc[:, place] for place in range(frame.shape[1])]
    return [one.to_numpy() if isinstance(one.dtype, np.dtype) else one.array for one in each]


def _own(values: Any) -> Any:
    """An array as its own entries alone make it. [own_rows.2]"""
    if not isinstance(values, np.ndarray):
        return values.copy()  # declared categories
    if values.dtype.kind == "O":
        return _of_one_kind(values)
    if values.dtype.kind in "mM" and np.isnat(values).all():
        return np.full(values.shape, np.nan)  # as of any other column without an entry
    own = np.empty(values.shape, dtype=values.dtype.str)  # a type may carry notes of its own, and an array its base
    own[...] = values
    return own


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
    """Each row's person as a number, in the order of first appearance among these rows. [own_rows.2]"""
    if people.dtype.kind in "biufUS":
        _, first, inverse = np.unique(people, return_index=True, return_inverse=True)
        rank = np.empty(len(first), dtype=np.int64)
        rank[np.argsort(first)] = np.arange(len(first))
        numbered: npt.NDArray[np.int64] = rank[inverse]
        return numbered
    known: dict[Any, int] = {}
    return np.array([known.setdefault(key(entry), len(known)) for entry in people], dtype=np.int64)


def sent(part: Any) -> Any:
    """Rows as they are sent to another process. [own_rows.3]"""
    if is_frame(part):
        return list(part.columns), [sent(_own(values)) for values in _columns(part)]
    if isinstance(part, np.ndarray) and part.dtype.kind == "O":
        return [pickle.dumps(entry) for entry in part.tolist()]  # [own_rows.3]
    return part


def received(raw: Any) -> Any:
    """Rows as they were before they were sent."""
    if isinstance(raw, tuple):
        return _frame(raw[0], [received(one) for one in raw[1]])
    if isinstance(raw, list):
        values = np.empty(len(raw), dtype=object)
        for place, entry in enumerate(raw):
            values[place] = pickle.loads(entry)  # noqa: S301  written by our own parent
        return values
    return raw


def _frame(names: list[Any], columns: list[Any]) -> Any:
    import pandas

    kept = [pandas.Series(one, dtype=one.dtype, copy=True) for one in columns]  # as they are: nothing is inferred
    frame = pandas.DataFrame(dict(enumerate(kept)))
    frame.columns = names
    return frame
