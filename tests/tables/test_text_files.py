"""Text files: what is malformed stays where it is."""

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pcsv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import BadInput
from discreet.tables import text_files as lines
from discreet.tables.opening import read
from discreet.tables.wanted import Want

PIECES = st.sampled_from(
    [
        *'abc019.,,,\n\n\n"";\t ',
        "\r\n",
        "\r",
        '"x,y"',
        '"p\nq"',
        '""',
        "1.5,2,3\n",
        "é",
        "\ufeff",
        "\0",
        "\udcff",
        "NA",
        "-",
    ]
)


def text_of(pieces: list[str]) -> bytes:
    return "".join(pieces).encode("utf-8", "surrogateescape")


def cells(text: bytes, folder: Path, names: str = "a,b,c") -> dict[str, list[Any]]:
    file = folder / "a.csv"
    file.write_bytes(names.encode() + b"\n" + text)
    found = read(file).columns([Want(name, "category") for name in names.split(",")])
    return {name: list(column) for name, column in found.items()}


def standard(text: bytes) -> dict[str, list[Any]]:
    """Python's own reader of such files."""
    found: dict[str, list[Any]] = {"a": [], "b": [], "c": []}
    for fields in csv.reader(io.StringIO(text.decode("utf-8", "replace"), newline="")):
        for place, column in enumerate(found.values()):
            column.append(fields[place] or None if len(fields) == 3 else None)
    return found


@pytest.mark.claim("text_files.1")
@pytest.mark.claim("text_files.2")
@settings(max_examples=200)
@given(st.lists(PIECES, max_size=40).map(text_of), st.integers(1, 40))
def test_any_bytes_are_read_as_the_standard_says(
    tmp_path_factory: pytest.TempPathFactory, text: bytes, piece: int
) -> None:
    assert cells(text, tmp_path_factory.getbasetemp()) == standard(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "PIECE", piece)
        assert cells(text, tmp_path_factory.getbasetemp()) == standard(text)


@pytest.mark.claim("text_files.2")
@pytest.mark.parametrize("line", [b"\xef\xbb\xbfx,1,2\n", b'\xef\xbb\xbf"x,1,2\n', b"\xef\xbb\xbf\xef\xbb\xbf,1,2\n"])
def test_a_byte_order_mark_within_the_table_stays_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: bytes
) -> None:
    """Arrow takes one off the beginning of whatever it is given: that would depend on where the file is cut."""
    text = line * 20
    assert cells(text, tmp_path) == standard(text)
    for piece in (len(line) - 1, len(line), 3 * len(line)):
        monkeypatch.setattr(lines, "PIECE", piece)
        assert cells(text, tmp_path) == standard(text)


@pytest.mark.claim("text_files.1")
@settings(max_examples=100)
@given(st.lists(PIECES, max_size=40).map(text_of), st.integers(1, 4))
def test_the_slow_path_gives_the_same(text: bytes, width: int) -> None:
    names = [f"c{place}" for place in range(width)]
    fast = lines.parsed(memoryview(text), names, names, ",")
    slow = lines.slowly(bytes(lines._utf8(memoryview(text))), width, range(width), ",")
    texts = [lines._texts(column, []) for column in slow]
    assert [column.to_pylist() for column in fast.values()] == [column.to_pylist() for column in texts]


@pytest.mark.claim("text_files.1")
def test_a_refusal_of_the_parser_is_not_seen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(*_: Any) -> None:
        raise pa.ArrowInvalid("secret")

    text = b'1,2,3\n4,5\n"6,",7,8\n'
    expected = cells(text, tmp_path)
    monkeypatch.setattr("pyarrow.csv.read_csv", refuse)
    assert cells(text, tmp_path) == expected == {"a": ["1", None, "6,"], "b": ["2", None, "7"], "c": ["3", None, "8"]}


@pytest.mark.claim("text_files.1")
@settings(max_examples=60)
@given(
    st.lists(st.lists(st.text(alphabet=st.characters(exclude_characters='"'), max_size=5), min_size=3, max_size=3)),
    st.data(),
)
def test_a_bad_line_moves_no_other(
    tmp_path_factory: pytest.TempPathFactory, table: list[list[str]], data: st.DataObject
) -> None:
    folder = tmp_path_factory.getbasetemp()
    table = [["1", "2", "3"], *table]
    stream = io.StringIO(newline="")
    place = data.draw(st.integers(0, len(table) - 1))
    bad = data.draw(st.sampled_from(["", "1", "1,2", "1,2,3,4", "é,,,,,,", "\x00", "\ufffd,\ufffd"])) + "\n"
    written = []
    for row in table:
        stream = io.StringIO(newline="")
        csv.writer(stream, lineterminator="\n", quoting=csv.QUOTE_ALL).writerow(row)
        written.append(stream.getvalue())
    before = cells("".join(written).encode("utf-8", "replace"), folder)
    after = cells("".join([*written[:place], bad, *written[place + 1 :]]).encode("utf-8", "replace"), folder)
    for name, column in before.items():
        assert [*column[:place], None, *column[place + 1 :]] == after[name]


@pytest.mark.claim("text_files.2")
@settings(max_examples=60)
@given(
    st.lists(st.lists(st.sampled_from(["1", "x y", "a\nb", 'q"', "", "é", "\r\n,"]), min_size=3, max_size=3)),
    st.integers(1, 40),
)
def test_where_the_file_is_cut_does_not_matter(
    tmp_path_factory: pytest.TempPathFactory, table: list[list[str]], piece: int
) -> None:
    stream = io.StringIO(newline="")
    csv.writer(stream).writerows(table)
    text = stream.getvalue().encode()
    whole = cells(text, tmp_path_factory.getbasetemp())
    assert list(zip(*whole.values(), strict=True)) == [tuple(cell or None for cell in row) for row in table]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "PIECE", piece)
        assert cells(text, tmp_path_factory.getbasetemp()) == whole


@pytest.mark.claim("text_files.2")
@given(
    st.lists(st.sampled_from(["a", '"b"', '"a,\n"', '"a""b"', '""', 'a\n"b"']), min_size=40, max_size=90),
    st.sampled_from(["", "", '"', 'a"b', 'a"']),
    st.integers(0, 90),
    st.sampled_from([64, 128, 2**18]),
)
def test_quotes_are_counted_and_looked_at_one_by_one(fields: list[str], odd: str, where: int, step: int) -> None:
    fields.insert(where, odd)
    text = ",".join(fields)
    letters, strange = text.encode(), False
    counted: list[int] = []
    for place, letter in enumerate(text):
        counted.append((counted[-1] if counted else 0) + (letter == '"'))
        strange |= letter == '"' and counted[-1] % 2 == 1 and place > 0 and text[place - 1] not in ',\r\n"'
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "STEP", step)
        found = lines._within_quotes(np.frombuffer(letters, dtype=np.uint8), b",")
    if strange:
        assert found is None
    else:
        assert found is not None
        assert np.unpackbits(found, bitorder="little")[: len(text)].tolist() == [count % 2 for count in counted]


@pytest.mark.claim("text_files.2")
@pytest.mark.parametrize("place", range(62, 67))
def test_a_quote_within_a_field_is_seen_wherever_a_step_ends(place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "STEP", 64)
    for before, fits in ((b"a", False), (b",", True)):
        text = np.frombuffer(b"a" * (place - 1) + before + b'"b",c\n', dtype=np.uint8)
        assert (lines._within_quotes(text, b",") is not None) == fits


def test_an_open_quote_takes_in_a_bounded_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "PIECE", 50)
    monkeypatch.setattr(lines, "LONGEST", 200)
    found = cells(b'1,2,"3\n' + b"4,5,6\n" * 1000, tmp_path)["a"]
    assert 960 < len(found) < 1000
    assert set(found[1:]) == {"4"}
    stray = cells(b'1,2,3"\n' + b"4,5,6\n" * 1000, tmp_path)["c"]  # a quote within a field is itself
    assert stray == ['3"', *["6"] * 1000]


def test_headers(tmp_path: Path) -> None:
    def names(header: bytes, ending: str = ".csv") -> tuple[str, ...]:
        (tmp_path / f"h{ending}").write_bytes(header)
        return read(tmp_path / f"h{ending}").names

    assert names(b"a, b ,c") == ("a", "b", "c")
    assert names(b',x,"y,z"\r\n1,2,3') == ("unnamed 1", "x", "y,z")
    assert names(b"a;b\n") == ("a", "b")
    assert names(b"a\tb,c\n", ".tsv") == ("a", "b,c")
    assert names(b"a\r1\r2\r") == ("a",)
    assert read(tmp_path / "h.csv").size() == 2
    assert names(b"\xef\xbb\xbfcaf\xe9\n") == ("caf\ufffd",)


@pytest.mark.parametrize("header", [b'a,"b\n1,2\n3,"4"\n', b'a,b"\n1,2\n3,4\n', b'"a\r1\r2\r'])
def test_rows_do_not_become_names(tmp_path: Path, header: bytes) -> None:
    (tmp_path / "h.csv").write_bytes(header)
    with pytest.raises(BadInput, match=r"a quote in the first line of 'h\.csv' is not closed there"):
        read(tmp_path / "h.csv")


def test_one_column_and_line_ends(tmp_path: Path) -> None:
    for end in ("\n", "\r\n", "\r"):
        (tmp_path / "a.csv").write_bytes(end.join(["a", "1", "", "x", "2"]).encode())
        np.testing.assert_array_equal(
            read(tmp_path / "a.csv").columns([Want("a", "number")])["a"], [1, np.nan, np.nan, 2]
        )


@pytest.mark.claim("text_files.1")
def test_people_are_told_apart_however_each_piece_was_parsed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A piece that Arrow's parser refuses comes as another type of texts, beside those that it took."""
    file = tmp_path / "visits.csv"
    file.write_text("id,x\n" + "".join(f"p{row % 7},{row}\n" for row in range(100)))
    taken, pieces = pcsv.read_csv, []

    def refuse(*given: Any) -> Any:
        pieces.append(1)
        if len(pieces) % 2:
            raise pa.ArrowInvalid("secret")
        return taken(*given)

    monkeypatch.setattr(lines, "PIECE", 100)
    monkeypatch.setattr("pyarrow.csv.read_csv", refuse)
    assert read(file).people("id") == 7
    assert len(pieces) > 3


def test_types_are_suggested_by_the_first_rows_for_their_owner(tmp_path: Path) -> None:
    rows = ['3,2.5,yes,2020-01-02,12%,"1,200",Ulm,', ',1,N,2020-01-02T03:04,3%,"3,000.5",7,']
    (tmp_path / "a.csv").write_text("\n".join(["n,x,flag,day,share,price,town,empty", *rows, "1,2,y"]))
    found = read(tmp_path / "a.csv").suggested_types()
    kinds = ("integer", "number", "boolean", "date", "percent", "thousands", "text")
    assert found == dict(zip(("n", "x", "flag", "day", "share", "price", "town"), kinds, strict=True))
    assert read(tmp_path / "a.csv", types={"price": "thousands"}).suggested_types() == found
    assert read({"x": [1.0]}).suggested_types() == {}
    read(tmp_path / "a.csv", types=found)
    (tmp_path / "b.csv").write_text("n,x\n")
    assert read(tmp_path / "b.csv").suggested_types() == {}


def test_written_dates_are_suggested_unless_two_ways_fit(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(
        "a,b,c,d\n1.2.2020,3/4/2020,13/4/2020,4/13/2020\n11.12.2020,5/6/2020,1/1/2020,1/1/2020\n"
    )
    found = read(tmp_path / "a.csv").suggested_types()
    assert found == {"a": "dd.mm.yyyy", "b": "text", "c": "dd/mm/yyyy", "d": "mm/dd/yyyy"}
