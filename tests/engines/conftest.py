"""Two small clusters on this machine, started once for a module, and a table in four files."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.engines import Dask, Spark
from discreet.engines.spark import check_java
from discreet.errors import BadInput

ROWS = 2000


def rows() -> pa.Table:
    """What the questions of benchmarks/posed.py are about; some entries are missing, some people have several rows."""
    rng = np.random.default_rng(0)
    x = [None if place % 97 == 0 else value for place, value in enumerate(rng.normal(0, 1, ROWS).tolist())]
    return pa.table(
        {
            "x": pa.array(x, pa.float64()),
            "z": rng.normal(1, 2, ROWS),
            "y": rng.normal(2, 1, ROWS),
            "whole": rng.integers(0, 9, ROWS),
            "hits": rng.poisson(3, ROWS),
            "flag": rng.random(ROWS) < 0.4,
            "label": np.where(rng.random(ROWS) < 0.5, "no", "yes"),
            "town": rng.choice(["a", "b", "c"], ROWS),
            "id": rng.integers(0, ROWS // 2, ROWS),
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place, table = tmp_path_factory.mktemp("people"), rows()
    for number in range(4):
        pq.write_table(table.slice(number * 500, 500), place / f"part-{number}.parquet", row_group_size=200)
    return place


@pytest.fixture(scope="module")
def dask() -> Iterator[Any]:
    from dask.distributed import Client, LocalCluster

    with (
        LocalCluster(2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield Dask(client)


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    try:
        check_java()
    except BadInput:
        pytest.skip("Spark needs Java 17, which is not here")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    logs = tmp_path_factory.mktemp("events")
    builder = SparkSession.builder.master("local-cluster[2,1,1024]")
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "OFF",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": logs.as_uri(),
        "spark.eventLog.compress": "false",
        "spark.executor.memory": "700m",
        "spark.executorEnv.PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "spark.sql.warehouse.dir": str(logs / "warehouse"),
    }.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield Spark(session)
    session.stop()
