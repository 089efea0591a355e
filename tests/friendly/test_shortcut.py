"""Shortcuts give the core of all pairs, bit for bit."""

from importlib import import_module

import numpy as np
import pytest

from discreet.friendly import core
from discreet.friendly.core import Apart, Core, Points, match_core
from discreet.friendly.find_centre import match_certified, match_line

find_centre = import_module("discreet.friendly.find_centre")  # the package has a function of that name
ODD = (np.nan, np.inf, 1e300, 0.0, 5.0, 1e6, -7.25, 1.0)


def tables(columns: int, count: int, largest: int) -> list[Points]:
    """Crowds at several widths and offsets, with ties, repeated rows, far ones and ones that are no points."""
    rng, found = np.random.default_rng(columns), []
    for _ in range(count):
        rows = rng.normal(size=(int(rng.integers(0, largest)), columns)) * rng.choice([0.1, 0.3, 1.0])
        rows = np.round(rows, int(rng.integers(1, 4))) + rng.choice([0, 1e5, 2.0**30])
        for place in range(len(rows)):
            if rng.random() < 0.25:
                rows[place] = rng.choice(ODD, size=columns)
            if place and rng.random() < 0.2:
                rows[place] = rows[place - 1]
        found.append(Points.of(rows, 1.0))
    return found


def same(one: Core, other: Core) -> bool:
    return one.pairs == other.pairs and one.survivors.tolist() == other.survivors.tolist()


@pytest.mark.claim("find_centre.4")
@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("columns", [1, 2, 3])
def test_all_ways_agree(columns: int, compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (core, find_centre):
        monkeypatch.setattr(module, "compiled", lambda: compiled)
    for points in tables(columns, 150, 30):
        expected = match_core(Apart(points))
        assert same(match_certified(points), expected)
        if columns == 1:
            assert same(match_line(points), expected)
    monkeypatch.setattr(find_centre, "LARGEST", 5)
    for points in tables(columns, 5, 30):
        assert same(match_certified(points), match_core(Apart(points)))


@pytest.mark.claim("find_centre.4")
def test_all_ways_agree_on_a_larger_table() -> None:
    rng = np.random.default_rng(9)
    rows = rng.normal(size=(1500, 4))
    rows[::11] = rng.normal(size=(len(rows[::11]), 4)) * 1e4
    points = Points.of(rows, 7.0)
    assert same(match_certified(points), match_core(Apart(points)))
    line = Points.of(rng.standard_cauchy((1500, 1)), 20.0)
    assert same(match_line(line), match_core(Apart(line)))
