"""The page of benchmarks is made of the figures that are kept, of all of them."""

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest
from benchmarks import overview, record

STUDIES = record.recorded()


@pytest.mark.parametrize("study", STUDIES.values(), ids=lambda study: study["study"])
def test_a_study_says_when_where_and_how_it_was_measured(study: dict[str, Any]) -> None:
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", study["date"])
    assert re.fullmatch(r"[0-9a-f]{7,40}(-dirty)?", study["commit"])
    assert "Python" in study["machine"]
    assert importlib.util.find_spec(study["run"].split()[2]) is not None
    assert all(len(row) == 5 and isinstance(row[4], bool) for row in study["rows"])


def test_the_page_is_current() -> None:
    assert overview.page(STUDIES) == overview.PAGE.read_text(), "run python -m benchmarks.overview"
    assert overview.picture(STUDIES) == overview.PICTURE.read_text(), "run python -m benchmarks.overview"


def test_no_figure_is_left_out() -> None:
    assert overview.left_out(STUDIES) == []
    STUDIES["means"]["rows"].append(["of something new", "a figure that no line knows", "1", "", True])
    try:
        assert overview.left_out(STUDIES) == ["means: of something new: a figure that no line knows"]
    finally:
        STUDIES["means"]["rows"].pop()


def test_missed_bars_are_listed() -> None:
    missed = [row for study in STUDIES.values() for row in study["rows"] if not row[4]]
    listed = overview.PAGE.read_text().partition("## Missed")[2].partition("## Studies")[0]
    assert listed.count("\n| ") - 1 == len(missed) > 0


def test_figures_are_kept_as_they_were_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record, "RESULTS", tmp_path)
    rows = [('a "mean"', "coverage", "0.95", ">= 0.93", True), ("another", "coverage", "0.5", ">= 0.93", False)]
    assert record.record("tried", rows, note="Once.") is False
    assert [tuple(row) for row in record.recorded()["tried"]["rows"]] == rows
    assert record.record("partly", rows[:1], keep=False) is True
    assert list(record.recorded()) == ["tried"]
