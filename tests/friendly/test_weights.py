"""The lectures' weights on every small graph, random retention, and algorithms made private on all tables."""

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from tests.friendly.graphs import Graph, code_of, graph, graphs, without
from tests.friendly.worlds import ADD, REPLACE, SHARP, VALUES, crowds, replaced, tables

from discreet import audit
from discreet.accounting.compose import implies
from discreet.audit.replay import replay
from discreet.errors import BadInput
from discreet.friendly.core import UNITS, Apart, Pairwise, Points, Within, match_core
from discreet.friendly.friendly_mean import FriendlyMean
from discreet.friendly.weights import (
    STABILITY,
    Retained,
    friendly,
    friendly_weights,
    moves_at_most,
    weight_units,
    weighted_centre,
)
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Guarantee, Neighbours
from discreet.privacy.loss import Approximate, Gaussian, Laplace, Loss, Sampled
from discreet.privacy.mechanism import Randomness
from discreet.privacy.release import Provenance, Release

ONE = Approximate(1, 0)


@dataclass(frozen=True)
class Length:
    """How many rows, with noise: private on any table."""

    loss: Loss = ONE
    neighbours: Neighbours = ADD

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(1.0, 0.0, self.neighbours)

    def release(self, rows: Any, rng: Randomness) -> Release[Any]:
        noisy = rng.blur(len(rows), sensitivity=1, cost=Laplace(1))
        return Release(self.guarantee, Provenance("Length", {}, rng.secure), noisy)


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


Floats = np.ndarray[Any, Any]
OUT = np.arange(-8, 14)


class Given:
    """A predicate that is a graph."""

    def __init__(self, strangers: object) -> None:
        self.given = strangers

    def strangers(self, rows: object) -> object:
        return self.given


def chances(apart: Any, relation: Neighbours) -> Floats:
    units, whole = Retained(Length(), Given(Graph(apart)), relation).chances(np.zeros((len(apart), 1)))  # type: ignore[arg-type]
    return np.asarray(units) / whole


def distribution(weights: Floats, epsilon: float) -> Floats:
    """The exact distribution of a noisy count of the rows that are kept, which is pure epsilon."""
    kept = np.ones(1)
    for weight in weights:
        kept = np.convolve(kept, [1 - weight, weight])
    noise = np.exp(-epsilon * np.abs(OUT[None, :] - np.arange(len(kept))[:, None]))
    return np.asarray(kept @ (noise * math.tanh(epsilon / 2)))


@pytest.mark.claim("weights.6")
@pytest.mark.claim("weights.7")
@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_adding_a_row(size: int) -> None:
    for _, strangers in graphs(size):
        more = chances(strangers.apart, ADD)
        for row in range(size):
            fewer = chances(without(strangers.apart, row), ADD)
            assert np.abs(np.delete(more, row) - fewer).sum() + more[row] <= 2 + 1e-12  # [weights.7]
            ratio = np.log(distribution(more, 0.5) / distribution(fewer, 0.5))
            assert np.abs(ratio).max() <= 2 * math.expm1(0.5)


@pytest.mark.claim("weights.6")
@pytest.mark.parametrize("size", [3, 4])
def test_replacing_a_row(size: int) -> None:
    largest = 0.0
    for code, strangers in graphs(size):
        mine = distribution(chances(strangers.apart, REPLACE), 0.5)
        for bits in product((0, 1), repeat=size - 1):
            other = code & ~(2 ** (size - 1) - 1) | sum(bit << place for place, bit in enumerate(bits))
            theirs = distribution(chances(graph(size, other).apart, REPLACE), 0.5)
            largest = max(largest, float(np.abs(np.log(mine / theirs)).max()))
    assert 0.5 < largest <= 3 * math.expm1(0.5)


@pytest.mark.claim("weights.6")
def test_what_it_promises() -> None:
    for relation, moved in ((REPLACE, 3), (ADD, 2)):
        mechanism = Retained(Length(Approximate(0.5, 1e-6)), Within(1.0), relation)
        size = moved * math.expm1(0.5)
        assert mechanism.guarantee.epsilon == pytest.approx(size)
        assert mechanism.guarantee.delta == pytest.approx(moved * 1e-6 * math.exp(size))
        assert implies(mechanism.loss, mechanism.guarantee)
    with pytest.raises(BadInput, match="too large"):
        Retained(Length(Approximate(6, 0)), Within(1.0))


def test_rows_are_kept_as_often_as_they_weigh() -> None:
    """Five friends and two strangers: 1/3 each; 2,000 runs keep 3,333 rows, give or take 310 (6 deviations)."""
    rows = np.array([0.0] * 5 + [50.0, np.nan])
    mechanism = Retained(Length(), Within(1.0))
    assert mechanism.chances(rows[:, None])[0].tolist() == [2] * 5 + [0, 0]
    total = sum(mechanism.release(rows, Seeded(seed)).value for seed in range(2000))
    assert abs(total - 2000 * 5 / 3) < 310 + 6 * math.sqrt(2 * 2000)
    assert mechanism.release(rows, Seeded(0)).provenance.mechanism == "retained Length"


@dataclass(frozen=True)
class Spread:
    """The span of the rows, which moves by at most a radius: on friends within a radius, and nowhere else."""

    loss: Loss = ONE

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(1.0, 1e-5, ADD)

    def release(self, rows: Any, rng: Randomness) -> Release[Any]:
        steps = np.rint(np.asarray(rows) * 1024)
        span = int(steps.max() - steps.min()) if len(steps) else 0
        noisy = rng.blur(span, sensitivity=1025, cost=Laplace(1))
        return Release(self.guarantee, Provenance("Spread", {}, rng.secure), noisy)


@pytest.mark.claim("weights.8")
def test_what_it_promises_of_algorithm() -> None:
    for relation, times in ((ADD, 1), (REPLACE, 2)):
        mechanism = friendly(Spread(), Within(1.0), neighbours=relation)
        assert mechanism.guarantee.epsilon == times
        assert mechanism.guarantee.neighbours is relation
        assert mechanism.loss == Approximate(Fraction(times), 0)
    assert friendly(Spread(), Within(1.0)).guarantee.delta == pytest.approx((1 + np.e) * 1e-5)
    assert friendly(Length(Gaussian(1, 1e-9)), Within(1.0)).loss == Gaussian(2, 1e-9)


@pytest.mark.claim("weights.8")
def test_add_or_remove_is_sound_by_replay() -> None:
    near = Pairwise(lambda one, other: bool(abs(one[0] - other[0]) <= 1))
    for algorithm in (Spread(), Length()):
        for predicate in (Within(1.0), near):
            mechanism = friendly(algorithm, predicate, neighbours=ADD, columns=1)
            for seed, pair in enumerate(crowds(ADD, 40, (1, 12))):
                assert replay(mechanism, pair, seed=seed) == []
    audit.check(friendly(Length(), Within(1.0), neighbours=ADD, columns=1), crowds(ADD, 5, (1, 9))).require()


@pytest.mark.claim("weights.8")
def test_replaced_rows_move_it_twice_as_far_at_most() -> None:
    """Replay sees the algorithm's own sensitivity, for one row: twice that must do for two."""

    @dataclass(frozen=True)
    class Doubled(Spread):
        def release(self, rows: Any, rng: Randomness) -> Release[Any]:
            steps = np.rint(np.asarray(rows) * 1024)
            span = int(steps.max() - steps.min()) if len(steps) else 0
            noisy = rng.blur(span, sensitivity=2 * 1025, cost=Laplace(2))
            return Release(self.guarantee, Provenance("Spread", {}, rng.secure), noisy)

    mechanism = friendly(Doubled(), Within(1.0), columns=1)
    for seed, pair in enumerate(crowds(REPLACE, 150, (2, 12))):
        assert replay(mechanism, pair, seed=seed) == []


def test_without_the_core_it_would_not_be_private() -> None:
    assert not audit.check(Spread(), crowds(ADD, 20, (2, 9)), hostile_values=False).passed


def test_friends_lose_nothing_and_others_are_left_out() -> None:
    rows = np.concatenate([np.zeros((50, 1)), [[np.nan]] * 3, [[1e9]]])
    for relation in (ADD, REPLACE):
        release = friendly(Length(), Within(1.0), neighbours=relation).release(rows, Seeded(1))
        assert abs(release.value - 46) < 12
        assert release.guarantee.neighbours is relation
        assert release.provenance.mechanism == "friendly Length"
        nobody = friendly(Length(), Within(1.0), neighbours=relation).release(rows[50:51], Seeded(1))
        assert abs(nobody.value) < 12


def test_one_column_is_handed_on_as_a_column() -> None:
    from discreet.statistics.count import Count

    for relation in (ADD, REPLACE):
        for rows in (np.ones(40), np.ones(0)):
            release = friendly(Count(1.0, ADD), Within(1.0), neighbours=relation).release(rows, Seeded(0))
            assert abs(release.value - len(rows)) < 15
            assert Retained(Count(0.5, ADD), Within(1.0), relation).release(rows, Seeded(0)).refusal is None


def test_what_is_refused() -> None:
    with pytest.raises(BadInput, match="ADD_OR_REMOVE"):
        friendly(Length(neighbours=REPLACE), Within(1.0))
    with pytest.raises(BadInput, match="samples"):
        friendly(Length(Sampled(Approximate(1, 0), 0.5)), Within(1.0))
