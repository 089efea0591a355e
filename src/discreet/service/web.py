"""The application: its pages, its interface for programs, and what is said when something is refused."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Final

from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException as PlainHTTPException
from starlette.responses import HTMLResponse, JSONResponse, Response

from discreet.errors import BadInput, DiscreetError, OverBudget, Refused
from discreet.service import (
    analyst_pages,
    api_v1,
    auditor_pages,
    population_pages,
    sign_in_pages,
    source_pages,
    steward_pages,
)
from discreet.service.crew import Crew
from discreet.service.desk import Desk
from discreet.service.guards import Gate, visitor
from discreet.service.provider import Provider
from discreet.service.views import render, style

SAYS: Final = {
    400: "This cannot be understood.",
    401: "Please sign in.",
    403: "This is not for your role, or the page is out of date. Reload it, and try again.",
    404: "There is no such page, or it is not for you.",
    405: "This is not done this way.",
    409: "Somebody was faster. Reload the page.",
    413: "This is larger than what may be sent.",
    422: "This cannot be understood.",
    500: "The service could not do this. Nothing more is shown. Please tell its administrator.",
}
TITLES: Final = {403: "Not open to you", 404: "Not found", 413: "Too large", 500: "Something went wrong"}
STATIC: Final = {"htmx.min.js": "text/javascript", "service.js": "text/javascript", "favicon.svg": "image/svg+xml"}


def make_app(desk: Desk, crew: Crew | None = None) -> FastAPI:
    """The service as an application; `crew` works on the queue while it runs."""

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        if crew is not None:
            crew.start()
        yield
        if crew is not None:
            crew.stop()

    app = FastAPI(
        title="discreet", docs_url=None, redoc_url=None, openapi_url=None, lifespan=life, redirect_slashes=False
    )
    app.state.desk = desk
    oidc = desk.settings.oidc
    app.state.provider = None if oidc is None else Provider(oidc, desk.folder)
    app.add_middleware(Gate, hosts=desk.settings.hosts, https=desk.settings.secure, fault=_fault)
    people = (steward_pages, population_pages, source_pages, auditor_pages)
    for part in (sign_in_pages, analyst_pages, *people, api_v1):
        app.include_router(part.router)
    app.include_router(api_v1.pages)
    _static(app)
    app.add_exception_handler(PlainHTTPException, _refused)  # type: ignore[arg-type]
    app.add_exception_handler(RequestValidationError, _misread)  # type: ignore[arg-type]
    app.add_exception_handler(DiscreetError, _ours)  # type: ignore[arg-type]
    return app


def _static(app: FastAPI) -> None:
    """The few files there are, by name: no folder is listed or searched."""
    folder, sheet = files("discreet.service").joinpath("static"), style()
    content = {name: (folder.joinpath(name).read_bytes(), kind) for name, kind in STATIC.items()}
    content["service.css"] = (sheet.encode(), "text/css")
    kept = {"cache-control": "public, max-age=3600"}

    @app.get("/static/{name}", include_in_schema=False)
    def static(name: str) -> Response:
        if name not in content:
            raise HTTPException(404)
        body, kind = content[name]
        return Response(body, media_type=kind, headers=kept)


def _told(request: Request, status: int, says: str) -> Response:
    """An error in the form that the caller reads: JSON, a part of a page, or a page."""
    if request.url.path.startswith("/api/"):
        return JSONResponse({"error": says}, status)
    if "hx-request" in request.headers:
        return HTMLResponse(render("_error.html", says=says), 200 if status in (409, 422) else status)
    try:
        who = visitor(request)
    except PlainHTTPException:
        who = None
    if status == 401:
        return HTMLResponse(sign_in_pages.sign_in_page(request, says), 401)
    return HTMLResponse(
        render("error.html", visitor=who, says=says, status=status, title=TITLES.get(status, "Not done")), status
    )


async def _refused(request: Request, error: PlainHTTPException) -> Response:
    own = error.detail if request.url.path.startswith("/api/") and isinstance(error.detail, str) else None
    return _told(request, error.status_code, own or SAYS.get(error.status_code, SAYS[400]))


async def _misread(request: Request, _: RequestValidationError) -> Response:
    return _told(request, 422, SAYS[422])


async def _ours(request: Request, error: DiscreetError) -> Response:
    """Our own errors say what to do, and nothing of the data; those of the ledger are the administrator's."""
    if isinstance(error, OverBudget | Refused):
        return _told(request, 409, str(error))
    return _told(request, 422, str(error)) if isinstance(error, BadInput) else _told(request, 500, SAYS[500])


def _fault(path: str) -> Response:
    """What is said when nobody foresaw the error; the ledger may be gone, so nobody is looked up."""
    if path.startswith("/api/"):
        return JSONResponse({"error": SAYS[500]}, 500)
    return HTMLResponse(render("error.html", visitor=None, says=SAYS[500], status=500, title=TITLES[500]), 500)
