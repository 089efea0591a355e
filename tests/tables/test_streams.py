"""A fold gives the same however a column is cut, on however many threads, here or elsewhere; no piece twice or lost."""

from collections.abc import Iterator
from functools import partial, reduce
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from discreet.errors import BadInput
from discreet.tables import streams
from discreet.tables.streams import Kernel, Merge, R, Stream, added, dense, each, fold, joined, mapped, sparse

Floats = npt.NDArray[np.float64]


def rows_and_sum(given: Iterator[Floats]) -> tuple[int, int]:
    found = (0, 0)
    for piece in given:
        assert not piece.flags.writeable
        found = found[0] + len(piece), found[1] + int(piece.sum())
    return found


def present(piece: Floats) -> Floats:
    return piece[piece > 3]


class Elsewhere:
    """Parts that are worked on one by one, in a bad order."""

    def __init__(self, parts: list[Floats]) -> None:
        self.parts, self.asked = parts, 0

    def __call__(self, kernel: Kernel[R], merge: Merge[R]) -> R:
        self.asked += 1
        return reduce(merge, [kernel(iter(np.array_split(part, 2))) for part in self.parts[::-1]])


@pytest.mark.claim("streams.1")
@pytest.mark.parametrize("threads", [1, 2, 4])
def test_a_fold_is_the_same_however_it_is_cut(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "MANY", 0)
    monkeypatch.setattr(streams, "processors", lambda: threads)
    values = np.arange(1000.0)
    parts = np.split(values, [1, 1, 10, 500, 900])
    stream = Stream(1000, lambda: iter(parts))
    there = Stream(1000, lambda: iter(parts), remote=Elsewhere(parts))
    for given in (values, stream, there):
        assert fold(rows_and_sum, added, given) == (1000, 499_500)
        assert fold(rows_and_sum, added, each(np.negative, given)) == (1000, -499_500)
    for given in (stream, there):
        assert fold(rows_and_sum, added, mapped(present, given, 996)) == (996, 499_500 - 6)
    assert fold(rows_and_sum, added, np.empty(0)) == (0, 0)


@pytest.mark.claim("streams.1")
@pytest.mark.parametrize("change", [slice(1, None), slice(None, None)])
def test_rows_that_are_lost_or_come_twice_end_the_fold(change: slice, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "MANY", 0)
    parts = np.split(np.arange(1000.0), [100, 200])
    wrong = [*parts[change], *([] if change.start else parts[:1])]
    for given in (Stream(1000, lambda: iter(wrong)), Stream(1000, lambda: iter(parts), remote=Elsewhere(wrong))):
        with pytest.raises(BadInput, match="changed while they were read"):
            fold(rows_and_sum, added, given)


def test_what_a_kernel_gives_is_added_place_by_place() -> None:
    one, other = np.array([0, 3, 0, 1]), np.array([0, 1, 2, 0])
    assert dense(joined(sparse(one), sparse(other)), 4).tolist() == [0, 4, 2, 1]
    whole: Any = added((2**70, np.array([1, 2])), (1, np.array([3, 4])))
    assert whole[0] == 2**70 + 1
    assert whole[1].tolist() == [4, 6]


def test_a_guess_takes_no_pass() -> None:
    parts = np.split(np.arange(1000.0), [0, 100])
    assert len(Stream(1000, lambda: iter(parts)).some(7)) == 100
    assert (
        Stream(1000, lambda: iter(parts), lambda start, stop: np.arange(float(start), stop)).some(7).tolist()[-1] == 6
    )
    there = Elsewhere(parts)
    assert len(Stream(1000, lambda: iter(parts), remote=there).some(7)) == there.asked == 0


@pytest.mark.claim("streams.2")
@pytest.mark.parametrize("threads", [1, 2])
def test_rows_that_are_left_are_counted_by_their_first_pass(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "MANY", 0)
    monkeypatch.setattr(streams, "processors", lambda: threads)
    parts, passes = np.split(np.arange(1000.0), [1, 1, 10, 500]), []

    def read() -> Iterator[Floats]:
        passes.append(1)
        yield from parts

    whole = Stream(1000, read)
    some, everyone = whole.left(present), whole.left(np.asarray)
    assert (some.most, some.counted, passes) == (1000, False, [])
    assert fold(rows_and_sum, added, some) == (996, 499_500 - 6)
    assert (some.most, len(some), some.counted, len(passes)) == (996, 996, True, 1)
    assert len(everyone) == 1000
    assert len(passes) == 2
    assert fold(rows_and_sum, added, everyone) == (1000, 499_500)
    there = Stream(1000, read, remote=Elsewhere(parts)).left(present)
    assert len(there) == 996
    assert fold(rows_and_sum, added, there) == (996, 499_500 - 6)


@pytest.mark.claim("streams.2")
@pytest.mark.parametrize("kept", [present, np.asarray])
@pytest.mark.parametrize("at", ["the pass that counts", "a later one"])
def test_rows_that_are_left_are_not_of_a_table_that_changes(
    at: str, kept: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "MANY", 0)
    given = [np.arange(1000.0)]
    some = Stream(1000, lambda: iter(given)).left(kept)
    if at == "a later one":
        assert len(some) >= 996
    given.append(np.ones(1) * 5)
    with pytest.raises(BadInput, match="changed while they were read"):
        fold(rows_and_sum, added, some)
    given[:] = [np.append(np.arange(999.0), 3)]  # as many in all, but fewer that are left
    if at == "a later one" and kept is present:
        with pytest.raises(BadInput, match="changed while they were read"):
            fold(rows_and_sum, added, some)


@pytest.mark.claim("streams.1")
@pytest.mark.claim("streams.2")
@pytest.mark.parametrize("missing", [0, 5])
def test_pieces_that_threads_make_themselves_are_all_there(missing: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream, what is left of it, and a function of that: every piece once, counted on the way, made by no other."""
    monkeypatch.setattr(streams, "MANY", 10)
    monkeypatch.setattr(streams, "processors", lambda: 2)
    values = np.arange(1000.0)
    values[:missing] = np.nan
    parts, looked = np.array_split(values, 7), []

    def pieces() -> Iterator[Any]:
        raise AssertionError

    def known(piece: Any) -> Any:
        looked.append(len(piece))
        return piece[~np.isnan(piece)]

    whole = Stream(1000, pieces, calls=lambda: ((partial(np.asarray, part) for part in parts), lambda: None))
    left = whole.left(known)
    assert fold(rows_and_sum, added, left) == (1000 - missing, np.nansum(values))
    assert len(left) == 1000 - missing
    many = len(looked)
    squares = mapped(np.square, left, 1000 - missing)
    assert fold(rows_and_sum, added, squares) == (1000 - missing, np.nansum(values**2))
    assert (len(looked) > many) == (missing > 0)
    parts.pop()
    for stream in (left, squares, whole.left(known)):  # the last one has no count of its own yet
        with pytest.raises(BadInput, match="changed"):
            fold(rows_and_sum, added, stream)
