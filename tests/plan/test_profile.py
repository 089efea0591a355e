"""A private profile: one charge for all of it, types as declared or found."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from benchmarks.sessions import Moved

from discreet.accounting import compose
from discreet.accounting.filter import Budget
from discreet.audit.replay import Recorder
from discreet.errors import BadInput, OverBudget
from discreet.ledger import Ledger
from discreet.noise.randomness import Seeded
from discreet.plan.profile import ProfileQuestions, charged, describe, uncharged
from discreet.privacy.exact import exact
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Composed
from discreet.privacy.people import People
from discreet.session import session_of
from discreet.tables.opening import read
from discreet.tables.table import Table

PEOPLE = People.of(None, "patient", Neighbours.ADD_OR_REMOVE)


def profile(table: Table, epsilon: float = 3.0, delta: float = 1e-5, people: People = PEOPLE) -> ProfileQuestions:
    return ProfileQuestions(table, people, epsilon, delta)


@pytest.fixture
def table(folder: Path) -> Table:
    """Nothing is declared."""
    return read(folder / "people.csv")


def about(made: dict[str, Any], column: str) -> list[dict[str, Any]]:
    return [entry for entry in made["releases"] if entry["columns"] == [column]]


def test_types_are_found(table: Table) -> None:
    made = uncharged(profile(table, epsilon=8.0), rng=Seeded(1))
    kinds = {entry["columns"][0]: entry["kind"] for entry in made["releases"] if entry["columns"]}
    assert kinds == {"age": "number", "bmi": "number", "sex": "text", "town": "text"}
    assert abs(made["releases"][0]["release"]["value"] - 600) < 100
    (quantiles,) = (entry for entry in about(made, "age") if entry["statistic"] == "quantile")
    assert quantiles["release"]["refusal"] is None
    tally = about(made, "town")[-1]["release"]["value"]
    assert sorted(tally["keys"]) == ["Bonn", "Ulm"]
    assert made["data"]["rows"] is None
    assert made["budget"]["left"] is None


@pytest.mark.claim("profile.1")
def test_all_stages_together_cost_what_is_charged(table: Table) -> None:
    asked = profile(table)
    first = [question for _, question in asked.first()]
    at_first = sum((exact(question.price.guarantee.epsilon) for question in first), Fraction(0))
    assert at_first + asked.rest == exact(asked.epsilon)
    assert all(question.price.guarantee.delta == 0 for question in first)
    for kinds in (dict.fromkeys(table.names, "text"), dict.fromkeys(table.names, "number")):
        _, questions = asked.plan(kinds, (0.25, 0.5, 0.75))
        assert compose.epsilon(Composed(tuple(one.price.loss for one in questions)), asked.delta) <= asked.rest
    declared = read(pa.table({"age": [1.0, 2.0], "ill": [True, False]}))
    pure = profile(declared, delta=0.0)
    assert pure.rest == exact(pure.epsilon) * Fraction(19, 20)
    asked_purely = pure.plan(declared.kinds, (0.5,))[1]
    assert sum((exact(one.price.guarantee.epsilon) for one in asked_purely), Fraction(0)) <= pure.rest


@pytest.mark.claim("profile.1")
def test_numbers_that_are_called_like_ids_are_paid_for() -> None:
    """One more question for each, in a table without texts: what is left for the columns is less by as much."""
    for names, many in ((["age", "patient_id"], 2), (["age"], 1), (["person", "row id"], 3)):
        asked = profile(read(pa.table({name: np.arange(600.0) for name in names})))
        assert len(asked.first()) == many
        at_first = sum((exact(one.price.guarantee.epsilon) for _, one in asked.first()), Fraction(0))
        assert at_first + asked.rest == exact(asked.epsilon)


@pytest.mark.claim("profile.1")
def test_it_is_charged_once_before_a_row_is_read(
    table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reads: Any
) -> None:
    with Ledger(tmp_path / "study.ledger") as book:
        private = session_of(table, PEOPLE, book, "patients", budget=Budget(4.0, 1e-4), rng=Seeded(1))
        made = charged(profile(table), private)
        (charge,) = book.entries("patients")
        assert (float(charge.cost), float(charge.delta)) == (3.0, 1e-5)
        assert made["budget"]["left"]["epsilon"] == 1.0
        assert made["reproducibility"]["receipts"] == [str(charge)]
        assert json.loads(charge.answer or "") == made
        seen = reads.count
        with pytest.raises(OverBudget):
            charged(profile(table), private)
        assert reads.count == seen
        assert len(book.entries("patients")) == 1

        def crashed(*given: Any, **more: Any) -> Any:
            del given, more
            assert len(book.entries("patients")) == 2
            raise KeyboardInterrupt

        monkeypatch.setattr(Table, "columns", crashed)
        with pytest.raises(KeyboardInterrupt):
            charged(profile(table, epsilon=0.5), private)


def test_declared_types_of_a_parquet_file_with_several_rows_a_person(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    size = 900
    columns = {
        "who": [f"p{k // 3}" for k in range(size)],
        "height": pa.array(rng.normal(170, 9, size)),
        "visits": pa.array(rng.poisson(3, size), pa.int64()),
        "ill": pa.array(rng.random(size) < 0.3),
        "seen": pa.array(rng.integers(10_000, 15_000, size), pa.int32()).cast(pa.date32()),
    }
    pq.write_table(pa.table(columns), tmp_path / "visits.parquet")
    people = People.of("who", None, Neighbours.ADD_OR_REMOVE)
    made = uncharged(profile(read(tmp_path / "visits.parquet"), delta=0.0, people=people), rng=Seeded(2))
    assert abs(made["releases"][0]["release"]["value"] - 300) < 80
    assert not about(made, "who")
    assert [entry["statistic"] for entry in about(made, "ill")] == ["histogram"]
    assert [entry["statistic"] for entry in about(made, "seen")] == ["proportion", "quantile"]
    assert made["data"]["person"] == "who"


def test_what_cannot_be_described() -> None:
    with pytest.raises(BadInput, match="needs delta above 0"):
        profile(read({"town": ["Ulm"]}), delta=0.0)
    only = People.of("id", None, Neighbours.ADD_OR_REMOVE)
    with pytest.raises(BadInput, match="0 columns to describe"):
        profile(read({"id": ["a"]}), people=only)
    with pytest.raises(BadInput, match="201 columns"):
        profile(read({f"c{place}": [1.0] for place in range(201)}))
    with pytest.raises(BadInput, match="epsilon"):
        uncharged(profile(read({"x": [1.0]}), epsilon=-1.0), rng=Seeded(1))


def test_names_and_ids_are_recognised_or_declared_and_cost_little(tmp_path: Path) -> None:
    """A column in which nearly everybody has a value of their own gets no second question; seeds are fixed."""
    many = 3000
    path = tmp_path / "people.parquet"
    names = [f"person {place}" for place in range(many)]
    towns = ["Ulm", "Bonn", "Jena"] * (many // 3)
    pq.write_table(pa.table({"name": names, "town": towns, "code": names}), path)
    made = describe(path, epsilon=2.0, delta=1e-6, ids=["code"], rng=Seeded(1))
    found = made.to_dict()
    assert [entry["about"] for entry in about(found, "name")] == ["distinct"]
    assert [entry["about"] for entry in about(found, "town")] == ["distinct", "categories"]
    assert not about(found, "code")
    assert "Left out as names or ids, as declared: code." in found["description"]
    assert "names or ids: about" in str(made)
    assert "person 7" not in json.dumps(found)
    only = describe({"name": pa.array(names)}, epsilon=2.0, delta=1e-6, rng=Seeded(1)).to_dict()
    assert [entry["kind"] for entry in about(only, "name")] == ["id"]
    few = describe({"name": pa.array(names[:40])}, epsilon=1.0, delta=1e-6, rng=Seeded(1)).to_dict()
    assert [entry["kind"] for entry in about(few, "name")] == ["text", "text"]  # too few to be sure


@pytest.mark.parametrize("rows", [0, 1])
def test_tables_of_nobody_and_of_one(rows: int) -> None:
    table = read({"x": [1.5] * rows, "town": pa.array(["Zzyzx"] * rows, pa.string())})
    made = uncharged(profile(table, epsilon=1.0), rng=Seeded(1))
    assert "Zzyzx" not in str(made)


@pytest.mark.claim("profile.1")
def test_a_column_that_too_few_people_can_answer_is_refused_alone() -> None:
    """Under REPLACE their number is public, and known before: the profile is paid for, and shows the other columns."""
    few = read({"town": ["Ulm", "Bonn"] * 20, "age": np.arange(40.0)}, types={"age": "number"})
    made = uncharged(profile(few, 1.0, people=People.of(None, None, Neighbours.REPLACE)), rng=Seeded(1))
    (town,) = about(made, "town")[-1:]
    assert "40 rows are fewer than the threshold" in town["release"]["refusal"]
    assert about(made, "age")


@pytest.mark.claim("profile.1")
@pytest.mark.parametrize("person", [None, "id"])
def test_a_profile_of_neighbours_asks_for_draws_that_differ_by_what_was_paid(person: str | None) -> None:
    rows = {
        "id": np.arange(90) // 2,
        "age": np.arange(90) % 31 / 2,
        "town": np.array(["Ulm", "Bonn", "7"] * 30, object),
    }
    kept = rows["id"] != 20 if person else np.arange(90) != 20
    left, right = read(rows), read({name: column[kept] for name, column in rows.items()})
    people = People.of(person, None, Neighbours.ADD_OR_REMOVE)
    recorder = Recorder(Seeded(1))
    first = uncharged(profile(left, people=people), rng=recorder)
    replayer = Moved(recorder)
    second = uncharged(profile(right, people=people), rng=replayer)
    assert (replayer.objections, replayer.unused) == ([], 0)
    assert first | {"created": ""} == second | {"created": ""}
    assert replayer.losses
    assert compose.epsilon(Composed(tuple(replayer.losses)), 1e-5) <= 3


def test_describe_gives_a_value_that_says_that_it_is_in_no_ledger(table: Table, folder: Path) -> None:
    assert table.names
    made = describe(folder / "people.csv", epsilon=4.0, delta=1e-5, rng=Seeded(1))
    assert not made.recorded
    assert "in no ledger" in str(made)
    assert str(made).startswith("A profile of ")
    assert made._repr_html_().count("<tr>") == 1 + 4  # a line of titles and one for each column
    assert json.loads(json.dumps(made.to_dict())) == made.report
    frame = {"age": np.arange(900.0), "sex": ["F", "M", "F"] * 300}
    assert describe(frame, epsilon=4.0, delta=1e-5, types={"age": "integer"}).report["data"]["unit"] == "row"
    with pytest.raises(BadInput, match="give a ledger"):
        describe(frame, epsilon=1.0, delta=1e-5, population="patients")
    with pytest.raises(BadInput, match="there is no column 'id'"):
        describe(frame, epsilon=1.0, delta=1e-5, person="id")


def test_describe_with_a_ledger_is_charged_to_it(folder: Path) -> None:
    asked: dict[str, Any] = {"ledger": folder / "study.ledger", "population": "patients", "delta": 1e-5}
    made = describe(folder / "people.csv", epsilon=1.0, budget=Budget(1.5, 1e-4), rng=Seeded(1), **asked)
    assert made.recorded
    assert "in no ledger" not in str(made)
    with pytest.raises(OverBudget):
        describe(folder / "people.csv", epsilon=1.0, **asked)


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_whole_numbers_flags_and_constants_come_out_right_in_every_file(form: str, tmp_path: Path) -> None:
    """Quartiles of grades from 1 to 5, of a rare flag and of a constant; fixed seeds."""
    g = np.random.default_rng(4)
    columns = {"grade": np.arange(6000) % 5 + 1, "flag": (g.random(6000) < 0.05) * 1, "seven": np.full(6000, 7)}
    path = tmp_path / f"school.{form}"
    if form == "csv":
        np.savetxt(path, np.column_stack(list(columns.values())), "%d", ",", header=",".join(columns), comments="")
    else:
        pq.write_table(pa.table(columns), path)
    for seed in range(3):
        made = describe(path, epsilon=1.0, delta=1e-6, rng=Seeded(seed)).to_dict()
        wanted = {"grade": [2, 3, 4], "flag": [0, 0, 0], "seven": [7, 7, 7]}
        for name, truth in wanted.items():
            (seen,) = (entry["release"] for entry in about(made, name) if entry["statistic"] == "quantile")
            assert len(seen["interval"]["low"]) in (3, 5)
            middle = slice(1, 4) if len(seen["interval"]["low"]) == 5 else slice(None)
            low, high = (np.array(seen["interval"][end])[middle] for end in ("low", "high"))
            assert (low <= truth).all()
            assert (truth <= high).all()
            assert (high - low <= 1).all()


def test_missing_entries_are_told_where_a_person_may_have_several_rows() -> None:
    table = {"id": [k // 2 for k in range(2000)], "age": [float(k % 70) if k % 4 > 1 else None for k in range(2000)]}
    found = describe(table, epsilon=4.0, delta=1e-5, person="id", rng=Seeded(1)).to_dict()
    assert {"missing", "quantiles"} <= {entry["about"] for entry in found["releases"] if entry["columns"] == ["age"]}
