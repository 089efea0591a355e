"""Tables as arrays of numbers."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from discreet.audit.worlds import HOSTILE, THORNS
from discreet.errors import BadInput
from discreet.friendly.rows import matrix, number


@pytest.mark.claim("FR1")
def test_entries_are_read_one_by_one_and_never_raise() -> None:
    odd = [*HOSTILE, *THORNS]
    for columns in (1, 2):
        rows = [*odd, [1.0, 2.0], (3, True), np.array([4.0, 5.0]), np.array([[1.0]])]
        table = matrix(rows, columns)
        assert table.shape == (len(rows), columns)
        for place, entry in enumerate(rows):
            alone = matrix([entry], columns)[0]
            assert np.array_equal(alone, table[place], equal_nan=True)
    assert matrix([[1.0, "x"], [Fraction(1, 2), Decimal(3)], [1.0]], 2)[1].tolist() == [0.5, 3.0]
    assert math.isnan(number("1"))
    assert number(np.bool_(True)) == 1.0


@pytest.mark.claim("FR1")
def test_arrays_bring_their_shape() -> None:
    assert matrix(np.arange(3)).tolist() == [[0.0], [1.0], [2.0]]
    assert matrix(np.zeros((0, 4))).shape == (0, 4)
    assert matrix(np.array([[1, None], ["a", 2.5]], dtype=object))[1, 1] == 2.5
    masked = np.ma.MaskedArray([[1.0, 2.0]], mask=[[True, False]])
    assert np.isnan(matrix(masked)[0, 0])
    with np.errstate(all="raise"):
        assert matrix(np.array([[np.longdouble("1e4000")]]))[0, 0] == math.inf


def test_refused_by_declared_shapes_and_types_alone() -> None:
    for rows in (5, "text", {"a": 1}, np.array(["a"]), np.array([1j]), np.zeros((2, 2, 2)), np.zeros((3, 0)), None):
        with pytest.raises(BadInput):
            matrix(rows)
    with pytest.raises(BadInput, match="columns="):
        matrix([[1.0, 2.0]])
    with pytest.raises(BadInput, match="columns=3"):
        matrix(np.zeros((4, 2)), 3)
