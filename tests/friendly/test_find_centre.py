"""The centre of rows that agree: what one row can do to it, how far it is off, and its shortcuts, bit for bit."""

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2
from tests.friendly.worlds import ADD, REPLACE, SHARP, VALUES, crowds, replaced, tables

from discreet.audit.replay import Recorder, replay
from discreet.errors import BadInput
from discreet.friendly import core
from discreet.friendly.average import SLACK, Centre
from discreet.friendly.core import UNITS, Apart, Core, Points, match_core
from discreet.friendly.find_centre import find_centre, match_certified, match_line
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Guarantee, Neighbours
from discreet.privacy.loss import Approximate, Composed, Gaussian, Loss
from discreet.privacy.mechanism import Randomness
from discreet.privacy.release import Provenance, Release


def core_of(table: Any, radius: float = 1.0) -> tuple[int, list[int], Fraction]:
    """Pairs, survivors and the exact mean of a column, in units."""
    points = Points.of(np.array(table, dtype=float).reshape(len(table), 1), radius)
    core = match_core(Apart(points))
    kept = points.steps[core.survivors, 0].tolist()
    return core.pairs, core.survivors.tolist(), Fraction(sum(kept), max(1, len(kept)))


COST: Loss = Composed((Gaussian(64, SLACK), Gaussian(64, SLACK), Approximate(0, 1e-7)))


@dataclass(frozen=True)
class Stage:
    """The stage as a mechanism, for the audit."""

    neighbours: Neighbours
    radius: float = 1.0
    loss: Loss = COST

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(1e6, 0.1, self.neighbours)

    def release(self, rows: Any, rng: Randomness) -> Release[Any]:
        found = find_centre(rows, self.radius, neighbours=self.neighbours, rng=rng, **SHARP)  # type: ignore[arg-type]
        blank: Release[Any] = Release(self.guarantee, Provenance("stage", {}, rng.secure), found)
        return blank if found else Release(self.guarantee, blank.provenance, refusal="too few")


@pytest.mark.claim("find_centre.1")
@pytest.mark.parametrize(("values", "size"), [(VALUES, 3), (VALUES, 4), ((0.0, 1.0, 2.0, np.nan), 5)])
def test_a_replaced_row_moves_pairs_and_mean_no_further_than_claimed(values: tuple[float, ...], size: int) -> None:
    """Every pair of neighbours of a small world; the bound is reached."""
    found = {repr(table): core_of(table) for table in tables(values, size)}
    reached = Fraction(0)
    for table in tables(values, size):
        pairs, _, mean = found[repr(table)]
        for neighbour in replaced(table, values):
            pairs_there, _, mean_there = found[repr(neighbour)]
            assert abs(pairs - pairs_there) <= 1
            larger = size - 2 * min(pairs, pairs_there)
            if larger >= 3:
                reached = max(reached, abs(mean - mean_there) * larger / (2 * UNITS))
    assert reached == 1


@pytest.mark.claim("find_centre.2")
@pytest.mark.parametrize("size", [2, 3, 4])
def test_a_row_more_moves_survivors_and_mean_no_further_than_claimed(size: int) -> None:
    smaller = {repr(table): core_of(table) for table in tables(VALUES, size - 1)}
    reached = Fraction(0)
    for table in tables(VALUES, size):
        _, kept, mean = core_of(table)
        for place in range(size):
            _, kept_there, mean_there = smaller[repr(table[:place] + table[place + 1 :])]
            renamed = {row + (row >= place) for row in kept_there}
            assert len(renamed ^ set(kept)) == 1
            larger = max(len(kept), len(kept_there))
            if larger >= 2:
                reached = max(reached, abs(mean - mean_there) * larger / UNITS)
    assert reached == 1


@pytest.mark.claim("find_centre.1")
def test_opposite_ends_of_a_crowd() -> None:
    for size in (3, 10, 41):
        one, other = ([end] + [0.0] * (size - 1) for end in (1.0, -1.0))
        (pairs, _, mean), (pairs_there, _, mean_there) = core_of(one), core_of(other)
        assert pairs == pairs_there == 0
        assert mean - mean_there == Fraction(2 * UNITS, size)


@pytest.mark.claim("find_centre.1")
def test_two_rows_at_one_end_one_of_them_replaced() -> None:
    size = 10
    near = [1.0, 1.0] + [0.0] * (size - 2)
    pairs, kept, mean = core_of(near)
    pairs_there, kept_there, mean_there = core_of([np.inf, *near[1:]])
    assert (pairs, pairs_there) == (0, 1)
    assert len(kept) == size
    assert kept_there == list(range(2, size))
    assert mean - mean_there == Fraction(2 * UNITS, size)


@pytest.mark.claim("find_centre.1")
@pytest.mark.claim("find_centre.2")
@pytest.mark.parametrize("relation", [REPLACE, ADD])
@pytest.mark.parametrize("columns", [1, 3])
def test_replay_with_hardly_any_noise(relation: Neighbours, columns: int) -> None:
    """Given equal answers, no draw moves further than it claims, and nothing leaves besides."""
    stage, asked = Stage(relation), Counter[str]()
    for seed, pair in enumerate(crowds(relation, 150, (1, 22), seed=columns, columns=columns)):
        assert replay(stage, pair, seed=seed) == []
        asked["answer" if stage.release(pair.left, Seeded(seed)).answer else "refusal"] += 1
    assert min(asked["answer"], asked["refusal"]) > 8


@pytest.mark.claim("find_centre.3")
@pytest.mark.parametrize("relation", [REPLACE, ADD])
def test_a_repeated_row_leaves_as_it_is(relation: Neighbours) -> None:
    rng, rows = np.random.default_rng(0), np.full((30, 2), -0.0)
    rows[:4] = rng.normal(size=(4, 2))
    recorder = Recorder(Seeded(0))
    found = find_centre(rows, 0.0, neighbours=relation, rng=recorder, **SHARP)  # type: ignore[arg-type]
    assert found is not None
    assert found.point.tobytes() == np.zeros(2).tobytes()  # not -0
    assert found.deviation == 0
    assert recorder.spent == Gaussian(64, SLACK) or relation is ADD
    stage = Stage(relation, radius=0.0)
    for seed, pair in enumerate(crowds(relation, 100, (3, 20))):
        pair.left[pair.left > 0] = 0.5
        pair.right[pair.right > 0] = 0.5
        assert replay(stage, pair, seed=seed) == []


@pytest.mark.parametrize("relation", [REPLACE, ADD])
def test_translations_and_odd_rows(relation: Neighbours) -> None:
    """An offset of a million radii, an exchange of columns, a tenth of rows that are no points: all the same."""
    rng = np.random.default_rng(1)
    rows = rng.integers(-100, 100, size=(300, 3)) / 128
    rows[:30] = rng.choice([np.nan, np.inf, -np.inf, 1e300, 1e9], size=(30, 3))
    found = [
        find_centre(table, 4.0, neighbours=relation, rng=Seeded(7), **SHARP)  # type: ignore[arg-type]
        for table in (rows, rows + 2.0**20, rows[:, ::-1])
    ]
    assert all(isinstance(one, Centre) for one in found)
    plain, moved, turned = (one for one in found if one)
    if relation is REPLACE:
        assert np.allclose(moved.point - 2.0**20, plain.point, atol=1e-7)
        assert moved.survivors == plain.survivors
        assert np.allclose(turned.point[::-1], plain.point, atol=0.01)
    assert plain.survivors in range(235, 272)
    assert np.abs(plain.point - np.median(rows[30:], axis=0)).max() < 0.2


@pytest.mark.parametrize("relation", [REPLACE, ADD])
def test_a_third_of_the_rows_may_lie_anywhere(relation: Neighbours) -> None:
    rng = np.random.default_rng(2)
    radius = float(np.sqrt(2 * chi2.isf(0.05 / (1000 * 999 / 2), 5)))
    for place in (1e3, 1e7, -40.0):
        rows = rng.normal(size=(1000, 5)) + 50
        rows[rng.permutation(1000)[:300]] = place + rng.normal(size=(300, 5)) * rng.choice([0.0, 1.0, 1e4])
        found = find_centre(
            rows,
            radius,
            test=Gaussian(0.2, SLACK),
            mean=Gaussian(0.2, SLACK),
            miss=1e-7,
            neighbours=relation,
            rng=Seeded(3),
        )
        assert found is not None
        assert np.abs(found.point - 50).max() < 1.5


def test_the_noise_is_what_it_says() -> None:
    """100,000 draws: their deviation is known to 1.1% (4.9 deviations of it)."""
    rows, seen = np.zeros((20, 2500)), []
    for seed in range(40):
        found = find_centre(
            rows,
            1.0,
            test=Gaussian(2, SLACK),
            mean=Gaussian(0.25, SLACK),
            miss=1e-7,
            neighbours=REPLACE,
            rng=Seeded(seed),
        )
        assert found is not None
        assert found.deviation == pytest.approx(2 / (found.survivors * 0.25), rel=1e-5)
        seen.append(found.point / found.deviation)
    assert np.std(np.concatenate(seen)) == pytest.approx(1, rel=0.011)


def test_only_so_many_rows_are_looked_at() -> None:
    rng = np.random.default_rng(4)
    rows = rng.normal(size=(9000, 1))
    for relation, most in product((REPLACE, ADD), (500, 4096)):
        found = find_centre(rows, 12.0, neighbours=relation, rng=Seeded(1), most=most, **SHARP)  # type: ignore[arg-type]
        assert found is not None
        assert found.survivors == most if relation is REPLACE else abs(found.survivors - most) < 6 * most**0.5
    table = rows[:700] + np.array([0, 1])
    ways: list[dict[str, Any]] = [SHARP | {"certified": certified} for certified in (True, False)]
    same = [find_centre(table, 12.0, neighbours=REPLACE, rng=Seeded(1), **way) for way in ways]
    assert same[0] is not None
    assert same[1] is not None
    assert same[0].point.tobytes() == same[1].point.tobytes()


def test_parameters_are_refused_before_anything_is_drawn() -> None:
    rows, recorder = np.zeros((5, 2)), Recorder(Seeded(0))
    good: dict[str, Any] = SHARP | {"neighbours": REPLACE, "rng": recorder}
    for change in (
        {"least": 2},
        {"least": 1, "neighbours": ADD},
        {"least": 3.5},
        {"miss": 0.7},
        {"test": Gaussian(1)},
        {"mean": Gaussian(1e-9, SLACK)},
    ):
        with pytest.raises(BadInput):
            find_centre(rows, 1.0, **(good | change))
    for table, radius in ((rows, -1.0), (rows, np.nan), (rows[0], 1.0), (rows[:, :0], 1.0)):
        with pytest.raises(BadInput):
            find_centre(table, radius, **good)
    assert recorder.log == []


@pytest.mark.parametrize("relation", [REPLACE, ADD])
def test_tables_too_small_are_refused_not_raised(relation: Neighbours) -> None:
    for size in range(4):
        found = find_centre(np.zeros((size, 2)), 1.0, neighbours=relation, rng=Seeded(0), **SHARP)  # type: ignore[arg-type]
        assert (found is None) == (size < 3 or relation is ADD)


HOME = import_module("discreet.friendly.find_centre")  # the package has a function of that name
ODD = (np.nan, np.inf, 1e300, 0.0, 5.0, 1e6, -7.25, 1.0)


def scattered(columns: int, count: int, largest: int) -> list[Points]:
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
    for module in (core, HOME):
        monkeypatch.setattr(module, "compiled", lambda: compiled)
    for points in scattered(columns, 150, 30):
        expected = match_core(Apart(points))
        assert same(match_certified(points), expected)
        if columns == 1:
            assert same(match_line(points), expected)
    monkeypatch.setattr(HOME, "LARGEST", 5)
    for points in scattered(columns, 5, 30):
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
