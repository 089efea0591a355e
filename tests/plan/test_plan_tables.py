"""A plan about several tables that share people."""

import re
from pathlib import Path

import pytest

from discreet import BadInput, Seeded
from discreet.plan.bound_plan import bind
from discreet.plan.plan_file import parse_plan
from discreet.plan.run_plan import run_plan

PLAN = """title = "Patients"

[data]
person = "id"
unit = "patient"

[tables]
visits = { source = "visits.csv", types = { hba1c = "number", day = "date" } }
drugs = "drugs.csv"

[features]
visits = "count"
insulin = "any(drug == 'insulin')"
last_hba1c = "last(hba1c, by=day)"

[population]
name = "clinic"
ledger = "clinic.ledger"
epsilon = 8.0

[spend]
epsilon = 6.0

[[release]]
id = "insulin"
statistic = "proportion"
columns = "insulin"

[[release]]
id = "hba1c"
statistic = "mean"
columns = "last_hba1c"
where = "insulin"
options = { bounds = [3, 15] }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    visits = [f"{at % 500},{5 + at % 5},2024-01-{1 + at // 500:02d}" for at in range(1500)]
    (tmp_path / "visits.csv").write_text("id,hba1c,day\n" + "\n".join(visits) + "\n")
    drugs = [f"{at},{'insulin' if at % 2 else 'aspirin'}" for at in range(500)]
    (tmp_path / "drugs.csv").write_text("id,drug\n" + "\n".join(drugs) + "\n")
    return tmp_path


def test_a_plan_joins_its_tables_to_one_row_a_person(folder: Path) -> None:
    bound = bind(parse_plan(PLAN), PLAN, folder)
    assert (bound.people.person, bound.people.unit) == (None, "patient")
    bound.check()
    found = run_plan(bound, rng=Seeded(1))
    text = str(found)
    assert "one row a person, of visits (text file 'visits.csv') and drugs (text file 'drugs.csv')" in text
    share, mean = (entry["release"]["value"] for entry in found["releases"])
    assert share == pytest.approx(0.5, abs=0.1)
    assert mean == pytest.approx(7, abs=0.7)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("any(drug ==", "any(drgu ==", "line 13: feature 'insulin': there is no column 'drgu'; did you mean 'drug'"),
        ('visits = "count"', 'visits = "conut"', "line 12: feature 'visits': 'conut' is not known; did you mean count"),
        ('drugs = "drugs.csv"', 'drugs = "drug.csv"', "line 9: table 'drugs': there is no file 'drug.csv'"),
        ('person = "id"', "", "no column says whose rows visits holds"),
        ('person = "id"', 'person = "id"\nsource = "visits.csv"', "has source, and the plan has [tables]"),
        ('columns = "last_hba1c"', 'columns = "lst_hba1c"', "did you mean 'last_hba1c'"),
        ('where = "insulin"', 'where = "insulin > 3"', ""),
    ],
)
def test_what_is_wrong_is_said_with_its_line_before_anything_is_spent(
    folder: Path, old: str, new: str, said: str
) -> None:
    text = PLAN.replace(old, new)
    assert text != PLAN
    if not said:
        bind(parse_plan(text), text, folder)
        return
    with pytest.raises(BadInput, match=re.escape(said)):
        bind(parse_plan(text, "plan.toml"), text, folder)
    assert not (folder / "clinic.ledger").exists()


def test_tables_and_features_need_each_other() -> None:
    features = re.sub(r"\[features\].*?\n\n", "", PLAN, flags=re.DOTALL)
    with pytest.raises(BadInput, match="joined by \\[features\\], and there are none"):
        parse_plan(features)
    tables = re.sub(r"\[tables\].*?\n\n", "", PLAN, flags=re.DOTALL)
    with pytest.raises(BadInput, match="made of \\[tables\\], and there are none"):
        parse_plan(tables)
    neither = re.sub(r"\[features\].*?\n\n", "", tables, flags=re.DOTALL)
    with pytest.raises(BadInput, match="there is no table; give source"):
        parse_plan(neither)
