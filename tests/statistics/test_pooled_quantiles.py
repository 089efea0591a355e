"""Quantiles of several groups at once: who shares the search, what it costs, and what the intervals cover."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from benchmarks.replayed import compared

import discreet
from discreet import audit
from discreet.audit.worlds import Pair
from discreet.errors import Refused
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Guarantee, Neighbours
from discreet.privacy.loss import Approximate, Choice, Laplace, atoms
from discreet.privacy.mechanism import by_group
from discreet.privacy.release import Groups
from discreet.statistics import quantile_cells
from discreet.statistics.pooled import Parted, parted
from discreet.statistics.pooled_quantiles import surely
from discreet.statistics.quantile import Quantile

ADD = Neighbours.ADD_OR_REMOVE
HOSTILE = [0.0, 5.0, -1e300, 5e-324, math.inf, -math.inf, math.nan, 1e12]
SHARED = "what the values are rounded to was found on about"
OPTIONS: list[dict[str, Any]] = [
    {"q": 0.5},
    {"q": 0.4, "bounds": (-9.0, 9.0)},
    {"q": 0.5, "granularity": 1.0},
]


def crowds(*sizes: int, seed: int = 0) -> list[Any]:
    people = np.random.default_rng(seed)
    return [people.normal(place, 1.0, size) for place, size in enumerate(sizes)]


def asked(mechanism: Any, parts: list[Any]) -> Callable[[Any], Groups]:
    def answer(door: Any) -> Groups:
        found = tuple(enumerate(by_group(mechanism, parts, door)))
        return Groups("group", mechanism.guarantee, releases=found, name="by group")

    return answer


def made(epsilon: float, **options: Any) -> Quantile:
    return Quantile(options.pop("q", 0.5), epsilon=epsilon, neighbours=ADD, **options)


@pytest.mark.claim("pooled_quantiles.1", "pooled_quantiles.2")
@pytest.mark.parametrize("options", OPTIONS)
def test_one_person_more_costs_epsilon_whichever_group_they_are_in(options: dict[str, Any]) -> None:
    """Three small groups and a large one. One person more and the second would be large, if counted without noise."""
    mechanism, base, answered = made(6.0, **options), crowds(50, 66, 55, 200), 0
    for place in range(4):
        for run, value in enumerate(HOSTILE[place::4]):
            other = [np.append(part, value) if at == place else part for at, part in enumerate(base)]
            sides = (base, other) if run % 2 else (other, base)
            judged = compared(
                asked(mechanism, sides[0]), asked(mechanism, sides[1]), run, paid=Guarantee(6.0, 0.0, ADD)
            )
            assert judged.objections == [], (place, value)
            answered += judged.answered
    assert answered == len(HOSTILE)


@pytest.mark.claim("pooled_quantiles.1")
def test_small_groups_of_every_size_pass() -> None:
    """All tables of at most three people in two groups, with one more: hostile values, and groups of nobody."""
    mechanism, values = made(3.0), (0.0, 2.0, math.nan, math.inf)
    tables = [([], []), ([0.0], []), ([0.0, 2.0], [1.0]), ([2.0] * 3, [])]
    for run, (one, two) in enumerate(tables):
        for place in (0, 1):
            for value in values:
                base = [np.array(one), np.array(two)]
                other = [np.append(part, value) if at == place else part for at, part in enumerate(base)]
                judged = compared(asked(mechanism, base), asked(mechanism, other), run, paid=Guarantee(3.0, 0.0, ADD))
                assert judged.objections == []


@pytest.mark.claim("pooled_quantiles.1")
@pytest.mark.parametrize("mutant", ["two groups", "scale", "granularity", "ends"])
def test_planted_faults_are_seen(monkeypatch: pytest.MonkeyPatch, mutant: str) -> None:
    """Somebody in two groups; and draws that are said to move half as far as they do, or to cost half."""
    base = crowds(50, 55, 60)
    other = [np.append(part, 1e12) if at < 1 + (mutant == "two groups") else part for at, part in enumerate(base)]
    if mutant == "scale":
        right = quantile_cells.scale_scores
        monkeypatch.setattr(quantile_cells, "scale_scores", lambda *given: 2 * right(*given))
    elif mutant == "granularity":
        against = quantile_cells.against
        monkeypatch.setattr(quantile_cells, "against", lambda *given: [3 * one for one in against(*given)])
    elif mutant == "ends":
        split = quantile_cells.split_draws
        monkeypatch.setattr(
            "discreet.statistics.quantile.split_draws",
            lambda epsilon, **terms: split(epsilon * (2 if terms["pool"] else 1), **terms),
        )
    mechanism = made(6.0)
    assert any(
        compared(asked(mechanism, base), asked(mechanism, other), run, paid=Guarantee(6.0, 0.0, ADD)).objections
        for run in range(4)
    )


@pytest.mark.claim("pooled_quantiles.1", "pooled_quantiles.2")
@pytest.mark.parametrize("pool", [1, 500, 5000, 10**9])
@pytest.mark.parametrize("options", OPTIONS)
def test_the_shares_of_a_pool_sum_to_epsilon(pool: int, options: dict[str, Any]) -> None:
    """Whatever its number of people: no search costs more than that of a group alone, and none nothing."""
    alone, shared = made(1.0, **options), made(1.0, pool=pool, **options)
    assert sum(part.epsilon for part in atoms(shared.loss)) == 1  # type: ignore[union-attr, misc]
    ends = shared.stages.part("ends", Choice).epsilon
    assert ends >= alone.stages.part("ends", Choice).epsilon
    for name, nats in (("scale", 30), ("granularity", 60)):
        if name in shared.stages:
            share = shared.stages.part(name, Choice).epsilon
            assert share == min(max(Fraction(nats, pool), Fraction(1, 200)), Fraction(1, 16))


@pytest.mark.claim("pooled_quantiles.1")
def test_one_group_of_a_pool_passes_the_audit() -> None:
    pairs = [Pair(crowds(60)[0], np.append(crowds(60)[0], value)) for value in HOSTILE[:5]]
    audit.check(made(6.0, pool=500), pairs, hostile_values=False).require()


@pytest.mark.claim("pooled_quantiles.2")
def test_who_shares_is_decided_by_noisy_numbers() -> None:
    mechanism = made(1.0)
    many = by_group(mechanism, crowds(900, 900), Seeded(3))
    assert not any(SHARED in str(release) for release in many)
    mixed = by_group(mechanism, crowds(900, 900, 260, 260), Seeded(3))
    assert [SHARED in str(release) for release in mixed] == [False, False, True, True]
    assert by_group(mechanism, [], Seeded(0)) == []
    nobody = by_group(mechanism, [np.empty(0)] * 3, Seeded(0))
    assert all("n * epsilon" in str(release.refusal) for release in nobody)
    *others, few = by_group(mechanism, [*crowds(260, 260, 260), np.ones(3)], Seeded(2))
    assert all(release.refusal is None for release in others)
    assert "n * epsilon" in str(few.refusal)
    points = by_group(made(1.0, bounds=(0.0, 9.0), confidence=None), crowds(50, 50), Seeded(0))
    assert not any(SHARED in str(release) for release in points)


@pytest.mark.claim("pooled_quantiles.2")
def test_the_pool_is_counted_less_what_noise_may_add() -> None:
    """A thousand groups of nobody: noise adds up to hundreds, of which nothing is left but once in 700 runs."""
    laplace = Laplace(made(1.0).stages.part("count", Approximate).epsilon)
    found = [parted([np.empty(0)] * 1000, 1.0, laplace, ADD, Seeded(run)) for run in range(3)]
    assert [surely(one) for one in found] == [1, 1, 1]
    people = parted(crowds(250, 250, 250, 250), 1.0, laplace, ADD, Seeded(1))
    assert surely(people) == math.floor(people.size - 3 * people.off * 2)


@pytest.mark.claim("pooled_quantiles.3")
@pytest.mark.parametrize("rounded", [False, True])
def test_intervals_of_pooled_groups_hold_their_medians(rounded: bool) -> None:
    """12 tables of 8 groups: .95 expected; below .8 of 96 intervals, once in 10^6 or less. The widths are no larger
    than those of groups alone."""
    people, held, width, alone = np.random.default_rng(6), [], 0.0, 0.0
    truths = [40 + 2 * place for place in range(8)]
    for run in range(12):
        parts = [people.normal(truth, 12, 260) for truth in truths]
        parts = [np.rint(part) for part in parts] if rounded else parts
        for truth, part, release in zip(truths, parts, by_group(made(1.0), parts, Seeded(run)), strict=True):
            assert SHARED in str(release)
            ends = release.interval()
            held.append(ends.low <= truth <= ends.high)
            width += ends.high - ends.low
            if run < 4:
                own = made(1.0).release(part, Seeded(run)).interval()
                alone += 3 * (own.high - own.low)
    assert np.mean(held) >= 0.8
    assert width < 1.05 * alone


def test_a_pool_answers_smaller_groups_than_one_alone() -> None:
    """By public numbers: the least number of people that is not refused."""

    def least(test: Quantile) -> int:
        return next(size for size in range(100, 400) if not refused(test, size))

    assert least(made(1.0, pool=2000)) < 0.95 * least(made(1.0))


def refused(test: Quantile, size: int) -> bool:
    try:
        test.check(size)
    except Refused:
        return True
    return False


@pytest.mark.claim("pooled_quantiles.1")
def test_people_who_are_replaced_are_two_steps_for_which_a_session_pays() -> None:
    table = {"g": ["a", "b", "c"] * 60, "x": np.random.default_rng(0).normal(size=180)}
    with discreet.open(table, budget=99.0, ledger=":memory:", neighbours="replace") as session:
        question = session.prepare("median", "x", epsilon=12.0, groupby="g", keys=["a", "b", "c"])
    assert question.price.halved
    assert question.price.mechanism == Quantile(0.5, epsilon=6, neighbours=ADD)


@pytest.mark.claim("pooled_quantiles.2")
@pytest.mark.parametrize("scale", [1e305, 1e200, 1e-200, 5e-324])
def test_no_scale_of_the_values_raises(scale: float) -> None:
    for release in by_group(made(1.0), [part * scale for part in crowds(260, 260, 260)], Seeded(0)):
        assert release.refusal is not None or math.isfinite(release.interval().low)


@pytest.mark.claim("pooled_quantiles.2")
def test_the_search_is_told_a_noisy_number_of_people(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the same noisy numbers the search is the same, however many people there are."""
    told, right = [], quantile_cells.find_unit

    def spy(values: Any, default: float, count: int, **terms: Any) -> Any:
        told.append((count, terms["cost"]))
        return right(values, default, count, **terms)

    def noisy(parts: Any, *_: Any) -> Parted:
        return Parted(tuple(parts), (260, 260), (0, 1), 14.0)

    monkeypatch.setattr(quantile_cells, "find_unit", spy)
    monkeypatch.setattr("discreet.statistics.pooled_quantiles.parted", noisy)
    for sizes in ((260, 260), (261, 260), (10, 1)):
        by_group(made(1.0), crowds(*sizes), Seeded(1))
    assert told == [told[0]] * 3
    assert told[0][0] == math.floor(520 - 3 * 14 * math.sqrt(2))


def test_without_a_noisy_number_of_people_each_group_is_answered_alone() -> None:
    for mechanism in (made(1.0, counted=True, confidence=None), Quantile(0.5, epsilon=1.0)):
        found = by_group(mechanism, crowds(260, 260), Seeded(0))
        assert [release.refusal for release in found] == [None, None]
        assert not any(SHARED in str(release) for release in found)
