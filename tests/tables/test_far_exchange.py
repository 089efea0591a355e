"""Rows of a person together on an engine, whatever a cluster does: the same bits as if the table were held."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.tables.test_exchange import IDS, WANTS, bits, made, stored
from tests.unruly import Parts, Unruly

from discreet.errors import BadInput
from discreet.tables import exchange, far_exchange
from discreet.tables.cells import owners
from discreet.tables.exchange import ROW
from discreet.tables.opening import placed, read
from discreet.tables.per_person import Rules
from discreet.tables.streams import added, length
from discreet.tables.table import Table
from discreet.tables.wanted import Want
from discreet.tables.where import Where

CHANGED = "the data changed while they were read|a part of the table was lost"


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Several buckets, however small a table is."""
    monkeypatch.setattr(far_exchange, "LONG", 30)
    return monkeypatch


def far(table: Table, engine: Any) -> Table:
    """The same table, on an engine."""
    return Table(placed(table._source, engine), table.kinds)


@pytest.mark.claim("far_exchange.1")
@pytest.mark.parametrize("form", ["parquet", "folder", "csv"])
@pytest.mark.parametrize("ids", IDS)
def test_a_table_on_an_engine_gives_the_bits_of_one_that_is_held(ids: str, form: str, tmp_path: Path) -> None:
    """Brought here at once, and kept there as rows of columns."""
    here = stored(made(IDS[ids], 200), tmp_path, form)
    rules = Rules({"x": "max", "town": "any"}, cap=3)
    for seed, how in enumerate([{}, {"where": Where.parse("y < 2 and town != 'x'"), "rules": rules}]):
        there = far(here, Unruly(seed))
        asked: dict[str, Any] = {"person": "who", **how}
        assert bits(there.columns(WANTS, **asked)) == bits(here.columns(WANTS, **asked))
        assert there.people("who") == here.people("who")
        kept = there.rows(WANTS, **asked)
        assert kept is not None
        assert kept.fold(_many, added) == len(kept)
        (rows,) = kept
        assert bits(rows) == bits(here.columns(WANTS, **asked))


def _many(pieces: Any) -> int:
    return sum(map(length, pieces))


def apart_of(table: pa.Table, folder: Path, engine: Any) -> Any:
    folder.mkdir(exist_ok=True)
    return far(stored(table, folder, "parquet"), engine).apart([Want("x", "number")], owner="who")


@pytest.mark.claim("far_exchange.1")
def test_rows_are_in_the_order_of_part_and_place(tmp_path: Path) -> None:
    found = [apart_of(made(IDS["numbers"], 300), tmp_path, Unruly(seed)).exchanged(bytes(32)) for seed in range(4)]
    seen = [[{name: str(column) for name, column in bucket().items()} for bucket in one.buckets()] for one in found]
    assert seen[0] == seen[1] == seen[2] == seen[3]
    for bucket in found[0].buckets():
        numbers = bucket()[ROW].tolist()
        assert numbers == sorted(set(numbers))


def without_one(bucket: int, parts: Parts) -> Parts:
    return [part for part in parts if (bucket, part[0]) != (1, 0)]


def as_if_empty(bucket: int, parts: Parts) -> Parts:
    return [] if bucket == 1 else parts


@pytest.mark.claim("far_exchange.1")
@pytest.mark.parametrize(
    "engine", [Unruly(spoils=without_one), Unruly(spoils=as_if_empty), Unruly(lost=frozenset([2]))]
)
def test_what_goes_missing_is_never_passed_over(engine: Unruly, tmp_path: Path) -> None:
    """A segment, all segments of a bucket, a bucket."""
    table = far(stored(made(IDS["numbers"], 200), tmp_path, "folder"), engine)
    works: list[Any] = [
        lambda: table.people("who"),
        lambda: table.columns(WANTS, person="who"),
        lambda: table.rows(WANTS[:1], person="who"),
    ]
    for work in works:
        with pytest.raises(BadInput, match=CHANGED):
            work()


@pytest.mark.claim("far_exchange.1")
def test_a_bucket_that_is_brought_here_is_whole(tmp_path: Path) -> None:
    done = apart_of(made(IDS["numbers"], 200), tmp_path, Unruly(spoils=without_one)).exchanged(bytes(32))
    one, other = list(done.buckets())[:2]
    one()
    with pytest.raises(BadInput, match=CHANGED):
        other()


@pytest.mark.claim("far_exchange.1")
def test_rows_that_come_or_go_meanwhile_are_noticed(tmp_path: Path) -> None:
    table = made(IDS["numbers"], 200)
    source = placed(stored(table, tmp_path, "parquet")._source, Unruly())
    for wrong in (199, 201):
        changed = Table(replace(source, known=[wrong]), read(tmp_path / "t.parquet").kinds)
        with pytest.raises(BadInput, match=CHANGED):
            changed.people("who")


@pytest.mark.claim("far_exchange.1")
def test_a_part_that_fails_is_lost_in_one_sentence(tmp_path: Path, short: pytest.MonkeyPatch) -> None:
    def quotes(*_: Any, **__: Any) -> None:
        raise ValueError("patient 4711")

    table = far(stored(made(IDS["numbers"], 200), tmp_path, "parquet"), Unruly())
    short.setattr(far_exchange, "bucket_of", quotes)
    with pytest.raises(BadInput) as error:
        table.people("who")
    assert "4711" not in str(error.value)
    assert (error.value.__cause__, error.value.__context__) == (None, None)


@pytest.mark.claim("far_exchange.1")
def test_a_part_that_fails_twice_is_worked_on_again(tmp_path: Path, short: pytest.MonkeyPatch) -> None:
    here = stored(made(IDS["numbers"], 200), tmp_path, "parquet")
    whole, failed = exchange.bucket_of, [0]

    def sometimes(*given: Any) -> Any:
        failed[0] += 1
        if failed[0] <= 2:
            raise OSError("a disk")
        return whole(*given)

    short.setattr(far_exchange, "bucket_of", sometimes)
    assert far(here, Unruly()).people("who") == here.people("who")


@pytest.mark.claim("far_exchange.2")
@pytest.mark.parametrize("ids", ["numbers", "texts", "days"])
def test_a_person_more_is_in_one_bucket_whatever_the_cluster_does(ids: str, tmp_path: Path) -> None:
    """Under the same key, with other orders, copies and tries."""
    table = made(IDS[ids], 150, 3)
    for person in [one for one in IDS[ids] if one is not None][:3]:
        fewer = table.filter(pa.array([one != person for one in table["who"].to_pylist()]))
        seen = []
        for seed, rows in enumerate((table, fewer)):
            apart = apart_of(rows, tmp_path / f"{person}{seed}", Unruly(seed))
            done = far_exchange.far_exchange(apart.far, apart.question, bytes(range(32)), buckets=6)
            seen.append([one() for one in done.buckets()])
        changed = 0
        for more, less in zip(*seen, strict=True):
            who = more["who"].to_pylist()
            kept = [place for place, one in enumerate(who) if one != person]
            assert [repr(more["x"][place].as_py()) for place in kept] == [repr(x) for x in less["x"].to_pylist()]
            assert [who[place] for place in kept] == less["who"].to_pylist()
            changed += len(kept) < len(who)
        assert changed == 1


@pytest.mark.claim("far_exchange.2")
def test_the_key_decides_on_the_bucket(tmp_path: Path) -> None:
    apart = apart_of(made(IDS["numbers"], 150), tmp_path, Unruly())
    seen = set()
    for fill in range(8):
        done = far_exchange.far_exchange(apart.far, apart.question, bytes([fill]) * 32, buckets=4)
        seen.add(str([owners([one()["who"]], "integer")[1] for one in done.buckets()]))
    assert len(seen) > 1  # the keys are fixed


@pytest.mark.claim("far_exchange.1")
def test_rows_that_were_brought_together_twice_are_in_the_order_of_the_table() -> None:
    columns = {"x": pa.array([1.0, 2.0, 3.0]), ROW: np.array([7.0, 3.0, 5.0])}
    found = far_exchange.ordered(columns)
    assert [found["x"].to_pylist(), found[ROW].tolist()] == [[2.0, 3.0, 1.0], [3.0, 5.0, 7.0]]
    assert far_exchange.ordered(found) is found
