"""Which columns a verb reads, and as what: decided by names, options and declared types, before any row is read.

A verb's parameters `x`, `X`, `y` and `data` are columns; by name here. All others are passed on as they are.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal

import numpy as np

from discreet import quick
from discreet.errors import BadInput
from discreet.models.formula import Formula
from discreet.session.terms import Terms
from discreet.tables.per_person import Rule
from discreet.tables.table import Table, Want
from discreet.tables.where import Where

Kind = Literal["number", "truth", "key"]
COLUMNS: Final = ("x", "X", "y", "data")
WHOLE: Final = ("fit", "likelihood", "test_any")  # these keep all rows of a person, in one block
GROUPED: Final = ("count", "proportion", "mean", "variance", "std", "quantile", "median", "histogram")
PUBLIC_GROUPS: Final = ("test_two_means", "test_two_samples", "test_closeness", "test_anova")
VERBS: Final = tuple(name for name in quick.__all__ if name not in PUBLIC_GROUPS)
NAMED: Final = ("linear_regression", "logistic_regression", "poisson_regression", "sgd")
STREAMED: Final = (  # these read a column piece by piece; for others it is held, however long it is
    *(
        "count",
        "proportion",
        "test_proportion",
        "mean",
        "variance",
        "std",
        "quantile",
        "median",
        "gaussian",
        "histogram",
    ),
)
TRUTHS: Final = ("count", "proportion", "test_proportion")
WRONG: Final = {"text": "texts", "date": "dates"}


def verb_of(name: object) -> Callable[..., Any]:
    """A verb by its name."""
    if name in PUBLIC_GROUPS:
        raise BadInput(
            f"{name} is for groups whose members are public; in a table they are not. Ask for the mean with groupby=, "
            "a regression on C(...), test_independence or test_any"
        )
    if name not in VERBS:
        raise BadInput(f"the statistic is {name!r}; give one of {', '.join(VERBS)}")
    verb: Callable[..., Any] = getattr(quick, str(name))
    return verb


@cache
def parameters(verb: str) -> tuple[str, ...]:
    """The names of a verb's parameters; those of `median` and `std` are those of what they call."""
    called = {"median": "quantile", "std": "variance"}.get(verb, verb)
    skipped = ("q",) if verb == "median" else ()
    return tuple(name for name in inspect.signature(verb_of(called)).parameters if name not in skipped)


@cache
def needed(verb: str) -> tuple[str, ...]:
    """The options that a verb has no default for."""
    given = inspect.signature(verb_of({"median": "quantile", "std": "variance"}.get(verb, verb))).parameters
    return tuple(
        name
        for name in parameters(verb)
        if name not in (*COLUMNS, "epsilon") and given[name].default is inspect.Parameter.empty
    )


@dataclass(frozen=True, slots=True)
class Reading:
    """A verb's arguments, columns by name: what is to be read, and how to put it in place."""

    verb: str
    arguments: Mapping[str, Any]
    wants: tuple[Want, ...]
    formula: Formula | None = None

    @property
    def named(self) -> list[str]:
        """The columns, each once."""
        return [want.name for want in self.wants]

    def filled(self, columns: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments with columns in place of their names."""
        given = dict(self.arguments)
        if self.formula is not None:
            return given | {"y": {name: columns[name] for name in self.named}}
        for parameter in COLUMNS:
            if parameter in given:
                given[parameter] = self._column(given[parameter], columns, parameter)
        return given

    def _column(self, reference: Any, columns: Mapping[str, Any], parameter: str) -> Any:
        if reference is None:  # a count of all
            (only,) = columns.values()
            return None if parameter == "y" else np.ones(len(only))
        if isinstance(reference, str):
            one = columns[reference]
            return one.reshape(-1, 1) if parameter == "X" and self.verb in (*NAMED, "kmeans") else one
        return np.column_stack([columns[name] for name in reference])


def reading(table: Table, verb: str, given: tuple[Any, ...], asked: Mapping[str, Any], terms: Terms) -> Reading:
    """Bind the arguments of a verb and look the columns up; BadInput for what does not fit, and no row is read."""
    arguments = _bound(verb, given, asked)
    formula = _formula(verb, arguments)
    if formula is not None:
        if arguments.get("y") is not None:
            raise BadInput("a formula names its own columns; leave y out")
        kinds: dict[str, Kind] = {}
        for factor in formula.factors:
            kinds[factor.name] = "key" if factor.kind == "category" or kinds.get(factor.name) == "key" else "number"
    else:
        kinds = {
            name: _kind(verb, parameter, arguments)
            for parameter in COLUMNS
            for name in _names(arguments.get(parameter), parameter)
        }
        if verb in NAMED and arguments.get("names") is None and not isinstance(arguments.get("X"), str):
            arguments["names"] = list(arguments.get("X", ()))
    if not kinds:
        kinds = {
            next((name for name in table.names if name != terms.groupby), table.names[0]): "key"
        }  # any tells how many
    conditions = {name for name in kinds if verb in TRUTHS and name not in table.names and _condition(table, name)}
    for name, kind in kinds.items():
        if name not in conditions:
            _check(table, name, kind, verb)
    if verb in ("quantile", "median") and arguments.get("granularity") is None and _whole(table, arguments.get("x")):
        arguments["granularity"] = 1  # by declared type: ties are allowed for
    wants = tuple(
        Want(
            name,
            "where" if name in conditions else kind,
            missing="keep" if name in conditions else _policy(terms.missing, name, kind),
            rule=_rule(terms.rule, name, kind),
            cap=terms.cap,
        )
        for name, kind in kinds.items()
    )
    return Reading(verb, arguments, wants, formula)


def _bound(verb: str, given: tuple[Any, ...], asked: Mapping[str, Any]) -> dict[str, Any]:
    names = parameters(verb)
    if len(given) > len(names):
        raise BadInput(f"{verb} takes {', '.join(names[:3])}, ...; {len(given)} arguments were given")
    arguments = dict(zip(names, given, strict=False))
    for name, value in asked.items():
        if name in ("neighbours", "unit", "rng"):
            raise BadInput(f"{name} is the session's, given to discreet.open; leave it out")
        if name not in names:
            raise BadInput(f"{verb} has no option {name!r}; it has {', '.join(names)}")
        if name in arguments:
            raise BadInput(f"{verb} got {name!r} twice; give it once")
        arguments[name] = value
    if verb != "count" and all(arguments.get(name) is None for name in COLUMNS if name != "y"):
        raise BadInput(f"{verb} needs a column; give its name first")
    if verb == "count":
        arguments.setdefault("x", None)
    absent = [name for name in needed(verb) if name not in arguments]
    if absent:
        raise BadInput(f"{verb} needs {', '.join(absent)}; it has {', '.join(names)}")
    return arguments


def _formula(verb: str, arguments: Mapping[str, Any]) -> Formula | None:
    text = arguments.get("X")
    return Formula.read(text) if verb in NAMED[:3] and isinstance(text, str) and "~" in text else None


def _condition(table: Table, text: str) -> bool:
    """Whether a truth is asked for as a condition, "age >= 65", rather than as a column."""
    if not any(letter in text for letter in " `<>=!"):
        return False
    Where.parse(text).check(table.kinds)
    return True


def _names(reference: Any, parameter: str) -> tuple[str, ...]:
    if reference is None:
        return ()
    if isinstance(reference, str):
        return (reference,)
    if isinstance(reference, Sequence) and reference and all(isinstance(name, str) for name in reference):
        if len(set(reference)) != len(reference):
            raise BadInput(f"{parameter} names a column twice: {list(reference)!r}; name each once")
        return tuple(reference)
    raise BadInput(f"{parameter} is {_short(reference)}; give the name of a column, or a list of names")


def _kind(verb: str, parameter: str, arguments: Mapping[str, Any]) -> Kind:
    """As what a column is read."""
    if verb in TRUTHS or (verb == "family" and arguments.get("name") == "bernoulli"):
        return "truth"
    listed = arguments.get("categories") is not None
    if (
        verb == "test_independence"
        or (verb == "histogram" and arguments.get("edges") is None)
        or (verb in ("density", "family") and listed)
        or (verb == "test_fit" and (listed or isinstance(arguments.get("null"), Mapping)))
        or (verb == "test_simple" and isinstance(arguments.get("p"), Mapping))
        or (verb == "logistic_regression" and parameter == "y" and arguments.get("classes") is not None)
    ):
        return "key"
    return "number"


def _check(table: Table, name: str, kind: Kind, verb: str) -> None:
    known(table, name)
    seen = WRONG.get(table.kinds[name])
    if kind == "number" and seen is not None:
        raise BadInput(
            f"{verb} needs numbers and {name!r} is declared to hold {seen}; to read its cells as numbers, open the "
            f"table with types={{{name!r}: 'number'}}"
        )


def known(table: Table, name: object) -> str:
    """The name of a column that is there."""
    if not isinstance(name, str) or name not in table.names:
        there = ", ".join(table.names[:20]) + (", ..." if len(table.names) > 20 else "")
        raise BadInput(f"there is no column {_short(name)}; the table has {there}")
    return name


def _whole(table: Table, name: Any) -> bool:
    return isinstance(name, str) and table.kinds[name] == "whole"


def _policy(missing: Any, name: str, kind: Kind) -> Any:
    """What a missing entry stands for: left out where a number is needed, else kept: no, or a category of its own."""
    chosen = missing.get(name) if isinstance(missing, Mapping) else missing
    return ("drop" if kind == "number" else "keep") if chosen is None else chosen


def _rule(rule: Any, name: str, kind: Kind) -> Rule:
    """What is made of a person's several rows: the mean of numbers, otherwise the first."""
    chosen = rule.get(name) if isinstance(rule, Mapping) else rule
    found: Rule = ("mean" if kind == "number" else "first") if chosen is None else chosen
    return found


def _short(thing: object) -> str:
    seen = repr(thing)
    return seen if len(seen) <= 60 else f"{seen[:57]}..."
