"""A ball that holds nearly all rows, where none is public.

Releases
    A median of each column, and 1.25 times a distance from that point which few rows exceed.
Promise
    [enclose.1] The costs are d choices and one more, under both relations.
Why
    [enclose.1] `middle` of each column, [locate.1]; then the distance of each row from the released point is a
    fixed function of that row, its entries squared and added in one order, and `far_distance` is [locate.2].
Needs
    n epsilon of about 100 for each choice, and four times as many rows as are left outside, (2 / epsilon) (7 + ln
    1000).
Accuracy
    The rows left outside are pulled to the surface, which moves centres less than the noise does.
Source
    Smith 2011, over float64.
"""

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from discreet.accounting.allocation import Allocation
from discreet.errors import BadInput
from discreet.models.assign import LARGEST, SMALLEST, WIDEST, Ball, lengths
from discreet.privacy.exact import is_number
from discreet.privacy.loss import Choice
from discreet.privacy.mechanism import Randomness
from discreet.privacy.neighbours import Neighbours
from discreet.stages.locate import far_distance, middle
from discreet.tables.matrix import Rows, in_one

NATS: Final = 7 + math.log(1000)  # what it takes not to overshoot: 7 of prior, and a chance of 1 in 1000
WIDER: Final = 1.25


@dataclass(frozen=True, slots=True)
class Search:
    """What a search for a ball costs: a choice for each column, and one for the radius."""

    column: Choice
    radius: Choice

    @classmethod
    def of(cls, stages: Allocation) -> "Search | None":
        """The parts `columns` and `radius`, or None where there are none."""
        return cls(stages.part("columns", Choice), stages.part("radius", Choice)) if "radius" in stages else None

    @property
    def beyond(self) -> int:
        """How many rows are left outside. Public."""
        return math.ceil(2 * NATS / float(self.radius.epsilon))


def find_ball(rows: Rows, search: Search, neighbours: Neighbours, rng: Randomness) -> Ball:
    """A ball that holds all but about `beyond` rows. [enclose.1]"""
    table = in_one(rows)
    medians = [
        middle(np.ascontiguousarray(column), cost=search.column, neighbours=neighbours, rng=rng) for column in table.T
    ]
    centre = np.clip(np.array(medians), -LARGEST, LARGEST)  # [enclose.1]
    with np.errstate(all="ignore"):
        apart = np.sqrt(lengths(table - centre, 2))
    radius = far_distance(apart, centre=0.0, beyond=search.beyond, cost=search.radius, rng=rng)  # [enclose.1]
    return Ball(centre, min(max(WIDER * radius, SMALLEST), LARGEST))


def given_ball(radius: float | None, centre: object, width: int) -> Ball | None:
    """The public ball, around 0 unless it has a centre; None if there is none."""
    if radius is None:
        return None
    middle_ = np.zeros(width) if centre is None else np.asarray(centre, dtype=np.float64)
    if middle_.shape != (width,):
        raise BadInput(
            f"centre has the shape {middle_.shape}; give a number for each of {width} columns, or None for 0"
        )
    return Ball(middle_, float(radius))


def check_ball(radius: object, centre: object) -> None:
    """A public ball: a radius, and a centre only with it."""
    if radius is None:
        if centre is not None:
            raise BadInput("a centre is given without a radius; give both, or neither, and a ball is found privately")
        return
    if not is_number(radius) or not SMALLEST <= radius <= LARGEST:  # type: ignore[operator]
        raise BadInput(f"radius is {radius!r}; give the radius of a ball known to hold the rows, or None")
    if centre is None:
        return
    point = _array(centre)
    if point.ndim != 1 or point.dtype.kind not in "iuf" or not np.isfinite(point).all() or len(point) > WIDEST:
        raise BadInput(f"centre is {centre!r}; give a finite number for each column, or None for 0")


def fixed(centre: object) -> tuple[float, ...] | None:
    """A centre as a value that a frozen mechanism can hold; anything odd is left for `check_ball` to refuse."""
    if isinstance(centre, np.ndarray | list | tuple) and _array(centre).ndim == 1:
        return tuple(_array(centre).tolist())
    return centre  # type: ignore[return-value]


def _array(centre: object) -> "np.ndarray[Any, Any]":
    """A centre as an array; one without dimensions if its rows differ in length, which numpy would raise for."""
    try:
        return np.asarray(centre)
    except ValueError:
        return np.array(None)
