"""What was measured, kept as data: benchmarks/results/STUDY.json, of which docs/benchmarks.md is made.

A file says when, on which commit, on what machine and by which command, and has a line for each figure: what, which
figure, the number, its bar, and whether the bar is met. `python -m benchmarks.overview` makes the page.
"""

import json
import os
import platform
import shlex
import subprocess
import sys
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

Row = tuple[str, str, str, str, bool]  # what, figure, measured, bar, and whether the bar is met
RESULTS = Path(__file__).parent / "results"


def record(study: str, rows: Iterable[Row], *, note: str = "", keep: bool = True) -> bool:
    """Print each row as soon as it is measured; write them all, if they are to be kept. Whether all bars are met."""
    kept: list[Row] = []
    for row in rows:
        print("  ".join(f"{text:<40}" for text in row[:4]), "ok" if row[4] else "MISSED", flush=True)
        kept.append((*row[:4], bool(row[4])))
    if keep:
        write(study, kept, {"run": _command(), "date": _today(), "commit": _commit(), "machine": _machine()}, note)
    return all(row[4] for row in kept)


def write(study: str, rows: Iterable[Row], source: Mapping[str, str], note: str = "") -> None:
    """The file of a study, a line for each figure."""
    head = json.dumps({"study": study, **source, "note": note}, indent=1)[1:-2]
    lines = ",\n  ".join(json.dumps(list(row)) for row in rows)
    (RESULTS / f"{study}.json").write_text(f'{{{head},\n "rows": [\n  {lines}\n ]\n}}\n')


def recorded() -> dict[str, dict[str, Any]]:
    """All studies."""
    return {path.stem: json.loads(path.read_text()) for path in sorted(RESULTS.glob("*.json"))}


def _command() -> str:
    module = getattr(sys.modules["__main__"], "__spec__", None)
    return shlex.join(["python", "-m", module.name.removesuffix(".__main__") if module else "?", *sys.argv[1:]])


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


def _commit() -> str:
    found = subprocess.run(
        ["git", "describe", "--always", "--dirty"],  # noqa: S607  whichever git there is
        cwd=RESULTS.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    return found.stdout.strip() or "unknown"


def _machine() -> str:
    versions = f"Python {platform.python_version()}, numpy {np.__version__}"
    return f"{platform.machine()}, {os.cpu_count()} cores, {versions}"
