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
    from discreet import audit, datasets, friendly
    from discreet.accounting.filter import Budget
    from discreet.estimator import PrivateEstimator
    from discreet.faces import PrivateLinearRegression, PrivateLogisticRegression
    from discreet.friendly.mean import FriendlyMean
    from discreet.noise.seeded import Seeded
    from discreet.promise.guarantee import Guarantee
    from discreet.promise.meaning import explain
    from discreet.promise.neighbours import Neighbours
    from discreet.promise.release import Release
    from discreet.quick import (
        count,
        covariance,
        fit,
        gaussian,
        histogram,
        linear_regression,
        logistic_regression,
        mean,
        median,
        poisson_regression,
        proportion,
        quantile,
        sgd,
        std,
        test_proportion,
        variance,
    )

_HOME = {
    "Budget": "discreet.accounting.filter",
    "FriendlyMean": "discreet.friendly.mean",
    "Guarantee": "discreet.promise.guarantee",
    "Neighbours": "discreet.promise.neighbours",
    "PrivateEstimator": "discreet.estimator",
    "PrivateLinearRegression": "discreet.faces",
    "PrivateLogisticRegression": "discreet.faces",
    "Release": "discreet.promise.release",
    "Seeded": "discreet.noise.seeded",
    "count": "discreet.quick.counts",
    "covariance": "discreet.quick.tables",
    "explain": "discreet.promise.meaning",
    "fit": "discreet.quick.fits",
    "gaussian": "discreet.quick.columns",
    "histogram": "discreet.quick.counts",
    "linear_regression": "discreet.quick.models",
    "logistic_regression": "discreet.quick.glms",
    "mean": "discreet.quick.columns",
    "median": "discreet.quick.columns",
    "poisson_regression": "discreet.quick.glms",
    "proportion": "discreet.quick.counts",
    "quantile": "discreet.quick.columns",
    "sgd": "discreet.quick.glms",
    "std": "discreet.quick.columns",
    "test_proportion": "discreet.quick.counts",
    "variance": "discreet.quick.columns",
}
_MODULES = ("audit", "datasets", "friendly")

__all__ = [
    "BadInput",
    "Budget",
    "DiscreetError",
    "FriendlyMean",
    "Guarantee",
    "NeedsBounds",
    "Neighbours",
    "OverBudget",
    "PrivateEstimator",
    "PrivateLinearRegression",
    "PrivateLogisticRegression",
    "Refused",
    "Release",
    "Seeded",
    "__version__",
    "audit",
    "count",
    "covariance",
    "datasets",
    "explain",
    "fit",
    "friendly",
    "gaussian",
    "histogram",
    "linear_regression",
    "logistic_regression",
    "mean",
    "median",
    "poisson_regression",
    "proportion",
    "quantile",
    "sgd",
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
