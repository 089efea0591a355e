"""The inverse sensitivity mechanism: any robust statistic of a column becomes private, at the best price there is.

Releases
    One number t between public bounds, drawn with probability proportional to exp(-epsilon length(t) / 2), where
    length(t) is the number of records that would have to be replaced for the statistic to be t.
Promise
    [inverse_sensitivity.1] REPLACE: Choice(epsilon), pure, if for neighbours each `reach` of k changes lies within the
    other's of k + 1.
    [inverse_sensitivity.2] That holds for the `reach` of a statistic that rises with each record and does not depend on
          their order, as computed to within `rounding` times the larger of the bounds.
Why
    [inverse_sensitivity.1] Between the k-th and the (k+1)-th reach the length is k + 1, within the first one it is 0.
    Nested as stated, lengths of neighbours differ by at most 1 for every t; beyond the last step they are all the same.
    The ends are the order statistics of a staircase whose score is that length: [choose_float.1].
    [inverse_sensitivity.2] Of all tables within k changes the one with the k largest records at the lower bound has the
    least value, and the mirrored one the greatest: so the reaches are what k changes can do, and a table k changes from
    x is k + 1 from its neighbour. Computed values are within r of the true ones: c_(k+1)(x') <= c_k(x) + 2 r for lower
    ends, so moving the k-th ends outwards by 2 k r nests them again. A statistic must be defined for every table of
    numbers between the bounds; it sees nothing else. That reaches nest is tried on public made-up neighbours, and
    refused where it fails: a statistic that does not rise, such as a standard deviation, does not get as far as the
    data. Trying is no proof, and the release says so. On the data it is kept from raising, which is all that can be
    done there.
Needs
    Public bounds, a public number of records; a statistic that is robust (a few records cannot move it far), for
    accuracy: a median, a trimmed mean, an L-estimator. 2 K + 1 evaluations, K = `steps`.
Accuracy
    Instance optimal up to constants among unbiased mechanisms. With m(k) the length of the k-th reach, the error
    exceeds it with probability about exp(-epsilon k / 2) range / m(0).
Source
    Asi and Duchi 2020; Asi, Ullman and Zakynthinou 2023 and Hopkins, Kamath, Majid and Narayanan 2023 (from robustness
    to privacy). Johnson and Shmatikov 2013 for the length.
"""

import math
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput
from discreet.noise.choose_float import Staircase, uniform
from discreet.privacy.exact import Number, exact, is_number
from discreet.privacy.guarantee import Neighbours, check_budget
from discreet.privacy.loss import Choice
from discreet.privacy.mechanism import Randomness, promised
from discreet.privacy.release import Provenance, Release
from discreet.stages.declared import check_bounds, contained, rests_on, tried
from discreet.tables.entries import numbers, public_size

NATS: Final = 60  # lengths are cut where their weight is e^-60
ROUNDING: Final = 2.0**-40
TRIED: Final = (3, 8, 25)  # records of the made-up tables on which functions are tried at first,
MOST_TRIED: Final = 1000  # and at most, once the number of records is known
STEPS_TRIED: Final = 6
Floats = npt.NDArray[np.float64]
Reach = Callable[[Floats, int], tuple[float, float]]


@dataclass(frozen=True, slots=True)
class InverseSensitivity:
    """A rising, symmetric `statistic` of numbers between `bounds`; or any with its own `reach(sorted, k)`.

    `reach` gives the least and the greatest value that replacing k records by numbers between the bounds can lead to.

    >>> from discreet.noise.randomness import Seeded
    >>> rows = [float(k % 100) for k in range(1000)]
    >>> 45 < InverseSensitivity(trimmed_mean(0.1), (0, 1000), 1.0).release(rows, Seeded(1)).value < 55
    True
    """

    statistic: Callable[[Floats], float] | None
    bounds: tuple[float, float]
    epsilon: Number
    _: KW_ONLY
    reach: Reach | None = None
    rounding: float = ROUNDING
    unit: str = "row"
    neighbours: ClassVar[Neighbours] = Neighbours.REPLACE

    def __post_init__(self) -> None:
        check_budget(self.epsilon, 0, None)
        if self.bounds is None:
            raise BadInput("bounds is None; the statistic is drawn between public bounds: give two numbers")
        check_bounds(self.bounds)
        if (self.statistic is None) == (self.reach is None):
            raise BadInput("give either a statistic that rises with every record, or the reach of one")
        if not callable(self.statistic or self.reach):
            raise BadInput("statistic and reach are functions of sorted numbers")
        if not (is_number(self.rounding) and 0 <= self.rounding <= 0.01):
            raise BadInput(f"rounding is {self.rounding!r}; give the relative error of the statistic, 0 to 0.01")
        for size in TRIED:
            self._check_nested(size)

    guarantee = promised

    @property
    def loss(self) -> Choice:
        """One choice."""
        return Choice(self.epsilon)  # [inverse_sensitivity.1]

    def steps(self, size: int) -> int:
        """How many changes ahead are looked at."""
        return min(size, math.ceil(2 * NATS / exact(self.epsilon)))

    def release(self, rows: Any, rng: Randomness) -> Release[float]:
        """The noisy statistic."""
        low, high = (float(end) for end in self.bounds)
        values = numbers(rows)
        size = public_size(values, Neighbours.REPLACE)
        assert size is not None
        ordered = np.sort(np.where(np.isnan(values), low / 2 + high / 2, np.clip(values, low, high)))
        steps = self.steps(size)
        tried(self._found, "the statistic", made_up(size, low, high)[0], 0)
        self._check_nested(min(size, MOST_TRIED))
        lower, upper = self._reaches(ordered, steps)
        points = np.concatenate([lower[::-1], upper])
        stairs = Staircase(points, Fraction(steps), low=low, high=high, prior=uniform())
        drawn = rng.choose_float(stairs, sensitivity=1, cost=self.loss)  # [inverse_sensitivity.1]
        parameters = {"bounds": self.bounds, "steps": steps, "rows": size}
        declared = (
            "the statistic rises with every record" if self.reach is None else "the reach is what k changes can do"
        )
        # [inverse_sensitivity.2]
        notes = ("there is no interval: what one more change could do is not public", rests_on(declared))
        provenance = Provenance("InverseSensitivity", parameters, rng.secure, notes=notes)
        return Release(self.guarantee, provenance, drawn, name="statistic")

    def _check_nested(self, size: int) -> None:
        """Refuse what does not nest on public made-up neighbours of this size. [inverse_sensitivity.1]"""
        low, high = (float(end) for end in self.bounds)
        steps = min(size, STEPS_TRIED)
        for table in made_up(size, low, high):
            mine = self._reaches(table, steps + 1)
            for place, value in ((0, high), (-1, low), (size // 2, high), (size // 2, low), (0, low / 2 + high / 2)):
                other = table.copy()
                other[place] = value
                theirs = self._reaches(np.sort(other), steps + 1)
                for one, two in ((mine, theirs), (theirs, mine)):
                    if (two[0][1:] > one[0][:-1]).any() or (two[1][1:] < one[1][:-1]).any():
                        raise BadInput(
                            f"the {'reach is not that of k changes' if self.reach else 'statistic does not rise'}: on "
                            f"{size} made-up records one change moves it further than the promise allows; give a "
                            "statistic that rises with every record, such as a median, or a reach that is true"
                        )

    def _reaches(self, ordered: Floats, steps: int) -> tuple[Floats, Floats]:
        """The lower and the upper ends of the reaches of 0, 1, ... changes."""
        ends = np.array([self._ends(ordered, changes) for changes in range(steps)])
        return np.minimum.accumulate(ends[:, 0]), np.maximum.accumulate(ends[:, 1])

    def _ends(self, ordered: Floats, changes: int) -> tuple[float, float]:
        """The reach of so many changes, moved outwards by its rounding, within the bounds. [inverse_sensitivity.2]"""
        low, high = (float(end) for end in self.bounds)
        found = contained(self._found, ordered, changes)
        if found is None or not all(map(math.isfinite, found)):
            return low, high
        slack = 2 * changes * self.rounding * max(abs(low), abs(high))  # [inverse_sensitivity.2]
        return min(max(found[0] - slack, low), high), max(min(found[1] + slack, high), low)

    def _found(self, ordered: Floats, changes: int) -> tuple[float, float]:
        """The least and the greatest value, as the caller's function has them."""
        if self.reach is not None:
            least, most = self.reach(ordered.copy(), changes)
            return float(least), float(most)
        assert self.statistic is not None
        low, high = (float(end) for end in self.bounds)
        kept = len(ordered) - changes
        down = np.concatenate([np.full(changes, low), ordered[:kept]])
        up = np.concatenate([ordered[changes:], np.full(changes, high)])
        return float(self.statistic(down)), float(self.statistic(up))


def made_up(size: int, low: float, high: float) -> list[Floats]:
    """Public sorted tables to try functions on: spread evenly, all in the middle, at both ends, and to one side."""
    even = (np.arange(size) + 0.5) / size
    shapes = (even, np.full(size, 0.5), np.round(even), even**3)
    return [np.clip(low * (1 - shape) + high * shape, low, high) for shape in shapes]


def trimmed_mean(share: float) -> Callable[[Floats], float]:
    """The mean without the `share` smallest and largest records each: rising, and correctly rounded."""
    if not (is_number(share) and 0 <= share < 0.5):
        raise BadInput(f"share is {share!r}; give how much to leave out on either side, 0 to below 0.5")

    def mean(ordered: Floats) -> float:
        cut = int(share * len(ordered))
        kept = np.sort(ordered)[cut : len(ordered) - cut].tolist()
        return math.fsum(kept) / len(kept)

    return mean
