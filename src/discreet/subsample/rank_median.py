"""The median of blocks' estimates with a rank interval: nothing is assumed of their scale or distribution.

Releases
    For each coordinate the two ends of an interval around the median estimate, and what statistics/quantile.py needs
    for them; the value is their middle.
Promise
    [rank_median.1] Pure epsilon if one estimate is replaced by any other or by none: epsilon / d for each of the d
    coordinates.
    [rank_median.2] The interval is for the median of the estimator's distribution on a block: for the population
          quantity if the estimator is as often too large as too small.
Why
    [rank_median.1] A block without an estimate stands at plus or minus the largest float, by its number alone; then
    [quantile.2] of statistics/quantile.py and composition. [rank_median.2] [quantile.4] there: blocks are independent
    and alike. Those without an estimate stand on both sides alike and push the ends apart.
Needs
    K epsilon / d of 183 or so ([quantile.6]). An estimator that is skewed within blocks has a median off its mean by
    about skewness * sd / 6: then prefer the mean.
Accuracy
    At K epsilon = 400 about as the mean; no clip, no scale to fail.
Source
    Kuchibhotla, Balakrishnan and Wasserman 2024 (HulC), with a private rank interval in place of minimum and maximum.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from discreet.errors import Refused
from discreet.privacy.exact import Number, exact
from discreet.privacy.guarantee import check_budget
from discreet.privacy.intervals import QuantileSpread
from discreet.privacy.loss import Loss, compose
from discreet.privacy.mechanism import Randomness, promised, refusal_of
from discreet.privacy.provenance import Provenance
from discreet.privacy.release import Release
from discreet.statistics.quantile import Quantile
from discreet.statistics.ranks import MAX
from discreet.subsample.coordinatewise import SWAP, EstimateSpread

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class BlockMedian:
    """The median of `blocks` estimates, one coordinate at a time.

    >>> from discreet.noise.randomness import Seeded
    >>> rows = [[float(k % 21)] for k in range(400)]
    >>> bool(5 < BlockMedian(400, 1, epsilon=1.0).release(rows, Seeded(1)).value[0] < 15)
    True
    """

    blocks: int
    width: int
    epsilon: Number
    confidence: float = 0.95
    neighbours: ClassVar = SWAP
    unit: ClassVar[str] = "estimate"

    def __post_init__(self) -> None:
        check_budget(self.epsilon, 0, None)

    guarantee = promised

    @property
    def each(self) -> Quantile:
        """What one coordinate is released by."""
        return Quantile(0.5, exact(self.epsilon) / self.width, confidence=self.confidence)  # [rank_median.1]

    @property
    def loss(self) -> Loss:
        """Every coordinate's."""
        return compose(*[self.each.loss] * self.width)  # [rank_median.1]

    def check(self, size: int | None) -> None:  # noqa: ARG002  the number of blocks is declared
        """Refused, by public numbers, where the quantile of so many estimates is."""
        if hasattr(self.each, "check") and (refusal := refusal_of(self.each, self.blocks)) is not None:
            raise Refused(f"the median of {self.blocks} blocks' estimates: {refusal}")

    def release(self, rows: Any, rng: Randomness) -> Release[Floats]:
        """The medians and their intervals, or a refusal."""
        table = np.asarray(rows, dtype=np.float64).reshape(self.blocks, self.width)
        none = ~np.isfinite(table).all(axis=1)
        sides = np.where(np.arange(self.blocks) % 2 == 0, MAX, -MAX)  # [rank_median.1]
        shown = {"blocks": self.blocks, "confidence": self.confidence}
        blank: Release[Floats] = Release(self.guarantee, Provenance("BlockMedian", shown, rng.secure), name="estimate")
        answers: list[float] = []
        spreads: list[QuantileSpread] = []
        for place in range(self.width):
            one = self.each.release(np.where(none, sides, table[:, place]), rng)  # [rank_median.1]
            if one.refusal is not None or not isinstance(one.spread, QuantileSpread):
                return replace(blank, refusal=f"the median of {self.blocks} blocks' estimates: {one.refusal}")
            answers.append(one.value)
            # [rank_median.2]
            spreads.append(replace(one.spread, about="the population's quantity", sampling=None, privacy=None))
        return replace(blank, answer=np.array(answers), spread=EstimateSpread(tuple(spreads)))
