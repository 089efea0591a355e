"""What workers send back is data, whatever the bytes are."""

import datetime
import os
import pickle
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.engines.messages import received, sent
from discreet.engines.retried import Done, sealed
from discreet.tables import entries

ARRAYS = (
    pa.array([1.0, None, float("nan")]),
    pa.array([], pa.string()),
    pa.array(["a", None, "b", "a"]).dictionary_encode().slice(1, 2),
    pa.array([datetime.date(2026, 1, 2), None]),
    pa.chunked_array([[True], [None, False]]),
    pa.chunked_array([], pa.int64()),
)


class Runs:
    """Bytes that run a program when they are unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.mark),)


@pytest.mark.claim("messages.1")
def test_what_kernels_find_comes_back_the_same() -> None:
    found = {
        0: (3, [2**80, 1.5, b"raw", "text", None, {1, 2}, Counter("aab"), Decimal("1.5"), datetime.date(2026, 1, 2)])
    }
    assert received(sent(Done(found))) == Done(found)
    assert received(sent(None)) is None
    for key in map(entries.key, (True, 0.5, "a", (1, False), [2.5], Decimal("0.1"), datetime.date(2026, 1, 2))):
        assert received(sent(Done({key: 1}))) == Done({key: 1})  # as groups and categories are found by
    for array in (np.arange(6).reshape(2, 3).T, np.array(["a", None], object), np.array([0.5], "f4"), np.zeros((0, 2))):
        back = received(sent(Done((array, array.dtype.type(array.flat[0]) if array.size else 0))))
        assert back is not None
        assert back.found[0].dtype == array.dtype
        np.testing.assert_array_equal(back.found[0], array)
    for column in ARRAYS:
        back = received(sent(Done({"x": column})))
        assert back is not None
        assert type(back.found["x"]) is type(column)
        assert back.found["x"].type == column.type
        assert back.found["x"].to_pylist()[:1] == column.to_pylist()[:1]
        assert len(back.found["x"]) == len(column)


@pytest.mark.claim("messages.1")
def test_bytes_that_would_run_something_count_as_a_failed_part(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    for hostile in (Runs(mark), Done(Runs(mark)), Done([np.array([Runs(mark)], object)]), Done(sealed), Done(eval)):
        assert received(pickle.dumps(hostile)) is None
    assert received(pickle.dumps([1, 2])) is None  # data, but not what a worker of ours sends
    assert not mark.exists()
    pickle.loads(pickle.dumps(Runs(mark)))
    assert mark.exists()  # it would have run


@pytest.mark.claim("messages.1")
@given(st.binary(max_size=40), st.integers(0, 60))
def test_broken_bytes_count_as_a_failed_part(noise: bytes, place: int) -> None:
    assert received(noise) is None
    whole = sent(Done([1, "text"]))
    assert received(whole[: min(place, len(whole) - 1)]) is None
