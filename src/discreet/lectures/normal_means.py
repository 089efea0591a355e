"""The lectures' own estimators of a normal mean, corrected: baselines, and sound mechanisms in their own right.

Releases
    ClippedMean: the noisy mean of values clipped to [-T, T]. TwoStageMean: the fullest of public bins, then the noisy
    mean clipped around it. StabilityMean: the same with unknown bins. KarwaVadhan: an interval, sigma unknown.
Promise
    [normal_means.1] ClippedMean: pure epsilon, one stage.
    [normal_means.2] TwoStageMean: pure epsilon in two halves.
    [normal_means.3] StabilityMean: (epsilon, delta), half of epsilon and all of delta in the first stage.
    [normal_means.4] KarwaVadhan: pure epsilon, in shares 1/6, 1/6, 1/3, 1/3 for scale, place, mean and variance.
    [normal_means.5] TwoStageMean and KarwaVadhan refuse, by public numbers and before any draw, where noise would fill
          another bin more than one in a hundred times: a centre that is not the data's, with a confident interval.
Why
    [normal_means.1] [clip.1]. [normal_means.2] Each record is in one bin, so replacing it moves the counts by 2 in L1:
    [additive.1] of noise/additive.py; the fullest noisy bin is post-processing; given it, [clip.1]. The lecture's
    corollary needs scale 2/epsilon here, and its partition 2 R / sigma bins and two tails. [normal_means.3]
    [threshold.3], then [clip.1].
    [normal_means.4] Disjoint pairs: one record changes one difference, which is in one bin of powers of two: counts
    move by 2 in L1. Then places as [normal_means.2], the mean and the second moment as [clip.1].
    [normal_means.5] A normal variable is in one of the bins of its standard deviation's width with a chance of 0.341 or
    more, in one of the octaves of its differences with 0.288, and in one of twice the width, the least that KarwaVadhan
    finds, with 0.477: of n records at least t are there, three deviations off. Of B other bins one is noisier by t with
    a chance of at most B exp(-t / b) (1 + t / 2b) / 2, b the scale of the noise, by a union.
Needs
    REPLACE: all of them divide by a public n. |mu| <= reach and, but for KarwaVadhan, sigma, both public; KarwaVadhan a
    range for sigma. `check` says whether n is enough: n epsilon of about 12 log(1000 reach / sigma) for TwoStageMean.
Accuracy
    ClippedMean: noise 2 T / (n epsilon), T = reach + sigma sqrt(2 ln(2 n / 0.01)). TwoStage and Stability: the same
    with sigma (6 + sqrt(2 ln(2 n / 0.01))) for T and half the epsilon. KarwaVadhan: 13 to 80 times wider than the
    interval of statistics/normal.py.
Source
    The lectures' Lemma 2.2, Theorem 2.5 and Theorem 2.8 with the errata's constants; Karwa and Vadhan 2018, as
    replicated by Du et al. 2020.
"""

import math
from collections import Counter
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt

from discreet.accounting.allocation import Allocation, Share
from discreet.errors import BadInput, Refused
from discreet.noise.threshold import threshold_for
from discreet.privacy.exact import Number, exact, is_number, least_whole, show
from discreet.privacy.guarantee import check_budget
from discreet.privacy.intervals import check_confidence
from discreet.privacy.loss import Approximate, Laplace, Loss
from discreet.privacy.mechanism import Randomness, promised, refusal_of, what_to_do
from discreet.privacy.neighbours import Neighbours
from discreet.privacy.provenance import Provenance
from discreet.privacy.release import Release
from discreet.stages.clip import charged, noisy_moment
from discreet.stages.normal_laplace import ConvolvedSpread, DeclaredSpread
from discreet.tables.entries import numbers, public_size

FAILURE: Final = 0.01  # the chance that clipping touches anybody, in the lectures' bounds
MOST_BINS: Final = 10**7
HALF: Final = Fraction(1, 2)
Floats = npt.NDArray[np.float64]


def _counted(epsilon: Fraction) -> Approximate:
    """What Laplace noise on counts costs: their steps are too few for its curve ([additive.1])."""
    return Approximate(epsilon, 0)


def _positive(name: str, value: object) -> float:
    if not is_number(value) or not 0 < value < 1e150:  # type: ignore[operator]
        raise BadInput(f"{name} is {value!r}; this method needs a public {name}, a number above 0")
    return float(value)  # type: ignore[arg-type]


def _is_found(count: float, share: float, bins: int, noise: float, failure: float) -> bool:
    """Whether the bin with this share of so many records is the fullest noisy one. [normal_means.5]"""
    least = (share * count - 3 * math.sqrt(count * share * (1 - share))) / noise
    return least > 0 and math.log(bins / 2 * (1 + least / 2)) - least <= math.log(failure)


def _check_found(mechanism: Any, size: int | None) -> None:
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


def _last_stage(
    values: Floats, rng: Randomness, *, centre: float, sigma: float, cost: Laplace, reach: float | None = None
) -> ConvolvedSpread:
    """centre + noisy mean of clip(x - centre, +-radius), the mean within `reach` of the centre. [normal_means.1]"""
    size = len(values)
    longest = math.sqrt(2 * math.log(2 * size / FAILURE))  # no standard normal of n is larger, up to FAILURE
    radius = (6 * sigma if reach is None else reach) + sigma * longest
    near: dict[str, Any] = {"centre": centre, "radius": radius, "neighbours": Neighbours.REPLACE, "rng": rng}
    found = noisy_moment(values, cost=cost, **near)  # [normal_means.1]
    return ConvolvedSpread(
        centre + found.total * radius / size, sampling=sigma / math.sqrt(size), laplace=found.noise * radius / size
    )


@dataclass(frozen=True, slots=True)
class ClippedMean:
    """Lemma 2.2: clip to what a normal with |mu| <= reach can produce, and add noise."""

    reach: float
    sigma: float
    epsilon: Number
    unit: str = "row"
    neighbours: ClassVar[Neighbours] = Neighbours.REPLACE

    def __post_init__(self) -> None:
        check_budget(self.epsilon, 0, None)
        _positive("reach", self.reach)
        _positive("sigma", self.sigma)

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
        spread = _last_stage(values, rng, centre=0.0, sigma=self.sigma, cost=cost, reach=self.reach)
        return _mean(self, spread, rng, size)


@dataclass(frozen=True, slots=True)
class TwoStageMean:
    """Theorem 2.5: find the fullest bin of width sigma, then clip around it."""

    reach: float
    sigma: float
    epsilon: Number
    unit: str = "row"
    neighbours: ClassVar[Neighbours] = Neighbours.REPLACE

    def __post_init__(self) -> None:
        check_budget(self.epsilon, 0, None)
        if 2 * _positive("reach", self.reach) / _positive("sigma", self.sigma) > MOST_BINS:
            raise BadInput(
                f"reach / sigma is {self.reach / self.sigma:.3g}; above {MOST_BINS / 2:g} use method='stability'"
            )

    guarantee = promised

    @property
    def loss(self) -> Loss:
        """Counts, then a sum."""
        return charged(self.stages.loss)  # [normal_means.2]

    @property
    def stages(self) -> Allocation:
        """Half for each. [normal_means.2]"""
        return Allocation.of(self.epsilon).split(counts=Share(HALF, _counted), mean=Share())

    def finds(self, size: int) -> bool:
        """Whether the fullest bin will be the data's. Public."""
        noise = 2 / float(self.stages.part("counts", Approximate).epsilon)
        return _is_found(size, 0.341, 2 * math.ceil(self.reach / self.sigma) + 2, noise, FAILURE)

    check = _check_found  # [normal_means.5]

    def release(self, rows: Any, rng: Randomness) -> Release[float]:
        """The two stages, or a refusal."""
        values = numbers(rows)
        size = public_size(values, Neighbours.REPLACE) or 1
        if refusal := refusal_of(self, size):  # [normal_means.5]
            return _refused(self, refusal, rng, size)
        stages = self.stages
        # [normal_means.2]
        centre = _fullest(values, self.sigma, self.reach, stages.part("counts", Approximate), rng)
        spread = _last_stage(values, rng, centre=centre, sigma=self.sigma, cost=stages.part("mean", Laplace))
        return _mean(self, spread, rng, size)


def _fullest(values: Floats, width: float, reach: float, cost: Approximate, rng: Randomness) -> float:
    """The middle of the fullest noisy bin, of this width, over [-reach, reach] with two tails."""
    most = math.ceil(reach / width)
    counts = np.bincount(_places(values, width, most) + most + 1, minlength=2 * most + 2)
    noisy = rng.blur(counts.astype(np.int64), sensitivity=2, cost=Laplace(cost.epsilon))  # [normal_means.2]
    return (int(np.argmax(noisy)) - most - 1 + 0.5) * width


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
        _positive("sigma", self.sigma)
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
            return _refused(self, needed, rng, size)
        centre = (float(next(iter(shown))) + 0.5) * self.sigma  # type: ignore[arg-type]
        spread = _last_stage(values, rng, centre=centre, sigma=self.sigma, cost=stages.part("mean", Laplace))
        return _mean(self, spread, rng, size)


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
        if _positive("sigma", low) > _positive("sigma", high) or _positive("reach", self.reach) / low > MOST_BINS / 2:
            raise BadInput(
                f"sigmas are {self.sigmas!r}, reach {self.reach!r}; give the smaller sigma first, reach below 5e6 of it"
            )

    guarantee = promised

    @property
    def loss(self) -> Loss:
        """Two counts, two sums."""
        return charged(self.stages.loss)  # [normal_means.4]

    @property
    def stages(self) -> Allocation:
        """A sixth for each count, a third for each sum. [normal_means.4]"""
        count, total = Share(Fraction(1, 6), _counted), Share(Fraction(1, 3))
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
        scale = _is_found(size // 2, 0.288, high - low + 1, noise, FAILURE / 2)
        return scale and _is_found(size, 0.477, bins + 2, noise, FAILURE / 2)

    check = _check_found  # [normal_means.5]

    def release(self, rows: Any, rng: Randomness) -> Release[float]:
        """Scale, place, mean and variance, or a refusal."""
        from scipy.special import stdtrit

        values = numbers(rows)
        size = public_size(values, Neighbours.REPLACE) or 1
        if refusal := refusal_of(self, size):  # [normal_means.5]
            return _refused(self, refusal, rng, size)
        stages = self.stages
        miss = 1 - self.confidence
        sigma = self._scale(values, stages.part("scale", Approximate), rng)
        centre = _fullest(values, sigma, self.reach, stages.part("place", Approximate), rng)  # [normal_means.4]
        half = 4 * sigma * math.sqrt(math.log(8 * size / miss))
        costs = {name: stages.part(name, Laplace) for name in ("mean", "square")}
        near: dict[str, Any] = {"centre": centre, "radius": half, "neighbours": Neighbours.REPLACE, "rng": rng}
        mean = noisy_moment(values, cost=costs["mean"], **near)  # [normal_means.4]
        square = noisy_moment(values, cost=costs["square"], power=2, **near)  # [normal_means.4]
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
        return _mean(self, spread, rng, size)

    def _scale(self, values: Floats, cost: Approximate, rng: Randomness) -> float:
        """2^{j+2} for the fullest octave j of the differences of disjoint pairs. [normal_means.4]"""
        low, high = self.octaves
        pairs = values[: len(values) // 2 * 2].reshape(-1, 2)
        with np.errstate(all="ignore"):
            octaves = np.floor(np.log2(np.abs(pairs[:, 0] - pairs[:, 1])))
        octaves = np.clip(np.nan_to_num(octaves, nan=low, posinf=high, neginf=low), low, high).astype(np.int64)
        counts = np.bincount(octaves - low, minlength=high - low + 1).astype(np.int64)
        noisy = rng.blur(counts, sensitivity=2, cost=Laplace(cost.epsilon))  # [normal_means.4]
        return float(2.0 ** (low + int(np.argmax(noisy)) + 2))


def _history(mechanism: Any, rng: Randomness, size: int) -> Provenance:
    public = {
        name: getattr(mechanism, name) for name in mechanism.__slots__ if name not in ("epsilon", "delta", "unit")
    }
    return Provenance(type(mechanism).__name__, public | {"rows": size}, rng.secure)


def _refused(mechanism: Any, refusal: str, rng: Randomness, size: int) -> Release[float]:
    return Release(mechanism.guarantee, _history(mechanism, rng, size), refusal=refusal, name="mean")


def _mean(mechanism: Any, spread: ConvolvedSpread | DeclaredSpread, rng: Randomness, size: int) -> Release[float]:
    note = f"a lecture's estimator, kept for comparison; noise of standard deviation {show(spread.privacy)}"
    history = _history(mechanism, rng, size)
    return Release(
        mechanism.guarantee,
        Provenance(history.mechanism, history.parameters, rng.secure, notes=(note,)),
        spread.estimate,
        spread=spread,
        name="mean",
    )


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
