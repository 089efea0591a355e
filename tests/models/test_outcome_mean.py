"""Means by tables."""

import math

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import poisson as distribution

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
    counts = poisson(30)
    assert counts.mean(linear).max() <= 30
    assert counts.outcome(np.array([-1.0, 3.0, math.inf])).tolist() == [0.0, 3.0, 30.0]
    assert family.outcome(np.array([-1.0, 0.0, 0.5, math.inf])).tolist() == [0.0, 0.0, 1.0, 1.0]


@pytest.mark.claim("score.5")
@pytest.mark.parametrize("top", [1, 4, 30])
def test_the_mean_and_variance_of_a_cut_count(top: int) -> None:
    family = poisson(top)
    for rate in (0.01, 0.5, 2.0, 10.0, 80.0):
        values = np.arange(1000)
        chance = distribution.pmf(values, rate)
        cut = np.minimum(values, top)
        mean = float(chance @ cut)
        at = np.array([math.log(rate)])
        assert abs(family.mean(at)[0] - mean) < 1e-4 * top
        variance = float(chance @ (cut - mean) ** 2)
        assert variance <= family.slope(at)[0] * (1 + 1e-4) + 1e-9
