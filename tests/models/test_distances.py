"""A radius that holds most rows, and the loss: what one row can do to them."""

from itertools import product

import numpy as np
import pytest

from discreet.accounting.allocation import Share
from discreet.audit.replay import Recorder
from discreet.models.cluster_sums import STEPS, cluster_budget, holding, noisy_loss
from discreet.noise.randomness import Seeded
from discreet.privacy.loss import Choice

WORLD = (0.0, 1.0, 1.01, 2.0, 1e6, np.nan)


@pytest.mark.claim("cluster_sums.1")
def test_one_row_moves_no_score_by_more_than_one() -> None:
    """Rows replaced, added and removed, in tables smaller and larger than the window."""
    rng = np.random.default_rng(0)
    for size in (0, 1, 5, 40):
        for _ in range(30):
            rows = rng.choice(WORLD, size=size)
            other = rng.choice(WORLD, size=1)
            for neighbour in (np.concatenate([rows, other]), np.concatenate([rows[1:], other]), rows[1:]):
                if abs(len(neighbour) - size) > 1 or (size == 0 and len(neighbour) == 0):
                    continue
                doors = [Recorder(Seeded(0)), Recorder(Seeded(0))]
                for door, table in zip(doors, (rows, neighbour), strict=True):
                    holding(table, beyond=4, cost=Choice(20.0), rng=door)
                asked, again = (door.log[0][0] for door in doors)
                assert asked.objection(again) is None


@pytest.mark.claim("cluster_sums.1")
def test_the_radius_holds_what_was_asked_for() -> None:
    """Rank errors beyond 400 of 10,000 at epsilon 0.2: e^-40."""
    values = np.random.default_rng(1).random(10_000)
    found = [holding(values, beyond=2000, cost=Choice(0.2), rng=Seeded(seed)) for seed in range(5)]
    assert np.abs(np.array(found) - 0.8).max() < 0.05


@pytest.mark.claim("cluster_sums.2")
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_the_loss_moves_by_the_cap_at_most(delta: float) -> None:
    cost = cluster_budget(1.0, delta).split(all=Share()).noise("all")
    crowds = np.array([0.0, 0.5, 1.0, 1e9, np.nan]), np.array([2.0, *[0.3] * 40])  # in one of them the odd row is far
    for values, odd in product(crowds, (0.0, 2.0, 3.0, 1e300, np.nan, np.inf)):
        doors = [Recorder(Seeded(0)), Recorder(Seeded(0)), Recorder(Seeded(0))]
        for door, table in zip(doors, (values, np.append(values[1:], odd), np.append(values, odd)), strict=True):
            noisy_loss(table, 3.0, cost=cost, rng=door)
        asked, replaced, added = (door.log[0][0] for door in doors)
        assert asked.objection(replaced) is None
        assert asked.objection(added) is None
    many = np.full(100_000, 1.5)
    found = noisy_loss(many, 3.0, cost=cluster_budget(8.0, 1e-6).split(all=Share()).noise("all"), rng=Seeded(0))
    assert found == pytest.approx(2.25 * 100_000, rel=1e-3 + 2.0**-STEPS)
