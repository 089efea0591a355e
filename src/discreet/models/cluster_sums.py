"""Noisy counts and sums of clusters, in one draw: what every private k-means iterates.

Releases
    For each public or released centre the noisy number of rows nearest to it, and the noisy sum of their v, the vectors
    of models/assign.py, no longer than `reach`.
Promise
    [KN1] Gaussian noise, REPLACE: with counts in units of `reach`, one row moves all counts and sums together by at
          most 2 reach in L2: what the sums alone would cost. ADD_OR_REMOVE: with counts in units of w by sqrt(reach^2 +
          w^2).
    [KN2] Laplace noise: in L1 by at most 2 reach + 2 w under REPLACE and by reach + w under ADD_OR_REMOVE.
    [KN3] Every cluster gets noise, empty ones too.
Why
    A row in cluster j adds w to count j and v to sum j, or nothing at all ([KA1]); which cluster and what v are fixed
    functions of the row. Let (j, v) become (j', v').
    [KN1] If j = j' only the sum moves: |v - v'| <= 2 reach. If j differs from j', four disjoint places move:
    |v|^2 + w^2 + |v'|^2 + w^2 <= 2 reach^2 + 2 w^2 = 4 reach^2 for w = reach. A row that comes to be nowhere moves two
    of them. (sqrt 2 reach for the sums would be wrong: a row that stays in its cluster moves one sum by 2 reach.)
    Adding a row: |v|^2 + w^2. Then [TN1] of friendly/noisy.py.
    [KN2] The same places in L1: at most 2 reach if it stays, 2 reach + 2 w if it moves. Then [N1] of noise/blur.py.
    [KN3] The noise is drawn for the whole array, whose shape is public.
Needs
    k (d + 1) of at most 2^20.
Accuracy
    REPLACE and Gaussian noise: 2 reach / mu on each coordinate of a sum, 2 / mu on a count.
Source
    Blum, Dwork, McSherry and Nissim 2005. The lecture's constants, counts and sums each at half of the budget, are
    [KN2] with w = reach.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np

from discreet.friendly.matrix import Rows
from discreet.friendly.noisy import blurred
from discreet.models.assign import Ball, Floats, Norm, cluster_sums
from discreet.noise.lattice import whole
from discreet.promise.exact import exact
from discreet.promise.loss import Gaussian, Laplace
from discreet.promise.mechanism import Randomness
from discreet.promise.neighbours import Neighbours

ADDED: Final = Fraction(4, 7)  # w over reach, Gaussian noise under ADD_OR_REMOVE: a quarter of mu^2 for counts
LIGHT: Final = Fraction(1, 4)  # w over reach, Laplace noise: sums matter more than counts


@dataclass(frozen=True, slots=True, eq=False)
class Noisy:
    """Noisy counts, noisy sums in steps of the ball, and the standard deviations of the noise on each."""

    counts: Floats
    sums: Floats
    count_noise: float
    sum_noise: float

    def moved(
        self, centres: Floats, least: float, *, centred: bool
    ) -> tuple[Floats, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
        """Centres moved to their clusters' means where the count is above `least`, and where it is; all released."""
        full = self.counts > least
        shift = self.sums / np.maximum(self.counts, 1.0)[:, None]
        return np.where(full[:, None], centres * centred + shift, centres), full


def noisy_clusters(
    rows: Rows,
    ball: Ball,
    centres: Floats,
    reach: int,
    *,
    centred: bool,
    cost: Laplace | Gaussian,
    neighbours: Neighbours,
    rng: Randomness,
    weight: Fraction | None = None,
) -> Noisy:
    """Counts and sums of all clusters plus noise; `centres` and `reach` in steps of the ball. [KN3]"""
    norm: Norm = 1 if isinstance(cost, Laplace) else 2
    unit = count_unit(reach, norm, neighbours, weight)
    found = cluster_sums(rows, ball, centres, reach, norm=norm, centred=centred)
    values = np.concatenate([whole(found.counts.astype(object) * unit), whole(found.sums.ravel())])
    noisy, noise = _noise(values, reach, unit, cost=cost, neighbours=neighbours, rng=rng)
    clusters, width = centres.shape
    return Noisy(noisy[:clusters] / unit, noisy[clusters:].reshape(clusters, width), noise / unit, noise)


def count_unit(reach: int, norm: Norm, neighbours: Neighbours, weight: Fraction | None = None) -> int:
    """w: what a row adds to a count, in the steps of the sums. [KN1], [KN2]"""
    if norm == 2:
        return reach if neighbours is Neighbours.REPLACE else max(1, int(reach * ADDED))
    return max(1, int(reach * (LIGHT if weight is None else weight)))


def sensitivity(reach: int, unit: int, norm: Norm, neighbours: Neighbours) -> int:
    """The L1 sensitivity, or the square of the L2 one. [KN1], [KN2]"""
    if norm == 1:
        return (2 if neighbours is Neighbours.REPLACE else 1) * (reach + unit)  # [KN2]
    if neighbours is Neighbours.REPLACE:
        return max(4 * reach**2, 2 * reach**2 + 2 * unit**2)  # [KN1]
    return reach**2 + unit**2  # [KN1]


def _noise(
    values: "np.ndarray[tuple[int], np.dtype[np.int64]]",
    reach: int,
    unit: int,
    *,
    cost: Laplace | Gaussian,
    neighbours: Neighbours,
    rng: Randomness,
) -> tuple[Floats, float]:
    """Noise on all entries alike, and its standard deviation."""
    if isinstance(cost, Gaussian):
        return blurred(values, square=sensitivity(reach, unit, 2, neighbours), cost=cost, rng=rng)  # [KN1]
    moves = sensitivity(reach, unit, 1, neighbours)
    noisy = rng.blur(values, sensitivity=moves, cost=cost)  # [KN2]
    return np.asarray(noisy, dtype=np.float64), float(2**0.5 * moves / exact(cost.epsilon))


def noise_per_reach(cost: Laplace | Gaussian, neighbours: Neighbours, weight: Fraction | None = None) -> float:
    """The standard deviation of the noise on a sum, in units of the reach: public, for refusals and plans."""
    reach, norm = 2**20, (1 if isinstance(cost, Laplace) else 2)
    unit = count_unit(reach, norm, neighbours, weight)  # type: ignore[arg-type]
    moves = sensitivity(reach, unit, norm, neighbours)  # type: ignore[arg-type]
    if isinstance(cost, Laplace):
        return 2**0.5 * moves / reach / float(cost.epsilon)
    return float(moves**0.5 / reach / float(cost.mu))
