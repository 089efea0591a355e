"""Attacks on analysts' parts of a budget: numbers that are none, races, rows left out or exchanged, ended parts."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from tests.service.conftest import World, plan, settings_for, world_in
from tests.service.test_allotments import change, charge, part

from discreet.errors import BadInput, LedgerFault, OverBudget
from discreet.ledger.ledger_tables import ACCOUNTS, ENTRIES
from discreet.privacy.loss import Laplace

NUMBERS = ("nan", "inf", "-inf", "-1", "0", "-0.0", "1e999", "1e-400", "3.0000000000000004", "", "1/2", "0x1", "0,5")
DELTAS = ("nan", "inf", "-1e-9", "1", "1e-5", "", "1e999")


def standing(world: World) -> list[Any]:
    """All that a refused change must leave as it was."""
    return [(name, who, account.to_text()) for name, who, account in world.desk.ledger.accounts()]


def raced(*works: Callable[[], Any]) -> list[Any]:
    """What each of them gives, None where it is refused, all at once."""

    def done(work: Callable[[], Any]) -> Any:
        try:
            return work() or True
        except (BadInput, OverBudget):
            return None

    with ThreadPoolExecutor(len(works)) as pool:
        return list(pool.map(done, works))


def test_numbers_that_are_no_budget_are_refused_on_every_way(world: World) -> None:
    before, entries = standing(world), len(world.desk.ledger.lines(most=1000))
    seen, header = part(world).standing, world.token("sue", "decide")
    entries += 1  # the token
    sent = [(text, "0") for text in NUMBERS] + [("0.5", text) for text in DELTAS]
    for epsilon, delta in sent:
        form = {"epsilon": epsilon, "delta": delta}
        new = {"source": "people", **form}
        for path, data in (
            ("/people/ann/allot", new | {"seen": seen}),
            ("/people/sam/allot", new),
            ("/populations/allot", {"population": "people", "analyst": "sam", **form}),
        ):
            assert world.post("sue", path, **data).status_code == 422, (path, form)
        for who, more in (("ann", {"seen": seen}), ("sam", {})):
            body: dict[str, Any] = {"epsilon": epsilon, "delta": delta, **more}
            try:
                body |= {"epsilon": float(epsilon), "delta": float(delta)}
                answer = world.client().put(f"/api/v1/tables/people/parts/{who}", json=body, headers=header)
            except ValueError:  # not to be written as JSON, or no number at all: as it is, then
                text = f'{{"epsilon": {epsilon or "null"}, "delta": {delta or "null"}}}'
                sending = header | {"content-type": "application/json"}
                answer = world.client().put(f"/api/v1/tables/people/parts/{who}", content=text, headers=sending)
            assert answer.status_code == 422, (who, body)
    assert standing(world) == before
    assert len(world.desk.ledger.lines(most=1000)) == entries, "a refusal is no entry"


def test_a_part_is_what_its_decimal_says_to_the_last_digit(world: World) -> None:
    """0.1 and 0.2 make 0.3 exactly: no more can be charged, and no less can be given."""
    change(world, 0.3)
    charge(world, 0.1)
    charge(world, 0.2)
    assert part(world).filter.left.epsilon == 0
    with pytest.raises(OverBudget):
        world.desk.ledger.charge("people", Laplace(Fraction(1, 10**18)), "x", analyst="ann")
    with pytest.raises(BadInput, match="give no less"):
        change(world, 0.29999999999999993)
    change(world, 0.3)
    change(world, 3.0)
    assert part(world).filter.spent.epsilon == Fraction(3, 10)


def test_parts_that_add_up_to_more_than_the_whole_spend_the_whole_once(world: World) -> None:
    for name in ("ann", "bob"):
        change(world, 3.0, name=name)
    done = raced(*(lambda name=name: charge(world, 0.25, name) for name in ("ann", "bob") * 10))
    assert sum(one is not None for one in done) == 12
    assert world.desk.ledger.balance("people").left.epsilon == 0
    spent = [part(world, name).filter.spent.epsilon for name in ("ann", "bob")]
    assert sum(spent) == 3
    for name in ("ann", "bob"):
        with pytest.raises(OverBudget):
            charge(world, 1e-9, name)
    assert world.desk.ledger.verify().ok


def test_an_analyst_is_charged_to_nobody_elses_part(world: World) -> None:
    """By the plan, by a token of another, by a name that looks alike."""
    bob = part(world, "bob").filter
    world.answered(world.submit("ann", plan(epsilon=0.9)))
    assert part(world, "bob").filter == bob
    for text in (
        plan(),
        f'{plan()}\n[population]\nanalyst = "bob"',
        plan().replace("[spend]", 'analyst = "bob"\n[spend]'),
    ):
        with pytest.raises((OverBudget, BadInput)):
            world.submit("ann", text.replace("0.1", "0.2"))
    header = world.token("ann", "ask")
    body = {"table": "people", "plan": plan(epsilon=0.5), "analyst": "bob"}
    assert world.client().post("/api/v1/requests", json=body, headers=header).status_code == 422, "no such field"
    del body["analyst"]
    assert world.client().post("/api/v1/requests", json=body, headers=header).status_code == 409
    for name in ("Bob", "bоb", "bob ", "bob\u200b", "BOB", "bob."):  # the second has a Cyrillic letter
        with pytest.raises(BadInput):
            world.desk.parts.allot(world.source, name, 0.5, 0.0, by="sue")
    assert part(world, "bob").filter == bob
    assert {who for _, who, _ in world.desk.ledger.accounts()} == {"", "ann", "bob"}


def test_an_ended_part_is_given_again_as_a_change_and_not_by_the_way(world: World) -> None:
    """To allot the same part again without saying that it has ended changes nothing, and says so."""
    seen, header = part(world).standing, world.token("sue", "decide")
    world.desk.parts.end_part(world.source, "ann", by="sue", seen=seen)
    for epsilon in (1.0, 0.5):
        with pytest.raises(BadInput, match="has a budget on other terms"):
            world.desk.parts.allot(world.source, "ann", epsilon, 1e-7, by="sam")
    body = {"epsilon": 1.0, "delta": 1e-7}
    assert world.client().put("/api/v1/tables/people/parts/ann", json=body, headers=header).status_code == 422
    with pytest.raises(BadInput, match="changed meanwhile"):
        change(world, 2.0, seen=seen)
    for _ in range(2):  # to end it again is an entry, and nothing else
        world.desk.parts.end_part(world.source, "ann", by="sue", seen=part(world).standing)
    assert part(world).ended
    change(world, 1.0, by="sam")
    charge(world, 1.0)
    with pytest.raises(OverBudget):
        charge(world, 1e-9)
    assert world.desk.ledger.verify().ok


def test_to_end_a_part_and_to_charge_it_at_once_is_one_after_the_other(world: World) -> None:
    for place in range(5):
        change(world, float(part(world).filter.spent.epsilon) + 0.1)
        seen, before = part(world).standing, part(world).charges

        def end(seen: str = seen) -> None:
            world.desk.parts.end_part(world.source, "ann", by="sue", seen=seen)

        ended, charged = raced(end, lambda: charge(world, 0.1))
        assert ended is not None, "a charge changes no standing"
        assert part(world).charges == before + (charged is not None)
        with pytest.raises(OverBudget):
            charge(world, 0.1)
        assert (place, part(world).ended) == (place, True)
    assert world.desk.ledger.verify().ok


def test_two_stewards_who_give_a_first_part_at_once_give_one(world: World) -> None:
    def give(by: str, epsilon: float) -> Callable[[], Any]:
        return lambda: world.desk.parts.allot(world.source, "sam", epsilon, 0.0, by=by)

    world.desk.accounts.enrol("ada", "steward", by=None)
    done = raced(*(give(by, epsilon) for by in ("sue", "ada") for epsilon in (0.2, 0.3)))
    assert any(done)
    assert [entry.analyst for entry in world.desk.ledger.lines(kind=("allot",))].count("sam") == 1
    assert float(part(world, "sam").filter.budget.epsilon) in (0.2, 0.3)
    assert world.desk.ledger.verify().ok


def write(world: World, statement: Any) -> None:
    world.desk.ledger.beside(lambda connection: connection.execute(statement), writes=True)


def row(world: World, name: str) -> Any:
    query = sa.select(ACCOUNTS).where(ACCOUNTS.c.analyst == name)
    return world.desk.ledger.beside(lambda connection: connection.execute(query).one())


@pytest.mark.parametrize(
    "how", ["left out", "put back", "exchanged", "renamed", "change left out", "allotment left out"]
)
def test_a_row_of_a_part_that_is_left_out_or_exchanged_stops_the_ledger(world: World, how: str) -> None:
    """By somebody who can write the database, without the key: nothing is charged to anybody, and it is found."""
    old = row(world, "ann")
    change(world, 0.2)
    change(world, 2.5, name="bob")
    charge(world, 0.15)
    mine = ACCOUNTS.c.analyst == "ann"
    if how == "left out":
        write(world, ACCOUNTS.delete().where(mine))
    if how == "put back":
        write(world, ACCOUNTS.update().where(mine).values(state=old.state, signature=old.signature))
    if how == "exchanged":
        bob = row(world, "bob")
        write(world, ACCOUNTS.update().where(mine).values(state=bob.state, signature=bob.signature))
    if how == "renamed":
        write(world, ACCOUNTS.delete().where(mine))
        write(world, ACCOUNTS.update().where(ACCOUNTS.c.analyst == "bob").values(analyst="ann"))
    if how.endswith("left out") and how != "left out":
        kind = how.partition(" ")[0].replace("allotment", "allot")
        write(world, ENTRIES.delete().where(ENTRIES.c.kind == kind, ENTRIES.c.analyst == "ann"))
    else:
        for name in ("ann", "bob"):
            with pytest.raises((LedgerFault, BadInput)):
                charge(world, 0.04, name)
    verdict = world.desk.ledger.verify()
    assert not verdict.ok
    assert verdict.problems


def test_parts_of_a_budget_counted_otherwise_are_refused_in_words_or_hold(tmp_path: Path) -> None:
    for counted in ("zcdp", "gdp"):
        folder = tmp_path / counted
        folder.mkdir()
        source = settings_for(folder).source[0].model_dump(exclude_none=True)
        source["population"] |= {"accounting": counted}
        del source["population"]["ledger"]
        for world in world_in(folder, source=[source]):
            with pytest.raises(BadInput):
                world.desk.parts.allot(world.source, "sam", 0.5, 0.0, by="sue")
            with pytest.raises(BadInput, match="more than the whole"):
                world.desk.parts.allot(world.source, "sam", 0.5, 1e-5, by="sue")
            world.desk.parts.allot(world.source, "sam", 0.5, 1e-7, by="sue")
            with pytest.raises(OverBudget, match="of what sam may spend"):
                charge(world, 0.3, "sam")
            charge(world, 0.01, "sam")
            with pytest.raises(BadInput):
                change(world, 1e-6, name="sam")
            change(world, 0.4, name="sam")
            assert part(world, "sam").charges == 1
            assert world.desk.ledger.verify().ok
