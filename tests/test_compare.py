"""The comparison with others: who is asked, what they answer where it is easy, and who is said to be ahead."""

from typing import Any

import numpy as np
import pytest
from benchmarks.compare import page
from benchmarks.compare.__main__ import ran, summed
from benchmarks.compare.cases import PARTS
from benchmarks.compare.contenders import PEERS, Elsewhere, Question
from benchmarks.compare.least import least
from benchmarks.compare.published import durfee_mean, durfee_quantile, gradient_descent


def test_published_methods_are_near_where_it_is_easy() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(-50, 3, size=50_000)
    assert abs(durfee_quantile(values, 0.5, 4.0, rng) + 50) < 0.3
    assert abs(durfee_mean(values, 4.0, rng) + 50) < 0.1
    x = rng.normal(size=(50_000, 3))
    slopes = gradient_descent((x, x @ [1.0, 0.5, 0.2] + rng.normal(size=50_000)), 1.5, 4.0, 1e-6, rng)
    assert np.abs(slopes - [1.0, 0.5, 0.2]).max() < 0.1


@pytest.mark.parametrize("part", PARTS)
def test_every_part_has_cells_that_everybody_can_be_asked(part: str) -> None:
    cells = list(PARTS[part]())
    assert len({(cell.part, cell.people, cell.size, cell.epsilon) for cell in cells}) == len(cells)
    for cell in cells:
        assert next(iter(cell.contenders)) == "discreet"
        for contender in cell.contenders.values():
            if isinstance(contender, Elsewhere):
                assert set(contender.given) <= set(cell.known)


def test_one_cell_is_measured() -> None:
    cell = summed("shares", 1, ran("shares", 1, range(12)) + ran("shares", 1, range(12, 20)))
    ours, theirs = cell["rows"]
    assert (ours["who"], theirs["who"], cell["runs"]) == ("discreet", "OpenDP", 20)
    assert ours["answered"] == 1
    assert ours["coverage"] >= 0.5
    assert ours["plain"] == cell["plain"]
    assert theirs["coverage"] is None


def cell(ours: float | None, answered: float, theirs: float) -> dict[str, Any]:
    rows = [("discreet", ours, answered), ("discreet, bounds", 0.1, 1.0), ("OpenDP, bounds", theirs, 1.0)]
    told = {"coverage": None, "width": None, "seconds": 0.001}
    return {
        "part": "mean",
        "people": "normal",
        "size": 5000,
        "epsilon": 1.0,
        "delta": 0.0,
        "runs": 1,
        "least": 0.1,
        "plain": 0.5,
        "about": "population",
        "rows": [{"who": who, "error": error, "answered": share, **told} for who, error, share in rows],
    }


def test_whoever_is_better_is_named() -> None:
    assert page.verdict(cell(1.0, 1.0, 2.0)) == "ahead"
    assert page.verdict(cell(2.0, 1.0, 1.0)) == "behind OpenDP"
    assert page.verdict(cell(1.0, 0.9, 2.0)) == "behind: refused"
    assert page.verdict(cell(None, 0.0, 2.0)) == "behind: refused"


def test_no_method_is_said_to_be_better_than_it_can_be() -> None:
    normal = next(case for case in PARTS["columns"]() if (case.part, case.size, case.epsilon) == ("mean", 1000, 0.1))
    bound = least(normal)
    assert bound is not None
    assert 2 / (1000 * 0.1 * 2) / 4 < bound < 2 / np.sqrt(1000)  # sd / (n epsilon), one replacement being two changes
    assert least(next(case for case in PARTS["clusters"]())) is None


def test_the_page_is_drawn_from_the_figures(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "DOCS", tmp_path)
    part = {"day": "2026-11-18", "runs": 1, "models": 1, "cells": [cell(1.0, 1.0, 2.0), cell(2.0, 1.0, 1.0)]}
    page.write({"columns": part, "curves": part})
    text = (tmp_path / "compare.md").read_text()
    assert "| mean | 2 | 1 | OpenDP 1 |" in text
    assert "| normal | 5,000, 1 | 0.5 | 0.2 | discreet | 4 |" in text
    assert (tmp_path / "compare-mean.png").stat().st_size > 1000


@pytest.mark.skipif(PEERS.exists(), reason="the other packages are installed")
def test_without_the_other_packages_they_do_not_answer() -> None:
    asked = Elsewhere("diffprivlib mean", ("bounds",))
    assert asked(Question(people=np.arange(9.0), epsilon=1.0, known={"bounds": (0.0, 9.0)})) is None
