"""Power from public numbers, against the tests themselves."""

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from discreet import BadInput, Seeded, mean_test, paired_test, power, two_means_test, two_samples_test
from discreet.hypotheses.rank_tests import GroupsTest

PUBLIC: Any = {"neighbours": "replace", "missing": "keep"}  # power is for a public number of people


@pytest.mark.study
def test_power_is_what_the_tests_reach() -> None:
    """250 releases each: within 5 standard errors and the 0.02 of 1,000 simulated statistics."""
    people = np.random.default_rng(1)
    found = [
        two_samples_test(people.normal(0.4, 1, 100), people.normal(0, 1, 80), epsilon=1.0, **PUBLIC, rng=Seeded(i))
        for i in range(250)
    ]
    predicted = power("two_samples_test", n=(100, 80), effect=0.4, epsilon=1.0)
    assert abs(np.mean([r.value.decide(0.05) for r in found]) - predicted) < 5 * math.sqrt(0.25 / 250) + 0.02
    for method, name in (("ranks", "paired_test"), ("signs", "signs")):
        pairs = [
            paired_test(people.normal(0.3, 1, 100), epsilon=1.0, method=method, **PUBLIC, rng=Seeded(i))  # type: ignore[arg-type]
            for i in range(250)
        ]
        predicted = power(name, n=100, effect=0.3, epsilon=1.0)  # type: ignore[arg-type]
        assert abs(np.mean([r.value.decide(0.05) for r in pairs]) - predicted) < 5 * math.sqrt(0.25 / 250) + 0.02


def test_power_of_means_and_groups_is_what_the_tests_reach() -> None:
    """As above, with fewer releases."""
    people = np.random.default_rng(2)
    one = [
        mean_test(people.normal(0.2, 1, 300), 0.0, model="gaussian", epsilon=1.0, **PUBLIC, rng=Seeded(i)).value
        for i in range(60)
    ]
    two = [
        two_means_test(
            people.normal(0.3, 1, 400), people.normal(0, 1, 200), model="gaussian", epsilon=1.0, **PUBLIC, rng=Seeded(i)
        ).value.decide(0.05)
        for i in range(60)
    ]
    test, shifts = GroupsTest((60, 50), 1.0, draws=199), np.repeat([0.0, 0.5, 0.2], (60, 50, 80))
    groups = [test.release(people.normal(0, 1, 190) + shifts, Seeded(i)).value.decide(0.05) for i in range(250)]
    for seen, predicted in (
        ([found.decide(0.05) for found in one], power("mean_test", n=300, effect=0.2, epsilon=1.0)),
        (two, power("two_means_test", n=(400, 200), effect=0.3, epsilon=1.0)),
        (groups, power("anova", n=(60, 50, 80), effect=(0, 0.5, 0.2), epsilon=1.0)),
    ):
        assert abs(np.mean(seen) - predicted) < 5 * math.sqrt(predicted * (1 - predicted) / len(seen)) + 0.02


def test_power_grows_with_people_and_epsilon() -> None:
    distributions = (stats.norm(0, 1), stats.norm(0.2, 1))
    for name, effect in (
        ("paired_test", 0.2),
        ("mean_test", 0.2),
        ("two_means_test", 0.2),
        ("custom_test", 0.2),
        ("likelihood_ratio_test", distributions),
        ("goodness_of_fit_test", ([0.5, 0.5], [0.57, 0.43])),
    ):
        at = [power(name, n=n, effect=effect, epsilon=e) for n, e in ((400, 0.5), (400, 2.0), (1600, 2.0))]  # type: ignore[arg-type]
        assert 0.05 < at[0] < at[1] < at[2] <= 1
    assert power("paired_test", n=400, effect=0.2, epsilon=1.0, alternative="less") < 0.01


def test_without_effect_the_power_is_the_level() -> None:
    assert power("two_samples_test", n=100, effect=0, epsilon=1.0) == pytest.approx(0.05, abs=0.02)
    assert power("mean_test", n=300, effect=0, epsilon=1.0) == pytest.approx(0.05, abs=0.01)
    assert power("two_means_test", n=300, effect=0, epsilon=1.0) == pytest.approx(0.05, abs=0.01)
    assert power("anova", n=(50, 50, 50), effect=(0, 0, 0), epsilon=1.0) == pytest.approx(0.05, abs=0.02)
    assert power("custom_test", n=1000, effect=0, epsilon=1.0, level=0.01) == pytest.approx(0.01, abs=1e-3)


def test_refusals() -> None:
    with pytest.raises(BadInput, match="power of"):
        power("two_samples_test", n=10, effect=1.0, epsilon=0.1)
    for options, words in (
        ({"test": "t"}, "the test is"),
        ({"n": 0}, "n is"),
        ({"n": (1, 2)}, "n is"),
        ({"level": 0.9}, "level"),
        ({"test": "goodness_of_fit_test"}, "pair"),
        ({"epsilon": 0}, "epsilon"),
        ({"effect": "much"}, "effect"),
        ({"effect": math.nan}, "effect"),
        ({"test": "custom_test", "smallest": 0}, "smallest"),
        ({"test": "mean_test", "n": 20}, "bring"),
        ({"test": "two_means_test", "n": (20, 20)}, "bring"),
        ({"test": "anova"}, "n is"),
        ({"test": "anova", "n": (50, 50)}, "effect"),
        ({"test": "anova", "n": (50, 5), "effect": (0, 1)}, "smallest group"),
        ({"test": "goodness_of_fit_test", "effect": ([0.5, 0.5], [1.0])}, "the truth 1"),
        ({"test": "goodness_of_fit_test", "effect": ([0.5, 0.5], [math.nan, 1.0])}, "probabilities"),
    ):
        asked = {"test": "paired_test", "n": 100, "effect": 0.3, "epsilon": 1.0} | options
        with pytest.raises(BadInput, match=words):
            power(**asked)  # type: ignore[arg-type]
