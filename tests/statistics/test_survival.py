"""The ladder for survival curves."""

import math
from typing import Any

import numpy as np
import pytest

import discreet
from discreet import audit
from discreet.accounting.compose import implies
from discreet.audit.replay import drawn, exceeds
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.values import recall, stored
from discreet.statistics.life_table import TimeGrid
from discreet.statistics.survival import Survival, _exact

BOTH = list(Neighbours)
REPLACE = Neighbours.REPLACE
TIMES = [1.0, 2.0, 3.0]
CROWD: list[Any] = [(0.1 + k % 40 / 10, k % 3 > 0) for k in range(80)]
ODD: tuple[Any, ...] = (
    *((0.5, True), (0.5, False), (9.0, True), (math.nan, True), (1.0, math.nan), (1e300, 1), (-1.0, 0)),
    *((math.inf, -math.inf), None, (1.0,), "ab"),
)


@pytest.mark.claim("survival.1")
@pytest.mark.parametrize("relation", BOTH)
def test_one_person_moves_what_is_claimed(relation: Neighbours) -> None:
    mechanism = Survival(TimeGrid.of(TIMES, 2), 8.0, neighbours=relation)
    if relation is REPLACE:
        pairs = [audit.Pair([*CROWD, a], [*CROWD, b]) for a in ODD for b in ODD if a is not b][::3]
    else:
        pairs = [audit.Pair(CROWD, [*CROWD, one]) for one in ODD] + [audit.Pair([], [one]) for one in ODD[:3]]
    audit.check(mechanism, pairs, hostile_values=False).require()
    assert mechanism.release([*CROWD, (1.0, True)], Seeded(0)).refusal is None
    assert implies(mechanism.loss, mechanism.guarantee)
    assert exceeds(drawn(mechanism, CROWD), mechanism.loss) is None


@pytest.mark.claim("survival.2")
def test_times_with_too_few_people_have_no_number() -> None:
    time = np.random.default_rng(0).exponential(size=400)
    found = discreet.survival(time, time < 9, epsilon=1.0, times=[0.5, 1, 2, 6, 8], rng=Seeded(1))
    assert np.isnan(found.value.heights).tolist() == [False, False, False, True, True]
    assert np.isnan(found.interval().low).tolist() == [False, False, False, True, True]
    assert "from 6 on nothing is shown: those who are watched longer than that are too few" in str(found)
    assert np.isnan(recall(stored(found.value)).heights[-1])
    none = discreet.survival(time[:20], time[:20] < 9, epsilon=1.0, times=[1, 2], rng=Seeded(1))
    assert "too few are left at 1" in str(none.refusal)


@pytest.mark.claim("survival.3")
@pytest.mark.parametrize("relation", BOTH)
def test_the_interval_holds_the_populations_share(relation: Neighbours) -> None:
    """Half are no longer watched; of 120 runs at each of three times fewer than 96 by chance once in 10^6."""
    held = np.zeros(3)
    for seed in range(120):
        draw = np.random.default_rng(seed)
        event, end = draw.weibull(1.5, 1500) * 2, draw.exponential(3.0, 1500)
        given: dict[str, Any] = {"neighbours": relation, "missing": "keep", "rng": Seeded(seed)}
        release = discreet.survival(np.minimum(event, end), event <= end, epsilon=1.0, times=TIMES, **given)
        low, high = release.interval(0.95)
        truth = np.exp(-((np.array(TIMES) / 2) ** 1.5))
        held += (low <= truth) & (truth <= high)
    assert (held >= 96).all()


def test_without_noise_it_is_the_estimate_of_kaplan_and_meier() -> None:
    draw = np.random.default_rng(2)
    event, end = draw.exponential(2.0, 3000), draw.exponential(3.0, 3000)
    time, seen = np.minimum(event, end), event <= end
    curve = np.array([np.prod([1 - 1 / (time >= one).sum() for one in time[seen & (time <= t)]]) for t in TIMES])
    assert np.allclose(curve, _exact(time, seen, np.array(TIMES)))
    found = discreet.survival(time, seen, epsilon=1e4, times=TIMES, parts=20, rng=Seeded(1))
    assert np.allclose(found.value.heights, curve, atol=2e-3)
    assert (found.interval(1e-9).low <= curve).all()
    assert (curve <= found.interval(1e-9).high).all()


def test_sessions_groups_and_words() -> None:
    draw = np.random.default_rng(2)
    people = {"t": draw.exponential(2.0, 3000), "state": ["dead", "alive"] * 1500, "sex": ["F", "F", "M"] * 1000}
    with discreet.open(people, budget=9.0, ledger=":memory:", rng=Seeded(1)) as session:
        release = session.survival("t", "state", epsilon=1.0, times=TIMES, equals="dead")
        groups = session.survival("t", "state", epsilon=1.0, times=TIMES, equals="dead", groupby="sex", keys=["F", "M"])
    assert 0.7 < release.value(1.0) < 0.85
    assert release.value(0.0) == 1.0
    assert "each by itself" in str(release)
    assert len(release.to_frame()) == 3
    assert all(one.refusal is None for one in groups.values())


def test_what_counts_as_the_event_is_said_and_is_1_of_numbers() -> None:
    """By declared kind alone: 2 is an end unless it is named."""
    draw = np.random.default_rng(3)
    people = {"t": draw.exponential(2.0, 3000), "state": draw.integers(0, 3, 3000)}
    people |= {"died": people["state"] == 1}
    given: dict[str, Any] = {"epsilon": 1e4, "times": TIMES}
    with discreet.open(people, budget=1e6, ledger=":memory:", rng=Seeded(1)) as session:
        coded, true = (session.survival("t", name, **given) for name in ("state", "died"))
        second = session.survival("t", "state", equals=2, **given)
        condition = session.survival("t", "state == 2", **given)
    assert np.allclose(coded.value.heights, true.value.heights, atol=1e-3)
    assert np.allclose(second.value.heights, condition.value.heights, atol=1e-3)
    assert np.abs(coded.value.heights - second.value.heights).max() > 2e-3
    for release, said in ((coded, "state is true or 1"), (true, "died is true or 1"), (second, "state == 2")):
        assert f"without the event ({said}) at each time" in str(release)
    assert condition.interval().about == second.interval().about
