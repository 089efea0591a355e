"""`make bench`: our own rows beside the baselines of the same run; a missed bar is printed as missed.

The table is written to docs/measured.md; the studies after it, each a module of its own, write their own pages.
Times are CPU times of one process, medians of several rounds.
"""

import platform
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks import noise
from discreet import count
from discreet.accounting.filter import Budget, Filter
from discreet.privacy.loss import Gaussian, Laplace
from discreet.statistics.histogram import Edges, counts

PAGE = Path(__file__).parent.parent / "docs" / "measured.md"
STUDIES = (
    "means",
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
    "profiles",
    "forecasts",
    "fuzz",
)
Row = dict[str, Any]


def row(work: str, against: str, theirs: str, ours: str, ratio: float, bar: str, ok: bool) -> Row:
    return {
        "what": work,
        "against": against,
        "theirs": theirs,
        "ours": ours,
        "ratio": ratio,
        "bar": bar,
        "ok": ok,
    }


def import_cost() -> Row:
    """CPU seconds of `import discreet` beyond those of an empty interpreter."""
    code = "import time; t = time.process_time(); import discreet; print(time.process_time() - t)"
    taken = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout) for _ in range(9)
    ]
    cost = median(taken)
    return row("import discreet", "0.3 s of CPU", "", f"{1e3 * cost:.1f} ms", cost / 0.3, "<= 1", cost <= 0.3)


def histogram_cost() -> Row:
    """2e7 numbers into 100 bins."""
    values, edges = np.random.default_rng(0).uniform(0, 100, 20_000_000), np.linspace(0, 100, 101)
    bins = Edges.of(edges)
    theirs, ours = noise.seconds(5, lambda: np.histogram(values, 100, (0, 100)), lambda: counts(bins, values))
    ratio = ours / theirs
    times = f"{1e3 * theirs:.0f} ms", f"{1e3 * ours:.0f} ms"
    return row("counts of 2e7 in 100 bins", "numpy", *times, ratio, "<= 0.25", ratio <= 0.25)


def small_release() -> Row:
    """One private count of 1,000 people, secret noise, without a durable charge (there is no ledger yet)."""
    rows = [True, False] * 500
    count(rows, epsilon=1.0)
    (ours,) = noise.seconds(200, lambda: count(rows, epsilon=1.0))
    return row("a small release", "4 ms", "", f"{1e3 * ours:.2f} ms", ours / 0.004, "<= 1", ours <= 0.004)


def odometer() -> Row:
    """The state of a budget after 100 releases: one more charge, against 10 ms."""
    balance = Filter.zcdp(Budget(10.0, 1e-6))
    for _ in range(100):
        balance = balance.charge(Laplace(0.05)).charge(Gaussian(0.01))
    (ours,) = noise.seconds(50, lambda: balance.charge(Laplace(0.05)).left)
    return row("odometer after 200 charges", "10 ms", "", f"{1e3 * ours:.2f} ms", ours / 0.010, "<= 1", ours <= 0.010)


def main() -> None:
    """Measure, print, write."""
    start = time.time()
    rows = [*noise.measure(), histogram_cost(), small_release(), odometer(), import_cost()]
    noise.show(rows)
    lines = [
        "# Measured",
        "",
        f"By `make bench`: {platform.machine()}, Python {platform.python_version()}, numpy {np.__version__}.",
        "Ratios of CPU times (of values a second against OpenDP) within one run; a missed bar says so.",
        "",
        "| work | against | theirs | ours | ratio | bar | |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {r['what']} | {r['against']} | {r['theirs']} | {r['ours']} | {r['ratio']:.3g} | {r['bar']} | "
        f"{'ok' if r['ok'] else '**missed**'} |"
        for r in rows
    ]
    PAGE.write_text("\n".join(lines) + "\n")
    commands = {name: [sys.executable, "-m", f"benchmarks.{name}"] for name in STUDIES}
    failed = [name for name, command in commands.items() if subprocess.run(command, check=False).returncode]
    print(f"written to {PAGE.parent.name} in {time.time() - start:.0f} s")
    sys.exit(f"not finished, or with missed bars: {', '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    main()
