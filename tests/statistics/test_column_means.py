"""The ladder for means of several columns of different scales."""

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

import discreet
from discreet import audit
from discreet.accounting.compose import implies
from discreet.accounting.currency import pure
from discreet.audit.replay import Recorder, drawn, exceeds
from discreet.errors import BadInput, NeedsBounds, Refused
from discreet.noise.additive import Blur
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Guarantee, Neighbours
from discreet.privacy.loss import Approximate
from discreet.stages.gram import Frame
from discreet.statistics import column_means as module
from discreet.statistics.column_means import ColumnMeans, noisy_squares, squares_cost
from discreet.statistics.mean import RankClippedMean

BOTH = list(Neighbours)
REPLACE, ADD = Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE
CROWD = [(float(x), 1000.0 * y) for x, y in np.round(np.random.default_rng(4).normal(1.0, 2.0, size=(299, 2)), 2)]
ODD: tuple[Any, ...] = ((0.0, 0.0), (1e6, -1e6), (1e300, math.inf), (math.nan, 1.0), None, (1.0,))
SCALES = 10.0 ** np.arange(-3, 4)


def world(relation: Neighbours) -> list[audit.Pair]:
    if relation is REPLACE:
        return [audit.Pair([*CROWD, left], [*CROWD, right]) for left in ODD for right in ODD if left is not right][::4]
    pairs = [audit.Pair([*CROWD, row], CROWD) for row in (*ODD, CROWD[0])]
    return [*pairs, audit.Pair([], [(1.0, 2.0)]), audit.Pair([(1e300, math.nan)] * 2, [(1e300, math.nan)])]


@pytest.mark.claim("column_means.1")
@pytest.mark.parametrize("relation", BOTH)
def test_every_small_pair_alone(relation: Neighbours) -> None:
    mechanism = ColumnMeans(2, 8.0, neighbours=relation, size=300 if relation is REPLACE else None)
    assert not mechanism.joint
    audit.check(mechanism, world(relation), hostile_values=False).require()
    rows = [*CROWD, (0.0, 1.0)]
    assert mechanism.release(rows, Seeded(0)).refusal is None
    assert exceeds(drawn(mechanism, rows), mechanism.loss) is None
    assert pure(mechanism.loss) == (Fraction(8), Fraction(0))
    assert mechanism.guarantee == Guarantee(8.0, 0.0, relation)
    assert ColumnMeans(2, 8.0).loss == Approximate(8.0, 0)


@pytest.mark.claim("column_means.2")
@pytest.mark.claim("column_means.5")
@pytest.mark.parametrize("relation", BOTH)
def test_every_small_pair_together(relation: Neighbours, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "JOINT", 4.0)  # else two columns are taken alone
    mechanism = ColumnMeans(2, 4.0, 1e-4, neighbours=relation, size=300 if relation is REPLACE else None)
    assert mechanism.joint
    audit.check(mechanism, world(relation), hostile_values=False).require()
    rows = [*CROWD, (0.0, 1.0)]
    assert mechanism.release(rows, Seeded(0)).refusal is None
    assert implies(mechanism.loss, mechanism.guarantee)
    assert exceeds(drawn(mechanism, rows), mechanism.loss) is None
    assert mechanism.guarantee == Guarantee(4.0, 1e-4, relation)


@pytest.mark.claim("column_means.2")
@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("width", [5, 7, 40])
def test_whatever_number_is_released_the_stages_stay_within_the_loss(relation: Neighbours, width: int) -> None:
    mechanism = ColumnMeans(width, 1.0, 1e-6, neighbours=relation)
    for rows in (1, 50, 1000, 10**5, 10**9):
        spent = mechanism.plan(rows).loss
        assert implies(spent, Guarantee(1.0, 1e-6, relation))
        assert exceeds(spent, mechanism.loss) is None


@pytest.mark.claim("column_means.3")
def test_a_refusal_comes_before_any_draw_or_from_the_noisy_size() -> None:
    for delta in (0.0, 1e-6):
        door = Recorder(Seeded(0))
        assert "150 rows of 5 columns" in str(ColumnMeans(5, 1.0, delta).release(np.ones((150, 5)), door).refusal)
        assert door.log == []
        with pytest.raises(Refused, match="150 rows of 5 columns"):
            ColumnMeans(5, 1.0, delta).check(150)
        ColumnMeans(5, 1.0, delta).check(None)
        private = ColumnMeans(5, 1.0, delta, neighbours=ADD)
        door = Recorder(Seeded(0))
        assert "a noisy number" in str(private.release(np.ones((150, 5)), door).refusal)
        assert len(door.log) == 1
        advice = str(private.release(np.ones((150, 5)), Seeded(0)).refusal)
        enough = int(float(advice.split("needs about ")[1].split(maxsplit=1)[0]))
        private.check(enough + 1)  # what it advises works
    far = np.random.default_rng(0).normal(size=(4000, 5)) * [1.0, 1e200, 1.0, 1.0, 1.0]
    assert "column 1" in str(ColumnMeans(5, 1.0, 1e-6).release(far, Seeded(0)).refusal)


@pytest.mark.claim("column_means.3")
def test_columns_are_taken_together_where_that_is_predicted_to_be_better() -> None:
    assert not ColumnMeans(1, 1.0, 1e-6).joint
    assert ColumnMeans(5, 1.0, 1e-6).joint
    assert not ColumnMeans(2, 1.0, 1e-6).joint
    assert not ColumnMeans(5, 1.0, 1e-11).joint
    assert not ColumnMeans(7, 1.0).joint


@pytest.mark.claim("column_means.4")
@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_columns_of_seven_scales_are_covered(relation: Neighbours, delta: float) -> None:
    """8 seeded runs of 7 columns: of 56 intervals 5% may miss."""
    rng, missed = np.random.default_rng(3), 0
    for seed in range(8):
        rows = rng.normal(5.0, 1.0, size=(9000, 7)) * SCALES
        release = ColumnMeans(7, 2.0, delta, neighbours=relation).release(rows, Seeded(seed))
        low, high = release.interval(0.95)
        missed += int(((low > 5 * SCALES) | (high < 5 * SCALES)).sum())
        assert release.spread is not None
        assert (np.abs(release.value / SCALES - 5) < 0.3).all()
    assert missed <= 10


@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize(("width", "size", "epsilon"), [(2, 900, 1.0), (2, 8000, 1.0), (2, 300, 3.0), (7, 8000, 1.0)])
def test_no_column_is_worse_than_alone_at_its_share_of_epsilon(
    relation: Neighbours, width: int, size: int, epsilon: float
) -> None:
    """Median errors that the spreads tell, sampling included; never more than 1.1 times."""
    rng = np.random.default_rng(7)
    together: list[float] = []
    alone: list[float] = []
    for seed in range(15):
        rows = rng.normal(size=(size, width)) * SCALES[:width]
        for found, mechanism, data in (
            (together, ColumnMeans(width, epsilon, 1e-6, neighbours=relation), rows),
            (alone, RankClippedMean(epsilon / width, relation), rows[:, 0].copy()),
        ):
            release: Any = mechanism.release(data, Seeded(seed))
            if release.refusal is None:
                found.append(float(np.hypot(np.ravel(release.spread.privacy)[0] / SCALES[0], 1 / math.sqrt(size))))
    assert len(together) >= len(alone) > 5
    assert np.median(together) < 1.1 * np.median(alone)


@pytest.mark.parametrize("relation", ["add_or_remove", "replace"])
def test_a_frame_of_different_scales_keeps_names_and_needs_no_delta(relation: str) -> None:
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    frame = pandas.DataFrame({"carat": rng.gamma(2.0, 0.4, 20_000), "price": 1000 * rng.gamma(2.0, 2.0, 20_000)})
    for delta in (0.0, 1e-6):
        release = discreet.mean(frame, epsilon=1.0, delta=delta, neighbours=relation, rng=Seeded(2))
        assert release.value["carat"] == pytest.approx(0.8, rel=0.05)
        assert release.value["price"] == pytest.approx(4000, rel=0.05)
        head, _, *rows = str(release).splitlines()
        assert head.startswith("mean of carat and price")
        assert [row.split()[0] for row in rows[:2]] == ["carat", "price"]
    with pytest.raises(NeedsBounds, match="method 'refine' for a table needs delta"):
        discreet.mean(frame, epsilon=1.0, method="refine")


def test_many_columns_name_the_limits_of_the_first() -> None:
    rows = np.random.default_rng(5).normal(size=(4000, 12))
    release = ColumnMeans(12, 4.0, 1e-6).release(rows, Seeded(0))
    assert str(release).splitlines()[0].count("between") == 8


def test_constant_columns_and_odd_rows() -> None:
    rows = np.random.default_rng(6).normal(size=(5000, 3))
    rows[:, 1] = 7.0
    rows[:20, 2] = [math.inf, -math.inf, math.nan, 1e300] * 5
    for delta in (0.0, 1e-6):
        value = ColumnMeans(3, 4.0, delta).release(rows, Seeded(1)).value
        assert abs(value[1] - 7) < 0.5
        assert abs(value[2]) < 0.3


@pytest.mark.parametrize("width", [0, 2**11, True, 1.5])
def test_bad_widths(width: Any) -> None:
    with pytest.raises(BadInput, match="width"):
        ColumnMeans(width, 1.0)


@pytest.mark.parametrize("epsilon", [4.0, 40.0, 1e4])
def test_a_large_epsilon_has_an_answer_with_delta_too(epsilon: float) -> None:
    rows = np.random.default_rng(2).normal(size=(3000, 2)) * [1.0, 1000.0]
    mechanism = ColumnMeans(2, epsilon, 1e-6, neighbours=Neighbours.ADD_OR_REMOVE)
    assert implies(mechanism.loss, mechanism.guarantee)
    assert mechanism.release(rows, Seeded(1)).refusal is None
    with pytest.raises(BadInput, match="private here"):
        ColumnMeans(2, epsilon, 0.05, neighbours=Neighbours.ADD_OR_REMOVE)


@pytest.mark.claim("column_means.5")
@pytest.mark.parametrize("relation", [REPLACE, ADD])
def test_the_squares_of_every_pair_of_small_rows(relation: Neighbours) -> None:
    """What is handed to the noise, of every row that is there or not, or stands in for another."""
    frame, cost = Frame.of(np.ones(2), np.eye(2)), squares_cost(Fraction(1), 2, relation)
    asked = []
    values_of_a_row = (0.0, 1.0, -1.0, 2.0, 0.7071, 1e-9, 1e6, -1e300, math.inf, -math.inf, math.nan)
    small = np.array(list(product(values_of_a_row, repeat=2)))
    for rows in (small[:0], *small[:, None]):
        recorder = Recorder(Seeded(0))
        noisy_squares(rows, frame, 1.0, cost=cost, neighbours=relation, rng=recorder)
        asked += [request for request, _ in recorder.log if isinstance(request, Blur)]
    moved = [blur.sensitivity for blur in asked]
    values = [blur.values.tolist() for blur in asked]
    others = values if relation is REPLACE else values[:1]
    worst = max(sum((a - b) ** 2 for a, b in zip(*pair, strict=True)) for pair in product(values, others))
    assert 0.95 * float(moved[0]) ** 2 < worst <= moved[0] ** 2
    assert set(moved) == {moved[0]}
