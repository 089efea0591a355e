"""A private profile of a whole table: how many people, what is missing, quartiles, categories, with intervals.

Promise
    [profile.1] All of it is (epsilon, delta), charged at once, before a row is read.
Why
    [profile.1] A noisy count takes a twentieth of epsilon; for columns without a declared type, a noisy share of cells
    that are numbers takes another tenth, in equal parts; for those that may hold texts, or are called like ids, a noisy
    number of different values takes another twentieth. What comes next is chosen by these answers: a plan whose loss is
    fixed before it is run and composes to the rest of epsilon at delta ([pricing.1]), whatever was chosen. Then basic
    composition.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from discreet.accounting.filter import Budget, Filter
from discreet.api import door
from discreet.asking import Question
from discreet.engines.addresses import engine_of
from discreet.errors import BadInput, Refused
from discreet.ledger.account import Receipt
from discreet.ledger.ledger_text import written
from discreet.plan.draft import looks_like_id
from discreet.plan.pricing import price
from discreet.plan.profile_card import Profile
from discreet.plan.run_plan import Watch, dossier, mechanisms, methods, shown, stored
from discreet.privacy.exact import Number, exact, is_number, show
from discreet.privacy.guarantee import Guarantee, Neighbours
from discreet.privacy.loss import Approximate
from discreet.privacy.mechanism import Randomness, refusal_of
from discreet.privacy.people import People
from discreet.privacy.release import Groups, Provenance, Release
from discreet.session import Session, asked, paid
from discreet.session import open as open_session
from discreet.statistics.quantile import Quantile
from discreet.tables.opening import known_person, read
from discreet.tables.table import Table
from discreet.tables.wanted import Terms, known

if TYPE_CHECKING:
    from discreet.ledger import Ledger

COUNTING: Final = Fraction(1, 20)
TYPING: Final = Fraction(1, 10)
TELLING: Final = Fraction(1, 20)  # names and ids from categories
SURE: Final = 0.99  # that more than every second person has a value of their own, before a column is taken for ids
QUANTILES: Final = ((0.05, 0.25, 0.5, 0.75, 0.95), (0.25, 0.5, 0.75), (0.5,))  # the most that so many people can answer
SAFE: Final = 0.8  # of the people: some entries are missing
DRAWN: Final = 2  # shares for each quantile: a choice costs a quarter of what noise on a count does, once composed
MOST: Final = 200  # columns
TEXTS: Final = ("text", "category", "unknown")  # whose categories may have to be found
NUMBERS: Final = ("number", "integer")
OPEN: Final = ("text", "unknown")  # which may turn out to be names or ids
WORDS: Final = {
    "quantiles": "quantiles of",
    "categories": "categories of",
    "missing": "share missing in",
    "numbers": "share of numbers in",
    "distinct": "number of different values of",
}
Answer = tuple[str | None, Question, Release[Any] | Groups]


@dataclass(frozen=True, slots=True)
class ProfileQuestions:
    """What is asked of a table, before anything is known of it but its columns and their declared types."""

    table: Table
    people: People
    epsilon: Number
    delta: Number
    ids: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        Budget(self.epsilon, self.delta)  # says what is wrong with them
        for name in self.ids:
            known(self.table, name)
        if not self.columns or len(self.columns) > MOST:
            raise BadInput(f"the table has {len(self.columns)} columns to describe; a profile takes 1 to {MOST}")
        if not self.delta and any(self.table.kinds[name] in TEXTS for name in self.columns):
            raise BadInput("the categories of texts have to be found, which needs delta above 0, for example 1e-6")

    @property
    def columns(self) -> list[str]:
        """All but the one that says whose row it is, and those that are declared to be names or ids."""
        return [name for name in self.table.names if name != self.people.person and name not in self.ids]

    @property
    def _names(self) -> list[str]:
        """What may turn out to be names or ids: columns of texts, and numbers that are called like ids."""
        return [
            name
            for name in self.columns
            if self.table.kinds[name] in OPEN or (self.table.kinds[name] in NUMBERS and looks_like_id(name))
        ]

    def ask(self, statistic: str, epsilon: Number, about: str | None, **options: Any) -> Question:
        """One question."""
        given = {"epsilon": epsilon, **options} | ({} if about is None else {"x": about})
        terms = Terms(missing="keep" if statistic == "histogram" else None)  # missing entries are a category
        return asked(self.table, self.people, statistic, (), given, terms=terms)

    def _of(self, *kinds: str) -> list[str]:
        return [name for name in self.columns if self.table.kinds[name] in kinds]

    def first(self) -> list[tuple[str | None, Question]]:
        """How many people there are; whether columns without a type hold numbers, and texts differ between people."""
        whole, unknown, texts = exact(self.epsilon), self._of("unknown"), self._names
        counted: list[tuple[str | None, Question]] = [(None, self.ask("count", whole * COUNTING, None))]
        share, part = whole * TYPING / max(1, len(unknown)), whole * TELLING / max(1, len(texts))
        counted += [(name, self.ask("proportion", share, f"{_quoted(name)} is number")) for name in unknown]
        counted += [(name, self.ask("distinct", part, name)) for name in texts]
        return counted

    @property
    def rest(self) -> Fraction:
        """What is left for the columns. [profile.1]"""
        typed, told = TYPING if self._of("unknown") else 0, TELLING if self._names else 0
        return exact(self.epsilon) * (1 - COUNTING - typed - told)

    def plan(self, kinds: Mapping[str, str], shares: tuple[float, ...]) -> tuple[list[str], tuple[Question, ...]]:
        """One question or two for each column, all together at the price of the rest. [profile.1]"""
        planned = [question for name in self.columns for question in _questions(name, kinds[name], shares)]
        if not planned:  # nothing but ids
            return [], ()
        finders = sum(1 for *_, finds in planned if finds)

        def prepared(place: int, epsilon: Number) -> Question:
            _, statistic, about, options, _, finds = planned[place]
            own = {"delta": exact(self.delta) / 2 / finders} if finds else {}
            return self.ask(statistic, epsilon, about, **options | own)

        priced = price(prepared, [None] * len(planned), [item[4] for item in planned], Budget(self.rest, self.delta))
        return [item[0] for item in planned], priced.questions

    def check(self) -> None:
        """What cannot be asked is said before anything is paid."""
        for name in self.columns:
            kind = self.table.kinds[name]
            for guess in ("number", "text") if kind == "unknown" else (kind,):
                for _, statistic, about, options, _, finds in _questions(name, guess, QUANTILES[0]):
                    own = {"delta": exact(self.delta) / 2 / len(self.columns)} if finds else {}
                    self.ask(statistic, self.rest / len(self.columns), about, **options | own)

    def fitting(self, kinds: Mapping[str, str], people: int) -> tuple[list[str], tuple[Question, ...]]:
        """The plan with the most quantiles that so many people can answer."""
        for shares in QUANTILES:
            names, questions = self.plan(kinds, shares)
            drawn = [question.price.mechanism for question in questions]
            if all(not refusal_of(one, max(1, round(SAFE * people))) for one in drawn if isinstance(one, Quantile)):
                break
        return names, questions


def _questions(name: str, kind: str, shares: tuple[float, ...]) -> Iterator[tuple[str, str, str, Any, int, bool]]:
    """(column, statistic, what it is about, options, share, whether it finds categories)"""
    match kind:
        case "number" | "integer" | "date":
            yield name, "proportion", f"{_quoted(name)} is missing", {}, 1, False
            yield name, "quantile", name, {"q": shares if len(shares) > 1 else shares[0]}, DRAWN * len(shares), False
        case "boolean":
            yield name, "histogram", name, {"categories": [True, False]}, 2, False
        case "id":
            return
        case _:
            yield name, "histogram", name, {}, 2, True


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def describe(
    source: Any,
    *,
    epsilon: Number,
    delta: Number = 0.0,
    person: str | None = None,
    unit: str | None = None,
    unit_plural: str | None = None,
    neighbours: Neighbours | str = Neighbours.ADD_OR_REMOVE,
    table: str | None = None,
    types: Mapping[str, str] | None = None,
    ids: Sequence[str] = (),
    ledger: "str | Path | Ledger | None" = None,
    population: str | None = None,
    budget: Budget | float | None = None,
    rng: Randomness | None = None,
    engine: Any = None,
    watch: Watch = lambda _: None,
) -> Profile:
    """A private profile of a whole table: how many people, what is missing, quantiles and categories, with intervals.

    `source` is what `discreet.open` takes: a file, a frame, a dictionary of columns, or a database and its `table`. All
    of it together costs epsilon and delta; texts need a delta above 0, as their categories have to be found. Columns
    named in `ids` hold names or ids and are left out; other texts of the kind, and numbers that are called like ids,
    are recognised by a private number of different values, and cost little. With a `ledger` it is charged to the budget
    of the `population` before a row is read; without one it is recorded nowhere, and says so. `engine` is
    `discreet.open`'s; `watch` is told each title.

    >>> import discreet
    >>> people = {"age": [float(k % 80) for k in range(4000)], "sex": ["F", "M"] * 2000}
    >>> profile = discreet.describe(people, epsilon=2.0, delta=1e-6, types={"age": "number", "sex": "category"})
    >>> [entry["question"] for entry in profile.to_dict()["releases"]][:2]
    ['number of rows', 'share missing in age']
    >>> "in no ledger" in str(profile)
    True
    """
    if ledger is not None:
        kept = getattr(budget, "delta", 0.0)
        if budget is not None and is_number(delta) and delta > kept:  # before a budget is opened that is never changed
            raise BadInput(
                f"this profile costs delta {show(delta)}, and a new budget would have {show(kept)} for ever; give it a "
                "delta, budget=discreet.Budget(3.0, 1e-5), on the command line --budget-delta 1e-5"
            )
        terms: dict[str, Any] = {"neighbours": neighbours, "unit": unit, "table": table, "engine": engine}
        with open_session(
            source, person, budget, ledger, population=population, rng=rng, types=types, **terms
        ) as session:
            people = replace(session.people, many=unit_plural)
            questions = ProfileQuestions(session.table, people, epsilon, delta, tuple(ids))
            return Profile(charged(questions, session, watch=watch))
    if population is not None or budget is not None:
        raise BadInput("a population and its budget are kept in a ledger; give a ledger, too")
    found = read(source, table=table, types=types, engine=engine_of(engine, source))
    if person is not None:
        known_person(found, person)
    people = replace(People.of(person, found.unit if unit is None else unit, neighbours), many=unit_plural)
    questions = ProfileQuestions(found, people, epsilon, delta, tuple(ids))
    return Profile(uncharged(questions, rng=door(rng), watch=watch))


def uncharged(questions: ProfileQuestions, *, rng: Randomness, watch: Watch = lambda _: None) -> dict[str, Any]:
    """The profile as a dossier, charged to no budget."""
    first = questions.first()
    questions.check()
    return _answered(questions, first, rng, watch)


def charged(questions: ProfileQuestions, session: Session, *, watch: Watch = lambda _: None) -> dict[str, Any]:
    """The profile as a dossier, charged to the session's budget before a row is read. [profile.1]"""
    first = questions.first()
    questions.check()
    spent, before = Budget(questions.epsilon, questions.delta), session.balance
    loss = Approximate(spent.epsilon, spent.delta)
    guarantee = Guarantee(spent.epsilon, spent.delta, questions.people.neighbours, questions.people.unit)
    note = written(f"profile of {questions.table.description}", {"profile": questions.columns})
    receipt = session.charge(loss, guarantee, note)
    paid_for = (session, before, receipt)
    with session.once(receipt) as rng:
        made = paid(lambda: json.dumps(_answered(questions, first, rng, watch, charged=paid_for), allow_nan=False))
    return stored(session.ledger.store(receipt, made))  # shown when it is stored


def _answered(
    profile: ProfileQuestions,
    first: list[tuple[str | None, Question]],
    rng: Randomness,
    watch: Watch,
    *,
    charged: tuple[Session, Filter, Receipt] | None = None,
) -> dict[str, Any]:
    """All questions, the later ones chosen by the answers to the first; `charged` has the balance before the charge."""
    receipt = None if charged is None else charged[2]
    kinds: dict[str, str] = dict(profile.table.kinds)
    spent = Budget(profile.epsilon, profile.delta)
    answers: list[Answer] = []

    def answered(name: str | None, question: Question) -> Release[Any] | Groups:
        watch(question.title)
        release = _refused(question, rng) or question.answer(profile.table, rng)
        answers.append((name, question, release if receipt is None else release.signed(str(receipt))))
        return release

    said: dict[str, list[Release[Any]]] = {}
    for name, question in first:
        release = answered(name, question)
        assert isinstance(release, Release)
        said.setdefault(name or "", []).append(release)
    people = max(1, int(said.pop("")[0].value))
    for name, found in said.items():
        kinds[name] = _kind(name, kinds[name], found, people)
    for name, question in zip(*profile.fitting(kinds, people), strict=True):
        answered(name, question)
    ordered = _by_column(profile, answers)
    return dossier(
        title=f"A profile of {profile.table.description}",
        description="Types are as declared, or found; nothing else about the table was known beforehand."
        + (f" Left out as names or ids, as declared: {', '.join(profile.ids)}." if profile.ids else ""),
        data={
            "source": profile.table.description,
            "population": profile.table.description if charged is None else charged[0].population,
            "unit": profile.people.unit,
            "person": profile.people.person,
            "neighbours": profile.people.neighbours.value,
            "rows": None,
            "unit_plural": profile.people.units,
        },
        entries=[_entry(profile, place, answer, kinds) for place, answer in enumerate(ordered, start=1)],
        spent=spent,
        balance=None if charged is None else (charged[1], charged[0].balance),
        composition=f"One budget for the whole profile: epsilon {show(spent.epsilon)}, delta {show(spent.delta)}.",
        methods=methods([question for _, question, _ in answers], [mechanisms(shown(one)) for _, _, one in answers]),
        answers=[release for _, _, release in answers],
        receipt=receipt,
        plan=None,
    )


def _refused(question: Question, rng: Randomness) -> Release[Any] | None:
    """What too few people cannot answer, where their number is public: the other columns still have their answers."""
    try:
        question.check()
    except (BadInput, Refused) as error:
        history = Provenance(type(question.price.mechanism).__name__, {}, rng.secure)
        return Release(question.price.guarantee, history, refusal=str(error), name=question.title)
    return None


def _kind(name: str, declared: str, found: list[Release[Any]], people: int) -> str:
    """What a column is taken for: numbers, names or ids, or texts. Many people have to be sure to differ for ids, and
    numbers, which may differ between people and be none, must be called like ids."""
    *typed, told = found
    numbers = declared in NUMBERS or (bool(typed) and typed[0].refusal is None and typed[0].value > 0.5)
    if 2 * told.interval(SURE).low > people and (not numbers or looks_like_id(name)):
        return "id"
    return declared if declared != "unknown" else "number" if numbers else "text"


def _by_column(profile: ProfileQuestions, answers: list[Answer]) -> list[Answer]:
    """The count first, then all about one column after the other."""
    places = {None: -1} | {name: place for place, name in enumerate(profile.columns)}
    return sorted(answers, key=lambda answer: places[answer[0]])


def _entry(profile: ProfileQuestions, place: int, answer: Answer, kinds: Mapping[str, str]) -> dict[str, Any]:
    name, question, release = answer
    about = _about(question, profile.people.units)
    return {
        "id": str(place),
        "question": about if name is None else f"{WORDS[about]} {name}",
        "statistic": question.statistic.name,
        "about": about,
        "columns": [] if name is None else [name],
        "kind": None if name is None else kinds[name],
        "where": None,
        "by": "quantile" if isinstance(release, Groups) else None,
        "options": {},
        "forecast": None,
    } | shown(release)


def _about(question: Question, units: str) -> str:
    match question.statistic.name:
        case "count":
            return f"number of {units}"
        case "quantile":
            return "quantiles"
        case "histogram":
            return "categories"
        case "distinct":
            return "distinct"
        case _:
            return "missing" if str(question.arguments.get("x")).endswith("is missing") else "numbers"
