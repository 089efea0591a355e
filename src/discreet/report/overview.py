"""A profile at a glance: one row a column, with what is missing, a small picture, and quartiles or categories.

The same rows are shown in a terminal, in a notebook and on the page; a click on the page opens all about a column.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from discreet.privacy.intervals import NamedNumber, Shown, finite
from discreet.privacy.values import Counts, Scalar, label
from discreet.report.record import Report, ReportEntry
from discreet.report.sentences import Axis, number
from discreet.report.svg import box, picture, text

QUARTILES: Final = ("25%", "50%", "75%")
LISTED: Final = 30  # categories in a row of the page are cut by its width, in a terminal by this and its width
BARS: Final = 8  # categories in a small picture
BLOCKS: Final = " ▁▂▃▄▅▆▇█"


@dataclass(frozen=True, slots=True)
class ProfileColumn:
    """All answers about one column of a profile, by what they are about."""

    name: str
    kind: str
    answers: dict[str, ReportEntry]

    def shown(self, about: str) -> Shown | None:
        """What there is to show of one of the answers; None if it was not asked for."""
        entry = self.answers.get(about)
        return None if entry is None or entry.groups is not None else entry.shown()[0][1]

    @property
    def missing(self) -> str:
        """The share of missing entries: asked for, or read off the categories."""
        asked, counted = self.shown("missing"), self.shown("categories")
        if asked is not None:
            (row,) = asked.numbers or (None,)
            return "refused" if row is None else f"{row.value:.1%} ±{((row.high or 0) - (row.low or 0)) / 2:.1%}"
        match counted.value if counted is not None else None:
            case Counts() as tally:
                other = max(0, tally.other or 0)
                total = sum(max(0, int(count)) for count in tally.counts) + other
                gone = max(0, tally.get(None, 0)) + (other if self.kind == "boolean" else 0)
                return f"{gone / total:.1%}" if total > 0 else ""
        return ""

    @property
    def quantiles(self) -> list[NamedNumber]:
        """Of numbers, and of dates as days since 1970; without an interval where there is none."""
        entry = self.answers.get("quantiles")
        if entry is None:
            return []
        if entry.groups is not None:
            return [_day(label(key), shown) for key, shown in entry.shown() if shown.value is not None]
        (_, shown) = entry.shown()[0]
        if not shown.drawn and isinstance(shown.value, Scalar):
            return [_day("50%", shown)]
        return [NamedNumber(row.name or "50%", row.value, row.low, row.high) for row in shown.drawn]

    @property
    def categories(self) -> list[NamedNumber]:
        """The largest first."""
        shown = self.shown("categories")
        return [] if shown is None else sorted(shown.drawn, key=lambda row: -(row.value or 0))

    @property
    def refusal(self) -> str:
        """Why there are no quantiles or categories, if they were refused."""
        entries = [self.answers[about] for about in ("quantiles", "categories") if about in self.answers]
        found = [release.refusal for entry in entries for _, release in entry.keyed if release.refusal is not None]
        return found[0] if found and all(entry.refused for entry in entries) else ""

    def told(self, width: int | None = None) -> str:
        """Quartiles or categories with their intervals, in one line of at most so many letters."""
        if self.refusal:
            return _cut(f"refused: {self.refusal}", width)
        rows = self.quantiles
        if rows:
            middle = [row for row in rows if row.name in QUARTILES] or rows
            forms = [" · ".join(f"{row.name} {self._with_interval(row)}" for row in rows)] if len(rows) > 3 else []
            forms.append(" · ".join(map(self._with_interval, middle)))
            forms.append(" ".join(self._interval(row)[1] for row in middle))
            fitting = [form for form in forms if len(form) <= width] if width is not None else forms[-2:]
            return fitting[0] if fitting else forms[-1]
        if self.kind == "id":
            return f"names or ids: {self._different()} different values"
        if "categories" not in self.answers:
            return ""
        return self._counted(width)

    def _interval(self, row: NamedNumber) -> tuple[str, str]:
        """The number and its interval; of a date in the calendar."""
        if self.kind != "date":
            return row.told
        value, low, high = (_date(place) for place in (row.value, row.low, row.high))
        return value, f"[{low}, {high}]" if row.barred else "-"

    def _with_interval(self, row: NamedNumber) -> str:
        return " ".join(part for part in self._interval(row) if part != "-")

    def _different(self) -> str:
        shown = self.shown("distinct")
        return "many" if shown is None or not shown.numbers else f"about {number(shown.numbers[0].value)}"

    def _counted(self, width: int | None) -> str:
        rows = self.categories
        if not rows:
            return "no category is common enough to be shown"
        half = max((row.high or 0) - (row.low or 0) for row in rows) / 2
        ends = f"; each ±{half:,.0f}"
        names = [f"{row.name} {number(row.value)}" for row in rows[:LISTED]]
        for kept in range(len(names), 0, -1):
            more = f", {len(rows) - kept} more" if kept < len(rows) else ""
            told = f"{', '.join(names[:kept])}{more}{ends}"
            if width is None or len(told) <= width:
                return told
        return told

    def blocks(self, width: int) -> str:
        """The small picture in letters: a box from quartile to quartile, or the heights of categories."""
        rows = self.quantiles
        if not rows:
            counts = [max(0.0, row.value or 0.0) for row in self.categories[:width]]
            top = max(counts, default=0)
            return "".join(BLOCKS[max(1, round(8 * count / top))] for count in counts) if top else ""
        axis = _axis(rows)
        if axis is None or len(rows) < 3:
            return ""
        at = [round((axis.at(row.value or 0) - 2) / 96 * (width - 1)) for row in rows]
        first, last = at[0], at[-1]
        low, middle, high = (at[1], at[2], at[3]) if len(at) == 5 else (at[0], at[len(at) // 2], at[-1])
        signs = [
            "┃" if place == middle else "▒" if low <= place <= high else "─" if first <= place <= last else " "
            for place in range(width)
        ]
        return "".join(signs)

    def svg(self) -> str:
        """The small picture of the page: a box with the intervals of its ends shaded, or bars with theirs."""
        rows = self.quantiles
        if rows:
            return _box(rows)
        return _bars(self.categories[:BARS])


def profile_columns(report: Report) -> list[ProfileColumn]:
    """The columns of a profile, in the order of the table; none of another report."""
    found: dict[str, ProfileColumn] = {}
    for entry in report.releases:
        if entry.columns and entry.about is not None:
            one = found.setdefault(entry.columns[0], ProfileColumn(entry.columns[0], entry.kind or "", {}))
            one.answers[entry.about] = entry
    return list(found.values())


def overview(columns: Sequence[ProfileColumn], details: dict[str, str]) -> str:
    """The rows of the page; all about a column opens on a click, without a script."""
    head = "".join(
        f"<span>{said}</span>"
        for said in ("Column", "Kind", "Missing", "Distribution", "Quartiles or categories, with 95% intervals")
    )
    rows = "".join(
        f'<details class="column"><summary><span class="strong">{text(one.name)}</span><span>{text(one.kind)}</span>'
        f"<span>{text(one.missing)}</span><span>{one.svg()}</span>"
        f'<span class="line">{_unbroken(text(one.told()))}</span></summary>{details[one.name]}</details>'
        for one in columns
    )
    return f'<div class="profile card"><div class="head" aria-hidden="true">{head}</div>{rows}</div>'


def _unbroken(said: str) -> str:
    """No line ends within an interval."""
    return re.sub(r"\[[^\]]*\]", lambda found: found[0].replace(" ", "\u00a0"), said)


def _axis(rows: Sequence[NamedNumber]) -> Axis | None:
    return Axis.over(end for row in rows for end in (row.value, row.low, row.high))


def _box(rows: Sequence[NamedNumber]) -> str:
    """A line from the first to the last, a box between quartiles, a mark at the median, shades where each may lie."""
    axis = _axis(rows)
    places = {row.name: axis.at(row.value) for row in rows if axis is not None and row.value is not None}
    if axis is None or not places:
        return ""
    found = []
    ends = list(places.values())
    if len(ends) > 1:
        found.append(box(ends[0], ends[-1], 11, 2, "rule"))
    if "25%" in places and "75%" in places:
        found.append(box(places["25%"], places["75%"], 5, 14, "bar"))
    found += [
        box(axis.at(row.low), axis.at(row.high), 2, 20, "haze")
        for row in rows
        if row.low is not None and row.high is not None
    ]
    found += [box(at - 0.4, at + 0.4, 2, 20, "mid") for name, at in places.items() if name == "50%"]
    return picture(24, "".join(found))


def _bars(rows: Sequence[NamedNumber]) -> str:
    """A bar for each category from the bottom up, and a shade where its end may lie."""
    top = max((row.high or row.value or 0.0 for row in rows), default=0.0)
    if not top > 0:
        return ""
    wide = 100 / max(4, len(rows))
    found = []
    for place, row in enumerate(rows):
        value, low, high = (22 * max(0.0, min(1.0, (end or 0.0) / top)) for end in (row.value, row.low, row.high))
        found.append(box(place * wide + 1, (place + 1) * wide - 1, 23 - value, max(0.5, value), "bar"))
        if row.barred:
            found.append(box(place * wide + 1, (place + 1) * wide - 1, 23 - high, max(0.5, high - low), "haze"))
    return picture(24, "".join(found))


def _day(name: str, shown: Shown) -> NamedNumber:
    """A date as days since 1970."""
    value = shown.value.value if isinstance(shown.value, Scalar) else None
    low, high = (None, None) if shown.interval is None else shown.interval
    return NamedNumber(name, _days(value), _days(low), _days(high))


def _days(thing: object) -> float | None:
    try:
        return float(date.fromisoformat(str(thing)[:10]).toordinal() - date(1970, 1, 1).toordinal())
    except ValueError:
        return None


def _date(days: float | None) -> str:
    place = finite(days)
    return "–" if place is None else date.fromordinal(int(place) + date(1970, 1, 1).toordinal()).isoformat()


def _cut(said: str, width: int | None) -> str:
    return said if width is None or len(said) <= width else f"{said[: max(0, width - 1)]}…"
