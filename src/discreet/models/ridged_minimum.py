"""A logistic model of few people: the minimum of the loss with a public ridge, so large that intervals need no more.

With u the features in units about their centres, after a 1 if there is an intercept, and w the weight of a row by its
length, theta minimises the sum of w log(1 + exp(-+(o + u'theta))) plus r |theta|^2 / 2, tilted by chance: o the log
odds of the mean outcome, r the ridge.

Releases
    A median and noisy counts of octaves of each column without public bounds; noisy counts of either outcome; the
    tilted minimum, with a ridge that the noise asks for. Under ADD_OR_REMOVE a noisy count went before.
Promise
    [ridged_minimum.1] What is drawn costs no more than the stages of models/glm_stages.py with a tilted minimum: a
          Gaussian part within their mu and slack, and the same pure part. So which of the two runs may depend on the
          count that both begin with.
    [ridged_minimum.2] The ridge and the parts read public numbers; refusals and what is computed afterwards read
          released ones too. No value raises.
    [ridged_minimum.3] Intervals hold the coefficients that minimise the same for the population, without a tilt, as
          many rows, places, weights and ridge as they are: with their confidence, to first order, wherever squared
          residuals are at most DOUBLED times what the model says of them. Nothing is assumed of the features.
    [ridged_minimum.4] Where theta is hardly longer than a tilt alone makes it a part of it leaves, and the interval
          allows for the rest.
Why
    [ridged_minimum.1] Adaptive composition of [locate.1], [octaves.1] on columns and on outcomes, and of
    [tilted_minimum.1] as in [glm_stages.4], which holds for any ridge. `plan` shares out the whole of those stages:
    [allocation.2] and [allocation.3] hold for any shares. After the count, whose part is the same, either way has a
    Gaussian part of the same mu and a pure part of the same epsilon, whatever was counted: each is within the same
    trade-off curve, and [allocation.4] is what they compose to, with the count.
    [ridged_minimum.2] By reading `plan`, `RidgedStages` and `find`; [glm_stages.3] for rows.
    [ridged_minimum.3] At the minimum r theta + b is the score; to first order theta is off by (H + r)^-1 (s + b), H the
    information, s the sampling error of the score, of covariance M <= DOUBLED H. Of a linear form a'theta the variance
    is a'(H + r)^-1 (M + t^2 I) (H + r)^-1 a, t the deviation of the tilt. For any H >= 0 the part of t is at most
    t^2 |a|^2 / r^2 and that of M, by h / (h + r)^2 <= 1 / (4 r), at most DOUBLED |a|^2 / (4 r). So no information is
    asked for, and columns that depend on each other make no interval too short. Where there is a noisy one, G, whose
    noise is at most E as an operator, H + r >= B = r + k (G - E) for any k in [0, 1], so that a'(H + r)^-1 a is at most
    q = a'B^-1 a where B is positive, and at most |a|^2 / r. Then the parts are at most t^2 q / r and DOUBLED q.
    [ridged_minimum.4] With an information of h in all directions errors alone make |theta|^2 p (t^2 + h) / (h + r)^2 on
    average, and the gain of s theta over none is s A - s^2 h |theta|^2 / 2, A = (h + r) (|theta|^2 - that): most for
    s = A / (h |theta|^2), if that is not above 1. It reads released numbers, and s theta is (1 - s) theta from what
    intervals are about.
Needs
    Public numbers for which r is at most LEAST of the number of rows, centres and units are seen: 680 rows of ten
    columns at epsilon 1 and delta 1e-6 where people are added or removed, 1,400 where one is replaced.
Accuracy
    r is such that the tilt moves linear parts by LOUDEST in the mean square at the most. Slopes are drawn to about h /
    (h + r) of themselves, h = n p (1 - p) for columns that do not depend on each other.
Source
    Chaudhuri, Monteleoni and Sarwate 2011 (the tilt); le Cessie and van Houwelingen 1992 (ridge logistic regression).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

import numpy as np

from discreet.accounting.allocation import Allocation, Share
from discreet.models.coefficients import CoefficientSpread
from discreet.models.design_columns import CONSTANT, TOO_FEW, DesignColumn, own_units, placed, reachable
from discreet.models.logistic_loss import OFFSET, minimised, tilt_with
from discreet.models.newton_stages import counted_cost
from discreet.models.score import logistic, noisy_rate
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Approximate, Choice, Gaussian, Loss, compose
from discreet.privacy.mechanism import Randomness
from discreet.privacy.values import Coefficients
from discreet.stages.clip import Floats
from discreet.stages.gram import Frame, Rows
from discreet.stages.octaves import column_cost, counts_cost, least_seen

COUNT: Final = Fraction(5, 1000)  # as in models/glm_stages.py: both begin with the same draw [ridged_minimum.1]
OUTCOMES: Final = Fraction(10, 100)  # of mu squared, what is left is for columns
MIDDLES: Final = Fraction(45, 100)  # of a column's share, for its median
LOUDEST: Final = 0.5  # what the tilt may move linear parts by, in the mean square
LEAST: Final = 0.25  # of the rows: so many the ridge may weigh as
CENTRED: Final = 30.0  # rows times epsilon that find a centre, twice that where rows are replaced
SEEN: Final = 0.3  # of the rows, as many as must be seen in an octave
DOUBLED: Final = 2.0  # times what the model says of them, squared residuals [ridged_minimum.3]
ABOUT: Final = (
    "the population's coefficients with a ridge of {:.3g} for as many rows, those far out weighing less, each by itself"
)
TARGET: Final = "(maximum likelihood with a ridge, rows far out weigh less)"
DRAWN: Final = (
    "a ridge draws the slopes towards 0, to about {:.2f} of what they would be where no column depends on another; "
    "without one: {}"
)
ENOUGH: Final = "it takes about {:.0f} rows"


@dataclass(frozen=True, slots=True, kw_only=True)
class RidgedStages:
    """What each stage costs, all of it public. `width` is that of a row with its outcome."""

    rows: int | None
    width: int
    costs: Allocation

    @property
    def loss(self) -> Loss:
        """Every draw. [ridged_minimum.1]"""
        return self.costs.loss

    @property
    def neighbours(self) -> Neighbours:
        """By whether the number of rows is public."""
        return Neighbours.ADD_OR_REMOVE if self.rows is None else Neighbours.REPLACE

    @property
    def reach(self) -> float:
        """R: rows that are longer weigh less."""
        return math.sqrt(self.width - 1)

    @property
    def cost(self) -> Approximate:
        """That of the minimum."""
        return self.costs.part("minimum", Approximate)

    @property
    def ridge(self) -> Fraction:
        """That of the minimum for rows at most 1 long: public. [ridged_minimum.2]"""
        steepness = 1 if self.rows is None else 2
        spent = min(float(self.cost.epsilon), 8.0)
        return Fraction(max(steepness * math.sqrt(self.width) / (LOUDEST * spent), 1.0))

    @property
    def weight(self) -> float:
        """The ridge for rows in units: as many rows it weighs as, times a slope."""
        return float(self.ridge) * self.reach**2

    @property
    def tilt(self) -> float:
        """The standard deviation of each entry of the tilt, for rows in units: public."""
        return self.reach * tilt_with(self.cost, self.ridge, self.width - 1, self.neighbours)

    def enough(self, size: float) -> bool:
        """Whether centres and units will be found, and the ridge is not all that is seen; `size` is public or
        released. [ridged_minimum.2]"""
        times = 1 if self.rows is None else 2
        if "centre" in self.costs and size * float(self.costs.part("centre", Choice).epsilon) < CENTRED * times:
            return False
        if "unit" in self.costs and least_seen(self.costs.part("unit", Gaussian), self.neighbours) > SEEN * size:
            return False
        return self.weight <= LEAST * size


def plan(whole: Allocation, rows: int | None, width: int, unknown: int, *, centred: bool) -> RidgedStages:
    """The stages for rows of `width` entries, of which `unknown` columns have no bounds, with what `whole` has: the
    costs of `glm_stages.plan` with a tilted minimum. [ridged_minimum.1]"""
    neighbours = Neighbours.ADD_OR_REMOVE if rows is None else Neighbours.REPLACE
    columns, median = 1 - COUNT - OUTCOMES, MIDDLES if centred else Fraction(0)
    shares = {
        "count": Share(COUNT, counted_cost) if rows is None else None,
        "centre": Share(columns * median, Choice, unknown) if unknown and centred else None,
        "unit": Share(columns * (1 - median), lambda mu: column_cost(mu, neighbours), unknown) if unknown else None,
        "mean": Share(OUTCOMES if unknown else OUTCOMES + columns, lambda mu: counts_cost(mu, 2, neighbours)),
    }
    costs = whole.split(**shares)  # [ridged_minimum.1]
    minimum = {"minimum": (whole.part("minimum", Approximate),)}
    return RidgedStages(rows=rows, width=width, costs=replace(costs, parts={**costs.parts, **minimum}))


def either(costs: Allocation) -> Loss:
    """What the stages cost at most, these or those of `glm_stages.plan`, whichever run. [ridged_minimum.1]"""
    return compose(costs.ceiling, costs.part("minimum", Approximate))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RidgedFit:
    """Coefficients `way` @ theta with a ridge, `value` in the columns' own units and by `bias` nearer to none, and all
    that their errors need.

    `weight` is the ridge on theta beside `size` rows, more or less, and `tilt` the deviation of each entry of the tilt.
    Rows beyond `reach` weigh less. `bound` is not below the inverse of information and ridge; `share` is about what the
    ridge leaves of a slope, and `why` there is one.
    """

    value: Floats
    bias: Floats
    way: Floats
    weight: float
    tilt: float
    reach: float
    log_odds: float
    size: float
    bound: Floats
    share: float
    why: str

    @classmethod
    def of(
        cls,
        places: tuple[tuple[DesignColumn, ...], Floats, Floats],
        theta: Floats,
        turned: Floats,
        slope: float,
        bound: Floats,
        *,
        weight: float,
        tilt: float,
        log_odds: float,
        why: str = "",
        **known: Any,
    ) -> "RidgedFit":
        """Of theta, found in the frame to which `turned` leads from units of the columns at their places; `slope` is
        that of all rows together."""
        columns, centres, units = places
        own, place = own_units(columns, np.append(centres, 0.0), np.append(units, 1.0))
        kept = useful_part(theta, slope, weight, tilt)  # [ridged_minimum.4]
        fit = kept * turned.T @ theta
        fit[0] += log_odds  # 0 where there is no intercept
        found: Any = {"value": own @ fit + place, "way": own @ turned.T, "bound": bound, "why": why}
        found |= {"bias": (1 - kept) * np.abs(own @ turned.T @ theta), "share": slope / (slope + weight)}
        return cls(**found, weight=weight, tilt=tilt, log_odds=log_odds, **known)

    @property
    def shown(self) -> Mapping[str, Any]:
        """Public numbers of the target, with the frame that the spread has."""
        return {"ridge": self.weight, "rows": round(self.size), "log_odds": self.log_odds}

    @property
    def note(self) -> str:
        """What the ridge does."""
        return DRAWN.format(self.share, self.why)

    def spread(self, names: tuple[str, ...], *, intercept: bool) -> CoefficientSpread[Coefficients]:
        """The coefficients and their errors. [ridged_minimum.3]"""
        square = (self.way**2).sum(axis=1)
        held = np.minimum(np.einsum("ij,jk,ik->i", self.way, self.bound, self.way), square / self.weight)
        sampling = np.sqrt(DOUBLED * np.minimum(held, square / (4 * self.weight)))  # [ridged_minimum.3]
        privacy, value, bias = self.tilt * np.sqrt(held / self.weight), self.value, self.bias  # [ridged_minimum.3]
        if not intercept:
            value, sampling, privacy, bias = (np.append(0.0, part) for part in (value, sampling, privacy, bias))
        found = Coefficients(value[1:], float(value[0]), names, "logit")
        about = ABOUT.format(self.weight)
        limit = (self.way, self.reach)
        return CoefficientSpread(found, sampling, privacy, about, bias, target=TARGET, limit=limit, far=True)


def useful_part(theta: Floats, slope: float, weight: float, tilt: float) -> float:
    """The part of theta with which predictions are expected to be best, if the information is `slope` in all
    directions; none where errors alone would look as large. [ridged_minimum.4]

    >>> useful_part(np.array([0.5, 0.5]), 200.0, 150.0, 20.0), useful_part(np.array([0.05, 0.02]), 200.0, 150.0, 20.0)
    (1.0, 0.0)
    """
    square, both = float(theta @ theta), slope + weight
    told = both * (square - len(theta) * (tilt**2 + slope) / both**2)
    return min(1.0, max(0.0, told / max(slope * square, 1e-300)))


def seen_through(values: Floats, edge: float, weight: float) -> Floats:
    """Eigenvalues of a matrix that is not above information and ridge, of those of an information with noise of at most
    `edge` as an operator: as much of it as is not hidden. [ridged_minimum.3]

    >>> seen_through(np.array([5.0, 300.0]), 20.0, 100.0), seen_through(np.array([-120.0, 300.0]), 80.0, 100.0)
    (array([ 85., 380.]), array([ 50., 155.]))
    """
    part = min(1.0, weight / 2 / max(edge - float(values[0]), 1e-300))
    return np.asarray(weight + part * (values - edge))


def find(
    rows: Rows,
    columns: tuple[DesignColumn, ...],
    stages: RidgedStages,
    rng: Randomness,
    *,
    size: float,
    least: float,
    enough: float,
) -> RidgedFit | str:
    """All stages but the count, or why they ended; rows end in their outcome, 0 or 1, and are changed. So many are the
    `least` that there is an answer for, and so many `enough` without a ridge. [ridged_minimum.1]"""
    many, costs, constant = stages.width - 1, stages.costs, columns[0] is CONSTANT
    if not stages.enough(size):  # [ridged_minimum.2]
        bring = 1.1 * least + 3 / float(costs.part("count", Gaussian).mu)  # the next count is noisy too
        return TOO_FEW.format(max(size, 0), least, bring, min(1.2 * bring / max(size, 1.0), 100.0))
    drawn: dict[str, Any] = {"neighbours": stages.neighbours, "rng": rng}
    if isinstance(places := placed(rows, columns[:-1], costs, size, drawn, usual=True), str):  # [ridged_minimum.2]
        return places
    centres, units = places
    rows = reachable(rows, columns)  # [ridged_minimum.2]
    rate = noisy_rate(rows, size, costs, logistic(), drawn=drawn, weight=None)  # [ridged_minimum.1]
    if isinstance(rate, str):  # [ridged_minimum.2]
        return rate
    offset = logistic().linear(rate, OFFSET) if constant else 0.0
    frame, ridge = Frame.of(units, np.eye(many), centres), stages.ridge
    theta = minimised(
        rows, frame, stages.reach, stages.cost, ridge, most=stages.rows, offset=offset, rng=rng
    )  # [ridged_minimum.1]
    slope = size * rate * (1 - rate)
    known = {"weight": stages.weight, "tilt": stages.tilt, "reach": stages.reach, "log_odds": offset, "size": size}
    bound, why = np.eye(many) / stages.weight, ENOUGH.format(enough)
    return RidgedFit.of((columns, centres, units), theta, np.eye(many), slope, bound, why=why, **known)
