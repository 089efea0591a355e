"""The site: every page can be reached, and the pages made of the sources hold what they should."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

import discreet

DOCS = Path(__file__).parent.parent / "docs"


@pytest.fixture(scope="module")
def made() -> ModuleType:
    spec = importlib.util.spec_from_file_location("_site", DOCS / "_site.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_page_is_in_the_table_of_contents() -> None:
    trees = re.findall(r"```\{toctree\}\n(.*?)```", (DOCS / "index.md").read_text(), flags=re.DOTALL)
    listed = {line for tree in trees for line in tree.splitlines() if line and not line.startswith(":")}
    pages = {path.stem for path in DOCS.glob("*.md")} - {"index"}
    assert pages <= listed
    assert {name for name in listed if "/" not in name} <= pages


def test_every_public_name_has_its_place_in_the_api(made: ModuleType) -> None:
    text = "".join(dict(made._api()).values())
    for name in dir(discreet):
        thing = getattr(discreet, name)
        if callable(thing):
            assert re.search(rf":: discreet\.{name}$", text, flags=re.MULTILINE), name


def test_proofs_are_shown_with_the_tests_that_hold_them(made: ModuleType) -> None:
    pages = dict(made._proofs())
    assert "### Promise" in pages["statistics"]
    rows = re.findall(r"^\| (\w+\.\d+) \| (.*) \|$", "".join(pages.values()), flags=re.MULTILINE)
    assert len(rows) > 200
    assert [claim for claim, tests in rows if not tests] == []
