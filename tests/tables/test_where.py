"""The language of filters: understood as said, or refused with its place."""

import datetime
import math
import re
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import BadInput
from discreet.tables.opening import read
from discreet.tables.wanted import Want
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
        ("ok", [0, 3, 5]),
        ("not ok", [1, 2, 4]),
        ("ok and age > 10 or `body mass` == 2", [1, 3, 5]),
        ("(ok or town is missing) and not age == 10", [2, 3, 5]),
        ("age is number and ok", [0, 3, 5]),
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
    assert kept(LOOSE, "x") == [0, 1, 3, 4]


def test_columns_are_named_once() -> None:
    assert Where.parse("a == 1 and (`b ``c` is missing or not a in ['x'])").columns == ("a", "b `c")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", 1),
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
        ("age", "has 'age' alone, but it is declared as number"),
        ("ok and not town", "has 'town' alone, but it is declared as text"),
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


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("(a := 1) == 1", "':='"),
        ("lambda: 1", "':'"),
        ("lambda x: x", "'x:'"),
        ("f'{a}' == 'x'", "\"'{a}'\""),
        ("a == f'x'", "\"'x'\""),
        ("a.__class__ == 1", "'.__class__'"),
        ("open('x') == 1", "\"('x')\""),
        ("a(b)", "'(b)'"),
        ("a[0] == 1", "'[0]'"),
        ("a in [b for b in c]", "'for'"),
        ("a in [x] if b else c", "'if'"),
        ("a in (1, 2)", "'(1,'"),
        ("a in [[1]]", "'[1]]'"),
        ("a == {1}", "'{1}'"),
        ("a == 1, b", "'a'"),
        ("*a", "'*a'"),
        ("await a", "'a'"),
        ("a == b == c", "'=='"),
        ("a < 3 < 4", "'<'"),
        ("18 <= age", "'18'"),
        ("a == 1_000", "'_000'"),
        ("a == 0x10", "'x10'"),
        ("a == 1j", "'j'"),
        ("a == 'x' 'y'", "\"'y'\""),
        ("a == " + "9" * 9000, "'99999999999999999999'"),
        ("a == 1e400", "'1e400'"),
        ("a == None", "'None'"),
        ("a == not b", "'not'"),
        ("a is not number", "'number'"),
        ("a == 1 # b", "'#'"),
        ("a in [true and 1]", "'true'"),
        ("a in [1 == 2]", "'1'"),
        ("a == (1 and 2)", "'1'"),
        ("a is (missing and b)", "'missing'"),
        ("a is (number or b)", "'number'"),
        ("(a and b) == true", "'(a'"),
        ("(a == 1) == true", "'(a'"),
        ("a \\\n== 1", r"'\\\\'"),
        ("a \uff1d\uff1d 1", "'\uff1d\uff1d'"),  # full-width equals signs
        ("a \u2265 1", "'\u2265'"),
        ("a == 1 \uff41nd b", "'\uff41nd'"),  # a full-width "and"
        ("a == \u22121", "'\u22121'"),  # a minus sign that is not a hyphen
        ("a == \u2018x\u2019", "'\u2018x\u2019'"),
        ("a == \u0663", "'\u0663'"),  # an Arabic three
        ("a == 1\0", r"'\\x00'"),
    ],
)
def test_what_is_no_filter_is_refused_with_what_was_seen(text: str, seen: str) -> None:
    with pytest.raises(BadInput, match=f"needed here, not {re.escape(seen) if chr(92) not in seen else seen}"):
        Where.parse(text)


@pytest.mark.parametrize(
    "unit",
    [
        "a ",
        "not ",
        "a not ",
        "(",
        "[",
        "(a ",
        "a(",
        "a[",
        "(a, ",
        "a == not ",
        "not (",
        "a == ",
        "a in [",
        "a is ",
        "1 ",
    ],
)
def test_hostile_length_and_depth_are_refused(unit: str) -> None:
    for text in (unit * (LONGEST // len(unit)), unit * 40 + ")" * 40, "b == 1 and " + unit * 900):
        with pytest.raises(BadInput) as caught:
            Where.parse(text)
        assert caught.value.__context__ is None


def test_names_are_taken_as_written() -> None:
    """Python would make one of a ligature and its letters; keywords of Python are ordinary names here."""
    assert Where.parse("\ufb01n == 1 and fin == 1").columns == ("\ufb01n", "fin")
    assert Where.parse("class == 1 or lambda in [2] and None and `and`").columns == ("class", "lambda", "None", "and")


NAMES = ["age", "town", "ok", "day", "and", "or", "not", "in", "is", "missing", "true"]
WORDS = st.sampled_from([*NAMES, *"()[],<`'\\", "\0", "==", "!=", ">=", "1", "-2.5", "'x'"])


@pytest.mark.claim("where.1")
@settings(max_examples=400)
@given(st.one_of(st.lists(WORDS, max_size=14).map(" ".join), st.text(max_size=30)))
def test_any_text_is_kept_or_refused(text: str) -> None:
    try:
        rows = kept(PEOPLE, text)
    except BadInput as error:
        assert error.__context__ is None  # noqa: PT017
    else:
        assert set(rows) <= set(range(6))


@pytest.mark.claim("where.1")
@settings(max_examples=60)
@given(
    st.lists(st.one_of(st.none(), st.floats(), st.integers(), st.text(max_size=3), st.binary(max_size=2)), min_size=1),
    st.sampled_from(["x > 1", "x != 'a'", "x == true", "x is missing", "not x in [1, 2]", "x not in ['a', '1']"]),
)
def test_each_row_is_kept_for_itself(cells: list[Any], text: str) -> None:
    together = kept(read({"place": np.arange(len(cells)), "x": cells}), text)
    for place, cell in enumerate(cells):
        assert (place in together) == bool(kept(read({"place": [0], "x": [cell]}), text))
