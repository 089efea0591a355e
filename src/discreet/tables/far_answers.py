"""What a question asks of each piece of a table, answered by an engine where the pieces are."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from discreet.errors import DiscreetError
from discreet.tables.cells import Column
from discreet.tables.far_exchange import as_it_is
from discreet.tables.frames import guarded
from discreet.tables.kept_rows import Keeper
from discreet.tables.piece_questions import PieceQuestion
from discreet.tables.placed import Placed
from discreet.tables.streams import Merge, Number, R, Stream, added, length

Answer = dict[str, Any]  # the columns that are wanted, by name, of the rows of a piece that are kept


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

    def some(self, wanted: int) -> Answer:
        """A few rows, to guess by; none where parts cannot be told apart."""
        kernel = partial(_answered, self.question, partial(_first, wanted=wanted))
        found = guarded(lambda: self.source.some(kernel, self.question.reads), self.error)
        return self.question.empty if found is None else found

    def rows(self) -> Stream:
        """Them as rows of columns by name, folded where they are. [placed.1]"""
        many = self.fold(_count, added) if self.question.filters else guarded(self.source.size, self.error) or 0
        there: dict[str, Any] = {"remote": self.fold, "glance": self.some, "gather": self.gathered}
        there["keep"] = Keeper.of(self.source, self.question, self.error)
        return Stream(many, lambda: iter(self.brought(as_it_is)), kind=dict, **there)

    def gathered(self, work: Callable[[Number, Answer], Any]) -> list[Any]:
        """What `work` makes of each answer and its number, in the order of part and place. [placed.1]"""
        found = partial(_one_numbered, self.question, work)
        return guarded(lambda: self.source.numbered(found, self.question.reads), self.error)

    def brought(self, work: Callable[[Answer], Answer]) -> list[Answer]:
        """The rows that `work` leaves of each answer, brought here, in the order of part and place."""
        found = partial(_one_answered, self.question, work)
        return guarded(lambda: self.source.worked(found, self.question.reads), self.error)


def _answered(
    question: PieceQuestion, kernel: Callable[[Iterator[Answer]], R], given: Iterator[Mapping[str, Column]]
) -> R:
    return kernel(question.named(columns) for columns in given)


def _one_answered(question: PieceQuestion, work: Callable[[Answer], R], columns: Mapping[str, Column]) -> R:
    return work(question.named(columns))


def _one_numbered(
    question: PieceQuestion, work: Callable[[Number, Answer], R], number: Number, columns: Mapping[str, Column]
) -> R:
    return work(number, question.named(columns))


def _first(given: Iterator[Answer], *, wanted: int) -> Answer | None:
    """On a worker: a few rows from the beginning."""
    found = next((answer for answer in given if length(answer)), None)
    return None if found is None else {name: values[:wanted] for name, values in found.items()}


def _count(given: Iterator[Answer]) -> int:
    return sum(map(length, given))
