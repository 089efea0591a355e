"""Propose, test, release."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from discreet import audit
from discreet.errors import BadInput
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.stability.propose_test_release import ProposeTestRelease, _Lead, _mode, stable_mode

REPLACE, ADD = Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE


def crowds(relation: Neighbours) -> list[audit.Pair]:
    found = []
    for lead in (1, 2, 3, 30):
        rows = ["a"] * (20 + lead) + ["b"] * 20
        changed = [([*rows[1:], odd] if relation is REPLACE else [*rows, odd]) for odd in ("a", "b", "z", None)]
        found += [audit.Pair(rows, other) for other in changed]
    return found


@pytest.mark.claim("propose_test_release.1")
@pytest.mark.parametrize("relation", Neighbours)
def test_audit_of_the_mode(relation: Neighbours) -> None:
    audit.check(stable_mode(1.0, 1e-6, relation), crowds(relation)).require()


@pytest.mark.claim("propose_test_release.1")
@pytest.mark.parametrize("relation", Neighbours)
def test_tables_whose_neighbours_differ_have_no_distance(relation: Neighbours) -> None:
    """All tables of up to 5 records of three categories, all their neighbours."""
    from itertools import product

    lead = _Lead(2 if relation is REPLACE else 1)
    for size in range(1, 6):
        for table in product("abc", repeat=size):
            changes = [
                ([*table[:at], odd, *table[at + 1 :]] if relation is REPLACE else [*table, odd])
                for at in range(size)
                for odd in "abc"
            ]
            for neighbour in changes:
                assert abs(lead(list(table)) - lead(neighbour)) <= 1
                if _mode(list(table)) != _mode(neighbour):
                    assert lead(list(table)) == lead(neighbour) == 0


@pytest.mark.claim("propose_test_release.1")
def test_noise_alone_reaches_the_threshold_with_probability_delta() -> None:
    for epsilon, delta in ((1.0, 1e-6), (0.1, 1e-3), (3.0, 1e-9)):
        mechanism = ProposeTestRelease(len, len, epsilon=epsilon, delta=delta)
        a, t = math.exp(-epsilon), mechanism.threshold
        assert a**t / (1 + a) <= delta * (1 + 1e-6)
        assert a ** (t - 2) / (1 + a) > delta


def test_a_clear_mode_is_released_and_a_close_one_is_not() -> None:
    clear = stable_mode(1.0, 1e-6).release(["a"] * 500 + ["b"] * 20, Seeded(1))
    assert clear.value == "a"
    close = stable_mode(1.0, 1e-6).release(["a"] * 21 + ["b"] * 20, Seeded(1))
    assert close.refusal is not None
    assert "threshold" in close.refusal


def median(rows: list[float]) -> float:
    return float(np.sort(rows)[(len(rows) - 1) // 2])


def steps_to_move(rows: list[float]) -> int:
    """Changes until one more could move a median of numbers in [0, 100] by more than 2."""
    middle, size = (len(rows) - 1) // 2, len(rows)
    ordered = np.concatenate([np.zeros(size), np.sort(np.clip(rows, 0, 100)), np.full(size, 100.0)])
    for k in range(size):
        window = [ordered[size + middle + t] - ordered[size + middle + t - k - 1] for t in range(k + 2)]
        if max(window) > 2:
            return k
    return size


@pytest.mark.claim("propose_test_release.1")
def test_a_number_with_a_proposed_bound() -> None:
    mechanism = ProposeTestRelease(median, steps_to_move, epsilon=4.0, delta=1e-4, bound=2.0)
    rows = [50 + index / 50 for index in range(100)]
    world = [audit.Pair(rows, [*rows[1:], odd]) for odd in (0.0, 100.0, 51.0)]
    audit.check(mechanism, world, hostile_values=False).require()
    answers = [mechanism.release(rows, Seeded(k)) for k in range(20)]
    assert all(abs(answer.value - 51) < 25 for answer in answers)
    assert sum(answer.interval(0.9).low <= median(rows) <= answer.interval(0.9).high for answer in answers) >= 10
    scattered = mechanism.release([0.0, 100.0] * 50, Seeded(1))
    assert scattered.refusal is not None


def test_functions_that_raise_are_unstable_and_bad_parameters_are_told() -> None:
    def broken(rows: object) -> int:
        raise ValueError("a secret")

    def breaking(rows: Any) -> int:
        return broken(rows) if len(rows) == 90 else 90

    assert ProposeTestRelease(breaking, len, epsilon=1.0, delta=1e-6).release([1.0] * 90, Seeded(1)).refusal is not None
    assert ProposeTestRelease(len, breaking, epsilon=1.0, delta=1e-6).release([1.0] * 90, Seeded(1)).refusal is not None
    both: list[tuple[Any, Any]] = [(broken, len), (len, broken)]
    for statistic, distance in both:
        with pytest.raises(BadInput, match=r"failed on the made-up rows .*example="):
            ProposeTestRelease(statistic, distance, epsilon=1.0, delta=1e-6)
    for bad in ({"delta": 0.0}, {"bound": -1.0}, {"bound": math.nan}, {"statistic": 3}):
        with pytest.raises(BadInput):
            ProposeTestRelease(**({"statistic": len, "distance": len, "epsilon": 1.0, "delta": 1e-6} | bad))  # type: ignore[arg-type]


def exactly(rows: Any) -> Any:
    return sorted(rows)


FALSE: dict[str, tuple[Any, Any, float | None]] = {
    "jumps": (len, lambda rows: 100 * int(rows[0] > 0), None),
    "as if one change moved a lead by 1": (_mode, _Lead(1), None),
    "never 0": (exactly, lambda rows: 50, None),
    "never 0, of a number": (np.mean, lambda rows: 50, 0.1),
    "raises for a missing value": (len, lambda rows: int(90 + 0 * sum(rows)), None),
    "of the maximum": (max, lambda rows: int(max(rows)), 2.0),
}


@pytest.mark.claim("propose_test_release.1")
@pytest.mark.parametrize("name", FALSE)
@pytest.mark.parametrize("relation", Neighbours)
def test_a_distance_that_is_false_is_refused(name: str, relation: Neighbours) -> None:
    statistic, distance, bound = FALSE[name]
    if relation is ADD and isinstance(distance, _Lead):
        ProposeTestRelease(
            statistic, distance, epsilon=1.0, delta=1e-6, bound=bound, neighbours=relation
        )  # there it is true
        return
    with pytest.raises(BadInput, match="made-up rows"):
        ProposeTestRelease(statistic, distance, epsilon=1.0, delta=1e-6, bound=bound, neighbours=relation)


def test_rows_of_another_kind_are_tried_on_an_example() -> None:
    """A share of sick people in a table with two columns: unstable within 3 people of a half."""
    frame = pd.DataFrame({"sick": [True] * 9 + [False] * 3, "age": range(12)})

    def most_are_sick(rows: Any) -> bool:
        return bool(2 * rows["sick"].sum() > len(rows))

    def margin(rows: Any) -> int:
        return max(0, int(abs(2 * rows["sick"].sum() - len(rows)) - 1) // 2)

    for relation in Neighbours:
        with pytest.raises(BadInput, match="example="):
            ProposeTestRelease(most_are_sick, margin, epsilon=1.0, delta=1e-6, neighbours=relation)
        ProposeTestRelease(most_are_sick, margin, epsilon=1.0, delta=1e-6, neighbours=relation, example=frame)
        with pytest.raises(BadInput, match="made-up rows"):
            ProposeTestRelease(
                most_are_sick,
                lambda rows: 3 * margin(rows),
                epsilon=1.0,
                delta=1e-6,
                bound=None,
                neighbours=relation,
                example=frame,
            )
        rubbish: list[Any] = [3, {}, "text"]
        for odd in rubbish:
            with pytest.raises(BadInput):
                ProposeTestRelease(len, len, epsilon=1.0, delta=1e-6, neighbours=relation, example=odd)


def test_the_release_says_what_the_promise_rests_on() -> None:
    own = ProposeTestRelease(len, lambda rows: 90, epsilon=1.0, delta=1e-6).release([1.0] * 9, Seeded(1))
    assert "the promise rests on this" in str(own)
    assert "rests on this" not in str(stable_mode(1.0, 1e-6).release(["a"] * 90, Seeded(1)))


def test_distances_may_be_whole_numbers_of_any_kind() -> None:
    for distance in (90, np.int64(90), np.uint8(90)):
        mechanism = ProposeTestRelease(len, lambda rows, known=distance: known, epsilon=1.0, delta=1e-6)  # type: ignore[misc]
        release = mechanism.release([1.0] * 9, Seeded(1))
        assert release.value == 9
    for odd in (90.0, True, "90", None):
        mechanism = ProposeTestRelease(len, lambda rows, known=odd: known, epsilon=1.0, delta=1e-6)  # type: ignore[misc]
        refused = mechanism.release([1.0] * 9, Seeded(1))
        assert refused.refusal is not None
