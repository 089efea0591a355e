"""The stages of least squares without bounds: places, scales, a frame in which rows look round, and one Gram matrix.

A row is (1, x, y); a regression is the last step of the Cholesky factorisation of the sum of its outer products. So in
the frame that the factor of an earlier, noisier sum makes, y is what that sum left unexplained, and the noise of the
last sum is in units of residuals, not of y.

Releases
    Under ADD_OR_REMOVE a noisy count. For each column without public bounds a median and a distance from it that a
    share of rows exceeds. Two or three times the noisy sum of v v' over rows in the frame so far, pulled to a public
    length, whose factor makes the next frame. Last, a length that few rows exceed and the noisy
    sum of v v' over rows pulled to it.
Promise
    [square_stages.1] The stages cost what `loss` lists, under both relations, and that is within (epsilon,
    delta).
    [square_stages.2] The plan reads public numbers; every later choice, and whether it ends early, reads released ones
    too.
    [square_stages.3] A row enters each stage by a fixed function of itself and of what was released before; no value
    raises.
Why
    [square_stages.1] Adaptive composition of [locate.1] and [locate.2], on columns and on lengths, and of [gram.2] and
    [gram.3] of stages/gram.py; a count moves by 1 under ADD_OR_REMOVE, [additive.2]. The parts are those of
    an allocation with the slack of all draws kept: [allocation.2]. Under REPLACE early stages read some rows only,
    chosen by their places and public numbers: a changed row is then among them once or not at all.
    [square_stages.2] By reading `plan` and `find`: the count is len(rows) only where that is public.
    [square_stages.3] `reachable` compares entries one by one with released numbers and clips to public ones; then
    [gram.4] of stages/gram.py. A row with a missing entry, or one beyond what the frame can hold, is no row.
Needs
    About 50 rows for each 1 / epsilon of a choice; noise of the last sum well below the number of rows.
Accuracy
    Noise of standard deviation R^2 / mu (ADD_OR_REMOVE R^2 / (sqrt 2 mu)) on each sum of x r, R^2 about twice the
    number of columns, x of variance 1 and r in units of residuals: beside sampling errors of sqrt n.
Source
    Sheffet 2017 and Wang 2018 (AdaSSP) for noisy second moments; Biswas, Dong, Kamath and Ullman 2020 (CoinPress) for
    rounds of them. No bounds, one sum in place of three, and the frame of residuals are ours.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np

from discreet.accounting.allocation import CHOICE, STRONGEST, Allocation, Share
from discreet.noise.integers import LARGEST_SCALE
from discreet.noise.lattice import slack
from discreet.privacy.exact import Number, exact
from discreet.privacy.loss import Choice, Gaussian, Loss
from discreet.privacy.mechanism import Randomness
from discreet.privacy.neighbours import Neighbours
from discreet.stages.clip import Floats
from discreet.stages.declared import LARGEST, SMALLEST, Bounds
from discreet.stages.gram import FINE, Frame, gram_cost, noisy_gram
from discreet.stages.locate import far_distance, middle, some_places
from discreet.statistics.covariance_stages import part
from discreet.statistics.whiten import NATS, lengths

COUNT_BITS: Final = 34  # a count leaves in steps of 2^-34
HELD: Final = 63.0  # units of a column: a frame holds entries up to 64
UNIFORM: Final = math.sqrt(3)  # half-widths of an even distribution in standard deviations
MANY: Final = 1 << 17  # rows that are enough for a turn
SOME: Final = 1 << 15  # and for a column's place
PLACE, SCALE = 160.0, 450.0  # rows times epsilon that a centre and a distance would like
TURN_NOISE: Final = 0.2  # of a turn, as an operator: what is below it is not evened out
WIDEST_TURN: Final = 3.0  # times the typical length of a row in its frame
FAR: Final = 80.0  # rows times epsilon that find a centre of 1e5 deviations: 4 (15 of prior + 5)
UNKNOWN: Final = 5_000  # rows for which the shares are made where their number is private


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


CONSTANT: Final = DesignColumn("constant", None, (0.0, 1.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class SquareStages:
    """What each stage costs, all of it public."""

    rows: int | None
    width: int
    costs: Allocation

    @property
    def loss(self) -> Loss:
        """Every draw. [square_stages.1]"""
        return self.costs.loss

    @property
    def neighbours(self) -> Neighbours:
        """By whether the number of rows is public."""
        return Neighbours.ADD_OR_REMOVE if self.rows is None else Neighbours.REPLACE

    def noise(self, size: float) -> float:
        """The likely size, as an operator, of the noise on the mean of v v' in the last frame, where I is wanted."""
        moved = 1.0 if self.rows is None else math.sqrt(2)
        return (
            moved
            * 1.5
            * self.width
            / (size * float(self.costs.part("square", Gaussian).mu))
            * math.sqrt(2 * self.width)
        )

    def enough(self, size: float) -> bool:
        """Whether every stage will find what it looks for; `size` is public or released. [square_stages.2]"""
        looked = min(size, SOME) if self.rows is not None else size
        middle_nats = FAR if self.rows is not None else FAR / 2  # half the sensitivity
        choices = {"centre": middle_nats, "scale": 2 * NATS, "reach": 2 * NATS}
        return self.noise(size) <= 0.5 and all(
            name not in self.costs or looked * float(self.costs.part(name, Choice).epsilon) >= least
            for name, least in choices.items()
        )

    def turn_radius(self, size: float) -> float:
        """How long rows may be in a turn: from the typical length up, as the noise allows. [square_stages.2]"""
        moved = 1.0 if self.rows is None else math.sqrt(2)
        wanted = TURN_NOISE * size * float(self.costs.part("turns", Gaussian).mu) / (moved * math.sqrt(2 * self.width))
        return math.sqrt(min(max(wanted, self.width), WIDEST_TURN**2 * self.width))

    @property
    def beyond(self) -> int:
        """How many rows the last ball leaves outside: as few as can be found. [square_stages.2]"""
        return math.ceil(NATS / float(self.costs.part("reach", Choice).epsilon))


def plan(epsilon: Number, delta: Number, rows: int | None, width: int, unknown: int, *, centred: bool) -> SquareStages:
    """The stages for rows of `width` entries, of which `unknown` columns have no bounds. Public numbers only.
    [square_stages.2]"""
    neighbours = Neighbours.ADD_OR_REMOVE if rows is None else Neighbours.REPLACE
    size = UNKNOWN if rows is None else max(rows, 1)
    turns = 3 if width > 3 else 2

    def gram_noise(mu: Fraction) -> Gaussian:
        return gram_cost(mu, width, neighbours)

    most = Fraction(STRONGEST)
    off = (turns + 1) * exact(gram_noise(most).slack)
    if rows is None:
        off += exact(_counted(most).slack)
    whole = Allocation.of(epsilon, delta, slack=off)  # [square_stages.1]
    square, looked = float(whole.amount) ** 2, min(size, MANY)

    def wanted(times: int, nats: float, least: float, largest: float) -> Fraction:
        return part(times * (nats / looked) ** 2 / float(CHOICE) / square, least, largest) if times else Fraction(0)

    plenty = 0.02 if size > MANY else 0.0  # a choice takes the longer, the less it costs
    centre = wanted(unknown if centred else 0, PLACE, max(plenty, 0.004), 0.12)
    scale = wanted(unknown, SCALE, max(plenty, 0.006), 0.13)
    turn = part((2 * width**1.5 * WIDEST_TURN**2 / (TURN_NOISE * looked)) ** 2 / square, 0.01, 0.06)
    reach = wanted(1, 3000, 0.01, 0.03)
    costs = whole.split(
        count=Share(Fraction(1, 100), _counted) if rows is None else None,
        centre=Share(centre, Choice, unknown) if centre else None,
        scale=Share(scale, Choice, unknown) if scale else None,
        turns=Share(turns * turn, gram_noise, turns),
        reach=Share(reach, Choice),
        square=Share(None, gram_noise),
    )  # [square_stages.1]
    return SquareStages(rows=rows, width=width, costs=costs)


def _counted(mu: Fraction) -> Gaussian:
    """The cost of a count with this mu, its slack included."""
    return Gaussian(mu, slack(1, math.ceil(2 ** _count_bits(mu) / mu)))


def _count_bits(mu: Fraction) -> int:
    """How fine the steps of a count are: fewer where noise of this cost would be too wide for the integers."""
    bits = COUNT_BITS
    while bits > 8 and 2**bits > LARGEST_SCALE * mu:
        bits -= 1
    return bits


def least_rows(stages: Callable[[int], SquareStages]) -> int:
    """The least number of rows, within a twentieth, that is enough for the stages made for it. [square_stages.2]"""
    rows = 16
    while rows < 2**40 and not stages(rows).enough(rows):
        rows = rows * 21 // 20 + 1
    return rows


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Squares:
    """What was found: the sum of v v' over rows in a frame, its noise on the diagonal, and how many rows there are.

    v is `turn` times the row's entries, each less its centre and over its unit.
    """

    turn: Floats
    centres: Floats
    units: Floats
    total: Floats
    noise: float
    size: float
    radius: float


def find(rows: Floats, columns: tuple[DesignColumn, ...], stages: SquareStages, rng: Randomness) -> Squares | str:
    """All stages on rows of which one column is the constant 1, or why they ended. `rows` is changed.
    [square_stages.1]"""
    costs = stages.costs
    size = float(len(rows)) if stages.rows is not None else _count(len(rows), costs.part("count", Gaussian), rng)
    if not stages.enough(size):  # [square_stages.2]
        needed = least_rows(lambda _: stages)
        safe = math.ceil(1.05 * needed + 3 / float(costs.part("count", Gaussian).mu))  # the next count is noisy too
        return (
            f"there are about {max(size, 0):.0f} rows, by a noisy count, and a regression of so many columns takes "
            f"about {needed} at this epsilon and delta; bring {safe} rows, or ask for a larger epsilon. Fewer columns, "
            "or columns with public bounds=, need fewer rows"
        )
    early = rows[some_places(len(rows), MANY)] if stages.rows is not None else rows  # [square_stages.1]
    few = len(early) if stages.rows is not None else size
    some = early[some_places(len(early), SOME)] if stages.rows is not None else rows  # [square_stages.1]
    seen = len(some) if stages.rows is not None else size
    places = [_place(some[:, index], column, stages, seen, rng) for index, column in enumerate(columns)]
    for column, (_, unit) in zip(columns, places, strict=True):
        if not SMALLEST < unit < LARGEST:  # [square_stages.2]
            return f"the values of {column.name!r} are mostly the same, or not of this world; give bounds for it"
    centres, units = (np.array(listed) for listed in zip(*places, strict=True))
    for block in (rows,) if early is rows or np.shares_memory(early, rows) else (early, rows):
        reachable(block, columns, centres, units)  # [square_stages.3]
    turn, radius = np.eye(stages.width), stages.turn_radius(few)
    for cost in costs.all("turns", Gaussian):
        frame = Frame.of(units, turn, centres)
        total, noise = noisy_gram(
            early, frame, radius, "clip", cost=cost, neighbours=stages.neighbours, rng=rng
        )  # [square_stages.1]
        turn = factor(total * radius**2 / few, noise * radius**2 / few) @ applied(frame)
    frame = Frame.of(units, turn, centres)
    if not np.diagonal(frame.whole).all():  # [square_stages.2]: rounded away
        return "some columns are nearly the same as others; leave them out"
    reach = costs.part("reach", Choice)
    # [square_stages.1]
    radius = far_distance(lengths(early, frame), centre=0.0, beyond=stages.beyond, cost=reach, rng=rng)
    radius = min(max(radius, math.sqrt(stages.width) / 2), HELD * math.sqrt(stages.width))
    total, noise = noisy_gram(
        rows, frame, radius, "clip", cost=costs.part("square", Gaussian), neighbours=stages.neighbours, rng=rng
    )  # [square_stages.1]
    return Squares(
        turn=applied(frame),
        centres=centres,
        units=units,
        total=total * radius**2,
        noise=noise * radius**2,
        size=size,
        radius=radius,
    )


def _count(size: int, cost: Gaussian, rng: Randomness) -> float:
    """The number of rows plus noise; at least 1."""
    bits = _count_bits(exact(cost.mu))
    blurred: int = rng.blur(size << bits, sensitivity=1 << bits, cost=cost)  # [square_stages.1]
    return max(1.0, float(Fraction(blurred, 1 << bits)))


def _place(
    values: Floats, column: DesignColumn, stages: SquareStages, size: float, rng: Randomness
) -> tuple[float, float]:
    """Where a column is and how far it reaches: public, or released. [square_stages.1]"""
    from scipy.special import ndtri

    if column.place is not None:
        return column.place
    values = np.ascontiguousarray(values)
    cost, centre = stages.costs.part("scale", Choice), 0.0
    if "centre" in stages.costs:
        centre = middle(
            values, cost=stages.costs.part("centre", Choice), neighbours=stages.neighbours, rng=rng
        )  # [square_stages.1]
    beyond = math.ceil(max(NATS / float(cost.epsilon), size / 20))
    distance = far_distance(values, centre=centre, beyond=beyond, cost=cost, rng=rng)  # [square_stages.1]
    return centre, distance / float(-ndtri(min(beyond / size, 0.9) / 2))


def reachable(rows: Floats, columns: tuple[DesignColumn, ...], centres: Floats, units: Floats) -> None:
    """In place: entries within public bounds, and rows that a frame cannot hold missing. [square_stages.3]"""
    with np.errstate(all="ignore"):
        for place, column in enumerate(columns):
            values = rows[:, place]
            if column.bounds is not None:
                np.clip(values, *column.bounds, out=values)  # [square_stages.3]
            elif column.place is None:
                values[np.abs(values - centres[place]) > HELD * units[place]] = math.nan  # [square_stages.3]


def applied(frame: Frame) -> Floats:
    """What the frame does to entries less their centres and over their units, its rounding included."""
    return np.asarray(frame.step * 2.0**FINE * frame.whole)


def factor(matrix: Floats, noise: float) -> Floats:
    """The inverse of the Cholesky factor of a noisy symmetric matrix, its eigenvalues not below the size of the noise.

    >>> factor(np.array([[4.0, 0.0], [0.0, -1.0]]), 0.5).tolist()
    [[0.5, 0.0], [0.0, 1.0]]
    """
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    floor = max(noise * math.sqrt(2 * len(matrix)), 1e-9 * float(np.abs(values).max()), 1e-300)
    lower = np.linalg.cholesky((vectors * np.maximum(values, floor)) @ vectors.T)
    return np.asarray(np.linalg.inv(lower))
