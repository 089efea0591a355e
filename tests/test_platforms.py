"""What Windows and macOS lack, taken away here. Nothing was run on either: these tests are the nearest there is."""

import os
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from discreet.accounting.filter import Budget
from discreet.engines.local import Local
from discreet.errors import LedgerFault
from discreet.ledger import Ledger, durable_files, examine
from discreet.ledger.database import _only_read
from discreet.privacy.loss import Laplace
from discreet.sandbox.sandbox import NoSandbox, Program, Sandbox

MISSING = (
    *("pread", "fork", "geteuid", "getuid", "getegid", "memfd_create", "sched_getaffinity", "killpg"),
    *("O_PATH", "O_DIRECTORY", "O_CLOEXEC"),
)


@pytest.fixture
def windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Calls that Windows has not are gone, folders cannot be opened, and modes say that all may read and write.

    The flags of every file that is opened are kept.
    """
    flags: list[int] = []
    real: Callable[..., int] = os.open
    stat: Callable[..., os.stat_result] = os.fstat

    def opened(path: Any, wanted: int, *rest: Any, **more: Any) -> int:
        if os.path.isdir(path):
            raise PermissionError(13, "Permission denied", str(path))
        flags.append(wanted)
        return real(path, wanted & ~BINARY, *rest, **more)

    def everybody(handle: int) -> os.stat_result:
        found = stat(handle)
        return os.stat_result((found.st_mode | 0o666, *found[1:4], 0, 0, *found[6:]))

    for name in MISSING:
        monkeypatch.delattr(os, name, raising=False)
    monkeypatch.setattr(os, "O_BINARY", BINARY, raising=False)
    monkeypatch.setattr(os, "open", opened)
    monkeypatch.setattr(os, "fstat", everybody)
    monkeypatch.setattr(durable_files, "WINDOWS", True)
    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setitem(sys.modules, "resource", None)
    return flags


BINARY = 1 << 30  # no flag of this machine


def test_a_ledger_on_windows(windows: list[int], tmp_path: Path) -> None:
    where = tmp_path / "a b#1%20.ledger"
    for number in range(3):
        with Ledger(where) as ledger:
            ledger.open("people", Budget(1.0))
            ledger.store(ledger.charge("people", Laplace(0.1), "a mean", request=f"q{number}"), '{"value": 1}')
            assert ledger.verify().ok
    found = examine(where)
    assert found.ok
    assert "does not tell who can read" in str(found)
    with Ledger(where, reading=True) as ledger:
        assert len(ledger.entries("people")) == 3
    ours = [flag for flag in windows if flag & (os.O_CREAT | os.O_APPEND)]
    assert ours
    assert all(flag & BINARY for flag in ours), "newlines would become two bytes"
    assert b"\r" not in where.with_name(where.name + ".anchor").read_bytes()
    where.with_name(where.name + ".anchor").unlink()
    with pytest.raises(LedgerFault, match="deleted, cut or exchanged"):
        Ledger(where)


def test_a_private_key_on_windows(windows: list[int], tmp_path: Path) -> None:
    pytest.importorskip("cryptography")
    from discreet.ledger.key_pair import sign_from_now

    with Ledger(tmp_path / "l") as ledger:
        ledger.open("people", Budget(1.0))
    sign_from_now(tmp_path / "l")
    assert examine(tmp_path / "l", public_key=tmp_path / "l.pub").ok


def test_a_path_of_windows_is_an_address_that_sqlite_reads(tmp_path: Path) -> None:
    path = tmp_path / "a b#1%20?.ledger"
    sqlite3.connect(path).close()
    address = _only_read(path)
    assert str(address.database).startswith("file:///")
    with closing(sqlite3.connect(f"{address.database}?mode=ro", uri=True)) as read:
        assert read.execute("SELECT 1").fetchone() == (1,)


def test_where_a_fork_is_not_safe_processes_are_new_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("joblib")
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(os, "fork", lambda: pytest.fail("forked on macOS"))
    (found,) = Local(workers=2).map(lambda item: (item, os.getpid()), [1])
    assert found[0] == 1
    assert found[1] != os.getpid()


def test_without_joblib_tasks_run_here(windows: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "joblib.externals.loky", None)
    assert Local().map(lambda item: (item + 1, os.getpid()), [1, 2]) == [(2, os.getpid()), (3, os.getpid())]


def test_without_linux_there_is_no_sandbox_and_it_says_so(windows: list[int]) -> None:
    with pytest.raises(NoSandbox, match="it lacks Linux"), Sandbox().opened(Program("json")):
        pytest.fail("opened")


def test_macos_empties_the_drive_s_own_memory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import fcntl

    asked: list[int] = []
    monkeypatch.setattr(fcntl, "F_FULLFSYNC", 51, raising=False)
    monkeypatch.setattr(fcntl, "fcntl", lambda _, what: asked.append(what))
    with Ledger(tmp_path / "l") as ledger:
        ledger.open("people", Budget(1.0))
    assert asked
    assert set(asked) == {51}
