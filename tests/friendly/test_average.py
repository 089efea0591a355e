"""Exact means, and the noise on them."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.audit.replay import Recorder
from discreet.friendly.average import CUT, SLACK, Lattice
from discreet.friendly.core import UNITS
from discreet.noise.lattice import ROOM, slack
from discreet.noise.randomness import Seeded
from discreet.privacy.loss import Gaussian

CROWD = st.lists(st.tuples(st.integers(-UNITS, UNITS), st.integers(-UNITS, UNITS)), min_size=1, max_size=9)


@pytest.mark.claim("average.2")
@given(CROWD, st.integers(-(2**40), 2**40), st.integers(0, 20), st.randoms())
@settings(max_examples=200, deadline=None)
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
