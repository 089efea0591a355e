"""What a regression returns: coefficients by name, with a table, a picture and predictions.

Everything here is computed from what was released: there are no residuals, no fitted values and no loss.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from scipy.special import expit, ndtri

from discreet.errors import BadInput
from discreet.privacy.exact import show
from discreet.privacy.intervals import Interval, check_confidence

Array = np.ndarray[Any, Any]
Link = Literal["identity", "logit", "log"]


@dataclass(frozen=True, slots=True, eq=False)
class Coefficients:
    """The coefficients of a model. As an array it is `coef`; `intercept` is 0.0 where the model has none.

    >>> line = Coefficients(np.array([2.0]), 1.0, ("age",))
    >>> line.predict([[3.0]]).tolist()
    [7.0]
    """

    coef: Array
    intercept: float
    names: tuple[str, ...]
    link: Link = "identity"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.coef, dtype=dtype)

    def __len__(self) -> int:
        return len(self.coef)

    def __iter__(self) -> Iterator[float]:
        return iter(self.coef.tolist())

    def __getitem__(self, place: int | str) -> float:
        """By position or by name."""
        if isinstance(place, str):
            if place not in self.names:
                raise BadInput(f"there is no coefficient {place!r}; the names are {', '.join(self.names)}")
            place = self.names.index(place)
        return float(self.coef[place])

    def linear(self, X: Any) -> Array:  # noqa: N803  as scikit-learn calls it
        """The linear part for each row."""
        rows = np.asarray(X, dtype=float)
        if rows.ndim != 2 or rows.shape[1] != len(self.coef):
            raise BadInput(f"X has shape {rows.shape}; it needs rows of {len(self.coef)} columns: {self.names}")
        return np.asarray(rows @ self.coef + self.intercept, dtype=float)

    def predict(self, X: Any) -> Array:  # noqa: N803
        """The expected outcome of each row: a number, a chance (logit) or a rate (log)."""
        linear = self.linear(X)
        match self.link:
            case "identity":
                return linear
            case "logit":
                return np.asarray(expit(linear), dtype=float)
            case "log":
                return np.exp(linear)

    def __str__(self) -> str:
        terms = [f"{name} {show(float(value))}" for name, value in zip(self.names, self.coef, strict=True)]
        return ", ".join([*terms[:6], *(["..."] if len(terms) > 6 else []), f"intercept {show(float(self.intercept))}"])


@dataclass(frozen=True, slots=True, eq=False)
class CoefficientSpread:
    """Normal error bars of each coefficient: standard deviations from sampling and from the noise, side by side.

    Both hold the intercept first, then the names' order; `about` says what the intervals are for.
    """

    value: Coefficients
    sampling_all: Array
    privacy_all: Array
    about: str = "the population's coefficients, each by itself"

    def _of(self, sizes: Array) -> Coefficients:
        return replace(self.value, coef=np.asarray(sizes[1:], dtype=float), intercept=float(sizes[0]))

    @property
    def sampling(self) -> Coefficients:
        """Standard deviations from sampling people."""
        return self._of(self.sampling_all)

    @property
    def privacy(self) -> Coefficients:
        """Standard deviations from the noise."""
        return self._of(self.privacy_all)

    @property
    def errors(self) -> Array:
        """Standard errors with the noise in them, intercept first."""
        return np.hypot(self.sampling_all, self.privacy_all)

    def interval(self, confidence: float) -> Interval:
        """Each coefficient's interval by itself."""
        wide = float(ndtri((1 + check_confidence(confidence)) / 2)) * self.errors
        middle = np.concatenate([[self.value.intercept], self.value.coef])
        return Interval(
            self._of(middle - wide), self._of(middle + wide), confidence=confidence, about=self.about, population=True
        )
