"""Every route of the application, as it lists them itself: who may open it, and what no answer is without.

A route that is added fails here until somebody has said who may open it.
"""

from typing import Any, Final

import httpx
import pytest
from fastapi.routing import APIRoute
from tests.service.conftest import World

from discreet.service.guards import HEADERS, LARGEST
from discreet.service.web import make_app

EVERYBODY: Final = frozenset({"analyst", "steward", "auditor", "admin"})
ASKING, DECIDING, READING = frozenset({"analyst", "steward"}), frozenset({"steward"}), frozenset({"steward", "auditor"})
KEEPING: Final = frozenset({"steward", "admin"})
NOBODY: Final = "nobody has to sign in"
Who = frozenset[str] | str
PAGES: Final[dict[str, Who]] = {
    "GET /": NOBODY,
    "GET /login": NOBODY,
    "POST /login": NOBODY,
    "GET /login/code": NOBODY,
    "POST /login/code": NOBODY,
    "GET /login/provider": NOBODY,
    "GET /login/provider/back": NOBODY,
    "GET /published": NOBODY,
    "GET /published/{which}": NOBODY,
    "GET /static/{name}": NOBODY,
    "GET /api": NOBODY,
    "GET /api/v1/openapi.json": NOBODY,
    "POST /logout": EVERYBODY,
    "GET /account": EVERYBODY,
    "POST /account/password": EVERYBODY,
    "POST /account/tokens": EVERYBODY,
    "POST /account/tokens/{which}/revoke": EVERYBODY,
    "GET /catalogue": EVERYBODY,
    "GET /catalogue/{name}": EVERYBODY,
    "GET /ask/{name}": ASKING,
    "POST /ask/{name}": ASKING,
    "POST /ask/{name}/price": ASKING,
    "POST /ask/{name}/view": ASKING,
    "GET /requests": EVERYBODY,
    "GET /requests/{which}": EVERYBODY,  # one's own: test_web_attacks.py
    "GET /requests/{which}/report.{form}": EVERYBODY,
    "POST /requests/{which}/withdraw": EVERYBODY,
    "POST /requests/{which}/publish": DECIDING,
    "GET /inbox": DECIDING,
    "GET /inbox/{which}": DECIDING,
    "POST /inbox/{which}/approve": DECIDING,
    "POST /inbox/{which}/decline": DECIDING,
    "POST /inbox/{which}/offer": DECIDING,
    "GET /rules": DECIDING,
    "POST /rules": DECIDING,
    "POST /rules/{which}/end": DECIDING,
    "GET /people": KEEPING,
    "POST /people": KEEPING,
    "POST /people/{name}/{action}": KEEPING,
    "GET /sources": KEEPING,
    "GET /sources/add": DECIDING,
    "GET /sources/{name}/change": DECIDING,
    "POST /sources/add": DECIDING,
    "POST /sources/{name}/close": DECIDING,
    "GET /populations": READING,
    "POST /populations/allot": DECIDING,
    "GET /ledger": READING,
    "GET /ledger/head": READING,
    "GET /ledger/heads.csv": READING,
    "GET /ledger/verify": READING,
    "GET /ledger/entries.{form}": READING,
    "GET /questions": READING,
}
SCOPES: Final[dict[str, frozenset[str]]] = {
    "GET /tables": frozenset({"ask"}),
    "GET /tables/{name}": frozenset({"ask"}),
    "GET /tables/{name}/balance": frozenset({"ask"}),
    "GET /tables/{name}/parts": frozenset({"decide", "audit"}),
    "PUT /tables/{name}/parts/{analyst}": frozenset({"decide"}),
    "DELETE /tables/{name}/parts/{analyst}": frozenset({"decide"}),
    "POST /plans/price": frozenset({"ask"}),
    "POST /requests": frozenset({"ask"}),
    "GET /requests": frozenset({"ask"}),
    "GET /requests/{which}": frozenset({"ask", "decide", "audit"}),  # one's own, or as steward or auditor
    "GET /requests/{which}/report.{form}": frozenset({"ask", "decide", "audit"}),
    "POST /requests/{which}/withdraw": frozenset({"ask"}),
    "POST /requests/{which}/approve": frozenset({"decide"}),
    "POST /requests/{which}/decline": frozenset({"decide"}),
    "POST /requests/{which}/offer": frozenset({"decide"}),
    "GET /ledger/entries": frozenset({"audit"}),
    "GET /ledger/heads": frozenset({"audit"}),
    "GET /ledger/verify": frozenset({"audit"}),
    "GET /tokens": frozenset({"ask", "decide", "audit"}),
    "POST /tokens": frozenset({"ask", "decide", "audit"}),
    "DELETE /tokens/{which}": frozenset({"ask", "decide", "audit"}),
}
BODIES: Final[dict[str, Any]] = {
    "PUT /tables/{name}/parts/{analyst}": {"epsilon": 0.1},
    "POST /plans/price": {"table": "nothing", "plan": ""},
    "POST /requests": {"table": "nothing", "plan": ""},
    "POST /requests/{which}/approve": {"plan": "x"},
    "POST /requests/{which}/decline": {"reason": "because"},
    "POST /requests/{which}/offer": {"stored": "x"},
    "POST /tokens": {"label": "x", "scopes": [], "days": 1},
}
ROLES: Final = {"ann": "analyst", "sue": "steward", "aud": "auditor", "ada": "admin"}
PREFIX: Final = "/api/v1"


def at(path: str) -> str:
    """A path with something in the place of its parameters that is not there."""
    filled = {"{form}": "json", "{name}": "nothing", "{which}": "nothing", "{action}": "close", "{analyst}": "nobody"}
    for part, value in filled.items():
        path = path.replace(part, value)
    return path


@pytest.fixture
def full(world: World) -> World:
    """With an administrator as well."""
    known = world.person("sue")
    world.desk.people.add("ada", "admin", known.salt, known.password, by=None, now=0.0)
    return world


def send(client: httpx.Client, said: str, **more: Any) -> httpx.Response:
    method, path = said.split(" ")
    return client.request(method, at(path), **more)


def test_every_route_is_listed(world: World) -> None:
    def told(routes: Any, prefix: str = "") -> set[str]:
        found: set[str] = set()
        for route in routes:
            if isinstance(route, APIRoute):
                found |= {f"{method} {prefix}{route.path}" for method in route.methods or ()}
            else:
                found |= told(getattr(route, "routes", None) or getattr(route.original_router, "routes", ()), prefix)
        return found

    listed = set(PAGES) | {said.replace(" ", f" {PREFIX}") for said in SCOPES}
    assert told(make_app(world.desk).routes) == listed


def test_every_page_is_for_its_roles_alone(full: World) -> None:
    wrong: list[Any] = []
    stranger = full.client()
    for said, allowed in PAGES.items():
        if said == "POST /logout":
            continue
        if isinstance(allowed, str):
            found = send(stranger, said)
            wrong += [(said, "nobody", found.status_code)] if found.status_code == 401 else []
            continue
        if (status := send(stranger, said, data={"csrf": "x"}).status_code) != 401:
            wrong.append((said, "no session", status))
        for name, role in ROLES.items():
            client = full.signed_in(name)
            status = send(client, said, data={"csrf": full.secrets[name]}).status_code
            if (status == 403) == (role in allowed) or status in (401, 500):
                wrong.append((said, role, status))
    assert wrong == []


def test_every_form_needs_its_secret_and_its_own_place(full: World) -> None:
    wrong: list[Any] = []
    for said in PAGES:
        if not said.startswith("POST"):
            continue
        client = full.signed_in("sue") if not said.startswith("POST /login") else full.client()
        secret = full.secrets.get("sue", "")
        full.signed_in("sam")
        for name, sent in {"none": {}, "empty": {"csrf": ""}, "another's": {"csrf": full.secrets["sam"]}}.items():
            status = send(client, said, data=sent).status_code
            wrong += [(said, name, status)] if status != 403 else []
        for header in ({"origin": "https://evil.example"}, {"origin": "null"}, {"sec-fetch-site": "same-site"}):
            status = send(client, said, data={"csrf": secret}, headers=header).status_code
            wrong += [(said, header, status)] if status != 403 else []
        del client.headers["origin"]
        status = send(client, said, data={"csrf": secret}).status_code
        wrong += [(said, "no origin", status)] if status != 403 else []
        client.headers["origin"] = full.address
    assert wrong == []
    assert full.signed_in("sue").get("/account").status_code == 200


def test_every_call_of_a_program_needs_a_token_with_its_scope(full: World) -> None:
    tokens = {
        "ask": full.token("ann", "ask"),
        "decide": full.token("sue", "decide"),
        "audit": full.token("aud", "audit"),
    }
    wrong: list[Any] = []
    client = full.client()
    for said, allowed in SCOPES.items():
        sent = said.replace(" ", f" {PREFIX}")
        more: dict[str, Any] = {"json": BODIES[said]} if said in BODIES else {}
        more |= {"params": {"seen": "x"}} if said.startswith("DELETE /tables") else {}
        status = send(client, sent, **more, headers={"authorization": "Bearer x"}).status_code
        wrong += [(said, "no token", status)] if status != 401 else []
        for scope, header in tokens.items():
            status = send(client, sent, **more, headers=header).status_code
            if (status == 403) == (scope in allowed) or status in (401, 500):
                wrong.append((said, scope, status))
    assert wrong == []


def test_every_answer_has_the_headers_and_no_body_is_without_end(full: World) -> None:
    """With a session, without one, and where it is refused: each header once, and kept by nobody."""
    wrong: list[Any] = []
    clients = {"sue": full.signed_in("sue"), "": full.client()}
    paths = [
        *PAGES,
        *(said.replace(" ", f" {PREFIX}") for said in SCOPES),
        "GET /nowhere",
        "PATCH /login",
        "GET /static/x",
    ]
    for said in paths:
        for name, client in clients.items():
            found = [send(client, said), send(client, said, headers={"host": "evil.example"})]
            if not said.startswith("GET"):
                found.append(send(client, said, content=b"x" * (LARGEST + 1)))
                wrong += [(said, name, found[-1].status_code)] if found[-1].status_code != 413 else []
            for answer in found:
                for header, value in HEADERS.items():
                    seen = answer.headers.get_list(header)
                    wrong += [(said, name, header, seen)] if seen != [value] else []
                wrong += [(said, name, "server")] if {"server", "x-powered-by", "etag"} & set(answer.headers) else []
        if said == "POST /logout":
            del full.clients["sue"]
            clients["sue"] = full.signed_in("sue")
    assert wrong == []


def test_only_files_that_are_the_same_for_all_are_kept_by_browsers(full: World) -> None:
    for name in ("service.css", "service.js", "htmx.min.js", "favicon.svg"):
        assert full.client().get(f"/static/{name}").headers["cache-control"] == "public, max-age=3600"
