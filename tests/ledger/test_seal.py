import os
import threading
from pathlib import Path

import pytest

from discreet.errors import LedgerFault
from discreet.ledger import Ledger
from discreet.ledger.seal import OWN, WRITTEN_BY_OWNER, Seal, given_seal, make_secret, new_seal


@pytest.mark.claim("seal.1")
def test_a_signature_is_of_one_key_and_one_text() -> None:
    seal = Seal(b"k" * 32)
    signature = seal.sign("head", "id", 1, "ab")
    assert seal.fits(signature, "head", "id", 1, "ab")
    for parts in (
        ("head", "id", 1, "abc"),
        ("head", "id1", "ab"),
        ("account", "id", 1, "ab"),
        ("head", "id", "1", "ab"),
    ):
        assert not seal.fits(signature, *parts)
    assert not Seal(b"l" * 32).fits(signature, "head", "id", 1, "ab")
    assert not seal.fits("", "head", "id", 1, "ab")
    assert not seal.fits("é", "head", "id", 1, "ab")
    assert "kkk" not in repr(seal)


def test_of_many_who_make_a_key_one_does(tmp_path: Path) -> None:
    found: list[Seal] = []
    threads = [threading.Thread(target=lambda: found.append(new_seal(tmp_path / "key"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["key"]
    assert given_seal(tmp_path / "key") == found[0]


def test_a_key_is_never_replaced(tmp_path: Path) -> None:
    first = new_seal(tmp_path / "key")
    make_secret(tmp_path / "key", os.urandom(32).hex().encode())  # by another process, that had seen none
    assert given_seal(tmp_path / "key") == first
    assert [path.name for path in tmp_path.iterdir()] == ["key"]


@pytest.mark.claim("seal.2")
@pytest.mark.parametrize("mode", [0o666, 0o660, 0o606, 0o622, 0o602])
def test_a_key_that_others_may_write_signs_nothing(tmp_path: Path, mode: int) -> None:
    key = tmp_path / "key"
    key.write_bytes(b"k" * 32)
    key.chmod(mode)
    for forbidden in (OWN, WRITTEN_BY_OWNER):
        with pytest.raises(LedgerFault, match=r"can be written by others than its owner.*nothing is charged"):
            given_seal(key, forbidden)
    assert given_seal(key) == Seal(b"k" * 32)  # to check a ledger, which says so


@pytest.mark.claim("seal.2")
def test_a_key_that_others_may_read_is_no_key_beside_a_ledger(tmp_path: Path) -> None:
    key = tmp_path / "l.key"
    key.write_bytes(b"k" * 32)
    key.chmod(0o644)
    with pytest.raises(LedgerFault, match="can be read by others than its owner"):
        Ledger(tmp_path / "l")
    with Ledger(tmp_path / "l", key=key, anchor=tmp_path / "a"):  # given on purpose, as secrets are mounted
        pass
    key.chmod(0o600)
    with Ledger(tmp_path / "l", anchor=tmp_path / "a"):
        pass


@pytest.mark.claim("seal.2")
def test_a_link_to_what_everybody_knows_is_no_key(tmp_path: Path) -> None:
    (tmp_path / "l.key").symlink_to("/etc/passwd")
    with pytest.raises(LedgerFault, match="by others than its owner"):
        Ledger(tmp_path / "l")
    assert not (tmp_path / "l").exists()


@pytest.mark.claim("seal.2")
def test_a_key_of_another_user_signs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = tmp_path / "l.key"
    new_seal(key)
    owner = key.stat().st_uid
    found = os.fstat

    def of_another(handle: int) -> os.stat_result:
        return os.stat_result((*found(handle)[:4], owner + 4242, *found(handle)[5:10]))

    with monkeypatch.context() as planted:
        planted.setattr("discreet.ledger.seal.os.fstat", of_another)
        for given in (None, key):
            with pytest.raises(LedgerFault, match=rf"belongs to another user, number {owner + 4242}"):
                Ledger(tmp_path / "l", key=given)
    with Ledger(tmp_path / "l"):
        pass
