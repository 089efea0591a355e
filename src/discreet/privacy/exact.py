"""Numbers as they were written: charges are exact rationals. And bisection, where something begins to hold.

The float 0.1 is not one tenth; the person who typed it meant one tenth. `exact` takes a float by its shortest decimal
form, so that ten charges of 0.1 make 1, and noise is calibrated to the same rational that is charged. Of the two ends
that a bisection leaves, each was tried, or given by the caller.
"""

import math
import struct
import sys
from collections.abc import Callable
from fractions import Fraction
from numbers import Rational, Real

Number = int | float | Fraction


def exact(number: Number) -> Fraction:
    """The rational that this number was written as.

    >>> sum([exact(0.1)] * 10) == 1
    True
    """
    if type(number) is Fraction and type(number.numerator) is type(number.denominator) is int:
        return number
    if isinstance(number, Rational):
        return Fraction(int(number.numerator), int(number.denominator))  # plain ints: numpy's would overflow
    return Fraction(repr(float(number)))


def is_number(value: object) -> bool:
    """Whether `value` is one finite real number (and not a truth value)."""
    try:
        plain = type(value) in (float, int, Fraction)  # asked first: it is quick
        return (plain or (not isinstance(value, bool) and isinstance(value, Real))) and math.isfinite(value)  # type: ignore[arg-type]
    except OverflowError:  # a whole number beyond the floats
        return False


def float_above(number: Fraction) -> float:
    """The least float that is not below `number`."""
    nearest = float(number)
    return nearest if Fraction(nearest) >= number else math.nextafter(nearest, math.inf)


def root_above(number: Number, bits: int = 60) -> Fraction:
    """A rational just above the square root of `number`, within 2**-bits of it.

    >>> 2 < root_above(2) ** 2 < 2 + 1e-15
    True
    """
    square = exact(number) * 4**bits
    floor = math.isqrt(math.floor(square))
    return Fraction(floor if floor * floor == square else floor + 1, 2**bits)


def root_below(number: Number, bits: int = 60) -> Fraction:
    """A rational just below the square root of `number`, within 2**-bits of it.

    >>> 2 - 1e-15 < root_below(2) ** 2 < 2
    True
    """
    return Fraction(math.isqrt(math.floor(exact(number) * 4**bits)), 2**bits)


def show(number: Number) -> str:
    """A number for people: at most six significant digits, no trailing noise."""
    return f"{float(number):.6g}"


def show_beside(number: Number, low: float, high: float) -> str:
    """A number for people beside a range that it is in or near: with digits that tell the ends of the range apart.

    >>> show_beside(26.568612, 26.3676, 26.7695), show_beside(1.7e9 + 12.3, 1.7e9 - 180.0, 1.7e9 + 205.0)
    ('26.5686', '1700000012')
    """
    size, width = max(abs(low), abs(high)), abs(high - low)
    if not 0 < width < size < 1e15 or size < 1e3 * width:
        return show(number)
    places = max(0, 3 + math.ceil(math.log10(size / width)) - math.ceil(math.log10(size)))
    return f"{float(number):.{places}f}".removesuffix(f".{'0' * places}")


def show_range(low: float, high: float) -> str:
    """A range for people.

    >>> show_range(0.0, 1234.5678), show_range(1_699_989_200.0, 1_700_010_800.0)
    ('[0, 1234.57]', '[1699989200, 1700010800]')
    """
    return f"[{show_beside(low, low, high)}, {show_beside(high, low, high)}]"


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


def crossing(function: Callable[[float], float], low: float, high: float, *, close: float) -> float:
    """Where a continuous function changes its sign between two ends, within `close`: Brent's method.

    A secant or an inverse parabola through the last points where that is a short step, else a halving. The same steps,
    digit by digit, as those of scipy.optimize.brentq, which takes a quarter of a second to load.

    >>> round(crossing(lambda x: x**3 - 2.0, 0.0, 2.0, close=1e-9), 6)
    1.259921
    """
    before, here = low, high
    at_before, at_here = function(before), function(here)
    if at_before == 0 or at_here == 0:
        return before if at_before == 0 else here
    if (at_before < 0) == (at_here < 0):
        raise ValueError("the function has the same sign at both ends")
    across, at_across, last, step = 0.0, 0.0, 0.0, 0.0
    for _ in range(100):
        if at_before != 0 and at_here != 0 and (at_before < 0) != (at_here < 0):
            across, at_across = before, at_before
            last = step = here - before
        if abs(at_across) < abs(at_here):
            before, here, across = here, across, here
            at_before, at_here, at_across = at_here, at_across, at_here
        near, half = (close + 4 * sys.float_info.epsilon * abs(here)) / 2, (across - here) / 2
        if at_here == 0 or abs(half) < near:
            break
        if abs(last) > near and abs(at_here) < abs(at_before):
            if before == across:
                tried = -at_here * (here - before) / (at_here - at_before)
            else:
                one, other = (at_before - at_here) / (before - here), (at_across - at_here) / (across - here)
                tried = -at_here * (at_across * other - at_before * one) / (other * one * (at_across - at_before))
            short = 2 * abs(tried) < min(abs(last), 3 * abs(half) - near)
            last, step = (step, tried) if short else (half, half)
        else:
            last = step = half
        before, at_before = here, at_here
        here += step if abs(step) > near else math.copysign(near, half)
        at_here = function(here)
    return here


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
