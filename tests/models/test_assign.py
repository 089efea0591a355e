"""Whole numbers, whatever the order: what a row adds to its cluster depends on that row alone."""

import warnings
from typing import Any

import numpy as np
import pytest

from discreet.errors import BadInput
from discreet.models import assign
from discreet.models.assign import BITS, HALF, Ball, cluster_sums, cut, distances, lengths, nearest
from discreet.tables.matrix import matrix

ODD = (np.nan, np.inf, -np.inf, 1e300, -1e308, 5e-324, -0.0)


def wild(size: int, width: int, seed: int = 0) -> Any:
    """Rows near and far, some with odd entries."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(size, width)) * 10.0 ** rng.integers(-6, 12, size=(size, 1))
    for place, value in enumerate(ODD):
        rows[place, place % width] = value
    return rows


@pytest.mark.claim("assign.1")
@pytest.mark.parametrize("width", [1, 2, 10, 300])
def test_points_of_the_ball_are_whole_and_within_it(width: int) -> None:
    rng = np.random.default_rng(width)
    ball = Ball(rng.normal(size=width), 2.5)
    steps = ball.steps(wild(400, width))
    lost = np.isnan(steps).any(axis=1)
    assert np.all(np.isnan(steps[:3]))
    assert np.isnan(steps[lost]).all()
    whole = [[int(entry) for entry in row] for row in steps[~lost]]
    assert np.array_equal(np.array(whole, dtype=float), steps[~lost])
    squares = [sum(entry * entry for entry in row) for row in whole]
    assert max(squares) <= 4**BITS  # in Python's integers
    assert max(squares) > 0.999 * 4**BITS  # those outside are pulled to the surface
    back = ball.points(ball.steps(rng.normal(size=(50, width)) / width))
    assert back.shape == (50, width)


@pytest.mark.claim("assign.1")
@pytest.mark.parametrize("norm", [1, 2])
def test_what_a_row_adds_is_no_longer_than_the_reach(norm: Any) -> None:
    rng = np.random.default_rng(0)
    moved = np.rint(rng.normal(size=(2000, 5)) * 2.0 ** rng.integers(1, BITS, size=(2000, 1)))
    for reach in (1, 7, 12345, 2**20 + 1, 2**BITS):
        added = cut(moved, reach, norm)
        for row in added.astype(np.int64).tolist():
            assert sum(abs(e) if norm == 1 else e * e for e in row) <= (reach if norm == 1 else reach * reach)
        inside = lengths(moved, norm) <= (reach if norm == 1 else reach * reach)
        assert np.array_equal(added[inside], moved[inside])


@pytest.mark.claim("assign.1")
@pytest.mark.parametrize("fast", [True, False])
def test_a_row_at_its_centre_is_no_occasion_for_a_warning(fast: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its difference has the length 0, by which nothing may be divided in public."""
    monkeypatch.setattr(assign, "compiled", lambda: fast)
    ball = Ball(np.zeros(2), 1.0)
    rows = matrix(np.array([[0.0, 0.0], [np.nan, 1.0], [np.inf, 0.0], [1e308, -1e308], [0.5, 0.0]]))
    for norm in (1, 2):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = cluster_sums(rows, ball, np.zeros((2, 2)), 2**20, norm=norm, centred=True)
            assert found.counts.tolist() == [2, 0]
            distances(rows, ball, np.zeros((2, 2)))


@pytest.mark.claim("assign.1")
def test_the_nearest_centre_exactly_and_of_equals_the_first() -> None:
    """Against Python's integers, with ties made on purpose."""
    rng = np.random.default_rng(1)
    ball = Ball(np.zeros(3), 1.0)
    centres = ball.steps(rng.normal(size=(7, 3)) / 2)
    centres[5] = centres[2]
    rows = np.concatenate([ball.steps(rng.normal(size=(300, 3)) / 2), (centres[:1] + centres[1:2]) // 2, centres])
    for row, found in zip(rows, nearest(rows, centres), strict=True):
        apart = [sum((int(a) - int(b)) ** 2 for a, b in zip(row, centre, strict=True)) for centre in centres]
        assert found == apart.index(min(apart))


@pytest.mark.claim("assign.2")
@pytest.mark.claim("assign.3")
@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("centred", [True, False])
def test_order_blocks_and_the_compiled_pass_change_nothing(
    norm: Any, centred: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(2)
    for width in (1, 3, 11):
        rows, ball = wild(1500, width, width), Ball(rng.normal(size=width), 3.0)
        centres = ball.steps(rng.normal(size=(9, width)))
        reach = 2**BITS if not centred else 2**21 + 3
        ways = [matrix(rows), matrix([rows[:1], rows[1:700], rows[700:]]), matrix(rows[::-1])]
        found, apart = [], []
        for fast in (True, False):
            monkeypatch.setattr(assign, "compiled", lambda fast=fast: fast)
            for way in ways:
                found.append(cluster_sums(way, ball, centres, reach, norm=norm, centred=centred))
                apart.append(distances(way, ball, centres))
        for other in found[1:]:
            assert np.array_equal(found[0].counts, other.counts)
            assert np.array_equal(found[0].sums, other.sums)
        assert np.array_equal(apart[0], apart[3], equal_nan=True)
        backwards: Any = apart[2]
        assert np.array_equal(apart[0], backwards[::-1], equal_nan=True)
        parts = [
            cluster_sums(matrix(part), ball, centres, reach, norm=norm, centred=centred)
            for part in (rows[:5], rows[5:])
        ]
        merged = assign._merged(parts[0].sums, parts[1].sums)
        assert np.array_equal(merged, found[0].sums)
        assert found[0].counts.sum() == np.isfinite(apart[0]).sum()


def test_a_ball_is_checked() -> None:
    for centre, radius in ((np.zeros(2), 0.0), (np.zeros(2), np.inf), (np.array([np.nan]), 1.0), (np.zeros((2, 2)), 1)):
        with pytest.raises(BadInput):
            Ball(centre, radius)
    assert Ball(np.zeros(1), 2.0).step == 2.0 / HALF
