"""The examples run, and print what their text says; the pictures in the documents are those that the script draws."""

import re
import runpy
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent
LARGEST = 60_000  # bytes of a picture


def test_the_friendly_example_says_what_happens(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "examples" / "friendly.py"), run_name="__main__")
    text = capsys.readouterr().out
    assert "the ellipsoid holds it: True" in text
    assert re.search(r"12 pairs dropped, 176 of 200 survive\na stray survives: False", text)
    assert re.search(r"refused: \d+ rows \(a noisy number\) are too few", text)
    assert re.search(r"refused: too few rows agree within the radius 0.1", text)
    ages = [float(found) for found in re.findall(r"^  age +([\d.]+)", text, re.M)]
    assert len(ages) == 2
    assert all(35 < age < 45 for age in ages), "the strays moved the mean"
    noise = [float(found) for found in re.findall(r"noise \[([\d.]+)", text)]
    assert noise == sorted(noise, reverse=True)
    assert len(noise) == 3


def test_the_pictures_are_those_the_script_draws(tmp_path: Path) -> None:
    image = pytest.importorskip("matplotlib.image")
    from examples.friendly_pictures import PICTURES, draw

    drawn = draw(tmp_path)
    page = (ROOT / "docs" / "why-friendly.md").read_text()
    assert sorted(path.name for path in drawn) == sorted(path.name for path in PICTURES.glob("*.png"))
    for path in drawn:
        stored = PICTURES / path.name
        assert f"(pictures/{path.name})" in page
        assert stored.stat().st_size < LARGEST
        ours, theirs = image.imread(path)[..., :3], image.imread(stored)[..., :3]
        assert ours.shape == theirs.shape
        assert float(np.abs(ours - theirs).mean()) < 0.004, f"{path.name} is not what the script draws; run it again"


def test_the_picture_of_growth_is_drawn_from_the_table(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from examples.growth_picture import PICTURE, draw, measured

    found = measured((ROOT / "docs" / "engines.md").read_text())
    assert len(found) == 9
    assert all(len(cells) == 3 and None not in cells[2] for cells in found.values())
    draw(tmp_path / "growth.svg")
    assert (tmp_path / "growth.svg").read_bytes() == PICTURE.read_bytes(), "run examples/growth_picture.py again"
