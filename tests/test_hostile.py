"""Whether a verb raises, and with which words, is decided by parameters and the public size, never by the values."""

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from benchmarks.audit import replay_all
from benchmarks.posed import posed
from benchmarks.subjects.declared import SUBJECTS

import discreet
from discreet import Neighbours, Seeded
from discreet.privacy.declaration import declared, homes

VALUES = (np.nan, np.inf, -np.inf, 1e300, -1e300, 5e-324, 0.0, -0.0, 1.0)
PURE: dict[str, Any] = {"epsilon": 2.0}
BOTH: dict[str, Any] = {"epsilon": 2.0, "delta": 1e-6}


def table(x: Any) -> Any:
    """Two columns of the same values, one backwards."""
    return np.stack([x, x[::-1]], axis=1)


def called(name: str, x: Any, beside: tuple[str, ...] = (), **how: Any) -> Any:
    """A statistic of these values: as a column, as a table of two, or as samples; `beside` are optional columns."""
    statistic = declared(name)
    options = {option: value for option, value in posed(name).items() if option not in statistic.columns}
    options |= {"size": 720, "missing": "keep"} if "size" in statistic.options else {}
    if statistic.loose is not None:
        return getattr(discreet, name)(x, x, x, **options, **how)
    given = {
        parameter: table(x) if statistic.reads(parameter, options).width == "several" else x
        for parameter in statistic.columns
        if parameter in (*statistic.positional, *beside) and not (statistic.blocks and parameter == "y")
    }
    weighed = {**BOTH, "largest_weight": 2.0} if beside else {}
    options |= {option: value for option, value in weighed.items() if option in statistic.options}
    return getattr(discreet, name)(**given, **options, **how)


VERBS: dict[str, Callable[..., Any]] = {
    "gaussian family": lambda x, **how: discreet.fit_distribution("gaussian", x, **PURE, **how),
    "likelihood": lambda x, **how: discreet.maximum_likelihood(
        "gamma", x, fixed={"loc": 0}, epsilon=40.0, blocks=20, **how
    ),
    "descent": lambda x, **how: discreet.logistic_regression(table(x), x, method="descent", **BOTH, **how),
    "huber": lambda x, **how: discreet.sgd("huber", table(x), x, size=720, missing="keep", **BOTH, **how),
    **{name: partial(called, name) for name in homes()},
    **{
        f"weighted {name}": partial(called, name, beside=("weights", "offset"))
        for name in homes()
        if "weights" in declared(name).columns
    },
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


@pytest.mark.parametrize("relation", Neighbours)
@pytest.mark.parametrize("name", SUBJECTS)
def test_what_a_declaration_makes_treats_neighbours_alike(name: str, relation: Neighbours) -> None:
    if SUBJECTS[name].only in (None, relation):
        assert replay_all(name, relation, 10) == (10, [])
