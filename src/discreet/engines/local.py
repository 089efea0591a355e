"""This machine's processors: a few processes that work through small tasks, and survive each other.

A task that takes its process down with it (a crash in compiled code, a kill for want of memory) is lost alone: it comes
back as LOST, and whoever asked decides. Ctrl-C ends all of them before it is passed on. Processes are forked; where no
fork is safe (Windows, macOS) they are new ones, of `spawned`, and passes over tables are made here. With workers=0, or
where new processes cannot be had, tasks run here, one after another. What other people's code prints, logs or warns
of may depend on somebody's row: `silence` and `hushed` show it nowhere.
"""

import contextlib
import ctypes
import io
import logging
import os
import pickle
import select
import signal
import struct
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from typing import Any, Final, TypeVar

from discreet.engines.exchanged import ROOM, Bucket, check_room, kept_of
from discreet.engines.retried import Done, folded, sealed
from discreet.engines.spawned import spawned
from discreet.errors import BadInput
from discreet.privacy.exact import is_number

R = TypeVar("R")
LOST: Final = None  # what a task that died returns
OURS: Final = "discreet."
PATIENCE: Final = 2.0  # seconds after which a run is long enough for a progress bar


@dataclass(frozen=True, slots=True)
class Local:
    """Processes on this machine; `workers` is how many, by default one a processor.

    `limit` is how many seconds a task may take before its process is ended, and the task is LOST. `room` is how many
    bytes of prepared rows are kept at most until an answer is there; with 0 each pass reads the files.
    """

    workers: int | None = None
    progress: bool = True
    limit: float | None = None
    room: int = ROOM

    def __post_init__(self) -> None:
        check_room(self.room)
        whole = isinstance(self.workers, int) and not isinstance(self.workers, bool) and self.workers >= 0
        if self.workers is not None and not whole:
            raise BadInput(
                f"workers is {self.workers!r}; give how many processes, 0 for none, or None for all processors"
            )
        if self.limit is not None and not (is_number(self.limit) and self.limit > 0):
            raise BadInput(f"limit is {self.limit!r}; give the seconds that a task may take, above 0, or None")

    def map(self, function: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        """function(item) for each item, in order; LOST where a process died."""
        todo = list(items)
        count = min(self._count(), len(todo))
        if count and _can_fork():
            return _forked(function, todo, count, self)
        if count:
            with _bar(len(todo), self.progress) as advance:
                done = spawned(function, todo, count, self.limit, advance)
            if done is not None:
                return [LOST if one is None else one.found for one in done]
        return [function(item) for item in todo]

    def fold(self, kernel: Callable[[Any], R], merge: Callable[[R, R], R], parts: Iterable[Any]) -> R | None:
        """The kernel of every part, merged; a part whose process died is worked on again. Where there is no fork, here:
        a pass is over before new processes have started, and its kernel is our own. [retried.1]"""
        todo, engine = list(parts), self if _can_fork() else replace(self, workers=0)

        def run(numbers: list[int]) -> Iterator[tuple[int, Done | None]]:
            return zip(numbers, engine.map(partial(sealed, kernel), [todo[number] for number in numbers]), strict=True)

        return folded(run, len(todo), merge)

    def keep(self, make: Callable[[Any], Any], parts: Iterable[Any]) -> list[Bucket]:
        """What `make` makes of each part, kept in this process, as parts. [retried.1]"""
        found = self.fold(partial(_numbered, make), _either, enumerate(parts)) or {}
        return [Bucket(number, raw) for number, raw in sorted(found.items())]

    def drop(self, kept: list[Bucket]) -> None:
        """Let go of what was kept."""
        kept.clear()

    def _count(self) -> int:
        if self.workers is not None:
            return self.workers
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _numbered(make: Callable[[Any], Any], part: tuple[int, Any]) -> dict[int, bytes]:
    return {part[0]: kept_of(make, part[1])}


def _either(one: dict[int, bytes], other: dict[int, bytes]) -> dict[int, bytes]:
    return one | other


def _can_fork() -> bool:
    """Not on Windows, which has no fork, nor on macOS, whose own libraries do not work after one."""
    return hasattr(os, "fork") and sys.platform != "darwin"


@dataclass(slots=True, kw_only=True)
class _Worker:
    """A child, the end to send numbers of items to, the end to read results from, and the item it is at."""

    pid: int
    orders: int
    results: int
    item: int | None = None
    since: float = 0.0


def _forked(function: Callable[[Any], Any], todo: Sequence[Any], count: int, engine: Local) -> list[Any]:
    results: list[Any] = [LOST] * len(todo)
    waiting = list(range(len(todo)))[::-1]
    workers: list[_Worker] = []
    loaded = set[str]()
    try:
        with _bar(len(todo), engine.progress) as advance:
            while waiting or any(worker.item is not None for worker in workers):
                while waiting and len(workers) < count:
                    with _uninterrupted():  # a child that is started is known, and ended
                        workers.append(_start(function, todo, workers))
                for worker in workers:
                    if worker.item is None and waiting:
                        worker.item, worker.since = waiting.pop(), time.monotonic()
                        with suppress(BrokenPipeError):  # it died after its last answer: its silence says so below
                            os.write(worker.orders, struct.pack("<q", worker.item))
                ready, _, _ = select.select([w.results for w in workers if w.item is not None], [], [], 0.5)
                for worker in [w for w in workers if w.results in ready]:
                    assert worker.item is not None
                    message = _receive(worker.results)
                    if message is None:
                        workers.remove(worker)
                        _end(worker)
                    else:
                        results[worker.item], more = pickle.loads(message)  # noqa: S301  trusted code: our own child
                        loaded |= more
                        worker.item = None
                    advance()
                late = time.monotonic() - engine.limit if engine.limit is not None else -1.0
                for worker in [w for w in workers if w.item is not None and w.since < late]:
                    workers.remove(worker)
                    _end(worker)
                    advance()
    finally:
        with _uninterrupted():
            for worker in workers:
                _end(worker)
    for name in loaded - set(sys.modules):  # compiled passes, say: the next children need not load them again
        with suppress(ImportError):
            import_module(name)
    return results


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ctrl-C waits until this is done."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start(function: Callable[[Any], Any], todo: Sequence[Any], others: Sequence[_Worker]) -> _Worker:
    from_parent, orders = os.pipe()
    results, to_parent = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a fork beside threads: the child uses none of theirs
        pid = os.fork()
    if pid:
        os.close(from_parent)
        os.close(to_parent)
        return _Worker(pid=pid, orders=orders, results=results)
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        for fd in (orders, results, *(end for other in others for end in (other.orders, other.results))):
            os.close(fd)
        _work(function, todo, from_parent, to_parent)
    finally:
        os._exit(0)


def _work(function: Callable[[Any], Any], todo: Sequence[Any], orders: int, results: int) -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    sys.stdout = sys.stderr = open(nothing, "w", closefd=False)  # noqa: SIM115  a notebook's are no descriptors
    _one_thread()
    before = set(sys.modules)
    while order := os.read(orders, 8):
        found = function(todo[struct.unpack("<q", order)[0]])
        more = {name for name in set(sys.modules) - before if name.startswith(OURS)}
        message = pickle.dumps((found, more))
        view = memoryview(struct.pack("<q", len(message)) + message)
        while view:
            view = view[os.write(results, view) :]


def _one_thread() -> None:
    """One thread a process: the processors are shared out already, and thread pools do not survive a fork."""
    try:
        from threadpoolctl import threadpool_limits

        threadpool_limits(1)
    except ImportError:
        pass


def _receive(fd: int) -> bytes | None:
    head = _exactly(fd, 8)
    return None if head is None else _exactly(fd, struct.unpack("<q", head)[0])


def _exactly(fd: int, count: int) -> bytes | None:
    parts = []
    while count:
        part = os.read(fd, min(count, 1 << 20))
        if not part:
            return None
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _end(worker: _Worker) -> None:
    for fd in (worker.orders, worker.results):
        os.close(fd)
    with suppress(ProcessLookupError):
        os.kill(worker.pid, signal.SIGKILL)
    os.waitpid(worker.pid, 0)


@contextmanager
def _bar(total: int, wanted: bool) -> Iterator[Callable[[], None]]:
    """A progress bar on a terminal, once the run has been long."""
    if not wanted or not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import Progress

    began, done = time.monotonic(), 0
    bar = Progress(console=Console(stderr=True), transient=True)
    task = bar.add_task("fitting blocks", total=total)

    def advance() -> None:
        nonlocal done
        done += 1
        if time.monotonic() - began > PATIENCE and not bar.live.is_started:
            bar.start()
        bar.update(task, completed=done)

    try:
        yield advance
    finally:
        bar.stop()


@contextlib.contextmanager
def silence() -> Iterator[list[warnings.WarningMessage]]:
    """Nothing of what happens inside is shown; warnings are handed over, for some of them mean failure."""
    level = logging.root.manager.disable
    logging.disable(sys.maxsize)  # whatever level somebody made up
    try:
        with (
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
            warnings.catch_warnings(record=True) as seen,
        ):
            warnings.simplefilter("always")
            yield seen
    finally:
        logging.disable(level)


@contextlib.contextmanager
def hushed() -> Iterator[None]:
    """Also what goes past Python's streams to the process's own, by compiled code or os.write, is shown nowhere."""
    try:
        kept = {stream: os.dup(stream) for stream in (1, 2)}
    except OSError:  # there are none to write to
        yield
        return
    try:
        _flush()
        _to_nothing(1, 2)
        yield
    finally:
        _flush()  # what waits in a buffer must not come later
        for stream, copy in kept.items():
            os.dup2(copy, stream)
            os.close(copy)


def _flush() -> None:
    for file in (sys.__stdout__, sys.__stderr__):
        with contextlib.suppress(Exception):
            file.flush()  # type: ignore[union-attr]
    with contextlib.suppress(Exception):
        ctypes.CDLL(None).fflush(None)  # the buffers of C


def _to_nothing(*streams: int) -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in streams:
        os.dup2(nothing, stream)
    if nothing not in streams:
        os.close(nothing)
