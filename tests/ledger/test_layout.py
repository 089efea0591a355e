"""Ledgers of older layouts, of newer ones, and of ones that break on the way."""

import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from benchmarks.ledger import Place

from discreet.accounting.filter import Budget
from discreet.errors import LedgerFault
from discreet.ledger import Ledger, database, examine, layout
from discreet.ledger.database import Database
from discreet.ledger.ledger_tables import (
    CODES,
    IDENTITIES,
    LAYOUT,
    LAYOUTS,
    METADATA,
    PEOPLE,
    PUBLIC_HEADS,
    SERVICE,
    SOURCES,
)
from discreet.privacy.loss import Laplace

ROOT = Path(__file__).parents[2]
NEW = (LAYOUT, PUBLIC_HEADS, SOURCES, CODES, *SERVICE)  # tables that the first layout did not have
OLD = [table for table in METADATA.sorted_tables if table not in NEW]
NEXT = """
import sqlalchemy as sa
from alembic import op

revision, down_revision = "0006", "0005"


def upgrade():
    op.create_table("discreet_next", sa.Column("a", sa.Text))
    op.add_column("discreet_entries", sa.Column("more", sa.Text))
"""


def work(place: Place, do: Any) -> Any:
    where = Database(place.where, 10.0)
    try:
        return where.write(do)
    finally:
        where.close()


def first_layout(place: Place) -> None:
    """A ledger with three entries as the first releases left it."""
    with place.open() as ledger:
        ledger.open("people", Budget(1.0))
        ledger.store(ledger.charge("people", Laplace(0.1), "a mean", request="q"), '{"value": 1}')
    work(place, lambda connection: METADATA.drop_all(connection, tables=list(NEW)))


def rows(place: Place) -> list[Any]:
    return list(work(place, lambda c: [tuple(c.execute(sa.select(table)).all()) for table in OLD]))


def found(place: Place) -> tuple[str, bool]:
    return work(place, lambda c: (layout.layout_of(c), sa.inspect(c).has_table(LAYOUT.name)))  # type: ignore[no-any-return]


@pytest.fixture
def scripts(tmp_path: Path) -> Path:
    """The migrations, and one more, of a release to come."""
    versions = tmp_path / "50% more" / "versions"
    versions.mkdir(parents=True)
    for file in layout.SCRIPTS.rglob("*.py"):
        (versions.parent / file.relative_to(layout.SCRIPTS)).write_text(file.read_text())
    (versions / "layout_0006.py").write_text(NEXT)
    return versions.parent


def in_future(monkeypatch: pytest.MonkeyPatch, scripts: Path) -> None:
    monkeypatch.setattr(layout, "SCRIPTS", scripts)
    for module in (layout, database):
        monkeypatch.setattr(module, "LAYOUTS", (*LAYOUTS, "0006"))


@pytest.mark.claim("layout.1")
def test_a_ledger_of_the_first_layout_keeps_every_row_and_is_stamped(place: Place) -> None:
    first_layout(place)
    before = rows(place)
    assert found(place) == ("0001", False)
    with place.open() as ledger:
        assert ledger.balance("people").left.cost * 10 == 9
        assert ledger.verify().ok
    assert found(place) == (LAYOUTS[-1], True)
    assert rows(place) == before
    with place.open() as ledger:
        ledger.charge("people", Laplace(0.1), "another mean")
        assert ledger.verify().ok


@pytest.mark.claim("layout.1")
@pytest.mark.parametrize("served", [False, True])
def test_a_service_of_the_second_layout_keeps_its_people(place: Place, served: bool) -> None:
    """Its tables were made beside the layouts by whoever served; one that never did has none."""
    person = {"name": "ann", "role": "analyst", "salt": "00", "password": "11", "active": True, "failures": 2}

    def older(connection: sa.Connection) -> None:
        METADATA.drop_all(connection, tables=[SOURCES, CODES, IDENTITIES] if served else [SOURCES, CODES, *SERVICE])
        connection.execute(sa.update(LAYOUT).values(version_num="0002"))
        if served:
            connection.execute(PEOPLE.insert().values(locked=0.0, made=1.0, **person))

    with place.open() as ledger:
        ledger.open("people", Budget(1.0))
    work(place, older)
    before = rows(place)
    with place.open() as ledger:
        assert ledger.verify().ok
    assert found(place) == (LAYOUTS[-1], True)
    assert rows(place) == before
    people = work(place, lambda c: [dict(row._mapping) for row in c.execute(sa.select(PEOPLE))])
    assert people == ([person | {"locked": 0.0, "made": 1.0}] if served else [])
    assert work(place, lambda c: all(sa.inspect(c).has_table(table.name) for table in SERVICE))
    indexes = work(place, lambda c: {one["name"] for one in sa.inspect(c).get_indexes("discreet_requests")})
    assert {f"discreet_requests_{name}" for name in ("state", "analyst", "question")} <= indexes


def test_an_empty_table_of_layouts_is_the_first(place: Place) -> None:
    first_layout(place)
    work(place, LAYOUT.create)
    place.open().close()
    assert found(place) == (LAYOUTS[-1], True)


@pytest.mark.claim("layout.1")
def test_reading_leaves_the_first_layout_as_it_is(place: Place) -> None:
    first_layout(place)
    with place.open(reading=True) as ledger:
        assert len(ledger.entries("people")) == 1
    assert examine(place.where, key=f"{place.folder}/key", anchor=f"{place.folder}/anchor").ok
    assert found(place) == ("0001", False)


def test_both_ways_lead_to_the_same_tables(place: Place) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.runtime.migration import MigrationContext
    from alembic.script import ScriptDirectory

    def check(connection: sa.Connection) -> None:
        METADATA.drop_all(connection)
        LAYOUT.create(connection)
        layout.upgrade(connection, layout.SCRIPTS, stamped=True)
        context = MigrationContext.configure(connection, opts={"version_table": LAYOUT.name})
        other = sa.MetaData()
        for table in METADATA.sorted_tables:
            if table is not LAYOUT:
                table.to_metadata(other)
        assert compare_metadata(context, other) == []
        assert layout.layout_of(connection) == LAYOUTS[-1]

    with place.open():
        pass
    work(place, check)
    known = ScriptDirectory(str(layout.SCRIPTS))
    assert tuple(reversed([each.revision for each in known.walk_revisions()])) == LAYOUTS


@pytest.mark.claim("layout.2")
@pytest.mark.parametrize("reading", [False, True])
def test_a_newer_layout_is_refused_before_anything_is_charged(place: Place, reading: bool) -> None:
    first_layout(place)
    with place.open():
        pass
    before = rows(place)
    work(place, lambda c: c.execute(sa.update(LAYOUT).values(version_num="0107")))
    with pytest.raises(LedgerFault, match=r"layout '0107'.*knows 0001 to 0005.*newer release.*install") as caught:
        place.open(reading=reading)
    assert "secret" not in str(caught.value)
    with pytest.raises(LedgerFault, match="layout '0107'"):
        examine(place.where, key=f"{place.folder}/key", anchor=f"{place.folder}/anchor")
    assert rows(place) == before


@pytest.mark.claim("layout.1")
@pytest.mark.parametrize("stamped", [False, True])
def test_the_next_layout_is_reached_from_every_earlier_one(
    place: Place, scripts: Path, monkeypatch: pytest.MonkeyPatch, stamped: bool
) -> None:
    first_layout(place)
    if stamped:
        place.open().close()
    before = rows(place)
    in_future(monkeypatch, scripts)
    with place.open() as ledger:
        ledger.charge("people", Laplace(0.1), "another mean")
        assert ledger.verify().ok
    assert found(place) == ("0006", True)
    assert [len(part) for part in rows(place)] >= [len(part) for part in before]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: place.open().close(), range(4)))


@pytest.mark.claim("layout.1")
def test_a_migration_that_breaks_leaves_the_ledger_as_it_was(
    place: Place, scripts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first_layout(place)
    before = rows(place)
    script = scripts / "versions" / "layout_0006.py"
    script.write_text(NEXT + '    op.execute("SELECT * FROM nowhere")\n')
    with monkeypatch.context() as patch:
        in_future(patch, scripts)
        with pytest.raises(LedgerFault, match="cannot be used"):
            place.open()
    assert found(place) == ("0001", False)
    assert rows(place) == before
    assert not work(place, lambda c: sa.inspect(c).has_table("discreet_next"))
    place.open().close()


@pytest.mark.claim("layout.1")
def test_of_many_who_open_an_old_ledger_at_once_one_changes_it(place: Place) -> None:
    first_layout(place)
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda _: place.open().close(), range(6)))
    assert found(place) == (LAYOUTS[-1], True)
    with place.open() as ledger:
        assert ledger.verify().ok


def test_alembic_is_imported_only_for_an_older_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "alembic"]:
        monkeypatch.delitem(sys.modules, name)
    for _ in range(2):
        with Ledger(tmp_path / "new.ledger") as ledger:
            ledger.open("people", Budget(1.0))
    assert not any(name.partition(".")[0] == "alembic" for name in sys.modules)


def test_the_wheel_holds_the_migrations(tmp_path: Path) -> None:
    """Built with the backend itself: no network."""
    build = pytest.importorskip("hatchling.builders.wheel")
    (wheel,) = build.WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    names = set(zipfile.ZipFile(wheel).namelist())
    ours = {str(path.relative_to(ROOT / "src")) for path in layout.SCRIPTS.rglob("*.py")}
    assert ours <= names
    assert sum("versions/layout_" in name for name in ours) == len(LAYOUTS)
