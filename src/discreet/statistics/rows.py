"""What people hand in, as arrays. Shapes and declared types may be refused; values never are.

Promise
    [R1] Each entry is turned into a truth value, a number or a key by a fixed function of that entry alone, which
         never raises: what cannot be understood becomes the public default (no, not-a-number, missing).
"""

import math
from collections.abc import Hashable, Iterable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput
from discreet.promise.neighbours import Neighbours

MISSING: Final = None


def column(rows: Any) -> npt.NDArray[Any]:
    """One column as a one-dimensional array; lists keep their entries as they are, whatever they are."""
    if isinstance(rows, str | bytes | dict) or not isinstance(rows, Iterable):
        raise BadInput(f"the data are {_kind(rows)}; give one column: a list, an array or a series")
    if isinstance(rows, np.ma.MaskedArray):  # np.asarray would show what the mask hides
        rows = np.ma.filled(rows.astype(object), MISSING)
    rows = _with_nulls_as_none(rows)
    if hasattr(rows, "__array__"):
        values = np.asarray(rows)
        if values.ndim != 1:
            raise BadInput(f"the data have shape {values.shape}; give one column, for example table[:, 0]")
        if values.dtype.kind == "c":
            raise BadInput("the data are complex numbers; give real ones")
        return values
    entries = list(rows)
    values = np.empty(len(entries), dtype=object)
    for index, entry in enumerate(entries):  # one by one: numpy would unpack entries that are lists themselves
        values[index] = entry
    return values


def _with_nulls_as_none(rows: Any) -> Any:
    """Arrow and polars columns that hold nulls, entry by entry.

    As numpy arrays, one null would turn all whole numbers into floats (and round large ones), and the null of a
    dictionary column would read as its last category: one person's entry would change how all others are read.
    """
    nulls = getattr(rows, "null_count", 0)
    listed = getattr(rows, "to_pylist", getattr(rows, "to_list", None))
    return listed() if listed is not None and (nulls() if callable(nulls) else nulls) else rows


def public_size(values: npt.NDArray[Any], neighbours: Neighbours) -> int | None:
    """The number of entries where it is public, else None; an empty table is refused only where that is public."""
    if not neighbours.size_is_public:
        return None
    if len(values) == 0:
        raise BadInput("the data are empty (0 rows); a statistic needs at least 1 row")
    return len(values)


def truths(rows: Any) -> npt.NDArray[np.bool_]:
    """Each entry as yes or no: true, or a number other than 0; missing and anything else is no. [R1]"""
    values = column(rows)
    if values.dtype.kind == "b":
        return values.astype(np.bool_, copy=False)
    numbers = numbers_of(values)
    yes: npt.NDArray[np.bool_] = (numbers != 0) & ~np.isnan(numbers)
    return yes


def numbers(rows: Any) -> npt.NDArray[np.float64]:
    """Each entry as a float; what is no number is NaN. [R1]"""
    return numbers_of(column(rows))


def numbers_of(values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """A column as floats. A declared type that holds no numbers is refused; an entry never is. [R1]"""
    if values.dtype.kind in "biuf":
        return values.astype(np.float64, copy=False)
    if values.dtype.kind != "O":
        raise BadInput(f"the data are of type {values.dtype}; numbers are needed; convert the column first")
    return np.array([_number(entry) for entry in values], dtype=np.float64)


def _number(entry: Any) -> float:
    try:
        return float(entry) if not isinstance(entry, str | bytes) else float("nan")
    except Exception:  # noqa: BLE001  [R1]: whatever an entry is, it does not raise
        return float("nan")


def key(entry: Any) -> Hashable:
    """A canonical key: equal numbers share it, whole ones as int; truth values, texts and numbers stay apart. [R1]

    Plain equality would not do: 1, 1.0 and True are equal, and which of them names the bin would depend on their order.
    """
    if isinstance(entry, np.generic):
        entry = entry.item()
    if isinstance(entry, str):
        return str(entry)
    if isinstance(entry, bool):
        return (bool, entry)
    if isinstance(entry, int):
        return int(entry)
    if isinstance(entry, float):
        if math.isnan(entry):
            return MISSING
        return int(entry) if entry.is_integer() else (float, float(entry))
    if entry is None:
        return MISSING
    try:
        return (type(entry).__name__, str(entry))
    except Exception:  # noqa: BLE001  [R1]
        return MISSING


def name(canonical: Hashable) -> Any:
    """A canonical key as the entry that it stands for."""
    return canonical[1] if isinstance(canonical, tuple) else canonical


def _kind(rows: object) -> str:
    return f"of type {type(rows).__name__}"
