"""What an estimator returns: its form and its names. Public, and fixed before any private row is looked at."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput

Floats = npt.NDArray[np.float64]
LONGEST: Final = 200  # bytes of a label that nobody listed
LARGEST: Final = 10_000  # numbers in an answer


@dataclass(frozen=True, slots=True)
class Shape:
    """A number, an array, named numbers, one of the listed labels, or a short text."""

    kind: Literal["number", "array", "named", "label", "text"]
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
            case "named":
                entries = {str(name): entry for name, entry in value.items()}  # as shape_of names them
                row = np.array([float(entries[name]) for name in self.names])
                if len(entries) != len(self.names):
                    raise ValueError("other names than declared")
            case _:
                row = np.asarray(value, dtype=np.float64)
                if row.shape != self.size and not (self.kind == "number" and row.size == 1):
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
            case "text":
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
