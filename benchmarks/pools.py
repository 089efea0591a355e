"""The processes of `engines.Local` beside those of kept libraries: what comes back when one dies, and what it costs.

    python -m benchmarks.pools

Each pool works through tasks over a table that the process holds, with two workers. Asked of each: how many of 40 tasks
come back when one of them is killed; how many of 10 when one is killed while it sends its 50 MB; how many of 8 when one
never ends and a task may take two seconds (concurrent.futures and loky have no such limit: they are waited for 5
seconds and ended from outside); CPU of all processes and wall time, start included, of 200 tasks over 2 million rows of
four numbers, which are a global, or what a closure holds.
"""

import os
import resource
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import Any, Final

import numpy as np

from discreet.engines.local import Local

WORKERS: Final = 2
LIMIT: Final = 0.5  # seconds that a task may take
Table: Any = None  # what forked workers find in memory
Pool = Callable[[Callable[[int], Any], int], list[Any]]  # results, None where a task was lost


def ours(work: Callable[[int], Any], count: int) -> list[Any]:
    return Local(WORKERS, progress=False, limit=4 * LIMIT).map(work, range(count))


def futures(work: Callable[[int], Any], count: int) -> list[Any]:
    """concurrent.futures, by fork: the function is found by its name, the table as a global."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    pool = ProcessPoolExecutor(WORKERS, mp_context=get_context("fork"))
    return _gathered(pool, [pool.submit(work, number) for number in range(count)])


def loky(work: Callable[[int], Any], count: int) -> list[Any]:
    """joblib's: new processes, which are sent what a function holds."""
    executors: Any = import_module("joblib.externals.loky")
    pool = executors.ProcessPoolExecutor(WORKERS)
    return _gathered(pool, [pool.submit(work, number) for number in range(count)])


def pebble(work: Callable[[int], Any], count: int) -> list[Any]:
    """The library that ends a task at a limit, and loses the task alone."""
    from multiprocessing import get_context

    pools: Any = import_module("pebble")  # pip install pebble
    with pools.ProcessPool(WORKERS, context=get_context("fork")) as pool:
        found = _results([pool.schedule(work, args=[number], timeout=4 * LIMIT) for number in range(count)], 20 * LIMIT)
        pool.stop()
        return found


def _gathered(pool: Any, waiting: list[Any]) -> list[Any]:
    found = _results(waiting, 10 * LIMIT)
    processes = list((getattr(pool, "_processes", None) or {}).values())
    pool.shutdown(wait=False)
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
    return found


def _results(waiting: Iterable[Any], limit: float | None) -> list[Any]:
    found = []
    for future in waiting:
        try:
            found.append(future.result(timeout=limit))
        except Exception:  # noqa: BLE001  the task was lost
            found.append(None)
            limit = limit and 0.01
    return found


def dies(number: int) -> int:
    time.sleep(0.01)
    if number == 7:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def dies_sending(number: int) -> bytes:
    if number == 3:
        threading.Timer(0.005, os.kill, (os.getpid(), signal.SIGKILL)).start()
    return bytes(50_000_000)


def never(number: int) -> int:
    if number == 3:
        time.sleep(1e4)
    return number


def chunk(number: int) -> float:
    """A global is what libraries that fork can share; those that start anew must make it again."""
    return _mean(Table if Table is not None else _table(), number)


def _mean(table: Any, number: int) -> float:
    return float(table[number::200].mean())


def _table() -> Any:
    return np.random.default_rng(0).normal(size=(2_000_000, 4))


def _back(pool: Pool, work: Callable[[int], Any], count: int) -> str:
    return f"{sum(one is not None for one in pool(work, count))} of {count}"


def _cost(pool: Pool, work: Callable[[int], Any]) -> str:
    def spent() -> float:
        each = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return sum(one.ru_utime + one.ru_stime for one in each)

    before, began = spent(), time.monotonic()
    try:
        found = pool(work, 200)
    except Exception as error:  # noqa: BLE001
        return f"cannot: {type(error).__name__}"
    kept = sum(one is not None for one in found)
    return f"{spent() - before:.2f} s CPU, {time.monotonic() - began:.2f} s" if kept == 200 else f"{kept} of 200"


def rows() -> Iterator[tuple[str, ...]]:
    """A line for each pool."""
    global Table  # noqa: PLW0603
    Table = _table()
    held = Table

    def closure(number: int) -> float:
        return _mean(held, number)

    pools: tuple[Pool, ...] = (ours, futures, loky, pebble)
    for pool in pools:
        try:
            first = _back(pool, dies, 40)
        except ImportError:
            yield pool.__name__, "not installed"
            continue
        sent = partial(_mean, held) if pool is loky else closure
        yield (
            pool.__name__,
            first,
            _back(pool, dies_sending, 10),
            _back(pool, never, 8),
            _cost(pool, chunk),
            _cost(pool, sent),
        )


def main() -> None:
    print("pool | one killed | one killed while it sends | one never ends | a table as a global | a table in a closure")
    for row in rows():
        print(" | ".join(row), flush=True)


if __name__ == "__main__":
    main()
