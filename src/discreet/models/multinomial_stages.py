"""The stages of multinomial logistic regression without bounds: a frame, and Newton steps on clipped scores.

Of K classes the k-th has the linear part f_k'v, v = (1, (x - m) / c), and its chance p_k is exp(f_k'v) over the sum of
these. Only differences count: f = Q g, Q of K rows and K - 1 orthonormal columns that sum to 0, so that no class is set
apart. The score of a row is g's gradient, (Q'(y - p)) x u, a Kronecker product, y with a 1 at the row's class. It is
one vector, pulled to one length T: what a person may do does not grow with K.

Releases
    As models/glm_stages.py: a noisy count under ADD_OR_REMOVE, medians and octaves of columns without bounds, lengths
    and the noisy sum of v v', which makes a frame u = A v. Noisy numbers of rows of each class. Counts of the lengths
    of scores and three noisy sums of them, the first two as steps with the information at the start. At that fit counts
    of lengths and the noisy information H, the sum of (Q'(diag p - p p')Q) x u u' over rows whose score is not cut.
    Counts of lengths once more, the noisy sum of scores and that of their outer products.
Promise
    [multinomial_stages.1] The stages cost what `loss` lists, under both relations, and that is within (epsilon, delta).
    [multinomial_stages.2] The plan reads public numbers; every later choice, and whether it ends early, reads released
          ones too.
    [multinomial_stages.3] A row is seen as a score, or as a part of the information, by a fixed function of itself and
          of what was released; no value raises. A row of no listed class, or with a missing entry, is no row.
    [multinomial_stages.4] The noise on H is, in every direction, at most that of a symmetric matrix with independent
          noise s on its diagonal and s / root 2 off it.
Why
    [multinomial_stages.1] Adaptive composition of [locate.1], [octaves.1] on columns, on lengths and on the numbers of
    classes, which are counts of disjoint sets of rows, and of [gram.2] and [gram.3] on rows as `ScoresByClass` and
    `CurvesByClass` see them: a fixed function of each row is all that their proofs use. H leaves as a sum of vectors,
    the cost of which is `sum_cost` of as many entries. The parts are those of [newton_stages.1].
    [multinomial_stages.2] By reading `plan` and `find`: the count is len(rows) only where that is public.
    [multinomial_stages.3] Rows in a frame are exact integers: [gram.4]. Linear parts are some of them times a number,
    exponentials are read off a public table ([score.4]), of differences from the largest, so that the largest is 1 and
    no sum of them is 0; then sums of K terms in one order, quotients, products and comparisons, each correctly rounded,
    entry by entry and not by a library's products of matrices. Entries are below 2^52, chances at most 1: nothing is
    infinite.
    [multinomial_stages.4] A and u u' are symmetric. Of A x u u' the entries a <= b, i <= j leave, times the root of 2
    where a < b and again where i < j: their length is the Frobenius norm, so the noise E is s times a standard normal
    vector in that space S of matrices. v'E t is s times a normal number whose variance is the squared length of the
    part in S of v t' made symmetric, at most that of v t' made symmetric, which is what the larger space would give.
Needs
    models/newton_stages.py, with the information in its place. A class needs 3 deviations of noise.
Accuracy
    Noise of T / mu (ADD_OR_REMOVE; twice that under REPLACE) on each sum of scores, mu with some 30% of the budget. T
    is about that of two classes: |Q'(y - p)| = |y - p| <= root 2.
Source
    Begg and Gray 1984 (models of many classes as several of two); Huber 1967 and White 1982 (models that are not true);
    models/glm_stages.py. Kronecker scores under one length are ours.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy.linalg import helmert
from scipy.special import ndtri
from scipy.stats.qmc import Halton

from discreet.accounting.allocation import Allocation, Share
from discreet.models.coefficients import PULLED, NewtonStep
from discreet.models.design_columns import HIDDEN, DesignColumn, blamed, own_units, placed, reachable
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
from discreet.models.score import RARE, looked_up, poisson
from discreet.privacy.exact import Number
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Choice, Gaussian
from discreet.privacy.mechanism import Randomness
from discreet.stages.clip import Floats
from discreet.stages.gram import Frame, Rows, Seen, gram_cost, lengths, lengths_of, noisy_gram, noisy_sum, sum_cost
from discreet.stages.octaves import Tail, column_cost, counts_cost, noisy_counts, tail_cost, tail_of
from discreet.tables.streams import added, column_of, each, fold

# of mu squared: columns, the first sum, H, the squares, the classes, lengths (twice), and each of three steps
PARTS: Final = (0.11, 0.09, 0.30, 0.06, 0.02, 0.03, 0.025)
STEPS: Final = 5  # before the last, one of them with the information
POINTS: Final = 256  # of a made-up table, for the first steps
STIFF: Final = 0.02  # of its mean curvature, beside it
ROUND: Final = 1.5  # by how much a row in the information may be longer than a typical one
MOST_ROWS: Final = 1.7  # times as many as are needed at least
FEW: Final = (
    "class {!r} has hardly any rows, by noisy counts, which see {:.0f}; leave it out of classes, join it with another "
    "one, bring more rows or use a larger epsilon"
)


def contrasts(classes: int) -> Floats:
    """Q: orthonormal columns that sum to 0, a row for each class.

    >>> contrasts(2).round(3).tolist()
    [[0.707], [-0.707]]
    """
    return np.asarray(helmert(classes).T)


@dataclass(frozen=True, slots=True, eq=False)
class ScoresByClass:
    """Rows, which end in the number of their class, seen as scores: Q'(y - p) x u."""

    inner: Frame  # u and, last, the linear part of each class
    per: float  # of linear parts to the last ones
    turns: Floats  # Q

    @property
    def many(self) -> int:
        """Coefficients of one class."""
        return self.inner.size - len(self.turns)

    @property
    def size(self) -> int:
        """Coefficients."""
        return self.many * (len(self.turns) - 1)

    @property
    def step(self) -> float:
        """What one stands for."""
        return self.inner.step

    def turned(self, rows: Floats) -> tuple[Floats, npt.NDArray[np.bool_] | None]:
        """One column for each row, and which are missing. [multinomial_stages.3]"""
        seen, residuals, lost = self.residuals(rows)
        found = residuals[:, None] * seen[None]  # [multinomial_stages.3]
        return found.reshape(self.size, len(rows)), lost

    def residuals(self, rows: Floats) -> tuple[Floats, Floats, npt.NDArray[np.bool_]]:
        """u and Q'(y - p) of each row, 0 where it is missing. [multinomial_stages.3]"""
        seen, chances, lost = self.chances(rows)
        for place, chance in enumerate(chances):
            np.subtract(rows[:, -1] == place, chance, out=chance)
        found = turned_by(self.turns, chances)
        found[:, lost] = 0.0
        return seen, found, lost

    def chances(self, rows: Floats) -> tuple[Floats, Floats, npt.NDArray[np.bool_]]:
        """u, and the chances of each class: sums in one order, no library's product. [multinomial_stages.3]"""
        seen, missing = self.inner.turned(rows[:, :-1])
        linear = seen[self.many :] * self.per
        linear -= linear.max(axis=0)
        powers = looked_up(poisson().means, linear)  # [multinomial_stages.3]
        total = np.zeros(len(rows))
        for power in powers:
            total += power
        lost = np.isnan(rows[:, -1])
        return seen[: self.many], powers / total, lost if missing is None else lost | missing


@dataclass(frozen=True, slots=True, eq=False)
class CurvesByClass:
    """The same rows seen as their part of the information, as one vector; 0 where the score is cut.

    The information of a row is the sum over k of p_k z z', z = (Q_k - Q'p) x u: so much of it as `even` makes of z."""

    scores: ScoresByClass
    limit: float
    even: Frame  # in which the information is about the same in every direction

    @property
    def size(self) -> int:
        """Entries of the upper triangle."""
        return len(triangle(self.scores.size)[0])

    @property
    def step(self) -> float:
        """What one stands for."""
        return self.even.step**2

    def turned(self, rows: Floats) -> tuple[Floats, npt.NDArray[np.bool_] | None]:
        """One column for each row, and which are missing. [multinomial_stages.3]"""
        (i, j, heavy), turns = triangle(self.scores.size), self.scores.turns
        seen, chances, lost = self.scores.chances(rows)
        _, residuals, _ = self.scores.residuals(rows)
        out = lost | ~(lengths_of(residuals) * lengths_of(seen) * self.scores.step <= self.limit)
        means, seen = turned_by(turns, chances), seen * self.scores.step
        found = np.zeros((self.size, len(rows)))
        for turn, chance in zip(turns, chances, strict=True):
            part = np.sqrt(chance) * (turn[:, None] - means)
            part[:, out] = 0.0  # [multinomial_stages.3]
            z, _ = self.even.turned((part[:, None] * seen[None]).reshape(self.scores.size, len(rows)).T)
            found += z[i] * z[j]
        found *= heavy[:, None]
        return found, lost

    def matrix(self, entries: Floats) -> Floats:
        """The matrix of which these are the entries. [multinomial_stages.4]"""
        i, j, heavy = triangle(self.scores.size)
        found = np.zeros((self.scores.size,) * 2)
        found[i, j] = found[j, i] = entries / heavy
        return found


def turned_by(turns: Floats, chances: Floats) -> Floats:
    """turns' @ chances, each sum in one order. [multinomial_stages.3]"""
    found = np.zeros((turns.shape[1], chances.shape[1]))
    for turn, chance in zip(turns, chances, strict=True):
        found += turn[:, None] * chance
    return found


@lru_cache(maxsize=64)
def triangle(size: int) -> tuple[Any, Any, Floats]:
    """The places of the upper triangle, and the root of how often each stands in the matrix. [multinomial_stages.4]"""
    rows, columns = np.triu_indices(size)
    return rows, columns, np.where(rows == columns, 1.0, math.sqrt(2))


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
    costs, many, turns = stages.costs, stages.width - 1, contrasts(stages.classes)
    drawn: dict[str, Any] = {"neighbours": stages.neighbours, "rng": rng}
    size = stages.counted(rows, rng)
    if not stages.enough(size):  # [multinomial_stages.2]
        needed = least_rows(lambda _: stages)
        return (
            f"there are about {max(size, 0):.0f} rows, by a noisy count, and a regression of so many columns and classes "
            f"takes about {needed} at this epsilon and delta; bring {math.ceil(MOST_ROWS * needed)} rows, or multiply "
            f"epsilon by {min(MOST_ROWS * needed / size, 100.0):.1f}. Fewer columns or classes, or columns with public "
            "bounds=, need fewer rows"
        )
    if isinstance(places := placed(rows, columns[:-1], costs, size, drawn), str):  # [multinomial_stages.2]
        return places
    rows = reachable(rows, columns)  # [multinomial_stages.3]
    centres, units = places

    def tail(seen: Seen, stage: str, part: Rows) -> Tail | None:
        cost = costs.part(stage, Gaussian)
        return tail_of(lengths(part, seen), size, cost=cost, **drawn)  # [multinomial_stages.1]

    def summed(seen: Seen, cost: Gaussian, reach: float) -> tuple[Floats, float]:
        total, off = noisy_sum(rows, seen, reach, "clip", cost=cost, **drawn)  # [multinomial_stages.1]
        return total * reach, off * reach

    plain: Rows = each(partial(np.delete, obj=many, axis=1), rows)
    frame = Frame.of(units, np.eye(many), centres)
    if (found := tail(frame, "lengths", plain)) is None:  # [multinomial_stages.2]
        return LOST.format("their lengths")
    radius = float(found.at(OUTSIDE * size))
    cost = costs.part("moments", Gaussian)
    total, noise = noisy_gram(plain, frame, radius, "clip", cost=cost, **drawn)  # [multinomial_stages.1]
    turn, _ = started(np.pad(total * radius**2 / size, (0, 1)), noise * radius**2 / size)
    counts = fold(partial(of_classes, classes=stages.classes), added, column_of(rows, -1))
    sizes, noise = noisy_counts(counts, cost=costs.part("classes", Gaussian), **drawn)  # [multinomial_stages.1]
    if sizes.min() < RARE * noise:  # [multinomial_stages.2]
        return FEW.format(labels[int(sizes.argmin())], max(float(sizes.min()), 0.0))
    shares = sizes / sizes.sum()

    def at(fit: Floats) -> tuple[ScoresByClass, Floats, Floats]:
        """Rows at a fit; the fit, and the turn to the frame, as rounded."""
        lines = turns @ fit
        longer = float(np.abs(turn).max()) / max(float(np.abs(lines).max()), 1e-6)
        inner = Frame.of(units, np.vstack([turn, longer * lines]), centres)
        exactly = applied(inner)
        return ScoresByClass(inner, inner.step / longer, turns), turns.T @ exactly[many:] / longer, exactly[:many]

    fit = np.zeros((stages.classes - 1, many))
    fit[:, 0] = turns.T @ np.log(shares)
    if (longest := tail(at(fit)[0], "early", rows)) is None:  # [multinomial_stages.2]
        return LOST.format("the residuals")
    early = max(EARLY * size, stages.moved("steps") / 4)
    stepped, likely = costs.all("steps", Gaussian), likely_rows(turn)
    for cost in stepped[:-1]:
        seen, fit, turned = at(fit)
        score, _ = summed(seen, cost, float(longest.at(early)))
        curve = curvature(likely @ fit.T @ turns.T, likely @ turned.T, turns) * size
        fit = fit + shortened(np.linalg.solve(curve, score)).reshape(fit.shape) @ turned
    seen, fit, turned = at(fit)
    powers, axes = np.linalg.eigh(curvature(likely @ fit.T @ turns.T, likely @ turned.T, turns))
    even = Frame.of(np.ones(stages.size), (axes / np.sqrt(powers)) @ axes.T)
    curves = CurvesByClass(seen, float(longest.at(early)), even)  # a score that is cut keeps its length
    if (found := tail(curves, "spread", rows)) is None:  # [multinomial_stages.2]
        return LOST.format("the information")
    fewest, most = (float(found.at(part * size)) for part in INFORMED)
    bearable = LOUD * size / stages.operator(1.0)
    total, noise = summed(curves, costs.part("information", Gaussian), min(fewest, max(most, bearable)))
    information, entry = curves.matrix(total), noise
    values, vectors = np.linalg.eigh(information)
    if not values[0] > (least := LEAST * entry * math.sqrt(2 * stages.size)):  # [multinomial_stages.2]
        times = min(2 * least / max(float(values[0]), least / 5), 10.0)
        worst = (applied(even) @ vectors[:, 0]).reshape(fit.shape)
        return HIDDEN.format(blamed(turned.T @ np.linalg.svd(worst)[2][0], columns), times)
    inverse = applied(even) @ (vectors / values) @ vectors.T @ applied(even).T
    score, off = summed(seen, stepped[-1], float(longest.at(early)))
    settled = SETTLED * off + float(np.linalg.norm(score)) / 3 + longest.excess(early)
    before = shortened(inverse @ score)
    seen, fit, turned = at(fit + before.reshape(fit.shape) @ turned)
    if (longest := tail(seen, "late", rows)) is None:  # [multinomial_stages.2]
        return LOST.format("the residuals")
    moved = stages.moved("last")
    cut = longest.most(OFTEN[0] * moved, OFTEN[1] * moved, EXCESS * moved)
    reach = float(longest.at(cut))
    score, off = summed(seen, costs.part("last", Gaussian), reach)
    if np.abs(score).max() > settled + SETTLED * off:  # [multinomial_stages.2]
        return UNSETTLED
    step = inverse @ score
    fit = fit + step.reshape(fit.shape) @ turned
    cost = costs.part("squares", Gaussian)
    squares, squares_noise = noisy_gram(rows, seen, reach, "clip", cost=cost, **drawn)  # [multinomial_stages.1]
    own, _ = own_units(columns, np.append(centres, 0.0), np.append(units, 1.0))
    against = turns[1:] - turns[0]  # the first class
    return NewtonStep(
        value=((against @ fit) @ own.T).ravel(),
        way=np.kron(against, own @ turned.T),
        inverse=inverse,
        information_noise=entry,
        bent=np.linalg.inv(applied(even)),
        step=step,
        score_noise=off,
        squares=squares * reach**2,
        squares_noise=squares_noise * reach**2,
        size=size,
        limit=reach,
        often=reach / longest.typical,
        spans=own.diagonal(),
        pulled=PULLED + float(np.linalg.norm(before + step / 2)),
        excess=(longest.excess(cut), longest.excess(cut, 2)),
    )


def likely_rows(turn: Floats) -> Floats:
    """Rows (1, x), x normal and spread as what was released says: a fixed set of points. [multinomial_stages.2]"""
    moments = np.linalg.inv(turn.T @ turn)
    mean = moments[0, 1:] / moments[0, 0]
    spread = moments[1:, 1:] / moments[0, 0] - np.outer(mean, mean)
    points = ndtri(Halton(len(mean), scramble=False).random(POINTS + 1)[1:])
    values, vectors = np.linalg.eigh(spread)
    points = np.vstack([points, -points]) @ (vectors * np.sqrt(np.maximum(values, 0.0))).T
    return np.column_stack([np.ones(2 * POINTS), mean + points])


def curvature(linear: Floats, seen: Floats, turns: Floats) -> Floats:
    """The mean information of rows `seen` with these linear parts, and a little more: steps are of its size."""
    powers = np.exp(linear - linear.max(axis=1, keepdims=True))
    chances = powers / powers.sum(axis=1, keepdims=True)
    means, (a, b) = chances @ turns, np.indices((turns.shape[1],) * 2)
    curves = chances @ (turns[:, a] * turns[:, b]).reshape(len(turns), -1)
    curves = curves.reshape(-1, *a.shape) - means[:, :, None] * means[:, None]
    found = np.einsum("nab,ni,nj->aibj", curves, seen, seen, optimize=True) / len(seen)
    size = turns.shape[1] * seen.shape[1]
    found = found.reshape(size, size)
    return np.asarray(found + STIFF * np.trace(found) / size * np.eye(size))


def of_classes(given: Iterator[Floats], *, classes: int) -> tuple[int, ...]:
    """A kernel: how many rows there are of each class."""
    found = [0] * classes
    for piece in given:
        for place in range(classes):
            found[place] += int((piece == place).sum())
    return tuple(found)
