"""Every exception that discreet raises on purpose.

    DiscreetError
    ├── BadInput        what was asked cannot be understood or done; nothing was drawn, nothing was spent
    │   └── NeedsBounds the question needs a public range that was not given
    ├── OverBudget      the ledger has less left than this costs
    ├── NotAnswered     the budget was spent, and no answer could be made: a file is gone, say
    ├── LedgerFault     the ledger cannot be used; nothing is shown
    │   └── LedgerChanged  it does not agree with itself, its key or its anchor
    └── Refused         a release holds no answer (or no interval), and someone asked for it

An error says what was seen, what is needed and what to do next. It is decided by public quantities only:
arguments, types, shapes and the declared size, never by a value in the data. Names of columns, plans and the like in it
cannot steer the terminal that it is shown on.

Beside them, texts that nothing executes: a cell that is no formula to a spreadsheet, a line that no terminal obeys.

Claims
    [errors.1] No text begins as a formula does (= + - @ | % and their wide and small forms, after blanks and
          characters that are not seen): such texts get an apostrophe. No cell holds a line break. Numbers stay numbers.
"""

import math
import unicodedata
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any, Final

FORMULA: Final = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "|", "%")
UNSEEN: Final = ("Cc", "Cf", "Zs", "Zl", "Zp")


def printable(text: str) -> str:
    """A text that cannot steer a terminal: of control, direction and invisible characters only line breaks are kept.

    >>> printable("red\\x1b[31m")
    'red\ufffd[31m'
    """
    if text.replace("\n", "").isprintable():  # then no category is "C"
        return text
    return "".join(
        "\ufffd" if letter != "\n" and unicodedata.category(letter).startswith("C") else letter for letter in text
    )


def safe(cell: object) -> str:
    """A cell that is a number, or text to every spreadsheet; nothing where there is no such number. [errors.1]

    >>> safe("=HYPERLINK(1)"), safe(-0.5), safe("-0.5"), safe(None)
    ("'=HYPERLINK(1)", '-0.5', "'-0.5", '')
    """
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        return _number(cell)
    text = " ".join(str("" if cell is None else cell).split())
    text = "".join("\ufffd" if unicodedata.category(mark) in {"Cc", "Cs"} else mark for mark in text)
    seen = next((mark for mark in text if unicodedata.category(mark) not in UNSEEN), "")
    formula = unicodedata.normalize("NFKC", seen).startswith(FORMULA)  # the wide and the small = are = too
    return f"'{text}" if formula else text  # [errors.1]


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


def meant(name: object, known: Iterable[str], alike: float = 0.6) -> str:
    """ "did you mean 'age'? " for a name that is close to a known one; else nothing.

    >>> meant("agee", ["age", "sex"]), meant("x", ["age"])
    ("did you mean 'age'? ", '')
    """
    near = get_close_matches(str(name), list(known), 1, alike)
    return f"did you mean {near[0]!r}? " if near else ""


class DiscreetError(Exception):
    """The root of the tree."""

    def __str__(self) -> str:
        return printable(super().__str__())


class BadInput(DiscreetError, ValueError):
    """An argument is outside what the mechanism can promise anything about."""


class NeedsBounds(BadInput):
    """A public range is needed and none was given."""


class OverBudget(DiscreetError):
    """The charge does not fit into what is left of the budget."""


class NotAnswered(DiscreetError):
    """The charge stands, and there is no answer; the same request again costs nothing."""


class LedgerFault(DiscreetError):
    """The ledger cannot be reached, written or trusted."""


class LedgerChanged(LedgerFault):
    """The ledger is not what was left: entries, accounts or answers are not those that were signed."""


class Refused(DiscreetError):
    """There is no answer to show; the reason is in the message."""


def short(thing: object) -> str:
    """What was given, cut where it is long."""
    return seen if len(seen := repr(thing)) <= 60 else f"{seen[:57]}..."
