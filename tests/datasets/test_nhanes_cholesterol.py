"""NHANES 2009-10 with weights: its public schema, and what it says about the country, with privacy and without."""

import os
import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import stats

import discreet
from discreet.datasets import (
    NHANES_CHOLESTEROL_CATEGORIES,
    NHANES_CHOLESTEROL_COLUMNS,
    NHANES_CHOLESTEROL_DESIGN,
    NHANES_CHOLESTEROL_LARGEST_WEIGHT,
    load_nhanes_cholesterol,
)

FOLDER: Final = files("discreet.datasets")
SCRIPT: Final = Path(__file__).parents[2] / "scripts" / "make_nhanes_cholesterol.py"
SURVEY: Final[dict[str, Any]] = {
    "weights": "weight",
    "strata": "stratum",
    "clusters": "cluster",
    "design": NHANES_CHOLESTEROL_DESIGN,
    "largest_weight": NHANES_CHOLESTEROL_LARGEST_WEIGHT,
}
DEGREES: Final = 16  # 31 clusters in 15 strata
ADULTS: Final = "age_group != '6 to 19'"


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return load_nhanes_cholesterol()


def design_based(frame: pd.DataFrame) -> tuple[float, float]:
    """The share with high cholesterol and its standard error by linearisation, as textbooks have it."""
    measured = frame[frame["high_cholesterol"].notna()]
    weight, high = measured["weight"], measured["high_cholesterol"].astype(float)
    share = float((weight * high).sum() / weight.sum())
    score = (weight * (high - share) / weight.sum()).groupby([measured["stratum"], measured["cluster"]]).sum()
    variance = sum(len(one) * one.var(ddof=1) for _, one in score.groupby(level=0))
    return share, float(np.sqrt(variance))


def released(table: pa.Table, epsilon: float, seed: int, where: str | None = None) -> discreet.Release[float]:
    """The share of the population, privately."""
    with discreet.open(table, budget=epsilon, ledger=":memory:", unit="person", rng=discreet.Seeded(seed)) as session:
        share: discreet.Release[float] = session.proportion("high_cholesterol", epsilon=epsilon, where=where, **SURVEY)
    return share


def test_the_table_has_8591_people_and_7_columns(table: pa.Table) -> None:
    assert table.num_rows == 8591
    assert tuple(table.column_names) == NHANES_CHOLESTEROL_COLUMNS
    assert len(NHANES_CHOLESTEROL_COLUMNS) == 7


@pytest.mark.parametrize("name", NHANES_CHOLESTEROL_CATEGORIES)
def test_a_categorical_column_is_coded_by_the_public_list(table: pa.Table, name: str) -> None:
    (chunk,) = table[name].chunks
    assert tuple(chunk.dictionary.to_pylist()) == NHANES_CHOLESTEROL_CATEGORIES[name]
    assert set(chunk.to_pylist()) == set(NHANES_CHOLESTEROL_CATEGORIES[name])


def test_the_public_design_is_that_of_the_sample(table: pa.Table) -> None:
    drawn = {(a, b) for a, b in zip(table["stratum"].to_pylist(), table["cluster"].to_pylist(), strict=True)}
    assert drawn == {(stratum, one) for stratum, listed in NHANES_CHOLESTEROL_DESIGN.items() for one in listed}
    assert len(drawn) - len(NHANES_CHOLESTEROL_DESIGN) == DEGREES
    assert 0 < min(table["weight"].to_pylist()) <= max(table["weight"].to_pylist()) <= NHANES_CHOLESTEROL_LARGEST_WEIGHT


def test_without_privacy_the_estimates_are_those_of_others(table: pa.Table) -> None:
    """Those of `svymean` in R's package survey, for all and for adults; and the population of the country."""
    frame = table.to_pandas()
    assert design_based(frame) == pytest.approx((0.11214, 0.0054458), rel=1e-4)
    assert design_based(frame[frame["age_group"] != "6 to 19"]) == pytest.approx((0.13618, 0.0065727), rel=1e-4)
    assert frame["weight"].sum() == pytest.approx(276_536_446)


def test_with_much_epsilon_the_private_interval_is_the_design_based_one(table: pa.Table) -> None:
    share, error = design_based(table.to_pandas())
    private = released(table, 1000.0, 1)
    low, high = private.interval(0.95)
    half = stats.t.ppf(0.975, DEGREES) * error
    assert private.value == pytest.approx(share, abs=0.02 * error)
    assert (low, high) == pytest.approx((share - half, share + half), abs=0.05 * half)


def test_at_epsilon_one_intervals_are_wider_and_hold_the_survey_s_estimate(table: pa.Table) -> None:
    """Wider on the mean of 30 runs, by the noise; 30 intervals of 99.99% miss the centre in fewer than 1 of 10^6 runs
    three times, each alone in 1 of 10^4 at most."""
    share, error = design_based(table.to_pandas())
    runs = [released(table, 1.0, seed) for seed in range(30)]
    halves = [(run.interval(0.95).high - run.interval(0.95).low) / 2 for run in runs]
    plain = stats.t.ppf(0.975, DEGREES) * error
    assert 1.05 * plain < np.mean(halves) < 2.0 * plain
    misses = sum(not run.interval(0.9999).low <= share <= run.interval(0.9999).high for run in runs)
    assert misses < 3


def test_the_first_line_says_that_it_is_about_the_population_and_its_clusters(table: pa.Table) -> None:
    about = released(table, 1.0, 2).interval(0.95).about
    assert about == "the share of the population that the weights stand for, people drawn in these clusters"


def test_people_of_the_file_and_of_the_country_differ(table: pa.Table) -> None:
    frame = table.to_pandas()
    measured = frame["high_cholesterol"].dropna().astype(float)
    assert round(float(measured.mean()), 3) == 0.100
    assert round(design_based(frame)[0], 3) == 0.112


def test_the_docs_describe_every_column(table: pa.Table) -> None:
    lines = FOLDER.joinpath("NHANES_CHOLESTEROL.md").read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| `")]
    assert tuple(name.strip("`") for name, *_ in rows) == NHANES_CHOLESTEROL_COLUMNS
    for name, *_, nulls in rows:
        column = name.strip("`")
        assert nulls == f"{table[column].null_count / table.num_rows:.1%}"


def test_the_file_is_small() -> None:
    assert len(FOLDER.joinpath("nhanes_cholesterol.parquet").read_bytes()) < 100_000


def _r_has_survey() -> bool:
    read = 'quit(status = if (nzchar(system.file(package = "survey"))) 0 else 1)'
    return (
        shutil.which("Rscript") is not None
        and subprocess.run(["Rscript", "-e", read], check=False, capture_output=True).returncode == 0
    )


@pytest.mark.skipif(not _r_has_survey(), reason="needs R and its package survey")
def test_the_script_makes_this_table() -> None:
    run = subprocess.run(
        [sys.executable, SCRIPT, "--check"], capture_output=True, text=True, check=False, env=dict(os.environ)
    )
    assert run.returncode == 0, run.stdout + run.stderr
