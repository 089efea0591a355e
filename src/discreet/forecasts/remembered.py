"""Forecasts kept on disk: the same question to the same code has the same forecast, so it is simulated once.

What is kept follows from public numbers alone: a plan's options and guesses, and the forecast made of them. No data
are near it, and neither a price nor an answer is ever read from here. The folder is the user's own, in the place where
the system keeps caches: never beside a plan or a table. DISCREET_FORECASTS names another folder, or is `off`.

A file is written whole and then given its name, so that others see all of it or nothing. Whatever cannot be read or
written is simulated again.
"""

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Final

SETTING: Final = "DISCREET_FORECASTS"
OFF: Final = "off"
MOST: Final = 1000  # files that are kept; beyond that the oldest goes
Told = dict[str, Any]


def remembered(question: Mapping[str, Any], simulate: Callable[[], Told | None]) -> Told | None:
    """The forecast of a question of plain values: as it is kept, or else simulated, and kept if there is one."""
    folder = _folder()
    if folder is None:
        return simulate()
    asked = json.dumps([_code(), question], sort_keys=True)
    place = folder / f"{hashlib.sha256(asked.encode()).hexdigest()}.json"
    with suppress(OSError, ValueError):
        kept = json.loads(place.read_text(encoding="utf-8"))
        if isinstance(kept, dict) and kept.get("asked") == asked and isinstance(kept.get("forecast"), dict):
            return dict(kept["forecast"])
    found = simulate()
    if found is not None:
        with suppress(OSError):
            _keep(place, json.dumps({"asked": asked, "forecast": found}))
    return found


def _folder() -> Path | None:
    """Where forecasts are kept; None where they are not."""
    setting = os.environ.get(SETTING, "").strip()
    if setting == OFF:
        return None
    if setting:
        return Path(setting)
    from platformdirs import user_cache_path

    try:
        return user_cache_path("discreet", appauthor=False) / "forecasts"
    except RuntimeError:  # a user without a home
        return None


@cache
def _code() -> str:
    """What the installed code is, by the names, sizes and dates of its files: other code, other forecasts."""
    import numpy as np

    root = Path(__file__).parents[1]
    files = sorted((str(one.relative_to(root)), one.stat()) for one in root.rglob("*.py"))
    seen = [np.__version__, *([name, about.st_size, about.st_mtime_ns] for name, about in files)]
    return hashlib.sha256(json.dumps(seen).encode()).hexdigest()


def _keep(place: Path, text: str) -> None:
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=place.parent, suffix=".part")  # readable by its owner alone
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(name, place)
    except OSError:
        with suppress(OSError):
            os.unlink(name)
        raise
    files = list(place.parent.glob("*.json"))
    for old in sorted(files, key=lambda one: one.stat().st_mtime)[: max(0, len(files) - MOST)]:
        with suppress(OSError):
            old.unlink()
