"""Power from public numbers, against the tests themselves."""

import math

import numpy as np
import pytest
from scipy import stats

from discreet import BadInput, Seeded, power, test_paired, test_two_samples


def test_power_is_what_the_tests_reach() -> None:
    """250 releases each: within 5 standard errors and the 0.02 of 1,000 simulated statistics."""
    people = np.random.default_rng(1)
    found = [
        test_two_samples(people.normal(0.4, 1, 100), people.normal(0, 1, 80), epsilon=1.0, rng=Seeded(i))
        for i in range(250)
    ]
    predicted = power("two_samples", n=(100, 80), effect=0.4, epsilon=1.0)
    assert abs(np.mean([r.value.decide(0.05) for r in found]) - predicted) < 5 * math.sqrt(0.25 / 250) + 0.02
    for method, name in (("ranks", "paired"), ("signs", "signs")):
        pairs = [
            test_paired(people.normal(0.3, 1, 100), epsilon=1.0, method=method, rng=Seeded(i))  # type: ignore[arg-type]
            for i in range(250)
        ]
        predicted = power(name, n=100, effect=0.3, epsilon=1.0)  # type: ignore[arg-type]
        assert abs(np.mean([r.value.decide(0.05) for r in pairs]) - predicted) < 5 * math.sqrt(0.25 / 250) + 0.02


def test_power_grows_with_people_and_epsilon() -> None:
    laws = (stats.norm(0, 1), stats.norm(0.2, 1))
    for name, effect in (("paired", 0.2), ("any", 0.2), ("simple", laws), ("fit", ([0.5, 0.5], [0.57, 0.43]))):
        at = [power(name, n=n, effect=effect, epsilon=e) for n, e in ((400, 0.5), (400, 2.0), (1600, 2.0))]  # type: ignore[arg-type]
        assert 0.05 < at[0] < at[1] < at[2] <= 1
    assert power("paired", n=400, effect=0.2, epsilon=1.0, alternative="less") < 0.01


def test_without_effect_the_power_is_the_level() -> None:
    assert power("two_samples", n=100, effect=0, epsilon=1.0) == pytest.approx(0.05, abs=0.02)
    assert power("any", n=1000, effect=0, epsilon=1.0, level=0.01) == pytest.approx(0.01, abs=1e-3)


def test_refusals() -> None:
    with pytest.raises(BadInput, match="power of"):
        power("two_samples", n=10, effect=1.0, epsilon=0.1)
    for options, words in (
        ({"test": "t"}, "the test is"),
        ({"n": 0}, "n is"),
        ({"n": (1, 2)}, "n is"),
        ({"level": 0.9}, "level"),
        ({"test": "fit"}, "pair"),
        ({"epsilon": 0}, "epsilon"),
    ):
        asked = {"test": "paired", "n": 100, "effect": 0.3, "epsilon": 1.0} | options
        with pytest.raises(BadInput, match=words):
            power(**asked)  # type: ignore[arg-type]
