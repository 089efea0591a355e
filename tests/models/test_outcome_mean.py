"""Means by tables."""

import numpy as np
import pytest
from scipy.special import expit

from discreet.models.score import logistic, poisson


@pytest.mark.claim("score.4")
def test_tables_are_close_fixed_and_bounded() -> None:
    rng = np.random.default_rng(0)
    linear = np.concatenate([rng.normal(size=1000) * 5, [-1e300, 1e300, 0.0, -32.0, 32.0]])
    family = logistic()
    found = family.mean(linear)
    assert np.abs(found - expit(linear)).max() < 1e-6
    alone = np.array([family.mean(np.array([one]))[0] for one in linear])
    assert (alone == found).all()
    assert found.min() >= 0
    assert found.max() <= 1
    assert family.slope(linear).max() <= family.steepest == 0.25
    rates = poisson().mean(linear[:1000])
    assert np.abs(rates / np.exp(linear[:1000]) - 1).max() < 1e-5
    assert poisson().mean(linear).max() < 1e14
