"""Answers on Dask and Spark are those of this machine, to the last digit; what fails there tells nothing."""

import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from benchmarks.posed import asked_of_tables, posed

import discreet
from discreet import Budget, Seeded
from discreet.privacy.declaration import declared

NAMES = [one.name for one in asked_of_tables()]
MUCH = {"epsilon": 20.0}
SOME: dict[str, tuple[str, dict[str, Any]]] = {
    "mean": ("mean", {"x": "x", **MUCH}),
    "mean of some": ("mean", {"x": "x", "where": "whole > 3 and label == 'yes'", **MUCH}),
    "median": ("median", {"x": "x", **MUCH}),
    "counts": ("histogram", {"x": "label", "categories": ["no", "yes"], **MUCH}),
    "groups": ("mean", {"x": "x", "groupby": "town", "keys": ["a", "b", "c"], **MUCH}),
    "regression": ("linear_regression", {"X": ["x", "z"], "y": "y", "delta": 1e-6, **MUCH}),
}


def shown(answer: Any) -> str:
    """All that an answer shows, but for its receipt and where its functions are in memory."""
    each = [one for _, one in answer.releases] if hasattr(answer, "releases") else [answer]
    parts = [
        (one.answer, one.spread, one.refusal, one.guarantee, replace(one.provenance, receipt=None)) for one in each
    ]
    return re.sub(r"0x[0-9a-f]+|sha256 \w+", "", repr(parts))


def asked(source: Any, engine: Any, name: str, arguments: dict[str, Any], **options: Any) -> str:
    """An answer to the last digit, and what is left of the budget."""
    terms: dict[str, Any] = {"budget": Budget(1000.0, 0.9), "ledger": ":memory:", "population": "p"}
    with discreet.open(source, engine=engine, rng=Seeded(5), **terms, **options) as session:
        found = shown(session.ask(name, **arguments))
        left = session.balance.left.epsilon
    return f"{found} {left}"


def every(name: str) -> dict[str, Any]:
    """The question of a declared statistic."""
    more = {"size": 2000, "delta": 1e-5} if "size" in declared(name).options else {}
    return posed(name) | more


@pytest.fixture(scope="module", params=["dask", "spark"])
def engine(request: pytest.FixtureRequest) -> Any:
    return request.getfixturevalue(request.param)


@pytest.mark.engines
@pytest.mark.parametrize("relation", ["add_or_remove", "replace"])
@pytest.mark.parametrize("name", NAMES)
def test_every_statistic_is_the_same_there(name: str, relation: str, folder: Path, engine: Any) -> None:
    ask = partial(asked, name=name, arguments=every(name), neighbours=relation)
    assert ask(folder, engine) == ask(folder, None)


@pytest.mark.engines
@pytest.mark.parametrize("name", NAMES)
def test_every_statistic_of_people_with_several_rows_is_the_same_there(name: str, folder: Path, engine: Any) -> None:
    ask = partial(asked, name=name, arguments=every(name), person="id")
    assert ask(folder, engine) == ask(folder, None)
