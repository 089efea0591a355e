"""Columns whose cells are written in a declared way: 12.5%, 1,234.5, or dates as a country has them.

Each cell is made what the readers of cells.py take, by a fixed function of itself and of the declaration: [cells.1].
"""

import re
from dataclasses import dataclass
from typing import Final

from discreet.privacy.declaration import Kind
from discreet.tables import entries as rows
from discreet.tables.cells import GRAMMAR, Column, is_arrow, is_text, of_text, pc

DAY: Final = (r"\b([0-9])\b", r"0\1")  # a day or a month of one digit gets its 0


@dataclass(frozen=True, slots=True)
class Written:
    """Cells that are written so, what is put in place of what, and what is left then."""

    pattern: str
    steps: tuple[tuple[str, str], ...]
    kind: Kind


def _dated(mark: str, *order: str) -> Written:
    """Day, month and year in this order; another day than the month has is no date, hence missing."""
    parts = {"day": "(0?[1-9]|[12][0-9]|3[01])", "month": "(0?[1-9]|1[0-2])", "year": "([0-9]{4})"}
    pattern = rf"^[ \t]*{mark.join(parts[one] for one in order)}[ \t]*$"
    loose = rf"^[ \t]*{mark.join(['([0-9]+)'] * 3)}[ \t]*$"
    iso = "-".join(rf"\{order.index(one) + 1}" for one in ("year", "month", "day"))
    return Written(pattern, (DAY, (loose, iso)), "date")


WRITTEN: Final = {
    "percent": Written(GRAMMAR[:-7] + r"[ \t]*%[ \t]*$", (("%", ""),), "number"),
    "thousands": Written(r"^[ \t]*[+-]?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]*)?[ \t]*$", ((",", ""),), "number"),
    "dd.mm.yyyy": _dated(r"\.", "day", "month", "year"),
    "dd/mm/yyyy": _dated("/", "day", "month", "year"),
    "mm/dd/yyyy": _dated("/", "month", "day", "year"),
}


def rewritten(column: Column, form: str) -> Column:
    """Cells that are written as declared, as plain numbers or dates; others as they are. [cells.1]"""
    how = WRITTEN[form]
    if is_arrow(column):
        if not is_text(column.type):
            return column
        fits, changed = pc.fill_null(pc.match_substring_regex(column, how.pattern), False), column
        for old, new in how.steps:
            changed = pc.replace_substring_regex(changed, old, new)
        return pc.if_else(fits, changed, column)
    if column.dtype.kind != "O" or column.ndim != 1:
        return column
    known = re.compile(how.pattern.replace("$", r"\Z"))
    return rows.column([_rewritten(str.__str__(cell), how, known) if of_text(cell) else cell for cell in column])


def _rewritten(text: str, how: Written, known: re.Pattern[str]) -> str:
    if not known.match(text):
        return text
    for old, new in how.steps:
        text = re.sub(old, new, text)
    return text
