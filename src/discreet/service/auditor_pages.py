"""For auditors and stewards: the ledger as it is, whether it is sound, and who asked what. Nothing changes here."""

from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.responses import HTMLResponse, Response

from discreet.service.desk import budget_of
from discreet.service.guards import Visitor, visitor
from discreet.service.views import SORTS, ordered, render

router = APIRouter(include_in_schema=False)
SHOWN = 100


def auditor(who: Annotated[Visitor, Depends(visitor)]) -> Visitor:
    """An auditor or a steward; 403 for others."""
    who.must_be("auditor", "steward")
    return who


Auditor = Annotated[Visitor, Depends(auditor)]


@router.get("/ledger")
def ledger(who: Auditor, before: int | None = None) -> HTMLResponse:
    """The entries, the latest first, and the budgets."""
    lines = who.desk.ledger.lines(before=before, most=SHOWN)
    accounts = [(name, part, budget_of(account)) for name, part, account in who.desk.ledger.accounts()]
    given = {"lines": lines, "accounts": accounts, "more": len(lines) == SHOWN and lines[-1].number > 1}
    return HTMLResponse(render("ledger.html", visitor=who, title="Ledger", anchor=who.desk.ledger.anchor, **given))


@router.get("/ledger/verify")
def verify(who: Auditor) -> HTMLResponse:
    """Read all of it again, and say whether it is what was written."""
    return HTMLResponse(render("_verdict.html", verdict=who.desk.ledger.verify()))


@router.get("/ledger/entries.{form}")
def export(form: str, who: Auditor) -> Response:
    """All entries, to keep."""
    import io

    from fastapi import HTTPException

    if form not in ("csv", "json"):
        raise HTTPException(404)
    file = io.StringIO()
    who.desk.ledger.export(file, "csv" if form == "csv" else "json")
    kind = "text/csv" if form == "csv" else "application/json"
    headers = {"content-disposition": f'attachment; filename="ledger.{form}"'}
    return Response(file.getvalue(), media_type=kind, headers=headers)


@router.get("/questions")
def questions(who: Auditor, sort: str = "") -> HTMLResponse:
    """Who asked what, and what was decided."""
    every = [who.desk.state_of(one) for one in who.desk.requests.listed({})]
    rows, by = ordered(every, sort, SORTS)
    return HTMLResponse(render("questions.html", visitor=who, title="Who asked what", requests=rows, sort=by))
