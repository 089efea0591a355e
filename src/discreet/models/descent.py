"""Logistic and Poisson regression by noisy descent: sums of bounded scores, Newton's method, intervals.

Releases
    Unless bounds are declared, a centre and a unit of each feature, and for counts the largest one that is told apart;
    the noisy second moments of the features; the noisy score at several points, each the next of a descent; then the
    noisy information at the last of them, and once more the score, with most of the budget.
Promise
    [descent.1] (epsilon, delta) under both relations: the parts cost what `loss` lists.
    [descent.2] The plan reads public numbers; every later choice and refusal reads released ones. Under ADD_OR_REMOVE
          no number of rows is used: the second moments tell how many there are.
    [descent.3] If the model holds, intervals hold the population's coefficients with their confidence, to first order.
Why
    [descent.1] Adaptive composition of [features.3], [locate.2] (the largest count) and
    of [score.2], [score.3]; each reads the rows and what was released before. The parts are
    those of an allocation with the slack of all draws kept: [allocation.2].
    [descent.2] `plan` sees epsilon, delta, the number of coefficients and, where it is public, n.
    [descent.3] The last step is w - H^-1 (score + noise): its error is that of the score at the truth and of the noise,
    over H, but for terms of second order in the error of w and its product with that of H; the latter is allowed for.
    The score's variance is at most H: weights are at most 1, and [score.5].
Needs
    n mu well above size^1.5 R^2: some 3,000 people of 5 features at epsilon 1, delta 1e-6.
Accuracy
    Noise of 2 R top / mu on each entry of the last score, mu with half of the budget: see docs/measured-glms.md.
Source
    Bassily, Smith and Thakurta 2014 (noisy gradients); Bohning and Lindsay 1988 (second moments over 4 bound the
    curvature of a logistic loss, so every step leads down); Avella-Medina, Bradshaw and Loh 2023 (noisy Newton steps).
"""

import math
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from typing import Any, Final

import numpy as np

from discreet.accounting.allocation import CHOICE, STRONGEST, Allocation, Share
from discreet.errors import BadInput
from discreet.models.coefficients import WEIGHED, CoefficientSpread
from discreet.models.features import (
    DECLARED,
    Features,
    Prepared,
    Scaling,
    find_scaling,
    prepared,
    scaling_shares,
    yes_or_no,
)
from discreet.models.score import (
    Name,
    OutcomeMean,
    logistic,
    moment_cost,
    noisy_moments,
    noisy_score,
    poisson,
    score_cost,
)
from discreet.privacy.exact import Number, exact, is_number
from discreet.privacy.guarantee import check_budget
from discreet.privacy.loss import Approximate, Choice, Gaussian, Loss
from discreet.privacy.mechanism import Randomness, promised
from discreet.privacy.neighbours import Neighbours
from discreet.privacy.provenance import Provenance
from discreet.privacy.release import Release
from discreet.privacy.values import Coefficients, Link
from discreet.stages.clip import Floats
from discreet.stages.declared import agree, check_size
from discreet.stages.locate import far_distance
from discreet.stages.octaves import column_cost
from discreet.tables.matrix import in_one, matrix

STEPS: Final = 6  # of the descent, before the last one
NATS: Final = 28  # records times epsilon that a distance leaves beyond it
MOST_COUNT: Final = 10**6  # counts beyond are cut
LEAST: Final = 1.3  # times the noise on the information, as an operator, must be in every direction
HIDDEN: Final = (
    "in some direction the noise hides what the rows show; bring more rows, leave features out (perhaps one is nearly "
    f"a sum of others), or use a larger epsilon. {DECLARED}"
)
ALIKE: Final = (
    f"nearly everybody has the same outcome, as far as the noise shows; bring more rows or a larger epsilon. {DECLARED}"
)
MODEL: Final = "the population's coefficients, each by itself, if the model holds"
LINKS: Final[dict[Name, Link]] = {"logistic": "logit", "poisson": "log"}


@dataclass(frozen=True, slots=True)
class Descent:
    """Coefficients of a logistic or Poisson model. Rows are features followed by the outcome.

    A logistic outcome is 1 for yes and 0 for no; rows with any other do not count. `largest` is a public number that
    hardly any count exceeds.

    >>> from discreet.noise.randomness import Seeded
    >>> rows = np.array([[k % 7 - 3.0, (k % 7) + (k % 5) > 5] for k in range(30000)])
    >>> found = Descent(Features(("x",), bounds=(-3, 3)), 1.0, 1e-6).release(rows, Seeded(1))
    >>> bool(0.5 < found.value["x"] < 1.5)
    True
    """

    features: Features
    epsilon: Number
    delta: Number
    _: KW_ONLY
    family: Name = "logistic"
    largest: int | None = None
    neighbours: Neighbours = Neighbours.REPLACE
    unit: str = "row"
    size: int | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_size(self.size, self.neighbours)
        check_budget(self.epsilon, self.delta, self.size)
        if not self.delta:
            raise BadInput("delta is 0; descent adds Gaussian noise and needs delta > 0, for example delta=1e-6")
        if self.family not in LINKS:
            raise BadInput(f"family is {self.family!r}; give 'logistic' or 'poisson'")
        if self.largest is not None and not (is_number(self.largest) and 1 <= self.largest <= MOST_COUNT):
            raise BadInput(f"largest is {self.largest!r}; give a count that hardly anybody exceeds, 1 to {MOST_COUNT}")
        self.plan(self.size)

    guarantee = promised

    @property
    def loss(self) -> Loss:
        """Every draw; before the public number of rows is known, what they amount to."""
        if self.size is None and self.neighbours.size_is_public:
            return Approximate(self.epsilon, self.delta)
        return self.plan(self.size).loss  # [descent.1]

    def plan(self, size: int | None) -> Allocation:
        """The costs for a public number of rows. [descent.2]"""
        coefficients, radius, relation = self.features.size, math.sqrt(self.features.size), self.neighbours

        def scores(mu: Fraction) -> Gaussian:
            return score_cost(mu, coefficients, radius, relation)

        def moments(mu: Fraction) -> Gaussian:
            return moment_cost(mu, coefficients, radius, relation)

        def units(mu: Fraction) -> Gaussian:
            return column_cost(mu, relation)

        most = Fraction(STRONGEST)
        off = (STEPS + 2) * exact(scores(most).slack) + 2 * exact(moments(most).slack)
        off += self.features.unknown * exact(units(most).slack)
        whole = Allocation.of(self.epsilon, self.delta, slack=off, lower=True)  # [descent.1]
        unknown, counted = self.features.unknown, self.family == "poisson" and self.largest is None
        scaling = _scaling_share(unknown + counted, size, whole.amount)
        each, rest = scaling / max(unknown + counted, 1), 1 - scaling
        return whole.split(
            **scaling_shares(self.features, unknown * each, units),
            count=Share(each, Choice) if counted else None,
            second=Share(rest * Fraction(8, 100), moments),
            steps=Share(rest * Fraction(24, 100), scores, STEPS),
            information=Share(rest * Fraction(30, 100), moments),
            last=Share(rest * Fraction(38, 100), scores),
        )  # [descent.1]

    def informative(self, size: int | None) -> bool:
        """Whether there will be intervals, as far as public numbers tell. [descent.2]"""
        if size is None:
            return True
        root = 1.5 if self.neighbours is Neighbours.REPLACE else 1.0
        noise = root * self.features.size**1.5 / float(self.plan(size).part("information", Gaussian).mu)
        return bool(6 * noise <= size / 2)

    def release(self, rows: Any, rng: Randomness) -> Release[Coefficients]:
        """The coefficients with their intervals, or a refusal."""
        table = in_one(matrix(rows, len(self.features.names) + 1, declared="features and outcome"))
        size = None
        if self.neighbours.size_is_public:
            size = agree(len(table), self.size)
            if not size:
                raise BadInput("the data are empty (0 rows); a model needs at least 1 row")
            check_budget(self.epsilon, self.delta, size)
        plan = self.plan(size)
        shown = {"family": self.family, "neighbours": self.neighbours, "features": len(self.features.names)}
        blank: Release[Coefficients] = Release(
            self.guarantee, Provenance("Descent", shown, rng.secure, notes=self.notes), name=f"{self.family} regression"
        )
        scaling: Scaling | str | None = self.features.scaling()
        if scaling is None:
            scaling = find_scaling(table, self.features, plan, self.neighbours, rng)  # [descent.1]
        if isinstance(scaling, str):  # [descent.2]
            return replace(blank, refusal=scaling)
        family = self._family(table[:, -1], plan, rng)
        if self.family == "logistic":
            table = np.column_stack([table[:, :-1], yes_or_no(table[:, -1])])
        ready = prepared(table, scaling)
        ready = replace(ready, outcome=family.outcome(ready.outcome))
        found = descend(ready, family, plan, intercept=self.features.intercept, neighbours=self.neighbours, rng=rng)
        if isinstance(found, str):  # [descent.2]
            return replace(blank, refusal=found)
        slopes, constant = scaling.back(found.w)
        value = Coefficients(slopes, constant, self.features.names, LINKS[self.family])
        notes = self.notes
        if self.family == "poisson":
            notes = (*notes, f"counts beyond {family.top:.0f} count as {family.top:.0f}")
        back = scaling.backwards()
        sampling, privacy = (np.sqrt(np.diag(back @ part @ back.T)) for part in (found.sampling, found.privacy))
        spread = CoefficientSpread(value, sampling, privacy, MODEL, target=WEIGHED)  # [descent.3]
        return replace(blank, answer=value, spread=spread, provenance=replace(blank.provenance, notes=notes))

    def _family(self, outcomes: Floats, plan: Allocation, rng: Randomness) -> OutcomeMean:
        """The family; a Poisson one with the count beyond which few lie, as released or declared. [descent.1]"""
        if self.family == "logistic":
            return logistic()
        if self.largest is not None:
            return poisson(int(self.largest))
        cost = plan.part("count", Choice)
        beyond = math.ceil(NATS / float(cost.epsilon))
        # [descent.1]
        most = far_distance(np.ascontiguousarray(outcomes), centre=0.0, beyond=beyond, cost=cost, rng=rng)
        return poisson(math.ceil(min(max(2 * most, 1.0), MOST_COUNT)))


@dataclass(frozen=True, slots=True, eq=False)
class FoundCoefficients:
    """Coefficients for features in their units, and the covariances of their errors."""

    w: Floats
    sampling: Floats
    privacy: Floats


def descend(
    rows: Prepared, family: OutcomeMean, plan: Allocation, *, intercept: bool, neighbours: Neighbours, rng: Randomness
) -> FoundCoefficients | str:
    """All scores, and the last step. [descent.1]"""
    size = rows.steps.shape[1]
    w = np.zeros(size)
    steps, last = plan.all("steps", Gaussian), plan.part("last", Gaussian)
    # [descent.1]
    second, noise = noisy_moments(rows, None, w, cost=plan.part("second", Gaussian), neighbours=neighbours, rng=rng)
    people = float(np.trace(second)) / size  # about the number of rows: features have length 1, more or less
    if people < 4 * noise * math.sqrt(size):  # [descent.2]
        return (
            "there are too few rows for the noise of this epsilon; bring more rows, fewer features or a larger "
            f"epsilon. {DECLARED}"
        )
    floor = 2 * noise * math.sqrt(size)
    curve = family.steepest
    first = 0
    if family.name == "poisson":  # the mean count, if the features told nothing
        start = math.log(family.top / 8)
        w[0] = start if intercept else 0.0
        total, _ = noisy_score(rows, family, w, cost=steps[0], neighbours=neighbours, rng=rng)  # [descent.1]
        mean = family.top / 8 if not intercept else float(family.mean(w[:1])[0]) - total[0] / max(second[0, 0], floor)
        mean = min(max(mean, family.top / 500), family.top)
        w[0] = math.log(mean) if intercept else 0.0
        curve, first = 1.5 * mean, 1
    inverse = _inverse(second * curve, floor * curve)
    past: list[Floats] = []
    for cost in steps[first:]:
        slope, off = noisy_score(rows, family, w, cost=cost, neighbours=neighbours, rng=rng)  # [descent.1]
        fewer = second[0, 0] / 2 - abs(float(slope[0]))  # weighted rows of the rarer outcome: the slope is at w = 0
        if (
            not past and intercept and family.name == "logistic" and fewer < 3 * math.hypot(off, noise / 2)
        ):  # [descent.2]
            return ALIKE
        w = w - _shortened(inverse @ slope, second / people)
        past.append(w)
    w = np.mean(past[len(past) // 2 :], axis=0)
    cost = plan.part("information", Gaussian)
    information, noise = noisy_moments(rows, family, w, cost=cost, neighbours=neighbours, rng=rng)  # [descent.1]
    slope, off = noisy_score(rows, family, w, cost=last, neighbours=neighbours, rng=rng)  # [descent.1]
    floor = noise * math.sqrt(2 * size)  # of the noise as an operator
    values = np.linalg.eigvalsh(information)
    inverse = _inverse(information, floor)
    w = w - _shortened(inverse @ slope, second / people)
    if values.min() < LEAST * floor:  # [descent.2]
        return HIDDEN
    careful = _inverse(information - noise * np.eye(size), floor / 4)
    early = 2 * float(last.mu) / float(steps[0].mu) / math.sqrt(len(past) / 2) * off
    wrong = early * float(noise * math.sqrt(size) / values.min())  # the error of H times that of w before the last step
    privacy = (off**2 + wrong**2) * careful @ careful
    return FoundCoefficients(w, careful, privacy)


def _shortened(step: Floats, shape: Floats) -> Floats:
    """A step that changes linear parts by at most 1.5, in the mean square: further no slope tells."""
    far = math.sqrt(max(float(step @ shape @ step), 0.0))
    return step * min(1.0, 1.5 / far) if far > 0 else step


def _inverse(matrix: Floats, floor: float) -> Floats:
    """The inverse of a noisy symmetric matrix, its eigenvalues not below `floor`."""
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors / np.maximum(values, floor)) @ vectors.T)


def _scaling_share(features: int, size: int | None, mu: Fraction) -> Fraction:
    """The share of mu^2 for centres and units: more where people are few. [descent.2]"""
    if not features:
        return Fraction(0)
    if size is None:
        return Fraction(1, 5)
    wanted = features * (400 / size) ** 2 / float(CHOICE) / float(mu) ** 2
    return Fraction(round(10**6 * min(max(wanted, 0.02), 0.3)), 10**6)
