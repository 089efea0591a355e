"""The command line in this process."""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from discreet.cli import main

Told = tuple[int, str, str]
N = 500
PLAN = """\
title = "A small study"

[data]
source = "people.csv"
types = {age = "integer"}
rows = 500

[population]
name = "patients"
ledger = "study.ledger"
epsilon = 1.5

[spend]
epsilon = 1.0

[[release]]
id = "all"
statistic = "count"

[[release]]
id = "sexes"
statistic = "histogram"
columns = "sex"
options = {categories = ["F", "M"]}
"""


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Told]:
    """`discreet ...` in an empty folder: exit code, output, errors. No browser prints a PDF."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("discreet.cli.reports.to_pdf", lambda html, path: False)

    def told(*arguments: object) -> Told:
        monkeypatch.setattr(sys, "argv", ["discreet", *map(str, arguments)])
        capsys.readouterr()
        code: object = 0
        try:
            main()
        except SystemExit as ended:
            code = ended.code
        output = capsys.readouterr()
        assert "Traceback" not in output.err
        return int(str(code or 0)), output.out, output.err

    return told


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """500 people in a CSV file."""
    rng = np.random.default_rng(3)
    rows = zip(rng.integers(18, 90, N), rng.choice(["F", "M"], N), strict=True)
    (tmp_path / "people.csv").write_text("age,sex\n" + "".join(f"{age},{sex}\n" for age, sex in rows))
    return tmp_path / "people.csv"


@pytest.fixture
def plan(tmp_path: Path, table: Path) -> Path:
    """A plan of two releases about them."""
    assert table.exists()
    (tmp_path / "plan.toml").write_text(PLAN)
    return tmp_path / "plan.toml"
