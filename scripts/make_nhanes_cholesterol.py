"""Make src/discreet/datasets/nhanes_cholesterol.parquet, the demonstration data with survey weights, from R's `survey`.

    pip install -e .                                  # discreet itself, for the public schema
    apt-get install r-base-core r-cran-survey         # or install.packages("survey") in R
    python scripts/make_nhanes_cholesterol.py         # write the file
    python scripts/make_nhanes_cholesterol.py --check # write nothing; fail if the file holds another table

The package `survey` has the data set `nhanes`: 8,591 people of NHANES 2009-10 who were eligible for the measurement of
cholesterol. R only writes it as CSV; everything else happens here.

What is done to the data, all of it:
  * Columns get names that say what they are, answers the labels of the codebook.
  * HI_CHOL, 1 or 0, becomes true or false.
"""

import argparse
import hashlib
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv

from discreet.datasets import NHANES_CHOLESTEROL_CATEGORIES, NHANES_CHOLESTEROL_COLUMNS

TARGET: Final = Path(__file__).parents[1] / "src" / "discreet" / "datasets" / "nhanes_cholesterol.parquet"
READ: Final = 'data(nhanes, package = "survey"); write.csv(nhanes, row.names = FALSE)'
DATA_SHA256: Final = "336fe11c562020cd9be7008c524b284f5e4fb537457937167164456ab93dfaba"
SOURCES: Final[Mapping[str, str]] = {
    "stratum": "SDMVSTRA",
    "cluster": "SDMVPSU",
    "weight": "WTMEC2YR",
    "sex": "RIAGENDR",
    "age_group": "agecat",
    "race_ethnicity": "race",
    "high_cholesterol": "HI_CHOL",
}
CODES: Final[Mapping[str, Sequence[str]]] = {  # of the source, in the order of our labels
    "sex": ("1", "2"),
    "age_group": ("(0,19]", "(19,39]", "(39,59]", "(59,Inf]"),
    "race_ethnicity": ("1", "2", "3", "4"),
}
TYPES: Final[Mapping[str, pa.DataType]] = {
    "stratum": pa.int16(),
    "cluster": pa.int8(),
    "weight": pa.float64(),
    "high_cholesterol": pa.bool_(),
}


def build() -> pa.Table:
    """The whole table."""
    content = subprocess.run(["Rscript", "-e", READ], capture_output=True, check=True).stdout
    if hashlib.sha256(content).hexdigest() != DATA_SHA256:
        raise SystemExit("the data set `nhanes` of R's package `survey` is not that of version 4.1-1")
    texts = set(CODES)
    raw = csv.read_csv(
        pa.BufferReader(content),
        convert_options=csv.ConvertOptions(
            column_types={SOURCES[name]: pa.string() if name in texts else TYPES[name] for name in SOURCES},
            null_values=["NA"],
        ),
    )
    columns = {}
    for name in NHANES_CHOLESTEROL_COLUMNS:
        values = raw[SOURCES[name]].combine_chunks()
        if name in texts:
            codes = [CODES[name].index(value) for value in values.to_pylist()]
            labels = pa.array(NHANES_CHOLESTEROL_CATEGORIES[name], pa.string())
            values = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int8()), labels)
        columns[name] = values
    return pa.table(columns)


def main() -> int:
    """Write the file, or compare with it."""
    parser = argparse.ArgumentParser(description="Make the NHANES table with survey weights that ships with discreet.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the file would change")
    check: bool = parser.parse_args().check
    table = build()
    if check:
        same = pq.ParquetFile(TARGET).read().equals(table)
        print(f"{TARGET.name}: {'the same table' if same else 'another table; run without --check'}")
        return 0 if same else 1
    pq.write_table(table, TARGET, compression="zstd", compression_level=19, row_group_size=table.num_rows)
    print(f"{TARGET.name}: {table.num_rows} people, {table.num_columns} columns, {TARGET.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
