"""Multiples of a public unit among float64 numbers: which they are, and how far they are told from each other."""

from fractions import Fraction
from typing import Any, Final

import numpy as np
import numpy.typing as npt

CELLS: Final = 2**49  # units to either side of 0 [choose_float.4]
LARGEST_PART: Final = 2**1000  # of 1 that a unit may be to be divided by


def in_cells(values: Any, unit: Fraction) -> npt.NDArray[np.bool_]:
    """Whether floats are between so many units that each multiple is told from the next. [choose_float.4]"""
    edge = float(multiples(np.float64(CELLS), unit))
    return np.asarray((values >= -edge) & (values < edge))  # by place, as a quotient is rounded


def quotients(values: Any, unit: Fraction) -> npt.NDArray[np.float64]:
    """Values in units, as floats."""
    with np.errstate(all="ignore"):
        return np.asarray(values, dtype=np.float64) / float(unit)


def multiples(times: Any, unit: Fraction) -> npt.NDArray[np.float64]:
    """So many units, as floats: divided by a whole number where a unit is a part of 1, so that 3 tenths are 0.3."""
    with np.errstate(all="ignore"):
        part = unit.numerator == 1 and unit.denominator < LARGEST_PART
        return np.asarray(times / float(unit.denominator) if part else times * float(unit))
