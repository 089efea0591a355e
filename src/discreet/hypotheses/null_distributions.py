"""The distribution of a test's statistic when its null hypothesis is true, privacy noise included.

Claims
    [null_distributions.1] `NoisyDistribution.upper(t)` is P(S + N >= t) for a whole-numbered statistic S with a known
          characteristic function and the discrete Laplace noise N that the door draws: within 10^-12, on the side of
          caution. A p-value that is P(S + N >= t) at the released t is super-uniform, whatever ties the distribution
          has.
    [null_distributions.2] `simulated_p_value` is super-uniform: the released value and B values simulated from its own
          null distribution are exchangeable, so that the rank of the first among them is uniform, ties counted against
          the test.
    [null_distributions.3] `worst_p_value` is super-uniform where the number of people n is private: the largest
          simulated p-value of all n in a band that misses n with a chance of at most MISS, and MISS on top.
    [null_distributions.4] `over_variances` is the tail of a statistic whose variance was seen with noise, such that the
          level of a test from it is off by no more than a term of the fourth order in noise over variance.
Why
    [null_distributions.1] A distribution on whole numbers within an interval shorter than M is given back by its
    characteristic function at the M angles 2 pi k / M; summing the inverse over a window is the sum below. Outside its
    interval S + N has a mass below 10^-15. Angles are reduced modulo M as whole numbers, so that none is rounded; the
    sum stops where both factors leave nothing. Each p-value gets 10^-12 on top. P(p <= a) <= a because t -> P(T >= t)
    is a tail function of T.
    [null_distributions.2] P(rank <= k) <= k / (B + 1). The seed comes through the door, afresh for every release.
    [null_distributions.3] The p-value simulated at the true n is super-uniform by [null_distributions.2]; where n is in
    the band the largest is no smaller. So P(p <= a) <= MISS + P(p_n <= a - MISS) <= a, however band and statistic
    depend on each other (Berger and Boos 1994). The band is of n + N, N the sum of K noises: by Chernoff's bound
    P(|N| >= r) <= 2 e^(-s r) M(s)^K for every s, M the generating function of one noise's moments. Simulated tables for
    n and n + 1 may share what they are made of: what counts is the distribution for each n.
    [null_distributions.4] Let w = v + h L be what was seen of a variance v, L of variance 2 and even, and G(t /
    sqrt(v)) the tail. A test at the critical value z sqrt(w) has the level E G(z sqrt(w / v)), which is G(z) and (G''
    z^2 - G' z) h^2 / 4 v^2 more. The mean of G(t / sqrt(w - h M)) over an independent copy M is higher than G(t /
    sqrt(w)) by (G'' z^2 + 3 G' z) h^2 / 4 v^2, and 2 h^2 / w on top of the variance add what is missing, -G' z h^2 /
    v^2. So the second order cancels; odd orders vanish. M is taken at 0 and +-sqrt(12), with the weights 5/6 and 1/12:
    Laplace's moments up to the fifth.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput, DiscreetError
from discreet.noise import distributions as simulated
from discreet.privacy.exact import bisect, least_whole
from discreet.privacy.mechanism import Randomness
from discreet.stages.clip import Moment
from discreet.stages.normal_laplace import student_factor, tail
from discreet.statistics.proportion import Alternative, one_or_two_sided

FAR: Final = 36  # e^-36 is 2e-16
NODES: Final = ((0.0, 5 / 6), (math.sqrt(12), 1 / 12), (-math.sqrt(12), 1 / 12))  # [null_distributions.4]
ROUNDING: Final = 1e-12
FIRST: Final = 64  # angles at first; as many again as before while they matter
CELLS: Final = 2**21  # of a table that is held at once
DRAWS: Final = 9_999
LEAST: Final = 10  # scales of the noise that a statistic must range over
MISS: Final = 1e-4  # the chance that a band of sizes misses the private number of people, a part of each p-value
APART: Final = 1e-3  # scales that are closer than this are taken apart, upwards
LIMIT: Final = "the p-value holds in the limit of many people: it inverts the interval of a private mean"
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Wave = Callable[[Integers, int], npt.NDArray[Any]]
Spectrum = tuple[int, list[tuple[Integers, npt.NDArray[Any]]]]


@dataclass(frozen=True, slots=True)
class NoisyDistribution:
    """S + N: `wave(k, M)` is E exp(2 pi i k (S - centre) / M); S is within `reach` of the centre, but for 10^-16."""

    wave: Wave
    doubled_centre: int
    reach: int
    scale: Fraction

    def upper(self, t: int, spectrum: "Spectrum | None" = None) -> float:
        """P(S + N >= t). [null_distributions.1]"""
        last = (self.doubled_centre + 2 * self._radius) // 2  # beyond it there is nothing
        window = last - t + 1
        if window <= 0:
            return ROUNDING
        if 2 * t <= self.doubled_centre - 2 * self._radius:
            return 1.0
        period, parts = spectrum or self.spectrum()
        shift = (t + last - self.doubled_centre) % (2 * period)  # twice the way from the centre to the window's middle
        total = window / period
        for angles, height in parts:
            turn = np.pi * (angles * shift % (2 * period)) / period
            inside = np.sin(np.pi * (angles * window % (2 * period)) / period) / np.sin(np.pi * angles / period)
            total += 2 / period * float(np.sum((height * np.exp(-1j * turn)).real * inside))
        return min(1.0, max(total, 0.0) + ROUNDING)

    def lower(self, t: int, spectrum: "Spectrum | None" = None) -> float:
        """P(S + N <= t). [null_distributions.1]"""
        return min(1.0, 1 - self.upper(t + 1, spectrum) + 2 * ROUNDING)

    def p_value(self, t: int, alternative: Alternative) -> float:
        """Large values speak for "greater". [null_distributions.1]"""
        spectrum = self.spectrum()
        return one_or_two_sided(self.lower(t, spectrum), self.upper(t, spectrum), alternative)

    def critical(self, level: float) -> int:
        """The least t with P(S + N >= t) <= level."""
        low, spectrum = self.doubled_centre // 2 - self._radius - 1, self.spectrum()
        return least_whole(lambda t: self.upper(t, spectrum) <= level, low - 1, self.doubled_centre - low + 2)

    def spectrum(self) -> "Spectrum":
        """Found once for the same numbers: whether a test has power is asked before every p-value."""
        return _spectrum(self)

    def _found(self) -> "Spectrum":
        """The period, and the characteristic function of S + N at those angles where it is not nothing.
        [null_distributions.1]"""
        period = prime_above(2 * self._radius + 2)
        parts, start, size, stop = [], 1, FIRST, (period + 1) // 2
        while start < stop:
            angles = np.arange(start, min(start + size, stop), dtype=np.int64)
            parts.append((angles, self.wave(angles, period) * self._noise(angles, period)))
            start, size = start + len(angles), min(2 * size, CELLS)
            if np.abs(parts[-1][1]).max() < 1e-17:
                break
        return period, parts

    @property
    def _radius(self) -> int:
        return self.reach + math.ceil(FAR * self.scale) + 1

    def _noise(self, angles: Integers, period: int) -> Floats:
        keep = -math.expm1(-float(1 / self.scale))  # 1 - a
        wide = 4 * (1 - keep) * np.sin(np.pi * angles / period) ** 2
        found: Floats = keep * keep / (keep * keep + wide)
        return found


_spectrum = lru_cache(maxsize=8)(NoisyDistribution._found)  # noqa: SLF001  of public or noisy numbers


def noise_beyond(t: Any, scale: Fraction) -> Floats:
    """P(N >= t) of discrete Laplace noise, for whole t."""
    whole = np.asarray(t, dtype=np.float64)
    rate = float(1 / scale)
    fall = np.exp(-rate * np.abs(np.where(whole > 0, whole, 1 - whole))) / (1 + math.exp(-rate))
    found: Floats = np.where(whole > 0, fall, 1 - fall)
    return found


def wave_of_sums(values: Integers, chances: Floats, times: int) -> Wave:
    """That of a sum of `times` independent whole numbers with these values and chances."""

    def wave(angles: Integers, period: int) -> npt.NDArray[Any]:
        found = np.empty(len(angles), dtype=np.complex128)
        step = max(1, CELLS // len(values))
        for start in range(0, len(angles), step):
            part = angles[start : start + step, None] * values[None, :] % period
            found[start : start + step] = (np.exp(2j * np.pi * part / period) @ chances) ** times
        return found

    return wave


def by_parts(factor: Callable[[Integers, Integers, int], Floats], count: int) -> Wave:
    """A product of factors number 1 to `count`, in tables that fit into memory."""

    def wave(angles: Integers, period: int) -> Floats:
        found = np.ones(len(angles))
        rows = max(1, CELLS // count)
        step = max(1, CELLS // rows)
        for start in range(0, len(angles), rows):
            part = angles[start : start + rows, None]
            for first in range(1, count + 1, step):
                numbers = np.arange(first, min(first + step, count + 1), dtype=np.int64)[None, :]
                found[start : start + rows] *= factor(part, numbers, period).prod(axis=1)
        return found

    return wave


def simulated_p_value(
    observed: float, draw: Callable[[Any, int], Floats], rng: Randomness, draws: int = DRAWS
) -> float:
    """(1 + how many simulated values reach the observed one) / (1 + draws). [null_distributions.2]"""
    generator = simulated.stream(rng.below(2**63))  # [null_distributions.2]
    least = observed - abs(observed) * 1e-12  # ties count against the test, below 0 too
    reached = int(np.count_nonzero(draw(generator, draws) >= least))
    return (1 + reached) / (1 + draws)


def worst_p_value(observed: float, values: Iterator[Floats], draws: int) -> float:
    """The largest p-value of all sizes in a band, from the simulated values of each, and MISS.
    [null_distributions.3]"""
    least = observed - abs(observed) * 1e-9  # ties count against the test; sums of steps are rounded
    reached = max(int(np.count_nonzero(one >= least)) for one in values)
    return min(1.0, (1 + reached) / (1 + draws) + MISS)


def size_band(noisy: int, noises: int, scale: Fraction) -> range:
    """Whole numbers around a noisy sum of `noises` counts, which miss the true one with a chance of at most MISS.
    [null_distributions.3]"""
    keep = math.exp(-float(1 / scale))
    steps = float(1 / scale) * np.linspace(0.01, 0.99, 99)
    moment = (1 - keep) ** 2 / ((1 - keep * np.exp(steps)) * (1 - keep * np.exp(-steps)))
    radius = math.ceil(float(np.min((math.log(2 / MISS) + noises * np.log(moment)) / steps)))
    return range(max(0, noisy - radius), max(0, noisy + radius) + 1)


def check_draws(draws: object) -> None:
    """A public number of simulated values."""
    if not isinstance(draws, int) or isinstance(draws, bool) or draws < 1:
        raise BadInput(f"draws is {draws!r}; give a whole number of simulated values, 9999 say")


def prime_above(number: int) -> int:
    """The least odd prime that is not below `number`.

    >>> prime_above(90), prime_above(2)
    (97, 3)
    """
    candidate = max(3, number) | 1
    while True:
        divisors = np.arange(3, math.isqrt(candidate) + 1, 2)
        if (candidate % divisors).all():
            return candidate
        candidate += 2


def check_powerful(
    distribution: NoisyDistribution, smallest: int, largest: int, words: str, error: type[DiscreetError] = BadInput
) -> None:
    """Refuse, by public numbers, a test whose statistic ranges over fewer than 10 scales of the noise."""
    spans = (largest - smallest) / float(distribution.scale)
    if spans < LEAST:
        raise error(
            f"{words}: the statistic ranges over {spans:.3g} scales of the noise and {LEAST} are needed; bring "
            f"{1.05 * LEAST / spans:.3g} times as many people, or ask for an epsilon so much larger"
        )


def tail_of_two(t: float, normal: float, one: float, other: float) -> float:
    """P(N + L + M > t) with two Laplace noises, whose sum has the density (b^2 f_b - c^2 f_c) / (b^2 - c^2).
    [mean_tests.3]"""
    small, large = sorted((one, other))
    if small <= normal / 100:  # as good as normal, up to 10^-7; the difference below would blow that up
        return tail(t, math.hypot(normal, math.sqrt(2) * small), large)
    large = max(large, small * (1 + APART))
    weight = 1 / (1 - (small / large) ** 2)
    return weight * tail(t, normal, large) - (weight - 1) * tail(t, normal, small)


def over_variances(variance: float, noise: float, chance: Callable[[float, float], float]) -> Callable[[float], float]:
    """`chance(t, standard deviation)` where the variance was seen with Laplace noise of this scale.
    [null_distributions.4]"""
    seen = max(variance, noise)
    more = seen + 2 * noise**2 / seen if noise else seen
    spreads = [(math.sqrt(max(more - noise * far, 0.0)), weight) for far, weight in NODES]
    return lambda t: sum(weight * chance(t, spread) for spread, weight in spreads)


def inverted(apart: float, chance: Callable[[float], float], freedom: float, alternative: Alternative) -> float:
    """The least level at which an interval of this distribution, widened as Student's, leaves 0 out. [mean_tests.3]

    The interval at confidence 1 - p reaches t(p) F(p), with chance(t(p)) = p / 2 and F Student's factor. Both fall with
    p, so that the p with t(p) F(p) = |apart| is found by halving.
    """

    def leaves_out(log: float) -> bool:
        p = math.exp(log)
        inside = abs(apart) / student_factor(freedom, 1 - p) if p < 1 else abs(apart)
        return 2 * chance(inside) <= p

    two_sided = min(1.0, math.exp(bisect(leaves_out, math.log(1e-12), 0.0, steps=45)[1]))
    towards = (apart > 0) == (alternative == "greater")
    return two_sided if alternative == "two-sided" else two_sided / 2 if towards else 1 - two_sided / 2


@dataclass(frozen=True, slots=True)
class MeanError:
    """What a noisy mean, or a difference of two, is off by: a normal part with this variance, which was seen with noise
    of the scale `unsure`, two Laplace noises, and a `further` standard error."""

    variance: float
    unsure: float
    noises: tuple[float, float]
    freedom: float
    further: float = 0.0

    def chance(self, t: float) -> float:
        """P(error > t). [null_distributions.4]"""
        return over_variances(self.variance, self.unsure, self._beyond)(t)

    def _beyond(self, t: float, spread: float) -> float:
        return tail_of_two(t, math.hypot(spread, self.further), *self.noises)


def error_of_difference(means: Sequence[Moment], squares: Sequence[Moment], further: float = 0.0) -> MeanError:
    """That of the difference of two noisy means, in units of the radius. [mean_tests.3]"""
    others = [max(1.0, mean.size - 1) for mean in means]
    rough = [square.mean - mean.mean**2 for mean, square in zip(means, squares, strict=True)]
    unsure = math.hypot(*(square.noise / count for square, count in zip(squares, others, strict=True)))
    variance = sum(one / count for one, count in zip(rough, others, strict=True))
    parts = [max(one, square.noise) / count for one, square, count in zip(rough, squares, others, strict=True)]
    freedom = sum(parts) ** 2 / sum(part**2 / count for part, count in zip(parts, others, strict=True))
    return MeanError(variance, unsure, (means[0].noise, means[1].noise), freedom, further)


def p_value_of_difference(
    means: Sequence[Moment], squares: Sequence[Moment], alternative: Alternative, further: float = 0.0
) -> float:
    """Of the difference of two noisy means, in units of the radius, with a `further` standard error. [mean_tests.3]"""
    error = error_of_difference(means, squares, further)
    return inverted(means[0].mean - means[1].mean, error.chance, error.freedom, alternative)
