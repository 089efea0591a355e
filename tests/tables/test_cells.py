"""What a cell becomes depends on that cell and its declared kind alone."""

import datetime
import math
import warnings
from decimal import Decimal
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.audit.worlds import HOSTILE as WORST
from discreet.errors import BadInput
from discreet.privacy.declaration import Kind
from discreet.subsample.partition import codes as numbered
from discreet.tables import cells
from discreet.tables.opening import read
from discreet.tables.wanted import Want

NUMBERLIKE = st.text(alphabet="0123456789.+-eE \tinfa_x,", max_size=12)
TEXTS = st.one_of(
    NUMBERLIKE,
    st.floats().map(repr),
    st.integers().map(str),
    st.text(max_size=5),
    st.sampled_from(
        ["1e400", "-1e-400", "1" * 400, "0" * 1200, "inf", "NaN", "0x10", "1_000", "1,000", "١", "1\n", ""]
    ),
    st.sampled_from(["true", " YES", "No\t", "FALSE", "1", "0", "1.0", "-0", "2020-01-01", "99999-01-01"]),
)
HOSTILE = st.one_of(
    TEXTS,
    st.none(),
    st.floats(),
    st.booleans(),
    st.integers(-(10**400), 10**400),
    st.binary(max_size=4),
    st.dates(),
    st.datetimes(),
    st.decimals(),
    st.lists(st.integers(), max_size=2),
    st.fixed_dictionaries({"a": st.integers()}),
    st.text(alphabet=st.characters(codec=None), max_size=3),
    st.sampled_from(
        [
            *(pd.NA, pd.NaT, np.float32(1.5), np.int8(3), np.bool_(True), np.datetime64("NaT", "s"), object, 1j, {1}),
            *(
                Decimal("sNaN"),
                Decimal("1e999999"),
                np.datetime64(10**10, "D"),
                np.longdouble("1e4000"),
                float,
                "\ud800",
            ),
        ]
    ),
)
KINDS = st.sampled_from(get_args(Kind))


def same(one: Any, other: Any) -> bool:
    return repr(one) == repr(other)


@pytest.mark.claim("cells.1")
@settings(max_examples=200)
@given(st.lists(TEXTS, max_size=10))
def test_columns_of_texts_are_read_cell_by_cell(texts: list[str]) -> None:
    texts = [text.encode("utf-8", "replace").decode() for text in texts]
    for declared in (pa.string(), pa.large_string()):
        column = cells.plain(pa.array(texts, declared))
        found = cells.numbers(column, "unknown", "a")
        np.testing.assert_array_equal(found, [cells.number(text) for text in texts])
        assert not np.isinf(found).any()
        alone = [cells.numbers(cells.plain(pa.array([text], declared)), "unknown", "a")[0] for text in texts]
        assert np.array(alone).tobytes() == found.tobytes()
        np.testing.assert_array_equal(cells.truths(column, "text", "a"), [cells.truth(text) for text in texts])


@pytest.mark.claim("cells.1")
def test_the_grammar() -> None:
    good = {
        "12.5": 12.5,
        " +1e3\t": 1000.0,
        "-.5": -0.5,
        "5.": 5.0,
        "007": 7.0,
        "1E-2": 0.01,
        "1e-400": 0.0,
        "-0": -0.0,
    }
    for text, number in good.items():
        assert same(cells.number(text), number), text
    for text in (
        "",
        " ",
        "inf",
        "-Infinity",
        "nan",
        "1e400",
        "0x1p3",
        "1_0",
        "1,5",
        "1 2",
        "٣",
        "1e",
        "e1",
        ".",
        "+-1",
    ):
        assert math.isnan(cells.number(text)), text
    assert [cells.truth(text) for text in ("yes", " No ", "TRUE", "0", "2.5", "false")] == [1, 0, 1, 0, 1, 0]
    assert math.isnan(cells.truth("maybe"))


@pytest.mark.claim("cells.1")
@settings(max_examples=200)
@given(st.lists(HOSTILE, min_size=1, max_size=6), KINDS)
def test_no_cell_raises_nor_changes_another(entries: list[Any], kind: Kind) -> None:
    wants = [("a", "category"), ("a", "boolean"), ("a", "number")]
    for name, wanted in wants[: {"date": 1, "text": 2, "category": 2}.get(kind, 3)]:
        with warnings.catch_warnings(), np.errstate(all="raise"):
            warnings.simplefilter("error")
            together = read({name: entries}, types={name: kind}).columns([Want(name, wanted)])[name]  # type: ignore[arg-type]
            framed = read(pd.DataFrame({name: pd.Series(entries, dtype=object)}), types={name: kind})
            again = framed.columns([Want(name, wanted)])[name]  # type: ignore[arg-type]
        assert [repr(entry) for entry in together] == [repr(entry) for entry in again]
        for place, entry in enumerate(entries):
            alone = read({name: [entry]}, types={name: kind}).columns([Want(name, wanted)])[name]  # type: ignore[arg-type]
            assert same(next(iter(alone)), list(together)[place])


NEW_YEAR = datetime.datetime.fromisoformat("2020-01-02")
ARROW = [
    (pa.decimal128(10, 2), [Decimal("1.50"), None], [1.5, math.nan], [Decimal("1.50"), None]),
    (pa.float16(), [1.5, None, math.nan], [1.5, math.nan, math.nan], [1.5, None, None]),
    (pa.uint64(), [2**64 - 1, None], [2.0**64, math.nan], [2**64 - 1, None]),
    (pa.dictionary(pa.int8(), pa.int64()), [3, None, 3], [3, math.nan, 3], [3, None, 3]),
    (pa.dictionary(pa.int8(), pa.string()), ["x", None], None, ["x", None]),
    (pa.string_view(), ["x", None, ""], None, ["x", None, ""]),
    (pa.list_(pa.int64()), [[1], None], [math.nan, math.nan], [[1], None]),
    (pa.null(), [None, None], [math.nan, math.nan], [None, None]),
    (pa.binary(), [b"1", None], [math.nan, math.nan], [b"1", None]),
    (pa.bool_(), [True, None, False], [1, math.nan, 0], [True, None, False]),
    (pa.timestamp("us"), [NEW_YEAR, None], None, [NEW_YEAR, None]),
    (pa.timestamp("ns"), [NEW_YEAR, None], None, [NEW_YEAR, None]),
    (pa.date32(), [10**7, None, 0], None, ["29349-01-26", None, datetime.date(1970, 1, 1)]),
    (pa.date64(), [datetime.date(1970, 1, 2), None], None, [datetime.date(1970, 1, 2), None]),
]


@pytest.mark.parametrize(("declared", "entries", "floats", "keys"), ARROW, ids=[str(row[0]) for row in ARROW])
def test_declared_types(declared: Any, entries: list[Any], floats: list[float] | None, keys: list[Any]) -> None:
    table = read(pa.table({"a": pa.array(entries, declared)}))
    assert list(table.columns([Want("a", "category")])["a"]) == keys
    if floats is None:
        with pytest.raises(BadInput, match=r"declared as (date|text|category)"):
            table.columns([Want("a", "number")])
    else:
        np.testing.assert_array_equal(table.columns([Want("a", "number")])["a"], floats)


def test_pieces_of_encoded_columns_are_joined() -> None:
    parts = [pa.array(["x", "y", None]).dictionary_encode(), pa.array(["z", "y"]).dictionary_encode()]
    runs = pa.RunEndEncodedArray.from_arrays([2, 5], pa.array([7, None]))
    table = read(pa.table({"a": pa.chunked_array(parts), "b": runs}))
    assert list(table.columns([Want("a", "category")])["a"]) == ["x", "y", None, "z", "y"]
    np.testing.assert_array_equal(table.columns([Want("b", "number")], owner="a")["b"], [7, 7, math.nan, math.nan])


def test_texts_that_are_none(tmp_path: Any) -> None:
    offsets = pa.py_buffer(np.array([0, 1, 2], dtype=np.int32).tobytes())
    spoiled = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"\xffa")])
    table = read(pa.table({"a": spoiled, "b": [1, 2]}))
    assert list(table.columns([Want("a", "category")])["a"]) == [None, "a"]
    np.testing.assert_array_equal(table.columns([Want("b", "number")], owner="a")["b"], [2])


def test_declared_kinds_are_heeded() -> None:
    table = read({"a": ["1", "02", "x", "2.5", None]}, types={"a": "integer"})
    assert list(table.columns([Want("a", "category")])["a"]) == [1, 2, None, 2.5, None]
    table = read({"a": ["2020-01-01", "2020-01-01T10:00:00", "soon", 3]}, types={"a": "date"})
    days = [datetime.date(2020, 1, 1), datetime.datetime.fromisoformat("2020-01-01T10:00:00"), None, None]
    assert list(table.columns([Want("a", "category")])["a"]) == days
    table = read(pa.table({"a": [1, None, 3]}), types={"a": "text"})
    assert list(table.columns([Want("a", "category")])["a"]) == ["1", None, "3"]
    texts = read(pa.table({"a": ["1", "x"]}))
    with pytest.raises(BadInput, match="declared as text"):
        texts.columns([Want("a", "number")])
    declared = read(pa.table({"a": ["1", "x"]}), types={"a": "number"})
    np.testing.assert_array_equal(declared.columns([Want("a", "number")])["a"], [1, math.nan])


def zeros(dtype: Any) -> Any:
    return np.array([0.0, -0.0, 1.5, math.nan, 0.0, 2.0], dtype=dtype)


IDS: list[Any] = [
    *(zeros(dtype) for dtype in ("f2", "f4", "f8", ">f4", ">f8", np.longdouble)),
    *(pd.Series(zeros(dtype)) for dtype in ("f4", "f8")),
    *(pd.Series(pd.array(zeros("f8"), dtype=dtype)) for dtype in ("Float32", "Float64", "double[pyarrow]", "category")),
    *(pa.array(zeros(dtype)) for dtype in ("f2", "f4", "f8")),
    pa.array(zeros("f8"), from_pandas=True),
    pa.chunked_array([zeros("f8")[:1], zeros("f8")[1:]]),
    pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3, 0, 4]), pa.array([0.0, -0.0, 1.5, math.nan, 2.0])),
    pa.RunEndEncodedArray.from_arrays([1, 2, 3, 4, 5, 6], pa.array(zeros("f8"))),
    [0.0, -0.0, 1.5, None, 0, 2.0],
    [Decimal(0), Decimal("-0"), Decimal("1.5"), Decimal("nan"), Decimal("0.00"), Decimal(2)],
    [(0.0,), (-0.0,), (1.5,), None, (0,), (2,)],
    [[0.0], [-0.0], [1.5], None, [0], [2]],
]


@pytest.mark.claim("cells.1")
@pytest.mark.parametrize("ids", IDS, ids=lambda ids: str(getattr(ids, "dtype", getattr(ids, "type", "list"))))
def test_both_zeros_are_one_person_and_a_row_without_an_id_is_nobodys(ids: Any) -> None:
    table = read(pa.table({"id": ids}) if isinstance(ids, pa.Array | pa.ChunkedArray) else {"id": ids})
    assert table.people("id") == 3
    assert list(numbered(table.columns([], owner="id")[""])) == [0, 0, 1, 0, 2]


WRITTEN = [
    *(
        "12.5%",
        " 3 % ",
        "%",
        "1e2%",
        "5",
        "12%%",
        None,
        "1,234",
        "1,23",
        "-1,234,567.5",
        "1,234%",
        "",
        "12 %\n",
        7,
        7.5,
        b"5%",
    ),
    *WORST,
]


@pytest.mark.claim("cells.1")
@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("percent", [12.5, 3, math.nan, 100, 5, math.nan, math.nan, math.nan, math.nan, math.nan, math.nan]),
        (
            "thousands",
            [math.nan, math.nan, math.nan, math.nan, 5, math.nan, math.nan, 1234, math.nan, -1234567.5, math.nan],
        ),
    ],
)
def test_how_numbers_are_written_is_declared(tmp_path: Path, form: str, expected: list[float]) -> None:
    """The same in objects, in Arrow's texts, and cell by cell."""
    together = read({"a": WRITTEN}, types={"a": form}).columns([Want("a", "number")])["a"]
    np.testing.assert_array_equal(np.asarray(together)[: len(expected)], expected)
    alone = [read({"a": [cell]}, types={"a": form}).columns([Want("a", "number")])["a"] for cell in WRITTEN]
    np.testing.assert_array_equal(together, np.concatenate(alone))
    texts = [cell for cell in WRITTEN if isinstance(cell, str)]
    arrow = read(pa.table({"a": texts}), types={"a": form}).columns([Want("a", "number")])["a"]
    listed = read({"a": texts}, types={"a": form}).columns([Want("a", "number")])["a"]
    np.testing.assert_array_equal(arrow, listed)
    (tmp_path / "a.csv").write_text('a\n"1,234"\n12.5%\n')
    seen = read(tmp_path / "a.csv", types={"a": form}).columns([Want("a", "number")])["a"]
    np.testing.assert_array_equal(seen, [math.nan, 12.5] if form == "percent" else [1234, math.nan])


def test_short_words_are_truths_only_where_they_are_declared() -> None:
    words = ["Y", "n", "T", "f", "yes", "No", "TRUE", "maybe"]
    told = read({"a": words}, types={"a": "boolean"}).columns([Want("a", "boolean")])["a"]
    np.testing.assert_array_equal(told, [1, 0, 1, 0, 1, 0, 1, math.nan])
    guessed = read({"a": words}).columns([Want("a", "boolean")])["a"]
    np.testing.assert_array_equal(guessed, [math.nan, math.nan, math.nan, math.nan, 1, 0, 1, math.nan])


@pytest.mark.claim("cells.1")
@pytest.mark.parametrize("kind", get_args(Kind))
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", ">f8", "i1", "i8", "u8", "bool"])
def test_an_array_of_numbers_has_the_keys_of_its_cells(kind: Kind, dtype: str) -> None:
    with np.errstate(all="ignore"):
        column = np.array([1.5, math.nan, 0.0, math.inf, -math.inf, 1e300, 3, 3.25, 1.5]).astype(dtype)
    codes, values = cells.keys(column, kind)
    for code, cell in zip(codes, column, strict=True):
        one = cells.value(cell.item(), kind)
        assert type(values[code]) is type(one)
        assert repr(values[code] or None) == repr(one or None)
    assert values[-1] is None


SAME: dict[str, Any] = {
    "floats": pa.array([0.0, -0.0, math.nan, 1.0, None, 1e300, math.inf, -math.inf, 5e-324]),
    "wide": pa.array([2**53, 2**53 + 1, 2**62 + 1, None]),
    "texts": pa.array(["", "nan", "NA", " a", "a", "1", "1.0", None]),
    "moments": pa.array([1, 2, 10**9, None], pa.timestamp("ns")),
    "zeros": np.array([0.0, -0.0, math.nan]),
    "objects": np.array(["", None, 1, 1.0, True, math.nan, "1"], dtype=object),
}


@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize("kind", get_args(Kind))
def test_people_by_name_are_the_people_who_are_counted(name: str, kind: Kind) -> None:
    """Else a person could be in two blocks, or two people one, where their number is public."""
    column = SAME[name]
    pieces = [column[:1], column[1:]]
    for parts in ([column], pieces):
        codes, people = cells.owners(parts, kind)
        names, there = cells.owner_names(parts, kind)
        assert there.tolist() == (codes >= 0).tolist()
        assert numbered(names[there]).tolist() == codes[there].tolist()
        assert len(set(codes[there].tolist())) == people


DATED: list[Any] = [
    "31.12.2019",
    "1.2.2020",
    " 01.02.2020\t",
    "2020-02-01",
    "30.02.2020",
    "12/25/2020",
    "3/4/2020",
    "1.2.20",
]
DATED += ["", None, "١.٢.٢٠٢٠", "1.2.2020 5", 5, *WORST]


@pytest.mark.claim("cells.1")
@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("dd.mm.yyyy", ["2019-12-31", "2020-02-01", "2020-02-01", "2020-02-01", None, None, None]),
        ("dd/mm/yyyy", [None, None, None, "2020-02-01", None, None, "2020-04-03"]),
        ("mm/dd/yyyy", [None, None, None, "2020-02-01", None, "2020-12-25", "2020-03-04"]),
    ],
)
def test_how_dates_are_written_is_declared(tmp_path: Path, form: str, expected: list[str | None]) -> None:
    """The same in objects, in Arrow's texts, in files, and cell by cell."""
    wanted = [
        math.nan if day is None else (datetime.date.fromisoformat(day) - datetime.date(1970, 1, 1)).days
        for day in expected
    ]

    def days(source: Any) -> Any:
        return read(source, types={"a": form}).columns([Want("a", "date")])["a"]

    together = days({"a": DATED})
    np.testing.assert_array_equal(np.asarray(together)[: len(wanted)], wanted)
    np.testing.assert_array_equal(together, np.concatenate([days({"a": [cell]}) for cell in DATED]))
    texts = [cell for cell in DATED if isinstance(cell, str)]
    np.testing.assert_array_equal(days(pa.table({"a": texts})), days({"a": texts}))
    (tmp_path / "a.csv").write_text("a\n" + "\n".join(DATED[:7]) + "\n")
    np.testing.assert_array_equal(days(tmp_path / "a.csv"), wanted)
    assert read({"a": DATED}, types={"a": form}).kinds["a"] == "date"


def test_equal_texts_are_read_once_and_nothing_else_shares_a_code() -> None:
    """What is equal to another, but of another type, is read by itself."""
    column = np.array(["a", "1", 1, 1.0, True, "a", None, np.str_("a"), "1", None, math.nan], dtype=object)
    codes, distinct = cells._distinct(column)
    assert [str(distinct[code]) for code in codes] == [str(cell) for cell in column]
    assert codes.tolist() == [0, 1, 2, 3, 4, 0, 5, 6, 1, 7, 8]
    for kind in get_args(Kind):
        where, values = cells.keys(column, kind)
        assert [str(values[code]) for code in where] == [str(cells.value(cell, kind)) for cell in column]
