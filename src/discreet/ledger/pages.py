"""The rows of a ledger within one transaction: read only if signed, written signed.

Claims
    [pages.1] A head, an entry that is read, an account or an answer that is not what was signed stops the ledger:
          nothing is charged, nothing shown. An account that was signed earlier is not enough: all accounts together are
          signed with the head that they belong to, so that none can be set back alone.
    [pages.2] A balance is one row, however many entries there are: it is kept beside them in the same transaction.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any, Final

import sqlalchemy as sa

from discreet.errors import BadInput, LedgerChanged, LedgerFault
from discreet.ledger.account import GENESIS, Account, Entry, Kind, Receipt, canonical, digest, now
from discreet.ledger.ledger_tables import ACCOUNTS, ANSWERS, ENTRIES, LEDGER
from discreet.ledger.ledger_text import alike
from discreet.ledger.public_seal import Signer, keep_public_head, public_head
from discreet.ledger.seal import Head, Seal

VERSION: Final = 2  # of the tables; 1 had no signatures of entries
COLUMNS: Final = Entry.__slots__[1:]  # the first of the table: an entry, but for the ledger that it is in
CELLS: Final = attrgetter(*COLUMNS)
WHOLE: Final = ""  # stands for a population's own account, beside those of its analysts

_HERE = (ACCOUNTS.c.population == sa.bindparam("whose")) & (ACCOUNTS.c.analyst == sa.bindparam("part"))
# made once: building a statement costs more than running it
LOCK_HEAD: Final = sa.select(LEDGER).with_for_update()
LAST_HASH: Final = sa.select(ENTRIES.c.hash).where(ENTRIES.c.number == sa.bindparam("last"))
ENTRY: Final = sa.select(ENTRIES).where(ENTRIES.c.number == sa.bindparam("which"))
REQUESTED: Final = sa.select(ENTRIES).where(ENTRIES.c.request == sa.bindparam("asked"))
SINCE: Final = sa.select(ENTRIES).where(ENTRIES.c.number > sa.bindparam("then")).order_by(ENTRIES.c.number)
CHARGES: Final = (
    sa.select(ENTRIES, ANSWERS.c.answer)
    .outerjoin(ANSWERS, ANSWERS.c.number == ENTRIES.c.number)
    .where(ENTRIES.c.population == sa.bindparam("whose"), ENTRIES.c.number >= sa.bindparam("first"))
    .order_by(ENTRIES.c.number)
)
ANSWER: Final = sa.select(ANSWERS).where(ANSWERS.c.number == sa.bindparam("charge"))
ACCOUNT: Final = sa.select(ACCOUNTS).where(_HERE)
SIGNATURES: Final = sa.select(ACCOUNTS.c.population, ACCOUNTS.c.analyst, ACCOUNTS.c.signature)
NAMES: Final = sa.select(ACCOUNTS.c.population, ACCOUNTS.c.analyst)
MOVE_HEAD: Final = sa.update(LEDGER)
KEEP_ACCOUNT: Final = sa.update(ACCOUNTS).where(_HERE)
NEW_ACCOUNT: Final = sa.insert(ACCOUNTS)
NEW_ANSWER: Final = sa.insert(ANSWERS)
NEW_ENTRY: Final = sa.insert(ENTRIES)


def found_ledger(connection: sa.Connection, seal: Seal, *, anchored: bool) -> None:
    """The first row of a new ledger, if another process has not just written it; signed is whether it has an anchor."""
    if connection.execute(sa.select(LEDGER.c.one)).first() is None:
        ledger = os.urandom(16).hex()
        head = {"number": 0, "hash": GENESIS, "signature": seal.sign("head", ledger, 0, GENESIS)}
        head |= {"accounts": seal.sign("accounts", ledger, 0, standing([]))}
        row = {"one": 1, "version": VERSION, "ledger": ledger, "fingerprint": seal.sign(*who(ledger, anchored))}
        connection.execute(LEDGER.insert().values(**row, **head))


def identity(connection: sa.Connection, seal: Seal | None) -> tuple[str, bool]:
    """The ledger's own name, and whether it was made with an anchor; LedgerFault if of another version or key.

    Without the shared key the second cannot be told, and is False.
    """
    row = connection.execute(sa.select(LEDGER.c.version, LEDGER.c.ledger, LEDGER.c.fingerprint)).one_or_none()
    if row is None:
        raise LedgerChanged("the ledger's first row is gone; it was changed by other hands")
    if row.version != VERSION:
        raise LedgerFault(f"this ledger is of version {row.version}; this release of discreet reads version {VERSION}")
    if seal is None:
        return str(row.ledger), False
    for anchored in (True, False):
        if seal.fits(row.fingerprint, *who(row.ledger, anchored)):  # [pages.1]
            return str(row.ledger), anchored
    raise LedgerChanged("this ledger was made with another key; give the key that it was made with")


def who(ledger: str, anchored: bool) -> tuple[str, ...]:
    """What the fingerprint signs."""
    return ("ledger", ledger, "anchored") if anchored else ("ledger", ledger)


def length(connection: sa.Connection) -> int:
    """The number of the head, as it stands there."""
    return int(connection.execute(sa.select(LEDGER.c.number)).scalar() or 0)


def standing(signatures: Iterable[str]) -> str:
    """One digest of all accounts, by their signatures; few, however many entries."""
    return digest(canonical(sorted(signatures)))


def entry_of(ledger: str, row: Any) -> Entry:
    """An entry as it stands in the table."""
    return Entry(ledger, *row[: len(COLUMNS) - 1])


@dataclass(frozen=True, slots=True)
class Pages:
    """The ledger inside a transaction. `signed` are the accounts' signatures, once the head is locked."""

    connection: sa.Connection
    seal: Seal
    ledger: str
    signer: Signer | None = None
    signed: dict[tuple[str, str], str] = field(default_factory=dict)

    def head(self, *, renewed: bool = False) -> Head:
        """The head, locked until the transaction ends, and found to be sound.

        `renewed` is whether another private key is about to sign it.
        """
        row = self.connection.execute(LOCK_HEAD).one()
        last = self.connection.execute(LAST_HASH, {"last": row.number}).scalar()
        ours = row.ledger == self.ledger and self.seal.fits(row.signature, "head", row.ledger, row.number, row.hash)
        if not ours or (last or GENESIS) != row.hash:  # [pages.1]
            raise changed("its head is not what was signed")
        for whose, part, signature in self.connection.execute(SIGNATURES):
            self.signed[whose, part] = signature
        # [pages.1]
        if not self.seal.fits(row.accounts, "accounts", self.ledger, row.number, standing(self.signed.values())):
            raise changed("the accounts are not those that belong to its head")
        head = Head(row.number, row.hash, row.signature)
        public = None if renewed else public_head(self.connection, self.signer, self.ledger, head)
        return replace(head, public=public)

    def append(
        self, head: Head, kind: Kind, population: str, analyst: str | None, *, body: str, request: str | None = None
    ) -> tuple[Entry, Head]:
        """One more entry, after the accounts that it changes are kept; and the head that it is."""
        number = head.number + 1
        entry = Entry(
            ledger=self.ledger,
            number=number,
            kind=kind,
            time=now(),
            population=population,
            analyst=analyst,
            request=request,
            body=body,
            previous=head.hash,
        )
        new = Head(number, entry.hash, self.seal.sign("head", self.ledger, number, entry.hash))
        signed = {"hash": new.hash, "signature": new.signature}
        self.connection.execute(NEW_ENTRY, dict(zip(COLUMNS, CELLS(entry), strict=True)) | signed)
        accounts = self.seal.sign("accounts", self.ledger, number, standing(self.signed.values()))
        self.connection.execute(MOVE_HEAD, {"number": number, "accounts": accounts} | signed)
        return entry, self.publicly(new)

    def publicly(self, head: Head) -> Head:
        """The head with the private key's signature, if there is such a key."""
        if self.signer is None:
            return head
        return replace(head, public=keep_public_head(self.connection, self.signer, self.ledger, head))

    def has(self, population: str, analyst: str | None) -> bool:
        """Whether an account was ever opened."""
        return self.connection.execute(ACCOUNT, {"whose": population, "part": analyst or WHOLE}).first() is not None

    def account(self, population: str, analyst: str | None) -> Account:
        """An account that must be there. [pages.2]"""
        row = self.connection.execute(ACCOUNT, {"whose": population, "part": analyst or WHOLE}).one_or_none()
        if row is None and analyst is None:
            raise BadInput(f"there is no population {population!r} in this ledger; open it with its budget first")
        if row is None:
            raise BadInput(f"{analyst!r} may spend nothing of {population!r}; allot a part of its budget first")
        # [pages.1]
        if not self.seal.fits(row.signature, "account", self.ledger, row.population, row.analyst, row.state):
            raise changed(f"the account of {population!r} is not what was signed")
        return Account.from_text(row.state)

    def keep(self, population: str, analyst: str | None, account: Account, *, new: bool = False) -> None:
        """Write an account, signed. [pages.2]"""
        part, state = analyst or WHOLE, account.to_text()
        row = {"state": state, "signature": self.seal.sign("account", self.ledger, population, part, state)}
        self.signed[population, part] = row["signature"]
        if new:
            self.connection.execute(NEW_ACCOUNT, {"population": population, "analyst": part, **row})
        else:
            self.connection.execute(KEEP_ACCOUNT, {"whose": population, "part": part, **row})

    def entry(self, number: int) -> Entry | None:
        """An entry, if it is there."""
        row = self.connection.execute(ENTRY, {"which": number}).one_or_none()
        return None if row is None else self.trusted(row)

    def trusted(self, row: Any) -> Entry:
        """The entry in a row, if it is the one that was signed."""
        entry = entry_of(self.ledger, row)
        if not self.seal.fits(row.signature, "head", self.ledger, entry.number, entry.hash):  # [pages.1]
            raise changed(f"entry {entry.number} is not what was signed")
        return entry

    def requested(self, request: str) -> tuple[Entry, str | None] | None:
        """The charge of a request, and the answer stored for it."""
        row = self.connection.execute(REQUESTED, {"asked": request}).one_or_none()
        if row is None:
            return None
        entry = self.trusted(row)
        return entry, self.answer(entry)

    def answer(self, charge: Entry) -> str | None:
        """What was stored for a charge."""
        row = self.connection.execute(ANSWER, {"charge": charge.number}).one_or_none()
        if row is None:
            return None
        record = self.entry(row.entry)
        if record is None or record.plain != {"of": charge.number, "sha256": digest(row.answer)}:  # [pages.1]
            raise changed(f"the answer of entry {charge.number} is not what was stored")
        return str(row.answer)

    def charges(self, population: str, last: int | None) -> list[Receipt]:
        """The last charges to a population, or all, each with the answer that was stored for it."""
        first = 0
        if last is not None:
            back = sa.select(ENTRIES.c.number).where(ENTRIES.c.population == population, ENTRIES.c.kind == "charge")
            back = back.order_by(ENTRIES.c.number.desc()).offset(last - 1).limit(1)
            first = self.connection.execute(back).scalar() or 0
        found: list[tuple[Entry, str | None]] = []
        recorded: dict[int, str] = {}
        for row in self.connection.execute(CHARGES, {"whose": population, "first": first}):
            entry = self.trusted(row)
            if entry.kind == "charge":
                found.append((entry, row.answer))
            elif entry.kind == "answer":
                recorded[entry.plain["of"]] = entry.plain["sha256"]
        for entry, answer in found:
            if recorded.get(entry.number) != (None if answer is None else digest(answer)):  # [pages.1]
                raise changed(f"the answer of entry {entry.number} is not what was stored")
        return [Receipt.of(entry, answer, fresh=False) for entry, answer in found]

    def unanswered(self, head: Head, charge: Entry) -> None:
        """That no answer to a charge was ever recorded: one that was deleted would be drawn and seen a second time."""
        expected = charge.number + 1
        for row in self.connection.execute(SINCE, {"then": charge.number}):
            entry = self.trusted(row)
            if entry.number != expected or (entry.kind == "answer" and entry.plain["of"] == charge.number):  # [pages.1]
                break
            expected += 1
        if expected != head.number + 1:
            raise changed(f"the answer of entry {charge.number}, or what followed it, is gone")

    def lookalike(self, population: str, analyst: str | None) -> str | None:
        """A name in use that people would take for this one."""
        for whose, part in self.connection.execute(NAMES):
            known, new = (whose, population) if analyst is None else (part, analyst)
            if known != new and (analyst is None or whose == population) and alike(known, new):
                return str(known)
        return None

    def keep_answer(self, head: Head, charge: Entry, answer: str) -> Head:
        """Write an answer, and its digest into the chain."""
        self.unanswered(head, charge)
        body = canonical({"of": charge.number, "sha256": digest(answer)})
        record, new = self.append(head, "answer", charge.population, charge.analyst, body=body)
        self.connection.execute(NEW_ANSWER, {"number": charge.number, "entry": record.number, "answer": answer})
        return new


def changed(what: str) -> LedgerChanged:
    """The ledger is not as it was left."""
    return LedgerChanged(
        f"the ledger was changed by other hands: {what}. Nothing is charged; `discreet ledger verify` says where"
    )
