"""The ledger: budgets of populations, charged before the data is read, in SQLite or PostgreSQL.

Claims
    [store.1] Charged first: when `charge` returns, the charge is durable; when it raises OverBudget or BadInput,
          nothing is charged. However many processes and threads race, what is charged fits the budget, exactly.
    [store.2] Once: a request is charged once, however often and from wherever it is sent, and has one answer: the first
          that was stored. Whatever else was computed for it is never shown.
    [store.3] What was spent stays spent: there is no refund, no second budget for a population, no change of its terms.
          An analyst's part of it may be changed or ended (`change_part`), to no less than is spent of it; the promise
          to people is the population's budget, which every charge must fit as well.
    [store.4] An anchor that has seen what the ledger does not have stops the ledger when it is opened and before each
          entry, whatever was appended to the anchor since by those who may do so; so does an anchor that has not seen
          what the ledger has, and one that is gone ([seal.4]), until the steward begins it anew (`trust`), which is
          an entry. What `charge`, `store` and `open` give back is in it. That a ledger has an anchor is signed.

Why
    [store.1] One transaction holds the ledger's only head, reads the account, decides, and writes the entry, the
    account and the head ([database.1]); the filter decides ([filter.1]-[filter.4]). [store.2] The request is looked up
    under the same lock; an answer is written under it too, and what is shown is what is found there. Two answers
    computed for one charge are two draws; as one alone leaves, the promise is that of one draw.

What a file cannot prevent
    Who can write the ledger's folder can put an older copy of all of it back, or begin a new one: keep the anchor
    elsewhere, or the ledger in a PostgreSQL that analysts cannot write. And whoever can read the data needs no ledger.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Literal, TextIO, TypeVar

import sqlalchemy as sa

from discreet.accounting.currency import checked
from discreet.accounting.filter import Budget, Currency, Filter
from discreet.errors import BadInput, LedgerChanged, OverBudget
from discreet.ledger import ledger_text as words
from discreet.ledger.account import GENESIS, Account, Entry, Kind, Receipt, canonical, loss_to_plain, repeated, written
from discreet.ledger.database import parts, there
from discreet.ledger.layout import settle
from discreet.ledger.ledger_tables import ACCOUNTS, ENTRIES
from discreet.ledger.pages import Pages, found_ledger, identity, length
from discreet.ledger.public_seal import PublicKey, given_signer
from discreet.ledger.seal import Head, lacking
from discreet.ledger.verify import BATCH, LedgerVerdict, verified
from discreet.privacy.exact import Number
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Loss

T = TypeVar("T")
EVERYBODY: Final = "-"  # stands where an event is about no population in particular


class Ledger:
    """A ledger in a file (SQLite), or at postgresql://user@host/name, made if it is not there.

    `key` signs it: bytes, or the path of a key file; for a file it is `<file>.key`, made with it. `anchor` is the path
    of the outside copy of heads; for a file it is `<file>.anchor`. `patience` is how many seconds to wait for others.
    `reading` opens a ledger that must be there, and changes nothing. `signing_key` is the file of a private key that
    signs each head too, for auditors (`sign`); the one beside the key, `<key>.ed25519`, is used if it is there.

    >>> from tempfile import TemporaryDirectory
    >>> from discreet.privacy.loss import Laplace
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
        signing_key: str | Path | None = None,
    ) -> None:
        self._database, self._seal, self._anchor = parts(where, key, anchor, patience, make=not reading)
        try:
            self._signer = None if reading else given_signer(self._database, key, signing_key)
            if reading:
                there(self._database)
            if reading or self._database.exists():
                settle(self._database)  # [layout.1], [layout.2]
            else:
                has = self._anchor is not None
                self._database.create(lambda connection: found_ledger(connection, self._seal, anchored=has))
            self._id, anchored = self._database.read(lambda connection: identity(connection, self._seal))
            if anchored and self._anchor is None:
                raise LedgerChanged(
                    f"the ledger {self._database.name} has an anchor; give anchor= with its path"
                )  # [store.4]
            entries = self._database.read(length)  # before the anchor is read: others may be writing
            self._read(lambda pages: self._compare_with_anchor(pages, entries))
        except BaseException:
            self._database.close()
            raise

    def open(
        self,
        population: str,
        budget: Budget,
        *,
        accounting: Currency | str = Currency.EPSILON,
        reserve: Number | None = None,
        neighbours: Neighbours | str = Neighbours.ADD_OR_REMOVE,
        unit: str = "row",
    ) -> Filter:
        """A population's budget and its terms, once and for all; the same again changes nothing.

        `accounting` is what the budget is counted in: "epsilon", "zcdp" or "gdp". `reserve` is the share of delta for
        the charges' own deltas, where that is not epsilon. `neighbours` and `unit` say what is hidden: by default that
        one row is added or removed, as elsewhere.
        """
        name, unit = words.name("the population", population), words.name("the unit", unit)
        account = Account.opened(budget, words.currency(accounting), reserve, Neighbours(neighbours), unit)
        return self._begin("open", name, None, account)

    def allot(
        self, population: str, analyst: str, budget: Budget, *, reserve: Number | None = None, by: str | None = None
    ) -> Filter:
        """What one analyst may spend of a population's budget, counted as that is; it need not add up to the whole."""
        name, who = words.name("the population", population), words.name("the analyst", analyst)
        whole = self.account(name)
        account = Account.opened(budget, whole.filter.total.currency, reserve, whole.neighbours, whole.unit)
        return self._begin("allot", name, who, account, **words.allotted(by, who, account))

    def change_part(
        self, population: str, analyst: str, budget: Budget | None, *, seen: str, by: str | None = None
    ) -> Filter:
        """Another budget for an analyst's part, or none: then it has ended. What was spent of it stays spent.

        `seen` is the `standing` of the part that this was decided on: if it has been changed since, nothing happens.
        """
        name, who = words.name("the population", population), words.name("the analyst", analyst)

        def work(pages: Pages, head: Head) -> tuple[Filter, Head]:
            old = pages.account(name, who)
            if old.standing != seen:
                raise BadInput(f"{who}'s part was changed meanwhile; it is {old.told} now. Look at it, and decide anew")
            new = old.changed(budget)  # [store.3]
            pages.keep(name, who, new)
            _, head = pages.append(head, "change", name, who, body=new.to_text(**words.allotted(by, who, new)))
            return new.filter, head

        return self._write(work)

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
        """Pay for a release before the data is read: durable when it returns. [store.1]

        OverBudget, and nothing charged, if it does not fit. A request that was charged before gives its old receipt,
        with the answer if one is stored, and charges nothing; it is refused if the question is another one, or the
        `source`, a public name of the table. [store.2]
        """
        name, note = words.name("the population", population), words.note(note)
        who = None if analyst is None else words.name("the analyst", analyst)
        asked = None if request is None else words.name("the request", request)
        try:
            body: dict[str, object] = {"loss": loss_to_plain(checked(loss)), "note": note}
        except RecursionError:
            raise BadInput("this loss is nested too deep; join its parts with `compose`") from None
        if source is not None:
            body["source"] = words.name("the source", source)

        def work(pages: Pages, head: Head) -> tuple[Receipt, Head]:
            old = None if asked is None else pages.requested(asked)
            if old is not None:
                receipt = repeated(*old, body, name, who)  # [store.2]
                if receipt.answer is None:
                    pages.unanswered(head, old[0])
                return receipt, head
            prices: dict[str, object] = {}
            for part in (None,) if who is None else (None, who):
                try:
                    after, price = pages.account(name, part).charge(loss)  # [store.1]
                except OverBudget as error:
                    raise error if part is None else OverBudget(f"of what {part} may spend: {error}") from None
                prices["price" if part is None else "part"] = [written(price.cost), written(price.delta)]
                pages.keep(name, part, after)  # [store.3]: accounts only ever grow
            entry, head = pages.append(head, "charge", name, who, request=asked, body=canonical(body | prices))
            return Receipt.of(entry), head

        return self._write(work)

    def store(self, receipt: Receipt, answer: str) -> str:
        """Keep the answer (JSON) of a charge; gives back the answer to show: the first that was stored. [store.2]"""
        text = words.answer(answer)

        def work(pages: Pages, head: Head) -> tuple[str, Head]:
            entry = pages.entry(receipt.number)
            if entry is None or (entry.kind, entry.hash, entry.ledger) != ("charge", receipt.hash, receipt.ledger):
                raise BadInput(f"{receipt} is not in this ledger; store an answer with the receipt that `charge` gave")
            old = pages.answer(entry)
            if old is not None:
                return old, head  # [store.2]
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

    def record(
        self,
        event: str,
        note: str,
        about: Mapping[str, object],
        *,
        population: str = EVERYBODY,
        by: str | None = None,
        beside: Callable[[sa.Connection, int], T],
    ) -> T:
        """What a person decided, as an entry of the chain, and `beside` in the same transaction: both or neither.

        `beside` is given the number of the entry; what it raises undoes the entry. No account is changed.
        """
        name, who = words.name("the population", population), None if by is None else words.name("the person", by)
        body = canonical({**about, "event": event, "note": words.note(note)})

        def work(pages: Pages, head: Head) -> tuple[T, Head]:
            entry, head = pages.append(head, "event", name, who, body=body)
            return beside(pages.connection, entry.number), head

        return self._write(work)

    def beside(self, work: Callable[[sa.Connection], T], *, writes: bool = False) -> T:
        """`work` on tables that are kept in the same database; the ledger's own are left alone."""
        return self._database.write(work) if writes else self._database.read(work)

    def entry(self, number: int) -> Entry | None:
        """One entry, if it is there and signed."""
        return self._read(lambda pages: pages.entry(number))

    def lines(self, *, before: int | None = None, most: int = 200, **only: Sequence[object]) -> list[Entry]:
        """The last entries, the latest first: those before a number, and with one of these values in each column."""
        query = sa.select(ENTRIES).order_by(ENTRIES.c.number.desc()).limit(most)
        query = query.where(*(ENTRIES.c[column].in_(wanted) for column, wanted in only.items()))
        if before is not None:
            query = query.where(ENTRIES.c.number < before)
        return self._read(lambda pages: [pages.trusted(row) for row in pages.connection.execute(query)])

    @property
    def anchor(self) -> Path | None:
        """The file that holds the outside copy of heads."""
        return None if self._anchor is None else self._anchor.path

    def verify(self) -> LedgerVerdict:
        """Whether anything was changed, removed, moved or overspent, and which entry."""
        return verified(self._database, self._seal, self._anchor)

    def sign(self, *, replace: bool = False) -> PublicKey:
        """Sign the head with the private key, for auditors; from then on every entry needs that key. [public_seal.2]

        `replace` takes this key in the place of another that signed before.
        """
        signer = self._signer
        if signer is None:
            raise BadInput("there is no private key; make one with `discreet ledger sign`, or give signing_key=")
        self._write(lambda pages, head: (None, pages.publicly(head)), renewed=replace)
        return signer.public

    def export(self, file: TextIO, form: Literal["csv", "json"]) -> None:
        """All entries, as a table that spreadsheets do not execute, or as JSON with the exact numbers."""
        if form not in ("csv", "json"):
            raise BadInput(f"form is {form!r}; it must be 'csv' or 'json'")
        accounts, every = self.accounts(), sa.select(ENTRIES).order_by(ENTRIES.c.number)

        def lines(pages: Pages) -> Iterator[Entry]:
            for row in pages.connection.execute(every, execution_options={"yield_per": BATCH}):
                yield pages.trusted(row)

        if form == "csv":
            self._read(lambda pages: words.to_csv(lines(pages), file))
        else:
            self._read(lambda pages: words.to_json(self._id, accounts, lines(pages), file))

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

    def _write(self, work: Callable[[Pages, Head], tuple[T, Head]], *, renewed: bool = False) -> T:
        def anchored(connection: sa.Connection) -> tuple[T, Head]:
            pages = Pages(connection, self._seal, self._id, self._signer)
            head = pages.head(renewed=renewed)
            if self._anchor is not None:
                self._compare_with_anchor(pages, head.number, head)
                self._anchor.append(head, begin=head.number == 0, recorded=False)  # before the next: [seal.4]
            return work(pages, head)

        result, head = self._database.write(anchored)
        if self._anchor is not None:
            self._anchor.append(head)  # after the commit: [seal.3]
        return result

    def _begin(self, kind: Kind, population: str, analyst: str | None, account: Account, **beside: str) -> Filter:
        def work(pages: Pages, head: Head) -> tuple[Filter, Head]:
            if pages.has(population, analyst):
                old = pages.account(population, analyst)
                if old.terms != account.terms or old.ended:  # [store.3]
                    what = population if analyst is None else f"{analyst}'s part of {population}"
                    raise BadInput(f"{what} has a budget on other terms: {old.told}; a budget is not changed")
                return old.filter, head
            words.new_name("the population" if analyst is None else "the analyst", analyst or population)
            alike = pages.lookalike(population, analyst)
            if alike is not None:
                raise BadInput(
                    f"there is {alike!r} already, and {population if analyst is None else analyst!r} would be taken "
                    "for it: two budgets for the same people are no budget; write the name as it is, or give another"
                )
            pages.keep(population, analyst, account, new=True)
            _, head = pages.append(head, kind, population, analyst, body=account.to_text(**beside))
            return account.filter, head

        return self._write(work)

    def _compare_with_anchor(self, pages: Pages, entries: int, head: Head | None = None) -> None:
        """That the anchor has seen these entries, but for the last, and no others. [store.4]

        `head` is one that was found to be sound: an anchor that ends there needs no second look.
        """
        if self._anchor is None:
            return
        last = self._anchor.furthest()
        missing = lacking(None if last is None else last.number, entries)
        if missing is not None:
            raise LedgerChanged(
                f"{missing}. An older copy of {self._database.name} would look the same, so nothing is charged: put "
                f"the anchor {self._anchor.path} back; if it is lost, see `discreet ledger trust --help`"
            )  # [store.4]
        if last is None or last == head:
            return
        found = pages.entry(last.number) if last.number else None
        hash_ = GENESIS if last.number == 0 else None if found is None else found.hash
        if hash_ != last.hash or not self._seal.fits(last.signature, "head", self._id, last.number, last.hash):
            raise LedgerChanged(
                f"the anchor {self._anchor.path} has seen entry {last.number}, and {self._database.name} does not have "
                "it: an older copy was put back, or it was rewritten. Nothing is charged: put the right ledger back; "
                "look with `discreet ledger verify`"
            )  # [store.4]
