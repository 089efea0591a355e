"""Run the notebooks of docs/notebooks and keep them with their output, beside the scripts they are made of.

python -m scripts.notebooks [names]
"""

import sys
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).parent.parent / "docs" / "notebooks"


def run(path: Path) -> None:
    """Execute one script, in percent format, in a fresh kernel."""
    notebook = jupytext.read(path)
    notebook.metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    NotebookClient(notebook, timeout=600, kernel_name="python3", record_timing=False).execute()
    for count, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{count}"  # the same at each run
    notebook.metadata.pop("language_info", None)
    nbformat.write(notebook, path.with_suffix(".ipynb"))
    print(f"{path.name}: {len(notebook.cells)} cells")


if __name__ == "__main__":
    for script in sorted(HERE.glob("*.py")):
        if len(sys.argv) == 1 or script.stem in sys.argv[1:]:
            run(script)
