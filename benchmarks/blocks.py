"""`python -m benchmarks.blocks`: coverage, error, overhead and failing blocks of subsample and aggregate.

The figures of the part "any estimator": run with --runs 500 for the record, fewer for a look.
"""

import argparse
import math
import os
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from rich.console import Console

import discreet
from discreet.blocks.aggregate import SubsampleAggregate
from discreet.blocks.centre import BlockMean
from discreet.blocks.estimator import adapted
from discreet.blocks.schema import found_shape
from discreet.blocks.table import Table
from discreet.engines.local import Local
from discreet.noise.seeded import Seeded

SIZE = 20_000
CONSOLE = Console(width=120, highlight=False)


def heavy_ols(g: np.random.Generator) -> tuple[Any, Any, float, float]:
    x = g.normal(size=(SIZE, 1))
    errors = g.standard_t(3, size=SIZE) * (1 + np.abs(x[:, 0])) / 2
    y = x[:, 0] + errors
    slope = np.sum(x[:, 0] * y) / np.sum(x**2)
    residual = y - slope * x[:, 0]
    robust = math.sqrt(np.sum((x[:, 0] * residual) ** 2)) / np.sum(x**2)
    return x, y, 1.0, 3.92 * robust


def logistic(g: np.random.Generator) -> tuple[Any, Any, np.ndarray[Any, Any], float]:
    x = g.normal(size=(SIZE, 5))
    truth = np.array([0.5, -0.5, 0.3, 0.0, 0.2])
    y = (g.random(SIZE) < 1 / (1 + np.exp(-(x @ truth)))).astype(int)
    chance = 1 / (1 + np.exp(-(x @ truth)))
    information = (x * (chance * (1 - chance))[:, None]).T @ x
    return x, y, truth, 3.92 * math.sqrt(np.linalg.inv(information)[0, 0])


def gamma_shape(x: Any) -> float:
    """The maximum-likelihood shape, by Newton steps on log a - digamma(a) = log mean - mean log."""
    from scipy.special import digamma, polygamma

    gap = math.log(x.mean()) - np.log(x).mean()
    a = (3 - gap + math.sqrt((gap - 3) ** 2 + 24 * gap)) / (12 * gap)
    for _ in range(8):
        a -= (math.log(a) - digamma(a) - gap) / (1 / a - polygamma(1, a))
    return float(a)


def ratio(x: Any) -> float:
    """The median of a ratio of two columns."""
    return float(np.median(x[:, 0] / x[:, 1]))


def covered(release: Any, truth: Any) -> tuple[float, float]:
    """The share of coordinates whose interval holds the truth, and the first one's width."""
    bar = release.interval()
    if isinstance(bar.low, dict):
        low, high = (np.array([v for k, v in end.items() if k != "intercept_"]) for end in (bar.low, bar.high))
    else:
        low, high = np.atleast_1d(bar.low), np.atleast_1d(bar.high)
    return float(np.mean((low <= truth) & (truth <= high))), float(high[0] - low[0])


def coverage(name: str, draw: Callable[[int], tuple[Any, Any, float]], runs: int) -> None:
    """Run and print; refusals are counted apart."""
    seen, wide, refused = [], [], 0
    for index in range(runs):
        release, truth, plain = draw(index)
        if release.refusal is not None:
            refused += 1
            continue
        hit, width = covered(release, truth)
        seen.append(hit)
        wide.append(width / plain)
    if seen:
        CONSOLE.print(
            f"{name:34} coverage {np.mean(seen):.3f}  width over the plain robust interval {np.median(wide):.2f}"
            f"  refused {refused} of {runs}"
        )
    else:
        CONSOLE.print(f"{name:34} refused {refused} of {runs}: {release.refusal}")


def coverages(runs: int) -> None:
    """95% intervals at epsilon = 1, delta = 1e-6, n = 20,000."""
    from sklearn.linear_model import LinearRegression, LogisticRegression

    pay: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6}

    def ols(index: int) -> tuple[Any, Any, float]:
        x, y, truth, plain = heavy_ols(np.random.default_rng(index))
        return discreet.fit(LinearRegression(), x, y, **pay, rng=Seeded(index)), truth, plain

    def logit(index: int) -> tuple[Any, Any, float]:
        x, y, truth, plain = logistic(np.random.default_rng(index))
        model = LogisticRegression(C=np.inf)  # more blocks than the bias likes: coordinatewise needs them
        return discreet.fit(model, x, y, **pay, smallest=20, rng=Seeded(index)), truth, plain

    def gamma(correct: str) -> Callable[[int], tuple[Any, Any, float]]:
        def draw(index: int) -> tuple[Any, Any, float]:
            x = np.random.default_rng(index).gamma(2.0, size=SIZE)
            release = discreet.fit(gamma_shape, x, **pay, correct=correct, blocks=GAMMA_BLOCKS, rng=Seeded(index))
            return release, 2.0, 3.92 * 0.0169

        return draw

    def median_ratio(index: int) -> tuple[Any, Any, float]:
        g = np.random.default_rng(index)
        x = np.stack([np.exp(g.normal(size=SIZE)), np.exp(g.normal(size=SIZE))], axis=1)
        plain = 3.92 * 0.5 / math.sqrt(SIZE) / (1 / math.sqrt(4 * math.pi))
        return discreet.fit(ratio, x, **pay, aggregator="median", rng=Seeded(index)), 1.0, plain

    coverage("OLS slope, heavy tails", ols, runs)
    coverage("logistic, d = 5, coordinatewise", logit, max(1, runs // 5))
    coverage("gamma shape, half samples", gamma("half"), runs)
    coverage("gamma shape, jackknife", gamma("jackknife"), max(1, runs // 20))
    coverage("median of a ratio, rank interval", median_ratio, runs)


GAMMA_BLOCKS = 200


def cox(runs: int) -> None:
    """A Cox model, with lifelines."""
    import pandas as pd
    from lifelines import CoxPHFitter

    def draw(index: int) -> tuple[Any, Any, float]:
        g = np.random.default_rng(index)
        a = g.normal(size=SIZE)
        rows = pd.DataFrame({"a": a, "T": g.exponential(np.exp(-0.5 * a)), "E": g.random(SIZE) < 0.8})
        options = {"duration_col": "T", "event_col": "E"}
        release = discreet.fit(
            CoxPHFitter(), rows, epsilon=1.0, delta=1e-6, options=options, blocks=GAMMA_BLOCKS, rng=Seeded(index)
        )
        return release, 0.5, 3.92 / math.sqrt(0.8 * SIZE)

    coverage("Cox slope (lifelines)", draw, runs)


def regression_error(runs: int) -> None:
    """OLS with d = 4 at (1, 5e-6), the largest delta allowed: the error of a coefficient, in the median of the runs."""
    from sklearn.linear_model import LinearRegression

    errors, beta = [], np.array([0.5, -0.3, 0.2, 0.1])
    for index in range(runs):
        g = np.random.default_rng(index)
        x = g.normal(size=(SIZE, 4))
        y = x @ beta + 0.5 * g.normal(size=SIZE)
        release = discreet.fit(LinearRegression(), x, y, epsilon=1.0, delta=5e-6, blocks=1000, rng=Seeded(index))
        found = np.array([value for name, value in release.value.items() if name != "intercept_"])
        errors.append(float(np.linalg.norm(found - beta)))
    CONSOLE.print(f"OLS d = 4, 1,000 blocks, coordinatewise: median error {np.median(errors):.4f} (bar 0.01)")


def overhead(rows: int) -> None:
    """Wall time against a serial loop, and of the vectorised paths against one fit on the whole table."""
    from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor

    g = np.random.default_rng(0)
    x = g.normal(size=(rows, 10))
    linear = x @ np.linspace(-0.3, 0.3, 10)
    outcomes = {
        "least squares": (LinearRegression(), linear + g.normal(size=rows)),
        "logistic": (LogisticRegression(C=np.inf), (g.random(rows) < 1 / (1 + np.exp(-linear))).astype(int)),
        "Poisson": (PoissonRegressor(alpha=0.0), g.poisson(np.exp(linear)).astype(float)),
    }
    engine, cores = Local(progress=False), len(os.sched_getaffinity(0))

    def seconds(action: Callable[[], Any]) -> float:
        began = time.perf_counter()
        action()
        return time.perf_counter() - began

    for name, (model, y) in outcomes.items():
        fit, table = adapted(model), Table.of(x, y)
        shape = found_shape(fit, table)
        whole = seconds(partial(model.fit, x, y))
        for blocks in (1000, 10_000):
            fast = SubsampleAggregate(fit, shape, BlockMean(blocks, 11, 100.0), engine=engine)
            fast.estimates(table, Seeded(0))
            took = seconds(partial(fast.estimates, table, Seeded(0)))
            CONSOLE.print(f"{name}, {blocks} blocks, vectorised: {took:.2f} s, {took / whole:.2f} x one fit (bar 1.5)")
        if name == "least squares":
            slow = SubsampleAggregate(fit, shape, BlockMean(1000, 11, 100.0), engine=engine, vectorised=False)
            took = seconds(partial(slow.estimates, table, Seeded(0)))
            size = rows // 1000

            def loop(y: Any = y, size: int = size) -> None:
                for block in range(1000):
                    LinearRegression().fit(x[block * size : (block + 1) * size], y[block * size : (block + 1) * size])

            serial = seconds(loop)
            bar = 1.3 * serial / cores + 2
            CONSOLE.print(f"{name}, 1000 fits: {took:.2f} s; serial {serial:.2f} s, {cores} cores (bar {bar:.2f} s)")


def failing(runs: int) -> None:
    """0%, 5% and 20% of the blocks raise: coverage stays, intervals widen."""
    for share in (0.0, 0.05, 0.2):

        def shaky(x: Any, share: float = share) -> float:
            if (x[0] * 1e6) % 1 < share:
                raise ArithmeticError
            return float(x.mean())

        def draw(index: int, shaky: Any = shaky) -> tuple[Any, Any, float]:
            x = np.random.default_rng(index).exponential(size=SIZE)
            release = discreet.fit(shaky, x, epsilon=1.0, delta=1e-6, correct=None, names="number", rng=Seeded(index))
            return release, 1.0, 3.92 / math.sqrt(SIZE)

        coverage(f"{share:.0%} of the blocks fail", draw, runs)


def main() -> None:
    """Print every figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--only", choices=["coverage", "cox", "error", "overhead", "failing"])
    asked = parser.parse_args()
    parts: dict[str, Callable[[], None]] = {
        "coverage": lambda: coverages(asked.runs),
        "cox": lambda: cox(max(1, asked.runs // 20)),
        "error": lambda: regression_error(min(50, asked.runs)),
        "failing": lambda: failing(asked.runs),
        "overhead": lambda: overhead(asked.rows),
    }
    for name, part in parts.items():
        if asked.only in (None, name):
            part()


if __name__ == "__main__":
    main()
