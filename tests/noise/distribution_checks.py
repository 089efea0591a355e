"""Exact distributions and the tests against them: one set for every engine of the noise layer.

`assert_distribution` is the bar of the noise: the distribution that was asked for passes, a scale wrong by 3% does not.
`enumerate_distribution` follows every path of a sampler, so that its distribution is known without drawing. `Script` is
a source whose uniform real number is given, which turns the exact sampler `lazy.pick` into a function that can be
searched.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from fractions import Fraction
from typing import Any, Final, Protocol

import mpmath
import numpy as np
import numpy.typing as npt
from scipy.stats import chi2

from discreet.noise.distributions import Integers

CHANCE: Final = 1e-9  # of a false alarm in each test of the noise that is truly random; there are fewer than 100
DIGITS: Final = 60


class Distribution(Protocol):
    """A distribution on the integers that can be made wider."""

    def tail(self, k: int) -> float:
        """P(Z >= k)."""

    def wider(self, factor: float) -> "Distribution":
        """The same distribution with a scale wrong by `factor`."""


class LaplaceDistribution:
    """P(k) ~ exp(-|k| / scale)."""

    def __init__(self, scale: Fraction | float) -> None:
        self.scale = scale
        self.a = float(mpmath.exp(-1 / mpmath.mpf(float(scale))))

    def tail(self, k: int) -> float:
        if k > 0:
            return float(np.exp(-k / float(self.scale))) / (1 + self.a)
        return 1 - self.tail(1 - k)

    def at(self, k: int) -> float:
        return float((1 - self.a) / (1 + self.a) * np.exp(-abs(k) / float(self.scale)))

    def wider(self, factor: float) -> "LaplaceDistribution":
        return LaplaceDistribution(float(self.scale) * factor)


class GaussianDistribution:
    """P(k) ~ exp(-k^2 / 2 sigma^2): summed where sigma is small, else rounded normal, which is within 1e-6 of it."""

    def __init__(self, sigma: float) -> None:
        self.sigma = sigma
        self.dense = sigma < 200
        if self.dense:
            self.reach = int(12 * sigma) + 12
            mass = np.exp(-(np.arange(-self.reach, self.reach + 1) ** 2) / (2 * sigma**2))
            self.tails = np.cumsum(mass[::-1])[::-1] / mass.sum()

    def tail(self, k: int) -> float:
        if self.dense:
            return float(self.tails[k + self.reach]) if abs(k) <= self.reach else float(k < 0)
        return float(mpmath.ncdf(-(k - 0.5) / self.sigma))

    def wider(self, factor: float) -> "GaussianDistribution":
        return GaussianDistribution(self.sigma * factor)


def chi_square(observed: Sequence[int] | npt.NDArray[Any], expected: Sequence[float] | npt.NDArray[Any]) -> float:
    """The p-value of counts against probabilities; cells that expect fewer than 5 are put together."""
    counts, chances = np.asarray(observed, dtype=float), np.asarray(expected, dtype=float)
    rare = chances * counts.sum() < 5
    if rare.any():
        counts = np.append(counts[~rare], counts[rare].sum())
        chances = np.append(chances[~rare], chances[rare].sum())
    assert counts[chances == 0].sum() == 0, "an impossible outcome was drawn"
    counts, chances = counts[chances > 0], chances[chances > 0]
    wanted = chances / chances.sum() * counts.sum()
    return float(chi2.sf(((counts - wanted) ** 2 / wanted).sum(), len(counts) - 1)) if len(counts) > 1 else 1.0


def p_value(sample: Integers, distribution: Distribution, cells: int = 16) -> float:
    """Chi-square of a sample against a distribution, on cells of about equal mass under that distribution."""
    edges: list[int] = []
    for i in range(1, cells):
        low, high = -(2**62), 2**62  # the least k with P(Z >= k) <= 1 - i / cells
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if distribution.tail(middle) <= 1 - i / cells else (middle, high)
        edges.append(high)
    edges = sorted(set(edges))
    tails = [1.0, *(distribution.tail(edge) for edge in edges), 0.0]
    counts = np.bincount(np.searchsorted(edges, sample, side="right"), minlength=len(edges) + 1)
    return chi_square(counts, -np.diff(tails))


def assert_distribution(
    sample: Integers, distribution: Distribution, wrong: float = 0.03, chance: float = CHANCE
) -> None:
    """The distribution fits, and it would not fit if its scale were off by 3% either way."""
    assert sample.dtype == np.int64
    assert p_value(sample, distribution) > chance
    for factor in (1 - wrong, 1 + wrong):
        assert p_value(sample, distribution.wider(factor)) < chance


Branch = Callable[[Sequence[float]], int]


class _More(Exception):
    """The script is too short: the next draw has these outcomes."""

    def __init__(self, chances: Sequence[float]) -> None:
        self.chances = chances


def enumerate_distribution(
    sampler: Callable[[Branch], Hashable], prune: float = 1e-6
) -> tuple[dict[Hashable, float], float]:
    """The distribution of a sampler, path by path, and the mass of the paths that were not followed.

    The sampler is given a function that draws an index by its probability, and draws by nothing else.
    """
    distribution: dict[Hashable, float] = defaultdict(float)
    lost = 0.0
    paths: list[tuple[tuple[int, ...], float]] = [((), 1.0)]
    while paths:
        script, mass = paths.pop()
        if mass < prune:
            lost += mass
            continue
        ahead = iter(script)

        def branch(chances: Sequence[float], ahead: Iterator[int] = ahead) -> int:
            for choice in ahead:
                return choice
            raise _More(chances)

        try:
            distribution[sampler(branch)] += mass
        except _More as more:
            paths += [((*script, i), mass * chance) for i, chance in enumerate(more.chances) if chance]
    return distribution, lost


def uniform(branch: Branch) -> Callable[[int], int]:
    """`below` by equally likely branches."""
    return lambda bound: branch([1 / bound] * bound)


class Script:
    """A source whose uniform real U is given, bit by bit; later draws below small bounds are given too."""

    secure: Final = False

    def __init__(self, uniform: Fraction, then: Sequence[int] = ()) -> None:
        self.uniform, self.drawn, self.calls, self.then = uniform, 0, 0, list(then)

    def below(self, bound: int) -> int:
        bits = bound.bit_length() - 1
        if self.then and (bound < 2**64 or bound != 1 << bits):
            return self.then.pop(0)
        assert bound == 1 << bits
        self.calls += 1
        self.drawn += bits
        return int(self.uniform * 2**self.drawn) & (bound - 1)

    def words(self, count: int) -> npt.NDArray[np.uint64]:
        raise NotImplementedError

    def laplace(self, size: int, scale: Fraction) -> Integers:
        raise NotImplementedError

    def gaussian(self, size: int, sigma: int) -> Integers:
        raise NotImplementedError


class Constant(Script):
    """A source whose noise is the same number again and again."""

    def __init__(self, noise: int) -> None:
        super().__init__(Fraction(1, 3))
        self.noise = noise

    def laplace(self, size: int, scale: Fraction) -> Integers:
        return np.full(size, self.noise, dtype=np.int64)

    def gaussian(self, size: int, sigma: int) -> Integers:
        return np.full(size, self.noise, dtype=np.int64)


def hockey_stick(mine: npt.NDArray[Any], other: npt.NDArray[Any], epsilon: float) -> float:
    """sup over events of P - e^epsilon P'."""
    return float(np.maximum(mine - np.exp(epsilon) * other, 0).sum())


def log_ratios(mine: npt.NDArray[Any], other: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """log P / P', where both can be."""
    alive = (mine > 0) | (other > 0)
    return np.asarray(np.log(mine[alive]) - np.log(other[alive]), dtype=np.float64)
