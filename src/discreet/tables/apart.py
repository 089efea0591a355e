"""Tables of people with several rows that are too long to hold: worked through bucket by bucket, people whole.

Promise
    [apart.1] One row a person, the number of people, and the rows of a bucket are those of a table that is held: the
          same bits in the same order, whatever the table's length, the limit of memory and the number of buckets are.

Why
    [apart.1] A bucket is a table that holds all rows of its people, in their order ([exchange.1]), and what is made of
    a person's rows is a function of these alone ([per_person.1]). People are then put in the order of their first rows,
    as a table that is held lists them ([exchange.2]).

How long a table is decides which way it goes, and by [apart.1] nothing else: that may be private.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

from discreet.errors import DiscreetError
from discreet.tables.cells import Codes, Column, owners
from discreet.tables.exchange import ROW, Exchanged, exchange, new_key
from discreet.tables.far_exchange import FarExchanged, as_it_is, far_exchange
from discreet.tables.frames import Piece, Source, guarded, in_order
from discreet.tables.placed import Placed
from discreet.tables.streams import Kernel, Merge, R, Stream, added, length
from discreet.tables.wanted import Want

T = TypeVar("T")
AT_ONCE: Final = 2**22  # rows: people of a longer table are worked through bucket by bucket


def parts_of(source: Source, reads: Sequence[str], error: DiscreetError) -> tuple[bool, Iterator[Piece]]:
    """Whether the rows are too many to hold at once, and all of them, in pieces. What is in memory stays there."""
    pieces = source.pieces(reads)
    known = guarded(source.size, error)
    if known is not None:
        return known > AT_ONCE and not hasattr(getattr(source, "inner", source), "held"), pieces
    begun: list[Mapping[str, Column]] = []
    rows, coming = 0, in_order(pieces, _as_it_is, error)
    for columns in coming:
        begun.append(columns)
        rows += len(next(iter(columns.values())))
        if rows > AT_ONCE:
            break
    return rows > AT_ONCE, (_given(columns) for columns in chain(begun, coming))


def _as_it_is(columns: Mapping[str, Column]) -> Mapping[str, Column]:
    return columns


def _given(columns: Mapping[str, Column]) -> Piece:
    return lambda: columns


@dataclass(frozen=True, slots=True)
class Apart:
    """The rows that a question is about, to be brought together by person."""

    question: Any  # of tables/table.py: what is asked of each piece
    parts: Callable[[], Iterator[Piece]]
    error: DiscreetError
    far: Placed | None = None  # where they are, if an engine brings them together there

    def exchanged(self, key: bytes | None = None, **how: Any) -> Exchanged | FarExchanged:
        """In buckets of whole people; without a key, for what does not depend on it."""
        far = self.far
        if far is not None:
            return guarded(lambda: far_exchange(far, self.question, key or new_key(), **how), self.error)
        kind = self.question.kinds[self.question.owner]
        return exchange(self.parts(), self.question.owner, kind, key=key or new_key(), error=self.error, **how)

    def people(self) -> int:
        """How many there are. [apart.1]"""
        return sum(self.each(self.exchanged(), partial(_people, self.question)))

    def each(self, done: Exchanged | FarExchanged, work: Callable[[Any], T]) -> Iterator[T]:
        """What `work` makes of each bucket, where it is, by number."""
        if isinstance(done, FarExchanged):
            return iter(guarded(lambda: done.each(work), self.error))
        return in_order(done.buckets(), work, self.error)

    def one_row_each(self) -> dict[str, npt.NDArray[Any]]:
        """One row a person, people in the order of their first rows. [apart.1]"""
        numbered = with_numbers(self.question, ROW)
        return _whole(list(self.each(self.exchanged(), partial(_bucket_rows, numbered))))

    def people_there(self) -> "FarPeople":
        """One row a person, made and kept where the buckets are. [apart.1]"""
        made = partial(_bucket_rows, with_numbers(self.question, ROW))
        return FarPeople(self.exchanged(then=made), self.error)  # type: ignore[arg-type]

    def owned(self, columns: Mapping[str, Column]) -> tuple[list[npt.NDArray[Any]], Codes]:
        """The rows of a bucket that are asked for, and the number of each one's person in the bucket."""
        *found, ids = self.question.answer(columns)
        return found, owners([ids], self.question.kinds[self.question.owner])[0]


@dataclass(frozen=True, slots=True)
class FarPeople:
    """The columns of one row a person in buckets on an engine, each with the number of its person's first row as ROW:
    asked as the answers of the pieces of a table are."""

    done: FarExchanged
    error: DiscreetError

    def fold(self, kernel: Kernel[R], merge: Merge[R]) -> R:
        """The kernel of the people of every bucket, merged in any order. [apart.1]"""
        return guarded(lambda: self.done.fold(partial(_alone, kernel), merge), self.error)

    def rows(self) -> Stream:
        """Them as rows of columns by name, folded where they are."""
        return Stream(self.fold(_count, added), lambda: iter(self.brought(as_it_is)), remote=self.fold, kind=dict)

    def brought(self, work: Callable[[Any], Any]) -> list[Any]:
        """The people whom `work` leaves of each bucket, brought here, in the order of their first rows. [apart.1]"""
        return [_whole(guarded(lambda: self.done.each(work), self.error))]


def with_numbers(question: Any, name: str) -> Any:
    """The same question, with a column of ours beside those that are wanted."""
    return replace(question, wants=(*question.wants, Want(name, "number")), kinds={**question.kinds, name: "number"})


def _bucket_rows(question: Any, columns: Mapping[str, Column]) -> dict[str, npt.NDArray[Any]]:
    *found, ids = question.answer(columns)
    return one_row_each(question, found, [ids])


def one_row_each(question: Any, found: list[npt.NDArray[Any]], ids: Sequence[Column]) -> dict[str, npt.NDArray[Any]]:
    """One row for each person of these rows, in the order of first appearance; rows without a person are left out."""
    codes, people = owners(ids, question.kinds[question.owner])
    present = codes >= 0
    if not present.all():
        codes, found = codes[present], [values[present] for values in found]
    rows: dict[str, npt.NDArray[Any]] = question.folded(found, codes, people)
    return rows


def _whole(found: list[dict[str, npt.NDArray[Any]]]) -> dict[str, npt.NDArray[Any]]:
    """People of all buckets, in the order of their first rows."""
    first = np.concatenate([rows.pop(ROW) for rows in found])
    place = np.empty(len(first), dtype=np.int64)
    place[np.argsort(first)] = np.arange(len(first))
    del first
    return {name: _placed([rows.pop(name) for rows in found], place) for name in list(found[0])}


def _people(question: Any, columns: Mapping[str, Column]) -> int:
    return owners([columns[question.owner]], question.kinds[question.owner])[1] if columns else 0


def _alone(kernel: Kernel[R], rows: Mapping[str, npt.NDArray[Any]]) -> R:
    return kernel(iter([rows]))


def _count(given: Iterator[Mapping[str, npt.NDArray[Any]]]) -> int:
    return sum(map(length, given))


def _placed(parts: list[npt.NDArray[Any]], place: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
    """The entries of all buckets, each at its place; a bucket is let go when it is copied."""
    whole, done = np.empty(len(place), dtype=parts[0].dtype), 0
    parts.reverse()
    while parts:
        part = parts.pop()
        whole[place[done : done + len(part)]] = part
        done += len(part)
    return whole
