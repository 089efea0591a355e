"""A release: an answer or a refusal."""

import json
import math
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import discreet
from discreet import count, histogram
from discreet.errors import BadInput, Refused
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Guarantee
from discreet.privacy.intervals import NamedNumber
from discreet.privacy.release import Provenance, Release
from discreet.privacy.values import plain, value_of


def refused() -> Release[float]:
    return Release(Guarantee(1.0), Provenance("m", {}, secure=True), refusal="n epsilon is 20, 42 is needed")


def test_a_refusal_is_a_result() -> None:
    release = refused()
    for wanted in (lambda: release.value, release.interval):
        with pytest.raises(Refused, match="42 is needed"):
            wanted()
    assert release.map(lambda x: x + 1).refusal == release.refusal
    assert "refused" in str(release)
    record = json.loads(release.to_json())
    assert record["refusal"]
    assert record["value"] is None


def test_map_is_post_processing() -> None:
    release = count([1] * 50 + [0] * 50, epsilon=1.0, rng=Seeded(1))
    doubled = release.map(lambda x: 2 * x, monotone=True)
    assert doubled.value == 2 * release.value
    assert doubled.interval(0.9).high == 2 * release.interval(0.9).high
    assert release.map(lambda x: -x, monotone=True).interval(0.9).low == -release.interval(0.9).high
    assert doubled.guarantee == release.guarantee
    with pytest.raises(Refused, match="monotone"):
        release.map(lambda x: x % 7).interval()


@pytest.mark.parametrize("confidence", [0, 1, -0.5, 2, math.nan, "0.9", None])
def test_confidence_is_checked(confidence: object) -> None:
    with pytest.raises(BadInput, match="confidence"):
        count([1], epsilon=1.0).interval(confidence)  # type: ignore[arg-type]


def test_receipts_and_cards() -> None:
    release = count([1], epsilon=1.0, unit="<b>patient</b>").signed("r-1")
    assert release.provenance.receipt == "r-1"
    assert "<b>" not in release._repr_html_()
    assert "patient" in release._repr_html_()


def test_plain_values_are_json() -> None:
    release = histogram(["a"] * 9, epsilon=1.0, categories=["a", "b"])
    record = json.loads(release.to_json())
    assert record["value"]["keys"] == ["a", "b"]
    assert record["interval"]["low"] == release.interval().low.tolist()
    assert record["provenance"]["versions"]["discreet"]
    assert plain([math.inf, math.nan, Fraction(1, 2), np.float32(2), {1: object}])[:4] == [None, None, 0.5, 2.0]


def test_answers_in_a_line() -> None:
    assert str(value_of(np.arange(10.0))).endswith("...]")
    assert str(value_of(Fraction(1, 3))) == "0.333333"
    assert str(value_of(np.float64(2.5))) == "2.5"


def test_one_number_is_a_number_to_python() -> None:
    release = count([1] * 50 + [0] * 50, epsilon=1.0, rng=Seeded(1))
    assert float(release) == release.value
    assert f"{release:.1f}" == f"{release.value:.1f}"
    assert f"{release}" == str(release)
    low, high = release.interval()
    assert (low, high) == (release.interval().low, release.interval().high)
    with pytest.raises(Refused, match="42"):
        float(refused())
    with pytest.raises(BadInput, match="not one number"):
        float(histogram(["a"], epsilon=1.0, categories=["a"]))


def test_every_number_is_in_the_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    release = histogram(["a"] * 9, epsilon=1.0, categories=["a", "b"], rng=Seeded(1))
    pd = pytest.importorskip("pandas")
    frame = release.to_frame(0.9)
    assert isinstance(frame, pd.DataFrame)
    assert frame["name"].tolist() == ["a", "b", "in none of these"]
    assert frame["low"].tolist()[:2] == release.interval(0.9).low.tolist()
    with pytest.raises(Refused, match="42"):
        refused().to_frame()
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(BadInput, match="pip install pandas"):
        release.to_frame()


def test_columns_are_named_where_they_are_known() -> None:
    answer: Release[Any] = Release(Guarantee(1.0), Provenance("m", {}, secure=True), np.array([1.0, 2.0]))
    assert answer.named(["age", "bmi"]).value["bmi"] == 2.0
    assert answer.named(["age"]).value.names == ()
    assert refused().named(["age"]).refusal


def test_a_function_without_a_value_at_an_end_costs_the_interval_only() -> None:
    release = count([1] * 9 + [0], epsilon=0.1, rng=Seeded(2))
    assert release.interval().low == 0 < release.value
    inverse = release.map(lambda x: 1 / x, monotone=True)
    with pytest.raises(Refused, match="ends"):
        inverse.interval()
    assert "ends" in str(inverse)
    assert json.loads(inverse.to_json())["interval"] is None
    tally = histogram(["a"] * 9, epsilon=1.0, categories=["a", "b"]).map(lambda t: t.counts, monotone=True)
    assert "ends" in str(tally)  # the interval's ends are arrays, the function wants a tally


def _negative(tally: Any) -> Any:
    return -getattr(tally, "counts", tally)


def test_a_function_of_many_numbers() -> None:
    release = histogram(["a"] * 9, epsilon=1.0, categories=["a", "b"], rng=Seeded(1))
    numbers = release.map(_negative, monotone=True)
    assert (numbers.interval().low == -release.interval().high).all()


def test_near_certainty_is_not_called_certainty() -> None:
    names = [count([1], epsilon=1.0).interval(confidence).name for confidence in (0.95, 0.57, 0.999, 0.999999999)]
    assert names == [f"{percent}% noise interval" for percent in ("95", "57", "99.9", "99.9999999")]


def test_json_can_be_written_whatever_the_categories() -> None:
    release = histogram(["\ud800", b"\xff"], epsilon=1.0, categories=["\ud800", b"\xff", "é", None])
    keys = json.loads(release.to_json().encode())["value"]["keys"]
    assert keys == ["\ud800", "b'\\xff'", "é", None]
    release._repr_html_()
    assert plain(Release) == str(Release)


@given(st.floats(-1e12, 1e12), st.floats(1e-9, 1e12), st.floats(0, 1))
def test_a_shown_interval_holds_the_whole_interval(low: float, width: float, place: float) -> None:
    """Ends are rounded outwards, so that what is printed covers at least what was promised."""
    high = low + width
    assume(high > low)
    number = NamedNumber("", low + place * width, low, high)
    shown = [float(end) for end in number.told[1].strip("[]").split(",")]
    slack = 0.0 if max(abs(low), abs(high)) >= 1e-4 else 1e-5 * max(abs(low), abs(high))
    assert shown[0] <= low + slack
    assert shown[1] >= high - slack
    assert shown[1] - shown[0] <= 1.21 * width + 1e-4 * max(abs(low), abs(high))


def test_a_release_is_two_lines_and_a_table() -> None:
    rng = discreet.Seeded(3)
    ages = [20.0 + person % 50 for person in range(4_000)]
    one = discreet.mean(ages, epsilon=1.0, rng=rng)
    assert len(repr(one).splitlines()) == 2
    assert repr(one).startswith(one.interval().about.replace("the population's ", ""))  # what it is about comes first
    several = discreet.quantile(ages, [0.25, 0.5, 0.75], epsilon=3.0, rng=rng)
    head, names, *rows = str(several).splitlines()
    assert head == "quantiles:"
    assert names.split() == ["estimate", "interval", "sampling", "privacy"]
    assert [row.split()[0] for row in rows[:3]] == ["25%", "50%", "75%"]
    assert len(repr(several).splitlines()) == 2
    assert "monospace" in several._repr_html_()
    few = discreet.mean([1.0, 2.0], epsilon=0.1, rng=rng)
    assert repr(few).startswith("mean: refused. ")
