"""Features of people: what is made of one person's rows of a table, in a small public language, parsed, never executed.

    count                     sum(cost)                       first(sex)
    count(drug == 'insulin')  mean(hba1c)                     last(hba1c, by=day)
    any(drug == 'insulin')    min(hba1c)    max(day)          distinct(drug)
    all(hba1c < 7)            mean(hba1c, where=day >= '2024-01-01')

Conditions are those of `discreet.tables.where`; names with blanks or dots go between backticks. Every feature takes
`where=`, which leaves out rows first. A feature reads one table: the one that alone has its columns; where several have
them, the one that is named before a colon, as in `visits: mean(bmi)`. `count` without a condition names no column: it
reads the table before the colon, or the one that is called as the feature is, or the only one.

Missing entries are passed over. A person without rows has count, distinct and sum 0, and any is false; a sum whose rows
have only missing entries, and all, mean, min, max, first and last of nothing are missing. First and last go by `by`,
and among equals, or without it, by the order of the table.

Promise
    [person_features.1] What a feature reads, and the kind that it has (number, integer, boolean, date, category, text),
          follow from its text and the declared kinds of the columns; what does not fit is refused before a row is read.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final, NoReturn

import numpy as np

from discreet.errors import BadInput, short
from discreet.privacy.declaration import Kind
from discreet.tables.dates import READERS
from discreet.tables.where import LONGEST, Where

CONDITIONS: Final = ("count", "any", "all")
NUMBERS: Final = ("sum", "mean", "min", "max")
PLACES: Final = ("first", "last")
VERBS: Final = (*CONDITIONS, *NUMBERS, *PLACES, "distinct")
NAME: Final = r"`(?:[^`]|``)+`|[^\W\d]\w*"
HEAD: Final = re.compile(
    rf"\s*(?:(?P<table>{NAME})\s*:(?!=)\s*)?(?P<verb>[^\W\d]\w*)\s*(?:\((?P<inside>.*)\))?\s*\Z", re.DOTALL
)
KEYED: Final = re.compile(r"\s*([^\W\d]\w*)\s*=(?!=)(.*)\Z", re.DOTALL)
COLUMN: Final = re.compile(rf"\s*({NAME})\s*\Z")
PIECE: Final = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)+`|[^'"`()\[\],]+|.""", re.DOTALL)
EXAMPLES: Final = "count, any(drug == 'insulin') or last(hba1c, by=day)"


@dataclass(frozen=True, slots=True)
class Feature:
    """A feature that was understood: its table, what it reads there, and what kind of column it becomes."""

    name: str
    text: str
    table: str
    verb: str
    kind: Kind
    column: str | None = None
    by: str | None = None
    condition: Where | None = None
    where: Where | None = None

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns that it needs."""
        return _needed(self.column, self.by, self.condition, self.where)

    @property
    def by_place(self) -> bool:
        """Whether it is the entry of one row, rather than a number made of several."""
        return self.verb in PLACES or self.kind == "date"


def feature_of(
    name: object, text: object, tables: Mapping[str, Mapping[str, Kind]], persons: Mapping[str, str]
) -> Feature:
    """A feature, looked up in the tables' declared kinds; BadInput for what does not fit. [person_features.1]"""
    if not isinstance(name, str) or not name.strip():
        raise BadInput(f"a feature is called {short(name)}; give it a name, for example 'visits'")
    try:
        return _Reader(name, tables, persons).read(text)
    except BadInput as error:
        raise BadInput(f"feature {name!r}: {error}") from None


class _Reader:
    """Reads the text of one feature."""

    def __init__(self, name: str, tables: Mapping[str, Mapping[str, Kind]], persons: Mapping[str, str]) -> None:
        self.name, self.tables, self.persons = name, tables, persons

    def read(self, text: object) -> Feature:
        if not isinstance(text, str) or len(text) > LONGEST:
            raise BadInput(f"it is {short(text)}; give a text such as {EXAMPLES}")
        head = HEAD.match(text)
        if head is None:
            raise BadInput(f"{text!r} cannot be understood; write for example {EXAMPLES}")
        verb, inside = head["verb"], head["inside"]
        if verb not in VERBS:
            self.unknown(verb, inside is None)
        given, keyed = _arguments(inside or "")
        column, condition = self.subject(verb, given)
        by = keyed.pop("by", None)
        if by is not None and verb not in PLACES:
            raise BadInput(f"{verb} takes no by=; first and last do")
        where = keyed.pop("where", None)
        if keyed:
            allowed = "by= and where=" if verb in PLACES else "where="
            raise BadInput(f"{verb} has no {next(iter(keyed))}=; it takes {allowed}")
        order = None if by is None else _column(by, "by")
        chosen = None if where is None else Where.parse(where)
        table = self.table(_unquoted(head["table"]), _needed(column, order, condition, chosen))
        kinds = self.tables[table]
        for one in (condition, chosen):
            if one is not None:
                one.check(kinds)
        if order is not None and kinds[order] in ("text", "category"):
            raise BadInput(
                f"by={order} is declared to hold texts, and an order needs dates or numbers; declare it, as in "
                f"types={{{table!r}: {{{order!r}: 'date'}}}}"
            )
        return Feature(self.name, text, table, verb, _kind(verb, column, kinds), column, order, condition, chosen)

    def unknown(self, verb: str, bare: bool) -> NoReturn:
        if bare and any(verb in kinds for kinds in self.tables.values()):
            raise BadInput(
                f"{verb} is a column, and a person may have several rows; say what is made of them, as in "
                f"first({verb}), mean({verb}) or max({verb})"
            )
        near = get_close_matches(verb, VERBS, 1)
        meant = f"did you mean {near[0]}? A feature" if near else "a feature"
        raise BadInput(f"{verb!r} is not known; {meant} is one of {', '.join(VERBS)}")

    def subject(self, verb: str, given: Sequence[str]) -> tuple[str | None, Where | None]:
        """The column, or the condition, that a feature is about."""
        if len(given) > 1 or (not given and verb != "count"):
            needed = "a condition, as in any(drug == 'insulin')" if verb in CONDITIONS else f"a column, as in {verb}(x)"
            raise BadInput(f"{verb} has {len(given)} arguments; give {needed}")
        if not given:
            return None, None
        return (None, Where.parse(given[0])) if verb in CONDITIONS else (_column(given[0], verb), None)

    def table(self, said: str | None, reads: Sequence[str]) -> str:
        """The table that it reads. [person_features.1]"""
        if said is not None and said not in self.tables:
            raise BadInput(f"there is no table {said!r}; {_near(said, list(self.tables), 'the tables are')}")
        mine = [said] if said is not None else list(self.tables)
        for column in reads:
            if not any(column in self.tables[table] for table in mine):
                there = list(dict.fromkeys(one for table in mine for one in self.tables[table]))
                whose = f"{said} has" if said is not None else "the tables have"
                raise BadInput(f"there is no column {column!r}; {_near(column, there, whose)}")
        found = [table for table in mine if all(column in self.tables[table] for column in reads)]
        if not found:
            raise BadInput(f"no table has all of {', '.join(reads)}; a feature reads one table: make two features")
        if not reads and self.name in found:
            found = [self.name]
        if len(found) > 1:
            about = f"{', '.join(reads)} in several tables" if reads else "no column, so that its table is not known"
            raise BadInput(f"it names {about}; say which, as in '{found[0]}: ...', of {', '.join(found)}")
        if self.persons[found[0]] in reads:
            raise BadInput(f"it reads {self.persons[found[0]]!r}, which says whose row each is; that is no feature")
        return found[0]


def _needed(column: str | None, by: str | None, *conditions: Where | None) -> tuple[str, ...]:
    listed = [one for one in (column, by) if one is not None]
    return tuple(dict.fromkeys([*listed, *(name for one in conditions if one is not None for name in one.columns)]))


def _kind(verb: str, column: str | None, kinds: Mapping[str, Kind]) -> Kind:
    """What kind a feature has, by its text and what is declared. [person_features.1]"""
    if verb in ("count", "distinct"):
        return "integer"
    if column is None:
        return "boolean"
    declared = kinds[column]
    if verb in PLACES or (declared == "date" and verb in ("min", "max")):
        return declared
    READERS["number"](np.empty(0), declared, column)  # refused, if it is declared to hold no numbers
    return "number"


def _near(name: str, there: Sequence[str], whose: str) -> str:
    near = get_close_matches(name, there, 1)
    listed = ", ".join(there[:20]) + (", ..." if len(there) > 20 else "")
    return f"did you mean {near[0]!r}? {whose[0].upper()}{whose[1:]} {listed}" if near else f"{whose} {listed}"


def _unquoted(name: str | None) -> str | None:
    return name[1:-1].replace("``", "`") if name is not None and name[0] == "`" else name


def _column(text: str, what: str) -> str:
    found = COLUMN.match(text)
    if found is None:
        raise BadInput(f"{what} has {short(text.strip())}; give the name of a column, between backticks if it has dots")
    return str(_unquoted(found[1]))


def _arguments(inside: str) -> tuple[list[str], dict[str, Any]]:
    """What stands between commas that are in no brackets and no quotes, by place and by name."""
    parts, depth = [""], 0
    for piece in PIECE.findall(inside):
        depth += (piece in ("(", "[")) - (piece in (")", "]"))
        if piece == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += piece
    given: list[str] = []
    keyed: dict[str, Any] = {}
    for part in parts if inside.strip() else []:
        name = KEYED.match(part)
        if name is None:
            given.append(part.strip())
        elif name[1] in keyed:
            raise BadInput(f"{name[1]}= is given twice; give it once")
        else:
            keyed[name[1]] = name[2].strip()
    return given, keyed
