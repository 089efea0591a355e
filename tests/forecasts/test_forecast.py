"""Forecasts: what they say, that it is so, and that nobody's data are needed."""

import json
import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from benchmarks.posed import posed

import discreet
from discreet.errors import BadInput
from discreet.forecasts import simulate
from discreet.forecasts.forecast import Forecast, forecast
from discreet.forecasts.simulate import normal_errors, shifted_radius
from discreet.privacy.declaration import declared, homes
from discreet.worlds.shapes import tilted

RUNS = 80
asking: Any = import_module("discreet.forecasts.forecast")


def achieved(release: Callable[[np.random.Generator, Any], Any], error: Callable[[Any], float], runs: int) -> float:
    rng = np.random.default_rng(5)
    return float(np.median([error(release(rng, discreet.Seeded(run)).value) for run in range(runs)]))


def normal(rng: np.random.Generator, rows: int = 2000) -> Any:
    return rng.normal(10.0, 3.0, rows)


ABOUT: dict[str, Any] = {"location": 10.0, "scale": 3.0}
COLUMN: list[tuple[str, float, dict[str, Any]]] = [
    ("mean", 10.0, {}),
    ("mean", 10.0, {"model": "gaussian"}),
    ("variance", 9.0, {"model": "gaussian"}),
    ("std", 3.0, {}),
    ("quantile", 10.0 + 3 * 1.2815516, {"q": 0.9}),
]


@pytest.mark.parametrize(("verb", "truth", "options"), COLUMN)
def test_a_column_errs_as_forecast(verb: str, truth: float, options: dict[str, Any]) -> None:
    """Within 20%, with fixed seeds: nothing here is left to chance."""
    said = forecast(verb, rows=2000, epsilon=1.0, **ABOUT, **options)

    def release(rng: np.random.Generator, noise: Any) -> Any:
        return getattr(discreet, verb)(normal(rng), epsilon=1.0, rng=noise, **options)

    assert said.error == pytest.approx(achieved(release, lambda v: abs(v - truth), RUNS), rel=0.2)
    assert said.half_width is not None
    assert said.error is not None
    assert said.half_width > said.error


def test_counts_shares_and_histograms_err_as_forecast() -> None:
    def count(rng: np.random.Generator, noise: Any) -> Any:
        return discreet.count([True] * 300 + [False] * 700, epsilon=0.05, rng=noise)

    said = forecast("count", rows=1000, epsilon=0.05)
    assert said.error == pytest.approx(achieved(count, lambda v: abs(v - 300), 400), rel=0.2)
    assert (said.sampling, said.without_privacy) == (None, 0.0)
    assert forecast("count", rows=3, epsilon=0.05).floor == 1.0

    def share(rng: np.random.Generator, noise: Any) -> Any:
        return discreet.proportion(rng.random(200) < 0.3, epsilon=0.1, rng=noise)

    said = forecast("proportion", rows=200, epsilon=0.1, share=0.3)
    assert said.error == pytest.approx(achieved(share, lambda v: abs(v - 0.3), 400), rel=0.2)

    def bins(rng: np.random.Generator, noise: Any) -> Any:
        return discreet.histogram([0, 1, 2] * 100, epsilon=0.1, categories=[0, 1, 2], rng=noise)

    said = forecast("histogram", rows=300, epsilon=0.1, categories=[0, 1, 2])
    assert said.error == pytest.approx(achieved(bins, lambda v: float(np.abs(v.counts - 100).max()), 300), rel=0.2)


def test_a_regression_errs_as_forecast() -> None:
    def release(rng: np.random.Generator, noise: Any) -> Any:
        x = rng.normal(size=(2000, 2))
        y = x @ [0.5, 0.5] + rng.normal(size=2000)
        return discreet.linear_regression(x, y, epsilon=1.0, delta=1e-6, rng=noise)

    said = forecast("linear_regression", rows=2000, epsilon=1.0, delta=1e-6)
    seen = achieved(release, lambda v: math.hypot(*(v.coef - 0.5), v.intercept), 60)
    assert said.error == pytest.approx(seen, rel=0.3)  # by eight runs, whose limits of influence differ


def test_the_price_of_privacy_is_visible() -> None:
    said = forecast("mean", rows=2000, epsilon=0.2)
    assert said.floor is not None
    assert said.without_privacy is not None
    assert said.error is not None
    assert said.floor <= said.without_privacy * 1.001 < said.error
    assert said.floor_note.startswith("bound")
    assert said.how.startswith("simulated on made-up data, 16 runs")
    assert "rate, constant unknown" in forecast("covariance", rows=50, epsilon=1.0, delta=1e-6).floor_note


def test_public_bounds_have_a_packing_bound() -> None:
    """Theorem 2.6 of the lectures: few people cannot tell where in a wide range they are, whatever the method."""
    for verb in ("mean", "median"):
        few = forecast(verb, rows=20, epsilon=0.1, bounds=(0, 1e6), scale=1.0)
        assert few.floor == pytest.approx(1e6 / 2 / (math.exp(4) + 1))
        assert "packing" in few.floor_note
        for delta in (0.0, 1e-6):  # the middle of the bounds is never further off
            assert forecast(verb, rows=5, epsilon=0.1, delta=delta, bounds=(0, 120)).floor == 60.0
        many = forecast(verb, rows=2000, epsilon=1.0, bounds=(0, 120), scale=20.0)
        assert many.floor is not None
        assert many.floor < 1.0
        assert many.floor_note.startswith("bound: holds")


def test_too_few_rows_are_said_to_be_refused() -> None:
    for verb in ("mean", "median", "maximum_likelihood"):
        said = forecast(verb, rows=60, epsilon=0.5)
        assert said.error is None
        assert said.refused
        assert "refused" in str(said)
        assert said.without_privacy is None or said.without_privacy > 0
    unseen = forecast("histogram", rows=100, epsilon=0.5, delta=1e-6, bins=10)
    assert unseen.error is None
    assert "threshold" in str(unseen.refused)


@pytest.mark.parametrize("verb", ["mean", "variance"])
def test_many_rows_cost_no_more_than_few(verb: str) -> None:
    """A world that keeps rows times epsilon: sampling falls as the root, noise is what it would be."""
    at, far = (forecast(verb, rows=rows, epsilon=5000.0 / rows) for rows in (20_000, 2_000_000))
    assert far.privacy == pytest.approx(at.privacy, rel=0.2)
    assert at.without_privacy is not None
    assert far.without_privacy == pytest.approx(at.without_privacy / 10, rel=1e-6)
    assert "20000 rows, scaled" in far.how


@pytest.mark.parametrize("name", ["variance", "histogram", "sgd", "proportion_test", "two_samples_test"])
def test_the_same_arguments_give_the_same_forecast(name: str) -> None:
    one, other = (forecast(name, rows=900, epsilon=2.0, delta=1e-6) for _ in range(2))
    assert one == other


def test_units_pass_through() -> None:
    one, other = (forecast("mean", rows=3000, epsilon=1.0, scale=scale).error for scale in (1.0, 64.0))
    assert one is not None
    assert other == pytest.approx(64 * one, rel=0.1)
    bounded = forecast("mean", rows=3000, epsilon=1.0, bounds=(0, 120))
    assert "values are normal with mean 60 and standard deviation 20" in bounded.assumptions


def test_without_a_public_scale_errors_are_in_standard_deviations() -> None:
    said = forecast("mean", rows=3000, epsilon=1.0)
    assert said.units == "standard deviations"
    assert "standard deviations to either side" in str(said)
    assert "give scale=" in said.assumptions[0]
    assert forecast("variance", rows=3000, epsilon=1.0).units == "squared standard deviations"
    public: Any
    for public in ({"scale": 1.0}, {"bounds": (-3, 3)}):
        assert forecast("mean", rows=3000, epsilon=1.0, **public).units == ""
    assert forecast("count", rows=3000, epsilon=1.0).units == forecast("proportion", rows=3000, epsilon=1.0).units == ""


def test_tests_have_power_and_no_error() -> None:
    public: Any = {"neighbours": "replace", "missing": "keep"}
    said = forecast("two_samples_test", rows=400, epsilon=1.0, effect=0.3, **public)
    assert said.power == discreet.power("two_samples_test", n=(200, 200), effect=0.3, epsilon=1.0, **public)
    assert said.error is None
    assert "rejects with probability" in str(said)
    more = forecast("two_samples_test", rows=400, epsilon=1.0, effect=0.6, **public)
    assert more.power is not None
    assert said.power is not None
    assert more.power > said.power
    assert forecast("two_samples_test", rows=12, epsilon=0.1, **public).refused
    small, large = (
        forecast("two_samples_test", rows=5_000 * times, epsilon=0.1 / times, effect=0.08 / times**0.5, **public)
        for times in (1, 100)
    )
    assert large.power == pytest.approx(small.power, abs=0.1)


def test_a_test_under_add_or_remove_is_run_itself() -> None:
    share = forecast("proportion_test", rows=300, epsilon=1.0, null=0.5, effect=0.0000001)
    assert share.power is not None
    assert share.power < 0.12


NEEDED: dict[str, dict[str, Any]] = {  # what a forecast cannot assume, or what makes it quick
    "closeness_test": {"bins": 2},
    "density": {"categories": ["a", "b"]},
    "fit": {"estimator": lambda x: float(np.mean(x))},
    "fit_distribution": {"family": "bernoulli"},
    "histogram": {"categories": ["a", "b"]},
    "independence_test": {"bins": 2},
    "maximum_likelihood": {"model": "expon"},
    "kmeans": {"k": 2, "radius": 10.0},
    "logistic_regression": {"columns": 1, "confidence": None},
    "poisson_regression": {"formula": "visits ~ age + C(sex)"},
}


def with_few_runs(way: Callable[..., Any], trial: simulate.Trial, *more: Any) -> Any:
    """The same forecast of a world with fewer runs."""
    return way(replace(trial, world=replace(trial.world, runs=min(trial.world.runs, 6))), *more)


@pytest.mark.parametrize("name", homes())
def test_every_statistic_has_a_forecast(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By few runs: how good forecasts are is not asked here."""
    for way in ("measured", "rejected"):
        monkeypatch.setattr(asking, way, partial(with_few_runs, getattr(asking, way)))
    monkeypatch.setattr(simulate, "FEW", 4)
    statistic = declared(name)
    given = {} if name in NEEDED else posed(name)
    options = {option: given[option] for option in given if option not in ("epsilon", "delta", *statistic.columns)}
    said = forecast(name, **{"rows": 4000, "epsilon": 2.0, "delta": 1e-6, **options, **NEEDED.get(name, {})})
    assert json.loads(json.dumps(said.to_dict()))["statistic"] == name
    assert said.measure
    assert said.refused is None or "runs" in said.refused
    assert (said.error if said.level is None else said.power) is not None
    assert "nothing was spent" in str(said)
    assert "<div" in said._repr_html_()


def test_a_statistic_that_is_declared_is_forecast() -> None:
    assert all(declared(name).world is not None for name in homes())


def test_a_total_of_many_rows_is_scaled() -> None:
    """Rows that are not made up still add to a total: its noise is that of the given epsilon."""
    from discreet.forecasts.simulate import Trial, measured
    from discreet.worlds.assumptions import About, World

    counted, rows = declared("count"), 200_000
    world = World(
        make=lambda g, n: {"x": g.random(n) < 0.5}, plain=lambda x: x.sum(), measure="of the table", total=True
    )
    options = About(counted, rows, {}).options()
    seen = measured(Trial(statistic=counted, world=world, options=options, rows=rows, epsilon=0.01), 0.95)
    assert seen.error is not None
    assert seen.error == pytest.approx(69, rel=0.4)  # the median of |Laplace(100)|
    assert (seen.sampling, seen.without) == (None, 0.0)


def test_replace_with_missing_entries_left_out_costs_half_of_epsilon() -> None:
    """How many people are left is private: the function runs so, and so does its forecast."""
    kept, dropped = (
        forecast("histogram", rows=2000, epsilon=1.0, categories=[0, 1], neighbours="replace", missing=missing)
        for missing in ("keep", "drop")
    )
    assert forecast("histogram", rows=2000, epsilon=0.5, categories=[0, 1]).error == dropped.error
    assert kept.error is not None
    added = forecast("histogram", rows=2000, epsilon=1.0, categories=[0, 1])
    assert added.error is not None
    assert added.error < kept.error


BAD: list[tuple[str, dict[str, Any], str]] = [
    ("average", {}, "the statistic is 'average'"),
    ("mean", {"rows": 0}, "whole number"),
    ("mean", {"rows": 1.5}, "whole number"),
    ("mean", {"scale": -1}, "scale is -1"),
    ("mean", {"shape": "cauchy"}, "shape is 'cauchy'"),
    ("mean", {"colour": 3}, "colour: neither an option of mean"),
    ("mean", {"level": 0.1}, "level: neither an option of mean"),
    ("mean", {"epsilon": 0}, "epsilon is 0"),
    ("mean", {"confidence": 2}, "confidence is 2"),
    ("mean", {"delta": 0.1}, "delta is 0.1"),
    ("mean", {"neighbours": "both"}, "neighbours is 'both'"),
    ("variance", {"shape": "t3"}, "fourth moment"),
    ("quantile", {"q": 2}, "q is 2"),
    ("fit_distribution", {}, "family is None"),
    ("fit_distribution", {"family": "gamma", "parameters": {"k": 1}}, "gamma has shape, scale"),
    ("maximum_likelihood", {"model": "nonsense"}, "continuous distribution"),
    ("fit", {}, "no estimator"),
    ("sgd", {"loss": "hinge", "delta": 1e-6}, "loss is 'hinge'"),
    ("covariance", {}, "delta"),
    ("histogram", {"categories": "ab"}, "give a list"),
    ("histogram", {"categories": [1], "edges": [0, 1]}, "one of them"),
    ("anova", {"effect": [1, 2]}, "effect is"),
    ("two_means_test", {"sizes": (1, 2)}, "sum to rows"),
    ("proportion", {"share": 1.5}, "share is 1.5"),
]


@pytest.mark.parametrize(("verb", "given", "words"), BAD)
def test_bad_parameters_are_explained(verb: str, given: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        forecast(verb, **({"rows": 1000, "epsilon": 1.0} | given))


def test_errors_of_a_shifted_distribution() -> None:
    from discreet.stages.normal_laplace import radius

    assert shifted_radius(0.5, 1.0, 0.5, 0.0) == radius(0.5, 1.0, 0.5)
    draws = np.random.default_rng(1)
    seen = np.abs(2 + draws.normal(size=200_000) + draws.laplace(0, 0.5, 200_000))
    assert shifted_radius(0.5, 1.0, 0.5, 2.0) == pytest.approx(float(np.median(seen)), rel=0.01)


def test_normal_errors_have_their_covariance() -> None:
    wanted = np.array([[2.0, -1.0], [-1.0, 1.5]])
    assert np.cov(normal_errors(wanted), rowvar=False) == pytest.approx(wanted, abs=1e-9)
    assert normal_errors(np.array([[4.0]])).std() == pytest.approx(2.0, rel=0.02)


def test_tilted_probabilities_are_as_far_as_asked() -> None:
    for count in (2, 5, 10):
        even = np.full(count, 1 / count)
        other = tilted(even, 0.1)
        assert other.sum() == pytest.approx(1.0)
        assert np.abs(other - even).sum() / 2 == pytest.approx(0.1)


def test_the_public_name_is_the_function_whatever_is_loaded() -> None:
    """No package has its name: a submodule that is imported would take its place."""
    import discreet.forecasts.required

    assert discreet.forecast is forecast


def test_a_forecast_is_a_plain_value() -> None:
    said = forecast("count", rows=10, epsilon=1)
    assert isinstance(said, Forecast)
    with pytest.raises(AttributeError):
        said.error = 0.0  # type: ignore[misc]
