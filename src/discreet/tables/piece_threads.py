"""Several threads that work through the pieces of a stream: each takes the next one, and makes it itself."""

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial, reduce
from typing import Any, Final, TypeVar

R = TypeVar("R")
Calls = tuple[Iterator[Callable[[], Any]], Callable[[], None]]  # each makes a piece; then what they made is checked
THREADS: Final = 4  # at most


class Shared:
    """One iterator for several threads: each takes what comes next."""

    def __init__(self, given: Iterable[Any]) -> None:
        self._given, self._lock = iter(given), threading.Lock()

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        with self._lock:  # [streams.1]
            return next(self._given)


def called(call: Callable[[], R]) -> R:
    """What a call makes."""
    return call()


def calls_of(function: Callable[..., Any], values: Any) -> Callable[[], Calls] | None:
    """What a function makes of the pieces of a stream, by calls; None if it has none."""

    def calls() -> Calls:
        given, check = values.work()
        return (partial(_of, function, call) for call in given), check

    return None if values.calls is None else calls


def _of(function: Callable[..., Any], call: Callable[[], Any]) -> Any:
    return function(call())


def nothing() -> None:
    """No check."""


def merged(merge: Callable[[R, R], R], calls: list[Callable[[], R]]) -> R:
    """The calls made by a thread each, and merged."""
    with ThreadPoolExecutor(len(calls)) as pool:
        return reduce(merge, [done.result() for done in [pool.submit(call) for call in calls]])


def processors() -> int:
    """How many threads a fold has here."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(count, THREADS)
