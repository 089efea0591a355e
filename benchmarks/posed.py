"""A question of every declared statistic, about the columns of benchmarks/neighbouring.py.

Columns are chosen by what a statistic reads, options by their names. OWN has what cannot be guessed: an outcome that is
a yes or a count, categories that go with a column. A new statistic is asked without being listed here.
"""

import hashlib
import pickle
from collections.abc import Mapping
from typing import Any, Final

from discreet.engines.local import Local
from discreet.privacy.declaration import Statistic, declared, homes

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


COLUMN: Final = {"number": "x", "any": "x", "boolean": "flag", "category": "label"}
LABELS: Final = ["no", "yes"]
EVEN, OTHER = {"no": 0.5, "yes": 0.5}, {"no": 0.4, "yes": 0.6}
GIVEN: Final[Mapping[str, Any]] = {
    "estimator": close,
    "family": "poisson",
    "k": 2,
    "loss": "logistic",
    "model": "norm",
    "null": 0.5,
    "q": 0.5,
    "test": nosy,
}
OWN: Final[Mapping[str, Mapping[str, Any]]] = {
    "closeness_test": {"categories": LABELS},
    "fit": {"names": "number"},
    "fit_distribution": {"x": "hits"},
    "goodness_of_fit_test": {"x": "label", "null": EVEN},
    "histogram": {"categories": LABELS},
    "independence_test": {"y": "town", "categories": (LABELS, ["a", "b", "c"])},
    "likelihood_ratio_test": {"x": "label", "p": EVEN, "q": OTHER},
    "linear_regression": {"epsilon": 22.0},
    "logistic_regression": {"y": "flag"},
    "mean": {"x": "whole"},
    "median": {"x": "whole"},
    "poisson_regression": {"y": "hits", "delta": DELTA},
    "sgd": {"y": "flag", "steps": 3},
}
PEOPLE: Final = {"covariance": 150, "kmeans": 220, "linear_regression": 300, "fit_normal": 150}  # else 100
SHARE: Final = {"covariance": 0.7, "kmeans": 0.5, "linear_regression": 0.4, "poisson_regression": 0.7}  # of the runs


def posed(name: str) -> dict[str, Any]:
    """The arguments of a question, with columns by name."""
    statistic, own = declared(name), OWN.get(name, {})
    arguments: dict[str, Any] = {}
    for parameter in statistic.columns:
        reads = statistic.reads(parameter, own)
        if statistic.loose is not None or (statistic.blocks and parameter == "y"):
            continue
        one = "y" if parameter == "y" and reads.kind == "number" else COLUMN[reads.kind]
        arguments[parameter] = ["x", "z"] if reads.width == "several" else one
    needed = [option for option in statistic.options if option in GIVEN and option not in own]
    required = statistic.signature.parameters
    arguments |= {option: GIVEN[option] for option in needed if required[option].default is required[option].empty}
    arguments |= {"blocks": BLOCKS, "engine": HERE} if statistic.blocks else {}
    delta = statistic.needs_delta(arguments | dict(own), dict.fromkeys(statistic.columns))
    price = {"epsilon": MUCH, "delta": DELTA} if delta else {"epsilon": PURE}
    return arguments | price | dict(own)


def asked_of_tables() -> list[Statistic]:
    """The statistics that a session can be asked for."""
    return [statistic for statistic in map(declared, homes()) if not statistic.samples]
