"""Exact discrete noise in plain big integers: short, slow, for any rational scale.

The Canonne-Kamath-Steinke samplers. They draw the seeded noise of tests and serve as the reference for the fast
engines. `below(n)` must be uniform on 0, ..., n - 1; everything else is comparison of integers.
"""

from collections.abc import Callable
from fractions import Fraction

Below = Callable[[int], int]


def bernoulli(chance: Fraction, below: Below) -> bool:
    """True with probability `chance` in [0, 1]."""
    return below(chance.denominator) < chance.numerator


def bernoulli_exp(rate: Fraction, below: Below) -> bool:
    """True with probability exp(-rate), rate >= 0: von Neumann's alternating series, a unit at a time."""
    while rate > 1:
        if not bernoulli_exp(Fraction(1), below):
            return False
        rate -= 1
    k = 1
    while bernoulli(rate / k, below):
        k += 1
    return k % 2 == 1


def geometric(scale: Fraction, below: Below) -> int:
    """P(k) ~ exp(-k / scale), k = 0, 1, ..."""
    t, s = scale.numerator, scale.denominator
    while True:
        u = below(t)
        if bernoulli_exp(Fraction(u, t), below):
            break
    v = 0
    while bernoulli_exp(Fraction(1), below):
        v += 1
    return (u + t * v) // s


def laplace(scale: Fraction, below: Below) -> int:
    """P(k) ~ exp(-|k| / scale) on the integers."""
    while True:
        magnitude, sign = geometric(scale, below), below(2)
        if magnitude or not sign:  # zero is counted once
            return -magnitude if sign else magnitude


def gaussian(sigma: int, below: Below) -> int:
    """P(k) ~ exp(-k^2 / 2 sigma^2) on the integers: rejection from Laplace noise of scale sigma."""
    while True:
        candidate = laplace(Fraction(sigma), below)
        if bernoulli_exp(Fraction((abs(candidate) - sigma) ** 2, 2 * sigma**2), below):
            return candidate
