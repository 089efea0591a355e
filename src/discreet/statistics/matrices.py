"""Covariances, and normal distributions in several dimensions, with their error bars."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.promise.spread import Interval
from discreet.stable.clipped import Floats
from discreet.statistics.second_moment import Fitted

EACH = "each entry, one at a time, of the population's"


@dataclass(frozen=True, slots=True, eq=False)
class MatrixSpread:
    """The error of each entry of a covariance: normal, sampling and privacy apart."""

    estimate: Floats
    sampling: Floats
    privacy: Floats
    about: str = f"{EACH} covariance"

    @classmethod
    def of(cls, found: Fitted) -> "MatrixSpread":
        """The error of a covariance that was found in a frame.

        An entry is h_i' S h_j, h_i the rows of the way back. With independent isometric coordinates of S, of variance
        `apart`, and `along` the trace, it has the variance apart (|h_i|^2 |h_j|^2 + (h_i h_j)^2) / 2 +
        (along - apart) (h_i h_j)^2 / d. Sampling errors are those of rows of covariance S, privacy errors are not.
        """
        back = found.frame.back(np.eye(len(found.inside)))
        values, vectors = np.linalg.eigh(found.inside)
        rooted = back @ (vectors * np.sqrt(values))
        sampling = _entries(rooted, found.apart[0], found.along[0])
        return cls(covariance_of(found), sampling, _entries(back, found.apart[1], found.along[1]))

    def interval(self, confidence: float) -> Interval:
        """For each entry by itself; a variance is not below 0."""
        width = normal_quantile(confidence) * np.hypot(self.sampling, self.privacy)
        low = self.estimate - width
        np.fill_diagonal(low, np.maximum(np.diag(low), 0.0))
        return Interval(low, self.estimate + width, confidence, self.about, population=True)


def covariance_of(found: Fitted) -> Floats:
    """The covariance in the data's units: symmetric, positive semidefinite."""
    back = found.frame.back(np.eye(len(found.inside)))
    whole = back @ found.inside @ back.T
    return np.asarray((whole + whole.T) / 2)


def _entries(back: Floats, apart: float, along: float) -> Floats:
    """The standard deviation of each entry."""
    sizes = np.linalg.norm(back, axis=1)
    inner = (back / sizes[:, None]) @ (back / sizes[:, None]).T  # of rows of length 1: no square leaves the floats
    variance = apart * (1 + inner**2) / 2 + (along - apart) * inner**2 / len(inner)
    return np.asarray(np.sqrt(np.maximum(variance, 0.0)) * np.outer(sizes, sizes))


@dataclass(frozen=True, slots=True, eq=False)
class MultivariateNormal:
    """A normal distribution: a mean and a covariance."""

    mean: Floats
    covariance: Floats

    @property
    def correlation(self) -> Floats:
        """The covariance of columns of variance 1."""
        size = np.sqrt(np.diag(self.covariance))
        return np.asarray(self.covariance / np.outer(size, size))

    def __str__(self) -> str:
        mean, variances = (
            np.array2string(part, precision=4, threshold=6) for part in (self.mean, np.diag(self.covariance))
        )
        return f"mean {mean}, variances {variances}"


@dataclass(frozen=True, slots=True, eq=False)
class NormalVectorSpread:
    """The errors of a mean and of a covariance."""

    mean: Floats
    mean_sampling: Floats
    mean_privacy: Floats
    covariance: MatrixSpread
    found: Fitted

    @classmethod
    def of(cls, found: Fitted) -> "NormalVectorSpread":
        """The error of a mean in the frame has independent coordinates: on the way back, the lengths of rows."""
        matrix = MatrixSpread.of(found)
        back = found.frame.back(np.eye(len(found.inside)))
        drawn, blurred = found.moved
        sampling = np.sqrt(drawn * np.diag(matrix.estimate))
        return cls(found.frame.centre, sampling, np.sqrt(blurred * (back**2).sum(axis=1)), matrix, found)

    @property
    def value(self) -> MultivariateNormal:
        """The estimates."""
        return MultivariateNormal(self.mean, self.covariance.estimate)

    @property
    def sampling(self) -> MultivariateNormal:
        """Standard deviations from sampling."""
        return MultivariateNormal(self.mean_sampling, self.covariance.sampling)

    @property
    def privacy(self) -> MultivariateNormal:
        """Standard deviations from the privacy noise."""
        return MultivariateNormal(self.mean_privacy, self.covariance.privacy)

    def interval(self, confidence: float) -> Interval:
        """For each entry by itself."""
        matrix = self.covariance.interval(confidence)
        width = normal_quantile(confidence) * np.hypot(self.mean_sampling, self.mean_privacy)
        low = MultivariateNormal(self.mean - width, matrix.low)
        high = MultivariateNormal(self.mean + width, matrix.high)
        return Interval(low, high, confidence, f"{EACH} mean and covariance", population=True)

    def total_variation(self, confidence: float) -> float:
        """How far the distribution released can be from the population's, if that is normal.

        In coordinates in which the released covariance is I, let E be the error of the covariance and m of the mean.
        By Pinsker the covariance costs |E| / sqrt(8 (1 - |E|)) of total variation, Frobenius norm, as x - ln(1 + x) <=
        x^2 / (2 (1 - |x|)); and the mean 2 Phi(|m| / 2) - 1. Each of |E|^2 without trace, its trace and |m|^2 is a
        multiple of a chi-square variable, and each is given a third of the miss.
        """
        from scipy.special import chdtri, ndtr

        miss, size = (1 - confidence) / 3, len(self.mean)
        least = float(np.linalg.eigvalsh(self.found.inside)[0])
        apart, along = (part[0] + part[1] / least**2 for part in (self.found.apart, self.found.along))
        moved = self.found.moved[0] + self.found.moved[1] / least
        loose = (size - 1) * (size + 2) // 2
        square = along * float(chdtri(1, miss)) + (apart * float(chdtri(loose, miss)) if loose else 0.0)
        error = math.sqrt(square)
        if error >= 1:
            return 1.0
        shift = math.sqrt(moved * float(chdtri(size, miss)))
        return min(1.0, error / math.sqrt(8 * (1 - error)) + 2 * float(ndtr(shift / 2)) - 1)


def normal_quantile(confidence: float) -> float:
    """Half the width of a normal interval, in standard deviations."""
    from scipy.special import ndtri

    level: Any = (1 + confidence) / 2
    return float(ndtri(level))
