"""Sums of weighted or clipped scores in one compiled pass over small integers: the whole numbers of the plain path.

Adding 1.5 * 2^52 rounds a number below 2^50 to the nearest whole one, ties to even, as `rint` does. Sums of features
times coefficients are exact ([score.1]), and so are sums of 2^18 rows' whole numbers, each below 2^34:
the compiler may add them in any order; nothing else here is reordered. A test compares with the plain path.
"""

import numba
import numpy as np

ROUNDER = 1.5 * 2.0**52
PART = 1 << 18  # rows whose sums are exact in float64


@numba.njit(cache=True, fastmath={"reassoc"})
def _linear(row, whole):  # type: ignore[no-untyped-def]  # compiled: the types are numba's
    total = 0.0
    for j in range(len(whole)):
        total += row[j] * whole[j]
    return total


@numba.njit(cache=True)
def _mean(table, linear, reach, fine):  # type: ignore[no-untyped-def]
    place = (min(max(linear, -reach), reach) + reach) * fine
    index = min(int(place), len(table) - 2)
    left = table[index]
    return left + (place - index) * (table[index + 1] - left)


@numba.njit(cache=True)
def total_score(steps, weight, outcome, whole, per, means, residual, reach, fine):  # type: ignore[no-untyped-def]  # noqa: PLR0917
    """The sum over rows of rint(residual * weight) times the row."""
    total = np.zeros(len(whole), dtype=np.int64)
    for start in range(0, len(steps), PART):
        part = np.zeros(len(whole))
        for i in range(start, min(start + PART, len(steps))):
            row = steps[i]
            mean = _mean(means, _linear(row, whole) * per, reach, fine)
            k = ((mean - outcome[i]) * weight[i] * residual + ROUNDER) - ROUNDER
            for j in range(len(whole)):
                part[j] += k * row[j]
        for j in range(len(whole)):
            total[j] += int(part[j])
    return total


@numba.njit(cache=True)
def total_clipped(steps, limit, outcome, whole, per, table, unit, reach, fine, chosen):  # type: ignore[no-untyped-def]  # noqa: PLR0917
    """The sum over the chosen rows of rint(residual * unit) times the row, each residual cut at its limit."""
    total = np.zeros(len(whole), dtype=np.int64)
    for start in range(0, len(steps), PART):
        part = np.zeros(len(whole))
        for i in range(start, min(start + PART, len(steps))):
            if chosen[i]:
                row = steps[i]
                mean = _linear(row, whole) * per
                if len(table):
                    mean = _mean(table, mean, reach, fine)
                cut = min(max(mean - outcome[i], -limit[i]), limit[i])
                k = (cut * unit + ROUNDER) - ROUNDER
                for j in range(len(whole)):
                    part[j] += k * row[j]
        for j in range(len(whole)):
            total[j] += int(part[j])
    return total
