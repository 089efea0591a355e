"""The README as a package index shows it."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


@pytest.fixture(scope="module")
def hook() -> ModuleType:
    pytest.importorskip("hatchling")
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_links_lead_to_the_repository(hook: ModuleType) -> None:
    text = hook.elsewhere(README, "https://example.org/owner/discreet/")
    paths = [
        path for _, path in re.findall(r"\]\((https://example.org/owner/discreet/(?:blob|raw)/main/([^)]+))\)", text)
    ]
    assert len(paths) == len(re.findall(r"\]\([^)]+\)", text)) == len(re.findall(r"\]\([^)]+\)", README)) > 30
    assert all((ROOT / path).exists() for path in paths)
    assert "/raw/main/docs/report-light.png" in text


def test_without_an_address_there_are_words_and_no_broken_links(hook: ModuleType) -> None:
    text = hook.elsewhere(README, "")
    assert re.findall(r"\]\([^)]+\)", text) == []
    assert "The first five minutes" in text
    assert "[The first five minutes]" not in text
