"""The command line as a person and as a script uses it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from discreet.cli.app import app

Told = tuple[int, str, str]


def inside(*arguments: str) -> str:
    """In this process."""
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_explain() -> None:
    told = inside("explain", "--epsilon", "1", "--delta", "1e-6", "--group", "3", "--prior", "0.01")
    assert "20.1 times" in " ".join(told.split())
    assert json.loads(inside("explain", "--epsilon", "1", "--json"))["sentences"]
    assert inside("explain", "--epsilon", "1000000")


@pytest.mark.parametrize(
    "arguments",
    [
        ("explain", "--epsilon", "0"),
        ("explain", "--epsilon", "nan"),
        ("explain", "--epsilon", "1", "--delta", "2"),
        ("explain", "--epsilon", "1", "--prior", "3"),
        ("explain", "--epsilon", "1", "--group", "0"),
        ("forecast", "mean"),
        ("forecast", "mode", "--rows", "10", "--epsilon", "1"),
        ("release", "nothing.toml"),
    ],
)
def test_wrong_values_are_one_clear_line(arguments: tuple[str, ...], command: Callable[..., Told]) -> None:
    code, out, err = command(*arguments)
    assert (code, out) == (2, "")
    assert err.strip()
    assert len(err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    "arguments", [("explain",), ("explain", "--epsilon", "much"), ("nothing",), ("demo", "--what")]
)
def test_wrong_words_are_a_usage_error(arguments: tuple[str, ...], command: Callable[..., Told]) -> None:
    assert command(*arguments)[0] == 2


def test_help_and_version() -> None:
    told = inside("--help")
    for name in ("demo", "describe", "release", "forecast", "explain", "ledger", "report", "audit"):
        assert f"  {name} " in told
    assert inside("--version").startswith("discreet 0.")


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


@pytest.mark.parametrize("command", ["explain --epsilon 1", "--help"])
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
    assert json.loads(shell("discreet explain --epsilon 1 --json", PYTHONIOENCODING="ascii").stdout)
    assert "Epsilon is 1" in shell("discreet explain --epsilon 1", PYTHONIOENCODING="ascii").stdout


def test_forecast_takes_options_and_assumptions() -> None:
    asked = ("forecast", "mean", "--rows", "3000", "--epsilon", "1", "--json")
    bounded = json.loads(inside(*asked, "--with", "bounds=[0, 120]", "--with", "shape=uniform"))
    assert bounded["assumptions"] == ["values are uniform with mean 60 and standard deviation 34.641"]
    needed = json.loads(
        inside("forecast", "custom_test", "--power", "0.8", "--epsilon", "1", "--with", "effect=0.2", "--json")
    )
    assert needed["forecast"]["power"] >= 0.8


def test_forecast() -> None:
    assert "epsilon 0.5" in inside("forecast", "mean", "--rows", "10000", "--epsilon", "0.5", "--scale", "2")
    few, many = (
        json.loads(inside("forecast", "count", "--rows", rows, "--epsilon", "0.5", "--json")) for rows in ("10", "1000")
    )
    assert few["half_width"] == many["half_width"] > 1
    needed = json.loads(inside("forecast", "proportion", "--error", "0.05", "--epsilon", "0.5", "--json"))
    assert needed["solved"] == "rows"
    assert 20 < needed["rows"] < 10_000
    spent = json.loads(inside("forecast", "proportion", "--error", "0.05", "--rows", "2000", "--json"))
    assert spent["solved"] == "epsilon"
    assert 0 < spent["epsilon"] < 1


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_completion_scripts(name: str) -> None:
    done = CliRunner().invoke(app, prog_name="discreet", env={"_DISCREET_COMPLETE": f"source_{name}"})
    assert done.exit_code == 0
    assert "_DISCREET_COMPLETE" in done.stdout


def test_a_word_that_is_begun_is_completed() -> None:
    asked = {"_DISCREET_COMPLETE": "complete_bash", "COMP_WORDS": "discreet rel", "COMP_CWORD": "1"}
    assert CliRunner().invoke(app, prog_name="discreet", env=asked).stdout.split() == ["release"]


def test_every_command_has_two_examples_and_each_is_one_of_ours() -> None:
    commands = [("", command) for command in app.registered_commands]
    for one in app.registered_groups:
        assert one.typer_instance is not None
        name = one.typer_instance.info.name
        commands += [(f"{name} ", command) for command in one.typer_instance.registered_commands]
    for group, command in commands:
        assert command.callback is not None
        name = command.name or command.callback.__name__
        told = (command.callback.__doc__ or "").split("Example: ")[1:]
        assert len(told) >= 2, f"discreet {group}{name} has fewer than two examples"
        assert all(f"discreet {group}{name}" in example for example in told), (group, name)
