"""What people hand in."""

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.audit.worlds import HOSTILE
from discreet.errors import BadInput
from discreet.statistics.rows import column, key, name, numbers, truths

anything = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.binary(),
    st.lists(st.integers()),
    st.just(object()),
)


@pytest.mark.claim("R1")
@given(st.lists(anything))
def test_no_entry_raises(entries: list[Any]) -> None:
    assert len(truths(entries)) == len(numbers(entries)) == len(column(entries)) == len(entries)
    for entry in entries:
        hash(key(entry))


@pytest.mark.claim("R1")
@given(st.lists(anything, min_size=1), anything)
def test_an_entry_is_read_by_itself(entries: list[Any], other: Any) -> None:
    changed = [other, *entries[1:]]
    assert np.array_equal(numbers(entries)[1:], numbers(changed)[1:], equal_nan=True)
    assert np.array_equal(truths(entries)[1:], truths(changed)[1:])


@pytest.mark.claim("R1")
def test_equal_but_different_entries_have_different_keys() -> None:
    assert len({key(1), key(1.5), key(True), key("1"), key(None)}) == 5
    assert repr(key(1)) == repr(key(1.0)) == repr(key(np.float32(1)))  # whole columns turn into floats by one null
    assert key(math.nan) == key(float("nan")) == key(None) == key(np.float64("nan"))
    assert key(0.0) == key(-0.0)
    assert repr(name(key(-0.0))) == "0"
    assert key(np.int64(3)) == key(3)
    for entry in HOSTILE:
        hash(key(entry))


def test_containers() -> None:
    for rows in (
        [1, 0],
        (1, 0),
        np.array([1, 0]),
        pa.array([1, 0]),
        pa.chunked_array([[1], [0]]),
        range(2),
        {1: 0}.items(),
    ):
        assert len(column(rows)) in (1, 2)
    assert numbers(pa.array([1.5, None])).tolist()[0] == 1.5
    assert math.isnan(numbers(pa.array([1.5, None]))[1])
    coded = pa.array(["a", None, "b", "a"]).dictionary_encode()
    assert column(coded).tolist() == ["a", None, "b", "a"]  # numpy would make the null a "b"
    assert column(pa.chunked_array([coded, coded])).tolist() == ["a", None, "b", "a"] * 2
    large = 2**53 + 1
    assert column(pa.array([large, None])).tolist()[0] == column(pa.array([large, 1])).tolist()[0] == large
    masked = np.ma.MaskedArray([1.0, 99.0], mask=[False, True])
    assert math.isnan(numbers(masked)[1])
    assert column([[1, 2], [3, 4]]).shape == (2,)


def test_declared_types_and_shapes_are_refused() -> None:
    for rows in ("abc", b"abc", {"a": 1}, 5, None):
        with pytest.raises(BadInput):
            column(rows)
    with pytest.raises(BadInput, match="shape"):
        column(np.zeros((2, 2)))
    with pytest.raises(BadInput, match="complex"):
        column(np.zeros(2, dtype=complex))
    with pytest.raises(BadInput, match="type"):
        numbers(np.array(["a"]))
    with pytest.raises(BadInput, match="type"):
        numbers(np.array(["2020-01-01"], dtype="datetime64[D]"))
