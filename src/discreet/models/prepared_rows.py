"""People's rows as small whole numbers, made here once or, of a stream, where they are whenever they are passed over.

A kernel of prepared rows gives whole numbers, whose sum is the same however rows are cut ([streams.1]): so what a
regression makes of it is the same to the last digit wherever the rows are.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from discreet.models.features import Prepared
from discreet.stages.clip import Floats
from discreet.tables.streams import Merge, R, Stream

Prepare = Callable[[Floats], Prepared]  # a function of each row by itself


@dataclass(frozen=True, slots=True, eq=False)
class FarPrepared:
    """A stream of rows that are prepared where they are; `blank` is what is made of none of them."""

    rows: Stream
    prepare: Prepare
    blank: Prepared

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
    return FarPrepared(rows, prepare, prepare(np.empty((0, width)))) if isinstance(rows, Stream) else prepare(rows)


def over(kernel: Callable[[Iterator[Prepared]], R], merge: Merge[R], rows: AnyPrepared) -> R:
    """The kernel of prepared rows, merged."""
    if isinstance(rows, FarPrepared):
        return rows.rows.fold(partial(_prepared, rows.prepare, kernel), merge)
    return kernel(iter((rows,)))


def _prepared(prepare: Prepare, kernel: Callable[[Iterator[Prepared]], R], given: Iterator[Floats]) -> R:
    """On a worker: the kernel of rows as they are prepared there."""
    return kernel(map(prepare, given))
