"""Processes where a fork is not safe (Windows, macOS): new ones, by loky, a part of joblib. Alone speaks to these.

The standard library's new processes run the caller's script once more, up to the place where it asked for them: a
session would be opened, and charged, again in each. Those of loky do not, and a function without a name is sent as what
it is made of. When a process dies loky gives up all tasks at hand. So no more are at hand than there are processes, and
those are tried once more, each in a process of its own: the one that dies there is lost alone.
"""

import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Final

from discreet.engines.retried import Done, sealed

START: Final = 30.0  # seconds that a process may take to start, beside those of its first task
LOOK: Final = 0.5  # seconds between two looks for a task that takes too long
_ours: list[Callable[[Any], Any]] = []  # in a new process: the function that it was started for


def spawned(
    function: Callable[[Any], Any],
    todo: Sequence[Any],
    count: int,
    limit: float | None,
    advance: Callable[[], None],
) -> list[Done | None] | None:
    """function(item) of each item, None where it raised, died or took too long; None if joblib is not installed, or the
    function cannot be sent."""
    try:
        import_module("joblib.externals.loky")
        sent: bytes = import_module("cloudpickle").dumps(function)
    except Exception:  # noqa: BLE001  what a function holds may raise anything
        return None
    tasks = _Tasks(sent, todo, limit, advance)
    for number in tasks.work(range(len(todo)), count):
        tasks.work([number], 1)
    return [tasks.found.get(number) for number in range(len(todo))]


@dataclass(slots=True)
class _Tasks:
    """A function as it is sent, the items to be worked on, and what was found by number."""

    sent: bytes
    todo: Sequence[Any]
    limit: float | None
    advance: Callable[[], None]
    found: dict[int, Done | None] = field(default_factory=dict)

    def work(self, numbers: Sequence[int], count: int) -> list[int]:
        """Tasks of these numbers in so many processes; the numbers of those that are to be tried alone."""
        left, again = list(numbers)[::-1], list[int]()
        while left:
            again += self._until_one_dies(left, count)
        return again

    def _until_one_dies(self, left: list[int], count: int) -> list[int]:
        loky: Any = import_module("joblib.externals.loky")
        pool = loky.ProcessPoolExecutor(count, initializer=_begin, initargs=(self.sent,))
        at: dict[Future[Any], tuple[int, float]] = {}
        again, patience, broken = list[int](), START, False
        try:
            while not broken and (left or at):
                while left and len(at) < count:
                    at[pool.submit(_task, self.todo[left[-1]])] = left[-1], time.monotonic() + patience
                    left.pop()
                for future in wait(at, LOOK, FIRST_COMPLETED).done:
                    number, _ = at.pop(future)
                    try:
                        self._end(number, future.result())
                        patience = 0.0
                    except Exception:  # noqa: BLE001  a process died, or what was found cannot be sent
                        again.append(number)
                        broken = True
                for future in [one for one, (_, since) in at.items() if self._late(since)]:
                    self._end(at.pop(future)[0], None)  # lost; the others at hand are tried alone
                    broken = True
        except RuntimeError:  # a process died before it took a task
            again += [left.pop()] if left and not at else []
        finally:
            pool.shutdown(wait=True, kill_workers=True)
        return again + [number for number, _ in at.values()]

    def _late(self, since: float) -> bool:
        return self.limit is not None and time.monotonic() - since > self.limit

    def _end(self, number: int, done: Done | None) -> None:
        self.found[number] = done
        self.advance()


def _begin(sent: bytes) -> None:
    """In a new process: nothing that is printed is seen, the parent decides on interrupts, one thread is enough."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (1, 2):
        os.dup2(nothing, stream)
    sys.stdout = sys.stderr = open(nothing, "w", closefd=False)  # noqa: SIM115
    with suppress(ImportError):
        import_module("threadpoolctl").threadpool_limits(1)
    _ours[:] = [import_module("cloudpickle").loads(sent)]


def _task(item: Any) -> Done | None:
    try:
        return sealed(_ours[0], item)
    except BaseException:  # noqa: BLE001  its message may quote a row
        return None
