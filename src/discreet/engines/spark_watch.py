"""Work that is asked of Spark and given up where none of its tasks ends: Spark itself waits for executors for ever.

The work runs in a thread under a tag of its own, by which it is taken back. Whether tasks end is what Spark's own
status says, of all that the session's application does: another's task that ends says that there are executors.
"""

import uuid
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Final, TypeVar

from discreet.engines.retried import Done

T = TypeVar("T")
LOOKS: Final = 4  # within a limit: so often it is looked whether a task has ended


def watched(session: Any, limit: float, work: Callable[[], T]) -> Done | None:
    """What `work` gives; None if it raises, or if for `limit` seconds no task ends."""
    tag, ended = f"discreet-{uuid.uuid4().hex}", SimpleQueue[Done | None]()
    status = _Status(session)
    _start(session, lambda: ended.put(_tagged(session, tag, work)))
    seen, still = status.seen(), 0
    try:
        while still < LOOKS:
            with suppress(Empty):
                return ended.get(timeout=limit / LOOKS)
            now = status.seen()
            still = still + 1 if now == seen else 0
            seen = now
    except BaseException:  # the user's patience
        _taken_back(session, tag)
        raise
    finally:
        status.end()
    _taken_back(session, tag)
    return None


def _tagged(session: Any, tag: str, work: Callable[[], T]) -> Done | None:
    try:
        session.addTag(tag)
        return Done(work())
    except Exception:  # noqa: BLE001  it may quote a row
        return None


def _taken_back(session: Any, tag: str) -> None:
    with suppress(Exception):  # Spark may have stopped
        session.interruptTag(tag)


def _start(session: Any, work: Callable[[], None]) -> None:
    """In a thread that has what the caller told Spark of its own, the pool of its scheduler say."""
    try:
        from pyspark import InheritableThread

        InheritableThread(target=work, session=session, daemon=True).start()
    except Exception:  # noqa: BLE001  Spark may have stopped: then the work says so
        Thread(target=work, daemon=True).start()


class _Status:
    """How far the tasks are that a session knows of, as something that changes when one ends."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self._heard: tuple[tuple[int, int], ...] = ()
        with suppress(Exception):  # of Spark Connect alone
            session.registerProgressHandler(self._hear)

    def _hear(self, stages: Any = None, *_: Any, **__: Any) -> None:
        self._heard = tuple((one.stage_id, one.num_completed_tasks) for one in stages or ())

    def seen(self) -> Any:
        """Now."""
        with suppress(Exception):  # Spark Connect has no such context
            tracker = self._session.sparkContext.statusTracker()
            known = [(one, tracker.getStageInfo(one)) for one in sorted(tracker.getActiveStageIds())]
            return tuple((one, info.numCompletedTasks) for one, info in known if info is not None)
        return self._heard

    def end(self) -> None:
        """Nothing more is to be heard."""
        with suppress(Exception):
            self._session.removeProgressHandler(self._hear)
