"""The ledger: budgets of populations, charged before the data is read, in SQLite or PostgreSQL.

Claims
    [LL1] Charged first: when `charge` returns, the charge is durable; when it raises OverBudget or BadInput, nothing is
          charged. However many processes and threads race, what is charged fits the budget, exactly.
    [LL2] Once: a request is charged once, however often and from wherever it is sent, and has one answer: the first
          that was stored. Whatever else was computed for it is never shown.
    [LL3] What was spent stays spent: there is no refund, no second budget for a population, no change of its terms.
    [LL4] An anchor that has seen what the ledger does not have stops the ledger when it is opened, whatever was
          appended to the anchor since by those who may do so. What `charge`, `store` and `open` give back is
          in it.

Why
    [LL1] One transaction holds the ledger's only head, reads the account, decides, and writes the entry, the account
    and the head ([LG1]); the filter decides ([T1]-[T4]). [LL2] The request is looked up under the same lock; an answer
    is written under it too, and what is shown is what is found there. Two answers computed for one charge are two
    draws; as one alone leaves, the promise is that of one draw.

What a file cannot prevent
    Who can write the ledger's folder can put an older copy of all of it back (file, key and anchor), or delete it, and
    start again with a full budget; no program that reads only that folder can tell. Keep the anchor elsewhere, or the
    ledger in a PostgreSQL that analysts cannot write. And whoever can read the data needs no ledger at all.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Literal, TextIO, TypeVar

import sqlalchemy as sa

from discreet.accounting.currency import checked
from discreet.accounting.filter import Budget, Currency, Filter
from discreet.errors import BadInput, LedgerChanged, LedgerFault, OverBudget
from discreet.ledger import words
from discreet.ledger.book import Entry, Kind, Receipt
from discreet.ledger.budget import Account, canonical, for_whom, loss_to_plain, written
from discreet.ledger.database import ACCOUNTS, ENTRIES, Database
from discreet.ledger.export import to_csv, to_json
from discreet.ledger.pages import Pages, found_ledger, identity
from discreet.ledger.seal import Anchor, Head, Seal, exposed, given_seal, new_seal
from discreet.ledger.verify import BATCH, Verdict, verify
from discreet.promise.exact import Number, is_number
from discreet.promise.loss import Loss
from discreet.promise.neighbours import Neighbours

T = TypeVar("T")


class Ledger:
    """A ledger in a file (SQLite), or at postgresql://user@host/name, made if it is not there.

    `key` signs it: bytes, or the path of a key file; for a file it is `<file>.key`, made with it. `anchor` is the path
    of the outside copy of heads; for a file it is `<file>.anchor`. `patience` is how many seconds to wait for others.
    `reading` opens a ledger that must be there, and changes nothing.

    >>> from tempfile import TemporaryDirectory
    >>> from discreet.promise.loss import Laplace
    >>> with TemporaryDirectory() as folder, Ledger(f"{folder}/study.ledger") as ledger:
    ...     _ = ledger.open("patients", Budget(1.0))
    ...     receipt = ledger.charge("patients", Laplace(0.4), "mean of age", request="q1")
    ...     shown = ledger.store(receipt, '{"value": 47.1}')
    ...     again = ledger.charge("patients", Laplace(0.4), "mean of age", request="q1")
    ...     print(again.fresh, again.answer, ledger.balance("patients").left.epsilon)
    False {"value": 47.1} 3/5
    """

    def __init__(
        self,
        where: str | Path,
        *,
        key: bytes | str | Path | None = None,
        anchor: str | Path | None = None,
        patience: float = 30.0,
        reading: bool = False,
    ) -> None:
        self._database, self._seal, self._anchor = _parts(where, key, anchor, patience, make=not reading)
        try:
            if reading:
                _there(self._database)
            elif not self._database.exists():
                self._database.create(lambda connection: found_ledger(connection, self._seal))
            self._id = self._database.read(lambda connection: identity(connection, self._seal))
            self._compare_with_anchor()
        except BaseException:
            self._database.close()
            raise

    def open(
        self,
        population: str,
        budget: Budget,
        *,
        counted: Currency | str = Currency.EPSILON,
        reserve: Number | None = None,
        neighbours: Neighbours = Neighbours.REPLACE,
        unit: str = "person",
    ) -> Filter:
        """A population's budget, and what it is counted in, once and for all; the same again changes nothing.

        `reserve` is the share of delta for the charges' own deltas, where rho or mu squared is counted.
        """
        name, unit = words.name("the population", population), words.name("the unit", unit)
        account = Account.opened(budget, words.currency(counted), reserve, Neighbours(neighbours), unit)
        return self._begin("open", name, None, account)

    def allot(self, population: str, analyst: str, budget: Budget, *, reserve: Number | None = None) -> Filter:
        """What one analyst may spend of a population's budget, counted as that is; it need not add up to the whole."""
        name, who = words.name("the population", population), words.name("the analyst", analyst)
        whole = self.account(name)
        account = Account.opened(budget, whole.filter.total.currency, reserve, whole.neighbours, whole.unit)
        return self._begin("allot", name, who, account)

    def charge(
        self, population: str, loss: Loss, note: str, *, request: str | None = None, analyst: str | None = None
    ) -> Receipt:
        """Pay for a release before the data is read: durable when it returns. [LL1]

        OverBudget, and nothing charged, if it does not fit. A request that was charged before gives its old receipt,
        with the answer if one is stored, and charges nothing. [LL2]
        """
        name, note = words.name("the population", population), words.note(note)
        who = None if analyst is None else words.name("the analyst", analyst)
        asked = None if request is None else words.name("the request", request)
        try:
            plain = loss_to_plain(checked(loss))
        except RecursionError:
            raise BadInput("this loss is nested too deep; join its parts with `compose`") from None

        def work(pages: Pages) -> tuple[Receipt, Head]:
            head = pages.head()
            old = None if asked is None else pages.requested(asked)
            if old is not None:
                receipt = _again(*old, {"loss": plain, "note": note}, name, who)  # [LL2]
                if receipt.answer is None:
                    pages.unanswered(head, old[0])
                return receipt, head
            body: dict[str, object] = {"loss": plain, "note": note}
            for part in (None,) if who is None else (None, who):
                try:
                    after, price = pages.account(name, part).charge(loss)  # [LL1]
                except OverBudget as error:
                    raise for_whom(error, part) from None
                body["price" if part is None else "part"] = [written(price.cost), written(price.delta)]
                pages.keep(name, part, after)  # [LL3]: accounts only ever grow
            entry, head = pages.append(head, "charge", name, who, request=asked, body=canonical(body))
            return Receipt.of(entry), head

        return self._write(work)

    reserve = charge  # the first of the four steps: reserve, compute, store, show

    def store(self, receipt: Receipt, answer: str) -> str:
        """Keep the answer (JSON) of a charge; gives back the answer to show: the first that was stored. [LL2]"""
        text = words.answer(answer)

        def work(pages: Pages) -> tuple[str, Head]:
            head, entry = pages.head(), pages.entry(receipt.number)
            if entry is None or (entry.kind, entry.hash, entry.ledger) != ("charge", receipt.hash, receipt.ledger):
                raise BadInput(f"{receipt} is not in this ledger; store an answer with the receipt that `charge` gave")
            old = pages.answer(entry)
            if old is not None:
                return old, head  # [LL2]
            pages.unanswered(head, entry)
            return text, pages.keep_answer(head, entry, text)

        return self._write(work)

    def answer(self, request: str) -> str | None:
        """The answer that was stored for a request, None if there is none (yet)."""
        asked = words.name("the request", request)
        found = self._read(lambda pages: pages.requested(asked))
        return None if found is None else found[1]

    def balance(self, population: str, analyst: str | None = None) -> Filter:
        """The budget and what is spent of it, a population's or one analyst's; one row, however many entries."""
        return self.account(population, analyst).filter

    def account(self, population: str, analyst: str | None = None) -> Account:
        """The balance, with the neighbours and the unit that it is for, and how many charges there were."""
        name = words.name("the population", population)
        who = None if analyst is None else words.name("the analyst", analyst)
        return self._read(lambda pages: pages.account(name, who))

    def accounts(self) -> list[tuple[str, str, Account]]:
        """All accounts: population, analyst ("" for the whole), account."""
        query = sa.select(ACCOUNTS).order_by(ACCOUNTS.c.population, ACCOUNTS.c.analyst)

        def work(pages: Pages) -> list[tuple[str, str, Account]]:
            rows = pages.connection.execute(query).all()
            return [(row.population, row.analyst, pages.account(row.population, row.analyst)) for row in rows]

        return self._read(work)

    def entries(self, population: str, *, last: int | None = None) -> Sequence[Receipt]:
        """All charges to a population, or the last few, in order, with their answers."""
        name = words.name("the population", population)
        if last is not None and (not isinstance(last, int) or not 1 <= last < 2**31):
            raise BadInput(f"last is {last!r}; give how many charges to read, 1 or more")

        def work(pages: Pages) -> list[Receipt]:
            pages.account(name, None)
            return pages.charges(name, last)

        return self._read(work)

    def verify(self) -> Verdict:
        """Whether anything was changed, removed, moved or overspent, and which entry."""
        return _verify(self._database, self._seal, self._anchor)

    def export(self, file: TextIO, form: Literal["csv", "json"]) -> None:
        """All entries, as a table that spreadsheets do not execute, or as JSON with the exact numbers."""
        if form not in ("csv", "json"):
            raise BadInput(f"form is {form!r}; it must be 'csv' or 'json'")
        accounts, every = self.accounts(), sa.select(ENTRIES).order_by(ENTRIES.c.number)

        def lines(pages: Pages) -> Iterator[Entry]:
            for row in pages.connection.execute(every, execution_options={"yield_per": BATCH}):
                yield pages.trusted(row)

        if form == "csv":
            self._read(lambda pages: to_csv(lines(pages), file))
        else:
            self._read(lambda pages: to_json(self._id, accounts, lines(pages), file))

    def close(self) -> None:
        """Let go of the database; what was charged is on disk already."""
        self._database.close()

    def __enter__(self) -> "Ledger":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Ledger({self._database.name!r})"

    def _read(self, work: Callable[[Pages], T]) -> T:
        return self._database.read(lambda connection: work(Pages(connection, self._seal, self._id)))

    def _write(self, work: Callable[[Pages], tuple[T, Head]]) -> T:
        result, head = self._database.write(lambda connection: work(Pages(connection, self._seal, self._id)))
        if self._anchor is not None:
            self._anchor.append(head)  # after the commit: [LK2]
        return result

    def _begin(self, kind: Kind, population: str, analyst: str | None, account: Account) -> Filter:
        def work(pages: Pages) -> tuple[Filter, Head]:
            head, old = pages.head(), pages.found(population, analyst)
            if old is not None:
                if old.terms != account.terms:  # [LL3]
                    what = population if analyst is None else f"{analyst}'s part of {population}"
                    raise BadInput(f"{what} has a budget on other terms: {old.filter}; a budget is not changed")
                return old.filter, head
            words.new_name("the population" if analyst is None else "the analyst", analyst or population)
            alike = pages.lookalike(population, analyst)
            if alike is not None:
                raise BadInput(
                    f"there is {alike!r} already, and {population if analyst is None else analyst!r} would be taken "
                    "for it: two budgets for the same people are no budget; write the name as it is, or give another"
                )
            pages.keep(population, analyst, account, new=True)
            _, head = pages.append(head, kind, population, analyst, body=account.to_text())
            return account.filter, head

        return self._write(work)

    def _compare_with_anchor(self) -> None:
        last = None if self._anchor is None else self._anchor.furthest()
        if last is None or self._anchor is None:
            return
        found = self._read(lambda pages: pages.entry(last.number))
        signed = self._seal.fits(last.signature, "head", self._id, last.number, last.hash)
        if not signed or found is None or found.hash != last.hash:
            raise LedgerChanged(
                f"the anchor {self._anchor.path} has seen entry {last.number}, and {self._database.name} does not have "
                "it: an older copy was put back, or it was rewritten. Nothing is charged: put the right ledger back; "
                "look with `discreet ledger verify`"
            )  # [LL4]


def examine(where: str | Path, *, key: bytes | str | Path | None = None, anchor: str | Path | None = None) -> Verdict:
    """`Ledger.verify` for a ledger that may be too damaged to be opened; it writes nothing."""
    database, seal, outside = _parts(where, key, anchor, 30.0, make=False)
    try:
        verdict = _verify(database, seal, outside)
    finally:
        database.close()
    path = _beside(database, ".key") if key is None else None if isinstance(key, bytes) else Path(key)
    if path is None or not exposed(path):
        return verdict
    open_key = f"the key {path} can be read by others than its owner, who could sign what they like"
    return replace(verdict, notes=(*verdict.notes, open_key))


def is_there(where: str | Path) -> bool:
    """Whether there is a ledger; nothing is made or written."""
    database = Database(where, 30.0, reading=True)
    try:
        return database.exists()
    finally:
        database.close()


def _beside(database: Database, ending: str) -> Path | None:
    return None if database.path is None else database.path.with_name(database.path.name + ending)


def _verify(database: Database, seal: Seal, anchor: Anchor | None) -> Verdict:
    heads = [] if anchor is None else list(anchor.heads())  # before the picture of the ledger: [LK2]
    _there(database)
    verdict = database.read(lambda connection: verify(connection, seal, heads))
    if heads:
        return verdict
    alone = "there is no anchor: an older copy of all of it would look the same"
    return replace(verdict, notes=(*verdict.notes, alone))


def _there(database: Database) -> None:
    if not database.exists():
        raise LedgerFault(f"there is no ledger at {database.name}; it was moved or deleted, or the path is wrong")


def _parts(
    where: str | Path, key: bytes | str | Path | None, anchor: str | Path | None, patience: float, *, make: bool
) -> tuple[Database, Seal, Anchor | None]:
    if not is_number(patience) or not 0 < patience < 1e6:
        raise BadInput(f"patience is {patience!r}; give the seconds to wait for other writers, for example 30")
    database = Database(where, patience, reading=not make)
    beside = _beside(database, ".key")
    if key is not None:
        seal = given_seal(key)
    elif beside is None:
        raise BadInput(
            "a ledger in PostgreSQL needs key=: the path of a key file that the database's users cannot read"
        )
    else:
        if not make:
            _there(database)
        seal = new_seal(beside) if make and not database.exists() else given_seal(beside)
    anchor = _beside(database, ".anchor") if anchor is None else Path(anchor).absolute()
    kept = beside if key is None else None if isinstance(key, bytes) else Path(key)
    files = [path.resolve() for path in (database.path, kept, anchor) if path is not None]
    if len(set(files)) < len(files):
        raise BadInput("the ledger, its key and its anchor are three files; give each a name of its own")
    return database, seal, None if anchor is None else Anchor(anchor)


def _again(
    entry: Entry, answer: str | None, question: dict[str, object], population: str, analyst: str | None
) -> Receipt:
    """The receipt of a request that was charged before, if it is the same question."""
    plain = entry.plain
    same = {"loss": plain["loss"], "note": plain["note"]} == question
    if not same or (entry.population, entry.analyst) != (population, analyst):
        raise BadInput(f"request {entry.request!r} was another question before; give a new question a new request")
    return Receipt.of(entry, answer, fresh=False)
