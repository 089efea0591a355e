"""`make bench`: our own rows beside the baselines of the same run; a missed bar is printed as missed.

The studies after it are modules of their own. All record their figures in benchmarks/results, of which
docs/benchmarks.md is made.
Times are CPU times of one process, medians of several rounds.
"""

import subprocess
import sys
from itertools import chain
from statistics import median

import numpy as np

from benchmarks import noise, overview
from benchmarks.record import Row, record
from discreet import count
from discreet.accounting.filter import Budget, Filter
from discreet.privacy.loss import Gaussian, Laplace
from discreet.statistics.histogram import Edges, counts

STUDIES = (
    "means",
    "goals",
    "friendly",
    "covariance",
    "blocks",
    "families",
    "models",
    "glms",
    "clusters",
    "decisions",
    "density",
    "tables",
    "ledger",
    "quantiles",
    "profiles",
    "forecasts",
    "fuzz",
)


def within(work: str, taken: float, limit: float, told: str) -> Row:
    """What something took over what it may take."""
    return work, f"CPU over {told} ({1e3 * taken:.2f} ms)", f"{taken / limit:.3g}", "<= 1", taken <= limit


def import_cost() -> Row:
    """CPU seconds of `import discreet` beyond those of an empty interpreter."""
    code = "import time; t = time.process_time(); import discreet; print(time.process_time() - t)"
    taken = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout) for _ in range(9)
    ]
    cost = median(taken)
    return within("import discreet", cost, 0.3, "0.3 s of CPU")


def histogram_cost() -> Row:
    """2e7 numbers into 100 bins."""
    values, edges = np.random.default_rng(0).uniform(0, 100, 20_000_000), np.linspace(0, 100, 101)
    bins = Edges.of(edges)
    theirs, ours = noise.seconds(5, lambda: np.histogram(values, 100, (0, 100)), lambda: counts(bins, values))
    ratio = ours / theirs
    figure = f"CPU over numpy's ({1e3 * theirs:.0f} ms, {1e3 * ours:.0f} ms)"
    return "counts of 2e7 in 100 bins", figure, f"{ratio:.3g}", "<= 0.25", ratio <= 0.25


def small_release() -> Row:
    """One private count of 1,000 people, secret noise, without a durable charge (there is no ledger yet)."""
    rows = [True, False] * 500
    count(rows, epsilon=1.0)
    (ours,) = noise.seconds(200, lambda: count(rows, epsilon=1.0))
    return within("a small release", ours, 0.004, "4 ms")


def odometer() -> Row:
    """The state of a budget after 100 releases: one more charge, against 10 ms."""
    balance = Filter.zcdp(Budget(10.0, 1e-6))
    for _ in range(100):
        balance = balance.charge(Laplace(0.05)).charge(Gaussian(0.01))
    (ours,) = noise.seconds(50, lambda: balance.charge(Laplace(0.05)).left)
    return within("odometer after 200 charges", ours, 0.010, "10 ms")


def main() -> None:
    """Measure, print, record; then the studies, and the page."""
    record("speed", chain(noise.measure(), (made() for made in (histogram_cost, small_release, odometer, import_cost))))
    commands = {name: [sys.executable, "-m", f"benchmarks.{name}"] for name in STUDIES}
    failed = [name for name, command in commands.items() if subprocess.run(command, check=False).returncode]
    overview.main()
    sys.exit(f"not finished, or with missed bars: {', '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    main()
