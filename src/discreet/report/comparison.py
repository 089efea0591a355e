"""Two reports of the same questions, a year apart say: what changed, with intervals.

The difference of two answers has the errors of both. Their noise is drawn independently, whatever the tables hold. With
estimates a and b and intervals [la, ua] and [lb, ub] the interval of b - a is

    b - a - sqrt((b - lb)^2 + (ua - a)^2)   to   b - a + sqrt((ub - b)^2 + (a - la)^2),

which covers about as often as the two do if their errors are independent (Zou and Donner 2008): those of counts in a
table always are, those of a population's quantities if the people of the two tables were drawn independently.
"""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from discreet.errors import BadInput
from discreet.privacy.intervals import NamedNumber, Shown
from discreet.privacy.values import Clusters, Components, Counts, Density, TestResult, label
from discreet.report.questions import in_words, named
from discreet.report.record import Report, ReportEntry
from discreet.report.sentences import spelled

NOISE: Final = "The noise of the two reports is independent."
ASSUMED: Final = (
    "Intervals for a population take the people of the two tables as "
    "drawn independently. If the same people are in both, what they keep from one year to the next makes the "
    "difference more certain than its interval says; if the two tables were chosen to differ, no interval here holds."
)
TABLE: Final = "Noise intervals are for the numbers in the two tables, whoever is in them."


@dataclass(frozen=True, slots=True)
class Change:
    """One number that both reports have."""

    question: str
    name: str
    old: float
    new: float
    low: float
    high: float
    population: bool

    @property
    def difference(self) -> float:
        """New less old."""
        return self.new - self.old

    @property
    def clear(self) -> bool:
        """Whether the interval excludes 0."""
        return self.low > 0 or self.high < 0

    @property
    def told(self) -> tuple[str, str, str]:
        """The difference and the ends of its interval, for people."""
        return spelled(self.difference, self.low, self.high)


@dataclass(frozen=True, slots=True)
class Comparison:
    """What changed between two reports, and what could not be compared, each with the reason."""

    changes: tuple[Change, ...]
    left_out: tuple[str, ...]
    confidence: float
    publishable: bool

    @property
    def assumptions(self) -> list[str]:
        """What the intervals take for granted."""
        found = [NOISE] if self.changes else []
        found += [ASSUMED] if any(change.population for change in self.changes) else []
        return found + ([TABLE] if any(not change.population for change in self.changes) else [])

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        names = ("question", "name", "old", "new", "difference", "low", "high", "clear")
        return {
            "confidence": self.confidence,
            "changes": [{name: getattr(change, name) for name in names} for change in self.changes],
            "left_out": list(self.left_out),
            "assumptions": self.assumptions,
            "publishable": self.publishable,
        }


def compare(old: Report, new: Report) -> Comparison:
    """The differences of all numbers that both reports have, new less old, each with an interval."""
    before, after = _by_question(old), _by_question(new)
    changes: list[Change] = []
    left: list[str] = []
    for key, entry in after.items():
        if key not in before:
            left.append(f"{in_words(entry.asked)}: only in the new report")
            continue
        if _receipts(entry) & _receipts(before[key]):
            left.append(f"{in_words(entry.asked)}: both reports show the same stored answer, so it tells of no change")
            continue
        found, why = _changes(before[key], entry)
        changes += found
        left += [f"{in_words(entry.asked)}: {reason}" for reason in why]
    left += [f"{in_words(entry.asked)}: only in the old report" for key, entry in before.items() if key not in after]
    if not changes and not left:
        raise BadInput("the two reports hold no answers; give the results.json of two releases")
    levels = {shown.interval.confidence for entry in after.values() for _, shown in entry.shown() if shown.interval}
    public = all(entry.publishable for report in (old, new) for entry in report.releases)
    return Comparison(tuple(changes), tuple(left), min(levels, default=0.95), public)


def difference(old: NamedNumber, new: NamedNumber) -> tuple[float, float]:
    """The ends of the interval of new less old.

    >>> difference(NamedNumber("", 10.0, 7.0, 13.0), NamedNumber("", 20.0, 16.0, 24.0))
    (5.0, 15.0)
    """
    a, la, ua, b, lb, ub = (float(end or 0) for one in (old, new) for end in (one.value, one.low, one.high))
    return b - a - math.hypot(b - lb, ua - a), b - a + math.hypot(ub - b, a - la)


def _receipts(entry: ReportEntry) -> set[str]:
    """Of the charges that were made for it; a stored answer keeps its own."""
    return {str(release.provenance.receipt) for _, release in entry.keyed if release.provenance.receipt is not None}


def _by_question(report: Report) -> dict[str, ReportEntry]:
    """By what was asked, not by title or place."""
    found: dict[str, ReportEntry] = {}
    for entry in report.releases:
        asked = [entry.statistic, entry.columns, entry.where, entry.by, entry.options, entry.about]
        if entry.statistic == "":  # by hand
            asked.append(entry.question)
        found.setdefault(json.dumps(asked, sort_keys=True, default=str), entry)
    return found


def _changes(old: ReportEntry, new: ReportEntry) -> tuple[list[Change], list[str]]:
    before = {(key, row.name): (row, shown) for key, row, shown in _numbers(old)}
    found, left = [], []
    for key, row, shown in _numbers(new):
        if (key, row.name) not in before:
            left.append(f"{_name(key, row)} is only in the new report")
            continue
        earlier, then = before.pop((key, row.name))
        if not (earlier.barred and row.barred) or then.interval is None or shown.interval is None:
            left.append(f"{_name(key, row)} has no interval in both")
            continue
        low, high = difference(earlier, row)
        both = then.interval.population or shown.interval.population
        values = (float(earlier.value or 0), float(row.value or 0))
        found.append(Change(in_words(named(new.asked)), _name(key, row), *values, low, high, both))
    left += [f"{_name(key, row)} is only in the old report" for (key, _), (row, _) in before.items()]
    if not found and not left:
        left.append("refused, or of a kind whose difference is no number")
    return found, left


def _numbers(entry: ReportEntry) -> Iterator[tuple[str, NamedNumber, Shown]]:
    for key, shown in entry.shown():
        match shown.value:
            case None | Density() | Clusters() | Components():
                continue
            case TestResult() as tested if tested.effect is None:
                continue
            case Counts() | TestResult():
                rows = shown.drawn
            case _:
                rows = shown.numbers
        group = label(key) if entry.groups is not None else ""
        yield from ((group, row, shown) for row in rows if row.value is not None)


def _name(key: str, row: NamedNumber) -> str:
    return ", ".join(filter(None, (key, row.name)))
