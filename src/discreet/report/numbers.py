"""Numbers as people read them: thousands apart, three or four digits that matter, and round places on an axis."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any, Final

from discreet.privacy.intervals import finite

NONE: Final = "–"
SMALLEST, LARGEST = 1e-4, 1e15  # outside, powers of ten are written
ROOM: Final = 46  # letters below an axis, on the narrowest page
RAISED: Final = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(thing: Any, digits: int = 4) -> str:
    """A number in a line for people.

    >>> number(12345), number(12345.678), number(0.10187), number(1e-6), number(None), number(26.0)
    ('12,345', '12,346', '0.1019', '10⁻⁶', '–', '26')
    """
    value = finite(thing)
    if value is None:
        return NONE
    size = abs(value)
    if size and not SMALLEST <= size < LARGEST:
        return _power(value)
    if isinstance(value, int):
        return f"{value:,}"
    places = max(0, digits - 1 - math.floor(math.log10(size))) if size else 0
    return _trimmed(f"{value:,.{places}f}")


def spelled(value: Any, low: Any, high: Any) -> tuple[str, str, str]:
    """A number and the ends of its interval, to the digits that the interval gives; the ends are rounded outwards.

    >>> spelled(26.612079, 26.378879, 26.84527)
    ('26.61', '26.37', '26.85')
    >>> spelled(850, 847, 853)
    ('850', '847', '853')
    """
    found = [finite(thing) for thing in (value, low, high)]
    known = [item for item in found if item is not None]
    largest, whole = max(map(abs, known), default=0), all(float(item).is_integer() for item in known)
    if len(known) < 3 or whole or known[1] == known[2] or not SMALLEST <= largest < LARGEST:
        return number(value), number(low), number(high)
    middle, below, above = known
    places = max(0, min(12, 1 - math.floor(math.log10(abs(above - below)) - math.log10(2))))  # of half its width
    shown = _unsigned(f"{middle:,.{places}f}")
    return shown, _rounded(below, places, ROUND_FLOOR), _rounded(above, places, ROUND_CEILING)


def whole_range(numbers: Iterable[Any]) -> tuple[float, float] | None:
    """The least and the greatest of what can be shown."""
    known = [item for item in map(finite, numbers) if item is not None]
    return (float(min(known)), float(max(known))) if known else None


@dataclass(frozen=True, slots=True)
class Axis:
    """A scale from `low` to `high`, as parts of a hundred across the picture."""

    low: float
    high: float

    @staticmethod
    def over(numbers: Iterable[Any], *, zero: bool = False) -> "Axis | None":
        """One that holds all of these numbers with some air; None if there are none."""
        ends = whole_range([*numbers, 0] if zero else numbers)
        if ends is None:
            return None
        low, high = (max(-1e300, min(1e300, end)) for end in ends)
        air = 0.06 * (high - low) or 0.5 * abs(low) or 1.0
        if zero:
            return Axis(low - air if low < 0 else 0.0, high + air if high > 0 or low == high else 0.0)
        return Axis(low - air, high + air)

    def at(self, place: float) -> float:
        """Where a number lies, from 2 to 98 per cent."""
        share = (place / 2 - self.low / 2) / (self.high / 2 - self.low / 2) if self.high > self.low else 0.5
        return round(2 + 96 * max(0.0, min(1.0, share)), 3)

    def ticks(self, most: int = 5) -> list[tuple[float, str]]:
        """Round places with their words: fewer of them if the words are long, so that a telephone has room.

        >>> Axis(0.0, 9.0).ticks()
        [(0.0, '0'), (2.0, '2'), (4.0, '4'), (6.0, '6'), (8.0, '8')]
        """
        span = self.high - self.low
        if not span > max(abs(self.low), abs(self.high)) * 1e-12 or not 1e-290 < span < 1e290:
            return [(end, number(end)) for end in dict.fromkeys((self.low, self.high))]
        tried = (self._places(span, many) for many in range(most, 0, -1))
        return next((found for found in tried if sum(len(said) + 2 for _, said in found) <= ROOM), [])

    def _places(self, span: float, most: int) -> list[tuple[float, str]]:
        power = 10.0 ** math.floor(math.log10(span / most))
        step = next(times * power for times in (1, 2, 2.5, 5, 10, 20) if span / (times * power) <= most)
        places = [step * k for k in range(math.ceil(self.low / step), math.floor(self.high / step) + 1)]
        if max(abs(self.low), abs(self.high)) >= 1e9 or step < 1e-6:
            return [(place, number(place)) for place in places]
        digits = next(k for k in range(8) if abs(round(step, k) - step) < step / 1000)
        return [(place, _unsigned(f"{place:,.{digits}f}")) for place in places]


def _power(value: float) -> str:
    digits, power = f"{value:.2e}".split("e")
    digits, raised = _trimmed(digits), f"10{str(int(power)).translate(RAISED)}"
    return (
        raised if digits == "1" else f"-{raised}" if digits == "-1" else f"{digits}\u00a0×\u00a0{raised}"
    )  # on one line


def _trimmed(text: str) -> str:
    return _unsigned(text.rstrip("0").rstrip(".") if "." in text else text)


def _unsigned(text: str) -> str:
    """No zero has a sign."""
    return text.removeprefix("-") if not text.strip("-0.,") else text


def _rounded(value: float, places: int, way: str) -> str:
    return _unsigned(f"{Decimal(repr(float(value))).quantize(Decimal(1).scaleb(-places), rounding=way):,}")
