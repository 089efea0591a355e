"""Many small tests of one hypothesis, one a block of people: their p-values combined.

Releases
    ScoreSum: the noisy sum of the blocks' scores Phi^-1(1 - p), clipped to +-reach. VoteCount: the noisy number of
    blocks with p <= vote_level. The combined p-value is computed from it.
Promise
    [combined_tests.1] Both are pure epsilon if one block's p-value is replaced by any other, or by none.
    [combined_tests.2] The combined p-value is super-uniform if the blocks' p-values are independent and super-uniform.
Why
    [combined_tests.1] A score is one of 129 whole steps from -64 to 64: the sum moves by at most 128. A vote moves by
    1. A block without a p-value has the lowest score, and votes no. Then [additive.1].
    [combined_tests.2] Steps and votes fall as p rises, so those of super-uniform p-values are stochastically below
    those of uniform ones, and so are their sums. For uniform p-values the steps' distribution is that of rounded
    clipped normal variables, and the sum's is known: [null_distributions.1]. Votes: [proportion.3].
Needs
    Base tests that are valid on blocks of their size: what a base test exceeds its level by, many blocks amplify.
Accuracy
    With z standing for the non-private test's mean in standard deviations, scores lose what clipping at r and the noise
    2 r / epsilon take from sqrt(m) z / sqrt(m) = z; votes also lose what lies within yes and no.
Source
    Kazan, Shi, Groce and Bray 2023 ("the test of tests"), the votes; clipped scores are ours.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Final

import numpy as np

from discreet.errors import BadInput
from discreet.hypotheses.null_distributions import Floats, Integers, NoisyDistribution, check_powerful, wave_of_sums
from discreet.hypotheses.result import pure
from discreet.noise.distributions import laplace_scale
from discreet.privacy.exact import Number, exact, is_number, show
from discreet.privacy.guarantee import Neighbours, check_budget
from discreet.privacy.loss import Laplace
from discreet.privacy.mechanism import Randomness, promised
from discreet.privacy.release import Provenance, Release
from discreet.privacy.values import TestResult
from discreet.stages.normal_laplace import quantile_of, tail
from discreet.statistics.proportion import KnownSize, centred

STEPS: Final = 64  # from 0 to the clip
REACHES: Final = (0.2, 0.3, 0.4, 0.5, 0.7, 0.9, 1.1, 1.3, 1.6, 2.0, 2.5)
VOTE_LEVELS: Final = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
AIM: Final = 2.8  # plans are for the effect that the usual test at level 0.05 finds with power 0.88


@dataclass(frozen=True, slots=True)
class ScoreSum:
    """The sum of the clipped normal scores of `blocks` p-values; rows are p-values, NaN for a block without one.

    >>> from discreet.noise.randomness import Seeded
    >>> ScoreSum(100, 1.0, 1.0).release([0.3] * 60 + [0.01] * 40, Seeded(1)).value.decide(0.001)
    True
    """

    blocks: int
    reach: float
    epsilon: Number
    neighbours: ClassVar[Neighbours] = Neighbours.REPLACE
    unit: ClassVar[str] = "p-value"

    def __post_init__(self) -> None:
        check_budget(self.epsilon, 0, None)
        if not is_number(self.reach) or not 0 < self.reach < 8:
            raise BadInput(f"the clip is {self.reach!r}; give a number of standard deviations, 1 say")
        words = f"{self.blocks} blocks at epsilon {show(self.epsilon)}"
        check_powerful(self.distribution, -STEPS * self.blocks, STEPS * self.blocks, words)

    guarantee, loss = promised, pure  # [combined_tests.1]

    @property
    def distribution(self) -> NoisyDistribution:
        """Of the noisy sum if p-values are uniform. [combined_tests.2]"""
        return score_distribution(self.blocks, float(self.reach), exact(self.epsilon))

    def release(self, rows: Any, rng: Randomness) -> Release[TestResult]:
        """The noisy sum, in standard deviations of a sum of normal scores, and the p-value."""
        total = int(scores(p_values(rows, self.blocks), float(self.reach)).sum())
        noisy = rng.blur(total, sensitivity=2 * STEPS, cost=Laplace(self.epsilon))  # [combined_tests.1]
        statistic = noisy * float(self.reach) / (STEPS * math.sqrt(self.blocks))
        provenance = Provenance("ScoreSum", {"blocks": self.blocks, "clip": self.reach}, rng.secure)
        answer = TestResult(statistic, self.distribution.upper(noisy))  # [combined_tests.2]
        return Release(self.guarantee, provenance, answer, name="combined test")


@dataclass(frozen=True, slots=True)
class VoteCount:
    """The number of `blocks` p-values that are at most `vote_level`.

    >>> from discreet.noise.randomness import Seeded
    >>> VoteCount(100, 0.5, 1.0).release([0.3] * 80 + [0.9] * 20, Seeded(1)).value.decide(0.001)
    True
    """

    blocks: int
    vote_level: float
    epsilon: Number
    neighbours: ClassVar[Neighbours] = Neighbours.REPLACE
    unit: ClassVar[str] = "p-value"

    def __post_init__(self) -> None:
        check_budget(self.epsilon, 0, None)
        if not is_number(self.vote_level) or not 0 < self.vote_level < 1:
            raise BadInput(f"the level of a vote is {self.vote_level!r}; it must be between 0 and 1")
        words = f"{self.blocks} votes at epsilon {show(self.epsilon)}"
        check_powerful(self.distribution, 0, self.blocks, words)

    guarantee, loss = promised, pure  # [combined_tests.1]

    @property
    def distribution(self) -> NoisyDistribution:
        """Of the noisy number if p-values are uniform."""
        level, values = self.vote_level, np.array([0, 1], dtype=np.int64)
        return NoisyDistribution(
            wave_of_sums(values, np.array([1 - level, level]), self.blocks),
            0,
            self.blocks,
            laplace_scale(1, self.epsilon),
        )

    def release(self, rows: Any, rng: Randomness) -> Release[TestResult]:
        """The noisy share of votes and the p-value."""
        votes = int(np.count_nonzero(p_values(rows, self.blocks) <= self.vote_level))
        noisy = rng.blur(votes, sensitivity=1, cost=Laplace(self.epsilon)) + centred(rng)  # [combined_tests.1]
        seen = KnownSize(noisy, self.blocks, float(1 / laplace_scale(1, self.epsilon)))
        provenance = Provenance("VoteCount", {"blocks": self.blocks, "level of a vote": self.vote_level}, rng.secure)
        answer = TestResult(seen.share, seen.p_value(self.vote_level, "greater"))  # [combined_tests.2]
        return Release(self.guarantee, provenance, answer, name="combined test")


def p_values(rows: Any, blocks: int) -> Floats:
    """One for each block; what is no probability is 1: no evidence. [combined_tests.1]"""
    found = np.asarray(rows, dtype=np.float64).reshape(blocks, -1)[:, 0]
    kept: Floats = np.where((found >= 0) & (found <= 1), found, 1.0)
    return kept


def scores(found: Floats, reach: float) -> Integers:
    """Phi^-1(1 - p), clipped to +-reach, in steps. [combined_tests.1]"""
    from scipy.special import ndtri

    steps: Integers = np.rint(np.clip(-ndtri(found), -reach, reach) * (STEPS / reach)).astype(np.int64)
    return steps


@lru_cache(maxsize=64)
def score_distribution(blocks: int, reach: float, epsilon: Any) -> NoisyDistribution:
    """The sum of rounded clipped normal variables, and noise; Hoeffding: 9 sqrt(m) STEPS leave e^-40.
    [combined_tests.2]"""
    from scipy.special import ndtr

    values = np.arange(-STEPS, STEPS + 1)
    edges = np.concatenate([[-np.inf], (values[:-1] + 0.5) * reach / STEPS, [np.inf]])
    return NoisyDistribution(
        wave_of_sums(values, np.diff(ndtr(edges)), blocks),
        0,
        min(blocks * STEPS, math.ceil(9 * math.sqrt(blocks) * STEPS)) + 1,
        laplace_scale(2 * STEPS, epsilon),
    )


@lru_cache(maxsize=256)
def expected_power(blocks: int, reach: float, epsilon: float, effect: float, level: float = 0.05) -> float:
    """The power of a sum of scores with mean effect / sqrt(blocks) each, to normal accuracy. Public numbers only."""
    shift = effect / math.sqrt(blocks)
    (null, spread), (mean, variance) = clipped_normal(0.0, reach), clipped_normal(shift, reach)
    noise = 2 * reach / epsilon
    critical = quantile_of(level, math.sqrt(blocks * spread), noise)
    return tail(critical - blocks * (mean - null), math.sqrt(blocks * variance), noise)


def clipped_normal(mean: float, reach: float) -> tuple[float, float]:
    """Mean and variance of a clipped normal variable with variance 1."""
    from scipy.special import ndtri

    grid = np.clip(mean + ndtri((np.arange(2000) + 0.5) / 2000), -reach, reach)
    return float(grid.mean()), float(grid.var())


def best_plan(most: int, epsilon: float) -> tuple[int, float]:
    """How many blocks, at most `most`, and which clip: the greatest expected power. Public numbers only."""
    return _best(most, epsilon, REACHES, expected_power)


def best_votes(most: int, epsilon: float) -> tuple[int, float]:
    """How many blocks, at most `most`, and at which level they vote: the greatest expected power. Public numbers."""
    return _best(most, epsilon, VOTE_LEVELS, power_of_votes)


def _best(
    most: int, epsilon: float, choices: Sequence[float], power: Callable[[int, float, float, float], float]
) -> tuple[int, float]:
    counts = sorted({max(1, round(most * share)) for share in (1, 0.7, 0.5, 0.35, 0.25, 0.18, 0.12)})
    tried = [(blocks, choice) for blocks in counts if blocks * epsilon >= 10 for choice in choices]
    return max(tried, key=lambda plan: power(plan[0], plan[1], epsilon, AIM)) if tried else (most, 0.5)


def power_of_votes(blocks: int, vote_level: float, epsilon: float, effect: float, level: float = 0.05) -> float:
    """The power of votes by normal tests with mean effect / sqrt(blocks), to normal accuracy. Public numbers only."""
    from scipy.special import ndtr, ndtri

    yes = float(ndtr(effect / math.sqrt(blocks) + ndtri(vote_level)))
    spread, variance = (math.sqrt(blocks * share * (1 - share)) for share in (vote_level, yes))
    return tail(quantile_of(level, spread, 1 / epsilon) - blocks * (yes - vote_level), variance, 1 / epsilon)
