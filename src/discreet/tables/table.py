"""A table of people's rows: what may be asked of it before the budget is spent, and its columns afterwards.

Promise
    [table.1] Each row that `columns` gives is a function of one row of the table and of public arguments; with
          `person=` of all rows of that person, in their order. Replacing a person's rows, without changing who is
          where, changes one row of the answer, whatever the values are, or leaves it out, or adds one; none raises or
          warns.
    [table.2] A stream gives, each time, the same entries as the array would, and holds at most CACHE of them.

Why
    Entries become values one by one [cells.1]; the rows of a person are folded into one by themselves [per_person.1],
    the columns of a filter too; then rows pass the filter [where.1] and "drop", which look at one row each. What is
    refused is decided by names, declared kinds and the public arguments, before the first row is read. The work on each
    piece is that of piece_questions.py.
"""

import hashlib
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput, printable
from discreet.privacy.declaration import Kind
from discreet.tables.apart import Apart, FarPeople, one_row_each, parts_of
from discreet.tables.arranging import drops, present
from discreet.tables.cells import Column, Floats, owner_names, owners
from discreet.tables.dates import READERS
from discreet.tables.far_answers import FarAnswers
from discreet.tables.far_exchange import exchanges
from discreet.tables.frames import Again, Held, Piece, Source, guarded, in_order, with_kind
from discreet.tables.per_person import Rules
from discreet.tables.piece_questions import PieceQuestion
from discreet.tables.piece_threads import Calls, nothing
from discreet.tables.placed import Placed
from discreet.tables.streams import Stream, column_of, each
from discreet.tables.wanted import Want, known
from discreet.tables.where import Where

T = TypeVar("T")
HELD: Final = 2**25  # rows: a longer column is streamed
CACHE: Final = 2**26  # entries that a stream may hold
NO_RULES: Final = Rules()
OWNER: Final = ""  # the name under which the ids of the owners are given


class Table:
    """A table that is read when it must be, and only as far."""

    def __init__(
        self,
        source: Source,
        kinds: Mapping[str, Kind],
        place: str | None = None,
        *,
        of_texts: bool = False,
        unit: str | None = None,
        complete: frozenset[str] = frozenset(),
    ) -> None:
        self._source = source
        self.names = source.names
        self.kinds: Mapping[str, Kind] = MappingProxyType(dict(kinds))  # what each column is declared to hold
        self.description = source.description  # format and names, for provenance; no folder
        self.ordered = source.ordered  # whether a row keeps its place when its values change
        self.steady: bool = getattr(getattr(source, "inner", source), "steady", True)  # the order of its rows
        self.of_texts = of_texts  # whether the cells of a column of unknown kind are texts
        self.unit = unit  # what a row is, where the table knows: a person, if rows were joined
        self.complete = complete  # columns that never have a missing entry, whatever the rows are
        self._place = os.urandom(16).hex() if place is None else place  # in memory it is nowhere else
        self._size: int | None = None

    def __repr__(self) -> str:
        return printable(f"<{self.description}: {', '.join(self.names[:20])}>")

    @cached_property
    def identity(self) -> str:
        """What tells this table from others: a digest of where it is and of what it declares, of nothing it holds."""
        return hashlib.sha256(json.dumps([self._place, self.description, dict(self.kinds)]).encode()).hexdigest()

    @property
    def quickest(self) -> Want:
        """A column that tells how many rows there are: of numbers, if there is one, as these are read soonest."""
        plain = getattr(self._source, "plain", frozenset[str]())
        numbers = (name for name in self.names if name in plain or self.kinds[name] in ("number", "integer"))
        found = next(numbers, None)
        return Want(self.names[0], "category") if found is None else Want(found, "number")

    def size(self) -> int:
        """The number of rows: from the table's own records where it keeps them, else counted once."""
        if self._size is None:
            known = guarded(self._source.size, self._unreadable())
            if known is None:
                known = sum(in_order(self._source.pieces(self.names[:1]), _length, self._unreadable()))
            self._size = known
        return self._size

    def people(self, person: str | None) -> int:
        """How many different people there are; rows without an id are nobody's."""
        if person is None:
            return self.size()
        question = self.check((), owner=person)
        apart, parts = self._apart(question)
        if apart is not None:
            return apart.people()  # [apart.1]
        return owners(self._gathered(question, parts)[1], self.kinds[person])[1]

    def public_people(self, person: str | None) -> int:
        """The same, where it is public: an empty table is refused."""
        if not (size := self.people(person)):
            raise BadInput("the table is empty; a statistic needs at least 1 row")
        return size

    def suggested_types(self) -> dict[str, str]:
        """What the first rows of a text file suggest for `types=`: data, for their owner alone."""
        source: Any = getattr(self._source, "inner", self._source)
        return guarded(source.suggested, self._unreadable()) if self.of_texts else {}

    def columns(
        self,
        wants: Sequence[Want],
        *,
        where: Where | None = None,
        person: str | None = None,
        owner: str | None = None,
        rules: Rules = NO_RULES,
    ) -> dict[str, npt.NDArray[Any] | Stream]:
        """The columns wanted, in that order, of the rows that `where` and entries missing in a column of "drop" leave.

        `person` makes the rows of a person one, in order of first appearance, before any row is left out: `where` is
        about people, whose columns are made by `rules`. `owner` keeps all rows and adds the id of each one's person as
        "". Both leave out rows without a person. One column of numbers or truths, of more than HELD rows, is a stream.
        """
        question = self.check(wants, where=where, person=person, owner=owner, rules=rules)
        alone = len(wants) == 1 and question.owner is None
        if alone and (wants[0].kind != "category" or isinstance(self._source, Placed)):
            return {wants[0].name: self._alone(question)}
        apart, parts = self._apart(question) if person is not None else (None, None)
        if apart is not None:
            return {**apart.one_row_each()}  # [apart.1]
        found, ids = self._gathered(question, parts)
        if question.owner is None:
            return dict(zip((want.name for want in wants), found, strict=True))
        if person is None:
            names, there = owner_names(ids, self.kinds[question.owner])
            called = [*(want.name for want in wants), OWNER]
            return dict(zip(called, [values[there] for values in (*found, names)], strict=True))
        return {**one_row_each(question, found, ids)}

    def apart(self, wants: Sequence[Want], *, where: Where | None = None, owner: str | None = None) -> Apart | None:
        """All rows of all people, as `columns` with `owner` gives them, to be read some people at a time; None if they
        are few enough to be held."""
        return self._apart(self.check(wants, where=where, owner=owner))[0]

    def _apart(self, question: PieceQuestion) -> tuple[Apart | None, Iterator[Piece] | None]:
        """All rows, to be worked through bucket by bucket if they are many, or elsewhere; else their pieces."""
        if exchanges(self._source):
            return Apart(question, lambda: iter(()), self._unreadable(), far=self._source), None  # type: ignore[arg-type]

        def parts() -> tuple[bool, Iterator[Piece]]:
            return parts_of(self._narrowed(question), question.reads, self._unreadable())

        large, begun = parts()
        if not large:
            return None, begun
        given = [begun]  # what was begun is not begun again

        def again() -> Iterator[Piece]:
            return given.pop() if given else parts()[1]

        return Apart(question, again, self._unreadable()), None

    def rows(self, wants: Sequence[Want], **asked: Any) -> Stream | None:
        """The same columns by name as a stream of rows, folded where they are; None for a table that is read here."""
        far = self.afar(wants, **asked)
        return None if far is None else far.rows()

    def afar(
        self,
        wants: Sequence[Want],
        *,
        where: Where | None = None,
        person: str | None = None,
        rules: Rules = NO_RULES,
    ) -> FarAnswers | FarPeople | None:
        """The rows that `columns` would give, where they are; None for a table that is read here."""
        question = self.check(wants, where=where, person=person, rules=rules)
        if not isinstance(self._source, Placed):
            return None
        if person is None:
            return FarAnswers(self._source, question, self._unreadable())
        apart = self._apart(question)[0] if exchanges(self._source) else None
        return None if apart is None else apart.people_there()  # [apart.1]

    def check(
        self,
        wants: Sequence[Want],
        *,
        where: Where | None = None,
        person: str | None = None,
        owner: str | None = None,
        rules: Rules = NO_RULES,
    ) -> PieceQuestion:
        """Refuse what `columns` would refuse, by the schema alone: nothing is read."""
        if person is not None and owner is not None:
            raise BadInput("person= makes one row of a person's, owner= keeps all; give one of them")
        whose = person if owner is None else owner
        names = [want.name for want in wants]
        if len(set(names)) < len(names):
            raise BadInput("a column is wanted twice; ask for each once")
        if not names and whose is None:
            raise BadInput("no column is wanted; name at least one")
        reads: dict[str, None] = {}
        for want in wants:
            condition = Where.parse(want.name) if want.kind == "where" else None
            if condition is not None:
                condition.check(self.kinds)
            reads |= dict.fromkeys([want.name] if condition is None else condition.columns)
        reads |= {} if whose is None else {whose: None}
        for name in reads:
            if name not in self.kinds:
                seen = ", ".join(map(repr, self.names[:20])) + (" and others" if len(self.names) > 20 else "")
                raise BadInput(f"there is no column {name!r}; the table has {seen}")
        for want in wants:
            if want.kind in READERS and want.equals is None and self.kinds[want.name] not in ("number", "unknown"):
                READERS[want.kind](np.empty(0), self.kinds[want.name], want.name)
        if where is not None:
            where.check(self.kinds)
            reads |= dict.fromkeys(where.columns)
        fold = None if person is None else rules
        return PieceQuestion(tuple(wants), where, whose, dict(self.kinds), tuple(reads), fold, self.steady)

    def _unreadable(self) -> BadInput:
        return BadInput(f"{self.description} cannot be read to its end; was it changed or cut short? open it again")

    def in_pieces(self, columns: Sequence[str], work: Callable[[Mapping[str, Column]], T]) -> Iterator[T]:
        """What `work` makes of each piece of these columns, in order."""
        return in_order(self._source.pieces(columns), work, self._unreadable())

    def held(self) -> Held:
        """All columns in memory, for a function: every one carries its declared kind."""
        pieces = [*self.in_pieces(self.names, dict)]
        whole = {name: with_kind([piece[name] for piece in pieces], self.kinds[name]) for name in self.names}
        return Held(whole, kinds=self.kinds, length=self.size(), description=self.description)

    def __getitem__(self, name: str) -> Any:
        """One column in memory, for a function."""
        return self.held().held[known(self, name)]

    def _narrowed(self, question: PieceQuestion) -> Source:
        """The table, without some of the rows that the filter leaves out where a database can. [pushed.1]"""
        narrowed = getattr(self._source, "narrowed", None)
        if narrowed is None or question.where is None or question.fold is not None:
            return self._source
        found: Source = narrowed(question.where.tree, self.kinds)
        return found

    def _answers(self, question: PieceQuestion, skip: int = 0) -> Iterator[list[Any]]:
        """Piece by piece, from some piece on."""
        if isinstance(self._source, Placed):
            given = self._source
            return iter(guarded(lambda: given.worked(question.answer, question.reads), self._unreadable()))
        pieces = self._narrowed(question).pieces(question.reads)
        for _ in range(skip):
            guarded(lambda: next(pieces, None), self._unreadable())
        return in_order(pieces, question.answer, self._unreadable())  # [table.1]

    def _gathered(
        self, question: PieceQuestion, parts: Iterator[Piece] | None = None
    ) -> tuple[list[npt.NDArray[Any]], list[Column]]:
        """All pieces: the values joined, the ids as they came."""
        working = self._answers(question) if parts is None else in_order(parts, question.answer, self._unreadable())
        answers = list(working)
        wants = question.wants
        whose = question.owner is not None
        if len(answers) == 1:
            return (answers[0][:-1], answers[0][-1:]) if whose else (answers[0], [])
        plain = [want for want in wants if want.kind != "where" or question.fold is None]
        kinds = [np.dtype(object) if want.kind == "category" else np.dtype(np.float64) for want in plain]
        kinds += [np.dtype(np.float64)] * (len(question.tests) if question.fold is not None else 0)
        if not answers:
            return [np.empty(0, dtype=kind) for kind in kinds], []
        found = [
            np.concatenate([answer[place] for answer in answers]).astype(kind, copy=False)
            for place, kind in enumerate(kinds)
        ]
        return found, [answer[-1] for answer in answers] if whose else []

    def _alone(self, question: PieceQuestion) -> Floats | Stream:
        """One column of floats: an array while it is short, else a stream whose first pieces are held. [table.2]"""
        if isinstance(self._source, Placed):
            kind = object if question.wants[0].kind == "category" else np.float64
            far = FarAnswers(self._source, question, self._unreadable())
            column: Stream = column_of(far.rows(), question.wants[0].name, kind)
            return column
        if set(question.reads) <= getattr(self._source, "plain", frozenset()):
            return self._held_alone(question)
        held: list[Floats] = []
        length, holding = 0, 0
        known = None if question.filters else guarded(self._source.size, self._unreadable())
        if known is not None and known <= HELD:
            return self._filled(question, known)
        if known is None:
            room = np.empty(0)  # where the pieces go at once, if it is told how many there may be
            most = getattr(getattr(self._source, "inner", self._source), "most", None)
            for (piece,) in self._answers(question):
                if not length and most is not None:
                    room = np.empty(min(most(len(piece)), HELD))
                if length == holding and length + len(piece) <= max(HELD, CACHE):
                    put = room[length : length + len(piece)]
                    if len(put) == len(piece):
                        put[:] = piece
                    held.append(put if len(put) == len(piece) else piece)
                    holding += len(piece)
                length += len(piece)
            if length <= len(room):
                return room[:length]
            if length <= HELD:
                return np.concatenate(held) if held else np.empty(0)
        length = length if known is None else known
        lengths = self._source.lengths() if known is not None and hasattr(self._source, "lengths") else None
        part = None if lengths is None else partial(self._part, question, lengths)
        if hasattr(self._source, "lengths"):  # such files are decoded as fast as memory is had
            calls: Any = partial(self._calls, question)
            return Stream(length, Again(partial(self._answers, question), held, length, 0), part, calls=calls)
        return Stream(length, Again(partial(self._answers, question), held, length, CACHE), part)

    def _calls(self, question: PieceQuestion) -> Calls:
        """The same pieces, each to be read by the thread that takes it. [table.2]"""
        pieces, error = self._narrowed(question).pieces(question.reads), self._unreadable()

        def read(piece: Piece) -> Floats:
            values: Floats = guarded(lambda: question.answer(piece()), error)[0]
            return values

        given = iter(lambda: guarded(lambda: next(pieces, None), error), None)
        return (partial(read, piece) for piece in given if piece is not None), nothing

    def _part(self, question: PieceQuestion, lengths: list[int], start: int, stop: int) -> Floats:
        """Some entries by place: only the pieces that hold them are read. [table.2]"""
        found, before = [np.empty(0)], 0
        for piece, length in zip(self._source.pieces(question.reads), lengths, strict=True):
            first, last = max(start - before, 0), min(stop - before, length)
            if first < last:
                (values,) = guarded(lambda piece=piece: question.answer(piece()), self._unreadable())  # type: ignore[misc]
                found.append(values[first:last])
            before += length
        return np.concatenate(found)

    def _held_alone(self, question: PieceQuestion) -> Floats | Stream:
        """A column that the caller holds: no copy unless entries are left out; a stream stays one. [table.2]"""
        (want,) = question.wants
        given = self._source.held.get(want.name)  # type: ignore[attr-defined]
        if not isinstance(given, Stream):
            values: Floats = question.answer(self._source.held)[0]  # type: ignore[attr-defined]
            return values
        if want.equals is not None:
            given = each(lambda piece: np.where(np.isnan(piece), math.nan, piece == want.equals), given)
        if not drops(want) and want.missing != "keep":
            given = each(lambda piece: np.where(np.isnan(piece), want.missing, piece), given)
        kept: Stream = present({want.name: given}, [want])[0][want.name]
        return kept

    def _filled(self, question: PieceQuestion, length: int) -> Floats:
        """A column whose length is known: each piece is let go when it is copied."""
        found, given = np.empty(length), 0
        for (piece,) in self._answers(question):
            if given + len(piece) > length:
                raise self._unreadable()
            found[given : given + len(piece)] = piece
            given += len(piece)
        if given < length:
            raise self._unreadable()
        return found


def _length(columns: Mapping[str, Column]) -> int:
    return len(next(iter(columns.values())))
