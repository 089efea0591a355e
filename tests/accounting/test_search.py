import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting.search import largest, smallest


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
