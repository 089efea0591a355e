"""One table of distances tells who is beyond and what the clipped sums are, whole numbers however it is made."""

import math
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.audit.worlds import HOSTILE
from discreet.stages import distance_grid
from discreet.stages.clip import exact_sums
from discreet.stages.distance_grid import FINE, Distances, on_edge
from discreet.tables.streams import Stream

ODD = [*(float(value) for value in HOSTILE if isinstance(value, float)), 0.0, -0.0, 5e-324, 1e-310, 2.0, 2.1, -2.1]
PAYLOAD = np.array([2**64 - 1, 0x7FF0 << 48 | 1], dtype=np.uint64).view(np.float64)  # no numbers either
POWERS: tuple[Literal[1], Literal[2]] = (1, 2)


def column(size: int = 300_000) -> Any:
    rows = np.random.default_rng(3).standard_t(2, size)
    rows[: len(ODD)], rows[-2:] = ODD, PAYLOAD
    return rows


def cells(table: Distances) -> list[list[int]]:
    return [part.tolist() for part in table.cells]


@pytest.mark.claim("distance_grid.1")
@pytest.mark.parametrize("centre", [0.0, -0.7, 1e300])
def test_the_table_is_the_same_however_it_is_made(centre: float, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = column()
    whole = Distances.of(rows, centre)
    assert whole.cells[1].sum() == len(rows)
    order = np.random.default_rng(0).permutation(len(rows))
    pieces = np.array_split(rows[order], [1, 2, 90_000, 90_007])
    assert cells(Distances.of(Stream(len(rows), lambda: iter(pieces)), centre)) == cells(whole)
    monkeypatch.setattr(distance_grid, "LARGE", 10**9)  # the plain twin, counted and sorted
    assert cells(Distances.of(rows, centre)) == cells(whole)
    monkeypatch.setattr(distance_grid, "BLOCK", distance_grid.FEW - 1)
    assert cells(Distances.of(rows, centre)) == cells(whole)


@pytest.mark.claim("distance_grid.1")
def test_what_is_missing_is_at_the_centre() -> None:
    odd = Distances.of(np.array([math.nan, *PAYLOAD, -math.nan, 1.0]), 1.0)
    same = Distances.of(np.ones(5), 1.0)
    assert odd.beyond(0.0) == same.beyond(0.0) == (0, 0)
    assert odd.sums(4.0, POWERS, 26) == same.sums(4.0, POWERS, 26) == (0, 0)


@pytest.mark.claim("distance_grid.1")
def test_counts_beyond_an_edge_are_exact() -> None:
    rows, centre = column(), 0.3
    with np.errstate(invalid="ignore"):  # one of those that are no numbers
        table, distances = Distances.of(rows, centre), np.nan_to_num(rows - centre, nan=0.0)
    for edge in (0.0, 2.0**-1000, 0.5, 1.03125, 7.25, 2.0**900):
        found = int(np.count_nonzero(distances > edge)), int(np.count_nonzero(distances < -edge))
        assert table.beyond(edge) == found
    up, down = table.farther(3, 2047 << 3)
    for place in (0, 8 * 400 + 3, (1023 << 3) - 5, (1023 << 3) + 2, 1030 << 3, (2047 << 3) - 1):
        assert (up[place], down[place]) == table.beyond(distance_grid.edge(place))
    assert len(up) == len(down) == 2047 << 3


def exact_u(value: float, centre: float, radius: float) -> tuple[Fraction, Fraction]:
    """What one record adds to the sums."""
    return tuple(Fraction(part, 2**200) for part in Distances.of(np.array([value]), centre).sums(radius, POWERS, 200))  # type: ignore[return-value]


@pytest.mark.claim("distance_grid.2")
@given(st.floats(width=64), st.floats(-1e6, 1e6), st.floats(1e-280, 1e300))
def test_a_record_adds_its_clipped_distance_and_never_more_than_one(value: float, centre: float, size: float) -> None:
    radius = on_edge(size)
    assert abs(radius / size - 1) <= 1 / 64
    first, second = exact_u(value, centre, radius)
    assert abs(first) <= 1
    assert 0 <= second <= 1
    away = value - centre
    u = 0.0 if math.isnan(away) else float(np.clip(away, -radius, radius) / radius)
    assert float(first) == pytest.approx(u, rel=2.0**-25, abs=1e-30)
    assert u * u * (1 - 2.0**-24) - 1e-30 <= float(second) <= u * u * (1 + 2.0**-11) + 1e-30


@pytest.mark.claim("distance_grid.2")
@pytest.mark.parametrize("bits", [0, 3, 26])
def test_one_record_moves_the_sums_by_no_more_than_is_claimed(bits: int) -> None:
    generator, moved = np.random.default_rng(bits), np.zeros(4)
    for _ in range(300):
        radius = on_edge(float(2.0 ** generator.uniform(-4, 4)))
        crowd = generator.choice([*ODD, *generator.normal(0, radius, 9), radius, -radius], 7)
        centre = float(generator.choice([0.0, 0.7, 2.0]))
        one, other = generator.choice([*ODD, centre + radius, centre - radius], 2)
        plain, more, instead = (
            np.array(Distances.of(np.array(rows), centre).sums(radius, POWERS, bits))
            for rows in (crowd, [*crowd, one], [*crowd, other])
        )
        moved = np.maximum(moved, np.abs(np.concatenate([more - plain, more - instead])))
    unit = 2**bits
    assert moved.tolist() == [unit, unit, 2 * unit, unit]  # never more, and so much it may be


@pytest.mark.claim("distance_grid.2")
def test_sums_beyond_an_int64_are_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Distances.of(column(), 0.1)
    found = table.sums(3.5, POWERS, 26)
    monkeypatch.setattr(distance_grid, "LONG", 1)
    assert table.sums(3.5, POWERS, 26) == found
    places, counts, sums = table.cells
    many = Distances(0.1, len(table) << 36, (places, counts << 36, sums << 20))
    assert many.sums(3.5, (2,), 0)[0] > 0


@pytest.mark.claim("clip.2")
def test_a_table_has_the_sums_of_a_pass() -> None:
    rows, centre, radius = column(), 0.3, on_edge(4.1)
    table, passed = (exact_sums(values, centre, radius, POWERS) for values in (Distances.of(rows, centre), rows))
    assert table == pytest.approx(passed, rel=1e-3)
    assert abs(table[0] - passed[0]) <= len(rows)
    assert FINE >= 20


def test_a_mutant_that_rounds_past_the_edge_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    true = distance_grid._plain

    def further(values: Any, centre: float) -> Any:
        places, counts, sums = true(values, centre)
        return places, counts, sums + counts

    monkeypatch.setattr(distance_grid, "_plain", further)
    assert exact_u(2.0, 0.0, 2.0)[0] > 1
