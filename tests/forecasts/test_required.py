"""What a target asks for."""

import json
from dataclasses import replace
from typing import Any

import pytest

from discreet.errors import BadInput
from discreet.forecasts.forecast import forecast
from discreet.forecasts.required import required


def test_the_least_number_of_rows_is_the_least() -> None:
    found = required("proportion", error=0.02, epsilon=0.2, share=0.3)
    assert found.rows is not None
    assert found.solved == "rows"
    at, below = (forecast("proportion", rows=rows, epsilon=0.2, share=0.3) for rows in (found.rows, found.rows - 1))
    assert at.error is not None
    assert below.error is not None
    assert at.error <= 0.02 < below.error
    assert found.rows_without_privacy is not None
    assert found.rows_without_privacy <= found.rows


def test_the_least_epsilon_is_the_least() -> None:
    found = required("count", error=10, rows=1000)
    assert found.epsilon is not None
    assert found.epsilon == pytest.approx(0.069, abs=0.005)
    assert forecast("count", rows=1000, epsilon=found.epsilon).error == 10
    assert found.rows_without_privacy is None
    assert "needs epsilon" in str(found)


def test_simulated_answers_are_close() -> None:
    found = required("mean", error=0.02, rows=2000, scale=1.0)
    assert found.epsilon is not None
    assert found.forecast is not None
    assert found.forecast.error == pytest.approx(0.02, rel=0.05)
    again = forecast("mean", rows=2000, epsilon=found.epsilon, scale=1.0)
    assert replace(again, other_shapes={}) == found.forecast


def test_what_is_answered_only_above_an_epsilon_is_more_accurate_than_asked() -> None:
    """Locating the data needs n * epsilon of some size, and from there on the error is small enough."""
    found = required("mean", error=0.05, rows=2000, scale=1.0)
    assert found.forecast is not None
    assert found.forecast.error is not None
    assert found.forecast.error < 0.05


def test_half_widths_have_needs_too() -> None:
    more = required("mean", half_width=0.1, epsilon=1.0)
    assert more.rows is not None
    assert "with a half-width of 0.1 standard deviations: needs" in str(more)
    assert more.forecast is not None
    assert more.forecast.half_width == pytest.approx(0.1, rel=0.05)


def test_power_has_needs_too() -> None:
    found = required("two_means_test", power=0.8, epsilon=1.0, effect=0.3, model="gaussian")
    assert found.forecast is not None
    assert found.forecast.power == pytest.approx(0.8, abs=0.04)
    assert found.rows_without_privacy is None


def test_what_sampling_forbids_no_epsilon_allows() -> None:
    found = required("proportion", error=0.001, rows=1000)
    assert found.epsilon is None
    assert found.forecast is None
    assert "no epsilon reaches it" in str(found.impossible)
    assert found.rows_without_privacy == pytest.approx(113_700, rel=0.01)
    assert "no private method is below" in str(found)
    json.dumps(found.to_dict())
    assert "<div" in found._repr_html_()


def test_what_noise_forbids_no_rows_allow() -> None:
    """A count's noise does not fall with the rows."""
    found = required("count", error=1, epsilon=0.1)
    assert found.rows is None
    assert "not reached" in str(found)


BAD: list[tuple[dict[str, Any], str]] = [
    ({"epsilon": 1.0}, "0 targets"),
    ({"epsilon": 1.0, "error": 1, "half_width": 1}, "2 targets"),
    ({"epsilon": 1.0, "error": -1}, "error is -1"),
    ({"error": 1}, "leave out one"),
    ({"error": 1, "rows": 10, "epsilon": 1.0}, "leave out one"),
    ({"power": 0.5, "epsilon": 1.0}, "power= for a test"),
    ({"error": 1, "rows": -5}, "rows is -5"),
]


@pytest.mark.parametrize(("given", "words"), BAD)
def test_bad_parameters_are_explained(given: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        required("count", **given)
    with pytest.raises(BadInput, match="the statistic is 'average'"):
        required("average", error=1, rows=10)
