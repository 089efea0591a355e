"""The error bars of a density: its bins, and its distribution function everywhere at once."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import ndtri

from discreet.errors import BadInput
from discreet.noise.laws import LaplaceLaw
from discreet.promise.exact import is_number
from discreet.promise.spread import Interval, check_confidence
from discreet.statistics.bandwidth import merged
from discreet.statistics.curve import Curve, Floats


@dataclass(frozen=True, slots=True, eq=False)
class CurveSpread:
    """What the noisy counts say of the error: `noisy` cells with one below and one above, `by` of them to a bin."""

    curve: Curve
    noisy: Floats
    by: int
    people: float
    law: LaplaceLaw

    @property
    def _widths(self) -> Floats:
        return np.diff(self.curve.edges)

    @property
    def _cells(self) -> Floats:
        """How many cells each bin has."""
        return merged(np.ones(len(self.noisy) - 2), self.by)

    @property
    def sampling(self) -> Floats:
        """Standard deviation of each height from sampling."""
        shares = np.minimum(self.curve.heights * self._widths, 1.0)  # rounded, one share of all may be above 1
        return np.asarray(np.sqrt(shares * (1 - shares) / self.people) / self._widths)

    @property
    def privacy(self) -> Floats:
        """Standard deviation of each height from the noise."""
        return np.sqrt(self._cells) * self.law.sd / self.people / self._widths

    @property
    def total_variation(self) -> float:
        """The expected distance of the bins' shares from the population's, half the sum of absolute differences."""
        each = np.hypot(self.sampling, self.privacy) * self._widths
        return float(min(1.0, each.sum() / math.sqrt(2 * math.pi)))

    def interval(self, confidence: float) -> Interval:
        """For the population's average density in each bin, all bins at once: each has its part of 1 - confidence.

        Sampling by the normal law around a share that is drawn to 1/2 as Agresti and Coull do, noise by its own tail.
        """
        bins, widths = merged(self.noisy[1:-1], self.by), self._widths
        miss = (1 - check_confidence(confidence)) / len(bins)
        z = -float(ndtri(miss / 2))
        drawn = np.clip((bins + z * z / 2) / (self.people + z * z), 0.0, 1.0)
        sizes, where = np.unique(self._cells, return_inverse=True)
        radius = np.array([sum_radius(self.law, int(size), miss) for size in sizes])[where]
        wide = np.hypot(z * np.sqrt(drawn * (1 - drawn) * self.people), radius)
        low, high = (np.clip((bins + side * wide) / self.people, 0.0, 1.0) / widths for side in (-1, 1))
        about = "the population's average density in each bin, all at once"
        return Interval(replace(self.curve, heights=low), replace(self.curve, heights=high), confidence, about, True)

    def band(self, confidence: float = 0.95) -> Interval:
        """For the population's distribution function at `value.fine`, all places at once. [DE3]"""
        miss = (1 - check_confidence(confidence)) / 2
        sampled = math.sqrt(math.log(2 / miss) / (2 * self.people))  # [DE3]
        noise = sum_radius(self.law, len(self.noisy), miss / 4) / self.people  # [DE3]: Levy's inequality, twice
        reached = np.cumsum(self.noisy)[:-1] / self.people
        high = np.maximum.accumulate(reached + sampled + noise)
        low = np.minimum.accumulate((reached - sampled - noise)[::-1])[::-1]
        about = "the population's distribution function, everywhere at once"
        return Interval(np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0), confidence, about, population=True)

    def quantile(self, q: Any, confidence: float = 0.95) -> Interval:
        """For the population's quantile: where the band of the distribution function crosses q, perhaps nowhere."""
        if not is_number(q) or not 0 < q < 1:
            raise BadInput(f"q is {q!r}; give a share between 0 and 1, for example 0.5")
        band, cells, share = self.band(confidence), self.curve.fine, np.array(float(q))
        before, upto = (int(np.searchsorted(end, share, side="left")) for end in (band.high, band.low))
        low = float(cells[before - 1]) if before else -math.inf  # surely less than q lies below it
        high = float(cells[upto]) if upto < len(cells) else math.inf  # surely q or more does
        return Interval(low, high, confidence, f"the population's {float(q):g}-quantile", population=True)


def sum_radius(law: LaplaceLaw, draws: int, miss: float) -> float:
    """A t with P(|Z_1 + ... + Z_draws| > t) <= miss for discrete Laplace draws: Chernoff's bound, at its best l."""
    if draws == 1:
        return float(law.radius(1 - miss))
    rate = float(1 / law.scale)
    a = math.exp(-rate)

    def reached(share: float) -> float:
        tilt = share * rate
        grown = 2 * math.log1p(-a) - math.log1p(-a * math.exp(tilt)) - math.log1p(-a * math.exp(-tilt))
        return (draws * grown + math.log(2 / miss)) / tilt

    best = minimize_scalar(reached, bounds=(1e-6, 1 - 1e-9), method="bounded")
    return float(best.fun)
