"""Questions to ask here and on clusters, all that their answers show, and what can go wrong with a worker."""

import os
import re
import signal
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import discreet
from benchmarks.posed import asked_of_tables, posed
from discreet import Budget, Seeded
from discreet.privacy.declaration import declared

ROWS = 2000
NAMES = [one.name for one in asked_of_tables()]
WEIGHTED = [one.name for one in asked_of_tables() if "weights" in one.columns]
MUCH = {"epsilon": 20.0}
SOME: dict[str, tuple[str, dict[str, Any]]] = {
    "mean": ("mean", {"x": "x", **MUCH}),
    "mean of some": (
        "mean",
        {"x": "x", "bounds": (-3, 3), "where": "whole > 3 and label != 'nobody-4711'", **MUCH},
    ),
    "median": ("median", {"x": "x", **MUCH}),
    "counts": ("histogram", {"x": "label", "categories": ["no", "yes"], **MUCH}),
    "groups": ("mean", {"x": "x", "groupby": "town", "keys": ["a", "b", "c"], **MUCH}),
    "regression": ("linear_regression", {"X": ["x", "z"], "y": "y", "delta": 1e-6, **MUCH}),
}


def middle(x: Any) -> float:
    """An estimator."""
    return float(np.median(np.asarray(x)))


BLOCKS = ("fit", {"estimator": middle, "X": ["x"], "names": "number", "blocks": 30, "epsilon": 20.0})


DELTA = {"epsilon": 20.0, "delta": 1e-5}
LABELS, TOWNS = {"label": ["no", "yes"]}, {"town": ["a", "b"]}
CLUSTERS = {"clusters": "whole", "design": list(range(9))}
STRATA = {"clusters": "whole", "strata": "label", "design": {"no": list(range(9)), "yes": list(range(9))}}
TOWNS_DRAWN = {"levels": {"town": ["a", "b", "c"]}, **STRATA}
FOLDED: dict[str, tuple[str, dict[str, Any]]] = {  # options that say how columns are read
    "formula": ("linear_regression", {"X": "y ~ x + C(town) + x:z", **DELTA}),
    "formula with weights": ("poisson_regression", {"X": "hits ~ x + C(label)", "weights": "whole", **DELTA}),
    "formula of yes and no": ("logistic_regression", {"X": "C(label) ~ x + z", "levels": LABELS, **DELTA}),
    "classes": ("logistic_regression", {"X": ["x", "z"], "y": "label", "classes": ["no", "yes"], **DELTA}),
    "pure": ("logistic_regression", {"X": ["x", "z"], "y": "flag", **MUCH}),
    "bins": ("naive_bayes", {"X": ["x", "town"], "y": "label", "levels": TOWNS, "classes": ["no", "yes"], **DELTA}),
    "pairs": ("synthetic", {"X": ["label", "town", "x"], "edges": {"x": [-2, -1, 0, 1, 2]}, **DELTA}),
    "weights": ("mean", {"x": "x", "weights": "hits", **MUCH}),
    "clusters": ("sum", {"x": "x", "weights": "hits", "bounds": (-3, 3), **CLUSTERS, **MUCH}),
    "regression in clusters": ("linear_regression", {"X": ["x", "z"], "y": "y", **CLUSTERS, **DELTA}),
    "formula in clusters": ("logistic_regression", {"X": "flag ~ z + C(town)", **TOWNS_DRAWN, **DELTA}),
    "classes in clusters": (
        "logistic_regression",
        {"X": ["x", "z"], "y": "label", "classes": ["no", "yes"], "weights": "hits", **CLUSTERS, **DELTA},
    ),
    "share of groups": ("proportion", {"x": "flag", "weights": "hits", "groupby": "town", "keys": ["a", "b"], **MUCH}),
}
PASSES: dict[str, tuple[tuple[str, dict[str, Any]], dict[str, Any], str]] = {  # and where a worker is killed
    "fold": (SOME["mean"], {}, "fold"),
    "fold of groups": (SOME["groups"], {}, "fold"),
    "minimum": (FOLDED["pure"], {}, "fold"),
    "rows to buckets": (SOME["median"], {"person": "id"}, "cut"),
    "buckets made": (SOME["median"], {"person": "id"}, "make"),
    "buckets folded": (SOME["mean"], {"person": "id"}, "fold"),
    "blocks fitted": (BLOCKS, {"person": "id"}, "fold"),
    "rows to blocks": (BLOCKS, {"person": "id"}, "cut"),
    "rows at public places": (("mean", {"x": "z", "missing": "keep", **MUCH}), {"neighbours": "replace"}, "fold"),
    "collect": (("paired_test", {"x": "x", "y": "y", **MUCH}), {}, "fold"),
    "collect of people": (("paired_test", {"x": "x", "y": "y", **MUCH}), {"person": "id"}, "fold"),
}


def rows() -> pa.Table:
    """What the questions of benchmarks/posed.py are about; some entries are missing, some people have several rows."""
    rng = np.random.default_rng(0)
    x = [None if place % 97 == 0 else value for place, value in enumerate(rng.normal(0, 1, ROWS).tolist())]
    return pa.table(
        {
            "x": pa.array(x, pa.float64()),
            "z": rng.normal(1, 2, ROWS),
            "y": rng.normal(2, 1, ROWS),
            "whole": rng.integers(0, 9, ROWS),
            "hits": rng.poisson(3, ROWS),
            "flag": rng.random(ROWS) < 0.4,
            "label": np.where(rng.random(ROWS) < 0.5, "no", "yes"),
            "town": rng.choice(["a", "b", "c"], ROWS),
            "id": rng.integers(0, ROWS // 2, ROWS),
        }
    )


def every(name: str) -> dict[str, Any]:
    """The question of a declared statistic."""
    more = {"size": 2000, "delta": 1e-5} if "size" in declared(name).options else {}
    return posed(name) | more


def weighted(name: str) -> dict[str, Any]:
    """The same with the weights of a survey."""
    regression = "largest_weight" not in declared(name).options
    terms = {"epsilon": 20.0, "delta": 1e-5} if regression else {"largest_weight": 12}
    return every(name) | {"weights": "hits"} | terms


def streams(name: str) -> bool:
    """Whether the columns that the question names may come in pieces."""
    statistic, question = declared(name), every(name)
    return all(statistic.reads(column, question).streams for column in statistic.columns if column in question)


def table_of_folds() -> str:
    """Which statistics fold on an engine, and which collect, by their declarations: for docs/engines.md."""
    folds: list[str] = []
    collects: list[str] = []
    for name in NAMES:
        (folds if streams(name) else collects).append(f"`{name}`")
    return f"| | |\n|---|---|\n| folds | {', '.join(folds)} |\n| collects | {', '.join(collects)} |\n"


def shown(answer: Any) -> str:
    """All that an answer shows, but for its receipt and where its functions are in memory."""
    each = [one for _, one in answer.releases] if hasattr(answer, "releases") else [answer]
    parts = [
        (one.answer, one.spread, one.refusal, one.guarantee, replace(one.provenance, receipt=None)) for one in each
    ]
    return re.sub(r"0x[0-9a-f]+", "", repr(parts))


def asked(source: Any, engine: Any, name: str, arguments: dict[str, Any], **options: Any) -> str:
    """An answer to the last digit, and what is left of the budget."""
    terms: dict[str, Any] = {"budget": Budget(1000.0, 0.9), "ledger": ":memory:", "population": "p"}
    with discreet.open(source, engine=engine, rng=Seeded(5), **terms, **options) as session:
        found = shown(session.ask(name, **arguments))
        return f"{found} {session.balance.left.epsilon}"


@dataclass(frozen=True)
class Deadly:
    """An engine, the first part of whose first pass takes its process down with it."""

    engine: Any
    mark: Path
    parents: int = 0  # which process is killed: that of the part, its parent, ...
    at: str = "fold, cut"  # in which kinds of passes; others are "make", "keep", and "again", over what was kept
    kept: list[Any] = field(default_factory=list)

    def map(self, function: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        return self.engine.map(function, items)  # type: ignore[no-any-return]

    def fold(self, kernel: Callable[[Any], Any], merge: Callable[[Any, Any], Any], parts: Any) -> Any:
        kind = "again" if any(parts is one for one in self.kept) else "fold"
        return self.engine.fold(self._deadly(kind, kernel), merge, parts)

    def exchange(self, cut: Callable[[Any], Any], make: Callable[[Any], Any], parts: Any, buckets: int) -> Any:
        return self.engine.exchange(self._deadly("cut", cut), self._deadly("make", make), parts, buckets)

    @property
    def room(self) -> int:
        return self.engine.room  # type: ignore[no-any-return]

    def keep(self, make: Callable[[Any], Any], parts: Any) -> Any:
        self.kept.append(self.engine.keep(self._deadly("keep", make), parts))
        return self.kept[-1]

    def drop(self, kept: Any) -> None:
        self.engine.drop(kept)

    def _deadly(self, kind: str, work: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return partial(dies_once, self.mark, self.parents, work) if kind in self.at else work

    def opened(self, frame: Any) -> Any:
        return self.engine.opened(frame)


def dies_once(mark: Path, parents: int, kernel: Callable[[Any], Any], part: Any) -> Any:
    try:
        mark.touch(exist_ok=False)
    except FileExistsError:
        return kernel(part)
    process = os.getpid()
    for _ in range(parents):
        process = int(Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])
    os.kill(process, signal.SIGKILL)
    time.sleep(30)
    return None


def quotes(part: Any) -> int:
    """What a kernel must not do."""
    raise ValueError(f"cannot read patient 4711 of part {part}")


def drawn(_: Any) -> bytes:
    return os.urandom(8)


if __name__ == "__main__":
    print(table_of_folds(), end="")
