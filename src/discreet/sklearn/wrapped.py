"""Any scikit-learn estimator fitted on blocks of people, and clusters, with the interface of scikit-learn."""

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import get_tags

from discreet.errors import BadInput, Refused
from discreet.faces import fit, kmeans
from discreet.privacy.exact import Number
from discreet.tables.entries import column, key
from discreet.tables.matrix import in_one, matrix


class PrivateEstimator(BaseEstimator):  # type: ignore[misc]
    """A scikit-learn estimator, fitted by `discreet.fit`.

    After `fit`: `release_` with the intervals and the history, `coef_` and `intercept_` as the estimator has them, and
    `predict`. `classes` are the public labels of a classifier, in order. Other arguments of `discreet.fit` are given as
    `settings`.

    >>> from sklearn.linear_model import LinearRegression
    >>> rows = np.stack([np.arange(9000) % 7, np.arange(9000) % 11], axis=1).astype(float)
    >>> outcome = rows @ [1.0, 2.0] + np.sin(np.arange(9000.0) ** 2)
    >>> model = PrivateEstimator(LinearRegression(), epsilon=3.0, delta=1e-6).fit(rows, outcome)
    >>> model.coef_.shape
    (2,)
    """

    def __init__(
        self,
        estimator: Any,
        epsilon: Number | None = None,
        delta: Number = 0.0,
        *,
        classes: Any = None,
        settings: dict[str, Any] | None = None,
    ) -> None:
        self.estimator = estimator
        self.epsilon = epsilon
        self.delta = delta
        self.classes = classes
        self.settings = settings

    def fit(self, X: Any, y: Any = None, *, unit: Any = None) -> "PrivateEstimator":  # noqa: N803
        """Fit privately; a refusal raises `Refused`."""
        if self.epsilon is None:
            raise BadInput("epsilon is not set; there is no default: give PrivateEstimator(estimator, epsilon=1.0)")
        settings = {} if self.settings is None else self.settings
        own = {"estimator", "X", "y", "epsilon", "delta", "unit"}
        known = set(inspect.signature(fit).parameters) - own
        if not isinstance(settings, Mapping) or not set(settings) <= known:
            raise BadInput(f"settings is {self.settings!r}; give a dictionary of arguments of fit, of {sorted(known)}")
        outcome = y if self.classes is None or y is None else self._codes(y)
        self.release_ = fit(self.estimator, X, outcome, epsilon=self.epsilon, delta=self.delta, unit=unit, **settings)
        self._learn(X, unit)
        return self

    def _codes(self, y: Any) -> Any:
        """Labels as no and yes, in the order of the public classes; anything else is missing."""
        if not isinstance(self.classes, list | tuple | np.ndarray) or len(self.classes) != 2:
            raise BadInput(f"classes are {self.classes!r}; give the two public labels, in order")
        import pandas

        places = {key(label): bool(code) for code, label in enumerate(self.classes)}
        return pandas.array([places.get(key(entry)) for entry in column(y)], dtype="boolean")  # declared: no and yes

    def _learn(self, X: Any, unit: Any) -> None:  # noqa: N803
        """Put what was released into a copy of the estimator, as if it had been fitted."""
        value = self.release_.value
        if not isinstance(value, dict) or not any(name.startswith("coef_") for name in value):
            return
        slopes = np.array([entry for name, entry in value.items() if name.startswith("coef_")])
        self.coef_ = slopes if self.classes is None else slopes.reshape(1, -1)
        intercept = value.get("intercept_", 0.0)
        self.intercept_ = intercept if self.classes is None else np.array([intercept])
        self.n_features_in_ = len(slopes)
        if hasattr(self.estimator, "steps"):
            return  # the preprocessing was fitted within blocks and is not released
        inner = clone(self.estimator)
        inner.coef_, inner.intercept_, inner.n_features_in_ = self.coef_, self.intercept_, self.n_features_in_
        if hasattr(X, "columns"):
            inner.feature_names_in_ = np.asarray(
                [str(name) for name in X.columns if not (isinstance(unit, str) and name == unit)], dtype=object
            )
        if self.classes is not None:
            self.classes_ = inner.classes_ = np.asarray(self.classes)
        self.fitted_ = inner

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "release_")

    def __sklearn_tags__(self) -> Any:
        return get_tags(self.estimator)

    def predict(self, X: Any) -> Any:  # noqa: N803
        """Predictions from the released coefficients: no further cost."""
        return self._ready().predict(X)

    def predict_proba(self, X: Any) -> Any:  # noqa: N803
        """Probabilities from the released coefficients, where the estimator has them."""
        return self._ready().predict_proba(X)

    def score(self, X: Any, y: Any) -> float:  # noqa: N803
        """The estimator's own score on rows of your choice. It is not private: keep it, or use public rows."""
        return float(self._ready().score(X, y))

    def _ready(self) -> Any:
        if not hasattr(self, "fitted_"):
            raise Refused("there is nothing to predict with: fit first, an estimator with coef_ and no pipeline inside")
        return self.fitted_


class PrivateKMeans(BaseEstimator):  # type: ignore[misc]
    """`discreet.kmeans` as a scikit-learn clusterer.

    After `fit`: `release_` with its guarantee and history, `cluster_centers_`, noisy `sizes_`, and `predict`. There is
    no `labels_` and no `inertia_`: both would tell about people. Other arguments of `discreet.kmeans` are `settings`.

    >>> rows = np.array([[k % 2 * 8 + np.sin(k), np.cos(3 * k)] for k in range(4000)])
    >>> model = PrivateKMeans(2, epsilon=2.0, delta=1e-6).fit(rows)
    >>> model.cluster_centers_.shape, model.predict(rows[:3]).shape
    ((2, 2), (3,))
    """

    def __init__(
        self,
        n_clusters: int = 8,
        epsilon: Number | None = None,
        delta: Number = 0.0,
        *,
        method: str = "auto",
        radius: float | None = None,
        settings: dict[str, Any] | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.epsilon = epsilon
        self.delta = delta
        self.method = method
        self.radius = radius
        self.settings = settings

    def fit(self, X: Any, y: Any = None) -> "PrivateKMeans":  # noqa: N803, ARG002
        """Cluster privately; a refusal raises `Refused`."""
        if self.epsilon is None:
            raise BadInput("epsilon is not set; there is no default: give PrivateKMeans(8, epsilon=1.0, delta=1e-6)")
        self.release_ = kmeans(
            X,
            self.n_clusters,
            epsilon=self.epsilon,
            delta=self.delta,
            method=self.method,  # type: ignore[arg-type]
            radius=self.radius,
            **(self.settings or {}),
        )
        self.cluster_centers_ = self.release_.value.centres
        self.sizes_ = self.release_.value.sizes
        self.n_features_in_ = self.cluster_centers_.shape[1]
        if hasattr(X, "columns") and all(isinstance(name, str) for name in X.columns):
            self.feature_names_in_ = np.asarray(list(X.columns), dtype=object)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "cluster_centers_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type, tags.input_tags.allow_nan, tags.non_deterministic = "clusterer", True, True
        return tags

    def _fitted(self) -> Any:
        if not hasattr(self, "cluster_centers_"):
            raise Refused("there are no centres to predict with; fit first")
        return self.release_.value

    def predict(self, X: Any) -> Any:  # noqa: N803
        """The nearest released centre of each row: no further cost."""
        return self._fitted().predict(X)

    def transform(self, X: Any) -> Any:  # noqa: N803
        """Each row's distances to the released centres: no further cost."""
        centres = self._fitted().centres
        rows = in_one(matrix(X, centres.shape[1]))
        return np.linalg.norm(rows[:, None] - centres[None], axis=2)

    def fit_predict(self, X: Any, y: Any = None) -> Any:  # noqa: N803, ARG002
        """Fit, then the nearest released centre of each row. The labels are of these rows: keep them to yourself."""
        return self.fit(X).predict(X)
