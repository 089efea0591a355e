import csv
import io
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.report.made import dossier, entry, grouped, records

from discreet.errors import FORMULA
from discreet.report import to_csv
from discreet.report.record import COLUMNS


def rows(*entries: dict[str, Any]) -> list[dict[str, str]]:
    text = to_csv(dossier(*entries))
    assert text.endswith("\r\n")
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_one_row_for_each_number() -> None:
    (row,) = rows(entry(records()["mean"]))
    assert tuple(row) == COLUMNS
    record = records()["mean"]
    assert float(row["value"]) == record["value"]
    assert (float(row["low"]), float(row["high"])) == (record["interval"]["low"], record["interval"]["high"])
    assert (row["interval"], row["confidence"], row["publishable"], row["refusal"]) == ("confidence", "0.95", "no", "")
    assert (row["epsilon"], row["delta"], row["group"]) == ("1.0", "0.0", "")
    assert rows(entry(records()["count"]))[0]["interval"] == "noise"
    assert rows(entry(records()["publishable"]))[0]["publishable"] == "yes"


@pytest.mark.parametrize("name", sorted(records()))
def test_every_verb_is_in_the_table(name: str) -> None:
    found = rows(entry(records()[name]))
    assert found
    assert len({row["component"] for row in found}) == len(found) or name == "density"
    if name not in {"refused", "vote"}:
        assert all(math.isfinite(float(row["value"])) for row in found)


def test_refusals_texts_and_groups_have_rows() -> None:
    groups = [{"key": key, "release": records()[name]} for key, name in (("a", "mean"), (None, "refused"))]
    found = rows(grouped(groups), entry(records()["vote"]))
    assert [row["group"] for row in found] == ["a", "missing", ""]
    assert (found[1]["value"], found[1]["refusal"][:11]) == ("", "n * epsilon")
    assert found[2]["value"] == "yes"


@given(st.text(st.characters(exclude_categories=())) | st.sampled_from([f"{mark}1+1" for mark in FORMULA]))
def test_no_spreadsheet_executes_it(text: str) -> None:
    refused = {**records()["refused"], "refusal": text}
    tally = {**records()["histogram of categories"], "interval": None, "spread": None}
    tally["value"] = {"kind": "counts", "keys": [text], "counts": [-3], "other": None, "threshold": None}
    found = rows(
        entry(refused, text, id=text, statistic=text),
        grouped([{"key": text, "release": records()["count"]}]),
        entry(tally),
    )
    for row in found:
        for name, cell in row.items():
            if name not in {"value", "low", "high"}:
                assert not cell.startswith((*FORMULA, "\t", "\r"))
    assert found[-1]["value"] == "-3"
