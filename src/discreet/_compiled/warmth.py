"""Whether a compiled pass is worth it here and now.

The first use of a pass after an install compiles it, which takes seconds; what was compiled is kept on disk, and later
uses load it. A plain pass over a million numbers takes a twentieth of a second (a mean) to a second (k-means). So what
was never compiled here is compiled for long inputs only, and short ones are counted plainly, with the same integers.
"""

import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

COLD: Final = 2_000_000  # rows from which a pass that was never compiled here is compiled


def warm(rows: int, kernels: str, *, least: int | None = None) -> bool:
    """Whether so many rows are worth the passes of a module: from `least` on, or if it was compiled before."""
    return rows >= (COLD if least is None else min(least, COLD)) or compiled_before(kernels)


@cache
def compiled_before(kernels: str) -> bool:
    """Whether anything of a module was compiled and kept; numba itself takes half a second to load and ask."""
    return any(True for folder in _folders() for _ in folder.glob(f"{kernels}.*.nbi"))


def _folders() -> Iterator[Path]:
    """Where numba keeps what it compiled: as it is told, beside the module, or in the user's own folder."""
    here = Path(__file__).parent
    given = os.environ.get("NUMBA_CACHE_DIR")
    roots = [Path(given)] if given else [_own() / "numba"]
    for root in roots:
        try:
            yield from (folder for folder in root.iterdir() if folder.is_dir())
        except OSError:
            continue
    if not given:
        yield from (here / "__pycache__", here.parent / "noise" / "__pycache__")


def _own() -> Path:
    if os.name == "nt":
        return Path(os.environ.get("LOCALAPPDATA", ""))
    home = Path(os.path.expanduser("~"))
    return home / "Library" / "Caches" if sys.platform == "darwin" else home / ".cache"
