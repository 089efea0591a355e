"""Regressions, naive Bayes and additive models with the interface of scikit-learn."""

import warnings
from collections.abc import Sequence
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from discreet.errors import BadInput
from discreet.faces import additive_model, linear_regression, logistic_regression, multinomial_regression, naive_bayes
from discreet.noise.randomness import Seeded
from discreet.privacy.exact import Number
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.mechanism import Randomness
from discreet.privacy.release import Release
from discreet.tables.entries import column
from discreet.tables.matrix import in_one, matrix

Floats = npt.NDArray[np.float64]
TRUTHS: Final = {bool, np.bool_}  # 1 and 0, where no class is one
ONE_COLUMN: Final = (  # scikit-learn's own words
    "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples, ), for "
    "example using ravel()."
)


class _PrivateRows(BaseEstimator):  # type: ignore[misc]
    """What all have: the checks of scikit-learn, and no opinion on missing values."""

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
        if values.dtype.kind in "bO" and not {type(one) for one in getattr(self, "classes", ())} & TRUTHS:
            return [int(one) if type(one) in TRUTHS else one for one in values]
        return values

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.non_deterministic = self.random_state is None
        return tags


class _PrivateLinear(_PrivateRows):
    """With a linear part, and weights."""

    def _weights(self, given: Any, rows: Floats) -> Any:
        if given is None:
            return None
        weights = column(given if hasattr(type(given), "to_numpy") else np.asanyarray(given))
        if weights.ndim != 1 or len(weights) != len(rows):
            raise BadInput("sample_weight has another shape than y; give one weight for each row")
        return weights

    def _linear(self, X: Any) -> Floats:  # noqa: N803
        check_is_fitted(self)
        with np.errstate(all="ignore"):
            return np.asarray(self._rows(X, reset=False) @ np.ravel(self.coef_) + np.ravel(self.intercept_)[0])


class PrivateLinearRegression(RegressorMixin, _PrivateLinear):  # type: ignore[misc]
    """`discreet.linear_regression` for pipelines: after `fit`, `coef_`, `intercept_` and `release_`.

    `ridge` is as scikit-learn's alpha.

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
        ridge: float | None = None,
        bounds: Any = None,
        neighbours: str = "add_or_remove",
        random_state: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.fit_intercept = fit_intercept
        self.ridge = ridge
        self.bounds = bounds
        self.neighbours = neighbours
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:  # noqa: N803
        """Fit privately; a refusal raises `Refused`. Weights are any numbers above 0; rows without one do not count."""
        rows = self._rows(X, reset=True)
        outcome = self._checked(y, rows)
        self.release_ = linear_regression(
            rows,
            outcome,
            epsilon=self.epsilon,  # type: ignore[arg-type]
            delta=self.delta,
            intercept=self.fit_intercept,
            ridge=self.ridge,
            bounds=self.bounds,
            weights=self._weights(sample_weight, rows),
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

    `classes` are the two public labels, that of "no" first. With more it is `discreet.multinomial_regression`, which
    needs delta > 0 and takes no weights; `coef_` has a row of 0 for the first class, with which others are compared.

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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:  # noqa: N803
        """Fit privately; a refusal raises `Refused`. Weights are any numbers above 0; rows without one do not count."""
        rows = self._rows(X, reset=True)
        outcome = self._checked(y, rows)
        labels = list(self.classes)
        self.classes_ = np.asarray(labels)
        if len(labels) > 2:
            return self._of_many(rows, outcome, labels, sample_weight)
        self.release_: Release[Any] = logistic_regression(
            rows,
            outcome,
            epsilon=self.epsilon,  # type: ignore[arg-type]
            delta=self.delta,
            method=self.method,  # type: ignore[arg-type]
            intercept=self.fit_intercept,
            bounds=self.bounds,
            norm=self.norm,
            classes=None if labels == [0, 1] else labels,  # never by what the outcome holds
            weights=self._weights(sample_weight, rows),
            confidence=None,
            neighbours=self.neighbours,
            rng=self._door(),
        )
        value = self.release_.value
        self.coef_, self.intercept_ = np.asarray(value.coef)[None, :], np.array([value.intercept])
        return self

    def _of_many(self, rows: Floats, outcome: Any, labels: list[Any], weights: Any) -> Self:
        """With more than two classes."""
        if weights is not None or self.method != "auto" or not self.fit_intercept or self.norm is not None:
            raise BadInput(
                "with more than two classes there are no weights, no norm, no other method than 'auto' and always an "
                "intercept; leave sample_weight, norm, method and fit_intercept out"
            )
        self.release_ = release = multinomial_regression(
            rows,
            outcome,
            epsilon=self.epsilon,  # type: ignore[arg-type]
            delta=self.delta,
            classes=labels,
            bounds=self.bounds,
            neighbours=self.neighbours,
            rng=self._door(),
        )
        value = release.value
        self.coef_ = np.vstack([np.zeros(len(value.names)), value.coef])
        self.intercept_ = np.append(0.0, value.intercept)
        return self

    def decision_function(self, X: Any) -> Floats:  # noqa: N803
        """Log odds; of more than two classes those of each against the first."""
        check_is_fitted(self)
        if len(self.classes_) == 2:
            return self._linear(X)
        return np.asarray(self.release_.value.linear(self._rows(X, reset=False)))

    def predict_proba(self, X: Any) -> Floats:  # noqa: N803
        """The chance of each class."""
        from scipy.special import expit, softmax

        odds = self.decision_function(X)
        return np.stack([expit(-odds), expit(odds)], axis=1) if odds.ndim == 1 else np.asarray(softmax(odds, axis=1))

    def predict(self, X: Any) -> Any:  # noqa: N803
        """The likeliest label, from the released coefficients."""
        odds = self.decision_function(X)
        return self.classes_[(odds > 0).astype(np.int64) if odds.ndim == 1 else odds.argmax(axis=1)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = np.size(self.classes) > 2
        return tags


class PrivateNaiveBayes(ClassifierMixin, _PrivateRows):  # type: ignore[misc]
    """`discreet.naive_bayes` of columns of numbers: after `fit`, `classes_`, noisy `class_count_`, and `release_`.

    `classes` are the public labels. Rows with a missing entry are left out of `fit`.

    >>> rows = np.stack([np.arange(9000) % 7, np.arange(9000) % 11], axis=1).astype(float)
    >>> grade = np.arange(9000) % 7 // 3
    >>> PrivateNaiveBayes(2.0, classes=(0, 1, 2), random_state=1).fit(rows, grade).predict(rows[:4]).tolist()
    [0, 0, 0, 1]
    """

    def __init__(
        self,
        epsilon: Number | None = None,
        delta: Number = 0.0,
        *,
        classes: Sequence[Any] = (0, 1),
        bounds: Any = None,
        bins: int = 12,
        neighbours: str = "add_or_remove",
        random_state: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.classes = classes
        self.bounds = bounds
        self.bins = bins
        self.neighbours = neighbours
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803
        """Fit privately; a refusal raises `Refused`."""
        rows = self._rows(X, reset=True)
        outcome = self._checked(y, rows)
        labels = list(self.classes)
        self.release_ = naive_bayes(
            rows,
            outcome,
            epsilon=self.epsilon,  # type: ignore[arg-type]
            delta=self.delta,
            classes=labels,
            bounds=self.bounds,
            bins=self.bins,
            neighbours=self.neighbours,
            rng=self._door(),
        )
        self.class_count_ = np.asarray(self.release_.value.sizes)
        self.classes_ = np.asarray(labels)
        return self

    def predict_proba(self, X: Any) -> Floats:  # noqa: N803
        """The chance of each class, were columns independent within classes."""
        check_is_fitted(self)
        return np.asarray(self.release_.value.predict_proba(self._rows(X, reset=False)))

    def predict(self, X: Any) -> Any:  # noqa: N803
        """The likeliest label, from the released counts: no further cost."""
        chances = self.predict_proba(X)
        return self.classes_[chances.argmax(axis=1)]


class PrivateAdditiveModel(ClassifierMixin, _PrivateRows):  # type: ignore[misc]
    """`discreet.additive_model` of columns of numbers: after `fit`, `classes_`, `shapes_` and `release_`.

    `classes` are the two public labels, that of "no" first. Rows with a missing entry are left out of `fit`.

    >>> rows = np.stack([np.arange(9000) % 7, np.arange(9000) % 11], axis=1).astype(float)
    >>> middling = (abs(rows[:, 0] - 3) < 2) * 1
    >>> PrivateAdditiveModel(2.0, 1e-6, random_state=1).fit(rows, middling).predict(rows[:4]).tolist()
    [0, 0, 1, 1]
    """

    def __init__(
        self,
        epsilon: Number | None = None,
        delta: Number = 1e-6,
        *,
        classes: Sequence[Any] = (0, 1),
        bounds: Any = None,
        bins: int = 16,
        neighbours: str = "add_or_remove",
        random_state: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.classes = classes
        self.bounds = bounds
        self.bins = bins
        self.neighbours = neighbours
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803
        """Fit privately; a refusal raises `Refused`."""
        rows = self._rows(X, reset=True)
        outcome = self._checked(y, rows)
        labels = list(self.classes)
        self.release_ = additive_model(
            rows,
            outcome,
            epsilon=self.epsilon,  # type: ignore[arg-type]
            delta=self.delta,
            classes=labels,
            bounds=self.bounds,
            bins=self.bins,
            neighbours=self.neighbours,
            rng=self._door(),
        )
        value = self.release_.value
        self.shapes_ = {name: value[name] for name in value.names}
        self.classes_ = np.asarray(labels)
        return self

    def decision_function(self, X: Any) -> Floats:  # noqa: N803
        """The log odds of the second class."""
        check_is_fitted(self)
        return np.asarray(self.release_.value.decision_function(self._rows(X, reset=False)))

    def predict_proba(self, X: Any) -> Floats:  # noqa: N803
        """The chance of each class."""
        check_is_fitted(self)
        return np.asarray(self.release_.value.predict_proba(self._rows(X, reset=False)))

    def predict(self, X: Any) -> Any:  # noqa: N803
        """The likelier label, from the released shapes: no further cost."""
        odds = self.decision_function(X)
        return self.classes_[(odds > 0).astype(np.int64)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
