"""Every claim in a proof block is cited by a line of code and held to account by a test."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = sorted((ROOT / "src" / "discreet").rglob("*.py"))
TESTS = "\n".join(path.read_text() for path in sorted((ROOT / "tests").rglob("test_*.py")))
CLAIMED = set(re.findall(r'claim\("([a-z_]+\.\d+)"\)', TESTS))
TAG = re.compile(r"\[([a-z_]+\.\d+)\]")
SECTIONS = ("Releases", "Promise", "Why", "Needs", "Accuracy", "Source")


@cache
def split(path: Path) -> tuple[str, str]:
    """The module's docstring and the rest."""
    text = path.read_text()
    doc = ast.get_docstring(ast.parse(text)) or ""
    return doc, text[text.index('"""', 3) + 3 :] if doc else text


@cache
def defined(path: Path) -> set[str]:
    """Claims that open a line of the docstring and carry the module's name."""
    own = re.compile(rf"\s*\[({path.stem}\.\d+)\]")
    return {match.group(1) for line in split(path)[0].splitlines() if (match := own.match(line))}


@cache
def homes() -> dict[str, list[Path]]:
    found: dict[str, list[Path]] = {}
    for path in SOURCES:
        for tag in defined(path):
            found.setdefault(tag, []).append(path)
    return found


def test_each_claim_has_one_home() -> None:
    for tag, paths in homes().items():
        assert len(paths) == 1, f"[{tag}] is claimed in {[path.name for path in paths]}"
    assert len(homes()) > 20


@pytest.mark.parametrize("tag", sorted(homes()))
def test_each_claim_is_cited_by_code_and_has_a_test(tag: str) -> None:
    code = split(homes()[tag][0])[1]
    assert f"[{tag}]" in code, f"no line of {homes()[tag][0].name} cites [{tag}]"
    assert tag in CLAIMED, f"no test is marked claim({tag!r})"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_each_citation_has_a_home(path: Path) -> None:
    known = homes()
    for tag in TAG.findall(path.read_text()):
        assert tag in known, f"{path.name} cites [{tag}], which nobody claims"


@pytest.mark.parametrize(
    "path",
    [
        path
        for path in SOURCES
        if "def release(self, rows" in path.read_text()
        and path.parent.name in ("stability", "statistics", "hypotheses", "lectures", "friendly", "subsample", "models")
    ],
    ids=lambda path: path.stem,
)
def test_each_mechanism_opens_with_its_proof(path: Path) -> None:
    text = path.read_text()
    for section in SECTIONS:
        lines = re.findall(rf"^\s*{section}$", text, flags=re.MULTILINE)
        optional = path.stem == "result" and section not in ("Releases", "Promise")
        assert lines or optional, f"{path.name} has no section {section}"
