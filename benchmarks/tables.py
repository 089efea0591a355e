"""Columns that are read piece by piece: seconds and memory of a private mean, beside polars' streaming mean.

    python -m benchmarks.tables [--rows 100000000] [--lines 10000000]

The files are made in a temporary folder and removed. Each piece of work runs in a process of its own, which has read a
few rows of another file before: imports and compiled code are not counted, decoding the file is.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

PAGE = Path(__file__).parent.parent / "docs" / "measured-tables.md"
GROUP = 1_000_000  # rows of a row group, and of a batch that is written
WARM = 300_000  # rows of the file that is read first
MEMORY = 1.5e9  # bytes
ROUNDS = 3  # of which the fastest counts: others use the machine too


def make_parquet(path: Path, rows: int) -> None:
    """A column of normal numbers, in row groups."""
    people, schema = np.random.default_rng(1), pa.schema([("x", pa.float64())])
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, rows, GROUP):
            batch = pa.table({"x": people.normal(40, 10, min(GROUP, rows - start))}, schema)
            writer.write_table(batch, row_group_size=GROUP)


def make_csv(path: Path, rows: int) -> None:
    """Five columns: two of numbers with decimals, one of whole numbers, one of text, one of truth values."""
    people = np.random.default_rng(2)
    for start in range(0, rows, GROUP):
        size = min(GROUP, rows - start)
        batch = pa.table(
            {
                "x": people.normal(40, 10, size).round(3),
                "y": people.exponential(1, size).round(3),
                "age": people.integers(0, 100, size),
                "place": np.array(["north", "south", "east", "west"])[people.integers(0, 4, size)],
                "ill": people.random(size) < 0.1,
            }
        )
        with path.open("ab") as file:
            pa.csv.write_csv(batch, file, pa.csv.WriteOptions(include_header=start == 0))


def column(path: Path) -> Any:
    """The column as discreet reads it: a long one is a stream."""
    from discreet.tables.opening import read
    from discreet.tables.wanted import Want

    return read(path).columns([Want("x", "number")])["x"]


def polars_mean(path: Path) -> float:
    """What is beaten, or not."""
    import polars as pl

    lazy = pl.scan_parquet(path) if path.suffix == ".parquet" else pl.scan_csv(path)
    return float(lazy.select(pl.col("x").mean()).collect(engine="streaming").item())


def private_mean(**how: Any) -> Callable[[Path], float]:
    """A mean with its interval, secret noise."""

    def work(path: Path) -> float:
        import discreet

        release = discreet.mean(column(path), epsilon=1.0, **how)
        return float(release.interval(0.95).low)

    return work


WORK: dict[str, Callable[[Path], float]] = {
    "polars, streaming mean": polars_mean,
    "bounds given": private_mean(bounds=(0, 100), neighbours="replace", missing="keep"),
    "no bounds": private_mean(neighbours="replace", missing="keep"),
    "no bounds, rows private": private_mean(),
}
BARS = {"bounds given": {".parquet": 1.5, ".csv": 1.6}, "no bounds": {".parquet": 3.0, ".csv": 2.0}}  # in CPU seconds


def child(name: str, path: Path, warm: Path) -> None:
    """One piece of work: wall and CPU seconds, bytes at the peak, and the answer."""
    WORK[name](warm)
    wall, cpu = time.perf_counter(), time.process_time()
    answer = WORK[name](path)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps([wall, cpu, peak, answer]))


def measured(path: Path, warm: Path) -> dict[str, list[float]]:
    """Each piece of work in some fresh processes, in turn: wall and CPU of the fastest, the largest peak, an answer."""
    runs: dict[str, list[list[float]]] = {name: [] for name in WORK}
    for name in [*WORK] * ROUNDS:
        command = [sys.executable, "-m", "benchmarks.tables", "--child", name, str(path), str(warm)]
        runs[name].append(json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout))
    return {
        name: [min(run[0] for run in some), min(run[1] for run in some), max(run[2] for run in some), some[0][3]]
        for name, some in runs.items()
    }


def table(path: Path, warm: Path, title: str) -> tuple[list[str], bool]:
    """One file: our rows beside polars'."""
    lines, good, found = [], True, measured(path, warm)
    theirs = found[next(iter(WORK))]
    for name, (wall, cpu, peak, answer) in found.items():
        assert 39 < answer < 41
        bar = BARS.get(name, {}).get(path.suffix)
        told = "" if bar is None else f"<= {bar:g}" + ("" if cpu <= bar * theirs[1] else " **missed**")
        small = name not in BARS or peak <= MEMORY
        good = good and small and "missed" not in told
        told = f"{wall:.2f} | {cpu:.2f} | {wall / theirs[0]:.2f} | {cpu / theirs[1]:.2f} | {told} | {peak / 1e6:.0f} MB"
        lines.append(f"| {title} | {name} | {told}{'' if small else ' **missed**'} |")
        print(lines[-1], flush=True)
    return lines, good


def study(rows: int, lines: int) -> bool:
    """Both files; the page is docs/measured-tables.md."""
    with TemporaryDirectory() as scratch:
        found: list[str] = []
        good = True
        for make, size, name in ((make_parquet, rows, "x.parquet"), (make_csv, lines, "x.csv")):
            path, warm = Path(scratch) / name, Path(scratch) / f"warm-{name}"
            make(path, size)
            make(warm, WARM)
            columns = 1 if path.suffix == ".parquet" else 5
            told, fine = table(path, warm, f"{path.suffix[1:]} {size:.0e} x {columns}".replace("e+0", "e"))
            found, good = found + told, good and fine
            path.unlink()
    page = [
        "# Measured: tables that are read piece by piece",
        "",
        "By `python -m benchmarks.tables`: the mean of one column, epsilon = 1, with its interval and secret noise.",
        f"The least wall and CPU seconds of {ROUNDS} fresh processes, on two cores that others use too, and the most",
        "of their peaks of resident memory (bar: 1.5 GB). Imports and compiled code, which a first small file has",
        "loaded, are not counted.",
        "",
        "| file | work | wall s | CPU s | of polars' wall | of polars' CPU | bar (CPU) | peak memory |",
        "|---|---|---|---|---|---|---|---|",
        *found,
        "",
        "Without bounds a column is read twice, for how far it reaches and for the sums, and sixteen runs of its",
        "rows before, for its middle. Where the number of rows is private the middle is looked for among all of them:",
        "in one pass if the first piece is like the rest, in up to three if the file is sorted. The answers are those",
        "for the whole column in memory, bit for bit.",
    ]
    PAGE.write_text("\n".join(page) + "\n")
    return good


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--lines", type=int, default=10_000_000)
    parser.add_argument("--child", nargs=3)
    given = parser.parse_args()
    if given.child:
        child(given.child[0], Path(given.child[1]), Path(given.child[2]))
    elif not study(given.rows, given.lines):
        sys.exit("a bar was missed")
