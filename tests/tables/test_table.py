"""Columns as they are wanted, one row for each person, and streams of them."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import BadInput
from discreet.subsample.partition import codes as numbered
from discreet.tables import frames, table
from discreet.tables import parquet_files as files
from discreet.tables import text_files as lines
from discreet.tables.opening import read
from discreet.tables.per_person import RULES, Rules, one_each, turns
from discreet.tables.streams import Stream
from discreet.tables.table import Table
from discreet.tables.wanted import Want
from discreet.tables.where import Where

nan = math.nan
VISITS = {
    "id": ["a", "b", "a", None, "a", "b", "c"],
    "x": [1.0, nan, 3.0, 100.0, -2.0, 5.0, nan],
    "ok": [True, False, None, True, False, None, None],
    "town": ["U", None, "V", "W", "X", "Y", None],
}


@pytest.mark.claim("per_person.1")
@pytest.mark.parametrize(
    ("rule", "cap", "expected"),
    [
        ("first", None, [1, nan, nan]),
        ("last", None, [-2, 5, nan]),
        ("last", 2, [3, 5, nan]),
        ("mean", None, [2 / 3, 5, nan]),
        ("mean", 2, [2, 5, nan]),
        ("sum", 2, [4, 5, nan]),
        ("sum", 1, [1, nan, nan]),
        ("count", 2, [2, 2, 1]),
        ("min", None, [-2, 5, nan]),
        ("max", None, [3, 5, nan]),
        ("any", None, [1, 1, nan]),
        ("all", None, [1, 1, nan]),
    ],
)
def test_rules(rule: Any, cap: int | None, expected: list[float]) -> None:
    found = read(VISITS).columns([Want("x", "number", rule=rule, cap=cap)], person="id")["x"]
    np.testing.assert_array_equal(found, expected)


def test_truths_and_keys_of_people() -> None:
    people = read(VISITS).columns(
        [Want("ok", "boolean", rule="all"), Want("town", "category", rule="last"), Want("x", "number", missing=0.5)],
        person="id",
    )
    np.testing.assert_array_equal(people["ok"], [0, 0, nan])
    assert list(people["town"]) == ["X", "Y", None]
    np.testing.assert_array_equal(people["x"], [1, 0.5, 0.5])
    dropped = read(VISITS).columns([Want("x", "number", missing="drop"), Want("town", "category")], person="id")
    np.testing.assert_array_equal(dropped["x"], [1])  # the first rows of b and c have none
    assert list(dropped["town"]) == ["U"]
    filtered = read(VISITS).columns([Want("x", "number")], person="id", where=Where.parse("town != 'U'"))
    np.testing.assert_array_equal(filtered["x"], [])  # of first rows
    stand_in = read(VISITS).columns([Want("town", "category", missing="none")])["town"]
    assert list(stand_in) == ["U", "none", "V", "W", "X", "Y", "none"]


TESTED = {
    "id": ["a", "a", "b", "b", "c", "c", "d"],
    "result": ["negative", "positive", "positive", "negative", "negative", None, "positive"],
    "hours": [2.0, 6.0, 1.0, 3.0, 5.0, nan, nan],
}


@pytest.mark.claim("table.1")
@pytest.mark.parametrize(
    ("rules", "condition", "kept"),
    [
        ({}, "result == 'positive'", "bd"),  # the first row
        ({"": "last"}, "result == 'positive'", "ad"),
        ({"result": "any"}, "result == 'positive'", "abd"),
        ({"result": "all"}, "result == 'positive'", "d"),
        ({"": "last"}, "result is missing", "c"),
        ({}, "hours >= 4", "ac"),  # the mean
        ({"": "last"}, "hours >= 4", "a"),
        ({"": "max"}, "hours >= 4 and result != 'positive'", "ac"),
        ({"": "any"}, "hours >= 4 or result == 'positive'", "abcd"),
        ({}, "not hours >= 4", "bd"),
        ({"": "sum"}, "hours > 5", "a"),
    ],
)
def test_a_condition_is_about_the_row_of_a_person(rules: Any, condition: str, kept: str) -> None:
    """The same for a filter and for a condition that stands for a column."""
    held, how = read(TESTED), Rules(rules, 2)
    found = held.columns([Want("id", "category")], where=Where.parse(condition), person="id", rules=how)
    assert list(found["id"]) == list(kept)
    truths = held.columns([Want(condition, "where"), Want("id", "category")], person="id", rules=how)
    assert [who for who, true in zip("abcd", truths[condition], strict=True) if true] == list(kept)


def test_numbers_of_a_person_are_missing_if_all_are() -> None:
    held = read(TESTED, types={"hours": "number"})
    for condition, kept in {"hours is missing": "d", "hours is not missing": "abc"}.items():
        found = held.columns([Want("id", "category")], where=Where.parse(condition), person="id")
        assert list(found["id"]) == list(kept)


@pytest.mark.parametrize(
    "ids",
    [
        [1, 2, 1, None, 1],
        [1.0, 2.0, 1, None, 1],
        [0.0, 5.5, -0.0, nan, 0],
        ["1", "2", "1", None, "1"],
        [1, "1", 1.0, None, 1],
        [True, 1, True, None, True],
        [(1, "a"), (1, "b"), (1.0, "a"), None, (1, "a")],
    ],
    ids=str,
)
def test_ids_of_any_kind(ids: list[Any]) -> None:
    held = read({"id": ids, "x": range(5)})
    assert held.people("id") == 2
    assert list(numbered(held.columns([], owner="id")[""])) == [0, 1, 0, 0]
    assert list(held.columns([Want("x", "number", rule="last")], person="id")["x"]) == [4, 1]


def test_texts_that_are_declared_whole_are_one_person() -> None:
    held = read({"id": ["01", "1", "2", "x"]}, types={"id": "integer"})
    assert list(numbered(held.columns([], owner="id")[""])) == [0, 0, 1]
    odd = read(pa.table({"id": [2, 3, 0]}), types={"id": "boolean"})
    assert list(numbered(odd.columns([], owner="id")[""])) == [0, 0, 1]


NUMBERS = st.one_of(st.none(), st.floats(), st.sampled_from([1e16, 1.0, -1e16, 1e-300, 0.1, 0.2]))
ROWS = st.lists(st.tuples(NUMBERS, st.booleans()), min_size=1, max_size=4)


@pytest.mark.claim("per_person.1")
@pytest.mark.claim("table.1")
@settings(max_examples=120)
@given(st.lists(ROWS, min_size=1, max_size=5), ROWS, st.data())
def test_a_persons_row_is_of_its_own_rows_bit_for_bit(
    people: list[list[Any]], other: list[Any], data: st.DataObject
) -> None:
    """Persons' rows are shuffled into each other; a neighbour has other rows for one person."""
    turns_of = data.draw(st.permutations([who for who, visits in enumerate(people) for _ in visits]))
    changed = data.draw(st.integers(0, len(people) - 1))
    wants = [
        *(Want(f"x{rule}", "number", rule=rule, cap=3) for rule in RULES),
        *(Want(f"k{rule}", "category", rule=rule, cap=3) for rule in ("first", "last", "count")),
    ]

    def answer(visits_of: list[list[Any]], order: list[int]) -> dict[int, bytes]:
        waiting = [list(visits) for visits in visits_of]
        taken = [(who, *waiting[who].pop(0)) for who in order]
        seen = list(dict.fromkeys(order))
        named = {want.name: [row[1] for row in taken] for want in wants}
        held = read({"id": [f"p{row[0]}" for row in taken], "keep": [row[2] for row in taken], **named})
        found = held.columns(wants, person="id")
        assert [len(column) for column in found.values()] == [len(seen)] * len(wants)
        return {
            who: b"".join(
                np.asarray(column[place]).tobytes() if column.dtype != object else repr(column[place]).encode()  # type: ignore[union-attr, index]
                for column in found.values()
            )
            for place, who in enumerate(seen)
        }

    before = answer(people, turns_of)
    for who, visits in enumerate(people):
        assert answer([visits], [0] * len(visits))[0] == before[who]
    order = [who for who in turns_of if who != changed]
    place = data.draw(st.integers(0, len(order)))
    after = answer(
        [other if who == changed else visits for who, visits in enumerate(people)],
        [*order[:place], *[changed] * len(other), *order[place:]],
    )
    assert {who for who in before if before[who] != after[who]} <= {changed}


@pytest.mark.claim("table.1")
@settings(max_examples=60)
@given(st.lists(st.tuples(NUMBERS, st.text(max_size=2)), min_size=1, max_size=8), NUMBERS, st.data())
def test_one_cell_changes_one_row(cells: list[tuple[Any, str]], other: Any, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(cells) - 1))

    def answer(numbers: list[Any]) -> list[Any]:
        held = read({"x": numbers, "k": [key for _, key in cells]})
        found = held.columns([Want("x", "number", missing=7), Want("k", "category")])
        return [(np.float64(number).tobytes(), key) for number, key in zip(found["x"], found["k"], strict=True)]

    before = answer([number for number, _ in cells])
    after = answer([other if row == place else number for row, (number, _) in enumerate(cells)])
    assert [row for row, (one, two) in enumerate(zip(before, after, strict=True)) if one != two] in ([], [place])


def long_tables(folder: Path) -> list[Table]:
    numbers = [None if k % 7 == 0 else k * 0.5 for k in range(1000)]
    whole = pa.table({"x": numbers, "k": [k % 3 for k in range(1000)]})
    (folder / "a.csv").write_text(
        "x,k\n" + "".join(f"{'' if x is None else x},{k % 3}\n" for k, x in enumerate(numbers))
    )
    pq.write_table(whole, folder / "a.parquet", row_group_size=90)
    pq.write_table(whole, folder / "b.parquet")
    return [
        *(read(folder / "a.csv"), read(folder / "a.parquet"), read(folder / "b.parquet"), read(whole)),
        read({"x": numbers, "k": whole["k"]}),
    ]


@pytest.mark.claim("table.2")
@pytest.mark.parametrize("cache", [0, 250, 10**6])
def test_streams_are_arrays_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: int) -> None:
    monkeypatch.setattr(files, "LONG", 500)
    for module, name in ((files, "ROWS"), (frames, "ROWS"), (lines, "PIECE")):
        monkeypatch.setattr(module, name, 90)
    questions: list[dict[str, Any]] = [
        {"wants": [Want("x", "number")]},
        {"wants": [Want("x", "number", missing="drop")]},
        {"wants": [Want("x", "boolean", missing=1)], "where": Where.parse("k != 1")},
    ]
    for held in long_tables(tmp_path):
        for question in questions:
            array = held.columns(**question)["x"]
            assert isinstance(array, np.ndarray)
            with monkeypatch.context() as patch:
                patch.setattr(table, "HELD", 100)
                patch.setattr(table, "CACHE", cache)
                stream = held.columns(**question)["x"]
                assert isinstance(stream, Stream)
                assert len(stream) == len(array)
                behind, ahead = [next(one := iter(stream))], list(stream)  # one begins, another overtakes it
                np.testing.assert_array_equal(np.concatenate([*behind, *one]), array)
                np.testing.assert_array_equal(np.concatenate(ahead), array)
                for _ in range(3):
                    pieces = list(stream)
                    assert len(pieces) > 3
                    np.testing.assert_array_equal(np.concatenate(pieces), array)
                one, two = iter(stream), iter(stream)  # both at once
                for first, second in zip(one, two, strict=True):
                    np.testing.assert_array_equal(first, second)
                again: Any = stream._pieces
                assert sum(len(piece) for piece in again.held) <= cache + 100
                assert all(piece.flags.writeable for piece in stream)
                several = held.columns([Want("x", "number"), Want("k", "number")])
                assert all(isinstance(column, np.ndarray) for column in several.values())


@pytest.mark.claim("table.2")
def test_later_passes_read_only_what_is_not_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of lines; Parquet is read again, which takes no longer."""
    monkeypatch.setattr(table, "HELD", 100)
    monkeypatch.setattr(table, "CACHE", 450)
    monkeypatch.setattr(lines, "PIECE", 90)
    kept = []
    for held in long_tables(tmp_path)[:2]:
        stream: Any = held.columns([Want("x", "number")])["x"]
        first = list(stream)
        second = list(stream)
        kept.append(sum(len(piece) for piece in stream._pieces.held))
        assert np.shares_memory(first[0], second[0]) == (kept[-1] > 0)
    assert 0 < kept[0] <= 450
    assert kept[1] == 0


@pytest.mark.claim("table.2")
def test_a_part_of_a_stream_is_read_from_its_own_row_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "HELD", 100)
    numbers = np.arange(1000.0)
    pq.write_table(pa.table({"x": numbers}), tmp_path / "x.parquet", row_group_size=64)
    stream: Any = read(tmp_path / "x.parquet").columns([Want("x", "number")])["x"]
    groups, group = [], files._group
    monkeypatch.setattr(files, "_group", lambda *given: (groups.append(given[2]), group(*given))[1])  # type: ignore[func-returns-value]
    for start, stop in ((0, 1), (60, 70), (128, 192), (999, 1000), (5, 5)):
        groups.clear()
        assert stream.part(start, stop).tolist() == numbers[start:stop].tolist()
        assert groups == [
            place for place in range(16) if start < 64 * place + 64 and stop > 64 * place and start < stop
        ]
    assert read(tmp_path / "x.parquet").columns([Want("x", "number")], where=Where.parse("x > 5"))["x"].part is None  # type: ignore[union-attr]


@pytest.mark.claim("table.2")
def test_a_file_that_changes_keeps_its_length(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "HELD", 100)
    monkeypatch.setattr(table, "CACHE", 0)
    stream = long_tables(tmp_path)[0].columns([Want("x", "number")])["x"]
    for lines_now in (10, 5000):
        (tmp_path / "a.csv").write_text("x,k\n" + "1,1\n" * lines_now)
        found = np.concatenate(list(stream))
        assert len(found) == 1000
        assert np.isnan(found).sum() == max(0, 1000 - lines_now)


def test_what_is_refused_before_a_row_is_read() -> None:
    held = read(VISITS)
    for make, says in (
        (lambda: Want("x", "float"), "give number, boolean, date or category"),  # type: ignore[arg-type]
        (lambda: Want("x", "number", rule="median"), "one of first"),  # type: ignore[arg-type]
        (lambda: Want("x", "category", rule="mean"), "for numbers"),
        (lambda: Want("x", "number", rule="sum"), "needs max_rows="),
        (lambda: Want("x", "number", cap=0), "at least 1"),
        (lambda: Want("x", "number", cap=True), "at least 1"),
        (lambda: Want("x", "number", missing="zero"), "finite number"),
        (lambda: Want("x", "number", missing=nan), "finite number"),
        (lambda: Want("x", "category", missing=("a", "b")), "a text or a number"),
        (lambda: held.columns([Want("y", "number")]), "no column 'y'"),
        (lambda: held.columns([]), "no column is wanted"),
        (lambda: held.columns([Want("x", "number"), Want("x", "category")]), "twice"),
        (lambda: held.columns([Want("x", "number")], person="id", owner="id"), "give one"),
        (lambda: held.columns([Want("x", "number")], person="who"), "no column 'who'"),
        (lambda: held.people("who"), "no column 'who'"),
        (lambda: held.check([Want("x", "number")], owner="who"), "no column 'who'"),
        (lambda: held.check([Want("x", "number")], where=Where.parse("y > 3")), "'y'"),
    ):
        with pytest.raises(BadInput, match=says):
            make()


def test_empty_tables(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,x\n")
    for held in (
        read(tmp_path / "a.csv"),
        read({"id": [], "x": []}),
        read(pa.table({"id": pa.array([], pa.string()), "x": []})),
    ):
        assert held.size() == held.people("id") == 0
        assert len(held.columns([Want("x", "number")])["x"]) == 0
        found = held.columns([Want("x", "number", rule="mean"), Want("id", "category")], person="id")
        assert [len(column) for column in found.values()] == [0, 0]


def test_turns() -> None:
    codes = np.array([0, 1, 0, 0, 2, 1])
    assert list(turns(codes, 3)) == [0, 0, 1, 2, 0, 1]
    capped = one_each(np.arange(6.0), codes, 3, rule="sum", turn=turns(codes, 3), cap=2)
    assert list(capped) == [2, 6, 4]


def test_pieces_of_different_make_are_one_column(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrow's parser refuses one piece, objects are mixed in another: ids and cells do not tell."""
    monkeypatch.setattr(frames, "ROWS", 2)
    held = read({"id": ["a", "b", "a", 3, b"x", "b"], "x": range(6)})
    assert list(numbered(held.columns([], owner="id")[""])) == [0, 1, 0, 2, 3, 1]
    (tmp_path / "a.csv").write_text("id,x\n" + "a,1\nb,2\n" * 10)
    monkeypatch.setattr(lines, "PIECE", 30)
    parser, calls = pa.csv.read_csv, iter(range(100))

    def moody(*given: Any) -> Any:
        if next(calls) % 2:
            raise pa.ArrowInvalid("no")
        return parser(*given)

    monkeypatch.setattr("pyarrow.csv.read_csv", moody)
    assert list(numbered(read(tmp_path / "a.csv").columns([], owner="id")[""])) == [0, 1] * 10


def test_a_file_that_is_read_is_free_for_nobody() -> None:
    """Threads read row groups of one file: none is given a file that another still reads."""
    free: list[Any] = []

    class File:
        def read_row_group(self, group: int, **_: Any) -> Any:
            assert self not in free
            return pa.table({"x": [group]})

    free.append(File())
    found = [files._group(Path("none"), None, group, ["x"], free)["x"].to_pylist() for group in (3, 4)]
    assert (found, len(free)) == ([[3], [4]], 1)
