"""The audit of a covariance of many columns: turns drawn to the diagonal, and tails of squared lengths."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from discreet import audit
from discreet.accounting.compose import implies
from discreet.audit.replay import drawn, exceeds
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.stages.octaves import Tail
from discreet.stages.squared_tail import Doubted, SquaredTail
from discreet.statistics import free_covariance as stages
from discreet.statistics.covariance import Covariance, MatrixSpread
from discreet.statistics.multivariate_gaussian import NormalVectorSpread

REPLACE, ADD = Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE
WIDE = 17  # columns: the fewest that squared lengths are counted of
ROWS = np.round(np.random.default_rng(23).normal(1.0, 2.0, size=(398, WIDE)), 2)
CROWD = [tuple(row) for row in ROWS.tolist()]


def row(at: dict[int, float]) -> tuple[float, ...]:
    """A row in the middle but for a few columns."""
    return tuple(at.get(k, 1.0) for k in range(WIDE))


LONG = (row({0: 60.0}), row({16: -60.0}), row({0: -60.0}), row({4: 30.0, 5: 30.0}), row({}))
ODD: tuple[Any, ...] = (
    row({0: math.nan}),
    row({2: 1e300, 3: -1e300}),
    row({1: math.inf, 4: -math.inf}),
    row(dict.fromkeys(range(WIDE), 1e160)),  # a length without a square among the floats
    row(dict.fromkeys(range(WIDE), 5e-324)),
    (1.0, 2.0),
    None,
)


def world(relation: Neighbours, step: int) -> list[audit.Pair]:
    """Long rows and odd ones against each other, or there and not there, beside a crowd."""
    if relation is ADD:
        chosen: list[tuple[Any, Any]] = [(one, None) for one in (*LONG[::2], *ODD[::step])]
    else:
        odd = [(a, b) for a in (*LONG, *ODD) for b in ODD if a is not b][::step]
        chosen = [(LONG[0], LONG[1]), (LONG[2], LONG[0]), (LONG[3], LONG[4]), *odd]
    pairs = []
    for index, (left, right) in enumerate(chosen):
        at = (0, 150, len(CROWD))[index % 3]
        one, other = ([*CROWD[:at], *added, *CROWD[at:]] for added in ([left], [right] if relation is REPLACE else []))
        pairs.append(audit.Pair(one, other) if index % 2 else audit.Pair(other, one))
    return pairs


def mechanism_of(relation: Neighbours, epsilon: float = 16.0) -> Covariance:
    """The covariance of all columns."""
    size = len(CROWD) + 1 if relation is REPLACE else None
    return Covariance(epsilon, 1e-5, dimension=WIDE, neighbours=relation, size=size)


@pytest.mark.claim("free_covariance.1")
@pytest.mark.claim("free_covariance.2")
@pytest.mark.parametrize("relation", [REPLACE, ADD])
def test_every_small_pair(relation: Neighbours, monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism, found = mechanism_of(relation), list[Any]()

    def watched(*given: Any) -> Any:
        found.append(LONGEST(*given))
        return found[-1]

    monkeypatch.setattr(stages, "_longest", watched)
    audit.check(mechanism, world(relation, 20 if relation is REPLACE else 3), hostile_values=False).require()
    assert sum(isinstance(one, SquaredTail | Doubted) for one in found) > len(found) / 2  # a world of squared lengths
    rows = [*CROWD, LONG[-1]]
    assert mechanism.release(rows, Seeded(0)).refusal is None  # and of answers
    assert implies(mechanism.loss, mechanism.guarantee)
    assert exceeds(drawn(mechanism, rows), mechanism.loss) is None


LONGEST = stages._longest


@pytest.mark.study
@pytest.mark.claim("free_covariance.1")
@pytest.mark.claim("free_covariance.2")
@pytest.mark.parametrize("relation", [REPLACE, ADD])
@pytest.mark.parametrize("epsilon", [16.0, 8.0])  # and too few rows, or nearly so
def test_every_pair(relation: Neighbours, epsilon: float) -> None:
    mechanism = mechanism_of(relation, epsilon)
    audit.check(mechanism, world(relation, 1), hostile_values=False, seed=100).require()


@pytest.mark.claim("free_covariance.2")
@pytest.mark.parametrize(
    ("columns", "slope", "factor", "kind"),
    [
        *[(17, 0.2, 1.0, SquaredTail), (17, 0.2, 4.0, Doubted)],
        *[(17, 0.4, 1.0, Tail), (17, 0.4, 4.0, Doubted), (16, 0.2, 1.0, Tail), (16, 0.2, 4.0, Doubted)],
    ],
)
def test_which_tail_is_taken_follows_from_what_was_released(
    columns: int, slope: float, factor: float, kind: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number of columns, the slope of the tail before, and the noisy tail itself: not the lengths."""
    plan, inner = stages.plan(16.0, 1e-5, None, columns), Tail(400.0, factor * 20.0, 20.0, 0.3, 8.0, 400.0)
    before = Tail(400.0, 5.2, 20.0, slope, 4.2, 400.0)
    monkeypatch.setattr(stages, "tail_of", lambda *_, **__: replace(before, edge=factor * before.edge))
    monkeypatch.setattr(stages, "squared_tail", lambda *_, **__: SquaredTail(inner, columns / 2))
    for lengths in (np.full(400, 1e9), np.full(400, math.nan), np.zeros(0)):
        found = stages._longest(lengths, plan, 400.0, before, {})
        assert type(found) is kind


@pytest.mark.claim("free_covariance.2")
@pytest.mark.parametrize("columns", [3, 20])
def test_a_tail_made_of_noise_does_not_spoil_the_answer(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """An octave that is full by noise alone, in one run of some 600: rows that seem 1,000 times as long, or more."""
    truth = 0.7 * np.eye(columns) + 0.3
    rows = np.random.default_rng(3).normal(size=(5_000, columns)) @ np.linalg.cholesky(truth).T
    far = Tail(5_000.0, 2.0**20, 40.0, 0.9, 4.0, 1e30)
    monkeypatch.setattr(stages, "_longest", lambda *_: far)
    release = Covariance(1.0, 1e-6, neighbours=ADD).release(rows, Seeded(3))
    found, interval = np.asarray(release.value), release.interval(0.95)
    assert np.abs(found - truth).max() < 0.8  # noise of 1e9 without a limit
    assert (np.asarray(interval.high) - found).max() > 10  # and may be such rows, so the interval allows for them


def test_noise_on_the_last_sum_never_hides_what_is_round() -> None:
    """The ball's radius is at most that at which the noise, as an operator, is I."""
    for relation, columns in ((ADD, 3), (ADD, 30), (REPLACE, 20)):
        plan = stages.plan(1.0, 1e-6, 5_000 if relation is REPLACE else None, columns)
        for far in (Tail(5_000.0, 1e6, 50.0, 2.0, 4.0), SquaredTail(Tail(5_000.0, 1e9, 50.0, 2.0, 4.0), columns / 2)):
            radius, cut = plan.ball(far, 5_000.0)
            assert plan.moved * radius**2 * math.sqrt(2 * columns) <= 5_000.0 * 1.01
            assert cut > 4_000  # all that are said to be longer
        near = Tail(5_000.0, 0.5 * math.sqrt(columns), 50.0, 0.2, 4.0)
        cut = near.most(0.6 * plan.moved, *_limits(plan), power=2)
        assert plan.ball(near, 5_000.0) == (near.at(cut), cut)


def _limits(plan: stages.FreeStages) -> tuple[float, float]:
    freer = plan.moved * (4.0 if plan.columns > 16 else 1.0)
    return 2.0 * freer, 0.3 * freer


def moment(inside: Any, drawn: Any, bias: float) -> stages.FreeMoment:
    """What is found in a frame of four columns, with next to no noise and sampling error."""
    turn = np.random.default_rng(4).normal(size=(4, 4)) + 2 * np.eye(4)
    return stages.FreeMoment(
        inside=inside,
        drawn=drawn,
        back=turn,
        noise=1e-9,
        counted=0.0,
        bias=bias,
        fourths=np.full((4, 4), 1e-18),
        size=1e6,
        often=3.0,
        place=np.zeros(4),
        shift=0.0,
        lost=0.0,
        fourth=1.0,
        ball=(turn, np.zeros(4), 0.5, 5.0),
    )


@pytest.mark.claim("free_covariance.3")
def test_what_is_cut_is_allowed_for_wherever_it_lies() -> None:
    """Rows beyond the ball lie in any direction: the interval holds what they would add, and no less would do."""
    rng, reached = np.random.default_rng(5), np.zeros((4, 4))
    found = moment(np.eye(4), np.eye(4), 0.3)
    low, high = (np.asarray(end) for end in MatrixSpread.free(found).interval(0.95))
    for _ in range(4000):
        v = rng.normal(size=4)
        truth = found.back @ (np.eye(4) + 0.3 * np.outer(v, v) / (v @ v)) @ found.back.T
        assert (low <= truth + 1e-6).all()
        assert (truth <= high + 1e-6).all()
        reached = np.maximum(reached, (truth - low) / (high - low))
    assert reached.min() > 0.8  # it is no wider than that
    assert (low <= found.back @ found.back.T).all()  # nor is the limited one left out


@pytest.mark.claim("covariance.3")
def test_the_interval_reaches_as_far_as_the_answer() -> None:
    drawn = np.full((4, 4), 0.2) + 0.8 * np.eye(4)
    spread = MatrixSpread.free(moment(np.eye(4), drawn, 0.0))
    for confidence in (0.1, 0.95):
        low, high = (np.asarray(end) for end in spread.interval(confidence))
        assert ((low <= spread.value) & (spread.value <= high)).all()
        assert ((low <= spread.estimate) & (spread.estimate <= high)).all()


@pytest.mark.claim("free_covariance.3")
@pytest.mark.claim("covariance.3")
@pytest.mark.parametrize("relation", [ADD, REPLACE])
def test_many_skewed_columns(relation: Neighbours) -> None:
    """Twenty of them: entries are held, answers are semidefinite, and the error is less than without drawing them."""
    held, errors = 0.0, np.zeros(2)
    for seed in range(2):
        rows = np.random.default_rng(seed).gamma(2.0, size=(5_000, 20)) / math.sqrt(2)
        release = Covariance(1.0, 1e-6, neighbours=relation).release(rows, Seeded(seed))
        found, (low, high) = np.asarray(release.value), release.interval()
        held += ((np.asarray(low) <= np.eye(20)) & (np.eye(20) <= np.asarray(high))).mean() / 2
        assert np.linalg.eigvalsh(found)[0] > -1e-9
        spread = release.spread
        assert isinstance(spread, MatrixSpread)
        errors += [np.linalg.norm(each - np.eye(20)) for each in (found, spread.estimate)]
    assert held > 0.9
    assert errors[0] < 0.7 * errors[1]


@pytest.mark.claim("free_covariance.3")
@pytest.mark.parametrize("relation", [ADD, REPLACE])
def test_fourth_moments_of_many_columns_are_not_too_small(relation: Neighbours) -> None:
    """Rows with a tail: what is cut by the squares' own lengths, and half of the noise, are added."""
    rng = np.random.default_rng(6)
    rows = rng.normal(size=(20_000, 18))
    plan = stages.plan(1.0, 1e-6, 20_000 if relation is REPLACE else None, 18)
    found = stages.find(rows, plan, Seeded(6), size=20_000.0)
    assert not isinstance(found, str)
    centred = (rows - rows.mean(axis=0)) / found.scales
    truth = (centred**2).T @ centred**2 / 20_000
    apart = ~np.eye(18, dtype=bool)
    assert (found.fourths >= 0.9 * truth)[apart].mean() > 0.9
    assert np.median(found.fourths[apart]) < 4  # by lengths of rows it would be far more


@pytest.mark.claim("multivariate_gaussian.4")
def test_a_normal_distribution_has_the_covariance_that_its_distance_is_told_of() -> None:
    """That of the noise: an answer that was drawn towards 0 would be farther away than the distance says."""
    found = moment(np.eye(4), np.full((4, 4), 0.5) + 0.5 * np.eye(4), 0.1)
    spread = NormalVectorSpread.free(found)
    assert spread.value.covariance == pytest.approx(found.back @ found.back.T)
