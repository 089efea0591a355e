"""A frame: rows centred, turned and scaled by what is public or was released, in whole numbers that nobody can reorder.

Claims
    [frame.1] `turned` and `plain` are fixed functions of one row: neither the other rows, nor their number, nor the
          row's place, nor blocks, threads or the linear algebra library change a bit of it, and no value raises. A row
          with a missing entry, or with infinite ones that cancel, is flagged by `turned`.

Why
    (x - centre) * per, `rint` and saturation are single correctly rounded operations on one entry each. The entries are
    then whole numbers of at most 2^26, those of `whole` at most 2^(26 - ceil(log2 d)), so every partial sum of a
    product of d of them is a whole number of at most 2^52: exact in float64 in any order, with or without fused
    operations. `plain` adds products column by column, one rounding after the other.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from discreet.stages.clip import Floats

ENTRY: Final = 26  # bits of an entry
FINE: Final = 20  # of them below the unit: entries reach 64 units
MOST: Final = 1 << 13  # rows at a time
SMALL: Final = 1 << 18  # multiplications at a time: so few are not worth a library's threads


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """y = step * whole @ rint((x - centre) * per): every field is public or was released."""

    centre: Floats
    per: Floats
    whole: Floats
    step: float

    @classmethod
    def of(cls, units: Floats, turn: Floats, centre: Floats | None = None) -> "Frame":
        """The frame nearest to y = turn @ ((x - centre) / units)."""
        size = len(units)
        largest = float(2 ** (ENTRY - math.ceil(math.log2(max(size, 2)))))  # [frame.1]
        step = float(np.abs(turn).max()) / largest
        whole = np.clip(np.rint(turn / step), -largest, largest)
        place = np.zeros(size) if centre is None else np.asarray(centre, dtype=np.float64)
        return cls(place, 2.0**FINE / np.asarray(units), whole, step / 2**FINE)

    def at(self, centre: Floats) -> "Frame":
        """The same frame about another centre."""
        return Frame(np.asarray(centre, dtype=np.float64), self.per, self.whole, self.step)

    @property
    def matrix(self) -> Floats:
        """y = matrix @ (x - centre), but for the rounding of entries to 2^-20 units and their end at 64."""
        return self.step * self.whole * self.per

    def back(self, turned: Floats) -> Floats:
        """The difference from the centre that looks like this; of a matrix, its columns'."""
        return np.linalg.solve(self.step * self.whole, turned) / (self.per if turned.ndim == 1 else self.per[:, None])

    def turned(self, rows: Floats) -> tuple[Floats, npt.NDArray[np.bool_] | None]:
        """whole @ entries, one column for each row, all of them whole numbers; and which rows are missing, if any."""
        entries = np.empty((rows.shape[1], len(rows)))
        with np.errstate(all="ignore"):
            for column, (entry, place, per) in enumerate(zip(entries, self.centre, self.per, strict=True)):
                np.subtract(rows[:, column], place, out=entry)
                np.multiply(entry, per, out=entry)
        np.rint(entries, out=entries)
        np.clip(entries, -(2.0**ENTRY), 2.0**ENTRY, out=entries)  # [frame.1]
        lost: npt.NDArray[np.bool_] | None = None
        if math.isnan(float(entries.sum())):
            lost = np.asarray(np.isnan(entries).any(axis=0))
            entries[:, lost] = 0.0
        return self.whole @ entries, lost  # [frame.1]: exact in any order

    def plain(self, rows: Floats) -> Floats:
        """matrix @ x for each row x, in float64 and a fixed order: for rows whose centre is not known yet."""
        matrix = self.matrix
        with np.errstate(all="ignore"):
            found = np.zeros((len(rows), len(matrix)))
            for column in range(rows.shape[1]):
                found += rows[:, column, None] * matrix[:, column]  # [frame.1]
        return found


def blocks(rows: Floats, size: int) -> Iterator[Floats]:
    """Rows in blocks that stay in the cache: what they are changes nothing but the time. [frame.1]"""
    step = min(MOST, max(256, SMALL // size**2))
    for start in range(0, len(rows), step):
        yield rows[start : start + step]
