"""Every pass over people is a fold: a kernel turns some of them into small exact numbers, a merge adds those up.

Promise
    [streams.1] `fold` gives the same result however a column is cut, in whatever order its pieces come, on however many
          threads or machines: every piece is in exactly one call of the kernel, or the fold raises BadInput.
Why
    [streams.1] A kernel is a function of pieces and public numbers, and merge is associative and commutative on what
    kernels give: sums of integers, tables of counts, sets. What comes before a kernel (`each`, `chosen`) is a function
    of each row by itself, of one column or of several, applied to the pieces where they are. A piece is taken from the
    one iterator under a lock, or belongs to one part, and the rows that were seen are counted: their number must be
    that of the column.
    [streams.2] The pass that counts is one over the whole stream, which checks its own length ([streams.1]) before the
    count is taken; each later one is held to the count. If nobody is left out, the rows left are those of the whole
    stream, whatever the function costs.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial, reduce
from typing import Any, Final, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput
from discreet.tables.piece_threads import Calls, Shared, called, calls_of, merged, nothing, processors

Floats = npt.NDArray[np.float64]
R = TypeVar("R")
Kernel = Callable[[Iterator[Any]], R]  # a top-level function of pieces, with public numbers: never raises
Merge = Callable[[R, R], R]
Pointwise = Callable[..., Any]  # of a piece of rows
MANY: Final = 1 << 21  # entries from which a second thread is worth its start
CHANGED: Final = "the data changed while they were read; ask again when nobody writes to them"


class Part(Protocol):
    """Some of the rows of a table, wherever they are. Its number is its place among the parts: `read` is called where
    the part is worked on, and gives frames, or columns by name, one after another."""

    @property
    def number(self) -> int:
        """From 0."""
        ...

    def read(self) -> Iterator[Any]:
        """All its rows, in order."""
        ...


class Engine(Protocol):
    """Where parts are worked on: this machine, Dask or Spark. It holds no noise and no key, and makes no decision.

    `parts` are a sequence of items that can be sent, or what the engine itself made of a frame. A part that failed is
    worked on again; a part that came twice is used once; if one is lost for good, the fold raises BadInput with LOST.
    An error on a worker may quote a row: no engine shows it.
    """

    def map(self, function: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        """function(item) of each item, in order; None where that failed."""
        ...

    def fold(self, kernel: Callable[[Any], R], merge: "Merge[R]", parts: Any) -> R | None:
        """The kernel of every part, each exactly once, merged in any order; None of no parts."""
        ...


class Remote(Protocol):
    """Where the parts of a column are, if not here: every part once, through the kernel, merged."""

    def __call__(self, kernel: Kernel[R], merge: Merge[R]) -> R:
        """The fold."""
        ...


Number = tuple[int, int]  # of a piece: of its part, and of the pieces of that one
Gather = Callable[[Callable[[Number, Any], Any]], list[Any]]
Keep = Callable[[Pointwise, int], Any]  # what a function makes of each piece, there: see kept_rows.py


class Stream:
    """A column, or rows of several, too long to hold: the length, and its pieces, in order, as often as they are asked.

    `pieces` starts anew each time it is called and gives arrays of `kind`: floats, missing entries as NaN, with a row
    of columns each if they are of two dimensions; of categories objects, missing ones as None; or, where `kind` is
    dict, columns by name. A mechanism that takes a stream folds it: how it is cut changes nothing. `part`, if there is
    one, gives the entries from one place up to another without reading the others, `calls` the pieces by calls, for
    threads that make them themselves. `remote` folds it where it is, if that is not here; `glance` then gives a few
    entries, to guess by, `gather` what a function makes of each piece and its number, there, in order, and `keep` has
    rows kept there. What is `left` of another stream has no length until it is asked for one or read: its first pass
    counts it.

    >>> stream = Stream(4, lambda: iter([np.array([1.0, 2.0]), np.array([3.0, np.nan])]))
    >>> len(stream), sum(len(piece) for piece in stream)
    (4, 4)
    """

    __slots__ = ("_pieces", "_size", "_whole", "calls", "gather", "glance", "keep", "kind", "known", "part", "remote")

    def __init__(
        self,
        size: int | None,
        pieces: Callable[[], Iterator[Any]],
        part: Callable[[int, int], Floats] | None = None,
        remote: Remote | None = None,
        *,
        kind: type = np.float64,
        glance: Callable[[int], Any] | None = None,
        gather: Gather | None = None,
        keep: Keep | None = None,
        whole: "Stream | None" = None,
        calls: Callable[[], Calls] | None = None,
    ) -> None:
        self.glance, self.gather, self.keep, self.calls, self._whole = glance, gather, keep, calls, whole
        self._size, self._pieces, self.part, self.remote, self.kind = size, pieces, part, remote, kind
        self.known: dict[float, Any] = {}  # orders that were begun by the pass that counted it, by their default

    def left(self, function: "Pointwise") -> "Stream":
        """The rows that a function of rows leaves as they are. [streams.2]"""
        if self.remote is not None:
            return mapped(function, self, self.fold(partial(_left, function), added))
        more: dict[str, Any] = {"kind": self.kind, "whole": self, "calls": calls_of(function, self)}
        return Stream(None, lambda: (function(piece) for piece in self), **more)

    def __len__(self) -> int:
        if self._size is None:
            self.fold(_rows, added)
        assert self._size is not None
        return self._size

    @property
    def counted(self) -> bool:
        """Whether a pass has counted it, or its length is known anyway."""
        return self._size is not None

    @property
    def most(self) -> int:
        """No less than its length, without a pass."""
        if self._size is None and self._whole is not None:
            return self._whole.most
        return len(self)

    def __iter__(self) -> Iterator[Any]:
        seen = 0
        for piece in self._pieces():
            seen += length(piece)
            yield _as_kind(piece, self.kind)
        self._check(seen)

    def _check(self, seen: int) -> None:
        if self._size is None and self._whole is not None:
            self._size = seen  # [streams.2]
            if seen == len(self._whole):  # then later passes need not look for whom to leave out
                self._pieces, self.part = self._whole.__iter__, self._whole.part
                self.calls = self._whole.work if self._whole.calls is not None else None
        if seen != self._size:  # sizes and sums would be about two different tables
            raise BadInput(CHANGED)

    def some(self, wanted: int) -> Any:
        """A few entries from its beginning, to guess by; none if that takes a pass."""
        if self._size is None and self._whole is not None:
            return self._whole.some(wanted)
        if self.part is not None:
            return self.part(0, min(len(self), wanted))
        if self.remote is not None:
            return np.empty(0) if self.glance is None else self.glance(wanted)
        return next((piece for piece in self._pieces() if len(piece)), np.empty(0))

    def fold(self, kernel: Kernel[R], merge: Merge[R]) -> R:
        """The kernel of every part, merged. [streams.1]"""
        if self.remote is not None:
            told: tuple[int, R] = self.remote(partial(_counted, kernel, self.kind), partial(_both, merge))
            self._check(told[0])  # [streams.1]
            return told[1]
        if self.most < MANY or processors() < 2:
            return kernel(map(_read_only, self))
        calls, check = self.work()
        found = merged(merge, [partial(kernel, map(called, Shared(calls)))] * processors())
        check()  # [streams.1]
        return found

    def work(self) -> Calls:
        """Its pieces by calls, and the check that they were all."""
        seen: list[int] = []
        if self.calls is None:
            return (partial(_read_only, piece) for piece in self), nothing
        calls, before = self.calls()

        def made(call: Callable[[], Any]) -> Any:
            piece = _read_only(_as_kind(call(), self.kind))
            seen.append(length(piece))
            return piece

        def check() -> None:
            before()
            self._check(sum(seen))

        return (partial(made, call) for call in calls), check

    def __array__(self, *_: Any, **__: Any) -> Any:
        check_held(self)


Numbers = Floats | Stream  # a column of numbers, in memory or not


def _counted(kernel: Kernel[R], kind: type, given: Iterator[Any]) -> tuple[int, R]:
    """What a kernel gives, and how many rows it was given."""
    seen = 0

    def counting() -> Iterator[Any]:
        nonlocal seen
        for piece in given:
            seen += length(piece)
            yield _read_only(_as_kind(piece, kind))

    found = kernel(counting())
    return seen, found


def _both(merge: Merge[R], one: tuple[int, R], other: tuple[int, R]) -> tuple[int, R]:
    return one[0] + other[0], merge(one[1], other[1])


def length(piece: Any) -> int:
    """The rows of a piece: of a column, of a matrix, or of columns by name."""
    return len(next(iter(piece.values()))) if isinstance(piece, Mapping) else len(piece)


def _as_kind(piece: Any, kind: type) -> Any:
    return piece if kind is dict else np.ascontiguousarray(piece, dtype=kind)


def _read_only(piece: Any) -> Any:
    """Compiled code is made once for arrays that can only be read, not again for others."""
    if isinstance(piece, Mapping):
        return piece
    view = piece.view()
    view.flags.writeable = False
    return view


def fold(kernel: Kernel[R], merge: Merge[R], values: Any) -> R:
    """The kernel of every part of a column, or of columns by name, merged; what is held and short is its only part.
    [streams.1]

    >>> fold(lambda pieces: sum(len(piece) for piece in pieces), added, np.zeros(3))
    3
    """
    if isinstance(values, Stream):
        return values.fold(kernel, merge)
    whole = _read_only(values)
    if isinstance(whole, Mapping) or len(whole) < MANY or processors() < 2:
        return kernel(iter((whole,)))
    return merged(merge, [partial(kernel, iter((part,))) for part in np.array_split(whole, processors())])


def added(one: R, other: R) -> R:
    """A merge: the sums of whole numbers, of arrays of them, and of tuples of these."""
    if isinstance(one, tuple):
        return tuple(added(a, b) for a, b in zip(one, other, strict=True))  # type: ignore[call-overload, return-value]
    return one + other  # type: ignore[operator, no-any-return]


Table = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]  # places that are occupied, in order, and their counts


def sparse(counts: npt.NDArray[np.int64]) -> Table:
    """A long table of counts, mostly 0, as what is in it."""
    occupied = np.flatnonzero(counts)
    return occupied, counts[occupied]


def dense(found: Table, size: int) -> npt.NDArray[np.int64]:
    """As an array."""
    counts = np.zeros(size, dtype=np.int64)
    counts[found[0]] = found[1]
    return counts


def joined(one: Table, other: Table) -> Table:
    """A merge: counts of the same place added."""
    places, inverse = np.unique(np.concatenate([one[0], other[0]]), return_inverse=True)
    counts = np.zeros(len(places), dtype=np.int64)
    np.add.at(counts, inverse, np.concatenate([one[1], other[1]]))
    return places, counts


def check_held(rows: Any) -> None:
    """Refuse a stream where all rows are needed at once."""
    if isinstance(rows, Stream):
        raise BadInput(
            "the data are a stream, too long to hold; this statistic needs the column in memory; ask for one that "
            "reads streams, such as mean or count, or give an array"
        )


def each(function: Pointwise, values: Any, kind: type | None = None) -> Any:
    """A function of rows, applied to all of them; to those of a stream whenever it is read, where it is read. What it
    gives is of this kind, or as before."""
    return mapped(function, values, len(values), kind) if isinstance(values, Stream) else function(values)


def mapped(function: Pointwise, values: Stream, size: int, kind: type | None = None) -> Stream:
    """A function of rows that may leave some out, of which `size` are left."""
    remote = None if values.remote is None else partial(_mapped, values.remote, function)
    glance = None if values.glance is None else partial(_seen_through, function, values.glance)
    gather = None if values.gather is None else partial(_gathered, values.gather, function)
    keep = None if values.keep is None else partial(_kept, values.keep, function)
    more: dict[str, Any] = {"glance": glance, "gather": gather, "keep": keep, "kind": kind or values.kind}
    more |= {"calls": calls_of(function, values)}
    return Stream(size, lambda: (function(piece) for piece in values), remote=remote, **more)


def chosen(function: Pointwise, values: Any, kind: type | None = None) -> Any:
    """The rows that a function of rows leaves; those of a stream are counted first."""
    if not isinstance(values, Stream):
        return function(values)
    return mapped(function, values, values.fold(partial(_left, function), added), kind)


def _left(function: Pointwise, given: Iterator[Any]) -> int:
    return sum(length(function(piece)) for piece in given)


def _rows(given: Iterator[Any]) -> int:
    return sum(map(length, given))


def cell_counts(cells: Any, many: int) -> npt.NDArray[np.int64]:
    """How many rows are in each of so many cells, by their numbers from 0; those beyond are not counted."""
    return fold(partial(_cell_counts, many=many), added, cells)


def _cell_counts(given: Iterator[npt.NDArray[np.int64]], *, many: int) -> npt.NDArray[np.int64]:
    found = np.zeros(many, dtype=np.int64)
    for piece in given:
        found += np.bincount(piece, minlength=many)[:many]
    return found


def column_of(rows: Any, which: int | str, kind: type = np.float64) -> Any:
    """One column of rows: of a matrix by place, of columns by name; a stream of a stream."""
    return each(partial(_column, which=which), rows, kind)


def _column(piece: Any, *, which: int | str) -> Any:
    return piece[which] if isinstance(piece, Mapping) else np.ascontiguousarray(piece[:, which])


def chained(columns: Iterable[Numbers]) -> Numbers:
    """Several columns as one, a stream if one of them is; remote ones are folded where they are. [streams.1]"""
    parts = list(columns)
    streams = [part for part in parts if isinstance(part, Stream)]
    if not streams:
        return np.concatenate([np.empty(0), *parts])
    remotes = [part.remote for part in streams]
    far = [one for one in remotes if one is not None]
    remote: Any = partial(_one_by_one, far) if len(far) == len(parts) else None

    def pieces() -> Iterator[Floats]:
        for part in parts:
            yield from (part if isinstance(part, Stream) else (part,))

    return Stream(sum(map(len, parts)), pieces, remote=remote)


def _one_by_one(remotes: list[Remote], kernel: Kernel[R], merge: Merge[R]) -> R:
    return reduce(merge, [remote(kernel, merge) for remote in remotes])


def _seen_through(function: Pointwise, glance: Callable[[int], Any], wanted: int) -> Any:
    return function(glance(wanted))


def _kept(keep: Keep, first: Pointwise, function: Pointwise, size: int) -> Any:
    return keep(partial(_both_of, first, function), size)


def _both_of(first: Pointwise, then: Pointwise, piece: Any) -> Any:
    return then(first(piece))


def _gathered(gather: Gather, function: Pointwise, work: Callable[[Number, Any], Any]) -> list[Any]:
    return gather(partial(_seen, function, work))


def _seen(function: Pointwise, work: Callable[[Number, Any], R], number: Number, piece: Any) -> R:
    return work(number, function(piece))


def _mapped(remote: Remote, function: Pointwise, kernel: Kernel[R], merge: Merge[R]) -> R:
    return remote(partial(_through, function, kernel), merge)


def _through(function: Pointwise, kernel: Kernel[R], given: Iterator[Any]) -> R:
    return kernel(map(function, given))
