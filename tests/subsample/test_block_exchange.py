"""Blocks of a table that is too long to hold are those of one that is held, and so are the digits."""

import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.subsample.test_partition import contents
from tests.unruly import Unruly

import discreet
from discreet import audit
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.subsample.aggregate import SubsampleAggregate
from discreet.subsample.block_exchange import FarBlocks, FarTable, blocks_of
from discreet.subsample.block_table import BlockTable, table_of
from discreet.subsample.coordinatewise import BlockMean
from discreet.subsample.counted_people import rarest
from discreet.subsample.estimators import FunctionFit
from discreet.subsample.partition import Blocks, people_in
from discreet.subsample.returned import Shape
from discreet.tables import apart, exchange, far_exchange
from discreet.tables.opening import placed, read
from discreet.tables.table import OWNER
from discreet.tables.wanted import Want
from discreet.tables.where import Where

REPLACE, ADD = Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE
WANTS = [Want("x", "number"), Want("town", "category"), Want("y", "number")]


def stored(folder: Path, ids: str = "numbers", rows: int = 400) -> Path:
    generator = np.random.default_rng(5)
    who = generator.integers(0, rows // 4, rows)
    x = generator.normal(size=rows)
    table = pa.table(
        {
            "who": pa.array(who if ids == "numbers" else [f"p{k}" for k in who]),
            "x": x,
            "y": 1 + 2 * x + generator.normal(size=rows),
            "town": [["Ulm", "Bonn", None][k % 3] for k in generator.integers(0, 3, rows)],
            "z": generator.normal(size=rows),
        }
    )
    pq.write_table(table, folder / "t.parquet", row_group_size=60)
    return folder / "t.parquet"


def far_and_near(path: Path, where: Where | None = None) -> tuple[FarTable, BlockTable]:
    table = read(path)

    def arranged(columns: dict[str, Any], owners: Any) -> BlockTable:
        rows = {"X": {name: columns[name] for name in ("x", "town")}, "y": columns["y"], "people": owners}
        return table_of(rows)

    found: dict[str, Any] = dict(table.columns(WANTS, owner="who", where=where))
    owners = found.pop(OWNER)
    held = table.apart(WANTS, owner="who", where=where)
    assert held is not None
    return FarTable(arranged({name: found[name][:0] for name in found}, owners[:0]), held, arranged), arranged(
        found, owners
    )


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr(apart, "AT_ONCE", 0)
    monkeypatch.setattr(exchange, "HELD", 1000)
    return monkeypatch


@pytest.mark.claim("block_exchange.1")
@pytest.mark.claim("partition.4")
@pytest.mark.parametrize("where", [None, "x > -0.5"])
@pytest.mark.parametrize("ids", ["numbers", "texts"])
@pytest.mark.parametrize(("blocks", "parts"), [(1, 2), (7, 4), (40, 2), (300, 2)])
def test_every_block_is_that_of_the_table_that_is_held(  # noqa: PLR0917
    blocks: int, parts: int, ids: str, where: str | None, tmp_path: Path, always: pytest.MonkeyPatch
) -> None:
    always.setitem(exchange.exchange.__kwdefaults__ or {}, "buckets", 9)
    far, near = far_and_near(stored(tmp_path, ids), None if where is None else Where.parse(where))
    for relation in (ADD, REPLACE) if where is None else (ADD,):
        whole = blocks_of(near, blocks, relation, Seeded(3), parts)
        some = blocks_of(far, blocks, relation, Seeded(3), parts)
        assert isinstance(whole, Blocks)
        assert isinstance(some, FarBlocks)
        assert [number for task in some.tasks for number in task] == list(range(blocks))
        expected = contents(whole)
        for task in some.tasks:
            assert contents(some.within(task[0], task[-1] + 1)[0]) == expected[task[0] : task[-1] + 1]
            assert all(some.cuts(number) == whole.cuts(number) for number in task)
    assert sum(map(people_in, far.tables())) == people_in(near)
    assert [rarest(far.tables(), spare) for spare in range(3)] == [rarest([near], spare) for spare in range(3)]


def asked(path: Path, neighbours: str, **options: Any) -> Any:
    session = discreet.open(
        path,
        person="who",
        budget=discreet.Budget(1000.0, 1e-3),
        ledger=":memory:",
        neighbours=neighbours,
        rng=Seeded(11),
        engine=options.pop("engine", None),
    )
    release = session.fit(options.pop("estimator"), options.pop("X", ["x"]), "y", epsilon=400.0, **options)
    return release.value, release.interval(), session.balance


def slope(x: Any, y: Any) -> float:
    return float(np.polyfit(np.asarray(x).ravel(), y, 1)[0])


@pytest.mark.claim("block_exchange.1")
@pytest.mark.parametrize("neighbours", ["add_or_remove", "replace"])
@pytest.mark.parametrize("blocks", [20, "auto"])
@pytest.mark.parametrize("kind", ["function", "least squares"])
def test_a_fit_has_the_same_digits_on_the_long_way(
    kind: str, blocks: Any, neighbours: str, tmp_path: Path, always: pytest.MonkeyPatch
) -> None:
    from sklearn.linear_model import LinearRegression

    path = stored(tmp_path, rows=4000)
    estimator: Any = slope if kind == "function" else LinearRegression()
    options: dict[str, Any] = {"names": "number"} if kind == "function" else {"X": ["x", "z"]}
    found = []
    for limit in (10**9, 0):
        always.setattr(apart, "AT_ONCE", limit)
        found.append(asked(path, neighbours, estimator=estimator, blocks=blocks, delta=1e-6, **options))
    assert str(found[0]) == str(found[1])


@pytest.mark.study
def test_a_sandbox_has_the_same_digits_on_the_long_way(tmp_path: Path, always: pytest.MonkeyPatch) -> None:
    from discreet.sandbox.sandbox import NoSandbox

    path, found = stored(tmp_path), []
    code = tmp_path / "own.py"
    code.write_text("def mean(x, y):\n    return float(y.mean())\n")
    for limit in (10**9, 0):
        always.setattr(apart, "AT_ONCE", limit)
        try:
            found.append(asked(path, "add_or_remove", estimator=f"{code}:mean", names="number", blocks=6, timeout=0.15))
        except NoSandbox:
            pytest.skip("this machine has no sandbox")
    assert str(found[0]) == str(found[1])


class Dying:
    """An estimator whose process is killed once, in the middle of the blocks, as a machine short of memory does."""

    def __init__(self, mark: Path) -> None:
        self.mark, self.parent = mark, os.getpid()

    def __call__(self, x: Any, y: Any) -> float:
        if os.getpid() != self.parent and not self.mark.exists():
            self.mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return slope(x, y)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="workers are forked")
@pytest.mark.parametrize("limit", [10**9, 0])
def test_a_worker_that_is_killed_changes_no_digit_and_costs_nothing(
    limit: int, tmp_path: Path, always: pytest.MonkeyPatch
) -> None:
    always.setattr(apart, "AT_ONCE", limit)
    path, mark = stored(tmp_path), tmp_path / "killed"
    plain, killed = (
        asked(path, "add_or_remove", estimator=estimator, names="number", blocks=40)
        for estimator in (slope, Dying(mark))
    )
    assert mark.exists()
    assert str(plain) == str(killed)  # the answer, its interval, and what is left of the budget


def test_a_worker_killed_while_it_reads_its_blocks_changes_no_digit(tmp_path: Path, always: pytest.MonkeyPatch) -> None:
    path, mark, parent, get = stored(tmp_path), tmp_path / "killed", os.getpid(), exchange.Spill.get
    plain = asked(path, "replace", estimator=slope, names="number", blocks=40)

    def dying(spill: exchange.Spill, number: int) -> bytes:
        if os.getpid() != parent and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return get(spill, number)

    always.setattr(exchange.Spill, "get", dying)
    assert str(asked(path, "replace", estimator=slope, names="number", blocks=40)) == str(plain)
    assert mark.exists()


def test_rows_that_cannot_be_read_again_fail_the_question(tmp_path: Path, always: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> bytes:
        raise OSError("row 17")

    path = stored(tmp_path)
    always.setattr(exchange.Spill, "get", broken)
    session = discreet.open(path, person="who", budget=1000.0, ledger=":memory:", rng=Seeded(1))
    with pytest.raises(discreet.errors.DiscreetError) as error:
        session.fit(slope, ["x"], "y", epsilon=400.0, blocks=20, names="number")
    assert "17" not in str(error.value)
    assert session.balance.spent.epsilon == 400  # it was charged before anything was read


@pytest.fixture
def there(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr(far_exchange, "LONG", 50)
    return monkeypatch


def held(blocks: FarBlocks, _: list[int]) -> Any:
    """On a worker: what the blocks of a task hold."""
    return contents(blocks.last[0])


@pytest.mark.claim("block_exchange.1")
@pytest.mark.claim("far_exchange.2")
@pytest.mark.parametrize("ids", ["numbers", "texts"])
@pytest.mark.parametrize(("blocks", "parts"), [(1, 2), (7, 4), (40, 2), (300, 2)])
def test_every_block_on_an_engine_is_that_of_the_table_that_is_held(
    blocks: int, parts: int, ids: str, tmp_path: Path, there: pytest.MonkeyPatch
) -> None:
    path = stored(tmp_path, ids)
    there.setattr(apart, "AT_ONCE", 0)
    far, near = far_and_near(path)
    for seed, relation in enumerate((ADD, REPLACE)):
        whole = blocks_of(near, blocks, relation, Seeded(3), parts)
        spread = replace(far, apart=replace(far.apart, far=placed(read(path)._source, Unruly(seed))))
        some = blocks_of(spread, blocks, relation, Seeded(3), parts)
        assert isinstance(whole, Blocks)
        assert isinstance(some, FarBlocks)
        assert [number for task in some.tasks for number in task] == list(range(blocks))
        assert [one for task in some.each(held) for one in task] == contents(whole)
        assert contents(some.within(0, 1)[0])[:1] == contents(whole)[:1]  # brought here, for a sandbox


def on_engine(folder: Path, rows: pa.Table, seed: int) -> FarTable:
    """A table on a cluster of its own."""
    folder.mkdir()
    pq.write_table(rows, folder / "t.parquet", row_group_size=5 + seed)
    far, _ = far_and_near(folder / "t.parquet")
    schema = far.schema.counting(len(set(rows["who"].to_pylist())))
    return replace(
        far, schema=schema, apart=replace(far.apart, far=placed(read(folder / "t.parquet")._source, Unruly(seed)))
    )


@pytest.mark.claim("far_exchange.2")
@pytest.mark.parametrize("relation", [ADD, REPLACE])
def test_what_a_cluster_does_is_no_part_of_the_coupling(
    relation: Neighbours, tmp_path: Path, there: pytest.MonkeyPatch
) -> None:
    """Small worlds, one person of each changed: under the same key one block differs, whatever order, copies and tries
    the two clusters had."""
    there.setattr(apart, "AT_ONCE", 0)
    there.setattr(far_exchange, "LONG", 5)
    rows = pq.read_table(stored(tmp_path, rows=24))
    for person in sorted(set(rows["who"].to_pylist())):
        whose = np.array([one == person for one in rows["who"].to_pylist()])
        other = rows.filter(pa.array(~whose))
        if relation is REPLACE:
            x = pa.array(np.where(whose, 1e300, rows["x"].to_numpy()))
            other = rows.set_column(rows.schema.get_field_index("x"), "x", x)
        seen = []
        for seed, table in enumerate((rows, other)):
            spread = on_engine(tmp_path / f"{person}{seed}", table, seed)
            some = blocks_of(spread, 5, relation, Seeded(7), 2)
            assert isinstance(some, FarBlocks)
            seen.append([one for task in some.each(held) for one in task])
        assert sum(one != two for one, two in zip(*seen, strict=True)) == 1


@pytest.mark.claim("aggregate.1")
@pytest.mark.claim("far_exchange.2")
@pytest.mark.parametrize("relation", [ADD, REPLACE])
def test_the_audit_of_blocks_on_an_engine(relation: Neighbours, tmp_path: Path, there: pytest.MonkeyPatch) -> None:
    there.setattr(apart, "AT_ONCE", 0)
    there.setattr(far_exchange, "LONG", 5)
    rows = pq.read_table(stored(tmp_path, rows=40))
    rows = rows.set_column(rows.schema.get_field_index("y"), "y", pa.array(np.arange(40) % 7 / 7))
    pairs = []
    for person in sorted(set(rows["who"].to_pylist()))[:1]:
        whose = np.array([one == person for one in rows["who"].to_pylist()])
        y = pa.array(np.where(whose, 1e300, rows["y"].to_numpy()))
        changed = rows.set_column(rows.schema.get_field_index("y"), "y", y)
        other = changed if relation is REPLACE else rows.filter(pa.array(~whose))
        pairs.append(
            audit.Pair(*(on_engine(tmp_path / f"{person}{seed}", one, seed) for seed, one in enumerate((rows, other))))
        )
    shape, inner = Shape("number", ("value",)), BlockMean(4, 1, 60.0)
    mechanism = SubsampleAggregate(FunctionFit(outcome), shape, inner, neighbours=relation)
    verdict = audit.check(mechanism, pairs, hostile_values=False)
    assert verdict.passed, verdict


def outcome(x: Any, y: Any) -> float:
    return float(np.mean(y))


def frail(x: Any, y: Any) -> float:
    """Takes its process down with it on some blocks."""
    if float(np.asarray(x).max()) > 3.2:
        os._exit(1)
    return float(np.mean(y))


@pytest.mark.claim("aggregate.1")
@pytest.mark.claim("block_exchange.1")
@pytest.mark.parametrize("neighbours", ["add_or_remove", "replace"])
@pytest.mark.parametrize("kind", ["frail", "least squares"])
def test_a_fit_on_an_engine_has_the_same_digits(
    kind: str, neighbours: str, tmp_path: Path, there: pytest.MonkeyPatch
) -> None:
    """A block that takes its process down is lost alone: whose rows are in it decides on nothing else."""
    from sklearn.linear_model import LinearRegression

    path = stored(tmp_path, rows=4000)
    there.setattr(far_exchange, "LONG", 1000)
    estimator: Any = frail if kind == "frail" else LinearRegression()
    options: dict[str, Any] = {"names": "number", "blocks": 20} if kind == "frail" else {"X": ["x", "z"]}
    terms: dict[str, Any] = {"estimator": estimator, "delta": 1e-6, **options}
    found = [asked(path, neighbours, engine=engine, **terms) for engine in (None, Unruly(2))]
    assert str(found[0]) == str(found[1])


def first_minus_last(x: Any, y: Any) -> float:
    return float(np.asarray(x).ravel() @ np.arange(len(x)) - np.asarray(y) @ np.arange(len(y))) if len(x) else 0.0


@pytest.mark.claim("partition.5")
@pytest.mark.parametrize("neighbours", ["add_or_remove", "replace"])
def test_shuffled_rows_of_an_unordered_source_give_the_same_digits(
    neighbours: str, tmp_path: Path, always: pytest.MonkeyPatch
) -> None:
    """Held, in buckets here, and on an engine; the estimator looks at the order of its rows."""
    import pyarrow.dataset as ds

    rows, rng, found = pq.read_table(stored(tmp_path)), np.random.default_rng(3), set()
    how: dict[str, Any] = {"estimator": first_minus_last, "names": "number", "blocks": 6, "where": "z < 2"}
    for turn in range(3):
        folder = tmp_path / f"t{turn}"
        folder.mkdir()
        shuffled = rows.take(rng.permutation(len(rows)))
        pq.write_table(shuffled, folder / "t.parquet", row_group_size=60)
        for limit, engine in ((10**9, None), (0, None), (0, Unruly(turn))):
            always.setattr(apart, "AT_ONCE", limit)
            source: Any = ds.dataset(folder)
            found.add(str(asked(source, neighbours, engine=engine, delta=1e-6, **how)))
    assert len(found) == 1
