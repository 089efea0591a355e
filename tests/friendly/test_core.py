"""The filter on every graph of up to five rows: what one row can do to it."""

from collections.abc import Callable
from itertools import combinations, product

import numpy as np
import pytest
from tests.friendly.graphs import Graph, code_of, graph, graphs, without

from discreet.friendly import core as module
from discreet.friendly.core import Core, friend_counts, match_core, match_pairs

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
