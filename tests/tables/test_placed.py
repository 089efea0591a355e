"""Parts that an engine works on give what reading them here gives; no noise, key or rng goes there."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial, reduce
from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from benchmarks.cluster_questions import NAMES, SOME, WEIGHTED, asked, every, rows, weighted
from tests.unruly import Unruly, as_data

import discreet
from discreet import Seeded
from discreet.engines import Local
from discreet.errors import BadInput, NotAnswered
from discreet.plan.bound_plan import bind
from discreet.plan.plan_file import parse_plan
from discreet.stages.locate import some_places, taken
from discreet.tables.arranging import held, present
from discreet.tables.opening import read
from discreet.tables.per_person import one_each
from discreet.tables.placed import Afar
from discreet.tables.streams import column_of
from discreet.tables.wanted import Want
from discreet.tables.where import Where


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
        return reduce(merge, [as_data(work(part)) for work, part in calls]) if calls else None


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


FRAME: Any = object()


class Shuffled(Elsewhere):
    """An engine of frames whose rows come in another order each time; rows of a person are brought together there."""

    def __init__(self) -> None:
        super().__init__()
        self.unruly, self.times = Unruly(7), 0

    def opened(self, frame: Any) -> Any:
        return self if frame is FRAME else None

    description, empty = "a frame of this test", rows().slice(0, 0)

    def size(self) -> int:
        return 2000

    def parts(self, columns: Iterable[str]) -> list[Any]:
        self.times += 1
        order = np.random.default_rng(self.times).permutation(2000)
        table = rows().select(list(columns)).take(order)
        return [Afar(number, partial(_slice, table, number)) for number in range(4)]

    def exchange(self, *given: Any) -> Any:
        return self.unruly.exchange(*given)


def _slice(table: pa.Table, number: int) -> Iterator[Any]:
    yield {name: pa.concat_arrays(table.column(name).chunks)[number * 500 :][:500] for name in table.column_names}


UNSTEADY: dict[str, tuple[str, dict[str, Any]]] = {
    "texts": ("histogram", {"x": "label", "categories": ["no", "yes"]}),
    "groups": ("mean", {"x": "x", "bounds": (-3, 3), "groupby": "label", "keys": ["no"]}),
    "a condition": ("mean", {"x": "x", "bounds": (-3, 3), "where": "label == 'no'"}),
    "truths": ("proportion", {"x": "flag"}),
    "at most so many": ("mean", {"x": "x", "bounds": (-3, 3), "max_rows": 2}),
    "the last": ("median", {"x": "x", "per_person": "last"}),
    "counted by group": ("count", {"groupby": "x", "keys": [1.0]}),
}


@pytest.mark.claim("per_person.2")
@pytest.mark.parametrize("kind", UNSTEADY)
def test_a_frame_has_no_first_row_of_a_person(kind: str, folder: Path) -> None:
    name, arguments = UNSTEADY[kind]
    with discreet.open(
        FRAME, person="id", budget=discreet.Budget(99.0), ledger=":memory:", engine=Shuffled(), rng=Seeded(1)
    ) as session:
        with pytest.raises(BadInput, match=r"no order that stays.*rows of files have an order") as error:
            session.ask(name, **arguments, epsilon=9.0)
        assert session.balance.spent.epsilon == 0
        if "per_person={" in str(error.value) and kind != "at most so many":
            column = str(error.value).partition("per_person={'")[2].partition("'")[0]
            rule = "mean" if column == "x" else "any"
            assert session.ask(name, **{**arguments, "per_person": {column: rule}}, epsilon=9.0).refusal is None
    with discreet.open(folder, person="id", budget=99.0, ledger=":memory:", engine=Elsewhere(), rng=Seeded(1)) as files:
        assert files.ask(name, **arguments, epsilon=9.0) is not None  # as is advised


@pytest.mark.claim("per_person.2")
@pytest.mark.parametrize("rule", ["mean", "max"])
def test_rows_that_are_shuffled_change_no_digit_of_a_person(rule: str) -> None:
    question = {"x": "x", "epsilon": 20.0, "per_person": rule}
    ask = partial(asked, FRAME, name="mean", arguments=question, person="id")
    engine = Shuffled()
    assert ask(engine) == ask(engine)
    assert engine.times >= 2  # in two orders
    values, order = np.array([0.1, 0.2, 0.3]), np.array([2, 1, 0])
    terms: dict[str, Any] = {"people": 1, "rule": "sum", "turn": None, "cap": None}
    codes = np.zeros(3, dtype=np.int64)
    assert one_each(values, codes, **terms) != one_each(values[order], codes, **terms)
    assert one_each(values, codes, **terms, steady=False) == one_each(values[order], codes, **terms, steady=False)


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


class Watched(Elsewhere):
    """How many bytes came back at most in one fold."""

    most = 0

    def fold(self, kernel: Callable[[Any], Any], merge: Callable[[Any, Any], Any], parts: Iterable[Any]) -> Any:
        found = super().fold(kernel, merge, parts)
        self.most = max(self.most, len(cloudpickle.dumps(found)))
        return found


@pytest.mark.claim("placed.1", "locate.1")
@pytest.mark.parametrize("wanted", [7, 64])  # one row of some pieces, or several of each
@pytest.mark.parametrize("where", [None, "whole > 1"])
def test_rows_at_public_places_are_sent_and_no_others(where: str | None, wanted: int, folder: Path) -> None:
    engine, condition = Watched(), None if where is None else Where.parse(where)
    wants = [Want("x", "number", missing="drop")]
    there, here = (read(folder, engine=one) for one in (engine, None))
    column = column_of(present(there.rows(wants, where=condition), wants)[0], "x")
    places = some_places(len(column), wanted)
    assert isinstance(places, np.ndarray)
    engine.most = 0
    found = taken(column, places)
    assert engine.most < 8 * len(column) / 3  # bytes
    np.testing.assert_array_equal(found, held(here.columns(wants, where=condition)["x"])[places])
    held(column)
    assert engine.most > 8 * len(column)  # all of them were brought here
