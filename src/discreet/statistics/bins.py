"""Public bins: how an entry finds its bin. One rule for each kind, the same for every entry.

Promise
    [bins.1] The index of an entry is a fixed function of that entry and of the public bins; it never raises. What fits
         in no bin, missing entries among them, has the last index of all, `other`: every entry is in exactly one bin.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput
from discreet.privacy.exact import is_number
from discreet.tables.entries import column, key, long_column, numbers, numbers_of, pieces

LARGE: Final = 200_000  # entries from which the compiled pass is worth its import
Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Categories:
    """Listed categories, by canonical key, and as they were given."""

    keys: tuple[Hashable, ...]
    names: tuple[Any, ...] = field(compare=False)

    @classmethod
    def of(cls, listed: Any) -> "Categories":
        """From any list of categories, each named once."""
        names = tuple(_listed(listed, "categories"))
        if not names:
            raise BadInput("categories is empty; list the public categories, or leave it out and give delta > 0")
        keys = tuple(key(entry) for entry in names)
        times = Counter(keys)
        twice = [str(entry) for entry, one in zip(names, keys, strict=True) if times[one] > 1]
        if twice:
            raise BadInput(f"categories lists {', '.join(twice[:5])} more than once; name each category once")
        return cls(keys, names)

    def __len__(self) -> int:
        return len(self.keys)

    def indices(self, rows: Any) -> Indices:
        """The place of each entry in the list; len(self) for any other. [bins.1]"""
        places = {one: index for index, one in enumerate(self.keys)}
        values, other = column(rows), len(self.keys)
        if values.dtype.kind in "biufUS":  # few distinct values: look each up once
            distinct, where = np.unique(values, return_inverse=True)
            table = np.array([places.get(key(entry), other) for entry in distinct], dtype=np.int64)
            return table[where] if len(distinct) else np.empty(0, dtype=np.int64)
        return np.fromiter((places.get(key(entry), other) for entry in values), dtype=np.int64, count=len(values))


@dataclass(frozen=True, slots=True)
class Edges:
    """Intervals [e0, e1), [e1, e2), ..., the last one closed."""

    edges: tuple[float, ...]

    @classmethod
    def of(cls, listed: Any) -> "Edges":
        """From at least two finite, increasing numbers."""
        given = _listed(listed, "edges")
        if len(given) < 2 or not all(is_number(edge) for edge in given):
            raise BadInput(f"edges has {len(given)} entries; give at least two finite numbers in increasing order")
        edges = tuple(float(edge) for edge in given)
        if any(not low < high for low, high in pairwise(edges)):
            raise BadInput("edges are not increasing (as floats); give each edge once, in increasing order")
        return cls(edges)

    def __len__(self) -> int:
        return len(self.edges) - 1

    @property
    def names(self) -> tuple[Any, ...]:
        """(low, high) of each bin."""
        return tuple(pairwise(self.edges))

    def indices(self, rows: Any) -> Indices:
        """The bin of each number; len(self) for what is outside or no number. [bins.1]"""
        values, edges = numbers(rows), np.array(self.edges)
        found = np.searchsorted(edges, values, side="right") - 1
        found[values == edges[-1]] = len(self) - 1
        return np.where((found < 0) | (found >= len(self)) | np.isnan(values), len(self), found).astype(np.int64)


Bins = Categories | Edges


def _listed(given: Any, what: str) -> list[Any]:
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise BadInput(f"{what} is {given!r}; give a list")
    return list(given.tolist() if isinstance(given, np.ndarray) else given)


def counts(bins: Bins, rows: Any) -> Indices:
    """How many entries each bin holds, `other` last."""
    values, found = long_column(rows), np.zeros(len(bins) + 1, dtype=np.int64)
    count = _compiled(bins) if isinstance(bins, Edges) and len(values) >= LARGE else None
    for piece in pieces(values):
        found += count(numbers_of(piece)) if count else np.bincount(bins.indices(piece), minlength=len(found))
    return found


def _compiled(bins: Edges) -> Callable[[npt.NDArray[np.float64]], Indices] | None:
    """The compiled pass, if it loads: the size alone must not raise."""
    try:
        from discreet._compiled.column_kernels import counts_between
    except Exception:  # noqa: BLE001  no numba, or one that does not load
        return None
    edges = np.array(bins.edges)
    return lambda values: counts_between(values, edges)
