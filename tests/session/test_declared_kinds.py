"""What declared kinds rule out is refused before the charge, and ordinary yes and no columns come out right."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pcsv
import pytest

import discreet
from discreet import BadInput, Seeded
from discreet.noise.randomness import Door
from discreet.tables.frames import said_kind
from discreet.tables.matrix import matrix
from discreet.tables.streams import Stream

ROWS = 3000
RNG = np.random.default_rng(0)
PEOPLE = pa.table(
    {
        "town": ["Ulm", "Bonn", "Ulm"] * (ROWS // 3),
        "age": RNG.integers(18, 80, ROWS),
        "ok": RNG.random(ROWS) < 0.3,
        "weight": RNG.normal(70, 10, ROWS),
    }
)
TYPES = {"town": "text", "age": "integer", "ok": "boolean", "weight": "number"}


def opened(form: str, folder: Path, relation: str) -> discreet.Session:
    options: dict[str, Any] = {"budget": discreet.Budget(100.0, 1e-3), "ledger": ":memory:", "rng": Seeded(1)}
    if form == "arrow":
        return discreet.open(PEOPLE, neighbours=relation, **options)
    pcsv.write_csv(PEOPLE, folder / "people.csv")
    return discreet.open(folder / "people.csv", types=TYPES, neighbours=relation, **options)


@pytest.mark.claim("session.1")
@pytest.mark.parametrize("relation", ["add_or_remove", "replace"])
@pytest.mark.parametrize("form", ["arrow", "csv"])
@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("mean", ("town",), {}), "mean needs numbers, and 'town' is declared to hold text"),
        (("proportion", ("town",), {}), "proportion needs yes and no, and 'town' is declared to hold text"),
        (("proportion", ("town",), {"equals": 3}), "equals has 3, and 'town' is declared to hold texts"),
        (("count", (), {"where": "town == 3"}), "declared as text; put it in quotes"),
        (("count", (), {"where": "age == '30'"}), "declared as integer; leave out the quotes"),
        (("mean", ("weight",), {"groupby": "town", "keys": [1, 2]}), "keys has 1, and 'town' is declared to hold text"),
        (("mean", ("weight",), {"groupby": "age", "keys": ["30"]}), "keys has '30', and 'age' is declared to hold num"),
        (("mean", ("weight",), {"groupby": "ok", "keys": [0, 1]}), "keys has 0, and 'ok' is declared to hold true and"),
        (("histogram", ("town",), {"categories": [1]}), "categories has 1, and 'town' is declared to hold texts"),
        (("goodness_of_fit_test", ("town", {1: 0.5, 2: 0.5}), {}), "null has 1, and 'town' is declared to hold texts"),
        (
            ("independence_test", ("town", "ok"), {"categories": (["Ulm", "Bonn"], [0, 1])}),
            "categories has 0, and 'ok' is declared to hold true and false",
        ),
        (
            ("linear_regression", ("weight ~ C(town)",), {"levels": {"town": [1, 2]}, "delta": 1e-6}),
            "levels has 1, and 'town' is declared to hold texts",
        ),
        (("logistic_regression", ("town ~ weight",), {}), "write C(town) ~ ... and list its two values"),
        (("logistic_regression", (["weight"], "town"), {}), "as in classes=('no', 'yes')"),
        (("logistic_regression", (["weight", "town"], "ok"), {}), "write a formula, 'outcome ~ C(town)'"),
        (
            ("linear_regression", ("town ~ weight",), {"delta": 1e-6}),
            "for an outcome of categories ask logistic_regression or mult",
        ),
        (
            ("linear_regression", ("weight ~ town",), {"delta": 1e-6}),
            "write C(town) for categories, or open the table with",
        ),
        (("kmeans", (["weight", "town"],), {"k": 2}), "declared to hold text; open the table with types={'town':"),
    ],
)
def test_what_the_declared_kind_rules_out_costs_nothing(
    tmp_path: Path, form: str, relation: str, asked: tuple[str, Any, dict[str, Any]], said: str
) -> None:
    verb, columns, options = asked
    with opened(form, tmp_path, relation) as session:
        with pytest.raises(BadInput) as caught:
            session.ask(verb, *columns, epsilon=1.0, **options)
        assert said in str(caught.value)
        assert session.balance.spent.cost == 0


@pytest.mark.parametrize("relation", ["add_or_remove", "replace"])
@pytest.mark.parametrize("form", ["arrow", "csv"])
def test_the_advice_of_a_refusal_works(tmp_path: Path, form: str, relation: str) -> None:
    with opened(form, tmp_path, relation) as session:
        for asked in ({"x": "town == 'Ulm'"}, {"x": "town", "equals": "Ulm"}):
            share = session.ask("proportion", epsilon=10.0, **asked)
            assert abs(float(share.value) - 2 / 3) < 0.01  # type: ignore[union-attr]
        means = session.mean("weight", epsilon=10.0, groupby="ok", keys=[True, False])
        assert abs(float(means[True].value) - 70) < 3
        outcomes: list[dict[str, Any]] = [
            {"X": "C(town) ~ weight", "levels": {"town": ["Bonn", "Ulm"]}},
            {"X": ["weight"], "y": "town", "classes": ("Bonn", "Ulm")},
        ]
        for outcome in outcomes:
            odds = session.ask("logistic_regression", epsilon=10.0, delta=1e-6, **outcome)
            assert odds.refusal is None


class Untouched(Door):
    """Noise that is not to be drawn."""

    secure = True

    def __init__(self) -> None: ...

    def draw(self, request: Any) -> Any:
        raise AssertionError(request)


CONTAINERS: dict[str, Any] = {
    "list": list,
    "numpy": np.array,
    "objects": lambda entries: np.array(entries, dtype=object),
    "pandas": pd.Series,
    "pandas string": lambda entries: pd.Series(entries, dtype="string"),
    "category": lambda entries: pd.Series(entries, dtype="category"),
    "bytes": lambda entries: np.array([one or "" for one in entries], dtype="S"),
    "polars": pl.Series,
    "polars categories": lambda entries: pl.Series(entries, dtype=pl.Categorical),
    "arrow": pa.array,
}


@pytest.mark.claim("entries.2")
@pytest.mark.parametrize("container", sorted({*CONTAINERS} - {"list", "objects", "pandas"}))
def test_texts_are_refused_by_the_type_of_a_column_before_anything_is_drawn(container: str) -> None:
    texts = CONTAINERS[container](["a", "b"] * 500)
    numbers = np.arange(1000.0)
    how: dict[str, Any] = {"epsilon": 1.0, "rng": Untouched()}
    for asked in (
        lambda: discreet.mean(texts, **how),
        lambda: discreet.median(texts, **how),
        lambda: discreet.proportion(texts, **how),
        lambda: discreet.two_means_test(texts, numbers, **how),
        lambda: discreet.linear_regression(texts, numbers, delta=1e-6, **how),
        lambda: discreet.linear_regression("b ~ a", {"a": texts, "b": numbers}, delta=1e-6, **how),
        lambda: discreet.kmeans({"a": texts, "b": numbers}, 2, radius=5.0, delta=1e-6, **how),
    ):
        with pytest.raises(BadInput, match=r"declared to hold (text|categories)"):
            asked()


@pytest.mark.claim("entries.2")
def test_no_entry_decides_what_a_refusal_of_texts_says() -> None:
    """Neither its length, which the type of an array tells, nor that of a column which is called as types are."""

    def said(texts: Any) -> str:
        with pytest.raises(BadInput) as caught:
            discreet.two_means_test(texts, np.arange(9.0), epsilon=1.0, rng=Untouched())
        return str(caught.value)

    assert said(np.array(["a"] * 9)) == said(np.array(["a"] * 8 + ["abcdefgh"]))
    assert said(np.array([b"a"] * 9)) == said(np.array([b"a"] * 8 + [b"abcdefgh"]))
    frame = pd.DataFrame({"type": [1.5, 2.5], "kind": [1.0, 2.0]}, index=["date 1", "date 2"])
    assert said_kind(frame) == "unknown"
    assert matrix(frame).width == 2


@pytest.mark.claim("dates.1")
@pytest.mark.parametrize(
    "made", [lambda days: days, pd.Series, pl.Series, pa.array, lambda days: days.astype("M8[ns]")]
)
def test_dates_are_dates_by_the_type_of_a_column(made: Any) -> None:
    dates = made(np.datetime64("2020-01-01") + np.arange(3000) % 700)
    found = [discreet.median(dates, epsilon=4.0, rng=Seeded(1)), discreet.mean(dates, epsilon=4.0, rng=Seeded(1))]
    assert [str(one.value)[:4] for one in found] == ["2020", "2020"]
    with discreet.open({"day": dates}, budget=9.0, ledger=":memory:", rng=Seeded(1)) as session:
        assert session.median("day", epsilon=4.0).value == found[0].value
    with pytest.raises(BadInput, match="variance needs numbers, and 'x' is declared to hold dates"):
        discreet.variance(dates, epsilon=1.0, rng=Untouched())


@pytest.mark.parametrize("relation", ["add_or_remove", "replace"])
@pytest.mark.parametrize("container", CONTAINERS)
def test_equals_counts_a_text_and_leaves_out_missing_entries(container: str, relation: str) -> None:
    entries = CONTAINERS[container](["Yes", "No", "No", None] * 1000)
    how: dict[str, Any] = {"epsilon": 10.0, "neighbours": relation}
    if container in ("numpy", "bytes"):
        entries = CONTAINERS[container](["Yes", "No", "No"] * 1000)
    share = discreet.proportion(entries, equals="Yes", rng=Seeded(2), **how)
    assert abs(share.value - 1 / 3) < 0.01
    assert abs(discreet.count(entries, equals="Yes", rng=Seeded(2), **how).value - 1000) < 20
    session = discreet.open({"x": entries}, budget=99.0, ledger=":memory:", neighbours=relation, rng=Seeded(2))
    with session:
        assert session.proportion("x", equals="Yes", epsilon=10.0).value == share.value


def test_numbers_and_streams_can_be_counted_by_value() -> None:
    numbers = np.array([1.0, 2.0, 2.0, np.nan] * 1000)
    stream = Stream(4000, lambda: iter([numbers[:1001], numbers[1001:]]))
    one, other = (discreet.proportion(x, equals=2, epsilon=10.0, rng=Seeded(3)) for x in (numbers, stream))
    assert one.value == other.value
    assert abs(one.value - 2 / 3) < 0.01


def test_words_for_yes_and_no_in_lists_are_read_and_others_are_missing() -> None:
    told = discreet.proportion(["Yes", "No", "no", "maybe"] * 1000, epsilon=10.0, rng=Seeded(1))
    assert abs(told.value - 1 / 3) < 0.01


@pytest.mark.parametrize(
    ("asked", "listed"),
    [
        (("proportion", ("age",)), {"equals": 30}),
        (("proportion_test", ("age", 0.5)), {"equals": 30}),
        (("histogram", ("age",)), {"categories": [30, 31]}),
        (("histogram", ("age",)), {"categories": range(10**9)}),
        (("mean", ("weight",)), {"groupby": "age", "keys": [30, 31]}),
        (("goodness_of_fit_test", ("age", {30: 0.5, 31: 0.5})), {}),
        (("logistic_regression", (["weight"], "age")), {"classes": (30, 31)}),
        (("linear_regression", ("weight ~ C(age)",)), {"levels": {"age": [30, 31]}, "delta": 1e-6}),
    ],
)
def test_numbers_are_not_sought_among_the_texts_of_a_file_without_types(
    tmp_path: Path, asked: tuple[str, Any], listed: dict[str, Any]
) -> None:
    pcsv.write_csv(PEOPLE, tmp_path / "people.csv")
    budget: dict[str, Any] = {"budget": discreet.Budget(100.0, 1e-3), "ledger": ":memory:", "rng": Seeded(1)}
    with discreet.open(tmp_path / "people.csv", **budget) as session:
        with pytest.raises(BadInput, match=r"a text file does not say what 'age' holds.*types=\{'age': 'number'\}"):
            session.ask(asked[0], *asked[1], epsilon=1.0, **listed)
        assert session.balance.spent.cost == 0
    with discreet.open(tmp_path / "people.csv", types={"age": "number"}, **budget) as session:
        session.ask(asked[0], *asked[1], epsilon=1.0, **listed)
        assert session.balance.spent.cost > 0


@pytest.mark.parametrize("form", ["arrow", "csv"])
def test_a_list_of_probabilities_is_no_list_of_categories(tmp_path: Path, form: str) -> None:
    with opened(form, tmp_path, "add_or_remove") as session:
        listed = session.goodness_of_fit_test("town", [2 / 3, 1 / 3], categories=["Ulm", "Bonn"], epsilon=1.0)
        assert listed.value.p_value > 0.01


def test_an_outcome_of_texts_is_told_of_classes(tmp_path: Path) -> None:
    with opened("arrow", tmp_path, "add_or_remove") as session:
        with pytest.raises(BadInput, match=r"classes=\('no', 'yes'\)"):
            session.logistic_regression(["age"], "town", epsilon=1.0)
        assert session.logistic_regression(["age"], "town", classes=("Bonn", "Ulm"), epsilon=5.0).refusal is None


@pytest.mark.parametrize("declared", [{}, {"arm": "text"}])
def test_groups_that_a_text_file_cannot_hold_are_refused_before_the_charge(
    tmp_path: Path, declared: dict[str, Any]
) -> None:
    (tmp_path / "trial.csv").write_text(
        "age,ill,arm\n" + "".join(f"{k % 60},{k % 3 // 2},{k % 2}\n" for k in range(900))
    )
    with discreet.open(tmp_path / "trial.csv", budget=9.0, ledger=":memory:", types=declared, rng=Seeded(1)) as session:
        for asked in (
            lambda: session.difference("age", "arm", between=[0, 1], epsilon=1.0),
            lambda: session.ab_test("age", "arm", treatment=1, control=0, epsilon=1.0),
            lambda: session.groups_test("age", "arm", between=[0, 1], epsilon=1.0),
            lambda: session.log_rank_test("age", "ill", "arm", between=[0, 1], times=[10, 20], epsilon=1.0),
        ):
            with pytest.raises(BadInput, match=r"(between|treatment) has [01], and .*text"):
                asked()
        assert session.balance.spent.epsilon == 0
        assert session.difference("age", "arm", between=["0", "1"], epsilon=4.0).refusal is None
