"""Answers that are stored in the ledger, found by their question: titles, notes, order and other releases are free.

Promise
    [stored_answers.1] An answer is taken for a question only if it was drawn for the same one: statistic, columns,
    conditions, groups, options, person, what is made of a person's rows, relation, unit, table, date and, where the
    plan fixes it, price. Taking it costs nothing.
Why
    [stored_answers.1] The digest of a question is of all that its mechanism and its rows depend on but for a price that
    is a share of the plan's. What is read is a stored answer, whose charge is in the ledger: post-processing.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet.accounting.filter import Budget
from discreet.asking import Question
from discreet.errors import BadInput
from discreet.plan.plan_file import PlannedRelease
from discreet.privacy.exact import exact, show
from discreet.tables.table import Table
from discreet.tables.where import Where

if TYPE_CHECKING:
    from discreet.ledger import Ledger

LEAST = Fraction(1, 100)  # of what a plan may spend, for its new releases: with less they would be noise


@dataclass(frozen=True, slots=True)
class Kept:
    """A stored answer: its entry in the report of then, and that report."""

    entry: Mapping[str, Any]
    report: Mapping[str, Any]

    @property
    def releases(self) -> list[Mapping[str, Any]]:
        """One, or one for each group."""
        groups = self.entry.get("groups")
        return [self.entry["release"]] if groups is None else [group["release"] for group in groups]

    @property
    def cost(self) -> tuple[Fraction, Fraction]:
        """The epsilon and delta of its guarantee; groups are answered for the price of one."""
        promised = [release["guarantee"] for release in self.releases]
        epsilon = max((exact(one["epsilon"]) for one in promised), default=Fraction(0))
        return epsilon, max((exact(one["delta"]) for one in promised), default=Fraction(0))


def digest_of(question: Question, entry: PlannedRelease, table: Table, as_of: str | None) -> str:
    """What names a question in stored answers. [stored_answers.1]"""
    record = question.record
    options = {name: value for name, value in record["options"].items() if name not in ("epsilon", "delta")}
    told = record | {
        "options": options,
        "unit": question.people.unit,
        "neighbours": question.people.neighbours.name,
        "table": table.identity,
        "as_of": as_of,
        "rules": _rules(question),
        "price": [entry.epsilon, entry.accuracy, entry.delta],
    }
    told |= {name: found for name in ("estimator", "code") if (found := getattr(entry, name)) is not None}
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def _rules(question: Question) -> list[Any]:
    """What is made of a person's rows in the columns of its conditions and groups, and how many rows count."""
    rules, by = question.wanted.rules, () if question.grouping is None else question.grouping.by
    if question.people.person is None:
        return []
    conditions = [Where.parse(want.name) for want in question.wanted.wants if want.kind == "where"]
    conditions += [] if question.where is None else [question.where]
    read = [(test.column, test.reading) for one in conditions for test in one.tests] + [
        (name, "category") for name in by
    ]
    return [rules.cap, *([name, rules.of(name, reading)] for name, reading in read)]


def kept_answers(ledger: "Ledger", population: str, analyst: str | None, digests: Sequence[str]) -> dict[int, Kept]:
    """By place, the first answer that was stored for each question in a plan of this analyst. [stored_answers.1]"""
    found: dict[str, Kept] = {}
    for charge in ledger.entries(population):
        if charge.answer is None or charge.analyst != analyst or not (charge.request or "").startswith("plan "):
            continue
        report = json.loads(charge.answer)
        for entry in report.get("releases", ()):
            if entry.get("digest") in digests:
                found.setdefault(entry["digest"], Kept(entry, report))
    return {place: found[digest] for place, digest in enumerate(digests) if digest in found}


def paid(kept: Mapping[int, Kept]) -> tuple[Fraction, Fraction]:
    """What stored answers have cost: the sum of their prices, or what each report that they are from cost if less."""
    total = [Fraction(0), Fraction(0)]
    for key in {_of(one) for one in kept.values()}:
        own = [one for one in kept.values() if _of(one) == key]
        for at, name in enumerate(("epsilon", "delta")):
            together = exact(own[0].report["budget"]["this"][name])
            total[at] += min(sum((one.cost[at] for one in own), Fraction(0)), together)
    return total[0], total[1]


def _of(kept: Kept) -> tuple[str, ...]:
    """The receipts of the report that an answer is from."""
    return tuple(kept.report["reproducibility"]["receipts"])


def left_for_new(spend: Budget, kept: Mapping[int, Kept], new: int) -> Budget:
    """What a plan may spend on its new releases: [spend] is for all of them, old and new."""
    if not kept:
        return spend
    epsilon, delta = paid(kept)
    rest = exact(spend.epsilon) - epsilon
    if rest < LEAST * exact(spend.epsilon):
        raise BadInput(
            f"the plan may spend epsilon {show(spend.epsilon)} in all, and its {len(kept)} stored answers cost "
            f"{show(epsilon)}: nothing is left for the {new} new. Raise [spend] epsilon by what they may cost"
        )
    return Budget(_written(rest), max(Fraction(0), exact(spend.delta) - delta))


def _written(rest: Fraction) -> Fraction:
    """No more than it, in few digits: prices are compared as they are written, and a float would be a little more."""
    return Fraction(rest * 10**12 // 1, 10**12)


def beside_kept(spend: Budget, kept: Mapping[int, Kept]) -> str:
    """Why a plan with stored answers may spend less than it says, and what to do; nothing if it has none."""
    if not kept:
        return ""
    return (
        f". That is what its {len(kept)} stored answers, which cost {show(paid(kept)[0])}, leave of [spend] epsilon = "
        f"{show(spend.epsilon)}: raise it by what the new releases cost"
    )
