"""The logistic function 1 / (1 + e^-u) in float64, with a proved bound on its error.

Claims
    [GS1] `sigmoid` errs by less than 3 * 2^-53 for every finite u.
Why
    [GS1] Below, h = 2^-53. It rests on IEEE 754 alone: sums, differences, products and quotients of float64 are
    rounded to nearest; `rint`, comparisons and products with powers of two are exact; numpy's operations on arrays are
    these, one by one. No library's exponential is used.
    t = min(|u|, 64): beyond, the function is within e^-64 < 2^-92 of where it is at 64. k = rint(t / ln 2) as rounded
    is at most 93, and |t - k ln 2| <= 0.347. ln 2 = HIGH + LOW but for 2^-100, HIGH of 40 bits, so k HIGH is exact. The
    two differences are rounded by 0.347 h each and k LOW by less than 2^-85: the rest r errs by 0.7 h. The Taylor
    polynomial of e^-r of degree 13 leaves out less than 0.347^14 e^0.347 / 14! < 0.06 h. Horner's rule: let v_13 =
    c_13, v_j = c_j + r v_(j+1). The error E_j of v_j is at most |c_j| h (its coefficient, none for 1, -1 and 1/2) +
    0.347 E_(j+1) + h 0.347 |v_(j+1)| + h |v_j|, to which products of errors add less than 1%. As |v_j| <= e^0.347 / j!
    this ends in E_0 <= 2.7 h, and a test computes it. As e^-r >= 0.706, the exponential has a relative error of at most
    (2.7 + 0.06) h / 0.706 + 0.7 h < 4.7 h. The product with 2^-k is exact: e in [0, 1.01].
    p = e / (1 + e) moves by at most a quarter of the relative error of e, 1.18 h; the sum and the quotient add
    0.51 h each, as p <= 0.503, and 1 - p another h / 2: less than 2.8 h in all.
Source
    Horner's rule bound step by step: Higham 2002, section 5.1. Splitting ln 2: Cody and Waite 1980.
"""

import math
from typing import Final

import numpy as np
import numpy.typing as npt

FARTHEST: Final = 64.0
PER: Final = 1.4426950408889634  # 1 / ln 2: only k is made of it
HIGH: Final = 762123384785 * 2.0**-40  # ln 2, its first 40 bits [GS1]
LOW: Final = 7.371002565167799e-13  # and what is left of it [GS1]
DEGREE: Final = 13
TAYLOR: Final = tuple((-1) ** j / math.factorial(j) for j in range(DEGREE + 1))
Floats = npt.NDArray[np.float64]


def sigmoid(u: Floats) -> Floats:
    """1 / (1 + e^-u) of finite numbers. [GS1]

    >>> sigmoid(np.array([-800.0, 0.0, 800.0])).tolist()[1:]
    [0.5, 1.0]
    """
    far = np.minimum(np.abs(u), FARTHEST)
    k = np.rint(far * PER)
    rest = (far - k * HIGH) - k * LOW  # [GS1]
    power = np.full_like(rest, TAYLOR[-1])
    for coefficient in TAYLOR[-2::-1]:
        power *= rest
        power += coefficient  # [GS1]
    power *= ((1023 - k.astype(np.int64)) << 52).view(np.float64)  # 2^-k, by its bits
    power /= 1.0 + power
    return np.where(u < 0, power, 1.0 - power)  # [GS1]
