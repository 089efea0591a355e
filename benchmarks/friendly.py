"""What means in any dimension without bounds are worth: noise and error against those who know centre and scale.

    python -m benchmarks.friendly [--runs 40] [--only noise]

Every row is simulated anew from seeds; a missed bar is printed as missed. Epsilon is 1, delta 1e-6.
"""

import argparse
import math
import time
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.coinpress import coinpress_rows_mean
from benchmarks.record import Row, record
from discreet import Seeded, mean
from discreet.accounting.calibrate import gaussian
from discreet.accounting.calibrate import rho as rho_of
from discreet.friendly.radius import r_clip
from discreet.friendly.refine import RefinedMean
from discreet.noise.randomness import Secure

EPSILON, DELTA = 1.0, 1e-6
NOTE = "Epsilon 1, delta 1e-6. `inf`: most runs were refused."
TINY = 1e-9  # where n is large, delta must be small
Floats = npt.NDArray[np.float64]


def oracle(width: int, size: int) -> float:
    """The noise of a Gaussian mechanism that clips around the true centre, where one row in n lies beyond."""
    return 2 * r_clip(width, 0.0, 1 / size) / (size * gaussian(EPSILON, DELTA))


def bar(name: str, figure: str, seen: float, most: float, digits: int = 3) -> Row:
    return name, figure, f"{seen:.{digits}f}", f"<= {most:g}", seen <= most


def noise_rows(runs: int) -> Iterator[Row]:
    """A known scale: the noise of the answer."""
    for width, size, most in ((1, 1000, 1.06), (10, 2000, 1.06), (100, 10_000, 1.04), (1000, 10_000, 1.08)):
        noise, times = [], max(2, runs // (1 if width < 100 else 8 if width < 1000 else 20))
        for seed in range(times):
            rows = np.random.default_rng(seed).normal(size=(size, width)) + 1e4
            spread: Any = RefinedMean(EPSILON, DELTA, sigma=1.0).release(rows, Seeded(seed)).spread
            noise.append(float(spread.privacy[0]))
        ratio = float(np.mean(noise)) / oracle(width, size)
        yield bar(f"known scale, d={width}, n={size}", f"noise over the oracle's, {times} runs", ratio, most)


def error_of(rows: Floats, truth: float, seed: int, **options: Any) -> float:
    """The squared distance of an answer from the truth; infinite if refused."""
    release = mean(rows, epsilon=EPSILON, delta=DELTA, rng=Seeded(seed), **options)
    return math.inf if release.refusal else float(((release.value - truth) ** 2).sum())


def unknown_rows(runs: int) -> Iterator[Row]:
    """Nothing known, at any scale and place: the root mean squared error, the oracle's on the same rows."""
    for width, size, offset, most in (
        (10, 5000, 1e4, 1.10),
        (100, 20_000, 1e4, 1.10),
        (10, 5000, 0.0, 1.10),
        (10, 5000, 1e9, 1.10),
    ):
        times, errors, plain = max(4, runs if width < 100 else runs // 5), [], []
        for seed in range(times):
            rng = np.random.default_rng(seed)
            scale = 10.0 ** rng.uniform(-3, 3)
            rows = (rng.normal(size=(size, width)) + offset) * scale
            errors.append(error_of(rows, offset * scale, seed) / scale**2)
            plain.append(float(((rows / scale - offset).mean(axis=0) ** 2).sum()))
        ratio = math.sqrt(float(np.mean(errors)) / (float(np.mean(plain)) + width * oracle(width, size) ** 2))
        name = f"unknown centre and scale, d={width}, n={size}, {offset:g} sigma from 0"
        yield bar(name, f"RMSE over the oracle's, {times} runs", ratio, most)


def outlier_rows(runs: int) -> Iterator[Row]:
    """Some rows far away, together."""

    def error(size: int, share: float, seed: int) -> float:
        rng = np.random.default_rng(seed)
        rows = rng.normal(size=(size, 10))
        away = int(share * size)
        rows[:away] = 1e4 + 10 * rng.normal(size=(away, 10))
        return error_of(rows, 0.0, seed)

    clean = math.sqrt(np.mean([error(5000, 0.0, seed) for seed in range(runs)]))
    for share in (0.1, 0.2):
        seen = math.sqrt(np.mean([error(5000, share, seed) for seed in range(runs)]))
        yield bar(f"{share:.0%} far outliers, d=10, n=5000", "RMSE over the clean one's", seen / clean, 1.5)
    times = 5 * runs
    usual = 10 * (oracle(10, 1400) ** 2 + 1 / 1400)
    bad = sum(error(2000, 0.3, seed) > 25 * usual for seed in range(times))
    yield bar("30% far outliers, d=10, n=2000", f"refused or 5 times off, of {times}", bad, 0, 0)


def coinpress_rows(runs: int) -> Iterator[Row]:
    """CoinPress is given |mu| <= R and the scale, and its best number of steps; ours is given the scale, or nothing."""
    budget = rho_of(EPSILON, DELTA)
    for width, size, limit in (
        (1, 1000, 1e2),
        (10, 2000, 1e2),
        (10, 2000, 1e5),
        (100, 10_000, 1e2),
        (100, 10_000, 1e5),
    ):
        times = max(4, 10 * runs if width == 1 else runs if width < 100 else runs // 6)
        ours: dict[str, list[float]] = {"given sigma": [], "given nothing": []}
        theirs: dict[int, list[float]] = {2: [], 4: [], 10: []}
        for seed in range(times):
            rng = np.random.default_rng(seed)
            centre = rng.normal(size=width)
            centre *= 0.9 * limit / np.linalg.norm(centre)
            rows = rng.normal(size=(size, width)) + centre
            for name, sigma in (("given sigma", 1.0), ("given nothing", None)):
                ours[name].append(error_of(rows, centre, seed, sigma=sigma))  # type: ignore[arg-type]
            for steps, errors in theirs.items():
                errors.append(float(((coinpress_rows_mean(rows, limit, budget, steps, rng) - centre) ** 2).sum()))
        best = min(float(np.mean(errors)) for errors in theirs.values())
        for name, found in ours.items():
            ratio = math.sqrt(float(np.mean(found)) / best)
            yield bar(f"d={width}, n={size}, |mu| <= {limit:g}, {name}", "RMSE over CoinPress's (best t)", ratio, 1)


def shape_rows(runs: int) -> Iterator[Row]:
    """Rows that are not normal: coverage of each coordinate, and the error."""
    shapes: dict[str, tuple[Callable[[np.random.Generator, int, int], Floats], float]] = {
        "normal": (lambda g, n, d: g.normal(size=(n, d)), 0.0),
        "t3": (lambda g, n, d: g.standard_t(3, size=(n, d)), 0.0),
        "lognormal": (lambda g, n, d: g.lognormal(size=(n, d)), math.exp(0.5)),
        "10% contaminated": (
            lambda g, n, d: np.where(g.random((n, 1)) < 0.9, g.normal(size=(n, d)), 300 + 100 * g.normal(size=(n, d))),
            0.0,
        ),
    }
    for width, size in ((1, 10_000), (10, 20_000)):
        for shape, (sample, truth) in shapes.items():
            held, errors, plain, blocks = [], [], [], 0
            times = 5 * runs if width == 1 else runs
            for seed in range(times):
                rows = sample(np.random.default_rng(seed), size, width)
                release = mean(rows, epsilon=EPSILON, delta=DELTA, rng=Seeded(seed))
                interval = release.interval(0.95)
                held.append(np.mean((interval.low <= truth) & (truth <= interval.high)))
                errors.append(np.mean((release.value - truth) ** 2))
                plain.append(np.mean((rows.mean(axis=0) - truth) ** 2))
                blocks += release.provenance.parameters["method"] == "blocks"
            name, cover = f"{shape}, d={width}, n={size}", float(np.mean(held))
            figure = f"coverage of 95%, {times} runs, {blocks} in blocks"
            yield name, figure, f"{cover:.3f}", ">= 0.92", cover >= 0.92
            ratio = math.sqrt(float(np.mean(errors)) / float(np.mean(plain)))
            yield name, "RMSE over the sample mean's", f"{ratio:.2f}", "", True


def cpu(work: Callable[[], Any]) -> float:
    """CPU seconds, the least of three."""
    taken = []
    for _ in range(3):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return min(taken)


def speed_rows(largest: int) -> Iterator[Row]:
    """Whole releases with secret noise against numpy's mean."""
    for width in (10, 100):
        taken: dict[int, float] = {}
        for size in (100_000, 1_000_000, 4_000_000):
            if size * width > largest:
                continue
            rows = np.random.default_rng(0).normal(size=(size, width))
            mean(rows[:5000], epsilon=EPSILON, delta=TINY)  # compile, import
            fixed = cpu(lambda few=rows[:5000]: mean(few, epsilon=EPSILON, delta=TINY, rng=Secure()))  # type: ignore[misc]
            theirs = cpu(lambda all_=rows: all_.mean(axis=0))  # type: ignore[misc]
            taken[size] = cpu(lambda all_=rows: mean(all_, epsilon=EPSILON, delta=TINY, rng=Secure()))  # type: ignore[misc]
            allowed = 3 * theirs + 1
            name = f"n={size:.0e}, d={width}"
            yield bar(name, f"CPU s (numpy {theirs:.3f}, n=5000 {fixed:.2f})", taken[size], round(allowed, 3), 2)
        if len(taken) > 1:
            (few, first), (many, last) = min(taken.items()), max(taken.items())
            yield bar(
                f"n={few:.0e} to {many:.0e}, d={width}", "time over that of a straight line", last / first, many / few
            )
        rows = np.random.default_rng(0).normal(size=(1_000_000, width))
        tracemalloc.start()
        mean(rows, epsilon=EPSILON, delta=TINY)
        extra = tracemalloc.get_traced_memory()[1] / rows.nbytes
        tracemalloc.stop()
        yield bar(f"n=1e+06, d={width}", "extra memory over the input", extra, 0.3, 2)


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--only", default="", help="noise, unknown, outliers, coinpress, shapes or speed")
    parser.add_argument("--largest", type=int, default=400_000_000, help="entries of the largest table timed")
    wanted = parser.parse_args()
    study(wanted.runs, wanted.only, wanted.largest)


def study(runs: int, only: str = "", largest: int = 400_000_000) -> None:
    """All parts, or one; all are recorded."""
    parts: dict[str, Callable[[], Iterator[Row]]] = {
        "noise": lambda: noise_rows(runs),
        "unknown": lambda: unknown_rows(runs),
        "outliers": lambda: outlier_rows(runs),
        "coinpress": lambda: coinpress_rows(runs),
        "shapes": lambda: shape_rows(runs),
        "speed": lambda: speed_rows(largest),
    }
    rows = (row for part, made in parts.items() if only in ("", part) for row in made())
    record("friendly", rows, note=NOTE, keep=not only)


if __name__ == "__main__":
    main()
