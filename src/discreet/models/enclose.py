"""Where a search for clusters begins: a ball that holds nearly all rows, and seeds packed into it.

`packed` fills a ball, without data, with points that keep away from each other and from its surface. `merged`
joins weighted points, which were released, into k: by pairs, each time the two whose union costs the least (Ward), then
Lloyd's steps.

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
from functools import lru_cache, partial
from typing import Any, Final

import numpy as np
from scipy.special import ndtri

from discreet.accounting.allocation import Allocation
from discreet.errors import BadInput
from discreet.models.assign import LARGEST, SMALLEST, WIDEST, Ball, Floats, lengths
from discreet.privacy.exact import is_number
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Choice
from discreet.privacy.mechanism import Randomness
from discreet.stages.locate import far_distance, middle
from discreet.tables.matrix import Rows, Streamed, in_one
from discreet.tables.streams import column_of, each

NATS: Final = 7 + math.log(1000)  # what it takes not to overshoot: 7 of prior, and a chance of 1 in 1000
WIDER: Final = 1.25
CANDIDATES: Final = 32  # points of a low-discrepancy sequence for each seed
STEPS: Final = 50
TOGETHER: Final = 1 << 22  # numbers in memory


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
    table: Any = rows.stream if isinstance(rows, Streamed) else in_one(rows)
    columns = (column_of(table, place) for place in range(rows.width))
    medians = [middle(column, cost=search.column, neighbours=neighbours, rng=rng) for column in columns]
    centre = np.clip(np.array(medians), -LARGEST, LARGEST)  # [enclose.1]
    apart = each(partial(_apart, centre=centre), table)
    radius = far_distance(apart, centre=0.0, beyond=search.beyond, cost=search.radius, rng=rng)  # [enclose.1]
    return Ball(centre, min(max(WIDER * radius, SMALLEST), LARGEST))


def _apart(rows: Floats, *, centre: Floats) -> Floats:
    """How far each row is from a point."""
    with np.errstate(all="ignore"):
        found: Floats = np.sqrt(lengths(rows - centre, 2))
    return found


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


def packed(count: int, width: int) -> Floats:
    """`count` points in the unit ball of `width` dimensions: if a is half their least distance, all within 1 - a.

    >>> points = packed(6, 2)
    >>> points.shape, bool((np.linalg.norm(points, axis=1) < 1).all())
    ((6, 2), True)
    """
    return _packed(count, width).copy()


@lru_cache(maxsize=64)
def _packed(count: int, width: int) -> Floats:
    points = _uniform(CANDIDATES * count, width)
    chosen = [int(np.argmax((points * points).sum(axis=1)))]
    apart, least = np.full(len(points), np.inf), 2.0
    for _ in range(count - 1):  # the candidate farthest from all that were chosen
        apart = np.minimum(apart, np.linalg.norm(points - points[chosen[-1]], axis=1))
        chosen.append(int(np.argmax(apart)))
        least = min(least, float(apart[chosen[-1]]))
    return np.asarray(points[chosen] * (2 / (2 + least)))  # least / 2 from the surface, when shrunk


def _uniform(count: int, width: int) -> Floats:
    """Points of the unit ball by an additive recurrence in width + 1 dimensions (Kronecker; Roberts 2018)."""
    root = 2.0
    for _ in range(64):  # the root of x^(width + 2) = x + 1
        root = (1 + root) ** (1 / (width + 2))
    steps = (1 / root) ** np.arange(1, width + 2)
    shares = (0.5 + np.outer(np.arange(1, count + 1), steps)) % 1.0
    normal = ndtri(np.clip(shares[:, :width], 1e-9, 1 - 1e-9))
    length = np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-12)
    return np.asarray(normal / length * shares[:, width:] ** (1 / width))


def merged(points: Floats, weights: Floats, k: int) -> Floats:
    """Weighted points as k centres; fewer points than k are all kept, and the heaviest ones doubled.

    >>> merged(np.array([[0.0], [1.0], [9.0]]), np.array([1.0, 1.0, 5.0]), 2).tolist()
    [[0.5], [9.0]]
    """
    centres, mass = points.astype(np.float64), np.maximum(weights, 1e-12)
    cost = np.array([_unions(centres, mass, place) for place in range(len(centres))])
    for _ in range(len(centres) - k):
        one, other = sorted(int(place) for place in np.unravel_index(int(np.argmin(cost)), cost.shape))
        both = mass[one] + mass[other]
        centres[one] = (centres[one] * mass[one] + centres[other] * mass[other]) / both
        mass[one], mass[other] = both, np.nan  # the other is no more
        cost[one] = cost[:, one] = _unions(centres, mass, one)
        cost[other] = cost[:, other] = np.inf
    centres, mass = centres[~np.isnan(mass)], mass[~np.isnan(mass)]
    heaviest = np.argsort(-mass, kind="stable")
    while len(centres) < k:
        centres = np.concatenate([centres, centres[heaviest[: k - len(centres)]]])
    return _lloyd(points, np.maximum(weights, 1e-12), centres)


def _unions(centres: Floats, mass: Floats, place: int) -> Floats:
    """What it costs to join a centre to each of the others; infinitely much to itself, or to one that is no more."""
    gaps = ((centres - centres[place]) ** 2).sum(axis=1)
    cost = gaps * (mass * mass[place] / (mass + mass[place]))
    cost[place] = np.inf
    return np.asarray(np.where(np.isnan(cost), np.inf, cost))


def _lloyd(points: Floats, weights: Floats, centres: Floats) -> Floats:
    step = max(1, TOGETHER // centres.size)
    for _ in range(STEPS):
        labels = np.concatenate([_nearest(points[at : at + step], centres) for at in range(0, len(points), step)])
        mass = np.bincount(labels, weights=weights, minlength=len(centres))
        sums = np.stack([np.bincount(labels, weights=weights * column, minlength=len(centres)) for column in points.T])
        after = np.where(mass[:, None] > 0, sums.T / np.maximum(mass, 1e-300)[:, None], centres)
        if np.array_equal(after, centres):
            break
        centres = after
    return np.asarray(centres)


def _nearest(points: Floats, centres: Floats) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    return np.asarray(np.argmin(((points[:, None] - centres[None]) ** 2).sum(axis=2), axis=1))
