"""Every released number as a row of a table, in cells that no spreadsheet executes ([LX1] of promise/cells.py)."""

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any, Final

from discreet.promise.cells import safe
from discreet.report.parts import label, parts, shape_of
from discreet.report.record import checked

COLUMNS: Final = (
    "id",
    "question",
    "statistic",
    "group",
    "component",
    "value",
    "low",
    "high",
    "confidence",
    "interval",
    "epsilon",
    "delta",
    "publishable",
    "refusal",
)


def to_csv(dossier: Mapping[str, Any]) -> str:
    """One row for each released number, as RFC 4180 has it; a refusal is a row without a number."""
    file = io.StringIO()
    table = csv.writer(file, lineterminator="\r\n")
    table.writerow(COLUMNS)
    for entry in checked(dossier)["releases"]:
        for group in entry["groups"] if "groups" in entry else [{"release": entry["release"]}]:
            table.writerows(map(safe, cells) for cells in _rows(entry, group))
    return file.getvalue()


def _rows(entry: Mapping[str, Any], group: Mapping[str, Any]) -> Iterator[list[Any]]:
    record = group["release"]
    asked = [entry["id"], entry["question"], entry["statistic"], label(group["key"]) if "key" in group else None]
    interval, guarantee = record["interval"] or {}, record["guarantee"]
    kind = "confidence" if interval.get("population") else "noise"
    publishable = "yes" if record["publishable"] else "no"
    promise = [guarantee["epsilon"], guarantee["delta"], publishable, record["refusal"]]
    found = parts(entry, record)
    for part in found:
        bar = [part.low, part.high, interval.get("confidence"), kind] if part.barred else [None] * 4
        yield [*asked, part.name, part.value, *bar, *promise]
    if not found:
        said = label(record["value"]) if shape_of(record) == "text" else None
        yield [*asked, None, said, *[None] * 4, *promise]
