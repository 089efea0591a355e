"""A service on made-up people, with a clock that tests move, and browsers without a window."""

import re
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

import httpx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import uvicorn

from discreet.ledger.service_people import Person
from discreet.service.desk import Desk
from discreet.service.jobs import work_off
from discreet.service.passwords import salted
from discreet.service.settings import Settings, Source, settings_of
from discreet.service.web import make_app

PASSWORD: Final = "correct horse battery"
HOSTILE: Final = "<img src=x onerror=alert(1)>\"'&{{7*7}}"
PEOPLE: Final = (("ann", "analyst"), ("bob", "analyst"), ("sue", "steward"), ("sam", "steward"), ("aud", "auditor"))


class Clock:
    """A time that moves when it is told to."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


def write_table(folder: Path) -> None:
    """3,000 made-up people, one of whose columns has a hostile name."""
    rng = np.random.default_rng(1)
    age, sex = rng.integers(0, 90, 3000).astype(float), rng.choice(["F", "M"], 3000)
    columns = {"age": age, "weight": rng.normal(70, 12, 3000), "sex": pa.array(sex).dictionary_encode()}
    pq.write_table(pa.table(columns | {HOSTILE: age}), folder / "people.parquet")


def settings_for(folder: Path, **more: Any) -> Settings:
    """The settings of the made-up service."""
    write_table(folder)
    source = {
        "name": "people",
        "title": f"People {HOSTILE}",
        "description": HOSTILE,
        "data": {"source": "people.parquet", "rows": 3000},
        "population": {"name": "people", "epsilon": 3.0, "delta": 1e-6},
        "columns": {"age": {"label": HOSTILE, "unit": "years", "low": 0.0, "high": 120.0, "scale": 20.0}},
    }
    return settings_of({"ledger": "study.ledger", "limit": 30.0, "tick": 10.0, "source": [source]} | more)


@dataclass
class World:
    """The service, its clock, and those who use it."""

    desk: Desk
    clock: Clock
    socket: socket.socket
    server: uvicorn.Server | None = None
    thread: threading.Thread | None = None
    opened: list[httpx.Client] = field(default_factory=list)
    clients: dict[str, httpx.Client] = field(default_factory=dict)
    secrets: dict[str, str] = field(default_factory=dict)

    @property
    def source(self) -> Source:
        return self.desk.settings.source[0]

    def person(self, name: str) -> Person:
        found = self.desk.people.find(name)
        assert found is not None
        return found

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.desk.settings.port}"

    def client(self) -> httpx.Client:
        """A browser, before anybody has signed in; the server is started when it is first needed."""
        if self.server is None:
            config = uvicorn.Config(
                make_app(self.desk), log_level="critical", access_log=False, lifespan="off", server_header=False
            )
            self.server = uvicorn.Server(config)
            self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.socket]}, daemon=True)
            self.thread.start()
        plain = {"verify": False}  # nothing is encrypted here; else each client reads all authorities' certificates
        made = httpx.Client(base_url=self.address, headers={"origin": self.address}, timeout=60.0, **plain)  # type: ignore[arg-type]
        self.opened.append(made)
        return made

    def close(self) -> None:
        for one in self.opened:
            one.close()
        if self.server is not None and self.thread is not None:
            self.server.should_exit = True
            self.thread.join()
        self.socket.close()
        self.desk.close()

    def signed_in(self, name: str) -> httpx.Client:
        """A browser in which somebody has signed in."""
        if name not in self.clients:
            client = self.client()
            secret = hidden(client.get("/login").text)
            done = client.post("/login", data={"name": name, "password": PASSWORD, "csrf": secret})
            assert done.status_code == 303, done.text
            self.clients[name], self.secrets[name] = client, hidden(client.get("/account").text)
        return self.clients[name]

    def post(self, who: str, path: str, **data: Any) -> Any:
        """A form of somebody's, with its secret."""
        client = self.signed_in(who)
        return client.post(path, data={"csrf": self.secrets[who], **data})

    def submit(self, name: str = "ann", text: str | None = None) -> str:
        """The id of a new request."""
        return self.desk.submit(text or plan(), self.source, self.person(name)).id

    def work(self) -> int:
        """All that is in the queue; how many requests that were."""
        count = 0
        while (request := self.desk.requests.claim("test", self.clock())) is not None:
            work_off(self.desk, request)
            count += 1
        return count

    def answered(self, which: str, by: str = "sue") -> None:
        """Approve, work, and wait until the answer leaves."""
        self.desk.approve(which, self.person(by))
        self.work()
        self.clock.now += 1000.0

    def token(self, name: str, scope: str, days: float = 1.0) -> dict[str, str]:
        """The header of a program."""
        return {"authorization": f"Bearer {self.desk.accounts.issue(self.person(name), 'test', [scope], days)}"}


def hidden(html: str) -> str:
    """The secret that a form holds."""
    found = re.search(r'name="csrf" value="([^"]+)"', html)
    assert found is not None
    return found[1]


def plan(
    epsilon: float = 0.1, title: str = "Ages", statistic: str = "mean", columns: str = "age", more: str = ""
) -> str:
    """An analyst's plan."""
    lines = [f'title = "{title}"', "[spend]", f"epsilon = {epsilon}", "[[release]]", 'id = "a"']
    lines += [f'statistic = "{statistic}"', f'columns = "{columns}"' if columns else "", more]
    return "\n".join(lines)


@cache
def _salted() -> tuple[str, str]:
    """The one password, stretched once: that takes long on purpose."""
    return salted(PASSWORD)


def enrol(desk: Desk) -> None:
    """The five people; the two analysts have a part of the budget."""
    salt, kept = _salted()
    for name, role in PEOPLE:
        desk.people.add(name, role, salt, kept, by=None, now=desk.clock())
    for name in ("ann", "bob"):
        desk.parts.allot(desk.settings.source[0], name, 1.0, 1e-7, by="sue")


def world_in(folder: Path, **settings: Any) -> Iterator[World]:
    """The made-up service in a folder, with more settings."""
    clock, listening = Clock(), socket.create_server(("127.0.0.1", 0))
    desk = Desk(settings_for(folder, port=listening.getsockname()[1], **settings), folder, clock)
    enrol(desk)
    made = World(desk, clock, listening)
    yield made
    made.close()


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    yield from world_in(tmp_path)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, for tests that are marked to need it."""
    from playwright.sync_api import sync_playwright
    from tests.service.browser_tab import BROWSER

    with sync_playwright() as found:
        made = found.chromium.launch(executable_path=BROWSER, args=["--no-sandbox", "--disable-gpu"])
        yield made
        made.close()
