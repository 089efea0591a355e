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
"""

import unicodedata


def printable(text: str) -> str:
    """A text that cannot steer a terminal: of control, direction and invisible characters only line breaks are kept.

    >>> printable("red\\x1b[31m")
    'red\ufffd[31m'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        "\ufffd" if letter != "\n" and unicodedata.category(letter).startswith("C") else letter for letter in text
    )


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
