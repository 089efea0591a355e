"""Tapered sums: exact, within their ball, the same on every path."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import BadInput
from discreet.friendly import taper
from discreet.friendly.taper import TaperSum, bits_for, cells, tapered
from discreet.noise.distributions import compiled

ODD = (np.nan, np.inf, -np.inf, 1e300, -1e300, 1e154, 5e-324, 2.0**52, 1.0)


def rows_of(width: int, count: int = 400) -> Any:
    rng = np.random.default_rng(width)
    rows = rng.normal(size=(count, width)) * rng.uniform(0.1, 3, size=(count, 1))
    for place, value in enumerate(ODD):
        rows[place, place % width] = value
    return rows


@pytest.mark.claim("taper.1")
@pytest.mark.claim("taper.2")
@pytest.mark.parametrize("width", [1, 2, 3, 10, 100])
def test_no_row_leaves_its_ball_rounding_included(width: int) -> None:
    bits = bits_for(width)
    vectors = tapered(rows_of(width), np.full(width, 0.1), np.sqrt(width), bits).astype(object)
    assert max((vectors**2).sum(axis=1)) <= 4**bits
    squares = vectors**2 // 2**bits
    assert max((squares**2).sum(axis=1)) <= 4**bits
    assert max((vectors**2).sum(axis=1)) > 0.9 * 4**bits  # the bound is reached


@pytest.mark.claim("taper.1")
@given(st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_rows_just_beyond_the_radius_stay_in_the_ball(width: int, seed: int) -> None:
    """The worst place for the roundings: |q|^2 is 4^bits and a little."""
    bits, rng = bits_for(width), np.random.default_rng(seed)
    half = 2**bits
    direction = rng.normal(size=(64, width))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    rows = np.rint(direction * half + rng.integers(-2, 3, size=direction.shape))
    vectors = tapered(rows, np.zeros(width), float(half), bits).astype(object)
    assert max((vectors**2).sum(axis=1)) <= 4**bits


@pytest.mark.claim("taper.3")
@pytest.mark.claim("taper.5")
@pytest.mark.parametrize("width", [1, 2, 7, 64, 1000])
def test_paths_orders_blocks_and_merges_agree(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rows, centre, radius = rows_of(width), np.linspace(-0.2, 0.3, width), 1.1 * float(np.sqrt(width))
    radii = radius * 2.0 ** (-np.arange(20)[::-1] / 4)
    whole = TaperSum(centre, radius, squares=True).add(rows)
    counts = cells([rows], centre, radii)
    assert counts.sum() == len(rows)
    assert compiled()
    monkeypatch.setattr(taper, "compiled", lambda: False)
    monkeypatch.setattr(taper, "CACHED", 50)
    parts = [TaperSum(centre, radius, squares=True).add(part) for part in np.array_split(rows[::-1], 7)]
    merged = parts[3]
    for place in (6, 0, 5, 1, 4, 2):
        merged.merge(parts[place])
    assert merged.rows == whole.rows
    np.testing.assert_array_equal(merged.total, whole.total)
    np.testing.assert_array_equal(merged.square, whole.square)
    np.testing.assert_array_equal(cells([rows[:99], rows[99:]], centre, radii), counts)


@pytest.mark.claim("taper.4")
def test_values_that_are_none_count_for_nothing() -> None:
    for value in ODD[:6]:
        total = TaperSum(np.zeros(2), 1.0, squares=True).add(np.array([[value, 0.1], [0.1, value]]))
        assert not total.total.any()
        assert not total.square.any()
    far = TaperSum(np.zeros(2), 1.0).add(np.array([[3.0, 0.0]]))
    assert not far.total.any()
    half = TaperSum(np.zeros(1), 1.0).add(np.array([[1.5]]))
    assert half.mean() == pytest.approx([0.5], abs=1e-6)


def test_streams_and_views_are_read_alike() -> None:
    rows = rows_of(4)
    plain = TaperSum(np.zeros(4), 2.0).add(rows)
    assert (TaperSum(np.zeros(4), 2.0).add_all(iter([rows[:7], rows[7:7], rows[7:]])).total == plain.total).all()
    assert (TaperSum(np.zeros(4), 2.0).add(np.asfortranarray(rows)).total == plain.total).all()
    wide = np.zeros((len(rows), 9))
    wide[:, 1::2] = rows
    assert (TaperSum(np.zeros(4), 2.0).add(wide[:, 1::2]).total == plain.total).all()


def test_bad_parameters() -> None:
    for bad in (0.0, -1.0, np.nan, 1e200):
        with pytest.raises(BadInput, match="radius"):
            TaperSum(np.zeros(2), bad)
    with pytest.raises(BadInput, match="centre"):
        TaperSum(np.array([np.nan]), 1.0)
    with pytest.raises(BadInput, match="columns"):
        TaperSum(np.zeros(2), 1.0).add(np.zeros((3, 3)))
    with pytest.raises(BadInput, match="merge"):
        TaperSum(np.zeros(2), 1.0).merge(TaperSum(np.zeros(2), 2.0))
    with pytest.raises(BadInput, match="columns"):
        bits_for(2**16)
