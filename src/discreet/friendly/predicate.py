"""Who is a friend of whom: a symmetric predicate that reads two rows and nothing else.

Claims
    [FP1] The answer for two rows depends on these two alone, and on public numbers; it is symmetric, and never raises.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol
from warnings import catch_warnings

import numpy as np
import numpy.typing as npt

from discreet.friendly.core import Strangers
from discreet.friendly.grid import Apart, Points, Unlike
from discreet.friendly.tally import check_radius

Floats = npt.NDArray[np.float64]
Truths = npt.NDArray[np.bool_]


class Predicate(Protocol):
    """Whatever can say of the rows of a table which of them are not friends."""

    def strangers(self, rows: Floats) -> Strangers:
        """The predicate on these rows."""


@dataclass(frozen=True, slots=True)
class Within:
    """Friends are at most `radius` apart, both rounded to a grid of radius / 2^15; 0: friends are equal.

    >>> Within(1.0).strangers(np.array([[0.0], [0.5], [3.0]])).block(0, 1)
    array([[False, False,  True]])
    """

    radius: float

    def __post_init__(self) -> None:
        check_radius(self.radius)

    def strangers(self, rows: Floats) -> Strangers:
        """The predicate on these rows, exactly ([FG2] of grid.py)."""
        return Apart(Points.of(rows, self.radius)) if self.radius else Unlike(rows)  # [FP1]


@dataclass(frozen=True, slots=True)
class Pairwise:
    """Friends are whom a function of two rows calls so, both ways round; a row with a NaN or infinity has none.

    The function must keep nothing in mind between calls: nobody can check that for you.
    """

    function: Callable[[Floats, Floats], Any]

    def strangers(self, rows: Floats) -> Strangers:
        """The predicate on these rows."""
        return _Asked(self.function, rows)


class _Asked:
    """Strangers by a function, pair by pair."""

    def __init__(self, function: Callable[[Floats, Floats], Any], rows: Floats) -> None:
        self.size = len(rows)
        self._function, self._rows, self._finite = function, rows, np.all(np.isfinite(rows), axis=1)

    def block(self, start: int, stop: int) -> Truths:
        """Rows start..stop-1 against rows start..: True where they are not friends."""
        found = [[not self._friends(i, j) for j in range(start, self.size)] for i in range(start, stop)]
        return np.array(found, dtype=np.bool_).reshape(stop - start, self.size - start)

    def _friends(self, i: int, j: int) -> bool:
        if not (self._finite[i] and self._finite[j]):
            return False
        return self._ask(i, j) and self._ask(j, i)  # [FP1]

    def _ask(self, i: int, j: int) -> bool:
        try:
            with catch_warnings(action="ignore"), np.errstate(all="ignore"):
                return bool(self._function(self._rows[i].copy(), self._rows[j].copy()))
        except Exception:  # noqa: BLE001  [FP1]: whatever two rows do to the function, it does not raise
            return False
