"""The mean of blocks' estimates, one coordinate at a time: find the place, find the scale, clip wide, average.

Releases
    A noisy number of blocks that gave an estimate. Then for each coordinate a median c and a scale s by the exponential
    mechanism over float64, and the noisy sum of clip(y - c, +-3.5 s). The answer is c plus that sum over the number of
    estimates. BlockMedian: for each coordinate the two ends of an interval around the median estimate, and
    what statistics/quantile.py needs for them; the value is their middle.
Promise
    [coordinatewise.1] Pure epsilon if one estimate (one row, all coordinates) is replaced by any other or by none, the
          number of blocks being public; or, if delta > 0 and the predicted error is smaller, (epsilon, delta) by stages
          that add up in zCDP. The release's guarantee says which.
    [coordinatewise.2] Refusals and the choice of the stages read public numbers and earlier answers only.
    [coordinatewise.3] The interval of each coordinate is for the estimator's mean on samples of a block's size: for the
          population quantity if the bias left within blocks is small against it. Each holds by itself, not all at once.
    [coordinatewise.4] BlockMedian: pure epsilon for the same change, epsilon / d for each of the d coordinates.
    [coordinatewise.5] BlockMedian: the interval is for the median of the estimator's distribution on a block: for the
          population quantity if the estimator is as often too large as too small.
Why
    [coordinatewise.1] The count moves by at most 1: [additive.1]. A row that is not finite is turned, by its number and
    never by its neighbours', into plus or minus the largest float for the median, into far or near for the scale, and
    into 0 for the sum. So each coordinate is a column of as many records as there are blocks, one of which is replaced;
    then [locate.1] and [clip.1]. All stages compose adaptively: epsilon / 20 for the
    count, the rest in equal parts to the coordinates, as epsilons or as rho ([allocation.1], [allocation.2]).
    [coordinatewise.2] The number of blocks is public. The noisy count and the scales are released before they decide.
    [coordinatewise.3] The blocks are independent samples, so the mean of K estimates has the standard error s /
    sqrt(K); s is found with a relative error that Student's factor allows for; the noise is known; the noisy count
    moves the answer by (answer - c) dK / K. Blocks without an estimate put the same weight on both sides of the median
    and of the scale, so that neither moves, and the smaller K widens the interval.
    [coordinatewise.4] A block without an estimate stands at plus or minus the largest float, by its number alone; then
    [quantile.2] of statistics/quantile.py and composition ([allocation.1]).
    [coordinatewise.5] [quantile.4]: blocks are independent and alike. Those without an estimate stand on both sides
    alike and push the ends apart.
Needs
    Coordinates whose stages are strong enough: K e_1 of 42 for the place and K e_2 of 52 for the scale, which for one
    coordinate at delta = 0 is K epsilon of 157, for three 470 (with delta = 1e-6, where place and scale get what they
    need of rho, 324). Of so few blocks one coordinate in 100 is far off, with an interval as wide; from 1.5 times as
    many on none was of 900. Estimates that do not coincide: else vote.
    BlockMedian: K epsilon / d of 183 or so ([quantile.6]). An estimator that is skewed within blocks has a median off
    its mean by about skewness * sd / 6: then prefer the mean.
Accuracy
    Noise of scale 7 s / (K e_3), e_3 from 0.24 epsilon (K epsilon = 200) to 0.76 epsilon for one coordinate; at K = 400
    and epsilon = 1 the interval is 1.4 times as wide as without noise.
    The median is about as exact at K epsilon = 400: no clip, no scale to fail.
Source
    Smith 2011; the normal model's stages of statistics/normal.py without its inversion, which would bring back a bias
    from skewed estimates that the correction within the blocks removed. BlockMedian: Kuchibhotla,
    Balakrishnan and Wasserman 2024 (HulC), with a private rank interval in place of minimum and maximum.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt

from discreet.accounting.allocation import Allocation, Share
from discreet.errors import BadInput, Refused
from discreet.privacy.exact import Number, exact, least_whole, show
from discreet.privacy.guarantee import Guarantee, Neighbours, check_budget
from discreet.privacy.intervals import QuantileSpread
from discreet.privacy.loss import Choice, Gaussian, Laplace, Loss, compose
from discreet.privacy.mechanism import Randomness, promised, refusal_of
from discreet.privacy.release import Provenance, Release
from discreet.stages.clip import charged, concentrated, enough, noisy_moment, noisy_size, unit_variance
from discreet.stages.declared import LARGEST, SMALLEST
from discreet.stages.locate import median_distance, middle
from discreet.stages.normal_laplace import ConvolvedSpread, EstimateSpread
from discreet.stages.normal_stages import QUARTILE, freedom
from discreet.statistics.normal import LOCATE, MOST_CENTRE, MOST_SCALE, SCALE
from discreet.statistics.quantile import Quantile
from discreet.statistics.quantile_cells import MAX

REACH: Final = 3.5  # the clip, in standard deviations: wide, as there is no inversion
COUNTING: Final = Fraction(1, 20)  # of epsilon, for how many blocks gave an estimate
PLACES, SCALES = 80, 72  # blocks times epsilon with which a place up to 1,000 deviations from 0 is missed once in
# 1,000 runs, and a scale between 1e-6 and 1e6 never was in 6,000
SWAP: Final = Neighbours.REPLACE
Shares = tuple[Fraction, Fraction, Fraction]  # of rho: place, scale, mean
SHARES: Final[Shares] = (Fraction(12, 100), Fraction(13, 100), Fraction(3, 4))  # where blocks are many
SPARE: Final = 1.05  # times the nats that place and scale need: at least
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
        pure = isinstance(self.stages["mean"], Laplace)
        return Guarantee(self.epsilon, 0.0 if pure else self.delta, SWAP, "estimate")

    @property
    def counting(self) -> Laplace:
        """What the number of estimates costs."""
        return Laplace(exact(self.epsilon) * COUNTING)

    @property
    def count_deviation(self) -> float:
        """The standard deviation of the noisy number of estimates."""
        return math.sqrt(2) / float(self.counting.epsilon)

    @property
    def stages(self) -> Allocation:
        """What each coordinate costs. [coordinatewise.2]"""
        return planned_stages(self.blocks, self.width, exact(self.epsilon), exact(self.delta))

    @property
    def loss(self) -> Loss:
        """The count, and every draw for every coordinate."""
        return compose(charged(self.counting), charged(self.stages.loss))  # [coordinatewise.1]

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
        even = np.arange(self.blocks) % 2 == 0
        ranked = np.where(none, np.where(even, MAX, -MAX), values)  # [coordinatewise.1]
        centre = middle(ranked, cost=stages.part("centre", Choice), neighbours=SWAP, rng=rng)
        far = np.where(none & even, np.inf, values)  # [coordinatewise.1]: the others count as near
        scale_cost, cost = stages.part("scale", Choice), stages.noise("mean")
        scale = median_distance(far, centre=centre, cost=scale_cost, neighbours=SWAP, rng=rng) / QUARTILE
        if not SMALLEST < scale < LARGEST:
            return (
                "the estimates of half of the blocks seem to coincide, or to be beyond all bounds: their mean has no "
                "scale to clip at; for whole numbers and labels use aggregator='vote' with labels="
            )
        radius = REACH * scale
        found = noisy_moment(
            values, centre=centre, radius=radius, cost=cost, neighbours=SWAP, rng=rng
        )  # [coordinatewise.1]: NaN counts as 0
        offset, noise = found.total * radius / usable, found.noise * radius / usable
        gaussian = isinstance(cost, Gaussian)
        counted = math.sqrt(2) / (float(self.counting.epsilon) * usable) if usable < self.blocks else 0.0
        return ConvolvedSpread(
            centre + offset,
            sampling=scale / math.sqrt(usable),
            laplace=0.0 if gaussian else noise,
            normal_noise=math.hypot(noise if gaussian else 0.0, abs(offset) * counted),
            freedom=freedom(self.blocks, stages, SWAP),
            about="the population's quantity",
        )  # [coordinatewise.3]


@lru_cache(maxsize=256)
def planned_stages(blocks: int, width: int, epsilon: Fraction, delta: Fraction) -> Allocation:
    """What each coordinate costs: pure or concentrated, whichever has less noise. Public. [coordinatewise.2]"""
    rest = epsilon * (1 - COUNTING)
    each = rest / width
    pure = Allocation.of(rest).split(
        centre=Share(enough(PLACES, blocks, each, Fraction(1, 10), MOST_CENTRE), Choice, width),
        scale=Share(enough(SCALES, blocks, each, Fraction(1, 10), MOST_SCALE), Choice, width),
        mean=Share(times=width),
    )  # [coordinatewise.1]
    # [coordinatewise.1]
    parts = [SHARES, found] if (found := _fitted_shares(blocks, width, rest, delta)) else [SHARES]
    others = [concentrated(rest, delta, centre=c, scale=s, mean=m, times=width) for c, s, m in parts]
    able = [stages for stages in (pure, *others) if stages is not None and strong(stages, blocks)]
    return min(able, key=lambda stages: noise_deviation(stages, blocks), default=pure)


def _fitted_shares(blocks: int, width: int, rest: Fraction, delta: Fraction) -> Shares | None:
    """Shares of rho with which place and scale are found: surely, if half of it does, else just. None where they leave
    less than a fifth. Public."""
    whole = Allocation.concentrated(rest, delta) if delta else None
    if whole is None:
        return None

    def shares(place: float, scale: float) -> Shares:
        centre, spread = (
            Fraction(math.ceil(1000 * width * (nats / (2 * blocks)) ** 2 / float(whole.square)), 1000)
            for nats in (place, scale)
        )  # Choice(e) has a mu of e / 2
        return centre, spread, 1 - centre - spread

    sure = shares(PLACES, SCALES)
    part = math.sqrt(min(1.0, 0.5 / float(1 - sure[2])))
    found = shares(max(part * PLACES, SPARE * LOCATE), max(part * SCALES, SPARE * SCALE))
    return found if found[2] >= Fraction(1, 5) else None


def strong(stages: Allocation, blocks: int) -> bool:
    """Whether the first two stages will find their place."""
    least = {"centre": LOCATE, "scale": SCALE}
    return all(blocks * float(stages.part(name, Choice).epsilon) >= nats for name, nats in least.items())


def noise_deviation(stages: Allocation, blocks: int) -> float:
    """The standard deviation of the noise on the mean, in standard deviations of one estimate."""
    return REACH * math.sqrt(unit_variance(stages.noise("mean"), blocks, SWAP))


def least_blocks(width: int, epsilon: Number, delta: Number = 0.0) -> int:
    """The fewest blocks from which on there is an answer. Public. [coordinatewise.2]"""

    def does(blocks: int) -> bool:
        return BlockMean(blocks, width, epsilon, delta).feasible

    low, high = 1, 2
    while not does(high):
        low, high = high, 2 * high
    return least_whole(does, low, high)


def too_few(blocks: int, width: int, epsilon: Number) -> str:
    """A refusal in public numbers."""
    return (
        f"{blocks} blocks are too few for {width} number{'s' if width > 1 else ''} at epsilon {show(epsilon)}; ask "
        f"for at least {least_blocks(width, epsilon)} blocks, a larger epsilon, or fewer numbers (names=)"
    )


def mostly_failed(count: int, blocks: int) -> str:
    """A refusal by a noisy count."""
    return (
        f"about {max(count, 0)} of {blocks} blocks gave an estimate (a noisy number): too few; try the estimator on "
        "made-up rows of a block's size, ask for fewer blocks, or for a longer timeout"
    )


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
        shares = Allocation.of(self.epsilon).split(each=Share(cost=Choice, times=self.width))
        cost = shares.part("each", Choice).epsilon
        return Quantile(0.5, cost, confidence=self.confidence, granularity=0)  # [coordinatewise.4]

    @property
    def loss(self) -> Loss:
        """Every coordinate's."""
        return compose(*[self.each.loss] * self.width)  # [coordinatewise.4]

    def check(self, size: int | None) -> None:  # noqa: ARG002  the number of blocks is declared
        """Refused, by public numbers, where the quantile of so many estimates is."""
        if hasattr(self.each, "check") and (refusal := refusal_of(self.each, self.blocks)) is not None:
            words = refusal.replace(" rows", " blocks").replace("bring ", "ask for ")  # each of its rows is a block's
            raise Refused(f"the median of the blocks' estimates: {words}")

    def release(self, rows: Any, rng: Randomness) -> Release[Floats]:
        """The medians and their intervals, or a refusal."""
        table = np.asarray(rows, dtype=np.float64).reshape(self.blocks, self.width)
        none = ~np.isfinite(table).all(axis=1)
        sides = np.where(np.arange(self.blocks) % 2 == 0, MAX, -MAX)  # [coordinatewise.4]
        shown = {"blocks": self.blocks, "confidence": self.confidence}
        blank: Release[Floats] = Release(self.guarantee, Provenance("BlockMedian", shown, rng.secure), name="estimate")
        answers: list[float] = []
        spreads: list[QuantileSpread] = []
        for place in range(self.width):
            one = self.each.release(np.where(none, sides, table[:, place]), rng)  # [coordinatewise.4]
            if one.refusal is not None or not isinstance(one.spread, QuantileSpread):
                return replace(blank, refusal=f"the median of {self.blocks} blocks' estimates: {one.refusal}")
            answers.append(one.value)
            # [coordinatewise.5]
            spreads.append(replace(one.spread, about="the population's quantity", sampling=None, privacy=None))
        return replace(blank, answer=np.array(answers), spread=EstimateSpread(tuple(spreads)))
