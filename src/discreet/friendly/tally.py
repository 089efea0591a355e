"""A noisy number of rows, and what it is at least: the test that comes before an average.

Promise
    [FN1] A whole number that one row moves by at most `sensitivity` leaves with the loss of its Gaussian noise.
    [FN2] The noise exceeds the margin, or falls below minus the margin, with probability at most `miss` each.
Why
    [FN1] It is put on a grid of 2^24 steps or more in the noise's standard deviation; then [N2] of noise/blur.py.
    [FN2] What is drawn is a discrete Gaussian Z of sigma steps, a whole number; P(Z >= m) <= P(N(0, sigma^2) >= m - 1)
    for every whole m >= 1 (Canonne, Kamath and Steinke 2020, Proposition 25). So z sigma + 1 steps will do, z the
    normal quantile of `miss`, here with a relative margin of 1e-9 for its rounding. Z is symmetric.
"""

import math
from fractions import Fraction
from statistics import NormalDist
from typing import Final

from discreet.errors import BadInput
from discreet.noise.lattice import Grid, slack
from discreet.promise.exact import Number, exact, is_number
from discreet.promise.loss import Gaussian
from discreet.promise.mechanism import Randomness

PEOPLE: Final = 2**31  # numbers of people saturate here
FINE: Final = 22  # noise on means is at least 2^22 sqrt(d) steps
SLACK: Final = slack(1, 2**FINE)  # which every noise here must allow for, in all its coordinates together
STRONGEST: Final = 64  # the largest mu
WEAKEST: Final = Fraction(1, 10**6)


def noisy_count(count: int, cost: Gaussian, rng: Randomness, sensitivity: int = 1) -> Fraction:
    """The number plus noise of standard deviation sensitivity / mu. [FN1]"""
    grid = _grid(cost.mu, sensitivity)
    one = grid.steps(1)
    blurred: int = rng.blur(min(count, PEOPLE * sensitivity) * one, sensitivity=sensitivity * one, cost=cost)  # [FN1]
    return blurred * grid.step


def margin(mu: Number, miss: float, sensitivity: int = 1) -> Fraction:
    """What the noise of `noisy_count` exceeds with probability at most `miss`. [FN2]

    >>> round(float(margin(1, 1e-7)), 3)
    5.199
    """
    grid = _grid(mu, sensitivity)
    sigma = math.ceil(sensitivity * grid.steps(1) / exact(mu))
    quantile = -NormalDist().inv_cdf(miss) * (1 + 1e-9)
    return (exact(quantile) * sigma + 1) * grid.step  # [FN2]


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
