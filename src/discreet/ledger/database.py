"""One way to speak to two databases: SQLite in a file, PostgreSQL by address.

Claims
    [database.1] A `write` is all or nothing, durable when it returns, and alone: SQLite by BEGIN IMMEDIATE, a
          write-ahead log and synchronous=FULL; PostgreSQL by a lock on the ledger's row and synchronous_commit=on (a
          server that runs with fsync=off is refused). It may run `work` again only after nothing of the last run was
          kept.
    [database.2] Nothing of the database's own errors reaches the user: they can hold what was being written.
    [database.3] One file is one ledger: links are followed to it, a second hard link is refused (SQLite would keep two
          logs of one file), and a file that was moved or replaced while open takes no more writes.

Waiting for SQLite's lock is by short pauses of random length: pauses of equal length starve some of many racers.

A ledger, its key and its anchor are three files, or a server and two files.
"""

import os
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar
from weakref import finalize

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError

from discreet.errors import BadInput, LedgerFault
from discreet.ledger.ledger_tables import LAYOUT, LAYOUTS, LEDGER, METADATA
from discreet.ledger.seal import OWN, WRITTEN_BY_OWNER, Anchor, Seal, given_seal, new_seal
from discreet.privacy.exact import is_number

T = TypeVar("T")
BUSY: Final = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
LONGEST_PAUSE: Final = 0.05
LOCK: Final = 7248110291  # any number, the same for all who make a ledger in one database


class Database:
    """Where a ledger is kept, with `read` and `write`; `reading` allows the former only."""

    def __init__(self, where: str | Path, patience: float, *, reading: bool = False) -> None:
        self.patience, self.reading = patience, reading
        url = _address(where)
        self.path = Path(str(url.database)) if url.get_backend_name() == "sqlite" else None
        self.name = str(self.path) if self.path is not None else _shown(url)
        options: dict[str, Any] = {} if self.path is not None else _patient(url, patience)
        options["hide_parameters"] = True
        try:
            self.engine = sa.create_engine(_only_read(self.path) if self.path and reading else url, **options)
        except ModuleNotFoundError:
            raise BadInput("PostgreSQL needs its driver: pip install 'discreet[postgres]'") from None
        if self.path is not None:
            sa.event.listen(self.engine, "connect", _look if reading else _durable)
            sa.event.listen(self.engine, "begin", _begin)
        self._process = os.getpid()
        finalize(self, _dispose, self.engine, self._process).atexit = False  # a ledger that nobody closed
        self._file: tuple[int, int] | None = None  # which file it was when it was first used

    def read(self, work: Callable[[sa.Connection], T]) -> T:
        """`work` on one unmoving picture of the ledger."""
        return self._run(work, {} if self.path is not None else {"isolation_level": "REPEATABLE READ"})

    def write(self, work: Callable[[sa.Connection], T]) -> T:
        """`work` alone, all or nothing, durable when this returns. [database.1]"""
        if self.reading:
            raise LedgerFault(f"the ledger {self.name} was opened for reading; it may not be written to")
        isolation = {} if self.path is not None else {"isolation_level": "READ COMMITTED"}
        return self._run(work, {"discreet_writes": True, **isolation})

    def create(self, first: Callable[[sa.Connection], None]) -> None:
        """The tables and the first row; of several processes at once, one makes them."""

        def make(connection: sa.Connection) -> None:
            self.alone(connection)
            METADATA.create_all(connection)
            if connection.execute(sa.select(LAYOUT)).first() is None:
                connection.execute(LAYOUT.insert().values(version_num=LAYOUTS[-1]))
            first(connection)

        self.write(make)

    def alone(self, connection: sa.Connection) -> None:
        """Nobody else makes or changes tables until this transaction ends."""
        if self.path is None:
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({LOCK})")

    def exists(self) -> bool:
        """Whether there is a ledger here."""
        if self.path is not None and not self.path.exists():
            return False

        def look(connection: sa.Connection) -> bool:
            if self.path is None and connection.exec_driver_sql("SHOW fsync").scalar() != "on":  # [database.1]
                raise LedgerFault(f"{self.name} runs with fsync=off and forgets in a power cut; set fsync=on")
            return sa.inspect(connection).has_table(LEDGER.name)

        return self.read(look)

    def close(self) -> None:
        """Let go of all connections; after a fork the parent's are left alone."""
        _dispose(self.engine, self._process)

    def _run(self, work: Callable[[sa.Connection], T], options: dict[str, Any]) -> T:
        if self._process != os.getpid():  # after a fork, the parent's connections are left alone
            self.engine.dispose(close=False)
            self._process = os.getpid()
        until, pause = time.monotonic() + self.patience, 0.001
        while True:
            try:
                with self.engine.connect().execution_options(**options) as connection, connection.begin():
                    if self.path is None and "discreet_writes" in options:
                        connection.exec_driver_sql("SET LOCAL synchronous_commit TO on")  # [database.1]
                        connection.exec_driver_sql(f"SET LOCAL lock_timeout TO {round(1000 * self.patience)}")
                    result = work(connection)
                    self._same_file()  # [database.3] before the commit
                    return result
            except (SQLAlchemyError, sqlite3.Error) as error:
                code = _code(error)
                if code not in BUSY or time.monotonic() > until:
                    raise self._fault(error, code) from None  # [database.2]
            time.sleep(pause * int.from_bytes(os.urandom(2), "big") / 2**16)
            pause = min(2 * pause, LONGEST_PAUSE)

    def _fault(self, error: Exception, code: int | None) -> LedgerFault:
        """What went wrong, in our words."""
        known = {
            sqlite3.SQLITE_FULL: "the disk is full",
            sqlite3.SQLITE_BUSY: f"others have been writing to it for {self.patience:g} s",
            sqlite3.SQLITE_READONLY: "it may not be written to",
            sqlite3.SQLITE_CANTOPEN: "there is no such file, or it may not be opened",
            sqlite3.SQLITE_NOTADB: "it is not a ledger",
            sqlite3.SQLITE_CORRUPT: "the file is damaged",
            sqlite3.SQLITE_IOERR: "the disk does not take or give what it should",
        }
        state = getattr(getattr(error, "orig", None), "sqlstate", None)
        why = known.get(code, "the database refuses") if code is not None else f"the database does not answer ({state})"
        return LedgerFault(
            f"the ledger {self.name} cannot be used: {why}; nothing is shown. Ask again with the same request, which "
            "is charged once at most"
        )

    def _same_file(self) -> None:
        """That the file still is where it was opened, under this name alone. [database.3]"""
        if self.path is None:
            return
        try:
            found = self.path.stat()
        except OSError:
            raise self._moved() from None
        if found.st_nlink > 1:
            raise LedgerFault(
                f"the ledger {self.name} has {found.st_nlink} hard links, and each would keep a log of its own; "
                "nothing is charged: remove the other names, and make copies with `cp`"
            )
        self._file = self._file or (found.st_dev, found.st_ino)
        if self._file != (found.st_dev, found.st_ino):
            raise self._moved()

    def _moved(self) -> LedgerFault:
        return LedgerFault(
            f"the ledger {self.name} was moved, deleted or replaced while it was open; nothing is charged: put it "
            "back, or open it anew"
        )


def _dispose(engine: sa.Engine, process: int) -> None:
    """Close the connections that this process opened."""
    engine.dispose(close=process == os.getpid())


def _address(where: str | Path) -> sa.URL:
    if not isinstance(where, str | Path) or not str(where):
        raise BadInput(f"the ledger is {where!r}; give the path of a file, or postgresql://...")
    if str(where) == ":memory:":
        raise BadInput(
            "a ledger must outlive its process; give the path of a file. For a trial, "
            'discreet.open(table, budget=1.0, ledger=":memory:") keeps one until the session is closed'
        )
    if isinstance(where, Path) or "://" not in where:
        return _file_url(Path(where))
    try:
        url = sa.make_url(where.replace("postgres://", "postgresql://", 1))
        name = url.get_backend_name()
    except (ArgumentError, NoSuchModuleError, ValueError):
        raise BadInput("the ledger's address cannot be read; give a path, or postgresql://user@host/name") from None
    if name == "postgresql":
        return url.set(drivername="postgresql+psycopg")
    if name != "sqlite":
        raise BadInput(f"ledgers are kept in SQLite or PostgreSQL, not in {name}; give a path, or postgresql://...")
    if not url.database or ":memory:" in url.database or url.query or url.database.startswith("file:"):
        raise BadInput("a ledger must outlive its process; give the path of a file, not a database in memory")
    return _file_url(Path(url.database))


def _file_url(path: Path) -> sa.URL:
    try:
        return sa.URL.create("sqlite+pysqlite", database=str(path.resolve()))  # [database.3]
    except (OSError, RuntimeError, ValueError):
        raise BadInput(f"the ledger's path {str(path)!r} leads nowhere; give the path of a file") from None


def _patient(url: sa.URL, patience: float) -> dict[str, Any]:
    """A server that does not answer is not waited for longer than others are, unless the address says so."""
    wait = {} if "connect_timeout" in url.query else {"connect_timeout": max(2, round(patience))}
    return {"pool_pre_ping": True, "connect_args": wait}


def _shown(url: sa.URL) -> str:
    """An address without what could be secret in it: the password, and all after the question mark."""
    return url.set(query={}).render_as_string(hide_password=True)


def _only_read(path: Path) -> sa.URL:
    """A log beside the file is left alone. If there is none, SQLite makes one, and may take it away again.

    Where nothing can be written, nobody else writes either, and SQLite needs no log.
    """
    log, writable = path.with_name(f"{path.name}-wal").exists(), os.access(path.parent, os.W_OK)
    query = {"mode": "ro" if log or not writable else "rw", "uri": "true"}
    query |= {} if log or writable else {"immutable": "1"}
    return sa.URL.create("sqlite+pysqlite", database=path.as_uri(), query=query)


def _look(connection: sqlite3.Connection, record: object) -> None:
    _careful(connection, record)
    connection.execute("PRAGMA query_only = 1")


def _careful(connection: sqlite3.Connection, _record: object) -> None:
    connection.isolation_level = None  # BEGIN is ours: see _begin
    connection.execute("PRAGMA busy_timeout = 50")
    connection.execute("PRAGMA trusted_schema = OFF")


def _durable(connection: sqlite3.Connection, record: object) -> None:
    _careful(connection, record)
    if connection.execute("PRAGMA journal_mode = WAL").fetchone()[0] != "wal":  # [database.1]
        raise LedgerFault("this file system cannot hold a write-ahead log; keep the ledger on a local disk")
    connection.execute("PRAGMA synchronous = FULL")  # [database.1]
    connection.execute("PRAGMA fullfsync = 1")


def _begin(connection: sa.Connection) -> None:
    writes = connection.get_execution_options().get("discreet_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")  # [database.1]


def _code(error: Exception) -> int | None:
    """SQLite's primary result code."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    code = getattr(cause, "sqlite_errorcode", None)
    return None if code is None else int(code) & 0xFF


def parts(
    where: str | Path, key: bytes | str | Path | None, anchor: str | Path | None, patience: float, *, make: bool
) -> tuple[Database, Seal, Anchor | None]:
    """The database, the key and the anchor; a key is made beside a file that is not there, if `make` allows it."""
    database, heads = place(where, anchor, patience, make=make)
    kept = key_path(database, key)
    if key is not None:
        seal = given_seal(key, WRITTEN_BY_OWNER if make else None)
    elif kept is None:
        raise BadInput(
            "a ledger in PostgreSQL needs key=: the path of a key file that the database's users cannot read"
        )
    else:
        if not make:
            there(database)
        seal = new_seal(kept) if make and not database.exists() else given_seal(kept, OWN if make else None)
    files = [path.resolve() for path in (database.path, kept, heads.path if heads else None) if path]
    if len(set(files)) < len(files):
        raise BadInput("the ledger, its key and its anchor are three files; give each a name of its own")
    return database, seal, heads


def place(
    where: str | Path, anchor: str | Path | None, patience: float, *, make: bool
) -> tuple[Database, Anchor | None]:
    """The database and the anchor."""
    if not is_number(patience) or not 0 < patience < 1e6:
        raise BadInput(f"patience is {patience!r}; give the seconds to wait for other writers, for example 30")
    database = Database(where, patience, reading=not make)
    heads = beside(database, ".anchor") if anchor is None else Path(anchor).absolute()
    return database, None if heads is None else Anchor(heads)


def key_path(database: Database, key: bytes | str | Path | None) -> Path | None:
    """The file that the key is in, if it is in one."""
    return beside(database, ".key") if key is None else None if isinstance(key, bytes) else Path(key)


def beside(database: Database, ending: str) -> Path | None:
    """A file beside the ledger's, if it is in a file."""
    return None if database.path is None else database.path.with_name(database.path.name + ending)


def there(database: Database) -> None:
    """That there is a ledger."""
    if not database.exists():
        raise LedgerFault(f"there is no ledger at {database.name}; it was moved or deleted, or the path is wrong")


def is_there(where: str | Path) -> bool:
    """Whether there is a ledger; nothing is made or written."""
    database = Database(where, 30.0, reading=True)
    try:
        return database.exists()
    finally:
        database.close()
