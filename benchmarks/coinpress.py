"""CoinPress for the mean of a normal with known sigma and |mu| <= R, re-implemented for comparison only.

Biswas, Dong, Kamath and Ullman 2020, one dimension: t steps of clipping to a shrinking interval. Float noise from
numpy: fit for a benchmark, never for a release.
"""

import math

import numpy as np
import numpy.typing as npt

G2 = 1 + 2 * math.sqrt(math.log(100)) + 2 * math.log(100)


def coinpress(
    values: npt.NDArray[np.float64], reach: float, sigma: float, rho: float, steps: int, rng: np.random.Generator
) -> float:
    """The estimate at total privacy rho, a quarter of it on all steps but the last."""
    scaled, centre, radius, g = values / sigma, 0.0, reach / sigma, math.sqrt(G2)
    shares = [1.0] if steps == 1 else [0.25 / (steps - 1)] * (steps - 1) + [0.75]
    for share in shares:
        clip = min(math.sqrt(radius**2 + 6 * radius + G2), radius + g)
        noise = 2 * clip / (len(scaled) * math.sqrt(2 * rho * share))
        centre += float(np.clip(scaled - centre, -clip, clip).mean()) + noise * rng.standard_normal()
        radius = g * math.sqrt(1 / len(scaled) + noise**2)
    return centre * sigma


def coinpress_rows_mean(
    rows: npt.NDArray[np.float64], reach: float, rho: float, steps: int, rng: np.random.Generator
) -> npt.NDArray[np.float64]:
    """The mean of N(mu, I) rows in R^d with |mu| <= reach, at total privacy rho: clip to balls that shrink."""
    size, width = rows.shape
    beta = 0.01 / steps
    gap = 2 * math.log(1 / beta)
    tail = width + 2 * math.sqrt(width * gap / 2) + gap  # |x - mu|^2 exceeds it with probability beta
    centre, radius = np.zeros(width), reach
    shares = [1.0] if steps == 1 else [0.25 / (steps - 1)] * (steps - 1) + [0.75]
    for share in shares:
        clip = min(radius + math.sqrt(tail), math.sqrt(radius**2 + 2 * radius * math.sqrt(gap) + tail))
        away = rows - centre
        length = np.linalg.norm(away, axis=1, keepdims=True)
        away *= np.minimum(1.0, clip / np.maximum(length, 1e-300))
        noise = 2 * clip / (size * math.sqrt(2 * rho * share))
        centre = centre + away.mean(axis=0) + noise * rng.standard_normal(width)
        radius = math.sqrt(tail) * math.sqrt(1 / size + noise**2)
    return centre
