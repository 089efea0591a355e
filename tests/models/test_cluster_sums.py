"""The joint sensitivity of counts and sums, and the noise on both."""

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from discreet.accounting.allocation import Share
from discreet.audit.replay import Recorder
from discreet.errors import BadInput
from discreet.models.assign import BITS, Ball, cluster_sums
from discreet.models.cluster_sums import (
    DRAWS,
    check_cluster_budget,
    cluster_budget,
    count_unit,
    noise_per_reach,
    noisy_clusters,
    sensitivity,
)
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.tables.matrix import matrix

REPLACE, ADD = Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE
PLACES = (-9.0, -1.0, -0.5, 0.0, 0.5, 1.0, 9.0, np.nan)


def moves(norm: Any, centred: bool, relation: Neighbours) -> tuple[float, float]:
    """The farthest that one row of a small world moves counts and sums together, over what is claimed."""
    ball = Ball(np.zeros(2), 1.0)
    centres = ball.steps(np.array([[-0.5, 0.0], [0.5, 0.0], [0.0, 0.9]]))
    reach = 2**BITS if not centred else 2**22
    unit = count_unit(reach, norm, relation, Fraction(1))

    def vector(rows: list[Any]) -> list[int]:
        found = cluster_sums(matrix(np.array(rows).reshape(-1, 2)), ball, centres, reach, norm=norm, centred=centred)
        return [*(unit * int(c) for c in found.counts), *(int(s) for s in found.sums.ravel())]

    single = [vector([row]) for row in product(PLACES, repeat=2)]
    pairs = [(one, other) for one in single for other in (single if relation is REPLACE else [vector([])])]
    claimed = sensitivity(reach, unit, norm, relation)
    seen = max(
        sum(abs(a - b) if norm == 1 else (a - b) ** 2 for a, b in zip(one, other, strict=True)) for one, other in pairs
    )
    assert seen <= claimed
    return float(seen), float(claimed)


@pytest.mark.claim("cluster_sums.3")
@pytest.mark.parametrize("centred", [True, False])
def test_in_l2_counts_are_free_under_replace(centred: bool) -> None:
    seen, claimed = moves(2, centred, REPLACE)
    assert claimed == 4.0 * (2**BITS if not centred else 2**22) ** 2  # what the sums alone would cost
    assert seen > 0.9 * claimed  # and it is reached
    seen, claimed = moves(2, centred, ADD)
    assert seen > 0.9 * claimed


@pytest.mark.claim("cluster_sums.4")
@pytest.mark.parametrize("centred", [True, False])
def test_in_l1_a_row_may_leave_one_cluster_and_enter_another(centred: bool) -> None:
    reach = 2**BITS if not centred else 2**22
    seen, claimed = moves(1, centred, REPLACE)
    assert claimed == 4.0 * reach
    assert seen > 0.9 * claimed
    seen, claimed = moves(1, centred, ADD)
    assert claimed == 2.0 * reach
    assert seen > 0.9 * claimed


@pytest.mark.claim("cluster_sums.5")
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_every_cluster_is_blurred_and_by_as_much_as_is_said(delta: float) -> None:
    """300 empty clusters: deviations within 25% of the claim (5 standard errors of Laplace noise, 1e-6)."""
    ball, budget = Ball(np.zeros(1), 1.0), cluster_budget(1.0, delta)
    centres = ball.steps(np.linspace(-1, 1, 300)[:, None])
    door, cost = Recorder(Seeded(1)), budget.split(half=Share(Fraction(1, 2))).noise("half")
    found = noisy_clusters(
        matrix(np.empty((0, 1))), ball, centres, 2**20, centred=True, cost=cost, neighbours=REPLACE, rng=door
    )
    assert len(door.log) == 1
    assert (found.counts != 0).all()
    assert (found.sums != 0).all()
    assert found.sums.std() == pytest.approx(found.sum_noise, rel=0.3)
    assert found.counts.std() == pytest.approx(found.count_noise, rel=0.3)
    assert found.sum_noise == pytest.approx(2**20 * noise_per_reach(cost, REPLACE), rel=1e-3)


def test_centres_move_where_there_are_rows() -> None:
    ball = Ball(np.zeros(1), 1.0)
    centres = ball.steps(np.array([[-0.5], [0.5]]))
    rows = matrix(np.full((5000, 1), -0.25))
    cost = cluster_budget(8.0, 1e-6).split(all=Share()).noise("all")
    found = noisy_clusters(rows, ball, centres, 2**BITS, centred=True, cost=cost, neighbours=REPLACE, rng=Seeded(0))
    moved, full = found.moved(centres, 5 * found.count_noise, centred=True)
    assert full.tolist() == [True, False]
    assert ball.points(moved).ravel() == pytest.approx([-0.25, 0.5], abs=0.01)


def test_what_cannot_be_promised_is_refused() -> None:
    for epsilon, delta in ((0.0, 0.0), (1.0, 1e-15), (1e-9, 1e-6), (1e-9, 0.0), (-1, 0.0), (1.0, 1.0)):
        with pytest.raises(BadInput):
            check_cluster_budget(epsilon, delta, REPLACE)
    with pytest.raises(BadInput, match="neighbours"):
        check_cluster_budget(1.0, 0.0, "replace")


def test_the_slack_of_every_draw_is_kept() -> None:
    budget = cluster_budget(1.0, 1e-6)
    budget.split(all=Share(times=DRAWS))
    with pytest.raises(BadInput, match="kept for it"):
        budget.split(all=Share(times=DRAWS + 1))
