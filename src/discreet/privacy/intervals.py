"""Error bars, and every number of a release beside its own.

An interval says what it covers: the population quantity, or only the number in this table. One whose ends were drawn
stands at the confidence that was declared. `Shown` is a release as it is said, tabled and drawn; the table of named
coefficients is made of it alone. A p-value there is that of the coefficient 0, two-sided, by the normal distribution;
"-" stands where a coefficient has no interval, or one that leaves out sampling.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, Protocol

from discreet.errors import BadInput, Refused
from discreet.privacy.exact import is_number, show, show_beside, show_range
from discreet.privacy.values import Coefficients, Density, Matrix, Scalar, Value, Vector, like, value_of


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

    def interval(self, confidence: float) -> Interval:
        """The interval, at the confidence that was declared."""
        if confidence > self.confidence:
            raise Refused(
                f"the interval was drawn at confidence {show(self.confidence)}, and {show(confidence)} is asked for; "
                f"its ends are what was released: declare confidence={show(confidence)} before the next release"
            )
        return Interval(self.low, self.high, confidence=self.confidence, about=self.about, population=True)


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
    def told(self) -> str:
        """The value in a line for people; one number has the digits that its interval gives."""
        match self.value, self.numbers:
            case Scalar(float() as value), (NamedNumber(low=float() as low, high=float() as high), *_):
                return show_beside(value, low, high)
        return str(self.value)

    @property
    def range(self) -> str:
        """The interval in a line for people."""
        barred = [number for number in self.numbers if number.barred]
        ends = [show_range(number.low or 0.0, number.high or 0.0) for number in barred]
        match self.value:
            case Scalar() if ends:
                return ends[0]
            case Scalar() if self.interval is not None and isinstance(self.interval.low, str):  # dates
                return f"[{self.interval.low}, {self.interval.high}]"
            case Density():
                half = max(((number.high or 0.0) - (number.low or 0.0) for number in barred), default=0.0) / 2
                return f"within {show(half)} at the widest"
            case Vector(names=()) | Matrix(names=()) if self.interval is not None:
                low, high = map(value_of, self.interval)
                return f"from {low} to {high}"
        told = [f"{number.name} {end}" for number, end in zip(barred, ends, strict=True)]
        return ", ".join(told[:6]) + (", ..." if len(told) > 6 else "")


def numbers_of(value: Value, interval: Interval | None, sampling: Any, privacy: Any) -> tuple[NamedNumber, ...]:
    """Every number of a value with its error, in order; last those that have none."""
    ends = [None, None] if interval is None else [interval.low, interval.high]
    each = zip(value.labels, value.numbers, *(like(value, one) for one in (*ends, sampling, privacy)), strict=True)
    intercept = isinstance(value, Coefficients)  # which is on no scale of the others
    found = [
        NamedNumber(
            name, finite(number), finite(low), finite(high), finite(drawn), finite(noise), intercept and not place
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
        case Coefficients() | Vector(names=(_, *_)):
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
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    body = [
        "  ".join(
            cell.rjust(wide) if place else cell.ljust(wide)
            for place, (cell, wide) in enumerate(zip(row, widths, strict=True))
        )
        for row in cells
    ]
    rule = "-" * len(body[0])
    return [rule, body[0], rule, *body[1:], rule]


def _short(number: float | None) -> str:
    return "-" if number is None else f"{number:.4g}"
