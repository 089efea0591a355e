"""Verbs that count people in cells: tables of two columns or more, synthetic tables, naive Bayes. Used by verbs.py."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.verb_cases import Case, table_of
from discreet.statistics.histogram import Categories, Edges

RELATIONS = ("add_or_remove", "replace")
MODELLED: tuple[tuple[str, dict[str, Any]], ...] = (  # named before anything was run
    (
        "medicaldata covid_testing",  # whoever pays is found
        {
            "columns": ["gender", "result", "age", "payor_group"],
            "levels": {"gender": ["female", "male"], "result": ["negative", "positive"]},
            "edges": {"age": [0, 18, 40, 65, 120]},
            "delta": 1e-6,
        },
    ),
    (
        "openintro yrbss",  # all are found
        {"columns": ["gender", "grade", "hispanic", "race", "helmet_12m", "physically_active_7d"], "delta": 1e-6},
    ),
    (
        "survival nafld1",
        {
            "columns": ["male", "status", "age", "weight", "bmi"],
            "levels": {"male": [0, 1], "status": [0, 1]},
            "edges": {"age": [18, 40, 60, 100], "weight": [30, 70, 90, 200], "bmi": [10, 25, 30, 40, 90]},
        },
    ),
)
CLASSED: tuple[tuple[str, dict[str, Any]], ...] = (
    (
        "medicaldata covid_testing",
        {
            "columns": ["age", "pan_day", "gender"],
            "of": "result",
            "classes": ["negative", "positive", "invalid"],
            "levels": {"gender": ["female", "male"]},
        },
    ),
    ("openintro yrbss", {"columns": ["age", "height", "weight"], "of": "gender", "classes": ["female", "male"]}),
    (
        "survival nafld1",
        {"columns": ["age", "weight", "height", "male"], "of": "status", "classes": [0, 1], "delta": 1e-6},
    ),
)


def _cells(*names: str) -> Callable[[Any, Any], Any]:
    def count(frame: Any, release: Any) -> Any:
        sizes = frame[list(names)].astype(str).value_counts().to_dict()
        levels = release.value.levels
        whole = np.zeros([len(side) for side in levels])
        for place in np.ndindex(whole.shape):
            whole[place] = sizes.get(tuple(str(side[at]) for side, at in zip(levels, place, strict=True)), 0)
        for axis in range(whole.ndim):
            whole = np.concatenate([whole, whole.sum(axis=axis, keepdims=True)], axis=axis)
        return whole.ravel()

    return count


def _largest(release: Any, truth: Any) -> float:
    shape = release.value.whole.shape
    inner = tuple(slice(0, -1) for _ in shape)
    return float(np.abs(release.value.counts - np.reshape(truth, shape)[inner]).max())


def crosstabs() -> Iterator[Case]:
    """Public categories and found ones, two columns and three."""
    for table, names in (
        ("ggplot2 diamonds", ("cut", "color", "clarity")),
        ("AER CPSSW8", ("gender", "region")),
        ("Ecdat HI", ("hhi", "race", "region")),
    ):
        frame = table_of(table)
        columns = dict(zip("xyz", names, strict=False))
        listed = [sorted(frame[name].astype(str).unique()) for name in names]
        for options in ({"categories": listed}, {"delta": 1e-6}):
            guess = round(np.prod([len(side) for side in listed]) ** (1 / len(names)))
            sizes = {} if "categories" in options else {"categories": [None] * len(names), "bins": guess}
            yield Case("crosstab", table, columns, _cells(*names), options, error=_largest, assumed=options | sizes)


def _of_model(frame: Any, release: Any) -> Any:
    """The counts of a synthetic table's columns and pairs among the people without a missing entry."""
    found = release.value
    people = frame[list(found.names)].dropna()
    sides = [
        Edges.of([side[0][0], *(high for _, high in side)]) if isinstance(side[0], tuple) else Categories.of(side)
        for side in found.levels
    ]
    codes = [side.indices(people[name].to_numpy()) for name, side in zip(found.names, sides, strict=True)]
    parts: list[Any] = [
        [len(people)],
        *(np.bincount(code, minlength=len(side) + 1) for code, side in zip(codes, sides, strict=True)),
    ]
    for a, b in found.pairs:
        table = np.zeros((len(sides[a]) + 1, len(sides[b]) + 1))
        np.add.at(table, (codes[a], codes[b]), 1)
        parts.append(table.ravel())
    return np.concatenate(parts)


def models() -> Iterator[Case]:
    """Synthetic tables, with listed and with found categories, under both relations."""
    for table, terms in MODELLED:
        for relation in RELATIONS:
            options = {name: value for name, value in terms.items() if name != "columns"} | {"neighbours": relation}
            yield Case("synthetic", table, {"X": terms["columns"]}, _of_model, options)


def _of_classes(frame: Any, release: Any, *, columns: list[str], of: str) -> Any:
    """The people of each class, and of each class in each bin, among those without a missing entry."""
    found, people = release.value, frame[[*columns, of]].dropna()
    whose = [(people[of] == one).to_numpy() for one in found.classes]
    parts = [[side.sum() for side in whose]]
    for name, levels, measured in zip(found.names, found.levels, found.measured, strict=True):
        entries = people[name].to_numpy()
        if measured:
            bins = np.digitize(entries.astype(float), levels)
            cells = [bins == place for place in range(len(levels) + 2)]
        else:
            cells = [entries == one for one in levels]
            cells.append(~np.any(cells, axis=0))
        parts += [[(side & cell).sum() for cell in cells] for side in whose]
    return np.concatenate(parts)


def classes() -> Iterator[Case]:
    """Naive Bayes without bounds, under both relations."""
    for table, terms in CLASSED:
        for relation in RELATIONS:
            options = {name: value for name, value in terms.items() if name not in ("columns", "of")}
            truth = partial(_of_classes, columns=terms["columns"], of=terms["of"])
            columns = {"X": terms["columns"], "y": terms["of"]}
            yield Case("naive_bayes", table, columns, truth, options | {"neighbours": relation})
