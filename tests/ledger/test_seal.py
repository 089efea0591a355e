import threading
from pathlib import Path

import pytest

from discreet.errors import LedgerFault
from discreet.ledger.seal import Anchor, Head, Seal, _make, given_seal, new_seal

HEADS = [Head(number, f"{number:064x}", "a" * 64) for number in range(1, 200)]


@pytest.mark.claim("LK1")
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
    _make(tmp_path / "key")  # by another process, that had seen none
    assert given_seal(tmp_path / "key") == first
    assert [path.name for path in tmp_path.iterdir()] == ["key"]


@pytest.mark.claim("LK2")
def test_the_anchor_keeps_what_was_appended(tmp_path: Path) -> None:
    anchor = Anchor(tmp_path / "anchor")
    assert anchor.furthest() is None
    assert list(anchor.heads()) == []
    for head in HEADS:
        anchor.append(head)
    assert list(anchor.heads()) == HEADS
    assert anchor.furthest() == HEADS[-1]
    with anchor.path.open("ab") as file:
        file.write(b"200 torn")
    assert anchor.furthest() == HEADS[-1]
    anchor.append(HEADS[0])
    assert list(anchor.heads()) == [*HEADS, None, HEADS[0]]


def test_an_anchor_that_cannot_be_written_stops_the_show(tmp_path: Path) -> None:
    with pytest.raises(LedgerFault, match="ask again with the same request"):
        Anchor(tmp_path).append(HEADS[0])
