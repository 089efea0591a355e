"""What the ledger knows of a budget, and the chain of entries in which it is written down.

Claims
    [account.1] What is written is what was meant: a loss, a price and a balance read back equal.
    [account.2] Accounts stay small whatever is charged. A number of more than 4,096 bits is refused, and a loss that is
          nested more than 32 deep (it could be written, but not read everywhere); a sum that needs more than 8,192 is
          rounded up, by less than 2^-4096, against whoever spends. Below that all sums are exact.
    [account.3] A charge without a cost is refused: NaN, infinite, negative and subnormal numbers by accounting, zero
    here.
    [account.4] An entry's hash is the SHA-256 of everything in it and of the hash before it. Whoever changes, removes,
          inserts or moves an entry must find two texts with one hash, or write all later hashes anew; the head is
          keyed (ledger/seal.py), so that the latter needs the key.
    [account.5] Order is the entries' number, never the clock: a clock that is moved changes what is written beside an
          entry and nothing else.
    [account.6] A change of an analyst's part keeps what was spent, and gives no less than that.

An account is a filter (accounting/filter.py) of one population, or of one analyst's part of it, with the neighbours and
the unit that its promise is for. What a filter counts in is fixed when the account is opened. Numbers and losses are
written as exact rationals, in text.

Four steps, always in this order: charge, compute, store, show. What is shown is what `store` gave back.
After a crash before `store`, budget is spent and nothing was seen: asking again with the same request computes anew
without a second charge. There is no refund: whether an answer was seen cannot be proved afterwards.
"""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fractions import Fraction
from operator import attrgetter
from typing import Any, Final, Literal, assert_never

from discreet.accounting.filter import Amount, Budget, Currency, Filter
from discreet.errors import BadInput, OverBudget
from discreet.privacy.exact import Number, exact, show
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Approximate, Choice, Composed, Gaussian, Laplace, Loss, Sampled, in_words

DEEPEST: Final = 32  # losses within losses
BITS: Final = 4096  # of one number; 1,234 digits
WIDE: Final = 2 * BITS  # of a sum
ROUNDING: Final = 1 + Fraction(1, 10**6)  # by which another machine's calibration may differ
ROUNDED: Final = Fraction(1, 2 ** (BITS - 64))  # what 2^64 roundings could add


# The one way to write something as JSON: sorted, no spaces, plain ASCII.
canonical: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False).encode


def written(number: Number, most: int | None = BITS) -> str:
    """A rational as text, of at most so many bits. [account.1]

    >>> written(0.1)
    '1/10'
    """
    value = exact(number)
    if most is not None and max(value.numerator.bit_length(), value.denominator.bit_length()) > most:  # [account.2]
        raise BadInput("a number of this loss has more than 1,234 digits; round it up to fewer")
    return f"{value.numerator}/{value.denominator}"


def loss_to_plain(loss: Loss, depth: int = 0) -> dict[str, Any]:
    """A loss as what JSON can hold, without loss. [account.1]"""
    if depth > DEEPEST:  # [account.2]
        raise BadInput(f"this loss is nested more than {DEEPEST} deep; join its parts with `compose`")
    match loss:
        case Laplace(epsilon):
            return {"loss": "Laplace", "epsilon": written(epsilon)}
        case Gaussian(mu, slack):
            return {"loss": "Gaussian", "mu": written(mu), "slack": written(slack)}
        case Choice(epsilon):
            return {"loss": "Choice", "epsilon": written(epsilon)}
        case Approximate(epsilon, delta):
            return {"loss": "Approximate", "epsilon": written(epsilon), "delta": written(delta)}
        case Sampled(inner, rate, times):
            return {
                "loss": "Sampled",
                "of": loss_to_plain(inner, depth + 1),
                "rate": written(rate),
                "times": _times(times),
            }
        case Composed(parts):
            return {"loss": "Composed", "parts": [loss_to_plain(part, depth + 1) for part in parts]}
        case _:
            assert_never(loss)


def loss_from_plain(plain: Mapping[str, Any]) -> Loss:
    """The loss that was written. [account.1]"""
    match plain:
        case {"loss": "Laplace", "epsilon": epsilon}:
            return Laplace(Fraction(epsilon))
        case {"loss": "Gaussian", "mu": mu, "slack": slack}:
            return Gaussian(Fraction(mu), Fraction(slack))
        case {"loss": "Choice", "epsilon": epsilon}:
            return Choice(Fraction(epsilon))
        case {"loss": "Approximate", "epsilon": epsilon, "delta": delta}:
            return Approximate(Fraction(epsilon), Fraction(delta))
        case {"loss": "Sampled", "of": inner, "rate": rate, "times": int(times)}:
            return Sampled(loss_from_plain(inner), Fraction(rate), times)
        case {"loss": "Composed", "parts": parts}:
            return Composed(tuple(loss_from_plain(part) for part in parts))
        case _:
            raise BadInput("this is not a loss that the ledger has written")


@dataclass(frozen=True, slots=True)
class Account:
    """A filter, what its promise is for, and how many charges it has seen."""

    filter: Filter
    unit: str
    charges: int = 0
    ended: bool = False  # by a steward: nothing more is charged to it

    @classmethod
    def opened(
        cls, budget: Budget, accounting: Currency, reserve: Number | None, neighbours: Neighbours, unit: str
    ) -> "Account":
        """A new account; `reserve` is the share of delta kept for the charges' own deltas (half, unless given)."""
        budget = Budget(exact(budget.epsilon), exact(budget.delta))
        share = {} if reserve is None else {"reserve": reserve}
        match accounting:
            case Currency.EPSILON:
                if share:
                    raise BadInput("a budget that is counted in epsilon keeps no reserve of delta; leave reserve out")
                filter_ = Filter.basic(budget, neighbours=neighbours)
            case Currency.RHO:
                filter_ = Filter.zcdp(budget, neighbours=neighbours, **share)
            case Currency.MU_SQUARED:
                filter_ = Filter.gdp(budget, neighbours=neighbours, **share)
            case _:
                assert_never(accounting)
        return cls(filter_, unit)

    def charge(self, loss: Loss) -> tuple["Account", Amount]:
        """The account after this loss, and its price; OverBudget, and nothing has changed, if it does not fit."""
        if self.ended:
            raise OverBudget(f"a data steward has ended this part of the budget ({self.told}); ask them for another")
        price = self.filter.price(loss)
        if price.cost <= 0:  # [account.3]
            raise BadInput(f"{in_words(loss)}: this costs no {price.currency.quantity}; a release costs more than 0")
        written(price.cost), written(price.delta)  # [account.2] before anything is decided
        self.filter.paid(price)
        return self.paid(price), price

    def paid(self, price: Amount) -> "Account":
        """The account after a price that was found to fit."""
        spent = self.filter.spent
        after = replace(spent, cost=_bounded(spent.cost + price.cost), delta=_bounded(spent.delta + price.delta))
        return replace(self, filter=replace(self.filter, spent=after), charges=self.charges + 1)

    def changed(self, budget: Budget | None) -> "Account":
        """The same part under another budget, or ended. What was spent stays spent. [account.6]"""
        if budget is None:
            return replace(self, ended=True)
        new = replace(self.under(budget), charges=self.charges, ended=False)
        spent = self.filter.spent
        if spent.cost > new.filter.total.cost or spent.delta > new.filter.total.delta:  # [account.6]
            raise BadInput(
                f"{told_of(self.filter.budget)} is what this part has, and more than {told_of(budget)} of "
                "it is spent; give no less than was spent, or end it"
            )
        return replace(new, filter=replace(new.filter, spent=spent))

    def follows(self, old: "Account") -> bool:
        """Whether this is what a change may have made of another account. [account.6]"""
        if self.ended:
            return replace(self, ended=False) == replace(old, ended=False)
        same = (self.charges, self.filter.spent, self.neighbours, self.unit) == (
            old.charges, old.filter.spent, old.neighbours, old.unit,
        )  # fmt: skip
        total, most = self.filter.total, old.under(self.filter.budget).filter.total
        fits = total.currency is most.currency and total.delta <= most.delta and total.cost <= most.cost * ROUNDING
        return same and fits and not self.overspent

    def under(self, budget: Budget) -> "Account":
        """A new account on these terms with another budget, of which the same share is kept for charges' deltas."""
        total = self.filter.total
        share = None if total.currency is Currency.EPSILON else total.delta / exact(self.filter.budget.delta)
        return Account.opened(budget, total.currency, share, self.neighbours, self.unit)

    @property
    def told(self) -> str:
        """Its budget, in words."""
        return told_of(self.filter.budget) + (", ended" if self.ended else "")

    @property
    def standing(self) -> str:
        """What a change of it is decided on: its budget, and whether it has ended."""
        budget = self.filter.budget
        return f"{written(budget.epsilon, None)} {written(budget.delta, None)}{' ended' if self.ended else ''}"

    @property
    def neighbours(self) -> Neighbours:
        """Which change of the data the promise hides."""
        return self.filter.neighbours

    @property
    def terms(self) -> tuple[Budget, Amount, Neighbours, str]:
        """What was agreed when it was opened."""
        return self.filter.budget, self.filter.total, self.neighbours, self.unit

    @property
    def new(self) -> bool:
        """Whether nothing is spent, and no more is there than the budget allows."""
        budget, total = self.filter.budget, self.filter.total
        most = self.under(budget).filter.total
        unspent = (
            self.charges == 0
            and not self.ended
            and self.filter.spent == replace(total, cost=Fraction(0), delta=Fraction(0))
        )
        return unspent and total.delta <= most.delta and total.cost <= most.cost * ROUNDING

    @property
    def overspent(self) -> bool:
        """Whether more is spent than was there, beyond what [account.2] rounds."""
        least = min(self.filter.left.cost, self.filter.left.delta)
        return least < 0 and least < -ROUNDED

    def to_text(self, **beside: str) -> str:
        """The account as canonical JSON, with what an entry says beside it. [account.1]"""
        budget, total, spent = self.filter.budget, self.filter.total, self.filter.spent
        return canonical(
            {
                "counted": total.currency.value,
                "epsilon": written(budget.epsilon),
                "delta": written(budget.delta),
                "total": [written(total.cost, None), written(total.delta, None)],
                "spent": [written(spent.cost, None), written(spent.delta, None)],
                "charges": self.charges,
                "neighbours": self.filter.neighbours.name,
                "unit": self.unit,
            }
            | ({"ended": True} if self.ended else {})
            | beside
        )

    @classmethod
    def from_text(cls, text: str) -> "Account":
        """The account that was written. [account.1]"""
        plain = json.loads(text)
        currency = Currency(plain["counted"])
        total = Amount(currency, *map(Fraction, plain["total"]))
        spent = Amount(currency, *map(Fraction, plain["spent"]))
        budget = Budget(Fraction(plain["epsilon"]), Fraction(plain["delta"]))
        filter_ = Filter(budget, total, spent, Neighbours[plain["neighbours"]])
        return cls(filter_, plain["unit"], plain["charges"], plain.get("ended", False))


def told_of(budget: Budget) -> str:
    """A budget in words."""
    return f"epsilon {show(budget.epsilon)}" + (f" and delta {show(budget.delta)}" if budget.delta else "")


def _times(times: int) -> int:
    if times.bit_length() > BITS:  # [account.2]
        raise BadInput("a sample is repeated more than 2^4096 times; nobody can")
    return int(times)


def _bounded(number: Fraction) -> Fraction:
    if number.denominator.bit_length() <= WIDE:
        return number
    return Fraction(math.ceil(number * 2**BITS), 2**BITS)  # [account.2]


Kind = Literal["open", "allot", "change", "charge", "answer", "anchor", "event"]
GENESIS: Final = "0" * 64  # the hash before the first entry


def now() -> str:
    """The clock, for people; nothing is decided by it. [account.5]"""
    return datetime.now(UTC).isoformat(timespec="seconds")


def digest(text: str) -> str:
    """SHA-256, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
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
    hash: str = field(init=False)  # what the next entry continues

    def __post_init__(self) -> None:
        object.__setattr__(self, "hash", digest(canonical(HASHED(self))))  # [account.4]

    @property
    def plain(self) -> dict[str, Any]:
        """The body, read."""
        return dict(json.loads(self.body))


HASHED: Final = attrgetter(*Entry.__slots__[:-1])  # all else of an entry, in order


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


def repeated(
    entry: Entry, answer: str | None, question: dict[str, object], population: str, analyst: str | None
) -> Receipt:
    """The receipt of a request that was charged before, if it is the same question."""
    plain = entry.plain
    same = all(plain[part] == question[part] for part in ("loss", "note"))
    if not same or (entry.population, entry.analyst) != (population, analyst):
        raise BadInput(f"request {entry.request!r} was another question before; give a new question a new request")
    if plain.get("source") != question.get("source"):
        raise BadInput(
            f"request {entry.request!r} was about another table before: one at another place or with other columns; a "
            "table in memory is another one each time it is opened. Give the question about this one a new request"
        )
    return Receipt.of(entry, answer, fresh=False)
