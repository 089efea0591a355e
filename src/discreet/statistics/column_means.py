"""The means of the columns of a table, whatever their scales: no bounds, and noise in each column's own units.

Releases
    Alone: what statistics/mean.py releases of one column, column by column, but one number of rows for all. Together:
    for each column a median c and a distance C that about m0 records exceed; noisy counts of the lengths of rows, seen
    in units of their columns' distances; then the noisy sums of rows pulled into a ball whose radius follows from them,
    and of their squares. Where the number of rows is private, one noisy number of them.
Promise
    [column_means.1] Alone: pure epsilon under both relations. The draws' epsilons are exact fractions that sum to
         epsilon.
    [column_means.2] Together: (epsilon, delta) under both relations.
    [column_means.3] Which of the two it is follows from epsilon, delta and the number of columns. m0, the shares of all
         stages, the radius and refusals read public numbers and earlier answers only.
    [column_means.4] The interval of each column, by itself, is for the population's mean of the values so limited, by
         the normal approximation; alone, for what [mean.4] says.
    [column_means.5] One row moves the sums of squared entries of rows in the ball by at most sqrt(2) b^2 under REPLACE
         and b^2 under ADD_OR_REMOVE, in L2, where b steps bound the length of a row.
Why
    [column_means.1] One row is one record of every column. Each column's draws are those of [mean.1], and those of all
    columns compose adaptively with the count: [allocation.1].
    [column_means.2] The count is of sensitivity 1, the choices are [locate.1] and [locate.2]; a length is a fixed
    function of one row and of what was released ([gram.4]), so their counts are [octaves.1]; the sums are [gram.2],
    their squares [column_means.5]. Squares of mu add up adaptively, with their slacks, whatever the shares that the
    count gives them, if their sum never exceeds what was fixed before ([filter.3]): they are parts of one allocation
    ([allocation.4]).
    [column_means.3] As `plan` reads. Scales at the edge of the floats are refused after they were released.
    [column_means.4] As [mean.4], with the deviation of Gaussian noise in place of the scale of Laplace noise.
    [column_means.5] The squares of a row's entries are a vector without negative entries, no longer than their sum,
    which is at most b^2 ([gram.2]); of two such vectors the squared distance is at most the sum of their squared
    lengths.
Needs
    Alone n epsilon of 180 d, 360 d under REPLACE; together, at epsilon 1 and delta 1e-6, 670 rows of 2 columns, 900 of
    7 and 1,550 of 20. A row with a missing entry counts as one at the centre.
Accuracy
    Alone, that of each column's mean at epsilon / d, but for a better count. Together noise of deviation R over n mu on
    each column, twice that under REPLACE; R, about 2 + sqrt(d) standard deviations of normal rows, is where what rows
    further out lose in all is expected to be less than the noise in each column. Of normal
    columns, at delta 1e-6, it was 1.1 (2 columns, epsilon 3) to 0.2 times (5 columns, epsilon 1/2) that of single
    means at epsilon / d.
Source
    As statistics/mean.py; Dong, Roth and Su 2022 for the squares of mu.
"""

import math
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

import numpy as np

from discreet.accounting.allocation import CHOICE, STRONGEST, Allocation, Share
from discreet.errors import BadInput, NeedsBounds, Refused
from discreet.friendly.average import SLACK, RegionSpread, noisy_count
from discreet.noise.additive import ROOM, slack
from discreet.privacy.declaration import Public
from discreet.privacy.exact import Number, exact, root_above, show
from discreet.privacy.guarantee import Guarantee, Neighbours, check_budget
from discreet.privacy.intervals import Spread
from discreet.privacy.loss import Approximate, Choice, Gaussian, Laplace, Loss
from discreet.privacy.mechanism import Mechanism, Randomness, refusal_of
from discreet.privacy.release import Provenance, Release
from discreet.stages.clip import count_error, noisy_size
from discreet.stages.declared import LARGEST, SMALLEST, agree, check_size
from discreet.stages.gram import Frame, Rows, fitting_bits, lengths, longest, moments, noisy_sum, sum_cost
from discreet.stages.limits_said import unlimited
from discreet.stages.locate import BEYOND, far_distance, finest, middle
from discreet.stages.normal_laplace import EstimateSpread
from discreet.stages.octaves import counts_noise, distance_cost, distance_tail
from discreet.stages.reach import find_tail
from discreet.statistics.covariance_stages import COUNT, COUNTED, part
from discreet.statistics.mean import COUNT as SIZE
from discreet.statistics.mean import RankClippedMean, tail_mean
from discreet.tables.kept_rows import FLOAT, kept
from discreet.tables.matrix import Floats, columns_of, long_matrix
from discreet.tables.streams import column_of

WIDEST: Final = 2**10  # columns
SQUARE: Final = Fraction(2, 25)  # of mu squared
PLACED: Final = 110.0  # n epsilon that a median would like; see `mean.LOCATED`
MEASURED: Final = 16 * 2 * BEYOND  # that of a distance: a sixteenth of the records lie beyond it
LEAST: Final = 2.5  # so many times m0 there must be rows
REACH: Final = Fraction(2, 25)  # of mu squared, for the counts of lengths
SEEN: Final = 25.0  # deviations of their noise: so many rows at the least
MOST_LOST: Final = 0.7  # of the noise in each column: what rows beyond the ball may lose there
JOINT: Final = 2.35  # epsilon over sqrt(d) mu up to which columns are taken together
WHOLE: Final = 60.0  # units: entries of a frame end at 64
UNSEEN: Final = "a group of fewer than {} people with extreme values is invisible, one of fewer than {} can be"
SHOWN: Final = 8  # columns whose limits stand in the first line


@dataclass(frozen=True, slots=True)
class ColumnMeans:
    """The means of `width` columns.

    `size` is the public number of rows under REPLACE: with it the loss without delta lists every draw.

    >>> from discreet.noise.randomness import Seeded
    >>> rows = np.array([[float(k % 7), 1000.0 * (k % 11)] for k in range(4000)])
    >>> release = ColumnMeans(2, epsilon=1.0, delta=1e-6).release(rows, Seeded(1))
    >>> bool(abs(release.value[0] - 3) < 0.3), bool(abs(release.value[1] - 5000) < 300)
    (True, True)
    """

    width: int
    epsilon: Number
    delta: Number = 0.0
    _: KW_ONLY
    neighbours: Neighbours = Neighbours.REPLACE
    unit: str = "row"
    size: int | None = None

    def __post_init__(self) -> None:
        check_budget(self.epsilon, self.delta, (self.size or 1) if self.neighbours.size_is_public else None)
        check_size(self.size, self.neighbours)
        if not isinstance(self.width, int) or isinstance(self.width, bool) or not 1 <= self.width <= WIDEST:
            raise BadInput(f"width is {self.width!r}; give the number of columns, 1 to {WIDEST}")

    @property
    def joint(self) -> bool:
        """Whether Gaussian noise on all columns together is expected to be narrower. [column_means.3]"""
        return bool(self.delta) and float(self.epsilon) <= JOINT * math.sqrt(self.width) * float(self._whole.amount)

    @property
    def guarantee(self) -> Guarantee:
        """Pure, unless columns are taken together."""
        return Guarantee(self.epsilon, self.delta if self.joint else 0.0, self.neighbours, self.unit)

    @property
    def loss(self) -> Loss:
        """All draws together, however they are shared out; without delta every draw, if their shares are known."""
        if self.joint:
            return self._whole.ceiling  # [column_means.2]
        return Approximate(self.epsilon, 0)  # [column_means.1]

    @property
    def _whole(self) -> Allocation:
        """What all draws may cost, their slack kept. [column_means.2]"""
        return _together_cost(self.epsilon, self.delta, self.width, self.neighbours)

    @property
    def parts(self) -> Allocation:
        """Alone: what the number of rows costs, if it is private, and each column. [column_means.1]"""
        counted = None if self.neighbours.size_is_public else Share(SIZE)
        return Allocation.of(self.epsilon).split(size=counted, each=Share(times=self.width))  # [column_means.1]

    @lru_cache(maxsize=1024)  # noqa: B019  of public numbers: forecasts ask again and again
    def plan(self, rows: int | None) -> Allocation:
        """Together: the stages for so many rows, a public or a noisy number. [column_means.3]"""
        whole, private, number = self._whole, not self.neighbours.size_is_public, max(rows or 1, 1)
        left = 1 - COUNT if private else Fraction(1)
        square = float(whole.square * left)

        def chosen(wanted: float, times: int, least: float, most: float) -> Share:
            share = part(times * (wanted / number) ** 2 / float(CHOICE) / square, least, most)
            return Share(left * share, Choice, times)

        return whole.split(
            count=COUNTED if private else None,
            centre=chosen(PLACED, self.width, 0.04, 0.15),
            scale=chosen(MEASURED, self.width, 0.12, 0.3),
            reach=Share(left * REACH, lambda mu: distance_cost(mu, self.neighbours)),
            square=Share(left * SQUARE, lambda mu: squares_cost(mu, self.width, self.neighbours)),
            mean=Share(None, lambda mu: sum_cost(mu, self.width, self.neighbours)),
        )  # [column_means.2]

    def beyond(self, rows: int) -> int:
        """m0: how many records lie beyond their column's distance. Public."""
        return math.ceil(2 * BEYOND / float(self.plan(rows).part("scale", Choice).epsilon))

    def check(self, size: int | None) -> None:
        """Refuse so few rows that too many of them would lie beyond. [column_means.3]"""
        if size and self.neighbours.size_is_public:
            check_budget(self.epsilon, self.delta, size)
        if size is None or self._enough(size):
            return
        least = 16
        while not self._enough(least):
            least = least * 21 // 20 + 1
        noisy = "" if self.neighbours.size_is_public else " (a noisy number)"
        raise Refused(
            f"there are {size} rows{noisy} of {self.width} columns; locating each of them without bounds needs about "
            f"{show(float(least))} rows at this epsilon and delta. Bring more rows, fewer columns, or a larger epsilon"
        )

    def _enough(self, size: int) -> bool:
        if not self.joint:
            return refusal_of(RankClippedMean(exact(self.epsilon) / self.width, self.neighbours), size) is None
        noise = counts_noise(self.plan(size).part("reach", Gaussian), self.neighbours)
        return size >= LEAST * self.beyond(size) and size >= SEEN * noise

    def release(self, rows: Any, rng: Randomness) -> Release[Floats]:
        """A mean and an interval for each column, or a refusal."""
        held, size = kept(long_matrix(rows, self.width), FLOAT * self.width), None
        if self.neighbours.size_is_public:
            size = agree(len(held), self.size)
            if not size:
                raise BadInput("the data are empty (0 rows); a statistic needs at least 1 row")
            check_budget(self.epsilon, self.delta, size)
        seen = self._counted(held, rng) if size is None else size  # [column_means.1], [column_means.2]
        stages = self.plan(seen) if self.joint else self.parts
        shown = {"neighbours": self.neighbours, "rows": size, "costs": stages.shown}
        blank: Release[Floats] = Release(self.guarantee, Provenance("ColumnMeans", shown, rng.secure), name="mean")
        try:
            self.check(seen)  # [column_means.3]
        except Refused as refusal:
            return replace(blank, refusal=str(refusal))
        found = (self._together if self.joint else self._alone)(held, stages, seen, rng)
        if isinstance(found, str):  # [column_means.3]
            return replace(blank, refusal=found)
        notes = [f"of one column alone: {unlimited(seen, self.epsilon)}"]
        if self.joint:
            few = self.beyond(seen)
            notes.insert(0, UNSEEN.format(few, 2 * few))
        provenance = replace(blank.provenance, notes=tuple(notes))
        return replace(blank, answer=found[0], spread=found[1], provenance=provenance)

    def _counted(self, held: Rows, rng: Randomness) -> int:
        """A noisy number of rows, 1 or more."""
        if not self.joint:
            return noisy_size(held, self.parts.part("size", Laplace), rng)  # [column_means.1]
        cost = self._whole.split(count=COUNTED).part("count", Gaussian)
        return max(1, round(noisy_count(len(held), cost, rng)))  # [column_means.2]

    def _alone(self, held: Rows, stages: Allocation, size: int, rng: Randomness) -> "tuple[Floats, Spread] | str":
        """Column by column. [column_means.1]"""
        parts, each = [], stages.part("each", Laplace).epsilon
        terms: dict[str, Any] = {"neighbours": self.neighbours, "rng": rng}
        for place in range(self.width):
            values = column_of(held, place)
            tail, table = find_tail(values, each, size=size, **terms)  # [column_means.1]
            one = tail_mean(table, tail, off=count_error(stages, size), **terms)  # [column_means.1]
            if isinstance(one, str):
                return f"column {place}: {one}"
            parts.append(one)
        if not any(part.target for part in parts):
            return np.array([part.estimate for part in parts]), EstimateSpread(tuple(parts))
        target = limited(
            [part.target.removeprefix("after limiting values to ") or "whatever they are" for part in parts]
        )
        named = tuple(replace(part, about=f"the population's mean {target}") for part in parts)  # [column_means.4]
        return np.array([part.estimate for part in parts]), EstimateSpread(named, target)

    def _together(self, held: Rows, stages: Allocation, size: int, rng: Randomness) -> "tuple[Floats, Spread] | str":
        """Rows in units of their columns' distances, pulled into one ball. [column_means.2]"""
        near = self.beyond(size)
        columns = list(columns_of(held, self.width))
        cost = stages.part("centre", Choice)
        centre = np.array(
            [middle(column, cost=cost, neighbours=self.neighbours, rng=rng) for column in columns]
        )  # [column_means.2]
        cost = stages.part("scale", Choice)
        units = np.array(
            [
                far_distance(column, centre=float(at), beyond=near, cost=cost, rng=rng, least=finest(float(at)))
                for column, at in zip(columns, centre, strict=True)
            ]
        )  # [column_means.2]
        if units.max() > LARGEST:  # [column_means.3]
            return f"column {int(units.argmax())} reaches beyond 1e150; rescale it, or ask for it alone with bounds"
        units = np.maximum(units, SMALLEST)
        frame = Frame.of(units, np.eye(self.width), centre)
        terms: dict[str, Any] = {"neighbours": self.neighbours, "rng": rng}
        counts, mean_cost = stages.part("reach", Gaussian), stages.part("mean", Gaussian)
        tail = distance_tail(lengths(held, frame), centre=0.0, size=size, cost=counts, **terms)  # [column_means.2]
        moved = 2 if self.neighbours is Neighbours.REPLACE else 1
        noise = MOST_LOST * math.sqrt(self.width) * moved / float(mean_cost.mu)
        radius = 1.0 if tail is None else min(max(tail.limit(noise, 1), 1.0), WHOLE)  # [column_means.3]
        square_cost = stages.part("square", Gaussian)
        total, noise = noisy_sum(held, frame, radius, "clip", cost=mean_cost, **terms)  # [column_means.2]
        squares, blur = noisy_squares(held, frame, radius, cost=square_cost, **terms)  # [column_means.2]
        mean, second, extra = total / size, squares / size, blur / size
        variance = np.maximum(second + extra - mean**2, extra)  # [column_means.4]
        unit = units * radius
        counted = count_error(stages, size, "count")
        target = limited(
            [f"between {show(low)} and {show(high)}" for low, high in zip(centre - unit, centre + unit, strict=True)]
        )
        spread = RegionSpread(
            estimate=centre + unit * mean,
            sampling=unit * np.sqrt(variance / max(size - 1, 1)),
            privacy=unit * np.hypot(noise / size, mean * counted),
            about=f"the population's mean {target}, and rows to a ball of that radius",
            target=target,
        )  # [column_means.4]
        return spread.estimate, spread


@lru_cache(maxsize=64)
def _together_cost(epsilon: Number, delta: Number, width: int, neighbours: Neighbours) -> Allocation:
    """What all draws may cost, their slack kept. Public numbers. [column_means.2]"""
    most = Fraction(STRONGEST)
    costs = sum_cost(most, width, neighbours), squares_cost(most, width, neighbours), distance_cost(most, neighbours)
    off = SLACK + sum(exact(cost.slack) for cost in costs)
    return Allocation.of(epsilon, delta, slack=off, lower=True)


def squares_sensitivity(size: int, bits: int, neighbours: Neighbours) -> Fraction:
    """How far one row moves the sums of squared entries, in steps. [column_means.5]"""
    return longest(size, bits) ** 2 * (root_above(2) if neighbours is Neighbours.REPLACE else Fraction(1))


def squares_cost(mu: Fraction, size: int, neighbours: Neighbours) -> Gaussian:
    """The cost of sums of squared entries with this mu, its slack included."""
    sigma = math.ceil(squares_sensitivity(size, fitting_bits(mu, size), neighbours) / mu)
    return Gaussian(mu, slack(size, sigma))


def noisy_squares(
    rows: Rows, frame: Frame, radius: float, *, cost: Gaussian, neighbours: Neighbours, rng: Randomness
) -> tuple[Floats, float]:
    """The sums of squared entries of clipped rows in units of radius^2, and the noise on each. [column_means.5]"""
    size = frame.size
    bits = fitting_bits(exact(cost.mu), size)
    found = np.clip(np.diag(moments(rows, frame, radius, "clip", bits).second), -ROOM, ROOM)
    moved = squares_sensitivity(size, bits, neighbours)
    blurred = rng.blur(found, sensitivity=moved, cost=cost)  # [column_means.5]
    return blurred / 4.0**bits, float(moved / exact(cost.mu)) / 4.0**bits


def limited(limits: list[str]) -> str:
    """To what the values of each column were limited, of the first few."""
    return f"after limiting values to {', '.join(limits[:SHOWN])}{' ...' if len(limits) > SHOWN else ''}"


def table_mean(
    people: Public, width: int, epsilon: Number, delta: Number, *, method: str, sigma: Any
) -> Mechanism[Any]:
    """The mean of each column of a table, by its scale or, with a `sigma` or a method, for columns of one scale."""
    terms: dict[str, Any] = {"neighbours": people.neighbours, "unit": people.unit}
    if method not in ("auto", "refine", "blocks"):
        raise BadInput(f"method is {method!r}; for a table give 'auto', 'refine' or 'blocks'")
    if method == "auto" and sigma is None:
        return ColumnMeans(width, epsilon, delta, size=people.size, **terms)
    if not delta:
        asked = "sigma" if method == "auto" else f"method {method!r}"
        raise NeedsBounds(f"delta is 0: {asked} for a table needs delta above 0, for example 1e-6; or leave it out")
    from discreet.friendly.refine import RefinedMean

    return RefinedMean(epsilon, delta, dimension=width, sigma=sigma, method=method, **terms)  # type: ignore[arg-type]
