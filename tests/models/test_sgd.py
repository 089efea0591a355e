"""Stochastic gradient descent."""

from typing import Any

import numpy as np
import pytest
from tests.models.worlds import COMMON, pairs

from discreet import audit
from discreet.accounting.compose import implies
from discreet.audit.replay import drawn, itemised
from discreet.errors import BadInput
from discreet.models.features import Features
from discreet.models.sgd import StochasticDescent
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours

REPLACE, ADD = Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE
ONE = Features(("x",))


def slope(w: np.ndarray, x: np.ndarray, y: np.ndarray) -> Any:
    """Of half a squared error; it does not like large numbers."""
    if abs(x[0, 0]) > 1e6:
        raise ValueError("too large")
    return (w[0] + w[1] * x[0, 0] - y[0]) * np.array([1.0, x[0, 0]])


@pytest.mark.claim("sgd.1")
@pytest.mark.parametrize(("relation", "rate"), [(REPLACE, 1.0), (ADD, 1.0), (ADD, 0.25)])
@pytest.mark.parametrize("loss", ["squared", slope])
def test_audited_on_small_tables(relation: Neighbours, rate: float, loss: Any) -> None:
    parameters = 2 if callable(loss) else None
    people = len(COMMON) + 1
    mechanism = StochasticDescent(
        ONE,
        loss,
        epsilon=4.0,
        delta=1e-4,
        steps=3,
        rate=rate,
        people=people,
        parameters=parameters,
        neighbours=relation,
    )
    assert implies(mechanism.loss, mechanism.guarantee)
    audit.check(mechanism, pairs(relation), hostile_values=False).require()


@pytest.mark.claim("sgd.1")
def test_a_small_sample_needs_less_noise_and_replace_is_refused() -> None:
    made: dict[str, Any] = {
        "features": ONE,
        "descends": "logistic",
        "epsilon": 4.0,
        "delta": 1e-4,
        "steps": 3,
        "people": 41,
    }
    full = StochasticDescent(**made, neighbours=ADD)
    small = StochasticDescent(**made, neighbours=ADD, rate=0.25)
    assert 1.5 * full.cost.mu < small.cost.mu
    assert itemised(drawn(small, np.zeros((50, 2)))) == itemised(small.loss)
    with pytest.raises(BadInput, match="add_or_remove"):
        StochasticDescent(**made, rate=0.25)


@pytest.mark.claim("sgd.2")
def test_a_step_is_taken_when_nobody_is_there() -> None:
    mechanism = StochasticDescent(ONE, "squared", epsilon=1.0, delta=1e-6, steps=4, people=100, neighbours=ADD)
    assert len({mechanism.release(np.empty((0, 2)), Seeded(seed)).value["x"] for seed in range(4)}) == 4


@pytest.mark.parametrize(("loss", "truth"), [("squared", 2.0), ("huber", 2.0), ("logistic", 1.0), ("poisson", 0.5)])
def test_it_finds_the_slope(loss: str, truth: float) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=20_000)
    draws: dict[str, Any] = {
        "squared": lambda: 2 * x + rng.normal(size=len(x)),
        "huber": lambda: 2 * x + rng.normal(size=len(x)),
        "logistic": lambda: rng.random(len(x)) < 1 / (1 + np.exp(-x)),
        "poisson": lambda: rng.poisson(np.exp(0.5 * x)),
    }
    y = draws[loss]()
    mechanism = StochasticDescent(ONE, loss, epsilon=2.0, delta=1e-6, steps=40, clip=4.0, people=20_000)
    found = mechanism.release(np.column_stack([x, y]), Seeded(1))
    assert abs(found.value["x"] - truth) < 0.2
    assert found.spread is None
    assert "no interval" in str(found)


def test_parameters_are_refused_in_words() -> None:
    base: dict[str, Any] = {"features": ONE, "descends": "squared", "epsilon": 1.0, "delta": 1e-6, "people": 1000}
    wrong: dict[str, Any]
    for wrong, words in (
        ({"people": None}, "people"),
        ({"delta": 0.0}, "delta > 0"),
        ({"descends": "hinge"}, "hinge"),
        ({"descends": slope}, "parameters"),
        ({"descends": slope, "parameters": 0}, "parameters"),
        ({"descends": slope, "parameters": True}, "parameters"),
        ({"steps": 0}, "steps"),
        ({"rate": 0.0}, "rate"),
        ({"clip": -1.0}, "clip"),
        ({"learning": 0.0}, "learning"),
    ):
        with pytest.raises(BadInput, match=words):
            StochasticDescent(**(base | wrong))
    with pytest.raises(BadInput, match="declared"):
        StochasticDescent(ONE, "squared", epsilon=1.0, delta=1e-6, people=7).release(np.zeros((5, 2)), Seeded(0))
