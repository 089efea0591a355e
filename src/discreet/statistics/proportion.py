"""What share: a private proportion with a confidence interval and test for the population's, exact or nearly so.

Releases
    REPLACE: the noisy count Z = X + N of the yes entries, N canonical noise, over the public n.
    ADD_OR_REMOVE: noisy counts of the yes and of the no entries, Y and M; their sum is the noisy size. A refusal where
    that is below 7 / epsilon: too few entries are yes or no.
Promise
    [proportion.1] REPLACE: pure epsilon; one person moves X by at most 1.
    [proportion.2] ADD_OR_REMOVE: pure epsilon; one person moves the pair (yes, no) by at most 1 in L1.
    [proportion.3] For independent entries that are yes with probability p, under REPLACE P(Z' >= Z) computed under p is
         exactly uniform: tests have exactly their level, the interval exactly its confidence, whatever n and epsilon.
    [proportion.4] Under ADD_OR_REMOVE both are at least that among the answers that are not refused, whatever n.
Why
    [proportion.1], [proportion.2] [additive.1]; whether it is refused, and what makes discrete Laplace noise canonical
    or continuous, is post-processing.
    [proportion.3] Z = X + N has a continuous distribution whose distribution function is E F(X - Z), F that of N.
    Inverting it in p, in which it is monotone, gives the interval.
    [proportion.4] An exponential number is its whole part, which is geometric, and the rest, independent of it. So
    discrete Laplace noise, the difference of two geometric numbers, and the difference of two such rests make Laplace
    noise, and T(p) = (1 - p) Y - p M = (X - n p) + (1 - p) L1 - p L2: n is only in its spread. Let s(n) be the
    probability that n people are answered. Of the answers of n people, T is beyond t in at most the share P(T > t) /
    s(n), and L1 + L2 is as far from 0 as that of n in at most P(|L1 + L2| > |Y + M - n|) / s(n): a few n can be ruled
    out, with a 50th of 1 - confidence, and the worst of the others is taken. Of many n some are tried, so close that
    those between them change nothing that matters, and X in blocks of a 32nd of its or the noise's width: a 500th of
    1 - confidence is kept for that.
Needs
    Missing entries count as no under REPLACE. Independence is what makes the interval about a population.
Accuracy
    Width that of the exact binomial interval, widened by noise of standard deviation about 1.4 / (n epsilon), times
    sqrt(p^2 + (1 - p)^2) under ADD_OR_REMOVE.
Source
    Awan and Slavkovic 2018, 2020 (canonical "Tulap" noise, uniformly most powerful tests). The form without a public
    n is ours: a pivot, and a bound over the nuisance in the manner of Berger and Boos 1994.
"""

import math
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput, Refused
from discreet.noise.distributions import LaplaceDistribution, laplace_scale, pivot_tail, tulap_cdf, two_laplace_tail
from discreet.privacy.declaration import Columns, Public, boolean, statistic
from discreet.privacy.exact import Number, crossing, is_number
from discreet.privacy.guarantee import Neighbours, check_budget
from discreet.privacy.intervals import Interval
from discreet.privacy.loss import Approximate, Laplace
from discreet.privacy.mechanism import Mechanism, Randomness, promised, what_to_do
from discreet.privacy.release import Provenance, Release
from discreet.stages.normal_laplace import radius
from discreet.statistics.survey_design import SURVEY, survey_rows
from discreet.tables.entries import how_many, long_column, public_size
from discreet.worlds.assumptions import About, Expected, World
from discreet.worlds.floors import BOUND, least_error, shares

Floats = npt.NDArray[np.float64]
Alternative = Literal["two-sided", "greater", "less"]
SPLIT: Final = 2**40  # the uniform of canonical noise, on a grid this fine
BLOCKS: Final = 20_000
FAR: Final = 45  # e^-45 is 3e-20
LEAST: Final = 7  # the least noisy size, in scales of the noise: of no entries one in 490 such counts is larger
MISCOUNTED: Final = 5  # a noisy size is less than the size by more scales than this once in 85 times
NAMED: Final = "name the text or date to look for with equals="
MISSED: Final = 1e-4  # added to a p-value: for sizes that are ruled out [proportion.4]
BAND, ROUNDED = 1 / 50, 1 / 500  # of 1 - confidence: for sizes that are ruled out, and for rounding [proportion.4]
CLOSE: Final = 1e-13  # how closely the ends of an interval are found


@dataclass(frozen=True, slots=True)
class Proportion:
    """The share of true entries."""

    epsilon: Number
    neighbours: Neighbours = Neighbours.REPLACE
    unit: str = "row"

    def __post_init__(self) -> None:
        check_budget(self.epsilon, 0, None)

    guarantee = promised

    @property
    def loss(self) -> Approximate:
        """Pure epsilon: noise on whole people has no better curve ([additive.1])."""
        return Approximate(self.epsilon, 0)

    def check(self, size: int | None) -> None:
        """Refuse too few people, where their number is a guess, for those who plan."""
        drawn = float(1 / laplace_scale(1, self.epsilon))
        if size is not None and not self.neighbours.size_is_public and size * drawn < LEAST + MISCOUNTED:
            raise Refused(too_few(size, drawn, NAMED))

    def release(self, rows: Any, rng: Randomness) -> Release[float]:
        """The noisy share; or a refusal for too few entries, where their number is private."""
        values = long_column(rows)
        size = public_size(values, self.neighbours)
        yes = how_many(values)
        drawn = float(1 / laplace_scale(1, self.epsilon))  # [proportion.3]: the noise as drawn
        spread: KnownSize | PrivateSize
        if size is not None:
            noisy = rng.blur(yes, sensitivity=1, cost=Laplace(self.epsilon))  # [proportion.1]
            spread = KnownSize(noisy + centred(rng), size, drawn)
        else:
            spread = noisy_pair(yes, len(values), self.epsilon, rng)  # [proportion.2]
        parameters = {"neighbours": self.neighbours, "rows": size} | ({"counted": spread.size} if size is None else {})
        provenance = Provenance("Proportion", parameters, rng.secure)
        if not spread.enough:
            refusal = too_few(spread.size, drawn, NAMED)
            return Release(self.guarantee, provenance, refusal=refusal, name="proportion")
        return Release(self.guarantee, provenance, spread.share, spread=spread, name="proportion")


def noisy_pair(yes: int, size: int, epsilon: Number, rng: Randomness) -> "PrivateSize":
    """The noisy numbers of yes and of no entries. [proportion.2]"""
    drawn = float(1 / laplace_scale(1, epsilon))
    both = rng.blur(np.array([yes, size - yes]), sensitivity=1, cost=Laplace(epsilon))  # [proportion.2]
    ayes, noes = (int(count) + rest(rng, drawn) for count in both)  # [proportion.4]
    return PrivateSize(ayes, noes, drawn)


def centred(rng: Randomness) -> float:
    """Uniform on (-1/2, 1/2)."""
    return (2 * rng.below(SPLIT) + 1 - SPLIT) / (2 * SPLIT)


def rest(rng: Randomness, rate: float) -> float:
    """What discrete Laplace noise of scale 1 / rate lacks of continuous: f - f', exponential, given to be below 1.
    [proportion.4]"""
    one, other = (-math.log1p(math.expm1(-rate) * (0.5 + centred(rng))) / rate for _ in range(2))
    return one - other


@dataclass(frozen=True, slots=True)
class KnownSize:
    """The distribution of Z = X + N for a public n."""

    noisy: float
    size: int
    epsilon: float
    enough: bool = True

    @property
    def share(self) -> float:
        """The estimate, within [0, 1]."""
        return min(max(self.noisy / self.size, 0.0), 1.0)

    @property
    def sampling(self) -> float:
        """Standard deviation of a sample's share, at the estimate."""
        return math.sqrt(self.share * (1 - self.share) / self.size)

    @property
    def privacy(self) -> float:
        """Standard deviation of canonical noise over n."""
        return _noise_sd(self.epsilon) / self.size

    def p_value(self, null: float, alternative: Alternative = "two-sided") -> float:
        """Exactly uniform if the population's share is `null`. [proportion.3]"""
        p = check_share(null)
        right = upper_tail(self.size, p, self.noisy, self.epsilon)
        return one_or_two_sided(lower_tail(self.size, p, self.noisy, self.epsilon), right, alternative)

    def interval(self, confidence: float) -> Interval:
        """All shares that the two-sided test at level 1 - confidence does not reject. [proportion.3]"""
        miss = (1 - confidence) / 2
        low = least_share(self.size, self.noisy, self.epsilon, miss)
        high = 1 - least_share(self.size, self.size - self.noisy, self.epsilon, miss)  # the no entries
        return Interval(low, high, confidence=confidence, about="the population's share", population=True)


@dataclass(frozen=True, slots=True)
class PrivateSize:
    """The distributions of the noisy yes and no counts for an n that is itself private."""

    ayes: float
    noes: float
    epsilon: float

    @property
    def size(self) -> float:
        """The noisy number of entries, at least 1."""
        return max(self.ayes + self.noes, 1.0)

    @property
    def share(self) -> float:
        """The estimate, within [0, 1]."""
        return min(max(self.ayes / self.size, 0.0), 1.0)

    @property
    def sampling(self) -> float:
        """Standard deviation of a sample's share, at the estimates."""
        return math.sqrt(self.share * (1 - self.share) / self.size)

    @property
    def privacy(self) -> float:
        """Standard deviation of the ratio from the noise of both counts, to first order."""
        p = self.share
        return _noise_sd(self.epsilon) * math.sqrt((1 - p) ** 2 + p**2) / self.size

    @property
    def enough(self) -> bool:
        """Whether the noisy number of entries is worth an answer."""
        return self.ayes + self.noes >= LEAST / self.epsilon

    def _sizes(self, allowed: float) -> Floats:
        """Sizes that are not ruled out: all of them, or so many that the others change nothing. [proportion.4]"""
        scale, total = 1 / self.epsilon, self.ayes + self.noes
        reach = (math.log(1 / allowed) + FAR / 2) * scale
        tried = np.maximum(np.arange(total - reach, total + reach, scale / 16), 0)
        near = 2 * two_laplace_tail(np.abs(total - tried), scale, scale) > allowed * self._answered(tried)
        low, high = math.floor(tried[near][0] - scale / 16), math.ceil(tried[near][-1] + scale / 16)
        steps = [0.015 * (max(0, low) + 4 * scale**2), high - low]
        if low < (LEAST + 15) * scale:  # refusals matter
            steps.append(scale / 8)
        return np.append(np.arange(max(0, low), high, max(1, math.floor(min(steps))), dtype=np.float64), high)

    def _answered(self, sizes: Floats) -> Floats:
        """How likely so many people are not refused."""
        scale = 1 / self.epsilon
        return two_laplace_tail(LEAST * scale - sizes, scale, scale)

    def tail(self, sizes: Floats, p: float) -> float:
        """P(T(p) >= what was seen), among answers, for the worst of these sizes. [proportion.4]"""
        seen, scale = (1 - p) * self.ayes - p * self.noes, 1 / self.epsilon
        return float((pivot_tail(sizes, p, seen, scale) / self._answered(sizes)).max())

    @property
    def mirrored(self) -> "PrivateSize":
        """Yes and no exchanged."""
        return PrivateSize(self.noes, self.ayes, self.epsilon)

    def p_value(self, null: float, alternative: Alternative = "two-sided") -> float:
        """Super-uniform if the population's share is `null`. [proportion.4]"""
        p, allowed = check_share(null), MISSED
        sizes = self._sizes(allowed)
        right, left = self.tail(sizes, p), self.mirrored.tail(sizes, 1 - p)
        return min(1.0, one_or_two_sided(left, right, alternative) / (1 - ROUNDED) + allowed)

    def interval(self, confidence: float) -> Interval:
        """All shares that the two-sided test does not reject. [proportion.4]"""
        allowed = 1 - confidence
        sizes, miss = self._sizes(allowed * BAND), allowed * (1 - BAND - ROUNDED) / 2
        low, high = sorted((self.least(sizes, miss), 1 - self.mirrored.least(sizes, miss)))
        return Interval(low, high, confidence=confidence, about="the population's share", population=True)

    def least(self, sizes: Floats, miss: float) -> float:
        """The share at which the tail, increasing up to the estimate, meets a target; 0 if it is above it there."""

        def above(p: float) -> float:
            return self.tail(sizes, p) - miss

        if above(0.0) >= 0:
            return 0.0
        if above(self.share) <= 0:
            return self.share
        close = 1e-4 * self.privacy
        return max(0.0, crossing(above, 0.0, self.share, close=close) - 2 * close)


def too_few(size: float, epsilon: float, *others: str) -> str:
    """Why so many entries, by a noisy count, are not answered, and what to do."""
    to_do = what_to_do(round(size), epsilon, (LEAST + MISCOUNTED) / epsilon, *others, noisy=False)
    return f"too few entries are yes or no (or numbers): about {size:.0f}, by a noisy count; {to_do}"


def upper_tail(size: int, p: float, noisy: float, epsilon: float) -> float:
    """P(Bin(size, p) + N >= noisy) = E F(X - noisy), N canonical noise; increasing in p and in size. [proportion.3]

    F(x - noisy) rises from 0 to 1 over the whole numbers x, so that its mean is the sum of its rises times the chance
    of X beyond them: positive terms, no digits lost. Only those x matter that lie within about 45 / epsilon of `noisy`
    and within the reach of X (by Bernstein's inequality all but e^-45 of it); the others make one step at each end.
    Where very many are left they are taken in blocks at their upper ends. So the tail is rounded up, by less than one
    part in 200.
    """
    from scipy.special import betainc

    reach, room = math.ceil(FAR / epsilon) + 2, math.sqrt(2 * FAR * size * p * (1 - p)) + FAR
    first = min(size, max(0, math.floor(noisy) - reach, math.floor(size * p - room)))
    last = max(first, min(size, math.ceil(noisy) + reach, math.ceil(size * p + room)))
    width = max(1, math.ceil((last - first + 1) / BLOCKS))
    ends = np.unique(np.append(np.arange(first, last, width), [last, size])).astype(np.float64)
    below = tulap_cdf(ends - noisy, epsilon)
    beyond = betainc(ends[:-1] + 1, size - ends[:-1], p)  # P(X > end)
    return float(min(1.0, below[0] + np.diff(below) @ beyond))


def lower_tail(size: int, p: float, noisy: float, epsilon: float) -> float:
    """P(Bin(size, p) + N <= noisy): the upper tail of the no entries, rounded up as well. [proportion.3]"""
    return upper_tail(size, 1 - p, size - noisy, epsilon)


def least_share(size: int, noisy: float, epsilon: float, target: float) -> float:
    """The share at which the upper tail, increasing, meets a target; an end of [0, 1] if it never does.
    [proportion.3]"""

    def above(p: float) -> float:
        return upper_tail(size, p, noisy, epsilon) - target

    if above(0.0) >= 0:
        return 0.0
    if above(1.0) <= 0:
        return 1.0
    return max(0.0, crossing(above, 0.0, 1.0, close=CLOSE) - 2 * CLOSE)


def one_or_two_sided(left: float, right: float, alternative: Alternative) -> float:
    """A p-value from the two tails of a continuous distribution."""
    sides = {"greater": right, "less": left, "two-sided": min(1.0, 2 * min(left, right))}
    return sides[check_alternative(alternative)]


def check_share(null: object) -> float:
    """A probability."""
    if not is_number(null) or not 0 <= null <= 1:  # type: ignore[operator]
        raise BadInput(f"the share to test is {null!r}; give a probability in [0, 1]")
    return float(null)  # type: ignore[arg-type]


def check_alternative(alternative: object) -> Any:
    """A direction."""
    if alternative not in ("two-sided", "greater", "less"):
        raise BadInput(f"alternative is {alternative!r}; give 'two-sided', 'greater' or 'less'")
    return alternative


def _noise_sd(epsilon: float) -> float:
    return math.hypot(LaplaceDistribution(laplace_scale(1, epsilon)).sd, math.sqrt(1 / 12))


def _world(about: About) -> World:
    share = about.share()
    about.say(f"the population's share is {share:g}")

    def expected(release: Any, rows: int, confidence: float | None) -> Expected:
        """From the spread that a release in the middle of its distribution would have."""
        if release.refusal is not None:
            return Expected(refused=release.refusal)
        seen: Any = release.spread
        middle: KnownSize | PrivateSize
        if isinstance(seen, KnownSize):
            middle = KnownSize(share * rows, rows, seen.epsilon)
        else:
            middle = PrivateSize(share * rows, (1 - share) * rows, seen.epsilon)
        ends = None if confidence is None else middle.interval(confidence)
        sampling, privacy = math.sqrt(share * (1 - share) / rows), middle.privacy
        return Expected(
            error=radius(0.5, sampling, privacy / math.sqrt(2)),
            half_width=None if ends is None else (ends.high - ends.low) / 2,
            sampling=sampling,
            privacy=privacy,
            without=radius(0.5, sampling, 0.0),
        )

    return World(
        make=lambda _, n: {"x": np.arange(n) < share * n},
        measure="median absolute error, against the population's share",
        closed=expected,
        floor=lambda n, limit: least_error(n, 0.5, shares(n, share), limit, 0.5),
        floor_note=BOUND,
    )


@statistic({"x": boolean(streams=True), **SURVEY}, rows=survey_rows, groups=True, world=_world)
def proportion(
    people: Public,
    x: Columns,
    *,
    epsilon: Number,
    equals: Any = None,
    weights: Columns | None = None,
    clusters: Columns | None = None,
    strata: Columns | None = None,
    largest_weight: float | None = None,
    design: Any = None,
) -> Mechanism[float]:
    """The share of true entries, with an exact confidence interval for the population's share. Pure.

    Entries are true, yes, or 1; with `equals` those that are this text, number or date. Any other number is no, also a
    code for a missing entry: leave it out by `where`. Missing entries are left out. With `weights` it is the share of
    the population that they stand for.

    >>> import discreet
    >>> 0.6 < discreet.proportion([1, 0, 1, 1] * 500, epsilon=1.0, rng=discreet.Seeded(1)).value < 0.9
    True
    """
    from discreet.statistics.survey import surveyed

    terms: dict[str, Any] = {"weights": weights, "clusters": clusters, "strata": strata}
    survey = surveyed(people, "share", epsilon, (0, 1), largest_weight=largest_weight, design=design, **terms)
    return survey or Proportion(epsilon, people.neighbours, people.unit)
