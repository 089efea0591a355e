"""Tests of groups whose members are private, asked of one table."""

import math
from typing import Any

import numpy as np
import pytest

import discreet
from discreet import audit
from discreet.accounting.compose import implies
from discreet.audit.replay import drawn, exceeds
from discreet.errors import BadInput
from discreet.noise.randomness import Seeded
from discreet.privacy.declaration import Columns, Public, declared
from discreet.privacy.guarantee import Neighbours

ARMS = ["new", "old"]
KINDS: list[dict[str, Any]] = [
    {"between": ARMS},
    {"between": [*ARMS, "none"]},
    {"between": ARMS, "of": "mean", "bounds": (0.0, 9.0)},
    {"between": ARMS, "of": "mean"},
]
ROWS: list[Any] = [(float(k % 9), [*ARMS, "none"][k % 3]) for k in range(150)]


def made(**options: Any) -> Any:
    """The mechanism of a question."""
    facts = (Columns(("x",), ("number",)), Columns(("g",), ("category",)))
    return declared("groups_test").make(Public(Neighbours.ADD_OR_REMOVE, "row", None), *facts, **options)


@pytest.mark.claim("groups_test.1")
@pytest.mark.parametrize("options", KINDS, ids=str)
def test_one_person_moves_what_is_claimed(options: Any) -> None:
    odd: list[Any] = [(3.0, "new"), (1e300, "old"), (math.nan, "new"), (7.0, "zebra"), (None, None), "x"]
    mechanism = made(epsilon=30.0, **options)
    audit.check(mechanism, [audit.Pair(ROWS, [*ROWS, one]) for one in odd], hostile_values=False).require()
    assert implies(mechanism.loss, mechanism.guarantee)
    assert mechanism.release(ROWS, Seeded(0)).refusal is None
    assert exceeds(drawn(mechanism, ROWS), mechanism.loss) is None


@pytest.mark.claim("groups_test.1")
def test_it_is_the_test_of_two_samples() -> None:
    draw = np.random.default_rng(1)
    x, arm = draw.normal(size=600), draw.integers(0, 2, 600)
    whole = discreet.groups_test(x, np.array(ARMS)[arm], epsilon=1.0, between=ARMS, rng=Seeded(3))
    parts = discreet.two_samples_test(x[arm == 0], x[arm == 1], epsilon=1.0, rng=Seeded(3))
    assert whole.provenance.parameters["people, noisy"] == parts.provenance.parameters["people, noisy"]
    assert whole.guarantee == parts.guarantee


@pytest.mark.parametrize("options", [KINDS[0], pytest.param(KINDS[1], marks=pytest.mark.study), *KINDS[2:]], ids=str)
def test_level_and_power(options: Any) -> None:
    """Of 120 runs at 10% more than 33 reject by chance less than once in 10^6; a clear effect is found."""
    names = options["between"]
    rejected = found = 0
    for seed in range(120 if options.get("of") == "mean" else 60):
        draw = np.random.default_rng(seed)
        which = draw.integers(0, len(names), 1200)
        x = np.clip(draw.gamma(2.0, 1.0, 1200), 0, 9)
        given: dict[str, Any] = {"epsilon": 1.0, "rng": Seeded(seed), **options}
        rejected += discreet.groups_test(x, np.array(names)[which], **given).value.decide(0.1)
        if seed < 10:
            found += discreet.groups_test(x + 1.5 * which, np.array(names)[which], **given).value.decide(0.05)
    assert rejected <= 33
    assert found >= 9


def test_what_is_asked_is_checked() -> None:
    three = [*ARMS, "none"]
    wrong: list[dict[str, Any]] = [
        {"between": ["new"]},
        {"between": ARMS, "of": "mode"},
        {"between": three, "of": "mean"},
        {"between": three, "alternative": "greater"},
        {"between": ARMS, "bounds": (0, 1)},
        {"between": ARMS, "neighbours": "replace", "missing": "keep"},
    ]
    for options in wrong:
        with pytest.raises(BadInput):
            discreet.groups_test([1.0, 2.0], ARMS, epsilon=1.0, **options)


def test_sessions_say_their_null() -> None:
    draw = np.random.default_rng(0)
    people = {"x": draw.normal(size=3000), "arm": ARMS * 1500, "age": draw.integers(0, 90, 3000)}
    with discreet.open(people, budget=9.0, ledger=":memory:", rng=Seeded(1)) as session:
        release = session.groups_test("x", "arm", epsilon=1.0, between=ARMS, of="mean", where="age >= 18")
    assert "null hypothesis: new and old have one mean in the population" in str(release)
    assert 0 <= release.value.p_value <= 1
    halved = discreet.groups_test(people["x"], people["arm"], epsilon=2.0, between=ARMS, neighbours="replace")
    assert any("half of epsilon" in note for note in halved.provenance.notes)


@pytest.mark.claim("groups_test.1")
def test_whoever_is_in_no_listed_group_counts_nowhere() -> None:
    x, arm = [float(k % 50 + 5 * (k % 2)) for k in range(600)], ["new", "old"] * 300
    others: list[Any] = ["older", None, "", "New"] * 50
    terms: dict[str, Any] = {"epsilon": 1.0, "between": ["new", "old"]}
    found = discreet.groups_test(x + [1e6] * 200, arm + others, rng=Seeded(1), **terms)
    assert found.value == discreet.groups_test(x, arm, rng=Seeded(1), **terms).value


@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
def test_the_power_is_that_of_an_effect_in_the_direction_asked_about(alternative: Any) -> None:
    found = discreet.forecast("groups_test", rows=800, epsilon=1.0, of="mean", bounds=(-5, 5), alternative=alternative)
    assert found.power is not None
    assert found.power > 0.5
