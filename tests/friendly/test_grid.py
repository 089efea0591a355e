"""Points and who is near whom: against whole numbers of any size."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.friendly import core as grid
from discreet.friendly.core import BOX, NEAR, UNITS, Apart, Points, Unlike, far_apart

HOSTILE = [0.0, -0.0, 5e-324, 1e-300, 1.0, -3.5, 1e9, 2.0**36, 2.0**38, 1e300, math.inf, -math.inf, math.nan]


def by_hand(points: Points) -> np.ndarray[Any, Any]:
    """Python's own integers."""
    rows = points.steps.tolist()
    squares = [[sum((a - b) ** 2 for a, b in zip(one, two, strict=True)) for two in rows] for one in rows]
    apart = np.array([[square > UNITS**2 for square in line] for line in squares], dtype=np.bool_)
    apart = apart.reshape(len(rows), len(rows))
    apart[~points.valid] = True
    apart[:, ~points.valid] = True
    return apart


def whole(strangers: Any) -> np.ndarray[Any, Any]:
    return np.asarray(strangers.block(0, strangers.size))


@pytest.mark.claim("core.7")
@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=1, max_size=8), st.floats(1e-280, 1e280))
@settings(max_examples=300, deadline=None)
def test_a_row_is_a_function_of_itself(values: list[float], radius: float) -> None:
    together = Points.of(np.array(values)[:, None], radius)
    for place, value in enumerate(values):
        alone = Points.of(np.array([[value]]), radius)
        assert alone.valid[0] == together.valid[place]
        assert alone.steps[0, 0] == together.steps[place, 0]
        assert abs(int(alone.steps[0, 0])) <= 2**52
        if not math.isfinite(value):
            assert not alone.valid[0]


@pytest.mark.claim("core.7")
def test_what_points_are() -> None:
    points = Points.of(np.array([[3.0, -1.5], [np.nan, 0.0], [1e300, 0.0], [0.0, 2.0**24]]), 1.5, bits=40)
    assert points.steps[0].tolist() == [2 * UNITS, -UNITS]
    assert points.valid.tolist() == [True, False, False, True]
    assert Points.of(np.array([[2.0**30]]), 1.0, bits=40).valid.tolist() == [False]
    assert points[[3, 0]].valid.tolist() == [True, True]


@pytest.mark.claim("core.8")
@pytest.mark.parametrize("columns", [1, 2, 5])
def test_friends_are_decided_exactly(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the edges of all boxes, at ties, at offsets, with rows that are no points: compared with Python's integers."""
    rng = np.random.default_rng(columns)
    edges = [0, 1, UNITS - 1, UNITS, UNITS + 1, NEAR, NEAR + 1, NEAR - UNITS, BOX - 1, BOX, BOX + UNITS, 2**40, 2**52]
    for trial in range(60):
        offset = int(rng.choice([0, 1, 2**20 * UNITS, -(2**50)]))
        signs = rng.choice([-1, 1], size=(24, columns))
        steps = rng.choice(edges, size=(24, columns)) * signs + rng.integers(-1, 2, size=(24, columns))
        steps[: trial % 20] = rng.integers(-UNITS, UNITS, size=(trial % 20, columns)) * 3 // 4
        points = Points(np.clip(steps + offset, -(2**52), 2**52), rng.random(24) < 0.9)
        expected = by_hand(points)
        for compiled in (True, False):
            monkeypatch.setattr(grid, "compiled", lambda answer=compiled: answer)
            for width in (1, 2, 2**13):
                monkeypatch.setattr(grid, "COLUMNS", width)
                apart = Apart(points)
                assert (whole(apart) == expected).all()
                assert (apart.block(5, 9) == expected[5:9, 5:]).all()


@pytest.mark.claim("core.8")
def test_a_pair_is_decided_alike_in_any_company() -> None:
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(300, 40)) * 0.115
    rows[::7] = rng.choice(HOSTILE, size=(len(rows[::7]), 40))
    expected = whole(Apart(Points.of(rows, 1.0)))
    for _ in range(5):
        some = rng.permutation(300)[:100]
        far = rng.normal(size=(50, 40)) * 10.0 ** rng.integers(-3, 9)
        mixed = whole(Apart(Points.of(np.concatenate([rows[some], far]), 1.0)))
        assert (mixed[:100, :100] == expected[np.ix_(some, some)]).all()


def test_shifts_and_exchanged_columns_change_no_answer() -> None:
    rng = np.random.default_rng(6)
    rows = rng.integers(-(2**14), 2**14, size=(200, 3)) / 2**13
    expected = whole(Apart(Points.of(rows, 1.0)))
    assert (whole(Apart(Points.of(rows + 2.0**20, 1.0))) == expected).all()
    assert (whole(Apart(Points.of(rows[:, ::-1], 1.0))) == expected).all()
    assert expected.any()
    assert not expected.all()


def test_equal_rows_are_the_friends_of_radius_nought() -> None:
    rows = np.array([[0.0, 1.0], [-0.0, 1.0], [0.0, 2.0], [np.nan, 1.0], [np.nan, 1.0], [np.inf, 1.0], [np.inf, 1.0]])
    apart = whole(Unlike(rows))
    assert apart[:3, :3].tolist() == [[False, False, True], [False, False, True], [True, True, False]]
    assert apart[3:].all()
    assert apart[:, 3:].all()
    assert Unlike(np.empty((0, 2))).block(0, 0).shape == (0, 0)


def test_differences_that_would_overflow_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    point, others = np.array([2**52, 0]), np.array([[-(2**52), 0], [2**52, UNITS], [2**52, UNITS + 1], [2**52 + 5, 9]])
    for compiled in (True, False):
        monkeypatch.setattr(grid, "compiled", lambda answer=compiled: answer)
        assert far_apart(point, others).tolist() == [True, False, True, False]
