"""Groups by several columns, and who is left out of each."""

import json
import math
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.replayed import compared

import discreet
from discreet.audit.replay import Recorder
from discreet.errors import BadInput
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Laplace, alongside
from discreet.privacy.people import People
from discreet.privacy.release import Groups
from discreet.privacy.stored import recalled_groups
from discreet.session import asked
from discreet.tables.grouping import Grouping
from discreet.tables.opening import read
from discreet.tables.wanted import Terms

BOTH = ["add_or_remove", "replace"]
SEX, TOWN = ["F", "M", "F", "F", None] * 200, ["a", "b", "b", "a", "a", "b", None, "a"] * 125
PEOPLE: dict[str, Any] = {"sex": SEX, "town": TOWN, "x": [float(k % 10) for k in range(1000)]}
PAIRS = [("F", "a"), ("F", "b"), ("M", "a"), ("M", "b")]
REAL = {pair: sum((s, t) == pair for s, t in zip(SEX, TOWN, strict=True)) for pair in PAIRS}


def session(table: Any = PEOPLE, neighbours: str = "add_or_remove", **more: Any) -> Any:
    return discreet.open(table, budget=999.0, ledger=":memory:", neighbours=neighbours, rng=Seeded(1), **more)


@pytest.mark.claim("grouping.1")
@pytest.mark.parametrize("neighbours", BOTH)
@pytest.mark.parametrize(
    "keys",
    [PAIRS, [["F", "M"], ["a", "b"]], [{"sex": s, "town": t} for s, t in PAIRS], (["F", "M"], ["a", "b"]), None],
)
def test_every_combination_has_its_own_people(neighbours: str, keys: Any) -> None:
    budget = discreet.Budget(99.0, 0.1)
    with discreet.open(PEOPLE, budget=budget, ledger=":memory:", neighbours=neighbours, rng=Seeded(1)) as opened:
        more: dict[str, Any] = {"delta": 1e-4} if keys is None else {}
        found = opened.count(groupby=["sex", "town"], keys=keys, epsilon=40.0, **more)
        assert float(opened.balance.spent.epsilon) == 40.0  # all for the price of one
    assert sorted(found) == PAIRS
    assert {pair: round(release.value) for pair, release in found.items()} == pytest.approx(REAL, abs=3)
    assert found.by == ("sex", "town")
    assert found.name == "count by sex and town"
    assert "in none" in found.notes[0]


@pytest.mark.claim("grouping.1")
def test_whoever_lacks_a_key_is_in_no_group_unless_that_is_listed() -> None:
    with session() as opened:
        keys = [("F", "a"), (None, "a"), ("F", None), (None, None)]
        found = opened.count(groupby=["sex", "town"], keys=keys, epsilon=90.0)
        real = [sum(pair == one for pair in zip(SEX, TOWN, strict=True)) for one in keys]
        assert [round(release.value) for release in found.values()] == pytest.approx(real, abs=2)
        one = opened.count(groupby="sex", keys=["F"], epsilon=9.0)
        assert "whoever's sex is missing or not listed is in none" in str(one)
        one = opened.count(groupby="sex", keys=["F", None], epsilon=9.0)
        assert "whoever's sex is not listed is in none" in str(one)


@pytest.mark.claim("grouping.2")
@pytest.mark.parametrize(
    ("by", "keys", "told"),
    [
        ([], None, "groupby is empty"),
        (["sex", "sex"], None, "twice"),
        (["sex", "county"], None, "no column 'county'"),
        (["sex", "x"], None, "about"),
        (["sex", "town"], "F", "a list of groups for each column, or the groups as tuples"),
        (["sex", "town"], ["F", "M"], "keys has 'F', and groupby has 2 columns"),
        (["sex", "town"], [], "keys is"),
        (["sex", "town"], [["F"]], "keys has 1 lists"),
        (["sex", "town"], [["F"], []], "list the groups"),
        (["sex", "town"], [range(200), range(200)], "list the groups, 1 to 10000"),
        (["sex", "town"], [("F", "a", "b")], "2 columns"),
        (["sex", "town"], [("F", "a"), ("F", "a")], "twice"),
        (["sex", "town"], [("F", ("a",))], "one entry a column"),
        (["sex", "town"], [{"sex": "F"}], "an entry for each of sex, town"),
        (["sex", "town"], [("F", 1)], "declared to hold"),
        (["sex", "town"], [["F"], [1, 2]], "declared to hold"),
        ("sex", [("F", "a")], "groupby is one column"),
        ("sex", [["F"], ["a"]], "groupby is one column"),
        (3, None, "no column 3"),
    ],
)
def test_wrong_groups_are_told_before_the_charge(by: Any, keys: Any, told: str) -> None:
    import pyarrow as pa

    with session(pa.table(PEOPLE)) as opened:
        with pytest.raises(BadInput, match=told):
            opened.mean("x", groupby=by, keys=keys, epsilon=1.0)
        assert opened.balance.spent.cost == 0


def test_a_delta_that_is_too_large_to_find_groups_with_is_told_before_the_charge() -> None:
    with discreet.open(PEOPLE, budget=discreet.Budget(9.0, 0.1), ledger=":memory:") as opened:
        with pytest.raises(BadInput, match="smaller delta"):
            opened.count(groupby=["sex", "town"], epsilon=1.0, delta=0.01)
        assert opened.balance.spent.cost == 0


def test_each_key_has_its_own_rule_for_a_persons_rows_and_filters_are_about_people() -> None:
    rows = {
        "id": [k // 2 for k in range(800)],
        "sex": ["F", "M"] * 400,
        "town": ["a", "b"] * 400,
        "x": [1.0, 3.0] * 400,
    }
    with session(rows, person="id") as opened:
        by: dict[str, Any] = {"groupby": ["sex", "town"], "keys": [["F", "M"], ["a", "b"]], "epsilon": 40.0}
        found = opened.count(**by, per_person={"sex": "last", "town": "first"})
        assert [round(release.value / 400) for release in found.values()] == [0, 0, 1, 0]
        assert "each person's last row" in found.name
        found = opened.count(**by, per_person={"sex": "first", "town": "first", "x": "last"}, where="x < 2")
        assert all(release.value < 5 for release in found.values())


def test_stored_groups_come_back_and_a_frame_has_a_column_for_each_key() -> None:
    with session() as opened:
        asking: dict[str, Any] = {"groupby": ["sex", "town"], "keys": PAIRS, "epsilon": 9.0, "request": "crossed"}
        first = opened.mean("x", bounds=(0, 10), **asking)
        again = opened.mean("x", bounds=(0, 10), **asking)
        assert float(opened.balance.spent.epsilon) == 9.0
    assert isinstance(again, Groups)
    assert again.to_dict() == first.to_dict() == recalled_groups(json.loads(first.to_json())).to_dict()
    assert list(again) == PAIRS
    assert again["F", "a"].value == first["F", "a"].value
    frame = first.to_frame()
    assert list(frame.columns[:3]) == ["sex", "town", "name"]
    assert list(zip(frame["sex"], frame["town"], strict=True)) == PAIRS
    assert "\n  F, a  " in str(first)
    assert str(first).splitlines()[-1] == "  NOT FOR PUBLICATION: THE NOISE WAS SEEDED AND CAN BE SUBTRACTED"
    spoilt = first.to_dict()
    spoilt["groups"][0]["key"] = "F"
    with pytest.raises(BadInput, match="a column"):
        recalled_groups(spoilt)
    pytest.importorskip("matplotlib").use("Agg")
    assert [mark.get_text() for mark in first.plot().get_yticklabels()] == ["F, a", "F, b", "M, a", "M, b"]


def test_a_plan_crosses_columns(tmp_path: Path) -> None:
    from discreet.plan.bound_plan import bind
    from discreet.plan.plan_file import parse_plan
    from discreet.plan.run_plan import run_plan
    from discreet.report import page, to_csv

    lines = [f"{s or ''},{t or ''},{x}\n" for s, t, x in zip(SEX, TOWN, PEOPLE["x"], strict=True)]
    (tmp_path / "people.csv").write_text("sex,town,x\n" + "".join(lines))
    text = (
        'title = "t"\n[data]\nsource = "people.csv"\nrows = 1000\n[population]\nname = "p"\n'
        'ledger = "l.ledger"\nepsilon = 99\ndelta = 0.1\n[spend]\nepsilon = 60\ndelta = 1e-4\n'
        '[[release]]\nid = "a"\nstatistic = "count"\ngroupby = ["sex", "town"]\nkeys = [["F", "M"], ["a", "b"]]\n'
        '[[release]]\nid = "b"\nstatistic = "count"\ngroupby = ["sex", "town"]\nkeys = [{sex = "F", town = "b"}]\n'
        '[[release]]\nid = "c"\nstatistic = "count"\ngroupby = ["sex", "town"]\n'
        '[[release]]\nid = "d"\nstatistic = "count"\ngroupby = ["sex"]\nkeys = ["F"]\n'
    )
    bound = bind(parse_plan(text), text, tmp_path)
    assert bound.forecasts[0] is not None
    assert bound.forecasts[0]["rows"] == 250
    found = run_plan(bound, rng=Seeded(1))
    expected: list[list[Any]] = [PAIRS, PAIRS[1:2], PAIRS, ["F"]]
    for entry, keys in zip(found["releases"], expected, strict=True):
        assert sorted(group["key"] for group in entry["groups"]) == [
            list(one) if entry["id"] != "d" else one for one in keys
        ]
    assert [entry["by"] for entry in found["releases"]] == ["sex and town"] * 3 + ["sex"]
    assert abs(found["releases"][1]["groups"][0]["release"]["value"] - REAL["F", "b"]) < 5
    assert "F, a" in page(found)
    assert '"F, a"' in to_csv(found)


@pytest.mark.claim("asking.5")
@pytest.mark.parametrize("neighbours", BOTH)
def test_the_share_that_is_missing_is_told_of_each_group(neighbours: str) -> None:
    """2 of 10 in one group, none in the other, 5 of 10 among those in no group."""
    x = [math.nan if k < 2 else float(k) for k in range(10)] * 50 + [1.0, 2.0] * 250
    x += [math.nan, 1.0] * 500
    table = {"sex": ["F"] * 500 + ["M"] * 500 + ["X"] * 1000, "x": x}
    with session(table, neighbours) as opened:
        found = opened.mean("x", bounds=(0, 10), groupby="sex", keys=["F", "M"], epsilon=20.0)
        assert float(opened.balance.spent.epsilon) == 20.0
        assert "about 20% of the entries are missing" in found["F"].provenance.notes[0]
        assert "are missing, by a noisy count" not in str(found["M"])


@pytest.mark.claim("asking.5")
@pytest.mark.parametrize("relation", list(Neighbours))
def test_who_is_left_out_of_a_group_moves_one_count_of_one_group(relation: Neighbours) -> None:
    def requests(last: tuple[str, float] | None) -> list[Any]:
        rows = [("F", 1.0), ("M", 2.0), ("F", math.nan)] * 5 + ([] if last is None else [last])
        table = read({"sex": [sex for sex, _ in rows], "x": np.array([x for _, x in rows])})
        terms = Terms(groupby="sex", keys=["F", "M"])
        people = People.of(None, None, relation)
        question = asked(table, people, "mean", ("x",), {"epsilon": 1.0, "bounds": (0, 3)}, terms=terms)
        recorder = Recorder(Seeded(0))
        question.answer(table, recorder)
        whole = question.price.mechanism.loss
        for request, _ in recorder.log:
            cost: Any = getattr(request, "cost", None)
            assert cost in (whole, Laplace(alongside(whole)))  # no draw is more than the part of one person
        return [request for request, _ in recorder.log]

    without = requests(None)
    assert len(without) == 4  # an answer for each group, then a count of those left out of each
    for last, touched in (
        (("F", math.nan), 2),
        (("M", math.nan), 3),
        (("F", 2.0), 0),
        (("M", 2.0), 1),
        (("?", 2.0), -1),
    ):
        pairs = list(zip(without, requests(last), strict=True))
        assert [place for place, (a, b) in enumerate(pairs) if np.any(a.values != b.values)] == [touched][: touched + 1]
        assert all(a.objection(b) is None for a, b in pairs)


@pytest.mark.claim("grouping.1")
def test_people_in_two_groups_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted fault: whoever is in one group is in the next one as well, and costs twice what was paid."""

    def judged() -> list[str]:
        sides = []
        for more in ([], [("F", "a", 1.0)]):
            rows = [("F", "a", 1.0), ("M", "b", 2.0)] * 20 + more
            table = read({name: [row[place] for row in rows] for place, name in enumerate(("sex", "town", "x"))})
            terms = Terms(groupby=["sex", "town"], keys=PAIRS)
            people = People.of(None, None, Neighbours.ADD_OR_REMOVE)
            question = asked(table, people, "mean", ("x",), {"epsilon": 1.0, "bounds": (0, 3)}, terms=terms)
            sides.append(partial(question.answer, table))
        return compared(sides[0], sides[1], 1, paid=question.price.guarantee).objections

    assert judged() == []
    right = Grouping.members

    def wrong(*given: Any) -> Any:
        found = list(right(*given))
        return iter([found[0], np.sort(np.concatenate(found[:2])), *found[2:]])

    monkeypatch.setattr(Grouping, "members", wrong)
    assert judged()


@pytest.mark.claim("asking.3")
@pytest.mark.parametrize("neighbours", BOTH)
def test_finding_groups_and_answering_add_up_to_what_is_paid(neighbours: str) -> None:
    with session(neighbours=neighbours) as opened:
        price = opened.prepare("mean", "x", epsilon=8.0, delta=1e-6, groupby=["sex", "town"]).price
    found, answered = price.finder.guarantee, price.mechanism.guarantee
    assert found.epsilon + answered.epsilon == (4 if neighbours == "replace" else 8)
    assert found.delta + answered.delta <= 1e-6
    assert (price.guarantee.epsilon, price.guarantee.delta) == (8.0, 1e-6)
