"""Other people's code on private bytes: a process for each run that shares nothing, cannot speak, and is on time.

A program is a module with two functions: `work(data, result)` reads the bytes it is given from one file and writes a
row of bytes to another; `rehearse(data, result)` does so on made-up bytes and writes the names of the modules that are
loaded by then. Who starts it decides what the bytes mean: subsample/run_block.py sends blocks of people.

Promise
    [sandbox.1] What a run returns depends on nothing but the program and the bytes that it was given, whatever code it
          loads from them does, up to what is not covered. What comes back is exactly so many raw bytes as were
          declared, or nothing.
    [sandbox.2] Time: each run holds its place for the same number of seconds, however early it ends or dies.
    [sandbox.3] Where something that this needs is missing, nothing runs and NoSandbox says what it is.
Why
    [sandbox.1] A keeper (sandbox/jail.py) starts before it is given any bytes, as an ordinary user, and locks itself
    into namespaces with a read-only root that holds Python's libraries alone: no data file, no home, no /proc, no
    /dev/shm. It loads libraries, never what a run is sent: those asked for, and those that are loaded in a rehearsal, a
    cell that is given made-up bytes. Then it makes all memory that is mapped from files its own (sandbox/settled.py).
    Each run's child is forked from that clean state with a process namespace, an inter-process namespace and an empty
    root of its own: it has no file but two that are its own (the bytes, the result), no library on disk and no page of
    one in memory, so what the kernel caches of files is out of its reach. It drops all capabilities, and a filter
    leaves it the system calls for computing: no sockets, shared memory, keyrings, file locks, tracing, signals to
    others, new processes or programs, no questions about caches or faults. So it can write to nothing that another run
    can read. Only then are its bytes read. The result is a file of its own, read after the child is dead. What a run is
    sent is never in the keeper's memory, so no later child finds it there. If the machine runs out of memory, cells are
    killed first.
    [sandbox.2] The keeper sleeps until the deadline whatever happens, kills the first process of the child's namespace,
    which kills the others, waits for the time that freeing its memory may take, and says one byte. [sandbox.3] Every
    step is tried before "ready", in a trial child where it is its own.
Needs
    Linux 5.12 or newer on x86-64 with user namespaces for ordinary users; libraries that the user `nobody` may read if
    we run as root. What is imported only for bytes unlike those of the rehearsal is declared:
    Sandbox(modules=("scipy.stats",)). Memory for a copy of the libraries that are loaded.
    Not covered: what code that watches the hardware can learn of who runs beside it or ran a moment before (processor
    caches, memory bandwidth, free lists of the kernel). With workers=1, the default, no two run at once and each place
    is idle for `tidy` seconds in between; with more, that many may count as one, and the release says so. A machine
    that swaps: what a run touches is in memory for the next.
Source
    Mohan et al. 2012 (GUPT), Haeberlen, Pierce and Narayan 2011 for state and time as channels.
"""

import json
import os
import select
import site
import socket
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from discreet.errors import BadInput
from discreet.privacy.exact import is_number

SYSTEM: Final = (
    "/lib",
    "/lib64",
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/lib",
    "/etc/ld.so.cache",
    "/usr/share/zoneinfo",
)
START: Final = 120.0  # seconds that a keeper may take to load its libraries, and to rehearse
GRACE: Final = 10.0
ARITHMETIC: Final = (  # settings that choose a processor's instructions, and so the last digits, as without a sandbox
    "OPENBLAS_CORETYPE",
    "OPENBLAS_L2_SIZE",
    "MKL_CBWR",
    "NPY_DISABLE_CPU_FEATURES",
)


class NoSandbox(BadInput):
    """This machine lacks what a sandbox needs; nothing ran."""


@dataclass(frozen=True, slots=True)
class Program:
    """What cells run: a module with `work` and `rehearse`, what is loaded before it, the bytes of its rehearsal."""

    module: str
    modules: tuple[str, ...] = ()
    rehearsal: bytes = b""


@dataclass(frozen=True, slots=True)
class Sandbox:
    """Limits of each run: `seconds` it always takes, `memory` it may have, and how many run at once."""

    seconds: float = 1.0
    memory: int = 2 << 30
    workers: int = 1
    modules: tuple[str, ...] = ()  # loaded before cells are made, besides what a rehearsal finds

    def __post_init__(self) -> None:
        if not is_number(self.seconds) or not 0.05 <= self.seconds <= 3600:
            raise BadInput(f"seconds={self.seconds!r}; give 0.05 to 3600, the time that every block takes")
        if not _whole(self.memory) or not 1 << 28 <= self.memory <= 1 << 46:
            raise BadInput(f"memory={self.memory!r}; give the bytes that a block may have, {1 << 28} (256 MB) or more")
        if not _whole(self.workers) or not 1 <= self.workers <= 1024:
            raise BadInput(f"workers={self.workers!r}; give how many blocks may run at once, for example 1")
        if not isinstance(self.modules, tuple) or not all(isinstance(name, str) for name in self.modules):
            raise BadInput(f"modules={self.modules!r}; give the names of modules to load first, for example ('scipy',)")

    @property
    def tidy(self) -> float:
        """Seconds in which the memory of a block is surely free again; every block waits for them. [sandbox.2]"""
        return 0.1 + self.memory / (1 << 30) * 0.15

    @property
    def note(self) -> str | None:
        """What a reader must know."""
        if self.workers == 1:
            return None
        return f"{self.workers} blocks ran at a time: code that watches the hardware could make them one"

    @contextmanager
    def opened(self, program: Program) -> "Iterator[SandboxCells]":
        """Keepers that are locked in and ready; raises NoSandbox if there are none to be had. [sandbox.3]"""
        with ExitStack() as stack:
            yield SandboxCells(self, tuple(stack.enter_context(Keeper(self, program)) for _ in range(self.workers)))


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


@dataclass(frozen=True, slots=True)
class SandboxCells:
    """A sandbox at work."""

    box: Sandbox
    keepers: "tuple[Keeper, ...]"

    def run(self, messages: Iterable[bytes], size: int) -> list[bytes | None]:
        """What a cell of its own makes of each message: `size` bytes, or None. [sandbox.1]"""
        found: list[bytes | None] = []
        todo = iter(messages)
        busy: dict[int, tuple[Keeper, int]] = {}
        while True:
            for keeper in self.keepers:
                if keeper.control.fileno() not in busy and (message := next(todo, None)) is not None:
                    keeper.begin(message)
                    busy[keeper.control.fileno()] = keeper, len(found)
                    found.append(None)
            if not busy:
                return found
            ready, _, _ = select.select(list(busy), [], [], self.box.seconds + self.box.tidy + GRACE)
            for fd in ready or list(busy):
                keeper, number = busy.pop(fd)
                found[number] = keeper.end(size)
                if not keeper.alive:
                    keeper.restart()


def importable() -> set[str]:
    """The loaded modules that a cell can import too: those of installed libraries."""
    roots = tuple(path for path in _libraries() if "python" in path)
    found = {
        name for name, module in list(sys.modules.items()) if str(getattr(module, "__file__", "")).startswith(roots)
    }
    return found - {"__main__"}


def _libraries() -> list[str]:
    """Folders with Python's own and installed libraries, and this package: nothing that holds data."""
    paths = sysconfig.get_paths()
    own = [paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    base = os.path.join(sys.base_prefix, "lib")
    dynamic = os.path.join(sys.base_prefix, "lib", f"python{sys.version_info[0]}.{sys.version_info[1]}")
    user = [site.getusersitepackages()] if site.ENABLE_USER_SITE else []
    package = str(Path(__file__).parent.parent)
    return [*own, dynamic, *([base] if base not in SYSTEM else []), *user, package]


class Keeper:
    """A keeper's process, as seen from outside."""

    def __init__(self, box: Sandbox, program: Program) -> None:
        self._box, self._program = box, program
        self.alive = False

    def __enter__(self) -> "Keeper":
        try:
            self.restart()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End it."""
        if hasattr(self, "control"):
            self.control.close()
        if hasattr(self, "process"):
            self.process.kill()
            self.process.wait()

    def restart(self) -> None:
        """A fresh keeper, locked in and ready; or NoSandbox. [sandbox.3]"""
        self.close()
        if not hasattr(os, "memfd_create"):
            raise NoSandbox(_lacking("Linux"))
        self.control, theirs = socket.socketpair()
        libraries = [path for path in (*SYSTEM, *_libraries()) if os.path.lexists(path)]
        below = tuple(f"{path}{os.sep}" for path in libraries)
        search = [path for path in sys.path if f"{path}{os.sep}".startswith(below)]
        asked = {
            "libraries": sorted({real for path in libraries for real in _with_links(path)}),
            "path": [*dict.fromkeys([*search, str(Path(__file__).parent.parent.parent)])],
            "modules": (*self._program.modules, *self._box.modules, self._program.module),
            "program": self._program.module,
            "memory": self._box.memory,
            "seconds": self._box.seconds,
            "tidy": self._box.tidy,
        }
        jail = str(Path(__file__).with_name("jail.py"))
        with theirs:
            self.process = subprocess.Popen(  # noqa: S603  our own program
                [sys.executable, "-I", jail, str(theirs.fileno()), json.dumps(asked)],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=dict(_environment()),
                cwd="/",
                start_new_session=True,
            )
        self.begin(self._program.rehearsal)
        reason = "a process of its own" if not self._wait(START + self._box.seconds) else self._said()
        os.close(self._result)
        if reason:
            self.close()
            raise NoSandbox(_lacking(reason))
        self.alive = True

    def _said(self) -> str:
        try:
            raw = self.control.recv(4096)
        except OSError:  # it is gone
            raw = b""
        return str(json.loads(raw)) if raw else "a keeper that starts (can the user read Python's libraries?)"

    def _wait(self, seconds: float) -> bool:
        return bool(select.select([self.control], [], [], seconds)[0])

    def begin(self, message: bytes) -> None:
        """Hand a message to a new cell."""
        data, self._result = os.memfd_create("given"), os.memfd_create("result")
        try:
            with os.fdopen(os.dup(data), "wb") as file:
                file.write(message)
            os.lseek(data, 0, 0)
            socket.send_fds(self.control, [b"b"], [data, self._result])
        except OSError:
            self.alive = False
        finally:
            os.close(data)

    def end(self, size: int) -> bytes | None:
        """The result, once its time is over: raw bytes, if they are as many as were declared. [sandbox.1]"""
        try:
            self.alive = self.alive and self._wait(0) and bool(self.control.recv(1))
            raw = os.pread(self._result, size + 1, 0) if self.alive else b""
        except OSError:
            self.alive, raw = False, b""
        finally:
            os.close(self._result)
        return raw if len(raw) == size else None


def _lacking(what: str) -> str:
    return (
        f"this machine cannot make a sandbox: it lacks {what}. Run where user namespaces and seccomp are allowed, or "
        "give trust='own' for an estimator that you wrote or read"
    )


def _with_links(path: str) -> Iterator[str]:
    """A path, and where it leads."""
    yield path
    real = os.path.realpath(path)
    if real != path:
        yield real


def _environment() -> Iterator[tuple[str, str]]:
    """A clean one: nothing of ours, but what chooses the arithmetic; one thread, one hash seed."""
    yield from (
        ("PATH", "/usr/bin:/bin"),
        ("LANG", "C.UTF-8"),
        ("HOME", "/room"),
        ("TMPDIR", "/room"),
        ("PYTHONHASHSEED", "0"),
    )
    for name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB", "NUMBA"):
        yield f"{name}_NUM_THREADS", "1"
    for name in ARITHMETIC:
        if name in os.environ:
            yield name, os.environ[name]
