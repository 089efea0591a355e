"""What was spent on whom: durable, exact, and checkable afterwards."""

from discreet.ledger.account import Book, Receipt
from discreet.ledger.store import Ledger
from discreet.ledger.verify import LedgerVerdict, Problem, examine

__all__ = ["Book", "Ledger", "LedgerVerdict", "Problem", "Receipt", "examine"]
