"""The logistic function 1 / (1 + e^-u) in float64, with a proved bound on its error.

Claims
    [logistic_loss.1] `sigmoid` errs by less than 3 * 2^-53 for every finite u.

The logistic loss as an objective whose gradient comes with a bound on its rounding error.

Claims
    [logistic_loss.2] The objective is the sum of w_i log(1 + exp(-+ (o + w'x_i))), o a public offset, x_i = V_i / (1024
          R) with the steps V_i and weights w_i of models/features.py: a person's gradient is at most 1 long, the second
          derivative of rank one and at most 1/4 (`prepared`) or 1/2 (`framed`).
    [logistic_loss.3] `gradient` returns a bound on the length of its error, at any point, for R from sqrt(size) to 15.
    [logistic_loss.4] `tolerance` reads public numbers only, and is 4.5 times the largest error, as [tilted_minimum.3]
    needs.
    [logistic_loss.5] `gradient`, `hessian` and `reach`, and so the minimum that is found, are the same to the last
    digit however rows are cut and wherever they are. `hessian` is above what it stands for in no direction.

Why
    [logistic_loss.1] Below, h = 2^-53. It rests on IEEE 754 alone: sums, differences, products and quotients of float64
    are rounded to nearest; `rint`, comparisons and products with powers of two are exact; numpy's operations on arrays
    are these, one by one. No library's exponential is used. t = min(|u|, 64): beyond, the function is within e^-64 <
    2^-92 of where it is at 64. k = rint(t / ln 2) as rounded is at most 93, and |t - k ln 2| <= 0.347. ln 2 = HIGH +
    LOW but for 2^-100, HIGH of 40 bits, so k HIGH is exact. The two differences are rounded by 0.347 h each and k LOW
    by less than 2^-85: the rest r errs by 0.7 h. The Taylor polynomial of e^-r of degree 13 leaves out less than
    0.347^14 e^0.347 / 14! < 0.06 h. Horner's rule: let v_13 = c_13, v_j = c_j + r v_(j+1). The error E_j of v_j is at
    most |c_j| h (its coefficient, none for 1, -1 and 1/2) + 0.347 E_(j+1) + h 0.347 |v_(j+1)| + h |v_j|, to which
    products of errors add less than 1%. As |v_j| <= e^0.347 / j! this ends in E_0 <= 2.7 h, and a test computes it. As
    e^-r >= 0.706, the exponential has a relative error of at most (2.7 + 0.06) h / 0.706 + 0.7 h < 4.7 h. The product
    with 2^-k is exact: e in [0, 1.01]. p = e / (1 + e) moves by at most a quarter of the relative error of e, 1.18 h;
    the sum and the quotient add 0.51 h each, as p <= 0.503, and 1 - p another h / 2: less than 2.8 h in all.
    [logistic_loss.2] |gradient| = w |p - y| |x| <= w |V| / (1024 R) <= 1 and w p (1 - p) |x|^2 <= c / 4, with c = 1 by
    [features.2] and 2 by [features.4]. So n people's gradients are at most n long together, and their second
    derivatives at most c n / 4.
    [logistic_loss.3] It rests on [logistic_loss.1] and on IEEE 754; h = 2^-53. A coefficient is rounded to 2^-54, which
    moves w'x by at most sqrt(size) 2^-55 |x| and the gradient, as w |x|^2 <= 2 and the slope is at most 1/4, by
    sqrt(size) 2^-56 < 0.8 h. It is then split in whole numbers of fewer than B = 38 - ceil(log2 size) bits, so the sums
    of their products with steps below 2^15 are exact; two of these sums are added with one rounding, more of them by
    `fsum`, with one too. With that of the product by 1 / 1024 R, w'x is off by a relative 2 h. Its sum u with the
    offset o is off by h |u| + 2 h (|u| + |o|), which moves the chance by at most 7 h, as |u| p (1 - p) < 0.24, p (1 -
    p) <= 1 / 4 and |o| <= 12; the logistic function adds 3 h, the difference from y and the product by w h / 2 each.
    Together 12 h (7 + 3 + 1, and 0.8), times |x| w <= 1. Residuals are split in two whole numbers as well, of 2^-26 and
    of 2^-52: sums of a block of 2^13 products with steps are exact, as w |V| <= 1024 R < 2^14, and what is left out is
    h |x| <= 32 h, as |V| <= 2^15 sqrt(size) and R >= sqrt(size). The blocks' sums are added as integers, turned into a
    float and multiplied once: 2 h of a length of at most 1 a row. In all less than 48 h < 2^-47 for each row.
    [logistic_loss.4] At most `most` rows have at most `most` times that error.
    [logistic_loss.5] Both are sums of integers, of a function of each row; a least weight is that of any cut. Second
    derivatives have their weight w p (1 - p) in parts of 2^-22, towards 0: a row's is what it stands for times a number
    of at most 1. All steps count: where columns are narrow beside their bounds a row has few, and Newton's method with
    second derivatives of less than half their size would not end. As w |V|^2 <= 2 (1024 R)^2 < 2^29, R <= 15, the
    weight's upper part, of 2^-13, times V V' is below 2^40; the lower one, of 9 digits, times V V' is below 2^39: sums
    of a block of 2^13 of either are exact. Where Newton's method starts and how it goes on changes nothing but the
    time ([tilted_minimum.3]), and what is left of the gradient is below the noise; but equal digits need equal steps.

Source
    Horner's rule bound step by step: Higham 2002, section 5.1. Splitting ln 2: Cody and Waite 1980.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.models.features import BEND, STEPS, Prepared, framed
from discreet.models.newton_stages import NewtonStages
from discreet.models.prepared_rows import AnyPrepared, over, ready
from discreet.models.score import BLOCK
from discreet.noise.additive import summed
from discreet.noise.tilted_minimum import exactly, tilt_rate
from discreet.privacy.exact import Number
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Approximate
from discreet.privacy.mechanism import Randomness
from discreet.stages.gram import Frame
from discreet.tables.streams import Stream, added

FARTHEST: Final = 64.0
PER: Final = 1.4426950408889634  # 1 / ln 2: only k is made of it
HIGH: Final = 762123384785 * 2.0**-40  # ln 2, its first 40 bits [logistic_loss.1]
LOW: Final = 7.371002565167799e-13  # and what is left of it [logistic_loss.1]
DEGREE: Final = 13
TAYLOR: Final = tuple((-1) ** j / math.factorial(j) for j in range(DEGREE + 1))
Floats = npt.NDArray[np.float64]


def sigmoid(u: Floats) -> Floats:
    """1 / (1 + e^-u) of finite numbers. [logistic_loss.1]

    >>> sigmoid(np.array([-800.0, 0.0, 800.0])).tolist()[1:]
    [0.5, 1.0]
    """
    far = np.minimum(np.abs(u), FARTHEST)
    k = np.rint(far * PER)
    rest = (far - k * HIGH) - k * LOW  # [logistic_loss.1]
    power = np.full_like(rest, TAYLOR[-1])
    for coefficient in TAYLOR[-2::-1]:
        power *= rest
        power += coefficient  # [logistic_loss.1]
    power *= ((1023 - k.astype(np.int64)) << 52).view(np.float64)  # 2^-k, by its bits
    power /= 1.0 + power
    return np.where(u < 0, power, 1.0 - power)  # [logistic_loss.1]


MOST: Final = 1 << 28  # rows that are used where their number is private
WEIGHT: Final = 1 << 22  # steps of a weight in a second derivative [logistic_loss.5]
LOW_WEIGHT: Final = 1 << 9  # those that are summed apart
OFFSET: Final = 12.0
LONGEST: Final = 15.0  # R [logistic_loss.3]
RIDGED: Final = 0.5  # units of the linear part: so far the information undoes a ridge, and slopes stay about the same
SEPARATED: Final = (
    "the features tell the outcome of nearly everybody, so that the likeliest coefficients, which may be infinite, are "
    "farther out than the noise allows to follow; bring more rows, use a larger epsilon, or leave such a feature out"
)
FINE: Final = 54  # binary digits of a coefficient [logistic_loss.3]
RIDGE: Final = 0.12  # of epsilon: what the ridge of a minimum among other stages costs
STEEPNESS: Final = {Neighbours.ADD_OR_REMOVE: 1, Neighbours.REPLACE: 2}  # of rows at most 1 long [glm_stages.4]
CURVATURE: Final = Fraction(BEND, 4)  # of one person's loss in a frame [logistic_loss.2]
ERROR: Final = 2.0**-47  # of a row's gradient [logistic_loss.3]


def ridge_for(epsilon: Number, share: float, bend: int = 1) -> Fraction:
    """A ridge that costs this share of epsilon, for rows whose w |x|^2 is at most `bend`: public."""
    return Fraction(max(bend / 4 / math.expm1(share * min(float(epsilon), 8.0)), 2.0**-6))


def ridge_of(stages: NewtonStages) -> Fraction:
    """The ridge of the minimum, for rows at most 1 long: public."""
    return ridge_for(stages.costs.part("minimum", Approximate).epsilon, RIDGE, BEND)


def tilt_of(stages: NewtonStages) -> float:
    """The standard deviation of each entry of the tilt, for rows at most 1 long: public."""
    cost = stages.costs.part("minimum", Approximate)
    return tilt_with(cost, ridge_of(stages), stages.width - 1, stages.neighbours)


def tilt_with(cost: Approximate, ridge: Fraction, size: int, neighbours: Neighbours) -> float:
    """The same with any ridge: public."""
    rate = tilt_rate(cost.epsilon, STEEPNESS[neighbours], CURVATURE, ridge, size)
    return math.sqrt(size + 1) / float(rate)


def minimised(
    rows: Any,
    frame: Frame,
    reach: float,
    cost: Approximate,
    ridge: Fraction,
    *,
    most: int | None,
    offset: float,
    rng: Randomness,
) -> Floats:
    """The tilted minimum of rows in a frame, those beyond `reach` with less weight, in units of the frame: rows end in
    their outcome, 0 or 1. `most` is their number, where that is public. [glm_stages.4]"""
    given = ready(most_rows(rows), partial(framed, frame=frame, reach=reach), frame.size + 1)
    found = rng.minimum(
        LogisticLoss(given, MOST if most is None else most, offset),
        steepness=STEEPNESS[Neighbours.ADD_OR_REMOVE if most is None else Neighbours.REPLACE],
        curvature=CURVATURE,
        ridge=ridge,
        cost=cost,
    )  # [glm_stages.4]
    return np.asarray(found) / reach


def most_rows(rows: Any) -> Any:
    """The first MOST rows, which are brought here if they are a stream of more."""
    if len(rows) <= MOST:
        return rows
    return np.concatenate(list(rows))[:MOST] if isinstance(rows, Stream) else rows[:MOST]


@dataclass(frozen=True, slots=True, eq=False)
class LogisticLoss:
    """An `Objective` of noise/tilted_minimum.py: `rows` with outcomes 0 and 1, `most` public and not below how many.

    Rows of a stream stay where they are, and are passed over once for each gradient and each matrix of second
    derivatives. [logistic_loss.5]
    """

    rows: AnyPrepared
    most: int
    offset: float = 0.0  # public or released, at most OFFSET in size

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
        """No |x| of a row with an outcome is larger: far out a row weighs 1 / |x|^2, or twice that."""
        return math.sqrt(self.rows.bend / over(_least_weight, min, self.rows))

    @property
    def bend(self) -> float:
        """The largest second derivative of so many rows. [logistic_loss.2]"""
        return self.most * self.rows.bend / 4

    @property
    def steep(self) -> float:
        """The longest gradient of so many rows. [logistic_loss.2]"""
        return float(self.most)

    @property
    def tolerance(self) -> float:
        """From public numbers only. [logistic_loss.4]"""
        return 4.5 * ERROR * self.most  # [logistic_loss.4]

    def _digits(self, point: Sequence[Fraction]) -> list[tuple[Floats, float]]:
        """Coefficients as whole numbers of few bits, each with the size of its unit: they add up. [logistic_loss.3]"""
        found: list[tuple[Floats, float]] = []
        bits, unit = 38 - math.ceil(math.log2(self.size)), 2.0**-FINE
        left = [round(w * 2**FINE) for w in point]
        while any(left) or len(found) < 2:
            low = [(k + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1) for k in left]
            left = [(k - digit) >> bits for k, digit in zip(left, low, strict=True)]
            found.append((np.array(low, dtype=np.float64), unit))
            unit *= 2.0**bits
        return found

    def gradient(self, point: Sequence[Fraction]) -> tuple[Floats, float]:
        """At a point, and a bound on the length of its error. [logistic_loss.3]"""
        linear = _Linear(tuple(self._digits(point)), self.per, self.offset)
        found = over(partial(_slopes, linear=linear, size=self.size), added, self.rows)  # [logistic_loss.5]
        sums = [whole / 2**52 for whole in found.tolist()]  # rounded once
        return np.array(sums) * self.per, ERROR * len(self.rows)  # [logistic_loss.3]

    def guess(self, tilt: Sequence[Fraction], ridge: Fraction) -> Floats:  # noqa: ARG002  as an Objective has it
        """0: a part of the rows would be another one where they are cut otherwise. [logistic_loss.5]"""
        return np.zeros(self.size)

    def hessian(self, w: Floats) -> Floats:
        """At w, more or less. [logistic_loss.2]"""
        linear = _Linear(tuple(self._digits(exactly(w))), self.per, self.offset)
        found = over(partial(_bends, linear=linear, size=self.size), added, self.rows)  # [logistic_loss.5]
        total = np.array([[whole / WEIGHT for whole in row] for row in found.tolist()])
        return total * self.per**2  # [logistic_loss.2]


@dataclass(frozen=True, slots=True)
class _Linear:
    """What the linear part of a row is made of: coefficients in parts that add up, a step of x, and the offset."""

    digits: tuple[tuple[Floats, float], ...]
    per: float
    offset: float

    def of(self, steps: Floats) -> Floats:
        """The offset and w'x, the latter but for a relative 2^-52. [logistic_loss.3]"""
        parts = [(steps @ digit) * unit for digit, unit in self.digits]  # exact
        total = (
            parts[0] + parts[1] if len(parts) == 2 else np.array([math.fsum(row) for row in zip(*parts, strict=True)])
        )
        return total * self.per + self.offset  # [logistic_loss.3]


def _blocks(given: Iterator[Prepared]) -> Iterator[tuple[Floats, Floats, Floats]]:
    """Steps, weights and outcomes, so many rows at a time."""
    for rows in given:
        for start in range(0, len(rows), BLOCK):
            here = slice(start, start + BLOCK)
            yield rows.steps[here].astype(np.float64), rows.weight[here], rows.outcome[here]


def _least_weight(given: Iterator[Prepared]) -> float:
    """A kernel: the least weight above 0, or 1."""
    return min((float(weight[weight > 0].min(initial=1.0)) for _, weight, _ in _blocks(given)), default=1.0)


def _slopes(given: Iterator[Prepared], *, linear: _Linear, size: int) -> Any:
    """A kernel: the sum of residuals times steps, in parts of 2^-52, as Python's integers. [logistic_loss.3]"""
    found = np.zeros(size, dtype=object)
    for steps, weight, outcome in _blocks(given):
        residual = sigmoid(linear.of(steps)) - outcome
        residual *= weight
        high = np.rint(residual * 2.0**26)
        low = np.rint((residual - high * 2.0**-26) * 2.0**52)
        for part, unit in ((high, 2**26), (low, 1)):
            found += (part @ steps).astype(np.int64).astype(object) * unit  # [logistic_loss.3]
    return found


def _bends(given: Iterator[Prepared], *, linear: _Linear, size: int) -> Any:
    """A kernel: the sum of second derivatives of the losses, rounded towards 0, in steps. [logistic_loss.5]"""

    def products(steps: Floats, weight: Floats) -> Floats:
        chance = sigmoid(linear.of(steps))
        k = np.floor(weight * chance * (1 - chance) * WEIGHT)  # [logistic_loss.5]
        high = np.floor(k / LOW_WEIGHT)
        return np.stack([(steps * part[:, None]).T @ steps for part in (high, k - LOW_WEIGHT * high)])

    parts = (products(steps, weight) for steps, weight, _ in _blocks(given))
    high, low = summed(parts, (2, size, size), 2**53).astype(object)  # [logistic_loss.5]
    return LOW_WEIGHT * high + low
