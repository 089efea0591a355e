import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from discreet.privacy.exact import (
    bisect,
    crossing,
    exact,
    float_above,
    is_number,
    largest,
    least_whole,
    root_above,
    root_below,
    show,
    smallest,
    solve,
)


def test_numbers_as_written() -> None:
    assert exact(0.1) == Fraction(1, 10)
    assert sum([exact(0.1)] * 10) == 1
    assert exact(1e-300) == Fraction(1, 10**300)
    assert exact(Fraction(1, 3)) == Fraction(1, 3)
    assert exact(7) == exact(7.0) == 7
    assert exact(np.float64(0.3)) == Fraction(3, 10)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_comes_back(number: float) -> None:
    assert float(exact(number)) == number


@given(st.fractions(min_value=-(10**9), max_value=10**9))
def test_float_above_is_the_least(number: Fraction) -> None:
    above = float_above(number)
    assert Fraction(above) >= number
    assert Fraction(math.nextafter(above, -math.inf)) < number


@given(st.fractions(min_value=0, max_value=10**12))
def test_roots_are_next_to_the_root_on_their_side(number: Fraction) -> None:
    above, below, step = root_above(number), root_below(number), Fraction(1, 2**60)
    assert below**2 <= number <= above**2
    assert above == 0 or (above - step) ** 2 < number
    assert (below + step) ** 2 > number


def test_perfect_squares_have_exact_roots() -> None:
    for root in (root_above, root_below):
        assert root(0) == 0
        assert root(Fraction(9, 4)) == Fraction(3, 2)


@pytest.mark.parametrize("value", [1, -2.5, Fraction(1, 3), np.float64(1), np.int64(3)])
def test_numbers(value: object) -> None:
    assert is_number(value)


@pytest.mark.parametrize("value", [True, None, "1", math.nan, math.inf, -math.inf, 1j, [1], np.array([1.0, 2.0])])
def test_not_numbers(value: object) -> None:
    assert not is_number(value)


def test_show() -> None:
    assert show(Fraction(1, 3)) == "0.333333"
    assert show(1.0) == "1"


@given(st.floats(5e-324, 1.7e308))
def test_finds_the_very_float(edge: float) -> None:
    assert largest(lambda x: x <= edge) == edge
    assert smallest(lambda x: x >= edge) == edge


def test_the_ends() -> None:
    assert largest(lambda _: False) == 0
    assert smallest(lambda _: False) == math.inf
    assert smallest(lambda _: True) == 0
    assert smallest(lambda x: x > 3, 2.0) == math.inf
    assert largest(lambda _: True, 8.0) == math.nextafter(8.0, 0)


@pytest.mark.parametrize("wobble", [1e-15, 1e-12])
def test_what_is_returned_holds_even_if_rounding_makes_the_edge_rough(wobble: float) -> None:
    def holds(x: float) -> bool:
        return x * (1 + wobble * math.sin(1e17 * x)) <= math.pi

    assert holds(largest(holds))


@given(st.integers(-(2**70), 2**70), st.integers(1, 2**70), st.integers(1, 2**70))
def test_least_whole_is_the_least_whole_number_that_holds(edge: int, below: int, above: int) -> None:
    assert least_whole(lambda x: x >= edge, edge - below, edge + above) == edge
    assert least_whole(lambda _: False, edge, edge + above) == edge + above
    assert least_whole(lambda _: True, edge, edge + above) == edge + 1


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.floats(1e-3, 1e6))
def test_bisect_returns_ends_that_were_tried(edge: float, below: float, above: float) -> None:
    tried = {}

    def holds(x: float) -> bool:
        tried[x] = x >= edge
        return tried[x]

    low, high = bisect(holds, edge - below, edge + above)
    assert low <= high <= low + (below + above) * 2.0**-50 + 1e-9
    assert tried.get(high, high == edge + above)
    assert not tried.get(low, low != edge - below)


def test_bisect_stops_when_the_ends_are_close() -> None:
    asked: list[float] = []
    low, high = bisect(lambda x: asked.append(x) or x >= 3, 0.0, 4.0, close=0.01)  # type: ignore[func-returns-value]
    assert low <= 3 <= high < low + 0.01 * high
    assert len(asked) == 8


def test_solve_meets_the_target_or_gives_an_end() -> None:
    assert solve(lambda x: x**3, 8.0, 0.0, 5.0) == pytest.approx(2.0, rel=1e-15)
    assert solve(lambda x: x, 9.0, 0.0, 5.0) == 5.0
    assert solve(lambda x: x, -1.0, 0.0, 5.0) == pytest.approx(0.0, abs=1e-20)


@given(st.floats(-3, 3), st.floats(0.1, 5), st.sampled_from([1e-12, 1e-8, 1e-4, 1e-2]), st.booleans())
def test_crossing_takes_the_steps_of_scipy(root: float, slope: float, close: float, curved: bool) -> None:
    def function(x: float) -> float:
        return math.exp(slope * x) - math.exp(slope * root) if curved else math.tanh(slope * (x - root)) + x - root

    assert crossing(function, -4.0, 4.5, close=close) == brentq(function, -4.0, 4.5, xtol=close, disp=False)


def test_crossing_at_an_end_and_nowhere() -> None:
    assert crossing(lambda x: x, 0.0, 1.0, close=1e-9) == 0.0
    assert crossing(lambda x: x - 1, 0.0, 1.0, close=1e-9) == 1.0
    with pytest.raises(ValueError, match="same sign"):
        crossing(lambda x: x + 1, 0.0, 1.0, close=1e-9)
