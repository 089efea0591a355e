"""A plan bound to its table: priced and forecast, with nothing charged, and nothing read but the table's schema.

What each release may cost is found first ([pricing.1]). What is charged is (epsilon, delta) of the composition, so that
plans and single questions add up by [filter.1].
"""

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from discreet.accounting.filter import Budget, Currency, Filter
from discreet.asking import Question
from discreet.errors import BadInput, DiscreetError, OverBudget
from discreet.forecasts.forecast import forecast_of
from discreet.forecasts.remembered import remembered
from discreet.forecasts.required import required
from discreet.ledger.account import Account
from discreet.plan.plan_file import OTHERS, Plan, PlannedRelease, Population, line_of, lines_of, plan_digest
from discreet.plan.plan_tables import table_of
from discreet.plan.planned_fit import foreseen, named_estimator
from discreet.plan.pricing import Priced, price
from discreet.plan.stored_answers import Kept, beside_kept, digest_of, kept_answers, left_for_new
from discreet.privacy.declaration import declared
from discreet.privacy.exact import Number
from discreet.privacy.loss import Approximate
from discreet.privacy.mechanism import Randomness
from discreet.privacy.people import People
from discreet.session import Session, asked, check_terms, session_of
from discreet.statistics.pooled import pools
from discreet.tables.table import Table
from discreet.tables.wanted import Terms, alone, known, wanted

if TYPE_CHECKING:
    from discreet.ledger import Ledger

OWN: Final = Fraction(1, 2)  # of the plan's delta, for the releases' own; the rest is for composing them tightly


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """A plan, its table, and its price."""

    plan: Plan
    text: str
    folder: Path
    table: Table
    people: People
    priced: Priced
    forecasts: tuple[Mapping[str, Any] | None, ...]
    digests: tuple[str, ...]
    kept: Mapping[int, Kept] = field(default_factory=dict)
    as_of: str | None = None

    @property
    def digest(self) -> str:
        """What names the plan in the ledger: the same plan is answered once for each date."""
        return plan_digest(self.plan, self.as_of)

    @property
    def request(self) -> str:
        """The plan's request; of one that has grown, that for its new questions."""
        if not self.kept:
            return f"plan {self.digest}"
        new = [digest for place, digest in enumerate(self.digests) if place not in self.kept]
        return f"plan {hashlib.sha256(json.dumps([self.digest, new]).encode()).hexdigest()}"

    def balance(self) -> Filter | None:
        """The population's budget as it is now; None if it is not opened yet. Nothing is written."""
        population = self.plan.population
        account = _account(population, self.folder, population.analyst)
        return None if account is None else account.filter

    def shared(self) -> list[str]:
        """What an analyst should know of the other budgets of these people. Nothing is written."""
        population = self.plan.population
        whole = _account(population, self.folder, None)
        if whole is None:
            return []
        if population.analyst is not None:
            return [f"That is the part of {population.analyst}; of {population.name} as a whole: {whole.filter}."]
        with _ledger(population, self.folder, reading=True) as ledger:
            parts = [part for name, part, _ in ledger.accounts() if part and name == population.name]
        told = (
            f"Analysts have parts of this budget ({', '.join(parts)}), and this plan names none: it spends what is "
            f"left of the whole. A file cannot hinder that: who may write {population.ledger} may leave out "
            "[population] analyst. A server that knows who asks can: discreet serve."
        )
        return [told] if parts else []

    def answered(self) -> bool:
        """Whether its answers are stored: then they cost nothing. Nothing is written."""
        if self.kept and len(self.kept) == len(self.digests):
            return True
        if not _is_there(_path(self.plan.population.ledger, self.folder)):
            return False
        with _ledger(self.plan.population, self.folder, reading=True) as ledger:
            return ledger.answer(self.request) is not None

    def check(self) -> None:
        """What the ledger would refuse, before anything is charged or written: OverBudget, BadInput."""
        population, accounts = self.plan.population, []
        if self.answered():
            return
        whole = _account(population, self.folder, None)
        if whole is None:
            if population.epsilon is None:
                raise BadInput(
                    f"the population {population.name} is new; give its whole budget in [population] epsilon"
                )
            budget = Budget(population.epsilon, population.delta)
            accounts.append(
                Account.opened(budget, Currency(population.accounting), None, self.people.neighbours, self.people.unit)
            )
        else:
            check_terms(population.name, whole, self.people)
            accounts.append(whole)
            part = _account(population, self.folder, population.analyst) if population.analyst else None
            accounts += [] if part is None else [part]
        together = self.priced.together
        for account in accounts:
            simple = account.filter.total.currency is Currency.EPSILON
            account.charge(Approximate(together.epsilon, together.delta) if simple else self.priced.loss)

    def session(self, rng: Randomness | None = None) -> Session:
        """The table behind its budget, which is opened if it is new."""
        population = self.plan.population
        ledger = _ledger(population, self.folder)
        try:
            budget = None if population.epsilon is None else Budget(population.epsilon, population.delta)
            return session_of(
                self.table,
                self.people,
                ledger,
                population.name,
                budget=budget,
                accounting=population.accounting,
                analyst=population.analyst,
                rng=rng,
            ).closing()
        except BaseException:
            ledger.close()
            raise


def bind(
    plan: Plan,
    text: str,
    folder: Path,
    *,
    name: str = "the plan",
    reuse: bool = False,
    as_of: str | None = None,
    engine: Any = None,
    watch: Callable[[str], None] = lambda _: None,
) -> Bound:
    """Read the table's schema, prepare and price every release; BadInput with the line of what is wrong.

    With `reuse`, questions whose answers are stored in the ledger cost nothing ([stored_answers.1]): the price is that
    of the others. `as_of` is a date: the same question about another one is asked, and paid for, anew.
    `engine`, an engine or its address, is used instead of the plan's.
    `watch` is told the title of each release before its error is simulated.
    """
    lines = lines_of(text)

    def named(place: tuple[str, ...], error: BadInput) -> BadInput:
        line = line_of(lines, place)
        return BadInput(f"{name if line is None else f'{name}, line {line}'}: {error}")

    table = table_of(plan, lambda where: _path(where, folder), named, engine)
    for column in plan.data.missing:
        known(table, column)
    people = people_of(plan, folder)

    def told(place: int, error: DiscreetError) -> DiscreetError:
        line = line_of(lines, ("release", place))
        where = f"{name}, line {line}" if line is not None else name
        return type(error)(f"{where}: release {plan.release[place].id!r}: {error}")

    takers = []
    for place, entry in enumerate(plan.release):
        try:
            takers.append(entry.delta is None and _needs_delta(table, entry))
        except DiscreetError as error:
            raise told(place, error) from None
    each = float(OWN * Fraction(plan.spend.delta) / max(1, sum(takers)))

    def ask(place: int, epsilon: Number) -> Question:
        entry = plan.release[place]
        delta = each if takers[place] else entry.delta
        options = entry.given() | {"epsilon": epsilon} | ({} if delta is None else {"delta": delta})
        try:
            return asked(table, people, entry.statistic, (), options, terms=_terms(plan, entry))
        except DiscreetError as error:
            raise told(place, error) from None

    fixed = [_fixed(plan, entry) for entry in plan.release]
    shares = [entry.share or 1 for entry in plan.release]
    spend = Budget(plan.spend.epsilon, plan.spend.delta)

    def digests(questions: Iterable[Question]) -> tuple[str, ...]:
        return tuple(digest_of(one, of, table, as_of) for one, of in zip(questions, plan.release, strict=True))

    kept: dict[int, Kept] = {}
    if reuse and _account(plan.population, folder, None) is not None:
        drawn = (ask(place, spend.epsilon if one is None else one) for place, one in enumerate(fixed))
        kept = _kept(plan, folder, digests(drawn), as_of)
    new, bought = [place for place in range(len(fixed)) if place not in kept], dict[int, Question]()
    if new:
        own, parts = [fixed[place] for place in new], [shares[place] for place in new]
        rest = left_for_new(spend, kept, len(new))
        try:
            part = price(lambda at, epsilon: ask(new[at], epsilon), own, parts, rest)
        except OverBudget as error:
            raise OverBudget(f"{error}{beside_kept(spend, kept)}") from None
        bought, spend = dict(zip(new, part.questions, strict=True)), part.together
    every = (bought.get(place) or ask(place, kept[place].cost[0]) for place in range(len(fixed)))
    priced = Priced(tuple(every), spend, frozenset(kept))
    forecasts = []
    for place, (entry, question) in enumerate(zip(plan.release, priced.questions, strict=True)):
        watch(question.title)
        try:
            forecasts.append(_forecast(plan, entry, question))
        except DiscreetError as error:
            raise told(place, error) from None
    return Bound(
        plan=plan,
        text=text,
        folder=folder,
        table=table,
        people=people,
        priced=priced,
        forecasts=tuple(forecasts),
        digests=digests(priced.questions),
        kept=kept,
        as_of=as_of,
    )


def _kept(plan: Plan, folder: Path, digests: tuple[str, ...], as_of: str | None) -> dict[int, Kept]:
    """The stored answers, unless those of this very plan are."""
    population = plan.population
    with _ledger(population, folder, reading=True) as ledger:
        if ledger.answer(f"plan {plan_digest(plan, as_of)}") is not None:
            return {}
        return kept_answers(ledger, population.name, population.analyst, digests)


def people_of(plan: Plan, folder: Path) -> People:
    """Whose rows the plan is about; what one of them is called is the account's word, unless the plan has its own."""
    joined = bool(plan.tables)  # to one row a person
    unit = "person" if joined and plan.data.unit is None else plan.data.unit
    people = People.of(None if joined else plan.data.person, unit, plan.data.neighbours)
    people = replace(people, many=plan.data.unit_plural)
    account = None if plan.data.unit is not None else _account(plan.population, folder, None)
    return people if account is None else replace(people, unit=account.unit)


def _ledger(population: Population, folder: Path, *, reading: bool = False) -> "Ledger":
    from discreet.ledger import Ledger

    key, anchor = (None if where is None else _path(where, folder) for where in (population.key, population.anchor))
    return Ledger(_path(population.ledger, folder), key=key, anchor=anchor, reading=reading)


def _is_there(where: str) -> bool:
    """Whether there is a ledger; SQLAlchemy is not loaded to see that a file is missing."""
    with suppress(OSError, RuntimeError, ValueError):  # a path that leads nowhere is refused below
        if "://" not in where and not Path(where).resolve().exists():
            return False
    from discreet.ledger.database import is_there

    return is_there(where)


def _account(population: Population, folder: Path, analyst: str | None) -> Account | None:
    """The population's account, or an analyst's; None if the population is not opened yet. Nothing is written."""
    if not _is_there(_path(population.ledger, folder)):
        return None
    with _ledger(population, folder, reading=True) as ledger:
        opened = [name for name, part, _ in ledger.accounts() if not part]
        return ledger.account(population.name, analyst) if population.name in opened else None


def _path(where: str, folder: Path) -> str:
    """A path from the plan's folder; a database's address as it is, but for a file in it."""
    for scheme in ("sqlite:///", "duckdb:///"):
        if where.startswith(scheme):
            return scheme + str(folder / where.removeprefix(scheme))
    return where if "://" in where else str(folder / where)


def _terms(plan: Plan, entry: PlannedRelease) -> Terms:
    return Terms(
        where=entry.where,
        groupby=alone(entry.groupby),
        keys=entry.keys,
        missing=plan.data.missing or None,
        per_person=plan.data.per_person or None,
        max_rows=plan.data.max_rows,
    )


def _needs_delta(table: Table, entry: PlannedRelease) -> bool:
    """Whether a release has no answer at delta 0: by its declaration, or for groups that have to be found."""
    statistic = declared(entry.statistic)
    facts = wanted(table, statistic, entry.placed() | entry.options, Terms()).facts
    return (entry.groupby is not None and entry.keys is None) or statistic.needs_delta(entry.options, facts)


def _assumed(plan: Plan, entry: PlannedRelease) -> dict[str, Any]:
    """What a forecast may take for granted: the release's options and its public guesses."""
    about = dict(entry.options) | {"neighbours": plan.data.neighbours} | dict(entry.guesses)
    if entry.estimator is not None:
        about["estimator"] = entry.estimator
    if entry.scale is not None:
        about["scale"] = entry.scale
    several = [names for names in entry.placed().values() if isinstance(names, list)]
    about |= {name: True for name in OTHERS if name in entry.placed()}
    return about | ({"columns": len(several[0])} if several else {})


def _rows(plan: Plan, entry: PlannedRelease) -> int | None:
    """About how many people a release is about: in each group, if there are several."""
    about, keys = entry.rows or plan.data.rows, entry.keys
    if about is None or not keys or entry.rows:
        return about
    many = math.prod(len(one) for one in keys if isinstance(one, list)) if isinstance(keys[0], list) else len(keys)
    return max(1, about // max(1, many))


def _fixed(plan: Plan, entry: PlannedRelease) -> Number | None:
    """The epsilon of a release that says one, or an accuracy; None for one that says a share."""
    if entry.accuracy is None:
        return entry.epsilon
    rows = _rows(plan, entry)
    if rows is None:
        raise BadInput(
            f"release {entry.id!r} asks for an accuracy, which depends on the number of people; give rows, about how "
            "many there are, in the release or in [data]"
        )
    found = required(
        entry.statistic, half_width=entry.accuracy, rows=rows, delta=entry.delta or 0.0, **_assumed(plan, entry)
    )
    if found.units:
        raise BadInput(
            f"release {entry.id!r} asks for an accuracy of {entry.accuracy:g}, which depends on the scale of the "
            "column; give scale, a public guess of its standard deviation"
        )
    if found.epsilon is None:
        raise BadInput(f"release {entry.id!r}: an accuracy of {entry.accuracy:g} cannot be reached. {found}")
    return float(found.epsilon)


def _forecast(plan: Plan, entry: PlannedRelease, question: Question) -> Mapping[str, Any] | None:
    """The error to expect, from public guesses; None where there are none to go by, or groups are small."""
    rows, mechanism = _rows(plan, entry), question.price.mechanism
    epsilon = float(mechanism.guarantee.epsilon) if question.price.halved else question.arguments["epsilon"]
    if (
        rows is None
        or not foreseen(entry.estimator, entry.code, entry.options)
        or (question.grouping is not None and pools(mechanism, rows))
    ):
        return None
    about = _assumed(plan, entry) | {"neighbours": question.price.relation.name.lower()}
    delta = question.arguments.get("delta", 0.0)
    try:
        found = _foreseen(entry.statistic, rows, epsilon, delta, json.dumps(about, sort_keys=True))
    except TypeError:  # a date, say
        found = _foreseen.__wrapped__(entry.statistic, rows, epsilon, delta, about)
    if found is None and entry.guesses:  # says what is wrong with them
        return forecast_of(entry.statistic, about, rows=rows, epsilon=epsilon, delta=delta)
    return None if found is None else dict(found)


@lru_cache(maxsize=1024)
def _foreseen(
    statistic: str, rows: int, epsilon: Number, delta: Number, about: str | Mapping[str, Any]
) -> Mapping[str, Any] | None:
    """A forecast; it is simulated, so what was simulated lately is remembered, whoever asks."""

    def simulate() -> dict[str, Any] | None:
        given = dict(json.loads(about) if isinstance(about, str) else about)
        if "estimator" in given:
            given["estimator"] = named_estimator(given["estimator"])
        try:
            return forecast_of(statistic, given, rows=rows, epsilon=epsilon, delta=delta)
        except BadInput:
            return None

    if not isinstance(about, str):
        return simulate()
    asked = {"statistic": statistic, "rows": rows, "epsilon": str(epsilon), "delta": str(delta), "about": about}
    return remembered(asked, simulate)
