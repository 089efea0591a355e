"""The stages of least squares without bounds: a unit for each column, a frame, and two Newton steps on clipped scores.

With v = (1, (x - m) / c) and r the residual of v at some coefficients, the least-squares coefficients are where the sum
of the scores v r is 0. A score is pulled to a length T that hardly any exceeds: x and r themselves are not cut. What
that moves, the sampling error (a sum of squared scores, whatever the residuals' variances) and the noise are all known.

Releases
    Under ADD_OR_REMOVE a noisy count. For each column without public bounds a median and noisy counts of octaves around
    it. In turn: counts of the lengths of (v, y) and the noisy sum of their outer products, which makes a frame u = A v
    and a first fit; the noisy sum H of u u'; counts of the lengths of the scores u r
    and their noisy sum, which makes a second fit; once more both there, and last the noisy sum of outer products of
    the scores.
Promise
    [newton_stages.1] The stages cost what `loss` lists, under both relations, and that is within (epsilon, delta).
    [newton_stages.2] The plan reads public numbers; every later choice, and whether it ends early, reads released ones
          too.
    [newton_stages.3] A row enters each stage by a fixed function of itself and of what was released before; no value
          raises.
    [newton_stages.4] A clipped score is at most T long, in steps `longest`: the sum of scores costs what a sum of rows
          in a ball does, and the sum of their outer products what a Gram matrix does.
Why
    [newton_stages.1] Adaptive composition of [locate.1], [octaves.1] on columns and on lengths, of [gram.2] and
    [gram.3] on rows, and of [newton_stages.4]. The parts are those of an allocation with the slack of all draws kept:
    [allocation.2].
    [newton_stages.2] By reading `plan` and `find`: the count is len(rows) only where that is public.
    [newton_stages.3] `reachable` compares entries one by one with public numbers; then [gram.4]. A row with a missing
    or infinite entry is no row.
    [newton_stages.4] `gram.Scores` multiplies the exact integers of a row in a frame, one product each: a fixed
    function of the row. The rest is [gram.1] to [gram.3], whose argument uses no more of what is seen than that.
Needs
    Noise on H, as an operator, of at most half the number of rows: 1,000 rows of 5 columns at epsilon 1, delta 1e-6,
    under ADD_OR_REMOVE; for medians n epsilon_j of about 80.
Accuracy
    Noise of T / mu (ADD_OR_REMOVE; twice that under REPLACE) on each sum of scores, mu with a third of the budget.
Source
    Bassily, Smith and Thakurta 2014 (noisy gradients); Avella-Medina, Bradshaw and Loh 2023 (noisy Newton steps); White
    1980 (the sum of squared scores); Sheffet 2017. Frames without bounds and the length of the tail are ours.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np

from discreet.accounting.allocation import STRONGEST, Allocation, Share
from discreet.privacy.exact import Number, exact
from discreet.privacy.loss import Choice, Gaussian, Loss
from discreet.privacy.mechanism import Randomness
from discreet.privacy.neighbours import Neighbours
from discreet.stages.clip import Floats
from discreet.stages.declared import Bounds
from discreet.stages.gram import FINE, Frame, Scores, Seen, gram_cost, lengths, noisy_gram, noisy_sum, sum_cost
from discreet.stages.octaves import Tail, column_cost, counts_cost, noisy_size, place_of, tail_cost, tail_of

UNIFORM: Final = math.sqrt(3)  # half-widths of an even distribution in standard deviations
MANY: Final = 10  # columns from which on a frame takes more of the budget
# of mu squared: columns, the lengths of rows, of scores twice, the first sum, H, the scores twice, the squares
FEW_COLUMNS: Final = (0.11, 0.01, 0.02, 0.09, 0.08, 0.19, 0.10, 0.31, 0.09)
MANY_COLUMNS: Final = (0.10, 0.01, 0.01, 0.04, 0.13, 0.30, 0.06, 0.27, 0.08)
MEDIAN: Final = 0.35  # of a column's share
MIDDLE: Final = 80.0  # rows times epsilon that find a centre of 1e5 deviations
OUTSIDE: Final = 0.15  # of the rows in the first sum
ROUND: Final = (2.4, 1.2)  # by how much a row of H may be longer than a typical one: few columns, many
LOUD: Final = 0.17  # of the rows: the noise on H, as an operator, up to which its rows may be longer
EARLY: Final = 0.004  # of the scores in the first step
OFTEN: Final = (0.6, 2.0)  # over mu: how many scores are cut in the last step
EXCESS: Final = 0.3  # deviations of noise: by how much they may be cut, all together
SHRUNK: Final = 8.0  # by how much scores may be shorter in the last step: where most are 0 the others are hard to see
SETTLED: Final = 4.0  # deviations of noise by which the last score may differ from a small part of the one before
PULLED: Final = 0.25  # of the last step: what rows pulled in H may do to it
LOST: Final = (
    "the noise is larger than what the rows show of {}; bring more rows, leave columns out (perhaps one is nearly the "
    "same for everybody, or nearly a sum of others), or use a larger epsilon"
)
STIFF: Final = (
    "this ridge in the units of the columns is beyond the floats; rescale the columns, or give a smaller ridge"
)
UNSETTLED: Final = (
    "the steps towards the coefficients do not settle: perhaps a column takes large values for a few people only; give "
    "bounds for such columns, take their logarithm, or use a larger epsilon"
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


@dataclass(frozen=True, slots=True, kw_only=True)
class NewtonStages:
    """What each stage costs, all of it public. `width` is that of a row with its outcome."""

    rows: int | None
    width: int
    costs: Allocation

    @property
    def loss(self) -> Loss:
        """Every draw. [newton_stages.1]"""
        return self.costs.loss

    @property
    def neighbours(self) -> Neighbours:
        """By whether the number of rows is public."""
        return Neighbours.ADD_OR_REMOVE if self.rows is None else Neighbours.REPLACE

    def longest(self, size: float) -> float:
        """How long a row of H may be: some more than is typical, or what makes noise that H can bear.
        [newton_stages.2]"""
        typical = math.sqrt(self.width - 1) + ROUND[self.width > MANY]
        return max(typical, math.sqrt(LOUD / self.operator(1.0) * size))

    def moved(self, stage: str) -> float:
        """The noise on a sum of scores, over how long they are at most: public."""
        return (1.0 if self.rows is None else 2.0) / float(self.costs.part(stage, Gaussian).mu)

    def operator(self, radius: float) -> float:
        """The likely size, as an operator, of the noise on H where rows are so long."""
        moved = 1.0 if self.rows is None else math.sqrt(2)
        mu = float(self.costs.part("information", Gaussian).mu)
        return moved * radius**2 * math.sqrt(2 * (self.width - 1)) / mu

    def enough(self, size: float) -> bool:
        """Whether every stage will find what it looks for; `size` is public or released. [newton_stages.2]"""
        if "centre" in self.costs:
            nats = MIDDLE if self.rows is not None else MIDDLE / 2  # half the sensitivity
            if size * float(self.costs.part("centre", Choice).epsilon) < nats:
                return False
        return 0.7 * self.operator(math.sqrt(self.width - 1) + ROUND[self.width > MANY]) <= size / 2

    def counted(self, rows: Floats, rng: Randomness) -> float:
        """How many rows have no missing entry, with noise; all of them where their number is public.
        [newton_stages.1]"""
        if self.rows is not None:
            return float(len(rows))
        present = int(np.isfinite(rows).all(axis=1).sum())
        return noisy_size(present, cost=self.costs.part("count", Gaussian), rng=rng)  # [newton_stages.1]


def plan(epsilon: Number, delta: Number, rows: int | None, width: int, unknown: int, *, centred: bool) -> NewtonStages:
    """The stages for rows of `width` entries, of which `unknown` columns have no bounds. Public numbers only.
    [newton_stages.2]"""
    neighbours = Neighbours.ADD_OR_REMOVE if rows is None else Neighbours.REPLACE

    def gram_of(size: int) -> Callable[[Fraction], Gaussian]:
        return lambda mu: gram_cost(mu, size, neighbours)

    def tail(mu: Fraction) -> Gaussian:
        return tail_cost(mu, neighbours)

    def column(mu: Fraction) -> Gaussian:
        return column_cost(mu, neighbours)

    def score(mu: Fraction) -> Gaussian:
        return sum_cost(mu, width - 1, neighbours)

    columns, first, third, fourth, moments, information, early, _, squares = (
        Fraction(round(1000 * part), 1000) for part in (MANY_COLUMNS if width > MANY else FEW_COLUMNS)
    )
    median = Fraction(round(100 * MEDIAN), 100) if centred else Fraction(0)
    shares: dict[str, Share | None] = {
        "count": Share(Fraction(5, 1000), counted_cost) if rows is None else None,
        "centre": Share(columns * median, Choice, unknown) if unknown and centred else None,
        "unit": Share(columns * (1 - median), column, unknown) if unknown else None,
        "lengths": Share(first, tail),
        "moments": Share(moments, gram_of(width)),
        "information": Share(information, gram_of(width - 1)),
        "early": Share(third, tail),
        "step": Share(early, score),
        "late": Share(fourth, tail),
        "last": Share(None, score),
        "squares": Share(squares, gram_of(width - 1)),
    }
    return NewtonStages(rows=rows, width=width, costs=shared_out(epsilon, delta, shares))


def shared_out(epsilon: Number, delta: Number, shares: Mapping[str, Share | None]) -> Allocation:
    """The parts of (epsilon, delta), the slack of every draw kept. [newton_stages.1]"""
    off = Fraction(0)
    for share in shares.values():
        drawn = None if share is None or share.cost is None else share.cost(Fraction(STRONGEST))
        if share is not None and isinstance(drawn, Gaussian):
            off += share.times * exact(drawn.slack)
    return Allocation.of(epsilon, delta, slack=off, lower=True).split(**shares)  # [newton_stages.1]


def counted_cost(mu: Fraction) -> Gaussian:
    """The cost of the number of rows."""
    return counts_cost(mu, 1, Neighbours.ADD_OR_REMOVE)


def least_rows(stages: Callable[[int], NewtonStages]) -> int:
    """The least number of rows, within a twentieth, that is enough for the stages made for it. [newton_stages.2]"""
    rows = 16
    while rows < 2**40 and not stages(rows).enough(rows):
        rows = rows * 21 // 20 + 1
    return rows


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class NewtonStep:
    """What was found. Coefficients are `way` @ theta, theta in the frame; `value` are they, in the columns' own units.

    `inverse` is that of the information, `step` the last one of theta. Of the last scores: the noise on each entry of
    their sum, the sum of their outer products and its noise, by how much all that were cut are longer, how long they
    may be, and how often that is the typical length. `spans` are, more or less, standard deviations of
    the outcome for one of each column.
    """

    value: Floats
    way: Floats
    inverse: Floats
    information_noise: float
    step: Floats
    score_noise: float
    squares: Floats
    squares_noise: float
    size: float
    excess: tuple[float, float]
    limit: float
    often: float
    spans: Floats


def find(
    rows: Floats,
    columns: tuple[DesignColumn, ...],
    stages: NewtonStages,
    penalty: Floats,
    rng: Randomness,
    *,
    size: float,
) -> NewtonStep | str:
    """All stages but the count, or why they ended; rows end in their outcome, and are changed. `penalty` is that of
    each coefficient, in the columns' own units. [newton_stages.1]"""
    costs, many = stages.costs, stages.width - 1
    drawn: dict[str, Any] = {"neighbours": stages.neighbours, "rng": rng}
    places = [
        column.place or place_of(np.ascontiguousarray(rows[:, index]), costs, size=size, **drawn)
        for index, column in enumerate(columns)
    ]
    if None in places:  # [newton_stages.2]
        constant = columns[places.index(None)].name
        return f"{constant!r} is the same for most people, by noisy counts; leave it out, or give its bounds"
    centres, units = (np.array(listed) for listed in zip(*(place[:2] for place in places if place), strict=True))
    reachable(rows, columns)  # [newton_stages.3]

    def tail(seen: Seen, stage: str, part: Floats) -> Tail | None:
        return tail_of(lengths(part, seen), size, cost=costs.part(stage, Gaussian), **drawn)  # [newton_stages.1]

    def gram(seen: Seen, stage: str, part: Floats, radius: float) -> tuple[Floats, float]:
        total, noise = noisy_gram(part, seen, radius, "clip", cost=costs.part(stage, Gaussian), **drawn)
        return total * radius**2, noise * radius**2  # [newton_stages.1]

    plain = Frame.of(units, np.eye(stages.width), centres)
    if (found := tail(plain, "lengths", rows)) is None:  # [newton_stages.2]
        return LOST.format("their lengths")
    total, noise = gram(plain, "moments", rows, float(found.at(OUTSIDE * size)))
    turn, fit = started(total / size, noise / size)
    tall = max(_deviations(total / size, columns)[many], math.sqrt(noise / size))
    predictors, inner = np.ascontiguousarray(rows[:, :many]), Frame.of(units[:many], turn, centres[:many])
    radius = stages.longest(size)
    information, noise = gram(inner, "information", predictors, radius)
    turn = applied(inner)
    weighted = turn * (penalty / units[:many] / units[:many])
    if not np.isfinite(weighted @ turn.T).all():  # [newton_stages.2]
        return STIFF
    values, vectors = np.linalg.eigh(information + weighted @ turn.T)
    if not values[0] > noise * math.sqrt(2 * many):  # [newton_stages.2]
        return LOST.format(blamed(turn.T @ vectors[:, 0], columns))
    inverse = (vectors / values) @ vectors.T
    stretched, sides = np.linalg.eigh(turn)
    back = (sides / stretched) @ sides.T
    spans = tall / _deviations(back @ information @ back / size, columns)
    before = found
    for early in (True, False):
        scores = Scores(Frame.of(units, _with_residuals(turn, fit), centres))
        if (found := tail(scores, "early" if early else "late", rows)) is None:
            return LOST.format("the residuals")
        cost = costs.part("step" if early else "last", Gaussian)
        moved = stages.moved("step" if early else "last")
        frame = applied(scores.inner)
        per = frame[many, many]
        cut = max(EARLY * size, moved)
        if not early:
            found = found.longer(before.times(per / SHRUNK), cut)
            cut = found.most(OFTEN[0] * moved, OFTEN[1] * moved, EXCESS * moved)
        reach, before = float(found.at(cut)), found.times(1 / per)
        score, score_noise = noisy_sum(rows, scores, reach, "clip", cost=cost, **drawn)  # [newton_stages.4]
        score, score_noise = score * reach / per, score_noise * reach / per
        if early:
            settled = SETTLED * score_noise + np.linalg.norm(score) / 3 + found.excess(cut) / per
        elif not penalty.any() and np.abs(score).max() > settled + SETTLED * score_noise:  # [newton_stages.2]
            return UNSETTLED
        fit = -frame[many, :many] / per  # as the frame has it, rounded
        step = inverse @ (score - weighted @ fit)
        fit = fit + turn.T @ step
    squares, squares_noise = gram(scores, "squares", rows, reach)  # [newton_stages.4]
    own, place = own_units(columns, centres, units)
    return NewtonStep(
        value=own @ fit + place,
        way=own @ turn.T,
        inverse=inverse,
        information_noise=noise,
        step=step,
        score_noise=score_noise,
        squares=squares / per**2,
        squares_noise=squares_noise / per**2,
        size=size,
        excess=(found.excess(cut) / per, found.excess(cut, 2) / per**2),
        limit=reach / per * units[-1] ** 2,
        often=reach / found.typical,
        spans=own.diagonal() * spans,
    )


def own_units(columns: tuple[DesignColumn, ...], centres: Floats, units: Floats) -> tuple[Floats, Floats]:
    """From coefficients of entries less their centres, over their units, to those of the columns themselves."""
    own, place = np.diag(units[-1] / units[:-1]), np.zeros(len(units) - 1)
    if columns[0] is CONSTANT:
        own[0, 1:] = -centres[1:-1] * own.diagonal()[1:]
        place[0] = centres[-1]
    return own, place


def _deviations(moments: Floats, columns: tuple[DesignColumn, ...]) -> Floats:
    """Of entries, from the means of their products; 0 for the constant."""
    means = moments[0] if columns[0] is CONSTANT else np.zeros(len(moments))
    return np.sqrt(np.maximum(np.diag(moments) - means**2, 0.0))


def reachable(rows: Floats, columns: tuple[DesignColumn, ...]) -> None:
    """In place: entries within public bounds, infinite ones without bounds missing; then a row with a missing entry is
    missing as a whole, or its predictors would be in H and its score in no sum. [newton_stages.3]"""
    for place, column in enumerate(columns):
        values = rows[:, place]
        if column.bounds is not None:
            np.clip(values, *column.bounds, out=values)  # [newton_stages.3]
        else:
            values[np.isinf(values)] = math.nan  # [newton_stages.3]
    rows[np.isnan(rows).any(axis=1)] = math.nan  # [newton_stages.3]


def started(moments: Floats, noise: float) -> tuple[Floats, Floats]:
    """The inverse root of the mean of v v' and a first fit, both with a ridge of the size of the noise.

    >>> turn, fit = started(np.array([[4.0, 2.0], [2.0, 9.0]]), 0.0)
    >>> turn.round(6).tolist(), fit.round(6).tolist()
    ([[0.5]], [0.5])
    """
    many = len(moments) - 1
    values, vectors = np.linalg.eigh(moments[:many, :many])
    floor = max(noise * math.sqrt(2 * many), 1e-12 * float(np.abs(values).max()), 1e-300)
    kept = np.maximum(values, 0.0)
    turn = (vectors / np.sqrt(kept + floor / 2)) @ vectors.T
    return np.asarray(turn), np.asarray((vectors / (kept + floor)) @ vectors.T @ moments[:many, many])


def _with_residuals(turn: Floats, fit: Floats) -> Floats:
    """The frame of predictors and, last, the residual of a fit, of about the same size as the largest of them."""
    many = len(fit)
    found = np.zeros((many + 1, many + 1))
    found[:many, :many] = turn
    residual = np.append(-fit, 1.0)
    found[many] = residual * (np.abs(turn).max() / np.abs(residual).max())
    return found


def applied(frame: Frame) -> Floats:
    """What the frame does to entries less their centres and over their units, its rounding included."""
    return np.asarray(frame.step * 2.0**FINE * frame.whole)


def blamed(direction: Floats, columns: tuple[DesignColumn, ...]) -> str:
    """The columns that a direction is made of."""
    large = np.flatnonzero(np.abs(direction) > np.abs(direction).max() / 3)
    named = [repr(columns[place].name) for place in large if columns[place] is not CONSTANT]
    return " and ".join(named[:4]) or "the columns together"
