"""The distribution of a normal error plus Laplace noise, in closed form, and the error bar made of it.

With s the standard deviation of the normal part and b the scale of the noise,

    P(N + L > t) = Phi(-t/s) + (e^{s^2/2b^2} / 2) (e^{-t/b} Phi(t/s - s/b) - e^{t/b} Phi(-t/s - s/b)),

each product taken as one exponential. Where b < s/100 the distribution is normal with the variances added, up to 10^-7.
"""

import math
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np

from discreet.errors import Refused
from discreet.privacy.exact import bisect, solve
from discreet.privacy.intervals import Interval, Spread
from discreet.privacy.values import Distribution
from discreet.stages.normal_stages import ClippedResponse, Square, clipped_square, density

FAR = 800.0
FAR_OFF = 20.0  # standard errors of bias: beyond, an interval is as much wider as it is more
LOST = 0.05  # of the confidence, at most, where something moves the estimate as far as it may
LIMITS = (1e-4, 1e4)  # a variance is within this factor of the square of the scale that was found first


def tail(t: float, normal: float, laplace: float) -> float:
    """P(N + L > t)."""
    from scipy.special import log_ndtr, ndtr

    if t < 0:
        return 1 - tail(-t, normal, laplace)
    if t > FAR * (normal + laplace):  # below the smallest float, and t / normal could be infinite
        return 0.0
    if laplace <= normal / 100:
        return float(ndtr(-t / math.hypot(normal, math.sqrt(2) * laplace))) if normal else 0.0
    if not normal:
        return 0.5 * math.exp(-t / laplace)
    ratio = normal / laplace
    right = ratio * ratio / 2 - t / laplace + float(log_ndtr(t / normal - ratio))
    left = ratio * ratio / 2 + t / laplace + float(log_ndtr(-t / normal - ratio))
    return float(ndtr(-t / normal)) + 0.5 * (math.exp(min(right, 0.0)) - math.exp(min(left, 0.0)))


def radius(confidence: float, normal: float, laplace: float, shift: float = 0.0) -> float:
    """The t with P(|N + L| <= t) = confidence; with a `shift` of the sum it keeps this less LOST, at least.

    >>> round(radius(0.95, 1.0, 0.0), 4), round(radius(0.95, 0.0, 1.0), 4), round(radius(0.95, 1.0, 1.0), 4)
    (1.96, 2.9957, 3.4951)
    >>> [round(radius(level, 1.0, 0.0, 0.65) / radius(level, 1.0, 0.0), 3) for level in (0.5, 0.8, 0.95, 0.99)]
    [1.087, 1.085, 1.0, 1.0]
    """
    size = max(normal, laplace)
    if not size:
        return 0.0
    miss, normal, laplace, off = (1 - confidence) / 2, normal / size, laplace / size, shift / size

    def enough(t: float) -> bool:
        held = tail(t, normal, laplace) <= miss
        return held and (not off or tail(t - off, normal, laplace) + tail(t + off, normal, laplace) <= 2 * miss + LOST)

    high = 4.0
    while not enough(high):
        high *= 2
    return bisect(enough, 0.0, high)[1] * size


def quantile_of(level: float, normal: float, laplace: float) -> float:
    """The t with P(N + L > t) = level, for levels below one half.

    >>> round(quantile_of(0.025, 1.0, 0.0), 4)
    1.96
    """
    return bisect(lambda t: tail(t, normal, laplace) <= level, 0.0, 40 * (normal + laplace), steps=36)[1]


@dataclass(frozen=True, slots=True)
class ConvolvedSpread:
    """The error of an estimate with a sampling part, Laplace noise and, if any, further noise taken as normal.

    `freedom` widens the interval as Student's t does where the size of the sampling part was itself estimated;
    `low` and `high` are public ends that the quantity cannot pass; `below` and `above` widen the interval by what the
    estimate may be too high or too low by for another reason than chance; at a `shift` of so much more, either way, it
    holds with LOST less than its confidence. `target` says what was done to the values, where the estimate is not about
    them as they are: it stands beside the name of the answer.
    """

    estimate: float
    _: KW_ONLY
    sampling: float
    laplace: float
    normal_noise: float = 0.0
    freedom: float = math.inf
    low: float = -math.inf
    high: float = math.inf
    below: float = 0.0
    above: float = 0.0
    shift: float = 0.0
    about: str = "the population's mean"
    target: str = ""

    @property
    def privacy(self) -> float:
        """Standard deviation from the privacy noise."""
        return math.hypot(math.sqrt(2) * self.laplace, self.normal_noise)

    def half_width(self, confidence: float) -> float:
        """Half of the interval before it is cut to the public ends."""
        factor = student_factor(self.freedom, confidence)
        parts = math.hypot(self.sampling, self.normal_noise), self.laplace
        return radius(confidence, *parts, self.shift / factor) * factor

    def interval(self, confidence: float) -> Interval:
        """For the population quantity: sampling and privacy together."""
        width = self.half_width(confidence)
        return Interval(
            min(max(self.estimate - width - self.below, self.low), self.high),
            min(max(self.estimate + width + self.above, self.low), self.high),
            confidence=confidence,
            about=self.about,
            population=True,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredSpread:
    """An interval whose confidence was declared before the release."""

    estimate: float
    width: float
    confidence: float
    sampling: float
    privacy: float

    def interval(self, confidence: float) -> Interval:
        """The declared interval, for any confidence up to its own."""
        if confidence > self.confidence:
            raise Refused(
                f"the interval was drawn for {self.confidence:g}; declare confidence={confidence:g} beforehand"
            )
        low, high = self.estimate - self.width, self.estimate + self.width
        return Interval(low, high, confidence=self.confidence, about="the population's mean", population=True)


@dataclass(frozen=True, slots=True)
class EstimateSpread:
    """One spread a coordinate; each interval holds by itself."""

    parts: tuple[Spread, ...]
    target: str = ""

    @property
    def sampling(self) -> Any:
        """Standard deviations from sampling."""
        return self._all("sampling")

    @property
    def privacy(self) -> Any:
        """Standard deviations from the noise."""
        return self._all("privacy")

    @property
    def confidence(self) -> float:
        """The confidence that was declared, where the parts have one."""
        return float(getattr(self.parts[0], "confidence", 0.95))

    def _all(self, name: str) -> Any:
        sizes = [getattr(part, name) for part in self.parts]
        return None if any(size is None for size in sizes) else np.array(sizes, dtype=float)

    def interval(self, confidence: float) -> Interval:
        """All coordinates' intervals, side by side."""
        each = [part.interval(confidence) for part in self.parts]
        about = each[0].about if len(each) == 1 else f"{each[0].about}, each coordinate by itself"
        return replace(
            each[0], low=np.array([one.low for one in each]), high=np.array([one.high for one in each]), about=about
        )


@dataclass(frozen=True, slots=True)
class SquareSpread:
    """The error of a normal variance that was found by inverting the mean of truncated squares, T.

    The interval holds every v at which T is not surprising: |T - E min(v Z^2, r^2)| within the quantile of a normal
    with the variance at v plus Laplace noise. Skewed as a chi-square interval is.
    """

    square: Square
    size: int
    scale: float
    about: str = "the population's variance"

    @property
    def estimate(self) -> float:
        """The v whose mean is T, in the data's units."""
        return self._units(solve(lambda v: self._at(v).mean, self.square.mean, *LIMITS))

    @property
    def sampling(self) -> float:
        """Standard deviation from sampling."""
        response = self._at(self.estimate / self._units(1.0))
        return self._units(math.sqrt(response.variance / self.size) / response.slope)

    @property
    def privacy(self) -> float:
        """Standard deviation from the privacy noise."""
        return self._units(math.sqrt(2) * self.square.noise / self._at(self.estimate / self._units(1.0)).slope)

    def interval(self, confidence: float) -> Interval:
        """For the population's variance: sampling and privacy together."""
        miss, target = (1 - confidence) / 2, self.square.mean

        def chance(v: float, sign: int) -> float:  # of a T this far off, on one side, if v were the truth
            seen = self._at(v)
            return tail(sign * (target - seen.mean), math.sqrt(seen.variance / self.size), self.square.noise)

        low = solve(lambda v: chance(v, 1), miss, *LIMITS)
        high = solve(lambda v: -chance(v, -1), -miss, *LIMITS)
        return Interval(self._units(low), self._units(high), confidence=confidence, about=self.about, population=True)

    def _at(self, v: float) -> ClippedResponse:
        return clipped_square(v, self.square.radius)

    def _units(self, v: float) -> float:
        return v * self.scale * self.scale


@dataclass(frozen=True, slots=True)
class NormalSpread:
    """The errors of a mean and of a variance, each a spread with an estimate; the interval holds both at once."""

    mean: Any
    variance: Any
    target: str = ""

    @property
    def value(self) -> Distribution:
        """The estimates."""
        return normal(self.mean.estimate, self.variance.estimate)

    @property
    def sampling(self) -> Distribution:
        """Standard deviations from sampling."""
        return normal(self.mean.sampling, self.variance.sampling)

    @property
    def privacy(self) -> Distribution:
        """Standard deviations from the privacy noise."""
        return normal(self.mean.privacy, self.variance.privacy)

    def interval(self, confidence: float) -> Interval:
        """Two intervals, each at half the miss."""
        each = (1 + confidence) / 2
        mean, variance = self.mean.interval(each), self.variance.interval(each)
        return Interval(
            normal(mean.low, variance.low),
            normal(mean.high, variance.high),
            confidence=confidence,
            about=f"the population's mean and variance, both at once, {self.target}".removesuffix(", "),
            population=True,
        )

    def total_variation(self, confidence: float) -> float:
        """How far the normal distribution released can be from that of the population's mean and variance, at this
        confidence. [sufficient.5]"""
        here, ends = self.value, self.interval(confidence)
        far: float = max(here.mean - ends.low.mean, ends.high.mean - here.mean)
        ratio: float = max(ends.high.variance / here.variance, here.variance / ends.low.variance)
        shift = far / (here.sd * math.sqrt(2 * math.pi))
        return float(min(1.0, shift + 2 * density(1.0) * math.log(ratio) / 2))


def gaussian(mean: float, variance: float) -> Any:
    """The frozen scipy distribution, by its variance."""
    from scipy import stats

    return stats.norm(mean, math.sqrt(variance))


def normal(mean: float, variance: float) -> Distribution:
    """A normal distribution by its variance."""
    return Distribution("gaussian", {"mean": mean, "variance": variance}, gaussian)


def student_factor(freedom: float, confidence: float) -> float:
    """By how much Student's t interval is wider than the normal one."""
    if freedom == math.inf:
        return 1.0
    from scipy.special import ndtri, stdtrit

    miss: Any = (1 - confidence) / 2
    return float(stdtrit(freedom, miss) / ndtri(miss))


def allowing(bias: Any, errors: Any, confidence: float) -> Any:
    """Half the widths of intervals that hold, with this confidence, what normal estimates are off by, bias included."""
    from scipy.special import chndtrix

    off = np.minimum(bias / np.maximum(errors, 1e-300), FAR_OFF)
    return np.asarray(np.sqrt(chndtrix(confidence, 1, off**2)) * errors + np.maximum(bias - off * errors, 0.0))


@dataclass(frozen=True, slots=True)
class RootSpread:
    """The error of the root of an estimate: the ends of the interval, rooted."""

    inner: Spread
    root: float

    @property
    def target(self) -> str:
        """What was done to the values."""
        return getattr(self.inner, "target", "")

    @property
    def sampling(self) -> float:
        """Standard deviation from sampling, to first order."""
        return float(self.inner.sampling / (2 * self.root)) if self.root else math.sqrt(self.inner.sampling)

    @property
    def privacy(self) -> float:
        """Standard deviation from the privacy noise, to first order."""
        return float(self.inner.privacy / (2 * self.root)) if self.root else math.sqrt(self.inner.privacy)

    def interval(self, confidence: float) -> Interval:
        """Both ends, rooted."""
        inner = self.inner.interval(confidence)
        about = inner.about.replace("variance", "standard deviation")
        return replace(inner, low=math.sqrt(inner.low), high=math.sqrt(inner.high), about=about)
