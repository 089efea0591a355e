"""The closed set of values: numbers by name, words, frames and stored forms."""

import json
import pickle
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import BadInput
from discreet.privacy.values import (
    ClassCoefficients,
    ClassCounts,
    Clusters,
    Coefficients,
    Comparison,
    Components,
    Counts,
    CrossCounts,
    Density,
    Distribution,
    Matrix,
    MultivariateNormal,
    Scalar,
    Shapes,
    Shares,
    StepCurve,
    SyntheticTable,
    TestResult,
    Value,
    Vector,
    label,
    like,
    recall,
    stored,
    value_of,
)


def poisson(rate: float) -> Any:
    from scipy import stats

    return stats.poisson(rate)


VALUES: list[Value] = [
    Scalar(2.5),
    Vector(np.array([1.0, 2.0]), ("a", "b"), one_scale=True),
    Matrix(np.array([[4.0, 1.0], [1.0, 9.0]]), ("a", "b")),
    Counts(("a", None, (0.0, 1.0), True), np.array([3, 4, 5, 6]), other=1, threshold=2),
    Shares(("a", "b"), np.array([0.25, 0.5]), 0.25),
    Coefficients(np.array([2.0, -1.0]), 0.5, ("age", "dose"), "logit"),
    Clusters(np.array([[0.0, 1.0], [9.0, 8.0]]), np.array([70.0, 30.0]), np.array([0.1, 0.2]), None, ("a", "b")),
    Density(np.array([0.0, 1.0, 3.0]), np.array([0.4, 0.3]), 0.0, 0.1, np.array([0.0, 3.0]), np.array([0.0, 0.9])),
    Distribution("poisson", {"rate": 2.0}, poisson),
    MultivariateNormal(np.array([1.0, 2.0]), np.array([[1.0, 0.5], [0.5, 2.0]]), ("a", "b")),
    TestResult(1.5, 0.03),
    StepCurve(np.array([1.0, 2.0, 4.0]), np.array([0.9, 0.5, 0.25]), falls=True),
    CrossCounts(("sex", "ill"), (("F", None), (True,)), np.array([3, 3, 4, 4, 7, 7]), 2),
    Shapes(("no", True), ("age", "sex"), ((50.0,), ("F", None)), (True, False), np.linspace(-1, 1, 6), 0.5),
    ClassCounts(("no", True), ("age", "sex"), ((50.0,), ("F", None)), (True, False), np.arange(14), 1.5),
    ClassCoefficients(np.array([[1.0], [3.0]]), np.array([0.5, -2.0]), ("age",), ("low", "mid", "top")),
    Components(np.array([0.7]), 0.7, np.array([[0.6, 0.8]]), np.zeros(2), np.ones(2), ("age", "bmi")),
    SyntheticTable(("sex", "ill"), (("F",), (True,)), ((0, 1),), np.array([6, 5, 1, 4.5, 1.5, 4, 1, 0.5, 0.5])),
    Comparison(np.array([0.5, 1.25, 2.5, 2.0]), ("new", "old"), 0.003, 0.0004),
]


def test_there_is_one_of_each() -> None:
    assert {type(value) for value in VALUES} == set(get_args(Value))


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_every_value_has_names_words_a_frame_and_a_stored_form(value: Value) -> None:
    pytest.importorskip("pandas")
    assert value_of(value) is value
    assert len(value.labels) == len(value.numbers)
    assert value.describe().endswith(".")
    assert len(value.to_frame()) >= 1
    text = json.dumps(stored(value), allow_nan=False)
    back = value_of(recall(json.loads(text)))
    assert type(back) is type(value)
    assert json.dumps(stored(back)) == text
    assert (back.labels, back.numbers, back.rest) == (value.labels, value.numbers, value.rest)
    assert str(back) == str(value)
    assert value_of(pickle.loads(pickle.dumps(value))).numbers == value.numbers


def test_answers_of_python_and_numpy_are_values() -> None:
    assert value_of(np.int64(3)) == Scalar(3)
    assert value_of(True) == Scalar(True)
    assert value_of(np.float32(0.5)) == Scalar(0.5)
    assert value_of("yes").numbers == []
    assert isinstance(value_of([1, 2]), Vector)
    assert value_of({"a": 1.0, "b": 2}).labels == ["a", "b"]
    assert isinstance(value_of(np.ones((2, 3))), Matrix)
    assert value_of(np.ones((1, 2, 2))).labels[-1] == "[0, 1, 1]"
    assert isinstance(value_of(object()), Scalar)
    assert isinstance(value_of([object()]), Scalar)


def test_arrays_with_names_are_arrays_to_numpy() -> None:
    vector, matrix = VALUES[1], VALUES[2]
    assert isinstance(vector, Vector)
    assert isinstance(matrix, Matrix)
    assert (vector + vector).tolist() == [2.0, 4.0]
    assert (matrix @ vector).tolist() == [6.0, 19.0]
    assert np.linalg.norm(vector) == pytest.approx(5**0.5)
    assert (vector["b"], vector[0], len(vector)) == (2.0, 1.0, 2)
    assert (matrix["a", "b"], matrix["b"].tolist(), matrix[0, 1], matrix.T["b", "a"]) == (1.0, [1.0, 9.0], 1.0, 1.0)
    assert matrix.to_frame().loc["a", "b"] == 1.0
    with pytest.raises(BadInput, match="there is no 'c'"):
        vector["c"]
    assert Vector(np.ones(2)).named(["x", "y"]).labels == ["x", "y"]
    assert vector.named(["x", "y"]) is vector
    assert Matrix(np.ones((2, 3))).labels[-1] == "column 2 and place 3"


def test_counts_are_a_mapping() -> None:
    tally = VALUES[3]
    assert isinstance(tally, Counts)
    assert dict(tally) == {"a": 3, None: 4, (0.0, 1.0): 5, True: 6}
    assert (tally[np.str_("a")], tally[(0.0, 1.0)], "a" in tally, "z" in tally) == (3, 5, True, False)
    assert (tally.get(None, 0), tally.get("z", 0), 1 in tally) == (4, 0, False)
    assert tally.rest == [("in none of these", 1)]
    with pytest.raises(BadInput, match="not among"):
        tally[1]  # which is not True


def test_errors_are_read_in_the_order_of_the_numbers() -> None:
    vector = VALUES[1]
    assert like(vector, 0.5) == [0.5, 0.5]
    assert like(vector, np.array([3.0, 4.0])) == [3.0, 4.0]
    assert like(vector, {"a": 3.0, "b": 4.0}) == [3.0, 4.0]
    assert like(vector, [1.0, 2.0, 3.0]) == like(vector, None) == [None, None]


def test_labels_tell_bins_apart() -> None:
    assert label([100000.5, 100001.5]) == "100,000.5 to 100,001.5"
    assert label(["F", None]) == "F, missing"
    assert label("a\x1b[31m") == "'a\\x1b[31m'"


def test_a_distribution_from_a_file_keeps_its_curve() -> None:
    back = recall(stored(VALUES[8]))
    x, y = back.curve
    assert y.max() == pytest.approx(poisson(2.0).pmf(2))
    assert x[1] - x[0] == 1.0
    with pytest.raises(BadInput, match="read from a file"):
        back.distribution()


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(anything)
def test_whatever_is_stored_is_a_value_or_refused(record: Any) -> None:
    try:
        value = value_of(recall(record))
    except BadInput:
        return
    assert str(value) is not None
    assert isinstance(value, Value)


@given(anything, st.sampled_from(VALUES[1:]), st.integers(0, 10))
def test_whatever_stands_in_a_field_is_read_or_refused(thing: Any, value: Value, place: int) -> None:
    record = stored(value)
    names = sorted(set(record) - {"kind"})
    record[names[place % len(names)]] = thing
    try:
        found = value_of(recall(record))
    except BadInput:
        return
    assert len(found.labels) == len(found.numbers)
    str(found)


def test_fields_that_are_not_there_or_too_many_are_refused() -> None:
    for record in ({"kind": "test", "p_value": 0.1}, {"kind": "test", "p_value": 0.1, "statistic": 1.0, "more": 2}):
        with pytest.raises(BadInput, match="fields statistic, p_value"):
            recall(record)
    with pytest.raises(BadInput, match="type set"):
        recall({1})
