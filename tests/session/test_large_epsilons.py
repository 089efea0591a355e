"""Whatever epsilon, a question is answered, refused in its answer, or refused before it is charged."""

from typing import Any

import numpy as np
import pytest
from benchmarks.neighbouring import crowd
from benchmarks.posed import asked_of_tables, posed

import discreet
from discreet import Budget, Seeded
from discreet.errors import BadInput, NotAnswered, Refused

EPSILONS = (20.0, 40.0, 100.0)
LONG = ("fit", "custom_test", "maximum_likelihood", "kmeans")  # once is enough
TYPES = {"x": "number", "z": "number", "y": "number", "whole": "integer", "hits": "integer"}
VERBS: dict[str, tuple[str, dict[str, Any]]] = {one.name: (one.name, {}) for one in asked_of_tables()}
VERBS |= {f"{name} descent": (name, {"method": "descent"}) for name in ("logistic_regression",)}


def people() -> Any:
    """Where some entries are missing, so that under REPLACE half of epsilon is asked for."""
    columns = crowd(np.random.default_rng(3), 120, several=False)
    for name in ("x", "z", "y"):
        columns[name][7] = None
    return columns


COLUMNS = people()


def charged(name: str, options: dict[str, Any], relation: str, epsilon: float) -> tuple[str, float]:
    """How it ended, and what it cost."""
    terms: dict[str, Any] = {"budget": Budget(1e4, 1e-2), "ledger": ":memory:", "types": TYPES, "rng": Seeded(1)}
    arguments = posed(name) | options | {"epsilon": epsilon}
    arguments |= {"delta": 1e-5} if arguments.get("delta") else {}
    with discreet.open(COLUMNS, neighbours=relation, **terms) as session:
        try:
            session.ask(name, **arguments)
            ended = "answered"
        except NotAnswered as error:
            ended = f"lost: {error}"
        except (BadInput, Refused) as error:
            ended = f"refused: {error}"
        return ended, float(session.balance.spent.epsilon)


@pytest.mark.parametrize("relation", ["add_or_remove", "replace"])
@pytest.mark.parametrize("verb", VERBS)
def test_nothing_is_charged_for_what_cannot_be_drawn(verb: str, relation: str) -> None:
    name, options = VERBS[verb]
    for epsilon in EPSILONS[1:2] if name in LONG else EPSILONS:
        ended, cost = charged(name, options, relation, epsilon)
        assert not ended.startswith("lost"), (epsilon, ended)
        assert (cost > 0) == (ended == "answered")
