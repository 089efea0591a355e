"""The median by smooth sensitivity."""

import math
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest

from discreet import audit
from discreet.errors import BadInput
from discreet.noise.randomness import Seeded
from discreet.stability.smooth_median import STEPS, SmoothMedian, around_median, falling, on_steps, smooth_bound

CROWD = [20.0 + index for index in range(40)]


def pairs() -> list[audit.Pair]:
    odd = (0.0, 39.5, 100.0, 1e300, math.nan, -math.inf)
    return [audit.Pair([*CROWD, 40.0], [*CROWD, one]) for one in odd] + [audit.Pair([1.0], [99.0])]


@pytest.mark.claim("smooth_median.1")
@pytest.mark.parametrize("distribution", ["student", "cauchy", "laplace"])
def test_audit(distribution: str) -> None:
    delta = 1e-6 if distribution == "laplace" else 0.0
    audit.check(SmoothMedian(1.0, bounds=(0, 100), delta=delta, distribution=distribution), pairs()).require()  # type: ignore[arg-type]


@pytest.mark.study
@pytest.mark.claim("smooth_median.1")
@pytest.mark.parametrize("distribution", ["student", "cauchy", "laplace"])
def test_outputs_do_not_tell_neighbours_apart_further_than_promised(distribution: str) -> None:
    delta = 1e-3 if distribution == "laplace" else 0.0
    mechanism = SmoothMedian(4.0, bounds=(0, 100), delta=delta, distribution=distribution)  # type: ignore[arg-type]
    told = audit.distinguish(mechanism, [0.0] * 5 + [100.0] * 4, [0.0] * 4 + [100.0] * 5, runs=1000)
    assert not told.violated
    assert told.epsilon > 0.02  # and it is no constant


@pytest.mark.claim("smooth_median.1")
def test_the_bound_is_smooth_and_holds_on_all_small_tables() -> None:
    """Every table of 5 records on 5 places, and every neighbour of it."""
    pace = Fraction(3, 10)
    weights = falling(pace, 5)
    places, bounds, medians = (0, STEPS // 4, STEPS // 2, STEPS - 1, STEPS), {}, {}
    for table in product(range(5), repeat=5):
        window = around_median(np.array([places[index] for index in table]), len(weights))
        bounds[table], medians[table] = smooth_bound(window, weights), int(window[len(weights)])
    for table, bound in bounds.items():
        for place, other in product(range(5), range(5)):
            neighbour = (*table[:place], other, *table[place + 1 :])
            assert abs(medians[table] - medians[neighbour]) * STEPS <= min(bound, bounds[neighbour])
            assert bound <= math.exp(float(pace)) * bounds[neighbour] * (1 + 1e-12)


def test_the_bound_is_that_of_the_definition() -> None:
    """Against the maximum over all pairs of order statistics, computed in floats."""
    rng = np.random.default_rng(0)
    for size in (1, 2, 7, 50):
        ordered = np.sort(rng.integers(0, STEPS + 1, size))
        weights = falling(Fraction(1, 5), size)
        padded, middle = np.concatenate([np.zeros(200), ordered, np.full(200, STEPS)]), 200 + (size - 1) // 2
        plain = max(
            (padded[middle + t] - padded[middle + t - k - 1]) * math.exp(-k / 5)
            for k in range(len(weights) - 1)
            for t in range(k + 2)
        )
        found = smooth_bound(around_median(ordered, len(weights)), weights)
        floor = int(weights[-1]) * STEPS
        assert found == pytest.approx(max(plain * STEPS, floor), rel=1e-6)


def test_weights_fall_no_faster_than_their_pace() -> None:
    for pace in (Fraction(1, 1000), Fraction(1, 10), Fraction(3)):
        weights = falling(pace, 3000).tolist()
        assert weights[0] == STEPS
        assert all(later >= sooner * math.exp(-pace) * (1 - 1e-15) for sooner, later in pairwise(weights))


def test_many_close_records_give_a_close_answer() -> None:
    rng = np.random.default_rng(1)
    rows = rng.normal(50, 1, 20_000)
    for distribution, delta in (("student", 0.0), ("cauchy", 0.0), ("laplace", 1e-6)):
        mechanism = SmoothMedian(2.0, bounds=(0, 100), delta=delta, distribution=distribution)  # type: ignore[arg-type]
        answers = [mechanism.release(rows, Seeded(k)).value for k in range(9)]
        assert abs(np.median(answers) - 50) < 0.1


def test_bad_parameters_and_values() -> None:
    for bad in (
        {"bounds": None},
        {"bounds": (1, 0)},
        {"distribution": "normal"},
        {"distribution": "laplace"},
        {"delta": 1e-6},
        {"epsilon": -1},
    ):
        with pytest.raises(BadInput):
            SmoothMedian(**({"epsilon": 1.0, "bounds": (0, 1)} | bad))  # type: ignore[arg-type]
    assert on_steps(np.array([math.nan, -math.inf, math.inf, 0.25]), 0, 1).tolist() == [
        STEPS // 2,
        0,
        STEPS,
        STEPS // 4,
    ]


def test_any_epsilon_that_is_allowed() -> None:
    for epsilon in (1e-9, 1e6):
        for distribution, delta in (("student", 0.0), ("cauchy", 0.0), ("laplace", 1e-6)):
            median = SmoothMedian(epsilon, bounds=(0, 1), delta=delta, distribution=distribution)  # type: ignore[arg-type]
            value = median.release([0.25] * 20, Seeded(1)).value
            assert 0 <= value <= 1
