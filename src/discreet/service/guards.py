"""What every request passes before anything else looks at it, and who it comes from.

A name that is not ours in Host, an Origin that is not ours, a body that is too large: refused here. Cookies open pages,
tokens open /api/v1, and neither opens the other: whoever sends an Authorization header has no cookies here. Only a
program that sends a token to /api/v1 needs no Origin. Every form holds its session's own secret.
"""

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any, Final

from fastapi import HTTPException, Request
from starlette.datastructures import FormData
from starlette.responses import JSONResponse, PlainTextResponse, Response

from discreet.ledger.service_people import ApiToken, Person
from discreet.service.desk import Desk
from discreet.service.passwords import same

LARGEST: Final = 262_144  # bytes of a body
SAFE: Final = ("GET", "HEAD", "OPTIONS")
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS: Final[Mapping[str, str]] = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",  # with none at all, browsers send forms without an origin
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class TooLarge(Exception):
    """A body that grows beyond what may be sent."""


class Gate:
    """Host, origin and size, before the application; the headers of every answer, after it."""

    def __init__(
        self,
        app: Callable[[Scope, Receive, Send], Awaitable[None]],
        hosts: frozenset[str],
        https: bool,
        fault: Callable[[str], Response],
    ) -> None:
        self._app, self._hosts, self._https, self._fault = app, hosts, https, fault

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        refused = self._refusal(scope, headers)
        if "authorization" in headers:
            scope = {**scope, "headers": [one for one in scope["headers"] if one[0].lower() != b"cookie"]}
        started = False

        async def answer(message: MutableMapping[str, Any]) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                own = {name.lower() for name, _ in message["headers"]}
                more = [(k.encode(), v.encode()) for k, v in HEADERS.items() if k.encode() not in own]
                if self._https:
                    more.append((b"strict-transport-security", b"max-age=31536000"))
                message["headers"] = [*message["headers"], *more]
            await send(message)

        if refused is not None:
            await _said(scope, *refused)(scope, receive, answer)
            return
        size = 0

        async def limited() -> MutableMapping[str, Any]:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > LARGEST:
                raise TooLarge
            return message

        try:
            await self._app(scope, limited, answer)
        except TooLarge:
            if not started:
                await _said(scope, 413, "This is larger than what may be sent.")(scope, receive, answer)
        except Exception:  # noqa: BLE001  an error that nobody foresaw goes into no log: it may hold what was asked
            if not started:
                await self._fault(str(scope["path"]))(scope, receive, answer)

    def _refusal(self, scope: Scope, headers: Mapping[str, str]) -> tuple[int, str] | None:
        host = headers.get("host", "").lower()
        if host not in self._hosts or sum(name.lower() == b"host" for name, _ in scope["headers"]) != 1:
            return 400, "This server is not called that."
        length = headers.get("content-length", "0")
        if not (length.isascii() and length.isdigit()) or int(length) > LARGEST:
            return 413, "This is larger than what may be sent."
        bearer = headers.get("authorization", "").lower().startswith("bearer ") and scope["path"].startswith("/api/v1/")
        if scope["method"] not in SAFE and not bearer:
            scheme = "https" if self._https else "http"
            origins = (f"http://{host}", f"https://{host}") if not self._https else (f"{scheme}://{host}",)
            if headers.get("origin", "").lower() not in origins or headers.get("sec-fetch-site", "same-origin") not in (
                "same-origin",
                "none",
            ):
                return 403, "This form was sent from another place."
        return None


def _said(scope: Scope, status: int, says: str) -> Response:
    """A refusal at the gate: JSON for programs."""
    program = str(scope["path"]).startswith("/api/")
    return JSONResponse({"error": says}, status) if program else PlainTextResponse(says, status)


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who has signed in, and the secret that their forms hold."""

    person: Person
    csrf: str
    desk: Desk

    def must_be(self, *roles: str) -> None:
        """403 for other roles."""
        if self.person.role not in roles:
            raise HTTPException(403)


@dataclass(frozen=True, slots=True)
class Posted:
    """A form that its own session has sent."""

    visitor: Visitor
    form: FormData

    @property
    def person(self) -> Person:
        """Who sent it."""
        return self.visitor.person

    @property
    def desk(self) -> Desk:
        """The service."""
        return self.visitor.desk

    def text(self, name: str, longest: int = 2_000) -> str:
        """A text of the form."""
        found = self.form.get(name, "")
        if not isinstance(found, str) or len(found) > longest:
            raise HTTPException(422)
        return found.replace("\r\n", "\n")

    def number(self, name: str) -> float:
        """A number of the form."""
        try:
            return float(self.text(name, 100))
        except ValueError:
            raise HTTPException(422) from None

    def many(self, name: str) -> list[str]:
        """All that was chosen under a name."""
        return [one for one in self.form.getlist(name) if isinstance(one, str) and one]


@dataclass(frozen=True, slots=True)
class Program:
    """A program with a token."""

    person: Person
    token: ApiToken
    desk: Desk

    def may(self, scope: str) -> None:
        """403 without this scope."""
        if scope not in self.token.scopes:
            raise HTTPException(403, f"this token may not {scope}")


def cookie_name(desk: Desk) -> str:
    """The cookie's name; with the prefix, browsers take it over HTTPS from this host alone."""
    return "__Host-discreet" if desk.settings.secure else "discreet"


def visitor(request: Request) -> Visitor:
    """Who has signed in; 401 if nobody."""
    desk: Desk = request.app.state.desk
    found = desk.accounts.session(request.cookies.get(cookie_name(desk), ""))
    if found is None:
        raise HTTPException(401)
    return Visitor(*found, desk)


async def posted(request: Request) -> Posted:
    """A form with the secret of its session; 403 without."""
    from starlette.concurrency import run_in_threadpool

    found = await run_in_threadpool(visitor, request)
    form = await request.form(max_files=0, max_fields=2_000, max_part_size=LARGEST)
    sent = form.get("csrf") or request.headers.get("x-csrf-token", "")
    if not isinstance(sent, str) or not same(sent, found.csrf):
        raise HTTPException(403)
    return Posted(found, form)


def program(request: Request) -> Program:
    """The program that a bearer token belongs to; 401 if there is none."""
    desk: Desk = request.app.state.desk
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    found = desk.accounts.bearer(token.strip()) if scheme.lower() == "bearer" else None
    if found is None:
        raise HTTPException(401, "a token is needed: Authorization: Bearer ...")
    return Program(*found, desk)
