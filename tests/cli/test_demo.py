"""`discreet demo`: the whole story, told and for machines."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from discreet.cli import demo
from discreet.ledger import Ledger

Told = tuple[int, str, str]
Run = Callable[..., Told]


def test_the_story(
    command: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    told = demo.run(Path("here"), 3, quiet=False)
    text = " ".join(capsys.readouterr().out.split())
    for expected in (
        "8,366 people",
        "1. What is in the table?",
        "2. A plan",
        "The same answers; nothing was charged.",
        "Refused: this costs epsilon 1",
        "about the United States",
        "4. The United States",
        "the share of the population that the weights stand for, people drawn in these",
        "7. What an auditor sees",
        "Not for publication",
    ):
        assert expected in text
    assert "…" not in text
    monkeypatch.setattr(demo, "run", lambda out, seed, quiet: told)
    code, out, err = command("demo", "--json")
    assert (code, err) == (0, "")
    story = json.loads(out)
    assert story["folder"] == "here"
    assert abs(story["profile"]["releases"][0]["release"]["value"] - 8366) < 400
    assert {entry["id"] for entry in story["release"]["releases"]} >= {"adults", "bmi", "smokers", "pressure"}
    assert story["release"]["budget"]["this"]["epsilon"] <= 1
    first, by_sex = story["country"]["releases"]
    assert first["release"]["interval"]["about"].startswith("the share of the population that the weights stand for")
    assert first["release"]["interval"]["low"] < 0.136 < first["release"]["interval"]["high"]
    assert [group["key"] for group in by_sex["groups"]] == ["Female", "Male"]
    assert story["country"]["budget"]["this"]["epsilon"] == 2
    assert story["charged_again"] is False
    assert story["refusal"].startswith("this costs epsilon 1, and 0.5")
    assert story["sound"] is True
    assert 0.5 <= story["left"]["epsilon"] < 0.52
    folder = tmp_path / "here"
    assert json.loads((folder / "release" / "results.json").read_text()) == story["release"]
    with Ledger(folder / "study.ledger") as book:
        assert len(book.entries("nhanes 2017-18")) == 2
        assert len(book.entries("nhanes 2009-10")) == 1
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    code, _, err = command("demo", "--out", "here")
    assert code == 2
    assert err == "here is there already; give a new folder with --out\n"


@pytest.mark.parametrize("seed", ["-1", "much"])
def test_wrong_seeds(command: Run, tmp_path: Path, seed: str) -> None:
    assert command("demo", "--seed", seed)[0] == 2
    assert list(tmp_path.iterdir()) == []
