"""Two small clusters on this machine, which end with the tests that use them, and a table in four files."""

import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from benchmarks.cluster_questions import rows

from discreet.engines import Dask, Spark
from discreet.engines.dask import lasting
from discreet.engines.spark import check_java
from discreet.errors import BadInput
from discreet.stages import locate
from discreet.tables import far_exchange


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place, table = tmp_path_factory.mktemp("people"), rows()
    for number in range(4):
        pq.write_table(table.slice(number * 500, 500), place / f"part-{number}.parquet", row_group_size=200)
    return place


@pytest.fixture(scope="module")
def dask() -> Iterator[Any]:
    from dask.distributed import Client

    with lasting(2) as cluster, Client(cluster) as client:
        yield Dask(client)


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several buckets of people, and a choice of rows at public places, however small the table is."""
    monkeypatch.setattr(far_exchange, "LONG", 700)
    monkeypatch.setattr(locate, "some_places", partial(few_places, locate.some_places))


def few_places(places: Callable[[int, int], Any], size: int, wanted: int) -> Any:
    return places(size, min(wanted, 99))


QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # of Java: to start soon, not to run for long


@pytest.fixture(scope="module")
def spark(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """With executors of their own for the tests of `make test-engines`; else in one Java, which is started sooner."""
    try:
        check_java()
    except BadInput:
        pytest.skip("Spark needs Java 17, which is not here")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    logs = tmp_path_factory.mktemp("events")
    whole = any(item.get_closest_marker("engines") for item in request.session.items)
    builder = SparkSession.builder.master("local-cluster[2,1,1024]" if whole else "local[2]")
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "OFF",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": logs.as_uri(),
        "spark.eventLog.compress": "false",
        "spark.driver.extraJavaOptions": QUICK,
        "spark.executor.extraJavaOptions": QUICK,
        "spark.executor.memory": "700m",
        "spark.executorEnv.PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "spark.sql.warehouse.dir": str(logs / "warehouse"),
    }.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield Spark(session)
    session.stop()
