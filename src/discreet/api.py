"""`discreet.mean(x, epsilon=1)`: every declared statistic as a function of a caller's own arrays.

The arrays become a table, and the question is asked of it as a session asks one: the same columns, read in the same
way, with the same missing entries left out, by the same mechanism. Nothing is charged: that is the session's business.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np

from discreet.asking import HALVED, Price, labelled, prepare, price
from discreet.errors import BadInput, meant
from discreet.privacy.declaration import Columns, Kind, Statistic, declared
from discreet.privacy.guarantee import check_budget
from discreet.privacy.mechanism import Randomness, check_machine
from discreet.privacy.parameters import documented, untyped
from discreet.privacy.people import OneWord, People
from discreet.privacy.release import Release
from discreet.tables.entries import column, key, numbers
from discreet.tables.frames import Held, check_numbers, from_mapping
from discreet.tables.streams import check_held
from discreet.tables.table import Table
from discreet.tables.wanted import OWN, Terms

UNKNOWN: Final[Kind] = "unknown"
OURS: Final = ("neighbours", "unit", "missing", "rng")  # options of every function
DEFAULTS: Final = {"neighbours": "add_or_remove", "unit": None, "missing": "drop", "rng": None}
ALIKE: Final = 0.85  # how alike a unit and a column are written, where the column was probably meant


def door(rng: Any) -> Randomness:
    """Secret noise, unless other was given."""
    if rng is None:
        from discreet.noise.randomness import Secure

        return Secure()
    if not hasattr(rng, "blur"):
        raise BadInput(f"rng is {rng!r}; leave it out for secret noise, or give Seeded(1) in a test")
    found: Randomness = rng
    return found


@dataclass(frozen=True, slots=True)
class Posed:
    """A statistic of a caller's arrays: its price, and how it is answered."""

    price: Price
    answer: Callable[[Randomness], Release[Any]]


def ask(statistic: Statistic, given: tuple[Any, ...], options: Mapping[str, Any]) -> Release[Any]:
    """The release of a statistic on a caller's arrays."""
    rng = door(options.get("rng"))
    return posed(statistic, given, options).answer(rng)


def posed(statistic: Statistic, given: tuple[Any, ...], options: Mapping[str, Any]) -> Posed:
    """A statistic on a caller's arrays, priced and not yet answered."""
    ours = DEFAULTS | {name: value for name, value in options.items() if name in OURS}
    own = {name: value for name, value in options.items() if name not in OURS or name in statistic.options}
    arguments = statistic.bind(given, own)
    if statistic.samples:
        return _of_samples(statistic, ours, arguments)
    unit, owners = ours["unit"], None
    if statistic.blocks:
        arguments, owners = _owned(statistic, arguments, unit)
    people = People.of(None, None if owners is not None else unit, ours["neighbours"])
    if owners is not None:
        people = People(OWN + "unit", "person", people.neighbours)
    table, named, facts = given_table(statistic, arguments, owners)
    if isinstance(unit, str) and unit in table.names:
        raise BadInput(
            f"unit is {unit!r}, which is a column here, and a text only says what one row is. For people with "
            f"several rows open a session with person={unit!r}; if each has one, give another word"
        )
    question = prepare(table, people, statistic, named, terms=Terms(missing=ours["missing"]), facts=facts)
    promised = question.price.mechanism.guarantee
    check_budget(promised.epsilon, promised.delta, question.price.size)
    check_machine(question.price.mechanism)

    def answer(rng: Randomness) -> Release[Any]:
        return question.answer(table, rng)  # type: ignore[return-value]  # of several dates one for each

    return Posed(question.price, answer)


def _owned(statistic: Statistic, arguments: dict[str, Any], unit: Any) -> tuple[dict[str, Any], Any]:
    """The arguments without the column that says whose row each is, and that column; `unit` is one, or names one."""
    if unit is None or not isinstance(unit, str):
        if unit is not None and (isinstance(unit, bytes) or not isinstance(unit, Iterable) or is_table(unit)):
            raise BadInput(
                f"unit is of type {type(unit).__name__}; give the name of a column of the table, or one column that "
                "says whose row each is"
            )
        return arguments, unit
    first = next(iter(statistic.columns))
    held = opened(arguments[first]) if _has_names(arguments.get(first)) else None
    if held is None or unit not in held.names:
        if held is not None and (near := meant(unit, held.names, ALIKE)):  # or a row would be protected, and no person
            raise BadInput(
                f"unit is {unit!r}, which is no column; {near}If a row is what is protected, give another word for it"
            )
        return arguments, None
    if len(held.names) == 1:
        raise BadInput(
            f"the table has no column besides {unit!r}, which says whose row each is; give at least one more"
        )
    others = {name: held.held[name] for name in held.names if name != unit}
    return {**arguments, first: others}, held.held[unit]


def given_table(
    statistic: Statistic, arguments: Mapping[str, Any], owners: Any = None
) -> tuple[Table, dict[str, Any], dict[str, Columns]]:
    """A table of the arrays that were given, the arguments with names in their place, and what is known of them.

    `owners` is a column that says whose row each is, where people may have several.
    """
    named, facts = dict(arguments), {}
    columns: dict[str, Any] = {}
    known: dict[str, Kind] = {}
    for parameter in statistic.columns:
        value, reads = arguments.get(parameter), statistic.reads(parameter, arguments)
        kept = reads.width == "several" or (
            reads.width == "either" and statistic.blocks
        )  # for an estimator, as it came
        value = value if kept else one_column(value)
        if value is None:
            if not reads.optional:
                raise BadInput(f"{statistic.name} needs {parameter}; give a column: a list, an array or a series")
            continue
        if statistic.formula is not None and isinstance(value, str) and "~" in value:
            return _framed(statistic, arguments, parameter)
        alone = not columns and len(statistic.needed & statistic.columns.keys()) < 2
        if not (reads.streams and alone) or reads.kind == "category":
            check_held(value)
        if reads.width == "one" or (reads.width == "either" and not is_table(value)):
            columns[OWN + parameter] = _single(value, parameter, statistic)
            named[parameter] = OWN + parameter
            continue
        if _has_names(value):
            held = opened(value)
            clash = [name for name in held.names if name in columns]
            if clash:
                raise BadInput(f"two columns are called {clash[0]!r}; give each its own name")
            columns |= {name: held.held[name] for name in held.names}
            named[parameter] = list(held.names)
            known |= held.kinds
            facts[parameter] = Columns(held.names, tuple(held.kinds.values()), several=True, frame=True)
            continue
        from discreet.tables.matrix import in_one, matrix

        width = next((option for option in ("names", "columns") if option in statistic.options), "")
        rows = in_one(matrix(value, _declared_width(arguments), declared=width))
        columns[OWN + parameter] = rows
        named[parameter] = OWN + parameter
        names = tuple(f"x{place}" for place in range(rows.shape[1]))
        facts[parameter] = Columns(names, tuple(UNKNOWN for _ in names), several=True, named=False)
    if not columns:
        raise BadInput(f"{statistic.name} needs data; give a column: a list, an array or a series")
    columns |= {} if owners is None else {OWN + "unit": one_column(owners)}
    lengths = {name: len(values) if hasattr(values, "__len__") else None for name, values in columns.items()}
    different = [name for name, length in lengths.items() if length != next(iter(lengths.values()))]
    if different and None not in lengths.values():
        first = next(iter(lengths))
        raise BadInput(
            f"{first.removeprefix(OWN)} has {lengths[first]} rows and {different[0].removeprefix(OWN)} has "
            f"{lengths[different[0]]}; each row needs an entry in both"
        )
    source = from_mapping(columns)
    for parameter, reference in named.items():
        if parameter in statistic.columns and parameter not in facts and isinstance(reference, str):
            called = getattr(arguments[parameter], "name", None)  # of a series
            facts[parameter] = Columns(
                (called if isinstance(called, str) and called else parameter,), (source.kinds[reference],)
            )
    return Table(source, {**source.kinds, **known}), named, facts


def _framed(
    statistic: Statistic, arguments: Mapping[str, Any], parameter: str
) -> tuple[Table, dict[str, Any], dict[str, Columns]]:
    """A formula and the frame that has its columns."""
    other = next((name for name in statistic.columns if name != parameter), None)
    frame = None if other is None else arguments.get(other)
    if frame is None or not _has_names(frame):
        raise BadInput(
            f"{parameter} is a formula, so {other} must have its columns: a data frame, an Arrow table or a dictionary "
            f"of columns, not {type(frame).__name__}"
        )
    held = opened(frame)
    named = {**arguments, str(other): None}
    given = [name for name in statistic.columns if name not in (parameter, other) and arguments.get(name) is not None]
    own = {name: one_column(arguments[name]) for name in given if not isinstance(arguments[name], str)}
    if not own:  # those that are names are columns of the frame
        return Table(held, held.kinds), named, {}
    for name, values in own.items():
        if len(values) != held.length:
            raise BadInput(
                f"{other} has {held.length} rows and {name} has {len(values)}; each row needs an entry in both"
            )
    whole = from_mapping({name: held.held[name] for name in held.names} | {OWN + name: own[name] for name in own})
    return Table(whole, {**whole.kinds, **held.kinds}), named | {name: OWN + name for name in own}, {}


def opened(frame: Any) -> Held:
    """A frame of pandas, polars or Arrow, or a dictionary of columns, by name."""
    from discreet.tables.frames import from_frame

    return frame.held() if isinstance(frame, Table) else from_frame(frame)


def _has_names(value: Any) -> bool:
    """Whether these are named columns."""
    framed = hasattr(value, "columns") or hasattr(value, "num_columns")
    return isinstance(value, Mapping | Table) or (framed and hasattr(value, "shape"))


def _single(value: Any, parameter: str, statistic: Statistic) -> Any:
    """One column as it is; a table is refused."""
    if getattr(getattr(value, "dtype", None), "kind", "") == "V":
        raise BadInput(f"{parameter} holds records; give a frame with columns")
    if isinstance(value, str) and parameter not in statistic.positional:
        raise BadInput(f"{parameter} is the text {value!r}; give the column itself, or a formula and its frame")
    if is_table(value):
        example = f"{parameter}[{next(iter(opened(value).names), '')!r}]" if _has_names(value) else f"{parameter}[:, 0]"
        raise BadInput(f"{parameter} has several columns; {statistic.name} takes one, for example {example}")
    return value


def one_column(value: Any) -> Any:
    """The column of a table that is declared to have a single one, df[["age"]] or y.to_frame(); else as it is."""
    if not is_table(value):
        return value
    if _has_names(value):
        held = opened(value)
        return held.held[held.names[0]] if len(held.names) == 1 else value
    return value[:, 0] if getattr(value, "shape", (0, 0))[1:] == (1,) else value


def is_table(value: Any) -> bool:
    """By declared shape: two dimensions, or columns."""
    return getattr(value, "ndim", 1) == 2 or _has_names(value)


def _declared_width(arguments: Mapping[str, Any]) -> int | None:
    """How many columns a list of rows is declared to have: no row's own length may decide it."""
    names, columns = arguments.get("names"), arguments.get("columns")
    if isinstance(names, list | tuple):
        return len(names)
    return columns if isinstance(columns, int) and not isinstance(columns, bool) else None


def _of_samples(statistic: Statistic, ours: Mapping[str, Any], arguments: Mapping[str, Any]) -> Posed:
    """Several groups of people; with missing="keep" a missing entry is what the test makes of it."""
    people = People.of(None, ours["unit"], ours["neighbours"])
    given = arguments.get(statistic.loose) if statistic.loose is not None else None
    parts = (
        {f"{statistic.loose}{place}": one for place, one in enumerate(given)}
        if given is not None
        else {name: arguments[name] for name in statistic.columns}
    )
    parts = {name: one_column(one) for name, one in parts.items()}
    by_category = any(statistic.reads(name, arguments).kind == "category" for name in statistic.columns)
    for one in parts.values() if not by_category else ():
        check_numbers(one)
    read = {name: column(one).astype(object) if by_category else numbers(one) for name, one in parts.items()}
    drops = isinstance(ours["missing"], str) and ours["missing"] == "drop"
    if not drops and ours["missing"] != "keep":
        raise BadInput(f"missing is {ours['missing']!r}; groups of people take 'drop' or 'keep'")
    if drops:
        read = {name: values[~_absent(values)] for name, values in read.items()}
    public = people.neighbours.size_is_public and not drops
    facts = {
        name: Columns((name,), ("unknown",), size=len(values) if public else None) for name, values in read.items()
    }
    options = {name: value for name, value in arguments.items() if name not in (*statistic.columns, statistic.loose)}
    total = sum(len(values) for values in read.values())
    priced = price(statistic, people, facts, options, part=drops, size=lambda: total)
    check_budget(priced.guarantee.epsilon, priced.guarantee.delta, priced.size)
    notes, word = [HALVED] if priced.halved else [], OneWord(people.unit, people.units, str(options))

    def answered(rng: Randomness) -> Release[Any]:
        return word.of(labelled(priced.mechanism.release(statistic.rows(read), rng), priced.guarantee, notes, None))

    return Posed(priced, answered)


def _absent(values: Any) -> Any:
    """Which entries of a sample are missing."""
    if values.dtype.kind == "f":
        return np.isnan(values)
    return np.array([key(entry) is None for entry in values], dtype=np.bool_)


@cache
def function(name: str) -> Callable[..., Release[Any]]:
    """A statistic as a function, with its own signature and docstring."""
    statistic = declared(name)

    def asked(*given: Any, **options: Any) -> Release[Any]:
        return ask(statistic, given, options)

    asked.__name__ = asked.__qualname__ = name
    asked.__module__ = "discreet"
    own = statistic.signature
    extra = [
        inspect.Parameter(each, inspect.Parameter.KEYWORD_ONLY, default=DEFAULTS[each])
        for each in OURS
        if each not in own.parameters
    ]
    shown = own.replace(parameters=[*own.parameters.values(), *extra])
    asked.__signature__ = untyped(shown)  # type: ignore[attr-defined]
    asked.__doc__ = documented(statistic, shown)
    return asked
