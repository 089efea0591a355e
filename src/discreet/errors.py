"""Every exception that discreet raises on purpose.

    DiscreetError
    ├── BadInput        what was asked cannot be understood or done; nothing was drawn, nothing was spent
    │   └── NeedsBounds the question needs a public range that was not given
    ├── OverBudget      the ledger has less left than this costs
    ├── LedgerFault     the ledger cannot be used; nothing is shown
    │   └── LedgerChanged  it does not agree with itself, its key or its anchor
    └── Refused         a release holds no answer (or no interval), and someone asked for it

An error says what was seen, what is needed and what to do next. It is decided by public quantities only:
arguments, types, shapes and the declared size, never by a value in the data.
"""


class DiscreetError(Exception):
    """The root of the tree."""


class BadInput(DiscreetError, ValueError):
    """An argument is outside what the mechanism can promise anything about."""


class NeedsBounds(BadInput):
    """A public range is needed and none was given."""


class OverBudget(DiscreetError):
    """The charge does not fit into what is left of the budget."""


class LedgerFault(DiscreetError):
    """The ledger cannot be reached, written or trusted."""


class LedgerChanged(LedgerFault):
    """The ledger is not what was left: entries, accounts or answers are not those that were signed."""


class Refused(DiscreetError):
    """There is no answer to show; the reason is in the message."""
