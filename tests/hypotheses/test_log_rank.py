"""The ladder for the log-rank test."""

import math
from typing import Any

import numpy as np
import pytest

import discreet
from discreet import audit
from discreet.accounting.compose import implies
from discreet.audit.replay import drawn, exceeds
from discreet.errors import BadInput
from discreet.hypotheses.log_rank import LogRankTest, log_rank
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.statistics.histogram import Categories
from discreet.statistics.life_table import LifeTable, TimeGrid, noisy_table

BOTH = list(Neighbours)
TIMES = [1.0, 2.0, 3.0]
ARMS = ["new", "old"]
CROWD: list[Any] = [(0.1 + k % 40 / 10, k % 3 > 0, ARMS[k % 2]) for k in range(120)]
ODD: tuple[Any, ...] = (
    *((0.5, True, "new"), (0.5, False, "old"), (9.0, True, "zebra"), (math.nan, True, "new"), (1.0, math.nan, None)),
    *((1e300, 1, "old"), None, (1.0,), "abc"),
)


def made(relation: Neighbours, **options: Any) -> LogRankTest:
    """The mechanism of a question."""
    return LogRankTest(TimeGrid.of(TIMES, 2), Categories.of(ARMS), 8.0, neighbours=relation, **options)


@pytest.mark.claim("log_rank.1")
@pytest.mark.parametrize("relation", BOTH)
def test_one_person_moves_what_is_claimed(relation: Neighbours) -> None:
    mechanism = made(relation)
    if relation is Neighbours.REPLACE:
        pairs = [audit.Pair([*CROWD, a], [*CROWD, b]) for a in ODD for b in ODD if a is not b][::3]
    else:
        pairs = [audit.Pair(CROWD, [*CROWD, one]) for one in ODD] + [audit.Pair([], [one]) for one in ODD[:3]]
    audit.check(mechanism, pairs, hostile_values=False).require()
    assert mechanism.release(CROWD, Seeded(0)).refusal is None
    assert implies(mechanism.loss, mechanism.guarantee)
    assert exceeds(drawn(mechanism, CROWD), mechanism.loss) is None


@pytest.mark.claim("log_rank.2")
def test_too_few_people_are_refused_by_noisy_numbers() -> None:
    few = made(Neighbours.ADD_OR_REMOVE).release(CROWD[:12], Seeded(1))
    assert "too few are left" in str(few.refusal)
    many = discreet.log_rank_test(
        np.random.default_rng(0).exponential(size=600),
        [True] * 600,
        ARMS * 300,
        epsilon=2.0,
        between=ARMS,
        times=[1, 8],
    )
    assert "at all times up to" in str(many)
    with pytest.raises(BadInput, match="two public groups"):
        discreet.log_rank_test([1.0], [True], ["a"], epsilon=1.0, between=["a"], times=[1])


@pytest.mark.claim("log_rank.3")
def test_the_variance_of_the_noise_is_that_of_its_first_order() -> None:
    """The statistic of noisy tables spreads as is said: 20,000 draws, known to within 2%."""
    grid = TimeGrid.of(TIMES, 2)
    noise = noisy_table(np.zeros(0, dtype=np.int64), 1, grid, epsilon=1.0, neighbours=BOTH[0], rng=Seeded(0))[0].noise
    cells = np.array([40.0, 35, 30, 25, 20, 15, 9, 9, 9, 9, 9, 9, 400])
    draw = np.random.default_rng(1)
    found = []
    for _ in range(4000):
        one, other = (LifeTable(cells + draw.laplace(0, noise.sd / math.sqrt(2), len(cells)), noise) for _ in range(2))
        found.append(log_rank(one, other, 6, "two-sided")[0])
    table = LifeTable(cells, noise)
    r = table.watched - table.ends / 2
    from discreet.hypotheses.log_rank import _slopes

    half = np.full(6, 0.5)
    said = noise.sd**2 * 2 * _slopes(table, half, -table.events / r / 4)
    assert np.var(found) == pytest.approx(said, rel=0.15)


@pytest.mark.claim("log_rank.3")
@pytest.mark.parametrize("relation", BOTH)
def test_level_where_both_groups_are_alike_but_ends_are_not(relation: Neighbours) -> None:
    """Of 200 runs at 10% more than 47 reject by chance less than once in 10^6."""
    rejected = 0
    for seed in range(200):
        draw = np.random.default_rng(seed)
        arm = draw.random(1500) < 0.3
        event, end = draw.exponential(2.0, 1500), draw.exponential(np.where(arm, 2.0, 6.0))
        rows = list(zip(np.minimum(event, end), event <= end, np.where(arm, "new", "old").tolist(), strict=True))
        test = LogRankTest(TimeGrid.of(TIMES, 4), Categories.of(ARMS), 1.0, neighbours=relation)
        rejected += test.release(rows, Seeded(seed)).value.decide(0.1)
    assert rejected <= 47


def mantel(time: Any, seen: Any, arm: Any) -> float:
    """The p-value without privacy, from exact times that differ."""
    order = np.argsort(time)
    seen, arm = seen[order], arm[order]
    share = np.cumsum(arm[::-1])[::-1] / np.arange(len(arm), 0, -1)
    found, variance = float((arm - share)[seen].sum()), float((share * (1 - share))[seen].sum())
    return math.erfc(abs(found) / math.sqrt(2 * variance))


def test_without_noise_it_is_the_test_of_mantel() -> None:
    draw = np.random.default_rng(2)
    arm = draw.random(4000) < 0.5
    event, end = draw.exponential(np.where(arm, 2.0, 2.15)), draw.exponential(3.0, 4000)
    time, seen = np.minimum(np.minimum(event, end), 3.0), (event <= end) & (event <= 3.0)
    plain = mantel(time, seen, arm)
    given: dict[str, Any] = {"epsilon": 1e3, "between": ARMS, "times": TIMES, "parts": 30, "rng": Seeded(1)}
    ours = discreet.log_rank_test(time, seen, np.where(arm, "new", "old"), **given)
    assert ours.value.p_value == pytest.approx(plain, rel=0.25)
    sides = [
        discreet.log_rank_test(time, seen, np.where(arm, "new", "old"), **given, alternative=side).value.p_value
        for side in ("greater", "less")
    ]
    assert sides[0] < 0.5 < sides[1]


def test_sessions_and_words() -> None:
    draw = np.random.default_rng(2)
    people = {"t": draw.exponential(2.0, 2000), "dead": [True] * 2000, "arm": ARMS * 1000, "age": [40] * 2000}
    with discreet.open(people, budget=9.0, ledger=":memory:", rng=Seeded(1)) as session:
        release = session.log_rank_test("t", "dead", "arm", epsilon=1.0, between=ARMS, times=TIMES, where="age > 18")
    assert "null hypothesis: among those still watched, new has the event at the same rate as old" in str(release)
    assert "new and old have the event (dead is true or 1) at the same rate" in str(release)
    assert 0 <= release.value.p_value <= 1


@pytest.mark.claim("log_rank.1")
def test_whoever_is_in_no_listed_group_or_has_a_missing_entry_counts_nowhere() -> None:
    rows: list[Any] = [(float(k % 9 + 1) / (1 + k % 2), k % 3 > 0, "ab"[k % 2]) for k in range(2000)]
    nobody: list[Any] = [
        (1.0, True, "c"),
        (9.0, True, None),
        (None, True, "a"),
        (1.0, None, "a"),
        (None, None, "b"),
    ] * 80
    test = LogRankTest(TimeGrid.of([1, 2, 4], 2), Categories.of(["a", "b"]), 1.0)
    assert test.release(rows + nobody, Seeded(1)).value == test.release(rows, Seeded(1)).value


def test_of_numbers_1_is_the_event() -> None:
    time, arm = np.tile([1.0, 2.0, 3.0], 600), ARMS * 900
    given: dict[str, Any] = {"epsilon": 50.0, "between": ARMS, "times": TIMES}
    state = np.arange(1800) % 4 % 3
    coded = discreet.log_rank_test(time, state, arm, **given, rng=Seeded(1))
    true = discreet.log_rank_test(time, state == 1, arm, **given, rng=Seeded(1))
    assert coded.value == true.value
    assert "have the event (event is true or 1)" in str(coded)
