"""The tail of lengths of rows with many entries."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.audit.replay import Recorder
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.stages.octaves import tail_cost, tail_of
from discreet.stages.squared_tail import Doubted, rows_beyond, squared_tail

BOTH = [Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE]


@pytest.mark.parametrize("relation", BOTH)
def test_long_rows_of_many_entries_are_told_from_typical_ones(relation: Neighbours) -> None:
    """Their length within a tenth, where half octaves of lengths themselves are up to a third too long."""
    lengths = np.sqrt(np.random.default_rng(0).chisquare(30, size=20_000))
    cost, largest = tail_cost(Fraction(1, 10), relation), np.sort(lengths)
    tail = squared_tail(lengths, 30, 20_000.0, cost=cost, neighbours=relation, rng=Seeded(1))
    assert tail is not None
    assert tail.typical == pytest.approx(np.median(lengths), rel=0.15)
    assert tail.fourth >= np.mean(lengths**4)
    for k in (20, 200):
        assert tail.at(k) == pytest.approx(largest[-k], rel=0.1)
        for power in (1, 2, 4):
            true = float((largest[-k:] ** power - largest[-k] ** power).sum())
            assert 0.5 * true < tail.excess(k, power) < 4 * true
    assert tail.most(5.0, 500.0, 1e9, power=2) == pytest.approx(500.0)
    assert tail.most(5.0, 500.0, 0.0, power=2) == 5.0


@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("odd", [0.0, 1e-300, 1e200, math.inf, math.nan])
def test_one_row_moves_one_count(relation: Neighbours, odd: float) -> None:
    """As the lengths themselves do: the same draw with the same sensitivity, whatever the length is."""
    lengths, cost = np.sqrt(np.random.default_rng(0).chisquare(30, size=2_000)), tail_cost(Fraction(1, 10), relation)
    logs = []
    for made in (squared_tail, None):
        door = Recorder(Seeded(1))
        given = np.append(lengths, odd)
        if made is not None:
            made(given, 30, 2_001.0, cost=cost, neighbours=relation, rng=door)
        else:
            tail_of(given, 2_001.0, cost=cost, neighbours=relation, rng=door)
        logs.append([type(entry) for entry in door.log])
    assert logs[0] == logs[1]
    assert len(logs[0]) == 1
    assert squared_tail(np.full(100, odd), 30, 100.0, cost=cost, neighbours=relation, rng=Seeded(1)) is None


def test_a_tail_that_may_be_noise_limits_nothing_but_is_allowed_for() -> None:
    """Of 5,000 rows of 20 entries 150 are three times as long: the radius is that of the others, and what it takes from
    the sum of squares, seen by the second tail alone, is in the excess."""
    rng = np.random.default_rng(3)
    others, few = np.sqrt(rng.chisquare(20, 4_850)), 3 * np.sqrt(rng.chisquare(20, 150))
    relation, lengths = Neighbours.ADD_OR_REMOVE, np.append(others, few)
    drawn: dict[str, Any] = {"cost": tail_cost(Fraction(1, 10), relation), "neighbours": relation, "rng": Seeded(1)}
    before, seen = tail_of(others, 5_000.0, **drawn), squared_tail(lengths, 20, 5_000.0, **drawn)
    assert before is not None
    assert seen is not None
    doubted, k = Doubted(before, seen), 10.0
    assert doubted.at(k) == before.at(k)
    assert doubted.most(2.0, 20.0, 0.3, power=2) == before.most(2.0, 20.0, 0.3, power=2)
    assert doubted.typical == before.typical
    assert doubted.fourth >= np.mean(lengths**4)
    for power in (1, 2, 4):
        true = float(np.maximum(lengths**power - float(before.at(k)) ** power, 0.0).sum())
        assert before.excess(k, power) < 0.5 * true
        assert 0.5 * true < doubted.excess(k, power)
    assert rows_beyond(seen, float(seen.at(50.0))) == pytest.approx(50.0)
