"""Formulas: what they mean, where they are wrong, and that no value of a table raises."""

import math
from datetime import date
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet import audit
from discreet.audit.replay import Recorder
from discreet.errors import BadInput
from discreet.models.design import Design, Formulated, check_frame, columns_of, width_of
from discreet.models.formula import Factor, Formula
from discreet.models.least_squares import LeastSquares
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours


def test_terms_and_their_names() -> None:
    formula = Formula.read("log(`the y`) ~ age+C(sex) + age:C(sex) + 0")
    assert formula.outcome == Factor("the y", "log")
    assert formula.terms[2] == (Factor("age"), Factor("sex", "category"))
    assert not formula.intercept
    assert formula.categories == ("sex",)
    assert Formula.read("y ~ 1 + a").intercept
    assert Formula.read(str(Formula.read("y ~ a + C(b):c - 1"))) == Formula.read("y~a+C(b):c-1")


def test_a_long_formula_is_read_in_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each term is looked up, not compared with all before it; more terms than a model can have are refused."""
    hashed, plain = [], Factor.__hash__
    names = [f"x{place}" for place in range(3000)]
    text = "y ~ " + " + ".join(names)
    with monkeypatch.context() as patch:
        patch.setattr(Factor, "__hash__", lambda self: hashed.append(1) or plain(self))  # type: ignore[func-returns-value]
        assert len(Formula.read(text).terms) == 3000
    assert len(hashed) <= 4 * 3000
    with pytest.raises(BadInput, match="3000 terms"):
        discreet.linear_regression(text, {name: [1.0] for name in ["y", *names]}, epsilon=1.0, delta=1e-6)


@pytest.mark.parametrize(
    ("text", "place", "word"),
    [
        ("y ~ a + C(sex", 13, "needed"),
        ("y ~ a * b", 6, "a:b"),
        ("y ~ f(a)", 4, "'f'"),
        ("y ~ ", 4, "a term"),
        ("y", 1, "'~'"),
        ("~ a", 0, "outcome"),
        ("y ~ a + a", 8, "already"),
        ("y ~ a:b + b:a", 10, "already"),
        ("y ~ a - b", 8, "taken away"),
        ("y ~ a + 2", 8, "0 or 1"),
        ("y ~ a $ b", 6, "nothing"),
        ("y ~ 1", 5, "at least one"),
        ("y ~ a b", 6, "the end"),
        ("y ~ a:", 6, "a factor"),
        ("y ~ C(1)", 6, "name"),
        ("exec(a) ~ b", 0, "no function"),
    ],
)
def test_errors_point_at_the_character(text: str, place: int, word: str) -> None:
    with pytest.raises(BadInput, match=word) as caught:
        Formula.read(text)
    *_, shown, pointer = str(caught.value).split("\n")
    assert shown.strip() == text.strip()
    assert pointer.index("^") - 4 == place


@pytest.mark.claim("design.1")
def test_rows_become_numbers_one_by_one() -> None:
    frame: dict[str, Any] = {
        "y": [1.0, "x", None, 2.0, 3.0],
        "a": np.array([1.0, 0.0, -1.0, np.inf, 2.0]),
        "g": ["u", "v", object(), math.nan, "w"],
        "t": pa.array([True, False, True, True, False]),
    }
    formula = Formula.read("y ~ a + C(g) + log(a) + t:a")
    design = columns_of(formula, frame, {"g": ("u", "v")}, {"a": (1.0, 2.0)})
    assert design.names == ("a", "C(g)[T.v]", "log(a)", "t:a")
    assert design.bounds == ((1.0, 2.0), (0.0, 1.0), (0.0, math.log(2.0)), (0.0, 2.0), None)
    assert design.rows[0].tolist() == [1.0, 0.0, 0.0, 1.0, 1.0]
    assert np.isnan(design.rows[1, [2, 4]]).all()
    assert np.isnan(design.rows[2:5, 1]).all()
    for place in range(5):  # each row by itself is the same
        one = {name: values[place : place + 1] for name, values in frame.items()}
        alone = columns_of(formula, one, {"g": ("u", "v")}, {"a": (1.0, 2.0)})
        assert np.array_equal(alone.rows[0], design.rows[place], equal_nan=True)
    whole = columns_of(Formula.read("y ~ C(g) - 1"), frame, {"g": ("u", "v")}, {})
    assert whole.names == ("C(g)[u]", "C(g)[v]")


def people(size: int = 9000) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    sex, age = rng.choice(["f", "m"], size), rng.integers(18, 90, size)
    return {"sex": list(sex), "age": age, "y": 2.0 * (sex == "m") + 0.1 * age + rng.normal(size=size)}


def test_every_kind_of_frame() -> None:
    pd = pytest.importorskip("pandas")
    given: dict[str, Any] = {"epsilon": 2.0, "delta": 1e-6, "levels": {"sex": ["f", "m"]}}
    found = [
        discreet.linear_regression("y ~ age + C(sex)", frame, rng=Seeded(1), **given).value
        for frame in (people(), pd.DataFrame(people()), pa.table(people()))
    ]
    assert found[0].names == ("age", "C(sex)[T.m]")
    assert found[0].coef == pytest.approx([0.1, 2.0], abs=0.2)
    assert found[0].coef.tolist() == found[1].coef.tolist() == found[2].coef.tolist()


@pytest.mark.claim("design.2")
@pytest.mark.claim("design.3")
@pytest.mark.parametrize("relation", [Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE])
def test_levels_are_found_or_refused(relation: Neighbours) -> None:
    mechanism = Formulated(
        Formula.read("y ~ age + C(sex)"), partial(made, relation=relation), epsilon=2.0, delta=1e-6, neighbours=relation
    )
    release = mechanism.release(people(), Seeded(1))
    assert sorted(release.value.names)[0].startswith("C(sex)[T.")
    assert abs(release.value.coef[1]) == pytest.approx(2.0, abs=0.3)
    assert release.guarantee == mechanism.guarantee
    assert "levels of sex" in str(release)
    alone = people() | {"sex": [f"{k}" for k in range(9000)]}
    assert "0 levels of 'sex'" in str(mechanism.release(alone, Seeded(1)).refusal)


def made(design: Design, intercept: bool, epsilon: Any, delta: Any, *, relation: Neighbours) -> LeastSquares:
    return LeastSquares(
        epsilon, delta, names=design.names, intercept=intercept, ridge=None, bounds=design.bounds, neighbours=relation
    )


class OfRows(Formulated):
    """A formula on a list of pairs, as the audit hands them in."""

    def release(self, rows: Any, rng: Any) -> Any:
        pairs = [row if isinstance(row, tuple) and len(row) == 2 else (None, None) for row in rows]
        return super().release({"g": [one for one, _ in pairs], "y": [other for _, other in pairs]}, rng)


@pytest.mark.claim("design.2")
@pytest.mark.parametrize("relation", [Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE])
def test_neighbours_stay_neighbours(relation: Neighbours) -> None:
    crowd: list[Any] = [("ab"[k % 2], float(k % 7)) for k in range(400)]
    odd: list[Any] = [("a", 1.0), ("z", 1e300), (["b"], "x")]
    pairs = []
    for one, other in zip(odd, [*odd[1:], odd[0]], strict=True):
        rest = [other] if relation is Neighbours.REPLACE else []
        pairs.append(audit.Pair([*crowd, one], [*crowd, *rest]))
    mechanism = OfRows(
        Formula.read("y ~ C(g)"), partial(made, relation=relation), epsilon=16.0, delta=1e-4, neighbours=relation
    )
    audit.check(mechanism, pairs, hostile_values=False).require()
    assert mechanism.release(crowd, Seeded(0)).refusal is None


@pytest.mark.claim("design.1")
@pytest.mark.parametrize("text", ["y ~ C(t)", "y ~ t", "y ~ t:x"])
def test_one_missing_truth_value_changes_no_question(text: str) -> None:
    """pandas and Arrow hand truth values out as objects as soon as one is missing: that must decide nothing."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    y, truths = rng.normal(size=600), [bool(k % 2) for k in range(600)]
    for made in (pa.array, partial(pd.array, dtype="boolean")):
        asked = []
        for one in (True, None):
            frame = {"y": y, "x": y * y, "t": made([one, *truths[1:]])}
            door = Recorder(Seeded(1))
            discreet.linear_regression(text, frame, epsilon=8.0, delta=1e-5, rng=door)
            asked.append([type(request).__name__ for request, _ in door.log])
        assert asked[0] == asked[1]
        assert "Sift" not in asked[0]


def test_declared_texts_are_no_numbers_with_and_without_a_missing_one() -> None:
    pd = pytest.importorskip("pandas")
    for listed in (["a", "b"], ["a", None]):
        for texts in (pa.array(listed), pd.Series(listed, dtype="string")):
            with pytest.raises(BadInput, match="C\\(g\\)"):
                check_frame(Formula.read("y ~ g"), {"y": [1.0, 2.0], "g": texts})


@pytest.mark.parametrize(
    "levels",
    [
        [b"a", b"b"],
        [date(2020, 1, 1), date(2020, 1, 2)],
        list(np.array(["2020-01", "2020-02"], dtype="M8[ns]")),
        [0.5, 1],
    ],
)
def test_levels_that_are_found_are_those_of_the_rows(levels: list[Any]) -> None:
    """Whatever they are: shown by its name alone, a date would be a text, and no row's."""
    rng = np.random.default_rng(0)
    at = rng.integers(0, 2, size=4000)
    frame = {"g": [levels[k] for k in at], "y": 2.0 * at + rng.normal(size=4000)}
    release = discreet.linear_regression("y ~ C(g)", frame, epsilon=8.0, delta=1e-5, rng=Seeded(1))
    assert abs(release.value.coef[0]) == pytest.approx(2.0, abs=0.3)


@pytest.mark.claim("design.3")
def test_too_many_columns_of_levels_that_were_found_are_a_refusal() -> None:
    """An error says that nothing was drawn: here something was."""
    rng = np.random.default_rng(0)
    names = [f"{k}" for k in range(40)]
    frame: dict[str, Any] = {name: list(rng.choice(names, size=8000)) for name in ("a", "b")} | {
        "y": rng.normal(size=8000)
    }
    given: dict[str, Any] = {"epsilon": 16.0, "delta": 1e-6, "rng": Seeded(1)}
    assert "columns" in str(discreet.linear_regression("y ~ C(a):C(b)", frame, **given).refusal)
    with pytest.raises(BadInput, match="1521 columns"):
        discreet.linear_regression("y ~ C(a):C(b)", frame, levels={"a": names, "b": names}, **given)
    mixed = {"g": [("1", 1)[k % 2] for k in range(8000)], "y": frame["y"]}
    both = discreet.linear_regression("y ~ C(g) - 1", mixed, **given)
    assert "its own name" in str(both.refusal)
    for text in ("y ~ C(a):C(b) + C(a)", "y ~ C(a):y + C(b) - 1", "y ~ C(a) + C(b) - 1"):
        few = {"a": ("0", "1", "2"), "b": ("0", "1")}
        assert width_of(Formula.read(text), few) == len(columns_of(Formula.read(text), frame, few, {}).names)


def test_columns_whose_names_are_no_texts() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=3000)
    frame: dict[Any, Any] = {0: x, 1: 2 * x + rng.normal(size=3000)}
    release = discreet.linear_regression("`1` ~ `0`", frame, epsilon=8.0, delta=1e-5, rng=Seeded(1))
    assert release.value["0"] == pytest.approx(2.0, abs=0.3)
    with pytest.raises(BadInput, match="two columns"):
        check_frame(Formula.read("`1` ~ `0`"), frame | {"0": x})


def test_bad_requests() -> None:
    base: dict[str, Any] = {"epsilon": 2.0, "delta": 1e-6}
    for text, frame, given, word in (
        ("y ~ size", people(), {}, "'size'"),
        ("y ~ sex", {"y": [1.0], "sex": pa.array(["f"])}, {}, "C\\(sex\\)"),
        ("y ~ age", {"y": [1.0], "age": [1.0, 2.0]}, {}, "equally long"),
        ("y ~ age", np.ones((3, 2)), {}, "must have its columns"),
        ("y ~ age", people(), {"levels": {"sex": ["f", "m"]}}, "no C\\(sex\\)"),
        ("y ~ C(sex)", people(), {"levels": {"sex": "fm"}}, "two or more"),
        ("y ~ C(sex)", people(), {"levels": {"sex": ["f", "f"]}}, "each once"),
        ("y ~ age", people(), {"bounds": {"sex": (0, 1)}}, "not in the formula"),
        ("y ~ age", people(), {"bounds": [(0, 1)]}, "dictionary"),
        ("y ~ age", people(), {"intercept": False}, "- 1"),
        ("y ~ age", people(), {"method": "friendly"}, "moments"),
        ("y ~ C(sex)", people(), {"levels": ["f", "m"]}, "dictionary"),
        ("y ~ age", people(), {"unit": "sex"}, "a column here"),
    ):
        with pytest.raises(BadInput, match=word):
            discreet.linear_regression(text, frame, **(base | given))


def test_an_outcome_of_two_public_levels() -> None:
    """C(outcome) is for logistic models: its levels are listed, and rows at others do not count."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=9000)
    yes = x + rng.logistic(size=9000) > 0
    table = {"x": x, "ill": np.where(yes, "YES", "NO").astype(object), "one": yes * 1.0, "two": yes + 1.0}
    base: dict[str, Any] = {"epsilon": 2.0, "delta": 1e-6}
    listed = {"ill": ["NO", "YES"]}
    found = discreet.logistic_regression("C(ill) ~ x", table, levels=listed, rng=Seeded(1), **base)
    assert found.value["x"] == discreet.logistic_regression("one ~ x", table, rng=Seeded(1), **base).value["x"]
    base["rng"] = Seeded(2)
    table["ill"][::3] = "UNKNOWN"
    assert discreet.logistic_regression("C(ill) ~ x", table, levels=listed, **base).value["x"] > 0.5
    for levels in (None, {"ill": ["NO", "YES", "UNKNOWN"]}):
        with pytest.raises(BadInput, match="two levels"):
            discreet.logistic_regression("C(ill) ~ x", table, levels=levels, **base)
    with pytest.raises(BadInput, match="takes numbers"):
        discreet.linear_regression("C(ill) ~ x", table, levels=listed, **base)
    for text in ("ill ~ x", "two ~ x"):  # texts, and a class that is not 0 or 1: never coefficients
        for given in ({}, {"bounds": {"x": (-3, 3)}}, {"method": "descent"}, {"neighbours": "replace"}):
            assert "classes" in str(discreet.logistic_regression(text, table, **(base | given)).refusal)
