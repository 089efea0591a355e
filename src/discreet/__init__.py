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
    from discreet.face_kmeans import PrivateKMeans
    from discreet.friendly.mean import FriendlyMean
    from discreet.noise.seeded import Seeded
    from discreet.promise.guarantee import Guarantee
    from discreet.promise.meaning import explain
    from discreet.promise.neighbours import Neighbours
    from discreet.promise.release import Release
    from discreet.quick import (
        count,
        covariance,
        density,
        family,
        fit,
        gaussian,
        histogram,
        kmeans,
        likelihood,
        linear_regression,
        mean,
        median,
        proportion,
        quantile,
        std,
        test_proportion,
        variance,
    )
    from discreet.statistics.family import Family

_HOME = {
    "Budget": "discreet.accounting.filter",
    "Family": "discreet.statistics.family",
    "FriendlyMean": "discreet.friendly.mean",
    "Guarantee": "discreet.promise.guarantee",
    "Neighbours": "discreet.promise.neighbours",
    "PrivateEstimator": "discreet.estimator",
    "PrivateKMeans": "discreet.face_kmeans",
    "Release": "discreet.promise.release",
    "Seeded": "discreet.noise.seeded",
    "count": "discreet.quick.counts",
    "covariance": "discreet.quick.tables",
    "density": "discreet.quick.shapes",
    "explain": "discreet.promise.meaning",
    "family": "discreet.quick.families",
    "fit": "discreet.quick.fits",
    "gaussian": "discreet.quick.columns",
    "histogram": "discreet.quick.counts",
    "likelihood": "discreet.quick.families",
    "kmeans": "discreet.quick.clusters",
    "linear_regression": "discreet.quick.models",
    "mean": "discreet.quick.columns",
    "median": "discreet.quick.columns",
    "proportion": "discreet.quick.counts",
    "quantile": "discreet.quick.columns",
    "std": "discreet.quick.columns",
    "test_proportion": "discreet.quick.counts",
    "variance": "discreet.quick.columns",
}
_MODULES = ("audit", "datasets", "friendly")

__all__ = [
    "BadInput",
    "Budget",
    "DiscreetError",
    "Family",
    "FriendlyMean",
    "Guarantee",
    "NeedsBounds",
    "Neighbours",
    "OverBudget",
    "PrivateEstimator",
    "PrivateKMeans",
    "Refused",
    "Release",
    "Seeded",
    "__version__",
    "audit",
    "count",
    "covariance",
    "datasets",
    "density",
    "explain",
    "family",
    "fit",
    "friendly",
    "gaussian",
    "histogram",
    "kmeans",
    "likelihood",
    "linear_regression",
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
