"""The mean of blocks' estimates, one coordinate at a time: find the place, find the scale, clip wide, average.

Releases
    A noisy number of blocks that gave an estimate. Then for each coordinate a median c and a scale s by the exponential
    mechanism over float64, and the noisy sum of clip(y - c, +-3.5 s). The answer is c plus that sum over the number of
    estimates.
Promise
    [coordinatewise.1] Pure epsilon if one estimate (one row, all coordinates) is replaced by any other or by none, the
          number of blocks being public; or, if delta > 0 and the predicted error is smaller, (epsilon, delta) by stages
          that add up in zCDP. The release's guarantee says which.
    [coordinatewise.2] Refusals and the choice of the stages read public numbers and earlier answers only.
    [coordinatewise.3] The interval of each coordinate is for the estimator's mean on samples of a block's size: for the
          population quantity if the bias left within blocks is small against it. Each holds by itself, not all at once.
Why
    [coordinatewise.1] The count moves by at most 1: [additive.1]. A row that is not finite is turned, by its number and
    never by its neighbours', into plus or minus the largest float for the median, into far or near for the scale, and
    into 0 for the sum. So each coordinate is a column of as many records as there are blocks, one of which is replaced;
    then [locate.1] and [clip.1]. All stages compose adaptively: epsilon / 20 for the
    count, the rest in equal parts to the coordinates, as epsilons or as rho ([stage_budget.1]).
    [coordinatewise.2] The number of blocks is public. The noisy count and the scales are released before they decide.
    [coordinatewise.3] The blocks are independent samples, so the mean of K estimates has the standard error s /
    sqrt(K); s is found with a relative error that Student's factor allows for; the noise is known; the noisy count
    moves the answer by (answer - c) dK / K. Blocks without an estimate put the same weight on both sides of the median
    and of the scale, so that neither moves, and the smaller K widens the interval.
Needs
    Coordinates whose stages are strong enough: K e_1 of 42 for the place and K e_2 of 52 for the scale, which for one
    coordinate at delta = 0 is K epsilon of 157. Estimates that do not coincide: else vote.
Accuracy
    Noise of scale 7 s / (K e_3), e_3 from 0.24 epsilon (K epsilon = 200) to 0.76 epsilon for one coordinate; at K = 400
    and epsilon = 1 the interval is 1.4 times as wide as without noise.
Source
    Smith 2011; the normal model's stages of statistics/normal.py without its inversion, which would bring back a bias
    from skewed estimates that the correction within the blocks removed.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput, Refused
from discreet.privacy.exact import Number, exact, show
from discreet.privacy.guarantee import Guarantee, check_budget
from discreet.privacy.loss import Gaussian, Laplace, Loss, compose
from discreet.privacy.mechanism import Randomness, refusal_of
from discreet.privacy.neighbours import Neighbours
from discreet.privacy.provenance import Provenance
from discreet.privacy.release import Release
from discreet.stages.clip import noisy_moment
from discreet.stages.declared import LARGEST, SMALLEST
from discreet.stages.locate import median_distance, middle
from discreet.stages.normal_stages import QUARTILE, freedom
from discreet.stages.stage_budget import Stages, concentrated, enough, in_stages, noisy_size, unit_variance
from discreet.statistics.normal import LOCATE, MOST_CENTRE, MOST_SCALE, SCALE
from discreet.statistics.normal_laplace import ConvolvedSpread
from discreet.statistics.ranks import MAX
from discreet.subsample.estimate_error import EstimateSpread

REACH: Final = 3.5  # the clip, in standard deviations: wide, as there is no inversion
COUNTING: Final = Fraction(1, 20)  # of epsilon, for how many blocks gave an estimate
PLACES, SCALES = 80, 72  # blocks times epsilon with which a place up to 1,000 deviations from 0 is missed once in
# 1,000 runs, and a scale between 1e-6 and 1e6 never was in 6,000
SWAP: Final = Neighbours.REPLACE
SHARES: Final = (Fraction(12, 100), Fraction(13, 100), Fraction(3, 4))  # of rho: place, scale, mean
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class BlockMean:
    """The mean of `blocks` estimates with `width` coordinates each; rows with NaN are blocks without an estimate.

    >>> from discreet.noise.randomness import Seeded
    >>> rows = [[math.sin(k)] for k in range(400)]
    >>> bool(abs(BlockMean(400, 1, epsilon=2.0).release(rows, Seeded(1)).value[0]) < 0.5)
    True
    """

    blocks: int
    width: int
    epsilon: Number
    delta: Number = 0.0

    def __post_init__(self) -> None:
        check_budget(self.epsilon, self.delta, 1)
        if self.blocks < 1 or self.width < 1:
            raise BadInput(f"{self.blocks} blocks of {self.width} numbers; both must be 1 or more")

    @property
    def guarantee(self) -> Guarantee:
        """Pure, unless Gaussian noise is the better and delta allows it; for one estimate."""
        pure = isinstance(self.stages.mean, Laplace)
        return Guarantee(self.epsilon, 0.0 if pure else self.delta, SWAP, "estimate")

    @property
    def counting(self) -> Laplace:
        """What the number of estimates costs."""
        return Laplace(exact(self.epsilon) * COUNTING)

    @property
    def stages(self) -> Stages:
        """What each coordinate costs. [coordinatewise.2]"""
        return planned_stages(self.blocks, self.width, exact(self.epsilon), exact(self.delta))

    @property
    def loss(self) -> Loss:
        """The count, and every draw for every coordinate."""
        return compose(Stages(size=self.counting).loss, *[self.stages.loss] * self.width)  # [coordinatewise.1]

    @property
    def feasible(self) -> bool:
        """Whether so many estimates will be found at this cost. Public."""
        return strong(self.stages, self.blocks)

    @property
    def relative_error(self) -> float:
        """Expected width against that of the blocks' mean without noise. Public."""
        return math.sqrt(1 + self.blocks * noise_deviation(self.stages, self.blocks) ** 2)

    def check(self, size: int | None) -> None:  # noqa: ARG002  the number of blocks is declared
        """Refused, by public numbers, if so many blocks do not do. [coordinatewise.2]"""
        if not self.feasible:
            raise Refused(too_few(self.blocks, self.width, self.epsilon))

    def release(self, rows: Any, rng: Randomness) -> Release[Floats]:
        """The mean and its intervals, or a refusal."""
        table = np.asarray(rows, dtype=np.float64).reshape(self.blocks, self.width)
        shown = {"blocks": self.blocks, "costs": {"count": float(self.counting.epsilon), **self.stages.shown}}
        blank: Release[Floats] = Release(self.guarantee, Provenance("BlockMean", shown, rng.secure), name="estimate")
        if (refusal := refusal_of(self, self.blocks)) is not None:
            return replace(blank, refusal=refusal)
        given = np.isfinite(table).all(axis=1)
        count = noisy_size(table[given, 0], self.counting, rng)  # [coordinatewise.1]
        if 2 * count <= self.blocks:  # [coordinatewise.2]
            return replace(blank, refusal=mostly_failed(count, self.blocks))
        usable = min(count, self.blocks)
        spreads = []
        for place in range(self.width):
            spread = self._coordinate(np.where(given, table[:, place], np.nan), usable, rng)
            if isinstance(spread, str):  # [coordinatewise.2]
                return replace(blank, refusal=spread)
            spreads.append(spread)
        return replace(
            blank,
            answer=np.array([spread.estimate for spread in spreads]),
            spread=EstimateSpread(tuple(spreads)),
            provenance=replace(blank.provenance, parameters=shown | {"usable blocks, noisy": usable}),
        )

    def _coordinate(self, values: Floats, usable: int, rng: Randomness) -> "ConvolvedSpread | str":
        stages, none = self.stages, np.isnan(values)
        assert stages.centre is not None
        assert stages.scale is not None
        assert stages.mean is not None
        even = np.arange(self.blocks) % 2 == 0
        ranked = np.where(none, np.where(even, MAX, -MAX), values)  # [coordinatewise.1]
        centre = middle(ranked, cost=stages.centre, neighbours=SWAP, rng=rng)
        far = np.where(none & even, np.inf, values)  # [coordinatewise.1]: the others count as near
        scale = median_distance(far, centre=centre, cost=stages.scale, neighbours=SWAP, rng=rng) / QUARTILE
        if not SMALLEST < scale < LARGEST:
            return (
                "the estimates of half of the blocks seem to coincide, or to be beyond all bounds: their mean has no "
                "scale to clip at; for whole numbers and labels use aggregator='vote' with labels="
            )
        radius = REACH * scale
        found = noisy_moment(
            values, centre=centre, radius=radius, cost=stages.mean, neighbours=SWAP, rng=rng
        )  # [coordinatewise.1]: NaN counts as 0
        offset, noise = found.total * radius / usable, found.noise * radius / usable
        gaussian = isinstance(stages.mean, Gaussian)
        counted = math.sqrt(2) / (float(self.counting.epsilon) * usable) if usable < self.blocks else 0.0
        return ConvolvedSpread(
            centre + offset,
            sampling=scale / math.sqrt(usable),
            laplace=0.0 if gaussian else noise,
            normal_noise=math.hypot(noise if gaussian else 0.0, abs(offset) * counted),
            freedom=freedom(self.blocks, stages.scale, SWAP),
            about="the population's quantity",
        )  # [coordinatewise.3]


@lru_cache(maxsize=256)
def planned_stages(blocks: int, width: int, epsilon: Fraction, delta: Fraction) -> Stages:
    """What each coordinate costs: pure or concentrated, whichever has less noise. Public. [coordinatewise.2]"""
    rest = epsilon * (1 - COUNTING)
    each = rest / width
    pure = in_stages(
        each,
        "mean",
        centre=enough(PLACES, blocks, each, Fraction(1, 10), MOST_CENTRE),
        scale=enough(SCALES, blocks, each, Fraction(1, 10), MOST_SCALE),
    )  # [coordinatewise.1]
    # [coordinatewise.1]
    other = concentrated(rest, delta, centre=SHARES[0], scale=SHARES[1], mean=SHARES[2], times=width)
    if other is None or not strong(other, blocks):
        return pure
    if not strong(pure, blocks):
        return other
    return min(pure, other, key=lambda stages: noise_deviation(stages, blocks))


def strong(stages: Stages, blocks: int) -> bool:
    """Whether the first two stages will find their place."""
    assert stages.centre is not None
    assert stages.scale is not None
    return blocks * float(stages.centre.epsilon) >= LOCATE and blocks * float(stages.scale.epsilon) >= SCALE


def noise_deviation(stages: Stages, blocks: int) -> float:
    """The standard deviation of the noise on the mean, in standard deviations of one estimate."""
    assert stages.mean is not None
    return REACH * math.sqrt(unit_variance(stages.mean, blocks, SWAP))


def least_blocks(width: int, epsilon: Number, delta: Number = 0.0) -> int:
    """The fewest blocks from which on there is an answer. Public. [coordinatewise.2]"""
    low, high = 1, 2
    while not BlockMean(high, width, epsilon, delta).feasible:
        low, high = high, 2 * high
    while high - low > 1:
        between = (low + high) // 2
        low, high = (low, between) if BlockMean(between, width, epsilon, delta).feasible else (between, high)
    return high


def too_few(blocks: int, width: int, epsilon: Number) -> str:
    """A refusal in public numbers."""
    return (
        f"{blocks} blocks with {width} number{'s' if width > 1 else ''} each do not do at epsilon {show(epsilon)}; ask "
        f"for at least {least_blocks(width, epsilon)} blocks, a larger epsilon, or fewer numbers (names=)"
    )


def mostly_failed(count: int, blocks: int) -> str:
    """A refusal by a noisy count."""
    return (
        f"about {max(count, 0)} of {blocks} blocks gave an estimate (a noisy number): too few; try the estimator on "
        "made-up rows of a block's size, ask for fewer blocks, or for more seconds"
    )
