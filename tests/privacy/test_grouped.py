"""An answer for each group, for the price of one."""

import json
import math
from typing import Any

import pytest

import discreet
from discreet.errors import BadInput, Refused
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Guarantee, Neighbours
from discreet.privacy.release import Groups, Release
from discreet.privacy.stored import recalled_groups
from discreet.statistics.count import Count
from discreet.statistics.mean import RankClippedMean

ADDED = Neighbours.ADD_OR_REMOVE


def groups(*keys: Any) -> Groups:
    rng, count = Seeded(1), Count(1.0, ADDED, "person")
    each = tuple((key, count.release([True] * 50, rng)) for key in keys)
    return Groups("sex", Guarantee(1.0, 0.0, ADDED, "person"), releases=each, name="count by sex", notes=("a note",))


@pytest.mark.claim("release.1")
def test_a_person_more_in_one_group_moves_the_distribution_of_all_answers_as_far_as_that_of_one() -> None:
    epsilon = 0.7

    def distribution(count: int) -> list[float]:
        weights = [math.exp(-epsilon * abs(answer - count)) for answer in range(-60, 80)]
        return [weight / sum(weights) for weight in weights]

    before = [distribution(10), distribution(4)]
    for after in ([distribution(11), distribution(4)], [distribution(10), distribution(5)]):
        worst = max(
            abs(math.log(one * other) - math.log(new * newer))
            for one, new in zip(before[0], after[0], strict=True)
            for other, newer in zip(before[1], after[1], strict=True)
        )
        assert worst == pytest.approx(epsilon, abs=1e-6)


@pytest.mark.parametrize("keys", [("F", "M"), (1, 2), (True, False), (None, "x"), (1.5,), ()])
def test_groups_come_back_from_the_ledger_as_they_were(keys: tuple[Any, ...]) -> None:
    before = groups(*keys)
    after = recalled_groups(json.loads(before.to_json()))
    assert list(after) == list(keys)
    assert [type(key) for key in after] == [type(key) for key in keys]
    assert [after[key].value for key in keys] == [before[key].value for key in keys]
    assert after.guarantee.epsilon == before.guarantee.epsilon
    assert after.guarantee.neighbours is before.guarantee.neighbours
    assert (after.by, after.name, after.notes, len(after)) == (before.by, before.name, before.notes, len(keys))
    assert after.to_dict() == before.to_dict()


def test_a_group_that_is_not_there() -> None:
    with pytest.raises(BadInput, match="no group 'X'"):
        groups("F", "M")["X"]
    with pytest.raises(BadInput, match="no group 1"):
        groups(True)[1]
    strange: list[Any] = [{}, {"groups": 3}, {"groups": [{"key": 1}]}, []]
    for wrong in strange:
        with pytest.raises(BadInput):
            recalled_groups(wrong)


def test_a_picture_and_a_card() -> None:
    pytest.importorskip("matplotlib").use("Agg")
    ax = groups("F", "<M>").plot()
    assert [label.get_text() for label in ax.get_yticklabels()] == ["F", "<M>"]
    assert "&lt;M&gt;" in groups("F", "<M>")._repr_html_()
    with pytest.raises(Refused):
        groups().plot()


def test_what_is_shown() -> None:
    text = str(groups("F", "M"))
    assert text.splitlines()[0] == "count by sex:"
    assert text.splitlines()[1].split() == ["estimate", "interval"]
    assert text.splitlines()[2].split()[0] == "F"
    assert len(repr(groups("F", "M")).splitlines()) == 2
    assert "note: a note" in text
    signed = groups("F").signed("entry 3")
    assert signed["F"].provenance.receipt == "entry 3"
    assert groups("F").refusal is None
    assert "no group by sex" in str(groups().refusal)
    few: Release[float] = RankClippedMean(0.1, ADDED).release([1.0], Seeded(1))
    assert Groups("sex", Guarantee(0.1), releases=(("F", few),), name="mean", notes=()).refusal == few.refusal


@pytest.mark.claim("asking.2")
@pytest.mark.parametrize(("groupby", "share"), [(None, 1.0), ("sex", 0.5)])
def test_counts_by_group_are_at_half_of_epsilon_where_people_are_replaced(groupby: str | None, share: float) -> None:
    """Who is replaced may leave one group and enter another: two counts move."""
    people = {"sex": ["F", "M"] * 50, "ill": [True, False] * 50}
    keys = None if groupby is None else ["F", "M"]
    with discreet.open(people, budget=9.0, ledger=":memory:", neighbours="replace") as session:
        asked = session.prepare("count", "ill", epsilon=1.0, groupby=groupby, keys=keys)
    assert float(asked.price.mechanism.guarantee.epsilon) == share
    assert float(asked.price.guarantee.epsilon) == 1.0
    assert asked.price.halved is (share == 0.5)


def test_the_names_of_crossed_groups_are_told_apart() -> None:
    few, other = (Count(1.0, one, "person").release([True] * 50, Seeded(1)) for one in (ADDED, Neighbours.REPLACE))
    far = RankClippedMean(9.0, ADDED).release([float(k) for k in range(500)], Seeded(1))
    each = ((("p", "r"), few), (("p", "s"), other), (("q", "r"), far))
    found = str(Groups(("a", "b"), few.guarantee, releases=each, name="mean"))
    assert far.refusal is None
    assert "p, r; p, s: " in found


def test_rows_of_a_person_are_not_limited_where_each_row_is_one() -> None:
    session = discreet.open({"x": [1.0] * 50}, budget=9.0, ledger=":memory:", unit="person")
    with session, pytest.raises(BadInput, match="max_rows is of a person's rows, and here each row is a person"):
        session.count(max_rows=2, epsilon=0.1)
