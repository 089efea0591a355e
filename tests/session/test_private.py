"""A table behind a budget: paid first, read afterwards, answered once."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.session.verbs import asked

import discreet
from discreet.errors import BadInput, DiscreetError, NotAnswered, OverBudget, Refused
from discreet.ledger import Ledger
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.release import Groups, Release
from discreet.session import Session
from discreet.statistics.bounded_mean import BoundedMean
from discreet.tables.opening import read

RNG = np.random.default_rng(7)
N = 4000
PEOPLE: dict[str, Any] = {
    "age": RNG.integers(18, 90, N).astype(float),
    "bmi": RNG.normal(27, 5, N),
    "sex": RNG.choice(["F", "M"], N),
    "smokes": RNG.random(N) < 0.25,
    "visits": RNG.poisson(2.0, N),
}
PEOPLE["cost"] = 3 * PEOPLE["age"] + RNG.normal(0, 10, N)
BUDGET = discreet.Budget(1000.0, 1e-2)


def opened(folder: Path, source: Any = PEOPLE, **options: Any) -> Session:
    folder.mkdir(exist_ok=True)
    given: dict[str, Any] = {"budget": BUDGET, "ledger": folder / "study.ledger", "rng": discreet.Seeded(1)} | options
    if source is PEOPLE:
        given.setdefault("types", {"sex": "text"})
    return discreet.open(source, **given)


@pytest.fixture
def private(tmp_path: Path) -> Iterator[Session]:
    with opened(tmp_path) as session:
        yield session


class Watched:
    """A table that tells when it is read."""

    def __init__(self, inner: Any) -> None:
        self.inner, self.reads = inner, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def columns(self, *wants: Any, **how: Any) -> Any:
        self.reads += 1
        return self.inner.columns(*wants, **how)


@pytest.mark.claim("session.1")
def test_a_question_is_paid_for_before_a_row_is_read(private: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    table = Watched(private.table)
    private.table = table  # type: ignore[assignment]
    reads_when_paid = []
    charge = Ledger.charge

    def charged(self: Ledger, *given: Any, **how: Any) -> Any:
        reads_when_paid.append(table.reads)
        return charge(self, *given, **how)

    monkeypatch.setattr(Ledger, "charge", charged)
    private.mean("bmi", epsilon=0.5)
    assert (reads_when_paid, table.reads) == ([0], 1)


@pytest.mark.claim("session.1")
@pytest.mark.parametrize(
    ("statistic", "columns", "options"),
    [
        ("mean", ("weight",), {"epsilon": 0.5}),
        ("mean", ("sex",), {"epsilon": 0.5}),
        ("mean", ("bmi",), {"epsilon": -1}),
        ("mean", ("bmi",), {"epsilon": float("nan")}),
        ("mean", ("bmi",), {}),
        ("mean", ("bmi",), {"epsilon": 0.5, "unit": "row"}),
        ("mean", ("bmi",), {"epsilon": 0.5, "colour": "red"}),
        ("mean", ("bmi",), {"epsilon": 0.5, "where": "age >"}),
        ("mean", ("bmi",), {"epsilon": 0.5, "where": "height > 2"}),
        ("mean", ("bmi",), {"epsilon": 0.5, "groupby": "sex"}),
        ("mean", ("bmi",), {"epsilon": 0.5, "groupby": "sex", "keys": ["F", "F"]}),
        ("mean", ("bmi",), {"epsilon": 0.5, "keys": ["F"]}),
        ("mean", ("bmi",), {"epsilon": 0.5, "rule": "sum"}),
        ("mean", (["bmi", "bmi"],), {"epsilon": 0.5, "delta": 1e-6}),
        ("mean", (3,), {"epsilon": 0.5}),
        ("density", ("bmi",), {"epsilon": 0.5, "groupby": "sex", "keys": ["F"]}),
        ("moan", ("bmi",), {"epsilon": 0.5}),
        ("test_two_means", ("bmi", "age"), {"epsilon": 0.5}),
        ("histogram", ("sex",), {"epsilon": 0.5}),
    ],
)
def test_what_cannot_be_asked_costs_nothing_and_reads_nothing(
    private: Session, statistic: str, columns: Any, options: Any
) -> None:
    table = Watched(private.table)
    private.table = table  # type: ignore[assignment]
    with pytest.raises(BadInput):
        private.ask(statistic, *columns, **options)
    assert table.reads == 0
    assert private.balance.spent.cost == 0


@pytest.mark.claim("session.1")
def test_what_a_public_number_of_people_cannot_answer_costs_nothing(tmp_path: Path) -> None:
    with opened(tmp_path, {"x": np.arange(5.0)}, neighbours="replace") as private:
        with pytest.raises(Refused, match="Nothing was charged"):
            private.mean("x", epsilon=1.0, missing="keep")
        assert private.balance.spent.cost == 0
    with opened(tmp_path / "private", {"x": np.arange(5.0)}) as private:  # a private number costs a count
        assert private.mean("x", epsilon=1.0).refusal is not None
        assert private.balance.spent.epsilon == 1


@pytest.mark.claim("session.2")
def test_a_budget_is_spent_to_the_last_and_not_beyond(tmp_path: Path) -> None:
    with opened(tmp_path, budget=discreet.Budget(1.0)) as private:
        for _ in range(10):
            private.count("smokes", epsilon=0.1)
        assert private.balance.left.epsilon == 0
        table = Watched(private.table)
        private.table = table  # type: ignore[assignment]
        with pytest.raises(OverBudget):
            private.count("smokes", epsilon=1e-6)
        assert table.reads == 0
    with opened(tmp_path, budget=None) as again, pytest.raises(OverBudget):
        again.count("smokes", epsilon=0.1)


@pytest.mark.claim("session.2")
def test_two_hospitals_share_the_budget_of_their_patients(tmp_path: Path) -> None:
    one = opened(tmp_path, population="patients", budget=discreet.Budget(1.0))
    other = opened(tmp_path, {"age": PEOPLE["age"][:100]}, population="patients", budget=None)
    with one, other:
        one.count("smokes", epsilon=0.6)
        with pytest.raises(OverBudget):
            other.count(epsilon=0.6)
        other.count(epsilon=0.4)
        assert one.balance.left.epsilon == 0


@pytest.mark.claim("session.2")
@pytest.mark.parametrize("other", [{"neighbours": "replace"}, {"unit": "patient"}])
def test_a_budget_is_for_one_relation_and_one_unit(tmp_path: Path, other: dict[str, Any]) -> None:
    opened(tmp_path).close()
    with pytest.raises(BadInput, match=r"promises|other terms"):
        opened(tmp_path, budget=None, **other)


@pytest.mark.claim("session.3")
def test_a_request_is_answered_once(private: Session) -> None:
    first = private.mean("bmi", epsilon=0.5, request="q1")
    again = private.mean("bmi", epsilon=0.5, request="q1")
    assert again.value == first.value
    assert again.interval().low == pytest.approx(first.interval().low)
    assert private.balance.spent.epsilon == Fraction(1, 2)
    with pytest.raises(BadInput, match="another question"):
        private.mean("age", epsilon=0.5, request="q1")
    groups = private.mean("bmi", epsilon=0.5, groupby="sex", keys=["F", "M"], request="q2")
    same = private.mean("bmi", epsilon=0.5, groupby="sex", keys=["F", "M"], request="q2")
    assert same["F"].value == groups["F"].value


@pytest.mark.claim("session.3")
def test_after_a_crash_the_same_request_is_computed_anew_at_no_cost(
    private: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Ledger, "store", crash)
        with pytest.raises(KeyboardInterrupt):
            private.mean("bmi", epsilon=0.5, request="q1")
    assert private.mean("bmi", epsilon=0.5, request="q1").value
    assert private.balance.spent.epsilon == Fraction(1, 2)


@pytest.mark.claim("asking.1")
def test_what_goes_wrong_after_paying_says_nothing_of_the_data(
    private: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise ValueError("row 17 is 42.5")

    monkeypatch.setattr(type(private.table), "columns", broken)
    with pytest.raises(DiscreetError) as caught:
        private.mean("bmi", epsilon=0.5)
    assert "42.5" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert private.balance.spent.epsilon == Fraction(1, 2)


ASKED = asked(blocks=50, people=N, steps=10)


@pytest.mark.claim("asking.1")
@pytest.mark.parametrize("relation", ["replace", "add_or_remove"])
@pytest.mark.parametrize("verb", sorted(ASKED))
def test_every_verb_answers_by_column_or_says_why_not(tmp_path: Path, verb: str, relation: str) -> None:
    with opened(tmp_path, neighbours=relation) as private:
        try:
            release = getattr(private, verb)(epsilon=2.0, missing="keep", **ASKED[verb])
        except BadInput as error:
            assert relation == "add_or_remove" or "missing='drop'" in str(error)  # noqa: PT017
            assert "replace" in str(error) or "number of rows is public" in str(error)  # noqa: PT017
            return
        except Refused as error:  # 50 blocks are too few for a mean, by public numbers
            assert "Nothing was charged" in str(error)  # noqa: PT017
            assert private.balance.spent.epsilon == 0
            return
        assert isinstance(release, Release)
        assert release.guarantee.neighbours is Neighbours(relation)
        assert float(release.guarantee.epsilon) <= 2.0
        assert private.balance.spent.epsilon == Fraction(release.guarantee.epsilon)
        assert release.provenance.receipt is not None
        assert verb.replace("_", " ") in release.name


@pytest.mark.claim("asking.2")
def test_some_of_the_people_are_asked_as_if_their_number_were_private(tmp_path: Path) -> None:
    with opened(tmp_path, neighbours="replace") as private:
        whole = private.prepare("mean", "bmi", epsilon=1.0, missing="keep")
        part = private.prepare("mean", "bmi", epsilon=1.0, where="age >= 40")
        counted = private.prepare("count", "smokes", epsilon=1.0, where="age >= 40")
        groups = private.prepare("count", "smokes", epsilon=1.0, groupby="sex", keys=["F", "M"])
    assert (whole.price.relation, whole.price.mechanism.guarantee.epsilon) == (Neighbours.REPLACE, 1)
    drawn = part.price.mechanism.guarantee
    assert (drawn.neighbours, drawn.epsilon) == (Neighbours.ADD_OR_REMOVE, Fraction(1, 2))
    assert part.price.guarantee.epsilon == 1
    assert part.price.guarantee.neighbours is Neighbours.REPLACE
    assert counted.price.mechanism.guarantee.epsilon == 1
    assert groups.price.mechanism.guarantee.epsilon == Fraction(1, 2)


@pytest.mark.claim("asking.2")
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_two_people_are_within_the_delta_that_was_asked_for(tmp_path: Path, epsilon: float) -> None:
    with opened(tmp_path, neighbours="replace") as private:
        question = private.prepare("histogram", "sex", epsilon=epsilon, delta=1e-6, where="age > 20")
    guarantee = question.price.mechanism.guarantee.for_group(2)
    assert float(guarantee.epsilon) <= epsilon
    assert 0.99e-6 < float(guarantee.delta) <= 1e-6


@pytest.mark.claim("asking.3")
def test_groups_cost_as_much_as_one_answer(private: Session) -> None:
    groups = private.mean("bmi", epsilon=0.5, groupby="sex", keys=["F", "M", "X"])
    assert isinstance(groups, Groups)
    assert private.balance.spent.epsilon == Fraction(1, 2)
    assert list(groups) == ["F", "M", "X"]
    for key in ("F", "M"):
        assert abs(groups[key].value - PEOPLE["bmi"][PEOPLE["sex"] == key].mean()) < 1
    assert groups["X"].refusal is not None
    with pytest.raises(BadInput):
        groups["Y"]
    assert "F" in str(groups)


@pytest.mark.claim("asking.3")
@pytest.mark.parametrize("verb", ["mean", "count", "median"])
def test_groups_are_found_where_they_are_not_listed(private: Session, verb: str) -> None:
    found = private.ask(verb, "bmi", epsilon=2.0, delta=1e-6, groupby="sex")
    assert set(found) == {"F", "M"}  # type: ignore[arg-type]
    assert private.balance.spent.epsilon == 2
    assert private.balance.spent.delta == Fraction(1, 10**6)


VISITS: dict[str, Any] = {
    "id": np.repeat(np.arange(1000), 3),
    "value": np.tile([1.0, 2.0, 6.0], 1000),
    "ward": np.repeat(["a", "b"], 1500),
}


@pytest.mark.claim("asking.4")
@pytest.mark.parametrize("relation", ["replace", "add_or_remove"])
def test_a_person_has_one_row(tmp_path: Path, relation: str) -> None:
    with opened(tmp_path, VISITS, person="id", neighbours=relation) as private:
        assert private.people.unit == "person"
        assert abs(private.count(epsilon=20.0).value - 1000) < 5
        for rule, expected in {"mean": 3.0, "first": 1.0, "last": 6.0, "max": 6.0}.items():
            release = private.mean("value", epsilon=50.0, per_person=rule, bounds=(0, 10))
            assert abs(release.value - expected) < 0.1, rule
        capped = private.mean("value", epsilon=50.0, per_person="sum", max_rows=2, bounds=(0, 10))
        assert abs(capped.value - 3) < 0.1
        assert release.guarantee.unit == "person"


@pytest.mark.claim("asking.4")
def test_all_rows_of_a_person_go_to_one_block(tmp_path: Path) -> None:
    with opened(tmp_path, VISITS, person="id") as private:
        release = private.fit(np.mean, "value", epsilon=4.0, blocks=40)
        assert abs(release.value - 3) < 0.5


def test_any_mechanism_runs_on_columns(private: Session) -> None:
    from discreet.statistics.bounded_mean import BoundedMean

    mechanism = BoundedMean(0, 60, 1.0, neighbours=Neighbours.ADD_OR_REMOVE, unit="row")
    assert abs(private.run(mechanism, "bmi").value - PEOPLE["bmi"].mean()) < 0.5
    with pytest.raises(BadInput, match="unit"):
        private.run(BoundedMean(0, 60, 1.0), "bmi")


def test_an_analyst_spends_a_part(tmp_path: Path) -> None:
    with opened(tmp_path, budget=discreet.Budget(2.0)) as private:
        private.ledger.allot(private.population, "ana", discreet.Budget(0.5))
    with opened(tmp_path, budget=None, analyst="ana") as ana:
        ana.count("smokes", epsilon=0.5)
        with pytest.raises(OverBudget, match="ana"):
            ana.count("smokes", epsilon=0.1)


def test_a_ledger_is_needed(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="ledger"):
        discreet.open(PEOPLE, budget=BUDGET)
    with pytest.raises(BadInput, match="budget"):
        opened(tmp_path, budget=None)


def test_read_is_the_door(tmp_path: Path) -> None:
    assert read(PEOPLE).names == tuple(PEOPLE)
    with opened(tmp_path) as private:
        assert private.columns == tuple(PEOPLE)
        assert "table" in repr(private)


@pytest.mark.claim("session.1")
@pytest.mark.parametrize("rows", [2, 20_000])
def test_what_a_public_number_of_people_forbids_is_said_before_it_is_paid_for(tmp_path: Path, rows: int) -> None:
    people = {"town": ["Ulm"] * rows}
    with opened(tmp_path, people, neighbours="replace") as private:
        delta = 1e-6 if rows == 2 else 1e-4
        with pytest.raises((BadInput, Refused), match=r"2 rows are fewer than the threshold|above 5e-06"):
            private.histogram("town", epsilon=0.5, delta=delta, missing="keep")
        assert private.balance.spent.cost == 0


@pytest.mark.claim("session.1")
def test_bounds_that_leave_no_room_are_refused_before_they_are_paid_for(private: Session) -> None:
    with pytest.raises(BadInput, match="radius"):
        private.mean("age", epsilon=0.5, bounds=(0, 5e-324))
    assert private.balance.spent.cost == 0


@pytest.mark.claim("asking.4")
def test_a_source_without_an_order_is_shuffled_under_replace(tmp_path: Path) -> None:
    """An updated row may move, and all rows behind it with it: what a mechanism samples must not follow from that."""
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection, connection:
        connection.execute("CREATE TABLE people (x REAL)")
        connection.executemany("INSERT INTO people VALUES (?)", [(float(k % 10),) for k in range(1000)])
    connection.close()
    address = f"sqlite:///{tmp_path / 'a.db'}"
    for relation in ("replace", "add_or_remove"):
        terms = {"table": "people", "neighbours": relation, "population": relation}
        with opened(tmp_path, address, **terms) as private:
            assert abs(private.mean("x", epsilon=10.0, bounds=(0, 10), missing="keep").value - 4.5) < 1


@pytest.mark.claim("session.1")
def test_what_fails_after_the_charge_is_no_bad_input(tmp_path: Path) -> None:
    """BadInput means that nothing was spent; the same request is answered later, at no cost."""
    file, away = tmp_path / "people.csv", tmp_path / "away.csv"
    file.write_text("x\n" + "1\n" * 500)
    with opened(tmp_path, file) as private:
        file.rename(away)
        for ask in (
            lambda: private.mean("x", epsilon=0.5, bounds=(0, 10), request="later"),
            lambda: private.run(
                BoundedMean(0, 10, 0.5, neighbours=Neighbours.ADD_OR_REMOVE, unit="row"), "x", request="own"
            ),
        ):
            with pytest.raises(NotAnswered, match=r"the budget was spent.*asking again with it") as caught:
                ask()  # type: ignore[no-untyped-call]
            assert not isinstance(caught.value, ValueError)
            assert caught.value.__context__ is None
        assert float(private.balance.spent.epsilon) == 1.0
        away.rename(file)
        assert abs(private.mean("x", epsilon=0.5, bounds=(0, 10), request="later").value - 1) < 1
        assert float(private.balance.spent.epsilon) == 1.0


@pytest.mark.claim("session.1")
def test_thousands_of_groups_and_columns_can_be_noted(tmp_path: Path) -> None:
    keys = [f"town {place}" for place in range(3000)]
    with opened(tmp_path, {"town": keys[:50] * 10, "odd\x1b[31m": [1.0] * 500}) as private:
        private.count(epsilon=1.0, groupby="town", keys=keys)
        private.mean("odd\x1b[31m", epsilon=1.0, bounds=(0, 2))
        first, second = private.ledger.entries("table")
        assert json.loads(first.note.split("\n")[1])["keys"] == keys
        assert second.note.split("\n")[0] == "mean of odd\ufffd[31m"
