"""What the ends of a quantile's interval aim at. Functions of public numbers.

A draw of the exponential mechanism over floats (noise/choose_float.py) that aims at rank tau lands in the gap after the
k-th record with weight e^{-rate |k - tau|} times the gap's share of the prior, rate = epsilon / (2 sensitivity). The
population's quantile lies in the gap after record B, B binomial. Aiming a `lead` of B - tau ranks below it, the draw
misses if it lands above.

Claims
    [ranks.1] Smooth: if the gaps' shares around the quantile are independent and exponential (density and prior are
         flat there), then with w_k = e^{-rate |k - tau|} the draw lands above it with probability integral over s > 0
         of  sum_{k >= B} w_k / (1 + s w_k)  /  ((1 + s w_B)  prod_k (1 + s w_k)), and for rates up to 1/16 with at most
         that of Laplace noise of scale 1 / rate that aims one rank nearer.
    [ranks.2] Worst: if the candidates are K cells of equal weight, one of which has score 0, the draw lands in a cell
         of score `lead` or more with probability at most K e^{-rate lead}, whatever the data.
    [ranks.3] `lower_rank` is the largest multiple of 1/4 at which the miss, averaged over Bin(n, q), is at most `tail`;
         n - lower_rank(n, 1 - q) is the same for the other side.
    [ranks.4] If n is only known to be in a band, aiming at n times `lower_share` keeps the miss at or below `tail` for
         every n in the band.
    [ranks.5] Tied: if the candidates are the points of a grid, the records lie on them, c at each point, and the
         quantile is at one of them, the draw lands above it with probability at most 1 / (1 + e^{rate lead}) for a lead
         of 0 or more, and 1 - e^{-rate |lead|} / 2 below. The lead is that over all records up to the quantile.

Why
    [ranks.1] The quantile cuts its gap into two exponential parts. With R the weighted sum of the parts above it and L
    that below, the chance is E R / (R + L) = integral of E R e^{-s (R + L)}; a part E of weight w has E e^{-swE} = 1 /
    (1 + s w) and E wE e^{-swE} = w / (1 + s w)^2. The bound for small rates is checked by test.
    [ranks.2] A cell of score 0 weighs 1, the others of interest together at most K e^{-rate lead}.
    [ranks.3] The miss falls in the lead. Mirroring the data turns q into 1 - q and rank tau into n - tau.
    [ranks.4] The band is cut into parts [n1, n2], and the share is at most lower_rank(n1) / n2 for all of them. Bin(n,
    q) grows in n, so for n in a part the lead over lower_rank(n1) is in distribution at least that of n1; and share * n
    is at most share * n2, which is at most lower_rank(n1).
    [ranks.5] Write A = e^{-rate c}. A point's score is how far tau is from the ranks of its records. With a lead of
    d = d' + jc, 0 <= d' < c, tau lies among the records of the j-th point below the quantile (or of its own, j = 0),
    whose weight is 1; those above the quantile weigh e^{-rate d} / (1 - A) together, those above tau's point
    e^{-rate d'} / (1 - A), those below it e^{-rate (c - d')} / (1 - A). So the miss is e^{-rate d} /
    (1 - A + e^{-rate d'} + e^{-rate (c - d')}), at most e^{-rate d} / (1 + e^{-rate d}), as e^{-rate (c - d')} >= A and
    e^{-rate d'} >= e^{-rate d}. With a lead of -u < 0, tau is above the quantile's records: the quantile's point and
    those below weigh e^{-rate u} / (1 - A) or more, all together at most 2 / (1 - A). The bound for records that are
    not equally many is [ranks.2]'s. The larger of this miss and the smooth one is used, so that few records on a fine
    grid do no harm.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.noise.distributions import LaplaceDistribution
from discreet.privacy.exact import Number, least_whole, show
from discreet.privacy.mechanism import MISCOUNTED, what_to_do

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Miss = Callable[[Any], Floats]  # the chance to land above, of a lead in steps of 1 / GRAIN ranks (whole numbers)

GRAIN: Final = 4  # ranks are aimed at in quarters
COARSE: Final = 1 / 16  # a rate from which on the gaps matter one by one
REACH: Final = 30.0  # e^-30: leads beyond it are held to be this one
NODES: Final = np.exp(np.arange(-25.0, 45.0, 0.25))  # the integral over s on a log scale, to nine digits
CLEAR: Final = 5.0  # nats: an end is drawn to places without records with a chance of e^-5
PARTS: Final = 32  # of a band of sizes
NATS: Final = 34  # 2 (10 + ln 1000): what a draw without bounds has to overcome


def smooth(rate: float) -> Miss:
    """The miss where the density is smooth. [ranks.1]

    >>> [round(float(smooth(0.25)(GRAIN * lead)), 3) for lead in (0, 4, 8)]
    [0.5, 0.204, 0.079]
    """
    if rate < COARSE:
        return lambda steps: _laplace_tail(rate * (np.asarray(steps) / GRAIN - 1))  # [ranks.1]
    table = _table(rate)
    middle = len(table) // 2
    return lambda steps: table[np.clip(np.asarray(steps) + middle, 0, len(table) - 1)]


def tied(rate: float) -> Miss:
    """The miss on a grid on which records share their values, or do not. [ranks.5]

    >>> [round(float(tied(0.25)(GRAIN * lead)), 3) for lead in (-4, 0, 4, 8)]
    [0.816, 0.5, 0.269, 0.119]
    """
    few = smooth(rate)

    def miss(steps: Any) -> Floats:
        at = rate * np.asarray(steps) / GRAIN
        far = np.exp(-np.abs(at))
        return np.maximum(np.where(at > 0, far / (1 + far), 1 - far / 2), few(steps))  # [ranks.5]

    return miss


def worst(rate: float, cells: int) -> Miss:
    """The miss over cells of equal weight, whatever the data. [ranks.2]"""
    return lambda steps: np.exp(np.minimum(0.0, math.log(cells) - rate * np.asarray(steps) / GRAIN))  # [ranks.2]


def _laplace_tail(at: Floats) -> Floats:
    half = np.exp(-np.abs(at)) / 2
    return np.where(at > 0, half, 1 - half)


@lru_cache(maxsize=64)
def _table(rate: float) -> Floats:
    """The integral of [ranks.1] at leads -reach, -reach + 1 / GRAIN, ..., reach."""
    reach = math.ceil(REACH / rate)
    gaps = np.arange(-reach - 1, reach + 2)
    found = np.empty(2 * GRAIN * reach + 1)
    for part in range(GRAIN):  # aims at a whole rank, then a quarter above it, ...
        distance = np.abs(gaps - part / GRAIN)
        weights = np.exp(-rate * (distance - distance.min()))  # a common factor changes no ratio
        damped = 1 / (1 + NODES[:, None] * weights)
        above = np.cumsum((weights * damped)[:, ::-1], axis=1)[:, ::-1]
        together = np.exp(np.log(damped).sum(axis=1))
        misses = ((NODES * together)[:, None] * above * damped).sum(axis=0) / 4  # [ranks.1]; nodes are a quarter apart
        at = GRAIN * (gaps + reach) - part
        inside = (at >= 0) & (at < len(found))
        found[at[inside]] = misses[inside]
    return np.clip(found, 0.0, 1.0)


def lower_rank(size: int, q: float, miss: Miss, tail: float) -> Fraction:
    """The largest rank, in quarters, that a draw may aim at; 0 if there is none. [ranks.3]

    >>> lower_rank(200, 0.5, smooth(0.25), 0.025)
    Fraction(163, 2)
    """
    counts, chances = binomial(size, q)
    high = GRAIN * (int(counts[-1]) + 1) + 1  # in quarters; there the miss is too large
    beyond = least_whole(lambda rank: float((chances * miss(GRAIN * counts - rank)).sum()) > tail, 0, high)  # [ranks.3]
    return Fraction(beyond - 1, GRAIN)


def lower_share(band: tuple[int, int], q: float, miss: Miss, tail: float) -> Fraction:
    """The share of the records to aim at when their number lies anywhere in a band; 0 if there is none. [ranks.4]"""
    first, last = band
    width = -(-(last - first + 1) // PARTS)
    return min(
        lower_rank(start, q, miss, tail) / min(start + width - 1, last)  # [ranks.4]
        for start in range(first, last + 1, width)
    )


@lru_cache(maxsize=64)
def binomial(size: int, q: float) -> tuple[Integers, Floats]:
    """Bin(size, q) on the counts that matter: the rest has a chance below 1e-15.

    Log ratios of neighbouring chances, summed up: no cancellation however large the size.
    """
    room = 9 * math.sqrt(size * q * (1 - q)) + 40
    counts = np.arange(max(0, math.floor(size * q - room)), min(size, math.ceil(size * q + room)) + 1)
    steps = np.log(size - counts[:-1]) - np.log(counts[1:]) + math.log(q) - math.log1p(-q)
    logs = np.concatenate([[0.0], np.cumsum(steps)])
    chances = np.exp(logs - logs.max())
    return counts, chances / chances.sum()


def sample_rank(q: Fraction, size: int) -> Fraction:
    """The rank whose floats of score 0 are the sample's q-quantiles: q n, or half above its floor if it is not whole.

    >>> sample_rank(Fraction(1, 2), 5), sample_rank(Fraction(1, 2), 6)
    (Fraction(5, 2), Fraction(3, 1))
    """
    rank = q * size
    return rank if rank.denominator == 1 else math.floor(rank) + Fraction(1, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """What two draws aim at: ranks, or shares of a private n; and how far one record moves their scores."""

    q: Fraction
    low: Fraction
    high: Fraction
    low_move: Fraction
    high_move: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class RankAims:
    """The public numbers that decide what the draws for one quantile or several aim at, and how many records they need.

    `cost` is the epsilon of each draw, `cells` the number of cells of a guaranteed interval (0: not guaranteed),
    `rounded` whether candidates are the points of a grid. Without a confidence points are drawn.
    """

    cost: Fraction
    confidence: float | None
    counts: bool  # whether n is private, and a noisy count stands for it
    bounded: bool
    cells: int = 0
    rounded: bool = True

    def aims(self, shares: Sequence[Fraction], band: tuple[int, int]) -> list[Aim]:
        """What is drawn around for each of the quantiles."""
        return [self.point(q, band[0]) if self.confidence is None else _ends(self, q, band) for q in shares]

    def point(self, q: Fraction, count: int) -> Aim:
        """The rank (n public) or share of n (n private) that a value is drawn around. [quantile.1]"""
        rank, move = (q, max(q, 1 - q)) if self.counts else (sample_rank(q, count), Fraction(1))
        return Aim(q=q, low=rank, high=rank, low_move=move, high_move=move)

    def ends(self, q: Fraction, band: tuple[int, int]) -> Aim:
        """The ranks (n public) or shares of n (n private) that the two ends are drawn around."""
        assert self.confidence is not None
        tail = (1 - self.confidence) / 2 * (0.9 if self.cells and self.counts else 1)
        if not self.counts:
            low, high = (lower_rank(band[0], float(side), self.miss(Fraction(1)), tail) for side in (q, 1 - q))
            return Aim(q=q, low=low, high=band[0] - high, low_move=Fraction(1), high_move=Fraction(1))
        found = []
        for side in (q, 1 - q):
            widest = lower_share(band, float(side), self.miss(Fraction(1)), tail)
            share = lower_share(band, float(side), self.miss(max(side, 1 - widest)), tail)
            found.append((share, max(share, 1 - share)))  # [quantile.3]: at most what `share` was computed with
        (low, low_move), (high, high_move) = found
        return Aim(q=q, low=low, high=1 - high, low_move=low_move, high_move=high_move)

    def miss(self, move: Fraction) -> Miss:
        """The chance to miss of a draw whose score one record moves so far. [quantile.4] [quantile.5]"""
        rate = float(self.rate(move))
        return worst(rate, self.cells) if self.cells else tied(rate) if self.rounded else smooth(rate)

    def rate(self, move: Fraction) -> Fraction:
        """How fast weights fall in the rank."""
        return self.cost / (2 * move)

    def enough(self, aim: Aim, size: int) -> bool:
        """Whether so many records do. [quantile.6]"""
        times = size if self.counts else 1
        rooms = ((aim.low * times, aim.low_move), (size - aim.high * times, aim.high_move))
        if self.bounded:
            return self.confidence is None or all(room >= Fraction(1, 2) for room, _ in rooms)
        return all(room * self.cost >= NATS * move for room, move in rooms)

    def strays(
        self, shares: Sequence[Fraction], band: tuple[int, int], bounds: tuple[float, float] | None, unit: Fraction
    ) -> bool:
        """Whether places without records, up to a bound, are so many that an end may be drawn there. [quantile.4]"""
        if bounds is None or self.cells:
            return False
        places = math.log(max(1.0, (bounds[1] - bounds[0]) / float(unit))) + CLEAR if unit else NATS / 2
        size, times = band[0], band[0] if self.counts else 1
        aims = self.aims(shares, band)
        far = [(size - aim.low * times, aim.low_move) for aim in aims]
        far += [(aim.high * times, aim.high_move) for aim in aims]
        return any(ranks * self.rate(move) < places for ranks, move in far)

    def needed(self, q: Fraction, move: Fraction) -> int:
        """About how many records would do: the n at which q n - z sqrt(q (1 - q) n) leaves room for the noise."""
        share, rate, spread = float(q), float(self.rate(move)), 0.0
        room = 0.5 if self.bounded else NATS / 2 / rate
        if self.confidence is not None:
            nats = math.log(4 / (1 - self.confidence))
            room += (nats + math.log(self.cells or 1)) / rate
            spread = math.sqrt(2 * nats * share * (1 - share))
        return math.ceil(((spread + math.sqrt(spread**2 + 4 * share * room)) / (2 * share)) ** 2)

    def errors(self, ends: tuple[float, float], aim: Aim, size: float) -> tuple[float, float]:
        """Sampling and privacy as standard deviations of the value: in ranks, times the interval's own slope."""
        ranks = max(float(aim.high - aim.low) * (size if self.counts else 1.0), 0.5)
        noise = math.hypot(1 / self.rate(aim.low_move), 1 / self.rate(aim.high_move)) / math.sqrt(2)
        slope = (ends[1] - ends[0]) / ranks
        return math.sqrt(size * float(aim.q * (1 - aim.q))) * slope, noise * slope

    def band(self, count: int, scale: Fraction, margin: int) -> tuple[int, int]:
        """What a noisy count says of n: so many scales less, or a band that holds it. [quantile.3]"""
        if not self.cells or self.confidence is None:
            low = max(1, math.floor(count - margin * scale))  # [quantile.4] [quantile.6]
            return low, low
        radius = LaplaceDistribution(scale).radius(1 - (1 - self.confidence) / 10)
        return max(1, count - radius), max(1, count + radius)  # [quantile.5]

    def too_few(self, aims: list[Aim], size: int, epsilon: Number, counted: int) -> str | None:
        """Why so many records, as they were counted, do not do, in public numbers; None if they do. [quantile.6]"""
        aim = next((one for one in aims if not self.enough(one, size)), None)
        if aim is None:
            return None
        needed = max(self.needed(aim.q, aim.low_move), self.needed(1 - aim.q, aim.high_move), size + 1)
        what = f"the {show(aim.q)}-quantile" + ("" if self.bounded else " without bounds")
        what = what if self.confidence is None else f"a {100 * self.confidence:g}% interval of {what}"
        surely = 0.9 * size - (MISCOUNTED / float(epsilon) if self.counts else 0.0)
        inside = replace(self, bounded=True)
        helped = max(inside.needed(aim.q, aim.low_move), inside.needed(1 - aim.q, aim.high_move)) <= surely
        remedies = ["give public bounds=(low, high)"] if helped and not self.bounded else []
        alone = replace(self, confidence=None, cost=2 * self.cost, cells=0)
        sides = (aim.q, 1 - aim.q)
        if self.confidence is not None and (
            self.bounded or max(alone.needed(side, max(sides)) for side in sides) <= surely
        ):
            remedies.append("ask for the value alone with confidence=None")
        known = f"about {max(0, counted)} rows, by a noisy count," if self.counts else f"{size} rows"
        enough = (needed + (counted - size)) * float(epsilon)
        to_do = what_to_do(size, epsilon, needed, *remedies, noisy=self.counts)
        return (
            f"{known} at epsilon {show(epsilon)} are too few for {what}: n * epsilon is "
            f"{max(0, counted) * float(epsilon):.3g}, about {enough:.3g} is needed; {to_do}"
        )


@lru_cache(maxsize=256)
def _ends(plan: RankAims, q: Fraction, band: tuple[int, int]) -> Aim:
    """As `RankAims.ends`, looked up: the same aims decide on a refusal and are drawn around."""
    return plan.ends(q, band)
