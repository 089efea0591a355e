"""Histograms and normal means of lecture 4, and the median three ways, under the lectures' names: REPLACE, as lectured.

The mean is known to lie in a public `interval`, not always centred at 0; sigma is public. Each is one line of the core.
"""

import math
from typing import Any, Final, Literal

import numpy as np

from discreet.api import door, function
from discreet.errors import BadInput
from discreet.noise.threshold import threshold_for
from discreet.privacy.exact import Number, is_number, least_whole
from discreet.privacy.loss import Approximate
from discreet.privacy.mechanism import Randomness
from discreet.privacy.release import Release
from discreet.privacy.values import Counts
from discreet.stability.smooth_median import SmoothMedian
from discreet.stages.declared import check_bounds
from discreet.stages.normal_laplace import ConvolvedSpread
from discreet.statistics.normal_means import (
    FAILURE,
    ClippedMean,
    CoarseMean,
    StabilityMean,
    TwoStageMean,
    last_radius,
    positive,
)

Interval = tuple[float, float]
MOST: Final = 10**6
LARGEST: Final = 10**15


def finite_histogram(
    x: Any,
    *,
    epsilon: Number,
    interval: Interval | None = None,
    width: float | None = None,
    categories: Any = None,
    rng: Randomness | None = None,
) -> Release[Counts]:
    """Theorem 1.1: noisy counts of all bins of a finite partition. Pure epsilon.

    The bins are `categories`, or those of this `width` over a public `interval`; what is beyond is counted in `other`.

    >>> from discreet import Seeded
    >>> counts = finite_histogram([0.5, 0.7, 1.5] * 100, epsilon=1.0, interval=(0, 3), width=1, rng=Seeded(1)).value
    >>> counts.bins, abs(counts[0.0, 1.0] - 200) < 20
    (((0.0, 1.0), (1.0, 2.0), (2.0, 3.0)), True)
    """
    asked: dict[str, Any] = {"epsilon": epsilon, "neighbours": "replace", "missing": "keep", "rng": rng}
    if categories is not None:
        return function("histogram")(x, categories=categories, **asked)
    if interval is None or width is None:
        raise BadInput("a finite partition needs categories, or an interval and a width of its bins; give them")
    check_bounds(interval)
    many = (float(interval[1]) - float(interval[0])) / _width(width)
    if not many <= MOST:
        raise BadInput(f"there would be {many:.3g} bins; give a larger width, or use infinite_histogram")
    bins = math.ceil(many)
    edges = [float(interval[0] + place * width) for place in range(bins)] + [float(interval[1])]
    return function("histogram")(x, edges=edges, **asked)


def infinite_histogram(
    x: Any, *, epsilon: Number, delta: Number, width: float | None = None, rng: Randomness | None = None
) -> Release[Counts]:
    """Theorem 1.2: noisy counts of the bins that enough rows are in, of an infinite partition. (epsilon, delta).

    The bins are of this `width`, over the whole line; without it, whatever categories there are.

    >>> from discreet import Seeded
    >>> infinite_histogram([1e9] * 100, epsilon=1.0, delta=1e-6, width=1.0, rng=Seeded(1)).value.bins
    ((1000000000.0, 1000000001.0),)
    """
    asked: dict[str, Any] = {"neighbours": "replace", "missing": "keep", "rng": rng}
    return function("histogram")(x, epsilon=epsilon, delta=delta, width=width, **asked)


def naive_mean(
    x: Any,
    interval: Interval,
    *,
    epsilon: Number,
    sigma: float = 1.0,
    far: Literal["remove", "clip"] = "remove",
    rng: Randomness | None = None,
) -> Release[float]:
    """Lemma 2.2: the noisy mean, what is further out than a normal value can be left out, or clipped. Pure epsilon.

    >>> from discreet import Seeded
    >>> rows = [20 + math.sin(k) for k in range(1000)]
    >>> abs(naive_mean(rows, (10, 30), epsilon=1.0, rng=Seeded(1)).value - 20) < 0.5
    True
    """
    centre, reach = _middle(interval)
    return ClippedMean(reach, sigma, epsilon, centre=centre, far=far).release(x, door(rng))


def coarse_mean(
    x: Any, interval: Interval, *, epsilon: Number, sigma: float = 1.0, rng: Randomness | None = None
) -> Release[float]:
    """Corollary 2.4: the middle of the fullest noisy bin, within 5 sigma of a normal mean. Pure epsilon.

    >>> from discreet import Seeded
    >>> rows = [20 + math.sin(k) for k in range(1000)]
    >>> abs(coarse_mean(rows, (-1000, 1000), epsilon=1.0, rng=Seeded(1)).value - 20) < 5
    True
    """
    centre, reach = _middle(interval)
    return CoarseMean(reach, sigma, epsilon, centre=centre).release(x, door(rng))


def two_stage_mean(
    x: Any, interval: Interval, *, epsilon: Number, sigma: float = 1.0, rng: Randomness | None = None
) -> Release[float]:
    """Theorem 2.5: a coarse mean, then the noisy mean clipped around it. Pure epsilon, logarithmic in the interval.

    >>> from discreet import Seeded
    >>> rows = [20 + math.sin(k) for k in range(1000)]
    >>> abs(two_stage_mean(rows, (-1000, 1000), epsilon=1.0, rng=Seeded(1)).value - 20) < 0.3
    True
    """
    centre, reach = _middle(interval)
    return TwoStageMean(reach, sigma, epsilon, centre=centre).release(x, door(rng))


def stability_mean(
    x: Any, *, epsilon: Number, delta: Number, sigma: float = 1.0, rng: Randomness | None = None
) -> Release[float]:
    """Theorem 2.8: the two stages with an infinite histogram: no interval at all. (epsilon, delta).

    >>> from discreet import Seeded
    >>> rows = [1e8 + math.sin(k) for k in range(1000)]
    >>> abs(stability_mean(rows, epsilon=1.0, delta=1e-6, rng=Seeded(1)).value - 1e8) < 0.3
    True
    """
    return StabilityMean(sigma, epsilon, delta).release(x, door(rng))


def smooth_median(x: Any, bounds: Interval, *, epsilon: Number, rng: Randomness | None = None) -> Release[float]:
    """The median with noise fitted to the data by smooth sensitivity. Pure epsilon; `discreet.median` is far better.

    >>> from discreet import Seeded
    >>> abs(smooth_median([k / 10 for k in range(1001)], (0, 100), epsilon=2.0, rng=Seeded(1)).value - 50) < 5
    True
    """
    return SmoothMedian(epsilon, bounds=bounds).release(x, door(rng))


def rows_for(
    alpha: float,
    *,
    epsilon: float,
    interval: Interval | None = None,
    delta: float = 0.0,
    sigma: float = 1.0,
    naive: bool = False,
    confidence: float = 0.96,
) -> int:
    """Equations (1), (2) and (6): how many rows a normal mean takes for an error of at most alpha, but for 4%.

    Of the naive mean, the two-stage mean or, without an interval, the stability mean, with their own constants: 1% is
    for values that are cut off, 1% for a place that is not found, and the rest for chance and noise.

    >>> [rows_for(0.1, epsilon=0.1, interval=(-reach, reach), naive=True) for reach in (10, 1000)]
    [10982, 705784]
    >>> [rows_for(0.1, epsilon=0.1, interval=(-reach, reach)) for reach in (10, 1000)]
    [18188, 18188]
    """
    share, reach, finds = (1.0 if naive else 0.5), None, None
    if interval is None:
        first = StabilityMean(sigma, epsilon, delta)
        threshold = threshold_for(2, first.stages.part("bins", Approximate).epsilon, delta)
        finds = lambda n: 0.341 * n - 3 * math.sqrt(n) > 2 * threshold  # noqa: E731  a bin of so many is shown
    elif naive:
        reach = ClippedMean(_middle(interval)[1], sigma, epsilon).reach
    else:
        finds = TwoStageMean(_middle(interval)[1], sigma, epsilon).finds
    if not is_number(alpha) or not alpha > 0:
        raise BadInput(f"alpha is {alpha!r}; give the error that is allowed, above 0")
    lost = FAILURE if naive else 2 * FAILURE
    if not is_number(confidence) or not 0 < confidence < 1 - lost:
        raise BadInput(f"confidence is {confidence!r}; give a chance below {1 - lost:g}, 0.96 say")

    def enough(n: int) -> bool:
        noise = 2 * last_radius(n, sigma, reach) / (n * float(epsilon) * share)
        spread = ConvolvedSpread(0.0, sampling=sigma / math.sqrt(n), laplace=noise)
        return spread.half_width(confidence + lost) <= alpha and (finds is None or finds(n))

    high = 2
    while not enough(high):
        high *= 2
        if high > LARGEST:
            raise BadInput(f"alpha is {alpha!r}: it would take more than 10^15 rows; allow a larger error")
    return least_whole(enough, high // 2, high)


def normals_apart(mu: float, other: float, sigma: float = 1.0) -> float:
    """Fact 2.1: the total variation between two normal distributions of this sigma.

    It is between 1/4 and 2/5 of `abs(mu - other)` up to a distance of 1 sigma.

    >>> round(normals_apart(0.0, 1.0), 3)
    0.383
    """
    return math.erf(abs(mu - other) / (2 * math.sqrt(2) * positive("sigma", sigma)))


def _middle(interval: Interval) -> tuple[float, float]:
    check_bounds(interval)
    if interval is None:
        raise BadInput("interval is None; give a public interval that holds the mean, or use stability_mean")
    low, high = float(interval[0]), float(interval[1])
    return low / 2 + high / 2, high / 2 - low / 2


def _width(width: object) -> float:
    if not is_number(width) or not width > 0 or not np.isfinite(width):  # type: ignore[operator,call-overload]
        raise BadInput(f"width is {width!r}; give the width of a bin, a number above 0")
    return float(width)  # type: ignore[arg-type]
