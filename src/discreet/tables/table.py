"""A table of people's rows: what may be asked of it before the budget is spent, and its columns afterwards.

Promise
    [table.1] Each row that `columns` gives is a function of one row of the table and of public arguments; with
          `person=` of all rows of that person, in their order. Replacing a person's rows, without changing who is
          where, changes one row of the answer, whatever the values are; none raises or warns.
    [table.2] A stream gives, each time, the same entries as the array would, and holds at most CACHE of them.

Why
    Rows pass a filter [where.1] and "drop", which look at one row each; entries become values one by one [cells.1]; the
    rows of a person are folded into one by themselves [per_person.1]. What is refused is decided by names, declared
    kinds and the public arguments, before the first row is read.
"""

import datetime
import hashlib
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput, printable
from discreet.privacy.declaration import Kind
from discreet.privacy.exact import is_number
from discreet.tables import entries as rows
from discreet.tables.arrow import is_arrow, pa
from discreet.tables.cells import READERS, Codes, Column, Floats, keys, owners
from discreet.tables.per_person import CAPPED, OF_KEYS, RULES, Rule, one_each, turns
from discreet.tables.source import Source, guarded, in_order
from discreet.tables.where import Where

HELD: Final = 2**25  # rows: a longer column is streamed
CACHE: Final = 2**26  # entries that a stream may hold
Missing: TypeAlias = Any  # "keep", "drop", or a public text, number or date that stands in
OWN: Final = "\0"  # begins the name of a column that a caller gave as an array: it is nobody's name for it
OWNER: Final = ""  # the name under which the codes of the owners are given


@dataclass(frozen=True)
class Want:
    """A column as it is wanted.

    `missing` is "keep", "drop" (such rows are left out) or a public value that stands in. `rule` makes several rows of
    a person one; "sum" and "count" need a `cap`, the largest number of a person's rows that is taken, the first ones.
    Of kind "where" the name is a condition, and the entries are 1 where it holds, else 0.
    """

    name: str
    kind: Literal["number", "boolean", "category", "where"]
    _: KW_ONLY
    missing: Missing = "keep"
    rule: Rule = "first"
    cap: int | None = None

    def __post_init__(self) -> None:
        name = self.name.removeprefix(OWN)
        if self.kind not in ("number", "boolean", "category", "where"):
            raise BadInput(f"column {name!r} is wanted as {self.kind!r}; give 'number', 'boolean' or 'category'")
        if self.rule not in RULES:
            raise BadInput(f"per_person for {name!r} is {self.rule!r}; give one of {', '.join(RULES)}")
        if self.kind == "category" and self.rule not in OF_KEYS:
            raise BadInput(f"per_person={self.rule!r} is for numbers; for {name!r} give one of {', '.join(OF_KEYS)}")
        whole = isinstance(self.cap, int) and not isinstance(self.cap, bool) and self.cap >= 1
        if self.cap is not None and not whole:
            raise BadInput(f"max_rows for {name!r} is {self.cap!r}; give a whole number of at least 1")
        if self.cap is None and self.rule in CAPPED:
            raise BadInput(
                f"per_person={self.rule!r} for {name!r} needs max_rows=, how many rows of a person count at most"
            )
        if isinstance(self.missing, str) and self.missing in ("keep", "drop"):
            return
        number = isinstance(self.missing, bool) or is_number(self.missing)
        named = self.kind == "category" and isinstance(self.missing, str | datetime.date)
        if not number and not named:  # several might fit or not, by how many are missing
            needed = "a date, a text or a number" if self.kind == "category" else "a finite number"
            raise BadInput(f"missing for {name!r} is {self.missing!r}; give 'keep', 'drop' or {needed}")


class _Cells:
    """The columns of one piece, each read once in each way."""

    def __init__(self, columns: Mapping[str, Column], kinds: Mapping[str, Kind]) -> None:
        self.columns, self.kinds = columns, kinds
        self.known: dict[tuple[str, str], Any] = {}

    def floats(self, name: str, reading: Literal["number", "boolean"]) -> Floats:
        if (name, reading) not in self.known:
            self.known[name, reading] = READERS[reading](self.columns[name], self.kinds[name], name)
        found: Floats = self.known[name, reading]
        return found

    def keys(self, name: str) -> tuple[Codes, npt.NDArray[Any]]:
        if (name, "category") not in self.known:
            self.known[name, "category"] = keys(self.columns[name], self.kinds[name])
        found: tuple[Codes, npt.NDArray[Any]] = self.known[name, "category"]
        return found


@dataclass(frozen=True)
class _Question:
    """What is asked of each piece."""

    wants: tuple[Want, ...]
    where: Where | None
    owner: str | None
    kinds: Mapping[str, Kind]

    @property
    def reads(self) -> list[str]:
        """The columns needed."""
        names = [name for want in self.wants for name in _reads(want)]
        names += self.where.columns if self.where else ()
        return list(dict.fromkeys([*names, *([self.owner] if self.owner is not None else [])]))

    @property
    def filters(self) -> bool:
        """Whether rows may be left out."""
        return self.where is not None or any(_drops(want) for want in self.wants)

    def answer(self, columns: Mapping[str, Column]) -> list[Any]:
        """The values wanted and the owners' ids, of the rows that are kept. [table.1]"""
        cells = _Cells(columns, self.kinds)
        kept = self.where.holds(cells) if self.where else None
        found = []
        for want in self.wants:
            values, absent = _read(cells, want)
            if _drops(want):
                present = ~absent()
                kept = present if kept is None else kept & present
            elif not (isinstance(want.missing, str) and want.missing == "keep"):
                values = values.copy()
                values[np.isnan(values) if values.ndim == 2 else absent()] = want.missing
            found.append(values)
        ids = [columns[self.owner]] if self.owner is not None else []
        if kept is None or kept.all():
            return [*found, *ids]
        return [
            *(values[kept] for values in found),
            *(column.filter(pa.array(kept)) if is_arrow(column) else column[kept] for column in ids),
        ]


def _reads(want: Want) -> tuple[str, ...]:
    return Where.parse(want.name).columns if want.kind == "where" else (want.name,)


def _drops(want: Want) -> bool:
    return isinstance(want.missing, str) and want.missing == "drop"


def _read(cells: _Cells, want: Want) -> tuple[npt.NDArray[Any], Callable[[], npt.NDArray[np.bool_]]]:
    """A column's values, and, if asked, where they are missing."""
    if want.kind == "where":
        held = Where.parse(want.name).holds(cells).astype(np.float64)
        return held, lambda: np.zeros(len(held), dtype=np.bool_)
    if want.kind != "category":
        floats = cells.floats(want.name, want.kind)
        return floats, lambda: _absent(floats)
    codes, values = cells.keys(want.name)
    return values[codes], lambda: np.array([value is None for value in values], dtype=np.bool_)[codes]


def _absent(floats: Floats) -> npt.NDArray[np.bool_]:
    missing: npt.NDArray[np.bool_] = np.isnan(floats)
    return missing if floats.ndim == 1 else np.asarray(missing.any(axis=1))


class Table:
    """A table that is read when it must be, and only as far."""

    def __init__(self, source: Source, kinds: Mapping[str, Kind], place: str | None = None) -> None:
        self._source, self._kinds = source, MappingProxyType(dict(kinds))
        self._place = os.urandom(16).hex() if place is None else place  # in memory it is nowhere else
        self._size: int | None = None

    def __repr__(self) -> str:
        return printable(f"<{self.description}: {', '.join(self.names[:20])}>")

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in order."""
        return self._source.names

    @property
    def kinds(self) -> Mapping[str, Kind]:
        """What each column is declared to hold."""
        return self._kinds

    @property
    def description(self) -> str:
        """Format and names, for provenance; no folder."""
        return self._source.description

    @property
    def identity(self) -> str:
        """What tells this table from others: a digest of where it is and of what it declares, of nothing it holds."""
        return hashlib.sha256(json.dumps([self._place, self.description, dict(self._kinds)]).encode()).hexdigest()

    @property
    def ordered(self) -> bool:
        """Whether a row keeps its place when its values change."""
        return self._source.ordered

    def size(self) -> int:
        """The number of rows: from the table's own records where it keeps them, else counted once."""
        if self._size is None:
            known = guarded(self._source.size, self._unreadable())
            if known is None:
                known = sum(in_order(self._source.pieces(self.names[:1]), _length, self._unreadable()))
            self._size = known
        return self._size

    def people(self, person: str) -> int:
        """How many different people there are; rows without an id are nobody's."""
        _, ids = self._gathered(self._question((), None, person))
        return owners(ids, self._kinds[person])[1]

    def whose(self, person: str, *, where: Where | None = None) -> Codes:
        """The code of the person of each row that is kept and has one."""
        codes: Codes = self.columns((), where=where, owner=person)[OWNER]  # type: ignore[assignment]
        return codes

    def columns(
        self,
        wants: Sequence[Want],
        *,
        where: Where | None = None,
        person: str | None = None,
        owner: str | None = None,
    ) -> dict[str, npt.NDArray[Any] | rows.Stream]:
        """The columns wanted, in that order.

        First `where` leaves rows out, then those whose entry is missing in a column of "drop". `person` makes the rows
        of a person one, in order of first appearance; `owner` keeps all rows and adds the code of each one's person
        under the name "". Both leave out rows without a person. One column of numbers or truths alone, of more than
        HELD rows, comes as a stream.
        """
        self.check(wants, where=where, person=person, owner=owner)
        question = self._question(wants, where, person if owner is None else owner)
        if len(wants) == 1 and wants[0].kind != "category" and question.owner is None:
            return {wants[0].name: self._alone(question)}
        found, ids = self._gathered(question)
        if question.owner is None:
            return dict(zip((want.name for want in wants), found, strict=True))
        codes, people = owners(ids, self._kinds[question.owner])
        present = codes >= 0
        if not present.all():
            codes, found = codes[present], [values[present] for values in found]
        if person is None:
            return {**dict(zip((want.name for want in wants), found, strict=True)), OWNER: codes}
        turn = turns(codes, people) if any(want.cap is not None for want in wants) else None
        return {
            want.name: one_each(values, codes, people, rule=want.rule, turn=turn, cap=want.cap)  # [table.1]
            for want, values in zip(wants, found, strict=True)
        }

    def check(
        self,
        wants: Sequence[Want],
        *,
        where: Where | None = None,
        person: str | None = None,
        owner: str | None = None,
    ) -> None:
        """Refuse what `columns` would refuse, by the schema alone: nothing is read."""
        if person is not None and owner is not None:
            raise BadInput("person= makes one row of a person's, owner= keeps all; give one of them")
        self._question(wants, where, person if owner is None else owner)

    def _question(self, wants: Sequence[Want], where: Where | None, owner: str | None) -> _Question:
        """Checked against the schema, before anything is read."""
        names = [want.name for want in wants]
        if len(set(names)) < len(names):
            raise BadInput("a column is wanted twice; ask for each once")
        if not names and owner is None:
            raise BadInput("no column is wanted; name at least one")
        for want in wants:
            if want.kind == "where":
                Where.parse(want.name).check(self._kinds)
        plain = [want.name for want in wants if want.kind != "where"]
        for name in [*plain, *([owner] if owner is not None else [])]:
            if name not in self._kinds:
                seen = ", ".join(map(repr, self.names[:20])) + (" and others" if len(self.names) > 20 else "")
                raise BadInput(f"there is no column {name!r}; the table has {seen}")
        for want in wants:
            if want.kind in READERS:
                READERS[want.kind](np.empty(0), self._kinds[want.name], want.name)
        if where is not None:
            where.check(self._kinds)
        return _Question(tuple(wants), where, owner, self._kinds)

    def _unreadable(self) -> BadInput:
        return BadInput(f"{self.description} cannot be read to its end; was it changed or cut short? open it again")

    def _answers(self, question: _Question, skip: int = 0) -> Iterator[list[Any]]:
        """Piece by piece, from some piece on."""
        pieces = self._source.pieces(question.reads)
        for _ in range(skip):
            guarded(lambda: next(pieces, None), self._unreadable())
        return in_order(pieces, question.answer, self._unreadable())

    def _gathered(self, question: _Question) -> tuple[list[npt.NDArray[Any]], list[Column]]:
        """All pieces: the values joined, the ids as they came."""
        answers = list(self._answers(question))
        wants = question.wants
        if len(answers) == 1:
            return answers[0][: len(wants)], answers[0][len(wants) :]
        kinds = [np.dtype(object) if want.kind == "category" else np.dtype(np.float64) for want in wants]
        if not answers:
            return [np.empty(0, dtype=kind) for kind in kinds], []
        found = [
            np.concatenate([answer[place] for answer in answers]).astype(kind, copy=False)
            for place, kind in enumerate(kinds)
        ]
        return found, [answer[-1] for answer in answers] if question.owner is not None else []

    def _alone(self, question: _Question) -> Floats | rows.Stream:
        """One column of floats: an array while it is short, else a stream whose first pieces are held. [table.2]"""
        if getattr(self._source, "whole", False):
            return self._held_alone(question)
        held: list[Floats] = []
        length, holding = 0, 0
        known = None if question.filters else guarded(self._source.size, self._unreadable())
        if known is not None and known <= HELD:
            return self._filled(question, known)
        if known is None:
            for (piece,) in self._answers(question):
                if length == holding and length + len(piece) <= max(HELD, CACHE):
                    held.append(piece)
                    holding += len(piece)
                length += len(piece)
            if length <= HELD:
                return np.concatenate(held) if held else np.empty(0)
        length = length if known is None else known
        lengths = self._source.lengths() if known is not None and hasattr(self._source, "lengths") else None
        part = None if lengths is None else _Part(self, question, lengths)
        return rows.Stream(length, _Again(self, question, held, length), part)

    def _held_alone(self, question: _Question) -> Floats | rows.Stream:
        """A column that the caller holds: no copy unless entries are left out; a stream stays one. [table.2]"""
        (want,) = question.wants
        given = self._source.held.get(want.name)  # type: ignore[attr-defined]
        if not isinstance(given, rows.Stream):
            values: Floats = next(self._answers(question))[0]
            return values
        if not _drops(want):
            return given if want.missing == "keep" else rows.each(lambda piece: _filled_in(piece, want.missing), given)
        present = sum(int(np.count_nonzero(~np.isnan(piece))) for piece in given)
        return rows.Stream(present, lambda: (piece[~np.isnan(piece)] for piece in given))

    def _filled(self, question: _Question, length: int) -> Floats:
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


@dataclass(frozen=True)
class _Part:
    """Some entries by place: only the pieces that hold them are read. [table.2]"""

    table: Table
    question: _Question
    lengths: list[int]

    def __call__(self, start: int, stop: int) -> Floats:
        found, before = [np.empty(0)], 0
        pieces = self.table._source.pieces(self.question.reads)  # noqa: SLF001
        for piece, length in zip(pieces, self.lengths, strict=True):
            first, last = max(start - before, 0), min(stop - before, length)
            if first < last:
                (values,) = guarded(lambda piece=piece: self.question.answer(piece()), self.table._unreadable())  # type: ignore[misc]  # noqa: SLF001
                found.append(values[first:last])
            before += length
        return np.concatenate(found)


class _Again:
    """The pieces of a stream: first those that are held, then those that are read again."""

    def __init__(self, table: Table, question: _Question, held: list[Floats], length: int) -> None:
        self.table, self.question, self.held, self.length = table, question, held, length

    def __call__(self) -> Iterator[Floats]:
        """From the beginning. A source that changed meanwhile is cut, or filled up with missing entries. [table.2]"""
        given = 0
        for piece in self._pieces():
            given += (more := min(len(piece), self.length - given))
            yield piece[:more]
        while given < self.length:
            given += (more := min(HELD, self.length - given))
            yield np.full(more, math.nan)

    def _pieces(self) -> Iterator[Floats]:
        begun = self.held[:]
        yield from begun
        held, holding = len(begun), sum(map(len, begun))
        room = 0 if hasattr(self.table._source, "lengths") else CACHE  # noqa: SLF001  decoded as fast as memory is had
        for (piece,) in self.table._answers(self.question, skip=held):  # noqa: SLF001
            if held == len(self.held) and holding + len(piece) <= room:
                self.held.append(piece)
                held, holding = held + 1, holding + len(piece)
            else:
                held = -1
            yield piece


def _filled_in(piece: Floats, missing: float) -> Floats:
    return np.where(np.isnan(piece), missing, piece)


def _length(columns: Mapping[str, Column]) -> int:
    return len(next(iter(columns.values())))
