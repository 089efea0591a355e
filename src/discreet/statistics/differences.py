"""Is a mean what it is said to be, and are two means equal? By inverting the intervals of private means.

Releases
    The private mean of one sample, or of each of two, and the p-value computed from it.
Promise
    [HM1] One sample: that of the mean used, statistics/mean.py or statistics/gaussian.py: pure epsilon.
    [HM2] Two samples, their sizes public: pure epsilon, each mean with the whole of it.
    [HM3] The p-value is the least level at which the mean's interval leaves the null hypothesis out: super-uniform as
          far as that interval holds its confidence, which is in the limit of many people. The note says so. For data
          of any shape the interval, and so the test, is about the mean of winsorised values.
Why
    [HM1], [HM3] Post-processing; an interval and a test are one another's inverse.
    [HM2] Replacing a person changes one of two disjoint samples, so that all noise but that of one mean is the same.
    [HM3] The difference of two means has the normal parts of both, added in squares, and two Laplace noises; Student's
    factor has the degrees of freedom of Welch and Satterthwaite.
Needs
    As many people as the mean needs; otherwise a refusal.
Accuracy
    That of the means: docs/measured-means.md.
Source
    Welch 1947; for tests from private intervals Karwa and Vadhan 2018.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from discreet.errors import BadInput
from discreet.promise.exact import Number, is_number, show
from discreet.promise.guarantee import Guarantee, check_budget
from discreet.promise.loss import Approximate, Loss
from discreet.promise.mechanism import Mechanism, Randomness
from discreet.promise.neighbours import Neighbours
from discreet.promise.provenance import Provenance
from discreet.promise.release import Release
from discreet.rows import column, public_size
from discreet.stable.declared import agree, check_bounds, check_size
from discreet.statistics.convolved import ConvolvedSpread, student_factor, tail
from discreet.statistics.groups import all_sizes, check_sizes
from discreet.statistics.hypothesis import Tested, check_replace
from discreet.statistics.mean import plan_mean
from discreet.statistics.proportion import Alternative, check_alternative

Model = Literal["gaussian"] | None
APART: Final = 1e-3  # scales that are closer than this are taken apart, upwards
LIMIT: Final = "the p-value holds in the limit of many people: it inverts the interval of a private mean"


@dataclass(frozen=True, slots=True)
class MeanTest:
    """Is the population's mean `null`? With the public number of rows, `size`, the loss lists every draw.

    >>> from discreet.noise.seeded import Seeded
    >>> MeanTest(30.0, 2.0).release([float(k % 80) for k in range(4000)], Seeded(1)).value.decide(0.001)
    True
    """

    null: float
    epsilon: Number
    alternative: Alternative = "two-sided"
    model: Model = None
    bounds: tuple[float, float] | None = None
    neighbours: Neighbours = Neighbours.REPLACE
    unit: str = "row"
    size: int | None = None

    def __post_init__(self) -> None:
        check_budget(self.epsilon, 0, None)
        check_size(self.size, self.neighbours)
        check_alternative(self.alternative)
        check_bounds(self.bounds)
        if not is_number(self.null):
            raise BadInput(f"the mean to test is {self.null!r}; give a finite number")
        if self.model not in (None, "gaussian"):
            raise BadInput(f"model is {self.model!r}; give 'gaussian', or None for data of any shape")

    @property
    def guarantee(self) -> Guarantee:
        """Pure epsilon."""
        return Guarantee(self.epsilon, 0.0, self.neighbours, self.unit)

    @property
    def loss(self) -> Loss:
        """That of the mean. [HM1]"""
        return _planned(self, self.size).loss

    def release(self, rows: Any, rng: Randomness) -> Release[Tested]:
        """The mean less the null hypothesis, and the p-value; or a refusal."""
        values = column(rows)
        size = agree(public_size(values, self.neighbours), self.size)
        found = _planned(self, size).release(values, rng)  # [HM1]
        provenance = replace(found.provenance, mechanism="MeanTest", notes=(*found.provenance.notes, LIMIT))
        name = f"test that the mean is {show(self.null)} ({self.alternative})"
        blank: Release[Tested] = Release(self.guarantee, provenance, refusal=found.refusal, name=name)
        if found.refusal is not None:
            return blank
        spread = found.spread
        assert isinstance(spread, ConvolvedSpread)
        apart = spread.estimate - float(self.null)

        def chance(t: float) -> float:
            return tail(t, math.hypot(spread.sampling, spread.normal_noise), spread.laplace)

        p_value = inverted(apart, chance, spread.freedom, self.alternative)  # [HM3]
        return replace(blank, answer=Tested(apart, p_value))


@dataclass(frozen=True, slots=True)
class TwoMeansTest:
    """Have the first `first` rows and the others populations with one mean?

    >>> from discreet.noise.seeded import Seeded
    >>> rows = [float(k % 80) for k in range(4000)] + [float(k % 80) + 9 for k in range(4000)]
    >>> TwoMeansTest(4000, 2.0).release(rows, Seeded(1)).value.decide(0.001)
    True
    """

    first: int
    epsilon: Number
    alternative: Alternative = "two-sided"
    model: Model = None
    bounds: tuple[float, float] | None = None
    neighbours: Neighbours = Neighbours.REPLACE
    unit: str = "row"

    def __post_init__(self) -> None:
        check_replace(self.neighbours)
        MeanTest(0.0, self.epsilon, self.alternative, self.model, self.bounds)
        check_sizes((self.first,))

    @property
    def guarantee(self) -> Guarantee:
        """Pure epsilon."""
        return Guarantee(self.epsilon, 0.0, self.neighbours, self.unit)

    @property
    def loss(self) -> Approximate:
        """Pure epsilon: the samples are disjoint. [HM2]"""
        return Approximate(self.epsilon, 0)

    def release(self, rows: Any, rng: Randomness) -> Release[Tested]:
        """The first mean less the second, and the p-value; or a refusal."""
        values = column(rows)
        sizes = all_sizes((self.first,), public_size(values, self.neighbours))
        parts = values[: self.first], values[self.first :]
        found = [_planned(self, len(part)).release(part, rng) for part in parts]  # [HM2]
        shown = {"groups": sizes, "model": self.model, "bounds": self.bounds, "alternative": self.alternative}
        provenance = Provenance("TwoMeansTest", shown, rng.secure, (LIMIT,))
        refusal = next((one.refusal for one in found if one.refusal is not None), None)
        name = f"test that two means are equal ({self.alternative})"
        blank: Release[Tested] = Release(self.guarantee, provenance, refusal=refusal, name=name)
        if refusal is not None:
            return blank
        one, other = (release.spread for release in found)
        assert isinstance(one, ConvolvedSpread)
        assert isinstance(other, ConvolvedSpread)
        apart = one.estimate - other.estimate
        return replace(blank, answer=Tested(apart, p_value_of_difference(one, other, self.alternative)))  # [HM3]


def _planned(test: "MeanTest | TwoMeansTest", size: int | None) -> Mechanism[float]:
    return plan_mean(
        size, test.epsilon, model=test.model, bounds=test.bounds, neighbours=test.neighbours, unit=test.unit
    )


def p_value_of_difference(one: ConvolvedSpread, other: ConvolvedSpread, alternative: Alternative) -> float:
    """Of the difference of two private means. [HM3]"""
    normal = math.hypot(one.sampling, one.normal_noise, other.sampling, other.normal_noise)

    def chance(t: float) -> float:
        return tail_of_two(t, normal, one.laplace, other.laplace)

    parts = [(one.sampling**2, one.freedom), (other.sampling**2, other.freedom)]
    below = sum(square**2 / freedom for square, freedom in parts)
    freedom = sum(square for square, _ in parts) ** 2 / below if below else math.inf
    return inverted(one.estimate - other.estimate, chance, freedom, alternative)


def tail_of_two(t: float, normal: float, one: float, other: float) -> float:
    """P(N + L + M > t) with two Laplace noises, whose sum has the density (b^2 f_b - c^2 f_c) / (b^2 - c^2). [HM3]"""
    small, large = sorted((one, other))
    if not large:
        return tail(t, normal, 0.0)
    large = max(large, small * (1 + APART))
    weight = large * large / (large * large - small * small)
    return weight * tail(t, normal, large) - (weight - 1) * tail(t, normal, small)


def inverted(apart: float, chance: Callable[[float], float], freedom: float, alternative: Alternative) -> float:
    """The least level at which an interval of this law, widened as Student's, leaves 0 out. [HM3]

    The interval at confidence 1 - p reaches t(p) F(p), with chance(t(p)) = p / 2 and F Student's factor. Both fall with
    p, so that the p with t(p) F(p) = |apart| is found by halving.
    """
    low, high = math.log(1e-12), 0.0
    for _ in range(45):
        middle = (low + high) / 2
        p = math.exp(middle)
        inside = abs(apart) / student_factor(freedom, 1 - p) if p < 1 else abs(apart)
        low, high = (low, middle) if 2 * chance(inside) <= p else (middle, high)
    two_sided = min(1.0, math.exp(high))
    towards = (apart > 0) == (alternative == "greater")
    return two_sided if alternative == "two-sided" else two_sided / 2 if towards else 1 - two_sided / 2
