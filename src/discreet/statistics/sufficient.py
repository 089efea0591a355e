"""A distribution of a known family, fitted to unbounded data by its sufficient statistics, with intervals.

Releases
    A median, and for two parameters a median distance, of a public function of each record: a first guess. Then the
    noisy mean of each statistic, turned by the guess and cut to a box that the guess tells (statistics/family_clip.py).
    From them the parameters at which the family's cut statistics have these means. Under ADD_OR_REMOVE also a noisy
    size.
Promise
    [sufficient.1] Pure epsilon under both relations: the stages' epsilons are exact fractions that sum to epsilon.
    [sufficient.2] Refusals, boxes and parameters read public numbers and earlier answers only.
    [sufficient.3] No cut biases the parameters: for independent records of the family the means of the cut statistics
          estimate their own expectations, which the inversion reads at the same boxes.
    [sufficient.4] The interval of a single parameter holds every value whose cut statistic would not be surprising;
          those of two are to first order, on the scales on which they are looked for. Each is for its parameter by
          itself.
Why
    [sufficient.1] Adaptive composition of a count [additive.1], the choices [locate.1] and the sums [clip.1] (REPLACE)
    or pairs [clip.3] (ADD_OR_REMOVE) of stages/clip.py. What is summed is a fixed function of one record, of public
    numbers and of earlier answers: statistics entry by entry, a turn in a fixed order of operations, a cut, a rounding.
    [sufficient.2] Under REPLACE n is public and a refusal comes before any draw; under ADD_OR_REMOVE the noisy n
    decides.
    [sufficient.3] E cut = E cut at the truth, whatever the box; the box is independent of the last stage's noise and
    depends on the sample through a median alone.
    [sufficient.4] The mean of n cut records is normal with the family's own variance at the parameter, the noise is
    Laplace of known scale: tails of their sum are those of stages/normal_laplace.py. For two parameters the inverse
    of the slopes carries both to each; the two noises are taken as one Laplace variable of their joint variance, a
    little wide.
Needs
    n epsilon of 174 under REPLACE and of 260 under ADD_OR_REMOVE for an answer; of about 1,000 for a good one.
    Records of the family: the interval rests on it. Missing records, and those at which a statistic has
    no value, count as the middle of the box. A family's functions treat each record alone, bit for bit, and keep
    nothing of it; the first is checked on public numbers, the second cannot be.
Accuracy
    At n = 2,000 and epsilon = 1 intervals are 1.01 to 1.1 times as wide as the likelihood's: docs/measured-families.md
Source
    Bernstein and Sheldon 2018 for noisy sufficient statistics; Hampel et al. 1986 for Fisher-consistent clipped scores.
    Unbounded data by a private median, the turn and the public choice of the box are ours.
"""

import math
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from typing import Any, Final

import numpy as np

from discreet.accounting.allocation import Allocation, Share
from discreet.errors import BadInput, Refused
from discreet.privacy.exact import Number
from discreet.privacy.guarantee import check_budget
from discreet.privacy.intervals import Interval
from discreet.privacy.loss import Choice, Laplace
from discreet.privacy.mechanism import Randomness, promised, refusal_of
from discreet.privacy.neighbours import Neighbours
from discreet.privacy.provenance import Provenance
from discreet.privacy.release import Release
from discreet.privacy.values import Distribution
from discreet.stages.clip import Floats, enough, listed, moments, noisy_size
from discreet.stages.declared import agree, check_size
from discreet.stages.locate import FINE, median_distance, middle, moves
from discreet.stages.normal_laplace import ConvolvedSpread, radius
from discreet.statistics.family import Family, each, slope_of, unlink
from discreet.statistics.family_clip import Boxes, boxes_for, crossing, inverted
from discreet.statistics.normal import LOCATE, SCALE, too_few
from discreet.tables.entries import numbers, public_size

MOST: Final = Fraction(3, 10)  # the largest share of epsilon for each part of the guess
LEAST: Final = Fraction(1, 20)
COUNT, PRIVATE = Fraction(1, 20), Fraction(1, 10)  # shares where the size is private
NATS: Final = 80
FAR: Final = 1e150  # where no guess goes
CELL: Final = 2.0**-FINE  # how fine a median distance is, as a share of itself


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

    def __post_init__(self) -> None:
        check_budget(self.epsilon, 0, None)
        check_size(self.size, self.neighbours)
        if not isinstance(self.family, Family):
            raise BadInput(
                f"family is {self.family!r}; give a discreet.Family, or one of the names of discreet.fit_distribution"
            )
        self.family.check_start()

    guarantee = promised

    loss = listed  # [sufficient.1]

    def stages(self, size: int | None) -> Allocation:
        """A guess and a statistic for each parameter, for a public number of records or a private one.
        [sufficient.2]"""
        many = len(self.family.parameters)
        guess = PRIVATE if size is None else enough(NATS, size, self.epsilon, LEAST, MOST)
        return Allocation.of(self.epsilon).split(
            size=Share(COUNT) if size is None else None,
            guess=Share(many * guess, Choice, many),
            statistic=Share(times=many),
        )  # [sufficient.1]

    def feasible(self, costs: Allocation, size: int) -> bool:
        """Whether so many records will be found. Public."""
        steady = size / float(moves(self.neighbours))
        least = SCALE if len(self.family.parameters) == 1 else max(LOCATE, SCALE)
        return steady * float(costs.part("guess", Choice).epsilon) >= least

    @property
    def needed(self) -> float:
        """The n epsilon from which on there is an answer."""
        share = MOST if self.neighbours.size_is_public else PRIVATE
        return float(SCALE / share * moves(self.neighbours))

    def check(self, size: int | None) -> None:
        """Refuse too few rows for a first guess. [sufficient.2]"""
        if size is not None and not self.feasible(self.stages(size if self.neighbours.size_is_public else None), size):
            raise Refused(too_few(size, self.epsilon, self.needed, self.neighbours))

    def release(self, rows: Any, rng: Randomness) -> Release[Distribution]:
        """The fitted family and its intervals, or a refusal."""
        values = numbers(rows)
        size = agree(public_size(values, self.neighbours), self.size)
        costs = self.stages(size)
        seen = noisy_size(values, costs.part("size", Laplace), rng) if size is None else size  # [sufficient.1]
        shown: dict[str, Any] = {"neighbours": self.neighbours, "rows": size, "costs": costs.shown}
        shown["family"] = self.family.name
        provenance = Provenance("SufficientStatistics", shown, rng.secure, notes=self.family.notes)
        blank: Release[Distribution] = Release(self.guarantee, provenance, name=f"{self.family.name} distribution")
        if refusal := refusal_of(self, seen):  # [sufficient.2]
            return replace(blank, refusal=refusal)
        boxes = fitting_boxes(self.family, self._guess(values, costs, rng), seen, costs)
        if boxes is None:  # [sufficient.2]
            return replace(blank, refusal=nowhere(self.family.name))
        cost = costs.part("statistic", Laplace)
        found = [
            moments(
                column,
                {1: cost},
                centre=float(centre),
                radius=float(radius),
                size=size,
                neighbours=self.neighbours,
                rng=rng,
            )[0]
            for column, centre, radius in zip(boxes.columns(values), boxes.centre, boxes.radius, strict=True)
        ]  # [sufficient.1]
        means, noises = np.array([one.mean for one in found]), np.array([one.noise for one in found])
        places = inverted(boxes, means)  # [sufficient.3]
        fitted = Distribution(
            self.family.name,
            dict(zip(self.family.parameters, self.family.unlinked(places), strict=True)),
            self.family.distribution,
        )
        return replace(blank, answer=fitted, spread=family_spread(fitted, boxes, places, means, noises, found[0].size))

    def _guess(self, values: Floats, costs: Allocation, rng: Randomness) -> list[float]:
        """What the first guess is made from. [sufficient.1]"""
        handles, relation, cost = each(self.family.handle, values), self.neighbours, costs.part("guess", Choice)
        if len(self.family.parameters) == 1:
            if self.family.origin is None:
                seen = [middle(handles, cost=cost, neighbours=relation, rng=rng)]  # [sufficient.1]
            else:
                at = float(self.family.origin)
                # [sufficient.1]
                seen = [median_distance(handles, centre=at, cost=cost, neighbours=relation, rng=rng)]
        else:
            centre = middle(handles, cost=cost, neighbours=relation, rng=rng)  # [sufficient.1]
            # [sufficient.1]
            scale = median_distance(handles, centre=centre, cost=cost, neighbours=relation, rng=rng)
            seen = [centre, scale]
        return seen


def fitting_boxes(family: Family, seen: list[float], size: int, costs: Allocation) -> Boxes | None:
    """The boxes that released numbers tell; None where the family has no place for them. [sufficient.2]"""
    with np.errstate(all="ignore"):
        try:
            near = [min(max(one, -FAR), FAR) for one in seen]
            guess = family.linked(family.start(*near))
            beside = (1 - CELL, 1 + CELL) if family.origin is not None and len(near) == 1 else ()
            nearby = tuple(family.linked(family.start(near[0] * share)) for share in beside)
            boxes = boxes_for(family, guess, size, float(costs.part("statistic", Laplace).epsilon), nearby)
            numbers = np.concatenate([guess, boxes.origin, boxes.turn.ravel(), boxes.centre, boxes.radius])
            return boxes if np.isfinite(numbers).all() and np.isfinite(boxes.slopes(guess)).all() else None
        except Exception:  # noqa: BLE001  whatever a family's functions raise at a released number
            return None


def nowhere(name: str) -> str:
    """A refusal after the guess was released."""
    return (
        f"the middle of the data is at no place where a {name} distribution could be followed; rescale the data, "
        "choose another family, or fit by discreet.maximum_likelihood"
    )


@dataclass(frozen=True, slots=True)
class FamilySpread:
    """The errors of each parameter by itself; `parts` have an interval, a sampling and a privacy deviation each."""

    value: Distribution
    parts: tuple[Any, ...]

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
        several = "s, each by itself" if len(ends) > 1 else ""
        about = f"the population's parameter{several}, if it has this distribution"
        return Interval(low, high, confidence=confidence, about=about, population=True)


def family_spread(  # noqa: PLR0917
    fitted: Distribution, boxes: Boxes, places: Floats, means: Floats, noises: Floats, size: float
) -> FamilySpread:
    """One parameter by the values that are not surprising, two by slopes. [sufficient.4]"""
    slopes, cover = boxes.slopes(places), boxes.moments(places)[1]
    back = np.linalg.pinv(slopes, rcond=1e-10)
    sampling = np.sqrt(np.maximum(np.diag(back @ cover @ back.T), 0.0) / size)
    laplace = np.sqrt((back**2) @ (noises**2))
    linear = [
        LinkedSpread(ConvolvedSpread(float(at), sampling=float(one), laplace=float(noise)), scale)
        for at, one, noise, scale in zip(places, sampling, laplace, boxes.family.scales, strict=True)
    ]
    if len(places) > 1:
        return FamilySpread(fitted, tuple(linear))
    return FamilySpread(
        fitted, (ScoreSpread(boxes=boxes, mean=float(means[0]), noise=float(noises[0]), size=size, linear=linear[0]),)
    )


@dataclass(frozen=True, slots=True)
class LinkedSpread:
    """An error bar on a linked scale, seen on the parameter's own."""

    inner: ConvolvedSpread
    scale: Any

    @property
    def _slope(self) -> float:
        return slope_of(self.scale, unlink(self.scale, self.inner.estimate))

    @property
    def sampling(self) -> float:
        """Standard deviation from sampling."""
        return self._slope * self.inner.sampling

    @property
    def privacy(self) -> float:
        """Standard deviation from the noise."""
        return self._slope * self.inner.privacy

    def interval(self, confidence: float) -> Interval:
        """Both ends taken back."""
        inner = self.inner.interval(confidence)
        low, high = unlink(self.scale, inner.low), unlink(self.scale, inner.high)
        return Interval(low, high, confidence=confidence, about="the population's parameter", population=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreSpread:
    """The error of one parameter: its interval is where the released mean is no surprise on either side."""

    boxes: Boxes
    mean: float
    noise: float
    size: float
    linear: LinkedSpread

    @property
    def sampling(self) -> float:
        """Standard deviation from sampling."""
        return self.linear.sampling

    @property
    def privacy(self) -> float:
        """Standard deviation from the noise."""
        return self.linear.privacy

    def interval(self, confidence: float) -> Interval:
        """Sampling and privacy together. [sufficient.4]"""

        def surprise(place: Floats, sign: int) -> float:  # how far beyond what is expected there, on one side
            mean, cover = self.boxes.moments(place)
            reach = radius(confidence, math.sqrt(float(cover[0, 0]) / self.size), self.noise)
            return sign * (self.mean - float(mean[0])) - reach

        def crosses(sign: int) -> float:
            return crossing(self.boxes, lambda place: surprise(place, sign))

        ends = sorted((crosses(1), crosses(-1)))
        scale = self.boxes.family.scales[0]
        low, high = unlink(scale, ends[0]), unlink(scale, ends[1])
        return Interval(low, high, confidence=confidence, about="the population's parameter", population=True)
