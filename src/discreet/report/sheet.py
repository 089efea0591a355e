"""Every released number as a row of a table, in cells that no spreadsheet executes ([safe_text.1])."""

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any, Final

from discreet.privacy.release import Release
from discreet.privacy.safe_text import safe
from discreet.privacy.shown import Shown
from discreet.privacy.values import Scalar, label
from discreet.report.record import Report, ReportEntry

COLUMNS: Final = (
    *("id", "question", "statistic", "group", "component", "value", "low", "high", "confidence", "interval"),
    *("epsilon", "delta", "publishable", "refusal"),
)


def to_csv(dossier: Mapping[str, Any] | Report) -> str:
    """One row for each released number, as RFC 4180 has it; a refusal is a row without a number."""
    file = io.StringIO()
    table = csv.writer(file, lineterminator="\r\n")
    table.writerow(COLUMNS)
    for entry in Report.of(dossier).releases:
        for (key, release), (_, shown) in zip(entry.keyed, entry.shown(), strict=True):
            group = None if entry.groups is None else label(key)
            table.writerows(map(safe, cells) for cells in _rows(entry, group, release, shown))
    return file.getvalue()


def _rows(entry: ReportEntry, group: str | None, release: Release[Any], shown: Shown) -> Iterator[list[Any]]:
    asked = [entry.id, entry.question, entry.statistic, group]
    costs = (float(release.guarantee.epsilon), float(release.guarantee.delta))
    promise = [*costs, "yes" if release.provenance.publishable else "no", release.refusal]
    bar = [] if shown.interval is None else [shown.interval.confidence, "noise" if shown.is_noise else "confidence"]
    for row in shown.numbers:
        yield [*asked, row.name, row.value, *([row.low, row.high, *bar] if row.barred else [None] * 4), *promise]
    if not shown.numbers:
        text = label(shown.value.value) if isinstance(shown.value, Scalar) else None
        yield [*asked, None, text, *[None] * 4, *promise]
