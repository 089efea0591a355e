"""Guesses of low, typical and high values: what shape they say, and that far quantiles err as they then should."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import discreet
from discreet.errors import BadInput
from discreet.forecasts.forecast import forecast
from discreet.privacy.declaration import declared
from discreet.worlds.assumptions import About
from discreet.worlds.shapes import SHAPES, AssumedColumn, lognormal

ENDS = (0.01, 0.5, 0.99)


def column(**guesses: Any) -> AssumedColumn:
    return AssumedColumn.of(About(declared("mean"), 1000, dict(guesses)))


@pytest.mark.parametrize("high", [60.0, 16.0, 20.0, 1e4])
def test_guesses_are_quantiles_of_what_is_assumed(high: float) -> None:
    for sign in (1, -1):  # and the mirror image
        low, typical, far = sorted((sign * 10.0, sign * 15.0, sign * high))
        found = column(low=low, typical=typical, high=far)
        assert [found.quantile(q) for q in ENDS] == pytest.approx([low, typical, far], rel=1e-9, abs=1e-9)
        drawn = found.draw(np.random.default_rng(1), 100_000)
        assert np.median(drawn) == pytest.approx(typical, rel=0.02)
        assert np.mean((drawn > low) & (drawn < far)) == pytest.approx(0.98, abs=0.002)


def test_even_guesses_are_normal() -> None:
    found = column(low=0, typical=15, high=30.1)
    assert found.shape == "normal"
    assert [found.quantile(q) for q in ENDS] == pytest.approx([-0.05, 15, 30.05])


@pytest.mark.parametrize("shape", [lognormal(1.0), lognormal(0.3, -1), SHAPES["lognormal"]])
def test_a_lognormal_shape_is_standard(shape: Any) -> None:
    q = (np.arange(200_000) + 0.5) / 200_000
    values = shape.ppf(q)
    assert np.all(np.diff(values) > 0)
    assert shape.cdf(values) == pytest.approx(q, abs=1e-9)
    middle = slice(1000, -1000)
    slope = np.gradient(q, values)
    assert shape.pdf(values)[middle] == pytest.approx(slope[middle], rel=0.01)
    assert float(values.mean()) == pytest.approx(0.0, abs=1e-3)
    assert float(values.std()) == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize(
    "guesses",
    [
        {"low": 1},
        {"low": 1, "typical": 2},
        {"low": 1, "typical": 1, "high": 2},
        {"low": 3, "typical": 2, "high": 1},
        {"low": "a", "typical": 2, "high": 3},
        {"low": float("nan"), "typical": 2, "high": 3},
        {"low": 1, "typical": 2, "high": float("inf")},
        {"low": 1, "typical": 2, "high": 3, "shape": "lognormal"},
        {"low": 1, "typical": 2, "high": 3, "scale": 1},
        {"low": 0, "typical": 1, "high": 1e5},
    ],
)
def test_guesses_that_say_nothing_are_refused(guesses: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match="low, typical and high are"):
        forecast("maximum", rows=1000, epsilon=1.0, **guesses)


def test_the_first_line_says_what_shape_was_taken() -> None:
    said = forecast("maximum", rows=20_000, epsilon=1.0)
    assert said.if_normal
    assert "standard deviations, if values are normal; " in str(said).splitlines()[0]
    assert set(said.other_shapes) == {"uniform", "exponential", "lognormal"}
    for name, error in said.other_shapes.items():
        assert forecast("maximum", rows=20_000, epsilon=1.0, shape=name).error == error
    wide = replace(said, other_shapes={"uniform": 0.5, "lognormal": None, "exponential": 2.0})
    assert "if values are normal; 0.5 to 2 if uniform or exponential; refused if lognormal" in str(wide)
    about: dict[str, Any]
    for about in ({"shape": "lognormal"}, {"shape": "normal"}, {"low": 1, "typical": 2, "high": 9}):
        declared_shape = forecast("maximum", rows=20_000, epsilon=1.0, **about)
        assert not declared_shape.if_normal
        assert "if values are normal" not in str(declared_shape)
    assert not forecast("count", rows=100, epsilon=1.0).if_normal
    assert declared_shape.units == ""


SKEWED: dict[str, dict[str, Any]] = {
    "lognormal": {"shape": "lognormal", "location": 10.0, "scale": 3.0},
    "exponential": {"shape": "exponential", "location": 10.0, "scale": 3.0},
    "guessed": {"low": 7.0, "typical": 9.0, "high": 30.0},
}


CASES = [("minimum", 20_000), ("maximum", 20_000), ("iqr", 4_000)]


def measured(verb: str, rows: int, about: dict[str, Any], given: dict[str, Any], runs: int) -> tuple[float, float]:
    """The median error and half-width of so many releases of made-up columns."""
    made = AssumedColumn.of(About(declared(verb), rows, dict(about)))
    low, high = made.quantile(0.25), made.quantile(0.75)
    truth = {"minimum": made.quantile(0.01), "maximum": made.quantile(0.99), "iqr": high - low}[verb]
    errors, widths = [], []
    for run in range(runs):
        x = made.draw(np.random.default_rng(1000 + run), rows)
        release = getattr(discreet, verb)(x, epsilon=1.0, rng=discreet.Seeded(run), **given)
        if release.refusal is not None:  # now and then an end is drawn far beyond any data
            continue
        ends = release.interval()
        errors.append(abs(release.value - truth))
        widths.append((ends.high - ends.low) / 2)
    assert len(errors) > 0.9 * runs
    return float(np.median(errors)), float(np.median(widths))


@pytest.mark.parametrize(("verb", "rows"), CASES)
@pytest.mark.parametrize("about", SKEWED.values(), ids=SKEWED)
def test_intervals_of_skewed_columns_are_as_wide_as_forecast(verb: str, rows: int, about: dict[str, Any]) -> None:
    """With fixed seeds. Taken to be normal they would be up to 40 times as wide, or a quarter."""
    said = forecast(verb, rows=rows, epsilon=1.0, **about)
    _, width = measured(verb, rows, about, {}, 12)
    assert said.half_width == pytest.approx(width, rel=0.25)


@pytest.mark.study
@pytest.mark.parametrize("bounds", [None, (-20, 200)])
@pytest.mark.parametrize(("verb", "rows"), CASES)
@pytest.mark.parametrize("about", SKEWED.values(), ids=SKEWED)
def test_skewed_columns_err_as_forecast(verb: str, rows: int, bounds: Any, about: dict[str, Any]) -> None:
    """Within 25% by 200 runs with fixed seeds, whose median is good to 8%."""
    given = {} if bounds is None else {"bounds": bounds}
    said = forecast(verb, rows=rows, epsilon=1.0, **about, **given)
    error, width = measured(verb, rows, about, given, 200)
    assert said.error is not None
    assert said.half_width is not None
    assert said.error == pytest.approx(error, rel=0.25)
    assert said.half_width == pytest.approx(width, rel=0.2)
