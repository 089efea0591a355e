"""The shape of a mechanism, and of the one door all randomness comes through."""

import math
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Generic, Protocol, Self, TypeVar, overload

import numpy as np
import numpy.typing as npt

from discreet.errors import Refused
from discreet.privacy.exact import Number, exact
from discreet.privacy.guarantee import Guarantee, Neighbours
from discreet.privacy.loss import Approximate, Choice, Gaussian, Laplace, Loss
from discreet.privacy.release import Release

T = TypeVar("T")
Integers = npt.NDArray[np.int64]


class Randomness(Protocol):
    """The door. Each call names the sensitivity it relies on and the loss it costs, so a machine can check both."""

    @property
    def secure(self) -> bool:
        """True if nobody can repeat the draws."""

    def blur(self, values: Any, *, sensitivity: Number, cost: Laplace | Gaussian) -> Any:
        """Integers plus discrete noise of scale sensitivity / epsilon (or standard deviation sensitivity / mu)."""

    def choose(self, scores: Any, *, sensitivity: Number, cost: Choice) -> int:
        """An index, the likelier the lower its score: weights exp(-epsilon score / (2 sensitivity))."""

    def noisy_max(self, scores: Any, *, sensitivity: Number, cost: Approximate) -> int:
        """The index of the largest noisy score."""

    def first_above(self, scores: Sequence[int], threshold: int, *, sensitivity: Number, cost: Approximate) -> int:
        """The first index whose noisy score reaches a noisy threshold; len(scores) if none does."""

    def choose_float(self, staircase: Any, *, sensitivity: Number, cost: Choice) -> float:
        """A float64 by the exponential mechanism over all of them."""

    def sift(
        self,
        counts: Mapping[Hashable, int],
        *,
        sensitivity: int,
        cost: Laplace,
        above: int,
        delta: Number = 0,
        bins: int | None = None,
    ) -> dict[Hashable, int]:
        """Noisy counts of at least `above`, over all bins, though only the non-empty ones are listed."""

    def smooth(
        self,
        value: int,
        reach: int,
        *,
        unit: int,
        top: int,
        distribution: Any,
        pace: Fraction,
        divisor: Fraction,
        cost: Approximate,
    ) -> int:
        """A whole number plus noise of scale reach / (unit divisor), cut to 0, ..., top."""

    def minimum(self, objective: Any, *, steepness: Number, curvature: Number, ridge: Number, cost: Approximate) -> Any:
        """Where a convex objective, tilted by chance, has its minimum, more or less."""

    def sampled_sum(self, people: int, sums: Any, *, sensitivity: Number, cost: Gaussian, rate: float) -> Any:
        """A noisy sum over a secret sample in which each person is with a chance of `rate`."""

    def below(self, bound: int) -> int:
        """A whole number below a public bound, independent of the data."""

    def permutation(self, size: int) -> Integers:
        """A shuffle of range(size), independent of the data."""


class Mechanism(Protocol[T]):
    """A frozen value that knows its cost before it sees data, and has one method."""

    @property
    def guarantee(self) -> Guarantee:
        """For people."""

    @property
    def loss(self) -> Loss:
        """For the ledger; it implies the guarantee."""

    def release(self, rows: Any, rng: Randomness) -> Release[T]:
        """The answer or a refusal, with its error bar and its history."""


class Stated(Protocol):
    """What a mechanism says of itself in its own fields. One that has no field `delta` is pure."""

    @property
    def epsilon(self) -> Number:
        """The cost of the whole answer."""

    @property
    def neighbours(self) -> Neighbours:
        """Which tables are to be hard to tell apart."""

    @property
    def unit(self) -> str:
        """Whose data is protected: a row's, a person's."""


class Promised:
    """The property `guarantee` of a mechanism whose fields are its guarantee: `guarantee = promised` in its class."""

    @overload
    def __get__(self, mechanism: None, kind: type) -> Self: ...

    @overload
    def __get__(self, mechanism: Stated, kind: type) -> Guarantee: ...

    def __get__(self, mechanism: Stated | None, kind: type) -> Self | Guarantee:
        if mechanism is None:
            return self
        delta = getattr(mechanism, "delta", 0.0)
        return Guarantee(mechanism.epsilon, delta, mechanism.neighbours, mechanism.unit)


promised: Final = Promised()


@dataclass(frozen=True, slots=True)
class Wrapped(Generic[T]):
    """A mechanism with a step before or after it, neither of which costs anything.

    `before` changes the rows, each by a fixed function of itself: neighbours stay neighbours. `after` changes the
    release and reads nothing else: post-processing.
    """

    inner: Mechanism[Any]
    before: Callable[[Any], Any] | None = None
    after: Callable[[Release[Any]], Release[T]] | None = None

    @property
    def guarantee(self) -> Guarantee:
        """The inner mechanism's."""
        return self.inner.guarantee

    @property
    def loss(self) -> Loss:
        """The inner mechanism's."""
        return self.inner.loss

    def check(self, size: int | None) -> None:
        """What the inner mechanism refuses by public numbers."""
        check(self.inner, size)

    def check_machine(self) -> None:
        """What the inner mechanism needs of the machine."""
        check_machine(self.inner)

    def release(self, rows: Any, rng: Randomness) -> Release[T]:
        """The inner release on the changed rows, changed."""
        found = self.inner.release(rows if self.before is None else self.before(rows), rng)
        return found if self.after is None else self.after(found)

    def by_group(self, parts: Sequence[Any], rng: Randomness) -> list[Release[T]]:
        """The inner releases on the changed rows of each group, changed."""
        changed = parts if self.before is None else [self.before(rows) for rows in parts]
        found = by_group(self.inner, changed, rng)
        return found if self.after is None else [self.after(release) for release in found]


def by_group(mechanism: Mechanism[Any], parts: Sequence[Any], rng: Randomness) -> list[Release[Any]]:
    """A release for each group, all for the price of one; as the mechanism does it where it learns from all groups."""
    if hasattr(mechanism, "by_group"):
        found: list[Release[Any]] = mechanism.by_group(parts, rng)
        return found
    return [mechanism.release(rows, rng) for rows in parts]


def check(mechanism: Mechanism[Any], size: int | None) -> None:
    """Refused for what a mechanism cannot answer by public numbers alone: so many people, or a number not known."""
    if hasattr(mechanism, "check"):
        mechanism.check(size)


def check_machine(mechanism: Mechanism[Any]) -> None:
    """What a mechanism needs of the machine, a sandbox say, is missed before anything is paid."""
    if hasattr(mechanism, "check_machine"):
        mechanism.check_machine()


def refusal_of(mechanism: Any, size: int | None) -> str | None:
    """What a mechanism's `check` has against this public number of people; None if it is nothing."""
    try:
        mechanism.check(size)
    except Refused as reason:
        return str(reason)
    return None


DEAREST: Final = 10.0  # no larger epsilon is advised
ADVISED: Final = re.compile(r"\bepsilon=(\d+(?:\.\d+)?(?:e[+-]?\d+)?)")
MISCOUNTED: Final = 60  # over epsilon: what a noisy number of people may be off by, 3 standard deviations or more


def what_to_do(
    seen: int, epsilon: Number, needed: float, *others: str, noisy: bool, scales: bool = True, rows: str = "rows"
) -> str:
    """Advice to those with too few rows that works when it is followed: `needed` are enough at this epsilon.

    `noisy` says that they are counted with noise, which has to be allowed for; `scales` that what counts is their
    number times epsilon, so that an epsilon can be named too.

    >>> what_to_do(80, 0.5, 744, "give public bounds=(low, high)", noisy=False)
    'bring 790 rows, ask for epsilon=5, or give public bounds=(low, high)'
    """
    off = MISCOUNTED / float(epsilon) if noisy else 0.0
    bring = _rounded_up(1.05 * needed + off)
    ask = _rounded_up(float(epsilon) * bring / max(seen - off, 1.0))
    listed = [f"bring {bring:g} {rows}" if bring < 1e6 else f"bring {bring:.0f} {rows}"]
    listed += ([f"ask for epsilon={ask:g}"] if ask <= DEAREST else []) if scales else ["ask for a larger epsilon"]
    *first, last = [*listed, *others]
    return f"{', '.join(first)}, or {last}" if first else last


def in_full(advice: str, asked: Guarantee, ran: Guarantee) -> str:
    """Advice in the epsilon of the question, where a mechanism of it ran at a part of that.

    >>> half, whole = (Guarantee(epsilon, 0, Neighbours.REPLACE) for epsilon in (0.5, 1.0))
    >>> in_full("bring 400 rows, or ask for epsilon=0.65", whole, half)
    'bring 400 rows, or ask for epsilon=1.3'
    """
    times = float(exact(asked.epsilon) / exact(ran.epsilon))
    if times == 1:
        return advice
    return ADVISED.sub(lambda found: f"epsilon={_rounded_up(times * float(found[1])):g}", advice)


def _rounded_up(number: float) -> float:
    """To two digits, upwards."""
    step = 10.0 ** (math.floor(math.log10(number)) - 1)
    return float(f"{math.ceil(number / step - 1e-9) * step:.2g}")
