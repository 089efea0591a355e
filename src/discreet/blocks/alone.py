"""A block's rows in arrays of their own: nothing of anybody else's table can be seen in them.

Claims
    [AB1] Each entry of the whole table is read by itself. Numbers of any kind become float64 with NaN for a missing
          one, texts and categories become objects, dates count microseconds. So one person's missing, odd or long entry
          leaves every other entry, and the type that it is read as, as they were.
    [AB2] What a block is handed is a function of its own entries, of the names of the columns and of declared
          categories. It is a copy: it has no index, notes, base array, dictionary or memory of the whole table. Entries
          of a block's column of objects that are all numbers or missing become float64, so a block with nothing odd in
          it is the same whether or not an odd entry elsewhere made objects of the column.
    [AB3] The same holds of the bytes that it is sent as: each object is packed by itself, for else it would show which
          entries are one and the same object in memory, which depends on how the whole table was read.

pandas' and Arrow's own types say more than was declared: one missing entry makes floats of whole numbers, categories
and dictionaries list what everybody holds, a slice keeps the whole array. None of them reaches a block. Only categories
that are declared are handed on.
"""

import pickle
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput
from discreet.rows import column, key, numbers, numbers_of

NUMBERS: Final = (bool, int, float, np.bool_, np.integer, np.floating)


def is_frame(x: Any) -> bool:
    """Whether these are columns of pandas or of its like."""
    return hasattr(x, "iloc") and hasattr(x, "columns")


def frame_of(x: Any, categories: Mapping[Any, Any] | None = None) -> Any:
    """A plain frame with each column read by itself; of `categories` those that are declared. [AB1]"""
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
    """A column of a frame, by its declared type. [AB1]"""
    import pandas

    kind = values.dtype
    if categories is not None:
        places = {key(one): place for place, one in enumerate(categories.categories)}
        codes = [places.get(key(entry), -1) for entry in column(values)]
        return pandas.Categorical.from_codes(codes, dtype=categories)
    if pandas.api.types.is_numeric_dtype(kind):
        return numbers(values)
    if isinstance(kind, pandas.DatetimeTZDtype):
        moments = pandas.DatetimeIndex(coarse(np.asarray(values.dt.tz_convert(None))))
        return moments.tz_localize("UTC").tz_convert(kind.tz).array
    found = column(values)
    return coarse(found) if isinstance(kind, np.dtype) and kind.kind in "mM" else found.astype(object)


def coarse(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Dates and durations in microseconds: the unit that numpy finds is that of the finest entry. [AB1]"""
    return values.astype(f"{values.dtype.kind}8[us]")


def alone(part: Any) -> Any:
    """Some rows, of an array or of a frame, in memory of their own. [AB2]"""
    if is_frame(part):
        return _frame(list(part.columns), [_own(values) for values in _columns(part)])
    return _own(part)


def _columns(frame: Any) -> list[Any]:
    """The arrays of a frame: of numpy, or of pandas where that has none for the type."""
    each = [frame.iloc[:, place] for place in range(frame.shape[1])]
    return [one.to_numpy() if isinstance(one.dtype, np.dtype) else one.array for one in each]


def _own(values: Any) -> Any:
    if not isinstance(values, np.ndarray):
        return values.copy()  # declared categories, and moments of a declared time zone
    if values.dtype.kind == "O" and all(_is_number(entry) for entry in values.ravel()):
        return numbers_of(values)  # [AB2]
    own = np.empty(values.shape, dtype=values.dtype.str)  # a type may carry notes of its own, and an array its base
    own[...] = values
    return own


def _is_number(entry: Any) -> bool:
    kind = type(entry)  # and not isinstance, which asks the entry
    plain = issubclass(kind, NUMBERS) and not issubclass(kind, np.timedelta64)  # which numpy counts among integers
    return entry is None or plain or kind.__name__ == "NAType"


def owners(people: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Each row's person as a number, in the order of first appearance among these rows. [AB2]"""
    if people.dtype.kind in "biufUS":
        _, first, inverse = np.unique(people, return_index=True, return_inverse=True)
        rank = np.empty(len(first), dtype=np.int64)
        rank[np.argsort(first)] = np.arange(len(first))
        numbered: npt.NDArray[np.int64] = rank[inverse]
        return numbered
    known: dict[Any, int] = {}
    return np.array([known.setdefault(key(entry), len(known)) for entry in people], dtype=np.int64)


def sent(part: Any) -> Any:
    """Rows as they are sent to another process. [AB3]"""
    if is_frame(part):
        return list(part.columns), [sent(_own(values)) for values in _columns(part)]
    if isinstance(part, np.ndarray) and part.dtype.kind == "O":
        return [pickle.dumps(entry) for entry in part.tolist()]  # [AB3]
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
