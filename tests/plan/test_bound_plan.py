"""A plan bound to its table: errors with their line, forecasts, budgets; nothing is charged and no row is read."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from discreet import asking
from discreet.asking import made
from discreet.errors import BadInput, LedgerFault, OverBudget
from discreet.plan.bound_plan import Bound, bind
from discreet.plan.plan_file import parse_plan
from discreet.privacy.guarantee import Guarantee, Neighbours

Binds = Callable[[str], Bound]


def asked(head: str, *entries: str) -> str:
    return head + "\n[[release]]\nid = 'a'\n" + "\n".join(entries) + "\n"


def test_nothing_is_read_or_made(bound: Binds, plan: str, folder: Path, reads: Any) -> None:
    found = bound(plan)
    assert found.balance() is None
    assert reads.count == 0
    assert sorted(path.name for path in folder.iterdir()) == ["people.csv"]
    assert [question.price.guarantee.unit for question in found.priced.questions] == ["patient"] * 2
    assert found.forecasts == (None, None)


def test_guesses_say_what_shape_a_forecast_takes(bound: Binds, head: str) -> None:
    usual = ("statistic = 'iqr'", "columns = 'bmi'", "rows = 5000")
    found = [
        bound(asked(head, *usual, f"guesses = {guesses}")).forecasts[0]
        for guesses in ("{}", "{ shape = 'exponential' }", "{ low = 15, typical = 25, high = 60 }")
    ]
    assert [one is not None and one["if_normal"] for one in found] == [True, False, False]
    assert found[2] is not None
    assert found[2]["assumptions"][0] == "1%, half and 99% of values are below 15, 25 and 60"
    assert found[2]["units"] == ""


@pytest.mark.parametrize(
    ("guesses", "says"),
    [
        ("{ low = 15 }", "release 'a': low, typical and high are 15.0, None and None"),
        ("{ shape = 'round' }", "release 'a': shape is 'round'; give one of 'normal'"),
        ("{ lowest = 15 }", "did you mean 'low'"),
    ],
)
def test_guesses_that_are_wrong_are_said_with_their_line(bound: Binds, head: str, guesses: str, says: str) -> None:
    with pytest.raises(BadInput, match="line") as refused:
        bound(asked(head, "statistic = 'iqr'", "columns = 'bmi'", "rows = 5000", f"guesses = {guesses}"))
    assert says in str(refused.value)


def test_each_mechanism_is_made_once_for_each_price_tried(
    bound: Binds, head: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    makings: list[tuple[str, Any]] = []

    def counted(statistic: Any, public: Any, columns: Any, options: Any) -> Any:
        makings.append((statistic.name, options["epsilon"]))
        return made(statistic, public, columns, options)

    monkeypatch.setattr(asking, "made", counted)
    counts = (f"[[release]]\nid = 'count-{at}'\nstatistic = 'count'\nshare = {at}\n" for at in range(20, 40))
    mean = "[[release]]\nid = 'mean'\nstatistic = 'mean'\ncolumns = 'bmi'\nepsilon = 0.05\n"
    found = bound(f"{head}delta = 1e-6\n{''.join(counts)}{mean}")
    assert float(found.priced.apart) > 1.1  # several totals were tried
    assert len(makings) == len(set(makings)) > 40
    assert [name for name, _ in makings].count("mean") == 1  # its price is fixed


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        (
            ("statistic = 'mean'", "columns = 'height'"),
            "there is no column 'height'; the table has age, bmi, sex, town",
        ),
        (("statistic = 'mean'",), "mean needs columns; name them"),
        (("statistic = 'linear_regression'",), "linear_regression needs columns or a formula; name them"),
        (("statistic = 'count'", "where = 'age >'"), "where cannot be understood at character 6"),
        (("statistic = 'count'", "where = 'height > 3'"), "height"),
        (("statistic = 'count'", "where = 'age > 3; drop'"), "age > 3; drop"),
        (
            ("statistic = 'linear_regression'", "formula = 'age ~ bmi'", "columns = 'a'"),
            "leave columns and outcome out",
        ),
        (("statistic = 'mean'", "columns = 'age'", "outcome = 'bmi'"), "mean takes no outcome beside its columns"),
        (("statistic = 'mean'", "columns = 'age'", "options = {bounds = 'x'}"), "bounds"),
        (("statistic = 'mean'", "columns = 'age'", "options = {bounds = {a = 1}}"), "bounds"),
        (("statistic = 'quantile'", "columns = 'age'"), "quantile needs q"),
        (("statistic = 'quantile'", "columns = 'age'", "options = {q = 1979-05-27}"), "q"),
        (("statistic = 'mean'", "formula = 'age ~ bmi'"), "mean takes no formula"),
        (("statistic = 'paired_test'", "columns = ['age', 'bmi', 'sex']"), "is about 2 columns; 3 are given"),
        (("statistic = 'sgd'", "columns = ['age']", "outcome = 'bmi'"), "sgd needs loss"),
        (("statistic = 'kmeans'", "columns = ['age', 'bmi']"), "kmeans needs k"),
        (("statistic = 'count'", "groupby = 'county'"), "there is no column 'county'"),
        (("statistic = 'count'", "keys = ['F']"), "keys are the groups of groupby="),
        (("statistic = 'count'", "groupby = 'sex'", "keys = ['F', 'F']"), "listed twice"),
        (("statistic = 'linear_regression'", "formula = 'bmi ~ age +'", "delta = 1e-6"), "a term is needed here"),
        (("statistic = 'mean'", "columns = 'age'", "epsilon = 1e-30"), "epsilon"),
    ],
)
def test_what_cannot_be_asked_is_said_with_the_line_of_its_release(
    bound: Binds, head: str, entries: tuple[str, ...], said: str
) -> None:
    head = head.replace("epsilon = 1.0", "epsilon = 1.0\ndelta = 1e-5")
    with pytest.raises(BadInput) as told:
        bound(asked(head, *entries))
    number = head.count("\n") + 2
    assert str(told.value).startswith(f"plan.toml, line {number}: release 'a': ")
    assert said in str(told.value)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("people.csv", "nobody.csv", "there is no file 'nobody.csv'"),
        ('unit = "patient"', 'person = "id"', "there is no column 'id'"),
        ('unit = "patient"', 'missing = {height = "drop"}', "there is no column 'height'"),
        ('unit = "patient"', 'per_person = {height = "first"}', "there is no column 'height'"),
        ("bmi =", "height =", "height"),
        ('unit = "patient"', 'table = "people"', "is for the address of a database"),
        ("people.csv", "sqlite:///nobody.db", "say which by table="),
        ("people.csv", "ftp://x/people.csv", "ftp"),
    ],
)
def test_a_table_that_is_not_as_the_plan_says(bound: Binds, plan: str, old: str, new: str, said: str) -> None:
    with pytest.raises(BadInput) as told:
        bound(plan.replace(old, new))
    assert said in str(told.value)


def test_an_error_stays_what_it_is(bound: Binds, head: str) -> None:
    with pytest.raises(OverBudget, match="the plan may spend 1"):
        bound(asked(head, "statistic = 'count'", "epsilon = 1.5"))


def test_an_accuracy_is_paid_for_what_it_takes(bound: Binds, head: str) -> None:
    found = bound(asked(head, "statistic = 'count'", "accuracy = 10.0", "rows = 600"))
    forecast = found.forecasts[0]
    assert forecast is not None
    assert forecast["half_width"] <= 10
    assert 0.2 < float(found.priced.together.epsilon) < 0.5
    with pytest.raises(BadInput, match=r"release 'a' asks for an accuracy, .* give rows"):
        bound(asked(head, "statistic = 'count'", "accuracy = 10.0"))
    with pytest.raises(BadInput, match="release 'a': an accuracy of 1e-09 cannot be reached"):
        bound(asked(head, "statistic = 'proportion'", "columns = \"sex == 'F'\"", "accuracy = 1e-9", "rows = 60"))


def test_forecasts_are_for_the_groups_listed(bound: Binds, head: str) -> None:
    entries = ("statistic = 'mean'", "columns = 'age'", "options = {bounds = [0, 120]}", "scale = 20")
    head = head.replace("unit =", "rows = 600\nunit =")
    whole, parts = (
        bound(asked(head, *entries, *more)).forecasts[0] for more in ((), ("groupby = 'sex'", "keys = ['F', 'M']"))
    )
    assert whole is not None
    assert parts is not None
    assert (whole["rows"], parts["rows"]) == (600, 300)
    assert parts["half_width"] > whole["half_width"]


def test_small_groups_that_share_a_range_have_no_forecast_of_groups_alone(bound: Binds, head: str) -> None:
    head, entries = head.replace("unit =", "rows = 600\nunit ="), ("columns = 'age'", "groupby = 'sex'")
    for statistic in ("mean", "sum", "std"):
        found = bound(asked(head, f"statistic = '{statistic}'", *entries, "keys = ['F', 'M']"))
        assert found.forecasts == (None,)


def test_what_names_a_plan_is_all_of_it_and_nothing_else(bound: Binds, plan: str) -> None:
    found = bound(plan)
    assert found.digest == bound("# a remark\n" + plan).digest
    assert found.digest != bound(plan.replace("epsilon = 1.0", "epsilon = 1.5")).digest
    assert found.request == f"plan {found.digest}"
    assert json.dumps(found.plan.model_dump(mode="json"))


def test_paths_are_from_the_folder_of_the_plan(bound: Binds, plan: str, folder: Path) -> None:
    found = bound(plan)
    with found.session() as private:
        assert private.people.neighbours is Neighbours.ADD_OR_REMOVE
        assert Guarantee(1.0, unit=private.people.unit).unit == "patient"
    assert (folder / "study.ledger").exists()
    balance = found.balance()
    assert balance is not None
    assert balance.left.epsilon == 3


def test_a_population_needs_a_budget_once(bound: Binds, plan: str) -> None:
    without = plan.replace("epsilon = 3\ndelta = 1e-4\n", "")
    with pytest.raises(BadInput, match="patients"):
        bound(without).session()
    bound(plan).session().close()
    with bound(without).session() as private:
        assert private.balance.left.epsilon == 3
    with bound(without.replace('unit = "patient"\n', "")).session() as private:  # the account's word
        assert private.people.unit == "patient"
    with pytest.raises(BadInput, match=r"for a patient; this session is for: .*, for a visit"):
        bound(without.replace('unit = "patient"', 'unit = "visit"')).session()


def test_to_look_at_a_balance_makes_no_ledger(bound: Binds, plan: str, folder: Path) -> None:
    (folder / "study.ledger").touch()
    assert bound(plan).balance() is None
    assert (folder / "study.ledger").read_bytes() == b""
    assert sorted(path.name for path in folder.iterdir()) == ["people.csv", "study.ledger"]
    (folder / "study.ledger").write_text("no ledger")
    with pytest.raises(LedgerFault):
        bound(plan).balance()


def test_a_watcher_is_told_each_release_before_its_forecast(plan: str, folder: Path) -> None:
    told: list[str] = []
    found = bind(parse_plan(plan, "plan.toml"), plan, folder, watch=told.append)
    assert told == [question.title for question in found.priced.questions]
