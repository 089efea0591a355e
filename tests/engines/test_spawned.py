"""Processes where a fork is not safe: new ones, asked for on this machine by taking its fork away."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.engines import local
from discreet.engines.local import LOST, Local

pytest.importorskip("joblib")


@pytest.fixture(autouse=True)
def _no_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "_can_fork", lambda: False)


def test_a_function_without_a_name_is_worked_on_elsewhere(capfd: pytest.CaptureFixture[str]) -> None:
    held = np.arange(5.0)

    def work(item: int) -> Any:
        print("secret", flush=True)
        os.write(2, b"secret")
        if item == 2:
            raise ValueError("patient 4711")
        return os.getpid(), float(held[item])

    found = Local(2, progress=False).map(work, range(5))
    assert [one and one[1] for one in found] == [0.0, 1.0, LOST, 3.0, 4.0]
    assert os.getpid() not in {one[0] for one in found if one}
    assert "secret" not in "".join(capfd.readouterr())
    assert "4711" not in "".join(capfd.readouterr())


def test_a_task_that_dies_is_lost_alone() -> None:
    """As many are at hand as there are processes: the one beside it comes back all the same."""

    def work(item: int) -> int:
        if item == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return item

    assert Local(2, progress=False).map(work, range(6)) == [0, 1, 2, LOST, 4, 5]


@pytest.mark.engines
def test_a_task_that_never_ends_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    def work(item: int) -> int:
        while item == 2:
            time.sleep(1)
        return item

    monkeypatch.setattr("discreet.engines.spawned.START", 8.0)
    assert Local(2, progress=False, limit=4.0).map(work, range(5)) == [0, 1, LOST, 3, 4]


def test_what_cannot_be_sent_is_worked_on_here() -> None:
    lock = threading.Lock()
    assert Local(2, progress=False).map(lambda item: (lock.locked(), os.getpid()), [1]) == [(False, os.getpid())]


def test_a_pass_over_a_table_is_made_here() -> None:
    assert Local(2).fold(lambda _: {os.getpid()}, lambda a, b: a | b, range(4)) == {os.getpid()}


def test_a_script_is_run_once(tmp_path: Path) -> None:
    """The standard library's new processes would run it again, and what it asked and paid for."""
    script, mark = tmp_path / "script.py", tmp_path / "mark"
    script.write_text(
        textwrap.dedent(
            f"""
            from discreet.engines import local
            open({str(mark)!r}, "a").write("run ")
            local._can_fork = lambda: False
            print(local.Local(2, progress=False).map(lambda item: item + 1, range(3)))
            """
        )
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[1, 2, 3]"
    assert mark.read_text() == "run "
