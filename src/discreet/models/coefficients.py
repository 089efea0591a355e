"""The error bars of coefficients: sampling and noise side by side."""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from scipy.special import ndtri

from discreet.privacy.intervals import Interval, check_confidence
from discreet.privacy.values import Coefficients

Array = np.ndarray[Any, Any]
Link = Literal["identity", "logit", "log"]


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
