"""`discreet.people`: tables that share people, joined to one row a person.

Promise
    [joined_people.1] Stability 1. The row of a person is a function, bit for bit, of that person's own rows in all
          tables, each table's in its order, and of public arguments. To add, to remove or to replace all rows of one
          person, in all tables at once, adds, removes or replaces one row; no value raises or warns.
    [joined_people.2] The rows come in an order that may depend on what the tables hold: the table says that it is not
          ordered, so that [asking.4] puts them in a random one where a mechanism may read places. Sums, means, extremes
          and counts do not depend on the order of a person's rows either.
Why
    [joined_people.1] Each cell becomes a value by itself [cells.1], and conditions hold of a row by itself [where.1]. A
    row is of the person whose id it has, as it is written: 5, 5.0 and "5" are one person, "05" is another; a row
    without an id is nobody's. Everyone with a row in any table has one row here. A feature folds rows into the place of
    their person: counts and sums by `numpy.bincount`, extremes by `ufunc.at`, first and last by a stable sort by person
    and then by `by`: none joins rows of two people. So a feature of one person is the same whoever else is there.
    [joined_people.2] Before floats are added they are sorted within each person, so the sum is a function of the set of
    entries, with multiplicity; -0.0 becomes 0.0 before extremes are taken.
Needs
    One budget for all tables that share people: open them under one population. What the features are is public.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput, short
from discreet.privacy.declaration import Kind
from discreet.tables import entries as rows
from discreet.tables.cells import Codes, Floats, keys
from discreet.tables.frames import Piece
from discreet.tables.opening import read
from discreet.tables.person_features import Feature, feature_of
from discreet.tables.piece_questions import PieceCells
from discreet.tables.table import Table
from discreet.tables.wanted import known

MOST: Final = 1_000  # features
COMPLETE: Final = ("count", "distinct", "any")  # of nothing they are 0, or false
Values = npt.NDArray[Any]


def people(
    tables: Mapping[str, Any],
    person: str | Mapping[str, str],
    features: Mapping[str, str],
    *,
    table: Mapping[str, str] | None = None,
    types: Mapping[str, Mapping[str, str]] | None = None,
) -> Table:
    """A table with one row a person, made of tables that share people. Stability 1: one person is one row.

    The result opens in a session like any table, and `result["feature"]` is a column for a function. Nothing is read
    before a question is paid for; then all features are made, once.

    Parameters
    ----------
    tables
        By name, whatever `discreet.open` takes: frames, dictionaries of columns, files, addresses of databases.
    person
        The column that says whose row each is; by table, if it is called differently.
    features
        By name, what is made of a person's rows: "count", "count(drug == 'insulin')", "any(...)", "all(...)",
        "sum(x)", "mean(x)", "min(x)", "max(x)", "first(x, by=day)", "last(x, by=day)", "distinct(x)", each of them also
        with where=. A feature reads the table that has its columns; "visits: mean(x)" says which if several do. A count
        without a condition reads the table before the colon, or the one that is called as the feature is.
    table
        By name, the table of a database, where it is not called as it is here.
    types
        By name of the table, what its columns hold, as in `discreet.open`.

    Examples
    --------
    >>> import discreet
    >>> visits = {"id": [1, 1, 2, 3], "day": ["2024-01-02", "2024-03-04", "2024-02-03", "2024-02-04"]}
    >>> drugs = {"id": [1, 3, 3, 4], "drug": ["insulin", "metformin", "insulin", "metformin"]}
    >>> patients = discreet.people(
    ...     {"visits": visits, "drugs": drugs},
    ...     person="id",
    ...     features={"visits": "count", "insulin": "any(drug == 'insulin')", "latest": "max(day)"},
    ...     types={"visits": {"day": "date"}},
    ... )
    >>> patients.names, dict(patients.kinds)
    (('visits', 'insulin', 'latest'), {'visits': 'integer', 'insulin': 'boolean', 'latest': 'date'})
    >>> with discreet.open(patients, budget=1.0, ledger=":memory:") as session:
    ...     session.proportion("insulin", epsilon=0.5).guarantee.unit
    'person'
    """
    opened = _opened(tables, table or {}, types or {})
    owners = _persons(opened, person)
    if not isinstance(features, Mapping) or not 1 <= len(features) <= MOST:
        raise BadInput(f"features is {short(features)}; give 1 to {MOST} by name, as in {{'visits': 'count'}}")
    kinds = {name: one.kinds for name, one in opened.items()}
    made = tuple(feature_of(name, text, kinds, owners) for name, text in features.items())
    source = JoinedPeople(opened, owners, made)
    place = json.dumps([{name: one.identity for name, one in opened.items()}, owners, dict(features)])
    texts = any(opened[one.table].of_texts and one.kind == "unknown" for one in made)
    complete = frozenset(one.name for one in made if one.verb in COMPLETE)
    return Table(source, source.kinds, place, of_texts=texts, unit="person", complete=complete)


def _opened(
    tables: Mapping[str, Any], called: Mapping[str, str], types: Mapping[str, Mapping[str, str]]
) -> dict[str, Table]:
    if not isinstance(tables, Mapping) or not tables:
        raise BadInput(f"the tables are {short(tables)}; give them by name, as in {{'visits': t1, 'drugs': t2}}")
    for option, given in (("table", called), ("types", types)):
        if not isinstance(given, Mapping) or not all(name in tables for name in given):
            raise BadInput(f"{option} is {short(given)}; give it by the names of tables: {', '.join(map(str, tables))}")
    found = {}
    for name, source in tables.items():
        if not isinstance(name, str) or not name.strip():
            raise BadInput(f"a table is called {short(name)}; give it a name, for example 'visits'")
        database = isinstance(source, str) and "://" in source
        try:
            found[name] = read(source, table=called.get(name, name if database else None), types=types.get(name))
        except BadInput as error:
            raise BadInput(f"table {name!r}: {error}") from None
    return found


def _persons(tables: Mapping[str, Table], person: str | Mapping[str, str]) -> dict[str, str]:
    """The column of each table that says whose row it is."""
    found = {}
    for name, table in tables.items():
        mine = person.get(name) if isinstance(person, Mapping) else person
        if mine is None:
            raise BadInput(f"person names no column of the table {name!r}; say whose row each is, for every table")
        try:
            found[name] = known(table, mine)
        except BadInput as error:
            raise BadInput(f"person, in the table {name!r}: {error}") from None
    return found


@dataclass(frozen=True)
class JoinedPeople:
    """A row for everyone who has one in any of the tables. It is made once, when it is first read."""

    tables: Mapping[str, Table]
    persons: Mapping[str, str]
    features: tuple[Feature, ...]
    _: KW_ONLY
    ordered: bool = False  # [joined_people.2]

    @property
    def names(self) -> tuple[str, ...]:
        """Of the features."""
        return tuple(one.name for one in self.features)

    @property
    def kinds(self) -> Mapping[str, Kind]:
        """As the features declare them: [person_features.1]."""
        return {one.name: one.kind for one in self.features}

    @property
    def description(self) -> str:
        """The tables in words."""
        return "one row a person, of " + " and ".join(
            f"{name} ({one.description})" for name, one in self.tables.items()
        )

    def size(self) -> int | None:
        """The number of people; all tables are read for it."""
        return len(self.made[self.names[0]])

    def pieces(self, columns: Sequence[str]) -> Iterator[Piece]:
        """All people at once."""
        yield lambda: {name: self.made[name] for name in columns}

    @cached_property
    def made(self) -> dict[str, Values]:
        """Every feature, a row a person. [joined_people.1]"""
        seen: dict[Any, int] = {}
        read_in = {name: self._rows(name, seen) for name in self.tables}
        return {one.name: _fold(one, *read_in[one.table][one.name], len(seen)) for one in self.features}

    def _rows(self, name: str, seen: dict[Any, int]) -> dict[str, tuple[Codes, Values, Floats | None]]:
        """For each feature of a table whose rows count, what they hold, and what orders them."""
        mine = [one for one in self.features if one.table == name]
        table, person = self.tables[name], self.persons[name]
        needed = tuple(dict.fromkeys([person, *(column for one in mine for column in one.reads)]))

        def entries(columns: Mapping[str, Any]) -> tuple[Any, list[tuple[Values | None, Values, Floats | None]]]:
            cells = PieceCells(columns, table.kinds)
            length = len(next(iter(columns.values())))
            return columns[person], [_entries(one, cells, length) for one in mine]

        whose: list[Codes] = []
        pieces: list[list[tuple[Values | None, Values, Floats | None]]] = []
        for ids, found in table.in_pieces(needed, entries):
            whose.append(_owners(ids, table.kinds[person], seen))
            pieces.append(found)
        codes = np.concatenate([np.empty(0, dtype=np.int64), *whose])
        return {one.name: _kept(codes, [found[at] for found in pieces]) for at, one in enumerate(mine)}


def _owners(ids: Any, kind: Kind, seen: dict[Any, int]) -> Codes:
    """The place of each row's person among all people of all tables; -1 for nobody. [joined_people.1]"""
    codes, distinct = keys(ids, kind)
    found = [rows.key(cell) for cell in distinct]
    written = [str(one) if isinstance(one, int) else one for one in found]  # 5, 5.0 and "5"
    places = [-1 if one is None else seen.setdefault(one, len(seen)) for one in written]
    return np.array(places, dtype=np.int64)[codes]


def _entries(feature: Feature, cells: PieceCells, length: int) -> tuple[Values | None, Values, Floats | None]:
    """Of each row whether it counts, what it holds, and what orders it."""
    kept = None if feature.where is None else feature.where.holds(cells)
    if feature.condition is not None:
        return kept, feature.condition.holds(cells), None
    if feature.column is None:
        return kept, np.ones(length, dtype=np.bool_), None
    if feature.by_place:
        order = None if feature.by is None else _order(cells, feature.by)
        if feature.verb not in ("first", "last"):  # the first, or the last, of dates
            order = cells.floats(feature.column, "date")
        if feature.kind == "number":
            return kept, cells.floats(feature.column, "number"), order
        codes, values = cells.keys(feature.column)
        return kept, values[codes], order
    if feature.verb == "distinct":
        codes, values = cells.keys(feature.column)
        named = np.empty(len(values), dtype=object)
        for at, value in enumerate(values):
            named[at] = rows.key(value)
        return kept, named[codes], None
    return kept, cells.floats(feature.column, "number"), None


def _order(cells: PieceCells, name: str) -> Floats:
    """What orders rows: numbers, or dates; of a column of unknown kind a cell is a number if it can be, else a date."""
    if cells.kinds[name] == "date":
        return cells.floats(name, "date")
    numbers = cells.floats(name, "number")
    return (
        np.where(np.isnan(numbers), cells.floats(name, "date"), numbers) if cells.kinds[name] == "unknown" else numbers
    )


def _kept(
    codes: Codes, pieces: Sequence[tuple[Values | None, Values, Floats | None]]
) -> tuple[Codes, Values, Floats | None]:
    """All pieces, and of them the rows that are somebody's and that where= keeps."""
    if not pieces:
        return codes, np.empty(0), None
    values = np.concatenate([values for _, values, _ in pieces])
    counted = codes >= 0
    if pieces[0][0] is not None:
        counted &= np.concatenate([kept for kept, _, _ in pieces if kept is not None])
    order = None
    if pieces[0][2] is not None:
        order = np.concatenate([order for _, _, order in pieces if order is not None])[counted]
    return codes[counted], values[counted], order


def _fold(feature: Feature, codes: Codes, values: Values, order: Floats | None, people: int) -> Values:
    """One entry a person, of that person's rows. [joined_people.1]"""
    there = np.bincount(codes, minlength=people)
    if feature.verb == "count":
        return np.bincount(codes[values.astype(np.bool_)], minlength=people)
    if feature.verb in ("any", "all"):
        holds = np.bincount(codes[values.astype(np.bool_)], minlength=people)
        return (
            (holds > 0).astype(np.float64) if feature.verb == "any" else np.where(there > 0, holds == there, math.nan)
        )
    known = (
        np.array([one is not None for one in values], dtype=np.bool_) if values.dtype == object else ~np.isnan(values)
    )
    known = known if order is None else known & ~np.isnan(order)
    codes, values = codes[known], values[known]
    if feature.by_place:
        last = feature.verb in ("last", "max")
        return _place(codes, values, None if order is None else order[known], people, last=last)
    if feature.verb == "distinct":
        named: dict[Any, int] = {}
        each = np.array([named.setdefault(one, len(named)) for one in values], dtype=np.int64)
        pairs = np.unique(np.column_stack([codes, each]), axis=0)
        return np.bincount(pairs[:, 0], minlength=people)
    counts = np.bincount(codes, minlength=people)
    with np.errstate(all="ignore"):  # no entry warns
        if feature.verb in ("sum", "mean"):
            sorted_rows = np.lexsort((values, codes))  # [joined_people.2]
            found = np.bincount(codes[sorted_rows], weights=values[sorted_rows], minlength=people).astype(np.float64)
            if feature.verb == "sum":
                return np.where((counts > 0) | (there == 0), found, math.nan)
            return np.where(counts > 0, found / counts, math.nan)
        least = feature.verb == "min"
        found = np.full(people, math.inf if least else -math.inf)
        (np.minimum if least else np.maximum).at(found, codes, values + 0.0)  # [joined_people.2]
    return np.where(counts > 0, found, math.nan)


def _place(codes: Codes, values: Values, order: Floats | None, people: int, *, last: bool) -> Values:
    """The first or the last entry of each person: by `order`, and among equals by the table's order."""
    ranked = np.lexsort((np.zeros(len(codes)) if order is None else order, codes))  # stable: equals stay in order
    ends = np.cumsum(np.bincount(codes, minlength=people))
    starts = np.concatenate([[0], ends[:-1]])
    has = ends > starts
    found = np.full(people, None, dtype=object) if values.dtype == object else np.full(people, math.nan)
    found[has] = values[ranked[(ends[has] - 1) if last else starts[has]]]
    return found
