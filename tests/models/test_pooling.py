"""What several noisy sums tell together."""

import numpy as np
import pytest

from discreet.models.pooling import MOST, Steps, pooled


def noisy(rng: np.random.Generator, size: int, noise: float) -> np.ndarray:
    """A symmetric matrix with deviations of `noise` on the diagonal, and that over the root of 2 off it."""
    found = np.triu(rng.normal(size=(size, size)), 1) * noise / np.sqrt(2)
    return np.asarray(found + found.T + np.diag(rng.normal(size=size)) * noise)


def test_two_sums_are_nearer_to_the_truth_than_one_and_say_by_how_much() -> None:
    """200 runs: the error left is within a tenth of what is told, which chance misses by less than a fiftieth."""
    rng, truth, told, left, alone = np.random.default_rng(1), 1000.0 * np.eye(12), [], [], []
    for _ in range(200):
        second, first = truth + noisy(rng, 12, 60.0), 0.8 * (truth + noisy(rng, 12, 80.0))
        both, noise = pooled(second, 60.0, first)
        told.append(noise**2)
        left.append(((both - truth) ** 2).sum() * 2 / (12 * 13))
        alone.append(((second - truth) ** 2).sum() * 2 / (12 * 13))
    assert np.mean(left) < 0.75 * np.mean(alone)
    assert np.mean(left) == pytest.approx(np.mean(told), rel=0.1)


def test_a_first_sum_of_another_shape_weighs_nothing() -> None:
    second = np.diag(np.linspace(100.0, 1000.0, 12))
    both, noise = pooled(second, 5.0, np.eye(12))
    assert both == pytest.approx(second, abs=10.0)
    assert noise == pytest.approx(5.0, rel=0.01)
    same, noise = pooled(second, 5.0, second)
    assert same == pytest.approx(second)
    assert noise == pytest.approx(5.0 * np.sqrt(1 - MOST))
    assert pooled(second, 5.0, -np.eye(12))[0] is second  # noise alone


def test_steps_are_averaged_by_their_errors() -> None:
    one, two = Steps(np.array([1.0, 0.0]), 3.0, 0.5), Steps(np.array([0.0, 2.0]), 1.0, 0.1)
    assert Steps.none(2).then(one, 7.0) is one
    both = one.then(two, 0.0)
    assert both.gain == pytest.approx(18.25 / (18.25 + 2.01))
    assert both.step.tolist() == pytest.approx([1 - both.gain, 2 * both.gain])
    assert both.noise**2 == pytest.approx(both.gain**2 + 9 * (1 - both.gain) ** 2)
    assert both.excess == pytest.approx(0.1 * both.gain + 0.5 * (1 - both.gain))
    assert one.then(two, 100.0).gain < 0.25  # a long step in a matrix that is hardly known
    exact = Steps(np.zeros(2), 0.0, 0.0)
    assert exact.then(exact, 0.0) is exact
