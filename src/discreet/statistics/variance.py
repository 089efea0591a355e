"""The variance and the standard deviation: under a normal model, with public bounds, or of data of any shape.

Releases
    model="gaussian": a median c and a scale s, then the noisy mean of min(((x - c) / s)^2, r^2), r public; the variance
    is the one that explains it. Otherwise a centre c and a radius R, the noisy mean m of the clipped values, then the
    noisy means of the square and of the fourth power of clip(x, c +- R) - m. With public bounds these give c and R.
    Without them c is a median and R follows from noisy counts of the distances from it. Under ADD_OR_REMOVE a noisy
    number of records stands wherever n is written here.
Promise
    [variance.1] Pure epsilon under both relations: the stages' epsilons are exact fractions that sum to epsilon.
    [variance.2] Refusals and R read public numbers and earlier answers only.
    [variance.3] The interval is for the population's variance (of the values winsorised at c +- R if there is neither
         model nor bounds), by the normal approximation of the released means; under the model, if that holds.
Why
    [variance.1] Adaptive composition: [locate.1], [octaves.1], [clip.1] and, under ADD_OR_REMOVE, [clip.3].
    [variance.2] As [normal.3] and [octaves.2]. Under the model, from a centre far outside the data all distances are
    the median distance: the variance, in squares of the scale, is then 0.45 in place of about 1; and where the scale is
    not that of the data either, next to nothing or more than any. It is refused, as released, unless it is between 0.54
    and 9 by three scales of the noise. Without a model the mean is then as far from the centre as nearly all records
    are: 3/4 of the distance that hardly any exceed is refused.
    [variance.3] The mean of squares about the released m exceeds that about the sample mean by (m - mean)^2, Laplace
    noise of known scale b, squared: its expectation 2 b^2 is taken off, its deviation sqrt(20) b^2 allowed for. The
    variance of a square is the fourth moment less the square of the second; one scale of the noise on the former is
    added. Under the model each v is tested at the variance that it implies itself, and those not rejected are the
    interval.
Needs
    The model: n epsilon of about 150; neither model nor bounds: about 370; bounds: nothing. Missing values count as 0
    for the median, as the centre or the mean afterwards.
Accuracy
    Noise of scale r^2 s^2 / (n e) with r about 2.5; with bounds, of (high - low)^2 / (n e) at most; with neither, of
    R^2 / (n e), e about 2/5 of epsilon. R is where the squares of the few records further out, in an exponential tail
    that is fitted to the counts, are expected to exceed R^2 by half of the noise in all: 3.6 standard deviations of
    normal data at n epsilon = 5,000, 8 of exponential, and hardly more than the range of bounded ones.
Source
    Karwa and Vadhan 2018 for the problem; both estimators are built from stages of our own.
"""

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, Final, Literal

import numpy as np

from discreet.accounting.allocation import Allocation, Share
from discreet.errors import BadInput, Refused
from discreet.noise.choose_float import short_numbers
from discreet.privacy.declaration import Columns, Public, number, statistic
from discreet.privacy.exact import Number, show_beside
from discreet.privacy.guarantee import Neighbours, check_budget
from discreet.privacy.intervals import Spread
from discreet.privacy.loss import Approximate, Choice, Laplace, Loss
from discreet.privacy.mechanism import Mechanism, Randomness, Wrapped, promised, refusal_of
from discreet.privacy.release import Provenance, Release
from discreet.stages.clip import charged, enough, moments, noisy_size
from discreet.stages.declared import LARGEST, SMALLEST, Bounds, agree, check_bounds, check_size
from discreet.stages.locate import middle
from discreet.stages.normal_laplace import ConvolvedSpread, RootSpread, SquareSpread
from discreet.stages.normal_stages import clipped_square, find_place, located_square
from discreet.stages.octaves import counts_noise, distance_tail
from discreet.statistics.normal import NOTE, NOWHERE, GaussianMean, odd_scale, pure_stages, too_few
from discreet.tables.entries import long_numbers, public_size
from discreet.tables.streams import Numbers, each
from discreet.worlds.assumptions import SDS, About, World
from discreet.worlds.floors import BOUND, least_error, normal_scales
from discreet.worlds.shapes import AssumedColumn

USUAL: Final = (0.54, 9.0)  # squares of the scale beyond which a variance tells that centre or scale are not the data's
COUNT, CENTRE, REACH = Fraction(1, 20), Fraction(1, 8), Fraction(1, 4)  # shares where the number of records is private
LOCATED, COUNTED = 100, 350  # n epsilon that a centre and the counts would like, where it is public
SMALL: Final = Fraction(2, 25)  # the share of the mean, and that of the fourth power
LEAST: Final = 370.0  # n epsilon
OUTSIDE: Final = 0.75  # of the furthest distance seen: a mean so far from the centre tells that this is not the data's
WIDEST: Final = 1e24
HALF: Final = 0.5  # deviations of noise by which squares beyond R exceed R^2
SEEN: Final = 15.0  # deviations of noise in an octave that is seen wherever it is
ALIKE: Final = "fewer than about {} people differ from the median by amounts of one size; give public bounds"
THIN: Final = (
    "many values lie further out than their noisy counts can follow, over several orders of magnitude; "
    "bring more rows, ask for a larger epsilon, or give public bounds"
)
UNSEEN: Final = "a group of fewer than about {} people with extreme values can be invisible"


@dataclass(frozen=True, slots=True)
class Variance:
    """The variance of one column.

    `bounds` are a public range of the data (of the mean, under the model); `size` is the public number of rows under
    REPLACE: with it the loss lists every draw, without it only their sum.

    >>> from discreet.noise.randomness import Seeded
    >>> release = Variance(epsilon=1.0, bounds=(0, 100)).release([float(k % 100) for k in range(2000)], Seeded(1))
    >>> 750 < release.value < 900
    True
    """

    epsilon: Number
    _: KW_ONLY
    model: Literal["gaussian"] | None = None
    bounds: Bounds | None = None
    neighbours: Neighbours = Neighbours.REPLACE
    unit: str = "row"
    size: int | None = None

    def __post_init__(self) -> None:
        check_budget(self.epsilon, 0, None)
        check_bounds(self.bounds)
        check_size(self.size, self.neighbours)
        if self.model not in (None, "gaussian"):
            raise BadInput(f"model is {self.model!r}; give 'gaussian', or None for data of any shape")

    guarantee = promised

    @property
    def loss(self) -> Loss:
        """Every draw; before a public size is known on which they depend, their sum."""
        waits = self.model is not None or self.bounds is None
        if waits and self.size is None and self.neighbours.size_is_public:
            return Approximate(self.epsilon, 0)
        return charged(self.stages(self.size).loss)  # [variance.1]

    def stages(self, size: int | None) -> Allocation:
        """The costs for a public number of records, or fixed ones for a private number. [variance.1]"""
        if self.model is not None:
            return pure_stages(self.epsilon, size, known_sigma=False, square=Share())
        if self.bounds is not None:
            last = {"mean": Share(Fraction(1, 5)), "square": Share(), "fourth": Share(Fraction(3, 20))}
            return Allocation.of(self.epsilon).split(**last)
        centre, reach = CENTRE, REACH
        if size is not None:
            centre = enough(LOCATED, size, self.epsilon, Fraction(1, 20), Fraction(1, 4))
            reach = enough(COUNTED, size, self.epsilon, Fraction(1, 5), Fraction(7, 20))
        return Allocation.of(self.epsilon).split(
            size=Share(COUNT) if size is None else None,
            centre=Share(centre, Choice),
            reach=Share(reach),
            mean=Share(SMALL),
            square=Share(),
            fourth=Share(SMALL),
        )

    def _model(self) -> GaussianMean:
        """The mechanism that finds a centre and a scale."""
        return GaussianMean(
            self.epsilon, 0.0, sigma=None, bounds=self.bounds, neighbours=self.neighbours, unit=self.unit
        )

    def check(self, size: int | None) -> None:
        """Refuse too few rows to find where they are; with bounds and no model any number will do. [variance.2]"""
        if self.model is not None:
            self._model().check(size)
        elif self.bounds is None and size is not None and size * float(self.epsilon) < LEAST:
            raise Refused(too_few(size, self.epsilon, LEAST, self.neighbours, bounds=True))

    def release(self, rows: Any, rng: Randomness) -> Release[float]:
        """The estimate and its interval, or a refusal."""
        values = long_numbers(rows)
        size = agree(public_size(values, self.neighbours), self.size)
        stages = self.stages(size)
        seen = noisy_size(values, stages.part("size", Laplace), rng) if "size" in stages else size  # [variance.1]
        blank = self.blank(size, stages, rng)
        if self.model is not None:
            return told(blank, self._by_model(values, stages, seen, rng), NOTE)
        if self.bounds is not None:
            return told(blank, self._by_bounds(values, stages, size, rng))
        assert seen is not None
        return self.counted(values, blank, stages, seen, rng)

    def blank(self, size: int | None, stages: Allocation, rng: Randomness) -> Release[float]:
        """What is known before anything but a number of records is."""
        shown = {"model": self.model, "bounds": self.bounds, "neighbours": self.neighbours, "rows": size}
        provenance = Provenance("Variance", shown | {"costs": stages.shown}, rng.secure)
        return Release(self.guarantee, provenance, name="variance")

    def by_group(self, parts: Sequence[Any], rng: Randomness) -> list[Release[float]]:
        """A release for each group, small ones within one range. [pooled.1]"""
        from discreet.statistics.pooled import pooled_variances

        free = self.model is None and self.bounds is None
        return pooled_variances(self, parts, rng) if free else [self.release(part, rng) for part in parts]

    def _by_model(self, values: Numbers, stages: Allocation, seen: int | None, rng: Randomness) -> SquareSpread | str:
        """Truncated squares, inverted. [variance.1]"""
        assert seen is not None
        if refusal := refusal_of(self, seen):  # [variance.2]
            return refusal
        # [variance.1]
        at = find_place(values, stages, size=seen, neighbours=self.neighbours, rng=rng, bounds=self.bounds)
        if not SMALLEST < at.scale < LARGEST:  # [variance.2]
            return odd_scale(at.scale)
        square = located_square(values, stages.part("square", Laplace), at, rng)  # [variance.1]
        low, high = (clipped_square(v, square.radius).mean for v in USUAL)
        if not low + 3 * square.noise <= square.mean <= high - 3 * square.noise:  # [variance.2]
            return NOWHERE
        return SquareSpread(square, seen, at.scale)

    def _by_bounds(self, values: Numbers, stages: Allocation, size: int | None, rng: Randomness) -> ConvolvedSpread:
        """Moments of values between public bounds. [variance.1]"""
        assert self.bounds is not None
        low, high = float(self.bounds[0]), float(self.bounds[1])
        spread = clipped_variance(values, stages, size, (low, high), neighbours=self.neighbours, rng=rng)
        assert spread is not None
        most = (high / 2 - low / 2) ** 2
        return replace(spread, estimate=min(spread.estimate, most), high=most)

    def counted(
        self, values: Numbers, blank: Release[float], stages: Allocation, seen: int, rng: Randomness
    ) -> Release[float]:
        """Moments of values clipped where few are. [variance.1]"""
        if refusal := refusal_of(self, seen):  # [variance.2]
            return told(blank, refusal)
        found = self.searched(values, stages, seen, rng)
        return told(blank, found if isinstance(found, str) else self.within(values, stages, seen, found, rng), found)

    def searched(
        self, values: Numbers, stages: Allocation, seen: int, rng: Randomness, times: float = 1.0
    ) -> "Range | str":
        """Two ends beyond which few are, or a refusal; `times` is the number of groups that share them. [variance.1]"""
        terms: dict[str, Any] = {"neighbours": self.neighbours, "rng": rng}
        placed, cost = stages.part("centre", Choice), stages.part("reach", Laplace)
        centre = middle(values, cost=placed, prior=short_numbers(), **terms)  # [variance.1]
        tail = distance_tail(values, centre=centre, size=seen, cost=cost, **terms)  # [variance.1]
        few = math.ceil(SEEN * counts_noise(cost, self.neighbours))
        if tail is None:  # [variance.2]
            return ALIKE.format(few)
        if tail.last > WIDEST:  # [variance.2]
            return "the data reach beyond 1e24; rescale them, or give public bounds"
        noise = times * HALF * math.sqrt(2) / float(stages.part("square", Laplace).epsilon)
        radius = tail.limit(noise, 2)  # [variance.2]
        if tail.many_beyond(radius):  # [variance.2]
            return THIN
        return Range(centre - radius, centre + radius, OUTSIDE * tail.last, UNSEEN.format(few))

    def within(
        self, values: Numbers, stages: Allocation, seen: int, at: "Range", rng: Randomness
    ) -> ConvolvedSpread | str:
        """The variance of values limited to two ends. [variance.1]"""
        ends, terms = (at.low, at.high), {"neighbours": self.neighbours, "rng": rng, "most": at.most}
        spread = clipped_variance(values, stages, seen, ends, **terms)  # type: ignore[arg-type]
        if spread is None:  # [variance.2]
            return NOWHERE
        low, high = (show_beside(end, *ends) for end in ends)
        limits = f"after limiting values to between {low} and {high}"  # [variance.3]
        return replace(spread, about=f"the population's variance {limits}", target=limits)


@dataclass(frozen=True, slots=True)
class Range:
    """Two ends, how far from their middle a mean may be, and who can leave no trace."""

    low: float
    high: float
    most: float
    note: str


def told(blank: Release[float], spread: Spread | str, about: Range | str | None = None) -> Release[float]:
    """The release, or a refusal; with what there is to say about it."""
    note = about.note if isinstance(about, Range) else about if about == NOTE else None
    blank = replace(blank, provenance=replace(blank.provenance, notes=() if note is None else (note,)))
    if isinstance(spread, str):
        return replace(blank, refusal=spread)
    return replace(blank, answer=spread.estimate, spread=spread)  # type: ignore[attr-defined]


def clipped_variance(
    values: Numbers,
    stages: Allocation,
    size: int | None,
    ends: tuple[float, float],
    *,
    neighbours: Neighbours,
    rng: Randomness,
    most: float = math.inf,
) -> ConvolvedSpread | None:
    """The variance of values limited to two ends about their released mean, its error by their fourth moment; None if
    that mean is further than `most` from the middle of the ends. [variance.3]"""
    low, high = ends
    centre, radius = low / 2 + high / 2, high / 2 - low / 2
    values = each(partial(np.clip, a_min=low, a_max=high), values)
    mean_cost = stages.part("mean", Laplace)
    (first,) = moments(
        values, {1: mean_cost}, centre=centre, radius=radius, size=size, neighbours=neighbours, rng=rng
    )  # [variance.1]
    if radius * abs(first.mean) > most:
        return None
    mean = centre + radius * first.mean
    reach = max(high - mean, mean - low)
    square, fourth = moments(
        values,
        {2: stages.part("square", Laplace), 4: stages.part("fourth", Laplace)},
        centre=mean,
        radius=reach,
        size=size if neighbours.size_is_public else None,
        neighbours=neighbours,
        rng=rng,
    )  # [variance.1]
    off = (first.noise * radius / reach) ** 2  # [variance.3]
    variance = max(fourth.mean + fourth.noise - square.mean**2, fourth.noise)  # [variance.3]
    unit = reach * reach
    return ConvolvedSpread(
        estimate=unit * max(square.mean - 2 * off, 0.0) / (1 - 1 / max(square.size, 2.0)),
        sampling=unit * math.sqrt(variance / square.size),
        laplace=unit * square.noise,
        normal_noise=unit * math.sqrt(20) * off,
        freedom=max(1.0, square.size - 1),
        low=0.0,
        about="the population's variance",
    )


def standard_deviation(variance: Release[float]) -> Release[float]:
    """The root of a variance's release, with its interval: post-processing, no further cost.

    >>> from discreet.noise.randomness import Seeded
    >>> release = Variance(epsilon=1.0, bounds=(0, 100)).release([float(k % 100) for k in range(2000)], Seeded(1))
    >>> 27 < standard_deviation(release).value < 31
    True
    """
    spread = None if variance.spread is None else RootSpread(variance.spread, math.sqrt(variance.value))
    return replace(variance.map(math.sqrt), spread=spread, name="standard deviation")


def _world(about: About, power: int = 2) -> World:
    entries = AssumedColumn.of(about)
    if entries.shape == "t3":
        raise BadInput("the variance of t3 has no error of its own (its fourth moment is infinite); take another shape")
    truth, normal = entries.scale**power, entries.shape == "normal"
    spread = math.sqrt(entries.standard.tails - 1) * power / 2
    return World(
        units="squared standard deviations" if power == 2 else SDS,
        make=lambda g, n: {"x": entries.draw(g, n)},
        truth=truth,
        plain=lambda x: x.std() ** power,
        sampling=lambda n: truth * spread / math.sqrt(n),
        parts=True,
        skewed=entries.standard.skewed,
        floor=(lambda n, limit: least_error(n, 0.5, normal_scales(n, entries.scale, power), limit, truth))
        if normal
        else None,
        floor_note=BOUND if normal else "no floor is known for this shape",
    )


@statistic({"x": number(streams=True)}, groups=True, world=_world)
def variance(
    people: Public,
    x: Columns,
    *,
    epsilon: Number,
    model: Literal["gaussian"] | None = None,
    bounds: tuple[float, float] | None = None,
) -> Mechanism[float]:
    """The variance, with a confidence interval for the population's. No bounds needed. Pure.

    >>> import discreet
    >>> import numpy as np
    >>> 300 < discreet.variance(np.arange(9000.0) % 80, epsilon=2.0, rng=discreet.Seeded(1)).value < 800
    True
    """
    return Variance(
        epsilon, model=model, bounds=bounds, neighbours=people.neighbours, unit=people.unit, size=people.size
    )


@statistic({"x": number(streams=True)}, groups=True, world=partial(_world, power=1))
def std(
    people: Public,
    x: Columns,
    *,
    epsilon: Number,
    model: Literal["gaussian"] | None = None,
    bounds: tuple[float, float] | None = None,
) -> Mechanism[float]:
    """The standard deviation: the root of the variance, with its options and its interval. Pure.

    >>> import discreet
    >>> import numpy as np
    >>> 18 < discreet.std(np.arange(9000.0) % 80, epsilon=2.0, rng=discreet.Seeded(1)).value < 29
    True
    """
    return Wrapped(variance(people, x, epsilon=epsilon, model=model, bounds=bounds), after=standard_deviation)
