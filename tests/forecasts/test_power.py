"""The power of a test is that of the test that runs: the same name, options and defaults."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

import discreet
from discreet import BadInput, Refused, Seeded, forecast, power

Sample = Callable[[np.random.Generator], tuple[Any, ...]]
CASES: dict[str, tuple[dict[str, Any], dict[str, Any], Sample]] = {  # assumptions, options, made-up arguments
    "two_samples_test": (
        {"n": (150, 110), "effect": 0.3},
        {"alternative": "greater"},
        lambda g: (g.normal(0.3, 1, 150), g.normal(0, 1, 110)),
    ),
    "two_means_test": (
        {"n": (500, 300), "effect": 0.3},
        {"model": "gaussian"},
        lambda g: (g.normal(0.3, 1, 500), g.normal(0, 1, 300)),
    ),
    "mean_test": ({"n": 600, "effect": 0.15}, {"null": 3.0}, lambda g: (g.normal(3.15, 1, 600),)),
    "paired_test": ({"n": 150, "effect": 0.3}, {"method": "signs"}, lambda g: (g.normal(0.3, 1, 150),)),
    "anova": (
        {"n": (120, 100, 140), "effect": (0, 0.6, 0.2)},
        {},
        lambda g: (g.normal(0, 1, 120), g.normal(0.6, 1, 100), g.normal(0.2, 1, 140)),
    ),
    "goodness_of_fit_test": (
        {"n": 300, "truth": [0.6, 0.4]},
        {"null": {"a": 0.5, "b": 0.5}},
        lambda g: (g.choice(["a", "b"], 300, p=[0.6, 0.4]),),
    ),
    "likelihood_ratio_test": (
        {"n": 150},
        {"p": stats.norm(0, 1), "q": stats.norm(0.3, 1)},
        lambda g: (g.normal(0.3, 1, 150),),
    ),
    "proportion_test": ({"n": 120, "effect": 0.1}, {"null": 0.3}, lambda g: (g.random(120) < 0.4,)),
}


@pytest.mark.parametrize(
    ("test", "relation"),
    [
        pytest.param(test, relation, marks=pytest.mark.study if (place + turn) % 2 or test == "anova" else ())
        for place, test in enumerate(CASES)
        for turn, relation in enumerate(("add_or_remove", "replace"))
    ],
)
def test_power_is_what_the_test_reaches(test: str, relation: str) -> None:
    """100 releases: within 5 standard errors of them and of 200 simulated ones."""
    assumed, options, sample = CASES[test]
    options = {"epsilon": 1.0, "neighbours": relation, "missing": "keep", **options}
    people = np.random.default_rng(7)
    found = [getattr(discreet, test)(*sample(people), **options, rng=Seeded(run)) for run in range(100)]
    reached = np.mean([release.refusal is None and release.value.decide(0.05) for release in found])
    predicted = power(test, **assumed, **options)
    assert abs(reached - predicted) < 5 * math.sqrt(0.25 / 100 + 0.25 / 200)
    assert 0.1 < predicted < 0.99


def test_what_the_test_refuses_has_no_power() -> None:
    people = np.random.default_rng(1)
    release = discreet.two_means_test(people.normal(0.3, 1, 90), people.normal(0, 1, 90), epsilon=1.0, rng=Seeded(1))
    assert release.refusal is not None
    with pytest.raises(Refused, match="two_means_test would be refused"):
        power("two_means_test", n=(90, 90), effect=0.3, epsilon=1.0)
    assert discreet.forecast("two_means_test", rows=180, effect=0.3, epsilon=1.0).power is None


def test_one_number_is_that_of_each_group() -> None:
    assert power("two_samples_test", n=100, effect=0.5, epsilon=1.0) == power(
        "two_samples_test", n=(100, 100), effect=0.5, epsilon=1.0
    )


def test_power_grows_with_people_and_epsilon() -> None:
    cases: Any = (("paired_test", {"effect": 0.1}), ("custom_test", {"effect": 0.1, "smallest": 10}))
    for name, assumed in cases:
        at = [power(name, n=n, epsilon=e, **assumed) for n, e in ((400, 0.8), (400, 2.0), (1600, 2.0))]
        assert 0.05 < at[0] < at[1] < at[2] <= 1
    assert power("paired_test", n=400, effect=-0.2, epsilon=1.0, alternative="greater") < 0.01


@pytest.mark.parametrize("name", ["paired_test", "mean_test", "two_samples_test"])
def test_an_effect_points_to_where_a_one_sided_test_looks(name: str) -> None:
    found = {
        (effect, alternative): forecast(name, rows=500, epsilon=1.0, effect=effect, alternative=alternative, level=0.05)
        for effect, alternative in ((0.3, "less"), (-0.3, "less"), (0.3, "greater"), (-0.3, "greater"))
    }
    assert found[0.3, "less"] == found[-0.3, "less"]
    assert "the effect is -0.3 standard deviations" in found[0.3, "less"].assumptions
    chances = {case: -1.0 if one.power is None else one.power for case, one in found.items()}
    assert 0 <= chances[-0.3, "greater"] < 0.01
    assert min(chances[0.3, "less"], chances[0.3, "greater"]) > 0.5


def test_without_effect_the_power_is_the_level() -> None:
    """Within 5 standard errors of 200 runs."""
    cases: tuple[tuple[str, dict[str, Any]], ...] = (
        ("two_samples_test", {"n": 100}),
        ("mean_test", {"n": 600}),
        ("anova", {"n": (100, 100, 100)}),
        ("closeness_test", {"n": 200, "effect": 1e-9}),
    )
    for name, assumed in cases:
        assert power(name, epsilon=1.0, **{"effect": 0, **assumed}) < 0.05 + 5 * math.sqrt(0.05 * 0.95 / 200)
    assert power("custom_test", n=1000, effect=0, epsilon=1.0, level=0.01) == pytest.approx(0.01, abs=1e-3)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"test": "t"}, "the statistic is 't'"),
        ({"test": "mean"}, "not a test"),
        ({"n": 0}, "n is 0"),
        ({"n": (1, 2)}, "one group"),
        ({"level": 0.9}, "level"),
        ({"epsilon": 0}, "epsilon"),
        ({"effect": "much"}, "effect"),
        ({"effect": math.nan}, "effect"),
        ({"test": "custom_test", "smallest": 0}, "smallest"),
        ({"test": "anova", "n": (50, 50), "effect": (0, 1, 2)}, "effect"),
        (
            {"test": "goodness_of_fit_test", "effect": None, "null": [0.5, 0.5], "categories": "ab", "truth": [1]},
            "truth",
        ),
        ({"smallest": 3}, "neither an option of paired_test"),
    ],
)
def test_bad_arguments_are_explained(options: dict[str, Any], words: str) -> None:
    asked: dict[str, Any] = {"test": "paired_test", "n": 100, "effect": 0.3, "epsilon": 1.0} | options
    with pytest.raises(BadInput, match=words):
        power(**asked)


@pytest.mark.parametrize(
    "asked",
    [
        {"test": "two_samples_test", "n": 10, "epsilon": 0.1},
        {"test": "mean_test", "n": 20, "epsilon": 1.0},
        {"test": "anova", "n": (50, 5), "effect": (0, 1), "epsilon": 1.0},
        {"test": "custom_test", "n": 100, "epsilon": 0.1},
        {"test": "likelihood_ratio_test", "n": 10, "epsilon": 0.1},
    ],
    ids=lambda asked: asked["test"],
)
def test_too_few_people_are_refused(asked: dict[str, Any]) -> None:
    with pytest.raises(Refused, match="would be refused"):
        power(**asked)
