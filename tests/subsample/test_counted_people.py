"""A noisy number of people, then blocks: the audit, the price, refusals, and every way to ask for it."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from tests.subsample.reading import read

import discreet
from discreet import audit
from discreet.audit.worlds import Pair, neighbours_of
from discreet.errors import BadInput, Refused
from discreet.hypotheses.combined_tests import VoteCount
from discreet.noise.randomness import Seeded
from discreet.privacy.exact import Number, exact
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.mechanism import Mechanism
from discreet.subsample import counted_people, partition
from discreet.subsample.aggregate import SubsampleAggregate
from discreet.subsample.block_table import BlockTable
from discreet.subsample.coordinatewise import BlockMean
from discreet.subsample.counted_people import CountedPeople
from discreet.subsample.custom_test import P_VALUE
from discreet.subsample.estimators import FunctionFit
from discreet.subsample.fit_request import planned
from discreet.subsample.friendly_aggregate import BlockFriends
from discreet.subsample.returned import Shape

ADD = Neighbours.ADD_OR_REMOVE
NUMBER = Shape("number", ("value",))
VALUES = (0.0, 1.0, -2.0, np.inf, "a", np.nan)


def mean_of_blocks(people: int, epsilon: Number) -> SubsampleAggregate:
    """Two people a block, and more blocks than there can be: which are empty is nobody's business."""
    return SubsampleAggregate(FunctionFit(np.mean), NUMBER, BlockMean(people + 7, 1, epsilon), neighbours=ADD)


def votes_of_blocks(people: int, epsilon: Number) -> SubsampleAggregate:
    def positive(x: Any) -> float:
        return float(0.5 ** (x > 0).sum())

    return SubsampleAggregate(
        FunctionFit(positive), P_VALUE, VoteCount(min(people, 99) + 3, 0.5, epsilon), neighbours=ADD
    )


@pytest.mark.claim("counted_people.1")
@pytest.mark.parametrize("made", [mean_of_blocks, votes_of_blocks])
def test_the_number_and_the_blocks_pass_the_audit(made: Any) -> None:
    for rows in ((), (1.0,), (0.0, 1.0), (2.0, -2.0, 0.0, 0.0)):
        mechanism = CountedPeople(made, 80.0)
        audit.check(mechanism, neighbours_of(rows, VALUES, ADD), hostile_values=len(rows) == 2).require()


@pytest.mark.claim("counted_people.1")
def test_gaussian_noise_and_people_with_several_rows_pass_the_audit() -> None:
    def made(people: int, epsilon: Number) -> SubsampleAggregate:
        blocks = BlockFriends(60 + min(people, 400) // 50, 1, epsilon=epsilon, delta=1e-4)
        return SubsampleAggregate(FunctionFit(np.mean), NUMBER, blocks, neighbours=ADD, unit="person")

    rows, whose = np.sin(np.arange(120.0)), np.arange(120) // 3
    mechanism = CountedPeople(made, 30.0, 1e-4, "person")
    tables = [read(rows[:end], None, whose[:end]) for end in (117, 120)]  # one person, three rows
    audit.check(mechanism, [Pair(*tables), Pair(*tables[::-1])], hostile_values=False).require()


@pytest.mark.parametrize("mutant", ["rows", "promise"])
def test_planted_mutants_are_found(monkeypatch: pytest.MonkeyPatch, mutant: str) -> None:
    """Rows counted instead of people; a mechanism that spends more than is left."""
    rows, whose = np.arange(12.0), np.arange(12) // 3

    def made(people: int, epsilon: Number) -> Mechanism[Any]:
        spent = 2 * exact(epsilon) if mutant == "promise" else epsilon
        return replace(mean_of_blocks(people, spent), unit="person")

    if mutant == "promise":
        with pytest.raises(BadInput, match="is left for it"):
            CountedPeople(made, 80.0, unit="person")
        return
    monkeypatch.setattr(counted_people, "people_in", lambda table: table.rows)
    pair = Pair(read(rows[:9], None, whose[:9]), read(rows, None, whose))
    assert not audit.check(CountedPeople(made, 80.0, unit="person"), [pair], hostile_values=False).passed


@pytest.mark.claim("counted_people.1")
def test_a_mechanism_under_another_relation_is_not_taken() -> None:
    def replaced(people: int, epsilon: Number) -> SubsampleAggregate:
        return replace(mean_of_blocks(people, epsilon), neighbours=Neighbours.REPLACE)

    with pytest.raises(BadInput, match="must hide the same change"):
        CountedPeople(replaced, 1.0)


@pytest.mark.claim("counted_people.1")
@pytest.mark.parametrize("size", [None, 1000])
@pytest.mark.parametrize("rare", [None, 0])
def test_all_that_is_spent_is_epsilon_and_delta(size: int | None, rare: int | None) -> None:
    """The numbers that are bought, and what the mechanism is given, whichever numbers are bought."""
    given, relation = [], ADD if size is None else Neighbours.REPLACE

    def made(people: int, epsilon: Number, fewest: int = 0, *, delta: float = 1e-6) -> SubsampleAggregate:
        given.append(exact(epsilon))
        blocks = BlockFriends(60, 1, epsilon=epsilon, delta=delta)
        return SubsampleAggregate(FunctionFit(np.mean), NUMBER, blocks, neighbours=relation)

    mechanism = CountedPeople(made, 2.0, 1e-6, size=size, rare=rare)
    bought = [mechanism.counting.epsilon] * (size is None) + [mechanism.rarity.epsilon] * (rare is not None)
    assert sum(map(exact, bought)) + given[-1] == 2
    with pytest.raises(BadInput, match="is left for it"):
        CountedPeople(partial(made, delta=2e-6), 2.0, 1e-6, size=size, rare=rare)


@pytest.mark.claim("counted_people.3")
def test_the_rarest_are_people_with_any_entry_that_differs() -> None:
    """Three people of two rows: the second alone has an entry other than 0, and only in one of the rows."""
    x, whose = np.array([[0.0, 5], [0, 6], [0, 7], [1, 8], [0, 9], [0, 9]]), np.arange(6) // 2
    table = read(x, None, whose)
    assert [counted_people.rarest([table], spare) for spare in (0, 1)] == [1, 2]


@pytest.mark.claim("counted_people.2")
def test_the_same_noisy_number_makes_the_same_plan() -> None:
    """Other rows, as many: the plan and the number of blocks do not depend on them."""
    ask: dict[str, Any] = {"epsilon": 4.0, "neighbours": "add_or_remove"}
    tables = np.arange(9000.0), np.zeros(9000)
    one, other = (discreet.fit(np.median, rows, rng=Seeded(1), **ask) for rows in tables)
    names = ("blocks", "people, noisy", "aggregator", "bias_correction")
    shown = [{name: release.provenance.parameters.get(name) for name in names} for release in (one, other)]
    assert shown[0] == shown[1]
    assert shown[0]["people, noisy"] != 9000


@pytest.mark.claim("counted_people.2")
@pytest.mark.parametrize("size", [0, 1, 2, 300])
def test_few_people_are_refused_by_the_noisy_number(size: int) -> None:
    for ask in (
        lambda x, **how: discreet.fit(np.median, x, **how),
        lambda x, **how: discreet.maximum_likelihood("gamma", x, **how),
        lambda x, **how: discreet.custom_test(lambda rows: float(rows.mean()), x, **how),
    ):
        release = ask(np.ones(size), epsilon=0.2, neighbours="add_or_remove", rng=Seeded(1))
        assert "a noisy number" in str(release.refusal)
        assert release.guarantee.epsilon == 0.2


@pytest.mark.claim("counted_people.2")
def test_what_no_number_of_people_would_mend_is_raised_at_once() -> None:
    table = read(np.zeros(9))
    for options, words in (
        ({"aggregator": "friendly"}, "delta is 0"),
        ({"aggregator": "t"}, "aggregator"),
        ({"smallest": 0}, "smallest"),
        ({"scales": -1}, "scales"),
    ):
        with pytest.raises(BadInput, match=words):
            planned(np.median, table, epsilon=1.0, delta=0.0, neighbours=ADD, unit="row", **options)


def test_every_fit_has_an_answer() -> None:
    people = np.random.default_rng(1)
    x = people.gamma(4.0, size=20_000)
    ask: dict[str, Any] = {"epsilon": 2.0, "neighbours": "add_or_remove", "rng": Seeded(1)}
    release = discreet.fit(np.median, x, **ask)
    assert release.interval(0.999).low < 3.672 < release.interval(0.999).high
    assert release.guarantee.neighbours is ADD
    telling = discreet.fit(np.median, x, estimate_bias=True, **ask | {"epsilon": 4.0})
    assert "which was estimated" in telling.provenance.notes[0]
    assert telling.guarantee.epsilon == 4.0
    distribution = discreet.maximum_likelihood("gamma", x, delta=1e-6, **ask)
    assert 3.0 < distribution.value.a < 5.0
    voted = discreet.fit(lambda rows: "up" if rows.mean() > 3 else "down", x, labels=["up", "down"], **ask)
    assert voted.value == "up"
    table = np.column_stack([x, people.normal(size=20_000)])
    line = discreet.fit(lambda rows: rows.mean(axis=0), table, delta=1e-6, **ask)
    assert abs(line.value[0] - 4.0) < 0.5


def test_people_are_counted_as_blocks_tell_them_apart() -> None:
    names = np.array([1, 1.0, True, "a", None, float("nan"), "a"], dtype=object)
    assert partition.people_in(BlockTable.of(np.zeros(7), None, names)) == 4  # 1, true, "a", and the missing ones
    assert partition.people_in(read(np.zeros(7))) == 7


def test_check_refuses_before_there_are_data() -> None:
    fit = CountedPeople(votes_of_blocks, 1.0)
    with pytest.raises(Refused, match="scales of the noise"):
        fit.check(2)
    fit.check(500)
    fit.check(None)
    for mechanism in (BlockMean(5, 1, 1.0), BlockFriends(5, 1, epsilon=1.0, delta=1e-6)):
        with pytest.raises(Refused, match="blocks"):
            mechanism.check(5)
        assert mechanism.release(np.zeros((5, 1)), Seeded(1)).refusal
    whole = SubsampleAggregate(FunctionFit(np.mean), NUMBER, BlockMean(400, 1, 1.0))
    with pytest.raises(Refused, match="do not fill"):
        whole.check(399)
    assert "do not fill" in str(whole.release(np.zeros(399), Seeded(1)).refusal)
    whole.check(400)
    whole.check(None)
    with pytest.raises(Refused, match="ask for at least"):
        replace(whole, aggregator=BlockMean(5, 1, 1.0)).check(400)
