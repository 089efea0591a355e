"""Where random integers come from. A source gives exact distributions, whatever it is fed by.

Secret draws of a few values go to OpenDP's primitives, seeded ones to the plain samplers below, and bulk draws of
either to the compiled sampler `bulk`: one distribution, three engines, one set of tests. The plain samplers are those
of Canonne, Kamath and Steinke in big integers: short, slow, for any rational scale. Their `below(n)` must be uniform on
0, ..., n - 1; everything else is comparison of integers.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import cache, lru_cache
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput
from discreet.privacy.exact import Number, exact, float_above, is_number

LARGEST_SCALE: Final = 2**50  # 8000 scales fit in an int64: saturation has a chance of e^-8000
SMALLEST_SCALE: Final = Fraction(1, 2**9)  # a draw other than 0 has a chance of e^-512
BULK: Final = 2000  # values from which the compiled sampler is worth its import
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
    if size < BULK or not compiled():
        return None
    from discreet.noise import bulk

    shift = scale.denominator.bit_length() - 1
    if shift > 40:  # a scale below 2^-9: too few bits here, and every draw is 0
        return None
    return bulk.laplace(size, scale.numerator, shift, words)


def bulk_gaussian(size: int, sigma: int, words: Words) -> Integers | None:
    """The compiled sampler, if it is worth it and installed."""
    if size < BULK or not compiled():
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


def plain_geometric(scale: Fraction, below: Below) -> int:
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


def plain_laplace(scale: Fraction, below: Below) -> int:
    """P(k) ~ exp(-|k| / scale) on the integers."""
    while True:
        magnitude, sign = plain_geometric(scale, below), below(2)
        if magnitude or not sign:  # zero is counted once
            return -magnitude if sign else magnitude


def plain_gaussian(sigma: int, below: Below) -> int:
    """P(k) ~ exp(-k^2 / 2 sigma^2) on the integers: rejection from Laplace noise of scale sigma."""
    while True:
        candidate = plain_laplace(Fraction(sigma), below)
        if bernoulli_exp(Fraction((abs(candidate) - sigma) ** 2, 2 * sigma**2), below):
            return candidate
