"""For stewards: what waits for a decision, rules, people and their parts of budgets, sources, publishing."""

from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException
from starlette.responses import HTMLResponse, RedirectResponse, Response

from discreet.errors import BadInput
from discreet.ledger.service_people import ROLES
from discreet.ledger.service_requests import Request
from discreet.service.analyst_pages import source_of
from discreet.service.asked_plan import asks, purpose
from discreet.service.desk import budget_of
from discreet.service.guards import Posted, Visitor, posted, visitor
from discreet.service.views import SORTS, ordered, render

router = APIRouter(include_in_schema=False)
Sent = Annotated[Posted, Depends(posted)]
WAITING = ["submitted"]
PARTS = ("allot", "end")  # actions about somebody's part of a budget
DECIDED = ["declined", "withdrawn", "queued", "running", "done", "failed"]


def steward(who: Annotated[Visitor, Depends(visitor)]) -> Visitor:
    """A steward; 403 for others."""
    who.must_be("steward")
    return who


def keeper(who: Annotated[Visitor, Depends(visitor)]) -> Visitor:
    """A steward or an administrator; 403 for others."""
    who.must_be("steward", "admin")
    return who


Steward = Annotated[Visitor, Depends(steward)]
Keeper = Annotated[Visitor, Depends(keeper)]


@router.get("/inbox")
def inbox(who: Steward, sort: str = "") -> HTMLResponse:
    """What waits, and what was decided."""
    desk = who.desk
    waiting = [desk.state_of(one) for one in desk.requests.listed({"state": WAITING})]
    decided = [desk.state_of(one) for one in desk.requests.listed({"state": DECIDED}, 50)]
    rows, by = ordered(decided, sort, SORTS)
    return HTMLResponse(render("inbox.html", visitor=who, title="Inbox", waiting=waiting, decided=rows, sort=by))


@router.get("/inbox/{which}")
def review(which: str, who: Steward) -> HTMLResponse:
    """One request, with all that a decision needs."""
    return HTMLResponse(_review(which, who, ""))


def _review(which: str, who: Visitor, says: str) -> str:
    desk = who.desk
    found = desk.requests.find(which)
    source = None if found is None else desk.sources.known(found.source)
    if found is None or source is None:
        raise HTTPException(404)
    part = desk.part(source, found.analyst)
    whole = budget_of(desk.ledger.account(source.population.name))
    code = [one["code"] for one in asks(found.text) if one["code"]]
    equal = [one for one in desk.requests.listed({"question": found.question, "state": "done"}) if one.id != which]
    return render(
        "review.html", visitor=who, title=found.title, request=found, state=desk.state_of(found), source=source,
        ahead=found.ahead, purpose=purpose(found.text), part=None if part is None else budget_of(part), whole=whole,
        similar=[desk.state_of(one) for one in desk.similar(found)], equal=bool(equal), changes=desk.changes(found),
        says=says, code=code,
    )  # fmt: skip


def _of_another(which: str, sent: Sent) -> Request:
    """A request that this steward may decide in favour of: nobody does so for their own."""
    sent.visitor.must_be("steward")
    found = sent.desk.requests.find(which)
    if found is None:
        raise HTTPException(404)
    if found.analyst == sent.person.name:
        raise HTTPException(403)
    return found


@router.post("/inbox/{which}/approve")
def approve(which: str, sent: Sent) -> Response:
    """Yes: the plan's digest is signed into the ledger."""
    found = _of_another(which, sent)
    if sent.text("plan", 100) != found.plan:
        raise HTTPException(409)
    try:
        sent.desk.approve(which, sent.person)
    except BadInput as error:
        return HTMLResponse(_review(which, sent.visitor, str(error)), 409)
    return RedirectResponse("/inbox", 303)


@router.post("/inbox/{which}/decline")
def decline(which: str, sent: Sent) -> Response:
    """No, and why."""
    sent.visitor.must_be("steward")
    if sent.desk.requests.find(which) is None:
        raise HTTPException(404)
    try:
        sent.desk.decline(which, sent.person, sent.text("reason", 10_000))
    except BadInput as error:
        return HTMLResponse(_review(which, sent.visitor, str(error)), 422)
    return RedirectResponse("/inbox", 303)


@router.post("/inbox/{which}/offer")
def offer(which: str, sent: Sent) -> Response:
    """The stored answer to a similar question instead; nothing is charged."""
    _of_another(which, sent)
    try:
        sent.desk.offer(which, sent.text("stored", 100), sent.person)
    except BadInput as error:
        return HTMLResponse(_review(which, sent.visitor, str(error)), 409)
    return RedirectResponse("/inbox", 303)


@router.post("/requests/{which}/publish")
def publish(which: str, sent: Sent) -> Response:
    """Show a report to everybody, or no longer."""
    sent.visitor.must_be("steward")
    sent.desk.publish(which, sent.person, shown=sent.text("shown", 5) == "yes")
    return RedirectResponse(f"/requests/{which}", 303)


def _rules(who: Visitor, says: str = "") -> str:
    tables = [(source, who.desk.schema(source)) for source in who.desk.sources.all()]
    analysts = [one.name for one in who.desk.people.all() if one.role == "analyst" and one.active]
    rules = [(rule, len(who.desk.requests.listed({"rule": rule.id}))) for rule in who.desk.requests.rules()]
    return render("rules.html", visitor=who, title="Rules", tables=tables, rules=rules, analysts=analysts, says=says)


@router.get("/rules")
def rules(who: Steward) -> HTMLResponse:
    """What is approved without asking."""
    return HTMLResponse(_rules(who))


@router.post("/rules")
def make_rule(sent: Sent) -> Response:
    """One more rule."""
    sent.visitor.must_be("steward")
    source = source_of(sent.desk, sent.text("source", 100))
    terms = {name: sent.number(name) for name in ("epsilon", "delta", "days")}
    try:
        sent.desk.make_rule(source, sent.person, sent.many("columns"), **terms, analyst=sent.text("analyst", 200))
    except BadInput as error:
        return HTMLResponse(_rules(sent.visitor, str(error)), 422)
    return RedirectResponse("/rules", 303)


@router.post("/rules/{which}/end")
def end_rule(which: str, sent: Sent) -> Response:
    """A rule that approves nothing any more."""
    sent.visitor.must_be("steward")
    sent.desk.requests.end_rule(which, sent.person.name)
    return RedirectResponse("/rules", 303)


def _people(who: Visitor, says: str = "", of: str = "", code: tuple[str, str] | None = None) -> str:
    desk = who.desk
    every = [one for one in desk.people.all() if of in ("", one.name)]
    parts = {(name, part): budget_of(account) for name, part, account in desk.ledger.accounts()}
    allowed = ROLES if who.person.role == "admin" else ("analyst", "auditor")
    return render(
        "people.html", visitor=who, title="People", people=every, sources=desk.sources.all(), parts=parts, code=code,
        resettable={one.name for one in every if desk.accounts.may_reset(one, who.person)}, outside=desk.people.bound(),
        roles=allowed, says=says, of=of, hours=desk.settings.login.code_hours, passwords=desk.settings.passwords,
    )  # fmt: skip


@router.get("/people")
def people(who: Keeper, of: str = "") -> HTMLResponse:
    """Who may sign in, and what they may spend; or one of them."""
    return HTMLResponse(_people(who, of=of))


@router.post("/people")
def add_person(sent: Sent) -> HTMLResponse:
    """A new account; the code with which its password is chosen is shown once."""
    sent.visitor.must_be("steward", "admin")
    name, role = sent.text("name", 500).strip(), sent.text("role", 20)
    if role in ("steward", "admin"):
        sent.visitor.must_be("admin")
    try:
        code = sent.desk.accounts.invite(name, role, by=sent.person.name)
    except BadInput as error:
        return HTMLResponse(_people(sent.visitor, str(error)), 422)
    return HTMLResponse(_people(sent.visitor, code=(name, code)))


@router.post("/people/{name}/{action}")
def change_person(name: str, action: str, sent: Sent) -> HTMLResponse:
    """A code that chooses a new password, no more access, access again; a part of a budget, another one, or its end."""
    sent.visitor.must_be("steward", "admin")
    found = sent.desk.people.find(name)
    if found is None or (found.role in ("steward", "admin") and sent.person.role != "admin" and action not in PARTS):
        raise HTTPException(404)
    shown = None
    try:
        if action in PARTS:
            sent.visitor.must_be("steward")
            source, seen = source_of(sent.desk, sent.text("source", 100)), sent.text("seen", 5_000) or None
            if action == "end":
                sent.desk.parts.end_part(source, name, by=sent.person.name, seen=seen or "")
            else:
                sent.desk.parts.allot(
                    source, name, sent.number("epsilon"), sent.number("delta"), by=sent.person.name, seen=seen
                )
        elif action == "reset":
            shown = (name, sent.desk.accounts.reset(found, by=sent.person))
        elif action in ("close", "open"):
            note = "may no longer sign in" if action == "close" else "may sign in again"
            sent.desk.people.change(name, note, {"active": action == "open"}, by=sent.person.name)
        else:
            raise HTTPException(404)
    except BadInput as error:
        return HTMLResponse(_people(sent.visitor, str(error)), 422)
    return HTMLResponse(_people(sent.visitor, code=shown))
