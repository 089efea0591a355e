"""What an estimator returns: its form and its names. Public, and fixed before any private row is looked at.

It is declared, or found on rows that are made up from the table's schema: names and declared types of columns, nothing
else. A column of numpy's types has no declared type ([entries.2]) and is made up as floats, whatever it holds. A column
that is declared as text has no values to make rows from; declare `names=` then, or its `categories=`.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from discreet.engines.local import silence
from discreet.errors import BadInput
from discreet.privacy.intervals import Interval, Spread
from discreet.subsample.block_table import BlockTable
from discreet.subsample.estimators import Fit

Floats = npt.NDArray[np.float64]
LONGEST: Final = 200  # bytes of a label that nobody listed
ROWS: Final = 240  # made-up ones
STYLES: Final = 9  # the last has positive numbers alone
GOLDEN: Final = 0.6180339887498949
PRIMES: Final = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97)
LARGEST: Final = 10_000  # numbers in an answer


@dataclass(frozen=True, slots=True)
class Shape:
    """A number, an array, named numbers, one of the listed labels, a short text, or the p-value of a test."""

    kind: Literal["number", "array", "named", "label", "text", "test"]
    names: tuple[str, ...]
    size: tuple[int, ...] = ()
    labels: tuple[Any, ...] = ()

    @property
    def width(self) -> int:
        """How many numbers stand for one answer (for a text: bytes)."""
        return LONGEST if self.kind == "text" else len(self.names)

    def row(self, value: Any) -> Floats:
        """An answer as numbers; raises if it is not of this shape or not finite."""
        match self.kind:
            case "label":
                return np.array([float(self.labels.index(_plain(value)))])
            case "text":
                raw = _text(value).encode()
                return np.frombuffer(raw.ljust(LONGEST, b"\0"), dtype=np.uint8).astype(np.float64)
            case "named" if hasattr(value, "items"):
                entries = {str(name): entry for name, entry in value.items()}  # as shape_of names them
                row = np.array([float(entries[name]) for name in self.names])
                if len(entries) != len(self.names):
                    raise ValueError("other names than declared")
            case _:
                row = np.asarray(value, dtype=np.float64)
                if row.shape != (self.size or (self.width,)) and not (
                    self.kind in ("number", "test") and row.size == 1
                ):
                    raise ValueError("another shape than declared")
                row = row.ravel()
        if not np.isfinite(row).all():
            raise ValueError("not finite")
        return row

    def value(self, row: Any) -> Any:
        """Numbers as the estimator would return them."""
        match self.kind:
            case "number":
                return float(np.asarray(row).ravel()[0])
            case "named":
                return dict(zip(self.names, (float(entry) for entry in row), strict=True))
            case "label":
                return self.labels[int(row)]
            case "text" | "test":
                return row
            case _:
                return np.asarray(row, dtype=np.float64).reshape(self.size)


def texts(rows: Floats) -> list[str | None]:
    """Rows of a text shape as texts; None for one that gave none, or no text."""
    found: list[str | None] = []
    for row in rows:
        whole = bool(np.isin(row, np.arange(256)).all())  # what a cell wrote may be anything; a cast would warn
        try:
            found.append(row.astype(np.uint8).tobytes().rstrip(b"\0").decode() if whole else None)
        except UnicodeDecodeError:
            found.append(None)
    return found


def _text(value: Any) -> str:
    if not isinstance(value, str) or not 0 < len(value.encode()) <= LONGEST or "\0" in value:
        raise ValueError("no short text")
    return value


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def shape_of(value: Any, columns: tuple[str, ...] = ()) -> Shape:
    """The shape of an example answer, one on synthetic rows say."""
    if isinstance(value, str):
        return Shape("text", ("label",))
    if isinstance(value, Mapping) or (hasattr(value, "items") and hasattr(value, "index")):
        return Shape("named", tuple(str(name) for name in dict(value.items())))
    array = np.asarray(value, dtype=np.float64)
    if array.ndim == 0:
        return Shape("number", ("value",))
    if not 0 < array.size <= LARGEST:
        raise BadInput(f"the estimator returns {array.size} numbers; it must be 1 to {LARGEST}")
    names = columns if len(columns) == array.size else tuple(str(place) for place in range(array.size))
    return Shape("array", names, array.shape)


def _listed(labels: Any) -> tuple[Any, ...]:
    """The labels of a list; none of what is no list, a text say, nor of what cannot be compared."""
    if isinstance(labels, str | bytes) or not isinstance(labels, Iterable):
        return ()
    listed = tuple(_plain(label) for label in labels)
    try:
        return listed if set(listed) and all(label == label for label in listed) else ()  # noqa: PLR0124  NaN
    except (TypeError, ValueError):
        return ()


def declared(names: Any, labels: Any) -> Shape | None:
    """The shape that was declared, if one was: a list of names, "number", a number of entries, or labels."""
    if labels is not None:
        listed = _listed(labels)
        if len(listed) < 2 or len(set(listed)) != len(listed):
            raise BadInput(f"labels are {labels!r}; list two or more different ones, for example ['no', 'yes']")
        return Shape("label", ("label",), labels=listed)
    if names is None:
        return None
    if isinstance(names, str) and names in ("number", "label"):
        return Shape("number", ("value",)) if names == "number" else Shape("text", ("label",))
    if isinstance(names, int) and not isinstance(names, bool) and 1 <= names <= LARGEST:
        return Shape("array", tuple(str(place) for place in range(names)), (names,))
    if isinstance(names, list | tuple) and 0 < len(names) <= LARGEST and all(isinstance(name, str) for name in names):
        if len(set(names)) != len(names):
            raise BadInput(f"names are {names!r}; every name once")
        return Shape("named", tuple(names))
    raise BadInput(
        f"names is {names!r}; give a list of names, 'number', 'label', or how many numbers the estimator returns"
    )


def _spread(stream: int) -> npt.NDArray[np.float64]:
    """Numbers that look like a normal sample: a Weyl sequence, bent."""
    from scipy.special import ndtri

    return np.asarray(ndtri(np.clip(_places(stream), 1e-6, 1 - 1e-6)))


def _places(stream: int) -> npt.NDArray[np.float64]:
    """Numbers that look like a uniform sample."""
    return np.asarray((np.arange(1, ROWS + 1) * np.sqrt(float(PRIMES[stream % len(PRIMES)])) + stream * GOLDEN) % 1.0)


def _column(dtype: Any, stream: int, style: int, texts: bool = False) -> Any:
    """A made-up column of a declared type; numbers in one of the styles: normal, 0 or 1, small counts, positive.

    What says nothing about its values is refused, or with `texts` taken for one of "a" and "b".
    """
    if hasattr(dtype, "categories") and dtype.categories is not None and len(dtype.categories):
        import pandas

        codes = (_places(stream) * len(dtype.categories)).astype(np.int64)  # all of them, and unlike other columns'
        return pandas.Categorical.from_codes(codes, dtype=dtype)
    kind = "f" if isinstance(dtype, np.dtype) else getattr(dtype, "kind", "O")
    if kind not in "biuf" and texts:
        return np.array(["a", "b"] * (ROWS // 2), dtype=object)
    if kind not in "biuf":
        raise BadInput(
            f"a column of type {dtype} says nothing about its values; declare names= (what the estimator returns), or "
            "its public categories=, for example categories={'sex': ['F', 'M']}"
        )
    normal = _spread(stream)
    made = (normal, normal > 0, np.floor(np.exp(normal / 2) + 0.3), np.exp(normal / 2))[1 if kind == "b" else style]
    made = np.abs(made) if kind == "u" else made
    if isinstance(dtype, np.dtype):
        return np.asarray(made).astype(np.float64)
    import pandas

    return pandas.array(np.asarray(made).astype(dtype.type), dtype=dtype)


def _style(style: int, place: int) -> int:
    """The style of a column of a frame."""
    if style == STYLES - 1:
        return 3
    return (style + place) % 4 if style >= 4 else style if place == 0 else 0


def made_up(table: BlockTable, style: int, texts: bool = False) -> BlockTable:
    """A table of the same schema."""
    if hasattr(table.x, "columns"):
        import pandas

        columns = {
            name: _column(dtype, place, _style(style, place), texts)
            for place, (name, dtype) in enumerate(zip(table.x.columns, table.x.dtypes, strict=True))
        }
        x: Any = pandas.DataFrame(columns)
    elif table.x.ndim == 1:
        x = _column(table.x.dtype, 0, style % 4, texts)
    else:
        width = int(np.prod(table.x.shape[1:]))
        x = np.stack([_column(table.x.dtype, place, 0) for place in range(width)], axis=1)
        x = x.reshape((ROWS, *table.x.shape[1:]))
    y = None if table.y is None else _outcome(table.y, style, texts)
    return BlockTable(x, y)


def _outcome(y: npt.NDArray[Any], style: int, texts: bool) -> Any:
    many = int(np.prod(y.shape[1:]))
    made = np.stack([_column(y.dtype, 20 + place, style % 4, texts) for place in range(many)], axis=1)
    return made.reshape((ROWS, *y.shape[1:]))


def found_shape(fit: Fit, table: BlockTable) -> Shape:
    """The shape of the answer on made-up rows; several styles of outcome are tried, for a classifier takes no other."""
    for style in range(STYLES):
        rows = made_up(table, style)
        with silence():
            try:
                return shape_of(fit.answer(rows.x, rows.y))
            except BadInput:
                raise
            except (Exception, SystemExit):  # noqa: BLE001, S112  another style may do
                continue
    raise BadInput(
        "the estimator did not run on rows made up from the table's columns and types, so what it returns is unknown; "
        "declare it: names=['slope', 'intercept'], names='number', names=3 or labels=[...]; or declare the public "
        "categories that it needs: categories={'sex': ['F', 'M']}"
    )


@dataclass(frozen=True, slots=True)
class ShapedSpread:
    """The same spread with its ends as the estimator would return them: a number, names, a matrix."""

    inner: Spread
    shaped: Callable[[Any], Any]
    confidence: float = 0.95  # what is shown unless another is asked for
    about: str = ""  # what it is for, where that is not what `inner` says

    @property
    def sampling(self) -> Any:
        """Standard deviations from sampling."""
        return None if self.inner.sampling is None else self.shaped(self.inner.sampling)

    @property
    def privacy(self) -> Any:
        """Standard deviations from the noise."""
        return None if self.inner.privacy is None else self.shaped(self.inner.privacy)

    @property
    def target(self) -> str:
        """What was done to the rows, where the name alone would mislead."""
        return str(getattr(self.inner, "target", ""))

    @property
    def limit(self) -> Any:
        """Of anybody's influence, where there is one."""
        return getattr(self.inner, "limit", None)

    def interval(self, confidence: float) -> Interval:
        """Both ends in shape."""
        inner = self.inner.interval(confidence)
        about = self.about or inner.about
        return replace(inner, low=self.shaped(inner.low), high=self.shaped(inner.high), about=about)
