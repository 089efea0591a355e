"""What was asked through the service, by whom, and what became of it; and the queue that workers take from.

Claims
    [service_requests.1] A request is approved once, by somebody else than who asked, or by a rule whose allowance it
          fits: the change of state and the signed entry that says so are one transaction. Nobody writes an approval
          without the ledger's key: `approval` reads it from the chain, never from the table.
    [service_requests.2] A request is taken by one worker at a time, and equal questions one after the other, so that
          the second finds the answer of the first.
    [service_requests.3] When an answer leaves is decided from public times alone: those of approvals, of the server's
          start, and the longest that an answer may take. What is not finished by then has ended without an answer.
    [service_requests.4] A stored answer that is given instead of a new one is that of a request about the same table
          which has left already, and is never taken for an answer to the question that was asked.
"""

import json
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import sqlalchemy as sa

from discreet.errors import BadInput
from discreet.ledger.ledger_tables import ENTRIES, PEOPLE, REQUESTS, RULES
from discreet.ledger.store import Ledger

TRIES: Final = 3  # a request that ends its worker so often is not tried again
GRACE: Final = 2.0  # seconds until a worker has noticed that there is something to do
SETTLE: Final = 1.0  # seconds until what became of it is written down
DAY: Final = 86_400.0
GONE: Final = "this request was decided already, or is not there; look at the inbox again"


@dataclass(frozen=True, slots=True)
class Request:
    """A row of the table; `state` is submitted, declined, withdrawn, queued, running, done or failed."""

    id: str
    analyst: str
    source: str
    title: str
    text: str
    plan: str
    question: str
    columns: str
    foreseen: str
    epsilon: float
    delta: float
    state: str
    made: float
    decided: float | None
    decided_by: str | None
    rule: str | None
    reason: str | None
    entry: int | None
    due: float | None
    slot: float | None
    began: float | None
    worker: str | None
    tries: int
    said: str | None
    answered: str | None
    published: float | None

    @property
    def ahead(self) -> dict[str, Any]:
        """The price and the forecast, as they were shown."""
        return dict(json.loads(self.foreseen))

    @property
    def offered(self) -> bool:
        """Whether a stored answer to another question was given instead. [service_requests.4]"""
        return self.state == "declined" and self.answered is not None

    def out(self, now: float) -> bool:
        """Whether what became of it may be seen. [service_requests.3]"""
        return self.state in ("done", "failed") and self.due is not None and now >= self.due


@dataclass(frozen=True, slots=True)
class Rule:
    """What is approved without asking: so much epsilon and delta in so many days, on these columns."""

    id: str
    source: str
    analyst: str | None
    columns: str
    epsilon: float
    delta: float
    days: float
    made_by: str
    made: float
    active: bool

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(json.loads(self.columns))


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How long an answer may take, how often answers leave, and how many are worked on at once. All public."""

    limit: float
    tick: float
    workers: int

    def leave(self, approved: float, busy: Sequence[float], equal: Sequence[float] = ()) -> tuple[float, float]:
        """Until when a worker may be busy with a request, and when its answer leaves. [service_requests.3]

        `busy` holds the same times of earlier requests, and `equal` those with the same question, which it waits for
        ([service_requests.2]). Every request counts as taking as long as it may, so that how long it did take is seen
        by nobody.
        """
        ends = sorted((end for end in busy if end > approved), reverse=True)[: self.workers]
        free = ends[-1] if len(ends) >= self.workers else approved
        end = max(approved, free, *equal) + GRACE + self.limit
        return end, math.ceil((end + SETTLE) / self.tick) * self.tick


class RequestStore:
    """Requests and rules in the ledger's database."""

    def __init__(self, ledger: Ledger, pace: Pace) -> None:
        self._ledger, self._pace = ledger, pace

    def submit(self, request: Request, *, population: str, now: float, rules: bool = True) -> Request:
        """A new request; approved at once if a rule allows it, and rules may decide it. [service_requests.1]"""
        row = {name: getattr(request, name) for name in Request.__slots__}

        def kept(connection: sa.Connection, _: int) -> Request:
            connection.execute(REQUESTS.insert().values(**row))
            return _one(connection, request.id)

        def ruled(connection: sa.Connection, entry: int) -> Request:
            rule = _allowing(connection, request, now)
            if rule is None:
                raise _RuleSpent  # by another request, in between
            connection.execute(REQUESTS.insert().values(**row))
            return self._approve(connection, request, by=rule.made_by, entry=entry, now=now, rule=rule.id)

        told: dict[str, Any] = {"population": population, "by": request.analyst}
        if rules and self._ledger.beside(lambda connection: _allowing(connection, request, now)) is not None:
            note, about = f"asked, and approved by a rule: {request.title}", _about(request)
            with suppress(_RuleSpent):
                return self._ledger.record("ask", note, about | {"approves": request.plan}, beside=ruled, **told)
        return self._ledger.record("ask", f"asked: {request.title}", _about(request), beside=kept, **told)

    def approve(self, which: str, steward: str, *, population: str, now: float) -> Request:
        """A steward's yes, which signs the plan's digest. [service_requests.1]"""
        request = self.find(which)
        if request is None or request.state != "submitted":
            raise BadInput(GONE)
        if request.analyst == steward:
            raise BadInput("nobody approves a request of their own; ask another steward")

        def work(connection: sa.Connection, entry: int) -> Request:
            return self._approve(connection, request, by=steward, entry=entry, now=now, rule=None)

        about = _about(request) | {"approves": request.plan}
        return self._ledger.record(
            "approve", f"approved: {request.title}", about, population=population, by=steward, beside=work
        )

    def _approve(
        self, connection: sa.Connection, request: Request, *, by: str, entry: int, now: float, rule: str | None
    ) -> Request:
        slots = connection.execute(sa.select(REQUESTS.c.slot, REQUESTS.c.question).where(REQUESTS.c.slot > now)).all()
        equal = [float(row.slot) for row in slots if row.question == request.question]
        slot, due = self._pace.leave(now, [float(row.slot) for row in slots], equal)
        here = (REQUESTS.c.id == request.id) & (REQUESTS.c.state == "submitted")
        new = {"state": "queued", "decided": now, "decided_by": by, "rule": rule, "entry": entry, "slot": slot}
        if connection.execute(REQUESTS.update().where(here).values(due=due, **new)).rowcount != 1:
            raise BadInput(GONE)
        return _one(connection, request.id)

    def decline(self, which: str, steward: str, reason: str, *, population: str, now: float) -> Request:
        """A steward's no, with a reason; or the analyst's own, who withdraws it."""
        request = self.find(which)
        if request is None or request.state != "submitted":
            raise BadInput(GONE)
        state = "withdrawn" if request.analyst == steward else "declined"

        def work(connection: sa.Connection, _: int) -> Request:
            here = (REQUESTS.c.id == which) & (REQUESTS.c.state == "submitted")
            new = {"state": state, "decided": now, "decided_by": steward, "reason": reason}
            if connection.execute(REQUESTS.update().where(here).values(**new)).rowcount != 1:
                raise BadInput(GONE)
            return _one(connection, which)

        note = f"{state}: {request.title}"
        about = _about(request) | {"reason": reason}
        return self._ledger.record("decline", note, about, population=population, by=steward, beside=work)

    def offer(self, which: str, stored: Request, steward: str, *, population: str, now: float) -> Request:
        """The stored answer to a similar question instead of a new one: nothing is charged. [service_requests.4]"""
        request = self.find(which)
        if request is None or request.state != "submitted":
            raise BadInput(GONE)
        if request.analyst == steward:
            raise BadInput("nobody decides on a request of their own; ask another steward")
        if stored.source != request.source or stored.state != "done" or not stored.out(now):
            raise BadInput("that request has no answer about this table that has left yet; choose another")
        # declined, not done: whoever asks the same question later is not given this answer [service_requests.4]
        new = {"state": "declined", "decided": now, "decided_by": steward, "reason": stored.title}

        def work(connection: sa.Connection, _: int) -> Request:
            here = (REQUESTS.c.id == which) & (REQUESTS.c.state == "submitted")
            if connection.execute(REQUESTS.update().where(here).values(answered=stored.answered, **new)).rowcount != 1:
                raise BadInput(GONE)
            return _one(connection, which)

        note, about = f"stored answer given: {request.title}", _about(request) | {"stored": stored.id}
        return self._ledger.record("offer", note, about, population=population, by=steward, beside=work)

    def approval(self, request: Request) -> bool:
        """Whether a signed entry approves this very plan. [service_requests.1]"""
        entry = None if request.entry is None else self._ledger.entry(request.entry)
        if entry is None or entry.kind != "event":
            return False
        said = entry.plain
        if (said.get("approves"), said.get("request")) != (request.plan, request.id):
            return False
        own = entry.analyst == request.analyst  # who is named by the entry: who asked, if a rule approved
        return said.get("event") == ("ask" if own else "approve")

    def claim(self, worker: str, now: float) -> Request | None:
        """The next request in the queue, for the worker that asks. [service_requests.2]"""

        def work(connection: sa.Connection) -> Request | None:
            late = REQUESTS.update().where(REQUESTS.c.state == "queued", REQUESTS.c.slot <= now)
            connection.execute(late.values(state="failed"))  # [service_requests.3]
            busy = sa.select(REQUESTS.c.question).where(REQUESTS.c.state == "running").scalar_subquery()
            query = sa.select(REQUESTS.c.id).where(REQUESTS.c.state == "queued", REQUESTS.c.question.not_in(busy))
            for id_ in connection.execute(query.order_by(REQUESTS.c.slot, REQUESTS.c.id).limit(8)).scalars().all():
                here = (REQUESTS.c.id == id_) & (REQUESTS.c.state == "queued")
                new = {"state": "running", "began": now, "worker": worker, "tries": REQUESTS.c.tries + 1}
                if connection.execute(REQUESTS.update().where(here).values(**new)).rowcount == 1:
                    return _one(connection, id_)
            return None

        waiting = sa.select(REQUESTS.c.id).where(REQUESTS.c.state == "queued").limit(1)
        if self._ledger.beside(lambda c: c.execute(waiting).first()) is None:
            return None
        return self._ledger.beside(work, writes=True)

    def charged(self, name: str) -> bool:
        """Whether the ledger has a charge for a request of this name."""
        query = sa.select(ENTRIES.c.number).where(ENTRIES.c.request == name)
        return self._ledger.beside(lambda c: c.execute(query).first()) is not None

    def finish(self, which: str, *, answered: str | None, said: str | None) -> None:
        """The end of a request; `answered` is the ledger's request that holds the answer."""
        here = (REQUESTS.c.id == which) & (REQUESTS.c.state == "running")
        new = {"state": "failed" if answered is None else "done", "answered": answered, "said": said}
        self._ledger.beside(lambda c: c.execute(REQUESTS.update().where(here).values(**new)), writes=True)

    def resume(self, now: float) -> None:
        """When the server starts: put back what was left, and let all that did not leave yet leave later.

        All of it, whether it was finished before the server ended or not. [service_requests.3]
        """
        self.again()
        inside = (REQUESTS.c.due > now) | (REQUESTS.c.state == "queued")
        query = sa.select(REQUESTS.c.id, REQUESTS.c.question).where(REQUESTS.c.slot.is_not(None), inside)

        def work(connection: sa.Connection) -> None:
            slots: list[tuple[float, str]] = []
            for row in connection.execute(query.order_by(REQUESTS.c.slot, REQUESTS.c.id)).all():
                equal = [end for end, question in slots if question == row.question]
                slot, due = self._pace.leave(now, [end for end, _ in slots], equal)
                slots.append((slot, row.question))
                connection.execute(REQUESTS.update().where(REQUESTS.c.id == row.id).values(slot=slot, due=due))

        self._ledger.beside(work, writes=True)

    def again(self, worker: str | None = None) -> None:
        """Put back what a worker left that is gone, or what all of them left; nothing is charged twice."""
        here = REQUESTS.c.state == "running"
        if worker is not None:
            here &= REQUESTS.c.worker == worker
        few = here & (REQUESTS.c.tries < TRIES)
        back = REQUESTS.update().where(few).values(state="queued")
        over = REQUESTS.update().where(here).values(state="failed")

        def work(connection: sa.Connection) -> None:
            connection.execute(back)
            connection.execute(over)

        self._ledger.beside(work, writes=True)

    def find(self, which: str) -> Request | None:
        """A request by its id."""
        return self._ledger.beside(lambda c: _maybe(c, which))

    def listed(self, condition: Mapping[str, Any], most: int = 500) -> list[Request]:
        """Requests whose columns have these values (one, or one of a list), the latest first."""
        query = sa.select(REQUESTS).order_by(REQUESTS.c.made.desc(), REQUESTS.c.id).limit(most)
        for name, wanted in condition.items():
            column = REQUESTS.c[name]
            query = query.where(column.in_(wanted) if isinstance(wanted, list | tuple) else column == wanted)
        return self._ledger.beside(lambda c: [Request(*row) for row in c.execute(query)])

    def publish(self, which: str, steward: str, *, population: str, now: float | None) -> None:
        """Show a report to everybody, or no longer."""

        def work(connection: sa.Connection, _: int) -> None:
            here = (REQUESTS.c.id == which) & (REQUESTS.c.state == "done")
            if connection.execute(REQUESTS.update().where(here).values(published=now)).rowcount != 1:
                raise BadInput("there is no such report to publish")

        event = "publish" if now is not None else "unpublish"
        self._ledger.record(
            event, f"{event} report {which}", {"request": which}, population=population, by=steward, beside=work
        )

    def published(self) -> list[Request]:
        """The reports that everybody may read."""
        query = sa.select(REQUESTS).where(REQUESTS.c.published.is_not(None)).order_by(REQUESTS.c.published.desc())
        return self._ledger.beside(lambda c: [Request(*row) for row in c.execute(query)])

    def make_rule(self, rule: Rule, *, population: str) -> None:
        """A new rule, in the chain as well."""
        row = {name: getattr(rule, name) for name in Rule.__slots__}
        whom = rule.analyst or "everybody"
        note = f"rule: up to epsilon {rule.epsilon:g} in {rule.days:g} days for {whom} on {', '.join(rule.names)}"
        self._ledger.record(
            "make rule",
            note,
            row,
            population=population,
            by=rule.made_by,
            beside=lambda c, _: c.execute(RULES.insert().values(**row)),
        )

    def end_rule(self, which: str, steward: str) -> None:
        """A rule that approves nothing any more."""

        def work(connection: sa.Connection, _: int) -> None:
            if connection.execute(RULES.update().where(RULES.c.id == which).values(active=False)).rowcount != 1:
                raise BadInput("there is no such rule")

        self._ledger.record("end rule", "a rule ends", {"rule": which}, by=steward, beside=work)

    def rules(self) -> list[Rule]:
        """The rules in force."""
        query = sa.select(RULES).where(RULES.c.active).order_by(RULES.c.made)
        return self._ledger.beside(lambda c: [Rule(*row) for row in c.execute(query)])


class _RuleSpent(Exception):
    """A rule that no longer allows a request."""


def _about(request: Request) -> dict[str, Any]:
    return {"request": request.id, "plan": request.plan, "analyst": request.analyst}


def _maybe(connection: sa.Connection, which: str) -> Request | None:
    row = connection.execute(sa.select(REQUESTS).where(REQUESTS.c.id == which)).one_or_none()
    return None if row is None else Request(*row)


def _one(connection: sa.Connection, which: str) -> Request:
    found = _maybe(connection, which)
    if found is None:
        raise BadInput(GONE)
    return found


def _allowing(connection: sa.Connection, request: Request, now: float) -> Rule | None:
    """A rule under which this request needs nobody: its columns, and what is left of the rule's allowance."""
    makers = sa.select(PEOPLE.c.name).where(PEOPLE.c.active, PEOPLE.c.role == "steward").scalar_subquery()
    query = sa.select(RULES).where(RULES.c.active, RULES.c.source == request.source, RULES.c.made_by.in_(makers))
    for rule in (Rule(*row) for row in connection.execute(query)):
        if rule.analyst not in (None, request.analyst) or not set(json.loads(request.columns)) <= set(rule.names):
            continue
        if rule.made_by == request.analyst:
            continue  # [service_requests.1]
        since = now - rule.days * DAY
        sums = sa.select(sa.func.sum(REQUESTS.c.epsilon), sa.func.sum(REQUESTS.c.delta))
        spent = connection.execute(
            sums.where(REQUESTS.c.rule == rule.id, REQUESTS.c.analyst == request.analyst, REQUESTS.c.decided > since)
        ).one()
        epsilon, delta = (float(part or 0.0) for part in spent)
        slack = 1 + 1e-12  # sums of floats
        if epsilon + request.epsilon <= rule.epsilon * slack and delta + request.delta <= rule.delta * slack:
            return rule
    return None
