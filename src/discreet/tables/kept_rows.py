"""Rows that a mechanism passes over many times: prepared once, and kept where they are until the answer is there.

Promise
    [kept_rows.1] What is kept gives every kernel what the rows themselves would give it: each row once, or the fold
          raises BadInput, whatever was lost, made again or came twice.
    [kept_rows.2] What is kept belongs to one question. When that is answered, or has failed, it is let go; no other
          question meets it.
    [kept_rows.3] All that is kept of a question at a time has no more bytes than the engine's `room`.
Why
    [kept_rows.1] A part is made by the functions that the rows went through anyway, each of one row ([streams.1]), in
    the same order; every part is made exactly once or again, the same ([retried.1]), and knows how many rows of the
    table it was made of: together they must be all of them ([placed.1]).
    [kept_rows.2] `Keeper` is made with the question's columns, filter and missing entries, is known to its stream
    alone, and is emptied when the mechanism has returned or raised. No name by which something is kept is the same for
    two calls: engines are asked as for any other pass.
    [kept_rows.3] How many bytes a row has is public, by its type and width. The number of rows is known before any is
    kept. What does not fit is not kept: each pass then reads the table. Which way it goes decides on no digit, by
    [kept_rows.1]: as the length of a table, it may be private.

Not kept: a single column, which is decoded as fast as it is fetched (docs/engines.md); rows of people, whose buckets
are there already; and rows that an engine cannot keep.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import numpy as np

from discreet.errors import DiscreetError
from discreet.tables.frames import guarded
from discreet.tables.piece_questions import PieceQuestion
from discreet.tables.placed import Placed, both, opened
from discreet.tables.streams import Kernel, Merge, Pointwise, R, Stream, length

FLOAT: Final = 8  # bytes


def kept(rows: Any, wide: int) -> Any:
    """The same rows, of `wide` bytes each as they are now: a stream of them kept where they are. [kept_rows.1]"""
    if not isinstance(rows, Stream) or rows.keep is None:
        return rows
    found = rows.keep(partial(_as_kind, rows.kind), wide * len(rows))
    if found is None:
        return rows
    remote, keep = found
    there: dict[str, Any] = {"remote": remote, "keep": keep, "glance": rows.glance, "gather": rows.gather}
    return Stream(len(rows), rows.__iter__, kind=rows.kind, **there)


def let_go(rows: Stream) -> None:
    """Of all that was kept for the question of these rows. [kept_rows.2]"""
    if isinstance(rows.keep, Keeper):
        rows.keep.drop()


@dataclass(slots=True)
class Keeper:
    """What is kept for one question, and for how many more bytes there is room."""

    source: Placed
    question: PieceQuestion
    error: DiscreetError
    room: int = 0
    held: list[Any] = field(default_factory=list)

    @classmethod
    def of(cls, source: Placed, question: PieceQuestion, error: DiscreetError) -> "Keeper | None":
        """Of a table on an engine that can keep."""
        room = getattr(source.engine, "room", 0) if hasattr(source.engine, "keep") else 0
        return cls(source, question, error, room) if room else None

    def __call__(self, function: Pointwise, size: int) -> Any:
        """A fold over what a function makes of the rows of each piece, and what keeps more of that. [kept_rows.1]"""
        question, source = self.question, self.source
        work = partial(_made, question=question, function=function, written=dict(source.written))
        return self._kept(work, lambda: source.parts(question.reads), size)

    def _kept(self, work: Callable[[Any], Any], parts: Callable[[], Any], size: int) -> Any:
        if size > self.room:  # [kept_rows.3]
            return None
        engine: Any = self.source.engine
        there = guarded(lambda: engine.keep(work, parts()), self.error)
        if there is None:
            return None
        self.held.append(there)  # [kept_rows.2]
        self.room -= size  # [kept_rows.3]

        def fold(kernel: Kernel[R], merge: Merge[R]) -> R:
            return guarded(lambda: self._folded(there, kernel, merge), self.error)

        return fold, lambda function, more: self._kept(partial(_again, function=function), lambda: there, more)

    def _folded(self, there: Any, kernel: Kernel[R], merge: Merge[R]) -> R:
        found = self.source.engine.fold(partial(_worked, kernel), partial(both, merge), there)
        seen, result = (0, kernel(iter(()))) if found is None else found
        self.source.check(seen)  # [kept_rows.1]
        return result

    def drop(self) -> None:
        """Let go of all of it. [kept_rows.2]"""
        engine: Any = self.source.engine
        while self.held:
            engine.drop(self.held.pop())


def _as_kind(kind: type, piece: Any) -> Any:
    return piece if kind is dict else np.ascontiguousarray(piece, dtype=kind)


def _made(part: Any, *, question: PieceQuestion, function: Pointwise, written: Mapping[str, str]) -> Any:
    """On a worker: how many rows a part of the table has, and what is kept of each piece."""
    seen, pieces = 0, []
    for columns in opened(part, question.reads, written):
        seen += length(columns)
        pieces.append(function(question.named(columns)))
    return seen, pieces


def _again(part: Any, *, function: Pointwise) -> Any:
    """On a worker: the same of what is kept already."""
    ((seen, pieces),) = part.read()
    return seen, [function(piece) for piece in pieces]


def _worked(kernel: Kernel[R], part: Any) -> tuple[int, R]:
    ((seen, pieces),) = part.read()
    return seen, kernel(iter(pieces))
