"""Error bars of several coordinates, in the shape of the answer."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discreet.privacy.intervals import Interval, Spread


@dataclass(frozen=True, slots=True)
class EstimateSpread:
    """One spread a coordinate; each interval holds by itself."""

    parts: tuple[Spread, ...]

    @property
    def sampling(self) -> Any:
        """Standard deviations from sampling."""
        return self._all("sampling")

    @property
    def privacy(self) -> Any:
        """Standard deviations from the noise."""
        return self._all("privacy")

    @property
    def confidence(self) -> float:
        """The confidence that was declared, where the parts have one."""
        return float(getattr(self.parts[0], "confidence", 0.95))

    def _all(self, name: str) -> Any:
        sizes = [getattr(part, name) for part in self.parts]
        return None if any(size is None for size in sizes) else np.array(sizes, dtype=float)

    def interval(self, confidence: float) -> Interval:
        """All coordinates' intervals, side by side."""
        each = [part.interval(confidence) for part in self.parts]
        about = each[0].about if len(each) == 1 else f"{each[0].about}, each coordinate by itself"
        return replace(
            each[0], low=np.array([one.low for one in each]), high=np.array([one.high for one in each]), about=about
        )


@dataclass(frozen=True, slots=True)
class ShapedSpread:
    """The same spread with its ends as the estimator would return them: a number, names, a matrix."""

    inner: Spread
    shaped: Callable[[Any], Any]
    confidence: float = 0.95  # what is shown unless another is asked for

    @property
    def sampling(self) -> Any:
        """Standard deviations from sampling."""
        return None if self.inner.sampling is None else self.shaped(self.inner.sampling)

    @property
    def privacy(self) -> Any:
        """Standard deviations from the noise."""
        return None if self.inner.privacy is None else self.shaped(self.inner.privacy)

    def interval(self, confidence: float) -> Interval:
        """Both ends in shape."""
        inner = self.inner.interval(confidence)
        return replace(inner, low=self.shaped(inner.low), high=self.shaped(inner.high))
