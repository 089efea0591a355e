"""JSON for programs under /api/v1, opened by a token; its description is at /api/v1/openapi.json and /api."""

from collections import deque
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, FastAPI, HTTPException, Query, Request
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import HTMLResponse, Response

from discreet.errors import BadInput
from discreet.ledger.service_requests import Request as Asking
from discreet.service.analyst_pages import WITHDRAWN, report_file, source_of
from discreet.service.asked_plan import LARGEST
from discreet.service.auditor_pages import Number, anchored, held
from discreet.service.desk import budget_of
from discreet.service.guards import Program, program, visitor
from discreet.service.views import render
from discreet.version import __version__


class Refusal(BaseModel):
    """Why not, in words for people."""

    error: str


REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": Refusal, "description": says}
    for status, says in {
        400: "not to be understood, or not sent to this host",
        401: "no token, or one that has ended",
        403: "not in the scope of this token, or not for this person",
        404: "not there, or not yours",
        405: "not done this way",
        409: "decided already, or more than is left of a budget",
        413: "larger than what may be sent",
        422: "an argument that does not fit",
    }.items()
}
router = APIRouter(prefix="/api/v1", tags=["v1"], responses=REFUSALS)
By = Annotated[Program, Depends(program)]


class Body(BaseModel):
    """What a program sends: nothing unknown is passed over."""

    model_config = ConfigDict(extra="forbid")


class PlanBody(Body):
    """A plan of questions, in TOML, about one table."""

    table: str = Field(max_length=100)
    plan: str = Field(max_length=LARGEST, description="title, [spend] and [[release]], in TOML")


class Decision(Body):
    """A steward's decision on one plan, by its digest."""

    plan: str = Field(max_length=100, description="the digest of the plan that is approved")


class Stored(Body):
    """The answered request whose answer is given."""

    stored: str = Field(max_length=100, description="the id of an answered request about the same columns")


class Reason(Body):
    """Why not."""

    reason: str = Field(max_length=2_000)


class Part(Body):
    """What an analyst may spend of the budget of a table's people."""

    epsilon: float = Field(gt=0, allow_inf_nan=False)
    delta: float = Field(0.0, ge=0, lt=1, allow_inf_nan=False)
    seen: str | None = Field(None, max_length=5_000, description="the standing of the part that it shall replace")


class Wanted(Body):
    """A token that a program asks for."""

    label: str = Field(max_length=100, description="what it is for")
    scopes: list[str] = Field(max_length=3, description="of those of the token that asks: ask, decide, audit")
    days: float = Field(gt=0, le=366, allow_inf_nan=False, description="until it ends, not after the one that asks")


@router.get("/tables")
def tables(by: By) -> list[dict[str, Any]]:
    """The tables that may be asked about."""
    by.may("ask")
    return [{"name": one.name, "title": one.title, "description": one.description} for one in by.desk.sources.all()]


@router.get("/tables/{name}")
def table(name: str, by: By) -> dict[str, Any]:
    """A table's schema and codebook."""
    by.may("ask")
    source = source_of(by.desk, name)
    return {"name": name, "title": source.title, "unit": source.data.unit, "columns": by.desk.schema(source)}


@router.get("/tables/{name}/balance")
def balance(name: str, by: By) -> dict[str, Any]:
    """What is left to you of its budget."""
    by.may("ask")
    part = by.desk.part(source_of(by.desk, name), by.person.name)
    if part is None:
        raise BadInput("nothing of this budget is allotted to you yet; ask the data steward")
    return budget_of(part)


@router.get("/tables/{name}/parts")
def parts(name: str, by: By) -> list[dict[str, Any]]:
    """Who may spend how much of its budget, for stewards and auditors."""
    if "audit" not in by.token.scopes:
        by.may("decide")
    population = source_of(by.desk, name).population.name
    accounts = by.desk.ledger.accounts()
    return [{"analyst": who} | budget_of(one) for whose, who, one in accounts if who and whose == population]


@router.put("/tables/{name}/parts/{analyst}")
def allot(name: str, analyst: str, body: Part, by: By) -> dict[str, Any]:
    """Give an analyst a part of the budget, or another one: no less than is spent, and never to yourself."""
    by.may("decide")
    source = source_of(by.desk, name)
    by.desk.parts.allot(source, analyst, body.epsilon, body.delta, by=by.person.name, seen=body.seen)
    return {"analyst": analyst} | budget_of(by.desk.ledger.account(source.population.name, analyst))


@router.delete("/tables/{name}/parts/{analyst}", status_code=204)
def end_part(name: str, analyst: str, seen: str, by: By) -> None:
    """End an analyst's part: nothing more is charged to it."""
    by.may("decide")
    by.desk.parts.end_part(source_of(by.desk, name), analyst, by=by.person.name, seen=seen)


@router.post("/plans/price")
def price(body: PlanBody, by: By) -> dict[str, Any]:
    """The price, the forecast and what the epsilon means; nothing is spent."""
    by.may("ask")
    source = source_of(by.desk, body.table)
    return by.desk.foreseen(by.desk.price(body.plan, source, by.person), by.person)


@router.post("/requests", status_code=201)
def submit(body: PlanBody, by: By) -> dict[str, Any]:
    """Send a plan for approval; the same question again is the same request."""
    by.may("ask")
    return by.desk.state_of(by.desk.submit(body.plan, source_of(by.desk, body.table), by.person))


@router.get("/requests")
def requests(by: By, waiting: bool = False) -> list[dict[str, Any]]:
    """Your own requests; with `waiting`, for stewards, those that wait for a decision."""
    if waiting:
        by.may("decide")
        return [_told(by, one) for one in by.desk.requests.listed({"state": "submitted"})]
    by.may("ask")
    return [_told(by, one) for one in by.desk.requests.listed({"analyst": by.person.name})]


def _told(by: Program, found: Asking) -> dict[str, Any]:
    return by.desk.state_of(found) | {"plan": found.plan, "text": found.text}


def _seen(which: str, by: Program) -> Asking:
    """One's own request, or another's for a token that decides or audits: a notebook's token opens no more."""
    found = by.desk.seen_by(which, by.person)
    if found is None or (found.analyst != by.person.name and not {"decide", "audit"} & set(by.token.scopes)):
        raise HTTPException(404, "there is no such request")
    return found


@router.get("/requests/{which}")
def one(which: str, by: By) -> dict[str, Any]:
    """What became of a request, and its report once it is due."""
    found = _seen(which, by)
    return _told(by, found) | {"report": by.desk.report(found)}


@router.get("/requests/{which}/report.{form}")
def report(which: str, form: Literal["html", "json", "csv"], by: By) -> Response:
    """A report to keep."""
    dossier = by.desk.report(_seen(which, by))
    if dossier is None:
        raise HTTPException(404, "there is no report yet")
    return report_file(which, form, dossier)


@router.post("/requests/{which}/withdraw")
def withdraw(which: str, by: By) -> dict[str, Any]:
    """Take back a request of your own that was not decided yet."""
    by.may("ask")
    if (found := _seen(which, by)).analyst != by.person.name:
        raise HTTPException(404, "there is no such request of yours")
    return by.desk.state_of(by.desk.decline(found.id, by.person, WITHDRAWN))


@router.post("/requests/{which}/approve")
def approve(which: str, body: Decision, by: By) -> dict[str, Any]:
    """A steward's yes, which signs the plan's digest; never to a request of their own."""
    by.may("decide")
    found = _seen(which, by)
    if found.analyst == by.person.name:
        raise HTTPException(403, "nobody approves a request of their own")
    if found.plan != body.plan or found.state != "submitted":
        raise HTTPException(409, "the plan is another one, or was decided already")
    try:
        return by.desk.state_of(by.desk.approve(which, by.person))
    except BadInput as error:
        raise HTTPException(409, str(error)) from None


@router.post("/requests/{which}/decline")
def decline(which: str, body: Reason, by: By) -> dict[str, Any]:
    """A steward's no, with a reason."""
    by.may("decide")
    return by.desk.state_of(by.desk.decline(_seen(which, by).id, by.person, body.reason))


@router.post("/requests/{which}/offer")
def offer(which: str, body: Stored, by: By) -> dict[str, Any]:
    """The stored answer to a similar question instead of a new one; nothing is charged."""
    by.may("decide")
    found = _seen(which, by)
    if found.analyst == by.person.name:
        raise HTTPException(403, "nobody decides on a request of their own")
    return by.desk.state_of(by.desk.offer(which, body.stored, by.person))


@router.get("/ledger/entries")
def entries(by: By, before: Number | None = None) -> list[dict[str, Any]]:
    """The ledger's entries, the latest first, a hundred at a time."""
    by.may("audit")
    kept = ("number", "kind", "time", "population", "analyst", "request", "previous", "hash")
    found = by.desk.ledger.lines(before=before, most=100)
    return [{name: getattr(entry, name) for name in kept} | {"body": entry.plain} for entry in found]


@router.get("/ledger/heads")
def heads(by: By, most: Annotated[int, Query(ge=1, le=1_000)] = 100) -> list[dict[str, Any]]:
    """The last heads that the ledger's anchor has seen, and whether the ledger still has each of them."""
    by.may("audit")
    book = by.desk.ledger
    last = list(deque(anchored(book), most))
    return [{"number": one.number, "hash": one.hash, "held": held(book, one.number, one.hash)} for one in last]


@router.get("/ledger/verify")
def verify(by: By) -> dict[str, Any]:
    """Whether the ledger is what was written."""
    by.may("audit")
    verdict = by.desk.ledger.verify()
    return {"ok": verdict.ok, "entries": verdict.entries, "problems": list(map(str, verdict.problems))}


@router.get("/tokens")
def tokens(by: By) -> list[dict[str, Any]]:
    """Your tokens, without their secrets."""
    found = by.desk.people.tokens(by.person.name)
    return [{"id": one.id, "label": one.label, "scopes": one.scopes, "until": one.until} for one in found]


@router.post("/tokens", status_code=201)
def issue(body: Wanted, by: By) -> dict[str, str]:
    """Another token, shown once: no wider than the one that asks, and ending no later."""
    return {"token": by.desk.accounts.issue(by.person, body.label, body.scopes, body.days, under=by.token)}


@router.delete("/tokens/{which}", status_code=204)
def revoke(which: str, by: By) -> None:
    """Revoke one of your tokens."""
    by.desk.people.revoke(which, by.person.name)


def _described(app: FastAPI) -> dict[str, Any]:
    """The description of this interface."""
    if getattr(app.state, "described", None) is None:
        found = get_openapi(title="discreet", version=__version__, routes=router.routes)
        found.setdefault("components", {})["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        app.state.described = found | {"security": [{"token": []}]}
    return dict(app.state.described)


@router.get("/openapi.json", include_in_schema=False)
def openapi(request: Request) -> dict[str, Any]:
    """OpenAPI, for everybody: it holds nothing but names."""
    return _described(request.app)


pages = APIRouter(include_in_schema=False)


@pages.get("/api")
def api(request: Request) -> HTMLResponse:
    """The description as a page, without anything from elsewhere."""
    try:
        who = visitor(request)
    except HTTPException:
        who = None
    found = _described(request.app)
    calls = [
        {"path": path, "method": method.upper(), "says": call.get("description", "")} | _sends(call, found)
        for path, methods in found["paths"].items()
        for method, call in methods.items()
    ]
    return HTMLResponse(render("api.html", visitor=who, title="For programs", calls=calls))


def _sends(call: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    """The parameters and the body of a call."""
    body = call.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    name = str(body.get("$ref", "")).rpartition("/")[2]
    fields = found["components"].get("schemas", {}).get(name, {}).get("properties", {})
    return {"query": [one["name"] for one in call.get("parameters", []) if one["in"] == "query"], "body": list(fields)}
