"""Tables that share people become one row a person, each a function of that person's rows alone."""

import datetime
import math
import sqlite3
import warnings
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet.privacy.guarantee import Neighbours
from discreet.tables.table import Table

FEATURES = {
    "visits": "count",
    "high": "count(x > 1)",
    "ever": "any(x > 1)",
    "always": "all(x > 1)",
    "total": "sum(x)",
    "average": "mean(x)",
    "least": "min(x)",
    "most": "max(x, where=x < 2)",
    "early": "first(x, by=day)",
    "late": "last(x, by=day)",
    "drugs": "count",
    "kinds": "distinct(drug)",
    "begun": "first(drug)",
    "insulin": "any(drug == 'insulin')",
}
HOSTILE = [0.0, -0.0, 1.0, 2.0, 0.1, 1e300, -1e300, 5e-324, math.inf, -math.inf, math.nan, None, "x"]
Rows = list[tuple[Any, ...]]  # (person, x, day) of visits, and (person, drug)


def joined(visits: Rows, drugs: Rows, features: Mapping[str, str] = FEATURES) -> Table:
    one = {name: [row[at] for row in visits] for at, name in enumerate(("id", "x", "day"))}
    other = {name: [row[at] for row in drugs] for at, name in enumerate(("id", "drug"))}
    return discreet.people({"visits": one, "drugs": other}, "id", features, types={"visits": {"x": "number"}})


def made_of(table: Table) -> Mapping[str, Any]:
    """The features as they are made."""
    source: Any = table._source
    found: Mapping[str, Any] = source.made
    return found


def rows_of(table: Table) -> Counter[Any]:
    """The rows, in no order, bit for bit."""
    held = [np.asarray(column).tolist() for column in made_of(table).values()]
    texts = [[entry.hex() if isinstance(entry, float) else repr(entry) for entry in column] for column in held]
    return Counter(zip(*texts, strict=True))


def expected(visits: Rows, drugs: Rows) -> Counter[Any]:
    """The same by hand, person by person."""
    found: Counter[Any] = Counter()
    for person in {row[0] for row in visits + drugs if row[0] is not None}:
        mine = [(row[1], row[2]) for row in visits if row[0] == person]
        numbers = sorted(float(x) for x, _ in mine if isinstance(x, float) and not math.isnan(x))
        dated = sorted(
            (
                (day, at)
                for at, (x, day) in enumerate(mine)
                if isinstance(x, float) and not math.isnan(x) and day is not None
            ),
        )
        last = max(dated, key=lambda pair: (pair[0], pair[1]), default=None)
        first = min(dated, key=lambda pair: (pair[0], pair[1]), default=None)
        total = 0.0
        for number in numbers:
            total += number
        names = [row[1] for row in drugs if row[0] == person]
        small = [number for number in numbers if number < 2]
        true = sum(number > 1 for number in numbers)
        row = (
            len(mine),
            true,
            float(true > 0),
            float(true == len(mine)) if mine else math.nan,
            total if numbers or not mine else math.nan,
            total / len(numbers) if numbers else math.nan,
            numbers[0] + 0.0 if numbers else math.nan,
            small[-1] + 0.0 if small else math.nan,
            mine[first[1]][0] if first else math.nan,
            mine[last[1]][0] if last else math.nan,
            len(names),
            len(set(names)),
            names[0] if names else None,
            float("insulin" in names),
        )
        found[tuple(entry.hex() if isinstance(entry, float) else repr(entry) for entry in row)] += 1
    return found


person = st.sampled_from([1, 2, 3, 4, None])
visit = st.tuples(person, st.sampled_from(HOSTILE), st.sampled_from([1, 2, 3, None]))
drug = st.tuples(person, st.sampled_from(["insulin", "metformin", "aspirin"]))


@pytest.mark.claim("joined_people.1")
@given(st.lists(visit, max_size=12), st.lists(drug, max_size=8))
def test_each_feature_is_what_it_says_for_every_person(visits: Rows, drugs: Rows) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert rows_of(joined(visits, drugs)) == expected(visits, drugs)


@pytest.mark.claim("joined_people.1")
@given(
    st.lists(visit, max_size=12), st.lists(drug, max_size=8), st.lists(visit, max_size=3), st.lists(drug, max_size=3)
)
def test_one_person_is_one_row_in_all_tables_at_once(visits: Rows, drugs: Rows, more: Rows, other: Rows) -> None:
    """Whoever is added, removed or replaced, with rows in both tables, moves one row; nobody else's changes."""
    before = rows_of(joined(visits, drugs))
    for gone in (1, 2, 3, 4):
        left = [row for row in visits if row[0] != gone], [row for row in drugs if row[0] != gone]
        there = any(row[0] == gone for row in visits + drugs)
        after = rows_of(joined(*left))
        assert (before - after).total() == int(there)
        assert not after - before
        newer = [(9, *row[1:]) for row in more], [(9, *row[1:]) for row in other]
        mixed = (*left[0][:2], *newer[0], *left[0][2:]), (*left[1][:1], *newer[1], *left[1][1:])
        replaced = rows_of(joined(list(mixed[0]), list(mixed[1])))
        assert (replaced - after).total() == int(bool(more or other))
        assert not after - replaced


@pytest.mark.claim("joined_people.1")
def test_every_small_pair_of_neighbours_differs_in_one_row() -> None:
    """All rows of one person, exhaustively, beside another's two rows."""
    others = [(1, 1.0, 2), (1, math.inf, 1)], [(1, "insulin")]
    without = rows_of(joined(*others))
    for values in product([0.0, 1.0, 2.0, 1e300, math.inf, -math.inf, math.nan], repeat=2):
        mine = [(2, value, at) for at, value in enumerate(values)]
        found = rows_of(joined([mine[0], *others[0], mine[1]], others[1]))
        assert (found - without).total() == 1
        assert not without - found


@pytest.mark.claim("joined_people.2")
@given(st.lists(visit, max_size=10), st.randoms())
def test_sums_means_and_extremes_do_not_depend_on_the_order_of_rows(visits: Rows, random: Any) -> None:
    asked = {name: FEATURES[name] for name in ("visits", "high", "always", "total", "average", "least", "most")}
    shuffled = random.sample(visits, len(visits))
    assert rows_of(joined(visits, [], asked)) == rows_of(joined(shuffled, [], asked))
    assert not joined(visits, [], asked).ordered


def test_ids_are_compared_as_they_are_written() -> None:
    table = joined([(5, 1.0, 1), ("05", 1.0, 1)], [("5", "aspirin"), (5.0, "insulin")])
    assert sorted(np.asarray(table["drugs"]).tolist()) == [0, 2]


@pytest.mark.claim("person_features.1")
def test_kinds_follow_from_the_features_and_not_from_values() -> None:
    schema = {"id": pa.int64(), "age": pa.float64(), "sex": pa.string(), "day": pa.date32(), "well": pa.bool_()}
    table = pa.table({name: pa.array([], kind) for name, kind in schema.items()})
    features = {
        "n": "count",
        "age": "mean(age)",
        "sex": "first(sex)",
        "day": "max(day)",
        "well": "last(well, by=day)",
        "ever": "any(well)",
        "days": "distinct(day)",
    }
    found = discreet.people({"t": table}, "id", features)
    kinds = ["integer", "number", "text", "date", "boolean", "boolean", "integer"]
    assert dict(found.kinds) == dict(zip(features, kinds, strict=True))
    assert found.unit == "person"
    assert found.size() == 0


@pytest.mark.claim("person_features.1")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("coun", "did you mean count"),
        ("count", "say which, as in 'visits: ...'"),
        ("vists: count", "did you mean 'visits'"),
        ("any(drgu == 'x')", "did you mean 'drug'"),
        ("x", "say what is made of them"),
        ("mean(x, by=day)", "takes no by="),
        ("mean(x, on=day)", "it takes where="),
        ("mean(x, y)", "give a column"),
        ("last(x, by=drug)", "a feature reads one table"),
        ("sum(sex)", "declared as text"),
        ("first(x, by=sex)", "an order needs dates or numbers"),
        ("visits: first(id)", "is no feature"),
        ("any(x > 'a')", "where cannot be understood"),
        ("mean(__import__('os'))", "give the name of a column"),
        ("any(x.y == 1)", "where cannot be understood"),
        (3, "give a text"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_is_read(text: Any, said: str) -> None:
    visits = pa.table({"id": [1], "x": [1.0], "day": [1], "sex": ["f"]})
    with pytest.raises(discreet.BadInput, match="feature 'f'") as error:
        discreet.people({"visits": visits, "drugs": {"id": [1], "drug": ["a"]}}, "id", {"f": text})
    assert said in str(error.value)


def test_tables_and_people_that_do_not_fit_are_refused() -> None:
    tables = {"visits": {"id": [1], "x": [2.0]}, "drugs": {"patient": [1]}}
    with pytest.raises(discreet.BadInput, match="in the table 'drugs': there is no column 'id'"):
        discreet.people(tables, "id", {"n": "visits: count"})
    with pytest.raises(discreet.BadInput, match="person names no column of the table 'drugs'"):
        discreet.people(tables, {"visits": "id"}, {"n": "visits: count"})
    both = {"visits": "id", "drugs": "patient"}
    with pytest.raises(discreet.BadInput, match="give 1 to 1000 by name"):
        discreet.people(tables, both, {})
    with pytest.raises(discreet.BadInput, match="by the names of tables"):
        discreet.people(tables, both, {"n": "visits: count"}, types={"vists": {}})
    with pytest.raises(discreet.BadInput, match="table 'visits': there is no file"):
        discreet.people({"visits": "nowhere.csv"}, "id", {"n": "count"})
    made = discreet.people(tables, both, {"n": "visits: count"})
    with pytest.raises(discreet.BadInput, match="each row of this table is a person already"):
        discreet.open(made, person="id", budget=1.0, ledger=":memory:")
    with pytest.raises(discreet.BadInput, match="give table= and types= there"):
        discreet.open(made, types={"n": "text"}, budget=1.0, ledger=":memory:")


def test_files_frames_and_databases_join(tmp_path: Path) -> None:
    (tmp_path / "visits.csv").write_text("id,x,day\n1,5,2024-01-02\n1,7,2024-03-01\n2,,2024-01-01\n")
    pq.write_table(pa.table({"id": pa.array([1, 3], pa.int64()), "sex": ["f", "m"]}), tmp_path / "people.parquet")
    with closing(sqlite3.connect(tmp_path / "clinic.db")) as base, base:
        base.execute("create table prescriptions (patient integer, drug text)")
        base.executemany("insert into prescriptions values (?, ?)", [(1, "insulin"), (2, "aspirin"), (2, "insulin")])
    made = discreet.people(
        {
            "visits": tmp_path / "visits.csv",
            "people": tmp_path / "people.parquet",
            "drugs": f"sqlite:///{tmp_path / 'clinic.db'}",
            "frame": pd.DataFrame({"id": [2.0, 3.0, math.nan], "smoker": [True, False, True]}),
        },
        {"visits": "id", "people": "id", "drugs": "patient", "frame": "id"},
        {"x": "last(x, by=day)", "sex": "first(sex)", "drugs": "count", "smoker": "any(smoker)", "day": "min(day)"},
        table={"drugs": "prescriptions"},
        types={"visits": {"x": "number", "day": "date"}},
    )
    day = datetime.date
    got = zip(*(np.asarray(column).tolist() for column in made_of(made).values()), strict=True)
    assert sorted([tuple(None if pd.isna(one) else one for one in row) for row in got], key=repr) == sorted(
        [
            (7.0, "f", 1, 0.0, day(2024, 1, 2)),
            (None, None, 2, 1.0, day(2024, 1, 1)),
            (None, "m", 0, 0.0, None),
        ],
        key=repr,
    )
    again = discreet.people({"visits": tmp_path / "visits.csv"}, "id", {"n": "count"})
    assert again.identity == discreet.people({"visits": tmp_path / "visits.csv"}, "id", {"n": "count"}).identity
    assert again.identity != discreet.people({"visits": tmp_path / "visits.csv"}, "id", {"m": "count"}).identity


@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_a_session_answers_about_people(neighbours: Neighbours) -> None:
    many = 4000
    visits = {"id": np.arange(3 * many) % many, "x": np.arange(3.0 * many) % 7}
    drugs = {"id": np.arange(0, many, 4), "drug": ["insulin"] * (many // 4)}
    made = discreet.people(
        {"visits": visits, "drugs": drugs},
        "id",
        {"visits": "count", "x": "mean(x)", "insulin": "any(drug == 'insulin')"},
        types={"visits": {"x": "number"}},
    )
    with discreet.open(made, budget=10.0, ledger=":memory:", neighbours=neighbours, rng=discreet.Seeded(1)) as session:
        share = session.proportion("insulin", epsilon=2.0)
        assert float(share) == pytest.approx(0.25, abs=0.03)
        assert share.guarantee.unit == "person"
        assert float(share.guarantee.epsilon) == 2.0
        assert not any("left out" in note or "half" in note for note in share.provenance.notes)
        assert float(session.mean("x", epsilon=2.0, where="insulin")) == pytest.approx(3.0, abs=0.3)
        assert session.population == "people"


def test_functions_take_the_columns_and_the_table() -> None:
    many = 3000
    rng = np.random.default_rng(0)
    age = rng.uniform(20, 80, many)
    visits = {"id": np.repeat(np.arange(many), 2), "bmi": np.repeat(20 + age / 10, 2) + rng.normal(0, 1, 2 * many)}
    made = discreet.people(
        {"visits": visits, "people": {"id": np.arange(many), "age": age, "born": ["2000-01-01"] * many}},
        "id",
        {"bmi": "mean(bmi)", "age": "first(age)", "born": "first(born)", "n": "visits: count"},
        types={"visits": {"bmi": "number"}, "people": {"age": "number", "born": "date"}},
    )
    seeded: dict[str, Any] = {"rng": discreet.Seeded(2), "unit": "person"}
    assert float(discreet.mean(made["bmi"], epsilon=2.0, **seeded)) == pytest.approx(25, abs=0.5)
    fit = discreet.linear_regression("bmi ~ age", made, epsilon=5.0, delta=1e-6, **seeded)
    assert fit.value.coef[0] == pytest.approx(0.1, abs=0.05)
    assert str(made["born"].type) == "timestamp[us]"
    with pytest.raises(discreet.BadInput, match="did you mean 'bmi'"):
        made["bmis"]
