"""The columns of a regression's rows: what is public of each, which entries count, and the way back to its units."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np

from discreet.accounting.allocation import Allocation
from discreet.stages.clip import Floats
from discreet.stages.declared import Bounds
from discreet.stages.gram import Rows
from discreet.stages.octaves import place_of
from discreet.tables.matrix import any_entry
from discreet.tables.streams import column_of, each

WIDE: Final = 16.0  # units that hold all but a few entries
UNIFORM: Final = math.sqrt(3)  # half-widths of an even distribution in standard deviations
HIDDEN: Final = (
    "the noise is larger than what the rows show of {}; bring about {:.0f} times as many rows, or multiply epsilon by "
    "that; or leave one of these columns out, perhaps nearly the same for everybody, or nearly a sum of others"
)


TOO_FEW: Final = (
    "there are about {:.0f} rows, by a noisy count, and a regression of so many columns takes about {:.0f} at this "
    "epsilon and delta; bring {:.0f} rows, or multiply epsilon by {:.1f}. Fewer columns, or columns with public "
    "bounds=, need fewer rows"
)


@dataclass(frozen=True, slots=True)
class DesignColumn:
    """What is public about a column: bounds, a centre and a unit; or nothing."""

    name: str
    bounds: Bounds | None = None
    place: tuple[float, float] | None = None

    @classmethod
    def of(cls, name: str, bounds: Bounds | None, *, centred: bool) -> "DesignColumn":
        """A column with these bounds, or none; its unit is about a standard deviation."""
        if bounds is None:
            return cls(name)
        low, high = (float(end) for end in bounds)
        if centred:
            return cls(name, (low, high), (low / 2 + high / 2, (high / 2 - low / 2) / UNIFORM))
        return cls(name, (low, high), (0.0, max(abs(low), abs(high)) / UNIFORM))


CONSTANT: Final = DesignColumn("the intercept", None, (0.0, 1.0))


def placed(
    rows: Rows,
    columns: tuple[DesignColumn, ...],
    costs: Allocation,
    size: float,
    drawn: dict[str, Any],
    *,
    usual: bool = False,
) -> tuple[Floats, Floats] | str:
    """The centre and the unit of each column, found where they are not public; or why there is none. `size` is the
    number of rows, public or released. A unit is above all entries but a few, or `usual`: about a standard deviation.
    [newton_stages.1]"""
    places = [
        column.place or place_of(column_of(rows, index), costs, size=size, **drawn)
        for index, column in enumerate(columns)
    ]
    if None in places:  # [newton_stages.2]
        constant = columns[places.index(None)].name
        return f"{constant!r} is the same for most people, by noisy counts; leave it out, or give its bounds"
    found = [_usual(place, size) if usual else place[:2] for place in places if place]
    centres, units = (np.array(listed) for listed in zip(*found, strict=True))
    return centres, units


def _usual(place: tuple[float, ...], size: float) -> tuple[float, float]:
    """The centre, and the root mean square of all of about `size` entries: those that are not seen are near it."""
    if len(place) == 2:
        return place[0], place[1]
    centre, top, square, count = place
    return centre, max(square * math.sqrt(min(count / size, 1.0)), top / WIDE)


def reachable(rows: Rows, columns: tuple[DesignColumn, ...]) -> Rows:
    """Entries within public bounds, infinite ones without bounds missing; then a row with a missing entry is missing as
    a whole, or its predictors would be in H and its score in no sum. An array may be changed. [newton_stages.3]"""
    found: Rows = each(within(columns), rows)
    return found


def within(columns: tuple[DesignColumn, ...]) -> Callable[[Floats], Floats]:
    """What `reachable` does to some rows; to rows that it was done to, nothing more. [newton_stages.3]"""
    return partial(_reachable, columns=columns)


def _reachable(rows: Floats, *, columns: tuple[DesignColumn, ...]) -> Floats:
    rows = rows if rows.flags.writeable else rows.copy()
    for place, column in enumerate(columns):
        values = rows[:, place]
        if column.bounds is not None:
            np.clip(values, *column.bounds, out=values)  # [newton_stages.3]
        else:
            values[np.isinf(values)] = math.nan  # [newton_stages.3]
    rows[any_entry(np.isnan, rows)] = math.nan  # [newton_stages.3]
    return rows


def own_units(columns: tuple[DesignColumn, ...], centres: Floats, units: Floats) -> tuple[Floats, Floats]:
    """From coefficients of entries less their centres, over their units, to those of the columns themselves."""
    own, place = np.diag(units[-1] / units[:-1]), np.zeros(len(units) - 1)
    if columns[0] is CONSTANT:
        own[0, 1:] = -centres[1:-1] * own.diagonal()[1:]
        place[0] = centres[-1]
    return own, place


def blamed(direction: Floats, columns: tuple[DesignColumn, ...]) -> str:
    """The columns that a direction is made of."""
    large = np.flatnonzero(np.abs(direction) > np.abs(direction).max() / 3)
    named = [repr(columns[place].name) for place in large if columns[place] is not CONSTANT]
    return " and ".join(named[:4]) or "the columns together"
