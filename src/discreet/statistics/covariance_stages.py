"""The stages of the covariance of normal rows without bounds: a frame, a centre, a mean, and the second moment there.

Releases
    Where the number of rows is private, a noisy one. A frame (statistics/whiten.py); in it a centre
    (friendly/find_centre.py); the noisy mean, and about it the noisy second moment, of rows bent into a ball
    (stages/gram.py). If no centre is found, the second moment of the differences in place of mean and second moment.
Promise
    [covariance_stages.1] Under REPLACE the stages cost what `MomentStages.loss` lists, within (epsilon, delta).
    [covariance_stages.2] Under ADD_OR_REMOVE they cost what `MomentBudget.loss` says, within (epsilon, delta).
    [covariance_stages.3] The plan, the radii and the refusal of too few rows read public numbers, and a
          noisy number of rows where that is private; every later choice reads released ones.
    [covariance_stages.4] The distribution of what is released is the same for the rows in any order: the promises hold
          for neighbours whose other rows come in another order too.
Why
    [covariance_stages.1] Adaptive composition of [whiten.1], [find_centre.1], [gram.2] and [gram.3]. Given
    the order that is drawn, one difference is exchanged, and one of the rows handed to the search for a centre
    ([whiten.3]). Centre and frame were released, so lengths and bent rows are fixed functions of one row each, and so
    is `plain` ([gram.4]). The parts are those of an allocation with the slack of all draws and the event kept:
    [allocation.2].
    [covariance_stages.2] The count is of sensitivity 1 ([average.6]); all that follows is shared out by what it
    released. Given the key, one difference is exchanged, added or taken away, and one of the rows handed to the search
    is added or taken away ([whiten.3]). Then as before with [find_centre.2]; sums over rows move by one row ([gram.2]),
    those over differences by one exchanged at most (one added moves v v' - k I by b^2, as k <= b^2 / d), and each is
    calibrated to that. What a stage costs depends on the count: squares of mu add up adaptively, with the slacks and
    the one event, if their sum never exceeds a number that was fixed before ([filter.3]). It does not: the count, whose
    share is fixed, and the rest are parts of one allocation, and `ceiling` is no less than any of them together
    ([allocation.3], [allocation.4]).
    [covariance_stages.3] `plan` sees epsilon, delta, d, and n or its noisy stand-in.
    [covariance_stages.4] Rows are read in exact sums and counts ([gram.1]), which have no order, and by [whiten.4].
Needs
    n sqrt(rho) of about 20 d^1.5, rho that of (epsilon, delta): 5,000 rows of 10 columns at epsilon 1, delta 1e-6.
Accuracy
    In the frame, for normal rows: see `FittedMoment`. With n large the sample covariance's, times 1 / efficiency of the
    ball. ADD_OR_REMOVE: the sum of v v' - k I is released, k the mean square of a standard normal row's entries, so a
    noisy n divides a sum near 0 and its error is of second order. The noise is below 1 / sqrt 2 of REPLACE's. Pairs are
    fewer, 0.3 n in place of 0.5 n, which costs the frame some of its roundness where n is small.
Source
    Biswas, Dong, Kamath and Ullman 2020 (CoinPress), with noise in the isometric coordinates of symmetric matrices, a
    hard ball that is inverted (statistics/whiten.py), and no range given.
"""

import math
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import Final

import numpy as np

from discreet.accounting.allocation import CHOICE, STRONGEST, Allocation, Share
from discreet.errors import Refused
from discreet.friendly.average import SLACK, noisy_count
from discreet.friendly.find_centre import MOST, find_centre
from discreet.privacy.exact import Number, exact
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Approximate, Choice, Gaussian, Loss
from discreet.privacy.mechanism import Randomness, what_to_do
from discreet.stages.clip import Floats
from discreet.stages.gram import Frame, Shape, gram_cost, noisy_gram, noisy_sum, sum_cost
from discreet.statistics.whiten import (
    NATS,
    EllipticResponse,
    Whitening,
    by_chance,
    differences,
    find_frame,
    length_of,
    measured,
    pairs_of,
    radius_for_covariance,
    radius_for_mean,
    response,
)

REPLACE: Final = Neighbours.REPLACE
COUNT: Final = Fraction(1, 100)  # of mu^2, for the number of rows where it is private
MISS: Final = Fraction(1, 10)  # of delta: that more rows were dropped than the search for a centre believes
SAFE: Final = 1.3  # the frame is round within this factor, more or less
COLUMN: Final = 140.0  # pairs times epsilon that a column's distance would like
OUTSIDE: Final = 0.45  # the share of differences beyond that distance
LOUD: Final = 0.8  # the noise of a turn beyond which it is no use
SHAPE: Final[Shape] = "taper"  # far rows count as errors


def friendly(mu: Fraction) -> Gaussian:
    """The cost of a draw of the search for a centre, and of a count."""
    return Gaussian(mu, SLACK)


COUNTED: Final = Share(COUNT, friendly)


@dataclass(frozen=True, slots=True, kw_only=True)
class MomentStages:
    """What each stage costs, for n rows of d columns, all of it public or released."""

    rows: int
    columns: int
    neighbours: Neighbours
    costs: Allocation

    @property
    def loss(self) -> Loss:
        """Every draw, the count where there is one, and the event of the search for a centre. [covariance_stages.1]"""
        return self.costs.loss

    @property
    def whitening(self) -> Whitening:
        """What the frame costs."""
        turns = self.costs.all("turns", Gaussian)
        return Whitening(self.columns, self.costs.part("distance", Choice), turns, OUTSIDE)

    @property
    def noise(self) -> float:
        """s of the mean of v v', in units of R^2."""
        moved = math.sqrt(2) if self.neighbours is REPLACE else 1.0
        return moved / (self.rows * float(self.costs.part("square", Gaussian).mu))

    @property
    def shift_noise(self) -> float:
        """The noise on each entry of the mean of v, in units of R."""
        return (2 if self.neighbours is REPLACE else 1) / (self.rows * float(self.costs.part("mean", Gaussian).mu))

    @property
    def balls(self) -> tuple[float, float]:
        """The radii for the mean and for the second moment. [covariance_stages.3]"""
        mean = radius_for_mean(self.columns, self.rows, self.shift_noise, SHAPE)
        return mean, radius_for_covariance(self.columns, self.rows, self.noise, SHAPE)

    @property
    def enough(self) -> bool:
        """Whether every stage will find what it looks for. [covariance_stages.3]"""
        pairs = pairs_of(self.rows, self.neighbours)
        whitening = self.whitening
        loud = turn_noise(self.columns, pairs, float(whitening.turns[0].mu))
        looked = min(self.rows, MOST)
        return (
            measured(pairs) * float(whitening.distance.epsilon) >= 2 * NATS
            and loud <= LOUD
            and looked * float(self.costs.part("test", Gaussian).mu) >= 40
            and self.noise * (self.columns + 2) * math.sqrt(2 * self.columns) <= 1
        )


def turn_noise(columns: int, pairs: int, mu: float) -> float:
    """The size of the noise of a turn, as an operator, where I is wanted."""
    return 2 * columns**1.5 / (pairs * mu) if pairs else math.inf


@dataclass(frozen=True, slots=True)
class MomentBudget:
    """What may be spent on the stages, under which neighbours; `mean` is the mean's share."""

    epsilon: Number
    delta: Number
    _: KW_ONLY
    mean: Fraction
    neighbours: Neighbours = REPLACE

    def whole(self, columns: int) -> Allocation:
        """All draws together, their slack kept, and the event of the search for a centre. [covariance_stages.1]"""
        most, private = Fraction(STRONGEST), not self.neighbours.size_is_public
        gram = exact(gram_cost(most, columns, self.neighbours, less=private).slack)
        off = (3 if private else 2) * SLACK + exact(sum_cost(most, columns, self.neighbours).slack) + 7 * gram
        return Allocation.of(self.epsilon, self.delta, slack=off, event=MISS)  # [covariance_stages.1]

    def loss(self, size: int | None, columns: int | None) -> Loss:
        """Every draw; where the number of rows is private their mu, before columns are known (epsilon, delta).
        [covariance_stages.1], [covariance_stages.2]"""
        if columns is not None and not self.neighbours.size_is_public:
            return self.whole(columns).ceiling  # [covariance_stages.2]
        if columns is None or size is None:
            return Approximate(self.epsilon, self.delta)
        return self.plan(size, columns).loss  # [covariance_stages.1]

    def counted(self, size: int, columns: int, rng: Randomness) -> int:
        """A noisy number of rows, 1 or more. [covariance_stages.2]"""
        cost = self.whole(columns).split(count=COUNTED).part("count", Gaussian)
        return max(1, round(noisy_count(size, cost, rng)))  # [covariance_stages.2]

    def check(self, rows: int, columns: int) -> None:
        """Refuse too few rows by a number that is public or was released. [covariance_stages.3]"""
        if self.plan(max(rows, 1), columns).enough:
            return
        least = 16
        while least < 2**40 and not self.plan(least, columns).enough:
            least = least * 21 // 20 + 1
        noisy = not self.neighbours.size_is_public
        found = f"there are {'about ' if noisy else ''}{rows} rows of {columns} columns; finding their covariance "
        if least >= 2**40:
            raise Refused(f"{found}takes more, however many there are: ask for a larger epsilon")
        to_do = what_to_do(rows, self.epsilon, least, "give fewer columns", noisy=noisy, scales=False)
        raise Refused(f"{found}without bounds takes about {least} at this epsilon and delta; {to_do}")

    def fit(self, rows: Floats, rng: Randomness) -> "FittedMoment | str":
        """All stages, or why they ended. [covariance_stages.1], [covariance_stages.2]"""
        size, columns = rows.shape
        if not self.neighbours.size_is_public:
            size = self.counted(size, columns, rng)  # [covariance_stages.2]
        try:
            self.check(size, columns)  # [covariance_stages.3]
        except Refused as refusal:
            return str(refusal)
        return fit(rows, self.plan(size, columns), rng)

    def plan(self, rows: int, columns: int) -> MomentStages:
        """The stages for so many rows, a public or a noisy number. [covariance_stages.3]"""
        whole, private = self.whole(columns), not self.neighbours.size_is_public
        left = 1 - COUNT if private else Fraction(1)  # [covariance_stages.2]
        square = float(whole.square * left)
        pairs, looked = max(pairs_of(rows, self.neighbours), 1), min(rows, MOST)

        def sum_noise(mu: Fraction) -> Gaussian:
            return sum_cost(mu, columns, self.neighbours)

        def turn_cost(mu: Fraction) -> Gaussian:
            return gram_cost(mu, columns, REPLACE)

        def gram_noise(mu: Fraction) -> Gaussian:
            return gram_cost(mu, columns, self.neighbours, less=private)

        times = columns + 1
        distance = part(times * (COLUMN / measured(pairs)) ** 2 / float(CHOICE) / square, 0.01, 0.13)
        wanted = 2 * columns**1.5 / (0.15 * pairs)  # the mu of a turn with noise of 0.15
        turn = part(wanted**2 / square, 0.01, 0.04)
        loud = turn_noise(columns, pairs, math.sqrt(square * turn))
        turns = min(5, max(3, 1 + math.ceil(14 / -math.log(loud)))) if loud < 0.9 else 3
        test = part((60 / looked) ** 2 / square, 0.003, 0.1)
        centre = part((12.5 * friendly_radius(looked, columns) / looked) ** 2 / square, 0.005, 0.1)

        costs = whole.split(
            count=COUNTED if private else None,
            distance=Share(left * distance, Choice, times),
            turns=Share(left * turns * turn, turn_cost, turns),
            test=Share(left * test, friendly),
            centre=Share(left * centre, friendly),
            mean=Share(left * self.mean, sum_noise),
            square=Share(None, gram_noise),
        )  # [covariance_stages.1], [covariance_stages.2]
        return MomentStages(rows=rows, columns=columns, neighbours=self.neighbours, costs=costs)


def part(wanted: float, least: float, largest: float) -> Fraction:
    """A share between two others, to six digits."""
    return Fraction(round(10**6 * min(max(wanted, least), largest)), 10**6)


def friendly_radius(looked: int, columns: int) -> float:
    """A distance that hardly any pair of so many standard normal rows exceeds, and a little more."""
    pairs = max(looked * (looked - 1) / 2, 1.0)
    return SAFE * math.sqrt(2) * length_of(min(0.5, 0.05 / pairs), columns)


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
    """All stages but the count, or why they ended: `shift` is None if no centre was found. [covariance_stages.1],
    [covariance_stages.2]"""
    paired, some = by_chance(rows, stages.rows, stages.neighbours, rng)  # [covariance_stages.4]
    apart, size = differences(paired), pairs_of(stages.rows, stages.neighbours)
    frame = find_frame(apart, size, stages.whitening, rng)  # [covariance_stages.1]
    if isinstance(frame, str):
        return frame
    found = find_centre(
        frame.plain(some),
        friendly_radius(min(stages.rows, MOST), stages.columns),
        test=stages.costs.part("test", Gaussian),
        mean=stages.costs.part("centre", Gaussian),
        miss=float(stages.costs.event),
        neighbours=stages.neighbours,
        rng=rng,
    )  # [covariance_stages.1]
    used, moved = apart, REPLACE  # [covariance_stages.2]: one difference is exchanged at most
    if found is not None:
        used, moved, size = rows, stages.neighbours, stages.rows
        frame = frame.at(frame.back(found.point))
    near, far = stages.balls
    shift, shift_noise = None, 0.0
    if found is not None:
        cost = stages.costs.part("mean", Gaussian)
        total, noise = noisy_sum(
            rows, frame, near, SHAPE, cost=cost, neighbours=moved, rng=rng
        )  # [covariance_stages.1]
        shift = response(stages.columns, near, SHAPE)
        shift_noise = noise * near / size / shift.shift
        frame = frame.at(frame.centre + frame.back(total * near / size / shift.shift))
    at = response(stages.columns, far, SHAPE)
    level = 0.0 if stages.neighbours.size_is_public else at.level / far**2
    cost = stages.costs.part("square", Gaussian)
    # [covariance_stages.1], [covariance_stages.2]
    second, noise = noisy_gram(used, frame, far, SHAPE, cost=cost, neighbours=moved, rng=rng, less=level)
    second = second / size + level * np.eye(stages.columns)
    inside = at.covariance(second * far**2)
    if found is not None:
        inside = (inside - shift_noise**2 * np.eye(stages.columns)) * (size / max(size - 1, 1))
    inside = positive(inside)
    return FittedMoment(
        frame=frame,
        inside=inside,
        response=at,
        rows=size,
        noise=noise * far**2 / size,
        shift=shift,
        shift_noise=shift_noise,
    )


def positive(matrix: Floats) -> Floats:
    """The nearest symmetric matrix whose eigenvalues are positive, if only just."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return np.asarray((vectors * np.maximum(values, 1e-6)) @ vectors.T)
