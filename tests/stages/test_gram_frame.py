"""Frames: a row is seen as the same whole numbers wherever it stands."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.stages.gram import ENTRY, Frame, blocks

ODD = (0.0, 1.0, -2.5, 5e-324, 1e-300, 1e6, 1e300, math.inf, -math.inf, math.nan)


def frame_of(size: int, seed: int = 0, spread: float = 3.0) -> Frame:
    rng = np.random.default_rng(seed)
    units, turn = np.exp(spread * rng.normal(size=size)), rng.normal(size=(size, size))
    return Frame.of(units, turn, 10 * rng.normal(size=size))


@pytest.mark.claim("gram.4")
@pytest.mark.parametrize("size", [1, 2, 7, 40])
def test_the_product_is_exact(size: int) -> None:
    """Against whole numbers of Python's, with entries at their largest."""
    frame, rng = frame_of(size), np.random.default_rng(1)
    rows = frame.centre + rng.normal(size=(50, size)) / frame.per * 2.0 ** rng.integers(0, 40, size=(50, size))
    seen, lost = frame.turned(rows)
    assert lost is None
    entries = np.clip(np.rint((rows - frame.centre) * frame.per), -(2**ENTRY), 2**ENTRY)
    assert np.abs(entries).max() == 2**ENTRY
    for row, column in zip(entries.tolist(), seen.T.tolist(), strict=True):
        for turn, found in zip(frame.whole.tolist(), column, strict=True):
            assert sum(int(a) * int(b) for a, b in zip(turn, row, strict=True)) == int(found)
    most = int(np.abs(frame.whole).max()) * 2**ENTRY * size
    assert most <= 2**53


@pytest.mark.claim("gram.4")
@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(ODD), st.sampled_from(ODD)), min_size=1, max_size=9), st.integers(0, 3))
def test_a_row_does_not_see_the_others(rows: list[Any], seed: int) -> None:
    frame, table = frame_of(2, seed), np.array(rows)
    seen, lost = frame.turned(table)
    gone = np.zeros(len(table), dtype=bool) if lost is None else lost
    plain = frame.plain(table)
    for place, row in enumerate(table):
        alone, missing = frame.turned(row[None])
        assert (alone[:, 0] == seen[:, place]).all()
        assert (missing is not None and bool(missing[0])) == gone[place] == bool(np.isnan(row).any())
        assert np.array_equal(frame.plain(row[None])[0], plain[place], equal_nan=True)
    turned, _ = frame.turned(np.asfortranarray(table[::-1]))
    assert (turned[:, ::-1] == seen).all()


def test_there_and_back() -> None:
    frame = frame_of(4)
    rows = frame.centre + np.random.default_rng(2).normal(size=(20, 4)) * 2.0**20 / frame.per
    seen, _ = frame.turned(rows)
    assert np.allclose(seen * frame.step, frame.matrix @ (rows - frame.centre).T, atol=1e-4)
    assert np.allclose(frame.back(frame.matrix @ (rows[0] - frame.centre)), rows[0] - frame.centre)
    assert np.allclose(frame.matrix @ frame.back(np.eye(4)), np.eye(4))
    moved = frame.at(rows[0])
    assert (moved.turned(rows[:1])[0] == 0).all()
    assert np.allclose(frame.plain(rows), rows @ frame.matrix.T)


def test_blocks_are_all_rows() -> None:
    rows = np.arange(30_000.0).reshape(-1, 3)
    assert (np.concatenate(list(blocks(rows, 3))) == rows).all()
    assert max(len(part) for part in blocks(rows, 3)) <= 2**13
