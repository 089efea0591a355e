"""The gallery: `python -m scripts.gallery` runs examples/gallery, and writes docs/gallery with output and pictures.

A script is a docstring, whose first line is its title, and code that prints and leaves a matplotlib `figure`.
"""

import ast
import contextlib
import io
import runpy
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl

ROOT = Path(__file__).parent.parent
SCRIPTS, PAGES = ROOT / "examples" / "gallery", ROOT / "docs" / "gallery"
ORDER = (
    *("mean_and_quantiles", "group_means", "histogram", "density", "linear_regression", "logistic_regression"),
    *("clusters", "survival", "two_means", "budget", "hospitals", "choosing_epsilon", "synthetic"),
)


def run(name: str) -> tuple[str, Any]:
    """What a script prints, and its figure."""
    mpl.use("Agg")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        names = runpy.run_path(str(SCRIPTS / f"{name}.py"))
    return printed.getvalue(), names["figure"]


def title(name: str) -> str:
    """The first line of a script."""
    return _parts(name)[0]


def _parts(name: str) -> tuple[str, str, str]:
    """Title, text, code."""
    text = (SCRIPTS / f"{name}.py").read_text()
    told = ast.get_docstring(ast.parse(text)) or ""
    head, _, about = told.partition("\n\n")
    return head, about, text.split('"""\n', 1)[1].strip()


def page(name: str, printed: str) -> str:
    """Text, picture, output, code."""
    head, about, code = _parts(name)
    return (
        f"# {head}\n\n{about}\n\n![{head}]({name}.png)\n\n```text\n{printed.rstrip()}\n```\n\n"
        f"The whole script, `examples/gallery/{name}.py`:\n\n```python3\n{code}\n```\n"
    )


def index() -> str:
    """The pictures as thumbnails."""
    cards = "\n".join(f"- [![{title(name)}]({name}.png)]({name}.md)\n\n  [{title(name)}]({name}.md)" for name in ORDER)
    listed = "\n".join(ORDER)
    return (
        "# Gallery\n\nThirteen short scripts on real tables, each beside the answer without privacy. Refusals are\n"
        "shown. Some questions and budgets were chosen after a first try, so these are examples and not\n"
        "evidence: that is in [intervals on real tables](../ordinary-data.md). The noise is seeded so that the\n"
        "pages can be checked; leave `rng` out to publish.\n\n"
        f"{cards}\n\n```{{toctree}}\n:hidden:\n\n{listed}\n```\n"
    )


def main(wanted: list[str]) -> None:
    """All, or some."""
    for name in wanted or ORDER:
        printed, figure = run(name)
        figure.savefig(PAGES / f"{name}.png", dpi=90)
        (PAGES / f"{name}.md").write_text(page(name, printed))
        print(f"== {name}\n{printed}", flush=True)
    (PAGES / "index.md").write_text(index())


if __name__ == "__main__":
    main(sys.argv[1:])
