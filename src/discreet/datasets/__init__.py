"""Real data about people that ships with the package, and its public schema.

`load_nhanes()` gives the NHANES 2017-18 extract: 8,366 people, one row each, 12 columns, no survey weights.
`load_nhanes_cholesterol()` gives 8,591 people of NHANES 2009-10, one row each, 7 columns, with the survey's weights,
clusters and strata: with them numbers are about the population of the United States. Their columns, their sources and
the conditions of their use are described in `NHANES.md` and `NHANES_CHOLESTEROL.md` beside this file.

The constants below are the *public* side of the tables: what anybody may know before the first row is read.
They were written from the survey's codebooks and from physiology. None of them depends on what was asked of or
measured on a person, so they may be given to a mechanism as its `categories=`, `bounds=`, `design=` or
`largest_weight=` without spending any privacy budget.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "NHANES_BOUNDS",
    "NHANES_CATEGORIES",
    "NHANES_CHOLESTEROL_CATEGORIES",
    "NHANES_CHOLESTEROL_COLUMNS",
    "NHANES_CHOLESTEROL_DESIGN",
    "NHANES_CHOLESTEROL_LARGEST_WEIGHT",
    "NHANES_COLUMNS",
    "NHANES_UNITS",
    "load_nhanes",
    "load_nhanes_cholesterol",
]

NHANES_COLUMNS: Final[tuple[str, ...]] = (
    "age",
    "sex",
    "race_ethnicity",
    "education",
    "poverty_ratio",
    "general_health",
    "diabetes",
    "smoked_100_cigarettes",
    "bmi",
    "systolic_bp",
    "diastolic_bp",
    "total_cholesterol",
)
"""The columns of the table, in order."""

NHANES_CATEGORIES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "sex": ("Male", "Female"),
        "race_ethnicity": (
            "Mexican American",
            "Other Hispanic",
            "Non-Hispanic White",
            "Non-Hispanic Black",
            "Non-Hispanic Asian",
            "Other or multiracial",
        ),
        "education": (
            "Less than 9th grade",
            "9th to 11th grade",
            "High school graduate",
            "Some college",
            "College graduate",
        ),
        "general_health": ("Excellent", "Very good", "Good", "Fair", "Poor"),
        "diabetes": ("Yes", "No", "Borderline"),
        "smoked_100_cigarettes": ("Yes", "No"),
    }
)
"""For each categorical column every answer the codebook allows, in the codebook's order.

"Refused" and "Don't know" are not among them: they are null in the table, as are people who were not asked.
"""

NHANES_BOUNDS: Final[Mapping[str, tuple[float, float]]] = MappingProxyType(
    {
        "age": (0.0, 80.0),
        "poverty_ratio": (0.0, 5.0),
        "bmi": (10.0, 100.0),
        "systolic_bp": (50.0, 250.0),
        "diastolic_bp": (20.0, 150.0),
        "total_cholesterol": (50.0, 500.0),
    }
)
"""For each numeric column a plausible range, in the units of `NHANES_UNITS`.

Age and poverty ratio are top-coded by the survey, so their ranges are exact. The others are wide
physiological limits: a value may lie outside, and a mechanism that is given these bounds clamps it.
"""

NHANES_UNITS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "age": "years",
        "poverty_ratio": "family income / poverty guideline",
        "bmi": "kg/m2",
        "systolic_bp": "mmHg",
        "diastolic_bp": "mmHg",
        "total_cholesterol": "mg/dL",
    }
)
"""For each numeric column its unit."""

NHANES_CHOLESTEROL_COLUMNS: Final[tuple[str, ...]] = (
    "stratum",
    "cluster",
    "weight",
    "sex",
    "age_group",
    "race_ethnicity",
    "high_cholesterol",
)
"""The columns of the table of 2009-10, in order."""

NHANES_CHOLESTEROL_CATEGORIES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "sex": ("Male", "Female"),
        "age_group": ("6 to 19", "20 to 39", "40 to 59", "60 and over"),
        "race_ethnicity": ("Hispanic", "Non-Hispanic White", "Non-Hispanic Black", "Other or multiracial"),
    }
)
"""For each categorical column of the table of 2009-10 every answer."""

NHANES_CHOLESTEROL_DESIGN: Final[Mapping[int, tuple[int, ...]]] = MappingProxyType(
    {stratum: (1, 2, 3) if stratum == 86 else (1, 2) for stratum in range(75, 90)}
)
"""The design of the sample of 2009-10, for `design=`: the clusters of each stratum, as the survey publishes them."""

NHANES_CHOLESTEROL_LARGEST_WEIGHT: Final = 160_000.0
"""A round number that no weight of that sample exceeds, for `largest_weight=`; weights are set by the survey."""


def load_nhanes() -> "pa.Table":
    """The NHANES 2017-18 extract: 8,366 people, one row each, 12 columns.

    Categorical columns are dictionary-encoded strings whose dictionary is the public list in
    `NHANES_CATEGORIES`, in that order. Numeric columns are float64. A null means not asked, not measured,
    refused or not known.

    The people were sampled with unequal probabilities and the table carries no survey weights: numbers
    computed from it describe these people, not the population of the United States; those of
    `load_nhanes_cholesterol()` do. Use it for statistics only, and make no attempt to identify anybody;
    `NHANES.md` gives the conditions and the citation.

    >>> table = load_nhanes()
    >>> table.num_rows, table.num_columns
    (8366, 12)
    >>> table.column_names == list(NHANES_COLUMNS)
    True
    """
    return _read("nhanes.parquet")


def load_nhanes_cholesterol() -> "pa.Table":
    """High cholesterol in NHANES 2009-10, with the survey's weights: 8,591 people, one row each, 7 columns.

    These are people of 6 and over. `weight` is how many people of the United States each one stands for; `stratum`
    and `cluster` say how they were drawn. Given as `weights=`, `strata=` and `clusters=`, with the public
    `NHANES_CHOLESTEROL_DESIGN`, they make an interval about the civilian population of the United States that does
    not live in institutions. `high_cholesterol` is true for a total cholesterol over 240 mg/dL; a null means not
    measured. Use it for statistics only, and make no attempt to identify anybody; `NHANES_CHOLESTEROL.md` gives
    the conditions and the citation.

    >>> table = load_nhanes_cholesterol()
    >>> table.num_rows, table.num_columns
    (8591, 7)
    >>> round(sum(table["weight"].to_pylist()) / 1e6)               # million people
    277
    """
    return _read("nhanes_cholesterol.parquet")


def _read(name: str) -> "pa.Table":
    """A table beside this file."""
    from importlib.resources import files

    import pyarrow as pa
    import pyarrow.parquet as pq

    content = files(__name__).joinpath(name).read_bytes()
    return pq.ParquetFile(pa.BufferReader(content)).read()
