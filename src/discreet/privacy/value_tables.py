"""The value of a table of counts by two or three columns, with its margins."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput
from discreet.privacy.exact import show
from discreet.privacy.value_arrays import FEW, Counts, Described, frame, label, listed

ALL: Final = "all"  # what a margin is called


@dataclass(frozen=True, slots=True, eq=False)
class CrossCounts(Described, Mapping[Any, int]):
    """A mapping from a category of each column to a count; `...` in place of a category stands for all of them.

    `cells` are all numbers in a row: for each column its categories and then their sum. `other` counts whoever has a
    category that is not listed.

    >>> seen = CrossCounts(("sex", "smokes"), (("F", "M"), ("no", "yes")), np.array([5, 1, 6, 3, 2, 5, 8, 3, 11]), 0)
    >>> seen["F", "yes"], seen["F", ...], seen[..., ...], seen.margin("smokes")["no"]
    (1, 6, 11, 8)
    """

    names: tuple[str, ...] = field(repr=False)  # of the columns
    levels: tuple[tuple[Any, ...], ...]
    cells: Any
    other: Any = None

    def __post_init__(self) -> None:
        if len(self.names) != len(self.levels) or np.size(self.cells) != np.prod([len(one) + 1 for one in self.levels]):
            raise BadInput("a table of counts needs a name and categories for each column, and a number for each cell")

    @property
    def whole(self) -> npt.NDArray[Any]:
        """The numbers with an axis for each column; the last of each axis are the sums."""
        return np.reshape(self.cells, [len(one) + 1 for one in self.levels])

    @property
    def counts(self) -> npt.NDArray[Any]:
        """The numbers of the cells alone, with an axis for each column."""
        return self.whole[tuple(slice(0, -1) for _ in self.levels)]

    def _entries(self) -> list[tuple[str, Any]]:
        sides = [[*map(label, one), ALL] for one in self.levels]
        return list(zip(map(", ".join, itertools.product(*sides)), np.asarray(self.cells).tolist(), strict=True))

    @property
    def rest(self) -> list[tuple[str, Any]]:
        """What is in none of the cells."""
        return [] if self.other is None else [("in none of these", self.other)]

    def __getitem__(self, wanted: Any) -> int:
        parts = wanted if isinstance(wanted, tuple) else (wanted,)
        if len(parts) != len(self.names):
            raise BadInput(f"{wanted!r} is not one category for each of {', '.join(self.names)}; give ... for all")
        places = [self._place(side, one) for side, one in zip(self.levels, parts, strict=True)]
        found = self.whole[tuple(places)]
        return int(found) if float(found).is_integer() else found

    def _place(self, side: tuple[Any, ...], wanted: Any) -> int:
        if wanted is ...:
            return len(side)
        wanted = wanted.item() if isinstance(wanted, np.generic) else wanted
        for place, one in enumerate(side):
            if one == wanted and isinstance(one, bool) == isinstance(wanted, bool):
                return place
        raise BadInput(f"{wanted!r} is not among {listed([label(one) for one in side[:8]], len(side))}")

    def __iter__(self) -> Iterator[Any]:
        return itertools.product(*self.levels)

    def __len__(self) -> int:
        return int(np.prod([len(one) for one in self.levels]))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.counts, dtype=dtype)

    def margin(self, name: str) -> Counts:
        """How many there are of each category of one column."""
        if name not in self.names:
            raise BadInput(f"there is no column {name!r}; there are {', '.join(self.names)}")
        at = self.names.index(name)
        place = tuple(slice(0, -1) if one == at else -1 for one in range(len(self.names)))
        return Counts(self.levels[at], self.whole[place])

    def with_cells(self, cells: Any) -> "CrossCounts":
        """Other numbers in the same places: the ends of an interval."""
        return replace(self, cells=np.ravel(cells), other=None)

    @property
    def grid(self) -> tuple[list[str], list[str]]:
        """What rows and columns of a flat table are called: the last column of the data is across."""
        sides = [[*map(label, one), ALL] for one in self.levels]
        return list(map(", ".join, itertools.product(*sides[:-1]))), sides[-1]

    def to_frame(self) -> Any:
        """As a pandas data frame with the last column's categories across, and the sums as "all"."""
        import pandas as pd

        sides = [[*one, ALL] for one in self.levels]
        down = pd.MultiIndex.from_product(sides[:-1], names=self.names[:-1]) if len(sides) > 2 else sides[0]
        rows = np.reshape(self.cells, (-1, len(sides[-1])))
        table = frame(dict(enumerate(rows.T))).set_axis(pd.Index(sides[-1], name=self.names[-1]), axis=1)
        return table.set_axis(down if len(sides) > 2 else pd.Index(sides[0], name=self.names[0]), axis=0)

    def describe(self) -> str:
        """How many cells, and the largest."""
        return f"{self._size()} cells of {self._about()}; the largest is {self._largest()}."

    def _size(self) -> str:
        return " by ".join(str(len(one)) for one in self.levels)

    def _about(self) -> str:
        return " and ".join(self.names)

    def _largest(self) -> str:
        name = max(self, key=lambda one: self[one])
        return f"{label(tuple(name))} with {_said(self[name])}"

    def __str__(self) -> str:
        shown = [f"{label(tuple(name))}: {_said(self[name])}" for name in itertools.islice(self, FEW)]
        return listed(shown, len(self), "cells")


def _said(number: float) -> str:
    return f"{number:,}" if isinstance(number, int) else show(number)
