"""A noisy number and its margin."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.audit.replay import Recorder
from discreet.errors import BadInput
from discreet.friendly.average import SLACK, check_costs, margin, noisy_count
from discreet.friendly.core import check_radius
from discreet.noise.lattice import slack
from discreet.noise.randomness import Seeded
from discreet.privacy.loss import Gaussian


@pytest.mark.claim("average.5")
@pytest.mark.parametrize("mu", [64, 1, 0.1, 1e-6])
@pytest.mark.parametrize("sensitivity", [1, 3 * 4095])
def test_what_is_blurred(mu: float, sensitivity: int) -> None:
    recorder = Recorder(Seeded(0))
    noisy = noisy_count(7, Gaussian(mu, SLACK), recorder, sensitivity)
    ((request, _),) = recorder.log
    assert request.loss == Gaussian(mu, SLACK)
    assert abs(noisy - 7) < 8 * sensitivity / Fraction(mu)
    blurred = request.values / 7  # type: ignore[attr-defined]
    assert request.sensitivity == sensitivity * blurred  # type: ignore[attr-defined]
    noisy_count(2**40, Gaussian(mu, SLACK), recorder, sensitivity)  # saturates


@pytest.mark.claim("average.6")
def test_the_margin_is_the_normal_quantile_and_holds() -> None:
    """At one in a hundred: 4,000 draws exceed it 40 times, give or take 33 (5.2 deviations)."""
    assert 2.3263 < float(margin(1, 0.01)) < 2.3264
    assert float(margin(0.5, 0.01, 3)) == pytest.approx(6 * 2.32635, rel=1e-5)
    cost, edge = Gaussian(0.5, SLACK), margin(0.5, 0.01)
    rng = Seeded(0)
    draws = np.array([float(noisy_count(0, cost, rng)) for _ in range(4000)])
    assert abs((draws > edge).sum() - 40) < 33
    assert abs((draws < -edge).sum() - 40) < 33


def test_costs_are_checked() -> None:
    good = Gaussian(0.1, SLACK)
    check_costs(good, good, 1e-7)
    for test, mean, miss in (
        (Gaussian(0.1), good, 1e-7),
        (good, Gaussian(0.1, SLACK / 2), 1e-7),
        (Gaussian(65, SLACK), good, 1e-7),
        (good, Gaussian(1e-7, SLACK), 1e-7),
        (good, good, 0.0),
        (good, good, 0.5),
        (good, good, "1e-7"),
    ):
        with pytest.raises(BadInput):
            check_costs(test, mean, miss)
    for radius in (-1.0, float("nan"), float("inf"), 1e-300, "1", None):
        with pytest.raises(BadInput, match="radius"):
            check_radius(radius)
    assert slack(1, 2**22) == SLACK
