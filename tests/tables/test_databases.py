"""Databases: no value of a table decides whether it can be read, and nothing but the table is."""

import math
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.errors import BadInput
from discreet.tables.backends import Duck
from discreet.tables.opening import read
from discreet.tables.table import Table
from discreet.tables.wanted import Want

duckdb = pytest.importorskip("duckdb")


def duck(folder: Path, *statements: str) -> str:
    with duckdb.connect(str(folder / "a.duckdb")) as connection:
        for statement in statements:
            connection.execute(statement)
    return f"duckdb:///{folder / 'a.duckdb'}"


def sqlite(folder: Path, *statements: str) -> str:
    with closing(sqlite3.connect(folder / "a.db")) as connection, connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()
    return f"sqlite:///{folder / 'a.db'}"


def postgres(server: Any, *statements: str) -> str:
    psycopg = pytest.importorskip("psycopg")
    pytest.importorskip("adbc_driver_postgresql")
    address: str = server()
    with psycopg.connect(address) as connection, connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
    return address


def every(table: Table) -> dict[str, list[Any]]:
    """All columns as keys, and none of them raises as numbers or truth values either."""
    for name in table.names:
        if table.kinds[name] not in ("text", "date"):
            table.columns([Want(name, "number")])
    return {
        name: list(column) for name, column in table.columns([Want(name, "category") for name in table.names]).items()
    }


def refuses(address: str, table: str) -> None:
    with pytest.raises(BadInput, match="computed or fetched") as caught:
        read(address, table=table)
    assert caught.value.__context__ is None


@pytest.mark.claim("databases.1")
def test_views_are_refused_by_every_database(tmp_path: Path, server: Any) -> None:
    """A view that casts a text fails by one value, after the budget was spent."""
    view = "CREATE VIEW v AS SELECT CAST(x AS INTEGER) AS n FROM t"
    for address in (
        duck(tmp_path, "CREATE TABLE t (x VARCHAR)", "INSERT INTO t VALUES ('abc')", view),
        sqlite(tmp_path, "CREATE TABLE t (x TEXT)", "CREATE VIEW v AS SELECT abs(x) AS n FROM t"),
        postgres(server, "CREATE TABLE t (x TEXT)", "INSERT INTO t VALUES ('abc')", view),
    ):
        refuses(address, "v")
        assert read(address, table="t").names == ("x",)


@pytest.mark.claim("databases.1")
def test_tables_whose_rows_come_from_elsewhere_are_refused(tmp_path: Path, server: Any) -> None:
    refuses(sqlite(tmp_path, "CREATE VIRTUAL TABLE v USING fts5(x)"), "v")
    address = postgres(
        server,
        "CREATE TABLE g (x TEXT, n INTEGER GENERATED ALWAYS AS (x::integer) VIRTUAL)",
        "CREATE TABLE s (x INTEGER, n INTEGER GENERATED ALWAYS AS (x + 1) STORED)",
        "CREATE TABLE p (x INTEGER) PARTITION BY LIST (x)",
        "CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1)",
        "INSERT INTO p VALUES (1)",
    )
    refuses(address, "g")
    assert read(address, table="s").names == ("x", "n")
    np.testing.assert_array_equal(read(address, table="p").columns([Want("x", "number")])["x"], [1.0])


@pytest.mark.claim("databases.1")
def test_computed_columns_of_duckdb_are_refused(tmp_path: Path) -> None:
    """It checks them when rows are inserted, and not when these are updated: then one value makes every read fail."""
    address = duck(
        tmp_path,
        "CREATE TABLE g (x VARCHAR, n INTEGER GENERATED ALWAYS AS (CAST(x AS INTEGER)))",
        "INSERT INTO g VALUES ('1')",
        "UPDATE g SET x = 'abc'",
        """CREATE TABLE s ("generated ""as" VARCHAR DEFAULT 'it''s GENERATED')""",
    )
    refuses(address, "g")
    assert read(address, table="s").names == ('generated "as',)


@pytest.mark.claim("databases.1")
def test_a_policy_that_reads_values_is_refused(server: Any) -> None:
    """Who may see a row is computed from its values, which may fail; the owner of a table sees all of it as it is."""
    address = postgres(
        server,
        "CREATE TABLE policed (x TEXT)",
        "INSERT INTO policed VALUES ('1'), ('abc')",
        "CREATE POLICY above ON policed USING (x::integer > 0)",
        "ALTER TABLE policed ENABLE ROW LEVEL SECURITY",
        "CREATE ROLE reader LOGIN",
        "GRANT SELECT ON policed TO reader",
        "DO $$ BEGIN EXECUTE 'GRANT USAGE ON SCHEMA ' || current_schema() || ' TO reader'; END $$",
    )
    assert read(address, table="policed").size() == 2
    refuses(address.replace("postgres:@", "reader:@", 1), "policed")


@pytest.mark.claim("databases.1")
def test_no_value_of_postgresql_raises(server: Any) -> None:
    table = read(
        postgres(
            server,
            "CREATE TABLE t (i INTERVAL, ts TIMESTAMP, tz TIMESTAMPTZ, d DATE, n NUMERIC, m MONEY, a INTEGER[],"
            " j JSON, u UUID, b BYTEA, r INT4RANGE, f REAL)",
            "INSERT INTO t VALUES ('3000000 hours', 'infinity', '-infinity', 'infinity', 'NaN', '12.5', '{1,2}', '{}',"
            " 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '\\x00', '[1,2)', 'Infinity')",
            "INSERT INTO t VALUES ('infinity', '2020-01-02 03:04:05.5', '2020-01-02 03:04:05+01', '4713-12-01 BC',"
            " 'Infinity', NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
            "INSERT INTO t (n, d) VALUES (1.25, '2020-01-02')",
        ),
        table="t",
    )
    found = every(table)
    assert found["i"] == ["3000000:00:00", "infinity", None]
    assert [str(cell) for cell in found["ts"]] == ["None", "2020-01-02 03:04:05.500000", "None"]
    assert [str(cell) for cell in found["tz"]] == ["None", "2020-01-02 02:04:05+00:00", "None"]
    assert [str(cell) for cell in found["d"]] == ["None", "None", "2020-01-02"]
    assert found["a"] == ["{1,2}", None, None]
    np.testing.assert_array_equal(table.columns([Want("n", "number")])["n"], [math.nan, math.nan, 1.25])


@pytest.mark.claim("databases.1")
def test_no_value_of_duckdb_raises(tmp_path: Path) -> None:
    address = duck(
        tmp_path,
        "CREATE TABLE t (h HUGEINT, uh UHUGEINT, i INTERVAL, ts TIMESTAMP, d DATE, tz TIMESTAMPTZ, c DECIMAL(38, 2),"
        " b BLOB, l INTEGER[], t TIME, bits BIT)",
        f"INSERT INTO t VALUES ({2**127 - 1}, {2**128 - 1}, INTERVAL '90000000 hours', 'infinity', '-infinity',"
        " 'infinity', 1.5, 'a', [1], '24:00:00', '101')",
    )
    found = every(read(address, table="t"))
    assert [found[name] for name in ("h", "uh")] == [[2**127 - 1], [2**128 - 1]]
    assert found["i"] == ["90000000:00:00"]


def test_no_value_of_sqlite_raises(tmp_path: Path) -> None:
    address = sqlite(
        tmp_path,
        "CREATE TABLE t (n INTEGER, d DATE)",
        "INSERT INTO t VALUES (9e999, 'x'), ('abc', 9223372036854775807), (x'00ff', CAST(x'ff' AS TEXT))",
    )
    table = read(address, table="t")
    assert len(every(table)["d"]) == 3
    np.testing.assert_array_equal(table.columns([Want("n", "number")])["n"], [math.inf, math.nan, math.nan])


def test_duckdb_reads_nothing_but_its_file(tmp_path: Path) -> None:
    (tmp_path / "secret.csv").write_text("a\n1\n")
    duck(tmp_path, "CREATE TABLE t (x INTEGER)")
    connection = Duck(tmp_path / "a.duckdb").connect()
    for query in (
        f"SELECT * FROM read_csv('{tmp_path / 'secret.csv'}')",
        "SET enable_external_access = true",
        f"ATTACH '{tmp_path / 'b.duckdb'}'",
        "INSTALL httpfs",
        "SELECT * FROM tmp_path",
    ):
        with pytest.raises(duckdb.Error):
            connection.execute(query).fetchall()
    connection.close()


def test_an_index_does_not_change_the_order_of_rows(tmp_path: Path, server: Any) -> None:
    """A covering index is read instead of the table: the rows of a person would change their order with statistics."""
    values = [(7 * k) % 100 for k in range(100)]
    wide = "CREATE TABLE t (x INTEGER, y TEXT)"
    rows = "INSERT INTO t VALUES " + ", ".join(f"({value}, '{'y' * 500}')" for value in values)
    index = "CREATE INDEX i ON t (x)"
    for address in (
        sqlite(tmp_path, wide, rows, index),
        duck(tmp_path, wide, rows, index),
        postgres(server, wide, rows, index, "ANALYZE t"),
    ):
        np.testing.assert_array_equal(read(address, table="t").columns([Want("x", "number")])["x"], values)
