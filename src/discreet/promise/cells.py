"""A cell of a table that no spreadsheet executes.

Claims
    [LX1] No text begins as a formula does (= + - @ | % and their wide and small forms, after blanks and characters that
          are not seen): such texts get an apostrophe. No cell holds a line break. Numbers stay numbers.
"""

import math
import unicodedata
from typing import Final

FORMULA: Final = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "|", "%")
UNSEEN: Final = ("Cc", "Cf", "Zs", "Zl", "Zp")


def safe(cell: object) -> str:
    """A cell that is a number, or text to every spreadsheet; nothing where there is no such number. [LX1]

    >>> safe("=HYPERLINK(1)"), safe(-0.5), safe("-0.5"), safe(None)
    ("'=HYPERLINK(1)", '-0.5', "'-0.5", '')
    """
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        return _number(cell)
    text = " ".join(str("" if cell is None else cell).split())
    text = "".join("\ufffd" if unicodedata.category(mark) in {"Cc", "Cs"} else mark for mark in text)
    seen = next((mark for mark in text if unicodedata.category(mark) not in UNSEEN), "")
    formula = unicodedata.normalize("NFKC", seen).startswith(FORMULA)  # the wide and the small = are = too
    return f"'{text}" if formula else text  # [LX1]


def _number(number: float) -> str:
    try:
        return repr(number) if math.isfinite(number) else ""
    except OverflowError:  # a whole number beyond the floats
        return ""
