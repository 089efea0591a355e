"""Dates and times: read as days since 1970, asked about and shown as dates.

Promise
    [dates.1] What a cell becomes depends on that cell alone, bit for bit, and none raises: a date is its number of
          days, an instant a number with a fraction (of a day in UTC, where it names a zone), anything else is missing.
          What is shown is a function of what was released.

Why
    [dates.1] Cells become dates by [cells.1]; Arrow's own days are the same whole numbers. Values and ends of intervals
    are rounded to the day where the interval is wider than two, the ends outwards, so that it covers what it did.
"""

import datetime
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from discreet.errors import BadInput, Refused
from discreet.privacy.declaration import Kind
from discreet.privacy.intervals import Interval, QuantileSpread, Spread
from discreet.privacy.release import Groups, Release
from discreet.privacy.values import Counts, Vector
from discreet.tables import cells
from discreet.tables.cells import Column, Floats, is_arrow, pa
from discreet.tables.unpacked import unpacked

EPOCH: Final = datetime.datetime(1970, 1, 1)  # noqa: DTZ001  days are counted without a zone
DAY: Final = datetime.timedelta(days=1)
FIRST, LAST = -719162, 2932896  # 0001-01-01 and 9999-12-31
SPAN: Final = re.compile(r"\s*(\S+)\s+to\s+(\S+)\s+by\s+(day|week|month|year)\s*")
MOST: Final = 100_000  # bins
YES: Final = (
    "of numbers in {} 1 alone counts as yes, and any other as no, a code for a missing entry too: name what counts by "
    "equals=, leave out others by where="
)


def day_of(entry: Any) -> float:
    """Days since 1970, of a date, an instant, or the text of one; NaN for anything else. [dates.1]"""
    try:
        entry = cells.value(entry, "date")
        if isinstance(entry, datetime.datetime):
            if entry.tzinfo is not None:
                entry = entry.astimezone(datetime.UTC).replace(tzinfo=None)
            return float((entry - EPOCH) / DAY)
        return float(entry.toordinal() - EPOCH.toordinal()) if isinstance(entry, datetime.date) else math.nan
    except Exception:  # noqa: BLE001  [dates.1]
        return math.nan


def days(column: Column, kind: Kind, name: str) -> Floats:
    """A column of dates as days since 1970. [dates.1]"""
    if kind not in ("date", "unknown"):
        raise BadInput(f"column {name!r} is declared as {kind}; dates are needed; declare it by types= or convert it")
    if is_arrow(column) and pa.types.is_date32(column.type):
        found: Floats = unpacked(column.cast(pa.int32()).cast(pa.float64()), math.nan)
        return found
    codes, values = cells.keys(column, "date")
    return np.array([day_of(value) for value in values], dtype=np.float64)[codes]


def events(column: Column, kind: Kind, name: str) -> Floats:
    """A column as 1 where an event came, 0 and NaN: of numbers 1 alone is the event, of others what is true."""
    found = cells.truths(column, kind, name)
    if kind == "boolean":
        return found
    codes = cells.numbers(column, kind, name)
    return np.where(np.isnan(codes), found, (codes == 1).astype(np.float64))


READERS: Final[dict[str, Callable[[Column, Kind, str], Floats]]] = {**cells.READERS, "date": days, "event": events}


def numbers_in_words(name: str, facts: Mapping[str, Any]) -> list[str]:
    """What counts as yes of a column of numbers, or of one that may hold some: by declared kind alone."""
    kinds = [kind for parameter, one in facts.items() if one and parameter != "event" for kind in _kinds(name, one)]
    return [YES.format(name)] if {"number", "integer", "unknown"}.intersection(kinds) else []


def _kinds(name: str, columns: Any) -> list[Kind]:
    return [kind for one, kind in zip(columns.names, columns.kinds, strict=True) if one == name]


def public_day(given: Any, what: str) -> float:
    """A public date."""
    found = day_of(given)
    if math.isnan(found):
        raise BadInput(f"{what} has {given!r}, and the column holds dates; give dates, such as '2024-05-01'")
    return found


def says_dates(options: Mapping[str, Any]) -> bool:
    """Whether public bounds or edges are given as dates: then so is what the column holds."""
    for given in (options.get("bounds"), options.get("edges")):
        if isinstance(given, str) and SPAN.fullmatch(given):
            return True
        if not isinstance(given, str) and isinstance(given, Iterable):
            listed = list(given)
            numbers = any(isinstance(one, int | float | np.number) for one in listed)
            return bool(listed) and not numbers and not any(math.isnan(day_of(one)) for one in listed)
    return False


def dated(options: Mapping[str, Any], grouped: bool) -> dict[str, Any]:
    """The options of a statistic about a column of dates: bounds and edges are given as dates."""
    found = dict(options)
    if grouped and isinstance(found.get("q"), Iterable):
        raise BadInput("several quantiles of a column of dates are asked for by group; ask for one at a time")
    if found.get("bounds") is not None:
        found["bounds"] = tuple(public_day(one, "bounds") for one in found["bounds"])
    if found.get("edges") is not None:
        found["edges"] = edges_of(found["edges"])
    return found


def edges_of(given: Any) -> list[float]:
    """Edges of bins, from dates or from a text such as "2020-01-01 to 2024-01-01 by month"; the last is outside."""
    if not isinstance(given, str):
        found = [public_day(one, "edges") for one in given]
    else:
        span = SPAN.fullmatch(given)
        if span is None:
            raise BadInput(
                f"edges is {given!r}; for dates give a list of them, or a text such as '2020-01-01 to 2024-01-01 by "
                "month' (day, week, month or year)"
            )
        first, last, step = public_day(span[1], "edges"), public_day(span[2], "edges"), span[3]
        found, place = [first], 0
        while found[-1] < last and place <= MOST:
            place += 1
            found.append(_later(first, place, step))
        if not 1 <= place <= MOST or found[-1] != last:
            raise BadInput(
                f"edges is {given!r}; give a later date that is a whole number of {step}s away from the first"
            )
    return [*found[:-1], math.nextafter(found[-1], -math.inf)] if found else found


def _later(first: float, steps: int, step: str) -> float:
    """So many steps later."""
    if step in ("day", "week"):
        return first + steps * (7 if step == "week" else 1)
    start = EPOCH + first * DAY
    months = start.year * 12 + start.month - 1 + steps * (12 if step == "year" else 1)
    try:
        return day_of(start.replace(year=months // 12, month=months % 12 + 1))
    except ValueError:
        raise BadInput(f"edges begin on day {start.day}, which not every month has; begin on the first") from None


def shown(day: float, fine: bool, up: bool | None = None) -> str:
    """A day as a date, or as an instant; rounded up or down, or to the nearest. [dates.1]"""
    unit, day = 86_400 if fine else 1, min(max(day, FIRST), LAST)  # an end may be infinite
    whole = round(day * unit) if up is None else math.ceil(day * unit) if up else math.floor(day * unit)
    moment = EPOCH + (datetime.timedelta(seconds=whole) if fine else datetime.timedelta(days=whole))
    return moment.isoformat(" ", "seconds") if fine else moment.date().isoformat()


def in_dates(words: str) -> str:
    """What a mean says of the range that values were limited to, in dates."""
    head, limit, rest = words.partition("limiting values to ")
    return (
        head + limit + re.sub(r"-?\d[\d.e+,]*\d|-?\d", lambda one: shown(float(one[0].replace(",", "")), False), rest)
    )


@dataclass(frozen=True, slots=True)
class DateSpread:
    """The error of a date: the ends of the interval of its number, as dates."""

    inner: Spread
    sampling: None = None
    privacy: None = None

    @property
    def confidence(self) -> float:
        """The declared confidence, or the usual one."""
        return float(getattr(self.inner, "confidence", 0.95))

    @property
    def target(self) -> str:
        """What was done to the values."""
        return in_dates(str(getattr(self.inner, "target", "")))

    def fine(self) -> bool:
        """Whether times of the day are shown: the interval is narrower than two days."""
        try:
            found = self.inner.interval(self.confidence)
        except Refused:
            return False
        return bool(found.high - found.low < 2)

    def interval(self, confidence: float) -> Interval:
        """As dates. [dates.1]"""
        found, fine = self.inner.interval(confidence), self.fine()
        low, high = shown(found.low, fine, up=False), shown(found.high, fine, up=True)
        return replace(found, low=low, high=high, about=in_dates(found.about))


def as_dates(release: Release[Any]) -> Release[Any]:
    """A release of days as one of dates: post-processing. Several are left to `by_quantile`."""
    if release.refusal is not None or release.answer is None or isinstance(release.answer, Vector):
        return release
    if isinstance(release.answer, Counts):
        edges = [(low, math.nextafter(high, math.inf) if high % 1 else high) for low, high in release.answer.bins]
        names = tuple(f"{shown(low, bool(low % 1))} to {_before(high)}" for low, high in edges)
        return replace(release, answer=replace(release.answer, bins=names))
    spread = None if release.spread is None else DateSpread(release.spread)
    fine = spread is not None and spread.fine()
    return replace(release, answer=shown(float(release.answer), fine), spread=spread)


def by_quantile(release: Release[Any]) -> Release[Any] | Groups:
    """Several quantiles of dates, each as a date of its own; any other release of dates as it is."""
    answer, spread = release.answer, release.spread
    if release.refusal is not None or not isinstance(answer, Vector):
        return release
    parts = []
    for place, name in enumerate(answer.names):
        bar = spread
        if isinstance(spread, QuantileSpread):
            about = spread.about.replace("quantiles, one by one", f"{name} quantile")
            ends: dict[str, Any] = {end: float(getattr(spread, end)[place]) for end in ("low", "high")}
            bar = replace(spread, about=about, **ends)
        one = replace(release, answer=float(answer[place]), spread=bar, name=f"{release.name}: {name}")
        parts.append((name, as_dates(one)))
    return Groups("quantile", release.guarantee, releases=tuple(parts), name=release.name)


def _before(high: float) -> str:
    """The last day, or the instant, before the end of a bin."""
    return shown(high, True) if high % 1 else shown(high - 1, False)
