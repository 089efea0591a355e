"""Whether a ledger is what was written, entry by entry; if not, where it is not.

Claims
    [verify.1] A changed, removed, inserted or moved entry is found and named; so is a cut at the end, an account or an
          answer that does not follow from the entries, a charge beyond its budget or to a part that has ended, one
          below what its loss costs, and a change of a part that forgets what was spent.
    [verify.2] A chain that was written anew as a whole is found without the key by its head, and with the key by the
          anchor. An older copy that was put back, key and all, is found by the anchor alone. An anchor that is gone, or
          ends before the ledger's last entry but one, is a problem, and what a steward's word stands for is told.
    [verify.3] With a public key and without the shared one, all of [verify.1] is found, but for who wrote what stands
          after the last head that is signed with it: that is a problem itself. Lines of the anchor count as far as
          they are signed with it.

`trust` is that word: a ledger is all there is, although its anchor does not show it. An anchor is lost with its disk,
and a ledger is restored from a backup. Nothing in the files tells this from an attack: a person decides. What was
decided is an entry of the chain like any other, and every `verify` repeats it.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, get_args

import sqlalchemy as sa

from discreet.accounting.filter import Amount, Budget
from discreet.errors import BadInput, DiscreetError, LedgerChanged, LedgerFault
from discreet.ledger import ledger_text as words
from discreet.ledger.account import GENESIS, Account, Entry, Kind, canonical, digest, loss_from_plain
from discreet.ledger.database import Database, is_there, key_path, parts, place, there
from discreet.ledger.layout import settle
from discreet.ledger.ledger_tables import ACCOUNTS, ANSWERS, ENTRIES, LEDGER, PUBLIC_HEADS
from discreet.ledger.pages import MOVE_HEAD, WHOLE, Pages, entry_of, identity, length, standing, who
from discreet.ledger.public_seal import PublicKey, given_signer, read_public
from discreet.ledger.seal import Anchor, Head, Seal, exposed, lacking

MOST: Final = 100  # problems that are listed
BATCH: Final = 1000


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong, and with which entry, if it is one."""

    entry: int | None
    what: str
    anchor: bool = False  # whether it is the anchor that is wanting, not an entry

    def __str__(self) -> str:
        return self.what if self.entry is None else f"entry {self.entry} {self.what}"


@dataclass(frozen=True, slots=True)
class LedgerVerdict:
    """How many entries were read, and what is wrong with them."""

    entries: int
    problems: tuple[Problem, ...]
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def __str__(self) -> str:
        told = "all as they were written" if self.ok else "not as they were written"
        if not self.ok and all(problem.anchor for problem in self.problems):
            told = "each as it was written, but nothing shows that they are all"
        return "\n".join([f"{self.entries} entries, {told}", *map(str, self.problems), *self.notes])


@dataclass(slots=True, kw_only=True)
class _Reading:
    """What is known after the entries so far."""

    ledger: str
    seal: Seal | None  # None: with public keys alone
    seen: dict[int, str]  # by the anchor: the hash of each entry
    problems: list[Problem] = field(default_factory=list)
    accounts: dict[tuple[str, str], Account] = field(default_factory=dict)
    last: int = 0
    hash: str = GENESIS
    answers: int = 0
    notes: list[str] = field(default_factory=list)
    prices: dict[tuple[tuple[Budget, Amount], str], Amount] = field(default_factory=dict)

    def fits(self, signature: str, *signed: str | int) -> bool:
        """Whether the shared key signed this, as far as it is there."""
        return self.seal is None or self.seal.fits(signature, *signed)

    def wrong(self, entry: int | None, what: str) -> None:
        if len(self.problems) < MOST:
            self.problems.append(Problem(entry, what))

    def take(self, row: Any) -> None:
        """The next entry, as far as the chain goes. [verify.1]"""
        entry = entry_of(self.ledger, row)
        if entry.number != self.last + 1:
            self.missing(self.last + 1, entry.number - 1)
        elif entry.previous != self.hash:
            self.wrong(entry.number, f"does not continue entry {self.last}: one of the two was replaced")  # [verify.1]
        if entry.hash != row.hash:
            self.wrong(entry.number, "was changed after it was written")  # [verify.1]
        elif not self.fits(row.signature, "head", self.ledger, entry.number, row.hash):
            self.wrong(entry.number, "is not signed with this key")  # [verify.1]
        if self.seen.pop(entry.number, row.hash) != row.hash:
            self.wrong(entry.number, "is not the one that the anchor has seen")  # [verify.2]
        self.last, self.hash = entry.number, row.hash
        try:
            self.follow(entry, row)
        except (DiscreetError, ValueError, KeyError, TypeError, AttributeError, IndexError):
            self.wrong(entry.number, "cannot be read")

    def follow(self, entry: Entry, row: Any) -> None:
        """The next entry, as far as the sums go."""
        if entry.kind not in get_args(Kind):
            self.wrong(entry.number, "is of no known kind")
        plain, whose = entry.plain, (entry.population, entry.analyst or WHOLE)
        match entry.kind:
            case "anchor":
                word = f"entry {entry.number} of {entry.time} began the anchor anew: {plain['note']!r}. "
                self.notes.append(f"{word}That nothing was forgotten before it is the steward's word")  # [verify.2]
            case "event":
                plain["note"], plain["event"]  # what people decided changes no account
            case "open" | "allot" | "change":
                self.budget(entry, whose)
            case "charge":
                parts = {"price": (entry.population, WHOLE)} | ({"part": whose} if entry.analyst else {})
                for name, part in parts.items():
                    account = self.accounts[part]
                    cost, delta = map(Fraction, plain[name])
                    least = self.price(account, canonical(plain["loss"]))
                    if cost < least.cost or delta < least.delta:
                        self.wrong(entry.number, "was charged less than its loss costs")  # [verify.1]
                    after = account.paid(Amount(account.filter.total.currency, cost, delta))
                    if account.ended or after.overspent or cost <= 0 or delta < 0:
                        self.wrong(entry.number, "is not a charge that fits its budget")  # [verify.1]
                    self.accounts[part] = after
            case "answer":
                self.answers += 1
                if row.of != plain["of"] or row.answer is None or digest(row.answer) != plain["sha256"]:
                    # [verify.1]
                    self.wrong(entry.number, f"records another answer to entry {plain['of']} than is stored")

    def budget(self, entry: Entry, whose: tuple[str, str]) -> None:
        """A budget, or a change of somebody's part of one."""
        old, account = self.accounts.get(whose), Account.from_text(entry.body)
        self.accounts[whose] = account
        if entry.kind == "change":
            if old is None or entry.analyst is None or not account.follows(old):
                self.wrong(entry.number, "changes a budget as no steward may")  # [verify.1]
            return
        if old is not None:
            self.wrong(entry.number, "gives a second budget")
        if not account.new:
            self.wrong(entry.number, "begins with something spent, or with more than its budget")  # [verify.1]

    def price(self, account: Account, loss: str) -> Amount:
        """What a loss costs by today's accounting; the same few are charged again and again."""
        found = self.prices.get((account.terms[:2], loss))
        if found is None:
            found = self.prices[account.terms[:2], loss] = account.filter.price(loss_from_plain(json.loads(loss)))
        return found

    def missing(self, first: int, last: int) -> None:
        """Entries that should be there and are not."""
        if last < first:
            return
        self.wrong(first, "is missing" if first == last else f"and all up to entry {last} are missing")  # [verify.1]
        for number in [number for number in self.seen if first <= number <= last]:
            del self.seen[number]


def verify(
    connection: sa.Connection,
    seal: Seal | None,
    heads: Iterable[Head | None] | None,
    entries: int,
    public: Sequence[PublicKey] = (),
) -> LedgerVerdict:
    """Read all of it. `heads` are the anchor's, None without one, read before the transaction of `connection` began;
    `entries` is how many there were before that."""
    try:
        ledger, anchored = identity(connection, seal)
    except DiscreetError as error:
        return LedgerVerdict(0, (Problem(None, str(error)),))
    reading = _Reading(ledger=ledger, seal=seal, seen={})
    _anchored(reading, heads, entries, anchored, public)
    both = sa.select(ENTRIES, ANSWERS.c.number.label("of"), ANSWERS.c.answer)
    both = both.outerjoin(ANSWERS, ANSWERS.c.entry == ENTRIES.c.number).order_by(ENTRIES.c.number)
    read = 0
    for row in connection.execute(both, execution_options={"yield_per": BATCH}):
        read += 1
        reading.take(row)
    _head(reading, connection)
    _state(reading, connection)
    if public:
        _public(reading, connection, {key.text: key for key in public})
    for number in sorted(reading.seen):
        reading.wrong(number, "was seen by the anchor and is not in the ledger")  # [verify.2]
    return LedgerVerdict(read, tuple(reading.problems), tuple(reading.notes))


def _anchored(
    reading: _Reading,
    heads: Iterable[Head | None] | None,
    entries: int,
    anchored: bool,
    public: Sequence[PublicKey],
) -> None:
    alone = "an older copy of all of it would look the same"
    if heads is None:
        if anchored:
            reading.problems.append(Problem(None, f"the ledger has an anchor that was not given: {alone}", anchor=True))
        else:
            reading.notes.append(f"there is no anchor: {alone}")
        return
    torn, others, furthest = 0, 0, None
    for head in heads:
        if head is None:
            torn += 1
            continue
        if public and not any(key.fits(head.public or "", reading.ledger, head.number, head.hash) for key in public):
            others += 1  # anybody may have added it: it proves nothing, but what it says must be so: [verify.3]
        else:
            furthest = head.number if furthest is None else max(furthest, head.number)
        if not reading.fits(head.signature, "head", reading.ledger, head.number, head.hash):
            reading.wrong(head.number, "is in the anchor with a signature of another key or ledger")  # [verify.2]
        elif head.number and reading.seen.setdefault(head.number, head.hash) != head.hash:
            reading.wrong(head.number, "is in the anchor twice, with different contents")  # [verify.2]
    if torn:
        reading.notes.append(f"the anchor has {torn} lines that cannot be read, as a power cut leaves them")
    if others:
        reading.notes.append(f"the anchor has {others} lines that are not signed with this public key")
    missing = lacking(furthest, entries)
    if missing is not None:
        reading.problems.append(Problem(None, f"{missing}, and {alone}", anchor=True))  # [verify.2]


def _public(reading: _Reading, connection: sa.Connection, keys: Mapping[str, PublicKey]) -> None:
    """That the last head is signed with one of these keys: it vouches for the chain before it. [verify.3]"""
    rows: Iterable[Any] = ()
    if sa.inspect(connection).has_table(PUBLIC_HEADS.name):
        both = sa.select(PUBLIC_HEADS, ENTRIES.c.hash)
        both = both.outerjoin(ENTRIES, ENTRIES.c.number == PUBLIC_HEADS.c.number).order_by(PUBLIC_HEADS.c.number)
        rows = connection.execute(both, execution_options={"yield_per": BATCH})
    last, signed, first = -1, 0, reading.last + 1
    for row in rows:
        if row.key in keys:
            hash_ = GENESIS if row.number == 0 else row.hash or ""
            if not keys[row.key].fits(row.signature, reading.ledger, row.number, hash_):
                reading.wrong(row.number, "is not the one that was signed for this public key")  # [verify.3]
                continue
            last, signed, first = row.number, signed + bool(row.number), min(first, row.number)
    if last < 0:
        reading.wrong(None, "no head of this ledger is signed for this public key")  # [verify.3]
    elif last < reading.last:
        reading.wrong(last + 1, "and what follows is not signed for this public key")  # [verify.3]
    elif signed < reading.last:
        told = f"{reading.last - signed} entries have no signature of their own for this public key"
        reading.notes.append(f"{told}: the signed ones that continue them, the first is {first}, vouch for them")


def _head(reading: _Reading, connection: sa.Connection) -> None:
    row = connection.execute(sa.select(LEDGER)).one()
    signatures = connection.execute(sa.select(ACCOUNTS.c.signature)).scalars()
    if not reading.fits(row.signature, "head", row.ledger, row.number, row.hash):
        reading.wrong(None, "the head is not signed with this key: the end of the chain, or all of it, was rewritten")
    if not reading.fits(row.accounts, "accounts", reading.ledger, row.number, standing(signatures)):
        reading.wrong(None, "the accounts are not those that belong to the head: one or more were set back or removed")
    if row.number > reading.last:
        reading.missing(reading.last + 1, row.number)
    elif row.number < reading.last:
        reading.wrong(row.number + 1, "and what follows is beyond the signed head")  # [verify.1]
    elif row.hash != reading.hash:
        reading.wrong(reading.last, "is not the one that the head has signed")  # [verify.2]


def _state(reading: _Reading, connection: sa.Connection) -> None:
    left = dict(reading.accounts)
    for row in connection.execute(sa.select(ACCOUNTS)):
        account = left.pop((row.population, row.analyst), None)
        signed = reading.fits(row.signature, "account", reading.ledger, row.population, row.analyst, row.state)
        if account is None or not signed or account.to_text() != row.state:
            reading.wrong(None, f"the account of {_named(row.population, row.analyst)} is not what the entries make it")
    for population, analyst in left:
        reading.wrong(None, f"the account of {_named(population, analyst)} is gone")
    stored = connection.execute(sa.select(sa.func.count()).select_from(ANSWERS)).scalar_one()
    if stored > reading.answers:
        reading.wrong(None, f"{stored - reading.answers} answers are stored that no entry records")


def _named(population: str, analyst: str) -> str:
    return repr(population) if analyst == WHOLE else f"{analyst!r} in {population!r}"


def examine(
    where: str | Path,
    *,
    key: bytes | str | Path | None = None,
    anchor: str | Path | None = None,
    public_key: str | Path | Sequence[str | Path] = (),
) -> LedgerVerdict:
    """`Ledger.verify` for a ledger that may be too damaged to be opened; it writes nothing.

    `public_key` is the file of a public key, or several: then the shared key is used only if it is given.
    """
    public = [read_public(path) for path in ([public_key] if isinstance(public_key, str | Path) else public_key)]
    if public and key is None:
        database, outside = place(where, anchor, 30.0, make=False)
        try:
            return verified(database, None, outside, public)
        finally:
            database.close()
    database, seal, outside = parts(where, key, anchor, 30.0, make=False)
    try:
        verdict = verified(database, seal, outside, public)
    finally:
        database.close()
    path = key_path(database, key)
    why = None if path is None else exposed(path)
    return (
        verdict
        if why is None
        else replace(verdict, notes=(*verdict.notes, f"the key {path} {why}, who could sign what they like"))
    )


def verified(
    database: Database, seal: Seal | None, anchor: Anchor | None, public: Sequence[PublicKey] = ()
) -> LedgerVerdict:
    """What `verify` finds, with the anchor that there is."""
    there(database)
    settle(database)
    entries = database.read(length)  # then the anchor, then the picture of the ledger: [seal.3], [seal.4]
    heads = None if anchor is None else list(anchor.heads())
    return database.read(lambda connection: verify(connection, seal, heads, entries, public))


def trust(
    where: str | Path,
    why: str,
    *,
    key: bytes | str | Path | None = None,
    anchor: str | Path | None = None,
    signing_key: str | Path | None = None,
) -> Entry:
    """Begin the anchor of a ledger anew, and record why; the entry that says so.

    Only an anchor that is gone, or was cut, is begun anew. Whatever else is wrong is refused, as is an anchor that has
    seen entries that the ledger lacks: that one is evidence, and stays as it is.
    """
    if not words.note(why).strip():
        raise BadInput("say why the ledger is trusted without its anchor; it is written down for auditors")
    if not is_there(where):
        raise LedgerFault("there is no ledger there; it was moved or deleted, or the path is wrong")
    database, seal, outside = parts(where, key, anchor, 30.0, make=True)
    if outside is None:
        raise BadInput("give the file in which the anchor begins anew, anchor=")
    signer = given_signer(database, key, signing_key)

    def work(connection: sa.Connection) -> tuple[Entry, Head]:
        ledger, _ = identity(connection, seal)
        pages = Pages(connection, seal, ledger, signer)
        head = pages.head()
        outside.append(head, begin=True, recorded=False)
        body = canonical({"note": why, "anchor": str(outside.path)})
        entry = pages.append(head, "anchor", "", None, body=body)
        connection.execute(MOVE_HEAD, {"fingerprint": seal.sign(*who(ledger, anchored=True))})
        return entry

    try:
        found = verified(database, seal, outside)
        wrong = [problem for problem in found.problems if not problem.anchor]
        if wrong:
            raise LedgerChanged(
                f"this ledger cannot be trusted, whatever its anchor is: {wrong[0]}. An anchor that has seen more than "
                "the ledger has stays as it is, for auditors: keep it apart, charge what it has seen, and give another"
            )
        if found.ok:
            raise BadInput(f"the anchor {outside.path} has seen this ledger; there is nothing to trust it in")
        entry, head = database.write(work)
        outside.append(head)
        return entry
    finally:
        database.close()
