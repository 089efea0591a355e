"""What no private method can do better: floors under the error, from public numbers alone.

Claims
    [floors.1] Pure epsilon. If M hides the replacement of one row, and n rows come from P or from Q, the distributions
          of the answer are within E tanh(H epsilon / 2) of each other in total variation, H ~ Bin(n, TV(P, Q)).
    [floors.2] (epsilon, delta). The same with E min(1, (e^{H epsilon} - 1 + 2 d_H) / (e^{H epsilon} + 1)), where
          d_h = delta (e^{h epsilon} - 1) / (e^epsilon - 1).
    [floors.3] rho-zCDP. The same with E min(1, H sqrt(rho / 2)).
    [floors.4] If an answer is more than `a` too high with probability at most b, and more than `a` too low with
          probability at most b, under both of two distributions whose quantities are 2 a apart, then the answers'
          distributions are at least 1 - 2 b apart: a is at least the least a at which [floors.1] (or 2, 3) and TV(P^n,
          Q^n) both allow that.
    [floors.5] Packing, pure: if K answers are separated, and each must be found with probability 1 - b, then
          n epsilon >= ln((K - 1) (1 - b) / b).
    [floors.6] Counts of K bins beside a rest, pure: if all are within t with probability 1 - b, then
          t >= (ln(K (1 - b) / b) / epsilon - 1) / 2.
    [floors.8] A quantity that may be anywhere in a range of length w, pure, found within a with probability 1/2
          wherever it is: a >= w / (2 (e^{n epsilon} + 1)).
    [floors.7] One count with tails as in [floors.4]: a >= (m - 1) / 2, m the fewest people whose change may move the
          answers' distribution by 1 - 2 b.
Why
    [floors.1] Couple the rows one by one so that each differs with probability TV(P, Q), H of them in all. Given the
    rows, H changes of one row make M(x) and M(x') (H epsilon)-indistinguishable, and two such distributions are at most
    (e^{H epsilon} - 1) / (e^{H epsilon} + 1) = tanh(H epsilon / 2) apart. Total variation is convex.
    [floors.2] Groups of h have (h epsilon, d_h), and two distributions that are (e, d)-indistinguishable both ways are
    at most (e^e - 1 + 2 d) / (e^e + 1) apart. [floors.3] Groups of h have h^2 rho; the divergence is at most that;
    Pinsker.
    [floors.4] Let the quantities be t and t + 2 a. The event "the answer is above t + a" has probability at most b
    under the first distribution and at least 1 - b under the second. What is done to a sample cannot tell more than the
    sample.
    [floors.5] A data set for each answer, any two at most n rows apart. Under the first the others' answers have
    probability at least e^{-n epsilon} (1 - b) each, and together at most b.
    [floors.8] K = ceil(w / 2 a) places of the range are more than 2 a apart; by [floors.5] with b = 1/2,
    n epsilon >= ln(K - 1), and K - 1 >= w / 2 a - 1.
    [floors.6] Data sets with m people in bin j, or in the rest: m changes apart from that one. Errors below m / 2 tell
    them apart, so K e^{-m epsilon} (1 - b) <= b for every whole m > 2 t, the least of which is at most 2 t + 1.
    [floors.7] Counts c and c + m, m = ceil(2 a) people apart: as [floors.4], the distributions are at least 1 - 2 b
    apart. Both ask for m people; of n, fewer than that, the same data sets say t >= (n - 1) / 2 and no more. Where
    people are added or removed instead, one replacement is two changes: floors are those of 2 epsilon.
Source
    Acharya, Sun and Zhang 2018 (coupling); Karwa and Vadhan 2018 (intervals); Hardt and Talwar 2010, Beimel,
    Kasiviswanathan and Nissim 2010 (packing). Where only a rate is known, `RATES` says so: no constant is claimed.
"""

import math
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput
from discreet.privacy.exact import bisect, is_number, least_whole
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.intervals import check_confidence

Floats = npt.NDArray[np.float64]
Told = Callable[[Floats], Floats]  # how far apart answers can be when h rows differ
Pair = Callable[[float], tuple[float, float]]  # a -> TV(P, Q), TV(P^n, Q^n) for quantities 2 a apart
REACH: Final = 12.0  # standard deviations of H that are summed; beyond them is less than 1e-30
BOUND: Final = "bound: holds for every private method that errs on either side alike"
PACKED: Final = "bound by packing: holds for every pure method that is as good wherever in the bounds the answer lies"
RATES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "mean of a table": "rate, constant unknown: error of order d / (n epsilon) beside sampling",
        "covariance": "rate, constant unknown: error of order d^1.5 / (n epsilon) beside sampling",
    }
)


def told(epsilon: float, delta: float = 0.0, *, rho: float | None = None, changes: int = 1) -> Told:
    """How far apart the answers' distributions can be when h rows differ; `changes` are those that replace a row.

    >>> round(float(told(1.0)(np.array([2.0]))[0]), 4)
    0.7616
    """
    if rho is not None:
        return lambda h: np.minimum(1.0, h * changes * math.sqrt(rho / 2))  # [floors.3]

    def apart(h: Floats) -> Floats:
        reach = np.minimum(h * changes * epsilon, 700.0)
        if not delta:
            return np.tanh(reach / 2)  # [floors.1]
        group = delta * np.expm1(reach) / np.expm1(min(epsilon, 700.0))
        found: Floats = np.minimum(1.0, (np.expm1(reach) + 2 * group) / (np.exp(reach) + 1))  # [floors.2]
        return found

    return apart


def told_of(epsilon: float, delta: float, neighbours: Neighbours) -> Told:
    """The same for the relation: one replacement is two changes where people are added or removed."""
    return told(epsilon, delta, changes=1 if neighbours.size_is_public else 2)


def answers_apart(rows: int, distance: float, limit: Told) -> float:
    """A bound on the total variation between answers to n rows of P and of Q, TV(P, Q) = distance."""
    from scipy.special import gammaln, xlog1py, xlogy

    middle, sd = rows * distance, math.sqrt(rows * distance * (1 - distance))
    first = max(0, math.floor(middle - REACH * sd - REACH))
    last = min(rows, math.ceil(middle + REACH * sd + REACH**2))
    h = np.arange(first, last + 1, dtype=np.float64)
    logs = gammaln(rows + 1) - gammaln(h + 1) - gammaln(rows - h + 1)
    chance = np.exp(logs + xlogy(h, distance) + xlog1py(rows - h, -distance))
    return float(min(1.0, chance @ limit(h) + max(0.0, 1 - chance.sum())))  # [floors.1] [floors.2] [floors.3]


def least_error(rows: int, confidence: float, pair: Pair, limit: Told, most: float) -> float:
    """The floor under the half-width of equal-tailed intervals; at confidence 1/2, under the median error.

    >>> round(least_error(200, 0.95, normal_means(200), told(0.1), 9.0), 3), round(1.96 / math.sqrt(200), 3)
    (0.241, 0.139)
    """
    needed = check_confidence(confidence)

    def enough(apart: float) -> bool:
        one, all_rows = pair(apart)
        return all_rows >= needed and answers_apart(rows, one, limit) >= needed  # [floors.4]: 1 - 2 b = confidence

    return bisect(enough, 0.0, most, steps=50, close=1e-4)[0]


def normal_means(rows: int, scale: float = 1.0) -> Pair:
    """Two normal distributions of this standard deviation whose means are 2 a apart."""

    def apart(a: float) -> tuple[float, float]:
        one, all_rows = a / scale / math.sqrt(2), a * math.sqrt(rows) / scale / math.sqrt(2)
        return math.erf(one), math.erf(all_rows)

    return apart


def normal_scales(rows: int, scale: float, power: int) -> Pair:
    """Two centred normal distributions whose variances (power 2) or standard deviations (power 1) are 2 a apart."""
    from scipy.special import gammaincc

    def variation(freedom: int, ratio: float) -> float:  # of chi-squares with variances 1 and ratio > 1
        crossing = freedom * math.log(ratio) / (1 - 1 / ratio)
        return float(gammaincc(freedom / 2, crossing / ratio / 2) - gammaincc(freedom / 2, crossing / 2))

    def apart(a: float) -> tuple[float, float]:
        middle = scale**power
        ratio = ((middle + a) / max(middle - a, 1e-9 * middle)) ** (2 / power)
        if ratio <= 1 + 1e-12:
            return 0.0, 0.0
        return variation(1, ratio), variation(rows, ratio)

    return apart


def shares(rows: int, share: float) -> Pair:
    """Two chances 2 a apart, around `share` or as near to it as fits."""
    from scipy.special import bdtr

    def apart(a: float) -> tuple[float, float]:
        low = min(max(share - a, 0.0), max(1 - 2 * a, 0.0))
        high = min(low + 2 * a, 1.0)
        if high - low < 1e-12:
            return 0.0, 0.0
        if low <= 0 or high >= 1:
            return high - low, 1 - min(1 - low, high) ** rows if low > 0 or high < 1 else 1.0
        odds = math.log((1 - low) / (1 - high))
        cut = math.floor(rows * odds / (odds + math.log(high / low)))  # where the likelihoods cross
        return high - low, float(bdtr(cut, rows, low) - bdtr(cut, rows, high))

    return apart


def shifted(rows: int, density: Callable[[Floats], Floats], places: Floats) -> Pair:
    """A distribution and itself 2 a further on. TV(P^n, Q^n) by the Hellinger affinity: at most sqrt(1 - BC^{2 n})."""
    step = float(places[1] - places[0])

    def apart(a: float) -> tuple[float, float]:
        one, other = density(places - a), density(places + a)
        distance = float(np.abs(one - other).sum() * step / 2)
        affinity = min(1.0, float(np.sqrt(one * other).sum() * step))
        return min(1.0, distance), math.sqrt(max(0.0, -math.expm1(2 * rows * math.log(max(affinity, 1e-300)))))

    return apart


def packing(answers: float, miss: float = 0.05) -> float:
    """The least n epsilon at which one of K separated answers can be found, pure.

    >>> [round(packing(1 + reach), 1) for reach in (10, 1e3, 1e6)]   # a mean within sigma, |mean| <= reach sigma
    [5.2, 9.9, 16.8]
    """
    if not is_number(answers) or answers < 2 or not 0 < miss < 1:
        raise BadInput(f"{answers!r} answers are told apart but for {miss!r}; give 2 or more, and a chance")
    return max(0.0, math.log((answers - 1) * (1 - miss) / miss))  # [floors.5]


def range_floor(width: float, rows: int, epsilon: float, neighbours: Neighbours) -> float:
    """The least median error, somewhere in a public range of this width, of n rows. Pure.

    >>> round(range_floor(120.0, 10, 0.1, Neighbours.ADD_OR_REMOVE), 2)
    7.15
    """
    changes = rows if neighbours.size_is_public else 2 * rows
    return width / 2 / (math.exp(min(changes * epsilon, 700.0)) + 1)  # [floors.8]


def histogram_floor(bins: float, epsilon: float, miss: float = 0.05) -> float:
    """The least error that all of K counts, beside a rest, can be within, but for `miss`. Pure.

    >>> [round(histogram_floor(bins, 1.0), 1) for bins in (2, 1e3, 1e9)]
    [1.3, 4.4, 11.3]
    """
    if not is_number(bins) or bins < 1 or not 0 < miss < 1:
        raise BadInput(f"{bins!r} bins, all but for {miss!r}; give 1 or more, and a chance")
    return max(0.0, (math.log(bins * (1 - miss) / miss) / epsilon - 1) / 2)  # [floors.6]


def count_floor(epsilon: float, delta: float, confidence: float) -> float:
    """The least error of one count, at this confidence and with equal tails.

    >>> count_floor(1.0, 0.0, 0.95), count_floor(0.1, 0.0, 0.5)
    (1.5, 5.0)
    """
    needed, enough = check_confidence(confidence), partial(_enough, told(epsilon, delta))
    high = 1
    while not enough(high, needed):
        high *= 2
    return (least_whole(lambda people: enough(people, needed), high // 2, high) - 1) / 2  # [floors.7]


def _enough(limit: Told, people: int, needed: float) -> bool:
    return float(limit(np.array([float(people)]))[0]) >= needed


def places_of(distribution: Any) -> Floats:
    """A grid on which a distribution of scipy.stats with standard deviation near 1 is summed."""
    return np.linspace(float(distribution.ppf(1e-5)) - 2, float(distribution.ppf(1 - 1e-5)) + 2, 20_001)


def bins_floor(rows: int, epsilon: float, bins: int = 1) -> float:
    """Under the median of the largest error of any bin; so few rows that all may be changed allow (n - 1) / 2."""
    return min(max(histogram_floor(bins, epsilon, 0.5), count_floor(epsilon, 0.0, 0.5)), (rows - 1) / 2)
