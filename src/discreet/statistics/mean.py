"""The mean of data of any shape: without bounds by a clip that leaves few people out, with bounds by the bounds.

Releases
    RankClippedMean: a median c; a distance C that about m0 records exceed; with R = 4 C, the noisy mean of
    clip(x - c, +-R) and that of its square. BoundedMean: the last two, c the middle of public bounds and R half their
    length. Under ADD_OR_REMOVE a noisy number of records stands wherever n is written here.
Promise
    [mean.1] RankClippedMean is pure epsilon under both relations, and so is
    [mean.2] BoundedMean: the stages' epsilons are exact fractions that sum to epsilon.
    [mean.3] Refusals read public numbers and earlier answers only.
    [mean.4] The interval is for the population's mean of the clipped values, by the normal approximation.
Why
    [mean.1] Adaptive composition of a count [additive.1], the choices [locate.1] and [locate.2], and the two sums
    [clip.1] of stages/clip.py. [mean.2] The sums alone; under ADD_OR_REMOVE the first is the pair [clip.3], which tells
    the size too.
    [mean.3] Under REPLACE n is public and a refusal comes before any draw; under ADD_OR_REMOVE the noisy n decides. A
    distance beyond 1e300 is refused after it was released.
    [mean.4] The sampling variance of the mean is that of a clipped record, over n: M2 - m^2 with both moments released.
    The noise of M2 could make it too small; one scale of that noise is added, and it is at least that. The Laplace
    noise on the mean is of known scale, so the error is a normal plus a Laplace variable. The noisy n moves m by
    m dn / n; noise on both halves of a pair is taken as one Laplace variable of their joint variance.
Needs
    RankClippedMean: 4 m0 records or more, n epsilon of about 370; m0 = (2 / e2) (7 + ln 1000), e2 = 3 epsilon / 10. A
    group of fewer than 2 m0 people with extreme values can be invisible. Scales within about 1e-6 and 1e6: the prior
    on C lies around 1, and one far below it is found less often. Missing values count as 0 for the median and as the
    centre afterwards. BoundedMean: nothing.
Accuracy
    Noise of scale 2 R / (n e3), e3 about epsilon / 2: within a constant of what is possible, as the values of the m0
    most extreme people cannot be known. At n = 10,000 and epsilon = 1 intervals are 1.2 (normal) to 1.7 times (gamma,
    80% zeros) as wide as without privacy. Once in 1000 C overshoots, and the interval is as wide as it says.
    BoundedMean: noise of scale (high - low) / (0.85 n epsilon).
Source
    Huang, Liang and Yi 2021 for a clip at an extreme rank. Random factors in [1, 2), which would break ties, fail for
    truth values at large n; here cells whose records fade out do it (stages/locate.py), with no extra draws.
"""

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from typing import Any, Final, Literal

import numpy as np

from discreet.accounting.allocation import Allocation, Share
from discreet.errors import BadInput, NeedsBounds, Refused
from discreet.friendly.refine import RefinedMean
from discreet.lectures.normal_means import lecture
from discreet.privacy.declaration import Columns, Public, number, statistic
from discreet.privacy.exact import Number, exact, show, show_beside
from discreet.privacy.guarantee import check_budget
from discreet.privacy.loss import Choice, Gaussian, Laplace, Loss
from discreet.privacy.mechanism import Mechanism, Randomness, promised, refusal_of
from discreet.privacy.neighbours import Neighbours
from discreet.privacy.provenance import Provenance
from discreet.privacy.release import Release
from discreet.stages.clip import charged, count_error, enough, listed, moments, noisy_size
from discreet.stages.declared import Bounds, agree, check_bounds, check_sigma, check_size
from discreet.stages.locate import far_distance, finest, middle
from discreet.stages.normal_laplace import ConvolvedSpread
from discreet.statistics.normal import GaussianMean, too_few
from discreet.tables.entries import Numbers, long_numbers, public_size
from discreet.worlds.assumptions import MANY, About, World
from discreet.worlds.floors import BOUND, RATES
from discreet.worlds.shapes import AssumedColumn, AssumedTable

REACH: Final = 4  # the clip, in units of the distance that m0 records exceed
NATS: Final = 7 + math.log(1000)  # what it takes not to overshoot: 7 of prior, and a chance of 1 in 1000
FAR: Final = Fraction(3, 10)  # the share of epsilon for that distance
COUNT, CENTRE = Fraction(1, 20), Fraction(1, 8)  # those for the number of records and the median, where it is private
LOCATED: Final = 100  # n epsilon with which a median a million standard deviations from 0 is found: 4 (20 + 5)
SQUARE: Final = Fraction(3, 20)  # that for the interval
WIDEST: Final = 1e300
UNSEEN: Final = "a group of fewer than {} people with extreme values is invisible, one of fewer than {} can be"
SPAN: Final = 60.0  # bounds of more standard deviations than this are worth replacing


@dataclass(frozen=True, slots=True)
class RankClippedMean:
    """The mean of data of any shape, without bounds.

    `size` is the public number of rows under REPLACE: with it the loss lists every draw, without it only their sum.

    >>> from discreet.noise.randomness import Seeded
    >>> release = RankClippedMean(epsilon=1.0).release([float(k % 100) for k in range(2000)], Seeded(1))
    >>> 45 < release.value < 54
    True
    """

    epsilon: Number
    neighbours: Neighbours = Neighbours.REPLACE
    unit: str = "row"
    size: int | None = None

    def __post_init__(self) -> None:
        check_budget(self.epsilon, 0, None)
        if self.size is not None:
            check_size(self.size, self.neighbours)

    guarantee = promised

    loss = listed  # [mean.1]

    def stages(self, size: int | None, times: int = 1, **last: Share) -> Allocation:
        """A centre, a distance and, unless others are given, a mean and a square, each of so many `times`: for a public
        number of records, or in fixed shares for a private one. [mean.3]"""
        each = exact(self.epsilon) / times
        centre = CENTRE if size is None else enough(LOCATED, size, each, Fraction(1, 20), Fraction(1, 4))
        return Allocation.of(self.epsilon).split(
            size=Share(COUNT) if size is None else None,
            centre=Share(centre, Choice, times),
            scale=Share(FAR, Choice, times),
            **(last or {"mean": Share(times=times), "square": Share(SQUARE, times=times)}),
        )  # [mean.1]

    @property
    def beyond(self) -> int:
        """m0: how many records the distance C leaves beyond it. Public."""
        return math.ceil(2 * NATS / float(exact(self.epsilon) * FAR))

    def check(self, size: int | None) -> None:
        """Refuse so few rows that a quarter of them is fewer than `beyond`. [mean.3]"""
        if size is not None and 4 * self.beyond > size:
            needed = 4 * self.beyond * float(self.epsilon)
            raise Refused(too_few(size, self.epsilon, needed, self.neighbours, bounds=True))

    def release(self, rows: Any, rng: Randomness) -> Release[float]:
        """The estimate and its interval, or a refusal."""
        values = long_numbers(rows)
        size = agree(public_size(values, self.neighbours), self.size)
        stages = self.stages(size)
        seen = noisy_size(values, stages.part("size", Laplace), rng) if size is None else size  # [mean.1]
        shown = {"neighbours": self.neighbours, "rows": size, "costs": stages.shown, "beyond": self.beyond}
        shown |= {"counted": seen} if size is None else {}
        blank: Release[float] = Release(self.guarantee, Provenance("RankClippedMean", shown, rng.secure), name="mean")
        if refusal := refusal_of(self, seen):  # [mean.3]
            return replace(blank, refusal=refusal)
        spread = rank_clipped_mean(
            values, stages, size=seen, beyond=self.beyond, neighbours=self.neighbours, rng=rng
        )  # [mean.1]
        if isinstance(spread, str):  # [mean.3]
            return replace(blank, refusal=spread)
        notes = UNSEEN.format(self.beyond, 2 * self.beyond), unlimited(seen, self.epsilon)
        history = replace(blank.provenance, notes=notes)
        return replace(blank, answer=spread.estimate, spread=spread, provenance=history)


@dataclass(frozen=True, slots=True)
class BoundedMean:
    """The mean of data with public bounds; values outside count as the nearer bound, missing ones as the middle.

    >>> from discreet.noise.randomness import Seeded
    >>> release = BoundedMean(0, 100, epsilon=1.0).release([float(k % 100) for k in range(2000)], Seeded(1))
    >>> 45 < release.value < 54
    True
    """

    low: float
    high: float
    epsilon: Number
    _: KW_ONLY
    neighbours: Neighbours = Neighbours.REPLACE
    unit: str = "row"

    def __post_init__(self) -> None:
        check_budget(self.epsilon, 0, None)
        check_bounds((self.low, self.high))

    guarantee = promised

    @property
    def stages(self) -> Allocation:
        """The mean, with the number of records where that is private, and its square for the interval. [mean.2]"""
        return Allocation.of(self.epsilon).split(mean=Share(), square=Share(SQUARE))  # [mean.2]

    @property
    def loss(self) -> Loss:
        """Every draw."""
        return charged(self.stages.loss)  # [mean.2]

    def release(self, rows: Any, rng: Randomness) -> Release[float]:
        """The estimate and its interval."""
        values, stages = long_numbers(rows), self.stages
        size = public_size(values, self.neighbours)
        low, high = float(self.low), float(self.high)
        spread = clipped_mean_of(
            values,
            stages,
            size=size,
            centre=low / 2 + high / 2,
            radius=high / 2 - low / 2,
            neighbours=self.neighbours,
            rng=rng,
        )  # [mean.2]
        spread = replace(spread, estimate=min(max(spread.estimate, low), high), low=low, high=high)
        shown = {"bounds": (low, high), "neighbours": self.neighbours, "rows": size, "costs": stages.shown}
        note = f"a missing entry, if kept, counts as {show(low / 2 + high / 2)}, the middle of the bounds"
        provenance = Provenance("BoundedMean", shown, rng.secure, notes=(note,))
        return Release(self.guarantee, provenance, spread.estimate, spread=spread, name="mean")


def rank_clipped_mean(
    values: Numbers, stages: Allocation, *, size: int, beyond: int, neighbours: Neighbours, rng: Randomness
) -> "ConvolvedSpread | str":
    """A centre, a distance that `beyond` records exceed, and the mean of values clipped at four of them; or a refusal.
    [mean.1]"""
    centre = middle(values, cost=stages.part("centre", Choice), neighbours=neighbours, rng=rng)  # [mean.1]
    distance = far_distance(
        values, centre=centre, beyond=beyond, cost=stages.part("scale", Choice), rng=rng, least=finest(centre)
    )
    if distance > WIDEST:  # [mean.3]
        return "the data reach beyond 1e300; rescale them, or give public bounds"
    radius = REACH * max(distance, 1 / WIDEST)
    spread = clipped_mean_of(
        values, stages, size=size, centre=centre, radius=radius, neighbours=neighbours, rng=rng
    )  # [mean.1]
    low, high = (show_beside(end, centre - radius, centre + radius) for end in (centre - radius, centre + radius))
    limits = f"after limiting values to between {low} and {high}"  # [mean.4]
    return replace(spread, about=f"the population's mean {limits}", target=limits)


def unlimited(size: float, epsilon: Number) -> str:
    """How to get the mean of all values, and its price."""
    price = show(3 / (float(epsilon) * float(1 - SQUARE) * max(size, 1.0)))  # the 95% point of Laplace noise
    return (
        "for the mean without such limits give public bounds: with bounds=(low, high) the noise adds up to "
        f"{price} times (high - low) to either side"
    )


def clipped_mean_of(
    values: Numbers,
    stages: Allocation,
    *,
    size: int | None,
    centre: float,
    radius: float,
    neighbours: Neighbours,
    rng: Randomness,
) -> ConvolvedSpread:
    """The mean of values clipped to centre +- radius, with the error that its own second moment gives it. [mean.4]"""
    cost = stages.noise("mean")
    first, second = moments(
        values,
        {1: cost, 2: stages.noise("square")},
        centre=centre,
        radius=radius,
        size=size,
        neighbours=neighbours,
        rng=rng,
    )
    others = max(1.0, first.size - 1)
    variance = max(second.mean + second.noise - first.mean**2, second.noise)  # [mean.4]
    gaussian = first.noise if isinstance(cost, Gaussian) else 0.0
    return ConvolvedSpread(
        estimate=centre + radius * first.mean,
        sampling=radius * math.sqrt(variance / others),
        laplace=radius * (first.noise - gaussian),
        normal_noise=radius * math.hypot(gaussian, first.mean * count_error(stages, first.size)),
        freedom=others,
    )


def plan_mean(
    size: int | None,
    epsilon: Number,
    delta: Number = 0.0,
    *,
    model: Literal["gaussian"] | None = None,
    bounds: Bounds | None = None,
    sigma: float | None = None,
    neighbours: Neighbours = Neighbours.REPLACE,
    unit: str = "row",
) -> Mechanism[float]:
    """The best mechanism for a mean, by public quantities: `size` is None where it is private.

    A normal model: GaussianMean. Any shape without bounds: RankClippedMean. With bounds: BoundedMean, unless they are
    so wide (a known `sigma` says so) and the data so many that finding a narrower clip pays.

    >>> type(plan_mean(1000, 1.0, bounds=(0, 120))).__name__, type(plan_mean(1000, 1.0)).__name__
    ('BoundedMean', 'RankClippedMean')
    """
    check_budget(epsilon, delta, size)
    if model == "gaussian":
        return GaussianMean(epsilon, delta, sigma=sigma, bounds=bounds, neighbours=neighbours, unit=unit, size=size)
    if model is not None:
        raise BadInput(f"model is {model!r}; give 'gaussian', or None for data of any shape")
    if sigma is not None:
        check_sigma(sigma)
    free = RankClippedMean(epsilon, neighbours, unit, size)
    if bounds is None:
        return free
    check_bounds(bounds)
    low, high = float(bounds[0]), float(bounds[1])
    wide = sigma is not None and high - low > SPAN * float(sigma)
    if wide and size is not None and size >= 4 * free.beyond:
        return free
    return BoundedMean(low, high, epsilon, neighbours=neighbours, unit=unit)


def _several(_: Mapping[str, Any], columns: Mapping[str, Columns | None]) -> bool:
    about = columns.get("x")
    return about is not None and about.several


def _world(about: About) -> World:
    if "columns" in about.given:
        table = AssumedTable.of(about)
        return World(
            make=lambda g, n: {"x": table.draw(g, n)},
            truth=np.full(table.columns, table.entries.location),
            plain=lambda x: x.mean(axis=0),
            measure=MANY,
            runs=16,
            floor_note=RATES["mean of a table"],
        )
    entries = AssumedColumn.of(about)
    return World(
        make=lambda g, n: {"x": entries.draw(g, n)},
        truth=entries.location,
        plain=lambda x: x.mean(),
        sampling=lambda n: entries.scale / math.sqrt(n),
        parts=True,
        skewed=entries.standard.skewed,
        floor=entries.floor,
        floor_note=BOUND,
    )


@statistic({"x": number("either", streams=True, dates=True)}, groups=True, wants_delta=_several, world=_world)
def mean(
    people: Public,
    x: Columns,
    *,
    epsilon: Number,
    delta: Number = 0.0,
    model: Literal["gaussian"] | None = None,
    bounds: tuple[Any, Any] | None = None,
    sigma: Any = None,
    method: Literal["auto", "clipped", "two-stage", "stability", "karwa-vadhan", "refine", "blocks"] = "auto",
    reach: float | None = None,
) -> Mechanism[Any]:
    """The mean, with a confidence interval for the population's. No bounds needed.

    model=None assumes no shape, and its interval is for the mean of values limited to a range that it names, beyond
    which few records lie; model="gaussian" is tighter for normal data. Public `bounds`, and a public `sigma`, are
    used when given, never read from the data. The answer is pure epsilon; with delta > 0 a normal mean may be released
    in zCDP if that is predicted to be more accurate. The other methods are the lectures' own, kept for comparison: they
    need a public `reach` (|mean| <= reach) and `sigma` ("karwa-vadhan": a range of sigmas; "stability": no reach).

    A table (an array of rows and columns, a data frame, an Arrow table) has a mean for each column, with noise in units
    of its own spread; delta > 0 makes it much more accurate. For columns of one scale there are method="refine", which
    averages rows, and "blocks", the means of blocks of rows: both need delta > 0.

    >>> import discreet
    >>> r = discreet.mean([float(age % 80) for age in range(4000)], epsilon=1.0, rng=discreet.Seeded(1))
    >>> 35 < r.value < 44
    True
    """
    terms: dict[str, Any] = {"neighbours": people.neighbours, "unit": people.unit}
    if x.several:
        if model is not None or bounds is not None or reach is not None:
            raise BadInput("model, bounds and reach are for one column; a table's mean needs none of them")
        if method not in ("auto", "refine", "blocks"):
            raise BadInput(f"method is {method!r}; for a table give 'auto', 'refine' or 'blocks'")
        if method == "auto" and sigma is None:
            from discreet.statistics.column_means import ColumnMeans

            return ColumnMeans(len(x.names), epsilon, delta, size=people.size, **terms)
        if not delta:
            asked = "sigma" if method == "auto" else f"method {method!r}"
            raise NeedsBounds(f"delta is 0: {asked} for a table needs delta above 0, for example 1e-6; or leave it out")
        return RefinedMean(epsilon, delta, dimension=len(x.names), sigma=sigma, method=method, **terms)
    if method == "auto":
        if reach is not None:
            raise BadInput("reach is for the lectures' methods; leave it out, or give bounds= and a model")
        return plan_mean(people.size, epsilon, delta, model=model, bounds=bounds, sigma=sigma, **terms)
    if model is not None or bounds is not None:
        raise BadInput(f"method {method!r} takes neither model= nor bounds=; leave them out, or use method='auto'")
    return lecture(method, epsilon=epsilon, delta=delta, sigma=sigma, reach=reach, **terms)
