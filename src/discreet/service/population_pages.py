"""Populations: the people whose privacy is promised, their budget, its parts, and the tables about them."""

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException
from starlette.responses import HTMLResponse, RedirectResponse, Response

from discreet.errors import BadInput
from discreet.ledger.account import Account
from discreet.service.auditor_pages import Auditor
from discreet.service.desk import Desk, budget_of
from discreet.service.guards import Posted, Visitor, posted
from discreet.service.settings import Source
from discreet.service.views import ordered, render

router = APIRouter(include_in_schema=False)
SORTED = ("analyst", "left", "epsilon", "delta")
ASKS = ("analyst", "steward")  # the roles to which a part can be given


@dataclass(frozen=True, slots=True)
class People:
    """A population as stewards and auditors see it."""

    name: str
    account: Account
    budget: dict[str, Any]
    sources: list[Source]
    parts: list[dict[str, Any]]
    without: list[str]

    @property
    def given(self) -> float:
        """What the parts add up to that have not ended."""
        return sum(float(part["epsilon"]) for part in self.parts if not part["ended"])


def populations_of(desk: Desk, by: str, sort: str = "") -> list[People]:
    """Every population that ever had a budget; a part can be given to those who ask, but not to oneself."""
    accounts, sources = desk.ledger.accounts(), desk.sources.all()
    asks = [one.name for one in desk.people.all() if one.role in ASKS and one.active and one.name != by]
    found = []
    for name, whose, account in accounts:
        if whose:
            continue
        parts = [{"analyst": who} | budget_of(part) for of, who, part in accounts if who and of == name]
        without = sorted({*asks} - {part["analyst"] for part in parts})
        shown = [dict(part) for part in ordered(parts, sort, SORTED)[0]]
        about = [one for one in sources if one.population.name == name]
        found.append(People(name, account, budget_of(account), about, shown, without if about else []))
    return found


def _populations(who: Visitor, says: str = "", sort: str = "") -> str:
    given = {"people": populations_of(who.desk, who.person.name, sort), "says": says, "sort": sort}
    published = who.desk.requests.published()
    return render("populations.html", visitor=who, title="Populations", published=published, **given)


@router.get("/populations")
def populations(who: Auditor, sort: str = "") -> HTMLResponse:
    """Their budgets and who has which part of them."""
    return HTMLResponse(_populations(who, sort=sort))


@router.post("/populations/allot")
def allot(sent: Annotated[Posted, Depends(posted)]) -> Response:
    """A part for somebody who has none."""
    sent.visitor.must_be("steward")
    name, analyst = sent.text("population", 500), sent.text("analyst", 500)
    source = next((one for one in sent.desk.sources.all() if one.population.name == name), None)
    if source is None:
        raise HTTPException(404)
    try:
        sent.desk.parts.allot(source, analyst, sent.number("epsilon"), sent.number("delta"), by=sent.person.name)
    except BadInput as error:
        return HTMLResponse(_populations(sent.visitor, str(error)), 422)
    return RedirectResponse("/populations", 303)
