"""Several rows of a person as one.

Promise
    [per_person.1] A person's row is a function of that person's own rows, in their order in the table, and of nothing
          else, bit for bit. So a change of all rows of one person changes one row here, or adds or removes one.
    [per_person.2] Where rows come in no order that stays, as those of a frame of Spark or Dask whose query shuffles
          them, a person's row does not depend on it.

Why
    [per_person.1] Every rule folds the rows in the order of the table into one place for each person: sums by
    `numpy.bincount` and extremes by `ufunc.at`, which take one row after the other and touch only the place of its
    person; no partial sum ever joins rows of two people, so the order of additions within a person is that of the
    person's own rows. "first", "last" and the first `cap` rows are places within the person's own rows.
    [per_person.2] Such questions are refused by their rules ("first", "last", a cap on anything but a count), and by
    these alone. What is left are extremes, counts, and sums, which add a person's values from the least to the largest.

Missing entries are passed over by "mean", "sum", "min", "max", "any" and "all", and a person without any other is
missing; "first" and "last" take the row as it is; "count" counts rows.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput
from discreet.tables.cells import Codes

Rule: TypeAlias = Literal["first", "last", "mean", "sum", "count", "min", "max", "any", "all"]
RULES: Final = ("first", "last", "mean", "sum", "count", "min", "max", "any", "all")
CAPPED: Final = ("sum", "count")
OF_KEYS: Final = ("first", "last", "count")
OF_TRUTHS: Final = ("first", "last", "any", "all")


@dataclass(frozen=True, slots=True)
class Rules:
    """What is made of a person's several rows: a rule by column, or for all of them under "", and how many rows count.

    It is the same for columns, for conditions and for groups: what a condition says is said of a person's row. Of a
    column with "any" or "all" it is said of each row, and holds in any, or in all.
    """

    by: Mapping[str, Rule] = field(default_factory=dict)
    cap: int | None = None

    def of(self, name: str, kind: str) -> Rule:
        """The rule of a column as it is read; one that does not fit what is read, texts say, is "first"."""
        rule = self.by.get(name, self.by.get("", "mean" if kind == "number" else "first"))
        fits = ("first", "last") if kind == "category" else OF_TRUTHS if kind in ("text", "missing") else RULES
        return rule if rule in fits else "first"

    def check_people(self, statistic: str, *, column: str | None = None, alone: bool = False) -> None:
        """Refuse to count people by a rule that makes numbers of rows: their rows, or a total, may be meant.

        `column` is the one with a yes or no, None for a condition, or for all people if they are counted `alone`.
        """
        rule = self.by.get(column or "", self.by.get(""))
        if rule not in (CAPPED if column is not None or alone else ("count",)):
            return
        cap, name = self.cap or 5, "column" if column is None else repr(column)
        meant = "the number of rows" if rule == "count" else "a total"
        total = f"sum({name}, per_person={rule!r}, max_rows={cap}, bounds=(0, {cap}))"
        total += " of any column" if column is None and rule == "count" else ""
        if column is not None:
            people = "people with a yes in any row, give per_person='any'"
        elif alone:
            people = "people, leave per_person out"
        else:
            people = f"people by a condition, give per_person={{column: {rule!r}}}"
        raise BadInput(
            f"per_person is {rule!r}, and {statistic} is about people; for {meant} ask {total}; for {people}"
        )


def turns(codes: Codes, people: int) -> Codes:
    """Which row of its person each row is: 0 for the first. [per_person.1]"""
    order = np.argsort(codes, kind="stable")
    starts = np.cumsum(np.bincount(codes, minlength=people)) - np.bincount(codes, minlength=people)
    turn = np.empty(len(codes), dtype=np.int64)
    turn[order] = np.arange(len(codes)) - starts[codes[order]]
    return turn


def one_each(
    values: npt.NDArray[Any],
    codes: Codes,
    people: int,
    *,
    rule: Rule,
    turn: Codes | None,
    cap: int | None,
    steady: bool = True,
) -> npt.NDArray[Any]:
    """One entry for each person, in the order of their codes; `turn` is needed where there is a cap. [per_person.1]"""
    if cap is not None and turn is not None:
        within = turn < cap
        values, codes = values[within], codes[within]
    if rule == "count":
        return np.bincount(codes, minlength=people).astype(np.float64)
    if rule in ("first", "last"):
        first = rule == "first"
        chosen = np.full(people, len(codes) if first else -1, dtype=np.int64)
        (np.minimum if first else np.maximum).at(chosen, codes, np.arange(len(codes)))
        return values[chosen]
    known = ~np.isnan(values)
    values, codes = values[known], codes[known]
    if not steady:  # [per_person.2]
        order = np.argsort(values)
        values, codes = values[order], codes[order]
    if rule in ("any", "all"):
        values = (values != 0).astype(np.float64)
    counts = np.bincount(codes, minlength=people)
    with np.errstate(all="ignore"):  # no entry warns
        if rule in ("mean", "sum"):
            found = np.bincount(codes, weights=values, minlength=people).astype(np.float64, copy=False)
            found = found / counts if rule == "mean" else found
        else:
            least = rule in ("min", "all")
            found = np.full(people, math.inf if least else -math.inf)
            (np.minimum if least else np.maximum).at(found, codes, values)
    return np.where(counts > 0, found, math.nan)
