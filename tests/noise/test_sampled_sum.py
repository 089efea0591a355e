"""Noisy sums over secret samples: the coins, the noise, the cost."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.audit.replay import Recorder
from discreet.errors import BadInput
from discreet.noise.additive import SampledSum, rounded_rate
from discreet.noise.randomness import Seeded
from discreet.privacy.loss import Gaussian, Sampled

COST = Gaussian(Fraction(1, 2), Fraction(1, 10**12))


@pytest.mark.claim("additive.3")
def test_each_person_is_in_by_a_coin_and_noise_comes_to_an_empty_sample() -> None:
    """20,000 coins at a rate of 1/8: within 5.5 standard errors."""
    seen: list[int] = []

    def sums(chosen: np.ndarray) -> np.ndarray:
        seen.append(int(chosen.sum()))
        return np.array([chosen.sum()]) * 2**26

    door = Seeded(3)
    drawn = door.sampled_sum(20_000, sums, sensitivity=2**26, cost=COST, rate=0.125)
    assert abs(seen[0] - 2500) < 5.5 * (20_000 / 8 * 7 / 8) ** 0.5
    assert drawn[0] != seen[0] * 2**26
    empty = {int(door.sampled_sum(0, sums, sensitivity=2**26, cost=COST, rate=0.125)[0]) for _ in range(5)}
    assert len(empty) == 5
    assert seen[1:] == [0] * 5


@pytest.mark.claim("additive.3")
def test_the_cost_is_that_of_a_sample_at_the_rate_that_is_drawn() -> None:
    recorder = Recorder(Seeded(0))
    recorder.sampled_sum(3, lambda c: np.array([0]), sensitivity=2**26, cost=COST, rate=rounded_rate(0.1))
    assert recorder.spent == Sampled(COST, Fraction(rounded_rate(0.1)))
    full = SampledSum(people=3, sums=lambda c: np.array([0]), sensitivity=2**26, cost=COST, rate=1.0)
    assert full.loss == COST
    assert abs(rounded_rate(0.1) - 0.1) < 1e-15
    with pytest.raises(BadInput, match="rate"):
        SampledSum(people=3, sums=lambda c: np.array([0]), sensitivity=2**26, cost=COST, rate=0.0)


def test_a_sum_that_moves_too_far_is_objected_to() -> None:
    left, right = (
        SampledSum(people=size, sums=lambda c: np.array([2**27 * int(c.sum())]), sensitivity=2**26, cost=COST, rate=0.5)
        for size in (3, 4)
    )
    assert "moved" in str(left.objection(right))
    other = SampledSum(people=4, sums=lambda c: np.array([0]), sensitivity=2**26, cost=COST, rate=0.25)
    assert "parameters" in str(left.objection(other))
