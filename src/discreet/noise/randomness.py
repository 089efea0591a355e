"""Secret noise: the operating system's entropy, exact distributions. The default everywhere.

OpenDP draws a few values, the compiled sampler of `bulk` many. Nothing random is kept between calls, so that a fork
never repeats its parent.

Repeatable noise of the same exact distributions, for tests and teaching.

Whoever knows the seed can subtract the noise: a release drawn from it says that it must not be published.
"""

import ssl
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput
from discreet.noise import plain_sampler as cks
from discreet.noise.door import Door
from discreet.noise.integers import Integers, bulk_gaussian, bulk_laplace


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


class SeededSource:
    """Exact distributions from a seeded stream of bits."""

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
