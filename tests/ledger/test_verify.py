"""Tampering of every kind, by someone with the database and without the key; then with the key too."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa
from benchmarks.ledger import Place

from discreet.accounting.filter import Budget
from discreet.errors import LedgerFault
from discreet.ledger import LedgerVerdict, examine
from discreet.ledger.account import GENESIS, Entry
from discreet.ledger.database import Database
from discreet.ledger.ledger_tables import ACCOUNTS, ENTRIES, LEDGER
from discreet.ledger.pages import COLUMNS, entry_of, standing
from discreet.ledger.seal import Anchor, Head, given_seal
from discreet.privacy.loss import Approximate, Laplace

COUNT = 9  # entries: the opening, the allotment, five charges, two answers


def filled(place: Place) -> None:
    with place.open() as ledger:
        ledger.open("people", Budget(1.0))
        ledger.allot("people", "ann", Budget(0.5))
        for number in range(5):
            who = "ann" if number == 1 else None
            receipt = ledger.charge("people", Laplace(0.1), f"note {number}", request=f"q{number}", analyst=who)
            if number in (0, 3):
                ledger.store(receipt, f'{{"value": {number}}}')
        assert ledger.verify() == LedgerVerdict(COUNT, ())


def tamper(place: Place, *statements: str) -> None:
    def work(connection: sa.Connection) -> None:
        for statement in statements:
            connection.execute(sa.text(statement))

    database = Database(place.where, 10.0)
    database.write(work)
    database.close()


def verdict(place: Place, *, anchor: bool = True) -> LedgerVerdict:
    """What an auditor finds; without the anchor, all but that it is missing."""
    kept = f"{place.folder}/anchor" if anchor else f"{place.folder}/none"
    found = examine(place.where, key=f"{place.folder}/key", anchor=kept)
    return found if anchor else replace(found, problems=tuple(each for each in found.problems if not each.anchor))


def test_an_untouched_ledger_is_sound(place: Place) -> None:
    filled(place)
    assert verdict(place).ok
    assert str(verdict(place)) == "9 entries, all as they were written"


@pytest.mark.claim("verify.1")
@pytest.mark.claim("account.4")
@pytest.mark.parametrize(
    ("statements", "entry", "words"),
    [
        (["UPDATE discreet_entries SET body = replace(body, '1/10', '1/99') WHERE number = 5"], 5, "was changed"),
        (["UPDATE discreet_entries SET time = 'later' WHERE number = 1"], 1, "was changed"),
        (["UPDATE discreet_entries SET analyst = 'bob' WHERE number = 6"], 6, "was changed"),
        (["UPDATE discreet_entries SET request = NULL WHERE number = 9"], 9, "was changed"),
        (["UPDATE discreet_entries SET population = 'none' WHERE number = 3"], 3, "was changed"),
        (["DELETE FROM discreet_entries WHERE number = 4"], 4, "is missing"),
        (["DELETE FROM discreet_entries WHERE number = 1"], 1, "is missing"),
        (["DELETE FROM discreet_entries WHERE number IN (5, 6)"], 5, "and all up to entry 6 are missing"),
        (["DELETE FROM discreet_entries WHERE number > 7"], 8, "and all up to entry 9 are missing"),
        (["DELETE FROM discreet_entries"], 1, "and all up to entry 9 are missing"),
        (
            [  # two entries change places
                "UPDATE discreet_entries SET number = 100 WHERE number = 5",
                "UPDATE discreet_entries SET number = 5 WHERE number = 7",
                "UPDATE discreet_entries SET number = 7 WHERE number = 100",
            ],
            5,
            "was changed",
        ),
        (
            [
                "DELETE FROM discreet_entries WHERE number = 4",
                "UPDATE discreet_entries SET number = number - 1 WHERE number = 5",
            ],
            4,
            "was changed",
        ),
        (
            [
                "INSERT INTO discreet_entries SELECT 10, kind, time, population, NULL, 'n', body, hash, hash, hash "  # noqa: ISC004
                "FROM discreet_entries WHERE number = 9",
            ],
            10,
            "and what follows is beyond the signed head",
        ),
        (["UPDATE discreet_answers SET answer = '{\"value\": 47}' WHERE number = 3"], 4, "records another answer"),
        (["DELETE FROM discreet_answers WHERE number = 3"], 4, "records another answer"),
        (["INSERT INTO discreet_answers VALUES (5, 55, '1')"], None, "1 answers are stored that no entry records"),
        (["UPDATE discreet_ledger SET number = 8"], None, "the head is not signed"),
        (["DELETE FROM discreet_ledger"], None, "first row is gone"),
        (
            ["UPDATE discreet_accounts SET signature = 'none' WHERE analyst = 'ann'"],
            None,
            "the account of 'ann' in 'people' is not what the entries make it",
        ),
        (["DELETE FROM discreet_accounts WHERE analyst = 'ann'"], None, "the account of 'ann' in 'people' is gone"),
        (
            ['UPDATE discreet_accounts SET state = replace(state, \'"epsilon":"1/1"\', \'"epsilon":"9/1"\')'],
            None,
            "the account of 'people' is not what the entries make it",
        ),
        (
            ["UPDATE discreet_accounts SET population = 'people2' WHERE analyst = ''"],
            None,
            "the account of 'people2' is not what the entries make it",
        ),
    ],
)
def test_tampering_is_found_and_named(place: Place, statements: list[str], entry: int | None, words: str) -> None:
    filled(place)
    tamper(place, *statements)
    for found in (verdict(place), verdict(place, anchor=False)):
        assert not found.ok
        assert any(problem.entry == entry and words in problem.what for problem in found.problems), str(found)
        assert "not as they were written" in str(found) or entry is None


def rewritten(place: Place, change: Callable[[list[Entry]], list[Entry]], *, signed: bool) -> None:
    """The whole chain written anew after a change; by someone with the key, if `signed`."""
    seal = given_seal(f"{place.folder}/key")

    def work(connection: sa.Connection) -> None:
        ledger = str(connection.execute(sa.select(LEDGER.c.ledger)).scalar_one())
        old = [entry_of(ledger, row) for row in connection.execute(sa.select(ENTRIES).order_by(ENTRIES.c.number))]
        connection.execute(sa.delete(ENTRIES))
        last, number = GENESIS, 0
        for number, entry in enumerate(change(old), 1):
            new = replace(entry, number=number, previous=last)
            last = new.hash
            signature = seal.sign("head", ledger, number, last) if signed else GENESIS
            connection.execute(
                sa.insert(ENTRIES), {name: getattr(new, name) for name in COLUMNS} | {"signature": signature}
            )
        values = {"number": number, "hash": last}
        if signed:
            values["signature"] = seal.sign("head", ledger, number, last)
            signatures = connection.execute(sa.select(ACCOUNTS.c.signature)).scalars()
            values["accounts"] = seal.sign("accounts", ledger, number, standing(signatures))
        connection.execute(sa.update(LEDGER), values)

    database = Database(place.where, 10.0)
    database.write(work)
    database.close()


@pytest.mark.claim("verify.2")
@pytest.mark.claim("seal.1")
@pytest.mark.claim("seal.3")
def test_a_rewritten_chain_is_found_by_its_head_and_by_the_anchor(place: Place) -> None:
    filled(place)
    rewritten(place, lambda entries: [entry for entry in entries if entry.request != "q4"], signed=False)
    assert any("the head is not signed" in str(problem) for problem in verdict(place, anchor=False).problems)
    found = [str(problem) for problem in verdict(place).problems]
    assert any("entry 9 was seen by the anchor" in problem for problem in found)
    rewritten(place, lambda entries: entries, signed=True)
    found = [str(problem) for problem in verdict(place, anchor=False).problems]
    assert found == ["the account of 'people' is not what the entries make it"]
    assert any("entry 9 was seen by the anchor" in str(problem) for problem in verdict(place).problems)


@pytest.mark.claim("verify.2")
def test_an_entry_that_was_replaced_with_the_key_is_found_by_the_anchor(place: Place) -> None:
    filled(place)

    def forge(entries: list[Entry]) -> list[Entry]:
        return [*entries[:6], replace(entries[6], time="2001-01-01T00:00:00+00:00"), *entries[7:]]

    rewritten(place, forge, signed=True)
    assert verdict(place, anchor=False).ok  # nothing inside can tell
    problems = verdict(place).problems
    assert [problem.entry for problem in problems] == [7, 8, 9]
    assert all("anchor" in problem.what for problem in problems)
    with pytest.raises(LedgerFault, match="rewritten"):
        place.open()


@pytest.mark.claim("verify.1")
def test_an_overspent_book_is_found_whoever_signed_it(place: Place) -> None:
    filled(place)

    def dear(entries: list[Entry]) -> list[Entry]:
        body = json.loads(entries[4].body) | {"price": ["9/10", "0/1"]}
        return [*entries[:4], replace(entries[4], body=json.dumps(body)), *entries[5:]]

    rewritten(place, dear, signed=True)
    found = [problem.entry for problem in verdict(place, anchor=False).problems if "fits its budget" in problem.what]
    assert found == [6, 7, 9]


@pytest.mark.claim("verify.1")
def test_a_charge_below_its_cost_is_found_whoever_signed_it(place: Place) -> None:
    filled(place)

    def cheap(entries: list[Entry]) -> list[Entry]:
        body = json.loads(entries[4].body) | {"price": ["1/100", "0/1"]}
        return [*entries[:4], replace(entries[4], body=json.dumps(body)), *entries[5:]]

    rewritten(place, cheap, signed=True)
    assert "entry 5 was charged less than its loss costs" in str(verdict(place, anchor=False))

    def free(entries: list[Entry]) -> list[Entry]:
        nothing = {"loss": {"loss": "Approximate", "epsilon": "0/1", "delta": "0/1"}, "price": ["0/1", "0/1"]}
        return [*entries[:4], replace(entries[4], body=json.dumps(json.loads(entries[4].body) | nothing)), *entries[5:]]

    rewritten(place, free, signed=True)
    assert "entry 5 is not a charge that fits its budget" in str(verdict(place, anchor=False))


@pytest.mark.claim("verify.1")
@pytest.mark.parametrize("change", [{"spent": ["-1/1", "0/1"]}, {"total": ["9/1", "0/1"]}, {"charges": -1}])
def test_a_budget_that_begins_with_more_is_found_whoever_signed_it(place: Place, change: dict[str, object]) -> None:
    filled(place)

    def rich(entries: list[Entry]) -> list[Entry]:
        return [replace(entries[0], body=json.dumps(json.loads(entries[0].body) | change)), *entries[1:]]

    rewritten(place, rich, signed=True)
    assert "entry 1 begins with something spent, or with more than its budget" in str(verdict(place, anchor=False))


@pytest.mark.claim("verify.1")
def test_a_delta_below_its_cost_is_found_whoever_signed_it(place: Place) -> None:
    with place.open() as ledger:
        ledger.open("people", Budget(1.0, 1e-6))
        ledger.charge("people", Approximate(0.1, 1e-8), "mean")

    def cheap(entries: list[Entry]) -> list[Entry]:
        return [
            entries[0],
            replace(entries[1], body=entries[1].body.replace('["1/10","1/100000000"]', '["1/10","0/1"]')),
        ]

    rewritten(place, cheap, signed=True)
    assert "entry 2 was charged less than its loss costs" in str(verdict(place, anchor=False))


@pytest.mark.claim("verify.1")
def test_a_second_budget_is_found_whoever_signed_it(place: Place) -> None:
    filled(place)
    rewritten(place, lambda entries: [*entries[:7], entries[0], *entries[7:]], signed=True)
    assert "entry 8 gives a second budget" in str(verdict(place, anchor=False))


@pytest.mark.claim("verify.1")
@pytest.mark.claim("seal.1")
def test_an_entry_that_fits_its_hash_but_not_the_key_is_found(place: Place) -> None:
    filled(place)
    tamper(place, "UPDATE discreet_entries SET signature = hash WHERE number = 3")
    assert [str(problem) for problem in verdict(place).problems] == ["entry 3 is not signed with this key"]


@pytest.mark.claim("pages.1")
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE discreet_ledger SET number = 8",
        "UPDATE discreet_ledger SET signature = hash",
        "DELETE FROM discreet_entries WHERE number = 9",
        "UPDATE discreet_entries SET hash = previous WHERE number = 9",
        "UPDATE discreet_accounts SET state = replace(state, '1/2', '0/1')",
        "UPDATE discreet_accounts SET analyst = 'eve' WHERE analyst = 'ann'",
        "UPDATE discreet_answers SET answer = '47' WHERE number = 3",
    ],
)
def test_a_tampered_ledger_neither_charges_nor_shows(place: Place, statement: str) -> None:
    filled(place)
    with place.open() as ledger:
        before = ledger.verify().entries
        tamper(place, statement)

        def use() -> None:
            ledger.charge("people", Laplace(0.01), "note 0", analyst="eve" if "eve" in statement else None)

        def look() -> None:
            ledger.charge("people", Laplace(0.1), "note 0", request="q0")

        with pytest.raises(LedgerFault, match="changed by other hands"):
            look() if "answers" in statement else use()
        assert ledger.verify().entries <= before
        if "answers" in statement:
            with pytest.raises(LedgerFault, match="answer of entry 3"):
                ledger.answer("q0")


@pytest.mark.claim("seal.3")
def test_the_anchor_may_lag_and_be_torn(place: Place) -> None:
    filled(place)
    path = Path(place.folder) / "anchor"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:3], lines[8], lines[7], lines[9][:40]]))  # lost, out of order, cut
    assert verdict(place).ok
    assert "1 lines that cannot be read" in str(verdict(place))
    with place.open() as ledger:
        ledger.charge("people", Laplace(0.01), "on a line of its own")
        assert ledger.verify().ok
    assert [head and head.number for head in Anchor(path).heads()] == [0, 1, 2, 8, 7, None, 9, 10]


def test_a_forged_anchor_is_named(place: Place) -> None:
    filled(place)
    path = Path(place.folder) / "anchor"
    head = Anchor(path).furthest()
    assert head is not None
    Anchor(path).append(Head(head.number, head.hash, "0" * 64))
    assert "entry 9 is in the anchor with a signature of another key" in str(verdict(place))
    path.write_text(f"{head.number} {head.hash} {'0' * 64}\n")
    with pytest.raises(LedgerFault, match="put back, or it was rewritten"):
        place.open()


def test_there_must_be_a_ledger(file: Place) -> None:
    with pytest.raises(LedgerFault, match="there is no ledger"):
        verdict(file)
    file.open().close()
    found = examine(file.where, key=b"k" * 32)
    assert "another key" in str(found)
    assert ACCOUNTS.name not in str(found)
