"""What subsample and aggregate is worth: coverage, error, failing blocks, overhead.

    python -m benchmarks.blocks [--runs 500] [--only coverage]

Coverage is that of 95% intervals at epsilon = 1, delta = 1e-6 and 20,000 people, with the defaults of `discreet.fit`
where nothing else is said, in runs that draw their blocks' estimates from banks: see bank.py for why that is sound. For
least squares, which is fast, all of it is also run from end to end, for comparison. Mechanisms of one number are run
four times as often. A missed bar is printed as missed. Times are wall times, as the paths use several processes.
"""

import argparse
import math
import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import discreet
from benchmarks import bank, tukey
from benchmarks.bank import SIZE, SLOPES, Bank
from benchmarks.record import Row, record
from discreet.engines.local import Local
from discreet.noise.randomness import Seeded
from discreet.subsample.aggregate import SubsampleAggregate
from discreet.subsample.block_table import BlockTable
from discreet.subsample.coordinatewise import BlockMean
from discreet.subsample.estimators import adapted
from discreet.subsample.friendly_aggregate import BlockFriends
from discreet.subsample.returned import found_shape

LOW, HIGH = 0.92, 0.98
NOTE = "Epsilon 1, delta 1e-6 and 20,000 people unless said."
OFTEN = 4  # times as many runs where a run is cheap
Run = Callable[[int], Any]


def coverage(name: str, run: Run, truth: Any, plain: Any, runs: int) -> Iterator[Row]:
    """Coverage, width against the plain interval's, and refusals of one kind of fit; of the first numbers, if more."""
    hits, wide, refused = [], [], 0
    for index in range(runs):
        release = run(index)
        if release.refusal is not None:
            refused += 1
            continue
        bar = release.interval()
        ends = [list(end.values()) if isinstance(end, dict) else np.atleast_1d(end) for end in (bar.low, bar.high)]
        low, high = (np.asarray(end)[: len(truth)] for end in ends)
        hits.append(np.mean((low <= truth) & (truth <= high)))
        wide.append(np.mean((high - low) / plain))
    if not hits:
        yield name, f"refused, {runs} runs", str(refused), "0", False
        return
    share = float(np.mean(hits))
    told = f"coverage, {len(hits)} runs" + (f" ({refused} more refused)" if refused else "")
    yield name, told, f"{share:.3f}", f"{LOW} to {HIGH}", LOW <= share <= HIGH
    yield name, "median width over the plain robust interval's", f"{np.median(wide):.2f}", "", True


def banked(name: str, made: Bank, runs: int, failing: float = 0.0) -> Iterator[Row]:
    """The same from a bank; the name says what `discreet.fit` chose."""
    mechanism = made.mechanism
    often = 1 if isinstance(mechanism.aggregator, BlockFriends) else OFTEN
    way = f"{mechanism.blocks} blocks" + (f", {mechanism.correct}" if mechanism.correct else "")
    yield from coverage(f"{name} ({way})", partial(made.run, failing=failing), made.truth, made.plain, often * runs)


def coverage_rows(runs: int) -> Iterator[Row]:
    """95% intervals at epsilon = 1, delta = 1e-6, n = 20,000."""
    from lifelines import CoxPHFitter
    from sklearn.linear_model import LinearRegression, LogisticRegression

    g = np.random.default_rng(0)
    plain = np.array([bank.robust_width(bank.heavy_ols(g, 50 * SIZE)) * math.sqrt(50)])
    ols = bank.same_path(LinearRegression(), bank.heavy_ols, np.ones(1), plain)

    def whole(index: int) -> Any:
        rows = bank.heavy_ols(np.random.default_rng(index), SIZE)
        return discreet.fit(LinearRegression(), rows[:, :-1], rows[:, -1], epsilon=1.0, delta=1e-6, rng=Seeded(index))

    yield from banked("OLS slope, heavy tails", ols, runs)
    yield from coverage("OLS slope, heavy tails, end to end", whole, np.ones(1), plain, runs)
    widths = bank.logistic_widths(bank.logistic(g, SIZE))
    for called, settings in (("defaults", {}), ("scales=1", {"scales": 1})):
        logit = bank.same_path(LogisticRegression(C=np.inf), bank.logistic, SLOPES, widths, **settings)
        yield from banked(f"logistic, d = 5, {called}", logit, runs)
    shape = bank.gamma_shape
    spread = 3.92 * math.sqrt(2 / (2 * 0.6449341 - 1) / SIZE)  # a / (a trigamma(a) - 1), a = 2
    for correct in ("half", "jackknife"):
        gamma = bank.by_formula(shape, shape, lambda g, n: g.gamma(2.0, size=n), 2.0, spread, correct=correct)
        yield from banked("gamma shape", gamma, runs)
    information = bank.cox_steps(bank.survival(g, SIZE)[None])[1][0]
    options = {"duration_col": "T", "event_col": "E"}
    cox = bank.by_formula(
        CoxPHFitter(), bank.cox, bank.survival, 0.5, 3.92 / math.sqrt(information), framed=bank.frame, options=options
    )
    yield from banked("Cox slope (lifelines)", cox, runs)
    spread = 3.92 * 0.5 / math.sqrt(SIZE) * math.sqrt(4 * math.pi)  # the log ratio is normal with variance 2
    ratio = bank.by_formula(
        bank.median_ratio,
        bank.median_ratio,
        lambda g, n: np.exp(g.normal(size=(n, 2))),
        1.0,
        spread,
        aggregator="median",
    )
    yield from banked("median of a ratio, rank interval", ratio, runs)


def error_rows(runs: int) -> Iterator[Row]:
    """OLS with d = 4 and no bounds, against Tukey depth on the same data, and against no privacy at all."""
    from sklearn.linear_model import LinearRegression

    beta = np.array([0.5, -0.3, 0.2, 0.1])
    found: dict[str, list[Any]] = {}
    ways: dict[str, dict[str, Any]] = {
        "defaults": {},
        "1,000 blocks, coordinatewise": {"blocks": 1000, "aggregator": "coordinatewise"},
        "1,000 blocks, friendly": {"blocks": 1000, "aggregator": "friendly"},
        "1,000 blocks, friendly, scales=1": {"blocks": 1000, "aggregator": "friendly", "scales": 1},
    }
    for index in range(runs):
        g = np.random.default_rng(index)
        x = g.normal(size=(SIZE, 4))
        y = x @ beta + 0.5 * g.normal(size=SIZE)
        found.setdefault(PLAIN, []).append(LinearRegression().fit(x, y).coef_)
        fits = tukey.block_fits(x, y, 1000, g)
        found.setdefault(TUKEY, []).append(tukey.tukey(fits, 1.0, 1e-5, g))
        found.setdefault(REPLACED, []).append(tukey.tukey(fits, 1.0, 1e-5, g, replaced=True))
        for way, settings in ways.items():
            release = discreet.fit(LinearRegression(), x, y, epsilon=1.0, delta=5e-6, rng=Seeded(index), **settings)
            value = None if release.refusal is not None else list(release.value.values())
            found.setdefault(way, []).append(value)
        direct = discreet.linear_regression(x, y, epsilon=1.0, delta=5e-6, rng=Seeded(index))
        found.setdefault(DIRECT, []).append(None if direct.refusal is not None else direct.value)
    errors = {way: [np.asarray(one)[:4] - beta for one in seen if one is not None] for way, seen in found.items()}
    norms = {way: float(np.median(np.linalg.norm(each, axis=1))) for way, each in errors.items()}
    for way, each in errors.items():
        bar = norms[TUKEY] if "friendly" in way or way in ("defaults", DIRECT) else math.inf
        told = f"median error of all four, L2, {len(each)} of {runs} runs"
        limit = f"<= {bar:.4f}" if bar < math.inf else ""
        yield f"OLS d = 4, {way}", told, f"{norms[way]:.4f}", limit, norms[way] <= bar
        yield f"OLS d = 4, {way}", "median error of one coefficient", f"{np.median(np.abs(each)):.4f}", "", True


PLAIN = "without privacy"
DIRECT = "`linear_regression`, the same data and delta"
TUKEY = "Tukey depth, as published"
REPLACED = "Tukey depth, for a replaced person"


def overhead_rows(rows: int) -> Iterator[Row]:
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

    def seconds(action: Callable[[], Any], rounds: int = 3) -> float:
        taken = []
        for _ in range(rounds):
            began = time.perf_counter()
            action()
            taken.append(time.perf_counter() - began)
        return min(taken)

    for name, (model, y) in outcomes.items():
        fit, table = adapted(model), BlockTable.of(x, y)
        shape = found_shape(fit, table)
        whole = seconds(partial(model.fit, x, y))
        for blocks in (1000, 10_000):
            fast = SubsampleAggregate(fit, shape, BlockMean(blocks, 11, 100.0), engine=engine)
            fast.estimates(table, Seeded(0))
            took = seconds(partial(fast.estimates, table, Seeded(0)))
            called = f"{name}, {rows:.0e} x 10, {blocks} blocks, vectorised"
            told = f"time over one fit's ({took:.2f} s, {whole:.2f} s)"
            yield called, told, f"{took / whole:.2f}", "<= 1.5", took <= 1.5 * whole
        if name == "least squares":
            slow = SubsampleAggregate(fit, shape, BlockMean(1000, 11, 100.0), engine=engine, vectorised=False)
            took = seconds(partial(slow.estimates, table, Seeded(0)), 1)
            size = rows // 1000

            def loop(y: Any = y, size: int = size) -> None:
                for block in range(1000):
                    LinearRegression().fit(x[block * size : (block + 1) * size], y[block * size : (block + 1) * size])

            serial = seconds(loop, 1)
            bar = 1.3 * serial / cores + 2
            told = f"seconds; a serial loop {serial:.2f} s, {cores} cores"
            yield f"{name}, {rows:.0e} x 10, 1000 fits", told, f"{took:.2f}", f"<= {bar:.2f}", took <= bar


def failing_rows(runs: int) -> Iterator[Row]:
    """0%, 5% and 20% of the blocks raise or return NaN, which is the same: coverage stays, intervals widen."""
    spread = 3.92 / math.sqrt(SIZE)

    def mean(x: Any) -> Any:
        return x.mean(axis=-1)

    one = bank.by_formula(mean, mean, lambda g, n: g.exponential(size=n), 1.0, spread, correct=None)
    g = np.random.default_rng(0)
    five = BlockFriends(1000, 5, epsilon=1.0, delta=1e-6)
    several = SubsampleAggregate(one.mechanism.fit, one.mechanism.shape, five)
    many = Bank(several, g.normal(size=(60_000, 5)), np.zeros(5), np.full(5, 3.92 / math.sqrt(1000)))
    for share in (0.0, 0.05, 0.2):
        yield from banked(f"{share:.0%} of the blocks fail, a mean", one, runs, share)
        yield from banked(f"{share:.0%} of the blocks fail, friendly, 5 numbers", many, runs, share)


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--only", default="", help="coverage, error, overhead or failing")
    asked = parser.parse_args()
    study(asked.runs, asked.only)


def study(runs: int, only: str = "") -> None:
    """All parts, or one; all are recorded."""
    parts: dict[str, Callable[[], Iterator[Row]]] = {
        "coverage": lambda: coverage_rows(runs),
        "error": lambda: error_rows(min(50, runs)),
        "failing": lambda: failing_rows(runs),
        "overhead": lambda: overhead_rows(1_000_000),
    }
    rows = (row for part, made in parts.items() if only in ("", part) for row in made())
    record("blocks", rows, note=NOTE, keep=not only)


if __name__ == "__main__":
    main()
