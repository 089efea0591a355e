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
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from benchmarks.record import Row, record

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
UNBOUNDED = {".parquet": 3.0, ".csv": 1.6}
BARS = {  # in CPU seconds
    "bounds given": {".parquet": 1.5, ".csv": 1.6},
    "no bounds": UNBOUNDED,
    "no bounds, rows private": UNBOUNDED,
}


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


def table(path: Path, warm: Path, title: str) -> Iterator[Row]:
    """One file: ours over polars'."""
    found = measured(path, warm)
    theirs = found[next(iter(WORK))][1]
    for name, (_, cpu, peak, answer) in found.items():
        assert 39 < answer < 41
        if name in BARS:
            bar = BARS[name].get(path.suffix)
            met, told = bar is None or cpu <= bar * theirs, "" if bar is None else f"<= {bar:g}"
            yield f"{title}: {name}", f"CPU over polars' mean ({cpu:.2f} s)", f"{cpu / theirs:.2f}", told, met
            small = peak <= MEMORY
            yield f"{title}: {name}", "peak memory, MB", f"{peak / 1e6:.0f}", f"<= {MEMORY / 1e6:.0f}", small


def study(rows: int, lines: int) -> bool:
    """Both files, recorded."""
    return record("tables", both(rows, lines), note=NOTE)


def both(rows: int, lines: int) -> Iterator[Row]:
    """A file of Parquet and one of CSV."""
    with TemporaryDirectory() as scratch:
        for make, size, name in ((make_parquet, rows, "x.parquet"), (make_csv, lines, "x.csv")):
            path, warm = Path(scratch) / name, Path(scratch) / f"warm-{name}"
            make(path, size)
            make(warm, WARM)
            columns = 1 if path.suffix == ".parquet" else 5
            yield from table(path, warm, f"{path.suffix[1:]} {size:.0e} x {columns}".replace("e+0", "e"))
            path.unlink()


NOTE = "The mean of one column of a file that is read in pieces, epsilon 1, with its interval."


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
