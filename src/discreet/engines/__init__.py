"""Where parts of a table, and blocks of people, are worked on: `Local` (this machine), `Dask` and `Spark`.

An engine has `map` and `fold`, as discreet.tables.streams declares them, and is given to `discreet.open(..., engine=)`.
"""

from importlib import import_module
from typing import Any, Final

_HOME: Final = {
    "Dask": "discreet.engines.dask",
    "Local": "discreet.engines.local",
    "Spark": "discreet.engines.spark",
    "engine_of": "discreet.engines.addresses",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'discreet.engines' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
