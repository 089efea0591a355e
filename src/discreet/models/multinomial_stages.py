"""The stages of multinomial logistic regression without bounds: a frame, and Newton steps on clipped scores.

The linear parts of K classes are Q g'v, v = (1, (x - m) / c), Q the contrasts of models/class_scores.py. The score of a
row is the gradient for g, (Q'(y - p)) x u, a Kronecker product, y with a 1 at the row's class. It is one vector, pulled
to one length T: what a person may do does not grow with K.

Releases
    As models/glm_stages.py: a noisy count under ADD_OR_REMOVE, medians and octaves of columns without bounds, lengths
    and the noisy sum of v v', which makes a frame u = A v. Noisy numbers of rows of each class. Counts of the lengths
    of scores at the classes' shares, and four noisy sums of scores, for steps with the information that normal columns
    would have. At that fit counts of the lengths of scores and of Z h Z, and the noisy sum of the latter, h the
    information of a row, (diag p - p p') in contrasts x u u', 0 where the score is cut, Z the inverse root of what
    normal columns would have: so seen it is about as large in every direction. One more noisy sum of scores, a Newton
    step; there the last one, and that of their outer products.
Promise
    [multinomial_stages.1] The stages cost what `loss` lists, under both relations, and that is within (epsilon, delta).
    [multinomial_stages.2] The plan reads public numbers; every later choice, and whether it ends early, reads released
          ones too.
    [multinomial_stages.3] A row enters each stage by a fixed function of itself and of earlier releases; no value
          raises. A row of no listed class, or with a missing entry, is no row, but in the places of its other columns.
Why
    [multinomial_stages.1] Adaptive composition of [locate.1], [octaves.1] on columns, on lengths and on the numbers of
    classes ([class_scores.3]), and of [gram.2] and [gram.3] on rows as `ScoresByClass` and `CurvesByClass` see them: a
    fixed function of each row is all that their proofs use ([class_scores.1]). The information leaves as a sum of
    vectors, and costs what one of so many entries does. The parts are those of [newton_stages.1].
    [multinomial_stages.2] By reading `plan` and `find`: the count is len(rows) only where that is public.
    [multinomial_stages.3] [gram.4], [class_scores.1] and [newton_stages.3].
Needs
    models/newton_stages.py, with the information in its place. A class needs 3 deviations of noise.
Accuracy
    Noise of T / mu (ADD_OR_REMOVE; twice that under REPLACE) on each sum of scores, mu with a quarter of the budget. T
    is about that of two classes: |Q'(y - p)| = |y - p| <= root 2. That on the information sets the least number of
    rows, about as (K - 1) times the root of the coefficients. Seen through Z it is hidden less: on five real tables by
    factors of 1.5 to 5 in rows.
Source
    Huber 1967 and White 1982 (models that are not true); models/glm_stages.py and models/class_scores.py.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, Final

import numpy as np

from discreet.accounting.allocation import Allocation, Share
from discreet.models.class_scores import (
    CurvesByClass,
    ScoresByClass,
    contrasts,
    curvature,
    likely_rows,
    of_classes,
)
from discreet.models.coefficients import PULLED, NewtonStep, Scored
from discreet.models.design_columns import HIDDEN, DesignColumn, blamed, own_units, placed, reachable, within
from discreet.models.first_frame import applied, shortened, started
from discreet.models.glm_stages import INFORMED, LEAST, LOUD
from discreet.models.newton_stages import (
    EARLY,
    EXCESS,
    LOST,
    MEDIAN,
    OFTEN,
    OUTSIDE,
    SETTLED,
    UNSETTLED,
    NewtonStages,
    counted_cost,
    least_rows,
    shared_out,
)
from discreet.models.score import RARE
from discreet.privacy.exact import Number
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Choice, Gaussian
from discreet.privacy.mechanism import Randomness
from discreet.privacy.value_arrays import label
from discreet.stages.clip import Floats
from discreet.stages.gram import Frame, Rows, Seen, gram_cost, lengths, noisy_gram, noisy_sum, sum_cost
from discreet.stages.octaves import Tail, column_cost, counts_cost, noisy_counts, tail_cost, tail_of
from discreet.tables.streams import added, column_of, each, fold

# of mu squared: columns, the first sum, H, the squares, the classes, lengths (twice), and each of the early steps
PARTS: Final = (0.11, 0.09, 0.30, 0.06, 0.02, 0.03, 0.025)
STEPS: Final = 5  # before the last, one of them with the information
ROUND: Final = 1.5  # by how much a row in the information may be longer than a typical one
MOST_ROWS: Final = 1.7  # times as many as are needed at least
FEW: Final = (
    "class {} has hardly any rows, by noisy counts, which see {:.0f}; leave it out of classes, join it with another "
    "one, bring more rows or use a larger epsilon"
)
MANY: Final = (
    "there are about {:.0f} rows, by a noisy count, and a regression of so many columns and classes takes about {} at "
    "this epsilon and delta; bring {} rows, or multiply epsilon by {:.1f}. Fewer columns or classes, or columns with "
    "public bounds=, need fewer rows. Rows of classes that are not listed, or with an entry that is missing or no "
    "number, are not among them"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassStages(NewtonStages):
    """What each stage costs for rows of `width` entries with their class: public."""

    classes: int

    @property
    def size(self) -> int:
        """Coefficients."""
        return (self.width - 1) * (self.classes - 1)

    def operator(self, radius: float) -> float:
        """The likely size, as an operator, of the noise on H where its parts are so long."""
        return self.moved("information") * radius * math.sqrt(2 * self.size)

    def enough(self, size: float) -> bool:
        """Whether every stage will find what it looks for, classes of one size; `size` is public or released.
        [multinomial_stages.2]"""
        long = (math.sqrt(self.width - 1) + ROUND) ** 2 * math.sqrt(self.classes - 1)
        return self.centred(size) and 0.7 * self.operator(long) <= size / self.uneven / 2


@lru_cache(maxsize=256)  # the same for every public number of rows, of which many are tried
def plan(epsilon: Number, delta: Number, counted: bool, width: int, unknown: int, *, classes: int) -> Allocation:
    """What each stage costs for rows of `width` entries with their class, `unknown` columns without bounds; `counted`
    if their number is private. [multinomial_stages.2]"""
    neighbours = Neighbours.ADD_OR_REMOVE if counted else Neighbours.REPLACE
    many, blocks = width - 1, classes - 1
    entries = blocks * many * (blocks * many + 1) // 2

    def tail(mu: Fraction) -> Gaussian:
        return tail_cost(mu, neighbours)

    def score(mu: Fraction) -> Gaussian:
        return sum_cost(mu, blocks * many, neighbours)

    columns, moments, information, squares, sizes, far, step = (Fraction(round(1000 * one), 1000) for one in PARTS)
    median = Fraction(round(100 * MEDIAN), 100)
    return shared_out(
        epsilon,
        delta,
        {
            "count": Share(Fraction(5, 1000), counted_cost) if counted else None,
            "centre": Share(columns * median, Choice, unknown) if unknown else None,
            "unit": Share(columns * (1 - median), lambda mu: column_cost(mu, neighbours), unknown) if unknown else None,
            "lengths": Share(Fraction(1, 100), tail),
            "moments": Share(moments, lambda mu: gram_cost(mu, many, neighbours)),
            "classes": Share(sizes, lambda mu: counts_cost(mu, classes, neighbours)),
            "early": Share(far, tail),
            "steps": Share(STEPS * step, score, STEPS),
            "spread": Share(Fraction(1, 100), tail),
            "information": Share(information, lambda mu: sum_cost(mu, entries, neighbours)),
            "late": Share(far, tail),
            "last": Share(None, score),
            "squares": Share(squares, lambda mu: gram_cost(mu, blocks * many, neighbours)),
        },
    )  # [multinomial_stages.1]


def find(
    rows: Rows, columns: tuple[DesignColumn, ...], stages: ClassStages, labels: tuple[Any, ...], rng: Randomness
) -> NewtonStep | str:
    """All stages, or why they ended; rows end in the number of their class, and are changed. Coefficients are those of
    each class but the first, less those of the first. [multinomial_stages.1]"""
    costs, many = stages.costs, stages.width - 1
    drawn: dict[str, Any] = {"neighbours": stages.neighbours, "rng": rng}
    size = stages.counted(rows, rng)
    if not stages.enough(size):  # [multinomial_stages.2]
        needed = least_rows(lambda _: stages)
        more = MOST_ROWS * needed
        return MANY.format(max(size, 0.0), needed, math.ceil(more), min(more / size, 100.0))
    if isinstance(places := placed(rows, columns[:-1], costs, size, drawn), str):  # [multinomial_stages.2]
        return places
    rows = reachable(rows, columns)  # [multinomial_stages.3]
    plain: Rows = each(partial(np.delete, obj=many, axis=1), rows)
    frame = Frame.of(places[1], np.eye(many), places[0])
    found = tail_of(lengths(plain, frame), size, cost=costs.part("lengths", Gaussian), **drawn)
    if found is None:  # [multinomial_stages.2]
        return LOST.format("their lengths")
    radius, cost = float(found.at(OUTSIDE * size)), costs.part("moments", Gaussian)
    total, noise = noisy_gram(plain, frame, radius, "clip", cost=cost, **drawn)  # [multinomial_stages.1]
    turn, _ = started(np.pad(total * radius**2 / size, (0, 1)), noise * radius**2 / size)
    counts = fold(partial(of_classes, classes=stages.classes), added, column_of(rows, -1))
    sizes, noise = noisy_counts(counts, cost=costs.part("classes", Gaussian), **drawn)  # [multinomial_stages.1]
    if sizes.min() < RARE * noise:  # [multinomial_stages.2]
        rare = labels[int(sizes.argmin())]
        return FEW.format(repr(label(rare)), max(float(sizes.min()), 0.0))
    return FittingClasses(rows, columns, stages, size, *places, turn, rng).found(sizes / sizes.sum())


@dataclass(frozen=True, slots=True, eq=False)
class FittingClasses:
    """Rows in a frame, and what was released of them."""

    rows: Rows
    columns: tuple[DesignColumn, ...]
    stages: ClassStages
    size: float
    centres: Floats
    units: Floats
    turn: Floats
    rng: Randomness

    @property
    def drawn(self) -> dict[str, Any]:
        """For every draw."""
        return {"neighbours": self.stages.neighbours, "rng": self.rng}

    @property
    def early(self) -> float:
        """How many scores are cut before the last step."""
        return max(EARLY * self.size, self.stages.moved("steps") / 4)

    def tail(self, seen: Seen, stage: str) -> Tail | None:
        """How long the longest rows are."""
        cost = self.stages.costs.part(stage, Gaussian)
        return tail_of(lengths(self.rows, seen), self.size, cost=cost, **self.drawn)  # [multinomial_stages.1]

    def summed(self, seen: Seen, cost: Gaussian, reach: float) -> tuple[Floats, float]:
        """A noisy sum, and its noise."""
        total, off = noisy_sum(self.rows, seen, reach, "clip", cost=cost, **self.drawn)  # [multinomial_stages.1]
        return total * reach, off * reach

    def at(self, fit: Floats) -> tuple[ScoresByClass, Floats, Floats]:
        """Rows at a fit, a row for each contrast; the fit, and the turn to the frame, as rounded."""
        turns, many = contrasts(self.stages.classes), len(self.units)
        lines = turns @ fit
        longer = float(np.abs(self.turn).max()) / max(float(np.abs(lines).max()), 1e-6)
        inner = Frame.of(self.units, np.vstack([self.turn, longer * lines]), self.centres)
        exactly = applied(inner)
        return ScoresByClass(inner, inner.step / longer, turns), turns.T @ exactly[many:] / longer, exactly[:many]

    def found(self, shares: Floats) -> NewtonStep | str:
        """The fit and its errors, from the shares of the classes. [multinomial_stages.1]"""
        costs, stages, turns = self.stages.costs, self.stages, contrasts(self.stages.classes)
        fit = np.zeros((stages.classes - 1, len(self.units)))
        fit[:, 0] = turns.T @ np.log(shares)
        if (longest := self.tail(self.at(fit)[0], "early")) is None:  # [multinomial_stages.2]
            return LOST.format("the residuals")
        *first, cost = costs.all("steps", Gaussian)
        reach, likely = float(longest.at(self.early)), likely_rows(self.turn)
        for early in first:
            seen, fit, turned = self.at(fit)
            score, _ = self.summed(seen, early, reach)
            step = np.asarray(np.linalg.solve(self._likely(likely, fit, turned), score), dtype=np.float64)
            fit = fit + shortened(step).reshape(fit.shape) @ turned
        seen, fit, turned = self.at(fit)
        if (longest := self.tail(seen, "late")) is None:  # [multinomial_stages.2]
            return LOST.format("the residuals")
        reach = float(longest.at(self.early))
        known = self._information(seen, fit, turned, self._likely(likely, fit, turned), reach)
        if isinstance(known, str):  # [multinomial_stages.2]
            return known
        inverse, bent, noise = known
        score, off = self.summed(seen, cost, reach)
        settled = SETTLED * off + float(np.linalg.norm(score)) / 3 + longest.excess(self.early)
        before = shortened(inverse @ score)
        seen, fit, turned = self.at(fit + before.reshape(fit.shape) @ turned)
        moved = stages.moved("last")
        cut = longest.most(OFTEN[0] * moved, OFTEN[1] * moved, EXCESS * moved)
        reach = float(longest.at(cut))
        score, off = self.summed(seen, costs.part("last", Gaussian), reach)
        if np.abs(score).max() > settled + SETTLED * off:  # [multinomial_stages.2]
            return UNSETTLED
        step, cost = inverse @ score, costs.part("squares", Gaussian)
        fit = fit + step.reshape(fit.shape) @ turned
        squares, loud = noisy_gram(self.rows, seen, reach, "clip", cost=cost, **self.drawn)  # [multinomial_stages.1]
        own, _ = own_units(self.columns, np.append(self.centres, 0.0), np.append(self.units, 1.0))
        against = turns[1:] - turns[0]  # the first class
        return NewtonStep(
            value=((against @ fit) @ own.T).ravel(),
            way=np.kron(against, own @ turned.T),
            inverse=inverse,
            information_noise=noise,
            bent=bent,
            step=step,
            score_noise=off,
            squares=squares * reach**2,
            squares_noise=loud * reach**2,
            size=self.size,
            limit=reach,
            often=reach / longest.typical,
            spans=own.diagonal(),
            scored=Scored(within(self.columns), seen, longest, cut),
            pulled=PULLED + float(np.linalg.norm(before + step / 2)),
            excess=(longest.excess(cut), longest.excess(cut, 2)),
        )

    def _likely(self, likely: Floats, fit: Floats, turned: Floats) -> Floats:
        """The information at a fit that normal columns would have."""
        turns = contrasts(self.stages.classes)
        return curvature(likely @ fit.T @ turns.T, likely @ turned.T, turns) * self.size

    def _information(
        self, seen: ScoresByClass, fit: Floats, turned: Floats, likely: Floats, limit: float
    ) -> tuple[Floats, Floats, float] | str:
        """The inverse of the information, how its noise is bent, and the noise; or what is hidden.
        [multinomial_stages.1]"""
        powers, axes = np.linalg.eigh(likely / self.size)
        even = Frame.of(np.ones(self.stages.size), (axes / np.sqrt(powers)) @ axes.T)
        curves = CurvesByClass(seen, limit, even)  # a score that is cut keeps its length
        if (found := self.tail(curves, "spread")) is None:  # [multinomial_stages.2]
            return LOST.format("the information")
        fewest, most = (float(found.at(part * self.size)) for part in INFORMED)
        radius = min(fewest, max(most, LOUD[0] * self.size / self.stages.operator(1.0)))
        total, noise = self.summed(curves, self.stages.costs.part("information", Gaussian), radius)
        values, vectors = np.linalg.eigh(curves.matrix(total))
        back = applied(even)
        if not values[0] > (least := LEAST * noise * math.sqrt(2 * self.stages.size)):  # [multinomial_stages.2]
            longer = max(1.0, fewest / radius)  # more rows are cut later, and hide more of each
            times = min(3 * longer * least / max(float(values[0]), least / 5), 20.0)
            worst = np.linalg.svd((back @ vectors[:, 0]).reshape(fit.shape))[2][0]
            return HIDDEN.format(blamed(turned.T @ worst, self.columns), times)
        inverse = np.asarray(back @ (vectors / values) @ vectors.T @ back.T, dtype=np.float64)
        return inverse, np.asarray(np.linalg.inv(back), dtype=np.float64), noise
