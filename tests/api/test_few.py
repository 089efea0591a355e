"""Tables of no, one, two and three people: every verb answers, or raises an error of ours."""

import inspect
import warnings
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LinearRegression

import discreet
from discreet import DiscreetError, Neighbours, Release, Seeded
from discreet.privacy.declaration import declared, homes

PURE: tuple[dict[str, Any], ...] = ({"epsilon": 1}, {"epsilon": 1e5})
MIXED: tuple[dict[str, Any], ...] = ({"epsilon": 1, "delta": 1e-6}, {"epsilon": 15.0, "delta": 1e-4})


def first_p_value(*_: Any) -> float:
    """A test that sees nothing."""
    return 0.5


def size_of(block: Any, *_: Any) -> float:
    """An estimator of any block."""
    return float(len(block))


WIDE: dict[str, Any] = {"bounds": (0, 10)}
COLUMN_OF: dict[str, tuple[dict[str, Any], ...]] = {
    "count": ({},),
    "proportion": ({},),
    "histogram": ({"categories": [0, 1]}, {"edges": [0, 1, 2]}, {"categories": [0, 1], "noise": "gaussian"}, {}),
    "density": ({}, {"support": (0, 10)}, {"categories": [0, 1]}),
    "fit_distribution": (
        {"family": "bernoulli"},
        {"family": "poisson"},
        {"family": "exponential"},
        {"family": "gaussian"},
        {"family": "gamma"},
        {"family": "beta"},
        {"family": "binomial", "trials": 3},
        {"family": "multinomial", "categories": [0, 1]},
    ),
    "maximum_likelihood": (
        {"model": "gamma", "fixed": {"loc": 0}},
        {"model": "norm", "blocks": 1},
        {"model": "norm", "blocks": 2, "aggregator": "mean"},
    ),
    "mean": (
        {},
        {"model": "gaussian"},
        WIDE,
        {"sigma": 1.0, "model": "gaussian"},
        {"sigma": 1.0},
        {"method": "refine"},
        {"method": "blocks"},
        {"method": "blocks", "sigma": 1.0},
        {"method": "clipped", "reach": 5.0, "sigma": 1.0},
        {"method": "two-stage", "reach": 5.0, "sigma": 1.0},
        {"method": "stability", "sigma": 1.0},
        {"method": "karwa-vadhan", "reach": 5.0, "sigma": (0.5, 2.0)},
    ),
    "variance": ({}, {"model": "gaussian"}, WIDE),
    "std": ({}, {"model": "gaussian"}, WIDE),
    "fit_normal": ({}, WIDE),
    "median": ({}, WIDE, {"confidence": None}, {"guaranteed": True}, {"granularity": 1.0}),
    "quantile": ({"q": 0.01}, {"q": (0.25, 0.75)}, {"q": (0.25, 0.75), "confidence": None, **WIDE}),
    "covariance": ({}, {"model": "gaussian"}),
    "kmeans": (
        {"k": 1},
        {"k": 2, "method": "lloyd", "radius": 3.0},
        {"k": 2, "method": "lloyd", "radius": 3.0, "loss": True, "columns": 2},
        {"k": 2, "method": "centred"},
        {"k": 2, "method": "friendly"},
    ),
    "mean_test": (
        {"null": 0.0},
        {"null": 0.0, "model": "gaussian"},
        {"null": 0.0, "model": "symmetric"},
        {"null": 1.0, **WIDE},
    ),
    "proportion_test": ({"null": 0.5},),
    "paired_test": ({}, {"method": "signs"}),
    "goodness_of_fit_test": (
        {"null": {0: 0.5, 1: 0.5}},
        {"null": stats.norm(), "bins": 4},
        {"null": stats.norm(), "edges": [0, 1]},
    ),
    "likelihood_ratio_test": (
        {"p": {0: 0.5, 1: 0.5}, "q": {0: 0.1, 1: 0.9}},
        {"p": {0: 0.5, 1: 0.5}, "q": {0: 0.1, 1: 0.9}, "method": "vote"},
    ),
    "custom_test": (
        {"test": first_p_value, "trust": "own"},
        {"test": first_p_value, "trust": "own", "blocks": 1, "method": "binary", "smallest": 1},
    ),
    "fit": (
        {"estimator": size_of, "trust": "own", "names": ["size"]},
        {"estimator": size_of, "trust": "own", "names": ["size"], "blocks": 1},
        {"estimator": size_of, "trust": "own", "names": ["size"], "blocks": 2, "probe": True},
    ),
}
PAIR_OF: dict[str, tuple[dict[str, Any], ...]] = {
    "fit": ({"estimator": LinearRegression(), "blocks": 2},),
    "linear_regression": (
        {},
        {"method": "moments"},
        {"method": "moments", "ridge": 1.0},
        {"method": "friendly"},
        {"method": "friendly", "blocks": 1},
        {"method": "sgd"},
        {"intercept": False},
    ),
    "logistic_regression": (
        {},
        {"method": "objective", "ridge": 1.0},
        {"method": "descent"},
        {"method": "friendly"},
        {"confidence": None, "norm": 2.0},
        {"classes": [0, 1], "intercept": False},
    ),
    "poisson_regression": ({}, {"method": "descent", "largest": 5}, {"method": "friendly"}),
    "sgd": (
        {"loss": "huber"},
        {"loss": "logistic", "size": 3},
        {"loss": "squared", "rate": 0.5, "steps": 2, "size": 9},
    ),
    "paired_test": ({}, {"method": "signs"}),
    "two_samples_test": ({}, {"alternative": "less"}),
    "two_means_test": ({}, {"model": "gaussian"}, WIDE),
    "anova": ({},),
    "closeness_test": ({"categories": [0, 1]}, {"edges": [0, 1, 2]}),
    "independence_test": ({"categories": ([0, 1], [0, 1])},),
    "custom_test": ({"test": first_p_value, "trust": "own", "blocks": 1, "smallest": 1},),
}
NAMED = {
    "custom_test": "test",
    "fit": "estimator",
    "fit_distribution": "family",
    "maximum_likelihood": "model",
    "sgd": "loss",
}  # come first


def columns(size: int) -> tuple[Any, ...]:
    """One column and two, in several shapes."""
    return np.arange(float(size)), np.zeros((size, 1)), np.zeros((size, 2))


def budgets(verb: str) -> tuple[dict[str, Any], ...]:
    """With a delta where the verb takes one."""
    told = declared(verb).signature.parameters
    if "delta" not in told:
        return PURE
    return MIXED if told["delta"].default is inspect.Parameter.empty else PURE + MIXED


def calls(verb: str, size: int) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Every way to ask this of so many people."""
    first = NAMED.get(verb, "")
    for ways, others in ((COLUMN_OF, 0), (PAIR_OF, 1)):
        for way, budget, relation, x in product(ways.get(verb, ()), budgets(verb), Neighbours, columns(size)):
            rest = {name: value for name, value in way.items() if name != first}
            named = (way[first],) if first else ()
            for missing in ("drop", "keep"):
                asked = {**rest, **budget, "neighbours": relation, "missing": missing}
                yield (*named, x, *[np.arange(size) % 2] * others), asked


@pytest.mark.parametrize("size", range(4))
@pytest.mark.parametrize("verb", homes())
def test_few_people_meet_answers_or_errors_of_ours(verb: str, size: int) -> None:
    asked = 0
    for given, options in calls(verb, size):
        asked += 1
        with warnings.catch_warnings(action="error"):
            try:
                release = getattr(discreet, verb)(*given, **options, rng=Seeded(1))
            except DiscreetError:
                continue
            except Exception as error:
                raise AssertionError(f"{verb} of {given} with {options}") from error
        assert isinstance(release, Release)
        assert str(release)
    assert asked
