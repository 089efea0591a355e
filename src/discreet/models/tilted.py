"""The logistic loss as an objective whose gradient comes with a bound on its rounding error.

Claims
    [GM1] The objective is the sum of w_i log(1 + exp(-+ w'x_i)), x_i = V_i / (1024 R) with the steps V_i and weights
          w_i of models/features.py: a person's gradient is at most 1 long, the second derivative of rank one and at
          most 1/4.
    [GM2] `gradient` returns a bound on the length of its error.
Why
    [GM1] |gradient| = w |p - y| |x| <= w |V| / (1024 R) <= 1 and w p (1 - p) |x|^2 <= 1/4, by [GV2].
    [GM2] A coefficient is split in two whole numbers of at most 34 and 20 bits (below 2^37 / size and the rest), so the
    two sums of products with steps below 2^15 are exact; their sum is rounded twice, by 2^-52 of itself, which moves
    the chance by at most 2^-53 as |u| p (1 - p) < 0.24. The logistic function is taken to err by at most 2^-49, 16
    units in the last place of 1. So a residual errs by less than 2^-48. Residuals times steps are added up in chunks of
    at most CHUNK rows, each error at most 2^-53 (CHUNK + 8) of the sum of sizes, which is at most 1 a row; the chunks'
    sums are added exactly.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from discreet.models.features import STEPS, Prepared
from discreet.models.score import BLOCK
from discreet.noise.minimum import minimised
from discreet.stable.clipped import Floats

CHUNK: Final = 256
LARGE: Final = 50_000  # rows from which a tenth of them says where to start


@dataclass(frozen=True, slots=True, eq=False)
class LogisticLoss:
    """An `Objective` of noise/minimum.py: `rows` with outcomes 0 and 1."""

    rows: Prepared

    @property
    def size(self) -> int:
        """Coefficients."""
        return int(self.rows.steps.shape[1])

    @property
    def per(self) -> float:
        """A step of x."""
        return 1.0 / (STEPS * self.rows.radius)

    @property
    def reach(self) -> float:
        """No |x| of a row with an outcome is larger: a row beyond R weighs 1 / |x|^2."""
        weights = self.rows.weight[self.rows.weight > 0]
        return 1.0 / math.sqrt(float(weights.min(initial=1.0)))

    def _linear(self, steps: Floats, w: Floats) -> Floats:
        """w'x, but for a relative 2^-51. [GM2]"""
        large = max(float(np.abs(w).max(initial=0.0)), 2.0**-40)
        exponent = 34 - math.ceil(math.log2(self.size)) - math.ceil(math.log2(large))
        high = np.rint(np.ldexp(w, exponent))
        low = np.rint(np.ldexp(w - np.ldexp(high, -exponent), exponent + 30))
        return (np.ldexp(steps @ high, -exponent) + np.ldexp(steps @ low, -exponent - 30)) * self.per  # [GM2]

    def gradient(self, w: Floats) -> tuple[Floats, float]:
        """At w, and a bound on the length of its error. [GM2]"""
        from scipy.special import expit

        parts = []
        for start in range(0, len(self.rows), BLOCK):
            steps = self.rows.steps[start : start + BLOCK].astype(np.float64)
            residual = expit(self._linear(steps, w)) - self.rows.outcome[start : start + BLOCK]
            residual *= self.rows.weight[start : start + BLOCK]
            chunks = [slice(first, first + CHUNK) for first in range(0, len(steps), CHUNK)]
            parts += [residual[chunk] @ steps[chunk] for chunk in chunks]  # [GM2]
        sums = [math.fsum(column) for column in np.array(parts).T] if parts else [0.0] * self.size
        off = len(self.rows) * (2.0**-48 + (CHUNK + 16) * 2.0**-53)  # [GM2]
        return np.array(sums) * self.per, off

    def guess(self, tilt: Floats, ridge: float) -> Floats:
        """The minimum of a tenth of a large table, its tilt and ridge a tenth too; of a small one 0."""
        if len(self.rows) < LARGE:
            return np.zeros(self.size)
        few = Prepared(self.rows.steps[::10], self.rows.weight[::10], self.rows.outcome[::10], self.rows.radius)
        return minimised(LogisticLoss(few), tilt / 10, ridge / 10, np.zeros(self.size))

    def hessian(self, w: Floats) -> Floats:
        """At w, more or less. [GM1]"""
        from scipy.special import expit

        total = np.zeros((self.size, self.size))
        for start in range(0, len(self.rows), BLOCK):
            steps = self.rows.steps[start : start + BLOCK].astype(np.float64)
            chance = expit(self._linear(steps, w))
            weight = self.rows.weight[start : start + BLOCK] * chance * (1 - chance)
            total += (steps * weight[:, None]).T @ steps
        return total * self.per**2  # [GM1]
