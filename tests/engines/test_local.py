"""Processes on this machine: order, survival, and an end to all of them."""

import os
import signal
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from discreet.engines.local import LOST, Local
from discreet.engines.retried import Done, folded
from discreet.errors import BadInput


def children() -> set[str]:
    found = set()
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            if entry.read_text().rsplit(")", 1)[1].split()[1] == str(os.getpid()):
                found.add(entry.parent.name)
        except OSError:
            continue
    return found


@pytest.mark.parametrize("workers", [0, 1, 2, 5])
def test_results_come_in_order(workers: int) -> None:
    engine = Local(workers, progress=False)
    extra = 10
    assert engine.map(lambda item: item * item + extra, range(23)) == [k * k + 10 for k in range(23)]
    assert engine.map(lambda item: item, []) == []
    assert engine.fold(lambda item: item, lambda a, b: a + b, range(10)) == 45
    assert engine.fold(lambda item: item, lambda a, b: a + b, []) is None
    assert engine.map(lambda item: b"x" * item, [10**6]) == [b"x" * 10**6]


def test_a_task_that_dies_is_lost_alone() -> None:
    def work(item: int) -> int:
        if item in (3, 7):
            os.kill(os.getpid(), signal.SIGKILL)
        if item == 5:
            os._exit(0)
        return item

    done = Local(2, progress=False).map(work, range(12))
    assert done == [LOST if item in (3, 5, 7) else item for item in range(12)]


@pytest.mark.claim("retried.1")
@pytest.mark.parametrize("workers", [0, 2])
def test_a_part_that_fails_is_worked_on_again_and_one_that_is_lost_ends_the_fold(workers: int, tmp_path: Path) -> None:
    def work(item: int) -> int:
        mark = tmp_path / str(item)
        if item in (3, 7) and not mark.exists():
            mark.touch()
            if workers and item == 3:
                os.kill(os.getpid(), signal.SIGKILL)
            raise ValueError("patient 4711")
        return item

    engine = Local(workers, progress=False)
    assert engine.fold(work, lambda a, b: a + b, range(12)) == 66

    def never(item: int) -> int:
        if item == 5:
            raise ValueError("patient 4711")
        return item

    with pytest.raises(BadInput, match="a part of the table was lost") as error:
        engine.fold(never, lambda a, b: a + b, range(12))
    assert error.value.__cause__ is None
    assert error.value.__context__ is None


@pytest.mark.claim("retried.1")
def test_a_part_that_comes_twice_is_used_once() -> None:
    def run(numbers: list[int]) -> Iterable[tuple[int, Done | None]]:
        return [(number, Done(10 + number)) for number in numbers for _ in range(3)] + [(99, Done(5))]

    assert folded(run, 4, lambda a, b: a + b) == 46
    assert folded(run, 0, lambda a, b: a + b) is None


def test_a_task_that_never_ends_is_ended() -> None:
    def work(item: int) -> int:
        while item == 1:
            time.sleep(1)
        return item

    for limit in (0.5, 4.0, 32.0):  # a busy machine may be late with the others
        done = Local(2, progress=False, limit=limit).map(work, range(4))
        assert done[1] is LOST
        if done.count(LOST) == 1:
            break
    assert done == [0, LOST, 2, 3]


@pytest.mark.usefixtures("heard")
def test_an_interrupt_ends_them_all() -> None:
    before = children()

    def work(item: int) -> int:
        if item == 1:
            os.kill(os.getppid(), signal.SIGINT)
        time.sleep(0.2)
        return item

    with pytest.raises(KeyboardInterrupt):
        Local(2, progress=False).map(work, range(40))
    assert children() <= before


def test_prints_of_a_child_go_nowhere(capfd: pytest.CaptureFixture[str]) -> None:
    Local(2, progress=False).map(lambda item: print("secret", flush=True) or os.write(2, b"secret"), range(3))
    shown = capfd.readouterr()
    assert shown.out == shown.err == ""


@pytest.mark.usefixtures("heard")
def test_an_interrupt_during_a_fork_waits_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Just after the fork, before anybody knows of the child: it is ended, and the interrupt is passed on."""
    before, fork = children(), os.fork

    def pressed() -> int:
        pid = fork()
        if pid:
            signal.raise_signal(signal.SIGINT)
        return pid

    monkeypatch.setattr(os, "fork", pressed)
    with pytest.raises(KeyboardInterrupt):
        Local(2, progress=False).map(lambda item: time.sleep(0.2), range(40))
    assert children() <= before
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def test_a_child_leaves_interrupts_to_the_parent() -> None:
    def work(item: int) -> bool:
        return signal.getsignal(signal.SIGINT) is signal.SIG_IGN and signal.SIGINT not in signal.pthread_sigmask(0, [])

    assert Local(1, progress=False).map(work, range(2)) == [True, True]


@pytest.mark.parametrize(
    "odd", [{"workers": -1}, {"workers": 1.5}, {"workers": "a"}, {"workers": True}, {"limit": 0}, {"limit": "a"}]
)
def test_bad_arguments(odd: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match=next(iter(odd))):
        Local(**odd)
