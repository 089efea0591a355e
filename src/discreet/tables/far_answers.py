"""What a question asks of each piece of a table, answered by an engine where the pieces are."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from discreet.errors import DiscreetError
from discreet.tables.cells import Column
from discreet.tables.frames import guarded
from discreet.tables.piece_questions import PieceQuestion
from discreet.tables.placed import Placed
from discreet.tables.streams import Merge, R

Answer = list[Any]  # the columns that are wanted, of the rows of a piece that are kept


@dataclass(frozen=True, slots=True)
class FarAnswers:
    """The answers of all pieces of a table: every one exactly once, or one fixed sentence. [placed.1]"""

    source: Placed
    question: PieceQuestion
    error: DiscreetError

    def fold(self, kernel: Callable[[Iterator[Answer]], R], merge: Merge[R]) -> R:
        """The kernel of the answers of every part, merged in any order."""
        work = partial(_answered, self.question, kernel)
        return guarded(lambda: self.source.fold(work, merge, self.question.reads), self.error)

    def each(self, work: Callable[[Answer], R]) -> list[R]:
        """What `work` makes of each answer, there, in the order of part and place."""
        found = partial(_one_answered, self.question, work)
        return guarded(lambda: self.source.worked(found, self.question.reads), self.error)


def _answered(
    question: PieceQuestion, kernel: Callable[[Iterator[Answer]], R], given: Iterator[Mapping[str, Column]]
) -> R:
    return kernel(question.answer(columns) for columns in given)


def _one_answered(question: PieceQuestion, work: Callable[[Answer], R], columns: Mapping[str, Column]) -> R:
    return work(question.answer(columns))
