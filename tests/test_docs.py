"""What the documents show runs and is true."""

import doctest
import importlib
import pkgutil
import re
import shlex
from pathlib import Path

import pytest
from benchmarks.subjects.declared import SUBJECTS as DECLARED
from typer.testing import CliRunner

import discreet
from discreet.privacy.guarantee import Neighbours

ROOT = Path(__file__).parent.parent
MODULES = [
    info.name
    for info in pkgutil.walk_packages(discreet.__path__, "discreet.")
    if not info.name.endswith(("__main__", ".bulk"))
]
SHELL = [
    ROOT / "docs" / name for name in ("auditors.md", "how-to-release.md", "steward.md", "tutorial.md")
]  # shell and Python in turn
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name: str) -> None:
    results = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert results.failed == 0


CHECKER = doctest.OutputChecker()
LOOSE = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


@pytest.mark.parametrize("page", SHELL, ids=lambda page: page.name)
def test_a_page_is_what_a_shell_and_python_show(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its blocks, of both kinds, one after the other in an empty folder; one of TOML is the file plan.toml."""
    from discreet.cli import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    names: dict[str, object] = {}
    blocks = re.findall(r"```(python|console|toml)\n(.*?)```", page.read_text(), flags=re.DOTALL)
    assert {kind for kind, _ in blocks} >= {"python", "console"}
    for kind, block in blocks:
        if kind == "toml":
            Path("plan.toml").write_text(block)
            continue
        if kind == "python":
            runner = doctest.DocTestRunner(optionflags=LOOSE)
            session = doctest.DocTestParser().get_doctest(block, names, page.name, None, 0)
            runner.run(session, clear_globs=False)
            names = session.globs
            assert runner.summarize(verbose=False).failed == 0
            continue
        for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, flags=re.MULTILINE):
            monkeypatch.setattr("sys.argv", shlex.split(command))
            capsys.readouterr()
            with pytest.raises(SystemExit):
                main()
            output = capsys.readouterr()
            assert CHECKER.check_output(expected, output.out + output.err, LOOSE), f"{command}\n{output}"


def test_the_tests_that_the_threat_model_names_are_there() -> None:
    page = ROOT / "docs" / "threat-model.md"
    files = {page.parent / link for link in re.findall(r"\]\((\.\./tests/[^)]+)\)", page.read_text())}
    text = "".join(path.read_text() for path in files)
    named = re.findall(r"`(test_\w+)`", page.read_text())
    assert len(named) > 30
    assert [name for name in named if f"def {name}(" not in text] == []


@pytest.mark.parametrize("page", [page for page in PAGES if page not in SHELL], ids=lambda page: page.name)
def test_python_blocks_run_and_show_their_real_output(page: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL)
    session = "\n".join(block for block in blocks if ">>>" in block)
    results = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    results.run(doctest.DocTestParser().get_doctest(session, {}, page.name, str(page), 0))
    assert results.summarize(verbose=False).failed == 0
    for block in blocks:
        if ">>>" not in block:
            exec(compile(block, str(page), "exec"), {})


def test_every_command_is_on_its_page() -> None:
    from discreet.cli.app import app

    text = (ROOT / "docs" / "commands.md").read_text()
    listed = CliRunner().invoke(app, ["--help"]).stdout
    for command in app.registered_commands:
        name = command.callback.__name__  # type: ignore[union-attr]
        assert name in listed
        assert f"discreet {name}" in text, f"docs/commands.md does not mention `discreet {name}`"


def test_every_public_verb_is_in_the_reference() -> None:
    text = (ROOT / "docs" / "reference.md").read_text()
    for name in dir(discreet):
        if not name.startswith("_"):
            assert f"`{name}" in text or f"discreet.{name}" in text, name


def test_every_mechanism_is_in_the_long_audit() -> None:
    text = "".join(path.read_text() for path in (ROOT / "benchmarks" / "subjects").glob("*.py"))
    made = {type(subject.mechanism(Neighbours.ADD_OR_REMOVE)).__name__ for subject in DECLARED.values()}
    package = ROOT / "src" / "discreet"
    folders = ("stability", "statistics", "hypotheses", "lectures", "friendly", "subsample", "models")
    for path in sorted(path for folder in folders for path in package.glob(f"{folder}/*.py")):
        for name in re.findall(
            r"^class (\w+):\n(?:(?!^class ).)*?def release\(self, rows", path.read_text(), re.M | re.S
        ):
            assert name in text or name in made, f"{name} is not in the long audit"


def test_the_generated_signatures_are_current() -> None:
    from scripts.faces import REFERENCE, reference, written

    page = REFERENCE.read_text()
    assert page == reference(page), "reference.md does not show what is declared; run python scripts/faces.py"
    for name, text in written().items():
        stored = (ROOT / "src" / "discreet" / name).read_text()
        assert stored == text, f"{name} is not what the declarations say; run python scripts/faces.py"
