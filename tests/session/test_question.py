"""What a question costs, and what it can be asked with, decided before a row is read."""

import datetime
import math
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import discreet
from discreet import asking
from discreet.accounting import compose
from discreet.asking import Question
from discreet.audit.replay import Recorder
from discreet.errors import BadInput, DiscreetError
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Laplace
from discreet.privacy.people import People
from discreet.privacy.release import Groups
from discreet.privacy.stored import recalled_groups
from discreet.session import asked as prepare
from discreet.statistics.count import Count
from discreet.tables.opening import read
from discreet.tables.table import Table
from discreet.tables.wanted import Terms

REPLACE, ADD = Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE
DAYS = np.array(["2020-01-01", "2021-02-02"] * 100, dtype="M8[D]")


def asked(table: Table, verb: str, *columns: Any, relation: Neighbours = ADD, terms: Terms, **options: Any) -> Question:
    people = People.of(None, None, relation)
    return prepare(table, people, verb, columns, {"epsilon": 1.0} | options, terms=terms)


def test_a_missing_entry_is_stood_in_for_by_one_value() -> None:
    """A list would be spread over the missing entries, if it fits: that would tell how many there are."""
    table = read({"town": ["a", None, None, "b"], "x": [1.0, 2.0, math.nan, 3.0]})
    for several in (["a", "a"], ("a", "b"), np.array(["a", "b"], dtype=object), {"a": 1}, object()):
        with pytest.raises(BadInput, match="missing"):
            asked(table, "histogram", "town", terms=Terms(missing={"town": several}), categories=["a", "b"])
    for wrong in (10**400, math.inf, math.nan, "a", [1.0]):
        with pytest.raises(BadInput, match="missing"):
            asked(table, "mean", "x", terms=Terms(missing={"x": wrong}))
    for right in ("c", 7, True, 0.5, datetime.date(2020, 1, 1)):
        question = asked(table, "histogram", "town", terms=Terms(missing={"town": right}), categories=["a", "b"])
        assert question.answer(table, discreet.Seeded(1))


def test_what_a_table_would_refuse_is_refused_before_it_is_paid() -> None:
    with pytest.raises(BadInput, match="date"):
        asked(read({"day": DAYS}, types={"day": "date"}), "count", "day", terms=Terms())


def test_a_table_of_one_column_is_counted_by_it() -> None:
    table = read({"town": ["a", "b"] * 100})
    found = asked(table, "count", terms=Terms(groupby="town", keys=["a"]), epsilon=20.0).answer(
        table, discreet.Seeded(1)
    )
    assert isinstance(found, Groups)
    assert abs(found["a"].value - 100) < 5


@pytest.mark.claim("release.1")
@pytest.mark.parametrize("keys", [None, ["2020-01-01"], [datetime.date(2020, 1, 1)]])
def test_a_day_is_the_group_of_its_text(keys: Any) -> None:
    table = read({"day": DAYS, "x": np.ones(200)})
    more: dict[str, Any] = {"delta": 1e-5} if keys is None else {}
    terms = Terms(groupby="day", keys=keys)
    found = asked(table, "count", "x", terms=terms, epsilon=20.0, **more).answer(table, discreet.Seeded(1))
    assert isinstance(found, Groups)
    assert all(abs(release.value - 100) < 5 for release in found.values())
    with pytest.raises(BadInput, match="twice"):
        asked(table, "count", "x", terms=Terms(groupby="day", keys=["2020-01-01", datetime.date(2020, 1, 1)]))


@pytest.mark.claim("release.1")
def test_everybody_is_in_one_group_however_alike_their_names() -> None:
    towns = [1, True, 1.0, "1", None, math.nan, "a"] * 40
    table = read({"town": towns, "x": [1.0] * len(towns)})
    keys = [1, True, "1", None, "a"]
    found = asked(table, "count", "x", terms=Terms(groupby="town", keys=keys), epsilon=40.0).answer(
        table, discreet.Seeded(1)
    )
    assert isinstance(found, Groups)
    assert [round(release.value / 40) for release in found.values()] == [2, 1, 1, 2, 1]
    for twice in ([1, 1.0], [None, math.nan], ["1", "1"]):
        with pytest.raises(BadInput, match="twice"):
            asked(table, "count", "x", terms=Terms(groupby="town", keys=twice))


@pytest.mark.claim("asking.2", "asking.3")
@pytest.mark.parametrize("terms", [Terms(where="x > 0"), Terms(groupby="town")])
def test_a_mechanism_that_takes_more_than_its_part_is_not_asked(monkeypatch: pytest.MonkeyPatch, terms: Terms) -> None:
    """What is charged for two people, or for groups and keys, rests on the part that each is asked at."""
    table = read({"town": ["a", "b"], "x": [1.0, 2.0]})
    monkeypatch.setattr(asking, "made", lambda *_: Count(0.51, ADD))
    with pytest.raises(DiscreetError, match="part"):
        asked(table, "proportion", "x", relation=REPLACE, terms=terms, **({"delta": 1e-6} if terms.groupby else {}))


@pytest.mark.claim("asking.3")
@pytest.mark.parametrize("relation", [REPLACE, ADD])
@pytest.mark.parametrize("verb", ["mean", "histogram"])
def test_keys_and_answers_add_up_to_what_is_charged(relation: Neighbours, verb: str) -> None:
    table = read({"town": ["a", "b"] * 50, "x": [1.0, 2.0] * 50})
    question = asked(table, verb, "x", relation=relation, terms=Terms(groupby="town"), delta=1e-6)
    finder, promised = question.price.finder, question.price.mechanism.guarantee
    people = 2 if relation is REPLACE else 1
    epsilon = Fraction(finder.epsilon) + Fraction(promised.epsilon)
    delta = Fraction(finder.delta) + Fraction(promised.delta)
    assert people * epsilon == 1
    assert finder.epsilon == epsilon / 4
    weight = 1 if people == 1 else 1 + math.exp(0.5)
    assert 0.99e-6 < float(delta) * weight <= 1e-6 * (1 + 1e-12)
    assert bool(promised.delta) == (verb == "histogram")


@pytest.mark.claim("session.3")
def test_groups_that_were_stored_say_what_they_promise() -> None:
    table = read({"town": ["a", "b"] * 3, "x": [1.0] * 6})
    for terms in (Terms(groupby="town"), Terms(groupby="town", keys=[1, True, None, "a", 2.5])):
        more: dict[str, Any] = {"delta": 1e-6} if terms.keys is None else {}
        found = asked(table, "count", "x", terms=terms, **more).answer(table, discreet.Seeded(1))
        assert isinstance(found, Groups)
        again = recalled_groups(found.to_dict())
        assert again.guarantee == found.guarantee
        assert [(type(name), name) for name in again] == [(type(name), name) for name in found]
        assert str(again.to_dict()["groups"]) == str(found.to_dict()["groups"])
    with pytest.raises(BadInput, match="not groups"):
        recalled_groups(found.to_dict() | {"guarantee": {"epsilon": 1, "delta": 0, "neighbours": "?", "unit": "row"}})


@pytest.mark.claim("asking.1")
def test_the_mechanism_that_is_priced_is_the_one_that_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    table, recorder = read({"x": [1.0, 2.0]}), Recorder(discreet.Seeded(1))
    question = asked(table, "count", "x", terms=Terms(missing="keep"))
    monkeypatch.setattr(asking, "made", lambda *_: pytest.fail("a second mechanism was made"))
    question.answer(table, recorder)
    assert [getattr(request, "cost", None) for request, _ in recorder.log] == [Laplace(1.0)]


@pytest.mark.claim("asking.4")
@pytest.mark.parametrize("ordered", [True, False])
def test_rows_without_a_place_of_their_own_are_shuffled_under_replace(
    monkeypatch: pytest.MonkeyPatch, ordered: bool
) -> None:
    """The order of an unordered source decides nothing: every order of the rows is as likely, whatever they hold."""
    monkeypatch.setattr(
        Question, "_released", lambda _, columns, *__: SimpleNamespace(answer=tuple(columns["x"]), spread=None)
    )
    table = read({"x": [1.0, 2.0, 3.0]})
    table.ordered = ordered
    seen: list[Any] = []
    for seed in range(400):
        question = asked(table, "mean", "x", relation=REPLACE, terms=Terms(missing="keep"), bounds=(0, 4))
        release: Any = question.answer(table, discreet.Seeded(seed))
        seen.append(release.answer)
    counts = {order: seen.count(order) for order in set(seen)}
    if ordered:
        assert counts == {(1.0, 2.0, 3.0): 400}
    else:  # six orders: each 66.7 times, with a standard deviation of 7.5; five of them are once in a million
        assert len(counts) == 6
        assert all(29 < count < 104 for count in counts.values())


@pytest.mark.claim("asking.2", "asking.3")
@pytest.mark.parametrize("relation", [REPLACE, ADD])
@pytest.mark.parametrize(
    ("verb", "terms"),
    [("mean", Terms(where="x > 0")), ("mean", Terms(groupby="town")), ("count", Terms(where="x > 0"))],
)
def test_what_is_charged_is_what_was_asked_for(relation: Neighbours, verb: str, terms: Terms) -> None:
    """Plans, and budgets in other currencies, compose the loss: it is for the session's relation, not for one step."""
    table = read({"town": ["a", "b"] * 50, "x": [1.0, 2.0] * 50})
    more: dict[str, Any] = {"delta": 1e-6} if terms.groupby else {}
    question = asked(table, verb, "x", relation=relation, terms=terms, **more)
    assert compose.epsilon(question.price.loss, more.get("delta", 0)) == pytest.approx(1.0)
    assert question.price.guarantee.epsilon == 1
    assert question.price.guarantee.neighbours is relation


@pytest.mark.claim("asking.1")
@pytest.mark.parametrize("person", [None, "id"])
def test_how_many_there_are_is_not_looked_at_where_it_is_private(
    monkeypatch: pytest.MonkeyPatch, person: str | None
) -> None:
    def counted(*_: Any) -> Any:
        pytest.fail("people were counted")

    for step in ("size", "people", "columns"):
        monkeypatch.setattr(Table, step, counted)
    table = read({"id": [], "x": [], "town": []})
    for relation, terms in ((ADD, Terms()), (ADD, Terms(missing="keep")), (REPLACE, Terms(where="x > 0"))):
        people = People.of(person, None, relation)
        for verb, columns in (("mean", ("x",)), ("fit", (np.mean, "x"))):
            more = {"blocks": 400} if verb == "fit" else {}
            question = prepare(table, people, verb, columns, {"epsilon": 1.0} | more, terms=terms)
            question.check()
