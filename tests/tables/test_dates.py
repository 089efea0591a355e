"""Dates and times: read as days, asked about and shown as dates, in every container."""

import datetime
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pcsv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import discreet
from discreet import BadInput, Seeded
from discreet.audit.worlds import HOSTILE
from discreet.cli.app import app
from discreet.tables.dates import day_of, edges_of, shown
from discreet.tables.opening import read
from discreet.tables.wanted import Want
from discreet.tables.where import Where

RNG = np.random.default_rng(0)
FIRST = datetime.date(2020, 1, 1)
DAYS = [
    None if k % 10 == 0 else FIRST + datetime.timedelta(days=int(d)) for k, d in enumerate(RNG.integers(0, 1000, 4000))
]
TABLE = pa.table({"day": pa.array(DAYS, pa.date32()), "sex": ["F", "M"] * 2000})
KNOWN = sorted(day for day in DAYS if day is not None)


def tables(folder: Path) -> dict[str, tuple[Any, dict[str, Any]]]:
    pcsv.write_csv(TABLE, folder / "a.csv")
    pq.write_table(TABLE, folder / "a.parquet")
    told = {"types": {"day": "date"}}
    return {
        "arrow": (TABLE, {}),
        "parquet": (folder / "a.parquet", {}),
        "csv": (folder / "a.csv", told),
        "pandas": (TABLE.to_pandas(), told),
        "polars": (pl.DataFrame(TABLE), told),
        "lists": ({"day": DAYS, "sex": ["F", "M"] * 2000}, told),
        "instants": ({"day": pd.to_datetime(pd.Series(DAYS)), "sex": ["F", "M"] * 2000}, told),
    }


def answers(source: Any, relation: str, how: dict[str, Any]) -> list[Any]:
    options: dict[str, Any] = {"budget": 1000.0, "ledger": ":memory:", "neighbours": relation, "rng": Seeded(1)}
    with discreet.open(source, **options, **how) as session:
        return [
            session.median("day", epsilon=5.0, where="sex == 'F'"),
            session.quantile("day", 0.9, epsilon=5.0, bounds=("2019-01-01", datetime.date(2024, 1, 1))),
            session.mean("day", epsilon=5.0),
            session.histogram("day", epsilon=5.0, edges="2020-01-01 to 2023-01-01 by month"),
            session.count(epsilon=5.0, where="day >= '2021-06-01' and day < '2022-01-01 12:00'"),
            session.mean("day", epsilon=10.0, groupby="sex", keys=["F", "M"])["F"],
        ]


@pytest.mark.claim("dates.1")
@pytest.mark.parametrize("relation", ["add_or_remove", "replace"])
def test_dates_are_asked_about_and_shown_in_every_container(tmp_path: Path, relation: str) -> None:
    wanted = None
    for source, how in tables(tmp_path).values():
        found = answers(source, relation, how)
        told = [
            (release.answer if isinstance(release.answer, str) else str(release.value), str(release))
            for release in found
        ]
        assert wanted is None or [one for one, _ in told] == [one for one, _ in wanted]
        wanted = told
        late, mean, months, count = found[1], found[2], found[3], found[4]
        for release, truth in ((late, KNOWN[int(0.9 * len(KNOWN))]), (mean, FIRST + datetime.timedelta(days=500))):
            low, high = (datetime.date.fromisoformat(end[:10]) for end in release.interval(0.95))
            assert low <= truth <= high
            assert f"[{release.interval().low}, {release.interval().high}]" in str(release)
        assert months.value.bins[0] == "2020-01-01 to 2020-01-31"
        assert len(months.value) == 36
        june = sum(day.isoformat()[:7] == "2021-06" for day in KNOWN)
        assert abs(months.value["2021-06-01 to 2021-06-30"] - june) < 20
        true = sum(datetime.date(2021, 6, 1) <= day <= datetime.date(2022, 1, 1) for day in KNOWN)
        assert abs(count.value - true) < 20


def test_a_release_of_a_date_is_stored_and_recalled() -> None:
    with discreet.open(TABLE, budget=9.0, ledger=":memory:", rng=Seeded(1)) as session:
        first = session.median("day", epsilon=1.0, request="one")
        again = session.median("day", epsilon=1.0, request="one")
        binned = session.histogram("day", epsilon=1.0, edges=KNOWN[:1] + KNOWN[-1:], request="two")
        assert session.histogram("day", epsilon=1.0, edges=KNOWN[:1] + KNOWN[-1:], request="two").value == binned.value
    assert (again.value, tuple(again.interval())) == (first.value, tuple(first.interval()))


PLAN = """
title = "Dates"
data = {source = "a.csv", types = {day = "date"}}
population = {name = "people", ledger = "budget", epsilon = 50}
spend = {epsilon = 20}
[[release]]
id = "late"
statistic = "quantile"
columns = "day"
where = "day >= '2020-06-01'"
share = 1
options = {q = 0.9, bounds = [2019-01-01, 2024-01-01]}
[[release]]
id = "quartiles"
statistic = "quantile"
columns = "day"
share = 1
options = {q = [0.25, 0.75]}
[[release]]
id = "years"
statistic = "histogram"
columns = "day"
share = 1
options = {edges = [2020-01-01, 2021-01-01, 2022-01-01]}
[[release]]
id = "women"
statistic = "proportion"
columns = "sex"
share = 1
options = {equals = "F"}
"""


def test_a_plan_and_its_report_speak_of_dates(tmp_path: Path) -> None:
    tables(tmp_path)
    (tmp_path / "plan.toml").write_text(PLAN)
    done = CliRunner().invoke(app, ["release", str(tmp_path / "plan.toml"), "--yes"], env={"COLUMNS": "400"})
    assert done.exit_code == 0, done.output
    said = " ".join(done.output.split())
    assert re.search(r"lies between 2022-\d\d-\d\d and 2022-\d\d-\d\d", said)
    assert "2020-01-01 to 2020-12-31" in said
    assert "The proportion of sex == 'F' is" in said
    (csv,) = tmp_path.glob("**/results.csv")
    assert re.search(r"late,.*,2022-\d\d-\d\d,2022-\d\d-\d\d,2022-\d\d-\d\d,0.95,confidence", csv.read_text())


def test_a_public_date_stands_in_for_missing_ones() -> None:
    with discreet.open(TABLE, budget=90.0, ledger=":memory:", rng=Seeded(1)) as session:
        counts = session.histogram(
            "day", epsilon=5.0, edges="1999-01-01 to 2001-01-01 by year", missing={"day": "2000-01-01"}
        )
        assert abs(counts.value["2000-01-01 to 2000-12-31"] - 400) < 20
        with pytest.raises(BadInput, match="missing has 'soon'"):
            session.median("day", epsilon=5.0, missing="soon")


def test_a_date_is_tabled_with_its_interval() -> None:
    release = discreet.median(TABLE["day"], epsilon=5.0, rng=Seeded(2))
    (row,) = release.to_frame().to_dict("records")
    assert (row["value"], row["low"], row["high"]) == (release.value, *release.interval())


@pytest.mark.parametrize("relation", ["add_or_remove", "replace"])
def test_functions_take_dates_where_the_type_or_public_options_say_so(relation: str) -> None:
    how: dict[str, Any] = {"epsilon": 5.0, "neighbours": relation}
    for days in (DAYS, np.array(DAYS, dtype="datetime64[D]"), pd.Series(DAYS), pl.Series(DAYS), TABLE["day"]):
        months = discreet.histogram(days, edges="2020-01-01 to 2023-01-01 by year", rng=Seeded(1), **how)
        assert list(months.value.bins) == [f"{year}-01-01 to {year}-12-31" for year in (2020, 2021, 2022)]
        middle = discreet.median(days, bounds=("2019-01-01", "2024-01-01"), rng=Seeded(2), **how)
        assert middle.interval().low <= KNOWN[len(KNOWN) // 2].isoformat() <= middle.interval().high
    assert discreet.median(TABLE["day"], rng=Seeded(2), **how).value.startswith("2021-")


@pytest.mark.claim("dates.1")
def test_no_cell_raises_and_each_is_read_alone() -> None:
    cells = [
        *HOSTILE,
        "2020-02-30",
        "99999-01-01",
        datetime.date.min,
        np.datetime64(2**62, "us"),
        np.datetime64("NaT", "s"),
        "2020-02-03",
    ]
    found = [day_of(cell) for cell in cells]
    assert found[-1] == 18295
    listed = read({"a": cells}, types={"a": "date"}).columns([Want("a", "date")])["a"]
    np.testing.assert_array_equal(np.asarray(listed), found)
    zone = datetime.timezone(datetime.timedelta(hours=2))
    assert day_of(datetime.datetime(2020, 2, 3, 1, tzinfo=zone)) == 18294 + 23 / 24


@pytest.mark.claim("dates.1")
@given(st.floats(-1e9, 1e9) | st.sampled_from([math.inf, -math.inf, 1e308]), st.booleans())
@settings(max_examples=200)
def test_ends_are_rounded_outwards(day: float, fine: bool) -> None:
    low, high = shown(day, fine, up=False), shown(day, fine, up=True)
    assert low <= shown(day, fine) <= high
    if -719162 <= day <= 2932896:
        assert day_of(low) <= day + 1e-9
        assert day_of(high) >= day - 1e-9


def test_edges_by_the_calendar() -> None:
    assert [shown(edge, False, up=True) for edge in edges_of("2019-12-01 to 2020-04-01 by month")] == [
        "2019-12-01",
        "2020-01-01",
        "2020-02-01",
        "2020-03-01",
        "2020-04-01",
    ]
    assert len(edges_of("2020-01-06 to 2020-02-03 by week")) == 5
    assert len(edges_of("2020-01-01 to 2024-01-01 by day")) == 1462
    for wrong in (
        "2020-01-01",
        "2020-01-01 to 2020-02-15 by month",
        "2021-01-01 to 2020-01-01 by day",
        "a to b by day",
    ):
        with pytest.raises(BadInput):
            edges_of(wrong)
    with pytest.raises(BadInput, match="begin on the first"):
        edges_of("2020-01-31 to 2020-05-31 by month")


@pytest.mark.parametrize("confidence", [0.95, None])
def test_several_quantiles_of_dates_are_dates(confidence: float | None) -> None:
    rows = [datetime.date(2020, 1, 1) + datetime.timedelta(days=day % 1000) for day in range(3000)]
    table = pa.table({"day": pa.array(rows)})
    with discreet.open(table, budget=discreet.Budget(9.0), ledger=":memory:") as session:
        asked: dict[str, Any] = {"epsilon": 3.0, "confidence": confidence, "request": "one"}
        found = session.quantile("day", (0.1, 0.9), **asked)
        assert session.balance.spent.cost == 3
        assert str(session.quantile("day", (0.1, 0.9), **asked)) == str(found)
    assert list(found) == ["10%", "90%"]
    assert "2020-02-01" < found["10%"].value < "2020-07-01"
    assert "2022-04-01" < found["90%"].value < "2022-09-01"
    if confidence is not None:
        ends = found["10%"].interval()
        assert ends.low < found["10%"].value < ends.high
        assert ends.about == "the population's 10% quantile"
    alone = discreet.quantile(table["day"], (0.25, 0.75), epsilon=3.0, rng=Seeded(1))
    assert alone["25%"].value < alone["75%"].value  # type: ignore[index]


@pytest.mark.claim("session.1")
@pytest.mark.parametrize(
    ("verb", "columns", "options"),
    [
        ("quantile", ("day", (0.1, 0.9)), {"groupby": "sex", "keys": ["F", "M"]}),
        ("mean", ("day",), {"bounds": (0, 100)}),
        ("histogram", ("day",), {"edges": [1, 2, 3]}),
        ("variance", ("day",), {}),
        ("mean", (["day", "day"],), {"delta": 1e-6}),
        ("count", (), {"where": "sex >= '2020-01-01'"}),
        ("count", (), {"where": "day >= 'soon'"}),
        ("count", (), {"where": "day >= 3"}),
        ("mean", ("day",), {"groupby": "day", "keys": [3]}),
    ],
)
def test_what_does_not_fit_dates_costs_nothing(verb: str, columns: Any, options: dict[str, Any]) -> None:
    with discreet.open(TABLE, budget=discreet.Budget(9.0, 1e-3), ledger=":memory:") as session:
        with pytest.raises(BadInput):
            session.ask(verb, *columns, epsilon=1.0, **options)
        assert session.balance.spent.cost == 0


def test_conditions_on_dates_leave_out_what_is_no_date() -> None:
    held = read({"day": ["2020-01-01", "soon", None, 3, "2021-01-01T10:00:00"], "n": range(5)})
    for text, kept in {
        "day > '2020-01-01'": [4],
        "day <= '2020-01-01'": [0],
        "not day > '2020-01-01'": [0, 1, 2, 3],
    }.items():
        assert list(held.columns([Want("n", "number")], where=Where.parse(text))["n"]) == kept
    assert math.isnan(day_of("soon"))
