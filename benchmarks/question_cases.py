"""The questions of benchmarks/questions.py: of a session's table, and of rows and columns that are handed in.

Epsilon is large, so that small tables are answered.
"""

import hashlib
import math
import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from discreet.session.columns import GROUPED, WHOLE
from discreet.session.terms import Terms

import discreet
from benchmarks.neighbouring import KINDS, TYPE, Columns, built, crowd, number, one, pair, row_lists
from benchmarks.replayed import Inside, Judged, Pairing, compared, inspected
from benchmarks.sessions import Asking, of_one, prepared
from discreet.engines.local import Local
from discreet.noise.door import Door
from discreet.privacy.neighbours import Neighbours
from discreet.sandbox.sandbox import Sandbox
from discreet.tables.opening import read
from discreet.tables.table import Table

REPLACE, ADD = BOTH = Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE
HERE: Final = Local(workers=0)
MUCH, DELTA = 15.0, 1e-4  # more, and approximate noise on these grids has no delta left
TWICE: Final = {"epsilon": 120.0}  # where a replacement is two steps
MORE: Final = {"epsilon": 20.0, "delta": 3e-3}
BLOCKS: Final = 12


def nosy(x: Any, y: Any = None) -> float:
    """A number that depends on all that a block is given: entries, types, categories, labels of rows."""
    raw = pickle.dumps((x, y, str(getattr(x, "dtypes", getattr(x, "dtype", None)))))
    return int.from_bytes(hashlib.blake2b(raw, digest_size=6).digest()) / 2**48


def close(x: Any, y: Any = None) -> float:
    """The same, in so small a range that answers are given."""
    return 0.5 + nosy(x, y) / 10


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

    def judged(self, kind: str, relation: Neighbours, run: int, rng: np.random.Generator) -> Judged:
        """One pair of neighbouring tables."""
        with inspected(Inside(), boxed=self.boxed):  # a question is rehearsed before it is asked, in a sandbox too
            return self._judged(kind, relation, run, rng)

    def _judged(self, kind: str, relation: Neighbours, run: int, rng: np.random.Generator) -> Judged:
        asking = self.asked[run % len(self.asked)]
        step = step_of(replace(asking, options=dict(asking.options) | dict(self.guessed)), relation)
        if step is not relation:  # two steps: each has half of epsilon
            some = "delta" in asking.options and asking.verb not in GROUPED
            asking = replace(asking, options=dict(asking.options) | (MORE if some else TWICE))
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
        if (first.loss, first.note) != (second.loss, second.note):
            return Judged(["the price, or what is asked, depends on the data"])
        whole = asking.person and asking.verb in WHOLE
        return compared(
            lambda door: first.answer(left, door),
            lambda door: second.answer(right, door),
            run,
            paid=of_one(first),
            pairing=Pairing(slots=whole, hashed=whole) if asking.person else None,
            boxed=self.boxed,
        )


@cache
def _ordinary() -> Table:
    """A table of which any question can be asked."""
    return read(crowd(np.random.default_rng(0), 2000, several=False))


def step_of(asking: Asking, relation: Neighbours) -> Neighbours:
    """What a question's mechanism takes for neighbours: of some people only, a replacement is two steps."""
    if relation is ADD:
        return relation
    question = prepared(asking, _ordinary(), relation)
    if isinstance(question, str) or (question.reading.verb, question.by) == ("count", None):
        return relation
    found: Neighbours = question.asked["neighbours"]
    return found


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

    def judged(self, kind: str, relation: Neighbours, run: int, rng: np.random.Generator) -> Judged:
        """One pair of neighbours."""
        sides = pair(rng, relation, several=self.several, people=self.people + int(rng.integers(20)))
        given = {"epsilon": MUCH, "neighbours": relation, **self.options}

        def asked(columns: Columns) -> Callable[[Door], Any]:
            return lambda door: self.ask(columns, kind, {**given, "rng": door})

        left, right = ({who: place for place, who in enumerate(dict.fromkeys(side["id"]))} for side in sides)
        return compared(
            asked(sides[0]),
            asked(sides[1]),
            run,
            pairing=Pairing(slots=True, numbers=(left, right)) if self.several else None,
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


def _likelihood(columns: Columns, kind: str, given: dict[str, Any]) -> Any:
    return discreet.maximum_likelihood("norm", one(columns, kind, "x"), engine=HERE, **given)


def _test_any(columns: Columns, kind: str, given: dict[str, Any]) -> Any:
    return discreet.custom_test(nosy, _frame(columns, kind, ("x", "whole", "town")), engine=HERE, **given)


def _covariance(columns: Columns, kind: str, given: dict[str, Any]) -> Any:
    return discreet.covariance(_rows(columns, kind), **given)


def _linear(columns: Columns, kind: str, given: dict[str, Any]) -> Any:
    return discreet.linear_regression(_rows(columns, kind), one(columns, kind, "y"), names=["x", "z"], **given)


def _formula(verb: Callable[..., Any], formula: str, columns: Columns, kind: str, given: dict[str, Any]) -> Any:
    return verb(formula, built(columns, kind, ("x", "z", "y", "hits", "town", "flag")), **given)


def _logistic(columns: Columns, kind: str, given: dict[str, Any]) -> Any:
    label = one(columns, kind, "label")
    return discreet.logistic_regression(_rows(columns, kind), label, classes=["no", "yes"], names=["x", "z"], **given)


def _poisson(columns: Columns, kind: str, given: dict[str, Any]) -> Any:
    return discreet.poisson_regression(_rows(columns, kind), one(columns, kind, "hits"), names=["x", "z"], **given)


def _median(columns: Columns, kind: str, given: dict[str, Any]) -> Any:
    return discreet.median(one(columns, kind, "whole"), **given)


def _faced(face: Any, outcome: str, columns: Columns, kind: str, given: dict[str, Any]) -> Any:
    """A face of scikit-learn, with our door behind it."""
    rng, relation = given.pop("rng"), given.pop("neighbours")
    model = face(neighbours=relation.name.lower(), **given)
    object.__setattr__(model, "_door", lambda: rng)
    return model.fit(_rows(columns, kind), one(columns, kind, outcome)).release_


def _linear_face(columns: Columns, kind: str, given: dict[str, Any]) -> Any:
    return _faced(discreet.PrivateLinearRegression, "y", columns, kind, given)


def _logistic_face(columns: Columns, kind: str, given: dict[str, Any]) -> Any:
    face = partial(discreet.PrivateLogisticRegression, classes=("no", "yes"))
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
    "likelihood of a column": Handed(_likelihood, WIDE | SOME, 100),
    "custom_test of a frame": Handed(_test_any, WIDE, 80),
    "covariance of rows": Handed(_covariance, SOME, 150, relations=(REPLACE,)),
    "linear regression of rows": Handed(_linear, LINE, 200, share=0.5),
    "linear regression, formula": Handed(partial(_formula, line, "y ~ x + C(town)"), LINE | LEVELS, 220, share=0.6),
    "linear regression, levels found": Handed(partial(_formula, line, "y ~ x + C(town)"), LINE, 260, share=0.4),
    "logistic regression of rows": Handed(_logistic, {"confidence": None}, 100),
    "logistic regression, formula": Handed(partial(_formula, logit, "flag ~ x + C(town)"), LEVELS | SOME, 100),
    "poisson regression of rows": Handed(_poisson, SOME, 100),
    "median of whole numbers": Handed(_median, {}, 80),
    "linear face": Handed(_linear_face, LINE, 200, share=0.5),
    "logistic face": Handed(_logistic_face, {}, 100),
}

ALL, KEPT, WHERE = Terms(), Terms(missing="keep"), Terms(where="x > -2 or town == 'a'")
BY, FOUND = Terms(groupby="town", keys=["a", "b", "aaa", None]), Terms(groupby="town")
FIRST: Final = Terms(rule="first", missing="keep")


def _askings(verb: str, columns: tuple[Any, ...], options: Mapping[str, Any]) -> tuple[Asking, ...]:
    """The question of all and of some people, of rows and of people with several, in groups where there are any."""
    kept = [(KEPT, False), (KEPT, True), (FIRST, True)]
    terms = kept if verb == "covariance" else [*kept, (ALL, False), (ALL, True), (WHERE, False), (WHERE, True)]
    if verb in GROUPED:
        terms += [(BY, False), (BY, True), (FOUND, False), (FOUND, True)]
    made = []
    for term, person in terms:
        extra = {"delta": DELTA} if term is FOUND else {}
        made.append(Asking(verb, columns, dict(options) | extra, term, person))
    return tuple(made)


def _of_sessions() -> dict[str, Case]:
    blocks = {"epsilon": 60.0, "blocks": BLOCKS, "engine": HERE}
    cells = {"epsilon": 60.0, "blocks": BLOCKS, "trust": "sandbox"}
    pure, some, line = {"epsilon": 60.0}, {"epsilon": MUCH} | SOME, dict(LINE)
    labels = pure | {"classes": ["no", "yes"], "confidence": None}
    asked: dict[str, tuple[str, tuple[Any, ...], Mapping[str, Any], int, float]] = {
        "fit": ("fit", (close, ["x", "z"]), blocks, 80, 1.0),
        "fit in cells": ("fit", (close, "x"), cells | {"names": "number"}, 60, 1.0),
        "likelihood": ("likelihood", ("norm", "x"), blocks, 100, 1.0),
        "custom_test": ("custom_test", (nosy, ["x", "whole"]), blocks, 80, 1.0),
        "custom_test in cells": ("custom_test", (nosy, "x"), cells, 60, 0.7),
        "covariance": ("covariance", (["x", "z"],), some, 150, 0.7),
        "linear_regression": ("linear_regression", (["x", "z"], "y"), line, 300, 0.4),
        "linear_regression, formula": ("linear_regression", ("y ~ x + C(town)",), line | LEVELS, 300, 0.4),
        "logistic_regression": ("logistic_regression", (["x", "z"], "flag"), pure, 100, 1.0),
        "logistic_regression, labels": ("logistic_regression", (["x", "z"], "label"), labels, 100, 1.0),
        "poisson_regression": ("poisson_regression", (["x", "z"], "hits"), some, 120, 0.7),
        "sgd": ("sgd", ("logistic", ["x", "z"], "flag"), some | {"steps": 3}, 100, 1.0),
        "kmeans": ("kmeans", (["x", "z"], 2), some, 220, 0.5),
        "mean": ("mean", ("whole",), pure, 100, 1.0),
        "median": ("median", ("whole",), pure, 80, 1.0),
        "histogram": ("histogram", ("label",), pure | {"categories": ["no", "yes"]}, 100, 1.0),
        "count": ("count", ("flag",), {"epsilon": 1.0}, 100, 1.0),
    }
    found: dict[str, Case] = {
        f"session: {name}": Session(
            _askings(verb, columns, options),
            people,
            share,
            relations=(REPLACE,) if verb == "covariance" else BOTH,
            guessed={"people": people} if verb == "sgd" else {},
        )
        for name, (verb, columns, options, people, share) in asked.items()
    }
    spied = {"epsilon": 60.0, "blocks": 4, "names": "number", "sandbox": Sandbox(seconds=0.2, memory=1 << 28)}
    spy = str(Path(__file__).with_name("spy.py:spy"))
    people = Asking("fit", (spy, "x"), spied, KEPT, person=True)
    found["session: fit in a real sandbox"] = Session((people,), 20, 0.01, kinds=("lists", "pandas"), boxed=True)
    return found


CASES: Final[dict[str, Case]] = {**_of_sessions(), **OF_ROWS}
