"""Logistic regression by objective perturbation: pure epsilon, no bounds needed.

Releases
    Unless bounds are declared, a centre and a unit of each feature; with an intercept how many rows have either
    outcome, from where the ridge pulls; the coefficients that minimise the weighted
    logistic loss, tilted by chance and with a ridge; and, where it is asked for and there are rows enough, the noisy
    information matrix at those coefficients, which corrects for the ridge and gives the intervals.
Promise
    [objective.1] Pure epsilon under both relations: the parts' epsilons sum to epsilon ([allocation.1]).
    [objective.2] Ridge, shares and whether there is an information matrix read public numbers only; refusals read
    released ones.
    [objective.3] If the logistic model holds, intervals hold the population's coefficients with their confidence, to
          first order in the noise and in 1 / n.
Why
    [objective.1] Choices: [features.3]; both counts: [octaves.1]. Given these, the objective is as [logistic_loss.2] of
    models/logistic_loss.py says, so [tilted_minimum.1] with steepness 2 (REPLACE) or 1 (ADD_OR_REMOVE) and curvature
    1/4. The information matrix: one row moves the upper triangle of k U U' by at most k (|U|_1^2 + |U|^2) / 2 <= k
    |U|^2 (size + 1) / 2 in L1, with k |U|^2 from [score.3], twice that under REPLACE; then [additive.1] of
    noise/additive.py. Adaptive composition.
    [objective.2] `plan` sees epsilon, the number of coefficients and, where it is public, n. A scale at the edge of the
    floats is a released number. Without an information matrix the ridge is undone as if it were 0.2 n I, a public
    guess.
    [objective.3] At the minimum, score + ridge w + b = 0. With H the information, w + H^-1 ridge w is the solution
    without a ridge but for the tilt, its error H^-1 (score at the truth + b): covariance H^-1 V H^-1 with V <= H, as
    weights are at most 1, and a tilt of variance (size + 1) / beta^2 a coordinate. Slopes change along that step t by a
    part of about |t|: so much of it is allowed for, and a step of more than a half is refused.
Needs
    At most 31 features. Where the number of people is private, at most 2^28 of them: of more, the first 2^28 are used,
    and the loss of one person may then be that of two. For intervals about 250 size^2 / epsilon people: 10,000 of 5
    features at epsilon 1.
Accuracy
    Excess log-loss of about size (size + 1) R^2 / (2 beta^2 n h), h the mean slope: see docs/benchmarks.md.
Source
    Chaudhuri, Monteleoni and Sarwate 2011, with the changes named in noise/tilted_minimum.py; weights after Mallows.
"""

import math
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, Final

import numpy as np

from discreet.accounting.allocation import Allocation, Share
from discreet.errors import BadInput, Refused
from discreet.models.coefficients import WEIGHED, CoefficientSpread
from discreet.models.features import (
    DECLARED,
    STEPS,
    Features,
    Prepared,
    Scaling,
    find_scaling,
    prepared,
    scaling_shares,
    yes_or_no,
)
from discreet.models.logistic_loss import MOST, OFFSET, RIDGED, SEPARATED, LogisticLoss, most_rows, ridge_for
from discreet.models.prepared_rows import AnyPrepared, over, ready
from discreet.models.score import COARSE, WEIGHT, logistic, moments
from discreet.noise.additive import ROOM
from discreet.noise.tilted_minimum import WIDEST, tilt_rate
from discreet.privacy.exact import Number, exact, is_number
from discreet.privacy.guarantee import Neighbours, check_budget
from discreet.privacy.loss import Approximate, Laplace, Loss
from discreet.privacy.mechanism import Randomness, promised, refusal_of
from discreet.privacy.release import Provenance, Release
from discreet.privacy.values import Coefficients
from discreet.stages.clip import Floats
from discreet.stages.declared import agree, check_size
from discreet.stages.octaves import noisy_counts
from discreet.tables.kept_rows import FLOAT, kept
from discreet.tables.matrix import long_matrix
from discreet.tables.streams import added, each

BEND: Final = 0.08  # of epsilon: what the ridge costs
SLOPE: Final = 0.2  # a slope that few models exceed: undoing the ridge with it goes not quite far enough
SCALING: Final = 370  # records times epsilon that the scaling of a feature would like
INFORMATION: Final = Fraction(2, 5)  # of epsilon: for the information matrix
RATE: Final = Fraction(3, 100)  # of epsilon: for the counts of outcomes
CURVATURE: Final = Fraction(1, 4)
LOUD: Final = 0.35  # the noise of an information matrix beyond which it is no use, in units of a half of it
SINGULAR: Final = 4.5  # deviations of its noise: the information in every direction, of few features
RARE: Final = 2.5  # deviations of noise: rows of either outcome
ALIKE: Final = (
    "nearly everybody has the same outcome, as far as the noise shows; give a delta above 0, which takes fewer people "
    f"of the rarer one, or bring more rows. {DECLARED}"
)
NO_INTERVAL: Final = (
    "the noise hides what the rows show, so that there would be no interval; bring more rows, fewer features, a larger "
    f"epsilon or a delta above 0, or set confidence to None for coefficients without intervals. {DECLARED}"
)
MODEL: Final = "the population's coefficients, each by itself, if the model holds"


@dataclass(frozen=True, slots=True)
class ObjectivePerturbation:
    """Coefficients of a logistic model. Rows are features followed by the outcome: 1 for yes, 0 for no.

    `ridge` is the ridge in units in which a person's features are 1 long; by default it costs a twelfth of epsilon.

    >>> from discreet.noise.randomness import Seeded
    >>> rows = np.array([[k % 7 - 3.0, (k % 7) + (k % 5) > 5] for k in range(3000)])
    >>> found = ObjectivePerturbation(Features(("x",), bounds=(-3, 3)), 2.0).release(rows, Seeded(1))
    >>> bool(0.3 < found.value["x"] < 2)
    True
    """

    features: Features
    epsilon: Number
    _: KW_ONLY
    ridge: Number | None = None
    confidence: float | None = 0.95
    neighbours: Neighbours = Neighbours.REPLACE
    unit: str = "row"
    size: int | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_size(self.size, self.neighbours)
        check_budget(self.epsilon, 0.0, self.size)
        if self.features.size > WIDEST:
            raise BadInput(
                f"there are {self.features.size} coefficients; objective perturbation has at most {WIDEST}. Give "
                "delta > 0 and method='descent'"
            )
        if self.ridge is not None and not (is_number(self.ridge) and 2**-10 <= self.ridge <= 2**40):
            raise BadInput(f"ridge is {self.ridge!r}; give a number from 2^-10 to 2^40, or None")
        self.rate(self.shares(self.size))

    guarantee = promised

    @property
    def loss(self) -> Loss:
        """Every draw; before the public number of rows is known, what they amount to."""
        if self.size is None and self.neighbours.size_is_public:
            return Approximate(self.epsilon, 0)
        return self.shares(self.size).loss  # [objective.1]

    def shares(self, size: int | None) -> Allocation:
        """What each part costs, for a public number of rows: scaling, minimum, information. [objective.2]"""
        scaling = scaling_share(self.features.unknown, size, exact(self.epsilon))
        return Allocation.of(self.epsilon).split(
            **scaling_shares(self.features, scaling),
            rate=Share(RATE) if self.features.intercept else None,
            minimum=Share(None, lambda epsilon: Approximate(epsilon, 0)),
            information=Share(INFORMATION) if self.informative(size) else None,
        )  # [objective.1]

    def informative(self, size: int | None) -> bool:
        """Whether an information matrix is worth its price. [objective.2]"""
        if self.confidence is None or size is None:
            return self.confidence is not None and not self.neighbours.size_is_public
        noise = math.sqrt(2) * float(moved(self.features.size, self.neighbours) / (exact(self.epsilon) * INFORMATION))
        return noise * unit_of(1.0) * 2 * math.sqrt(self.features.size) <= LOUD * size / 2

    def check(self, size: int | None) -> None:
        """Refused, by public numbers, where there would be no interval, though one is asked for. [objective.2]"""
        if size is not None and self.confidence is not None and not self.informative(size):
            raise Refused(NO_INTERVAL)

    def chosen_ridge(self) -> Fraction:
        """As given, or that which costs its share of epsilon. [objective.2]"""
        if self.ridge is not None:
            return exact(self.ridge)
        return ridge_for(self.epsilon, BEND)

    def rate(self, shares: Allocation) -> Fraction:
        """beta of the tilt. [objective.1]"""
        spent = shares.part("minimum", Approximate).epsilon
        return tilt_rate(spent, self._steepness, CURVATURE, self.chosen_ridge(), self.features.size)

    @property
    def _steepness(self) -> int:
        return 2 if self.neighbours is Neighbours.REPLACE else 1  # [objective.1]

    def release(self, rows: Any, rng: Randomness) -> Release[Coefficients]:
        """The coefficients, with intervals where there are people enough; or a refusal."""
        table = long_matrix(rows, len(self.features.names) + 1, declared="features and outcome")
        size = None
        if not self.neighbours.size_is_public:
            table = most_rows(table)
        else:
            size = agree(len(table), self.size)
            if not size:
                raise BadInput("the data are empty (0 rows); a model needs at least 1 row")
            check_budget(self.epsilon, 0.0, size)
        shares, refusal = self.shares(size), refusal_of(self, size)
        shown = {
            "neighbours": self.neighbours,
            "ridge": float(self.chosen_ridge()),
            "features": len(self.features.names),
        }
        blank: Release[Coefficients] = Release(
            self.guarantee,
            Provenance("ObjectivePerturbation", shown, rng.secure, notes=self.notes),
            name="logistic regression",
        )
        if refusal is not None:
            return replace(blank, refusal=refusal)
        scaling: Scaling | str | None = self.features.scaling()
        if scaling is None:
            table = kept(table, FLOAT * (len(self.features.names) + 1))
            scaling = find_scaling(table, self.features, shares, self.neighbours, rng)  # [objective.1]
        if isinstance(scaling, str):  # [objective.2]
            return replace(blank, refusal=scaling)
        given = ready(each(_answered, table), partial(prepared, scaling=scaling), len(self.features.names) + 1)
        ridge = self.chosen_ridge()
        offset = self._offset(given, shares, rng)
        if offset is None:  # [objective.2]
            return replace(blank, refusal=ALIKE)
        found = rng.minimum(
            LogisticLoss(given, MOST if size is None else size, offset),
            steepness=self._steepness,
            curvature=CURVATURE,
            ridge=ridge,
            cost=shares.part("minimum", Approximate),
        )  # [objective.1]
        w = np.asarray(found) / scaling.radius
        pull = float(ridge) * scaling.radius**2  # for features in units: x is v / R
        if "information" not in shares and size is not None:
            w = w * (1 + min(pull / (SLOPE * size), 0.25))  # [objective.2]
        start = np.append(offset, np.zeros(len(w) - 1))
        if "information" not in shares:  # none was asked for: else `check` has refused
            value = Coefficients(*scaling.back(w + start), self.features.names, "logit")
            notes = (*self.notes, "no interval: none was asked for")
            return replace(blank, answer=value, provenance=replace(blank.provenance, notes=notes))
        information = self._information(given, w + start, shares.part("information", Laplace), rng)
        tilt = math.sqrt(len(w) + 1) / float(self.rate(shares)) * scaling.radius
        spread = self._freed(w, start, information, pull=pull, tilt=tilt, scaling=scaling)
        if isinstance(spread, str):  # [objective.2]
            return replace(blank, refusal=spread)
        return replace(blank, answer=spread.value, spread=spread)

    def _freed(
        self, w: Floats, start: Floats, information: tuple[Floats, float], *, pull: float, tilt: float, scaling: Scaling
    ) -> CoefficientSpread[Coefficients] | str:
        """The coefficients without their ridge, with their errors; or why there are none. [objective.3]"""
        found, noise = information
        values, vectors = np.linalg.eigh(found)
        if not values.min() > max(2 * math.sqrt(len(w)), SINGULAR) * noise:  # [objective.2]
            return NO_INTERVAL
        step = pull * (vectors / values) @ vectors.T @ w  # [objective.3]
        if (far := float(np.linalg.norm(step))) > RIDGED:  # [objective.2]
            return SEPARATED
        careful = (vectors / (values - noise * math.sqrt(len(w)))) @ vectors.T  # its noise makes no interval too short
        back = scaling.backwards()
        sampling = np.sqrt(np.diag(back @ careful @ back.T))
        privacy = tilt * np.sqrt(np.diag(back @ careful @ careful @ back.T))
        value = Coefficients(*scaling.back(w + step + start), self.features.names, "logit")
        return CoefficientSpread(value, sampling, privacy, MODEL, far * np.abs(back @ step), target=WEIGHED)

    def _offset(self, rows: AnyPrepared, shares: Allocation, rng: Randomness) -> float | None:
        """The log odds of all rows, by noisy counts; None where too few have either outcome. [objective.1]"""
        if "rate" not in shares:
            return 0.0
        counts = over(_outcomes, added, rows)
        found, noise = noisy_counts(counts, cost=shares.part("rate", Laplace), neighbours=self.neighbours, rng=rng)
        no, yes = found
        if min(no, yes) < RARE * noise and self.confidence is not None:  # [objective.2]
            return None
        no, yes = np.maximum(found, noise)
        return float(np.clip(math.log(yes / no), -OFFSET, OFFSET))

    def _information(self, rows: AnyPrepared, w: Floats, cost: Laplace, rng: Randomness) -> tuple[Floats, float]:
        """The noisy information matrix, and the standard deviation of its entries. [objective.1]"""
        size = len(w)
        upper = np.triu_indices(size)
        claim = moved(size, self.neighbours)
        exact_sums = np.clip(over(partial(_moments, w=w), added, rows)[upper], -ROOM, ROOM)
        blurred = rng.blur(exact_sums, sensitivity=claim, cost=cost)  # [objective.1]
        unit = unit_of(logistic().steepest)
        found = np.zeros((size, size))
        found[upper] = blurred * unit
        return found + np.triu(found, 1).T, math.sqrt(2) * float(claim / exact(cost.epsilon)) * unit


def _answered(rows: Floats) -> Floats:
    """Rows whose outcome is 0 or 1, or missing."""
    return np.column_stack([rows[:, :-1], yes_or_no(rows[:, -1])])


def _outcomes(given: Iterator[Prepared]) -> tuple[int, int]:
    """A kernel: how many rows that count have each outcome."""
    no = yes = 0
    for rows in given:
        seen = rows.outcome[rows.weight > 0]
        no, yes = no + int((seen == 0).sum()), yes + int((seen == 1).sum())
    return no, yes


def _moments(given: Iterator[Prepared], *, w: Floats) -> Any:
    """A kernel: the information of the rows at a fit, as Python's integers."""
    found = np.zeros((len(w), len(w)), dtype=object)
    for rows in given:
        found += moments(rows, logistic(), w)
    return found


def scaling_share(features: int, size: int | None, epsilon: Fraction) -> Fraction:
    """The share of epsilon for the centres and units of all features: more where people are few. [objective.2]"""
    if not features:
        return Fraction(0)
    wanted = Fraction(1, 5) if size is None else Fraction(SCALING * features, size) / epsilon
    return min(max(wanted, Fraction(1, 50)), Fraction(3, 10))


def moved(size: int, neighbours: Neighbours) -> Fraction:
    """How far one row moves the upper triangle of the information in L1, in steps, at R^2 = size. [objective.1]"""
    longest = math.ceil(STEPS // COARSE * math.sqrt(size) * (1 + 1e-9)) + math.isqrt(size) + 1
    one = Fraction(WEIGHT * longest**2 * (size + 1), 2)
    return one * (2 if neighbours is Neighbours.REPLACE else 1)


def unit_of(steepest: float) -> float:
    """A step of a second moment."""
    return steepest / WEIGHT / (STEPS // COARSE) ** 2
