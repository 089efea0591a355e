"""One sample, or pairs: are the differences centred at 0? The sign test and Wilcoxon's signed ranks.

Releases
    Signs: a noisy number of positive differences. Ranks: the noisy sum of the ranks of the absolute differences that
    are positive. SymmetryTest is one of the two, by the public (or noisy) number of rows and epsilon unless told which.
    The p-value is computed from it.
    Where the number of rows is private: of signs a noisy number and their noisy balance (hypotheses/sign_balance.py),
    or the noisy numbers of both kinds; of ranks a noisy number m of rows first, the rest is of a table of m rows.
    SymmetryTest first looks at a rough number of rows, for 3% of epsilon.
Promise
    [signed_tests.1] Of signs it is pure epsilon: replacing one difference moves the number by at most 1.
    [signed_tests.2] Of ranks it is pure epsilon: replacing one of n differences moves the sum by at most n.
    [signed_tests.3] If each difference is positive as often as negative, the sign test's p-value is exactly uniform. If
          its distribution is symmetric about 0, that of signed ranks is super-uniform. Ties, zeros and missing values
          are allowed for.
    [signed_tests.4] The same under ADD_OR_REMOVE, where the number of rows is private.
    [signed_tests.5] SymmetryTest is pure epsilon, and its p-value super-uniform if the distribution is symmetric about
          0, under both relations.
Why
    [signed_tests.1], [signed_tests.2] Every row has a secret coin and a secret place of its own, drawn without looking
    at the data. A zero or missing difference takes its sign from the coin; equal absolute values are ordered by their
    places. So the rows behave as n numbers with different absolute values, each a function of its row, coin and place,
    and the sum of positive ranks is the number of pairs i <= j with a positive sum. One row is in n pairs. Then
    [additive.1]; what holds for all coins and places holds on average.
    [signed_tests.3] Given the absolute values, signs are fair coins (zeros by the coins drawn). So the number is Bin(n,
    1/2) and, with canonical noise, [proportion.3]; the sum is that of the k = 1, ..., n with fair coins, with the
    characteristic function prod cos(k t / 2), then [null_distributions.1].
    [signed_tests.4] Signs: a row's coin is of its secret word, so that a row added leaves the other signs alone:
    [sign_balance.1] or, for very large or small epsilons, [proportion.2]; how many are positive is Bin(n, 1/2),
    whatever n is: [sign_balance.2], [proportion.4]. Ranks: m rows are seated, and
    missing differences stand in where there are fewer: [private_sizes.1]. Coins and places are those of the rows'
    secret words, so that they move with their rows. A missing difference has the sign of a coin, which is what the null
    hypothesis says of any row: [private_sizes.2].
    [signed_tests.5] Which of the two runs depends on public numbers, or on a noisy one that was released before; the
    epsilons sum to epsilon in either case. As symmetric differences are positive as often as negative, both p-values
    are super-uniform.
Needs
    n epsilon of 10 (signs) or 20 (signed ranks), else there is no power and it is refused.
Accuracy
    Signed ranks: noise of scale n / epsilon against a standard deviation of n^1.5 / 3.5. A private number of rows costs
    a tenth of epsilon. For a small shift of normal differences ranks keep 0.955 of the information and signs 0.637;
    noise adds 24 and 8 over n epsilon^2 of the variance. So signs find more where n epsilon^2 is below 24. Under
    ADD_OR_REMOVE noise adds 30 and 3, and the bound is 45.
Source
    Awan and Slavkovic 2018 (signs); Wilcoxon 1945, Pratt 1959; Couch et al. 2019 for private signed ranks, there with
    noise of the same size on the sum of all signed ranks.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput, Refused
from discreet.hypotheses.effects import POSITIVE, SUMS, Named, ShareEffect
from discreet.hypotheses.null_distributions import Floats, Integers, NoisyDistribution, by_parts, check_powerful
from discreet.hypotheses.private_sizes import (
    COUNTING,
    noisy_sizes,
    seated,
    secret_key,
    secret_words,
    stand_ins,
    too_few_people,
    uniform,
)
from discreet.hypotheses.result import null_in_words, pure
from discreet.hypotheses.sign_balance import Balance, noisy_balance, suits
from discreet.noise.additive import total
from discreet.noise.distributions import laplace_scale
from discreet.privacy.declaration import Columns, Public, number, statistic
from discreet.privacy.exact import Number, exact
from discreet.privacy.guarantee import Neighbours, check_budget
from discreet.privacy.intervals import Spread
from discreet.privacy.loss import Laplace
from discreet.privacy.mechanism import MISCOUNTED, Mechanism, Randomness, promised, refusal_of, what_to_do
from discreet.privacy.release import Provenance, Release
from discreet.privacy.values import TestResult
from discreet.statistics.proportion import (
    LEAST,
    Alternative,
    KnownSize,
    centred,
    check_alternative,
    noisy_pair,
)
from discreet.tables.entries import numbers, public_size
from discreet.worlds.shapes import shifted_sample

Coins = npt.NDArray[np.bool_]
FEW: Final = {Neighbours.REPLACE: 24, Neighbours.ADD_OR_REMOVE: 45}  # n epsilon^2: signs find more than ranks below it
SHARE: Final = "the population's share of positive differences, zeros by half"
SUM: Final = "the chance that the differences of two people add up to more than 0, ties by half"
LOOKING: Final = Fraction(3, 100)  # of epsilon: which of the two finds more of a private number
Method = Literal["ranks", "signs"]
NAMES: Final = {"signs": "SignTest", "ranks": "SignedRankTest"}
WORDS: Final = {"signs": "sign test", "ranks": "signed-rank test", None: "test of symmetry"}
COUNTED: Final = "the number of rows is a noisy one: so many were drawn at random, or missing ones stand in"


@dataclass(frozen=True, slots=True)
class SymmetryTest:
    """Is the distribution of the differences symmetric about 0? By ranks, or by signs where these find more.

    With method="signs": are differences positive as often as negative?

    >>> from discreet.noise.randomness import Seeded
    >>> SymmetryTest(1.0).release([k % 10 - 2.0 for k in range(300)], Seeded(1)).value.decide(0.001)
    True
    >>> SymmetryTest(1.0, method="signs").release([1.0] * 80 + [-1.0] * 20, Seeded(1)).value.decide(0.001)
    True
    """

    epsilon: Number
    alternative: Alternative = "two-sided"
    neighbours: Neighbours = Neighbours.REPLACE
    unit: str = "row"
    method: Method | None = None

    def __post_init__(self) -> None:
        check_budget(self.epsilon, 0, None)
        check_alternative(self.alternative)
        if self.method is not None and self.method not in NAMES:
            raise BadInput(f"method is {self.method!r}; give 'ranks' or 'signs', or None for the better one")

    guarantee, loss = promised, pure

    def for_size(self, size: int) -> "SymmetryTest":
        """The test that finds more for so many differences. Public numbers only. [signed_tests.5]"""
        few = size * float(self.epsilon) ** 2 < FEW[self.neighbours]
        return self if self.method is not None else replace(self, method="signs" if few else "ranks")

    def check(self, size: int | None) -> None:
        """Refused, by public numbers, if noise would drown so many differences."""
        if size is not None:
            distribution, most, kind = (
                (signs_distribution, size, "signs")
                if self.for_size(size).method == "signs"
                else (signed_ranks_distribution, size * (size + 1) // 2, "signed ranks")
            )
            words = f"{size} {kind} at epsilon {float(self.epsilon):g}"
            check_powerful(distribution(size, self.epsilon), 0, most, words, Refused)

    def release(self, rows: Any, rng: Randomness) -> Release[TestResult]:
        """The noisy share of positive differences; or the noisy sum of positive ranks, centred, in standard deviations
        without noise; and the p-value. Of a noisy number of rows where theirs is private; or a refusal."""
        values = numbers(rows)
        size, name = public_size(values, self.neighbours), f"{WORDS[self.method]} ({self.alternative})"
        chosen, spent = self, Fraction(0)
        if self.method is None:
            about, spent = (size, spent) if size is not None else (self._looked(values, rng), LOOKING)
            chosen = replace(self.for_size(about), epsilon=exact(self.epsilon) * (1 - spent))  # [signed_tests.5]
        if size is None and chosen.method == "signs":
            return replace(signs_released(chosen, values, rng, name), guarantee=self.guarantee)  # [signed_tests.4]
        notes: tuple[str, ...] = ()
        inner, key, stand_ins = chosen, b"", 0.0
        if size is None:
            counting = Laplace(exact(self.epsilon) * (COUNTING - spent))
            (size,), notes = noisy_sizes([len(values)], counting, rng), (COUNTED,)  # [signed_tests.4]
            rest, stand_ins = exact(self.epsilon) * (1 - COUNTING), float(laplace_scale(1, counting.epsilon))
            inner, key = replace(chosen, epsilon=rest, neighbours=Neighbours.REPLACE), secret_key(rng)
        shown = {"rows": size, "alternative": self.alternative}
        null = null_of_signs(self.method, self.alternative)
        mechanism = NAMES[inner.for_size(size).method or "ranks"]
        provenance = Provenance(mechanism, shown, rng.secure, notes=(null, *notes))
        blank: Release[TestResult] = Release(self.guarantee, provenance, name=name)
        if (refusal := refusal_of(inner, size)) is not None:
            return replace(blank, refusal=too_few_people(size, self.epsilon, inner.check) if notes else refusal)
        drawn = seats(values, size, key) if notes else (values, coins(size, rng), rng.permutation(size))
        spread: Spread
        if inner.method == "signs":
            answer, spread = tested_signs(inner, *drawn, rng)
        else:
            answer, effect = tested_ranks(inner, *drawn, rng)
            spread = replace(effect, stand_ins=stand_ins / size)  # [effects.2]
        return replace(blank, answer=answer, spread=spread)  # [signed_tests.4]

    def _looked(self, values: Floats, rng: Randomness) -> int:
        """A rough number of rows, which says which test finds more. [signed_tests.5]"""
        (about,) = noisy_sizes([len(values)], Laplace(exact(self.epsilon) * LOOKING), rng)  # [signed_tests.5]
        return about


def tested_signs(
    test: SymmetryTest, values: Floats, drawn: Coins, _: Integers, rng: Randomness
) -> tuple[TestResult, Spread]:
    """The test of the signs of a public number of differences, and the error of their share."""
    noisy = rng.blur(int(signs(values, drawn).sum()), sensitivity=1, cost=Laplace(test.epsilon))  # [signed_tests.1]
    seen = KnownSize(noisy + centred(rng), len(values), float(1 / laplace_scale(1, test.epsilon)))
    answer = TestResult(seen.share, seen.p_value(0.5, test.alternative), seen.share, POSITIVE)  # [signed_tests.3]
    return answer, Named(seen, SHARE)


def tested_ranks(
    test: SymmetryTest, values: Floats, drawn: Coins, places: Integers, rng: Randomness
) -> tuple[TestResult, ShareEffect]:
    """The test of the signed ranks of a public number of differences, and the error of their share."""
    size, ranked = len(values), positive_ranks(values, drawn, places)
    noisy = rng.blur(ranked, sensitivity=size, cost=Laplace(test.epsilon))  # [signed_tests.2]
    centre, deviation = size * (size + 1) / 4, math.sqrt(size * (size + 1) * (2 * size + 1) / 24)
    p_value = signed_ranks_distribution(size, test.epsilon).p_value(noisy, test.alternative)  # [signed_tests.3]
    noise = float(laplace_scale(size, test.epsilon)) / (2 * centre)
    effect = ShareEffect(noisy / (2 * centre), max(size // 2, 1), noise, SUM, off=0.5 / (size + 1))  # [effects.2]
    return TestResult((noisy - centre) / deviation, p_value, effect.share, SUMS), effect


def signs_released(test: SymmetryTest, values: Floats, rng: Randomness, name: str) -> Release[TestResult]:
    """The sign test where the number of rows is private: that half of them are positive. [signed_tests.4]"""
    found = signs(values, uniform(secret_words(values, secret_key(rng))) < 0.5)
    draw = noisy_balance if suits(test.epsilon) else noisy_pair
    seen = draw(int(found.sum()), len(found), test.epsilon, rng)  # [signed_tests.4]
    shown = {"neighbours": test.neighbours, "rows": None, "counted": seen.size}
    history = Provenance("SignTest", shown, rng.secure, notes=(null_of_signs(test.method, test.alternative),))
    blank: Release[TestResult] = Release(test.guarantee, history, name=name)
    if not seen.enough:
        drawn = float(1 / laplace_scale(1, test.epsilon))
        to_do = what_to_do(round(seen.size), drawn, (LEAST + MISCOUNTED) / drawn, noisy=False, scales=False)
        return replace(blank, refusal=f"too few differences: about {seen.size:.0f}, by a noisy count; {to_do}")
    even = {} if isinstance(seen, Balance) else {"null": 0.5}
    p_value = seen.p_value(alternative=test.alternative, **even)  # [sign_balance.2], [proportion.4]
    spread = share_of_signs(seen) if isinstance(seen, Balance) else Named(seen, SHARE)
    return replace(blank, answer=TestResult(seen.share, p_value, seen.share, POSITIVE), spread=spread)


def share_of_signs(seen: Balance) -> ShareEffect:
    """The share of positive signs from their balance over a noisy number; a coin of +-1 is noise too. [effects.2]"""
    counting, noise = map(float, seen.scales)
    people = seen.size**2 / (seen.size + MISCOUNTED * counting)  # were the number so much too small
    half = 2 * seen.size
    noisy = math.hypot(noise, 0.5) / half
    return ShareEffect(0.5 + seen.balance / half, people, noisy, SHARE, counted=counting / half)


def null_of_signs(method: Method | None, alternative: Alternative) -> str:
    """What is tested, in words."""
    if method == "signs":
        return null_in_words("differences are as often positive as negative", "they tend to be {} than 0", alternative)
    null = "the distribution of the differences is symmetric about 0"
    return null_in_words(null, "they tend to be {} than 0", alternative)


def seats(values: Floats, size: int, key: bytes) -> tuple[Floats, Coins, Integers]:
    """So many differences, missing ones where there are fewer, with coins and places from secret words.
    [signed_tests.4]"""
    words = secret_words(values, key)
    chosen = seated(words, size)
    others = stand_ins(len(chosen), size, key)
    filled = np.append(values[chosen], np.full(len(others), np.nan))
    return filled, uniform(np.concatenate([words[chosen], others])) < 0.5, np.arange(size)


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


@lru_cache(maxsize=64)
def signs_distribution(size: int, epsilon: Number) -> NoisyDistribution:
    """The number of heads among `size` fair coins, and noise."""
    return NoisyDistribution(
        lambda k, m: np.cos(np.pi * k / m) ** size, size, (size + 1) // 2, laplace_scale(1, epsilon)
    )


@lru_cache(maxsize=64)
def signed_ranks_distribution(size: int, epsilon: Number) -> NoisyDistribution:
    """The sum of those k = 1, ..., n whose coin shows heads, and noise; sub-Gaussian with its own variance.
    [signed_tests.3]"""
    deviation = math.sqrt(size * (size + 1) * (2 * size + 1) / 24)
    return NoisyDistribution(
        by_parts(lambda k, i, m: np.cos(np.pi * (k * i % (2 * m)) / m), size),
        size * (size + 1) // 2,
        min(size * (size + 1) // 4 + 1, math.ceil(9 * deviation)),
        laplace_scale(size, epsilon),
    )


def _differences(columns: Mapping[str, Any]) -> Any:
    with np.errstate(all="ignore"):
        x = np.asarray(columns["x"], dtype=np.float64)
        return x - np.asarray(columns["y"], dtype=np.float64) if "y" in columns else x


@statistic({"x": number(), "y": number(optional=True)}, rows=_differences, world=shifted_sample)
def paired_test(
    people: Public,
    x: Columns,
    y: Columns | None = None,
    *,
    epsilon: Number,
    alternative: Alternative = "two-sided",
    method: Literal["ranks", "signs"] | None = None,
) -> Mechanism[TestResult]:
    """Null: x - y is symmetric about 0; with "signs", as often positive as negative. Exact.

    Symmetry is tested by signed ranks, or by signs where n * epsilon^2 is below 45 (24 under "replace") and these find
    more; "ranks" always takes ranks. Without y, x holds the differences. Zeros and ties are allowed for.

    >>> import discreet
    >>> before, after = [k % 30 for k in range(300)], [k % 30 - k % 3 for k in range(300)]
    >>> discreet.paired_test(before, after, epsilon=1.0, rng=discreet.Seeded(1)).value.decide(0.01)
    True
    """
    return SymmetryTest(epsilon, alternative, people.neighbours, people.unit, method)
