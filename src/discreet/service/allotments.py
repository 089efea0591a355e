"""Analysts' parts of budgets: given, changed and ended by stewards.

Promise
    [allotments.1] An analyst's part of a budget is decided on by a steward who is somebody else, as it was shown to
          them, and to no less than is spent of it; it is an entry of the ledger's chain with the steward's name.
Why
    [allotments.1] `_may_allot`; the ledger compares what was seen, and what is spent, in the transaction that writes
    the change, so that of two stewards one is told, and a charge comes before the change or after it ([store.3]).
"""

import json
from typing import Any

from discreet.accounting.filter import Budget
from discreet.errors import BadInput
from discreet.ledger import Ledger
from discreet.ledger.account import Account
from discreet.ledger.service_people import PeopleStore
from discreet.service.settings import Source


class Allotments:
    """The parts of the budgets in one ledger."""

    def __init__(self, ledger: Ledger, people: PeopleStore) -> None:
        self.ledger, self.people = ledger, people

    def allot(
        self, source: Source, analyst: str, epsilon: float, delta: float, *, by: str, seen: str | None = None
    ) -> None:
        """An analyst's part of a population's budget; `seen` is the part that it shall replace. [allotments.1]"""
        self._may_allot(analyst, by)
        whole, name = self.ledger.balance(source.population.name), source.population.name
        if epsilon > whole.budget.epsilon or delta > whole.budget.delta:
            raise BadInput(f"a part of epsilon {epsilon:g} and delta {delta:g} is more than the whole: {whole}")
        if seen is None:
            self.ledger.allot(name, analyst, Budget(epsilon, delta), by=by)
        else:
            self.ledger.change_part(name, analyst, Budget(epsilon, delta), seen=seen, by=by)

    def end_part(self, source: Source, analyst: str, *, by: str, seen: str) -> None:
        """Nothing more is charged to an analyst's part; what was spent stays spent. [allotments.1]"""
        self._may_allot(analyst, by)
        self.ledger.change_part(source.population.name, analyst, None, seen=seen, by=by)

    def _may_allot(self, analyst: str, by: str) -> None:
        person = self.people.find(analyst)
        if person is None or person.role not in ("analyst", "steward"):
            raise BadInput(f"{analyst!r} is nobody who asks; add them as an analyst first")
        if analyst == by:  # [allotments.1]
            raise BadInput("nobody decides on a part of their own; ask another steward")

    def allotted(self, source: Source, analyst: str) -> list[dict[str, Any]]:
        """What was decided on an analyst's part, the latest first: when, by whom, and what it was then."""
        lines = self.ledger.lines(
            most=20, kind=("allot", "change"), population=(source.population.name,), analyst=(analyst,)
        )
        found = [(entry.number, entry.time, entry.plain) for entry in lines]
        return [
            {"entry": number, "time": time, "by": plain.get("by"), "told": Account.from_text(json.dumps(plain)).told}
            for number, time, plain in found
        ]
