"""A normal distribution fitted to rows in R^d: mean and covariance, and how far off it can be in total variation.

Releases
    The stages of statistics/covariance_stages.py under its model, half of what they do not need for the mean: a frame
    in which rows look standard normal, a centre in that frame (rows are friends if they are near in Mahalanobis
    distance), the mean, and the covariance about it.
Promise
    [normal_table.1] (epsilon, delta) under REPLACE, by the losses of the stages; ADD_OR_REMOVE is refused when it is
    asked for.
    [normal_table.2] Refusals read public numbers and earlier answers only.
    [normal_table.3] For normal rows the interval of each entry of mean and covariance holds the population's with its
          confidence, to first order.
    [normal_table.4] With the confidence asked for, the distribution released is within `total_variation` of the
          population's, if that is normal, to first order.
Why
    [normal_table.1] [covariance_stages.1].
    [normal_table.2] As [covariance.2]; and no centre is a refusal here, decided by a released number.
    [normal_table.3] As [covariance.3]; the mean of bent rows answers to a shift by the slope a1 (statistics/whiten.py),
    and its noise is known in the frame.
    [normal_table.4] The proof is with `total_variation` in statistics/covariance.py.
Needs
    About as many rows as a covariance; up to a third of them may be anywhere, and count as errors.
Accuracy
    Noise of standard deviation 2 R / (n mu a1) on each coordinate of the mean in the frame, R about sqrt(d) to
    sqrt(d) + 1: at n = 5,000, d = 5, epsilon = 1 the mean's error is 1.35, the covariance's 1.6 times the sample's.
Source
    Biswas, Dong, Kamath and Ullman 2020; Tsfadia, Cohen, Kaplan, Mansour and Stemmer 2022 for the centre.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

from discreet.privacy.exact import Number, show
from discreet.privacy.guarantee import Guarantee
from discreet.privacy.loss import Approximate, Loss
from discreet.privacy.mechanism import Randomness
from discreet.privacy.neighbours import Neighbours
from discreet.privacy.provenance import Provenance
from discreet.privacy.release import Release
from discreet.privacy.values import MultivariateNormal
from discreet.statistics.covariance import NormalVectorSpread, check_stages, checked_size, too_few
from discreet.statistics.covariance_stages import MomentStages, fit, needed, plan
from discreet.tables.matrix import in_one, matrix

MEAN: Final = Fraction(3, 10)  # the share of the mean
NOTE: Final = "the fit rests on a normal model; rows far from the others count as errors"


@dataclass(frozen=True, slots=True)
class MultivariateGaussian:
    """A normal distribution: `value.mean` and `value.covariance`.

    `dimension` is the number of columns, `size` the public number of rows: with both the loss lists every draw.

    >>> from discreet.noise.randomness import Seeded
    >>> import numpy as np
    >>> rows = np.array([[k % 7, k % 11 + k % 7] for k in range(5000)])
    >>> release = MultivariateGaussian(epsilon=2.0, delta=1e-6).release(rows, Seeded(1))
    >>> bool(abs(release.value.mean - rows.mean(axis=0)).max() < 0.4)
    True
    """

    epsilon: Number
    delta: Number
    dimension: int | None = None
    neighbours: Neighbours = Neighbours.REPLACE
    unit: str = "row"
    size: int | None = None

    def __post_init__(self) -> None:
        check_stages(
            self.epsilon,
            self.delta,
            dimension=self.dimension,
            neighbours=self.neighbours,
            size=self.size,
            what="a normal distribution",
        )

    @property
    def guarantee(self) -> Guarantee:
        """As asked for."""
        return Guarantee(self.epsilon, self.delta, self.neighbours, self.unit)

    @property
    def loss(self) -> Loss:
        """Every draw; before rows and columns are known, what they amount to."""
        if self.size is None or self.dimension is None:
            return Approximate(self.epsilon, self.delta)
        return self.stages(self.size, self.dimension).loss  # [normal_table.1]

    def stages(self, size: int, dimension: int) -> MomentStages:
        """The costs for so many rows and columns. [normal_table.2]"""
        return plan(self.epsilon, self.delta, size, dimension, model=True, mean=MEAN)

    def release(self, rows: Any, rng: Randomness) -> Release[MultivariateNormal]:
        """The distribution, or a refusal."""
        table = matrix(rows, self.dimension, declared="dimension")
        size = checked_size(table, self.size, self.epsilon, self.delta)
        stages = self.stages(size, table.width)
        shown = {"neighbours": self.neighbours, "rows": size, "columns": table.width}
        blank: Release[MultivariateNormal] = Release(
            self.guarantee, Provenance("MultivariateGaussian", shown, rng.secure, (NOTE,)), name="normal distribution"
        )
        if not stages.enough:  # [normal_table.2]
            least = needed(self.epsilon, self.delta, table.width, model=True, mean=MEAN)
            return replace(blank, refusal=too_few(size, table.width, least))
        found = fit(in_one(table), stages, rng)  # [normal_table.1]
        if isinstance(found, str):  # [normal_table.2]
            return replace(blank, refusal=found)
        if found.shift is None:  # [normal_table.2]
            return replace(blank, refusal="too many rows lie far from the others for one normal distribution")
        spread = NormalVectorSpread.of(found)  # [normal_table.3]
        far = spread.total_variation(0.95)  # [normal_table.4]
        note = f"with confidence 95% within total variation {show(far)} of the population, if that is normal"
        provenance = replace(blank.provenance, notes=(NOTE, note))
        return replace(blank, answer=spread.value, spread=spread, provenance=provenance)
