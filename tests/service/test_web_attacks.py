"""Attacks over the network: each is refused, and says nothing."""

import re
from typing import Any

import httpx
import pytest
from tests.service.conftest import HOSTILE, PASSWORD, World, hidden, plan

from discreet.service.guards import LARGEST

PAGES: tuple[str, ...] = (
    "/catalogue",
    "/catalogue/people",
    "/ask/people",
    "/requests",
    "/account",
    "/inbox",
    "/rules",
    "/people",
)
PAGES += (
    "/sources",
    "/sources/add",
    "/sources/x/change",
    "/ledger",
    "/ledger/verify",
    "/ledger/entries.csv",
    "/questions",
    "/requests/x",
    "/inbox/x",
)
OPEN = ("/login", "/published", "/api", "/api/v1/openapi.json", "/static/service.css", "/static/htmx.min.js")


def test_without_a_session_nothing_but_the_public_pages_opens(world: World) -> None:
    client = world.client()
    for path in PAGES:
        assert client.get(path).status_code == 401, path
    for path in ("/api/v1/tables", "/api/v1/requests", "/api/v1/ledger/entries", "/api/v1/tokens"):
        assert client.get(path).status_code == 401, path
    for path in ("/ask/people", "/ask/people/price", "/inbox/x/approve", "/rules", "/people", "/logout"):
        assert client.post(path, data={"csrf": "x"}).status_code == 401, path
    for path in OPEN:
        assert client.get(path).status_code == 200, path


def test_every_answer_has_a_strict_policy(world: World) -> None:
    for path in (*OPEN, "/nowhere", "/catalogue"):
        headers = world.client().get(path).headers
        policy = headers["content-security-policy"]
        assert "unsafe" not in policy, path
        assert policy.startswith("default-src 'none'"), path
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        assert "server" not in headers
    assert world.client().get("/login").headers["cache-control"] == "no-store"


def test_no_page_has_a_script_or_a_style_in_it(world: World) -> None:
    which = world.submit(text=plan(statistic="mean", columns="age"))
    world.answered(which)
    pages: dict[str, tuple[str, ...]] = {
        "ann": ("/catalogue", "/catalogue/people", "/ask/people", f"/requests/{which}", "/account")
    }
    pages |= {"sue": ("/inbox", f"/inbox/{which}", "/rules", "/people", "/sources", "/ledger", "/questions")}
    for name, paths in pages.items():
        for path in paths:
            text = world.signed_in(name).get(path).text
            assert re.search(r"<script(?! src=\"/static/)", text) is None, path
            assert re.search(r"<style|\sstyle=|\son\w+=[\"']|javascript:", text) is None, path
            assert re.search(r"(src|href)=\"(https?:)?//", text) is None, path


def test_another_host_is_refused(world: World) -> None:
    for host in ("evil.example", "127.0.0.1:1", "127.0.0.1.evil.example", "", "localhost@evil"):
        assert world.client().get("/login", headers={"host": host}).status_code == 400, host


def test_a_form_from_another_place_is_refused(world: World) -> None:
    client = world.signed_in("ann")
    for origin in ("https://evil.example", "null", "", "http://127.0.0.1:1"):
        done = client.post("/logout", data={"csrf": world.secrets["ann"]}, headers={"origin": origin})
        assert done.status_code == 403, origin
    there = {"sec-fetch-site": "cross-site"}
    assert client.post("/logout", data={"csrf": world.secrets["ann"]}, headers=there).status_code == 403
    assert client.get("/account").status_code == 200


def test_a_form_without_its_secret_is_refused(world: World) -> None:
    which = world.submit()
    ann, sue = world.signed_in("ann"), world.signed_in("sue")
    request = world.desk.requests.find(which)
    assert request is not None
    for secret in ("", "x", world.secrets["ann"]):
        done = sue.post(f"/inbox/{which}/approve", data={"csrf": secret, "plan": request.plan})
        assert done.status_code == 403
    assert ann.post("/ask/people", data={"view": "text", "text": plan()}).status_code == 403
    client = world.client()
    assert client.post("/login", data={"name": "ann", "password": PASSWORD, "csrf": "x"}).status_code == 403


@pytest.mark.claim("desk.2")
def test_the_reports_of_others_are_not_there(world: World) -> None:
    which = world.submit("ann")
    world.answered(which)
    bob, programs = world.signed_in("bob"), world.token("bob", "ask")
    for path in (f"/requests/{which}", *(f"/requests/{which}/report.{form}" for form in ("html", "json", "csv"))):
        assert bob.get(path).status_code == 404, path
        assert world.signed_in("ann").get(path).status_code == 200, path
        assert world.client().get(f"/api/v1{path}", headers=programs).status_code == 404, path
    assert bob.get("/requests/nothing").text == bob.get(f"/requests/{which}").text
    assert world.post("bob", f"/requests/{which}/withdraw").status_code == 404
    assert world.client().get(f"/published/{which}").status_code == 404


def test_roles_open_their_own_pages_only(world: World) -> None:
    which = world.submit()
    request = world.desk.requests.find(which)
    assert request is not None
    for name in ("ann", "bob", "aud"):
        assert world.post(name, f"/inbox/{which}/approve", plan=request.plan).status_code == 403
        assert world.post(name, f"/inbox/{which}/decline", reason="because").status_code == 403
        assert world.signed_in(name).get("/inbox").status_code == 403
        assert world.post(name, "/rules", source="people").status_code == 403
        assert world.post(name, "/people", name="eve", role="steward").status_code == 403
        assert world.post(name, f"/requests/{which}/publish", shown="yes").status_code == 403
    assert world.post("sue", "/people", name="eve", role="steward").status_code == 403
    assert world.post("sue", "/people/sam/password").status_code == 404
    assert world.post("aud", "/ask/people", view="text", text=plan()).status_code == 403
    assert world.signed_in("ann").get("/ledger").status_code == 403
    assert world.signed_in("aud").get("/ledger").status_code == 200
    assert world.desk.requests.find(which).state == "submitted"  # type: ignore[union-attr]


def test_a_steward_approves_the_plan_that_was_shown_and_not_their_own(world: World) -> None:
    which = world.submit()
    assert world.post("sue", f"/inbox/{which}/approve", plan="0" * 64).status_code == 409
    world.desk.parts.allot(world.source, "sue", 0.5, 0.0, by="sam")
    own = world.desk.requests.find(world.submit("sue", plan(columns="weight")))
    assert own is not None
    assert world.post("sue", f"/inbox/{own.id}/approve", plan=own.plan).status_code == 403
    api = world.client().post(
        f"/api/v1/requests/{own.id}/approve", json={"plan": own.plan}, headers=world.token("sue", "decide")
    )
    assert api.status_code == 403
    assert world.post("sam", f"/inbox/{own.id}/approve", plan=own.plan).status_code == 303


def test_texts_of_people_and_tables_are_shown_and_never_run(world: World) -> None:
    text = plan(title="T").replace('"T"', _toml(HOSTILE))
    text = text.replace("[spend]", f"description = {_toml(HOSTILE)}\n[spend]") + f"title = {_toml(HOSTILE)}\n"
    which = world.submit("ann", text)
    world.post("sue", f"/inbox/{which}/decline", reason=HOSTILE)
    again = world.submit("ann", text.replace("0.1", "0.2"))
    world.answered(again)
    world.desk.publish(again, world.person("sue"), shown=True)
    world.post("ann", "/account/tokens", label=HOSTILE, days="3", scopes="ask")
    world.desk.people.add(HOSTILE, "analyst", "00", "00", by="sue", now=0.0)
    world.desk.make_rule(world.source, world.person("sue"), [HOSTILE], epsilon=0.1, delta=0.0, days=7, analyst=HOSTILE)
    pages = {
        "ann": ("/catalogue", "/catalogue/people", "/ask/people", "/requests", f"/requests/{which}", "/account"),
        "bob": ("/published", f"/published/{again}"),
        "sue": ("/inbox", f"/inbox/{again}", "/rules", "/people", "/sources", "/ledger", "/questions"),
        "aud": ("/ledger", "/questions"),
    }
    seen = 0
    for name, paths in pages.items():
        for path in paths:
            found = world.signed_in(name).get(path)
            assert found.status_code == 200, path
            assert "<img" not in found.text, path
            assert "49" not in re.findall(r"&#39;&amp;(.{2})", found.text), path
            seen += "&lt;img src=x onerror=alert(1)&gt;" in found.text
    assert seen >= 14
    priced = world.post("ann", "/ask/people/price", view="text", text=f"title = {HOSTILE}")
    assert "<img" not in priced.text
    refused = world.client()
    wrong = refused.post("/login", data={"name": HOSTILE, "password": "x", "csrf": hidden(refused.get("/login").text)})
    assert "<img" not in wrong.text


def _toml(text: str) -> str:
    from discreet.service.asked_plan import as_toml

    return as_toml(text)


PATHS: tuple[str, ...] = (
    "/static/../desk.py",
    "/static/..%2fdesk.py",
    "/static/%2e%2e/%2e%2e/desk.py",
    "/static/",
    "/static",
)
PATHS += ("/requests/..%2f..%2fetc%2fpasswd", "/requests/x/report.html%00.csv", "/catalogue/..%2fservice.toml")
PATHS += ("/requests/1' OR '1'='1", "/published/x'; DROP TABLE discreet_people; --", "/docs", "/redoc", "/openapi.json")


def test_paths_and_names_lead_nowhere_else(world: World) -> None:
    for path in PATHS:
        found = world.signed_in("ann").get(path)
        assert found.status_code == 404, path
        assert "root:" not in found.text, path
    assert world.desk.people.find("ann") is not None


def test_names_that_are_sql_are_names(world: World) -> None:
    client = world.client()
    secret = hidden(client.get("/login").text)
    for name in ("' OR 1=1 --", "ann' --", '"; DROP TABLE discreet_people; --', "ann\x00"):
        done = client.post("/login", data={"name": name, "password": PASSWORD, "csrf": secret})
        assert done.status_code in (401, 429)
    assert len(world.desk.people.all()) == 5


def test_large_bodies_are_refused(world: World) -> None:
    world.signed_in("ann")
    assert world.post("ann", "/ask/people/price", view="text", text="x" * (LARGEST + 1)).status_code == 413

    def pieces() -> Any:
        for _ in range(40):
            yield b"x" * 10_000

    form = {"content-type": "application/x-www-form-urlencoded"}
    sent = world.signed_in("ann").post("/ask/people/price", content=pieces(), headers=form)
    assert sent.status_code == 413
    assert world.post("ann", "/ask/people/price", view="text", text="x" * 70_000).status_code == 422


def test_passwords_are_guessed_a_few_times_only(world: World) -> None:
    address, wrong = "10.0.0.1", "not the password"
    for _ in range(5):
        assert world.desk.accounts.sign_in("ann", wrong, address) is None
    assert world.desk.accounts.sign_in("ann", PASSWORD, address) is None, "locked, even with the right one"
    world.clock.now += 16 * 60
    assert world.desk.accounts.sign_in("ann", PASSWORD, address) is not None
    many = [world.desk.accounts.sign_in(f"nobody {place}", wrong, "10.0.0.2") for place in range(21)]
    assert many == [None] * 21
    assert world.desk.accounts.sign_in("bob", PASSWORD, "10.0.0.2") is None, "too many attempts from one address"
    assert world.desk.accounts.sign_in("bob", PASSWORD, "10.0.0.3") is not None


def test_sessions_end(world: World) -> None:
    client = world.signed_in("ann")
    cookie = dict(client.cookies)
    assert world.post("ann", "/logout").status_code == 303
    again = httpx.Client(base_url=world.address, cookies=cookie)
    assert again.get("/account").status_code == 401, "a cookie that was kept opens nothing"
    again.close()
    del world.clients["ann"]
    client = world.signed_in("ann")
    world.clock.now += 9 * 3600
    assert client.get("/account").status_code == 401
    del world.clients["ann"]
    client = world.signed_in("ann")
    world.desk.people.change("ann", "closed", {"active": False}, by="sue")
    assert client.get("/account").status_code == 401


def test_cookies_are_kept_from_scripts_and_other_sites(world: World) -> None:
    client = world.client()
    secret = hidden(client.get("/login").text)
    done = client.post("/login", data={"name": "ann", "password": PASSWORD, "csrf": secret})
    made = done.headers["set-cookie"].lower()
    assert "httponly" in made
    assert "samesite=strict" in made
    elsewhere = world.desk.settings.model_copy(update={"host": "0.0.0.0", "names": ["x.example"]})
    assert elsewhere.secure
    assert elsewhere.hosts == {"x.example", f"x.example:{elsewhere.port}"}


def test_tokens_have_a_scope_and_an_end(world: World) -> None:
    client, header = world.client(), world.token("ann", "ask", days=1.0)
    assert client.get("/api/v1/tables", headers=header).status_code == 200
    assert client.get("/api/v1/ledger/entries", headers=header).status_code == 403
    assert client.get("/api/v1/requests?waiting=true", headers=header).status_code == 403
    assert client.get("/account", headers=header).status_code == 401, "a token opens no page"
    assert world.signed_in("ann").get("/api/v1/tables").status_code == 401, "a session opens no interface"
    with pytest.raises(Exception, match="may have"):
        world.token("ann", "decide")
    world.clock.now += 2 * 86_400
    assert client.get("/api/v1/tables", headers=header).status_code == 401
    fresh = world.token("ann", "ask")
    which = client.get("/api/v1/tokens", headers=fresh).json()[-1]["id"]
    assert client.delete(f"/api/v1/tokens/{which}", headers=fresh).status_code == 204
    assert client.get("/api/v1/tables", headers=fresh).status_code == 401
    for made in ("Bearer", "Basic x", "bearer discreet_x"):
        assert client.get("/api/v1/tables", headers={"authorization": made}).status_code == 401


def test_errors_say_nothing_of_what_went_wrong_inside(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("a secret of the server")

    monkeypatch.setattr("discreet.service.desk.Desk.schema", broken)
    found = world.signed_in("ann").get("/catalogue/people")
    assert found.status_code == 500
    assert "secret" not in found.text


def test_cookies_are_ignored_beside_an_authorization_header(world: World) -> None:
    """A form of another site can make a browser send `Authorization: Basic` by an address with a password in it."""
    client, secret = world.signed_in("ann"), world.secrets["ann"]
    for scheme in ("Basic eDp5", "Bearer x", "x"):
        sent = {"authorization": scheme, "origin": "https://evil.example"}
        assert client.post("/logout", data={"csrf": secret}, headers=sent).status_code == 403, scheme
        assert client.post("/login", data={"csrf": "x"}, headers=sent).status_code == 403, scheme
        assert client.get("/account", headers={"authorization": scheme}).status_code == 401, scheme
    body = {"table": "people", "plan": plan()}
    there = world.token("ann", "ask") | {"origin": "https://evil.example"}
    assert client.post("/api/v1/plans/price", json=body).status_code == 401, "a cookie opens no interface"
    assert world.client().post("/api/v1/plans/price", json=body, headers=there).status_code == 200, "a token does"
    basic = {"authorization": "Basic eDp5", "origin": "https://evil.example"}
    assert client.post("/api/v1/plans/price", json=body, headers=basic).status_code == 403


def test_an_unforeseen_error_has_the_same_headers_and_one_sentence(
    world: World, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("what was asked")

    client = world.signed_in("ann")
    monkeypatch.setattr(type(world.desk), "part", broken)
    for path in ("/catalogue", "/ask/people"):
        done = client.get(path)
        assert done.status_code == 500
        assert "what was asked" not in done.text
        assert done.headers["content-security-policy"].startswith("default-src 'none'")
    assert "what was asked" not in "".join(capfd.readouterr())


def test_code_is_named_by_no_path_and_by_no_option(world: World) -> None:
    """Neither in the text of a plan nor through the interface for programs."""
    header = world.token("ann", "ask")
    for statistic in ("fit", "custom_test"):
        for given in ("", 'options = { estimator = "/etc/passwd:f" }', 'options = { estimator = "os:getcwd" }'):
            text = plan(statistic=statistic, more=given)
            page = world.post("ann", "/ask/people/price", view="text", text=text)
            of_fit = "options hold estimator" if given else "fit needs one of"
            said = of_fit if statistic == "fit" else "runs code that a plan cannot hold"
            assert said in page.text
            for path in ("plans/price", "requests"):
                done = world.client().post(f"/api/v1/{path}", json={"table": "people", "plan": text}, headers=header)
                assert done.status_code == 422, path
    assert world.desk.requests.listed({}) == []


def test_nobody_revokes_the_token_of_another(world: World) -> None:
    header, other = world.token("ann", "ask"), world.token("bob", "ask")
    which = world.desk.people.tokens("ann")[0].id
    assert world.client().delete(f"/api/v1/tokens/{which}", headers=other).status_code == 422
    assert world.post("bob", f"/account/tokens/{which}/revoke").status_code in (404, 422)
    assert world.client().get("/api/v1/tables", headers=header).status_code == 200
