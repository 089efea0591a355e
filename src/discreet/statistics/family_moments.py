"""What the statistics of a family are expected to be, and the parameters that expect what was seen: no data.

Expectations are closed formulas where a family brings them, else sums over points and weights: the whole numbers that a
distribution lives on, or nodes of Gauss and Legendre in ever smaller parts of its probability towards both ends. The
statistics are turned so that they are uncorrelated under a first guess (the first stays itself, the second is what the
first does not tell), for what two of them have in common would else be paid for twice.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.privacy.exact import show_beside
from discreet.privacy.intervals import Interval
from discreet.stages.normal_laplace import ConvolvedSpread
from discreet.statistics.family import Family, each, same

Floats = npt.NDArray[np.float64]
PANELS, NODES = 40, 8  # halvings of the probability towards each end, and nodes in each part
WHOLE: Final = 4096  # whole numbers that a discrete distribution is followed on, one by one
FARTHEST: Final = (12.0, 4.0)  # how far from the guess one or two parameters are looked for, on their scales
FARTHEST_GUESS: Final = 1e150  # where no guess goes
LIGHTEST, USUAL, HEAVIEST, TOLD = 0.6, 1.25, 2.5, 3.0  # powers of tails, and the ranks that tell them well
NEAREST: Final = 1.0  # deviations: about the median distance from the middle, which no far distance is below
STEADY: Final = 0.01  # of a deviation: a statistic that moves no more over the last half of the panels has an end there


@cache
def _shares() -> tuple[Floats, Floats]:
    """Probabilities below a half, in order, and their weights."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    widths = 0.5 ** np.arange(PANELS + 1, 1, -1)[:, None]
    return (widths * (1 + (1 + nodes) / 2)).ravel(), (widths * weights / 2).ravel()


def points(distribution: Any) -> tuple[Floats, Floats]:
    """A distribution as points, in order, and their probabilities."""
    if hasattr(distribution, "pmf"):
        first, last = float(distribution.ppf(1e-13)), float(distribution.isf(1e-13))
        if not math.isfinite(last - first):  # scipy follows it no further
            return np.full(1, math.nan), np.ones(1)
        step = max(1.0, float(np.ceil((last - first + 1) / WHOLE)))
        if step == 1 or 8 * step < float(distribution.ppf(0.75) - distribution.ppf(0.25)):  # fine for what is smooth
            whole = np.arange(first, last + step, step)
            chances = np.asarray(distribution.pmf(whole), dtype=np.float64)
            return whole, chances / chances.sum()
    shares, weights = _shares()
    x = np.concatenate([distribution.ppf(shares), distribution.isf(shares)[::-1]]).astype(np.float64)
    weights = np.concatenate([weights, weights[::-1]])
    return x, weights / weights.sum()


def expected(family: Family, places: Floats) -> Floats:
    """What the statistics are expected to be at linked parameters."""
    if family.means is not None:
        return np.array(family.means(*family.unlinked(places)), dtype=np.float64)
    x, chances = points(family.at(places))
    found = []
    for one in family.statistics:
        values = each(one, x)
        kept = np.isfinite(values)  # a point so near an end that it has none weighs next to nothing
        found.append(values[kept] @ chances[kept] / chances[kept].sum())
    return np.array(found)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Turned:
    """How the statistics of a record are turned: `turn` @ (statistics - `origin`); `ends` are those that the turned
    ones have in the family."""

    family: Family
    guess: Floats
    origin: Floats
    turn: Floats
    ends: Floats

    def columns(self, x: Floats) -> list[Floats]:
        """The turned statistics of each entry, by a fixed order of operations on that entry alone."""
        with np.errstate(all="ignore"):
            found = [each(one, x) - at for one, at in zip(self.family.statistics, self.origin, strict=True)]
            turned = []
            for row, weights in enumerate(self.turn):
                column = weights[0] * found[0]
                for place in range(1, row + 1):
                    column = column + weights[place] * found[place]
                turned.append(column)
        return turned

    def means(self, places: Floats) -> Floats:
        """What the turned statistics are expected to be."""
        return np.asarray(self.turn @ (expected(self.family, places) - self.origin))

    def slopes(self, places: Floats) -> Floats:
        """How fast the means move with each linked parameter."""
        step = 1e-3
        sides = []
        for place in range(len(places)):
            moved = np.zeros(len(places))
            moved[place] = step
            sides.append((self.means(places + moved) - self.means(places - moved)) / (2 * step))
        return np.array(sides).T

    @property
    def least(self) -> float:
        """A distance below which nothing is told apart: about a median distance, or one whole number."""
        whole = hasattr(self.family.at(self.guess), "pmf")
        return max(NEAREST, abs(float(self.turn[0, 0]))) if whole else NEAREST

    @property
    def searched(self) -> tuple[Floats, Floats]:
        """Where the parameters are looked for."""
        far = FARTHEST[len(self.guess) - 1]
        return self.guess - far, self.guess + far


def turned(family: Family, guess: Floats) -> Turned:
    """The statistics, turned for a guess that was released."""
    x, chances = points(family.at(guess))
    origin = expected(family, guess)
    off = np.array(
        [
            np.nan_to_num(each(one, x) - at, posinf=0.0, neginf=0.0)
            for one, at in zip(family.statistics, origin, strict=True)
        ]
    )
    spread = np.sqrt(np.maximum((off**2) @ chances, 1e-280))
    unit = off / spread[:, None]
    common = (unit * chances) @ unit.T + 1e-9 * np.eye(len(off))
    turn = np.linalg.inv(np.linalg.cholesky(common)) / spread[None, :]
    seen, upto = turn @ off, np.cumsum(chances)
    within = seen[:, (upto > 2.0 ** (-PANELS / 2)) & (upto < 1 - 2.0 ** (-PANELS / 2))]
    low = np.where(within.min(axis=1) - seen.min(axis=1) < STEADY, seen.min(axis=1), -np.inf)
    high = np.where(seen.max(axis=1) - within.max(axis=1) < STEADY, seen.max(axis=1), np.inf)
    return Turned(family=family, guess=guess, origin=origin, turn=turn, ends=np.array([low, high]).T)


def fitting(family: Family, seen: list[float]) -> Turned | None:
    """The statistics turned for released numbers; None where the family has no place for them."""
    with np.errstate(all="ignore"):
        try:
            guess = family.linked(family.start(*(min(max(one, -FARTHEST_GUESS), FARTHEST_GUESS) for one in seen)))
            boxes = turned(family, guess)
            numbers = np.concatenate([guess, boxes.origin, boxes.turn.ravel(), boxes.slopes(guess).ravel()])
            return boxes if np.isfinite(numbers).all() and not np.isnan(boxes.ends).any() else None
        except Exception:  # noqa: BLE001  whatever a family's functions raise at a released number
            return None


def inverted(boxes: Turned, target: Floats) -> Floats:
    """The linked parameters whose turned statistics have these means, or as near as they come."""
    return _one(boxes, float(target[0])) if len(target) == 1 else _two(boxes, target)


def _one(boxes: Turned, target: float) -> Floats:
    """One parameter: its mean rises or falls throughout; else the end at which it is nearer."""
    from scipy.optimize import brentq

    low, high = float(boxes.searched[0][0]), float(boxes.searched[1][0])

    def at(place: float) -> float:
        return float(boxes.means(np.array([place]))[0]) - target

    guess = float(boxes.guess[0])
    here = at(guess)
    for reach in (0.25, 1.0, 3.0, 12.0):
        left, right = max(low, guess - reach), min(high, guess + reach)
        if at(left) * here <= 0:
            return np.array([brentq(at, left, guess, xtol=1e-10)])
        if at(right) * here <= 0:
            return np.array([brentq(at, guess, right, xtol=1e-10)])
    return np.array([min((low, high), key=lambda end: float(np.nan_to_num(abs(at(end)), nan=math.inf)))])


def _two(boxes: Turned, target: Floats) -> Floats:
    """Two parameters: Newton's steps, none longer than 1."""
    low, high = boxes.searched
    place, slopes = boxes.guess.copy(), None
    for step_number in range(40):
        off = boxes.means(place) - target
        if np.abs(off).max() < 1e-10:
            break
        if slopes is None or step_number < 4 or step_number % 3 == 0:
            slopes = boxes.slopes(place)
        step = np.linalg.lstsq(slopes, off, rcond=1e-10)[0]
        longest = float(np.abs(step).max())
        if longest < 1e-9:
            break
        before, place = place, np.clip(place - step / max(1.0, longest), low, high)
        if (place == before).all():  # in a corner
            break
    return place


def limits(boxes: Turned, low: float, high: float, unit: tuple[float, float]) -> str:
    """What was done to the values: the limits of the first turned statistic in the units of x."""
    if boxes.family.statistics[0] is not same:
        return "after limiting far values"
    ends = [unit[0] + unit[1] * float(boxes.origin[0] + end / boxes.turn[0, 0]) for end in (low, high)]
    return "after limiting values to between {} and {}".format(*(show_beside(end, *ends) for end in ends))


def beside(boxes: Turned, at: Floats, off: float) -> bool:
    """Whether records that were rescaled seem to lie beside the median that was found for them.

    No mean is further from a median than a standard deviation. From a place far beside the data all distances are
    alike: the mean is one of them away, and the variance next to nothing. The last parameter is taken `off` lower.
    """
    if boxes.family.rescaled is None:
        return False
    lower = at - off * (np.arange(len(at)) == len(at) - 1)
    mean = float(boxes.family.at(at).mean())
    return abs(mean) > 0.5 and float(boxes.family.at(lower).var()) < mean**2 / 2


def tail_powers(ranks: float, distance: float) -> tuple[float, float]:
    """How fast a tail and its squares grow, from the median distance, 1, to one that e^-ranks of the records exceed.

    A normal tail shows about 0.7, an exponential one 1. Those of real columns grow faster beyond than up to there, the
    heavier they look: of 40 columns nearly all by at most twice the square; what is seen at small ranks tells less.
    """
    seen = math.log(max(distance, 1.0)) / math.log(ranks / math.log(2))
    told = min(1.0, ranks / TOLD)
    power = min(max(LIGHTEST, USUAL * (1 - told) + told * max(seen, 2 * seen**2)), HEAVIEST)
    return power, 2 * power


def tail_left(ranks: float, more: float, power: float) -> float:
    """E max((1 + V / ranks)^power - (1 + more)^power, 0), V exponential: what a tail beyond 1 leaves beyond that.

    >>> round(tail_left(2.0, 2.0, 1), 4), round(0.5 * math.exp(-4.0), 4)
    (0.0092, 0.0092)
    """
    nodes, weights = np.polynomial.laguerre.laggauss(8)
    return float(math.exp(-ranks * more) * weights @ ((1 + more + nodes / ranks) ** power - (1 + more) ** power))


@dataclass(frozen=True, slots=True)
class ParameterSpread:
    """The error of a number, and a monotone way from it to a parameter; `left` is added on both sides."""

    inner: ConvolvedSpread
    left: float
    there: Callable[[float], float]

    @property
    def estimate(self) -> float:
        """The parameter."""
        return self.there(self.inner.estimate)

    @property
    def _slope(self) -> float:
        step = 1e-3 * self.inner.sampling
        return abs(self.there(self.inner.estimate + step) - self.there(self.inner.estimate - step)) / (2 * step)

    @property
    def sampling(self) -> float:
        """Standard deviation from sampling."""
        return self._slope * self.inner.sampling

    @property
    def privacy(self) -> float:
        """Standard deviation from the noise."""
        return self._slope * self.inner.privacy

    def interval(self, confidence: float) -> Interval:
        """Both ends taken there."""
        inner = self.inner.interval(confidence)
        ends = sorted((self.there(inner.low - self.left), self.there(inner.high + self.left)))
        return replace(inner, low=ends[0], high=ends[1], about="the parameter that fits the population best")
