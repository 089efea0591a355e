"""Whether a verb raises, and with which words, is decided by parameters and the public size, never by the values."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import discreet
from discreet import Seeded

VALUES = (np.nan, np.inf, -np.inf, 1e300, -1e300, 5e-324, 0.0, -0.0, 1.0)
PURE: dict[str, Any] = {"epsilon": 2.0}
BOTH: dict[str, Any] = {"epsilon": 2.0, "delta": 1e-6}


def table(x: Any) -> Any:
    """Two columns of the same values, one backwards."""
    return np.stack([x, x[::-1]], axis=1)


VERBS: dict[str, Callable[..., Any]] = {
    "density": lambda x, **how: discreet.density(x, **PURE, **how),
    "poisson family": lambda x, **how: discreet.fit_distribution("poisson", x, **PURE, **how),
    "gaussian family": lambda x, **how: discreet.fit_distribution("gaussian", x, **PURE, **how),
    "likelihood": lambda x, **how: discreet.maximum_likelihood(
        "gamma", x, fixed={"loc": 0}, epsilon=40.0, blocks=20, **how
    ),
    "test_mean": lambda x, **how: discreet.mean_test(x, 0.0, **PURE, **how),
    "linear_regression": lambda x, **how: discreet.linear_regression(table(x), x, **BOTH, **how),
    "logistic_regression": lambda x, **how: discreet.logistic_regression(table(x), x, **PURE, **how),
    "descent": lambda x, **how: discreet.logistic_regression(table(x), x, method="descent", **BOTH, **how),
    "poisson_regression": lambda x, **how: discreet.poisson_regression(table(x), x, **BOTH, **how),
    "sgd": lambda x, **how: discreet.sgd("huber", table(x), x, size=720, missing="keep", **BOTH, **how),
    "kmeans": lambda x, **how: discreet.kmeans(table(x), 2, **BOTH, **how),
    "test_paired": lambda x, **how: discreet.paired_test(x, **PURE, **how),
    "test_two_samples": lambda x, **how: discreet.two_samples_test(x, x, **PURE, **how),
    "test_two_means": lambda x, **how: discreet.two_means_test(x, x, **PURE, **how),
    "test_anova": lambda x, **how: discreet.anova(x, x, x, **PURE, **how),
}


def ended(verb: str, x: Any, neighbours: str) -> str:
    """How a call ends: answered (or refused in a release), or the words of our own error."""
    with warnings.catch_warnings(action="error"):
        try:
            str(VERBS[verb](x, neighbours=neighbours, rng=Seeded(1)))
        except discreet.DiscreetError as error:
            return str(error)
    return "answered"


@pytest.mark.parametrize("neighbours", ["replace", "add_or_remove"])
@pytest.mark.parametrize("verb", VERBS)
def test_values_decide_on_no_error(verb: str, neighbours: str) -> None:
    alone = {ended(verb, np.array([value]), neighbours) for value in VALUES}
    assert len(alone) == 1, alone
    crowds = [np.tile(VALUES, 80), *(np.full(720, value) for value in (np.nan, 1e300, 5e-324, 1.0))]
    many = {ended(verb, rows, neighbours) for rows in crowds}
    assert many == {"answered"}
