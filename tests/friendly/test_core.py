"""Friends and the filter: points against whole numbers of any size, predicates, who is looked at, every small graph."""

import math
from collections.abc import Callable
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.friendly.graphs import Graph, code_of, graph, graphs, without

from discreet.errors import BadInput
from discreet.friendly import core as grid
from discreet.friendly import core as module
from discreet.friendly.core import (
    BOX,
    NEAR,
    UNITS,
    Apart,
    Core,
    Pairwise,
    Points,
    Predicate,
    Unlike,
    Within,
    far_apart,
    friend_counts,
    match_core,
    match_pairs,
    shuffled,
)
from discreet.noise.randomness import Seeded

Run = Callable[[Graph], Core]
SHUFFLED = {size: np.random.default_rng(size).permutation(list(combinations(range(size), 2))) for size in range(2, 6)}


def all_pairs(strangers: Graph) -> Core:
    return match_core(strangers)


def few_references(strangers: Graph) -> Core:
    return match_core(strangers, 2)


def shuffled_pairs(strangers: Graph) -> Core:
    """A public order of pairs of five places, of which the strangers are the first."""
    order = [(i, j) for i, j in SHUFFLED[5].tolist() if max(i, j) < strangers.size]
    return match_pairs(strangers, order)


RUNS = [all_pairs, few_references, shuffled_pairs]


def survivors(run: Run, size: int) -> dict[int, tuple[int, frozenset[int]]]:
    found = {}
    for code, strangers in graphs(size):
        core = run(strangers)
        found[code] = (core.pairs, frozenset(core.survivors.tolist()))
    return found


@pytest.mark.claim("core.5")
@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_adding_a_row_changes_the_survivors_by_one(size: int) -> None:
    for last_only, run in ((False, all_pairs), (True, few_references), (True, shuffled_pairs)):
        # references are the first places: a row comes in at the end, or they would be others
        larger, smaller = survivors(run, size), survivors(run, size - 1)
        for code in larger:
            apart = graph(size, code).apart
            for row in [size - 1] if last_only else range(size):
                pairs, kept = smaller[code_of(without(apart, row))]
                renamed = {place + (place >= row) for place in kept}
                assert len(renamed ^ larger[code][1]) == 1
                assert 0 <= larger[code][0] - pairs <= 1


@pytest.mark.claim("core.6")
@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.__name__)
@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_replacing_a_row(size: int, run: Run) -> None:
    found = survivors(run, size)
    edges = list(combinations(range(size), 2))
    for row in range(size):
        mask = sum(1 << bit for bit, edge in enumerate(edges) if row in edge)
        for code, (pairs, kept) in found.items():
            for bits in product((0, 1), repeat=size - 1):
                spots = [bit for bit, edge in enumerate(edges) if row in edge]
                other = code & ~mask | sum(one << spot for one, spot in zip(bits, spots, strict=True))
                pairs_there, kept_there = found[other]
                mine = {(place, place == row) for place in kept}
                theirs = {(place, False) if place != row else (place, "new") for place in kept_there}
                assert abs(pairs - pairs_there) <= 1
                assert len(mine ^ theirs) in (0, 2)
                if pairs != pairs_there:
                    assert mine < theirs or theirs < mine
                elif len(mine ^ theirs) == 2:
                    assert len(mine - theirs) == len(theirs - mine) == 1


@pytest.mark.claim("core.3")
def test_friends_all_survive_and_a_few_strangers_cost_a_few_pairs() -> None:
    for code, strangers in graphs(5):
        core = match_core(strangers)
        assert len(core.survivors) == 5 - 2 * core.pairs
        if not code:
            assert core.survivors.tolist() == [0, 1, 2, 3, 4]
        for cover in (subset for size in range(3) for subset in combinations(range(5), size)):
            if all(i in cover or j in cover for i, j in combinations(range(5), 2) if strangers.apart[i, j]):
                assert core.pairs <= len(cover)


@pytest.mark.claim("core.4")
def test_survivors_are_friends() -> None:
    for _, strangers in graphs(5):
        for core in (match_core(strangers), shuffled_pairs(strangers)):
            assert not strangers.apart[np.ix_(core.survivors, core.survivors)].any()
        near = match_core(strangers, 2).survivors
        for reference in set(near.tolist()) & {0, 1}:
            assert not strangers.apart[reference, near].any()


def test_blocks_and_the_compiled_pass_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    for share in (0.01, 0.1, 0.5, 0.9):
        size = 60
        apart = np.triu(rng.random((size, size)) < share, 1)
        strangers = Graph(apart | apart.T)
        order = list(combinations(range(size), 2))
        expected = match_pairs(strangers, order)
        for block in (1, 170, 1 << 20):
            for compiled in (True, False):
                monkeypatch.setattr(module, "BLOCK", block)
                monkeypatch.setattr(module, "compiled", lambda answer=compiled: answer)
                for first in (None, size, size + 5):
                    core = match_core(strangers, first)
                    assert core.pairs == expected.pairs
                    assert core.survivors.tolist() == expected.survivors.tolist()
                few = match_pairs(strangers, [(i, j) for i, j in order if i < 7])
                assert match_core(strangers, 7).survivors.tolist() == few.survivors.tolist()
                assert friend_counts(strangers).tolist() == (size - 1 - strangers.apart.sum(axis=0)).tolist()


def test_no_rows_and_pairs_of_a_row_with_itself() -> None:
    assert match_core(Graph(np.zeros((0, 0), dtype=np.bool_))).pairs == 0
    lonely = Graph(np.ones((1, 1), dtype=np.bool_))
    assert match_core(lonely).survivors.tolist() == [0]
    assert match_pairs(lonely, [(0, 0)]).pairs == 0


def whole(predicate: Predicate, rows: Any) -> list[list[bool]]:
    table = np.asarray(rows, dtype=float)
    found: list[list[bool]] = predicate.strangers(table).block(0, len(table)).tolist()
    return found


@pytest.mark.claim("core.2")
def test_a_function_of_two_rows() -> None:
    rows = [[0.0, 1.0], [0.5, 1.0], [9.0, 1.0], [np.nan, 1.0]]
    near = Pairwise(lambda one, other: bool(abs(one - other).max() <= 1))
    assert whole(near, rows) == whole(Within(1.0), rows)
    assert match_core(near.strangers(np.array(rows[:3]))).survivors.tolist() == [1]


@pytest.mark.claim("core.2")
def test_symmetric_and_silent_whatever_the_function_is() -> None:
    assert whole(Pairwise(lambda one, other: one[0] < other[0]), [[0.0], [1.0]])[0][1]

    def angry(one: Any, other: Any) -> bool:
        one[:] = 7.0  # it works on copies
        raise ValueError(one, other)

    rows = np.array([[0.0], [1.0]])
    assert whole(Pairwise(angry), rows) == [[True, True], [True, True]]
    assert rows.tolist() == [[0.0], [1.0]]
    odd = Pairwise(lambda one, other: np.array([1, 2]))  # no truth value
    assert whole(odd, rows)[0][1]
    assert not whole(Pairwise(lambda one, other: np.log(one - 5) is not None), rows)[0][1]


def test_radii_are_checked() -> None:
    with pytest.raises(BadInput, match="radius"):
        Within(-1.0)
    assert whole(Within(0.0), [[1.0], [1.0], [2.0]])[0] == [False, False, True]


@pytest.mark.claim("core.1")
def test_places_are_shuffled_and_different() -> None:
    assert sorted(shuffled(7, 10, Seeded(0)).tolist()) == list(range(7))
    for seed in range(50):
        chosen = shuffled(30, 12, Seeded(seed)).tolist()
        assert len(set(chosen)) == 12
        assert min(chosen) >= 0
        assert max(chosen) < 30
    assert shuffled(0, 12, Seeded(0)).tolist() == []


@pytest.mark.claim("core.1")
def test_every_place_is_as_likely_first_or_last() -> None:
    """5,000 shuffles of 10 places to 4: each place 500 times at each, give or take 120 (5.6 deviations)."""
    counts = np.zeros((4, 10))
    for seed in range(5000):
        counts[np.arange(4), shuffled(10, 4, Seeded(seed))] += 1
    assert (abs(counts - 500) < 120).all()


HOSTILE = [0.0, -0.0, 5e-324, 1e-300, 1.0, -3.5, 1e9, 2.0**36, 2.0**38, 1e300, math.inf, -math.inf, math.nan]


def by_hand(points: Points) -> np.ndarray[Any, Any]:
    """Python's own integers."""
    rows = points.steps.tolist()
    squares = [[sum((a - b) ** 2 for a, b in zip(one, two, strict=True)) for two in rows] for one in rows]
    apart = np.array([[square > UNITS**2 for square in line] for line in squares], dtype=np.bool_)
    apart = apart.reshape(len(rows), len(rows))
    apart[~points.valid] = True
    apart[:, ~points.valid] = True
    return apart


def whole_of_grid(strangers: Any) -> np.ndarray[Any, Any]:
    return np.asarray(strangers.block(0, strangers.size))


@pytest.mark.claim("core.7")
@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=1, max_size=8), st.floats(1e-280, 1e280))
@settings(max_examples=300)
def test_a_row_is_a_function_of_itself(values: list[float], radius: float) -> None:
    together = Points.of(np.array(values)[:, None], radius)
    for place, value in enumerate(values):
        alone = Points.of(np.array([[value]]), radius)
        assert alone.valid[0] == together.valid[place]
        assert alone.steps[0, 0] == together.steps[place, 0]
        assert abs(int(alone.steps[0, 0])) <= 2**52
        if not math.isfinite(value):
            assert not alone.valid[0]


@pytest.mark.claim("core.7")
def test_what_points_are() -> None:
    points = Points.of(np.array([[3.0, -1.5], [np.nan, 0.0], [1e300, 0.0], [0.0, 2.0**24]]), 1.5, bits=40)
    assert points.steps[0].tolist() == [2 * UNITS, -UNITS]
    assert points.valid.tolist() == [True, False, False, True]
    assert Points.of(np.array([[2.0**30]]), 1.0, bits=40).valid.tolist() == [False]
    assert points[[3, 0]].valid.tolist() == [True, True]


@pytest.mark.claim("core.8")
@pytest.mark.parametrize("columns", [1, 2, 5])
def test_friends_are_decided_exactly(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the edges of all boxes, at ties, at offsets, with rows that are no points: compared with Python's integers."""
    rng = np.random.default_rng(columns)
    edges = [0, 1, UNITS - 1, UNITS, UNITS + 1, NEAR, NEAR + 1, NEAR - UNITS, BOX - 1, BOX, BOX + UNITS, 2**40, 2**52]
    for trial in range(60):
        offset = int(rng.choice([0, 1, 2**20 * UNITS, -(2**50)]))
        signs = rng.choice([-1, 1], size=(24, columns))
        steps = rng.choice(edges, size=(24, columns)) * signs + rng.integers(-1, 2, size=(24, columns))
        steps[: trial % 20] = rng.integers(-UNITS, UNITS, size=(trial % 20, columns)) * 3 // 4
        points = Points(np.clip(steps + offset, -(2**52), 2**52), rng.random(24) < 0.9)
        expected = by_hand(points)
        for compiled in (True, False):
            monkeypatch.setattr(grid, "compiled", lambda answer=compiled: answer)
            for width in (1, 2, 2**13):
                monkeypatch.setattr(grid, "COLUMNS", width)
                apart = Apart(points)
                assert (whole_of_grid(apart) == expected).all()
                assert (apart.block(5, 9) == expected[5:9, 5:]).all()


@pytest.mark.claim("core.8")
def test_a_pair_is_decided_alike_in_any_company() -> None:
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(300, 40)) * 0.115
    rows[::7] = rng.choice(HOSTILE, size=(len(rows[::7]), 40))
    expected = whole_of_grid(Apart(Points.of(rows, 1.0)))
    for _ in range(5):
        some = rng.permutation(300)[:100]
        far = rng.normal(size=(50, 40)) * 10.0 ** rng.integers(-3, 9)
        mixed = whole_of_grid(Apart(Points.of(np.concatenate([rows[some], far]), 1.0)))
        assert (mixed[:100, :100] == expected[np.ix_(some, some)]).all()


def test_shifts_and_exchanged_columns_change_no_answer() -> None:
    rng = np.random.default_rng(6)
    rows = rng.integers(-(2**14), 2**14, size=(200, 3)) / 2**13
    expected = whole_of_grid(Apart(Points.of(rows, 1.0)))
    assert (whole_of_grid(Apart(Points.of(rows + 2.0**20, 1.0))) == expected).all()
    assert (whole_of_grid(Apart(Points.of(rows[:, ::-1], 1.0))) == expected).all()
    assert expected.any()
    assert not expected.all()


def test_equal_rows_are_the_friends_of_radius_nought() -> None:
    rows = np.array([[0.0, 1.0], [-0.0, 1.0], [0.0, 2.0], [np.nan, 1.0], [np.nan, 1.0], [np.inf, 1.0], [np.inf, 1.0]])
    apart = whole_of_grid(Unlike(rows))
    assert apart[:3, :3].tolist() == [[False, False, True], [False, False, True], [True, True, False]]
    assert apart[3:].all()
    assert apart[:, 3:].all()
    assert Unlike(np.empty((0, 2))).block(0, 0).shape == (0, 0)


def test_differences_that_would_overflow_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    point, others = np.array([2**52, 0]), np.array([[-(2**52), 0], [2**52, UNITS], [2**52, UNITS + 1], [2**52 + 5, 9]])
    for compiled in (True, False):
        monkeypatch.setattr(grid, "compiled", lambda answer=compiled: answer)
        assert far_apart(point, others).tolist() == [True, False, True, False]
