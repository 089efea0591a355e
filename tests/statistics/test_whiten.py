"""Frames in which rows look round, from differences of rows."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.audit.replay import Recorder, Replayer
from discreet.noise.randomness import Seeded
from discreet.privacy.loss import Choice, atoms
from discreet.privacy.neighbours import Neighbours
from discreet.stages.frame import Frame
from discreet.stages.gram import gram_cost
from discreet.statistics.whiten import Whitening, differences, find_frame, inverse_root, lengths, measured

REPLACE = Neighbours.REPLACE


def costs(size: int, epsilon: float = 0.2, mu: Fraction = Fraction(1, 10), turns: int = 4) -> Whitening:
    return Whitening(size, Choice(epsilon), (gram_cost(mu, size, REPLACE),) * turns)


def rows_of(covariance: Any, count: int, seed: int = 0, offset: float = 1e5) -> Any:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(count, len(covariance))) @ np.linalg.cholesky(covariance).T + offset


def ill(size: int, condition: float, seed: int = 0) -> Any:
    turn = np.linalg.qr(np.random.default_rng(seed).normal(size=(size, size)))[0]
    return (turn * np.logspace(0, math.log10(condition), size)) @ turn.T


@pytest.mark.parametrize(("condition", "scale"), [(1.0, 1e-20), (100.0, 1.0), (1e6, 1e30)])
def test_rows_look_round(condition: float, scale: float) -> None:
    covariance = ill(4, condition) * scale
    apart = differences(rows_of(covariance, 20_000, offset=1e5 * math.sqrt(scale)), Seeded(0))
    frame = find_frame(apart, costs(4), Seeded(1))
    assert isinstance(frame, Frame)
    seen = np.linalg.eigvalsh(frame.matrix @ covariance @ frame.matrix.T)
    assert seen.min() > 0.7
    assert seen.max() < 1.4


@pytest.mark.claim("whiten.1")
def test_one_row_is_in_one_difference_and_every_draw_is_paid_for() -> None:
    rows = rows_of(ill(3, 10.0), 501)
    base = differences(rows, Seeded(3))
    assert base.shape == (250, 3)
    for place, entry in ((0, 5.0), (100, math.inf), (499, math.nan), (500, 1e300)):
        other = rows.copy()
        other[place] = entry
        moved = ~np.isclose(differences(other, Seeded(3)), base, equal_nan=False).all(axis=1)
        assert moved.sum() <= 1
    assert np.cov(base.T) == pytest.approx(ill(3, 10.0), abs=4)
    door = Recorder(Seeded(0))
    frame = find_frame(base, costs(3, 5.0, Fraction(2)), door)
    assert isinstance(frame, Frame)
    assert sorted(map(repr, atoms(door.spent))) == sorted(map(repr, atoms(costs(3, 5.0, Fraction(2)).loss)))
    for change in ([0.0] * 3, [1e300, 0.0, 0.0], [math.nan] * 3, [math.inf, -math.inf, 1.0], [1e6, 1e6, -1e6]):
        other = base.copy()
        other[17] = change
        again = Replayer(door)
        find_frame(other, costs(3, 5.0, Fraction(2)), again)
        assert again.objections == []
        assert again.unused == 0


@pytest.mark.claim("whiten.2")
def test_scales_that_are_none_end_it() -> None:
    rows = rows_of(np.eye(2), 4000)
    still = rows.copy()
    still[:, 1] = 7.0
    door = Recorder(Seeded(0))
    found = find_frame(differences(still, Seeded(0)), costs(2), door)
    assert isinstance(found, str)
    assert "column 1" in found
    assert len(door.log) == 2  # the distances, and no more
    found = find_frame(differences(rows * 1e290, Seeded(0)), costs(2), Seeded(0))
    assert isinstance(found, str)
    assert "rescale" in found


def test_truth_values_and_ties_have_a_scale() -> None:
    rng = np.random.default_rng(0)
    rows = np.stack([rng.random(20_000) < 0.5, rng.poisson(1.0, 20_000), rng.normal(size=20_000)], axis=1)
    frame = find_frame(differences(rows, Seeded(0)), costs(3), Seeded(1))
    assert isinstance(frame, Frame)
    seen = np.linalg.eigvalsh(frame.matrix @ np.cov(rows.T) @ frame.matrix.T)
    assert seen.min() > 0.2
    assert seen.max() < 5


def test_lengths_and_roots() -> None:
    frame = Frame.of(np.ones(2), np.eye(2))
    assert lengths(np.array([[3.0, 4.0], [math.nan, 1.0], [0.0, 0.0]]), frame) == pytest.approx([5, 0, 0])
    assert len(lengths(np.zeros((0, 2)), frame)) == 0
    root = inverse_root(np.diag([4.0, 1.0]), 1e-6)
    assert root == pytest.approx(np.diag([0.5, 1.0]))
    assert np.isfinite(inverse_root(np.diag([-1.0, 1.0]), 0.1)).all()
    assert [measured(pairs) for pairs in (10, 9000, 10**6)] == [10, 8192, 4096]
