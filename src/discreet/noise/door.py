"""The one door. Whoever wants noise names the sensitivity it relies on and the loss it costs.

Every call becomes a request: a value that knows how to be answered from a source of random integers, what it costs,
and how to object when the same request on a neighbouring table lies further away than its sensitivity claims. An
auditor stands in the door, overrides `draw`, and sees everything.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput
from discreet.noise.additive import Blur
from discreet.noise.choose import Choose, NoisyMax
from discreet.noise.choose_float import ChooseFloat, Staircase
from discreet.noise.integers import BitSource, Integers, compiled
from discreet.noise.sampled_sum import Mask, SampledSum
from discreet.noise.smooth_noise import Distribution, SmoothNoise
from discreet.noise.threshold import FirstAbove, Sift
from discreet.noise.tilted_minimum import Minimum, Objective
from discreet.privacy.exact import Number
from discreet.privacy.loss import Approximate, Choice, Gaussian, Laplace, Loss

LARGE: Final = 100_000  # words from which the compiled sort is worth its import


class Request(Protocol):
    """One draw that was asked for."""

    @property
    def loss(self) -> Loss:
        """What answering costs."""

    def answer(self, source: BitSource) -> Any:
        """The draw."""

    def objection(self, neighbour: Any) -> str | None:
        """Why `neighbour`, the same request on a neighbouring table, breaks the claimed sensitivity; None if not."""


class Door:
    """`Randomness` over a source. The mechanisms' only access to chance."""

    def __init__(self, source: BitSource) -> None:
        self._source = source

    @property
    def secure(self) -> bool:
        """True if nobody can repeat the draws."""
        return self._source.secure

    def draw(self, request: Request) -> Any:
        """Answer one request: every draw passes here."""
        return request.answer(self._source)

    def blur(self, values: Any, *, sensitivity: Number, cost: Laplace | Gaussian) -> Any:
        """Integers plus discrete noise: scale sensitivity / epsilon, or standard deviation sensitivity / mu."""
        return self.draw(Blur(values, sensitivity, cost))

    def choose(self, scores: Any, *, sensitivity: Number, cost: Choice) -> int:
        """An index by the exponential mechanism: weights exp(-epsilon score / (2 sensitivity))."""
        return int(self.draw(Choose(scores, sensitivity, cost)))

    def noisy_max(self, scores: Any, *, sensitivity: Number, cost: Approximate) -> int:
        """The index of the largest noisy score."""
        return int(self.draw(NoisyMax(scores, sensitivity, cost)))

    def first_above(self, scores: Sequence[int], threshold: int, *, sensitivity: Number, cost: Approximate) -> int:
        """The first index whose noisy score reaches a noisy threshold; len(scores) if none does."""
        return int(self.draw(FirstAbove(tuple(scores), threshold, sensitivity, cost)))

    def choose_float(self, staircase: Staircase, *, sensitivity: Number, cost: Choice) -> float:
        """A float64 by the exponential mechanism over all of them."""
        return float(self.draw(ChooseFloat(staircase, sensitivity, cost)))

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
        found: dict[Hashable, int] = self.draw(
            Sift(counts=dict(counts), sensitivity=sensitivity, cost=cost, above=above, delta=delta, bins=bins)
        )
        return found

    def smooth(
        self,
        value: int,
        reach: int,
        *,
        unit: int,
        top: int,
        distribution: Distribution,
        pace: Fraction,
        divisor: Fraction,
        cost: Approximate,
    ) -> int:
        """A whole number plus noise of scale reach / (unit divisor), cut to 0, ..., top."""
        return int(
            self.draw(
                SmoothNoise(
                    value=value,
                    reach=reach,
                    unit=unit,
                    top=top,
                    distribution=distribution,
                    pace=pace,
                    divisor=divisor,
                    cost=cost,
                )
            )
        )

    def minimum(
        self, objective: Objective, *, steepness: Number, curvature: Number, ridge: Number, cost: Approximate
    ) -> Any:
        """Where a tilted convex objective has its minimum, more or less."""
        return self.draw(Minimum(objective=objective, steepness=steepness, curvature=curvature, ridge=ridge, cost=cost))

    def sampled_sum(
        self, people: int, sums: Callable[[Mask], Any], *, sensitivity: Number, cost: Gaussian, rate: float
    ) -> Any:
        """A noisy sum over a secret sample in which each person is with a chance of `rate`."""
        return self.draw(SampledSum(people=people, sums=sums, sensitivity=sensitivity, cost=cost, rate=rate))

    def below(self, bound: int) -> int:
        """A whole number below a public bound, independent of the data: free."""
        return int(self.draw(Uniform(bound)))

    def permutation(self, size: int) -> Integers:
        """A shuffle of range(size), independent of the data: free."""
        shuffled: Integers = self.draw(Shuffle(size))
        return shuffled


class Uniform:
    """A whole number below a public bound; it reads no data."""

    def __init__(self, bound: int) -> None:
        if bound < 1:
            raise BadInput(f"the bound is {bound!r}; it must be 1 or more")
        self.bound = bound
        self.loss: Loss = Approximate(0, 0)

    def answer(self, source: BitSource) -> int:
        """Uniform on 0, ..., bound - 1."""
        return source.below(self.bound)

    def objection(self, neighbour: "Uniform") -> str | None:
        """Only a bound that depends on the data can be wrong here."""
        return None if self.bound == neighbour.bound else "the range of a public draw depends on the data"


class Shuffle:
    """A permutation; it reads nothing but a public size."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.loss: Loss = Approximate(0, 0)

    def answer(self, source: BitSource) -> Integers:
        """Sort by fresh random 64-bit words, again if two of them are equal: every order is equally likely."""
        while True:
            order = _order(source.words(self.size))
            if order is not None:
                return order

    def objection(self, neighbour: "Shuffle") -> str | None:
        """Only a size that depends on the data can be wrong here."""
        return None if self.size == neighbour.size else "the size of a permutation depends on the data"


def _order(words: npt.NDArray[np.uint64]) -> Integers | None:
    """The places of the words from the least to the largest; None if two are equal."""
    if len(words) >= LARGE and compiled():
        from discreet._compiled.column_kernels import order_of

        return order_of(words)
    order = np.argsort(words, kind="stable")
    return order.astype(np.int64) if (np.diff(words[order]) > 0).all() else None
