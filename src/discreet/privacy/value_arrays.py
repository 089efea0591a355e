"""Values that are numbers: one, several, a table of them, numbers of bins, and the result of a test.

Every value has its numbers by name (`labels`, `numbers`, and `rest` for those without an error bar), a data frame
(`to_frame`), and plain words: `describe` for a sentence, `str` for a line of a terminal.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput
from discreet.privacy.exact import show

Floats = npt.NDArray[np.float64]
FEW: Final = 6  # numbers in a line; more are cut


def label(key: Any) -> str:
    """A bin or a group in a line for people: nothing in it can move the cursor or begin a new line.

    >>> label((0.0, 10.0)), label(None), label("a"), label(True), label(("F", None))
    ('0 to 10', 'missing', 'a', 'yes', 'F, missing')
    """
    match key:
        case None:
            return "missing"
        case bool():
            return "yes" if key else "no"
        case float():
            return f"{key:,.8g}"
        case [float(low), float(high)]:
            return f"{low:,.8g} to {high:,.8g}"
        case list() | tuple():
            return ", ".join(map(label, key))
    return str(key) if str(key).isprintable() else ascii(str(key))


def listed(shown: Sequence[str], many: int, word: str = "") -> str:
    """Some of many, and that there are more."""
    more = f", ...{f' ({many} {word})' if word else ''}" if many > len(shown) else ""
    return f"{', '.join(shown)}{more}"


def place_of(names: Sequence[str], wanted: Any) -> Any:
    """The position of a name; a position as it is."""
    if isinstance(wanted, str) and wanted not in names:
        raise BadInput(f"there is no {wanted!r}; the names are {', '.join(names) or 'not known'}")
    return names.index(wanted) if isinstance(wanted, str) else wanted


def matching(names: Any, numbers: Any) -> None:
    """Refuse names that are not as many as the numbers."""
    if len(names) != len(numbers):
        raise BadInput(f"there are {len(names)} names for {len(numbers)} numbers; they must be as many")


def frame(columns: Mapping[Any, Any]) -> Any:
    """Columns as a pandas data frame."""
    try:
        import pandas as pd
    except ImportError:
        raise BadInput("to_frame needs pandas; install it with: pip install pandas") from None
    return pd.DataFrame(columns)


class Described:
    """What all values share; each says what its entries are."""

    __slots__ = ()

    def _entries(self) -> list[tuple[str, Any]]:
        raise NotImplementedError

    @property
    def labels(self) -> list[str]:
        """What each of `numbers` is called."""
        return [name for name, _ in self._entries()]

    @property
    def numbers(self) -> list[Any]:
        """The numbers that may have an error bar, in one order; the ends of intervals have the same."""
        return [number for _, number in self._entries()]

    @property
    def rest(self) -> list[tuple[str, Any]]:
        """Released numbers that have no error bar."""
        return []

    def named(self, names: Sequence[str]) -> Self:
        """The same, with names for its columns if it has none and they are as many."""
        return replace(self, names=tuple(map(str, names))) if len(names) == self._unnamed() else self  # type: ignore[type-var]

    def _unnamed(self) -> int:
        """How many columns could be named."""
        return -1

    def table(self) -> dict[str, Any]:
        """The columns of its data frame."""
        return {"name": self.labels, "value": self.numbers}

    def to_frame(self) -> Any:
        """As a pandas data frame."""
        return frame(self.table())

    def describe(self) -> str:
        """In a plain sentence."""
        text = str(self)
        return f"{text[:1].upper()}{text[1:]}."


@dataclass(frozen=True, slots=True)
class Scalar(Described):
    """One number, or one text."""

    value: Any

    def _entries(self) -> list[tuple[str, Any]]:
        return [("", self.value)] if self.is_number else []

    @property
    def is_number(self) -> bool:
        """Whether it is not a text or a truth value."""
        return isinstance(self.value, int | float) and not isinstance(self.value, bool)

    def __str__(self) -> str:
        return show(self.value) if isinstance(self.value, float) else str(self.value)


class Array(np.lib.mixins.NDArrayOperatorsMixin, Described):
    """Arithmetic as of a numpy array, whose results are plain arrays."""

    __slots__ = ()
    cells: Any
    names: tuple[str, ...]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.cells, dtype=dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return getattr(ufunc, method)(*(one.cells if isinstance(one, Array) else one for one in inputs), **options)

    def with_cells(self, cells: Any) -> Self:
        """Other numbers by the same names."""
        return replace(self, cells=cells)  # type: ignore[type-var]

    @property
    def shape(self) -> tuple[int, ...]:
        """As of an array."""
        return np.shape(self.cells)

    def tolist(self) -> Any:
        """As a list."""
        return self.cells.tolist()

    def __len__(self) -> int:
        return len(self.cells)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.cells)

    def __str__(self) -> str:
        return f"[{listed([show(number) for number in self.cells.ravel()[:FEW].tolist()], self.cells.size)}]"


@dataclass(frozen=True, slots=True, eq=False)
class Vector(Array):
    """Several numbers, by position or by name; an array to numpy.

    >>> ages = Vector(np.array([20.0, 41.0]), ("10%", "50%"))
    >>> float(ages["50%"]), (ages + 1).tolist()
    (41.0, [21.0, 42.0])
    """

    cells: Any
    names: tuple[str, ...] = ()
    one_scale: bool = False  # whether all are in one unit, as quantiles are

    def __post_init__(self) -> None:
        matching(self.names or self.cells, self.cells)

    def _entries(self) -> list[tuple[str, Any]]:
        names = self.names or [f"number {place + 1}" for place in range(len(self.cells))]
        return list(zip(names, self.cells.tolist(), strict=True))

    def _unnamed(self) -> int:
        return -1 if self.names else len(self.cells)

    def __getitem__(self, place: Any) -> Any:
        return self.cells[place_of(self.names, place)]

    def __str__(self) -> str:
        shown = [f"{name} {show(number)}" for name, number in zip(self.names[:FEW], self.cells, strict=False)]
        return listed(shown, len(self.cells)) if self.names else Array.__str__(self)


@dataclass(frozen=True, slots=True, eq=False)
class Matrix(Array):
    """A table of numbers whose rows are `names` and whose columns are `across` (the same names, unless given).

    >>> moved = Matrix(np.array([[4.0, 1.0], [1.0, 9.0]]), ("age", "bmi"))
    >>> float(moved["age", "bmi"]), moved.shape
    (1.0, (2, 2))
    """

    cells: Any
    names: tuple[str, ...] = ()
    across: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.cells.ndim != 2:
            raise BadInput("a matrix needs rows of one length")
        matching(self.names or self.cells, self.cells)
        matching(self.across or self.cells.T, self.cells.T)

    @property
    def sides(self) -> tuple[list[str], list[str]]:
        """What rows and columns are called."""
        high, wide = self.cells.shape
        rows = list(self.names) or [f"column {place + 1}" for place in range(high)]
        return rows, list(self.across) or (rows if high == wide else [f"place {place + 1}" for place in range(wide)])

    def _entries(self) -> list[tuple[str, Any]]:
        names = [f"{one} and {other}" for one, other in itertools.product(*self.sides)]
        return list(zip(names, self.cells.ravel().tolist(), strict=True))

    def _unnamed(self) -> int:
        return len(self.cells) if not self.names and len(set(self.cells.shape)) == 1 else -1

    @property
    def T(self) -> "Matrix":  # noqa: N802  as numpy calls it
        """Rows and columns exchanged."""
        return Matrix(self.cells.T, self.across or self.names, self.names if self.across else ())

    def __getitem__(self, place: Any) -> Any:
        places = place if isinstance(place, tuple) else (place,)
        found = tuple(place_of(side, one) for side, one in zip(self.sides, places, strict=False))
        return self.cells[found]

    def to_frame(self) -> Any:
        """As a pandas data frame with its names on both sides."""
        rows, across = self.sides
        return frame(dict(enumerate(self.cells.T))).set_axis(across, axis=1).set_axis(rows, axis=0)


class Binned(Described):
    """Numbers of bins: of categories, or of (low, high)."""

    __slots__ = ()
    bins: tuple[Any, ...]
    other: Any

    def _cells(self) -> Any:
        raise NotImplementedError

    def _entries(self) -> list[tuple[str, Any]]:
        return list(zip(map(label, self.bins), self._cells().tolist(), strict=True))

    @property
    def rest(self) -> list[tuple[str, Any]]:
        """What is in none of the bins."""
        return [] if self.other is None else [("in none of these", self.other)]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self._cells(), dtype=dtype)

    def __len__(self) -> int:
        return len(self.bins)

    def _find(self, wanted: Any) -> int | None:
        """The place of a bin. True is not 1, and 1.0 is."""
        wanted, at = wanted.item() if isinstance(wanted, np.generic) else wanted, -1
        while wanted in self.bins[at + 1 :]:
            at = self.bins.index(wanted, at + 1)
            if (type(self.bins[at]) is bool) == (type(wanted) is bool):
                return at
        return None

    def _at(self, wanted: Any) -> Any:
        place = self._find(wanted)
        if place is not None:
            return self._cells()[place]
        shown = listed([label(one) for one in self.bins[:8]], len(self.bins))
        raise BadInput(f"{wanted!r} is not among the {len(self.bins)} categories shown ({shown})")

    def describe(self) -> str:
        """How many bins, and the largest."""
        if not self.bins:
            return "No bin is shown."
        name, number = max(self._entries(), key=lambda entry: entry[1])
        return f"{len(self.bins)} bins; the largest is {name} with {self._said(number)}."

    def _said(self, number: Any) -> str:
        return f"{number:,}"

    def __str__(self) -> str:
        shown = [f"{name}: {self._said(number)}" for name, number in self._entries()[:8]]
        return listed(shown, len(self.bins), "bins") if shown else "no bin is shown"


@dataclass(frozen=True, slots=True, eq=False)
class Counts(Binned, Mapping[Any, int]):
    """A mapping from each bin (a category, or (low, high)) to its count; `counts` are the same as an array.

    `other` counts what lies outside the bins, None where there is no such bin; `threshold` is the least count that
    an open histogram shows.
    """

    bins: tuple[Any, ...]
    counts: Any
    other: Any = None
    threshold: Any = None

    def __post_init__(self) -> None:
        matching(self.bins, self.counts)

    def _cells(self) -> Any:
        return self.counts

    def __getitem__(self, wanted: object) -> int:
        return int(self._at(wanted))

    def __iter__(self) -> Iterator[Any]:
        return iter(self.bins)

    def __contains__(self, wanted: object) -> bool:
        return self._find(wanted) is not None

    def get(self, wanted: object, default: Any = None) -> Any:
        """The count of a bin, or `default` where there is no such bin."""
        place = self._find(wanted)
        return default if place is None else int(self.counts[place])

    @property
    def shares(self) -> Floats:
        """The counts over their sum, `other` included."""
        whole = float(self.counts.sum()) + (self.other or 0)
        return self.counts / whole if whole > 0 else np.zeros(len(self.counts))

    def __str__(self) -> str:
        return Binned.__str__(self) if self.bins else f"no bin reached the threshold of {self.threshold}"


@dataclass(frozen=True, slots=True, eq=False)
class Shares(Binned):
    """`heights` are the shares of categories, `other` that of the rest; called with a category it says its share."""

    bins: tuple[Any, ...]
    heights: Floats
    other: Any = None

    def __post_init__(self) -> None:
        matching(self.bins, self.heights)

    def _cells(self) -> Any:
        return self.heights

    def __call__(self, category: Any) -> float:
        """The share of a category that is shown."""
        return float(self._at(category))

    def _said(self, number: Any) -> str:
        return f"{number:.2%}"
