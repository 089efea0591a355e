"""`discreet ledger` as stewards and auditors use it."""

import csv
import io
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet.cli import main
from discreet.ledger import Ledger
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Approximate, Choice, Composed, Gaussian, Laplace

Told = tuple[int, str, str]
Run = Callable[..., Told]
LONG = "mean of age in the north, of all patients who were seen at least twice between January and March"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """The command line in this process: exit code, output, errors."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")

    def told(*arguments: object) -> Told:
        monkeypatch.setattr(sys, "argv", ["discreet", "ledger", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        output = capsys.readouterr()
        return int(ended.value.code or 0), output.out, output.err

    return told


@pytest.fixture
def used(run: Run) -> Run:
    """A ledger of two populations, in the current folder."""
    assert run("budget", "l", "patients of the region", "--epsilon", 1)[0] == 0
    assert run("budget", "l", "patients of the region", "--epsilon", 0.2, "--analyst", "ann")[0] == 0
    mu = ("--delta", 1e-6, "--accounting", "gdp", "--unit", "household", "--neighbours", "add_or_remove")
    assert run("budget", "l", "trial 7", "--epsilon", 1, *mu)[0] == 0
    with Ledger("l") as ledger:
        receipt = ledger.charge("patients of the region", Laplace(0.4), LONG, request="north")
        ledger.store(receipt, '{"value": 47.1}')
        loss = Composed((Laplace(0.1), Choice(0.05)))
        ledger.charge("patients of the region", loss, "[bold]share\u202e of smokers", analyst="ann")
        for _ in range(3):
            ledger.charge("trial 7", Composed((Gaussian(0.05, 1e-12), Approximate(0.01, 1e-9))), "histogram")
    return run


def record(told: Told) -> Any:
    code, out, err = told
    assert (code, err) == (0, "")
    return json.loads(out)


def refused(told: Told, code: int, words: str) -> None:
    assert told[0] == code, told
    assert told[1] == ""
    assert words in told[2]
    assert len(told[2].strip().splitlines()) == 1


def test_list_for_people(used: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for width in (80, 140):
        monkeypatch.setenv("COLUMNS", str(width))
        lines = used("list", "l")[1].splitlines()
        assert max(map(len, lines)) <= width
        assert lines[0].split() == ["population", "accounting", "budget", "spent", "left", "charges"]
        assert lines[1].split() == ["patients", "of", "the", "region", "epsilon", "1", "0.55", "0.45", "2"]
        assert lines[2].split() == ["ann", "epsilon", "0.2", "0.15", "0.05", "1"]
        assert lines[4].split() == ["delta", "5e-07", "3.01115e-09", "4.96989e-07"]
        assert "- trial 7: epsilon 1, delta 1e-06; per household, one person is added or removed" in lines
    monkeypatch.setenv("COLUMNS", "30")
    assert "…" not in used("list", "l")[1]


def test_list_for_machines(used: Run) -> None:
    whole, part, trial = record(used("list", "l", "--json"))
    assert (whole["population"], whole["analyst"], whole["charges"]) == ("patients of the region", None, 2)
    assert whole["left"] == {"cost": 0.45, "delta": 0.0, "exact": {"cost": "9/20", "delta": "0/1"}}
    assert (part["analyst"], part["spent"]["exact"]["cost"]) == ("ann", "3/20")
    assert (trial["accounting"], trial["unit"], trial["neighbours"]) == ("gdp", "household", "add_or_remove")


def test_show_for_people(used: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for width in (80, 140):
        monkeypatch.setenv("COLUMNS", str(width))
        out = used("show", "l", "patients of the region", "--answers")[1]
        *table, total = out.splitlines()
        assert max(map(len, table)) <= width
        words = " ".join(out.split())
        for expected in ("entry 4, ", ", ann: ", "(epsilon 0.4)", '{"value":', "no answer was"):
            assert expected in words
        assert "[bold]share\ufffd" in out  # neither colours nor the direction of writing are for notes to choose
        assert "\u202e" not in out
        assert total.startswith("2 charges: epsilon 0.55 spent; epsilon 0.45 is left of 1")
    plain = used("show", "l", "patients of the region")[1]
    for expected in ("time (UTC)", "analyst", "0.4", "private choice,"):
        assert expected in " ".join(plain.split())
    assert "47.1" not in plain
    last = used("show", "l", "trial 7", "--last", 2)[1]
    assert "analyst" not in last
    assert last.count("histogram") == 2
    assert "3 charges, of which 2 are listed" in last


def test_show_for_machines(used: Run) -> None:
    shown = record(used("show", "l", "patients of the region", "--json", "--answers"))
    first, second = shown["entries"]
    assert (first["question"], first["answer"], first["request"]) == (LONG, '{"value": 47.1}', "north")
    assert (second["analyst"], second["answer"], second["answered"]) == ("ann", None, False)
    assert second["cost"]["exact"]["cost"] == "3/20"
    assert second["exact_loss"]["parts"][1] == {"loss": "Choice", "epsilon": "1/20"}
    assert "answer" not in record(used("show", "l", "trial 7", "--json", "--last", 1))["entries"][0]


def test_verify_says_what_it_found_and_what_it_cannot(used: Run) -> None:
    code, out, _ = used("verify", "l")
    assert (code, out.splitlines()[0]) == (0, "9 entries, all as they were written")
    assert "What this cannot prove:" in out
    assert "newest copy" in out
    assert record(used("verify", "l", "--json"))["ok"] is True
    Path("l.anchor").rename("elsewhere")
    code, out, _ = used("verify", "l")
    assert (code, out.splitlines()[0]) == (5, "9 entries, each as it was written, but nothing shows that they are all")
    assert "its anchor is not there" in out
    assert used("verify", "l", "--anchor", "elsewhere")[0] == 0
    refused(used("verify", "l", "--anchor", "nowhere"), 2, "anchor nowhere cannot be read")


def test_a_changed_ledger_has_an_exit_code_of_its_own(used: Run) -> None:
    with closing(sqlite3.connect("l")) as thief, thief:
        thief.execute("UPDATE discreet_entries SET body = replace(body, '2/5', '1/5') WHERE number = 4")
    thief.close()
    code, out, err = used("verify", "l")
    assert (code, err) == (5, "")
    assert "entry 4 was changed after it was written" in out
    code, out, _ = used("verify", "l", "--json")
    assert code == 5
    assert json.loads(out)["problems"][0] == {"entry": 4, "what": "was changed after it was written"}
    refused(used("show", "l", "patients of the region"), 5, "the ledger was changed by other hands")
    Path("other").write_bytes(os.urandom(32))
    refused(used("list", "l", "--key", "other"), 5, "another key")
    assert used("verify", "l", "--key", "other")[0] == 5


def test_export(used: Run) -> None:
    code, out, _ = used("export", "l")
    header, *rows = csv.reader(io.StringIO(out))
    assert (code, header[0], len(rows)) == (0, "entry", 9)
    assert len(record(used("export", "l", "--form", "json"))["entries"]) == 9
    assert len(record(used("export", "l", "--json"))["entries"]) == 9
    assert used("export", "l", "--out", "book.csv")[0] == 0
    assert Path("book.csv").read_text() == out
    Path("book.csv").write_text("precious")
    refused(used("export", "l", "--out", "book.csv"), 2, "is there already")
    assert Path("book.csv").read_text() == "precious"
    written = record(used("export", "l", "--form", "json", "--out", "book.csv", "--force", "--json"))
    assert written["bytes"] == Path("book.csv").stat().st_size
    assert len(json.loads(Path("book.csv").read_text())["accounts"]) == 3
    refused(used("export", "l", "--out", "no/such"), 2, "cannot be written")
    Path("folder").mkdir()
    refused(used("export", "l", "--out", "folder", "--force"), 2, "is not a file")
    assert sorted(path.name for path in Path().iterdir()) == ["book.csv", "folder", "l", "l.anchor", "l.key"]


def test_budget_opens_and_shows(used: Run) -> None:
    code, out, _ = used("budget", "l", "patients of the region")
    assert code == 0
    assert out.startswith("patients of the region: epsilon 0.45 is left of 1")
    assert "2 charges; per row; one person is added or removed" in out
    assert record(used("budget", "l", "patients of the region", "--analyst", "ann", "--json"))["left"]["cost"] == 0.05
    assert used("budget", "l", "patients of the region", "--epsilon", 1)[0] == 0  # the same again changes nothing
    refused(used("budget", "l", "patients of the region", "--epsilon", 2), 2, "on other terms")
    refused(used("budget", "l", "Trial 7", "--epsilon", 1), 2, "would be taken for it")
    refused(used("budget", "l", "x", "--delta", 0.1), 2, "--delta opens a budget")
    refused(
        used("budget", "l", "trial 7", "--epsilon", 1, "--analyst", "ann", "--accounting", "zcdp"),
        2,
        "of its population",
    )
    refused(used("budget", "l", "x", "--epsilon", 1, "--accounting", "zcdp"), 2, "delta")
    assert (
        record(used("budget", "l", "y", "--epsilon", 1, "--delta", 1e-6, "--accounting", "zcdp", "--json"))["charges"]
        == 0
    )


def test_a_ledger_that_is_not_there_is_made_by_its_first_budget_alone(run: Run) -> None:
    for arguments in (("list", "l"), ("show", "l", "x"), ("verify", "l"), ("export", "l"), ("budget", "l", "x")):
        refused(run(*arguments), 2, "there is no ledger at l")
    refused(run("budget", "l", "x", "--epsilon", 0), 2, "the budget's epsilon is 0")
    assert list(Path().iterdir()) == []
    Path("kept").mkdir()
    assert run("budget", "l", "x", "--epsilon", 1, "--anchor", "kept/anchor")[0] == 0
    assert sorted(path.name for path in Path().iterdir()) == ["kept", "l", "l.key"]
    assert Path("l.key").stat().st_mode & 0o077 == 0
    refused(run("list", "kept"), 2, "there is no ledger")
    Path("text").write_text("not a ledger, " * 100)
    refused(run("list", "text", "--key", "l.key"), 2, "it is not a ledger")
    Path("m").write_bytes(b"")
    refused(run("list", "m", "--key", "l.key"), 2, "there is no ledger")


def test_an_empty_ledger(run: Run) -> None:
    Ledger("l").close()
    assert "no population in this ledger yet" in run("list", "l")[1]
    assert record(run("list", "l", "--json")) == []
    refused(run("show", "l", "people"), 2, "no population 'people'")
    refused(run("show", "l"), 2, "no population in this ledger yet")
    run("budget", "l", "people", "--epsilon", 1)
    assert run("show", "l", "people")[1].startswith("0 charges: epsilon 0 spent")
    assert run("show", "l")[1] == run("show", "l", "people")[1]
    run("budget", "l", "others", "--epsilon", 1)
    refused(run("show", "l"), 2, "say whose budget: others, people")


def test_passwords_are_never_printed(run: Run) -> None:
    Path("key").write_bytes(os.urandom(32))
    address = "postgresql://ann:secret1@localhost:1/x?password=secret2"
    for arguments in (("list",), ("verify",), ("export",)):
        for key in ((), ("--key", "key")):
            code, out, err = run(*arguments, address, *key)
            assert code == 2
            assert "secret" not in out + err
    refused(
        run("budget", address, "x", "--epsilon", 1, "--key", "key"), 2, "postgresql+psycopg://ann:***@localhost:1/x"
    )


def test_a_session_opens_on_a_budget_with_the_defaults_of_both(run: Run) -> None:
    assert run("budget", "study.ledger", "people", "--epsilon", 2)[0] == 0
    people = {"age": [float(k % 80) for k in range(4000)]}
    with discreet.open(people, ledger="study.ledger", population="people") as session:
        answer = session.count(epsilon=0.5)
        assert (answer.guarantee.unit, answer.guarantee.neighbours) == ("row", Neighbours.ADD_OR_REMOVE)
        assert session.balance.left.epsilon == 1.5
    alone = discreet.count([True] * 10, epsilon=0.5).guarantee
    assert (alone.unit, alone.neighbours) == (answer.guarantee.unit, answer.guarantee.neighbours)
    assert run("budget", "study.ledger", "visits", "--epsilon", 2, "--unit", "visit", "--accounting", "zcdp")[0] == 2
    assert run("budget", "study.ledger", "visits", "--epsilon", 2, "--unit", "visit")[0] == 0
    with discreet.open(people, ledger="study.ledger", population="visits") as session:
        assert session.count(epsilon=0.5).guarantee.unit == "visit"  # the account's word


def test_a_ledger_in_postgresql(run: Run, server: Callable[[], str]) -> None:
    where, kept = server(), ("--key", "key", "--anchor", "anchor")
    Path("key").write_bytes(os.urandom(32))
    Path("key").chmod(0o600)
    refused(run("list", where, "--key", "key"), 2, "there is no ledger at postgresql+psycopg://")
    assert record(run("budget", where, "people", "--epsilon", 1, *kept, "--json"))["left"]["cost"] == 1
    with Ledger(where, key="key", anchor="anchor") as ledger:
        ledger.charge("people", Laplace(0.25), "mean")
    assert run("list", where, *kept)[1].splitlines()[1].split() == ["people", "epsilon", "1", "0.25", "0.75", "1"]
    assert "1 charge: epsilon 0.25 spent" in run("show", where, "people", *kept)[1]
    assert run("verify", where, *kept)[0] == 0
    code, out, _ = run("verify", where, "--key", "key")
    assert code == 5
    assert "the ledger has an anchor that was not given" in out
    refused(run("export", where, "--key", "key"), 5, "has an anchor; give anchor=")
    assert len(run("export", where, *kept)[1].splitlines()) == 3


def test_a_lost_anchor_begins_anew_on_the_steward_s_word_alone(used: Run) -> None:
    refused(used("trust", "l", "--why", "habit"), 2, "there is nothing to trust it in")
    Path("l.anchor").unlink()
    for arguments in (("list", "l"), ("budget", "l", "new", "--epsilon", 1)):
        refused(used(*arguments), 5, "see `discreet ledger trust --help`")
    assert used("trust", "l")[0] == 2  # without a reason
    refused(used("trust", "l", "--why", " "), 2, "say why")
    refused(used("trust", "none", "--why", "x"), 2, "there is no ledger at none")
    assert not Path("l.anchor").exists()
    code, out, _ = used("trust", "l", "--why", "its disk failed")
    assert (code, out.startswith("entry 10: the anchor ")) == (0, True)
    code, out, _ = used("verify", "l")
    assert (code, out.splitlines()[0]) == (0, "10 entries, all as they were written")
    assert "began the anchor anew: 'its disk failed'. That nothing was forgotten before it is the steward's word" in out
    assert used("budget", "l", "new", "--epsilon", 1)[0] == 0
    assert [row[2] for row in csv.reader(io.StringIO(used("export", "l")[1]))][-2:] == ["anchor", "open"]


def test_output_that_is_cut_or_full_is_no_traceback(used: Run, tmp_path: Path) -> None:
    command = f"{sys.executable} -m discreet ledger"
    cut = subprocess.run(f"{command} export l | head -1", shell=True, capture_output=True, text=True, check=False)
    assert (cut.stdout.startswith('"entry"'), cut.stderr) == (True, "")
    if Path("/dev/full").exists():
        full = subprocess.run(f"{command} export l >/dev/full", shell=True, capture_output=True, text=True, check=False)
        assert full.returncode == 1
        assert len(full.stderr.strip().splitlines()) == 1
        assert "Traceback" not in full.stderr


def test_every_command_has_an_example_in_its_help(run: Run) -> None:
    for command in ("list", "show", "verify", "trust", "export", "budget"):
        code, out, _ = run(command, "--help")
        assert code == 0
        assert f"Example: discreet ledger {command} " in " ".join(out.split())
        for option in ("--json", "--key", "--anchor"):
            assert option in out


@pytest.mark.parametrize("arguments", [("list",), ("show", "l"), ("show", "l", "x", "--last", "0"), ("nothing",)])
def test_wrong_words_are_a_usage_error(run: Run, arguments: tuple[str, ...]) -> None:
    assert run(*arguments)[0] == 2


def completed(words: str, count: int) -> list[str]:
    asked = {"_DISCREET_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(count)}
    return shell(**asked).split()


def shell(**environment: str) -> str:
    code = "import sys; sys.argv = ['discreet']; from discreet.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | environment, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return done.stdout


def test_the_shell_completes_commands_and_options() -> None:
    assert "complete -o default -F _discreet_completion discreet" in shell(_DISCREET_COMPLETE="source_bash")
    assert completed("discreet l", 1) == ["ledger"]
    assert completed("discreet ledger ", 2) == ["list", "show", "verify", "sign", "trust", "export", "budget"]
    assert completed("discreet ledger budget l x --accounting ", 6) == ["epsilon", "zcdp", "gdp"]
