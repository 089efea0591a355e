"""Bisection: where something begins to hold. Of the two ends that are left, each was tried, or given by the caller."""

import math
import struct
from collections.abc import Callable


def least_whole(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The least whole number above `low` at which `holds`, if it holds from there on; `high` itself is not tried.

    The number below the answer was tried and did not hold, or is `low`.

    >>> least_whole(lambda x: x * x >= 2000, 0, 100)
    45
    """
    while high - low > 1:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle
    return high


def bisect(
    holds: Callable[[float], bool], low: float, high: float, steps: int = 60, *, close: float = 0.0
) -> tuple[float, float]:
    """Two numbers, `holds` at the upper and not at the lower, if it holds from some place between two ends on.

    The interval is halved so many times, or until its width is below `close` times the upper end. The ends that are
    given are not tried.

    >>> bisect(lambda x: x * x >= 2, 0.0, 2.0, steps=10)
    (1.4140625, 1.416015625)
    """
    for _ in range(steps):
        if high - low < close * high:
            break
        middle = (low + high) / 2
        if holds(middle):
            high = middle
        else:
            low = middle
    return low, high


def solve(rising: Callable[[float], float], target: float, low: float, high: float) -> float:
    """Where a rising function meets a target; an end if it does not.

    >>> round(solve(lambda x: x**3, 2.0, 0.0, 2.0), 6)
    1.259921
    """
    low, high = bisect(lambda x: rising(x) >= target, low, high, steps=80)
    return (low + high) / 2


def largest(holds: Callable[[float], bool], high: float = math.inf) -> float:
    """The largest float in [0, high) at which `holds`, if it holds up to some point and not beyond; 0.0 if nowhere.

    >>> largest(lambda x: x * x <= 2)
    1.414213562373095
    """
    return _float(least_whole(lambda rank: not holds(_float(rank)), 0, _rank(high)) - 1)


def smallest(holds: Callable[[float], bool], high: float = 1.7e308) -> float:
    """The smallest float in [0, high] at which `holds`, if it holds from some point on; infinity if nowhere.

    >>> smallest(lambda x: x * x >= 2)
    1.4142135623730951
    """
    if holds(0.0):
        return 0.0
    if not holds(high):
        return math.inf
    return _float(least_whole(lambda rank: holds(_float(rank)), 0, _rank(high)))


def _rank(number: float) -> int:
    """Floats that are not negative are ordered as their bits are."""
    rank: int = struct.unpack("<q", struct.pack("<d", number))[0]
    return rank


def _float(rank: int) -> float:
    number: float = struct.unpack("<d", struct.pack("<q", rank))[0]
    return number
