"""The server's workers: started, given the time that an answer may take, and started again when they are gone."""

import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Final

from discreet.service.desk import Desk
from discreet.service.passwords import fresh

LONGEST_START: Final = 120.0  # seconds
PAUSE: Final = 1.0


class Crew:
    """So many worker processes on one queue."""

    def __init__(self, desk: Desk, config: Path) -> None:
        self._desk, self._config = desk, config
        self._stopped = threading.Event()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._threads = [threading.Thread(target=self._tend, daemon=True) for _ in range(desk.settings.workers)]

    def start(self) -> None:
        """Put back what the last server left, and begin."""
        self._desk.requests.resume(self._desk.clock())
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End the workers; what they were at is put back."""
        self._stopped.set()
        for process in tuple(self._running):
            _end(process)
        for thread in self._threads:
            thread.join(10.0)

    def _tend(self) -> None:
        while not self._stopped.is_set():
            worker = fresh(9)
            command = [sys.executable, "-m", "discreet.service.jobs", str(self._config), worker]
            process = subprocess.Popen(  # noqa: S603
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,  # a traceback may hold a value
                start_new_session=True,
            )
            self._running.add(process)
            late = self._watch(process)
            _end(process)
            self._running.discard(process)
            with contextlib.suppress(Exception):  # the ledger may be gone: the next start puts it back
                if late is not None:
                    self._desk.requests.finish(late, answered=None, said=None)
                self._desk.requests.again(worker)
            self._stopped.wait(PAUSE)

    def _watch(self, process: subprocess.Popen[bytes]) -> str | None:
        """Until the worker ends: None; or the request for which its time is over."""
        assert process.stdout is not None
        pipe, held, current = process.stdout.fileno(), b"", ""
        until: float | None = time.monotonic() + LONGEST_START
        while True:
            wait = None if until is None else max(0.0, until - time.monotonic())
            try:
                if not select.select([pipe], [], [], wait)[0]:
                    return current or None
                read = os.read(pipe, 4096)
            except OSError:  # `stop` has closed it
                return None
            if not read:
                return None
            *lines, held = (held + read).split(b"\n")
            for line in lines:
                word, _, which = line.decode().partition(" ")
                current = which if word == "begin" else ""
                until = time.monotonic() + self._left(which) if word == "begin" else None

    def _left(self, which: str) -> float:
        """The seconds that a request may take from now on: never beyond its public end. [service_requests.3]"""
        found = self._desk.requests.find(which)
        end = 0.0 if found is None or found.slot is None else found.slot
        return min(self._desk.settings.limit, end - self._desk.clock())


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
