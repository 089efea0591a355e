"""What counts as an approval, what a rule allows, and which questions are equal."""

from typing import Any

import pytest
from tests.service.conftest import World, plan

from discreet.ledger.ledger_tables import REQUESTS
from discreet.ledger.service_requests import Request


def queued(world: World, which: str, entry: int) -> Request:
    """The request, as a writer of the database would put it into the queue with an entry that is there."""
    new = {"state": "queued", "entry": entry, "decided_by": "sue", "slot": world.clock() + 100.0}
    update = REQUESTS.update().where(REQUESTS.c.id == which).values(**new)
    world.desk.ledger.beside(lambda connection: connection.execute(update), writes=True)
    found = world.desk.requests.find(which)
    assert found is not None
    return found


def found(world: World, which: str) -> Request:
    request = world.desk.requests.find(which)
    assert request is not None
    return request


@pytest.mark.claim("service_requests.1")
def test_an_approval_of_an_earlier_request_is_none_of_this_one(world: World) -> None:
    """The same plan, asked again after it had no answer: it is approved anew, or not worked on."""
    first = world.submit()
    world.desk.approve(first, world.person("sue"))
    assert world.desk.requests.claim("x", world.clock()) is not None
    world.desk.requests.finish(first, answered=None, said=None)
    entry = found(world, first).entry
    assert entry is not None
    again = world.submit()
    assert (again != first, found(world, again).plan) == (True, found(world, first).plan)
    assert not world.desk.requests.approval(queued(world, again, entry))
    assert world.desk.requests.approval(found(world, first))


@pytest.mark.claim("service_requests.1")
def test_only_an_approval_approves(world: World) -> None:
    """Not an entry of another kind that names the plan, and not the asking by itself."""
    which = world.submit()
    request = found(world, which)
    about: dict[str, Any] = {"request": which, "plan": request.plan, "approves": request.plan}
    for event, by in (("decline", "sue"), ("ask", "sue"), ("approve", "ann"), ("publish", "sue")):
        entry = world.desk.ledger.record(event, "x", about, population="people", by=by, beside=lambda _, number: number)
        assert not world.desk.requests.approval(queued(world, which, entry)), event
    entry = world.desk.ledger.record(
        "approve", "x", about, population="people", by="sue", beside=lambda _, number: number
    )
    assert world.desk.requests.approval(queued(world, which, entry)), "or this test would show nothing"


def rule(world: World, by: str, epsilon: float = 0.2) -> None:
    world.desk.make_rule(world.source, world.person(by), ["age"], epsilon=epsilon, delta=0.0, days=7, analyst="")


@pytest.mark.claim("service_requests.1")
def test_a_rule_approves_nothing_of_whoever_made_it(world: World) -> None:
    world.desk.parts.allot(world.source, "sue", 0.5, 0.0, by="sam")
    rule(world, "sue")
    assert found(world, world.submit("sue")).state == "submitted"
    rule(world, "sam")
    assert found(world, world.submit("sue", plan(title="Again", epsilon=0.05))).state == "queued", "of another steward"


@pytest.mark.claim("service_requests.1")
def test_a_rule_counts_what_it_approved_in_all_of_its_days_and_every_delta(world: World) -> None:
    rule(world, "sue")
    assert found(world, world.submit(text=plan(title="1", epsilon=0.15))).state == "queued"
    for days, state in ((1.0, "submitted"), (5.0, "submitted"), (2.0, "queued")):
        world.clock.now += days * 86_400.0
        assert found(world, world.submit(text=plan(title=f"{days}", epsilon=0.1 + days / 1e3))).state == state, days
    text = plan(title="d", epsilon=0.01).replace("[[release]]", "delta = 1e-8\n[[release]]")
    assert found(world, world.submit(text=text)).state == "submitted", "the rule allows no delta"


def test_only_equal_questions_are_equal(world: World) -> None:
    """Whatever else an answer depends on makes it another question; its name and who asks do not."""

    def question(text: str, by: str = "ann") -> str:
        return world.desk.price(text, world.source, world.person(by)).question

    first = question(plan())
    assert question(plan(title="Another title")) == question(plan(), "bob") == first
    others = [
        plan(epsilon=0.2),
        plan().replace("[[release]]", "delta = 1e-8\n[[release]]"),
        plan(columns="weight"),
        plan(statistic="sum", more="options = { bounds = [0, 120] }"),
        plan(statistic="sum", more="options = { bounds = [0, 100] }"),
        plan(more="options = { bounds = [0, 120] }"),
        plan(more="options = { bounds = [0, 100] }"),
        plan(more='where = "age >= 18"'),
        plan(more='where = "age >= 19"'),
        plan(more='groupby = "sex"\nkeys = ["F", "M"]'),
        plan(more='groupby = "sex"\nkeys = ["F"]'),
        plan() + '\n[[release]]\nid = "b"\nstatistic = "count"',
    ]
    assert len({first, *map(question, others)}) == 1 + len(others)
    moved = world.source.model_copy(update={"data": world.source.data.model_copy(update={"rows": 2999})})
    assert world.desk.price(plan(), moved, world.person("ann")).question != first, "the table was declared anew"


def test_a_report_is_not_published_before_its_answer_leaves(world: World) -> None:
    """Else it would tell how long the answer took."""
    which = world.submit()
    world.desk.approve(which, world.person("sue"))
    world.work()
    assert world.post("sue", f"/requests/{which}/publish", shown="yes").status_code == 422
    assert world.desk.requests.published() == []
    world.clock.now += 1000.0
    assert world.post("sue", f"/requests/{which}/publish", shown="yes").status_code == 303
