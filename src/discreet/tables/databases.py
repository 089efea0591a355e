"""Tables in databases: SQLite, DuckDB and PostgreSQL, opened to read only, streamed, only the columns asked for.

Promise
    [databases.1] No value of a table decides whether it can be read: a table is refused when it is opened, or never.

Why
    [databases.1] A view computes what it shows, and so do a foreign or virtual table, a computed column that is not
    stored and a policy that says who may see which rows: one value could make that fail. They are refused by what the
    catalogue says of them. Of a stored table, columns of a few types come as they are, those whose every value Arrow
    has too. All others come as the database's own texts, which it has for every value it can hold: their conversion to
    Arrow might fail, as that of long intervals does. PostgreSQL recodes texts if its encoding is not UTF-8, and not all
    of them can be: of other encodings, LATIN1 alone is read.  The one text that reaches a query is a name that the
    database's own catalogue holds, between quotes; the catalogue is asked with bound parameters. A table of a database
    has no order: a row that is updated may move to the end. Rows are read as they are stored, whatever indexes there
    are, so that those of one person keep their order. What a database raises is not told, as it may hold a value, or
    the password of the address. Nothing but the database itself is read: DuckDB has no access to other files or the
    network, and SQLite loads no extension.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

from discreet.errors import BadInput, meant
from discreet.privacy.declaration import Kind
from discreet.tables.backends import Backend, Catalogue, quoted
from discreet.tables.cells import plain
from discreet.tables.frames import Piece, guarded, named
from discreet.tables.pushed import Condition, pushed
from discreet.tables.where import Tree


def kind_in_sql(declared: str) -> Kind:
    """The kind of a column as databases write its type; of one that holds several things, or none of ours, unknown."""
    word = declared.upper().strip()
    if word.endswith("]") or word.startswith(("STRUCT", "MAP", "UNION", "INTERVAL", "POINT")):
        return "unknown"
    if word.startswith("BOOL"):
        return "boolean"
    if word.startswith(("DATE", "TIMESTAMP")):
        return "date"
    if any(part in word for part in ("CHAR", "TEXT", "CLOB", "ENUM", "STRING")):
        return "text"
    if "INT" in word:
        return "integer"
    return "number" if any(part in word for part in ("REAL", "FLOA", "DOUB", "NUMERIC", "DECIMAL")) else "unknown"


@dataclass(frozen=True)
class InDatabase:
    """One table of a database."""

    engine: Backend
    _: KW_ONLY
    place: str  # the table between quotes
    types: Mapping[str, str]  # as they are declared there
    description: str
    ordered: bool = False
    condition: Condition | None = None  # of the rows that are asked for

    @property
    def names(self) -> tuple[str, ...]:
        """In their order."""
        return tuple(self.types)

    @property
    def kinds(self) -> Mapping[str, Kind]:
        """By the declared types."""
        return {name: kind_in_sql(declared) for name, declared in self.types.items()}

    @classmethod
    def read(cls, engine: Backend, table: str) -> "InDatabase":
        """The table's columns, from the catalogue."""
        if "\0" in table:
            raise BadInput("table= holds a zero character; give the name of a table")
        schema, name, found = _with(engine, lambda connection: _found(engine, connection, table))
        if not found:
            near = meant(table, _with(engine, engine.tables)).strip() or "check its name"
            raise BadInput(f"the {engine.title} database has no table {table!r} that can be read; {near}")
        if not _with(engine, lambda connection: engine.stored(connection, schema, name)):  # [databases.1]
            raise BadInput(
                f"{table!r} is a view, or another table whose rows are computed or fetched when they are read; a value "
                "could make that fail after the budget was spent. Store its rows in a table (CREATE TABLE ... AS "
                "SELECT ...) and open that, or write them to a Parquet file"
            )
        names = named([column for _, column, _ in found], f"the table {table!r}")
        types = {name: str(declared) for name, (_, _, declared) in zip(names, found, strict=True)}
        place = f"{quoted(schema)}.{quoted(name)}" if schema else quoted(name)
        return cls(engine, place=place, types=types, description=f"table {table!r} of a {engine.title} database")

    def narrowed(self, tree: Tree, kinds: Mapping[str, Kind]) -> "InDatabase":
        """The rows that a filter may keep, and others. [pushed.1]"""
        dialect, own = self.engine.dialect(), self.kinds
        if dialect is None:
            return self
        columns = {name: (quoted(name), self.types[name], kinds[name] == own[name]) for name in self.types}
        return replace(self, condition=pushed(tree, dialect, columns))

    def size(self) -> int | None:
        """As the database counts; of those that a filter may keep, not before they are read."""
        if self.condition is not None:
            return None
        query = f"SELECT count(*) FROM {self.place}"  # noqa: S608  a name of the catalogue
        return int(_with(self.engine, lambda connection: self.engine.count(connection, query)))

    def pieces(self, columns: Sequence[str]) -> Iterator[Piece]:
        """A batch each."""
        query = self.engine.query({name: self.types[name] for name in columns}, self.place)  # names of the catalogue
        constants: Sequence[Any] = ()
        if self.condition is not None:
            query, constants = f"{query} WHERE {self.condition.text}", self.condition.constants  # [pushed.2]
        with closing(_connected(self.engine)) as connection:
            for batch in self.engine.batches(connection, query, columns, constants):
                yield lambda batch=batch: {name: plain(column) for name, column in batch.items()}  # type: ignore[misc]


def _found(engine: Backend, connection: Any, table: str) -> tuple[str, str, Catalogue]:
    """Schema, name and columns of a table: the name as it is, or behind the name of its schema."""
    found = engine.catalogue(connection, table)
    if not found and "." in table:
        schema, _, name = table.partition(".")
        return schema, name, [row for row in engine.catalogue(connection, name) if row[0] == schema]
    schemas = sorted({row[0] for row in found})
    home = engine.home(connection)
    if len(schemas) > 1 and home not in schemas:
        raise BadInput(
            f"several schemas have a table {table!r}: {', '.join(schemas)}; write table='{schemas[0]}.{table}'"
        )
    schema = home if home in schemas else (schemas or [""])[0]
    return schema, table, [row for row in found if row[0] == schema]


def _with(engine: Backend, work: Callable[[Any], Any]) -> Any:
    with closing(_connected(engine)) as connection:
        return guarded(lambda: work(connection), BadInput(f"the {engine.title} database does not answer; try again"))


def _connected(engine: Backend) -> Any:
    package = {"DuckDB": ("duckdb", "tables"), "PostgreSQL": ("adbc_driver_postgresql", "postgres")}.get(engine.title)
    if package is not None:
        from importlib.util import find_spec

        if find_spec(package[0]) is None:
            raise BadInput(
                f"{engine.title} needs a package that is not installed; pip install 'discreet[{package[1]}]'"
            )
    file = getattr(engine, "file", None)
    if file is not None and not file.is_file():
        raise BadInput(f"there is no file {file.name!r} at that place; give the address of an existing database")
    return guarded(
        engine.connect, BadInput(f"the {engine.title} database cannot be opened; check the address and the rights")
    )
