"""Regression by approximate Tukey depth, re-implemented for comparison only.

Amin, Joseph, Ribero and Vassilvitskii 2022, "Easy differentially private linear regression" (TukeyEM): least squares on
1,000 blocks; the depth of a point is its least rank, from either side, in any coordinate; half of epsilon tests that
the regions of high depth are large enough however few blocks change, half draws a point with density e^(epsilon depth)
among those at least as deep as a quarter of the blocks. Float noise from numpy: fit for a benchmark, never for a
release. The factor e^(epsilon depth) is the published one. A person replaced changes one fit, which moves depths and
their sum by one each way: to hide that it should be e^(epsilon depth / 2), here `replaced`.
"""

import math

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def block_fits(x: Floats, y: Floats, blocks: int, rng: np.random.Generator) -> Floats:
    """Least squares with an intercept, which comes last, on disjoint blocks of one size."""
    size = len(y) // blocks
    order = rng.permutation(len(y))[: size * blocks]
    wide = np.column_stack([x, np.ones(len(y))])[order].reshape(blocks, size, -1)
    across = np.swapaxes(wide, 1, 2)
    cross = across @ y[order].reshape(blocks, size, 1)
    return np.asarray(np.linalg.solve(across @ wide, cross)[:, :, 0])


def tukey(
    fits: Floats, epsilon: float, delta: float, rng: np.random.Generator, *, replaced: bool = False
) -> Floats | None:
    """One point near the middle of the fits, or None where the test fails."""
    ranked = np.sort(fits + 1e-10 * rng.random(fits.shape), axis=0)
    deepest, each = len(fits) // 2, epsilon / 2
    sides = ranked[::-1][:deepest] - ranked[:deepest]  # row i: the box of points at least i + 1 deep
    volumes = np.log(sides).sum(axis=1)
    least = deepest // 2
    far = _distance(volumes, least, each, math.log(delta / 8) - each)
    if far + rng.laplace(scale=1 / each) <= math.log(1 / (2 * delta)) / each:
        return None
    # a density e^(rate depth) is a mixture of uniform distributions on boxes, with weights V_j (e^(rate j) - e^(rate (j
    # - 1)))
    depths, rate = np.arange(least, deepest + 1), each / 2 if replaced else each
    steps = rate * depths + np.where(depths > least, math.log1p(-math.exp(-rate)), 0.0)
    chance = volumes[depths - 1] + steps
    place = int(np.argmax(chance + rng.gumbel(size=len(chance))))
    box = int(depths[place]) - 1
    return np.asarray(rng.uniform(ranked[box], ranked[-1 - box]))


def _distance(volumes: Floats, least: int, epsilon: float, bar: float) -> int:
    """How many fits may change, at least, before the mechanism is unsafe; -1 if it may be now."""
    safe = -1
    for many in range(least - 1):
        inner = volumes[least + many + 1 : -1]
        if len(inner) == 0:
            break
        ratio = volumes[least - many - 2] - inner - epsilon / 2 * np.arange(1, len(inner) + 1)
        if ratio.min() > bar:
            break
        safe = many
    return safe
