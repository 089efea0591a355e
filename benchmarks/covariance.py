"""What a private covariance is worth: speed beside np.cov, error beside the sample covariance.

    python -m benchmarks.covariance [--runs 10]

Errors are Frobenius norms where the population's covariance is I, medians over runs; epsilon 1, delta 1e-6.
"""

import argparse
import math
from collections.abc import Iterator
from itertools import chain

import numpy as np

from benchmarks.noise import seconds
from benchmarks.record import Row, record
from discreet import Seeded
from discreet.stages.gram import Frame, moments
from discreet.statistics.covariance import Covariance

NOTE = "Epsilon 1, delta 1e-6."
CASES = ((5000, 5, 30.0), (5000, 5, 1e6), (20_000, 5, 1e6), (20_000, 10, 1e6))


def kernel() -> Iterator[Row]:
    rows = np.random.default_rng(0).normal(size=(1_000_000, 10))
    frame = Frame.of(np.ones(10), np.eye(10))
    theirs, ours = seconds(5, lambda: np.cov(rows, rowvar=False), lambda: moments(rows, frame, 8.0, "clip"))
    ratio = ours / theirs
    yield "exact second moments of 1e6 x 10", "CPU over np.cov", f"{ratio:.2f}", "<= 1", ratio <= 1
    whole = Covariance(1.0, 1e-8)
    (taken,) = seconds(1, lambda: whole.release(rows, Seeded(0)))
    yield "whole release of 1e6 x 10", "CPU over np.cov", f"{taken / theirs:.1f}", "", True


def errors(rows: int, columns: int, condition: float, model: str | None, runs: int) -> Row:
    ours: list[float] = []
    plain: list[float] = []
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        turn = np.linalg.qr(rng.normal(size=(columns, columns)))[0]
        turn = turn * np.sqrt(np.logspace(0, math.log10(condition), columns))
        back = np.linalg.inv(turn)
        table = rng.normal(size=(rows, columns)) @ turn.T + 1e4 * rng.normal(size=columns)
        found = Covariance(1.0, 1e-6, model=model).release(table, Seeded(seed)).value  # type: ignore[arg-type]
        for errors_of, estimate in ((ours, found), (plain, np.cov(table.T))):
            errors_of.append(float(np.linalg.norm(back @ estimate @ back.T - np.eye(columns))))
    mine, theirs = float(np.median(ours)), float(np.median(plain))
    name = f"covariance, n={rows}, d={columns}, condition {condition:g}, model {model}"
    return name, f"error over the sample covariance's, {runs} runs", f"{mine / theirs:.2f}", "", True


def study(runs: int) -> None:
    """Measure, print, write."""
    cases = (errors(*case, model, runs) for case in CASES for model in (None, "gaussian"))
    record("covariance", chain(kernel(), cases), note=NOTE)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10)
    study(parser.parse_args().runs)


if __name__ == "__main__":
    main()
