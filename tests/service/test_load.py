"""Load and time, measured on the real server with its real worker: studies, as they take minutes.

`DISCREET_LOAD_SECONDS`, `DISCREET_TIMING_REQUESTS` and `DISCREET_TIMING_LIMIT` (seconds an answer may take) set them.
"""

import os
import re
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.stats import ks_2samp
from tests.service.conftest import PASSWORD, hidden, plan

from discreet.service.desk import Desk
from discreet.service.settings import read_settings

pytestmark = pytest.mark.study
SECONDS = float(os.environ.get("DISCREET_LOAD_SECONDS", "600"))
REQUESTS = int(os.environ.get("DISCREET_TIMING_REQUESTS", "1000"))
LIMIT = float(os.environ.get("DISCREET_TIMING_LIMIT", "2.0"))
ANALYSTS, AT_ONCE = 50, 10


def _port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


@contextmanager
def running(
    folder: Path, ages: np.ndarray, analysts: int, *, limit: float, tick: float, workers: int = 1
) -> Iterator[tuple[str, int]]:
    """A server with so many analysts, and a rule that approves everything; its address and process."""
    folder.mkdir(exist_ok=True)
    pq.write_table(pa.table({"age": ages, "weight": ages}), folder / "people.parquet")
    port, config = _port(), folder / "service.toml"
    lines = ['ledger = "study.ledger"', f"port = {port}", f"limit = {limit}", f"tick = {tick}", f"workers = {workers}"]
    lines += ["login = { attempts_a_minute = 1000 }", "[[source]]", 'name = "people"', 'title = "People"']
    lines += ['data = { source = "people.parquet", rows = 3000 }']
    config.write_text("\n".join([*lines, 'population = { name = "people", epsilon = 90000.0, delta = 1e-6 }']))
    desk = Desk(read_settings(config), folder)
    desk.accounts.enrol("sue", "steward", by=None, password=PASSWORD)
    steward = desk.people.find("sue")
    assert steward is not None
    for place in range(analysts):
        desk.accounts.enrol(f"person{place}", "analyst", by=None, password=PASSWORD)
        desk.parts.allot(desk.settings.source[0], f"person{place}", 9000.0, 0.0, by="sue")
    terms = {"epsilon": 99.0, "delta": 0.0, "days": 366.0}
    desk.make_rule(desk.settings.source[0], steward, ["age"], analyst="", **terms)
    desk.close()
    command = [sys.executable, "-m", "discreet", "serve", "--config", str(config)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300):
            try:
                httpx.get(f"{address}/login")
                break
            except httpx.ConnectError:
                time.sleep(0.2)
        yield address, server.pid
    finally:
        server.terminate()
        server.wait(30)


def signed_in(address: str, name: str) -> tuple[httpx.Client, str]:
    client = httpx.Client(base_url=address, headers={"origin": address}, timeout=120.0)
    secret = hidden(client.get("/login").text)
    assert client.post("/login", data={"name": name, "password": PASSWORD, "csrf": secret}).status_code == 303
    return client, hidden(client.get("/account").text)


def test_fifty_analysts_price_while_answers_are_made(tmp_path: Path) -> None:
    """No error, and memory that does not grow. What is measured is printed: it depends on the machine."""
    ages = np.random.default_rng(1).integers(0, 90, 3000).astype(float)
    with running(tmp_path / "s", ages, ANALYSTS, limit=5.0, tick=5.0) as (address, pid):
        stop, lock = time.monotonic() + SECONDS, threading.Lock()
        pages, prices, wrong, memory = list[float](), list[float](), list[str](), list[int]()

        def analyst(place: int) -> None:
            client, secret = signed_in(address, f"person{place}")
            chance = np.random.default_rng(place)
            while time.monotonic() < stop:
                text = plan(epsilon=round(float(chance.uniform(0.1, 0.9)), 2), title=f"t{place}")
                for path, data in (("/ask/people/price", {"view": "text", "text": text}), ("/catalogue", None)):
                    began = time.monotonic()
                    found = client.get(path) if data is None else client.post(path, data=data | {"csrf": secret})
                    with lock:
                        (pages if data is None else prices).append(time.monotonic() - began)
                        wrong.extend([f"{path} {found.status_code}"] if found.status_code != 200 else [])
                    time.sleep(float(chance.uniform(2.0, 8.0)))
            client.close()

        def releases() -> None:
            client, secret = signed_in(address, "person0")
            number = 0
            while time.monotonic() < stop:
                text = plan(
                    title=f"r{number}", statistic="count", columns="", more=f'where = "age > {number % 80}.{number}"'
                )
                done = client.post("/ask/people", data={"view": "text", "text": text, "csrf": secret})
                wrong.extend([f"submit {done.status_code}"] if done.status_code != 303 else [])
                memory.append(_resident(pid))
                number += 1
                time.sleep(6.0)
            client.close()

        threads = [threading.Thread(target=analyst, args=(place,)) for place in range(ANALYSTS)]
        threads.append(threading.Thread(target=releases))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        later = prices[len(prices) // 5 :]  # most forecasts are known by then
        for name, times in (("page", pages), ("price", prices), ("price, but for the first fifth", later)):
            high = sorted(times)[int(0.95 * len(times))]
            sys.stdout.write(f"{name}: {len(times)} calls, median {statistics.median(times):.3f} s, p95 {high:.3f} s\n")
        sys.stdout.write(f"memory: {memory[0] / 2**20:.0f} MB at first, {memory[-1] / 2**20:.0f} MB at last\n")
    assert wrong == []
    assert memory[-1] < 1.5 * memory[len(memory) // 3]


def _resident(pid: int) -> int:
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return 1024 * int(found[1])


def test_the_time_of_an_answer_does_not_tell_neighbours_apart(tmp_path: Path) -> None:
    """From the moment of asking to the moment of seeing, on two neighbouring tables; fails by chance once in 100.

    Several analysts ask on each side at once, with a worker each: a pair of threads for each, of which a coin says who
    asks where, anew in each round, so that the order in which this program's threads run is no side's. They look again
    shortly before the time at which, as the service tells them, the answer leaves: one that left earlier would be seen,
    and counts as early.
    """
    ages = np.random.default_rng(1).integers(0, 90, 3000).astype(float)
    with (
        running(tmp_path / "with", ages, AT_ONCE, limit=LIMIT, tick=0.25, workers=AT_ONCE) as (one, _),
        running(tmp_path / "without", ages[1:], AT_ONCE, limit=LIMIT, tick=0.25, workers=AT_ONCE) as (other, _),
    ):
        sides, lock = ("with", "without"), threading.Lock()
        seen: dict[str, list[float]] = {side: [] for side in sides}
        failed, early = dict.fromkeys(sides, 0), dict.fromkeys(sides, 0)

        def ask(who: int, place: int, both: threading.Barrier) -> None:
            clients = {
                side: signed_in(address, f"person{who}") for side, address in zip(sides, (one, other), strict=True)
            }
            coins = np.random.default_rng(who).integers(0, 2, REQUESTS // AT_ONCE + 3)
            for number, coin in enumerate(coins):
                both.wait()
                side = sides[(int(coin) + place) % 2]
                client, secret = clients[side]
                where = f'where = "age >= {who * REQUESTS + number}e-9"'
                text = plan(title=f"{number}", statistic="count", columns="", more=where, epsilon=0.01)
                began = time.time()
                sent = client.post("/ask/people", data={"view": "text", "text": text, "csrf": secret})
                path = sent.headers["location"]
                page = client.get(path).text
                due = re.search(r'data-due="([0-9.]+)"', page)
                assert due is not None
                time.sleep(max(0.0, float(due[1]) - time.time() - 0.1))
                while "state done" not in page and "state failed" not in page:
                    page = client.get(path).text
                    time.sleep(0.01)
                if number >= 3:  # the first ones wait for the workers to start
                    with lock:
                        seen[side].append(time.time() - began)
                        failed[side] += "state failed" in page  # on a busy machine; it leaves at the same time
                        early[side] += time.time() < float(due[1])
            for client, _ in clients.values():
                client.close()

        pairs = [threading.Barrier(2) for _ in range(AT_ONCE)]
        each = [(who, place, both) for who, both in enumerate(pairs) for place in (0, 1)]
        threads = [threading.Thread(target=ask, args=args) for args in each]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    found = ks_2samp(seen["with"], seen["without"])
    medians = [round(statistics.median(times), 3) for times in seen.values()]
    counts = [len(times) for times in seen.values()]
    sys.stdout.write(f"{counts}: medians {medians}, without an answer {failed}, early {early}, {found}\n")
    assert found.pvalue > 0.01
    assert early == dict.fromkeys(sides, 0)
