"""Arrow, loaded when it is first needed: arrays of numpy and lists are read without it."""

from importlib import import_module
from typing import Any


class _Later:
    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(import_module(self._name), attribute)


pa: Any = _Later("pyarrow")
pc: Any = _Later("pyarrow.compute")


def is_arrow(values: object) -> bool:
    """Whether these are an array of Arrow, in one piece or in several; Arrow is not loaded to find out."""
    return type(values).__module__.startswith("pyarrow") and hasattr(values, "type")


def is_chunked(values: object) -> bool:
    """Whether these are an array of Arrow in several pieces."""
    return is_arrow(values) and hasattr(values, "chunks")
