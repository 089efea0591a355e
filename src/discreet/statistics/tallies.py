"""How often each category occurs in a column: a fold, whose result does not depend on the order of rows."""

from collections import Counter
from collections.abc import Hashable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.tables.entries import key
from discreet.tables.streams import Stream, fold


def tally(values: npt.NDArray[Any] | Stream) -> dict[Hashable, int]:
    """How often each canonical key occurs, in an order of the keys' own: that of rows is no fact."""
    found = fold(_tally, _plus, values)
    return {one: found[one] for one in sorted(found, key=_rank)}


def _rank(one: Hashable) -> tuple[int, Any]:
    if isinstance(one, int | float):
        return 0, one
    return (1, one) if isinstance(one, str) else (2, (type(one).__name__, repr(one)))


def _plus(one: Counter[Hashable], other: Counter[Hashable]) -> Counter[Hashable]:
    one.update(other)
    return one


def _tally(given: Iterator[npt.NDArray[Any]]) -> Counter[Hashable]:
    """A kernel: how often each key occurs in some rows."""
    found: Counter[Hashable] = Counter()
    for piece in given:
        found.update(_piece_tally(piece))
    return found


def _piece_tally(values: npt.NDArray[Any]) -> Counter[Hashable]:
    if values.dtype.kind in "biufUS":
        distinct, times = np.unique(values, return_counts=True)
        found: Counter[Hashable] = Counter()
        for entry, count in zip(distinct.tolist(), times.tolist(), strict=True):
            found[key(entry)] += count
        return found
    return Counter(entry if type(entry) is str else key(entry) for entry in values)  # a plain text is its own key
