"""What the lectures print, run as printed: UNSAFE, to be attacked in class and never to be used.

Each looks like a mechanism, claims what is printed beside it, and does not keep it. Its noise goes through the door, so
that `discreet.audit` finds the fault. Every release says that it must not be published, whatever its randomness.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Final

import numpy as np

from discreet.accounting.calibrate import gaussian
from discreet.errors import BadInput
from discreet.friendly.average import SLACK, blurred
from discreet.lectures.finite import Ramp
from discreet.privacy.exact import Number
from discreet.privacy.guarantee import Neighbours, check_budget
from discreet.privacy.loss import Approximate, Composed, Gaussian, Laplace, Loss
from discreet.privacy.mechanism import Randomness, promised
from discreet.privacy.release import Provenance, Release

UNSAFE: Final = "UNSAFE: a fault of the lectures, run as printed; it does not keep the promise that it states"
STEPS: Final = 2**20  # in the sensitivity that is claimed
FAR: Final = 2.0**40  # claimed sensitivities from 0


@dataclass(frozen=True, slots=True)
class PrintedFriendlyAvg:
    """Algorithm 2 of lecture 3 as printed: ramp (c - n/2) / n, Lap(1 / epsilon), division by n, noise for a move of
    10 sqrt(d) / n, and epsilon spent twice. `ramp="figure"` mends the first fault alone.

    >>> from discreet import Seeded
    >>> release = PrintedFriendlyAvg(1.0, 1e-3).release([[0.0]] * 100, Seeded(1))
    >>> abs(float(release.value[0])) < 2, release.provenance.secure
    (True, False)
    """

    epsilon: Number
    delta: Number
    _: KW_ONLY
    ramp: Ramp = "printed"
    unit: str = "row"
    neighbours: ClassVar[Neighbours] = Neighbours.REPLACE
    unsafe: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_budget(self.epsilon, self.delta, 1)
        if not self.delta:
            raise BadInput("delta is 0; the lecture's average needs delta > 0, for example 1e-6")

    guarantee = promised

    @property
    def loss(self) -> Loss:
        """What is printed: a test at epsilon and an average at (epsilon, delta)."""
        return Composed((Approximate(self.epsilon, 0), self._mean_cost))

    @property
    def _mean_cost(self) -> Gaussian:
        return Gaussian(gaussian(float(self.epsilon), float(self.delta)), SLACK)

    def release(self, table: Any, rng: Randomness) -> Release[Any]:
        """Steps 1 to 6."""
        rows = np.atleast_2d(np.asarray(table, dtype=np.float64).T).T
        size, width = rows.shape
        radius = 10 * math.sqrt(width)
        near = np.sqrt(((rows[:, None] - rows) ** 2).sum(axis=2)) <= radius
        weights = ramped(near.sum(axis=1), size, self.ramp)
        noisy = int(rng.blur(round(weights.sum() * STEPS), sensitivity=STEPS, cost=Laplace(self.epsilon))) / STEPS
        if noisy <= size - 2 * math.log(1 / float(self.delta)) / float(self.epsilon):
            return self._shown(rng, refusal="too few rows are friends")
        claimed = radius / size
        average = np.clip((weights[:, None] * rows).sum(axis=0) / size / claimed, -FAR, FAR)
        found, _ = blurred(np.rint(average * STEPS).astype(np.int64), square=STEPS**2, cost=self._mean_cost, rng=rng)
        return self._shown(rng, found / STEPS * claimed)

    def _shown(self, rng: Randomness, answer: Any = None, refusal: str | None = None) -> Release[Any]:
        del rng  # seeded or not: never for publication
        history = Provenance("PrintedFriendlyAvg", {"ramp": self.ramp}, secure=False, notes=(UNSAFE,))
        return Release(self.guarantee, history, answer, refusal=refusal, name="UNSAFE mean")


def ramped(friends: Any, size: int, ramp: Ramp) -> Any:
    """Weights by the number of friends, each row its own: as printed in step 3, or as in Figure 1."""
    if ramp == "printed":
        return np.where(friends >= size, 1.0, np.clip((friends - size / 2) / size, 0.0, 1.0))
    return np.clip(2 * friends / size - 1, 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class PrintedNoise:
    """A function of the rows plus noise of a scale that is too small: see PRINTED."""

    name: str
    function: Callable[[Any], Any]
    sensitivity: float  # as printed
    epsilon: Number = 1.0
    unit: str = "row"
    neighbours: Neighbours = Neighbours.REPLACE
    unsafe: ClassVar[bool] = True

    guarantee = promised

    @property
    def loss(self) -> Loss:
        """What is printed."""
        return Approximate(self.epsilon, 0)

    def release(self, table: Any, rng: Randomness) -> Release[Any]:
        """The function plus Laplace noise."""
        found = np.atleast_1d(np.asarray(self.function(table), dtype=np.float64)) / self.sensitivity
        values = np.rint(np.clip(found, -FAR, FAR) * STEPS).astype(np.int64)
        noisy = rng.blur(values, sensitivity=STEPS, cost=Laplace(self.epsilon))
        history = Provenance("PrintedNoise", {"name": self.name}, secure=False, notes=(UNSAFE,))
        return Release(
            self.guarantee, history, np.asarray(noisy) / STEPS * self.sensitivity, name=f"UNSAFE {self.name}"
        )


def votes_of(table: Any) -> Any:
    """How many rows are 0, 1 and 2."""
    return [sum(row == one for row in table) for one in (0, 1, 2)]


def middle_of(table: Any) -> float:
    """The median."""
    return float(np.median(np.asarray(table, dtype=np.float64)))


def weight_of(table: Any) -> float:
    """The sum of the weights of rows within 1 of each other, ramp as in Figure 1."""
    rows = np.asarray(table, dtype=np.float64)
    return float(ramped((np.abs(rows[:, None] - rows) <= 1).sum(axis=1), len(rows), "figure").sum())


def sums_of(table: Any) -> Any:
    """The sum of rows, taken to be no longer than 1."""
    return np.asarray(table, dtype=np.float64).sum(axis=0)


def squares_of(table: Any) -> float:
    """The mean of the squares: a sufficient statistic of a normal family."""
    return float(np.square(np.asarray(table, dtype=np.float64)).mean())


def firsts_of(table: Any) -> Any:
    """Five blocks of n / 5 rows by position, and an algorithm on each that returns its first row, which is 0 or 1."""
    size = max(1, math.ceil(len(table) / 5))
    return [table[at] if at < len(table) else 0 for at in range(0, 5 * size, size)]


AVERAGE: Final = PrintedFriendlyAvg(1.0, 1e-6, ramp="figure")
PRINTED: Final[Mapping[str, PrintedFriendlyAvg | PrintedNoise]] = {
    "ramp": PrintedFriendlyAvg(1.0, 1e-6),
    "divided by n": AVERAGE,
    "sensitivity": AVERAGE,
    "delta of the average": AVERAGE,
    "epsilon twice": AVERAGE,
    "scale of the test": PrintedNoise("sum of weights", weight_of, 1.0),
    "histogram": PrintedNoise("histogram", votes_of, 1.0),
    "median": PrintedNoise("median", middle_of, 1.0),
    "blocks": PrintedNoise("blocks", firsts_of, 1.0, neighbours=Neighbours.ADD_OR_REMOVE),
    "domain": PrintedNoise("sums", sums_of, 2.0),
    "exponential family": PrintedNoise("mean of squares", squares_of, 1 / 100),
}
