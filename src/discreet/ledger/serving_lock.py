"""One server on one ledger: a lock that the operating system, or PostgreSQL, lets go of when the server is gone.

Two servers would each put back what the other one's workers are at. Nothing would be charged twice ([store.2]), but a
request would be tried more often than it should be, and the times at which answers leave would be moved.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa

from discreet.errors import BadInput
from discreet.ledger.database import LOCK, Database
from discreet.ledger.durable_files import opened

TAKEN = "another server works on this ledger; stop that one first. Its workers share the work: set `workers`"


@contextmanager
def serving_alone(where: str | Path) -> Iterator[None]:
    """Hold the lock of a ledger; BadInput if another server does."""
    database = Database(where, 30.0)
    try:
        with _file(database.path) if database.path is not None else _row(database.engine):
            yield
    finally:
        database.close()


@contextmanager
def _file(ledger: Path) -> Iterator[None]:
    import fcntl

    handle = opened(ledger.with_name(f"{ledger.name}.serving"), os.O_RDWR | os.O_CREAT, 0o600)  # no child inherits it
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BadInput(TAKEN) from None
        yield
    finally:
        os.close(handle)


@contextmanager
def _row(engine: sa.Engine) -> Iterator[None]:
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        if not connection.exec_driver_sql(f"SELECT pg_try_advisory_lock({LOCK + 1})").scalar():
            raise BadInput(TAKEN)
        yield
        connection.exec_driver_sql(f"SELECT pg_advisory_unlock({LOCK + 1})")
