"""What an additive model may lack in each bin: an interval of log odds, from the last sums of residuals and slopes."""

from dataclasses import KW_ONLY, dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from discreet.privacy.intervals import Interval
from discreet.privacy.value_shapes import LIMIT, Shapes

SLOPE: Final = 0.1  # of what an interval may miss, for the slopes
DOUBLED: Final = 2.0  # times what the model says of them, squared residuals [additive_model.3]
ABOUT: Final = (
    "what each bin would add if the population chose it alone, all else of the model as it is; each bin by itself, "
    f"limited to {LIMIT:g} either way"
)
Floats = npt.NDArray[np.float64]
SILENT: Final = (
    "{} of {} bins hold too few rows to say anything: their intervals reach both limits. What is shown there follows "
    "the bins beside them, and may lie outside an interval; fewer bins or columns, bounds, or a larger epsilon say more"
)


@dataclass(frozen=True, slots=True)
class ShapesSpread:
    """The error of each bin, by its people's residuals and slopes at the model that was released."""

    shown: Shapes
    residuals: Floats
    slopes: Floats
    _: KW_ONLY
    noise: float

    @property
    def _held(self) -> Floats:
        """Slopes that are hardly below those in the table."""
        return np.maximum(self.slopes, 0.0) + self.noise / 2

    @property
    def sampling(self) -> Shapes:
        """Standard deviation from sampling people, of the log odds of each bin by itself, if chances are right."""
        return self.shown.with_cells(np.minimum(1 / np.sqrt(self._held), LIMIT))

    @property
    def privacy(self) -> Shapes:
        """That from the privacy noise."""
        return self.shown.with_cells(np.minimum(self.noise / self._held, LIMIT))

    @property
    def silent(self) -> tuple[str, ...]:
        """How many bins tell nothing, in words, if any. [additive_model.3]"""
        bar = self.interval(0.95)
        none = int(np.count_nonzero((bar.low.cells <= -LIMIT) & (bar.high.cells >= LIMIT)))
        return (SILENT.format(none, len(self.shown.cells)),) if none else ()

    def interval(self, confidence: float) -> Interval:
        """For each bin by itself. [additive_model.3]"""
        missed = 1 - confidence
        varied = self.noise**2 + DOUBLED * self._held  # [additive_model.3]
        wide = -ndtri((1 - SLOPE) * missed / 2) * np.sqrt(varied)
        off = -ndtri(SLOPE * missed / 2) * np.sqrt(self.noise**2 + self._held) / 2
        slopes = (self.slopes - off, self.slopes + off)
        low = -_most(wide - self.residuals, *slopes)
        high = _most(self.residuals + wide, *slopes)
        ends = (self.shown.with_cells(np.clip(self.shown.cells + end, -LIMIT, LIMIT)) for end in (low, high))
        return Interval(*ends, confidence=confidence, about=ABOUT, population=True)


def _most(residuals: Floats, least: Floats, most: Floats) -> Floats:
    """The largest log odds that are lacking where residuals add up to no more, slopes to no less and no more.

    >>> _most(np.array([0.0, 10.0, 10.0, -10.0]), np.array([5.0, 20.0, 5.0, 20.0]), np.full(4, 40.0)).round(3).tolist()
    [0.0, 0.693, inf, -0.223]
    """
    above = np.full(len(residuals), np.inf)
    inside = (residuals > 0) & (residuals < least)
    above[inside] = -np.log1p(-residuals[inside] / least[inside])  # [additive_model.3]
    below = (residuals <= 0) & (most > 0)
    above[residuals <= 0] = 0.0
    above[below] = -np.log1p(-residuals[below] / most[below])  # [additive_model.3]
    return above
