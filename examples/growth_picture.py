"""Draws docs/pictures/growth.svg: processor seconds and memory against rows, from the table in docs/engines.md.

python examples/growth_picture.py [file]
"""

import re
import sys
from pathlib import Path
from typing import Final

import matplotlib as mpl
from matplotlib.figure import Figure

DOCS: Final = Path(__file__).parent.parent / "docs"
PICTURE: Final = DOCS / "pictures" / "growth.svg"
ROWS: Final = (1e6, 1e7, 1e8)
COLOURS: Final = ("#1f4e79", "#c8553d", "#d99a2b", "#4a8f6d", "#7b5aa6", "#777777", "#999999", "#b0b0b0", "#c6c6c6")
SEEN: Final = re.compile(r"([\d.]+)")


def measured(page: str) -> dict[str, list[tuple[float | None, float | None]]]:
    """CPU seconds and gigabytes by line of the table, for each number of rows; None where nothing was measured."""
    lines = page.split("| people |", 1)[1].split("\n\n", 1)[0].splitlines()[2:]
    found = {}
    for line in lines:
        name, *cells = [cell.strip().strip("*") for cell in line.strip("|").split("|")]
        numbers = [float(match[1]) if (match := SEEN.search(cell)) else None for cell in cells]
        found[name.replace("`", "")] = list(zip(numbers[::2], numbers[1::2], strict=True))
    return found


def draw(path: Path) -> None:
    """Both against rows, on logarithmic axes, with a line that grows as the rows do."""
    found = measured((DOCS / "engines.md").read_text())
    with mpl.rc_context({"svg.hashsalt": "growth", "svg.fonttype": "none", "font.size": 9}):
        figure = Figure(figsize=(8.6, 3.9), layout="constrained")
        for place, (axes, title) in enumerate(
            zip(figure.subplots(1, 2), ("CPU, seconds", "memory, gigabytes"), strict=True)
        ):
            for (name, cells), colour in zip(found.items(), COLOURS, strict=True):
                known = [(rows, cell[place]) for rows, cell in zip(ROWS, cells, strict=True) if cell[place] is not None]
                dashed = "--" if name.startswith("polars") else "-"
                axes.plot(*zip(*known, strict=True), dashed, marker="o", markersize=3, color=colour, label=name)
            start = 4.0 if place == 0 else 0.06
            axes.plot([1e7, 1e8], [start, 10 * start], ":", color="#444444", label="as the rows grow")
            axes.set(xscale="log", yscale="log", xlabel="rows", title=title)
            axes.grid(visible=True, which="major", color="#e5e5e5")
        figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
        figure.savefig(path, format="svg", metadata={"Date": None})


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURE)
