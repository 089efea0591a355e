"""What of a filter a database applies itself: never more rows are left out than by the filter.

Promise
    [pushed.1] A row that fulfils the filter fulfils what is asked of the database. All rows that come are then filtered
          as those of any table are, so that the answer is the same with it and without.
    [pushed.2] No value makes the test of the database fail, and the text of the query is a function of names and types
          of the columns and of the shape of the filter: constants are bound parameters.

Why
    [pushed.1] By induction over the filter, for "it holds" and for "it does not", which `not` swaps. A comparison of
    numbers is one of doubles, here and there: whole numbers are rounded to the nearest, floats of half the length are
    exact. Here NaN is missing; there it may fulfil a comparison, and more rows come. Where a comparison must not hold,
    rows of missing numbers come too. Texts are compared byte by byte: one that equals a constant here does so there.
    What is not known to be the same (dates, decimals, texts read as numbers or truths, "not" of texts) is not asked:
    then all rows come; of `and` the other part is asked, of `or` nothing.
    [pushed.2] Whole numbers, floats and truth values have a double, and texts have bytes, whatever they are.
"""

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from discreet.tables.where import Test, Tree

WHOLE: Final = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")
FLOATS: Final = ("REAL", "FLOAT", "DOUBLE", "DOUBLE PRECISION")
TEXTS: Final = ("TEXT", "VARCHAR", "CHARACTER VARYING")
SIGNS: Final[Mapping[Any, str]] = {
    ast.Eq: "=",
    ast.NotEq: "<>",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.In: "IN",
    ast.NotIn: "NOT IN",
}


class Dialect(Protocol):
    """How a database writes what is asked of it."""

    def parameter(self, constant: Any, place: int) -> str:
        """The parameter that a constant is bound to: a double or a text."""
        ...

    def text(self, column: str) -> str:
        """A column of texts, to be compared byte by byte."""
        ...


class InDuckdb:
    """DuckDB's."""

    def parameter(self, constant: Any, place: int) -> str:  # noqa: ARG002
        """By place; a text as its bytes."""
        return "encode(CAST(? AS VARCHAR))" if isinstance(constant, str) else "CAST(? AS DOUBLE)"

    def text(self, column: str) -> str:
        """A column may have an order of its own in which texts that differ are equal: bytes have none."""
        return f"encode({column})"


class InPostgres:
    """PostgreSQL's: a constant is a setting, read once."""

    def parameter(self, constant: Any, place: int) -> str:
        """By name."""
        kind = "text" if isinstance(constant, str) else "double precision"
        return f"(SELECT CAST(current_setting('discreet.constant{place}') AS {kind}))"

    def text(self, column: str) -> str:
        """As above."""
        return f'{column} COLLATE "C"'


@dataclass(frozen=True)
class Condition:
    """A condition on rows, and what is bound to its parameters, in order."""

    text: str
    constants: tuple[Any, ...]


@dataclass
class Pushing:
    """The columns of a table of a database: their names between quotes, declared types, and kinds as they are read."""

    dialect: Dialect
    columns: Mapping[str, tuple[str, str, bool]]  # quoted, type, whether it is read as the type says

    def of(self, tree: Tree) -> Condition | None:
        """What the filter implies; None if nothing that is known. [pushed.1]"""
        self.constants: list[Any] = []
        found = self._implied(tree, holds=True)
        return None if found is None else Condition(found, tuple(self.constants))

    def _implied(self, tree: Tree, *, holds: bool) -> str | None:
        """A condition that is fulfilled by every row by which the tree is, or is not. [pushed.1]"""
        if isinstance(tree, Test):
            return self._test(tree, holds)
        if tree.word is ast.Not:
            return self._implied(tree.parts[0], holds=not holds)
        begun = len(self.constants)
        parts = [self._implied(part, holds=holds) for part in tree.parts]
        known = [part for part in parts if part is not None]
        if (tree.word is ast.And) == holds:  # all of them: some are enough
            return f"({' AND '.join(known)})" if known else None
        if len(known) < len(parts):
            del self.constants[begun:]
            return None
        return f"({' OR '.join(known)})"

    def _test(self, test: Test, holds: bool) -> str | None:
        quoted, declared, plain = self.columns[test.column]
        word = declared.upper().partition("(")[0].strip()
        if not plain:
            return None
        if word in TEXTS:
            return self._of_text(test, quoted) if holds and test.reading == "text" else None
        truths = word == "BOOLEAN" and test.reading in ("boolean", "missing")
        if not truths and not (word in (*WHOLE, *FLOATS) and test.reading in ("number", "missing")):
            return None
        number = f"CAST({f'CAST({quoted} AS INTEGER)' if truths else quoted} AS DOUBLE PRECISION)"
        missing = f"({quoted} IS NULL" + (f" OR {number} = CAST('NaN' AS DOUBLE PRECISION))" if word in FLOATS else ")")
        if test.reading == "missing" or test.sign is ast.Is:  # is missing, is number
            finds_missing = (test.sign is ast.Is and test.reading == "missing") == holds
            return missing if finds_missing else f"{quoted} IS NOT NULL"
        compared = self._compared(test, number)
        return compared if holds else f"({missing} OR NOT {compared})"

    def _of_text(self, test: Test, quoted: str) -> str | None:
        if test.sign not in SIGNS or not all(one.isascii() and "\0" not in one for one in test.constants):
            return None  # what the encoding of a database may not have
        return self._compared(test, self.dialect.text(quoted))

    def _compared(self, test: Test, value: str) -> str:
        named = []
        for constant in test.constants:
            named.append(self.dialect.parameter(constant, len(self.constants)))
            self.constants.append(constant)
        listed = f"({', '.join(named)})" if test.sign in (ast.In, ast.NotIn) else named[0]
        return f"({value} {SIGNS[test.sign]} {listed})"  # [pushed.2]


def pushed(tree: Tree, dialect: Dialect, columns: Mapping[str, tuple[str, str, bool]]) -> Condition | None:
    """What a database may be asked of a filter."""
    return Pushing(dialect, columns).of(tree)
