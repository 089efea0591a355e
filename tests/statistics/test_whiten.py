"""Frames in which rows look round, from differences of rows."""

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.audit.replay import Recorder, Replayer
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Choice, atoms
from discreet.stages.gram import Frame, gram_cost, lengths
from discreet.statistics.whiten import (
    MOST_PAIRS,
    Whitening,
    by_chance,
    differences,
    find_frame,
    inverse_root,
    measured,
    pairs_of,
)

REPLACE, ADD = Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE


def costs(size: int, epsilon: float = 0.2, mu: Fraction = Fraction(1, 10), turns: int = 4) -> Whitening:
    return Whitening(size, Choice(epsilon), (gram_cost(mu, size, REPLACE),) * turns)


def rows_of(covariance: Any, count: int, seed: int = 0, offset: float = 1e5) -> Any:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(count, len(covariance))) @ np.linalg.cholesky(covariance).T + offset


def ill(size: int, condition: float, seed: int = 0) -> Any:
    turn = np.linalg.qr(np.random.default_rng(seed).normal(size=(size, size)))[0]
    return (turn * np.logspace(0, math.log10(condition), size)) @ turn.T


@pytest.mark.parametrize(("condition", "scale"), [(1.0, 1e-20), (100.0, 1.0), (1e6, 1e30)])
def test_rows_look_round(condition: float, scale: float) -> None:
    covariance = ill(4, condition) * scale
    apart = differences(rows_of(covariance, 20_000, offset=1e5 * math.sqrt(scale)))
    frame = find_frame(apart, len(apart), costs(4), Seeded(1))
    assert isinstance(frame, Frame)
    seen = np.linalg.eigvalsh(frame.matrix @ covariance @ frame.matrix.T)
    assert seen.min() > 0.7
    assert seen.max() < 1.4


@pytest.mark.claim("whiten.3")
def test_one_row_replaced_is_in_one_difference() -> None:
    rows = rows_of(ill(3, 10.0), 501)
    paired, some = by_chance(rows, 501, REPLACE, Seeded(3))
    base = differences(paired)
    assert (base.shape, some.shape) == ((250, 3), (501, 3))
    for place, entry in ((0, 5.0), (100, math.inf), (499, math.nan), (500, 1e300)):
        other = rows.copy()
        other[place] = entry
        found = by_chance(other, 501, REPLACE, Seeded(3))
        assert (differences(found[0]) != base).any(axis=1).sum() <= 1
        assert (found[1] != some).any(axis=1).sum() == 1
    assert np.cov(base.T) == pytest.approx(ill(3, 10.0), abs=4)


@pytest.mark.claim("whiten.3")
@pytest.mark.parametrize("size", [0, 1, 2, 40])
def test_one_row_more_is_in_one_difference(size: int) -> None:
    """Every key, every place, rows that are new, equal to another or no numbers: one exchanged, added or taken away."""
    rows = np.round(rows_of(np.eye(2), size, offset=0.0))
    exchanged = set()
    for key in range(30):
        for entry in (0.0, 7.25, math.nan, *rows[:1, 0]):
            more = np.insert(rows, key % (size + 1), entry, axis=0)
            (pairs, some), (other, others) = (by_chance(part, max(size, 1), ADD, Seeded(key)) for part in (rows, more))
            here, there = (Counter(row.tobytes() for row in differences(part)) for part in (pairs, other))
            gone, new = (here - there).total(), (there - here).total()
            assert max(gone, new) <= 1
            exchanged.add((gone, new))
            here, there = (Counter(row.tobytes() for row in part) for part in (some, others))
            assert not here - there
            assert (there - here).total() <= 1
    if size == 40:
        assert {(0, 0), (0, 1), (1, 1)} <= exchanged
        assert pairs_of(40, ADD) == pytest.approx(len(pairs) / 2, abs=8)


@pytest.mark.claim("whiten.4")
def test_the_order_of_the_table_is_no_part_of_it() -> None:
    rows = rows_of(np.eye(2), 300)
    moved = np.random.default_rng(1).permutation(300)
    for one, other in zip(*(by_chance(part, 300, ADD, Seeded(3)) for part in (rows, rows[moved])), strict=True):
        assert (one == other).all()

    class Composed:
        """Draws the order that another draw would have been before the table was reordered."""

        def permutation(self, size: int) -> Any:
            return moved[Seeded(3).permutation(size)]

    door: Any = Composed()
    pairs, some = by_chance(rows, 300, REPLACE, door), by_chance(rows[moved], 300, REPLACE, Seeded(3))
    assert all((one == other).all() for one, other in zip(pairs, some, strict=True))


def test_pairs_are_most_of_what_there_can_be() -> None:
    assert [pairs_of(rows, REPLACE) for rows in (0, 1, 5001, 10**7)] == [0, 0, 2500, MOST_PAIRS]
    assert [round(pairs_of(rows, ADD) / rows, 2) for rows in (100, 5000)] == [0.29, 0.3]
    assert pairs_of(1, ADD) == 0
    assert pairs_of(10**7, ADD) == pytest.approx(0.91 * MOST_PAIRS, rel=0.01)


@pytest.mark.claim("whiten.1")
@pytest.mark.parametrize("change", ["exchanged", "added", "taken away"])
def test_one_difference_moves_no_draw_further_than_was_paid_for(change: str) -> None:
    base = differences(rows_of(ill(3, 10.0), 500))
    door = Recorder(Seeded(0))
    frame = find_frame(base, 250, costs(3, 5.0, Fraction(2)), door)
    assert isinstance(frame, Frame)
    assert sorted(map(repr, atoms(door.spent))) == sorted(map(repr, atoms(costs(3, 5.0, Fraction(2)).loss)))
    for entries in ([0.0] * 3, [1e300, 0.0, 0.0], [math.nan] * 3, [math.inf, -math.inf, 1.0], [1e6, 1e6, -1e6]):
        other = np.delete(base, 17, axis=0) if change != "added" else base
        other = np.insert(other, 17, entries, axis=0) if change != "taken away" else other
        again = Replayer(door)
        find_frame(other, 250, costs(3, 5.0, Fraction(2)), again)
        assert again.objections == []
        assert again.unused == 0


@pytest.mark.claim("whiten.2")
def test_scales_that_are_none_end_it() -> None:
    rows = rows_of(np.eye(2), 4000)
    still = rows.copy()
    still[:, 1] = 7.0
    door = Recorder(Seeded(0))
    found = find_frame(differences(still), 2000, costs(2), door)
    assert isinstance(found, str)
    assert "column 1" in found
    assert len(door.log) == 2  # the distances, and no more
    found = find_frame(differences(rows * 1e290), 2000, costs(2), Seeded(0))
    assert isinstance(found, str)
    assert "rescale" in found


def test_truth_values_and_ties_have_a_scale() -> None:
    rng = np.random.default_rng(0)
    rows = np.stack([rng.random(20_000) < 0.5, rng.poisson(1.0, 20_000), rng.normal(size=20_000)], axis=1)
    frame = find_frame(differences(rows), 10_000, costs(3), Seeded(1))
    assert isinstance(frame, Frame)
    seen = np.linalg.eigvalsh(frame.matrix @ np.cov(rows.T) @ frame.matrix.T)
    assert seen.min() > 0.2
    assert seen.max() < 5


def test_lengths_and_roots() -> None:
    frame = Frame.of(np.ones(2), np.eye(2))
    assert lengths(np.array([[3.0, 4.0], [math.nan, 1.0], [0.0, 0.0]]), frame) == pytest.approx([5, 0, 0])
    assert len(lengths(np.zeros((0, 2)), frame)) == 0
    root = inverse_root(np.diag([4.0, 1.0]), 1e-6)
    assert root == pytest.approx(np.diag([0.5, 1.0]))
    assert np.isfinite(inverse_root(np.diag([-1.0, 1.0]), 0.1)).all()
    assert [measured(pairs) for pairs in (10, 9000, 10**6)] == [10, 8192, 4096]
