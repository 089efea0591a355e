"""How likely a test finds an effect: before any data are seen, from public numbers alone.

Statistics are simulated on made-up data under the alternative (with a fixed public seed), the noise is exact. Means
need no simulation: their error has a closed form.
"""

import math
from collections.abc import Callable
from typing import Any, Final, Literal, get_args

import numpy as np

from discreet.accounting.allocation import Allocation, Share
from discreet.errors import BadInput
from discreet.hypotheses.combined_tests import best_plan, expected_power
from discreet.hypotheses.goodness_of_fit import MOVED, checked_size, null_fits, whole_of
from discreet.hypotheses.likelihood_ratio import RatioCells, best_clamp, clamped_power
from discreet.hypotheses.mean_tests import normal_stages, tail_of_two
from discreet.hypotheses.null_distributions import Floats, NoisyDistribution, check_powerful, noise_beyond
from discreet.hypotheses.rank_tests import (
    check_smallest,
    deviation,
    deviation_moves,
    larger_pairs,
    null_deviations,
    rank_sum_distribution,
    ranks,
)
from discreet.hypotheses.signed_tests import positive_ranks, signed_ranks_distribution, signs_distribution
from discreet.noise import distributions as simulated
from discreet.noise.distributions import laplace_scale
from discreet.privacy.exact import Number, is_number, solve
from discreet.privacy.guarantee import check_budget
from discreet.privacy.loss import Laplace
from discreet.privacy.neighbours import Neighbours
from discreet.stages.clip import sensitivity_of, unit_variance
from discreet.stages.normal_laplace import ConvolvedSpread, tail
from discreet.stages.normal_stages import clipped_mean, freedom, mean_radius
from discreet.statistics.normal import GaussianMean, pure_stages, too_few
from discreet.statistics.proportion import Alternative, check_alternative

REPLACE: Final = Neighbours.REPLACE
RUNS: Final = 1000
SEED: Final = 20_260_101
SMALLEST: Final = 20  # people in a block of custom_test
Test = Literal[
    "two_samples_test",
    "paired_test",
    "signs",
    "mean_test",
    "two_means_test",
    "anova",
    "custom_test",
    "likelihood_ratio_test",
    "goodness_of_fit_test",
]
NAMES: Final = get_args(Test)
CLOSED_FORMS: Final = ("mean_test", "two_means_test", "custom_test", "likelihood_ratio_test")


def power(
    test: Test,
    *,
    n: Any,
    effect: Any,
    epsilon: Number,
    level: float = 0.05,
    alternative: Alternative = "two-sided",
    smallest: int = SMALLEST,
) -> float:
    """The chance that a private test rejects at `level`: no data are used and nothing is spent.

    `test` is the name of one. "two_samples_test": `n` a pair of group sizes, or one for both; `effect` the shift of
    normal values in standard deviations. "two_means_test": the same, with model="gaussian". "mean_test": that of one
    mean, with this model. "anova": `n` a list of group sizes, `effect` a list of the groups' shifts. "paired_test", and
    "signs" for its method of signs: n differences, normal with mean `effect` standard deviations. "custom_test": the
    same for a one-sided base test on n people in blocks of at least `smallest`. "likelihood_ratio_test": `effect` is
    the pair (p, q) of distributions. "goodness_of_fit_test": `effect` is a pair of lists, the null hypothesis's
    probabilities and the true ones.

    >>> power("two_samples_test", n=(200, 200), effect=0.3, epsilon=1.0) > 0.7
    True
    """
    check_budget(epsilon, 0, None)
    check_alternative(alternative)
    if not is_number(level) or not 0 < level < 0.5:
        raise BadInput(f"the level is {level!r}; it must be between 0 and 1/2, for example 0.05")
    if test not in NAMES:
        raise BadInput(f"the test is {test!r}; give one of {', '.join(map(repr, NAMES))}")
    if test not in ("anova", "likelihood_ratio_test", "goodness_of_fit_test") and not is_number(effect):
        raise BadInput(f"effect is {effect!r}; give a finite number of standard deviations, 0.3 say")
    size, generator = _sizes(n, test), simulated.stream(SEED)
    match test:
        case "two_samples_test":
            one, other = size
            distribution = rank_sum_distribution(one, other, epsilon)
            check_powerful(distribution, 0, one * other, f"groups of {one} and {other} at epsilon {float(epsilon):g}")
            seen = [larger_pairs(_ranks(_normal(generator, sum(size), one, effect)), one) for _ in range(RUNS)]
            return _rejected(np.array(seen), distribution, level, alternative)
        case "paired_test" | "signs":
            count = size[0]
            distribution = (
                signed_ranks_distribution(count, epsilon)
                if test == "paired_test"
                else signs_distribution(count, epsilon)
            )
            most = count * (count + 1) // 2 if test == "paired_test" else count
            check_powerful(distribution, 0, most, f"{count} people at epsilon {float(epsilon):g}")
            values = [_normal(generator, count, count, effect) for _ in range(RUNS)]
            fair, order = np.zeros(count, dtype=bool), np.arange(count)
            sums = [positive_ranks(x, fair, order) if test == "paired_test" else int((x > 0).sum()) for x in values]
            return _rejected(np.array(sums), distribution, level, alternative)
        case "mean_test":
            return _power_of_mean(size[0], float(effect), epsilon, level, alternative)
        case "two_means_test":
            return _power_of_two_means(size, float(effect), epsilon, level, alternative)
        case "anova":
            return _power_of_groups(size, effect, epsilon, level)
        case "custom_test":
            if not isinstance(smallest, int) or isinstance(smallest, bool) or smallest < 1:
                raise BadInput(f"smallest is {smallest!r}; give a whole number, 1 or more")
            blocks, reach = best_plan(size[0] // smallest, float(epsilon))
            checked_size(blocks, epsilon)
            return expected_power(blocks, reach, float(epsilon), float(effect) * math.sqrt(size[0]), level)
        case "likelihood_ratio_test":
            cells = RatioCells.of(*_pair(effect))
            clamp = best_clamp(cells, size[0], float(epsilon), level)
            return clamped_power(cells, clamp, size[0], float(epsilon), level)
        case "goodness_of_fit_test":
            return _power_of_fit(checked_size(size[0], epsilon), *_pair(effect), epsilon, level)


def _power_of_fit(size: int, null: Any, truth: Any, epsilon: Number, level: float) -> float:
    """Of FitTest."""
    chances, true = whole_of(_probabilities(null)), whole_of(_probabilities(truth))
    if len(chances) != len(true):
        raise BadInput(f"the null hypothesis has {len(chances) - 1} probabilities, the truth {len(true) - 1}")
    scale, generator = laplace_scale(MOVED, epsilon), simulated.stream(SEED)
    critical = np.quantile(null_fits(generator, size, chances, scale, 10 * RUNS), 1 - level)
    return float(np.mean(null_fits(generator, size, chances, scale, RUNS, truth=true) > critical))


def _power_of_groups(sizes: tuple[int, ...], shifts: Any, epsilon: Number, level: float) -> float:
    """Of GroupsTest."""
    if not isinstance(shifts, list | tuple) or len(shifts) != len(sizes) or not all(map(is_number, shifts)):
        raise BadInput(f"effect is {shifts!r}; give a list of {len(sizes)} shifts, one for each group")
    check_smallest(sizes, epsilon)
    scale, generator = laplace_scale(deviation_moves(sizes), epsilon), simulated.stream(SEED)
    usual = null_deviations(generator, sizes, 4 * RUNS) + simulated.laplace(generator, (4 * RUNS,), scale)
    critical = math.floor(np.quantile(usual, 1 - level)) + 1
    means = np.repeat(np.array(shifts, dtype=np.float64), sizes)
    seen = [deviation(_ranks(generator.standard_normal(sum(sizes)) + means)[None, :], sizes)[0] for _ in range(RUNS)]
    return float(np.mean(noise_beyond(critical - np.array(seen), scale)))


def _power_of_mean(size: int, effect: float, epsilon: Number, level: float, alternative: Alternative) -> float:
    """Of MeanTest with a normal model."""
    error = _error_of_mean(size, epsilon)
    critical = error.half_width(1 - (level if alternative == "two-sided" else 2 * level))
    return _passed(lambda t: tail(t, error.sampling, error.laplace), critical, effect, alternative)


def _error_of_mean(size: int, epsilon: Number) -> ConvolvedSpread:
    """Of GaussianMean on normal data with standard deviation 1, its centre found well."""
    stages = pure_stages(epsilon, size, known_sigma=False, mean=Share())
    _check_found(size, epsilon, stages)
    mean = stages.part("mean", Laplace)
    r, _ = mean_radius(size, unit_variance(mean, size, REPLACE))
    response = clipped_mean(0.0, r)
    sampling = math.sqrt(response.variance / size) / response.slope
    noise = sensitivity_of(1, REPLACE) * r / (size * float(mean.epsilon)) / response.slope
    return ConvolvedSpread(0.0, sampling=sampling, laplace=noise, freedom=freedom(size, stages, REPLACE))


def _power_of_two_means(
    sizes: tuple[int, ...], effect: float, epsilon: Number, level: float, alternative: Alternative
) -> float:
    """Of TwoMeansTest: both samples clipped about their common centre, which lies where they balance."""
    whole, least = sum(sizes), min(sizes)
    stages = normal_stages(epsilon, whole)
    _check_found(whole, epsilon, stages)
    mean, square = stages.part("mean", Laplace), stages.part("square", Laplace)
    r, _ = mean_radius(least, unit_variance(mean, least, REPLACE))
    places = (effect * sizes[1] / whole, -effect * sizes[0] / whole)
    seen = [clipped_mean(place, r) for place in places]
    variance = sum(one.variance / size for one, size in zip(seen, sizes, strict=True))
    unsure = math.hypot(*(r * r / (size * size * float(square.epsilon)) for size in sizes))
    noises = [sensitivity_of(1, REPLACE) * r / (size * float(mean.epsilon)) for size in sizes]
    miss = level / 2 if alternative == "two-sided" else level
    wide = math.sqrt(variance + unsure / 2)
    critical = solve(lambda t: -tail_of_two(t, wide, *noises), -miss, 0.0, 40 * (wide + sum(noises)))

    def beyond(t: float) -> float:
        return tail_of_two(t, math.sqrt(variance), *noises)

    return _passed(beyond, critical, seen[0].mean - seen[1].mean, alternative)


def _passed(beyond: Callable[[float], float], critical: float, shift: float, alternative: Alternative) -> float:
    """The chance that an error with these tails, shifted, is past the critical values."""
    above, below = beyond(critical - shift), beyond(critical + shift)
    return {"greater": above, "less": below, "two-sided": above + below}[alternative]


def _check_found(size: int, epsilon: Number, stages: Allocation) -> None:
    model = GaussianMean(epsilon)
    if not model.feasible(stages, size):
        raise BadInput(too_few(size, epsilon, model.needed, REPLACE))


def _rejected(seen: Any, distribution: NoisyDistribution, level: float, alternative: Alternative) -> float:
    """The mean over simulated statistics of the exact chance that noise carries them past the critical values."""
    critical = distribution.critical(level / 2 if alternative == "two-sided" else level)
    above = noise_beyond(critical - seen, distribution.scale)
    below = noise_beyond(seen - (distribution.doubled_centre - critical), distribution.scale)
    both = {"greater": above, "less": below, "two-sided": above + below}[alternative]
    return float(np.mean(both))


def _normal(generator: Any, size: int, first: int, effect: Any) -> Floats:
    values: Floats = generator.standard_normal(size)
    values[:first] += float(effect)
    return values


def _ranks(values: Floats) -> Any:
    return ranks(values, np.arange(len(values)))


def _sizes(n: Any, test: str) -> tuple[int, ...]:
    two, several = test in ("two_samples_test", "two_means_test"), test == "anova"
    given = tuple(n) if isinstance(n, list | tuple) else (n, n) if two else (n,)
    fits = len(given) >= 2 if several else len(given) == 1 + two
    if not fits or not all(isinstance(one, int) and not isinstance(one, bool) and one > 0 for one in given):
        more = ", or one for each of two groups" if two else " for each group, in a list" if several else ""
        raise BadInput(f"n is {n!r}; give a whole number of people{more}")
    return given


def _probabilities(given: Any) -> tuple[float, ...]:
    found = tuple(given) if isinstance(given, list | tuple | np.ndarray) else ()
    if not found or not all(is_number(p) and p >= 0 for p in found) or sum(found) > 1 + 1e-9:
        raise BadInput(f"the probabilities are {given!r}; give numbers, 0 or more, that sum to at most 1")
    return found


def _pair(effect: Any) -> tuple[Any, Any]:
    if not isinstance(effect, list | tuple) or len(effect) != 2:
        raise BadInput(f"effect is {effect!r}; give a pair: the null hypothesis, and what is true instead")
    return effect[0], effect[1]
