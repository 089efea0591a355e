"""Neighbouring tables that are hard to treat alike, in every container that a table or a column may come in.

One person is replaced, added or removed. The odd person's cells are such that a library that looks at a whole column
notices: a missing value among whole numbers, a text among numbers, a new category, the longest text, an infinity, a
zero with a sign. The odd person may stand first, so that the places of all others shift.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from discreet.privacy.guarantee import Neighbours

Columns = dict[str, list[Any]]
REPLACE = Neighbours.REPLACE
NUMBERS: Final = ("x", "z", "y")
INTEGERS: Final = ("whole", "hits")
TEXTS: Final = ("id", "label", "town")
NAMES: Final = (*NUMBERS, *INTEGERS, *TEXTS, "flag")
ODD: Final[Mapping[str, Sequence[Any]]] = {
    "number": (None, math.nan, math.inf, -math.inf, 1e300, -1e300, -0.0, 5e-324, "aaa", "", 2**70, True, 1j),
    "integer": (None, math.nan, math.inf, 0.5, -0.0, "aaa", 2**53 + 1, 2**70, -(2**63), True, 1e300),
    "text": ("aaa", "zzz", "", None, math.nan, "a" * 300, "\x00", "é", 1, True, 0.5, ("a",)),
    "boolean": (None, math.nan, "aaa", 2, 0.5, "yes"),
}
TYPE: Final = (
    dict.fromkeys(NUMBERS, "number")
    | dict.fromkeys(INTEGERS, "integer")
    | dict.fromkeys(TEXTS, "text")
    | {"flag": "boolean"}
)


def crowd(rng: np.random.Generator, people: int, several: bool) -> Columns:
    """Ordinary people, with an outcome that depends on x and z; several rows each if asked for, in any order."""
    owner = np.repeat(np.arange(people), rng.integers(1, 4, people)) if several else np.arange(people)
    owner = rng.permutation(owner) if several else owner
    rows = len(owner)
    x, z = rng.normal(0, 1, rows), rng.normal(1, 2, rows)
    y = x - 0.5 * z + rng.normal(0, 1, rows)
    yes = rng.random(rows) < (0.02 if rng.integers(3) == 0 else 0.5)
    return {
        "x": x.tolist(),
        "z": z.tolist(),
        "y": y.tolist(),
        "whole": rng.integers(0, 40, rows).tolist(),
        "hits": rng.poisson(np.exp(0.3 * x)).tolist(),
        "id": [f"p{one}" for one in owner],
        "label": np.where(yes, "yes", "no").tolist(),
        "town": np.array(["a", "b", "c"])[rng.integers(0, 3, rows)].tolist(),
        "flag": (rng.random(rows) < 0.4).tolist(),
    }


def _odd_rows(rng: np.random.Generator, who: str, count: int) -> list[dict[str, Any]]:
    """Rows of one person: one odd cell, or all of them odd."""
    found = []
    columns = list(NAMES if rng.integers(3) == 0 else [NAMES[rng.integers(len(NAMES))]])
    for _ in range(count):
        plain = crowd(rng, 1, several=False)
        row = {name: plain[name][0] for name in NAMES}
        for name in columns:
            pool = ODD[TYPE[name]]
            row[name] = pool[int(rng.integers(len(pool)))]
        row["id"] = who  # whose row it is decides what a neighbour is
        found.append(row)
    return found


def pair(rng: np.random.Generator, relation: Neighbours, *, several: bool, people: int) -> tuple[Columns, Columns]:
    """Two tables that differ in one person."""
    base = crowd(rng, people, several)
    ids = list(dict.fromkeys(base["id"]))
    victim = ids[(0, len(ids) // 2, len(ids) - 1)[rng.integers(3)]]
    mine = [place for place, one in enumerate(base["id"]) if one == victim]
    without = {name: [cell for place, cell in enumerate(base[name]) if place not in mine] for name in NAMES}
    count = int(rng.integers(1, 4)) if several else 1
    if relation is REPLACE and (not several or rng.integers(2)):  # other values of the same person, in the same place
        rows = _odd_rows(rng, victim, count)
        other = _inserted(without, [mine[0], *(mine[1 : len(rows)])], rows, rng)
    elif relation is REPLACE:  # somebody else, anywhere
        other = _inserted(without, [], _odd_rows(rng, "q0", count), rng)
    elif rng.integers(2):  # somebody more
        other = _inserted(base, [], _odd_rows(rng, "q0", count), rng)
    else:
        other = without
    sides = (base, other)
    return sides if rng.integers(2) else sides[::-1]


def _inserted(
    columns: Columns, places: Sequence[int], rows: Sequence[Mapping[str, Any]], rng: np.random.Generator
) -> Columns:
    """With some rows more: at their places, or first, in the middle or last."""
    found = {name: list(cells) for name, cells in columns.items()}
    size = len(found["id"])
    for number, row in enumerate(rows):
        anywhere = (0, size // 2, size)[rng.integers(3)] if number == 0 else size
        place = places[number] if number < len(places) else anywhere
        for name in NAMES:
            found[name].insert(place, row[name])
    return found


def number(cell: Any) -> float | None:
    """A cell of a column that is declared to hold numbers."""
    try:
        return float(cell) if isinstance(cell, int | float) else None
    except OverflowError:
        return None


def integer(cell: Any) -> int | None:
    """A cell of a column that is declared to hold whole numbers."""
    fits = isinstance(cell, int) and not isinstance(cell, bool) and -(2**63) <= cell < 2**63
    return cell if fits else None


def text(cell: Any) -> str | None:
    """A cell of a column that is declared to hold texts."""
    return cell if isinstance(cell, str) else None


def boolean(cell: Any) -> bool | None:
    """A cell of a column that is declared to hold truth values."""
    return cell if isinstance(cell, bool) else None


FITTED: Final[Mapping[str, Callable[[Any], Any]]] = {
    "number": number,
    "integer": integer,
    "text": text,
    "boolean": boolean,
}
ARROW: Final = {"number": pa.float64(), "integer": pa.int64(), "text": pa.string(), "boolean": pa.bool_()}
NULLABLE: Final = {"number": "Float64", "integer": "Int64", "text": "string", "boolean": "boolean"}
POLARS: Final = {"number": pl.Float64, "integer": pl.Int64, "text": pl.String, "boolean": pl.Boolean}


def objects(cells: Sequence[Any]) -> Any:
    """An array of objects, one for each cell, whatever it is."""
    found = np.empty(len(cells), dtype=object)
    found[:] = [None] * len(cells)
    for place, cell in enumerate(cells):
        found[place] = cell
    return found


def _fitted(columns: Columns, name: str) -> list[Any]:
    return [FITTED[TYPE[name]](cell) for cell in columns[name]]


def _arrow(columns: Columns, name: str) -> Any:
    return pa.array(_fitted(columns, name), ARROW[TYPE[name]])


def _dictionary(columns: Columns, name: str) -> Any:
    return _arrow(columns, name) if TYPE[name] == "boolean" else _arrow(columns, name).dictionary_encode()


def _as_text(columns: Columns, name: str) -> list[str]:
    return ["" if cell is None else _shown(cell) for cell in columns[name]]


def _shown(cell: Any) -> str:
    try:
        return str(cell)
    except ValueError:  # a whole number that Python refuses to write
        return "1e999"


def _categorical(columns: Columns, name: str) -> Any:
    """As pandas makes it of the cells: the categories are those that are there."""
    return pd.Series(objects(columns[name]), dtype=object).astype("category")


KINDS: Final[Mapping[str, Callable[[Columns, Sequence[str]], Any]]] = {
    "lists": lambda columns, names: {name: list(columns[name]) for name in names},
    "objects": lambda columns, names: pd.DataFrame({name: pd.Series(objects(columns[name])) for name in names}),
    "pandas": lambda columns, names: pd.DataFrame({name: columns[name] for name in names}),
    "nullable": lambda columns, names: pd.DataFrame(
        {name: pd.Series(_fitted(columns, name), dtype=NULLABLE[TYPE[name]]) for name in names}
    ),
    "categorical": lambda columns, names: pd.DataFrame({name: _categorical(columns, name) for name in names}),
    "arrow": lambda columns, names: pa.table({name: _arrow(columns, name) for name in names}),
    "dictionary": lambda columns, names: pa.table({name: _dictionary(columns, name) for name in names}),
    "pandas dictionary": lambda columns, names: pd.DataFrame(
        {
            name: pd.Series(_dictionary(columns, name), dtype=pd.ArrowDtype(_dictionary(columns, name).type))
            for name in names
        }
    ),
    "text": lambda columns, names: {name: np.array(_as_text(columns, name), dtype=np.str_) for name in names},
    "polars": lambda columns, names: pl.DataFrame(
        {name: pl.Series(name, _fitted(columns, name), dtype=POLARS[TYPE[name]]) for name in names}
    ),
}


def built(columns: Columns, kind: str, names: Sequence[str] = NAMES) -> Any:
    """Some columns in a container of that kind, made of nothing but the cells."""
    return KINDS[kind](columns, names)


def one(columns: Columns, kind: str, name: str) -> Any:
    """One column, as a container of that kind has it."""
    whole_table = built(columns, kind, [name])
    return whole_table[name]


def row_lists(columns: Columns, names: Sequence[str]) -> list[list[Any]]:
    """A list of rows, each a list."""
    return [list(row) for row in zip(*(columns[name] for name in names), strict=True)]
