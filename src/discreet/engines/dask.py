"""Dask: parts are tasks of a client. Alone speaks to Dask.

Every task is submitted as impure: Dask gives two equal calls one key, and one result, and a part of another pass is not
this one's. No noise is drawn on a worker, so that a task that runs twice tells nothing more.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Final, TypeVar

from discreet.engines.exchanged import ROOM, Bucket, Segments, check_room, kept_of, made_of, segments_of
from discreet.engines.retried import LOST, TRIES, Done, folded, sealed
from discreet.errors import BadInput
from discreet.privacy.exact import is_number

R = TypeVar("R")
HOST: Final = "127.0.0.1"
CLOSED: Final = {  # of a cluster that is started here: its pages are on this machine alone, at a free port
    "host": HOST,
    "dashboard_address": f"{HOST}:0",
    "scheduler_kwargs": {"dashboard": False},
}
LIMIT: Final = 600.0
LONGEST: Final = 1e6  # seconds
MOMENT: Final = 1.0  # seconds in which a worker that is there says so
NONE: Final = (
    "Dask has had no worker for {:g} seconds; start some, or give Dask(client, limit=...) more seconds, then ask again"
)


@dataclass(frozen=True, slots=True)
class Dask:
    """A cluster of Dask, by its client.

    `limit` is how many seconds may pass in which no part is finished. Those that are missing then count as failed, and
    are worked on again, three times in all: a worker that is lost is not waited for. A cluster that has no worker at
    all is waited for once: when a table is opened, before anything is charged, and when the last worker is lost.
    `room` is how many bytes of prepared rows all workers together keep at most until an answer is there.

    >>> from dask.distributed import Client  # doctest: +SKIP
    >>> with Client("tcp://scheduler:8786") as client:  # doctest: +SKIP
    ...     session = discreet.open("visits/*.parquet", engine=discreet.engines.Dask(client), budget=2.0, ledger="v")
    """

    client: Any
    limit: float = LIMIT
    room: int = ROOM

    def __post_init__(self) -> None:
        check_room(self.room)
        if not all(callable(getattr(self.client, name, None)) for name in ("submit", "map", "compute", "cancel")):
            raise BadInput(
                f"the client is of type {type(self.client).__name__}; give a dask.distributed.Client that is connected"
            )
        if not (is_number(self.limit) and 0 < self.limit <= LONGEST):
            raise BadInput(
                f"limit is {self.limit!r}; give the seconds that may pass without a part that is finished, above 0 and "
                f"at most {LONGEST:.0f}"
            )

    @classmethod
    def at(cls, address: str) -> "Dask":
        """The cluster at host:port; "local" starts two processes here, without a dashboard."""
        try:
            from dask.distributed import Client
        except ImportError:
            raise BadInput("Dask is not installed; pip install 'discreet[dask]'") from None
        if address == "local":
            return cls(Client(lasting(2)))
        try:
            return cls(Client(f"tcp://{address}", timeout=30))
        except (OSError, ValueError):
            raise BadInput(
                f"no scheduler of Dask answers at {address}; check host and port, as in dask://host:8786"
            ) from None

    def wait(self) -> None:
        """Until there is a worker; BadInput if none comes within the limit. Some clusters start one when asked."""
        if not (self._has_worker() or self._answers()):
            raise BadInput(NONE.format(self.limit))

    def map(self, function: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        """function(item) of each item, in order; None where that failed."""
        todo, found = list(items), dict[int, Done | None]()
        with suppress(BadInput):  # no worker is left: the others failed
            found.update(self._run(function, todo, None))
        return [None if done is None else done.found for done in map(found.get, range(len(todo)))]

    def fold(self, kernel: Callable[[Any], R], merge: Callable[[R, R], R], parts: Iterable[Any]) -> R | None:
        """The kernel of every part, merged as they come. [retried.1]"""
        todo = list(parts)
        return folded(partial(self._run, kernel, todo), len(todo), merge)

    def exchange(
        self, cut: Callable[[Any], list[bytes]], make: Callable[[list[bytes]], Any], parts: Iterable[Any], buckets: int
    ) -> "list[_Kept]":
        """What `make` makes of the segments of each bucket, which `cut` cuts parts into: kept on the workers, as parts.

        A worker that is lost takes what it kept with it; Dask makes it again of the same parts.
        """
        todo = list(parts)
        whole = self._ended(partial(self._begun, partial(segments_of, cut, buckets), todo), len(todo))

        def begin(numbers: list[int]) -> dict[Any, int]:
            ours = [self.client.map(_one, whole, number=number, pure=False) for number in numbers]
            made = [self.client.submit(made_of, make, segments, pure=False) for segments in ours]
            return dict(zip(made, numbers, strict=True))

        return [_Kept(*found) for found in enumerate(self._ended(begin, buckets))]

    def keep(self, make: Callable[[Any], Any], parts: Iterable[Any]) -> "list[_Kept]":
        """What `make` makes of each part: kept on the workers, as parts. A lost one is made again, as above."""
        todo = list(parts)
        return [
            _Kept(*one) for one in enumerate(self._ended(partial(self._begun, partial(kept_of, make), todo), len(todo)))
        ]

    def drop(self, kept: "list[_Kept]") -> None:
        """Let go of what was kept."""
        with suppress(Exception):  # a client that is closed has let go of it
            self.client.cancel([one.made for one in kept], force=True)
        kept.clear()

    def opened(self, frame: Any) -> "_Frame | None":
        """A data frame of Dask, ready to be read in parts; None for anything else."""
        ours = type(frame).__module__.partition(".")[0].startswith("dask") and hasattr(frame, "to_delayed")
        if not (ours and hasattr(frame, "columns")):
            return None
        self.wait()
        return _Frame(frame)

    def _run(
        self, kernel: Callable[[Any], Any], todo: list[Any], numbers: list[int] | None
    ) -> Iterator[tuple[int, Done | None]]:
        from dask.distributed import TimeoutError as Late

        numbers = list(range(len(todo))) if numbers is None else numbers
        waiting = self._begun(partial(sealed, kernel), todo, numbers)
        futures = list(waiting)
        ended: SimpleQueue[Any] = SimpleQueue()
        for future in futures:
            future.add_done_callback(ended.put)
        del futures
        while waiting:
            done, late = None, False
            try:
                future = ended.get(timeout=self.limit)
                done = future.result(timeout=self.limit)
            except (Empty, Late):
                late = True
            except Exception:  # noqa: BLE001, S110  it may quote a row
                pass
            if late:
                self._give_up(waiting)
                yield from ((number, None) for number in waiting.values())
                return
            yield waiting.pop(future), done

    def _give_up(self, waiting: dict[Any, int]) -> None:
        """Tasks that nobody works on; BadInput if there is nobody to ask again. [retried.1]"""
        with suppress(Exception):  # a client that is closed has nothing to cancel
            self.client.cancel(list(waiting), force=True)
        if not self._has_worker():
            raise BadInput(LOST)  # [retried.1]

    def _has_worker(self) -> bool:
        try:
            self.client.wait_for_workers(1, timeout=MOMENT)
        except Exception:  # noqa: BLE001  there is none, or no scheduler
            return False
        return True

    def _answers(self) -> bool:
        """Whether an empty task is worked on."""
        asked = None
        try:
            asked = self.client.submit(int, pure=False)
            return bool(asked.result(timeout=self.limit) == 0)
        except Exception:  # noqa: BLE001  there is no worker, or no scheduler
            with suppress(Exception):
                self.client.cancel([asked], force=True)
            return False

    def _begun(self, work: Callable[[Any], Any], todo: list[Any], numbers: list[int]) -> dict[Any, int]:
        """The tasks of some parts, and the number of each."""
        from dask import delayed

        framed = [n for n in numbers if isinstance(todo[n], _Lazy)]
        kept = [n for n in numbers if isinstance(todo[n], _Kept)]
        plain = [n for n in numbers if not isinstance(todo[n], _Lazy | _Kept)]
        futures = self.client.map(work, [todo[number] for number in plain], pure=False)
        lazy = [delayed(_on_partition, pure=False)(work, todo[n].number, todo[n].partition) for n in framed]
        futures += self.client.compute(lazy) if lazy else []
        futures += [self.client.submit(_on_bucket, work, todo[n].number, todo[n].made, pure=False) for n in kept]
        return dict(zip(futures, [*plain, *framed, *kept], strict=True))

    def _ended(self, begin: Callable[[list[int]], dict[Any, int]], count: int) -> list[Any]:
        """Tasks that have ended, one for each number, what they gave left where it is; or LOST. [retried.1]"""
        found: dict[int, Any] = {}
        for _ in range(TRIES):
            waiting = begin([number for number in range(count) if number not in found])
            ended: SimpleQueue[Any] = SimpleQueue()
            for future in waiting:
                future.add_done_callback(ended.put)
            with suppress(Empty):
                while waiting:
                    future = ended.get(timeout=self.limit)
                    number = waiting.pop(future)
                    if future.status == "finished":
                        found[number] = future
            if waiting:
                self._give_up(waiting)
            if len(found) == count:
                return [future for _, future in sorted(found.items())]
        raise BadInput(LOST)  # [retried.1]


def lasting(workers: int) -> Any:
    """A cluster of processes on this machine, in which one that is killed is always started again.

    Dask looks 15 seconds after each loss of a worker whether it is back, and if not forgets it for good: a worker that
    is lost twice may be in the middle of its second start then, and a cluster that lost all in this way never works.
    """
    import dask
    from dask.distributed import LocalCluster

    dask.config.set({"distributed.deploy.lost-worker-timeout": LONGEST})  # read at each loss
    return LocalCluster(workers, threads_per_worker=1, processes=True, **CLOSED)


@dataclass(frozen=True, slots=True)
class _Frame:
    """A data frame of Dask."""

    frame: Any
    description = "a Dask data frame"

    @property
    def empty(self) -> Any:
        """A frame of no rows, with the same columns."""
        return self.frame._meta  # noqa: SLF001  Dask has no public name for it

    def size(self) -> int:
        """Counted there."""
        return len(self.frame)

    def parts(self, columns: Iterable[str]) -> "list[_Lazy]":
        """A partition each, of some columns."""
        return [_Lazy(*found) for found in enumerate(self.frame[list(columns)].to_delayed())]


@dataclass(frozen=True, slots=True)
class _Lazy:
    """A partition that is not made yet."""

    number: int
    partition: Any


@dataclass(frozen=True, slots=True)
class _Partition:
    """A partition, where it is."""

    number: int
    rows: Any

    def read(self) -> Iterator[Any]:
        """In one frame."""
        yield self.rows


def _on_partition(work: Callable[[Any], Any], number: int, rows: Any) -> Any:
    return work(_Partition(number, rows))


@dataclass(frozen=True, slots=True)
class _Kept:
    """A bucket that was made, on whichever worker has it."""

    number: int
    made: Any


def _on_bucket(work: Callable[[Any], Any], number: int, raw: bytes) -> Any:
    return work(Bucket(number, raw))


def _one(segments: Segments, number: int) -> bytes | None:
    return segments[number]
