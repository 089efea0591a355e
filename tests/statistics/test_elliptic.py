"""The constants of bent rows, against simulation and against closed forms."""

import math
from typing import Any

import numpy as np
import pytest

from discreet.stages.gram import Shape
from discreet.statistics.whiten import length_of, radius_for_covariance, radius_for_mean, response


@pytest.mark.parametrize("size", [1, 2, 10])
def test_no_ball_is_the_sample_covariance(size: int) -> None:
    at = response(size, 100.0, "clip")
    assert at.level == pytest.approx(1)
    assert at.apart == pytest.approx(1)
    assert at.along == pytest.approx(1)
    assert at.shift == pytest.approx(1)
    assert at.apart_variance == pytest.approx(2)
    assert at.along_variance == pytest.approx(2)
    assert at.shift_variance == pytest.approx(1)


def test_directions_are_those_of_tyler() -> None:
    at = response(5, 1.0, "sphere")
    assert at.level == pytest.approx(1 / 5)
    assert at.apart == pytest.approx(1 / 7)
    assert at.along == pytest.approx(0, abs=1e-12)  # a direction says nothing about the size
    assert at.apart_variance / at.apart**2 == pytest.approx(2 * 7 / 5)  # efficiency d / (d + 2)


@pytest.mark.parametrize("shape", ["clip", "taper"])
def test_covariances_far_from_round_are_inverted_to_second_order(shape: Shape) -> None:
    """The same 400,000 rows in both moments: what is left is well below what a straight line leaves."""
    size, radius = 3, 2.4
    at, rows = response(size, radius, shape), np.random.default_rng(0).normal(size=(400_000, size))

    def second(rows: Any) -> Any:
        lengths = np.linalg.norm(rows, axis=1)
        new = np.minimum(lengths, radius) if shape == "clip" else np.clip(2 * radius - lengths, 0, lengths)
        bent = rows * (new / lengths)[:, None]
        return bent.T @ bent / len(rows)

    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(size, size)))[0]
    plain = second(rows) - at.level * np.eye(size)
    for values in ([1.4, 0.7, 1.0], [1.5, 1.4, 1.2], [0.6, 0.7, 0.8]):
        truth = (turn * values) @ turn.T
        seen = second(rows @ np.linalg.cholesky(truth).T) - plain
        excess = seen - at.level * np.eye(size)
        scale = np.trace(excess) / size * np.eye(size)
        straight = np.eye(size) + scale / at.along + (excess - scale) / at.apart
        left, before = (float(np.linalg.norm(found - truth)) for found in (at.covariance(seen), straight))
        assert left < max(0.5 * before, 0.012)


@pytest.mark.parametrize("shape", ["clip", "taper"])
def test_slopes_by_simulation(shape: Shape) -> None:
    """A million rows: each slope within 0.01, five of its standard deviations or more."""
    size, radius = 3, 1.8 if shape == "clip" else 3.0
    at, rows = response(size, radius, shape), np.random.default_rng(0).normal(size=(1_000_000, size))

    def bent(rows: Any) -> Any:
        lengths = np.linalg.norm(rows, axis=1)
        new = np.minimum(lengths, radius) if shape == "clip" else np.clip(2 * radius - lengths, 0, lengths)
        return rows * (new / lengths)[:, None]

    def second(rows: Any) -> Any:
        return np.asarray(bent(rows).T @ bent(rows)) / len(rows)

    plain, step = second(rows), 0.05
    assert np.abs(plain - at.level * np.eye(size)).max() < 0.01
    turn = np.eye(size)
    turn[0, 1] = turn[1, 0] = step
    root, other = np.linalg.cholesky(turn), np.linalg.cholesky(2 * np.eye(size) - turn)
    slope = (second(rows @ root.T) - second(rows @ other.T))[0, 1] / (2 * step)
    assert slope == pytest.approx(at.apart, abs=0.01)
    wide, narrow = second(rows * math.sqrt(1 + step)), second(rows * math.sqrt(1 - step))
    assert np.trace(wide - narrow) / size / (2 * step) == pytest.approx(at.along, abs=0.01)
    moved = (bent(rows + step).mean(axis=0) - bent(rows - step).mean(axis=0)) / (2 * step)
    assert np.abs(moved - at.shift).max() < 0.01
    products = bent(rows)[:, 0] * bent(rows)[:, 1]
    assert 2 * products.var() == pytest.approx(at.apart_variance, rel=0.02)
    squares = (bent(rows) ** 2).sum(axis=1)
    assert squares.var() / size == pytest.approx(at.along_variance, rel=0.02)
    assert at.covariance(second(rows @ root.T)) == pytest.approx(turn, abs=0.012)


def test_radii_shrink_with_the_noise() -> None:
    for best in (radius_for_covariance, radius_for_mean):
        radii = [best(5, 10_000, noise, "taper") for noise in (0.0, 1e-3, 1e-1)]
        assert radii == sorted(radii, reverse=True)
        assert radii[0] > 4
        assert radii[-1] < 3
    far = response(2, 3.0, "clip").covariance(np.diag([90.0, 1.0]))
    assert far == pytest.approx(np.diag([90.0, 1.0]), rel=0.1)  # not round: no slopes
    assert length_of(0.05, 1) == pytest.approx(1.959964)
    assert length_of(0.5, 4, 3.0) > length_of(0.5, 4)
