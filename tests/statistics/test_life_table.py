"""The ladder for life tables: cells, noise, and where the estimate from exact times lies."""

import math
from typing import Any

import numpy as np
import pytest

from discreet.errors import BadInput
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.statistics.life_table import LifeTable, TimeGrid, noisy_table, reach
from discreet.statistics.survival import _exact

GRID = TimeGrid.of([2, 4], 2)


@pytest.mark.claim("life_table.2")
def test_each_record_is_in_one_cell() -> None:
    times = [0.0, 1.0, 1.1, 4.0, 4.1, -3.0, math.inf, -math.inf, math.nan, 1e300, 2.0]
    event = [1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, math.nan, 5.0]
    places = GRID.places(np.array(times), np.array(event))
    assert places.tolist() == [0, 4, 1, 7, 8, 0, 8, 4, 9, 9, 1]


@pytest.mark.claim("life_table.2")
def test_times_are_checked_before_any_row() -> None:
    for times in ([], [0, 1], [2, 1], [1, 1], "ab", [1, math.nan], None):
        with pytest.raises(BadInput, match="times"):
            TimeGrid.of(times, 1)
    for parts in (0, 1.5, True, 10_000):
        with pytest.raises(BadInput, match="parts"):
            TimeGrid.of([1.0], parts)


@pytest.mark.claim("life_table.1")
@pytest.mark.parametrize("relation", list(Neighbours))
def test_noise_is_that_of_one_person(relation: Neighbours) -> None:
    moved = 2 if relation is Neighbours.REPLACE else 1
    terms: dict[str, Any] = {"epsilon": 0.5, "neighbours": relation}
    (table,) = noisy_table(np.zeros(100, dtype=np.int64), 1, GRID, **terms, rng=Seeded(1))
    assert float(table.noise.scale) == pytest.approx(2 * moved)
    drawn = [
        noisy_table(np.zeros(0, dtype=np.int64), 1, TimeGrid.of(range(1, 301), 1), **terms, rng=Seeded(k))[
            0
        ].cells.std()
        for k in range(20)
    ]
    assert np.mean(drawn) == pytest.approx(table.noise.sd, rel=0.15)


@pytest.mark.claim("life_table.3")
def test_the_estimate_from_exact_times_is_between_two_products() -> None:
    """On 60 tables with ties, many ends and few people."""
    for seed in range(60):
        draw = np.random.default_rng(seed)
        time, event = np.round(draw.exponential(2.0, 80), 1) + 0.1, draw.random(80) < 0.5
        cells = np.bincount(GRID.places(time, event.astype(float)), minlength=10)[:9].astype(float)
        table = LifeTable(cells, noisy_table(np.zeros(0, dtype=np.int64), 1, GRID, **TERMS)[0].noise)
        upto = int(np.argmin(np.append(table.watched - table.ends > table.events, False)))
        exact = _exact(time, event, np.array(GRID.edges[:upto]))
        low, high = (np.exp(table.log_product(share, upto)[0]) for share in (1.0, 0.0))
        assert (low <= exact + 1e-12).all()
        assert (exact <= high + 1e-12).all()


TERMS: dict[str, Any] = {"epsilon": 1.0, "neighbours": Neighbours.ADD_OR_REMOVE, "rng": Seeded(0)}


@pytest.mark.claim("life_table.1")
def test_the_variance_of_the_noise_is_that_of_its_first_order() -> None:
    """Slopes by moving each cell a little; exact up to the second order."""
    cells = np.array([30.0, 25.0, 20.0, 10.0, 12.0, 9.0, 14.0, 6.0, 300.0])
    noise = noisy_table(np.zeros(0, dtype=np.int64), 1, GRID, **TERMS)[0].noise
    for share in (0.0, 0.5, 1.0):
        base, _, variance = LifeTable(cells, noise).log_product(share, 4)
        moved = [
            LifeTable(cells + 1e-4 * np.eye(9)[at], noise).log_product(share, 4)[0] - base for at in range(len(cells))
        ]
        squares = (np.array(moved) ** 2).sum(axis=0) / 1e-8
        assert np.allclose(variance, noise.sd**2 * squares, rtol=1e-4)


def test_reach_is_never_below_either() -> None:
    assert reach(0.95, 1.0, 0.0) == pytest.approx(1.96, abs=1e-3)
    assert reach(0.5, 0.0, 1.0) > 0.67
    assert reach(0.99, 0.0, 1.0) > 3.2
