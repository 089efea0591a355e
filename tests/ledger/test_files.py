"""Files beside the ledger, links to it, moves of it, and logs that others put there."""

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from benchmarks.ledger import Place

from discreet.accounting.filter import Budget
from discreet.errors import BadInput, LedgerFault
from discreet.ledger import Ledger, examine
from discreet.privacy.loss import Laplace


def used(place: Place) -> Ledger:
    ledger = place.open()
    ledger.open("people", Budget(1.0))
    return ledger


@pytest.mark.claim("store.4")
def test_a_copy_without_its_log_is_refused(file: Place) -> None:
    """What was charged since the last checkpoint is in the log beside the file; a copy of the file alone lacks it."""
    with used(file) as ledger:
        ledger.charge("people", Laplace(1), "mean")
        shutil.copy(file.where, Path(file.folder, "copy"))
        with pytest.raises(LedgerFault):
            Ledger(Path(file.folder, "copy"), key=f"{file.folder}/key", anchor=f"{file.folder}/anchor")


@pytest.mark.claim("database.3")
def test_two_names_of_one_file(file: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Ledger(tmp_path / "real") as ledger:
        ledger.open("people", Budget(1.0))
        ledger.charge("people", Laplace(0.6), "mean")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    monkeypatch.chdir(tmp_path)
    for name in ("link", "real", "./real", f"../{tmp_path.name}/link"):
        with Ledger(name) as ledger:
            assert float(ledger.balance("people").left.epsilon) == 0.4
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "key") == [
        "link", "real", "real.anchor", "real.key",
    ]  # fmt: skip
    os.link(tmp_path / "real", tmp_path / "hard")
    for name in ("real", "hard"):
        with pytest.raises(LedgerFault, match="2 hard links"):
            Ledger(name, key="real.key", anchor="real.anchor")


@pytest.mark.claim("database.3")
@pytest.mark.parametrize("replaced", [False, True])
def test_a_ledger_that_was_moved_while_open_charges_nothing(file: Place, replaced: bool) -> None:
    path = Path(file.where)
    with used(file) as ledger:
        ledger.charge("people", Laplace(0.5), "mean")
        path.rename(path.with_name("away"))
        if replaced:
            shutil.copy(path.with_name("away"), path)
        with pytest.raises(LedgerFault, match="moved, deleted or replaced"):
            ledger.charge("people", Laplace(0.5), "mean")
        path.with_name("away").rename(path)
        assert float(ledger.balance("people").left.epsilon) == 0.5


def test_reading_leaves_the_file_as_it_is(file: Place, tmp_path: Path) -> None:
    with pytest.raises(LedgerFault, match="there is no ledger"):
        file.open(reading=True)
    with pytest.raises(LedgerFault, match="there is no ledger"):
        Ledger(tmp_path / "none", reading=True)
    assert not list(tmp_path.glob("none*"))
    with used(file) as ledger:
        ledger.charge("people", Laplace(0.1), "mean")
    before = Path(file.where).read_bytes()
    with file.open(reading=True) as ledger:
        assert float(ledger.balance("people").left.epsilon) == 0.9
        assert ledger.verify().ok
        with pytest.raises(LedgerFault, match="may not be written"):
            ledger.charge("people", Laplace(0.1), "mean")
    assert examine(file.where, key=f"{file.folder}/key", anchor=f"{file.folder}/anchor").ok
    assert Path(file.where).read_bytes() == before
    other = tmp_path / "other.sqlite"
    with closing(sqlite3.connect(other)) as foreign, foreign:
        foreign.execute("CREATE TABLE t (x)")
    foreign.close()
    before = other.read_bytes()
    with pytest.raises(LedgerFault, match="there is no ledger"):
        examine(other, key=b"k" * 32)
    assert other.read_bytes() == before


def test_a_ledger_on_a_disk_that_cannot_be_written_is_read(file: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    with used(file) as ledger:
        ledger.charge("people", Laplace(0.1), "mean")
    monkeypatch.setattr("os.access", lambda *_: False)
    with file.open(reading=True) as ledger:
        assert float(ledger.balance("people").left.epsilon) == 0.9
    assert sorted(path.name for path in Path(file.folder).iterdir()) == ["anchor", "key", "ledger"]


def test_ledger_key_and_anchor_are_three_files(file: Place, tmp_path: Path) -> None:
    with used(file):
        pass
    key, before = tmp_path / "key", (tmp_path / "key").read_bytes()
    (tmp_path / "link").symlink_to(key)
    for anchor in (key, tmp_path / "link", Path(file.where)):
        with pytest.raises(BadInput, match="three files"):
            Ledger(file.where, key=key, anchor=anchor)
    with pytest.raises(BadInput, match="three files"):
        Ledger(file.where, key=file.where)
    assert key.read_bytes() == before


@pytest.mark.claim("store.4")
@pytest.mark.parametrize("ending", ["-wal", "-journal"])
@pytest.mark.parametrize("whose", ["its own, older", "another ledger's", "rubbish"])
def test_a_log_that_was_planted_beside_the_file_gives_nothing_back(
    file: Place, tmp_path: Path, ending: str, whose: str
) -> None:
    """SQLite takes a log that it finds for its own: what it brings back must be what was signed, and the newest."""
    other = Ledger(tmp_path / "other")
    other.open("people", Budget(100.0))
    foreign = (tmp_path / "other-wal").read_bytes()
    other.close()
    ledger = used(file)
    older = Path(f"{file.where}-wal").read_bytes()
    ledger.charge("people", Laplace(0.75), "mean")
    ledger.close()
    planted = {"its own, older": older, "another ledger's": foreign, "rubbish": os.urandom(4096)}[whose]
    Path(f"{file.where}{ending}").write_bytes(planted)
    try:
        with file.open() as again:
            assert float(again.balance("people").left.epsilon) == 0.25
            assert again.verify().ok
    except LedgerFault as fault:
        assert ending == "-wal" and whose != "rubbish", str(fault)  # noqa: PT017, PT018


def test_a_folder_that_may_not_be_written_charges_nothing() -> None:
    """As an ordinary user: root may write everywhere."""
    code = (
        "import os, pathlib, shutil, tempfile\n"
        "from discreet.accounting.filter import Budget\n"
        "from discreet.errors import LedgerFault\n"
        "from discreet.ledger import Ledger\n"
        "from discreet.privacy.loss import Laplace\n"
        "folder = pathlib.Path(tempfile.mkdtemp()); folder.chmod(0o777)\n"
        "if os.geteuid() == 0: os.setegid(65534); os.seteuid(65534)\n"
        "path = folder / 'in'; path.mkdir()\n"
        "with Ledger(path / 'l') as ledger: ledger.open('people', Budget(1.0))\n"
        "path.chmod(0o500)\n"
        "for name in ('l', 'new'):\n"
        "    try:\n"
        "        with Ledger(path / name) as ledger: ledger.charge('people', Laplace(0.1), 'x')\n"
        "        print('charged')\n"
        "    except LedgerFault as fault: print('refused')\n"
        "path.chmod(0o700); (path / 'l.anchor').chmod(0o400)\n"
        "with Ledger(path / 'l') as ledger:\n"
        "    try: ledger.charge('people', Laplace(0.1), 'x')\n"
        "    except LedgerFault as fault: print('nothing is charged' in str(fault))\n"
        "    print(len(ledger.entries('people')), ledger.verify().ok)\n"
        "shutil.rmtree(path)\n"
        "if os.getuid() == 0: os.seteuid(0)\n"
        "folder.rmdir()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "refused\nrefused\nTrue\n0 True\n", done.stdout + done.stderr
