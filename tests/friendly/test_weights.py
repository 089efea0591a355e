"""The lectures' weights: complete, sound and stable on every small graph; their mean no further than claimed."""

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from tests.friendly.graphs import code_of, graph, graphs
from tests.friendly.worlds import REPLACE, SHARP, VALUES, replaced, tables

from discreet.errors import BadInput
from discreet.friendly.core import UNITS, Apart, Points, Within, match_core
from discreet.friendly.friendly_mean import FriendlyMean
from discreet.friendly.weights import STABILITY, friendly_weights, moves_at_most, weight_units, weighted_centre
from discreet.noise.randomness import Seeded


@pytest.mark.claim("weights.1")
def test_friends_weigh_one_and_the_lonely_nothing() -> None:
    assert friendly_weights(np.zeros((6, 2)), Within(1.0)).tolist() == [1.0] * 6
    rows = np.array([0.0, 0.0, 0.0, 0.0, np.nan, 9.0])
    assert friendly_weights(rows, Within(1.0)).tolist() == pytest.approx([0.2] * 4 + [0, 0])
    for _, strangers in graphs(4):
        assert (weight_units(strangers) == 3).all() == (not strangers.apart.any())
    assert friendly_weights(np.empty((0, 1)), Within(1.0)).tolist() == []


@pytest.mark.claim("weights.2")
@pytest.mark.claim("weights.3")
@pytest.mark.parametrize("size", [3, 4, 5])
def test_sound_and_stable_whatever_the_new_row(size: int) -> None:
    """Row 0 is replaced, on every graph: common friends across the two tables; moves counted row by row."""
    units = {code: weight_units(strangers).tolist() for code, strangers in graphs(size)}
    edges, reached = list(combinations(range(size), 2)), 0
    own = sum(1 << bit for bit, edge in enumerate(edges) if 0 in edge)
    for code, mine in units.items():
        apart = graph(size, code).apart
        for bits in product((0, 1), repeat=size - 1):
            other = code & ~own | sum(bit << place for place, bit in enumerate(bits))
            theirs, apart_there = units[other], graph(size, other).apart
            assert code_of(apart_there) == other
            moved = mine[0] + theirs[0] + sum(abs(a - b) for a, b in zip(mine[1:], theirs[1:], strict=True))
            reached = max(reached, moved)
            assert abs(sum(mine) - sum(theirs)) <= STABILITY * (size - 1)
            for i, j in product(range(size), repeat=2):
                if mine[i] and theirs[j]:
                    shared = [
                        k for k in range(1, size) if (k == i or not apart[i, k]) and (k == j or not apart_there[j, k])
                    ]
                    assert shared
    assert reached == STABILITY * (size - 1)


@pytest.mark.claim("weights.4")
@pytest.mark.parametrize(("values", "size"), [(VALUES, 3), (VALUES, 4), ((0.0, 1.0, 2.0, np.nan), 5)])
def test_the_weighted_mean_moves_no_further_than_claimed(values: tuple[float, ...], size: int) -> None:
    found = {}
    for table in tables(values, size):
        points = Points.of(np.array(table)[:, None], 1.0)
        units = weight_units(Apart(points)).tolist()
        total = sum(units)
        steps = points.steps[:, 0].tolist()
        mean = Fraction(sum(u * q for u, q in zip(units, steps, strict=True)), total) if total else None
        found[repr(table)] = (Fraction(total, size - 1), mean)
    for table in tables(values, size):
        weight, mean = found[repr(table)]
        for neighbour in replaced(table, values):
            weight_there, mean_there = found[repr(neighbour)]
            if mean is None or mean_there is None:
                continue
            larger, less = max(weight, weight_there), min(weight, weight_there)
            missing = (size - less) / (size - 1)
            bound = 2 * min(Fraction(3), Fraction(5, 4) + 3 * missing + Fraction(3, size)) / larger
            assert abs(mean - mean_there) <= bound * UNITS
            assert bound <= moves_at_most(larger, size)


@pytest.mark.claim("weights.5")
def test_the_release_is_the_weighted_mean() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(400, 3)) + 1e6
    rows[:20] = np.nan
    found = weighted_centre(rows, 12.0, rng=Seeded(1), **SHARP)  # type: ignore[arg-type]
    assert found is not None
    assert np.abs(found.point - rows[20:].mean(axis=0)).max() < 0.1
    weight = friendly_weights(rows, Within(12.0)).sum()
    assert weight - 4 < found.survivors <= weight
    assert weighted_centre(rows[:6], 1.0, rng=Seeded(1), **SHARP) is None  # type: ignore[arg-type]
    assert weighted_centre(rows[:0], 1.0, rng=Seeded(1), **SHARP) is None  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="radius"):
        weighted_centre(rows, 0.0, rng=Seeded(1), **SHARP)  # type: ignore[arg-type]


def test_it_is_a_check_on_the_other_filter() -> None:
    """Both keep the crowd and drop the rest; the lectures' needs more noise."""
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(800, 2))
    rows[:60] += 500
    kept = match_core(Within(12.0).strangers(rows)).survivors
    weights = friendly_weights(rows, Within(12.0))
    assert set(kept.tolist()) <= set(np.flatnonzero(weights > 0.5).tolist())
    plain, lectured = (
        FriendlyMean(12.0, 2.0, 1e-6, neighbours=REPLACE, method=method).release(rows, Seeded(5))
        for method in ("match", "weights")
    )
    assert plain.spread is not None
    assert lectured.spread is not None
    assert 1 < lectured.spread.privacy / plain.spread.privacy < 6
