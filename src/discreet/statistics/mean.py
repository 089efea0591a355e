"""The mean of data of any shape, without bounds, by a clip that is found; and which mean is the best one.

Releases
    RankClippedMean: a median c, two distances and the numbers of records beyond the larger one, from which a radius R
    follows (stages/reach.py); the noisy mean of clip(x - c, +-R) and that of its square. Under ADD_OR_REMOVE a noisy
    number of records stands wherever n is written here.
Promise
    [mean.1] Pure epsilon under both relations: the stages' epsilons are exact fractions that sum to epsilon.
    [mean.2] A mean declared to be near 0 changes the shares and which ranks are looked for, by public or released
         numbers: if the declaration is false the promise of privacy is the same, and an answer names what it is of.
    [mean.3] Refusals, and what the interval is for, read public numbers and earlier answers only.
    [mean.4] The interval is for the population's mean of the clipped values, by the normal approximation; or for that
         of all values, with an allowance for those beyond R, if so few were counted there that [reach.5] allows it. Its
         first line says which.
Why
    [mean.1] Adaptive composition of a count [additive.1] and of what [reach.1] has for the rest of epsilon: the search
    and the two sums [clip.1].
    [mean.2] [reach.3]. A column that is farther from 0 than declared has a centre beside the data more often; then all
    are about as far from it as the median one, and are refused by [mean.3], or within R, which is 3.6 times as far.
    [mean.3] Under REPLACE n is public and a refusal comes before any draw; under ADD_OR_REMOVE the noisy n decides. A
    distance beyond 1e299 is refused after it was released. So is one with hardly anybody between it and a value that
    most have: where it fell before the others is chance. So is a centre that cannot be the median, by all that was
    released: no mean is more than a standard deviation from a median, and from a centre outside the data all distances
    are about as large as the largest, and as their mean.
    [mean.4] The sampling variance of the mean is that of a clipped record, over n: M2 - m^2 with both moments released.
    The noise of M2 could make it too small; one scale of that noise is added, and it is at least that. The Laplace
    noise on the mean is of known scale, so the error is a normal plus a Laplace variable. The noisy n moves m by
    m dn / n; noise on several sums is taken as one Laplace variable of their joint variance. For all values, [reach.4]
    and [reach.5]: n epsilon of 900 and n epsilon^2 of 1,000 are needed to count those beyond R, twice and four times as
    much under REPLACE. At a small epsilon so many people can be invisible that they matter as much as the noise does.
Needs
    n epsilon of 180, and 360 under REPLACE; a noisy n passes for 180 where n epsilon is 120 once in 70 runs, and the
    stages hold there for data within a thousand standard deviations of 0. With `near_zero` 120 and 240. Missing values
    count as 0 for the median and as the centre afterwards.
Accuracy
    Noise of scale R / (n e3), twice that under REPLACE, e3 from a third (n epsilon = 180) to two thirds of epsilon
    (2,000), half of that where those beyond R are counted, as sampling errs more there: within a constant of what is
    possible, as the values of the most extreme few cannot be known. At n = 1,000 and epsilon = 1 intervals are 1.2
    (normal) to 2.5 times (gamma of shape 0.3) as wide as without privacy.
Source
    Huang, Liang and Yi 2021 for a clip at an extreme rank; here it is extrapolated to (stages/reach.py).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final, Literal

import numpy as np

from discreet.accounting.allocation import Allocation, Share
from discreet.errors import BadInput, Refused
from discreet.noise.order_statistics import counted_in_passing
from discreet.privacy.declaration import Columns, Public, Reads, number, statistic
from discreet.privacy.exact import Number, exact
from discreet.privacy.guarantee import Neighbours, check_budget
from discreet.privacy.loss import Approximate, Gaussian, Laplace, Loss
from discreet.privacy.mechanism import Mechanism, Randomness, promised, refusal_of
from discreet.privacy.release import Provenance, Release
from discreet.stages.clip import count_error, joint_moments, moments, noisy_size
from discreet.stages.declared import Bounds, agree, check_bounds, check_sigma, check_size
from discreet.stages.distance_grid import Distances
from discreet.stages.limits_said import tail_notes
from discreet.stages.normal_laplace import ConvolvedSpread
from discreet.stages.reach import ENDLESS, NEARBY, NEEDED, Tail, find_tail, sides_moved
from discreet.statistics.karwa_vadhan import lecture
from discreet.statistics.normal import GaussianMean, too_few
from discreet.statistics.survey_design import SURVEY, survey_rows
from discreet.tables.entries import long_numbers, public_size
from discreet.tables.streams import Numbers
from discreet.worlds.assumptions import MANY, About, World
from discreet.worlds.floors import BOUND, RATES
from discreet.worlds.shapes import AssumedColumn, AssumedTable

COUNT: Final = Fraction(3, 50)  # the share of epsilon for the number of records, where it is private
SURELY: Final = 1.25  # times what is needed, for a noisy number that is drawn once more
NEAR: Final = "declare near_zero=True if it is public that the mean is within 100 standard deviations of 0"
NOWHERE: Final = (
    "the middle that was found lies outside the data: they are far from 0 in units of their spread, or nearly all the "
    "same number of many digits. Subtract a public number near them, give public bounds, or ask for a larger epsilon"
)
SPAN: Final = 60.0  # bounds of more standard deviations than this are worth replacing


@dataclass(frozen=True, slots=True)
class RankClippedMean:
    """The mean of data of any shape, without bounds.

    `size` is the public number of rows under REPLACE; `near_zero` declares that the mean is within a hundred standard
    deviations of 0.

    >>> from discreet.noise.randomness import Seeded
    >>> release = RankClippedMean(epsilon=1.0).release([float(k % 100) for k in range(2000)], Seeded(1))
    >>> 45 < release.value < 54
    True
    """

    epsilon: Number
    neighbours: Neighbours = Neighbours.REPLACE
    unit: str = "row"
    size: int | None = None
    near_zero: bool = False

    def __post_init__(self) -> None:
        check_budget(self.epsilon, 0, None)
        if not isinstance(self.near_zero, bool):
            raise BadInput(f"near_zero is {self.near_zero!r}; give True, if that is public, or False")
        if self.size is not None:
            check_size(self.size, self.neighbours)

    guarantee = promised

    @property
    def loss(self) -> Loss:
        """The sum of all draws: how it is shared waits for the number of records. [mean.1]"""
        return Approximate(self.epsilon, 0)

    def check(self, size: int | None, *, advised: bool = True) -> None:
        """Refuse so few rows that their middle and their reach would not be found; `near_zero` may be `advised`.
        [mean.3]"""
        needed = (NEARBY if self.near_zero else NEEDED) * sides_moved(self.neighbours)
        if size is not None and size * exact(self.epsilon) < needed:
            near = NEARBY * sides_moved(self.neighbours) * (1 if self.neighbours.size_is_public else SURELY)
            advice = NEAR if advised and not self.near_zero and size * float(self.epsilon) >= near else ""
            raise Refused(too_few(size, self.epsilon, needed, self.neighbours, bounds=True, declared=advice))

    def stages(self, size: int | None) -> Allocation:
        """The number of records, where it is private, and the rest. [mean.1]"""
        return Allocation.of(self.epsilon).split(size=Share(COUNT) if size is None else None, rest=Share())  # [mean.1]

    def release(self, rows: Any, rng: Randomness) -> Release[float]:
        """The estimate and its interval, or a refusal."""
        values = long_numbers(rows)
        if not self.neighbours.size_is_public:
            counted_in_passing(values, 0.0)
        size = agree(public_size(values, self.neighbours), self.size)
        seen = noisy_size(values, self.stages(None).part("size", Laplace), rng) if size is None else size  # [mean.1]
        return self.counted(values, size, seen, rng)

    def by_group(self, parts: Sequence[Any], rng: Randomness) -> list[Release[float]]:
        """A release for each group, small ones by one clip. [pooled.1]"""
        from discreet.statistics.pooled import pooled_means

        return pooled_means(self, parts, rng)

    def blank(self, size: int | None, seen: int, rng: Randomness) -> Release[float]:
        """What is known before anything but a number of records is."""
        shown = {"neighbours": self.neighbours, "rows": size, "costs": self.stages(size).shown}
        shown |= {"counted": seen} if size is None else {}
        return Release(self.guarantee, Provenance("RankClippedMean", shown, rng.secure), name="mean")

    def counted(self, values: Numbers, size: int | None, seen: int, rng: Randomness) -> Release[float]:
        """The same for records whose number is public, or was `seen` with noise. [mean.1]"""
        parts, blank = self.stages(size), self.blank(size, seen, rng)
        if refusal := refusal_of(self, seen):  # [mean.3]
            return replace(blank, refusal=refusal)
        rest, off = parts.part("rest", Laplace).epsilon, count_error(parts, seen)
        terms: dict[str, Any] = {"neighbours": self.neighbours, "rng": rng}
        tail, table = find_tail(values, rest, size=seen, near_zero=self.near_zero, **terms)  # [mean.1], [mean.2]
        spread = tail_mean(table, tail, off=off, **terms)  # [mean.1]
        shown = {**blank.provenance.parameters, "costs": {**parts.shown, **tail.stages.shown}}
        provenance = replace(blank.provenance, parameters=shown)
        if isinstance(spread, str):  # [mean.3]
            return replace(blank, refusal=spread, provenance=provenance)
        notes = tail_notes(tail, bool(spread.target), self.epsilon)
        return replace(blank, answer=spread.estimate, spread=spread, provenance=replace(provenance, notes=notes))


def tail_mean(
    values: Distances, tail: Tail, *, neighbours: Neighbours, rng: Randomness, off: float = 0.0
) -> "ConvolvedSpread | str":
    """The mean of values clipped where their tail says, or a refusal; `off` is the relative deviation of a noisy size.
    [mean.1], [mean.4]"""
    if tail.endless or tail.rare:  # [mean.3]
        return tail.rare or ENDLESS
    centre, radius, limited = tail.centre, tail.radius, tail.limited
    if not radius:  # what is clipped to the centre is the centre
        return ConvolvedSpread(estimate=centre, sampling=0.0, laplace=0.0, **limited)
    terms: dict[str, Any] = {"size": tail.size, "neighbours": neighbours, "rng": rng, "off": off}
    spread = clipped_mean_of(values, tail.stages, centre=centre, radius=radius, **terms)  # [mean.1]
    shift, deviation = abs(spread.estimate - centre), spread.sampling * math.sqrt(spread.freedom)
    if tail.outside(shift * (1 + off), deviation):  # [mean.3]
        return NOWHERE
    farther = tail.allowed(spread.half_width(0.95))
    if farther is None:  # [mean.3]
        return replace(spread, **limited)
    return replace(spread, **farther)  # [mean.4]


def clipped_mean_of(
    values: Numbers | Distances,
    stages: Allocation,
    *,
    size: int | None,
    centre: float,
    radius: float,
    neighbours: Neighbours,
    rng: Randomness,
    off: float = 0.0,
) -> ConvolvedSpread:
    """The mean of values clipped to centre +- radius, with the error that its own second moment gives it; `off` is the
    relative deviation of a noisy size. [mean.4]"""
    cost = stages.noise("mean")
    where: dict[str, Any] = {"centre": centre, "radius": radius, "size": size, "rng": rng}
    if "square" in stages:
        first, second = moments(values, {1: cost, 2: stages.noise("square")}, neighbours=neighbours, **where)
    else:  # both are one stage
        first, second = joint_moments(values, stages.part("mean", Laplace), **where)
    others = max(1.0, first.size - 1)
    variance = max(second.mean + second.noise - first.mean**2, second.noise)  # [mean.4]
    gaussian = first.noise if isinstance(cost, Gaussian) else 0.0
    return ConvolvedSpread(
        estimate=centre + radius * first.mean,
        sampling=radius * math.sqrt(variance / others),
        laplace=radius * (first.noise - gaussian),
        normal_noise=radius * math.hypot(gaussian, first.mean * off),
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
    near_zero: bool = False,
    neighbours: Neighbours = Neighbours.REPLACE,
    unit: str = "row",
) -> Mechanism[float]:
    """The best mechanism for a mean, by public quantities: `size` is None where it is private.

    A normal model: GaussianMean. Any shape without bounds: RankClippedMean. With bounds: BoundedMean, unless they are
    so wide (a known `sigma` says so) and the data so many that finding a narrower clip pays. `near_zero` is declared
    where there is no more to declare.

    >>> type(plan_mean(1000, 1.0, bounds=(0, 120))).__name__, type(plan_mean(1000, 1.0)).__name__
    ('BoundedMean', 'RankClippedMean')
    """
    check_budget(epsilon, delta, size)
    free = RankClippedMean(epsilon, neighbours, unit, size, near_zero)
    if near_zero and (model is not None or bounds is not None):
        raise BadInput(
            "near_zero is for a mean of any shape without bounds; leave it out, or leave out model and bounds"
        )
    if model == "gaussian":
        return GaussianMean(epsilon, delta, sigma=sigma, bounds=bounds, neighbours=neighbours, unit=unit, size=size)
    if model is not None:
        raise BadInput(f"model is {model!r}; give 'gaussian', or None for data of any shape")
    if sigma is not None:
        check_sigma(sigma)
    if bounds is None:
        return free
    check_bounds(bounds)
    low, high = float(bounds[0]), float(bounds[1])
    wide = sigma is not None and high - low > SPAN * float(sigma)
    if wide and size is not None and refusal_of(free, size) is None:
        return free
    from discreet.statistics.bounded_mean import BoundedMean

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
            runs=min(16, max(8, 48 // table.columns)),  # each column of a run is a run of one column
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
        within=about.bounds,
    )


def _reads(options: Mapping[str, Any]) -> Reads:
    sampled = options.get("method", "auto") != "auto" or options.get("sigma") is not None  # of several columns
    return number("either", streams=not (sampled and isinstance(options.get("x"), list | tuple)), dates=True)


@statistic(
    {"x": _reads, **SURVEY},
    rows=survey_rows,
    groups=True,
    wants_delta=_several,
    world=_world,
)
def mean(
    people: Public,
    x: Columns,
    *,
    epsilon: Number,
    delta: Number = 0.0,
    model: Literal["gaussian"] | None = None,
    bounds: tuple[Any, Any] | None = None,
    sigma: Any = None,
    near_zero: bool = False,
    method: Literal["auto", "clipped", "two-stage", "stability", "karwa-vadhan", "refine", "blocks"] = "auto",
    reach: float | None = None,
    weights: Columns | None = None,
    clusters: Columns | None = None,
    strata: Columns | None = None,
    largest_weight: float | None = None,
    design: Any = None,
) -> Mechanism[Any]:
    """The mean, with a confidence interval for the population's. No bounds needed.

    model=None assumes no shape. With n * epsilon^2 of some 2,000 (10,000 under "replace"; more for long tails) its
    interval is for the mean, and allows for values farther out than can be seen; elsewhere it is for the mean of values
    limited to a range that it names, beyond which few records lie. It takes n * epsilon of 180; near_zero=True declares
    that the mean is within a hundred standard deviations of 0, as it is for most measurements, and takes 120.
    model="gaussian" is tighter for normal data. Public `bounds`, and a public `sigma`, are used when given, never read
    from the data. The answer is pure epsilon; with delta > 0 a normal mean may be released in zCDP if that is predicted
    to be more accurate. The other methods are the lectures' own, kept for comparison: they need a public `reach`
    (`abs(mean) <= reach`) and `sigma` ("karwa-vadhan": a range of sigmas; "stability": no reach).

    With the `weights` of a survey it is the mean of the population that they stand for; with its `clusters`, the
    interval is for people who were drawn in them.

    A table (an array of rows and columns, a data frame, an Arrow table) has a mean for each column, with noise in units
    of its own spread; delta > 0 makes it much more accurate. For columns of one scale there are method="refine", which
    averages rows, and "blocks", the means of blocks of rows: both need delta > 0. For columns that vary together, a
    stretched covariance, the mean of `fit_normal` has far less noise across the long direction.

    >>> import discreet
    >>> r = discreet.mean([float(age % 80) for age in range(4000)], epsilon=1.0, rng=discreet.Seeded(1))
    >>> 35 < r.value < 44
    True
    """
    from discreet.statistics.survey import surveyed

    drawn: dict[str, Any] = {"weights": weights, "clusters": clusters, "strata": strata}
    survey = surveyed(people, "mean", epsilon, bounds, largest_weight=largest_weight, design=design, **drawn)
    if survey is not None:
        if x.several or near_zero or model is not None or sigma is not None or method != "auto" or reach is not None:
            raise BadInput(
                "the mean of a survey is of one column; it takes no model, sigma, near_zero, method or reach"
            )
        return survey
    terms: dict[str, Any] = {"neighbours": people.neighbours, "unit": people.unit}
    if x.several:
        from discreet.statistics.column_means import table_mean

        if near_zero or model is not None or bounds is not None or reach is not None:
            raise BadInput("model, bounds, near_zero and reach are for one column; a table's mean needs none of them")
        return table_mean(people, len(x.names), epsilon, delta, method=method, sigma=sigma)
    if method == "auto":
        if reach is not None:
            raise BadInput("reach is for the lectures' methods; leave it out, or give bounds= and a model")
        terms |= {"model": model, "bounds": bounds, "sigma": sigma, "near_zero": near_zero}
        return plan_mean(people.size, epsilon, delta, **terms)
    if near_zero or model is not None or bounds is not None:
        raise BadInput(
            f"method {method!r} takes no model=, bounds= or near_zero=; leave them out, or use method='auto'"
        )
    return lecture(method, epsilon=epsilon, delta=delta, sigma=sigma, reach=reach, **terms)
