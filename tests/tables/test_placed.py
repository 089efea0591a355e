"""Parts that an engine works on give what reading them here gives; no noise, key or rng goes there."""

from collections.abc import Callable, Iterable
from functools import reduce
from pathlib import Path
from typing import Any

import cloudpickle
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from benchmarks.cluster_questions import NAMES, SOME, WEIGHTED, asked, every, rows, weighted

import discreet
from discreet import Seeded
from discreet.engines import Local
from discreet.errors import BadInput, NotAnswered
from discreet.plan.bound_plan import bind
from discreet.plan.plan_file import parse_plan


class Elsewhere:
    """An engine that sends each part away and works on them in a bad order; what was sent is kept."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []

    def map(self, function: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        return [function(item) for item in items]

    def fold(self, kernel: Callable[[Any], Any], merge: Callable[[Any, Any], Any], parts: Iterable[Any]) -> Any:
        away = [cloudpickle.dumps((kernel, part)) for part in parts]
        self.sent += away
        calls = [cloudpickle.loads(each) for each in reversed(away)]
        return reduce(merge, [work(part) for work, part in calls]) if calls else None


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place, table = tmp_path_factory.mktemp("people"), rows()
    for number in range(4):
        pq.write_table(table.slice(number * 500, 500), place / f"part-{number}.parquet", row_group_size=200)
    return place


@pytest.mark.claim("placed.1")
@pytest.mark.parametrize("name", NAMES)
def test_every_statistic_is_the_same_elsewhere_and_no_randomness_goes_there(name: str, folder: Path) -> None:
    engine = Elsewhere()
    assert asked(folder, engine, name, every(name)) == asked(folder, None, name, every(name))
    assert len(engine.sent) >= 4
    assert not [each for each in engine.sent if b"discreet.noise.randomness" in each or b"Seeded" in each]


@pytest.mark.claim("placed.1")
@pytest.mark.parametrize("name", WEIGHTED)
def test_every_statistic_with_weights_is_the_same_elsewhere(name: str, folder: Path) -> None:
    assert asked(folder, Elsewhere(), name, weighted(name)) == asked(folder, None, name, weighted(name))


@pytest.mark.claim("placed.1")
@pytest.mark.parametrize("kind", SOME)
def test_other_files_are_read_elsewhere_too(kind: str, tmp_path: Path) -> None:
    table, (name, arguments) = rows(), SOME[kind]
    for ending, write in (("csv", pa.csv.write_csv), ("arrow", pa.feather.write_feather)):
        (tmp_path / ending).mkdir()
        for number in range(3):
            write(table.slice(number * 700, 700), str(tmp_path / ending / f"{number}.{ending}"))
        types = {"label": "category", "whole": "percent"} if ending == "csv" else None
        there, here = (asked(tmp_path / ending, engine, name, arguments, types=types) for engine in (Elsewhere(), None))
        assert there == here
    assert asked(tmp_path / "csv", Local(2), name, arguments) == asked(tmp_path / "csv", None, name, arguments)


class Twice(Elsewhere):
    """An engine that is wrong: a part is worked on twice."""

    def fold(self, kernel: Callable[[Any], Any], merge: Callable[[Any, Any], Any], parts: Iterable[Any]) -> Any:
        listed = list(parts)
        return super().fold(kernel, merge, [*listed[:-1], listed[0]])


@pytest.mark.claim("placed.1")
@pytest.mark.parametrize("kind", SOME)
def test_rows_are_counted_and_a_wrong_number_ends_the_question(kind: str, folder: Path, tmp_path: Path) -> None:
    name, arguments = SOME[kind]
    pq.write_table(rows().slice(0, 500), tmp_path / "a.parquet")
    pq.write_table(rows().slice(500, 700), tmp_path / "b.parquet")
    with discreet.open(
        tmp_path, budget=discreet.Budget(100.0, 0.1), ledger=":memory:", engine=Twice(), rng=Seeded(1)
    ) as session:
        before = session.balance.left.epsilon
        with pytest.raises(NotAnswered, match="the data changed while they were read"):
            session.ask(name, **arguments)
        assert session.balance.left.epsilon < before


def test_what_cannot_be_sent_is_refused() -> None:
    with pytest.raises(BadInput, match="engine= is for files and for frames of Dask or Spark"):
        discreet.open({"x": [1.0]}, budget=1.0, ledger=":memory:", engine=Elsewhere())


def test_a_profile_and_a_plan_are_the_same_elsewhere(folder: Path) -> None:
    here, there = (
        discreet.describe(folder, epsilon=20.0, delta=1e-6, rng=Seeded(1), engine=engine).to_dict()["releases"]
        for engine in (None, Elsewhere())
    )
    assert there == here
    text = (
        f'title = "People"\n[data]\nsource = "{folder}"\n[population]\nname = "p"\nledger = "l"\nepsilon = 9.0\n'
        '[spend]\nepsilon = 1.0\n[[release]]\nid = "a"\nstatistic = "count"\n'
    )
    assert bind(parse_plan(text, "plan"), text, folder.parent, engine=Elsewhere()).table.size() == 2000
    with pytest.raises(BadInput, match="engine is 'mars://host'"):
        bind(parse_plan(text, "plan"), text, folder.parent, engine="mars://host")
