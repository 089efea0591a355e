"""How far apart rows are, and how far from a centre: two scales that find a radius without bounds.

Releases
    `pair_scale`: the power of two below the most common distance in disjoint pairs of rows. `RadiusQuantile`: how many
    rows lie within a first radius, and a smaller one that holds a share of those.
Promise
    [TR1] pair_scale costs its Gaussian loss under both relations; no delta is lost, however the distances fall.
    [TR2] RadiusQuantile costs its Gaussian loss under both relations.
    [TR3] For rows N(m, s^2 I) no pair of k rows is farther apart than s r_pair(k, d), but with probability 0.05 at most,
          and a row is farther than s r_clip(d, e, p) from a point at squared distance s^2 e of m with probability p.
Why
    [TR1] Each pair goes by its two rows alone to one of a fixed list of bins: the exponent of the float distance, with
    one bin for distance 0 and one for distances that are no number. One row changes one pair (REPLACE: pairs by a
    public order; ADD_OR_REMOVE: [TP1] of friendly/sample.py): one count falls by 1, one rises by 1, or one of them
    alone. In L2 that is sqrt 2 at most. All bins are blurred, so there is no secret about which are empty; the largest
    is post-processing.
    [TR2] `STEPS + 1` noisy counts of rows within a radius, each of sensitivity 1 by [TS5] of friendly/taper.py, each at
    the loss's mu over sqrt(STEPS + 1); which radius is asked next is decided by the noisy counts before it. Squares of
    mu add up adaptively: [T3] of accounting/filter.py.
    [TR3] |x - y|^2 / (2 s^2) is chi-squared with d degrees of freedom, and there are k (k - 1) / 2 pairs.
Needs
    pair_scale: about 9 noise deviations in the fullest bin. RadiusQuantile: a first radius that holds the bulk.
Accuracy
    The most common octave of a normal's pair distances holds a share of 0.29 (d = 1) to 0.5 (large d) of them.
    The radius found is within one cell (2^(1/4) or 2^(1/16)) of one whose count is off by the noise of a comparison.
Source
    Karwa and Vadhan 2018 for a scale by a histogram of log distances of pairs, there over unknown bins and for d = 1;
    here the exponents of float64 are the bins. Noisy binary search: folklore.
"""

import math
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np

from discreet.friendly.matrix import Floats, Rows
from discreet.friendly.noisy import blurred, count, part
from discreet.friendly.taper import cells
from discreet.promise.loss import Gaussian
from discreet.promise.mechanism import Randomness

LOWEST, HIGHEST = -537, 511  # exponents of distances whose squares are floats
ZERO, NONE = HIGHEST - LOWEST + 1, HIGHEST - LOWEST + 2  # the bins of distance 0 and of none
STEPS: Final = 6  # comparisons: 2^6 > CELLS
CELLS: Final = 40
UNFRIENDLY: Final = 0.05  # expected number of pairs beyond r_pair
CLEAR: Final = 4.5  # noise deviations by which the fullest of 1051 bins must stand out from nothing


def pair_bins(rows: Floats) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    """The bin of the distance of each two rows that follow each other. [TR1]"""
    with np.errstate(all="ignore"):
        apart = rows[0::2] - rows[1::2]
        square = np.einsum("ij,ij->i", apart, apart)
        exponent = np.floor_divide(np.frexp(np.where(np.isfinite(square) & (square > 0), square, 1.0))[1] - 1, 2)
    found = np.clip(exponent, LOWEST, HIGHEST) - LOWEST
    found = np.where(square == 0, ZERO, found)
    return np.asarray(np.where(np.isfinite(square), found, NONE), dtype=np.int64)


@dataclass(frozen=True, slots=True)
class PairScale:
    """The octave [2^exponent, 2^(exponent + 1)) of the most common distance; or why there is none."""

    exponent: int = 0
    refusal: str | None = None

    @property
    def upper(self) -> float:
        """The upper end of the octave."""
        return 2.0 ** (self.exponent + 1)


def pair_scale(rows: Floats, *, cost: Gaussian, rng: Randomness) -> PairScale:
    """The most common octave of distances in pairs: rows 0 and 1, 2 and 3, ... [TR1]"""
    counts = np.bincount(pair_bins(rows), minlength=NONE + 1)
    noisy, deviation = blurred(counts, square=2, cost=cost, rng=rng)  # [TR1]
    best = int(np.argmax(noisy))
    if noisy[best] < CLEAR * deviation:
        return PairScale(refusal="no distance between rows is common enough to be seen through the noise")
    if best == ZERO:
        return PairScale(refusal="most rows seem to be one and the same; their mean needs no noise this finds")
    if best == NONE:
        return PairScale(refusal="most rows seem to hold no number, or numbers beyond 1e150")
    return PairScale(best + LOWEST)


@dataclass(frozen=True, slots=True)
class Found:
    """A radius, and about how many rows the widest one holds."""

    radius: float
    held: float
    whole: bool  # whether no smaller radius would do


def radius_quantiles(
    rows: Rows,
    centre: Floats,
    widest: float,
    shares: tuple[float, ...],
    *,
    cost: Gaussian,
    rng: Randomness,
    octave: int = 4,
) -> list[Found]:
    """For each share, the least radius widest 2^(-j / octave) that seems to hold that share of all within `widest`.

    One pass over the rows; the shares split the cost evenly. [TR2]
    """
    radii = widest * 2.0 ** (-np.arange(CELLS - 1, -1, -1) / octave)
    within = np.cumsum(cells(rows.blocks(), centre, radii))[:-1]
    each = part(cost, 1 + STEPS * len(shares))
    held = count(int(within[-1]), cost=each, rng=rng)  # [TR2]
    found = []
    for share in shares:
        low, high = 0, CELLS - 1
        for _ in range(STEPS):
            middle = (low + high) // 2
            enough = count(int(within[middle]), cost=each, rng=rng) >= share * held  # [TR2]
            low, high = (low, middle) if enough else (min(middle + 1, high), high)
        found.append(Found(float(radii[high]) * 2.0 ** (1 / octave), held, high == CELLS - 1))
    return found


@cache
def r_pair(rows: int, width: int) -> float:
    """The radius that at most 0.05 pairs of N(m, I) rows are expected to exceed. [TR3]

    >>> round(r_pair(1000, 1), 2), round(r_pair(4096, 100), 1)
    (7.52, 20.1)
    """
    from scipy.stats import chi2

    pairs = max(1.0, rows * (rows - 1) / 2)
    return math.sqrt(2 * float(chi2.isf(min(0.5, UNFRIENDLY / pairs), width)))  # [TR3]


def r_clip(width: int, off: float, beyond: float) -> float:
    """The radius that an N(m, I) row exceeds with probability `beyond`, around a centre at squared distance `off`. [TR3]

    >>> round(r_clip(1, 0.0, 0.001), 3), round(r_clip(10, 0.0, 0.0005), 3)
    (3.291, 5.606)
    """
    from scipy.stats import chi2, ncx2

    square = float(chi2.isf(beyond, width) if off < 1e-9 else ncx2.isf(beyond, width, off))  # [TR3]
    if not math.isfinite(square):  # beyond what scipy can invert: a normal approximation from above
        square = width + off + 6 * math.sqrt(2 * (width + 2 * off)) + 36
    return math.sqrt(square)


@cache
def octave(width: int) -> tuple[float, float]:
    """Of |x - y| for N(m, I) rows: the share of its most common octave, and the least lower end that octave may have.

    Both over all scales; the lower end is of an octave with at least 0.7 of that share, in units of sqrt 2.

    >>> [round(number, 2) for number in octave(1)], [round(number, 2) for number in octave(10)]
    ([0.29, 0.28], [0.5, 1.4])
    """
    from scipy.stats import chi

    starts = math.sqrt(width) * 2.0 ** np.linspace(-4, 2, 769)  # 128 to an octave
    mass = chi.cdf(2 * starts, width) - chi.cdf(starts, width)
    best = np.stack([mass[shift : shift + 128 * 5 + 1 : 128] for shift in range(128)]).max(axis=1)
    least = float(best.min())
    return least, float(starts[np.flatnonzero(mass >= 0.7 * least)[0]])
