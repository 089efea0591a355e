"""What was spent on whom: durable, exact, and checkable afterwards.

The names are loaded when they are first used: SQLAlchemy takes a quarter of a second, and a profile without a ledger
or the dry run of a new population opens none.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from discreet.ledger.account import Receipt
    from discreet.ledger.store import Ledger
    from discreet.ledger.verify import LedgerVerdict, Problem, examine

__all__ = ["Ledger", "LedgerVerdict", "Problem", "Receipt", "examine"]
HOMES: Final = {
    "Ledger": "store",
    "LedgerVerdict": "verify",
    "Problem": "verify",
    "Receipt": "account",
    "examine": "verify",
}


def __getattr__(name: str) -> Any:
    """A public name, from its module."""
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{HOMES[name]}"), name)
