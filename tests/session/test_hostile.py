"""Odd values, empty tables, few people: whatever is refused is refused before it is paid for, by what is public."""

import logging
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.session.verbs import asked

import discreet
from discreet.audit.worlds import HOSTILE, THORNS
from discreet.errors import BadInput, DiscreetError, Refused
from discreet.privacy.declaration import declared
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Approximate
from discreet.privacy.people import People
from discreet.session import asked as prepare
from discreet.statistics.bounded_mean import BoundedMean
from discreet.tables import table as tables
from discreet.tables.opening import read
from discreet.tables.wanted import Terms

REPLACE, ADD = Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE
RNG = np.random.default_rng(3)
POOL = (*HOSTILE, *THORNS)
NAMES = ("age", "bmi", "sex", "smokes", "visits", "cost", "id")
ODD = {
    "nobody": {name: [] for name in NAMES},
    "one": {name: [1.0] for name in NAMES},
    "nothing": {name: [None] * 12 for name in NAMES},
    "thorns": {name: [POOL[place] for place in RNG.permutation(len(POOL))] for name in NAMES},
}
TERMS = (Terms(missing="keep"), Terms(where="age > 1e307 or sex is missing"))
ASKED = asked(blocks=5, people=50, steps=3)


def streams(name: str) -> bool:
    return any(declared(name).reads(parameter, {}).streams for parameter in declared(name).columns)


@pytest.mark.claim("session.1", "asking.1")
@pytest.mark.parametrize("relation", [REPLACE, ADD])
@pytest.mark.parametrize("verb", ASKED)
def test_nothing_is_raised_after_the_charge(
    verb: str, relation: Neighbours, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.WARNING)
    for source in ODD.values():
        table = read(source)
        for person in (None, "id"):
            for terms in TERMS:
                try:
                    people = People.of(person, None, relation)
                    question = prepare(table, people, verb, (), {"epsilon": 2.0} | ASKED[verb], terms=terms)
                    question.check()
                except (BadInput, Refused):
                    continue
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    assert question.answer(table, discreet.Seeded(1)).to_json()
    assert not caplog.records
    assert capfd.readouterr() == ("", "")


@pytest.mark.claim("session.1")
@pytest.mark.parametrize(
    ("verb", "columns", "options"),
    [
        ("histogram", ("sex",), {"delta": 1e-6}),
        ("goodness_of_fit_test", ("sex", {"F": 0.5, "M": 0.5}), {}),
        ("fit", (np.mean, "bmi"), {"blocks": 50}),
        ("sgd", ("logistic", ["age"], "smokes"), {"delta": 1e-6, "size": 50, "steps": 3}),
    ],
)
def test_too_few_people_are_refused_before_it_is_paid(
    tmp_path: Path, verb: str, columns: Any, options: dict[str, Any]
) -> None:
    few = {name: ["F", "M", "F"] if name == "sex" else [1.0, 2.0, 3.0] for name in NAMES}
    with discreet.open(
        few, budget=discreet.Budget(9.0, 1e-3), ledger=tmp_path / "l", neighbours="replace", rng=discreet.Seeded(1)
    ) as private:
        with pytest.raises((BadInput, Refused)):
            private.ask(verb, *columns, epsilon=1.0, missing="keep", **options)
        assert private.balance.spent.cost == 0


@pytest.mark.claim("asking.1")
@pytest.mark.parametrize("verb", [name for name in ASKED if len(declared(name).columns) == 1 or not streams(name)])
def test_whether_a_column_is_too_long_to_hold_is_not_told(monkeypatch: pytest.MonkeyPatch, verb: str) -> None:
    """How many rows are kept is private under ADD_OR_REMOVE: a longer column gives the same answer."""
    table = read({name: RNG.integers(0, 2, 300).astype(float) for name in NAMES})
    people = People.of(None, None, ADD)
    try:
        question = prepare(table, people, verb, (), {"epsilon": 2.0} | ASKED[verb], terms=Terms(where="age >= 0"))
    except BadInput:
        return
    short = question.answer(table, discreet.Seeded(1)).to_dict()
    monkeypatch.setattr(tables, "HELD", 20)
    assert question.answer(table, discreet.Seeded(1)).to_dict() == short


@pytest.mark.claim("session.2")
def test_a_mechanism_of_ones_own_that_costs_more_than_it_says_is_not_run(tmp_path: Path) -> None:
    class Costly(BoundedMean):
        @property
        def loss(self) -> Any:
            return Approximate(1.5, 0)

    with discreet.open({"x": [1.0]}, budget=discreet.Budget(9.0), ledger=tmp_path / "l") as private:
        with pytest.raises(BadInput, match="more than it promises"):
            private.run(Costly(0, 1, 1.0, neighbours=ADD, unit="row"), "x")
        assert private.balance.spent.cost == 0


@pytest.mark.claim("session.1")
def test_what_a_mechanism_of_ones_own_raises_is_not_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def told(*_: Any) -> Any:
        raise ValueError("row 17 is 42.5")

    few = {"x": [1.0, 2.0], "day": pa.array([18262] * 2, pa.date32())}
    with discreet.open(few, budget=discreet.Budget(9.0), ledger=tmp_path / "l", rng=discreet.Seeded(1)) as private:
        mechanism = BoundedMean(0, 1, 1.0, neighbours=ADD, unit="row")
        with pytest.raises(BadInput, match="date"):
            private.run(mechanism, "day")
        assert private.balance.spent.cost == 0
        monkeypatch.setattr(BoundedMean, "release", told)
        with pytest.raises(DiscreetError) as caught:
            private.run(mechanism, "x")
    assert "42.5" not in str(caught.value)
    assert caught.value.__context__ is None


@pytest.mark.claim("session.1")
@pytest.mark.parametrize(
    ("verb", "columns", "options"),
    [
        ("logistic_regression", ("smokes ~ age + C(sex)",), {}),
        ("linear_regression", ("bmi ~ C(sex)",), {"delta": 1e-6, "levels": {"sex": ["F"]}}),
        ("linear_regression", ("bmi ~ C(sex)",), {"delta": 1e-6, "levels": {"sex": ["F", "F"]}}),
        ("linear_regression", ("bmi ~ age",), {"delta": 1e-6, "levels": {"sex": ["F", "M"]}}),
        ("linear_regression", ("bmi ~ C(sex)",), {"delta": 1e-6, "levels": {"sex": list(range(700))}}),
        ("kmeans", (["age", "bmi"], 2), {"delta": 1e-6, "columns": 3}),
        ("kmeans", (["age", "bmi"], 2), {"delta": 1e-6, "radius": 3.0, "centre": [1.0]}),
    ],
)
@pytest.mark.parametrize("relation", ["replace", "add_or_remove"])
def test_what_options_alone_rule_out_costs_nothing(
    verb: str, columns: tuple[Any, ...], options: dict[str, Any], relation: str
) -> None:
    many = {name: ["F", "M"] * 500 if name == "sex" else list(range(1000)) for name in NAMES}
    budget = discreet.Budget(9.0, 1e-3)
    with discreet.open(many, budget=budget, ledger=":memory:", neighbours=relation) as session:
        with pytest.raises(BadInput):
            session.ask(verb, *columns, epsilon=1.0, **options)
        assert session.balance.spent.cost == 0
