"""What the service does, without the web: who may ask what, at what price, and what they are told.

Promise
    [desk.1] What an analyst sees before an answer leaves is decided by public facts: the schema, their own budget,
          their own requests, and the clock. What leaves is what the ledger stored, at a tick that was fixed beforehand.
    [desk.2] A request is another's until it is published: whoever may not see it is told that there is none.
Why
    [desk.1] `price` binds a plan ([pricing.1]), which reads a schema; `state_of` reads the state of a request only
    once it is due ([service_requests.3]); a failure has one sentence.
    [desk.2] `seen_by` is the only way from an id to a request.
"""

import json
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Lock, Semaphore
from typing import Any, Final

from discreet.accounting.filter import Currency
from discreet.errors import BadInput, DiscreetError, OverBudget
from discreet.ledger import Ledger
from discreet.ledger.account import Account
from discreet.ledger.service_people import PeopleStore, Person
from discreet.ledger.service_requests import Pace, Request, RequestStore, Rule
from discreet.plan.draft import differences
from discreet.plan.plan_file import parse_plan
from discreet.plan.run_plan import price_list
from discreet.privacy.loss import Approximate
from discreet.privacy.meaning import explain
from discreet.service.accounts import Accounts
from discreet.service.allotments import Allotments
from discreet.service.asked_plan import Asked, asks, understood
from discreet.service.passwords import fresh
from discreet.service.settings import CodebookColumn, Settings, Source
from discreet.service.sources import Sources

NO_ANSWER: Final = (
    "No answer could be made. What was charged stays charged. Why is not shown, as it might tell of the data. "
    "To ask again, give the request another title: that is a new request, with a charge of its own."
)
KEPT: Final = 1_000  # priced plans
LONGEST_REASON: Final = 2_000


class Desk:
    """The service on one ledger. `folder` is where service.toml is; `clock` gives the time."""

    def __init__(self, settings: Settings, folder: Path, clock: Callable[[], float] = time.time) -> None:
        self.settings, self.folder, self.clock = settings, folder, clock
        key, anchor = (None if one is None else folder / one for one in (settings.key, settings.anchor))
        self.where = settings.ledger if "://" in settings.ledger else folder / settings.ledger
        self.ledger = Ledger(self.where, key=key, anchor=anchor)
        self.pace = Pace(limit=settings.limit, tick=settings.tick, workers=settings.workers)
        self.people, self.requests = PeopleStore(self.ledger), RequestStore(self.ledger, self.pace)
        self.accounts, self.parts = Accounts(settings, self.people, clock), Allotments(self.ledger, self.people)
        self._priced: OrderedDict[tuple[str, str, str], Asked] = OrderedDict()
        self._lock, self._pricing, self._trying, self._triers = Lock(), Semaphore(2), Semaphore(1), set[str]()
        self.sources = Sources(settings, folder, self.ledger)
        for source in settings.source:
            self.sources.open(source)

    def close(self) -> None:
        """Let go of the ledger."""
        self.ledger.close()

    # ---- what may be asked

    def schema(self, source: Source) -> list[dict[str, Any]]:
        """The columns of a table: their declared kinds, and what the codebook says."""
        table = self.sources.opened(source)
        told = []
        for name in table.names:
            if name == source.data.person:
                continue
            book = source.columns.get(name) or CodebookColumn()
            told.append({"name": name, "kind": table.kinds[name]} | book.model_dump())
        return told

    def part(self, source: Source, analyst: str) -> Account | None:
        """What an analyst may spend of a population's budget; None if nothing was allotted."""
        accounts = {(name, part): account for name, part, account in self.ledger.accounts()}
        return accounts.get((source.population.name, analyst))

    def price(self, text: str, source: Source, person: Person) -> Asked:
        """A plan, priced; what was priced lately is remembered. [desk.1]"""
        key = (text, source.model_dump_json(), person.name)  # a source may be declared anew
        with self._lock:
            if key in self._priced:
                self._priced.move_to_end(key)
                return self._priced[key]
        if self.part(source, person.name) is None:
            raise BadInput(f"nothing of the budget of {source.title} is allotted to you yet; ask the data steward")
        with self._pricing:
            found = understood(text, source, person.name, self.folder)
            for question in found.bound.priced.questions:
                question.check()
        if found.seconds > self.settings.limit:
            raise BadInput(
                f"this code takes {found.seconds:.0f} seconds, whatever the rows are, and an answer may take "
                f"{self.settings.limit:g} here; ask for fewer blocks, or a shorter options.timeout"
            )
        with self._lock:
            self._priced[key] = found
            while len(self._priced) > KEPT:
                self._priced.popitem(last=False)
        return found

    def foreseen(self, asked: Asked, person: Person) -> dict[str, Any]:
        """The price, the forecast, what the epsilon means, and whether the analyst's part of the budget allows it."""
        told, account = price_list(asked.bound), self.part(asked.source, person.name)
        spend, data = told["spend"], asked.source.data
        meaning = explain(epsilon=spend["epsilon"], delta=spend["delta"], n=data.rows, unit=str(data.unit))
        told |= {"meaning": list(meaning.sentences), "columns": asked.columns, "refusal": None}
        for entry, one in zip(asked.bound.plan.release, told["releases"], strict=True):
            book = asked.source.columns.get(entry.columns) if isinstance(entry.columns, str) else None
            one |= {"scale": None if book is None else book.scale, "unit": None if book is None else book.unit}
        try:
            self.fits(asked, account)
        except DiscreetError as error:
            told["refusal"] = str(error)
        return told | {"budget": None if account is None else budget_of(account)}

    def fits(self, asked: Asked, account: Account | None) -> None:
        """OverBudget if a plan costs more than is left to the analyst, or to everybody."""
        together = asked.bound.priced.together
        whole = self.ledger.account(asked.source.population.name)
        for one in filter(None, (account, whole)):
            simple = one.filter.total.currency is Currency.EPSILON
            loss = Approximate(together.epsilon, together.delta) if simple else asked.bound.priced.loss
            try:
                one.charge(loss)
            except OverBudget:
                if one is account:
                    raise
                raise OverBudget("less than this costs is left of the whole budget; ask the data steward") from None

    def submit(self, text: str, source: Source, person: Person) -> Request:
        """A request, or the one in which this analyst asked the same before."""
        asked, now = self.price(text, source, person), self.clock()
        for earlier in self.requests.listed({"analyst": person.name, "question": asked.question}):
            waits = earlier.state in ("submitted", "queued", "running")
            if waits or earlier.state == "done":
                return earlier
        self.fits(asked, self.part(source, person.name))
        if asked.code:
            self._try(asked, person.name)
        told, together = self.foreseen(asked, person), asked.bound.priced.together
        empty = dict.fromkeys(
            ("decided", "decided_by", "rule", "reason", "entry", "due", "slot", "began", "said", "worker")
        )
        request = Request(
            id=fresh(12).replace("-", "x").replace("_", "y"),
            analyst=person.name,
            source=source.name,
            title=asked.bound.plan.title,
            text=text,
            plan=asked.bound.digest,
            question=asked.question,
            columns=json.dumps(asked.columns),
            foreseen=json.dumps(told),
            epsilon=float(together.epsilon),
            delta=float(together.delta),
            state="submitted",
            made=now,
            tries=0,
            answered=None,
            published=None,
            **empty,
        )
        return self.requests.submit(request, population=source.population.name, now=now, rules=not asked.code)

    def _try(self, asked: Asked, who: str) -> None:
        """Try its code, which takes as long as it says: prices do not wait for it, and each analyst tries one."""
        with self._lock:
            if who in self._triers:
                raise BadInput("other code of yours is being tried; send this when that is done")
            self._triers.add(who)
        try:
            with self._trying:
                asked.try_code()
        finally:
            self._triers.discard(who)

    # ---- what became of it

    def seen_by(self, which: str, person: Person) -> Request | None:
        """A request that this person may see: their own; all of them as a steward or an auditor. [desk.2]"""
        found = self.requests.find(which)
        if found is None or (found.analyst != person.name and person.role not in ("steward", "auditor")):
            return None
        return found

    def state_of(self, request: Request) -> dict[str, Any]:
        """What may be told of a request now. [desk.1]"""
        told: dict[str, Any] = {"id": request.id, "title": request.title, "source": request.source}
        told |= {"analyst": request.analyst, "made": request.made, "due": request.due, "reason": request.reason}
        told |= {"epsilon": request.epsilon, "delta": request.delta, "by_rule": request.rule is not None}
        told |= {"decided_by": request.decided_by, "decided": request.decided, "published": request.published}
        waiting = {"queued", "running", "done", "failed"}
        out = request.out(self.clock())
        told["state"] = request.state if request.state not in waiting else "approved" if not out else request.state
        told["state"] = "offered" if request.offered else told["state"]
        told["said"] = (request.said or NO_ANSWER) if out and request.state == "failed" else None
        return told

    def report(self, request: Request) -> dict[str, Any] | None:
        """The report of a request, from the ledger, once it is due; None before that and if there is no answer.

        If a stored answer was given instead, it is the report of that. [service_requests.4]
        """
        ready = request.offered or (request.state == "done" and request.out(self.clock()))
        if not ready or request.answered is None:
            return None
        text = self.ledger.answer(request.answered)
        return None if text is None else dict(json.loads(text))

    def approve(self, which: str, steward: Person) -> Request:
        """A steward's yes."""
        request = self.requests.find(which)
        if request is not None and self.sources.named(request.source) is None:
            raise BadInput("the table is closed, so nothing can be answered about it; decline the request")
        return self.requests.approve(which, steward.name, population=self._population(which), now=self.clock())

    def decline(self, which: str, person: Person, reason: str) -> Request:
        """A steward's no with its reason, or an analyst's own withdrawal."""
        reason = reason.strip()
        if not 3 <= len(reason) <= LONGEST_REASON:
            raise BadInput(
                f"the reason has {len(reason)} characters; give 3 to {LONGEST_REASON}, for the analyst to read"
            )
        return self.requests.decline(which, person.name, reason, population=self._population(which), now=self.clock())

    def offer(self, which: str, stored: str, steward: Person) -> Request:
        """The stored answer to a similar question instead of a new one; nothing is charged."""
        request = self.requests.find(which)
        found = [] if request is None else [one for one in self.similar(request) if one.id == stored]
        if not found:
            raise BadInput("that is no answered request about the same statistic of the same columns; choose another")
        return self.requests.offer(which, found[0], steward.name, population=self._population(which), now=self.clock())

    def publish(self, which: str, steward: Person, *, shown: bool) -> None:
        """Show a report to everybody, once its answer has left; or no longer."""
        found = self.requests.find(which)
        if found is None or found.offered or self.report(found) is None:
            raise BadInput("there is no such report to publish")
        now = self.clock() if shown else None
        self.requests.publish(which, steward.name, population=self._population(which), now=now)

    def similar(self, request: Request) -> list[Request]:
        """Requests that were answered about the same statistic of the same columns, for the steward."""
        mine = {_core(one) for one in asks(request.text)}
        done, now = self.requests.listed({"source": request.source, "state": "done"}), self.clock()
        others = [one for one in done if one.out(now)]
        return [one for one in others if one.id != request.id and mine & {_core(ask) for ask in asks(one.text)}][:10]

    def changes(self, request: Request) -> tuple[Request, list[str]] | None:
        """What differs from the analyst's last request that was decided, a line each; None if this is the first."""
        earlier = [
            one
            for one in self.requests.listed({"analyst": request.analyst, "source": request.source})
            if one.made < request.made and one.state != "submitted"
        ]
        if not earlier:
            return None
        given = {"data": {"source": "-"}, "population": {"name": "-", "ledger": "-"}}
        old, new = (parse_plan(one.text, one.title, given) for one in (earlier[0], request))
        return earlier[0], differences(old, new)

    def make_rule(
        self,
        source: Source,
        steward: Person,
        columns: list[str],
        *,
        epsilon: float,
        delta: float,
        days: float,
        analyst: str,
    ) -> None:
        """What is approved without asking."""
        names = {column["name"] for column in self.schema(source)}
        if not columns or not set(columns) <= names:
            raise BadInput("choose the columns that the rule is about, of those of the table")
        if not (0 < epsilon < 100 and 0 <= delta < 1 and 0 < days <= 366):
            raise BadInput("a rule needs an epsilon above 0, a delta below 1, and 1 to 366 days")
        if analyst and self.people.find(analyst) is None:
            raise BadInput(f"there is nobody called {analyst!r}")
        rule = Rule(
            fresh(6), source.name, analyst or None, json.dumps(sorted(columns)), epsilon, delta, days, steward.name,
            self.clock(), True,
        )  # fmt: skip
        self.requests.make_rule(rule, population=source.population.name)

    def _population(self, which: str) -> str:
        request = self.requests.find(which)
        source = None if request is None else self.sources.known(request.source)
        if source is None:
            raise BadInput("there is no such request")
        return source.population.name


def _core(asked: Mapping[str, Any]) -> str:
    return json.dumps(
        [asked.get(name) for name in ("statistic", "columns", "outcome", "formula", "estimator", "code")],
        sort_keys=True,
    )


def budget_of(account: Account) -> dict[str, Any]:
    """A budget for people: the whole, what is spent, what is left; in epsilon where it is counted so."""
    found = account.filter
    whole, share = float(found.budget.epsilon), float(found.spent.cost / found.total.cost) if found.total.cost else 1.0
    plain = found.total.currency is Currency.EPSILON
    spent = float(found.spent.cost) if plain else share * whole
    return {
        "ended": account.ended,
        "standing": account.standing,
        "epsilon": whole,
        "delta": float(found.budget.delta),
        "spent": spent,
        "left": 0.0 if account.ended else max(0.0, whole - spent),
        "counted": found.total.currency.value,
        "words": str(found),
    }
