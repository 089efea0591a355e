"""Rows as points on a public grid, and which of them are within a radius of each other: exactly.

Promise
    [grid.1] Each row becomes a point, or is invalid, by a fixed function of itself and public numbers. Values never
          raise: a row with an entry that is not finite, or out of reach, is invalid and nobody's friend.
    [grid.2] Whether two points are friends is one exact comparison of whole numbers: the same bit whatever the other
          rows are, whatever the blocks, the number of threads or the order of the machine's sums.
Why
    [grid.1] The unit is radius / 2^15. x / radius * 2^15, rounded to the nearest whole number, is arithmetic on one
    entry.
    [grid.2] Friends: |p - q|^2 <= 2^30 in units. Take any whole centre c, and cut p - c to [-2^19, 2^19] in each
    coordinate. All products, and all sums of at most 2^13 of them, are whole numbers below 2^52, so |p|^2 + |q|^2 - 2
    pq is exact in float64 in any order; more columns are taken 2^13 at a time, and each share is cut to 2^31, which
    leaves the comparison with 2^30 as it is. Call p near if |p - c| <= 2^18 in each coordinate. If p is near, cutting
    q changes no answer: a coordinate of q that is cut lies at least 2^18 > 2^15 from p's, before and after. Of two
    points that are not near the coordinates are subtracted as whole numbers.
Accuracy
    Rounding moves a point by at most 2^-16 of the radius in each coordinate. How long it takes depends, in the main, on
    numbers of rows and columns; rows far from the middle of the data cost more, if there are many.
Source
    Ozaki, Ogita, Oishi and Rump 2012 for exact products by floating-point matrix multiplication.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.noise.integers import compiled

UNITS: Final = 2**15  # in a radius
NEAR: Final = 2**18
BOX: Final = 2**19
COLUMNS: Final = 2**13  # at a time
FARTHEST: Final = 52  # points beyond 2^52 units would not be whole numbers apart
Floats = npt.NDArray[np.float64]
Steps = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Rows in units of radius / 2^15; what an invalid one holds has no meaning."""

    steps: Steps
    valid: Truths

    @classmethod
    def of(cls, rows: Floats, radius: float, bits: int = FARTHEST) -> "Points":
        """Each row as a point at most 2^bits units from 0 in each coordinate, or as an invalid one. [grid.1]"""
        with np.errstate(all="ignore"):
            scaled = np.rint(rows / radius * UNITS)  # [grid.1]
            valid = np.all(np.abs(scaled) <= 2.0**bits, axis=1)  # not for a NaN
        steps = np.where(valid[:, None], scaled, 0.0).astype(np.int64)
        return cls(steps, valid)

    def __len__(self) -> int:
        return len(self.valid)

    def __getitem__(self, chosen: Any) -> "Points":
        """Some of the rows."""
        return Points(self.steps[chosen], self.valid[chosen])


class Apart:
    """Which points are not friends, block by block."""

    def __init__(self, points: Points) -> None:
        self.size = len(points)
        self._points = points
        centre = middle(points)
        shifted = points.steps - centre
        self._far = np.any(np.abs(shifted) > NEAR, axis=1) & points.valid
        boxed = np.clip(shifted, -BOX, BOX).astype(np.float64)
        width = max(1, boxed.shape[1])
        self._parts = [np.ascontiguousarray(boxed[:, at : at + COLUMNS]) for at in range(0, width, COLUMNS)]
        self._squares = [np.einsum("ij,ij->i", part, part) for part in self._parts]

    def block(self, start: int, stop: int) -> Truths:
        """Rows start..stop-1 against rows start..: True where they are not friends. [grid.2]"""
        total: Any = 0.0
        for part, squares in zip(self._parts, self._squares, strict=True):
            square = part[start:stop] @ part[start:].T
            square *= -2.0
            square += squares[start:stop, None]
            square += squares[None, start:]  # [grid.2]
            total = total + (np.minimum(square, 2.0 * UNITS**2) if len(self._parts) > 1 else square)
        apart: Truths = total > float(UNITS**2)  # [grid.2]
        self._settle(apart, start, stop)
        apart[~self._points.valid[start:stop]] = True
        apart[:, ~self._points.valid[start:]] = True  # [grid.1]
        return apart

    def _settle(self, apart: Truths, start: int, stop: int) -> None:
        """Two far points are compared by their differences."""
        here, there = np.flatnonzero(self._far[start:stop]), np.flatnonzero(self._far[start:])
        if not len(here):
            return
        one, other = self._points.steps[start + here], self._points.steps[start + there]
        for index, point in zip(here.tolist(), one, strict=True):
            apart[index, there] = far_apart(point, other)  # [grid.2]


def far_apart(point: Steps, others: Steps) -> Truths:
    """Whether each of the others is more than a radius away, by whole numbers alone."""
    if compiled():
        from discreet._compiled.friendly_kernels import beyond

        found: Truths = beyond(point, others, UNITS**2)
        return found
    moved = np.minimum(np.abs(others - point), 2 * UNITS)
    return np.asarray(np.einsum("ij,ij->i", moved, moved) > UNITS**2)


def middle(points: Points) -> Steps:
    """Whole numbers near most of the points; which ones they are changes nothing but the time. [grid.2]"""
    valid = points.steps[points.valid]
    if not len(valid):
        return np.zeros(points.steps.shape[1], dtype=np.int64)
    half = len(valid) // 2
    return np.asarray(np.partition(valid, half, axis=0)[half])


class Unlike:
    """Which rows are not equal: the friends of radius 0."""

    def __init__(self, rows: Floats) -> None:
        self.size = len(rows)
        finite = np.all(np.isfinite(rows), axis=1)
        bits = np.ascontiguousarray(np.where(finite[:, None], rows, 0.0) + 0.0).view(np.int64)  # -0 is 0
        labels = np.unique(bits, axis=0, return_inverse=True)[1] if bits.size else np.zeros(self.size)
        self._labels, self._finite = labels.reshape(-1), finite

    def block(self, start: int, stop: int) -> Truths:
        """Rows start..stop-1 against rows start..: True where they differ. [grid.2]"""
        apart: Truths = self._labels[start:stop, None] != self._labels[None, start:]
        apart[~self._finite[start:stop]] = True
        apart[:, ~self._finite[start:]] = True
        return apart
