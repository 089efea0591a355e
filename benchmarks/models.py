"""What private regression is worth: error beside AdaSSP and least squares, coverage, speed.

    python -m benchmarks.models [--runs 500]

AdaSSP (Wang 2018) has its published constants, and is given the true bounds of x and y, which ours
is not; it hides whether a row is there, and ours is measured under both relations. Errors are medians of |estimate -
truth| over coefficients and runs; x standard normal, coefficients standard normal, residuals of deviation 1.
"""

import argparse
import math
from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np

from benchmarks.compare.published import adassp
from benchmarks.noise import seconds
from benchmarks.record import Row, record
from benchmarks.theirs import diffprivlib_models
from discreet import Neighbours, Seeded
from discreet.models.least_squares import LeastSquares

EPSILON, DELTA = 1.0, 1e-6


NOTE = "Epsilon 1, delta 1e-6. AdaSSP (Wang 2018) and diffprivlib are told the true bounds; ours is not."


def drawn(rows: int, columns: int, seed: int) -> tuple[Any, Any, Any, np.random.Generator]:
    """Data and the truth."""
    rng = np.random.default_rng(seed)
    x, truth = rng.normal(size=(rows, columns)), rng.normal(size=columns)
    return x, x @ truth + rng.normal(size=rows), truth, rng


def study_errors(rows: int, columns: int, runs: int, bar: float | None) -> Iterator[Row]:
    """Errors and coverage on the same tables."""
    names = tuple(f"x{place}" for place in range(columns))
    ours: dict[Neighbours, list[Any]] = {relation: [] for relation in Neighbours}
    hits: dict[Neighbours, list[Any]] = {relation: [] for relation in Neighbours}
    published, plain, refused = [], [], 0
    for seed in range(runs):
        x, y, truth, rng = drawn(rows, columns, seed)
        published.append(np.abs(adassp(x, y, EPSILON, DELTA, rng) - truth))
        plain.append(np.abs(np.linalg.lstsq(x, y, rcond=None)[0] - truth))
        for relation in Neighbours:
            if relation is Neighbours.ADD_OR_REMOVE and seed % 5:
                continue
            release = LeastSquares(EPSILON, DELTA, names=names, neighbours=relation).release(
                np.column_stack([x, y]), Seeded(seed)
            )
            if release.refusal is not None:
                refused += 1
                continue
            interval = release.interval(0.95)
            ours[relation].append(np.abs(release.value.coef - truth))
            hits[relation].append((interval.low.coef <= truth) & (truth <= interval.high.coef))
    theirs, least = float(np.median(published)), float(np.median(plain))
    at = f"n={rows:,}, d={columns}"
    yield f"{at}: least squares, not private", "median error", f"{least:.4f}", "", True
    yield f"{at}: AdaSSP as published, true bounds given", "median error", f"{theirs:.4f}", "", True
    for relation in Neighbours:
        if not ours[relation]:
            continue
        mine, word = float(np.median(ours[relation])), relation.name.lower()
        yield f"{at}: no bounds, {word}", "median error", f"{mine:.4f}", "", True
        good = bar is None or mine <= bar * theirs
        yield f"{at}: no bounds, {word}", "over AdaSSP", f"{mine / theirs:.2f}", f"<= {bar}" if bar else "", good
        held = float(np.mean(hits[relation]))
        count = len(hits[relation])
        yield (
            f"{at}: no bounds, {word}",
            f"coverage of 95%, {count} runs",
            f"{held:.3f}",
            ">= 0.92",
            held >= 0.92,
        )
    yield f"{at}: no bounds", "refused", str(refused), "", True


def hard(what: str, runs: int) -> Iterator[Row]:
    """Coverage where rows are not what the intervals are made for: of all slopes, the first one, the intercept."""
    hits = []
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        x, truth = rng.normal(size=(5000, 5)), rng.normal(size=5)
        errors = rng.normal(size=5000)
        if what == "t with 3 degrees":
            errors = rng.standard_t(3, size=5000)
        elif what == "skew (exponential)":
            errors = rng.exponential(size=5000) - 1
        elif what == "of deviation 0.5 + |x0|":
            errors = errors * (0.5 + np.abs(x[:, 0]))
        elif what == "normal, x correlated at 0.99":
            x = math.sqrt(0.01) * x + math.sqrt(0.99) * rng.normal(size=(5000, 1))
        elif what == "normal, x and y at 1e5":
            x = x + 1e5
        mechanism = LeastSquares(EPSILON, DELTA, names=tuple("abcde"))
        release = mechanism.release(np.column_stack([x, x @ truth + errors]), Seeded(seed))
        if release.refusal is None:
            interval, whole = release.interval(0.95), np.append(truth, 0.0)
            low, high = (np.append(end.coef, end.intercept) for end in (interval.low, interval.high))
            hits.append((low <= whole) & (whole <= high))
    at = f"n=5,000, d=5: residuals {what}"
    yield at, "refused", f"{runs - len(hits)} of {runs}", "", True
    held = np.array(hits) if hits else np.full((1, 6), math.nan)
    for name, part in (("all slopes", held[:, :5]), ("the slope of x0", held[:, 0]), ("the intercept", held[:, 5])):
        yield at, f"coverage of 95%, {name}, {runs} runs", f"{np.mean(part):.3f}", "", True


def speed() -> Iterator[Row]:
    """A million rows."""
    rows = np.random.default_rng(0).normal(size=(1_000_000, 11))
    rows[:, 10] += rows[:, 0]
    mechanism = LeastSquares(EPSILON, 1e-8, names=tuple(f"x{place}" for place in range(10)))
    theirs, ours = seconds(2, lambda: np.cov(rows, rowvar=False), lambda: mechanism.release(rows, Seeded(0)))
    yield "whole release of 1e6 x 10", "CPU seconds", f"{ours:.2f}", "", True
    yield "whole release of 1e6 x 10", "CPU over np.cov", f"{ours / theirs:.1f}", "", True


def other_library() -> Row:
    """diffprivlib's regression, where it can be imported: it needs bounds."""
    models = diffprivlib_models()
    if models is None:
        return "diffprivlib LinearRegression, n=5,000, d=5", "not compared: not installed", "-", "", True
    errors = []
    for seed in range(30):
        x, y, truth, _ = drawn(5000, 5, seed)
        model = models.LinearRegression(
            epsilon=EPSILON,
            bounds_X=(x.min(axis=0), x.max(axis=0)),
            bounds_y=(float(y.min()), float(y.max())),
            random_state=seed,
        )
        errors.append(np.abs(model.fit(x, y).coef_ - truth))
    return (
        "diffprivlib LinearRegression, n=5,000, d=5, true bounds",
        "median error",
        f"{np.median(errors):.4f}",
        "",
        True,
    )


def study(runs: int) -> None:
    """Measure, print, write."""
    words = [
        *("t with 3 degrees", "skew (exponential)", "of deviation 0.5 + |x0|"),
        *("normal, x correlated at 0.99", "normal, x and y at 1e5"),
    ]
    found = chain(
        study_errors(5000, 5, runs, 0.65),
        study_errors(20_000, 10, max(runs // 20, 5), None),
        *(hard(word, max(runs // 10, 5)) for word in words),
        speed(),
        [other_library()],
    )
    record("models", found, note=NOTE)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=500)
    study(parser.parse_args().runs)


if __name__ == "__main__":
    main()
