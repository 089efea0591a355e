"""Order statistics are those of a full sort, whatever the data look like."""

import itertools
import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.noise import order_statistics as order
from discreet.noise.order_statistics import (
    MANY,
    Ordered,
    counted_in_passing,
    floats_at,
    order_statistics,
    places_of,
    ranked,
)
from discreet.tables import streams
from discreet.tables.streams import Stream

LARGE = np.random.default_rng(0).normal(0, 1, MANY + 3)
SHAPES = {
    "few": LARGE[:500],
    "normal": LARGE,
    "sorted": np.sort(LARGE),
    "ties": np.round(LARGE),
    "one value": np.zeros(MANY),
    "infinite": np.where(LARGE > 1, np.inf, np.where(LARGE < -1, -np.inf, LARGE)),
    "a sample that misleads": np.where(np.arange(MANY + 3) % 2 == 0, 1e9, LARGE),
}


@pytest.mark.parametrize("name", SHAPES)
def test_the_same_as_sorting(name: str) -> None:
    values = SHAPES[name]
    before, ordered, size = values.copy(), np.sort(values), len(values)
    for start, stop in ((0, size), (0, 1), (size - 1, size), (size // 2, size // 2 + 1), (size // 3, size // 2)):
        assert np.array_equal(np.sort(order_statistics(values, start, stop)), ordered[start:stop])
    assert np.array_equal(values, before)


class Counted:
    """A stream that counts how often it is read to its end: a glance at its beginning is no pass."""

    def __init__(self, values: npt.NDArray[np.float64], parts: int) -> None:
        self.passes, self._parts = 0, np.array_split(values, parts)
        self.stream = Stream(len(values), self._read)

    def _read(self) -> Iterator[npt.NDArray[np.float64]]:
        yield from self._parts
        self.passes += 1


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("room", [order.ROOM, 20_000, 100])
@pytest.mark.parametrize("name", SHAPES)
def test_of_a_stream(name: str, room: int, fast: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    values = SHAPES[name]
    ordered, size = np.sort(values), len(values)
    monkeypatch.setattr(order, "ROOM", room)
    monkeypatch.setattr(order, "LARGE", 0 if fast else 2**60)
    for start, stop in ((0, 1), (size - 1, size), (size // 2, size // 2 + 1), (size // 3, size // 3 + 100), (7, 7)):
        counted = Counted(values, 7)
        held = Ordered(counted.stream, 0.0)
        assert np.array_equal(held.between(start, stop), ordered[start:stop])
        assert counted.passes <= 4
        passes = counted.passes
        assert np.array_equal(held.between(start, stop), ordered[start:stop])
        assert counted.passes == passes  # what is kept is not read again


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("room", [order.ROOM, 30_000, 9_000])
@pytest.mark.parametrize("name", SHAPES)
def test_of_a_stream_by_several_threads(name: str, room: int, fast: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each keeps what it is given, and none has as much as is too much in all; every ninth entry is missing."""
    monkeypatch.setattr(streams, "MANY", 0)
    monkeypatch.setattr(streams, "processors", lambda: 3)
    monkeypatch.setattr(order, "ROOM", room)
    monkeypatch.setattr(order, "LARGE", 0 if fast else 2**60)
    values = np.where(np.arange(len(SHAPES[name])) % 9, SHAPES[name], np.nan)
    size = len(values)
    for default in (0.0, -7.5):
        ordered, held = (
            np.sort(np.where(np.isnan(values), default, values)),
            Ordered(Counted(values, 9).stream, default),
        )
        for start, stop in ((size // 2, size // 2 + 1), (size // 3, size // 3 + 100), (0, 1), (size - 1, size)):
            assert np.array_equal(held.between(start, stop), ordered[start:stop])


def test_the_compiled_pass_keeps_what_the_plain_one_does() -> None:
    """Of missing entries below, at, between and above the ends."""
    some = np.array([-math.inf, -2.0, -1.0, -0.0, 0.0, 0.5, 1.0, 2.0, math.inf, math.nan])
    block, wanted = np.random.default_rng(2).choice(some, 60), np.array([-math.inf, -1.0, 0.0, 1.0, math.inf])
    for low, high in itertools.combinations_with_replacement(wanted.tolist(), 2):
        for default in (-2.0, -1.0, 0.0, 1.0, 2.0):
            told = []
            for fast in (False, True):
                kept = order._Kept(low, high, 1000)
                for part in np.split(block, [7, 7, 24]):
                    kept.add(part, default, fast)
                tally, found = kept.told()
                told.append((tally.tolist(), np.sort(found).tolist()))
            assert told[0] == told[1]


def test_what_was_kept_holds_the_ranks_that_were_counted() -> None:
    """Of 0 to 9 those from 3 on to 6: not rank 2, nor rank 7; nothing once there are too many."""
    kept = order._Kept(3.0, 6.0, 2)
    kept.add(np.arange(10.0), 0.0, fast=False)
    assert [kept.holds(start, stop) for start, stop in ((3, 7), (2, 7), (3, 8), (4, 5))] == [True, False, False, True]
    assert kept.floats(3, 7).tolist() == [3.0, 4.0, 5.0, 6.0]
    one, other = ((*order._Kept.told(kept), np.empty(0)) for _ in range(2))
    both = order._Kept.of((3.0, 6.0), 2, order._together(2, one, other))
    assert both.full
    assert not both.holds(7, 9)


def test_passes_over_a_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    """One if the first piece is like the rest, however many values are the same; two more if it misleads."""
    monkeypatch.setattr(order, "ROOM", 30_000)
    for name, passes in (("normal", 1), ("ties", 1), ("one value", 1), ("infinite", 1), ("sorted", 2)):
        counted = Counted(SHAPES[name], 4)
        Ordered(counted.stream, 0.0).between(len(counted.stream) // 2 - 50, len(counted.stream) // 2 + 50)
        assert counted.passes == passes, name


def test_binades_of_a_stream() -> None:
    values = np.array([0.0, -0.0, 5e-324, -1.0, 1.0, 1.5, -2.0, np.nan, np.inf, -np.inf, 1e308])
    counts = Ordered(Counted(values, 3).stream, default=-8.0).binades()
    assert len(counts) == 2047
    exponents = {int(place): int(counts[place]) for place in np.flatnonzero(counts)}
    assert exponents == {0: 3, 1023: 3, 1024: 1, 1026: 1, 2046: 3}


@given(st.lists(st.floats(), min_size=1))
def test_places_are_in_the_order_of_the_floats(listed: list[float]) -> None:
    values = np.array(listed)
    places = places_of(values, 3.0)
    filled = np.where(np.isnan(values), 3.0, values)
    assert np.array_equal(floats_at(places), filled)
    assert np.array_equal(np.sort(places), places[np.argsort(filled, kind="stable")])


@pytest.mark.parametrize("room", [order.ROOM, 20_000, 100])
@pytest.mark.parametrize("name", SHAPES)
def test_a_stream_is_counted_by_the_pass_that_looks_for_its_middle(
    name: str, room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(order, "ROOM", room)
    values = SHAPES[name]
    counted = Counted(np.insert(values, len(values) // 3, np.nan), 4)
    stream = counted.stream.left(lambda piece: piece[~np.isnan(piece)])
    counted_in_passing(stream, 0.0)
    assert (len(stream), counted.passes) == (len(values), 1)
    found, middle = ranked(stream, 0.0), len(values) // 2
    assert np.array_equal(order_statistics(found, middle - 5, middle + 5), np.sort(values)[middle - 5 : middle + 5])
    assert counted.passes == 1 or (room < len(values) and counted.passes <= 4)
    assert isinstance(ranked(stream, 1.0), Ordered)
    assert ranked(stream, 1.0) is not found  # of other missing entries nothing is known
