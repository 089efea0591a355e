from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from benchmarks.ledger import Place

from discreet.accounting.filter import Budget
from discreet.errors import LedgerFault
from discreet.ledger.database import Database
from discreet.ledger.ledger_tables import LEDGER
from discreet.privacy.loss import Laplace


@pytest.mark.claim("database.1")
def test_sqlite_is_set_to_be_durable(file: Place) -> None:
    with file.open() as ledger:
        read = ledger._database.read
        assert read(lambda c: c.exec_driver_sql("PRAGMA journal_mode").scalar()) == "wal"
        assert read(lambda c: c.exec_driver_sql("PRAGMA synchronous").scalar()) == 2


@pytest.mark.claim("database.1")
def test_postgresql_is_set_to_be_durable(server: Any) -> None:
    database = Database(server() + "%20-csynchronous_commit%3Doff", 10.0)
    assert database.read(lambda c: c.exec_driver_sql("SHOW synchronous_commit").scalar()) == "off"
    assert database.write(lambda c: c.exec_driver_sql("SHOW synchronous_commit").scalar()) == "on"
    assert database.write(lambda c: c.exec_driver_sql("SHOW transaction_isolation").scalar()) == "read committed"
    database.close()


@pytest.mark.claim("database.1")
def test_a_write_that_fails_leaves_nothing(place: Place) -> None:
    with place.open() as ledger:

        def half(connection: sa.Connection) -> None:
            connection.execute(sa.update(LEDGER).values(number=77))
            raise KeyError

        with pytest.raises(KeyError):
            ledger._database.write(half)
        assert ledger.verify().ok


@pytest.mark.claim("database.2")
def test_the_database_s_own_errors_stay_inside(place: Place) -> None:
    def wrong(connection: sa.Connection) -> None:
        connection.execute(sa.text("SELECT * FROM nowhere WHERE x = :secret"), {"secret": "patient Oedipus"})

    with place.open() as ledger, pytest.raises(LedgerFault, match="cannot be used") as caught:
        ledger._database.write(wrong)
    assert "Oedipus" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


@pytest.mark.claim("pages.2")
def test_a_balance_reads_one_row(place: Place) -> None:
    with place.open() as ledger:
        ledger.open("people", Budget(1.0))
        for _ in range(5):
            ledger.charge("people", Laplace(0.1), "x")
        asked: list[str] = []
        sa.event.listen(ledger._database.engine, "before_cursor_execute", lambda *event: asked.append(event[2]))
        ledger.balance("people")
        tables = [statement for statement in asked if "discreet_" in statement]
        assert len(tables) == 1
        assert "discreet_accounts" in tables[0]


def test_a_ledger_that_may_not_be_written_says_so(file: Place) -> None:
    with file.open() as ledger:
        ledger.open("people", Budget(1.0))

        @sa.event.listens_for(ledger._database.engine, "begin")
        def read_only(connection: sa.Connection) -> None:
            connection.exec_driver_sql("PRAGMA query_only = 1")

        with pytest.raises(LedgerFault, match="may not be written"):
            ledger.charge("people", Laplace(0.1), "x")


def test_a_fork_leaves_the_parent_s_connections_alone(file: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    with file.open() as ledger:
        ledger.open("people", Budget(1.0))
        pool = ledger._database.engine.pool
        monkeypatch.setattr("os.getpid", lambda: 1)
        ledger.charge("people", Laplace(0.1), "x")
        assert ledger._database.engine.pool is not pool
        pool.dispose()


def test_an_address_is_shown_without_its_password() -> None:
    database = Database("postgres://ann:secret@host/db", 1.0)
    assert database.name == "postgresql+psycopg://ann:***@host/db"
    assert Database("x.ledger", 1.0).path == Path("x.ledger").absolute()
