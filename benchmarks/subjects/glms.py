"""The audited mechanisms of generalised linear models and of stochastic descent."""

import math
from typing import Any

import numpy as np

from benchmarks.subjects.subject import ADD, POINTS, Subject, edge_pairs
from discreet.models.descent import Descent
from discreet.models.features import Features
from discreet.models.objective import ObjectivePerturbation
from discreet.models.sgd import StochasticDescent
from discreet.privacy.guarantee import Neighbours

ONE, BOUNDED = Features(("x",)), Features(("x",), bounds=(-2, 2))
CROWD = [(math.sin(7.0 * k), float(math.sin(7.0 * k) + math.cos(3.0 * k) > 0)) for k in range(60)]


def slope(w: Any, x: Any, y: Any) -> Any:
    """Of half a squared error; it does not like large numbers."""
    if abs(x[0, 0]) > 1e6:
        raise ValueError("too large")
    return (w[0] + w[1] * x[0, 0] - y[0]) * np.array([1.0, x[0, 0]])


def guessed(relation: Neighbours, loss: Any, rate: float = 1.0) -> StochasticDescent:
    """Three steps; sums are divided by a guess of 60."""
    parameters = 2 if callable(loss) else None
    return StochasticDescent(
        ONE, loss, epsilon=4.0, delta=1e-4, steps=3, rate=rate, people=60, parameters=parameters, neighbours=relation
    )


SUBJECTS = {
    "ObjectivePerturbation": Subject(
        lambda r: ObjectivePerturbation(ONE, 10.0, neighbours=r),
        POINTS,
        edge_pairs((9.0, 0.0), (9.0, 1.0), CROWD),
        least=40,
    ),
    "ObjectivePerturbation, bounds": Subject(
        lambda r: ObjectivePerturbation(BOUNDED, 2.0, neighbours=r),
        POINTS,
        edge_pairs((2.0, 0.0), (2.0, 1.0), CROWD * 7),
        least=400,
    ),
    "Descent": Subject(
        lambda r: Descent(ONE, 60.0, 1e-4, neighbours=r),
        POINTS,
        edge_pairs((9.0, 0.0), (9.0, 1.0), CROWD * 6),
        least=40,
    ),
    "Descent, a tilted minimum": Subject(
        lambda r: Descent(ONE, 60.0, 1e-4, tilted=True, neighbours=r),
        POINTS,
        edge_pairs((9.0, 0.0), (9.0, 1.0), CROWD * 6),
        least=40,
    ),
    "Descent, Poisson": Subject(
        lambda r: Descent(BOUNDED, 60.0, 1e-4, family="poisson", largest=5, neighbours=r),
        POINTS,
        edge_pairs((2.0, 0.0), (2.0, 9.0), CROWD * 6),
        least=40,
    ),
    "StochasticDescent": Subject(
        lambda r: guessed(r, "logistic"), POINTS, edge_pairs((9.0, 0.0), (9.0, 1.0), CROWD), only=ADD
    ),
    "StochasticDescent, a function on samples": Subject(
        lambda r: guessed(r, slope, 0.25), POINTS, edge_pairs((9.0, 0.0), (9.0, 1.0), CROWD), only=ADD
    ),
}
