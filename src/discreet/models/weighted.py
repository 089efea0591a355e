"""Rows of a regression with weights: what a row is seen as, times its weight, or times the root of it.

With weights w the coefficients are where the sum of the weighted scores w v r is 0. A weighted score is one vector, and
is pulled to a length as a whole, as one without a weight is: so no bound on the weights is needed, and none is asked
for. Their unit is found by noisy counts of octaves, and everything after it is about w over that unit: twice the
weights have twice the unit, and the answer has the same distribution.

Claims
    [weighted.1] `Weighted.turned`, `WeightedOutcomes.turned` and `in_units` are fixed functions of each row, given a
          unit that was released. No value raises, and none is infinite.
    [weighted.2] A weight that is missing, infinite, negative or 0 makes its row no row, by a fixed function of it.
    [weighted.3] `weight_unit` costs one column's noisy counts of octaves. For a power of two times the weights its
          distribution is that many times as large, so long as both are from 2^-20 to 2^40.
Why
    [weighted.1] What the inner view makes of a row ([gram.4], [score.2]), then a quotient, a comparison with 2^20, a
    root and a product of entries of that row alone, each correctly rounded. Inner entries are below 2^104 or 10^30, so
    products stay far below the largest float. What is added up is bent into a ball afterwards, whatever it is: the
    sensitivity is [gram.2]'s, which uses no more of it than this.
    [weighted.2] Comparisons of one entry.
    [weighted.3] [octaves.1]. Times 2^k every octave is k farther: the same counts, k bins on, with noise that has the
    same distribution in every bin. A quotient by a unit 2^k times as large is then the same float.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.accounting.allocation import Allocation
from discreet.privacy.loss import Gaussian
from discreet.stages.clip import Floats
from discreet.stages.gram import Rows, Seen, noisy_sum
from discreet.stages.octaves import column_unit
from discreet.tables.streams import column_of

MOST: Final = 2.0**20  # units: a weight beyond counts as this
EVEN: Final = 1.0  # units: a weight beyond counts as this in the mean outcome, which is a start and no more
UNWEIGHTED: Final = (
    "the weights of nearly everybody are missing or not above 0, by noisy counts; give weights above 0, bring more "
    "rows or use a larger epsilon"
)


def positive(weights: Floats) -> Floats:
    """Weights that count, others missing. [weighted.2]

    >>> positive(np.array([2.0, 0.0, -1.0, np.inf, np.nan])).tolist()
    [2.0, nan, nan, nan, nan]
    """
    return np.where((weights > 0) & np.isfinite(weights), weights, np.nan)  # [weighted.2]


def weight_unit(rows: Rows, costs: Allocation, drawn: dict[str, Any]) -> float | None:
    """About the root mean square of the weights, which end the rows; None where too few have one. [weighted.3]"""
    found = column_unit(column_of(rows, -1), 0.0, cost=costs.part("weights", Gaussian), **drawn)  # [weighted.3]
    return None if found is None else found[1]


def in_units(weights: Floats, unit: float, most: float = MOST) -> Floats:
    """Weights in units, cut; 0 where missing. [weighted.1]"""
    with np.errstate(all="ignore"):
        return np.fmin(np.fmax(weights / unit, 0.0), most)  # [weighted.1]


@dataclass(frozen=True, slots=True, eq=False)
class Weighted:
    """Rows that end in their weight: what is seen of the rest, times the weight in units, or times its root."""

    inner: Seen
    unit: float
    root: bool

    @property
    def size(self) -> int:
        """Entries of a row that is seen."""
        return self.inner.size

    @property
    def step(self) -> float:
        """What one of `turned` stands for."""
        return self.inner.step

    def turned(self, rows: Floats) -> tuple[Floats, npt.NDArray[np.bool_] | None]:
        """One column for each row, and which rows are missing, if any. [weighted.1]"""
        seen, lost = self.inner.turned(rows[:, :-1])
        factor = in_units(rows[:, -1], self.unit)
        return seen * (np.sqrt(factor) if self.root else factor), lost  # [weighted.1]


def weighed(seen: Seen, unit: float | None, *, root: bool = True) -> Seen:
    """Rows times their weight in units, or its root; without weights as they are. [weighted.1]"""
    return seen if unit is None else Weighted(seen, unit, root)


@dataclass(frozen=True, slots=True, eq=False)
class WeightedOutcomes:
    """Rows that end in outcome and weight, as two numbers: the weight times the outcome, a part of `most`, and times
    what is left of 1."""

    unit: float
    most: float

    size: int = 2
    step: float = 1.0

    def turned(self, rows: Floats) -> tuple[Floats, npt.NDArray[np.bool_] | None]:
        """One column for each row, and which rows are missing. [weighted.1]"""
        part = np.clip(rows[:, -2] / self.most, 0.0, 1.0)
        lost = np.isnan(part)
        part[lost] = 0.0
        factor = in_units(rows[:, -1], self.unit, EVEN)
        return np.stack([factor * part, factor * (1 - part)]), lost  # [weighted.1]


def weighted_rate(
    rows: Rows, unit: float, most: float, cost: Gaussian, drawn: dict[str, Any]
) -> tuple[float, float, float, float]:
    """The weighted mean outcome, cut at `most`; the sums of outcomes and of what is left, as parts of `most` and in
    rows, and their noise. [weighted.1]"""
    found, noise = noisy_sum(rows, WeightedOutcomes(unit, most), EVEN, "clip", cost=cost, **drawn)
    yes, no = (float(one) * EVEN for one in found)
    return most * yes / max(yes + no, EVEN * noise), yes, no, EVEN * noise
