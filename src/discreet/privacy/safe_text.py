"""Texts that nothing executes: a cell that is no formula to a spreadsheet, a line that no terminal obeys.

Claims
    [safe_text.1] No text begins as a formula does (= + - @ | % and their wide and small forms, after blanks and
          characters that are not seen): such texts get an apostrophe. No cell holds a line break. Numbers stay numbers.
"""

import math
import unicodedata
from collections.abc import Mapping
from typing import Any, Final

from discreet.errors import printable

FORMULA: Final = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "|", "%")
UNSEEN: Final = ("Cc", "Cf", "Zs", "Zl", "Zp")


def safe(cell: object) -> str:
    """A cell that is a number, or text to every spreadsheet; nothing where there is no such number. [safe_text.1]

    >>> safe("=HYPERLINK(1)"), safe(-0.5), safe("-0.5"), safe(None)
    ("'=HYPERLINK(1)", '-0.5', "'-0.5", '')
    """
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        return _number(cell)
    text = " ".join(str("" if cell is None else cell).split())
    text = "".join("\ufffd" if unicodedata.category(mark) in {"Cc", "Cs"} else mark for mark in text)
    seen = next((mark for mark in text if unicodedata.category(mark) not in UNSEEN), "")
    formula = unicodedata.normalize("NFKC", seen).startswith(FORMULA)  # the wide and the small = are = too
    return f"'{text}" if formula else text  # [safe_text.1]


def _number(number: float) -> str:
    try:
        return repr(number) if math.isfinite(number) else ""
    except OverflowError:  # a whole number beyond the floats
        return ""


def clean(text: str) -> str:
    """One line that cannot steer a terminal: control, direction and invisible characters are shown as a sign."""
    return printable(" ".join(text.split()))


def cleaned(record: Any) -> Any:
    """A record of plain values, all of whose texts are safe to print."""
    if isinstance(record, str):
        return printable(record)
    if isinstance(record, Mapping):
        return {cleaned(name): cleaned(entry) for name, entry in record.items()}
    return [cleaned(entry) for entry in record] if isinstance(record, list | tuple) else record
