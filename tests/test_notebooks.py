"""The lectures' notebooks run from beginning to end, and are kept with their output."""

import json
import re
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parent.parent / "docs" / "notebooks").glob("*.py"))
FEW = {"RUNS": 2, "FITS": 1, "TRIALS": 200}  # instead of what the first cell says


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    mpl.use("Agg")
    text = path.read_text()
    for name, value in FEW.items():
        text = re.sub(rf"^{name} = \d+", f"{name} = {value}", text, flags=re.MULTILINE)
    exec(compile(text, str(path), "exec"), {"__name__": "notebook"})
    assert plt.get_fignums()
    plt.close("all")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_with_the_output_of_its_own_cells(path: Path) -> None:
    kept = json.loads(path.with_suffix(".ipynb").read_text())
    cells = ["".join(cell["source"]).strip() for cell in kept["cells"]]
    parts = re.split(r"^# %%.*\n", path.read_text(), flags=re.MULTILINE)[1:]
    source = [re.sub(r"^# ?", "", part, flags=re.MULTILINE).strip() for part in parts]
    plain = [re.sub(r"^# ?", "", cell, flags=re.MULTILINE).strip() for cell in cells]
    assert plain == source, "run `make notebooks`"
    pictures = [one for cell in kept["cells"] for one in cell.get("outputs", []) if "image/png" in one.get("data", {})]
    assert pictures
