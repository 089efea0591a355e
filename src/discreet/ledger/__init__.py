"""What was spent on whom: durable, exact, and checkable afterwards."""

from discreet.ledger.account import Receipt
from discreet.ledger.store import Ledger
from discreet.ledger.verify import LedgerVerdict, Problem, examine

__all__ = ["Ledger", "LedgerVerdict", "Problem", "Receipt", "examine"]
