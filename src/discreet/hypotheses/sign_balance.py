"""Are there as many signs up as down, where nobody may know how many there are?

Releases
    A noisy number of signs, and a noisy balance: signs up less signs down. The p-value is computed from both. Refused
    where that number is below 7 / epsilon.
Promise
    [sign_balance.1] Pure epsilon under ADD_OR_REMOVE.
    [sign_balance.2] If every sign is up or down with even chances, independently of the others, the p-value is
         super-uniform among the answers that are not refused, whatever the number of signs is.
Why
    [sign_balance.1] One sign more moves the number by 1 and the balance by 1, up or down: [additive.1] for each, and
    their epsilons sum to epsilon. The coin added afterwards and the p-value are post-processing.
    [sign_balance.2] Let Z_n be the balance of n signs, a coin of -1, 0, 0 or 1, and the noise; N the noisy number; and
    t = |Z| / sqrt(g(N)) what was seen, g(x) = max(x, 0) + V. For n signs P_n = P(|Z_n| >= t sqrt(g(N)) | N >= c) is the
    p-value, c the least number that is answered. Z_n is symmetric and unimodal on the whole numbers: the sum of n
    signs and the coin has the heights of a binomial distribution and the means of two neighbours, and discrete Laplace
    noise keeps that (Wintner). So one sign more makes every tail of |Z_n| heavier (Anderson). And the distribution of
    N, given N >= c, moves up with n, as the noise is log-concave. For a <= n <= b hence P_n <= E[P(|Z_b| >= t sqrt(g(
    N))) | a signs, N >= c], and >= with a and b exchanged: a few intervals bound all n exactly. Those n of which N is
    farther away than that happens with a chance of MISS, among answers, are left out, and MISS is added (Berger and
    Boos 1994): P(|N - n| >= r) <= 2 e^(-r / s), s the scale of the noise, and N >= c has a chance of 1/2 or more if n
    >= c; below c both fall alike, so that either all those n are left out or none is.
Needs
    n epsilon of 12 at least; epsilon from 0.002 to 1, where the tails are quick to find and better than a pair's.
Accuracy
    The balance has noise of variance 2 / (0.85 epsilon)^2 = 2.8 / epsilon^2, that of two noisy counts 4 / epsilon^2.
    A shift of normal differences by 3 / sqrt(n) is found in 0.55 of the cases at n = 1,000 and epsilon = 0.1.
Source
    Ours: the null hypothesis says what the number is worth (nothing) in a balance, so that little need be spent on it.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
import numpy.typing as npt

from discreet.hypotheses.null_distributions import FAR, ROUNDING
from discreet.noise.distributions import LaplaceDistribution, laplace_scale
from discreet.privacy.exact import Number, exact
from discreet.privacy.loss import Laplace
from discreet.privacy.mechanism import Randomness
from discreet.statistics.proportion import LEAST, Alternative, one_or_two_sided

NUMBER: Final = Fraction(3, 20)  # of epsilon, for the number of signs
MISS: Final = 9.99e-4  # the chance that the true number is left out, a part of each p-value; some reach 0.001
FINE: Final = 1 / 64  # how much the variance may grow within an interval of numbers
COIN: Final = (-1, 0, 0, 1)
Floats = npt.NDArray[np.float64]


def suits(epsilon: Number) -> bool:
    """Whether the balance is to be taken at so much epsilon, or two noisy counts."""
    return Fraction(1, 500) <= exact(epsilon) <= 1


@dataclass(frozen=True, slots=True)
class Balance:
    """A noisy number of signs and their noisy balance, with the scales of the noise."""

    number: int
    balance: int
    scales: tuple[Fraction, Fraction]
    least: int

    @property
    def size(self) -> int:
        """The noisy number of signs, at least 1."""
        return max(self.number, 1)

    @property
    def share(self) -> float:
        """The share of signs that are up, within [0, 1]."""
        return min(max(0.5 + self.balance / (2 * self.size), 0.0), 1.0)

    @property
    def enough(self) -> bool:
        """Whether the noisy number is worth an answer."""
        return self.number >= self.least

    def p_value(self, alternative: Alternative) -> float:
        """Super-uniform if signs are up as often as down. [sign_balance.2]"""
        far, near, one_sided = 0.0, 1.0, alternative != "two-sided"
        for first, last in self._intervals():
            far = max(far, self._tail(last, first))  # [sign_balance.2]
            near = min(near, self._tail(first, last, strict=True)) if one_sided else 0.0  # [sign_balance.2]
        toward, away = (far + MISS) / 2, min(1.0, 1 - near / 2 + MISS)
        down, up = (away if sign <= 0 else toward for sign in (-self.balance, self.balance))
        return min(1.0, one_or_two_sided(down, up, alternative))

    @property
    def _noise(self) -> float:
        """V, the variance of the noise and of the coin."""
        return LaplaceDistribution(self.scales[1]).sd ** 2 + 0.5

    def _intervals(self) -> Iterator[tuple[int, int]]:
        """Numbers of signs that are not ruled out, in pieces. [sign_balance.2]"""
        reach = math.ceil(math.log(4 / MISS) * self.scales[0])
        last = self.number + reach
        first = self.number - reach if self.number - reach >= self.least else 0
        while first <= last:
            end = min(last, first + math.floor(FINE * (first + self._noise)))
            yield first, end
            first = end + 1

    def _tail(self, signs: int, counted: int, *, strict: bool = False) -> float:
        """P(|Z| >= t sqrt(g(N)) | N >= least), Z of so many signs and N of so many counted; `strict`: > for >=, and
        rounded down. [sign_balance.2]"""
        reach = math.ceil(FAR * self.scales[0])
        seen = np.arange(max(counted - reach, self.least), max(counted, self.least) + reach + 1, dtype=np.float64)
        apart = np.abs(seen - counted)
        weights = np.exp(-(apart - apart.min()) / float(self.scales[0]))
        spreads = np.maximum(seen, 0) + self._noise
        needed = abs(self.balance) * np.sqrt(spreads / (max(self.number, 0) + self._noise))
        tails = beyond(signs, self.scales[1])
        places = np.floor(needed * (1 + ROUNDING)) + 1 if strict else np.ceil(needed * (1 - ROUNDING))  # ties
        found = tails[np.minimum(places, len(tails) - 1).astype(np.int64)]
        return min(1.0, float(found @ weights / weights.sum()) + (-2 if strict else 2) * ROUNDING)


def noisy_balance(ups: int, signs: int, epsilon: Number, rng: Randomness) -> Balance:
    """Of so many signs, `ups` of them up. [sign_balance.1]"""
    whole = exact(epsilon)
    costs = Laplace(whole * NUMBER), Laplace(whole * (1 - NUMBER))
    number = rng.blur(signs, sensitivity=1, cost=costs[0])  # [sign_balance.1]
    balance = rng.blur(2 * ups - signs, sensitivity=1, cost=costs[1])  # [sign_balance.1]
    scales = laplace_scale(1, costs[0].epsilon), laplace_scale(1, costs[1].epsilon)
    return Balance(int(number), int(balance) + COIN[rng.below(4)], scales, math.ceil(LEAST / whole))


def beyond(signs: int, scale: Fraction) -> Floats:
    """P(|Z_n| >= k) for k = 0, 1, ...; Z_n the sum of n signs, the coin and the noise. [sign_balance.2]"""
    reach = min(signs, math.ceil(9 * math.sqrt(signs))) + math.ceil(FAR * scale) + 2
    period = 2 ** math.ceil(math.log2(2 * reach))
    turn = np.cos(2 * np.pi * np.arange(period // 2 + 1) / period)
    fall = math.exp(-float(1 / scale))
    noise = (1 - fall) ** 2 / (1 - 2 * fall * turn + fall * fall)
    chances = np.maximum(np.fft.irfft(turn**signs * (1 + turn) / 2 * noise, period)[: period // 2], 0.0)
    tails = 2 * np.cumsum(chances[::-1])[::-1]
    tails[0] = 1.0
    return np.asarray(tails)
