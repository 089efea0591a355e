"""What one-dimensional answers without bounds are worth: error, coverage and width against the non-private ones.

    python -m benchmarks.means [--runs 2000]

Every row is simulated anew with secret-distribution noise from seeds; a missed bar is printed as missed.
"""

import argparse
import math
import tracemalloc
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from benchmarks.coinpress import coinpress
from benchmarks.noise import seconds
from benchmarks.record import Row, record
from discreet import Seeded, mean, quantile
from discreet.accounting.calibrate import rho as rho_of

Sample = Callable[[np.random.Generator, int], npt.NDArray[np.float64]]

SHAPES: dict[str, tuple[Sample, float]] = {
    "normal": (lambda rng, n: rng.normal(5, 2, n), 5.0),
    "exponential": (lambda rng, n: rng.exponential(1, n), 1.0),
    "lognormal": (lambda rng, n: rng.lognormal(0, 1, n), math.exp(0.5)),
    "t3": (lambda rng, n: rng.standard_t(3, n), 0.0),
    "gamma(0.3)": (lambda rng, n: rng.gamma(0.3, 1, n), 0.3),
    "Poisson(3)": (lambda rng, n: rng.poisson(3, n).astype(float), 3.0),
    "Bernoulli(0.1)": (lambda rng, n: (rng.random(n) < 0.1).astype(float), 0.1),
    "80% zeros + lognormal(7, 1)": (
        lambda rng, n: np.where(rng.random(n) < 0.8, 0.0, rng.lognormal(7, 1, n)),
        0.2 * math.exp(7.5),
    ),
}


def gaussian_rows(runs: int) -> Iterator[Row]:
    """model="gaussian", no bounds, sigma unknown, |mu| up to 1000 sigma."""
    for size, epsilon, width_bar in ((1000, 1.0, 1.10), (10_000, 0.1, 1.25)):
        people, errors, plain, widths, usual, held = np.random.default_rng(1), [], [], [], [], 0
        for i in range(runs):
            mu = people.uniform(-1000, 1000)
            x = people.normal(mu, 1, size)
            release = mean(x, epsilon=epsilon, model="gaussian", rng=Seeded(i))
            interval = release.interval(0.95)
            errors.append(release.value - mu)
            plain.append(x.mean() - mu)
            widths.append(interval.high - interval.low)
            usual.append(2 * stats.t.ppf(0.975, size - 1) * x.std(ddof=1) / math.sqrt(size))
            held += interval.low <= mu <= interval.high
        name = f"gaussian mean, n={size}, eps={epsilon:g}"
        ratio = math.sqrt(np.mean(np.square(errors)) / np.mean(np.square(plain)))
        if size == 1000:
            yield name, "RMSE over the sample mean's", f"{ratio:.3f}", "<= 1.15", ratio <= 1.15
        else:
            yield name, "RMSE over the sample mean's", f"{ratio:.3f}", "", True
        yield name, f"coverage, {runs} runs", f"{held / runs:.3f}", "0.93 to 0.97", 0.93 <= held / runs <= 0.97
        wide = median(widths) / median(usual)
        yield name, "median width over the t interval's", f"{wide:.3f}", f"<= {width_bar}", wide <= width_bar


def coinpress_rows(runs: int) -> Iterator[Row]:
    """Against CoinPress, which is given R and sigma, at equal (epsilon, delta) and with its best number of steps."""
    for size, epsilon, reach in ((1000, 1.0, 10.0), (1000, 1.0, 1e3), (10_000, 0.1, 1e3), (10_000, 1.0, 1e3)):
        people, ours, theirs = np.random.default_rng(2), [], {2: [], 4: [], 10: []}  # type: ignore[var-annotated]
        budget = rho_of(epsilon, 1e-6)
        for i in range(runs):
            mu = people.uniform(-0.9 * reach, 0.9 * reach)
            x = people.normal(mu, 1, size)
            ours.append(abs(mean(x, epsilon=epsilon, delta=1e-6, model="gaussian", rng=Seeded(i)).value - mu))
            for steps, errors in theirs.items():
                errors.append(abs(coinpress(x, reach, 1.0, budget, steps, people) - mu))
        best = min(float(np.mean(errors)) for errors in theirs.values())
        ratio = float(np.mean(ours)) / best
        name = f"gaussian mean, n={size}, eps={epsilon:g}, |mu| <= {reach:g}"
        yield name, "mean error over CoinPress's (best t)", f"{ratio:.3f}", "<= 1", ratio <= 1


def shape_rows(runs: int) -> Iterator[Row]:
    """model=None on many shapes."""
    size = 10_000
    for shape, (sample, truth) in SHAPES.items():
        people, widths, usual, held = np.random.default_rng(3), [], [], 0
        for i in range(runs):
            x = sample(people, size)
            interval = mean(x, epsilon=1.0, rng=Seeded(i)).interval(0.95)
            widths.append(interval.high - interval.low)
            usual.append(2 * 1.96 * x.std(ddof=1) / math.sqrt(size))
            held += interval.low <= truth <= interval.high
        name = f"mean of any shape: {shape}"
        yield name, f"coverage, {runs} runs", f"{held / runs:.3f}", ">= 0.93", held / runs >= 0.93
        wide = median(widths) / median(usual)
        yield name, "median width over the non-private", f"{wide:.2f}", "<= 2", wide <= 2


def quantile_rows(runs: int) -> Iterator[Row]:
    """The interval for the median."""
    for size, bar in ((400, 1.35), (2000, 1.05)):
        people, widths, usual, held = np.random.default_rng(4), [], [], 0
        low = int(stats.binom.ppf(0.025, size, 0.5))
        for i in range(runs):
            x = people.normal(0, 1, size)
            interval = quantile(x, 0.5, epsilon=1.0, granularity=0, rng=Seeded(i)).interval(0.95)
            order = np.sort(x)
            widths.append(interval.high - interval.low)
            usual.append(order[size - low] - order[low - 1])
            held += interval.low <= 0 <= interval.high
        name = f"median interval, n={size}, eps=1"
        yield name, f"coverage, {runs} runs", f"{held / runs:.3f}", ">= 0.93", held / runs >= 0.93
        wide = median(widths) / median(usual)
        yield name, "median width over the order statistics'", f"{wide:.3f}", f"<= {bar}", wide <= bar


def speed_rows() -> Iterator[Row]:
    """CPU times against numpy in the same run."""
    big = np.random.default_rng(5).normal(40, 10, 10_000_000)
    some = big[:1_000_000]

    def work(name: str, baseline: Callable[[], Any], ours: Callable[[], Any], bar: float) -> Row:
        theirs, mine = seconds(5, baseline, ours)
        return name, "CPU over numpy's", f"{mine / theirs:.2f}", f"<= {bar:g}", mine / theirs <= bar

    yield work("mean of 1e7, public bounds", big.mean, lambda: mean(big, epsilon=1, bounds=(0, 120)), 1.3)
    yield work("mean of 1e6, no bounds", lambda: (some.mean(), some.std()), lambda: mean(some, epsilon=1), 10)
    yield work("mean of 1e6, gaussian", lambda: (some.mean(), some.std()),
               lambda: mean(some, epsilon=1, model="gaussian"), 10)  # fmt: skip
    yield work(
        "median of 1e6", lambda: np.quantile(some, 0.5), lambda: quantile(some, 0.5, epsilon=1, confidence=None), 1
    )
    yield work("mean of 1e7, no bounds", lambda: (big.mean(), np.partition(big, len(big) // 2)),
               lambda: mean(big, epsilon=1), 3)  # fmt: skip
    tracemalloc.start()
    mean(big, epsilon=1)
    extra = tracemalloc.get_traced_memory()[1] / big.nbytes
    tracemalloc.stop()
    yield "mean of 1e7, no bounds", "extra memory over the input", f"{extra:.2f}", "<= 1.2", extra <= 1.2


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--only", default="", help="gaussian, coinpress, shapes, quantile or speed")
    wanted = parser.parse_args()
    study(wanted.runs, wanted.only)


def study(runs: int, only: str = "") -> None:
    """All parts, or one; all are recorded."""
    parts: dict[str, Callable[[], Iterator[Row]]] = {
        "gaussian": lambda: gaussian_rows(runs),
        "coinpress": lambda: coinpress_rows(max(100, runs // 5)),
        "shapes": lambda: shape_rows(max(100, runs // 5)),
        "quantile": lambda: quantile_rows(runs),
        "speed": speed_rows,
    }
    rows = (row for part, made in parts.items() if only in ("", part) for row in made())
    record("means", rows, keep=not only)


if __name__ == "__main__":
    main()
