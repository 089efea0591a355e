"""What differs between databases: SQLite, DuckDB, PostgreSQL, opened to read only. What is promised: databases.py."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol
from urllib.parse import quote

from discreet.errors import BadInput
from discreet.tables.pushed import Dialect, InDuckdb, InPostgres

ROWS: Final = 2**16  # rows of a batch
COLUMNS: Final = (
    "SELECT table_schema, column_name, data_type FROM information_schema.columns"
    " WHERE table_name = {} ORDER BY table_schema, ordinal_position"
)
TABLES: Final = "SELECT DISTINCT table_name FROM information_schema.tables"
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

    def tables(self, connection: Any) -> list[str]:
        """What its tables are called."""
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

    def batches(
        self, connection: Any, query: str, columns: Sequence[str], constants: Sequence[Any]
    ) -> Iterator[Mapping[str, Any]]:
        """The rows, some at a time, with constants bound."""
        ...

    def dialect(self) -> Dialect | None:
        """How it is asked to leave out rows; None if it is not."""
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

    def tables(self, connection: Any) -> list[str]:
        """And views."""
        query = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')"
        return [str(name) for (name,) in connection.execute(query)]

    def stored(self, connection: Any, schema: str, table: str) -> bool:  # noqa: ARG002
        """It has a page of the file, which views and virtual tables have not. [databases.1]"""
        query = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND rootpage > 0 AND name = ?"
        return bool(connection.execute(query, (table,)).fetchone()[0])

    def home(self, connection: Any) -> str:  # noqa: ARG002
        """None."""
        return ""

    def query(self, columns: Mapping[str, str], place: str) -> str:
        """An index would give them in its own order. Cells come as they are: it has no types that could fail."""
        return f"SELECT {', '.join(map(quoted, columns))} FROM {place} NOT INDEXED"  # noqa: S608

    def count(self, connection: Any, query: str) -> int:
        """One whole number."""
        return int(connection.execute(query).fetchone()[0])

    def dialect(self) -> Dialect | None:
        """Its cells are of any type, whatever the column's: nothing is known of what it compares."""
        return None

    def batches(
        self, connection: Any, query: str, columns: Sequence[str], constants: Sequence[Any]
    ) -> Iterator[Mapping[str, Any]]:
        """Its cells are of any type, whatever the column's."""
        cursor = connection.execute(query, constants)
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

    def tables(self, connection: Any) -> list[str]:
        """As the standard has it."""
        return [str(name) for (name,) in connection.execute(TABLES).fetchall()]

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

    def dialect(self) -> Dialect | None:
        """With question marks."""
        return InDuckdb()

    def batches(
        self, connection: Any, query: str, columns: Sequence[str], constants: Sequence[Any]
    ) -> Iterator[Mapping[str, Any]]:
        """Arrow's batches."""
        relation = connection.sql(query, params=list(constants)) if constants else connection.sql(query)
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

    def tables(self, connection: Any) -> list[str]:
        """Those that may be read."""
        with connection.cursor() as cursor:
            cursor.execute(TABLES)
            return [str(name) for (name,) in cursor.fetchall()]

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

    def dialect(self) -> Dialect | None:
        """With settings of our own."""
        return InPostgres()

    def batches(
        self, connection: Any, query: str, columns: Sequence[str], constants: Sequence[Any]
    ) -> Iterator[Mapping[str, Any]]:
        """Arrow's batches. A query with parameters would hold all rows: constants are bound to settings before it."""
        with connection.cursor() as cursor:
            for place, constant in enumerate(constants):
                text = constant if isinstance(constant, str) else repr(float(constant))
                cursor.execute("SELECT set_config($1, $2, false)", (f"discreet.constant{place}", text))
                cursor.fetchall()
            cursor.execute(query)
            for batch in cursor.fetch_record_batch():
                yield dict(zip(columns, batch.columns, strict=True))


def quoted(name: str) -> str:
    """A name of the catalogue, between quotes."""
    return '"' + name.replace('"', '""') + '"'


def _texts(columns: Mapping[str, str], cast: str, also: Sequence[str] = ()) -> list[str]:
    """Columns by name, those of other than a few types as texts. [databases.1]"""
    words = {name: declared.upper().partition("(")[0].strip() for name, declared in columns.items()}
    return [
        quoted(name) if word in (*AS_THEY_ARE, *also) else cast.replace("{}", quoted(name))
        for name, word in words.items()
    ]
