"""For auditors and stewards: the ledger as it is, whether it is sound, and who asked what. Nothing changes here."""

from collections import deque
from collections.abc import Iterator
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import HTMLResponse, Response

from discreet.errors import LedgerChanged
from discreet.ledger import Ledger
from discreet.ledger.seal import Anchor, Head
from discreet.service.guards import Visitor, visitor
from discreet.service.views import SORTS, ordered, render

router = APIRouter(include_in_schema=False)
SHOWN = 100
Number = Annotated[int, Query(ge=1, lt=2**63)]  # of an entry, as databases hold it
HEADS = 8  # of the anchor, that a page shows


def auditor(who: Annotated[Visitor, Depends(visitor)]) -> Visitor:
    """An auditor or a steward; 403 for others."""
    who.must_be("auditor", "steward")
    return who


Auditor = Annotated[Visitor, Depends(auditor)]


@router.get("/ledger")
def ledger(who: Auditor, before: Number | None = None) -> HTMLResponse:
    """The entries, the latest first, and the last heads of the anchor."""
    book, broken = who.desk.ledger, False
    try:
        lines, newest = book.lines(before=before, most=SHOWN), book.lines(most=1)
    except LedgerChanged:  # an auditor is told so, rather than that the page is broken
        lines, newest, broken = [], [], True
    heads = [(one, held(book, one.number, one.hash)) for one in deque(anchored(book), HEADS)][::-1]
    given: dict[str, Any] = {"lines": lines, "heads": heads, "newest": newest, "broken": broken}
    given["more"] = len(lines) == SHOWN and lines[-1].number > 1
    return HTMLResponse(render("ledger.html", visitor=who, title="Ledger", anchor=book.anchor, **given))


def anchored(book: Ledger) -> Iterator[Head]:
    """The heads that the outside copy has seen, in its order; without their signatures they prove what was seen."""
    found = () if book.anchor is None else Anchor(book.anchor).heads()
    return (one for one in found if one is not None and one.number)


def held(book: Ledger, number: int, hash_: str) -> bool:
    """Whether an entry is there with this hash, and signed."""
    try:
        found = book.entry(number)
    except LedgerChanged:
        return False
    return found is not None and found.hash == hash_.strip().lower()


@router.get("/ledger/head")
def head(who: Auditor, request: Request, number: Number, kept: str = "") -> HTMLResponse:
    """Whether a head that somebody kept is still there."""
    template = "_head.html" if "hx-request" in request.headers else "head.html"
    same = held(who.desk.ledger, number, kept[:200])
    return HTMLResponse(render(template, visitor=who, title="A head that was kept", number=number, same=same))


@router.get("/ledger/heads.csv")
def heads(who: Auditor) -> Response:
    """All heads of the anchor, to keep elsewhere."""
    lines = ["entry,hash", *(f"{one.number},{one.hash}" for one in anchored(who.desk.ledger))]
    headers = {"content-disposition": 'attachment; filename="heads.csv"'}
    return Response("\n".join(lines) + "\n", media_type="text/csv", headers=headers)


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
