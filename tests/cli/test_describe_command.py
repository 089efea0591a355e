"""`discreet describe`: a profile in the terminal, as a page, and in a ledger."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.ledger import Ledger

Told = tuple[int, str, str]
Run = Callable[..., Told]
FREE = ("--one-row-per-person", "--no-ledger")


def test_a_file_without_types(command: Run, table: Path) -> None:
    code, out, _ = command("describe", table, "--epsilon", 4, "--seed", 1, *FREE)
    assert code == 0
    kinds = {line.split()[0]: line.split()[1] for line in out.splitlines() if line.startswith(("age", "sex"))}
    assert kinds == {"age": "num", "sex": "text"}
    for expected in ("people", "M 2", "Not for publication", "in no ledger", "epsilon 4, delta 1e-06"):
        assert expected in out, out
    assert sorted(path.name for path in table.parent.iterdir()) == ["people.csv"]


def test_a_parquet_file_of_people_with_several_rows(command: Run, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    columns = {"who": [f"p{k // 2}" for k in range(800)], "height": rng.normal(170, 9, 800), "ill": [True, False] * 400}
    pq.write_table(pa.table(columns), tmp_path / "visits.parquet")
    asked = (
        "--epsilon",
        2,
        "--delta",
        0,
        "--person",
        "who",
        "--no-ledger",
        "--unit",
        "patient",
        "--seed",
        1,
        "--html",
        "page.html",
    )
    code, out, err = command("describe", "visits.parquet", *asked, "--json")
    assert code == 0, err
    made = json.loads(out)
    assert abs(made["releases"][0]["release"]["value"] - 400) < 150
    assert made["data"]["unit"] == "patient"
    assert "visits.parquet" in (tmp_path / "page.html").read_text()
    code, _, err = command("describe", "visits.parquet", *asked)
    assert code == 2
    assert "page.html is there already; give another name, or --force" in err


def test_a_second_profile_is_beyond_the_budget(command: Run, table: Path) -> None:
    asked = (
        "describe",
        table,
        "--epsilon",
        1,
        "--one-row-per-person",
        "--ledger",
        "l",
        "--population",
        "patients",
        "--type",
        "age=integer",
    )
    code, out, _ = command(*asked, "--budget", 1.5, "--budget-delta", 1e-5)
    assert code == 0
    assert "in no ledger" not in out
    assert "Not for publication" not in out
    code, out, err = command(*asked)
    assert (code, out) == (4, "")
    assert err.startswith("this costs epsilon 1, and 0.5 is left of 1.5")
    with Ledger(table.parent / "l") as book:
        (charge,) = book.entries("patients")
        assert (float(charge.cost), float(charge.delta)) == (1.0, 1e-6)
        assert "profile" in charge.note


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--population", "x"), "a population and its budget are kept in a ledger; give a ledger, too"),
        (("--budget", 1), "give a ledger, too"),
        (("--person", "id"), "there is no column 'id'"),
        (("--type", "age"), "--type is 'age'; write NAME=number"),
        (("--type", "age=int"), "it is one of number"),
        (("--type", "height=number"), "'height'"),
        (("--delta", 0), "needs delta above 0"),
        (("--table", "people"), "is for the address of a database"),
        (("--html", "nowhere/page.html"), "is not a folder"),
        (("--ledger", "l", "--population", "x"), "x"),
    ],
)
def test_what_cannot_be_described(command: Run, table: Path, arguments: tuple[object, ...], said: str) -> None:
    whose = () if "--person" in arguments else ("--one-row-per-person",)
    where = () if "--ledger" in arguments else ("--no-ledger",)
    code, out, err = command("describe", table, "--epsilon", 1, *arguments, *whose, *where)
    assert (code, out) == (2, "")
    assert said in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "nothing says whose row is whose; give --person COLUMN, or --one-row-per-person"),
        (("--one-row-per-person",), "nothing says where the cost is recorded; give --ledger FILE, or --no-ledger"),
        (("--one-row-per-person", "--person", "id", "--no-ledger"), "are both given"),
        (("--one-row-per-person", "--ledger", "l", "--no-ledger"), "are both given"),
        ((*FREE, "--id", "height"), "there is no column 'height'"),
    ],
)
def test_people_and_ledger_are_stated_before_anything_is_drawn(
    command: Run, table: Path, arguments: tuple[object, ...], said: str
) -> None:
    code, out, err = command("describe", table, "--epsilon", 1, *arguments)
    assert (code, out) == (2, "")
    assert said in err
    assert sorted(path.name for path in table.parent.iterdir()) == ["people.csv"]


@pytest.mark.parametrize("width", [80, 140])
def test_a_column_is_one_line_of_the_terminal(
    command: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    rng = np.random.default_rng(1)
    columns = {f"height_{k}": rng.normal(170, 9, 4000) for k in range(11)} | {"town": ["Ulm", "Bonn"] * 2000}
    pq.write_table(pa.table(columns), tmp_path / "people.parquet")
    code, out, _ = command("describe", "people.parquet", "--epsilon", 4, "--seed", 1, *FREE)
    assert code == 0
    rows = [line for line in out.splitlines() if line.startswith(("height_", "town"))]
    assert len(rows) == 12
    assert all(len(line) <= width for line in out.splitlines())
    assert all(line.count("[") == 3 for line in rows[:11])
    assert ("┃" in out) == (width == 140)


@pytest.mark.parametrize("epsilon", ["0", "-1", "nan", "inf", "1e9"])
def test_epsilons_that_are_none(command: Run, table: Path, epsilon: str) -> None:
    assert command("describe", table, "--epsilon", epsilon, *FREE)[0] == 2
