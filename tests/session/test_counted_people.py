"""What counts people does not take rules that make numbers of their rows, and titles say which entry is a yes."""

from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet.errors import BadInput

WARD = {
    "patient": [place // 3 for place in range(900)],
    "fall": [place % 10 == 0 for place in range(900)],
    "days": [30.0] * 900,
}


def ward() -> discreet.Session:
    return discreet.open(WARD, person="patient", budget=99.0, ledger=":memory:", rng=discreet.Seeded(1))


@pytest.mark.parametrize(
    ("columns", "given"),
    [
        (("fall",), {"per_person": "count"}),
        (("fall",), {"per_person": "sum"}),
        (("fall",), {"per_person": {"fall": "count"}}),
        (("days > 3",), {"per_person": "count"}),
        ((), {"per_person": "count"}),
        ((), {"per_person": "sum"}),
        ((), {"per_person": "count", "where": "days > 3"}),
    ],
)
def test_people_are_not_counted_where_rows_may_be_meant(columns: tuple[str, ...], given: dict[str, Any]) -> None:
    with ward() as session:
        with pytest.raises(BadInput, match=r"count is about people; for .* ask sum\("):
            session.count(*columns, epsilon=1.0, max_rows=5, **given)
        assert session.balance.left.epsilon == 99


def test_the_advice_works_and_rules_by_column_stay() -> None:
    with ward() as session:
        rows = session.sum("fall", epsilon=20.0, per_person="count", max_rows=5, bounds=(0, 5))
        assert abs(float(rows) - 900) < 20
        assert abs(session.count("fall", epsilon=20.0, per_person="any").value - 90) < 20
        several = session.count(epsilon=20.0, where="days > 2", per_person={"days": "count"}, max_rows=5)
        assert abs(several.value - 300) < 20


def test_equals_stands_beside_its_own_column() -> None:
    table = {"vote": ["Y", "N"] * 300, "size": [1.0, 2.0] * 300}
    with discreet.open(table, budget=9.0, ledger=":memory:", rng=discreet.Seeded(1)) as session:
        asked = session.prepare("proportion", "vote", equals="Y", weights="size", largest_weight=2, epsilon=1.0)
        assert asked.title == "proportion of vote == 'Y', weights size"


def test_one_pair_of_bounds_is_not_taken_for_two() -> None:
    with pytest.raises(BadInput, match=r"give those of both columns, bounds=\[\(0, 10\), \(0, 365\)\]"):
        discreet.ratio([1.0] * 900, [2.0] * 900, epsilon=1.0, bounds=(0, 1))


def test_one_category_has_its_interval_in_print() -> None:
    made = discreet.mode(["a"] * 500 + ["b"] * 20, epsilon=1.0, categories=["a", "b"], rng=discreet.Seeded(1))
    low, high = made.interval(0.95)
    assert f"all at once: [{low[0]}, {high[0]}]" in str(made)


def test_a_profile_opens_no_budget_that_cannot_hold_it(tmp_path: Path) -> None:
    ledger, table = tmp_path / "x.ledger", {"sex": ["F", "M"] * 300}
    with pytest.raises(BadInput, match="--budget-delta"):
        discreet.describe(table, epsilon=1.0, delta=1e-6, ledger=ledger, budget=3.0, population="x")
    assert not ledger.exists()
