"""What a ledger is to those who use it, and the chain of entries that it is made of.

Claims
    [book.1] An entry's hash is the SHA-256 of everything in it and of the hash before it. Whoever changes, removes,
          inserts or moves an entry must find two texts with one hash, or write all later hashes anew; the head is
          keyed (ledger/seal.py), so that the latter needs the key.
    [book.2] Order is the entries' number, never the clock: a clock that is moved changes what is written beside an
          entry and nothing else.

Four steps, always in this order: reserve (`charge`), compute, store, show. What is shown is what `store` gave back.
After a crash before `store`, budget is spent and nothing was seen: asking again with the same request computes anew
without a second charge. There is no refund: whether an answer was seen cannot be proved afterwards.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any, Final, Literal, Protocol

from discreet.accounting.filter import Filter
from discreet.ledger.account import canonical, loss_from_plain
from discreet.privacy.loss import Loss

Kind = Literal["open", "allot", "charge", "answer", "anchor"]
GENESIS: Final = "0" * 64  # the hash before the first entry


def now() -> str:
    """The clock, for people; nothing is decided by it. [book.2]"""
    return datetime.now(UTC).isoformat(timespec="seconds")


def digest(text: str) -> str:
    """SHA-256, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line of the book. `body` is canonical JSON: an account, a charge, an answer's digest, or a word."""

    ledger: str
    number: int
    kind: Kind
    time: str
    population: str
    analyst: str | None
    request: str | None
    body: str
    previous: str

    @property
    def hash(self) -> str:
        """What the next entry continues. [book.1]"""
        return digest(canonical([getattr(self, name) for name in self.__slots__]))  # [book.1]

    @property
    def plain(self) -> dict[str, Any]:
        """The body, read."""
        return dict(json.loads(self.body))


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """Proof that a charge is in the book.

    `answer` is what was stored for it, if anything was; `fresh` is false if the request had been charged before. `cost`
    is in what the population's budget is counted in.
    """

    ledger: str
    number: int
    hash: str
    time: str
    population: str
    analyst: str | None
    request: str | None
    loss: Loss
    note: str
    answer: str | None = None
    fresh: bool = True
    cost: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)

    @classmethod
    def of(cls, entry: Entry, answer: str | None = None, fresh: bool = True) -> "Receipt":
        """The receipt of a charge."""
        plain = entry.plain
        cost, delta = map(Fraction, plain["price"])
        return cls(
            ledger=entry.ledger,
            number=entry.number,
            hash=entry.hash,
            time=entry.time,
            population=entry.population,
            analyst=entry.analyst,
            request=entry.request,
            loss=loss_from_plain(plain["loss"]),
            note=plain["note"],
            answer=answer,
            fresh=fresh,
            cost=cost,
            delta=delta,
        )

    def __str__(self) -> str:
        return f"entry {self.number} of ledger {self.ledger[:8]}, sha256 {self.hash}"


class Book(Protocol):
    """What sessions need of a ledger."""

    def charge(
        self,
        population: str,
        loss: Loss,
        note: str,
        *,
        request: str | None = None,
        analyst: str | None = None,
        source: str | None = None,
    ) -> Receipt:
        """Reserve: durable when it returns; OverBudget, and nothing charged, if it does not fit."""
        ...

    def store(self, receipt: Receipt, answer: str) -> str:
        """Keep the answer (JSON) and give back the one to show: the first that was stored."""
        ...

    def answer(self, request: str) -> str | None:
        """What was stored for this request."""
        ...

    def balance(self, population: str, analyst: str | None = None) -> Filter:
        """The budget and what is spent of it."""
        ...

    def entries(self, population: str) -> Sequence[Receipt]:
        """All charges, in order."""
        ...
