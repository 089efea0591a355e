"""Distances by noisy counts of quarter octaves: what one record moves, and where the tail is seen to end."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet import audit
from discreet.audit.replay import Recorder
from discreet.audit.worlds import HOSTILE
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Gaussian, Laplace
from discreet.stages import octaves
from discreet.stages.octaves import DistanceTail, distance_cost, distance_tail
from discreet.statistics.variance import Variance

REPLACE, ADD = Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE
LAPLACE = Laplace(Fraction(1, 4))


def tail(values: Any, cost: Any = LAPLACE, relation: Neighbours = ADD, seed: int = 0) -> DistanceTail | None:
    return distance_tail(
        np.asarray(values, dtype=float), centre=0.0, size=len(values), cost=cost, neighbours=relation, rng=Seeded(seed)
    )


@pytest.mark.claim("octaves.1")
@pytest.mark.parametrize("relation", list(Neighbours))
def test_a_record_is_in_one_quarter_or_in_none(relation: Neighbours) -> None:
    """Counts of neighbours differ by one record, or by one that moved: so far the noise reaches."""
    crowd = [0.5, 1.0, 1.25, 2.0, 2.0, 3.0]
    for cost in (LAPLACE, distance_cost(Fraction(1, 4), relation)):
        for value in (*(odd for odd in HOSTILE if isinstance(odd, float)), 1e-30, 1e30, -2.0, 2.5):
            seen = []
            for rows in ([*crowd, value], [*crowd, 1.0] if relation is REPLACE else crowd):
                door = Recorder(Seeded(0))
                distance_tail(np.array(rows), centre=0.0, size=7, cost=cost, neighbours=relation, rng=door)
                ((request, _),) = door.log
                seen.append(request)
            assert seen[0].objection(seen[1]) is None


def test_less_noise_than_a_replaced_record_needs_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(octaves, "_moved", lambda *_: Fraction(1))
    crowd = [float(x) for x in np.round(np.random.default_rng(4).normal(1.0, 2.0, size=40), 1)]
    pair = audit.Pair([*crowd, 0.0, 1.0], [*crowd, 0.0, 4.0])
    verdict = audit.check(Variance(16.0, size=42), [pair], hostile_values=False)
    assert "moved by" in str(verdict)
    assert not verdict.passed


@pytest.mark.claim("octaves.2")
def test_the_tail_ends_where_the_data_do() -> None:
    rng = np.random.default_rng(1)
    cases = [
        (rng.uniform(-2, 2, 5000), (2.0, 2.5), (2.0, 2.7)),
        (rng.choice([-1.0, 1.0], 5000), (1.25, 1.25), (1.25, 1.6)),
        (rng.normal(size=5000), (2.5, 4.0), (3.0, 5.0)),
        (rng.exponential(size=5000), (4.0, 8.0), (5.5, 12.0)),
        (np.where(rng.random(5000) < 0.95, rng.normal(size=5000), 1000.0), (1024.0, 1024.0), (1024.0, 1400.0)),
    ]
    for cost in (LAPLACE, distance_cost(Fraction(1, 4), ADD)):
        for values, (least, most), (nearest, furthest) in cases:
            for scale in (1.0, 2.0**-20, 2.0**20):
                found = tail(values * scale, cost)
                assert found is not None
                assert least * scale <= found.last <= most * scale
                assert nearest * scale <= found.limit(3.0, 2) <= furthest * scale
                assert found.limit(3.0, 1) <= found.limit(3.0, 2)


@pytest.mark.claim("octaves.2")
def test_no_tail_where_nothing_is_seen() -> None:
    rng = np.random.default_rng(2)
    assert tail(np.zeros(5000)) is None
    assert tail(np.full(5000, math.nan)) is None
    assert tail(10.0 ** rng.uniform(-20, 20, 300)) is None
    thin = np.where(rng.random(1000) < 0.8, 0.01, 10.0 ** rng.uniform(0, 20, 1000))  # one value, and others anywhere
    assert tail(thin) is None
    found = tail(np.full(5000, 1e200))
    assert found is not None
    assert found.last == 2.0**81


@pytest.mark.claim("octaves.2")
def test_by_chance_nothing_is_seen_far_out() -> None:
    """200 seeded runs; once in 1000 an octave far above all is seen."""
    values = np.random.default_rng(3).normal(size=5000)
    ends = [tail(values, seed=seed) for seed in range(200)]
    assert sum(end is None or end.last > 8 for end in ends) <= 3


@pytest.mark.claim("octaves.1")
def test_what_gaussian_counts_cost() -> None:
    for relation in Neighbours:
        cost = distance_cost(Fraction(1, 10), relation)
        assert isinstance(cost, Gaussian)
        assert 0 < cost.slack < 1e-9
