"""The stages of a covariance without bounds: a frame, a centre, a mean, and the second moment about it.

Releases
    A frame (statistics/whiten.py); in it a centre (friendly/find_centre.py); without a model the length that a public
    number of rows exceeds; the noisy mean, and about it the noisy second moment, of rows bent into a ball
    (stages/gram.py). If no centre is found, the second moment of the differences in place of mean and second moment.
Promise
    [covariance_stages.1] Under REPLACE the stages cost what `loss` lists, and that is within (epsilon, delta).
    [covariance_stages.2] The plan, the radii of a model and the refusal of too few rows read public numbers; every
          later choice reads released ones.
Why
    [covariance_stages.1] Adaptive composition of [whiten.1], [find_centre.1], [locate.2]
    and [gram.2], [gram.3]. Centre and frame were released, so lengths and bent rows are fixed functions of
    one row each; the rows handed to the search for a centre are chosen by their places, and `plain` is such a function
    too ([frame.1]). The parts are those of an allocation with the slack of all draws and the event kept:
    [allocation.2].
    [covariance_stages.2] `plan` sees epsilon, delta, n, d and whether there is a model.
Needs
    n sqrt(rho) of about 20 d^1.5, rho that of (epsilon, delta): 5,000 rows of 10 columns at epsilon 1, delta 1e-6.
Accuracy
    In the frame, for normal rows: see `Fitted`. With n large the sample covariance's, times 1 / efficiency of the ball.
Source
    Biswas, Dong, Kamath and Ullman 2020 (CoinPress), with noise in the isometric coordinates of symmetric matrices, a
    hard ball that is inverted (statistics/whiten.py), and no range given.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np

from discreet.accounting.allocation import CHOICE, STRONGEST, Allocation, Share
from discreet.friendly.find_centre import MOST, find_centre
from discreet.friendly.friendly_budget import SLACK
from discreet.privacy.exact import Number, exact
from discreet.privacy.loss import Choice, Gaussian, Loss
from discreet.privacy.mechanism import Randomness
from discreet.privacy.neighbours import Neighbours
from discreet.stages.clip import Floats
from discreet.stages.frame import FINE, Frame
from discreet.stages.gram import Shape, gram_cost, noisy_gram, noisy_sum, sum_cost
from discreet.stages.locate import far_distance
from discreet.statistics.whiten import (
    MOST_PAIRS,
    NATS,
    EllipticResponse,
    Whitening,
    differences,
    find_frame,
    length_of,
    lengths,
    measured,
    radius_for_covariance,
    radius_for_mean,
    response,
)

REPLACE: Final = Neighbours.REPLACE
MISS: Final = Fraction(1, 10)  # of delta: that more rows were dropped than the search for a centre believes
SAFE: Final = 1.3  # the frame is round within this factor, more or less
COLUMN: Final = 400.0  # pairs times epsilon that a column's distance would like
MODEL_COLUMN: Final = 140.0  # and under a model
MODEL_OUTSIDE: Final = 0.45  # the share of differences beyond that distance, under a model
WIDER: Final = 2.0  # times the length that few rows exceed: beyond that ball hardly any lie
FULL: Final = 16.0  # standard deviations in units of a column beyond which its entries end too soon
LOUD: Final = 0.8  # the noise of a turn beyond which it is no use
MODEL_SHAPE: Final[Shape] = "taper"
FREE_SHAPE: Final[Shape] = "clip"


@dataclass(frozen=True, slots=True, kw_only=True)
class MomentStages:
    """What each stage costs, for n rows of d columns, all of it public; there is no stage `reach` under a model."""

    rows: int
    columns: int
    model: bool
    costs: Allocation

    @property
    def loss(self) -> Loss:
        """Every draw, and the event of the search for a centre. [covariance_stages.1]"""
        return self.costs.loss

    @property
    def whitening(self) -> Whitening:
        """What the frame costs."""
        turns = self.costs.all("turns", Gaussian)
        outside = MODEL_OUTSIDE if self.model else 1 / 8
        return Whitening(self.columns, self.costs.part("distance", Choice), turns, outside)

    @property
    def shape(self) -> Shape:
        """Under a model far rows count as errors, without one as data."""
        return MODEL_SHAPE if self.model else FREE_SHAPE

    @property
    def beyond(self) -> int:
        """How many rows the ball leaves outside, without a model."""
        return 0 if self.model else math.ceil(NATS / float(self.costs.part("reach", Choice).epsilon))

    @property
    def noise(self) -> float:
        """s of the mean of v v', in units of R^2."""
        return math.sqrt(2) / (self.rows * float(self.costs.part("square", Gaussian).mu))

    @property
    def shift_noise(self) -> float:
        """The noise on each entry of the mean of v, in units of R."""
        return 2 / (self.rows * float(self.costs.part("mean", Gaussian).mu))

    def balls(self, reach: float) -> tuple[float, float]:
        """The radii for the mean and for the second moment. [covariance_stages.2]"""
        if not self.model:
            return reach, reach
        mean = radius_for_mean(self.columns, self.rows, self.shift_noise, self.shape)
        return mean, radius_for_covariance(self.columns, self.rows, self.noise, self.shape)

    @property
    def enough(self) -> bool:
        """Whether every stage will find what it looks for. Public. [covariance_stages.2]"""
        pairs = min(self.rows // 2, MOST_PAIRS)
        whitening = self.whitening
        loud = turn_noise(self.columns, pairs, float(whitening.turns[0].mu))
        looked = min(self.rows, MOST)
        return (
            measured(pairs) * float(whitening.distance.epsilon) >= 2 * NATS
            and loud <= LOUD
            and looked * float(self.costs.part("test", Gaussian).mu) >= 40
            and self.rows >= 4 * self.beyond
            and self.noise * (self.columns + 2) * math.sqrt(2 * self.columns) <= 1
        )


def turn_noise(columns: int, pairs: int, mu: float) -> float:
    """The size of the noise of a turn, as an operator, where I is wanted."""
    return 2 * columns**1.5 / (pairs * mu) if pairs else math.inf


def plan(epsilon: Number, delta: Number, rows: int, columns: int, *, model: bool, mean: Fraction) -> MomentStages:
    """The stages for so many rows, `mean` the share of the mean. Public numbers only. [covariance_stages.2]"""

    def sum_noise(mu: Fraction) -> Gaussian:
        return sum_cost(mu, columns, REPLACE)

    def gram_noise(mu: Fraction) -> Gaussian:
        return gram_cost(mu, columns, REPLACE)

    def friendly(mu: Fraction) -> Gaussian:
        return Gaussian(mu, SLACK)

    most = Fraction(STRONGEST)
    off = 2 * SLACK + exact(sum_noise(most).slack) + 7 * exact(gram_noise(most).slack)
    whole = Allocation.of(epsilon, delta, slack=off, event=MISS)  # [covariance_stages.1]
    square = float(whole.amount) ** 2
    pairs, looked = min(rows // 2, MOST_PAIRS), min(rows, MOST)
    pairs = max(pairs, 1)

    times = columns + 1
    distance = part(
        times * ((MODEL_COLUMN if model else COLUMN) / measured(pairs)) ** 2 / float(CHOICE) / square, 0.01, 0.13
    )
    wanted = 2 * columns**1.5 / (0.15 * pairs)  # the mu of a turn with noise of 0.15
    turn = part(wanted**2 / square, 0.01, 0.04)
    loud = turn_noise(columns, pairs, float(whole.amount) * math.sqrt(turn))
    turns = min(5, max(3, 1 + math.ceil(14 / -math.log(loud)))) if loud < 0.9 else 3
    test = part((60 / looked) ** 2 / square, 0.003, 0.1)
    centre = part((12.5 * friendly_radius(looked, columns) / looked) ** 2 / square, 0.005, 0.1)

    costs = whole.split(
        distance=Share(distance, Choice, times),
        turns=Share(turns * turn, gram_noise, turns),
        test=Share(test, friendly),
        centre=Share(centre, friendly),
        reach=None if model else Share(Fraction(3, 100), Choice),
        mean=Share(mean, sum_noise),
        square=Share(None, gram_noise),
    )  # [covariance_stages.1]
    return MomentStages(rows=rows, columns=columns, model=model, costs=costs)


def part(wanted: float, least: float, largest: float) -> Fraction:
    """A share between two others, to six digits."""
    return Fraction(round(10**6 * min(max(wanted, least), largest)), 10**6)


def friendly_radius(looked: int, columns: int) -> float:
    """A distance that hardly any pair of so many standard normal rows exceeds, and a little more."""
    pairs = max(looked * (looked - 1) / 2, 1.0)
    return SAFE * math.sqrt(2) * length_of(min(0.5, 0.05 / pairs), columns)


def needed(epsilon: Number, delta: Number, columns: int, *, model: bool, mean: Fraction) -> int:
    """The least number of rows, within a twentieth, that there is an answer for. Public. [covariance_stages.2]"""
    rows = 16
    while rows < 2**40 and not plan(epsilon, delta, rows, columns, model=model, mean=mean).enough:
        rows = rows * 21 // 20 + 1
    return rows


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FittedMoment:
    """What was found. In the frame: a covariance near I, and the variances of its errors by `response`."""

    frame: Frame
    inside: Floats
    response: EllipticResponse
    rows: int
    noise: float
    shift: EllipticResponse | None
    shift_noise: float
    radius: float

    @property
    def apart(self) -> tuple[float, float]:
        """Sampling and privacy variance of an isometric coordinate of the covariance in the frame, without trace."""
        at = self.response
        return at.apart_variance / self.rows / at.apart**2, (self.noise / at.apart) ** 2

    @property
    def along(self) -> tuple[float, float]:
        """The same of the coordinate along the trace."""
        at = self.response
        return at.along_variance / self.rows / at.along**2, (self.noise / at.along) ** 2

    @property
    def moved(self) -> tuple[float, float]:
        """Sampling and privacy variance of a coordinate of the mean in the frame."""
        if self.shift is None:
            return math.inf, math.inf
        return self.shift.shift_variance / self.rows / self.shift.shift**2, self.shift_noise**2


def fit(rows: Floats, stages: MomentStages, rng: Randomness) -> FittedMoment | str:
    """All stages, or why they ended: `shift` is None if no centre was found. [covariance_stages.1]"""
    apart = differences(rows, rng)
    frame = find_frame(apart, stages.whitening, rng)  # [covariance_stages.1]
    if isinstance(frame, str):
        return frame
    looked = min(len(rows), MOST)
    places = (np.arange(looked) * len(rows)) // looked
    found = find_centre(
        frame.plain(rows[places]),
        friendly_radius(looked, stages.columns),
        test=stages.costs.part("test", Gaussian),
        mean=stages.costs.part("centre", Gaussian),
        miss=float(stages.costs.event),
        neighbours=REPLACE,
        rng=rng,
    )  # [covariance_stages.1]
    centred = found is not None
    used = rows if centred else apart
    if found is not None:
        frame = frame.at(frame.back(found.point))
    reach = _reach(used, frame, stages, rng)  # [covariance_stages.1]
    near, far = stages.balls(reach)
    size, shape = len(used), stages.shape
    shift, shift_noise = None, 0.0
    if centred:
        cost = stages.costs.part("mean", Gaussian)
        # [covariance_stages.1]
        total, noise = noisy_sum(rows, frame, near, shape, cost=cost, neighbours=REPLACE, rng=rng)
        shift = response(stages.columns, near, shape)
        shift_noise = noise * near / size / shift.shift
        frame = frame.at(frame.centre + frame.back(total * near / size / shift.shift))
    cost = stages.costs.part("square", Gaussian)
    # [covariance_stages.1]
    second, noise = noisy_gram(used, frame, far, shape, cost=cost, neighbours=REPLACE, rng=rng)
    at = response(stages.columns, far, shape)
    inside = at.covariance(second * far**2 / size)
    if centred:
        inside = (inside - shift_noise**2 * np.eye(stages.columns)) * (size / max(size - 1, 1))
    inside = positive(inside)
    if (column := _cut_off(frame, inside)) is not None:  # [covariance_stages.2]
        return f"column {column} reaches far beyond the scale that was found for it; its values may be mostly the same"
    return FittedMoment(
        frame=frame,
        inside=inside,
        response=at,
        rows=size,
        noise=noise * far**2 / size,
        shift=shift,
        shift_noise=shift_noise,
        radius=far,
    )


def _cut_off(frame: Frame, inside: Floats) -> int | None:
    """A column whose released variance says that its entries were cut off at 64 units, if there is one.
    [covariance_stages.2]"""
    back = frame.back(np.eye(len(inside)))
    deviations = np.sqrt(np.diag(back @ inside @ back.T)) * frame.per / 2.0**FINE
    return int(deviations.argmax()) if deviations.max() > FULL else None


def _reach(rows: Floats, frame: Frame, stages: MomentStages, rng: Randomness) -> float:
    """The length that `beyond` rows exceed, as released, within what a frame can hold. [covariance_stages.1]"""
    if stages.model:
        return 0.0
    cost = stages.costs.part("reach", Choice)
    # [covariance_stages.1]
    reach = far_distance(lengths(rows, frame), centre=0.0, beyond=stages.beyond, cost=cost, rng=rng)
    return min(WIDER * max(reach, length_of(0.5, stages.columns)), 64 * math.sqrt(stages.columns))


def positive(matrix: Floats) -> Floats:
    """The nearest symmetric matrix whose eigenvalues are positive, if only just."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return np.asarray((vectors * np.maximum(values, 1e-6)) @ vectors.T)
