"""Questions about people with four rows each in a long table, on one machine: processor time, wall time and memory.

    python -m benchmarks.people --folder /tmp/people --rows 100_000_000 [--only fit]

It writes the table if it is not there: Parquet files of 5 million rows, row groups of a million, four numbers a row and
whose it is, a person's rows in any place. Each question runs in a process of its own. CPU is that of all its processes,
start included; memory the largest sum, looked at three times a second, of what they had, shared pages counted once.
Ours stand beside polars and scikit-learn, where these can do the same at all.
"""

import argparse
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import numpy as np

FILE: Final = 5_000_000
GROUPS: Final = [0.0, 1.0, 2.0, 3.0]


def write(folder: Path, rows: int) -> None:
    """The table."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(parents=True, exist_ok=True)
    for number in range(-(-rows // FILE)):
        g, n = np.random.default_rng([rows, number]), min(FILE, rows - number * FILE)
        x, z = g.normal(10.5, 0.6, n), g.standard_normal(n)
        columns = {"x": x, "z": z, "y": 2 * x - z + g.standard_normal(n), "town": g.integers(0, 4, n).astype(float)}
        columns["id"] = g.integers(0, rows // 4, n)
        pq.write_table(pa.table(columns), folder / f"{number:04d}.parquet", row_group_size=1_000_000)


def asked(name: str, **arguments: Any) -> Callable[[Path], Any]:
    """A question of ours, about one row a person; four rows of a person are one by their mean."""

    def ask(folder: Path) -> Any:
        import discreet

        terms: dict[str, Any] = {"budget": discreet.Budget(10.0, 1e-3), "ledger": ":memory:", "population": "people"}
        with discreet.open(folder, person="id", rng=discreet.Seeded(1), **terms) as session:
            return session.ask(name, epsilon=1.0, **arguments)

    return ask


def fitted(folder: Path) -> Any:
    """Ridge on blocks of people."""
    from sklearn.linear_model import Ridge

    return asked("fit", estimator=Ridge(), X=["x", "z"], y="y", blocks=1000, delta=1e-6)(folder)


def by_person(folder: Path, *columns: str) -> Any:
    """polars: the mean of each person's rows."""
    import polars as pl

    found = pl.scan_parquet(folder / "*.parquet").group_by("id").agg(*[pl.col(name).mean() for name in columns])
    return found.collect(engine="streaming")


def polars_groups(folder: Path) -> Any:
    """polars: that, then by group."""
    import polars as pl

    each = pl.scan_parquet(folder / "*.parquet").group_by("id").agg(pl.col("x").mean(), pl.col("town").first())
    return each.group_by("town").agg(pl.col("x").mean()).collect(engine="streaming")


def plain_regression(folder: Path) -> Any:
    """polars, then scikit-learn."""
    from sklearn.linear_model import LinearRegression

    people = by_person(folder, "x", "z", "y")
    return LinearRegression().fit(people.select("x", "z").to_numpy(), people["y"].to_numpy()).coef_


def plain_clusters(folder: Path) -> Any:
    """polars, then scikit-learn."""
    from sklearn.cluster import KMeans

    return KMeans(3, n_init=1).fit(by_person(folder, "x", "z", "y").select("x", "z", "y").to_numpy()).cluster_centers_


QUESTIONS: Final[dict[str, Callable[[Path], Any]]] = {
    "mean by group": asked("mean", x="x", groupby="town", keys=GROUPS),
    "three quantiles": asked("quantile", x="x", q=[0.25, 0.5, 0.75]),
    "linear regression": asked("linear_regression", X=["x", "z"], y="y", delta=1e-6),
    "k-means": asked("kmeans", X=["x", "z", "y"], k=3, delta=1e-6),
    "fit": fitted,
    "polars, mean by person, then by group": polars_groups,
    "polars, three quantiles of people": lambda folder: by_person(folder, "x")["x"].quantile(0.5),
    "polars and LinearRegression": plain_regression,
    "polars and KMeans": plain_clusters,
}


def watched(name: str, folder: Path) -> str:
    """A question in a process of its own: CPU, wall time, memory."""
    began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.people", "--folder", str(folder), "--ask", name]
    process, most = subprocess.Popen(command, stdout=subprocess.PIPE, text=True), 0
    while process.poll() is None:
        most = max(most, _memory(process.pid))
        time.sleep(0.33)
    after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - began
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert process.stdout is not None
    said = " ".join(process.stdout.read().split())[:160]
    return f"{name} | {spent:.1f} s CPU | {wall:.0f} s | {most / 1e9:.2f} GB | {said}"


def _memory(pid: int) -> int:
    """What a process and its children have, shared pages counted once."""
    psutil: Any = import_module("psutil")  # with Dask
    found = 0
    try:
        root = psutil.Process(pid)
        for one in [root, *root.children(recursive=True)]:
            found += one.memory_full_info().pss
    except psutil.Error:
        return found
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--only", nargs="*", choices=QUESTIONS, default=list(QUESTIONS))
    parser.add_argument("--ask", choices=QUESTIONS)
    given = parser.parse_args()
    if given.ask:
        print(QUESTIONS[given.ask](given.folder))
        return
    if given.rows and not given.folder.exists():
        write(given.folder, given.rows)
    print(f"{os.cpu_count()} processors, {sum(one.stat().st_size for one in given.folder.iterdir()) / 1e9:.1f} GB")
    for name in given.only:
        print(watched(name, given.folder), flush=True)


if __name__ == "__main__":
    main()
