"""Every source gives the same columns of the same table, and refuses in our words."""

import datetime
import gzip
import math
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from discreet.errors import BadInput
from discreet.subsample.partition import codes as numbered
from discreet.tables.databases import kind_in_sql
from discreet.tables.opening import read
from discreet.tables.table import Table
from discreet.tables.wanted import Want
from discreet.tables.where import Where

pl = pytest.importorskip("polars")
duckdb = pytest.importorskip("duckdb")

DAYS = [datetime.date(2020, 1, 1), datetime.date(1999, 12, 31), None, datetime.date(2020, 1, 1), None]
TABLE = pa.table(
    {
        "x": pa.array([1.5, -2.25, None, 1e300, 0.1]),
        "n": pa.array([3, None, -7, 2**53 + 1, 0], pa.int64()),
        "ok": pa.array([True, False, None, True, False]),
        "town": pa.array(["Ulm", "Bonn", None, 'Bad "X", y', "Ulm"]),
        "day": pa.array(DAYS, pa.date32()),
        "id": pa.array(["p", "q", "p", None, "p"]),
    }
)
TYPES = {"x": "number", "n": "integer", "ok": "boolean", "town": "text", "day": "date", "id": "text"}
HEAD = "x,n,ok,town,day,id\n"
LINES = [
    "1.5,3,true,Ulm,2020-01-01,p\n",
    "-2.25,,false,Bonn,1999-12-31,q\n",
    ",-7,,,,p\n",
    '1e300,9007199254740993,yes,"Bad ""X"", y",2020-01-01,\n',
    "0.1,0,no,Ulm,,p\n",
]
CREATE = "CREATE TABLE people (x DOUBLE PRECISION, n BIGINT, ok BOOLEAN, town TEXT, day DATE, id VARCHAR)"


def values() -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in TABLE.to_pylist()]


def csv(folder: Path, _: Any) -> Table:
    (folder / "people.csv").write_text(HEAD + "".join(LINES))
    return read(folder / "people.csv", types=TYPES)


def tsv(folder: Path, _: Any) -> Table:
    frame = TABLE.to_pandas(types_mapper={pa.int64(): pd.Int64Dtype()}.get)
    frame.to_csv(folder / "people.tsv", sep="\t", index=False)
    return read(str(folder / "people.tsv"), types=TYPES)


def semicolons(folder: Path, _: Any) -> Table:
    text = (HEAD + "".join(LINES)).replace(",", ";").replace('"X"";', '"X"",').replace("\n", "\r\n")
    (folder / "people.csv").write_bytes(b"\xef\xbb\xbf" + text.encode())
    return read(str(folder / "people.csv"), types=TYPES)


def zipped(folder: Path, _: Any) -> Table:
    with gzip.open(folder / "people.csv.gz", "wt") as file:
        file.write(HEAD + "".join(LINES).rstrip("\n"))
    return read(folder / "people.csv.gz", types=TYPES)


def many(folder: Path, _: Any) -> Table:
    (folder / "people-1.csv").write_text(HEAD + "".join(LINES[:2]))
    (folder / "people-2.csv").write_text(HEAD + "".join(LINES[2:]))
    return read(str(folder / "people-*.csv"), types=TYPES)


def parquet(folder: Path, _: Any) -> Table:
    pq.write_table(TABLE, folder / "people.parquet", row_group_size=2)
    return read(folder / "people.parquet")


def folder_of_parquet(folder: Path, _: Any) -> Table:
    (folder / "parts").mkdir()
    encoded = TABLE.slice(2).set_column(3, "town", TABLE.slice(2)["town"].dictionary_encode())
    pq.write_table(TABLE.slice(0, 2), folder / "parts" / "a.parquet")
    pq.write_table(encoded, folder / "parts" / "b.parquet")
    (folder / "parts" / "_SUCCESS").write_text("")
    return read(folder / "parts")


def feather(folder: Path, _: Any) -> Table:
    pa.feather.write_feather(TABLE, folder / "people.feather")
    return read(folder / "people.feather")


def arrow(_: Path, __: Any) -> Table:
    return read(pa.concat_tables([TABLE.slice(0, 3), TABLE.slice(3)]))


def batch(_: Path, __: Any) -> Table:
    return read(TABLE.combine_chunks().to_batches()[0])


def dataset(folder: Path, _: Any) -> Table:
    pq.write_table(TABLE, folder / "people.parquet")
    return read(ds.dataset(folder / "people.parquet"))


def pandas(_: Path, __: Any) -> Table:
    frame = TABLE.to_pandas(types_mapper={pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}.get)
    declared = {"x": "number", "town": "text", "day": "date", "id": "text"}
    return read(frame.set_index(np.array([7, 7, 7, 7, 7])), types=declared)


def polars(_: Path, __: Any) -> Table:
    return read(pl.from_arrow(TABLE), types=TYPES)


def mapping(_: Path, __: Any) -> Table:
    return read(TABLE.to_pydict(), types=TYPES)


def sqlite(folder: Path, _: Any) -> Table:
    with closing(sqlite3.connect(folder / "people.db")) as connection, connection:
        connection.execute(CREATE)
        rows = [(*row[:4], row[4] and row[4].isoformat(), row[5]) for row in values()]
        connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?, ?)", rows)
    connection.close()
    return read(f"sqlite:///{folder / 'people.db'}", table="people")


def duck(folder: Path, _: Any) -> Table:
    with duckdb.connect(str(folder / "people.duckdb")) as connection:
        connection.execute(CREATE)
        connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?, ?)", values())
    return read(f"duckdb:///{folder / 'people.duckdb'}", table="people")


def postgresql(_: Path, request: pytest.FixtureRequest) -> Table:
    psycopg = pytest.importorskip("psycopg")
    pytest.importorskip("adbc_driver_postgresql")
    address = request.getfixturevalue("server")()
    with psycopg.connect(address) as connection, connection.cursor() as cursor:
        cursor.execute(CREATE.replace("x DOUBLE PRECISION", "x NUMERIC"))
        rows = [(row[0] if row[0] is None else repr(row[0]), *row[1:]) for row in values()]
        cursor.executemany("INSERT INTO people VALUES (%s, %s, %s, %s, %s, %s)", rows)
    return read(address, table="people")


SOURCES: list[Callable[[Path, Any], Table]] = [
    *(csv, tsv, semicolons, zipped, many, parquet, folder_of_parquet, feather, arrow, batch, dataset, pandas, polars),
    *(mapping, sqlite, duck, postgresql),
]


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.__name__)
def test_every_source_gives_the_same_columns(
    source: Callable[[Path, Any], Table], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    table = source(tmp_path, request)
    assert table.names == tuple(TABLE.column_names)
    assert table.size() == 5
    assert dict(table.kinds) == TYPES
    assert str(tmp_path) not in table.description
    assert str(tmp_path) not in repr(table)
    found = table.columns([Want("x", "number"), Want("n", "number"), Want("ok", "boolean")])
    np.testing.assert_array_equal(found["x"], [1.5, -2.25, math.nan, 1e300, 0.1])
    np.testing.assert_array_equal(found["n"], [3, math.nan, -7, float(2**53 + 1), 0])
    np.testing.assert_array_equal(found["ok"], [1, 0, math.nan, 1, 0])
    keys = table.columns([Want(name, "category") for name in ("town", "n", "ok", "day", "id")])
    assert [list(keys[name]) for name in keys] == [TABLE[name].to_pylist() for name in keys]
    alone = table.columns([Want("x", "number", missing="drop")], where=Where.parse("town != 'Bonn' and n >= 0"))["x"]
    np.testing.assert_array_equal(alone, [1.5, 1e300, 0.1])
    days = table.columns([Want("n", "number", missing=9)], where=Where.parse("day == '2020-01-01' or town is missing"))
    np.testing.assert_array_equal(days["n"], [3, -7, float(2**53 + 1)])
    each = table.columns([Want("x", "number", rule="sum", cap=2), Want("town", "category", rule="last")], person="id")
    np.testing.assert_array_equal(each["x"], [1.5, -2.25])
    assert list(each["town"]) == ["Ulm", "Bonn"]
    assert table.people("id") == 2
    np.testing.assert_array_equal(numbered(table.columns([], owner="id")[""]), [0, 1, 0, 0])
    owned = table.columns([Want("n", "number")], owner="id")
    assert list(owned) == ["n", ""]
    np.testing.assert_array_equal(owned["n"], [3, math.nan, -7, 0])


def test_names_of_columns_do_not_steer_a_terminal() -> None:
    assert repr(read({"odd\x1b[31m": [1.0]})) == "<columns in memory: odd\ufffd[31m>"


def refused(*arguments: Any, says: str, **options: Any) -> str:
    with pytest.raises(BadInput, match=says) as caught:
        read(*arguments, **options)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    return str(caught.value)


def test_what_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    (tmp_path / "b.csv").write_text("b,a\n1,2\n")
    (tmp_path / "c.xlsx").write_text("")
    (tmp_path / "d.csv").write_text("a,a\n1,2\n")
    (tmp_path / "e.csv").write_text("\n1,2\n")
    (tmp_path / "f.csv").write_bytes("a,b\n1,2\n".encode("utf-16"))
    (tmp_path / "g.parquet").write_text("secret")
    (tmp_path / "h.feather").write_text("secret")
    (tmp_path / "i.db").write_text("secret")
    (tmp_path / "j.csv.gz").write_text("secret")
    (tmp_path / "m.csv").write_text("a" * 200_000 + ",b\n")
    (tmp_path / "n.csv").write_text("a," * 2**20)
    (tmp_path / "none").mkdir()
    pq.write_table(TABLE, tmp_path / "k.parquet")
    pq.write_table(TABLE.select(["x"]), tmp_path / "l.parquet")
    for arguments, says in (
        ((tmp_path / "missing.csv",), "no file 'missing.csv'"),
        ((str(tmp_path / "[ab].csv"),), "differ"),
        ((str(tmp_path / "[kl].parquet"),), "differ"),
        ((str(tmp_path / "z*.csv"),), "no file"),
        ((tmp_path / "none",), "no file"),
        ((tmp_path,), "unknown ending"),
        ((str(tmp_path / "[ak].*"),), "several formats"),
        ((tmp_path / "c.xlsx",), "unknown ending"),
        ((tmp_path / "d.csv",), "two columns called 'a'"),
        ((tmp_path / "e.csv",), "empty line"),
        ((tmp_path / "f.csv",), "UTF-16"),
        ((tmp_path / "m.csv",), "no list of column names"),
        ((tmp_path / "n.csv",), "does not end"),
        ((tmp_path / "g.parquet",), "not a whole Parquet"),
        ((tmp_path / "h.feather",), "not a whole Arrow"),
        ((tmp_path / "j.csv.gz",), "cannot be read"),
        ((pd.DataFrame([[1, 2]], columns=["a", "a"]),), "two columns called 'a'"),
        (([1, 2],), "type list"),
        (({"a": [1], "b": [1, 2]},), "equally long"),
        (({"": [1]},), "without a name"),
        (({},), "no columns"),
        (("mysql://host/people",), "mysql"),
        (("sqlite:///people.db",), "table="),
    ):
        assert "secret" not in refused(*arguments, says=says)
    refused(tmp_path / "a.csv", table="people", says="leave it out")
    refused(tmp_path / "a.csv", types={"z": "number"}, says="declares 'z'")
    refused(tmp_path / "a.csv", types={"a": "float"}, says="one of number")
    refused("sqlite://people.db", table="t", says="names no file")
    refused(f"sqlite:///{tmp_path / 'nowhere.db'}", table="t", says="no file 'nowhere.db'")
    refused(f"sqlite:///{tmp_path / 'i.db'}", table="t", says="does not answer")
    assert "hush" not in refused("postgresql://me:hush@127.0.0.1:1/db", table="t", says="cannot be opened")
    monkeypatch.setitem(sys.modules, "duckdb", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    refused(f"duckdb:///{tmp_path / 'a.csv'}", table="t", says=r"discreet\[tables\]")
    refused("postgresql://127.0.0.1:1/db", table="t", says=r"discreet\[postgres\]")


def test_what_computes_its_rows_is_refused(tmp_path: Path) -> None:
    """A query, a filter, a parser or a conversion may fail by one value, after the budget was spent."""
    pq.write_table(TABLE, tmp_path / "a.parquet")
    (tmp_path / "b.csv").write_text("z\n1\nabc\n")
    narrow = pa.schema([("n", pa.int8())])
    whole = ds.dataset(tmp_path / "a.parquet")
    refused(pl.LazyFrame({"x": ["abc"]}).select(pl.col("x").cast(pl.Int64)), says="frame.collect")
    refused(pl.scan_parquet(tmp_path / "a.parquet"), says="the path of the file")
    for computed in (
        whole.filter(ds.field("town").cast(pa.int64()) > 3),
        ds.dataset(tmp_path / "b.csv", format="csv"),
        ds.dataset(tmp_path / "a.parquet", schema=narrow),
        ds.dataset([whole, ds.dataset(tmp_path / "b.csv", format="csv")]),
        ds.dataset(pa.RecordBatchReader.from_batches(TABLE.schema, TABLE.to_batches())),
    ):
        refused(computed, says="dataset.to_table")
    assert read(ds.dataset([whole, whole])).size() == 10


def test_feather_files_of_texts_in_other_encodings(tmp_path: Path) -> None:
    encoded = TABLE.set_column(3, "town", TABLE["town"].dictionary_encode())
    for first, second in ((TABLE, encoded), (encoded, TABLE)):
        pa.feather.write_feather(first, tmp_path / "a.feather")
        pa.feather.write_feather(second, tmp_path / "b.feather")
        found = read(str(tmp_path / "*.feather")).columns([Want("town", "category")])["town"]
        assert list(found) == TABLE["town"].to_pylist() * 2


def test_which_sources_have_an_order(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Rows of files and frames have places; a database may move a row that is updated, a dataset is cut by values."""
    unordered = (sqlite, duck, postgresql, dataset)
    for place, source in enumerate(SOURCES):
        folder = tmp_path / str(place)
        folder.mkdir()
        assert source(folder, request).ordered == (source not in unordered)


def test_names_are_looked_up_and_quoted(tmp_path: Path) -> None:
    file = tmp_path / "odd.db"
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute('CREATE TABLE "a""b; DROP TABLE c" ("x"" y" REAL)')
        connection.execute('INSERT INTO "a""b; DROP TABLE c" VALUES (2.5)')
        connection.execute("CREATE TABLE c (x REAL)")
    connection.close()
    table = read(f"sqlite:///{file}", table='a"b; DROP TABLE c')
    np.testing.assert_array_equal(table.columns([Want('x" y', "number")])['x" y'], [2.5])
    for name in ("c; DROP TABLE c", "c'--", 'c"', "sqlite_master", "\0"):
        refused(f"sqlite:///{file}", table=name, says="table")
    assert read(f"sqlite:///{file}", table="c").size() == 0


def test_a_table_of_another_schema(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "a.duckdb")) as connection:
        for schema in ("one", "two"):
            connection.execute(f"CREATE SCHEMA {schema}")
            connection.execute(f"CREATE TABLE {schema}.people AS SELECT 1.0::DOUBLE AS {schema}")
    address = f"duckdb:///{tmp_path / 'a.duckdb'}"
    assert read(address, table="two.people").names == ("two",)
    refused(address, table="people", says="several schemas")
    refused(address, table="three.people", says="no table")


def test_a_file_that_is_cut_short_is_told_without_its_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.tables.text_files.HEADER", 1000)
    packed = gzip.compress(b"secret\n" + b"".join(b"%d\n" % (k * 7919) for k in range(20_000)))
    (tmp_path / "a.csv.gz").write_bytes(packed[:-1000])
    table = read(tmp_path / "a.csv.gz")
    with pytest.raises(BadInput, match="cut short") as caught:
        table.columns([Want("secret", "number")])
    assert caught.value.__context__ is None


def test_the_schema_alone_is_read(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "a.parquet")
    table = read(tmp_path / "a.parquet")
    (tmp_path / "a.parquet").unlink()
    assert table.size() == 5
    with pytest.raises(BadInput, match="cannot be read"):
        table.columns([Want("x", "number")])


def test_kinds_of_databases() -> None:
    kinds = {
        "integer": ["INTEGER", "bigint", "HUGEINT", "UNSIGNED BIG INT"],
        "number": ["REAL", "double precision", "DECIMAL(10,2)", "numeric", "FLOAT4"],
        "text": ["TEXT", "character varying", "VARCHAR(20)", "ENUM('INT')"],
        "boolean": ["BOOLEAN", "bool"],
        "date": ["DATE", "timestamp with time zone", "DATETIME"],
        "unknown": ["", "BLOB", "INTEGER[]", "interval", "STRUCT(a INTEGER)", "USER-DEFINED", "point"],
    }
    for kind, names in kinds.items():
        assert {kind_in_sql(name) for name in names} == {kind}
