"""An answer in a plain sentence: for the page, and for a terminal.

Numbers are written as people read them: thousands apart, three or four digits that matter, and round places on an axis.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any, Final

from discreet.privacy.intervals import NamedNumber, Shown, finite
from discreet.privacy.picture import LEVEL, dated
from discreet.privacy.values import (
    ClassCoefficients,
    ClassCounts,
    Clusters,
    Coefficients,
    Comparison,
    Components,
    Counts,
    CrossCounts,
    Density,
    Matrix,
    Scalar,
    Shapes,
    Shares,
    StepCurve,
    SyntheticTable,
    TestResult,
    label,
)
from discreet.report.questions import named
from discreet.report.record import ReportEntry, entry_of

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

    @classmethod
    def over(cls, numbers: Iterable[Any], *, zero: bool = False) -> "Axis | None":
        """One that holds all of these numbers with some air; None if there are none."""
        ends = whole_range([*numbers, 0] if zero else numbers)
        if ends is None:
            return None
        low, high = (max(-1e300, min(1e300, end)) for end in ends)
        air = 0.06 * (high - low) or 0.5 * abs(low) or 1.0
        if zero:
            return cls(low - air if low < 0 else 0.0, high + air if high > 0 or low == high else 0.0)
        return cls(low - air, high + air)

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


NAMED: Final = 6  # more than so many numbers are not read out
QUESTIONS: Final = ("how", "what", "when", "where", "which", "who")
SEEDED: Final = "Not for publication: the noise was seeded and can be subtracted."


def sentence(entry: Mapping[str, Any] | ReportEntry) -> str:
    """What was asked and what the answer is, with its interval in words: of an entry of a report."""
    found = entry_of(entry)
    shown = found.shown()
    told = answer(found.asked, shown[0][1]) if found.release is not None else of_groups(found.asked, shown)
    return told if found.publishable else f"{told} {SEEDED}"


def answer(asked: str, shown: Shown) -> str:
    """The sentence of one release."""
    name, asked = shown.name.removeprefix(f"{asked}, "), named(asked)
    rows = [row for row in shown.drawn if row.value is not None]
    match shown.value:
        case None:
            refused = shown.refusal is not None
            return f"{_opened(asked)} {f'was refused: {_ended(str(shown.refusal))}' if refused else 'has no answer.'}"
        case Scalar(value=value) if not shown.numbers:
            return f"{_opened(asked)} is {label(value)}{_between_dates(shown)}."
        case Scalar():
            return _number(asked, shown, shown.numbers[0])
        case TestResult(p_value=p):
            null = f", {name}" if name and name not in asked else ""
            effect = f" The {rows[0].name} is {in_brackets(rows[0])}{_about(shown)}." if rows[0].barred else ""
            return f"{_capital(asked)}{null}: {decision(p)}{effect}"
        case Counts() | Shares() | Density() if not rows:
            return f"{_capital(asked)}: no bin is shown."
        case Counts() | Shares():
            largest = max(rows, key=lambda row: row.value or 0)
            many = "one bin" if len(rows) == 1 else f"{number(len(rows))} bins, the largest"
            told = f"{many} is {largest.name} with {in_brackets(largest)}"
            return f"{_capital(asked)}: {told}{_about(shown)}."
        case CrossCounts() as table:
            place = max(table, key=lambda one: table[one])
            largest = next(row for row in rows if row.name == label(tuple(place)))
            told = f"{' by '.join(str(len(one)) for one in table.levels)} cells, the largest is {largest.name} with"
            return f"{_capital(asked)}: {told} {in_brackets(largest)}{_about(shown)}."
        case Density(edges=edges):
            highest = max(rows, key=lambda row: row.value or 0)
            across = f"{len(rows)} bins from {number(float(edges[0]))} to {number(float(edges[-1]))}"
            band = "" if shown.interval is None else f"; {_covers(shown, 'the band covers')}"
            return f"{_capital(asked)}: a density of {across}, highest from {highest.name}{band}."
        case ClassCounts() | Shapes() | Clusters() | Components() | StepCurve() | SyntheticTable() as found:
            return f"{_capital(asked)}: {found.describe()}"
        case Matrix(cells=cells):
            few = replace(shown, numbers=unsure(shown), value=None)
            if 0 < len(few.numbers) <= NAMED:
                return _listing(asked, few)
            return f"{_opened(asked)} is a table of {cells.shape[0]} by {cells.shape[1]} numbers{_about(shown)}."
        case Coefficients() | ClassCoefficients() | Comparison() as found:
            return _listing(asked, shown) + (_effect(found) if isinstance(found, Comparison) else _clear_of_zero(shown))
    return _listing(asked, shown)


def unsure(shown: Shown) -> tuple[NamedNumber, ...]:
    """The numbers of a table that could have been others: none on the diagonal of correlations."""
    return tuple(row for row in shown.entries if row.barred and row.low != row.high)


def decision(p: float) -> str:
    """A p-value and what it decides at 5%, in words.

    >>> decision(0.0055)
    'p = 0.0055, so at the 5% level the null hypothesis is rejected.'
    """
    if not 0 <= p <= 1:
        return "there is no p-value."
    done = "is rejected" if p <= LEVEL else "is not rejected (which does not show that it is true)"
    return f"p {chance(p)}, so at the 5% level the null hypothesis {done}."


def _effect(found: Comparison) -> str:
    odd = "" if found.as_planned else " The groups are not of the planned sizes: find out why before you decide."
    return f" For no difference, {decision(found.p_value)}{odd}"


def chance(p: float) -> str:
    """A p-value behind its p."""
    return "< 0.0001" if p < 0.0001 else f"= {number(p, 3)}"


def in_brackets(row: NamedNumber) -> str:
    """A number with its interval behind it.

    >>> in_brackets(NamedNumber("a", 26.4123, 26.1, 26.7)), in_brackets(NamedNumber("b", 3.0))
    ('26.41 (26.10 to 26.70)', '3')
    """
    if not row.barred:
        return number(row.value)
    value, low, high = spelled(row.value, row.low, row.high)
    return f"{value} ({low} to {high})"


def half_widths(shown: Sequence[Shown]) -> str:
    """The half-widths of all intervals, as one number or a range; nothing where there are none."""
    dates = [date for one in shown if (date := dated(one)) is not None]
    found = dates or [row for one in shown for row in one.numbers if row.barred]
    said = spanned((row.high or 0) / 2 - (row.low or 0) / 2 for row in found)
    return f"{said} days" if dates else said


def spanned(numbers: Any) -> str:
    """One number, or the least to the greatest of several."""
    ends = whole_range(numbers)
    if ends is None:
        return ""
    least, most = (number(end, 3) for end in ends)
    return least if least == most else f"{least} to {most}"


def leaves(thing: Any) -> Iterator[Any]:
    """The numbers in a forecast, which is one number or one for each part."""
    match thing:
        case Mapping():
            for item in thing.values():
                yield from leaves(item)
        case list():
            for item in thing:
                yield from leaves(item)
        case _:
            yield thing


def of_groups(asked: str, groups: Sequence[tuple[Any, Shown]]) -> str:
    """The sentence of several groups."""
    asked = named(asked)
    told = []
    for key, shown in groups[:NAMED]:
        match shown.value:
            case None:
                said = "refused"
            case Scalar(value=value) if not shown.numbers:
                ends = "" if shown.interval is None else f" ({shown.interval.low} to {shown.interval.high})"
                said = f"{label(value)}{ends}"
            case TestResult(p_value=p):
                effect = f", {in_brackets(shown.numbers[0])}" if shown.numbers[0].barred else ""
                said = f"p {chance(p)}{effect}"
            case _:
                said = (in_brackets(shown.numbers[0]) if shown.numbers else "none") + (
                    ", ..." if len(shown.numbers) > 1 else ""
                )
        told.append(f"{label(key)} {said}")
    rest = len(groups) - NAMED
    more = f"; and {rest} more group{'s' if rest > 1 else ''}" if rest > 0 else ""
    return f"{_capital(asked)}: {'; '.join(told) or 'no group'}{more}{_about_groups(groups)}."


def _about_groups(groups: Sequence[tuple[Any, Shown]]) -> str:
    """What the intervals cover: said once, or of each group where that differs, as limits do that were found."""
    barred = [(key, shown) for key, shown in groups if shown.interval is not None]
    covered = [f"{label(key)}, {shown.interval.about}" for key, shown in barred if shown.interval is not None]
    if len({shown.interval.about for _, shown in barred if shown.interval is not None}) < 2:
        return _about(barred[0][1]) if barred else ""
    first, more = barred[0][1], "; and so on" if len(covered) > NAMED else ""
    what = f"the intervals in brackets cover, with {_percent(first)} confidence"
    return f"; {what}: for {'; for '.join(covered[:NAMED])}{more}{_noise(first)}"


def _number(asked: str, shown: Shown, row: NamedNumber) -> str:
    if not row.barred or shown.interval is None:
        why = f": {shown.no_interval}" if shown.no_interval else ""
        return f"{_opened(asked)} is {number(row.value)}; it has no interval{_ended(why)}"
    value, low, high = spelled(row.value, row.low, row.high)
    about = shown.interval.about or "the true number"
    comma = "," if "," in about else ""
    lies = f"with {_percent(shown)} confidence {about}{comma} lies between {low} and {high}{_noise(shown)}"
    return f"{_opened(asked)} is {value}; {lies}."


def _between_dates(shown: Shown) -> str:
    """The interval of a date."""
    if shown.interval is None:
        return ""
    low, high = shown.interval
    return f"; with {_percent(shown)} confidence {shown.interval.about} lies between {low} and {high}{_noise(shown)}"


def _listing(asked: str, shown: Shown) -> str:
    told = [f"{row.name} {in_brackets(row)}" for row in shown.drawn]
    more = f", and {len(told) - NAMED} more" if len(told) > NAMED else ""
    return f"{_capital(asked)}: {', '.join(told[:NAMED])}{more}{_about(shown)}."


def _clear_of_zero(shown: Shown) -> str:
    barred = [row for row in shown.drawn if row.barred]
    if not barred or shown.is_noise:
        return ""
    clear = [row.name for row in barred if (row.low or 0) > 0 or (row.high or 0) < 0]
    if not clear:
        return " All intervals include 0."
    if len(clear) == len(barred):
        return " No interval includes 0."
    named = f"{', '.join(clear[:NAMED])}{', ...' if len(clear) > NAMED else ''}"
    return f" The interval of {named} excludes 0." if len(clear) == 1 else f" The intervals of {named} exclude 0."


def _about(shown: Shown) -> str:
    return "" if shown.interval is None else f"; {_covers(shown, 'the intervals in brackets cover')}{_noise(shown)}"


def _covers(shown: Shown, what: str) -> str:
    about = "" if shown.interval is None else shown.interval.about
    return f"{what}, with {_percent(shown)} confidence, {about or 'the true numbers'}"


def _percent(shown: Shown) -> str:
    return "" if shown.interval is None else f"{100 * shown.interval.confidence:.6g}%"


def _noise(shown: Shown) -> str:
    return " (this allows for the privacy noise, not for sampling)" if shown.is_noise else ""


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _opened(asked: str) -> str:
    """The question as the subject of a sentence."""
    first = asked.split(" ", 1)[0].lower()
    if asked.endswith("?") or first in QUESTIONS:
        return f"{_capital(asked.rstrip('?'))}? The answer"
    return _capital(asked) if first in {"the", "a", "an"} else f"The {asked}"


def _ended(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."
