"""What is asked of each piece of a table: its columns as they are wanted, of the rows that are kept.

It is a function of one row after another, or of one person's rows ([table.1]), and is sent to where a piece is.
"""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput
from discreet.privacy.declaration import Kind
from discreet.tables import entries as rows
from discreet.tables.arranging import drops, present
from discreet.tables.cells import Codes, Column, Floats, is_arrow, keys, pa
from discreet.tables.dates import READERS
from discreet.tables.per_person import OF_TRUTHS, Rule, Rules, one_each, turns
from discreet.tables.wanted import OWN, Want
from discreet.tables.where import Mask, Test, Where


class PieceCells:
    """The columns of one piece, each read once in each way."""

    def __init__(self, columns: Mapping[str, Column], kinds: Mapping[str, Kind]) -> None:
        self.columns, self.kinds = columns, kinds
        self.known: dict[tuple[str, str], Any] = {}

    def equal(self, name: str, wanted: Any) -> Floats:
        """1 where an entry is `wanted`, 0 where it is another, NaN where it is missing."""
        codes, values = self.keys(name)
        one = rows.key(wanted)
        found = [math.nan if value is None else float(rows.key(value) == one) for value in values]
        return np.array(found, dtype=np.float64)[codes]

    def floats(self, name: str, reading: Literal["number", "boolean", "date", "event"]) -> Floats:
        """Numbers, 1 and 0, or days; NaN where missing."""
        if (name, reading) not in self.known:
            self.known[name, reading] = READERS[reading](self.columns[name], self.kinds[name], name)
        found: Floats = self.known[name, reading]
        return found

    def keys(self, name: str) -> tuple[Codes, npt.NDArray[Any]]:
        """Codes into values, the last of which is None."""
        if (name, "category") not in self.known:
            self.known[name, "category"] = keys(self.columns[name], self.kinds[name])
        found: tuple[Codes, npt.NDArray[Any]] = self.known[name, "category"]
        return found


@dataclass(frozen=True)
class PieceQuestion:
    """What is asked of each piece. With `fold` all rows are kept, and the tests of conditions stand beside the columns:
    those of numbers by a rule for numbers as they are read, others as 1 and 0."""

    wants: tuple[Want, ...]
    where: Where | None
    owner: str | None
    kinds: Mapping[str, Kind]
    reads: tuple[str, ...]  # the columns needed
    fold: Rules | None = None
    steady: bool = True  # whether a person's rows come in the same order whenever they are read

    @property
    def filters(self) -> bool:
        """Whether rows may be left out."""
        return self.where is not None or any(drops(want) for want in self.wants)

    @property
    def tests(self) -> tuple[Test, ...]:
        """Those of all conditions, each once."""
        conditions = [Where.parse(want.name) for want in self.wants if want.kind == "where"]
        conditions += [self.where] if self.where is not None else []
        return tuple(dict.fromkeys(test for condition in conditions for test in condition.tests))

    def rule(self, test: Test) -> Rule:
        """How a test is made one of a person's rows; numbers are missing if all are, unless a row is chosen."""
        assert self.fold is not None
        if test.reading == "missing" and self.kinds[test.column] in ("number", "integer"):
            rule = self.fold.of(test.column, "number")
            return rule if rule in ("first", "last") else "any" if test.negated else "all"
        return self.fold.of(test.column, test.reading)

    def check_steady(self, names: Collection[str] | None) -> None:
        """Refuse what depends on the order of a person's rows, of these columns and of all tests, where there is none;
        nothing where all rows of a person are asked for. [per_person.2]"""
        if self.steady or self.fold is None or names is None:
            return
        plain = [want for want in self.wants if want.kind != "where" and want.name in names]
        found = [(want.name, want.rule, want.cap, want.kind == "category") for want in plain]
        found += [(test.column, self.rule(test), self.fold.cap, False) for test in self.tests]
        for name, rule, most, texts in found:
            if rule not in ("first", "last") and (most is None or rule == "count"):
                continue
            column = name.removeprefix(OWN)
            chosen = f"the {rule}" if rule in ("first", "last") else f"at most {most}"
            other = f"give per_person={{{column!r}: 'any'}}, or 'all', or of numbers 'mean', 'min' or 'max', without "
            other += "max_rows=, or "
            raise BadInput(
                f"rows of a data frame of Spark or Dask have no order that stays, and {chosen} of each person's rows "
                f"is wanted of {column!r}; {'' if texts else other}write the frame to a folder of Parquet files and "
                "open that: rows of files have an order"
            )

    def answer(self, columns: Mapping[str, Column]) -> list[Any]:
        """The values wanted and the owners' ids, of the rows that are kept. [table.1]"""
        cells = PieceCells(columns, self.kinds)
        kept = self.where.holds(cells) if self.where and self.fold is None else None
        found = []
        for want in self.wants:
            if want.kind == "where" and self.fold is not None:
                continue
            named = want.missing if isinstance(want.missing, str) and want.missing in ("keep", "drop") else "stand in"
            values, absent = _read(cells, want, named == "stand in" or (named == "drop" and self.fold is None))
            if named == "drop" and absent is not None:
                kept = ~absent if kept is None else kept & ~absent
            elif named == "stand in":
                values = values.copy()
                values[np.isnan(values) if values.ndim == 2 else absent] = want.missing
            found.append(values)
        if self.fold is not None:
            for test in self.tests:
                if test.reading in ("number", "boolean", "date") and self.rule(test) not in OF_TRUTHS:
                    found.append(cells.floats(test.column, test.reading))
                else:
                    found.append(test.holds(cells).astype(np.float64))
        ids = [columns[self.owner]] if self.owner is not None else []
        if kept is None or kept.all():
            return [*found, *ids]
        return [
            *(values[kept] for values in found),
            *(column.filter(pa.array(kept)) if is_arrow(column) else column[kept] for column in ids),
        ]

    def named(self, columns: Mapping[str, Column]) -> dict[str, Any]:
        """The values wanted, by name, of the rows that are kept. [table.1]"""
        return dict(zip((want.name for want in self.wants), self.answer(columns), strict=True))

    @property
    def empty(self) -> dict[str, Any]:
        """The columns wanted, without a row."""
        return {want.name: np.empty(0, dtype=object if want.kind == "category" else float) for want in self.wants}

    def folded(self, found: list[Any], codes: Codes, people: int) -> dict[str, npt.NDArray[Any]]:
        """A row for each person; then those whom the filter or a missing entry leaves out are left out. [table.1]"""
        assert self.fold is not None
        cap = self.fold.cap
        turn = turns(codes, people) if cap is not None or any(want.cap is not None for want in self.wants) else None
        plain = [want for want in self.wants if want.kind != "where"]
        rows_of: dict[str, npt.NDArray[Any]] = {}
        for want, values in zip(plain, found[: len(plain)], strict=True):
            how: dict[str, Any] = {"rule": want.rule, "turn": turn, "cap": want.cap, "steady": self.steady}
            rows_of[want.name] = one_each(values, codes, people, **how)
        masks: dict[Test, Mask] = {}
        for test, values in zip(self.tests, found[len(plain) :], strict=True):
            rule = self.rule(test)
            each = one_each(values, codes, people, rule=rule, turn=turn, cap=cap, steady=self.steady)
            masks[test] = each == 1 if rule in OF_TRUTHS else test.of(each)
        kept = self.where.of(masks) if self.where is not None else np.ones(people, dtype=np.bool_)
        for want in (want for want in self.wants if want.kind == "where"):
            rows_of[want.name] = Where.parse(want.name).of(masks).astype(np.float64)
        people_of = {want.name: rows_of[want.name] if kept.all() else rows_of[want.name][kept] for want in self.wants}
        people_left: dict[str, npt.NDArray[Any]] = present(people_of, self.wants)[0]
        return people_left


def _read(cells: PieceCells, want: Want, absent: bool) -> tuple[npt.NDArray[Any], Any]:
    """A column's values, and, if asked, in which rows they are missing."""
    if want.kind == "category":
        codes, values = cells.keys(want.name)
        return values[codes], np.array([value is None for value in values], dtype=np.bool_)[codes] if absent else None
    if want.kind == "where":
        found = Where.parse(want.name).holds(cells).astype(np.float64)
    elif want.equals is not None:
        found = cells.equal(want.name, want.equals)
    else:
        found = cells.floats(want.name, want.kind)
    missing = np.isnan(found) if absent else None
    return found, missing if missing is None or found.ndim == 1 else missing.any(axis=1)
