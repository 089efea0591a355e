"""What is left of the bias within blocks, released beside the mean of estimates; intervals that allow for it.

Releases
    What the mean of the estimates releases (BlockMean or BlockFriends). Then, for each coordinate, the noisy sums of
    clip(D / s, +-1) and of its square: D is what a block's corrected estimate differs from the mean of those of its two
    halves, s the scale of the estimates that the mean released.
Promise
    [remaining_bias.1] The epsilon and delta of the mean, and `epsilon` for the sums, if one row (a block's estimate and
          its D) is replaced by any other or by none, the number of blocks being public.
    [remaining_bias.2] The interval holds the estimator's limit in ever larger blocks, with at least its confidence, if
          the bias that is left on blocks of m people is a sum of terms of one sign that shrink like m^-s, s at least 1
          (`reach` 1) or at least 1/2 (`reach` 2.42), and D seldom exceeds s.
    [remaining_bias.3] Blocks without an estimate widen the interval by their share times s, where the noisy number of
          estimates shows that there are such blocks.
Why
    [remaining_bias.1] s is a function of what was released. One row moves the sum of clipped D by at most 2 and that of
    squares by at most 1: [clip.1] under REPLACE; a missing D counts as 0. The epsilons of the 2 d draws add up to
    `epsilon` ([allocation.1]), and composition with the mean is basic.
    [remaining_bias.2] If E C = q + b m^-s, then halves have b 2^s m^-s, so that E D = b m^-s (1 - 2^s) and q = E C +
    t E D with t = 1 / (2^s - 1), which lies in (0, 1] for s >= 1 and in (0, 2.42) for s >= 1/2; of a sum of such terms
    t is between theirs. With the standard errors h of C and tau of D, which are taken as uncorrelated (what C owes to
    single people cancels in D), I_t = C + t D +- z sqrt(h^2 + t^2 tau^2) holds q. Its upper end is convex in t and its
    lower end concave, so the hull of I_0 and I_reach contains I_t for every t between.
    [remaining_bias.3] As the code reads. If the lost estimates lie within s of the others' mean, on average, they would
    have moved it by at most that.
Needs
    Estimates and D in one row, twice as wide as the mean; D from quarters of a block of at least 40 people a number.
Accuracy
    Simulated for one number at 400 blocks and epsilon 1: with reach 2.42 twice as wide as without D, with reach 1 by
    half. Correlation of a lognormal with a normal variable: held 96% where halves alone held 24%.
Source
    Richardson 1911; Quenouille 1956; the hull is ours.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.accounting.allocation import Allocation, Share
from discreet.privacy.exact import Number, exact
from discreet.privacy.guarantee import Guarantee
from discreet.privacy.intervals import Interval, Spread
from discreet.privacy.loss import Laplace, Loss, compose
from discreet.privacy.mechanism import Randomness
from discreet.privacy.release import Release
from discreet.stages.clip import charged, noisy_moment
from discreet.subsample.coordinatewise import SWAP, BlockMean
from discreet.subsample.friendly_aggregate import BlockFriends

SMOOTH: Final = 1.0  # the largest 1 / (2^s - 1) for s >= 1
ROUGH: Final = 2.42  # for s >= 1/2
PART: Final = Fraction(3, 10)  # of epsilon, for D
FIRST: Final = Fraction(4, 5)  # of that, for D itself; the rest for its square
USUAL: Final = 0.5  # D's standard deviation over that of an estimate, for a forecast
SURE: Final = 3.0  # deviations of the noisy number of estimates by which blocks may seem to be missing where none is
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class AllowingSpread:
    """A spread that allows for a bias: the hull of the interval and of one moved by `reach` times `bias`; `lost` is
    added on both sides."""

    inner: Spread
    bias: Floats
    error: Floats
    reach: float
    lost: Floats

    @property
    def sampling(self) -> Any:
        """Standard deviations from sampling."""
        return self.inner.sampling

    @property
    def privacy(self) -> Any:
        """Standard deviations from the noise."""
        return self.inner.privacy

    def interval(self, confidence: float) -> Interval:
        """All coordinates' intervals, each by itself. [remaining_bias.2]"""
        from scipy.special import ndtri

        found = self.inner.interval(confidence)
        low, high = np.asarray(found.low), np.asarray(found.high)
        wide = np.hypot((high - low) / 2, float(ndtri((1 + confidence) / 2)) * self.reach * self.error)
        middle = (low + high) / 2 + self.reach * self.bias
        ends = np.minimum(low, middle - wide) - self.lost, np.maximum(high, middle + wide) + self.lost
        return replace(found, low=ends[0], high=ends[1])


@dataclass(frozen=True, slots=True)
class RemainingBias:
    """A mean of estimates, and what is left of their bias, for `epsilon` more; rows are estimates, then their D.

    >>> from discreet.noise.randomness import Seeded
    >>> rows = [[math.sin(k), 0.1 + 0.1 * math.cos(k)] for k in range(400)]
    >>> release = RemainingBias(BlockMean(400, 1, epsilon=2.0), 1.0).release(rows, Seeded(1))
    >>> float(release.guarantee.epsilon), bool(release.interval().high[0] > release.value[0] + 0.1)
    (3.0, True)
    """

    mean: BlockMean | BlockFriends
    epsilon: Number
    reach: float = SMOOTH

    @property
    def blocks(self) -> int:
        """How many rows: public."""
        return self.mean.blocks

    @property
    def width(self) -> int:
        """How many numbers an estimate has."""
        return self.mean.width

    @property
    def draws(self) -> Allocation:
        """What each sum costs. [remaining_bias.1]"""
        shares = {"bias": Share(FIRST, times=self.width), "square": Share(times=self.width)}
        return Allocation.of(self.epsilon).split(**shares)

    @property
    def guarantee(self) -> Guarantee:
        """The mean and the sums. [remaining_bias.1]"""
        inner = self.mean.guarantee
        return replace(inner, epsilon=exact(inner.epsilon) + exact(self.epsilon))  # [remaining_bias.1]

    @property
    def loss(self) -> Loss:
        """The mean and the sums. [remaining_bias.1]"""
        return compose(self.mean.loss, charged(self.draws.loss))  # [remaining_bias.1]

    @property
    def feasible(self) -> bool:
        """Whether so many estimates will be found at this cost. Public."""
        return self.mean.feasible

    @property
    def relative_error(self) -> float:
        """Expected width against that of the blocks' mean without noise. Public."""
        return self.mean.relative_error * self.price

    @property
    def price(self) -> float:
        """How many times as wide the interval gets by allowing for the bias. Public."""
        noise = 2 * math.sqrt(2) / (self.blocks * float(self.draws.part("bias", Laplace).epsilon))
        error = math.hypot(noise, USUAL / math.sqrt(self.blocks))
        return math.hypot(1, self.reach * error * math.sqrt(self.blocks) / self.mean.relative_error)

    def check(self, size: int | None) -> None:
        """Refused, by public numbers, where the mean is."""
        self.mean.check(size)

    def release(self, rows: Any, rng: Randomness) -> Release[Floats]:
        """The mean, with intervals that allow for its bias, or a refusal."""
        table = np.asarray(rows, dtype=np.float64).reshape(self.blocks, 2 * self.width)
        table = np.where(np.isfinite(table).all(axis=1, keepdims=True), table, np.nan)
        inner = self.mean.release(table[:, : self.width], rng)
        if inner.refusal is not None:
            return replace(inner, guarantee=self.guarantee)
        usable, scales = _seen(inner)
        first, second = self.draws.part("bias", Laplace), self.draws.part("square", Laplace)
        bias, error = np.zeros(self.width), np.zeros(self.width)
        for place, scale in enumerate(scales):
            values, near = table[:, self.width + place], {"centre": 0.0, "radius": float(scale), "neighbours": SWAP}
            moved = noisy_moment(values, cost=first, rng=rng, **near)  # type: ignore[arg-type]  # [remaining_bias.1]
            square = noisy_moment(values, cost=second, rng=rng, power=2, **near)  # type: ignore[arg-type]
            share = min(1.0, max(0.0, (square.total + math.sqrt(2) * square.noise) / usable))
            bias[place] = moved.total * scale / usable
            error[place] = scale * math.hypot(math.sqrt(2) * moved.noise / usable, math.sqrt(share / usable))
        assert inner.spread is not None
        spread = AllowingSpread(inner.spread, bias, error, self.reach, np.zeros(self.width))  # [remaining_bias.2]
        shown = {"bias": bias.tolist(), "error": error.tolist(), "epsilon": float(self.epsilon)}
        history = replace(
            inner.provenance, parameters=dict(inner.provenance.parameters) | {"difference of half blocks": shown}
        )
        return replace(inner, guarantee=self.guarantee, spread=spread, provenance=history)


def allowing_for_lost(release: Release[Floats], mean: BlockMean | BlockFriends) -> Release[Floats]:
    """The release of a mean of estimates, wider where some blocks seem to have none. [remaining_bias.3]"""
    if release.refusal is not None or release.spread is None:
        return release
    usable, scales = _seen(release)
    if mean.blocks - usable <= SURE * mean.count_deviation:
        return release
    lost = (1 - usable / mean.blocks) * scales  # [remaining_bias.3]
    if isinstance(release.spread, AllowingSpread):
        return replace(release, spread=replace(release.spread, lost=lost))
    none = np.zeros(len(scales))
    return replace(release, spread=AllowingSpread(release.spread, none, none, 0.0, lost))


def _seen(release: Release[Floats]) -> tuple[int, Floats]:
    """The noisy number of estimates, and the scale of each coordinate: both were released."""
    assert release.spread is not None
    usable = int(release.provenance.parameters["usable blocks, noisy"])
    return usable, np.asarray(release.spread.sampling, dtype=np.float64) * math.sqrt(usable)
