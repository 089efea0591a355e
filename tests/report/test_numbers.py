import itertools
import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from discreet.privacy.intervals import finite
from discreet.report.sentences import ROOM, Axis, number, spelled

anything = st.floats() | st.integers() | st.sampled_from([10**400, -(10**400), 5e-324, 1e308])


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (10_000, "10,000"),
        (1e4, "10,000"),
        (123456.0, "123,456"),
        (8366, "8,366"),
        (0.00012345, "0.0001234"),
        (1e-6, "10⁻⁶"),
        (2.5e-7, "2.5\u00a0×\u00a010⁻⁷"),
        (-1e20, "-10²⁰"),
        (0.0, "0"),
        (-0.0, "0"),
        (-0.00004, "-4\u00a0×\u00a010⁻⁵"),
        (float("nan"), "–"),
        (float("inf"), "–"),
        (10**400, "–"),
        (True, "–"),
        ("7", "–"),
    ],
    ids=range(16),
)
def test_numbers_are_shown_as_people_write_them(given: object, shown: str) -> None:
    assert number(given) == shown


@given(anything)
def test_a_shown_number_is_near_and_has_no_letters(given: float) -> None:
    shown = number(given)
    assert "e" not in shown
    if (value := finite(given)) is not None and 1e-4 <= abs(value) < 1e15:
        assert math.isclose(float(shown.replace(",", "")), value, rel_tol=1e-3)


@given(st.floats(-1e9, 1e9), st.floats(1e-9, 1e9), st.floats(1e-9, 1e9))
def test_intervals_are_never_rounded_inwards(value: float, below: float, above: float) -> None:
    low, high = value - below, value + above
    _, shown_low, shown_high = spelled(value, low, high)
    if low < high and max(map(abs, (low, high))) >= 1e-4:
        assert float(shown_low.replace(",", "")) <= low
        assert float(shown_high.replace(",", "")) >= high


@given(anything, anything, anything)
@example(1.0, 0.0, 5e-324)
def test_any_three_are_spelled(value: float, low: float, high: float) -> None:
    assert all(isinstance(said, str) and said for said in spelled(value, low, high))


@given(st.lists(anything | st.none(), max_size=5), st.booleans())
def test_every_axis_has_places_for_all(numbers: list[float | None], zero: bool) -> None:
    axis = Axis.over(numbers, zero=zero)
    known = [item for item in map(finite, numbers) if item is not None]
    if axis is None:
        assert not known
        return
    assert axis.low < axis.high
    places = [axis.at(float(item)) for item in sorted(known)]
    assert places == sorted(places)
    assert all(2 <= place <= 98 for place in places)
    assert 1 <= len(axis.ticks()) <= 7
    assert sum(len(said) + 2 for _, said in axis.ticks()) <= ROOM
    assert all(2 <= axis.at(place) <= 98 and said for place, said in axis.ticks())


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
def test_places_on_an_axis_are_round_and_different(low: float, span: float) -> None:
    ticks = Axis(low, low + span).ticks()
    assert 2 <= len(ticks) <= 6
    assert len({said for _, said in ticks}) == len(ticks)
    steps = {round((after[0] - before[0]) / span, 4) for before, after in itertools.pairwise(ticks)}
    assert len(steps) == 1
