"""Synthetic tables of real ones: how far off, how often the intervals hold, and what a model learns of their rows.

Seven tenths of a table are the people, drawn anew in each run; the others test a logistic regression that was fitted on
synthetic rows, on independent columns with noise at the same epsilon, and on the people themselves. Tables, columns and
bins were named before anything was run.

    python -m benchmarks.synthetic_rows [--runs 50] [--epsilons 1 3] [--only fair]
"""

import argparse
import warnings
from itertools import combinations
from typing import Any

import numpy as np

import discreet
from benchmarks.ordinary import TABLES
from discreet.privacy.values import SyntheticTable
from discreet.statistics.histogram import Categories, Edges
from discreet.statistics.synthetic import Synthetic

DELTA = 1e-6
LEARNED = 10  # runs in which a model is fitted
EDGES: dict[str, dict[str, list[float]]] = {
    "fair": {},
    "ggplot2 diamonds": {
        "carat": [0, 0.5, 1, 1.5, 2, 6],
        "depth": [40, 60, 62, 64, 80],
        "table": [40, 56, 58, 60, 100],
        "price": [0, 1000, 2500, 5000, 10_000, 20_000],
    },
    "AER NMES1988": {
        "age": [6.5, 7, 7.5, 8, 9, 11],
        "school": [0, 6, 9, 12, 13, 19],
        "income": [-2, 1, 2, 4, 60],
        "visits": [0, 1, 3, 6, 12, 100],
    },
}
OTHERS = {
    "fair": ["rate_marriage", "age", "yrs_married", "children", "religious", "educ", "occupation", "affair"],
    "ggplot2 diamonds": ["cut", "color", "clarity"],
    "AER NMES1988": [
        *("health", "adl", "region", "gender", "married", "employed", "insurance", "medicaid", "afam"),
    ],
}
TARGET = {"fair": ("affair", [1]), "ggplot2 diamonds": ("price", [2, 3, 4]), "AER NMES1988": ("insurance", [1])}


def named(table: str) -> tuple[Any, dict[str, Any]]:
    """The columns of a table and their public bins."""
    frame = next(one for one in TABLES if one.name == table).load()
    if table == "fair":
        frame["affair"] = np.where(frame["affairs"] > 0, "yes", "no")
    sides: dict[str, Any] = {one: Categories.of(sorted(frame[one].unique())) for one in OTHERS[table]}
    sides |= {one: Edges.of(ends) for one, ends in EDGES[table].items()}
    return frame[list(sides)], sides


def coded(frame: Any, sides: dict[str, Any]) -> Any:
    """The place of each entry."""
    return np.column_stack([side.indices(frame[one].to_numpy()) for one, side in sides.items()])


def apart(one: Any, other: Any, shapes: list[int], width: int) -> float:
    """The mean total variation over all columns, or all pairs."""
    found = []
    for chosen in combinations(range(len(shapes)), width):
        size = [shapes[at] for at in chosen]
        shares = [
            np.bincount(np.ravel_multi_index(rows[:, chosen].T, size), minlength=int(np.prod(size))) / len(rows)
            for rows in (one, other)
        ]
        found.append(np.abs(shares[0] - shares[1]).sum() / 2)
    return float(np.mean(found))


def learned(train: Any, test: Any, shapes: list[int], target: int, yes: list[int]) -> float:
    """The area under the curve of a logistic regression on all categories."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score

    def spread(rows: Any) -> Any:
        return np.column_stack([np.eye(many)[rows[:, at]] for at, many in enumerate(shapes) if at != target])

    outcome = np.isin(train[:, target], yes)
    if outcome.all() or not outcome.any():
        return 0.5
    fitted = LogisticRegression(max_iter=300).fit(spread(train), outcome)
    return float(roc_auc_score(np.isin(test[:, target], yes), fitted.decision_function(spread(test))))


def independent(people: Any, shapes: list[int], sides: dict[str, Any], epsilon: float, seed: int) -> SyntheticTable:
    """The same columns without pairs, all of epsilon on them."""
    noise = np.random.default_rng(seed).laplace(0, len(shapes) / epsilon, sum(shapes))
    counts = np.concatenate([np.bincount(people[:, at], minlength=many) for at, many in enumerate(shapes)])
    cells = np.append(len(people), np.maximum(counts + noise, 0))
    return SyntheticTable(tuple(sides), tuple(tuple(side.names) for side in sides.values()), (), cells)


def held(release: Any, people: Any, shapes: list[int]) -> tuple[bool, float]:
    """Whether all counts are in the interval, and the mean half-width over the number of people."""
    parts = [np.array([len(people)])]
    parts += [np.bincount(people[:, at], minlength=many) for at, many in enumerate(shapes)]
    for a, b in release.value.pairs:
        whole = people[:, a] * shapes[b] + people[:, b]
        parts.append(np.bincount(whole, minlength=shapes[a] * shapes[b]))
    true, (low, high) = np.concatenate(parts), release.interval()
    wide = float(np.mean(high.cells - low.cells) / 2 / len(people))
    return bool(np.all((low.cells <= true) & (true <= high.cells))), wide


def measured(table: str, epsilon: float, runs: int) -> str:
    """A row of the page."""
    frame, sides = named(table)
    shapes = [len(side) + 1 for side in sides.values()]
    whole = coded(frame, sides)
    target, yes = list(sides).index(TARGET[table][0]), TARGET[table][1]
    found: dict[str, list[float]] = {}
    for run in range(runs):
        order = np.random.default_rng([run, 7]).permutation(len(whole))
        cut = round(0.7 * len(whole))
        people, test = whole[order[:cut]], whole[order[cut:]]
        mechanism = Synthetic(tuple(sides.values()), epsilon, DELTA, names=tuple(sides))
        rows = {one: frame[one].to_numpy()[order[:cut]] for one in sides}
        release = mechanism.release(rows, discreet.Seeded(run))
        made = coded(release.value.to_frame(seed=run), sides)
        alone = coded(independent(people, shapes, sides, epsilon, run).to_frame(seed=run), sides)
        inside, wide = held(release, people, shapes)
        seen = {"held": float(inside), "half-width": wide, "pairs": float(len(release.value.pairs))}
        for name, drawn in (("ours", made), ("alone", alone)):
            seen |= {f"{name} 1": apart(drawn, people, shapes, 1), f"{name} 2": apart(drawn, people, shapes, 2)}
            if run < LEARNED:
                seen[f"{name} auc"] = learned(drawn, test, shapes, target, yes)
        if run < LEARNED:
            seen["real auc"] = learned(people, test, shapes, target, yes)
        for name, one in seen.items():
            found.setdefault(name, []).append(one)
    mean = {name: float(np.mean(every)) for name, every in found.items()}
    return (
        f"| `{table}`, {len(shapes)} columns, {cut:,} rows | {epsilon:g} | {mean['pairs']:.1f} | "
        f"{mean['ours 1']:.3f} | {mean['ours 2']:.3f} | {mean['alone 1']:.3f} | {mean['alone 2']:.3f} | "
        f"{sum(found['held']):.0f} of {runs} | {mean['half-width']:.4f} | "
        f"{mean['ours auc']:.3f} | {mean['alone auc']:.3f} | {mean['real auc']:.3f} |"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--epsilons", type=float, nargs="*", default=[1.0, 3.0])
    parser.add_argument("--only")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    for table in EDGES:
        for epsilon in asked.epsilons if asked.only in (None, table) else ():
            print(measured(table, epsilon, asked.runs), flush=True)


if __name__ == "__main__":
    main()
