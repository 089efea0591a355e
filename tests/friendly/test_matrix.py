"""Rows as they are handed in."""

from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from discreet.audit.worlds import HOSTILE, THORNS
from discreet.errors import BadInput
from discreet.friendly.matrix import matrix


def whole(rows: Any, width: int | None = None) -> Any:
    return np.concatenate(list(matrix(rows, width).blocks()))


@pytest.mark.claim("TM1")
def test_each_row_is_read_by_itself_and_nothing_raises() -> None:
    for odd in (*HOSTILE, *THORNS):
        for width in (1, 2):
            usual = [1.0, 2.0][:width]
            found = whole([usual, odd, usual, [odd] * width], width)
            assert found.shape == (4, width)
            assert (found[0] == usual).all()
            assert (found[2] == usual).all()
    assert np.isnan(whole([[1.0], [1.0, 2.0, 3.0], "ab", None], 2)).all()
    assert whole([(1, Decimal("2.5")), np.array([3, 4])], 2).tolist() == [[1, 2.5], [3, 4]]
    assert whole([1, 2.5, True], 1).ravel().tolist() == [1, 2.5, 1]


@pytest.mark.claim("TM1")
def test_tables_blocks_and_masks() -> None:
    rows = np.arange(12.0).reshape(6, 2)
    table = pa.table({"a": rows[:, 0], "b": pa.array([1, None, 5, 7, 9, 11])})
    found = whole(table)
    assert np.isnan(found[1, 1])
    assert (np.delete(found, 1, axis=0) == np.delete(rows, 1, axis=0)).all()
    assert (whole([rows[:2], rows[2:]]) == rows).all()
    assert (whole(block for block in (rows[:2], rows[2:])) == rows).all()
    assert np.isnan(whole(np.ma.masked_equal(rows, 3.0))[1, 1])
    assert matrix(rows).size == matrix(table).size == 6
    assert next(matrix(rows).blocks()) is rows  # no copy
    assert whole(rows[:, 0]).shape == (6, 1)


@pytest.mark.parametrize(
    "rows",
    [7, "text", {}, [1.0, 2.0], np.zeros((2, 2, 2)), np.zeros((2, 0)), np.array(["a"]), [np.zeros((2, 2)), np.zeros((2, 3))]],
)  # fmt: skip
def test_shapes_and_types_may_be_refused(rows: Any) -> None:
    with pytest.raises(BadInput):
        matrix(rows)
    with pytest.raises(BadInput, match="dimension=3"):
        matrix(np.zeros((4, 2)), 3)
    with pytest.raises(BadInput, match="types"):
        matrix(pa.table({"a": ["x"]}))
