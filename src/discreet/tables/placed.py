"""A table whose parts an engine works on, where they are.

Promise
    [placed.1] `fold` and `worked` give what reading all parts here, in order, would give: every part is in them exactly
          once, or they raise BadInput with a fixed sentence. The rows that were read are counted: their number must be
          that of the table.
Why
    [placed.1] By [retried.1] of the engine, and [streams.1]. What `worked` collects is put in the order of part and
    place, whatever came first.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from typing import Any, Final, TypeVar

from discreet.errors import BadInput
from discreet.privacy.declaration import Kind
from discreet.tables.cells import Column
from discreet.tables.frames import Piece, from_frame
from discreet.tables.streams import CHANGED, Engine, Merge, Number, Part
from discreet.tables.written import rewritten

R = TypeVar("R")
Columns = Mapping[str, Column]
FEW: Final = 8  # parts that are held here at a time


@dataclass(frozen=True)
class Afar:
    """A part of a file or of several, which is opened where it is worked on."""

    number: int
    opens: Callable[[], Iterator[Columns]]

    def read(self) -> Iterator[Columns]:
        """Its rows, in order."""
        return self.opens()


@dataclass(frozen=True)
class Placed:
    """A table that is read in parts by an engine. `parts` gives those of some columns; `counts` the number of rows."""

    engine: Engine
    parts: Callable[[Sequence[str]], Any]
    counts: Callable[[], int | None]
    _: KW_ONLY
    names: tuple[str, ...]
    kinds: Mapping[str, Kind]
    description: str
    ordered: bool = False
    steady: bool = True  # whether rows of the same part come in the same order whenever they are read
    here: Any = None  # the same table, where it can be read here too
    written: Mapping[str, str] = field(default_factory=dict)  # how numbers are written, by column
    known: list[int] = field(default_factory=list)

    def size(self) -> int | None:
        """From the table's own records, or counted once, there."""
        if not self.known:
            counted = self.counts()
            if counted is None:
                first = self.names[:1]
                counted = self.engine.fold(partial(_rows, columns=first), lambda a, b: a + b, self.parts(first)) or 0
            self.known.append(counted)
        return self.known[0]

    def pieces(self, columns: Sequence[str]) -> Iterator[Piece]:
        """As they are, brought here, those of a few parts at a time where parts can be told apart."""
        parts = self.parts(columns)
        some = (
            [parts[first : first + FEW] for first in range(0, len(parts), FEW)] if isinstance(parts, list) else [parts]
        )
        kernel = partial(
            _numbered, work=partial(_unnumbered, _as_they_are), columns=tuple(columns), written=dict(self.written)
        )
        seen = 0
        for few in some:
            found = self.engine.fold(kernel, _joined, few) or {}
            seen += sum(rows for rows, _ in found.values())
            for piece in (one for number in sorted(found) for one in found[number][1]):
                yield lambda piece=piece: piece  # type: ignore[misc]
        self.check(seen)

    def fold(self, kernel: Callable[[Iterator[Columns]], R], merge: Merge[R], columns: Sequence[str]) -> R:
        """The kernel of every part's columns, merged; of a table without parts, of none. [placed.1]"""
        work = partial(_counted, kernel=kernel, columns=tuple(columns), written=dict(self.written))
        found = self.engine.fold(work, partial(both, merge), self.parts(columns))
        seen, result = (0, kernel(iter(()))) if found is None else found
        self.check(seen)
        return result

    def some(self, kernel: Callable[[Iterator[Columns]], R], columns: Sequence[str]) -> R | None:
        """The kernel of a part in the middle, where parts can be told apart: to guess by, for speed alone."""
        parts = self.parts(columns)
        if not isinstance(parts, list) or not parts:
            return None
        work = partial(_counted, kernel=kernel, columns=tuple(columns), written=dict(self.written))
        found = self.engine.fold(work, partial(both, _either), [parts[len(parts) // 2]])
        return None if found is None else found[1]

    def worked(self, work: Callable[[Columns], R], columns: Sequence[str]) -> list[R]:
        """What `work` makes of each piece, there, in the order of part and place. [placed.1]"""
        return self.numbered(partial(_unnumbered, work), columns)

    def numbered(self, work: Callable[[Number, Columns], R], columns: Sequence[str]) -> list[R]:
        """The same; it is told the number of the piece. [placed.1]"""
        kernel = partial(_numbered, work=work, columns=tuple(columns), written=dict(self.written))
        found = self.engine.fold(kernel, _joined, self.parts(columns)) or {}
        self.check(sum(seen for seen, _ in found.values()))
        return [one for number in sorted(found) for one in found[number][1]]

    def check(self, seen: int) -> None:
        """Refuse any other number of rows than that of the table."""
        if seen != self.size():  # [placed.1]
            raise BadInput(CHANGED)


def _as_they_are(columns: Columns) -> Columns:
    return columns


def _either(one: R, _: R) -> R:
    return one


def _joined(one: dict[int, Any], other: dict[int, Any]) -> dict[int, Any]:
    one.update(other)
    return one


def both(merge: Merge[R], one: tuple[int, R], other: tuple[int, R]) -> tuple[int, R]:
    """A merge of results beside numbers of rows."""
    return one[0] + other[0], merge(one[1], other[1])


def opened(part: Part, columns: Sequence[str], written: Mapping[str, str]) -> Iterator[Columns]:
    """The columns of a part, piece by piece, as every table gives them."""
    for given in part.read():
        for piece in [given] if isinstance(given, Mapping) else _pieces(given, columns):
            yield {
                name: rewritten(column, written[name]) if name in written else column for name, column in piece.items()
            }


def _pieces(frame: Any, columns: Sequence[str]) -> Iterator[Columns]:
    return (piece() for piece in from_frame(frame).pieces(columns))


def _length(columns: Columns) -> int:
    return len(next(iter(columns.values())))


def _rows(part: Part, *, columns: Sequence[str]) -> int:
    return sum(map(_length, opened(part, columns, {})))


def _counted(
    part: Part, *, kernel: Callable[[Iterator[Columns]], R], columns: Sequence[str], written: Mapping[str, str]
) -> tuple[int, R]:
    """On a worker: how many rows a part has, and what a kernel makes of them."""
    seen = 0

    def counting() -> Iterator[Columns]:
        nonlocal seen
        for piece in opened(part, columns, written):
            seen += _length(piece)
            yield piece

    result = kernel(counting())
    return seen, result


def _numbered(
    part: Part, *, work: Callable[[Number, Columns], R], columns: Sequence[str], written: Mapping[str, str]
) -> dict[int, tuple[int, list[R]]]:
    """On a worker: what is made of each piece of a part, under its number."""
    seen, found = _counted(part, kernel=partial(_each, work, part.number), columns=columns, written=written)
    return {part.number: (seen, found)}


def _each(work: Callable[[Number, Columns], R], part: int, given: Iterator[Columns]) -> list[R]:
    return [work((part, place), columns) for place, columns in enumerate(given)]


def _unnumbered(work: Callable[[Columns], R], _: Number, columns: Columns) -> R:
    return work(columns)
