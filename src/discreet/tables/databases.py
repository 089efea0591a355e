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

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any, Final, Protocol
from urllib.parse import quote

from discreet.errors import BadInput
from discreet.privacy.declaration import Kind
from discreet.tables.cells import plain
from discreet.tables.frames import Piece, guarded, named

ROWS: Final = 2**16  # rows of a batch
COLUMNS: Final = (
    "SELECT table_schema, column_name, data_type FROM information_schema.columns"
    " WHERE table_name = {} ORDER BY table_schema, ordinal_position"
)
STORED: Final = (  # other than plain tables, those that are a part of them too; computed columns; policies for rows
    "WITH RECURSIVE part AS (SELECT c.oid, c.relkind FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
    " WHERE n.nspname = $1 AND c.relname = $2 UNION SELECT c.oid, c.relkind FROM part JOIN pg_inherits i"
    " ON i.inhparent = part.oid JOIN pg_class c ON c.oid = i.inhrelid) SELECT count(*) FROM part"
    " LEFT JOIN pg_attribute a ON a.attrelid = part.oid AND a.attgenerated = 'v'"
    " WHERE part.relkind NOT IN ('r', 'p') OR a.attrelid IS NOT NULL OR row_security_active(part.oid)"
)
NAMED: Final = re.compile(r"""\"(?:[^"]|"")*\"|'(?:[^']|'')*'""")  # names and texts of a statement
COMPUTED: Final = re.compile(r"\bGENERATED\b", re.IGNORECASE)
ENCODING: Final = "SELECT pg_encoding_to_char(encoding)::text FROM pg_database WHERE datname = current_database()"
SETTINGS: Final = (  # read only; rows as they are stored, by one process and from the first; texts of one form
    "SESSION CHARACTERISTICS AS TRANSACTION READ ONLY",
    "synchronize_seqscans = off",
    "max_parallel_workers_per_gather = 0",
    "enable_indexscan = off",
    "enable_indexonlyscan = off",
    "client_encoding = 'UTF8'",
    "DateStyle = 'ISO'",
    "IntervalStyle = 'postgres'",
    "TimeZone = 'UTC'",
)
AS_THEY_ARE: Final = (  # [databases.1]
    *("BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"),
    *("REAL", "FLOAT", "DOUBLE", "DOUBLE PRECISION", "TEXT", "VARCHAR", "CHARACTER VARYING", "CHARACTER"),
)
IN_DUCKDB: Final = ("DECIMAL", "DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS")  # as Arrow has them
Catalogue = list[tuple[str, str, str]]  # schema, column, declared type


class Backend(Protocol):
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

    def stored(self, connection: Any, schema: str, table: str) -> bool:
        """Whether the table holds its rows, and computes none of them."""
        ...

    def home(self, connection: Any) -> str:
        """The schema that is meant where none is said."""
        ...

    def query(self, columns: Mapping[str, str], place: str) -> str:
        """That for all rows as they are stored; columns with their declared types."""
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
        connection.execute("PRAGMA trusted_schema = OFF")
        return connection

    def catalogue(self, connection: Any, table: str) -> Catalogue:
        """Its tables have no schema."""
        found = connection.execute(
            "SELECT '', c.name, c.type FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.name = ?"
            " AND m.type IN ('table', 'view') ORDER BY c.cid",
            (table,),
        )
        return list(found.fetchall())

    def stored(self, connection: Any, schema: str, table: str) -> bool:  # noqa: ARG002
        """It has a page of the file, which views and virtual tables have not. [databases.1]"""
        query = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND rootpage > 0 AND name = ?"
        return bool(connection.execute(query, (table,)).fetchone()[0])

    def home(self, connection: Any) -> str:  # noqa: ARG002
        """None."""
        return ""

    def query(self, columns: Mapping[str, str], place: str) -> str:
        """An index would give them in its own order. Cells come as they are: it has no types that could fail."""
        return f"SELECT {', '.join(map(_quoted, columns))} FROM {place} NOT INDEXED"  # noqa: S608

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
        """Opened read-only, with no access to other files or the network, and no way to get it."""
        import duckdb

        return duckdb.connect(
            str(self.file),
            read_only=True,
            config={
                "enable_external_access": "false",
                "autoload_known_extensions": "false",
                "python_enable_replacements": "false",
                "preserve_insertion_order": "true",
                "lock_configuration": "true",
            },
        )

    def catalogue(self, connection: Any, table: str) -> Catalogue:
        """As the standard has it."""
        return list(connection.execute(COLUMNS.format("?"), [table]).fetchall())

    def stored(self, connection: Any, schema: str, table: str) -> bool:
        """A table of the file without computed columns: DuckDB does not check those on an update. [databases.1]"""
        query = "SELECT sql FROM duckdb_tables() WHERE schema_name = ? AND table_name = ?"
        made = connection.execute(query, [schema, table]).fetchall()
        return bool(made) and not any(COMPUTED.search(NAMED.sub("", str(sql))) for (sql,) in made)

    def home(self, connection: Any) -> str:
        """The schema in use."""
        return str(connection.execute("SELECT current_schema()").fetchone()[0])

    def query(self, columns: Mapping[str, str], place: str) -> str:
        """[databases.1]"""
        return f"SELECT {', '.join(_texts(columns, 'TRY_CAST({} AS VARCHAR)', IN_DUCKDB))} FROM {place}"  # noqa: S608

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
        """For reading."""
        from adbc_driver_postgresql import dbapi

        connection = dbapi.connect(self.address, autocommit=True)
        with connection.cursor() as cursor:
            for setting in SETTINGS:
                cursor.execute(f"SET {setting}")
        return connection

    def catalogue(self, connection: Any, table: str) -> Catalogue:
        """As the standard has it."""
        with connection.cursor() as cursor:
            cursor.execute(COLUMNS.format("$1"), (table,))
            return list(cursor.fetchall())

    def stored(self, connection: Any, schema: str, table: str) -> bool:
        """Not a view or a foreign table; neither a column nor who may see a row is computed. [databases.1]"""
        with connection.cursor() as cursor:
            cursor.execute(ENCODING)
            encoding = str(cursor.fetchone()[0])
            if encoding not in ("UTF8", "LATIN1"):
                raise BadInput(
                    f"the PostgreSQL database keeps texts in {encoding}, and not every one of them has a form in UTF-8;"
                    " write the table to a Parquet file and read that"
                )
            cursor.execute(STORED, (schema, table))
            return int(cursor.fetchone()[0]) == 0

    def home(self, connection: Any) -> str:
        """The first schema of the search path."""
        with connection.cursor() as cursor:
            cursor.execute("SELECT current_schema()::text")
            return str(cursor.fetchone()[0])

    def query(self, columns: Mapping[str, str], place: str) -> str:
        """[databases.1]"""
        return f"SELECT {', '.join(_texts(columns, '{}::text'))} FROM {place}"  # noqa: S608

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
        return "boolean"
    if word.startswith(("DATE", "TIMESTAMP")):
        return "date"
    if any(part in word for part in ("CHAR", "TEXT", "CLOB", "ENUM", "STRING")):
        return "text"
    if "INT" in word:
        return "integer"
    return "number" if any(part in word for part in ("REAL", "FLOA", "DOUB", "NUMERIC", "DECIMAL")) else "unknown"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _texts(columns: Mapping[str, str], cast: str, also: Sequence[str] = ()) -> list[str]:
    """Columns by name, those of other than a few types as texts. [databases.1]"""
    words = {name: declared.upper().partition("(")[0].strip() for name, declared in columns.items()}
    return [
        _quoted(name) if word in (*AS_THEY_ARE, *also) else cast.replace("{}", _quoted(name))
        for name, word in words.items()
    ]


@dataclass(frozen=True)
class InDatabase:
    """One table of a database."""

    engine: Backend
    _: KW_ONLY
    place: str  # the table between quotes
    types: Mapping[str, str]  # as they are declared there
    description: str
    ordered: bool = False

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
            raise BadInput(f"the {engine.title} database has no table {table!r} that can be read; check its name")
        if not _with(engine, lambda connection: engine.stored(connection, schema, name)):  # [databases.1]
            raise BadInput(
                f"{table!r} is a view, or another table whose rows are computed or fetched when they are read; a value "
                "could make that fail after the budget was spent. Store its rows in a table (CREATE TABLE ... AS "
                "SELECT ...) and open that, or write them to a Parquet file"
            )
        names = named([column for _, column, _ in found], f"the table {table!r}")
        types = {name: str(declared) for name, (_, _, declared) in zip(names, found, strict=True)}
        place = f"{_quoted(schema)}.{_quoted(name)}" if schema else _quoted(name)
        return cls(engine, place=place, types=types, description=f"table {table!r} of a {engine.title} database")

    def size(self) -> int | None:
        """As the database counts."""
        query = f"SELECT count(*) FROM {self.place}"  # noqa: S608  a name of the catalogue
        return int(_with(self.engine, lambda connection: self.engine.count(connection, query)))

    def pieces(self, columns: Sequence[str]) -> Iterator[Piece]:
        """A batch each."""
        query = self.engine.query({name: self.types[name] for name in columns}, self.place)  # names of the catalogue
        with closing(_connected(self.engine)) as connection:
            for batch in self.engine.batches(connection, query, columns):
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
