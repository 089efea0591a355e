"""Every released number as a row of a table, in cells that no spreadsheet executes ([safe_text.1]).

Answers that are read as tables: matrices, the centres of clusters, groups.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from discreet.privacy.safe_text import safe
from discreet.report.draw import text
from discreet.report.numbers import NONE, finite, number, spelled
from discreet.report.parts import NamedNumber, columns, label, parts, shape_of
from discreet.report.record import checked
from discreet.report.sentences import in_brackets

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


DARKEST: Final = 38  # per cent of colour in a cell: the ink stays readable on it
MOST: Final = 500
WIDEST: Final = 24


def table(head: Sequence[str], rows: Iterable[Sequence[str]], title: str) -> str:
    """A table whose first column is words, and the last too if it is called "remark"; the others are numbers."""
    listed = list(rows)
    top = "".join(f'<th scope="col"{_right(place, head)}>{text(name)}</th>' for place, name in enumerate(head))
    body = "".join(
        "<tr>"
        + "".join(
            f'<th scope="row">{text(cell)}</th>' if not place else f"<td{_right(place, head)}>{text(cell)}</td>"
            for place, cell in enumerate(cells)
        )
        + "</tr>"
        for cells in listed[:MOST]
    )
    more = f'<p class="soft">{number(len(listed) - MOST)} more are not shown.</p>' if len(listed) > MOST else ""
    return f"{_wide(title)}<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>{more}"


def matrix(names: Sequence[str], found: Sequence[NamedNumber], title: str, interval: str) -> str:
    """A square of numbers, shaded by their size beside those of the diagonal."""
    side = len(names)
    if len(found) < side * side or side > WIDEST:
        return f'<p class="soft">A table of {side} by {side} is not shown here; its numbers are in the CSV.</p>'
    own = [found[place * side + place].value for place in range(side)]
    rows = []
    for place, name in enumerate(names):
        cells = "".join(
            _cell(found[place * side + other], own[place], own[other], bare=not interval) for other in range(side)
        )
        rows.append(f'<tr><th scope="row">{text(name)}</th>{cells}</tr>')
    head = "<td></td>" + "".join(f'<th scope="col" class="n">{text(name)}</th>' for name in names)
    caption = f"In brackets: {interval}. " if interval else ""
    return (
        f'<figure aria-label="{text(title)}">{_wide(title)}<table class="matrix"><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div><figcaption>{caption}"
        "The stronger the colour, the nearer two columns are to moving together "
        "(or, in the other colour, against each other)."
        "</figcaption></figure>"
    )


def centres(entry: Mapping[str, Any], value: Mapping[str, Any], title: str) -> str:
    """Each centre by number, with its noisy size and the noise in its place."""
    rows = value["centres"]
    names = columns(entry, max(map(len, rows), default=0))
    listed = [
        [
            str(place + 1),
            *(number(item) for item in row),
            *([NONE] * (len(names) - len(row))),
            number(_at(value.get("sizes"), place)),
            number(_at(value.get("noise"), place), 3),
        ]
        for place, row in enumerate(rows)
    ]
    return table(["centre", *names, "size, noisy", "noise in its place (sd)"], listed, title)


def numbers(head: str, rows: Sequence[tuple[NamedNumber, str]], title: str) -> str:
    """Groups by name: the number, its interval and what there is to say."""
    remarks = any(said for _, said in rows)
    listed = []
    for part, said in rows:
        cells = [part.name, *spelled(part.value, part.low, part.high)]
        listed.append([*cells, said] if remarks else cells)
    return table([head, "value", "from", "to", *(["remark"] if remarks else [])], listed, title)


def _cell(part: NamedNumber, one: float | None, other: float | None, *, bare: bool) -> str:
    scale = (abs(one) ** 0.5) * (abs(other) ** 0.5) if one and other else 0.0
    share = finite(part.value / scale) if scale and part.value is not None else None
    depth = round(DARKEST * min(1.0, abs(share or 0.0)))
    said = number(part.value) if bare or not part.barred else in_brackets(part)
    value, _, ends = said.partition(" (")
    small = f"<small>({text(ends)}</small>" if ends else ""
    way = "down" if (share or 0.0) < 0 else "up"
    return f'<td class="{way}" style="--share:{depth}%">{text(value)}{small}</td>'


def _wide(title: str) -> str:
    return f'<div class="wide" tabindex="0" role="region" aria-label="{text(title)}">'


def _right(place: int, head: Sequence[str]) -> str:
    return "" if not place or head[place] == "remark" else ' class="n"'


def _at(listed: Any, place: int) -> Any:
    return listed[place] if isinstance(listed, list) and place < len(listed) else None
