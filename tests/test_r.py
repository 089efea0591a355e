"""The wrapper for R, where there is an R with reticulate."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def test_the_wrapper_for_r() -> None:
    rscript = shutil.which("Rscript")
    if rscript is None:
        pytest.skip("there is no R")
    environment = os.environ | {"RETICULATE_PYTHON": sys.executable, "PYTHONPATH": str(ROOT / "src")}
    asked = subprocess.run(
        [rscript, "-e", "reticulate::py_config()"], env=environment, capture_output=True, check=False
    )
    if asked.returncode:  # reticulate 1.28 does so on Python 3.13
        pytest.skip("R has no reticulate, or one that cannot load this Python")
    done = subprocess.run(
        [rscript, "r/tests/basic.R"], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("all passed\n")
