"""A plan bound to its table: priced and forecast, with nothing charged, and nothing read but the table's schema."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from discreet.accounting.filter import Budget, Filter
from discreet.errors import BadInput, DiscreetError
from discreet.forecasts.forecast import forecast
from discreet.forecasts.required import required
from discreet.ledger import Ledger
from discreet.ledger.place import is_there
from discreet.plan.plan_file import line_of, lines_of
from discreet.plan.plan_model import Plan, PlannedRelease
from discreet.plan.price import Priced, price
from discreet.privacy.exact import Number
from discreet.privacy.mechanism import Randomness
from discreet.privacy.neighbours import Neighbours
from discreet.session.columns import known, parameters
from discreet.session.private import Session, session_of
from discreet.session.question import Question, prepare
from discreet.session.terms import People, Terms
from discreet.tables.opening import read
from discreet.tables.table import Table

NEEDS_DELTA: Final = ("covariance", "linear_regression", "poisson_regression", "kmeans", "likelihood", "sgd")
OWN: Final = Fraction(1, 2)  # of the plan's delta, for the releases' own; the rest is for composing them tightly


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """A plan, its table, and its price."""

    plan: Plan
    text: str
    folder: Path
    table: Table
    priced: Priced
    forecasts: tuple[Mapping[str, Any] | None, ...]

    @property
    def digest(self) -> str:
        """What names the plan in the ledger: the same plan is answered once."""
        content = json.dumps(self.plan.model_dump(mode="json"), sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()

    @property
    def request(self) -> str:
        """The plan's request."""
        return f"plan {self.digest}"

    def balance(self) -> Filter | None:
        """The population's budget as it is now; None if it is not opened yet. Nothing is written."""
        people = self.plan.population
        if not is_there(_path(people.ledger, self.folder)):
            return None
        with self._ledger(reading=True) as ledger:
            names = [name for name, analyst, _ in ledger.accounts() if not analyst]
            return ledger.balance(people.name, people.analyst) if people.name in names else None

    def answered(self) -> bool:
        """Whether its answers are stored: then they cost nothing. Nothing is written."""
        if not is_there(_path(self.plan.population.ledger, self.folder)):
            return False
        with self._ledger(reading=True) as ledger:
            return ledger.answer(self.request) is not None

    def session(self, rng: Randomness | None = None) -> Session:
        """The table behind its budget, which is opened if it is new."""
        people = self.plan.population
        ledger = self._ledger()
        try:
            budget = None if people.epsilon is None else Budget(people.epsilon, people.delta)
            return session_of(
                self.table,
                people_of(self.plan),
                ledger,
                people.name,
                budget=budget,
                counted=people.counted,
                analyst=people.analyst,
                rng=rng,
            ).closing()
        except BaseException:
            ledger.close()
            raise

    def _ledger(self, *, reading: bool = False) -> Ledger:
        people = self.plan.population
        key, anchor = (None if where is None else _path(where, self.folder) for where in (people.key, people.anchor))
        return Ledger(_path(people.ledger, self.folder), key=key, anchor=anchor, reading=reading)


def bind(plan: Plan, text: str, folder: Path, *, name: str = "the plan") -> Bound:
    """Read the table's schema, prepare and price every release; BadInput with the line of what is wrong."""
    lines = lines_of(text)
    table = read(_path(plan.data.source, folder), table=plan.data.table, types=plan.data.types or None)
    for column in (plan.data.person, *plan.data.types, *plan.data.missing, *plan.data.rules):
        if column is not None:
            known(table, column)

    def ask(place: int, epsilon: Number) -> Question:
        try:
            return _prepared(table, plan, plan.release[place], epsilon)
        except DiscreetError as error:
            line = line_of(lines, ("release", place))
            where = f"{name}, line {line}" if line is not None else name
            raise type(error)(f"{where}: release {plan.release[place].id!r}: {error}") from None

    fixed = [_fixed(plan, asked) for asked in plan.release]
    shares = [asked.share or 1 for asked in plan.release]
    priced = price(ask, fixed, shares, Budget(plan.spend.epsilon, plan.spend.delta))
    forecasts = tuple(
        _forecast(plan, asked, question) for asked, question in zip(plan.release, priced.questions, strict=True)
    )
    return Bound(plan=plan, text=text, folder=folder, table=table, priced=priced, forecasts=forecasts)


def _path(where: str, folder: Path) -> str:
    """A path from the plan's folder; a database's address as it is, but for a file in it."""
    for scheme in ("sqlite:///", "duckdb:///"):
        if where.startswith(scheme):
            return scheme + str(folder / where.removeprefix(scheme))
    return where if "://" in where else str(folder / where)


def _columns(asked: PlannedRelease) -> dict[str, Any]:
    """The columns, by the names of the verb's parameters."""
    names = parameters(asked.statistic)
    if "X" in names:
        given: dict[str, Any] = {"X": asked.formula or asked.columns}
        return given if asked.outcome is None else given | {"y": asked.outcome}
    if asked.formula is not None or asked.outcome is not None:
        raise BadInput(f"{asked.statistic} has no formula and no outcome; name its columns")
    if "data" in names:
        return {"data": asked.columns}
    if "y" in names and isinstance(asked.columns, list):
        if len(asked.columns) != 2:
            raise BadInput(f"{asked.statistic} is about two columns; {len(asked.columns)} are given")
        return {"x": asked.columns[0], "y": asked.columns[1]}
    return {} if asked.columns is None else {"x": asked.columns}


def _prepared(table: Table, plan: Plan, asked: PlannedRelease, epsilon: Number) -> Question:
    options = dict(asked.options)
    delta = asked.delta
    if delta is None and _wants_delta(asked):
        takers = sum(1 for other in plan.release if other.delta is None and _wants_delta(other))
        delta = float(OWN * Fraction(plan.spend.delta) / takers)
    if delta is not None:
        options["delta"] = delta
    given = _columns(asked) | {"epsilon": epsilon} | options
    data = plan.data
    terms = Terms(
        where=asked.where,
        groupby=asked.groupby,
        keys=asked.keys,
        missing=data.missing or None,
        rule=data.rules or None,
        cap=data.cap,
    )
    return prepare(table, people_of(plan), asked.statistic, (), given, terms=terms)


def people_of(plan: Plan) -> People:
    """Whose rows the plan is about."""
    return People.of(plan.data.person, plan.data.unit, Neighbours(plan.data.neighbours))


def _wants_delta(asked: PlannedRelease) -> bool:
    """Whether the statistic needs a delta: those of several columns, bins and groups that have to be found."""
    found = asked.statistic == "histogram" and not {"categories", "edges"} & set(asked.options)
    opened = asked.statistic == "density" and asked.options.get("categories") == "open"
    several = asked.statistic in ("mean", "gaussian") and isinstance(asked.columns, list)
    groups = asked.groupby is not None and asked.keys is None
    return asked.statistic in NEEDS_DELTA or found or opened or several or groups


def _assumed(plan: Plan, asked: PlannedRelease) -> dict[str, Any]:
    about = {name: value for name, value in asked.options.items() if name in parameters(asked.statistic)}
    if asked.scale is not None:
        about["scale"] = asked.scale
    if isinstance(asked.columns, list) and asked.statistic not in ("test_independence", "test_paired"):
        about["columns"] = len(asked.columns)
    return about | {"neighbours": plan.data.neighbours}


def _rows(plan: Plan, asked: PlannedRelease) -> int | None:
    """About how many people a release is about: in each group, if there are several."""
    about = asked.rows or plan.data.rows
    return None if about is None else max(1, about // len(asked.keys)) if asked.keys and not asked.rows else about


def _fixed(plan: Plan, asked: PlannedRelease) -> Number | None:
    """The epsilon of a release that says one, or an accuracy; None for one that says a share."""
    if asked.accuracy is None:
        return asked.epsilon
    rows = _rows(plan, asked)
    if rows is None:
        raise BadInput(
            f"release {asked.id!r} asks for an accuracy, which needs rows, there or in [data]: about how many people "
            "there are"
        )
    found = required(
        asked.statistic, half_width=asked.accuracy, rows=rows, delta=asked.delta or 0.0, **_assumed(plan, asked)
    )
    if found.epsilon is None:
        raise BadInput(f"release {asked.id!r}: an accuracy of {asked.accuracy:g} cannot be had. {found}")
    return float(found.epsilon)


def _forecast(plan: Plan, asked: PlannedRelease, question: Question) -> Mapping[str, Any] | None:
    """The error to expect, from public guesses; None where there are none to go by."""
    rows = _rows(plan, asked)
    if rows is None:
        return None
    try:
        seen = forecast(
            asked.statistic,
            rows=rows,
            epsilon=question.asked["epsilon"],
            delta=question.asked.get("delta", 0.0),
            **_assumed(plan, asked) | {"neighbours": question.asked["neighbours"]},
        )
    except BadInput:
        return None
    found: dict[str, Any] = seen.to_dict()
    return found
