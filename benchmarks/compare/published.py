"""Published methods, written anew for comparison only, with float noise from numpy: never for a release.

Each is given what its paper asks for, and more where that helps it: the number of people, the true bounds, the true
spread.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.accounting.calibrate import gaussian

Floats = npt.NDArray[np.float64]
STEP = 1.001  # between the candidates of Durfee's search, as published


def durfee_quantile(values: Floats, q: float, epsilon: float, rng: np.random.Generator) -> float:
    """Durfee 2023, "Unbounded Differentially Private Quantile and Maximum Estimation", both signs, n public.

    Above-threshold on candidates that grow by a factor: first among the negative numbers, then among the positive, half
    of epsilon each, counts only growing.
    """
    below = durfee_search(-values, 1 - q, epsilon / 2, rng)
    if below > 0:
        return -below
    return durfee_search(values, q, epsilon / 2, rng)


def durfee_search(values: Floats, q: float, epsilon: float, rng: np.random.Generator) -> float:
    """The first of the candidates 0, STEP - 1, STEP^2 - 1, ... below which there seem to be q n values."""
    each = epsilon / 2
    threshold = q * len(values) + rng.laplace(scale=1 / each)
    ordered, start, many = np.sort(values), 0, 4096
    while start < 700_000:  # STEP^700,000 is about 1e304
        candidates = np.expm1(np.arange(start, start + many) * math.log(STEP))
        counts = np.searchsorted(ordered, candidates, side="left")
        above = np.flatnonzero(counts + rng.laplace(scale=1 / each, size=many) >= threshold)
        if len(above):
            return float(candidates[above[0]])
        start, many = start + many, 2 * many
    return float(candidates[-1])


def durfee_mean(values: Floats, epsilon: float, rng: np.random.Generator) -> float:
    """Clip at two searched quantiles, 1% from either end, for half of epsilon; then a noisy mean, n public."""
    low = durfee_quantile(values, 0.01, epsilon / 4, rng)
    high = max(durfee_quantile(values, 0.99, epsilon / 4, rng), low)
    scale = (high - low) / (len(values) * epsilon / 2)
    return float(np.clip(values, low, high).mean() + rng.laplace(scale=scale))


def dp_lloyd(
    rows: Floats, clusters: int, bounds: tuple[float, float], epsilon: float, rng: np.random.Generator
) -> Floats:
    """DP-Lloyd as in Su, Cao, Li, Bertino and Jin 2016: five steps, Laplace noise on counts and sums in a given box."""
    low, high = bounds
    width, steps = rows.shape[1], 5
    scaled = np.clip((rows - low) / (high - low) * 2 - 1, -1, 1)
    centres = rng.uniform(-1, 1, size=(clusters, width))
    scale = steps * (width + 1) / epsilon
    for _ in range(steps):
        nearest = ((scaled[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
        for place in range(clusters):
            mine = scaled[nearest == place]
            count = len(mine) + rng.laplace(scale=scale)
            if count > 1:
                centres[place] = np.clip((mine.sum(axis=0) + rng.laplace(scale=scale, size=width)) / count, -1, 1)
    return (centres + 1) / 2 * (high - low) + low


def adassp(x: Any, y: Any, epsilon: float, delta: float, rng: np.random.Generator) -> Any:
    """Algorithm 2 of Wang 2018, failure probability 0.05, with the largest row and outcome as bounds."""
    bound, top, d = float(np.linalg.norm(x, axis=1).max()), float(np.abs(y).max()), x.shape[1]
    log, part = math.log(6 / delta), epsilon / 3
    least = float(np.linalg.eigvalsh(x.T @ x)[0])
    least = max(least + math.sqrt(log) / part * bound**2 * rng.normal() - log / part * bound**2, 0.0)
    ridge = max(0.0, math.sqrt(d * log * math.log(2 * d**2 / 0.05)) * bound**2 / part - least)
    noise = np.triu(rng.normal(size=(d, d)))
    noise = noise + np.triu(noise, 1).T
    gram = x.T @ x + math.sqrt(log) * bound**2 / part * noise
    cross = x.T @ y + math.sqrt(log) * bound * top / part * rng.normal(size=d)
    return np.linalg.solve(gram + ridge * np.eye(d), cross)


def gradient_descent(
    people: tuple[Floats, Floats],
    spread: float,
    epsilon: float,
    delta: float,
    rng: np.random.Generator,
    *,
    moved: int = 1,
    beyond: float = 2.0,
    residual: float = 2.5,
) -> Floats:
    """Noisy gradient descent for least squares as in Varshney, Thakurta and Jain 2022, with public spreads.

    Columns of x are known to have deviation 1 and no correlation, y to have deviation `spread`, the residuals 1, so
    that three steps of length 1 are enough; rows and residuals are clipped at about twice what is usual. A sum is
    `moved` by one clipped row, or by two where a person is replaced.
    """
    x, y = people
    size, width = x.shape
    steps, longest = 3, math.sqrt(width) + beyond
    rows = x * np.minimum(1, longest / np.linalg.norm(x, axis=1))[:, None]
    noise = moved * math.sqrt(steps) / gaussian(epsilon, delta)
    slopes = np.zeros(width)
    for step in range(steps):
        clip = 2 * spread if step == 0 else residual
        residuals = np.clip(y - rows @ slopes, -clip, clip)
        slopes = slopes + (rows.T @ residuals + noise * longest * clip * rng.normal(size=width)) / size
    return slopes
