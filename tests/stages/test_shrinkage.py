"""Noisy matrices drawn towards others."""

import numpy as np
import pytest

from discreet.stages.shrinkage import drawn_towards, to_diagonal


def test_columns_that_do_not_depend_on_each_other_lose_their_noise() -> None:
    rng = np.random.default_rng(1)
    noise = np.triu(rng.normal(size=(30, 30)), 1) * 0.1 / np.sqrt(2)
    found, left = to_diagonal(np.eye(30) + noise + noise.T, 0.1)
    apart = found - np.diag(np.diag(found))
    assert (apart**2).sum() < 0.05 * 2 * (noise**2).sum()
    assert left < 0.03


def test_what_the_noise_does_not_explain_stays() -> None:
    strong = 0.5 * np.eye(30) + 0.5
    found, left = to_diagonal(strong, 0.01)
    assert found == pytest.approx(strong, abs=0.001)
    assert left == pytest.approx(0.01, rel=0.001)
    assert drawn_towards(strong, 0.6, np.eye(30), most=0.25)[0] == pytest.approx(0.75 * strong + 0.25 * np.eye(30))
    alone, _ = to_diagonal(np.array([[4.0]]), 1.0)
    assert alone.tolist() == [[4.0]]
