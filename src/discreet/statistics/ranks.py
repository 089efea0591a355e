"""Multiples of a declared unit, and the middle of two floats: what is done to values after they were drawn. Exact.

What the ends of a quantile's interval aim at, and what they may land on. Functions of public numbers.

A draw of the exponential mechanism over floats (noise/choose_float.py) that aims at rank tau lands in the gap after the
k-th record with weight e^{-rate |k - tau|} times the gap's share of the prior, rate = epsilon / (2 sensitivity). The
population's quantile lies in the gap after record B, B binomial. Aiming a `lead` of B - tau ranks below it, the draw
misses if it lands above.

Claims
    [ranks.1] Smooth: if the gaps' shares around the quantile are independent and exponential (density and prior are
         flat there), then with w_k = e^{-rate |k - tau|} the draw lands above it with probability integral over s > 0
         of  sum_{k >= B} w_k / (1 + s w_k)  /  ((1 + s w_B)  prod_k (1 + s w_k)), and for rates up to 1/16 with at most
         that of Laplace noise of scale 1 / rate that aims one rank nearer.
    [ranks.2] Worst: if the candidates are K cells of equal weight, one of which has score 0, the draw lands in a cell
         of score `lead` or more with probability at most K e^{-rate lead}, whatever the data.
    [ranks.3] `lower_rank` is the largest multiple of 1/4 at which the miss, averaged over Bin(n, q), is at most `tail`;
         n - lower_rank(n, 1 - q) is the same for the other side.
    [ranks.4] If n is only known to be in a band, aiming at n times `lower_share` keeps the miss at or below `tail` for
         every n in the band.

Why
    [ranks.1] The quantile cuts its gap into two exponential parts. With R the weighted sum of the parts above it and L
    that below, the chance is E R / (R + L) = integral of E R e^{-s (R + L)}; a part E of weight w has E e^{-swE} = 1 /
    (1 + s w) and E wE e^{-swE} = w / (1 + s w)^2. The bound for small rates is checked by test.
    [ranks.2] A cell of score 0 weighs 1, the others of interest together at most K e^{-rate lead}.
    [ranks.3] The miss falls in the lead. Mirroring the data turns q into 1 - q and rank tau into n - tau.
    [ranks.4] The band is cut into parts [n1, n2], and the share is at most lower_rank(n1) / n2 for all of them. Bin(n,
    q) grows in n, so for n in a part the lead over lower_rank(n1) is in distribution at least that of n1; and share * n
    is at most share * n2, which is at most lower_rank(n1).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.noise.choose_float import BINADES, LARGEST_KEY, Prior, Staircase, float_of, keys_of
from discreet.noise.order_statistics import Ordered
from discreet.privacy.exact import exact, least_whole
from discreet.privacy.loss import Choice
from discreet.privacy.mechanism import Randomness
from discreet.tables.entries import each

MAX: Final = float(np.finfo(float).max)


def middle(low: float, high: float, far: float) -> float:
    """Half-way; on the log scale if both ends have one sign and differ by more than the factor `far`.

    >>> middle(1.0, 3.0, 4.0), middle(1.0, 1e6, 4.0), middle(-1.7e308, 1.7e308, 4.0)
    (2.0, 1000.0, 0.0)
    """
    small, large = sorted((abs(low), abs(high)))
    if (low > 0 or high < 0) and small < large / far:
        return math.copysign(math.sqrt(small) * math.sqrt(large), high)
    return (low + high) / 2 if abs(low + high) <= MAX else low / 2 + high / 2


def floor_to(value: float, unit: float) -> float:
    """The largest multiple of `unit`, as a float, that is not above `value`. Exact. [quantile.4]

    >>> floor_to(0.3, 0.1), floor_to(0.29, 0.1), floor_to(-0.25, 0.1)
    (0.3, 0.2, -0.3)
    """
    times = math.floor(Fraction(value) / exact(unit))
    above = _float((times + 1) * exact(unit))
    return above if above <= value else _float(times * exact(unit))  # 0.3 stands for 3/10, though it is a little less


def ceil_to(value: float, unit: float) -> float:
    """The smallest multiple of `unit`, as a float, that is not below `value`. Exact. [quantile.4]

    >>> ceil_to(0.1, 0.1), ceil_to(0.11, 0.1)
    (0.1, 0.2)
    """
    return 0.0 - floor_to(-value, unit)


def nearest_to(value: float, unit: float) -> float:
    """The nearest multiple of `unit`, as a float."""
    return _float(round(Fraction(value) / exact(unit)) * exact(unit))


def _float(number: Fraction) -> float:
    """The nearest float, at most the largest one."""
    return float(min(max(number, -Fraction(MAX)), Fraction(MAX)))


Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Miss = Callable[[Any], Floats]  # the chance to land above, of a lead in steps of 1 / GRAIN ranks (whole numbers)

GRAIN: Final = 4  # ranks are aimed at in quarters
COARSE: Final = 1 / 16  # a rate from which on the gaps matter one by one
REACH: Final = 30.0  # e^-30: leads beyond it are held to be this one
NODES: Final = np.exp(np.arange(-25.0, 45.0, 0.25))  # the integral over s on a log scale, to nine digits
PARTS: Final = 32  # of a band of sizes
SPAN: Final = 10  # the bulk of |x| is looked for in windows of so many binades,
STRIDE: Final = 2  # this far apart;
BACK: Final = 7  # the prior is flat up to this many binades below a window's end,
RISE: Final = 6  # and nearly flat for so many more
BITS: Final = 20  # a guaranteed interval knows its ends to this many binary digits
START: Final = 2.0**52  # the floats from here on are the whole numbers
BLOCK: Final = 1 << 16  # records that stay in the cache


# --- ranks ---


def smooth(rate: float) -> Miss:
    """The miss where the density is smooth. [ranks.1]

    >>> [round(float(smooth(0.25)(GRAIN * lead)), 3) for lead in (0, 4, 8)]
    [0.5, 0.204, 0.079]
    """
    if rate < COARSE:
        return lambda steps: _laplace_tail(rate * (np.asarray(steps) / GRAIN - 1))  # [ranks.1]
    table = _table(rate)
    middle = len(table) // 2
    return lambda steps: table[np.clip(np.asarray(steps) + middle, 0, len(table) - 1)]


def worst(rate: float, cells: int) -> Miss:
    """The miss over cells of equal weight, whatever the data. [ranks.2]"""
    return lambda steps: np.exp(np.minimum(0.0, math.log(cells) - rate * np.asarray(steps) / GRAIN))  # [ranks.2]


def _laplace_tail(at: Floats) -> Floats:
    half = np.exp(-np.abs(at)) / 2
    return np.where(at > 0, half, 1 - half)


@lru_cache(maxsize=64)
def _table(rate: float) -> Floats:
    """The integral of [ranks.1] at leads -reach, -reach + 1 / GRAIN, ..., reach."""
    reach = math.ceil(REACH / rate)
    gaps = np.arange(-reach - 1, reach + 2)
    found = np.empty(2 * GRAIN * reach + 1)
    for part in range(GRAIN):  # aims at a whole rank, then a quarter above it, ...
        distance = np.abs(gaps - part / GRAIN)
        weights = np.exp(-rate * (distance - distance.min()))  # a common factor changes no ratio
        damped = 1 / (1 + NODES[:, None] * weights)
        above = np.cumsum((weights * damped)[:, ::-1], axis=1)[:, ::-1]
        together = np.exp(np.log(damped).sum(axis=1))
        misses = ((NODES * together)[:, None] * above * damped).sum(axis=0) / 4  # [ranks.1]; nodes are a quarter apart
        at = GRAIN * (gaps + reach) - part
        inside = (at >= 0) & (at < len(found))
        found[at[inside]] = misses[inside]
    return np.clip(found, 0.0, 1.0)


def lower_rank(size: int, q: float, miss: Miss, tail: float) -> Fraction:
    """The largest rank, in quarters, that a draw may aim at; 0 if there is none. [ranks.3]

    >>> lower_rank(200, 0.5, smooth(0.25), 0.025)
    Fraction(163, 2)
    """
    counts, chances = binomial(size, q)
    high = GRAIN * (int(counts[-1]) + 1) + 1  # in quarters; there the miss is too large
    beyond = least_whole(lambda rank: float((chances * miss(GRAIN * counts - rank)).sum()) > tail, 0, high)  # [ranks.3]
    return Fraction(beyond - 1, GRAIN)


def lower_share(band: tuple[int, int], q: float, miss: Miss, tail: float) -> Fraction:
    """The share of the records to aim at when their number lies anywhere in a band; 0 if there is none. [ranks.4]"""
    first, last = band
    width = -(-(last - first + 1) // PARTS)
    return min(
        lower_rank(start, q, miss, tail) / min(start + width - 1, last)  # [ranks.4]
        for start in range(first, last + 1, width)
    )


@lru_cache(maxsize=64)
def binomial(size: int, q: float) -> tuple[Integers, Floats]:
    """Bin(size, q) on the counts that matter: the rest has a chance below 1e-15.

    Log ratios of neighbouring chances, summed up: no cancellation however large the size.
    """
    room = 9 * math.sqrt(size * q * (1 - q)) + 40
    counts = np.arange(max(0, math.floor(size * q - room)), min(size, math.ceil(size * q + room)) + 1)
    steps = np.log(size - counts[:-1]) - np.log(counts[1:]) + math.log(q) - math.log1p(-q)
    logs = np.concatenate([[0.0], np.cumsum(steps)])
    chances = np.exp(logs - logs.max())
    return counts, chances / chances.sum()


def sample_rank(q: Fraction, size: int) -> Fraction:
    """The rank whose floats of score 0 are the sample's q-quantiles: q n, or half above its floor if it is not whole.

    >>> sample_rank(Fraction(1, 2), 5), sample_rank(Fraction(1, 2), 6)
    (Fraction(5, 2), Fraction(3, 1))
    """
    rank = q * size
    return rank if rank.denominator == 1 else math.floor(rank) + Fraction(1, 2)


# --- a prior that is flat on the scale of the data ---


def magnitudes(values: Floats | Ordered, default: float) -> Integers:
    """How many records have each binary exponent."""
    if isinstance(values, Ordered):
        return values.binades()
    counts = np.zeros(BINADES, dtype=np.int64)
    for start in range(0, len(values), BLOCK):
        keys = keys_of(np.abs(values[start : start + BLOCK]), abs(default))
        counts += np.bincount(keys >> 52, minlength=BINADES)
    return counts


def scale_scores(counts: Integers) -> Integers:
    """How far each window of SPAN binades is from holding the bulk of |x|, in tenths of a record.

    0 if at least nine tenths of the records lie below its end and at most one tenth below its start. Replacing a
    record moves a score by at most 10; adding one by at most 9, since n moves too. A window is listed once for each
    unit of its weight, so that a choice among the listed ones is a choice by weight.
    """
    size, upto = int(counts.sum()), np.concatenate([[0], np.cumsum(counts)])
    ends, times = _windows()
    scores = np.maximum(9 * size - 10 * upto[np.minimum(ends, BINADES)], 10 * upto[np.maximum(ends - SPAN, 0)] - size)
    return np.repeat(np.maximum(0, scores), times)


def flat_scale(chosen: int) -> Prior:
    """The prior for the window that was chosen."""
    ends, times = _windows()
    return flat_below(max(0, int(np.repeat(ends, times)[chosen]) - BACK))


@cache
def _windows() -> tuple[Integers, Integers]:
    """The windows' ends, and their weights: half-Cauchy on the binary exponent, as scale_free, in whole numbers."""
    ends = np.arange(0, BINADES + SPAN, STRIDE)
    return ends, np.maximum(1, np.rint(400 / (1 + ((ends - 1023) / 10) ** 2))).astype(np.int64)


@lru_cache(maxsize=64)
def flat_below(binade: int) -> Prior:
    """Lebesgue measure below a binade, a density that falls by 7/10 a binade for RISE binades, a scale-free tail.

    A scale-free prior has a pole at 0, which draws the ends of an interval to it. This one is flat at 0 (down to
    weights of 1, where what is left does not matter).
    """
    top = 2**54
    flat = [max(1, top >> (binade - e)) for e in range(min(binade, BINADES))]
    rising = [round(top * Fraction(7, 5) ** min(j, RISE)) for j in range(BINADES - len(flat))]
    falling = [max(1, round(Fraction(4 * mass, 4 + max(0, j - RISE) ** 2))) for j, mass in enumerate(rising)]
    return Prior((*flat, *falling))


# --- what two draws aim at ---


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """What two draws aim at: ranks, or shares of a private n; and how far one record moves their scores."""

    q: Fraction
    low: Fraction
    high: Fraction
    low_move: Fraction
    high_move: Fraction


def rows_needed(share: float, rate: float, room: float, confidence: float | None, cells: int) -> int:
    """About how many records would do: the n at which q n - z sqrt(q (1 - q) n) leaves room for the noise."""
    spread = 0.0
    if confidence is not None:
        nats = math.log(4 / (1 - confidence))
        room += (nats + math.log(cells)) / rate
        spread = math.sqrt(2 * nats * share * (1 - share))
    return math.ceil(((spread + math.sqrt(spread**2 + 4 * share * room)) / (2 * share)) ** 2)


# --- cells, for a guarantee that assumes nothing ---


@dataclass(frozen=True, slots=True)
class RankCells:
    """Public cells in the order of the numbers; each is one candidate, all of the same weight. [ranks.2]

    Without bounds a cell holds the floats that agree in sign, exponent and BITS binary digits. With bounds it is
    [j 2^step, (j + 1) 2^step): about 2^BITS of them, fewer if the declared granularity is coarser.
    """

    first: int
    last: int
    step: int | None = None
    bounds: tuple[float, float] | None = None

    @classmethod
    def of(cls, bounds: tuple[float, float] | None, granularity: float | None) -> "RankCells":
        """The cells of public bounds, or of all floats."""
        if bounds is None:
            return cls(-LARGEST_KEY >> (52 - BITS), LARGEST_KEY >> (52 - BITS))
        step = _log2(Fraction(bounds[1]) - Fraction(bounds[0])) + 1 - BITS
        if granularity is not None:
            step = max(step, _log2(exact(granularity)))
        own = math.frexp(max(abs(bounds[0]), abs(bounds[1])))[1] - 53  # the floats' own grid at the larger bound
        step = max(step, own, -1074)
        low, high = (math.floor(Fraction(bound) / Fraction(2) ** step) for bound in bounds)
        return cls(low, high, step, bounds)

    @property
    def size(self) -> int:
        """How many there are."""
        return self.last - self.first + 1

    def places(self, values: Floats | Ordered, default: float) -> Any:
        """The cell of each value, counted from 0: a fixed, monotone function of the value."""
        if isinstance(values, Ordered):
            return Ordered(each(lambda piece: self.places(piece, default) + START, values.stream), default)
        if self.step is None or self.bounds is None:
            cells = keys_of(values, default) >> (52 - BITS)
        else:
            inside = np.clip(np.where(np.isnan(values), default, values), *self.bounds)
            cells = np.floor_divide(inside, math.ldexp(1.0, self.step)).astype(np.int64)  # exact: a power of 2
        counted: Integers = np.clip(cells - self.first, 0, self.size - 1)
        return counted

    def draw(self, places: Any, rank: Fraction, move: Fraction, cost: Choice, rng: Randomness) -> int:
        """One cell, by its place: those are floats from START on, which weigh the same. [ranks.2]"""
        if self.size == 1:
            return 0
        raised = places if isinstance(places, Ordered) else places + START
        stairs = Staircase(raised, rank, low=START, high=START + self.size - 1)
        return int(rng.choose_float(stairs, sensitivity=move, cost=cost) - START)

    def edges(self, place: int) -> tuple[float, float]:
        """Two numbers that hold the cell between them, within the bounds."""
        cell = self.first + place
        if self.step is None or self.bounds is None:
            shift = 52 - BITS
            return float_of(max(cell << shift, -LARGEST_KEY)), float_of(min((cell + 1 << shift) - 1, LARGEST_KEY))
        low, high = (Fraction(2) ** self.step * edge for edge in (cell, cell + 1))
        return float(max(low, Fraction(self.bounds[0]))), float(min(high, Fraction(self.bounds[1])))


def _log2(number: Fraction) -> int:
    """The largest k with 2^k <= number."""
    guess = number.numerator.bit_length() - number.denominator.bit_length()
    return guess if Fraction(2) ** guess <= number else guess - 1
