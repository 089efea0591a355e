"""`discreet plan`: init, check, edit, diff."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner, Result

from discreet.cli.app import app
from discreet.errors import BadInput, OverBudget
from discreet.plan.plan_file import read_plan

SHELL = CliRunner()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    table = {"patient_id": [1, 2], "age": [31.0, 52.0], "smoker": [True, False], "town": ["Ulm", "Bonn"]}
    pq.write_table(pa.table(table), "people.parquet")
    Path("people.csv").write_text("patient_id,age\n1,31\n")
    return tmp_path


def plan(*words: str, **more: str) -> Result:
    return SHELL.invoke(app, ["plan", *words], **more)  # type: ignore[arg-type]


def drafted(*words: str) -> Result:
    return plan("init", "people.parquet", "--epsilon", "1", "--budget", "2", "--budget-delta", "1e-5", *words)


def test_a_draft_asks_what_the_kinds_allow_and_can_be_checked(folder: Path) -> None:
    assert drafted("--delta", "1e-6", "--person", "patient_id", "--unit", "patient").exit_code == 0
    found, _ = read_plan("plan.toml")
    asked = {entry.id: entry.statistic for entry in found.release}
    assert asked == {"people": "count", "age": "mean", "smoker": "proportion", "town": "histogram"}
    assert found.data.person == "patient_id"
    assert (found.spend.epsilon, found.population.epsilon) == (1.0, 2.0)
    assert (found.spend.delta, found.population.delta) == (1e-6, 1e-5)
    checked = plan("check", "plan.toml")
    assert checked.exit_code == 0, checked.output
    assert "mean of age" in checked.output
    assert not list(folder.glob("*.ledger*"))


def test_an_id_is_left_out_and_categories_without_delta_are_a_comment(folder: Path) -> None:
    assert drafted().exit_code == 0
    found, text = read_plan("plan.toml")
    assert [entry.id for entry in found.release] == ["people", "age", "smoker"]
    assert '# person = "patient_id"' in text
    assert '# columns = "town"' in text


def test_a_text_file_declares_nothing_unless_types_are_given(folder: Path) -> None:
    given = ("init", "people.csv", "--epsilon", "1", "--budget", "2", "--budget-delta", "0")
    assert plan(*given, "--out", "bare.toml").exit_code == 0
    assert [entry.id for entry in read_plan("bare.toml")[0].release] == ["people"]
    assert plan(*given, "--out", "typed.toml", "--type", "age=number").exit_code == 0
    assert [entry.id for entry in read_plan("typed.toml")[0].release] == ["people", "age"]
    assert plan("check", "typed.toml").exit_code == 0


def test_the_delta_of_the_people_is_asked_for(folder: Path) -> None:
    """It is set once: a draft that took the plan's own would leave later plans none."""
    assert plan("init", "people.parquet", "--epsilon", "1", "--budget", "2").exit_code == 2
    refused = drafted("--delta", "1e-4")
    assert isinstance(refused.exception, BadInput)
    assert "give a larger --budget-delta" in str(refused.exception)


def test_a_draft_does_not_write_over_a_plan(folder: Path) -> None:
    assert drafted().exit_code == 0
    again = drafted()
    assert isinstance(again.exception, BadInput)
    assert "is there already" in str(again.exception)
    assert drafted("--force").exit_code == 0


def test_a_check_says_that_the_budget_does_not_fit(folder: Path) -> None:
    """A new population's budget, and what is left of one that was opened."""
    assert drafted("--person", "patient_id").exit_code == 0
    text = Path("plan.toml").read_text()
    Path("small.toml").write_text(text.replace("epsilon = 2 ", "epsilon = 0.5 "))
    for words in (["plan", "check", "small.toml"], ["release", "small.toml", "--dry-run"]):
        assert isinstance(SHELL.invoke(app, words).exception, OverBudget)
    opened = SHELL.invoke(app, ["ledger", "budget", "people.ledger", "people", "--epsilon", "0.7", "--unit", "patient"])
    assert opened.exit_code == 0, opened.output
    Path("unit.toml").write_text(text.replace("[population]", "unit = 'nurse'\n[population]"))
    refused = plan("check", "unit.toml")
    assert isinstance(refused.exception, BadInput)
    assert "for a patient" in str(refused.exception)
    Path("same.toml").write_text(text.replace("[population]", "unit = 'patient'\n[population]"))
    assert isinstance(plan("check", "same.toml").exception, OverBudget)


def test_a_difference_is_told_by_release_and_order_does_not_count(folder: Path) -> None:
    assert drafted().exit_code == 0
    text = Path("plan.toml").read_text()
    head, *entries = text.split("[[release]]")
    live = [entry.split("#")[0] for entry in entries[:3]]
    one, other = (f"{head}{''.join(f'[[release]]{entry}' for entry in some)}" for some in (live, live[::-1]))
    Path("one.toml").write_text(one)
    Path("other.toml").write_text(other)
    assert plan("diff", "one.toml", "other.toml").output == "The plans say the same.\n"
    Path("other.toml").write_text(other.replace('"age"\nstatistic = "mean"', '"age"\nstatistic = "median"'))
    assert plan("diff", "one.toml", "other.toml").output == 'release age: statistic: "mean" -> "median"\n'


def test_an_edited_plan_is_checked_and_opened_again_until_it_is_right(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert drafted("--person", "patient_id").exit_code == 0
    right = Path("plan.toml").read_text()
    saved = iter([right.replace('columns = "age"', 'columns = "aeg"'), right])
    monkeypatch.setattr("click.edit", lambda filename: Path(filename).write_text(next(saved)))
    done = plan("edit", "plan.toml", input="y\n")
    assert done.exit_code == 0, done.output
    assert "there is no column 'aeg'" in done.output
    assert next(saved, None) is None
