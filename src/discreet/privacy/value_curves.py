"""The value of a curve that goes up or down in steps: a distribution function, a survival curve."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.errors import BadInput
from discreet.privacy.exact import show
from discreet.privacy.value_arrays import Described, matching


@dataclass(frozen=True, slots=True, eq=False)
class StepCurve(Described):
    """Shares of people, `heights`, at the places `at`; called with a place it says the share at the last one up to it.

    `falls` says that it goes down from 1, as a survival curve does; otherwise it goes up from 0.

    >>> alive = StepCurve(np.array([1.0, 2.0, 5.0]), np.array([0.9, 0.7, 0.4]), falls=True)
    >>> alive(0.5), alive(2.0), alive([1.0, 4.9]).tolist(), alive.reaches(0.5)
    (1.0, 0.7, [0.9, 0.7], 5.0)
    """

    at: Any
    heights: Any
    falls: bool = False

    def __post_init__(self) -> None:
        matching(self.at, self.heights)
        if not len(self.at) or not (np.diff(self.at) > 0).all():
            raise BadInput("the places of a curve must grow")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.heights, dtype=dtype)

    def __len__(self) -> int:
        return len(self.at)

    def _entries(self) -> list[tuple[str, Any]]:
        return [(f"{place:,.6g}", high) for place, high in zip(self.at.tolist(), self.heights.tolist(), strict=True)]

    def __call__(self, t: Any) -> Any:
        """The share at t: that of the last place up to it."""
        places = np.asarray(t, dtype=float)
        heights = np.append(1.0 if self.falls else 0.0, self.heights)
        found = heights[np.searchsorted(self.at, places, side="right")]
        return float(found) if places.ndim == 0 else found

    def reaches(self, share: float) -> float | None:
        """The first place at which it has come to a share, 0.5 for a median; None if it does not."""
        known = np.nan_to_num(self.heights, nan=1.0 if self.falls else 0.0)
        there = np.flatnonzero(known <= share if self.falls else known >= share)
        return float(self.at[there[0]]) if len(there) else None

    def table(self) -> dict[str, Any]:
        """A row for each place."""
        return {"at": self.at, "share": self.heights}

    def describe(self) -> str:
        """From where to where, and where half of the people are."""
        half = self.reaches(0.5)
        return f"{self}{'' if half is None else f'; half is reached at {show(half)}'}."

    def __str__(self) -> str:
        known = self.heights[~np.isnan(self.heights)]
        shares = f": shares from {show(known[0])} to {show(known[-1])}" if len(known) else ""
        return f"{len(self.at)} places from {show(self.at[0])} to {show(self.at[-1])}{shares}"
