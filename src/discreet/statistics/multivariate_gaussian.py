"""The normal distribution that fits rows in R^d best: their means and covariances, whatever their distribution.

Releases
    With no model the stages of statistics/free_covariance.py, with a larger constant entry in the last sum, and from
    them mean and covariance. Under model="gaussian" those of statistics/covariance_stages.py, with more of the budget
    for the mean.
Promise
    [multivariate_gaussian.1] (epsilon, delta) under REPLACE and under ADD_OR_REMOVE, by the losses of the stages.
    [multivariate_gaussian.2] Refusals read public numbers and earlier answers only.
    [multivariate_gaussian.3] The interval of each mean and of each covariance holds the population's with its
          confidence, to first order: without a model whatever the distribution is, nobody's distance from the mean
          above a limit that was released, and the plain one too as far as the tail of all distances tells; under the
          model for normal rows.
    [multivariate_gaussian.4] With the confidence asked for, the distribution released is within `total_variation` of
          the normal one with the population's mean and covariance, under the model of the population's if that is
          normal, to first order.
Why
    [multivariate_gaussian.1] [covariance.1]: neither the constant entry nor the share of the mean changes what a stage
    costs.
    [multivariate_gaussian.2] [covariance.2]; under the model, if no centre is found, a normal distribution is refused.
    [multivariate_gaussian.3] Covariances: [covariance.3]. Means without a model: [free_covariance.4]; a mean of n rows
    has the variance S_ii / n whatever their distribution, and what S_ii may be too small by is added to it. The noise
    in the frame has independent coordinates: on the way back, the lengths of rows. Under the model the mean of bent
    rows answers to a shift by the slope a1 (statistics/whiten.py), and its noise is known in the frame.
    [multivariate_gaussian.4] In coordinates in which the released covariance is I, let E be the error of the covariance
    and m of the mean. By Pinsker the covariance costs |E| / sqrt(8 (1 - |E|)) of total variation, Frobenius norm, as
    x - ln(1 + x) <= x^2 / (2 (1 - |x|)); and the mean 2 Phi(|m| / 2) - 1. Under the model each of |E|^2 without trace,
    its trace and |m|^2 is a multiple of a chi-square variable, and each is given a third of the miss. Without one |E|
    is at most the sum of three parts. Sampling: |E|^2 is a weighted sum of squares of normal variables with the
    expectation (E |y|^4 - d) / n, y the rows there; with C the correlations and z the columns in units of their
    deviations |y|^2 <= |z|^2 / (least eigenvalue of C), and E |z|^4 is the sum of all fourth moments; in the frame
    E |u|^4 is at most what the counts of lengths tell by the ends of their bins, and the smaller of the two is taken.
    Of all weights with one sum a single one has the longest tail, from 1.54 expectations on (Szekely and Bakirov 2003).
    Noise: a multiple of a chi-square variable. The ball: what it takes in all. Sampling, noise and mean have a third of
    the miss each.
Needs
    As statistics/covariance.py: at epsilon 1 and delta 1e-6 about 1,000 rows of 3 columns.
Accuracy
    Without a model the constant entry is a quarter of the radius R of the ball: the noise of the covariance is 1.06
    times that of `covariance`, that of each coordinate of the mean in the frame 3 R / (n mu). Under the model noise of
    2 R / (n mu a1), under ADD_OR_REMOVE half of it, R about sqrt(d) to sqrt(d) + 1: at n = 5,000, d = 5, epsilon = 1
    the mean's error is 1.35, the covariance's 1.6 times the sample's under REPLACE, 1.1 and 1.3 times under
    ADD_OR_REMOVE.
Source
    As statistics/covariance.py; Szekely and Bakirov 2003 (extremal sums of chi-squares).
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Final

import numpy as np

from discreet.privacy.exact import show
from discreet.privacy.intervals import Interval
from discreet.privacy.release import Release
from discreet.privacy.values import MultivariateNormal
from discreet.stages.clip import Floats
from discreet.stages.normal_laplace import allowing
from discreet.statistics.covariance import EACH, Covariance, MatrixSpread
from discreet.statistics.covariance_stages import FittedMoment
from discreet.statistics.free_covariance import FreeMoment, FreeStages, plan

NOTE: Final = "the fit rests on a normal model; rows far from the others count as errors"
FREE: Final = "the data need not be normal: the interval is for the normal distribution that fits best"
WEIGHT: Final = 1 / 4  # the constant entry over the radius


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class NormalVectorSpread:
    """The errors of a mean and of a covariance."""

    mean: Floats
    mean_sampling: Floats
    mean_privacy: Floats
    mean_bias: Floats
    covariance: MatrixSpread
    found: FittedMoment | FreeMoment

    @classmethod
    def free(cls, found: FreeMoment) -> "NormalVectorSpread":
        """The errors whatever the distribution is. [multivariate_gaussian.3]"""
        matrix = MatrixSpread.free(replace(found, drawn=found.inside))
        assert matrix.bias is not None
        variances = np.diag(matrix.estimate) + np.diag(matrix.privacy) + np.diag(matrix.bias)
        return cls(
            mean=found.place,
            mean_sampling=np.sqrt(variances / found.size),
            mean_privacy=found.shift * found.scales,
            mean_bias=found.lost * found.scales,
            covariance=matrix,
            found=found,
        )

    @classmethod
    def of(cls, found: FittedMoment) -> "NormalVectorSpread":
        """The errors under the model. [multivariate_gaussian.3]"""
        matrix = MatrixSpread.of(found)
        back = found.frame.back(np.eye(len(found.inside)))
        drawn, blurred = found.moved
        return cls(
            mean=found.frame.centre,
            mean_sampling=np.sqrt(drawn * np.diag(matrix.estimate)),
            mean_privacy=np.sqrt(blurred * (back**2).sum(axis=1)),
            mean_bias=np.zeros(len(back)),
            covariance=matrix,
            found=found,
        )

    @property
    def target(self) -> str:
        """What was done to the rows."""
        return self.covariance.target

    @property
    def value(self) -> MultivariateNormal:
        """The estimates."""
        return MultivariateNormal(self.mean, self.covariance.value)

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
        width = allowing(self.mean_bias, np.hypot(self.mean_sampling, self.mean_privacy), confidence)
        low = MultivariateNormal(self.mean - width, matrix.low)
        high = MultivariateNormal(self.mean + width, matrix.high)
        of = ", distances limited" if isinstance(self.found, FreeMoment) else ", if it is normal"
        return Interval(low, high, confidence=confidence, about=f"{EACH} mean and covariance{of}", population=True)

    def total_variation(self, confidence: float) -> float:
        """How far the distribution released can be from the one that fits best. [multivariate_gaussian.4]"""
        from scipy.special import ndtr

        free = isinstance(self.found, FreeMoment)
        matrix, shift = (self._free if free else self._fitted)((1 - confidence) / 3)
        if not matrix < 1:
            return 1.0
        return min(1.0, matrix / math.sqrt(8 * (1 - matrix)) + 2 * float(ndtr(shift / 2)) - 1)

    def _fitted(self, miss: float) -> tuple[float, float]:
        """|E| and |m| that are exceeded with small chances, under the model. [multivariate_gaussian.4]"""
        from scipy.special import chdtri

        assert isinstance(self.found, FittedMoment)
        size, least = len(self.mean), float(np.linalg.eigvalsh(self.found.inside)[0])
        apart, along = (part[0] + part[1] / least**2 for part in (self.found.apart, self.found.along))
        moved = self.found.moved[0] + self.found.moved[1] / least
        loose = (size - 1) * (size + 2) // 2
        square = along * float(chdtri(1, miss)) + (apart * float(chdtri(loose, miss)) if loose else 0.0)
        return math.sqrt(square), math.sqrt(moved * float(chdtri(size, miss)))

    def _free(self, miss: float) -> tuple[float, float]:
        """The same whatever the distribution is. [multivariate_gaussian.4]"""
        from scipy.special import chdtri

        found = self.found
        assert isinstance(found, FreeMoment)
        size, scales = len(self.mean), found.scales
        least = max(float(np.linalg.eigvalsh(found.inside)[0]), 1e-12)
        plain = max(float(np.linalg.eigvalsh(self.covariance.value / np.outer(scales, scales))[0]), 1e-12)
        fourth = min(float(found.fourths.sum()) / plain**2, found.fourth / least**2)
        drawn = math.sqrt(max(fourth - size, 0.0) / found.size * float(chdtri(1, miss)))
        blurred = found.noise * math.sqrt(float(chdtri(size * (size + 1) // 2, miss))) / least
        moved = math.sqrt((1 / found.size + found.shift**2 / least) * float(chdtri(size, miss)))
        return drawn + blurred + found.bias / least, moved + found.lost / math.sqrt(least)


@dataclass(frozen=True, slots=True, kw_only=True)
class MultivariateGaussian(Covariance):
    """A normal distribution: `value.mean` and `value.covariance`.

    >>> from discreet.noise.randomness import Seeded
    >>> import numpy as np
    >>> rows = np.array([[k % 7, k % 11 + k % 7] for k in range(5000)])
    >>> release = MultivariateGaussian(epsilon=2.0, delta=1e-6).release(rows, Seeded(1))
    >>> bool(abs(release.value.mean - rows.mean(axis=0)).max() < 0.4)
    True
    """

    name: ClassVar[str] = "normal distribution"
    mean: ClassVar[Fraction] = Fraction(3, 10)

    def stages(self, size: int | None, columns: int) -> FreeStages:
        """What there is without a model. [multivariate_gaussian.1]"""
        return plan(self.epsilon, self.delta, size if self.neighbours.size_is_public else None, columns, WEIGHT)

    def _answer(self, blank: Release[Any], found: FittedMoment | FreeMoment) -> Release[Any]:
        free = isinstance(found, FreeMoment)
        blank = replace(blank, provenance=replace(blank.provenance, notes=(FREE if free else NOTE,)))
        if isinstance(found, FittedMoment) and found.shift is None:  # [multivariate_gaussian.2]
            return replace(blank, refusal="too many rows lie far from the others for one normal distribution")
        with np.errstate(all="ignore"):  # [multivariate_gaussian.3]
            spread = NormalVectorSpread.free(found) if isinstance(found, FreeMoment) else NormalVectorSpread.of(found)
        told = (spread.mean, spread.mean_sampling, spread.covariance.value, spread.covariance.sampling)
        if not all(np.isfinite(each).all() for each in told):  # [multivariate_gaussian.2]
            return replace(blank, refusal="the columns' scales are beyond the floats; rescale them")
        far = show(spread.total_variation(0.95))  # [multivariate_gaussian.4]
        of = "the normal distribution that fits best" if free else "the population, if that is normal"
        note = f"with confidence 95% within total variation {far} of {of}"
        history = replace(blank.provenance, notes=(*blank.provenance.notes, note))
        return replace(blank, answer=spread.value, spread=spread, provenance=history)
