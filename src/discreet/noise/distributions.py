"""The integer distributions of all noise: where draws come from, what is known without drawing, and simulated draws.

A source gives exact distributions, whatever it is fed by. Secret draws of a few values go to OpenDP's primitives,
seeded ones to the plain samplers below, and bulk draws of either to the compiled sampler `bulk`: one distribution,
three engines, one set of tests. The plain samplers are those of Canonne, Kamath and Steinke in big integers: short,
slow, for any rational scale. Their `below(n)` must be uniform on 0, ..., n - 1; everything else is comparison of
integers.

Distribution functions are for error bars. Simulations are for null distributions and power: their stream is numpy's,
its seed public or drawn through the door, and nothing that protects a person is drawn from it.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from statistics import NormalDist
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from discreet._compiled.warmth import warm
from discreet.errors import BadInput
from discreet.privacy.exact import Number, exact, float_above, is_number

LARGEST_SCALE: Final = 2**50  # 8000 scales fit in an int64: saturation has a chance of e^-8000
SMALLEST_SCALE: Final = Fraction(1, 2**9)  # a draw other than 0 has a chance of e^-512
BULK: Final = 2000  # values from which the compiled sampler is worth its import
COLD_DRAWS: Final = 50_000  # values from which it is worth being compiled
Integers = npt.NDArray[np.int64]
Words = Callable[[int], npt.NDArray[np.uint64]]


class BitSource(Protocol):
    """Exact random integers. An engine may saturate at the ends of an int64: see LARGEST_SCALE."""

    @property
    def secure(self) -> bool:
        """True if nobody can repeat the draws."""

    def below(self, bound: int) -> int:
        """Uniform on 0, ..., bound - 1, for any whole bound."""

    def laplace(self, size: int, scale: Fraction) -> Integers:
        """P(k) ~ exp(-|k| / b), b = scale; `drawn_scale` gives the scales that every engine can draw."""

    def gaussian(self, size: int, sigma: int) -> Integers:
        """P(k) ~ exp(-k^2 / 2 sigma^2)."""

    def words(self, count: int) -> npt.NDArray[np.uint64]:
        """Fresh uniform 64-bit words."""


@lru_cache(maxsize=4096)
def drawn_scale(scale: Fraction) -> Fraction:
    """The scale that is drawn when `scale` is asked for: the least float with 31 binary digits not below it.

    Every engine can draw it exactly, and more noise than was paid for costs nobody any privacy: nor does a scale
    of 2^-9 where a smaller one would do. One above 2^50 is refused.
    """
    if scale > LARGEST_SCALE:
        raise BadInput("the noise would be more than 2^50 steps wide; ask for a larger epsilon or use a coarser grid")
    scale = max(scale, SMALLEST_SCALE)
    exponent = int(np.frexp(float_above(scale))[1]) - 31
    unit = Fraction(2) ** exponent
    return -(-scale // unit) * unit


def claimed(sensitivity: Number) -> Fraction:
    """A claimed sensitivity, exactly; refused unless it is a number above 0."""
    if not (is_number(sensitivity) and sensitivity > 0):
        raise BadInput(f"the sensitivity is {sensitivity!r}; it must be a finite number above 0")
    return exact(sensitivity)


def geometric(source: BitSource, size: int, scale: Fraction) -> Integers:
    """P(k) ~ exp(-k / scale), k = 0, 1, ...: discrete Laplace noise given that it is not negative."""
    kept = np.empty(0, dtype=np.int64)
    while kept.size < size:
        draws = source.laplace(2 * (size - kept.size) + 1, scale)
        kept = np.concatenate([kept, draws[draws >= 0]])
    return kept[:size]


def bulk_laplace(size: int, scale: Fraction, words: Words) -> Integers | None:
    """The compiled sampler, if it is worth it and installed."""
    if size < BULK or not warm(size, "bulk", least=COLD_DRAWS) or not compiled():
        return None
    from discreet.noise import bulk

    shift = scale.denominator.bit_length() - 1
    if shift > 40:  # a scale below 2^-9: too few bits here, and every draw is 0
        return None
    return bulk.laplace(size, scale.numerator, shift, words)


def bulk_gaussian(size: int, sigma: int, words: Words) -> Integers | None:
    """The compiled sampler, if it is worth it and installed."""
    if size < BULK or not warm(size, "bulk", least=COLD_DRAWS) or not compiled():
        return None
    from discreet.noise import bulk

    return bulk.gaussian(size, sigma, words)


@cache
def compiled() -> bool:
    """Whether numba (the extra `fast`) is installed and loads: the number of values must not decide on an error."""
    try:
        import discreet.noise.bulk  # noqa: F401
    except Exception:  # noqa: BLE001  whatever keeps it from loading
        return False
    return True


Below = Callable[[int], int]


def bernoulli_exp(top: int, bottom: int, below: Below) -> bool:
    """True with probability exp(-top / bottom), top >= 0: von Neumann's alternating series, a unit at a time.

    In whole numbers: fractions would take most of the time.
    """
    while top > bottom:
        if not bernoulli_exp(1, 1, below):
            return False
        top -= bottom
    k, chances = 1, bottom
    while True:  # a coin of chance top / (bottom k), in lowest terms
        shared = math.gcd(top, chances)
        if below(chances // shared) >= top // shared:
            return k % 2 == 1
        k, chances = k + 1, chances + bottom


def plain_geometric(scale: Fraction, below: Below) -> int:
    """P(k) ~ exp(-k / scale), k = 0, 1, ..."""
    t, s = scale.numerator, scale.denominator
    while True:
        u = below(t)
        if bernoulli_exp(u, t, below):
            break
    v = 0
    while bernoulli_exp(1, 1, below):
        v += 1
    return (u + t * v) // s


def plain_laplace(scale: Fraction, below: Below) -> int:
    """P(k) ~ exp(-|k| / scale) on the integers."""
    while True:
        magnitude, sign = plain_geometric(scale, below), below(2)
        if magnitude or not sign:  # zero is counted once
            return -magnitude if sign else magnitude


def plain_gaussian(sigma: int, below: Below) -> int:
    """P(k) ~ exp(-k^2 / 2 sigma^2) on the integers: rejection from Laplace noise of scale sigma."""
    scale = Fraction(sigma)
    while True:
        candidate = plain_laplace(scale, below)
        if bernoulli_exp((abs(candidate) - sigma) ** 2, 2 * sigma**2, below):
            return candidate


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


def pivot_tail(sizes: npt.NDArray[np.float64], p: float, seen: float, scale: float) -> npt.NDArray[np.float64]:
    """P(X - n p + (1 - p) L1 - p L2 >= seen) for each n: X binomial, L1 and L2 Laplace of this scale. [proportion.4]

    A sum over the X within 8.5 standard deviations and 45 scales of the noise, in blocks of odd length where there are
    many, each at its middle; those above count as a whole.
    """
    from scipy.special import betainc, gammaln

    wide, narrow = scale * max(p, 1 - p), scale * min(p, 1 - p)
    sd = math.sqrt(float(sizes.max()) * p * (1 - p))
    if sd == 0:
        return np.full(len(sizes), two_laplace_tail(np.array([seen]), wide, narrow)[0])
    block = 2 * int(min(wide, sd) / 64) + 1
    first = max(-8.5 * sd - 20, seen - 45 * wide) / block
    last = max(first, min(8.5 * sd + 20, seen + 45 * wide) / block)
    n = sizes[:, None]
    x = np.rint(n * p) + block * np.arange(math.floor(first) - 1, math.ceil(last) + 2)
    inside = np.clip(x, 0, n)
    chance = gammaln(n + 1) - gammaln(inside + 1) - gammaln(n - inside + 1)
    chance = np.where(x == inside, np.exp(chance + inside * math.log(p) + (n - inside) * math.log1p(-p)), 0.0)
    top = np.clip(x[:, -1] + (block - 1) // 2, -1, sizes)
    beyond = np.where(top < sizes, betainc(np.maximum(top, 0) + 1, np.maximum(sizes - top, 1), p), 0.0)
    beyond = np.where(top < 0, 1.0, beyond)
    tails: npt.NDArray[np.float64] = beyond + block * (chance * two_laplace_tail(seen - (x - n * p), wide, narrow)).sum(
        axis=1
    )
    return tails


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


def stream(seed: int) -> np.random.Generator:
    """Repeatable random numbers."""
    return np.random.Generator(np.random.Philox(seed))


def laplace(generator: np.random.Generator, size: tuple[int, ...], scale: Fraction) -> Integers:
    """Discrete Laplace noise of the distribution that the door draws: the difference of two geometric numbers."""
    stop = -np.expm1(-float(1 / scale))
    found: Integers = generator.geometric(stop, size) - generator.geometric(stop, size)
    return found
