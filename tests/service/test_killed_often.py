"""kill -9 of workers, of the server and of both at many random points: studies, as each point takes seconds.

The points are spread over the time that the work takes without a kill, measured at the beginning; where they fell is
printed, as it depends on the machine.
"""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.service.conftest import PASSWORD, hidden, plan
from tests.service.test_killed import approved, judge, killed, prepared

from discreet.service.desk import Desk
from discreet.service.settings import read_settings

pytestmark = pytest.mark.study
POINTS = int(os.environ.get("DISCREET_KILLS", "200"))
QUEUE = 3  # requests that wait when a server is killed
STARTS = 4  # of the server in one folder, each of which is killed


def test_workers_are_killed_at_random_points(tmp_path: Path) -> None:
    config, _ = prepared(tmp_path / "first")
    longest, seen = 1.1 * float(killed(config, 0, seed=0)[0]["took"]), Counter[str]()
    for seed in range(POINTS // 2):
        config, _ = prepared(tmp_path / str(seed))
        told = killed(config, 2, seed=seed, longest=longest)
        judge(told)
        seen.update(f"{step['is'][0]}, charges {step['charges']}, answers {step['answers']}" for step in told[:2])
    sys.stdout.write(f"{sum(seen.values())} kills within {longest:.1f} s: {dict(seen)}\n")


@dataclass
class Service:
    """A folder with a service, its server, and what was seen of it."""

    config: Path
    port: int
    server: subprocess.Popen[bytes] | None = None
    shown: dict[str, str] = field(default_factory=dict)

    def start(self) -> None:
        command = [sys.executable, "-m", "discreet", "serve", "--config", str(self.config)]
        self.server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(600):
            try:
                httpx.get(f"http://127.0.0.1:{self.port}/login")
                return
            except httpx.TransportError:
                time.sleep(0.1)
        raise AssertionError("the server does not start")

    def workers(self) -> list[int]:
        assert self.server is not None
        children = Path(f"/proc/{self.server.pid}/task").glob("*/children")
        return [int(one) for file in children for one in file.read_text().split()]

    def kill(self, what: str) -> None:
        assert self.server is not None
        workers = self.workers()
        if what != "worker":
            self.server.send_signal(signal.SIGKILL)
        for one in workers if what != "server" else ():
            os.kill(one, signal.SIGKILL)
        if what != "worker":
            self.server.wait()
            while any(map(_lives, workers)):  # one whose server is gone ends by itself
                time.sleep(0.01)

    def stop(self) -> None:
        assert self.server is not None
        self.server.send_signal(signal.SIGINT)
        self.server.wait(30)

    def look(self) -> dict[str, dict[str, Any]]:
        """What the analyst sees, and what the ledger has, by request."""
        desk = Desk(read_settings(self.config), self.config.parent)
        requests = desk.requests.listed({})  # before the charges: a worker may be at work
        charges = [one for one in desk.ledger.entries("people") if one.request]
        found: dict[str, dict[str, Any]] = {}
        for one in requests:
            mine = [charge for charge in charges if charge.request == f"plan {one.plan}"]
            report = desk.report(one)
            late = one.slot is not None and time.time() > one.slot
            found[one.id] = {"state": one.state, "tries": one.tries, "charges": len(mine), "late": late}
            found[one.id] |= {"answer": mine[0].answer if mine else None, "shown": report}
        assert desk.ledger.verify().ok
        spent = desk.ledger.balance("people").spent.cost
        if self.server is None or self.server.poll() is not None:
            assert spent == sum(one.cost for one in charges)
        desk.close()
        for which, told in found.items():
            assert told["charges"] <= 1, "charged once"
            if told["state"] == "done":
                assert told["answer"] is not None, "done means stored"
            if told["shown"] is not None:
                assert json.loads(told["answer"]) == told["shown"], "shown means stored"
                assert self.shown.setdefault(which, told["answer"]) == told["answer"], "one answer is ever shown"
        return found

    def out(self) -> bool:
        """Whether all answers have left."""
        return all(told["shown"] is not None for told in self.look().values() if told["state"] == "done")

    def seen(self) -> dict[str, Any]:
        """The records that the analyst downloads."""
        address = f"http://127.0.0.1:{self.port}"
        with httpx.Client(base_url=address, headers={"origin": address}, timeout=60.0) as client:
            secret = hidden(client.get("/login").text)
            client.post("/login", data={"name": "ann", "password": PASSWORD, "csrf": secret})
            got = {which: client.get(f"/requests/{which}/report.json") for which in self.look()}
        return {which: one.json() for which, one in got.items() if one.status_code == 200}


def _lives(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def service(folder: Path) -> Service:
    with socket.create_server(("127.0.0.1", 0)) as found:
        port = int(found.getsockname()[1])
    config, _ = prepared(folder, port)
    config.write_text(config.read_text().replace("limit = 60.0", "limit = 10.0"))
    for place in range(1, QUEUE):
        approved(Desk(read_settings(config), folder), plan(epsilon=0.1 + place / 100, title=f"{place}"))
    return Service(config, port)


def settled(one: Service, seconds: float) -> float:
    """Wait until the queue is empty; how long that took."""
    began = time.monotonic()
    while time.monotonic() < began + seconds:
        if not {"queued", "running"} & {found["state"] for found in one.look().values()}:
            return time.monotonic() - began
        time.sleep(0.2)
    raise AssertionError("the queue does not go on")


def test_servers_and_workers_are_killed_at_random_points(tmp_path: Path) -> None:
    """Server, worker or both, at a time between the first page and the end of the queue; the last start lives."""
    first = service(tmp_path / "first")
    first.start()
    longest = 1.1 * settled(first, 120.0)
    first.stop()
    chance, where, ends, points = random.Random(21), Counter[str](), Counter[str](), 0
    while points < POINTS // 2:
        one = service(tmp_path / f"{points}")
        before = dict.fromkeys(one.look(), 0)
        for _ in range(STARTS):
            one.start()
            what = chance.choice(("server", "worker", "both"))
            if what == "worker":  # the server starts another, and is killed later
                time.sleep(chance.random() * longest)
                one.kill(what)
                points += 1
                where[what] += 1
            time.sleep(chance.random() * longest)
            one.kill("server" if what == "worker" else what)
            points += 1
            found = one.look()
            assert all(found[which]["charges"] >= count for which, count in before.items()), "a charge stays"
            before = {which: told["charges"] for which, told in found.items()}
            for told in found.values():
                where[f"{told['state']}, charges {told['charges']}, answers {told['answer'] is not None}"] += 1
        one.start()
        settled(one, 120.0)
        until = time.monotonic() + 120.0
        while time.monotonic() < until and not one.out():
            time.sleep(0.5)
        last, seen = one.look(), one.seen()
        one.stop()
        for which, told in last.items():
            ends[f"{told['state']} after {told['tries']} tries"] += 1
            assert (told["state"] == "done") == (which in seen)
            assert told["state"] == "done" or told["tries"] >= 3 or told["late"], "given up after three tries"
        sys.stdout.write(f"{points} kills: {dict(where)}; {dict(ends)}\n")  # what is known if it has to be stopped
        sys.stdout.flush()
    sys.stdout.write(
        f"{points} kills within {longest:.1f} s of the first page: {dict(where)}; at the end {dict(ends)}\n"
    )
