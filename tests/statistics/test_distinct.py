"""The ladder for the number of different values."""

import math

import numpy as np
import pytest

from discreet import audit, distinct
from discreet.accounting.compose import implies
from discreet.errors import BadInput
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.statistics.distinct import Distinct

BOTH = list(Neighbours)


@pytest.mark.claim("distinct.1")
@pytest.mark.parametrize("relation", BOTH)
def test_every_small_pair(relation: Neighbours) -> None:
    audit.check(Distinct(1.0, relation), audit.labels(relation, 3)).require()
    assert implies(Distinct(0.7, relation).loss, Distinct(0.7, relation).guarantee)


@pytest.mark.study
@pytest.mark.claim("distinct.1")
def test_outputs_reach_most_of_epsilon_and_no_more() -> None:
    mechanism = Distinct(1.0, Neighbours.ADD_OR_REMOVE)
    told = audit.distinguish(mechanism, list("abc"), list("abcd"), runs=20_000, seed=1)
    assert not told.violated
    assert told.epsilon > 0.8


def test_interval_covers_the_number_of_different_values() -> None:
    towns = [f"town {k % 37}" for k in range(500)]
    seen = audit.coverage(lambda i: (Distinct(0.5).release(towns, Seeded(i)), 37), runs=1500)
    assert seen.holds
    assert seen.share < 0.99  # no gratuitous width


def test_missing_entries_are_no_value_and_equal_numbers_are_one() -> None:
    odd = [1, 1.0, True, "1", None, math.nan, float("inf"), 1e300, "a", "a"]
    assert distinct(odd, epsilon=1e6, missing="keep", rng=Seeded(0)).value == 6  # 1, True, "1", inf, 1e300, "a"
    assert distinct(np.array([2.0, 2.0, np.nan]), epsilon=1e6, rng=Seeded(0)).value == 1


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, "1", None])
def test_bad_epsilon_is_our_error(epsilon: object) -> None:
    with pytest.raises(BadInput, match="epsilon"):
        distinct(["a"], epsilon=epsilon)  # type: ignore[arg-type]
