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
from discreet.statistics.covariance import Covariance

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


def test_a_tail_made_of_noise_does_not_spoil_the_answer() -> None:
    """One draw of some 600: noise in a count far out made the longest rows 20 times as long as they are."""
    rng, many = np.random.default_rng(2003), 20
    rows = rng.normal(size=(5_000, many)) @ np.linalg.cholesky(0.7 * np.eye(many) + 0.3).T
    release = Covariance(1.0, 1e-6, neighbours=ADD).release(rows, Seeded(2003))
    found, interval = np.asarray(release.value), release.interval(0.95)
    assert np.abs(found - (0.7 * np.eye(many) + 0.3)).max() < 0.5  # it was above 1,000
    assert (np.asarray(interval.high) - found).max() > 10  # and may be such rows, so the interval allows for them
