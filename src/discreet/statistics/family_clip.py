"""What clipping does to the statistics of a family, where to clip them, and how to undo it: public formulas, no data.

A distribution is taken as weighted points: the whole numbers it lives on, or equal parts of its probability. The
statistics are turned so that they are uncorrelated under a first guess (the first stays itself, the second is what the
first does not tell), for what two of them have in common would else be paid for twice. Each is cut to a box; the tails
that a box leaves out are those for which noise and loss together are least. The mean of a cut statistic is a known
function of the parameters, so that no cut biases the parameters that are found from it.
"""

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.statistics.family import Family, each

Floats = npt.NDArray[np.float64]
POINTS: Final = 1024
WHOLE: Final = 4096  # whole numbers that a discrete distribution is followed on, one by one
TAILS: Final = (0.0, 0.0005, 0.001, 0.002, 0.004, 0.008, 0.015, 0.03, 0.06, 0.12)
FARTHEST: Final = (12.0, 4.0)  # how far from the guess one or two parameters are looked for, on their scales
BEYOND: Final = 1e290


def points(distribution: Any) -> tuple[Floats, Floats]:
    """A distribution as points and their probabilities."""
    if hasattr(distribution, "pmf"):
        first, last = float(distribution.ppf(1e-13)), float(distribution.isf(1e-13))
        if not math.isfinite(last - first):  # scipy follows it no further
            return np.full(1, math.nan), np.ones(1)
        step = max(1.0, float(np.ceil((last - first + 1) / WHOLE)))
        if step == 1 or 8 * step < float(distribution.ppf(0.75)) - float(
            distribution.ppf(0.25)
        ):  # fine enough for what is smooth
            whole = np.arange(first, last + step, step)
            chances = np.asarray(distribution.pmf(whole), dtype=np.float64)
            return whole, chances / chances.sum()
    shares = (np.arange(POINTS) + 0.5) / POINTS
    return np.asarray(distribution.ppf(shares), dtype=np.float64), np.full(POINTS, 1 / POINTS)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Boxes:
    """How each record is turned and cut: `turn` @ (statistics - `origin`), then to `centre` +- `radius`."""

    family: Family
    guess: Floats
    origin: Floats
    turn: Floats
    centre: Floats
    radius: Floats

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

    def cut(self, x: Floats) -> Floats:
        """The same, cut to their boxes and in units of them; what is missing is in the middle."""
        with np.errstate(all="ignore"):
            units = [
                (one - at) / reach for one, at, reach in zip(self.columns(x), self.centre, self.radius, strict=True)
            ]
        return np.array([np.where(np.isnan(one), 0.0, np.clip(one, -1.0, 1.0)) for one in units])

    def moments(self, places: Floats) -> tuple[Floats, Floats]:
        """Mean and covariance of what one record becomes, at linked parameters."""
        x, chances = points(self.family.at(places))
        units = self.cut(x)
        mean = units @ chances
        off = units - mean[:, None]
        return mean, (off * chances) @ off.T

    def slopes(self, places: Floats) -> Floats:
        """How fast the means move with each linked parameter."""
        step = 1e-3
        sides = []
        for place in range(len(places)):
            moved = np.zeros(len(places))
            moved[place] = step
            sides.append((self.moments(places + moved)[0] - self.moments(places - moved)[0]) / (2 * step))
        return np.array(sides).T

    @property
    def ends(self) -> tuple[Floats, Floats]:
        """Where the parameters are looked for."""
        far = FARTHEST[len(self.guess) - 1]
        return self.guess - far, self.guess + far


def boxes_for(family: Family, guess: Floats, size: float, epsilon: float, nearby: tuple[Floats, ...] = ()) -> Boxes:
    """The boxes for so many records, each statistic at this epsilon. Reads a guess that was released, nothing else.

    With `nearby` guesses of a single parameter the box holds theirs too: a narrow distribution may lie at any of them.
    """
    x, chances = points(family.at(guess))
    seen = np.array([np.nan_to_num(each(one, x), posinf=BEYOND, neginf=-BEYOND) for one in family.statistics])
    origin = seen @ chances
    off = seen - origin[:, None]
    spread = np.sqrt(np.maximum((off**2) @ chances, 1e-280))
    unit = off / spread[:, None]
    common = (unit * chances) @ unit.T + 1e-9 * np.eye(len(seen))
    turn = np.linalg.inv(np.linalg.cholesky(common)) / spread[None, :]
    turned = turn @ off
    ends = np.array([best_ends(one, chances, size, epsilon) for one in turned])
    for other in nearby:
        x, chances = points(family.at(other))
        beside = turn[0, 0] * (each(family.statistics[0], x) - origin[0])
        low, high = best_ends(beside, chances, size, epsilon)
        ends[0] = min(ends[0, 0], low), max(ends[0, 1], high)
    centre, radius = ends.mean(axis=1), np.maximum((ends[:, 1] - ends[:, 0]) / 2, 1e-9)
    return Boxes(family=family, guess=guess, origin=origin, turn=turn, centre=centre, radius=radius)


def best_ends(values: Floats, chances: Floats, size: float, epsilon: float) -> tuple[float, float]:
    """The box with the least error: sampling and noise over the square of the slope."""
    order = np.argsort(values)
    ranked, upto = values[order], np.cumsum(chances[order])
    best, found = math.inf, (float(ranked[0]), float(ranked[-1]))
    for below in TAILS:
        low = float(ranked[int(np.searchsorted(upto, below))])
        for above in TAILS:
            high = float(ranked[min(int(np.searchsorted(upto, 1 - above)), len(ranked) - 1)])
            if not low < high:
                continue
            cut = np.clip(values, low, high)
            mean = float(cut @ chances)
            slope = float(((cut - mean) * values) @ chances)
            noise = 2 * ((high - low) / (size * epsilon)) ** 2
            error = (float(((cut - mean) ** 2) @ chances) / size + noise) / max(slope**2, 1e-300)
            if error < best:
                best, found = error, (low, high)
    return found


def inverted(boxes: Boxes, target: Floats) -> Floats:
    """The linked parameters whose cut statistics have these means, or as near as they come."""
    return _one(boxes, float(target[0])) if len(target) == 1 else _two(boxes, target)


def _one(boxes: Boxes, target: float) -> Floats:
    """One parameter: its mean rises or falls throughout."""
    return np.array([crossing(boxes, lambda place: float(boxes.moments(place)[0][0]) - target)])


def crossing(boxes: Boxes, function: Any) -> float:
    """Where a monotone function of one linked parameter is 0; else the end at which it is nearer."""
    from scipy.optimize import brentq

    low, high = float(boxes.ends[0][0]), float(boxes.ends[1][0])

    def at(place: float) -> float:
        return float(function(np.array([place])))

    guess, here = float(boxes.guess[0]), at(float(boxes.guess[0]))
    if here == 0:
        return guess
    for reach in (0.25, 1.0, 3.0, 12.0):
        left, right = max(low, guess - reach), min(high, guess + reach)
        if at(left) * here <= 0:
            return float(brentq(at, left, guess, xtol=1e-8))
        if at(right) * here <= 0:
            return float(brentq(at, guess, right, xtol=1e-8))
    return min((low, high), key=lambda end: float(np.nan_to_num(abs(at(end)), nan=math.inf)))


def _two(boxes: Boxes, target: Floats) -> Floats:
    """Two parameters: Newton's steps, none longer than 1."""
    low, high = boxes.ends
    place, slopes = boxes.guess.copy(), None
    for turn in range(40):
        off = boxes.moments(place)[0] - target
        if np.abs(off).max() < 1e-10:
            break
        if slopes is None or turn < 4 or turn % 3 == 0:
            slopes = boxes.slopes(place)
        step = np.linalg.lstsq(slopes, off, rcond=1e-10)[0]
        longest = float(np.abs(step).max())
        if longest < 1e-9:
            break
        before, place = place, np.clip(place - step / max(1.0, longest), low, high)
        if (place == before).all():  # in a corner
            break
    return place
