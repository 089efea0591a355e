"""`discreet describe`: a private profile of a whole table, in the terminal and as a page."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from discreet.plan.profile import UNRECORDED, plural
from discreet.privacy.exact import show
from discreet.privacy.safe_text import clean
from discreet.privacy.shown import Shown
from discreet.privacy.values import Counts
from discreet.report.record import Report
from discreet.report.sentences import in_brackets


def show_profile(dossier: Mapping[str, Any]) -> None:
    """One line for each column, and the bars of categories."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    report = Report.of(dossier)
    console = Console(highlight=False)
    console.width = max(console.width, 80)
    columns: dict[str, dict[str, Shown]] = {}
    for entry in report.releases:
        ((_, shown),) = entry.shown()
        if not entry.columns:
            people = f"{in_brackets(shown.numbers[0])} {plural(report.data.unit)}"
            console.print(Text(clean(f"{report.title}: {people}"), style="bold"))
            continue
        columns.setdefault(entry.columns[0], {})[entry.about or ""] = shown
    kinds = {entry.columns[0]: entry.kind or "" for entry in report.releases if entry.columns}
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("column", overflow="fold")
    table.add_column("type", no_wrap=True)
    table.add_column("missing", justify="right", no_wrap=True)
    table.add_column("quantiles or categories, with 95% intervals", overflow="fold", ratio=1)
    for name, seen in columns.items():
        told = "\n".join(_told(seen[about]) for about in ("quantiles", "categories") if about in seen)
        table.add_row(Text(clean(name)), kinds[name], _missing(seen, kinds[name]), Text(told))
    console.print(table)
    this = report.budget.this
    console.print(
        f"\nThe whole profile: epsilon {show(this.epsilon)}, delta {show(this.delta)}, {clean(report.data.neighbours)}."
    )
    if not all(entry.publishable for entry in report.releases):
        console.print("[bold red]Not for publication: the noise was seeded.[/]")
    if not report.reproducibility.get("receipts"):
        console.print(UNRECORDED)


def _missing(seen: Mapping[str, Shown], kind: str) -> str:
    """The share of missing entries: asked for, or read off the categories."""
    if "missing" in seen:
        (row,) = seen["missing"].numbers or (None,)
        return "refused" if row is None else f"{row.value:.1%} ±{((row.high or 0) - (row.low or 0)) / 2:.1%}"
    match seen["categories"].value if "categories" in seen else None:
        case Counts() as tally:
            other = max(0, tally.other or 0)
            total = float(np.maximum(tally.counts, 0).sum()) + other
            gone = max(0, tally.get(None, 0)) + (other if kind == "boolean" else 0)
            return f"{gone / total:.1%}" if total > 0 else ""
    return ""


def _told(shown: Shown, most: int = 8) -> str:
    match shown.value:
        case None:
            return f"refused: {clean(shown.refusal or '')}"
        case Counts():
            rows = sorted(shown.drawn, key=lambda row: -(row.value or 0))
            half = max(((row.high or 0) - (row.low or 0) for row in rows), default=0) / 2
            told = [f"{clean(row.name)} {row.value:,}" for row in rows[:most]]
            more = [f"{len(rows) - most} more"] if len(rows) > most else []
            return (", ".join([*told, *more]) or "no category is common enough to be shown") + f"  (each ±{half:,.0f})"
    lines = [(row.name or "50%", *map(_number, (row.value, row.low, row.high))) for row in shown.drawn]
    return "\n".join(f"{name:>4}  {value}  ({low} to {high})" for name, value, low, high in lines)


def _number(number: float | None) -> str:
    if number is None:
        return "beyond all"
    return f"{number:,.4g}" if abs(number) < 1e4 else f"{number:,.0f}" if abs(number) < 1e15 else f"{number:.3g}"
