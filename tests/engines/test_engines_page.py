"""docs/engines.md says of every statistic whether it folds on an engine, and it does what is said there."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from benchmarks.cluster_questions import NAMES, asked, every, streams, table_of_folds

from discreet.engines import Local
from discreet.stages import locate
from discreet.tables import placed

PAGE = Path(__file__).parents[2] / "docs" / "engines.md"


class Watched:
    """An engine that knows whether rows were brought here."""

    def __init__(self) -> None:
        self.engine, self.collected = Local(0), False

    def map(self, function: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        return list(self.engine.map(function, items))

    def fold(self, kernel: Any, merge: Callable[[Any, Any], Any], parts: Iterable[Any]) -> Any:
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
