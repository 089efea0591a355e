"""The mean of blocks' estimates in R^d: a scale for each coordinate from pairs, then FriendlyCore on all at once.

Releases
    A noisy number of blocks that gave an estimate; for each coordinate, or if scales are declared for all together, the
    noisy histogram of the exponents of |y - y'| over disjoint pairs of blocks; then what RefinedMean of
    friendly/refine.py releases of the estimates divided by the scales that were read off: with a known scale if hardly
    any block seems to be without an estimate, else with an unknown one. The answer is its answer times the scales.
Promise
    [friendly_aggregate.1] (epsilon, delta) if one estimate (one row, all coordinates) is replaced by any other or by
          none, the number of blocks being public.
    [friendly_aggregate.2] Refusals, the scales and the shares of the stages read public numbers and earlier answers
    only.
    [friendly_aggregate.3] The interval of each coordinate is for the estimator's mean on samples of a block's size,
          estimates far from the others tapered: for the population quantity if the bias left within blocks is small
          against it.
Why
    [friendly_aggregate.1] A row that is not finite is made all NaN, by itself. The count moves by at most 1. The order
    of pairs is drawn without a look at the rows, so one row is in one pair, and in each coordinate one count of a fixed
    list of bins falls by 1 and one rises: [radius.1]. Which scales are read off the noisy counts is post-processing.
    Divided by released numbers, the rows still differ in one row: [refine.1] under REPLACE. The squares of mu of all
    stages sum to at most mu^2, as exact fractions, and add up adaptively ([filter.3]); the slacks and the one event of
    RefinedMean are kept from delta first: [allocation.2].
    [friendly_aggregate.2] As the code reads: the plan takes the blocks, the width, epsilon and delta, and the noisy
    count.
    [friendly_aggregate.3] [refine.4]. A block without an estimate is a row that lies nowhere: it is in no radius and in
    no sum, and the answer is divided by a released number of rows within reach.
Needs
    delta > 0, and at epsilon = 1 and delta = 1e-6 at least 600 blocks for 5 numbers (426 with declared scales), growing
    like the square root of the width with private scales and hardly with declared ones. Up to a fifth of the blocks may
    fail, more where there are more blocks. Estimates that do not coincide: else vote. Tails no heavier than those of
    Student's distribution with 5 degrees of freedom: with 3, 95% intervals were seen to hold 91%, and with 1 it
    often refuses.
Accuracy
    That of a Gaussian mechanism which clips all coordinates together, at about 1.4 (sqrt(d) + 2) deviations: far, for
    outcomes with a long tail make skewed estimates. For 5 numbers, 1,000 blocks, epsilon = 1 and delta = 1e-6 intervals
    are 2.2 times as wide as without noise, with declared scales 2.0 times (coordinatewise 2.9). Scales are
    read off within a third or so, by a matched filter for the exponents of a normal's pair differences.
Source
    Tsfadia, Cohen, Kaplan, Mansour and Stemmer 2022 (FriendlyCore); Karwa and Vadhan 2018 (scales from pairs); Nissim,
    Raskhodnikova and Smith 2007.
"""

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt

from discreet.accounting.allocation import Allocation, Share
from discreet.errors import BadInput, Refused
from discreet.friendly import radius as plan
from discreet.friendly.average import RegionSpread, blurred, noisy_count
from discreet.friendly.core import shuffled
from discreet.friendly.radius import LOWEST, NONE, ZERO, pair_bins, r_clip
from discreet.friendly.refine import DRAWS, RefinedMean, refined_budget
from discreet.privacy.exact import Number, bisect, exact, is_number, least_whole, show
from discreet.privacy.guarantee import check_budget
from discreet.privacy.loss import Gaussian, Loss
from discreet.privacy.mechanism import Randomness, promised, refusal_of
from discreet.privacy.release import Provenance, Release
from discreet.stages.declared import LARGEST, SMALLEST
from discreet.subsample.coordinatewise import SWAP, mostly_failed

COUNTING: Final = Fraction(1, 25)  # of mu squared, for how many blocks gave an estimate
MOST_SCALES: Final = 0.4  # of mu squared, for all scales together
MOST_FAILED: Final = 0.6  # the same where many blocks have no estimate
SEEN, COMFORT = 9.0, 0.25  # noise deviations by which a scale should stand out, up to this share of mu squared
BARELY: Final = 6.5  # and at least
USUAL, CLEAR = 3.8, 4.6  # those that are enough for a scale within 2^64 of 1, and for any other
BEYOND: Final = 0.003  # of normal estimates, tapered; of skewed ones, as outcomes with a long tail make them, far more
SPARE: Final = 1.4  # times the scales that were read off, which may be too small by a third, for clip and interval
GOOD: Final = 0.92  # the noisy share of blocks with an estimate, below which scales get more of the budget
SURE: Final = 3.0  # deviations of the noisy count by which blocks may seem to be missing where none is
FINE: Final = 8  # places of a scale in an octave
MANY: Final = 1 << 20  # blocks: where these are too few, more are too, as a scale is read off so many pairs at most
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class BlockFriends:
    """The mean of `blocks` estimates with `width` coordinates each; rows with NaN are blocks without an estimate.

    `scales` are public deviations that estimates are known to have, up to a common factor; without them they are found.

    >>> from discreet.noise.randomness import Seeded
    >>> rows = [[math.sin(k), 1000 * math.cos(k), math.sin(k / 7)] for k in range(1000)]
    >>> release = BlockFriends(1000, 3, epsilon=2.0, delta=1e-6).release(rows, Seeded(1))
    >>> bool(abs(release.value[0]) < 0.5), release.interval().low.shape
    (True, (3,))
    """

    blocks: int
    width: int
    _: KW_ONLY
    epsilon: Number
    delta: Number
    scales: tuple[float, ...] | None = None
    neighbours: ClassVar = SWAP
    unit: ClassVar[str] = "estimate"

    def __post_init__(self) -> None:
        if self.blocks < 1 or self.width < 1:
            raise BadInput(f"{self.blocks} blocks of {self.width} numbers; both must be 1 or more")
        check_budget(
            self.epsilon, self.delta, self.blocks
        )  # as RefinedMean does, which runs when noise is drawn already
        if not self.delta:
            raise BadInput("delta is 0; aggregator='friendly' needs delta above 0, for example 1e-6")
        if self.scales is not None and (
            len(self.scales) != self.width or not all(is_number(s) and 1e-100 < s < 1e100 for s in self.scales)
        ):
            raise BadInput(f"scales is {self.scales!r}; give {self.width} positive numbers, or None")
        RefinedMean(self.epsilon, self.delta, dimension=self.width)  # what it refuses is refused here

    guarantee = promised

    @property
    def stages(self) -> "FriendlyStages":
        """What each stage costs. [friendly_aggregate.2]"""
        return shared(self.blocks, self.width, exact(self.epsilon), exact(self.delta), private=self.scales is None)

    @property
    def count_deviation(self) -> float:
        """The standard deviation of the noisy number of estimates."""
        return 1 / float(self.stages.costs.part("count", Gaussian).mu)

    @property
    def loss(self) -> Loss:
        """All draws together. [friendly_aggregate.1]"""
        # [friendly_aggregate.1]
        return self.stages.costs.ceiling

    @property
    def feasible(self) -> bool:
        """Whether so many estimates will be found at this cost. Public."""
        inner = self.stages.inner
        if inner is None or plan.unknown_scale(self.blocks, self.width, float(inner.budget.amount), SWAP) is None:
            return False
        known = plan.known_scale(self.blocks, self.width, float(inner.budget.amount), float(inner.budget.event), SWAP)
        return known is not None

    @property
    def relative_error(self) -> float:
        """Expected width against that of the blocks' mean without noise. Public; infinite where not feasible."""
        inner = self.stages.inner
        if inner is None or not self.feasible:
            return math.inf
        known = plan.known_scale(self.blocks, self.width, float(inner.budget.amount), float(inner.budget.event), SWAP)
        assert known is not None
        radius = SPARE * r_clip(self.width, 0.0, BEYOND)
        return math.sqrt(
            1 + self.blocks * (2 * radius / (self.blocks * float(inner.budget.amount))) ** 2 / known["mean"]
        )

    def check(self, size: int | None) -> None:  # noqa: ARG002  the number of blocks is declared
        """Refused, by public numbers, if so many blocks do not do. [friendly_aggregate.2]"""
        if not self.feasible or self.stages.inner is None:
            raise Refused(self.too_few)

    def release(self, rows: Any, rng: Randomness) -> Release[Floats]:
        """The mean and its intervals, or a refusal."""
        table = np.asarray(rows, dtype=np.float64).reshape(self.blocks, self.width)
        stages = self.stages
        shown: dict[str, Any] = {"blocks": self.blocks, "costs": dict(stages.costs.shown)}
        blank: Release[Floats] = Release(self.guarantee, Provenance("BlockFriends", shown, rng.secure), name="estimate")
        if (refusal := refusal_of(self, self.blocks)) is not None:
            return replace(blank, refusal=refusal)
        given = np.asarray(np.isfinite(table).all(axis=1))
        table = np.where(given[:, None], table, np.nan)  # [friendly_aggregate.1]
        seen = round(noisy_count(int(given.sum()), stages.costs.part("count", Gaussian), rng))  # [friendly_aggregate.1]
        if 2 * seen <= self.blocks:  # [friendly_aggregate.2]
            return replace(blank, refusal=mostly_failed(seen, self.blocks))
        if seen < GOOD * self.blocks:  # more for the scales, as fewer pairs tell them
            good = Fraction(round(20 * seen / self.blocks), 20)
            private = self.scales is None
            paid = exact(self.epsilon), exact(self.delta)
            stages = shared(self.blocks, self.width, *paid, private=private, good=good)  # [friendly_aggregate.2]
            shown |= {"costs": dict(stages.costs.shown)}
        if stages.inner is None:
            return replace(blank, refusal=mostly_failed(seen, self.blocks))
        found = self._scales(table, stages.costs.part("scales", Gaussian), rng)
        if isinstance(found, str):  # [friendly_aggregate.2]
            return replace(blank, refusal=found)
        known = seen >= self.blocks - SURE / float(stages.costs.part("count", Gaussian).mu)  # [friendly_aggregate.2]
        mean = replace(stages.inner, beyond=BEYOND, sigma=SPARE if known else None)
        with np.errstate(all="ignore"):
            inner = mean.release(table / found, rng)  # [friendly_aggregate.1]
        if inner.refusal is not None:
            return replace(blank, refusal=f"of the blocks' estimates: {inner.refusal}")
        assert isinstance(inner.spread, RegionSpread)
        usable = max(1, min(seen, self.blocks))
        sampling = SPARE * found / math.sqrt(usable) if known else inner.spread.sampling * found
        costs = shown["costs"] | inner.provenance.parameters["costs"]
        return replace(
            blank,
            answer=inner.value * found,
            # [friendly_aggregate.3]
            spread=RegionSpread(inner.value * found, sampling, inner.spread.privacy * found, ABOUT),
            provenance=replace(
                blank.provenance,
                parameters=shown | {"costs": costs, "usable blocks, noisy": usable},
            ),
        )

    def _scales(self, table: Floats, cost: Gaussian, rng: Randomness) -> "Floats | str":
        """Each from a noisy histogram; or declared, their common factor from one histogram. [friendly_aggregate.1]"""
        pairs = table[np.asarray(shuffled(self.blocks, self.blocks // 2 * 2, rng))]
        given = np.ones(self.width) if self.scales is None else np.array(self.scales, dtype=np.float64)
        with np.errstate(all="ignore"):
            pairs /= given
        columns = [slice(None)] if self.scales is not None else [slice(j, j + 1) for j in range(self.width)]
        found = []
        for columns_here in columns:
            part = pairs[:, columns_here]
            counts = np.bincount(pair_bins(part), minlength=NONE + 1)
            noisy, deviation = blurred(counts, square=2, cost=cost, rng=rng)  # [friendly_aggregate.1]
            scale = read_scale(noisy, deviation, part.shape[1])
            if scale is None:  # [friendly_aggregate.2]
                return COINCIDE
            found.append(scale)
        return np.asarray(given * np.array(found))

    @property
    def too_few(self) -> str:
        """A refusal in public numbers."""
        needed = least_friends(self.width, self.epsilon, self.delta, self.scales is None)
        if needed is None:
            return f"no number of blocks is enough for a friendly mean at epsilon {show(self.epsilon)}; ask for more"
        declare = "" if self.scales is not None else ", declared scales (scales=)"
        return (
            f"{self.blocks} blocks are too few for a friendly mean of {self.width} number"
            f"{'s' if self.width > 1 else ''} at epsilon {show(self.epsilon)}; ask for at least {needed} "
            f"blocks{declare} or a larger epsilon"
        )


ABOUT: Final = "the population's quantity"
COINCIDE: Final = (
    "the estimates of many blocks seem to coincide in some coordinate, to be beyond all bounds, or to have no common "
    "scale; leave that number out (names=), or use aggregator='coordinatewise'"
)


@dataclass(frozen=True, slots=True)
class FriendlyStages:
    """The costs of the count and the scales, and the mean of all; no mean where too little is left."""

    costs: Allocation
    inner: RefinedMean | None


@lru_cache(maxsize=256)
def shared(
    blocks: int, width: int, epsilon: Fraction, delta: Fraction, *, private: bool = True, good: Fraction = Fraction(1)
) -> FriendlyStages:
    """mu squared, shared out by public numbers and the noisy share of `good` blocks. [friendly_aggregate.1],
    [friendly_aggregate.2]"""
    budget = refined_budget(epsilon, delta, DRAWS + width + 1)  # [friendly_aggregate.1]
    count = Share(COUNTING)
    many, across = (width, 1) if private else (1, width)
    most = MOST_SCALES if good == 1 else MOST_FAILED
    share = seen_share(blocks * good**2, many, float(budget.amount), most=most, across=across)
    if share is None:
        return FriendlyStages(budget.split(count=count), None)
    costs = budget.split(count=count, scales=Share(Fraction(share), times=many), mean=Share())
    left = exact(costs.part("mean", Gaussian).mu)
    return FriendlyStages(costs, _strong(RefinedMean(epsilon, delta, dimension=width, method="refine"), left))


def seen_share(blocks: Number, many: int, mu: float, *, most: float = MOST_SCALES, across: int = 1) -> float | None:
    """The share of mu squared with which so many scales will be seen; None if that is too much. Public.
    [friendly_aggregate.2]"""
    signal = float(np.linalg.norm(templates(across), axis=1).min()) * float(blocks) / 2
    whole = 2 * many / (max(signal, 1e-9) * mu) ** 2
    if BARELY**2 * whole > most:
        return None
    return max(BARELY**2 * whole, min(COMFORT, SEEN**2 * whole))


def _strong(model: RefinedMean, mu: Fraction) -> RefinedMean | None:
    """The same mechanism with no more than this mu: with a smaller epsilon, at the same delta.
    [friendly_aggregate.1]"""

    def too_strong(epsilon: float) -> bool:
        try:
            return replace(model, epsilon=epsilon).budget.amount > mu
        except BadInput:  # too small an epsilon for any noise
            return False

    try:
        found = replace(model, epsilon=bisect(too_strong, 0.0, float(model.epsilon), steps=40)[0])
    except BadInput:
        return None
    return found if found.budget.amount <= mu else None  # [friendly_aggregate.1]


@cache
def templates(across: int = 1) -> Floats:
    """The shares of octaves of |z| 2^(t + f / FINE), z standard normal of so many columns: 2^(t - 12) to 2^(t + 8)."""
    from scipy.stats import chi

    edges = 2.0 ** (np.arange(-12, 9)[None, :] - np.arange(FINE)[:, None] / FINE)
    return np.asarray(np.diff(chi.cdf(edges, across), axis=1))


def read_scale(noisy: Floats, deviation: float, across: int = 1) -> float | None:
    """The deviation of an estimate that fits noisy counts of exponents of differences best; None if none stands out."""
    shapes = templates(across) / np.linalg.norm(templates(across), axis=1, keepdims=True)
    scores = np.stack([np.correlate(noisy[:ZERO], shape, mode="valid") for shape in shapes], axis=1).ravel()
    exponents = np.arange(len(scores)) / FINE + 12 + LOWEST - 0.5  # a difference has sqrt 2 times the deviation
    bar = np.where(np.abs(exponents) <= 64, USUAL, CLEAR) * deviation
    best = int(np.argmax(scores - bar))
    if scores[best] < max(bar[best], float(noisy[ZERO])):
        return None
    scale = 2.0 ** float(np.clip(exponents[best], -1000, 1000))
    return scale if SMALLEST < scale < LARGEST else None


@lru_cache(maxsize=256)
def least_friends(width: int, epsilon: Number, delta: Number, private: bool = True) -> int | None:
    """The fewest blocks from which on there is an answer; None if MANY are not enough. Public.
    [friendly_aggregate.2]"""
    scales = None if private else (1.0,) * width
    most = min(MANY, math.floor(1 / (10 * float(delta))))  # beyond that delta is too large for so many blocks

    def does(blocks: int) -> bool:
        return BlockFriends(blocks, width, epsilon=epsilon, delta=delta, scales=scales).feasible

    low, high = 0, min(2, most)
    while not does(high):
        if high == most:
            return None
        low, high = high, min(2 * high, most)
    return least_whole(does, low, high)


def declared_scales(scales: Any, width: int) -> tuple[float, ...] | None:
    """Public deviations of the estimates, up to a common factor: one number for all that are alike, or one each."""
    if scales is None:
        return None
    each = [scales] * width if is_number(scales) else list(scales) if isinstance(scales, Sequence) else []
    if len(each) != width or not all(is_number(one) and 1e-100 < one < 1e100 for one in each):
        raise BadInput(f"scales is {scales!r}; give 1 if all numbers vary alike, {width} positive numbers, or None")
    return tuple(float(one) for one in each)
