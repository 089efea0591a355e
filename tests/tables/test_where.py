"""The language of filters: understood as said, or refused with its place."""

import datetime
import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import BadInput
from discreet.tables.opening import read
from discreet.tables.table import Want
from discreet.tables.where import DEEPEST, LONGEST, Where

PEOPLE = read(
    pa.table(
        {
            "place": pa.array(range(6)),
            "age": pa.array([10.0, 20.0, None, 40.0, math.nan, math.inf]),
            "town": pa.array(["Ulm", "Bonn", None, "it's", "", "Ulm"]),
            "ok": pa.array([True, False, None, True, False, True]),
            "day": pa.array([datetime.date(2024, 5, 1), None, None, None, None, datetime.date(2024, 5, 2)]),
            "body mass": pa.array([1, 2, 3, 4, 5, 6]),
        }
    )
)
LOOSE = read({"place": range(6), "x": [1, "2", None, "yes", True, [1]]})


def kept(table: Any, text: str) -> list[int]:
    return [int(place) for place in table.columns([Want("place", "number")], where=Where.parse(text))["place"]]


@pytest.mark.claim("where.1")
@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("age > 10", [1, 3, 5]),
        ("age>=10 and age<=2e1", [0, 1]),
        ("age != 10", [1, 3, 5]),
        ("not age == 10", [1, 2, 3, 4, 5]),
        ("age in [10, 40.0]", [0, 3]),
        ("age not in [10, 40]", [1, 5]),
        ("age is missing", [2, 4]),
        ("age is not missing", [0, 1, 3, 5]),
        ("town == 'Ulm'", [0, 5]),
        ("town != 'Ulm'", [1, 3, 4]),
        ("town == 'it''s' or town == \"\"", [3, 4]),
        ("town in ['Ulm', \"Bonn\"]", [0, 1, 5]),
        ("town not in ['Ulm']", [1, 3, 4]),
        ("town is missing", [2]),
        ("ok == true", [0, 3, 5]),
        ("ok != true", [1, 4]),
        ("ok in [false]", [1, 4]),
        ("ok == 1", [0, 3, 5]),
        ("day == '2024-05-01'", [0]),
        ("`body mass` < 3", [0, 1]),
        ("(age > 10 or town == 'Ulm') and not (ok == false or `body mass` >= 6)", [0, 3]),
        ("age > 10 or age < 15 and town == 'none'", [1, 3, 5]),
        ("  age\n>\t-1e300 ", [0, 1, 3, 5]),
    ],
)
def test_what_it_keeps(text: str, rows: list[int]) -> None:
    assert kept(PEOPLE, text) == rows


@pytest.mark.claim("where.1")
def test_columns_of_unknown_kind() -> None:
    assert kept(LOOSE, "x >= 1") == [0, 1, 4]
    assert kept(LOOSE, "x == '2'") == [1]
    assert kept(LOOSE, "x == true") == [0, 1, 3, 4]
    assert kept(LOOSE, "x is missing") == [2]
    assert kept(LOOSE, "x != 'yes'") == [0, 1, 4, 5]


def test_columns_are_named_once() -> None:
    assert Where.parse("a == 1 and (`b ``c` is missing or not a in ['x'])").columns == ("a", "b `c")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", 1),
        ("age", 4),
        ("age >", 6),
        ("age > 3 4", 9),
        ("age > 'x'", 5),
        ("age == b", 8),
        ("age = 3", 5),
        ("3 < age", 1),
        ("age in 3", 8),
        ("age in [3, 'x']", 9),
        ("age in []", 9),
        ("age is 3", 8),
        ("age not 3", 9),
        ("(age > 3", 9),
        ("age > 3)", 8),
        ("and", 1),
        ("age > 1e999", 7),
        ("ok < true", 4),
        ("'x' == 'x'", 1),
        ("a == 'x", 6),
        ("__import__('os')", 11),
        ("a == 1; b", 7),
        ("a.b == 1", 2),
    ],
)
def test_errors_name_the_place(text: str, place: int) -> None:
    with pytest.raises(BadInput, match=f"at character {place}:") as caught:
        Where.parse(text)
    lines = str(caught.value).splitlines()
    assert lines[2].index("^") == 4 + place - 1


def test_what_the_table_cannot_fulfil() -> None:
    for text, says in (
        ("height > 3", "names the column 'height'"),
        ("age == '3'", "leave out the quotes"),
        ("town > 3", "put it in quotes"),
        ("day == true", "declared as date"),
    ):
        with pytest.raises(BadInput, match=says):
            kept(PEOPLE, text)
    with pytest.raises(BadInput, match="type int"):
        Where.parse(3)  # type: ignore[arg-type]


def test_limits() -> None:
    with pytest.raises(BadInput, match="characters"):
        Where.parse("a == 1 " + " " * LONGEST)
    with pytest.raises(BadInput, match="within each other"):
        Where.parse("(" * (DEEPEST + 1))
    with pytest.raises(BadInput, match="within each other"):
        Where.parse("not " * DEEPEST + "a == 1")
    assert Where.parse(" and ".join(["a == 1"] * 900)).columns == ("a",)


NAMES = ["age", "town", "ok", "day", "and", "or", "not", "in", "is", "missing", "true"]
WORDS = st.sampled_from([*NAMES, *"()[],<`'\\", "\0", "==", "!=", ">=", "1", "-2.5", "'x'"])


@pytest.mark.claim("where.1")
@settings(max_examples=400, deadline=None)
@given(st.one_of(st.lists(WORDS, max_size=14).map(" ".join), st.text(max_size=30)))
def test_any_text_is_kept_or_refused(text: str) -> None:
    try:
        rows = kept(PEOPLE, text)
    except BadInput as error:
        assert error.__context__ is None  # noqa: PT017
    else:
        assert set(rows) <= set(range(6))


@pytest.mark.claim("where.1")
@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.one_of(st.none(), st.floats(), st.integers(), st.text(max_size=3), st.binary(max_size=2)), min_size=1),
    st.sampled_from(["x > 1", "x != 'a'", "x == true", "x is missing", "not x in [1, 2]", "x not in ['a', '1']"]),
)
def test_each_row_is_kept_for_itself(cells: list[Any], text: str) -> None:
    together = kept(read({"place": np.arange(len(cells)), "x": cells}), text)
    for place, cell in enumerate(cells):
        assert (place in together) == bool(kept(read({"place": [0], "x": [cell]}), text))
