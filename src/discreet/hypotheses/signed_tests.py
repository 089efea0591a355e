"""One sample, or pairs: are the differences centred at 0? The sign test and Wilcoxon's signed ranks.

Releases
    SignTest: a noisy number of positive differences. SignedRankTest: the noisy sum of the ranks of the absolute
    differences that are positive. The p-value is computed from it.
Promise
    [signed_tests.1] SignTest is pure epsilon: replacing one difference moves the number by at most 1.
    [signed_tests.2] SignedRankTest is pure epsilon: replacing one of n differences moves the sum by at most n.
    [signed_tests.3] If each difference is positive as often as negative, the sign test's p-value is exactly uniform. If
          its law is symmetric about 0, that of signed ranks is super-uniform. Ties, zeros and missing values are
          allowed for.
Why
    [signed_tests.1], [signed_tests.2] Every row has a secret coin and a secret place of its own, drawn without looking
    at the data. A zero or missing difference takes its sign from the coin; equal absolute values are ordered by their
    places. So the rows behave as n numbers with different absolute values, each a function of its row, coin and place,
    and the sum of positive ranks is the number of pairs i <= j with a positive sum. One row is in n pairs. Then
    [additive.1]; what holds for all coins and places holds on average.
    [signed_tests.3] Given the absolute values, signs are fair coins (zeros by the coins drawn). So the number is Bin(n,
    1/2) and, with canonical noise, [proportion.3]; the sum is that of the k = 1, ..., n with fair coins, with the
    characteristic function prod cos(k t / 2), then [null_distributions.1].
Needs
    A public number of rows; n epsilon of 10 (signs) or 20 (signed ranks), else there is no power and it is refused.
Accuracy
    Signed ranks: noise of scale n / epsilon against a standard deviation of n^1.5 / 3.5.
Source
    Awan and Slavkovic 2018 (signs); Wilcoxon 1945, Pratt 1959; Couch et al. 2019 for private signed ranks, there with
    noise of the same size on the sum of all signed ranks.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.hypotheses.null_distributions import Floats, Integers, NoisyLaw, by_parts, check_powerful
from discreet.hypotheses.result import check_replace
from discreet.noise.distributions import laplace_scale
from discreet.noise.lattice import total
from discreet.privacy.exact import Number
from discreet.privacy.guarantee import Guarantee, check_budget
from discreet.privacy.loss import Approximate, Laplace
from discreet.privacy.mechanism import Randomness
from discreet.privacy.neighbours import Neighbours
from discreet.privacy.provenance import Provenance
from discreet.privacy.release import Release
from discreet.privacy.values import TestResult
from discreet.statistics.proportion import Alternative, KnownSize, centred, check_alternative
from discreet.tables.entries import numbers, public_size

Coins = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class SignTest:
    """Are differences positive as often as negative?

    >>> from discreet.noise.randomness import Seeded
    >>> SignTest(1.0).release([1.0] * 80 + [-1.0] * 20, Seeded(1)).value.decide(0.001)
    True
    """

    epsilon: Number
    alternative: Alternative = "two-sided"
    neighbours: Neighbours = Neighbours.REPLACE
    unit: str = "row"

    def __post_init__(self) -> None:
        check_budget(self.epsilon, 0, None)
        check_alternative(self.alternative)
        check_replace(self.neighbours)

    @property
    def guarantee(self) -> Guarantee:
        """Pure epsilon."""
        return Guarantee(self.epsilon, 0.0, self.neighbours, self.unit)

    @property
    def loss(self) -> Approximate:
        """Pure epsilon."""
        return Approximate(self.epsilon, 0)

    def release(self, rows: Any, rng: Randomness) -> Release[TestResult]:
        """The noisy share of positive differences and the p-value."""
        values = numbers(rows)
        size = public_size(values, self.neighbours)
        assert size is not None
        check_powerful(signs_law(size, self.epsilon), 0, size, f"{size} signs at epsilon {float(self.epsilon):g}")
        positive = signs(values, coins(size, rng))
        noisy = rng.blur(int(positive.sum()), sensitivity=1, cost=Laplace(self.epsilon))  # [signed_tests.1]
        seen = KnownSize(noisy + centred(rng), size, float(1 / laplace_scale(1, self.epsilon)))
        provenance = Provenance("SignTest", {"rows": size, "alternative": self.alternative}, rng.secure)
        answer = TestResult(seen.share, seen.p_value(0.5, self.alternative))  # [signed_tests.3]
        return Release(self.guarantee, provenance, answer, name=f"sign test ({self.alternative})")


@dataclass(frozen=True, slots=True)
class SignedRankTest:
    """Is the law of the differences symmetric about 0?

    >>> from discreet.noise.randomness import Seeded
    >>> SignedRankTest(1.0).release([k % 10 - 2.0 for k in range(300)], Seeded(1)).value.decide(0.001)
    True
    """

    epsilon: Number
    alternative: Alternative = "two-sided"
    neighbours: Neighbours = Neighbours.REPLACE
    unit: str = "row"

    def __post_init__(self) -> None:
        check_budget(self.epsilon, 0, None)
        check_alternative(self.alternative)
        check_replace(self.neighbours)

    @property
    def guarantee(self) -> Guarantee:
        """Pure epsilon."""
        return Guarantee(self.epsilon, 0.0, self.neighbours, self.unit)

    @property
    def loss(self) -> Approximate:
        """Pure epsilon, however many steps."""
        return Approximate(self.epsilon, 0)

    def release(self, rows: Any, rng: Randomness) -> Release[TestResult]:
        """The noisy sum of positive ranks, centred, in standard deviations without noise, and the p-value."""
        values = numbers(rows)
        size = public_size(values, self.neighbours)
        assert size is not None
        law, largest = signed_ranks_law(size, self.epsilon), size * (size + 1) // 2
        check_powerful(law, 0, largest, f"{size} signed ranks at epsilon {float(self.epsilon):g}")
        ranked = positive_ranks(values, coins(size, rng), rng.permutation(size))
        noisy = rng.blur(ranked, sensitivity=size, cost=Laplace(self.epsilon))  # [signed_tests.2]
        statistic = (noisy - largest / 2) / math.sqrt(size * (size + 1) * (2 * size + 1) / 24)
        provenance = Provenance("SignedRankTest", {"rows": size, "alternative": self.alternative}, rng.secure)
        answer = TestResult(statistic, law.p_value(noisy, self.alternative))  # [signed_tests.3]
        return Release(self.guarantee, provenance, answer, name=f"signed-rank test ({self.alternative})")


def coins(size: int, rng: Randomness) -> Coins:
    """A fair coin for each row, whatever the row holds. [signed_tests.1]"""
    raw = rng.below(2**size).to_bytes((size + 7) // 8, "little")
    return np.unpackbits(np.frombuffer(raw, dtype=np.uint8), count=size, bitorder="little").astype(bool)


def signs(values: Floats, drawn: Coins) -> Coins:
    """Whether each difference is positive; where it is zero or missing, by its coin. [signed_tests.1]"""
    found: Coins = np.where((values == 0) | np.isnan(values), drawn, values > 0)
    return found


def positive_ranks(values: Floats, drawn: Coins, places: Integers) -> int:
    """The sum of the ranks of absolute differences that are positive; ties by secret places. [signed_tests.2]"""
    sizes = np.where(np.isnan(values), 0.0, np.abs(values))
    order = np.lexsort((places, sizes))
    positive = signs(values, drawn)[order]
    return total(np.flatnonzero(positive) + 1, max(1, len(values)))  # Python's integers: n^2 / 2 may be too large


def signs_law(size: int, epsilon: Number) -> NoisyLaw:
    """The number of heads among `size` fair coins, and noise."""
    return NoisyLaw(lambda k, m: np.cos(np.pi * k / m) ** size, size, (size + 1) // 2, laplace_scale(1, epsilon))


def signed_ranks_law(size: int, epsilon: Number) -> NoisyLaw:
    """The sum of those k = 1, ..., n whose coin shows heads, and noise; sub-Gaussian with its own variance.
    [signed_tests.3]"""
    deviation = math.sqrt(size * (size + 1) * (2 * size + 1) / 24)
    return NoisyLaw(
        by_parts(lambda k, i, m: np.cos(np.pi * (k * i % (2 * m)) / m), size),
        size * (size + 1) // 2,
        min(size * (size + 1) // 4 + 1, math.ceil(9 * deviation)),
        laplace_scale(size, epsilon),
    )
