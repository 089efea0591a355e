"""Logistic and Poisson regression without bounds: maximum-likelihood coefficients, errors that need no true model.

Releases
    The stages of models/glm_stages.py, or, of few people, of models/ridged_minimum.py. Coefficients and all errors are
    computed from what they release.
Promise
    [descent.1] (epsilon, delta) under both relations, by the losses of the stages.
    [descent.2] Refusals read public numbers and earlier answers only; no value of the data raises. There are
          coefficients only where each has an interval, and where the noise moves the linear part of most people by less
          than a half.
    [descent.3] The interval of each coefficient holds that of the population's likeliest model with nobody's influence
          above a limit that was released, true or not, with its confidence, to first order. As in [least_squares.3]
          the limit is one that 5 to 15 rows exceed at epsilon 1, by the tail of all others, and what they exceed it by
          is allowed for as far as that tail tells. Of a tilted minimum it is the model for which rows beyond a released
          length weigh less, by their features alone, with a ridge where the first line says so. With weights the
          population is the one weighted by them, and the influence is weighted too; an offset is a part of the linear
          part, with the coefficient 1.
    [descent.4] Where noise is the larger part of their errors the slopes that are shown are a part s of those found, by
          released numbers alone: none where errors as they are stated would be as long in more than 10 of 100 runs (1
          of 100 for counts), and all where they are clearly longer. To second order they then predict worse than none,
          with the intercept that goes with each, in no more of these runs without slopes, and in at most 1 in 6 (1 in
          35) with any. Intervals are about the slopes as found, and reach s times them. (Not of a tilted minimum with
          its ridge: [ridged_minimum.4].)
Why
    [descent.1] [glm_stages.1] and [ridged_minimum.1]. What is not listed when no size is declared amounts to (epsilon,
    delta).
    [descent.2] [glm_stages.2], [glm_stages.3] and [ridged_minimum.2]; too few rows: before any draw where their number
    is public, else by the noisy count.
    [descent.3] As [least_squares.3], with the scores u (y - p) and the information H at the step before: H^-1 M H^-1, M
    the sum of squared scores, is the covariance of a maximum of the likelihood whatever the model (Huber 1967, White
    1982); the noise of the sums and what clipping takes are known. A score u (y - p) that is cut to its limit keeps its
    length and its direction u as the fit moves: its slope is 0, and it is in M but not in H. With weights scores are w
    u (y - p), cut as such, and H has w. The information is one step older than the last score: slopes change by a part
    of about |u't|, t what the fit moved since. So much of the last step, and a quarter of it for rows pulled in H, is
    allowed for. The noise may ask that up to 4 in 10 rows are pulled in H beside a tilted minimum, where the step only
    takes a ridge off: then H is too small, and standard errors are too large.
    At a tilted minimum the weighted scores sum to ridge w + b: one step with the weighted information takes the ridge
    off, as in [objective.3], and is refused if it is long. Squared scores that are lost in the noise are replaced, as
    far as they are, by the information: that part rests on the model.
    [descent.4] With J the information of the slopes t once the intercept is at its best, |x|^2 = x'Jx and f = t + e the
    slopes as found, s f has a log-likelihood above that of none by t'Jt / 2 - |s f - t|^2 / 2 = s f'J(f - e) - s^2
    |f|^2 / 2, to second order: worse where f'Je > (1 - s / 2) |f|^2. For even normal errors of variance v along k axes
    f'Je / |f| is about as a normal error and (k - 1) v / |f|, the square of what is across: s is such that it takes
    what a normal error exceeds with that chance. Where there are no slopes it is |f| itself that is an error: s is 0
    below its quantile. Errors that are not even are taken for even ones of the same mean and variance of |e|^2. Their
    covariance is N + S, of noise and sampling; where tr JN is below tr JS s is 1, as an answer without noise would do
    as badly. How often it fails was simulated for 1, 2, 3 and 10 axes. It is post-processing; an interval about f is as
    before, and what is added to it makes none smaller.
Needs
    models/glm_stages.py: some 1,000 people of 3 features at epsilon 1, delta 1e-6, 2,500 of 10; twice as many where
    people are replaced. Of a logistic model with up to some 16 coefficients 500 and 800 with a ridge.
Accuracy
    docs/benchmarks.md. Ten columns without bounds at n = 1,000, epsilon 1 and delta 1e-6 have no information matrix: of
    p coefficients it is on average n mu / (p sqrt(2 p)) times its noise as an operator from rows of a typical length,
    2.6 for a third of all mu^2, and where the linear part has a deviation of 1.5 the least direction has .35 to .5 of
    the average. So there a ridge is what makes intervals: models/ridged_minimum.py.
    Of 3% cases (4 coefficients, n = 5,000, epsilon 1) the error is that of the tilt: without it, or with a frame and an
    information that cost nothing, it is 1.02 to 1.1 and 1.36 to 1.4 times the plain one. To first order it is 1.43
    under ADD_OR_REMOVE for slopes .8, .5 and .2: the tilt of the constant moves slopes by the place of the cases, which
    is that far from the middle of all rows. Measured: 1.41 (median 1.48) of 200 tables, 1.42 (1.34) of 800 others;
    REPLACE 1.95 of 200, 44 refused. Seven tenths of epsilon for the tilt would make it 1.33, but 2,000 people with 30%
    cases would then have a ridge, as too little is left for their information. A norm of the tilt that fits constant
    and features apart gives 1.40; rows about the place of the cases would give 1.34, if it cost nothing.
    Slopes that noise may have made: of 200 Poisson tables of 3 features and 1,500 people, 50 each with linear parts of
    a deviation of .16, .32, .4 and .64, 142 have an answer, 40 of them without slopes, and 1 predicts worse than its
    own mean outcome would. Against the mean outcome without noise 98 predict better and 4 of those with slopes worse. A
    refusal in place of s left 107 answers: 101 better than that, 6 worse.
Source
    models/glm_stages.py; models/least_squares.py for the errors.
"""

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Final

import numpy as np

from discreet.errors import BadInput, Refused
from discreet.models.design_columns import CONSTANT, DesignColumn
from discreet.models.design_effects import DRAWN, UNLISTED, between, cluster_share, with_clusters
from discreet.models.features import DECLARED, Features, yes_or_no
from discreet.models.glm_stages import MOST, UNEVEN, find, plan
from discreet.models.least_squares import spread_of
from discreet.models.logistic_loss import tilt_of
from discreet.models.newton_stages import NewtonStages, least_rows
from discreet.models.objective import ObjectivePerturbation
from discreet.models.ridged_minimum import RidgedFit, RidgedStages, either
from discreet.models.ridged_minimum import find as with_ridge
from discreet.models.ridged_minimum import plan as ridged
from discreet.models.score import Name, logistic, poisson
from discreet.models.weighted import positive
from discreet.noise.tilted_minimum import WIDEST
from discreet.privacy.exact import Number, is_number
from discreet.privacy.guarantee import Neighbours, check_budget
from discreet.privacy.loss import Approximate, Gaussian, Loss
from discreet.privacy.mechanism import Mechanism, Randomness, promised, refusal_of, what_to_do
from discreet.privacy.release import Provenance, Release
from discreet.privacy.values import Coefficients, Link
from discreet.stages.clip import Floats
from discreet.stages.declared import agree, check_size
from discreet.stages.octaves import least_seen
from discreet.statistics.survey_design import Design
from discreet.tables.kept_rows import FLOAT
from discreet.tables.matrix import long_matrix

ABOUT: Final = "the coefficients of the population's likeliest model, influence limited, each by itself"
LIMITED: Final = "(maximum likelihood, nobody's influence above {:.2g} times the typical one)"
ABOUT_NEAR: Final = "the coefficients of the population's likeliest model, rows far out weighing less, each by itself"
NEAR: Final = "(maximum likelihood, rows farther out than {:.2g} times the typical one weigh less)"
WEIGHTED: Final = "weighted population's"
LOUDEST: Final = 0.5  # what the noise may move linear parts by, in the mean square
NOISY: Final = (
    "the noise would move the linear part of a typical row by {:.1f}, which is worse than no model; bring {:.1f} times "
    "as many rows, or ask for an epsilon so many times as large, or leave columns out"
)
AMPLE: Final = 1.3  # times what the stages need at least: fewer rows take a ridge
SEEN: Final = 0.5  # of the rows, as many as must be seen of one length
STEPS_WIN: Final = 1.4  # times their noise: rows of a tilted minimum weigh less, so that its scores are shorter
UNLIKELY: Final[dict[Name, float]] = {"logistic": 0.1, "poisson": 0.01}  # longer errors, which cost counts more
DRAWN_TO: Final = (
    "slopes are drawn to {:.2f} of what was found, as they may be errors that predict worse than the mean outcome; "
    "intervals are about what was found, and reach what is shown"
)
LINKS: Final[dict[Name, Link]] = {"logistic": "logit", "poisson": "log"}


@dataclass(frozen=True, slots=True)
class Descent:
    """Coefficients of a logistic or Poisson model. Rows are features followed by the outcome.

    A logistic outcome is 1 for yes and 0 for no; rows with any other do not count. `largest` is a public number that
    hardly any count exceeds. After the outcome rows have their `offset`, a part of the linear part, and then their
    weight, where either is True.

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
    tilted: bool = False
    offset: bool = False
    weights: bool = False
    clusters: Design | None = None
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
        if self.tilted and (self.family != "logistic" or self.features.size > WIDEST):  # [glm_stages.4]
            raise BadInput(
                f"tilted is True for a {self.family} model of {self.features.size} coefficients; a tilted minimum is "
                f"for logistic models of at most {WIDEST}: leave it out"
            )
        if self.tilted and (self.offset or self.weights or self.clusters is not None):
            raise BadInput(
                "tilted is True for a model with offset, weights or clusters; a tilted minimum has none: leave it out"
            )
        if self.largest is not None and not (is_number(self.largest) and 1 <= self.largest <= MOST):
            raise BadInput(f"largest is {self.largest!r}; give a count that hardly anybody exceeds, 1 to {MOST:.0f}")
        self.stages(self.size or (1 if self.neighbours.size_is_public else None))  # epsilon and delta are within reach

    guarantee = promised

    @property
    def loss(self) -> Loss:
        """Every draw; before the public number of rows is known, what they amount to."""
        if self.size is None and self.neighbours.size_is_public:
            return Approximate(self.epsilon, self.delta)
        if self.tilted and self.size is None:
            return either(self.stages(None).costs)  # [ridged_minimum.1]
        return self._chosen(self.size or 0).loss  # [descent.1]

    @property
    def columns(self) -> tuple[DesignColumn, ...]:
        """A row's entries: (1, x, y), or (x, y) where there is no intercept."""
        largest = MOST if self.largest is None else float(self.largest)
        declared = zip(self.features.names, self.features.declared(), strict=True)
        given = [DesignColumn(name, None, place) for name, place in declared]
        outcome = DesignColumn("the outcome", (0.0, largest), (0.0, 1.0))
        return (*[CONSTANT] * self.features.intercept, *given, outcome)

    def stages(self, size: int | None) -> NewtonStages:
        """The costs for a public number of rows, or a private one. [descent.2]"""
        width, centred = len(self.columns), self.features.intercept
        unknown, tilted = self.features.unknown, self.tilted
        kind: dict[str, bool] = {"centred": centred, "counts": self.family == "poisson", "tilted": tilted}
        kind |= {"offset": self.offset, "weighted": self.weights}
        share = None
        if self.clusters is not None:
            share = cluster_share(width - 1, len(self.clusters.strata), self.neighbours)
        costs = plan(self.epsilon, self.delta, size is None, width, unknown, beside=share, **kind)
        return NewtonStages(rows=size, width=width, costs=costs, uneven=UNEVEN)

    def noise(self, size: int | None) -> float:
        """The noise on a sum of scores, over how long they are at most: public."""
        stages = self.stages(size or (1 if self.neighbours.size_is_public else None))
        return tilt_of(stages) if self.tilted else stages.moved("last")

    def _chosen(self, size: float) -> NewtonStages | RidgedStages:
        """The costs for so many rows, public or by a noisy count: with a ridge where they are too few for an
        information. [descent.2]"""
        stages = self.stages(int(size) if self.neighbours.size_is_public else None)
        if not self.tilted:
            return stages
        lengths = least_seen(stages.costs.part("lengths", Gaussian), self.neighbours)
        if stages.enough(size / AMPLE) and lengths <= SEEN * size:
            return stages
        return ridged(stages.costs, stages.rows, stages.width, self.features.unknown, centred=self.features.intercept)

    def needed(self) -> int:
        """The least public number of rows, within a twentieth, that there is an answer for. [descent.2]"""
        return least_rows(self._chosen)

    def _ample(self) -> float:
        """How many rows take no ridge."""
        return AMPLE * least_rows(lambda rows: self.stages(rows if self.neighbours.size_is_public else None))

    def check(self, size: int | None) -> None:
        """Refused, by public numbers, where there are too few rows. [descent.2]"""
        if size is not None and self.neighbours.size_is_public and not self._chosen(size).enough(size):
            to_do = what_to_do(size, self.epsilon, self.needed(), noisy=False, scales=False)
            raise Refused(
                f"there are {size} rows of {len(self.features.names)} columns and an outcome; their regression takes "
                f"about {self.needed()} at this epsilon and delta; {to_do}. Fewer columns need fewer rows"
            )

    def release(self, rows: Any, rng: Randomness) -> Release[Coefficients]:
        """The coefficients with their intervals, or a refusal."""
        width = len(self.features.names) + 1 + self.offset + self.weights + (self.clusters is not None)
        table = long_matrix(rows, width, declared="features and outcome")
        size = None
        if self.neighbours.size_is_public:
            size = agree(len(table), self.size)
            if not size:
                raise BadInput("the data are empty (0 rows); a model needs at least 1 row")
            check_budget(self.epsilon, self.delta, size)
        shown = {"family": self.family, "neighbours": self.neighbours, "features": len(self.features.names)}
        shown |= {name: True for name in ("weights", "offset") if getattr(self, name)}
        shown |= {} if self.clusters is None else {"clusters": len(self.clusters.strata)}
        notes = self.notes if self.clusters is None else (*self.notes, UNLISTED)
        blank: Release[Coefficients] = Release(
            self.guarantee, Provenance("Descent", shown, rng.secure, notes=notes), name=f"{self.family} regression"
        )
        if (refusal := refusal_of(self, size)) is not None:
            return replace(blank, refusal=refusal)
        coded = f". {DECLARED}" if self.family == "logistic" else ""
        family = logistic() if self.family == "logistic" else poisson()
        stages, wide = self.stages(size), FLOAT * (width + int(self.features.intercept))
        ready, people = with_clusters(table, self._ready, self.clusters, wide)
        counted = stages.counted(ready, rng)  # [descent.1]
        chosen = self._chosen(counted)
        if isinstance(chosen, RidgedStages):  # [descent.2]
            so_many = {"size": counted, "least": self.needed(), "enough": self._ample()}
            ridge = with_ridge(ready, self.columns, chosen, rng, **so_many)  # [descent.1]
            return replace(blank, refusal=ridge + coded) if isinstance(ridge, str) else self._held(blank, ridge)
        found = find(ready, self.columns, stages, family, rng, size=counted, offset=self.offset)  # [descent.1]
        if isinstance(found, str):  # [descent.2]
            return replace(blank, refusal=found + coded)
        if isinstance(found, RidgedFit):
            return self._held(blank, found)
        loud = found.score_noise * float(np.linalg.norm(found.inverse))
        if loud > LOUDEST:  # [descent.2]
            noisy = NOISY.format(loud, 1.5 * loud / LOUDEST)
            return (
                replace(blank, refusal=noisy + coded)
                if found.held is None
                else self._held(blank, replace(found.held, why=noisy))
            )
        names, intercept = self.features.names, self.features.intercept
        about, target = (ABOUT_NEAR, NEAR) if self.tilted else (ABOUT, LIMITED)
        if self.weights:
            about, target = about.replace("population's", WEIGHTED), target.replace("maximum", "weighted maximum")
        clusters = None
        if self.clusters is not None:
            about = f"{about}; {DRAWN}"
            drawn: dict[str, Any] = {
                "cost": stages.costs.part("clusters", Gaussian),
                "neighbours": self.neighbours,
                "rng": rng,
            }
            clusters = between(found, people, self.clusters, **drawn)  # [descent.1]
        terms: dict[str, Any] = {"about": about, "target": target, "clusters": clusters}
        spread = spread_of(found, names, intercept=intercept, **terms)  # [descent.3]
        spread = replace(spread, value=replace(spread.value, link=LINKS[self.family]), far=self.tilted)
        if (part := found.useful_part(int(intercept), UNLIKELY[self.family])) < 1:  # [descent.4]
            numbers = found.drawn(int(intercept), part)
            numbers = numbers if intercept else np.append(0.0, numbers)
            spread = replace(spread, value=spread.value.with_numbers(numbers), middle=spread.value)
            blank = replace(blank, provenance=replace(blank.provenance, notes=(*notes, DRAWN_TO.format(part))))
        return replace(blank, answer=spread.value, spread=spread)

    def _held(self, blank: Release[Coefficients], found: RidgedFit) -> Release[Coefficients]:
        """With the ridge that holds the coefficients where the noise hides others. [ridged_minimum.3]"""
        spread = found.spread(self.features.names, intercept=self.features.intercept)
        origin, shown = blank.provenance, {**blank.provenance.parameters, **found.shown}
        origin = replace(origin, parameters=shown, notes=(*origin.notes, found.note))
        return replace(blank, answer=spread.value, spread=spread, provenance=origin)

    def _ready(self, table: Floats) -> Floats:
        """A copy with the constant, in the order of `columns`, each of which is read by itself: an offset before the
        outcome, a weight last."""
        many, first = len(self.features.names), int(self.features.intercept)
        rows = np.empty((len(table), first + table.shape[1]), order="F")
        rows[:, :first], rows[:, first : first + many] = 1.0, table[:, :many]
        if self.offset:
            rows[:, first + many] = table[:, many + 1]
        outcome = table[:, many]
        rows[:, first + many + self.offset] = yes_or_no(outcome) if self.family == "logistic" else outcome
        if self.weights:
            rows[:, -1] = positive(table[:, -1])  # [weighted.2]
        return rows


def picked(
    features: Features, epsilon: Number, delta: Number, *, confidence: float | None, size: int | None, **terms: Any
) -> Mechanism[Coefficients]:
    """With a delta, Newton's method on noisy sums, or a tilted minimum where that has less noise; else that alone."""
    if not delta and features.size > WIDEST:
        raise BadInput(
            f"there are {features.size} coefficients; with delta 0 at most {WIDEST} can be found; give delta=1e-6"
        )
    if not delta:
        tilted = ObjectivePerturbation(features, epsilon, confidence=confidence, size=size, **terms)
        return replace(tilted, notes=("method 'objective': with delta 0 it is the one that there is",))
    steps = Descent(features, epsilon, delta, family="logistic", size=size, **terms)
    if steps.offset or steps.weights or steps.clusters is not None:
        return replace(steps, notes=("method 'descent', by steps: the one that takes weights, clusters and an offset",))
    if features.size <= WIDEST:
        minimum = replace(steps, tilted=True)
        if minimum.noise(size) < STEPS_WIN * steps.noise(size):
            note = "method 'descent', by a tilted minimum: with so few coefficients its noise is the smaller"
            return replace(minimum, notes=(note,))
    return replace(steps, notes=("method 'descent': with so many coefficients its noise is the smaller",))
