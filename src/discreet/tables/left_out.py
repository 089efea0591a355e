"""Whom a missing entry leaves out, and the others: of columns by name, or of a stream of them."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from discreet.tables.cells import Floats
from discreet.tables.streams import Stream, chosen
from discreet.tables.wanted import Want


def drops(want: Want) -> bool:
    """Whether a missing entry leaves the row out."""
    return isinstance(want.missing, str) and want.missing == "drop"


def whole_columns(wants: Sequence[Want]) -> list[Want]:
    """The same columns, with the rows that `present` leaves out."""
    return [replace(want, missing="keep") if drops(want) else want for want in wants]


def present(columns: Any, wants: Sequence[Want]) -> tuple[Any, int]:
    """The rows in which no entry is missing that leaves a row out, and how many rows are left out; of columns by name,
    or of a stream of them. [table.1]"""
    if isinstance(columns, Stream):
        if not any(drops(want) for want in wants):
            return columns, 0
        found = chosen(partial(_present_rows, wants=tuple(wants)), columns)
        return found, len(columns) - len(found)
    dropping = [columns[want.name] for want in wants if drops(want)]
    if not dropping:
        return dict(columns), 0
    if isinstance(dropping[0], Stream):  # the only column, of an array that its owner streams
        column: Stream = chosen(_present, dropping[0])
        return dict.fromkeys(columns, column), len(dropping[0]) - len(column)
    kept = np.ones(len(dropping[0]), dtype=np.bool_)
    for values in dropping:
        kept &= ~(missing if (missing := _absent(values)).ndim == 1 else missing.any(axis=1))
    left_out = int(np.count_nonzero(~kept))
    return {name: values[kept] if left_out else values for name, values in columns.items()}, left_out


def _absent(values: Any) -> Any:
    return np.array([one is None for one in values], dtype=np.bool_) if values.dtype == object else np.isnan(values)


def _present_rows(piece: dict[str, Any], *, wants: tuple[Want, ...]) -> dict[str, Any]:
    found: dict[str, Any] = present(piece, wants)[0]
    return found


def _present(piece: Floats) -> Floats:
    found: Floats = piece[~_absent(piece)]
    return found
