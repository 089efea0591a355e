"""The logistic loss as an objective whose gradient comes with a bound on its rounding error.

Claims
    [GM1] The objective is the sum of w_i log(1 + exp(-+ w'x_i)), x_i = V_i / (1024 R) with the steps V_i and weights
          w_i of models/features.py: a person's gradient is at most 1 long, the second derivative of rank one and at
          most 1/4.
    [GM2] `gradient` returns a bound on the length of its error.
    [GM3] `tolerance` reads public numbers only, and is no less than the gradient at which `minimised` ends.
Why
    [GM1] |gradient| = w |p - y| |x| <= w |V| / (1024 R) <= 1 and w p (1 - p) |x|^2 <= 1/4, by [GV2].
    [GM2] A coefficient is split in two whole numbers of at most B = 38 - ceil(log2 size) bits, so the two sums of
    products with steps below 2^15 are exact; their sum is rounded twice, by 2^-52 of itself, which moves the chance by
    at most 2^-53 as |u| p (1 - p) < 0.24. What the two leave out is at most 2^-2B of the largest coefficient, 4 size^2
    2^-76 of it: in the gradient 2^-76 size^2.5 of it, as w |x|^2 <= 1 and the slope is at most 1/4. The logistic
    function is taken to err by at most 2^-49, 16 units in the last place of 1. So a residual errs by less than 2^-48.4.
    Residuals are split in two whole numbers as well, of 2^-26 and of 2^-52: sums of a block of products with steps are
    exact, as w |V| <= 1024 R, and what is left out is 2^-53 |x| <= 2^-48. The blocks' sums are added exactly. In all
    less than 2^-47 for each row.
    [GM3] Let T = (2 size + 40) / beta, which the tilt exceeds once in 10^14. At the minimum, sum of residual times u =
    -ridge |w|^2 - b'w, and no -r u is above 0.28: |w| <= W = T / ridge + sqrt(0.28 n / ridge). Twice the bounds of
    [GM2] and of the rounding of the other terms, with a public n, is a gradient that is always reached: what is left
    is that two floats lie within 2^-100 W of any point, and that Newton's method, which leads down, comes near.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from discreet.models.features import STEPS, Prepared
from discreet.models.score import BLOCK
from discreet.noise.minimum import minimised
from discreet.stable.clipped import Floats

MOST: Final = 1 << 28  # rows that are used where their number is private
LARGE: Final = 50_000  # rows from which a tenth of them says where to start


@dataclass(frozen=True, slots=True, eq=False)
class LogisticLoss:
    """An `Objective` of noise/minimum.py: `rows` with outcomes 0 and 1, `most` public and not below how many."""

    rows: Prepared
    most: int

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

    def _linear(self, steps: Floats, w: Floats, rest: Floats) -> Floats:
        """(w + rest)'x, but for a relative 2^-52 and what two whole numbers leave out. [GM2]"""
        bits = 38 - math.ceil(math.log2(self.size))
        exponent = bits - math.ceil(math.log2(max(float(np.abs(w).max(initial=0.0)), 2.0**-40)))
        high = np.rint(np.ldexp(w, exponent))
        low = np.rint(np.ldexp(w - np.ldexp(high, -exponent) + rest, exponent + bits))
        return (np.ldexp(steps @ high, -exponent) + np.ldexp(steps @ low, -exponent - bits)) * self.per  # [GM2]

    def gradient(self, w: Floats, rest: Floats) -> tuple[Floats, float]:
        """At w + rest, and a bound on the length of its error. [GM2]"""
        from scipy.special import expit

        parts = []
        for start in range(0, len(self.rows), BLOCK):
            steps = self.rows.steps[start : start + BLOCK].astype(np.float64)
            residual = expit(self._linear(steps, w, rest)) - self.rows.outcome[start : start + BLOCK]
            residual *= self.rows.weight[start : start + BLOCK]
            high = np.rint(residual * 2.0**26)
            low = np.rint((residual - high * 2.0**-26) * 2.0**52)
            parts += [(high @ steps) * 2.0**-26, (low @ steps) * 2.0**-52]  # [GM2]
        sums = [math.fsum(column) for column in np.array(parts).T] if parts else [0.0] * self.size
        return np.array(sums) * self.per, self._off(len(self.rows), float(np.abs(w).max(initial=0.0)))

    def _off(self, rows: int, largest: float) -> float:
        """The length of the gradient's error. [GM2]"""
        return rows * (2.0**-47 + 2.0**-76 * math.pow(self.size, 2.5) * max(largest, 2.0**-40))

    def tolerance(self, ridge: float, rate: float) -> float:
        """From public numbers only. [GM3]"""
        tilt = (2 * self.size + 40) / rate
        largest = tilt / ridge + math.sqrt(0.28 * self.most / ridge)
        return 2 * (self._off(self.most, largest) + 1e-15 * self.size * (ridge * largest + tilt))

    def guess(self, tilt: Floats, ridge: float) -> Floats:
        """The minimum of a tenth of a large table, its tilt and ridge a tenth too; of a small one 0."""
        if len(self.rows) < LARGE:
            return np.zeros(self.size)
        few = Prepared(self.rows.steps[::10], self.rows.weight[::10], self.rows.outcome[::10], self.rows.radius)
        found = minimised(LogisticLoss(few, self.most), tilt / 10, ridge / 10, np.zeros(self.size), len(few) * 1e-6)
        return np.array([float(one) for one in found])

    def hessian(self, w: Floats) -> Floats:
        """At w, more or less. [GM1]"""
        from scipy.special import expit

        total = np.zeros((self.size, self.size))
        for start in range(0, len(self.rows), BLOCK):
            steps = self.rows.steps[start : start + BLOCK].astype(np.float64)
            chance = expit(self._linear(steps, w, np.zeros(self.size)))
            weight = self.rows.weight[start : start + BLOCK] * chance * (1 - chance)
            total += (steps * weight[:, None]).T @ steps
        return total * self.per**2  # [GM1]
