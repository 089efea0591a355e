"""The sum of weighted scores in one compiled pass over small integers: the whole numbers of `score`, to the bit.

Adding 1.5 * 2^52 rounds a number below 2^50 to the nearest whole one, ties to even, as `rint` does. Sums of features
times coefficients are exact ([GR1] of models/score.py), so the compiler may add them in any order; nothing else here is
reordered. A test compares with the plain path.
"""

import numba
import numpy as np

ROUNDER = 1.5 * 2.0**52


@numba.njit(cache=True, fastmath={"reassoc"})
def _linear(row, whole):  # type: ignore[no-untyped-def]  # compiled: the types are numba's
    total = 0.0
    for j in range(len(whole)):
        total += row[j] * whole[j]
    return total


@numba.njit(cache=True)
def total_score(steps, weight, outcome, whole, per, means, residual, reach, fine):  # type: ignore[no-untyped-def]  # noqa: PLR0917
    """The sum over rows of rint(residual * weight) times the row."""
    size = len(whole)
    total = np.zeros(size, dtype=np.int64)
    last = len(means) - 2
    for i in range(len(steps)):
        linear = _linear(steps[i], whole) * per
        place = (min(max(linear, -reach), reach) + reach) * fine
        index = min(int(place), last)
        left = means[index]
        mean = left + (place - index) * (means[index + 1] - left)
        k = int(((mean - outcome[i]) * weight[i] * residual + ROUNDER) - ROUNDER)
        for j in range(size):
            total[j] += k * steps[i, j]
    return total


@numba.njit(cache=True)
def total_clipped(steps, limit, outcome, whole, per, table, unit, reach, fine, chosen):  # type: ignore[no-untyped-def]  # noqa: PLR0917
    """The sum over the chosen rows of rint(residual * unit) times the row, each residual cut at its limit."""
    size = len(whole)
    total = np.zeros(size, dtype=np.int64)
    last = len(table) - 2
    for i in range(len(steps)):
        if not chosen[i]:
            continue
        linear = _linear(steps[i], whole) * per
        mean = linear
        if last > 0:
            place = (min(max(linear, -reach), reach) + reach) * fine
            index = min(int(place), last)
            left = table[index]
            mean = left + (place - index) * (table[index + 1] - left)
        residual = min(max(mean - outcome[i], -limit[i]), limit[i])
        k = int((residual * unit + ROUNDER) - ROUNDER)
        for j in range(size):
            total[j] += k * steps[i, j]
    return total
