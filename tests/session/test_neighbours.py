"""Whole questions on neighbouring tables: nothing leaves but through the door, and no more moves than was paid for."""

from pathlib import Path

import numpy as np
import pytest
from benchmarks.sessions import ADD, ASKINGS, REPLACE, Asking, audited, objections

from discreet.privacy.guarantee import Neighbours
from discreet.tables.opening import read
from discreet.tables.wanted import Terms

ASKED = [
    "count, all",
    "count of all, where",
    "proportion, where",
    "mean, kept",
    "mean, by",
    "mean, found",
    "quantile, all",
    "variance, where",
    "histogram, by",
    "histogram, open, kept",
    "histogram, open, found",
    "linear regression, kept",
    "fit, kept",
    "mean, person, sum",
    "count, person, by id",
    "count, person, found",
    "fit, person, all",
    "fit, person, kept",
]
CASES = [
    (name, relation)
    for name in ASKED
    for relation in (REPLACE, ADD)
    if not (name.startswith("linear") and relation is REPLACE)  # so few rows are refused before they are paid for
]


@pytest.mark.claim("asking.1", "asking.2", "asking.3", "asking.4", "release.1")
@pytest.mark.parametrize(("name", "relation"), CASES)
def test_neighbours_ask_for_draws_that_differ_by_what_was_paid(name: str, relation: Neighbours) -> None:
    found, asked = audited(name, relation, 4 if name.startswith("fit") else 8)
    assert found == []
    assert asked >= 2


@pytest.mark.claim("asking.4")
def test_all_rows_of_a_person_stay_with_their_owner() -> None:
    """Under REPLACE too: a person with many rows is in one block, whatever the order that is drawn."""
    crowd = {"id": np.repeat(np.arange(60), 5), "x": np.repeat(np.arange(60) % 7.0, 5)}
    other = {"id": crowd["id"], "x": np.where(crowd["id"] == 7, 1e6, crowd["x"])}
    asking = Asking("fit", (np.mean, "x"), {"epsilon": 60.0, "blocks": 6}, Terms(missing="keep"), person=True)
    for seed in range(3):
        assert objections(asking, REPLACE, read(crowd), read(other), seed) == []


def test_every_question_can_be_asked(tmp_path: Path) -> None:
    table = read({name: list(range(2000)) for name in ("id", "x", "y", "town", "flag")})
    for asking in ASKINGS.values():
        assert asking.of(table, ADD).price.guarantee.epsilon
