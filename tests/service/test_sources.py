"""Tables that a data steward adds: what may be named, whose budget they spend, and who may do it."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sqlalchemy as sa
from tests.service.conftest import HOSTILE, World, plan, world_in

from discreet.errors import BadInput
from discreet.ledger.ledger_tables import SOURCES
from discreet.service.desk import Desk
from discreet.service.jobs import CANNOT, MOVED
from discreet.service.source_pages import flat, parsed, to_text

TEXT = """
[[source]]
name = "clinic"
title = "Clinic"
data = { source = "clinic.parquet", unit = "patient", rows = 200 }
population = { name = "patients", epsilon = 1.0 }

[source.columns."age"]
label = "Age"
low = 0.0
high = 120.0
"""


def record(**more: Any) -> dict[str, Any]:
    found = parsed(TEXT)
    for name, value in more.items():
        found[name] = {**found[name], **value} if isinstance(value, dict) and name in found else value
    return found


@pytest.fixture
def place(tmp_path: Path) -> Iterator[World]:
    """A service that lets stewards name files of one folder, and one database."""
    (tmp_path / "data").mkdir()
    table = pa.table({"age": [float(20 + at % 60) for at in range(200)], "who": list(range(200))})
    pq.write_table(table, tmp_path / "data" / "clinic.parquet")
    more = {"folders": ["data"], "databases": {"clinic": f"sqlite:///{tmp_path}/clinic.db"}}
    yield from world_in(tmp_path, **more)


def test_a_source_is_added_asked_changed_and_closed(place: World) -> None:
    seen = place.post("sue", "/sources/add", view="text", text=TEXT, action="check")
    assert seen.status_code == 200
    assert "<code>age</code> number" in seen.text
    assert place.desk.sources.named("clinic") is None  # nothing is added by a look
    assert place.post("sue", "/sources/add", view="text", text=TEXT, action="add").status_code == 303
    source = place.desk.sources.named("clinic")
    assert source is not None
    place.desk.parts.allot(source, "ann", 0.5, 0.0, by="sue")
    which = place.desk.submit(plan(), source, place.person("ann")).id
    place.answered(which)
    assert place.signed_in("ann").get(f"/requests/{which}").text.count("Answers") >= 1
    waiting = place.desk.submit(plan(title="Later", epsilon=0.2), source, place.person("ann")).id
    new = TEXT.replace('title = "Clinic"', 'title = "The clinic"')
    assert place.post("sue", "/sources/add", view="text", text=new, action="add", changes="clinic").status_code == 303
    assert "The clinic" in place.signed_in("ann").get("/catalogue").text
    assert place.post("sue", "/sources/clinic/close").status_code == 303
    assert place.signed_in("ann").get("/catalogue/clinic").status_code == 404
    assert "The clinic" not in place.signed_in("ann").get("/catalogue").text
    assert place.signed_in("ann").get(f"/requests/{which}").status_code == 200
    assert place.signed_in("sue").get(f"/inbox/{waiting}").status_code == 200
    with pytest.raises(BadInput, match="closed"):
        place.desk.approve(waiting, place.person("sue"))
    place.desk.decline(waiting, place.person("sue"), "it is closed")
    assert place.post("sue", "/sources/clinic/close").status_code == 409
    assert place.post("sue", "/sources/add", view="text", text=new, action="add", changes="clinic").status_code == 303
    assert place.desk.sources.named("clinic") is not None
    events = [entry.plain.get("event") for entry in place.desk.ledger.lines()]
    assert [events.count(f"{what} source") for what in ("add", "change", "close")] == [1, 2, 1]
    by = {entry.analyst for entry in place.desk.ledger.lines() if entry.plain.get("event") == "add source"}
    assert by == {"sue"}
    assert place.desk.ledger.verify().ok
    other = Desk(place.desk.settings, place.desk.folder, place.clock)  # as a worker or the next start sees it
    assert other.sources.named("clinic") is not None
    other.close()


def test_what_was_approved_before_a_source_changed_is_not_charged(place: World) -> None:
    place.desk.sources.declare(record(), by="sue")
    source = place.desk.sources.named("clinic")
    assert source is not None
    place.desk.parts.allot(source, "ann", 0.5, 0.0, by="sue")
    first, second = (place.desk.submit(plan(title=title), source, place.person("ann")).id for title in ("One",) * 2)
    assert first == second
    place.desk.sources.declare(record(data={"types": {"age": "number"}}), by="sue", changes="clinic")
    place.answered(first)
    anew = place.desk.sources.named("clinic")
    assert anew is not None
    again = place.desk.submit(plan(title="One"), anew, place.person("ann")).id  # not as it was priced before
    place.desk.approve(again, place.person("sue"))
    place.desk.sources.close("clinic", by="sue")
    place.work()
    place.clock.now += 1000.0
    for which, said in ((first, MOVED), (again, CANNOT)):
        found = place.desk.requests.find(which)
        assert found is not None
        assert (place.desk.state_of(found)["said"], place.desk.report(found)) == (said, None)
    assert place.desk.ledger.account("patients").charges == 0


@pytest.mark.claim("sources.1")
def test_only_files_below_the_folders_are_opened(place: World, tmp_path: Path) -> None:
    data, outside = tmp_path / "data", tmp_path / "people.parquet"
    (data / "link.parquet").symlink_to(outside)
    (data / "up").symlink_to(tmp_path)
    (tmp_path / "data2").mkdir()
    pq.write_table(pa.table({"age": [1.0]}), tmp_path / "data2" / "x.parquet")
    pq.write_table(pa.table({"age": [1.0]}), data / "a[b].parquet")
    paths = ("../people.parquet", str(outside), "link.parquet", "up/people.parquet", "../data2/x.parquet", "nowhere")
    said = set()
    for path in (*paths, "*.parquet", ".", "a[b].parquet", "clinic.parquet\0", "x" * 190, "../nowhere", "~/x"):
        with pytest.raises(BadInput) as caught:
            place.desk.sources.checked(record(data={"source": path}))
        said.add(str(caught.value))
    assert len(said) == 1, said  # what is there and what is not are told alike
    for path in ("sqlite:////etc/passwd", "file:///x", "postgresql://evil/x", "database:other"):
        with pytest.raises(BadInput, match="database"):
            place.desk.sources.checked(record(data={"source": path, "table": "t"}))
    with pytest.raises(BadInput, match="engine"):
        place.desk.sources.checked(record(data={"engine": "dask://evil:1"}))
    place.desk.sources.checked(record(data={"source": str(data / "clinic.parquet")}))


@pytest.mark.claim("sources.1")
def test_a_file_that_becomes_a_link_is_used_no_more(place: World, tmp_path: Path) -> None:
    place.desk.sources.declare(record(), by="sue")
    file = tmp_path / "data" / "clinic.parquet"
    file.unlink()
    file.symlink_to(tmp_path / "people.parquet")
    assert place.desk.sources.named("clinic") is None
    assert "Cannot be used" in place.signed_in("sue").get("/sources").text


@pytest.mark.claim("sources.1")
def test_without_folders_the_page_says_what_to_add(world: World) -> None:
    assert "folders = [" in world.signed_in("sue").get("/sources/add").text
    done = world.post("sue", "/sources/add", view="text", text=TEXT, action="add")
    assert done.status_code == 422
    assert "add folders" in done.text


@pytest.mark.claim("sources.1")
def test_a_database_is_named_by_the_name_of_service_toml(place: World, tmp_path: Path) -> None:
    engine = sa.create_engine(f"sqlite:///{tmp_path}/clinic.db")
    with engine.begin() as connection:
        connection.execute(sa.text("CREATE TABLE visits (age REAL)"))
    engine.dispose()
    declared = record(data={"source": "database:clinic", "table": "visits"})
    place.desk.sources.declare(declared, by="sue")
    found = place.desk.sources.named("clinic")
    assert found is not None
    assert found.path.startswith("sqlite://")
    told = place.signed_in("sue").get("/sources").text + place.signed_in("sue").get("/sources/clinic/change").text
    assert "clinic.db" not in told + str([entry.body for entry in place.desk.ledger.lines()])


@pytest.mark.claim("sources.2")
def test_the_same_rows_spend_one_budget(place: World, tmp_path: Path) -> None:
    sources = place.desk.sources
    sources.declare(record(), by="sue")
    os.link(tmp_path / "data" / "clinic.parquet", tmp_path / "data" / "again.parquet")
    other = {"name": "others", "epsilon": 1.0}
    for more in ({"population": other}, {"data": {"person": "who"}}):
        for path in ("clinic.parquet", "./clinic.parquet", "again.parquet"):
            wanted = record(**{"name": "second", **more})
            wanted["data"]["source"] = path
            with pytest.raises(BadInput, match="two budgets"):
                sources.declare(wanted, by="sue")
    sources.declare(record(name="second"), by="sue")  # the same people, one budget
    changed: tuple[dict[str, Any], ...] = (
        {"population": other},
        {"data": {"source": "again.parquet"}},
        {"data": {"person": "who"}},
    )
    for more in (*changed, {"data": {"per_person": {"age": "mean"}}}):
        with pytest.raises(BadInput, match="keeps its population"):
            sources.declare(record(**more), by="sue", changes="clinic")
    with pytest.raises(BadInput, match="other terms"):
        sources.declare(record(population={"epsilon": 2.0}), by="sue", changes="clinic")
    sources.close("clinic", by="sue")
    sources.close("second", by="sue")
    with pytest.raises(BadInput, match="two budgets"):  # closed is not forgotten
        sources.declare(record(name="third", population=other), by="sue")


@pytest.mark.claim("sources.2")
def test_the_rows_of_service_toml_have_their_budget(tmp_path: Path) -> None:
    for made in world_in(tmp_path, folders=["."]):
        wanted = record(data={"source": "people.parquet"}, columns={})
        with pytest.raises(BadInput, match="two budgets"):
            made.desk.sources.checked(wanted)


@pytest.mark.claim("sources.3")
def test_what_is_said_of_a_table_does_not_depend_on_its_rows(place: World, tmp_path: Path) -> None:
    file, told = tmp_path / "data" / "clinic.parquet", []
    for rows in ([1.0] * 200, [float("nan")] * 7, []):
        pq.write_table(pa.table({"age": pa.array(rows, pa.float64())}), file)
        done = place.post("sue", "/sources/add", view="text", text=TEXT, action="check")
        told.append((done.status_code, done.text))
    assert told[0] == told[1] == told[2]
    file.write_bytes(b"the secret of a patient")
    done = place.post("sue", "/sources/add", view="text", text=TEXT, action="check")
    assert done.status_code == 422
    assert "secret of" not in done.text


@pytest.mark.claim("service_sources.1")
def test_a_row_without_its_entry_is_nothing(place: World) -> None:
    place.desk.sources.declare(record(), by="sue")
    number = place.desk.ledger.lines()[0].number

    def point(name: str, entry: int) -> None:
        values = {"name": name, "entry": entry}
        place.desk.ledger.beside(
            lambda c: (c.execute(SOURCES.delete()), c.execute(SOURCES.insert().values(**values))), writes=True
        )

    for name, entry in (("clinic", number - 1), ("clinic", 10**6), ("another", number)):
        point(name, entry)
        assert place.desk.sources.named(name) is None
        assert place.desk.sources.store.all() == []
    point("clinic", number)
    assert place.desk.sources.named("clinic") is not None


@pytest.mark.claim("service_sources.2")
def test_a_declaration_on_old_sources_is_refused(place: World) -> None:
    store, before = place.desk.sources.store, place.desk.sources.store.all()
    place.desk.sources.declare(record(), by="sue")
    count = len(place.desk.ledger.lines())
    with pytest.raises(BadInput, match="meanwhile"):
        store.declare("add", record(name="other"), before, population="patients", by="sam")
    assert len(place.desk.ledger.lines()) == count
    assert store.find("other") is None


def test_only_a_steward_with_the_secret_of_the_session_declares(place: World) -> None:
    place.desk.sources.declare(record(), by="sue")
    for who in ("ann", "aud"):
        for path in ("/sources/add", "/sources/clinic/change"):
            assert place.signed_in(who).get(path).status_code == 403
        for path in ("/sources/add", "/sources/clinic/close"):
            assert place.post(who, path, view="text", text=TEXT, action="add").status_code == 403
    for path in ("/sources/add", "/sources/clinic/close"):
        assert place.signed_in("sue").post(path, data={"csrf": "x", "action": "add"}).status_code == 403
        assert place.client().post(path, data={"csrf": "x"}).status_code == 401
    assert place.desk.sources.named("clinic") is not None
    for name in ("people", "nobody"):  # of service.toml, and of nobody
        assert place.signed_in("sue").get(f"/sources/{name}/change").status_code == 404
        assert place.post("sue", f"/sources/{name}/close").status_code == 409


def test_texts_of_a_source_are_shown_and_never_run(place: World) -> None:
    hostile = record(title=HOSTILE, description=HOSTILE, data={"unit": HOSTILE}, population={"name": HOSTILE})
    hostile["columns"]["age"]["label"] = HOSTILE
    text = to_text(hostile)
    assert parsed(text) == hostile
    done = place.post("sue", "/sources/add", view="text", text=text, action="add")
    assert done.status_code == 303, done.text
    pages = [("ann", "/catalogue"), ("ann", "/catalogue/clinic"), ("sue", "/sources"), ("sue", "/people")]
    for who, path in (*pages, ("sue", "/sources/clinic/change"), ("sue", "/rules"), ("aud", "/ledger")):
        told = place.signed_in(who).get(path)
        assert told.status_code == 200
        assert "<img" not in told.text, path


def test_bad_texts_are_refused_in_words(place: World) -> None:
    texts: tuple[str, ...] = (
        "x = ",
        "[[source]]\n[[source]]",
        "",
        "a = 1",
        "source = [1]",
        TEXT + "low = nan",
        TEXT + "[source.columns.z]",
    )
    texts += (
        TEXT.replace("clinic", "people"),
        TEXT.replace("epsilon = 1.0", "delta = 0.1"),
        "[data]\nday = 2020-01-01",
    )
    texts += (
        TEXT.replace('"patients"', '"patients", analyst = "ann"'),
        TEXT.replace('name = "clinic"', 'name = "../x"'),
    )
    for text in texts:
        for action in ("check", "add", "form"):
            done = place.post("sue", "/sources/add", view="text", text=text, action=action)
            assert done.status_code in (200, 422), text
            assert done.status_code == 422 or action == "form", text
    assert place.desk.sources.store.all() == []


def test_the_form_and_the_text_say_the_same(place: World) -> None:
    form = flat(record())
    done = place.post("sue", "/sources/add", view="form", action="text", **form)
    assert done.status_code == 200
    assert place.post("sue", "/sources/add", view="form", action="add", **form).status_code == 303
    found = place.desk.sources.store.find("clinic")
    assert found is not None
    assert found.record == record(description="")
    bad = place.post("sue", "/sources/add", view="form", action="add", **form | {"epsilon": "much"})
    assert bad.status_code == 422
    assert 'value="much"' in bad.text
