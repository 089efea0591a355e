"""The distribution of a known family that fits data best, by its sufficient statistics; the data need not have it.

Releases
    A median, and for two parameters a median distance, of a public function of each record: a first guess. It turns
    the statistics (statistics/family_moments.py). For each a distance C from the guess that about m0 records exceed;
    then the noisy mean of the statistic limited to R about the guess, and of the square of what each record moves each
    parameter by. The parameters are those at which the family expects these means. Under ADD_OR_REMOVE also a noisy
    size.
Promise
    [sufficient.1] Pure epsilon under both relations: the stages' epsilons are exact fractions that sum to epsilon.
    [sufficient.2] Refusals, limits and parameters read public numbers and earlier answers only.
    [sufficient.3] The target is the maximum likelihood fit of the family to the whole population, whatever its
          distribution, its statistics limited where the release says.
    [sufficient.4] The interval of each parameter by itself is for the target by the normal approximation, to first
          order for two parameters; and for the fit without limits too, where tails beyond C are no heavier than the
          Weibull tails that are allowed for.
    [sufficient.5] With the confidence of its interval, the normal distribution that `fit_normal` releases is within
          `total_variation` of the normal distribution that is the target.
Why
    [sufficient.1] Adaptive composition of a count [additive.1], the choices [locate.1] and [locate.2], and the sums
    [clip.1] (REPLACE) or pairs [clip.3] (ADD_OR_REMOVE) of stages/clip.py. What is summed is a fixed function of one
    record, of public numbers and of earlier answers: statistics entry by entry, a turn in a fixed order of operations,
    limits, a rounding.
    [sufficient.2] Under REPLACE n is public and a refusal comes before any draw; under ADD_OR_REMOVE the noisy n
    decides. Means that no parameters expect are refused after they were released.
    [sufficient.3] The likelihood of an exponential family is highest where the family expects the mean of its
    statistics; so it is in the population, whose means the limited ones estimate.
    [sufficient.4] A mean of n records has the variance of one over n, which is released (one scale of its noise is
    added), not taken from the family; the noise is Laplace of known scale. One parameter: the ends of the mean's
    interval are taken to where the family expects them, monotonely. Two: the inverse of the slopes carries a record
    to each parameter, and the square of that is what was released; the two noises are taken as one Laplace variable of
    their joint variance, a little wide. A Weibull tail of shape 1 / p with m0 of n records beyond C has distances
    C (1 + V / u)^p, u = log(n / m0), V exponential: R = C (1 + L / u)^p at L = log(m0 e / sqrt 2), e the epsilon of the
    statistic, is where what lies beyond weighs as much as the noise. That is added on both sides. p is 1.5 for the
    first statistic and 2.5 for the second; for normal distributions it follows from C (`tail_powers`).
    [sufficient.5] Moving the mean by d at a standard deviation s costs 2 Phi(d / 2s) - 1 <= d / (s sqrt(2 pi)) of total
    variation. Moving s to t costs at most 2 phi(1) |log(t / s)|, 2 phi(1) = 0.48394: that is the ratio's limit as t
    nears s, and total variation obeys the triangle inequality on the way. Both intervals hold at once by Bonferroni.
Needs
    n epsilon of 290 under REPLACE and of 330 under ADD_OR_REMOVE for one parameter, 720 and 860 for two. Missing
    records, and those at which a statistic has no value, count as the middle of the limits. A family's functions treat
    each record alone, bit for bit, and keep nothing of it; the first is checked on public numbers, the second cannot
    be.
Accuracy
    docs/benchmarks.md: width beside the likelihood's, where the family is right and where it is not.
Source
    Bernstein and Sheldon 2018 for noisy sufficient statistics; White 1982 for what a likelihood estimates under a wrong
    model and its standard error. Unbounded data by private ranks, and the turn, are ours.
"""

import math
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, Final

import numpy as np

from discreet.accounting.allocation import Allocation, Share
from discreet.errors import BadInput, Refused
from discreet.privacy.exact import Number, show
from discreet.privacy.guarantee import Neighbours, check_budget
from discreet.privacy.intervals import Interval
from discreet.privacy.loss import Choice, Laplace
from discreet.privacy.mechanism import Randomness, promised, refusal_of
from discreet.privacy.release import Provenance, Release
from discreet.privacy.values import Distribution
from discreet.stages.clip import Floats, enough, listed, moments, noisy_size
from discreet.stages.declared import LARGEST, SMALLEST, Bounds, agree, check_bounds, check_size
from discreet.stages.locate import far_distance, median_distance, middle, moves
from discreet.stages.normal_laplace import ConvolvedSpread, NormalSpread
from discreet.statistics.family import Family, each, same
from discreet.statistics.family_moments import (
    ParameterSpread,
    Turned,
    beside,
    fitting,
    inverted,
    limits,
    tail_left,
    tail_powers,
)
from discreet.statistics.normal import LOCATE, SCALE, too_few
from discreet.tables.entries import long_numbers, public_size
from discreet.tables.streams import Numbers
from discreet.tables.streams import each as pieces_of

COUNT: Final = Fraction(1, 20)  # of epsilon, where the size is private
GUESS: Final = {1: Fraction(2, 25), 2: Fraction(7, 100)}  # each part of the guess, where the size is private
FAR: Final = {1: Fraction(11, 50), 2: Fraction(7, 50)}  # each distance there
MOST_GUESS: Final = {1: Fraction(1, 5), 2: Fraction(1, 8)}  # the largest of these where it is public
MOST_FAR: Final = {1: Fraction(1, 4), 2: Fraction(1, 6)}
LEAST: Final = Fraction(1, 20)
SQUARE: Final = Fraction(1, 10)  # for the squares of all parameters
GUESSED, REACHED = 120, 480  # n epsilon that the guess and the distance are given, where the size is public
NATS: Final = 5 + math.log(1000)  # not to overshoot: 5 of prior near a guessed deviation, and a chance of 1 in 1000
TAIL: Final = {1: 3, 2: 5}  # times as many records as lie beyond the distance, at least
POWERS: Final = (1.5, 2.5)  # of the tails of the first and of the second statistic
VAGUE: Final = 0.75  # deviations of a linked parameter from which on a first order says little
NEAR: Final = 1e-6  # deviations of a record by which means that parameters expect may be off, by rounding


NOWHERE: Final = (
    "the middle of the data is at no place where a {} distribution could be followed; rescale the data, choose another "
    "family, or fit by discreet.maximum_likelihood"
)
UNLIKE: Final = (
    "no {} distribution has the means that were found: the data are unlike it, too few for so much noise, or far from "
    "0 in units of their spread; bring more rows, ask for a larger epsilon, or subtract a public number"
)


@dataclass(frozen=True, slots=True)
class SufficientStatistics:
    """A family fitted to one column: `value` has its parameters by name.

    >>> from discreet.noise.randomness import Seeded
    >>> from discreet.statistics.family import FAMILIES
    >>> waits = [-math.log((k + 0.5) / 2000) for k in range(2000)]
    >>> fitted = SufficientStatistics(FAMILIES["exponential"], epsilon=1.0).release(waits, Seeded(1)).value
    >>> 0.9 < fitted.rate < 1.1
    True
    """

    family: Family
    epsilon: Number
    _: KW_ONLY
    neighbours: Neighbours = Neighbours.REPLACE
    unit: str = "row"
    size: int | None = None
    bounds: Bounds | None = None  # a public range of the median

    def __post_init__(self) -> None:
        check_budget(self.epsilon, 0, None)
        check_bounds(self.bounds)
        check_size(self.size, self.neighbours)
        if not isinstance(self.family, Family):
            raise BadInput(
                f"family is {self.family!r}; give a discreet.Family, or one of the names of discreet.fit_distribution"
            )
        self.family.check_start()

    guarantee = promised

    loss = listed  # [sufficient.1]

    def stages(self, size: int | None) -> Allocation:
        """A guess, a distance, a square and a statistic for each parameter, for a public number of records or a private
        one. [sufficient.2]"""
        many = len(self.family.parameters)
        guess, far = GUESS[many], FAR[many]
        if size is not None:
            guess = enough(GUESSED, size, self.epsilon, LEAST, MOST_GUESS[many])
            far = enough(REACHED, size, self.epsilon, LEAST, MOST_FAR[many])
        return Allocation.of(self.epsilon).split(
            size=Share(COUNT) if size is None else None,
            guess=Share(many * guess, Choice, many),
            far=Share(many * far, Choice, many),
            square=Share(SQUARE, times=many),
            statistic=Share(times=many),
        )  # [sufficient.1]

    def feasible(self, costs: Allocation, size: int) -> bool:
        """Whether so many records will be found. Public."""
        steady = size / float(moves(self.neighbours))
        least = LOCATE if len(self.family.parameters) == 1 else max(LOCATE, SCALE)
        return steady * float(costs.part("guess", Choice).epsilon) >= least and size >= TAIL[
            len(self.family.parameters)
        ] * beyond(costs)

    @property
    def needed(self) -> float:
        """The n epsilon from which on there is an answer."""
        many, public = len(self.family.parameters), self.neighbours.size_is_public
        guess, far = (MOST_GUESS[many], MOST_FAR[many]) if public else (GUESS[many], FAR[many])
        located = (LOCATE if many == 1 else SCALE) / guess * moves(self.neighbours)
        return float(max(located, TAIL[many] * (2 * NATS / far + float(self.epsilon))))

    def check(self, size: int | None) -> None:
        """Refuse too few rows for a first guess and a distance. [sufficient.2]"""
        if size is not None and not self.feasible(self.stages(size if self.neighbours.size_is_public else None), size):
            raise Refused(too_few(size, self.epsilon, self.needed, self.neighbours))

    def release(self, rows: Any, rng: Randomness) -> Release[Distribution]:
        """The fitted family and its intervals, or a refusal."""
        values = long_numbers(rows)
        size = agree(public_size(values, self.neighbours), self.size)
        costs = self.stages(size)
        seen = noisy_size(values, costs.part("size", Laplace), rng) if size is None else size  # [sufficient.1]
        shown: dict[str, Any] = {"neighbours": self.neighbours, "rows": size, "costs": costs.shown}
        shown["family"] = self.family.name
        provenance = Provenance("SufficientStatistics", shown, rng.secure, notes=self.family.notes)
        blank: Release[Distribution] = Release(self.guarantee, provenance, name=f"{self.family.name} distribution")
        if refusal := refusal_of(self, seen):  # [sufficient.2]
            return replace(blank, refusal=refusal)
        guessed = self._guess(values, costs, rng)
        unit = (guessed[0], guessed[-1]) if self.family.rescaled else (0.0, 1.0)
        boxes = fitting(self.family, [0.0, 1.0] if self.family.rescaled else guessed)
        if boxes is None or not SMALLEST < unit[1] < LARGEST:  # [sufficient.2]
            return replace(blank, refusal=NOWHERE.format(self.family.name))
        scaled = pieces_of(partial(_scaled, *unit), values) if self.family.rescaled else values
        found = self._limited(boxes, guessed[0], scaled, costs, seen, rng)  # [sufficient.1]
        if found is None:  # [sufficient.2]
            return replace(blank, refusal=NOWHERE.format(self.family.name))
        terms: dict[str, Any] = {"size": size, "neighbours": self.neighbours, "rng": rng}
        spread = fitted_spread(boxes, scaled, found, costs, unit, terms)  # [sufficient.1]
        if spread is None:  # [sufficient.2]
            return replace(blank, refusal=UNLIKE.format(self.family.name))
        return replace(blank, answer=spread.value, spread=spread)

    def _guess(self, values: Numbers, costs: Allocation, rng: Randomness) -> list[float]:
        """What the first guess is made from. [sufficient.1]"""
        relation, cost = self.neighbours, costs.part("guess", Choice)
        handle = self.family.handle
        handles = values if handle is same else pieces_of(lambda part: each(handle, part), values)
        centre = middle(handles, cost=cost, neighbours=relation, rng=rng, bounds=self.bounds)  # [sufficient.1]
        if len(self.family.parameters) == 1:
            return [centre]
        # [sufficient.1]
        return [centre, median_distance(handles, centre=centre, cost=cost, neighbours=relation, rng=rng)]

    def _limited(  # noqa: PLR0917
        self, boxes: Turned, median: float, values: Numbers, costs: Allocation, seen: int, rng: Randomness
    ) -> "list[Limited] | None":
        """Where to limit each turned statistic: at a distance that `beyond` records exceed, and some more.
        [sufficient.1]"""
        found, cost, few = [], costs.part("far", Choice), beyond(costs)
        alone = len(boxes.guess) == 1 and self.family.handle is same
        centre = float(boxes.columns(np.array([median]))[0][0]) if alone else 0.0
        if not abs(centre) < LARGEST:
            return None
        ranks, powers = math.log(seen / few), list(POWERS)
        more = math.log(max(few * float(costs.part("statistic", Laplace).epsilon) / math.sqrt(2), 1.0)) / ranks
        for number, ends in enumerate(boxes.ends):
            column = pieces_of(lambda part, number=number: boxes.columns(part)[number], values)
            # [sufficient.1]
            distance = far_distance(column, centre=centre, beyond=few, cost=cost, rng=rng, least=boxes.least)
            if not distance < LARGEST:
                return None
            if self.family.rescaled and number == 0:  # the tail is seen: from the median distance to this one
                powers = list(tail_powers(ranks, distance / float(boxes.turn[0, 0])))
            times = (1 + more) ** powers[number]  # [sufficient.4]
            low, high = max(centre - times * distance, float(ends[0])), min(centre + times * distance, float(ends[1]))
            if not low < high:  # the guess is not where the data are
                low, high = centre - times * distance, centre + times * distance
            left = tail_left(ranks, more, powers[number]) * distance * few / seen
            found.append(Limited(low, high, left))
        return found if all(one.radius > 0 for one in found) else None  # 0 beside a centre that is very far


def _scaled(place: float, size: float, part: Floats) -> Floats:
    """Records from a place, in units of a size: each by itself."""
    with np.errstate(all="ignore"):
        return (part - place) / size


def beyond(costs: Allocation) -> int:
    """m0: how many records a distance leaves beyond it. Public."""
    return math.ceil(2 * NATS / float(costs.part("far", Choice).epsilon))


@dataclass(frozen=True, slots=True)
class Limited:
    """The limits of a turned statistic, and what a tail beyond them may leave of its mean."""

    low: float
    high: float
    left: float

    @property
    def centre(self) -> float:
        """Their middle."""
        return self.low / 2 + self.high / 2

    @property
    def radius(self) -> float:
        """Half of what is between."""
        return self.high / 2 - self.low / 2


def fitted_spread(  # noqa: PLR0917
    boxes: Turned,
    values: Numbers,
    found: list[Limited],
    costs: Allocation,
    unit: tuple[float, float],
    terms: dict[str, Any],
) -> "FamilySpread | None":
    """The parameters and their errors; None where no parameters expect what was found. [sufficient.1]"""
    cost, square = costs.part("statistic", Laplace), costs.part("square", Laplace)
    first = []
    for number, one in enumerate(found):
        column = pieces_of(lambda part, number=number: boxes.columns(part)[number], values)
        first += moments(column, {1: cost}, centre=one.centre, radius=one.radius, **terms)  # [sufficient.1]
    centres, radii = np.array([one.centre for one in found]), np.array([one.radius for one in found])
    shares, noises = np.array([one.mean for one in first]), radii * np.array([one.noise for one in first])
    means = centres + radii * shares
    try:
        with np.errstate(all="ignore"):
            places = inverted(boxes, means)  # [sufficient.3]
            slopes, off = boxes.slopes(places), boxes.means(places) - means
    except Exception:  # noqa: BLE001  whatever a family's functions raise at a released number
        return None
    if not (np.abs(off) < NEAR).all() or not np.isfinite(slopes).all():
        return None
    # one parameter is found from the mean itself, two from where both means are
    back = np.eye(1) if len(found) == 1 else np.linalg.pinv(slopes, rcond=1e-10)
    at = means if len(found) == 1 else places
    weights = back * radii
    reach = np.maximum(np.abs(weights) @ (1 + np.abs(shares)), 1e-280)
    laplace, left = np.sqrt((back**2) @ noises**2), np.abs(back) @ np.array([one.left for one in found])

    def moved(part: Floats, row: Floats) -> Floats:
        """What a record moves a parameter by, in a fixed order of operations. [sufficient.1]"""
        with np.errstate(all="ignore"):
            units = [(one - mid) / half for one, mid, half in zip(boxes.columns(part), centres, radii, strict=True)]
        total = np.zeros(len(part))
        for weight, one, share in zip(row, units, shares, strict=True):
            total = total + weight * (np.where(np.isnan(one), 0.0, np.clip(one, -1.0, 1.0)) - share)
        return total

    parts = []
    for number, row in enumerate(weights):
        column = pieces_of(lambda part, row=row: moved(part, row), values)
        (second,) = moments(column, {2: square}, centre=0.0, radius=float(reach[number]), **terms)  # [sufficient.1]
        sampling = float(reach[number]) * math.sqrt((second.mean + second.noise) / first[0].size)  # [sufficient.4]
        inner = ConvolvedSpread(float(at[number]), sampling=sampling, laplace=float(laplace[number]))
        parts.append(ParameterSpread(inner, float(left[number]), partial(_parameter, boxes, at, unit, number)))
    deviations = [math.hypot(one.inner.sampling, one.inner.privacy) for one in parts]
    if len(at) > 1 and (max(deviations) > VAGUE or beside(boxes, at, 2 * deviations[-1])):  # [sufficient.2]
        return None
    family = boxes.family
    fitted = dict(zip(family.parameters, _parameters(boxes, at, unit), strict=True))
    return FamilySpread(
        Distribution(family.name, fitted, family.distribution),
        tuple(parts),
        limits(boxes, found[0].low, found[0].high, unit),
    )


def _parameters(boxes: Turned, at: Floats, unit: tuple[float, float]) -> tuple[float, ...]:
    """The parameters, from the mean of one turned statistic, or from two linked ones."""
    family = boxes.family
    found = family.unlinked(inverted(boxes, at) if len(at) == 1 else at)
    return found if family.rescaled is None else tuple(family.rescaled(*unit, *found))


def _parameter(boxes: Turned, at: Floats, unit: tuple[float, float], number: int, end: float) -> float:
    """One of them, at the end of an interval."""
    return float(_parameters(boxes, np.where(np.arange(len(at)) == number, end, at), unit)[number])


@dataclass(frozen=True, slots=True)
class FamilySpread:
    """The errors of each parameter by itself; `parts` have an interval, a sampling and a privacy deviation each."""

    value: Distribution
    parts: tuple[Any, ...]
    target: str = ""

    @property
    def sampling(self) -> dict[str, float]:
        """Standard deviations from sampling."""
        return {name: float(part.sampling) for name, part in zip(self.value, self.parts, strict=True)}

    @property
    def privacy(self) -> dict[str, float]:
        """Standard deviations from the noise."""
        return {name: float(part.privacy) for name, part in zip(self.value, self.parts, strict=True)}

    def interval(self, confidence: float) -> Interval:
        """All intervals side by side. [sufficient.4]"""
        ends = [part.interval(confidence) for part in self.parts]
        low, high = (self.value.with_parameters([getattr(one, end) for one in ends]) for end in ("low", "high"))
        several = "s, each by itself," if len(ends) > 1 else ""
        about = f"the parameter{several} that fit{'' if several else 's'} the population best {self.target}".rstrip()
        return Interval(low, high, confidence=confidence, about=about, population=True)


def at_once(release: Release[Distribution]) -> Release[Distribution]:
    """A fitted normal distribution, both intervals at once, and how far off it may be. Post-processing."""
    if release.refusal is not None:
        return release
    assert isinstance(release.spread, FamilySpread)
    mean, variance = release.spread.parts
    spread = NormalSpread(mean, variance, release.spread.target)
    far = show(spread.total_variation(0.95))  # [sufficient.5]
    note = f"with 95% confidence within {far} in total variation of the normal distribution that fits best"
    history = replace(release.provenance, notes=(*release.provenance.notes, note))
    return replace(release, spread=spread, provenance=history, name="normal distribution")
