import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest

from discreet.errors import BadInput
from discreet.privacy.guarantee import Guarantee, Neighbours, check_budget
from discreet.privacy.mechanism import promised


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [(-1, 0), (math.nan, 0), (math.inf, 0), ("1", 0), (True, 0), (1, -0.1), (1, 1.1), (1, math.nan)],
)
def test_bad_guarantees(epsilon: Any, delta: Any) -> None:
    with pytest.raises(BadInput):
        Guarantee(epsilon, delta)


def test_groups() -> None:
    group = Guarantee(0.5, 1e-6, unit="patient").for_group(3)
    assert group.epsilon == Fraction(3, 2)
    assert group.delta == pytest.approx(1e-6 * (1 + math.exp(0.5) + math.exp(1)))
    assert group.unit == "patient"
    assert Guarantee(0.1).for_group(10) == Guarantee(1)
    assert Guarantee(1.0).for_group(1) == Guarantee(1.0)
    for size in (0, -1, 1.5, "2"):
        with pytest.raises(BadInput, match="whole number"):
            Guarantee(1.0).for_group(size)  # type: ignore[arg-type]


def test_worst_odds() -> None:
    assert Guarantee(1.0).worst_odds(0.5) == pytest.approx(0.731, abs=5e-4)
    assert Guarantee(1.0).worst_odds(0.01) == pytest.approx(0.0267, abs=5e-5)
    assert Guarantee(1e6).worst_odds(0.01) == 1
    assert Guarantee(0).worst_odds(0.3) == pytest.approx(0.3)
    assert Guarantee(1.0).worst_odds(0) == 0
    assert Guarantee(1e6).worst_odds(0) == 0
    assert Guarantee(1.0).worst_odds(1) == 1
    for chance in (0.0, 5e-7, 1e-6):
        assert Guarantee(1.0, 1e-6).worst_odds(0.01, chance) == 1
    assert Guarantee(1.0, 1e-6).worst_odds(0.01, 2e-6) == pytest.approx(0.0267 * 2 / 1.0267, abs=5e-5)
    assert Guarantee(1.0, 1e-6).worst_odds(0.01, 1) == pytest.approx(0.0267, abs=5e-5)
    with pytest.raises(BadInput, match="chance"):
        Guarantee(1.0, 1e-6).worst_odds(0.5, chance=-1)
    with pytest.raises(BadInput, match="prior"):
        Guarantee(1.0).worst_odds(1.5)


def test_sentences() -> None:
    present = Guarantee(1.0, 0, Neighbours.ADD_OR_REMOVE, "person")
    said = "changes the probability of any output by at most a factor of 2.72"
    assert str(present) == f"epsilon 1: adding or removing one person {said}"
    assert Guarantee(1.0, unit="person") == present
    assert str(Guarantee(1.0, 0, Neighbours.REPLACE)) == f"epsilon 1: replacing one row's data {said}"
    assert str(Guarantee(1.0, 1e-6)).endswith(f"{said}, and beyond that by at most 1e-06")
    assert "inf" in str(Guarantee(1e5))


def test_neighbours() -> None:
    assert Neighbours("replace") is Neighbours.REPLACE
    assert Neighbours("ADD_OR_REMOVE") is Neighbours.ADD_OR_REMOVE
    assert Neighbours.REPLACE.size_is_public
    assert not Neighbours.ADD_OR_REMOVE.size_is_public
    with pytest.raises(ValueError, match="sometimes"):
        Neighbours("sometimes")


def test_budgets_that_promise_something() -> None:
    check_budget(1.0, 0, None)
    check_budget(1.0, 1e-6, 100_000)
    check_budget(1.0, 1e-4, None)


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, 1e-10, 1e7, None, "1", True])
def test_epsilons_that_promise_nothing(epsilon: Any) -> None:
    with pytest.raises(BadInput, match="epsilon is"):
        check_budget(epsilon, 0, 10)


@pytest.mark.parametrize(
    ("delta", "size"), [(1e-3, 1000), (2e-4, None), (1, 10), (-1e-9, 10), (math.nan, 10), (1e-305, 10), (None, 10)]
)
def test_deltas_that_allow_too_much(delta: Any, size: int | None) -> None:
    with pytest.raises(BadInput, match="delta is"):
        check_budget(1.0, delta, size)


@dataclass(frozen=True)
class Pure:
    epsilon: float
    neighbours: Neighbours
    unit: str
    guarantee = promised


@dataclass(frozen=True)
class Loose(Pure):
    delta: float


def test_the_shared_property_reads_the_fields_of_a_mechanism() -> None:
    assert Pure(0.5, Neighbours.ADD_OR_REMOVE, "patient").guarantee == Guarantee(
        0.5, 0.0, Neighbours.ADD_OR_REMOVE, "patient"
    )
    assert Loose(0.5, Neighbours.REPLACE, "row", 1e-6).guarantee == Guarantee(0.5, 1e-6, Neighbours.REPLACE, "row")
    assert Pure.guarantee is promised
