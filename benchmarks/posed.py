"""A question of every declared statistic, about the columns of benchmarks/neighbouring.py.

Columns are chosen by what a statistic reads; the options that it needs are those of its docstring's example. OWN has
what cannot be guessed: an outcome that is a yes or a count, categories that go with a column. A new statistic is asked
without being listed here.
"""

import ast
import hashlib
import pickle
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from discreet.asking import made
from discreet.engines.local import Local
from discreet.privacy.declaration import Columns as Facts
from discreet.privacy.declaration import Kind, Public, Statistic, declared, homes
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.mechanism import Mechanism

HERE: Final = Local(workers=0)
BLOCKS: Final = 12
MUCH, DELTA = 15.0, 1e-4  # more, and approximate noise on these grids has no delta left
PURE: Final = 60.0


def nosy(x: Any, y: Any = None) -> float:
    """A number that depends on all that a block is given: entries, types, categories, labels of rows."""
    raw = pickle.dumps((x, y, str(getattr(x, "dtypes", getattr(x, "dtype", None)))))
    return int.from_bytes(hashlib.blake2b(raw, digest_size=6).digest()) / 2**48


def close(x: Any, y: Any = None) -> float:
    """The same, in so small a range that answers are given."""
    return 0.5 + nosy(x, y) / 10


COLUMN: Final = {"x": "x", "y": "y", "any": "x", "boolean": "flag", "category": "label"}
LABELS: Final = ["no", "yes"]
EVEN, OTHER = {"no": 0.5, "yes": 0.5}, {"no": 0.4, "yes": 0.6}
CODE: Final[Mapping[str, Any]] = {"estimator": close, "test": nosy}
OWN: Final[Mapping[str, Mapping[str, Any]]] = {
    "ab_test": {"groups": "label", "treatment": "no", "control": "yes"},
    "additive_model": {"y": "label", "classes": LABELS},
    "closeness_test": {"categories": LABELS},
    "crosstab": {"y": "town", "categories": (LABELS, ["a", "b", "c"])},
    "difference": {"groups": "label", "between": LABELS},
    "fit": {"names": "number"},
    "fit_distribution": {"x": "hits", "family": "poisson"},
    "goodness_of_fit_test": {"x": "label", "null": EVEN},
    "groups_test": {"groups": "label", "between": LABELS},
    "histogram": {"categories": LABELS},
    "independence_test": {"y": "town", "categories": (LABELS, ["a", "b", "c"])},
    "likelihood_ratio_test": {"x": "label", "p": EVEN, "q": OTHER},
    "linear_regression": {"epsilon": 22.0},
    "log_rank_test": {"groups": "label", "between": LABELS, "times": [0.5, 1.0], "parts": 1},
    "logistic_regression": {"y": "flag"},
    "maximum": {"share": 0.25},
    "maximum_likelihood": {"model": "norm"},
    "mean": {"x": "whole"},
    "mean_test": {"null": 0.5},
    "minimum": {"share": 0.25},
    "median": {"x": "whole"},
    "multinomial_regression": {"y": "label", "classes": LABELS},
    "naive_bayes": {"y": "label", "classes": LABELS},
    "poisson_regression": {"y": "hits", "delta": DELTA},
    "survival": {"times": [0.5, 1.0], "parts": 1},
    "sgd": {"y": "flag", "steps": 3, "loss": "logistic"},
    "synthetic": {"X": ["label", "town"]},
}
PEOPLE: Final = {  # else 100
    "covariance": 150,
    "kmeans": 220,
    "linear_regression": 300,
    "multinomial_regression": 300,
    "poisson_regression": 300,
    "fit_normal": 150,
    "pca": 300,
}
SHARE: Final = {  # of the runs
    "covariance": 0.7,
    "kmeans": 0.5,
    "linear_regression": 0.4,
    "pca": 0.4,
    "poisson_regression": 0.4,
}


def posed(name: str) -> dict[str, Any]:
    """The arguments of a question, with columns by name."""
    statistic, own = declared(name), OWN.get(name, {})
    arguments = guessed(statistic, own, COLUMN, ["x", "z"])
    arguments |= {"blocks": BLOCKS, "engine": HERE} if statistic.blocks else {}
    delta = statistic.needs_delta(arguments | dict(own), dict.fromkeys(statistic.columns))
    price = {"epsilon": MUCH, "delta": DELTA} if delta else {"epsilon": PURE}
    return arguments | price | dict(own)


def guessed(
    statistic: Statistic, own: Mapping[str, Any], column: Mapping[str, str], several: list[str]
) -> dict[str, Any]:
    """A column for each parameter that takes one, by its kind; options that are needed as the docstring has them."""
    arguments: dict[str, Any] = {}
    for parameter in statistic.columns:
        reads = statistic.reads(parameter, own)
        asked = statistic.loose is None and parameter in statistic.positional  # others are optional
        if asked and not (statistic.blocks and parameter == "y"):
            one = column.get(parameter, column["x"]) if reads.kind == "number" else column[reads.kind]
            arguments[parameter] = several if reads.width == "several" else one
    for name in statistic.needed:
        if name not in (*statistic.columns, *own, "epsilon", "delta", statistic.loose):
            arguments[name] = CODE[name] if name in CODE else ast.literal_eval(statistic.shown[name])
    return arguments


def mechanism_of(name: str, relation: Neighbours, *, people: int = 100, **options: Any) -> Mechanism[Any]:
    """What a declaration makes of the question, under a relation, for a table of so many people if that is public."""
    statistic, arguments = declared(name), posed(name) | options
    arguments |= {"size": people} if "size" in statistic.options else {}
    facts: dict[str, Any] = {}
    for parameter in statistic.columns:
        reference = arguments.pop(parameter, None)
        names = (reference,) if isinstance(reference, str) else tuple(reference or ())
        kinds: tuple[Kind, ...] = tuple("unknown" for _ in names)
        facts[parameter] = Facts(names, kinds, several=isinstance(reference, list)) if names else None
    size, schema = people if relation.size_is_public else None, None
    if statistic.blocks:
        columns = {parameter: None if fact is None else np.empty(0) for parameter, fact in facts.items()}
        schema = statistic.rows(columns | {"people": None, "categories": None})
        schema = schema if size is None else schema.counting(size)
    return made(statistic, Public(relation, "row", size, schema), facts, arguments)


def asked_of_tables() -> list[Statistic]:
    """The statistics that a session can be asked for."""
    return [statistic for statistic in map(declared, homes()) if not statistic.samples]
