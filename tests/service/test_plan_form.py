"""The form of the page: another view of a plan in TOML."""

from typing import Any

import pytest
from tests.service.conftest import World, plan

from discreet.errors import BadInput
from discreet.plan.draft import differences
from discreet.plan.plan_file import parse_plan
from discreet.service.asked_plan import to_form, to_text
from discreet.service.settings import CodebookColumn
from discreet.service.views import worded

BLANK = {"estimator": "", "code": "", "where": "", "outcome": "", "groupby": "", "title": "", "options": ""}


def test_form_and_text_are_two_views_of_one_plan() -> None:
    book = {"sex": CodebookColumn(categories=["F", "M"]), "bmi": CodebookColumn(low=10.0, high=60.0)}
    book["smokes"] = CodebookColumn(categories=["no", "yes"])
    form: dict[str, Any] = {"title": 'A "title" \\ with\nlines', "description": "why", "epsilon": 0.25, "delta": 1e-7}
    one = {"statistic": "quantile", "columns": ["age"], "where": "sex == 'F'", "groupby": "sex", "title": "t"}
    two = BLANK | {"statistic": "histogram", "columns": ["sex"]}
    three = BLANK | {"statistic": "crosstab", "columns": ["sex"], "outcome": "smokes"}
    four = BLANK | {"statistic": "histogram", "columns": ["bmi"]}
    form["release"] = [BLANK | one | {"options": "q = 0.5\nbounds = [0, 120]"}, two, three, four]
    text = to_text(form, book)
    assert to_form(text, book) == form
    assert to_text(to_form(text, book), book) == text
    assert 'keys = ["F", "M"]' in text
    assert 'categories = ["F", "M"]' in text
    assert 'outcome = "smokes"\noptions = { categories = [["F", "M"], ["no", "yes"]] }' in text
    assert "edges = [10.0, 15.0, 20.0, 25.0, 30.0, 35.0, 40.0, 45.0, 50.0, 55.0, 60.0]" in text
    own = to_text(form | {"release": [four | {"options": "edges = [0, 9]"}]}, book)
    assert to_form(own, book)["release"][0]["options"] == "edges = [0, 9]"
    with pytest.raises(BadInput, match="no place for keys"):  # other groups than the codebook's
        to_form(text.replace('keys = ["F", "M"]', 'keys = ["F"]'), book)
    unknown = to_text(form | {"release": [three | {"outcome": "age"}]}, book)
    assert "options" not in unknown  # of one of the two columns no categories are known
    with pytest.raises(BadInput, match="formula"):
        to_form(plan(more='formula = "a ~ b"'), book)
    with pytest.raises(BadInput, match="not complete"):
        to_form("title = 1", book)


@pytest.mark.parametrize(
    ("statistic", "column", "outcome", "options"),
    [
        ("difference", "age", "sex", 'between = ["F", "M"]'),
        ("paired_test", "age", "weight", ""),
        ("ratio", "weight", "age", ""),
        ("histogram", "age", "", ""),
    ],
)
def test_the_form_asks_about_two_columns(world: World, statistic: str, column: str, outcome: str, options: str) -> None:
    form = {"view": "form", "title": "t", "epsilon": "0.5", "delta": "0", "count": "1"}
    asked = {"statistic-0": statistic, "columns-0": column, "outcome-0": outcome, "options-0": options}
    found = world.post("ann", "/ask/people/price", **form, **asked)
    assert "It would cost" in found.text, found.text
    sent = world.post("ann", "/ask/people", **form, **asked)
    assert sent.status_code == 303


def test_what_is_wrong_with_a_form_is_said_by_question_and_not_by_line(world: World) -> None:
    form = {"view": "form", "title": "t", "epsilon": "0.5", "delta": "0", "count": "1", "columns-0": "age"}
    said = world.post("ann", "/ask/people/price", **form, **{"statistic-0": "quantile"}).text
    assert "Question 1: quantile needs q" in said
    assert "line" not in said.split("quantile needs q")[0].rsplit("<p", 1)[1]
    text = plan(statistic="quantile")
    assert "line " in world.post("ann", "/ask/people/price", view="text", text=text).text


def test_the_steward_reads_what_it_is_for(world: World) -> None:
    text = 'description = "A thesis on <b>growth</b>"\n' + plan()
    page = world.signed_in("sue").get(f"/inbox/{world.submit('ann', text)}").text
    assert "A thesis on &lt;b&gt;growth&lt;/b&gt;" in page
    assert "times as likely" in page
    page = world.signed_in("sue").get(f"/inbox/{world.submit('ann', plan(epsilon=0.2))}").text
    assert "ann did not say." in page


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("release q1: removed (count)", "Question 1 is gone: count."),
        ("release b: added (mean of age)", "Question b is new: mean of age."),
        ('release q1: columns: "age" -> ["age", "bmi"]', "Question 1, columns: [age, bmi] instead of age."),
        ("release q1: options.bounds: not given -> [0, 9]", "Question 1, bounds: [0, 9] instead of nothing."),
        ('description: "a" -> "a -> b\\n"', "What it is for: a -> b\\n instead of a."),
    ],
)
def test_differences_between_plans_are_sentences(line: str, said: str) -> None:
    assert worded(line) == said


def test_differences_of_real_plans_are_all_understood() -> None:
    given = {"data": {"source": "-"}, "population": {"name": "-", "ledger": "-"}}
    texts = (plan(), plan(0.2, "Other", "quantile", "weight", 'where = "age > 1"\noptions = { q = 0.5 }'))
    old, new = (parse_plan(text, "plan", given) for text in texts)
    lines = differences(old, new)
    assert len(lines) >= 5
    assert all(worded(line) != line and worded(line).endswith(".") for line in lines), lines
