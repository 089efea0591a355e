"""What a private k-means reads off the rows: noisy counts and sums of clusters, a radius that holds most, the loss.

Releases
    `holding`: a float64 that about `beyond` of the distances exceed, by the exponential mechanism over float64.
    `noisy_loss`: the sum of min(distance, cap)^2, plus noise.
    For each public or released centre the noisy number of rows nearest to it, and the noisy sum of their v, the vectors
    of models/assign.py, no longer than `reach`.

Promise
    [cluster_sums.1] `holding` is Choice(epsilon) under both relations: one record moves no score by more than 1.
    [cluster_sums.2] One row moves the sum of min(distance, cap)^2 by at most cap^2 under both relations, and what is
          summed is whole: Laplace noise makes it pure, Gaussian noise costs Gaussian(mu, slack).
    [cluster_sums.3] Gaussian noise, REPLACE: with counts in units of `reach`, one row moves all counts and sums
          together by at most 2 reach in L2: what the sums alone would cost. ADD_OR_REMOVE: with counts in units of w by
          sqrt(reach^2 + w^2).
    [cluster_sums.4] Laplace noise: in L1 by at most 2 reach + 2 w under REPLACE and by reach + w under ADD_OR_REMOVE.
    [cluster_sums.5] Every cluster gets noise, empty ones too.

Why
    [cluster_sums.1] As [locate.2]: distances enter by their cells, laid out over them, so that one record more
    raises the number beyond any t by 0 or 1. Only the order statistics from the top within a fixed window around the
    `beyond`th are handed on, with zeros where there are fewer: the number beyond t is cut to a fixed interval, which is
    1-Lipschitz. `beyond` is public or was released, so the score | #beyond t - beyond | moves by 1 at most.
    [cluster_sums.2] Each row becomes the whole number floor(2^20 (min(distance, cap) / cap)^2), between 0 and 2^20, by
    a fixed function of its own distance ([assign.3]). Then [additive.1], or [average.1]. A row in cluster j adds w to
    count j and v to sum j, or nothing at all ([assign.1]); which cluster and what v are fixed functions of the row. Let
    (j, v) become (j', v').
    [cluster_sums.3] If j = j' only the sum moves: |v - v'| <= 2 reach. If j differs from j', four disjoint places move:
    |v|^2 + w^2 + |v'|^2 + w^2 <= 2 reach^2 + 2 w^2 = 4 reach^2 for w = reach. A row that comes to be nowhere moves two
    of them. (sqrt 2 reach for the sums would be wrong: a row that stays in its cluster moves one sum by 2 reach.)
    Adding a row: |v|^2 + w^2. Then [average.1].
    [cluster_sums.4] The same places in L1: at most 2 reach if it stays, 2 reach + 2 w if it moves. Then [additive.1].
    [cluster_sums.5] The noise is drawn for the whole array, whose shape is public.

Needs
    Distances to public or released centres. A row that is nowhere counts as at a distance of 0.
    k (d + 1) of at most 2^20.

Accuracy
    [cluster_sums.1] Two-sided exponential rank errors of scale 2 / epsilon, cells of 1/64 of a binade.
    REPLACE and Gaussian noise: 2 reach / mu on each coordinate of a sum, 2 / mu on a count.

Source
    Smith 2011; stages/locate.py.
    Blum, Dwork, McSherry and Nissim 2005. The lecture's constants, counts and sums each at half of the budget, are
    [cluster_sums.4] with w = reach.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import ceil
from typing import Final

import numpy as np

from discreet.accounting.allocation import Allocation
from discreet.errors import BadInput
from discreet.friendly.average import blurred
from discreet.models.assign import BITS, WIDEST, Ball, Floats, Norm, cluster_sums
from discreet.noise.additive import slack as off_by
from discreet.noise.additive import total, whole
from discreet.noise.choose_float import Staircase
from discreet.privacy.exact import Number, exact, show
from discreet.privacy.guarantee import Neighbours, check_budget
from discreet.privacy.loss import Choice, Gaussian, Laplace
from discreet.privacy.mechanism import Randomness
from discreet.stages.locate import FINE, LARGEST, NATS, cells, laid_out
from discreet.tables.matrix import Rows
from discreet.tables.streams import Numbers, added, fold

STEPS: Final = 20  # binary digits of a squared distance, in units of the cap


def holding(distances: Numbers, *, beyond: int, cost: Choice, rng: Randomness) -> float:
    """A float64 that about `beyond` of the distances exceed; missing counts as 0. [cluster_sums.1]"""
    reach, size = ceil(2 * NATS / exact(cost.epsilon)), len(distances)
    low, high = max(0, beyond - reach), beyond + reach  # ranks from the top
    window = laid_out(cells(distances, 0.0, FINE), FINE, max(0, size - high), max(0, size - low))
    padded = np.concatenate([np.zeros(high - low - len(window)), window])  # always as many [cluster_sums.1]
    # [cluster_sums.1]
    return rng.choose_float(Staircase(padded, Fraction(high - beyond), low=0.0, high=LARGEST), sensitivity=1, cost=cost)


def noisy_loss(distances: Numbers, cap: float, *, cost: Laplace | Gaussian, rng: Randomness) -> float:
    """The sum of min(distance, cap)^2 plus noise, at least 0. [cluster_sums.2]"""
    exact_sum = fold(partial(_squares, cap=cap), added, distances)
    if isinstance(cost, Gaussian):
        noisy, _ = blurred(np.array([exact_sum], dtype=object), square=4**STEPS, cost=cost, rng=rng)  # [cluster_sums.2]
        found = float(noisy[0])
    else:
        found = float(rng.blur(exact_sum, sensitivity=2**STEPS, cost=cost))  # [cluster_sums.2]
    return max(0.0, found) / 2.0**STEPS * cap * cap


def _squares(given: Iterator[Floats], *, cap: float) -> int:
    """A kernel: the sum of the squares of some distances, in steps of the cap's. [cluster_sums.2]"""
    found = 0
    for piece in given:
        shares = np.minimum(np.where(np.isnan(piece), 0.0, piece), cap) / cap
        found += total(np.floor(shares * shares * 2.0**STEPS).astype(np.int64), 2**STEPS)
    return found


ADDED: Final = Fraction(4, 7)  # w over reach, Gaussian noise under ADD_OR_REMOVE: a quarter of mu^2 for counts
LIGHT: Final = Fraction(1, 4)  # w over reach, Laplace noise: sums matter more than counts


@dataclass(frozen=True, slots=True, eq=False)
class NoisyClusters:
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
) -> NoisyClusters:
    """Counts and sums of all clusters plus noise; `centres` and `reach` in steps of the ball. [cluster_sums.5]"""
    norm: Norm = 1 if isinstance(cost, Laplace) else 2
    unit = count_unit(reach, norm, neighbours, weight)
    found = cluster_sums(rows, ball, centres, reach, norm=norm, centred=centred)
    values = np.concatenate([whole(found.counts.astype(object) * unit), whole(found.sums.ravel())])
    noisy, noise = _noise(values, reach, unit, cost=cost, neighbours=neighbours, rng=rng)
    clusters, width = centres.shape
    return NoisyClusters(noisy[:clusters] / unit, noisy[clusters:].reshape(clusters, width), noise / unit, noise)


def count_unit(reach: int, norm: Norm, neighbours: Neighbours, weight: Fraction | None = None) -> int:
    """w: what a row adds to a count, in the steps of the sums. [cluster_sums.3], [cluster_sums.4]"""
    if norm == 2:
        return reach if neighbours is Neighbours.REPLACE else max(1, int(reach * ADDED))
    return max(1, int(reach * (LIGHT if weight is None else weight)))


def sensitivity(reach: int, unit: int, norm: Norm, neighbours: Neighbours) -> int:
    """The L1 sensitivity, or the square of the L2 one. [cluster_sums.3], [cluster_sums.4]"""
    if norm == 1:
        return (2 if neighbours is Neighbours.REPLACE else 1) * (reach + unit)  # [cluster_sums.4]
    if neighbours is Neighbours.REPLACE:
        return max(4 * reach**2, 2 * reach**2 + 2 * unit**2)  # [cluster_sums.3]
    return reach**2 + unit**2  # [cluster_sums.3]


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
        return blurred(values, square=sensitivity(reach, unit, 2, neighbours), cost=cost, rng=rng)  # [cluster_sums.3]
    moves = sensitivity(reach, unit, 1, neighbours)
    noisy = rng.blur(values, sensitivity=moves, cost=cost)  # [cluster_sums.4]
    return np.asarray(noisy, dtype=np.float64), float(2**0.5 * moves / exact(cost.epsilon))


def noise_per_reach(cost: Laplace | Gaussian, neighbours: Neighbours, weight: Fraction | None = None) -> float:
    """The standard deviation of the noise on a sum, in units of the reach: public, for refusals and plans."""
    reach, norm = 2**20, (1 if isinstance(cost, Laplace) else 2)
    unit = count_unit(reach, norm, neighbours, weight)  # type: ignore[arg-type]
    moves = sensitivity(reach, unit, norm, neighbours)  # type: ignore[arg-type]
    if isinstance(cost, Laplace):
        return 2**0.5 * moves / reach / float(cost.epsilon)
    return float(moves**0.5 / reach / float(cost.mu))


FINE_NOISE: Final = 36  # binary digits of a standard deviation: as friendly/average.py has it
ENTRIES: Final = 2**20  # of one draw
LOSS: Final = Fraction(5, 100)  # of a budget: for the loss, where it is asked for
DRAWS: Final = 64
SMALLEST_DELTA, WEAKEST, STRONGEST = 1e-11, 1e-4, 32.0  # the delta and the mu for which every stage has a grid


def cluster_budget(epsilon: Number, delta: Number) -> Allocation:
    """What a clustering may spend, for up to DRAWS draws of up to ENTRIES entries; without a delta it is pure."""
    slack = off_by(ENTRIES, 2**FINE_NOISE)
    return Allocation.of(epsilon, delta, slack=slack, draws=DRAWS, lower=True, strongest=STRONGEST)


def check_cluster_budget(epsilon: Number, delta: Number, neighbours: object) -> None:
    """Refuse what cannot be promised, before anything is read."""
    if not isinstance(neighbours, Neighbours):
        raise BadInput(f"neighbours is {neighbours!r}; give Neighbours.REPLACE or Neighbours.ADD_OR_REMOVE")
    check_budget(epsilon, delta, 1 if neighbours.size_is_public else None)
    if delta and delta < SMALLEST_DELTA:
        raise BadInput(f"delta is {show(delta)}; noise on a grid needs 1e-11 at least, or 0 for a pure promise")
    if delta and cluster_budget(epsilon, delta).amount < WEAKEST:
        raise BadInput(f"epsilon is {epsilon!r}: its noise would drown any cluster; give 0.001 or more")
    if not delta and not 1e-4 <= epsilon <= 1e4:
        raise BadInput(f"epsilon is {epsilon!r}; with delta 0 give one from 0.0001 to 10,000")


def reach_of(radius: float) -> int:
    """A released radius in whole steps, within the ball."""
    return int(min(max(radius, 1.0), 2.0**BITS))


def check_k(k: object) -> None:
    """A number of clusters."""
    if not isinstance(k, int) or isinstance(k, bool) or not 1 <= k <= 2**10:
        raise BadInput(f"k is {k!r}; give the number of clusters, from 1 to 1024")


def check_width(width: int, clusters: int) -> None:
    """What one draw and the steps of a ball may hold. Public."""
    most = min(ENTRIES // clusters - 1, WIDEST)
    if width > most:
        raise BadInput(f"the data have {width} columns; with so many clusters give at most {most}")
