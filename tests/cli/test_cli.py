"""The command line as a person and as a script uses it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


def run(*arguments: str, ok: bool = True) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([sys.executable, "-m", "discreet", *arguments], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    assert (done.returncode == 0) == ok, done.stderr
    return done


def test_demo_for_people() -> None:
    text = run("demo", "--seed", "1").stdout
    for expected in ("8,366 people", "diabetes", "general health", "epsilon", "left of 2", "Not for publication"):
        assert expected in text
    assert run("demo", "--seed", "1").stdout == text


def test_demo_for_machines_stays_within_its_budget() -> None:
    steps = json.loads(run("demo", "--json").stdout)
    assert len(steps) >= 6
    assert sum(step["guarantee"]["epsilon"] for step in steps) <= 2.0 + 1e-12
    assert steps[-1]["left"]["epsilon"] >= 0
    assert all(step["publishable"] for step in steps)
    assert all(step["value"] is not None for step in steps)


def test_demo_without_a_seed_is_never_the_same_twice() -> None:
    assert run("demo", "--json").stdout != run("demo", "--json").stdout


def test_explain() -> None:
    text = " ".join(
        run("explain", "--epsilon", "1", "--delta", "1e-6", "--group", "3", "--prior", "0.01").stdout.split()
    )
    assert "20.1 times" in text
    record = json.loads(run("explain", "--epsilon", "1", "--json").stdout)
    assert record["sentences"]
    huge = run("explain", "--epsilon", "1000000")
    assert huge.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("explain", "--epsilon", "0"),
        ("explain", "--epsilon", "nan"),
        ("explain", "--epsilon", "1", "--delta", "2"),
        ("explain", "--epsilon", "1", "--prior", "3"),
        ("explain", "--epsilon", "1", "--group", "0"),
        ("demo", "--seed", "-1"),
    ],
)
def test_wrong_values_are_one_clear_line(arguments: tuple[str, ...]) -> None:
    done = run(*arguments, ok=False)
    assert done.returncode == 2
    assert done.stderr.startswith("BadInput: ")
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    "arguments", [("explain",), ("explain", "--epsilon", "much"), ("nothing",), ("demo", "--what")]
)
def test_wrong_words_are_a_usage_error(arguments: tuple[str, ...]) -> None:
    assert run(*arguments, ok=False).returncode == 2


def test_help_and_version() -> None:
    assert "explain" in run("--help").stdout
    assert run("--version").stdout.startswith("discreet 0.")


def shell(command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        command.replace("discreet", f"{sys.executable} -m discreet"),
        shell=True,
        executable="/bin/bash",
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr
    return done


@pytest.mark.parametrize("command", ["demo --seed 1", "demo --json", "explain --epsilon 1", "--help"])
def test_a_closed_pipe_is_no_fault(command: str) -> None:
    done = shell(f"discreet {command} | head -1")
    assert done.stdout.strip()
    assert not done.stderr
    assert not shell(f"discreet {command} >&-").stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("command", ["explain --epsilon 1", "explain --epsilon 1 --json"])
def test_a_full_disk_is_one_line(command: str) -> None:
    done = shell(f"discreet {command} > /dev/full")
    assert done.returncode == 1
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_terminal_without_signs() -> None:
    assert "8,366" in shell("discreet demo --seed 1", PYTHONIOENCODING="ascii").stdout
    assert json.loads(shell("discreet explain --epsilon 1 --json", PYTHONIOENCODING="ascii").stdout)


def test_a_narrow_terminal_cuts_no_number() -> None:
    wide, narrow = (shell("discreet demo --seed 1", COLUMNS=columns).stdout for columns in ("80", "30"))
    assert wide == narrow
    assert "…" not in wide
