"""Is a mean what it is said to be, and are two means equal? With a model, or with public bounds.

Releases
    MeanTest: a private mean and the p-value computed from it. NormalMeansTest: a centre c and a radius R, found in both
    samples together; for each sample the noisy mean of clip(x - c, +-R) and that of its square; and the p-value
    computed from them. (Data of any shape: hypotheses/limited_tests.py.)
Promise
    [mean_tests.1] One sample: that of the mean used, statistics/mean.py or statistics/normal.py: pure epsilon.
    [mean_tests.2] Two samples: pure epsilon. Who is in which sample is public: replacing a person replaces a value
    there.
    [mean_tests.3] The p-value is the least level at which an interval leaves the null hypothesis out: super-uniform as
          far as that interval holds its confidence, which is in the limit of many people. The note says so.
Why
    [mean_tests.1], [mean_tests.3] Post-processing; an interval and a test are one another's inverse.
    [mean_tests.2] The stages' epsilons sum to epsilon. The choices are those of statistics/normal.py, made on all rows.
    A person is in one sample, so that of a pair of sums, one of each sample, one moves: in L1 by no more than the sum
    of one sample does, [clip.1]. So each pair is blurred at the price of one.
    [mean_tests.3] The difference of two means has the normal parts of both, added in squares, and two Laplace noises;
    Student's factor has the degrees of freedom of Welch and Satterthwaite. The squares' noises move the estimated
    variance of the difference by about the root of the sum of their squares: [null_distributions.4]. With the normal
    model the clip is hard, and where spreads differ one sample's mean follows c more than the other's: each is divided
    by the slope d E clip(a + Z) / da, the share of its sample within the clip, which its square tells.
Needs
    As many people as the mean needs; otherwise a refusal.
Accuracy
    That of the means: docs/benchmarks.md.
Source
    Welch 1947; for tests from private intervals Karwa and Vadhan 2018.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, Final, Literal

import numpy as np

from discreet.accounting.allocation import Allocation, Share
from discreet.errors import BadInput, Refused
from discreet.hypotheses.effects import MeanEffect
from discreet.hypotheses.limited_tests import LimitedMeansTest, LimitedMeanTest, check_mean_test, null_of_mean, one_mean
from discreet.hypotheses.null_distributions import LIMIT, error_of_difference, inverted
from discreet.hypotheses.private_sizes import PrivateGroups
from discreet.hypotheses.rank_tests import all_sizes, check_sizes
from discreet.hypotheses.result import PUBLIC_GROUPS, check_replace
from discreet.hypotheses.signed_tests import SymmetryTest
from discreet.privacy.declaration import Columns, Public, Reads, grouped, number, statistic, values_of
from discreet.privacy.exact import Number, show, solve
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Approximate, Laplace, Loss
from discreet.privacy.mechanism import Mechanism, Randomness, Wrapped, check, promised, refusal_of
from discreet.privacy.release import Provenance, Release
from discreet.privacy.values import TestResult
from discreet.stages.clip import (
    Floats,
    Moment,
    Power,
    charged,
    exact_sums,
    fitting_bits,
    noise_size,
    sensitivity_of,
    unit_variance,
)
from discreet.stages.declared import LARGEST, SMALLEST, agree, check_bounds, check_size
from discreet.stages.normal_laplace import ConvolvedSpread, tail
from discreet.stages.normal_stages import clipped_square, find_place, mean_radius
from discreet.statistics.mean import plan_mean
from discreet.statistics.normal import NOTE, GaussianMean, odd_scale, pure_stages, too_few
from discreet.statistics.proportion import Alternative
from discreet.tables.entries import long_column, numbers, public_size
from discreet.worlds.shapes import shifted_sample, two_groups

Model = Literal["gaussian"] | None
SQUARE: Final = Fraction(3, 20)  # of epsilon, for the squares of normal data
DIFFERENCE: Final = "the population mean of the first group less that of the second"
LIMITS: Final = (1e-3, 1e3)  # of a variance, in squared radii


@dataclass(frozen=True, slots=True)
class MeanTest:
    """Is the population's mean `null`? With the public number of rows, `size`, the loss lists every draw.

    >>> from discreet.noise.randomness import Seeded
    >>> MeanTest(30.0, 2.0).release([float(k % 80) for k in range(4000)], Seeded(1)).value.decide(0.001)
    True
    """

    null: float
    epsilon: Number
    _: KW_ONLY
    alternative: Alternative = "two-sided"
    model: Model = None
    bounds: tuple[float, float] | None = None
    neighbours: Neighbours = Neighbours.REPLACE
    unit: str = "row"
    size: int | None = None

    def __post_init__(self) -> None:
        check_mean_test(self.null, self.epsilon, self.alternative, self.size, self.neighbours)
        check_bounds(self.bounds)
        check_model(self.model)

    guarantee = promised

    @property
    def loss(self) -> Loss:
        """That of the mean. [mean_tests.1]"""
        return _planned(self, self.size).loss

    def check(self, size: int | None) -> None:
        """Refused, by public numbers, where the mean is."""
        check(_planned(self, size), size)

    def release(self, rows: Any, rng: Randomness) -> Release[TestResult]:
        """The mean less the null hypothesis, and the p-value; or a refusal."""
        values = long_column(rows)
        size = agree(public_size(values, self.neighbours), self.size)
        found = _planned(self, size).release(values, rng)  # [mean_tests.1]
        notes = (null_of_mean(self.null, self.alternative), *found.provenance.notes, LIMIT)
        provenance = replace(found.provenance, mechanism="MeanTest", notes=notes)
        name = f"test that the mean is {show(self.null)} ({self.alternative})"
        blank: Release[TestResult] = Release(self.guarantee, provenance, refusal=found.refusal, name=name)
        if found.refusal is not None:
            return blank
        spread = found.spread
        assert isinstance(spread, ConvolvedSpread)
        apart = spread.estimate - float(self.null)
        near = min(apart + spread.above, 0.0) + max(apart - spread.below, 0.0)  # the allowance is no evidence

        def chance(t: float) -> float:
            return tail(t, math.hypot(spread.sampling, spread.normal_noise), spread.laplace)

        p_value = inverted(near, chance, spread.freedom, self.alternative)  # [mean_tests.3]
        return replace(blank, answer=TestResult(apart, p_value, spread.estimate, "mean"), spread=spread)


@dataclass(frozen=True, slots=True)
class NormalMeansTest:
    """Have the first `first` rows and the others normal populations with one mean? `size` is that of all rows.

    >>> from discreet.noise.randomness import Seeded
    >>> rows = [float(k % 80) for k in range(4000)] + [float(k % 80) + 9 for k in range(4000)]
    >>> NormalMeansTest(4000, 2.0).release(rows, Seeded(1)).value.decide(0.001)
    True
    """

    first: int
    epsilon: Number
    _: KW_ONLY
    alternative: Alternative = "two-sided"
    bounds: tuple[float, float] | None = None
    neighbours: Neighbours = Neighbours.REPLACE
    unit: str = "row"
    size: int | None = None
    by_ranks: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_replace(self.neighbours)
        MeanTest(0.0, self.epsilon, alternative=self.alternative, model="gaussian", bounds=self.bounds)
        check_sizes((self.first,))
        check_size(self.size, self.neighbours)

    guarantee = promised

    @property
    def loss(self) -> Loss:
        """Every draw; before the public size is known, their sum. [mean_tests.2]"""
        return Approximate(self.epsilon, 0) if self.size is None else charged(self.stages(self.size).loss)

    def stages(self, size: int) -> Allocation:
        """Those of a normal mean of all rows, some of whose share is for the square. [mean_tests.2]"""
        return pure_stages(self.epsilon, size, known_sigma=False, mean=Share(), square=Share(SQUARE))

    def release(self, rows: Any, rng: Randomness) -> Release[TestResult]:
        """The first mean less the second, and the p-value; or a refusal."""
        values = numbers(rows)
        size = agree(public_size(values, self.neighbours), self.size)
        shown = {"bounds": self.bounds, "alternative": self.alternative}
        notes: tuple[str, ...] = (one_mean(self.alternative), LIMIT, PUBLIC_GROUPS)
        provenance = Provenance("NormalMeansTest", shown, rng.secure, notes=notes)
        name = f"test that two means are equal ({self.alternative})"
        blank: Release[TestResult] = Release(self.guarantee, provenance, name=name)
        if (refusal := refusal_of(self, size)) is not None:
            return replace(blank, refusal=refusal)
        sizes = all_sizes((self.first,), size)
        provenance = replace(provenance, parameters={"groups": sizes, **shown})
        blank = replace(blank, provenance=provenance)
        found = self._clip(values, sizes, rng)  # [mean_tests.2]
        if isinstance(found, str):
            return replace(blank, refusal=found)
        means, squares = group_moments((values[: self.first], values[self.first :]), found, rng)  # [mean_tests.2]
        means, squares = zip(*map(unclipped, means, squares), strict=True)  # [mean_tests.3]
        apart, error = means[0].mean - means[1].mean, error_of_difference(means, squares)
        p_value = inverted(apart, error.chance, error.freedom, self.alternative)  # [mean_tests.3]
        ends = f"[{show(found.centre - found.radius)}, {show(found.centre + found.radius)}]"
        notes = (*notes, f"the means are those of values winsorised to {ends}", *found.notes)
        effect = MeanEffect(found.radius * apart, found.radius, error, DIFFERENCE)
        answer = TestResult(effect.estimate, p_value, effect.estimate, "difference of means")
        return replace(blank, answer=answer, spread=effect, provenance=replace(provenance, notes=notes))

    def check(self, size: int | None) -> None:
        """Refused, by public numbers, if so many people do not fill the samples, or are too few for a clip."""
        if size is None:
            return
        all_sizes((self.first,), size)
        model = GaussianMean(self.epsilon, bounds=self.bounds)
        if not model.feasible(self.stages(size), size):
            raise Refused(too_few(size, self.epsilon, model.needed, self.neighbours))

    def for_groups(self, sizes: tuple[int, ...], epsilon: Number) -> "NormalMeansTest":
        """The same test for two samples of these sizes."""
        return replace(self, first=sizes[0], epsilon=epsilon, size=sum(sizes))

    def _clip(self, values: Floats, sizes: tuple[int, ...], rng: Randomness) -> "Clip | str":
        """The clip that is best for a normal mean of the smaller sample, in units of the scale of both.
        [mean_tests.2]"""
        size = sum(sizes)
        stages = self.stages(size)
        # [mean_tests.2]
        at = find_place(values, stages, size=size, neighbours=self.neighbours, rng=rng, bounds=self.bounds)
        if not SMALLEST < at.scale < LARGEST:
            return odd_scale(at.scale)
        best, _ = mean_radius(min(sizes), unit_variance(stages.noise("mean"), min(sizes), self.neighbours))
        return Clip(at.centre, best * at.scale, stages, (NOTE,))


@dataclass(frozen=True, slots=True)
class Clip:
    """Where values are cut, public or released, and what the stages cost."""

    centre: float
    radius: float
    stages: Allocation
    notes: tuple[str, ...] = ()


def group_moments(parts: Sequence[Floats], clip: Clip, rng: Randomness) -> list[Sequence[Moment]]:
    """The noisy means of clip((x - centre) / radius, +-1) in each of several samples, and those of its square.
    [mean_tests.2]"""
    names: dict[Power, str] = {1: "mean", 2: "square"}
    given = {power: clip.stages.part(name, Laplace) for power, name in names.items()}
    bits = min(map(fitting_bits, given.values()))
    sums = [exact_sums(part, clip.centre, clip.radius, (1, 2), bits) for part in parts]
    found: list[Sequence[Moment]] = []
    for totals, (power, cost) in zip(zip(*sums, strict=True), given.items(), strict=True):
        moved = sensitivity_of(power, Neighbours.REPLACE) * 2**bits  # [mean_tests.2]
        noisy = rng.blur(np.array(totals, dtype=object), sensitivity=moved, cost=cost) / 2**bits  # [mean_tests.2]
        least, noise = -1.0 if power == 1 else 0.0, noise_size(moved, cost) / 2**bits
        found.append(
            [
                Moment(min(max(float(total) / len(part), least), 1.0), noise / len(part), len(part))
                for total, part in zip(noisy, parts, strict=True)
            ]
        )
    return found


def unclipped(mean: Moment, square: Moment) -> tuple[Moment, Moment]:
    """Both as they would be if the clip did not shrink a normal mean towards its centre. [mean_tests.3]"""
    variance = solve(lambda v: clipped_square(v, 1.0).mean, square.mean, *LIMITS)
    slope = math.erf(1 / math.sqrt(2 * variance))  # P(|Z| < 1 / sd)
    return (
        Moment(mean.mean / slope, mean.noise / slope, mean.size),
        Moment(square.mean / slope**2, square.noise / slope**2, square.size),
    )


def check_model(model: object) -> None:
    """The one model there is, or none."""
    if model not in (None, "gaussian"):
        raise BadInput(f"model is {model!r}; give 'gaussian', or None for data of any shape")


def _planned(test: MeanTest, size: int | None) -> Mechanism[float]:
    return plan_mean(
        size, test.epsilon, model=test.model, bounds=test.bounds, neighbours=test.neighbours, unit=test.unit
    )


def _reads(options: Mapping[str, Any]) -> Reads:
    return number(streams=options.get("model") != "symmetric")  # that is tested by ranks


@statistic({"x": _reads}, world=shifted_sample)
def mean_test(
    people: Public,
    x: Columns,
    null: float,
    *,
    epsilon: Number,
    alternative: Alternative = "two-sided",
    model: Literal["gaussian", "symmetric"] | None = None,
    bounds: tuple[float, float] | None = None,
) -> Mechanism[TestResult]:
    """Null: the population's mean, far values limited at a distance found privately, is `null`. For many people.

    Values beyond that distance from `null` count as 4/3 of it. Where both tails seem to hold as many people, the
    distance is that of about two standard deviations; elsewhere one that few people are beyond. So the limited mean is
    the mean for symmetric, for slightly skewed and for exponential tails. Where one tail is clearly longer, `null` may
    lie a little to its side of the limited mean; in a far longer tail that few people are in, the test is about the
    mean so limited. The first line of the release says where. If `null` is between 0 and 1 and nearly all values seem
    to be 0 or 1, both are within the limit; proportion_test finds more in them. Give `bounds` for the mean of all
    values, model="gaussian" if a normal model is true: these invert the interval of `mean`. model="symmetric" tests
    another hypothesis, that the distribution is symmetric about `null`; it is exact (signed ranks, or signs), and no
    test of the mean of skewed data.

    >>> import discreet
    >>> x = [float(age % 80) for age in range(4000)]
    >>> discreet.mean_test(x, 30.0, epsilon=1.0, rng=discreet.Seeded(1)).value.decide(0.01)
    True
    """
    terms: dict[str, Any] = {"alternative": alternative, "neighbours": people.neighbours, "unit": people.unit}
    if model is None and bounds is None:
        return LimitedMeanTest(null, epsilon, size=people.size, **terms)
    if model != "symmetric":
        return MeanTest(null, epsilon, model=model, bounds=bounds, size=people.size, **terms)
    if bounds is not None:
        raise BadInput("bounds are not used with model='symmetric'; leave them out")
    check_mean_test(null, epsilon, alternative, people.size, people.neighbours)
    return Wrapped(SymmetryTest(epsilon, **terms), before=partial(_less, null=float(null)))


def _less(x: Any, null: float) -> Any:
    with np.errstate(all="ignore"):
        return np.asarray(x - null, dtype=np.float64)


@statistic({"x": number(sample=True), "y": number(sample=True)}, rows=grouped, world=two_groups)
def two_means_test(
    people: Public,
    x: Columns,
    y: Columns,
    *,
    epsilon: Number,
    alternative: Alternative = "two-sided",
    model: Literal["gaussian"] | None = None,
    bounds: tuple[float, float] | None = None,
) -> Mechanism[TestResult]:
    """Null: two independent groups have one mean, far values limited alike. For many people.

    The limit is a distance from the middle of all values, found privately; values beyond it count as 4/3 of it. It is
    close where the tails of both groups seem alike, and one that few people are beyond elsewhere. Or give public
    `bounds`, or model="gaussian" if both are normal. For whether groups have one *distribution*, which is found sooner
    by ranks, ask two_samples_test: under unequal spreads or shapes that is another hypothesis. Under the default
    relation, "add_or_remove", a person's group and presence are hidden too; under "replace" they are public.

    >>> import discreet
    >>> x, y = [float(k % 80) for k in range(4000)], [float(k % 80) + 9 for k in range(4000)]
    >>> discreet.two_means_test(x, y, epsilon=1.0, rng=discreet.Seeded(1)).value.decide(0.01)
    True
    """
    terms: dict[str, Any] = {"alternative": alternative, "bounds": bounds, "unit": people.unit, "size": people.size}
    if model is None:
        limited = LimitedMeansTest(x.size if people.size is not None else None, epsilon, **terms)
        return limited if people.size is None else Wrapped(limited, before=values_of)
    check_model(model)
    test = NormalMeansTest(x.size or 1, epsilon, **terms)
    return PrivateGroups(test, 2) if people.size is None else Wrapped(test, before=values_of)
