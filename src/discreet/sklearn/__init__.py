"""Private estimators with the interface of scikit-learn: `fit` is private, and what `predict` uses was released.

Nothing else is kept: no residuals, no training loss, no labels read off the data. Classes are declared. Needs
scikit-learn, the extra `sklearn`.
"""

from discreet.sklearn.predictors import (
    PrivateAdditiveModel,
    PrivateLinearRegression,
    PrivateLogisticRegression,
    PrivateNaiveBayes,
)
from discreet.sklearn.wrapped import PrivateEstimator, PrivateKMeans

__all__ = [
    "PrivateAdditiveModel",
    "PrivateEstimator",
    "PrivateKMeans",
    "PrivateLinearRegression",
    "PrivateLogisticRegression",
    "PrivateNaiveBayes",
]
