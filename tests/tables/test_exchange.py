"""Rows of a person together, whatever the length of the table: the same bits as if it were held."""

import datetime
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.errors import BadInput
from discreet.tables import apart, exchange
from discreet.tables.exchange import ROW, Spill
from discreet.tables.opening import read
from discreet.tables.per_person import Rules
from discreet.tables.person_hash import name_words, owner_words
from discreet.tables.table import Table
from discreet.tables.wanted import Want
from discreet.tables.where import Where

ODD = [0.0, -0.0, 1.5, float("nan"), float("inf"), 1e300, 5e-324, 7.0]
IDS: dict[str, list[Any]] = {
    "numbers": [3, 1, None, 2**62, -5, 3, 8, 9],
    "texts": ["ann", "bo", None, "", "ann ", "ANN", "é", "1"],
    "floats": [0.0, -0.0, float("nan"), 1.5, 2.0, 1e300, None, 3.0],
    "truths": [True, False, None, True, False, True, True, None],
    "days": [datetime.date(2020, 1, day) for day in range(1, 8)] + [None],
}
WANTS = [
    Want("x", "number", rule="mean"),
    Want("y", "number", rule="sum", cap=2),
    Want("town", "category", rule="last"),
    Want("seen", "date", rule="max"),
    Want("x > 1", "where"),
]


def made(ids: list[Any], rows: int, seed: int = 0) -> pa.Table:
    pick = np.random.default_rng(seed).integers(0, 8, size=(4, rows))
    towns = ["Ulm", "Bonn", None, "Köln", "", "a,b", "Ulm", "x"]
    days = [datetime.datetime(2000, 1, 1 + k) for k in range(7)] + [None]  # noqa: DTZ001
    return pa.table(
        {
            "who": pa.array([ids[k] for k in pick[0]]),
            "x": [ODD[k] for k in pick[1]],
            "y": [ODD[k] for k in pick[2]],
            "town": [towns[k] for k in pick[3]],
            "seen": pa.array([days[k] for k in pick[1]], pa.timestamp("us")),
        }
    )


def stored(table: pa.Table, folder: Path, form: str) -> Table:
    if form == "csv":
        import pyarrow.csv

        pyarrow.csv.write_csv(table, folder / "t.csv")
        return read(folder / "t.csv", types={"seen": "date", "x": "number", "y": "number"})
    if form == "folder":
        for part in range(3):
            third = table.num_rows // 3 + 1
            pq.write_table(table.slice(part * third, third), folder / f"{part}.parquet", row_group_size=30)
        return read(folder)
    pq.write_table(table, folder / "t.parquet", row_group_size=40)
    return read(folder / "t.parquet")


def bits(columns: Any) -> list[Any]:
    """Names, types and entries, bit for bit."""
    found: list[Any] = []
    for name, values in columns.items():
        entries = values.tobytes() if values.dtype != object else [(type(one).__name__, one) for one in values]
        found.append((name, values.dtype.str, entries))
    return found


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Every table is worked through bucket by bucket."""
    monkeypatch.setattr(apart, "AT_ONCE", 0)
    return monkeypatch


@pytest.mark.claim("apart.1")
@pytest.mark.claim("exchange.2")
@pytest.mark.parametrize("form", ["parquet", "folder", "csv"])
@pytest.mark.parametrize("ids", IDS)
def test_a_long_table_gives_the_bits_of_one_that_is_held(
    ids: str, form: str, tmp_path: Path, always: pytest.MonkeyPatch
) -> None:
    """In memory and on disk, in few and in many buckets, under every key."""
    table = stored(made(IDS[ids], 200), tmp_path, form)
    rules = Rules({"x": "max", "town": "any"}, cap=3)
    asked: list[dict[str, Any]] = [
        {"person": "who"},
        {"person": "who", "where": Where.parse("y < 2 and town != 'x'"), "rules": rules},
    ]
    for how in asked:
        always.setattr(apart, "AT_ONCE", 10**9)
        held, many = bits(table.columns(WANTS, **how)), table.people("who")
        always.setattr(apart, "AT_ONCE", 0)
        for limit, buckets in ((0, 7), (2000, 3), (2**28, 1)):
            always.setattr(exchange, "HELD", limit)
            always.setitem(exchange.exchange.__kwdefaults__ or {}, "buckets", buckets)
            assert bits(table.columns(WANTS, **how)) == held
        assert table.people("who") == many


@pytest.mark.claim("apart.1")
@pytest.mark.parametrize("ids", IDS)
def test_a_person_more_changes_no_other_row(ids: str, tmp_path: Path, always: pytest.MonkeyPatch) -> None:
    """On the long way too, whose keys differ from run to run."""
    table = made(IDS[ids], 150, 3)
    person = IDS[ids][0]
    fewer = table.filter(pa.array([one != person for one in table["who"].to_pylist()]))
    wants = [Want("x", "number", rule="mean", missing="drop"), Want("town", "category"), Want("who", "category")]
    found = []
    for place, rows in enumerate((table, fewer)):
        (tmp_path / str(place)).mkdir()
        columns = stored(rows, tmp_path / str(place), "parquet").columns(wants, person="who")
        found.append([tuple(map(repr, row)) for row in zip(*columns.values(), strict=True)])
    gone = [row for row in found[0] if row not in found[1]]
    assert [row for row in found[0] if row not in gone] == found[1]
    assert len(gone) <= 1


@pytest.mark.claim("exchange.1")
def test_rows_of_a_person_are_together_in_the_order_of_the_table(tmp_path: Path) -> None:
    """Whichever part is read first: parts are slow and quick in turn."""
    import threading

    rows = np.arange(600)
    who, late = rows % 37, threading.Event()

    def piece(start: int) -> Any:
        def given() -> dict[str, Any]:
            if start == 100:
                late.wait(5)  # until a later part is there
            if start == 200:
                late.set()
            part = slice(start, start + 100)
            return {"who": who[part], "x": rows[part].astype(float)}

        return given

    done = exchange.exchange(
        iter([piece(start) for start in range(0, 600, 100)]),
        "who",
        "integer",
        key=bytes(32),
        buckets=5,
        error=BadInput("x"),
    )
    seen: list[int] = []
    for bucket in done.buckets():
        columns = bucket()
        assert columns["x"].tolist() == columns[ROW].tolist() == sorted(columns["x"].tolist())
        assert len(set(columns["who"].tolist()) & set(seen)) == 0
        seen += columns["who"].tolist()
    assert sorted(seen) == sorted(who.tolist())


@pytest.mark.claim("exchange.3")
def test_a_killed_process_leaves_no_file(tmp_path: Path) -> None:
    code = f"""
        import os, sys, tempfile
        from discreet.tables.exchange import Spill
        tempfile.tempdir = {str(tmp_path)!r}
        spill = Spill(limit=10)
        spill.add(b"x" * 100)
        assert spill.on_disk
        assert os.fstat(spill._file.fileno()).st_mode & 0o077 == 0
        print("there", flush=True)
        sys.stdin.read()
    """
    child = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=dict(os.environ),
    )
    assert child.stdin is not None
    assert child.stdout is not None
    assert child.stdout.readline() == b"there\n"
    assert list(tmp_path.iterdir()) == []  # not even while it runs
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdin.close()
    child.stdout.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.claim("exchange.3")
def test_no_room_is_one_sentence(tmp_path: Path, always: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device: row 17")

    table = stored(made(IDS["numbers"], 50), tmp_path, "parquet")
    always.setattr(exchange, "HELD", 0)
    always.setattr("tempfile.TemporaryFile", full)
    with pytest.raises(BadInput, match="set TMPDIR") as error:
        table.columns([Want("x", "number")], person="who")
    assert "17" not in str(error.value)


def test_segments_come_back_as_they_went() -> None:
    spill = Spill(limit=100)
    segments = [bytes([k]) * k for k in range(30)]
    numbers = [spill.add(segment) for segment in segments]
    assert spill.on_disk
    assert [spill.get(number) for number in numbers] == segments


SECRET = bytes(range(32))


@pytest.mark.claim("person_hash.1")
def test_a_name_has_one_hash_in_every_container() -> None:
    names = [3, -7, 2**40, 2**63 - 1]
    forms = [
        np.array(names),
        np.array(names, dtype=object),
        np.array([*names, "x"], dtype=object)[:4],
        np.array(names, dtype=np.uint64) if min(names) >= 0 else np.array(names),
    ]
    for form in forms:
        assert (name_words(form, SECRET, 2) == name_words(forms[0], SECRET, 2)).all()
    floats = np.array([3.0, -7.0, 0.5, np.nan, -0.0, 1e300, np.inf])
    listed = np.array([3, -7, 0.5, None, 0, 1e300, np.inf], dtype=object)
    assert (name_words(floats, SECRET, 2) == name_words(listed, SECRET, 2)).all()
    arrow, there = owner_words(pa.array([3, None, -7]), "integer", SECRET)
    assert there.tolist() == [True, False, True]
    assert arrow[0, [0, 2]].tolist() == name_words(np.array([3, -7]), SECRET)[0].tolist()
    texts, there = owner_words(pa.array(["a", None, "b", "a"]), "text", SECRET)
    assert there.tolist() == [True, False, True, True]
    assert texts[0, [0, 2, 3]].tolist() == name_words(np.array(["a", "b", "a"]), SECRET)[0].tolist()
    large = np.array([2**63, 2**64 - 1], dtype=np.uint64)
    assert (name_words(large, SECRET) == name_words(large.astype(object), SECRET)).all()


@pytest.mark.claim("person_hash.1")
def test_another_key_is_another_hash_and_both_words_differ() -> None:
    ids = np.arange(1000)
    one, other = name_words(ids, SECRET, 2), name_words(ids, bytes(32), 2)
    assert len(np.unique(np.concatenate([one, other]))) == 4000
    counts = np.bincount(exchange.share(name_words(np.arange(64_000), SECRET), 64), minlength=64)
    assert np.abs(counts - 1000).max() < 200  # 6.3 standard deviations: once in 10^7 keys, and the key is fixed


ASKED = """
import os, signal, sys
import discreet
from discreet.tables import apart, exchange

apart.AT_ONCE, exchange.HELD = 0, 1000
add, path, ledger, dies = exchange.Spill.add, sys.argv[1], sys.argv[2], sys.argv[3] == "dies"

def dying(spill, segment):
    if dies and spill.on_disk and len(spill._held) > 40:
        os.kill(os.getpid(), signal.SIGKILL)
    return add(spill, segment)

exchange.Spill.add = dying
with discreet.open(path, person="who", budget=5.0, ledger=ledger, rng=discreet.Seeded(3)) as session:
    release = session.mean("x", epsilon=2.0, bounds=(0.0, 1.0), request="once")
    print(repr(release.value), session.balance.spent.epsilon)
"""


def test_a_question_killed_in_the_exchange_is_asked_again_at_no_cost(tmp_path: Path) -> None:
    """The charge comes first, and is kept; under the same request there is one charge, and the digits are the same."""
    generator = np.random.default_rng(0)
    pq.write_table(pa.table({"who": np.arange(900) // 3, "x": generator.random(900)}), tmp_path / "t.parquet")

    def run(ledger: str, dies: str) -> subprocess.CompletedProcess[str]:
        given = [sys.executable, "-c", ASKED, str(tmp_path / "t.parquet"), str(tmp_path / ledger), dies]
        return subprocess.run(given, capture_output=True, text=True, check=False, env=dict(os.environ))

    assert run("one.ledger", "dies").returncode == -signal.SIGKILL
    again, whole = run("one.ledger", "lives"), run("other.ledger", "lives")
    assert again.stdout == whole.stdout
    assert whole.stdout.endswith(" 2\n")


@pytest.mark.claim("person_hash.1")
def test_the_key_is_in_the_hash_of_every_kind_of_name() -> None:
    for name in ("ann", 7, 2**70, 1.5, None):
        names = np.array([name], dtype=object)
        one, other = (name_words(names, bytes([fill]) * 32, 2) for fill in (1, 2))
        assert (one != other).all()
