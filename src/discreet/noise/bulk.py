"""A million exact draws at once: the discrete Laplace and the discrete Gaussian distribution, compiled.

The distributions, on the integers:

    laplace     P(Z = k) ~ exp(-|k| / b),             b = numerator / 2**shift
    gaussian    P(Z = k) ~ exp(-k**2 / (2 sigma**2)),  sigma an integer

Everything is decided by comparing integers: no float, no rounded probability. All randomness comes from the
64-bit words that the caller hands in; if they are independent and uniform, the distributions are exact. As with any
rejection, the time that a draw takes depends on its value.

Why it is exact:

[bulk.1] `_below(n)` is uniform on 0, ..., n-1, for n <= 2**63. A word w is mapped to the high half of the 128-bit
product w n. The low halves of the words mapped to one h are spaced by n; those that are not below 2**64 mod n
number floor(2**64 / n), for every h, and the other words are replaced by fresh ones. So `_below(n) < a` is an
exact Bernoulli(a/n).

[bulk.2] `_chain` is Bernoulli(exp(-a/d)) for 0 <= a <= d. Step n = 1, 2, ... succeeds with probability a/(d n),
and the answer is yes if the first failure is at an odd n. The first i steps succeed with probability g**i /
i!, g = a/d, so yes has probability 1 - g + g**2 / 2! - ... = exp(-g).

[bulk.3] A pick is i with probability share exp(-g_i), by one draw, or it is refused. For odd m, m + 2 >= g, the
series of exp(-g) is S + T (1 - g/(m+2) + g**2 / ((m+2) (m+3)) - ...), where S is the sum of its terms up to m
and T the size of the next one; the bracket is the chance of yes of a chain entered at step m + 2. So share S
is a stretch of the draw in which i is sure, share T one in which such a chain decides. All stretches end at
multiples of 1/total, and the draw is below total. One more pair of stretches, of chance exp(-h) without
share, is the tail: it counts a round and picks again, which makes the chance share exp(-h rounds - g_i).

[bulk.4] `_laplace`: U uniform below t and kept with probability exp(-U / (2 t)), and V with P(V = v) ~ exp(-v/2),
make X = U + t V with P(X = x) ~ exp(-x / (2 t)). So Y = X >> (shift + 1) has P(Y = y) ~ exp(-y 2**shift / t)
= exp(-y/b). V is i + 8 rounds, with g_i = i/2 and h = 4. A fair sign, with -0 refused, makes it two-sided;
sign and U are the last bit and the rest of one draw below 2 t, hence independent.

[bulk.5] `_gaussian`: k with P(k) ~ exp(-k**2 / 2) is i if there was no round, g_i = i**2 / 2; each round, h =
9/2, makes k + 3 of k if 3 k trials of exp(-1) succeed, as (k + 3)**2 / 2 = k**2 / 2 + 3 k + 9/2. Then j
uniform below sigma, x = j/sigma, is kept with exp(-x**2 / 2) exp(-x)**k. So k sigma + j comes with
probability ~ exp(-(k + x)**2 / 2), and every integer >= 0 is such a sum in one way. For exp(-x**2 / 2), step
n of the chain is the conjunction of j/(sigma n) and j/(2 sigma). The sign is as in [bulk.4].

[bulk.6] The values depend on the stream of words alone, not on the pieces in which it comes. An attempt reads
word after word until it ends in a value or a refusal; the next begins at the next word. One that runs off the
words in hand is neither dropped (attempts that read many words are not like the others) nor continued with
words redrawn: it is run again from its own first word once more words lie behind them, and so meets the words
it would have met in one long buffer. To let it return at all, words past the end read as 2**64 - 1:
`_below(n)` is then n - 1, every chain ends, every pick is refused, and what comes of it is thrown away. So
are the words left at the end: nothing is kept that a forked process could repeat.

[bulk.7] Integers do not overflow by accident. While n, k < 2**10 and V < 2**11, the products d n, t V and k sigma
are at most 2**63. That V, k or the n of a chain gets there has probability below exp(-1000) per value; then,
and only then, a value may be wrong.

Sources: Canonne, Kamath and Steinke, "The discrete Gaussian for differential privacy" (2020), algorithm 2,
here with a power of two for its s and, as fewer U are refused, 2 t for its t; Karney, "Sampling exactly from
the normal distribution" (2016), algorithm D, here with mean 0 and integer sigma. Where they find V and k by
runs of coins, we pick them [bulk.3]; where Karney splits exp(-x (2k + x) / 2) into k + 1 equal factors, we take
exp(-x**2 / 2) and k times exp(-x), which needs fewer words. The chain is von Neumann's (1951), the uniform
draw is Lemire's, "Fast random integer generation in an interval" (2019).
"""

import operator
from collections.abc import Callable
from fractions import Fraction
from math import factorial, lcm
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit, types
from numba.extending import intrinsic

from discreet.errors import BadInput

Word = np.uint64
Truth = bool | np.bool_
Values = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.uint64]
Words = Callable[[int], Numbers]
Layout = tuple[int, list[int], list[int], list[int]]
Attempt = tuple[Truth, Word, Word, Word]
Kernel = TypeVar("Kernel", bound=Callable[..., Any])

_LIMIT = 2**52  # scales stay below: room for the products of [bulk.7]
_BLOCK = 2**15  # words in hand: 256 KiB, which a core keeps in its cache
_RARE = Fraction(1, 128)  # how much of exp(-g) is left to chains [bulk.3]

# numba turns uint64 mixed with a plain int into a float, hence no literals below.
_0, _1, _2, _3, _8, _PAST_END = (Word(n) for n in (0, 1, 2, 3, 8, 2**64 - 1))


def _compiled(function: Kernel) -> Kernel:
    # Inlined, as handing on a position in the words costs more than most helpers do.
    options = {"error_model": "numpy", "forceinline": True}
    kernel: Kernel
    try:
        kernel = njit(cache=True, **options)(function)
    except RuntimeError:  # nowhere to write the cache: compile again in every process
        kernel = njit(**options)(function)
    return kernel


def _lower_high(_typing: Any, _x: Any, _y: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        x, y = (builder.zext(argument, ir.IntType(128)) for argument in arguments)
        shifted = builder.lshr(builder.mul(x, y), ir.Constant(ir.IntType(128), 64))
        return builder.trunc(shifted, ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), generate


def _lower_load(_typing: Any, _at: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.load(builder.inttoptr(arguments[0], ir.IntType(64).as_pointer()))

    return types.uint64(types.uint64), generate


# The high half of x * y; the word at an address. Helpers pass addresses, as numba would count references to
# an array at every call, and that with atomic instructions.
_high: Callable[[Word, Word], Word] = intrinsic(_lower_high)
_load: Callable[[Word], Word] = intrinsic(_lower_load)


@_compiled
def _below(at: Word, end: Word, n: Word) -> tuple[Word, Word]:
    """Uniform on 0, ..., n-1. Like all helpers, it reads words from `at` on and returns where it stopped."""
    while True:
        word = _PAST_END
        if at < end:
            word = _load(at)
        at += _8
        low = word * n
        if low >= n or low >= (_0 - n) % n:  # as n > 2**64 mod n, few divisions  # [bulk.1]
            return _high(word, n), at


@_compiled
def _chain(at: Word, end: Word, a: Word, d: Word, n: Word) -> tuple[Truth, Word]:
    """Von Neumann's chain, entered at step n; Bernoulli(exp(-a/d)) if n is 1."""
    while True:
        drawn, at = _below(at, end, d * n)  # [bulk.7]
        if drawn >= a:
            return n & _1 == _1, at  # [bulk.2]
        n += _1


def _layout(share: Fraction, rates: list[Fraction], tail: Fraction) -> Layout:
    """For [bulk.3]: total, where each pair of stretches ends, where its first does, the step of its chain."""
    ends, sure, steps = [Fraction(0)], [], []
    for g, weight in [*((g, share) for g in rates), (tail, Fraction(1))]:
        m = 1
        while m + 2 < g or g ** (m + 1) > _RARE * factorial(m + 1):
            m += 2
        terms = [(-g) ** i / factorial(i) for i in range(m + 2)]
        sure.append(ends[-1] + weight * sum(terms[:-1]))
        ends.append(sure[-1] + weight * terms[-1])
        steps.append(m + 2)
    total = lcm(*(end.denominator for end in ends + sure))
    return total, [int(end * total) for end in ends[1:]], [int(end * total) for end in sure], steps


def _picker(share: Fraction, rates: list[Fraction], tail: Fraction) -> Callable[[Word, Word], Attempt]:
    """Compile the pick of [bulk.3]: whether it was not refused, rounds, i, where it stopped. Rates are halves."""
    exact_total, exact_ends, sure, steps = _layout(share, rates, tail)
    total, last, ends = Word(exact_total), Word(len(rates)), tuple(Word(end) for end in exact_ends)
    sure_below = np.array([*sure, 0], dtype=np.uint64)  # nothing is sure behind the tail
    twice_g = np.array([int(2 * g) for g in (*rates, tail)], dtype=np.uint64)
    step = np.array(steps, dtype=np.uint64)

    @_compiled
    def _pick(at: Word, end: Word) -> Attempt:
        rounds = _0
        while True:
            drawn, at = _below(at, end, total)
            i = _0
            for stretch_end in ends:  # counted, as a search would mispredict its branches
                i += Word(drawn >= stretch_end)
            if drawn >= sure_below[i]:
                if i > last:
                    return False, rounds, i, at
                kept, at = _chain(at, end, twice_g[i], _2, step[i])
                if not kept:
                    return False, rounds, i, at
            if i < last:
                return True, rounds, i, at  # [bulk.3]
            rounds += _1  # [bulk.3]

    return _pick


# The shares leave little to refuse, but not nothing: [bulk.6] needs it.
_pick_v = _picker(Fraction(25, 64), [Fraction(i, 2) for i in range(8)], Fraction(4))
_pick_k = _picker(Fraction(9, 16), [Fraction(i * i, 2) for i in range(3)], Fraction(9, 2))


@_compiled
def _laplace(at: Word, end: Word, t: Word, shift: Word) -> Attempt:
    """One attempt: whether it was not refused, the magnitude, the sign, where it stopped."""
    drawn, at = _below(at, end, t + t)
    u, sign = drawn >> _1, drawn & _1
    kept, at = _chain(at, end, u, t + t, _1)
    if not kept:
        return False, _0, _0, at
    kept, rounds, i, at = _pick_v(at, end)
    if not kept:
        return False, _0, _0, at
    return True, (u + t * (i + _8 * rounds)) >> (shift + _1), sign, at  # [bulk.4]


@_compiled
def _gaussian(at: Word, end: Word, sigma: Word) -> Attempt:
    """One attempt: whether it was not refused, the magnitude, the sign, where it stopped."""
    kept, rounds, k, at = _pick_k(at, end)
    if not kept:
        return False, _0, _0, at
    for _ in range(rounds):
        for _ in range(_3 * k):
            kept, at = _chain(at, end, _1, _1, _1)
            if not kept:
                return False, _0, _0, at
        k += _3  # [bulk.5]
    drawn, at = _below(at, end, sigma + sigma)
    j, sign = drawn >> _1, drawn & _1
    n = _1
    while True:  # exp(-x**2 / 2)
        drawn, at = _below(at, end, sigma * n)  # [bulk.7]
        if drawn >= j:
            break
        drawn, at = _below(at, end, sigma + sigma)
        if drawn >= j:
            break
        n += _1
    if n & _1 == _0:
        return False, _0, _0, at
    for _ in range(k):
        kept, at = _chain(at, end, j, sigma, _1)
        if not kept:
            return False, _0, _0, at
    return True, k * sigma + j, sign, at  # [bulk.5]


@_compiled
def _fill(out: Values, words: Numbers, normal: bool, scale: Word, shift: Word) -> tuple[int, Word]:
    """Fill `out` as far as the words go: how many values, and how many words the finished attempts read."""
    at = start = Word(words.ctypes.data)
    end = start + Word(words.size) * _8
    done = 0
    while done < out.size:
        if normal:
            kept, magnitude, sign, after = _gaussian(at, end, scale)
        else:
            kept, magnitude, sign, after = _laplace(at, end, scale, shift)
        if after > end:
            break  # the attempt that began at `at` is run again, with more words behind it  # [bulk.6]
        at = after
        out[done] = np.int64((magnitude ^ (_0 - sign)) + sign)  # the sign, in two's complement
        done += int(kept & (magnitude | (_1 - sign) != _0))  # -0 is refused  # [bulk.4]
    return done, (at - start) // _8


def _draw(size: int, words: Words, normal: bool, scale: int, shift: int) -> Values:
    out = np.empty(_within("size", size, 0, 2**48), dtype=np.int64)
    hand = np.empty(0, dtype=np.uint64)
    done = 0
    while done < out.size:
        fresh = words(min(_BLOCK, 8 * (out.size - done) + 32))
        hand = np.concatenate([hand, fresh], dtype=np.uint64, casting="no")
        more, read = _fill(out[done:], hand, normal, Word(scale), Word(shift))
        done += more
        hand = hand[int(read) :]  # [bulk.6]
    return out


def _within(name: str, value: int, least: int, bound: int) -> int:
    if not least <= operator.index(value) < bound:
        raise BadInput(f"{name} is {value}; it must be at least {least} and below {bound}")
    return operator.index(value)


def laplace(size: int, numerator: int, shift: int, words: Words) -> Values:
    """`size` independent draws with P(k) proportional to exp(-|k| 2**shift / numerator).

    `words(n)` gives n fresh random words; numerator is at least 1 and below 2**52, shift from 0 to 40.
    """
    scale = _within("numerator", numerator, 1, _LIMIT)  # [bulk.7]
    return _draw(size, words, False, scale, _within("shift", shift, 0, 41))


def gaussian(size: int, sigma: int, words: Words) -> Values:
    """`size` independent draws with P(k) proportional to exp(-k**2 / (2 sigma**2)).

    `words(n)` gives n fresh random words; sigma is at least 1 and below 2**52.
    """
    return _draw(size, words, True, _within("sigma", sigma, 1, _LIMIT), 0)  # [bulk.7]
