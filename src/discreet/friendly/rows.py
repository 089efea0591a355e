"""A table as an array of numbers. Shapes and declared types may be refused; values never are.

Promise
    [FR1] Each entry becomes a number by a fixed function of itself, which never raises: what is none becomes NaN. The
          number of columns is the array's own, or declared; it is never taken from what a list happens to hold.
Why
    [FR1] An array has a type and a shape, which are public but for the number of rows. A list has neither, so each of
    its entries is turned into `columns` numbers by itself, and one that has another number of entries is all NaN.
"""

import math
from collections.abc import Iterable
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput

Floats = npt.NDArray[np.float64]


def matrix(rows: Any, columns: int | None = None) -> Floats:
    """Rows as an n x d array of floats; one column of numbers may be given as one dimension. [FR1]"""
    if not isinstance(rows, np.ndarray) and hasattr(rows, "to_numpy"):
        rows = rows.to_numpy()
    if isinstance(rows, np.ma.MaskedArray):
        rows = np.where(np.ma.getmaskarray(rows), np.nan, _floats(np.asarray(rows.data)))
    if isinstance(rows, np.ndarray) and rows.dtype.kind != "O":
        return _shaped(_floats(rows), columns)
    if isinstance(rows, np.ndarray) and rows.ndim > 1:
        numbers = np.array([number(entry) for entry in rows.ravel()], dtype=np.float64)
        return _shaped(numbers.reshape(rows.shape), columns)
    if isinstance(rows, str | bytes | dict) or not isinstance(rows, Iterable):
        raise BadInput(f"the data are of type {type(rows).__name__}; give an array with one row for each person")
    if columns is None:
        raise BadInput("the data are a list, which does not say how many columns it has; give an array, or columns=")
    listed = [_row(entry, columns) for entry in rows]
    return np.array(listed, dtype=np.float64).reshape(len(listed), columns)


def _floats(rows: npt.NDArray[Any]) -> Floats:
    if rows.dtype.kind not in "biuf":
        raise BadInput(f"the data are of type {rows.dtype.name}; numbers are needed; convert them first")
    with np.errstate(all="ignore"):
        return rows.astype(np.float64, copy=False)


def _shaped(table: Floats, columns: int | None) -> Floats:
    """Two dimensions; the message does not tell the number of rows, which may be private."""
    if table.ndim == 1:
        table = table[:, None]
    if table.ndim != 2 or not table.shape[1]:
        raise BadInput(f"the data have the shape of {table.ndim} dimensions; give a table of rows and columns")
    if columns is not None and table.shape[1] != columns:
        raise BadInput(f"the data have {table.shape[1]} columns, but columns={columns} was declared; declare the same")
    return table


def _row(entry: Any, columns: int) -> list[float]:
    """One entry of a list, as so many numbers. [FR1]"""
    nested = isinstance(entry, list | tuple) or (isinstance(entry, np.ndarray) and entry.ndim == 1)
    parts = list(entry) if nested else [entry]
    return [number(part) for part in parts] if len(parts) == columns else [math.nan] * columns


def number(entry: Any) -> float:
    """By type first: whatever else can be turned into a float might warn, or run somebody's code. [FR1]"""
    try:
        return float(entry) if isinstance(entry, float | int | Real | Decimal | np.bool_) else math.nan
    except Exception:  # noqa: BLE001  [FR1]: whatever an entry is, it does not raise
        return math.nan
