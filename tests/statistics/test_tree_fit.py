"""Counts that agree: trees, margins and the tables between them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from discreet.statistics.tree_fit import counts_of, fitted, rooted


def test_counts_without_noise_stay_as_they_are() -> None:
    joint = np.random.default_rng(0).integers(1, 50, size=(3, 2, 4)).astype(float)
    ones = [joint.sum(axis=tuple(one for one in range(3) if one != at)) for at in range(3)]
    pairs = [(1, 0), (1, 2)]
    both = [joint.sum(axis=2).T, joint.sum(axis=0)]
    margins, tables = fitted(ones, pairs, both, joint.sum(), (1e-4, 1e-4))
    assert all(np.allclose(a, b) for a, b in zip(margins, ones, strict=True))
    assert all(np.allclose(a, b, atol=0.02) for a, b in zip(tables, both, strict=True))


def test_columns_are_weighted_by_the_noise_of_what_they_are_read_off() -> None:
    ones, both = [np.array([60.0, 40.0]), np.array([50.0, 50.0])], [np.array([[25.0, 25.0], [25.0, 25.0]])]
    near, _ = fitted(ones, [(0, 1)], both, 100.0, (1.0, 1e9))
    far, _ = fitted(ones, [(0, 1)], both, 100.0, (1e9, 1.0))
    half, _ = fitted(ones, [(0, 1)], both, 100.0, (2.0, 1.0))  # two cells of variance 1 against one of 2
    assert np.allclose([near[0][0], far[0][0], half[0][0]], [60, 50, 55], atol=1e-4)


@given(st.integers(0, 10**6), st.sampled_from([0.0, 1.0, 300.0]))
def test_tables_agree_whatever_the_noise(seed: int, total: float) -> None:
    generator = np.random.default_rng(seed)
    noisy = generator.normal(0, 50, size=(3, 4))
    ones = [generator.normal(0, 50, size=3), generator.normal(0, 50, size=4)]
    margins, (table,) = fitted(ones, [(0, 1)], [noisy], total, (3.0, 1.0))
    assert min(table.min(), margins[0].min()) >= 0
    assert np.allclose(table.sum(axis=1), margins[0], atol=1e-6 * max(total, 1))
    assert np.allclose(table.sum(axis=0), margins[1], atol=1e-3 * max(total, 1))
    assert abs(counts_of(noisy, total).sum() - total) < 1e-9


def test_a_forest_is_rooted() -> None:
    assert rooted([], 3) == []
    assert rooted([(1, 2), (3, 4), (0, 1)], 5) == [(0, 1), (1, 2), (3, 4)]
    assert rooted([(0, 3), (2, 3), (1, 2)], 4) == [(0, 3), (3, 2), (2, 1)]
