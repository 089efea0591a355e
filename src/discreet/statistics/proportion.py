"""What share: a private proportion with an exact confidence interval and test for the population's.

Releases
    REPLACE: the noisy count Z = X + N of the yes entries, N canonical noise, over the public n.
    ADD_OR_REMOVE: noisy counts of the yes and of the no entries; the size is theirs too.
Promise
    [proportion.1] REPLACE: pure epsilon; one person moves X by at most 1.
    [proportion.2] ADD_OR_REMOVE: pure epsilon; one person moves the pair (yes, no) by at most 1 in L1.
    [proportion.3] For independent entries that are yes with probability p, under REPLACE P(Z' >= Z) computed under p is
         exactly uniform: tests have exactly their level, the interval exactly its confidence, whatever n and epsilon.
         Under ADD_OR_REMOVE both are at least that.
Why
    [proportion.1], [proportion.2] [additive.1]; the uniform that makes discrete Laplace noise canonical is
    post-processing.
    [proportion.3] Z = X + N has a continuous distribution whose distribution function is E F(X - Z), F that of N.
    Inverting it in p, in which it is monotone, gives the interval. Under ADD_OR_REMOVE n is known only up to noise:
    with probability 1 - b it lies in a band around the noisy total; the tail of Bin(n, p) + N is monotone in n, so its
    worst case is an end of the band. The interval from the yes count and that from the no count are intersected; b and
    the two intervals' misses add up to at most 1 - confidence.
Needs
    Missing entries count as no. Independence is what makes the interval about a population.
Accuracy
    Width that of the exact binomial interval, widened by noise of standard deviation about 1.4 / (n epsilon).
Source
    Awan and Slavkovic 2018, 2020 (canonical "Tulap" noise, uniformly most powerful tests). The form without a public
    n is ours: a bound over the nuisance in the manner of Berger and Boos 1994.
"""

import math
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from discreet.errors import BadInput
from discreet.noise.distributions import LaplaceDistribution, laplace_scale, tulap_cdf, two_laplace_radius
from discreet.privacy.declaration import Columns, Public, boolean, statistic
from discreet.privacy.exact import Number, is_number
from discreet.privacy.guarantee import check_budget
from discreet.privacy.intervals import Interval
from discreet.privacy.loss import Approximate, Laplace
from discreet.privacy.mechanism import Randomness, promised
from discreet.privacy.neighbours import Neighbours
from discreet.privacy.provenance import Provenance
from discreet.privacy.release import Release
from discreet.stages.normal_laplace import radius
from discreet.tables.entries import long_column, pieces, public_size, truths
from discreet.worlds.assumptions import About, Expected, World
from discreet.worlds.floors import BOUND, least_error, shares

Alternative = Literal["two-sided", "greater", "less"]
SPLIT: Final = 2**40  # the uniform of canonical noise, on a grid this fine
BLOCKS: Final = 20_000
FAR: Final = 45  # e^-45 is 3e-20
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

    def release(self, rows: Any, rng: Randomness) -> Release[float]:
        """The noisy share."""
        values = long_column(rows)
        size = public_size(values, self.neighbours)
        ayes = sum(int(np.count_nonzero(truths(piece))) for piece in pieces(values))
        drawn = float(1 / laplace_scale(1, self.epsilon))  # [proportion.3]: the noise as drawn
        spread: KnownSize | PrivateSize
        if size is not None:
            noisy = rng.blur(ayes, sensitivity=1, cost=Laplace(self.epsilon))  # [proportion.1]
            spread = KnownSize(noisy + centred(rng), size, drawn)
        else:
            # [proportion.2]
            both = rng.blur(np.array([ayes, len(values) - ayes]), sensitivity=1, cost=Laplace(self.epsilon))
            spread = PrivateSize(int(both[0]) + centred(rng), int(both[1]) + centred(rng), drawn)
        provenance = Provenance("Proportion", {"neighbours": self.neighbours, "rows": size}, rng.secure)
        return Release(self.guarantee, provenance, spread.share, spread=spread, name="proportion")


def centred(rng: Randomness) -> float:
    """Uniform on (-1/2, 1/2)."""
    return (2 * rng.below(SPLIT) + 1 - SPLIT) / (2 * SPLIT)


@dataclass(frozen=True, slots=True)
class KnownSize:
    """The distribution of Z = X + N for a public n."""

    noisy: float
    size: int
    epsilon: float

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

    def _sizes(self, confidence: float) -> tuple[int, int]:
        """A band for n: whole numbers, at least 0."""
        radius = two_laplace_radius(laplace_scale(1, self.epsilon), confidence) + 1  # + 1: the two uniforms
        total = self.ayes + self.noes
        return max(0, math.floor(total - radius)), max(0, math.ceil(total + radius))

    def p_value(self, null: float, alternative: Alternative = "two-sided") -> float:
        """Super-uniform if the population's share is `null`: the worst n of a band, plus the band's own miss.
        [proportion.3]"""
        p, miss = check_share(null), 1e-3
        small, large = self._sizes(1 - miss)
        right = upper_tail(large, p, self.ayes, self.epsilon)  # the tail grows with n
        left = lower_tail(small, p, self.ayes, self.epsilon)
        return min(1.0, one_or_two_sided(left, right, alternative) + miss)

    def interval(self, confidence: float) -> Interval:
        """The yes count's interval and the no count's, intersected, at the ends of a band for n. [proportion.3]"""
        allowed = 1 - confidence
        band, each = allowed / 10, allowed * 0.9 / 4  # the band, then two intervals of two sides
        small, large = self._sizes(1 - band)

        def ends(noisy: float) -> tuple[float, float]:
            low = least_share(large, noisy, self.epsilon, each)
            return low, 1 - least_share(small, small - noisy, self.epsilon, each)

        (low_yes, high_yes), (low_no, high_no) = ends(self.ayes), ends(self.noes)
        low, high = sorted((max(low_yes, 1 - high_no), min(high_yes, 1 - low_no)))
        return Interval(low, high, confidence=confidence, about="the population's share", population=True)


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
    from scipy.optimize import brentq

    def above(p: float) -> float:
        return upper_tail(size, p, noisy, epsilon) - target

    if above(0.0) >= 0:
        return 0.0
    if above(1.0) <= 0:
        return 1.0
    return max(0.0, float(brentq(above, 0.0, 1.0, xtol=CLOSE)) - 2 * CLOSE)


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


@statistic({"x": boolean(streams=True)}, groups=True, world=_world)
def proportion(people: Public, x: Columns, *, epsilon: Number, equals: Any = None) -> Proportion:
    """The share of true entries, with an exact confidence interval for the population's share. Pure.

    Entries are true, yes, or a number other than 0; with `equals` those that are this text, number or date. Missing
    entries are left out.

    >>> import discreet
    >>> 0 <= discreet.proportion([1, 0, 1, 1], epsilon=1.0, rng=discreet.Seeded(1)).value <= 1
    True
    """
    return Proportion(epsilon, people.neighbours, people.unit)
