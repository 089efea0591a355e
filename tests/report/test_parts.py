from typing import Any, get_args

import pytest
from tests.report.made import entry, records

from discreet.report.parts import Shape, columns, label, parts, shape_of

SHAPES: dict[str, Shape] = {
    "count": "number",
    "mean of a table": "vector",
    "quantiles": "quantiles",
    "covariance": "matrix",
    "gaussian": "normal",
    "gaussian of a table": "normal table",
    "open histogram": "tally",
    "density of categories": "tally",
    "density": "density",
    "linear regression": "coefficients",
    "family": "named",
    "likelihood": "number",
    "kmeans": "clusters",
    "test_any": "test",
    "vote": "text",
    "refused": "nothing",
}


@pytest.mark.parametrize("name", SHAPES)
def test_each_verb_has_its_shape(name: str) -> None:
    if name == "likelihood":  # one parameter or several: named either way
        assert shape_of(records()[name]) in {"named", "number"}
        return
    assert shape_of(records()[name]) == SHAPES[name]


@pytest.mark.parametrize("name", sorted(records()))
def test_no_answer_is_of_another_shape(name: str) -> None:
    assert shape_of(records()[name]) in set(get_args(Shape)) - {"other"}


def found(name: str, **asked: Any) -> dict[str, Any]:
    return {part.name: part for part in parts(entry(None, **asked), records()[name])}


def test_parts_have_the_numbers_of_the_record() -> None:
    record = records()["linear regression"]
    line = found("linear regression")
    assert list(line) == ["intercept", "age", "bmi"]
    assert line["age"].value == record["value"]["coef"][0]
    assert line["bmi"].high == record["interval"]["high"]["coef"][1]
    assert line["intercept"].low == record["interval"]["low"]["intercept"]
    assert line["intercept"].aside
    square = found("covariance", columns=["a", "b", "c"])
    assert len(square) == 9
    assert square["a and c"].low == records()["covariance"]["interval"]["low"][0][2]
    tally = found("histogram of edges")
    assert tally["10 to 20"].value == records()["histogram of edges"]["value"]["counts"][1]
    assert tally["in none of these"].aside
    assert not tally["in none of these"].barred
    assert found("quantiles")["50%"].value == records()["quantiles"]["value"][1]
    assert found("open histogram")["missing"].barred
    assert found("density of categories")["Some college"].barred
    assert found("family")["shape"].high == records()["family"]["interval"]["high"]["shape"]
    assert found("kmeans", columns=["a", "b"])["centre 3, b"].value == records()["kmeans"]["value"]["centres"][2][1]
    assert found("kmeans")["size of 1"].value == records()["kmeans"]["value"]["sizes"][0]
    assert found("test_mean")["p-value"].value == records()["test_mean"]["value"]["p_value"]
    assert found("refused") == found("vote") == {}
    density = records()["density"]["value"]
    assert len(found("density")) == len(density["heights"]) + 2


def test_columns_are_named_where_they_are_known() -> None:
    assert columns({"columns": ["a", "b"]}, 2) == ["a", "b"]
    assert columns({"columns": ["a"]}, 2) == ["column 1", "column 2"]


def test_labels_tell_bins_apart() -> None:
    assert label([100000.5, 100001.5]) == "100,000.5 to 100,001.5"
    assert label({"sex": "F", "age": [0, 10]}) == "sex F, age 0 to 10"
    assert label(["F", None]) == "F, missing"
