"""Sign-in with an outside provider: who gets in, as whom, and every way in which a token is not one."""

import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

pytest.importorskip("authlib")
pytest.importorskip("joserfc")
from joserfc.jwk import ECKey
from tests.service.conftest import PASSWORD, Clock, World, enrol, hidden, settings_for
from tests.service.fake_provider import SECRET, FakeProvider

from discreet.errors import BadInput
from discreet.service.desk import Desk
from discreet.service.provider import NotSignedIn, Provider

UNMAPPED: list[dict[str, Any]] = [
    {"groups": []},
    {"groups": None},
    {"groups": ["researchers", "data office"]},
    {"groups": {"researchers": True}},
    {"groups": ["Researchers"]},
    {"groups": ["admin"], "role": "admin", "roles": ["admin"]},
    {"preferred_username": None},
    {"preferred_username": ["nora"]},
    {"preferred_username": "ann"},
    {"preferred_username": "ANN"},
    {"preferred_username": "a\x00b"},
]
ROLES = {"researchers": "analyst", "data office": "steward"}


@pytest.fixture
def fake() -> Iterator[FakeProvider]:
    made = FakeProvider()
    yield made
    made.server.shutdown()
    made.server.server_close()


def opened(folder: Path, fake: FakeProvider, **more: Any) -> World:
    (folder / "oidc.secret").write_text(f"{SECRET}\n")
    listening = socket.create_server(("127.0.0.1", 0))
    oidc = {"issuer": fake.issuer, "client": "discreet", "secret": "oidc.secret", "roles": ROLES, "title": "Ward 7"}
    oidc |= {"account": [{"subject": "s-bob", "name": "bob", "role": "analyst"}]} | more
    settings = settings_for(folder, port=listening.getsockname()[1], oidc=oidc, login={"attempts_a_minute": 1000})
    clock = Clock()
    desk = Desk(settings, folder, clock)
    enrol(desk)
    return World(desk, clock, listening)


@pytest.fixture
def outside(tmp_path: Path, fake: FakeProvider) -> Iterator[World]:
    made = opened(tmp_path, fake)
    yield made
    made.close()


def come(world: World, fake: FakeProvider, client: httpx.Client | None = None, **claims: Any) -> httpx.Response:
    """One sign-in, as a browser goes through it."""
    fake.claims = {"sub": "s-new", "preferred_username": "nora", "groups": ["researchers"]} | claims
    browser = client or world.client()
    sent = browser.get("/login/provider")
    assert sent.status_code == 303
    return browser.get("/login/provider/back", params=fake.approve(sent.headers["location"]))


def who(response: httpx.Response, world: World) -> str | None:
    token = response.cookies.get("discreet")
    found = None if token is None else world.desk.accounts.session(token)
    return None if found is None else f"{found[0].name} {found[0].role}"


@pytest.mark.claim("provider.2")
def test_a_group_of_the_settings_makes_an_account_once(outside: World, fake: FakeProvider) -> None:
    done = come(outside, fake)
    assert done.status_code == 200
    assert 'content="0;url=/"' in done.text, "a page, as a redirect would lose the Strict cookie"
    assert who(done, outside) == "nora analyst"
    assert "samesite=strict" in done.headers["set-cookie"].lower()
    again = come(outside, fake, preferred_username="ann")
    assert who(again, outside) == "nora analyst", "the subject decides, not a name that people choose"
    assert fake.posted[0]["client_secret"] == SECRET
    assert outside.desk.ledger.verify().ok
    notes = [entry.plain for entry in outside.desk.ledger.lines(most=100) if entry.kind == "event"]
    assert any(note.get("person") == "nora" for note in notes), "in the chain"


@pytest.mark.claim("provider.2")
def test_nobody_gets_an_account_that_the_settings_do_not_give(outside: World, fake: FakeProvider) -> None:
    before = outside.desk.people.all()
    for claims in UNMAPPED:
        done = come(outside, fake, **claims)
        assert (done.status_code, who(done, outside)) == (401, None), claims
    assert outside.desk.people.all() == before


@pytest.mark.claim("provider.2")
def test_a_subject_of_the_settings_signs_in_to_the_account_that_is_there(outside: World, fake: FakeProvider) -> None:
    assert who(come(outside, fake, sub="s-bob", groups=["data office"]), outside) == "bob analyst"
    assert len(outside.desk.people.all()) == 5
    outside.desk.people.change("bob", "closed", {"active": False}, by="sue")
    assert who(come(outside, fake, sub="s-bob"), outside) is None


@pytest.mark.claim("provider.2")
def test_the_role_follows_the_groups(outside: World, fake: FakeProvider) -> None:
    browser = outside.client()
    assert who(come(outside, fake, browser), outside) == "nora analyst"
    first = browser.cookies["discreet"]
    assert who(come(outside, fake, groups=["data office"]), outside) == "nora steward"
    assert outside.desk.accounts.session(first) is None, "the sessions of the earlier role have ended"
    assert who(come(outside, fake, groups=[]), outside) is None


LIES: list[dict[str, Any]] = [
    {"iss": "http://127.0.0.1:1"},
    {"iss": None},
    {"aud": "another"},
    {"aud": "another", "azp": "discreet"},
    {"aud": ["discreet", "another"]},
    {"aud": ["discreet", "another"], "azp": "another"},
    {"aud": None},
    {"nonce": "x"},
    {"nonce": None},
    {"exp": int(time.time()) - 3600},
    {"exp": None},
    {"iat": int(time.time()) + 36_000},
    {"sub": None},
    {"sub": ""},
    {"sub": 7},
    {"sub": "x" * 256},
    {"at_hash": "x"},
]


@pytest.mark.claim("provider.1")
def test_a_token_for_others_or_of_another_time_opens_nothing(outside: World, fake: FakeProvider) -> None:
    for said in LIES:
        fake.said = said
        done = come(outside, fake)
        assert (done.status_code, who(done, outside)) == (401, None), said
    assert outside.desk.people.find("nora") is None


@pytest.mark.claim("provider.1")
def test_only_the_providers_own_signature_counts(outside: World, fake: FakeProvider) -> None:
    own = fake.key
    fake.key = ECKey.generate_key("P-256", {"kid": "one"})
    assert come(outside, fake).status_code == 401
    fake.header = {"alg": "none"}
    assert come(outside, fake).status_code == 401
    fake.by_shared_secret()
    assert come(outside, fake).status_code == 401
    fake.key, fake.header = own, {"alg": "ES256", "kid": "one"}
    assert come(outside, fake).status_code == 200


@pytest.mark.claim("provider.1")
def test_new_keys_of_the_provider_are_fetched(
    outside: World, fake: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert come(outside, fake).status_code == 200
    fake.key = fake.published = ECKey.generate_key("P-256", {"kid": "two"})
    fake.header = {"alg": "ES256", "kid": "two"}
    assert come(outside, fake).status_code == 401, "not more often than once a minute"
    monkeypatch.setattr("discreet.service.provider.AGAIN", -1.0)
    assert come(outside, fake).status_code == 200


@pytest.mark.claim("provider.1")
def test_an_attempt_belongs_to_one_browser_and_is_used_once(outside: World, fake: FakeProvider) -> None:
    fake.claims = {"sub": "s-new", "preferred_username": "nora", "groups": ["researchers"]}
    mine, other = outside.client(), outside.client()
    back = fake.approve(mine.get("/login/provider").headers["location"])
    other.get("/login/provider")
    assert other.get("/login/provider/back", params=back).status_code == 401, "a victim's browser, an attacker's code"
    assert outside.client().get("/login/provider/back", params=back).status_code == 401
    for wrong in ({"code": back["code"]}, {"state": back["state"]}, {"code": back["code"], "state": "x"}):
        left = outside.client()
        left.cookies.update(mine.cookies)
        assert left.get("/login/provider/back", params=wrong).status_code == 401
    kept = dict(mine.cookies)
    assert mine.get("/login/provider/back", params=back).status_code == 200
    assert "discreet-attempt" not in mine.cookies
    replayed = outside.client()
    replayed.cookies.update(kept)
    assert replayed.get("/login/provider/back", params=back).status_code == 401, "a code is spent once"


@pytest.mark.claim("provider.1")
def test_a_provider_that_describes_another_is_not_followed(outside: World, fake: FakeProvider) -> None:
    oidc = outside.desk.settings.oidc
    assert oidc is not None
    wrong: list[dict[str, Any]] = [{"issuer": "http://127.0.0.1:1"}]
    wrong += [{"authorization_endpoint": one} for one in ("http://evil.example/", "javascript:alert(1)", 7)]
    for about in wrong:
        fake.about = about
        with pytest.raises(NotSignedIn):
            Provider(oidc, outside.desk.folder).address("secret", "back")
    assert outside.client().get("/login/provider").status_code == 401


def test_passwords_may_be_switched_off(tmp_path: Path, fake: FakeProvider) -> None:
    world = opened(tmp_path, fake, local=False)
    client = world.client()
    page = client.get("/login").text
    assert 'name="password"' not in page
    assert "Sign in with Ward 7" in page
    form = {"name": "ann", "password": PASSWORD, "csrf": client.cookies["discreet-before"]}
    assert client.post("/login", data=form).status_code == 401
    assert world.desk.accounts.sign_in("ann", PASSWORD, "10.0.0.1") is None
    with pytest.raises(BadInput, match="switched off"):
        world.desk.accounts.new_password(world.person("ann"), PASSWORD, "another password")
    assert who(come(world, fake, client), world) == "nora analyst"
    assert "no password here" in client.get("/account").text
    world.close()


def test_both_ways_stand_beside_each_other(outside: World, fake: FakeProvider) -> None:
    client = outside.client()
    page = client.get("/login").text
    assert "Sign in with Ward 7" in page
    form = {"name": "ann", "password": PASSWORD, "csrf": hidden(page)}
    assert client.post("/login", data=form).status_code == 303
    assert come(outside, fake).status_code == 200
    for guess in ("", "x", "0" * 64):
        assert outside.desk.accounts.sign_in("nora", guess, "10.0.0.9") is None, "an account without a password"


def test_without_settings_there_is_no_such_page(world: World) -> None:
    for path in ("/login/provider", "/login/provider/back?code=x&state=y"):
        assert world.client().get(path).status_code == 404
    assert "/login/provider" not in world.client().get("/login").text


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"issuer": "http://id.example"}, "https"),
        ({"issuer": "ftp://id.example"}, "issuer"),
        ({"roles": {}, "account": []}, "nobody has a role"),
        ({"roles": {"a": "root"}}, "roles"),
        ({"scopes": ["profile"]}, "openid"),
        ({"account": [{"subject": "s", "name": n, "role": "analyst"} for n in ("a", "b")]}, "one subject"),
    ],
)
def test_settings_that_are_wrong_are_refused(tmp_path: Path, more: dict[str, Any], says: str) -> None:
    oidc = {"issuer": "https://id.example", "client": "discreet", "roles": ROLES} | more
    with pytest.raises(BadInput, match=says):
        settings_for(tmp_path, oidc=oidc)


def test_a_secret_that_is_not_there_is_said(tmp_path: Path, fake: FakeProvider) -> None:
    from discreet.service.web import make_app

    world = opened(tmp_path, fake, secret="nowhere")
    with pytest.raises(BadInput, match="nowhere cannot be read"):
        make_app(world.desk)
    world.close()
