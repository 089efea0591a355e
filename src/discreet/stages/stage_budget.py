"""What the stages of a mean need: shares of a budget, a noisy size, and how large the noise on a clipped mean is."""

import math
from fractions import Fraction

from discreet.accounting.allocation import STRONGEST, Allocation, Share
from discreet.noise.lattice import slack
from discreet.privacy.exact import Number, exact, root_below
from discreet.privacy.loss import Choice, Gaussian, Laplace
from discreet.privacy.mechanism import Randomness
from discreet.privacy.neighbours import Neighbours
from discreet.stages.clip import fitting_bits, sensitivity_of
from discreet.tables.entries import Numbers


def enough(nats: int, size: int, epsilon: Number, least: Fraction, most: Fraction) -> Fraction:
    """The share of epsilon with which `size` records give so many nats, between two others."""
    return min(max(Fraction(nats, size) / exact(epsilon), least), most)


def concentrated(
    epsilon: Number, delta: Number, *, centre: Fraction, scale: Fraction, mean: Fraction, times: int = 1
) -> Allocation | None:
    """These shares of rho, Gaussian noise last, under REPLACE. None where delta is 0 or too small for the grid.

    With `times` each of so many columns is released by these stages, all of them for epsilon and delta.
    """
    first = Allocation.concentrated(epsilon, delta) if delta else None
    if first is None:
        return None
    strongest = min(Fraction(STRONGEST), root_below(first.square / times * mean))
    whole = Allocation.concentrated(epsilon, delta, slack=times * _slack(strongest))  # of weaker noise there is less

    def cost(mu: Fraction) -> Gaussian:
        strength = min(strongest, mu)
        return Gaussian(strength, _slack(strength))

    if whole is None or times * exact(cost(root_below(whole.square / times * mean)).slack) > whole.slack:
        return None
    return whole.split(
        centre=Share(centre, Choice, times),
        scale=Share(scale, Choice, times) if scale else None,
        mean=Share(mean, cost, times),
    )


def _slack(mu: Fraction) -> Fraction:
    """What noise of this mu on a clipped sum under REPLACE falls short of a Gaussian distribution."""
    return slack(1, int(2 ** (fitting_bits(Gaussian(mu)) + 1) / mu))


def unit_variance(cost: Laplace | Gaussian, size: int, neighbours: Neighbours) -> float:
    """The variance of the noise on a mean of records clipped to +-1."""
    move = sensitivity_of(1, neighbours) / size
    if isinstance(cost, Gaussian):
        return (move / float(cost.mu)) ** 2
    return 2 * (move / float(cost.epsilon)) ** 2


def noisy_size(values: Numbers, cost: Laplace, rng: Randomness) -> int:
    """The number of records plus noise ([additive.1], on a fine grid), at least 1."""
    bits = fitting_bits(cost)
    blurred: int = rng.blur(len(values) << bits, sensitivity=2**bits, cost=cost)
    return max(1, round(Fraction(blurred, 2**bits)))


def count_error(stages: Allocation, size: float) -> float:
    """The relative standard deviation of a noisy size; 0 where the size is public."""
    return math.sqrt(2) / (float(stages.part("size", Laplace).epsilon) * size) if "size" in stages else 0.0
