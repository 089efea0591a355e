"""Repeatable noise of the same exact laws, for tests and teaching.

Whoever knows the seed can subtract the noise: a release drawn from it says that it must not be published.
"""

from fractions import Fraction
from typing import Final

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput
from discreet.noise import cks
from discreet.noise.door import Door
from discreet.noise.source import Integers, bulk_gaussian, bulk_laplace


class SeededSource:
    """Exact laws from a seeded stream of bits."""

    secure: Final = False

    def __init__(self, seed: int) -> None:
        self._generator = np.random.Generator(np.random.Philox(seed))

    def below(self, bound: int) -> int:
        """Uniform on 0, ..., bound - 1, by rejection."""
        bits = (bound - 1).bit_length()
        while True:
            candidate = int.from_bytes(self._generator.bytes((bits + 7) // 8), "little") & ((1 << bits) - 1)
            if candidate < bound:
                return candidate

    def words(self, count: int) -> npt.NDArray[np.uint64]:
        """The next words of the stream."""
        return np.frombuffer(self._generator.bytes(8 * count), dtype=np.uint64)

    def laplace(self, size: int, scale: Fraction) -> Integers:
        """Discrete Laplace noise."""
        bulk = bulk_laplace(size, scale, self.words)
        if bulk is not None:
            return bulk
        return np.array([cks.laplace(scale, self.below) for _ in range(size)], dtype=np.int64)

    def gaussian(self, size: int, sigma: int) -> Integers:
        """Discrete Gaussian noise."""
        bulk = bulk_gaussian(size, sigma, self.words)
        if bulk is not None:
            return bulk
        return np.array([cks.gaussian(sigma, self.below) for _ in range(size)], dtype=np.int64)


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
