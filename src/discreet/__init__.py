"""discreet: private answers about people, with error bars.

    >>> import discreet
    >>> discreet.count([True, True, False], epsilon=1.0).guarantee.epsilon
    1.0

Names are loaded when they are first used, so that `import discreet` costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from discreet.errors import BadInput, DiscreetError, NeedsBounds, NotAnswered, OverBudget, Refused
from discreet.version import __version__

if TYPE_CHECKING:
    from discreet import audit, datasets, friendly
    from discreet.accounting.filter import Budget
    from discreet.estimator import PrivateEstimator
    from discreet.face_kmeans import PrivateKMeans
    from discreet.faces import PrivateLinearRegression, PrivateLogisticRegression
    from discreet.friendly.mean import FriendlyMean
    from discreet.noise.seeded import Seeded
    from discreet.plan.forecast import Forecast, forecast
    from discreet.plan.need import Need, need
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
        logistic_regression,
        mean,
        median,
        poisson_regression,
        proportion,
        quantile,
        sgd,
        std,
        test_anova,
        test_any,
        test_closeness,
        test_fit,
        test_independence,
        test_mean,
        test_paired,
        test_proportion,
        test_simple,
        test_two_means,
        test_two_samples,
        variance,
    )
    from discreet.session.private import Private, open  # noqa: A004
    from discreet.statistics.family import Family
    from discreet.statistics.power import power

_HOME = {
    "Budget": "discreet.accounting.filter",
    "Family": "discreet.statistics.family",
    "Forecast": "discreet.plan.forecast",
    "FriendlyMean": "discreet.friendly.mean",
    "Guarantee": "discreet.promise.guarantee",
    "Need": "discreet.plan.need",
    "Neighbours": "discreet.promise.neighbours",
    "Private": "discreet.session.private",
    "PrivateEstimator": "discreet.estimator",
    "PrivateKMeans": "discreet.face_kmeans",
    "PrivateLinearRegression": "discreet.faces",
    "PrivateLogisticRegression": "discreet.faces",
    "Release": "discreet.promise.release",
    "Seeded": "discreet.noise.seeded",
    "count": "discreet.quick.counts",
    "covariance": "discreet.quick.tables",
    "density": "discreet.quick.shapes",
    "explain": "discreet.promise.meaning",
    "family": "discreet.quick.families",
    "forecast": "discreet.plan.forecast",
    "fit": "discreet.quick.fits",
    "gaussian": "discreet.quick.columns",
    "histogram": "discreet.quick.counts",
    "likelihood": "discreet.quick.families",
    "kmeans": "discreet.quick.clusters",
    "need": "discreet.plan.need",
    "linear_regression": "discreet.quick.models",
    "logistic_regression": "discreet.quick.glms",
    "mean": "discreet.quick.columns",
    "open": "discreet.session.private",
    "median": "discreet.quick.columns",
    "power": "discreet.statistics.power",
    "poisson_regression": "discreet.quick.glms",
    "proportion": "discreet.quick.counts",
    "quantile": "discreet.quick.columns",
    "sgd": "discreet.quick.glms",
    "std": "discreet.quick.columns",
    "test_anova": "discreet.quick.decisions",
    "test_any": "discreet.quick.decisions",
    "test_closeness": "discreet.quick.decisions",
    "test_fit": "discreet.quick.decisions",
    "test_independence": "discreet.quick.decisions",
    "test_mean": "discreet.quick.decisions",
    "test_paired": "discreet.quick.decisions",
    "test_proportion": "discreet.quick.counts",
    "test_simple": "discreet.quick.decisions",
    "test_two_means": "discreet.quick.decisions",
    "test_two_samples": "discreet.quick.decisions",
    "variance": "discreet.quick.columns",
}
_MODULES = ("audit", "datasets", "friendly")

__all__ = [
    "BadInput",
    "Budget",
    "DiscreetError",
    "Family",
    "Forecast",
    "FriendlyMean",
    "Guarantee",
    "Need",
    "NeedsBounds",
    "Neighbours",
    "NotAnswered",
    "OverBudget",
    "Private",
    "PrivateEstimator",
    "PrivateKMeans",
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
    "density",
    "explain",
    "family",
    "fit",
    "forecast",
    "friendly",
    "gaussian",
    "histogram",
    "kmeans",
    "likelihood",
    "linear_regression",
    "logistic_regression",
    "mean",
    "median",
    "need",
    "open",
    "poisson_regression",
    "power",
    "proportion",
    "quantile",
    "sgd",
    "std",
    "test_anova",
    "test_any",
    "test_closeness",
    "test_fit",
    "test_independence",
    "test_mean",
    "test_paired",
    "test_proportion",
    "test_simple",
    "test_two_means",
    "test_two_samples",
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
