"""What clipping does to a normal variable, against brute force."""

import numpy as np
import pytest

from discreet.stages.normal_stages import (
    ClippedResponse,
    clipped_mean,
    clipped_square,
    mean_radius,
    square_radius,
)

Z = np.linspace(-12, 12, 400_001)
WEIGHT = np.exp(-Z * Z / 2) / np.sqrt(2 * np.pi) * (Z[1] - Z[0])


def brute(seen: ClippedResponse, values: np.ndarray, slope: float) -> None:
    mean = float((values * WEIGHT).sum())
    assert seen.mean == pytest.approx(mean, abs=1e-7)
    assert seen.variance == pytest.approx(float((values**2 * WEIGHT).sum()) - mean**2, abs=1e-7)
    assert seen.slope == pytest.approx(slope, abs=1e-5)


@pytest.mark.parametrize("r", [0.3, 1.0, 2.5, 4.0])
@pytest.mark.parametrize("a", [0.0, 0.4, -1.5, 6.0])
def test_the_mean_of_a_clipped_normal(a: float, r: float) -> None:
    slope = (clipped_mean(a + 1e-4, r).mean - clipped_mean(a - 1e-4, r).mean) / 2e-4
    brute(clipped_mean(a, r), np.clip(a + Z, -r, r), slope)


@pytest.mark.parametrize("r", [0.8, 2.5, 5.0])
@pytest.mark.parametrize("v", [0.05, 1.0, 3.0])
def test_the_mean_of_a_truncated_square(v: float, r: float) -> None:
    slope = (clipped_square(v + 1e-4, r).mean - clipped_square(v - 1e-4, r).mean) / 2e-4
    brute(clipped_square(v, r), np.minimum(v * Z * Z, r * r), slope)


def test_radii_grow_with_the_data_and_reach_their_variance() -> None:
    few, many = mean_radius(200, 2 * (2 / (200 * 0.25)) ** 2), mean_radius(10**6, 2 * (2 / (10**6 * 0.8)) ** 2)
    assert few[0] < 1.2
    assert many[0] > 2.4
    assert many[1] * 10**6 == pytest.approx(1, abs=0.02)  # as good as without privacy
    assert mean_radius(1000, 2 * (2 / 800) ** 2)[1] * 1000 == pytest.approx(1.064, abs=0.002)
    assert square_radius(10**6, 2 / (10**6 * 0.8) ** 2)[1] * 10**6 == pytest.approx(2, abs=0.05)
