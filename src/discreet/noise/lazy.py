"""Exact draws with real weights, in integers: look at as many random bits as the answer needs.

A weight such as exp(-3/10) is no rational number, but any number of its digits can be had. A uniform real U in [0, 1)
picks index i when cum(i-1) <= U * total < cum(i). Here U is a stream of random bits and every weight an integer
interval that shrinks as digits are added; as soon as one index is certain it is the answer, and if none is, more bits
and more digits are taken. The law is exact: the answer is a function of the whole real U and of the true weights.
It is ambiguous after the first round with probability below about 2^-60, so that the time does not depend on the data.

Claims
    [Z1] `exp_bounds(x, bits)` returns integers low <= 2^bits exp(-x) <= high, high - low <= 4.
    [Z2] `pick` returns index i with probability w_i / sum w, provided the intervals contain the true weights, the
         order of the indices is the same at every precision, and the interval widths shrink to 0.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from discreet.noise.source import Source

Bounds = tuple[Sequence[int], Sequence[int]]  # low and high ends of the weights, times a common 2^bits


def exp_bounds(x: Fraction, bits: int) -> tuple[int, int]:
    """Integers around 2^bits exp(-x), x >= 0, at most 4 apart. [Z1]

    The argument is halved until it is below 1/2, the alternating Taylor series is summed with guard bits and an
    explicit error, and the result is squared back. All operations round down or up, never to nearest.
    """
    if x > bits * 0.7 + 2:  # exp(-x) < 2^-bits: in [0, 1]
        return 0, 1
    halvings = max(0, math.ceil(math.log2(float(x) + 1e-300)) + 1)
    guard = bits + 2 * halvings + 24
    one = 1 << guard
    argument = x / 2**halvings
    low = high = term_low = term_high = one
    k = 0
    while term_high > 1:
        k += 1
        term_low = term_low * argument.numerator // (argument.denominator * k)
        term_high = -(-term_high * argument.numerator // (argument.denominator * k))
        low, high = (low - term_high, high - term_low) if k % 2 else (low + term_low, high + term_high)
    low, high = (
        low - term_high - 1,
        high + term_high + 1,
    )  # the tail of an alternating series is below its last term
    for _ in range(halvings):
        low, high = low * low >> guard, -(-high * high >> guard)
    shift = guard - bits
    return low >> shift, -(-high >> shift)  # [Z1]


class Powers:
    """A table of exp(-base * s), s = 0, 1, 2, ...: bounds, grown by multiplication.

    The lower ends are rounded down. If one is within e of the truth, the next is within e + 5: the factor is within 4
    of its truth [Z1], both are at most 2^bits, and rounding takes off less than 1. So the upper end is 5 s higher.
    """

    def __init__(self, base: Fraction, bits: int) -> None:
        self._base, self._bits = base, bits
        self._low = [1 << bits]
        self._factor = exp_bounds(base, bits)[0]

    def __getitem__(self, s: int) -> tuple[int, int]:
        if s > len(self._low) + 64:  # far ahead: on its own, at the price of about as many steps
            return exp_bounds(self._base * s, self._bits)
        self._grow(s)
        return self._low[s], self._low[s] + 5 * s

    def _grow(self, s: int) -> None:
        lows, last, factor, bits = self._low, self._low[-1], self._factor, self._bits
        for _ in range(len(lows), s + 1):
            last = last * factor >> bits
            lows.append(last)

    def all(self, wanted: Sequence[int]) -> list[tuple[int, int]]:
        """The bounds for many s, in increasing order."""
        if wanted and wanted[-1] <= 4 * len(wanted):  # dense: all at once
            self._grow(wanted[-1])
            return [(self._low[s], self._low[s] + 5 * s) for s in wanted]
        return [self[s] for s in wanted]


def pick(weights: Callable[[int], Bounds], source: Source, bits: int = 192) -> int:
    """Index i with probability w_i / sum w; `weights(bits)` bounds all w_i * 2^bits. [Z2]

    A last index may stand for everything not listed yet, with low end 0: it is never returned, only refined.
    """
    uniform = drawn = 0
    while True:
        low, high = weights(bits)
        uniform = (uniform << (bits - drawn)) | source.below(1 << (bits - drawn))
        drawn = bits
        total_low, total_high = sum(low), sum(high)
        at_least, at_most = uniform * total_low >> bits, -(-(uniform + 1) * total_high >> bits)
        before_high = after_low = 0
        for index, (small, large) in enumerate(zip(low, high, strict=True)):
            after_low += small
            if before_high <= at_least and at_most <= after_low:
                return index  # [Z2]
            before_high += large
            if before_high > at_most:
                break
        bits *= 2
