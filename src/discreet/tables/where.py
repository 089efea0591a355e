"""Which rows count: a small public language for filters, read by hand; nothing of it is ever executed.

    age >= 18 and region in ['north', 'east'] and not (`body mass` is missing or smoker == true)

A column stands on the left, a constant on the right. Names with blanks go between backticks. Beside a number a column
is read as numbers, beside `true` or `false` as truth values, beside a text as it is (a date as its text, 2024-05-01,
which is also midnight of that day, 2024-05-01 00:00:00).
A missing entry fulfils no comparison, not even != and `not in`; `is missing` finds it, and `is number` what is read as
a number. `not` turns plain true and
false around: `not x == 1` holds for a missing x.

Promise
    [where.1] Whether a row is kept depends on that row and on the public text alone; no value raises.
"""

import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, NoReturn, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput
from discreet.tables import entries as rows
from discreet.tables.cells import NUMBER, Codes, Floats, Kind

Mask: TypeAlias = npt.NDArray[np.bool_]
Reading: TypeAlias = Literal["number", "truth", "key"]

LONGEST: Final = 10_000
DEEPEST: Final = 50
TOKEN: Final = re.compile(
    r"""\s*(?:
    (?P<number>[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
    |(?P<text>'(?:[^']|'')*'|"(?:[^"]|"")*")
    |(?P<quoted>`(?:[^`]|``)+`)
    |(?P<name>[^\W\d]\w*)
    |(?P<sign>==|!=|<=|>=|<|>|[()\[\],])
    |(?P<end>\Z)
    )""",
    re.VERBOSE,
)
SIGNS: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
RESERVED: Final = frozenset({"and", "or", "not", "in", "is", "missing", "true", "false"})


class Cells(Protocol):
    """The columns of some rows, each read as it is asked for."""

    def floats(self, name: str, reading: Literal["number", "truth"]) -> Floats:
        """Numbers, or 1 and 0; NaN where missing."""
        ...

    def keys(self, name: str) -> tuple[Codes, npt.NDArray[Any]]:
        """Codes into values, the last of which is None."""
        ...


@dataclass(frozen=True)
class Test:
    """One comparison of a column, or whether it is missing."""

    column: str
    sign: str
    constants: tuple[Any, ...] = ()
    reading: Reading = "key"

    def holds(self, cells: Cells) -> Mask:
        """Row by row. [where.1]"""
        if self.sign in ("missing", "present"):
            codes, values = cells.keys(self.column)
            return self._by_value(codes, [(value is None) == (self.sign == "missing") for value in values])
        if self.reading == "key":
            codes, values = cells.keys(self.column)
            wanted, negated = frozenset(self.constants), self.sign in ("!=", "not in")
            return self._by_value(
                codes, [value is not None and wanted.isdisjoint(_texts(value)) == negated for value in values]
            )
        floats = cells.floats(self.column, self.reading)
        found: Mask
        if self.sign == "number":
            return ~np.isnan(floats)
        if self.sign in ("in", "not in"):
            found = np.isin(floats, np.array(self.constants, dtype=np.float64), invert=self.sign == "not in")
        else:
            found = SIGNS[self.sign](floats, float(self.constants[0]))
        return found & ~np.isnan(floats)

    @staticmethod
    def _by_value(codes: Codes, holds: list[bool]) -> Mask:
        found: Mask = np.array(holds, dtype=np.bool_)[codes]
        return found


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

    word: Literal["and", "or", "not"]
    parts: tuple["Test | Joined", ...]

    def holds(self, cells: Cells) -> Mask:
        """Row by row."""
        masks = [part.holds(cells) for part in self.parts]
        if self.word == "not":
            return ~masks[0]
        combined: Mask = (np.logical_and if self.word == "and" else np.logical_or).reduce(masks)
        return combined


@dataclass(frozen=True)
class Where:
    """A filter of rows that was understood.

    >>> Where.parse("age >= 18 and `smoked ever` == 'yes'").columns
    ('age', 'smoked ever')
    """

    text: str
    tree: Test | Joined

    @classmethod
    def parse(cls, text: str) -> "Where":
        """Understood, or refused with the place where it could not be."""
        if not isinstance(text, str):
            raise BadInput(f'where is of type {type(text).__name__}; give a text such as "age >= 18"')
        if len(text) > LONGEST:
            raise BadInput(
                f"where has {len(text)} characters; at most {LONGEST} are read; put the filter into the data"
            )
        return cls(text, _Parser(text).whole())

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it reads, in order of appearance."""
        return tuple(dict.fromkeys(test.column for test in _tests(self.tree)))

    def check(self, kinds: Mapping[str, Kind]) -> None:
        """Refuse what the declared kinds cannot fulfil."""
        for test in _tests(self.tree):
            if test.column not in kinds:
                raise BadInput(f"where names the column {test.column!r}; the table has {_listed(kinds)}")
            kind = kinds[test.column]
            if test.sign in ("missing", "present"):
                continue
            if test.reading == "key" and kind in ("number", "whole", "truth"):
                raise BadInput(
                    f"where compares {test.column!r} with a text, but it is declared as {kind}; leave out the quotes"
                )
            if test.reading == "number" and kind in ("text", "date"):
                raise BadInput(
                    f"where compares {test.column!r} with a number, but it is declared as {kind}; put it in quotes"
                )
            if test.reading == "truth" and kind == "date":
                raise BadInput(f"where compares {test.column!r} with true or false, but it is declared as date")

    def holds(self, cells: Cells) -> Mask:
        """Whether each row is kept. [where.1]"""
        return self.tree.holds(cells)


def _listed(names: Mapping[str, Any]) -> str:
    return ", ".join(map(repr, list(names)[:20])) + (" and others" if len(names) > 20 else "")


def _tests(tree: Test | Joined) -> Iterator[Test]:
    if isinstance(tree, Test):
        yield tree
    else:
        for part in tree.parts:
            yield from _tests(part)


class _Parser:
    """Recursive descent, one token ahead."""

    def __init__(self, text: str) -> None:
        self.text, self.next_at, self.depth = text, 0, 0
        self.advance()

    def advance(self) -> None:
        blanks = re.compile(r"\s*").match(self.text, self.next_at)
        self.at = blanks.end() if blanks else self.next_at
        match = TOKEN.match(self.text, self.next_at)
        if match is None or match.lastgroup is None:
            self.fail("this is none of a name, a number, a 'text' and a sign")
        self.kind, self.word, self.next_at = match.lastgroup, match[match.lastgroup], match.end()
        if self.kind == "name" and self.word in RESERVED:
            self.kind = "sign"

    def fail(self, message: str) -> NoReturn:
        around = self.text[max(0, self.at - 40) : self.at + 40]
        raise BadInput(
            f"where cannot be understood at character {self.at + 1}: {message}\n"
            f"    {' '.join(around.splitlines()) if len(around.splitlines()) > 1 else around}\n"
            f"    {' ' * min(self.at, 40)}^"
        )

    def taken(self, *words: str) -> str | None:
        if self.kind != "sign" or self.word not in words:
            return None
        word = self.word
        self.advance()
        return word

    def needed(self, word: str, message: str) -> None:
        if self.taken(word) is None:
            self.fail(message)

    def whole(self) -> Test | Joined:
        tree = self.either()
        if self.kind != "end":
            self.fail("'and', 'or' or the end is needed here")
        return tree

    def either(self) -> Test | Joined:
        return self.joined("or", lambda: self.joined("and", self.single))

    def joined(self, word: Literal["and", "or"], part: Callable[[], Test | Joined]) -> Test | Joined:
        parts = [part()]
        while self.taken(word):
            parts.append(part())
        return parts[0] if len(parts) == 1 else Joined(word, tuple(parts))

    def single(self) -> Test | Joined:
        self.depth += 1
        if self.depth > DEEPEST:
            self.fail(f"more than {DEEPEST} things lie within each other; write it more simply")
        tree: Test | Joined
        if self.taken("not"):
            tree = Joined("not", (self.single(),))
        elif self.taken("("):
            tree = self.either()
            self.needed(")", "')' is needed here")
        else:
            tree = self.test()
        self.depth -= 1
        return tree

    def test(self) -> Test:
        if self.kind not in ("name", "quoted"):
            self.fail("the name of a column is needed here, such as age or `body mass`")
        name = self.word if self.kind == "name" else self.word[1:-1].replace("``", "`")
        self.advance()
        if self.taken("is"):
            negated = self.taken("not") is not None
            if not negated and (self.kind, self.word) == ("name", "number"):
                self.advance()
                return Test(name, "number", (), "number")
            self.needed("missing", "'missing' is needed here" if negated else "'missing' or 'number' is needed here")
            return Test(name, "present" if negated else "missing")
        if self.taken("not"):
            self.needed("in", "'in' is needed here")
            return self.listed(name, "not in")
        if self.taken("in"):
            return self.listed(name, "in")
        sign_at, found = self.at, self.taken(*SIGNS)
        if found is None:
            self.fail("a comparison is needed here: == != < <= > >= in, not in, is missing")
        reading, constant = self.constant()
        if reading != "number" and found not in ("==", "!="):
            self.at = sign_at
            self.fail("only numbers have an order; use == != or in")
        return Test(name, found, (constant,), reading)

    def listed(self, name: str, sign: str) -> Test:
        self.needed("[", "a list is needed here, such as [1, 2] or ['a', 'b']")
        first_at = self.at
        found = [self.constant()]
        while self.taken(","):
            found.append(self.constant())
        self.needed("]", "',' or ']' is needed here")
        readings = {reading for reading, _ in found}
        if len(readings) > 1:
            self.at = first_at
            self.fail("a list holds numbers, or texts, or true and false, not several of them")
        return Test(name, sign, tuple(constant for _, constant in found), readings.pop())

    def constant(self) -> tuple[Reading, Any]:
        kind, word, at = self.kind, self.word, self.at
        if kind == "number" and NUMBER.match(word):
            self.advance()
            if not math.isfinite(float(word)):
                self.at = at
                self.fail("this number is too large")
            return "number", float(word)
        if kind == "text":
            self.advance()
            return "key", word[1:-1].replace(word[0] * 2, word[0])
        truth = self.taken("true", "false")
        if truth is None:
            self.fail("a number, a 'text', true or false is needed here")
        return "truth", float(truth == "true")
