"""The public surface, and what importing it costs."""

import subprocess
import sys
from pathlib import Path

import pytest

import discreet

HEAVY = (
    "numpy",
    "scipy",
    "opendp",
    "dp_accounting",
    "pyarrow",
    "pandas",
    "polars",
    "numba",
    "matplotlib",
    "typer",
    "rich",
    "sqlalchemy",
)


def test_names_are_there_and_listed() -> None:
    names = dir(discreet)
    assert {"mean", "fit", "open", "Budget", "sklearn"} <= set(names)
    for name in names:
        assert getattr(discreet, name) is not None
    assert names == sorted(names)


def test_unknown_names_raise_as_usual() -> None:
    with pytest.raises(AttributeError, match="nothing"):
        getattr(discreet, "not" + "hing")


def test_import_is_light() -> None:
    """`import discreet` loads none of the heavy packages: they come with the first use."""
    code = f"import discreet, sys; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_first_answer_leaves_the_slow_packages_alone() -> None:
    """A count needs neither the accountant nor scipy."""
    code = (
        "import discreet, sys; discreet.count([1], epsilon=1.0); "
        "slow = ('scipy.stats', 'dp_accounting', 'pandas', 'numba', 'pyarrow', 'opendp.prelude'); "
        "print([m for m in slow if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_opening_a_parquet_file_leaves_pandas_alone() -> None:
    """A plan is priced without rows, and pandas takes longer to load than that."""
    code = (
        "import sys; from importlib.resources import files; from discreet.tables.opening import read; "
        "read(str(files('discreet.datasets') / 'nhanes.parquet')); print('pandas' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_no_hosts_and_no_paths_in_the_constraints() -> None:
    text = (Path(__file__).parent.parent / "constraints.txt").read_text()
    assert "://" not in text
    assert "--" not in text
    assert all("==" in line for line in text.split("\n") if line.strip())
