"""Seeds without data, and clusters joined from released ones."""

import numpy as np
import pytest

from discreet.models.clusters import merged, packed


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
