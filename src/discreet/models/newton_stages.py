"""The stages of least squares without bounds: a unit for each column, a frame, and Newton steps on clipped scores.

With v = (1, (x - m) / c) and r the residual of v at some coefficients, the least-squares coefficients are where the sum
of the scores v r is 0. A score is pulled to a length T that hardly any exceeds: x and r themselves are not cut. What
that moves, the sampling error (a sum of squared scores, whatever the residuals' variances) and the noise are all known.

Releases
    Under ADD_OR_REMOVE a noisy count. For each column without public bounds a median and noisy counts of octaves around
    it; of weights, if there are any, the counts alone. In turn: counts of the lengths of (v, y) and the noisy sum of
    their outer products, which makes a frame u = A v and a first fit; the noisy sum H of u u'; counts of the lengths of
    the scores u r and their noisy sum, which makes a second fit; once more both there, twice where there are many
    columns, and last the noisy sum of outer products of the scores. With weights w each v, y and u is one times the
    root of w, each score one times w; before H there are counts of the lengths of u too.
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
    [newton_stages.3] `reachable` compares entries one by one with public numbers; then [gram.4], and with weights
    [weighted.1] and [weighted.2]. A row with a missing or infinite entry is no row, but in its columns' places.
    [newton_stages.4] `Scores` multiplies the exact integers of a row in a frame, one product each: a fixed
    function of the row, and so it is times a weight ([weighted.1]). The rest is [gram.1] to [gram.3], whose argument
    uses no more of what is seen than that.
Needs
    Noise on H, as an operator, of at most half the number of rows: 1,000 rows of 5 columns at epsilon 1, delta 1e-6,
    under ADD_OR_REMOVE; for medians n epsilon_j of about 80.
Accuracy
    Noise of T / mu (ADD_OR_REMOVE; twice that under REPLACE) on each sum of scores, mu with a third of the budget. From
    MANY columns on H is pooled with the first sum, and the steps are averaged by their noise (models/pooling.py).
    REPLACE doubles the noise of scores of one length: at the same T an error of r times the plain one becomes root (1 +
    4 (r^2 - 1)), 3.0 for the r of 1.7 that 20 normal columns of 5,000 rows have at epsilon 1. It is no bound: T may be
    shorter. If 2% of the scores were cut exactly (T = 11) and all of mu = .237 went into one sum, its noise 2 T / mu =
    93 beside the scores' own deviation of 71 would leave 1.65; with two fifths, as the rest pays for places, a frame, H
    and lengths, 2.3. Ours is 3.2 to 3.5: lengths counted through noise of 27 rows make T longer by a fifth, H has
    noise. Noisy gradient descent that knows the deviations (benchmarks/compare) has 3.6, and 2.6 with clips tuned to
    these data (ADD_OR_REMOVE: 2.0 and 1.6, ours 1.8); of 50,000 rows at epsilon .1 it has 9.2 and 6.4 (4.7 and 3.4),
    ours 7.8 (3.5 to 3.9): 40 and 16 runs of ours, 60 and 30 of the others.
Source
    Bassily, Smith and Thakurta 2014; Avella-Medina, Bradshaw and Loh 2023 (noisy Newton steps); White 1980 (the sum of
    squared scores); Sheffet 2017. Frames without bounds and the length of the tail are ours.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, Final, Protocol

import numpy as np

from discreet.accounting.allocation import STRONGEST, Allocation, Share
from discreet.models.coefficients import NewtonStep, Scored
from discreet.models.design_columns import DesignColumn, blamed, own_units, placed, reachable, within
from discreet.models.first_frame import Scores, applied, deviations, inverse_of, started, with_residuals
from discreet.models.pooling import Steps, pooled
from discreet.models.weighted import UNWEIGHTED, weighed, weight_unit
from discreet.privacy.exact import Number, exact
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Choice, Gaussian, Loss
from discreet.privacy.mechanism import Randomness
from discreet.stages.clip import Floats
from discreet.stages.gram import Frame, Rows, Seen, gram_cost, lengths, noisy_gram, noisy_sum, sum_cost
from discreet.stages.octaves import Tail, column_cost, counts_cost, noisy_size, tail_cost, tail_of
from discreet.statistics.free_covariance import count_finite
from discreet.tables.streams import added, each, fold

MANY: Final = 10  # columns from which on a frame takes more of the budget
# of mu squared: columns, the lengths of rows, of scores early and late, the first sum, H, the early steps, the squares
FEW_COLUMNS: Final = (0.11, 0.01, 0.02, 0.09, 0.08, 0.19, 0.10, 0.09)
MANY_COLUMNS: Final = (0.08, 0.01, 0.03, 0.07, 0.14, 0.20, 0.12, 0.03)
FRAMED_COLUMNS: Final = (0.08, 0.01, 0.02, 0.05, 0.20, 0.22, 0.10, 0.02)  # many, where H is hardly seen
UNSEEN: Final = 0.52  # of a public number of rows: the noise on H, as an operator, from which on it hardly is
EARLIER: Final = (1, 2)  # steps before the last: few columns, many
WEIGHTS, SPREAD = Fraction(2, 100), Fraction(1, 100)  # and with weights their unit, and the lengths of weighted rows
MEDIAN: Final = 0.35  # of a column's share
DEARER: Final = Fraction(3, 100)  # more for columns where rows are replaced and there are many of them
MEDIAN_MANY: Final = (0.38, 0.25)  # where rows are replaced, added or removed
MIDDLE: Final = 80.0  # rows times epsilon that find a centre of 1e5 deviations
OUTSIDE: Final = 0.15  # of the rows in the first sum
OUTSIDE_MANY: Final = 0.3  # where it only makes a frame that is worth having, the steps do the rest
ROUND: Final = (2.4, 1.2)  # by how much a row of H may be longer than a typical one: few columns, many
WEIGHED: Final = 2.0  # squared typical lengths: rows that weigh less far out are no longer, over a slope of 0.2
APART: Final = 0.5  # times the noise on H, as an operator: what H alone has to show where it is pooled
LOUD: Final = 0.17  # of the rows: the noise on H, as an operator, up to which its rows may be longer
EARLY: Final = 0.004  # of the scores in the first step, where columns are few
OFTEN: Final = (0.6, 2.0)  # over mu: how many scores are cut in the last step
EXCESS: Final = 0.3  # deviations of noise: by how much they may be cut, all together
FREER: Final = 4.0  # times as many scores, and by as much, where there are many columns
SHRUNK: Final = 8.0  # by how much scores may be shorter in the last step: where most are 0 the others are hard to see
INFORMED: Final = (0.005, 0.02)  # of the weighted rows that may be pulled in H: where the noise allows, and at most
SETTLED: Final = 4.0  # deviations of noise by which the last score may differ from a small part of the one before
LOST: Final = (
    "the noise is larger than what the rows show of {}; bring more rows, leave columns out (perhaps one is nearly the "
    "same for everybody, or nearly a sum of others), or use a larger epsilon"
)
STIFF: Final = (
    "this ridge in the units of the columns is beyond the floats; rescale the columns, or give a smaller ridge"
)
STIFFEST: Final = 2.0**40  # times the rows: beside a larger ridge their information has no digits left
UNSETTLED: Final = (
    "the steps towards the coefficients do not settle: perhaps a column takes large values for a few people only; give "
    "bounds for such columns, take their logarithm, or use a larger epsilon"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewtonStages:
    """What each stage costs, all of it public. `width` is that of a row with its outcome."""

    rows: int | None
    width: int
    costs: Allocation
    uneven: float = 1.0  # times as many rows as where the information is the same in all directions

    @property
    def loss(self) -> Loss:
        """Every draw. [newton_stages.1]"""
        return self.costs.loss

    @property
    def many(self) -> bool:
        """Whether there are so many columns that the noise on their products is what matters most."""
        return self.width > MANY

    @property
    def neighbours(self) -> Neighbours:
        """By whether the number of rows is public."""
        return Neighbours.ADD_OR_REMOVE if self.rows is None else Neighbours.REPLACE

    def longest(self, size: float, spread: Tail | None = None) -> float:
        """How long a row of H may be: some more than is typical, or what makes noise that H can bear; where rows have
        weights, and `spread` is the tail of their lengths, so that few are longer. [newton_stages.2]"""
        typical = math.sqrt(self.width - 1) + ROUND[self.many]
        bearable = max(typical, math.sqrt(LOUD / self.operator(1.0) * size))
        if spread is None:
            return bearable
        fewest, most = (float(spread.at(part * size)) for part in INFORMED)
        return min(max(bearable, most), max(fewest, math.sqrt(self.width - 1)))

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
        tilted = "minimum" in self.costs
        radius = math.sqrt(WEIGHED * (self.width - 1)) if tilted else math.sqrt(self.width - 1) + ROUND[self.many]
        return self.centred(size) and 0.7 * self.operator(radius) <= size / self.uneven / 2

    def centred(self, size: float) -> bool:
        """Whether so many rows tell the centres of columns. [newton_stages.2]"""
        nats = MIDDLE if self.rows is not None else MIDDLE / 2  # half the sensitivity
        return "centre" not in self.costs or size * float(self.costs.part("centre", Choice).epsilon) >= nats

    def counted(self, rows: Rows, rng: Randomness) -> float:
        """How many rows have no missing entry, with noise; all of them where their number is public.
        [newton_stages.1]"""
        if self.rows is not None:
            return float(len(rows))
        return noisy_size(
            fold(count_finite, added, rows), cost=self.costs.part("count", Gaussian), rng=rng
        )  # [newton_stages.1]


def plan(
    epsilon: Number,
    delta: Number,
    rows: int | None,
    width: int,
    unknown: int,
    *,
    centred: bool,
    weighted: bool = False,
    beside: Share | None = None,
) -> NewtonStages:
    """The stages for rows of `width` entries, of which `unknown` columns have no bounds; with weights if `weighted`,
    and with sums by cluster `beside` them. Public numbers only. [newton_stages.2]"""
    known: dict[str, Any] = {"beside": beside, "counted": rows is None, "centred": centred, "weighted": weighted}
    stages = NewtonStages(rows=rows, width=width, costs=_costs(epsilon, delta, width, unknown, **known))
    if rows is None or not stages.many or stages.operator(stages.longest(rows)) < UNSEEN * rows:
        return stages
    return replace(stages, costs=_costs(epsilon, delta, width, unknown, **known, framed=True))  # [newton_stages.2]


@lru_cache(maxsize=256)  # the same for every public number of rows, of which many are tried
def _costs(
    epsilon: Number,
    delta: Number,
    width: int,
    unknown: int,
    *,
    counted: bool,
    centred: bool,
    weighted: bool,
    beside: Share | None,
    framed: bool = False,
) -> Allocation:
    """What each stage costs; more for the first sum, which makes the frame, if `framed`. Public numbers only.
    [newton_stages.1]"""
    neighbours = Neighbours.ADD_OR_REMOVE if counted else Neighbours.REPLACE

    def gram_of(size: int) -> Callable[[Fraction], Gaussian]:
        return lambda mu: gram_cost(mu, size, neighbours)

    def tail(mu: Fraction) -> Gaussian:
        return tail_cost(mu, neighbours)

    def column(mu: Fraction) -> Gaussian:
        return column_cost(mu, neighbours)

    def score(mu: Fraction) -> Gaussian:
        return sum_cost(mu, width - 1, neighbours)

    many = width > MANY
    columns, first, third, fourth, moments, information, early, squares = (
        Fraction(round(1000 * part), 1000)
        for part in (FRAMED_COLUMNS if framed else MANY_COLUMNS if many else FEW_COLUMNS)
    )
    if many and not counted:
        columns += DEARER
    median = Fraction(round(100 * (MEDIAN_MANY[counted] if many else MEDIAN)), 100) if centred else Fraction(0)
    shares: dict[str, Share | None] = {
        "count": Share(Fraction(5, 1000), counted_cost) if counted else None,
        "centre": Share(columns * median, Choice, unknown) if unknown and centred else None,
        "unit": Share(columns * (1 - median), column, unknown) if unknown else None,
        "weights": Share(WEIGHTS, column) if weighted else None,
        "lengths": Share(first, tail),
        "moments": Share(moments, gram_of(width)),
        "spread": Share(SPREAD, tail) if weighted else None,
        "information": Share(information, gram_of(width - 1)),
        "early": Share(third, tail, EARLIER[many]),
        "step": Share(early, score, EARLIER[many]),
        "late": Share(fourth, tail),
        "last": Share(None, score),
        "squares": Share(squares, gram_of(width - 1)),
        "clusters": beside,
    }
    return shared_out(epsilon, delta, shares)


def shared_out(epsilon: Number, delta: Number, shares: Mapping[str, Share | None]) -> Allocation:
    """The parts of (epsilon, delta), the slack of every draw kept. [newton_stages.1]"""
    off = Fraction(0)
    for share in shares.values():
        drawn = None if share is None or share.cost is None else share.cost(Fraction(STRONGEST))
        if share is not None and isinstance(drawn, Gaussian):
            off += share.times * exact(drawn.slack)
    return Allocation.of(epsilon, delta, slack=off, lower=True).split(**shares)  # [newton_stages.1]


def _informed(
    information: Floats, noise: float, ridge: Floats, first: Floats | None
) -> tuple[Floats, float, Floats, Floats]:
    """H, pooled with the `first` sum if there is one, and its noise; eigenvalues of it and a ridge, and directions. The
    first eigenvalue is 0 where the noise may be all that is seen. [newton_stages.2]"""
    edge, many = math.sqrt(2 * len(information)), first is not None
    values, vectors = np.linalg.eigh(information + ridge)
    clear = values[0] > noise * edge * (APART if many else 1.0)
    if first is not None:
        information, noise = pooled(information, noise, first)
        values, vectors = np.linalg.eigh(information + ridge)
        clear = clear and values[0] > noise * edge
    return information, noise, values if clear else np.zeros_like(values), vectors


def counted_cost(mu: Fraction) -> Gaussian:
    """The cost of the number of rows."""
    return counts_cost(mu, 1, Neighbours.ADD_OR_REMOVE)


class Sufficient(Protocol):
    """Stages that know how many rows they need."""

    def enough(self, size: float) -> bool:
        """Whether every stage will find what it looks for."""


def least_rows(stages: Callable[[int], Sufficient]) -> int:
    """The least number of rows, within a twentieth, that is enough for the stages made for it. [newton_stages.2]"""
    rows = 16
    while rows < 2**40 and not stages(rows).enough(rows):
        rows = rows * 21 // 20 + 1
    return rows


def find(
    rows: Rows,
    columns: tuple[DesignColumn, ...],
    stages: NewtonStages,
    penalty: Floats,
    rng: Randomness,
    *,
    size: float,
) -> NewtonStep | str:
    """All stages but the count, or why they ended; rows end in their outcome, then their weight if there is one, and
    are changed. `penalty` is that of each coefficient, in the columns' own units. [newton_stages.1]"""
    costs, many, weighted = stages.costs, stages.width - 1, "weights" in stages.costs
    drawn: dict[str, Any] = {"neighbours": stages.neighbours, "rng": rng}
    if isinstance(places := placed(rows, columns, costs, size, drawn), str):  # [newton_stages.2]
        return places
    (centres, units), unit = places, weight_unit(rows, costs, drawn) if weighted else None  # [newton_stages.1]
    if weighted and unit is None:  # [newton_stages.2]
        return UNWEIGHTED
    rows = reachable(rows, columns)  # [newton_stages.3]

    def tail(seen: Seen, stage: str, part: Rows) -> Tail | None:
        return tail_of(lengths(part, seen), size, cost=costs.part(stage, Gaussian), **drawn)  # [newton_stages.1]

    def gram(seen: Seen, stage: str, part: Rows, radius: float) -> tuple[Floats, float]:
        total, noise = noisy_gram(part, seen, radius, "clip", cost=costs.part(stage, Gaussian), **drawn)
        return total * radius**2, noise * radius**2  # [newton_stages.1]

    plain = weighed(Frame.of(units, np.eye(stages.width), centres), unit)
    if (found := tail(plain, "lengths", rows)) is None:  # [newton_stages.2]
        return LOST.format("their lengths")
    total, noise = gram(plain, "moments", rows, float(found.at((OUTSIDE_MANY if stages.many else OUTSIDE) * size)))
    turn, fit = started(total / size, noise / size, bare=stages.many)
    tall = max(deviations(total / size, columns, weighted)[many], math.sqrt(noise / size))
    predictors, inner = each(partial(np.delete, obj=many, axis=1), rows), Frame.of(units[:many], turn, centres[:many])
    spread = tail(weighed(inner, unit), "spread", predictors) if weighted else None
    if weighted and spread is None:  # [newton_stages.2]
        return LOST.format("the weighted columns")
    information, noise = gram(weighed(inner, unit), "information", predictors, stages.longest(size, spread))
    turn = applied(inner)
    ridge = turn * (penalty / units[:many] / units[:many] / (unit or 1.0))
    if not np.abs(ridge @ turn.T).max() < STIFFEST * size:  # [newton_stages.2]
        return STIFF
    first = turn @ total[:many, :many] @ turn.T if stages.many else None
    information, noise, values, vectors = _informed(information, noise, ridge @ turn.T, first)
    if not values[0] > 0:  # [newton_stages.2]
        return LOST.format(blamed(turn.T @ vectors[:, 0], columns))
    inverse = inverse_of(values, vectors)
    spans = tall / deviations(information / size, columns, weighted, inverse_of(*np.linalg.eigh(turn)))
    before, average = found, Steps.none(many)
    for early in (*[True] * len(costs.all("step", Gaussian)), False):
        inner = Frame.of(units, with_residuals(turn, fit), centres)
        scores = weighed(Scores(inner), unit, root=False)
        if (found := tail(scores, "early" if early else "late", rows)) is None:
            return LOST.format("the residuals")
        stage, frame = "step" if early else "last", applied(inner)
        moved, per = stages.moved(stage), frame[many, many]
        cut, more = max(EARLY * size, moved), FREER if stages.many else 1.0
        if not early:
            found = found.longer(before.times(per / SHRUNK), cut)
        if stages.many or not early:
            cut = found.most(OFTEN[0] * moved, more * OFTEN[1] * moved, more * EXCESS * moved)
        reach, before = float(found.at(cut)), found.times(1 / per)
        score, score_noise = noisy_sum(
            rows, scores, reach, "clip", cost=costs.part(stage, Gaussian), **drawn
        )  # [newton_stages.4]
        score, score_noise = score * reach / per, score_noise * reach / per
        if early:
            settled = SETTLED * score_noise + np.linalg.norm(score) / 3 + found.excess(cut) / per
        elif not penalty.any() and np.abs(score).max() > settled + SETTLED * score_noise:  # [newton_stages.2]
            return UNSETTLED
        fit = -frame[many, :many] / per  # as the frame has it, rounded
        last = Steps(inverse @ (score - ridge @ fit), score_noise, found.excess(cut) / per)
        average = average.then(last, noise) if stages.many else last
        fit = fit + average.gain * (turn.T @ last.step)
    squares, squares_noise = gram(scores, "squares", rows, reach)  # [newton_stages.4]
    own, place = own_units(columns, centres, units)
    return NewtonStep(
        value=own @ fit + place,
        way=own @ turn.T,
        inverse=inverse,
        information_noise=noise,
        step=average.step,
        score_noise=average.noise,
        squares=squares / per**2,
        squares_noise=squares_noise / per**2,
        size=size,
        excess=(average.excess, found.excess(cut, 2) / per**2),
        limit=reach / per * units[-1] ** 2 * (unit or 1.0),
        often=reach / found.typical,
        spans=own.diagonal() * spans,
        scored=Scored(within(columns), scores, found, cut, per),
    )
