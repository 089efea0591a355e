"""Rows of the synthetic tables of a report."""

import csv
import io
from typing import Any

import numpy as np
import pytest

from discreet.errors import BadInput
from discreet.privacy.value_synthetic import SyntheticTable
from discreet.report import synthetic_rows
from discreet.report.synthetic_rows import rows_csv, rows_file, the_table

CELLS = np.array([8.0, 3, 5, 0, 4, 4, 0, 3, 0, 0, 1, 4, 0, 0, 0, 0])


def model(levels: Any = (("F", "M"), ("no", "yes"))) -> SyntheticTable:
    return SyntheticTable(("sex", "smokes"), levels, ((0, 1),), CELLS)


def test_rows_are_those_of_the_frame() -> None:
    table = model()
    found = list(csv.reader(io.StringIO(rows_csv(table, 40, seed=3))))
    assert found == [["sex", "smokes"], *table.to_frame(40, seed=3).to_numpy().tolist()]
    assert rows_csv(table, 40, seed=3) == rows_csv(table, 40, seed=3) != rows_csv(table, 40, seed=4)
    assert len(list(csv.reader(io.StringIO(rows_csv(table))))) == 9  # as many as the model counts


@pytest.mark.claim("errors.1")
def test_a_category_is_no_formula() -> None:
    assert "'=1+1" in rows_csv(model((("=1+1", "M"), ("no", "yes"))))


def test_a_file_is_in_its_folder() -> None:
    assert rows_file("../../etc/x") == "-etc-x-rows.csv"


def test_the_table_that_is_meant(monkeypatch: pytest.MonkeyPatch) -> None:
    def there(*names: str) -> None:
        monkeypatch.setattr(synthetic_rows, "synthetic_tables", lambda _: {name: model() for name in names})

    there()
    with pytest.raises(BadInput, match="the report has no synthetic table; ask for one in a plan"):
        the_table({})
    there("a", "b")
    with pytest.raises(BadInput, match="the report has 2 synthetic tables; choose one with --id: a, b"):
        the_table({})
    assert isinstance(the_table({}, "b"), SyntheticTable)
    with pytest.raises(BadInput, match="--id is 'c'"):
        the_table({}, "c")
