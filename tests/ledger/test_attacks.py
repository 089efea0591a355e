"""Ways to spend more than a budget: by someone who writes the database without the key, by links, moves and names."""

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from benchmarks.ledger import Place

from discreet.accounting.filter import Budget
from discreet.errors import BadInput, LedgerFault
from discreet.ledger import Ledger, examine
from discreet.ledger.database import Database
from discreet.ledger.ledger_tables import ACCOUNTS
from discreet.ledger.seal import Anchor
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Composed, Gaussian, Laplace, Loss, Sampled


def by_hand(place: Place, *statements: Any) -> list[Any]:
    """Statements of a thief with the database's password and without the key."""

    def work(connection: sa.Connection) -> list[Any]:
        done = [connection.execute(sa.text(each) if isinstance(each, str) else each) for each in statements]
        return [result.all() if result.returns_rows else None for result in done]

    database = Database(place.where, 10.0)
    try:
        return database.write(work)
    finally:
        database.close()


def disk_full(*_: object) -> int:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def used(place: Place) -> Ledger:
    ledger = place.open()
    ledger.open("people", Budget(1.0))
    return ledger


@pytest.mark.claim("pages.1")
def test_a_cheap_charge_does_not_become_a_dear_one_that_is_paid(place: Place) -> None:
    """The request is known, so nothing would be charged; its entry must be the one that was signed."""
    with used(place) as ledger:
        ledger.charge("people", Laplace(0.01), "cheap", request="q")
        ledger.charge("people", Laplace(0.01), "last")
        by_hand(
            place,
            'UPDATE discreet_entries SET body = replace(body, \'"epsilon":"1/100"\', \'"epsilon":"50/1"\') '
            "WHERE number = 2",
        )
        with pytest.raises(LedgerFault, match="entry 2 is not what was signed"):
            ledger.charge("people", Laplace(50), "cheap", request="q")
        with pytest.raises(LedgerFault, match="entry 2 is not what was signed"):
            ledger.entries("people")


@pytest.mark.claim("pages.1")
def test_an_account_is_not_set_back_to_what_was_signed_earlier(place: Place) -> None:
    with used(place) as ledger:
        ((state, signature),) = by_hand(place, sa.select(ACCOUNTS.c.state, ACCOUNTS.c.signature))[0]
        ledger.charge("people", Laplace(1), "all of it")
        by_hand(place, sa.update(ACCOUNTS).values(state=state, signature=signature))
        with pytest.raises(LedgerFault, match="accounts are not those that belong to its head"):
            ledger.charge("people", Laplace(1), "all of it again")
        assert "the accounts are not those that belong to the head" in str(ledger.verify())
        assert ledger.verify().entries == 2


@pytest.mark.claim("pages.1")
@pytest.mark.claim("store.2")
@pytest.mark.parametrize("also", ["", "DELETE FROM discreet_entries WHERE number = 3", "forge"])
def test_an_answer_that_was_deleted_is_not_drawn_again(place: Place, also: str) -> None:
    with used(place) as ledger:
        receipt = ledger.charge("people", Laplace(0.1), "mean", request="q")
        ledger.store(receipt, "1")
        ledger.charge("people", Laplace(0.1), "mean")
        by_hand(place, "DELETE FROM discreet_answers")
        if also:
            forged = "UPDATE discreet_entries SET kind = 'charge', body = '{}' WHERE number = 3"
            by_hand(place, forged if also == "forge" else also)
        with pytest.raises(LedgerFault, match="changed by other hands"):
            ledger.charge("people", Laplace(0.1), "mean", request="q")
        with pytest.raises(LedgerFault, match="changed by other hands"):
            ledger.store(receipt, "2")
        if not also:
            with pytest.raises(LedgerFault, match="the answer of entry 2"):
                ledger.entries("people")


@pytest.mark.claim("pages.1")
def test_a_forged_answer_is_not_listed(place: Place) -> None:
    with used(place) as ledger:
        ledger.store(ledger.charge("people", Laplace(0.1), "mean"), "1")
        assert [charge.answer for charge in ledger.entries("people")] == ["1"]
        by_hand(place, "UPDATE discreet_answers SET answer = '2'")
        with pytest.raises(LedgerFault, match="the answer of entry 2 is not what was stored"):
            ledger.entries("people")


def test_the_last_few_charges_are_read_alone(place: Place) -> None:
    with used(place) as ledger:
        ledger.open("others", Budget(1.0))
        for number in range(4):
            receipt = ledger.charge("people", Laplace(0.1), f"{number}")
            ledger.charge("others", Laplace(0.1), "other")
            if number != 2:
                ledger.store(receipt, f"{number}")
        for last in (1, 2, 3, 4, 9, None):
            found = ledger.entries("people", last=last)
            assert [charge.note for charge in found] == ["0", "1", "2", "3"][-(last or 4) :]
            assert [charge.answer for charge in found] == ["0", "1", None, "3"][-(last or 4) :]
        for wrong in (0, -1, 1.5):
            with pytest.raises(BadInput, match="last is"):
                ledger.entries("people", last=wrong)  # type: ignore[arg-type]


@pytest.mark.claim("store.4")
@pytest.mark.claim("seal.3")
@pytest.mark.parametrize("added", ["old line", "rubbish"])
def test_an_older_copy_is_refused_whatever_was_appended_to_the_anchor(file: Place, added: str) -> None:
    with used(file):
        pass
    old, first = Path(file.where).read_bytes(), Path(file.folder, "anchor").read_bytes()
    with file.open() as ledger:
        ledger.charge("people", Laplace(1), "mean")
    Path(file.where).write_bytes(old)
    with Path(file.folder, "anchor").open("ab") as anchor:
        anchor.write(first if added == "old line" else b"\0" * 10_000)
    with pytest.raises(LedgerFault, match="an older copy was put back"):
        file.open()


@pytest.mark.claim("store.4")
def test_asking_again_catches_up_on_an_anchor_that_could_not_be_written(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(place.folder, "anchor")
    with used(place) as ledger:
        with monkeypatch.context() as full:
            full.setattr("discreet.ledger.seal.os.write", disk_full)
            with pytest.raises(LedgerFault, match=r"entry recorded, but its anchor .* cannot be written \(No space"):
                ledger.charge("people", Laplace(0.1), "mean", request="q")
            for _ in range(2):  # again and again: nothing is given back before the anchor has it, and nothing charged
                with pytest.raises(LedgerFault, match=r"anchor .* cannot be written \(No space.*nothing is charged"):
                    ledger.charge("people", Laplace(0.1), "mean", request="q")
                with pytest.raises(LedgerFault, match="nothing is charged"):
                    ledger.charge("people", Laplace(0.1), "another")
            with pytest.raises(LedgerFault, match=r"anchor .* cannot be written"):
                ledger.open("people", Budget(1.0))
        receipt = ledger.charge("people", Laplace(0.1), "mean", request="q")
        assert not receipt.fresh
        assert [head.number for head in Anchor(path).heads() if head] == [0, 1, 2]
        ledger.charge("people", Laplace(0.1), "mean", request="q")
        assert [head.number for head in Anchor(path).heads() if head] == [0, 1, 2]  # once is enough
        assert ledger.balance("people").spent.epsilon * 10 == 1


@pytest.mark.claim("seal.3")
def test_the_anchor_is_on_its_disk_before_anything_is_shown(file: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[str] = []
    with used(file) as ledger:
        monkeypatch.setattr("os.fsync", lambda handle: synced.append(os.readlink(f"/proc/self/fd/{handle}")))
        ledger.charge("people", Laplace(0.1), "mean")
    assert synced == [str(Path(file.folder, "anchor"))]


def test_names_that_look_alike_are_not_two_budgets(place: Place) -> None:
    with used(place) as ledger:
        ledger.allot("people", "Ann Lee", Budget(0.5))
        for name in (
            "People",
            "PEOPLE",
            "ｐeople",
            "p\u0435ople",
            "\u0420\u0415\u041e\u0420LE",
            "peop1e",
            "peopIe",
            "people.",
        ):
            with pytest.raises(BadInput, match="there is 'people' already"):
                ledger.open(name, Budget(1.0))
        for hidden in "\u3164\u2800\u034f\ufe0f\uffa0\u115f\u180b\ue000\U000e0100\u0378":
            for name in (f"people{hidden}", f"peo{hidden}ple", f"others{hidden}"):
                with pytest.raises(BadInput, match="not seen or not assigned"):
                    ledger.open(name, Budget(1.0))
        for name in ("ann lee", "Ann\u00a0Lee", "Ann  Lee", "\u0410nn Lee", "Ann_Lee", "Ann.Lee"):
            with pytest.raises(BadInput, match="there is 'Ann Lee' already"):
                ledger.allot("people", name, Budget(0.5))
        ledger.open("peoples", Budget(1.0))
        ledger.allot("peoples", "ann lee", Budget(0.5))  # another population's analysts are others
        assert len(ledger.accounts()) == 4


def test_names_are_never_part_of_a_statement(place: Place) -> None:
    hostile = "x'); DROP TABLE discreet_entries; --"
    with used(place) as ledger:
        ledger.open(hostile, Budget(1.0))
        ledger.allot(hostile, hostile, Budget(1.0))
        receipt = ledger.charge(hostile, Laplace(0.1), hostile, request=hostile, analyst=hostile)
        assert ledger.store(receipt, '"\'); DROP TABLE discreet_entries; --"') == ledger.answer(hostile)
        assert ledger.entries(hostile)[0].note == hostile
        assert ledger.verify().ok


@pytest.mark.claim("account.2")
def test_no_loss_is_written_that_could_not_be_read(file: Place) -> None:
    with file.open() as ledger:
        ledger.open("people", Budget(1.0), neighbours=Neighbours.ADD_OR_REMOVE)
        for depth in (33, 100, 5000):
            loss: Loss = Laplace(0.01)
            for _ in range(depth):
                loss = Composed((loss,))
            with pytest.raises(BadInput, match="nested"):
                ledger.charge("people", loss, "deep")
        with pytest.raises(BadInput, match="repeated"):
            ledger.charge("people", Sampled(Laplace(1e-9), 0.1, 10**5000), "often")
        assert ledger.verify().entries == 1


def test_who_may_only_read_a_database_can_audit_it(server: Any, tmp_path: Path) -> None:
    from benchmarks.ledger import prepared

    place = prepared(server(), tmp_path)
    with used(place) as ledger:
        ledger.store(ledger.charge("people", Laplace(0.1), "mean"), "1")
    barred = Place(f"{place.where}%20-cdefault_transaction_read_only%3Don", place.folder)
    with pytest.raises(LedgerFault), barred.open() as ledger:
        ledger.charge("people", Laplace(0.1), "mean")
    for where in (barred, place):
        with where.open(reading=True) as ledger:
            assert [charge.answer for charge in ledger.entries("people")] == ["1"]
            assert ledger.verify().ok
            with pytest.raises(LedgerFault, match="opened for reading"):
                ledger.charge("people", Laplace(0.1), "mean")


def test_a_ledger_without_signed_entries_is_not_read(place: Place) -> None:
    """Version 1 had neither signed entries nor signed sets of accounts."""
    with used(place):
        pass
    by_hand(place, "UPDATE discreet_ledger SET version = 1")
    by_hand(place, "ALTER TABLE discreet_ledger DROP COLUMN accounts")
    with pytest.raises(LedgerFault, match="of version 1; this release of discreet reads version 2"):
        place.open()
    assert "of version 1" in str(examine(place.where, key=f"{place.folder}/key", anchor=f"{place.folder}/anchor"))


@pytest.mark.parametrize(("address", "seconds"), [("", 7), ("?connect_timeout=3", None)])
def test_a_server_that_does_not_answer_is_not_waited_for_long(address: str, seconds: int | None) -> None:
    seen: list[dict[str, Any]] = []
    database = Database(f"postgresql://ann@host/db{address}", 7.0)

    def connect(*event: Any) -> None:
        seen.append(event[3])
        raise KeyError

    sa.event.listen(database.engine, "do_connect", connect)
    with pytest.raises(KeyError):
        database.read(lambda _: None)
    assert int(seen[0]["connect_timeout"]) == (seconds or 3)


def test_a_key_that_others_can_read_is_told(file: Place) -> None:
    with used(file):
        pass
    key = Path(file.folder, "key")
    for mode, told in ((0o600, False), (0o640, True), (0o602, True)):
        key.chmod(mode)
        found = examine(file.where, key=key, anchor=f"{file.folder}/anchor")
        assert found.ok
        assert ("by others than its owner, who could sign" in str(found)) == told


def test_an_anchor_of_numbers_that_no_ledger_has_is_no_crash(file: Place) -> None:
    with used(file):
        pass
    with Path(file.folder, "anchor").open("a") as anchor:
        anchor.write(f"{10**30} {'0' * 64} {'0' * 64}\n")
    with file.open() as ledger:  # a line that cannot be read
        assert "1 lines that cannot be read" in str(ledger.verify())
    with Path(file.folder, "anchor").open("a") as anchor:
        anchor.write(f"{10**17} {'0' * 64} {'0' * 64}\n")
    with pytest.raises(LedgerFault, match="has seen entry 100000000000000000"):
        file.open()


def test_a_forked_child_and_its_parent_spend_one_budget(file: Place) -> None:
    """Connections are not carried across a fork: in a process of its own, as this one has threads."""
    code = (
        "import os, sys\n"
        "from discreet.ledger import Ledger\n"
        "from discreet.accounting.filter import Budget\n"
        "from discreet.errors import OverBudget\n"
        "from discreet.privacy.loss import Laplace\n"
        "ledger = Ledger(sys.argv[1]); ledger.open('people', Budget(1.0))\n"
        "ledger.charge('people', Laplace(0.01), 'x')\n"
        "children = [os.fork()]\n"
        "if children[0]: children.append(os.fork())\n"
        "try:\n"
        "    while True: ledger.charge('people', Laplace(0.03), 'x')\n"
        "except OverBudget: pass\n"
        "if not all(children): os._exit(0)\n"
        "for child in children: assert os.waitpid(child, 0)[1] == 0\n"
        "print(len(ledger.entries('people')), ledger.verify().ok)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, f"{file.folder}/forked"], capture_output=True, text=True)  # noqa: PLW1510
    assert done.stdout == "34 True\n", done.stderr


@pytest.mark.claim("store.1")
@pytest.mark.claim("store.2")
@pytest.mark.claim("database.1")
@pytest.mark.parametrize("moment", ["within", "at the commit"])
def test_a_server_that_is_killed_within_a_charge(server: Any, tmp_path: Path, moment: str) -> None:
    """kill -9 of a server process makes PostgreSQL drop everybody and recover from its log."""
    from benchmarks.ledger import prepared

    place = prepared(server(), tmp_path)
    with used(place) as ledger:
        engine = ledger._database.engine

        def strike(connection: Any, *_: object) -> None:
            os.kill(connection.connection.dbapi_connection.info.backend_pid, signal.SIGKILL)

        def strike_at_update(connection: Any, _cursor: object, statement: str, *_: object) -> None:
            if statement.startswith("UPDATE discreet_ledger"):
                strike(connection)

        event, hook = ("commit", strike) if moment != "within" else ("after_cursor_execute", strike_at_update)
        sa.event.listen(engine, event, hook)
        with pytest.raises(LedgerFault, match="cannot be used"):
            ledger.charge("people", Laplace(0.7), "mean", request="q")
        sa.event.remove(engine, event, hook)
        until = time.monotonic() + 600
        while True:  # the server recovers
            try:
                receipt = ledger.charge("people", Laplace(0.7), "mean", request="q")
                break
            except LedgerFault:
                assert time.monotonic() < until
                time.sleep(0.05)
        assert ledger.store(receipt, "1") == "1"
        assert ledger.balance("people").spent.epsilon * 10 == 7
        assert len(ledger.entries("people")) == 1
        assert ledger.verify().ok


def test_gaussian_charges_are_priced_again_by_the_auditor(place: Place) -> None:
    with place.open() as ledger:
        for number, counted in enumerate(("zcdp", "gdp")):
            ledger.open(f"people {number}", Budget(1.0, 1e-6), accounting=counted, reserve=0.25)
            ledger.allot(f"people {number}", "ann", Budget(0.9, 1e-7))
            ledger.charge(f"people {number}", Composed((Gaussian(0.01, 1e-12), Laplace(0.001))), "x", analyst="ann")
        assert ledger.verify().ok, str(ledger.verify())


def test_a_name_that_was_in_use_before_stays_in_use(file: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as former, file.open() as ledger:
        former.setattr("discreet.ledger.ledger_text.new_name", lambda *_: None)
        for name in ("peo\u034fple", "p\u0435ople", "\u2764\ufe0f patients"):
            former.setattr("discreet.ledger.pages.alike", lambda *_: False)
            ledger.open(name, Budget(1.0))
    with file.open() as ledger:
        for name in ("peo\u034fple", "p\u0435ople", "\u2764\ufe0f patients"):
            ledger.open(name, Budget(1.0))
            ledger.charge(name, Laplace(0.5), "mean")
        with pytest.raises(BadInput, match="already"):
            ledger.open("people", Budget(1.0))
        assert ledger.verify().ok
