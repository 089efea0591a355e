"""Signing in and out, one's own account, and what everybody may read."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, RedirectResponse, Response

from discreet.errors import BadInput
from discreet.service.accounts import SCOPES, WRONG
from discreet.service.desk import Desk
from discreet.service.guards import Posted, Visitor, cookie_name, posted, visitor
from discreet.service.passwords import SHORTEST, digest_of, fresh, same
from discreet.service.provider import REFUSED, NotSignedIn, Provider, signed_in
from discreet.service.views import render, report_body

router = APIRouter(include_in_schema=False)
FIRST = {"analyst": "/catalogue", "steward": "/inbox", "auditor": "/ledger", "admin": "/people"}
BEFORE = "discreet-before"  # the secret of a form that nobody has signed in for yet


def sign_in_page(request: Request, says: str = "", name: str = "") -> str:
    """The form; its secret is in a cookie as well."""
    secret = _secret(request)
    demo = getattr(request.app.state, "demo", ())
    settings = request.app.state.desk.settings
    given = {"says": says, "secret": secret, "name": name, "demo": demo, "oidc": settings.oidc}
    return render("login.html", visitor=None, title="Sign in", passwords=settings.passwords, **given)


def code_page(request: Request, says: str = "", name: str = "") -> str:
    """The form in which a code chooses a password."""
    secret, hours = _secret(request), request.app.state.desk.settings.login.code_hours
    given = {"says": says, "secret": secret, "name": name, "hours": hours, "shortest": SHORTEST}
    return render("code.html", visitor=None, title="Choose your password", **given)


def _secret(request: Request) -> str:
    """The secret of a form that nobody has signed in for yet."""
    request.state.before = request.cookies.get(BEFORE) or fresh(16)
    return str(request.state.before)


async def _before(request: Request, *names: str) -> list[str]:
    """The fields of a form that nobody has signed in for, if its secret is that of this browser; 403 if not."""
    form = await request.form(max_files=0, max_fields=10)
    secret, *found = (str(form.get(field, "")) for field in ("csrf", *names))
    if not secret or not same(secret, request.cookies.get(BEFORE, "")):
        raise HTTPException(403)
    return found


def _kept(request: Request, response: Response) -> Response:
    secure = request.app.state.desk.settings.secure
    response.set_cookie(BEFORE, request.state.before, httponly=True, samesite="strict", secure=secure)
    return response


@router.get("/")
def home(request: Request) -> Response:
    """Where each role begins; the sign-in page for others."""
    try:
        found = visitor(request)
    except HTTPException:
        return RedirectResponse("/login", 303)
    return RedirectResponse(FIRST[found.person.role], 303)


@router.get("/login")
def login(request: Request) -> Response:
    """The form."""
    return _kept(request, HTMLResponse(sign_in_page(request)))


@router.post("/login")
async def sign_in(request: Request) -> Response:
    """A session for the right name and password; one sentence for everything else."""
    name, password = await _before(request, "name", "password")
    desk: Desk = request.app.state.desk
    token = await run_in_threadpool(desk.accounts.sign_in, name, password, _address(request))
    if token is None:
        return _kept(request, HTMLResponse(sign_in_page(request, WRONG, name[:200]), 401))
    return _with_session(desk, RedirectResponse("/", 303), token)


@router.get("/login/code")
def code_form(request: Request) -> Response:
    """The form for who has a code: new people, and those whose account was reset."""
    _with_passwords(request)
    return _kept(request, HTMLResponse(code_page(request)))


@router.post("/login/code")
async def choose(request: Request) -> Response:
    """A password for the right code, and the account page, which says what was done to the account."""
    name, code, password = await _before(request, "name", "code", "password")
    desk = _with_passwords(request)
    try:
        token = await run_in_threadpool(desk.accounts.choose, name, code, password, _address(request))
    except BadInput as error:
        return _kept(request, HTMLResponse(code_page(request, str(error), name[:200]), 422))
    return _with_session(desk, RedirectResponse("/account", 303), token)


def _with_passwords(request: Request) -> Desk:
    desk: Desk = request.app.state.desk
    if not desk.settings.passwords:
        raise HTTPException(404)
    return desk


def _address(request: Request) -> str:
    return request.client.host if request.client is not None else ""


def _with_session(desk: Desk, response: Response, token: str) -> Response:
    seconds = int(3600 * desk.settings.login.hours)
    response.set_cookie(
        cookie_name(desk), token, max_age=seconds, httponly=True, samesite="strict", secure=desk.settings.secure
    )
    return response


def _attempt(desk: Desk) -> str:
    return "__Host-discreet-attempt" if desk.settings.secure else "discreet-attempt"


def _provider(request: Request) -> Provider:
    found: Provider | None = request.app.state.provider
    if found is None:
        raise HTTPException(404)
    return found


def _back(desk: Desk, request: Request) -> str:
    """Where the provider sends people back to: under the name by which they called, which the gate has checked."""
    return f"{'https' if desk.settings.secure else 'http'}://{request.headers['host']}/login/provider/back"


@router.get("/login/provider")
def to_provider(request: Request) -> Response:
    """To the provider of identities; the secret of this attempt stays in the browser."""
    desk, found = request.app.state.desk, _provider(request)
    secret = fresh()
    try:
        if not desk.accounts.may_try(_address(request)):
            raise NotSignedIn
        response = RedirectResponse(found.address(secret, _back(desk, request)), 303)
    except NotSignedIn:
        return _kept(request, HTMLResponse(sign_in_page(request, REFUSED), 401))
    # Lax: the provider sends people back from another site, and Strict cookies stay behind
    response.set_cookie(_attempt(desk), secret, max_age=600, httponly=True, samesite="lax", secure=desk.settings.secure)
    return response


@router.get("/login/provider/back")
def from_provider(request: Request, code: str = "", state: str = "") -> Response:
    """A session for whom the provider has signed in, if the settings give them a role; once for each attempt."""
    desk, found = request.app.state.desk, _provider(request)
    secret, cookie = request.cookies.get(_attempt(desk), ""), {"httponly": True, "secure": desk.settings.secure}
    try:
        token = signed_in(desk, found.settings, found.claims(secret, _back(desk, request), state, code))
        # not a redirect: a browser that comes from another site would leave the Strict cookie behind
        response = _with_session(desk, HTMLResponse(render("signed_in.html", visitor=None, title="Signed in")), token)
    except NotSignedIn:
        response = _kept(request, HTMLResponse(sign_in_page(request, REFUSED), 401))
    response.delete_cookie(_attempt(desk), samesite="lax", **cookie)
    return response


@router.post("/logout")
def sign_out(request: Request, sent: Annotated[Posted, Depends(posted)]) -> Response:
    """The end of the session, on the server as well."""
    sent.desk.people.end(digest_of(request.cookies[cookie_name(sent.desk)]))
    response = RedirectResponse("/login", 303)
    response.delete_cookie(cookie_name(sent.desk), secure=sent.desk.settings.secure, httponly=True, samesite="strict")
    return response


def _account(who: Visitor, **more: Any) -> str:
    given = {"token": None, "says": "", "done": "", "passwords": who.desk.settings.passwords} | more
    given |= {"tokens": who.desk.people.tokens(who.person.name), "scopes": SCOPES[who.person.role]}
    return render(
        "account.html", visitor=who, title="Your account", history=who.desk.accounts.history(who.person), **given
    )


@router.get("/account")
def account(who: Annotated[Visitor, Depends(visitor)]) -> HTMLResponse:
    """What was done to the account, tokens, and the password."""
    return HTMLResponse(_account(who))


@router.post("/account/password")
def password(sent: Annotated[Posted, Depends(posted)]) -> Response:
    """Another password, which ends all sessions."""
    try:
        sent.desk.accounts.new_password(sent.person, sent.text("old"), sent.text("new"))
    except BadInput as error:
        return HTMLResponse(_account(sent.visitor, says=str(error)), 422)
    return RedirectResponse("/login", 303)


@router.post("/account/tokens")
def new_token(sent: Annotated[Posted, Depends(posted)]) -> HTMLResponse:
    """A token, shown once."""
    try:
        token = sent.desk.accounts.issue(sent.person, sent.text("label", 100), sent.many("scopes"), sent.number("days"))
    except BadInput as error:
        return HTMLResponse(_account(sent.visitor, says=str(error)), 422)
    return HTMLResponse(_account(sent.visitor, token=token))


@router.post("/account/tokens/{which}/revoke")
def revoke(which: str, sent: Annotated[Posted, Depends(posted)]) -> Response:
    """A token that opens nothing any more."""
    sent.desk.people.revoke(which, sent.person.name)
    return RedirectResponse("/account", 303)


def _maybe(request: Request) -> Visitor | None:
    try:
        return visitor(request)
    except HTTPException:
        return None


@router.get("/published")
def published(request: Request) -> HTMLResponse:
    """The reports that everybody may read."""
    desk: Desk = request.app.state.desk
    return HTMLResponse(
        render("published.html", visitor=_maybe(request), title="Published reports", reports=desk.requests.published())
    )


@router.get("/published/{which}")
def published_report(which: str, request: Request) -> HTMLResponse:
    """One of them, without signing in."""
    desk: Desk = request.app.state.desk
    found = desk.requests.find(which)
    dossier = None if found is None or found.published is None else desk.report(found)
    if dossier is None or found is None:
        raise HTTPException(404)
    report, lead, body = report_body(dossier)
    return HTMLResponse(
        render("public_report.html", visitor=_maybe(request), title=report.title, report=report, lead=lead, body=body)
    )
