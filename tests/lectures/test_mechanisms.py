"""The lectures' first mechanisms, for functions of the caller's."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from discreet import audit
from discreet.accounting.compose import implies
from discreet.audit.replay import Recorder, replay
from discreet.audit.worlds import neighbours_of
from discreet.errors import BadInput
from discreet.lectures import exponential_mechanism, gaussian_mechanism, laplace_mechanism, report_noisy_max
from discreet.noise.additive import Blur
from discreet.noise.choose import Choose, NoisyMax
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours

BOTH = list(Neighbours)


def total(rows: Any) -> float:
    return float(sum(min(max(row, 0.0), 1.0) for row in rows))


def pair(rows: Any) -> Any:
    return [total(rows), float(len(rows))]


def votes(rows: Any, who: float) -> int:
    return sum(row == who for row in rows)


def made(relation: Neighbours) -> dict[str, Any]:
    return {
        "laplace": laplace_mechanism(total, 1, epsilon=1.0, neighbours=relation),
        "two numbers": laplace_mechanism(pair, 2, epsilon=1.0, length=2, neighbours=relation),
        "gaussian": gaussian_mechanism(pair, math.sqrt(2), epsilon=1.0, delta=1e-4, length=2, neighbours=relation),
        "exponential": exponential_mechanism(votes, (0.0, 0.5, 1.0), 1, epsilon=1.0, neighbours=relation),
        "noisy max": report_noisy_max(votes, (0.0, 0.5, 1.0), 1, epsilon=1.0, neighbours=relation),
    }


@pytest.mark.claim("mechanisms.1")
@pytest.mark.claim("mechanisms.2")
@pytest.mark.claim("mechanisms.3")
@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("name", list(made(BOTH[0])))
def test_neighbours_replay_and_the_loss_implies_the_guarantee(name: str, relation: Neighbours) -> None:
    mechanism = made(relation)[name]
    assert implies(mechanism.loss, mechanism.guarantee)
    for seed, two in enumerate(neighbours_of((0.0, 0.3, 1.0, 1.0), (0.0, 0.5, 1.0, 7.0), relation)):
        if relation is Neighbours.ADD_OR_REMOVE:  # under REPLACE a delta above 1 / (10 n) is refused
            assert mechanism.release(two.left, Seeded(seed)).refusal is None
        assert not replay(mechanism, two, seed=seed)


@pytest.mark.claim("mechanisms.1")
@pytest.mark.claim("mechanisms.2")
@pytest.mark.claim("mechanisms.3")
@pytest.mark.parametrize("name", list(made(BOTH[0])))
def test_a_sensitivity_that_is_too_small_is_caught(name: str) -> None:
    """As in the lectures' own faults: half of what one change moves."""
    right = made(Neighbours.ADD_OR_REMOVE)[name]
    wrong = replace(right, sensitivity=right.sensitivity / 4)
    caught = [bool(replay(wrong, two, seed=1)) for two in neighbours_of((0.0, 1.0), (1.0,), wrong.neighbours)]
    assert any(caught)


@pytest.mark.claim("mechanisms.1")
def test_rounding_is_paid_for() -> None:
    """f moves by exactly the sensitivity, half a step off the grid on both sides: one more step, no more."""
    recorder, step = Recorder(Seeded(0)), 2.0**-21
    mechanism = laplace_mechanism(lambda rows: len(rows) * (1 + 0.4 * step) + 0.4 * step, 1 + 0.4 * step, epsilon=1)
    for rows in ([], [0]):
        mechanism.release(rows, recorder)
    (one, _), (other, _) = recorder.log
    assert isinstance(one, Blur)
    assert isinstance(other, Blur)
    moved = abs(int(one.values[0]) - int(other.values[0]))
    assert moved <= one.sensitivity <= moved + 2
    assert isinstance(mechanism.release([1], recorder).value, float)


@pytest.mark.claim("mechanisms.3")
@pytest.mark.parametrize(("maker", "kind"), [(exponential_mechanism, Choose), (report_noisy_max, NoisyMax)])
def test_candidates_are_drawn_by_their_scores(maker: Any, kind: type) -> None:
    mechanism = maker(votes, ("a", "b"), 1, epsilon=1.0)
    drawn = [mechanism.release(["a"] * 3, Seeded(seed)).value for seed in range(2000)]
    share = drawn.count("a") / 2000
    if kind is Choose:
        assert abs(share - math.exp(1.5) / (1 + math.exp(1.5))) < 0.05
    else:
        assert share > math.exp(1.5) / (1 + math.exp(1.5)) - 0.03


def test_intervals_hold_what_the_function_is() -> None:
    rows, held = [0.0, 1.0, 1.0] * 50, 0
    mechanism = laplace_mechanism(pair, 2, epsilon=0.5, length=2)
    for seed in range(400):
        interval = mechanism.release(rows, Seeded(seed)).interval(0.9)
        held += bool(np.all((interval.low <= pair(rows)) & (pair(rows) <= interval.high)))
    assert 0.83 < held / 400 < 0.96
    assert audit.check(mechanism, audit.numbers(Neighbours.ADD_OR_REMOVE)[:20])


def broken(rows: Any) -> float:
    raise ValueError(rows)


def test_bad_values_never_raise_and_bad_arguments_do() -> None:
    for odd in (broken, lambda rows: "text", lambda rows: math.nan, lambda rows: [1.0, 2.0, 3.0]):
        assert abs(laplace_mechanism(odd, 1, epsilon=1.0).release([1, 2], Seeded(1)).value) < 50
    with pytest.raises(BadInput, match="is no function"):
        laplace_mechanism(3, 1, epsilon=1.0)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="sensitivity is 0"):
        laplace_mechanism(total, 0, epsilon=1.0)
    with pytest.raises(BadInput, match="laplace_mechanism"):
        gaussian_mechanism(total, 1, epsilon=1.0, delta=0)
    with pytest.raises(BadInput, match="length is 0"):
        laplace_mechanism(total, 1, epsilon=1.0, length=0)
    with pytest.raises(BadInput, match="0 candidates"):
        exponential_mechanism(votes, (), 1, epsilon=1.0)
    with pytest.raises(BadInput, match="at most 8"):
        gaussian_mechanism(total, 1, epsilon=200.0, delta=1e-4)
