"""Answers on Dask and Spark are those of this machine, to the last digit; what fails there tells nothing."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest
from benchmarks.cluster_questions import (
    BLOCKS,
    FOLDED,
    NAMES,
    PASSES,
    SOME,
    WEIGHTED,
    Deadly,
    asked,
    drawn,
    every,
    quotes,
    rows,
    shown,
    weighted,
)

import discreet
from discreet import Seeded
from discreet.engines import Spark, engine_of
from discreet.engines.retried import TRIES
from discreet.engines.spark import check_java
from discreet.engines.spark_watch import LOOKS
from discreet.errors import BadInput, NotAnswered

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")


KEPT: dict[str, tuple[str, dict[str, Any]]] = {  # many passes
    "logistic": ("logistic_regression", {"X": ["x", "z"], "y": "flag", "epsilon": 20.0, "delta": 1e-5}),
    "kmeans": ("kmeans", {"X": ["x", "z"], "k": 2, "where": "whole > 2", "epsilon": 20.0}),
}


@pytest.fixture(scope="module", params=["dask", "spark"])
def engine(request: pytest.FixtureRequest) -> Any:
    return request.getfixturevalue(request.param)


def check_traps(engine: Any) -> None:
    """Equal calls are two calls; what fails is None in a map, and one sentence in a fold, which quotes nothing."""
    first, second = engine.map(drawn, ["same", "same"])
    assert first != second
    assert engine.map(quotes, [1, 2]) == [None, None]
    with pytest.raises(BadInput, match="a part of the table was lost") as error:
        engine.fold(quotes, max, [1, 2])
    assert (error.value.__cause__, error.value.__context__) == (None, None)
    assert engine.fold(len, max, []) is None


def framed(engine: Any) -> tuple[Any, Any]:
    """The table as a frame of an engine, and here."""
    here = rows().to_pandas()
    if isinstance(engine, Spark):
        return engine.session.createDataFrame(here).coalesce(3), rows()
    import dask.dataframe as dd

    return dd.from_pandas(here, npartitions=3), here


@pytest.mark.engines
@pytest.mark.claim("per_person.2")
def test_a_frame_has_no_first_row_of_a_person(engine: Any, folder: Path) -> None:
    """And what the refusal advises gives what files give."""
    label: dict[str, Any] = {"x": "label", "categories": ["no", "yes"], "epsilon": 20.0}
    some: dict[str, Any] = {"where": "label == 'yes'", "x": "flag", "epsilon": 20.0}
    with discreet.open(
        framed(engine)[0], person="id", engine=engine, budget=99.0, ledger=":memory:", rng=Seeded(1)
    ) as there:
        questions: tuple[tuple[str, dict[str, Any]], ...] = (
            ("histogram", label),
            ("proportion", some),
            ("mean", {"x": "x", "bounds": (-3, 3), "max_rows": 2, "epsilon": 20.0}),
            ("mean", {"x": "x", "bounds": (-3, 3), "groupby": "label", "keys": ["no"], "epsilon": 20.0}),
        )
        for name, arguments in questions:
            with pytest.raises(BadInput, match=r"no order that stays.*open that: rows of files have an order"):
                there.ask(name, **arguments)
        assert there.balance.spent.epsilon == 0
        answers = [shown(there.ask("proportion", **some, per_person="any")), shown(there.count(epsilon=20.0))]
    with discreet.open(folder, person="id", engine=engine, budget=99.0, ledger=":memory:", rng=Seeded(1)) as files:
        again = [shown(files.ask("proportion", **some, per_person="any")), shown(files.count(epsilon=20.0))]
        assert again == [answer.replace(there.table.description, files.table.description) for answer in answers]
        assert "no" in shown(files.ask("histogram", **label))


def check_some(engine: Any, folder: Path, mark: Path) -> None:
    """A frame that is folded, files whose rows are brought here while a worker is killed, with one charge, and blocks
    of people that are fitted there."""
    there, here = framed(engine)
    assert asked(there, engine, *SOME["mean of some"]) == asked(here, None, *SOME["mean of some"])
    deadly = Deadly(engine, mark)
    assert asked(folder, deadly, *SOME["regression"]) == asked(folder, None, *SOME["regression"])
    assert mark.exists()
    assert asked(folder, engine, *BLOCKS, person="id") == asked(folder, None, *BLOCKS, person="id")


def test_some_questions_on_dask(dask: Any, folder: Path, tmp_path: Path) -> None:
    """And nothing of them is in the logs of Dask, whose pages are on this machine alone."""
    check_some(dask, folder, tmp_path / "mark")
    check_traps(dask)
    deadly = Deadly(dask, tmp_path / "people")
    assert asked(folder, deadly, *SOME["median"], person="id") == asked(folder, None, *SOME["median"], person="id")
    assert deadly.mark.exists()
    written = str([dask.client.get_worker_logs(), dask.client.get_scheduler_logs()])
    assert not [one for one in ("patient 4711", "nobody-4711") if one in written]
    sockets = dask.client.cluster.scheduler.http_server._sockets.values()
    assert {socket.getsockname()[0] for socket in sockets} <= {"127.0.0.1"}


def test_some_questions_on_spark(spark: Any, folder: Path, tmp_path: Path) -> None:
    """And nothing of them is in Spark's event log."""
    check_some(spark, folder, tmp_path / "mark")
    check_traps(spark)
    logs = spark.session.conf.get("spark.eventLog.dir").removeprefix("file://")
    written = "".join(log.read_text(errors="replace") for log in Path(logs).rglob("*") if log.is_file())
    assert len(written) > 1000
    assert not [one for one in ("patient 4711", "nobody-4711") if one in written]


def test_an_engine_is_named_by_its_address() -> None:
    for wrong in ("dask", "mars://host:1", "spark://", 3):
        with pytest.raises(BadInput, match="engine is"):
            engine_of(wrong)
    assert engine_of(None, {"x": [1.0]}) is None


def test_without_java_the_error_names_java_17(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(BadInput, match="needs Java 17 or newer, and none was found; install it"):
        check_java()
    old = tmp_path / "bin" / "java"
    old.parent.mkdir()
    old.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\"' >&2\n")
    old.chmod(0o755)
    with pytest.raises(BadInput, match="that was found is Java 11"):
        check_java()


class Deserted:
    """A session of Spark without executors: a task is never run."""

    version = "4.0.0"

    def __init__(self) -> None:
        self.taken_back: list[str] = []
        self.over = Event()

    def range(self, *_: int) -> "Deserted":
        return self

    createDataFrame = addTag = mapInArrow = range  # noqa: A003, N815  as Spark calls it

    def toArrow(self) -> Any:  # noqa: N802  as Spark calls it
        raise RuntimeError(f"patient 4711 {self.count()}")

    def count(self) -> int:
        return int(self.over.wait())

    def interruptTag(self, tag: str) -> None:  # noqa: N802  as Spark calls it
        self.taken_back.append(tag)
        before, self.over = self.over, Event()
        before.set()


def test_spark_without_executors_is_not_waited_for() -> None:
    works: list[Callable[[Any], Any]] = [
        lambda engine: engine.fold(len, max, ["a"]),
        lambda engine: engine.map(len, ["a"]),
    ]
    for work in works:
        session = Deserted()
        with pytest.raises(BadInput, match=r"Spark ran no task within 0\.01 seconds: it has no executor"):
            work(Spark(session, limit=0.01))
        assert [tag[:9] for tag in session.taken_back] == ["discreet-"]
    for wrong in (0, -1, float("nan"), "1"):
        with pytest.raises(BadInput, match="limit is"):
            Spark(Deserted(), limit=wrong)


class Abandoned(Deserted):
    """A session of Spark whose executors end `tasks` more tasks, and then are gone."""

    def __init__(self, tasks: int) -> None:
        super().__init__()
        self.tasks, self.looks = tasks, 0

    @property
    def sparkContext(self) -> "Abandoned":  # noqa: N802  as Spark calls it
        return self

    def statusTracker(self) -> "Abandoned":  # noqa: N802  as Spark calls it
        return self

    def getActiveStageIds(self) -> list[int]:  # noqa: N802  as Spark calls it
        self.looks += 1
        return [7]

    def getStageInfo(self, stage: int) -> Any:  # noqa: N802  as Spark calls it
        return SimpleNamespace(numCompletedTasks=min(self.looks, self.tasks))


@pytest.mark.claim("retried.1")
def test_executors_of_spark_that_are_lost_are_not_waited_for() -> None:
    for tasks in (0, 9):  # as long as tasks end it is waited for
        session = Abandoned(tasks)
        engine = Spark(session, limit=0.02, ready=[True])
        with pytest.raises(BadInput, match="a part of the table was lost") as error:
            engine.fold(len, max, ["a"])
        assert (error.value.__cause__, error.value.__context__) == (None, None)
        assert len(session.taken_back) == len(set(session.taken_back)) == TRIES
        assert session.looks >= max(tasks, TRIES * LOOKS)
    assert Spark(Abandoned(0), limit=0.02, ready=[True]).map(len, ["a"]) == [None]


@pytest.mark.engines
@pytest.mark.parametrize("kind", SOME)
def test_a_frame_there_gives_what_it_gives_here(kind: str, engine: Any) -> None:
    there, here = framed(engine)
    assert asked(there, engine, *SOME[kind]) == asked(here, None, *SOME[kind])


@pytest.mark.engines
@pytest.mark.parametrize("kind", SOME)
def test_a_worker_that_is_killed_changes_nothing(kind: str, folder: Path, engine: Any, tmp_path: Path) -> None:
    deadly = Deadly(engine, tmp_path / "mark")
    assert asked(folder, deadly, *SOME[kind]) == asked(folder, None, *SOME[kind])  # with one charge
    assert deadly.mark.exists()


@pytest.mark.engines
@pytest.mark.parametrize("kind", PASSES)
def test_a_worker_that_is_killed_in_any_kind_of_pass_changes_nothing(
    kind: str, folder: Path, engine: Any, tmp_path: Path
) -> None:
    question, options, at = PASSES[kind]
    deadly = Deadly(engine, tmp_path / "mark", at=at)
    assert asked(folder, deadly, *question, **options) == asked(folder, None, *question, **options)
    assert deadly.mark.exists()


@pytest.mark.engines
@pytest.mark.claim("kept_rows.1")
@pytest.mark.parametrize("at", ["keep", "again"])
@pytest.mark.parametrize("kind", KEPT)
def test_a_worker_that_is_killed_loses_what_it_kept_and_changes_nothing(
    kind: str, at: str, engine: Any, tmp_path: Path
) -> None:
    there, here = framed(engine)
    deadly = Deadly(engine, tmp_path / "mark", at=at)
    assert asked(there, deadly, *KEPT[kind]) == asked(here, None, *KEPT[kind])
    assert deadly.mark.exists()
    assert remembered(engine) == 0


def remembered(engine: Any) -> int:
    """What the cluster still has of earlier questions; it may take a moment to hear that nobody wants it."""
    for _ in range(100):
        if isinstance(engine, Spark):
            left = int(engine.session.sparkContext._jsc.getPersistentRDDs().size())
        else:
            left = engine.client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))
        if not left:
            break
        time.sleep(0.1)
    return left


@dataclass(frozen=True)
class Breaking(Deadly):
    """A pass over what was kept fails for good."""

    def fold(self, kernel: Callable[[Any], Any], merge: Callable[[Any, Any], Any], parts: Any) -> Any:
        again = any(parts is one for one in self.kept)
        return self.engine.fold(quotes if again else kernel, merge, parts)


@pytest.mark.engines
@pytest.mark.claim("kept_rows.2")
def test_nothing_is_kept_when_a_question_is_over(engine: Any, tmp_path: Path) -> None:
    there, here = framed(engine)
    for question in KEPT.values():
        assert asked(there, engine, *question) == asked(here, None, *question)
        assert remembered(engine) == 0
        broken = Breaking(engine, tmp_path / "mark", at="")
        with pytest.raises(NotAnswered) as error:
            asked(there, broken, *question)
        assert "4711" not in f"{error.value}{error.value.__cause__}{error.value.__context__}"
        assert broken.kept
        assert remembered(engine) == 0


@pytest.mark.engines
@pytest.mark.parametrize("relation", ["add_or_remove", "replace"])
@pytest.mark.parametrize("kind", FOLDED)
def test_options_that_fold_give_the_same_there(kind: str, relation: str, folder: Path, engine: Any) -> None:
    ask = partial(asked, name=FOLDED[kind][0], arguments=FOLDED[kind][1])
    people: tuple[dict[str, Any], ...] = ({}, {"person": "id"})
    for more in ({"neighbours": relation, **one} for one in people):
        assert ask(folder, engine, **more) == ask(folder, None, **more)


@pytest.mark.engines
@pytest.mark.parametrize("relation", ["add_or_remove", "replace"])
@pytest.mark.parametrize("name", NAMES)
def test_every_statistic_is_the_same_there(name: str, relation: str, folder: Path, engine: Any) -> None:
    ask = partial(asked, name=name, arguments=every(name), neighbours=relation)
    assert ask(folder, engine) == ask(folder, None)


@pytest.mark.engines
@pytest.mark.parametrize("relation", ["add_or_remove", "replace"])
@pytest.mark.parametrize("name", WEIGHTED)
def test_every_statistic_with_weights_is_the_same_there(name: str, relation: str, folder: Path, engine: Any) -> None:
    ask = partial(asked, name=name, arguments=weighted(name), neighbours=relation)
    assert ask(folder, engine) == ask(folder, None)


@pytest.mark.engines
@pytest.mark.parametrize("name", NAMES)
def test_every_statistic_of_people_with_several_rows_is_the_same_there(name: str, folder: Path, engine: Any) -> None:
    ask = partial(asked, name=name, arguments=every(name), person="id")
    assert ask(folder, engine) == ask(folder, None)


@pytest.mark.engines
def test_an_executor_of_spark_that_is_killed_changes_nothing(spark: Any, folder: Path, tmp_path: Path) -> None:
    for name, arguments in SOME.values():
        deadly = Deadly(spark, tmp_path / f"{name}{len(arguments)}", parents=2)
        assert asked(folder, deadly, name, arguments) == asked(folder, None, name, arguments)
        assert deadly.mark.exists()
