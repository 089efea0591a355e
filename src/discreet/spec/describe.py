"""A private profile of a whole table: how many people, what is missing, quartiles, categories, with intervals.

Promise
    [SD1] All of it is (epsilon, delta), charged at once, before a row is read.
Why
    [SD1] A noisy count takes a twentieth of epsilon; for columns without a declared type, a noisy share of cells that
    are numbers takes another tenth, in equal parts. What comes next is chosen by these answers: a plan whose loss is
    fixed before it is run and composes to the rest of epsilon at delta ([SP1] of price.py), whatever was chosen. Then
    basic composition.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Final

from discreet.accounting.filter import Budget
from discreet.data.table import Table
from discreet.errors import BadInput
from discreet.ledger.book import Receipt
from discreet.promise.exact import Number, exact, show
from discreet.promise.groups import Groups
from discreet.promise.mechanism import Randomness
from discreet.promise.neighbours import Neighbours
from discreet.promise.release import Release
from discreet.session.private import Private
from discreet.session.question import Question, prepare
from discreet.statistics.quantile import Quantile
from discreet.spec.price import price
from discreet.spec.run import Watch, dossier, methods, shown

COUNTING: Final = Fraction(1, 20)
TYPING: Final = Fraction(1, 10)
FULL: Final = (0.05, 0.25, 0.5, 0.75, 0.95)
QUARTILES: Final = (0.25, 0.5, 0.75)
MIDDLE: Final = (0.5,)
DRAWN: Final = 3  # shares for each quantile: a choice costs a quarter of what noise on a count does, once composed
SAFE: Final = 0.8  # of the people: some entries are missing
MOST: Final = 200  # columns
Asked = tuple[str, str, str, dict[str, Any], int]  # column, statistic, what it is about, options, share


def describe(
    table: Table,
    *,
    epsilon: Number,
    delta: Number,
    person: str | None = None,
    unit: str | None = None,
    neighbours: Neighbours = Neighbours.ADD_OR_REMOVE,
    private: Private | None = None,
    rng: Randomness,
    watch: Watch = lambda _: None,
) -> dict[str, Any]:
    """The profile as a dossier. With `private` it is charged to that session's budget; without, to none."""
    called = unit or ("row" if person is None else "person")
    columns = [name for name in table.names if name != person]
    if len(columns) > MOST:
        raise BadInput(f"the table has {len(columns)} columns, and a profile is of {MOST} at most; choose some of them")
    if not delta and any(table.kinds[name] in ("text", "unknown") for name in columns):
        raise BadInput("categories are found in texts, which needs delta above 0, for example 1e-6")

    def ask(statistic: str, budget: Number, about: str | None, **options: Any) -> Question:
        given = {"epsilon": budget, **options} | ({} if about is None else {"x": about})
        return prepare(
            table,
            statistic,
            (),
            given,
            where=None,
            by=None,
            keys=None,
            missing=None,
            rule=None,
            cap=None,
            person=person,
            unit=called,
            neighbours=neighbours,
        )

    whole = exact(epsilon)
    unknown = [name for name in columns if table.kinds[name] == "unknown"]
    first = [(None, ask("count", whole * COUNTING, None))] + [
        (name, ask("proportion", whole * TYPING / len(unknown), f"`{name}` is number")) for name in unknown
    ]
    rest = whole - whole * COUNTING - (whole * TYPING if unknown else 0)
    _plan(ask, columns, dict(table.kinds), FULL, rest, delta)  # what cannot be asked is said before anything is paid
    receipt, before = _charged(private, epsilon, delta, columns)
    answers: list[tuple[str, Question, Release[Any] | Groups]] = []
    kinds = dict(table.kinds)
    for name, question in first:
        watch(question.title)
        release = question.answer(table, rng)
        answers.append((name or "", question, release))
        if name is not None:
            kinds[name] = "number" if float(release.value) > 0.5 else "text"  # type: ignore[union-attr]
    people = max(1, int(answers[0][2].value))  # type: ignore[union-attr]
    questions = _feasible(ask, columns, kinds, rest, delta, people)
    for name, question in questions:
        watch(question.title)
        answers.append((name, question, question.answer(table, rng)))
    return _made(table, private, answers, kinds, receipt, before, Budget(epsilon, delta), called, person, neighbours)


def _charged(
    private: Private | None, epsilon: Number, delta: Number, columns: Sequence[str]
) -> tuple[Receipt | None, Any]:
    if private is None:
        return None, None
    before = private.balance
    from discreet.promise.guarantee import Guarantee
    from discreet.promise.loss import Approximate

    guarantee = Guarantee(epsilon, delta, private.neighbours, private.unit)
    note = f"profile of {', '.join(columns)}"[:20_000]
    return private.charge(Approximate(epsilon, delta), guarantee, note), before


Ask = Callable[..., Question]


def _plan(
    ask: Ask, columns: Sequence[str], kinds: dict[str, str], shares: tuple[float, ...], epsilon: Fraction, delta: Number
) -> list[tuple[str, Question]]:
    """One question or two for each column, all together at this price. [SD1]"""
    asked: list[Asked] = []
    for name in columns:
        match kinds[name]:
            case "number" | "whole":
                asked.append((name, "proportion", f"`{name}` is missing", {}, 1))
                q = shares if len(shares) > 1 else shares[0]
                asked.append((name, "quantile", name, {"q": q}, DRAWN * len(shares)))
            case "truth":
                asked.append((name, "histogram", name, {"categories": [True, False]}, 2))
            case "date":
                asked.append((name, "proportion", f"`{name}` is missing", {}, 1))
            case _:
                asked.append((name, "histogram", name, {"delta": None}, 2))
    finders = sum(1 for item in asked if "delta" in item[3])

    def prepared(place: int, share: Number) -> Question:
        _, statistic, about, options, _ = asked[place]
        own = {"delta": exact(delta) / 2 / finders} if "delta" in options else {}
        return ask(statistic, share, about, **options | own)

    priced = price(prepared, [None] * len(asked), [item[4] for item in asked], Budget(epsilon, delta))
    return [(item[0], question) for item, question in zip(asked, priced.questions, strict=True)]


def _feasible(
    ask: Ask, columns: Sequence[str], kinds: dict[str, str], epsilon: Fraction, delta: Number, people: int
) -> list[tuple[str, Question]]:
    """The plan with the most quantiles that so many people can answer, by the released count."""
    for shares in (FULL, QUARTILES, MIDDLE):
        planned = _plan(ask, columns, kinds, shares, epsilon, delta)
        quantiles = [question.mechanism for _, question in planned if question.reading.verb == "quantile"]
        if all(mechanism.answers(round(SAFE * people)) for mechanism in quantiles if isinstance(mechanism, Quantile)):
            break
    return planned


def _made(
    table: Table,
    private: Private | None,
    answers: Sequence[tuple[str, Question, Release[Any] | Groups]],
    kinds: dict[str, str],
    receipt: Receipt | None,
    before: Any,
    spent: Budget,
    unit: str,
    person: str | None,
    neighbours: Neighbours,
) -> dict[str, Any]:
    signed = [answer if receipt is None else answer.signed(str(receipt)) for _, _, answer in answers]
    entries = []
    for place, ((name, question, _), answer) in enumerate(zip(answers, signed, strict=True)):
        entries.append(
            {
                "id": f"{place + 1}",
                "question": question.title,
                "statistic": question.reading.verb,
                "columns": [name] if name else [],
                "kind": kinds.get(name),
                "where": None,
                "by": None,
                "options": {},
                "forecast": None,
            }
            | shown(answer)
        )
    return dossier(
        title=f"A profile of {table.description}",
        description="Types are as declared, or found; nothing else about the table was known beforehand.",
        data={
            "source": table.description,
            "population": None if private is None else private.population,
            "unit": unit,
            "person": person,
            "neighbours": neighbours.value,
            "rows": None,
        },
        entries=entries,
        spent=spent,
        balance=None if private is None else (before, private.balance),
        composition=f"One budget for the whole profile: epsilon {show(spent.epsilon)}, delta {show(spent.delta)}.",
        methods=methods([question for _, question, _ in answers]),
        answers=signed,
        receipt=receipt,
        plan=None,
    )
