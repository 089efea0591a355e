"""discreet: private answers about people, with error bars.

    >>> import discreet
    >>> discreet.count([True, True, False], epsilon=1.0).guarantee.epsilon
    1.0

Names are loaded when they are first used, so that `import discreet` costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from discreet.errors import BadInput, DiscreetError, NeedsBounds, OverBudget, Refused
from discreet.version import __version__

if TYPE_CHECKING:
    from discreet import audit, datasets
    from discreet.accounting.filter import Budget
    from discreet.estimator import PrivateEstimator
    from discreet.noise.seeded import Seeded
    from discreet.promise.guarantee import Guarantee
    from discreet.promise.meaning import explain
    from discreet.promise.neighbours import Neighbours
    from discreet.promise.release import Release
    from discreet.quick import (
        count,
        fit,
        gaussian,
        histogram,
        mean,
        median,
        proportion,
        quantile,
        std,
        test_proportion,
        variance,
    )

_HOME = {
    "Budget": "discreet.accounting.filter",
    "Guarantee": "discreet.promise.guarantee",
    "Neighbours": "discreet.promise.neighbours",
    "PrivateEstimator": "discreet.estimator",
    "Release": "discreet.promise.release",
    "Seeded": "discreet.noise.seeded",
    "count": "discreet.quick",
    "explain": "discreet.promise.meaning",
    "fit": "discreet.quick",
    "gaussian": "discreet.quick",
    "histogram": "discreet.quick",
    "mean": "discreet.quick",
    "median": "discreet.quick",
    "proportion": "discreet.quick",
    "quantile": "discreet.quick",
    "std": "discreet.quick",
    "test_proportion": "discreet.quick",
    "variance": "discreet.quick",
}
_MODULES = ("audit", "datasets")

__all__ = [
    "BadInput",
    "Budget",
    "DiscreetError",
    "Guarantee",
    "NeedsBounds",
    "Neighbours",
    "OverBudget",
    "PrivateEstimator",
    "Refused",
    "Release",
    "Seeded",
    "__version__",
    "audit",
    "count",
    "datasets",
    "explain",
    "fit",
    "gaussian",
    "histogram",
    "mean",
    "median",
    "proportion",
    "quantile",
    "std",
    "test_proportion",
    "variance",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    if name in _MODULES:
        return import_module(f"discreet.{name}")
    raise AttributeError(f"module 'discreet' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
