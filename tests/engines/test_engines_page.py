"""docs/engines.md says of every statistic whether it folds on an engine, and it does what is said there."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from benchmarks.cluster_questions import NAMES, asked, every, streams, table_of_folds

from discreet.engines import Local
from discreet.privacy.declaration import declared
from discreet.stages import locate
from discreet.tables import placed

PAGE = Path(__file__).parents[2] / "docs" / "engines.md"


class Watched:
    """An engine that knows whether rows were brought here."""

    def __init__(self) -> None:
        self.engine, self.collected, self.passes = Local(0), False, 0

    def map(self, function: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        return list(self.engine.map(function, items))

    def fold(self, kernel: Any, merge: Callable[[Any, Any], Any], parts: Iterable[Any]) -> Any:
        self.passes += 1
        self.collected |= kernel.func is placed._numbered
        return self.engine.fold(kernel, merge, parts)


def test_the_page_has_the_table_of_the_declarations() -> None:
    text = PAGE.read_text(encoding="utf-8")
    shown = text.partition("<!-- folds -->\n")[2].partition("<!-- end of folds -->")[0]
    assert shown == table_of_folds(), "paste what python -m benchmarks.cluster_questions prints"


@pytest.mark.parametrize("name", NAMES)
def test_what_folds_brings_no_row_here(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locate, "FEW", 0)  # so few entries are brought here
    engine = Watched()
    asked(folder, engine, name, every(name))
    assert engine.collected != streams(name)


GROUPS: dict[str, dict[str, Any]] = {
    "listed": {"groupby": "town", "keys": ["a", "b", "nowhere"]},
    "found": {"groupby": "town", "delta": 1e-4},
    "crossed": {"groupby": ["town", "label"], "keys": [["a", "c"], ["yes", "no"]]},
    "crossed, found": {"groupby": ["town", "label"], "delta": 1e-4},
    "some": {"groupby": "town", "keys": ["a", "b"], "where": "whole > 2"},
}
BY_GROUP = [name for name in NAMES if declared(name).groups and streams(name)]


@pytest.mark.claim("grouped_folds.1")
@pytest.mark.parametrize("kind", GROUPS)
@pytest.mark.parametrize("name", ["mean", "count", "median"])
def test_groups_fold_and_give_the_same_digits(
    name: str, kind: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locate, "FEW", 0)
    question: dict[str, Any] = {"x": "flag" if name == "count" else "x", "epsilon": 8.0, **GROUPS[kind]}
    engine = Watched()
    assert asked(folder, engine, name, question) == asked(folder, None, name, question)
    assert not engine.collected


@pytest.mark.claim("grouped_folds.1")
@pytest.mark.parametrize("epsilon", [0.3, 8.0])  # pooled, and each by itself
@pytest.mark.parametrize("name", BY_GROUP)
def test_every_statistic_that_folds_does_so_by_group(name: str, epsilon: float, folder: Path) -> None:
    engine = Watched()
    question = every(name) | {"groupby": "town", "keys": ["a", "b", "c"], "epsilon": epsilon}
    assert asked(folder, engine, name, question) == asked(folder, None, name, question)


def test_equal_passes_of_groups_are_one_pass(folder: Path) -> None:
    """Of a mean with bounds every group asks for the same sums: the files are read as often as for one group."""
    passes = []
    for keys in (["a"], ["a", "b", "c"]):
        engine = Watched()
        asked(folder, engine, "mean", {"x": "x", "bounds": (-3, 3), "epsilon": 8.0, "groupby": "town", "keys": keys})
        passes.append(engine.passes)
    assert passes[0] == passes[1]
