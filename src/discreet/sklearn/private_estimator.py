"""The scikit-learn face: an estimator whose fit is private and whose predictions follow from what was released."""

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np

from discreet.errors import BadInput, Refused
from discreet.faces import fit
from discreet.privacy.exact import Number
from discreet.tables.entries import column, key


class PrivateEstimator:
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

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """As scikit-learn asks for them."""
        own = {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}
        if deep and hasattr(self.estimator, "get_params"):
            own |= {f"estimator__{name}": value for name, value in self.estimator.get_params().items()}
        return own

    def set_params(self, **params: Any) -> "PrivateEstimator":
        """As scikit-learn sets them."""
        for name, value in params.items():
            head, _, tail = name.partition("__")
            if head == "estimator" and tail:
                self.estimator.set_params(**{tail: value})
            elif name in inspect.signature(type(self)).parameters:
                setattr(self, name, value)
            else:
                raise BadInput(f"{name!r} is no parameter; there are {sorted(self.get_params())}")
        return self

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
        """Labels as 0 and 1 in the order of the public classes; anything else is missing, and its block gives none."""
        if not isinstance(self.classes, list | tuple | np.ndarray) or len(self.classes) != 2:
            raise BadInput(f"classes are {self.classes!r}; give the two public labels, in order")
        places = {key(label): float(code) for code, label in enumerate(self.classes)}
        return np.array([places.get(key(entry), np.nan) for entry in column(y)], dtype=np.float64)

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
        from sklearn.base import clone

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
        from sklearn.utils import get_tags

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

    def __repr__(self) -> str:
        return f"PrivateEstimator({self.estimator!r}, epsilon={self.epsilon!r}, delta={self.delta!r})"
