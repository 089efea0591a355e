"""The page of the lectures, row by row: names and tests are there, and every line runs and is true."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet import lectures

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "lectures.md").read_text()
ROW = re.compile(
    r"^\| ([^|]+) \| ([^|]+) \| `([^`]+)` \| `([^`]+)` \| \[`(\w+)`\]\(\.\./(tests/[\w/]+\.py)\) \| ([^|]+) \|$"
)
ROWS = [found.groups() for line in PAGE.splitlines() if (found := ROW.match(line))]


@cache
def names() -> dict[str, Any]:
    """What the lines run after."""
    (block,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    space: dict[str, Any] = {}
    exec(compile(block, "lectures.md", "exec"), space)
    return space


def test_every_row_is_read() -> None:
    lines = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith("| where")]
    assert len(lines) == len(ROWS) >= 125
    assert PAGE.count("\n## Lecture ") == 5


def test_all_names_are_public_and_there() -> None:
    for *_, name, _line, _test, _file, _status in ROWS:
        first, *rest = name.split(".")
        found: Any = {"lectures": lectures, "discreet": discreet}[first]
        for part in rest:
            if not hasattr(found, part):  # a module that is not loaded yet
                __import__(f"{found.__name__}.{part}")
            found = getattr(found, part)
        assert callable(found) or name == "lectures.PRINTED", name


def test_all_tests_are_there() -> None:
    for *_, test, file, _status in ROWS:
        assert f"def {test}(" in (ROOT / file).read_text(), f"{file} has no {test}"


def test_every_status_is_full_or_argued() -> None:
    for row in ROWS:
        status = row[-1]
        assert status == "full" or status.startswith("argued impossible: "), row
    assert sum(row[-1] != "full" for row in ROWS) <= 5


def test_every_erratum_that_is_named_exists() -> None:
    named = {
        name
        for words in re.findall(r"errat(?:um|a) ((?:\"[^\"]+\"(?:, )?)+)", PAGE)
        for name in re.findall(r'"([^"]+)"', words)
    }
    known = {found.name for found in lectures.ERRATA}
    assert named <= known
    assert known - named == {"floats"}, "every erratum belongs to a statement, but for one about all noise"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]} {row[2]}")
def test_the_line_runs_and_is_true(row: tuple[str, ...]) -> None:
    answer = eval(row[3], dict(names()))
    assert answer is True or (answer is not False and bool(answer)), row[3]
