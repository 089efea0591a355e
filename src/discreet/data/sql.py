"""Tables in databases: SQLite, DuckDB and PostgreSQL, opened to read only, streamed, only the columns asked for.

The one text that reaches a query is a name that the database's own catalogue holds, between quotes; the catalogue is
asked with bound parameters. A table is read in the order in which the database gives it, which for PostgreSQL may
change when the table does. What a database raises is not told, as it may hold a value, or the password of the address.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol
from urllib.parse import quote

from discreet.data.cells import Kind, plain
from discreet.data.source import Piece, guarded, named
from discreet.errors import BadInput

ROWS: Final = 2**16  # rows of a batch
COLUMNS: Final = (
    "SELECT table_schema, column_name, data_type FROM information_schema.columns"
    " WHERE table_name = {} ORDER BY table_schema, ordinal_position"
)
Catalogue = list[tuple[str, str, str]]  # schema, column, declared type


class Engine(Protocol):
    """What differs between databases."""

    @property
    def title(self) -> str:
        """As people call it."""
        ...

    def connect(self) -> Any:
        """A connection that only reads."""
        ...

    def catalogue(self, connection: Any, table: str) -> Catalogue:
        """The columns of tables of that name."""
        ...

    def home(self, connection: Any) -> str:
        """The schema that is meant where none is said."""
        ...

    def count(self, connection: Any, query: str) -> int:
        """One whole number."""
        ...

    def batches(self, connection: Any, query: str, columns: Sequence[str]) -> Iterator[Mapping[str, Any]]:
        """The rows, some at a time."""
        ...


@dataclass(frozen=True)
class Sqlite:
    """SQLite through Python's own module."""

    file: Path
    title: str = "SQLite"

    def connect(self) -> Any:
        """By an address that says read-only."""
        import sqlite3

        connection = sqlite3.connect(
            f"file:{quote(str(self.file.resolve()))}?mode=ro", uri=True, check_same_thread=False
        )
        connection.text_factory = lambda text: text.decode("utf-8", "replace")
        return connection

    def catalogue(self, connection: Any, table: str) -> Catalogue:
        """Its tables have no schema."""
        found = connection.execute(
            "SELECT '', c.name, c.type FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.name = ?"
            " AND m.type IN ('table', 'view') ORDER BY c.cid",
            (table,),
        )
        return list(found.fetchall())

    def home(self, connection: Any) -> str:  # noqa: ARG002
        """None."""
        return ""

    def count(self, connection: Any, query: str) -> int:
        """One whole number."""
        return int(connection.execute(query).fetchone()[0])

    def batches(self, connection: Any, query: str, columns: Sequence[str]) -> Iterator[Mapping[str, Any]]:
        """Its cells are of any type, whatever the column's."""
        cursor = connection.execute(query)
        while found := cursor.fetchmany(ROWS):
            yield dict(zip(columns, zip(*found, strict=True), strict=True))


@dataclass(frozen=True)
class Duck:
    """DuckDB through its package."""

    file: Path
    title: str = "DuckDB"

    def connect(self) -> Any:
        """Opened read-only."""
        import duckdb

        return duckdb.connect(str(self.file), read_only=True)

    def catalogue(self, connection: Any, table: str) -> Catalogue:
        """As the standard has it."""
        return list(connection.execute(COLUMNS.format("?"), [table]).fetchall())

    def home(self, connection: Any) -> str:
        """The schema in use."""
        return str(connection.execute("SELECT current_schema()").fetchone()[0])

    def count(self, connection: Any, query: str) -> int:
        """One whole number."""
        return int(connection.execute(query).fetchone()[0])

    def batches(self, connection: Any, query: str, columns: Sequence[str]) -> Iterator[Mapping[str, Any]]:
        """Arrow's batches."""
        relation = connection.sql(query)
        reader = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader
        for batch in reader(ROWS):
            yield dict(zip(columns, batch.columns, strict=True))


@dataclass(frozen=True)
class Postgres:
    """PostgreSQL through ADBC, which hands over Arrow's batches."""

    address: str
    title: str = "PostgreSQL"

    def connect(self) -> Any:
        """For reading; two scans at once shall not share their place, as that would change the order of rows."""
        from adbc_driver_postgresql import dbapi

        connection = dbapi.connect(self.address, autocommit=True)
        with connection.cursor() as cursor:
            cursor.execute("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY")
            cursor.execute("SET synchronize_seqscans = off")
        return connection

    def catalogue(self, connection: Any, table: str) -> Catalogue:
        """As the standard has it."""
        with connection.cursor() as cursor:
            cursor.execute(COLUMNS.format("$1"), (table,))
            return list(cursor.fetchall())

    def home(self, connection: Any) -> str:
        """The first schema of the search path."""
        with connection.cursor() as cursor:
            cursor.execute("SELECT current_schema()::text")
            return str(cursor.fetchone()[0])

    def count(self, connection: Any, query: str) -> int:
        """One whole number."""
        with connection.cursor() as cursor:
            cursor.execute(query)
            return int(cursor.fetchone()[0])

    def batches(self, connection: Any, query: str, columns: Sequence[str]) -> Iterator[Mapping[str, Any]]:
        """Arrow's batches."""
        with connection.cursor() as cursor:
            cursor.execute(query)
            for batch in cursor.fetch_record_batch():
                yield dict(zip(columns, batch.columns, strict=True))


def kind_in_sql(declared: str) -> Kind:
    """The kind of a column as databases write its type; of one that holds several things, or none of ours, unknown."""
    word = declared.upper().strip()
    if word.endswith("]") or word.startswith(("STRUCT", "MAP", "UNION", "INTERVAL", "POINT")):
        return "unknown"
    if word.startswith("BOOL"):
        return "truth"
    if word.startswith(("DATE", "TIMESTAMP")):
        return "date"
    if any(part in word for part in ("CHAR", "TEXT", "CLOB", "ENUM", "STRING")):
        return "text"
    if "INT" in word:
        return "whole"
    return "number" if any(part in word for part in ("REAL", "FLOA", "DOUB", "NUMERIC", "DECIMAL")) else "unknown"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@dataclass(frozen=True)
class InDatabase:
    """One table of a database."""

    engine: Engine
    place: str  # the table between quotes
    names: tuple[str, ...]
    kinds: Mapping[str, Kind]
    description: str

    @classmethod
    def read(cls, engine: Engine, table: str) -> "InDatabase":
        """The table's columns, from the catalogue."""
        if "\0" in table:
            raise BadInput("table= holds a zero character; give the name of a table")
        schema, name, found = _with(engine, lambda connection: _found(engine, connection, table))
        if not found:
            raise BadInput(f"the {engine.title} database has no table {table!r} that can be read; check its name")
        names = named([column for _, column, _ in found], f"the table {table!r}")
        kinds = {column: kind_in_sql(declared) for _, column, declared in found}
        place = f"{_quoted(schema)}.{_quoted(name)}" if schema else _quoted(name)
        return cls(engine, place, names, kinds, f"table {table!r} of a {engine.title} database")

    def size(self) -> int | None:
        """As the database counts."""
        query = f"SELECT count(*) FROM {self.place}"  # noqa: S608  a name of the catalogue
        return int(_with(self.engine, lambda connection: self.engine.count(connection, query)))

    def pieces(self, columns: Sequence[str]) -> Iterator[Piece]:
        """A batch each."""
        query = f"SELECT {', '.join(map(_quoted, columns))} FROM {self.place}"  # noqa: S608  names of the catalogue
        with closing(_connected(self.engine)) as connection:
            for batch in self.engine.batches(connection, query, columns):
                yield lambda batch=batch: {name: plain(column) for name, column in batch.items()}  # type: ignore[misc]


def _found(engine: Engine, connection: Any, table: str) -> tuple[str, str, Catalogue]:
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


def _with(engine: Engine, work: Callable[[Any], Any]) -> Any:
    with closing(_connected(engine)) as connection:
        return guarded(lambda: work(connection), BadInput(f"the {engine.title} database does not answer; try again"))


def _connected(engine: Engine) -> Any:
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
