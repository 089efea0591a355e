"""Analysts' parts of a budget: given, changed and ended by stewards, by page and by interface, and raced for."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.service.conftest import World, plan

from discreet.errors import BadInput, OverBudget
from discreet.ledger.account import Account
from discreet.privacy.loss import Laplace
from discreet.service import jobs


def part(world: World, name: str = "ann") -> Account:
    found = world.desk.part(world.source, name)
    assert found is not None
    return found


def change(world: World, epsilon: float, by: str = "sue", seen: str | None = None, name: str = "ann") -> None:
    seen = part(world, name).standing if seen is None else seen
    world.desk.parts.allot(world.source, name, epsilon, 1e-7, by=by, seen=seen)


def charge(world: World, epsilon: float, name: str = "ann") -> None:
    world.desk.ledger.charge("people", Laplace(epsilon), "x", analyst=name)


@pytest.mark.claim("allotments.1")
@pytest.mark.claim("account.6")
def test_a_part_is_raised_lowered_ended_and_given_again(world: World) -> None:
    charge(world, 0.5)
    change(world, 2.0)
    charge(world, 1.0)
    change(world, 1.5)
    assert (float(part(world).filter.left.epsilon), part(world).charges) == (0.0, 2)
    with pytest.raises(BadInput, match="give no less than was spent"):
        change(world, 1.4)
    with pytest.raises(BadInput, match="more than the whole"):
        change(world, 3.1)
    change(world, 2.5)
    world.desk.parts.end_part(world.source, "ann", by="sue", seen=part(world).standing)
    with pytest.raises(OverBudget, match="ended"):
        charge(world, 0.01)
    with pytest.raises(BadInput, match="give no less"):
        change(world, 1.0)
    change(world, 1.6)
    charge(world, 0.1)
    with pytest.raises(OverBudget):
        charge(world, 0.01)
    assert world.desk.ledger.balance("people").spent.epsilon == part(world).filter.spent.epsilon
    verdict = world.desk.ledger.verify()
    assert verdict.ok, verdict
    told = world.desk.parts.allotted(world.source, "ann")
    assert [one["told"].split(" and ")[0] for one in told][:2] == ["epsilon 1.6", "epsilon 2.5"]
    assert told[1]["told"].endswith("ended")
    assert {one["by"] for one in told} == {"sue"}


@pytest.mark.claim("allotments.1")
def test_nobody_decides_on_a_part_of_their_own(world: World) -> None:
    with pytest.raises(BadInput, match="another steward"):
        world.desk.parts.allot(world.source, "sue", 1.0, 0.0, by="sue")
    assert world.post("sue", "/people/sue/allot", source="people", epsilon="1", delta="0").status_code == 422
    assert world.desk.part(world.source, "sue") is None
    world.desk.parts.allot(world.source, "sue", 0.5, 0.0, by="sam")
    seen = part(world, "sue").standing
    with pytest.raises(BadInput, match="another steward"):
        world.desk.parts.end_part(world.source, "sue", by="sue", seen=seen)
    header = world.token("sue", "decide")
    for body in ({"epsilon": 3.0, "seen": seen}, {"epsilon": 3.0}):
        done = world.client().put("/api/v1/tables/people/parts/sue", json=body, headers=header)
        assert done.status_code == 422
    assert part(world, "sue").standing == seen


@pytest.mark.claim("store.3")
def test_two_stewards_at_once_make_one_change(world: World) -> None:
    seen = part(world).standing

    def decide(place: int) -> bool:
        try:
            change(world, 1.1 + place / 10, by=("sue", "sam")[place % 2], seen=seen)
        except BadInput as error:
            return "changed meanwhile" not in str(error)
        return True

    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(decide, range(8)))
    assert sum(done) == 1
    assert [entry.kind for entry in world.desk.ledger.lines(kind=("change",))] == ["change"]
    assert world.desk.ledger.verify().ok


@pytest.mark.claim("store.3")
def test_a_charge_and_a_change_at_once_never_overspend(world: World) -> None:
    """Whichever comes first: what is spent is never more than the part is."""
    for place in range(6):
        low = float(part(world).filter.spent.epsilon) + 0.05
        change(world, low + 0.1)
        seen = part(world).standing

        def lower(low: float = low, seen: str = seen) -> bool:
            return _done(lambda: change(world, low, seen=seen))

        def spend() -> bool:
            return _done(lambda: charge(world, 0.1))

        with ThreadPoolExecutor(2) as pool:
            futures = [pool.submit(one) for one in ((lower, spend) if place % 2 else (spend, lower))]
            assert [one.result() for one in futures].count(True) == 1
        account = part(world)
        assert account.filter.spent.epsilon <= account.filter.budget.epsilon
    assert world.desk.ledger.verify().ok


def _done(work: Any) -> bool:
    try:
        work()
    except (BadInput, OverBudget):
        return False
    return True


def test_an_approved_request_of_an_ended_part_is_not_charged(world: World) -> None:
    which = world.submit()
    world.desk.approve(which, world.person("sue"))
    world.desk.parts.end_part(world.source, "ann", by="sam", seen=part(world).standing)
    before = world.desk.ledger.balance("people").spent
    world.work()
    world.clock.now += 1000.0
    found = world.desk.requests.find(which)
    assert found is not None
    assert (found.state, found.said) == ("failed", jobs.SPENT)
    assert world.desk.ledger.balance("people").spent == before
    with pytest.raises(OverBudget, match="ended"):
        world.submit(text=plan(epsilon=0.2))


@pytest.mark.claim("verify.1")
def test_a_forged_change_is_found(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """By somebody with the key: what was spent is forgotten, or the whole budget is raised."""
    from dataclasses import replace

    from discreet.accounting.filter import Budget

    charge(world, 0.5)
    new = Account.opened(Budget(0.9), part(world).filter.total.currency, None, part(world).neighbours, "row")
    spent = replace(new.filter.total, cost=new.filter.total.cost * 0, delta=new.filter.total.delta * 0)
    assert not new.follows(part(world))
    assert not replace(new, filter=replace(new.filter, spent=spent)).follows(part(world))
    wide = replace(part(world), filter=replace(part(world).filter, total=world.desk.ledger.balance("people").total))
    assert not wide.follows(part(world)), "more than its budget comes to"
    assert part(world).changed(Budget(0.9, 1e-7)).follows(part(world))
    assert part(world).changed(None).follows(part(world))
    assert not replace(part(world).changed(None), charges=0).follows(part(world))
    monkeypatch.setattr(Account, "changed", lambda *_: replace(new, filter=replace(new.filter, spent=spent)))
    change(world, 0.9)
    found = world.desk.ledger.verify().problems
    assert "changes a budget as no steward may" in str(found[0])


def test_parts_are_changed_by_page_and_seen_by_analyst_and_auditor(world: World) -> None:
    seen = part(world).standing
    form = {"source": "people", "epsilon": "0.7", "delta": "0", "seen": seen}
    known = world.person("sue")
    world.desk.people.add("ada", "admin", known.salt, known.password, by=None, now=0.0)
    for name in ("ann", "bob", "aud", "ada"):
        assert world.post(name, "/people/ann/allot", **form).status_code == 403
        assert world.post(name, "/people/ann/end", source="people", seen=seen).status_code == 403
    assert world.post("sue", "/people/ann/allot", **form).status_code == 200
    assert "changed meanwhile" in world.post("sam", "/people/ann/allot", **form).text
    assert "epsilon 0.7, by sue" in world.signed_in("ann").get("/catalogue/people").text
    assert "ann may spend epsilon 0.7, by sue" in world.signed_in("aud").get("/ledger").text
    gone = {"source": "people", "seen": part(world).standing}
    assert world.post("sam", "/people/ann/end", **gone).status_code == 200
    for path in ("/catalogue", "/catalogue/people", "/ask/people"):
        assert "data steward has ended your part" in world.signed_in("ann").get(path).text, path
    assert "Ended" in world.signed_in("aud").get("/populations").text


def test_parts_are_changed_by_programs(world: World) -> None:
    client, path = world.client(), "/api/v1/tables/people/parts"
    for header in (world.token("ann", "ask"), world.token("aud", "audit"), world.token("sue", "ask")):
        seen = {"seen": part(world).standing}
        assert client.put(f"{path}/ann", json={"epsilon": 0.5}, headers=header).status_code == 403
        assert client.delete(f"{path}/ann", params=seen, headers=header).status_code == 403
    assert client.get(path, headers=world.token("ann", "ask")).status_code == 403
    decide, audit = world.token("sue", "decide"), world.token("aud", "audit")
    found = {one["analyst"]: one for one in client.get(path, headers=audit).json()}
    assert set(found) == {"ann", "bob"}
    body = {"epsilon": 0.4, "seen": found["ann"]["standing"]}
    assert client.put(f"{path}/ann", json=body, headers=decide).json()["epsilon"] == 0.4
    assert client.put(f"{path}/ann", json=body, headers=decide).status_code == 422
    assert client.put(f"{path}/ann", json={"epsilon": 0.5}, headers=decide).status_code == 422, (
        "a change names what it saw"
    )
    seen = {"seen": part(world).standing}
    assert client.delete(f"{path}/ann", params=seen, headers=decide).status_code == 204
    assert client.get("/api/v1/tables/people/balance", headers=world.token("ann", "ask")).json()["ended"] is True
