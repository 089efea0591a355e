"""Bins of columns: between public bounds, of public categories, or found where most rows are.

Releases
    For each column of numbers without declared bounds a float64 near its median and the noisy number of rows in each
    octave of the distance from it. The bins follow from these.
Promise
    [column_bins.1] Finding bins costs a quarter of the budget: a part for each centre and for each column's octaves.
    [column_bins.2] The bin of an entry is a fixed function of that entry and of edges or categories that are public or
          were released; it never raises.
Why
    [column_bins.1] [locate.1] and [octaves.1] for each column whose bins are found; edges are computed of what they
    release. The parts are exact fractions of epsilon, or of mu squared ([allocation.1], [allocation.2]).
    [column_bins.2] As the code reads: [entries.1], then a search among edges or a look-up.
Needs
    72 / epsilon_c rows, epsilon_c the part of each centre.
Accuracy
    The middle bins are about a sixth of the root mean square wide; the outer ones reach from 3.6 of them on.
Source
    One noise for all octaves of a column: ours.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.accounting.allocation import Allocation, Share
from discreet.errors import BadInput, Refused
from discreet.privacy.declaration import Columns
from discreet.privacy.exact import Number, show
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Choice
from discreet.privacy.mechanism import Randomness, what_to_do
from discreet.stages.declared import LARGEST, check_bounds
from discreet.stages.locate import middle
from discreet.stages.octaves import column_cost, column_unit, least_seen
from discreet.statistics.histogram import Categories
from discreet.tables.entries import long_numbers, numbers

FIND: Final = Fraction(1, 4)  # of the budget, for bins; a quarter of it for centres
OUT: Final = 2.0  # sinh of it, 3.6, are the root mean squares from the centre within which bins are
PLACED: Final = 72  # over the epsilon of a centre: rows that place it
MOST_BINS: Final = 64
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Meeting:
    """Where the bins of a column of numbers meet. [column_bins.2]"""

    edges: tuple[float, ...]

    @property
    def bins(self) -> int:
        """One more than edges, and one for entries that are missing."""
        return len(self.edges) + 2

    def indices(self, entries: Any) -> Integers:
        """The bin of each entry; the last for what is no number. [column_bins.2]"""
        values = numbers(entries)
        found = np.searchsorted(np.array(self.edges, dtype=float), values, side="right")
        return np.where(np.isnan(values), len(self.edges) + 1, found).astype(np.int64)


Side = Categories | Meeting | None


def width_of(side: Side, bins: int) -> int:
    """How many bins a column has, the one for entries that are missing or not listed among them."""
    return bins + 1 if side is None else side.bins if isinstance(side, Meeting) else len(side) + 1


def levels_of(sides: Sequence[Categories | Meeting]) -> tuple[tuple[tuple[Any, ...], ...], tuple[bool, ...]]:
    """Where the bins of each column meet or which categories it has, and whether they are numbers."""
    measured = tuple(isinstance(side, Meeting) for side in sides)
    return tuple(side.edges if isinstance(side, Meeting) else side.names for side in sides), measured


def check_bins(bins: Any) -> None:
    """BadInput unless it is a number of bins."""
    if not isinstance(bins, int) or isinstance(bins, bool) or not 2 <= bins <= MOST_BINS:
        raise BadInput(f"bins is {bins!r}; give how many bins a column of numbers has, 2 to {MOST_BINS}")


def finding(unknown: int, delta: Number, neighbours: Neighbours) -> dict[str, Share]:
    """The shares of the draws that find bins of so many columns. [column_bins.1]"""
    if not unknown:
        return {}
    unit = None if not delta else lambda mu: column_cost(mu, neighbours)
    return {"centre": Share(FIND / 4, Choice, unknown), "unit": Share(FIND * 3 / 4, unit, unknown)}  # [column_bins.1]


def check_rows(
    size: int | None, stages: Allocation, unknown: int, neighbours: Neighbours, *, epsilon: Number, delta: Number
) -> None:
    """Refuse fewer rows than place the columns, where their number is public. [column_bins.1]"""
    if size is None or not neighbours.size_is_public or not unknown:
        return
    placed = PLACED / float(stages.part("centre", Choice).epsilon)
    needed = math.ceil(max(placed, 2 * least_seen(stages.noise("unit"), neighbours)))
    if size < needed:
        to_do = what_to_do(size, epsilon, needed, "give public bounds", noisy=False)
        raise Refused(
            f"there are {size} rows; to find bins for {unknown} columns takes {needed} at epsilon "
            f"{show(epsilon)} and delta {show(delta)}; {to_do}"
        )


def found_bins(entries: Any, stages: Allocation, bins: int, neighbours: Neighbours, rng: Randomness) -> Meeting:
    """Bins that are narrow near the centre and wide away from it. [column_bins.1]"""
    values = long_numbers(entries)
    centre = middle(values, cost=stages.part("centre", Choice), neighbours=neighbours, rng=rng)
    cost = stages.noise("unit")
    reach = column_unit(values, centre, cost=cost, neighbours=neighbours, rng=rng)  # [column_bins.1]
    unit = (abs(centre) * 2.0**-10 or 1.0) if reach is None else reach[1]
    centre = min(max(centre, -LARGEST), LARGEST)
    edges = centre + unit * np.sinh(np.linspace(-OUT, OUT, bins - 1))
    return Meeting(tuple(np.unique(edges).tolist()))


def sides_of(X: Columns, levels: Any, bounds: Any, bins: int) -> tuple[Side, ...]:  # noqa: N803
    """What is public of each column: its categories, its bounds, or nothing."""
    levels = {} if levels is None else levels
    if not isinstance(levels, Mapping) or not set(levels) <= set(X.names):
        raise BadInput(f"levels are {levels!r:.80}; give lists of categories by column, of {', '.join(X.names[:8])}")
    numbered = [one for one in X.names if one not in levels]
    if isinstance(bounds, Mapping) and not set(bounds) <= set(numbered):
        raise BadInput(f"bounds are {bounds!r:.80}; give pairs by column of numbers, of {', '.join(numbered[:8])}")
    pairs = dict(bounds) if isinstance(bounds, Mapping) else dict.fromkeys(numbered, bounds)
    sides: list[Side] = []
    for one, kind in zip(X.names, X.kinds, strict=True):
        if one not in levels and kind in ("text", "category"):
            raise BadInput(f"{one!r} holds categories; list them, as in levels={{{one!r}: [...]}}, or leave it out")
        sides.append(Categories.of(levels[one]) if one in levels else _meeting(pairs.get(one), kind, bins))
    return tuple(sides)


def _meeting(pair: Any, kind: str, bins: int) -> Meeting | None:
    """Bins of one width between public bounds, and of yes and no; None where they are to be found."""
    if pair is None:
        return Meeting((0.5,)) if kind == "boolean" else None
    check_bounds(pair)
    whole = isinstance(bins, int) and not isinstance(bins, bool) and 2 <= bins <= MOST_BINS
    return Meeting(tuple(np.linspace(float(pair[0]), float(pair[1]), bins + 1)[1:-1].tolist())) if whole else None


def by_place(columns: Mapping[str, Any]) -> Any:
    """Columns by place, the class last."""
    given = columns["X"]
    parts = list(given.values()) if isinstance(given, Mapping) else list(np.asarray(given).T)
    return {str(place): part for place, part in enumerate([*parts, columns["y"]])}
