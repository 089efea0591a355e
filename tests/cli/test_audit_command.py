"""`discreet audit`: a mechanism that a module makes, on pairs of neighbours."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

Told = tuple[int, str, str]
Run = Callable[..., Told]
MODULE = """\
from discreet.audit import NameAndShame, Pair
from discreet.statistics.count import Count

def count():
    return Count(1.0)

def shame():
    return NameAndShame(1e-6)

def pairs():
    return [Pair([True, False], [True, True])]

def nothing():
    return []

def broken():
    raise ValueError("no")

number = 3
"""


@pytest.fixture
def audit(command: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command, beside a module of mechanisms."""
    (tmp_path / "own_mechanisms.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    return lambda *arguments: command("audit", *arguments)


def test_a_mechanism_that_keeps_its_promise(audit: Run) -> None:
    code, out, _ = audit("own_mechanisms:count", "--world", "truths")
    assert (code, out.startswith("Count: nothing found on ")) == (0, True)
    code, out, _ = audit("own_mechanisms:count", "--world", "own_mechanisms:pairs", "--runs", 200, "--json")
    assert code == 0
    found = json.loads(out)
    assert (found["passed"], found["findings"], found["pairs"], found["runs"]) == (True, [], 1, 200)


def test_a_mechanism_that_protects_nobody(audit: Run) -> None:
    code, out, _ = audit("own_mechanisms:shame", "--world", "own_mechanisms:pairs")
    assert code == 7
    assert "findings" in out


def test_a_dry_run_says_what_would_be_done(audit: Run) -> None:
    code, out, _ = audit("own_mechanisms:count", "--dry-run", "--runs", 10)
    assert code == 0
    assert "replayed on" in out
    assert "10 on each side" in out
    code, out, _ = audit("own_mechanisms:count", "--world", "truths", "--dry-run", "--json")
    assert json.loads(out)["world"] == "truths"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("own_mechanisms",), "write module:function"),
        (("no_such_module:make",), "cannot be imported"),
        (("own_mechanisms:make",), "has no 'make'"),
        (("own_mechanisms:number",), "name a function without arguments"),
        (("own_mechanisms:broken",), "failed (ValueError: no)"),
        (("own_mechanisms:pairs",), "it must give a mechanism"),
        (("own_mechanisms:count", "--world", "colours"), "give numbers, truths, labels, or module:pairs"),
        (("own_mechanisms:count", "--world", "own_mechanisms:nothing"), "gave no list of pairs"),
    ],
)
def test_what_cannot_be_audited(audit: Run, arguments: tuple[str, ...], said: str) -> None:
    code, out, err = audit(*arguments)
    assert (code, out) == (2, "")
    assert said in err
