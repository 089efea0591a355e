"""A statistic is declared once; the function, the session's method, the plan entry and the tests follow from it.

A declaration is a function from public facts to a mechanism:

    @statistic(columns={"x": Number(streams=True)}, groups=True)
    def mean(people: Public, x: Columns, *, epsilon: Number, ...) -> Mechanism[float]: ...

`people` holds what may be known before a row is read; a parameter named in `columns` receives the facts about its
columns (names and declared kinds), never their entries. Everything after `*` is an option of the statistic.
"""

import ast
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np

from discreet.errors import BadInput, meant
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.mechanism import Mechanism

Kind = Literal[
    "number", "integer", "boolean", "category", "text", "date", "unknown"
]  # what a column is declared to hold
FOLDERS: Final = ("statistics", "hypotheses", "models", "subsample")  # where statistics are declared
HEAD: Final = re.compile(r"^@statistic\b.*?^def (\w+)\(", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Reads:
    """How the columns of a parameter are read: as what, and whether one or several.

    `streams`: a long column may come in pieces. `sample`: a group of people of its own, whose members are public.
    `dates`: of one column of dates the answer is a date, or counts by dates. `condition`: a condition may stand for a
    column, as 1 where it holds and 0 where not.
    """

    kind: Literal["number", "boolean", "category", "any"]
    width: Literal["one", "several", "either"] = "one"
    streams: bool = False
    optional: bool = False
    sample: bool = False
    dates: bool = False
    condition: bool = False


def number(
    width: Literal["one", "several", "either"] = "one",
    *,
    streams: bool = False,
    optional: bool = False,
    sample: bool = False,
    dates: bool = False,
    condition: bool = False,
) -> Reads:
    """Columns of numbers."""
    return Reads("number", width, streams, optional, sample, dates, condition)


def boolean(*, streams: bool = False, optional: bool = False, sample: bool = False) -> Reads:
    """A column of yes and no; of numbers 1 alone is yes."""
    return Reads("boolean", "one", streams, optional, sample, condition=True)


def category(*, streams: bool = False, optional: bool = False, sample: bool = False) -> Reads:
    """A column of categories."""
    return Reads("category", "one", streams, optional, sample)


@dataclass(frozen=True, slots=True)
class Columns:
    """The public facts about the columns of a parameter.

    `named` is False for an array, whose columns are called x0, x1 and so on. `size` is the number of people of a
    sample whose members are public, else None. `formula` is the text of one, whose columns these are. `frame`: they
    came as a data frame. `condition`: it is one, 1 for whom it holds, else 0.
    """

    names: tuple[str, ...]
    kinds: tuple[Kind, ...]
    several: bool = False
    named: bool = True
    size: int | None = None
    formula: str | None = None
    frame: bool = False
    condition: bool = False

    @property
    def name(self) -> str:
        """Of a single column."""
        return self.names[0]

    @property
    def integers(self) -> bool:
        """Whether the column is declared to hold whole numbers."""
        return self.kinds == ("integer",)


@dataclass(frozen=True, slots=True)
class Public:
    """What may be known before a row is read: the relation, what a row is called, and the size where it is public.

    `schema` is, for statistics on blocks, a table of the same columns whose rows are not looked at.
    """

    neighbours: Neighbours
    unit: str
    size: int | None = None
    schema: Any = None


Rows = Callable[[Mapping[str, Any]], Any]
Reading = Reads | Callable[[Mapping[str, Any]], Reads]


def only(columns: Mapping[str, Any]) -> Any:
    """The one column, or the table, that a statistic is about."""
    (rows,) = columns.values()
    return rows


def stacked(columns: Mapping[str, Any]) -> Any:
    """Features and outcome side by side, the outcome last."""
    return np.column_stack(list(columns.values()))


def grouped(columns: Mapping[str, Any]) -> Any:
    """Samples one after the other: the number of each row's sample, and its value."""
    parts = [np.asarray(part) for part in columns.values()]
    which = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    if any(part.dtype.kind == "O" for part in parts):
        rows = np.empty(len(which), dtype=object)
        rows[:] = [(int(group), entry) for group, entry in zip(which, np.concatenate(parts), strict=True)]
        return rows
    return np.column_stack([which, np.concatenate(parts)])


def values_of(rows: Any) -> Any:
    """The values of `grouped` rows, sample after sample."""
    return rows[:, 1] if rows.ndim == 2 else np.array([entry for _, entry in rows], dtype=object)


@dataclass(frozen=True, kw_only=True, eq=False)
class Statistic:
    """A declared statistic. `make` gives the mechanism for public facts and options.

    `rows` puts the columns together as the mechanism takes them; `groups` says that it may be asked by group; `blocks`
    that it keeps all rows of a person together, in one block; `code` that it runs code, which a plan cannot hold;
    `formula` reads the columns off a formula, where one may be given;
    `wants_delta` that, with these options and columns, it needs a delta above 0; `world` makes up data for forecasts.
    """

    name: str
    make: Callable[..., Mechanism[Any]]
    columns: Mapping[str, Reading]
    rows: Rows = only
    groups: bool = False
    blocks: bool = False
    code: bool = False
    formula: Callable[[str], Mapping[str, Reads]] | None = None
    wants_delta: Callable[[Mapping[str, Any], Mapping[str, Columns | None]], bool] | None = None
    world: Any = None

    @cached_property
    def signature(self) -> inspect.Signature:
        """Of the declared function, without `people`."""
        found = inspect.signature(self.make)
        return found.replace(parameters=list(found.parameters.values())[1:])

    @cached_property
    def loose(self) -> str | None:
        """The parameter that takes any number of samples, if there is one."""
        found = [one.name for one in self.signature.parameters.values() if one.kind is one.VAR_POSITIONAL]
        return found[0] if found else None

    @cached_property
    def options(self) -> tuple[str, ...]:
        """The names of what is not a column."""
        return tuple(name for name in self.signature.parameters if name not in self.columns)

    @cached_property
    def shown(self) -> dict[str, str]:
        """The arguments of the call in its docstring's example, as they are written there."""
        text = inspect.cleandoc(self.make.__doc__ or "")
        lines = [line[4:] for line in text.splitlines() if line.startswith((">>> ", "... "))]
        for node in ast.walk(ast.parse("\n".join(lines))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == f"discreet.{self.name}":
                given = dict(zip(self.signature.parameters, map(ast.unparse, node.args), strict=False))
                return given | {str(one.arg): ast.unparse(one.value) for one in node.keywords}
        return {}

    @cached_property
    def samples(self) -> bool:
        """Whether its groups of people are public: then it is no question about one table."""
        return any(self.reads(name, {}).sample for name in self.columns)

    def reads(self, parameter: str, options: Mapping[str, Any]) -> Reads:
        """How the columns of a parameter are read, given the options."""
        found = self.columns[parameter]
        return found(options) if callable(found) else found

    def needs_delta(self, options: Mapping[str, Any], columns: Mapping[str, Columns | None]) -> bool:
        """Whether it has no answer at delta 0, by options and columns."""
        delta = self.signature.parameters.get("delta")
        if delta is None:
            return False
        asked = delta.default is inspect.Parameter.empty
        return asked or (self.wants_delta is not None and self.wants_delta(options, columns))

    @cached_property
    def positional(self) -> tuple[str, ...]:
        """What may be given by position."""
        return tuple(name for name, one in self.signature.parameters.items() if one.kind is not one.KEYWORD_ONLY)

    @cached_property
    def needed(self) -> frozenset[str]:
        """What has to be given."""
        given = {name for name, one in self.signature.parameters.items() if one.default is one.empty}
        return frozenset(given - {name for name in self.columns if self.reads(name, {}).optional})

    def bind(self, given: Sequence[Any], options: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments by name; BadInput for what does not fit."""
        parameters = self.signature.parameters
        if self.loose is None and len(given) > len(self.positional):
            raise BadInput(
                f"{self.name} takes {', '.join(self.positional)} by position; {len(given)} were given. Name the "
                f"options: {', '.join(name for name in parameters if name not in self.positional)}"
            )
        arguments = (
            dict(zip(self.positional, given, strict=False)) if self.loose is None else {self.loose: tuple(given)}
        )
        for name, value in options.items():
            if name not in parameters:
                grouped = self.groups and name in ("groupby", "keys", "groups", "by", "levels")
                hint = "; groups are asked for in a session: groupby= a column, keys= the list of its groups"
                near = "" if grouped else meant(name, parameters)
                raise BadInput(
                    f"{self.name} has no option {name!r}; {near}{'I' if near else 'i'}t has {', '.join(parameters)}"
                    f"{hint if grouped else ''}"
                )
            if name in arguments:
                raise BadInput(f"{self.name} got {name!r} twice; give it once")
            arguments[name] = value
        given_x = arguments.get("X")
        takes = self.formula is not None or "formula" in parameters or "y" not in self.columns
        if isinstance(given_x, str) and "~" in given_x and not takes:
            raise BadInput(f"{self.name} takes no formula; give the columns as X and the outcome as y")
        if not self.needed <= arguments.keys():
            from discreet.privacy.parameters import meaning

            absent = [name for name in parameters if name in self.needed and name not in arguments]
            means = "".join(f"\n  {name}: {meaning(self, name)}" for name in absent)
            raise BadInput(f"{self.name} needs {', '.join(absent)}; it takes {', '.join(parameters)}{means}")
        return arguments


_DECLARED: Final[dict[str, Statistic]] = {}


def statistic(
    columns: Mapping[str, Reading],
    *,
    rows: Rows = only,
    groups: bool = False,
    blocks: bool = False,
    code: bool = False,
    formula: Callable[[str], Mapping[str, Reads]] | None = None,
    wants_delta: Callable[[Mapping[str, Any], Mapping[str, Columns | None]], bool] | None = None,
    world: Any = None,
) -> Callable[[Callable[..., Mechanism[Any]]], Callable[..., Mechanism[Any]]]:
    """Declare a statistic under the function's name; the function stays what it is."""

    def declare(make: Callable[..., Mechanism[Any]]) -> Callable[..., Mechanism[Any]]:
        _DECLARED[make.__name__] = Statistic(
            name=make.__name__,
            make=make,
            columns=columns,
            rows=rows,
            groups=groups,
            blocks=blocks,
            code=code,
            formula=formula,
            wants_delta=wants_delta,
            world=world,
        )
        return make

    return declare


@cache
def homes() -> Mapping[str, str]:
    """The name of every statistic and the module that declares it, read off the sources: nothing is imported."""
    found: dict[str, str] = {}
    root = Path(__file__).parent.parent
    for folder in FOLDERS:
        for path in sorted((root / folder).glob("*.py")):
            for name in HEAD.findall(path.read_text(encoding="utf-8")):
                found[name] = f"discreet.{folder}.{path.stem}"
    return dict(sorted(found.items()))


def declared(name: object) -> Statistic:
    """A statistic by its name."""
    if isinstance(name, str) and name in _DECLARED:
        return _DECLARED[name]
    if not isinstance(name, str) or name not in homes():
        near = meant(name, homes())
        raise BadInput(f"the statistic is {name!r}; {near}{'G' if near else 'g'}ive one of {', '.join(homes())}")
    import_module(homes()[name])
    return _DECLARED[name]
