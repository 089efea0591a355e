"""An interval for a normal mean whose standard deviation is unknown: Karwa and Vadhan's, kept for comparison.

Releases
    KarwaVadhan: the noisy mean of values clipped around the fullest bin, with an interval, sigma unknown.
Promise
    [karwa_vadhan.1] Pure epsilon, in shares 1/6, 1/6, 1/3, 1/3 for scale, place, mean and variance.
    [karwa_vadhan.2] It refuses, by public numbers and before any draw, where noise would fill another bin more than one
          in a hundred times.
Why
    [karwa_vadhan.1] Disjoint pairs: one record changes one difference, which is in one bin of powers of two: counts
    move by 2 in L1. Then places as [normal_means.2], the mean and the second moment as [clip.1].
    [karwa_vadhan.2] As [normal_means.5]: a normal variable's differences are in one of their octaves with a chance of
    0.288 or more, and it is in one of the bins of twice its standard deviation, the least that is found, with 0.477.
Needs
    REPLACE: a public n. |mu| <= reach and a range for sigma, both public.
Accuracy
    13 to 80 times wider than the interval of statistics/normal.py.
Source
    Karwa and Vadhan 2018, as replicated by Du et al. 2020.
"""

import math
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from discreet.accounting.allocation import Allocation, Share
from discreet.errors import BadInput
from discreet.privacy.exact import Number
from discreet.privacy.guarantee import Neighbours, check_budget
from discreet.privacy.intervals import check_confidence
from discreet.privacy.loss import Approximate, Laplace, Loss
from discreet.privacy.mechanism import Randomness, promised, refusal_of
from discreet.privacy.release import Release
from discreet.stages.clip import charged, noisy_moment
from discreet.stages.normal_laplace import DeclaredSpread
from discreet.statistics.normal_means import (
    FAILURE,
    MOST_BINS,
    ClippedMean,
    Floats,
    StabilityMean,
    TwoStageMean,
    check_found,
    counted,
    fullest,
    is_found,
    positive,
    refused_mean,
    released_mean,
)
from discreet.tables.entries import numbers, public_size


@dataclass(frozen=True, slots=True)
class KarwaVadhan:
    """An interval for a normal mean with unknown sigma, of a public range."""

    reach: float
    sigmas: tuple[float, float]
    epsilon: Number
    _: KW_ONLY
    confidence: float = 0.95
    unit: str = "row"
    neighbours: ClassVar[Neighbours] = Neighbours.REPLACE

    def __post_init__(self) -> None:
        check_budget(self.epsilon, 0, None)
        check_confidence(self.confidence)
        if not isinstance(self.sigmas, tuple | list) or len(self.sigmas) != 2:
            raise BadInput(f"sigma is {self.sigmas!r}; this method needs a public range of it, for example (0.1, 10)")
        low, high = self.sigmas
        if positive("sigma", low) > positive("sigma", high) or positive("reach", self.reach) / low > MOST_BINS / 2:
            raise BadInput(
                f"sigmas are {self.sigmas!r}, reach {self.reach!r}; give the smaller sigma first, reach below 5e6 of it"
            )

    guarantee = promised

    @property
    def loss(self) -> Loss:
        """Two counts, two sums."""
        return charged(self.stages.loss)  # [karwa_vadhan.1]

    @property
    def stages(self) -> Allocation:
        """A sixth for each count, a third for each sum. [karwa_vadhan.1]"""
        count, total = Share(Fraction(1, 6), counted), Share(Fraction(1, 3))
        return Allocation.of(self.epsilon).split(scale=count, place=count, mean=total, square=total)

    @property
    def octaves(self) -> tuple[int, int]:
        """The first and the last octave of differences."""
        low, high = self.sigmas
        return math.floor(math.log2(low / 8)), math.floor(math.log2(high * 8))

    def finds(self, size: int) -> bool:
        """Whether the fullest octave and the fullest bin will be the data's. Public."""
        low, high = self.octaves
        noise, bins = (
            2 / float(self.stages.part("scale", Approximate).epsilon),
            2 * math.ceil(self.reach / self.sigmas[0]),
        )
        scale = is_found(size // 2, 0.288, high - low + 1, noise, FAILURE / 2)
        return scale and is_found(size, 0.477, bins + 2, noise, FAILURE / 2)

    check = check_found  # [karwa_vadhan.2]

    def release(self, rows: Any, rng: Randomness) -> Release[float]:
        """Scale, place, mean and variance, or a refusal."""
        from scipy.special import stdtrit

        values = numbers(rows)
        size = public_size(values, Neighbours.REPLACE) or 1
        if refusal := refusal_of(self, size):  # [karwa_vadhan.2]
            return refused_mean(self, refusal, rng, size)
        stages = self.stages
        miss = 1 - self.confidence
        sigma = self._scale(values, stages.part("scale", Approximate), rng)
        centre = fullest(values, sigma, self.reach, stages.part("place", Approximate).epsilon, rng)  # [karwa_vadhan.1]
        half = 4 * sigma * math.sqrt(math.log(8 * size / miss))
        costs = {name: stages.part(name, Laplace) for name in ("mean", "square")}
        near: dict[str, Any] = {"centre": centre, "radius": half, "neighbours": Neighbours.REPLACE, "rng": rng}
        mean = noisy_moment(values, cost=costs["mean"], **near)  # [karwa_vadhan.1]
        square = noisy_moment(values, cost=costs["square"], power=2, **near)  # [karwa_vadhan.1]
        share = math.log(4 / miss)
        offset, wobble = mean.total * half / size, mean.noise * half / size
        moment = half**2 * (square.total + share * square.noise) / size
        variance = max(moment - max(0.0, abs(offset) - wobble * share) ** 2, 0.0)
        student = float(stdtrit(max(1, size - 1), 1 - miss / 8))
        width = student * math.sqrt(variance / size) + wobble * share
        spread = DeclaredSpread(
            estimate=centre + offset,
            width=width,
            confidence=self.confidence,
            sampling=math.sqrt(variance / size),
            privacy=math.sqrt(2) * wobble,
        )
        return released_mean(self, spread, rng, size)

    def _scale(self, values: Floats, cost: Approximate, rng: Randomness) -> float:
        """2^{j+2} for the fullest octave j of the differences of disjoint pairs. [karwa_vadhan.1]"""
        low, high = self.octaves
        pairs = values[: len(values) // 2 * 2].reshape(-1, 2)
        with np.errstate(all="ignore"):
            octaves = np.floor(np.log2(np.abs(pairs[:, 0] - pairs[:, 1])))
        octaves = np.clip(np.nan_to_num(octaves, nan=low, posinf=high, neginf=low), low, high).astype(np.int64)
        counts = np.bincount(octaves - low, minlength=high - low + 1).astype(np.int64)
        noisy = rng.blur(counts, sensitivity=2, cost=Laplace(cost.epsilon))  # [karwa_vadhan.1]
        return float(2.0 ** (low + int(np.argmax(noisy)) + 2))


def lecture(
    method: object,
    *,
    epsilon: Number,
    delta: Number,
    sigma: Any,
    reach: Any,
    neighbours: Neighbours = Neighbours.REPLACE,
    unit: str = "row",
) -> "ClippedMean | TwoStageMean | StabilityMean | KarwaVadhan":
    """The estimator of this name."""
    if method not in ("clipped", "two-stage", "stability", "karwa-vadhan"):
        raise BadInput(f"method is {method!r}; give 'auto', 'clipped', 'two-stage', 'stability' or 'karwa-vadhan'")
    if neighbours is not Neighbours.REPLACE:
        raise BadInput(
            f"method {method!r} divides by a public number of rows, as the lectures do; give neighbours='replace', and "
            "missing='keep' or a public number that stands in; or leave out method= for a mean that counts privately"
        )
    if method == "stability":
        if reach is not None:
            raise BadInput("method 'stability' takes no reach=; leave it out")
        return StabilityMean(sigma, epsilon, delta, unit)
    if method == "karwa-vadhan":
        return KarwaVadhan(reach, sigma, epsilon, unit=unit)
    made = ClippedMean if method == "clipped" else TwoStageMean
    return made(reach, sigma, epsilon, unit)
