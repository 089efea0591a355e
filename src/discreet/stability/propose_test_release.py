"""Propose, test, release: publish an answer as it is (or with little noise) if nobody nearby could have another.

Releases
    Whether the answer is stable; if it is, the answer, plus Laplace noise of scale bound / epsilon where a bound on its
    move is proposed.
Promise
    [propose_test_release.1] (epsilon, delta) under the relation for which `distance` is declared: how many changes the
          table is from one whose answer one more change could alter (by more than `bound`).
Why
    A distance moves by at most 1 between neighbours: its test costs epsilon (half of it where noise follows), by
    [additive.1] of noise/additive.py. If the answers of two neighbours differ (by more than the bound), both have the
    distance 0, and an answer leaves with the probability that the noise alone reaches the threshold, at most delta.
    Otherwise the answers are the same, or within the bound: then [additive.1] again with the other half. The cases
    exclude each other.
Needs
    A `distance` that is true, or too small by as much on neighbours: it must not move by more than 1, and is 0 on both
    of two neighbours whose answers differ (by more than the bound). Both are tried on public made-up neighbours, of
    numbers (odd ones too) and texts and of `example`, and refused where that fails; this is no proof, and the release
    says so. Whatever raises in `statistic` or `distance` counts as unstable.
Accuracy
    Tables with a distance of 2 ln(1 / delta) / epsilon are answered nearly always.
Source
    Dwork and Lei 2009; Thakurta and Smith 2013 (the distance to instability).
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np

from discreet.errors import BadInput
from discreet.noise.additive import Grid
from discreet.noise.distributions import LaplaceDistribution, laplace_scale
from discreet.privacy.exact import Number, exact, is_number
from discreet.privacy.guarantee import Neighbours, check_budget
from discreet.privacy.intervals import Interval
from discreet.privacy.loss import Approximate, Laplace, Loss
from discreet.privacy.mechanism import Randomness, promised
from discreet.privacy.release import Provenance, Release
from discreet.stages.declared import contained, rests_on, tried
from discreet.tables.entries import column, key, name, public_size

FINE: Final = 22  # binary digits of a proposed bound
WIDE: Final = 2**36  # answers end at so many bounds from 0
FAR: Final = 2**40  # no distance is longer
ODD: Final = (0.0, -1.0, 3.0, 100.0, 1e300, math.nan, math.inf, -math.inf)  # public records to try functions on
DECLARED: Final = "the distance is the number of changes that the answer survives"


@dataclass(frozen=True, slots=True)
class ProposeTestRelease:
    """`statistic(rows)` if its `distance(rows)` to another answer is large enough.

    With a `bound` the statistic is a number, moved by at most that much by one change while the distance is above 0.
    `example` is public made-up rows to try both functions on, where these take neither numbers nor texts.

    >>> from discreet.noise.randomness import Seeded
    >>> stable_mode(epsilon=1.0, delta=1e-6).release(["a"] * 90 + ["b"] * 20, Seeded(1)).value
    'a'
    """

    statistic: Callable[[Any], Any]
    distance: Callable[[Any], int]
    _: KW_ONLY
    epsilon: Number
    delta: Number
    bound: float | None = None
    neighbours: Neighbours = Neighbours.REPLACE
    unit: str = "row"
    example: Any = None

    def __post_init__(self) -> None:
        check_budget(self.epsilon, self.delta, 1)
        if not self.delta:
            raise BadInput("delta is 0; an unstable answer leaves with a small probability: give delta > 0, about 1e-6")
        if self.bound is not None and not (is_number(self.bound) and 1e-290 < self.bound < 1e290):
            raise BadInput(f"bound is {self.bound!r}; give the most that one change may move the answer, or None")
        if not (callable(self.statistic) and callable(self.distance)):
            raise BadInput("statistic and distance are two functions of the rows")
        self._check_distance()

    guarantee = promised

    @property
    def loss(self) -> Loss:
        """(epsilon, delta)."""
        return Approximate(self.epsilon, self.delta)  # [propose_test_release.1]

    @property
    def testing(self) -> Fraction:
        """What the test costs: all, or half where noise follows."""
        return exact(self.epsilon) / (1 if self.bound is None else 2)

    @property
    def threshold(self) -> int:
        """The least t that discrete Laplace noise reaches with probability delta or less: a^t / (1 + a)."""
        rate = float(1 / laplace_scale(1, self.testing))
        least = (-math.log(float(self.delta)) - math.log1p(math.exp(-rate))) / rate
        return max(1, math.ceil(least * (1 + 1e-12) + 1e-9))  # [propose_test_release.1]: more than the roundings

    def release(self, rows: Any, rng: Randomness) -> Release[Any]:
        """The answer, or that it was not stable enough."""
        size = public_size(column(rows), self.neighbours)
        check_budget(self.epsilon, self.delta, size)
        answer, known = self._seen(rows)
        noisy = rng.blur(known, sensitivity=1, cost=Laplace(self.testing))  # [propose_test_release.1]
        stable = noisy >= self.threshold
        parameters = {"bound": self.bound, "neighbours": self.neighbours, "threshold": self.threshold, "rows": size}
        notes = () if self.statistic is _mode else (rests_on(DECLARED),)
        provenance = Provenance("ProposeTestRelease", parameters, rng.secure, notes=notes)
        if not stable:
            refusal = f"the answer is not stable: its noisy distance {noisy} is below the threshold {self.threshold}"
            return Release(self.guarantee, provenance, refusal=refusal, name="stable answer")
        if self.bound is None:
            return Release(self.guarantee, provenance, answer, name="stable answer")
        return self._blurred(float(answer), rng, provenance)

    def _seen(self, rows: Any) -> tuple[Any, int]:
        """The answer and its distance; 0 whatever goes wrong."""
        answer, away = contained(self.statistic, rows), contained(self.distance, rows)
        if self.bound is not None and not is_number(answer):
            return 0.0, 0
        whole = isinstance(away, int | np.integer) and not isinstance(away, bool)
        return answer, min(max(int(away), 0), FAR) if whole and answer is not None else 0

    def _check_distance(self) -> None:
        """Refuse, on public made-up neighbours, a distance that jumps or an answer that changes too early.
        [propose_test_release.1]"""
        failure: BadInput | None = None
        ran = False
        for table in _tables() if self.example is None else (self.example,):
            try:
                tried(self.statistic, "the statistic", table)
                tried(self.distance, "the distance", table)
            except BadInput as error:
                failure = error
                continue
            ran, (answer, known) = True, self._seen(table)
            for other in tried(lambda rows: list(_neighbours(rows, self.neighbours)), "taking rows out", table):
                answer_there, known_there = self._seen(other)
                if abs(known - known_there) > 1:
                    raise BadInput(
                        f"the distance moves from {known} to {known_there} by one change to made-up rows; it counts "
                        "changes, so one change may move it by 1 at most"
                    )
                if (known or known_there) and not self._alike(answer, answer_there):
                    raise BadInput(
                        "one change to made-up rows moves the answer further than it may, and the distance of one of "
                        "the two tables is not 0; it must be the number of changes that the answer surely survives"
                    )
        if not ran:
            raise BadInput(f"{failure}; if it is for other rows, give made-up ones as example=")

    def _alike(self, one: Any, two: Any) -> bool:
        """The same answer, or within the bound."""
        if self.bound is not None:
            return abs(float(one) - float(two)) <= self.bound * (1 + 1e-9)
        return one is two or bool(contained(lambda: np.array_equal(one, two))) or repr(one) == repr(two)

    def _blurred(self, answer: float, rng: Randomness, provenance: Provenance) -> Release[float]:
        """With noise for the proposed bound. [propose_test_release.1]"""
        assert self.bound is not None
        grid, end = Grid(math.frexp(self.bound)[1] - FINE), exact(self.bound) * WIDE
        move = math.ceil(exact(self.bound) / grid.step) + 1  # both ends are rounded
        cost = Laplace(exact(self.epsilon) - self.testing)
        steps = int(grid.quantise(np.array([answer]), low=-end, high=end, default=0)[0])
        noisy = rng.blur(steps, sensitivity=move, cost=cost)
        spread = NoisyAnswer(
            float(grid.value(noisy)), LaplaceDistribution(laplace_scale(move, cost.epsilon)), float(grid.step)
        )
        return Release(self.guarantee, provenance, spread.value, spread=spread, name="stable answer")


@dataclass(frozen=True, slots=True)
class NoisyAnswer:
    """The error of a number in the table."""

    value: float
    distribution: LaplaceDistribution
    step: float
    sampling: None = None

    @property
    def privacy(self) -> float:
        """Standard deviation of the noise."""
        return self.distribution.sd * self.step

    def interval(self, confidence: float) -> Interval:
        """For the statistic of this table."""
        wide = self.step * (self.distribution.radius(confidence) + 1)
        return Interval(
            self.value - wide,
            self.value + wide,
            confidence=confidence,
            about="the statistic of this table",
            population=False,
        )


def stable_mode(
    epsilon: Number, delta: Number, neighbours: Neighbours = Neighbours.REPLACE, unit: str = "row"
) -> ProposeTestRelease:
    """The most frequent category, exactly, if it leads by enough."""
    per = 2 if neighbours is Neighbours.REPLACE else 1  # one change moves the lead by so much
    return ProposeTestRelease(
        _mode, _Lead(per), epsilon=epsilon, delta=delta, bound=None, neighbours=neighbours, unit=unit
    )


def _mode(rows: Any) -> Any:
    leaders = _ranked(rows)
    return name(leaders[0][0]) if leaders else None


def _ranked(rows: Any) -> list[tuple[Any, int]]:
    """Categories with their numbers, the largest first; ties by an order of their own, not by the rows'."""
    tally = Counter(key(entry) for entry in column(rows))
    return sorted(tally.items(), key=lambda item: (-item[1], repr(item[0])))


@dataclass(frozen=True, slots=True)
class _Lead:
    """Changes that a lead survives: with a lead of g a mode stays the only one while fewer than g / per are made."""

    per: int

    def __call__(self, rows: Any) -> int:
        leaders = [count for _, count in _ranked(rows)[:2]] + [0, 0]
        return max(0, -(-(leaders[0] - leaders[1]) // self.per) - 1)


def _tables() -> Iterator[Any]:
    """Public made-up columns: numbers in lists and arrays, and texts; all alike, of two kinds, and of many."""
    for size in (2, 5, 24):
        half = size // 2
        for numbers in (
            [1.0] * size,
            [0.0] * half + [2.0] * (size - half),
            [50 + place / 7 for place in range(size)],
            [float(place) for place in range(size)],
        ):
            yield numbers
            yield np.array(numbers)
        yield ["a"] * size
        yield ["a"] * (half + 1) + ["b"] * (size - half - 1)


def _neighbours(table: Any, relation: Neighbours) -> Iterator[Any]:
    """Neighbours of made-up rows: one row for another of the table or an odd one, or one row fewer or more."""
    size = len(table)
    odd: tuple[Any, ...] = ()
    if isinstance(table, list) or (isinstance(table, np.ndarray) and table.ndim == 1):
        odd = ("b", "z") if isinstance(table[0], str) else ODD if isinstance(table[0], float) else ()
    for place in sorted({0, size // 2, size - 1}):
        if relation is Neighbours.ADD_OR_REMOVE:
            yield _taken(table, [*range(place), *range(place + 1, size)])
            yield _taken(table, [*range(size), place])
            continue
        for other in {0, size // 2, size - 1}:
            yield _taken(table, [*range(place), other, *range(place + 1, size)])
    for value in odd:
        for place in (0, size - 1):
            kept = [*table[:place], value, *table[place + (relation is Neighbours.REPLACE) :]]
            yield kept if isinstance(table, list) else np.array(kept)


def _taken(table: Any, places: list[int]) -> Any:
    """Some rows of a list, a frame or an array."""
    if isinstance(table, list | tuple):
        return [table[place] for place in places]
    return table.iloc[places] if hasattr(table, "iloc") else table[places]
