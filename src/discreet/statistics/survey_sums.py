"""The sums of a survey: each record as whole numbers of steps, added up where the records are.

Records are rows of a value and a weight, and of cluster and stratum where there are clusters. What is made of one is a
function of itself and of what was released ([survey.1] of survey.py), so that the sums are the same however rows are
cut ([streams.1]).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.stages.clip import Floats, steps_of
from discreet.statistics.survey_design import Design, Steps, floats
from discreet.tables.streams import Numbers, added, each, fold

Records = npt.NDArray[Any]


def values_of(rows: Any) -> Numbers:
    """The first column."""
    found: Numbers = each(_values, rows, np.float64)
    return found


def weights_of(rows: Any) -> Numbers:
    """The second; 0 where an entry is no weight."""
    found: Numbers = each(_weights, rows, np.float64)
    return found


def _values(rows: Records) -> Floats:
    return floats(rows[:, 0])


def _weights(rows: Records) -> Floats:
    weights = floats(rows[:, 1])
    return np.where((weights > 0) & np.isfinite(weights), weights, 0.0)


@dataclass(frozen=True, slots=True)
class Units:
    """What a value and a weight are counted in: all of it is public, or was released.

    A weight is a part of the `largest`, in steps of 2^-bits; a value less the `centre` a part of the `radius`, cut to
    `bounds` before where there are any, missing ones as 0.
    """

    largest: float
    centre: float
    radius: float
    bits: int
    bounds: tuple[float, float] | None = None
    design: Design | None = None

    def of(self, rows: Records) -> tuple[Steps, Steps]:
        """Weights and values in steps. [survey.1]"""
        half, values = 2**self.bits, _values(rows)
        if self.bounds is not None:
            values = np.clip(np.where(np.isnan(values), 0.0, values), *self.bounds)
        with np.errstate(all="ignore"):
            weighed = np.floor(np.minimum(_weights(rows) / self.largest, 1.0) * half).astype(np.int64)
        (steps,) = steps_of(values, self.centre, self.radius, bits=self.bits)
        return weighed, steps

    def sums(self, rows: Any) -> tuple[list[int], list[int], int]:
        """Of the upper and of the lower parts of weights, by cluster where there are clusters; and of what weights
        leave of 1. [survey.1]"""
        many = 1 if self.design is None else len(self.design.strata)
        found: npt.NDArray[Any] = fold(partial(_sums, units=self, many=many), added, rows)
        return found[:many].tolist(), found[many : 2 * many].tolist(), int(found[-1])

    def squares(self, rows: Any, about: float, far: float, bits: int) -> int:
        """The sum of the squares of weights times how far values are from `about`, at most `far`. [survey.1]"""
        return fold(partial(_squares, units=self, about=about, far=far, bits=bits), added, rows)


def _sums(given: Iterator[Records], *, units: Units, many: int) -> npt.NDArray[Any]:
    """A kernel: the sums, as Python's integers."""
    half, found = 2**units.bits, np.zeros(2 * many + 1, dtype=object)
    for rows in given:
        weighed, steps = units.of(rows)
        upper = weighed * (steps + half) // (2 * half)  # [survey.1]
        mine = np.zeros(len(rows), dtype=np.int64) if units.design is None else units.design.cluster(rows)
        for first, part in ((0, upper), (many, weighed - upper)):
            sums = np.zeros(many + 1, dtype=np.int64)
            np.add.at(sums, mine, part)  # those in no cluster, -1, come last
            found[first : first + many] += sums[:many].astype(object)
        found[-1] += int((half - weighed).sum())
    return found


def _squares(given: Iterator[Records], *, units: Units, about: float, far: float, bits: int) -> int:
    """A kernel: the sum of squares, in steps."""
    half, found = 2**units.bits, 0
    for rows in given:
        weighed, steps = units.of(rows)
        scaled = weighed * (steps / half - about) / (far * half)
        found += int(np.floor(np.minimum(scaled**2, 1.0) * 2**bits).astype(np.int64).sum())  # [survey.1]
    return found
