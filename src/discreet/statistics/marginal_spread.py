"""How far the counts of a synthetic table may be off: of its rows, its columns, and the pairs that were measured."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.noise.distributions import GaussianDistribution, LaplaceDistribution
from discreet.privacy.intervals import Interval
from discreet.privacy.values import SyntheticTable
from discreet.statistics.crosstab import sum_radius

Integers = npt.NDArray[np.int64]
Noise = LaplaceDistribution | GaussianDistribution


@dataclass(frozen=True, slots=True)
class MarginalSpread:
    """The error of all counts: noise alone, the table is the target."""

    shown: SyntheticTable
    noisy: Any  # in the order of the model's counts
    alone: Noise
    paired: Noise
    fewest: int  # counts whose sum is the number of rows
    size: int | None
    sampling: None = None

    def _parts(self) -> tuple[int, int, int]:
        """How many numbers: of rows, unless that is public, of columns, of pairs."""
        ones = sum(len(side) + 1 for side in self.shown.levels)
        return int(self.size is None), ones, len(self.noisy) - 1 - ones

    @property
    def privacy(self) -> SyntheticTable:
        """Standard deviation of each number's noise."""
        rows, ones, pairs = self._parts()
        each = [rows * self.alone.sd * math.sqrt(self.fewest), self.alone.sd, self.paired.sd]
        return self.shown.with_cells(np.repeat(each, [1, ones, pairs]))

    def radii(self, confidence: float) -> Integers:
        """How far the number of rows, a count of a column and one of a pair may be off, all at once. [synthetic.3]"""
        rows, ones, pairs = parts = self._parts()
        share = [1 - (1 - confidence) * part / sum(parts) for part in parts]  # [synthetic.3]
        off = 0
        if rows and isinstance(self.alone, LaplaceDistribution):
            off = sum_radius(self.alone.scale, self.fewest, 1 - share[0])  # [synthetic.3]
        elif rows and isinstance(self.alone, GaussianDistribution):
            whole = GaussianDistribution(self.alone.sigma * math.sqrt(self.fewest))
            off = whole.radius(share[0]) + self.fewest // 2  # [synthetic.3]
        reach = [off, self.alone.radius(share[1], ones), self.paired.radius(share[2], pairs) if pairs else 0]
        return np.repeat(np.array(reach, dtype=np.int64), [1, ones, pairs])

    def interval(self, confidence: float) -> Interval:
        """For all counts at once. [synthetic.3]"""
        reach, shown = self.radii(confidence), np.asarray(self.shown.cells)
        low = np.minimum(np.clip(self.noisy - reach, 0, self.size), shown)
        high = np.maximum(np.clip(self.noisy + reach, 0, self.size), shown)
        about = "the counts of columns and of the pairs that were measured, in this table, all at once"
        ends = (self.shown.with_cells(low), self.shown.with_cells(high))
        return Interval(*ends, confidence=confidence, about=about, population=False)
