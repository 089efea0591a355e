"""A release from its record."""

from typing import Any

import pytest

from discreet.errors import BadInput, Refused
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.mechanism import Mechanism
from discreet.privacy.stored import recalled
from discreet.statistics.count import Count
from discreet.statistics.histogram import Categories, Histogram
from discreet.statistics.mean import RankClippedMean

ROWS = [float(number % 100) for number in range(3000)]
MECHANISMS: list[tuple[Mechanism[Any], Any]] = [
    (Count(1.0, Neighbours.ADD_OR_REMOVE, "patient"), ROWS),
    (Histogram(Categories.of(["a", "b"]), 1.0), ["a", "b", None] * 100),
    (RankClippedMean(1.0), ROWS),
    (RankClippedMean(1.0), ROWS[:5]),  # refused
]


@pytest.mark.parametrize(("mechanism", "rows"), MECHANISMS)
def test_a_record_comes_back_as_a_release_with_the_same_record(mechanism: Mechanism[Any], rows: Any) -> None:
    before = mechanism.release(rows, Seeded(1)).signed("entry 7")
    after = recalled(before.to_dict())
    assert after.to_dict() == before.to_dict()
    assert after.guarantee.neighbours is before.guarantee.neighbours
    assert after.provenance.publishable is False
    assert after.refusal == before.refusal
    assert str(after.guarantee) == str(before.guarantee)


def test_only_the_stored_interval_is_there() -> None:
    after = recalled(Count(1.0).release([True] * 10, Seeded(1)).to_dict())
    assert after.interval(0.95).low <= 10 <= after.interval(0.95).high
    with pytest.raises(Refused, match=r"interval\(0.95\)"):
        after.interval(0.9)


@pytest.mark.parametrize("wrong", [{}, [], None, {"guarantee": {}}, {"guarantee": {"epsilon": "x"}, "provenance": {}}])
def test_what_is_no_record(wrong: Any) -> None:
    with pytest.raises(BadInput):
        recalled(wrong)
