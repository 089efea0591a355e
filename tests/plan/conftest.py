"""A small table and a plan beside it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.plan.bound_plan import Bound, bind
from discreet.plan.plan_file import parse_plan
from discreet.tables.table import Table

N = 600
HEAD = """\
title = "A small study"

[data]
source = "people.csv"
unit = "patient"
types = {age = "integer", bmi = "number"}

[population]
name = "patients"
ledger = "study.ledger"
epsilon = 3
delta = 1e-4

[spend]
epsilon = 1.0
"""
COUNT = """
[[release]]
id = "all"
statistic = "count"
"""
SHARE = """
[[release]]
id = "women"
statistic = "proportion"
columns = "sex == 'F'"
"""


@pytest.fixture
def head() -> str:
    """The first 16 lines of a plan, without releases; it may spend epsilon 1 and no delta."""
    return HEAD


@pytest.fixture
def plan() -> str:
    """A plan of two releases."""
    return HEAD + COUNT + SHARE


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """600 people in a CSV file; one of them alone lives in Zzyzx."""
    rng = np.random.default_rng(3)
    towns = np.where(np.arange(N) == 7, "Zzyzx", rng.choice(["Ulm", "Bonn"], N))
    rows = zip(rng.integers(18, 90, N), rng.normal(27, 4, N).round(1), rng.choice(["F", "M"], N), towns, strict=True)
    lines = ["age,bmi,sex,town", *(",".join(map(str, row)) for row in rows)]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


@pytest.fixture
def bound(folder: Path) -> Callable[[str], Bound]:
    """A plan's text, bound to the table."""
    return lambda text: bind(parse_plan(text, "plan.toml"), text, folder, name="plan.toml")


class Reads:
    """How often rows of the plan's table were read; forecasts make up tables of their own."""

    count = 0


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Reads:
    """Counts every reading of columns."""
    seen, real = Reads(), Table.columns

    def counted(table: Table, *given: Any, **more: Any) -> Any:
        seen.count += "people.csv" in table.description
        return real(table, *given, **more)

    monkeypatch.setattr(Table, "columns", counted)
    return seen
