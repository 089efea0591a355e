"""The ladder for differences and ratios of two groups."""

import math
from dataclasses import replace
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
from discreet.statistics.difference import Difference, _centred_ratio, stretched
from discreet.statistics.histogram import Categories
from discreet.statistics.proportion import Proportion

BETWEEN = ["new", "old"]
KINDS: list[dict[str, Any]] = [
    {"of": "mean"},
    {"of": "mean", "bounds": (0.0, 9.0)},
    {"of": "median"},
    {"of": "proportion"},
]
ROWS: list[Any] = [(float(k % 9), BETWEEN[k % 2]) for k in range(80)]


def made(epsilon: float = 16.0, **options: Any) -> Difference:
    """The mechanism of a question."""
    facts = (Columns(("x",), ("number",)), Columns(("g",), ("category",)))
    public = Public(Neighbours.ADD_OR_REMOVE, "row", None)
    found = declared("difference").make(public, *facts, epsilon=epsilon, between=BETWEEN, **options)
    assert isinstance(found, Difference)
    return found


@pytest.mark.claim("difference.1")
@pytest.mark.parametrize("options", KINDS, ids=str)
def test_one_person_moves_what_is_claimed(options: Any) -> None:
    odd: list[Any] = [(3.0, "new"), (1e300, "old"), (math.nan, "new"), (7.0, "zebra"), (None, None), "x"]
    pairs = [audit.Pair(ROWS, [*ROWS, one]) for one in odd]
    mechanism = made(**options)
    audit.check(mechanism, pairs, hostile_values=False).require()
    assert implies(mechanism.loss, mechanism.guarantee)
    assert mechanism.release(ROWS * 3, Seeded(0)).refusal is None


@pytest.mark.claim("difference.1")
def test_a_group_costs_half() -> None:
    whole = Proportion(1.0, Neighbours.ADD_OR_REMOVE)
    with pytest.raises(BadInput, match="more than its part"):
        Difference(whole, Categories.of(BETWEEN), 1.0, of="proportion")
    alone = made(of="proportion")
    assert exceeds(drawn(alone, ROWS), alone.loss) is None
    dear = replace(alone, inner=Proportion(8.0, Neighbours.ADD_OR_REMOVE), epsilon=16.0)
    object.__setattr__(dear, "inner", Proportion(16.0, Neighbours.ADD_OR_REMOVE))  # a planted mistake
    assert exceeds(drawn(dear, ROWS), dear.loss) is not None


@pytest.mark.claim("difference.1")
def test_under_replace_it_is_a_question_about_some_of_the_people() -> None:
    given: dict[str, Any] = {"epsilon": 16.0, "between": BETWEEN, "of": "proportion", "neighbours": "replace"}
    release = discreet.difference([True, False, True] * 200, BETWEEN * 300, **given, rng=Seeded(1))
    assert any("half of epsilon" in note for note in release.provenance.notes)
    with pytest.raises(BadInput, match="missing='drop'"):
        discreet.difference([True, False], BETWEEN, **given, missing="keep")


@pytest.mark.claim("difference.2")
def test_refusals_name_the_group() -> None:
    release = discreet.difference([1.0, 2.0] * 20, BETWEEN * 20, epsilon=1.0, between=BETWEEN, rng=Seeded(1))
    assert "the group new" in str(release.refusal)
    assert "rows in each group" in str(release.refusal)
    with pytest.raises(BadInput, match="two public groups"):
        discreet.difference([1.0], ["new"], epsilon=1.0, between=["new"])
    with pytest.raises(BadInput, match="'mean', 'median' or 'proportion'"):
        discreet.difference([1.0], ["new"], epsilon=1.0, between=BETWEEN, of="mode")  # type: ignore[arg-type]


@pytest.mark.claim("difference.3")
def test_half_widths_hold_for_sums_of_laplace_errors() -> None:
    """Exact: the distribution of the sum of two Laplace errors is known."""
    for confidence in (0.5, 0.8, 0.9, 0.95, 0.999):
        reach = stretched(confidence) * math.sqrt(2) * -math.log(1 - confidence)
        assert 1 - math.exp(-reach) * (2 + reach) / 2 >= confidence - 1e-9


@pytest.mark.claim("difference.3")
@pytest.mark.parametrize("a", [0.0, 0.3, 2.0, -2.0])
def test_a_ratio_is_possible_if_its_difference_may_be_zero(a: float) -> None:
    """The ends solve the equation of the docstring."""
    b, one, other = 2.0, (a - 0.5, a + 0.4), (b_low := 1.5, 2.3)
    low, high = _centred_ratio(a, b, one, other)
    for r in (low, high):
        apart = a - r * b
        down = math.hypot(a - one[0], r * ((other[1] if r > 0 else b_low) - b))
        up = math.hypot(one[1] - a, r * (b - (b_low if r > 0 else other[1])))
        assert apart == pytest.approx(down if r == low else -up, abs=1e-9)
    assert low <= a / b <= high
    assert all(map(math.isnan, _centred_ratio(1.0, 1.0, (0.5, 1.5), (-0.1, 2.0))))


@pytest.mark.study
@pytest.mark.claim("difference.3")
@pytest.mark.parametrize("options", KINDS, ids=str)
def test_intervals_hold_the_population(options: Any) -> None:
    """Skewed and tied numbers; fails by chance less than once in 10^6 runs."""
    held = 0
    for seed in range(200):
        draw = np.random.default_rng(seed)
        arm = draw.integers(0, 2, 3000)
        x = draw.poisson(2 + arm, 3000)
        groups = np.array(["old", "new"])[arm]
        numbers = x > 2 if options["of"] == "proportion" else x
        release = discreet.difference(numbers, groups, epsilon=1.0, between=BETWEEN, rng=Seeded(seed), **options)
        truth = {"mean": 1.0, "median": 1.0}.get(options["of"], 0.5768099 - 0.3233236)
        low, high = release.interval()
        held += bool(low[0] <= truth <= high[0])
    assert held >= 171  # of 190 expected


def test_sessions_where_and_the_frame() -> None:
    draw = np.random.default_rng(0)
    arm = draw.integers(0, 2, 6000)
    people = {
        "x": 5.0 + arm + draw.normal(size=6000),
        "arm": np.array(["old", "new"])[arm],
        "age": draw.integers(0, 90, 6000),
    }
    with discreet.open(people, budget=50.0, ledger=":memory:", rng=Seeded(1)) as session:
        release = session.difference("x", "arm", epsilon=4.0, between=BETWEEN, where="age >= 18")
    assert abs(release.value["difference"] - 1) < 0.3
    assert abs(release.value["ratio"] - 1.2) < 0.1
    assert list(release.to_frame()["name"]) == ["difference", "ratio", "new", "old"]
    assert any("null hypothesis" in note for note in release.provenance.notes)


def test_forecasts_are_of_the_difference() -> None:
    """Whatever counts as yes, the half-width is that of two shares of half the people each."""
    given: dict[str, Any] = {"rows": 1300, "epsilon": 1.0, "between": BETWEEN, "of": "proportion"}
    for equals in (None, "yes"):
        expected = discreet.forecast("difference", **given, equals=equals).half_width
        assert expected is not None
        assert 0.05 < expected < 0.062  # 1.96 sqrt(2 / 4 / 650) is 0.054 without noise


def test_notes_of_one_group_alone_name_it() -> None:
    x = np.random.default_rng(0).gamma(1.0, size=6_000)
    groups = ["new" if k % 2 else "old" for k in range(6_000)]
    found = discreet.difference(x, groups, epsilon=1.0, between=["new", "old"], rng=Seeded(1))
    invisible = [note for note in found.provenance.notes if "can be invisible" in note]
    assert [note.partition(":")[0] for note in invisible] == ["new", "old"]
