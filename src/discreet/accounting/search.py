"""The last float for which something holds, by bisection. Whatever is returned has been tried and found to hold."""

import math
import struct
from collections.abc import Callable


def largest(holds: Callable[[float], bool], high: float = math.inf) -> float:
    """The largest float in [0, high) at which `holds`, if it holds up to some point and not beyond; 0.0 if nowhere.

    >>> largest(lambda x: x * x <= 2)
    1.414213562373095
    """
    low, top = 0, _rank(high)
    while top - low > 1:
        middle = (low + top) // 2
        if holds(_float(middle)):
            low = middle
        else:
            top = middle
    return _float(low)


def smallest(holds: Callable[[float], bool], high: float = 1.7e308) -> float:
    """The smallest float in [0, high] at which `holds`, if it holds from some point on; infinity if nowhere.

    >>> smallest(lambda x: x * x >= 2)
    1.4142135623730951
    """
    if holds(0.0):
        return 0.0
    if not holds(high):
        return math.inf
    low, top = 0, _rank(high)
    while top - low > 1:
        middle = (low + top) // 2
        if holds(_float(middle)):
            top = middle
        else:
            low = middle
    return _float(top)


def _rank(number: float) -> int:
    """Floats that are not negative are ordered as their bits are."""
    rank: int = struct.unpack("<q", struct.pack("<d", number))[0]
    return rank


def _float(rank: int) -> float:
    number: float = struct.unpack("<d", struct.pack("<q", rank))[0]
    return number
