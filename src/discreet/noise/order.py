"""Order statistics in linear time: the values of some ranks, without sorting the rest."""

import math
from typing import Final

import numpy as np
import numpy.typing as npt

MANY: Final = 1 << 17  # values from which a look at some of them saves work on the others
SOME: Final = 1 << 13
Floats = npt.NDArray[np.float64]


def order_statistics(values: Floats, start: int, stop: int) -> Floats:
    """The values of ranks `start` to `stop - 1`, in no order; none of them is NaN.

    Every so-manieth value tells where those ranks lie; if the count says that it told wrong, all are partitioned.

    >>> sorted(order_statistics(np.array([5.0, 1.0, 4.0, 2.0, 3.0]), 1, 3).tolist())
    [2.0, 3.0]
    """
    size = len(values)
    if start == 0 and stop == size:
        return values
    if size >= MANY:
        seen = np.sort(values[:: size // SOME])
        room = 3 * math.sqrt(len(seen))  # six standard deviations of a median's rank
        low = math.floor(start / size * len(seen) - room) - 1
        high = math.ceil(stop / size * len(seen) + room) + 1
        above = values >= (seen[low] if low > 0 else -math.inf)
        within = values[above & (values <= (seen[high] if high < len(seen) else math.inf))]
        below = size - int(np.count_nonzero(above))
        if below <= start and stop <= below + len(within):
            values, start, stop = within, start - below, stop - below
    kept = np.partition(values, stop - 1)[:stop] if stop < len(values) else values.copy()
    if start:
        kept.partition(start)  # in place: one copy of the data is enough
    return kept[start:]
