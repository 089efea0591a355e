"""Numbers as they were written: charges are exact rationals.

The float 0.1 is not one tenth; the person who typed it meant one tenth. `exact` takes a float by its
shortest decimal form, so that ten charges of 0.1 make 1, and noise is calibrated to the same rational
that is charged.
"""

import math
from fractions import Fraction
from numbers import Rational, Real

Number = int | float | Fraction


def exact(number: Number) -> Fraction:
    """The rational that this number was written as.

    >>> sum([exact(0.1)] * 10) == 1
    True
    """
    if isinstance(number, Rational):
        return Fraction(int(number.numerator), int(number.denominator))  # plain ints: numpy's would overflow
    return Fraction(repr(float(number)))


def is_number(value: object) -> bool:
    """Whether `value` is one finite real number (and not a truth value)."""
    try:
        return not isinstance(value, bool) and isinstance(value, Real) and math.isfinite(value)
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


def show_range(low: float, high: float) -> str:
    """A range for people, with as many digits as tell its ends apart.

    >>> show_range(0.0, 1234.5678), show_range(1_699_989_200.0, 1_700_010_800.0)
    ('[0, 1234.57]', '[1699989200, 1700010800]')
    """
    size, width = max(abs(low), abs(high)), abs(high - low)
    digits = 6 + max(0, math.ceil(math.log10(size / width))) if width and math.isfinite(size) else 6
    return "[" + ", ".join(f"{end:.{min(digits, 17)}g}" for end in (low, high)) + "]"
