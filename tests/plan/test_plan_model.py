"""What a plan may say."""

import json
from pathlib import Path
from typing import Any

import pytest

from discreet.errors import BadInput
from discreet.plan.plan_file import Plan, parse_plan
from discreet.plan.plan_schema import schema
from discreet.privacy.declaration import declared, homes

SCHEMA = Path(__file__).parent.parent.parent / "docs" / "plan.schema.json"


def test_the_published_schema_is_that_of_the_model() -> None:
    assert json.loads(SCHEMA.read_text()) == schema(), "write it anew: python -m scripts.schema"


def test_every_entry_of_the_schema_is_on_the_page_about_plans() -> None:
    page = (SCHEMA.parent / "how-to-release.md").read_text()
    parts = [Plan.model_json_schema(), *Plan.model_json_schema()["$defs"].values()]
    for part in parts:
        for name in part["properties"]:
            assert f"`{name}`" in page, f"how-to-release.md does not explain {name}"


def test_the_schema_lists_every_statistic_of_a_plan_with_its_own_options() -> None:
    made = schema()
    listed = {one["$ref"].removeprefix("#/$defs/") for one in made["properties"]["release"]["items"]["oneOf"]}
    without = {name for name in homes() if not declared(name).code and not declared(name).samples}
    assert listed == without | {"fit"}
    assert {name for name in listed if "code" in made["$defs"][name]["properties"]} == {"fit"}
    for name in listed:
        entry = made["$defs"][name]["properties"]
        assert entry["statistic"]["const"] == name
        assert set(entry["options"]["properties"]) <= set(declared(name).options)
    mean = made["$defs"]["mean"]["properties"]
    assert mean["options"]["properties"]["bounds"]["maxItems"] == 2
    assert "two-stage" in mean["options"]["properties"]["method"]["enum"]
    assert "formula" not in mean
    assert {"formula", "outcome"} <= set(made["$defs"]["linear_regression"]["properties"])
    assert made["$defs"]["kmeans"]["properties"]["options"]["required"] == ["k"]


def test_a_plan_and_its_defaults(plan: str) -> None:
    found = parse_plan(plan)
    assert found.title == "A small study"
    assert found.data.neighbours == "add_or_remove"
    assert found.population.accounting == "epsilon"
    assert (found.spend.epsilon, found.spend.delta) == (1.0, 0.0)
    assert [asked.id for asked in found.release] == ["all", "women"]


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("share = 1\nepsilon = 0.5", "share and epsilon are given; give one of share, epsilon and accuracy"),
        ("share = 1\naccuracy = 0.5", "share and accuracy are given"),
        ("epsilon = nan", "finite number"),
        ("epsilon = -1", "greater than 0"),
        ("epsilon = 0", "greater than 0"),
        ("epsilon = true", "valid number"),
        ("epsilon = '1'", "valid number"),
        ("delta = 1", "less than 1"),
        ("rows = 0", "greater than or equal to 1"),
        ("rows = 1.5", "valid integer"),
        (
            "options = {colour = 1}",
            "mean has no option 'colour'; it has model, bounds, sigma, near_zero, method, reach",
        ),
        ("options = {rng = 1, epsilon = 3}", "options hold epsilon, rng; write them in the release itself"),
        ("options = {estimator = 'Ridge'}", "options hold estimator; write them in the release itself"),
        ("options = {neighbours = 'replace'}", "write them in the release itself"),
        ("options = 3", "valid dictionary"),
        ("colour = 'red'", "no such entry in a plan"),
        ("id = 'a b'\nrows = 2", "it is 'a b'; give letters, digits"),
    ],
)
def test_wrong_entries_are_told(head: str, entry: str, said: str) -> None:
    named = "" if entry.startswith("id") else "id = 'a'\n"
    with pytest.raises(BadInput, match=r"plan\.toml, line ") as told:
        parse_plan(f"{head}\n[[release]]\n{named}statistic = 'mean'\n{entry}\n", "plan.toml")
    assert said in str(told.value)


def test_ids_differ_by_more_than_their_capitals(plan: str) -> None:
    with pytest.raises(BadInput, match="two releases are called 'ALL'"):
        parse_plan(plan.replace('"women"', '"ALL"'))


@pytest.mark.parametrize("statistic", ["custom_test", "anova", "eval", "Mean", ""])
def test_only_statistics_without_code_or_public_groups(head: str, statistic: str) -> None:
    with pytest.raises(BadInput, match="statistic"):
        parse_plan(f"{head}\n[[release]]\nid = 'a'\nstatistic = '{statistic}'\n")


def test_releases_are_at_least_one_and_not_too_many(head: str) -> None:
    with pytest.raises(BadInput, match="release: this entry is needed"):
        parse_plan(head)
    many = "".join(f"\n[[release]]\nid = 'r{place}'\nstatistic = 'count'\n" for place in range(501))
    with pytest.raises(BadInput, match="at most 500"):
        parse_plan(head + many)


def test_a_plan_cannot_be_changed(plan: str) -> None:
    found: Any = parse_plan(plan)
    with pytest.raises(ValueError, match="frozen"):
        found.title = "x"
