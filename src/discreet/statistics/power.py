"""How likely a test finds an effect: before any data are seen, from public numbers alone.

Statistics are simulated on made-up data under the alternative (with a fixed public seed), the noise is exact.
"""

import math
from typing import Any, Final, Literal

import numpy as np

from discreet.errors import BadInput
from discreet.noise import simulated
from discreet.noise.laws import laplace_scale
from discreet.promise.exact import Number, is_number
from discreet.promise.guarantee import check_budget
from discreet.statistics.frequencies import MOVED, checked_size, misfit, null_fits, whole_of
from discreet.statistics.groups import larger_pairs, rank_sum_law, ranks
from discreet.statistics.nulls import Floats, NoisyLaw, check_powerful, noise_beyond
from discreet.statistics.proportion import Alternative, check_alternative
from discreet.statistics.ratio import Cells, best_clamp, clamped_power
from discreet.statistics.scores import best_plan, expected_power
from discreet.statistics.signed import positive_ranks, signed_ranks_law, signs_law

RUNS: Final = 1000
SEED: Final = 20_260_101
SMALLEST: Final = 20  # people in a block of test_any
Test = Literal["two_samples", "paired", "signs", "any", "simple", "fit"]


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

    "two_samples": `n` a pair of group sizes, or one for both; `effect` the shift of normal values in standard
    deviations. "paired", "signs": n differences, normal with mean `effect` standard deviations. "any": the same for a
    one-sided base test on n people in blocks of at least `smallest`. "simple": `effect` is the pair (p, q) of laws.
    "fit": `effect` is a pair of lists, the null hypothesis's probabilities and the true ones.

    >>> power("two_samples", n=(200, 200), effect=0.3, epsilon=1.0) > 0.7
    True
    """
    check_budget(epsilon, 0, None)
    check_alternative(alternative)
    if not is_number(level) or not 0 < level < 0.5:
        raise BadInput(f"the level is {level!r}; it must be between 0 and 1/2, for example 0.05")
    size, generator = _sizes(n, test == "two_samples"), simulated.stream(SEED)
    match test:
        case "two_samples":
            one, other = size
            law = rank_sum_law(one, other, epsilon)
            check_powerful(law, 0, one * other, f"groups of {one} and {other} at epsilon {float(epsilon):g}")
            seen = [larger_pairs(_ranks(_normal(generator, sum(size), one, effect)), one) for _ in range(RUNS)]
            return _rejected(np.array(seen), law, level, alternative)
        case "paired" | "signs":
            count = size[0]
            law = signed_ranks_law(count, epsilon) if test == "paired" else signs_law(count, epsilon)
            most = count * (count + 1) // 2 if test == "paired" else count
            check_powerful(law, 0, most, f"{count} people at epsilon {float(epsilon):g}")
            values = [_normal(generator, count, count, effect) for _ in range(RUNS)]
            fair, order = np.zeros(count, dtype=bool), np.arange(count)
            sums = [positive_ranks(x, fair, order) if test == "paired" else int((x > 0).sum()) for x in values]
            return _rejected(np.array(sums), law, level, alternative)
        case "any":
            blocks, reach = best_plan(size[0] // smallest, float(epsilon))
            checked_size(blocks, epsilon)
            return expected_power(blocks, reach, float(epsilon), float(effect) * math.sqrt(size[0]), level)
        case "simple":
            cells = Cells.of(*_pair(effect))
            clamp = best_clamp(cells, size[0], float(epsilon), level)
            return clamped_power(cells, clamp, size[0], float(epsilon), level)
        case "fit":
            null, true = (whole_of(tuple(one)) for one in _pair(effect))
            scale = laplace_scale(MOVED, epsilon)
            usual = np.quantile(null_fits(generator, checked_size(size[0], epsilon), null, scale, 10 * RUNS), 1 - level)
            drawn = generator.multinomial(size[0], true, RUNS)
            noisy = drawn + simulated.laplace(generator, drawn.shape, scale)
            return float(np.mean(misfit(noisy, size[0], null, scale) > usual))
    raise BadInput(f"the test is {test!r}; give 'two_samples', 'paired', 'signs', 'any', 'simple' or 'fit'")


def _rejected(seen: Any, law: NoisyLaw, level: float, alternative: Alternative) -> float:
    """The mean over simulated statistics of the exact chance that noise carries them past the critical values."""
    critical = law.critical(level / 2 if alternative == "two-sided" else level)
    above = noise_beyond(critical - seen, law.scale)
    below = noise_beyond(seen - (law.doubled_centre - critical), law.scale)
    both = {"greater": above, "less": below, "two-sided": above + below}[alternative]
    return float(np.mean(both))


def _normal(generator: Any, size: int, first: int, effect: Any) -> Floats:
    values: Floats = generator.standard_normal(size)
    values[:first] += float(effect)
    return values


def _ranks(values: Floats) -> Any:
    return ranks(values, np.arange(len(values)))


def _sizes(n: Any, two: bool) -> tuple[int, ...]:
    given = tuple(n) if isinstance(n, list | tuple) else (n, n) if two else (n,)
    if len(given) != 1 + two or not all(
        isinstance(one, int) and not isinstance(one, bool) and one > 0 for one in given
    ):
        raise BadInput(f"n is {n!r}; give a whole number of people{', or one for each of two groups' if two else ''}")
    return given


def _pair(effect: Any) -> tuple[Any, Any]:
    if not isinstance(effect, list | tuple) or len(effect) != 2:
        raise BadInput(f"effect is {effect!r}; give a pair: the null hypothesis, and what is true instead")
    return effect[0], effect[1]
