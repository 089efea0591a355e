"""A density that was released: steps, a polygon through them, its distribution function and quantiles.

Everything is computed from released numbers.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput
from discreet.promise.exact import show

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """A density on `edges` with `heights` between them; called with a number or an array it says how high it is.

    `below` and `above` are the shares of people beyond the ends. `fine` are the ends of narrow cells and `reached` the
    share of people up to each of them: what `cdf` and `quantile` read. As an array it is its heights.
    """

    edges: Floats
    heights: Floats
    below: float
    above: float
    fine: Floats
    reached: Floats

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Floats:
        return np.array(self.heights, dtype=dtype)

    def __call__(self, t: Any) -> Any:
        """The height at t: that of its bin, 0 beyond the ends."""
        places = np.asarray(t, dtype=float)
        found = np.searchsorted(self.edges, places, side="right") - 1
        found = np.where(places == self.edges[-1], len(self.heights) - 1, found)
        inside = (found >= 0) & (found < len(self.heights))
        high = np.where(inside, self.heights[np.clip(found, 0, len(self.heights) - 1)], 0.0)
        return float(high) if places.ndim == 0 else high

    def polygon(self, t: Any) -> Any:
        """The frequency polygon at t: straight lines between the bins' middles. Closer to a smooth density.

        The first and the last line go on to the ends, or to 0; beyond the ends it is 0.
        """
        places = np.asarray(t, dtype=float)
        high = np.interp(places, *self.corners, left=0.0, right=0.0)
        return float(high) if places.ndim == 0 else high

    @property
    def corners(self) -> tuple[Floats, Floats]:
        """Where the polygon's lines meet: places and heights."""
        middles = (self.edges[:-1] + self.edges[1:]) / 2
        if len(middles) == 1:
            return self.edges, np.repeat(self.heights, 2)
        part = (self.edges[[0, -1]] - middles[[0, -1]]) / np.diff(middles)[[0, -1]]  # of the way to the next middle
        first, last = np.maximum(self.heights[[0, -1]] + part * np.diff(self.heights)[[0, -1]], 0.0)
        places = np.concatenate([self.edges[:1], middles, self.edges[-1:]])
        return places, np.concatenate([[first], self.heights, [last]])

    def cdf(self, t: Any) -> Any:
        """The share of people up to t. What lies beyond the ends is counted at the ends."""
        places = np.asarray(t, dtype=float)
        share = np.interp(places, self.fine, self.reached, left=0.0, right=1.0)
        return float(share) if places.ndim == 0 else share

    def quantile(self, q: Any) -> Any:
        """The least t with at least a share q of people up to it, within the ends."""
        shares = np.asarray(q, dtype=float)
        if not ((shares > 0) & (shares < 1)).all():
            raise BadInput(f"q is {q!r}; give shares between 0 and 1, for example 0.5")
        found = crossing(self.fine, self.reached, shares)
        return float(found) if shares.ndim == 0 else found

    def __str__(self) -> str:
        top = int(np.argmax(self.heights))
        return (
            f"{len(self.heights)} bins from {show(self.edges[0])} to {show(self.edges[-1])}, "
            f"highest ({show(self.heights[top])}) between {show(self.edges[top])} and {show(self.edges[top + 1])}"
        )


def crossing(places: Floats, reached: Floats, shares: Floats) -> Floats:
    """Where a distribution function, straight between `places`, first reaches each share; at the ends if nowhere."""
    after = np.clip(np.searchsorted(reached, shares, side="left"), 0, len(places) - 1)
    before = np.maximum(after - 1, 0)
    rise = reached[after] - reached[before]
    part = np.where(rise > 0, (shares - reached[before]) / np.where(rise > 0, rise, 1.0), 1.0)
    return np.asarray(places[before] + np.clip(part, 0.0, 1.0) * (places[after] - places[before]), dtype=float)


def on_simplex(masses: Floats) -> Floats:
    """The nearest shares: none below 0, with sum 1."""
    ordered = np.sort(masses)[::-1]
    excess = (np.cumsum(ordered) - 1) / np.arange(1, len(ordered) + 1)
    kept = int(np.flatnonzero(ordered > excess)[-1])
    return np.asarray(np.maximum(masses - excess[kept], 0.0), dtype=float)
