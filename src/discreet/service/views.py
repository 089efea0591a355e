"""Pages from templates: escaped by default, with the report's style, and pictures of budgets."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from discreet.privacy.exact import show
from discreet.report.page import SHEET, sections, summary
from discreet.report.record import Report
from discreet.report.sentences import number
from discreet.report.svg import box, picture
from discreet.version import __version__

SHARE: Final = re.compile(r'class="(up|down)" style="--share:(\d{1,3})%"')
SHARES: Final = "".join(f".share-{share}{{--share:{share}%}}" for share in range(101))
LINE: Final = re.compile(
    r"(?:release (?P<id>[^\s:]+): )?"
    r"(?:(?P<gone>added|removed) \((?P<asks>.*)\)|(?P<what>[\w.]+): (?P<old>.*?) -> (?P<new>.*))",
    re.DOTALL,
)
NUMBERED: Final = re.compile(r"q\d+")
WORDS: Final = {
    "where": "only where",
    "groupby": "for each",
    "keys": "groups",
    "description": "what it is for",
    "outcome": "outcome or second column",
    "spend.epsilon": "epsilon",
    "spend.delta": "delta",
}
ROLES: Final = {"analyst": "Analyst", "steward": "Data steward", "auditor": "Auditor", "admin": "Administrator"}
SORTS: Final = ("title", "analyst", "source", "state", "epsilon", "made", "due", "decided_by", "decided")
STATES: Final = {
    "submitted": "Waits for approval",
    "declined": "Declined",
    "offered": "Stored answer given",
    "withdrawn": "Withdrawn",
    "approved": "Approved",
    "done": "Answered",
    "failed": "No answer",
}


@cache
def environment() -> Environment:
    """The templates; a name that is not given is an error, and everything is escaped."""
    made = Environment(
        loader=PackageLoader("discreet.service"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    made.filters |= {
        "number": number,
        "when": when,
        "day": day,
        "epsilon": epsilon,
        "expected": expected,
        "worded": worded,
    }
    made.globals |= {"budget_bar": budget_bar, "ROLES": ROLES, "STATES": STATES, "version": __version__}
    return made


def render(template: str, **given: Any) -> str:
    """A page."""
    return environment().get_template(template).render(**given)


def style() -> str:
    """The style sheet: the report's, then the service's own."""
    own = files("discreet.service").joinpath("static", "service.css").read_text("utf-8")
    return f"{SHEET}\n{SHARES}\n{own}"


def ordered(rows: Sequence[Mapping[str, Any]], sort: str, keys: Sequence[str]) -> tuple[list[Mapping[str, Any]], str]:
    """The rows by one of their columns, the other way round after a minus; as they are if there is no such column."""
    key = sort.removeprefix("-")
    if key not in keys:
        return list(rows), ""
    shown = [row for row in rows if row[key] is not None]  # what is not there comes last
    turned = sorted(shown, key=lambda row: _place(row[key]), reverse=sort.startswith("-"))
    return turned + [row for row in rows if row[key] is None], sort


def _place(entry: Any) -> Any:
    return entry.casefold() if isinstance(entry, str) else entry


def worded(line: str) -> str:
    """A line of what differs between two plans, as a sentence for somebody who has not seen their texts.

    >>> worded('release q2: where: not given -> "age >= 18"'), worded("spend.epsilon: 0.2 -> 0.3")
    ('Question 2, only where: age >= 18 instead of nothing.', 'Epsilon: 0.3 instead of 0.2.')
    """
    found = LINE.fullmatch(line)
    if found is None:
        return line
    question, what, old, new = found["id"], found["what"], found["old"], found["new"]
    place = "" if question is None else question[NUMBERED.fullmatch(question) is not None :]
    who = f"Question {place}" if place else ""
    if found["gone"] is not None:
        return f"{who} {'is new' if found['gone'] == 'added' else 'is gone'}: {found['asks']}."
    if what == "code":
        return f"{who}: other code." if who else "Other code."
    name = WORDS.get(what, what.removeprefix("spend.").removeprefix("options.").replace("_", " "))
    told = f"{who}, {name}" if who else name[:1].upper() + name[1:]
    return f"{told}: {_plainly(new)} instead of {_plainly(old)}."


def _plainly(shown: str) -> str:
    """A value of a plan without the signs of JSON."""
    return "nothing" if shown in ("not given", '""', "[]", "{}") else re.sub(r'"((?:[^"\\]|\\.)*)"', r"\1", shown)


def when(seconds: float | None) -> str:
    """A time, in words that need no guess of the zone."""
    return "" if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime("%d %b %Y, %H:%M:%S UTC")


def day(seconds: float | None) -> str:
    """A date."""
    return "" if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime("%d %b %Y")


def epsilon(value: float) -> str:
    """An epsilon or a delta, to three digits."""
    return show(float(f"{value:.3g}"))


def expected(forecast: Mapping[str, Any] | None, scale: float | None = None, unit: str | None = None) -> str:
    """What to expect of an answer, in a cell."""
    seen = forecast or {}
    if seen.get("power") is not None:
        return f"power {seen['power']:.2f}"
    if seen.get("error") is None and seen.get("refused"):
        return "would be refused"
    half = seen.get("half_width")
    if not isinstance(half, int | float):
        return "not foreseen"
    units = str(seen.get("units") or "")
    if units == "standard deviations" and scale is not None:
        return f"± {number(half * scale, 2)} {unit or ''}".rstrip()
    return f"± {number(half, 2)} {units}".rstrip()


def budget_bar(budget: Mapping[str, Any], would: float = 0.0) -> Markup:
    """A budget as a bar: what is spent, what a request would take, what is left."""
    whole = max(float(budget["epsilon"]), 1e-12)
    spent, takes = min(float(budget["spent"]), whole), max(0.0, would)
    first, second = 100 * spent / whole, 100 * min(spent + takes, whole) / whole
    over = spent + takes > whole * (1 + 1e-9)
    marks = box(0.0, first, 3, 18, "before") if first > 0 else ""
    marks += box(first, second, 3, 18, "over" if over else "now") if second > first else ""
    marks += box(second, 100.0, 3, 18, "left") if second < 100 else ""
    left = max(0.0, whole - spent - takes)
    told = f"spent {epsilon(spent)}; this request {epsilon(takes)}; left {epsilon(left)} of {epsilon(whole)}"
    return Markup(picture(24, marks, title="Privacy budget (epsilon)", told=told))  # noqa: S704  numbers alone


def report_body(dossier: Mapping[str, Any]) -> tuple[Report, str, Markup]:
    """A report, its summary, and its sections without styles in them, as our policy for pages wants it."""
    report = Report.of(dossier)
    inside = SHARE.sub(r'class="\1 share-\2"', sections(report))
    return report, summary(report), Markup(inside)  # noqa: S704  escaped by the report
