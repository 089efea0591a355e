"""The median with noise fitted to the data by smooth sensitivity. Kept for comparison: `median` is far better.

Releases
    The lower median on a grid of 2^30 steps between public bounds, plus noise as wide as a smooth bound on how far one
    record could move it.
Promise
    [smooth_median.1] REPLACE: pure epsilon with the distributions "student" (4 degrees) and "cauchy"; (epsilon, delta)
    with "laplace".
Why
    Let A_k be the most that one more change could move the median after k records have been replaced:
    max of x_(m+t) - x_(m+t-k-1) over t = 0, ..., k+1, records beyond the ends standing at the bounds (Nissim,
    Raskhodnikova and Smith). Whoever is k changes from one table is k + 1 from its neighbour: A_k(x) <= A_(k+1)(x').
    The weights are whole numbers with w_0 = 2^30 and w_(k+1) >= e^-pace w_k. With R the whole range,
        S = max(w_0 A_0, ..., w_(K-1) A_(K-1), w_K R):
    S >= 2^30 A_0, which bounds the move; w_k A_k(x) <= e^pace w_(k+1) A_(k+1)(x') <= e^pace S(x') for k < K - 1, and
    for k = K - 1 as A <= R. So S(x) <= e^pace S(x'), all in whole numbers. Then [smooth_noise.1] or [smooth_noise.2].
Needs
    Public bounds, a public number of records. There is no interval: how far the noise reaches is not public.
Accuracy
    Far behind the exponential mechanism: n = 1000, epsilon = 0.1, normal data of deviation 1 between bounds 200 apart:
    median error 5.2 (Student's distribution), against 0.05.
Source
    Nissim, Raskhodnikova and Smith 2007; the weights in whole numbers, which make O(n + K^2) exact, are ours.
"""

from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from math import isqrt, log
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput
from discreet.noise.choose import exp_bounds
from discreet.noise.order_statistics import order_statistics
from discreet.noise.smooth_noise import DEGREES, Distribution, price
from discreet.privacy.exact import Number, exact
from discreet.privacy.guarantee import Neighbours, check_budget
from discreet.privacy.loss import Approximate
from discreet.privacy.mechanism import Randomness, promised
from discreet.privacy.release import Provenance, Release
from discreet.stages.declared import check_bounds
from discreet.tables.entries import numbers, public_size

STEPS: Final = 2**30  # of the grid between the bounds, and the first weight
MOST: Final = 20_000  # changes that are looked ahead
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class SmoothMedian:
    """The median between public bounds, by smooth sensitivity; noise of Student, Cauchy or Laplace."""

    epsilon: Number
    _: KW_ONLY
    bounds: tuple[float, float]
    delta: Number = 0.0
    distribution: Distribution = "student"
    unit: str = "row"
    neighbours: ClassVar[Neighbours] = Neighbours.REPLACE

    def __post_init__(self) -> None:
        check_budget(self.epsilon, self.delta, 1)
        if self.bounds is None:
            raise BadInput("bounds is None; smooth sensitivity needs public bounds (the verb `median` needs none)")
        check_bounds(self.bounds)
        if self.distribution not in ("student", "cauchy", "laplace"):
            raise BadInput(
                f"distribution is {self.distribution!r}; give 'student', 'cauchy' or, with delta > 0, 'laplace'"
            )
        if (self.distribution == "laplace") != bool(self.delta):
            seen = f"distribution is {self.distribution!r} and delta is {self.delta!r}"
            raise BadInput(f"{seen}; only 'laplace' has a delta, and needs it")

    guarantee = promised

    @property
    def loss(self) -> Approximate:
        """The same."""
        return Approximate(self.epsilon, self.delta)  # [smooth_median.1]

    @property
    def pace(self) -> Fraction:
        """How much the bound may differ between neighbours: half of epsilon pays for it."""
        half = exact(self.epsilon) / 2
        if self.distribution != "laplace":
            return half / DEGREES[self.distribution]
        pace = min(half / Fraction(log(2 / float(self.delta))), Fraction(32))  # beyond it nothing would change
        while price("laplace", pace, half, self.delta) > 2 * half:
            pace *= Fraction(9, 10)
        return pace

    @property
    def divisor(self) -> Fraction:
        """The other half pays for the shift."""
        half = exact(self.epsilon) / 2
        if self.distribution == "laplace":
            return half
        degrees = DEGREES[self.distribution]
        return half * Fraction(2 * isqrt(degrees), degrees + 1)

    def release(self, rows: Any, rng: Randomness) -> Release[float]:
        """The noisy median."""
        values = numbers(rows)
        size = public_size(values, Neighbours.REPLACE)
        assert size is not None
        check_budget(self.epsilon, self.delta, size)
        low, high = (float(end) for end in self.bounds)
        weights = falling(self.pace, min(size, MOST))
        window = around_median(on_steps(values, low, high), len(weights))
        noisy = rng.smooth(
            int(window[len(weights)]),
            smooth_bound(window, weights),
            unit=STEPS,
            top=STEPS,
            distribution=self.distribution,
            pace=self.pace,
            divisor=self.divisor,
            cost=self.loss,
        )  # [smooth_median.1]
        parameters = {"bounds": self.bounds, "distribution": self.distribution, "rows": size}
        notes = ("there is no interval: how wide the noise was is not public; `median` has one",)
        provenance = Provenance("SmoothMedian", parameters, rng.secure, notes=notes)
        return Release(self.guarantee, provenance, low + (high - low) * (noisy / STEPS), name="median")


def on_steps(values: npt.NDArray[np.float64], low: float, high: float) -> Integers:
    """Each record's place on the grid, by itself; missing ones in the middle."""
    present = np.where(np.isnan(values), low / 2 + high / 2, np.clip(values, low, high))
    return np.clip(np.rint((present - low) / (high - low) * STEPS), 0, STEPS).astype(np.int64)


def falling(pace: Fraction, most: int) -> Integers:
    """Weights of 0, 1, ... changes, `most` at the most, until they fall no more: each at least e^-pace of the last."""
    _, ratio = exp_bounds(pace, 62)  # rounded up
    weights = [STEPS]
    while len(weights) <= most:
        weights.append(-(-weights[-1] * ratio >> 62))
        if weights[-1] == weights[-2]:
            break
    return np.array(weights, dtype=np.int64)


def around_median(steps: Integers, reach: int) -> Integers:
    """The `reach` order statistics before the lower median, it, and as many after; the bounds where there are none."""
    middle = (len(steps) - 1) // 2
    start, stop = max(0, middle - reach), min(len(steps), middle + reach + 1)
    window = np.sort(order_statistics(steps.astype(np.float64), start, stop)).astype(np.int64)
    before, after = np.zeros(start - middle + reach, np.int64), np.full(middle + reach + 1 - stop, STEPS, np.int64)
    return np.concatenate([before, window, after])


def smooth_bound(window: Integers, weights: Integers) -> int:
    """S, in units of 1 / STEPS of a step: the window's middle is the median. [smooth_median.1]"""
    middle = len(window) // 2
    best = int(weights[-1]) * STEPS  # w_K R
    for changes, weight in enumerate(weights[:-1].tolist()):
        most = window[middle : middle + changes + 2] - window[middle - changes - 1 : middle + 1]
        best = max(best, weight * int(most.max()))
    return best
