"""Multiples of a declared unit, and the middle of two floats: what is done to values after they were drawn. Exact."""

import math
from fractions import Fraction
from typing import Final

import numpy as np

from discreet.promise.exact import exact

MAX: Final = float(np.finfo(float).max)


def middle(low: float, high: float, far: float) -> float:
    """Half-way; on the log scale if both ends have one sign and differ by more than the factor `far`.

    >>> middle(1.0, 3.0, 4.0), middle(1.0, 1e6, 4.0), middle(-1.7e308, 1.7e308, 4.0)
    (2.0, 1000.0, 0.0)
    """
    small, large = sorted((abs(low), abs(high)))
    if (low > 0 or high < 0) and small < large / far:
        return math.copysign(math.sqrt(small) * math.sqrt(large), high)
    return (low + high) / 2 if abs(low + high) <= MAX else low / 2 + high / 2


def floor_to(value: float, unit: float) -> float:
    """The largest multiple of `unit`, as a float, that is not above `value`. Exact. [U8]

    >>> floor_to(0.3, 0.1), floor_to(0.29, 0.1), floor_to(-0.25, 0.1)
    (0.3, 0.2, -0.3)
    """
    times = math.floor(Fraction(value) / exact(unit))
    above = _float((times + 1) * exact(unit))
    return above if above <= value else _float(times * exact(unit))  # 0.3 stands for 3/10, though it is a little less


def ceil_to(value: float, unit: float) -> float:
    """The smallest multiple of `unit`, as a float, that is not below `value`. Exact. [U8]

    >>> ceil_to(0.1, 0.1), ceil_to(0.11, 0.1)
    (0.1, 0.2)
    """
    return 0.0 - floor_to(-value, unit)


def nearest_to(value: float, unit: float) -> float:
    """The nearest multiple of `unit`, as a float."""
    return _float(round(Fraction(value) / exact(unit)) * exact(unit))


def _float(number: Fraction) -> float:
    """The nearest float, at most the largest one."""
    return float(min(max(number, -Fraction(MAX)), Fraction(MAX)))
