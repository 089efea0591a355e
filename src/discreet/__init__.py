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
    from discreet.forecast.forecast import Forecast, forecast
    from discreet.forecast.required import Need, need
    from discreet.friendly.friendly_mean import FriendlyMean
    from discreet.hypotheses.power import power
    from discreet.noise.randomness import Seeded
    from discreet.privacy.guarantee import Guarantee
    from discreet.privacy.meaning import explain
    from discreet.privacy.neighbours import Neighbours
    from discreet.privacy.release import Release
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
    from discreet.session.private import Session, open  # noqa: A004
    from discreet.sklearn.clusterer import PrivateKMeans
    from discreet.sklearn.private_estimator import PrivateEstimator
    from discreet.sklearn.regressors import PrivateLinearRegression, PrivateLogisticRegression
    from discreet.statistics.family import Family

_HOME = {
    "Budget": "discreet.accounting.filter",
    "Family": "discreet.statistics.family",
    "Forecast": "discreet.forecast.forecast",
    "FriendlyMean": "discreet.friendly.friendly_mean",
    "Guarantee": "discreet.privacy.guarantee",
    "Need": "discreet.forecast.required",
    "Neighbours": "discreet.privacy.neighbours",
    "Session": "discreet.session.private",
    "PrivateEstimator": "discreet.sklearn.private_estimator",
    "PrivateKMeans": "discreet.sklearn.clusterer",
    "PrivateLinearRegression": "discreet.sklearn.regressors",
    "PrivateLogisticRegression": "discreet.sklearn.regressors",
    "Release": "discreet.privacy.release",
    "Seeded": "discreet.noise.randomness",
    "count": "discreet.quick.counts",
    "covariance": "discreet.quick.tables",
    "density": "discreet.quick.shapes",
    "explain": "discreet.privacy.meaning",
    "family": "discreet.quick.families",
    "forecast": "discreet.forecast.forecast",
    "fit": "discreet.quick.fits",
    "gaussian": "discreet.quick.columns",
    "histogram": "discreet.quick.counts",
    "likelihood": "discreet.quick.families",
    "kmeans": "discreet.quick.clusters",
    "need": "discreet.forecast.required",
    "linear_regression": "discreet.quick.models",
    "logistic_regression": "discreet.quick.glms",
    "mean": "discreet.quick.columns",
    "open": "discreet.session.private",
    "median": "discreet.quick.columns",
    "power": "discreet.hypotheses.power",
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
    "PrivateEstimator",
    "PrivateKMeans",
    "PrivateLinearRegression",
    "PrivateLogisticRegression",
    "Refused",
    "Release",
    "Seeded",
    "Session",
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
