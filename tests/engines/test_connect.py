"""Spark Connect, which has no RDD and no context: the same digits. In a process of its own: Spark has one session."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from discreet.engines.spark import check_java
from discreet.errors import BadInput

ROOT = Path(__file__).parent.parent.parent
ASKED = """
import sys, warnings
from pathlib import Path

from pyspark.sql import SparkSession

from benchmarks.cluster_questions import BLOCKS, SOME, asked, rows
from discreet.engines.spark import Spark
from discreet.tables import far_exchange

if __name__ == "__main__":
    far_exchange.LONG = 700
    warnings.simplefilter("ignore")
    session, folder = SparkSession.builder.remote("local[2]").getOrCreate(), Path(sys.argv[1])
    engine, frame = Spark(session), session.createDataFrame(rows().to_pandas()).coalesce(3)
    for there, here, question, how in (
        (folder, folder, SOME["mean of some"], {}),
        (folder, folder, SOME["median"], {"person": "id"}),
        (folder, folder, BLOCKS, {"person": "id"}),
        (folder, folder, BLOCKS, {"person": "id", "neighbours": "replace"}),
        (frame, rows().to_pandas(), SOME["mean of some"], {}),
    ):
        print(asked(there, engine, *question, **how) == asked(here, None, *question, **how), flush=True)
    session.stop()
"""


@pytest.mark.engines
def test_spark_connect_gives_the_same_digits(folder: Path, tmp_path: Path) -> None:
    if find_spec("grpc") is None or find_spec("grpc_status") is None:
        pytest.skip("Spark Connect needs pip install 'pyspark[connect]', which is not here")
    try:
        check_java()
    except BadInput:
        pytest.skip("Spark needs Java 17, which is not here")
    (tmp_path / "asked.py").write_text(ASKED)
    paths = os.pathsep.join([str(ROOT), *(path for path in sys.path if path)])
    given = dict(os.environ) | {"PYTHONPATH": paths, "PYSPARK_PYTHON": sys.executable}
    command = [sys.executable, str(tmp_path / "asked.py"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=given, cwd=ROOT)
    assert done.stdout.split() == ["True"] * 5, done.stderr[-2000:]
