"""The stages of a covariance of any shape: places of columns, turns to a round frame, and a sum that cuts few rows.

Releases
    Under ADD_OR_REMOVE a noisy count. For each column a median and noisy counts of octaves around it. In turn, some
    times: counts of the lengths of rows in the frame so far, a constant among their entries, and the noisy sum of
    their outer products in a ball that leaves 15% of them outside, which makes the next frame and centre. In the last
    frame: counts of lengths, or of their squares less a public number (stages/squared_tail.py), the noisy sum of outer
    products in a ball that leaves a few rows outside, and the noisy sum of the squares of products of two entries, with
    many columns after counts of the lengths of these squares.
Promise
    [free_covariance.1] The stages cost what `loss` lists, under both relations, and that is within (epsilon, delta).
    [free_covariance.2] The plan reads public numbers; every later choice, and whether it ends early, reads released
          ones too. A row enters each stage by a fixed function of itself and of what was released before; no value
          raises.
    [free_covariance.3] The error of an entry has three parts, which `FreeMoment` gives: sampling, by the fourth moments
          of the columns whatever their distribution; noise, which is known; and what the ball takes from the sum, at
          most the cut rows' excess, by the tail of all rows' lengths.
    [free_covariance.4] So has that of the mean: sampling, by the variances; noise; and what the ball takes.
Why
    [free_covariance.1] Adaptive composition of [locate.1], [octaves.1], [gram.2] and [gram.3]; the parts are those of
    an allocation with the slack of all draws kept: [allocation.2].
    [free_covariance.2] By reading `plan` and `find`: the count is len(rows) only where that is public; [gram.4].
    [free_covariance.3] With u the rows in the frame and w = (1/2, u), the mean of u u' less that of u times itself is
    the covariance. Its noise is a symmetric matrix N of deviations s on the diagonal and s / sqrt 2 off it: an entry h'
    N g has the variance s^2 (|h|^2 |g|^2 + (h g)^2) / 2. The noise of the mean, t in each entry, enters by its square,
    of which the expectation is taken off: what is left has deviations sqrt(2) t^2 on the diagonal and t^2 off it, as a
    part of N, and is the larger one where s is above a third. It enters times the mean of u too, which is small as the
    frame is centred. A noisy number of rows
    multiplies S - I, as under ADD_OR_REMOVE the sum of u u' - I is released. An entry of the sample covariance has the
    variance (E z_i^2 z_j^2 - S_ij^2) / n, z the columns about their means; half the noise of the first is added to it,
    and what its tail tells of the rows that are cut: the longer one of two tails where noise may have
    made it so. What the ball takes is E, the sum of (1 - (R / l)^2) u u' over rows of length l beyond R: no eigenvalue
    is below 0, and their sum is at most e, the excess of l^2. For h and g of length 1 and any unit vector v, h'v v'g is
    between (h'g - 1) / 2 and (h'g + 1) / 2: so h'E g is e h'g / 2, which is added, but for e / 2 at most, for which the
    half-width allows as [least_squares.3] does.
    [free_covariance.4] With c the constant entry, the sum of c u over c is that of u, and its noise s / (c sqrt 2). A
    row of length l beyond the radius R counts as u R^2 / l^2: it loses l - R^2 / l <= 2 (l - R) at most.
Needs
    Noise on the sum, as an operator, below the number of rows; columns that some hundred rows show at epsilon 1. A row
    with a missing entry is in no sum: under REPLACE, where sums are divided by the public number of all rows, it lowers
    the covariance by its share.
Accuracy
    Noise of R^2 / mu (ADD_OR_REMOVE, sqrt 2 times that under REPLACE) on the sum, mu with more than half of the budget,
    R the length that a few times 1 / mu rows exceed, and no more than what makes the noise, as an operator, as large as
    I: an octave that is full by chance, or a tail without end, costs width and no more than that. The constant is
    larger where there are many columns: the noise of the mean is that of the sum over it, and with 1/2 it was a third
    of what kept 30 columns from being round. The answer `drawn` has its entries beside the diagonal, in the frame,
    drawn towards 0 as in stages/shrinkage.py. A turn is drawn towards the diagonal by as much as its noise explains:
    columns that hardly depend on each other are not turned by noise, which would make rows longer. Directions that the
    noise of all turns hides are not round: their variance has an error as large as that of others.
Source
    Biswas, Dong, Kamath and Ullman 2020 (CoinPress) for turns; James and Stein 1961 and Efron and Morris 1972 for the
    answer; octaves and tails are ours (stages/octaves.py).
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.accounting.allocation import STRONGEST, Allocation, Share
from discreet.privacy.exact import Number, exact
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Choice, Gaussian, Loss
from discreet.privacy.mechanism import Randomness, what_to_do
from discreet.stages.clip import Floats
from discreet.stages.gram import Frame, Rows, gram_cost, lengths, noisy_gram, noisy_sum, sum_cost
from discreet.stages.octaves import (
    Tail,
    column_cost,
    counts_cost,
    counts_noise,
    least_seen,
    noisy_size,
    place_of,
    tail_cost,
    tail_of,
)
from discreet.stages.shrinkage import apart_from, to_diagonal
from discreet.stages.squared_tail import Doubted, Lengths, SquaredTail, rows_beyond, squared_tail
from discreet.tables.matrix import any_entry, columns_of
from discreet.tables.streams import Numbers, Stream, added, chosen, fold

COUNT, COLUMNS, TAIL, LATE = (Fraction(part, 1000) for part in (5, 100, 10, 60))  # of mu squared
FOURTHS: Final = (Fraction(80, 1000), Fraction(30, 1000))  # of it: few columns, many
TURNS: Final = (Fraction(40, 1000), Fraction(120, 1000))  # a turn: of several, of a single one
MEDIAN: Final = (Fraction(55, 100), Fraction(35, 100))  # of a column's share: rows are replaced, added or removed
SEVERAL: Final = 16  # columns up to which there are several turns
MIDDLE: Final = 80.0  # rows times epsilon that find a centre of 1e5 deviations
LOST: Final = "the noise is larger than what the rows show; bring more rows, or use a larger epsilon"
ONE: Final = (0.5, 0.25)  # the constant entry of a row in a frame: at least, over the root of the number of columns
OUTSIDE: Final = 0.15  # of the rows in a turn
OFTEN: Final = (0.6, 2.0)  # over mu: how many rows are cut in the last sum
EXCESS: Final = 0.3  # deviations of noise: by how much they may be cut, all together
FREER: Final = 4.0  # times as many rows, and by as much, where there are many columns, of which each has its part
ROUND: Final = 1.5  # by how much the ball's radius is that of a typical row, at least
PAIRED: Final = 64  # columns up to which every pair of them has its own fourth moment
EVEN: Final = 0.3  # the slope of a tail below which lengths are nearly the same
FARTHER: Final = 1.6  # times as long as by the frame before
SHOWN: Final = 0.2  # of the rows, in an octave: so many must be seen


@dataclass(frozen=True, slots=True, eq=False)
class Fourths:
    """Rows seen as squares of products of two entries each, or of each with itself."""

    inner: Frame

    @property
    def pairs(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Which entries."""
        each = np.arange(self.inner.size)
        return np.triu_indices(len(each)) if len(each) <= PAIRED else (each, each)

    @property
    def size(self) -> int:
        """Pairs."""
        return len(self.pairs[0])

    @property
    def step(self) -> float:
        """What one stands for."""
        return self.inner.step**4

    @property
    def kernel(self) -> tuple[Frame, tuple[npt.NDArray[Any], npt.NDArray[Any]]]:
        """What compiled passes need to know."""
        return self.inner, self.pairs

    def turned(self, rows: Floats) -> tuple[Floats, npt.NDArray[np.bool_] | None]:
        """Of each row: two products each, one after the other. [free_covariance.2]"""
        seen, lost = self.inner.turned(rows)
        first, second = self.pairs
        return np.square(seen[first] * seen[second]), lost  # [free_covariance.2]


@dataclass(frozen=True, slots=True, kw_only=True)
class FreeStages:
    """What each stage costs, all of it public."""

    rows: int | None
    columns: int
    costs: Allocation
    one: float = 0.0  # the constant entry over the radius of the last ball, at least: it weighs the mean

    @property
    def loss(self) -> Loss:
        """Every draw. [free_covariance.1]"""
        return self.costs.loss

    @property
    def neighbours(self) -> Neighbours:
        """By whether the number of rows is public."""
        return Neighbours.ADD_OR_REMOVE if self.rows is None else Neighbours.REPLACE

    @property
    def moved(self) -> float:
        """The noise of the last sum in units of the ball's squared radius."""
        moved = 1.0 if self.rows is None else math.sqrt(2)
        return moved / float(self.costs.part("square", Gaussian).mu)

    def ball(self, long: Lengths, size: float) -> tuple[float, float]:
        """The radius of the last ball, and how many rows it leaves outside, by their tail: few, but no radius whose
        noise would hide I. [free_covariance.2]"""
        freer = self.moved * (1.0 if self.columns <= SEVERAL else FREER)
        cut = long.most(OFTEN[0] * self.moved, OFTEN[1] * freer, EXCESS * freer, power=2)
        radius, farthest = float(long.at(cut)), math.sqrt(size / self.moved / math.sqrt(2 * self.columns))
        return (radius, cut) if radius <= farthest else (farthest, rows_beyond(long, farthest))

    def enough(self, size: float) -> bool:
        """Whether every stage will find what it looks for; `size` is public or released. [free_covariance.2]"""
        nats = MIDDLE if self.rows is not None else MIDDLE / 2  # half the sensitivity
        loud = self.moved * (math.sqrt(self.columns) + ROUND) ** 2 * math.sqrt(2 * self.columns)
        return (
            size * float(self.costs.part("centre", Choice).epsilon) >= nats
            and all(
                SHOWN * size >= least_seen(self.costs.part(name, Gaussian), self.neighbours)
                for name in ("unit", "lengths", "late")
            )
            and loud <= size
        )

    def counted(self, rows: Rows, rng: Randomness) -> float:
        """How many rows have no missing entry, with noise; all of them where their number is public.
        [free_covariance.1]"""
        if self.rows is not None:
            return float(len(rows))
        present = fold(count_finite, added, rows)
        return noisy_size(present, cost=self.costs.part("count", Gaussian), rng=rng)  # [free_covariance.1]


def plan(epsilon: Number, delta: Number, rows: int | None, columns: int, one: float = 0.0) -> FreeStages:
    """The stages for rows of so many columns. Public numbers only. [free_covariance.2]"""
    neighbours = Neighbours.ADD_OR_REMOVE if rows is None else Neighbours.REPLACE
    pairs = Fourths(Frame.of(np.ones(columns), np.eye(columns))).size
    several, median = columns <= SEVERAL, MEDIAN[rows is None]
    shares: dict[str, Share | None] = {
        "count": Share(COUNT, lambda mu: counts_cost(mu, 1, neighbours)) if rows is None else None,
        "centre": Share(COLUMNS * median, Choice, columns),
        "unit": Share(COLUMNS * (1 - median), lambda mu: column_cost(mu, neighbours), columns),
    }
    times = 3 if several else 1
    shares |= {
        "lengths": Share(times * TAIL, lambda mu: tail_cost(mu, neighbours), times),
        "turns": Share(times * TURNS[0] if several else TURNS[1], _gram(columns + 1, neighbours), times),
        "late": Share(LATE, lambda mu: tail_cost(mu, neighbours)),
        "square": Share(None, _gram(columns + 1, neighbours, less=rows is None)),
        "products": None if several else Share(TAIL, lambda mu: tail_cost(mu, neighbours)),
        "fourth": Share(FOURTHS[not several], lambda mu: sum_cost(mu, pairs, neighbours)),
    }
    off = Fraction(0)
    for share in shares.values():
        drawn = None if share is None or share.cost is None else share.cost(Fraction(STRONGEST))
        if share is not None and isinstance(drawn, Gaussian):
            off += share.times * exact(drawn.slack)
    costs = Allocation.of(epsilon, delta, slack=off, lower=True).split(**shares)  # [free_covariance.1]
    return FreeStages(rows=rows, columns=columns, costs=costs, one=one)


def too_few(size: int, columns: int, stages: Callable[[int | None], FreeStages], epsilon: Number) -> str:
    """What to do about so few rows, by a number that is public or was released. [free_covariance.2]"""
    public, needed = stages(1).rows is not None, 16
    while needed < 2**40 and not stages(needed).enough(needed):
        needed = needed * 21 // 20 + 1
    off = 0.0 if public else 3 / float(stages(None).costs.part("count", Gaussian).mu)  # the next count is noisy too
    to_do = what_to_do(size, epsilon, needed + off, "give fewer columns", noisy=False, scales=False)
    return (
        f"there are {'' if public else 'about '}{size} rows of {columns} columns; finding their covariance without "
        f"bounds takes about {needed} at this epsilon and delta; {to_do}"
    )


def _gram(size: int, neighbours: Neighbours, *, less: bool = False) -> Callable[[Fraction], Gaussian]:
    return lambda mu: gram_cost(mu, size, neighbours, less=less)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FreeMoment:
    """What was found. Columns less their means are `back` @ u; `inside` is the covariance of u, `drawn` the same drawn
    towards 0 beside the diagonal, `noise` that of its diagonal, `counted` the relative error of the number of rows.

    Of z, the columns in units of `scales`: the means of squares of products, half of their noise and the tail added.
    `place` is the mean, with `shift` the noise of each entry of it in the frame and `lost` what the ball may take from
    it. `ball` is the last frame, its centre, the constant entry and the radius: rows beyond are multiplied by the
    square of the radius over their length.
    """

    inside: Floats
    drawn: Floats
    back: Floats
    noise: float
    counted: float
    bias: float
    fourths: Floats
    size: float
    often: float
    place: Floats
    shift: float
    lost: float
    fourth: float  # no less than the mean of |u|^4
    ball: tuple[Floats, Floats, float, float]

    @property
    def scales(self) -> Floats:
        """The deviation of each column, more or less."""
        return np.asarray(np.linalg.norm(self.back, axis=1))


def finite_rows(rows: Floats) -> Floats:
    """Those without a missing or an infinite entry."""
    return rows[~_endless(rows)]


def count_finite(given: Iterator[Floats]) -> int:
    """A kernel: how many such rows there are."""
    return sum(len(piece) - int(_endless(piece).sum()) for piece in given)


def _endless(rows: Floats) -> npt.NDArray[np.bool_]:
    return any_entry(lambda entries: ~np.isfinite(entries), rows)


def _longest(found: Numbers, stages: FreeStages, size: float, before: Tail, drawn: dict[str, Any]) -> Lengths | None:
    """The tail of lengths in the last frame. [free_covariance.1], [free_covariance.2]

    Where those of the frame `before` are nearly the same, half octaves of them do not tell them apart, and those of
    squares do. A tail that is far longer than before may be one of noise, by one of the next few counts that are
    empty: the limit is that of the one before, and what it may cut that of both."""
    cost = stages.costs.part("late", Gaussian)
    seen: Tail | SquaredTail | None
    if stages.columns > SEVERAL and before.slope < EVEN:  # [free_covariance.2]
        seen = squared_tail(found, stages.columns, size, cost=cost, **drawn)  # [free_covariance.1]
    else:
        seen = tail_of(found, size, cost=cost, **drawn)  # [free_covariance.1]
    if seen is None:
        return None
    known = before.times(seen.typical / before.typical)
    far = seen.at(stages.moved) > FARTHER * known.at(stages.moved)
    return Doubted(known, seen) if far else seen  # [free_covariance.2], [free_covariance.3]


def _products(
    rows: Rows, frame: Frame, stages: FreeStages, cut: tuple[float, float], *, size: float, drawn: dict[str, Any]
) -> Floats:
    """The sums of squares of products of two entries, half of their noise and what is cut added: `cut` by lengths of
    rows, or with many columns by those of the squares themselves. [free_covariance.1], [free_covariance.3]"""
    fourths, (far, excess), cost = Fourths(frame), cut, stages.costs.part("fourth", Gaussian)
    loud = (1.0 if stages.rows is None else 2.0) / float(cost.mu)
    if "products" in stages.costs:
        own = tail_of(lengths(rows, fourths), size, cost=stages.costs.part("products", Gaussian), **drawn)
        if own is not None:  # [free_covariance.2]
            most = own.most(OFTEN[0] * loud, OFTEN[1] * loud, loud)
            found = float(own.at(most)), own.excess(most)
            if found[0] * loud / 2 + found[1] < far * loud / 2 + excess:  # what is added
                far, excess = found
    summed, off = noisy_sum(rows, fourths, far, "clip", cost=cost, **drawn)  # [free_covariance.1]
    products = np.zeros((stages.columns, stages.columns))
    products[fourths.pairs] = (summed + off / 2) * far + excess
    if stages.columns > PAIRED:
        products = np.sqrt(np.outer(*[np.maximum(products.diagonal(), 0.0)] * 2))
    return np.maximum(np.triu(products) + np.triu(products, 1).T, off / 2 * far)


def find(
    rows: Rows, stages: FreeStages, rng: Randomness, *, size: float, names: tuple[str, ...] = ()
) -> FreeMoment | str:
    """All stages but the count, or why they ended. [free_covariance.1], [free_covariance.2]"""
    costs, many = stages.costs, stages.columns
    own = max(ONE[0], ONE[1] * math.sqrt(many))
    drawn: dict[str, Any] = {"neighbours": stages.neighbours, "rng": rng}
    places = [place_of(column, costs, size=size, **drawn) for column in columns_of(rows, many)]
    if None in places:  # [free_covariance.2]
        lost = places.index(None)
        return f"{names[lost] if names else f'x{lost}'!r} is the same for most people, by noisy counts; leave it out"
    centre, units, sizes, shown = (np.array(each) for each in zip(*(at for at in places if at), strict=True))
    if isinstance(rows, Stream) or not math.isfinite(float(rows.sum())):  # infinite of finite rows too, never else
        rows = chosen(finite_rows, rows)  # [free_covariance.2]: others would be in no sum, but in that of I
    turn = np.diag(units / (sizes * np.sqrt(np.minimum(shown / size, 1.0))))

    def framed(turn: Floats, centre: Floats, one: float) -> Frame:
        square = np.zeros((many + 1, many + 1))
        square[0, 0], square[1:, 1:] = one, turn
        return Frame.of(np.append(1.0, units), square, np.append(0.0, centre), led=True)

    def back(turn: Floats) -> Floats:
        return np.asarray(np.linalg.solve(turn, np.eye(many)) * units[:, None])

    for _ in costs.all("turns", Gaussian):
        frame = framed(turn, centre, own)
        seen = tail_of(lengths(rows, frame), size, cost=costs.part("lengths", Gaussian), **drawn)
        if seen is None:  # [free_covariance.2]
            return LOST
        tail = seen
        radius = float(tail.at(OUTSIDE * size))
        cost = costs.part("turns", Gaussian)
        total, noise = noisy_gram(rows, frame, radius, "clip", cost=cost, **drawn)  # [free_covariance.1]
        total, noise = total * radius**2 / size, noise * radius**2 / size
        mean = total[0, 1:] / own
        centre = centre + back(turn) @ mean
        covariance, noise = to_diagonal(total[1:, 1:] - np.outer(mean, mean), noise)
        values, vectors = np.linalg.eigh(covariance)
        least = max(noise * math.sqrt(2 * many) / 2, 1e-9 * float(np.abs(values).max()), 1e-300)
        turn = (vectors / np.sqrt(np.maximum(values, 0.0) + least)) @ vectors.T @ turn
    frame = framed(turn, centre, own)
    if (long := _longest(lengths(rows, frame), stages, size, tail, drawn)) is None:  # [free_covariance.2]
        return LOST
    radius, cut = stages.ball(long, size)
    one = max(own, stages.one * radius)
    wide = math.sqrt(radius**2 + one**2 - own**2)  # the same rows are beyond
    level = 0.0 if stages.rows is not None else min(1.0, wide**2 / 2)
    cost, frame = costs.part("square", Gaussian), framed(turn, centre, one)
    second, noise = noisy_gram(rows, frame, wide, "clip", cost=cost, less=level / wide**2, **drawn)
    second, noise = second * wide**2 / size, noise * wide**2 / size  # [free_covariance.1], [free_covariance.3]
    mean, shift = second[0, 1:] / one, noise / math.sqrt(2) / one
    inside = second[1:, 1:] - np.outer(mean, mean) + (level + shift**2) * np.eye(many)  # [free_covariance.3]
    noise, way = math.hypot(noise, math.sqrt(2) * shift * shift), back(turn)  # [free_covariance.3]
    inside, scales = inside * (size / max(size - 1, 1.0)), np.linalg.norm(way, axis=1)
    seen_from = Frame.of(units, np.diag(units / scales), centre + way @ mean)
    products = _products(rows, seen_from, stages, (radius**4, long.excess(cut, 4)), size=size, drawn=drawn)
    counted = counts_noise(costs.part("count", Gaussian), stages.neighbours) if stages.rows is None else 0.0
    return FreeMoment(
        inside=inside,
        drawn=apart_from(inside, noise),
        back=way,
        noise=noise,
        counted=counted / size,
        bias=long.excess(cut, 2) / size,
        fourths=products / size,
        size=size,
        often=radius / long.typical,
        place=centre + way @ mean,
        shift=shift,
        lost=2 * long.excess(cut) / size,  # [free_covariance.4]
        fourth=long.fourth,
        ball=(turn / units, centre, one, wide),
    )
