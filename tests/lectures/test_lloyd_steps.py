"""Lloyd's algorithm as lectured: plain and private."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from discreet import audit, lectures
from discreet.accounting.compose import implies
from discreet.audit.replay import Recorder
from discreet.errors import BadInput
from discreet.lectures.lloyd_steps import PrivateLloyd, drawn_centres
from discreet.models.assign import Ball
from discreet.noise.additive import Blur
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours

BOTH = list(Neighbours)
ODD: tuple[Any, ...] = ((0.0, 0.0), (1.0, -2.0), (1e6, 1e300), (math.inf, 0.0), (math.nan, 1.0), None, "x")


def world(relation: Neighbours) -> list[audit.Pair]:
    crowd: list[Any] = [(0.5, 0.0), (-0.5, 0.25), (0.0, 0.75), (0.1, 0.1)]
    pairs = []
    for place, odd in enumerate(ODD):
        other = ODD[(place + 3) % len(ODD)]
        pairs.append(audit.Pair([*crowd, odd], [*crowd, other] if relation is Neighbours.REPLACE else crowd))
    return pairs


@pytest.mark.claim("lloyd_steps.1")
@pytest.mark.parametrize("relation", BOTH)
def test_replay(relation: Neighbours) -> None:
    mechanism = PrivateLloyd(2, 3, 30.0, average_last=2, columns=2, neighbours=relation)
    audit.check(mechanism, world(relation), hostile_values=False).require()
    assert implies(mechanism.loss, mechanism.guarantee)


@pytest.mark.claim("lloyd_steps.1")
def test_the_noise_is_that_of_the_lecture() -> None:
    """Scale 4 T / epsilon on a count and, in units of the radius, on a sum; half of it where a row is added."""
    for relation, factor in ((Neighbours.REPLACE, 4), (Neighbours.ADD_OR_REMOVE, 2)):
        recorder = Recorder(Seeded(0))
        PrivateLloyd(2, 5, 2.0, neighbours=relation).release(np.zeros((3, 2)), recorder)
        drawn = [request for request, _ in recorder.log if isinstance(request, Blur)]
        assert len(drawn) == 5
        for request in drawn:
            scale = float(request.sensitivity) / 2**24 / float(request.cost.epsilon)  # type: ignore[union-attr]
            assert scale == pytest.approx(factor * 5 / 2.0)


@pytest.mark.claim("lloyd_steps.1")
def test_a_step_that_is_not_paid_for_is_caught() -> None:
    """A planted mistake: noise for one step less than is taken."""

    class Cheap(PrivateLloyd):
        @property
        def stages(self) -> Any:
            return replace(PrivateLloyd(2, 2, 30.0), iterations=1).stages

    cheap = Cheap(2, 2, 30.0, columns=2)
    assert audit.check(cheap, world(Neighbours.REPLACE)[:1], hostile_values=False).findings


@pytest.mark.claim("lloyd_steps.2")
def test_drawn_centres_fill_the_ball_and_read_no_row() -> None:
    ball = Ball(np.zeros(2), 3.0)
    points = drawn_centres(ball, 1000, Seeded(1))
    lengths = np.abs(points).sum(axis=1) / 3
    assert lengths.max() <= 1
    assert abs((lengths**2).mean() - 0.5) < 0.06  # uniform in a ball of two dimensions: its square is uniform
    assert abs((points > 0).mean() - 0.5) < 0.06  # five deviations
    first = [PrivateLloyd(2, 1, 1e-3).release(rows, Seeded(5)) for rows in (np.zeros((1, 2)), np.ones((1, 2)))]
    assert all(np.abs(release.value.centres).sum(axis=1).max() <= 1.5 for release in first)


@pytest.mark.claim("lloyd_steps.2")
def test_as_many_draws_whatever_clusters_seem_to_be_empty() -> None:
    drawn = set()
    for seed, rows in enumerate((np.zeros((1, 2)), np.zeros((5000, 2)), np.tile([[0.9, 0.0], [-0.9, 0.0]], (900, 1)))):
        recorder = Recorder(Seeded(seed))
        PrivateLloyd(2, 3, 30.0).release(rows, recorder)
        drawn.add(tuple(type(request).__name__ for request, _ in recorder.log))
    assert len(drawn) == 1


def test_averages_and_the_path() -> None:
    rows = np.array([[0.6, 0.0], [-0.6, 0.1]] * 2000)
    one = lectures.private_lloyd(rows, 2, iterations=4, epsilon=2.0, rng=Seeded(2)).value
    three = lectures.private_lloyd(rows, 2, iterations=4, epsilon=2.0, average_last=3, rng=Seeded(2)).value
    assert np.array_equal(one.centres, one.path[-1])
    assert np.allclose(three.centres, np.mean(one.path[-3:], axis=0))
    assert len(one.path) == 4
    assert abs(one.counts.sum() - 4000) < 200
    assert "centres" in str(lectures.private_lloyd(rows, 2, iterations=1, epsilon=1.0, rng=Seeded(0)))


def test_plain_lloyd_and_bad_arguments() -> None:
    rows = np.array([[0.0, 0.0], [0.0, 1.0], [9.0, 9.0]])
    found = lectures.lloyd(rows, 3, iterations=2, start=[[0.0, 0.5], [9.0, 8.0], [50.0, 50.0]])
    assert found.centres.tolist() == [[0.0, 0.5], [9.0, 9.0], [50.0, 50.0]]  # a centre without rows stays
    assert np.asarray(lectures.lloyd(rows, 2, iterations=3, rng=Seeded(1))).shape == (2, 2)
    for wrong in ({"iterations": 0}, {"iterations": 99}, {"iterations": True}, {"iterations": 2, "start": [[0.0]]}):
        with pytest.raises(BadInput):
            lectures.lloyd(rows, 2, **wrong)
    for table in ([[math.nan]], [[1e300]], [["a"]], [[1.0], [1.0, 2.0]], [1.0, 2.0], []):
        with pytest.raises(BadInput, match=r"give (finite )?rows"):
            lectures.lloyd(table, 1, iterations=1)
    with pytest.raises(BadInput, match="average_last is 3"):
        lectures.private_lloyd(rows, 2, iterations=2, average_last=3, epsilon=1.0)
