"""What a friendly mean costs, and how it is shared between its test and its noise.

Both, and the event that the test's margin fails, keep (epsilon, delta) by [allocation.2].

A noisy number of rows, and what it is at least: the test that comes before an average.

Promise
    [friendly_budget.1] A whole number that one row moves by at most `sensitivity` leaves with the loss of its Gaussian
    noise.
    [friendly_budget.2] The noise exceeds the margin, or falls below minus the margin, with probability at most `miss`
    each.

Why
    [friendly_budget.1] It is put on a grid of 2^24 steps or more in the noise's standard deviation; then [additive.2].
    [friendly_budget.2] What is drawn is a discrete Gaussian Z of sigma steps, a whole number; P(Z >= m) <= P(N(0,
    sigma^2) >= m - 1) for every whole m >= 1 (Canonne, Kamath and Steinke 2020, Proposition 25). So z sigma + 1 steps
    will do, z the normal quantile of `miss`, here with a relative margin of 1e-9 for its rounding. Z is symmetric.
"""

import math
from fractions import Fraction
from statistics import NormalDist
from typing import Final

from discreet.accounting.allocation import STRONGEST, Allocation, Share
from discreet.errors import BadInput
from discreet.noise.lattice import Grid, slack
from discreet.privacy.exact import Number, exact, is_number
from discreet.privacy.guarantee import check_budget
from discreet.privacy.loss import Gaussian
from discreet.privacy.mechanism import Randomness
from discreet.privacy.neighbours import Neighbours

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
    """The number plus noise of standard deviation sensitivity / mu. [friendly_budget.1]"""
    grid = _grid(cost.mu, sensitivity)
    one = grid.steps(1)
    # [friendly_budget.1]
    blurred: int = rng.blur(min(count, PEOPLE * sensitivity) * one, sensitivity=sensitivity * one, cost=cost)
    return blurred * grid.step


def margin(mu: Number, miss: float, sensitivity: int = 1) -> Fraction:
    """What the noise of `noisy_count` exceeds with probability at most `miss`. [friendly_budget.2]

    >>> round(float(margin(1, 1e-7)), 3)
    5.199
    """
    grid = _grid(mu, sensitivity)
    sigma = math.ceil(sensitivity * grid.steps(1) / exact(mu))
    quantile = -NormalDist().inv_cdf(miss) * (1 + 1e-9)
    return (exact(quantile) * sigma + 1) * grid.step  # [friendly_budget.2]


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
