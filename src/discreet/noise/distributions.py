"""What is known of the door's noise without drawing it: distribution functions, for error bars, and simulated draws.

Simulations are for null distributions and power. Their stream is numpy's, its seed public or drawn through the door:
nothing that protects a person is drawn here.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from discreet.noise.integers import drawn_scale
from discreet.privacy.exact import Number, exact

Floats = npt.NDArray[np.float64]


def laplace_scale(sensitivity: Number, epsilon: Number) -> Fraction:
    """The scale of the discrete Laplace noise that `blur` draws."""
    return drawn_scale(exact(sensitivity) / exact(epsilon))


@dataclass(frozen=True, slots=True)
class LaplaceDistribution:
    """P(k) ~ a^|k|, a = e^{-1/scale}."""

    scale: Fraction

    @property
    def sd(self) -> float:
        """Standard deviation: sqrt(2 a) / (1 - a)."""
        rate = float(1 / self.scale)
        return math.sqrt(2) * math.exp(-rate / 2) / -math.expm1(-rate)

    def radius(self, confidence: float, draws: int = 1) -> int:
        """The least t with P(all of `draws` have |Z| <= t) >= confidence: (1 - 2 a^{t+1} / (1+a))^draws. Exact.

        >>> LaplaceDistribution(Fraction(2)).radius(0.95, 100)
        15
        """
        rate = float(1 / self.scale)
        allowed = -math.expm1(math.log(confidence) / draws)  # the tail that each may have
        t = max(0, math.ceil(-math.log(allowed * (1 + math.exp(-rate)) / 2) / rate) - 2)
        while 2 * math.exp(-rate * (t + 1)) / (1 + math.exp(-rate)) > allowed:
            t += 1
        return t


@dataclass(frozen=True, slots=True)
class GaussianDistribution:
    """Gaussian noise on a grid of at least 2^20 steps in sigma, rounded to whole numbers."""

    sigma: float

    @property
    def sd(self) -> float:
        """Standard deviation, rounding included."""
        return math.hypot(self.sigma, math.sqrt(1 / 12))

    def radius(self, confidence: float, draws: int = 1) -> int:
        """All of `draws` are this close: the normal quantile and half a unit. The grid costs less than 1e-12."""
        each = -math.expm1(math.log(min(1 - 1e-15, confidence + 1e-12)) / draws)
        return math.floor(-self.sigma * NormalDist().inv_cdf(each / 2) + 0.5)


def two_laplace_tail(x: Floats, one: float, other: float) -> Floats:
    """P(L1 + L2 >= x) for continuous Laplace draws of these scales; equal scales are taken as nearly so.

    For x >= 0 it is (w^2 e^{-x/w} - s^2 e^{-x/s}) / (2 (w^2 - s^2)), w the wider and s the narrower scale.
    """
    wide = max(one, other)
    narrow = min(max(min(one, other), 1e-9 * wide), (1 - 1e-4) * wide)
    far = np.abs(x)
    tail = (wide**2 * np.exp(-far / wide) - narrow**2 * np.exp(-far / narrow)) / (2 * (wide**2 - narrow**2))
    return np.where(x >= 0, tail, 1 - tail)


def tulap_cdf(x: Floats, epsilon: float) -> Floats:
    """P(N <= x) for canonical noise N: discrete Laplace of scale 1/epsilon plus uniform on (-1/2, 1/2).

    Continuous, and the ends of a unit step differ by exactly e^epsilon, which is what makes its tests most powerful.
    """
    nearest = np.rint(x)
    inside = x - nearest + 0.5  # the uniform's share of the step at `nearest`
    b = math.exp(-epsilon)
    with np.errstate(over="ignore", under="ignore"):
        fall = np.exp(-epsilon * np.abs(nearest)) / (1 + b)
    left = fall * (b + inside * (1 - b))
    right = 1 - fall * (b + (1 - inside) * (1 - b))
    return np.where(nearest <= 0, left, right)


Integers = npt.NDArray[np.int64]


def stream(seed: int) -> np.random.Generator:
    """Repeatable random numbers."""
    return np.random.Generator(np.random.Philox(seed))


def laplace(generator: np.random.Generator, size: tuple[int, ...], scale: Fraction) -> Integers:
    """Discrete Laplace noise of the distribution that the door draws: the difference of two geometric numbers."""
    stop = -np.expm1(-float(1 / scale))
    found: Integers = generator.geometric(stop, size) - generator.geometric(stop, size)
    return found
