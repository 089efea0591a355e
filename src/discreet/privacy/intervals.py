"""Error bars, and every number of a release beside its own.

An interval says what it covers: the population quantity, or only the number in this table. One whose ends were drawn
stands at the confidence that was declared. `Shown` is a release as it is said, tabled and drawn; the table of named
coefficients is made of it alone. A p-value there is that of the coefficient 0, two-sided, by the normal distribution;
"-" stands where a coefficient has no interval, or one that leaves out sampling.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from typing import Any, Final, Protocol

import numpy as np

from discreet.errors import BadInput, Refused
from discreet.privacy.exact import is_number, show
from discreet.privacy.value_arrays import listed
from discreet.privacy.values import (
    ClassCoefficients,
    Clusters,
    Coefficients,
    Comparison,
    Density,
    Matrix,
    Scalar,
    TestResult,
    Value,
    Vector,
    label,
    like,
)

LINES: Final = 20  # of a table in a terminal; a data frame has them all


@dataclass(frozen=True, slots=True)
class Interval:
    """From `low` to `high`, at a level of confidence, about a named quantity.

    `population` is True when the interval allows for sampling as well as for the privacy noise. One that
    allows for the noise alone is about the number in the table and is never called a confidence interval.
    """

    low: Any
    high: Any
    _: KW_ONLY
    confidence: float
    about: str
    population: bool

    def __iter__(self) -> Iterator[Any]:
        """For `low, high = release.interval()`."""
        return iter((self.low, self.high))

    @property
    def name(self) -> str:
        """What to call it."""
        percent = f"{100 * self.confidence:.15g}%"
        return f"{percent} confidence interval" if self.population else f"{percent} noise interval"


class Spread(Protocol):
    """The error of a release, computed from what was released and nothing else."""

    @property
    def sampling(self) -> Any:
        """Standard deviation from sampling people, None where the table itself is the target."""

    @property
    def privacy(self) -> Any:
        """Standard deviation from the privacy noise."""

    def interval(self, confidence: float) -> Interval:
        """The interval at this confidence."""


def check_confidence(confidence: object) -> float:
    """A confidence between 0 and 1, as a float; one too near 1 for floats to tell is refused."""
    if not is_number(confidence) or not 0 < confidence <= 1 - 1e-12:  # type: ignore[operator]
        raise BadInput(f"confidence is {confidence!r}; it must be between 0 and 1 - 1e-12, for example 0.95")
    return float(confidence)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class QuantileSpread:
    """The interval that was drawn; standard deviations of the value, read off the interval's own width."""

    low: Any
    high: Any
    _: KW_ONLY
    confidence: float
    about: str
    sampling: Any
    privacy: Any
    target: str = ""  # stands beside the name of the answer

    def interval(self, confidence: float) -> Interval:
        """The interval, at the confidence that was declared."""
        if confidence > self.confidence:
            raise Refused(
                f"the interval was drawn at confidence {show(self.confidence)}, and {show(confidence)} is asked for; "
                f"its ends are what was released: declare confidence={show(confidence)} before the next release"
            )
        return Interval(self.low, self.high, confidence=self.confidence, about=self.about, population=True)


@dataclass(frozen=True, slots=True)
class Mapped:
    """The spread of a monotone function of a release: the ends of the interval are mapped."""

    inner: Spread
    function: Callable[[Any], Any]
    sampling: None = None
    privacy: None = None

    @property
    def confidence(self) -> float:
        """The declared confidence, or the usual one."""
        return float(getattr(self.inner, "confidence", 0.95))

    def interval(self, confidence: float) -> Interval:
        """Both ends mapped, in order."""
        inner = self.inner.interval(confidence)
        try:
            first, second = self.function(inner.low), self.function(inner.high)
            low, high = (first, second) if np.all(first <= second) else (second, first)
        except Exception:  # noqa: BLE001  log at 0, say: the answer stands, its error bar does not
            raise Refused("no interval: the function has no value, or none to compare, at one of its ends") from None
        return replace(inner, low=low, high=high, about=f"a function of {inner.about}")


@dataclass(frozen=True, slots=True)
class NamedNumber:
    """One released number, the ends of its interval, and the standard deviations of its error; None for none.

    `aside` says that it is not drawn beside the others.
    """

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    sampling: float | None = None
    privacy: float | None = None
    aside: bool = False

    @property
    def barred(self) -> bool:
        """Whether it has an interval."""
        return self.low is not None and self.high is not None

    @property
    def told(self) -> tuple[str, str]:
        """The number and its interval for people: half the interval's width has two digits, and its ends lie outside.

        >>> NamedNumber("", 34.38006, 32.5333, 36.2268).told, NamedNumber("", 102.0, 96.0, 109.0).told
        (('34.4', '[32.5, 36.3]'), ('102', '[96, 109]'))
        """
        if self.value is None:
            return "-", "-"
        if self.low is None or self.high is None:
            return (f"{self.value:,}" if isinstance(self.value, int) else show(self.value)), "-"
        three, half = (self.value, self.low, self.high), (self.high - self.low) / 2
        size = max(map(abs, three))
        if not half > 0 or not 1e-4 <= size < 1e15:
            value, low, high = (f"{number:.{6 if half else 12}g}" for number in three)
            return value, f"[{low}, {high}]"
        exact = [Decimal(repr(number)).normalize() for number in three]
        needed = max(-int(number.as_tuple().exponent) for number in exact)
        unit = Decimal(1).scaleb(-min(1 - math.floor(math.log10(half)), max(needed, 0)))
        ways = (ROUND_HALF_EVEN, ROUND_FLOOR, ROUND_CEILING)
        value, low, high = (f"{one.quantize(unit, way) + 0:f}" for one, way in zip(exact, ways, strict=True))
        return value, f"[{low}, {high}]"

    @property
    def error(self) -> float | None:
        """The standard error with the noise in it, where there is an interval."""
        known = [size for size in (self.sampling, self.privacy) if size is not None]
        return math.hypot(*known) if known and self.barred else None


@dataclass(frozen=True, slots=True)
class Shown:
    """What there is to show of a release; `value` is None if it was refused."""

    name: str
    value: Value | None
    numbers: tuple[NamedNumber, ...]
    interval: Interval | None = None
    refusal: str | None = None
    no_interval: str | None = None

    @property
    def drawn(self) -> tuple[NamedNumber, ...]:
        """The numbers that belong into a picture of them."""
        return tuple(number for number in self.numbers if not number.aside)

    @property
    def is_noise(self) -> bool:
        """Whether the interval leaves out sampling."""
        return self.interval is not None and not self.interval.population

    @property
    def text(self) -> NamedNumber:
        """What stands in a table for a value without numbers: a text, or a date with its interval."""
        value: Any = self.value.value if isinstance(self.value, Scalar) else None
        low, high = (None, None) if self.interval is None or value is None else self.interval
        return NamedNumber("", value, low, high)

    @property
    def entries(self) -> tuple[NamedNumber, ...]:
        """The numbers for people: of a symmetric table each pair once."""
        if not isinstance(self.value, Matrix) or self.value.across:
            return self.numbers
        wide = len(self.value)
        return tuple(one for place, one in enumerate(self.numbers) if place % wide >= place // wide)

    @property
    def tabled(self) -> bool:
        """Whether it is a table of numbers rather than one line."""
        return len(self.numbers) > 1 and not isinstance(self.value, Clusters | Density | TestResult | Scalar | None)

    @property
    def told(self) -> str:
        """The value in a line for people; one number has the digits that its interval gives."""
        match self.value, self.numbers:
            case Scalar(float()), (number, *_) if number.barred:
                return number.told[0]
            case TestResult() as tested, (number, *_) if number.barred:
                return tested.with_effect(number.told[0])
        return str(self.value)

    @property
    def range(self) -> str:
        """The interval in a line for people."""
        barred = [number for number in self.numbers if number.barred]
        match self.value:
            case Scalar() if self.interval is not None and isinstance(self.interval.low, str):  # dates
                return f"[{self.interval.low}, {self.interval.high}]"
            case Density():
                half = max(((number.high or 0.0) - (number.low or 0.0) for number in barred), default=0.0) / 2
                return f"within {few(half)} at the widest"
        return barred[0].told[1] if len(barred) == 1 else ""

    @property
    def short(self) -> str:
        """The value with its interval, where the reader knows what kind of interval it is."""
        return " ".join(self.numbers[0].told) if len(self.numbers) == 1 else self.line

    @property
    def line(self) -> str:
        """The value with its interval in one line."""
        if self.tabled:
            told = [
                " ".join([label(one.name), *(text for text in one.told if text != "-")]) for one in self.entries[:4]
            ]
            p = f"; p = {self.value.p_value:.3g}" if isinstance(self.value, Comparison) else ""
            return f"{listed(told, len(self.entries) - 2 * bool(p))}{p}"
        return f"{self.told}, {self.interval.name} {self.range}" if self.range and self.interval else self.told

    def table(self) -> list[str]:
        """Every number on a line: its name, itself, its interval and the parts of its error, as far as it has them."""
        parts = ("sampling", "privacy")
        numbers = self.entries
        kept = [part for part in parts if any(getattr(one, part) is not None for one in numbers)]
        bars = any(one.barred for one in numbers)
        head = ["", "estimate", *(["interval"] if bars else []), *kept]
        rows = [
            [
                label(one.name),
                one.told[0],
                *([one.told[1]] if bars else []),
                *(few(getattr(one, part)) for part in kept),
            ]
            for one in numbers[:LINES]
        ]
        more = len(numbers) - LINES
        return [*aligned([head, *rows]), *([f"... and {more} more; to_frame() has them all"] if more > 0 else [])]


def numbers_of(value: Value, interval: Interval | None, sampling: Any, privacy: Any) -> tuple[NamedNumber, ...]:
    """Every number of a value with its error, in order; last those that have none."""
    ends = [None, None] if interval is None else [interval.low, interval.high]
    each = zip(value.labels, value.numbers, *(like(value, one) for one in (*ends, sampling, privacy)), strict=True)
    every = 0  # so many numbers there is an intercept, which is on no scale of the others
    match value:
        case Coefficients():
            every = len(value.numbers)
        case ClassCoefficients(names=names):
            every = len(names) + 1
    found = [
        NamedNumber(
            name,
            finite(number),
            finite(low),
            finite(high),
            finite(drawn),
            finite(noise),
            bool(every) and place % every == 0,
        )
        for place, (name, number, low, high, drawn, noise) in enumerate(each)
    ]
    return (*found, *(NamedNumber(name, finite(number), aside=True) for name, number in value.rest))


def finite(thing: Any) -> float | None:
    """The number, if it is one that can be shown: None of anything else."""
    if isinstance(thing, bool) or not isinstance(thing, int | float):
        return None
    try:
        return thing if math.isfinite(thing) else None
    except OverflowError:  # a whole number beyond the floats
        return None


def columns_of(rows: Iterable[tuple[tuple[Any, ...], Shown]], first: tuple[str, ...]) -> dict[str, list[Any]]:
    """The numbers of releases as columns; `first` names what stands before each of them."""
    fields = ("value", "low", "high", "sampling", "privacy")
    table: dict[str, list[Any]] = {name: [] for name in (*first, "name", *fields)}
    for before, shown in rows:
        for one in shown.numbers or (shown.text,):
            cells = (*before, one.name, *(getattr(one, field) for field in fields))
            for column, cell in zip(table.values(), cells, strict=True):
                column.append(cell)
    return table


def coefficients(shown: Shown) -> list[NamedNumber] | None:
    """The named coefficients in order, the intercept first where there is one; None if there are none."""
    match shown.value:
        case Coefficients() | ClassCoefficients() | Vector(names=(_, *_)):
            return [one for one in shown.numbers if one.name != "intercept" or one.value or one.error]
    return None


def coefficient_table(rows: list[NamedNumber], interval: Interval | None, confidence: float) -> list[str]:
    """Lines of a table: estimate, standard error with the noise in it, p-value, interval."""
    tail = (1 - confidence) / 2
    cells = [("", "coef", "std err", "p", f"[{tail:.4g}", f"{1 - tail:.4g}]")]
    for one in rows:
        sampled = one.error is not None and interval is not None and interval.population
        p = math.erfc(abs((one.value or 0.0) / one.error) / math.sqrt(2)) if sampled and one.error else None
        told = "-" if p is None else "<0.001" if p < 0.001 else f"{p:.3f}"
        cells.append((one.name, _short(one.value), _short(one.error), told, _short(one.low), _short(one.high)))
    body = aligned(cells)
    rule = "-" * len(body[0])
    return [rule, body[0], rule, *body[1:], rule]


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """The rows of a table as lines: names to the left, the rest to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.rjust(wide) if place else cell.ljust(wide)
            for place, (cell, wide) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]


def few(number: float | None) -> str:
    """The size of an error for people: two digits.

    >>> few(1234.5), few(0.02349), few(None)
    ('1200', '0.023', '-')
    """
    return "-" if number is None else f"{float(f'{number:.2g}'):g}"


def _short(number: float | None) -> str:
    return "-" if number is None else f"{number:.4g}"
