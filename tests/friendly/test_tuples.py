"""Tuples in no order: who agrees, how they are aligned, and what one tuple can do."""

from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from tests.friendly.worlds import ADD, REPLACE, SHARP

from discreet import audit
from discreet.accounting.compose import implies
from discreet.audit.replay import replay
from discreet.errors import BadInput
from discreet.friendly.core import UNITS, match_core
from discreet.friendly.tuples import TupleCore, TupleWithin, aligned, find_tuple, tuples_of
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours

FIRST = ((0.0, 5.0), (1.0, 5.0), (-1.0, 6.0), (0.5, 4.5), (0.0, 6.0), (5.0, 10.0), (0.0, 2.0), (np.nan, 5.0))


def world(count: int, size: int, relation: Neighbours, k: int = 2, columns: int = 2) -> list[audit.Pair]:
    """Neighbours of tuples around k places that differ in their first coordinate, each in an order of its own."""
    rng, pairs = np.random.default_rng(count), []
    for _ in range(count):

        def row() -> Any:
            points = np.zeros((k, columns))
            points[:, 0] = np.arange(k) * 6.0
            points += rng.choice([-0.3, 0.0, 0.3], size=(k, columns))
            if rng.random() < 0.1:
                points[0] += rng.choice([1.5, 4.0, np.nan, 1e6])
            return rng.permutation(points).ravel()

        left = [row() for _ in range(size)]
        place, new = int(rng.integers(size)), row()
        new[:columns] += rng.choice([0.0, 0.4, 9.0])
        right = [*left[:place], new, *left[place + (relation is REPLACE) :]]
        pairs.append(audit.Pair(np.array(left), np.array(right)))
    return pairs


@pytest.mark.claim("tuples.1")
def test_friends_by_trying_all_orders() -> None:
    rng = np.random.default_rng(0)
    agree = 0
    for k, columns in ((1, 2), (2, 1), (2, 2), (3, 2)):
        places = np.arange(k)[:, None] * 4.0
        rows = np.stack([rng.permutation(places + rng.normal(size=(k, columns)) * 0.35) for _ in range(40)])
        flat = rows.reshape(40, -1)
        apart = TupleWithin(1.0, k).strangers(flat).block(0, 40)
        tuples = tuples_of(flat, 1.0, k)
        for i, j in product(range(40), repeat=2):
            one, other = tuples.steps[i].astype(object), tuples.steps[j].astype(object)
            near = any(
                all(((one[a] - other[order[a]]) ** 2).sum() <= UNITS**2 for a in range(k))
                for order in permutations(range(k))
            )
            apart_enough = all(
                ((t[a] - t[b]) ** 2).sum() > 9 * UNITS**2 for t in (one, other) for a in range(k) for b in range(a)
            )
            assert apart[i, j] == (not (near and apart_enough))
            agree += near and apart_enough
    assert agree > 500


@pytest.mark.claim("tuples.1")
def test_tuples_whose_points_are_close_are_nobodys_friends() -> None:
    rows = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 3.0], [0.0, 3.01], [3.01, 0.0], [0.0, np.nan]])
    assert tuples_of(rows, 1.0, 2).valid.tolist() == [False, False, False, True, True, False]
    apart = TupleWithin(1.0, 2).strangers(rows).block(0, 6)
    assert apart[0].all()
    assert not apart[3, 4]


@pytest.mark.claim("tuples.1")
def test_alignment_is_transitive() -> None:
    """Whichever survivor is the first, the same points stand together."""
    rng = np.random.default_rng(2)
    for _ in range(30):
        places = np.arange(3)[:, None] * 3.7 + rng.normal(size=(12, 3, 2)) * 0.25
        steps = tuples_of(np.stack([rng.permutation(one) for one in places]).reshape(12, -1), 1.0, 3)
        kept = steps.steps[match_core(TupleWithin(1.0, 3).strangers(places.reshape(12, -1))).survivors]
        if len(kept) < 2:
            continue
        together = {frozenset(map(tuple, aligned(kept)[:, a].tolist())) for a in range(3)}
        for first in range(1, len(kept)):
            turned = aligned(np.roll(kept, -first, axis=0))
            assert {frozenset(map(tuple, turned[:, a].tolist())) for a in range(3)} == together


@pytest.mark.claim("tuples.2")
def test_a_replaced_tuple_moves_the_mean_no_further_than_claimed() -> None:
    """Every table of four tuples of a small world; distances over all orders of the k points."""
    found = {}
    for table in product(FIRST, repeat=4):
        tuples = tuples_of(np.array(table), 1.0, 2)
        core = match_core(TupleWithin(1.0, 2).strangers(np.array(table)))
        kept = aligned(tuples.steps[core.survivors])
        found[repr(table)] = (core.pairs, kept.mean(axis=0) if len(kept) else None)
    seen = 0
    for table in product(FIRST, repeat=4):
        pairs, mean = found[repr(table)]
        for new in FIRST:
            pairs_there, mean_there = found[repr((new, *table[1:]))]
            assert abs(pairs - pairs_there) <= 1
            larger = 4 - 2 * min(pairs, pairs_there)
            if larger >= 3 and mean is not None and mean_there is not None:
                seen += 1
                moved = min(np.linalg.norm(mean - mean_there[list(order)]) for order in permutations(range(2)))
                assert moved <= 2 * UNITS * 2**0.5 / larger + 1e-6
    assert seen > 1000


@pytest.mark.claim("tuples.2")
@pytest.mark.parametrize("relation", [REPLACE, ADD])
def test_replay(relation: Neighbours) -> None:
    mechanism, answers = TupleCore(1.5, 2, epsilon=17.0, delta=1e-4, neighbours=relation), 0
    for seed, pair in enumerate(world(120, 20, relation)):
        assert replay(mechanism, pair, seed=seed) == []
        answers += mechanism.release(pair.left, Seeded(seed)).refusal is None
    assert answers > 30


@pytest.mark.claim("tuples.3")
@pytest.mark.parametrize("relation", [REPLACE, ADD])
def test_audit(relation: Neighbours) -> None:
    mechanism = TupleCore(1.5, 2, epsilon=17.0, delta=1e-4, neighbours=relation, columns=4)
    audit.check(mechanism, world(12, 25, relation), hostile_values=relation is REPLACE).require()
    for epsilon in (0.1, 1.0, 8.0):
        asked = TupleCore(1.5, 2, epsilon=epsilon, delta=1e-6, neighbours=relation)
        assert implies(asked.loss, asked.guarantee)


@pytest.mark.parametrize("relation", [REPLACE, ADD])
def test_centres_far_away_in_any_order(relation: Neighbours) -> None:
    rng = np.random.default_rng(4)
    truth = np.array([[1e5, 0.0], [1e5 + 30, 5.0], [1e5 + 60, -5.0]])
    rows = np.stack([rng.permutation(truth + rng.normal(size=(3, 2)) * 0.3) for _ in range(500)])
    rows[:40] = np.nan
    release = TupleCore(3.0, 3, epsilon=2.0, delta=1e-6, neighbours=relation).release(rows, Seeded(0))
    assert release.value.shape == (3, 2)
    assert np.abs(release.value - truth).max() < 1.0
    assert (
        TupleCore(30.0, 3, epsilon=2.0, delta=1e-6, neighbours=relation).release(rows, Seeded(0)).refusal is not None
    )  # too close
    found = find_tuple(
        rows.reshape(500, -1),
        3.0,
        3,
        neighbours=relation,
        rng=Seeded(1),
        **SHARP,  # type: ignore[arg-type]
    )
    assert found is not None
    units = (2 if relation is REPLACE else 1) * 3.0 * 3**0.5
    assert found.deviation == pytest.approx(units / (found.survivors * 64), rel=1e-4)


@pytest.mark.parametrize("relation", [REPLACE, ADD])
def test_few_tuples_or_none_never_raise(relation: Neighbours) -> None:
    mechanism = TupleCore(1.5, 2, epsilon=17.0, delta=1e-4, neighbours=relation, columns=4)
    for size in range(3):
        for rows in ([(0.0, 0.0, 8.0, 8.0)] * size, [None] * size):
            assert mechanism.release(rows, Seeded(0)).refusal is not None


def test_what_is_refused() -> None:
    for change in ({"k": 0}, {"radius": 0.0}, {"delta": 0}, {"columns": 3}, {"least": 1}):
        good: dict[str, Any] = {"radius": 1.0, "k": 2, "epsilon": 1.0, "delta": 1e-6}
        with pytest.raises(BadInput):
            TupleCore(**(good | change))
    with pytest.raises(BadInput, match="columns"):
        TupleCore(1.0, 2, epsilon=1.0, delta=1e-6).release(np.zeros((9, 3)), Seeded(0))
