"""Private estimators with the interface of scikit-learn: `fit` is private, and what `predict` uses was released.

Nothing else is kept: no residuals, no training loss, no labels read off the data. Classes are declared. Needs
scikit-learn, the extra `sklearn`.
"""

import inspect
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import get_tags
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from discreet.errors import BadInput, Refused
from discreet.faces import fit, kmeans, linear_regression, logistic_regression
from discreet.noise.randomness import Seeded
from discreet.privacy.exact import Number
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.mechanism import Randomness
from discreet.tables.entries import column, key
from discreet.tables.matrix import in_one, matrix

__all__ = ["PrivateEstimator", "PrivateKMeans", "PrivateLinearRegression", "PrivateLogisticRegression"]

Floats = npt.NDArray[np.float64]
ONE_COLUMN: Final = (  # scikit-learn's own words
    "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples, ), for "
    "example using ravel()."
)


class _PrivateLinear(BaseEstimator):  # type: ignore[misc]
    """What both have: the checks of scikit-learn, a linear part, and no opinion on missing values."""

    def _rows(self, X: Any, *, reset: bool) -> Floats:  # noqa: N803
        """Rows of floats: shapes and types may be refused, values never are.

        Left to scikit-learn, a text in one cell would raise, and its words may show a value or the number of rows. A
        list of rows has no width of its own: to fit with it, somebody's row would have to say what all others are.
        """
        if isinstance(X, list | tuple):
            if reset:
                raise BadInput(
                    f"X is a {type(X).__name__}, which does not say how many columns it has; give an array or a data "
                    "frame, for example numpy.array(X, dtype=float)"
                )
            return in_one(matrix(list(X), self.n_features_in_))
        least = int(not reset or Neighbours(self.neighbours).size_is_public)
        asked = {"dtype": np.float64, "ensure_all_finite": False, "ensure_min_samples": least}
        framed = hasattr(type(X), "to_numpy")
        if not framed and not hasattr(type(X), "__array__"):  # sparse ones, or no array at all
            return np.asarray(validate_data(self, X, reset=reset, **asked), dtype=np.float64)
        given = X if framed else np.asanyarray(X)  # a mask stays on
        if not framed and given.ndim != 2:
            raise BadInput(f"X has {given.ndim} dimensions and not 2. Reshape your data into rows and columns")
        rows = check_array(in_one(matrix(given)), estimator=self, **asked)
        validate_data(self, given, reset=reset, skip_check_array=True)  # names of columns, and how many there are
        return np.asarray(rows, dtype=np.float64)

    def _door(self) -> Randomness | None:
        """Secret noise, unless a seed is given, which makes the release unpublishable."""
        return None if self.random_state is None else Seeded(int(self.random_state))

    def _checked(self, outcome: Any, rows: Floats) -> Any:
        if outcome is None:
            raise ValueError("This estimator requires y to be passed, but the target y is None.")
        declared = isinstance(outcome, list | tuple) or hasattr(type(outcome), "to_numpy")
        outcome = outcome if declared else np.asanyarray(outcome)  # numpy gives a list one type for all
        if not declared and outcome.ndim > 1:
            if outcome.shape[1:] != (1,):
                raise BadInput("y has several columns; give one outcome for each row")
            warnings.warn(ONE_COLUMN, DataConversionWarning, stacklevel=3)
            outcome = outcome[:, 0]
        values = column(outcome)  # left to scikit-learn, one complex number would raise and show all others
        if len(values) != len(rows):
            raise BadInput("y has another length than X; they must be the same")
        if self.epsilon is None:
            raise BadInput(f"epsilon is not set; there is no default: give {type(self).__name__}(epsilon=1.0)")
        return values

    def _linear(self, X: Any) -> Floats:  # noqa: N803
        check_is_fitted(self)
        with np.errstate(all="ignore"):
            return np.asarray(self._rows(X, reset=False) @ np.ravel(self.coef_) + np.ravel(self.intercept_)[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.non_deterministic = self.random_state is None
        return tags


class PrivateLinearRegression(RegressorMixin, _PrivateLinear):  # type: ignore[misc]
    """`discreet.linear_regression` for pipelines: after `fit`, `coef_`, `intercept_` and `release_`.

    >>> rows = np.stack([np.arange(9000) % 7, np.arange(9000) % 11], axis=1).astype(float)
    >>> outcome = rows @ [1.0, 2.0] + np.sin(np.arange(9000.0) ** 2)
    >>> PrivateLinearRegression(epsilon=2.0, delta=1e-6).fit(rows, outcome).coef_.shape
    (2,)
    """

    def __init__(
        self,
        epsilon: Number | None = None,
        delta: Number = 1e-6,
        *,
        fit_intercept: bool = True,
        bounds: Any = None,
        neighbours: str = "add_or_remove",
        random_state: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.fit_intercept = fit_intercept
        self.bounds = bounds
        self.neighbours = neighbours
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803
        """Fit privately; a refusal raises `Refused`."""
        rows = self._rows(X, reset=True)
        outcome = self._checked(y, rows)
        self.release_ = linear_regression(
            rows,
            outcome,
            epsilon=self.epsilon,  # type: ignore[arg-type]
            delta=self.delta,
            intercept=self.fit_intercept,
            bounds=self.bounds,
            neighbours=self.neighbours,
            rng=self._door(),
        )
        value = self.release_.value
        self.coef_, self.intercept_ = np.asarray(value.coef), float(value.intercept)
        return self

    def predict(self, X: Any) -> Floats:  # noqa: N803
        """From the released coefficients: no further cost."""
        return self._linear(X)


class PrivateLogisticRegression(ClassifierMixin, _PrivateLinear):  # type: ignore[misc]
    """`discreet.logistic_regression` for pipelines: after `fit`, `coef_`, `intercept_`, `classes_` and `release_`.

    `classes` are the two public labels, that of "no" first.

    >>> rows = np.stack([np.arange(9000) % 7, np.arange(9000) % 11], axis=1).astype(float)
    >>> yes = rows[:, 0] + np.arange(9000) % 5 > 5
    >>> PrivateLogisticRegression(epsilon=2.0).fit(rows, yes).predict_proba(rows[:3]).shape
    (3, 2)
    """

    def __init__(
        self,
        epsilon: Number | None = None,
        delta: Number = 0.0,
        *,
        classes: Sequence[Any] = (0, 1),
        method: str = "auto",
        fit_intercept: bool = True,
        bounds: Any = None,
        norm: float | None = None,
        neighbours: str = "add_or_remove",
        random_state: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.classes = classes
        self.method = method
        self.fit_intercept = fit_intercept
        self.bounds = bounds
        self.norm = norm
        self.neighbours = neighbours
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803
        """Fit privately; a refusal raises `Refused`."""
        rows = self._rows(X, reset=True)
        outcome = self._checked(y, rows)
        labels = list(self.classes)
        self.release_ = logistic_regression(
            rows,
            outcome,
            epsilon=self.epsilon,  # type: ignore[arg-type]
            delta=self.delta,
            method=self.method,  # type: ignore[arg-type]
            intercept=self.fit_intercept,
            bounds=self.bounds,
            norm=self.norm,
            classes=None if labels == [0, 1] else labels,  # never by what the outcome holds
            confidence=None,
            neighbours=self.neighbours,
            rng=self._door(),
        )
        value = self.release_.value
        self.coef_, self.intercept_ = np.asarray(value.coef)[None, :], np.array([value.intercept])
        self.classes_ = np.asarray(labels)
        return self

    def decision_function(self, X: Any) -> Floats:  # noqa: N803
        """Log odds."""
        return self._linear(X)

    def predict_proba(self, X: Any) -> Floats:  # noqa: N803
        """Chances of "no" and "yes"."""
        from scipy.special import expit

        yes = expit(self._linear(X))
        return np.stack([1 - yes, yes], axis=1)

    def predict(self, X: Any) -> Any:  # noqa: N803
        """The likelier label, from the released coefficients."""
        yes = self._linear(X) > 0
        return self.classes_[yes.astype(np.int64)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


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
