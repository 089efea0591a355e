"""What the gate adds and refuses, in its own words: a header that is dropped there fails here."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from starlette.responses import PlainTextResponse
from tests.service.conftest import World, plan, world_in

from discreet.service.guards import Gate


async def answered(https: bool, *hosts: str) -> tuple[int, dict[str, str]]:
    """The status and the headers of one request at the gate."""
    found: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        found.append(message)

    gate = Gate(PlainTextResponse("x"), frozenset({"ours.example"}), https, lambda _: PlainTextResponse("fault", 500))
    headers = [(b"host", host.encode()) for host in hosts]
    await gate({"type": "http", "method": "GET", "path": "/x", "headers": headers}, receive, send)
    return found[0]["status"], {name.decode(): value.decode() for name, value in found[0]["headers"]}


def run(*hosts: str, https: bool = True) -> tuple[int, dict[str, str]]:
    return asyncio.run(answered(https, *hosts))


def test_every_header_is_there_by_its_own_name() -> None:
    status, headers = run("ours.example")
    assert status == 200
    assert headers["cache-control"] == "no-store"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cross-origin-opener-policy"] == headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["strict-transport-security"].startswith("max-age=")
    assert "strict-transport-security" not in run("ours.example", https=False)[1]
    policy = {part.split(" ")[0]: part.split(" ")[1:] for part in headers["content-security-policy"].split("; ")}
    for name in ("default-src", "base-uri", "frame-ancestors"):
        assert policy[name] == ["'none'"], name
    for name in ("script-src", "style-src", "connect-src", "form-action"):
        assert policy[name] == ["'self'"], name


@pytest.mark.parametrize("hosts", [(), ("ours.example", "evil.example"), ("ours.example", "ours.example")])
def test_one_host_is_named_and_once(hosts: tuple[str, ...]) -> None:
    assert run(*hosts)[0] == 400


def test_a_report_is_kept_by_no_cache_and_runs_nothing(world: World) -> None:
    which = world.submit()
    world.answered(which)
    for form in ("html", "json", "csv"):
        headers = world.signed_in("ann").get(f"/requests/{which}/report.{form}").headers
        assert headers.get_list("cache-control") == ["no-store"]
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'")
        assert policy.endswith("sandbox")
        assert "script" not in policy
        assert headers["content-disposition"].startswith("attachment")
        token = world.client().get(f"/api/v1/requests/{which}/report.{form}", headers=world.token("ann", "ask"))
        assert token.headers.get_list("cache-control") == ["no-store"]


def test_what_is_asked_goes_into_no_log(
    world: World, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """From the asking to the answer, and where it is refused."""
    caplog.set_level("DEBUG")
    text = plan(title="A telling title", more='where = "weight > 81.25"')
    assert world.post("ann", "/ask/people/price", view="text", text=text).status_code == 200
    assert world.post("ann", "/ask/people", view="text", text=text).status_code == 303
    world.post("ann", "/ask/people", view="text", text=text.replace("weight", "telling"))
    which = world.desk.requests.listed({"analyst": "ann"})[0].id
    world.answered(which)
    assert world.signed_in("ann").get(f"/requests/{which}").status_code == 200
    said = caplog.text + "".join(capfd.readouterr())
    for telling in ("telling", "81.25", "A telling title"):
        assert telling not in said


def test_what_others_ask_is_seen_nowhere(world: World) -> None:
    """Pages and JSON of an analyst are the same, letter for letter, whatever waits of another."""
    which = world.submit("ann")
    world.desk.approve(which, world.person("sue"))
    header = world.token("ann", "ask")

    def seen() -> list[str]:
        paths = ("/catalogue", "/catalogue/people", "/ask/people", "/requests", f"/requests/{which}")
        pages = [world.signed_in("ann").get(path).text for path in paths]
        return pages + [world.client().get(f"/api/v1{path}", headers=header).text for path in paths[-2:]]

    before = seen()
    for place, name in enumerate(("bob", "bob", "bob")):
        other = world.submit(name, plan(epsilon=0.2 + place / 100))
        if place:
            world.desk.approve(other, world.person("sue"))
    assert seen() == before


def test_beyond_this_machine_cookies_travel_over_https_alone(tmp_path: Path) -> None:
    """Set-Cookie of a session, where the service is reached by others."""
    from starlette.responses import Response

    from discreet.service.sign_in_pages import _with_session

    for made in world_in(tmp_path, host="0.0.0.0", names=["x.example"]):
        cookie = _with_session(made.desk, Response(), "x").headers["set-cookie"].lower()
        assert cookie.startswith("__host-discreet=")
        assert {"secure", "httponly", "samesite=strict", "path=/"} <= set(cookie.split("; "))


def test_neither_server_nor_worker_keeps_what_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import subprocess

    from discreet.service import crew, start

    served: list[dict[str, Any]] = []
    monkeypatch.setattr("uvicorn.run", lambda *_, **given: served.append(given))
    with start.demonstration(lambda _: None) as config:
        start.serve(config, port=None, say=lambda _: None)
    assert (served[0]["access_log"], served[0]["log_level"], served[0]["server_header"]) == (False, "error", False)
    began: list[dict[str, Any]] = []

    def popen(*_: Any, **given: Any) -> None:
        began.append(given)
        raise KeyboardInterrupt

    monkeypatch.setattr("discreet.service.crew.subprocess.Popen", popen)
    for made in world_in(tmp_path):
        with pytest.raises(KeyboardInterrupt):
            crew.Crew(made.desk, tmp_path)._tend()
    assert began[0]["stderr"] is subprocess.DEVNULL
