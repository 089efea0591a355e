"""A report at a glance: each question in words, its answer, its interval and its epsilon, as one table."""

import re
from dataclasses import dataclass
from typing import Any, Final

from discreet.privacy.intervals import NamedNumber, Shown
from discreet.privacy.values import Comparison, Counts, CrossCounts, Density, Matrix, Scalar, Shares, TestResult, label
from discreet.report.questions import in_words, named
from discreet.report.record import Report, ReportEntry, entry_of
from discreet.report.sentences import chance, number, spelled, unsure
from discreet.report.svg import text

LINES: Final = 3  # numbers of one answer; the others are in its card
DATE: Final = re.compile(r"\b\d{4}-\d\d-\d\d\b")


@dataclass(frozen=True, slots=True)
class Line:
    """One number of an answer: what it is about, the number, and its interval."""

    name: str
    value: str
    interval: str


def lines_of(entry: ReportEntry) -> list[Line]:
    """The first numbers of an answer, the largest first where they are counts, and how many more there are."""
    found: list[Line] = []
    for key, shown in entry.shown():
        name = "" if entry.groups is None else label(key)
        found += _lines(name, shown)
    more = len(found) - LINES
    return found if more <= 1 else [*found[:LINES], Line(f"and {number(more)} more", "", "")]


def _lines(group: str, shown: Shown) -> list[Line]:
    match shown.value:
        case None:
            return [Line(group, "refused", "")]
        case TestResult(p_value=p):
            effect = [_line(row.name, row) for row in shown.numbers if row.barred]
            return [Line(group, f"p {chance(p)}", ""), *effect]
        case Scalar(value=value) if not shown.numbers:
            ends = "" if shown.interval is None else f"{shown.interval.low} to {shown.interval.high}"
            return [Line(group, label(value), ends)]
        case Density():
            return [Line(group, "see below", "")]
        case Matrix():
            rows = list(unsure(shown))
        case Comparison(p_value=p):  # beside the difference that it is about
            first, *others = [_line(", ".join(filter(None, (group, row.name))), row) for row in shown.numbers]
            tested = Line(
                ", ".join(filter(None, (group, "no difference"))), f"p {chance(p)}" if 0 <= p <= 1 else "", ""
            )
            return [first, tested, *others]
        case Counts() | Shares() | CrossCounts():
            rows = sorted(shown.drawn, key=lambda row: -(row.value or 0))
        case _:
            rows = list(shown.numbers)
    return [_line(", ".join(filter(None, (group, row.name))), row) for row in rows] or [Line(group, "none", "")]


def _line(name: str, row: NamedNumber) -> Line:
    value, low, high = spelled(row.value, row.low, row.high)
    return Line(name, value, f"{low} to {high}" if row.barred else "")


def glance(report: Report) -> str:
    """The table; nothing for a report without answers."""
    if not report.releases:
        return ""
    head = "".join(
        f'<th scope="col"{side}>{said}</th>'
        for said, side in (
            ("Question", ""),
            ("", ""),
            ("Answer", ' class="n"'),
            ("Interval", ""),
            ("Epsilon", ' class="n"'),
        )
    )
    body = "".join(_rows(entry, place) for place, entry in enumerate(report.releases, 1))
    return (
        '<nav class="wide glance" tabindex="0" aria-label="All answers"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></nav>"
    )


def _dated(said: str) -> str:
    """No line ends within a date."""
    return DATE.sub(lambda found: f'<span class="date">{found[0]}</span>', text(said))


def _rows(entry: ReportEntry, place: int) -> str:
    lines = lines_of(entry)
    cost = max((float(release.guarantee.epsilon) for _, release in entry.keyed), default=None)
    asked = f'<a href="#answer-{place}">{text(in_words(named(entry.asked)))}</a>'
    many = f' rowspan="{len(lines)}"' if len(lines) > 1 else ""
    found = ""
    for at, line in enumerate(lines or [Line("", "none", "")]):
        first = f'<th scope="row"{many}>{asked}</th>' if not at else ""
        last = f'<td class="n"{many}>{number(cost, 3)}</td>' if not at else ""
        kind = "" if not at else ' class="next"'
        found += (
            f"<tr{kind}>{first}<td>{text(line.name)}</td>"
            f'<td class="n">{_dated(line.value)}</td><td>{_dated(line.interval)}</td>{last}</tr>'
        )
    return found


ALONE: Final[dict[str, Any]] = {
    "id": "1",
    "question": "",
    "statistic": "",
    "columns": [],
    "options": {},
    "where": None,
    "by": None,
    "forecast": None,
}


def answers_in_words(record: dict[str, Any]) -> list[str]:
    """A stored answer, of a plan, of a profile or of one question: a short line for each question."""
    if "failed" in record:
        return ["no answer could be made"]
    several = "releases" in record
    answer = {"groups": record["groups"]} if "groups" in record else {"release": record}
    found = []
    for entry in Report.of(record).releases if several else [entry_of(ALONE | answer)]:
        told = [
            " ".join(filter(None, (line.name, line.value, line.interval and f"[{line.interval}]")))
            for line in lines_of(entry)
        ]
        found.append((f"{in_words(named(entry.asked))}: " if several else "") + "; ".join(told))
    return found
