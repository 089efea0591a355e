"""The short verbs: `discreet.count(x, epsilon=1)`. Sugar over mechanisms, nothing else.

Each verb takes the data and the whole cost, and returns a `Release`. `neighbours` says which change of the data is
hidden, "replace" (the number of rows is public) or "add_or_remove" (it is not); `unit` what a row is called, "patient"
say; `rng` is `Seeded(...)` for tests, secret noise otherwise.
"""

from discreet.quick.clusters import kmeans
from discreet.quick.columns import gaussian, mean, median, quantile, std, variance
from discreet.quick.counts import count, histogram, proportion, test_proportion
from discreet.quick.decisions import (
    test_anova,
    test_any,
    test_closeness,
    test_fit,
    test_independence,
    test_mean,
    test_paired,
    test_simple,
    test_two_means,
    test_two_samples,
)
from discreet.quick.families import family, likelihood
from discreet.quick.fits import fit
from discreet.quick.glms import logistic_regression, poisson_regression, sgd
from discreet.quick.models import linear_regression
from discreet.quick.shapes import density
from discreet.quick.tables import covariance

__all__ = [
    "count",
    "covariance",
    "density",
    "family",
    "fit",
    "gaussian",
    "histogram",
    "kmeans",
    "likelihood",
    "linear_regression",
    "logistic_regression",
    "mean",
    "median",
    "poisson_regression",
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
