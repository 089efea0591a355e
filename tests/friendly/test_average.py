"""Exact means, noisy numbers and their margins."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.audit.replay import Recorder
from discreet.errors import BadInput
from discreet.friendly.average import CUT, SLACK, Lattice, check_costs, margin, noisy_count
from discreet.friendly.core import UNITS, check_radius
from discreet.noise.additive import ROOM, slack
from discreet.noise.randomness import Seeded
from discreet.privacy.loss import Gaussian

CROWD = st.lists(st.tuples(st.integers(-UNITS, UNITS), st.integers(-UNITS, UNITS)), min_size=1, max_size=9)


@pytest.mark.claim("average.2")
@given(CROWD, st.integers(-(2**40), 2**40), st.integers(0, 20), st.randoms())
@settings(max_examples=200)
def test_means_are_exact_in_any_order(crowd: list[tuple[int, int]], offset: int, bits: int, rng: Any) -> None:
    lattice = Lattice(bits, 60 - bits)
    mean = lattice.mean(np.array(crowd) + offset)
    rng.shuffle(crowd)
    assert lattice.mean(np.array(crowd) + offset).tolist() == mean.tolist()
    for column in range(2):
        exact = Fraction(sum(point[column] + offset for point in crowd), len(crowd)) * 2**bits
        assert abs(exact - int(mean[column])) <= Fraction(1, 2)
    weights = [1 + place % 3 for place in range(len(crowd))]
    repeated = [point for point, weight in zip(crowd, weights, strict=True) for _ in range(weight)]
    weighted = lattice.mean(np.array(crowd) + offset, weights)
    assert weighted.tolist() == lattice.mean(np.array(repeated) + offset).tolist()


@pytest.mark.claim("average.3")
@pytest.mark.parametrize("columns", [1, 7, 1000])
@pytest.mark.parametrize("rows", [3, 4096, 10**6])
@pytest.mark.parametrize("mu", [1e-6, 0.2, 64])
def test_noise_is_wide_enough_for_its_slack(columns: int, rows: int, mu: float) -> None:
    moved = Fraction(2 * UNITS, rows)
    lattice = Lattice.for_mean(columns, moved, mu)
    assert lattice.reach + lattice.bits <= 60
    assert 2 ** (lattice.reach + lattice.bits) < ROOM
    recorder = Recorder(Seeded(0))
    for fewer in (rows, 3):
        scale = Fraction(2 * UNITS, fewer) * 2**lattice.bits / Fraction(mu)
        assert slack(columns, int(scale)) <= SLACK
        lattice.blurred(
            np.zeros(columns, dtype=np.int64),
            Fraction(2 * UNITS, fewer),
            radius=1.0,
            cost=Gaussian(mu, SLACK),
            rng=recorder,
        )  # the door looks at it again


@pytest.mark.claim("average.3")
def test_rounding_is_paid_for() -> None:
    recorder = Recorder(Seeded(0))
    found = Lattice(10, 50).blurred(
        np.zeros(4, dtype=np.int64), Fraction(2**20), radius=3.0, cost=Gaussian(1, 1e-9), rng=recorder
    )
    assert recorder.log[0][0].sensitivity == 2**30 + 2  # type: ignore[attr-defined]
    assert found.deviation == pytest.approx(3.0 * 2**20 / UNITS)
    assert found.point.shape == (4,)


@pytest.mark.claim("average.4")
def test_nothing_is_raised() -> None:
    lattice = Lattice(8, 52)
    wild = np.array([[2**52, -(2**52)], [-(2**52), 2**52], [0, 0]])
    assert np.abs(lattice.mean(wild) - (wild[0] << 8)).max() <= CUT << 8
    assert lattice.mean(np.empty((0, 3), dtype=np.int64)).tolist() == [0, 0, 0]


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
