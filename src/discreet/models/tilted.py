"""The logistic loss as an objective whose gradient comes with a bound on its rounding error.

Claims
    [GM1] The objective is the sum of w_i log(1 + exp(-+ w'x_i)), x_i = V_i / (1024 R) with the steps V_i and weights
          w_i of models/features.py: a person's gradient is at most 1 long, the second derivative of rank one and at
          most 1/4.
    [GM2] `gradient` returns a bound on the length of its error, at any point.
    [GM3] `tolerance` reads public numbers only, and is 4.5 times the largest error, as [NM3] of noise/minimum.py needs.
Why
    [GM1] |gradient| = w |p - y| |x| <= w |V| / (1024 R) <= 1 and w p (1 - p) |x|^2 <= 1/4, by [GV2]. So n people's
    gradients are at most n long together, and their second derivatives at most n / 4.
    [GM2] It rests on [GS1] of models/sigmoid.py and on IEEE 754; h = 2^-53. A coefficient is rounded to 2^-54, which
    moves w'x by at most sqrt(size) 2^-55 |x| and the gradient, as w |x|^2 <= 1 and the slope is at most 1/4, by
    sqrt(size) 2^-57 < 0.4 h. It is then split in whole numbers of fewer than B = 38 - ceil(log2 size) bits, so the sums
    of their products with steps below 2^15 are exact; two of these sums are added with one rounding, more of them by
    `fsum`, with one too. With that of the product by 1 / 1024 R, w'x is off by a relative 2 h, which moves the chance
    by at most h / 2 as |u| p (1 - p) < 0.24; the logistic function adds 3 h, the difference from y and the product by w
    h / 2 each. Together 5 h, times |x| w <= 1. Residuals are split in two whole numbers as well, of 2^-26 and of 2^-52:
    sums of a block of products with steps are exact, as w |V| <= 1024 R, and what is left out is h |x| <= 32 h, as |V|
    <= 2^15 sqrt(size) and R = sqrt(size). The blocks' sums are added by `fsum` and multiplied once: 2 h of a length of
    at most 1 a row. In all less than 40 h < 2^-47 for each row.
    [GM3] At most `most` rows have at most `most` times that error.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np

from discreet.models.features import STEPS, Prepared
from discreet.models.score import BLOCK
from discreet.models.sigmoid import sigmoid
from discreet.noise.minimum import Tilted, exactly, newton
from discreet.stable.clipped import Floats

MOST: Final = 1 << 28  # rows that are used where their number is private
LARGE: Final = 50_000  # rows from which a tenth of them says where to start
FINE: Final = 54  # binary digits of a coefficient [GM2]
ERROR: Final = 2.0**-47  # of a row's gradient [GM2]


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

    @property
    def bend(self) -> float:
        """The largest second derivative of so many rows. [GM1]"""
        return self.most / 4

    @property
    def steep(self) -> float:
        """The longest gradient of so many rows. [GM1]"""
        return float(self.most)

    @property
    def tolerance(self) -> float:
        """From public numbers only. [GM3]"""
        return 4.5 * ERROR * self.most  # [GM3]

    def _digits(self, point: Sequence[Fraction]) -> list[tuple[Floats, float]]:
        """Coefficients as whole numbers of few bits, each with the size of its unit: they add up. [GM2]"""
        found: list[tuple[Floats, float]] = []
        bits, unit = 38 - math.ceil(math.log2(self.size)), 2.0**-FINE
        left = [round(w * 2**FINE) for w in point]
        while any(left) or len(found) < 2:
            low = [(k + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1) for k in left]
            left = [(k - digit) >> bits for k, digit in zip(left, low, strict=True)]
            found.append((np.array(low, dtype=np.float64), unit))
            unit *= 2.0**bits
        return found

    def _linear(self, steps: Floats, digits: list[tuple[Floats, float]]) -> Floats:
        """w'x, but for a relative 2^-52. [GM2]"""
        parts = [(steps @ digit) * unit for digit, unit in digits]  # exact
        total = (
            parts[0] + parts[1] if len(parts) == 2 else np.array([math.fsum(row) for row in zip(*parts, strict=True)])
        )
        return total * self.per  # [GM2]

    def gradient(self, point: Sequence[Fraction]) -> tuple[Floats, float]:
        """At a point, and a bound on the length of its error. [GM2]"""
        parts, digits = [], self._digits(point)
        for start in range(0, len(self.rows), BLOCK):
            steps = self.rows.steps[start : start + BLOCK].astype(np.float64)
            residual = sigmoid(self._linear(steps, digits)) - self.rows.outcome[start : start + BLOCK]  # [GM2]
            residual *= self.rows.weight[start : start + BLOCK]
            high = np.rint(residual * 2.0**26)
            low = np.rint((residual - high * 2.0**-26) * 2.0**52)
            parts += [(high @ steps) * 2.0**-26, (low @ steps) * 2.0**-52]  # [GM2]
        sums = [math.fsum(column) for column in np.array(parts).T] if parts else [0.0] * self.size
        return np.array(sums) * self.per, ERROR * len(self.rows)  # [GM2]

    def guess(self, tilt: Sequence[Fraction], ridge: Fraction) -> Floats:
        """The minimum of a tenth of a large table, its tilt and ridge a tenth too; of a small one 0."""
        if len(self.rows) < LARGE:
            return np.zeros(self.size)
        few = Prepared(self.rows.steps[::10], self.rows.weight[::10], self.rows.outcome[::10], self.rows.radius)
        tenth = Tilted(LogisticLoss(few, self.most), [b / 10 for b in tilt], ridge / 10, len(few) * 1e-6)
        found = newton(tenth, np.zeros(self.size))
        return np.zeros(self.size) if found is None else np.array([float(one) for one in found])

    def hessian(self, w: Floats) -> Floats:
        """At w, more or less. [GM1]"""
        total, digits = np.zeros((self.size, self.size)), self._digits(exactly(w))
        for start in range(0, len(self.rows), BLOCK):
            steps = self.rows.steps[start : start + BLOCK].astype(np.float64)
            chance = sigmoid(self._linear(steps, digits))
            weight = self.rows.weight[start : start + BLOCK] * chance * (1 - chance)
            total += (steps * weight[:, None]).T @ steps
        return total * self.per**2  # [GM1]
