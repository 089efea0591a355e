"""Tables of no, one, two and three people: every verb answers, or raises an error of ours."""

import ast
import inspect
import warnings
from collections.abc import Iterable, Iterator
from itertools import islice, product
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scripts.faces import choices
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
LEAN: dict[str, Any] = {"p": {0: 0.5, 1: 0.5}, "q": {0: 0.1, 1: 0.9}}
OWN: dict[str, tuple[dict[str, Any], ...]] = {  # options that go together, or that a docstring's example does not give
    "closeness_test": ({"categories": [0, 1]}, {"edges": [0, 1, 2]}),
    "custom_test": (
        {"test": first_p_value, "trust": "own"},
        {"test": first_p_value, "trust": "own", "blocks": 1, "method": "binary", "smallest": 1},
    ),
    "density": ({"support": (0, 10)}, {"categories": [0, 1]}),
    "fit": (
        {"estimator": size_of, "trust": "own", "names": ["size"]},
        {"estimator": size_of, "trust": "own", "names": ["size"], "blocks": 1},
        {"estimator": size_of, "trust": "own", "names": ["size"], "blocks": 2, "estimate_bias": True},
        {"estimator": LinearRegression(), "blocks": 2},
    ),
    "fit_distribution": (
        {"family": "bernoulli"},
        {"family": "exponential"},
        {"family": "gaussian"},
        {"family": "gamma"},
        {"family": "beta"},
        {"family": "binomial", "trials": 3},
        {"family": "multinomial", "categories": [0, 1]},
    ),
    "goodness_of_fit_test": (
        {"null": {0: 0.5, 1: 0.5}},
        {"null": stats.norm(), "bins": 4},
        {"null": stats.norm(), "edges": [0, 1]},
    ),
    "histogram": ({"categories": [0, 1]}, {"edges": [0, 1, 2]}, {"categories": [0, 1], "noise": "gaussian"}),
    "independence_test": ({"categories": ([0, 1], [0, 1])},),
    "kmeans": (
        {"k": 1},
        {"k": 2, "method": "lloyd", "radius": 3.0},
        {"k": 2, "method": "lloyd", "radius": 3.0, "loss": True, "columns": 2},
    ),
    "likelihood_ratio_test": (LEAN, LEAN | {"method": "vote"}),
    "linear_regression": (
        {"method": "moments", "ridge": 1.0},
        {"method": "friendly", "blocks": 1},
        {"intercept": False},
    ),
    "logistic_regression": (
        {"method": "objective", "ridge": 1.0},
        {"confidence": None, "norm": 2.0},
        {"classes": [0, 1], "intercept": False},
    ),
    "maximum_likelihood": (
        {"model": "gamma", "fixed": {"loc": 0}},
        {"model": "norm", "blocks": 1},
        {"model": "norm", "blocks": 2, "aggregator": "mean"},
    ),
    "mean": (
        {"sigma": 1.0, "model": "gaussian"},
        {"sigma": 1.0},
        {"method": "blocks", "sigma": 1.0},
        {"method": "clipped", "reach": 5.0, "sigma": 1.0},
        {"method": "two-stage", "reach": 5.0, "sigma": 1.0},
        {"method": "stability", "sigma": 1.0},
        {"method": "karwa-vadhan", "reach": 5.0, "sigma": (0.5, 2.0)},
    ),
    "median": ({"confidence": None}, {"guaranteed": True}, {"granularity": 1.0}),
    "poisson_regression": ({"method": "descent", "largest": 5},),
    "quantile": ({"q": 0.01}, {"q": (0.25, 0.75)}, {"q": (0.25, 0.75), "confidence": None, **WIDE}),
    "sgd": (
        {"loss": "huber"},
        {"loss": "logistic", "size": 3},
        {"loss": "squared", "rate": 0.5, "steps": 2, "size": 9},
    ),
}


def ways(name: str) -> list[dict[str, Any]]:
    """Options: what it needs as its example has it, then each choice of an option, public bounds, and its own."""
    statistic = declared(name)
    parameters = {one: what for one, what in statistic.signature.parameters.items() if one in statistic.options}
    rest = (*PRICE, statistic.loose)
    needed = [one for one, what in parameters.items() if what.default is what.empty and one not in rest]
    own = list(OWN.get(name, ()))
    base = own.pop(0) if own and needed else {one: ast.literal_eval(statistic.shown[one]) for one in needed}
    chosen = [
        base | {one: value}
        for one, what in parameters.items()
        for value in choices(what.annotation)
        if one != "trust" and value != what.default
    ]
    return [base, *chosen, *([base | WIDE] if "bounds" in parameters else []), *own]


PRICE = ("epsilon", "delta")


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
    """Every way to ask this of so many people; what may be left out is given, and left out."""
    statistic, outcome = declared(verb), np.arange(size) % 2
    others = [name for name in statistic.columns if name != next(iter(statistic.columns))]
    spare = all(statistic.reads(name, {}).optional for name in others)
    for way, budget, relation, x in product(ways(verb), budgets(verb), Neighbours, columns(size)):
        for missing, second in product(("drop", "keep"), (True, False) if others and spare else (bool(others),)):
            asked = {**way, **budget, "neighbours": relation, "missing": missing}
            if statistic.loose is not None:
                yield (x, outcome), asked
                continue
            asked[next(iter(statistic.columns))] = x
            yield (), asked | (dict.fromkeys(others, outcome) if second else {})


STRIDE = 7  # prime to the numbers of budgets, relations, shapes and ways with missing values: each meets each other


@pytest.mark.parametrize("size", range(4))
@pytest.mark.parametrize("verb", homes())
def test_few_people_meet_answers_or_errors_of_ours(verb: str, size: int) -> None:
    answers_or_errors_of_ours(verb, islice(calls(verb, size), size, None, STRIDE))


@pytest.mark.study
@pytest.mark.parametrize("size", range(4))
@pytest.mark.parametrize("verb", homes())
def test_few_people_whatever_is_asked(verb: str, size: int) -> None:
    answers_or_errors_of_ours(verb, calls(verb, size))


def answers_or_errors_of_ours(verb: str, asking: Iterable[tuple[tuple[Any, ...], dict[str, Any]]]) -> None:
    asked = 0
    for given, options in asking:
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
