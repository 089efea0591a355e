"""`discreet.open`: a table of people whose every answer is paid for from a durable budget.

Promise
    [session.1] Paid first: a question is charged, durably, before a row is read for it; one that does not fit raises
          OverBudget, one that cannot be asked BadInput, and nothing is charged or read. What goes wrong after the
          charge raises NotAnswered.
    [session.2] All answers of all sessions on a population together keep the promise of its budget.
    [session.3] A request that was answered before is answered the same, at no cost; one of another question or another
          table is refused. A table in memory is another one each time that it is opened. That no answer could be made
          is an answer too: it may depend on what was drawn, and a second draw is not paid for.
Why
    [session.1] `ask` prepares ([asking.1]), charges ([store.1]), then reads.
    [session.2] What is charged is the question's loss, or (epsilon, delta) of its guarantee, which the loss implies and
    which bounds it whatever was answered before; both are for the relation and the unit that the account was opened
    with, which are compared here. Then [filter.1] to [filter.3].
    [session.3] [store.2]; tables are told apart by where they are and by what they declare, never by what they hold:
    whether a request is refused is public.
Needs
    One row is one person, unless `person` names the column that says whose row it is. Whoever has rows in two tables
    shares a budget: give both tables one population.
"""

import contextlib
import json
import shutil
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from discreet.accounting.compose import implies
from discreet.accounting.filter import Budget, Currency, Filter
from discreet.api import door
from discreet.asking import Question, prepare
from discreet.engines.addresses import engine_of
from discreet.errors import BadInput, DiscreetError, NotAnswered
from discreet.faces import Asking
from discreet.ledger.account import Account, Receipt
from discreet.ledger.ledger_text import written
from discreet.noise.randomness import Door, Request
from discreet.privacy.declaration import declared
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Approximate, Loss
from discreet.privacy.mechanism import Mechanism, Randomness, check_machine
from discreet.privacy.people import People
from discreet.privacy.release import Groups, Release
from discreet.privacy.stored import recalled, recalled_groups
from discreet.tables.arranging import held
from discreet.tables.opening import known_person, read
from discreet.tables.table import Table
from discreet.tables.wanted import Terms, Want, alone, known

if TYPE_CHECKING:
    from discreet.ledger import Ledger

FAILED: Final = '{"failed": true}'  # the answer to a charge for which none could be made
HIDDEN: Final = "why is not shown, as it might tell of the data"
T = TypeVar("T")


class _Watched(Door):
    """Knows whether anything was drawn."""

    secure = False  # as what it watches

    def __init__(self, inner: Any) -> None:
        self._inner, self.drawn, self.secure = inner, False, bool(inner.secure)

    def draw(self, request: Request) -> Any:
        self.drawn = True
        return self._inner.draw(request)


class Session(Asking):
    """A table behind a budget. Each statistic of `discreet` is a method that takes columns by name.

    Beside its own options a statistic takes `where` (a condition on rows: "age >= 18 and sex == 'Female'"), `groupby`
    with `keys` (one answer for each group, for the price of one; several columns have a group for each combination;
    without keys the groups are found, which needs delta > 0), `missing` ("drop" or a public value that stands in, also
    by column), `per_person` (what is made of a person's several rows: "first", "last", "mean", "sum" and "count" with
    `max_rows`, "min", "max", "any", "all"), and `request`: a name under which the same question is answered only once.
    """

    def __init__(
        self, table: Table, people: People, ledger: "Ledger", population: str, *, analyst: str | None, rng: Randomness
    ) -> None:
        self.table, self.people, self.ledger, self.population = table, people, ledger, population
        self.analyst, self.randomness = analyst, rng
        self._counted = self.balance.total.currency  # fixed when the account was opened: [store.3]
        self._closes = False

    def prepare(
        self,
        statistic: str,
        *columns: Any,
        where: str | None = None,
        groupby: str | Sequence[str] | None = None,
        keys: Any = None,
        missing: Any = None,
        per_person: Any = None,
        max_rows: int | None = None,
        **options: Any,
    ) -> Question:
        """The question and its price, with nothing charged and nothing read. [session.1]"""
        terms = Terms(
            where=where, groupby=alone(groupby), keys=keys, missing=missing, per_person=per_person, max_rows=max_rows
        )
        return asked(self.table, self.people, statistic, columns, options, terms=terms)

    def ask(self, statistic: str, *columns: Any, request: str | None = None, **options: Any) -> Release[Any] | Groups:
        """Charge, read, answer, store: the answer, or OverBudget and nothing is read. [session.1]"""
        question = self.prepare(statistic, *columns, **options)
        question.check()
        note = written(question.title, question.record | {"table": self.table.description})
        receipt = self.charge(question.price.loss, question.price.guarantee, note, request)
        if receipt.answer is not None:
            return remembered(receipt.answer)  # [session.3]
        with self.once(receipt) as rng:
            answer = paid(question.answer, self.table, rng)
        return self.settle(receipt, answer)

    def run(self, mechanism: Mechanism[Any], *columns: str, request: str | None = None) -> Release[Any]:
        """Any mechanism on columns of numbers, missing ones as NaN: one column, or several as an array.

        Its unit and its neighbours must be the session's.
        """
        seen, people = mechanism.guarantee, self.people
        if (seen.neighbours, seen.unit) != (people.neighbours, people.unit):
            raise BadInput(
                f"the mechanism hides that {seen.neighbours.value}, for a {seen.unit}; this table's budget is for: "
                f"{people.neighbours.value}, for a {people.unit}. Make it with neighbours= and unit= of the session"
            )
        if not implies(mechanism.loss, seen):  # [session.2]
            raise BadInput(f"the loss of the mechanism is more than it promises: {seen}. Make it promise what it costs")
        if not columns:
            raise BadInput("give the names of the columns that the mechanism reads")
        wants = [Want(known(self.table, name), "number", missing="keep", rule="mean", cap=None) for name in columns]
        self.table.check(wants, person=people.person)
        check_machine(mechanism)
        receipt = self.charge(mechanism.loss, seen, json.dumps([repr(mechanism), *columns]), request)
        if receipt.answer is not None:
            found = remembered(receipt.answer)
            assert isinstance(found, Release)
            return found
        with self.once(receipt) as rng:
            answer = paid(lambda: _released(mechanism, self._rows(wants), rng))
        shown = self.settle(receipt, answer)
        assert isinstance(shown, Release)
        return shown

    def _rows(self, wants: list[Want]) -> Any:
        """A row for each person, as an array."""
        found = [held(values) for values in self.table.columns(wants, person=self.people.person).values()]
        kept = self.people.person is None and self.table.ordered
        if not kept and self.people.neighbours is Neighbours.REPLACE:
            order = self.randomness.permutation(len(found[0]))  # [asking.4]
            found = [values[order] for values in found]
        return found[0] if len(found) == 1 else np.column_stack(found)

    def charge(self, loss: Loss, guarantee: Any, note: str, request: str | None = None) -> Receipt:
        """Pay, in what the budget is counted in. [session.2]"""
        price = Approximate(guarantee.epsilon, guarantee.delta) if self._counted is Currency.EPSILON else loss
        return self.ledger.charge(
            self.population, price, note, request=request, analyst=self.analyst, source=self.table.identity
        )

    def settle(self, receipt: Receipt, answer: Release[Any] | Groups) -> Release[Any] | Groups:
        """Store the answer and give back the one to show: the first that was stored. [session.3]"""
        try:
            signed, text = paid(_signed, answer, receipt)
        except DiscreetError:
            self.ledger.store(receipt, FAILED)  # [session.3]
            raise
        shown = self.ledger.store(receipt, text)
        return signed if shown == text else remembered(shown)

    @contextlib.contextmanager
    def once(self, receipt: Receipt) -> Iterator[Randomness]:
        """The noise for an answer. What is raised after a draw is the answer to the request, for good. [session.3]

        What is raised before, as by a table that cannot be read, tells nothing that was drawn: it may be asked again.
        """
        rng = _Watched(self.randomness)
        try:
            yield rng
        except Exception:
            if rng.drawn:
                self.ledger.store(receipt, FAILED)  # [session.3]
            raise

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the table's columns."""
        return self.table.names

    @property
    def balance(self) -> Filter:
        """The budget, what is spent and what is left: the population's, or this analyst's part."""
        return self.ledger.balance(self.population, self.analyst)

    def closing(self) -> "Session":
        """The same session, which closes the ledger when it is closed."""
        self._closes = True
        return self

    def close(self) -> None:
        """Let go of the ledger; what was charged is on disk already."""
        if self._closes:
            self.ledger.close()

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Session({self.table.description}, population {self.population!r}: {self.balance})"


def asked(
    table: Table, people: People, name: str, given: tuple[Any, ...], options: Mapping[str, Any], *, terms: Terms
) -> Question:
    """A statistic by its name, asked about a table's columns by their names."""
    statistic = declared(name)
    if statistic.samples:
        raise BadInput(
            f"{name} is for groups whose members are public; in a table they are not. Ask for difference, ab_test or "
            "groups_test, which take the column that says who is in which group"
        )
    for ours in ("neighbours", "unit", "rng"):
        if ours in options:
            raise BadInput(f"{ours} is the session's, given to discreet.open; leave it out")
    own, delta = dict(options), {}
    if terms.groupby is not None and terms.keys is None and "delta" not in statistic.options and "delta" in own:
        delta = {"delta": own.pop("delta")}  # to find the groups
    return prepare(table, people, statistic, statistic.bind(given, own) | delta, terms=terms)


def open(  # noqa: A001  as people call it: discreet.open
    source: Any,
    person: str | None = None,
    budget: Budget | float | None = None,
    ledger: "str | Path | Ledger | None" = None,
    *,
    population: str | None = None,
    analyst: str | None = None,
    neighbours: Neighbours | str = Neighbours.ADD_OR_REMOVE,
    unit: str | None = None,
    accounting: Currency | str = Currency.EPSILON,
    table: str | None = None,
    types: Mapping[str, str] | None = None,
    key: bytes | str | Path | None = None,
    anchor: str | Path | None = None,
    rng: Randomness | None = None,
    engine: Any = None,
) -> Session:
    """A table of people, with a budget that is never overspent.

    `source` is a file, a glob or a folder (CSV, TSV, Parquet, Arrow), a frame of pandas, polars or Arrow, a dictionary
    of columns, what `discreet.people` made, or a database (sqlite:///, duckdb:///, postgresql://) and its `table`.
    `person` names the column that says whose row each is. `ledger` is a file or a PostgreSQL address, where the budget
    of the `population` is kept: tables that share people share a population; ":memory:" keeps it until the session is
    closed. `budget` (an epsilon, or a Budget with a delta) is needed when the population is new. `neighbours` says what
    is hidden, "add_or_remove" or "replace"; `accounting` what the budget is counted in, "epsilon", "zcdp" or "gdp".
    `engine` says where the parts of files are worked on: discreet.engines.Dask(client), Spark(session), or an address
    ("dask://host:8786", "spark://host:7077"); `source` may then be a frame of Dask or Spark. Answers are the same to
    the last digit.

    >>> import discreet
    >>> people = {"age": [k % 80 for k in range(4000)], "sex": ["F", "M"] * 2000}
    >>> with discreet.open(people, budget=2.0, ledger=":memory:") as session:
    ...     r = session.mean("age", epsilon=0.5, where="sex == 'F'")
    ...     print(round(float(session.balance.left.epsilon), 3))
    1.5
    """
    if ledger is None:
        raise BadInput(
            "there is no ledger; give the path of a file in which what is spent is kept, ledger='study.ledger' say, or "
            "':memory:' for one that is gone with the session"
        )
    noise = door(rng)
    found = read(source, table=table, types=types, engine=engine_of(engine, source))
    if person is not None:
        known_person(found, person)
    name = population or _population(source, table)
    people = People.of(person, found.unit if unit is None else unit, neighbours)
    spend = budget if budget is None or isinstance(budget, Budget) else Budget(budget)
    terms: dict[str, Any] = {"budget": spend, "accounting": accounting, "analyst": analyst, "rng": noise}
    from discreet.ledger import Ledger

    if isinstance(ledger, Ledger):
        return session_of(found, _as_opened(people, unit, ledger, name), ledger, name, **terms)
    folder = mkdtemp(prefix="discreet-") if ledger == ":memory:" else None
    book = Ledger(ledger if folder is None else Path(folder) / "budget", key=key, anchor=anchor)
    try:
        session = session_of(found, _as_opened(people, unit, book, name), book, name, **terms).closing()
    except BaseException:
        book.close()
        raise
    if folder is not None:
        weakref.finalize(session, shutil.rmtree, folder, True)
    return session


def _as_opened(people: People, unit: str | None, ledger: "Ledger", population: str) -> People:
    """The same people, called what the account of their population calls them unless another word was given."""
    known_as = {name: account for name, analyst, account in ledger.accounts() if not analyst}
    if unit is not None or population not in known_as:
        return people
    return replace(people, unit=ledger.account(population).unit)


def check_terms(population: str, account: Account, people: People) -> None:
    """Refuse a budget that promises something else than what is asked of these people."""
    if (account.neighbours, account.unit) != (people.neighbours, people.unit):
        raise BadInput(
            f"the budget of {population} promises that {account.neighbours.value}, for a {account.unit}; this session "
            f"is for: {people.neighbours.value}, for a {people.unit}. Open it with the same neighbours= and unit="
        )


def session_of(
    table: Table,
    people: People,
    ledger: "Ledger",
    population: str,
    *,
    budget: Budget | None,
    accounting: Currency | str = Currency.EPSILON,
    analyst: str | None = None,
    rng: Randomness | None = None,
) -> Session:
    """A table behind the budget of a population, which is opened if it is new and a budget is given. [session.2]"""
    if budget is not None:
        ledger.open(population, budget, accounting=accounting, neighbours=people.neighbours, unit=people.unit)
    check_terms(population, ledger.account(population), people)
    if analyst is not None:
        ledger.account(population, analyst)
    return Session(table, people, ledger, population, analyst=analyst, rng=door(rng))


def paid(work: Callable[..., T], *given: Any) -> T:
    """What `work` gives, or NotAnswered: BadInput and its kind mean that nothing was spent.

    It is raised after what it replaces was handled, so that it knows nothing of it: a message may hold a value.
    """
    try:
        return work(*given)
    except NotAnswered:
        raise
    except DiscreetError as error:
        why = str(error)
    except Exception:  # noqa: BLE001  its message may hold a value
        why = HIDDEN
    raise NotAnswered(
        f"the budget was spent, and no answer could be made: {why}. If the question had a request id and nothing was "
        "drawn yet, asking again with it costs nothing; otherwise asking again is charged again"
    )


def _signed(answer: Release[Any] | Groups, receipt: Receipt) -> tuple[Release[Any] | Groups, str]:
    """The answer with its receipt, and its text for the ledger."""
    signed = answer.signed(str(receipt))
    return signed, signed.to_json(indent=None)


def _released(mechanism: Mechanism[Any], rows: Any, rng: Randomness) -> Release[Any]:
    """What a mechanism of one's own makes; an error of our kind that it raises may tell of the data like any other."""
    try:
        return mechanism.release(rows, rng)
    except DiscreetError:
        raise ValueError from None


def remembered(text: str) -> Release[Any] | Groups:
    """What the ledger stored."""
    record = json.loads(text)
    if "failed" in record:
        raise DiscreetError(
            "no answer could be made to this request when it was paid for, and a second draw would cost as much again; "
            "ask with another request"
        )
    return recalled_groups(record) if "groups" in record else recalled(record)


def _population(source: Any, table: str | None) -> str:
    """The name of a file without its folder and its ending, or of the database's table; else "table"."""
    if table is not None:
        return table
    if isinstance(source, str | Path):
        stem = Path(str(source).rstrip("/")).name.split(".")[0].strip("*?[]")
        return stem or "table"
    return "people" if isinstance(source, Table) else "table"
