"""A report as SDMX-CSV 2.0, for those who exchange statistical tables: one line a released number.

Dimensions: QUESTION, STATISTIC, GROUP, COMPONENT. Measure: OBS_VALUE. Attributes: the interval, what it covers, the
price, OBS_STATUS ("A", or "O" where the answer was refused) and CONF_STATUS ("F" free, "N" where the noise was seeded).
The structure that the lines name is the receiver's to define with these columns. No spreadsheet executes a cell
([errors.1]).
"""

import csv
import io
import re
from collections.abc import Mapping
from typing import Any, Final

from discreet.errors import BadInput, safe
from discreet.privacy.values import label
from discreet.report.record import Report

DATAFLOW: Final = "DISCREET:ANSWERS(1.0)"
FORM: Final = re.compile(r"[A-Za-z][\w.@$-]*:[\w@$-]+\(\d+(\.\d+)*\)", re.ASCII)
NONE: Final = "_Z"  # a dimension that does not apply
HEADINGS: Final = (
    *("STRUCTURE", "STRUCTURE_ID", "ACTION", "QUESTION", "STATISTIC", "GROUP", "COMPONENT", "OBS_VALUE"),
    *("LOW", "HIGH", "CONFIDENCE", "INTERVAL", "EPSILON", "DELTA", "OBS_STATUS", "CONF_STATUS"),
)


def sdmx(dossier: Mapping[str, Any] | Report, dataflow: str = DATAFLOW) -> str:
    """All numbers of a report; `dataflow` is the structure that they belong to, as AGENCY:NAME(VERSION)."""
    if not FORM.fullmatch(dataflow):
        raise BadInput(f"the dataflow is {dataflow[:80]!r}; give AGENCY:NAME(VERSION), for example {DATAFLOW}")
    file = io.StringIO()
    table = csv.writer(file, lineterminator="\r\n")
    table.writerow(HEADINGS)
    for entry in Report.of(dossier).releases:
        for (key, release), (_, shown) in zip(entry.keyed, entry.shown(), strict=True):
            group = NONE if entry.groups is None else label(key)
            start = ["dataflow", dataflow, "R", entry.id, entry.statistic or NONE, group]
            price = [float(release.guarantee.epsilon), float(release.guarantee.delta)]
            free = "F" if release.provenance.publishable else "N"
            covers = "noise" if shown.is_noise else "confidence"
            bar = [None, None] if shown.interval is None else [shown.interval.confidence, covers]
            for row in shown.numbers:
                ends = [row.low, row.high, *bar] if row.barred else [None] * 4
                table.writerow(map(safe, [*start, row.name or NONE, row.value, *ends, *price, "A", free]))
            if not shown.numbers:
                status = "A" if release.refusal is None else "O"
                table.writerow(map(safe, [*start, NONE, None, *[None] * 4, *price, status, free]))
    return file.getvalue()
