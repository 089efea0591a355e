"""The ladder for A/B tests."""

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import discreet
from discreet import audit
from discreet.accounting.compose import implies
from discreet.accounting.currency import pure
from discreet.audit.replay import drawn, exceeds
from discreet.errors import BadInput
from discreet.hypotheses.ab_test import CHECK, LEAST, AbTest, directed
from discreet.noise.randomness import Seeded
from discreet.privacy.declaration import Columns, Public, declared
from discreet.privacy.exact import exact
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.release import Release
from discreet.privacy.stored import recalled
from discreet.privacy.values import Comparison
from discreet.report.sentences import answer
from discreet.statistics.difference import PairSpread

ARMS: dict[str, Any] = {"treatment": "new", "control": "old"}
KINDS: list[dict[str, Any]] = [{}, {"bounds": (0.0, 9.0)}, {"of": "proportion"}]
ROWS: list[Any] = [(float(k % 9), ["new", "old", "none"][k % 3]) for k in range(180)]


def made(epsilon: float = 30.0, **options: Any) -> AbTest:
    """The mechanism of a question."""
    facts = (Columns(("x",), ("number",)), Columns(("g",), ("category",)))
    public = Public(Neighbours.ADD_OR_REMOVE, "row", None)
    found = declared("ab_test").make(public, *facts, epsilon=epsilon, **ARMS, **options)
    assert isinstance(found, AbTest)
    return found


def asked(seed: int, people: int, *, lift: float = 0.0, share: float = 0.5, **options: Any) -> Release[Comparison]:
    """An experiment on made-up people: purchases that are a fixed function of the seed."""
    draw = np.random.default_rng(seed)
    arm = draw.random(people) < share
    bought = draw.random(people) < 0.3 + lift * arm
    x = bought if options.get("of") == "proportion" else bought * draw.gamma(2.0, 3.0, people)
    given = ARMS | {"epsilon": 1.0} | options
    return discreet.ab_test(x, np.where(arm, "new", "old"), rng=Seeded(seed), **given)


@pytest.mark.claim("ab_test.1")
@pytest.mark.parametrize("options", KINDS, ids=str)
def test_one_person_moves_what_is_claimed(options: Any) -> None:
    odd: list[Any] = [(3.0, "new"), (1e300, "old"), (math.nan, "new"), (7.0, "zebra"), (None, None), (0.0, "none"), "x"]
    mechanism = made(**options)
    audit.check(mechanism, [audit.Pair(ROWS, [*ROWS, one]) for one in odd], hostile_values=False).require()
    assert implies(mechanism.loss, mechanism.guarantee)
    assert mechanism.release(ROWS, Seeded(0)).refusal is None
    spent = drawn(mechanism, ROWS)
    assert exceeds(spent, mechanism.loss) is None
    assert pure(spent) == (Fraction(30), Fraction(0))  # and nothing is left over


@pytest.mark.claim("ab_test.1")
def test_small_worlds() -> None:
    """All tables of at most two people, and their neighbours."""
    values: list[Any] = [(1.0, "new"), (0.0, "old"), (math.inf, "old"), (math.nan, "new"), (2.0, "zebra"), (None, None)]
    tables = [[], *([one] for one in values)]
    pairs = [audit.Pair(table, [*table, one]) for table in tables for one in values]
    audit.check(made(of="proportion"), pairs, hostile_values=False).require()


@pytest.mark.claim("ab_test.1")
def test_parts_that_cost_more_are_refused() -> None:
    whole = made(8.0, of="proportion")
    with pytest.raises(BadInput, match="more than epsilon"):
        AbTest(whole.effect, replace(whole.split, epsilon=2.0), 8.0)
    with pytest.raises(BadInput, match="private"):
        AbTest(whole.effect, replace(whole.split, neighbours=Neighbours.REPLACE), 8.0)
    dear = replace(whole)
    object.__setattr__(dear, "split", replace(whole.split, epsilon=2.0))  # a planted mistake
    assert exceeds(drawn(dear, ROWS), dear.loss) is not None


@pytest.mark.claim("ab_test.1")
def test_under_replace_it_is_a_question_about_some_of_the_people() -> None:
    release = asked(1, 3000, of="proportion", neighbours="replace")
    assert release.guarantee.neighbours is Neighbours.REPLACE
    assert any("half of epsilon" in note for note in release.provenance.notes)


@pytest.mark.claim("ab_test.2")
def test_refusals_and_bad_arguments() -> None:
    few = discreet.ab_test([1.0, 2.0] * 20, ["new", "old"] * 20, epsilon=1.0, rng=Seeded(1), **ARMS)
    assert "the group new" in str(few.refusal)
    small = discreet.ab_test(
        [True, False] * 30, ["new", "old"] * 30, epsilon=0.8, of="proportion", rng=Seeded(1), **ARMS
    )
    assert small.refusal is None
    assert small.value.split_p_value == 1.0
    assert "too few rows to say whether the groups" in str(small)
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"of": "median"}, "ask for the difference of medians"),
        ({"planned": 1.0}, "planned is 1.0"),
        ({"planned": True}, "planned is True"),
        ({"alternative": "larger"}, "'two-sided', 'greater' or 'less'"),
        ({"of": "proportion", "bounds": (0, 1)}, "leave them out"),
        ({"treatment": "old"}, "name two groups"),
    ]
    for options, said in wrong:
        with pytest.raises(BadInput, match=said):
            discreet.ab_test([1.0], ["new"], epsilon=1.0, **(ARMS | options))


@pytest.mark.claim("ab_test.3")
@pytest.mark.parametrize("options", KINDS, ids=str)
@pytest.mark.parametrize("lift", [0.0, 0.04, 0.5])
def test_the_p_value_is_where_the_interval_reaches_zero(options: Any, lift: float) -> None:
    bounds = {"bounds": (0.0, 40.0)} if "bounds" in options else {}
    release = asked(5, 4000, lift=lift, **(options | bounds))
    p, spread = release.value.p_value, release.spread
    assert spread is not None
    if p < 1:
        beyond, within = spread.interval(1 - min(1.02 * p, 0.9999)), spread.interval(1 - 0.98 * p)
        assert not beyond.low[0] <= 0 <= beyond.high[0]
        assert p == LEAST or within.low[0] <= 0 <= within.high[0]
    assert release.value.decide(0.05) == (not release.interval(0.95).low[0] <= 0 <= release.interval(0.95).high[0])


@pytest.mark.claim("ab_test.3")
def test_one_sided_p_values_are_half_or_one() -> None:
    spread, apart = asked(5, 4000, lift=0.04, of="proportion").spread, 0.05
    assert isinstance(spread, PairSpread)
    both = directed(spread, apart, "two-sided")
    assert LEAST < both < 1
    assert directed(spread, apart, "greater") == both / 2
    assert directed(spread, apart, "less") == 1.0
    assert directed(spread, -apart, "less") == both / 2
    assert directed(spread, -apart, "greater") == 1.0


@pytest.mark.claim("ab_test.3")
@pytest.mark.claim("ab_test.4")
@pytest.mark.parametrize("options", [{"of": "proportion"}, {"bounds": (0.0, 40.0)}], ids=str)
def test_level_and_power(options: Any) -> None:
    """Of 40 runs at 10% more than 16 reject by chance less than once in 10^6; a clear effect is found."""
    found = [asked(seed, 2500, **options).value for seed in range(40)]
    assert sum(one.decide(0.1) for one in found) <= 16
    assert sum(one.split_p_value <= 0.1 for one in found) <= 16
    assert all(asked(seed, 4000, lift=0.2, **options).value.decide(0.05) for seed in range(3))


@pytest.mark.claim("ab_test.4")
def test_groups_of_another_size_than_planned_are_found() -> None:
    release = asked(3, 20_000, share=0.55, of="proportion")
    assert not release.value.as_planned
    assert "before you trust the effect" in str(release)
    assert "not of the planned sizes" in release.value.describe()
    assert asked(3, 20_000, share=0.55, of="proportion", planned=0.55).value.as_planned
    assert not asked(3, 20_000, share=0.55, of="proportion", planned=0.45).value.as_planned


@pytest.mark.claim("ab_test.4")
def test_whoever_is_in_neither_group_is_not_counted() -> None:
    """A fifth of the people were in no experiment."""
    arm = [["new", "old", "new", "old", "none"][k % 5] for k in range(10_000)]
    release = discreet.ab_test(
        [k % 3 == 0 for k in range(10_000)], arm, epsilon=1.0, of="proportion", rng=Seeded(1), **ARMS
    )
    assert release.value.split_p_value > 0.1


def test_sessions_groups_and_stored_answers() -> None:
    draw = np.random.default_rng(3)
    arm = draw.integers(0, 2, 5000)
    table = {"arm": np.where(arm, "b", "a"), "sold": draw.gamma(2.0, 2.0 + arm), "page": draw.integers(0, 9, 5000)}
    with discreet.open(table, budget=4.0, ledger=":memory:", unit="visitor", rng=Seeded(1)) as session:
        release = session.ab_test("sold", "arm", treatment="b", control="a", epsilon=2.0)
        assert release.value.decide(0.01)
        share = session.ab_test(
            "page > 4", "arm", treatment="b", control="a", of="proportion", epsilon=1.0, where="sold > 1"
        )
    assert share.refusal is None
    assert "p = " in repr(release).splitlines()[0]
    assert "same mean in the population" in str(release)
    again = recalled(release.to_dict())
    assert str(again) == str(release)
    assert again.value["b"] == release.value["b"]
    told = answer("sales", again.shown())
    assert "at the 5% level the null hypothesis is rejected" in told
    assert "with 95% confidence" in told
    assert release.value.to_frame()["name"].tolist() == ["difference", "ratio", "b", "a"]


def test_the_check_takes_a_tenth() -> None:
    mechanism = made(3.0, of="proportion")
    assert exact(mechanism.split.epsilon) == 3 * CHECK
    assert exact(mechanism.effect.epsilon) == 3 * (1 - CHECK)


@pytest.mark.parametrize("options", [{"of": "proportion", "planned": 0.3}, {"planned": 0.3, "scale": 2.0}], ids=str)
def test_forecasts_are_of_the_difference(options: Any) -> None:
    found = discreet.forecast("ab_test", rows=6000, epsilon=1.0, **options)
    same = discreet.forecast("ab_test", rows=6000, epsilon=1.0, **(options | {"planned": 0.5}))
    assert found.error is not None
    assert same.error is not None
    assert 0.9 < found.error / same.error < 1.5
    assert "30% of the rows are in a" in str(found)


@pytest.mark.claim("ab_test.4")
def test_sizes_that_are_plainly_not_as_planned_are_told() -> None:
    """5,350 of 10,000 people are 7 standard deviations from half: a p-value of 3e-12 without privacy."""
    arms = ["new"] * 5_350 + ["old"] * 4_650
    found = discreet.ab_test([k % 2 for k in range(10_000)], arms, epsilon=1.0, of="proportion", rng=Seeded(1), **ARMS)
    assert found.value.split_p_value < 0.0002
    assert not found.value.as_planned
    assert "the groups are not of the planned sizes" in str(found)
