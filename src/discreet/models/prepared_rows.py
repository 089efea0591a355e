"""People's rows as small whole numbers, made once: here or, of a stream, where they are, and kept there if there is
room ([kept_rows.1]); else made whenever they are passed over.

A kernel of prepared rows gives whole numbers, whose sum is the same however rows are cut ([streams.1]): so what a
regression makes of it is the same to the last digit wherever the rows are.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from discreet.models.features import Prepared
from discreet.stages.clip import Floats
from discreet.tables.kept_rows import FLOAT, kept
from discreet.tables.streams import Merge, R, Stream, each

Prepare = Callable[[Floats], Prepared]  # a function of each row by itself


@dataclass(frozen=True, slots=True, eq=False)
class FarPrepared:
    """A stream of rows that are prepared where they are, their steps, weights and outcomes by name; `blank` is what is
    made of none of them."""

    rows: Stream
    blank: Prepared

    @classmethod
    def of(cls, rows: Stream, prepare: Prepare, blank: Prepared) -> "FarPrepared":
        """Prepared there, and kept if there is room."""
        wide = blank.steps.itemsize * blank.steps.shape[1] + 2 * FLOAT
        return cls(kept(each(partial(_by_name, prepare), rows, dict), wide), blank)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def steps(self) -> Any:
        """Of no rows: as many columns as there are coefficients."""
        return self.blank.steps

    @property
    def radius(self) -> float:
        """R."""
        return self.blank.radius

    @property
    def bend(self) -> int:
        """As of rows that are held."""
        return self.blank.bend


AnyPrepared = Prepared | FarPrepared


def ready(rows: Any, prepare: Prepare, width: int) -> AnyPrepared:
    """Rows of so many entries, prepared."""
    return FarPrepared.of(rows, prepare, prepare(np.empty((0, width)))) if isinstance(rows, Stream) else prepare(rows)


def over(kernel: Callable[[Iterator[Prepared]], R], merge: Merge[R], rows: AnyPrepared) -> R:
    """The kernel of prepared rows, merged."""
    if isinstance(rows, FarPrepared):
        return rows.rows.fold(partial(_prepared, rows.radius, rows.bend, kernel), merge)
    return kernel(iter((rows,)))


def _by_name(prepare: Prepare, piece: Floats) -> dict[str, Any]:
    found = prepare(piece)
    return {"steps": found.steps, "weight": found.weight, "outcome": found.outcome}


def _prepared(
    radius: float, bend: int, kernel: Callable[[Iterator[Prepared]], R], given: Iterator[Mapping[str, Any]]
) -> R:
    """On a worker: the kernel of rows as they were prepared there."""
    return kernel(Prepared(**piece, radius=radius, bend=bend) for piece in given)
