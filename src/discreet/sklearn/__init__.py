"""Private estimators with the interface of scikit-learn."""

from discreet.sklearn.private_estimator import PrivateEstimator, PrivateKMeans
from discreet.sklearn.regressors import PrivateLinearRegression, PrivateLogisticRegression

__all__ = ["PrivateEstimator", "PrivateKMeans", "PrivateLinearRegression", "PrivateLogisticRegression"]
