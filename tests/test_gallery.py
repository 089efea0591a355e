"""Each script of the gallery runs, prints what its page shows, and draws."""

import ast
import re

import pytest
from scripts.gallery import ORDER, PAGES, SCRIPTS, index, page, run


def _rounded(text: str) -> str:
    """Numbers to three digits: the last ones differ between processors."""
    return re.sub(r"\d+\.\d+", lambda found: f"{float(found[0]):.3g}", text)


@pytest.mark.parametrize("name", ORDER)
def test_a_page_shows_what_its_script_prints(name: str) -> None:
    plt = pytest.importorskip("matplotlib.pyplot")
    printed, figure = run(name)
    assert figure.axes
    plt.close(figure)
    stored = (PAGES / f"{name}.md").read_text()
    assert _rounded(stored) == _rounded(page(name, printed)), f"run python -m scripts.gallery {name}"
    assert 5_000 < (PAGES / f"{name}.png").stat().st_size < 60_000


def test_every_script_is_in_the_gallery() -> None:
    assert sorted(ORDER) == sorted(path.stem for path in SCRIPTS.glob("*.py"))
    assert index() == (PAGES / "index.md").read_text()
    for name in ORDER:
        text = (SCRIPTS / f"{name}.py").read_text()
        assert len(text.splitlines()) <= 50, f"{name} is not short"
        assert ast.get_docstring(ast.parse(text))
