"""A small language for regressions: "y ~ age + C(sex) + age:C(sex) + log(income) - 1". Nothing is ever evaluated.

    formula = outcome "~" terms        terms = term { "+" term } [ "- 1" | "+ 0" ]
    outcome = factor                   term  = factor { ":" factor } | "1" | "0"
    factor  = name | "C(" name ")" | "log(" name ")"
    name    = letters, digits, "_" and "." as in a name, or anything between backquotes

`C` takes a column's values as categories, the first listed being the one others are compared with; as the outcome of a
logistic model, C has two public levels, that of "no" first. ":" multiplies. The errors point at the character.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, NoReturn

from discreet.errors import BadInput
from discreet.privacy.declaration import Reads, category, number

TOKEN: Final = re.compile(r"\s*(?:(?P<name>`[^`]+`|[^\W\d][\w.]*)|(?P<number>\d+)|(?P<sign>[~+\-:()*]))")
Kind = Literal["number", "category", "log"]
WRAPPERS: Final[dict[str, Kind]] = {"C": "category", "log": "log"}


@dataclass(frozen=True, slots=True)
class Factor:
    """A column, as numbers, as categories or as logarithms."""

    name: str
    kind: Kind = "number"

    def __str__(self) -> str:
        return {"number": self.name, "category": f"C({self.name})", "log": f"log({self.name})"}[self.kind]


@dataclass(frozen=True, slots=True)
class Formula:
    """An outcome, terms of one or more factors each, and whether there is an intercept.

    >>> found = Formula.read("y ~ age + C(sex):age - 1")
    >>> str(found), found.intercept
    ('y ~ age + C(sex):age - 1', False)
    """

    outcome: Factor
    terms: tuple[tuple[Factor, ...], ...]
    intercept: bool = True

    @classmethod
    def read(cls, text: str) -> "Formula":
        """The formula in a text; raises with a pointer to the character that is wrong."""
        return _Reader(text).formula()

    @property
    def factors(self) -> tuple[Factor, ...]:
        """Every factor, each once: the outcome first."""
        return tuple(dict.fromkeys([self.outcome, *(factor for term in self.terms for factor in term)]))

    @property
    def categories(self) -> tuple[str, ...]:
        """The columns that are taken as categories."""
        return tuple(factor.name for factor in self.factors if factor.kind == "category")

    def __str__(self) -> str:
        terms = " + ".join(":".join(map(str, term)) for term in self.terms)
        return f"{self.outcome} ~ {terms}{'' if self.intercept else ' - 1'}"


class _Reader:
    """One pass from left to right: `place` is where the next token starts."""

    def __init__(self, text: str) -> None:
        self.text, self.place = text, 0

    def formula(self) -> Formula:
        outcome = self.factor("the outcome")
        if self.take() != "~":
            self.fail("'~' is needed between outcome and terms", self.start)
        terms: list[tuple[Factor, ...]] = []
        known: set[frozenset[tuple[Factor, int]]] = set()
        intercept, sign = True, "+"
        while True:
            found = self.term()
            if found is None or sign == "-":
                number = self.text[self.start : self.place].strip()
                if found is not None or number not in (("1",) if sign == "-" else ("0", "1")):
                    self.fail("only '- 1' can be taken away, and only 0 or 1 stand alone", self.start)
                intercept = sign == "+" and number == "1"
            elif (product := frozenset(Counter(found).items())) in known:  # in whatever order: a product is one
                self.fail("this term is there already", self.start)
            else:
                known.add(product)
                terms.append(found)
            sign = self.take()
            if sign == "":
                break
            if sign not in ("+", "-"):
                more = "; write a + b + a:b" if sign == "*" else ""
                self.fail(f"'+', '-' or the end is needed here{more}", self.start)
        if not terms:
            self.fail("at least one term is needed", len(self.text))
        return Formula(outcome, tuple(terms), intercept)

    def term(self) -> tuple[Factor, ...] | None:
        """Factors joined by ':'; None for a number."""
        if self.peek().isdigit():
            self.take()
            return None
        begin = self.place
        factors = [self.factor("a term")]
        while self.peek() == ":":
            self.take()
            factors.append(self.factor("a factor"))
        self.start = begin
        return tuple(factors)

    def factor(self, what: str) -> Factor:
        found = self.take()
        begin = self.start
        if not self.is_name:
            self.fail(f"{what} is needed here: a column's name, C(name) or log(name)", self.start)
        if self.peek() != "(":
            return Factor(found.strip("`"))
        if found not in WRAPPERS:
            self.fail(f"{found!r} is no function here; there are C(name) and log(name)", begin)
        self.take()
        inner = self.take()
        if not self.is_name:
            self.fail("a column's name is needed here", self.start)
        if self.take() != ")":
            self.fail("')' is needed here", self.start)
        return Factor(inner.strip("`"), WRAPPERS[found])

    def peek(self) -> str:
        place = self.place
        found = self.take()
        self.place = place
        return found

    def take(self) -> str:
        """The next token, '' at the end; `start` is where it begins, `is_name` whether it names something."""
        match = TOKEN.match(self.text, self.place)
        self.is_name = False
        if match is None:
            self.start = len(self.text) - len(self.text[self.place :].lstrip())
            if self.start < len(self.text):
                self.fail("this character means nothing here", self.start)
            return ""
        self.start, self.place = match.start(match.lastgroup or 0), match.end()
        self.is_name = match.lastgroup == "name"
        return str(match.group(match.lastgroup or 0))

    def fail(self, why: str, place: int) -> NoReturn:
        """Point at the character."""
        while place < len(self.text) and self.text[place].isspace():
            place += 1
        raise BadInput(f"{why}:\n    {self.text}\n    {' ' * place}^")


def formula_columns(text: str) -> Mapping[str, Reads]:
    """The columns that a formula names, and as what each is read."""
    found: dict[str, Reads] = {}
    for factor in Formula.read(text).factors:
        known = found.get(factor.name)
        found[factor.name] = category() if factor.kind == "category" or known == category() else number()
    return found
