"""Every test of the ledger runs on SQLite and on a real PostgreSQL server."""

from pathlib import Path

import pytest
from benchmarks.ledger import Place, prepared


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "sqlite":
        return prepared(str(tmp_path / "ledger"), tmp_path)
    return prepared(request.getfixturevalue("server")(), tmp_path)


@pytest.fixture
def file(tmp_path: Path) -> Place:
    """For what is of a file only."""
    return prepared(str(tmp_path / "ledger"), tmp_path)
