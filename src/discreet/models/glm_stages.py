"""The stages of logistic and Poisson regression without bounds: a frame, and Newton steps on clipped scores.

With v = (1, (x - m) / c), a linear part f'v and its mean outcome p, the maximum-likelihood coefficients are where the
sum of the scores v (y - p) is 0: the population's are those of the model that is nearest to it, whether it holds or
not. As in models/newton_stages.py a score is pulled to a length T that hardly any exceeds, and nothing else is cut.

Releases
    Under ADD_OR_REMOVE a noisy count. For each column without public bounds a median and noisy counts of octaves around
    it. Counts of the lengths of v and the noisy sum of v v', which makes a frame u = A v. The mean outcome, of Poisson
    models after counts of its octaves. Counts of how long scores may be; the noisy sum of the scores at the mean
    outcome and at a second fit. There counts of the lengths of sqrt(s) u, s the slope of p, and the noisy information
    H, the sum of s u u' over rows whose score is not cut. Two more sums of scores, each a Newton step, and last the
    noisy sum of their outer products. With weights w counts of their octaves; v v', the information, scores and the
    mean outcome are then times w, and the lengths of logistic scores are counted by outcome. An offset has a median and
    counts of octaves released, and is a part of the linear part without a coefficient.
    Logistic models of few coefficients: in place of all sums of scores the minimum of the loss in the frame, tilted by
    chance and with a ridge, which the information then takes off again, or which stays where that is hidden or far
    (models/ridged_minimum.py). Rows longer than R weigh less in it, in the information and in the outer products.
Promise
    [glm_stages.1] The stages cost what `loss` lists, under both relations, and that is within (epsilon, delta).
    [glm_stages.2] The plan reads public numbers; every later choice, and whether it ends early, released ones too.
    [glm_stages.3] A row enters each stage by a fixed function of itself and of earlier releases; no value raises.
    [glm_stages.4] A tilted minimum is pure epsilon under both relations.
Why
    [glm_stages.1] Adaptive composition of [locate.1], [octaves.1] on columns and on lengths, of [gram.2] and [gram.3]
    on rows as `AtFit` sees them, times a weight or not: a fixed function of each row is all that their proofs use,
    and that they are by [score.2] and [weighted.1]. An offset is one more entry of a row. The parts are those of
    [newton_stages.1]. Beside a tilted minimum, a pure part of epsilon, they have the other part and delta: both add up.
    [glm_stages.2] By reading `plan` and `find`: the count is len(rows) only where that is public.
    [glm_stages.3] [gram.4], [score.2], [weighted.1], [weighted.2] and [features.4]. `reachable` cuts outcomes to [0,
    10^6]. A row with a missing entry is no row, but in the places of its other columns. Of more than 2^28 rows, a
    private number, the first 2^28 are in the minimum.
    [glm_stages.4] Rows as [features.4] has them, with outcomes 0 and 1 (`Descent` refuses other families), are what
    [logistic_loss.2] to [logistic_loss.4] ask for, R being the root of the number of coefficients or more and at most
    15; then [tilted_minimum.1] with steepness 1 (ADD_OR_REMOVE) or 2 (REPLACE) and curvature 1/2.
Needs
    As models/newton_stages.py, with the information in place of the number of rows. For a tilted minimum, where the
    number of people is private, at most 2^28 of them: of more, the loss of one person may be that of two.
Accuracy
    Noise of T / mu (ADD_OR_REMOVE; twice that under REPLACE) on each sum of scores, mu with a third of the budget.
Source
    Avella-Medina, Bradshaw and Loh 2023 (noisy Newton steps); Huber 1967 and White 1982 (models that are not true).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, Final

import numpy as np

from discreet.accounting.allocation import Allocation, Share
from discreet.models.coefficients import PULLED, NewtonStep, Scored
from discreet.models.design_columns import CONSTANT, HIDDEN, TOO_FEW, DesignColumn, blamed, own_units, placed, within
from discreet.models.first_frame import applied, inverse_of, shortened, started
from discreet.models.logistic_loss import LONGEST, OFFSET, RIDGED, SEPARATED, minimised, ridge_of, tilt_of
from discreet.models.newton_stages import (
    EXCESS,
    LOST,
    MANY,
    MEDIAN,
    OFTEN,
    OUTSIDE,
    SETTLED,
    SPREAD,
    UNSETTLED,
    WEIGHTS,
    NewtonStages,
    counted_cost,
    least_rows,
    shared_out,
)
from discreet.models.ridged_minimum import RidgedFit, seen_through
from discreet.models.score import EARLY, AtFit, Of, OutcomeMean, noisy_rate, offset_place, predictors_of, with_outcome
from discreet.models.weighted import UNWEIGHTED, weighed, weight_unit
from discreet.privacy.exact import Number, exact
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Approximate, Choice, Gaussian
from discreet.privacy.mechanism import Randomness
from discreet.stages.clip import Floats
from discreet.stages.gram import Frame, Rows, Seen, gram_cost, lengths, noisy_gram, noisy_sum, sum_cost
from discreet.stages.octaves import Tail, column_cost, counts_cost, tail_cost, tail_of
from discreet.tables.streams import column_of, each

# columns, the first sum, H, the squares, the mean, lengths: of mu squared, and each of three steps; or of what is
# beside a tilted minimum, and its share of epsilon
FEW_COLUMNS: Final = (0.11, 0.08, 0.17, 0.08, 0.02, 0.03, 0.045)
MANY_COLUMNS: Final = (0.10, 0.12, 0.27, 0.07, 0.02, 0.03, 0.03)
FEW_TILTED: Final = (0.24, 0.09, 0.42, 0.05, 0.13, 0.03, 0.60)
MANY_TILTED: Final = (0.19, 0.12, 0.50, 0.05, 0.08, 0.03, 0.50)
MORE: Final = Fraction(1, 100)  # with weights for the mean, which is a sum then, and for lengths by outcome
FEW: Final = 7  # columns up to which a tilted minimum has the more of epsilon
MIDDLES: Final = 0.44  # of a column's share, for its median, beside a tilted minimum
BALANCE: Final = 0.5  # of the sampling deviation of scores: the tilt up to which rows keep their weight
POINTED: Final = 0.6  # of R: no row of H needs to be longer
WRONG: Final = 0.3  # of the information: by how much squared scores may differ from it
STEPS: Final = 3  # before the last
LEAST: Final = 1.2  # times its noise as an operator, the information must be in every direction
INFORMED: Final = (0.002, 0.03)  # of the rows that may be pulled in H: where the noise allows, and at most
PACKED: Final = 0.4  # at most, beside a tilted minimum: there H takes the ridge off and gives errors, no more
UNEVEN: Final = 1.3  # times as many rows as least squares: the information is not the same in all directions
LOUD: Final = (0.2, 0.14)  # of the information: its noise, as an operator, up to which fewer rows are pulled; tilted
MOST: Final = 1e6  # an outcome beyond counts as this
SPANNED: Final = 2.0  # units: of how wide a spread of offsets the mean outcome is corrected at most
OFFSET_COLUMN: Final = DesignColumn("the offset")


@lru_cache(maxsize=256)  # the same for every public number of rows, of which many are tried
def plan(
    epsilon: Number,
    delta: Number,
    counted: bool,
    width: int,
    unknown: int,
    *,
    centred: bool,
    counts: bool = False,
    tilted: bool = False,
    offset: bool = False,
    weighted: bool = False,
    beside: Share | None = None,
) -> Allocation:
    """What each stage costs for rows of `width` entries with their outcome, `unknown` columns without bounds; `counted`
    if their number is private, `counts` of a Poisson model, `tilted` if a tilted minimum takes the place of steps,
    which it does without offset, weights and clusters, whose sums are `beside` these. [glm_stages.2]"""
    unknown, twice = unknown + offset, weighted and not counts  # lengths by outcome
    neighbours = Neighbours.ADD_OR_REMOVE if counted else Neighbours.REPLACE

    def gram(mu: Fraction) -> Gaussian:
        return gram_cost(mu, width - 1, neighbours)

    def tail(mu: Fraction) -> Gaussian:
        return tail_cost(mu, neighbours)

    def score(size: int) -> Callable[[Fraction], Gaussian]:
        return lambda mu: sum_cost(mu, size, neighbours)

    of_mean = score(2) if weighted else score(1) if counts else lambda mu: counts_cost(mu, 2, neighbours)
    taken = (FEW_TILTED if width <= FEW else MANY_TILTED) if tilted else MANY_COLUMNS if width > MANY else FEW_COLUMNS
    columns, moments, information, squares, mean, early, rest = (Fraction(round(1000 * one), 1000) for one in taken)
    median = Fraction(round(100 * (MIDDLES if tilted else MEDIAN)), 100) if centred else Fraction(0)
    shares = {
        "count": Share(Fraction(5, 1000), counted_cost) if counted else None,
        "centre": Share(columns * median, Choice, unknown) if unknown and centred else None,
        "unit": Share(columns * (1 - median), lambda mu: column_cost(mu, neighbours), unknown) if unknown else None,
        "weights": Share(WEIGHTS, lambda mu: column_cost(mu, neighbours)) if weighted else None,
        "lengths": Share(Fraction(1, 100), tail),
        "moments": Share(moments, gram),
        "outcomes": Share(Fraction(3, 100), tail) if counts else None,
        "mean": Share(mean + MORE * weighted, of_mean),
        "early": Share(early + MORE * twice, tail, 1 + twice),
        "steps": Share(STEPS * rest, score(width - 1), STEPS) if not tilted else None,
        "spread": Share(SPREAD, tail),
        "information": Share(information, gram),
        "late": Share(Fraction(4 + 2 * twice, 100), tail, 1 + twice) if counts or twice else None,
        "last": Share(None, score(width - 1)) if not tilted else None,
        "squares": Share(squares, gram),
        "clusters": beside,
    }
    pure = Approximate(rest * exact(epsilon) if tilted else 0, 0)
    costs = shared_out(exact(epsilon) - pure.epsilon, delta, shares)  # [glm_stages.1]
    if tilted:
        costs = replace(costs, parts={**costs.parts, "minimum": (pure,)})
    return costs


def find(
    rows: Rows,
    columns: tuple[DesignColumn, ...],
    stages: NewtonStages,
    family: OutcomeMean,
    rng: Randomness,
    *,
    size: float,
    offset: bool = False,
) -> NewtonStep | RidgedFit | str:
    """All stages but the count, or why they ended; rows end in their offset if there is one, their outcome, and their
    weight if there is one, and are changed. [glm_stages.1]"""
    costs, many, weighted = stages.costs, stages.width - 1, "weights" in stages.costs
    drawn: dict[str, Any] = {"neighbours": stages.neighbours, "rng": rng}
    if not stages.enough(size):  # [glm_stages.2]
        needed, more = least_rows(lambda _: stages), 1.7 if family.name == "logistic" else 3.5
        return TOO_FEW.format(max(size, 0), needed, math.ceil(more * needed), min(more * needed / size, 100.0))
    if isinstance(places := placed(rows, columns[:-1], costs, size, drawn), str):
        return places  # [glm_stages.2]
    beside = offset_place(column_of(rows, many), costs, drawn) if offset else None
    unit = weight_unit(rows, costs, drawn) if weighted else None  # [glm_stages.1]
    if weighted and unit is None:  # [glm_stages.2]
        return UNWEIGHTED
    rows = each(reached := within((*columns[:many], *[OFFSET_COLUMN] * offset, columns[many])), rows)  # [glm_stages.3]
    (centres, units), turn = places, np.eye(many)
    about = (columns, stages, family, size, centres, units, turn, rng)
    fitting = Fitting(rows, reached, *about, offset=beside, weight=unit)
    plain = weighed(Frame.of(units, turn, centres), unit)
    predictors: Rows = each(partial(predictors_of, many=many, weighted=weighted), rows)
    if (found := fitting.tail(plain, "lengths", predictors)) is None:  # [glm_stages.2]
        return LOST.format("their lengths")
    total, noise = fitting.gram(plain, "moments", predictors, float(found.at(OUTSIDE * size)))
    turn, _ = started(np.pad(total / size, (0, 1)), noise / size)
    rate = noisy_rate(rows, size, costs, family, drawn=drawn, weight=unit)
    if isinstance(rate, str):  # [glm_stages.2]
        return rate
    return replace(fitting, turn=turn, rate=rate).found()


@dataclass(frozen=True, slots=True, eq=False)
class Fitting:
    """Rows in a frame, and what was released of them."""

    rows: Rows
    within: Callable[[Floats], Floats]
    columns: tuple[DesignColumn, ...]
    stages: NewtonStages
    family: OutcomeMean
    size: float
    centres: Floats
    units: Floats
    turn: Floats
    rng: Randomness
    rate: float = 0.5  # the mean outcome
    offset: tuple[float, float] | None = None  # the centre of the offsets and their spread, if there are any
    weight: float | None = None  # the unit of the weights, if there are any

    @property
    def rare(self) -> float:
        """The share of rows whose score comes near its limit."""
        if self.weight is not None and self.family.name == "logistic":
            return 1.0
        return min(1.0, 2 * self.rate, 2 * (1 - self.rate) if self.family.name == "logistic" else 1.0)

    @property
    def drawn(self) -> dict[str, Any]:
        """For every draw."""
        return {"neighbours": self.stages.neighbours, "rng": self.rng}

    def tail(self, seen: Seen, stage: str, part: Rows) -> Tail | None:
        """How long the longest rows are. [glm_stages.1]"""
        return tail_of(lengths(part, seen), self.size, cost=self.stages.costs.part(stage, Gaussian), **self.drawn)

    def gram(self, seen: Seen, stage: str, part: Rows, radius: float) -> tuple[Floats, float]:
        """The noisy sum of outer products, and its noise."""
        cost = self.stages.costs.part(stage, Gaussian)
        total, noise = noisy_gram(part, seen, radius, "clip", cost=cost, **self.drawn)  # [glm_stages.1]
        return total * radius**2, noise * radius**2

    def summed(self, seen: Seen, cost: Gaussian, reach: float) -> tuple[Floats, float]:
        """The noisy sum of scores, and its noise."""
        score, off = noisy_sum(self.rows, seen, reach, "clip", cost=cost, **self.drawn)  # [glm_stages.1]
        return score * reach, off * reach

    def at(self, fit: Floats, of: Of = "scores", **limited: float) -> tuple[AtFit, Floats, Floats]:
        """Rows at a fit; the fit, and the turn to the frame, as rounded. An offset is in linear parts alone."""
        beside = list(self.offset or ())[:1]
        line = np.append(fit, ones := np.ones(len(beside)))
        longer = float(np.abs(self.turn).max()) / max(float(np.abs(line).max()), 1e-6)
        turn = np.vstack([np.pad(self.turn, ((0, 0), (0, len(beside)))), longer * line])
        inner = Frame.of(np.append(self.units, ones), turn, np.append(self.centres, beside))
        least = 1.0 if self.family.name == "logistic" or self.rare < 1 else 0.0
        exactly = applied(inner)[:, : len(fit)]
        seen = AtFit(inner, inner.step / longer, self.family, of, least, unit=self.weight, **limited)
        return seen, exactly[-1] / longer, exactly[:-1]

    def limits(self, fit: Floats, stage: str) -> Tail | None:
        """How long the longest scores are. Of rare outcomes few rows come near their limit.

        Where weights depend on a yes or no, as those of cases and controls do, either may have the long ones, and one
        be lost among the others: they are counted apart."""
        if len(self.stages.costs.parts[stage]) > 1:
            seen, parts = self.at(fit)[0], [each(partial(with_outcome, yes=yes), self.rows) for yes in (True, False)]
            either, other = (self.tail(seen, stage, part) for part in parts)
            return either and other and either.longer(other, self._early())
        found = self.tail(self.at(fit, "limits")[0], stage, self.rows)
        return None if found is None else replace(found, size=self.rare * found.size, beyond=self.rare * found.beyond)

    def found(self) -> NewtonStep | RidgedFit | str:
        """The fit and its errors. [glm_stages.1]"""
        costs, many, constant = self.stages.costs, len(self.units), self.columns[0] is CONSTANT
        log_odds, fit = self.family.linear(self.rate, OFFSET) if constant else 0.0, np.zeros(many)
        curve, fit[0] = float(self.family.slope(np.array([log_odds]))[0]) * self.size, log_odds
        if constant and self.offset and self.family.name == "poisson":
            fit[0] -= min(self.offset[1], SPANNED) ** 2 / 2  # the mean of exp is above exp of the mean
        if (longest := self.limits(fit, "early")) is None:  # [glm_stages.2]
            return LOST.format("the residuals")
        if tilted := "minimum" in costs:
            fit, theta, cut, reach = self._minimum(fit, longest, curve)
            limited = {"reach": reach}
        else:
            fit = self._steps(fit, longest, curve, constant=constant)
            limited = {"limit": float(longest.at(self._early()))}  # a score that is cut keeps its length
        seen, fit, turned = self.at(fit, "roots", **limited)
        if (found := self.tail(seen, "spread", self.rows)) is None:  # [glm_stages.2]
            return LOST.format("the information")
        pulled = (INFORMED[0], PACKED if tilted else INFORMED[1])
        fewest, most = (float(found.at(part * self.size)) for part in pulled)
        bearable = math.sqrt(LOUD[tilted] * curve / self.stages.operator(1.0))
        radius = min(fewest, max(most, bearable), POINTED * limited.get("reach", math.inf))
        information, noise = self.gram(seen, "information", self.rows, radius)
        values, vectors = np.linalg.eigh(information)
        least, held = LEAST * noise * math.sqrt(2 * many), None
        if tilted:
            weight, tilt = float(ridge_of(self.stages)) * reach**2, tilt_of(self.stages) * reach
            bound = inverse_of(seen_through(values, least, weight), vectors)
            known: Any = {"weight": weight, "tilt": tilt, "reach": reach, "log_odds": log_odds, "size": self.size}
            held = RidgedFit.of((self.columns, self.centres, self.units), theta, turned, curve, bound, **known)
        if not values[0] > least:  # [glm_stages.2]
            times = min(2 * least / max(float(values[0]), least / 5), 10.0)
            why = HIDDEN.format(blamed(turned.T @ vectors[:, 0], self.columns), times)
            return why if held is None else replace(held, why=why)
        inverse = inverse_of(values, vectors)
        if tilted:
            seen, fit, turned = self.at(fit, "scores", **limited)
            step, score_noise = weight * inverse @ theta, tilt
            fit = fit + turned.T @ step
            if (moved := float(np.linalg.norm(step))) > RIDGED and held is not None:  # [glm_stages.2]
                return replace(held, why=SEPARATED)
        else:
            if isinstance(last := self._last(fit, inverse, longest), str):  # [glm_stages.2]
                return last
            seen, fit, turned, step, score_noise, cut, reach, longest, moved = last
        squares, squares_noise = self.gram(seen, "squares", self.rows, reach)
        if tilted:  # so noisy that the information, which is about the same, has a say
            share = 1 / (1 + (squares_noise / (WRONG * curve)) ** 2)
            squares, squares_noise = share * squares + (1 - share) * information, share * squares_noise / 2
        beyond = longest.excess(cut) if not tilted else min(longest.excess(cut), EXCESS * score_noise)
        level = -(self.offset or (0.0,))[0]
        own, place = own_units(self.columns, np.append(self.centres, level), np.append(self.units, 1.0))
        return NewtonStep(
            value=own @ fit + place,
            way=own @ turned.T,
            inverse=inverse,
            information_noise=noise,
            step=step,
            score_noise=score_noise,
            squares=squares,
            squares_noise=squares_noise,
            size=self.size,
            limit=reach * (self.weight or 1.0),
            often=reach / longest.typical,
            spans=own.diagonal(),
            scored=Scored(self.within, seen, longest, cut),
            lean=1.0 if self.family.name == "poisson" else 1 - 2 * self.rate,
            pulled=PULLED + moved,
            excess=(beyond, 0.0 if tilted else longest.excess(cut, 2)),
            held=held,
        )

    def _minimum(self, start: Floats, longest: Tail, curve: float) -> tuple[Floats, Floats, float, float]:
        """The fit that minimises the tilted loss, how far it is from the start in the frame, how many rows would best
        weigh less, and beyond which length they do: a shorter one where the tilt is the larger part of the error.
        [glm_stages.4]"""
        many, tilt = len(self.units), tilt_of(self.stages)
        cut = longest.most(OFTEN[0] * tilt, 2 * OFTEN[1] * tilt, EXCESS * tilt)
        reach = min(float(longest.at(cut)), BALANCE * math.sqrt(curve) / tilt, LONGEST)  # [glm_stages.4]
        reach = max(reach, math.sqrt(many))
        inner = Frame.of(self.units, self.turn, self.centres)
        terms: dict[str, Any] = {"most": self.stages.rows, "offset": float(start[0]), "rng": self.rng}
        priced = self.stages.costs.part("minimum", Approximate), ridge_of(self.stages)
        theta = minimised(self.rows, inner, reach, *priced, **terms)  # [glm_stages.4]
        return start + applied(inner).T @ theta, theta, cut, reach

    def _steps(self, fit: Floats, longest: Tail, curve: float, *, constant: bool) -> Floats:
        """Two steps from the mean outcome. [glm_stages.1]"""
        theta, steps = np.zeros(len(fit)), self.stages.costs.all("steps", Gaussian)
        for cost in steps[:2]:
            seen, fit, turned = self.at(fit)
            score, _ = self.summed(seen, cost, float(longest.at(self._early())))
            step = shortened(np.asarray(np.linalg.solve(curve * (np.eye(len(fit)) + np.outer(theta, theta)), score)))
            fit = fit + turned.T @ step
            if self.family.name == "poisson" and constant and not theta.any():
                theta = step
                fit[0] -= theta @ theta / 2  # the mean of exp is above exp of the mean
        return fit

    def _early(self) -> float:
        """How many scores are cut before the last step."""
        return max(EARLY * self.rare * self.size, self.stages.moved("steps") / 4)

    def _last(self, fit: Floats, inverse: Floats, longest: Tail) -> Any:
        """Two Newton steps with the same information; or why they do not settle. [glm_stages.1]"""
        costs, cut = self.stages.costs, self._early()
        seen, fit, turned = self.at(fit)
        score, off = self.summed(seen, costs.all("steps", Gaussian)[2], float(longest.at(cut)))
        settled = SETTLED * off + float(np.linalg.norm(score)) / 3 + longest.excess(cut)
        before = shortened(inverse @ score)
        seen, fit, turned = self.at(fit + turned.T @ before)
        if "late" in costs:
            if (late := self.limits(fit, "late")) is None:
                return LOST.format("the residuals")
            longest = late
        cost, moved = costs.part("last", Gaussian), self.stages.moved("last")
        cut = longest.most(OFTEN[0] * moved, OFTEN[1] * moved, EXCESS * moved)
        reach = float(longest.at(cut))
        score, off = self.summed(seen, cost, reach)
        if np.abs(score).max() > settled + SETTLED * off:
            return UNSETTLED
        step = inverse @ score
        moved = float(np.linalg.norm(before + step / 2))  # since the information was taken
        return seen, fit + turned.T @ step, turned, step, off, cut, reach, longest, moved
