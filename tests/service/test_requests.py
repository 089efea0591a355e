"""From a question to its answer: price, approval, charge, the tick, and what happens when a process is gone."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import sqlalchemy as sa
from tests.service.conftest import World, plan

from discreet.errors import BadInput, DiscreetError
from discreet.ledger.ledger_tables import REQUESTS
from discreet.ledger.service_requests import GRACE, Pace
from discreet.service import jobs
from discreet.service.desk import NO_ANSWER


def spent(world: World) -> float:
    return float(world.desk.ledger.balance("people").spent.cost)


def test_a_question_is_priced_approved_and_answered(world: World) -> None:
    which = world.submit()
    assert world.desk.state_of(world.desk.requests.find(which))["state"] == "submitted"  # type: ignore[arg-type]
    assert world.work() == 0, "nothing is run before it is approved"
    assert spent(world) == 0
    world.answered(which)
    request = world.desk.requests.find(which)
    assert request is not None
    report = world.desk.report(request)
    assert report is not None
    assert report["releases"][0]["statistic"] == "mean"
    assert spent(world) == pytest.approx(0.1)
    assert world.desk.ledger.verify().ok


@pytest.mark.claim("desk.1")
def test_answers_leave_at_the_tick_and_not_before(world: World) -> None:
    which = world.submit()
    approved = world.desk.approve(which, world.person("sue"))
    assert approved.due is not None
    assert approved.due % 10.0 == 0
    assert approved.due >= world.clock.now + 30.0
    world.work()
    done = world.desk.requests.find(which)
    assert done is not None
    assert (done.state, done.due) == ("done", approved.due)
    assert world.desk.state_of(done)["state"] == "approved"
    assert world.desk.report(done) is None
    world.clock.now = approved.due
    assert world.desk.state_of(done)["state"] == "done"
    assert world.desk.report(done) is not None


@pytest.mark.claim("service_requests.3")
def test_when_an_answer_leaves_depends_on_approvals_alone() -> None:
    pace = Pace(limit=30.0, tick=10.0, workers=2)
    first, due = pace.leave(1000.0, [])
    assert first == 1030.0 + GRACE
    assert due == 1040.0
    second, _ = pace.leave(1001.0, [first])
    assert second == first + 1.0, "the second worker is free"
    third, _ = pace.leave(1002.0, [first, second])
    assert third == first + 30.0 + GRACE, "whenever the first was really done, it counts as busy until its end"


@pytest.mark.claim("service_requests.1")
def test_nobody_approves_their_own_request_or_one_twice(world: World) -> None:
    world.desk.parts.allot(world.source, "sue", 0.5, 0.0, by="sam")
    own = world.submit("sue")
    with pytest.raises(BadInput, match="of their own"):
        world.desk.approve(own, world.person("sue"))
    world.desk.approve(own, world.person("sam"))
    with pytest.raises(BadInput, match="decided already"):
        world.desk.approve(own, world.person("sam"))


@pytest.mark.claim("service_requests.1")
@pytest.mark.claim("jobs.1")
def test_an_approval_without_the_ledgers_key_is_not_worked_on(world: World) -> None:
    """Somebody who can write the tables, but has no key, approves a request of theirs."""
    which = world.submit()
    forged = REQUESTS.update().where(REQUESTS.c.id == which).values(state="queued", entry=3, due=0.0, slot=1e12)
    world.desk.ledger.beside(lambda connection: connection.execute(forged), writes=True)
    world.work()
    request = world.desk.requests.find(which)
    assert request is not None
    assert (request.state, request.said) == ("failed", jobs.UNSIGNED)
    assert spent(world) == 0


@pytest.mark.claim("jobs.1")
def test_a_plan_that_was_changed_after_its_approval_is_not_run(world: World) -> None:
    which = world.submit()
    world.desk.approve(which, world.person("sue"))
    changed = REQUESTS.update().where(REQUESTS.c.id == which).values(text=plan(epsilon=0.9))
    world.desk.ledger.beside(lambda connection: connection.execute(changed), writes=True)
    world.work()
    request = world.desk.requests.find(which)
    assert request is not None
    assert request.said == jobs.MOVED
    assert spent(world) == 0


@pytest.mark.claim("service_requests.2")
def test_equal_questions_get_the_stored_answer_for_nothing(world: World) -> None:
    first = world.submit("ann")
    world.answered(first)
    before = spent(world)
    assert world.submit("ann", plan(title="The same, under another title")) == first
    second = world.submit("bob")
    world.answered(second)
    assert spent(world) == before
    one, two = (world.desk.requests.find(which) for which in (first, second))
    assert one is not None
    assert two is not None
    assert world.desk.report(two) == world.desk.report(one)


@pytest.mark.claim("service_requests.2")
def test_equal_questions_are_not_worked_on_at_once(world: World) -> None:
    for name in ("ann", "bob"):
        world.desk.approve(world.submit(name), world.person("sue"))
    first = world.desk.requests.claim("one", world.clock())
    assert first is not None
    assert world.desk.requests.claim("two", world.clock()) is None
    jobs.work_off(world.desk, first)
    assert world.desk.requests.claim("two", world.clock()) is not None


def test_two_stewards_at_once_make_one_approval(world: World) -> None:
    which = world.submit()
    together = threading.Barrier(2)

    def approve(name: str) -> bool:
        together.wait()
        try:
            world.desk.approve(which, world.person(name))
        except BadInput:
            return False
        return True

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(approve, ("sue", "sam"))) == [False, True]
    approvals = [entry for entry in world.desk.ledger.lines() if entry.kind == "event" and "approves" in entry.plain]
    assert len(approvals) == 1


def test_rules_approve_what_they_allow_and_no_more(world: World) -> None:
    steward = world.person("sue")
    world.desk.make_rule(world.source, steward, ["age"], epsilon=0.25, delta=0.0, days=7, analyst="")
    states = []
    for number in range(3):
        which = world.submit("ann", plan(title=f"{number}", more=f'where = "age >= {number}"'))
        request = world.desk.requests.find(which)
        assert request is not None
        states.append(request.state)
    assert states == ["queued", "queued", "submitted"], "0.1 three times is more than 0.25"
    other = world.desk.requests.find(world.submit("bob", plan(columns="weight")))
    mixed = world.desk.requests.find(world.submit("bob", plan(more="where = \"sex == 'F'\"")))
    assert other is not None
    assert mixed is not None
    assert (other.state, mixed.state) == ("submitted", "submitted"), "columns of conditions count too"
    world.clock.now += 8 * 86_400.0
    later = world.desk.requests.find(world.submit("ann", plan(title="later", more='where = "age >= 50"')))
    assert later is not None
    assert later.state == "queued"


def test_the_last_of_the_budget_goes_to_one_of_many(world: World) -> None:
    """32 analysts race for the last 0.1: the ledger decides, and nothing is overspent."""
    world.desk.ledger.charge("people", _loss(2.9), "before")
    for place in range(32):
        name = f"racer{place:02d}"
        world.desk.people.add(name, "analyst", "00", "00", by=None, now=0.0)
        world.desk.ledger.allot("people", name, _budget(0.2))
        text = plan(title=name, statistic="count", columns="", more=f'where = "age >= {place}"')
        world.desk.approve(world.submit(name, text), world.person("sue"))
    claimed = []
    while (request := world.desk.requests.claim("x", world.clock())) is not None:
        claimed.append(request)
    assert len(claimed) == 32
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda request: jobs.work_off(world.desk, request), claimed))
    ended = [world.desk.requests.find(request.id) for request in claimed]
    assert sorted(one.state for one in ended if one is not None) == ["done"] + ["failed"] * 31
    assert {one.said for one in ended if one is not None and one.state == "failed"} == {jobs.SPENT}
    assert spent(world) == pytest.approx(3.0)
    assert world.desk.ledger.verify().ok


def _loss(epsilon: float) -> Any:
    from discreet.privacy.loss import Laplace

    return Laplace(epsilon)


def _budget(epsilon: float) -> Any:
    from discreet.accounting.filter import Budget

    return Budget(epsilon)


@pytest.mark.claim("jobs.2")
def test_a_worker_that_is_gone_after_the_charge_costs_nothing_more(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    which = world.submit()
    world.desk.approve(which, world.person("sue"))
    request = world.desk.requests.claim("gone", world.clock())
    assert request is not None

    class Killed(BaseException):
        """As kill -9 would."""

    def killed(*_: object) -> None:
        raise Killed

    monkeypatch.setattr("discreet.ledger.store.Ledger.store", killed)
    with pytest.raises(Killed):
        jobs.work_off(world.desk, request)
    monkeypatch.undo()
    charged = spent(world)
    assert charged == pytest.approx(0.1)
    world.desk.requests.again("gone")
    assert world.work() == 1
    assert spent(world) == charged
    world.clock.now += 1000.0
    assert world.desk.report(world.desk.requests.find(which)) is not None  # type: ignore[arg-type]


@pytest.mark.claim("jobs.3")
def test_what_goes_wrong_after_the_charge_has_one_sentence(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    which = world.submit()
    world.desk.approve(which, world.person("sue"))

    def broken(*_: object, **__: object) -> None:
        raise ValueError("a value of the data: 42")

    monkeypatch.setattr("discreet.plan.run_plan._answered", broken)
    world.work()
    world.clock.now += 1000.0
    request = world.desk.requests.find(which)
    assert request is not None
    assert world.desk.state_of(request)["said"] == NO_ANSWER
    assert spent(world) == pytest.approx(0.1), "there is no refund"


def test_a_worker_that_ends_again_and_again_is_given_up(world: World) -> None:
    which = world.submit()
    world.desk.approve(which, world.person("sue"))
    for _ in range(3):
        assert world.desk.requests.claim("w", world.clock()) is not None
        world.desk.requests.again()
    assert world.desk.requests.claim("w", world.clock()) is None
    request = world.desk.requests.find(which)
    assert request is not None
    assert request.state == "failed"


MORE = (
    plan() + '\n[data]\nsource = "/etc/passwd"\n',
    plan() + '\n[population]\nname = "others"\nledger = "mine.ledger"\n',
    plan() + '\n[tables]\nvisits = "/etc/passwd"\n',
    plan() + '\n[features]\nold = "any(age > 80)"\n',
    'population = {name="x", ledger="y", analyst="bob"}\n' + plan(),
    plan() + "\nx = 1\n",
    plan(columns="../../etc/passwd"),
    plan(statistic="fit"),
    plan(epsilon=-1),
    "title = 1",
    "\x00",
    "[" * 10_000,
    plan(more="where = \"__import__('os').system('true')\""),
    plan(columns="age'; DROP TABLE discreet_requests; --"),
    plan() + "\n" * 70_000,
)


def test_a_plan_that_says_more_than_questions_is_refused(world: World) -> None:
    for text in MORE:
        with pytest.raises(DiscreetError):
            world.submit("ann", text)
    assert world.desk.requests.listed({}) == []


def test_service_tables_hold_no_secret_in_clear(world: World) -> None:
    from tests.service.conftest import PASSWORD

    from discreet.ledger.ledger_tables import SERVICE

    world.signed_in("ann")
    token = world.token("ann", "ask")["authorization"].split()[1]
    cookie = next(iter(world.clients["ann"].cookies.values()))

    def rows(connection: sa.Connection) -> str:
        return repr([list(connection.execute(sa.select(table))) for table in SERVICE])

    every = world.desk.ledger.beside(rows)
    for secret in (PASSWORD, token, cookie):
        assert secret not in every


@pytest.mark.claim("service_requests.3")
def test_an_equal_question_leaves_after_the_one_it_waits_for(world: World) -> None:
    """With two workers the second would begin when the first is done, and that time is not public."""
    pace = Pace(limit=30.0, tick=10.0, workers=2)
    first, _ = pace.leave(1000.0, [])
    second, _ = pace.leave(1001.0, [first], [first])
    assert second == first + GRACE + 30.0
    requests = [world.submit(name) for name in ("ann", "bob")]
    one, two = (world.desk.approve(which, world.person("sue")) for which in requests)
    assert two.slot == pytest.approx((one.slot or 0.0) + GRACE + world.desk.pace.limit)


@pytest.mark.claim("service_requests.3")
def test_how_long_others_took_moves_no_answer(world: World) -> None:
    which = world.submit()
    approved = world.desk.approve(which, world.person("sue"))
    world.clock.now = (approved.slot or 0.0) - 5.0  # the worker was busy with somebody else's for all this time
    claimed = world.desk.requests.claim("w", world.clock())
    assert claimed is not None
    assert (claimed.slot, claimed.due) == (approved.slot, approved.due)
    world.desk.requests.again("w")
    world.clock.now = approved.slot or 0.0
    assert world.desk.requests.claim("w", world.clock()) is None, "its time is over"
    world.clock.now = approved.due or 0.0
    ended = world.desk.requests.find(which)
    assert ended is not None
    assert world.desk.state_of(ended)["said"] == NO_ANSWER


@pytest.mark.claim("service_requests.3")
def test_a_restart_moves_finished_and_unfinished_answers_alike(world: World) -> None:
    which = [world.submit("ann"), world.submit("bob", plan(columns="weight"))]
    for one in which:
        world.desk.approve(one, world.person("sue"))
    first = world.desk.requests.claim("w", world.clock())
    assert first is not None
    jobs.work_off(world.desk, first)
    before = [world.desk.requests.find(one) for one in which]
    world.clock.now += 7.0
    world.desk.requests.resume(world.clock())
    after = [world.desk.requests.find(one) for one in which]
    moved = [new.slot - old.slot for new, old in zip(after, before, strict=True)]  # type: ignore[union-attr, operator]
    assert moved == pytest.approx([7.0, 7.0])


@pytest.mark.claim("jobs.3")
def test_whether_something_was_charged_is_asked_of_the_ledger(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def told(where: str, error: Exception, title: str) -> tuple[str | None, float]:
        def broken(*_: object, **__: object) -> None:
            raise error

        which = world.submit("ann", plan(title=title, epsilon=0.1, columns="age" if "1" in title else "weight"))
        world.desk.approve(which, world.person("sue"))
        before = spent(world)
        monkeypatch.setattr(where, broken)
        world.work()
        monkeypatch.undo()
        found = world.desk.requests.find(which)
        assert found is not None
        return found.said, spent(world) - before

    early = told("discreet.ledger.store.Ledger.charge", OSError("a disk"), "early 1")
    assert early == (jobs.BROKEN, 0.0), "an unforeseen error before the charge says that nothing was charged"
    late = told("discreet.ledger.store.Ledger.store", BadInput("an answer too long"), "late")
    assert late[0] is None, "an error of a kind that is usual before the charge, after it"
    assert late[1] == pytest.approx(0.1)


@pytest.mark.claim("service_requests.1")
def test_a_rule_of_a_steward_whose_account_is_closed_approves_nothing(world: World) -> None:
    terms = {"epsilon": 0.5, "delta": 0.0, "days": 7.0}
    world.desk.make_rule(world.source, world.person("sue"), ["age"], analyst="", **terms)
    assert world.desk.requests.find(world.submit("ann")).state == "queued"  # type: ignore[union-attr]
    world.desk.people.change("sue", "may no longer sign in", {"active": False}, by="sam")
    assert world.desk.requests.find(world.submit("bob")).state == "submitted"  # type: ignore[union-attr]


def test_one_server_works_on_a_ledger(world: World) -> None:
    from discreet.ledger.serving_lock import serving_alone

    where = world.desk.where
    with serving_alone(where), pytest.raises(BadInput, match="another server"), serving_alone(where):
        pass
    with serving_alone(where):
        world.submit()
