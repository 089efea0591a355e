"""The lectures' own estimators of a normal mean, corrected: baselines, and sound mechanisms in their own right.

Releases
    ClippedMean: the noisy mean of values clipped to [-T, T] around a public centre, or left out beyond it. CoarseMean:
    the middle of the fullest of public bins. TwoStageMean: that, then the noisy mean clipped around it. StabilityMean:
    the same with unknown bins.
Promise
    [normal_means.1] ClippedMean: pure epsilon, one stage, whether what is far is clipped or left out.
    [normal_means.2] TwoStageMean: pure epsilon in two halves.
    [normal_means.3] StabilityMean: (epsilon, delta), half of epsilon and all of delta in the first stage.
    [normal_means.4] CoarseMean: pure epsilon, the first of the two stages by itself.
    [normal_means.5] CoarseMean and TwoStageMean refuse, by public numbers and before any draw, where noise would fill
          another bin more than one in a hundred times: a centre that is not the data's, with a confident interval.
Why
    [normal_means.1] [clip.1]; a value beyond T becomes the centre first, each by itself, which is public.
    [normal_means.2] Each record is in one bin, so replacing it moves the counts by 2 in L1:
    [additive.1] of noise/additive.py; the fullest noisy bin is post-processing; given it, [clip.1]. The lecture's
    corollary needs scale 2/epsilon here, and its partition 2 R / sigma bins and two tails. [normal_means.4] As its
    first stage. [normal_means.3] [threshold.3], then [clip.1].
    [normal_means.5] A normal variable is in one of the bins of its standard deviation's width with a chance of 0.341 or
    more: of n records at least t are there, three deviations off. Of B other bins one is noisier by t with a chance of
    at most B exp(-t / b) (1 + t / 2b) / 2, b the scale of the noise, by a union.
Needs
    REPLACE: all of them divide by a public n. |mu - centre| <= reach and sigma, both public.
    `check` says whether n is enough: n epsilon of about 12 log(1000 reach / sigma) for TwoStageMean.
Accuracy
    ClippedMean: noise 2 T / (n epsilon), T = reach + sigma sqrt(2 ln(2 n / 0.01)). TwoStage and Stability: the same
    with sigma (6 + sqrt(2 ln(2 n / 0.01))) for T and half the epsilon. CoarseMean: within 5 sigma.
Source
    The lectures' Lemma 2.2, Corollary 2.4, Theorem 2.5 and Theorem 2.8 with the errata's constants.
"""

import math
from collections import Counter
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Final, Literal

import numpy as np
import numpy.typing as npt

from discreet.accounting.allocation import Allocation, Share
from discreet.errors import BadInput, Refused
from discreet.noise.threshold import threshold_for
from discreet.privacy.exact import Number, exact, is_number, least_whole, show
from discreet.privacy.guarantee import Neighbours, check_budget
from discreet.privacy.loss import Approximate, Laplace, Loss
from discreet.privacy.mechanism import Randomness, promised, refusal_of, what_to_do
from discreet.privacy.release import Provenance, Release
from discreet.stages.clip import charged, noisy_moment
from discreet.stages.normal_laplace import ConvolvedSpread, DeclaredSpread
from discreet.tables.entries import numbers, public_size

FAILURE: Final = 0.01  # the chance that clipping touches anybody, in the lectures' bounds
MOST_BINS: Final = 10**7
HALF: Final = Fraction(1, 2)
Floats = npt.NDArray[np.float64]
Far = Literal["clip", "remove"]


def counted(epsilon: Fraction) -> Approximate:
    """What Laplace noise on counts costs: their steps are too few for its curve ([additive.1])."""
    return Approximate(epsilon, 0)


def positive(name: str, value: object) -> float:
    """A public number above 0."""
    if not is_number(value) or not 0 < value < 1e150:  # type: ignore[operator]
        raise BadInput(f"{name} is {value!r}; this method needs a public {name}, a number above 0")
    return float(value)  # type: ignore[arg-type]


def check_centre(value: object) -> None:
    """The middle of the public interval that holds the mean."""
    if not is_number(value) or not abs(value) < 1e150:  # type: ignore[arg-type]
        raise BadInput(f"centre is {value!r}; give the middle of the public interval that holds the mean")


def is_found(count: float, share: float, bins: int, noise: float, failure: float) -> bool:
    """Whether the bin with this share of so many records is the fullest noisy one. [normal_means.5]"""
    least = (share * count - 3 * math.sqrt(count * share * (1 - share))) / noise
    return least > 0 and math.log(bins / 2 * (1 + least / 2)) - least <= math.log(failure)


def check_found(mechanism: Any, size: int | None) -> None:
    """Refused where so many records would often be looked for in the wrong place. [normal_means.5]"""
    if size is None or mechanism.finds(size):
        return
    high = 2 * max(size, 1)
    while not mechanism.finds(high):
        high *= 2
    needed = least_whole(mechanism.finds, high // 2, high)
    to_do = what_to_do(size, mechanism.epsilon, needed, "declare a smaller reach", noisy=False, scales=False)
    words = "are too few to find the fullest of so many bins: noise would often fill another; about"
    raise Refused(f"{size} rows at epsilon {show(mechanism.epsilon)} {words} {needed} are needed. Please {to_do}")


def _places(values: Floats, width: float, most: int) -> npt.NDArray[np.int64]:
    """The bin floor(x / width) of each record, cut to +-most; missing ones in bin 0."""
    with np.errstate(all="ignore"):
        scaled = np.nan_to_num(np.floor(values / width), nan=0.0, posinf=most, neginf=-most - 1)
    places: npt.NDArray[np.int64] = np.clip(scaled, -most - 1, most).astype(np.int64)
    return places


def last_radius(size: int, sigma: float, reach: float | None = None) -> float:
    """How far from the centre values are kept: no standard normal of n is larger, up to FAILURE."""
    longest = math.sqrt(2 * math.log(2 * size / FAILURE))
    return (6 * sigma if reach is None else reach) + sigma * longest


def _last_stage(
    values: Floats,
    rng: Randomness,
    *,
    centre: float,
    sigma: float,
    cost: Laplace,
    reach: float | None = None,
    far: Far = "clip",
) -> ConvolvedSpread:
    """centre + noisy mean of clip(x - centre, +-radius), the mean within `reach` of the centre. [normal_means.1]"""
    size = len(values)
    radius = last_radius(size, sigma, reach)
    if far == "remove":
        with np.errstate(all="ignore"):
            values = np.where(np.abs(values - centre) <= radius, values, centre)  # [normal_means.1]
    near: dict[str, Any] = {"centre": centre, "radius": radius, "neighbours": Neighbours.REPLACE, "rng": rng}
    found = noisy_moment(values, cost=cost, **near)  # [normal_means.1]
    return ConvolvedSpread(
        centre + found.total * radius / size, sampling=sigma / math.sqrt(size), laplace=found.noise * radius / size
    )


@dataclass(frozen=True, slots=True)
class ClippedMean:
    """Lemma 2.2: clip to what a normal with |mu - centre| <= reach can produce, or leave out what is beyond it."""

    reach: float
    sigma: float
    epsilon: Number
    unit: str = "row"
    _: KW_ONLY
    centre: float = 0.0
    far: Far = "clip"
    neighbours: ClassVar[Neighbours] = Neighbours.REPLACE

    def __post_init__(self) -> None:
        check_budget(self.epsilon, 0, None)
        positive("reach", self.reach)
        positive("sigma", self.sigma)
        check_centre(self.centre)
        if self.far not in ("clip", "remove"):
            raise BadInput(f"far is {self.far!r}; give 'clip', or 'remove' as the lecture does")

    guarantee = promised

    @property
    def loss(self) -> Loss:
        """One Laplace draw."""
        return charged(Laplace(self.epsilon))

    def release(self, rows: Any, rng: Randomness) -> Release[float]:
        """The noisy clipped mean."""
        values = numbers(rows)
        size = public_size(values, Neighbours.REPLACE) or 1
        cost = Laplace(self.epsilon)
        near: dict[str, Any] = {"centre": float(self.centre), "reach": self.reach, "far": self.far}
        spread = _last_stage(values, rng, sigma=self.sigma, cost=cost, **near)
        return released_mean(self, spread, rng, size)


@dataclass(frozen=True, slots=True)
class CoarseMean:
    """Corollary 2.4: the middle of the fullest bin of width sigma, within 5 sigma of the mean."""

    reach: float
    sigma: float
    epsilon: Number
    unit: str = "row"
    _: KW_ONLY
    centre: float = 0.0
    neighbours: ClassVar[Neighbours] = Neighbours.REPLACE

    def __post_init__(self) -> None:
        check_budget(self.epsilon, 0, None)
        check_centre(self.centre)
        if 2 * positive("reach", self.reach) / positive("sigma", self.sigma) > MOST_BINS:
            raise BadInput(
                f"reach / sigma is {self.reach / self.sigma:.3g}; above {MOST_BINS / 2:g} give a smaller "
                "interval, or use the stability mean (method='stability'), which needs none"
            )

    guarantee = promised

    @property
    def loss(self) -> Loss:
        """Counts."""
        return counted(exact(self.epsilon))  # [normal_means.4]

    def finds(self, size: int) -> bool:
        """Whether the fullest bin will be the data's. Public."""
        bins = 2 * math.ceil(self.reach / self.sigma) + 2
        return is_found(size, 0.341, bins, 2 / float(self.epsilon), FAILURE)

    check = check_found  # [normal_means.5]

    def release(self, rows: Any, rng: Randomness) -> Release[float]:
        """The middle of the bin, or a refusal."""
        values = numbers(rows)
        size = public_size(values, Neighbours.REPLACE) or 1
        if refusal := refusal_of(self, size):  # [normal_means.5]
            return refused_mean(self, refusal, rng, size)
        found = self.found(values, rng)  # [normal_means.4]
        note = f"within 5 sigma, {show(5 * self.sigma)}, of a normal mean, but for a chance of 1%"
        history = history_of(self, rng, size)
        return Release(self.guarantee, replace(history, notes=(note,)), found, name="mean, coarsely")

    def found(self, values: Floats, rng: Randomness) -> float:
        """The middle of the fullest noisy bin, of width sigma, over the interval with two tails."""
        with np.errstate(all="ignore"):  # numpy would warn of a signalling NaN
            near = values - float(self.centre)
        return float(self.centre) + fullest(near, self.sigma, self.reach, self.epsilon, rng)


def fullest(values: Floats, width: float, reach: float, epsilon: Number, rng: Randomness) -> float:
    """The middle of the fullest noisy bin, of this width, over [-reach, reach] with two tails."""
    most = math.ceil(reach / width)
    counts = np.bincount(_places(values, width, most) + most + 1, minlength=2 * most + 2)
    noisy = rng.blur(counts.astype(np.int64), sensitivity=2, cost=Laplace(epsilon))  # [normal_means.2]
    return (int(np.argmax(noisy)) - most - 1 + 0.5) * width


@dataclass(frozen=True, slots=True)
class TwoStageMean:
    """Theorem 2.5: find the fullest bin of width sigma, then clip around it."""

    reach: float
    sigma: float
    epsilon: Number
    unit: str = "row"
    _: KW_ONLY
    centre: float = 0.0
    neighbours: ClassVar[Neighbours] = Neighbours.REPLACE

    def __post_init__(self) -> None:
        check_budget(self.epsilon, 0, None)
        self.first  # noqa: B018  what it refuses, this does

    guarantee = promised

    @property
    def loss(self) -> Loss:
        """Counts, then a sum."""
        return charged(self.stages.loss)  # [normal_means.2]

    @property
    def stages(self) -> Allocation:
        """Half for each. [normal_means.2]"""
        return Allocation.of(self.epsilon).split(counts=Share(HALF, counted), mean=Share())

    @property
    def first(self) -> CoarseMean:
        """The stage that finds the place."""
        epsilon = self.stages.part("counts", Approximate).epsilon  # [normal_means.2]
        return CoarseMean(self.reach, self.sigma, epsilon, self.unit, centre=self.centre)

    def finds(self, size: int) -> bool:
        """Whether the fullest bin will be the data's. Public."""
        return self.first.finds(size)

    check = check_found  # [normal_means.5]

    def release(self, rows: Any, rng: Randomness) -> Release[float]:
        """The two stages, or a refusal."""
        values = numbers(rows)
        size = public_size(values, Neighbours.REPLACE) or 1
        if refusal := refusal_of(self, size):  # [normal_means.5]
            return refused_mean(self, refusal, rng, size)
        centre = self.first.found(values, rng)  # [normal_means.2]
        cost = self.stages.part("mean", Laplace)
        spread = _last_stage(values, rng, centre=centre, sigma=self.sigma, cost=cost)
        return released_mean(self, spread, rng, size)


@dataclass(frozen=True, slots=True)
class StabilityMean:
    """Theorem 2.8: as the two-stage mean, with no bound on the mean at all."""

    sigma: float
    epsilon: Number
    delta: Number
    unit: str = "row"
    neighbours: ClassVar[Neighbours] = Neighbours.REPLACE

    def __post_init__(self) -> None:
        check_budget(self.epsilon, self.delta, 1)
        positive("sigma", self.sigma)
        if not 0 < self.delta <= -math.expm1(-float(self.epsilon) / 4):
            raise BadInput(f"delta is {self.delta!r}; this method needs delta above 0, about 1e-6")

    guarantee = promised

    @property
    def loss(self) -> Loss:
        """Unknown bins, then a sum."""
        return charged(self.stages.loss)  # [normal_means.3]

    @property
    def stages(self) -> Allocation:
        """Half for each, and delta for the bins. [normal_means.3]"""
        bins = Share(HALF, lambda size: Approximate(size, self.delta))
        return Allocation.of(self.epsilon).split(bins=bins, mean=Share())

    def release(self, rows: Any, rng: Randomness) -> Release[float]:
        """The two stages; a refusal if no bin reaches the threshold."""
        values = numbers(rows)
        size = public_size(values, Neighbours.REPLACE) or 1
        check_budget(self.epsilon, self.delta, size)
        stages = self.stages
        first = exact(stages.part("bins", Approximate).epsilon)
        threshold = threshold_for(2, first, self.delta)
        counts = Counter(_places(values, self.sigma, 2**52).tolist())
        # [normal_means.3]
        shown = rng.sift(counts, sensitivity=2, cost=Laplace(first), above=threshold, delta=self.delta)
        if not shown:
            needed = f"no bin of width sigma holds {threshold} rows for sure; give more rows or a larger epsilon"
            return refused_mean(self, needed, rng, size)
        centre = (float(next(iter(shown))) + 0.5) * self.sigma  # type: ignore[arg-type]
        spread = _last_stage(values, rng, centre=centre, sigma=self.sigma, cost=stages.part("mean", Laplace))
        return released_mean(self, spread, rng, size)


def history_of(mechanism: Any, rng: Randomness, size: int) -> Provenance:
    """What is public of a release."""
    public = {
        name: getattr(mechanism, name) for name in mechanism.__slots__ if name not in ("epsilon", "delta", "unit")
    }
    return Provenance(type(mechanism).__name__, public | {"rows": size}, rng.secure)


def refused_mean(mechanism: Any, refusal: str, rng: Randomness, size: int) -> Release[float]:
    """No answer, and why: by public numbers."""
    return Release(mechanism.guarantee, history_of(mechanism, rng, size), refusal=refusal, name="mean")


def released_mean(
    mechanism: Any, spread: ConvolvedSpread | DeclaredSpread, rng: Randomness, size: int
) -> Release[float]:
    """An answer, which says whose estimator it is."""
    note = f"a lecture's estimator, kept for comparison; noise of standard deviation {show(spread.privacy)}"
    history = replace(history_of(mechanism, rng, size), notes=(note,))
    return Release(mechanism.guarantee, history, spread.estimate, spread=spread, name="mean")
