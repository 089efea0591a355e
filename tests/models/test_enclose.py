"""A ball that holds nearly all rows, without bounds; seeds without data, and clusters joined from released ones."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.audit.replay import Recorder
from discreet.errors import BadInput
from discreet.models.enclose import Search, check_ball, find_ball, given_ball, merged, packed
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Choice, atoms
from discreet.tables.matrix import matrix

SEARCH = Search(Choice(Fraction(1, 20)), Choice(Fraction(1, 20)))


@pytest.mark.claim("enclose.1")
@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_it_holds_nearly_all_and_costs_what_is_said(neighbours: Neighbours) -> None:
    rows = np.random.default_rng(0).normal(size=(20_000, 3)) * 7 + 1e5
    rows[:5] = np.nan
    rows[5:9] = 1e300
    door = Recorder(Seeded(1))
    ball = find_ball(matrix(rows), SEARCH, neighbours, door)
    inside = np.linalg.norm(rows[9:] - ball.centre, axis=1) <= ball.radius
    assert inside.mean() > 0.95
    assert ball.radius < 60
    assert sorted(map(repr, atoms(door.spent))) == sorted(map(repr, [SEARCH.column] * 3 + [SEARCH.radius]))


@pytest.mark.claim("enclose.1")
def test_one_row_moves_no_choice_by_more_than_its_claim() -> None:
    rng = np.random.default_rng(2)
    for _ in range(20):
        rows = rng.choice([0.0, 1.0, -5.0, 1e9, np.inf, np.nan], size=(30, 2))
        other = rows.copy()
        other[rng.integers(30)] = rng.choice([0.0, 3.0, -1e300, np.nan], size=2)
        asked, again = Recorder(Seeded(0)), Recorder(Seeded(0))
        find_ball(matrix(rows), SEARCH, Neighbours.REPLACE, asked)
        find_ball(matrix(other), SEARCH, Neighbours.REPLACE, again)
        for column in range(2):
            assert asked.log[column][0].objection(again.log[column][0]) is None


def test_a_declared_ball() -> None:
    assert given_ball(None, None, 2) is None
    ball = given_ball(3.0, (1.0, 2.0), 2)
    assert ball is not None
    assert ball.centre.tolist() == [1.0, 2.0]
    with pytest.raises(BadInput, match="2 columns"):
        given_ball(3.0, (1.0,), 2)
    for radius, centre in ((None, (0.0,)), (0.0, None), ("far", None), (1.0, (np.nan,)), (1.0, "here"), (np.inf, None)):
        with pytest.raises(BadInput):
            check_ball(radius, centre)


@pytest.mark.parametrize(("count", "width"), [(1, 1), (5, 1), (48, 2), (48, 10), (6, 200)])
def test_seeds_keep_away_from_each_other_and_the_surface(count: int, width: int) -> None:
    points = packed(count, width)
    assert points.shape == (count, width)
    assert np.array_equal(points, packed(count, width))
    if count > 1:
        gaps = np.linalg.norm(points[:, None] - points[None], axis=2) + 9 * np.eye(count)
        assert np.linalg.norm(points, axis=1).max() <= 1 - gaps.min() / 2 + 1e-9
        assert gaps.min() > (0.1 if width == 2 else 0.2)


def test_pieces_of_clusters_are_joined() -> None:
    rng = np.random.default_rng(0)
    places = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])
    points = np.concatenate([place + rng.normal(size=(5, 2)) for place in places])
    found = merged(points, rng.uniform(1, 5, size=15), 3)
    assert np.linalg.norm(found[:, None] - places[None], axis=2).min(axis=0).max() < 2
    assert merged(points[:2], np.array([1.0, 2.0]), 4).shape == (4, 2)
    assert np.isfinite(merged(points, np.zeros(15), 3)).all()
