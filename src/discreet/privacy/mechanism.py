"""The shape of a mechanism, and of the one door all randomness comes through."""

from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
import numpy.typing as npt

from discreet.errors import Refused
from discreet.privacy.exact import Number
from discreet.privacy.guarantee import Guarantee
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
        law: Any,
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
    """A frozen value that knows its cost before it sees data, and has one method.

    One that refuses by public numbers alone, too few rows for its epsilon say, has a second one, which is asked before
    anything is charged or read, and by `release` too:

        def check(self, size: int | None) -> None: ...

    It raises `Refused` with the sentence of the refusal, or `BadInput`. `size` is the number of rows where that is
    public, else None. It never sees data. Call the function `check` of this module, which knows who has one.
    """

    @property
    def guarantee(self) -> Guarantee:
        """For people."""

    @property
    def loss(self) -> Loss:
        """For the ledger; it implies the guarantee."""

    def release(self, rows: Any, rng: Randomness) -> Release[T]:
        """The answer or a refusal, with its error bar and its history."""


@runtime_checkable
class Checked(Protocol):
    """A mechanism that refuses by public numbers."""

    def check(self, size: int | None) -> None:
        """Raise `Refused` where there can be no answer for a public number of rows; None if that is private."""


def check(mechanism: Mechanism[Any], size: int | None) -> None:
    """Raise `Refused` where public numbers alone say that a mechanism has no answer; most always have one."""
    if isinstance(mechanism, Checked):
        mechanism.check(size)


def refusal_of(mechanism: Checked, size: int | None) -> str | None:
    """Why a mechanism has no answer for a number of rows that is public or was released; None if it has."""
    try:
        mechanism.check(size)
    except Refused as refusal:
        return str(refusal)
    return None
