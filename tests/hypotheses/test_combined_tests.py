"""Combined p-values: sensitivity, exact distributions, failed blocks."""

import math
from itertools import product

import numpy as np
import pytest
from scipy.stats import norm

from discreet import audit
from discreet.audit.worlds import Pair
from discreet.errors import BadInput
from discreet.hypotheses.combined_tests import (
    STEPS,
    ScoreSum,
    VoteCount,
    best_plan,
    best_votes,
    expected_power,
    p_values,
    power_of_votes,
    score_distribution,
    scores,
)
from discreet.hypotheses.null_distributions import noise_beyond
from discreet.noise.randomness import Seeded

ODD = (0.0, 1e-300, 0.3, 1.0, math.nan, math.inf, -1.0)
WORLD = [Pair([one, 0.5, 0.2], [other, 0.5, 0.2]) for one, other in product(ODD, ODD) if one is not other]


@pytest.mark.claim("combined_tests.1")
@pytest.mark.parametrize("mechanism", [ScoreSum(3, 1.0, 10.0), VoteCount(3, 0.4, 10.0)])
def test_combinations_pass_the_audit(mechanism: ScoreSum | VoteCount) -> None:
    audit.check(mechanism, WORLD, hostile_values=False).require()


@pytest.mark.claim("combined_tests.1")
def test_scores_are_within_their_steps_and_failures_are_no_evidence() -> None:
    found = scores(p_values(ODD, len(ODD)), 1.0)
    assert found.tolist() == [STEPS, STEPS, round(STEPS * norm.isf(0.3)), -STEPS, -STEPS, -STEPS, -STEPS]


@pytest.mark.claim("combined_tests.2")
def test_the_distribution_is_that_of_scores_of_uniform_p_values() -> None:
    """Three blocks, every combination of steps, against quantiles of a fine uniform grid."""
    grid = scores((np.arange(200_000) + 0.5) / 200_000, 1.3)
    mass = np.bincount(grid + STEPS, minlength=2 * STEPS + 1) / len(grid)
    distribution, three = score_distribution(3, 1.3, 2), np.convolve(np.convolve(mass, mass), mass)
    sums = np.arange(-3 * STEPS, 3 * STEPS + 1)
    for t in (-300, -90, 0, 33, 100, 192, 400):
        assert distribution.upper(t) == pytest.approx(three @ noise_beyond(t - sums, distribution.scale), abs=1e-4)


@pytest.mark.claim("combined_tests.2")
def test_combined_p_values_are_super_uniform_for_discrete_base_tests_too() -> None:
    people = np.random.default_rng(1)
    for mechanism in (ScoreSum(30, 1.0, 1.0), VoteCount(30, 0.3, 1.0)):
        uniform = [mechanism.release(people.random(30), Seeded(i)).value.p_value for i in range(600)]
        for level in (0.05, 0.2, 0.5):
            assert abs(np.mean(np.array(uniform) <= level) - level) < 5 * math.sqrt(level * (1 - level) / 600)
        rough = [mechanism.release(np.ceil(people.random(30) * 4) / 4, Seeded(i)).value.p_value for i in range(300)]
        assert np.mean(np.array(rough) <= 0.2) <= 0.2 + 5 * math.sqrt(0.16 / 300)


def test_plans_are_public_and_sensible() -> None:
    blocks, reach = best_plan(100, 1.0)
    assert blocks == 100
    assert 1 <= reach <= 2
    assert best_plan(400, 0.1)[1] < reach  # less budget, harder clip
    assert best_plan(3, 0.1) == (3, 0.5)
    votes, level = best_votes(100, 1.0)
    assert power_of_votes(votes, level, 1.0, 2.8) < expected_power(blocks, reach, 1.0, 2.8) < 0.9
    assert best_votes(3, 0.1) == (3, 0.5)


def test_refusals_are_by_public_numbers() -> None:
    with pytest.raises(BadInput, match="times as many"):
        ScoreSum(5, 1.0, 0.5)
    with pytest.raises(BadInput, match="times as many"):
        VoteCount(5, 0.5, 0.5)
    with pytest.raises(BadInput, match="clip"):
        ScoreSum(50, 0.0, 1.0)
    with pytest.raises(BadInput, match="vote"):
        VoteCount(50, 1.0, 1.0)
