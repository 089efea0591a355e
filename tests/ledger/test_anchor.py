"""The anchor deleted, emptied, cut, exchanged, moved or linked, and an older ledger put back under it."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from benchmarks.ledger import Place

from discreet.accounting.filter import Budget
from discreet.errors import BadInput, LedgerChanged, LedgerFault
from discreet.ledger import Ledger, examine
from discreet.ledger.seal import Anchor, Head, lacking
from discreet.ledger.verify import trust
from discreet.privacy.loss import Laplace

HEADS = [Head(number, f"{number:064x}", "a" * 64) for number in range(1, 200)]


def kept(place: Place) -> Path:
    return Path(place.folder, "anchor")


def spent(place: Place, charges: int = 3) -> None:
    with place.open() as ledger:
        ledger.open("people", Budget(1.0))
        for _ in range(charges):
            ledger.charge("people", Laplace(0.25), "mean")


def cut(lines: int) -> Callable[[Path], object]:
    def work(path: Path) -> None:
        path.write_text("".join(path.read_text().splitlines(keepends=True)[:lines]))

    return work


@pytest.mark.claim("seal.3")
def test_the_anchor_keeps_what_was_appended(tmp_path: Path) -> None:
    anchor = Anchor(tmp_path / "anchor")
    assert anchor.furthest() is None
    assert list(anchor.heads()) == []
    for head in HEADS:
        anchor.append(head, begin=head.number == 1)
    assert list(anchor.heads()) == HEADS
    assert anchor.furthest() == HEADS[-1]
    with anchor.path.open("ab") as file:
        file.write(b"200 torn")
    assert anchor.furthest() == HEADS[-1]
    anchor.append(HEADS[0])
    assert list(anchor.heads()) == [*HEADS, None, HEADS[0]]
    assert anchor.furthest() == Anchor(anchor.path).furthest() == HEADS[-1]


@pytest.mark.claim("seal.3")
def test_what_is_read_in_pieces_is_what_is_there(tmp_path: Path) -> None:
    """A line that was torn when it was read, a file that was cut, and another file in its place."""
    anchor, path = Anchor(tmp_path / "anchor"), tmp_path / "anchor"
    anchor.append(HEADS[0], begin=True)
    assert anchor.furthest() == HEADS[0]
    line = f"2 {HEADS[1].hash} {HEADS[1].signature}\n"
    with path.open("a") as file:
        file.write(line[:70])
        file.flush()
        assert anchor.furthest() == HEADS[0]
        file.write(line[70:])
    assert anchor.furthest() == HEADS[1]
    cut(1)(path)
    assert anchor.furthest() == HEADS[0]
    cut(0)(path)
    assert anchor.furthest() is None
    other = Anchor(tmp_path / "other")
    for head in HEADS[:5]:
        other.append(head, begin=True)
    (tmp_path / "other").rename(path)
    assert anchor.furthest() == HEADS[4]
    path.unlink()
    assert anchor.furthest() is None


@pytest.mark.claim("seal.4")
def test_an_anchor_lags_by_one_entry_at_most() -> None:
    assert [lacking(None, entries) is None for entries in range(4)] == [True, False, False, False]
    assert [lacking(2, entries) is None for entries in range(6)] == [True, True, True, True, False, False]


def test_an_anchor_that_cannot_be_written_stops_the_show(tmp_path: Path) -> None:
    with pytest.raises(LedgerFault, match="ask again with the same request"):
        Anchor(tmp_path).append(HEADS[0])
    with pytest.raises(LedgerFault, match=r"No such file.*nothing is charged"):
        Anchor(tmp_path / "gone").append(HEADS[0], recorded=False)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.claim("store.4")
@pytest.mark.claim("seal.4")
@pytest.mark.claim("verify.2")
@pytest.mark.parametrize("older", [False, True], ids=["the same ledger", "an older copy"])
@pytest.mark.parametrize("harm", [Path.unlink, cut(0), cut(1), cut(2)], ids=["deleted", "emptied", "line 0", "cut"])
def test_a_ledger_whose_anchor_was_lost_or_cut_is_refused(
    file: Place, harm: Callable[[Path], object], older: bool
) -> None:
    spent(file, 2)
    if older:
        old = Path(file.where).read_bytes()
        spent(file, 2)
        Path(file.where).write_bytes(old)
    harm(kept(file))
    for reading in (False, True):
        with pytest.raises(LedgerChanged, match=r"the ledger has 3 entries, and its anchor .* nothing is charged"):
            file.open(reading=reading)
    found = examine(file.where, key=f"{file.folder}/key", anchor=kept(file))
    assert not found.ok
    assert str(found).startswith("3 entries, each as it was written, but nothing shows that they are all\n")
    assert "an older copy of all of it would look the same" in str(found)
    assert not kept(file).exists() or len(kept(file).read_text().splitlines()) < 3  # nobody has mended it


@pytest.mark.claim("store.4")
def test_a_ledger_that_was_only_opened_and_has_no_anchor_is_refused(place: Place) -> None:
    """The oldest copy with a budget has all of it: 1 entry, whose anchor is that of the beginning."""
    spent(place, 0)
    kept(place).unlink()
    with pytest.raises(LedgerChanged, match="has 1 entry, and its anchor is not there"):
        place.open()


@pytest.mark.claim("store.4")
def test_a_new_ledger_makes_its_anchor_and_an_empty_one_may_lack_it(place: Place) -> None:
    place.open().close()
    assert not kept(place).exists()
    with place.open() as ledger:
        assert ledger.verify().ok
        ledger.open("people", Budget(1.0))
    assert [head and head.number for head in Anchor(kept(place)).heads()] == [0, 1]
    with place.open() as ledger:
        assert ledger.verify().ok


@pytest.mark.claim("store.4")
@pytest.mark.claim("seal.4")
def test_a_crash_between_an_entry_and_its_line_is_no_fault(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    spent(place, 1)
    appended = Anchor.append

    def dies(anchor: Anchor, head: Head, *, begin: bool = False, recorded: bool = True) -> None:
        if recorded:
            raise KeyboardInterrupt
        appended(anchor, head, begin=begin, recorded=recorded)

    for charge in range(2):
        with place.open() as ledger, monkeypatch.context() as crash:
            crash.setattr(Anchor, "append", dies)
            for _ in range(3 if charge else 1):  # in one process or in another: the next entry catches up first
                with pytest.raises(KeyboardInterrupt):
                    ledger.charge("people", Laplace(0.1), "mean")
    with place.open() as ledger:
        assert ledger.verify().ok
        assert ledger.verify().entries == 6
        ledger.charge("people", Laplace(0.1), "mean")
        assert [head and head.number for head in Anchor(kept(place)).heads()] == list(range(8))


@pytest.mark.claim("store.4")
@pytest.mark.parametrize("harm", [Path.unlink, cut(0), cut(2)], ids=["rotated", "emptied", "cut"])
def test_an_anchor_that_is_exchanged_while_the_ledger_is_open_stops_it(
    place: Place, harm: Callable[[Path], object]
) -> None:
    spent(place, 2)
    with place.open() as ledger:
        before = kept(place).read_bytes()
        harm(kept(place))
        with pytest.raises(LedgerChanged, match="its anchor"):
            ledger.charge("people", Laplace(0.1), "mean")
        assert ledger.account("people").charges == 2
        kept(place).write_bytes(before)
        ledger.charge("people", Laplace(0.1), "mean")
        assert ledger.verify().ok


@pytest.mark.claim("store.4")
def test_of_two_copies_with_one_anchor_one_goes_on(file: Place, tmp_path: Path) -> None:
    """A ledger that is copied to another machine, with its key, spends the same budget again; a shared anchor tells."""
    spent(file, 1)
    shutil.copy(file.where, tmp_path / "copy")
    with file.open() as ledger, Ledger(tmp_path / "copy", key=tmp_path / "key", anchor=kept(file)) as copy:
        ledger.charge("people", Laplace(0.75), "mean")
        with pytest.raises(LedgerChanged, match=r"has seen entry 3, and .*copy does not have it"):
            copy.charge("people", Laplace(0.75), "mean")
        assert float(copy.balance("people").left.epsilon) == 0.75
    shutil.copy(file.where, tmp_path / "second")
    with pytest.raises(LedgerChanged, match="its anchor is not there"):
        Ledger(tmp_path / "second", key=tmp_path / "key")


@pytest.mark.claim("store.4")
def test_an_older_copy_written_over_an_open_ledger_charges_nothing(file: Place) -> None:
    spent(file, 1)
    old = Path(file.where).read_bytes()
    spent(file, 2)
    with file.open() as ledger:
        Path(file.where).write_bytes(old)  # the same file, by the same name
        with pytest.raises(LedgerFault):
            ledger.charge("people", Laplace(0.25), "mean")


@pytest.mark.claim("store.4")
def test_an_anchor_by_a_relative_path_is_not_begun_in_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    with Ledger("l", anchor="heads") as ledger:
        ledger.open("people", Budget(1.0))
    monkeypatch.chdir("elsewhere")
    monkeypatch.setenv("HOME", str(tmp_path / "elsewhere"))
    for path in ("heads", "~/heads", None):
        with pytest.raises(LedgerChanged, match="its anchor is not there"):
            Ledger("../l", anchor=path)
    with Ledger("../l", anchor="../heads") as ledger:
        assert ledger.verify().ok
    assert list(Path().iterdir()) == []


def test_a_link_in_place_of_an_anchor_leads_to_no_other_file(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("mine\n")
    for target, why in (("precious", "holds something else"), ("new", "No such file"), ("/dev/null", "not a file")):
        anchor = tmp_path / "heads"
        anchor.symlink_to(target)
        with pytest.raises(LedgerFault, match=why), Ledger(tmp_path / f"l{why[0]}", anchor=anchor) as ledger:
            ledger.open("people", Budget(1.0))
        anchor.unlink()
    assert (tmp_path / "precious").read_text() == "mine\n"
    assert not (tmp_path / "new").exists()


def test_an_anchor_that_may_only_be_read_is_found_before_anything_is_charged(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    spent(place, 1)
    opened = os.open

    def denied(path: str, flags: int, *mode: int) -> int:
        if str(path).endswith("anchor") and flags & os.O_RDWR:
            raise PermissionError(13, "Permission denied")
        return opened(path, flags, *mode)

    with place.open() as ledger:
        monkeypatch.setattr("discreet.ledger.seal.os.open", denied)
        with pytest.raises(LedgerFault, match=r"Permission denied\); nothing is charged"):
            ledger.charge("people", Laplace(0.1), "mean")
        assert ledger.account("people").charges == 1


@pytest.mark.claim("store.4")
def test_that_a_ledger_has_an_anchor_is_signed(server: Callable[[], str], tmp_path: Path) -> None:
    where = server()
    with Ledger(where, key=b"k" * 32, anchor=tmp_path / "a") as ledger:
        ledger.open("people", Budget(1.0))
    with pytest.raises(LedgerChanged, match=r"has an anchor; give anchor="):
        Ledger(where, key=b"k" * 32)
    assert "the ledger has an anchor that was not given" in str(examine(where, key=b"k" * 32))
    assert examine(where, key=b"k" * 32, anchor=tmp_path / "a").ok


def test_a_server_s_ledger_without_an_anchor_goes_on_and_may_get_one(server: Callable[[], str], tmp_path: Path) -> None:
    where, key = server(), b"k" * 32
    for _ in range(2):
        with Ledger(where, key=key) as ledger:
            ledger.open("people", Budget(1.0))
            assert ledger.verify().ok
            assert "there is no anchor" in str(ledger.verify())
    with pytest.raises(LedgerChanged, match="its anchor is not there"):
        Ledger(where, key=key, anchor=tmp_path / "a")
    with pytest.raises(BadInput, match="give the file"):
        trust(where, "from now on", key=key)
    assert trust(where, "from now on", key=key, anchor=tmp_path / "a").number == 2
    with Ledger(where, key=key, anchor=tmp_path / "a") as ledger:
        ledger.charge("people", Laplace(1), "mean")
        assert ledger.verify().ok
    with pytest.raises(LedgerChanged, match="has an anchor"):
        Ledger(where, key=key)


@pytest.mark.claim("verify.2")
def test_a_steward_s_word_goes_for_a_lost_anchor_and_for_nothing_else(file: Place, tmp_path: Path) -> None:
    spent(file, 1)
    old = Path(file.where).read_bytes()
    spent(file, 2)
    new, heads = Path(file.where).read_bytes(), kept(file).read_bytes()
    key, anchor = f"{file.folder}/key", kept(file)
    Path(file.where).write_bytes(old)
    with pytest.raises(LedgerChanged, match="whatever its anchor is: entry 3 was seen by the anchor"):
        trust(file.where, "backup", key=key, anchor=anchor)
    assert kept(file).read_bytes() == heads
    Path(file.where).write_bytes(new.replace(b'"1/4"', b'"1/9"', 1))
    kept(file).unlink()
    with pytest.raises(LedgerChanged, match="was changed after it was written"):
        trust(file.where, "backup", key=key, anchor=anchor)
    assert not kept(file).exists()
    Path(file.where).write_bytes(new)
    entry = trust(file.where, "the disk failed", key=key, anchor=anchor)
    assert (entry.number, entry.kind, entry.plain["note"]) == (5, "anchor", "the disk failed")
    with file.open() as ledger:
        ledger.charge("people", Laplace(0.1), "mean")
        assert ledger.verify().ok
        assert "entry 5 of" in str(ledger.verify())
        assert [head and head.number for head in Anchor(kept(file)).heads()] == [4, 5, 6]
