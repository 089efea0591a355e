"""Rows as they are handed in."""

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from discreet.audit.worlds import HOSTILE, THORNS
from discreet.errors import BadInput
from discreet.tables import matrix as module
from discreet.tables.entries import number
from discreet.tables.matrix import columns_of, in_one, matrix, take
from discreet.tables.streams import Stream

BLOCKS = [np.zeros((2, 2)), np.zeros((2, 3))]


def whole(rows: Any, width: int | None = None) -> Any:
    return in_one(matrix(rows, width))


@pytest.mark.claim("matrix.1")
@pytest.mark.parametrize("columns", [1, 2])
def test_each_row_is_read_by_itself_and_nothing_raises(columns: int) -> None:
    odd = [*HOSTILE, *THORNS]
    rows = [*odd, *([entry] * columns for entry in odd), [1.0, 2.0], (3, True), np.array([4.0, 5.0]), np.array([[1.0]])]
    listed = np.empty(len(rows), dtype=object)
    for place, entry in enumerate(rows):
        listed[place] = entry
    for table in (whole(rows, columns), whole(listed, columns)):
        assert table.shape == (len(rows), columns)
        for place, entry in enumerate(rows):
            assert np.array_equal(whole([entry], columns)[0], table[place], equal_nan=True)


@pytest.mark.claim("matrix.1")
def test_what_is_a_number_and_what_a_row() -> None:
    assert np.isnan(whole([[1.0], [1.0, 2.0, 3.0], "ab", None], 2)).all()
    assert whole([[1.0, "x"], [Fraction(1, 2), Decimal(3)], [1.0]], 2)[1].tolist() == [0.5, 3.0]
    assert whole([(1, Decimal("2.5")), np.array([3, 4])], 2).tolist() == [[1, 2.5], [3, 4]]
    assert whole([1, 2.5, True], 1).ravel().tolist() == [1, 2.5, 1]
    assert math.isnan(number("1"))
    assert number(np.bool_(True)) == 1.0


@pytest.mark.claim("matrix.1")
def test_arrays_bring_their_shape() -> None:
    rows = np.arange(12.0).reshape(6, 2)
    assert whole(rows) is rows  # no copy
    assert whole(rows[:, 0]).shape == (6, 1)
    assert matrix(rows).size == 6
    assert whole(np.zeros((0, 4))).shape == (0, 4)
    assert whole(np.array([[1, None], ["a", 2.5]], dtype=object))[1, 1] == 2.5
    assert np.isnan(whole(np.ma.masked_equal(rows, 3.0))[1, 1])
    with np.errstate(all="raise"):
        assert whole(np.array([[np.longdouble("1e4000")]]))[0, 0] == math.inf


@pytest.mark.claim("matrix.1")
def test_tables_and_columns_of_arrow() -> None:
    """Batch by batch; a null is no number."""
    table = pa.table(
        {"a": [1.0, 2.0, 3.0, 4.0, 5.0], "b": pa.array([1, None, 5, 7, 9]), "c": [True, False, None] + [True] * 2}
    )
    batched = pa.Table.from_batches(table.to_batches(max_chunksize=2))
    expected = [[1, 1, 1], [2, math.nan, 0], [3, 5, math.nan], [4, 7, 1], [5, 9, 1]]
    for given in (table, batched):
        assert matrix(given).size == 5
        np.testing.assert_array_equal(whole(given), expected)
        for place, name in enumerate("abc"):
            np.testing.assert_array_equal(whole(given[name])[:, 0], np.array(expected)[:, place])
            np.testing.assert_array_equal(whole(given[name].combine_chunks())[:, 0], np.array(expected)[:, place])
    assert whole(batched.slice(0, 0)).shape == (0, 3)


@pytest.mark.claim("matrix.1")
def test_data_frames_and_their_columns() -> None:
    pd: Any = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": pd.array([1, None], dtype="Int64")})
    np.testing.assert_array_equal(whole(frame), [[1, 1], [2, math.nan]])
    np.testing.assert_array_equal(whole(frame["b"]), [[1], [math.nan]])


@pytest.mark.claim("matrix.1")
def test_blocks_stay_blocks() -> None:
    rows, wanted = np.arange(12.0).reshape(6, 2), np.array([5, 0, 0, 3])
    for given in ([rows[:2], rows[2:]], (block for block in (rows[:2], rows[2:]))):
        blocks = matrix(given)
        assert matrix(blocks) is blocks
        assert (in_one(blocks) == rows).all()
        assert (take(blocks, wanted) == rows[wanted]).all()


@pytest.mark.parametrize(
    "rows",
    [7, None, "text", {}, [1.0, 2.0], np.zeros((2, 2, 2)), np.zeros((2, 0)), BLOCKS],
)
def test_shapes_and_types_may_be_refused(rows: Any) -> None:
    with pytest.raises(BadInput):
        matrix(rows)


@pytest.mark.claim("matrix.1")
@pytest.mark.parametrize("made", [np.array, pd.Series, lambda listed: np.array(listed, dtype=object)])
def test_an_entry_does_not_decide_whether_one_dimension_is_too_few(made: Any) -> None:
    """Numbers where rows were declared are rows of another length, as they are beside a list."""
    listed = np.empty(3, dtype=object)
    listed[:] = [1, 2, [3, 4]]
    for rows in (made([1, 2, 3]), made([1, 2, "a"]), listed, pd.Series(listed)):
        found = in_one(matrix(rows, 2))
        assert found.shape == (3, 2)
        assert np.isnan(found[:2]).all()


def test_a_refusal_names_what_was_declared() -> None:
    for declared in ("columns", "dimension"):
        with pytest.raises(BadInput, match=f"{declared}=3"):
            matrix(np.zeros((4, 2)), 3, declared=declared)
        with pytest.raises(BadInput, match=f"{declared}="):
            matrix([[1.0, 2.0]], declared=declared)
    with pytest.raises(BadInput, match="types"):
        matrix(pa.table({"a": ["x"]}))


@pytest.mark.claim("matrix.1")
@pytest.mark.parametrize("odd", [1j, None, "x", "\ud800", 2**70, True])
def test_a_frame_is_read_column_by_column(odd: Any) -> None:
    """All at once, a complex number in one column would make everybody's entries complex, and a text might raise."""
    for made in (list, lambda listed: pd.Series(listed, dtype="category")):
        frame = pd.DataFrame({"a": made([odd, 2, 3]), "b": ["u", "v", "w"], "c": [1.5, 2.5, 3.5]})
        assert in_one(matrix(frame))[1:, [0, 2]].tolist() == [[2.0, 2.5], [3.0, 3.5]]
    listed = pl.DataFrame({"a": pl.Series([odd, 2, 3], dtype=pl.Object), "c": [1.5, 2.5, 3.5]})
    assert in_one(matrix(listed))[1:].tolist() == [[2.0, 2.5], [3.0, 3.5]]


@pytest.mark.parametrize("size", [0, 1, 511, 512, 1300])
def test_columns_are_copied_several_at_a_time(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(size).normal(size=(size, 5))
    rows[::7, 2] = np.nan
    for room in (1, 2 * size, 1 << 24):
        monkeypatch.setattr(module, "ROOM", room)
        found: list[Any] = list(columns_of(rows, 5))
        assert [one.tobytes() for one in found] == [rows[:, place].tobytes() for place in range(5)]
        assert all(one.flags.c_contiguous for one in found)
    pieces = Stream(size, lambda: iter(np.array_split(rows, 3)))
    some = [np.concatenate(list(column)) for column in columns_of(pieces, 5)]
    assert [one.tobytes() for one in some] == [rows[:, place].tobytes() for place in range(5)]
