"""Additive models on real tables: the cases of verbs.py."""

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from benchmarks.counted_cells import RELATIONS
from benchmarks.verb_cases import Case
from discreet.privacy.value_bins import ColumnBins
from discreet.privacy.value_shapes import LIMIT

CLASSED: Final = (  # table, columns, outcome, classes: named before anything was run
    ("Ecdat HI", ["experience", "husby", "kidslt6"], "hhi", ("no", "yes")),
    ("openintro yrbss", ["age", "height", "weight"], "gender", ("female", "male")),
)


def chosen_alone(frame: Any, release: Any, *, columns: list[str], of: str, yes: str) -> list[float]:
    """For each bin what it would add if these people chose it alone, all else as released; as released of nobody."""
    shapes = release.value
    kept = frame.dropna(subset=[*columns, of])
    outcome = (kept[of].astype(str) == yes).to_numpy()
    rows = kept[columns].to_numpy(dtype=float)
    odds = shapes.decision_function(rows)
    bins, cells = ColumnBins(shapes.names, shapes.levels, shapes.measured), np.asarray(shapes.cells)
    found: list[float] = []
    for place, width in enumerate(bins.widths):
        whose = bins.places(rows[:, place].tolist(), place)
        for bin_ in range(width):
            cell, inside = cells[len(found)], whose == bin_
            others, theirs = odds[inside] - cell, outcome[inside]
            found.append(float(cell) if not inside.any() else _solved(others, theirs))
    return found


def _solved(others: Any, outcome: Any) -> float:
    def lacking(cell: float) -> float:
        return float(np.sum(outcome - expit(others + cell)))

    if lacking(-LIMIT) <= 0 or lacking(LIMIT) >= 0:
        return -LIMIT if lacking(-LIMIT) <= 0 else LIMIT
    return float(brentq(lacking, -LIMIT, LIMIT))


def additive_models() -> Iterator[Case]:
    """Without bounds, under both relations."""
    for table, columns, of, classes in CLASSED:
        for relation in RELATIONS:
            truth = partial(chosen_alone, columns=columns, of=of, yes=classes[1])
            options: dict[str, Any] = {"classes": classes, "delta": 1e-6, "neighbours": relation}
            yield Case("additive_model", table, {"X": columns, "y": of}, truth, options)
