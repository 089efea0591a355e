"""The curve of a density, from noisy counts of narrow cells: post-processing, so it costs nothing. And its error bars.

A tree joins neighbouring cells two by two, then the pairs, and so on. Two halves of r and t cells with means a and b
per cell, whose counts have variance v = V + mean (V that of the noise, the mean count that of sampling), stay apart if
(a - b)^2 r t / (r + t), and what is gained by the splits within them, is more than a price times v. Where the halves of
a size, all K pairs of them together, show no more than noise, sum (z - 1) <= sqrt(K) log2(K)^(3/2), z being that square
over v, the price is 2 t, t = ln K + 5, so that noise splits next to none of them, or for few cells what the tail of
two Laplace noises asks for, (t + 1.8)^2 / 4 times V / (r v); otherwise 3. What is not split has its mean.
The curve is the average of eight trees of cells that are moved in a circle: no place is preferred, and steps are small.

The error bars of a density: its blocks, those of the tree that is not moved, and its distribution function everywhere
at once.

Accuracy
    Cells as many as 7 sqrt(N / sd), sd that of one cell's noise. Integrated squared error over that of the best fixed
    width with all of epsilon, which knows the distribution: docs/benchmarks.md, 0.4 to 1.1 with public supports.

Source
    Donoho 1997 (dyadic CART); Donoho and Johnstone 1995 (the price by what a level shows); Coifman and Donoho 1995 (the
    average over moves).
"""

import math
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from discreet.errors import BadInput
from discreet.noise.distributions import LaplaceDistribution
from discreet.privacy.exact import is_number
from discreet.privacy.intervals import Interval, check_confidence
from discreet.privacy.values import Density

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


def on_simplex(masses: Floats) -> Floats:
    """The nearest shares: none below 0, with sum 1."""
    ordered = np.sort(masses)[::-1]
    excess = (np.cumsum(ordered) - 1) / np.arange(1, len(ordered) + 1)
    kept = int(np.flatnonzero(ordered > excess)[-1])
    return np.asarray(np.maximum(masses - excess[kept], 0.0), dtype=float)


FEWEST, MOST = 32, 1024
PRICE: Final = 3.0
RARE: Final = 5.0  # e^-5: how often noise may split a level that shows nothing
MOVES: Final = 8


def cells_for(size: float, variance: float) -> int:
    """How many cells, a power of two, for so many people and this variance of a count's noise."""
    wanted = 7 * math.sqrt(size / max(1.0, math.sqrt(variance)))
    return int(min(MOST, max(FEWEST, 2 ** round(math.log2(max(1.0, wanted))))))


def tree(cells: Floats, variance: float) -> tuple[Floats, Integers]:
    """Each cell's mean over its block, and where the blocks begin.

    >>> means, starts = tree(np.array([90.0, 110.0, 100.0, 30.0, 28.0, 31.0]), 4.0)
    >>> means.tolist(), starts.tolist()
    ([100.0, 100.0, 100.0, 30.0, 29.5, 29.5], [0, 2, 3, 4])
    """
    means, begins = cells.astype(np.float64), np.ones(len(cells), dtype=bool)
    sums, sizes, gains = means, np.ones(len(cells)), np.zeros(len(cells))
    while len(sums) > 1:
        pairs = len(sums) // 2
        (one, other), (r, k) = ((part[: 2 * pairs : 2], part[1 : 2 * pairs : 2]) for part in (sums, sizes))
        noise = variance + np.maximum(one + other, 0) / (r + k)
        apart = (one / r - other / k) ** 2 * r * k / (r + k)
        shown = float((apart / noise - 1).sum()) > math.sqrt(pairs) * max(1.0, math.log2(pairs)) ** 1.5
        t = math.log(pairs) + RARE
        strict = np.maximum(2 * t, (t + 1.8) ** 2 / 4 * variance / ((r + k) / 2 * noise))
        price = PRICE if shown else strict
        gain = apart - price * noise + gains[: 2 * pairs : 2] + gains[1 : 2 * pairs : 2]
        left = slice(2 * pairs, None)  # the last one has no partner if they are odd in number
        sums, sizes = np.append(one + other, sums[left]), np.append(r + k, sizes[left])
        gains = np.append(np.maximum(gain, 0), gains[left])
        joined = np.repeat(np.append(gain <= 0, np.zeros(len(sums) - pairs, dtype=bool)), sizes.astype(int))
        means = np.where(joined, np.repeat(sums / sizes, sizes.astype(int)), means)
        begins &= ~joined
        begins[np.append(0, np.cumsum(sizes)[:-1]).astype(int)] = True
    return means, np.flatnonzero(begins)


def smoothed(cells: Floats, variance: float) -> Floats:
    """The average of trees of cells that are moved in a circle."""
    moves = [place * (len(cells) // MOVES + 1) for place in range(MOVES)]
    found: Floats = np.mean([np.roll(tree(np.roll(cells, move), variance)[0], -move) for move in moves], axis=0)
    return found


def merged(cells: Floats, by: int) -> Floats:
    """Sums of `by` neighbouring cells; the last bin has fewer if they do not come out even."""
    return np.add.reduceat(cells, np.arange(0, len(cells), by))


def occupied(cells: Floats, distribution: LaplaceDistribution) -> tuple[int, int]:
    """The first cell, and the one after the last, of those that hold more than noise would; one at least.

    From the fullest cell to either side as far as any block of 1, 2, 4, ... cells shows that many. Noise alone shows
    such a block about once in a hundred times.
    """
    peak = int(np.argmax(cells))

    def grown(side: Floats) -> int:
        far, size = 0, 1
        while size <= len(side) - far:
            seen = np.flatnonzero(merged(side[far:], size) > sum_radius(distribution, size, 0.01 / len(cells)))
            if len(seen):
                far = min(far + (int(seen[-1]) + 1) * size, len(side))
                outer = np.cumsum(side[far - size : far][::-1])  # but not what of that block shows nothing by itself
                dim = outer <= 2 * distribution.sd * np.sqrt(np.arange(1, len(outer) + 1))
                far -= int(np.argmin(dim)) if not dim.all() else 0
            size *= 2
        return far

    return peak - grown(cells[:peak][::-1]), peak + 1 + grown(cells[peak + 1 :])


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class CurveSpread:
    """What the noisy counts say of the error: `noisy` cells with one below and one above; blocks of cells that `begin`.

    `draws` is the number of cells before those at the sides were added up.
    """

    curve: Density
    noisy: Floats
    begin: Integers
    people: float
    distribution: LaplaceDistribution
    draws: int

    @property
    def blocks(self) -> Floats:
        """The ends of the blocks that were taken as one."""
        return np.append(self.curve.fine[self.begin], self.curve.fine[-1])

    @property
    def _cells(self) -> Floats:
        """How many cells each block has."""
        return np.diff(np.append(self.begin, len(self.noisy) - 2)).astype(np.float64)

    @property
    def _held(self) -> Floats:
        """The noisy count of each block."""
        return np.add.reduceat(self.noisy[1:-1], self.begin)

    @property
    def _of_bins(self) -> Integers:
        """The block of each bin of the curve."""
        found: Integers = np.searchsorted(self.blocks, self.curve.edges[:-1], side="right") - 1
        return found

    @property
    def sampling(self) -> Floats:
        """Standard deviation from sampling of the height of each bin's block."""
        shares = np.clip(self._held / self.people, 0.0, 1.0)
        return np.asarray(np.sqrt(shares * (1 - shares) / self.people) / np.diff(self.blocks))[self._of_bins]

    @property
    def privacy(self) -> Floats:
        """Standard deviation from the noise of the height of each bin's block."""
        return (np.sqrt(self._cells) * self.distribution.sd / self.people / np.diff(self.blocks))[self._of_bins]

    @property
    def total_variation(self) -> float:
        """The expected distance of the blocks' shares from the population's, half the sum of absolute differences."""
        each = np.hypot(self.sampling, self.privacy) * np.diff(self.curve.edges)
        return float(min(1.0, each.sum() / math.sqrt(2 * math.pi)))

    def interval(self, confidence: float) -> Interval:
        """For the population's average density in each block, all at once: each part of a tree has its share of misses.

        Sampling by the normal distribution around a share that is drawn to 1/2 as Agresti and Coull do, noise by its
        own tail.
        """
        held = self._held
        miss = (1 - check_confidence(confidence)) / (2 * len(self.noisy))  # whichever parts became blocks
        z = -float(ndtri(miss / 2))
        drawn = np.clip((held + z * z / 2) / (self.people + z * z), 0.0, 1.0)
        sizes, where = np.unique(self._cells, return_inverse=True)
        radius = np.array([sum_radius(self.distribution, int(size), miss) for size in sizes])[where]
        wide = np.hypot(z * np.sqrt(drawn * (1 - drawn) * self.people), radius)
        low, high = (
            (np.clip((held + side * wide) / self.people, 0.0, 1.0) / np.diff(self.blocks))[self._of_bins]
            for side in (-1, 1)
        )
        about = "the population's average density in each block of bins that was taken as one, all at once"
        return Interval(
            replace(self.curve, heights=low),
            replace(self.curve, heights=high),
            confidence=confidence,
            about=about,
            population=True,
        )

    def band(self, confidence: float = 0.95) -> Interval:
        """For the population's distribution function at `value.fine`, all places at once. [density.3]"""
        miss = (1 - check_confidence(confidence)) / 2
        sampled = math.sqrt(math.log(2 / miss) / (2 * self.people))  # [density.3]
        noise = (
            sum_radius(self.distribution, self.draws, miss / 4) / self.people
        )  # [density.3]: Levy's inequality, twice
        reached = np.cumsum(self.noisy)[:-1] / self.people
        high = np.maximum.accumulate(reached + sampled + noise)
        low = np.minimum.accumulate((reached - sampled - noise)[::-1])[::-1]
        about = "the population's distribution function, everywhere at once"
        return Interval(
            np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0), confidence=confidence, about=about, population=True
        )

    def quantile(self, q: Any, confidence: float = 0.95) -> Interval:
        """For the population's quantile: where the band of the distribution function crosses q, perhaps nowhere."""
        if not is_number(q) or not 0 < q < 1:
            raise BadInput(f"q is {q!r}; give a share between 0 and 1, for example 0.5")
        band, cells, share = self.band(confidence), self.curve.fine, np.array(float(q))
        before, upto = (int(np.searchsorted(end, share, side="left")) for end in (band.high, band.low))
        low = float(cells[before - 1]) if before else -math.inf  # surely less than q lies below it
        high = float(cells[upto]) if upto < len(cells) else math.inf  # surely q or more does
        return Interval(
            low, high, confidence=confidence, about=f"the population's {float(q):g}-quantile", population=True
        )


def sum_radius(distribution: LaplaceDistribution, draws: int, miss: float) -> float:
    """A t with P(|Z_1 + ... + Z_draws| > t) <= miss for discrete Laplace draws: Chernoff's bound, at its best l."""
    if draws == 1:
        return float(distribution.radius(1 - miss))
    from scipy.optimize import minimize_scalar

    rate = float(1 / distribution.scale)
    a = math.exp(-rate)

    def reached(share: float) -> float:
        tilt = share * rate
        grown = 2 * math.log1p(-a) - math.log1p(-a * math.exp(tilt)) - math.log1p(-a * math.exp(-tilt))
        return (draws * grown + math.log(2 / miss)) / tilt

    best = minimize_scalar(reached, bounds=(1e-6, 1 - 1e-9), method="bounded")
    return float(best.fun)
