"""What a friendly mean costs, and how it is shared between its test and its noise.

Claims
    [friendly_budget.1] test, mean and the event of probability `miss` together keep (epsilon, delta): mu^2 is split
          exactly or from below, and mu is that of (epsilon, delta - miss), or a smaller epsilon, after the slack of
          both noises.

A noisy number of rows, and what it is at least: the test that comes before an average.

Promise
    [friendly_budget.2] A whole number that one row moves by at most `sensitivity` leaves with the loss of its Gaussian
    noise.
    [friendly_budget.3] The noise exceeds the margin, or falls below minus the margin, with probability at most `miss`
    each.

Why
    [friendly_budget.2] It is put on a grid of 2^24 steps or more in the noise's standard deviation; then [additive.2].
    [friendly_budget.3] What is drawn is a discrete Gaussian Z of sigma steps, a whole number; P(Z >= m) <= P(N(0,
    sigma^2) >= m - 1) for every whole m >= 1 (Canonne, Kamath and Steinke 2020, Proposition 25). So z sigma + 1 steps
    will do, z the normal quantile of `miss`, here with a relative margin of 1e-9 for its rounding. Z is symmetric.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from typing import Final

from discreet.accounting.calibrate import gaussian
from discreet.errors import BadInput
from discreet.noise.lattice import Grid, slack
from discreet.privacy.exact import Number, exact, is_number, root_below
from discreet.privacy.guarantee import check_budget
from discreet.privacy.loss import Approximate, Gaussian, Loss, compose
from discreet.privacy.mechanism import Randomness
from discreet.privacy.neighbours import Neighbours

MISSED: Final = Fraction(1, 10)  # of delta, for the event
SHARES: Final = tuple(Fraction(k, 200) for k in range(1, 121))  # of mu^2, for the test
USUAL: Final = Fraction(1, 5)  # where the number of rows is private


@dataclass(frozen=True, slots=True)
class Strength:
    """The whole noise, and the probability of the event."""

    mu: Fraction
    miss: Fraction

    @classmethod
    def of(cls, epsilon: Number, delta: Number) -> "Strength":
        """The largest that keeps (epsilon, delta). [friendly_budget.1]"""
        return _strength(exact(epsilon), exact(delta))

    @property
    def loss(self) -> Loss:
        """All of it, however it is shared."""
        return compose(Gaussian(self.mu, 2 * SLACK), Approximate(0, self.miss))  # [friendly_budget.1]

    def split(self, share: Number) -> tuple[Gaussian, Gaussian]:
        """The test's noise and the mean's. [friendly_budget.1]"""
        part, square = exact(share), self.mu**2
        return Gaussian(root_below(square * part), SLACK), Gaussian(root_below(square * (1 - part)), SLACK)

    def best_share(self, size: int | None, loss_per_margin: int = 2) -> Fraction:
        """The share that leaves the least noise on the mean of `size` rows that all agree. Public.

        The test's margin costs `loss_per_margin` rows for each unit.
        """
        if size is None:
            return USUAL
        quantile = -NormalDist().inv_cdf(float(self.miss))

        def precision(share: Fraction) -> float:
            kept = size - loss_per_margin * quantile / (float(self.mu) * math.sqrt(share))
            return kept * math.sqrt(1 - share) if kept > 0 else kept

        return max(SHARES, key=precision)


@lru_cache(maxsize=256)
def _strength(epsilon: Fraction, delta: Fraction) -> Strength:
    miss = delta * MISSED
    room, off = float((delta - miss) * (1 - Fraction(1, 10**12))), float(2 * SLACK) * (1 + 1e-12)
    # slack costs e^epsilon times itself; what holds at a smaller epsilon holds at this one
    tenth = math.ceil(1 - math.log10(delta))
    place = min(float(epsilon), max(0.0, math.log(10.0**-tenth / off)))
    return Strength(min(exact(gaussian(place, room, slack=off)), Fraction(STRONGEST)), miss)  # [friendly_budget.1]


def check_promise(epsilon: object, delta: object, neighbours: Neighbours, share: object) -> None:
    """Refuse what cannot be promised, before anything is read."""
    check_budget(epsilon, delta, 1 if neighbours.size_is_public else None)
    if not delta:
        raise BadInput("delta is 0; without bounds on the rows a mean in many columns needs one, about 1e-6")
    if Strength.of(epsilon, delta).mu ** 2 * SHARES[0] < WEAKEST**2:  # type: ignore[arg-type]
        raise BadInput(
            f"epsilon is {epsilon!r} and delta {delta!r}: noise of that size does not fit; give more of them"
        )
    if share is not None and not (is_number(share) and Fraction(1, 200) <= share <= Fraction(199, 200)):  # type: ignore[operator]
        raise BadInput(f"share is {share!r}; give the test's share of the budget, between 0.005 and 0.995, or None")


PEOPLE: Final = 2**31  # numbers of people saturate here
FINE: Final = 22  # noise on means is at least 2^22 sqrt(d) steps
SLACK: Final = slack(1, 2**FINE)  # which every noise here must allow for, in all its coordinates together
STRONGEST: Final = 64  # the largest mu
WEAKEST: Final = Fraction(1, 10**6)


def noisy_count(count: int, cost: Gaussian, rng: Randomness, sensitivity: int = 1) -> Fraction:
    """The number plus noise of standard deviation sensitivity / mu. [friendly_budget.2]"""
    grid = _grid(cost.mu, sensitivity)
    one = grid.steps(1)
    # [friendly_budget.2]
    blurred: int = rng.blur(min(count, PEOPLE * sensitivity) * one, sensitivity=sensitivity * one, cost=cost)
    return blurred * grid.step


def margin(mu: Number, miss: float, sensitivity: int = 1) -> Fraction:
    """What the noise of `noisy_count` exceeds with probability at most `miss`. [friendly_budget.3]

    >>> round(float(margin(1, 1e-7)), 3)
    5.199
    """
    grid = _grid(mu, sensitivity)
    sigma = math.ceil(sensitivity * grid.steps(1) / exact(mu))
    quantile = -NormalDist().inv_cdf(miss) * (1 + 1e-9)
    return (exact(quantile) * sigma + 1) * grid.step  # [friendly_budget.3]


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


def check_radius(radius: object) -> None:
    """Zero, or a positive number whose units are numbers."""
    if not is_number(radius) or not (radius == 0 or 1e-290 < radius < 1e290):  # type: ignore[operator]
        raise BadInput(f"the radius is {radius!r}; give 0 or a positive number between 1e-290 and 1e290")
