"""Bins of the columns of a table: what they are called, and in which of them an entry is."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput
from discreet.privacy.value_arrays import FEW, label, listed

Integers = npt.NDArray[np.int64]
OTHER = "missing or not listed"


@dataclass(frozen=True, slots=True)
class ColumnBins:
    """`levels` are, of a column that is `measured`, the numbers where its bins meet, of any other its categories. Each
    column has one bin more, for entries that are missing or not listed.

    >>> bins = ColumnBins(("age",), ((50.0,),), (True,))
    >>> bins.named(0), bins.places([30, 70, None], 0).tolist()
    (['below 50', '50 or more', 'missing or not listed'], [0, 1, 2])
    """

    names: tuple[str, ...]
    levels: tuple[tuple[Any, ...], ...]
    measured: tuple[bool, ...]

    def __post_init__(self) -> None:
        if not len(self.names) == len(self.levels) == len(self.measured):
            raise BadInput("bins need levels for each column, and whether they are numbers")
        edges = [one for one, numbers in zip(self.levels, self.measured, strict=True) if numbers]
        if not all(isinstance(edge, int | float) for one in edges for edge in one):
            raise BadInput("bins of a measured column meet at numbers")

    @property
    def widths(self) -> list[int]:
        """Bins of each column, the one for missing entries among them."""
        return [len(one) + 1 + bool(numbers) for one, numbers in zip(self.levels, self.measured, strict=True)]

    def named(self, place: int) -> list[str]:
        """What the bins of a column are called."""
        levels = self.levels[place]
        if not self.measured[place]:
            return [*map(label, levels), OTHER]
        shown = [f"{edge:.6g}" for edge in levels]
        between = [f"{low} to {high}" for low, high in itertools.pairwise(shown)]
        ends = [f"below {shown[0]}", *between, f"{shown[-1]} or more"] if shown else ["any number"]
        return [*ends, OTHER]

    def columns(self, X: Any) -> list[Any]:  # noqa: N803  as scikit-learn calls it
        """The entries of each column, by name where they have names."""
        if isinstance(X, Mapping) or hasattr(X, "columns"):
            given = [*(X if isinstance(X, Mapping) else X.columns)]
            if absent := [name for name in self.names if name not in given]:
                needed = listed(self.names[:FEW], len(self.names))
                raise BadInput(f"X has no column {listed(absent[:FEW], len(absent))}; it needs {needed}")
            return [np.asarray(X[name]) for name in self.names]
        rows = np.asarray(X, dtype=None if all(self.measured) else object)
        if rows.ndim != 2 or rows.shape[1] != len(self.names):
            raise BadInput(f"X has shape {rows.shape}; it needs rows of {len(self.names)} columns")
        return list(rows.T)

    def places(self, entries: Any, place: int) -> Integers:
        """In which bin of a column each entry is."""
        levels, other = self.levels[place], self.widths[place] - 1
        if not self.measured[place]:
            places = {level: at for at, level in enumerate(levels)}
            if isinstance(entries, np.ndarray) and entries.dtype.kind in "biufUS" and len(entries):
                distinct, where = np.unique(entries, return_inverse=True)  # each is looked up once
                return np.array([places.get(entry, other) for entry in distinct.tolist()], dtype=np.int64)[where]
            plain = (entry.item() if isinstance(entry, np.generic) else entry for entry in entries)
            return np.array([places.get(entry, other) for entry in plain], dtype=np.int64)
        values = np.asarray(entries, dtype=float)  # None is NaN
        found = np.searchsorted(np.array(levels, dtype=float), values, side="right")
        return np.where(np.isnan(values), other, found)
