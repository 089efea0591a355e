"""The questions of benchmarks/questions.py: of a session's table, and of rows and columns that are handed in.

Every declared statistic is asked both ways, with columns chosen by what it reads. Epsilon is large, so that small
tables are answered.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

import numpy as np

import discreet
from benchmarks.neighbouring import KINDS, TYPE, Columns, built, crowd, number, one, pair, row_lists
from benchmarks.posed import BLOCKS, DELTA, HERE, LABELS, MUCH, PEOPLE, SHARE, asked_of_tables, close, nosy, posed
from benchmarks.replayed import Inside, Judged, Pairing, compared, inspected
from benchmarks.sessions import Asking, half, of_one, one_public_number, prepared, priced, step_of
from discreet.noise.randomness import Door
from discreet.privacy.declaration import declared, homes
from discreet.privacy.guarantee import Guarantee, Neighbours
from discreet.sandbox.sandbox import Sandbox
from discreet.sklearn import PrivateLinearRegression, PrivateLogisticRegression
from discreet.tables.opening import read
from discreet.tables.table import Table
from discreet.tables.wanted import Terms

REPLACE, ADD = BOTH = Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE
TWICE: Final = {"epsilon": 120.0}  # where a replacement is two steps
MORE: Final = {"epsilon": 20.0, "delta": 3e-3}


@dataclass(frozen=True, slots=True)
class Session:
    """Questions of a session's table; a run takes one of them in turn."""

    asked: tuple[Asking, ...]
    people: int = 200
    share: float = 1.0  # of the runs that others have
    kinds: tuple[str, ...] = tuple(KINDS)
    boxed: bool = False  # in a real sandbox
    relations: tuple[Neighbours, ...] = BOTH
    guessed: Mapping[str, Any] = field(default_factory=dict)  # options where the number of people is private
    opened: Callable[..., Table] = read  # how the table is read
    twice: Mapping[str, Any] = field(default_factory=lambda: TWICE)  # options where a replacement is two steps

    def judged(self, kind: str, relation: Neighbours, run: int, rng: np.random.Generator) -> Judged:
        """One pair of neighbouring tables."""
        with inspected(Inside(), boxed=self.boxed):  # a question is rehearsed before it is asked, in a sandbox too
            return self._judged(kind, relation, run, rng)

    def _judged(self, kind: str, relation: Neighbours, run: int, rng: np.random.Generator) -> Judged:
        asking = self.asked[run % len(self.asked)]
        step = _steps(replace(asking, options=dict(asking.options) | dict(self.guessed)), relation)
        if step is not relation:  # two steps: each has half of epsilon
            some = "delta" in asking.options and not declared(asking.verb).groups
            asking = replace(asking, options=dict(asking.options) | dict(MORE if some else self.twice))
        if step is ADD:
            asking = replace(asking, options=dict(asking.options) | dict(self.guessed))
        sides = pair(rng, step, several=asking.person, people=self.people + int(rng.integers(20)))
        types = {name: kind_of for name, kind_of in TYPE.items() if kind_of != "text"} if kind == "text" else {}
        left, right = (self.opened(built(side, kind), types=types) for side in sides)
        questions = [prepared(asking, table, relation) for table in (left, right)]
        first, second = questions
        if isinstance(first, str) or isinstance(second, str):
            same = first == second
            return Judged([] if same else ["whether it can be asked depends on the data"], refused=str(first))
        if priced(first) != priced(second):
            return Judged(["the price, or what is asked, depends on the data"])
        whole = asking.person and declared(asking.verb).blocks
        with one_public_number(step is not relation):
            return compared(
                lambda door: first.answer(left, door),
                lambda door: second.answer(right, door),
                run,
                paid=of_one(first),
                pairing=Pairing(listed=not whole) if asking.person else None,
                boxed=self.boxed,
            )


@cache
def _ordinary() -> Table:
    """A table of which any question can be asked."""
    return read(crowd(np.random.default_rng(0), 2000, several=False))


def _steps(asking: Asking, relation: Neighbours) -> Neighbours:
    """The relation of the pairs that a question is asked about."""
    question = prepared(asking, _ordinary(), relation)
    return relation if isinstance(question, str) else step_of(question)


Ask = Callable[[Columns, str, dict[str, Any]], Any]  # of columns, a container and the options that all verbs take


@dataclass(frozen=True, slots=True)
class Handed:
    """A verb on rows that are handed in."""

    ask: Ask
    options: Mapping[str, Any] = field(default_factory=dict)
    people: int = 240
    several: bool = False  # rows of a person
    share: float = 1.0  # of the runs that others have
    relations: tuple[Neighbours, ...] = BOTH
    kinds: tuple[str, ...] = tuple(KINDS)
    missing: tuple[str, ...] = ("keep", "drop")  # in turn; one alone is what it does anyway
    counts: bool = False  # a count is one step, whoever is left out

    def judged(self, kind: str, relation: Neighbours, run: int, rng: np.random.Generator) -> Judged:
        """One pair of neighbours; every other run leaves out who has a missing entry, which may be two steps."""
        missing = self.missing[run % len(self.missing)]
        steps = 2 if missing == "drop" and relation is REPLACE and not self.counts else 1
        sides = pair(
            rng, ADD if steps == 2 else relation, several=self.several, people=self.people + int(rng.integers(20))
        )
        given = {"epsilon": MUCH, "neighbours": relation, **self.options}
        given |= {"missing": missing} if len(self.missing) > 1 else {}
        if steps == 2:
            given |= MORE if "delta" in given else {"epsilon": 2 * given["epsilon"]}

        def asked(columns: Columns) -> Callable[[Door], Any]:
            return lambda door: self.ask(columns, kind, {**given, "rng": door})

        left, right = ({who: place for place, who in enumerate(dict.fromkeys(side["id"]))} for side in sides)
        with one_public_number(steps == 2):
            return compared(
                asked(sides[0]),
                asked(sides[1]),
                run,
                paid=half(Guarantee(given["epsilon"], given.get("delta", 0.0))) if steps == 2 else None,
                pairing=Pairing(listed=False, numbers=(left, right)) if self.several else None,
            )


Case = Session | Handed


def _rows(columns: Columns, kind: str, names: Sequence[str] = ("x", "z")) -> Any:
    """Rows and columns; of lists a list of lists."""
    if kind == "lists":
        return row_lists(columns, names)
    if kind == "text":  # an array that holds texts is refused as such
        return np.array(row_lists(columns, names), dtype=object)
    return built(columns, kind, names)


def _floats(columns: Columns, names: Sequence[str] = ("x", "z")) -> Any:
    """An array of numbers."""
    cells = [[math.nan if number(cell) is None else number(cell) for cell in columns[name]] for name in names]
    return np.array(cells, dtype=np.float64).T


def _frame(columns: Columns, kind: str, names: Sequence[str]) -> Any:
    """A frame, or one column where there is none of that kind."""
    made = built(columns, kind, names)
    return made if hasattr(made, "iloc") else one(columns, kind, names[0])


def _fit_labels(columns: Columns, kind: str, given: dict[str, Any]) -> Any:
    from sklearn.linear_model import LogisticRegression

    label = one(columns, kind, "label")
    return discreet.fit(LogisticRegression(C=np.inf), _floats(columns), label, engine=HERE, **given)


def _fit_line(columns: Columns, kind: str, given: dict[str, Any]) -> Any:
    from sklearn.linear_model import LinearRegression

    return discreet.fit(LinearRegression(), _floats(columns), one(columns, kind, "y"), engine=HERE, **given)


def _fit_frame(columns: Columns, kind: str, given: dict[str, Any]) -> Any:
    return discreet.fit(close, _frame(columns, kind, ("x", "whole", "town")), engine=HERE, **given)


def _fit_people(columns: Columns, kind: str, given: dict[str, Any]) -> Any:
    names = one(columns, kind, "id")
    return discreet.fit(close, _frame(columns, kind, ("x", "town")), engine=HERE, unit=names, **given)


def _fit_cells(columns: Columns, kind: str, given: dict[str, Any]) -> Any:
    frame = _frame(columns, kind, ("x", "town"))
    return discreet.fit(close, frame, one(columns, kind, "label"), trust="sandbox", **given)


def _fit_cells_people(columns: Columns, kind: str, given: dict[str, Any]) -> Any:
    frame, names = _frame(columns, kind, ("x", "town")), one(columns, kind, "id")
    return discreet.fit(close, frame, unit=names, trust="sandbox", **given)


def _custom_test(columns: Columns, kind: str, given: dict[str, Any]) -> Any:
    return discreet.custom_test(nosy, _frame(columns, kind, ("x", "whole", "town")), engine=HERE, **given)


def _called(name: str, columns: Columns, kind: str, given: dict[str, Any]) -> Any:
    """A statistic as a function of arrays; groups of people that are public are told apart by their ids."""
    statistic, arguments = declared(name), posed(name) | given
    if statistic.samples:
        reads = statistic.reads(next(iter(statistic.columns)), arguments)
        groups = [one(part, kind, "label" if reads.kind == "category" else "x") for part in _halves(columns)]
        options = {option: value for option, value in arguments.items() if option not in statistic.columns}
        return getattr(discreet, name)(*groups, **options)
    for parameter in statistic.columns:
        reference = arguments.get(parameter)
        if isinstance(reference, str):
            arguments[parameter] = one(columns, kind, reference)
        elif reference is not None:
            arguments[parameter] = _rows(columns, kind, reference)
            width = {"names": list(reference), "columns": len(reference)}
            arguments |= {option: width[option] for option in width if option in statistic.options}
    return getattr(discreet, name)(**arguments)


def _halves(columns: Columns) -> list[Columns]:
    """The people whose ids end in an even digit, and the others."""
    chosen = [[who[-1] in "02468" for who in columns["id"]], [who[-1] not in "02468" for who in columns["id"]]]
    return [
        {name: [cell for cell, mine in zip(cells, part, strict=True) if mine] for name, cells in columns.items()}
        for part in chosen
    ]


def _formula(verb: Callable[..., Any], formula: str, columns: Columns, kind: str, given: dict[str, Any]) -> Any:
    return verb(formula, built(columns, kind, ("x", "z", "y", "hits", "town", "flag")), **given)


def _faced(face: Any, outcome: str, columns: Columns, kind: str, given: dict[str, Any]) -> Any:
    """A face of scikit-learn, with our door behind it."""
    rng, relation = given.pop("rng"), given.pop("neighbours")
    model = face(neighbours=relation.name.lower(), **given)
    object.__setattr__(model, "_door", lambda: rng)
    return model.fit(_rows(columns, kind), one(columns, kind, outcome)).release_


def _linear_face(columns: Columns, kind: str, given: dict[str, Any]) -> Any:
    return _faced(PrivateLinearRegression, "y", columns, kind, given)


def _logistic_face(columns: Columns, kind: str, given: dict[str, Any]) -> Any:
    face = partial(PrivateLogisticRegression, classes=("no", "yes"))
    return _faced(face, "label", columns, kind, given)


LEVELS: Final = {"levels": {"town": ["a", "b", "c"]}}
WIDE: Final = {"blocks": BLOCKS, "epsilon": 60.0}
NAMED: Final = WIDE | {"names": "number"}
SOME: Final = {"delta": DELTA}
LINE: Final = SOME | {"epsilon": 22.0}
line, logit = discreet.linear_regression, discreet.logistic_regression
OF_ROWS: Final[Mapping[str, Case]] = {
    "fit of labels": Handed(_fit_labels, WIDE, 260, share=0.7),
    "fit of a line": Handed(_fit_line, WIDE, 200),
    "fit of a frame": Handed(_fit_frame, NAMED, 120),
    "fit of people": Handed(_fit_people, NAMED, 120, several=True),
    "fit in cells": Handed(_fit_cells, NAMED, 80),
    "fit of people in cells": Handed(_fit_cells_people, NAMED, 80, several=True),
    "custom_test of a frame": Handed(_custom_test, WIDE, 80),
    "linear regression, formula": Handed(partial(_formula, line, "y ~ x + C(town)"), LINE | LEVELS, 220, share=0.6),
    "linear regression, levels found": Handed(partial(_formula, line, "y ~ x + C(town)"), LINE, 260, share=0.4),
    "logistic regression, formula": Handed(partial(_formula, logit, "flag ~ x + C(town)"), LEVELS | SOME, 100),
    "linear face": Handed(_linear_face, LINE, 200, share=0.5, missing=("drop",)),
    "logistic face": Handed(_logistic_face, {}, 100, missing=("drop",)),
    **{
        f"function: {name}": Handed(
            partial(_called, name),
            {option: value for option, value in posed(name).items() if option in ("epsilon", "delta")},
            PEOPLE.get(name, 100),
            share=SHARE.get(name, 1.0),
            counts=name == "count",
        )
        for name in homes()
    },
}

ALL, KEPT, WHERE = Terms(), Terms(missing="keep"), Terms(where="x > -2 or town == 'a'")
BY, FOUND = Terms(groupby="town", keys=["a", "b", "aaa", None]), Terms(groupby="town")
CROSSED: Final = Terms(groupby=["town", "label"], keys=[["a", "b", None], ["yes", "no"]])
TUPLES: Final = Terms(groupby=["town", "label"])
FIRST: Final = Terms(per_person="first", missing="keep")


def _askings(verb: str, arguments: Mapping[str, Any]) -> tuple[Asking, ...]:
    """The question of all and of some people, of rows and of people with several, in groups where there are any."""
    terms = [(KEPT, False), (KEPT, True), (FIRST, True), (ALL, False), (ALL, True), (WHERE, False), (WHERE, True)]
    if declared(verb).groups:
        terms += [(BY, False), (BY, True), (FOUND, False), (FOUND, True), (CROSSED, False), (CROSSED, True)]
        terms += [(TUPLES, False), (TUPLES, True)]
    made = []
    for term, person in terms:
        extra = {"delta": DELTA} if term in (FOUND, TUPLES) else {}
        made.append(Asking(verb, (), dict(arguments) | extra, term, person))
    return tuple(made)


def _of_sessions() -> dict[str, Case]:
    cells = {"trust": "sandbox", "engine": None}
    asked: dict[str, tuple[str, Mapping[str, Any]]] = {one.name: (one.name, {}) for one in asked_of_tables()} | {
        "fit in cells": ("fit", cells),
        "custom_test in cells": ("custom_test", cells),
        "custom_test of two": ("custom_test", {"X": ["x", "whole"]}),
        "linear_regression, formula": ("linear_regression", {"X": "y ~ x + C(town)", "y": None} | LEVELS),
        "logistic_regression, labels": ("logistic_regression", {"y": "label", "classes": LABELS, "confidence": None}),
    }
    found: dict[str, Case] = {
        f"session: {name}": Session(
            _askings(verb, posed(verb) | dict(more)),
            PEOPLE.get(verb, 100),
            SHARE.get(verb, 1.0),
            guessed={"size": PEOPLE.get(verb, 100)} if "size" in declared(verb).options else {},
        )
        for name, (verb, more) in asked.items()
    }
    for verb in ("mean", "sum", "variance", "std"):  # at so small an epsilon that groups are pooled
        small = {"x": "x", "epsilon": 3.0}
        asking = [Asking(verb, (), small, term, person) for term in (BY, CROSSED) for person in (False, True)]
        found[f"session: {verb} of small groups"] = Session(tuple(asking), 240, twice={"epsilon": 6.0})
    spied = {"epsilon": 60.0, "blocks": 4, "names": "number", "sandbox": Sandbox(seconds=0.2, memory=1 << 28)}
    spy = str(Path(__file__).with_name("spy.py:spy"))
    people = Asking("fit", (spy, "x"), spied, KEPT, person=True)
    found["session: fit in a real sandbox"] = Session((people,), 20, 0.01, kinds=("lists", "pandas"), boxed=True)
    return found


CASES: Final[dict[str, Case]] = {**_of_sessions(), **OF_ROWS}
