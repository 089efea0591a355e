"""The error of a released vector: an interval for each coordinate, and one region for all.

Claims
    [vector_error.1] If the error of coordinate j is normal with variance sampling_j^2 + privacy_j^2, `interval` holds
          each coordinate's mean with its confidence, one at a time, and `ellipsoid` all of them at once, however the
          coordinates are correlated.
Why
    With e_j the error over its deviation, sum e_j^2 / d is a mean of d squares of standard normals, correlated in any
    way: a convex combination of independent ones. For x >= 1.5364 it exceeds x no more often than one square does
    (Szekely and Bakirov 2003), and for smaller x the bound at 1.5364 holds a share of 0.785. If the coordinates are
    known to be uncorrelated the sum is chi-squared, and the region smaller.
"""

from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

import numpy as np

from discreet.privacy.intervals import Interval, check_confidence
from discreet.tables.matrix import Floats

TIED: Final = 1.5364  # from here on one square is the worst of all convex combinations


@dataclass(frozen=True, slots=True, eq=False)
class Ellipsoid:
    """All points within it: the sum over coordinates of ((x - centre) / axes)^2 is at most 1."""

    centre: Floats
    axes: Floats
    confidence: float

    def holds(self, point: Floats) -> bool:
        """Whether a point lies in it."""
        return bool(np.sum(((np.asarray(point) - self.centre) / self.axes) ** 2) <= 1)


@dataclass(frozen=True, slots=True, eq=False)
class RegionSpread:
    """Normal errors, coordinate by coordinate: standard deviations from sampling people and from the privacy noise."""

    estimate: Floats
    sampling: Floats
    privacy: Floats
    about: str = "the population's mean"

    @property
    def deviation(self) -> Floats:
        """Both together."""
        return np.hypot(self.sampling, self.privacy)

    def interval(self, confidence: float) -> Interval:
        """For each coordinate, one at a time. [vector_error.1]"""
        reach = -NormalDist().inv_cdf((1 - confidence) / 2) * self.deviation  # [vector_error.1]
        about = f"{self.about}, each coordinate at a time" if len(self.estimate) > 1 else self.about
        return Interval(
            self.estimate - reach, self.estimate + reach, confidence=confidence, about=about, population=True
        )

    def ellipsoid(self, confidence: float = 0.95, *, correlated: bool = True) -> Ellipsoid:
        """For all coordinates at once; a smaller one if they are known to be uncorrelated. [vector_error.1]"""
        confidence, width = check_confidence(confidence), len(self.estimate)
        if correlated:
            square = width * max(TIED, NormalDist().inv_cdf((1 - confidence) / 2) ** 2)  # [vector_error.1]
        else:
            from scipy.stats import chi2

            square = float(chi2.isf(1 - confidence, width))
        return Ellipsoid(self.estimate, square**0.5 * self.deviation, confidence)
