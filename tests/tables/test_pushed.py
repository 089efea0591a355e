"""What a database leaves out is left out by our own filter too: whatever the rows and the filter are."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.tables.test_databases import duck, postgres

from discreet.tables import apart
from discreet.tables.opening import read
from discreet.tables.piece_questions import PieceCells
from discreet.tables.wanted import Want
from discreet.tables.where import Where

FLOATS = ["1.5", "-0.0", "0.0", "'NaN'", "'Infinity'", "'-Infinity'", "1e300", "NULL", "7", "16777217"]
WHOLES = ["0", "1", "7", "-3", "9007199254740993", "9223372036854775807", "NULL", "NULL", "2", "16777217"]
TEXTS = ["'a'", "'A'", "'a '", "''", "'é'", "'NaN'", "'1'", "NULL", "'null'", "'missing'"]
TRUTHS = ["TRUE", "FALSE", "NULL"] * 3 + ["TRUE"]
DAYS = ["'2024-05-01'", "'1969-12-31'", "NULL", "'0001-01-01'", "'9999-12-31'"] * 2
SMALL = ["1.5", "0.1", "'NaN'", "NULL", "7", "'Infinity'", "-0.0", "16777216", "1e-45", "3"]
CONSTANTS = ["0", "1", "7", "1.5", "0.1", "9007199254740992", "9223372036854775807", "1e300", "-3", "16777216"]
WORDS = ["'a'", "'A'", "'a '", "''", "'é'", "'NaN'", "'1'", "'it''s'", "'missing'"]
ORDERS = ["==", "!=", "<", "<=", ">", ">="]
TYPES = {"f": "DOUBLE PRECISION", "w": "BIGINT", "t": "TEXT", "b": "BOOLEAN", "d": "DATE", "s": "REAL", "u": "INTEGER"}


def statements(types: dict[str, str]) -> list[str]:
    """A table in which every value stands beside every kind of other one."""
    chance = random.Random(1)
    made = [f"CREATE TABLE t (n INTEGER, {', '.join(f'{name} {kind}' for name, kind in types.items())})"]
    each = {"f": FLOATS, "w": WHOLES, "t": TEXTS, "b": TRUTHS, "d": DAYS, "s": SMALL}
    rows = []
    for row in range(200):
        values = [each.get(name, WHOLES[:4])[chance.randrange(len(each.get(name, WHOLES[:4])))] for name in types]
        rows.append(f"({row}, {', '.join(values)})")
    return [*made, f"INSERT INTO t VALUES {', '.join(rows)}"]


def one_test(chance: random.Random) -> str:
    name = chance.choice("fwtbdsu")
    sign = chance.choice(ORDERS)
    match name:
        case "t":
            listed = ", ".join(chance.sample(WORDS, 2))
            return chance.choice(
                [
                    f"t {sign[:2] if sign in ('==', '!=') else '=='} {chance.choice(WORDS)}",
                    f"t in [{listed}]",
                    f"t not in [{listed}]",
                    "t is missing",
                    "t is not missing",
                ]
            )
        case "b":
            return chance.choice(["b", "b == true", "b != true", "b == false", "b is missing", "b is not missing"])
        case "d":
            return chance.choice(["d >= '2024-05-01'", "d == '2024-05-01'", "d is missing"])
    listed = ", ".join(chance.sample(CONSTANTS, 2))
    return chance.choice(
        [
            f"{name} {sign} {chance.choice(CONSTANTS)}",
            f"{name} in [{listed}]",
            f"{name} not in [{listed}]",
            f"{name} is missing",
            f"{name} is number",
            f"{name} is not missing",
        ]
    )


def filter_of(chance: random.Random, depth: int = 0) -> str:
    if depth == 3 or chance.random() < 0.3:
        return one_test(chance)
    match chance.randrange(3):
        case 0:
            return f"not ({filter_of(chance, depth + 1)})"
        case 1:
            return f"({filter_of(chance, depth + 1)} and {filter_of(chance, depth + 1)})"
    return f"({filter_of(chance, depth + 1)} or {filter_of(chance, depth + 1)})"


def check(address: str, count: int) -> tuple[int, int]:
    """Every row that our filter keeps comes; of how many filters something was asked, and rows were left out there."""
    table, chance = read(address, table="t"), random.Random(7)
    source: Any = table._source
    (piece,) = [piece() for piece in source.pieces(source.names)]
    cells, asked, fewer = PieceCells(piece, table.kinds), 0, 0
    for number in range(count):
        where = Where.parse(filter_of(chance))
        kept = np.array(piece["n"])[where.holds(cells)].tolist()
        narrowed = source.narrowed(where.tree, table.kinds)
        if narrowed.condition is None:
            continue
        there = [n for piece in narrowed.pieces(["n"]) for n in piece()["n"].to_pylist()]
        assert set(kept) <= set(there), where.text
        assert there == sorted(there)
        asked += 1
        fewer += len(there) < 200
        if number < 10:
            assert table.columns([Want("n", "number")], where=where)["n"].tolist() == kept  # type: ignore[union-attr]
    return asked, fewer


@pytest.mark.claim("pushed.1")
@pytest.mark.claim("pushed.2")
def test_duckdb_keeps_what_the_filter_keeps(tmp_path: Path) -> None:
    types = TYPES | {"t": "TEXT COLLATE NOCASE"}
    asked, fewer = check(duck(tmp_path, *statements(types)), 150)
    assert asked > 75
    assert fewer > 50


@pytest.mark.claim("pushed.1")
@pytest.mark.claim("pushed.2")
def test_postgresql_keeps_what_the_filter_keeps(server: Any) -> None:
    asked, fewer = check(postgres(server, *statements(TYPES)), 100)
    assert asked > 50
    assert fewer > 35


@pytest.mark.claim("pushed.2")
def test_the_query_has_no_constant_in_it(tmp_path: Path) -> None:
    table: Any = read(duck(tmp_path, *statements(TYPES)), table="t")
    for where in ("f > 4711 and t == '4711'", "w in [4711, 4712]", "not (f == 4711)"):
        condition = table._source.narrowed(Where.parse(where).tree, table.kinds).condition
        assert "471" not in condition.text
        assert {str(one).removesuffix(".0") for one in condition.constants} >= {"4711"}


@pytest.mark.claim("pushed.1")
def test_nothing_is_asked_of_a_column_that_is_declared_as_something_else(tmp_path: Path) -> None:
    address = duck(tmp_path, *statements(TYPES))
    cases: list[tuple[dict[str, str], str]] = [
        ({"w": "category"}, "w == '7'"),
        ({"w": "boolean"}, "w == true"),
        ({"w": "boolean"}, "not (w > 5)"),
        ({"b": "number"}, "b > 0"),
        ({}, "b > 0"),
    ]
    for types, where in cases:
        table: Any = read(address, table="t", types=types)
        assert table._source.narrowed(Where.parse(where).tree, table.kinds).condition is None


@pytest.mark.claim("pushed.1")
def test_a_condition_about_people_leaves_out_no_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mean of a person's rows is compared; without person= rows are, and so are those of the blocks of people."""
    address = duck(tmp_path, *statements(TYPES))
    there = read(address, table="t")
    (piece,) = [piece() for piece in there._source.pieces(there.names)]
    here = read({name: piece[name].to_pylist() for name in ("n", "u", "w")}, types={"u": "integer", "w": "integer"})
    where, wants = Where.parse("u > 0.5"), [Want("n", "number", rule="mean")]
    found = [table.columns(wants, person="w", where=where)["n"] for table in (there, here)]
    np.testing.assert_array_equal(*found)  # type: ignore[arg-type]
    owned = [table.columns(wants, owner="w", where=where) for table in (there, here)]
    assert [str(list(one["n"])) for one in owned[:1]] == [str(list(one["n"])) for one in owned[1:]]
    monkeypatch.setattr(apart, "AT_ONCE", 50)  # of 200 rows, of which fewer than 150 are asked for
    held = there.apart(wants, owner="w", where=where)
    assert held is not None
    rows = sum(len(held.owned(bucket())[0][0]) for bucket in held.exchanged().buckets())
    assert rows == len(owned[0]["n"])
