"""The short verbs for numbers: what people type."""

import json
import math
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet.api import function
from discreet.errors import BadInput
from discreet.noise.randomness import Seeded

PEOPLE = np.random.default_rng(8).gamma(2.0, 3.0, 5000)


@pytest.mark.parametrize("neighbours", ["replace", "add_or_remove"])
@pytest.mark.parametrize(
    ("verb", "options", "truth"),
    [
        (discreet.mean, {}, 6.0),
        (discreet.mean, {"bounds": (0, 60)}, 6.0),
        (discreet.median, {}, 3 * 1.67835),
        (discreet.variance, {"bounds": (0, 60)}, 18.0),
        (discreet.std, {}, math.sqrt(18)),
    ],
)
def test_answers_are_near_and_held(verb: Any, options: dict[str, Any], truth: float, neighbours: str) -> None:
    release = verb(PEOPLE, epsilon=2.0, neighbours=neighbours, unit="person", rng=Seeded(1), **options)
    interval = release.interval(0.95)
    assert abs(release.value - truth) < 0.2 * truth
    assert interval.low < release.value < interval.high
    assert interval.population
    assert "confidence interval" in str(release)
    assert release.guarantee.epsilon == 2.0
    assert release.guarantee.delta == 0
    assert float(release.to_dict()["interval"]["low"]) == interval.low


def test_methods_of_the_lectures_by_name() -> None:
    for method, options in (
        ("clipped", {"reach": 20.0, "sigma": 4.3}),
        ("two-stage", {"reach": 20.0, "sigma": 4.3}),
        ("stability", {"sigma": 4.3, "delta": 1e-6}),
        ("karwa-vadhan", {"reach": 20.0, "sigma": (0.5, 50.0)}),
    ):
        release = function("mean")(
            PEOPLE, epsilon=2.0, method=method, neighbours="replace", missing="keep", rng=Seeded(2), **options
        )
        assert abs(release.value - 6.0) < 1.5, method
    with pytest.raises(BadInput, match="replace"):
        discreet.mean(PEOPLE, epsilon=1.0, method="clipped", reach=1.0, sigma=1.0, neighbours="add_or_remove")
    with pytest.raises(BadInput, match="method"):
        discreet.mean(PEOPLE, epsilon=1.0, method="best")  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="sigma"):
        discreet.mean(PEOPLE, epsilon=1.0, method="clipped", reach=1.0, neighbours="replace", missing="keep")
    with pytest.raises(BadInput, match="range"):
        discreet.mean(
            PEOPLE, epsilon=1.0, method="karwa-vadhan", reach=1.0, sigma=1.0, neighbours="replace", missing="keep"
        )


@pytest.mark.parametrize("verb", [discreet.mean, discreet.median, discreet.variance, discreet.std])
def test_a_refusal_says_what_was_seen_and_needed(verb: Any) -> None:
    public: dict[str, Any] = {"neighbours": "replace", "missing": "keep"}
    release = verb([1.0, 2.0, 3.0], epsilon=0.1, **public)
    assert release.refusal is not None
    assert "n * epsilon is" in release.refusal
    again = verb([5.0, 2.0, math.nan], epsilon=0.1, **public)
    assert again.refusal == release.refusal  # by public quantities only


@pytest.mark.parametrize("verb", [discreet.mean, discreet.median, discreet.variance, discreet.std])
def test_bad_input_before_anything_is_drawn(verb: Any) -> None:
    for options in (
        {"epsilon": 0},
        {"epsilon": math.nan},
        {"epsilon": 1, "bounds": (2, 1)},
        {"epsilon": 1, "bounds": (0, math.inf)},
        {"epsilon": 1, "neighbours": "swap"},
        {"epsilon": 1, "unit": ""},
    ):
        with pytest.raises(BadInput):
            verb(PEOPLE, **options)
    odd: list[Any] = ["text", np.ones((2, 2, 2) if verb is discreet.mean else (2, 2))]
    for rows in odd:
        with pytest.raises(BadInput):
            verb(rows, epsilon=1.0)


@pytest.mark.parametrize("name", ["two_samples_test", "two_means_test", "anova"])
def test_groups_take_no_stand_in_for_missing_entries(name: str) -> None:
    """One that was given and did nothing would change the answer unseen."""
    with pytest.raises(BadInput, match=r"missing is 0\.0; groups of people take 'drop' or 'keep'"):
        function(name)([1.0, math.nan], [2.0, 3.0], epsilon=1.0, missing=0.0)


def test_bad_values_never_raise() -> None:
    odd = [*PEOPLE[:2000], math.nan, math.inf, -math.inf, None, "x", 1e308, -1e308, 5e-324, object(), 10**400]
    for verb in (discreet.mean, discreet.median, discreet.variance):
        assert verb(odd, epsilon=2.0, rng=Seeded(3)).refusal is None


def test_families_by_name() -> None:
    rng = np.random.default_rng(1)
    asked: list[tuple[str, Any, dict[str, Any]]] = [
        ("Bernoulli", rng.random(900) < 0.3, {}),
        ("binomial", rng.binomial(4, 0.3, 900), {"trials": 4}),
        ("multinomial", list("abab" * 200), {"categories": ["a", "b"]}),
        ("poisson", rng.poisson(3, 900), {}),
        ("normal", rng.normal(3, 1, 900), {}),
    ]
    for name, rows, options in asked:
        release = discreet.fit_distribution(name, rows, epsilon=1.0, rng=discreet.Seeded(1), **options)
        assert release.guarantee.delta == 0
        ends = release.interval(0.9)
        for key, value in release.value.items():
            assert ends.low[key] <= value <= ends.high[key]
        assert list(json.loads(release.to_json())["value"]["parameters"]) == list(release.value)
    for bad in ({"name": "cauchy"}, {"name": "binomial"}, {"name": "poisson", "trials": 3}, {"name": "multinomial"}):
        with pytest.raises(discreet.BadInput):
            discreet.fit_distribution(bad.pop("name"), [1, 2], epsilon=1.0, **bad)  # type: ignore[arg-type]


def test_numbers_of_several_named_columns_have_their_names() -> None:
    drawn = np.random.default_rng(0).normal((40.0, 25.0), (5.0, 3.0), (4000, 2))
    frame = pa.table({"age": drawn[:, 0], "bmi": drawn[:, 1]})
    terms: dict[str, Any] = {"epsilon": 4.0, "delta": 1e-6}
    asks: list[Any] = [discreet.mean, discreet.covariance, discreet.fit_normal, partial(discreet.kmeans, k=2)]
    for ask in asks:
        assert ask(frame, **terms, rng=Seeded(1)).value.names == ("age", "bmi")
        assert not getattr(ask(drawn, **terms, rng=Seeded(1)).value, "names", ())
    assert isinstance(discreet.mean(drawn[:, 0], epsilon=1.0, rng=Seeded(1)).value, float)


def test_groups_of_a_function_are_asked_for_in_a_session() -> None:
    with pytest.raises(BadInput, match=r"has no option 'groupby'.*in a session: groupby= a column, keys= the list"):
        discreet.median(PEOPLE, epsilon=1.0, groupby="town")  # type: ignore[call-arg]
    with pytest.raises(BadInput, match=r"largest_weight$"):
        discreet.median(PEOPLE, epsilon=1.0, colour="red")  # type: ignore[call-arg]
