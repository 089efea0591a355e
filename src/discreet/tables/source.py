"""What every kind of table offers: names and kinds from its schema, and its rows in pieces, only the columns asked for.

A piece is read when it is called, so that a reader can pass over those it already has. Nothing that a library says of
the data reaches the user: whatever it raises becomes one sentence of ours about the source.
"""

import os
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final, Protocol, TypeAlias, TypeVar

from discreet.errors import BadInput, DiscreetError
from discreet.privacy.declaration import Kind
from discreet.tables.cells import Column

Piece: TypeAlias = Callable[[], Mapping[str, Column]]
T = TypeVar("T")
WORKERS: Final = max(1, min(4, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2))


class Source(Protocol):
    """A table somewhere."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in order."""
        ...

    @property
    def kinds(self) -> Mapping[str, Kind]:
        """What the schema declares."""
        ...

    @property
    def description(self) -> str:
        """Format and names, for provenance: no folder, no value."""
        ...

    @property
    def ordered(self) -> bool:
        """Whether each row has a place of its own, which a change of its values leaves as it is."""
        ...

    def size(self) -> int | None:
        """The number of rows, if that is written somewhere."""
        ...

    def pieces(self, columns: Sequence[str]) -> Iterator[Piece]:
        """The rows in order, each piece by a call."""
        ...


def guarded(work: Callable[[], T], error: DiscreetError) -> T:
    """What `work` gives; whatever it raises is replaced by `error`, which knows nothing of it."""
    try:
        return work()
    except DiscreetError:
        raise
    except Exception:  # noqa: BLE001, S110  its message may hold a value of the data
        pass
    raise error


def in_order(pieces: Iterator[Piece], work: Callable[[Mapping[str, Column]], T], error: DiscreetError) -> Iterator[T]:
    """`work` done on each piece, a few at a time, given in order; no more than one for each worker is held."""
    waiting: deque[Future[T]] = deque()
    first, piece = (guarded(lambda: next(pieces, None), error) for _ in range(2))
    if first is not None:
        yield _done(first, work, error)
    if piece is None:  # as most tables are: no thread is worth its while
        return
    pool = ThreadPoolExecutor(WORKERS)
    try:
        while piece is not None:
            waiting.append(pool.submit(_done, piece, work, error))
            if len(waiting) > WORKERS:
                yield waiting.popleft().result()
            piece = guarded(lambda: next(pieces, None), error)
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def _done(piece: Piece, work: Callable[[Mapping[str, Column]], T], error: DiscreetError) -> T:
    return guarded(lambda: work(piece()), error)


def chunks(total: int, length: int) -> Iterator[tuple[int, int]]:
    """A range in pieces of a length."""
    for start in range(0, total, length):
        yield start, min(total, start + length)


def named(names: Sequence[Any], seen: str) -> tuple[str, ...]:
    """Names that can be asked for: texts, not empty, each once."""
    listed = [str(name) for name in names]
    twice = [name for name, times in Counter(listed).items() if times > 1]
    if twice or "" in listed or not listed:
        fault = f"has two columns called {twice[0]!r}" if twice else "has a column without a name"
        raise BadInput(
            f"{seen} {fault if listed else 'has no columns'}; each column needs a name of its own; rename them"
        )
    return tuple(listed)
