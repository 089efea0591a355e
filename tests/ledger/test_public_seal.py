"""Signatures that an auditor can check and cannot make, against those who have the shared key."""

import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from benchmarks.ledger import Place

from discreet.accounting.filter import Budget
from discreet.cli import main
from discreet.errors import BadInput, LedgerChanged, LedgerFault
from discreet.ledger import Ledger, LedgerVerdict, examine
from discreet.ledger.account import GENESIS
from discreet.ledger.database import Database
from discreet.ledger.key_pair import sign_from_now
from discreet.ledger.ledger_tables import ACCOUNTS, ENTRIES, LEDGER, PUBLIC_HEADS
from discreet.ledger.pages import COLUMNS, entry_of, standing
from discreet.ledger.public_seal import make_signer, read_public, read_signer, write_public
from discreet.ledger.seal import Anchor, Head, given_seal
from discreet.ledger.verify import trust
from discreet.privacy.loss import Laplace

pytest.importorskip("cryptography")

SWAP = """UPDATE discreet_public_heads SET signature = (SELECT max(p.signature) FROM discreet_public_heads p
WHERE p.number = 3) WHERE number = 7"""  # the signature of another head


def signed(place: Place, before: int = 0, after: int = 3) -> Path:
    """A ledger with so many charges before and after it was given a private key; the public key's file."""
    public = Path(place.folder) / "pub"
    with place.open() as ledger:
        ledger.open("people", Budget(1.0))
        for number in range(before):
            ledger.charge("people", Laplace(0.1), f"before {number}")
    sign_from_now(place.where, key=f"{place.folder}/key", anchor=f"{place.folder}/anchor", public=public)
    with place.open() as ledger:
        for number in range(after):
            receipt = ledger.charge("people", Laplace(0.1), f"after {number}", request=f"q{number}")
            ledger.store(receipt, f'{{"value": {number}}}')
    return public


def audit(place: Place, public: Path | list[Path], anchor: str = "anchor") -> LedgerVerdict:
    """What an auditor finds who has neither key."""
    return examine(place.where, anchor=f"{place.folder}/{anchor}", public_key=public)


def change(place: Place, *statements: str) -> None:
    def work(connection: sa.Connection) -> None:
        for statement in statements:
            connection.execute(sa.text(statement))

    database = Database(place.where, 10.0)
    database.write(work)
    database.close()


def rewrite(place: Place) -> None:
    """All of it anew with the shared key: another price in an early entry, and everything that follows from it."""
    seal = given_seal(f"{place.folder}/key")

    def work(connection: sa.Connection) -> Head:
        first = connection.execute(sa.select(LEDGER)).one()
        previous = GENESIS
        for row in connection.execute(sa.select(ENTRIES).order_by(ENTRIES.c.number)).all():
            entry = replace(entry_of(first.ledger, row), previous=previous, body=row.body.replace("after 0", "nothing"))
            previous = entry.hash
            cells = {name: getattr(entry, name) for name in COLUMNS} | {"hash": entry.hash}
            cells["signature"] = seal.sign("head", first.ledger, entry.number, entry.hash)
            connection.execute(sa.update(ENTRIES).where(ENTRIES.c.number == entry.number).values(**cells))
        accounts = standing(connection.execute(sa.select(ACCOUNTS.c.signature)).scalars())
        head = {"hash": previous, "signature": seal.sign("head", first.ledger, first.number, previous)}
        head["accounts"] = seal.sign("accounts", first.ledger, first.number, accounts)
        connection.execute(sa.update(LEDGER).values(**head))
        return Head(first.number, head["hash"], head["signature"])

    database = Database(place.where, 10.0)
    head = database.write(work)
    database.close()
    Path(place.folder, "anchor").unlink()
    Anchor(Path(place.folder, "anchor")).append(head, begin=True)


@pytest.mark.claim("public_seal.1")
@pytest.mark.claim("verify.3")
@pytest.mark.parametrize("before", [0, 2])
def test_who_has_the_public_key_alone_can_check(place: Place, before: int) -> None:
    public = signed(place, before)
    found = audit(place, public)
    assert found.ok, str(found)
    assert found.entries == 7 + before
    assert ("have no signature of their own" in str(found)) == (before > 0)
    with place.open() as ledger:
        assert ledger.verify().ok


@pytest.mark.claim("public_seal.1")
@pytest.mark.claim("verify.3")
@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE discreet_entries SET body = replace(body, '1/10', '1/99') WHERE number = 4", "entry 4 was changed"),
        ("DELETE FROM discreet_entries WHERE number = 3", "entry 3 is missing"),
        ("UPDATE discreet_accounts SET state = replace(state, '3/10', '1/10')", "is not what the entries make it"),
        ("UPDATE discreet_answers SET answer = '{}' WHERE number = 2", "records another answer"),
        ("DELETE FROM discreet_public_heads WHERE number > 5", "entry 6 and what follows is not signed"),
        ("DELETE FROM discreet_public_heads", "no head of this ledger is signed"),
        ("DROP TABLE discreet_public_heads", "no head of this ledger is signed"),
        (
            SWAP,
            "entry 7 is not the one that was signed",
        ),
        ("UPDATE discreet_public_heads SET signature = 'zz' WHERE number = 7", "entry 7 is not the one"),
        ("UPDATE discreet_public_heads SET key = 'zz' WHERE number = 7", "entry 7 and what follows is not signed"),
        ("UPDATE discreet_ledger SET ledger = 'other'", "was changed after it was written"),
    ],
)
def test_tampering_is_found_without_a_key(place: Place, statement: str, words: str) -> None:
    public = signed(place)
    change(place, statement)
    found = audit(place, public)
    assert not found.ok
    assert words in str(found)


@pytest.mark.claim("public_seal.1")
@pytest.mark.claim("verify.3")
def test_who_has_the_shared_key_cannot_forge_what_the_public_key_accepts(place: Place) -> None:
    public = signed(place)
    rewrite(place)
    forged = examine(place.where, key=f"{place.folder}/key", anchor=f"{place.folder}/anchor")
    assert forged.ok, "the forger has the shared key and the anchor: it cannot tell"
    found = audit(place, public)
    assert not found.ok
    assert "is not the one that was signed for this public key" in str(found)
    assert "its anchor is not there, or is empty" in str(found), "lines that the private key did not sign do not count"


@pytest.mark.claim("verify.3")
def test_a_forger_s_own_key_pair_is_not_the_auditor_s(place: Place, tmp_path: Path) -> None:
    public = signed(place)
    rewrite(place)
    sign_from_now(
        place.where,
        key=f"{place.folder}/key",
        anchor=f"{place.folder}/anchor",
        private=tmp_path / "mine",
        public=tmp_path / "mine.pub",
        replace=True,
    )
    assert not audit(place, public).ok
    assert not audit(place, [public, tmp_path / "mine.pub"]).ok, "what was signed before the forger came does not fit"


@pytest.mark.claim("public_seal.2")
def test_no_entry_is_written_without_the_private_key(place: Place, tmp_path: Path) -> None:
    public = signed(place)
    private = Path(place.folder, "key.ed25519")
    private.rename(tmp_path / "away")
    before = audit(place, public)
    with place.open() as ledger:
        assert len(ledger.entries("people")) == 3
        with pytest.raises(LedgerFault, match=r"signed with a private key.*none was given; nothing is charged"):
            ledger.charge("people", Laplace(0.1), "unsigned")
    make_signer(tmp_path / "other")
    with (
        place.open(signing_key=tmp_path / "other") as ledger,
        pytest.raises(LedgerFault, match=r"was given; nothing is charged"),
    ):
        ledger.sign()
    assert audit(place, public) == before
    with place.open(signing_key=tmp_path / "away") as ledger:
        ledger.charge("people", Laplace(0.1), "signed")
    assert audit(place, public).ok


def test_another_key_in_its_place_vouches_for_all(place: Place, tmp_path: Path) -> None:
    old, new = signed(place), tmp_path / "new.pub"
    arguments = {"key": f"{place.folder}/key", "anchor": f"{place.folder}/anchor", "private": tmp_path / "new"}
    with pytest.raises(LedgerFault, match="--replace"):
        sign_from_now(place.where, public=new, **arguments)  # type: ignore[arg-type]
    sign_from_now(place.where, public=new, replace=True, **arguments)  # type: ignore[arg-type]
    with place.open(signing_key=tmp_path / "new") as ledger:
        ledger.charge("people", Laplace(0.1), "later")
    assert audit(place, new).ok
    assert audit(place, [old, new]).ok
    assert not audit(place, old).ok


def test_a_crash_before_the_anchor_is_written_is_mended_by_the_next_entry(place: Place) -> None:
    public = signed(place)
    anchor = Path(place.folder, "anchor")
    lines = anchor.read_bytes().splitlines(keepends=True)
    anchor.write_bytes(b"".join(lines[:-1]))
    assert audit(place, public).ok
    with place.open() as ledger:
        ledger.charge("people", Laplace(0.1), "one more")
    assert anchor.read_bytes().startswith(b"".join(lines))
    anchor.write_bytes(b"".join(lines[:-2]))
    assert "deleted, cut or exchanged" in str(audit(place, public))


def test_the_steward_s_word_is_signed_too(place: Place) -> None:
    public = signed(place)
    Path(place.folder, "anchor").unlink()
    with pytest.raises(LedgerChanged):
        place.open()
    trust(place.where, "its disk failed", key=f"{place.folder}/key", anchor=f"{place.folder}/anchor")
    assert audit(place, public).ok
    assert "began the anchor anew" in str(audit(place, public))


@pytest.mark.claim("public_seal.3")
def test_a_private_key_that_others_can_read_or_have_put_there_signs_nothing(file: Place) -> None:
    signed(file)
    private = Path(file.folder, "key.ed25519")
    assert private.stat().st_mode & 0o777 == 0o600
    private.chmod(0o644)
    with pytest.raises(LedgerFault, match="can be read by others"):
        file.open()
    private.chmod(0o600)
    if os.geteuid() == 0:
        os.chown(private, 12345, -1)
        with pytest.raises(LedgerFault, match="belongs to another user"):
            file.open()


def test_files_that_hold_no_key_are_named(tmp_path: Path) -> None:
    (tmp_path / "wrong").touch(0o600)
    with pytest.raises(BadInput, match="holds no Ed25519 private key"):
        read_signer(tmp_path / "wrong")
    with pytest.raises(BadInput, match="holds no Ed25519 public key"):
        read_public(tmp_path / "wrong")
    with pytest.raises(LedgerFault, match="cannot be read"):
        read_public(tmp_path / "none")
    signer = make_signer(tmp_path / "a")
    write_public(signer, tmp_path / "a.pub")
    write_public(signer, tmp_path / "a.pub")
    assert make_signer(tmp_path / "a").public == signer.public == read_public(tmp_path / "a.pub")
    assert signer.public.text not in repr(signer)
    with pytest.raises(BadInput, match="holds another public key"):
        write_public(make_signer(tmp_path / "b"), tmp_path / "a.pub")
    with Ledger(tmp_path / "l") as ledger, pytest.raises(BadInput, match="there is no private key"):
        ledger.sign()


def test_without_the_library_the_advice_is_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives", None)
    with pytest.raises(BadInput, match=r"discreet\[sign\]"):
        make_signer(tmp_path / "a")


def test_the_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["discreet", "ledger", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        told: Any = capsys.readouterr()
        return int(ended.value.code or 0), told.out + told.err

    assert run("budget", "l", "people", "--epsilon", "1")[0] == 0
    code, told = run("sign", "l")
    assert code == 0
    assert "l.pub; for auditors, fingerprint" in told
    assert json.loads(run("sign", "l", "--json")[1])["fingerprint"] in told
    assert run("budget", "l", "others", "--epsilon", "1")[0] == 0
    (tmp_path / "l.key").rename(tmp_path / "hidden")
    (tmp_path / "l.key.ed25519").rename(tmp_path / "hidden too")
    code, told = run("verify", "l", "--public-key", "l.pub")
    assert (code, told.splitlines()[0]) == (0, "2 entries, all as they were written")
    assert "private key, and the anchor" in told
    code, told = run("verify", "l", "--public-key", "nothing")
    assert code == 2
    assert PUBLIC_HEADS.name not in told
