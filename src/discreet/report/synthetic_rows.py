"""Rows of the synthetic tables in a report, as files: made of the stored model, so that they cost nothing.

No spreadsheet executes a cell ([errors.1]).
"""

import csv
import io
import re
from collections.abc import Mapping
from typing import Any

from discreet.errors import BadInput, safe
from discreet.privacy.values import SyntheticTable
from discreet.report.record import Report


def synthetic_tables(report: Mapping[str, Any] | Report) -> dict[str, SyntheticTable]:
    """The models of synthetic tables in a report, by the id of their release."""
    return {
        entry.id: release.value
        for entry in Report.of(report).releases
        for _, release in entry.keyed
        if release.refusal is None and isinstance(release.value, SyntheticTable)
    }


def the_table(report: Mapping[str, Any] | Report, wanted: str | None = None) -> SyntheticTable:
    """The one that is called so, or the only one there is."""
    found = synthetic_tables(report)
    if not found:
        raise BadInput(
            'the report has no synthetic table; ask for one in a plan, with statistic = "synthetic", and release it'
        )
    if wanted is None and len(found) > 1:
        raise BadInput(f"the report has {len(found)} synthetic tables; choose one with --id: {', '.join(found)}")
    if wanted is not None and wanted not in found:
        raise BadInput(f"--id is {wanted[:60]!r}, and the synthetic tables of the report are {', '.join(found)}")
    return next(iter(found.values())) if wanted is None else found[wanted]


def rows_file(name: str) -> str:
    """What the file of a release is called."""
    return f"{re.sub(r'[^A-Za-z0-9_-]+', '-', name)}-rows.csv"


def rows_csv(table: SyntheticTable, rows: int | None = None, *, seed: int = 0) -> str:
    """Rows that are drawn from a model, as RFC 4180 has them; an empty cell is in no category."""
    columns = table.drawn(rows, seed=seed)
    file = io.StringIO()
    written = csv.writer(file, lineterminator="\r\n")
    written.writerow(map(safe, columns))
    for cells in zip(*(column.tolist() for column in columns.values()), strict=True):
        written.writerow(map(safe, cells))
    return file.getvalue()
