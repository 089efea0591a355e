"""Noise on counts and on means of points: what they cost, how a budget is shared, and the error left.

Promise
    [average.5] A whole number that one row moves by at most `sensitivity` leaves with the loss of its Gaussian noise.
    [average.6] The noise exceeds the margin, or falls below minus the margin, with probability at most `miss` each.
    [average.1] `blurred` costs what it says whatever the values: shifting whole numbers left by a public number of bits
          multiplies every distance by 2^bits, the sensitivity with it, and saturating enlarges none.
    [average.2] A mean of points is an exact fraction, rounded once: neither order nor blocks change it.
    [average.3] If the exact means on two neighbouring tables are within `moved` units, what leaves has the loss `cost`.
    [average.4] Nothing is raised, whatever the points are.
    [average.7] If the error of coordinate j is normal with variance sampling_j^2 + privacy_j^2, `interval` holds
          each coordinate's mean with its confidence, one at a time, and `ellipsoid` all of them at once, however the
          coordinates are correlated.
Why
    [average.5] It is put on a grid of 2^24 steps or more in the noise's standard deviation; then [additive.2].
    [average.6] What is drawn is a discrete Gaussian Z of sigma steps, a whole number; P(Z >= m) <= P(N(0,
    sigma^2) >= m - 1) for every whole m >= 1 (Canonne, Kamath and Steinke 2020, Proposition 25). So z sigma + 1 steps
    will do, z the normal quantile of `miss`, here with a relative margin of 1e-9 for its rounding. Z is symmetric.
    [average.2] Whole numbers about the first point are added by [additive.4], which does not wrap around, and
    divided as Python's integers. Which point is the first does not matter: a whole number of units is a whole number of
    steps.
    [average.3] A step is 2^-bits units, bits public. Rounding moves each coordinate by half a step at most, on both
    tables: sqrt(d) steps in all, which are added to the sensitivity. Then [additive.2]: the noise has 2^22 sqrt(d)
    steps or more, as long as `moved` is not below what `Lattice.for_mean` was told, so that the total variation of d of
    them is at most SLACK.
    [average.4] Differences from the first point are cut to 2^20 units, more than friends of friends can be apart.
    [average.7] With e_j the error over its deviation, sum e_j^2 / d is a mean of d squares of standard normals,
    correlated in any way: a convex combination of independent ones. For x >= 1.5364 it exceeds x no more often than one
    square does (Szekely and Bakirov 2003), and for smaller x the bound at 1.5364 holds a share of 0.785. If the
    coordinates are known to be uncorrelated the sum is chi-squared, and the region smaller.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.accounting.allocation import STRONGEST, Allocation, Share
from discreet.errors import BadInput
from discreet.friendly.core import FARTHEST, UNITS
from discreet.noise.additive import ROOM, Grid, slack, summed, whole
from discreet.privacy.exact import Number, exact, is_number, root_above
from discreet.privacy.guarantee import Neighbours, check_budget
from discreet.privacy.intervals import Interval, check_confidence
from discreet.privacy.loss import Gaussian
from discreet.privacy.mechanism import Randomness
from discreet.tables.matrix import Floats

MISSED: Final = Fraction(1, 10)  # of delta, for the event
SHARES: Final = tuple(Fraction(k, 200) for k in range(1, 121))  # of mu^2, for the test
USUAL: Final = Fraction(1, 5)  # where the number of rows is private


def friendly_budget(epsilon: Number, delta: Number) -> Allocation:
    """What the test and the mean may cost together, with the event that the test's margin fails."""
    return Allocation.of(epsilon, delta, slack=SLACK, draws=2, event=MISSED, lower=True)


def friendly_stages(
    epsilon: Number, delta: Number, share: Number | None, size: int | None, loss_per_margin: int = 2
) -> Allocation:
    """Both noises, the test's with this share or the best one for a public number of rows."""
    whole = friendly_budget(epsilon, delta)
    first = best_share(whole, size, loss_per_margin) if share is None else exact(share)
    return whole.split(test=Share(first), mean=Share())


def best_share(whole: Allocation, size: int | None, loss_per_margin: int = 2) -> Fraction:
    """The share that leaves the least noise on the mean of `size` rows that all agree. Public.

    The test's margin costs `loss_per_margin` rows for each unit.
    """
    if size is None:
        return USUAL
    quantile = -NormalDist().inv_cdf(float(whole.event))

    def precision(share: Fraction) -> float:
        kept = size - loss_per_margin * quantile / (float(whole.amount) * math.sqrt(share))
        return kept * math.sqrt(1 - share) if kept > 0 else kept

    return max(SHARES, key=precision)


def check_promise(epsilon: object, delta: object, neighbours: Neighbours, share: object) -> None:
    """Refuse what cannot be promised, before anything is read."""
    check_budget(epsilon, delta, 1 if neighbours.size_is_public else None)
    if not delta:
        raise BadInput("delta is 0; without bounds on the rows a mean in many columns needs one, about 1e-6")
    if friendly_budget(epsilon, delta).square * SHARES[0] < WEAKEST**2:  # type: ignore[arg-type]
        raise BadInput(
            f"epsilon is {epsilon!r} and delta {delta!r}: noise of that size does not fit; give more of them"
        )
    if share is not None and not (is_number(share) and Fraction(1, 200) <= share <= Fraction(199, 200)):  # type: ignore[operator]
        raise BadInput(f"share is {share!r}; give the test's share of the budget, between 0.005 and 0.995, or None")


PEOPLE: Final = 2**31  # numbers of people saturate here
FINE: Final = 22  # noise on means is at least 2^22 sqrt(d) steps
SLACK: Final = slack(1, 2**FINE)  # which every noise here must allow for, in all its coordinates together
WEAKEST: Final = Fraction(1, 10**6)


def noisy_count(count: int, cost: Gaussian, rng: Randomness, sensitivity: int = 1) -> Fraction:
    """The number plus noise of standard deviation sensitivity / mu. [average.5]"""
    grid = _grid(cost.mu, sensitivity)
    one = grid.steps(1)
    # [average.5]
    blurred: int = rng.blur(min(count, PEOPLE * sensitivity) * one, sensitivity=sensitivity * one, cost=cost)
    return blurred * grid.step


def margin(mu: Number, miss: float, sensitivity: int = 1) -> Fraction:
    """What the noise of `noisy_count` exceeds with probability at most `miss`. [average.6]

    >>> round(float(margin(1, 1e-7)), 3)
    5.199
    """
    grid = _grid(mu, sensitivity)
    sigma = math.ceil(sensitivity * grid.steps(1) / exact(mu))
    quantile = -NormalDist().inv_cdf(miss) * (1 + 1e-9)
    return (exact(quantile) * sigma + 1) * grid.step  # [average.6]


def _grid(mu: Number, sensitivity: int) -> Grid:
    """Whole numbers are whole steps."""
    return Grid(min(0, Grid.for_sigma(sensitivity / exact(mu), PEOPLE * sensitivity).exponent))


def check_costs(test: Gaussian, mean: Gaussian, miss: object) -> None:
    """Noise that the integers have room for, and a chance that is one."""
    for name, cost in (("test", test), ("mean", mean)):
        if not WEAKEST <= cost.mu <= STRONGEST:
            raise BadInput(f"{name} has mu {float(cost.mu):.3g}; it must lie between 1e-6 and {STRONGEST}")
        if exact(cost.slack) < SLACK:
            raise BadInput(f"{name} has a slack of {float(cost.slack):.3g}; allow for {float(SLACK):.3g} (SLACK)")
    if not is_number(miss) or not 1e-300 < miss < 0.5:  # type: ignore[operator]
        raise BadInput(f"miss is {miss!r}; give a probability above 0 and below 1/2")


BITS: Final = 36


def blurred(values: Any, *, square: int, cost: Gaussian, rng: Randomness) -> tuple[Floats, float]:
    """The values plus noise, and its standard deviation; `square` is the square of the L2 sensitivity. [average.1]"""
    move = root_above(square)
    shift = max(0, BITS - math.floor(math.log2(float(move / exact(cost.mu)))))
    room = ROOM >> shift
    steps = np.clip(whole(values), -room, room) << shift  # [average.1]
    noisy: Any = rng.blur(steps, sensitivity=move * 2**shift, cost=cost)
    return np.asarray(noisy, dtype=np.float64) / 2.0**shift, float(move / exact(cost.mu))


CUT: Final = 2**20
DIGITS: Final = 60  # binary digits of the largest step
Steps = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Centre:
    """A noisy mean of rows that agree with each other; all of it may be shown."""

    point: Floats
    deviation: float  # of the noise on each coordinate
    survivors: int  # it is the mean of so many rows at least, but for an event of probability `miss`


@dataclass(frozen=True, slots=True)
class Lattice:
    """The steps in which a mean leaves: 2^bits a unit, for rows at most 2^reach units from 0. Public."""

    bits: int
    reach: int

    @classmethod
    def for_mean(cls, columns: int, moved: Fraction, mu: Number) -> "Lattice":
        """So fine that noise for a mean that moves by so many units or more is 2^22 sqrt(columns) steps wide."""
        bits = max(0, math.ceil(math.log2(2**FINE * root_above(columns) * exact(mu) / moved)))
        return cls(bits, max(0, min(FARTHEST, DIGITS - bits)))

    def mean(self, steps: Steps, weights: Sequence[int] | Steps | None = None) -> Steps:
        """The exact mean of points, rounded to the nearest step; 0 if there are none. [average.2]"""
        if not len(steps):
            return np.zeros(steps.shape[1], dtype=np.int64)
        first = steps[0]
        about = np.clip(steps - first, -CUT, CUT)  # [average.4]
        heavy = np.ones(len(steps), dtype=np.int64) if weights is None else np.asarray(weights)
        most = CUT * int(heavy.max())
        often = 2**62 // most  # rows whose sum an int64 holds
        parts = (heavy[k : k + often] @ about[k : k + often] for k in range(0, len(steps), often))
        sums, size = summed(parts, first.shape, 2**62), int(heavy.sum())
        rounded = [((part << self.bits) * 2 + size) // (2 * size) for part in sums.tolist()]  # [average.2]
        return np.asarray((first << self.bits) + np.array(rounded, dtype=np.int64))

    def blurred(self, mean: Steps, moved: Fraction, *, radius: float, cost: Gaussian, rng: Randomness) -> "Blurred":
        """A mean that moves by at most so many units, plus noise. [average.3]"""
        sensitivity = moved * 2**self.bits + root_above(mean.size)  # [average.3]
        noisy = rng.blur(mean, sensitivity=sensitivity, cost=cost)
        step = exact(radius) / (UNITS << self.bits)
        deviation = float(math.ceil(sensitivity / exact(cost.mu)) * step)
        return Blurred(np.asarray(noisy, dtype=np.float64) * float(step), deviation)


@dataclass(frozen=True, slots=True)
class Blurred:
    """A noisy mean in the data's own scale, and the standard deviation of the noise on each coordinate."""

    point: Floats
    deviation: float


TIED: Final = 1.5364  # from here on one square is the worst of all convex combinations


@dataclass(frozen=True, slots=True, eq=False)
class Ellipsoid:
    """All points within it: the sum over coordinates of ((x - centre) / axes)^2 is at most 1."""

    centre: Floats
    axes: Floats
    confidence: float

    def holds(self, point: Floats) -> bool:
        """Whether a point lies in it."""
        return bool(np.sum(((np.asarray(point) - self.centre) / self.axes) ** 2) <= 1)


@dataclass(frozen=True, slots=True, eq=False)
class RegionSpread:
    """Normal errors, coordinate by coordinate: standard deviations from sampling people and from the privacy noise."""

    estimate: Floats
    sampling: Floats
    privacy: Floats
    about: str = "the population's mean"
    target: str = ""

    @property
    def deviation(self) -> Floats:
        """Both together."""
        return np.hypot(self.sampling, self.privacy)

    def interval(self, confidence: float) -> Interval:
        """For each coordinate, one at a time. [average.7]"""
        reach = -NormalDist().inv_cdf((1 - confidence) / 2) * self.deviation  # [average.7]
        about = f"{self.about}, each coordinate at a time" if len(self.estimate) > 1 else self.about
        return Interval(
            self.estimate - reach, self.estimate + reach, confidence=confidence, about=about, population=True
        )

    def ellipsoid(self, confidence: float = 0.95, *, correlated: bool = True) -> Ellipsoid:
        """For all coordinates at once; a smaller one if they are known to be uncorrelated. [average.7]"""
        confidence, width = check_confidence(confidence), len(self.estimate)
        if correlated:
            square = width * max(TIED, NormalDist().inv_cdf((1 - confidence) / 2) ** 2)  # [average.7]
        else:
            from scipy.stats import chi2

            square = float(chi2.isf(1 - confidence, width))
        return Ellipsoid(self.estimate, square**0.5 * self.deviation, confidence)
