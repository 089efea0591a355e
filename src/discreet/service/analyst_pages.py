"""For analysts: what there is, what a question costs, what became of it."""

import re
from functools import cache
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from discreet.errors import BadInput, DiscreetError
from discreet.plan.plan_file import FIT
from discreet.plan.planned_fit import LISTED, LONGEST
from discreet.privacy.declaration import declared, homes
from discreet.report import page, to_csv, to_json
from discreet.service.asked_plan import FORM, LARGEST, to_form, to_text
from discreet.service.desk import Desk, budget_of
from discreet.service.guards import Posted, Visitor, posted, visitor
from discreet.service.settings import Source
from discreet.service.views import SORTS, ordered, render, report_body

router = APIRouter(include_in_schema=False)
Who = Annotated[Visitor, Depends(visitor)]
Sent = Annotated[Posted, Depends(posted)]
WITHDRAWN = "withdrawn by who asked"
EVERYDAY = ("count", "mean", "median", "proportion", "histogram", "sum", "variance", "quantile", "crosstab")
DOWNLOAD = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"
BEGIN = {"title": "", "description": "", "epsilon": 0.1, "delta": 0, "release": []}
NEW = dict.fromkeys(FORM, "") | {"statistic": "mean", "columns": []}


def source_of(desk: Desk, name: str) -> Source:
    """A source by its name; 404 if there is none."""
    found = desk.sources.named(name)
    if found is None:
        raise HTTPException(404)
    return found


@router.get("/catalogue")
def catalogue(who: Who) -> HTMLResponse:
    """The tables, each with what is left to this person."""
    tables = []
    for source in who.desk.sources.all():
        part = who.desk.part(source, who.person.name)
        tables.append((source, None if part is None else budget_of(part)))
    return HTMLResponse(render("catalogue.html", visitor=who, title="Catalogue", tables=tables))


@router.get("/catalogue/{name}")
def table(name: str, who: Who, sort: str = "") -> HTMLResponse:
    """One table: schema, codebook, budget."""
    source = source_of(who.desk, name)
    part = who.desk.part(source, who.person.name)
    columns, by = ordered(who.desk.schema(source), sort, ("name", "kind", "label"))
    given = {"source": source, "columns": columns, "sort": by, "budget": None if part is None else budget_of(part)}
    given["allotted"] = who.desk.parts.allotted(source, who.person.name)
    return HTMLResponse(render("table.html", visitor=who, title=source.title, **given))


@cache
def statistics_menu() -> list[tuple[str, list[str]]]:
    """What can be asked, the everyday first."""
    every = {name: declared(name) for name in homes()}
    plannable = [name for name, one in every.items() if (not one.code or name == FIT) and not one.samples]
    rest = sorted(name for name in plannable if name not in EVERYDAY)
    return [("Everyday", [name for name in EVERYDAY if name in plannable]), ("More", rest)]


def _ask(who: Visitor, source: Source, **given: Any) -> str:
    told: dict[str, Any] = {"view": "form", "form": BEGIN | {"release": [NEW]}, "text": "", "says": ""}
    part = who.desk.part(source, who.person.name)
    budget = None if part is None else budget_of(part)
    return render(
        "ask.html", visitor=who, title="Ask a question", source=source, columns=who.desk.schema(source),
        statistics=statistics_menu(), estimators=LISTED, budget=budget, **(told | given),
    )  # fmt: skip


@router.get("/ask/{name}")
def ask(name: str, who: Who, column: str = "") -> HTMLResponse:
    """An empty form."""
    who.must_be("analyst", "steward")
    source = source_of(who.desk, name)
    first = NEW | {"columns": [column]} if column else NEW
    return HTMLResponse(_ask(who, source, form=BEGIN | {"release": [first]}))


def _written(sent: Posted, source: Source) -> str:
    """The plan in either view."""
    if sent.text("view", 10) == "text":
        return sent.text("text", LARGEST)
    return to_text(_form(sent), source.columns)


def _form(sent: Posted) -> dict[str, Any]:
    form: dict[str, Any] = {name: sent.text(name) for name in ("title", "description", "epsilon", "delta")}
    count = min(int(sent.number("count")), 40)
    form["release"] = [
        {name: sent.text(f"{name}-{at}") for name in FORM if name not in ("columns", "code")}
        | {"code": sent.text(f"code-{at}", LONGEST)}
        | {"columns": sent.many(f"columns-{at}")}
        for at in range(count)
    ]
    return form


def _plainly(error: DiscreetError, sent: Posted) -> str:
    """What is wrong, by the number of the question where no lines of a plan are seen."""
    if sent.text("view", 10) == "text":
        return str(error)
    return re.sub(
        r"^your plan(, line \d+)?: (release 'q(\d+)': )?", lambda at: f"Question {at[3]}: " if at[3] else "", str(error)
    )


@router.post("/ask/{name}/price")
def price(name: str, sent: Sent) -> HTMLResponse:
    """What it would cost, how accurate it would be, and what that means; nothing is spent."""
    sent.visitor.must_be("analyst", "steward")
    source = source_of(sent.desk, name)
    text = ""
    try:
        text = _written(sent, source)
        told = sent.desk.foreseen(sent.desk.price(text, source, sent.person), sent.person)
    except DiscreetError as error:
        return HTMLResponse(render("_price.html", says=_plainly(error, sent), told=None, source=source, text=text))
    return HTMLResponse(render("_price.html", says="", told=told, source=source, text=text))


@router.post("/ask/{name}/view")
def view(name: str, sent: Sent) -> HTMLResponse:
    """The same plan in the other view, or with one question more or less."""
    sent.visitor.must_be("analyst", "steward")
    source, action = source_of(sent.desk, name), sent.text("action", 20)
    try:
        if sent.text("view", 10) == "text":
            text = sent.text("text", LARGEST)
            if action != "form":
                return HTMLResponse(_ask(sent.visitor, source, view="text", text=text))
            return HTMLResponse(_ask(sent.visitor, source, form=to_form(text, source.columns)))
        form = _form(sent)
        if action == "text":
            return HTMLResponse(_ask(sent.visitor, source, view="text", text=to_text(form, source.columns)))
        if action == "more":
            form["release"].append(NEW)
        if action.startswith("less-") and action[5:].isdigit() and len(form["release"]) > 1:
            del form["release"][min(int(action[5:]), len(form["release"]) - 1)]
        return HTMLResponse(_ask(sent.visitor, source, form=form))
    except BadInput as error:
        again = {"view": "text", "text": sent.text("text", LARGEST)} if sent.text("view", 10) == "text" else {}
        return HTMLResponse(_ask(sent.visitor, source, says=str(error), **again))


@router.post("/ask/{name}")
def submit(name: str, sent: Sent) -> Response:
    """Send it for approval."""
    sent.visitor.must_be("analyst", "steward")
    source = source_of(sent.desk, name)
    try:
        request = sent.desk.submit(_written(sent, source), source, sent.person)
    except DiscreetError as error:
        text = sent.text("view", 10) == "text"
        again = {"view": "text", "text": sent.text("text", LARGEST)} if text else {"form": _form(sent)}
        return HTMLResponse(_ask(sent.visitor, source, says=_plainly(error, sent), **again), 422)
    return RedirectResponse(f"/requests/{request.id}", 303)


@router.get("/requests")
def requests(who: Who, sort: str = "") -> HTMLResponse:
    """One's own requests."""
    mine = [who.desk.state_of(one) for one in who.desk.requests.listed({"analyst": who.person.name})]
    rows, by = ordered(mine, sort, SORTS)
    return HTMLResponse(render("requests.html", visitor=who, title="My requests", requests=rows, sort=by))


@router.get("/requests/{which}")
def one_request(which: str, who: Who, request: Request) -> HTMLResponse:
    """What became of a request, and its report once it is due."""
    found = who.desk.seen_by(which, who.person)
    if found is None:
        raise HTTPException(404)
    state, dossier = who.desk.state_of(found), who.desk.report(found)
    report, lead, body = (None, "", "") if dossier is None else report_body(dossier)
    template = "_request.html" if "hx-request" in request.headers else "request.html"
    given = {"state": state, "ahead": found.ahead, "text": found.text, "report": report, "lead": lead, "body": body}
    source = who.desk.sources.known(found.source)
    wait = max(1, round((found.due or 0) - who.desk.clock()) + 1)
    return HTMLResponse(render(template, visitor=who, title=found.title, source=source, seconds=min(wait, 30), **given))


@router.post("/requests/{which}/withdraw")
def withdraw(which: str, sent: Sent) -> Response:
    """Take back what was not decided yet."""
    found = sent.desk.requests.find(which)
    if found is None or found.analyst != sent.person.name:
        raise HTTPException(404)
    sent.desk.decline(which, sent.person, WITHDRAWN)
    return RedirectResponse(f"/requests/{which}", 303)


@router.get("/requests/{which}/report.{form}")
def download(which: str, form: str, who: Who) -> Response:
    """The report as a page of its own, as JSON, or as a table."""
    found = who.desk.seen_by(which, who.person)
    dossier = None if found is None else who.desk.report(found)
    if dossier is None or form not in ("html", "json", "csv"):
        raise HTTPException(404)
    return report_file(which, form, dossier)


def report_file(which: str, form: str, dossier: dict[str, Any]) -> Response:
    """A report to keep."""
    made = {"html": (page, "text/html"), "json": (to_json, "application/json"), "csv": (to_csv, "text/csv")}
    write, kind = made[form]
    headers = {"content-disposition": f'attachment; filename="report-{which}.{form}"'}
    return Response(write(dossier), media_type=kind, headers=headers | {"content-security-policy": DOWNLOAD})
