import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.privacy.exact import bisect, largest, least_whole, smallest, solve


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
