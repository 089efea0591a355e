"""Coefficients by name, and their error bars."""

import numpy as np
import pytest

from discreet.errors import BadInput
from discreet.models.coefficients import CoefficientSpread
from discreet.privacy.values import Coefficients

LINE = Coefficients(np.array([2.0, -1.0]), 0.5, ("age", "dose"))


def test_an_array_of_its_coefficients() -> None:
    assert np.asarray(LINE).tolist() == [2.0, -1.0] == list(LINE)
    assert len(LINE) == 2
    assert LINE["dose"] == -1.0 == LINE[1]
    with pytest.raises(BadInput, match="weight"):
        LINE["weight"]


@pytest.mark.parametrize(
    ("link", "expected"), [("identity", 1.5), ("logit", 1 / (1 + np.exp(-1.5))), ("log", np.e**1.5)]
)
def test_predictions_follow_the_link(link: str, expected: float) -> None:
    model = Coefficients(LINE.coef, LINE.intercept, LINE.names, link)  # type: ignore[arg-type]
    assert model.predict([[1.0, 1.0]]) == pytest.approx([expected])
    with pytest.raises(BadInput, match="2 columns"):
        model.predict([[1.0]])


@pytest.mark.claim("descent.4")
def test_intervals_of_slopes_that_are_drawn_to_none_are_about_those_found_and_reach_those_shown() -> None:
    shown, errors = LINE.with_numbers(np.array([0.5, 0.0, 0.0])), np.array([3.0, 0.5, 1.0])
    bar = CoefficientSpread(shown, errors, np.zeros(3), middle=LINE).interval(0.95)
    assert list(bar.low.coef) == pytest.approx([0.0, -1 - 1.959964])
    assert list(bar.high.coef) == pytest.approx([2 + 1.959964 * 0.5, -1 + 1.959964])
    assert bar.high.intercept == pytest.approx(0.5 + 1.959964 * 3)


def test_intervals_add_both_sources_of_error() -> None:
    spread = CoefficientSpread(LINE, np.array([3.0, 0.3, 0.6]), np.array([4.0, 0.4, 0.8]))
    assert spread.errors.tolist() == [5.0, 0.5, 1.0]
    bar = spread.interval(0.95)
    assert bar.low.intercept == pytest.approx(0.5 - 1.959964 * 5)
    assert bar.high.coef == pytest.approx([2 + 1.959964 * 0.5, -1 + 1.959964])
    assert spread.sampling["age"] == 0.3
    assert spread.privacy["dose"] == 0.8
