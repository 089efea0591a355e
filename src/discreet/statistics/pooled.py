"""Means, totals and variances of several groups: small groups are clipped where all of them together say.

Releases
    A noisy number of people for each group. A group with many of them is answered by itself, as a table is. Of the
    people in all others together, the pool, a centre and a radius are found (stages/reach.py, for a variance
    stages/octaves.py); then for each of these groups the noisy sums of its values, clipped there.
Promise
    [pooled.1] The answers of all groups together are pure epsilon when one person is added or removed; when one is
         replaced, who may leave one group and enter another, twice that.
    [pooled.2] Which groups are pooled, and what is refused, reads public numbers and earlier answers only.
    [pooled.3] The interval of a pooled group is for the population's mean, or variance, of that group, after limiting
         values to the range that was found, by the normal approximation; that of a total for the group's total in the
         table, limited so. The first line names the range. A group with too few people is refused alone.
Why
    [pooled.1] Each person is in one group at most. The counts are parallel ([release.1]): they cost what one costs
    ([additive.1]). Given them, each large group and the pool are a partition of the people: what follows is parallel
    again, and costs the largest of its parts. A large group has the rest of epsilon ([mean.1], [sum.1],
    [variance.1]). In the pool a search ([reach.1], [locate.1] and [octaves.1]) is composed with sums in each of its
    groups, parallel for a third time; the search and one group's sums are one allocation of the same rest
    ([allocation.1], [clip.1], [clip.3], [clip.4]). To replace a person is to remove one and to add one, each a step of
    epsilon whichever groups they are in: a session asks at half of epsilon ([asking.2]).
    [pooled.2] As `parted` and the three functions below read: noisy numbers, and what the search and sums released.
    [pooled.3] As [mean.4], [sum.3] and [variance.3], of one group with a range that does not depend on its sums.
Needs
    n epsilon of 180 in the pool (variance: 370); in a group of it about 40 for a mean, 100 for a variance.
Accuracy
    In a pooled group noise of scale sqrt(2) R / (n e), e about 0.65 of epsilon from n epsilon = 2,000 in the pool on,
    where a group alone has R / (n e) with e about 0.3 at n epsilon = 250. R leaves about as many people of each group
    beyond it, in the mean, as there would be by itself. Where groups are far apart R is as wide as all of them.
Source
    The clip of Huang, Liang and Yi 2021, shared by groups; parallel composition of McSherry 2009.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from discreet.accounting.allocation import Share
from discreet.errors import BadInput
from discreet.privacy.exact import Number
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Choice, Laplace
from discreet.privacy.mechanism import Mechanism, Randomness, Wrapped, refusal_of, what_to_do
from discreet.privacy.release import Release
from discreet.stages.clip import noisy_number
from discreet.stages.limits_said import unlimited
from discreet.stages.normal_laplace import ConvolvedSpread
from discreet.stages.reach import ENDLESS, Tail, find_tail
from discreet.statistics.mean import NOWHERE, RankClippedMean, clipped_mean_of
from discreet.statistics.sum import Sum
from discreet.statistics.variance import Variance, told
from discreet.tables.entries import long_numbers
from discreet.tables.streams import Numbers, chained

ALONE: Final = 400  # n epsilon from which a group is answered by itself
SQUARED: Final = 100  # n epsilon that a variance needs in a group
LEAST: Final = 25  # n times the epsilon of its sums: below, a group's own number is not known to a tenth
TIMES: Final = math.sqrt(2)  # the noise on a mean by three sums, over that by one
POOLED: Final = (
    "the range was found on about {} people in {} groups of few people, at {:.0%} of epsilon, and is the same for all "
    "these groups"
)
FEW: Final = "about {} people of this group have a value: too few at this epsilon. Please {}"
NOISE: Final = 3  # standard deviations of the noise on the number of people in the pool: fewer may be nobody
SCARCE: Final = (
    "about {} people are in {} groups of few people, and that number is off by {} or so: they may be nobody. Bring "
    "more rows, ask for a larger epsilon, or for fewer and larger groups"
)


@dataclass(frozen=True, slots=True)
class Parted:
    """Groups and their noisy numbers of people, off by a deviation of `off`; `few` are the places of the pool."""

    groups: tuple[Numbers, ...]
    noisy: tuple[int, ...]
    few: tuple[int, ...]
    off: float

    @property
    def seen(self) -> tuple[int, ...]:
        """The numbers as those of people, 1 or more."""
        return tuple(max(1, many) for many in self.noisy)

    @property
    def pool(self) -> Numbers:
        """Everybody in a group with few people."""
        return chained(self.groups[place] for place in self.few)

    @property
    def size(self) -> int:
        """About how many they are. Noise below 0 counts too: many groups of nobody are nobody."""
        return max(1, sum(self.noisy[place] for place in self.few))

    @property
    def alike(self) -> float:
        """How many groups of one size the pool would be: of several sizes fewer than there are."""
        seen = [self.seen[place] for place in self.few]
        return sum(seen) ** 2 / sum(many**2 for many in seen)

    def refusal(self, mechanism: Mechanism[Any]) -> str | None:
        """Why there is no range to be found, if so few are in the pool. [pooled.2]"""
        off = self.off * math.sqrt(len(self.few))
        if refusal := refusal_of(mechanism, self.size):
            return refusal
        return SCARCE.format(self.size, len(self.few), round(off)) if self.size < NOISE * off else None

    def answered(
        self,
        alone: Callable[[Numbers, int], Release[float]],
        together: Callable[[], list[Release[float]]],
    ) -> list[Release[float]]:
        """Large groups by themselves, the others together. [pooled.1]"""
        pooled = dict(zip(self.few, together() if self.few else [], strict=True))
        return [
            pooled[place] if place in pooled else alone(values, self.seen[place])
            for place, values in enumerate(self.groups)
        ]


def pools(mechanism: Mechanism[Any], size: int) -> bool:
    """Whether groups of about so many people would be pooled. [pooled.2]"""
    if isinstance(mechanism, Wrapped):
        return pools(mechanism.inner, size)
    free = getattr(mechanism, "bounds", None) is None and getattr(mechanism, "model", None) is None
    shared = isinstance(mechanism, RankClippedMean | Sum | Variance) and free
    return shared and size * float(mechanism.guarantee.epsilon) < ALONE


def parted(parts: Sequence[Any], epsilon: Number, cost: Laplace, neighbours: Neighbours, rng: Randomness) -> Parted:
    """The groups, counted; one small group is none to pool. [pooled.1], [pooled.2]"""
    if neighbours.size_is_public:
        raise BadInput("groups are asked about people who are added or removed; make it with neighbours=ADD_OR_REMOVE")
    groups = tuple(long_numbers(part) for part in parts)
    noisy = tuple(noisy_number(values, cost, rng) for values in groups)  # [pooled.1]
    few = tuple(place for place, many in enumerate(noisy) if many * float(epsilon) < ALONE)  # [pooled.2]
    return Parted(groups, noisy, few if len(few) > 1 else (), math.sqrt(2) / float(cost.epsilon))


def pooled_means(mechanism: RankClippedMean, parts: Sequence[Any], rng: Randomness) -> list[Release[float]]:
    """The mean of each group. [pooled.1]"""
    stages = mechanism.stages(None)
    cost, rest = stages.part("size", Laplace), stages.part("rest", Laplace).epsilon
    found = parted(parts, mechanism.epsilon, cost, mechanism.neighbours, rng)  # [pooled.1]

    def together() -> list[Release[float]]:
        blank = [mechanism.blank(None, found.seen[place], rng) for place in found.few]
        if refusal := found.refusal(mechanism):  # [pooled.2]
            return [replace(one, refusal=refusal) for one in blank]
        tail, _ = find_tail(
            found.pool,
            rest,
            size=found.size,
            neighbours=mechanism.neighbours,
            rng=rng,
            last={"mean": Share()},
            times=TIMES * found.alike,
            near_zero=mechanism.near_zero,
        )  # [pooled.1]
        if tail.endless or tail.rare:  # [pooled.2]
            return [replace(one, refusal=tail.rare or ENDLESS) for one in blank]
        within: dict[str, Any] = {"size": None, "neighbours": mechanism.neighbours, "rng": rng}
        within |= {"centre": tail.centre, "radius": tail.radius}
        at_centre = ConvolvedSpread(estimate=tail.centre, sampling=0.0, laplace=0.0)  # what is clipped to it is it
        spreads = [
            clipped_mean_of(found.groups[place], tail.stages, **within)
            if tail.radius
            else replace(at_centre, freedom=found.seen[place] - 1)
            for place in found.few
        ]  # [pooled.1]
        refusals = _refusals(spreads, tail, mechanism.epsilon)
        share = 1 - float(tail.stages.part("mean", Laplace).epsilon) / float(mechanism.epsilon)
        note, costs = POOLED.format(found.size, len(found.few), share), {**stages.shown, **tail.stages.shown}
        releases = []
        for one, spread, refused, place in zip(blank, spreads, refusals, found.few, strict=True):
            notes = (note, tail.unseen, unlimited(found.seen[place], mechanism.epsilon))
            shown = {**one.provenance.parameters, "costs": costs}
            history = replace(one.provenance, parameters=shown, notes=notes)
            limited = replace(spread, **tail.limited)  # [pooled.3]
            given = replace(one, answer=spread.estimate, spread=limited, provenance=history)
            releases.append(replace(one, refusal=refused) if refused else given)
        return releases

    return found.answered(lambda values, seen: mechanism.counted(values, None, seen, rng), together)


def _refusals(spreads: Sequence[ConvolvedSpread], tail: Tail, epsilon: Number) -> list[str | None]:
    """Of all groups, if the centre is outside the data; of each with too few people. [pooled.2]"""
    sizes, unit = np.array([spread.freedom + 1 for spread in spreads]), tail.radius or 1.0  # squares may overflow
    shifts = np.array([(spread.estimate - tail.centre) / unit for spread in spreads])
    squares = np.array([(spread.sampling / unit) ** 2 * spread.freedom for spread in spreads]) + shifts**2
    mean, square = (float((sizes * part).sum() / sizes.sum()) for part in (shifts, squares))
    if tail.radius and tail.outside(unit * abs(mean), unit * math.sqrt(max(square - mean**2, 0.0))):
        return [NOWHERE] * len(spreads)
    cost = float(tail.stages.part("mean", Laplace).epsilon)
    return [_few(round(size), epsilon, LEAST / cost) if size * cost < LEAST else None for size in sizes.tolist()]


def _few(seen: int, epsilon: Number, needed: float) -> str:
    """Why a group of so few people is refused."""
    other = "ask for fewer and larger groups"
    return FEW.format(seen, what_to_do(seen, epsilon, needed, other, noisy=True, rows="people of this group"))


def pooled_sums(mechanism: Sum, parts: Sequence[Any], rng: Randomness) -> list[Release[float]]:
    """The total of each group. [pooled.1]"""
    cost = mechanism.stages.part("size", Laplace)
    found = parted(parts, mechanism.epsilon, cost, mechanism.neighbours, rng)  # [pooled.1]

    def together() -> list[Release[float]]:
        blank = mechanism.blank(None, rng)
        if refusal := found.refusal(mechanism):  # [pooled.2]
            return [replace(blank, refusal=refusal) for _ in found.few]
        tail = mechanism.searched(found.pool, found.size, rng, found.alike)  # [pooled.1]
        share = 1 - float(tail.stages.part("mean", Laplace).epsilon) / float(mechanism.epsilon)
        note = POOLED.format(found.size, len(found.few), share)
        return [
            _also(mechanism.within(found.groups[place], tail, blank, rng), note)  # [pooled.1]
            for place in found.few
        ]

    return found.answered(lambda values, seen: mechanism.counted(values, None, seen, rng), together)


def pooled_variances(mechanism: Variance, parts: Sequence[Any], rng: Randomness) -> list[Release[float]]:
    """The variance of each group. [pooled.1]"""
    stages, epsilon = mechanism.stages(None), float(mechanism.epsilon)
    found = parted(parts, mechanism.epsilon, stages.part("size", Laplace), mechanism.neighbours, rng)  # [pooled.1]
    blank = mechanism.blank(None, stages, rng)

    def together() -> list[Release[float]]:
        refusal = found.refusal(mechanism)  # [pooled.2]
        at = refusal or mechanism.searched(found.pool, stages, found.size, rng, found.alike)  # [pooled.1]
        if isinstance(at, str):  # [pooled.2]
            return [replace(blank, refusal=at) for _ in found.few]
        search = [stages["size"], stages["centre"], stages["reach"]]
        searched = sum(float(cost.epsilon) for cost in search if isinstance(cost, Laplace | Choice))
        note = POOLED.format(found.size, len(found.few), searched / epsilon)
        releases = []
        for place in found.few:
            seen = found.seen[place]
            spread = mechanism.within(found.groups[place], stages, seen, at, rng)  # [pooled.1]
            few = _few(seen, epsilon, SQUARED / epsilon) if seen * epsilon < SQUARED else spread  # [pooled.2]
            releases.append(_also(told(blank, few, at), note))
        return releases

    return found.answered(lambda values, seen: mechanism.counted(values, blank, stages, seen, rng), together)


def _also(release: Release[float], note: str) -> Release[float]:
    """The release with one more note, unless it is a refusal."""
    if release.refusal is not None:
        return release
    return replace(release, provenance=replace(release.provenance, notes=(note, *release.provenance.notes)))
