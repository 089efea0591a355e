"""Private estimators with the interface of scikit-learn."""

from discreet.sklearn.clusterer import PrivateKMeans
from discreet.sklearn.private_estimator import PrivateEstimator
from discreet.sklearn.regressors import PrivateLinearRegression, PrivateLogisticRegression

__all__ = ["PrivateEstimator", "PrivateKMeans", "PrivateLinearRegression", "PrivateLogisticRegression"]
