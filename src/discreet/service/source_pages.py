"""For stewards: the tables of the service, and the pages on which one is added, changed or closed.

A source is a text in TOML, as an entry of service.toml. The form is another view of it.
"""

import json
import tomllib
from collections.abc import Mapping
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, HTTPException
from starlette.responses import HTMLResponse, RedirectResponse, Response

from discreet.errors import BadInput
from discreet.service.asked_plan import as_toml
from discreet.service.desk import budget_of
from discreet.service.guards import Posted, Visitor, posted
from discreet.service.sources import LARGEST
from discreet.service.steward_pages import Keeper, Steward
from discreet.service.views import render
from discreet.tables.table import Table

router = APIRouter(include_in_schema=False)
Sent = Annotated[Posted, Depends(posted)]
DATA: Final = ("source", "table", "engine", "person", "unit", "neighbours")
EMPTY: Final[Mapping[str, Any]] = {"data": {"unit": "person"}, "population": {"accounting": "epsilon"}}


@router.get("/sources")
def sources(who: Keeper) -> HTMLResponse:
    """The tables and their budgets."""
    return HTMLResponse(_sources(who))


def _sources(who: Visitor, says: str = "") -> str:
    desk = who.desk
    told = [(one, budget_of(desk.ledger.account(one.population.name))) for one in desk.sources.all()]
    added = {one.name: one for one in desk.sources.store.all()}
    idle = [(one, desk.sources.problem(one)) for one in added.values()]
    own = {one.name for one in desk.settings.source}
    return render(
        "sources.html", visitor=who, title="Sources", tables=told, pace=desk.pace, added=set(added) - own, says=says,
        idle=[(one, problem) for one, problem in idle if problem or not one.open],
    )  # fmt: skip


@router.get("/sources/add")
def new(who: Steward) -> HTMLResponse:
    """An empty form."""
    return HTMLResponse(_page(who, EMPTY))


@router.get("/sources/{name}/change")
def change(name: str, who: Steward) -> HTMLResponse:
    """The form of a source that a steward has added."""
    found = who.desk.sources.store.find(name)
    if found is None:
        raise HTTPException(404)
    return HTMLResponse(_page(who, found.record, changes=name))


@router.post("/sources/add")
def edit(sent: Sent) -> Response:
    """The other view, a look at the schema, or the declaration itself."""
    sent.visitor.must_be("steward")
    view, action, changes = sent.text("view", 10), sent.text("action", 10), sent.text("changes", 100)
    text = sent.text("text", LARGEST) if view == "text" else None
    record: Mapping[str, Any] = EMPTY
    try:
        record = _form(sent) if text is None else parsed(text)
        if action in ("form", "text"):
            text = to_text(record) if action == "text" and text is None else text if action == "text" else None
            return HTMLResponse(_page(sent.visitor, record, changes=changes, text=text))
        if action == "add":
            sent.desk.sources.declare(record, by=sent.person.name, changes=changes)
            return RedirectResponse("/sources", 303)
        _, table = sent.desk.sources.checked(record, changes=changes)
        return HTMLResponse(_page(sent.visitor, record, changes=changes, text=text, table=table))
    except BadInput as error:
        return HTMLResponse(_page(sent.visitor, record, changes=changes, text=text, says=str(error), sent=sent), 422)


@router.post("/sources/{name}/close")
def close(name: str, sent: Sent) -> Response:
    """No more questions about a source that a steward has added."""
    sent.visitor.must_be("steward")
    try:
        sent.desk.sources.close(name, by=sent.person.name)
    except BadInput as error:
        return HTMLResponse(_sources(sent.visitor, str(error)), 409)
    return RedirectResponse("/sources", 303)


def _page(
    who: Visitor,
    record: Mapping[str, Any],
    *,
    changes: str = "",
    text: str | None = None,
    says: str = "",
    table: Table | None = None,
    sent: Posted | None = None,
) -> str:
    settings = who.desk.settings
    shown: dict[str, Any] = flat(record)
    if sent is not None and text is None:  # as it was typed, also where it cannot be understood
        shown = {name: sent.text(name, LARGEST) for name in shown}
    return render(
        "source.html", visitor=who, title="Change a source" if changes else "Add a source", form=shown, says=says,
        text=text, changes=changes, columns=None if table is None else [(one, table.kinds[one]) for one in table.names],
        folders=settings.folders, databases=sorted(settings.databases), engines=sorted(settings.engines),
    )  # fmt: skip


def parsed(text: str) -> dict[str, Any]:
    """The record in a text: the keys of a source, or one [[source]]."""
    try:
        found = tomllib.loads(text)
        json.dumps(found, allow_nan=False)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadInput(f"this is not TOML: {error}") from None
    except (TypeError, ValueError):
        raise BadInput("the source holds a date, or a number that is not finite; leave it out") from None
    inside = found.get("source")
    if isinstance(inside, list):
        if len(inside) != 1 or len(found) != 1 or not isinstance(inside[0], dict):
            raise BadInput("the text must hold one [[source]], and nothing else")
        return inside[0]
    return found


def to_text(record: Mapping[str, Any]) -> str:
    """A record as an entry of service.toml."""
    lines = ["[[source]]"]
    lines += [f"{_key(name)} = {as_toml(value)}" for name, value in record.items() if name != "columns"]
    for name, book in (record.get("columns") or {}).items():
        lines += ["", f"[source.columns.{as_toml(name)}]", *(f"{_key(k)} = {as_toml(v)}" for k, v in book.items())]
    return "\n".join(lines) + "\n"


def _key(name: str) -> str:
    return name if name.isascii() and name.replace("_", "").isalnum() else as_toml(name)


def flat(record: Mapping[str, Any]) -> dict[str, str]:
    """The fields of the form; what has no field of its own is in the last one, as TOML."""
    data, people = _part(record, "data"), _part(record, "population")
    found = {name: record.get(name, "") for name in ("name", "title", "description")}
    found |= {name: data.get(name, "") for name in DATA}
    found |= {"population": people.get("name", "")}
    found |= {name: people.get(name, "") for name in ("epsilon", "delta", "accounting")}
    rest = {name: value for name, value in data.items() if name not in DATA}
    lines = [f"{_key(name)} = {as_toml(value)}" for name, value in rest.items()]
    for name, book in _part(record, "columns").items():
        told = book if isinstance(book, dict) else {}
        lines += ["", f"[columns.{as_toml(name)}]", *(f"{_key(k)} = {as_toml(v)}" for k, v in told.items())]
    return {name: str(value) for name, value in found.items()} | {"more": "\n".join(lines).strip()}


def _part(record: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = record.get(name)
    return found if isinstance(found, dict) else {}


def _form(sent: Posted) -> dict[str, Any]:
    """The record that the form describes."""
    more = parsed(sent.text("more", LARGEST))
    columns = more.pop("columns", {})
    data = more | {name: found for name in DATA if (found := sent.text(name).strip())}
    people: dict[str, Any] = {"name": sent.text("population").strip()}
    people |= {"accounting": found} if (found := sent.text("accounting", 20)) else {}
    for name in ("epsilon", "delta"):
        if given := sent.text(name, 100).strip():
            try:
                people[name] = float(given)
            except ValueError:
                raise BadInput(f"{name} must be a number, as in 1.0") from None
    record: dict[str, Any] = {"name": sent.text("name").strip(), "title": sent.text("title").strip()}
    record |= {"description": sent.text("description").strip(), "data": data, "population": people}
    return record | ({"columns": columns} if columns else {})
