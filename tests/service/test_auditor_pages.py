"""What auditors and stewards read: heads, populations, and a ledger that was tampered with."""

import re

import pytest
from tests.service.conftest import World, plan

from discreet.ledger.ledger_tables import ENTRIES


def test_a_head_that_was_kept_is_compared_with_the_chain(world: World) -> None:
    aud, header = world.signed_in("aud"), world.token("aud", "audit")
    lines = aud.get("/ledger/heads.csv").text.splitlines()
    assert lines[0] == "entry,hash"
    kept = [line.split(",") for line in lines[1:]]
    assert [int(number) for number, _ in kept] == list(range(1, len(kept) + 1)), "every entry, once"
    told = world.client().get("/api/v1/ledger/heads", headers=header).json()
    assert [(one["number"], one["hash"], one["held"]) for one in told] == [(int(a), b, True) for a, b in kept]
    assert len(world.client().get("/api/v1/ledger/heads?most=2", headers=header).json()) == 2
    number, hash_ = kept[-2]
    for asked, says in (
        ({"number": number, "kept": hash_}, "is still what you kept"),
        ({"number": number, "kept": f" {hash_.upper()} "}, "is still what you kept"),
        ({"number": number, "kept": kept[-1][1]}, "is not what you kept"),
        ({"number": str(len(kept) + 5), "kept": hash_}, "is not what you kept"),
        ({"number": number, "kept": ""}, "is not what you kept"),
    ):
        assert says in aud.get("/ledger/head", params=asked).text, asked
    for wrong in ("0", "-1", "x", str(2**63), str(10**40)):
        assert aud.get("/ledger/head", params={"number": wrong, "kept": hash_}).status_code == 422, wrong
        assert aud.get("/ledger", params={"before": wrong}).status_code == 422, wrong
        found = world.client().get("/api/v1/ledger/entries", params={"before": wrong}, headers=header)
        assert found.status_code == 422, wrong


def test_heads_show_no_signature(world: World) -> None:
    """The ledger's key signs them: nobody needs it to compare."""
    anchor = world.desk.ledger.anchor
    assert anchor is not None
    signature = anchor.read_text().split()[2]
    for path in ("/ledger", "/ledger/heads.csv"):
        assert signature not in world.signed_in("aud").get(path).text


def test_a_tampered_ledger_is_said_to_be_so(world: World) -> None:
    """The page opens, names no entry as good that is not, and verifying says which one is wrong."""
    world.signed_in("aud"), world.signed_in("sue")
    rows = ENTRIES.update().where(ENTRIES.c.number == 3).values(body='{"event":"x","note":"changed","person":"ann"}')
    world.desk.ledger.beside(lambda connection: connection.execute(rows), writes=True)
    for name in ("aud", "sue"):
        page = world.signed_in(name).get("/ledger")
        assert page.status_code == 200
        assert "An entry on this page is not what was signed" in page.text
        assert "changed" not in page.text
        assert "another one, or none" in page.text
    verdict = world.signed_in("aud").get("/ledger/verify").text
    assert "something is wrong" in verdict
    assert "entry 3" in verdict


@pytest.mark.claim("allotments.1")
def test_populations_show_budgets_parts_and_tables_and_give_parts(world: World) -> None:
    world.answered(world.submit(text=plan(epsilon=0.4)))
    page = world.signed_in("sue").get("/populations").text
    for said in (
        "spent 0.4",
        "left 2.6 of epsilon 3",
        "left 0.6 of epsilon 1",
        "Answers paid for",
        "Together epsilon 2",
    ):
        assert said in page, said
    for sort, names in (("left", ["ann", "bob"]), ("-left", ["bob", "ann"]), ("x", ["ann", "bob"])):
        sorted_ = world.signed_in("aud").get("/populations", params={"sort": sort}).text
        assert re.findall(r'<th scope="row">(\w+)</th>', sorted_) == names, sort
    form = {"population": "people", "analyst": "sam", "epsilon": "0.25", "delta": "0"}
    assert "<option>sue</option>" not in page, "nobody gives a part to themselves"
    assert world.post("sue", "/populations/allot", **form).status_code == 303
    part = world.desk.part(world.source, "sam")
    assert part is not None
    assert part.filter.budget.epsilon == 0.25
    wrong = [
        form | {"analyst": "sue"},
        form | {"analyst": "aud"},
        form | {"analyst": "nobody"},
        form | {"epsilon": "4"},
    ]
    wrong += [form | {"analyst": "ann"}]  # has another part already
    for sent in wrong:
        assert world.post("sue", "/populations/allot", **sent).status_code == 422, sent
    assert world.post("sue", "/populations/allot", **(form | {"population": "others"})).status_code == 404
    seen = world.signed_in("aud").get("/populations").text
    assert "Give this part" not in seen
    assert "/people?of=" not in seen
    assert "sam may spend epsilon 0.25, by sue" in world.signed_in("aud").get("/ledger").text


def test_a_program_reads_others_requests_with_a_wide_scope_only(world: World) -> None:
    """A steward's token for a notebook opens what is theirs."""
    which = world.submit("ann")
    world.answered(which)
    for scope, status in (("ask", 404), ("decide", 200)):
        for path in (f"/api/v1/requests/{which}", f"/api/v1/requests/{which}/report.json"):
            assert world.client().get(path, headers=world.token("sue", scope)).status_code == status, (scope, path)
    assert world.client().get(f"/api/v1/requests/{which}", headers=world.token("aud", "audit")).status_code == 200
    assert world.client().get(f"/api/v1/requests/{which}", headers=world.token("ann", "ask")).status_code == 200


def test_a_program_withdraws_its_own_request(world: World) -> None:
    which = world.submit("ann")
    path = f"/api/v1/requests/{which}/withdraw"
    for name, scope in (("bob", "ask"), ("sue", "ask"), ("sue", "decide")):
        assert world.client().post(path, headers=world.token(name, scope)).status_code in (403, 404), (name, scope)
    done = world.client().post(path, headers=world.token("ann", "ask"))
    assert (done.status_code, done.json()["state"]) == (200, "withdrawn")
    assert world.client().post(path, headers=world.token("ann", "ask")).status_code == 422
