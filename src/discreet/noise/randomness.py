"""The one door to chance, and the two sources behind it: secret noise, the default everywhere, and repeatable noise.

Whoever wants noise names the sensitivity it relies on and the loss it costs. Every call becomes a request: a value that
knows how to be answered from a source of random integers, what it costs, and how to object when the same request on a
neighbouring table lies further away than its sensitivity claims. An auditor stands in the door, overrides `draw`, and
sees everything.

Secret noise is made of the operating system's entropy: OpenDP draws a few values, the compiled sampler of `bulk` many.
Nothing random is kept between calls, so that a fork never repeats its parent. Repeatable noise has the same exact
distributions, for tests and teaching. Whoever knows the seed can subtract it: a release drawn from it says that it must
not be published.
"""

import ssl
from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from discreet._compiled.warmth import warm
from discreet.errors import BadInput
from discreet.noise.additive import Blur, Mask, SampledSum
from discreet.noise.choose import Choose, NoisyMax
from discreet.noise.choose_float import ChooseFloat, Staircase
from discreet.noise.distributions import (
    BitSource,
    Integers,
    bulk_gaussian,
    bulk_laplace,
    compiled,
    plain_gaussian,
    plain_laplace,
)
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
    if len(words) >= LARGE and warm(len(words), "column_kernels") and compiled():
        from discreet._compiled.column_kernels import order_of

        return order_of(words)
    order = np.argsort(words, kind="stable")
    return order.astype(np.int64) if (np.diff(words[order]) > 0).all() else None


class SystemSource:
    """The operating system's entropy, through OpenSSL and OpenDP."""

    secure: Final = True

    def below(self, bound: int) -> int:
        """Uniform on 0, ..., bound - 1."""
        import secrets

        return secrets.randbelow(bound)

    def words(self, count: int) -> npt.NDArray[np.uint64]:
        """Fresh random words."""
        return np.frombuffer(ssl.RAND_bytes(8 * count), dtype=np.uint64)

    def laplace(self, size: int, scale: Fraction) -> Integers:
        """Discrete Laplace noise."""
        bulk = bulk_laplace(size, scale, self.words)
        return _by_opendp("laplace", size, float(scale)) if bulk is None else bulk

    def gaussian(self, size: int, sigma: int) -> Integers:
        """Discrete Gaussian noise."""
        bulk = bulk_gaussian(size, sigma, self.words)
        return _by_opendp("gaussian", size, float(sigma)) if bulk is None else bulk


class Secure(Door):
    """The door to secret noise."""

    def __init__(self) -> None:
        super().__init__(SystemSource())

    def __repr__(self) -> str:
        return "Secure()"


def _by_opendp(distribution: str, size: int, scale: float) -> Integers:
    """OpenDP's noise on zeros. A scale of 0 or NaN, which it would accept, cannot come from `drawn_scale`."""
    if not 0 < scale < 2**53:
        raise AssertionError("a noise scale out of range reached the primitive")
    if size == 0:
        return np.empty(0, dtype=np.int64)
    return np.asarray(_primitive(distribution, scale)(np.zeros(size, dtype=np.int64)), dtype=np.int64)


@lru_cache(maxsize=64)
def _primitive(distribution: str, scale: float) -> Any:
    """The measurement (no draw is ever cached)."""
    from opendp.domains import atom_domain, vector_domain
    from opendp.measurements import make_gaussian, make_laplace
    from opendp.metrics import l1_distance, l2_distance
    from opendp.mod import enable_features

    enable_features("contrib")
    domain = vector_domain(atom_domain(T="i64"))
    if distribution == "laplace":
        return make_laplace(domain, l1_distance(T="i64"), scale=scale)
    return make_gaussian(domain, l2_distance(T="f64"), scale=scale)


FINE: Final = 64  # steps in a scale from which rounded noise is as good as discrete noise for a forecast
AHEAD: Final = 4096  # bytes of a seeded stream that are fetched at once


class SeededSource:
    """Exact distributions from a seeded stream of bits."""

    secure: Final = False

    def __init__(self, seed: int) -> None:
        self._generator = np.random.Generator(np.random.Philox(seed))
        self._ahead, self._at = b"", 0

    def below(self, bound: int) -> int:
        """Uniform on 0, ..., bound - 1, by rejection."""
        bits = (bound - 1).bit_length()
        count, mask = (bits + 7) // 8, (1 << bits) - 1
        while True:
            candidate = int.from_bytes(self._bytes(count), "little") & mask
            if candidate < bound:
                return candidate

    def words(self, count: int) -> npt.NDArray[np.uint64]:
        """The next words of the stream."""
        return np.frombuffer(self._bytes(8 * count), dtype=np.uint64)

    def _bytes(self, count: int) -> bytes:
        """The next bytes, as `Generator.bytes` gives them: of 4 or more at a time, fetched ahead, for it is slow."""
        start = self._at
        end = start + (4 if count <= 4 else -(-count // 4) * 4)
        if end > len(self._ahead):
            rest = self._ahead[start:]
            self._ahead = rest + self._generator.bytes(max(AHEAD, end - start - len(rest)))
            start, end = 0, end - start
        self._at = end
        return self._ahead[start : start + count]

    def laplace(self, size: int, scale: Fraction) -> Integers:
        """Discrete Laplace noise."""
        bulk = bulk_laplace(size, scale, self.words)
        if bulk is not None:
            return bulk
        return np.array([plain_laplace(scale, self.below) for _ in range(size)], dtype=np.int64)

    def gaussian(self, size: int, sigma: int) -> Integers:
        """Discrete Gaussian noise."""
        bulk = bulk_gaussian(size, sigma, self.words)
        if bulk is not None:
            return bulk
        return np.array([plain_gaussian(sigma, self.below) for _ in range(size)], dtype=np.int64)


class Seeded(Door):
    """The door to repeatable noise; its releases are marked as not for publication.

    >>> Seeded(1).secure
    False
    """

    def __init__(self, seed: int) -> None:
        if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
            raise BadInput(f"the seed is {seed!r}; give a whole number, 0 or more")
        self._seed = seed
        super().__init__(SeededSource(seed))

    def __repr__(self) -> str:
        return f"Seeded({self._seed})"


class MadeUpSource(SeededSource):
    """Noise for made-up rows: wide noise is numpy's, rounded. It protects nobody, and is quick."""

    def laplace(self, size: int, scale: Fraction) -> Integers:
        """Discrete Laplace noise, more or less."""
        if scale < FINE:
            return super().laplace(size, scale)
        return np.rint(self._generator.laplace(0.0, float(scale), size)).astype(np.int64)

    def gaussian(self, size: int, sigma: int) -> Integers:
        """Discrete Gaussian noise, more or less."""
        if sigma < FINE:
            return super().gaussian(size, sigma)
        return np.rint(self._generator.normal(0.0, float(sigma), size)).astype(np.int64)


class MadeUp(Door):
    """The door for forecasts on made-up rows. Like a seeded one it is marked as not for publication.

    >>> MadeUp(1).secure
    False
    """

    def __init__(self, seed: int) -> None:
        super().__init__(MadeUpSource(seed))
