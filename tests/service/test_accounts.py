"""Codes that choose a password, resets, and what people see of what was done to their accounts."""

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.service.conftest import PASSWORD, World, hidden, settings_for

from discreet.errors import BadInput
from discreet.ledger.ledger_tables import CODES
from discreet.service.passwords import digest_of, spoken, typed

NEW = "a password of my own"


def code_in(page: str) -> str:
    found = re.search(r'<code class="secret">([A-Z2-7-]{29})</code>', page)
    assert found is not None, page
    return found[1]


def reset(world: World, name: str = "ann", by: str = "sue") -> str:
    return world.desk.accounts.reset(world.person(name), by=world.person(by))


def chosen(world: World, name: str, code: str, password: str = NEW, address: str = "10.0.0.9") -> str | None:
    try:
        return world.desk.accounts.choose(name, code, password, address)
    except BadInput:
        return None


@pytest.mark.claim("accounts.1")
@pytest.mark.claim("service_people.1")
def test_a_reset_ends_password_sessions_and_tokens_and_gives_no_password(world: World) -> None:
    ann, header = world.signed_in("ann"), world.token("ann", "ask")
    page = world.post("sue", "/people/ann/reset").text
    code = code_in(page)
    assert ann.get("/account").status_code == 401
    assert world.client().get("/api/v1/tables", headers=header).status_code == 401
    for password in (PASSWORD, code, typed(code), ""):
        assert world.desk.accounts.sign_in("ann", password, "10.0.0.1") is None
    assert world.desk.accounts.session(code) is None
    assert world.desk.accounts.bearer(code) is None
    with pytest.raises(BadInput, match="the present password is another one"):
        world.desk.accounts.new_password(world.person("ann"), "", NEW)
    assert chosen(world, "ann", code) is not None
    assert world.desk.accounts.sign_in("ann", NEW, "10.0.0.1") is not None
    assert world.desk.accounts.sign_in("ann", PASSWORD, "10.0.0.1") is None
    rows = world.desk.ledger.beside(lambda c: [tuple(row) for row in c.execute(CODES.select())])
    assert rows == []


@pytest.mark.claim("accounts.1")
def test_a_code_works_once_for_one_person_until_its_time_is_over(world: World) -> None:
    first = reset(world)
    second = reset(world)
    other = reset(world, "bob")
    assert chosen(world, "ann", first) is None, "a later reset ends an earlier code"
    assert chosen(world, "ann", other) is None, "another's"
    assert chosen(world, "nobody", second) is None
    with pytest.raises(BadInput, match="characters"):
        world.desk.accounts.choose("ann", second, "short", "10.0.0.9")
    assert chosen(world, "ann", f" {second.lower().replace('-', ' ')} ") is not None, "as somebody types it"
    assert chosen(world, "ann", second) is None, "used"
    world.clock.now += 3600 * world.desk.settings.login.code_hours
    assert chosen(world, "bob", other) is None, "too old"
    late = reset(world, "bob")
    world.clock.now += 3600 * world.desk.settings.login.code_hours - 1
    assert chosen(world, "bob", late) is not None
    assert chosen(world, "bob", "") is None


@pytest.mark.claim("service_people.1")
def test_of_two_who_use_a_code_at_once_one_does(world: World) -> None:
    code = reset(world)
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda place: chosen(world, "ann", code, f"{NEW} {place}"), range(4)))
    winner = [place for place, token in enumerate(done) if token is not None]
    assert len(winner) == 1
    assert world.desk.accounts.sign_in("ann", f"{NEW} {winner[0]}", "10.0.0.1") is not None
    assert world.desk.ledger.verify().ok


@pytest.mark.claim("accounts.1")
def test_codes_are_guessed_a_few_times_only_and_open_no_closed_account(world: World) -> None:
    code = reset(world)
    before = len(world.desk.ledger.lines(most=500))
    guesses = [chosen(world, "ann", spoken(), address="10.0.0.3") for _ in range(21)]
    assert guesses == [None] * 21
    assert chosen(world, "ann", code, address="10.0.0.3") is None, "too many attempts from one address"
    assert len(world.desk.ledger.lines(most=500)) == before, "a guess writes nothing"
    world.desk.people.change("ann", "may no longer sign in", {"active": False}, by="sue")
    assert chosen(world, "ann", code, address="10.0.0.4") is None
    world.desk.people.change("ann", "may sign in again", {"active": True}, by="sue")
    assert chosen(world, "ann", code, address="10.0.0.4") is None, "closing ends the code, too"


@pytest.mark.claim("accounts.2")
@pytest.mark.claim("service_people.2")
def test_a_reset_is_seen_by_its_person_and_by_auditors_also_if_the_steward_used_the_code(world: World) -> None:
    """What a steward can still do: use the code first. It cannot be done unseen."""
    stolen = reset(world)
    assert chosen(world, "ann", stolen, "the steward's own choice") is not None
    assert world.desk.accounts.sign_in("ann", PASSWORD, "10.0.0.1") is None, "ann notices"
    code = code_in(world.post("sam", "/people/ann/reset").text)
    client = world.client()
    secret = hidden(client.get("/login/code").text)
    sent = {"name": "ann", "code": code, "password": NEW, "csrf": secret}
    done = client.post("/login/code", data=sent)
    assert (done.status_code, done.headers["location"]) == (303, "/account")
    page = client.get("/account").text
    assert "You have chosen a new password with a code" in page
    rows = re.findall(r'data-label="What">([^<]+)</td><td data-label="By">([^<]+)<', page)
    assert rows[:4] == [
        ("ann: chose a password with a code", "you"),
        ("ann: reset, with a code for one use", "sam"),
        ("ann: chose a password with a code", "you"),
        ("ann: reset, with a code for one use", "sue"),
    ]
    book = world.signed_in("aud").get("/ledger").text
    assert book.count("reset person") == 2
    assert book.count("use code") == 2
    assert "bob" not in page, "nobody else's"
    assert world.desk.ledger.verify().ok


@pytest.mark.claim("accounts.2")
def test_no_name_makes_another_history(world: World) -> None:
    """A name that holds what is looked for, or signs of a pattern, is a name."""
    for name in ('"person":"ann"', "an_", "a%n"):
        world.desk.people.add(name, "analyst", "00", "00", by="sue", now=0.0)
        assert [one["note"] for one in world.desk.accounts.history(world.person(name))] == [
            f"{name} may sign in as analyst"
        ]
    assert len(world.desk.accounts.history(world.person("ann"))) == 1
    reset(world)
    assert len(world.desk.people.history("an_", most=1)) == 1, "what was done to others takes no place"


@pytest.mark.claim("accounts.1")
def test_new_people_choose_their_password_and_whoever_added_them_knows_none(world: World) -> None:
    code = code_in(world.post("sue", "/people", name="eve", role="analyst").text)
    assert world.desk.accounts.sign_in("eve", code, "10.0.0.1") is None
    assert "has not chosen a password yet" in world.signed_in("sue").get("/people").text
    assert chosen(world, "eve", code) is not None
    assert world.desk.accounts.sign_in("eve", NEW, "10.0.0.1") is not None
    assert "has not chosen a password yet" not in world.signed_in("sue").get("/people").text
    told = [one["note"] for one in world.desk.accounts.history(world.person("eve"))]
    assert told == ["eve: chose a password with a code", "eve may sign in as analyst"]


@pytest.mark.claim("accounts.1")
def test_stewards_reset_analysts_and_auditors_and_nobody_resets_themselves(world: World) -> None:
    known = world.person("sue")
    world.desk.people.add("ada", "admin", known.salt, known.password, by=None, now=0.0)
    allowed = {
        (by, of): world.desk.accounts.may_reset(world.person(of), world.person(by))
        for by in ("ann", "sue", "aud", "ada")
        for of in ("ann", "bob", "sue", "sam", "aud", "ada")
    }
    assert {pair for pair, may in allowed.items() if may} == {
        *(("sue", of) for of in ("ann", "bob", "aud")),
        *(("ada", of) for of in ("ann", "bob", "sue", "sam", "aud")),
    }
    assert world.post("sue", "/people/sam/reset").status_code == 404
    assert world.post("ada", "/people/ada/reset").status_code == 422
    assert world.post("ada", "/people/sam/reset").status_code == 200
    assert "sam: reset, with a code for one use" in world.signed_in("aud").get("/ledger").text


@pytest.mark.claim("accounts.3")
def test_where_people_sign_in_with_a_provider_stewards_reset_nobody(world: World) -> None:
    bound = world.desk.people.add(
        "olga", "analyst", "", "", by=None, now=0.0, identity=("https://id.example", "subject 1")
    )
    for by in ("sue", "ada"):
        if by == "ada":
            world.desk.people.add("ada", "admin", "00", "00", by=None, now=0.0)
        with pytest.raises(BadInput, match="organisation"):
            world.desk.accounts.reset(bound, by=world.person(by))
    with pytest.raises(BadInput, match="organisation"):
        world.desk.people.reset("olga", world.desk.accounts._kept(spoken()), by="sue")
    oidc = {"issuer": "https://id.example", "client": "discreet", "roles": {"g": "analyst"}}
    for local in (True, False):
        settings = settings_for(Path(world.desk.folder), oidc=oidc | {"local": local})
        world.desk.accounts.settings = settings
        assert not world.desk.accounts.may_reset(world.person("ann"), world.person("sue"))
        assert world.desk.accounts.may_reset(world.person("ann"), world.person("ada")) == local
    with pytest.raises(BadInput, match="switched off"):
        world.desk.accounts.invite("eve", "analyst", by="sue")
    assert chosen(world, "ann", "x") is None


def test_a_code_is_kept_as_a_digest(world: World, tmp_path: Path) -> None:
    code = reset(world)
    kept = world.desk.ledger.beside(lambda c: [tuple(row) for row in c.execute(CODES.select())])
    assert [row[1] for row in kept] == [digest_of(typed(code))]
    files = b"".join(file.read_bytes() for file in tmp_path.glob("study.ledger*"))
    assert typed(code).encode() not in files
    assert code.encode() not in files
    assert len({spoken() for _ in range(50)}) == 50


def test_a_code_opens_nothing_from_another_place(world: World) -> None:
    code, client = reset(world), world.client()
    sent: dict[str, Any] = {"name": "ann", "code": code, "password": NEW}
    assert client.post("/login/code", data=sent).status_code == 403, "no secret of this browser"
    secret = hidden(client.get("/login/code").text)
    there = {"origin": "https://evil.example"}
    assert client.post("/login/code", data=sent | {"csrf": secret}, headers=there).status_code == 403
    wrong = client.post("/login/code", data=sent | {"csrf": secret, "code": "ABCD", "name": "<img src=x>"})
    assert wrong.status_code == 422
    assert "<img" not in wrong.text
    assert code not in wrong.text
    assert client.post("/login/code", data=sent | {"csrf": secret}).status_code == 303


@pytest.mark.claim("accounts.3")
def test_an_account_that_is_bound_to_a_provider_loses_its_password_and_its_code(world: World) -> None:
    """Else whoever made the code before could still choose a password for it."""
    code, header = reset(world), world.token("bob", "ask")
    now = world.clock()
    for name in ("ann", "bob"):
        world.desk.people.bind(world.person(name), ("https://id.example", f"subject of {name}"), now=now)
    assert chosen(world, "ann", code) is None
    assert world.desk.accounts.sign_in("bob", PASSWORD, "10.0.0.1") is None
    assert world.client().get("/api/v1/tables", headers=header).status_code == 401
    assert world.desk.people.identity("https://id.example", "subject of bob") == world.person("bob")
    assert world.desk.accounts.history(world.person("bob"))[0]["note"] == "bob: may sign in by https://id.example"


@pytest.mark.claim("service_people.1")
def test_both_looks_at_a_code_look_at_all_of_it(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first, which writes nothing, and the one within the transaction, where another may have been faster."""
    people, now = world.desk.people, world.clock()
    right = digest_of(typed(reset(world)))
    other = digest_of(typed(reset(world, "bob")))
    late = now + 3600 * world.desk.settings.login.code_hours
    wrong = [("ann", other, now), ("bob", right, now), ("ann", right, late), ("ann", "", now), ("ann", typed("x"), now)]
    assert people.fits("ann", right, now)
    assert [people.fits(*one) for one in wrong] == [False] * len(wrong)
    monkeypatch.setattr(type(people), "fits", lambda *_: True)
    for name, code, when in wrong:
        with pytest.raises(BadInput, match="ask for another"):
            people.choose(name, code, "00", "11", now=when)
        assert world.person(name).password == ""
    people.choose("ann", right, "00", "11", now=now)
    assert world.person("ann").password == "11"
