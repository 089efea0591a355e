"""A worker that is lost ends in another try or in one fixed sentence; nobody waits for it for ever."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet.engines import Dask
from discreet.engines.dask import CLOSED
from discreet.engines.retried import TRIES
from discreet.errors import BadInput

LOST = "a part of the table was lost"


@dataclass(eq=False)
class Task:
    """A task of a stand-in client: finished at once, never, or finished by a worker that is gone."""

    work: Callable[[], Any]
    fate: str

    def add_done_callback(self, told: Callable[[Any], None]) -> None:
        if self.fate != "never":
            told(self)

    def result(self, timeout: float) -> Any:
        if self.fate in ("gone", "never"):
            raise TimeoutError("patient 4711")
        if self.fate == "killed":
            raise RuntimeError("patient 4711")
        return self.work()


@dataclass
class Client:
    """What Dask's client does, with the fate of each task by its number, over all tries."""

    fates: dict[int, str]
    workers: int = 2
    starts: bool = False  # a worker, when there is a task
    started: int = 0
    cancelled: list[Any] = field(default_factory=list)

    def map(self, work: Callable[[Any], Any], items: list[Any], pure: bool) -> list[Task]:
        first, self.started = self.started, self.started + len(items)
        return [Task(partial(work, item), self.fates.get(first + n, "done")) for n, item in enumerate(items)]

    def cancel(self, futures: list[Any], force: bool) -> None:
        self.cancelled += futures

    def wait_for_workers(self, wanted: int, timeout: float) -> None:
        if self.workers < wanted:
            raise TimeoutError("patient 4711")

    def submit(self, work: Callable[[], Any], pure: bool) -> Task:
        return Task(work, "done" if self.starts else "never")

    def compute(self) -> None: ...


def both(one: int, other: int) -> int:
    return one + other


@pytest.mark.claim("retried.1")
@pytest.mark.parametrize("fate", ["never", "gone", "killed"])
def test_a_lost_part_is_worked_on_again_and_counted_once(fate: str) -> None:
    client = Client({1: fate})
    assert Dask(client, limit=1e-3).fold(abs, both, [1, -2, 3]) == 6
    assert client.started >= 4
    assert bool(client.cancelled) == (fate != "killed")
    assert Dask(Client({0: fate}), limit=1e-3).map(abs, [-1]) == [None]


@pytest.mark.claim("retried.1")
@pytest.mark.parametrize("fate", ["never", "gone", "killed"])
def test_a_part_that_is_lost_in_every_try_ends_in_one_sentence(fate: str) -> None:
    client = Client(dict.fromkeys(range(9), fate))
    with pytest.raises(BadInput, match=LOST) as error:
        Dask(client, limit=1e-3).fold(abs, both, [1, -2])
    assert (error.value.__cause__, error.value.__context__) == (None, None)
    assert client.started == 2 * TRIES


@pytest.mark.claim("retried.1")
def test_a_cluster_that_lost_all_its_workers_is_waited_for_once() -> None:
    client = Client(dict.fromkeys(range(9), "never"), workers=0)
    with pytest.raises(BadInput, match=LOST) as error:
        Dask(client, limit=1e-3).fold(abs, both, [1, -2])
    assert (error.value.__cause__, error.value.__context__) == (None, None)
    assert client.started == len(client.cancelled) == 2
    assert Dask(Client({0: "never"}, workers=0), limit=1e-3).map(abs, [-1, -2]) == [None, 2]


def test_a_table_is_not_opened_where_nobody_works(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("x\n1\n")
    Dask(Client({})).wait()
    Dask(Client({}, workers=0, starts=True)).wait()
    with pytest.raises(BadInput, match=r"Dask has had no worker for 0\.001 seconds; start some"):
        discreet.open(tmp_path, engine=Dask(Client({}, workers=0), limit=1e-3), budget=1.0, ledger=":memory:")


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
def test_a_cluster_without_workers_is_not_waited_for() -> None:
    from dask.distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=0, **CLOSED) as cluster,
        Client(cluster) as client,
    ):
        with pytest.raises(BadInput, match=LOST):
            Dask(client, limit=0.05).fold(abs, both, [1, -2])
        assert Dask(client, limit=0.05).map(abs, [-1]) == [None]


@pytest.mark.engines
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
def test_a_cluster_that_starts_workers_for_tasks_is_asked() -> None:
    from dask.distributed import Client, LocalCluster

    with LocalCluster(n_workers=0, **CLOSED) as cluster, Client(cluster) as client:
        cluster.adapt(minimum=0, maximum=1)
        Dask(client).wait()
        assert Dask(client).map(abs, [-1]) == [1]


@pytest.mark.parametrize("wrong", [0, -1.0, None, float("inf"), 1e9, "600"])
def test_the_limit_is_a_number_of_seconds(wrong: Any) -> None:
    with pytest.raises(BadInput, match="give the seconds that may pass without a part that is finished"):
        Dask(Client({}), limit=wrong)
