"""Which rows count: a small public language for filters, parsed by Python's grammar and never executed.

    age >= 18 and region in ['north', 'east'] and not (`body mass` is missing or smoker)

A column is on the left of a comparison, a constant on the right. Names with blanks go between backticks. Beside a
number a column is read as numbers; beside `true` or `false`, or on its own, as truth values; beside a text as it is (a
date as its text, 2024-05-01, which is also midnight of that day, 2024-05-01 00:00:00); before < <= > >= and a date,
as in day >= '2024-05-01', as dates. A missing entry fulfils no
comparison, not even != and `not in`; `is missing` finds it, and `is number` finds what is read as a number. `not` swaps
true and false: `not x == 1` holds for a missing x.

Promise
    [where.1] Whether a row is kept depends on that row and on the public text alone; no value raises.
"""

import ast
import math
import operator
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Final, Literal, NoReturn, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput, meant
from discreet.privacy.declaration import Kind
from discreet.tables import entries as rows
from discreet.tables.cells import NUMBER, Codes, Floats
from discreet.tables.dates import day_of

Mask: TypeAlias = npt.NDArray[np.bool_]
Tree: TypeAlias = "Test | Joined"
LONGEST: Final = 10_000  # characters
DEEPEST: Final = 50  # brackets and `not` within each other
TOKEN: Final = re.compile(
    r"""\s*(?:
    (?P<sign>==|!=|<=|>=|<|>|[()\[\],]|(?:and|or|not|in|is)\b)
    |(?P<number>[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
    |(?P<text>'(?:[^']|'')*'|"(?:[^"]|"")*")
    |(?P<name>`(?:[^`]|``)+`|[^\W\d]\w*)
    |(?P<end>\Z)
    )""",
    re.VERBOSE,
)
OPERAND: Final = "a column such as age or `body mass`, a number, a 'text', true or false"
OPERATOR: Final = "one of == != < <= > >= in, not in, is missing, is number, and, or, or the end"
ORDERS: Final[Mapping[Any, Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
LISTS: Final[Mapping[Any, Any]] = {ast.In: np.isin, ast.NotIn: partial(np.isin, invert=True)}
SIGNS: Final = {ast.Eq: operator.eq, ast.NotEq: operator.ne, **ORDERS, **LISTS}


class Cells(Protocol):
    """The columns of some rows, each read as it is asked for."""

    def floats(self, name: str, reading: Literal["number", "boolean", "date"]) -> Floats:
        """Numbers, 1 and 0, or days; NaN where missing."""
        ...

    def keys(self, name: str) -> tuple[Codes, npt.NDArray[Any]]:
        """Codes into values, the last of which is None."""
        ...


@dataclass(frozen=True)
class Test:
    """A column compared with constants, or whether it is missing, a number, or (alone) true."""

    column: str
    sign: type[ast.AST]
    reading: Literal["number", "boolean", "date", "text", "missing"]
    constants: tuple[Any, ...] = ()
    alone: bool = False

    def holds(self, cells: Cells) -> Mask:
        """Row by row. [where.1]"""
        if self.reading in ("number", "boolean", "date"):
            return self.of(cells.floats(self.column, self.reading))
        codes, values = cells.keys(self.column)
        wanted = frozenset(self.constants)
        if self.reading == "missing":
            kept = [(value is None) != self.negated for value in values]
        else:
            kept = [value is not None and wanted.isdisjoint(_texts(value)) == self.negated for value in values]
        return np.asarray(np.array(kept, dtype=np.bool_)[codes])

    @property
    def negated(self) -> bool:
        """Whether it finds what is not so."""
        return self.sign in (ast.NotEq, ast.NotIn, ast.IsNot)

    def of(self, floats: Floats) -> Mask:
        """Of numbers, or of 1 and 0."""
        found = self.sign is ast.Is or SIGNS[self.sign](floats, np.array(self.constants))
        return np.asarray(~np.isnan(floats) & found)

    def misfit(self, kind: Kind) -> str:
        """Why a column of that kind cannot be tested so; empty if it can."""
        if self.alone and kind not in ("boolean", "unknown"):
            return f"has {self.column!r} alone, but it is declared as {kind}; compare it with a constant"
        if self.reading == "text" and kind in ("number", "integer", "boolean"):
            return f"compares {self.column!r} with a text, but it is declared as {kind}; leave out the quotes"
        if self.reading == "date" and kind not in ("date", "unknown"):
            return f"compares {self.column!r} with a date, but it is declared as {kind}; declare it as date by types="
        if self.reading == "number" and kind in ("text", "date"):
            return f"compares {self.column!r} with a number, but it is declared as {kind}; put it in quotes"
        if self.reading == "boolean" and kind == "date":
            return f"compares {self.column!r} with true or false, but it is declared as date; put a date in quotes"
        return ""


def _texts(value: Any) -> tuple[str, ...]:
    """What a value is called: one type of numpy's or pandas' has a day where another has its midnight."""
    try:
        if isinstance(value, str):
            return (value,)
        match rows.key(value):
            case "date", str(text):
                return (text, f"{text} 00:00:00")
            case "datetime", str(text):
                return (text,)
    except Exception:  # noqa: BLE001, S110  [where.1]: whatever it is
        pass
    return ()


@dataclass(frozen=True)
class Joined:
    """`and`, `or` and `not`."""

    word: type[ast.AST]
    parts: tuple[Tree, ...]

    def of(self, known: Mapping[Test, Mask]) -> Mask:
        """Of what each test has found."""
        masks = [known[part] if isinstance(part, Test) else part.of(known) for part in self.parts]
        joined = np.logical_and if self.word is ast.And else np.logical_or
        return ~masks[0] if self.word is ast.Not else np.asarray(joined.reduce(masks))


@dataclass(frozen=True)
class Where:
    """A filter of rows that was understood.

    >>> Where.parse("age >= 18 and `smoked ever` == 'yes'").columns
    ('age', 'smoked ever')
    """

    text: str
    tree: Tree
    tests: tuple[Test, ...]  # in order of appearance

    @staticmethod
    def parse(text: str) -> "Where":
        """Understood, or refused with the place where it could not be."""
        if not isinstance(text, str):
            raise BadInput(f'where is of type {type(text).__name__}; give a text such as "age >= 18"')
        return _parsed(text)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it reads, in order of appearance."""
        return tuple(dict.fromkeys(test.column for test in self.tests))

    def check(self, kinds: Mapping[str, Kind]) -> None:
        """Refuse what the declared kinds cannot fulfil."""
        for test in self.tests:
            if test.column not in kinds:
                names = ", ".join(map(repr, list(kinds)[:20])) + (" and others" if len(kinds) > 20 else "")
                near = meant(test.column, kinds)
                raise BadInput(
                    f"where names the column {test.column!r}; {near}{'T' if near else 't'}he table has {names}"
                )
            if misfit := test.misfit(kinds[test.column]):
                raise BadInput(f"where {misfit}")

    def holds(self, cells: Cells) -> Mask:
        """Whether each row is kept. [where.1]"""
        return self.of({test: test.holds(cells) for test in self.tests})

    def of(self, known: Mapping[Test, Mask]) -> Mask:
        """Of what each test has found, of rows or of people."""
        return known[self.tree] if isinstance(self.tree, Test) else self.tree.of(known)


@lru_cache(maxsize=256)
def _parsed(text: str) -> Where:
    if len(text) > LONGEST:
        raise BadInput(f"where has {len(text)} characters; {LONGEST} are allowed; put the filter into the data")
    parser = _Parser(text)
    return Where(text, parser.tree(parser.parsed()), tuple(parser.tests))


class _Parser:
    """Tokens, Python's grammar on their kinds alone, and a walk over the few nodes that are allowed.

    `source` has n for every name and 0 for every constant, so Python sees no text of the user's: nothing to execute, to
    normalise or to overflow. A node's place in `source` says which token it is.
    """

    def __init__(self, text: str) -> None:
        self.text, self.source, self.tokens = text, "", dict[int, re.Match[str]]()
        self.tests: list[Test] = []
        kind, end, wanted, nots = "", 0, OPERAND, [0]  # in each open bracket, the `not`s before this token
        while kind != "end":
            token = TOKEN.match(text, end)
            if token is None or token.lastgroup is None:
                self.fail(len(text) - len(text[end:].lstrip()), wanted)
            kind, end, start = token.lastgroup, token.end(), token.start(token.lastgroup)
            word, value = token[kind], kind in ("name", "number", "text")
            opens, closes = word in ("(", "["), word in (")", "]")
            allowed = {OPERAND: value or opens or word == "not", OPERATOR: not value and not opens}
            if not allowed.get(wanted, word == "in") or (closes and len(nots) == 1):
                self.fail(start, wanted)
            if kind == "end" and len(nots) > 1:
                self.fail(start, "a closing bracket")
            nots = [*nots, 0] if opens else nots[:-1] if closes else nots
            nots[-1] = 0 if word in ("and", "or") else nots[-1] + (word == "not")
            if len(nots) + sum(nots) > DEEPEST:
                self.fail(start, f"a filter with at most {DEEPEST} brackets and 'not' within each other")
            wanted = OPERATOR if value or closes else "'in'" if wanted == OPERATOR and word == "not" else OPERAND
            self.tokens[len(self.source)] = token
            self.source += ("n" if kind == "name" else "0" if value else word) + " "

    def fail(self, at: int, needed: str) -> NoReturn:
        around = re.sub(r"\s", " ", self.text[max(0, at - 40) : at + 40])
        seen = repr(self.text[at:].split()[0][:20]) if at < len(self.text) else "the end"
        raise BadInput(
            f"where cannot be understood at character {at + 1}: {needed} is needed here, not {seen}\n"
            f"    {around}\n    {' ' * min(at, 40)}^"
        )

    def parsed(self) -> ast.expr:
        found, place = None, 0
        try:
            found = ast.parse(self.source.rstrip(), mode="eval").body
        except SyntaxError as error:
            place = (error.offset or 1) - 1
        return found or self.refuse(place, OPERAND)

    def refuse(self, place: int, needed: str) -> NoReturn:
        token = self.tokens[max(start for start in self.tokens if start <= place)]
        self.fail(token.start(token.lastgroup or 0), needed)

    def tree(self, node: ast.expr) -> Tree:
        match node:
            case ast.BoolOp(op, values):
                return Joined(type(op), tuple(map(self.tree, values)))
            case ast.UnaryOp(ast.Not(), operand):
                return Joined(ast.Not, (self.tree(operand),))
            case ast.Name():
                self.tests.append(Test(self.column(node), ast.Eq, "boolean", (1.0,), alone=True))
            case ast.Compare(ast.Name() as left, [op], [right]):
                self.tests.append(self.test(self.column(left), type(op), right))
            case ast.Compare(ast.Name(), _, [_, second, *_]):
                self.refuse(second.col_offset - 1, "'and' and another column")
            case _:
                self.refuse(node.col_offset, "a column, or a comparison of one such as age >= 18,")
        return self.tests[-1]

    def leaf(self, node: ast.expr) -> tuple[str, str]:
        token = self.tokens[node.col_offset]
        kind = (token.lastgroup or "") if isinstance(node, ast.Name | ast.Constant) else ""
        return kind, token[kind] if kind else ""

    def column(self, node: ast.Name) -> str:
        _, word = self.leaf(node)
        if word in ("missing", "true", "false"):
            self.refuse(node.col_offset, "the name of a column, which may be between backticks,")
        return word[1:-1].replace("``", "`") if word[0] == "`" else word

    def test(self, column: str, sign: type[ast.AST], right: ast.expr) -> Test:
        place, listed = right.col_offset, sign in LISTS
        if sign in (ast.Is, ast.IsNot):
            _, word = self.leaf(right)
            if word == "number" and sign is ast.Is:
                return Test(column, sign, "number")
            if word != "missing":
                self.refuse(place, "'missing' or 'number'" if sign is ast.Is else "'missing'")
            return Test(column, sign, "missing")
        if listed != isinstance(right, ast.List):
            self.refuse(place, "a list such as [1, 2] or ['a', 'b']" if listed else "one constant")
        found = [self.constant(one) for one in (right.elts if isinstance(right, ast.List) else [right])]
        readings = {reading for reading, _ in found}
        if len(readings) > 1:
            self.refuse(place + 2, "a list of numbers, of texts, or of true and false")
        if sign in ORDERS and readings == {"text"} and not math.isnan(day := day_of(found[0][1])):
            return Test(column, sign, "date", (day,))
        if sign in ORDERS and readings != {"number"}:
            self.refuse(place - 1, "== != or in, as only numbers, and dates such as '2024-05-01', have an order,")
        return Test(column, sign, readings.pop(), tuple(constant for _, constant in found))

    def constant(self, node: ast.expr) -> tuple[Any, Any]:
        kind, word = self.leaf(node)
        if kind == "number" and NUMBER.match(word) and math.isfinite(float(word)):
            return "number", float(word)
        if kind == "text":
            return "text", word[1:-1].replace(word[0] * 2, word[0])
        if word not in ("true", "false"):
            self.refuse(node.col_offset, "a number of ordinary size, a 'text', true or false")
        return "boolean", float(word == "true")
