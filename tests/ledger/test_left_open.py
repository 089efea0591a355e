"""A ledger that nobody closed lets go of its file when it is forgotten."""

import gc
from pathlib import Path

from discreet.ledger.database import Database


def test_a_database_that_is_forgotten_closes_its_connections(tmp_path: Path) -> None:
    """Python 3.13 and newer warn of a connection that is left open."""
    database = Database(tmp_path / "ledger", 1.0)
    database.write(lambda connection: connection.exec_driver_sql("SELECT 1").scalar())
    engine = database.engine
    before = engine.pool.checkedin()  # type: ignore[attr-defined]
    del database
    gc.collect()
    assert (before, engine.pool.checkedin()) == (1, 0)  # type: ignore[attr-defined]
