"""A plan from its file: what is wrong is said with its line."""

import hashlib
import json
from pathlib import Path

import pytest

from discreet.errors import BadInput
from discreet.plan.plan_file import line_of, lines_of, parse_plan, plan_digest, read_plan


def told(text: str) -> str:
    with pytest.raises(BadInput) as error:
        parse_plan(text, "plan.toml")
    return str(error.value)


def line(text: str, start: str) -> int:
    """The line that begins so."""
    return next(number for number, one in enumerate(text.splitlines(), start=1) if one.startswith(start))


def test_a_file_is_read_with_its_text(tmp_path: Path, plan: str) -> None:
    (tmp_path / "plan.toml").write_text(plan)
    found, text = read_plan(tmp_path / "plan.toml")
    assert (found.title, text) == ("A small study", plan)


@pytest.mark.parametrize(
    ("old", "new", "at", "said"),
    [
        ("epsilon = 1.0", 'epsilon = "1"', 'epsilon = "1"', "spend.epsilon: "),
        ('unit = "patient"', "unit = 3", "unit", "data.unit: "),
        ('unit = "patient"', 'unitt = "patient"', "unitt", "data.unitt: no such entry in a plan"),
        ('ledger = "study.ledger"\n', "", "[population]", "population.ledger: this entry is needed"),
        ('statistic = "count"', 'statistic = "total"', 'statistic = "total"', "release.1.statistic: "),
        ('age = "integer"', 'age = "int"', "types", "data.types.age: "),
        ('id = "women"', 'id = "the women"', 'id = "the', "release.2.id: it is 'the women'; give letters, digits"),
        ("columns = \"sex == 'F'\"", "where = 3", "where", "release.2.where: "),
        (
            "columns = \"sex == 'F'\"",
            "columns = ['sex', ['age']]",
            "columns = [",
            "release.2.columns: it is ['sex', ['age']]; ",
        ),
        (
            "columns = \"sex == 'F'\"",
            "share = 1\nepsilon = 1",
            '[[release]]\nid = "women"',
            "release.2: share and epsilon",
        ),
    ],
)
def test_errors_point_at_their_line(plan: str, old: str, new: str, at: str, said: str) -> None:
    text = plan.replace(old, new)
    assert text != plan
    number = text[: text.index(at)].count("\n") + 1
    found = told(text)
    assert found.startswith(f"plan.toml, line {number}: ")
    assert said in found


def test_an_option_beside_the_options_is_sent_to_them(plan: str) -> None:
    text = plan.replace('statistic = "count"', 'statistic = "proportion"\nequals = "F"')
    assert told(text).endswith("release.1.equals: this is an option of proportion: options = { equals = ... }")


def test_all_that_is_wrong_is_said_at_once_but_not_endlessly(plan: str) -> None:
    two = told(plan.replace("epsilon = 3", "epsilon = 0").replace('unit = "patient"', "unit = 3")).splitlines()
    assert [one.split(":")[0] for one in two] == [
        f"plan.toml, line {number}" for number in (line(plan, "unit"), line(plan, "epsilon = 3"))
    ]
    many = told(plan + "".join(f"x{place} = 1\n" for place in range(20))).splitlines()
    assert len(many) == 9
    assert many[-1] == "and 12 more"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("title = ", "is not TOML"),
        ("title = 'a'\ntitle = 'b'", "is not TOML"),
        ("x = " + "[" * 100_000, "nested deeper"),
        ("x = " + "[" * 60 + "]" * 60, "nested deeper"),
        ("x = 1", "no such entry"),
        ("", "this entry is needed"),
        ("title = 3\n[[data]]", "data: "),
    ],
)
def test_what_is_no_plan(text: str, said: str) -> None:
    assert said in told(text)


def test_files_that_cannot_be_plans(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="No such file"):
        read_plan(tmp_path / "nothing.toml")
    with pytest.raises(BadInput, match="Is a directory"):
        read_plan(tmp_path)
    (tmp_path / "plan.toml").write_bytes(b"title = '\xff'")
    with pytest.raises(BadInput, match="not a text in UTF-8"):
        read_plan(tmp_path / "plan.toml")
    (tmp_path / "plan.toml").write_text("#" * 1_000_001)
    with pytest.raises(BadInput, match="larger than a plan"):
        read_plan(tmp_path / "plan.toml")


@pytest.mark.parametrize(
    "line", ["[" + " " * 200_000, "[[" + " " * 200_000 + "x", "[x" + " ]" * 100_000, "a." * 100_000 + "a=1"]
)
def test_a_long_line_is_passed_over_in_one_pass(line: str) -> None:
    """A search that goes back over the blanks takes a minute for 1,600 of them."""
    assert lines_of(f"{line}\n[data]\nx = 1")["data", "x"] == 3


def test_lines_are_counted_as_toml_does() -> None:
    assert lines_of("a = '\x0c \u2028'\r\n[ data . 'x' ] # y\r\n[[release]]]\r\n")["data", "x"] == 2


def test_lines_of_tables_entries_and_dotted_keys() -> None:
    lines = lines_of("a.b = 1\n[data]\n'x' = 2\n[[release]]\nid = 1\n[[release]]\nid = 2\n[release.options]\nq = 3\n")
    assert lines["a",] == lines["a", "b"] == 1
    assert lines["data", "x"] == 3
    assert lines["release", 1, "id"] == 7
    assert lines["release", 1, "options", "q"] == 9
    assert line_of(lines, ("release", 0, "nothing")) == 4
    assert line_of(lines, ("nothing",)) is None


def test_a_misspelt_choice_is_named_and_corrected(plan: str) -> None:
    wrong = told(plan.replace('age = "integer"', 'age = "intger"'))
    assert "data.types.age: it is 'intger'; did you mean 'integer'? Give one of number, integer" in wrong


def test_a_plan_that_says_no_plural_keeps_its_digest(plan: str) -> None:
    """That of version 0.1 of the plan's entries: its answers are stored under it."""
    found = parse_plan(plan)
    before = {key: value for key, value in found.model_dump(mode="json")["data"].items() if key != "unit_plural"}
    content = found.model_dump(mode="json") | {"data": before}
    for entry in content["release"]:
        assert [entry.pop(name) for name in ("guesses", "estimator", "code")] == [{}, None, None]
    assert plan_digest(found, None) == hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    more = parse_plan(plan.replace('unit = "patient"', 'unit = "ox"\nunit_plural = "oxen"'))
    assert more.data.unit_plural == "oxen"
    assert plan_digest(more, None) != plan_digest(found, None)
