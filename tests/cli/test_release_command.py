"""`discreet release`: price, question, run, files."""

import csv
import io
import json
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer

from discreet.ledger import Ledger
from discreet.tables.table import Table

Told = tuple[int, str, str]
Run = Callable[..., Told]


def charges(folder: Path) -> int:
    if not (folder / "study.ledger").exists():
        return 0
    with Ledger(folder / "study.ledger") as book:
        return len(book.entries("patients"))


@pytest.fixture
def unread(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From now on nobody may read a row of the plan's table; forecasts make up tables of their own."""
    real = Table.columns

    def locked(table: Table, *given: Any, **more: Any) -> Any:
        if "people.csv" in table.description:
            pytest.fail("a row was read")
        return real(table, *given, **more)

    return lambda: monkeypatch.setattr(Table, "columns", locked)


def test_from_a_plan_to_files_and_again_for_nothing(command: Run, plan: Path, unread: Callable[[], None]) -> None:
    folder = plan.parent / "plan-release"
    code, out, _ = command("release", "plan.toml", "--yes", "--seed", 1)
    assert code == 0
    told = ("A small study", "2 releases, whose epsilons add up to 1", "all  ", "Spent epsilon 1", "left: epsilon 0.5")
    for expected in told:
        assert expected in out
    assert sorted(path.name for path in folder.iterdir()) == ["report.html", "results.csv", "results.json"]
    found = json.loads((folder / "results.json").read_text())
    assert [entry["id"] for entry in found["releases"]] == ["all", "sexes"]
    assert not found["releases"][0]["release"]["publishable"]
    assert "A small study" in (folder / "report.html").read_text()
    assert len(list(csv.reader(io.StringIO((folder / "results.csv").read_text())))) >= 4
    assert charges(plan.parent) == 1

    unread()
    code, _, err = command("release", "plan.toml", "--yes")
    assert code == 2
    assert "already holds results.json, results.csv, report.html; give another folder with --out, or --force" in err
    code, out, _ = command("release", "plan.toml", "--yes", "--force", "--json")
    assert code == 0
    assert json.loads(out) == found == json.loads((folder / "results.json").read_text())
    assert charges(plan.parent) == 1
    code, out, _ = command("release", "plan.toml", "--out", "there")  # nothing to say yes to
    assert code == 0
    assert "This plan was answered before: the same answers, at no cost." in out
    assert f"This plan was answered before, at {found['created']}" in " ".join(out.split())
    assert (plan.parent / "there" / "results.json").read_text() == (folder / "results.json").read_text()


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_a_dry_run_writes_and_charges_nothing(
    command: Run, plan: Path, unread: Callable[[], None], more: tuple[str, ...]
) -> None:
    unread()
    code, out, _ = command("release", "plan.toml", "--dry-run", *more)
    assert code == 0
    if more:
        seen = json.loads(out)
        assert seen["spend"] == {"epsilon": 1.0, "delta": 0.0}
        assert [one["epsilon"] for one in seen["releases"]] == [0.5, 0.5]
        assert seen["releases"][0]["forecast"]["half_width"] > 1
        assert seen["balance"] is None
        assert seen["answered"] is False
    else:
        assert "The budget of patients is new: epsilon 1.5, delta 0." in out
        assert "Expected ±" in out
    assert sorted(path.name for path in plan.parent.iterdir()) == ["people.csv", "plan.toml"]


def test_types_that_a_text_file_does_not_declare_are_asked_for(command: Run, plan: Path) -> None:
    """By public facts alone in the dry run; the first rows are read for the steward, who asks for it."""
    asked = "[[release]]\nid = 'age'\nstatistic = 'mean'\ncolumns = 'age'\nepsilon = 0.1\n"
    plan.write_text(plan.read_text().replace('types = {age = "integer"}\n', "") + asked)
    code, out, _ = command("release", "plan.toml", "--dry-run")
    assert code == 0
    assert "A text file declares no types: cells of age that" in out
    code, out, _ = command("release", "plan.toml", "--suggest-types")
    assert code == 0
    assert "for you alone" in out
    assert '"age" = "integer"\n"sex" = "text"' in out
    plan.write_text(plan.read_text() + "\n" + out)
    assert "A text file declares no types" not in command("release", "plan.toml", "--dry-run")[1]
    assert "nothing to suggest" in command("release", "plan.toml", "--suggest-types")[1]


def test_a_dry_run_shows_what_would_be_refused(command: Run, plan: Path) -> None:
    releases = (
        "[[release]]\nid = 'few'\nstatistic = 'mean'\ncolumns = 'age'\nrows = 50\nepsilon = 0.1\n"
        "[[release]]\nid = 'free'\nstatistic = 'mean'\ncolumns = 'age'\nrows = 9000\nepsilon = 0.2\n"
        "[[release]]\nid = 'test'\nstatistic = 'paired_test'\ncolumns = 'age'\nrows = 500\nepsilon = 0.2\n"
    )
    plan.write_text(plan.read_text() + releases)
    code, out, _ = command("release", "plan.toml", "--dry-run")
    assert code == 0
    assert "few would be refused" in out
    assert "power 0." in out or "power 1." in out
    assert " sd" in out
    assert "standard deviations of the columns" in " ".join(out.split())


def test_a_plan_beyond_its_budget(command: Run, plan: Path, unread: Callable[[], None]) -> None:
    assert command("release", "plan.toml", "--yes", "--seed", 1)[0] == 0
    unread()
    code, out, err = command("release", "plan.toml", "--yes", "--force", "--as-of", "2027-01-01")
    assert code == 4
    assert err == ("this costs epsilon 1, and 0.5 is left of 1.5; ask for epsilon=0.5 or less, or fewer columns\n")
    assert "epsilon 0.5 is left of 1.5" in out
    assert charges(plan.parent) == 1
    plan.write_text(plan.read_text().replace('"count"', '"count"\nepsilon = 2'))
    code, _, err = command("release", "plan.toml", "--dry-run")
    assert code == 4
    assert "cost epsilon 2 together" in err


def test_nobody_says_yes(command: Run, plan: Path, unread: Callable[[], None]) -> None:
    unread()
    code, _, err = command("release", "plan.toml")
    assert code == 2
    assert err.startswith("spending needs a yes, and there is no terminal to ask at; give --yes,")
    assert charges(plan.parent) == 0


def test_somebody_says_no_then_yes(command: Run, plan: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []

    def no(question: str, *, abort: bool) -> None:
        said.append(question)
        assert abort
        raise typer.Abort

    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr(typer, "confirm", no)
    assert command("release", "plan.toml")[0] == 1
    assert charges(plan.parent) == 0
    monkeypatch.setattr(typer, "confirm", lambda question, **_: said.append(question))
    assert command("release", "plan.toml", "--seed", 1)[0] == 0
    assert charges(plan.parent) == 1
    assert said == ["Spend this?"] * 2


def test_answers_need_a_place_before_they_are_paid_for(command: Run, plan: Path, unread: Callable[[], None]) -> None:
    unread()
    (plan.parent / "file").touch()
    code, _, err = command("release", "plan.toml", "--yes", "--out", "file")
    assert code == 2
    assert "file cannot be written: File exists; give another folder with --out" in err
    code, _, err = command("release", "plan.toml", "--yes", "--out", "/proc/nowhere")
    assert code == 2
    assert "cannot be written" in err
    assert charges(plan.parent) == 0


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"count"', '"total"', "plan.toml, line 18: release.1.statistic: "),
        ('columns = "sex"', 'columns = "sexx"', "plan.toml, line 20: release 'sexes': there is no column 'sexx'"),
        ("rows = 500", "rows = ", "plan.toml is not TOML: "),
        ("rows = 500", "rowz = 500", "plan.toml, line 6: data.rowz: no such entry in a plan"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(command: Run, plan: Path, old: str, new: str, said: str) -> None:
    plan.write_text(plan.read_text().replace(old, new))
    code, out, err = command("release", "plan.toml", "--dry-run")
    assert (code, out) == (2, "")
    assert err.startswith(said)


def test_hostile_words_in_a_plan_are_only_words(command: Run, plan: Path) -> None:
    plan.write_text(plan.read_text().replace("A small study", "[bold]<script>alert(1)</script> [/] =1+1"))
    code, out, _ = command("release", "plan.toml", "--yes", "--seed", 1)
    assert code == 0
    assert "[bold]<script>alert(1)</script> [/] =1+1" in out
    assert "<script>alert(1)" not in (plan.parent / "plan-release" / "report.html").read_text()


def test_a_stored_report_is_made_anew_from_its_json(command: Run, plan: Path, unread: Callable[[], None]) -> None:
    assert command("release", "plan.toml", "--yes", "--seed", 1)[0] == 0
    unread()
    folder = plan.parent / "plan-release"
    page, sheet = ((folder / name).read_text() for name in ("report.html", "results.csv"))
    code, _, err = command("report", folder / "results.json")
    assert code == 2
    assert "already holds results.csv, report.html; give another folder with --out, or --force" in err
    code, out, _ = command("report", folder / "results.json", "--out", "again", "--json")
    assert code == 0
    assert [Path(one).name for one in json.loads(out)["written"]] == ["results.csv", "report.html"]
    assert (plan.parent / "again" / "report.html").read_text() == page
    (folder / "results.csv").unlink()
    code, out, _ = command("report", folder / "results.json", "--force")
    assert (code, out.startswith("Written: ")) == (0, True)
    assert (folder / "results.csv").read_text() == sheet
    assert charges(plan.parent) == 1


@pytest.mark.parametrize(("text", "said"), [(None, "cannot be read: No such file"), ("{}", "format"), ("no", "JSON")])
def test_what_is_no_report(command: Run, tmp_path: Path, text: str | None, said: str) -> None:
    if text is not None:
        (tmp_path / "results.json").write_text(text)
    code, out, err = command("report", "results.json", "--out", "again")
    assert (code, out) == (2, "")
    assert said in err
    assert not (tmp_path / "again").exists()


def test_no_plan(command: Run) -> None:
    code, _, err = command("release", "nothing.toml", "--dry-run")
    assert code == 2
    assert err.startswith("nothing.toml cannot be read: No such file or directory; give the path of a plan")


def test_nothing_of_a_plan_or_a_table_steers_the_terminal(command: Run, plan: Path) -> None:
    """Titles, columns and categories with escape sequences are shown as signs."""
    text = plan.read_text().replace("A small study", "A \\u001b[2Jstudy \\u202e")
    text = text.replace('id = "all"', 'id = "all"\ntitle = "how \\u001b]0;x\\u0007many"')
    plan.write_text(text.replace('["F", "M"]', '["F", "\\u001b[31mM"]'))
    table = Path("evil.csv")
    table.write_text("col\x1b[31m\n" + "red\x1b[31m\n" * 300)
    for asked in (
        ("release", "plan.toml", "--dry-run"),
        ("release", "plan.toml", "--yes", "--seed", 1),
        ("release", "plan.toml", "--yes"),
        ("describe", table, "--epsilon", 5, "--seed", 1),
        ("describe", table, "--epsilon", 5, "--person", "x\x1b[31m"),
    ):
        _, out, err = command(*asked)
        assert out or err
        assert all(letter == "\n" or not unicodedata.category(letter).startswith("C") for letter in out + err)


def test_a_table_that_is_gone_after_the_charge(command: Run, plan: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 6: it is paid for, and the same plan again is answered for nothing."""
    charge, people = Ledger.charge, plan.parent / "people.csv"

    def taken_away(*given: Any, **more: Any) -> Any:
        receipt = charge(*given, **more)
        people.rename(plan.parent / "away.csv")
        return receipt

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "charge", taken_away)
        code, _, err = command("release", "plan.toml", "--yes", "--seed", 1)
    assert code == 6
    assert "the budget was spent" in err
    (plan.parent / "away.csv").rename(people)
    code, _, _ = command("release", "plan.toml", "--yes", "--seed", 1)
    assert code == 0
    assert charges(plan.parent) == 1


def test_a_plan_is_edited_grown_and_run_next_year(command: Run, plan: Path) -> None:
    """Edits are free; a new release costs what it costs; a new date asks anew, and the two years are compared."""
    text = plan.read_text().replace("epsilon = 1.5", "epsilon = 9")
    plan.write_text(text)
    assert command("release", "plan.toml", "--yes", "--seed", 1, "--out", "first")[0] == 0
    plan.write_text(text.replace("A small", "Another"))
    code, out, _ = command("release", "plan.toml", "--dry-run")
    assert code == 0
    assert "were asked before, and cost nothing now" in " ".join(out.split())
    assert command("release", "plan.toml", "--yes", "--out", "second")[0] == 0
    assert charges(plan.parent) == 1
    assert command("release", "plan.toml", "--as-of", "soon")[0] == 2
    assert command("release", "plan.toml", "--yes", "--seed", 2, "--out", "third", "--as-of", "2027-01-01")[0] == 0
    assert charges(plan.parent) == 2
    code, out, _ = command("compare", "first/results.json", "third/results.json")
    assert code == 0
    for said in ("difference", "95% interval", "The noise of the two reports is independent.", "Not for publication"):
        assert said in " ".join(out.split())
    assert json.loads(command("compare", "first/results.json", "third/results.json", "--json")[1])["changes"]
    assert command("compare", "first/results.json", "nowhere.json")[0] == 2


SYNTHETIC = """
[[release]]
id = "rows"
statistic = "synthetic"
columns = ["sex", "age"]
options = {levels = {sex = ["F", "M"]}, edges = {age = [18, 40, 60, 90]}}
"""


def test_rows_of_a_synthetic_table_are_a_file(command: Run, plan: Path) -> None:
    plan.write_text(plan.read_text() + SYNTHETIC)
    folder = plan.parent / "plan-release"
    folder.mkdir()
    (folder / "rows-rows.csv").write_text("mine")
    code, _, err = command("release", "plan.toml", "--yes", "--seed", 1)
    assert code == 2
    assert "already holds rows-rows.csv" in err
    assert not charges(plan.parent)  # before anything is paid
    code, out, _ = command("release", "plan.toml", "--yes", "--seed", 1, "--force")
    assert code == 0
    assert "rows-rows.csv" in out
    rows = list(csv.DictReader(io.StringIO((folder / "rows-rows.csv").read_text())))
    assert 400 < len(rows) < 600
    assert {row["sex"] for row in rows} <= {"F", "M", ""}

    stored = "plan-release/results.json"
    code, out, _ = command("synthetic", stored, "--rows", 7, "--seed", 2, "--out", "few.csv")
    assert code == 0
    assert "Written: few.csv. Synthetic rows. The counts of marginal(...) have an interval" in out
    assert len((plan.parent / "few.csv").read_text().splitlines()) == 8
    code, out, _ = command("synthetic", stored, "--out", "all.parquet", "--json")
    assert code == 0
    assert json.loads(out)["written"] == ["all.parquet"]
    assert (plan.parent / "all.parquet").read_bytes()[:4] == b"PAR1"
    for arguments, said in (
        (("--out", "few.csv"), "already holds few.csv"),
        (("--out", "few.xls"), "--out is few.xls, and rows are written as CSV or Parquet"),
        (("--out", "x.csv", "--id", "all"), "--id is 'all', and the synthetic tables of the report are rows"),
    ):
        code, _, err = command("synthetic", stored, *arguments)
        assert code == 2
        assert said in " ".join(err.split())
    assert charges(plan.parent) == 1
